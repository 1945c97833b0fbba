"""What commands do in chat: always there, about oneself, for moderators about anybody; no model is needed.

Most is said as dialogues: who types what, and the answer (None: it is no command, or not theirs).
"""

import dataclasses
import json
import re

import msgspec
import pytest

from forgetmenot.chat import ChatCommands
from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.domain import NoteStatus, Permission, Scope, SourceKind, Surface
from forgetmenot.operations.table import OPERATIONS, commands
from forgetmenot.settings.schema import BotSettings, Settings
from forgetmenot.store import episodes, notes
from forgetmenot.store.notes import NewNote
from forgetmenot.text.outgoing import without_command
from tests.chat.conftest import BOT, IDS, Chat

Line = tuple[str, str, str | None]
NAME_A_PERSON = "That is about one viewer, not about the channel. Put their name behind the command."
NOT_YOURS = "You can only do that for yourself. Ask a moderator."
WHICH_NOTE = "Which note? !memory shows their numbers. !wrong 12 removes one, !edit 12 lives in Oslo corrects one."
NOTHING_LIKE_IT = "I can't find anything like that about you. !memory shows what I know."
OPTED_OUT = "You opted out, so I don't store anything. !optin changes that."
REMOVED = "Removed: #1 plays drums. To undo: !restore 1"

