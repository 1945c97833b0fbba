"""Runs an operation for any surface: `run(context, name, parameters, asker)`.

It checks the permission, then the parameters, then resolves the viewer, then calls the handler. A user's mistake is a
result, never an exception.
"""

import re
from collections.abc import Mapping

from forgetmenot.domain import Asker, OperationResult, Permission, Role, Surface, Target
from forgetmenot.errors import FactRefused, InputError, SettingsError
from forgetmenot.operations.types import (
    Operation,
    OperationContext,
    Parameter,
    ParameterKind,
    Request,
)
from forgetmenot.people import names
from forgetmenot.people.standing import active_now
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.store.names import by_login
from forgetmenot.text.mentions import is_login, login_of, provisional_id

CHANNEL_WORDS = frozenset({"channel", "stream", "chat"})
SELF_WORDS = frozenset({"", "me", "myself"})
LONGEST_TEXT = 4_000
_NUMBER = re.compile(r"#?([0-9]{1,15})\Z")


class Refused(Exception):
    """A request is not done. Control flow inside operations: `run` makes the result of it that says why."""

    def __init__(self, code: str, target: Target | None = None, **data: object) -> None:
        super().__init__(code)
        self.result = OperationResult(ok=False, code=code, data=data, target=target)


async def run(
    context: OperationContext, name: str, params: Mapping[str, object], asker: Asker
) -> OperationResult:
    """Run one operation for an asker. Raises StoreError."""
    operation = context.table.get(name)
    if operation is None or operation.handler is None or not may_ask(operation, asker):
        return OperationResult(ok=False, code="not_allowed")
    # those that may wait for the disk do their own flush: here a full disk would end them with an error
    if not (operation.waits and asker.surface is Surface.CHAT):
        await context.flush()
    target: Target | None = None
    try:
        values = checked(operation, params)
        target = await _target(context, operation, values, asker)
        result = await operation.handler(context, Request(asker, target, values))
    except Refused as refused:
        return refused.result
    except FactRefused as refused:
        return OperationResult(ok=False, code=f"refused:{refused.rule}", target=target)
    except (InputError, SettingsError) as error:
        return OperationResult(ok=False, code="input", data={"sentence": str(error)})
    if result.ok and operation.edits_memory and asker.surface is Surface.DOCK:
        await context.refresh()
    return result


def may_ask(operation: Operation, asker: Asker) -> bool:
    """Whether the table permits it; `resolve_target` checks the target."""
    permission = operation.who.get(asker.surface)
    return permission is not None and (permission is not Permission.MODERATOR or asker.moderates)


def checked(operation: Operation, params: Mapping[str, object]) -> dict[str, object]:
    """The declared parameters, converted to their types; others are dropped. Raises Refused."""
    values = {}
    for one in operation.params:
        value = params.get(one.name)
        if value is None or value == "":
            fits = one.optional or one.kind is ParameterKind.FLAG
        else:
            values[one.name] = value = _fit(one, value)
            fits = value is not None
        if not fits:
            raise Refused("bad_parameter", parameter=one.name, operation=operation.name)
    return values


def _fit(parameter: Parameter, value: object) -> object:
    """The value in the parameter's type; None if it is none of that."""
    if parameter.kind is ParameterKind.FLAG:
        return bool(value)
    if not isinstance(value, (str, int)) or len(str(value)) > LONGEST_TEXT:
        return None
    text = str(value)
    if parameter.kind is ParameterKind.NUMBER:
        number = _NUMBER.match(text)
        return (
            min(int(number[1]), parameter.most)
            if number and int(number[1]) >= parameter.least
            else None
        )
    return text


async def _target(
    context: OperationContext, operation: Operation, values: Mapping[str, object], asker: Asker
) -> Target:
    parameter = next((one for one in operation.params if one.kind is ParameterKind.VIEWER), None)
    name = str(values.get(parameter.name, "")) if parameter is not None else ""
    if asker.surface is Surface.CHAT:
        may_be_short = parameter is not None and parameter.may_be_short
        return await resolve_target(context, asker, name, may_be_short=may_be_short)
    if parameter is None or not name:
        return Target()
    return await _known(context, parameter, name, asker)


