"""The demo's model: replies to its questions as an AI model writes them, recorded; the rest is the offline model's.

A recorded reply is spoken only if the memory brought up, for this very question, the note that it needs. So the demo
shows what the bot remembers, and only the wording is recorded.
"""

import asyncio
import json
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


def build_demo_models(settings: ModelSettings, meter: CallMeter) -> Models:
    """Return the demo's two models: recorded replies, and the offline rules for the memory."""
    limits = Limits(settings.reply_timeout_s, settings.memory_timeout_s)
    return Models(
        reply=GuardedModel(NAME, RecordedReplies, meter=meter, limits=limits),
        memory=GuardedModel(Offline.name, Offline, meter=meter, limits=limits),
    )


class RecordedReplies(LanguageModel):
    """A LanguageModel that words some of the offline model's replies differently."""

    name = NAME

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer a question; never an error."""
        if request.purpose is not Purpose.REPLY:
            return await Offline().generate(request)
        reply = await asyncio.to_thread(worded, request)
        text = json.dumps(reply, ensure_ascii=False)
        return ModelAnswer(text, self.name, TokenUsage(0, 0, 0, 0))

    async def aclose(self) -> None:
        """Nothing to close."""


def worded(request: ModelRequest) -> dict[str, Any]:
    """Return the offline model's reply object, with a recorded wording if there is one for its note."""
    reply = dict(answer(request.system, request.prompt, request.language))
    if not reply["notes"]:
        return reply
    message = fenced_texts(request.prompt).get("message", "")
    for recorded in REPLIES:
        if recorded.question in message and recorded.fact in reply["say"]:
            reply["say"] = recorded.reply
    return reply
