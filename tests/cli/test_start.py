"""`forgetmenot start`: from an empty folder to a bot that listens, and on."""

import argparse
import asyncio
import os
import re
import signal
import sys
import urllib.request
from pathlib import Path

import msgspec
import pytest

from forgetmenot import cli
from forgetmenot.app.live import LOOK_AT_SETTINGS_S, start_live
from forgetmenot.cli.common import SETTINGS_FILE, use_found_file
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import LimitSettings
from tests.loopback_servers.fixtures import sim
from tests.loopback_servers.twitch import TwitchSim
from tests.ports import unused_port
from tests.program import log_in, running, write_settings

__all__ = ["sim"]


def test_a_settings_file_is_found_beside_the_memory_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in the current folder may be anybody's, and would decide where the log-in is sent."""
    (tmp_path / SETTINGS_FILE).write_text("[twitch]\nchannel = 'demo'\n")
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    arguments = argparse.Namespace(config=None, db=tmp_path / "data" / "m.sqlite3")
    use_found_file(arguments)
    assert arguments.config is None
    beside = tmp_path / "data" / SETTINGS_FILE
    beside.touch()
    use_found_file(arguments)
    assert arguments.config == beside


@pytest.fixture
def browser(tmp_path: Path) -> dict[str, str]:
    """The variable that names a browser, which notes what it is to open."""
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/opened"\n')
    program.chmod(0o755)
    return {"BROWSER": str(program)}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
async def test_without_words_and_settings_it_opens_the_dock_and_makes_the_file(
    tmp_path: Path, browser: dict[str, str]
) -> None:
    async with running(tmp_path, env=browser) as bot:
        await bot.says("The dock: ")
        address = re.findall(r"The dock: (\S+)", bot.output)[0]
        with await asyncio.to_thread(
            urllib.request.urlopen, address, timeout=60
        ) as page:
            assert page.status == 200
        assert "No channel is set yet" in bot.output
        assert "[info" not in bot.output  # the log is in its file
        assert await bot.stop() == 0
    file = tmp_path / "forgetmenot" / SETTINGS_FILE
    assert load_settings(file).twitch.channel == ""
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "opened").read_text().strip() == address
    assert "Traceback" not in bot.output


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
async def test_a_second_start_shows_the_dock_of_the_first(
    tmp_path: Path, sim: TwitchSim, browser: dict[str, str]
) -> None:
    config = write_settings(tmp_path, sim, client_id="", dock=f"port = {unused_port()}")
    async with running(
        tmp_path, "start", "--no-browser", "--db", tmp_path / "m.sqlite3", env=browser
    ) as first:
        await sim.joined()
        await first.says("The dock: ")
        assert str(config) in first.output
        assert "token=" not in first.output, (
            "a journal keeps what a bot says that nobody watches"
        )
        async with running(
            tmp_path, "start", "--no-browser", "--db", tmp_path / "m.sqlite3"
        ) as second:
            assert await second.ended() == 0
        assert "already running" in second.output
        assert await first.stop() == 0
    assert not (tmp_path / "opened").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
async def test_what_is_set_in_the_dock_is_started_without_a_restart(
    tmp_path: Path, sim: TwitchSim
) -> None:
    """No channel; one that does not exist; one to listen to; then an app and a log-in."""
    file = write_settings(
        tmp_path, sim, channel="", client_id="", dock=f"port = {unused_port()}"
    )
    settings = LiveSettings(load_settings(file))
    lines: list[str] = []

    def change(**fields: str) -> None:
        twitch = msgspec.structs.replace(settings().twitch, **fields)
        settings._current = msgspec.structs.replace(settings(), twitch=twitch)

    async def says(words: str) -> None:
        await sim.until(lambda: any(words in line for line in lines))

    work = asyncio.create_task(
        start_live(
            settings,
            lambda _channel: tmp_path / "m.sqlite3",
            lines.append,
            lines.append,
        )
    )
    await says("No channel is set yet")
    change(channel="nowhere", client_id=sim.client_id)
    await says("There is no channel `nowhere` on Twitch")
    change(channel="demo", client_id="")
    await says("Listening to demo without a log-in")
    await sim.joined()
    log_in(tmp_path, sim)
    change(client_id=sim.client_id)
    # not by its first line: where Twitch takes long to say who is logged in, that comes after it
    await sim.until(
        lambda: any(
            connection.nick == "keeper" and connection.channels
            for connection in sim.irc.connections
        )
    )
    connected = list(sim.irc.connections)
    settings._current = msgspec.structs.replace(
        settings(), limits=LimitSettings(tokens_per_day=90)
    )
    await asyncio.sleep(3 * LOOK_AT_SETTINGS_S)
    assert list(sim.irc.connections) == connected, (
        "any other setting is taken up without connecting anew"
    )
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(work, 60)


@pytest.mark.skipif(sys.platform == "win32", reason="a browser of POSIX")
def test_a_built_program_without_a_terminal_shows_on_a_page_why_it_did_not_start(
    tmp_path: Path, browser: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", browser["BROWSER"])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "stderr", None)
    folder = tmp_path / "forgetmenot"
    folder.mkdir()
    (folder / SETTINGS_FILE).write_text("[bot]\nname = <b>\n")
    assert cli.main(["start", "--no-browser"]) == 2
    assert not (tmp_path / "opened").exists()
    assert cli.main(["start"]) == 2
    page = folder / "not-started.html"
    assert (tmp_path / "opened").read_text().strip() == page.as_uri()
    assert "config.toml" in page.read_text()
    assert "<b>" not in page.read_text()
