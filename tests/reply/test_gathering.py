"""A question over several lines is one question."""

import asyncio

import pytest
from msgspec.structs import replace

from forgetmenot.durations import SECOND
from forgetmenot.reply.engine import Reply
from forgetmenot.settings.schema import ReplySettings
from tests.stage import Stage

PATIENT = ReplySettings(gather_s=2, viewer_gap_s=0)


@pytest.fixture
def patient(stage: Stage) -> Stage:
    """A stage whose bot waits for the rest of a question."""
    stage.settings = replace(stage.settings, reply=PATIENT)
    return stage


class Typing:
    """People who type, each line considered while the ones before still are."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.replies: list[asyncio.Task[Reply | None]] = []

    async def line(self, text: str, viewer: str = "1", pause_ms: int = 1_200) -> None:
        """Somebody types a line; when it is answered or waits for the clock, time passes."""
        event = await self.stage.hear(text, viewer)
        self.stage.engine.take(event)
        self.replies.append(_task_named(f"reply to {event.id}"))
        await asyncio.wait_for(self.stage.engine.idle(), 60)
        await self.stage.clock.advance(pause_ms)

    async def answered(self) -> list[str]:
        """The words of the answers, after everything is answered."""
        await self.stage.clock.advance(10 * SECOND)
        replies = await asyncio.wait_for(asyncio.gather(*self.replies), 60)
        return [reply.text for reply in replies if reply is not None and reply.text]


def _task_named(name: str) -> asyncio.Task[Reply | None]:
    """The task of that name: the engine starts one for each line, and hands none out."""
    [task] = [task for task in asyncio.all_tasks() if task.get_name() == name]
    return task


async def test_three_lines_of_one_person_are_one_question(patient: Stage) -> None:
    typing = Typing(patient)
    await typing.line("@ForgetMeNot do you remember")
    await typing.line("the thing with the boss")
    await typing.line("from last stream?")
    assert len(await typing.answered()) == 1
    assert len(patient.model.asked) == 1
    lines = patient.model.asked[0].prompt.rpartition("<message>\n")[2].splitlines()
    assert lines[:3] == [
        "Alice: @ForgetMeNot do you remember",
        "Alice: the thing with the boss",
        "Alice: from last stream?",
    ]


async def test_others_may_speak_in_between(patient: Stage) -> None:
    typing = Typing(patient)
    await typing.line("@ForgetMeNot do you remember", pause_ms=500)
    await typing.line("what a lap", "2", pause_ms=500)
    await typing.line("@bob nice one", pause_ms=500)
    assert len(await typing.answered()) == 1
    assert "nice one" not in patient.model.asked[0].prompt.rpartition("<message>")[2]


async def test_a_line_that_a_moderator_clears_takes_the_whole_question_with_it(
    patient: Stage,
) -> None:
    typing = Typing(patient)
    await typing.line("@ForgetMeNot do you remember")
    await typing.line("the thing with the boss", pause_ms=500)
    async with patient.db.write() as tx:
        await tx.execute("UPDATE events SET redacted_at = 1, text = '' WHERE id = 'e1'")
    assert await typing.answered() == []
    assert patient.model.asked == []


@pytest.mark.parametrize("text", ["@ForgetMeNot hi", "@ForgetMeNot do you remember?"])
async def test_what_is_whole_is_answered_at_once(patient: Stage, text: str) -> None:
    started = patient.clock.now()
    assert (await asyncio.wait_for(patient.reply(text), 60)).text
    assert patient.clock.now() == started


async def test_what_stops_in_the_middle_is_answered_after_two_seconds(
    patient: Stage,
) -> None:
    typing = Typing(patient)
    await typing.line("@ForgetMeNot do you remember", pause_ms=1_900)
    assert patient.model.asked == []
    assert len(await typing.answered()) == 1


async def test_what_comes_within_the_cooldown_joins_the_line_that_waits(
    patient: Stage,
) -> None:
    patient.settings = replace(
        patient.settings, reply=replace(PATIENT, viewer_gap_s=10)
    )
    typing = Typing(patient)
    await typing.line("@ForgetMeNot what do I play?")
    await typing.line("@ForgetMeNot and who else plays it?")
    await typing.line("and since when?")
    assert len(await typing.answered()) == 2
    assert len(patient.model.asked) == 2
