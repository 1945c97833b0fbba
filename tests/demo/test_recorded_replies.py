"""The demo's recorded replies: spoken only for the note that the memory brought up."""

import json

import pytest

from forgetmenot.demo.recorded_replies import (
    RECAPS,
    REPLIES,
    Recorded,
    RecordedModel,
    recorded_recap,
)
from forgetmenot.demo.show import load
from forgetmenot.domain import ModelRequest, Purpose
from forgetmenot.text.mentions import fence


def request(fact: str, question: str) -> ModelRequest:
    notes = fence("lore", f"[id:7] {fact}")
    message = fence("message", f"heidi: @ForgetMeNot {question}")
    return ModelRequest(
        purpose=Purpose.REPLY,
        system="You are ForgetMeNot, a bot.",
        prompt=f"{notes}\n{message}",
        max_output_tokens=100,
    )


async def spoken(fact: str, question: str) -> str:
    answer = await RecordedModel().generate(request(fact, question))
    return str(json.loads(answer.text)["say"])


async def test_a_recorded_reply_needs_its_note() -> None:
    cat = REPLIES[0]
    question = f"do you remember {cat.question}"
    assert await spoken(cat.fact, question) == cat.reply
    assert await spoken("has a cat called Tom", question) == (
        "My notes about you say: “has a cat called Tom”."
    )
    assert await spoken("plays chess", question) == ""


@pytest.mark.parametrize("recorded", REPLIES)
def test_each_recorded_reply_answers_a_line_of_the_script(recorded: Recorded) -> None:
    assert [cue for cue in load("second_stream") if recorded.question in cue.text]


def test_a_recorded_recap_needs_its_facts_and_names_whom_they_are_of() -> None:
    recap = RECAPS[1]
    player, mover, learner = recap.facts.values()
    summaries = fence("episodes", f"P2's {player}. P5 {mover}.\nP1 {learner}.")
    text = recorded_recap(f"The stream of today.\n\n{summaries}")
    assert text is not None
    assert "P2 left Celeste" in text
    assert "P1 is learning Finnish" in text
    lacking = fence("episodes", f"P2's {player}. P5 {mover}.")
    assert recorded_recap(lacking) is None
