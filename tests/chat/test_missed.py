"""What somebody missed, and what the streamer has said of the stream that is on."""

import json

from forgetmenot.domain import Asker, OperationResult, Role, Surface
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.operations.run import run
from forgetmenot.operations.wording import sentence
from forgetmenot.store import streams
from tests.chat.conftest import IDS, Chat
from tests.rows import put


async def in_dock(chat: Chat, name: str, **params: str) -> OperationResult:
    asker = Asker(Surface.DOCK, IDS["carol"], Role.BROADCASTER)
    return await run(chat.context, name, params, asker)


async def happens(chat: Chat, summary: str) -> None:
    """An episode of the stream that is on."""
    await chat.ingest.flush()
    await chat.clock.advance(MINUTE)
    now = chat.clock.now()
    stream = await chat.db.highest_id("streams")
    times = dict.fromkeys(("started_at", "ended_at", "created_at"), now)
    async with chat.db.write() as tx:
        await put(tx, "episodes", stream_id=stream, summary=summary, **times)
    await chat.clock.advance(MINUTE)


async def test_a_newcomer_catches_up_with_this_stream(chat: Chat) -> None:
    await chat.say("bob", "hello")
    await happens(chat, "<@1002> won the race.")
    answer = "This stream so far: Bob won the race."
    assert await chat.say("alice", "!missed") == answer


async def test_a_newcomer_to_an_empty_stream_missed_nothing(chat: Chat) -> None:
    nothing = "You didn't miss anything that I know of."
    assert await chat.say("alice", "!missed") == nothing


async def test_the_streamer_has_the_last_word(chat: Chat) -> None:
    await chat.say("alice", "hello")
    await chat.clock.advance(2 * DAY)
    await chat.say("bob", "hello")
    await happens(chat, "<@1002> won the race.")
    assert (await in_dock(chat, "so_far", text="Bob  won, barely!")).ok
    stored = "SELECT so_far FROM streams ORDER BY id DESC LIMIT 1"
    assert await chat.db.value(stored) == "<@1002> won, barely!"
    answer = "Since you were last here (2 days ago): Bob won, barely!"
    assert await chat.say("alice", "!missed") == answer
    assert (await in_dock(chat, "so_far")).ok
    await chat.clock.advance(HOUR)
    answer_to_dora = await chat.commands.handle(chat.event("dora", "!missed"))
    assert answer_to_dora is not None
    assert "Bob won the race." in answer_to_dora.line
    # not sent if Bob wants out while it waits for its turn
    assert answer_to_dora.people.named == {IDS["bob"]}


async def test_what_cannot_be_said_or_pinned_is_refused(chat: Chat) -> None:
    async with chat.db.write() as tx:
        await streams.end(tx, await chat.db.highest_id("streams"), chat.clock.now())
    for name in ("so_far", "pin_so_far"):
        result = await in_dock(chat, name, text="hi")
        assert sentence(result) == "No stream is on."
    async with chat.db.write() as tx:
        await streams.begin(tx, chat.clock.now())
    assert "too long" in sentence(await in_dock(chat, "so_far", text="a" * 251))
    result = await in_dock(chat, "pin_so_far")
    assert sentence(result).startswith("Nothing is known of this stream yet.")
    await in_dock(chat, "so_far", text="We build a shed.")
    chat.account.missing = "I am not a moderator here."
    result = await in_dock(chat, "pin_so_far")
    assert sentence(result) == "Not pinned. I am not a moderator here."
    assert not chat.account.said, "nothing is said that could not be pinned"


async def test_what_the_streamer_wrote_goes_with_the_person(chat: Chat) -> None:
    await chat.say("alice", "hello")
    await chat.say("bob", "hello")
    await chat.ingest.flush()
    await in_dock(chat, "so_far", text="Alice won the race. Bob baked bread.")
    assert "Alice" in (await chat.say("dora", "!missed") or "")
    await chat.hear("alice", "!forgetme yes")
    stored = await chat.db.value("SELECT so_far FROM streams")
    assert stored == "<@1002> baked bread."
    await chat.say("bob", "!optout")
    nothing = "You didn't miss anything that I know of."
    assert await chat.say("dora", "!missed") == nothing


async def texts_of_replies(chat: Chat) -> list[str]:
    return await chat.db.column("SELECT text FROM bot_messages")


async def hears_of_the_cello(chat: Chat) -> None:
    """The bot tells bob what alice said, in a sentence that does not name her."""
    await chat.hear("alice", "!remember I play the cello")
    await happens(chat, "<@1001> came by. They play the cello.")
    assert "They play the cello." in await chat.hear("bob", "!missed")


async def test_an_answer_without_a_name_goes_with_the_forgotten_fact(
    chat: Chat,
) -> None:
    await hears_of_the_cello(chat)
    await chat.hear("alice", "!forget cello permanently")
    assert not [text for text in await texts_of_replies(chat) if "cello" in text]


async def test_a_reply_made_of_a_summary_goes_with_the_forgotten_fact(
    chat: Chat,
) -> None:
    await chat.hear("alice", "!remember I play the cello")
    await happens(chat, "<@1001> came by. They play the cello.")
    episode_id = await chat.db.highest_id("episodes")
    sections = [{"rows": [["episodes", episode_id]]}]
    async with chat.db.write() as tx:
        await put(
            tx,
            "episode_people",
            episode_id=episode_id,
            viewer_id=IDS["alice"],
            lines=1,
        )
        for text in ("Somebody plays the cello!", "Play it again, Bob."):
            await put(
                tx,
                "bot_messages",
                viewer_id=IDS["bob"],
                text=text,
                prompt_json=json.dumps({"sections": sections}),
            )
    await chat.hear("alice", "!forget cello permanently")
    texts = await texts_of_replies(chat)
    assert "Somebody plays the cello!" not in texts
    assert "Play it again, Bob." in texts


async def test_an_answer_without_a_name_goes_with_the_person(chat: Chat) -> None:
    await hears_of_the_cello(chat)
    await chat.hear("bob", "!streak")
    await chat.hear("alice", "!forgetme yes")
    texts = await texts_of_replies(chat)
    assert not [text for text in texts if "cello" in text]
    assert any(texts), "what the bot answered about bob stays"


async def test_a_sentence_of_which_no_note_was_made_goes_with_the_person(
    chat: Chat,
) -> None:
    await happens(chat, "<@1001> came by. They brought a kite.")
    assert "They brought a kite." in await chat.hear("bob", "!missed")
    await chat.hear("alice", "!forgetme yes")
    assert not [text for text in await texts_of_replies(chat) if "kite" in text]
