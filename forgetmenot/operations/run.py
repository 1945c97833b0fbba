"""Dispatches: `run(context, name, parameters, asker)` runs an operation for any surface.

It checks the permission and the parameters, resolves the viewer (operations/targets) and calls the handler. It decides
nothing else; what the model proposes has passed operations/policy before. A user's mistake is a result, never an
exception.
"""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from forgetmenot.domain import Asker, OperationResult, Surface, Target
from forgetmenot.errors import FactRefused, InputError, SettingsError
from forgetmenot.operations.targets import target_of
from forgetmenot.operations.types import (
    Operation,
    OperationContext,
    Parameter,
    ParameterKind,
    Refused,
    Request,
)

# Characters: the dock and the command line may send more than a message of chat.
LONGEST_TEXT = 4_000
_NUMBER = re.compile(r"#?([0-9]{1,15})\Z")


async def run(
    context: OperationContext,
    name: str,
    params: Mapping[str, object],
    asker: Asker,
) -> OperationResult:
    """Run one operation for an asker. Raises StoreError."""
    operation = context.operations.get(name)
    # Chat gets no answer to "not_allowed": the line may be talk, or a command of another bot.
    if operation is None or operation.handler is None or not operation.permits(asker):
        return OperationResult(ok=False, code="not_allowed")
    # On a full disk the flush fails here. An operation that waits for the disk flushes in its handler instead.
    flushes_itself = operation.waits and asker.surface is Surface.CHAT
    if not flushes_itself:
        await context.flush()
    target: Target | None = None
    named_ids: set[str] = set()
    try:
        values = checked(operation, params)
        target = await target_of(context, operation, values, asker)
        request = Request(context, asker, target, values, named_ids)
        result = await operation.handler(request)
    except Refused as refusal:
        return replace(refusal.result, named_ids=frozenset(named_ids))
    except FactRefused as refusal:
        return OperationResult(ok=False, code=f"refused:{refusal.rule}", target=target)
    except (InputError, SettingsError) as error:
        return OperationResult(ok=False, code="input", data={"sentence": str(error)})
    # After a change by chat the prefix stays the same text, which providers have in their cache, unless something in it
    # may not be shown any more (reply/prefix).
    if result.ok and operation.edits_memory and asker.surface is Surface.DOCK:
        await context.refresh()
    return replace(result, named_ids=frozenset(named_ids))


def checked(operation: Operation, params: Mapping[str, object]) -> dict[str, object]:
    """Return the declared parameters, converted to their types; others are dropped. Raises Refused."""
    values: dict[str, object] = {}
    for parameter in operation.params:
        value = params.get(parameter.name)
        is_missing = value is None or value == ""
        may_be_missing = parameter.optional or parameter.kind is ParameterKind.FLAG
        if is_missing and may_be_missing:
            continue
        converted = None if is_missing else _converted(parameter, value)
        if converted is None:
            raise Refused(
                "bad_parameter", parameter=parameter.name, operation=operation.name
            )
        values[parameter.name] = converted
    return values


def _converted(parameter: Parameter, value: object) -> object:
    """Return the value in the parameter's type; None if it cannot be converted."""
    if parameter.kind is ParameterKind.FLAG:
        return bool(value)
    if not isinstance(value, (str, int)):
        return None
    text = str(value)
    if len(text) > LONGEST_TEXT:
        return None
    if parameter.kind is ParameterKind.NUMBER:
        return _number(parameter, text)
    return text


def _number(parameter: Parameter, text: str) -> int | None:
    """Return a typed number ("#12"), at most the parameter's maximum; None if it is none, or below the minimum."""
    typed = _NUMBER.match(text)
    if typed is None:
        return None
    number = int(typed[1])
    if number < parameter.minimum:
        return None
    # "!bot quiet 600" means the longest that there is.
    return min(number, parameter.maximum)