DIALOGUES: dict[str, list[Line]] = {
    "a typed fact": [("alice", "!REMEMBER that i play drums.", "Remembered about you: #1 plays drums")],
    "people in a fact are ids": [
        ("alice", "!remember I sing in @Bob's band with @nobody",
         "Remembered about you: #1 sings in Bob's band with someone"),
        ("alice", "!remember I bake with bob on Sundays", "Remembered about you: #2 bakes with Bob on Sundays"),
    ],
    "one's own name is oneself": [
        ("alice", "!remember alice plays drums", "Remembered about you: #1 plays drums"),
        ("alice", "!memory alice", "What I know about you: #1 plays drums"),
    ],
    "a moderator tells of anybody and of the channel": [
        ("carol", "!remember @bob's cat is called Miso", "Remembered about Bob: #1 their cat is called Miso"),
        ("carol", "!remember bob plays bass", "Remembered about Bob: #2 plays bass"),
        ("carol", "!remember channel: streams on Fridays", "Remembered about the channel: #3 streams on Fridays"),
        ("carol", "!remember I like tea", "Remembered about you: #4 likes tea"),
        ("carol", "!forget fridays", "Removed: #3 streams on Fridays. To undo: !restore 3"),
    ],
    "a moderator's sentence goes to what it is about": [
        ("carol", "!remember subs get a sticker pack", "Remembered about the channel: #1 subs get a sticker pack"),
        ("carol", "!remember our discord opens on Fridays",
         "Remembered about the channel: #2 our discord opens on Fridays"),
        ("carol", "!remember plays drums", "Remembered about you: #3 plays drums"),
        ("carol", "!remember my emotes are hand drawn", "Remembered about you: #4 their emotes are hand drawn"),
        ("alice", "!remember collects stamps", "Remembered about you: #5 collects stamps"),
    ],
    "what is never stored is refused with a reason": [
        ("alice", "!remember my phone number is 555 867 5309 now", "I don't store that kind of thing about people."),
        ("alice", "!remember {'a': 1} is mine", "I don't store commands or code."),
        ("alice", "!remember I am", "A fact needs 5 to 200 characters."),
        ("alice", "!memory", "I know nothing about you yet."),
    ],
    "the lines just before": [
        ("alice", "I moved to Oslo", None),
        ("alice", "what a day", None),
        ("alice", "@forgetmenot_bot tell me about the duck", None),
        ("bob", "!remember this about alice", NOT_YOURS),
        ("carol", "!remember this about alice", "Remembered about Alice: #1 moved to Oslo"),
        ("carol", "!remember this about channel", NAME_A_PERSON),
    ],
    "what was replaced can be forgotten by its subject too": [
        ("alice", "!remember I live in Oslo", "Remembered about you: #1 lives in Oslo"),
        ("alice", "!remember I live in Bergen", "Remembered about you: #2 lives in Bergen"),
        ("bob", "!forget oslo", NOTHING_LIKE_IT),
        ("alice", "!forget oslo", NOTHING_LIKE_IT),
        ("alice", "!forget oslo permanently", "Permanently deleted: #1 lives in Oslo"),
        ("alice", "!memory", "What I know about you: #2 lives in Bergen"),
    ],
    "when two fit it asks": [
        ("alice", "!remember I play drums", "Remembered about you: #1 plays drums"),
        ("alice", "!remember my brother sells drums in Oslo",
         "Remembered about you: #2 their brother sells drums in Oslo"),
        ("alice", "!forget drums",
         ("Which one? #2 their brother sells drums in Oslo · #1 plays drums."
          " Put its number behind the command: !forget 2")),
        ("alice", "!forget #2 forever", "Permanently deleted: #2 their brother sells drums in Oslo"),
    ],
    "a viewer forgets and corrects nothing of others": [
        ("bob", "!remember I play drums", "Remembered about you: #1 plays drums"),
        ("alice", "!forget #1", "#1 is not a note about you. !memory shows yours."),
        ("alice", "!forget @bob drums", NOT_YOURS),
        ("alice", "!edit 1 plays nothing at all", "#1 is not a note about you. !memory shows yours."),
        ("alice", "!memory bob", NOT_YOURS),
        ("bob", "!memory", "What I know about you: #1 plays drums"),
    ],
    "its subject and moderators correct a note": [
        ("alice", "!remember I play drums", "Remembered about you: #1 plays drums"),
        ("alice", "!edit #1 plays the cello", "Changed: #1 plays the cello (was: plays drums). To undo: !restore 1"),
        ("carol", "!edit 1 plays bass with @bob",
         "Changed: #1 plays bass with Bob (was: plays the cello). To undo: !restore 1"),
        ("alice", "!edit 1 my phone number is 555 867 5309", "I don't store that kind of thing about people."),
        ("alice", "!edit 1 plays bass on example.com", "I don't store links."),
        ("alice", "!edit", ("Help: !edit [id] <text>: corrects a note; !restore undoes it."
         " For example: !edit 1 lives in Oslo")),
    ],
    "what is remembered beside something alike says how to take that back": [
        ("alice", "!remember my cat is Biscuit", "Remembered about you: #1 their cat is Biscuit"),
        ("alice", "!remember my cat's name is Crumble",
         ("Remembered about you: #2 their cat's name is Crumble (I also know #1 their cat is Biscuit: "
         "!wrong 1 removes that)")),
        ("bob", "!wrong 1", "#1 is not a note about you. !memory shows yours."),
        ("alice", "!wrong 1",
         "Removed: #1 their cat is Biscuit. To undo: !restore 1 · to delete it: !forget 1 permanently"),
        ("alice", "!wrong", WHICH_NOTE),
        ("alice", "!forget that", WHICH_NOTE),
        ("alice", "!wrong violins", NOTHING_LIKE_IT),
        ("alice", "@forgetmenot_bot that's wrong", None),  # the bot has said nothing
        ("alice", "!edit 2 my cat is Moss", ("Changed: #2 their cat is Moss (was: their cat's name is Crumble)."
         " To undo: !restore 2")),
        ("alice", "!forget 2 permanently", "Permanently deleted: #2 their cat is Moss"),
    ],
    "a moderator removes and restores": [
        ("alice", "!remember I play drums", "Remembered about you: #1 plays drums"),
        ("carol", "!wrong #1", REMOVED),
        ("alice", "!memory", "I know nothing about you yet."),
        ("carol", "!restore 1", "Restored: #1 plays drums"),
        ("carol", "!forget alice drums", REMOVED),
        ("carol", "!wrong #1", "That note is already removed. !restore and its number bring it back."),
        ("alice", "!restore 1", NOT_YOURS),
        ("bob", "!restore 1", "#1 is not a note about you. !memory shows yours."),
    ],
    "who names nobody known is told so": [
        ("carol", "!forget @nobody_here drums", "No viewer named nobody_here."),
        ("carol", "!remember @nobody_here bakes", "No viewer named nobody_here."),
        ("carol", "!remember nobody_here: bakes", "No viewer named nobody_here."),
        ("carol", "!memory nobody_here", "No viewer named nobody_here."),
        ("carol", "!nevermention @dora her exam", "No viewer named dora."),
    ],
    "an erasure has to be confirmed": [
        ("alice", "!remember I play drums", "Remembered about you: #1 plays drums"),
        ("alice", "!forgetme", ("This permanently deletes everything about you: notes, "
         "today's messages, mentions in summaries. "
         "It cannot be undone. To confirm, type !forgetme yes")),
        ("carol", "!forgetme alice", ("This permanently deletes everything about Alice: notes, "
         "today's messages, mentions in summaries. "
         "It cannot be undone. To confirm, type !forgetme Alice yes")),
        ("bob", "!forgetme alice confirm", NOT_YOURS),
        ("carol", "!forgetme channel confirm", NAME_A_PERSON),
        ("alice", "!memory", "What I know about you: #1 plays drums"),
    ],
    "of who opted out nothing is kept and nothing is said": [
        ("alice", "!remember I play drums", "Remembered about you: #1 plays drums"),
        ("alice", "!optout", ("Done: nothing you say is stored from now on, and I won't use what I knew. "
         "!forgetme deletes it.")),
        ("alice", "!remember I play bass", OPTED_OUT),
        ("alice", "!edit 1 plays bass", OPTED_OUT),
        ("carol", "!edit 1 plays bass", "They opted out, so I don't store anything about them."),
        ("alice", "!memory", "1 note from before the opt-out is still stored, but not used. !forgetme deletes it."),
        ("carol", "!remember alice has a violet", "They opted out, so I don't store anything about them."),
        ("carol", "!optin alice", "Welcome back: I remember Alice again."),
        ("alice", "!optin", "I already remember you."),
        ("alice", "!memory", "What I know about you: #1 plays drums"),
    ],
    "what is not to be mentioned is not said aloud": [
        ("alice", "!remember I got divorced in May", "Remembered about you: #1 got divorced in May"),
        ("alice", "!remember I play drums", "Remembered about you: #2 plays drums"),
        ("alice", "!nevermention divorce",
         "I won't mention that again. The same command again undoes it."),
        ("carol", "!memory alice", "What I know about Alice: #2 plays drums · #1 (not mentioned)"),
        ("alice", "!forget #1 permanently", "Permanently deleted: #1"),
        ("alice", "!nevermention divorce", "OK, I may mention that again."),
    ],
    "a topic has to be one": [
        ("alice", "!nevermention the", "Tell me what: !nevermention and a topic, or a note's number like #12."),
        ("alice", "!nevermention #77", "There is no such note."),
        ("alice", "!nevermention", ("Help: !nevermention <what>: I never bring that topic or note up again;"
         " said twice, I may. For example: !nevermention my exams")),
        ("alice", "never mention it", None),
    ],
    "switches": [
        ("carol", "!bot pause", "ForgetMeNot: paused."),
        ("carol", "!bot status", "ForgetMeNot: paused."),
        ("carol", "!bot resume", "ForgetMeNot: on (mentions)."),
        ("carol", "!bot quiet 10", "ForgetMeNot: quiet for 10 more min."),
        ("carol", "!bot status", "ForgetMeNot: quiet for 10 more min."),
        ("carol", "!bot resume", "ForgetMeNot: on (mentions)."),
        ("carol", "!bot safe", "ForgetMeNot: on (mentions), safe mode is on."),
        ("carol", "!bot status", "ForgetMeNot: on (mentions), safe mode is on."),
        ("dave", "!bot pause", "ForgetMeNot: paused, safe mode is on."),  # ignored as a viewer, heard as a moderator
    ],
    "nothing to decide, nothing to explain": [
        ("carol", "!approve", "Nothing is waiting for approval."),
        ("carol", "!deny 3", "#3 is not waiting for approval."),
        ("carol", "!undo", "Nothing from the last hour can be undone. !undo 3 undoes #3."),
        ("carol", "!why", "There is no such reply of mine."),
        ("carol", "!why 77", "There is no such reply of mine."),
    ],
    "help": [
        ("alice", "!help forget",
         ("Help: !forget [what]: removes a note about you, as !wrong does;"
         " with “permanently” behind it, it is deleted. For example: !forget my drums")),
        ("alice", "!help approve", None),  # it is nobody's business
        ("carol", "!help wrong",
         ("Help: !forget [what]: removes a note about you, as !wrong does;"
         " with “permanently” behind it, it is deleted. For example: !forget my drums")),
        ("alice", "!help dance", None),
    ],
}  # fmt: skip


