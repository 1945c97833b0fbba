"""A moderator's hand is quicker than a model: what is cleared meanwhile is neither answered nor told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import pytest

from forgetmenot.domain import EpisodeKind, LinePeople, Participation
from forgetmenot.durations import SECOND
from forgetmenot.memory.edits import edit, remember, retract
from forgetmenot.privacy.suppression_list import suppress
from forgetmenot.reply.send_rate import SendRateLimiter
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import (
    bot_messages,
    episodes,
    events,
    privacy_choices,
    quotes,
)
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.store.events import Clear
from forgetmenot.store.privacy_requests import RequestKind
from forgetmenot.text.mentions import fenced_texts
from forgetmenot.text.removal import fact_stems
from tests.stage import Stage, answering
from tests.wishes import erase, forget_fact

SECRET = "the code of the safe is marmot"
CLEARED = "a line that it rests on was cleared in chat"


@contextlib.asynccontextmanager
async def full_queue(
    stage: Stage, saying: Coroutine[Any, Any, Any]
) -> AsyncIterator["asyncio.Task[Any]"]:
    """What is said waits for a place in the queue; at the end it gets one."""
    stage.outbox.pace = SendRateLimiter(2)
    for greeting in ("Hello.", "Hello again."):
        await stage.outbox.say_line(greeting)
    await stage.clock.advance(29 * SECOND)
    task = asyncio.create_task(saying)
    while not stage.outbox.waiting:  # noqa: ASYNC110  # the queue tells nobody
        await asyncio.sleep(0.001)
    yield task
    await stage.clock.advance(5 * SECOND)


async def clear(
    stage: Stage, *, event_id: str | None = None, viewer_id: str | None = None
) -> None:
    async with stage.db.write() as tx:
        await events.clear(
            tx, Clear(stage.clock.now(), event_id, viewer_id), stage.clock.now()
        )


@pytest.mark.parametrize(
    "cleared",
    [{"event_id": "e1"}, {"viewer_id": "1"}, {}],
    ids=["line", "viewer", "whole chat"],
)
async def test_a_line_that_is_cleared_while_the_model_thinks_is_not_answered(
    stage: Stage, cleared: dict[str, str]
) -> None:
    stage.model.answers = [
        answering(f"You said: {SECRET}", "timeout", target="me", seconds=30)
    ]
    stage.model.meanwhile = lambda: clear(stage, **cleared)
    reply = await stage.reply(f"@forgetmenot_bot time me out, {SECRET}")
    assert (reply.status, reply.text, reply.detail) == (ReplyStatus.SILENT, "", CLEARED)
    assert stage.said == stage.moderation.done_actions == []
    assert (await stage.row(reply.id)).text == ""


async def test_a_line_of_another_that_is_cleared_meanwhile_is_left_out_of_a_second_thought(
    stage: Stage,
) -> None:
    await stage.hear(SECRET, "2")
    stage.model.answers = [f"Bob said that {SECRET}.", "Nobody said a word."]
    stage.model.meanwhile = lambda: clear(stage, viewer_id="2")
    reply = await stage.reply("@forgetmenot_bot what did bob say?")
    assert (reply.status, stage.said) == (ReplyStatus.SENT, ["Nobody said a word."])
    assert [SECRET in request.prompt for request in stage.model.asked] == [True, False]


async def test_while_lines_are_cleared_all_the_time_it_stays_silent(
    stage: Stage,
) -> None:
    lines = [(await stage.hear(f"{SECRET} {number}", "2")).id for number in range(5)]

    async def purge() -> None:
        stage.model.meanwhile = purge
        await clear(stage, event_id=lines.pop())

    stage.model.meanwhile = purge
    reply = await stage.reply("@forgetmenot_bot what did bob say?")
    assert (reply.detail, len(stage.model.asked)) == (CLEARED, 2)


async def opt_out(stage: Stage, _note: int) -> None:
    async with stage.db.write() as tx:
        await privacy_choices.opt_out(tx, "2", stage.clock.now())


Way = Callable[[Stage, int], Awaitable[object]]
WAYS: dict[str, Way] = {
    "wrong": lambda stage, note: retract(
        stage.db, note, at=stage.clock.now(), cause="test"
    ),
    "forgotten": lambda stage, note: forget_fact(stage.db, note, at=stage.clock.now()),
    "never mentioned": lambda stage, _: suppress(
        stage.db, "2", "marimba", by=None, at=stage.clock.now()
    ),
    "opted out": opt_out,
    "erased": lambda stage, _: erase(stage.db, "2", now=stage.clock.now()),
}


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_taken_back_while_the_model_thinks_is_not_said(
    stage: Stage, way: str
) -> None:
    note = await stage.know("plays the marimba", "2")
    stage.model.answers = ["Bob plays the marimba.", "I do not know."]
    stage.model.meanwhile = lambda: WAYS[way](stage, note)
    await stage.reply("@forgetmenot_bot what does bob play?")
    first, second = (request.prompt for request in stage.model.asked)
    assert "plays the marimba" in first
    assert "marimba" not in " ".join([second, *stage.said])


@pytest.mark.parametrize("way", [*WAYS, "cleared"])
async def test_what_is_taken_back_while_a_reply_waits_for_a_place_is_not_said(
    stage: Stage, way: str
) -> None:
    note = await stage.know("plays the marimba", "2")
    stage.model.answers = ["Bob plays the marimba."]
    async with full_queue(
        stage, stage.reply("@forgetmenot_bot what does bob play?")
    ) as task:
        await (
            WAYS[way](stage, note) if way in WAYS else clear(stage, viewer_id="1")
        )  # who asked
    reply = await task
    assert (reply.status, reply.detail) == (ReplyStatus.DROPPED, CLEARED)
    assert "marimba" not in " ".join([(await stage.row(reply.id)).text, *stage.said])


async def test_a_list_of_notes_that_waits_for_a_place_does_not_name_what_was_forgotten(
    stage: Stage,
) -> None:
    note = await stage.know("plays the marimba")
    await stage.hear("@forgetmenot_bot hello")
    async with full_queue(
        stage,
        stage.outbox.say_line("I know that Alice plays the marimba.", viewer_id="1"),
    ) as task:
        await stage.clock.advance(500)
        await forget_fact(stage.db, note, at=stage.clock.now())
    assert (await task).status is ReplyStatus.DROPPED
    assert "marimba" not in " ".join(stage.said)


async def opt_out_now(stage: Stage, viewer_id: str) -> None:
    async with stage.db.write() as tx:
        await privacy_choices.opt_out(tx, viewer_id, stage.clock.now())


async def erase_now(stage: Stage, viewer_id: str) -> None:
    await erase(stage.db, viewer_id, now=stage.clock.now())


@pytest.mark.parametrize("wish", [opt_out_now, erase_now])
async def test_an_answer_about_somebody_that_waits_is_not_sent_once_they_want_out(
    stage: Stage, wish: Callable[[Stage, str], Awaitable[None]]
) -> None:
    await stage.hear("hello", "2")
    line = "Bob: plays the marimba."
    answer = stage.outbox.say_line(
        line, viewer_id="1", people=LinePeople(frozenset("2"))
    )
    async with full_queue(stage, answer) as task:
        await wish(stage, "2")
    assert (await task).status is ReplyStatus.DROPPED
    assert line not in stage.said
    assert line not in await stage.db.column("SELECT text FROM bot_messages")


@pytest.mark.parametrize("wish", [opt_out_now, erase_now])
async def test_an_answer_that_names_somebody_else_is_not_sent_once_they_want_out(
    stage: Stage, wish: Callable[[Stage, str], Awaitable[None]]
) -> None:
    await stage.hear("hello", "2")
    line = "What I know about you: plays duets with Bob #1"
    people = LinePeople(about=frozenset("1"), named=frozenset("2"))
    answer = stage.outbox.say_line(line, viewer_id="1", people=people)
    async with full_queue(stage, answer) as task:
        await wish(stage, "2")
    assert (await task).status is ReplyStatus.DROPPED
    assert line not in stage.said


@pytest.mark.parametrize("wish", [opt_out_now, erase_now])
async def test_an_answer_about_somebody_is_not_sent_if_they_want_out_before_its_row(
    stage: Stage, wish: Callable[[Stage, str], Awaitable[None]]
) -> None:
    await stage.hear("hello", "2")
    line = "Bob: plays the marimba."
    wanting_out = asyncio.ensure_future(wish(stage, "2"))
    async with stage.db.write():
        # the wish waits for its turn to write, and the answer behind it
        await asyncio.sleep(0)
        saying = stage.outbox.say_line(
            line, viewer_id="1", people=LinePeople(frozenset("2"))
        )
        answer = asyncio.create_task(saying)
        await asyncio.sleep(0.05)
    await wanting_out
    assert (await answer).status is ReplyStatus.DROPPED
    assert line not in stage.said


async def test_the_answer_to_whoever_opted_somebody_out_is_sent(stage: Stage) -> None:
    await stage.hear("hello", "2")
    await opt_out_now(stage, "2")
    line = "Done: nothing from Bob is stored from now on."
    answer = stage.outbox.say_line(
        line, viewer_id="1", people=LinePeople(frozenset("2"))
    )
    async with full_queue(stage, answer) as task:
        pass
    assert (await task).status is ReplyStatus.SENT


async def test_an_answer_to_a_moderator_that_waits_does_not_say_what_was_forgotten(
    stage: Stage,
) -> None:
    note = await stage.know("plays the marimba")
    await stage.hear("hello", "2")
    line = "Alice: plays the marimba."
    answer = stage.outbox.say_line(
        line, viewer_id="2", people=LinePeople(frozenset("1"))
    )
    async with full_queue(stage, answer) as task:
        await stage.clock.advance(500)
        await forget_fact(stage.db, note, at=stage.clock.now())
    assert (await task).status is ReplyStatus.DROPPED


async def test_what_only_a_summary_told_leaves_prefix_and_reply_once_it_is_forgotten(
    stage: Stage,
) -> None:
    note = await remember(
        stage.db, "2", "plays the marimba", by="2", at=stage.clock.now()
    )
    now = stage.clock.now()
    await stage.hear("what a lap", "2")
    # not all words of the note: else the correction alone would leave the sentence out
    summary = "<@2> practises the marimba. The lap of <@2> was lost."
    assert await episodes.write(
        stage.db,
        NewEpisode(
            EpisodeKind.CHAT, 1, now, now, summary, {"2": Participation(1, 0)}, [1]
        ),
        now,
    )
    await edit(
        stage.db, note.id, "plays the kazoo", by="2", at=now, privacy=PrivacySettings()
    )
    stage.model.answers = ["Bob plays the marimba."]
    async with full_queue(
        stage, stage.reply("@forgetmenot_bot tell me about bob")
    ) as task:
        assert "marimba" in stage.model.asked[-1].prompt
        await forget_fact(stage.db, note.id, at=stage.clock.now())
    assert (await task).status is ReplyStatus.DROPPED
    assert "marimba" not in (await stage.keeper.current()).prefix.text


async def test_what_is_being_forgotten_while_an_answer_gets_its_place_is_neither_said_nor_kept(
    stage: Stage,
) -> None:
    """The wish is there when the message is queued, and done when it wants to be written."""
    requests = stage.db.requests
    text = "What I know about you: plays the kazoo in Zanzibar"
    task = asyncio.create_task(stage.outbox.say_line(text, viewer_id="1"))
    while not stage.outbox.waiting:  # noqa: ASYNC110  # the queue tells nobody
        await asyncio.sleep(0)
    words = requests.hashed("1", fact_stems("plays the kazoo in Zanzibar"))
    requests.add(
        requests.of(RequestKind.FORGET, "1", stage.clock.now() + 1, words=words)
    )
    assert ((await task).status, stage.said) == (ReplyStatus.DROPPED, [])
    assert await stage.db.column("SELECT text FROM bot_messages") == [""]


async def test_the_answer_that_quotes_what_was_forgotten_is_not_kept(
    stage: Stage,
) -> None:
    note = await stage.know("plays the kazoo in Zanzibar")
    await forget_fact(stage.db, note, at=stage.clock.now())
    answers = [
        "Permanently deleted: #1 plays the kazoo in Zanzibar",
        "What I know about you: lives in Oslo",
    ]
    for text in answers:
        await stage.outbox.say_line(text, viewer_id="1")
    assert stage.said == answers
    assert await stage.db.column("SELECT text FROM bot_messages ORDER BY id") == [
        "",
        answers[1],
    ]


async def test_what_was_said_again_from_the_thread_is_cleared_too(stage: Stage) -> None:
    """A prompt shows the bot's own lines to somebody in their conversation, among lines of chat."""
    line = await stage.hear(SECRET, "2")
    stage.model.answers = [f"Bob said {SECRET}.", "Once more: of the safe, marmot."]
    first = await stage.reply("@forgetmenot_bot what did bob say?")
    for number in range(25):  # what bob said has left the chat that a prompt shows
        await stage.hear(f"line {number}", "3")
    await stage.clock.advance(60 * SECOND)
    second = await stage.reply("@forgetmenot_bot say it again")
    assert SECRET not in fenced_texts(stage.model.asked[1].prompt)["chat"]
    await clear(stage, viewer_id="2")
    async with stage.db.write() as tx:
        await bot_messages.clear_since(
            tx, line.at + 1, at=stage.clock.now(), viewer_id="2"
        )
    assert [(await stage.row(reply.id)).text for reply in (first, second)] == ["", ""]


