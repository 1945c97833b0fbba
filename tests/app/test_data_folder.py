"""The data folder of a bot that did everything it writes for: docs/PRIVACY.md names each file, and each is closed."""

import asyncio
import os
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from forgetmenot.cli import main
from forgetmenot.dock import obs_page
from forgetmenot.dock.security import token_in
from forgetmenot.logs import FILE
from tests.loopback_servers.twitch import TwitchSim
from tests.program import BOT, log_in, running, write_settings

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

PAGE = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(encoding="utf-8")
SECRET = ("tuxedoglow", "lanternmoss", "quillfrost")
ONLY_SOMETIMES = {
    "memory.sqlite3.restoring", "memory.sqlite3.restoring.older", "memory.sqlite3.incoming",
    "login/twitch-broadcaster.json", "logs/forgetmenot.log.1", "logs/forgetmenot.log.2",
}  # fmt: skip


def named() -> set[str]:
    """The files that the page's list names."""
    listed = PAGE.split("### The files in the data folder")[1].split("\n#")[0]
    first_columns = [line.split("|")[1] for line in listed.splitlines() if line.startswith("| `")]
    return {name for column in first_columns for name in re.findall(r"`([^`]+)`", column)}


def written(folder: Path) -> set[str]:
    """The files there are, as the page writes them."""
    found = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and file.suffix != ".toml"}
    return {re.sub(r"-\d{8}-\d{6}-\d{3}\.", "-….", name) for name in found}


async def test_every_file_is_named_and_none_knows_of_who_opted_out(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    database = folder / "memory.sqlite3"
    async with TwitchSim() as sim:
        config = write_settings(folder, sim, dock="port = 18737", log='level = "debug"')
        log_in(folder, sim)
        async with running(folder, "start", "--no-browser", "--config", config, "--db", database) as bot:
            await sim.joined()
            await sim.say("carol", "i play the drums in a band")
            dave = await sim.say("daveecho", "!optout")
            await sim.until(lambda: sim.sent)
            await sim.say("daveecho", "my tuxedoglow is blue, like all of it")
            await sim.say("daveecho", f"@{BOT} clip that lanternmoss!")
            await sim.until(lambda: len(sim.sent) >= 2)
            await sim.say("daveecho", "!remember i have a quillfrost")
            await sim.until(lambda: len(sim.sent) >= 3)
            await sim.say("alice", "!forgetme")
            await sim.until(lambda: len(sim.sent) >= 4)
            await sim.say("alice", "!forgetme confirm")
            await sim.until(lambda: len(sim.sent) >= 5)
            log = folder / "logs" / FILE
            await sim.until(lambda: b"a viewer was erased" in log.read_bytes())  # it drops older backups
            assert await asyncio.to_thread(main, ["memory", "backup", "--db", str(database)]) == 0
            obs_page.write(folder, 8737, token_in(folder))
            running_files = written(folder)
            assert await bot.stop() == 0
            told = bot.told
        assert any(one.reply_to is not None and one.reply_to.id == dave for one in sim.sent)
    files = written(folder)
    assert running_files | files == named() - ONLY_SOMETIMES
    assert {file.stat().st_mode & 0o777 for file in folder.rglob("*") if file.is_file() and file != config} == {0o600}
    assert {place.stat().st_mode & 0o777 for place in (folder, *folder.rglob("*")) if place.is_dir()} == {0o700}
    held = b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()) + os.fsencode(told)
    assert b"drums" in held
    assert [word for word in SECRET if word.encode() in held.lower()] == []
    assert b"daveecho" not in os.fsencode(told).lower()
    assert holding(database, "daveecho") <= {"viewers", "viewer_names"}  # so that the streamer can see who opted out


def holding(database: Path, word: str) -> set[str]:
    """The tables in which a word stands."""
    with closing(sqlite3.connect(database)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: list(db.execute(f"SELECT * FROM {name}")) for name in tables}  # noqa: S608  # names of our own
    return {name for name, found in rows.items() if any(word in str(row).casefold() for row in found)}
