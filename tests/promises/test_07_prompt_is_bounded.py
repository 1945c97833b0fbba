"""Promise 7: the prompt's size does not grow with the channel, and its floor is never dropped."""

import pytest

from forgetmenot.domain import PromptLine, Role, Scope, Viewer
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import SettingsError
from forgetmenot.prompt.assemble import assemble, compose_prefix
from forgetmenot.prompt.instructions import check_floor
from forgetmenot.prompt.material import PrefixMaterial, TailMaterial
from forgetmenot.settings.schema import BotSettings, PromptSettings, Settings
from forgetmenot.text.mentions import fenced_texts
from tests.stage import Stage

QUESTION = "@forgetmenot_bot what do I play in the band?"


async def _live_through(stage: Stage, days: int) -> None:
    """So many days, each with notes, an episode and chat."""
    for day in range(days):
        await stage.clock.advance(DAY)
        for viewer in "123":
            await stage.know(
                f"plays instrument number {day} in the band of day {day}", viewer
            )
        await stage.know(
            f"the running joke of day {day} about the band", None, Scope.RUNNING_BIT
        )
        async with stage.db.write() as tx:
            await tx.execute(
                "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
                " VALUES ('chat', 1, ?, ?, ?, 50, ?)",
                (
                    stage.clock.now(),
                    stage.clock.now(),
                    f"On day {day} <@1> spoke of the band. " * 5,
                    stage.clock.now(),
                ),
            )
        for i in range(25):
            await stage.hear(f"line {i} of day {day} about the band", "23"[i % 2])


async def _size(stage: Stage) -> int:
    await stage.keeper.refresh()
    await stage.clock.advance(MINUTE)
    reply = await stage.reply(QUESTION)
    return int((await stage.row(reply.id)).prompt["estimated"])


@pytest.mark.slow
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


@pytest.mark.parametrize("word", ["word ", "🦊 ", "縦 "])
def test_a_floor_of_giants_is_shortened_and_no_part_of_it_is_dropped(word: str) -> None:
    settings = Settings(prompt=PromptSettings(budget_tokens=1_250))
    alice = Viewer("1", "alice", "Alice", Role.VIEWER, 1, 1)
    own = tuple(
        PromptLine(i, f"e{i}", "1", f"own{i} {word * 200}", 1) for i in range(5)
    )
    tail = TailMaterial(
        1, alice, PromptLine(9, "e9", "1", f"asked {word * 400}", 1), own_lines=own
    )
    prompt = assemble(
        compose_prefix(PrefixMaterial(channel="demo"), settings), tail, settings
    )
    assert prompt.estimated_tokens <= 1_250
    blocks = fenced_texts(prompt.tail)
    assert [line[:11] for line in blocks["own_messages"].splitlines()] == [
        f"Alice: own{i}" for i in range(5)
    ]
    assert blocks["message"].startswith("Alice: asked")
    assert blocks["speaker"].startswith("Alice")
    assert "never make up a fact" in prompt.prefix
