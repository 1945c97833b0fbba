"""A window as a model reads it."""

from dataclasses import replace

import pytest

from forgetmenot.domain.chat import EventKind, Line, Role
from forgetmenot.llm.offline.transcript import Burst, Happened, Said, read
from forgetmenot.memory.episodes.counted import counted
from forgetmenot.memory.episodes.transcript import transcript
from forgetmenot.memory.handles import Handles


def line(seq: int, who: str, text: str, kind: EventKind = EventKind.MESSAGE, system: str = "", **more: bool) -> Line:
    flags = {"emote_only": False, "addressed": False, "from_bot": False} | more
    return Line(seq, f"m{seq}", 1, who, kind, text, system, Role.VIEWER, at=seq * 60_000, **flags)


def test_the_offline_model_reads_what_is_written() -> None:
    window = [
        line(1, "1", "I moved to Oslo"),
        line(2, "2", "hello bot", addressed=True),
        line(3, "2", "great stream", EventKind.SUB, "bob subscribed for 3 months."),
        *(line(4 + i, str(i), "KEKW KEKW" if i % 2 else "KEKW") for i in range(1, 6)),
        line(20, "9", "hello", from_bot=True),
    ]
    handles = Handles.of(["1", "2"], {"bob": "2"})
    assert read("\n".join(transcript(window, handles))) == [
        Said("P1", "I moved to Oslo"),
        Said("P2", "hello bot", to_bot=True),
        Happened("P2 subscribed for 3 months."),
        Said("P2", "great stream"),
        Burst("KEKW", 5, 5),
    ]


def test_counting_names_people_numbers_and_shared_words_only() -> None:
    window = [line(1, "1", "pizza secretword"), line(2, "2", "pizza time"), line(3, "2", "!so pizza")]
    summary = counted(window, Handles.of(["1", "2"]))
    assert summary == "Chat in numbers: 3 lines by <@2> (2), <@1> (1). Words that came up: pizza."


@pytest.mark.parametrize("length", range(470, 520))
def test_a_line_is_cut_before_a_name_not_inside_it(length: int) -> None:
    handles = Handles.of(
        [str(number) for number in range(1, 13)], {f"user{number}": str(number) for number in range(1, 13)}
    )
    spoken = ("y " * 300)[: length - 8] + " @user12 was it"
    (shown,) = transcript([line(1, "12", spoken)], handles)
    assert "P1" not in shown.removeprefix("[00:01] P12: ").replace("P12", "")
    same = [line(seq, str(seq), ("y " * 300)[: length - 308] + " @user12 was it") for seq in range(1, 5)]
    assert "P1" not in transcript([replace(each, text=f"zz{each.text}") for each in same], handles)[0].replace(
        "P12", ""
    )


def test_one_endless_word_is_cut_anyway() -> None:
    (shown,) = transcript([line(1, "1", "a" * 900)], Handles.of(["1"]))
    assert shown == "[00:01] P1: " + "a" * 500
