"""Erasing while the memory is at work: what is under way when somebody is erased leaves nothing of them either."""

import contextlib
import json
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, Role
from forgetmenot.durations import SECOND
from forgetmenot.errors import StoreError
from forgetmenot.privacy.erasure import UNDER_WAY, Eraser, ErasureReport, _delete_some
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    channel_state,
    notes,
    person_deletion,
    personal_data,
    privacy_choices,
    viewers,
)
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.invariants import verify
from forgetmenot.store.names import by_login
from forgetmenot.text.words import text_cache
from tests.memory.conftest import Channel
from tests.rows import put
from tests.stage import live_bot, said

if TYPE_CHECKING:
    from tests.notes_world import World

ALICE = "id-viewer0"


async def test_a_stop_between_two_parts_of_an_erasure_is_made_good(
    channel: Channel,
) -> None:
    for number in range(person_deletion.LINES_AT_ONCE + 1):
        channel.say("viewer0", f"zitherbloom {number}")
        channel.say("viewer1", f"nice {number}")
    await channel.ingest.flush()
    now = channel.clock.now()
    report = ErasureReport()
    async with channel.db.write() as tx:
        await privacy_choices.begin_erasure(tx, ALICE, now)
    assert await _delete_some(
        channel.db, ALICE, report
    )  # one part; then the program ends
    assert report.events == person_deletion.LINES_AT_ONCE
    [finished] = await Eraser(db=channel.db, clock=channel.clock).erase_due()
    assert finished.events == 1
    texts = await channel.db.column("SELECT text FROM events")
    assert (len(texts), [text for text in texts if "zitherbloom" in text]) == (
        person_deletion.LINES_AT_ONCE + 1,
        [],
    )
    assert await verify(channel.db, now=now) == []


class Remnant:
    """What a cache keeps of a text; it notes which thread drops it."""

    dropped_in: ClassVar[list[int]] = []

    def __del__(self) -> None:
        self.dropped_in.append(threading.get_ident())


@text_cache(8)
def remnant_of(_text: str) -> Remnant:
    return Remnant()


async def test_an_erasure_empties_the_caches_of_texts_beside_the_event_loop(
    channel: Channel,
) -> None:
    await channel.chat(5)
    remnant_of("viewer0 plays the zither")
    Remnant.dropped_in.clear()
    await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert len(Remnant.dropped_in) == 1
    assert threading.get_ident() not in Remnant.dropped_in


@pytest.mark.slow
async def test_while_another_program_reads_the_last_step_waits_for_the_next_chore(
    channel: Channel,
) -> None:
    await channel.chat(5)
    eraser = Eraser(db=channel.db, clock=channel.clock)
    with contextlib.closing(
        sqlite3.connect(channel.db.path, isolation_level=None)
    ) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchall()
        assert not (await eraser.erase(ALICE)).wiped
        other.execute("COMMIT")
    assert await channel_state.read(channel.db, WIPE_DUE) == "1"
    await eraser.erase_due()
    assert await channel_state.read(channel.db, WIPE_DUE) == ""


@pytest.mark.slow
async def test_a_second_look_that_the_disk_refused_is_taken_again(
    channel: Channel,
) -> None:
    await channel.chat(5)
    eraser = Eraser(db=channel.db, clock=channel.clock)
    await eraser.erase(ALICE)
    async with channel.db.write() as tx:  # a call that was under way
        await put(tx, "bot_messages", text="Hello @viewer0!", at=channel.clock.now())
    await channel.clock.advance(UNDER_WAY)
    with contextlib.closing(
        sqlite3.connect(channel.db.path, isolation_level=None)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError):
            await eraser.erase_due()
        other.execute("COMMIT")
    await eraser.erase_due()
    [text] = await channel.db.column("SELECT text FROM bot_messages")
    assert "viewer0" not in text


async def test_somebody_elses_name_is_left_alone(channel: Channel) -> None:
    """A login that was given up and is somebody else's now is not cut out of texts about its new holder."""
    await channel.chat(5)
    async with channel.db.write() as tx:
        await viewers.record_seen(
            tx, [viewers.SeenViewer("new", "viewer0", "viewer0", Role.VIEWER, 1, 1)]
        )
    channel.say("viewer1", "viewer0 is new here")
    await channel.ingest.flush()
    await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert (
        await channel.db.value(
            "SELECT count(*) FROM events WHERE text = 'viewer0 is new here'"
        )
        == 1
    )
    assert await by_login(channel.db, "viewer0") == "new"


