"""What commands do in chat besides the dialogues: always there, about oneself, for moderators about anybody."""

import dataclasses

import msgspec
import pytest

from forgetmenot.chat.answers import ChatCommands
from forgetmenot.domain import NoteStatus, Permission, Scope, SourceKind
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.operations.commands import commands
from forgetmenot.operations.handlers.switches import read_switches
from forgetmenot.settings.schema import BotSettings, MemorySettings, Settings
from forgetmenot.store import bot_messages, episodes, notes, viewers
from forgetmenot.store.notes import NewNote
from tests.chat.conftest import IDS, Chat
from tests.rows import put


async def test_help_lists_what_one_may_type(chat: Chat) -> None:
    """All of it, in one message."""
    for login, permissions in (
        ("alice", {Permission.ANYONE}),
        ("carol", set(Permission)),
    ):
        line = await chat.say(login, "!commands") or ""
        assert len(line) <= 300
        allowed = {
            form.split()[0]
            for form, *_, permission in commands()
            if permission in permissions
        }
        assert {word for word in line.split() if word.startswith("!")} == allowed - {
            "!commands"
        }


async def test_what_did_i_miss(chat: Chat) -> None:
    assert (
        await chat.say("alice", "!missed") == "You didn't miss anything that I know of."
    )
    await chat.clock.advance(2 * DAY)
    assert await chat.say("bob", "hello") is None
    await chat.ingest.flush()
    await chat.clock.advance(MINUTE)
    now = chat.clock.now()
    stream = await chat.db.highest_id("streams")
    async with chat.db.write() as tx:
        times = dict.fromkeys(("started_at", "ended_at", "created_at"), now)
        await put(
            tx, "episodes", stream_id=stream, summary="<@1002> won the race.", **times
        )
    await chat.clock.advance(HOUR)
    answer = "Since you were last here (2 days ago): Bob won the race."
    assert await chat.say("alice", "!missed") == answer
    assert await chat.say("alice", "@forgetmenot_bot what did I miss?") == answer


async def test_what_was_missed_counts_from_the_last_line_also_in_this_stream(
    chat: Chat,
) -> None:
    assert await chat.say("alice", "brb") is None
    assert await chat.say("bob", "hello") is None
    await chat.ingest.flush()
    await chat.clock.advance(MINUTE)
    now = chat.clock.now()
    stream = await chat.db.highest_id("streams")
    async with chat.db.write() as tx:
        times = dict.fromkeys(("started_at", "ended_at", "created_at"), now)
        await put(
            tx, "episodes", stream_id=stream, summary="<@1002> won the race.", **times
        )
    await chat.clock.advance(14 * MINUTE)
    assert "Bob won the race." in (await chat.say("alice", "!missed") or "")


async def came_to(chat: Chat, login: str, *attended: bool) -> None:
    """Put streams that have ended before now, the oldest first, with or without somebody."""
    now = chat.clock.now()
    async with chat.db.write() as tx:
        for days_ago, was_there in enumerate(reversed(attended), 1):
            at = now - days_ago * DAY
            times = dict.fromkeys(("started_at", "last_event_at", "ended_at"), at)
            stream_id = await put(tx, "streams", **times)
            if was_there:
                visit = {"viewer_id": IDS[login], "stream_id": stream_id}
                await put(tx, "attendance", **visit, first_at=at, last_at=at, lines=1)


async def test_a_streak_counts_the_streams_since_the_last_that_was_missed(
    chat: Chat,
) -> None:
    assert await chat.say("alice", "hello") is None
    assert await chat.say("alice", "!streak") == "Your streak: 1 stream so far."
    await came_to(chat, "alice", True, True, False, True, True)
    assert (
        await chat.say("alice", "!streak") == "You were at the last 3 streams in a row!"
    )
    assert (
        await chat.say("carol", "!streak alice")
        == "Alice was at the last 3 streams in a row!"
    )


