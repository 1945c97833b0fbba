"""What a moderator deletes is gone from what the bot made of it: its replies, and their lines in chat."""

import json

import pytest

from forgetmenot.domain import NoteStatus, Redaction, Scope, SourceKind
from forgetmenot.durations import MINUTE
from forgetmenot.errors import FactRefused
from forgetmenot.memory.edits import edit, remember, undo
from forgetmenot.store import action_logs, bot_messages, episodes, notes
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.episodes import Brief
from forgetmenot.store.notes import NewNote, Stance
from tests.memory.conftest import Channel, answer, channel, settings

__all__ = ["channel", "settings"]


async def reply(
    channel: Channel,
    text: str,
    *,
    event_id: str | None = None,
    trigger: str = "mention",
    **rows: list[int],
) -> int:
    """A reply that went out, and its line in chat."""
    now = channel.clock.now()
    async with channel.db.write() as tx:
        made = await bot_messages.begin(
            tx, at=now, event_id=event_id, viewer_id=None, trigger=trigger, mode="live"
        )
        prompt_rows = []
        for source, row_ids in rows.items():
            prompt_rows += [(source, row_id) for row_id in row_ids]
        prompt = {"sections": [{"rows": prompt_rows}]}
        await bot_messages.record_prompt(tx, made, prompt)
        await bot_messages.record_sending(tx, made, text, now)
        await bot_messages.settle(tx, made, ReplyStatus.SENT, twitch_id=f"t{made}")
    channel.ingest.note_own_line(
        text, event_id=f"t{made}", at=now, user_id="99", login="bot"
    )
    return made


async def texts(channel: Channel) -> set[str]:
    await channel.ingest.flush()
    rows = await channel.db.rows(
        "SELECT text FROM bot_messages UNION SELECT text FROM events WHERE from_bot = 1"
    )
    return {row[0] for row in rows} - {""}


@pytest.mark.parametrize("late", [False, True])
async def test_what_was_made_from_a_cleared_line_loses_its_words(
    channel: Channel, late: bool
) -> None:
    await reply(channel, "a quiet evening")
    await channel.clock.advance(MINUTE)
    bad = channel.say("viewer0", "the zitherbloom")
    good = channel.say("viewer1", "nice day")
    await channel.ingest.flush()
    seqs = await channel.db.pairs("SELECT id, seq FROM events")
    clear = Redaction(channel.clock.now(), event_id=bad.id)
    if late:
        channel.ingest.take(clear)
        await channel.ingest.flush()
    await reply(channel, "zitherbloom, you say", event_id=bad.id)
    reply_id = await reply(
        channel,
        "what a zitherbloom",
        event_id="e8",
        events=[seqs[bad.id], seqs[good.id]],
    )
    await reply(channel, "that bloom again", event_id="e9", replies=[reply_id])
    await reply(channel, "a nice day indeed", event_id=good.id, events=[seqs[good.id]])
    await channel.ingest.flush()
    channel.ingest.take(clear)
    # of a clear that comes after them, everything since the line goes: any of it may say it again
    assert await texts(channel) == {
        "a quiet evening",
        *(["a nice day indeed"] if late else []),
    }
    assert json.loads(
        await channel.db.value(
            "SELECT prompt_json FROM bot_messages WHERE id = ?", (reply_id,)
        )
    )
    emptied = "SELECT count(*) FROM events WHERE text = '' AND redacted_at IS NULL AND kind <> 'moderation'"
    assert await channel.db.value(emptied) == 0


async def test_of_a_cleared_person_goes_what_answered_them_named_them_or_read_them(
    channel: Channel,
) -> None:
    bad = channel.say("viewer0", "I own a zitherbloom")
    good = channel.say("viewer1", "nice day")
    await channel.ingest.flush()
    seqs = await channel.db.pairs("SELECT id, seq FROM events")
    await reply(channel, "a zitherbloom, you say", event_id=bad.id)
    await reply(channel, "Viewer0 is the one with the bloom", event_id="e1")
    reply_id = await reply(
        channel, "what a flower", event_id="e2", events=[seqs[bad.id], seqs[good.id]]
    )
    await reply(channel, "that flower again", event_id="e3", replies=[reply_id])
    await reply(channel, "What I know about you: owns a zitherbloom", trigger="command")
    await reply(channel, "a nice day indeed", event_id=good.id, events=[seqs[good.id]])
    await channel.ingest.flush()
    channel.ingest.take(
        Redaction(channel.clock.now(), user_id=bad.user_id, duration_s=60)
    )
    assert await texts(channel) == {"a nice day indeed"}
    channel.ingest.take(Redaction(channel.clock.now()))
    assert await texts(channel) == set()


