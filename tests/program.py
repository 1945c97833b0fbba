"""The program as its user starts it: a process of its own, with settings that point at a loopback Twitch."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from forgetmenot.secret_store import Account, Token, TokenStore, login_folder
from tests.loopback_servers import fixtures
from tests.loopback_servers.twitch import TwitchSim

BOT = "keeper"
ENVIRONMENT = {
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    "PYTHONWARNINGS": "ignore",
    "FORGETMENOT_COMMAND": "forgetmenot",
}


def environment(folder: Path, **more: str) -> dict[str, str]:
    """No keyring, no key, no home: `folder` is all it may write to."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY")
    }
    return {
        **inherited,
        **ENVIRONMENT,
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        **more,
    }


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "forgetmenot", *map(str, words)]


def write_settings(
    folder: Path,
    sim: TwitchSim,
    *,
    channel: str = "demo",
    client_id: str | None = None,
    **more: str,
) -> Path:
    """A settings file for that Twitch, without a dock. `more`: whole tables as TOML, by name."""
    path = folder / "config.toml"
    client_id = sim.client_id if client_id is None else client_id
    twitch = f'channel = "{channel}"\nclient_id = "{client_id}"\nbot_login = "{BOT}"\nserver = "{sim.url}"\n'
    tables = {
        "twitch": twitch,
        "bot": f'mode = "mentions"\nname = "{BOT}"',
        "dock": "port = 0",
        **more,
    }
    path.write_text(
        "".join(f"[{name}]\n{body}\n" for name, body in tables.items()),
        encoding="utf-8",
    )
    return path


def log_in(folder: Path, sim: TwitchSim, *, login_known: bool = True) -> None:
    """Somebody typed the code: the log-in lies where `run` looks. Without `login_known` Twitch has not said whose."""
    store = TokenStore(login_folder(folder / "m.sqlite3"), use_keyring=False)
    token = fixtures.log_in(sim, store, BOT)
    if not login_known:
        store.save(Account.BOT, Token(token.access, token.refresh))


class Running:
    """A program that runs. `output` is its standard error so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = ""
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.output += line.decode()

    async def ended(self, seconds: float = 100) -> int:
        """Wait for its end; the exit code."""
        async with asyncio.timeout(seconds):
            code = await self.process.wait()
            await self._reading
        return code

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; the exit code. It promises four seconds, though not beside other tests."""
        self.process.send_signal(number)
        return await self.ended()

    async def says(self, words: str, seconds: float = 100) -> None:
        """Wait until it has said something. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while words not in self.output:  # noqa: ASYNC110  # a pipe has no event for it
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def running(
    folder: Path, *words: object, env: dict[str, str] | None = None
) -> AsyncIterator[Running]:
    """Start a command; it is killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *command(*words),
        cwd=folder,
        env=environment(folder, **(env or {})),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    program = Running(process)
    try:
        yield program
    finally:
        if process.returncode is None:
            process.kill()
        await program.ended()
