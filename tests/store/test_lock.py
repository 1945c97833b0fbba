"""One bot per memory."""

from pathlib import Path

import pytest

from forgetmenot.errors import StoreLocked
from forgetmenot.store.lock import held


def test_a_second_bot_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with (
        held(path, "run"),
        pytest.raises(StoreLocked, match=r"in use by forgetmenot run \(process \d+\)"),
        held(path, "demo"),
    ):
        pass


def test_when_the_first_has_stopped_the_second_may_start(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with held(path, "run"):
        pass
    with held(path, "demo"):
        assert not (tmp_path / "gone").exists()
