"""The demo's models: replies and recaps as an AI model writes them, recorded; the rest is the offline model's.

A recorded reply is spoken only if the memory brought up, for this very question, the note that it needs, and a recorded
recap is written only of a stream whose summaries hold its facts. So the demo shows what the bot remembers, and only the
wording is recorded. Replies are marked where the demo shows them, recaps in their own text.
"""

import asyncio
import json
import re
from typing import Any, NamedTuple

from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.llm.build import Models
from forgetmenot.llm.guarded import GuardedModel, Limits
from forgetmenot.llm.offline import Offline, answer
from forgetmenot.ports import CallMeter, LanguageModel
from forgetmenot.settings.schema import ModelSettings
from forgetmenot.text.mentions import fenced_texts

NAME = "recorded replies"


class Recorded(NamedTuple):
    """A reply, the words of the question that it answers, and the fact that has to be in the prompt."""

    question: str
    fact: str
    reply: str


REPLIES = (
    Recorded(
        "what my cat is called?",
        "has a cat called Miso",
        "Miso! One scratch behind the ears from all of us.",
    ),
    Recorded(
        "what is my favourite game?",
        "favourite game is Hades",
        "Hades, since a moment ago. Celeste will pretend it isn't hurt.",
    ),
    Recorded(
        "what instrument do I play?",
        "plays drums in a band",
        "You play drums, in a band. The ladder could use some rhythm.",
    ),
    Recorded(
        "how does dave drive?",
        "drives a very old green van",
        "In a very old green van: style over speed.",
    ),
    Recorded(
        "which languages does olivia speak?",
        "is learning Finnish",
        "Olivia is learning Finnish, so ask again in a few months.",
    ),
    Recorded(
        "where does bob live?",
        "moved to Oslo last week",
        "Oslo. Bob moved there last week, so go easy on the unpacking jokes.",
    ),
)


class RecordedRecap(NamedTuple):
    """A recap. Each name in braces stands for whoever the summaries say its fact of."""

    facts: dict[str, str]
    text: str


# The last sentence of each recorded recap.
RECORDED = "(Recorded for the demo.)"
RECAPS = (
    RecordedRecap(
        {
            "cat_owner": "has a cat called Miso",
            "early_bird": "lives in Wellington",
            "driver": "drives a very old green van",
        },
        "The clock tower was climbed at last. {early_bird} watched from Wellington, "
        "where it was morning already, {cat_owner} watched with a cat called Miso, "
        "and {driver} came with news of a very old green van.",
    ),
    RecordedRecap(
        {
            "player": "favourite game is Hades",
            "mover": "moved to Oslo last week",
            "learner": "is learning Finnish",
        },
        "The evening of the lighthouse. {player} left Celeste for Hades, {mover} "
        "reported from the new home in Oslo, and {learner} is learning Finnish.",
    ),
)


def build_demo_models(settings: ModelSettings, meter: CallMeter) -> Models:
    """Return the demo's two models. Both know recorded words, and otherwise the offline rules."""
    limits = Limits(settings.reply_timeout_s, settings.memory_timeout_s)

    def guarded(name: str) -> GuardedModel:
        return GuardedModel(name, RecordedModel, meter=meter, limits=limits)

    # The second one is mostly the offline rules, and is shown under their name.
    return Models(reply=guarded(NAME), memory=guarded(Offline.name))


class RecordedModel(LanguageModel):
    """A LanguageModel that words some replies and recaps of the offline model differently."""

    name = NAME

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request; never an error."""
        if request.purpose is Purpose.REPLY:
            # The offline rules search the whole prompt: chat does not wait for it.
            reply = await asyncio.to_thread(recorded_reply, request)
            return self._answer(reply)
        if request.purpose is Purpose.RECAP:
            text = recorded_recap(request.prompt)
            if text is not None:
                return self._answer({"summary": text})
        return await Offline().generate(request)

    async def aclose(self) -> None:
        """Nothing to close."""

    def _answer(self, value: dict[str, Any]) -> ModelAnswer:
        """Return a JSON object as an answer that has cost nothing."""
        text = json.dumps(value, ensure_ascii=False)
        return ModelAnswer(text, self.name, TokenUsage(0, 0, 0, 0))


def recorded_reply(request: ModelRequest) -> dict[str, Any]:
    """Return the offline model's reply object, with a recorded wording if there is one for its note."""
    reply = dict(answer(request.system, request.prompt, request.language))
    # Without a note in it the offline model had nothing to say.
    if not reply["notes"]:
        return reply
    message = fenced_texts(request.prompt).get("message", "")
    for recorded in REPLIES:
        if recorded.question in message and recorded.fact in reply["say"]:
            reply["say"] = recorded.reply
    return reply


def recorded_recap(prompt: str) -> str | None:
    """Return the recap whose facts all stand in the summaries of a prompt; None if there is none."""
    summaries = fenced_texts(prompt).get("episodes", "")
    for recorded in RECAPS:
        handles = {}
        for name, fact in recorded.facts.items():
            # People are handles in a prompt: "P3 has a cat", "P3's favourite game".
            match = re.search(rf"(P\d+)(?:'s)? {re.escape(fact)}", summaries)
            if match is not None:
                handles[name] = match[1]
        # Of another evening, or of one whose summaries lack a fact, it would be invented.
        if len(handles) == len(recorded.facts):
            return f"{recorded.text.format_map(handles)} {RECORDED}"
    return None
