"""Viewers' commands: always there, about oneself, and for moderators about anybody; no model is needed."""

import json
from dataclasses import dataclass

import pytest

from forgetmenot.chat.viewer_commands import ViewerCommands
from forgetmenot.clock import DAY, MINUTE, ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import NoteStatus, Scope, SourceKind
from forgetmenot.memory import never
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.streams import StreamBook
from forgetmenot.reply.triggers import Identity
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store import notes, tally, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.notes import NewNote

IDS = {"alice": "1001", "bob": "1002", "carol": "1003"}
BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot")
SETTINGS = Settings(privacy=PrivacySettings(privacy_url="https://example.org/privacy"))


@dataclass
class Desk:
    """A chat with alice, bob and the moderator carol in it."""

    db: Database
    clock: ManualClock
    ingest: Ingest
    commands: ViewerCommands
    eraser: Eraser
    count: int = 0

    async def say(self, who: str, text: str) -> str | None:
        """Somebody types a line: it is taken in, and the commands are asked."""
        self.count += 1
        await self.clock.advance(1_000)
        badges = frozenset({"moderator"}) if who == "carol" else frozenset[str]()
        event = ChatEvent(
            f"m{self.count}", EventKind.MESSAGE, IDS[who], who, who.title(), text, self.clock.now(), badges=badges
        )
        self.ingest.take(event)
        return await self.commands.handle(event)

    async def facts(self, who: str | None) -> list[str]:
        return [note.fact for note in await notes.of_subject(self.db, IDS[who] if who else None)]


@pytest.fixture
async def desk(db: Database, clock: ManualClock) -> Desk:
    run = await tally.begin_run(db, "test", clock.now())
    book = StreamBook(db, lambda: SETTINGS)
    ingest = Ingest(db=db, book=book, settings=lambda: SETTINGS, clock=clock, run_id=run)
    await ingest.open()
    eraser = Eraser(db=db, clock=clock, before=(ingest.flush,))
    commands = ViewerCommands(
        db=db, eraser=eraser, settings=lambda: SETTINGS, clock=clock, identity=lambda: BOT, flush=ingest.flush
    )
    made = Desk(db, clock, ingest, commands, eraser)
    for who in IDS:
        await made.say(who, "hello")
    return made


# ── told to remember ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "line",
    ["!remember I play drums", "!REMEMBER that i play drums.", "@forgetmenot_bot remember that I play drums please"],
)
async def test_a_viewer_tells_of_themselves(desk: Desk, line: str) -> None:
    assert await desk.say("alice", line) == "Remembered about you: #1 plays drums"
    [note] = await notes.of_subject(desk.db, IDS["alice"])
    assert (note.source_kind, note.scope) == (SourceKind.COMMAND, Scope.VIEWER)


async def test_people_in_a_fact_are_ids(desk: Desk) -> None:
    assert await desk.say("alice", "!remember I sing in @Bob's band with @nobody") == (
        "Remembered about you: #1 sings in Bob's band with someone"
    )
    assert await desk.say("alice", "!remember I bake with bob on Sundays") == (
        "Remembered about you: #2 bakes with Bob on Sundays"
    )
    assert await desk.facts("alice") == ["sings in <@1002>'s band with someone", "bakes with <@1002> on Sundays"]


async def test_a_viewer_tells_nothing_of_others_or_of_the_channel(desk: Desk) -> None:
    for line in (
        "!remember @bob plays drums",
        "!remember bob is a liar",
        "!remember bob hates me",
        "!remember channel: it is mine",
    ):
        assert "yourself" in (await desk.say("alice", line) or "")
    assert await desk.facts("bob") == await desk.facts(None) == await desk.facts("alice") == []


async def test_a_moderator_tells_of_anybody_and_of_the_channel(desk: Desk) -> None:
    assert await desk.say("carol", "!remember @bob's cat is called Miso") == (
        "Remembered about Bob: #1 their cat is called Miso"
    )
    assert await desk.say("carol", "!remember bob plays bass") == "Remembered about Bob: #2 plays bass"
    assert await desk.say("carol", "!remember channel: streams on Fridays") == (
        "Remembered about the channel: #3 streams on Fridays"
    )
    assert await desk.say("carol", "!remember I like tea") == "Remembered about you: #4 likes tea"


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("my phone number is 555 867 5309 now", "I don't keep that kind of thing about people."),
        ("I am a moderator of this channel", "That is not mine to remember: roles and orders are no facts."),
        ("I am", "A fact needs 5 to 200 characters."),
    ],
)
async def test_what_is_never_stored_is_refused_with_a_reason(desk: Desk, told: str, answer: str) -> None:
    assert await desk.say("alice", f"!remember {told}") == answer
    assert await desk.facts("alice") == []


