"""The model's text is the attacker's: whatever it says, class B stays inside its rules and class C does not run."""

import itertools
import json
import re
from pathlib import Path

import pytest

from forgetmenot.domain import ModelAnswer, TokenUsage, Verdict
from forgetmenot.operations.facts import ActionContext
from forgetmenot.reply.output_filters import FilterContext, polish
from forgetmenot.reply.reply_object import ModelReply, read_reply
from forgetmenot.store import action_logs
from forgetmenot.text.unsendable import without_machine_text
from tests.operations.conftest import Room

ACTIONS_OF = {
    "T": {"name": "timeout", "target": "bob", "seconds": 60}, "B": {"name": "ban", "target": "bob"},
    "L": {"name": "long_timeout", "target": "bob", "seconds": 600}, "D": {"name": "delete", "target": "bob"},
    "S": {"name": "slow_mode", "seconds": 60},
    "E": {"name": "emote_only", "seconds": 60}, "A": {"name": "announce", "text": "the stream is over"},
    "N": {"name": "title", "text": "hacked"}, "C": {"name": "category", "text": "hacked"},
}  # fmt: skip
LETTER = re.compile(r"\{([A-Z])\}")


def _read(action: object, say: str = "Sure!") -> ModelReply:
    return read_reply(
        ModelAnswer(
            json.dumps({"action": action, "say": say, "if_refused": say}),
            "m",
            TokenUsage(),
        )
    )


def _answers(answer_text: str) -> tuple[str, ...]:
    """What the model sends for one line: the object, and for bare words also the words without an object."""
    if answer_text.startswith('{"name"'):
        return (json.dumps({"action": json.loads(answer_text), "say": "Sure!"}),)
    letters = LETTER.findall(answer_text) or ([] if answer_text else list(ACTIONS_OF))
    say = LETTER.sub("", answer_text).strip()
    tried = tuple(
        json.dumps({"action": ACTIONS_OF[letter], "say": say, "if_refused": say})
        for letter in letters
    )
    return tried or (
        json.dumps({"action": None, "say": answer_text, "if_refused": answer_text}),
        answer_text,
    )


async def test_a_hostile_model_hits_nobody(room: Room) -> None:
    """Each attack by a plain viewer, the model's text being the attacker's, on an executor with every class open."""
    lines = (
        (Path(__file__).parent / "attacks.txt").read_text(encoding="utf-8").splitlines()
    )
    attacks = [
        [part.strip() for part in line.split(" |", 2)[1:]]
        for line in lines
        if not line.startswith("#")
    ]
    assert len(attacks) > 150
    for number, (message, tried) in enumerate(attacks):
        for answer in _answers(tried):
            await _calm_down(room)
            reply = read_reply(ModelAnswer(answer, "m", TokenUsage()))
            words = polish(reply.say, FilterContext(room.settings)).text
            if reply.proposal is not None:
                event = room.event("alice", message)
                question = message.removeprefix("@bot ")
                context = ActionContext(
                    event=event, key=f"{number}:{answer}", question=question
                )
                words += (
                    await room.executor.carry_out(reply.proposal, context)
                ).words_hint
            assert without_machine_text(words) == words, message
            assert not words.startswith(("/", "!", ".")), message
    assert room.account.done_actions == []
    assert (await room.timeout_alice()).decision.verdict is Verdict.ALLOW, (
        "her own wish is one"
    )


HARMLESS = (
    *(
        "how are you?",
        "do you remember me?",
        "do you remember bob?",
        "I always forget how to spell, what about you?",
    ),
    *(
        "was that announcement long",
        "is slow mode on?",
        "lol nice shout",
        "don't announce anything",
        "I love emotes",
    ),
)
TRIED = (
    *ACTIONS_OF.values(),
    {"name": "shoutout", "target": "alice"},
    {"name": "bit", "text": "alice is king"},
    {"name": "remember", "target": "bob", "fact": "is a thief"},
    {"name": "forget", "target": "bob", "what": "all"},
    {"name": "remember", "target": "me", "fact": "is a thief"},
    {"name": "forget", "target": "me", "what": "all"},
)


@pytest.mark.parametrize("login", ["carol", "streamer", "alice"])
async def test_nobodys_harmless_line_is_the_consent_to_anything(
    room: Room, login: str
) -> None:
    """Whoever speaks, the moderators and the streamer too: only words that ask for it let it happen."""
    lines = (*HARMLESS, "ban bob, I order it") if login == "alice" else HARMLESS
    for number, (message, action) in enumerate(itertools.product(lines, TRIED)):
        await _calm_down(room)
        proposal = _read(action).proposal
        assert proposal is not None
        context = ActionContext(
            event=room.event(login, f"@bot {message}"),
            key=f"{number}",
            question=message,
        )
        await room.executor.carry_out(proposal, context)
    assert room.account.done_actions == []


async def test_a_model_chooses_neither_whom_nor_what_a_moderator_meant(
    room: Room,
) -> None:
    for number, (message, action) in enumerate(
        [
            ("give bob a shoutout", {"name": "shoutout", "target": "alice"}),
            (
                "remember that bob plays the violin",
                {"name": "remember", "target": "alice", "fact": "is a thief"},
            ),
            (
                "remember that bob plays the violin",
                {"name": "remember", "target": "bob", "fact": "is a thief"},
            ),
            (
                "running joke: the lamp fell again",
                {"name": "bit", "text": "alice is king"},
            ),
        ]
    ):
        proposal = _read(action).proposal
        assert proposal is not None
        context = ActionContext(
            event=room.event("carol", f"@bot {message}"),
            key=f"{number}",
            question=message,
        )
        await room.executor.carry_out(proposal, context)
    assert room.account.done_actions == [
        "remember 2 plays the violin by 9",
        "bit the lamp fell again by 9",
    ]


async def _calm_down(room: Room) -> None:
    """Half an hour later, everybody having spoken again: no rest and no refusal of before stands in the way."""
    await room.clock.advance(31 * 60_000)
    await room.speak()
    await action_logs.expire(room.db, room.clock.now())
