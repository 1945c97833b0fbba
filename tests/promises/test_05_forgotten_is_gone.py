"""Promise 5: what others left stays when a person is erased; a forgotten fact does not come back.

That no copy of an erased person is left anywhere is the drill's (test_05_forgetting_drill.py).
"""

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    EpisodeKind,
    NoteStatus,
    Participation,
    Role,
    Scope,
    SourceKind,
)
from forgetmenot.durations import DAY, HOUR
from forgetmenot.errors import FactRefused
from forgetmenot.llm.offline import Offline
from forgetmenot.memory import merge
from forgetmenot.memory.edits import remember
from forgetmenot.privacy.erasure import _STEP, Eraser, ErasureReport
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, episodes, events, notes, streams, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.store.invariants import verify
from forgetmenot.store.notes import NewNote
from forgetmenot.store.viewers import SeenViewer
from tests.memory.conftest import Channel, open_channel
from tests.rows import put
from tests.wishes import forget_fact

ALICE = "771234501"
BOB = "771234502"
NAMES = (
    "alicequux",
    "aliceoldquux",
    "AliceQuux",
    "ALICEQUUX",
    ALICE,
    "ÜmitQuux",
    "ümitquux",
    "ÜMITQUUX",
)
TRACES = (*NAMES, "zitherbloom", "glockenfern", "bagpipemoss", "vuvuzelafrost")
SAID = (  # who, login, shown as, text
    (ALICE, "aliceoldquux", "AliceoldQuuX", "hello from the zitherbloom"),
    (ALICE, "alicequux", "ÜmitQuux", "hi"),
    (ALICE, "alicequux", "AliceQuuX", "me again"),
    (
        BOB,
        "bobquux",
        "BobQuuX",
        "@alicequux nice, AliceOldQuux was a better name than ümitquux or ÜMITQUUX",
    ),
)


async def say(
    channel: Channel, viewer_id: str, login: str, display_name: str, text: str
) -> None:
    await channel.clock.advance(1_000)
    channel.say(login, text, user_id=viewer_id, display_name=display_name)
    await channel.ingest.flush()


@pytest.fixture
async def channel(db: Database, clock: ManualClock, tmp_path: Path) -> Channel:
    """A memory in which alice stands beside what others left."""
    made = await open_channel(db, clock, Settings(), Offline())
    for line in SAID:
        await say(made, *line)
    now = clock.now()
    unread = await events.unread(db)
    stream = unread[0].stream_id or 0
    summary = f"<@{ALICE}> plays the glockenfern. They also bought a bagpipemoss. <@{BOB}> fixed a bike."
    parts = {ALICE: Participation(2, 0), BOB: Participation(1, 0)}
    lines = [line.seq for line in unread[:2]]
    await episodes.write(
        db, NewEpisode(EpisodeKind.CHAT, stream, now, now, summary, parts, lines), now
    )
    for fact in ("plays the glockenfern", "no longer plays the glockenfern"):
        await remember(db, ALICE, fact, by=ALICE, at=now)
    await remember(db, BOB, f"is a friend of <@{ALICE}>", by=ALICE, at=now)
    pending_action = {"status": "waiting", "at": now, "expires_at": now + HOUR}
    hers = json.dumps({"target": ALICE, "text": "the bagpipemoss"})
    his = json.dumps({"text": "title for alicequux"})
    async with db.write() as tx:
        answer = "Ask alicequux about it. Bikes are fun."
        await put(tx, "bot_messages", text=answer, event_id="e9", viewer_id=BOB, at=now)
        await put(
            tx,
            "action_logs",
            key="a",
            asked_by=ALICE,
            params_json=hers,
            **pending_action,
        )
        await put(
            tx, "action_logs", key="b", asked_by=BOB, params_json=his, **pending_action
        )
        await streams.end(tx, stream, now)
        await streams.set_recap(
            tx,
            stream,
            f"<@{BOB}> and <@{ALICE}> raced. <@{ALICE}> won a vuvuzelafrost.",
            now,
        )
        await channel_state.put(
            tx, {"title": "Racing with AliceQuux! A quiet week."}, now
        )
    assert {trace for trace, _ in found_in(tmp_path)} == set(TRACES)
    return made


def found_in(folder: Path) -> list[tuple[str, str]]:
    """Which traces occur in which files, in any case, as they are or as JSON writes them."""
    forms = list[tuple[str, bytes]]()
    for trace in TRACES:
        for cased in (trace, trace.lower(), trace.upper()):
            forms.append((trace, cased.encode().lower()))
            forms.append((trace, json.dumps(cased)[1:-1].encode().lower()))
    hits = list[tuple[str, str]]()
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes().lower()
            hits += [(trace, file.name) for trace, form in forms if form in content]
    return hits


