"""Captions as programs show them become spoken lines: each once, and whole; and a file of them is followed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.hearing.captions import LONGEST_LINE, QUIET, CaptionReader
from forgetmenot.hearing.sources import CaptionFile

STEP = 400


def heard(*shown: str, step: int = STEP) -> list[str]:
    """The lines of captions shown one after the other, and a pause."""
    reader, lines, now = CaptionReader(), list[str](), 0
    for now, text in enumerate(shown):
        lines += reader.shows(text, now * step)
    return lines + reader.shows(shown[-1], now * step + QUIET)


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        (["so", "so today", "so today we fight the boss"], ["so today we fight the boss"]),
        (["so today we bite", "So today we fight the boss."], ["So today we fight the boss."]),
        (
            ["movie night", "movie night moves to Saturday", "hello alice"],
            ["movie night moves to Saturday", "hello alice"],
        ),
        (
            ["one two three four", "three four five six", "five six seven"],
            ["one two three four five six seven"],
        ),
        (["that was close", "that was close", "that was close"], ["that was close"]),
        (["that was close", "", "that was close", ""], ["that was close"]),
        (["", "...", "♪"], []),
        (["ich mag", "ich mag Käse 👩‍👩‍👧"], ["ich mag Käse 👩‍👩‍👧"]),
        (["\u202eمرحبا بالجميع\u200b \u2066\n"], ["مرحبا بالجميع"]),
        (["今日は新しいボスと戦う"], ["今日は新しいボスと戦う"]),
    ],
)
def test_a_caption_that_grows_is_one_line_and_a_repeated_one_is_none(
    shown: list[str], lines: list[str]
) -> None:
    assert heard(*shown) == lines


def test_a_pause_ends_a_line_and_what_follows_is_given_alone() -> None:
    reader = CaptionReader()
    assert reader.shows("the patch is out", 0) == []
    assert reader.shows("the patch is out", QUIET) == ["the patch is out"]
    assert reader.shows("the patch is out and it is good", QUIET + 100) == []
    assert reader.shows("the patch is out and it is good", 3 * QUIET) == ["and it is good"]


def test_somebody_who_speaks_without_a_pause_is_heard_before_the_end() -> None:
    words = [f"word{n}" for n in range(200)]
    lines = heard(*(" ".join(words[max(0, n - 12) : n]) for n in range(1, 201)))
    assert len(lines) > 2
    assert " ".join(lines).split() == words


@given(st.lists(st.text(max_size=400), min_size=1, max_size=30))
def test_whatever_is_shown_costs_bounded_lines(shown: list[str]) -> None:
    assert all(0 < len(line) <= LONGEST_LINE and "\n" not in line for line in heard(*shown))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captions.txt"


def look(file: CaptionFile) -> list[tuple[str, bool]]:
    return [(caption.text, caption.ended) for caption in file.look()]


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