async def test_the_stream_that_is_on_breaks_no_streak(chat: Chat) -> None:
    assert await chat.say("bob", "hello") is None
    await came_to(chat, "bob", False)
    await chat.clock.advance(20 * HOUR)
    assert await chat.say("carol", "hello") is None
    assert await chat.say("carol", "!streak bob") == "Streak of Bob: 1 stream so far."


async def test_who_missed_the_last_stream_has_no_streak(chat: Chat) -> None:
    assert await chat.say("bob", "hello") is None
    await chat.clock.advance(20 * HOUR)
    assert await chat.say("carol", "hello") is None
    await chat.clock.advance(20 * HOUR)
    assert await chat.say("carol", "hello again") is None
    assert await chat.say("carol", "!streak bob") == "No streams in a row yet."


async def test_who_opted_out_has_no_streak_for_anybody(chat: Chat) -> None:
    await chat.say("alice", "hello")
    await chat.say("alice", "!optout")
    answer = "You opted out, so I don't store anything. !optin changes that."
    assert await chat.say("alice", "!streak") == answer
    assert await chat.say("carol", "!streak alice") == "No streams in a row yet."


async def test_an_answer_knows_whom_its_notes_name(chat: Chat) -> None:
    """If they want out while it waits for its turn, it is not sent."""
    await chat.say("bob", "hi")
    await chat.say("alice", "!remember I play duets with @bob")
    await chat.say("alice", "!remember I sing with @bob")
    for login, line in (
        ("alice", "!memory"),
        ("carol", "!who alice"),
        ("alice", "!edit 1 plays chess with @bob"),
        ("alice", "!wrong 2"),
    ):
        answer = await chat.commands.handle(chat.event(login, line))
        assert answer is not None
        assert "Bob" in answer.line, answer.line
        assert IDS["bob"] in answer.people.named


async def test_a_rumour_is_not_read_aloud_to_the_one_it_is_about(chat: Chat) -> None:
    async with chat.db.write() as tx:
        new = NewNote(
            Scope.VIEWER,
            IDS["alice"],
            "owes everybody money",
            0.5,
            SourceKind.REPORTED,
            0,
        )
        await notes.insert(tx, new, cause="test", now=0)
    line = "What I know about you: #1 (said by others; !forget 1 removes it)"
    assert await chat.say("alice", "!memory") == line
    assert (await chat.say("alice", "!forget money") or "").startswith("Removed: #1.")


async def test_no_command_reads_a_rumour_aloud(chat: Chat) -> None:
    """Not in part either: with one of its words changed, the others would be what others say."""
    async with chat.db.write() as tx:
        new = NewNote(
            Scope.VIEWER,
            IDS["alice"],
            "owes everybody money",
            0.5,
            SourceKind.REPORTED,
            0,
        )
        await notes.insert(tx, new, cause="test", now=0)
    asked_back = "Type the whole note, like: !edit 1 lives in Oslo"
    for line in (
        "!edit money is now cake",
        "!edit 1 money is now cake",
        "!edit 1 money cake",
    ):
        assert await chat.say("alice", line) == asked_back
    assert await chat.facts("alice") == ["owes everybody money"]
    changed = await chat.say("alice", "!edit 1 owes nobody anything")
    assert changed == "Changed: #1 owes nobody anything. To undo: !restore 1"
    for line in (
        "!restore 1",
        "!memory",
        "!nevermention 1",
        "!nevermention 1",
        "!forget 1",
        "!restore 1",
        "!nevermention money",
        "!missed",
        "!forget 1 permanently",
    ):
        assert "everybody" not in (await chat.say("alice", line) or ""), line
    assert "everybody" not in (await chat.say("carol", "!who alice") or "")


async def test_who_somebody_is_comes_in_sentences(chat: Chat) -> None:
    await chat.say("alice", "!remember I play drums")
    assert await chat.say("carol", "!who alice") == (
        "Alice has been here once. What I know: plays drums."
    )


async def test_a_link_is_refused_for_being_one(chat: Chat) -> None:
    assert await chat.say("alice", "!remember https://example.org/x is mine") == (
        "I don't store links."
    )


