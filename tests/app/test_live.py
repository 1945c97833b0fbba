"""`forgetmenot start` as its user starts it, on a loopback Twitch that behaves well, and badly."""

import asyncio
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest

from forgetmenot.app.live import start_live
from forgetmenot.cli import main
from forgetmenot.dock import obs_page
from forgetmenot.dock.security import token_in
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import FILE
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import load_settings
from forgetmenot.store.channel_state import claim
from forgetmenot.store.database import open_database
from tests.loopback_servers.twitch import TwitchSim
from tests.program import BOT, Running, log_in, running, write_settings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "m.sqlite3")) as db:
        return list(db.execute(sql))


def stored_texts(folder: Path) -> list[object]:
    return [
        row[0]
        for row in rows(
            folder, "SELECT text FROM events WHERE from_bot = 0 ORDER BY seq"
        )
    ]


def start(folder: Path, sim: TwitchSim) -> AbstractAsyncContextManager[Running]:
    """The program, in a process of its own."""
    config = write_settings(folder, sim)
    log_in(folder, sim)
    return running(
        folder,
        "start",
        "--no-browser",
        "--config",
        config,
        "--db",
        folder / "m.sqlite3",
    )


class BotInProcess:
    """A bot in this process, which costs two seconds less than a program. `output`: its reports and its log."""

    def __init__(self, config: Path, logged: pytest.CaptureFixture[str]) -> None:
        self._reported = ""
        self._logged = logged
        self._log = ""
        path = config.with_name("m.sqlite3")
        live = LiveSettings(load_settings(config))
        self.work = asyncio.ensure_future(
            start_live(live, lambda _channel: path, self._report)
        )

    def _report(self, line: str) -> None:
        self._reported += f"{line}\n"

    @property
    def output(self) -> str:
        self._log += self._logged.readouterr().err
        return self._reported + self._log

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        assert not self.work.done()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(self.work, 60)
        assert "Traceback" not in self.output


@pytest.fixture
def start_bot(
    tmp_path: Path, sim: TwitchSim, capsys: pytest.CaptureFixture[str]
) -> Callable[..., BotInProcess]:
    return lambda **settings: BotInProcess(
        write_settings(tmp_path, sim, **settings), capsys
    )


async def test_a_twitch_that_behaves_badly_loses_and_doubles_nothing(
    tmp_path: Path, sim: TwitchSim
) -> None:
    """Drops, RECONNECT, garbage, a 503, a 429, and a token that expires: what was delivered is stored once."""
    async with start(tmp_path, sim) as bot:
        delivered = []
        line_ids = []
        for number, trouble in enumerate(
            ("", "drop", "reconnect", "garbage", "expired", "busy", "broken", "repeat")
        ):
            await sim.joined()
            delivered.append(f"@{BOT} what do you know about me?")
            before = posts(sim)
            line_ids.append(await sim.say(f"viewer{number}", delivered[-1]))
            await sim.until(lambda: posts(sim) > before)  # noqa: B023  # awaited at once
            await be(trouble, sim, line_ids[-1])
        await sim.joined()
        await sim.until(
            lambda: len([message for message in sim.sent if message.reply_to]) >= 7
        )
        await sim.settled()
        assert await bot.stop() == 0
    assert stored_texts(tmp_path) == delivered
    assert rows(tmp_path, "SELECT count(*) FROM events WHERE episode_id IS NULL") == [
        (0,)
    ], "it ends with all read"
    answered = [
        message.reply_to.id for message in sim.sent if message.reply_to is not None
    ]
    assert len(set(answered)) == len(answered)
    assert set(answered) <= set(line_ids)
    assert (
        len(answered) == 7
    )  # all but the one that met the 503: it may have gone out, so it is not said again
    assert sim.helix.breaches == 0
    assert "Traceback" not in bot.output


async def be(trouble: str, sim: TwitchSim, last: str) -> None:
    match trouble:
        case "drop":
            await sim.drop()
        case "reconnect":
            await sim.reconnect()
        case "garbage":
            await sim.garbage()
        case "expired":
            sim.expire(BOT)
        case "busy":
            sim.faults.add(
                "helix", path="chat/messages", status=429, headers={"Retry-After": "1"}
            )
        case "broken":
            sim.faults.add("helix", path="chat/messages", status=503)
        case "repeat":
            await sim.repeat(last)
    if trouble in {"drop", "reconnect"}:
        await sim.until(lambda: not sim.irc.connections)


def posts(sim: TwitchSim) -> int:
    """How often the bot tried to say something."""
    return sum(1 for request in sim.requests if request.path == "chat/messages")