async def resolve_target(
    context: OperationContext, asker: Asker, name: str, *, may_be_short: bool = False
) -> Target:
    """Who a name in chat means (empty: the asker); `may_be_short`: also a nickname or a short form. Raises Refused."""
    wanted = name.removeprefix("@").casefold()
    if wanted in SELF_WORDS or wanted in {asker.login.casefold(), asker.display_name.casefold()}:
        return own_target(asker)
    if not asker.moderates:
        raise Refused("not_yours")
    is_channel_word = wanted in CHANNEL_WORDS
    # behind an @ it is a viewer who has that name, if there is one
    if is_channel_word and not name.startswith("@"):
        return Target()
    # a bare number that is typed in chat is somebody's name, never an id
    typed = f"@{wanted}" if wanted.isdecimal() else name
    viewer_id = await _only_one_meant(context, typed, may_be_short=may_be_short)
    if viewer_id is None and is_channel_word:
        return Target()
    bare_name = name.removeprefix("@")
    if viewer_id is None:
        raise Refused("unknown_viewer", name=bare_name)
    shown = await viewers.names(context.db, [viewer_id])
    return Target(viewer_id, shown.get(viewer_id, bare_name), own=viewer_id == asker.viewer_id)


def own_target(asker: Asker) -> Target:
    """The asker themselves."""
    return Target(asker.viewer_id, asker.display_name, own=True)


async def _only_one_meant(
    context: OperationContext, name: str, *, may_be_short: bool
) -> str | None:
    """The id of the only viewer whom a name can mean; None if nobody goes by it. Raises Refused to ask which."""
    here = await active_now(context.db, context.settings().people, context.clock.now())
    meant = await names.resolve(context.db, name, here=here, may_be_short=may_be_short)
    if len(meant) > 1:
        listed = await names.told_apart(context.db, meant)
        raise Refused("which_viewer", name=name.removeprefix("@"), viewers=listed)
    return meant[0] if meant else None


async def _known(
    context: OperationContext, parameter: Parameter, name: str, asker: Asker
) -> Target:
    """A viewer by id or name; where the parameter allows it, also a login never seen here."""
    db = context.db
    # the dock and the model hand in the id of somebody whom they were shown
    by_id = asker.surface is not Surface.CLI and await viewers.get(db, name) is not None
    viewer_id = name
    if not by_id:
        meant = await _only_one_meant(context, name, may_be_short=parameter.may_be_short)
        unseen = await _unseen(db, name) if meant is None and parameter.unseen else None
        if unseen is not None:
            return unseen
        if meant is None:
            raise Refused("unknown_viewer", name=name)
        viewer_id = meant
    shown = await viewers.names(db, [viewer_id])
    is_own = asker.surface is Surface.MODEL and viewer_id == asker.viewer_id
    return Target(viewer_id, shown.get(viewer_id, name), own=is_own)


async def _unseen(db: Database, name: str) -> Target | None:
    """Whoever has a login that was never seen here, if it can be one."""
    login = login_of(name)
    unseen = provisional_id(login)
    may_be_login = bool(login) and is_login(login) and not login.isdecimal()
    if may_be_login or await viewers.get(db, unseen) is not None:
        return Target(unseen, login)
    return None


async def owner(db: Database, surface: Surface, channel: str, now: int) -> Asker:
    """The streamer as an asker: the channel's account; until its id is known, a provisional one is stored."""
    login = channel.casefold() or "streamer"
    viewer_id = await by_login(db, login)
    if viewer_id is None:
        viewer_id = provisional_id(login)
        async with db.write() as tx:
            await viewers.add_unseen(tx, {viewer_id: login}, now)
    return Asker(surface, viewer_id, Role.BROADCASTER, login, login)
