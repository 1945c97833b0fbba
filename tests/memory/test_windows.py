"""Where chat is cut."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forgetmenot.domain import EventKind, Line, Role
from forgetmenot.llm.offline import summary
from forgetmenot.memory.transcript import Cut, transcript, windows
from forgetmenot.people.handles import Handles

MINUTE = 60_000


def lines(gaps: list[int], streams: list[int | None] | None = None) -> list[Line]:
    at, found = 0, []
    for seq, gap in enumerate(gaps, 1):
        at += gap
        stream = streams[seq - 1] if streams else 1
        found.append(
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
    return found


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
    found = windows(
        chat, cut(end_of(chat), everything=everything, truncated=truncated, closed={2})
    )
    seqs = [line.seq for window in found for line in window]
    assert len(seqs) == len(set(seqs))
    for window in found:
        assert len({line.stream_id for line in window}) == 1
        assert [line.seq for line in window] == sorted(line.seq for line in window)
        assert 1 <= len(window) <= 20
    if everything and not truncated:
        assert sorted(seqs) == [line.seq for line in chat]


def test_the_cut_is_at_the_longest_lull() -> None:
    chat = lines([1_000] * 8 + [9_000] + [1_000] * 11)
    found = windows(chat, cut(end_of(chat) + 2_000))
    assert [len(window) for window in found] == [8, 12]
    chat = lines(
        [1_000] * 30
    )  # what goes on beyond the rows that were read is not ended there
    found = windows(chat, cut(end_of(chat) + 90 * MINUTE, truncated=True))
    assert sum(len(window) for window in found) < 30


def test_what_many_repeat_is_no_line_of_the_person_they_name() -> None:
    handles = Handles.of(["1", "2"], {"alice": "2"})
    for typed in (
        "alice: I play the cello",
        "* alice subscribed",
        "alice (to the bot): I play the cello",
    ):
        chat = [
            replace(one, text=typed, viewer_id=str(one.seq))
            for one in lines([MINUTE] * 6)
        ]
        shown = transcript(chat, handles)
        assert shown == [f'"{handles.hide_chat(typed)}" ×6, 6 people']
        assert "P2 plays" not in summary(shown[0])
        assert "P2 subscribed" not in summary(shown[0])