async def test_who_is_cleared_is_named_by_a_whole_word_alone(stage: Stage) -> None:
    """A timeout of somebody called `art` takes no reply about a party with it."""
    line = await stage.hear("hello", "2")
    async with stage.db.write() as tx:
        await tx.execute(
            "UPDATE viewers SET login = 'art', display_name = 'Art' WHERE id = '2'"
        )
    for text in ("What a party!", "Art is right."):
        await stage.outbox.say_line(text, viewer_id="1")
    async with stage.db.write() as tx:
        await tx.execute("UPDATE bot_messages SET \"trigger\" = 'mention'")
        await bot_messages.clear_since(tx, line.at, at=stage.clock.now(), viewer_id="2")
    texts = await stage.db.column("SELECT text FROM bot_messages ORDER BY id")
    assert texts == ["What a party!", ""]


async def test_a_quote_that_is_removed_while_the_model_thinks_is_left_out(
    stage: Stage,
) -> None:
    now = stage.clock.now()
    async with stage.db.write() as tx:
        row = quotes.NewQuote("2", "marmots are honest", "m1", 1, now, None)
        quote_id = await quotes.add(tx, row)

    async def remove() -> None:
        quote = await quotes.get(stage.db, quote_id)
        assert quote is not None
        async with stage.db.write() as tx:
            await quotes.remove(tx, quote, stage.clock.now())

    stage.model.answers = ["Bob: marmots are honest.", "I forgot."]
    stage.model.meanwhile = remove
    reply = await stage.reply("@forgetmenot_bot when was that about marmots?")
    assert "marmots are honest" in stage.model.asked[0].prompt
    assert (reply.status, stage.said) == (ReplyStatus.SENT, ["I forgot."])
    assert "marmots are honest" not in stage.model.asked[1].prompt
