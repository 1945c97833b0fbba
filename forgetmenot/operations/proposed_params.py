"""The parameters of a proposal, checked against the action's declaration. Pure.

Guarantees:
- Only declared parameters pass; anything else the model wrote is dropped. Numbers are within their bounds.
- Texts are one clean line without tags, commands or mentions by id. What a model wrote has no links and no blocked
  words.
"""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

from forgetmenot.durations import SECOND, parse_duration
from forgetmenot.languages import reason
from forgetmenot.operations.types import Action, Parameter, ParameterKind
from forgetmenot.settings.schema import ReplySettings, Settings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import defang, without_links
from forgetmenot.text.unsendable import (
    without_blocked,
    without_command,
    without_machine_text,
)

# The settings' limit of a timeout bounds parameters up to this; a longer one always asks a person.
LONGEST_WITHOUT_PERSON_S = 60


class Checked(Struct, frozen=True):
    """Checked parameters. `problem` is a sentence if they do not fit; `change_reason` one if something was reduced."""

    params: Mapping[str, str]
    problem: str = ""
    change_reason: str = ""


class _Fitted(NamedTuple):
    """A value as it is used, and whether it was reduced."""

    value: str
    is_reduced: bool = False


def check(
    action: Action,
    proposed: Mapping[str, str],
    settings: Settings,
) -> Checked:
    """Return the parameters of a proposal as the action takes them."""
    params: dict[str, str] = {}
    change_reason = ""
    for parameter in action.params:
        value = proposed.get(parameter.name, parameter.default)
        fitted = None
        if value is not None:
            fitted = _fit(action, parameter, value, settings)
        if fitted is None:
            return Checked({}, reason("needs", parameter=parameter.name))
        params[parameter.name] = fitted.value
        if fitted.is_reduced and not change_reason:
            change_reason = reason("changed", parameter=parameter.name)
    return Checked(params, change_reason=change_reason)


def _fit(
    action: Action,
    parameter: Parameter,
    value: str,
    settings: Settings,
) -> _Fitted | None:
    """Return the value as the parameter takes it; None if it does not fit."""
    if parameter.kind is ParameterKind.SECONDS:
        return _fit_seconds(parameter, value, settings.actions.max_timeout_s)
    if parameter.kind is ParameterKind.EFFECT:
        return _fit_effect(value, settings.bridge.effects)
    return _fit_text(action, parameter, value, settings.reply)


def _fit_seconds(
    parameter: Parameter,
    value: str,
    max_timeout_s: int,
) -> _Fitted | None:
    """Return a duration as seconds, shortened to what is allowed; None if it is none or too short."""
    duration = parse_duration(value, default_unit="s")
    if duration is None:
        return None
    seconds = duration // SECOND
    if seconds < parameter.minimum:
        return None
    # The streamer's setting bounds what may run without a person; a longer one a person reads first.
    limit = parameter.maximum
    if parameter.maximum <= LONGEST_WITHOUT_PERSON_S:
        limit = min(parameter.maximum, max_timeout_s)
    return _Fitted(str(min(seconds, limit)), is_reduced=seconds > limit)


def _fit_effect(value: str, effects: tuple[str, ...]) -> _Fitted | None:
    name = value.strip().casefold()
    for effect in effects:
        if effect.casefold() == name:
            return _Fitted(effect)
    return None


def _fit_text(
    action: Action,
    parameter: Parameter,
    value: str,
    reply: ReplySettings,
) -> _Fitted | None:
    """Return a text as one clean line, cut to the longest that the parameter takes; None if nothing is left.

    `reply`: the filters of replies, for texts that are sent to chat.
    """
    text = defang(without_command(clean(value)))
    text = clean(without_machine_text(text))
    # What was cut from the middle may leave a command at the beginning, so commands are removed again.
    text = without_command(text)
    line = text
    # Words that the asker typed are theirs, with their links; a model's are the bot's.
    is_model_text = (
        parameter.kind is ParameterKind.TEXT and parameter.name != action.typed
    )
    if is_model_text:
        if not reply.allow_links:
            line = without_links(line)
        line = without_blocked(line, reply.blocklist)
        line = without_command(without_machine_text(line))
    if not line and parameter.default is None:
        return None
    if len(line) > parameter.maximum:
        # behind a whole word
        line = line[: parameter.maximum].rsplit(" ", 1)[0]
    return _Fitted(line, is_reduced=line != text)