async def test_answers_are_in_the_language_of_the_settings(chat: Chat) -> None:
    context = msgspec.structs.replace(
        chat.context, settings=lambda: Settings(bot=BotSettings(language="de"))
    )
    german = dataclasses.replace(
        chat, commands=ChatCommands(context, chat.bot.identity)
    )
    assert await german.say("alice", "!memory") == "Über dich weiß ich noch nichts."
    assert (await german.say("alice", "!help edit") or "").startswith(
        "Hilfe: !edit [Nummer] <Text>: berichtigt eine"
    )


async def test_memory_is_one_message_with_the_most_important_first(chat: Chat) -> None:
    async with chat.db.write() as tx:
        for number in range(30):
            fact = f"has told a long story number {number}"
            new = NewNote(Scope.VIEWER, IDS["alice"], fact, 0.5, SourceKind.OBSERVED, 0)
            await notes.insert(tx, new, cause="test", now=0)
    await chat.say("alice", "!remember I play drums")
    line = await chat.say("alice", "@forgetmenot_bot what do you know about me?") or ""
    assert line.startswith("What I know about you: #31 plays drums · #1 has told")
    assert line.endswith(
        f"and {31 - line.count('#')} more; the streamer can give you the whole file."
    )
    assert len(line) <= 500


SUPPRESSED = [
    ("alice", "!nevermention my divorce", ("1001", "my divorce")),
    ("alice", "!nevermention @bob and me", ("1001", "<@1002> and me")),
    ("carol", "!nevermention channel elections", (None, "elections")),
    ("carol", "!NeverMention @alice her exam", ("1001", "her exam")),
]


@pytest.mark.parametrize(("login", "text", "entry"), SUPPRESSED)
async def test_whose_topic_it_is_depends_on_who_says_it(
    chat: Chat, login: str, text: str, entry: tuple[str | None, str]
) -> None:
    answer = await chat.say(login, text) or ""
    assert [
        (row.viewer_id, row.words) for row in await notes.suppressions(chat.db)
    ] == [entry]
    assert "The same command again" in answer
    assert entry[1] not in answer


async def test_a_viewer_called_channel_is_meant_behind_an_at(chat: Chat) -> None:
    """Without a viewer of that name, "@channel" is the channel as well."""
    await chat.say("carol", "!remember @channel: likes coffee on stream")
    assert len(await notes.of_subject(chat.db, None)) == 1
    await chat.say("channel", "hello")
    await chat.say("carol", "!remember @channel plays drums")
    assert [note.fact for note in await notes.of_subject(chat.db, "2000")] == [
        "plays drums"
    ]
    await chat.say("carol", "!remember channel: has tea on stream")
    assert len(await notes.of_subject(chat.db, None)) == 2
    assert "plays drums" in (await chat.say("carol", "!memory @channel") or "")
    assert "tea" in (await chat.say("carol", "!memory channel") or "")
    assert "@" not in (await chat.say("carol", "!memory @nobody_here") or "")


async def test_what_the_model_keeps_hangs_on_the_line_that_asked_for_it(
    chat: Chat,
) -> None:
    """When that is deleted, so is this, as after a `!remember`; a joke is something heard, and weighs less."""
    fact = "plays in bob's band with @bob and <@9>"
    assert (
        await chat.act("remember", "alice", "e1", target=IDS["alice"], fact=fact)
        == "remembered"
    )
    assert (
        await chat.act("bit", "alice", "e2", text="the lamp fell again") == "remembered"
    )
    keys = await chat.db.rows("SELECT key FROM episodes ORDER BY id")
    assert [row[0] for row in keys] == [
        episodes.key_of_line("e1"),
        episodes.key_of_line("e2"),
    ]
    assert await chat.facts("alice") == [
        "plays in <@1002>'s band with <@1002> and (somebody>"
    ]
    [bit] = await notes.of_subject(chat.db, None)
    assert (bit.scope, bit.source_kind, bit.confidence) == (
        Scope.RUNNING_BIT,
        SourceKind.OBSERVED,
        0.5,
    )
    assert (
        await chat.act("bit", "alice", text="sells skins at evil.zip") == "refused:link"
    )
    await chat.say("carol", "!remember channel: likes coffee on stream")
    assert (
        await chat.act("bit", "carol", text="dislikes coffee on stream")
        == "refused:weaker_word"
    )


