"""A chat with alice, bob, the moderator carol and the bot in it; everything is real but Twitch."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.chat.answers import ChatCommands
from forgetmenot.clock import ManualClock
from forgetmenot.domain import Asker, ChatEvent, EventKind, Proposal, Surface
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.run import run
from forgetmenot.settings.schema import (
    BotSettings,
    MemorySettings,
    Mode,
    PrivacySettings,
    Settings,
)
from forgetmenot.store import notes
from tests.rows import put
from tests.stage import RecordingAccount, live_bot

IDS = {
    "alice": "1001",
    "bob": "1002",
    "carol": "1003",
    "dave": "1004",
    "helperbot": "1005",
    "forgetmenot_bot": "99",
}
MODERATOR = frozenset({"moderator"})
SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    privacy=PrivacySettings(privacy_url="https://example.org/privacy"),
    memory=MemorySettings(known_bots=("helperbot",), ignored_viewers=("dave",)),
)


@dataclass
class Chat:
    """People type, the commands answer."""

    bot: Bot
    clock: ManualClock
    account: RecordingAccount
    commands: ChatCommands
    badges: dict[str, frozenset[str]] = field(
        default_factory=lambda: dict.fromkeys(
            ("carol", "dave", "helperbot", "forgetmenot_bot"), MODERATOR
        )
    )
    count: int = 0

    def __post_init__(self) -> None:
        self.db = self.bot.db
        self.ingest = self.bot.ingest
        self.eraser = self.bot.eraser
        self.context = self.bot.operations

    def event(self, login: str, text: str) -> ChatEvent:
        self.count += 1
        now = self.clock.now()
        badges = self.badges.get(login, frozenset())
        user_id = IDS.get(login, "2000")
        return ChatEvent(
            f"m{self.count}",
            EventKind.MESSAGE,
            user_id,
            login,
            login.title(),
            text,
            now,
            badges=badges,
        )

    async def say(self, login: str, text: str) -> str | None:
        """Somebody types a line: it is taken in, and the commands are asked."""
        await self.clock.advance(1_000)
        event = self.event(login, text)
        self.ingest.take(event)
        answer = await self.commands.handle(event)
        return answer.line if answer is not None else None

    async def hear(self, login: str, text: str) -> str:
        """Somebody types a line, and the whole bot hears it; what is answered."""
        await self.clock.advance(1_000)
        return await self.hear_event(self.event(login, text))

    async def hear_event(self, event: ChatEvent) -> str:
        """The whole bot hears a line; what is answered."""
        before = len(self.account.said)
        await self.bot.hear(event)
        await self.bot.settle()
        await self.eraser.idle()
        return " ".join(self.account.said[before:])

    async def act(self, name: str, by: str, line: str = "", **params: str) -> str:
        """The model asks for an operation that the policy allowed; the result's code."""
        asker = Asker(Surface.MODEL, IDS[by], line_id=line)
        return (await run(self.context, name, params, asker)).code

    async def replied(self, to: str, note: str, trigger: str = "mention") -> int:
        """The bot said something to somebody, and used a note."""
        row = {
            "viewer_id": IDS[to],
            "trigger": trigger,
            "text": "As I remember it.",
            "notes_json": f"[{note}]",
        }
        async with self.db.write() as tx:
            return await put(tx, "bot_messages", at=self.clock.now(), **row)

    async def facts(self, login: str | None) -> list[str]:
        return [
            note.fact
            for note in await notes.of_subject(self.db, IDS[login] if login else None)
        ]

    async def propose(self, title: str) -> int:
        """The model proposes a title, which a moderator has to approve."""
        context = ActionContext(event=self.event("carol", "new title"), key=title)
        return (
            await self.bot.executor.carry_out(
                Proposal("title", {"text": title}), context
            )
        ).log_id or 0


@pytest.fixture
async def chat(
    tmp_path: Path, empty_database: Path, clock: ManualClock
) -> AsyncIterator[Chat]:
    path = shutil.copyfile(empty_database, tmp_path / "memory.sqlite3")
    async with live_bot(path, clock, lambda: SETTINGS) as (bot, account):
        made = Chat(bot, clock, account, bot.commands)
        for login in ("alice", "bob", "carol"):
            await made.say(login, "hello")
        await bot.ingest.flush()
        yield made
