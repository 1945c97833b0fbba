"""Where chat is cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forgetmenot.domain import EventKind, Line, Role
from forgetmenot.llm.offline import summary
from forgetmenot.memory.summary_instructions import summary_instructions
from forgetmenot.memory.transcript import Cut, transcript, windows
from forgetmenot.people.handles import Handles

MINUTE = 60_000


def lines(gaps: list[int], streams: list[int | None] | None = None) -> list[Line]:
    at = 0
    chat = []
    for seq, gap in enumerate(gaps, 1):
        at += gap
        stream = streams[seq - 1] if streams else 1
        chat.append(
            Line(
                seq,
                f"m{seq}",
                stream,
                "1",
                EventKind.MESSAGE,
                "x",
                "",
                Role.VIEWER,
                False,
                False,
                at,
            )
        )
    return chat


@st.composite
def chats(draw: st.DrawFn) -> list[Line]:
    gaps = draw(st.lists(st.integers(0, 40 * MINUTE), max_size=120))
    streams = draw(
        st.lists(st.sampled_from([None, 1, 2]), min_size=len(gaps), max_size=len(gaps))
    )
    return lines(gaps, streams)


def cut(now: int, **more: object) -> Cut:
    values: dict[str, object] = {
        "smallest": 5,
        "largest": 20,
        "silence": 30 * MINUTE,
        "now": now,
    }
    return Cut(**(values | more))  # type: ignore[arg-type]


def end_of(chat: list[Line]) -> int:
    return chat[-1].at if chat else 0


@given(chats(), st.booleans(), st.booleans())
def test_windows_lie_in_one_stream_in_order_and_size_and_cover_everything(
    chat: list[Line], everything: bool, truncated: bool
) -> None:
    cut_windows = windows(
        chat, cut(end_of(chat), everything=everything, truncated=truncated, closed={2})
    )
    seqs = [line.seq for line in itertools.chain.from_iterable(cut_windows)]
    assert len(seqs) == len(set(seqs))
    for window in cut_windows:
        assert len({line.stream_id for line in window}) == 1
        assert [line.seq for line in window] == sorted(line.seq for line in window)
        assert 1 <= len(window) <= 20
    if everything and not truncated:
        assert sorted(seqs) == [line.seq for line in chat]


def test_the_cut_is_at_the_longest_lull() -> None:
    chat = lines([1_000] * 16 + [9_000] + [1_000] * 7)
    cut_windows = windows(chat, cut(end_of(chat) + 2_000))
    assert [len(window) for window in cut_windows] == [16, 8]
    chat = lines(
        [1_000] * 30
    )  # what goes on beyond the rows that were read is not ended there
    cut_windows = windows(chat, cut(end_of(chat) + 90 * MINUTE, truncated=True))
    assert sum(len(window) for window in cut_windows) < 30


def test_a_full_window_is_not_cut_into_small_ones() -> None:
    chat = lines([1_000] * 6 + [9_000] + [1_000] * 13)
    cut_windows = windows(chat, cut(end_of(chat) + 2_000))
    assert len(cut_windows[0]) >= 15


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (18, [18]),
        (20, [20]),
        (23, [18, 5]),
        (28, [20, 8]),
        (43, [20, 18, 5]),
    ],
)
def test_the_last_lines_of_a_stream_are_no_window_of_three(
    count: int, sizes: list[int]
) -> None:
    """A summary costs two calls, however few lines it is of."""
    chat = lines([1_000] * count)
    cut_windows = windows(chat, cut(end_of(chat), closed={1}))
    assert [len(window) for window in cut_windows] == sizes


def test_what_many_repeat_is_no_line_of_the_person_they_name() -> None:
    handles = Handles.of(["1", "2"], {"alice": "2"})
    for typed in (
        "alice: I play the cello",
        "* alice subscribed",
        "alice (to the bot): I play the cello",
    ):
        chat = [
            replace(line, text=typed, viewer_id=str(line.seq))
            for line in lines([MINUTE] * 6)
        ]
        transcript_lines = transcript(chat, handles)
        assert transcript_lines == [f'"{handles.hide_chat(typed)}" ×6, 6 people']
        assert "P2 plays" not in summary(transcript_lines[0])
        assert "P2 subscribed" not in summary(transcript_lines[0])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("KEKW ×37, 30 people", "was said 37 times"),
        ("BOT: I play the cello", "BOT's lines"),
        ("P1 (spoken): we raid Ox", "said aloud"),
    ],
)
def test_the_instructions_explain_only_what_the_window_has(
    line: str, words: str
) -> None:
    assert words in summary_instructions(["P2: hello there", line])
    assert words not in summary_instructions(["P2: hello there"])
    # typed by somebody, it is no such line
    assert words not in summary_instructions([f"P2: I saw {line} today"])
