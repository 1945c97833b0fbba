"""Files that are replaced whole, also where Windows refuses it for a moment."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot import files
from forgetmenot.files import delete, replace_file

SHARING_VIOLATION = 32


def refused(times: int, change: Callable[..., object]) -> Callable[..., object]:
    """Return a change of a file that Windows refuses so many times, as it does while a scanner looks at the file."""
    refusals = iter(range(times))

    def changed(*arguments: object, **options: object) -> object:
        if next(refusals, None) is not None:
            error = PermissionError(13, "The process cannot access the file")
            error.winerror = SHARING_VIOLATION  # type: ignore[attr-defined]  # Windows alone has it
            raise error
        return change(*arguments, **options)

    return changed


def test_a_file_that_is_looked_at_is_replaced_and_deleted_as_soon_as_windows_lets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token.json"
    replace_file(path, "old")
    monkeypatch.setattr(Path, "replace", refused(3, Path.replace))
    replace_file(path, "new")
    assert path.read_text() == "new"
    monkeypatch.setattr(Path, "unlink", refused(3, Path.unlink))
    delete(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_file_that_stays_refused_is_an_error_after_two_seconds_and_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token.json"
    replace_file(path, "old")
    monkeypatch.setattr(Path, "replace", refused(1_000, Path.replace))
    began = time.monotonic()
    with pytest.raises(PermissionError):
        replace_file(path, "new")
    assert files.REFUSED_FOR_S <= time.monotonic() - began < files.REFUSED_FOR_S + 1
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]
