"""A file of captions is followed, whichever way it is written."""

from pathlib import Path

import pytest

from forgetmenot.hearing.sources import CaptionFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captions.txt"


def look(file: CaptionFile) -> list[tuple[str, bool]]:
    return [(caption.text, caption.ended) for caption in file.look()]


def test_a_file_that_is_written_anew_shows_the_current_caption(path: Path) -> None:
    path.write_text("from yesterday")
    file = CaptionFile(path)
    assert look(file) == []
    for text in ("so", "so today", "so today we fight", "hello\n", "hello chat\n"):
        path.write_text(text)
        assert look(file) == [(text.strip(), False)]
        assert look(file) == []
    path.write_text("")
    assert look(file) == [("", False)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_that_is_appended_to_shows_what_was_added(path: Path, encoding: str) -> None:
    path.write_bytes("yesterday 🎮\n".encode(encoding))
    file, bare = CaptionFile(path), encoding.removesuffix("-sig")
    bare = "utf-16-le" if bare == "utf-16" else bare
    assert look(file) == []
    with path.open("ab") as end:
        end.write("hello chat\nand".encode(bare))
        end.flush()
        assert look(file) == [("hello chat", True), ("and", False)]
        end.write(" alice\n".encode(bare))
        end.flush()
        assert look(file) == [("and alice", True)]