# ── an erased person ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
async def report(channel: Channel) -> ErasureReport:
    """What the erasure of alice reported."""
    return await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)


async def test_an_erasure_counts_what_it_deleted_and_searched(
    channel: Channel, report: ErasureReport
) -> None:
    assert report.wiped
    assert (report.events, report.notes) == (3, 2)
    assert report.bytes > channel.db.path.stat().st_size
    assert (report.found, report.places) == (0, {})


@pytest.mark.usefixtures("report")
async def test_no_file_has_a_trace_of_who_was_erased(tmp_path: Path) -> None:
    assert found_in(tmp_path) == []


@pytest.mark.usefixtures("report")
async def test_a_note_about_somebody_else_stays_without_who_was_erased(
    channel: Channel,
) -> None:
    facts = [note.fact for note in await notes.of_subject(channel.db, BOB)]
    assert facts == ["is a friend of somebody"]


@pytest.mark.usefixtures("report")
async def test_summary_recap_and_title_keep_what_is_about_others(
    channel: Channel,
) -> None:
    db = channel.db
    summary = await db.value("SELECT summary FROM episodes WHERE kind = 'chat'")
    assert summary == f"<@{BOB}> fixed a bike."
    assert await db.value("SELECT recap FROM streams") == f"<@{BOB}> raced."
    assert await channel_state.read(db, "title") == "A quiet week."


@pytest.mark.usefixtures("report")
async def test_a_line_of_somebody_else_stays_without_the_names_of_who_was_erased(
    channel: Channel,
) -> None:
    text = await channel.db.value("SELECT text FROM events WHERE viewer_id = ?", (BOB,))
    assert text == "somebody nice, somebody was a better name than somebody or somebody"


@pytest.mark.usefixtures("report")
async def test_a_reply_that_names_who_was_erased_goes_whole(channel: Channel) -> None:
    sql = "SELECT text FROM bot_messages WHERE viewer_id = ?"
    assert await channel.db.column(sql, (BOB,)) == [""]


@pytest.mark.usefixtures("report")
async def test_of_actions_only_those_go_that_the_erased_person_asked_for(
    channel: Channel,
) -> None:
    assert await channel.db.column("SELECT key FROM action_logs") == ["b"]


@pytest.mark.usefixtures("report")
async def test_a_memory_keeps_its_promises_after_an_erasure(channel: Channel) -> None:
    assert await verify(channel.db, now=channel.clock.now()) == []


@pytest.mark.usefixtures("report")
async def test_who_comes_back_after_an_erasure_is_new_and_may_be_known_again(
    channel: Channel,
) -> None:
    await channel.clock.advance(HOUR)
    await say(channel, ALICE, "alicequux", "AliceQuuX", "i am new here")
    now = channel.clock.now()
    alice = await viewers.get(channel.db, ALICE)
    assert alice is not None
    assert alice.first_seen_at == now
    assert not alice.opted_out
    note = await remember(channel.db, ALICE, "plays the glockenfern", by=ALICE, at=now)
    assert note.status is NoteStatus.ACTIVE


async def test_the_search_finds_whatever_an_erasure_left(channel: Channel) -> None:
    back = (*NAMES, "@aliceoldquux!", f"user_{ALICE}x")
    for number, text in enumerate((*back, "quux", "alicequu", f"9{ALICE}")):
        file = channel.db.path.with_name(f"{number}.txt")
        # across the edge between two parts of a file
        file.write_bytes(
            b"\xff" * (_STEP - 12) + f" it was {text} ".encode() + b"." * 9_000
        )
    report = await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert report.places.keys() == {f"{number}.txt" for number in range(len(back))}


async def test_the_search_counts_a_place_once_wherever_it_is_in_a_file(
    channel: Channel,
) -> None:
    content = bytearray(b"." * (300 * _STEP))
    for number in range(1, 300):
        # nearer and nearer to the edge between two parts, and across it
        place = number * _STEP - 300 + number
        content[place : place + 9] = b"alicequux"
    channel.db.path.with_name("edges.txt").write_bytes(content)
    report = await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert report.places == {"edges.txt": 299}


