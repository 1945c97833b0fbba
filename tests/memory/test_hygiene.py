"""The sweep."""

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.memory.notes.remember import remember
from forgetmenot.store import cooldowns, tally
from tests.memory.conftest import Channel


async def test_what_is_old_goes_and_is_accounted_for(channel: Channel) -> None:
    await channel.chat(50)
    await channel.compactor.run_pass(everything=True)
    await channel.clock.advance(24 * HOUR + MINUTE)
    await channel.chat(3)
    report = await channel.sweep()
    assert (report.pruned, report.unread, report.wiped) == (50, 0, True)
    account = await tally.account(channel.db, channel.ingest.run_id)
    assert account.balanced
    assert (account.events, account.covered, account.uncovered) == (53, 50, 3)


async def test_first_thing_after_days_away_unread_chat_is_counted_and_gone(channel: Channel) -> None:
    await channel.chat(130, people=3)
    await channel.clock.advance(3 * DAY)
    report = await channel.sweep()
    assert (report.pruned, report.unread) == (130, 0)
    assert channel.model.asked == []
    rows = await channel.db.rows("SELECT kind, events FROM episodes")
    assert [tuple(row) for row in rows] == [("counted", 100), ("counted", 30)]
    assert await channel.db.value("SELECT count(*) FROM events") == 0


async def test_the_id_of_a_line_that_told_something_goes_with_the_line(channel: Channel) -> None:
    said = await channel.chat(1)
    await remember(channel.db, said[0].user_id, "plays drums", by=said[0].user_id, at=said[0].at, line=said[0].id)
    asked = "SELECT count(*) FROM episodes WHERE key IS NOT NULL"
    await channel.sweep()
    assert await channel.db.value(asked) == 1
    await channel.clock.advance(24 * HOUR + MINUTE)
    await channel.sweep()
    assert await channel.db.value(asked) == 0


async def test_what_is_kept_for_looking_back_goes_after_its_days(channel: Channel) -> None:
    now = channel.clock.now()
    async with channel.db.write() as tx:
        for at in (now - 31 * DAY, now - 29 * DAY):
            await tx.execute(
                "INSERT INTO bot_messages (at, trigger, mode, text, status)"
                " VALUES (?, 'mention', 'live', 'hi', 'sent')",
                (at,),
            )
            await tx.execute(
                "INSERT INTO model_calls (at, purpose, model, latency_ms) VALUES (?, 'reply', 'fake', 1)", (at,)
            )
    assert (await channel.sweep()).expired == 2


async def test_what_rests_no_longer_and_old_deeds_are_cleared_away(channel: Channel) -> None:
    now = channel.clock.now()
    async with channel.db.write() as tx:
        await cooldowns.rest(tx, {("clip", ""): now - 1, ("clip", "1"): now + HOUR})
        await tx.many(
            "INSERT INTO action_logs (at, key, name, class, params_json, verdict, rule, reason, status)"
            " VALUES (?, ?, 'clip', 'A', '{}', 'deny', 'x', 'y', 'denied')",
            [(now - 31 * DAY, "old"), (now - DAY, "new")],
        )
    await channel.sweep()
    assert [tuple(row) for row in await channel.db.rows("SELECT name, key FROM cooldowns")] == [("clip", "1")]
    assert [row[0] for row in await channel.db.rows("SELECT key FROM action_logs")] == ["new"]