@pytest.mark.parametrize("dialogue", DIALOGUES.values(), ids=DIALOGUES)
async def test_a_dialogue(chat: Chat, dialogue: list[Line]) -> None:
    for who, line, answer in dialogue:
        assert await chat.say(who, line) == answer, line
        assert answer is None or without_command(answer) == answer  # a mark in front is cut before it is sent


# ── the table ───────────────────────────────────────────────────────────────────────────────


async def test_help_lists_what_one_may_type(chat: Chat) -> None:
    """All of it, in one message."""
    for who, permissions in (("alice", {Permission.ANYONE}), ("carol", set(Permission))):
        line = await chat.say(who, "!commands") or ""
        assert len(line) <= 200
        allowed = {form.split()[0] for form, *_, permission in commands() if permission in permissions}
        assert {word for word in line.split() if word.startswith("!")} == allowed - {"!commands"}
        short = await chat.say(who, "!help") or ""
        assert re.findall(r"!\w+", short) == ["!memory", "!edit", "!forgetme", "!optout", "!commands"]


async def test_a_moderator_asks_who_somebody_is(chat: Chat) -> None:
    assert await chat.say("alice", "!remember I play drums")
    assert await chat.say("carol", "!who alice") == "Alice: here 1 time. plays drums"
    assert await chat.say("carol", "!who bob") == "I know nothing about Bob yet."
    assert await chat.say("alice", "!who bob") is None


