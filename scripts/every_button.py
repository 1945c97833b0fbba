"""Everything that can be asked of a running bot: the pages and buttons of its dock, the commands of chat and terminal.

Routes, buttons, steps of the set-up and commands are read from the program's own tables. What is new there is pressed
as well, or the run ends with its name: then its values are missing here.
"""

import argparse
import asyncio
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from speed.programs import Running

from forgetmenot.app import setup
from forgetmenot.cli import build_parser
from forgetmenot.dock import pages, server
from forgetmenot.dock.security import TOKEN_HEADER, UPLOAD, token_in
from forgetmenot.domain import Surface
from forgetmenot.operations.commands import OPERATIONS, buttons
from forgetmenot.operations.types import Operation, ParameterKind
from tests import program
from tests.loopback_servers.twitch import TwitchSim

# Who asks for everything, and is erased by it: nobody else's data may change.
ASKER = "alice"
# Nothing listens there.
NOWHERE = "http://127.0.0.1:9"
VALUES = {
    ParameterKind.NUMBER: 1,
    ParameterKind.TEXT: "likes maps",
    ParameterKind.VIEWER: ASKER,
    ParameterKind.FLAG: True,
}
STEPS: dict[str, dict[str, object]] = {
    "character": {"name": "keeper", "persona": "You are friendly."},
    "sample": {"name": "keeper", "persona": "You are friendly.", "text": "hello"},
    "programs": {},
    "models": {"base_url": NOWHERE},
    "model": {"provider": "openai_compatible", "base_url": NOWHERE, "model": "none"},
    "client": {"client_id": "notanapp00"},
    "login": {},
    "sources": {"obs": "ws://127.0.0.1:9"},
    "past": {"do": "look"},
    "recap": {"stream": 1},
    "post_recap": {"stream": 1},
    "webhook": {"address": ""},
    "try": {"viewer": "bob", "text": "hello there"},
    "listen": {"on": True},
    "mode": {"mode": "mentions", "sure": True},
    "set": {"table": "bot", "key": "language", "value": "de"},
    "backup": {},
    "obs": {},
    "connect": {},
}
STEPS_LEFT_OUT = {
    "quit": "ends the bot",
    "channel": "begins another bot",
    "autostart": "changes this computer",
    "hearing": "begins the bot anew; pressed by `Presser.captions`",
}
PAST_CHAT = "[2026-05-01 18:00:00 UTC] bob: the first run went well\n"
# What a command of the terminal needs besides its name. FOLDER is a folder of the run's own.
WORDS = {
    "start": "--no-browser",  # refused: one bot runs already
    "doctor": "",
    "learn": "FOLDER/chat.log --yes",
    "memory list": "",
    "memory show": "1",
    "memory why": "1",
    "memory never": "",
    "memory import": "FOLDER/notes.jsonl",
    "memory export": "",
    "memory backup": "FOLDER/copy.sqlite3",
    "memory restore": "FOLDER/copy.sqlite3",  # refused: a bot runs
    "viewer export": "bob",
    "why": "",
    "recall": "--batch FOLDER/questions.jsonl",
    "prompt": "--viewer bob --message hello",
    "cost": "",
    "evaluate": "",
    "actions": "",
    "connect": "",
    "recap": "--chapters youtube",
}
COMMANDS_LEFT_OUT = {
    "setup": "is `start` that opens the browser",
    "dock": "opens the browser",
    "mcp": "serves until its input ends",
    "login": "waits for a person",
    "logout": "ends the log-in",
    "autostart": "changes this computer",
    "uninstall": "changes this computer",
    "demo": "plays on a memory of its own",
    "replay": "plays on a memory of its own",
    "memory new-requests": "is for a file that is lost",
}


class Press(NamedTuple):
    """One request to the dock."""

    method: str
    path: str
    body: object = None


def presses() -> Iterator[Press]:
    """Yield one request for each page, button and step of the set-up."""
    for route in (*pages.ROUTES, *server.ROUTES):
        if route.method == "GET":
            yield Press("GET", route.path.format(id=1, week="2026-11-23"))
    yield Press("GET", "/api/checks?all=1")
    for name in buttons():
        yield Press("POST", f"/api/do/{name}", _parameters(OPERATIONS[name]))
    # so that what follows is answered
    yield Press("POST", "/api/do/resume", {})
    yield Press("POST", "/api/hear", {"text": "hello everybody"})
    for step in setup.STEPS:
        if step not in STEPS_LEFT_OUT:
            yield Press("POST", f"/api/setup/{step}", STEPS[step])
    yield Press("POST", f"{UPLOAD}?name=chat.log", PAST_CHAT.encode())
    for action in ("look", "learn", "stop", "drop"):
        yield Press("POST", "/api/setup/past", {"do": action})


def _parameters(operation: Operation) -> dict[str, object]:
    """Return a value for each parameter that a button of the dock may set."""
    return {
        parameter.name: VALUES[parameter.kind]
        for parameter in operation.params
        if parameter.name not in {"target", "joke"}
    }