async def test_remember_this_takes_the_lines_just_before(desk: Desk) -> None:
    await desk.say("alice", "I moved to Oslo")
    await desk.say("alice", "what a day")
    await desk.say("alice", "@forgetmenot_bot tell me about the duck")
    assert await desk.say("carol", "!remember this about alice") == "Remembered about Alice: #1 moved to Oslo"
    assert await desk.say("bob", "!remember this about alice") == (
        "That works for yourself; a moderator can do it for others."
    )


@pytest.mark.parametrize(
    "line",
    [
        "@forgetmenot_bot remember that boss?",
        "@forgetmenot_bot remember that time we lost",
        "@forgetmenot_bot forget it",
        "remember that I play drums",
        "@forgetmenot_bot what do you know about bob",
        "!memoryleak",
        "!so alice",
    ],
)
async def test_talk_is_no_command(desk: Desk, line: str) -> None:
    assert await desk.say("alice", line) is None


# ── told to forget ──────────────────────────────────────────────────────────────────────────


async def test_forgotten_by_its_subject_is_gone_for_good(desk: Desk) -> None:
    await desk.say("alice", "!remember I play drums")
    assert await desk.say("alice", "@ForgetMeNot forget that I play drums") == "Forgotten for good: #1 plays drums"
    assert await notes.page(desk.db) == []
    assert await desk.say("alice", "!forget #1") == "I find nothing like that about you."
    texts = await desk.db.rows("SELECT text FROM events UNION ALL SELECT summary FROM episodes")
    assert not any("play drums" in row[0] or "plays drums" in row[0] for row in texts)


async def test_a_moderator_who_names_nobody_known_is_told_so(desk: Desk) -> None:
    await desk.say("carol", "!remember I play drums")
    assert await desk.say("carol", "!forget @nobody_here drums") == "I don't know anybody called nobody_here."
    assert await desk.facts("carol") == ["plays drums"]


async def test_a_bare_command_is_told_what_it_lacks(desk: Desk) -> None:
    assert await desk.say("alice", "!forget") == (
        "What shall I forget? !memory shows the numbers, !forget #12 forgets one."
    )
    assert "!remember I play drums" in (await desk.say("alice", "!remember") or "")


@pytest.mark.parametrize("later", [MINUTE, DAY], ids=["running", "stopped for a day"])
async def test_the_answer_that_quotes_what_was_forgotten_is_not_kept(desk: Desk, later: int) -> None:
    """It is stored after the wish was carried out, with the bot's own line as it comes back from chat."""
    await desk.say("alice", "!remember I play the kazoo in Zanzibar")
    answer = await desk.say("alice", "!forget kazoo")
    assert answer == "Forgotten for good: #1 plays the kazoo in Zanzibar"
    kept = "you live in Oslo"
    async with desk.db.write() as tx:
        for text in (answer, kept):
            await tx.execute(
                "INSERT INTO bot_messages (at, viewer_id, trigger, mode, text, status)"
                " VALUES (?, ?, 'command', 'live', ?, 'sent')",
                (desk.clock.now(), IDS["alice"], text),
            )
        await tx.execute("UPDATE events SET from_bot = 1, text = ? WHERE viewer_id = ?", (answer, IDS["bob"]))
    await desk.clock.advance(later)
    await desk.eraser.erase_due()
    texts = [row[0] for row in await desk.db.rows("SELECT text FROM events UNION ALL SELECT text FROM bot_messages")]
    assert [text for text in texts if "kazoo" in text] == []
    assert kept in texts
    assert b"kazoo" not in b"".join(file.read_bytes() for file in desk.db.path.parent.iterdir() if file.is_file())


async def test_what_others_were_told_of_it_goes_too(desk: Desk) -> None:
    """A moderator's confirmation quotes the note by its number; a reply to bob had it in its prompt."""
    told = await desk.say("carol", "!remember @alice plays the kazoo in Zanzibar")
    await desk.say("carol", "a kazoo!")
    prompt = {"sections": [{"name": "others", "rows": [1]}]}
    kept = "bob plays the kazoo in Zanzibar himself"
    async with desk.db.write() as tx:
        for who, text, rows in (
            ("carol", told, {}),
            ("bob", "alice and her Zanzibar kazoo!", prompt),
            ("bob", kept, {}),
        ):
            await tx.execute(
                "INSERT INTO bot_messages (at, viewer_id, trigger, mode, text, status, prompt_json)"
                " VALUES (?, ?, 'command', 'live', ?, 'sent', ?)",
                (desk.clock.now(), IDS[who], text, json.dumps(rows)),
            )
    await desk.say("alice", "!forget kazoo")
    assert [row[0] for row in await desk.db.rows("SELECT text FROM bot_messages")] == ["", "", kept]
    said = await desk.db.rows("SELECT text FROM events WHERE viewer_id = ? AND text <> ''", (IDS["carol"],))
    assert [row[0] for row in said] == ["hello", "a kazoo!"]


