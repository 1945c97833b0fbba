"""The object a model answers with: `{"action": {name, parameters} | null, "notes": [12], "say": …, "if_refused": …}`.

Guarantees:
- The schema holds the actions that are switched on and that this speaker could get by this line, and no others.
- A proposal comes from the object's `action` alone; no text inside `say` is ever one.
- An answer that is not such an object gives no words, but for a `say` that was cut off: its whole sentences.
- Reading never raises, whatever the text.

`action` and `notes` stand first: what is done and what is known are settled before the words are (docs/PROMPT.md).
Pure.
"""

import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from msgspec import Struct

from forgetmenot.domain import ModelAnswer, ModelRequest, Prompt, Proposal, Purpose, Role
from forgetmenot.languages import reason
from forgetmenot.operations.actions import ACTIONS, NAMES, class_mode
from forgetmenot.operations.request_words import asks_nothing, is_small_talk
from forgetmenot.operations.types import Action, ActionClass, Parameter, ParameterKind
from forgetmenot.prompt.assemble import is_answered_in_german, split
from forgetmenot.prompt.instructions import without_form
from forgetmenot.settings.schema import ActionSettings, Settings
from forgetmenot.text.words import SENTENCE_MARKS

SAY = "your line of chat"
ACTION = "what the current message itself asks you to do, else null"
NOTES = "the id numbers of the notes that your line uses, as they stand in [id:…]; empty if it uses none"
LOOK_UP = (
    "other words to look for in your memory, where the answer may be there and not here; else empty"
)
IF_REFUSED = "only with an action: what you say instead if it is not done"
MOST_NOTES = 20
LONGEST_LOOK_UP = 120
UNREADABLE = reason("no_answer")
NOTHING_TO_SAY = reason("nothing_to_say")
# What a line that asks for nothing, and is no question, may still lead to.
CORRECTING = frozenset({"correct"})

_NOTE_ID = re.compile(r"\[?(?:id:)?([0-9]{1,12})\]?")
_NAME = re.compile(r"[a-z][a-z_]{0,31}")
_CUT_SAY = re.compile(r'"say"\s*:\s*"((?:[^"\\]|\\.)*)("?)', re.DOTALL)
_SENTENCE_END = re.compile(rf"(?<![{SENTENCE_MARKS}])[{SENTENCE_MARKS}]+(?=\s|$)")


class ModelReply(Struct, frozen=True):
    """What the model answered. `notes`: the ids it names. `problem`: why there are no words, or that they were cut.

    `look_up`: words to look in the memory with, before it answers again.
    """

    say: str
    proposal: Proposal | None = None
    problem: str = ""
    notes: tuple[int, ...] = ()
    look_up: str = ""


class _Answer(msgspec.Struct):
    say: str
    action: object = None
    notes: object = None
    look_up: object = None
    if_refused: str | None = None


def switched_on(settings: ActionSettings, effects: Sequence[str] = ()) -> tuple[Action, ...]:
    """The actions that may be proposed under these settings. `effects`: the names of those that there are."""
    chosen = [one for one in ACTIONS if class_mode(one, settings) != "off"]
    return tuple(
        one
        for one in chosen
        if effects or not any(p.kind is ParameterKind.EFFECT for p in one.params)
    )


def offered(settings: ActionSettings, effects: Sequence[str] = ()) -> tuple[str, ...]:
    """The same as the instructions name them, with what each needs: "timeout target seconds"."""
    return tuple(
        " ".join([one.name, *(_named(parameter, effects) for parameter in one.params)]).rstrip()
        for one in switched_on(settings, effects)
    )


def _named(parameter: Parameter, effects: Sequence[str]) -> str:
    if parameter.kind is ParameterKind.EFFECT:
        return f"{parameter.name} ({' | '.join(effects)})"
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
    """The JSON schema of an answer to a speaker of this role, with actions `among` these names.

    `may_look_up`: it may ask for a second look into the memory instead of guessing.
    """
    could_get = [
        action
        for action in switched_on(settings, effects)
        if action.name in among and (action.kind is not ActionClass.NEVER_ALONE or role.moderates)
    ]
    say = {"type": "string", "description": SAY}
    notes = {"type": "array", "items": {"type": "integer"}, "description": NOTES}
    looking = {"look_up": {"type": "string", "description": LOOK_UP}} if may_look_up else {}
    if not could_get:
        return _object({"notes": notes, **looking, "say": say}, looking.keys())
    # Actions that take the same share one alternative: providers bill the schema with every call.
    alike: dict[tuple[tuple[str, str, bool], ...], list[str]] = {}
    for action in could_get:
        shape = tuple(
            (
                one.name,
                "integer" if one.kind is ParameterKind.SECONDS else "string",
                one.default is None,
            )
            for one in action.params
        )
        alike.setdefault(shape, []).append(action.name)
    actions = [
        _object(
            {
                "name": {"type": "string", "enum": names},
                **{name: {"type": kind} for name, kind, _ in shape},
            },
            {name for name, _, is_needed in shape if not is_needed},
        )
        for shape, names in alike.items()
    ]
    return _object(
        {
            "action": {"description": ACTION, "anyOf": [{"type": "null"}, *actions]},
            "notes": notes,
            **looking,
            "say": say,
            "if_refused": {"type": "string", "description": IF_REFUSED},
        },
        {"if_refused", *looking},
    )


