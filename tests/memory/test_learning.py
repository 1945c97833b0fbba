"""The chat of past streams becomes summaries and notes; its lines are never stored, and a file counts once."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.clock import DAY, MINUTE, ManualClock
from forgetmenot.domain import Video
from forgetmenot.errors import InputError
from forgetmenot.memory.erasure import erase_rows
from forgetmenot.memory.learning import Learner
from forgetmenot.settings.schema import MemorySettings, ModelSettings, Provider, Settings
from forgetmenot.store import personal_data, streams, viewers
from tests.loopback_servers.model_server import raw
from tests.loopback_servers.openai import SimOpenAI, answer
from tests.memory.test_past_chat import broadcast, comment

BEGAN = 1_777_665_600_000  # 1 May 2026, 20:00 UTC
SETTINGS = Settings(memory=MemorySettings(window_min_events=5, window_max_events=10, known_bots=("helper",)))


def log(path: Path, days: int = 2, lines: int = 12) -> Path:
    """A log of evenings: alice and bob take turns."""
    text = []
    for day in range(days):
        for number in range(lines):
            who, minute = ("alice", "bob")[number % 2], number
            tags = f"id=d{day}n{number};user-id={1 + number % 2};tmi-sent-ts={BEGAN + day * DAY + minute * MINUTE}"
            text.append(f"@{tags} :{who}!{who}@{who} PRIVMSG #demo :zitherbloom {day} {number}\n")
    path.write_text("".join(text), encoding="utf-8")
    return path


@pytest.fixture
async def server() -> AsyncIterator[SimOpenAI]:
    async with SimOpenAI() as running:
        yield running


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock, server: SimOpenAI) -> AsyncIterator[Bot]:
    settings = Settings(
        memory=SETTINGS.memory, model=ModelSettings(provider=Provider.OPENAI_COMPATIBLE, base_url=server.url)
    )
    await clock.move_to(BEGAN + 30 * DAY)
    async with open_bot(tmp_path / "m.sqlite3", settings=lambda: settings, clock=clock) as running:
        yield running


def learner(bot: Bot) -> Learner:
    return Learner(db=bot.db, model=bot.models.memory, settings=bot.settings, clock=bot.clock)


def answers(server: SimOpenAI, windows: int) -> None:
    for number in range(windows):
        server.answers(json.dumps({"summary": f"P1 planted tree number {number}."}))
        fact = {"who": "P1", "fact": f"planted tree number {number}", "lifetime": "permanent"}
        server.answers(json.dumps({"notes": [fact]}))


async def counts(bot: Bot) -> tuple[int, int, int]:
    """Streams, summaries, raw lines."""
    row = await bot.db.row(
        "SELECT (SELECT count(*) FROM streams) AS s, (SELECT count(*) FROM episodes) AS e,"
        " (SELECT count(*) FROM events) AS r"
    )
    assert row is not None
    return int(row["s"]), int(row["e"]), int(row["r"])


async def test_past_streams_are_learned_with_their_own_dates_once_and_no_line_is_stored(
    bot: Bot, server: SimOpenAI, tmp_path: Path
) -> None:
    answers(server, 4)
    path = log(tmp_path / "demo.log")
    report = await learner(bot).learn([path])
    assert (report.lines, report.streams, report.trouble) == (24, 2, "")
    assert await counts(bot) == (2, report.episodes, 0)
    assert await bot.db.column("SELECT started_at FROM streams ORDER BY id") == [BEGAN, BEGAN + DAY]
    said = await bot.db.column("SELECT first_said_at FROM semantic_notes ORDER BY id")
    assert said
    assert all(BEGAN <= at < BEGAN + 2 * DAY for at in said)
    assert await bot.db.value("SELECT count(*) FROM attendance") == 4
    held = [file for file in tmp_path.iterdir() if file.is_file() and file.suffix != ".log"]
    assert not [file for file in held if b"zitherbloom" in file.read_bytes()]
    again = await learner(bot).learn([path.rename(tmp_path / "other.log")])
    assert (again.lines, again.known, await counts(bot)) == (0, 24, (2, report.episodes, 0))


async def test_what_was_stopped_goes_on_where_it_was(bot: Bot, server: SimOpenAI, tmp_path: Path) -> None:
    path = log(tmp_path / "demo.log")
    answers(server, 1)
    first = learner(bot)
    report = await first.learn([path], lambda _share: first.stop())
    assert 0 < report.lines < 24
    assert await streams.open_id(bot.db) is None  # it would be taken for the stream that is on
    async with bot.db.write() as tx:
        assert await streams.set_recap(tx, 1, "Of the first part.", bot.clock.now())
    answers(server, 4)
    rest = await learner(bot).learn([path])
    assert report.lines + rest.lines == 24
    assert [one.id for one in await streams.without_recap(bot.db)] == [1, 2]


async def test_a_model_that_is_away_stops_it_and_nothing_is_lost(bot: Bot, server: SimOpenAI, tmp_path: Path) -> None:
    server.fail(raw("down", status=503), times=10)
    report = await learner(bot).learn([log(tmp_path / "demo.log")])
    assert report.trouble
    assert (report.lines, await counts(bot)) == (0, (0, 0, 0))


# ── people who leave while it is read, or who are known by other names ───────────────────────


def by_name(path: Path, *who: str) -> Path:
    """A justlog evening: names without ids."""
    moment = (datetime.fromtimestamp(BEGAN / 1_000 + number * 60, UTC).astimezone() for number in range(12))
    text = (f"[{at:%Y-%m-%d %H:%M:%S}] #demo {who[n % len(who)]}: zitherbloom {n}\n" for n, at in enumerate(moment))
    path.write_text("".join(text), encoding="utf-8")
    return path


async def here(bot: Bot, viewer_id: str, login: str, at: int = BEGAN) -> None:
    async with bot.db.write() as tx:
        await viewers.record_seen(tx, [viewers.SeenViewer(viewer_id, login, login, None, at, at)])


async def opt_out(bot: Bot, viewer_id: str) -> None:
    async with bot.db.write() as tx:
        await personal_data.opt_out(tx, viewer_id, bot.clock.now())


@pytest.mark.parametrize("known_as", ["1", "login:alice"])
async def test_who_left_before_is_left_out_by_their_name_and_by_their_id(
    bot: Bot, server: SimOpenAI, tmp_path: Path, known_as: str
) -> None:
    """Known by their id, in a file of names; erased when only their name was known, in a file of ids."""
    await here(bot, known_as, "alice")
    by_id = known_as == "1"
    await (opt_out(bot, "1") if by_id else erase_rows(bot.db, known_as, bot.clock.now()))
    path = tmp_path / "demo.log"
    answers(server, 2)
    report = await learner(bot).learn([by_name(path, "alice", "bob") if by_id else log(path, days=1)])
    assert report.excluded == 6
    assert not await bot.db.column("SELECT viewer_id FROM attendance WHERE viewer_id IN ('1', 'login:alice')")


@pytest.mark.parametrize("how", ["opted_out", "erased"])
async def test_who_leaves_while_the_model_thinks_leaves_nothing(
    bot: Bot, server: SimOpenAI, tmp_path: Path, how: str
) -> None:
    async def meanwhile(asked: dict[str, object]) -> web.StreamResponse:
        if how == "erased":
            await erase_rows(bot.db, "1", bot.clock.now())
        else:
            await opt_out(bot, "1")
        return await answer(json.dumps({"summary": "P1 planted a secret tree."}))(asked)

    server.fail(meanwhile)
    for _ in range(2):
        server.answers(json.dumps({"summary": "P1 watered a tree."}), json.dumps({"notes": []}))
    report = await learner(bot).learn([log(tmp_path / "demo.log", days=1)])
    assert report.excluded == 6
    assert (report.lines, report.trouble) == (12, "")
    summaries = " ".join(await bot.db.column("SELECT summary FROM episodes"))
    assert "watered" in summaries
    assert "secret" not in summaries
    assert not await bot.db.column("SELECT 1 FROM episode_people WHERE viewer_id = '1'")


async def test_what_claims_to_be_said_in_the_future_is_set_aside(bot: Bot, server: SimOpenAI, tmp_path: Path) -> None:
    await here(bot, "1", "alice")
    await erase_rows(bot.db, "1", bot.clock.now())
    path = log(tmp_path / "demo.log", days=1)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line.replace("sent-ts=", "sent-ts=99") if "alice" in line else line for line in lines))
    answers(server, 2)
    report = await learner(bot).learn([path])
    assert (report.lines, report.bad, report.excluded) == (6, {str(path): [1, 3, 5, 7, 9, 11]}, 0)
    assert not await bot.db.column("SELECT id FROM streams WHERE last_event_at > ?", (bot.clock.now(),))


async def test_two_who_learn_from_one_file_at_once_do_not_add_it_twice(
    bot: Bot, server: SimOpenAI, tmp_path: Path
) -> None:
    path = log(tmp_path / "demo.log", days=1)

    async def meanwhile(asked: dict[str, object]) -> web.StreamResponse:
        await learner(bot).learn([path])
        return await answer(json.dumps({"summary": "P1 planted a tree."}))(asked)

    server.fail(meanwhile)
    answers(server, 2)
    with pytest.raises(InputError, match="Other files are being read"):
        await learner(bot).learn([path])
    assert await bot.db.value("SELECT sum(events) FROM episodes") == 12


@pytest.mark.parametrize("began", ["", "0001-01-01T00:00:00Z", "1970-01-02T00:00:00Z", "2026-04-28T19:00:00Z"])
async def test_a_stream_knows_its_video_and_a_file_that_lies_about_its_beginning_is_dated_by_its_lines(
    bot: Bot, server: SimOpenAI, tmp_path: Path, began: str
) -> None:
    answers(server, 2)
    path = broadcast(tmp_path / "b.json", [comment(number, f"I planted tree {number}") for number in range(10)])
    path.write_text(path.read_text().replace("2026-05-01T20:00:00Z", began or "2026-05-01T20:00:00Z", 1))
    await learner(bot).learn([path])
    assert BEGAN <= await streams.start_of(bot.db, 1) < BEGAN + DAY
    videos = await streams.videos(bot.db, [1])
    assert videos == ({} if began else {1: Video(2134, BEGAN, BEGAN + 60 * DAY)})
