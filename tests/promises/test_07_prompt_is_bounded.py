"""Promise 7: the prompt's size does not grow with the channel, and its floor is never dropped."""

import pytest

from forgetmenot.clock import DAY, MINUTE
from forgetmenot.domain import Scope
from forgetmenot.errors import SettingsError
from forgetmenot.prompt.instructions import check_floor
from forgetmenot.settings.schema import BotSettings, PromptSettings, Settings
from tests.stage import Stage

QUESTION = "@forgetmenot_bot what do I play in the band?"


async def _live_through(stage: Stage, days: int) -> None:
    """So many days, each with notes, an episode and chat."""
    for day in range(days):
        await stage.clock.advance(DAY)
        for viewer in "123":
            await stage.know(f"plays instrument number {day} in the band of day {day}", viewer)
        await stage.know(f"the running joke of day {day} about the band", None, Scope.RUNNING_BIT)
        async with stage.db.write() as tx:
            await tx.execute(
                "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
                " VALUES ('chat', 1, ?, ?, ?, 50, ?)",
                (stage.clock.now(), stage.clock.now(), f"On day {day} <@1> spoke of the band. " * 5, stage.clock.now()),
            )
        for i in range(25):
            await stage.hear(f"line {i} of day {day} about the band", "23"[i % 2])


async def _size(stage: Stage) -> int:
    await stage.keeper.refresh()
    await stage.clock.advance(MINUTE)
    reply = await stage.reply(QUESTION)
    return int((await stage.row(reply.id)).prompt["estimated"])


async def test_it_does_not_grow_with_the_age_of_the_channel(stage: Stage) -> None:
    await _live_through(stage, 30)  # every section is full by now
    young = await _size(stage)
    await _live_through(stage, 60)
    assert await _size(stage) <= 1.02 * young


def test_a_floor_that_cannot_fit_is_told_at_start() -> None:
    with pytest.raises(SettingsError, match=r"`persona` in \[bot\]"):
        check_floor(Settings(bot=BotSettings(persona="x" * 4_000)))
    with pytest.raises(SettingsError, match="budget_tokens"):
        check_floor(Settings(prompt=PromptSettings(budget_tokens=500)))
