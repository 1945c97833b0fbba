"""`forgetmenot memory backup|restore`: a copy without chat, and the way back to one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.errors import InputError, StoreLocked
from forgetmenot.files import instance_lock

LINES = [
    {"id": 1, "viewer": "alicequux", "fact": "plays drums"},
    {"id": 2, "viewer": "bob", "fact": "bakes bread"},
]
Run = Callable[..., Any]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The memory, apart from what the test writes."""
    return tmp_path / "data" / "memory.sqlite3"


@pytest.fixture
def run(run: Run, take_in: Run) -> Run:
    """Run one command on a memory with two people; what it printed as JSON."""
    take_in(LINES)
    return lambda *words: run(*words, "--json")


def facts(run: Run) -> list[str]:
    return [note["fact"] for note in run("memory", "list")["notes"]]


def test_there_and_back_again(run: Run, tmp_path: Path) -> None:
    made = run("memory", "backup")
    assert Path(made["path"]).parent == tmp_path / "data" / "backups"
    assert (made["notes"], made["episodes"]) == (2, 2)
    assert made["bytes"] == Path(made["path"]).stat().st_size
    run("memory", "retract", 2)
    assert facts(run) == ["plays drums"]
    told = run("memory", "restore", made["path"], "--yes")
    assert (told["restored"], told["notes"], told["erased"]) == (True, 2, 0)
    assert Path(told["saved"]).is_file()
    assert facts(run) == ["plays drums", "bakes bread"]


def test_nothing_is_written_over_or_replaced_unasked(run: Run, tmp_path: Path) -> None:
    made = run("memory", "backup", tmp_path)
    with pytest.raises(InputError, match="already exists"):
        run("memory", "backup", made["path"])
    with pytest.raises(InputError, match="--yes"):
        run("memory", "restore", made["path"])
    with instance_lock(tmp_path / "data" / "memory.sqlite3"), pytest.raises(StoreLocked):
        run("memory", "restore", made["path"], "--yes")