async def test_its_subject_forgets_what_is_no_longer_true_too(desk: Desk) -> None:
    """What another note replaced is not shown any more, but it is kept: it goes for good like the others."""
    await desk.say("alice", "!remember I live in Oslo")
    await desk.say("alice", "!remember I live in Bergen")
    assert await desk.say("bob", "!forget oslo") == "I find nothing like that about you."
    assert await desk.say("alice", "!forget oslo") == "Forgotten for good: #1 lives in Oslo"
    assert await desk.facts("alice") == ["lives in Bergen"]
    assert await desk.db.value("SELECT count(*) FROM semantic_notes") == 1
    texts = await desk.db.rows("SELECT text FROM events UNION ALL SELECT summary FROM episodes")
    assert not any("Oslo" in row[0] for row in texts)


async def test_when_two_fit_it_asks(desk: Desk) -> None:
    await desk.say("alice", "!remember I play drums")
    await desk.say("alice", "!remember my brother sells drums in Oslo")
    assert await desk.say("alice", "!forget drums") == (
        "Which one? #1 plays drums · #2 their brother sells drums in Oslo (!forget #1 forgets the first)"
    )
    assert len(await desk.facts("alice")) == 2
    assert await desk.say("alice", "!forget #2") == "Forgotten for good: #2 their brother sells drums in Oslo"


async def test_a_viewer_forgets_nothing_of_others(desk: Desk) -> None:
    await desk.say("bob", "!remember I play drums")
    assert await desk.say("alice", "!forget #1") == "I find nothing like that about you."
    assert await desk.say("alice", "!forget @bob drums") == (
        "That works for yourself; a moderator can do it for others."
    )
    assert await desk.facts("bob") == ["plays drums"]


async def test_a_moderator_takes_back_and_brings_back(desk: Desk) -> None:
    await desk.say("alice", "!remember I play drums")
    taken = "Taken back: #1 plays drums (!wrong #1 undo brings it back)"
    assert await desk.say("carol", "!wrong #1") == taken
    assert await desk.facts("alice") == []
    assert await desk.say("carol", "!wrong 1 undo") == "Back again: #1 plays drums"
    assert await desk.say("carol", "!forget alice drums") == taken
    assert await desk.say("carol", "!wrong #1") == "That one is taken back already."
    assert await desk.say("alice", "!wrong #1") is None
    [note] = await notes.of_subject(desk.db, IDS["alice"], (NoteStatus.RETRACTED,))
    assert note.fact == "plays drums"


# ── rights ──────────────────────────────────────────────────────────────────────────────────


async def test_memory_is_one_message_with_the_most_important_first(desk: Desk) -> None:
    assert await desk.say("alice", "!memory") == "I know nothing about you yet."
    async with desk.db.write() as tx:
        for number in range(30):
            new = NewNote(
                Scope.VIEWER, IDS["alice"], f"has told a long story number {number}", 0.5, SourceKind.REPORTED, 0
            )
            await notes.insert(tx, new, cause="test", now=0)
    await desk.say("alice", "!remember I play drums")
    line = await desk.say("alice", "@forgetmenot_bot what do you know about me?") or ""
    assert line.startswith("What I know about you: #31 plays drums · #1 has told")
    assert "(others say)" in line
    shown = line.count("#")
    assert line.endswith(f"and {31 - shown} more; the streamer can hand you the whole file.")
    assert len(line) <= 500


async def test_memory_says_aloud_nothing_that_is_to_be_left_alone(desk: Desk) -> None:
    """It is there, with its number; what it says would be read by the whole chat."""
    await desk.say("alice", "!remember I got divorced in May")
    await desk.say("alice", "!remember I play drums")
    await never.leave_alone(desk.db, IDS["alice"], "divorce", by=IDS["alice"], at=0)
    for who, line in (("alice", "!memory"), ("carol", "!memory alice")):
        told = await desk.say(who, line) or ""
        assert "divorced" not in told
        assert told.endswith("#2 plays drums · #1 (left alone)")
    assert await desk.say("alice", "!forget #1") == "Forgotten for good: #1"


async def test_memory_of_others_is_for_moderators(desk: Desk) -> None:
    await desk.say("alice", "!remember I play drums")
    assert await desk.say("bob", "!memory @alice") == "That works for yourself; a moderator can do it for others."
    assert await desk.say("carol", "!memory @alice") == "What I know about Alice: #1 plays drums"
    assert await desk.say("carol", "!memory nobody_here") == "I don't know anybody called nobody_here."


