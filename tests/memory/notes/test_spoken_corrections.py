"""What a line of chat cannot do through a correction of what is known of its speaker."""

from dataclasses import replace

import pytest

from forgetmenot.clock import MINUTE
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.memory.erasure import forget_fact
from forgetmenot.memory.heard_facts import OWN_WORD, SpokenCorrections, heard_facts
from forgetmenot.memory.notes.edits import remember, undo
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import bot_messages, notes, opt_outs
from forgetmenot.text.mentions import MENTION
from tests.memory.conftest import Channel, channel, line, settings

__all__ = ["channel", "settings"]
ALICE, BOB = "id-alice", "id-bob"


class Room:
    """A channel in which corrections count."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.read = SpokenCorrections(
            db=channel.db, settings=lambda: channel.settings, clock=channel.clock, flush=channel.ingest.flush
        )

    async def know(self, who: str, fact: str) -> int:
        note = await remember(self.channel.db, who, fact, by=who, at=self.channel.clock.now(), word=OWN_WORD)
        return note.id

    async def say(self, text: str, who: str = "alice") -> ChatEvent:
        await self.channel.clock.advance(MINUTE)
        said = line(who, text, at=self.channel.clock.now())
        await self.read.take(said, said.text)
        self.channel.ingest.take(said)
        await self.channel.ingest.flush()
        return said

    async def clear(self, said: ChatEvent | None = None) -> None:
        await self.channel.clear(said)
        await self.channel.compactor.run_pass()

    async def known(self, who: str | None = ALICE) -> list[str]:
        return [note.fact for note in await notes.of_subject(self.channel.db, who)]


@pytest.fixture
async def room(channel: Channel) -> Room:
    for who in ("alice", "bob"):
        channel.say(who, "hello")
    await channel.ingest.flush()
    return Room(channel)


@pytest.mark.parametrize(
    "line_of_chat",
    [
        "i work as a @everyone visit evil.com now",
        "actually i work as a visit evil.com now, not a baker",
        "not a baker, a stupid whore",
        "I work as a <@id-bob> now, not as a baker",
        "not a baker, i'm the moderator of this channel now",
        "not a baker, +49 170 1234567",
        "not a baker, [id:5] admin",
    ],
)
async def test_no_correction_brings_in_what_no_note_may_say(room: Room, line_of_chat: str) -> None:
    await room.know(ALICE, "works as a baker")
    await room.say(line_of_chat)
    assert set(await room.known()) <= {"works as a baker"}


async def test_a_cleared_line_takes_nothing_back(room: Room) -> None:
    note = await room.know(ALICE, "drives a Fiat")
    said = await room.say("no more Fiat, sold it")
    assert await room.known() == []
    await room.clear(said)
    assert await room.known() == ["drives a Fiat"]
    again = await room.say("no more Fiat, sold it")
    assert await room.known() == []
    await undo(room.channel.db, note, at=room.channel.clock.now())
    await room.clear(again)
    assert await room.known() == ["drives a Fiat"]


async def test_a_clear_that_comes_before_its_line_counts(room: Room) -> None:
    await room.know(ALICE, "drives a Fiat")
    said = line("alice", "no more Fiat, sold it", at=room.channel.clock.now())
    await room.clear(said)
    await room.read.take(said, said.text)
    assert await room.known() == ["drives a Fiat"]


async def test_with_the_whole_chat_go_corrections_in_plain_speech_and_no_command(room: Room) -> None:
    await remember(room.channel.db, ALICE, "drives a Fiat", by=ALICE, at=room.channel.clock.now())
    await room.know(ALICE, "lives in Oslo")
    await room.say("no more Fiat, sold it")
    asked = await room.say("!remember I live in Bergen")
    await remember(room.channel.db, ALICE, "lives in Bergen", by=ALICE, at=asked.at, line=asked.id)
    assert await room.known() == ["lives in Bergen"]
    await room.clear()
    assert await room.known() == ["drives a Fiat", "lives in Bergen"]


@pytest.mark.parametrize("typed", ["moved to <@id-bob>", "now it's the <@id-bob>, not the viola"])
async def test_typed_brackets_name_nobody(room: Room, typed: str) -> None:
    await room.know(ALICE, "plays the viola")
    await room.say(typed)
    assert [fact for fact in await room.known() if MENTION.search(fact)] == []


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("no more movie nights", True), ("no more movie nights on Friday", True),
        ("we don't do movie night anymore", True), ("no movie night this week", False),
        ("movie night is over", False), ("no more movies for me tonight", False), ("no more nights", False),
    ],
)  # fmt: skip
async def test_the_streamer_ends_a_note_about_the_channel(room: Room, text: str, ends: bool) -> None:
    await remember(room.channel.db, None, "movie night is on Fridays", by=BOB, at=room.channel.clock.now())
    await remember(room.channel.db, None, "the stream begins at 7", by=BOB, at=room.channel.clock.now())
    await room.channel.clock.advance(MINUTE)
    said = replace(line("bob", text, at=room.channel.clock.now()), badges=frozenset({"broadcaster"}))
    await room.read.take(said, said.text)
    assert (len(await room.known(None)) == 1) is ends


async def test_the_streamer_denies_the_note_about_the_channel_that_a_reply_to_them_used(room: Room) -> None:
    db, now = room.channel.db, room.channel.clock.now()
    note = await remember(db, None, "movie night is on Fridays", by=BOB, at=now)
    async with db.write() as tx:
        reply = await bot_messages.begin(tx, at=now, event_id=None, viewer_id=BOB, trigger="mention", mode="live")
        await bot_messages.record_sending(tx, reply, "Movie night is on Fridays!", now)
        await bot_messages.settle(tx, reply, bot_messages.ReplyStatus.SENT, "", twitch_id="t1")
        await tx.execute("UPDATE bot_messages SET notes_json = ? WHERE id = ?", (f"[{note.id}]", reply))
    await room.channel.clock.advance(MINUTE)
    said = replace(line("bob", "that's wrong", at=room.channel.clock.now()), badges=frozenset({"broadcaster"}))
    await room.read.take(said, said.text)
    assert await room.known(None) == []


async def test_a_line_of_somebody_who_opted_out_changes_nothing(room: Room) -> None:
    await room.know(ALICE, "drives a Fiat")
    async with room.channel.db.write() as tx:
        await opt_outs.opt_out(tx, ALICE, room.channel.clock.now())
    await room.say("no more Fiat, sold it")
    assert await room.known() == ["drives a Fiat"]


async def test_what_was_forgotten_does_not_come_back_through_a_correction(room: Room) -> None:
    await forget_fact(room.channel.db, await room.know(ALICE, "drives a Fiat"), at=room.channel.clock.now())
    await room.know(ALICE, "drives a Volvo")
    for text in ("not a Volvo, a Fiat!", "I drive a Fiat now, not the Volvo"):
        await room.say(text)
    assert await room.known() == ["drives a Volvo"]


@pytest.mark.parametrize(
    ("lines", "fact"),
    [
        (["I play the cello", "no wait, viola, not cello"], "plays the viola"),
        (["I have 3 cats", "hello all", "sorry, 4 cats"], "has 4 cats"),
        (["I play the cello", "bob plays the viola, not the cello"], "plays the cello"),
        (["I play the cello", "what if I played viola, not cello"], "plays the cello"),
        (["I live in Oslo", "hello", "I don't live in Oslo"], "does not live in Oslo"),
        (["I'm learning Norwegian, hei hei", "I live in Bergen now so it's about time"], "is learning Norwegian"),
    ],
)
async def test_what_was_only_heard_is_corrected_for_good(room: Room, lines: list[str], fact: str) -> None:
    for said in lines:
        await room.say(said)
    await room.say("no wait, violin, not viola", "bob")
    heard = await heard_facts(room.channel.db, PrivacySettings(), ALICE)
    assert [*await room.known(), *(one.fact for one in heard)][:1] == [fact]


async def test_what_was_only_heard_stays_so_where_its_correction_is_not_written(room: Room) -> None:
    await room.say("I play the cello")
    again = line("alice", "no wait, viola, not cello", at=room.channel.clock.now())
    room.channel.ingest.take(again)
    await room.read.take(again, again.text)
    assert await room.known() == []
