"""A "remember when …?" gets the day, the minute of the stream and its video's second, in the words of whoever asks."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import Prompt, Scope, Video
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.prompt.assemble import assemble
from forgetmenot.reply.context import ContextGatherer, compose
from forgetmenot.reply.output_filters import polish
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.reply.writer import filter_context
from forgetmenot.settings.schema import Settings
from forgetmenot.store import notes, privacy_choices, quotes, streams
from forgetmenot.text.days import iso_day
from forgetmenot.text.questions import asks_when
from tests.rows import put
from tests.stage import live_bot, said

ALICE = "771234501"
BOB = "771234502"
CAROL = "771234503"


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    """A month ago there was a stream of three hours."""
    async with live_bot(tmp_path / "memory.sqlite3", clock, Settings) as (
        bot,
        _account,
    ):
        began_at = clock.now()
        async with bot.db.write() as tx:
            for viewer_id, login in ((ALICE, "alicequux"), (CAROL, "carolquux")):
                await put(tx, "viewers", id=viewer_id, login=login)
            stream_id = await put(
                tx,
                "streams",
                started_at=began_at,
                last_event_at=began_at + 3 * HOUR,
                ended_at=began_at + 3 * HOUR,
            )
            await streams.set_video(
                tx, stream_id, Video(77, began_at - MINUTE, began_at + 60 * DAY)
            )
            for number, summary in enumerate(SUMMARIES):
                episode_at = began_at + number * 20 * MINUTE
                await put(
                    tx,
                    "episodes",
                    stream_id=stream_id,
                    summary=summary,
                    started_at=episode_at,
                    ended_at=episode_at + 19 * MINUTE,
                )
            await quotes.add(
                tx,
                quotes.NewQuote(
                    CAROL,
                    "stairs are ladders that gave up",
                    "m1",
                    stream_id,
                    began_at + 100 * MINUTE,
                    None,
                ),
            )
        await clock.advance(30 * DAY)
        yield bot


SUMMARIES = (
    "Chat talked about the weather.",
    f"<@{CAROL}> said it rains. <@{ALICE}>'s sourdough bread came out of the oven as a brick.",
    f"<@{CAROL}> lost the map. The boss of the mines was beaten.",
)


async def prompt_of(bot: Bot, clock: ManualClock, text: str) -> Prompt:
    """What the model is shown when Bob asks."""
    question = said(clock, "question", BOB, "bobquux", text)
    trigger = Trigger(TriggerKind.MENTION, question, question=text)
    gatherer = ContextGatherer(db=bot.db, recall=bot.recall, clock=clock)
    material = await gatherer.tail(trigger, bot.settings(), bot_id="")
    return assemble((await bot.keeper.current()).prefix, material, bot.settings())


def book(answer_prompt: Prompt) -> str:
    return "".join(
        section.text
        for section in answer_prompt.sections
        if section.name == "past_episode"
    )


async def test_the_prompt_has_day_minute_and_video(
    bot: Bot, clock: ManualClock
) -> None:
    rows = book(await prompt_of(bot, clock, "remember when that loaf turned out hard?"))
    day = iso_day(clock.now() - 30 * DAY, bot.settings().bot.timezone)
    link = "https://www.twitch.tv/videos/77?t=0h21m0s"
    assert f"({day}, 4 weeks ago, at 0:20–0:39 of the stream, video: {link})" in rows
    assert "Alicequux's sourdough bread came out of the oven as a brick." in rows
    assert "weather" not in rows


async def test_a_sentence_whose_line_is_known_has_its_very_second(
    bot: Bot, clock: ManualClock
) -> None:
    began_at = clock.now() - 30 * DAY
    times = f"[0, {began_at + 33 * MINUTE}]"
    async with bot.db.write() as tx:
        sql = "UPDATE episodes SET sentence_times = ? WHERE summary LIKE '%brick%'"
        await tx.execute(sql, (times,))
    question = "remember when that loaf turned out hard?"
    rows = book(await prompt_of(bot, clock, question))
    link = "https://www.twitch.tv/videos/77?t=0h34m0s"
    assert f"at 0:33 of the stream, video: {link})" in rows
    # a summary that lost a sentence: nobody knows any more which time is whose
    async with bot.db.write() as tx:
        await tx.execute(
            "UPDATE episodes SET summary = ? WHERE summary LIKE '%brick%'",
            (SUMMARIES[1].partition(". ")[2],),
        )
    bot.recall.forget()
    rows = book(await prompt_of(bot, clock, question))
    assert "at 0:20–0:39 of the stream" in rows


async def test_a_quote_is_found_with_its_very_minute(
    bot: Bot, clock: ManualClock
) -> None:
    answer_prompt = await prompt_of(
        bot, clock, "when did somebody say that about the stairs?"
    )
    rows = book(answer_prompt)
    assert "at 1:40 of the stream" in rows
    assert "Carolquux: “stairs are ladders that gave up”" in rows


async def test_a_german_question_finds_it_and_is_answered_in_german(
    bot: Bot, clock: ManualClock
) -> None:
    async with bot.db.write() as tx:
        await tx.execute(
            "UPDATE episodes SET summary = ? WHERE summary LIKE '%brick%'",
            (f"<@{ALICE}> hat ein Brot gebacken, das hart wie Stein war.",),
        )
    text = "weißt du noch, als das Brot so hart wie ein Stein war?"
    answer_prompt = await prompt_of(bot, clock, text)
    assert "at 0:20–0:39 of the stream" in book(answer_prompt)
    assert "which you answer in German" in answer_prompt.tail


async def test_nobody_hidden_and_nothing_suppressed_is_in_it(
    bot: Bot, clock: ManualClock
) -> None:
    async with bot.db.write() as tx:
        await privacy_choices.opt_out(tx, CAROL, clock.now())
        await notes.add_suppression(
            tx, ALICE, "sourdough", note_id=None, by_id=ALICE, at=clock.now()
        )
    rows = book(
        await prompt_of(bot, clock, "when was that thing with stairs and maps?")
    )
    assert "stairs" not in rows
    assert "Carolquux" not in rows
    rows = book(await prompt_of(bot, clock, "remember when the sourdough was a brick?"))
    assert "sourdough" not in rows


async def test_when_was_that_is_about_the_line_before(
    bot: Bot, clock: ManualClock
) -> None:
    await bot.hear(said(clock, "1", BOB, "bobquux", "that boss of the mines, beaten"))
    await bot.settle()
    await clock.advance(MINUTE // 6)
    rows = book(await prompt_of(bot, clock, "when was that?"))
    assert "at 0:40–0:59 of the stream" in rows
    assert "The boss of the mines was beaten." in rows


async def test_a_note_is_found_at_the_minute_when_it_was_first_said(
    bot: Bot, clock: ManualClock
) -> None:
    said_at = clock.now() - 30 * DAY + 75 * MINUTE
    async with bot.db.write() as tx:
        await put(
            tx,
            "semantic_notes",
            scope=Scope.RUNNING_BIT,
            fact="whoever dies blames the parrot",
            first_said_at=said_at,
            last_confirmed_at=said_at,
        )
    rows = book(await prompt_of(bot, clock, "when did the parrot get blamed first?"))
    assert "at 1:15 of the stream" in rows
    assert "whoever dies blames the parrot" in rows


async def test_the_link_may_be_sent_and_no_other(bot: Bot, clock: ManualClock) -> None:
    question = said(clock, "q", BOB, "bobquux", "remember when the loaf was hard?")
    trigger = Trigger(TriggerKind.MENTION, question, question=question.text)
    gatherer = ContextGatherer(db=bot.db, recall=bot.recall, clock=clock)
    composed = await compose(bot.keeper, gatherer, trigger, bot.settings(), bot_id="")
    context = filter_context(trigger, composed, bot.settings())
    link = "https://www.twitch.tv/videos/77?t=0h21m0s"
    assert polish(f"That was here: {link}", context).text.endswith(link)
    for other in (link.replace("77", "78"), f"{link}9", "https://example.org/77"):
        assert "http" not in polish(f"That was here: {other}", context).text


@pytest.mark.parametrize(
    "text",
    [
        "remember when he fell?",
        "when did heidi get her cat?",
        "which stream was it with the lamp?",
        "weißt du noch, als er fiel?",
        "wann war das mit dem Turm?",
        "te acuerdas de cuando cayó?",
        "tu te souviens du pain?",
        "ti ricordi la torre?",
        "あの塔のこと覚えてる？",
    ],
)
def test_who_asks_when(text: str) -> None:
    assert asks_when(text)


@pytest.mark.parametrize(
    "text",
    ["when do you stream?", "what game is this?", "I remember", "wann spielst du?"],
)
def test_who_does_not(text: str) -> None:
    assert not asks_when(text)