async def test_what_did_i_miss(chat: Chat) -> None:
    assert await chat.say("alice", "!missed") == "I haven't seen you here before."
    await chat.clock.advance(2 * DAY)
    assert await chat.say("bob", "hello") is None
    await chat.ingest.flush()
    await chat.clock.advance(MINUTE)
    now = chat.clock.now()
    async with chat.db.write() as tx:
        await tx.execute(
            "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
            " SELECT 'chat', max(id), ?1, ?1, '<@1002> won the race.', 25, ?1 FROM streams",
            (now,),
        )
    await chat.clock.advance(HOUR)
    answer = "Since you were last here (2 days ago): Bob won the race."
    assert await chat.say("alice", "!missed") == answer
    assert await chat.say("alice", "@forgetmenot_bot what did I miss?") == answer


async def test_answers_are_in_the_language_of_the_settings(chat: Chat) -> None:
    context = msgspec.structs.replace(chat.context, settings=lambda: Settings(bot=BotSettings(language="de")))
    german = dataclasses.replace(chat, commands=ChatCommands(context, lambda: BOT))
    assert await german.say("alice", "!memory") == "Über dich weiß ich noch nichts."
    assert await german.say("alice", "!help edit") == (
        "Hilfe: !edit [Nummer] <Text>: berichtigt eine Notiz; !restore macht es rückgängig."
        " Zum Beispiel: !edit 1 lives in Oslo"
    )
    assert await german.say("carol", "!remember channel: streams on Fridays") == (
        "Über den Kanal gemerkt: #1 streams on Fridays"
    )
    assert await german.say("carol", "!memory zed") == "zed kenne ich hier nicht."
    assert await german.say("carol", "!bot status") == "ForgetMeNot: an (stille Vorschau)."


async def test_a_moderators_command_always_gets_an_answer(chat: Chat) -> None:
    for who, answers in (("carol", True), ("alice", False)):
        assert bool(await chat.say(who, "!help nothing")) == answers
    for operation in OPERATIONS.values():
        if Surface.CHAT in operation.who and operation.chat:
            assert await chat.say("carol", operation.chat[0].split()[0]), operation.name


# ── memory ──────────────────────────────────────────────────────────────────────────────────


async def test_what_is_forgotten_is_in_no_text(chat: Chat) -> None:
    await chat.say("alice", "!remember I play the kazoo in Zanzibar")
    told = await chat.say("carol", "!memory alice")
    await chat.say("carol", "a kazoo!")
    prompt = {"sections": [{"name": "others", "rows": [1]}]}
    kept = "bob plays the kazoo in Zanzibar himself"
    quoting: tuple[tuple[str, str | None, object], ...] = (
        ("carol", told, {}),
        ("bob", "alice and her Zanzibar kazoo!", prompt),
        ("bob", kept, {}),
    )
    async with chat.db.write() as tx:
        for who, text, rows in quoting:
            await tx.execute(
                "INSERT INTO bot_messages (at, viewer_id, trigger, mode, text, status, prompt_json)"
                " VALUES (?, ?, 'command', 'live', ?, 'sent', ?)",
                (chat.clock.now(), IDS[who], text, json.dumps(rows)),
            )
    await chat.say("alice", "!forget kazoo permanently")
    assert [row[0] for row in await chat.db.rows("SELECT text FROM bot_messages")] == ["", "", kept]
    texts = await chat.db.rows("SELECT text FROM events WHERE viewer_id = ?", (IDS["alice"],))
    assert not any("kazoo" in row[0] for row in texts)


