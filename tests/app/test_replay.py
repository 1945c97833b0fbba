"""Recorded chat goes the whole road, and every line of it is accounted for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forgetmenot.app.replay import Replay, replay
from forgetmenot.app.report import Summary
from forgetmenot.chat.router import Heard
from forgetmenot.cli.replay import speed_of
from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.domain.chat import ChatEvent, EventKind, Redaction
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import open_database
from forgetmenot.twitch.chat_lines import Other, OtherRoom, Unparsed

START = 1_700_000_000_000
WORDS = ("what a jump", "that boss again", "I like this level", "the music here is great", "first try")


def line(number: int, text: str = "", at: int | None = None) -> ChatEvent:
    who = f"viewer{number % 7}"
    moment = START + number * 4_000 if at is None else at
    return ChatEvent(
        f"m{number}",
        EventKind.MESSAGE,
        f"login:{who}",
        who,
        who,
        text or WORDS[number % len(WORDS)] + f" {number}",
        moment,
    )


def an_hour() -> Iterator[ChatEvent]:
    return (line(number) for number in range(300))


def balanced(summary: Summary) -> bool:
    told = summary.as_json()
    kept_out = ("duplicates", "excluded", "other_room", "unparsed", "other")
    lines = told["events"] + sum(told[name] for name in kept_out)  # type: ignore[operator,misc]
    events = told["covered"] + told["uncovered"] + told["redacted"]  # type: ignore[operator]
    return told["lines"] == lines and told["events"] == events


async def test_everything_is_covered_when_it_is_asked_for(tmp_path: Path) -> None:
    summary = await replay(an_hour(), tmp_path / "m.sqlite3", Replay(Settings(), until_compacted=True))
    assert balanced(summary)
    assert summary.account.covered == summary.account.events == 300
    assert summary.added.episodes >= 3


async def test_without_it_the_summary_says_what_is_left(tmp_path: Path) -> None:
    summary = await replay(an_hour(), tmp_path / "m.sqlite3", Replay(Settings()))
    assert balanced(summary)
    assert summary.account.uncovered > 0


async def test_the_same_recording_twice_is_stored_once(tmp_path: Path) -> None:
    await replay(an_hour(), tmp_path / "m.sqlite3", Replay(Settings(), until_compacted=True))
    again = await replay(an_hour(), tmp_path / "m.sqlite3", Replay(Settings(), until_compacted=True))
    assert balanced(again)
    assert (again.account.events, again.account.duplicates, again.added.episodes) == (0, 300, 0)


@pytest.mark.slow
async def test_a_recording_of_weeks_twice_is_stored_once_too(tmp_path: Path) -> None:
    """Its first lines are gone after a day, and with them their ids; what was heard of it since is new."""
    path = tmp_path / "m.sqlite3"
    weeks: list[Heard] = [line(number, at=START + number * 4 * HOUR) for number in range(80)]
    weeks += [Unparsed(), Redaction(START + 320 * HOUR, event_id="m1")]
    first = await replay(weeks, path, Replay(Settings(), until_compacted=True))
    again = await replay(weeks, path, Replay(Settings(), until_compacted=True))
    assert balanced(again)
    assert (first.account.events, again.account.events, again.account.duplicates) == (80, 0, 80)
    assert (again.added.episodes, again.added.notes, again.added.replies) == (0, 0, 0)
    assert (again.account.unparsed, again.account.other) == (1, 1)
    longer = [*weeks, line(99, at=START + 330 * HOUR)]
    third = await replay(longer, path, Replay(Settings(), until_compacted=True))
    assert (third.account.events, third.account.duplicates) == (1, 80)
    other = [line(number, at=START + number * 4 * HOUR) for number in range(200, 210)]
    fourth = await replay(other, path, Replay(Settings(), until_compacted=True))
    assert fourth.account.events == 10


async def test_every_kind_of_line_is_counted_once(tmp_path: Path) -> None:
    items: list[Heard] = [
        line(0),
        line(1),
        line(0),
        OtherRoom(),
        Unparsed(),
        Other("JOIN"),
        Redaction(START + MINUTE, event_id="m1"),
    ]
    summary = await replay(items, tmp_path / "m.sqlite3", Replay(Settings(), until_compacted=True))
    account = summary.account
    assert balanced(summary)
    assert (account.lines, account.events, account.duplicates, account.other_room) == (7, 2, 1, 1)
    assert (account.unparsed, account.other, account.redacted, account.covered) == (1, 2, 1, 1)


async def test_lines_of_years_apart_lose_nothing_unread(tmp_path: Path) -> None:
    items = [line(number, at=START + (number * 37 % 50) * 30 * DAY) for number in range(50)]
    summary = await replay(items, tmp_path / "m.sqlite3", Replay(Settings(), until_compacted=True))
    assert balanced(summary)
    assert summary.account.pruned_unread == 0
    assert summary.account.uncovered == 0


async def test_what_a_long_recording_came_to_is_counted_over_all_its_months(tmp_path: Path) -> None:
    """Replies and calls are kept for thirty days; what was counted does not shrink with them."""
    asked = [line(number, "@ForgetMeNot what did I play?", START + number * 40 * DAY) for number in range(4)]
    summary = await replay(asked, tmp_path / "m.sqlite3", Replay(Settings(), until_compacted=True))
    assert balanced(summary)
    assert summary.added.replies == 4
    assert summary.added.llm_calls > 4


async def test_the_end_of_each_stream_is_read_as_it_would_have_been(tmp_path: Path) -> None:
    """After half an hour of silence, by the model: not counted a day later because nobody was there."""
    evenings = [line(day * 1_000 + n, at=START + day * 3 * DAY + n * 4_000) for day in range(4) for n in range(10)]
    path = tmp_path / "m.sqlite3"
    await replay(evenings, path, Replay(Settings(), until_compacted=True))
    async with open_database(path) as db:
        kinds = [row["kind"] for row in await db.rows("SELECT kind FROM episodes ORDER BY id")]
    assert kinds == ["chat"] * 4


@pytest.mark.parametrize(("text", "speed"), [("max", None), ("1", 1.0), ("60", 60.0)])
def test_speeds(text: str, speed: float | None) -> None:
    assert speed_of(text) == speed


@pytest.mark.parametrize("text", ["fast", "0", "-1", "nan", "inf"])
def test_a_speed_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--speed"):
        speed_of(text)