def chat_commands() -> list[str]:
    """Return one line of chat for each command; at the end the bot speaks again."""
    lines: list[str] = []
    for operation in OPERATIONS.values():
        lines += [example for example in operation.examples if example.startswith("!")]
    return [*lines, "!bot resume"]


def terminal_commands(folder: Path) -> list[list[str]]:
    """Return the words of each command of the terminal. Writes what they read to a folder.

    Raises LookupError for a command without words above.
    """
    (folder / "chat.log").write_text(PAST_CHAT, encoding="utf-8")
    note = {"id": 1, "viewer": ASKER, "fact": "plays the harp"}
    (folder / "notes.jsonl").write_text(json.dumps(note) + "\n", encoding="utf-8")
    question = {"query": "who plays the harp?"}
    (folder / "questions.jsonl").write_text(
        json.dumps(question) + "\n", encoding="utf-8"
    )
    typed = {}
    for operation in OPERATIONS.values():
        if Surface.CLI in operation.permissions and operation.examples:
            words = shlex.split(operation.examples[-1])[1:]
            typed[" ".join(words[:2])] = words
    for name, rest in WORDS.items():
        typed[name] = name.split()
        typed[name] += [word.replace("FOLDER", str(folder)) for word in rest.split()]
    unknown = set(_leaves(build_parser())) - typed.keys() - COMMANDS_LEFT_OUT.keys()
    if unknown:
        raise LookupError(f"WORDS lacks {sorted(unknown)}")
    return list(typed.values())


def _leaves(parser: argparse.ArgumentParser, path: str = "") -> Iterator[str]:
    """Yield each command of the terminal that has no commands below it, as it is typed."""
    actions = parser._actions  # noqa: SLF001
    is_group = argparse._SubParsersAction  # noqa: SLF001
    groups = [action for action in actions if isinstance(action, is_group)]
    if not groups:
        yield path
    for group in groups:
        for name, below in group.choices.items():
            yield from _leaves(below, f"{path} {name}".strip())


class Presser:
    """Somebody at the dock, in chat and in a terminal of one running bot.

    `crashes`: requests that were answered with an internal error, and commands that ended with a bug.
    """

    def __init__(self, sim: TwitchSim, folder: Path, bot: Running) -> None:
        self.crashes: list[str] = []
        self.presses = 0
        self._sim = sim
        self._folder = folder
        self._bot = bot

    async def dock(self) -> None:
        """Press everything in the dock."""
        async with self._session() as session:
            for press in presses():
                await self._press(session, press)

    async def captions(self, path: Path) -> None:
        """Name a file as that of the captions, and none again: the bot closes its memory and opens it anew."""
        async with self._session() as session:
            for name in (str(path), ""):
                body = {"obs": "", "source": "", "captions": name, "programs": False}
                await self._press(session, Press("POST", "/api/setup/hearing", body))
                await self._sim.until(lambda: not self._heard(), 20)
                await self._sim.until(self._heard, 20)

    def _heard(self) -> bool:
        """Return whether the bot is in a channel."""
        return any(connection.channels for connection in self._sim.irc.connections)

    async def chat(self) -> None:
        """Type every command in chat, as a moderator."""
        self._sim.world.moderator(ASKER)
        for line in chat_commands():
            await self._sim.say(ASKER, line)
            await asyncio.sleep(0.05)
            self.presses += 1

    async def terminal(self, names: tuple[str, ...] = ()) -> None:
        """Run every command in a process of its own, or those of these names."""
        place = self._folder.parent / "typed"
        place.mkdir(exist_ok=True)
        for words in terminal_commands(place):
            if not names or words[0] in names or " ".join(words[:2]) in names:
                await self.type(words)

    async def type(self, words: list[str]) -> None:
        """Run one command of the terminal."""
        memory = ["--db", str(self._folder / "m.sqlite3")]
        process = await asyncio.create_subprocess_exec(
            *program.command(*words, *memory),
            cwd=self._folder,
            env=program.environment(self._folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, output = await process.communicate()
        self.presses += 1
        if (
            b"this is a bug" in output
            or b"usage:" in output
            or process.returncode is None
        ):
            self.crashes.append(f"{' '.join(words)}: {output.decode()[-500:]}")

    def _session(self) -> aiohttp.ClientSession:
        """Return an HTTP session that the dock accepts as its own page."""
        origin = self._bot.address.partition("/?")[0]
        headers = {TOKEN_HEADER: token_in(self._folder), "Origin": origin}
        return aiohttp.ClientSession(origin, headers=headers)

    async def _press(self, session: aiohttp.ClientSession, press: Press) -> None:
        """Send one request to the dock, and note it as a crash if it is refused or fails."""
        options: dict[str, Any] = {}
        if isinstance(press.body, bytes):
            options = {
                "data": press.body,
                "headers": {"Content-Type": "application/octet-stream"},
            }
        elif press.method == "POST":
            options = {"json": press.body}
        async with session.request(press.method, press.path, **options) as answer:
            await answer.read()
            self.presses += 1
            if answer.status >= 500 or answer.status in {401, 403}:
                self.crashes.append(f"{press.method} {press.path}: {answer.status}")
