"""Promise 5, its last sentence: only its subject's wish deletes; and then no byte of the folder knows of it."""

import json
from pathlib import Path

import msgspec
import pytest

from forgetmenot import logs
from forgetmenot.clock import DAY, HOUR, ManualClock
from forgetmenot.domain import ChatEvent, EpisodeKind, EventKind, NoteStatus, Part, Scope, SourceKind
from forgetmenot.memory.edits import remember
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.proposals import FactRefused
from forgetmenot.memory.stream_recap import write_file
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    action_logs,
    bot_messages,
    channel_state,
    episodes,
    events,
    notes,
    streams,
    viewers,
)
from forgetmenot.store.action_logs import NewAction
from forgetmenot.store.counts import line_counts
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from tests.rows import put
from tests.wishes import forget_fact

ALICE, BOB = "771234501", "771234502"
TRACES = (
    *("alicequux", "aliceoldquux", "AliceQuux", "ALICEQUUX", ALICE),
    *("ÜmitQuux", "ümitquux", "ÜMITQUUX"),
    *("zitherbloom", "marimbaglow", "glockenfern", "bagpipemoss", "vuvuzelafrost"),
)


@pytest.fixture
def logged(tmp_path: Path) -> None:
    """A log file where a running bot has one."""
    logs.set_up(level="debug", folder=logs.beside(tmp_path / "memory.sqlite3"), console=False)


