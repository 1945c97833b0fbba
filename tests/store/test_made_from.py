"""What a moderator deletes is gone from what the bot made of it: its replies, and their lines in chat."""

import json

import pytest

from forgetmenot.domain.chat import Redaction
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from tests.memory.conftest import Channel, channel, settings

__all__ = ["channel", "settings"]


async def reply(channel: Channel, text: str, *, event_id: str | None = None, **rows: list[int]) -> int:
    """A reply that went out, and its line in chat."""
    now = channel.clock.now()
    async with channel.db.write() as tx:
        made = await bot_messages.begin(tx, at=now, event_id=event_id, viewer_id=None, trigger="mention", mode="live")
        sections = [{"name": name, "rows": found} for name, found in rows.items()]
        await bot_messages.record_prompt(tx, made, {"sections": sections})
        await bot_messages.record_sending(tx, made, text, now)
        await bot_messages.settle(tx, made, ReplyStatus.SENT, twitch_id=f"t{made}")
    channel.ingest.note_own_line(text, event_id=f"t{made}", at=now, user_id="99", login="bot")
    return made


async def texts(channel: Channel) -> set[str]:
    await channel.ingest.flush()
    rows = await channel.db.rows("SELECT text FROM bot_messages UNION SELECT text FROM events WHERE from_bot = 1")
    return {row[0] for row in rows} - {""}


@pytest.mark.parametrize("late", [False, True])
async def test_what_was_made_from_a_cleared_line_loses_its_words(channel: Channel, late: bool) -> None:
    bad, good = channel.say("viewer0", "the zitherbloom"), channel.say("viewer1", "nice day")
    await channel.ingest.flush()
    seqs = {row[0]: row[1] for row in await channel.db.rows("SELECT id, seq FROM events")}
    clear = Redaction(channel.clock.now(), event_id=bad.id)
    if late:
        channel.ingest.take(clear)
        await channel.ingest.flush()
    await reply(channel, "zitherbloom, you say", event_id=bad.id)
    shown = await reply(channel, "what a zitherbloom", event_id="e8", chat=[seqs[bad.id], seqs[good.id]])
    await reply(channel, "that bloom again", event_id="e9", bot_replies=[shown])
    await reply(channel, "a nice day indeed", event_id=good.id, chat=[seqs[good.id]])
    await channel.ingest.flush()
    channel.ingest.take(clear)
    assert await texts(channel) == {"a nice day indeed"}
    assert json.loads(await channel.db.value("SELECT prompt_json FROM bot_messages WHERE id = ?", (shown,)))
    assert (
        await channel.db.value(
            "SELECT count(*) FROM events WHERE text = '' AND redacted_at IS NULL AND kind <> 'moderation'"
        )
        == 0
    )