async def test_forgetme_says_what_it_means_and_erases_only_when_confirmed(desk: Desk) -> None:
    await desk.say("alice", "!remember I play drums")
    assert "!forgetme confirm" in (await desk.say("alice", "!forgetme") or "")
    await desk.commands.idle()
    assert await viewers.get(desk.db, IDS["alice"]) is not None
    assert "Erasing" in (await desk.say("alice", "!forgetme confirm") or "")
    await desk.commands.idle()
    assert await viewers.get(desk.db, IDS["alice"]) is None
    assert await desk.facts("alice") == []


async def test_an_erasure_is_not_asked_for_again_and_again(desk: Desk) -> None:
    await desk.say("alice", "!forgetme confirm")
    await desk.commands.idle()
    assert await desk.say("alice", "!forgetme confirm") == "Noted: whatever came since is erased within minutes."
    await desk.commands.idle()
    assert await viewers.get(desk.db, IDS["alice"]) is not None
    assert len(await desk.eraser.erase_due()) == 1
    assert await viewers.get(desk.db, IDS["alice"]) is None


async def test_ones_own_name_is_oneself(desk: Desk) -> None:
    assert await desk.say("alice", "!remember alice plays drums") == "Remembered about you: #1 plays drums"
    assert await desk.say("alice", "!memory alice") == "What I know about you: #1 plays drums"


async def test_a_moderator_forgets_what_is_known_of_the_channel(desk: Desk) -> None:
    await desk.say("carol", "!remember channel: streams on Fridays")
    assert await desk.say("carol", "!forget fridays") == (
        "Taken back: #1 streams on Fridays (!wrong #1 undo brings it back)"
    )


async def test_a_moderator_can_have_somebody_erased(desk: Desk) -> None:
    assert "!forgetme alice confirm" in (await desk.say("carol", "!forgetme alice") or "")
    assert await desk.say("bob", "!forgetme alice confirm") == (
        "That works for yourself; a moderator can do it for others."
    )
    await desk.say("carol", "!forgetme alice confirm")
    await desk.commands.idle()
    assert await viewers.get(desk.db, IDS["alice"]) is None


async def test_who_opted_out_leaves_nothing_and_is_still_answered(desk: Desk) -> None:
    await desk.say("alice", "something private")
    assert "nothing you say is stored" in (await desk.say("alice", "!optout") or "")
    assert await desk.say("alice", "!remember I play drums") == "You opted out, so I keep nothing. !optin changes that."
    assert await desk.say("alice", "!memory") == "I know nothing about you yet."
    await desk.ingest.flush()
    rows = await desk.db.rows("SELECT text FROM events WHERE viewer_id = ? AND text <> ''", (IDS["alice"],))
    assert rows == []
    assert await desk.say("alice", "!optin") == "Welcome back: I remember you again."
    await desk.say("alice", "hello again")
    await desk.ingest.flush()
    assert await desk.db.value("SELECT count(*) FROM events WHERE text = 'hello again'") == 1


async def test_of_who_opted_out_no_fact_is_said_in_chat(desk: Desk) -> None:
    await desk.say("alice", "!remember I play drums")
    await desk.say("alice", "!optout")
    said = "Kept from before the opt-out, and unsaid since: 1. !forgetme erases that."
    assert await desk.say("alice", "!memory") == await desk.say("carol", "!memory alice") == said
    refused = "They opted out, so I keep nothing about them."
    assert await desk.say("carol", "!remember alice has a violet") == refused  # nor what others tell
    assert await desk.say("carol", "!optin alice") == "Welcome back: I remember Alice again."
    assert await desk.say("alice", "!memory") == "What I know about you: #1 plays drums"


async def test_an_opt_out_survives_an_erasure_without_a_name(desk: Desk) -> None:
    await desk.say("alice", "!optout")
    await desk.say("alice", "!forgetme confirm")
    await desk.commands.idle()
    await desk.clock.advance(DAY)
    await desk.say("alice", "am I stored?")
    await desk.ingest.flush()
    assert await viewers.get(desk.db, IDS["alice"]) is None
    assert await desk.say("alice", "!optin") == "Welcome back: I remember you again."
    await desk.say("alice", "now I am")
    await desk.ingest.flush()
    assert await viewers.get(desk.db, IDS["alice"]) is not None


async def test_privacy_is_one_line_with_the_streamers_link(desk: Desk) -> None:
    line = await desk.say("alice", "!privacy") or ""
    assert "24 h" in line
    assert line.endswith("https://example.org/privacy")
