"""Days are the channel's: in prompts, notes, plans, past streams and `!missed`, at midnight and when clocks change."""

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.memory.summary_instructions import SUMMARY
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import BotSettings
from forgetmenot.store import streams
from tests.notes_world import World, prompt_for, section
from tests.rows import put
from tests.stage import ScriptedModel, live_bot, said

# For each zone an evening; the clocks change in the night after four of them.
EVENINGS = {
    "America/Los_Angeles": "2027-03-13",
    "Europe/Berlin": "2026-10-24",
    "Asia/Kolkata": "2026-11-26",
    "Pacific/Auckland": "2026-09-26",
    "America/Santiago": "2026-09-05",
}


def ms(moment: str, zone: str) -> int:
    local = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
    return int(local.timestamp() * 1_000)


async def move_to(clock: ManualClock, moment: int) -> None:
    await clock.advance(moment - clock.now())


@pytest.fixture(params=EVENINGS)
async def evening(
    request: pytest.FixtureRequest, world: World
) -> tuple[World, str, str]:
    """A channel in that zone, where alice spoke of her plan at 21:00, in the first of two streams."""
    zone = str(request.param)
    day = EVENINGS[zone]
    world.settings = replace(world.settings, bot=BotSettings(timezone=zone))
    await move_to(world.clock, ms(f"{day}T21:00", zone))
    stream = await world.stream()
    await world.attends("1", stream)
    planned = datetime.fromisoformat(day)
    await world.note(f"has a concert on {planned.day} {planned:%B %Y}")
    await world.episode("<@1> tuned the old cello.", {"1": (1, 0)}, stream)
    for end in ("22:00", "23:00"):
        await move_to(world.clock, ms(f"{day}T{end}", zone))
        await world.episode(f"Chat sang until {end}.", {"1": (0, 0)}, stream)
        async with world.db.write() as tx:
            await streams.end(tx, stream, world.clock.now())
            recap = f"Chat was happy until {end}."
            await streams.set_recap(tx, stream, recap, world.clock.now())
        stream = await world.stream()
    return world, zone, day


async def prompt_at(world: World, moment: int) -> str:
    await move_to(world.clock, moment)
    greeting = await prompt_for(world, "1", "alice", "hello there")
    question = await prompt_for(world, "1", "alice", "is that old cello tuned?")
    return greeting.prefix + greeting.tail + section(question, "past_episode")


async def test_ten_minutes_before_midnight(evening: tuple[World, str, str]) -> None:
    world, zone, day = evening
    prompt = await prompt_at(world, ms(f"{day}T23:50", zone))
    assert f"Today is {datetime.fromisoformat(day):%A}, {day}, 23:50" in prompt
    assert "[id:1; today] has a concert" in prompt
    assert "its day has passed" not in prompt
    assert f"({day}, today" in prompt
    assert f"(recap of the stream of {day})" in prompt


async def test_ten_minutes_after_midnight(evening: tuple[World, str, str]) -> None:
    world, zone, day = evening
    next_day = datetime.fromisoformat(day) + timedelta(days=1)
    # 20 minutes later, whatever the clocks do: in Santiago they show 1:10
    midnight_past = ms(f"{day}T23:50", zone) + 20 * MINUTE
    prompt = await prompt_at(world, midnight_past)
    assert f"Today is {next_day:%A}, {next_day:%Y-%m-%d}, " in prompt
    assert (
        "[id:1; yesterday; its day has passed: ask how it went] has a concert" in prompt
    )
    assert f"({day}, yesterday" in prompt
    assert f"(recap of the stream of {day})" in prompt


async def test_what_was_said_before_midnight_was_said_yesterday(
    evening: tuple[World, str, str],
) -> None:
    world, zone, day = evening
    await move_to(world.clock, ms(f"{day}T23:50", zone))
    async with world.db.write() as tx:
        row = {
            "viewer_id": "1",
            "text": "my hamster is called Pixel",
            "at": world.clock.now(),
        }
        await put(tx, "events", id="said", **row)
    await world.clock.advance(20 * MINUTE)
    prompt = await prompt_for(world, "1", "alice", "what is my hamster called?")
    assert "[said yesterday at 23:50, not summarised yet]" in section(
        prompt, "unsummarised"
    )


@pytest.mark.parametrize("zone", EVENINGS)
async def test_how_long_ago_somebody_was_here_is_counted_in_days(
    tmp_path: Path, clock: ManualClock, zone: str
) -> None:
    """From ten to midnight until after midnight three days later it is less than three times 24 hours."""
    table = {
        "bot": {"mode": "mentions", "timezone": zone},
        "twitch": {"channel": "carol"},
    }
    settings = convert(table, "the test")
    evening = datetime.fromisoformat(EVENINGS[zone]) - timedelta(days=1)
    await move_to(clock, ms(f"{evening:%Y-%m-%d}T23:50", zone))
    async with live_bot(
        tmp_path / "m.db", clock, lambda: settings, ScriptedModel()
    ) as (bot, chat):
        await bot.hear(said(clock, "1", "1", "alice", "good night"))
        await bot.settle()
        await clock.advance(DAY)
        await bot.hear(said(clock, "2", "2", "bob", "hello"))
        await bot.settle()
        times = dict.fromkeys(("started_at", "ended_at", "created_at"), clock.now())
        async with bot.db.write() as tx:
            stream = await bot.db.highest_id("streams")
            await put(tx, "episodes", stream_id=stream, summary="<@2> won.", **times)
        third_day = evening + timedelta(days=3)
        await move_to(clock, ms(f"{third_day:%Y-%m-%d}T01:10", zone))
        await bot.hear(said(clock, "3", "1", "alice", "!missed"))
        await bot.settle()
    assert chat.said == ["Since you were last here (3 days ago): Bob won."]


def test_next_saturday_is_defined_for_whoever_writes_the_summary() -> None:
    assert '"next Friday" in the week from next Monday' in " ".join(SUMMARY.split())