def reply_request(
    prompt: Prompt, settings: Settings, role: Role, question: str, *, may_look_up: bool = False
) -> ModelRequest:
    """The model call for a reply to this `question` by a speaker of this role."""
    system, data = split(prompt)
    possible = (
        (CORRECTING if is_small_talk(question) else frozenset())
        if asks_nothing(question)
        else NAMES
    )
    return ModelRequest(
        Purpose.REPLY,
        system,
        data,
        max_output_tokens=settings.model.reply_output_tokens,
        schema=reply_schema(
            settings.actions, role, settings.bridge.effects, possible, may_look_up=may_look_up
        ),
        plain_system=without_form(system),
        language="de" if is_answered_in_german(question, settings) else settings.bot.language,
    )


def _object(properties: dict[str, Any], optional: AbstractSet[str] = frozenset()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def read_reply(answer: ModelAnswer) -> ModelReply:
    """The answer as an object. Plain text of a server that cannot do JSON is all `say`, and proposes nothing."""
    if answer.plain:
        say = whole_sentences(answer.text) if answer.finish == "length" else answer.text
        return ModelReply(say, problem="" if say == answer.text else "unfinished")
    found = _decoded(answer.text)
    if found is None:
        return _cut_off(answer.text)
    say, proposal = _encodable(found.say), _proposal(found)
    look_up = (
        _encodable(found.look_up)[:LONGEST_LOOK_UP].strip()
        if isinstance(found.look_up, str)
        else ""
    )
    problem = "" if say.strip() or proposal else NOTHING_TO_SAY
    return ModelReply(say, proposal, problem, _note_ids(found.notes), look_up)


def _note_ids(given: object) -> tuple[int, ...]:
    """The ids in a list, as numbers or as the prompt writes them ("id:12"); what is none is left out."""
    listed = given[:MOST_NOTES] if isinstance(given, list) else []
    found = (_NOTE_ID.fullmatch(str(one)) for one in listed)
    return tuple(dict.fromkeys(int(one[1]) for one in found if one))


def whole_sentences(text: str) -> str:
    """A text that its model could not finish, up to its last whole sentence; nothing where there is none."""
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else ""


def _decoded(text: str) -> _Answer | None:
    """The first object in the text: models write fences, thoughts and comments around it."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
        return msgspec.convert(value, _Answer)
    except (ValueError, RecursionError, msgspec.ValidationError):
        return None


def _proposal(answer: _Answer) -> Proposal | None:
    """The action, where it has a name and every parameter is a word or a number; else none."""
    if not isinstance(answer.action, dict):
        return None
    given: dict[str, object] = dict(answer.action)
    name = str(given.pop("name", "")).strip().lower().replace("-", "_")
    if not _NAME.fullmatch(name) or not all(
        isinstance(value, str | int | None) for value in given.values()
    ):
        return None
    # An empty text stands for a parameter that was left out: strict schemas know no optional ones.
    params = {
        _encodable(key): _encodable(str(value))
        for key, value in given.items()
        if value not in {None, ""}
    }
    return Proposal(name, params, _encodable(answer.if_refused or ""))


def _encodable(text: str) -> str:
    """Without halves of surrogate pairs, which no database takes."""
    return text.encode("utf-8", "ignore").decode()


def _cut_off(text: str) -> ModelReply:
    """What of an object that ends too early may be said: its `say` as far as it goes, and no action."""
    found = _CUT_SAY.search(text) if "{" in text else None
    try:
        say = json.loads(f'"{found[1]}"', strict=False) if found else ""
    except ValueError:
        say = ""
    if found and not found[2]:
        say = whole_sentences(say)
    return ModelReply(_encodable(say), problem="unfinished" if say else UNREADABLE)