async def test_the_model_corrects_a_note_of_the_speaker_and_nobody_elses(
    chat: Chat,
) -> None:
    await chat.act(
        "remember", "alice", target=IDS["alice"], fact="has a turtle called Sheldon"
    )
    await chat.clock.advance(1_000)
    assert (
        await chat.act("correct", "bob", note="1", fact="has a tortoise called Sheldon")
        == "nothing_found"
    )
    assert (
        await chat.act(
            "correct", "alice", note="1", fact="has a tortoise called Sheldon"
        )
        == "remembered"
    )
    assert await chat.facts("alice") == ["has a tortoise called Sheldon"]


async def test_what_is_forgotten_can_be_restored_unless_its_subject_wants_it_deleted(
    chat: Chat,
) -> None:
    for fact in ("plays drums in a band", "has two cats called Salt"):
        await chat.act("remember", "alice", target=IDS["alice"], fact=fact)
    assert (
        await chat.act("forget", "carol", target=IDS["alice"], what="cats permanently")
        == "retracted"
    )
    assert (
        await chat.act("forget", "alice", target=IDS["alice"], what="drums")
        == "retracted_own"
    )
    assert (
        await chat.act("forget", "alice", target=IDS["alice"], what="drums permanently")
        == "forgotten"
    )
    stored_notes = await notes.of_subject(chat.db, IDS["alice"], tuple(NoteStatus))
    assert [(note.fact, note.status) for note in stored_notes] == [
        ("has two cats called Salt", NoteStatus.RETRACTED)
    ]


async def test_only_people_who_moderate_are_heard_and_quiet_ends_by_itself(
    chat: Chat,
) -> None:
    waiting = await chat.propose("New title")
    for login, badges in (
        ("alice", {"vip", "subscriber"}),
        *((bot, {"moderator"}) for bot in ("forgetmenot_bot", "helperbot")),
        ("carol", {"moderator", "bot-badge"}),
    ):
        chat.badges[login] = frozenset(badges)
        assert await chat.say(login, f"!approve {waiting}") is None
        assert await chat.say(login, "!bot pause") is None
    assert chat.account.done_actions == []
    assert not (await read_switches(chat.db)).paused
    chat.badges["carol"] = frozenset({"moderator"})
    await chat.say("carol", "!bot quiet 10")
    assert (await read_switches(chat.db)).silent(chat.clock.now())
    await chat.clock.advance(10 * MINUTE)
    assert not (await read_switches(chat.db)).silent(chat.clock.now())


async def test_quiet_without_a_number_lasts_ten_minutes(chat: Chat) -> None:
    await chat.say("carol", "!bot quiet")
    started_at = chat.clock.now()
    switches = await read_switches(chat.db)
    assert switches.quiet_until == started_at + 10 * MINUTE


@pytest.mark.parametrize("outcome", ["good", "bad"])
async def test_a_rating_is_stored_with_the_last_reply(chat: Chat, outcome: str) -> None:
    reply_id = await chat.replied("alice", note="1")
    await chat.say("alice", f"!{outcome}")
    reply = await bot_messages.get(chat.db, reply_id)
    assert reply is not None
    assert reply.outcome == outcome


async def test_who_never_opted_out_is_not_welcomed_back(chat: Chat) -> None:
    assert await chat.say("alice", "!optin") == "I already remember you."


async def test_an_ignored_account_is_not_said_to_be_remembered(chat: Chat) -> None:
    memory = MemorySettings(ignored_viewers=("alice",))
    settings = msgspec.structs.replace(chat.context.settings(), memory=memory)
    chat.context.settings = lambda: settings
    answer = "I remember nothing of Alice: that account is a bot or on the ignore list."
    assert await chat.say("carol", "!optin alice") == answer
    await chat.say("carol", "!optout alice")
    assert await chat.say("carol", "!optin alice") == answer
    assert await chat.say("carol", "!optin bob") == "I already remember Bob."


