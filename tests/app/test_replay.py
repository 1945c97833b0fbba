"""Recorded chat: three ways of writing it, one item per line, and every line accounted for in a replay."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.app.replay import FORMATS, LONGEST_LINE, read_recording, replay
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.durations import MINUTE
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.chat_lines import ChatItem, OtherLine, OtherRoom, Unparsed


def write(folder: Path, text: str) -> Path:
    path = folder / "recording"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def events(path: Path, kind: str) -> list[ChatEvent]:
    return [item for item in read_recording(path, kind) if isinstance(item, ChatEvent)]


def test_raw_lines_are_read_as_twitch_wrote_them_and_odd_ones_counted(
    tmp_path: Path,
) -> None:
    line = "@id=m1;user-id=42;room-id=7;tmi-sent-ts=1700000000000 :alice!alice@alice PRIVMSG #room :hi\nPING :x\n\n"
    items = list(read_recording(write(tmp_path, line), "irc"))
    assert [type(item).__name__ for item in items] == ["ChatEvent", "OtherLine"]
    for odd in ("alice,yesterday,hi", "alice"):
        assert list(read_recording(write(tmp_path, odd), "csv")) == [Unparsed()]
    for unclosed in (
        '"what a jump',
        '"' + "x" * 2 * LONGEST_LINE + '"',
    ):  # takes no other line with it
        first, second = events(
            write(tmp_path, f"alice,1,{unclosed}\nbob,2,hi\n"), "csv"
        )
        assert (first.login, second.login, second.text) == ("alice", "bob", "hi")
    [event] = events(write(tmp_path, "<@3>,1700000000000,what about <@3>?\n"), "csv")
    assert event.text == "what about (@3>?", (
        "nobody is mentioned by who types the brackets"
    )
    assert "<@" not in event.display_name


@pytest.mark.parametrize("kind", FORMATS)
@given(text=st.text(max_size=300))
def test_no_text_raises(
    tmp_path_factory: pytest.TempPathFactory, kind: str, text: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "recording"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    list(read_recording(path, kind))


START = 1_700_000_000_000


def line(number: int) -> ChatEvent:
    login = f"viewer{number % 7}"
    at = START + number * 4_000
    return ChatEvent(
        f"m{number}",
        EventKind.MESSAGE,
        f"login:{login}",
        login,
        login,
        f"what a jump, number {number}",
        at,
    )


async def test_a_recording_older_than_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    evening: list[ChatItem] = [line(number) for number in range(3)]
    await replay(evening, path, Settings())
    with pytest.raises(InputError, match="older than what the memory has heard"):
        await replay(evening, path, Settings())
    assert (await replay([line(3)], path, Settings()))["events"] == 1


async def test_every_kind_of_line_is_counted_once(tmp_path: Path) -> None:
    items: list[ChatItem] = [
        line(0),
        line(1),
        line(0),
        OtherRoom(),
        Unparsed(),
        OtherLine("JOIN"),
        Redaction(START + MINUTE, event_id="m1"),
    ]
    summary = await replay(
        items, tmp_path / "m.sqlite3", Settings(), until_compacted=True
    )
    expected = {
        "lines": 7,
        "events": 2,
        "duplicates": 1,
        "other_room": 1,
        "unparsed": 1,
        "other": 2,
        "redacted": 1,
    }
    assert {**expected, "covered": 1}.items() <= summary.items()
