"""Whom an operation is about: the viewer that a typed name means, seen from the surface where it was typed."""

from collections.abc import Mapping

from forgetmenot.domain import Asker, Role, Surface, Target
from forgetmenot.operations.types import (
    Operation,
    OperationContext,
    Parameter,
    ParameterKind,
    Refused,
)
from forgetmenot.people import names
from forgetmenot.people.standing import active_now
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.store.names import by_login
from forgetmenot.text.mentions import is_login, login_of, provisional_id

# Names that mean nobody's notes but the channel's, and those of whoever types them.
CHANNEL_WORDS = frozenset({"channel", "stream", "chat"})
SELF_WORDS = frozenset({"", "me", "myself"})


async def target_of(
    context: OperationContext,
    operation: Operation,
    values: Mapping[str, object],
    asker: Asker,
) -> Target:
    """Return whom a request is about. Raises Refused if nobody has the name, or several people do."""
    parameter = _viewer_parameter(operation)
    name = ""
    if parameter is not None:
        name = str(values.get(parameter.name, ""))
    if asker.surface is Surface.CHAT:
        may_be_short = parameter is not None and parameter.may_be_short
        return await resolve_target(context, asker, name, may_be_short=may_be_short)
    if parameter is None or not name:
        return Target()
    return await _target_outside_chat(context, parameter, name, asker)


def _viewer_parameter(operation: Operation) -> Parameter | None:
    for parameter in operation.params:
        if parameter.kind is ParameterKind.VIEWER:
            return parameter
    return None


async def resolve_target(
    context: OperationContext,
    asker: Asker,
    name: str,
    *,
    may_be_short: bool = False,
) -> Target:
    """Return whom a name in chat means.

    An empty name, "me" and the asker's own names mean the asker. Raises Refused if nobody has the name, if several
    people may be meant, or if a viewer names somebody else. `may_be_short`: a nickname or a short form is enough.
    """
    folded = name.removeprefix("@").casefold()
    own_names = {asker.login.casefold(), asker.display_name.casefold()}
    if folded in SELF_WORDS or folded in own_names:
        return own_target(asker)
    # Refused before anybody is looked up, so that a viewer does not learn who is known here.
    if not asker.moderates:
        raise Refused("not_yours")
    is_channel_word = folded in CHANNEL_WORDS
    # With an @ it is the viewer of that name, if there is one.
    if is_channel_word and not name.startswith("@"):
        return Target()
    # In chat a number is somebody's name, never an id: names.resolve takes it as one behind an @.
    typed = f"@{folded}" if folded.isdecimal() else name
    viewer_id = await _only_one_meant(context, typed, may_be_short=may_be_short)
    if viewer_id is None and is_channel_word:
        return Target()
    bare_name = name.removeprefix("@")
    if viewer_id is None:
        raise Refused("unknown_viewer", name=bare_name)
    return await _as_target(
        context.db, viewer_id, bare_name, own=viewer_id == asker.viewer_id
    )


def own_target(asker: Asker) -> Target:
    """Return the asker themselves."""
    return Target(asker.viewer_id, asker.display_name, own=True)


async def _as_target(
    db: Database,
    viewer_id: str,
    typed_name: str,
    *,
    own: bool,
) -> Target:
    """Return a viewer by the name that is shown for them, else by the typed one."""
    display_names = await viewers.names(db, [viewer_id])
    return Target(viewer_id, display_names.get(viewer_id, typed_name), own=own)


async def _only_one_meant(
    context: OperationContext,
    name: str,
    *,
    may_be_short: bool,
) -> str | None:
    """Return the id of the viewer whom a name means; None if nobody has it. Raises Refused if several people do."""
    present = await active_now(
        context.db, context.settings().people, context.clock.now()
    )
    viewer_ids = await names.resolve(
        context.db, name, present=present, may_be_short=may_be_short
    )
    if len(viewer_ids) > 1:
        # Listed with logins or ids, since their display names may be the same.
        listed = await names.told_apart(context.db, viewer_ids)
        raise Refused("which_viewer", name=name.removeprefix("@"), viewers=listed)
    return viewer_ids[0] if viewer_ids else None


async def _target_outside_chat(
    context: OperationContext,
    parameter: Parameter,
    name: str,
    asker: Asker,
) -> Target:
    """Return the viewer whom the dock, the command line or the model names. Raises Refused if there is none.

    `name`: an id or a name; where the parameter allows it, also a login that was never seen here.
    """
    db = context.db
    viewer_id: str | None = None
    # The dock and the model hand in the id of somebody whom they were shown; in a terminal a person types a name.
    if asker.surface is not Surface.CLI and await viewers.get(db, name) is not None:
        viewer_id = name
    if viewer_id is None:
        viewer_id = await _only_one_meant(
            context, name, may_be_short=parameter.may_be_short
        )
    if viewer_id is not None:
        is_own = asker.surface is Surface.MODEL and viewer_id == asker.viewer_id
        return await _as_target(db, viewer_id, name, own=is_own)
    unseen = None
    if parameter.unseen:
        unseen = await _unseen_viewer(db, name)
    if unseen is None:
        raise Refused("unknown_viewer", name=name)
    return unseen


async def _unseen_viewer(db: Database, name: str) -> Target | None:
    """Return whoever has a login that was never seen here; None if it cannot be one."""
    login = login_of(name)
    viewer_id = provisional_id(login)
    # Digits are an id, and an id that nobody here has is nobody.
    may_be_login = bool(login) and is_login(login) and not login.isdecimal()
    if may_be_login or await viewers.get(db, viewer_id) is not None:
        return Target(viewer_id, login)
    return None


def owner_login(channel: str) -> str:
    """Return the login that the streamer acts by; a made-up one while no channel is set."""
    return channel.casefold() or "streamer"


async def owner(
    db: Database,
    surface: Surface,
    channel: str,
    now: int,
) -> Asker:
    """Return the streamer as an asker: the channel's account; until its id is known, a provisional one is stored."""
    login = owner_login(channel)
    viewer_id = await by_login(db, login)
    if viewer_id is None:
        viewer_id = provisional_id(login)
        async with db.write() as tx:
            await viewers.add_unseen(tx, {viewer_id: login}, now)
    return Asker(surface, viewer_id, Role.BROADCASTER, login, login)
