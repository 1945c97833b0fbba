"""Checks what a proposal brings against what an action takes. Pure.

Promises: only the entry's own parameters pass; whatever else the model wrote (ids, for one) is left out; texts are
one clean line without tags, commands or mentions by id, and what a model wrote is without links and blocked words, as a
reply is, and boasts of no deed where it is said; numbers stand inside their bounds, shortened if need be.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from forgetmenot.actions.claims import claims_own
from forgetmenot.actions.entry import Action, Kind, Parameter
from forgetmenot.actions.scrub import without_tags
from forgetmenot.settings.schema import ReplySettings
from forgetmenot.text.addresses import without_addresses
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang
from forgetmenot.text.outgoing import without_command, without_phrases

_NUMBER = re.compile(r"([0-9]{1,7})\s*(s|sec|secs|seconds|m|min|mins|minutes)?", re.ASCII | re.IGNORECASE)
PLAIN = ReplySettings()


@dataclass(frozen=True, slots=True)
class Checked:
    """Parameters that fit. `problem` is a sentence if they do not; `changed` one if something was shortened."""

    params: Mapping[str, str]
    problem: str = ""
    changed: str = ""


def check(action: Action, given: Mapping[str, str], most_seconds: int, reply: ReplySettings = PLAIN) -> Checked:
    """The parameters of a proposal as the action takes them; `most_seconds` is the settings' own bound for class B."""
    params: dict[str, str] = {}
    changed = ""
    for parameter in action.params:
        value = given.get(parameter.name, parameter.default)
        if value is None:
            return Checked({}, f"{action.name} needs {parameter.name}.")
        if parameter.kind is Kind.SECONDS:
            one = _fit_seconds(parameter, value, most_seconds)
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
        return Checked({}, f"{parameter.name} has to be a number of seconds.")
    seconds = int(number[1]) * (60 if (number[2] or "s").lower().startswith("m") else 1)
    if seconds < parameter.least:
        return Checked({}, f"{parameter.name} has to be at least {parameter.least}.")
    most = min(parameter.most, most_seconds) if parameter.most <= 60 else parameter.most
    if seconds > most:
        return Checked({parameter.name: str(most)}, changed=f"{parameter.name} was shortened from {seconds} to {most}.")
    return Checked({parameter.name: str(seconds)})


def _fit_text(action: Action, parameter: Parameter, value: str, reply: ReplySettings) -> Checked:
    """`reply`: the filters for what goes out; a name, and what its asker told, stay in the house."""
    said = without_command(clean(without_tags(defang(without_command(clean(value))))))
    inside = parameter.kind is not Kind.TEXT or parameter.name == action.told
    line = said if inside else _outgoing(said, reply)
    if not line and parameter.default is None:
        return Checked({}, f"{parameter.name} is empty.")
    if parameter.spoken and claims_own(line, {action.name}):
        return Checked({}, f"{parameter.name} tells of a deed that nobody decided on.")
    if len(line) <= parameter.most:
        return Checked({parameter.name: line}, changed="" if line == said else f"{parameter.name} was filtered.")
    cut = line[: parameter.most].rsplit(" ", 1)[0]
    return Checked({parameter.name: cut}, changed=f"{parameter.name} was cut to {parameter.most} characters.")


def _outgoing(line: str, reply: ReplySettings) -> str:
    bare = line if reply.allow_links else without_addresses(line)
    return without_command(without_tags(without_phrases(bare, reply.blocklist)))
