"""Checks a proposal's parameters against the action's declaration. Pure.

Guarantees:
- Only declared parameters pass; anything else the model wrote is dropped.
- Texts are one clean line without tags, commands or mentions by id. What a model wrote has no links, no blocked words
  and no claims of other actions.
- Numbers are within their bounds, reduced if necessary.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from forgetmenot.languages import reason
from forgetmenot.operations.action_claims import claims_action, without_machine_text
from forgetmenot.operations.entry import Action, Parameter, ParameterKind
from forgetmenot.settings.schema import ReplySettings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang, without_addresses
from forgetmenot.text.outgoing import without_command, without_phrases

_NUMBER = re.compile(r"([0-9]{1,7})\s*(s|sec|secs|seconds|m|min|mins|minutes)?", re.ASCII | re.IGNORECASE)
PLAIN = ReplySettings()


@dataclass(frozen=True, slots=True)
class Checked:
    """Checked parameters. `problem` is a sentence if they do not fit; `changed` one if something was reduced."""

    params: Mapping[str, str]
    problem: str = ""
    changed: str = ""


def check(
    action: Action,
    given: Mapping[str, str],
    most_seconds: int,
    reply: ReplySettings = PLAIN,
    effects: Collection[str] = (),
) -> Checked:
    """The parameters of a proposal as the action takes them.

    `most_seconds` is the settings' own bound for class B; `effects` are the names that the settings list.
    """
    params: dict[str, str] = {}
    changed = ""
    for parameter in action.params:
        value = given.get(parameter.name, parameter.default)
        if value is None:
            return Checked({}, reason("needs", action=action.name, parameter=parameter.name))
        if parameter.kind is ParameterKind.SECONDS:
            one = _fit_seconds(parameter, value, most_seconds)
        elif parameter.kind is ParameterKind.EFFECT:
            one = _fit_effect(parameter, value, effects)
        else:
            one = _fit_text(action, parameter, value, reply)
        if one.problem:
            return one
        params |= one.params
        changed = changed or one.changed
    return Checked(params, changed=changed)


def _fit_seconds(parameter: Parameter, value: str, most_seconds: int) -> Checked:
    number = _NUMBER.fullmatch(value.strip())
    if number is None:
        return Checked({}, reason("number_needed", parameter=parameter.name))
    seconds = int(number[1]) * (60 if (number[2] or "s").lower().startswith("m") else 1)
    if seconds < parameter.least:
        return Checked({}, reason("at_least", parameter=parameter.name, least=parameter.least))
    most = min(parameter.most, most_seconds) if parameter.most <= 60 else parameter.most
    if seconds > most:
        changed = reason("shortened", parameter=parameter.name, before=seconds, after=most)
        return Checked({parameter.name: str(most)}, changed=changed)
    return Checked({parameter.name: str(seconds)})


def _fit_effect(parameter: Parameter, value: str, effects: Collection[str]) -> Checked:
    """The effect's name in the spelling of the settings, ignoring case."""
    name = next((one for one in effects if one.casefold() == value.strip().casefold()), None)
    return Checked({}, reason("no_effect")) if name is None else Checked({parameter.name: name})


def _fit_text(action: Action, parameter: Parameter, value: str, reply: ReplySettings) -> Checked:
    """`reply`: apply the filters of replies, for texts that are sent to chat."""
    said = without_command(clean(without_machine_text(defang(without_command(clean(value))))))
    inside = parameter.kind is not ParameterKind.TEXT or parameter.name == action.typed
    line = said if inside else _outgoing(said, reply)
    if not line and parameter.default is None:
        return Checked({}, reason("empty", parameter=parameter.name))
    if parameter.spoken and claims_action(line, {action.name}):
        return Checked({}, reason("claims", parameter=parameter.name))
    if len(line) <= parameter.most:
        changed = "" if line == said else reason("filtered", parameter=parameter.name)
        return Checked({parameter.name: line}, changed=changed)
    cut = line[: parameter.most].rsplit(" ", 1)[0]
    return Checked({parameter.name: cut}, changed=reason("cut", parameter=parameter.name, most=parameter.most))


def _outgoing(line: str, reply: ReplySettings) -> str:
    bare = line if reply.allow_links else without_addresses(line)
    return without_command(without_machine_text(without_phrases(bare, reply.blocklist)))
