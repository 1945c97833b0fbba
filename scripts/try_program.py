"""Tries the built program as its users do, against a Twitch on loopback: `try_program.py PROGRAM`.

It signs in by a code, starts as a bot that has a client ID, and uninstalls itself. Runs in the environment
of the checkout, because the loopback Twitch of the tests needs aiohttp; the program gets nothing of it.
"""

import asyncio
import os
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.loopback_servers.twitch import TwitchSim

PATIENCE_S = 60.0
SETTINGS = """\
[twitch]
channel = "demo"
client_id = "{client_id}"
server = "{server}"

[dock]
port = {dock_port}
"""


class Failed(Exception):
    """A command did not do what it should. Its text says which, and what was printed."""


async def main(program: str) -> int:
    """Run the three commands; 0 if each did its work."""
    with tempfile.TemporaryDirectory(prefix="forgetmenot-try-") as name:
        folder = Path(name)
        async with TwitchSim() as twitch:
            settings = SETTINGS.format(
                client_id=twitch.client_id, server=twitch.url, dock_port=free_port()
            )
            (folder / "config.toml").write_text(settings, encoding="utf-8")
            try:
                await sign_in(program, folder, twitch)
                await start(program, folder)
                await uninstall(program, folder)
            except Failed as failure:
                print(failure, file=sys.stderr)
                return 1
    return 0


def free_port() -> int:
    """Return a port that nobody uses: the dock's usual one may be a running bot's."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def sign_in(program: str, folder: Path, twitch: TwitchSim) -> None:
    """Sign in, and find the log-in where the program says that it is kept."""
    twitch.oauth.interval = 0

    async def type_the_code() -> None:
        await twitch.until(lambda: twitch.oauth.codes)
        twitch.approve(twitch.oauth.codes[-1].user, "keeper")

    typing = asyncio.create_task(type_the_code())
    try:
        printed = await run(program, folder, "login")
    finally:
        typing.cancel()
    if "Logged in as keeper" not in printed:
        raise Failed(f"login did not sign in:\n{printed}")


async def start(program: str, folder: Path) -> None:
    """Start the bot and wait until its dock is open."""
    process = await begin(program, folder, "start", "--no-browser")
    printed = ""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while "The dock: " not in printed:
                line = await read_line(process)
                if not line:
                    raise Failed(f"start ended with {await process.wait()}:\n{printed}")
                printed += line
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def uninstall(program: str, folder: Path) -> None:
    """Uninstall; the log-in is gone afterwards."""
    printed = await run(program, folder, "uninstall", "--yes")
    if "To remove the program" not in printed:
        raise Failed(f"uninstall did not end:\n{printed}")
    logins = list(folder.glob("login/*.json"))
    if logins:
        raise Failed(f"uninstall left {logins}")


async def run(program: str, folder: Path, *words: str) -> str:
    """Run one command to its end and return what it printed. Raises Failed for another exit code."""
    process = await begin(program, folder, *words)
    async with asyncio.timeout(PATIENCE_S):
        output, _ = await process.communicate()
    printed = output.decode(errors="replace")
    if process.returncode or "Traceback" in printed:
        raise Failed(f"{words[0]} ended with {process.returncode}:\n{printed}")
    return printed


async def begin(program: str, folder: Path, *words: str) -> asyncio.subprocess.Process:
    """Start the program with a memory and a home of its own."""
    memory = str(folder / "memory.sqlite3")
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "APPDATA": str(folder)}
    return await asyncio.create_subprocess_exec(
        program,
        *words,
        "--db",
        memory,
        cwd=folder,
        env={**os.environ, **home},
        stdout=PIPE,
        stderr=STDOUT,
    )


async def read_line(process: asyncio.subprocess.Process) -> str:
    """Return the next line that a program prints; "" at its end."""
    if process.stdout is None:
        return ""
    return (await process.stdout.readline()).decode(errors="replace")


if __name__ == "__main__":
    sys.exit(asyncio.run(main(str(Path(sys.argv[1]).resolve()))))
