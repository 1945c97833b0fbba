"""A question about what somebody just said of themselves hastens the summary, at most once a minute."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ModelRequest, Purpose
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.reply.explain import preview
from forgetmenot.settings.load import convert
from forgetmenot.store import notes
from tests.stage import ScriptedModel, answering, live_bot, said

USUAL = {"bot": {"mode": "mentions", "notice": ""}, "twitch": {"channel": "carol"}}
# so that one line is enough for a summary
SETTINGS = convert(USUAL | {"memory": {"window_min_events": 1}}, "the test")
STATEMENT = "my hamster is called Pixel"
QUESTION = "@forgetmenot_bot what is my hamster called?"


class HamsterModel(ScriptedModel):
    """Summarises that somebody has a hamster, and notes it."""

    def __init__(self) -> None:
        super().__init__()
        self.reply = self._answer

    def _answer(self, request: ModelRequest) -> str:
        if request.purpose is Purpose.SUMMARY:
            owner = re.search(rf"(P\d+): {STATEMENT}", request.prompt)
            sentence = (
                f"{owner[1]} has a hamster called Pixel." if owner else "Chat talked."
            )
            return json.dumps({"summary": sentence})
        if request.purpose is Purpose.EXTRACT:
            owner = re.search(r"(P\d+) has a hamster", request.prompt)
            if owner is None:
                return json.dumps({"notes": []})
            note = {
                "who": owner[1],
                "said_by": owner[1],
                "fact": "has a hamster called Pixel",
            }
            return json.dumps({"notes": [note]})
        return answering("Pixel!")

    @property
    def summaries(self) -> int:
        return sum(request.purpose is Purpose.SUMMARY for request in self.asked)


class Evening:
    """A bot in the middle of an evening, of which something is summarised already."""

    def __init__(self, bot: Bot, clock: ManualClock, model: HamsterModel) -> None:
        self.bot = bot
        self.clock = clock
        self.model = model
        self.lines = 0

    async def say(self, text: str, viewer_id: str = "1", login: str = "alice") -> None:
        await self.clock.advance(SECOND)
        self.lines += 1
        await self.bot.hear(
            said(self.clock, f"line{self.lines}", viewer_id, login, text)
        )
        await self.bot.settle()

    async def minutes(self, count: int) -> None:
        for _ in range(count):
            await self.clock.advance(MINUTE)
            await self.bot.tasks.catch_up()


@pytest.fixture
async def evening(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Evening]:
    model = HamsterModel()
    async with live_bot(tmp_path / "m.sqlite3", clock, lambda: SETTINGS, model) as (
        bot,
        _account,
    ):
        await bot.ingest.flush()
        made = Evening(bot, clock, model)
        await made.say("what a race that was yesterday")
        await bot.remember_all()
        await made.minutes(3)
        yield made


async def test_what_is_asked_about_is_a_note_a_minute_later(evening: Evening) -> None:
    await evening.say(STATEMENT)
    await evening.say(QUESTION)
    await evening.minutes(1)
    assert [note.fact for note in await notes.of_subject(evening.bot.db, "1")] == [
        "has a hamster called Pixel"
    ]


async def test_a_few_lines_wait_for_more(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question finds them as they were typed."""
    monkeypatch.setitem(globals(), "SETTINGS", convert(USUAL, "the test"))
    before = evening.model.summaries
    await evening.say(STATEMENT)
    await evening.say(QUESTION)
    assert STATEMENT in evening.model.asked[-1].prompt
    await evening.minutes(2)
    assert evening.model.summaries == before


async def test_it_is_hastened_once_a_minute_at_most(evening: Evening) -> None:
    before = evening.model.summaries
    for number in range(3):
        await evening.say(f"{STATEMENT} number {number}")
        await evening.say(QUESTION)
        await evening.bot.tasks.catch_up()
    await evening.minutes(1)
    assert evening.model.summaries - before <= 2


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        (STATEMENT, "@forgetmenot_bot what do you think of bees?"),
        ("that hamster was fast", QUESTION),
    ],
)
async def test_other_questions_hasten_nothing(
    evening: Evening, statement: str, question: str
) -> None:
    before = evening.model.summaries
    await evening.say(statement)
    await evening.say(question)
    await evening.minutes(2)
    assert evening.model.summaries == before


async def test_nor_does_a_question_to_all_that_somebodys_line_answers(
    evening: Evening,
) -> None:
    before = evening.model.summaries
    await evening.say(STATEMENT)
    await evening.say("@forgetmenot_bot who has a hamster?", "2", "bob")
    reply = evening.model.asked[-1]
    assert f"not summarised yet] Alice: {STATEMENT}" in reply.prompt
    await evening.minutes(2)
    assert evening.model.summaries == before


async def test_a_preview_hastens_nothing(evening: Evening) -> None:
    before = evening.model.summaries
    await evening.say(STATEMENT)
    await preview(
        "alice", QUESTION, db=evening.bot.db, settings=SETTINGS, clock=evening.clock
    )
    await evening.minutes(2)
    assert evening.model.summaries == before


async def test_what_is_summarised_meanwhile_is_not_read_again(evening: Evening) -> None:
    await evening.say(STATEMENT)
    await evening.say(QUESTION)
    await evening.bot.remember_all()
    before = evening.model.summaries
    await evening.say("nice jump there, what a run")
    await evening.minutes(2)
    assert evening.model.summaries == before
