"""The streams that a demo which stays has behind it: each picture has something to show, and no promise is broken."""

from pathlib import Path

from forgetmenot.clock import ManualClock
from forgetmenot.demo.past_streams import COUNT, add_past_streams, with_price
from forgetmenot.demo.show import STREAMER, bot_on
from forgetmenot.demo.twitch_server import TwitchSim
from forgetmenot.reply.evaluation import evaluate
from forgetmenot.reply.explain import explain
from forgetmenot.settings.schema import DockSettings, Settings
from forgetmenot.store import figures, picture_rows
from forgetmenot.store.invariants import verify

FILLED = (
    "streams",
    "attendance",
    "minutes",
    "moments",
    "spending",
    "semantic_notes",
    "bot_messages",
)


async def test_each_picture_has_something_to_show(
    tmp_path: Path, clock: ManualClock
) -> None:
    settings = with_price(Settings(dock=DockSettings(port=0)))
    sim = TwitchSim(channel=STREAMER, now=clock.now)
    reported: list[str] = []
    async with (
        sim,
        bot_on(
            sim, tmp_path / "memory.sqlite3", clock, settings, reported.append
        ) as bot,
    ):
        await add_past_streams(bot, sim, clock.now())
        for table in FILLED:
            assert await bot.db.value(f"SELECT count(*) FROM {table}") > 0, table  # noqa: S608  # ours
        latest = await picture_rows.latest_streams(bot.db, COUNT + 1)
        assert len(latest) == COUNT
        assert latest[-1]["ended_at"] < clock.now()
        recaps = await bot.db.column("SELECT recap FROM streams")
        assert all(recap.count("<@") == 2 for recap in recaps)
        kinds = {
            row["kind"] for row in await figures.moments_of(bot.db, latest[0]["id"])
        }
        assert kinds == {"title", "game", "raid", "gift", "clip"}
        learned = await picture_rows.learned(bot.db, COUNT)
        assert sum(row["new"] for row in learned) > 5
        assert sum(row["replaced"] for row in learned) > 0
        assert (await evaluate(bot.db, "")).replies > 100
        # the dock's page of answers has a button for each of them
        for reply_id in await bot.db.column("SELECT id FROM bot_messages"):
            trail = await explain(bot.db, reply_id)
            assert [section.name for section in trail.sections] == ["lore"]
        assert await verify(bot.db, now=clock.now()) == []
