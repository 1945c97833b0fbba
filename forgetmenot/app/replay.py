"""Feeds recorded chat through the same road as live chat, by a clock that the recording moves.

Times are the recording's own; the clock never goes backwards. Nothing is sent: the bot has no account here.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.heard_before import heard_before, mark
from forgetmenot.app.report import Summary, summarise
from forgetmenot.chat.router import Heard, outcome_of
from forgetmenot.clock import HOUR, MINUTE, SECOND, ManualClock
from forgetmenot.domain.chat import ChatEvent, Redaction
from forgetmenot.errors import ModelUnavailable
from forgetmenot.settings.schema import Settings
from forgetmenot.store import report
from forgetmenot.store.tally import account

TELL_EVERY = 5_000
PASSES = 100


@dataclass(frozen=True, slots=True)
class Replay:
    """How to play. `speed`: times real time, None for as fast as it goes; `progress` hears sentences."""

    settings: Settings
    speed: float | None = None
    until_compacted: bool = False
    progress: Callable[[str], None] = field(default=lambda _sentence: None)


async def replay(items: Iterable[Heard], path: Path, how: Replay) -> Summary:
    """Play a recording into the memory at `path`. Raises ModelUnavailable where the model stops answering."""
    clock = ManualClock()
    first, rest = _peek(items)
    await clock.move_to(first)
    async with open_bot(path, "replay", settings=lambda: how.settings, clock=clock) as bot:
        await bot.chores.catch_up()
        before = await report.totals(bot.db)
        known = await heard_before(bot.db, rest)
        await _pass_over(bot, rest[:known])
        await clock.move_to(max(map(_time, rest[:known]), default=0))
        heard = known + await _play(bot, clock, rest[known:], how)
        await bot.settle()
        await mark(bot.db, rest[:heard], clock.now())
        if heard < len(rest):
            raise ModelUnavailable(
                f"The model stopped answering at line {heard} of {len(rest)}. {bot.models.memory.trouble} "
                "What was read is kept where --db says; with it the same command goes on from there."
            )
        if how.until_compacted:
            await _compact(bot)
        return await summarise(bot.db, bot.run_id, before)


def _peek(items: Iterable[Heard]) -> tuple[int, list[Heard]]:
    """When the recording begins, and its items."""
    held = list(items)
    return next((at for at in map(_time, held) if at), 0), held


def _time(item: Heard) -> int:
    return item.at if isinstance(item, ChatEvent | Redaction) else 0


async def _pass_over(bot: Bot, items: list[Heard]) -> None:
    """Account for what an earlier replay has heard."""
    for number, item in enumerate(items, 1):
        if number % TELL_EVERY == 0:
            await bot.ingest.flush()
        if isinstance(item, ChatEvent):
            bot.ingest.take_again(item)
        else:
            bot.ingest.note(outcome_of(item))


async def _play(bot: Bot, clock: ManualClock, items: list[Heard], how: Replay) -> int:
    """How many items were heard: not all where the model is away, for without it they would be counted, not read."""
    for number, item in enumerate(items, 1):
        await _sit_out(bot, clock, _time(item), how)
        await _wait(clock, _time(item), how.speed)
        await bot.hear(item)
        if isinstance(item, ChatEvent) and bot.engine.is_asked(item):
            await bot.settle()
        await bot.chores.catch_up()
        if number % TELL_EVERY == 0:
            how.progress(f"{number} of {len(items)} lines")
        if bot.models.memory.trouble:
            return number
    return len(items)


async def _sit_out(bot: Bot, clock: ManualClock, at: int, how: Replay) -> None:
    """A long silence comes before the next line: do in it what a live bot would have done, not all of it afterwards."""
    memory, last = how.settings.memory, clock.now()
    soon = memory.compaction_every_s * SECOND
    for silence in (memory.silence_min * MINUTE, memory.stream_gap_h * HOUR):
        moment = last + int(silence + soon)
        if moment < at:
            await _wait(clock, moment, how.speed)
            await bot.chores.catch_up()


async def _wait(clock: ManualClock, at: int, speed: float | None) -> None:
    ahead = at - clock.now()
    if ahead <= 0:
        return
    if speed is not None:
        await asyncio.sleep(ahead / 1_000 / speed)
    await clock.move_to(at)


async def _compact(bot: Bot) -> None:
    """Summarise until nothing is left unread."""
    for _ in range(PASSES):
        await bot.remember_all()
        if (await account(bot.db, bot.run_id)).uncovered == 0:
            return
        if bot.models.trouble:
            raise ModelUnavailable(f"The rest could not be summarised. {bot.models.trouble}")
