"""A memory on a medium that cannot be written is listed and exported; a change is refused with the way out."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.program import command, environment

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="folders there have no permissions of this kind"
)


def run_locked_out(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that may write nowhere but in `folder`: root obeys permissions without its capabilities."""
    prefix = []
    if os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    return subprocess.run(
        [*prefix, *command(*words)],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def read_only_memory(memory: Path, tmp_path: Path) -> Path:
    for file in memory.parent.glob(f"{memory.name}*"):
        file.chmod(0o444)
    memory.parent.chmod(0o555)
    return memory


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.mark.parametrize(
    "words", ["memory list", "memory export", "memory why 1", "why", "cost", "evaluate"]
)
@pytest.mark.slow
def test_it_can_be_looked_at(
    read_only_memory: Path, elsewhere: Path, words: str
) -> None:
    before = sorted(read_only_memory.parent.iterdir())
    ended = run_locked_out(elsewhere, *words.split(), "--db", str(read_only_memory))
    assert ended.stderr == ""
    assert ended.returncode == 0
    assert sorted(read_only_memory.parent.iterdir()) == before


@pytest.mark.slow
def test_a_change_is_refused_with_the_way_out(
    read_only_memory: Path, elsewhere: Path
) -> None:
    ended = run_locked_out(
        elsewhere, "memory", "pin", "1", "--db", str(read_only_memory)
    )
    assert ended.returncode == 3
    assert (
        "Copy it into a folder where you may write, and use --db with the copy."
        in ended.stderr
    )


@pytest.mark.slow
def test_a_memory_that_was_never_closed_says_what_to_copy(
    read_only_memory: Path, elsewhere: Path
) -> None:
    read_only_memory.parent.chmod(0o755)
    read_only_memory.with_name(f"{read_only_memory.name}-wal").write_bytes(b"changes")
    read_only_memory.parent.chmod(0o555)
    ended = run_locked_out(elsewhere, "memory", "list", "--db", str(read_only_memory))
    assert ended.returncode == 3
    assert "its last changes are still in" in ended.stderr
