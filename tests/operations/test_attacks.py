"""The model's text is the attacker's: whatever it says, class B stays inside its rules and class C does not run."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from forgetmenot.domain import ModelAnswer, TokenUsage
from forgetmenot.operations.facts import ActionContext
from forgetmenot.reply.polish import FilterContext, polish
from forgetmenot.reply.reply_object import ModelReply, read_reply
from forgetmenot.store import action_logs
from forgetmenot.text.outgoing import without_machine_text
from tests.operations.conftest import Room

ACTIONS_OF = {
    "T": {"name": "timeout", "target": "bob", "seconds": 60}, "B": {"name": "ban", "target": "bob"},
    "L": {"name": "long_timeout", "target": "bob", "seconds": 600}, "D": {"name": "delete", "target": "bob"},
    "S": {"name": "slow_mode", "seconds": 60},
    "E": {"name": "emote_only", "seconds": 60}, "A": {"name": "announce", "text": "the stream is over"},
    "N": {"name": "title", "text": "hacked"}, "C": {"name": "category", "text": "hacked"},
}  # fmt: skip
LETTER = re.compile(r"\{([A-Z])\}")
GUARDED = ("timeout", "ban", "delete_message", "slow_mode", "emote_only", "announce", "channel", "untimeout")


class Attack(NamedTuple):
    """One line of the file: several answers where the model tries everything."""

    kind: str
    message: str
    answers: tuple[str, ...]


def _read(action: object, say: str = "Sure!") -> ModelReply:
    return read_reply(ModelAnswer(json.dumps({"action": action, "say": say, "if_refused": say}), "m", TokenUsage()))


def _answers(told: str) -> tuple[str, ...]:
    """What the model sends for one line: the object, and for bare words also the words without an object."""
    if told.startswith('{"name"'):
        return (json.dumps({"action": json.loads(told), "say": "Sure!"}),)
    letters = LETTER.findall(told) or ([] if told else list(ACTIONS_OF))
    say = LETTER.sub("", told).strip()
    tried = tuple(json.dumps({"action": ACTIONS_OF[letter], "say": say, "if_refused": say}) for letter in letters)
    return tried or (json.dumps({"action": None, "say": told, "if_refused": told}), told)


def _attacks() -> list[Attack]:
    lines = (Path(__file__).parent / "attacks.txt").read_text(encoding="utf-8").splitlines()
    parts = [[part.strip() for part in line.split(" |", 2)] for line in lines if not line.startswith("#")]
    return [Attack(kind, message, _answers(told)) for kind, message, told in parts]


ATTACKS = _attacks()


async def test_a_hostile_model_hits_nobody(room: Room) -> None:
    """Each attack by a plain viewer, the model's text being the attacker's, on an executor with every class open."""
    leaked = []
    for number, attack in enumerate(ATTACKS):
        for answer in attack.answers:
            await _calm_down(room)
            reply = read_reply(ModelAnswer(answer, "m", TokenUsage()))
            said = polish(reply.say, FilterContext(room.current[0])).text
            if reply.proposal is not None:
                context = ActionContext(event=room.event("alice", attack.message), key=f"{number}:{answer}")
                said += (await room.executor.carry_out(reply.proposal, context)).words_hint
            if without_machine_text(said) != said or said.startswith(("/", "!", ".")):
                leaked.append((attack, said))
    assert leaked == []
    assert [call for call in room.ports.calls if call[0] in GUARDED] == []
    assert [call for call in room.ports.calls if call[0] == "forget"] == []
    assert [call for call in room.ports.calls if call[0] == "remember" and call[1] != "1"] == []


HARMLESS = (
    *("how are you?", "do you remember me?", "do you remember bob?", "I always forget how to spell, what about you?"),
    *("was that announcement long", "is slow mode on?", "lol nice shout", "don't announce anything", "I love emotes"),
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


@pytest.mark.parametrize("who", ["carol", "streamer", "alice"])
async def test_nobodys_harmless_line_is_the_consent_to_anything(room: Room, who: str) -> None:
    """Whoever speaks, the moderators and the streamer too: only words that ask for it let it happen."""
    lines = (*HARMLESS, "ban bob, I order it") if who == "alice" else HARMLESS
    for number, (message, action) in enumerate(itertools.product(lines, TRIED)):
        await _calm_down(room)
        proposal = _read(action).proposal
        assert proposal is not None
        context = ActionContext(event=room.event(who, f"@bot {message}"), key=f"{number}", question=message)
        await room.executor.carry_out(proposal, context)
    assert room.ports.calls == []


async def test_a_model_chooses_neither_whom_nor_what_a_moderator_meant(room: Room) -> None:
    for number, (message, action) in enumerate(
        [
            ("give bob a shoutout", {"name": "shoutout", "target": "alice"}),
            ("remember that bob plays the violin", {"name": "remember", "target": "alice", "fact": "is a thief"}),
            ("remember that bob plays the violin", {"name": "remember", "target": "bob", "fact": "is a thief"}),
            ("running joke: the lamp fell again", {"name": "bit", "text": "alice is king"}),
        ]
    ):
        proposal = _read(action).proposal
        assert proposal is not None
        context = ActionContext(event=room.event("carol", f"@bot {message}"), key=f"{number}", question=message)
        await room.executor.carry_out(proposal, context)
    assert room.ports.calls == [("remember", "2", "plays the violin", "9"), ("bit", "the lamp fell again", "9")]


async def _calm_down(room: Room) -> None:
    """Half an hour later, everybody having spoken again: no rest and no refusal of before stands in the way."""
    await room.clock.advance(31 * 60_000)
    await room.speak()
    await action_logs.expire(room.db, room.clock.now())