async def test_a_bare_name_stays_in_what_is_remembered_and_one_behind_an_at_goes(
    world: "World",
) -> None:
    """People stand in notes as ids: without a mention it is a word, or was typed before they came."""
    await world.viewer("777001", "minecraft")
    await world.viewer("777002", "zanzibarian")
    await world.viewer("777003", "kuromi_87")
    async with world.db.write() as tx:
        for fact in (
            "plays minecraft",
            "likes @minecraft",
            "met zanzibarian",
            "met kuromi_87",
        ):
            await put(tx, "semantic_notes", subject_id="1", fact=fact)
    eraser = Eraser(db=world.db, clock=world.clock)
    reports = [
        await eraser.erase(viewer_id) for viewer_id in ("777001", "777002", "777003")
    ]
    facts = [note.fact for note in await notes.of_subject(world.db, "1")]
    assert sorted(facts) == sorted(
        ["plays minecraft", "likes somebody", "met zanzibarian", "met somebody"]
    )
    # whoever plays minecraft, it is a game; the other may be the name, and the streamer is shown it
    assert [(report.doubtful, report.found) for report in reports] == [
        (0, 0),
        (1, 0),
        (0, 0),
    ]
    [doubtful] = await personal_data.doubtful_texts(world.db, world.clock.now())
    assert (doubtful["table"], doubtful["text"]) == (
        "semantic_notes",
        "met zanzibarian",
    )
    later = world.clock.now() + personal_data.DOUBTFUL_SHOWN_FOR
    assert await personal_data.doubtful_texts(world.db, later) == []


async def test_a_word_is_in_doubt_where_they_were(world: "World") -> None:
    stream = await world.stream()
    for viewer_id, login in (("777001", "drums"), ("777002", "will")):
        await world.viewer(viewer_id, login)
        await world.attends(viewer_id, stream)
    with_them = {"1": (2, 0), "777001": (2, 0), "777002": (1, 0)}
    await world.episode("<@1> said that drums will win.", with_them, stream)
    await world.episode("<@1> plays drums.", {"1": (2, 0)}, stream)
    eraser = Eraser(db=world.db, clock=world.clock)
    assert (await eraser.erase("777001")).doubtful == 1
    assert (await eraser.erase("777002")).doubtful == 0, "a word of every sentence"


async def test_a_reply_whose_words_others_in_its_prompt_had_too_stays(
    channel: Channel,
) -> None:
    """Each prompt of a busy evening has lines of everybody."""
    channel.say("viewer0", "I play the drums and the zitherbloom")
    his = channel.say("viewer1", "I play the drums")
    await channel.ingest.flush()
    seqs = await channel.db.column("SELECT seq FROM events ORDER BY seq")
    async with channel.db.write() as tx:
        episode = await put(
            tx,
            "episodes",
            summary=f"<@{ALICE}> plays the drums and the flute. <@id-viewer1> met a carpenter.",
        )
        for person in (ALICE, "id-viewer1"):
            await put(
                tx, "episode_people", episode_id=episode, viewer_id=person, lines=1
            )
        rows = [*(["events", seq] for seq in seqs), ["episodes", episode]]
        prompt = json.dumps({"sections": [{"rows": rows}]})
        for text in (
            "You play the drums!",
            "How is the carpenter?",
            "A flute!",
            "Zitherbloom?",
        ):
            await put(
                tx,
                "bot_messages",
                viewer_id=his.user_id,
                event_id=None,
                text=text,
                prompt_json=prompt,
                at=his.at,
            )
    await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert await channel.db.column("SELECT text FROM bot_messages ORDER BY id") == [
        "You play the drums!",
        "How is the carpenter?",
        "",
        "",
    ]


async def test_a_reply_that_says_nothing_of_them_stays_though_they_were_in_its_prompt(
    channel: Channel,
) -> None:
    hers = channel.say("viewer0", "I play the zitherbloom")
    his = channel.say("viewer1", "a fine evening")
    await channel.ingest.flush()
    seqs = await channel.db.column("SELECT seq FROM events ORDER BY seq")
    around = {"rows": [["events", seq] for seq in seqs]}
    async with channel.db.write() as tx:
        note = await put(
            tx, "semantic_notes", subject_id=ALICE, fact="has an exam on Friday"
        )
        of_her = {"rows": [["notes", note]]}
        for text, section in (
            ("Somebody here has a zitherbloom!", around),
            ("Good evening to you.", around),
            ("Sie wird morgen geprüft.", of_her),
        ):
            prompt = json.dumps({"sections": [section]})
            await put(
                tx,
                "bot_messages",
                viewer_id=his.user_id,
                text=text,
                prompt_json=prompt,
                at=hers.at,
            )
    await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert await channel.db.column("SELECT text FROM bot_messages ORDER BY id") == [
        "",
        "Good evening to you.",
        "",
    ]