async def test_memory_is_one_message_with_the_most_important_first(chat: Chat) -> None:
    async with chat.db.write() as tx:
        for number in range(30):
            fact = f"has told a long story number {number}"
            new = NewNote(Scope.VIEWER, IDS["alice"], fact, 0.5, SourceKind.REPORTED, 0)
            await notes.insert(tx, new, cause="test", now=0)
    await chat.say("alice", "!remember I play drums")
    line = await chat.say("alice", "@forgetmenot_bot what do you know about me?") or ""
    assert line.startswith("What I know about you: #31 plays drums · #1 has told")
    assert "(others say, " in line
    assert " months ago)" in line
    assert line.endswith(f"and {31 - line.count('#')} more; the streamer can give you the whole file.")
    assert len(line) <= 500


SUPPRESSED = [
    ("alice", "!nevermention my divorce", ("1001", "my divorce")),
    ("alice", "!nevermention channel points", ("1001", "channel points")),
    ("alice", "!nevermention @bob and me", ("1001", "<@1002> and me")),
    ("carol", "!nevermention my exam", ("1003", "my exam")),
    ("carol", "!nevermention channel elections", (None, "elections")),
    ("carol", "!NeverMention @alice her exam", ("1001", "her exam")),
]


@pytest.mark.parametrize(("who", "text", "entry"), SUPPRESSED)
async def test_whose_topic_it_is_depends_on_who_says_it(
    chat: Chat, who: str, text: str, entry: tuple[str | None, str]
) -> None:
    answer = await chat.say(who, text) or ""
    assert [(row.viewer_id, row.words) for row in await notes.suppressions(chat.db)] == [entry]
    assert "The same command again" in answer
    assert entry[1] not in answer


# ── the model asks for the same operations ──────────────────────────────────────────────────


async def test_what_the_model_keeps_hangs_on_the_line_that_asked_for_it(chat: Chat) -> None:
    """When that is deleted, so is this, as after a `!remember`; a joke is something heard, and weighs less."""
    fact = "plays in bob's band with @bob and <@9>"
    assert await chat.act("remember", "alice", "e1", target=IDS["alice"], fact=fact) == "remembered"
    assert await chat.act("bit", "alice", "e2", text="the lamp fell again") == "remembered"
    keys = await chat.db.rows("SELECT key FROM episodes ORDER BY id")
    assert [row[0] for row in keys] == [episodes.key_of_line("e1"), episodes.key_of_line("e2")]
    assert await chat.facts("alice") == ["plays in <@1002>'s band with <@1002> and (someone>"]
    [bit] = await notes.of_subject(chat.db, None)
    assert (bit.scope, bit.source_kind, bit.confidence) == (Scope.RUNNING_BIT, SourceKind.OBSERVED, 0.5)
    assert await chat.act("bit", "alice", text="sells skins at evil.zip") == "refused:link"
    refused = await chat.act("remember", "alice", target=IDS["alice"], fact="can be reached at bob@example.org")
    assert refused == "refused:sensitive:contact"


async def test_the_model_corrects_a_note_of_the_speaker_and_nobody_elses(chat: Chat) -> None:
    await chat.act("remember", "alice", target=IDS["alice"], fact="has a turtle called Sheldon")
    await chat.clock.advance(1_000)
    assert await chat.act("correct", "bob", note="1", fact="has a tortoise called Sheldon") == "nothing_found"
    assert await chat.act("correct", "alice", note="1", fact="has a tortoise called Sheldon") == "remembered"
    assert await chat.facts("alice") == ["has a tortoise called Sheldon"]


async def test_a_joke_replaces_nothing_that_was_said_outright(chat: Chat) -> None:
    await chat.say("carol", "!remember channel: likes coffee on stream")
    assert await chat.act("bit", "carol", text="dislikes coffee on stream") == "refused:weaker_word"
    assert await chat.facts(None) == ["likes coffee on stream"]


async def test_what_is_forgotten_can_be_restored_unless_its_subject_wants_it_deleted(chat: Chat) -> None:
    for fact in ("plays drums in a band", "has two cats called Salt"):
        await chat.act("remember", "alice", target=IDS["alice"], fact=fact)
    assert await chat.act("forget", "carol", target=IDS["alice"], what="cats permanently") == "retracted"
    assert await chat.act("forget", "alice", target=IDS["alice"], what="drums") == "retracted_own"
    assert await chat.act("forget", "alice", target=IDS["alice"], what="drums permanently") == "forgotten"
    left = await notes.of_subject(chat.db, IDS["alice"], tuple(NoteStatus))
    assert [(note.fact, note.status) for note in left] == [("has two cats called Salt", NoteStatus.RETRACTED)]
