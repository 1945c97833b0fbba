"""Asks a model for an answer of one form, and reads what it answers. Pure.

    {"action": {name, parameters} | null, "notes": [12], "say": …, "if_refused": …}

Guarantees:
- The schema holds the actions that are switched on and that this speaker could get by this line, and
  no others.
- A proposal comes from the object's `action` alone; no text inside `say` is ever one.
- An answer that is not such an object gives no words, but for a `say` that was cut off: its whole
  sentences.
- Reading never raises, whatever the text.

The schema gives names and types only: the instructions say what each field is for, and providers bill
both with every call.

`action` and `notes` stand first: what is done and what is known are settled before the words are
(docs/PROMPT.md).
"""

import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from msgspec import Struct

from forgetmenot.domain import (
    ModelAnswer,
    ModelRequest,
    Prompt,
    Proposal,
    Purpose,
    Role,
)
from forgetmenot.languages import reason
from forgetmenot.operations.actions import ACTIONS, NAMES, class_mode
from forgetmenot.operations.request_words import asks_nothing, is_small_talk
from forgetmenot.operations.types import Action, ActionClass, Parameter, ParameterKind
from forgetmenot.prompt.assemble import is_answered_in_german, split
from forgetmenot.prompt.instructions import without_form
from forgetmenot.settings.schema import ActionSettings, Settings
from forgetmenot.text.words import SENTENCE_MARKS

# How many ids of notes are read from an answer.
NOTES_LIMIT = 20
# How many characters a model may ask to look up.
LONGEST_LOOK_UP = 120
UNREADABLE = reason("no_answer")
NOTHING_TO_SAY = reason("nothing_to_say")
# The actions that a model may propose even for a line that asks for nothing and is no question.
CORRECTING = frozenset({"correct"})

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_NOTE_ID = re.compile(r"\[?(?:id:)?([0-9]{1,12})\]?")
_NAME = re.compile(r"[a-z][a-z_]{0,31}")
_CUT_SAY = re.compile(r'"say"\s*:\s*"((?:[^"\\]|\\.)*)("?)', re.DOTALL)
_SENTENCE_END = re.compile(rf"(?<![{SENTENCE_MARKS}])[{SENTENCE_MARKS}]+(?=\s|$)")


class ModelReply(Struct, frozen=True):
    """What the model answered."""

    say: str
    proposal: Proposal | None = None
    # why there are no words, or that they were cut
    problem: str = ""
    # the ids of the notes that it used
    notes: tuple[int, ...] = ()
    # words to look in the memory with, before it answers again
    look_up: str = ""


class _Answer(msgspec.Struct):
    """The object as it is decoded. Only `say` must be of its type: what else is odd is left out."""

    say: str
    action: object = None
    notes: object = None
    look_up: object = None
    if_refused: str | None = None


def switched_on(
    settings: ActionSettings, effects: Sequence[str] = ()
) -> tuple[Action, ...]:
    """Return the actions that may be proposed under these settings.

    `effects`: the names of the effects on the stream that the streamer has set up.
    """
    actions = []
    for action in ACTIONS:
        if class_mode(action, settings) == "off":
            continue
        # With no effect to choose from, the model would make one up, so the action is not offered.
        if _needs_effect(action) and not effects:
            continue
        actions.append(action)
    return tuple(actions)


def _needs_effect(action: Action) -> bool:
    return any(parameter.kind is ParameterKind.EFFECT for parameter in action.params)


