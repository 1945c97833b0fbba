"""Captions as programs show them become spoken lines: each once, and whole; and a file of them is followed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.durations import SECOND
from forgetmenot.hearing.captions import (
    MAX_LINE,
    QUIET,
    CaptionReader,
    caption_lines,
    is_made_of_silence,
    spoken_words,
)
from forgetmenot.hearing.sources import CaptionFile

STEP = 400


def heard(*captions: str, step: int = STEP) -> list[str]:
    """The lines of captions shown one after the other, and a pause."""
    reader = CaptionReader()
    lines = list[str]()
    now = 0
    for now, text in enumerate(captions):
        lines += reader.shows(text, now * step)
    return lines + reader.shows(captions[-1], now * step + QUIET)


@pytest.mark.parametrize(
    ("captions", "lines"),
    [
        (
            ["so", "so today", "so today we fight the boss"],
            ["so today we fight the boss"],
        ),
        (
            ["so today we bite", "So today we fight the boss."],
            ["So today we fight the boss."],
        ),
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
        (["今日", "今日は新", "今日は新しいボスと戦う"], ["今日は新しいボスと戦う"]),
        (["今天我们打新", "今天我们打新的老板。"], ["今天我们打新的老板。"]),
        (["วันนี้เรา", "วันนี้เราจะสู้กับบอส"], ["วันนี้เราจะสู้กับบอส"]),
        (
            ["今日は YouTube で", "今日は YouTube で配信する"],
            ["今日は YouTube で配信する"],
        ),
        (
            ["今日は新しいボスと戦う", "ボスと戦うので応援して"],
            ["今日は新しいボスと戦うので応援して"],
        ),
        (["今日は雨です", "猫が三匹います"], ["今日は雨です", "猫が三匹います"]),
        (["2026"], ["2026"]),
        (["first line\nsecond line"], ["first line", "second line"]),
    ],
)
def test_a_caption_that_grows_is_one_line_and_a_repeated_one_is_none(
    captions: list[str], lines: list[str]
) -> None:
    assert heard(*captions) == lines


@pytest.mark.parametrize(
    ("captions", "lines"),
    [
        (["[BLANK_AUDIO]", "[BLANK_AUDIO]"], []),
        (
            ["[BLANK", "[BLANK_AUDIO]", "(upbeat mus", "(upbeat music)", "*applause*"],
            [],
        ),
        (["♪", "♪ la la la ♪", "🎵🎶", "【拍手】", "（音楽）"], []),
        (["(laughs) that was close [applause]"], ["that was close"]),
        (["♪ la la la ♪ hello chat"], ["hello chat"]),
        (["you", "you", "You.", "you you you", "you, you"], []),
        (["you know what"], ["you know what"]),
        (["Thank you for watching!"], []),
        (["Thanks for watching."], []),
        (["ご視聴ありがとうございました"], []),
        (["Vielen Dank fürs Zuschauen."], []),
        (
            ["Thank you for watching and good night alice"],
            ["Thank you for watching and good night alice"],
        ),
    ],
)
def test_what_a_recognizer_writes_where_nobody_speaks_is_no_line(
    captions: list[str], lines: list[str]
) -> None:
    assert heard(*captions) == lines


def test_thanks_for_watching_are_words_where_somebody_has_just_spoken() -> None:
    lines = heard(
        "that was the last boss", "Thank you for watching.", step=QUIET + 1_000
    )
    assert lines == ["that was the last boss", "Thank you for watching."]


def test_long_speech_without_spaces_is_heard_before_its_end_and_nothing_is_lost() -> (
    None
):
    speech = "".join(chr(0x4E00 + number) for number in range(700))
    lines = heard(*(speech[max(0, n - 60) : n] for n in range(5, 701, 5)))
    assert len(lines) > 2
    assert "".join(lines) == speech


def test_a_pause_ends_a_line_and_what_follows_is_given_alone() -> None:
    reader = CaptionReader()
    assert reader.shows("the patch is out", 0) == []
    assert reader.shows("the patch is out", QUIET) == ["the patch is out"]
    assert reader.shows("the patch is out and it is good", QUIET + 100) == []
    assert reader.shows("the patch is out and it is good", 3 * QUIET) == [
        "and it is good"
    ]


def test_somebody_who_speaks_without_a_pause_is_heard_before_the_end() -> None:
    words = [f"word{n}" for n in range(200)]
    lines = heard(*(" ".join(words[max(0, n - 12) : n]) for n in range(1, 201)))
    assert len(lines) > 2
    assert " ".join(lines).split() == words


@given(st.lists(st.text(max_size=400), min_size=1, max_size=30))
def test_whatever_is_shown_costs_bounded_lines(captions: list[str]) -> None:
    assert all(
        0 < len(line) <= MAX_LINE and "\n" not in line for line in heard(*captions)
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("1\n00:00:01,000 --> 00:00:02,000\nhello\n", ["hello"]),
        ("WEBVTT\n\n00:01.000 --> 00:02.000 align:start\nhello", ["hello"]),
        ("00:00:01,000 --> 00:00:02,000\nit is\n1000", ["it is", "1000"]),
        (
            "00:00:01,000 --> 00:00:02,000\r\nit is\r\n1000\r\n\r\n2\r\n",
            ["it is", "1000"],
        ),
        ("2026\nhello", ["2026", "hello"]),
        ("one\r\ntwo\rthree\n\nfour", ["one", "two", "three", "four"]),
        ("<i>hello</i> <font color='red'>chat</font>", ["hello chat"]),
        ("1 < 2 > 0", ["1 < 2 > 0"]),
    ],
)
def test_the_lines_of_a_file_are_its_words(text: str, lines: list[str]) -> None:
    assert caption_lines(text) == lines


@pytest.mark.parametrize(
    ("after_gap", "lines"), [(True, ["hello"]), (False, ["3", "hello"])]
)
def test_a_number_counts_a_subtitle_behind_a_gap_alone(
    lines: list[str], *, after_gap: bool
) -> None:
    read_lines = caption_lines("3\nhello", subtitles=True, after_gap=after_gap)
    assert read_lines == lines


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("(laughs) that was  close", "that was close"),
        ("♪ la la ♪", ""),
        ("that was close", "that was close"),
    ],
)
def test_spoken_words_are_those_without_remarks(line: str, words: str) -> None:
    assert spoken_words(line) == words


@pytest.mark.parametrize(
    ("line", "silent_for", "is_silence"),
    [
        ("Thank you for watching!", 10 * SECOND, True),
        ("Thank you for watching!", 10 * SECOND - 1, False),
        ("you You, you.", 0, True),
        ("you know", 60 * SECOND, False),
        ("...", 0, True),
    ],
)
def test_what_is_made_of_silence(
    line: str, silent_for: int, *, is_silence: bool
) -> None:
    assert is_made_of_silence(line, silent_for) is is_silence


def test_of_what_stood_there_before_only_what_is_added_is_heard() -> None:
    reader = CaptionReader()
    reader.stands("was there before")
    assert reader.shows("was there before", 5 * SECOND) == []
    assert reader.shows("was there before and grows", 6 * SECOND) == []
    assert reader.shows("was there before and grows", 8 * SECOND) == ["and grows"]
    reader.stands("was there before")
    assert reader.ends("something else", 9 * SECOND) == ["something else"]


def test_a_pause_is_two_seconds_without_a_change() -> None:
    reader = CaptionReader()
    assert reader.shows("the patch is out", 10 * SECOND) == []
    assert reader.shows("the patch is out", 12 * SECOND - 1) == []
    assert reader.quiet(12 * SECOND) == ["the patch is out"]


def test_the_same_line_is_said_again_after_half_a_minute() -> None:
    reader = CaptionReader()
    assert reader.ends("hello chat", 0) == ["hello chat"]
    assert reader.ends("Hello chat", 30 * SECOND - 1) == []
    assert reader.ends("Hello chat", 30 * SECOND) == ["Hello chat"]


@pytest.mark.parametrize(
    ("caption", "lines"),
    [
        ("the boss is up", ["the boss is up"]),
        ("the boss is down again", ["again"]),
        ("the boss", []),
    ],
)
def test_what_was_finished_is_not_corrected(caption: str, lines: list[str]) -> None:
    reader = CaptionReader()
    reader.shows("the boss is down", 0)
    assert reader.quiet(2 * SECOND) == ["the boss is down"]
    assert reader.ends(caption, 3 * SECOND) == lines


def test_one_word_that_was_finished_goes_on() -> None:
    reader = CaptionReader()
    reader.shows("hello", 0)
    assert reader.quiet(2 * SECOND) == ["hello"]
    assert reader.ends("hello chat", 3 * SECOND) == ["chat"]


def test_what_stood_there_before_is_not_corrected() -> None:
    reader = CaptionReader()
    reader.stands("the boss is down")
    assert reader.ends("the boss is up again", 0) == ["the boss is up again"]


@pytest.mark.parametrize(
    ("captions", "lines"),
    [
        # half of it is the same
        (["one two three four", "one two five six"], ["one two five six"]),
        (["one two three", "one five six"], ["one two three", "one five six"]),
        # one word, or three characters, may be the same by chance
        (
            ["so that was fun", "fun for all of us"],
            ["so that was fun", "fun for all of us"],
        ),
        (["今日は雨です", "雨です今年一番"], ["今日は雨です", "雨です今年一番"]),
        (["今日は雨です", "は雨です今年"], ["今日は雨です今年"]),
    ],
)
def test_whether_it_is_the_same_caption(captions: list[str], lines: list[str]) -> None:
    assert heard(*captions) == lines


WORDS = [f"word{number}" for number in range(80)]
CHARACTERS = [chr(0x4E00 + number) for number in range(130)]


def test_sixty_words_without_a_pause_are_heard_but_for_the_last_three() -> None:
    reader = CaptionReader()
    assert reader.shows(" ".join(WORDS[:60]), 0) == []
    assert reader.shows(" ".join(WORDS[:61]), SECOND) == [" ".join(WORDS[:58])]
    assert CaptionReader().shows(" ".join(WORDS[:61]), 0) == [" ".join(WORDS[:58])]


@pytest.mark.parametrize("space", ["", " "])
def test_a_character_is_half_a_word(space: str) -> None:
    reader = CaptionReader()
    assert reader.shows(space.join(CHARACTERS[:120]), 0) == []
    heard_lines = reader.shows(space.join(CHARACTERS[:121]), SECOND)
    assert heard_lines == [space.join(CHARACTERS[:115])]


@pytest.mark.parametrize("before", ["", "so"])
def test_a_late_correction_repeats_nothing(before: str) -> None:
    reader = CaptionReader()
    reader.ends("good evening", 0)
    reader.shows(before, SECOND)
    reader.quiet(4 * SECOND)
    start = [before, *WORDS[:70]]
    assert len(reader.shows(" ".join(start), 5 * SECOND)) == 1
    start[50] = "corrected"
    assert reader.shows(" ".join(start), 6 * SECOND) == []


def test_somebody_who_talks_for_an_hour_takes_no_memory() -> None:
    reader = CaptionReader()
    for number in range(2_000):
        caption = " ".join(f"word{n}" for n in range(max(0, number - 12), number))
        reader.shows(caption, number)
        assert len(reader._pieces) < 450


def test_a_line_and_what_is_read_of_a_source_are_bounded() -> None:
    assert heard("x" * 600) == ["x" * 500]
    assert "early" in CaptionReader().ends("early\n" + "late\n" * 398, 0)
    assert "early" not in CaptionReader().ends("early\n" + "late\n" * 400, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "captions.txt"


def look(file: CaptionFile) -> list[tuple[str, bool]]:
    return [(caption.text, caption.ended) for caption in file.look()]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
)
def test_a_file_that_is_appended_to_shows_what_was_added(
    path: Path, encoding: str
) -> None:
    path.write_bytes("yesterday 🎮\n".encode(encoding))
    file = CaptionFile(path)
    bare = encoding.removesuffix("-sig")
    bare = "utf-16-le" if bare == "utf-16" else bare
    assert look(file) == []
    with path.open("ab") as end:
        end.write("hello chat\nand".encode(bare))
        end.flush()
        assert look(file) == [("hello chat", True), ("and", False)]
        end.write(" alice\n".encode(bare))
        end.flush()
        assert look(file) == [("and alice", True)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("rewritten", [False, True])
def test_a_look_that_ends_inside_a_character_waits_for_the_rest(
    path: Path, encoding: str, *, rewritten: bool
) -> None:
    path.write_bytes("old\n".encode(encoding))
    file = CaptionFile(path)
    text = "" if rewritten else "old\n"
    assert look(file) == []
    data = f"{text}I like 🎮 and more".encode(encoding)
    written = data.index("🎮".encode(encoding)) + 2
    path.write_bytes(data[:written])
    assert look(file) == [("I like", False)]
    with path.open("ab") as end:
        end.write(data[written:])
    assert look(file) == [("I like 🎮 and more", False)]


def test_a_number_alone_is_a_word_but_no_number_of_a_subtitle(path: Path) -> None:
    path.write_text("old\n")
    file = CaptionFile(path)
    assert look(file) == []
    path.write_text("old\n2026\n")
    assert look(file) == [("2026", True)]
    subtitles = CaptionFile(path.with_suffix(".srt"))
    path.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nold\n\n")
    assert look(subtitles) == []
    with path.with_suffix(".srt").open("a") as end:
        end.write("2\n")
        end.flush()
        assert look(subtitles) == []
        end.write("00:00:03,000 --> 00:00:04,000\n2026\nit is\n1000\n\n3\n")
        end.flush()
        assert look(subtitles) == [("2026", True), ("it is", True), ("1000", True)]


def test_several_lines_that_are_written_at_once_stay_several(path: Path) -> None:
    path.touch()
    file = CaptionFile(path)
    reader = CaptionReader()
    assert look(file) == []
    path.write_text("first thing\nsecond thing\nthird thing\n")
    [caption] = file.look()
    assert reader.ends(caption.text, 0) == [
        "first thing",
        "second thing",
        "third thing",
    ]
