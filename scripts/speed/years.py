"""Whether the prompt grows with the age of the channel: simulated streams through the whole bot, three a week.

In each the same people chat and tell new things about themselves. The first is so long that everybody has told more
than a prompt has room for; the prompts of the next three are measured, and those of the last three.
So it is the growth with age that is told, not that of a memory which fills: with few notes a prompt is smaller.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import mean

from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.clock import DAY, MINUTE, SECOND, ManualClock
from forgetmenot.domain import Prompt
from forgetmenot.prompt.assemble import assemble
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Conversations, trigger_of
from forgetmenot.settings.schema import Settings
from speed.figures import Figure
from speed.invented import NOW, Invented

PEOPLE = 6
FIRST_LINES, FIRST_CLAIMS = 600, 24
LINES, LATER_CLAIMS = 96, 1
MEASURED = 3
APART = 7 * DAY // 3
STEP = 40 * SECOND
WORDS = 7
CLAIMS = ("I play {} on weekends", "I collect {} figures", "I love {} music", "my cat is called {}", "I work at {} now")
QUESTIONS = ("what do I play on weekends?", "do you know which figures I collect?", "tell me what music I love")


def measure(folder: Path, streams: int) -> list[Figure]:
    """The mean size of some prompts after so many streams, beside that after the first."""
    return asyncio.run(_measure(folder, streams))


async def _measure(folder: Path, streams: int) -> list[Figure]:
    first: list[int] = []
    last: list[int] = []
    async with _channel(folder) as channel:
        await channel.stream(0, FIRST_LINES, FIRST_CLAIMS)
        for number in range(1, streams + 1):
            await channel.stream(number, LINES, LATER_CLAIMS)
            if number <= MEASURED:
                first += await channel.sizes()
            if number > streams - MEASURED:
                last += await channel.sizes()
        notes = await channel.bot.db.value("SELECT count(*) FROM semantic_notes WHERE status = 'active'")
    return [
        Figure("simulated days", streams * APART // DAY, ""),
        Figure("notes about six people after them", notes, ""),
        Figure("prompt after the first day", mean(first), "tokens"),
        Figure("prompt after all days", mean(last), "tokens"),
        Figure("prompt, all days / first day", mean(last) / mean(first), "", 1.02),
    ]


class Channel:
    """A channel with a bot in it, and the days that go by."""

    def __init__(self, bot: Bot, clock: ManualClock) -> None:
        self.bot = bot
        self._clock = clock
        self._made = Invented(23)
        self._gatherer = ContextGatherer(db=bot.db, recall=bot.recall, clock=clock)

    async def stream(self, number: int, lines: int, claims: int) -> None:
        """A stream; its memory is written as the bot does it, and the rest at the end."""
        await self._clock.move_to(NOW + number * APART)
        every = lines // PEOPLE // claims
        for line in range(lines):
            await self._clock.advance(STEP)
            who, turn = line % PEOPLE, line // PEOPLE
            text = self._claim(number + turn // every) if turn % every == 0 else self._made.line(WORDS)
            await self.bot.hear(self._made.event(who, self._clock.now(), text))
            if line % 16 == 15:
                await self.bot.settle()
                await self.bot.tasks.catch_up()
        await self._clock.advance(40 * MINUTE)
        await self.bot.remember_all()

    def _claim(self, number: int) -> str:
        return CLAIMS[number % len(CLAIMS)].format(*self._made.words(1))

    async def sizes(self) -> list[int]:
        """The estimated tokens of a prompt for each person and question."""
        return [(await self._prompt(who, question)).estimated_tokens for who in range(PEOPLE) for question in QUESTIONS]

    async def _prompt(self, who: int, question: str) -> Prompt:
        bot, settings = self.bot, self.bot.settings()
        event = self._made.event(who, self._clock.now(), f"@keeper {question}")
        trigger = trigger_of(event, bot.identity(), Conversations({}), settings, event.at)
        if trigger is None:
            raise SystemExit("a mention was not taken for one")
        prefix = await bot.keeper.current()
        material = await self._gatherer.tail(trigger, settings)
        return assemble(prefix, material, settings)


@asynccontextmanager
async def _channel(folder: Path) -> AsyncIterator[Channel]:
    clock, settings = ManualClock(NOW), Settings()
    path = folder / "years.sqlite3"
    async with open_bot(path, "bench", settings=lambda: settings, clock=clock, me=BotIdentity("1", "keeper")) as bot:
        yield Channel(bot, clock)