async def test_a_reply_that_calls_them_by_a_part_of_their_name_goes(
    channel: Channel,
) -> None:
    his = channel.say("viewer1", "a fine evening")
    channel.say("viewer0", "hello")
    await channel.ingest.flush()
    names = {"login": "juno_on_ice", "display_name": "Juno_on_ice"}
    seen = {"first_seen_at": his.at, "last_seen_at": his.at}
    async with channel.db.write() as tx:
        await put(tx, "viewer_names", viewer_id=ALICE, **names, **seen)
        episode = await put(tx, "episodes", summary=f"<@{ALICE}> was there.")
        await put(tx, "episode_people", episode_id=episode, viewer_id=ALICE, lines=1)
        prompt = json.dumps({"sections": [{"rows": [["episodes", episode]]}]})
        for text in (
            "The pit lives with Juno now.",
            "Ice is cold. The ice is thin.",
            "Good evening to you.",
        ):
            await put(
                tx,
                "bot_messages",
                viewer_id=his.user_id,
                text=text,
                prompt_json=prompt,
                at=his.at,
            )
    await Eraser(db=channel.db, clock=channel.clock).erase(ALICE)
    assert await channel.db.column("SELECT text FROM bot_messages ORDER BY id") == [
        "",
        "Ice is cold. The ice is thin.",
        "Good evening to you.",
    ]


async def test_a_title_that_is_reported_again_does_not_bring_an_erased_name_back(
    tmp_path: Path, clock: ManualClock
) -> None:
    title = "Chess with @zelmira_87, bob and zelmiraquux"
    async with live_bot(tmp_path / "memory.sqlite3", clock, Settings) as (
        bot,
        _account,
    ):
        await channel_state.claim(bot.db, "771234500", "demo", clock.now())
        for viewer_id, login in (
            ("771234501", "zelmira_87"),
            ("771234502", "zelmiraquux"),
        ):
            await bot.hear(said(clock, f"line{viewer_id}", viewer_id, login, "hello"))
        await bot.settle()
        await bot.channel_is(ChannelState(True, title, "Chess", clock.now()))
        for viewer_id in ("771234501", "771234502"):
            await bot.eraser.erase(viewer_id)
        await bot.channel_is(ChannelState(True, title, "Chess", clock.now()))
        await bot.settle()
        expected_title = "Chess with somebody, bob and somebody"
        assert await bot.db.column("SELECT title FROM streams") == [expected_title]
        assert await bot.db.column("SELECT text FROM moments WHERE kind = 'title'") == [
            expected_title
        ]
        assert await channel_state.read(bot.db, "title") == expected_title
        reported = await bot.db.column("SELECT system_text FROM events")
        assert not [sentence for sentence in reported if "zelmira" in sentence]
        # who speaks again is stored anew
        await clock.advance(SECOND)
        await bot.hear(said(clock, "back", "771234501", "zelmira_87", "hello again"))
        await bot.settle()
        await bot.channel_is(ChannelState(True, title, "Chess", clock.now()))
        expected_title = "Chess with @zelmira_87, bob and somebody"
        assert await bot.db.column("SELECT title FROM streams") == [expected_title]


async def test_what_a_moderator_was_answered_about_them_goes_whatever_their_name_is(
    tmp_path: Path, clock: ManualClock
) -> None:
    """A name that is a word tells nobody who is meant: the answers go by whom the command was about."""
    path = tmp_path / "memory.sqlite3"
    async with live_bot(path, clock, Settings) as (bot, account):

        async def say(login: str, viewer_id: str, text: str, *badges: str) -> None:
            await clock.advance(20 * SECOND)
            line_id = f"line{clock.now()}"
            await bot.hear(said(clock, line_id, viewer_id, login, text, *badges))
            await bot.settle()

        await say("drums", "771234501", "!remember I play the zither")
        await say("bob", "771234502", "!remember I play drums")
        async with bot.db.write() as tx:
            reply = {
                "viewer_id": "771234501",
                "trigger": "mention",
                "text": "Hi there.",
            }
            await put(tx, "bot_messages", at=clock.now(), **reply)
        for command in (
            "!who @drums",
            "!memory @drums",
            "!streak @drums",
            "!remember @drums sings alto",
            "!nevermention @drums exams",
            "!forget @drums alto",
            "!restore 3",
            "!memory @bob",
            "!why",
        ):
            await say("carol", "771234503", command, "moderator")
        assert "Removed: #3 sings alto. To undo: !restore 3" in account.said
        assert "Restored: #3 sings alto" in account.said
        assert [line for line in account.said if "I answered Drums" in line]
        await bot.eraser.erase("771234501")
        stored = "SELECT text FROM bot_messages WHERE text <> ''"
        about_bob = [text for text in await bot.db.column(stored) if "#2" in text]
        assert await bot.db.column(stored) == [
            "Remembered: plays drums (2)",
            *about_bob,
        ]
        assert len(about_bob) == 1
