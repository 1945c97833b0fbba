"""Promise 1: a raw message is gone after 24 h, byte for byte, and summaries do not quote."""

import json
import re
import shutil
from pathlib import Path

import pytest
from aiohttp import web

from forgetmenot.app.bot import open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.demo.show import load
from forgetmenot.domain import Redaction
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.llm.offline import Offline
from forgetmenot.logs import set_up
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state
from forgetmenot.store.counts import line_counts
from forgetmenot.store.database import open_database
from tests.loopback_servers.openai import Sent, SimOpenAI
from tests.memory.conftest import open_channel
from tests.played_demo import PlayedDemo
from tests.stage import asking, live_bot, said

LINES = 4_000
START = 20_000 * DAY


def known_line(number: int) -> str:
    """Words that occur nowhere else, in a line of the usual length."""
    return f"marker{number:05}x zebra{number:05}y moved to quagga{number:05}z today"


@pytest.mark.slow
async def test_no_byte_of_chat_is_left_after_a_day(tmp_path: Path) -> None:
    """4,000 known lines, some of them cleared, summarised, swept; then every file of the folder is searched."""
    set_up(level="debug", folder=tmp_path, console=False)
    clock = ManualClock(START)
    async with open_database(tmp_path / "memory.sqlite3") as db:
        channel = await open_channel(db, clock, Settings(), Offline())
        for number in range(LINES):
            await clock.advance(100)
            line = channel.say(f"Viewer{number % 200}", known_line(number))
            if number % 100 == 0:
                channel.ingest.take(Redaction(at=clock.now(), event_id=line.id))
            if number % 1_000 == 999:
                await channel.summarise()
        assert await db.value("SELECT max(seq) FROM events") == LINES
        await clock.advance(24 * HOUR + 1)
        await channel.sweep()
        assert await db.value("SELECT count(*) FROM events") == 0
        assert (await line_counts(db)).pruned_unread == 0
        assert (await line_counts(db)).balanced
        summaries = " ".join(
            row[0] for row in await db.rows("SELECT summary FROM episodes")
        )
        content = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not re.search(rb"marker\d{5}x zebra", content)
    stored_words = {
        word.decode()
        for word in re.findall(rb"(?:marker|zebra|quagga)\d{5}[xyz]", content)
    }
    assert all(word in summaries for word in stored_words)


def texts_in(folder: Path, errors: bytes, texts: list[str]) -> list[tuple[str, str]]:
    """Which of these texts stand in which file, or on standard error."""
    places = {
        str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }
    places["standard error"] = errors
    hits = []
    for name, content in places.items():
        hits += [(text, name) for text in texts if text.encode() in content]
    return hits


def lines(least: int) -> list[str]:
    """What the scripts say, of so many words or more."""
    cues = [*load("first_stream"), *load("second_stream")]
    return sorted({cue.text for cue in cues if len(cue.text.split()) >= least})


@pytest.mark.slow
async def test_no_line_of_the_demo_is_in_any_output_and_a_day_later_in_any_file(
    played_demo: PlayedDemo, tmp_path: Path
) -> None:
    """The log was at debug level. The program is started once more, 25 hours after the last line."""
    log = played_demo.folder / "logs"
    assert b'"level": "debug"' in b"".join(file.read_bytes() for file in log.iterdir())
    assert len(lines(4)) > 150
    assert texts_in(log, played_demo.errors, lines(4)) == []
    assert len(played_demo.tokens) >= 4
    assert texts_in(played_demo.folder, played_demo.errors, played_demo.tokens) == []
    folder = shutil.copytree(played_demo.folder, tmp_path / "demo")
    path = folder / "memory.sqlite3"
    async with open_database(path) as db:
        clock = ManualClock(
            int(await db.value("SELECT max(last_event_at) FROM streams")) + 25 * HOUR
        )
    async with open_bot(path, settings=Settings, clock=clock) as bot:
        await clock.advance(15 * MINUTE)
        await bot.tasks.catch_up()
        assert await bot.db.value("SELECT count(*) FROM events") == 0
    assert texts_in(folder, b"", lines(8)) == []


async def echo(sent: Sent) -> web.StreamResponse:
    """Refuse, with the end of what was sent, wherever a server may put it."""
    echoed = json.dumps(sent["messages"])[-600:]
    return web.json_response(
        {"error": {"message": echoed, "code": echoed, "type": echoed}}, status=400
    )


async def test_a_server_that_echoes_the_prompt_leaves_no_word_of_it_in_any_file(
    tmp_path: Path,
) -> None:
    set_up(level="debug", folder=tmp_path, console=False)
    clock = ManualClock(1_800_000_000_000)
    async with SimOpenAI() as sim:
        sim.fail(echo, times=1_000)
        settings = asking(sim)
        async with live_bot(tmp_path / "memory.sqlite3", clock, lambda: settings) as (
            bot,
            _,
        ):
            async with bot.db.write() as tx:
                await channel_state.put(tx, {"live": "1"}, clock.now())
            for number in range(30):
                await bot.hear(
                    said(
                        clock, f"e{number}", "222", "bob", f"my banana{number} sentence"
                    )
                )
            await bot.hear(
                said(
                    clock,
                    "asked",
                    "222",
                    "bob",
                    "@forgetmenot_bot my other banana question",
                )
            )
            await bot.settle()
            await bot.compactor.run_pass(everything=True)
            (detail,) = await bot.db.rows(
                "SELECT status, detail FROM bot_messages WHERE event_id = 'asked'"
            )
        assert len(sim.seen) >= 2, "both the reply and the summary were asked for"
    assert '"status": 400' in detail[1]
    for file in tmp_path.iterdir():
        if not file.name.startswith("memory.sqlite3"):  # raw chat has its day there
            assert b"banana" not in file.read_bytes(), file
    assert "banana" not in detail[1]
