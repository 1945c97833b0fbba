"""Scenarios: scripts of chat with what must come of them, played through the whole bot over a memory of its own.

A line of a script (the TOML files beside this) is a line of chat (`NAME: text`), an order (`= NAME`, the method
`order_NAME`), time that passes (`+10m`) or an expectation (`> WHAT [WHO] [not]: text`; what it looks at is
`seen_WHAT`). Only Twitch is played; what a script puts into the model's mouth (`= says …`) takes the
model's place for one reply.
"""

import asyncio
import itertools
import re
import shlex
import tomllib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forgetmenot.app.bot import SWEEP
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    ChannelState,
    ChatEvent,
    EpisodeKind,
    ModelAnswer,
    ModelRequest,
    Purpose,
    Redaction,
    Role,
    TokenUsage,
)
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.llm.offline import Offline
from forgetmenot.memory import backups, edits
from forgetmenot.reply.explain import explain
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import convert
from forgetmenot.store import bot_messages, episodes, notes, viewers
from forgetmenot.store.viewers import SeenViewer
from forgetmenot.text.mentions import with_names
from tests.stage import live_bot, said

FILES = sorted(Path(__file__).parent.glob("*.toml"))
BETWEEN_LINES = 12 * SECOND  # more than the cooldown of one viewer
UNITS = {"m": MINUTE, "d": DAY}
_EXPECTED = re.compile(r"> ([a-z]+)(?: (?!not\b)([^:]+?))?( not)?: (.*)")


class ScriptedReplies(Offline):
    """Replies what a script tells it to, and else answers as the offline model."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.asked: list[ModelRequest] = []

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        is_reply = request.purpose is Purpose.REPLY
        self.asked += [request] if is_reply else []
        if not is_reply or not self.answers:
            return await super().generate(request)
        return ModelAnswer(_model_form(self.answers.pop(0)), self.name, TokenUsage())


def _model_form(scripted: str) -> str:
    """`words [[timeout target=bob | other words]]` as a model answers it; what begins with `{` as it is."""
    if scripted.startswith("{"):
        return scripted
    say, _, rest = scripted.partition("[[")
    call, _, otherwise = rest.removesuffix("]]").partition(" | ")
    name, *pairs = shlex.split(call) or [""]
    action = (
        {"name": name, **dict(pair.split("=", 1) for pair in pairs)} if name else None
    )
    return msgspec.json.encode(
        {"action": action, "say": say.strip(), "if_refused": otherwise}
    ).decode()


class Player:
    """One bot over one memory in `folder`, and the people who talk to it."""

    def __init__(self, folder: Path, tables: Mapping[str, Any]) -> None:
        self.path = folder / "memory.sqlite3"
        base: dict[str, Any] = {
            "bot": {"mode": "mentions", "notice": ""},
            "twitch": {"channel": "streamer"},
        }
        for name, table in tables.items():
            base[name] = {**base.get(name, {}), **table}
        self.settings = convert(base, "it")
        self.clock = ManualClock(1_790_000_000_000)
        self.model = ScriptedReplies()
        self.since = 0
        self._last: dict[str, ChatEvent] = {}
        self._lines = 0
        self._stack = AsyncExitStack()

    async def start(self) -> None:
        opened = live_bot(self.path, self.clock, lambda: self.settings, self.model)
        self.bot, self.account = await self._stack.enter_async_context(opened)

    async def stop(self) -> None:
        await self._stack.aclose()

    async def know(self, line: str) -> None:
        """A note that is there from the start: `alice: lives in Oslo`."""
        about, _, fact = line.partition(": ")
        at = self.clock.now() - DAY
        async with self.bot.db.write() as tx:
            for login in (about, "streamer"):
                await viewers.record_seen(
                    tx,
                    [
                        SeenViewer(
                            f"id-{login}", login, login.title(), Role.VIEWER, at, at
                        )
                    ],
                )
        await edits.remember(self.bot.db, f"id-{about}", fact, by="id-streamer", at=at)

    async def hear(self, login: str, text: str, *, viewer_id: str = "") -> None:
        """Somebody says something; the bot answers, if it does, before this returns."""
        await self.clock.advance(BETWEEN_LINES)
        self._lines += 1
        badges = ["broadcaster"] if login == "streamer" else []
        line = said(
            self.clock,
            f"line-{self._lines}",
            viewer_id or f"id-{login}",
            login,
            text,
            *badges,
        )
        self._last[login] = line
        await self.give(line)

    async def give(self, item: ChatEvent | Redaction) -> None:
        self.since = len(self.account.said)
        await self.bot.hear(item)
        await self.bot.settle()
        await self.bot.tasks.catch_up()

    async def pass_time(self, ms: int) -> None:
        """Let time pass in the steps in which a live bot would have worked."""
        until = self.clock.now() + ms
        for step in (35 * MINUTE, 35 * MINUTE, 12 * HOUR):
            if self.clock.now() + step < until:
                await self.clock.advance(step)
                await self.bot.tasks.catch_up()
        await self.clock.move_to(until)
        await self.bot.settle()
        await self.bot.tasks.catch_up()

    async def live(self, *, on: bool) -> None:
        now = self.clock.now()
        await self.bot.channel_is(
            ChannelState(
                on, "Racing", "Racing", now if on else None, f"s{now}" if on else ""
            )
        )

    async def line(self, line: str) -> str | None:
        """Play one line of a script; of an expectation that fails, what was seen instead."""
        if line.startswith("> "):
            return await self._missed(line)
        if line.startswith("= "):
            order, _, rest = line[2:].partition(" ")
            await getattr(self, f"order_{order}")(rest)
        elif line.startswith("+"):
            await self.pass_time(int(line[1:-1]) * UNITS[line[-1]])
        else:
            login, text = line.split(": ", 1)
            await self.hear(login, text)
        return None

    async def _missed(self, line: str) -> str | None:
        """`N times` stands for a count; else the text must occur, or with `not` must not."""
        expectation = _EXPECTED.fullmatch(line)
        assert expectation is not None, line
        kind, subject, unwanted, text = expectation.groups("")
        observed: list[str] = await getattr(self, f"seen_{kind}")(subject)
        counted = re.fullmatch(r"(\d+) times?", text)
        if counted:
            holds = len(observed) == int(counted[1])
        else:
            holds = any(
                text.casefold() in text_seen.casefold() for text_seen in observed
            )
        if holds != bool(unwanted):
            return None
        return " | ".join(text_seen[:120] for text_seen in observed[:6]) or "nothing"

    # ── orders ──

    async def order_says(self, text: str) -> None:
        self.model.answers.append(text)

    async def order_maintenance(self, _rest: str = "") -> None:
        await self.bot.remember_all()
        for task in (SWEEP, "notes", "memory"):
            await self.bot.tasks.do(task)
        await self.bot.keeper.refresh()
        await self.bot.recall.prepare()

    async def order_clear(self, login: str) -> None:
        await self.give(Redaction(self.clock.now(), event_id=self._last[login].id))
        await self.order_maintenance()

    async def order_ban(self, login: str) -> None:
        await self.give(Redaction(self.clock.now(), user_id=f"id-{login}"))

    async def order_rename(self, logins: str) -> None:
        old, new = logins.split()
        await self.hear(new, "hello", viewer_id=f"id-{old}")

    async def order_backup(self, _rest: str) -> None:
        await backups.copy_to(self.bot.db, self.path.with_name("copy.sqlite3"))

    async def order_restore(self, _rest: str) -> None:
        await self.stop()
        await backups.restore(
            self.path.with_name("copy.sqlite3"), self.path, now=self.clock.now(), keep=0
        )
        await self.start()

    async def order_stream(self, which: str) -> None:
        await self.live(on=which == "begins")
        await self.pass_time(15 * MINUTE)

    async def order_dock(self, line: str) -> None:
        """`dock edit alice: old words -> new fact`, `dock pin alice: words`, `dock pause`."""
        operation, _, rest = line.partition(" ")
        params: dict[str, object] = {}
        if rest:
            about, words = rest.split(": ")
            old, _, new = words.partition(" -> ")
            known = await notes.of_subject(self.bot.db, f"id-{about}")
            params = {
                "id": [note.id for note in known if old in note.fact][-1],
                **({"text": new} if new else {}),
            }
        control = BotControl(self.bot, LiveSettings(self.settings), ConnectionStatus())
        await control.run(operation, params)

    # ── what is seen ──

    async def seen_reply(self, _who: str) -> list[str]:
        return self.account.said[self.since :]

    async def seen_deed(self, _who: str) -> list[str]:
        return self.account.done_actions

    async def seen_prompt(self, _who: str) -> list[str]:
        return [
            f"{request.system}\n{request.prompt}" for request in self.model.asked[-1:]
        ]

    async def seen_note(self, about: str) -> list[str]:
        return [
            note.fact for note in await notes.of_subject(self.bot.db, f"id-{about}")
        ]

    async def seen_episode(self, _who: str) -> list[str]:
        names = await viewers.names(
            self.bot.db, {f"id-{login}" for login in self._last}
        )
        last = await self.bot.db.highest_id("episodes")
        every = [
            await episodes.get(self.bot.db, number) for number in range(1, last + 1)
        ]
        return [
            with_names(episode.summary, names)
            for episode in every
            if episode and episode.kind is not EpisodeKind.COMMAND
        ]

    async def seen_rows(self, section: str) -> list[str]:
        """What stood in a section of the newest reply's prompt."""
        rows = [
            row
            for row in await bot_messages.listing(self.bot.db, 20)
            if row.trigger != "command"
        ]
        newest = await explain(self.bot.db, rows[0].id)
        texts = []
        for prompt_section in newest.sections:
            if prompt_section.name == section:
                texts += [row.text for row in prompt_section.rows]
        return texts


