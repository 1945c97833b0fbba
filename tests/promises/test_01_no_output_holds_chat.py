"""Promise 1, beyond the database: the whole demo at debug level, and a day later, searched byte by byte.

A script's line counts as found when all of it stands somewhere. Lines of fewer words are everyday talk that the bot's
own words may hit on by chance.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from forgetmenot.app.bot import open_bot
from forgetmenot.app.recording import read_recording
from forgetmenot.app.replay import Replay, replay
from forgetmenot.clock import HOUR, MINUTE, ManualClock
from forgetmenot.demo.script import load
from forgetmenot.settings.schema import Settings
from tests.program import environment

pytestmark = pytest.mark.slow

PLAY = """
import asyncio, json, pathlib, sys
from forgetmenot import logs
from forgetmenot.demo.show import Show, play
from forgetmenot.settings.schema import DockSettings, Settings
from forgetmenot.sim import oauth, twitch

folder = pathlib.Path(sys.argv[1])
given = []
class Noted(oauth.Tokens):
    def grant(self, *words, **more):
        granted = super().grant(*words, **more)
        given.extend((granted.access, granted.refresh))
        return granted
twitch.Tokens = Noted
logs.set_up(level="debug", folder=folder / "logs")
asyncio.run(play(folder / "m.sqlite3", Show(Settings(dock=DockSettings(port=0)), print, fast=True)))
pathlib.Path(sys.argv[2]).write_text(json.dumps(given))
"""


@dataclass(frozen=True)
class Played:
    """A demo that was played: its folder, what it wrote to standard error, and the tokens that its Twitch gave out."""

    folder: Path
    errors: bytes
    tokens: list[str]

    def found(self, texts: list[str]) -> list[tuple[str, str]]:
        """Which of these texts stand in which file, or on standard error."""
        places = {str(file): file.read_bytes() for file in self.folder.rglob("*") if file.is_file()}
        places["standard error"] = self.errors
        return [(text, name) for name, held in places.items() for text in texts if text.encode() in held]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder, apart = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("apart") / "tokens.json"
    words = [sys.executable, "-c", PLAY, str(folder), str(apart)]
    ended = subprocess.run(words, check=False, env=environment(folder), capture_output=True, timeout=100)
    assert ended.returncode == 0, ended.stderr.decode()[-2_000:]
    return Played(folder, ended.stderr, json.loads(apart.read_text(encoding="utf-8")))


def lines(least: int) -> list[str]:
    """What the scripts say, of so many words or more."""
    cues = [cue for name in ("first_stream", "second_stream") for cue in load(name)]
    return sorted({cue.text for cue in cues if len(cue.text.split()) >= least})


def test_at_debug_level_no_line_of_chat_and_no_token_is_in_any_output(played: Played) -> None:
    logs = Played(played.folder / "logs", played.errors, [])
    held = b"".join(file.read_bytes() for file in logs.folder.iterdir())
    assert b'"level": "debug"' in held
    assert len(lines(4)) > 150
    assert logs.found(lines(4)) == []
    assert len(played.tokens) >= 4
    assert played.found(played.tokens) == []


async def test_a_day_later_no_line_of_the_demo_is_in_any_file(played: Played) -> None:
    path = played.folder / "m.sqlite3"
    await a_day_later(path)
    assert len(lines(8)) > 40
    assert [one for one in played.found(lines(8)) if one[1] != "standard error"] == []


async def a_day_later(path: Path) -> None:
    """The program is started once more, 25 hours after the last line."""
    from forgetmenot.store.database import open_database

    async with open_database(path) as db:
        last = int(await db.value("SELECT max(last_event_at) FROM streams"))
    clock = ManualClock(last + 25 * HOUR)
    async with open_bot(path, "test", settings=Settings, clock=clock) as bot:
        await clock.advance(15 * MINUTE)
        await bot.chores.catch_up()
        assert await bot.db.value("SELECT count(*) FROM events") == 0


async def test_a_day_later_no_line_of_a_replay_is_in_any_file(tmp_path: Path) -> None:
    from forgetmenot.logs import set_up

    told = [f"the quagga{number:04} of zebra{number:04} jumped over my fence today" for number in range(1_500)]
    source, folder = tmp_path / "chat.csv", tmp_path / "data"
    rows = (f"viewer{number % 40},{1_784_894_400_000 + number * 2_000},{text}" for number, text in enumerate(told))
    source.write_text("sender,date,message\n" + "\n".join(rows) + "\n", encoding="utf-8")
    set_up(level="debug", folder=folder / "logs", console=False)
    how = Replay(settings=Settings(), until_compacted=True)
    summary = await replay(read_recording(source, "csv"), folder / "m.sqlite3", how)
    set_up(level="error")
    assert summary.as_json()["events"] == len(told)
    await a_day_later(folder / "m.sqlite3")
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert [text for text in told if text.encode() in held] == []
