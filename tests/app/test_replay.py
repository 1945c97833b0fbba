"""Recorded chat: three ways of writing it, one item per line, and every line accounted for in a replay."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.app.replay import FORMATS, LONGEST_LINE, read_recording, replay
from forgetmenot.clock import DAY, MINUTE
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import open_database
from forgetmenot.text.mentions import is_id
from forgetmenot.twitch.chat_lines import ChatItem, OtherLine, OtherRoom, Unparsed

CSV = 'sender,date,message\nalice,1700000000000,"hello, all"\nbob,1700000001000,hi\nbob,1700000001000,hi\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "recording"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def events(path: Path, kind: str) -> list[ChatEvent]:
    return [item for item in read_recording(path, kind) if isinstance(item, ChatEvent)]


def test_csv_lines_are_said_by_provisional_viewers_at_their_own_time(tmp_path: Path) -> None:
    path = write(tmp_path, CSV)
    first, second, third = events(path, "csv")
    assert (first.user_id, first.text, first.at) == ("login:alice", "hello, all", 1_700_000_000_000)
    assert second.login == "bob"
    assert third.id != second.id, "the same words said twice are two lines"
    assert events(path, "csv") == [first, second, third], "read again they are the same lines"


def test_raw_lines_are_read_as_twitch_wrote_them_and_odd_ones_counted(tmp_path: Path) -> None:
    line = "@id=m1;user-id=42;room-id=7;tmi-sent-ts=1700000000000 :alice!alice@alice PRIVMSG #room :hi\nPING :x\n\n"
    items = list(read_recording(write(tmp_path, line), "irc"))
    assert [type(item).__name__ for item in items] == ["ChatEvent", "OtherLine"]
    for odd in ("alice,yesterday,hi", "alice"):
        assert list(read_recording(write(tmp_path, odd), "csv")) == [Unparsed()]
    for said in ('"what a jump', '"' + "x" * 2 * LONGEST_LINE + '"'):  # what is not closed takes no other line with it
        first, second = events(write(tmp_path, f"alice,1,{said}\nbob,2,hi\n"), "csv")
        assert (first.login, second.login, second.text) == ("alice", "bob", "hi")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_line_without_end_is_one_line_and_takes_no_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "recording"
    with path.open("wb") as file:
        file.truncate(64 * LONGEST_LINE)  # of nothing, which takes no place on the disk
    tracemalloc.start()
    assert len(list(read_recording(path, kind))) == 1
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 * LONGEST_LINE


@pytest.mark.parametrize("kind", FORMATS)
@given(text=st.text(max_size=300))
def test_no_text_raises(tmp_path_factory: pytest.TempPathFactory, kind: str, text: str) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "recording"
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    list(read_recording(path, kind))


def test_a_file_that_is_missing_or_no_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read_recording(tmp_path / "none", "csv"))
    path = tmp_path / "bytes"
    path.write_bytes(b"\x7fELF\x02\x01\x01\0\xff\xff.")
    with pytest.raises(InputError, match="is no text file"):
        list(read_recording(path, "csv"))


def test_a_sender_that_is_no_login_gets_one_made_from_it(tmp_path: Path) -> None:
    lines = "bob the builder,1000,hello\nBob The Builder,2000,again\nalice,3000,hi\nбоб,4000,hey\n"
    said = events(write(tmp_path, lines), "csv")
    first, second, third, fourth = said
    assert (first.user_id, first.display_name) == (second.user_id, "bob the builder")
    assert third.user_id == "login:alice"
    assert len({first.user_id, third.user_id, fourth.user_id}) == 3
    assert all(is_id(event.user_id) for event in said)


def test_a_recorded_line_mentions_nobody_by_its_brackets(tmp_path: Path) -> None:
    (said,) = events(write(tmp_path, "<@3>,1700000000000,what about <@3>?\n"), "csv")
    assert said.text == "what about (@3>?"
    assert "<@" not in said.display_name


START = 1_700_000_000_000
WORDS = ("what a jump", "that boss again", "I like this level", "the music here is great", "first try")


def line(number: int, text: str = "", at: int | None = None) -> ChatEvent:
    who = f"viewer{number % 7}"
    moment = START + number * 4_000 if at is None else at
    said = text or f"{WORDS[number % len(WORDS)]} {number}"
    return ChatEvent(f"m{number}", EventKind.MESSAGE, f"login:{who}", who, who, said, moment)


def balanced(told: dict[str, int]) -> bool:
    kept_out = ("duplicates", "excluded", "other_room", "unparsed", "other")
    lines = told["events"] + sum(told[name] for name in kept_out)
    events = told["covered"] + told["uncovered"] + told["redacted"]
    return told["lines"] == lines and told["events"] == events


async def test_a_recording_older_than_the_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.sqlite3"
    evening: list[ChatItem] = [line(number) for number in range(3)]
    await replay(evening, path, Settings())
    with pytest.raises(InputError, match="older than what the memory has heard"):
        await replay(evening, path, Settings())
    assert (await replay([line(3)], path, Settings()))["events"] == 1


async def test_every_kind_of_line_is_counted_once(tmp_path: Path) -> None:
    items: list[ChatItem] = [
        line(0), line(1), line(0), OtherRoom(), Unparsed(), OtherLine("JOIN"),
        Redaction(START + MINUTE, event_id="m1"),
    ]  # fmt: skip
    summary = await replay(items, tmp_path / "m.sqlite3", Settings(), until_compacted=True)
    assert balanced(summary)
    told = {"lines": 7, "events": 2, "duplicates": 1, "other_room": 1, "unparsed": 1, "other": 2, "redacted": 1}
    assert {**told, "covered": 1}.items() <= summary.items()


async def test_lines_of_years_apart_lose_nothing_unread(tmp_path: Path) -> None:
    items = [line(number, at=START + (number * 37 % 50) * 30 * DAY) for number in range(50)]
    summary = await replay(items, tmp_path / "m.sqlite3", Settings(), until_compacted=True)
    assert balanced(summary)
    assert (summary["pruned_unread"], summary["uncovered"]) == (0, 0)


async def test_the_end_of_each_stream_is_read_as_it_would_have_been(tmp_path: Path) -> None:
    """After half an hour of silence, by the model: not counted a day later because nobody was there."""
    evenings = [line(day * 1_000 + n, at=START + day * 3 * DAY + n * 4_000) for day in range(4) for n in range(10)]
    path = tmp_path / "m.sqlite3"
    await replay(evenings, path, Settings(), until_compacted=True)
    async with open_database(path) as db:
        kinds = [row["kind"] for row in await db.rows("SELECT kind FROM episodes ORDER BY id")]
    assert kinds == ["chat"] * 4