async def failures(scenario: Mapping[str, Any], folder: Path) -> list[str]:
    """Play one scenario (name, script, notes, settings); the expectations that fail, with what was seen."""
    player = Player(folder, scenario.get("settings", {}))
    try:
        await player.start()
        await player.live(on=True)
        for note in scenario.get("notes", ()):
            await player.know(note)
        await player.bot.keeper.refresh()
        lines = [
            line.strip() for line in scenario["script"].splitlines() if line.strip()
        ]
        played = [(line, await player.line(line)) for line in lines]
    finally:
        await player.stop()
    return [
        f"{scenario['name']}: {line}   seen: {observed}"
        for line, observed in played
        if observed is not None
    ]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_every_expectation_holds(file: Path, tmp_path: Path) -> None:
    gate = asyncio.Semaphore(2)  # much of a scenario's time is the disk's

    async def play_one(number: int, scenario: Mapping[str, Any]) -> list[str]:
        async with gate:
            return await failures(scenario, tmp_path / str(number))

    scenarios = tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]
    played = await asyncio.gather(
        *(play_one(number, scenario) for number, scenario in enumerate(scenarios))
    )
    assert list(itertools.chain.from_iterable(played)) == []


async def test_an_expectation_that_fails_says_what_was_seen(tmp_path: Path) -> None:
    wrong = {
        "name": "wrong",
        "script": "alice: !remember I play drums\n> reply: violins",
    }
    [line] = await failures(wrong, tmp_path)
    assert line.startswith("wrong: > reply: violins   seen: Remembered: ")