class Channel:
    """A memory in which alice left every trace there can be."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db, self.clock = db, clock
        self.settings = Settings()

    async def open(self) -> None:
        stream_tracker = StreamTracker(self.db)
        self.ingest = Ingest(
            db=self.db, stream_tracker=stream_tracker, settings=lambda: self.settings, clock=self.clock
        )
        await self.ingest.open()

    async def say(self, who: str, login: str, text: str, shown: str = "") -> ChatEvent:
        await self.clock.advance(1_000)
        at, shown = self.clock.now(), shown or login.title().replace("Quux", "QuuX")
        event = ChatEvent(f"e-{who}-{at}", EventKind.MESSAGE, who, login, shown, text, at)
        self.ingest.take(event)
        await self.ingest.flush()
        return event

    async def fill(self) -> None:
        await self.say(ALICE, "aliceoldquux", "hello from the zitherbloom")
        said = await self.say(ALICE, "alicequux", "i play the marimbaglow")
        await self.say(ALICE, "alicequux", "hi", "ÜmitQuux")
        await self.say(ALICE, "alicequux", "me again")
        await self.say(BOB, "bobquux", "@alicequux nice, AliceOldQuux was a better name than ümitquux or ÜMITQUUX")
        async with self.db.write() as tx:
            await put(tx, "bot_messages", text="AliceQuux, marimbaglow it is", twitch_id="own", at=self.clock.now())
        self.ingest.note_own_line("AliceQuux, marimbaglow it is", event_id="own", at=self.clock.now(), user_id="99")
        await self.ingest.flush()
        unread = await events.unread(self.db)
        now = self.clock.now()
        new = NewEpisode(
            EpisodeKind.CHAT,
            unread[0].stream_id,
            now,
            now,
            f"<@{ALICE}> plays the glockenfern. They also bought a bagpipemoss. <@{BOB}> fixed a bike.",
            {ALICE: Part(2, 0), BOB: Part(1, 0)},
            [one.seq for one in unread[:2]],
        )
        self.episode = await episodes.write(self.db, new, now)
        self.hers = await remember(self.db, ALICE, "plays the glockenfern", by=ALICE, at=now)
        await remember(self.db, ALICE, "no longer plays the glockenfern", by=ALICE, at=now)
        self.his = await remember(self.db, BOB, f"is a friend of <@{ALICE}>", by=ALICE, at=now)
        async with self.db.write() as tx:
            stream = unread[0].stream_id or 0
            await streams.end(tx, stream, now)
            await streams.set_recap(tx, stream, f"<@{BOB}> and <@{ALICE}> raced. <@{ALICE}> won a vuvuzelafrost.", now)
            reply = await bot_messages.begin(
                tx, at=now, event_id=said.id, viewer_id=ALICE, trigger="mention", mode="live"
            )
            await bot_messages.record_sending(tx, reply, "AliceQuux, marimbaglow it is", now)
            other = await bot_messages.begin(tx, at=now, event_id="e9", viewer_id=BOB, trigger="mention", mode="live")
            await bot_messages.record_sending(tx, other, "Ask alicequux about it. Bikes are fun.", now)
            await action_logs.insert(tx, self._wish("a", ALICE, {"target": ALICE, "text": "the bagpipemoss"}))
            await action_logs.insert(tx, self._wish("b", BOB, {"text": "title for alicequux"}))
            await tx.execute("UPDATE note_changes SET cause = 'asked for by ' || ?", (ALICE,))
            await channel_state.put(tx, {"title": "Racing with AliceQuux! A quiet week."}, now)
        recaps = self.db.path.parent / "recaps"
        recaps.mkdir()
        settings = {"recap": {"folder": str(recaps)}, "people": {"regular_streams": 1}}
        await write_file(self.db, stream, msgspec.convert(settings, Settings))
        assert "vuvuzelafrost" in next(recaps.iterdir()).read_text(encoding="utf-8")
        logs.log.info("a viewer with a name", viewer=ALICE, who="alicequux", names=["ÜmitQuux"])

    def _wish(self, key: str, who: str, params: dict[str, str]) -> NewAction:
        return NewAction(
            key=key,
            at=self.clock.now(),
            name="title",
            kind="B",
            params=params,
            verdict="ask",
            rule="switched_off",
            reason="a person decides",
            status=action_logs.ActionStatus.WAITING,
            asked_by=who,
            expires_at=self.clock.now() + HOUR,
        )


def found_in(folder: Path) -> list[tuple[str, str]]:
    """Which traces occur in which files, in any case, as they are or as JSON writes them."""
    return [
        (trace, file.name)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        for held in [file.read_bytes().lower()]
        for trace in TRACES
        if any(form in held for form in _forms(trace))
    ]


def _forms(trace: str) -> set[bytes]:
    """The bytes to look for among bytes whose A to Z are in lower case."""
    cases = (trace, trace.lower(), trace.upper())
    return {text.encode().lower() for case in cases for text in (case, json.dumps(case)[1:-1])}


@pytest.fixture
async def channel(db: Database, clock: ManualClock, logged: None) -> Channel:
    made = Channel(db, clock)
    await made.open()
    await made.fill()
    return made


async def test_an_erased_person_is_in_no_byte_of_the_folder(channel: Channel, tmp_path: Path) -> None:
    assert {trace for trace, _ in found_in(tmp_path)} == set(TRACES)
    report = await Eraser(db=channel.db, clock=channel.clock, before=(channel.ingest.flush,)).erase(ALICE)
    assert report.wiped
    assert (report.events, report.notes) == (4, 2)
    assert found_in(tmp_path) == []
    assert (report.found, report.places) == (0, {})
    assert report.files > 3
    assert report.bytes > channel.db.path.stat().st_size


async def test_the_search_finds_whatever_an_erasure_left(channel: Channel) -> None:
    back = (*TRACES[:8], "@aliceoldquux!", f"user_{ALICE}x", "ÜmitQuux")
    for number, text in enumerate((*back, "quux", "alicequu", f"9{ALICE}")):
        file = channel.db.path.with_name(f"{number}.txt")
        file.write_bytes(b"\xff" * 300_000 + f" it was {text} ".encode() + b"." * 9_000)
    report = await Eraser(db=channel.db, clock=channel.clock, before=(channel.ingest.flush,)).erase(ALICE)
    assert report.places.keys() == {f"{number}.txt" for number in range(len(back))}


async def test_what_others_left_stays(channel: Channel) -> None:
    await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    db = channel.db
    assert [note.fact for note in await notes.of_subject(db, BOB)] == ["is a friend of somebody"]
    assert await db.value("SELECT summary FROM episodes WHERE id = ?", (channel.episode,)) == f"<@{BOB}> fixed a bike."
    assert await db.value("SELECT recap FROM streams") == f"<@{BOB}> raced."
    assert await channel_state.read(db, "title") == "A quiet week."
    assert await db.value("SELECT text FROM events WHERE viewer_id = ?", (BOB,)) == (
        "somebody nice, somebody was a better name than somebody or somebody"
    )
    assert await db.value("SELECT text FROM bot_messages WHERE viewer_id = ?", (BOB,)) == "Bikes are fun."
    assert [row["key"] for row in await db.rows("SELECT key FROM action_logs")] == ["b"]
    assert (await line_counts(db)).balanced
    assert await db.rows("PRAGMA foreign_key_check") == []


async def test_old_texts_teach_nothing_again_and_a_new_start_is_new(channel: Channel) -> None:
    db, clock = channel.db, channel.clock
    await Eraser(db=db, clock=clock).erase(ALICE)
    await clock.advance(HOUR)
    await channel.say(ALICE, "alicequux", "i am new here")
    alice = await viewers.get(db, ALICE)
    assert alice is not None
    assert (alice.first_seen_at, alice.opted_out) == (clock.now(), False)
    note = await remember(db, ALICE, "plays the glockenfern", by=ALICE, at=clock.now())
    assert note.status is NoteStatus.ACTIVE


async def test_a_ban_erases_after_seven_days_unless_it_is_lifted(channel: Channel, tmp_path: Path) -> None:
    eraser = Eraser(db=channel.db, clock=channel.clock)
    async with channel.db.write() as tx:
        await viewers.set_banned(tx, ALICE, channel.clock.now())
        await viewers.set_banned(tx, BOB, channel.clock.now())
        await viewers.set_banned(tx, BOB, None)
    await channel.clock.advance(7 * DAY - 1)
    assert await eraser.erase_due() == []
    await channel.clock.advance(1)
    assert len(await eraser.erase_due()) == 1
    assert found_in(tmp_path) == []


async def test_a_forgotten_fact_goes_with_its_history_and_its_sentences(channel: Channel) -> None:
    db = channel.db
    [note] = await notes.of_subject(db, ALICE)
    await forget_fact(db, note.id, at=channel.clock.now())
    assert await notes.page(db, subject_id=ALICE) == []
    texts = await db.rows("SELECT summary FROM episodes UNION ALL SELECT recap FROM streams")
    assert not any("glockenfern" in row[0] for row in texts)
    with pytest.raises(FactRefused, match="forgotten"):
        await _hear_again(channel, SourceKind.SELF_CLAIM)
    with pytest.raises(FactRefused, match="forgotten"):
        await _hear_again(channel, SourceKind.REPORTED)
    again = await remember(db, ALICE, "plays the glockenfern", by=ALICE, at=channel.clock.now())
    assert again.fact == "plays the glockenfern"


async def _hear_again(channel: Channel, source: SourceKind) -> None:
    from forgetmenot.memory import merge
    from forgetmenot.store.notes import NewNote

    now = channel.clock.now()
    new = NewNote(Scope.VIEWER, ALICE, "is good at playing glockenfern, plays every day", 0.9, source, now)
    async with channel.db.write() as tx:
        await merge.merge_claim(tx, new, merge.ClaimSource(channel.episode or 0, ALICE, addressed=True), now=now)
