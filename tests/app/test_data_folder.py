"""The data folder of a bot that did everything it writes for: docs/PRIVACY.md names each file, and each is closed."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from forgetmenot.cli import main
from forgetmenot.dock import obs_page
from forgetmenot.dock.security import token_in
from forgetmenot.logs import FILE
from tests.loopback_servers.twitch import TwitchSim
from tests.program import log_in, running, write_settings

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

PAGE = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(encoding="utf-8")
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


async def test_every_file_is_named_and_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    database = folder / "memory.sqlite3"
    async with TwitchSim() as sim:
        config = write_settings(folder, sim, dock="port = 18737", log='level = "debug"')
        log_in(folder, sim)
        async with running(folder, "start", "--no-browser", "--config", config, "--db", database) as bot:
            await sim.joined()
            for number, text in enumerate(("i play the drums in a band", "!forgetme", "!forgetme confirm")):
                await sim.say("alice", text)
                await sim.until(lambda: len(sim.sent) >= number)  # noqa: B023  # awaited at once
            log = folder / "logs" / FILE
            await sim.until(lambda: b"a viewer was erased" in log.read_bytes())  # it drops older backups
            assert await asyncio.to_thread(main, ["memory", "backup", "--db", str(database)]) == 0
            obs_page.write(folder, 8737, token_in(folder))
            running_files = written(folder)
            assert await bot.stop() == 0
    assert running_files | written(folder) == named() - ONLY_SOMETIMES
    assert {file.stat().st_mode & 0o777 for file in folder.rglob("*") if file.is_file() and file != config} == {0o600}
    assert {place.stat().st_mode & 0o777 for place in (folder, *folder.rglob("*")) if place.is_dir()} == {0o700}