@pytest.mark.parametrize(
    "settings", [{}, {"client_id": ""}], ids=["no log-in", "no app"]
)
async def test_without_an_account_it_listens_and_sends_nothing(
    tmp_path: Path,
    sim: TwitchSim,
    start_bot: Callable[..., BotInProcess],
    settings: dict[str, str],
) -> None:
    bot = start_bot(**settings)
    await sim.joined()
    await sim.say("alice", f"@{BOT} clip that!")
    await sim.settled()
    await bot.stop(signal.SIGINT)
    assert stored_texts(tmp_path) == [f"@{BOT} clip that!"]
    assert sim.sent == []
    assert ("forgetmenot login" in bot.output) is (settings == {})
    assert "trouble with the log-in" not in bot.output, (
        "what was never set up is no trouble"
    )
    assert not settings or sim.requests == []


async def test_asking_for_the_end_while_twitch_hangs_at_the_start_ends_it(
    tmp_path: Path, sim: TwitchSim, start_bot: Callable[..., BotInProcess]
) -> None:
    log_in(tmp_path, sim, login_known=False)
    fault = sim.faults.add("oauth", path="oauth2/validate", stall=True, times=None)
    bot = start_bot()
    await sim.until(lambda: fault.used)
    await bot.stop()


async def test_twitch_being_away_at_the_start_is_survived_and_told_once(
    tmp_path: Path, sim: TwitchSim, start_bot: Callable[..., BotInProcess]
) -> None:
    log_in(tmp_path, sim, login_known=False)
    chat, *_ = [
        sim.faults.add(where, drop=True, times=None)
        for where in ("irc", "helix", "oauth")
    ]
    bot = start_bot()
    await sim.until(lambda: chat.used >= 3)
    away = bot.output.splitlines()
    assert sum("chat is disconnected" in line for line in away) == 1
    assert sum("trouble with the log-in" in line for line in away) <= 1
    sim.faults.clear()
    # with its log-in: what is said while it changes from anonymous to its own name may be lost
    await sim.until(
        lambda: any(
            connection.nick == BOT and connection.channels
            for connection in sim.irc.connections
        )
    )
    await sim.settled()
    await sim.say("alice", f"@{BOT} clip that!")
    await sim.until(lambda: sim.sent)
    await bot.stop()


async def test_the_memory_of_one_channel_is_not_used_for_another(
    tmp_path: Path, start_bot: Callable[..., BotInProcess]
) -> None:
    async with open_database(tmp_path / "m.sqlite3") as db:
        await claim(db, "another", "demo", 1)
    with pytest.raises(ForgetMeNotError, match="is the memory of another channel"):
        await start_bot(client_id="").work


# ── what it leaves on the disk: docs/PRIVACY.md names each file, and each is closed ─────────

PAGE = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(encoding="utf-8")
ONLY_SOMETIMES = {
    "memory.sqlite3.restoring", "memory.sqlite3.restoring.older", "memory.sqlite3.incoming",
    "memory.sqlite3.other-1", "api-token",
    "login/twitch-broadcaster.json", "logs/forgetmenot.log.1", "logs/forgetmenot.log.2",
}  # fmt: skip


def documented_files() -> set[str]:
    """The files that the page's list names."""
    listed = PAGE.split("### The files in the data folder")[1].split("\n#")[0]
    first_columns = [
        line.split("|")[1] for line in listed.splitlines() if line.startswith("| `")
    ]
    return set(re.findall(r"`([^`]+)`", "\n".join(first_columns)))


def written(folder: Path) -> set[str]:
    """The files there are, as the page writes them."""
    paths = {
        str(file.relative_to(folder))
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".toml"
    }
    return {re.sub(r"-\d{8}-\d{6}-\d{3}\.", "-….", name) for name in paths}


async def test_every_file_is_named_and_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    database = folder / "memory.sqlite3"
    async with TwitchSim() as sim:
        config = write_settings(folder, sim, dock="port = 18737", log='level = "debug"')
        log_in(folder, sim)
        async with running(
            folder, "start", "--no-browser", "--config", config, "--db", database
        ) as bot:
            await sim.joined()
            for number, text in enumerate(
                ("i play the drums in a band", "!forgetme", "!forgetme confirm")
            ):
                await sim.say("alice", text)
                await sim.until(lambda: len(sim.sent) >= number)  # noqa: B023  # awaited at once
            log = folder / "logs" / FILE
            await sim.until(
                lambda: b"a viewer was erased" in log.read_bytes()
            )  # it drops older backups
            assert (
                await asyncio.to_thread(
                    main, ["memory", "backup", "--db", str(database)]
                )
                == 0
            )
            obs_page.write(folder, 8737, token_in(folder))
            running_files = written(folder)
            assert await bot.stop() == 0
    assert running_files | written(folder) == documented_files() - ONLY_SOMETIMES
    assert {
        file.stat().st_mode & 0o777
        for file in folder.rglob("*")
        if file.is_file() and file != config
    } == {0o600}
    assert {
        place.stat().st_mode & 0o777
        for place in (folder, *folder.rglob("*"))
        if place.is_dir()
    } == {0o700}