async def test_the_search_takes_no_longer_name_for_theirs_where_its_bytes_are_cut(
    channel: Channel,
) -> None:
    name = "alicequux_77"
    viewer = SeenViewer("771234509", name, name, Role.VIEWER, 1, 1)
    async with channel.db.write() as tx:
        await viewers.record_seen(tx, [viewer])
    rows = (b"alicequux_77" + b"." * length for length in range(300))
    channel.db.path.with_name("rows.txt").write_bytes(b"".join(rows))
    report = await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert report.places == {}


async def test_a_ban_erases_after_seven_days_unless_it_is_lifted(
    channel: Channel, tmp_path: Path
) -> None:
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


# ── a forgotten fact ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
async def recap_file(channel: Channel, tmp_path: Path) -> Path:
    """A file of a recap that states alice's fact."""
    file = tmp_path / "recap.md"
    text = "# A night\n\n- Somebody plays the glockenfern. It rained.\n"
    file.write_text(text, encoding="utf-8")
    async with channel.db.write() as tx:
        await streams.set_recap_file(tx, 1, str(file))
    return file


async def forget_glockenfern(channel: Channel) -> None:
    """Forget that alice plays the glockenfern, as she asks for it."""
    [note] = await notes.of_subject(channel.db, ALICE)
    await forget_fact(channel.db, note.id, at=channel.clock.now())


async def test_a_forgotten_fact_goes_with_its_history_and_from_every_file(
    channel: Channel, recap_file: Path
) -> None:
    await forget_glockenfern(channel)
    assert await notes.page(channel.db, subject_id=ALICE) == []
    assert "glockenfern" not in {trace for trace, _ in found_in(recap_file.parent)}


async def test_a_file_of_a_recap_loses_the_sentence_and_keeps_the_others(
    channel: Channel, recap_file: Path
) -> None:
    await forget_glockenfern(channel)
    assert recap_file.read_bytes() == b"# A night\n\n- It rained.\n"


@pytest.mark.slow
async def test_nobody_waits_to_write_while_a_recap_on_a_slow_drive_is_cleaned(
    channel: Channel, recap_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = threading.Event()
    read_text = Path.read_text

    def slowly(
        path: Path, encoding: str | None = None, errors: str | None = None
    ) -> str:
        if path == recap_file:
            reading.set()
            time.sleep(0.5)
        return read_text(path, encoding, errors)

    monkeypatch.setattr(Path, "read_text", slowly)
    forgetting = asyncio.create_task(forget_glockenfern(channel))
    await asyncio.to_thread(reading.wait)
    async with asyncio.timeout(0.4), channel.db.write():
        pass
    await forgetting


@pytest.mark.parametrize("source", [SourceKind.SELF_CLAIM, SourceKind.REPORTED])
async def test_a_forgotten_fact_is_not_learned_again_in_other_words(
    channel: Channel, source: SourceKind
) -> None:
    await forget_glockenfern(channel)
    now = channel.clock.now()
    fact = "is good at playing glockenfern, plays every day"
    claim = NewNote(Scope.VIEWER, ALICE, fact, 0.9, source, now)
    claim_source = merge.ClaimSource(1, ALICE, addressed=True)
    async with channel.db.write() as tx:
        with pytest.raises(FactRefused, match="forgotten"):
            await merge.merge_claim(tx, claim, claim_source, now=now)


async def test_its_subject_may_have_a_forgotten_fact_remembered_again(
    channel: Channel,
) -> None:
    await forget_glockenfern(channel)
    now = channel.clock.now()
    note = await remember(channel.db, ALICE, "plays the glockenfern", by=ALICE, at=now)
    assert note.fact == "plays the glockenfern"


async def test_words_that_two_people_shared_go_with_them_from_a_counted_summary(
    db: Database, clock: ManualClock
) -> None:
    channel = await open_channel(db, clock, Settings(), Offline())
    people = {str(700_100 + number): f"sailor{number}x" for number in range(7)}
    words = ["harbour"] * 3 + ["regatta"] * 2 + ["thornfieldquux"] * 2
    for number, (viewer_id, login) in enumerate(people.items()):
        for line in range(8 - number):
            word = words[number]
            await say(channel, viewer_id, login, login, f"{word} {line}")
    await clock.advance(int(23.6 * HOUR))
    await channel.compactor.cover_aged()
    [row] = await db.rows("SELECT summary FROM episodes")
    assert "harbour" in row["summary"]
    for viewer_id in list(people)[3:]:
        await Eraser(db=db, clock=clock).erase(viewer_id)
    content = db.path.read_bytes().lower()
    assert b"thornfieldquux" not in content
    assert b"regatta" not in content
