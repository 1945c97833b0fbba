"""What a model takes for "remember" or "forget" and code does not read: nothing is claimed, the command is named."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import SECOND
from forgetmenot.settings.schema import BotSettings, MemorySettings, Mode, Settings
from forgetmenot.store import notes, viewers
from tests.stage import RecordingAccount, ScriptedModel, answering, live_bot, said

SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS, notice=""), memory=MemorySettings(briefs=False)
)


class Talk:
    """Alice talks to the bot; the model answers what it is told to."""

    def __init__(
        self,
        bot: Bot,
        account: RecordingAccount,
        model: ScriptedModel,
        clock: ManualClock,
    ) -> None:
        self.bot = bot
        self.account = account
        self.model = model
        self.clock = clock
        self.lines = 0

    async def says(self, text: str) -> str:
        await self.clock.advance(20 * SECOND)
        self.lines += 1
        return await self.heard(said(self.clock, f"e{self.lines}", "1", "alice", text))

    async def heard(self, event: ChatEvent) -> str:
        before = len(self.account.said)
        await self.bot.hear(event)
        await self.bot.settle()
        return " ".join(self.account.said[before:])

    async def is_known(self) -> bool:
        return await viewers.get(self.bot.db, "1") is not None

    async def facts(self) -> list[str]:
        return [note.fact for note in await notes.of_subject(self.bot.db, "1")]


@pytest.fixture
async def talk(
    tmp_path: Path, empty_database: Path, clock: ManualClock
) -> AsyncIterator[Talk]:
    path = shutil.copyfile(empty_database, tmp_path / "memory.sqlite3")
    model = ScriptedModel()
    async with live_bot(path, clock, lambda: SETTINGS, model) as (bot, account):
        alice = Talk(bot, account, model, clock)
        await alice.says("!remember I play drums")
        yield alice


# Turkish, which no table of ours reads.
FORGET_ME = "@ForgetMeNot beni tamamen unut lütfen"
EVERYTHING = ("everything", "me", "everything about me", "all my data")


@pytest.mark.parametrize("subject", EVERYTHING)
async def test_a_wish_to_be_forgotten_that_the_model_read_asks_for_the_same_confirmation(
    talk: Talk, subject: str
) -> None:
    talk.model.answers = [
        answering("Tamam, seni unuttum.", "forget", target="me", what=subject)
    ]
    assert "To confirm, type !forgetme yes" in await talk.says(FORGET_ME)
    assert await talk.facts() == ["plays drums"]
    assert "everything is deleted" in await talk.says("yes")
    assert not await talk.is_known()


async def test_what_is_said_aloud_asks_for_nothing(talk: Talk) -> None:
    """Anybody near the microphone is heard."""
    talk.model.answers = [answering("Tamam.", "forget", target="me", what="everything")]
    now = talk.clock.now()
    spoken = ChatEvent("s1", EventKind.SPOKEN, "1", "alice", "Alice", FORGET_ME, now)
    assert "!forgetme yes" not in await talk.heard(spoken)


@pytest.mark.parametrize(
    ("line", "action", "names"),
    [
        (
            "@ForgetMeNot köpeğimi unut lütfen",
            {"name": "forget", "what": "my dog"},
            "!forget",
        ),
        (
            "@ForgetMeNot bob'u unut lütfen",
            {"name": "forget", "target": "bob", "what": "everything"},
            "!forgetme",
        ),
        (
            "@ForgetMeNot keman çaldığımı hatırla",
            {"name": "remember", "fact": "plays the violin"},
            "!remember",
        ),
    ],
)
async def test_what_was_not_done_is_not_said_to_be(
    talk: Talk, line: str, action: dict[str, str], names: str
) -> None:
    words = {"say": "Tamam, oldu!", "if_refused": "Tamam, oldu!"}
    talk.model.answers = [answering(**words, **{"target": "me", **action})]
    answer = await talk.says(line)
    assert names in answer
    assert "oldu" not in answer
    assert await talk.facts() == ["plays drums"]