async def test_an_opt_out_survives_an_erasure_without_a_name(chat: Chat) -> None:
    await chat.say("alice", "!optout")
    await chat.say("alice", "!forgetme confirm")
    await chat.eraser.idle()
    await chat.clock.advance(DAY)
    await chat.say("alice", "am I stored?")
    await chat.ingest.flush()
    assert await viewers.get(chat.db, IDS["alice"]) is None
    assert await chat.say("alice", "!optin") == "Welcome back: I remember you again."
    await chat.say("alice", "now I am")
    await chat.ingest.flush()
    assert await viewers.get(chat.db, IDS["alice"]) is not None


async def renamed(chat: Chat, viewer_id: str, *logins: str) -> None:
    """Somebody is seen with one login after the other."""
    for number, login in enumerate(logins):
        async with chat.db.write() as tx:
            viewer = viewers.SeenViewer(viewer_id, login, login, None, number, number)
            await viewers.record_seen(tx, [viewer])


async def test_a_moderator_names_somebody_by_a_short_form_or_a_former_name(
    chat: Chat,
) -> None:
    await renamed(chat, "77", "theodor77", "quietstorm")
    async with chat.db.write() as tx:
        await put(tx, "semantic_notes", subject_id="77", fact="plays the cello")
    for name in ("theodor77", "@theodor77", "quietstorm", "quiet", "theo", "@theo"):
        assert "plays the cello" in (
            await chat.say("carol", f"!memory {name}") or ""
        ), name
    assert "quietstorm" in (await chat.say("carol", "!who theo") or "")
    await chat.say("carol", "!edit @theo plays the viola, not the cello")
    assert "viola" in (await chat.say("carol", "!memory theo") or "")
    # nothing is deleted or stopped by a part of a name
    for command in ("!optout theo", "!forgetme theo"):
        assert (
            await chat.say("carol", command)
            == "No viewer named theo. Use a current login."
        )
    assert "nothing from quietstorm is stored" in (
        await chat.say("carol", "!optout theodor77") or ""
    )


async def test_of_several_who_can_be_meant_the_moderator_is_asked_which(
    chat: Chat,
) -> None:
    await renamed(chat, "77", "mirko_a")
    await renamed(chat, "78", "mirko_b")
    async with chat.db.write() as tx:
        for viewer_id in ("77", "78"):
            await put(
                tx, "semantic_notes", subject_id=viewer_id, fact="plays the cello"
            )
    answer = await chat.say("carol", "!who mirko") or ""
    assert answer.startswith(
        "mirko can be mirko_a (@mirko_a, id:77), mirko_b (@mirko_b, id:78)."
    )


async def test_an_ordinary_word_at_the_beginning_of_a_fact_is_nobodys_name(
    chat: Chat,
) -> None:
    await renamed(chat, "77", "drums")
    await chat.say("carol", "!remember drums are loud on this stream")
    rows = await chat.db.rows("SELECT subject_id, fact FROM semantic_notes")
    assert [tuple(row) for row in rows] == [(None, "drums are loud on this stream")]


async def test_call_me_gives_a_nickname(chat: Chat) -> None:
    await chat.say("alice", "!remember call me Lissy")
    facts = await chat.db.column("SELECT fact FROM semantic_notes")
    assert facts == ["goes by Lissy"]
    assert "goes by Lissy" in (await chat.say("carol", "!memory lissy") or "")


async def test_a_list_of_notes_about_several_goes_with_each_of_them(
    chat: Chat,
) -> None:
    """A reply may use notes about several people; "!forget that" then asks which one, and quotes them all."""
    await chat.hear("alice", "!remember I play the zither")
    await chat.hear("bob", "!remember I carve spoons")
    await chat.replied("alice", "1, 2")
    await chat.clock.advance(20_000)
    question = await chat.hear("carol", "!forget that")
    assert "plays the zither" in question
    assert "carves spoons" in question
    await chat.eraser.erase(IDS["bob"])
    texts = await chat.db.column("SELECT text FROM bot_messages")
    assert not [text for text in texts if "spoons" in text]