def offered(settings: ActionSettings, effects: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the actions of `switched_on` as the instructions name them: "timeout target seconds"."""
    lines = []
    for action in switched_on(settings, effects):
        words = [action.name]
        for parameter in action.params:
            words.append(_parameter_text(parameter, effects))
        lines.append(" ".join(words).rstrip())
    return tuple(lines)


def _parameter_text(parameter: Parameter, effects: Sequence[str]) -> str:
    """Return how the instructions name a parameter; "" for one that may be left out."""
    if parameter.kind is ParameterKind.EFFECT:
        choices = " | ".join(effects)
        return f"{parameter.name} ({choices})"
    is_shown = parameter.default is None or parameter.kind is ParameterKind.SECONDS
    return parameter.name if is_shown else ""


def reply_schema(
    settings: ActionSettings,
    role: Role,
    effects: Sequence[str] = (),
    among: AbstractSet[str] = NAMES,
    *,
    may_look_up: bool = False,
) -> Mapping[str, Any]:
    """Return the JSON schema of an answer to a speaker of this role, with actions `among` these names.

    `may_look_up`: it may ask for a second look into the memory instead of guessing.
    """
    actions = []
    for action in switched_on(settings, effects):
        if action.name in among and _could_get(action, role):
            actions.append(action)
    # The order of the properties is that in which the model writes them.
    properties: dict[str, Any] = {}
    optional = set()
    if actions:
        alternatives = [{"type": "null"}, _action_schema(actions)]
        properties["action"] = {"anyOf": alternatives}
    properties["notes"] = {"type": "array", "items": _NUMBER}
    if may_look_up:
        properties["look_up"] = _TEXT
        optional.add("look_up")
    properties["say"] = _TEXT
    if actions:
        properties["if_refused"] = _TEXT
        optional.add("if_refused")
    return _object(properties, optional)


def _could_get(action: Action, role: Role) -> bool:
    """Return whether a speaker of this role could get an action at all."""
    return role.moderates or action.kind is not ActionClass.NEVER_ALONE


def _action_schema(actions: Sequence[Action]) -> dict[str, Any]:
    """Return the schema of an action: its name, and the parameters that any of these actions has.

    One form for all, because a form for each is three times as long and is billed with every call. The
    instructions say what each action needs, and what lacks it is refused when it is checked.
    """
    names = [action.name for action in actions]
    properties: dict[str, Any] = {"name": {"type": "string", "enum": names}}
    for action in actions:
        for parameter in action.params:
            form = _TEXT
            if parameter.kind is ParameterKind.SECONDS:
                form = _NUMBER
            properties[parameter.name] = form
    return _object(properties, optional=properties.keys() - {"name"})


def reply_request(
    prompt: Prompt,
    settings: Settings,
    role: Role,
    question: str,
    *,
    may_look_up: bool = False,
) -> ModelRequest:
    """Return the model call for a reply to this `question` by a speaker of this role."""
    system, data = split(prompt)
    schema = reply_schema(
        settings.actions,
        role,
        settings.bridge.effects,
        _possible_actions(question),
        may_look_up=may_look_up,
    )
    language = settings.bot.language
    if is_answered_in_german(question, settings):
        language = "de"
    return ModelRequest(
        Purpose.REPLY,
        system,
        data,
        max_output_tokens=settings.model.reply_output_tokens,
        schema=schema,
        plain_system=without_form(system),
        language=language,
    )


def _possible_actions(question: str) -> AbstractSet[str]:
    """Return the names of the actions that a model may propose for a line of chat."""
    if not asks_nothing(question):
        return NAMES
    # A statement that asks for nothing may still correct a note ("I moved to Kiel"). A plain question
    # ("where do I live?") corrects nothing.
    if is_small_talk(question):
        return CORRECTING
    return frozenset()


def _object(properties: dict[str, Any], optional: AbstractSet[str]) -> dict[str, Any]:
    """Return the schema of an object of which these properties may be left out."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def read_reply(answer: ModelAnswer) -> ModelReply:
    """Return what a model answered.

    Plain text of a server that cannot do JSON is all `say`, and proposes nothing.
    """
    if answer.plain:
        return _plain(answer)
    decoded = _decoded(answer.text)
    if decoded is None:
        return _cut_off(answer.text)
    say = _encodable(decoded.say)
    proposal = _proposal(decoded)
    look_up = ""
    if isinstance(decoded.look_up, str):
        look_up = _encodable(decoded.look_up)[:LONGEST_LOOK_UP].strip()
    problem = "" if say.strip() or proposal else NOTHING_TO_SAY
    return ModelReply(say, proposal, problem, _note_ids(decoded.notes), look_up)


def _plain(answer: ModelAnswer) -> ModelReply:
    """Return the reply of a model that answers in plain text, cut to whole sentences if it ran out of tokens."""
    if answer.finish != "length":
        return ModelReply(answer.text)
    say = whole_sentences(answer.text)
    problem = "" if say == answer.text else "unfinished"
    return ModelReply(say, problem=problem)


def _note_ids(notes: object) -> tuple[int, ...]:
    """Return the ids in a list, as numbers or as the prompt writes them ("id:12").

    What is neither is left out.
    """
    if not isinstance(notes, list):
        return ()
    # As keys of a dictionary each id stands once, in the order of the model's.
    note_ids: dict[int, None] = {}
    for note in notes[:NOTES_LIMIT]:
        match = _NOTE_ID.fullmatch(str(note))
        if match is not None:
            note_ids[int(match[1])] = None
    return tuple(note_ids)


def whole_sentences(text: str) -> str:
    """Return a text that its model could not finish up to its last whole sentence; empty if there is none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else ""


def _decoded(text: str) -> _Answer | None:
    """Return the first object in the text: models write fences, thoughts and comments around it.

    None if there is none, or if it is no answer.
    """
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
        return msgspec.convert(value, _Answer)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None


def _proposal(answer: _Answer) -> Proposal | None:
    """Return the action; None unless it has a name, and every parameter is a word or a number."""
    if not isinstance(answer.action, dict):
        return None
    fields: dict[str, object] = dict(answer.action)
    written_name = str(fields.pop("name", ""))
    # "Slow-Mode" is what models make of `slow_mode`.
    name = written_name.strip().lower().replace("-", "_")
    if not _NAME.fullmatch(name):
        return None
    params = {}
    for key, value in fields.items():
        if not isinstance(value, str | int | None):
            return None
        # An empty text stands for a parameter that was left out: strict schemas know no optional
        # ones.
        if value not in {None, ""}:
            params[_encodable(key)] = _encodable(str(value))
    return Proposal(name, params, _encodable(answer.if_refused or ""))


def _encodable(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no database takes."""
    return text.encode("utf-8", "ignore").decode()


def _cut_off(text: str) -> ModelReply:
    """Return what may be said of an object that ends too early.

    That is the whole sentences of its `say`, and no action.
    """
    match = _CUT_SAY.search(text) if "{" in text else None
    if match is None:
        return ModelReply("", problem=UNREADABLE)
    try:
        say = json.loads(f'"{match[1]}"', strict=False)
    except ValueError:
        say = ""
    is_closed = bool(match[2])
    if not is_closed:
        say = whole_sentences(say)
    return ModelReply(_encodable(say), problem="unfinished" if say else UNREADABLE)