async def test_a_note_from_a_cleared_edit_goes_with_the_line(channel: Channel) -> None:
    line = channel.say("viewer0", "!edit 1 owns a zitherbloom")
    await channel.ingest.flush()
    viewer_id = line.user_id
    now = channel.clock.now()
    note = await remember(channel.db, viewer_id, "owns a piano", by=viewer_id, at=now)
    privacy = channel.settings.privacy
    await edit(
        channel.db,
        note.id,
        "owns a zitherbloom",
        by=viewer_id,
        at=now,
        privacy=privacy,
        line_id=line.id,
    )
    await channel.clear(line)
    assert "zitherbloom" not in " ".join(
        note.fact
        for note in await notes.of_subject(channel.db, viewer_id, tuple(NoteStatus))
    )


async def write_of_it(channel: Channel, line: str) -> tuple[int, int]:
    """A summary that tells of a line, and a note on it; their ids."""
    channel.model.reply = lambda _: answer("P1 owns a zitherbloom. P2 had a nice day.")
    await channel.compactor.run_pass(everything=True)
    channel.model.reply = lambda _: answer("P1 had a nice day.")
    [episode] = [
        row[0]
        for row in await channel.db.rows("SELECT id FROM episodes WHERE kind = 'chat'")
    ]
    new = NewNote(
        Scope.VIEWER,
        line,
        "owns a zitherbloom",
        0.9,
        SourceKind.SELF_CLAIM,
        channel.clock.now(),
    )
    async with channel.db.write() as tx:
        note = await notes.insert(tx, new, cause="said", now=channel.clock.now())
        await notes.add_evidence(
            tx,
            Stance(
                note, episode, "stated", line, addressed=False, at=channel.clock.now()
            ),
        )
        await tx.execute(
            "UPDATE streams SET recap = 'Somebody owns a zitherbloom.', recapped_at = 1"
        )
        await episodes.put_brief(
            tx, Brief(line, "The one with the zitherbloom.", "x", 1, notes=(note,))
        )
    return note, episode


@pytest.mark.parametrize("late", [False, True])
async def test_no_byte_is_left_of_what_was_made_through_a_note_or_a_summary(
    channel: Channel, late: bool
) -> None:
    bad = channel.say("viewer0", "i own a zitherbloom")
    _good = channel.say("viewer1", "nice day")
    await channel.ingest.flush()
    note, episode = await write_of_it(channel, bad.user_id)
    clear = Redaction(channel.clock.now(), event_id=bad.id)
    if late:
        channel.ingest.take(clear)
        await channel.compactor.run_pass()
    by_note = await reply(
        channel, "how is the bloom of zither?", event_id="e1", notes=[note]
    )
    await reply(channel, "the zitherbloom again", event_id="e2", replies=[by_note])
    if not late:
        await reply(
            channel, "a zitherbloom, they said", event_id="e3", episodes=[episode]
        )
    await reply(channel, "a nice day it was", event_id="e4", episodes=[episode])
    async with channel.db.write() as tx:
        params = {"text": "zitherbloom day", "target": "7"}
        row = NewAction(
            "k",
            1,
            "announce",
            "B",
            params,
            "ask",
            "r",
            "r",
            ActionStatus.WAITING,
            bot_message_id=by_note,
        )
        await action_logs.insert(tx, row)
    channel.ingest.take(clear)
    await channel.ingest.flush()
    await channel.compactor.run_pass()
    if late:  # the action was asked for after the note had gone
        async with channel.db.write() as tx:
            await bot_messages.settle(tx, by_note, ReplyStatus.SENT)
    await channel.ingest.flush()
    assert await texts(channel) == set()
    assert await channel.db.wipe_deleted(thorough=True)
    for file in channel.db.path.parent.iterdir():
        assert b"zither" not in file.read_bytes().lower(), file
    [action] = await action_logs.latest(channel.db, 5)
    assert (action.status, action.params) == ("denied", {"target": "7"})
    every_status = tuple(NoteStatus)
    assert not await notes.of_subject(channel.db, bad.user_id, every_status)
    with pytest.raises(FactRefused):
        await undo(channel.db, note, at=channel.clock.now())
