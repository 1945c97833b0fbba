"""One bot per memory."""

from pathlib import Path

import pytest

from forgetmenot.errors import StoreLocked
from forgetmenot.store.lock import held, is_held


def test_a_second_bot_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with (
        held(path, "run"),
        pytest.raises(StoreLocked, match=r"in use by forgetmenot run \(process \d+\)"),
        held(path, "demo"),
    ):
        pass


@pytest.mark.parametrize("told", [b"\xff\xfe", b"evil\n" + b"x" * 100_000, b"", b"y" * 100_000])
def test_what_stands_in_the_other_ones_note_is_not_trusted(tmp_path: Path, told: bytes) -> None:
    path = tmp_path / "memory.sqlite3"
    with held(path, "run"):
        (tmp_path / "memory.sqlite3.holder").write_bytes(told)
        with pytest.raises(StoreLocked) as caught, held(path, "demo"):
            pass
        assert len(str(caught.value)) < len(str(path)) + 180
        assert "\n" not in str(caught.value)


def test_when_the_first_has_stopped_the_second_may_start(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with held(path, "run"):
        pass
    with held(path, "demo"):
        assert not (tmp_path / "gone").exists()


def test_whether_a_bot_runs_can_be_asked_without_getting_in_its_way(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    assert not is_held(path)
    assert list(tmp_path.iterdir()) == []
    with held(path, "run"):
        assert is_held(path)
    assert not is_held(path)
    path.with_name(path.name + ".holder").write_text("left behind by a killed one")
    assert not is_held(path)
