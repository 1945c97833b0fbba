"""What was not heard is kept, counted per run, and told."""

from forgetmenot.app.bot import Bot
from forgetmenot.app.live import begin_counting, keep_gap
from forgetmenot.operations import switches
from forgetmenot.store import channel_state
from forgetmenot.twitch.connection import Gap


async def test_gaps_are_counted_per_run_and_the_last_is_kept(bot: Bot) -> None:
    now = bot.clock.now()
    await begin_counting(bot)
    await keep_gap(bot, Gap(now - 90_000, now - 80_000, "The connection was lost."))
    await keep_gap(bot, Gap(now - 70_000, now - 25_000, "Twitch asked to connect again."))
    kept = await channel_state.read_all(bot.db)
    assert (kept["gaps"], kept["gap_from"], kept["gap_to"]) == ("2", str(now - 70_000), str(now - 25_000))
    assert kept["gap_reason"] == "Twitch asked to connect again."
    told = "2 gaps in what was heard since the start, the last of 45 s, 25 s ago"
    assert told in await switches.status_line(bot.db, bot.settings(), now)
    await begin_counting(bot)
    assert "gap" not in await switches.status_line(bot.db, bot.settings(), now)
