"""What the bot said and did, as it is kept."""

from forgetmenot.store import action_logs, bot_messages, person_deletion
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database
from tests.rows import put


async def test_only_what_went_out_counts_as_said(db: Database) -> None:
    """And a line whose words were taken away takes no place in a prompt."""
    async with db.write() as tx:
        await put(tx, "viewers", id="1", login="alice")
        for status in ReplyStatus:
            await put(
                tx,
                "bot_messages",
                viewer_id="1",
                text=f"it was {status}",
                status=status,
            )
        await put(tx, "bot_messages", viewer_id="1", text="", status=ReplyStatus.SENT)
    for limit, to, texts in (
        (10, None, ["it was sent"]),
        (1, "1", ["it was sent"]),
        (10, "2", []),
    ):
        assert [
            line.text for line in await bot_messages.recently_sent(db, limit, 0, to)
        ] == texts


async def test_a_line_of_chat_is_answered_at_most_once(db: Database) -> None:
    """Also by another reply, and whatever the first one's fate was; a refusal may be tried again."""
    for fate in (
        ReplyStatus.SENT,
        ReplyStatus.UNKNOWN,
        ReplyStatus.SENDING,
        ReplyStatus.REFUSED,
    ):
        again = fate is ReplyStatus.REFUSED
        async with db.write() as tx:
            first, second = [
                await bot_messages.begin(
                    tx,
                    at=0,
                    event_id=fate,
                    viewer_id=None,
                    trigger="mention",
                    mode="live",
                )
                for _ in range(2)
            ]
            assert await bot_messages.record_sending(tx, first, "hello", 0)
            await bot_messages.settle(tx, first, fate)
        assert await bot_messages.is_answered(db, fate) is not again
        async with db.write() as tx:
            assert (
                await bot_messages.record_sending(tx, second, "hello again", 0) is again
            )


async def test_actions_that_wait_are_found_by_their_index(db: Database) -> None:
    """They are asked for every second: without the index each time reads the actions of a month."""
    queries: list[str] = []
    await db._reader.set_trace_callback(queries.append)
    await action_logs.expire(db, 1)
    await action_logs.waiting(db, 1)
    await action_logs.running(db)
    expired, waiting, running = queries
    for query in (expired, waiting, running):
        plan = await db.rows(f"EXPLAIN QUERY PLAN {query}")
        assert "action_logs_open" in plan[0]["detail"]


async def test_an_erasure_finds_answers_by_their_indexes(db: Database) -> None:
    """It looks for them once for each part of somebody's lines: it must not read a month of replies each time."""
    statements: list[str] = []
    await db._writer.set_trace_callback(statements.append)
    async with db.write() as tx:
        await person_deletion.delete_chat(tx, "7")
    [search] = [text for text in statements if "FROM bot_messages\n" in text]
    plan = await db.rows(f"EXPLAIN QUERY PLAN {search}")
    steps = {step["detail"] for step in plan}
    assert not steps & {"SCAN bot_messages", "SCAN events"}


async def test_replies_are_found_by_the_index_of_their_line_or_their_twitch_id(
    db: Database,
) -> None:
    """One is asked for with every reply, the other with every deleted line: a month of replies is not read for it."""
    queries: list[str] = []
    await db._reader.set_trace_callback(queries.append)
    await bot_messages.lines_with_reply(db, ["a", "b"])
    await bot_messages.id_by_twitch_id(db, "t")
    by_line, by_twitch_id = queries
    plan = await db.rows(f"EXPLAIN QUERY PLAN {by_line}")
    assert "bot_messages_by_event" in plan[0]["detail"]
    plan = await db.rows(f"EXPLAIN QUERY PLAN {by_twitch_id}")
    assert "bot_messages_by_twitch_id" in plan[0]["detail"]
