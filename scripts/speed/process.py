"""What the program weighs and how soon it is there: real processes, as its user starts them, on a loopback Twitch."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from forgetmenot.secret_store import Account, Token, TokenStore, login_folder
from speed.figures import Figure
from tests.loopback_servers.twitch import TwitchSim

STARTS = 7
IDLE_S = 6.0
LINES = 60
PROGRAM = (sys.executable, "-m", "forgetmenot")


def measure(folder: Path) -> list[Figure]:
    """The start of `--version` (the best of some), and the memory of `forgetmenot run` in a channel that is quiet."""
    figures = [Figure("forgetmenot --version", min(_version() for _ in range(STARTS)), "s", 0.25)]
    resident = asyncio.run(_idle(folder))
    if resident is None:
        print("the memory of a process is not measured on this system", file=sys.stderr)
        return figures
    return [*figures, Figure("idle process, resident", resident, "MB", 110)]


def _version() -> float:
    started = perf_counter()
    subprocess.run([*PROGRAM, "--version"], check=True, capture_output=True)
    return perf_counter() - started


async def _idle(folder: Path) -> float | None:
    """MB, some seconds after a signed-in bot has joined and heard some lines."""
    async with TwitchSim() as sim:
        granted = sim.grant("keeper")
        token = Token(granted.access, granted.refresh, granted.user_id, "keeper", tuple(granted.scopes))
        TokenStore(login_folder(folder / "m.sqlite3"), use_keyring=False).save(Account.BOT, token)
        words = ("run", "--config", str(_settings(folder, sim)), "--db", str(folder / "m.sqlite3"))
        process = await asyncio.create_subprocess_exec(
            *PROGRAM, *words, env=_environment(folder), stderr=asyncio.subprocess.DEVNULL
        )
        try:
            await sim.joined()
            for number in range(LINES):
                await sim.say(f"viewer_{number % 12}", f"line number {number} of a quiet channel")
            await asyncio.sleep(IDLE_S)
            return _resident(process.pid)
        finally:
            process.terminate()
            await process.wait()


def _settings(folder: Path, sim: TwitchSim) -> Path:
    path = folder / "config.toml"
    path.write_text(
        f'[twitch]\nchannel = "demo"\nclient_id = "{sim.client_id}"\nbot_login = "keeper"\nirc_url = "{sim.irc_url}"\n'
        f'helix_url = "{sim.helix_url}"\nid_url = "{sim.id_url}"\n',
        encoding="utf-8",
    )
    return path


def _environment(folder: Path) -> dict[str, str]:
    """Nothing but `folder` to write to, and no keyring."""
    alone = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "HOME": str(folder)}
    return {**os.environ, **alone, "XDG_DATA_HOME": str(folder)}


def _resident(pid: int) -> float | None:
    """Megabytes of memory that a process holds; None where the system does not say so in /proc."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1_000
