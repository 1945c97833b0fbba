"""The handlers of what people ask to be called: `!callme`, `!pronouns`, and what undoes them.

It is the person's own word, never guessed, and nothing of it is stored of somebody who opted out.
"""

import re

from forgetmenot.domain import OperationResult, Viewer
from forgetmenot.errors import FactRefused
from forgetmenot.operations.entries import ANYBODY, DOCK, MODERATORS, text_parameter
from forgetmenot.operations.types import (
    Operation,
    Parameter,
    ParameterKind,
    Refused,
    Request,
)
from forgetmenot.people import names
from forgetmenot.people.chosen_names import OFF, chosen_name, chosen_pronouns
from forgetmenot.people.exclusion import Exclusion
from forgetmenot.store import channel_state, privacy_choices, viewers
from forgetmenot.text.clean import skeleton, unleet

# What stands around letters or parts them: "b_o.b" is read as "bob".
_BETWEEN_LETTERS = re.compile(r"[\W_]+")


async def call_me(request: Request) -> OperationResult:
    """Store what the asker wants to be called; without a name, say what it is now."""
    viewer = await _asker(request)
    typed = request.text("name").strip()
    if not typed:
        code = "callme_is" if viewer.called else "callme_none"
        return OperationResult(ok=True, code=code, data={"name": _spoken(viewer)})
    if typed.casefold() in OFF:
        await _store(request, viewer.id, called="", say_as="")
        return OperationResult(ok=True, code="callme_off")
    chosen = chosen_name(typed, _blocklist(request))
    if chosen is None or await _is_name_of_another(request, chosen.name):
        raise FactRefused("name")
    _count_choice(request)
    await _store(request, viewer.id, called=chosen.name, say_as=chosen.say_as)
    return OperationResult(ok=True, code="callme_set", data={"name": chosen.name})


async def pronouns(request: Request) -> OperationResult:
    """Store the asker's pronouns in their own words; without words, say what they are."""
    viewer = await _asker(request)
    typed = request.text("words").strip()
    if not typed:
        code = "pronouns_are" if viewer.pronouns else "pronouns_none"
        return OperationResult(ok=True, code=code, data={"words": viewer.pronouns})
    if typed.casefold() in OFF:
        await _store(request, viewer.id, pronouns="")
        return OperationResult(ok=True, code="pronouns_off")
    chosen = chosen_pronouns(typed, _blocklist(request))
    if chosen is None:
        raise FactRefused("pronouns")
    _count_choice(request)
    await _store(request, viewer.id, pronouns=chosen)
    return OperationResult(ok=True, code="pronouns_set", data={"words": chosen})


async def uncall(request: Request) -> OperationResult:
    """Remove the name and the pronouns that a viewer chose. Raises Refused where the target is no viewer."""
    target = request.target
    # The channel has no id, and has chosen nothing.
    if target.id is None:
        raise Refused("unknown_viewer", name="channel")
    await _store(request, target.id, called="", say_as="", pronouns="")
    data = {"name": target.name}
    return OperationResult(ok=True, code="uncalled", data=data, target=target)


async def _asker(request: Request) -> Viewer:
    """Return who asks. Raises Refused if nothing may be stored of them."""
    viewer_id = request.asker.viewer_id
    if viewer_id in await privacy_choices.opted_out(request.db):
        raise Refused("you_opted_out")
    stored_viewers = await viewers.get_many(request.db, [viewer_id])
    viewer = stored_viewers.get(viewer_id)
    # Bots and ignored viewers have no row.
    if viewer is None:
        raise Refused("not_stored")
    return viewer


def _spoken(viewer: Viewer) -> str:
    """Return the name that a viewer chose, with how it is said: "Deb (deb)"."""
    if not viewer.say_as:
        return viewer.called
    return f"{viewer.called} ({viewer.say_as})"


def _blocklist(request: Request) -> tuple[str, ...]:
    """Return what may stand in no reply and in no note, and so in no name either."""
    settings = request.settings
    return (*settings.reply.blocklist, *settings.privacy.never_store)


async def _is_name_of_another(request: Request, name: str) -> bool:
    """Return whether a name is that of another viewer, of a bot or of the streamer, or looks like it."""
    spellings = _spellings(name)
    if spellings & await _letters_of_streamer_and_bot(request):
        return True
    exclusion = Exclusion(memory=request.settings.memory)
    owner_ids: set[str] = set()
    for spelling in spellings:
        # Bots and ignored viewers have no row. They are listed in the settings, by login or by id.
        if exclusion.of_account(spelling, spelling) is not None:
            return True
        # Behind an @, so that a name of digits is not taken for somebody's id.
        viewer_ids = await names.resolve(request.db, f"@{spelling}")
        owner_ids.update(viewer_ids)
    return bool(owner_ids - {request.asker.viewer_id})


async def _letters_of_streamer_and_bot(request: Request) -> set[str]:
    """Return the letters of the names of the streamer and of the bot."""
    settings = request.settings
    bot_login = await channel_state.read(request.db, "bot_login")
    owners = {
        settings.twitch.channel,
        settings.bot.name,
        *settings.bot.aliases,
        bot_login,
    }
    return {_BETWEEN_LETTERS.sub("", skeleton(owner)) for owner in owners}


def _spellings(name: str) -> set[str]:
    """Return the logins and names that a name looks like: "b0b." looks like "bob"."""
    folded = name.casefold()
    # In Latin letters: Cyrillic and other alphabets have letters that look the same.
    looks = skeleton(name)
    spellings = {folded, looks}
    for letters in (folded, looks, unleet(looks)):
        joined = _BETWEEN_LETTERS.sub("", letters)
        # Of all signs a login may have the underscore alone.
        underscored = _BETWEEN_LETTERS.sub("_", letters)
        spellings.add(joined)
        spellings.add(underscored.strip("_"))
    return spellings


def _count_choice(request: Request) -> None:
    """Count a choice of the asker. Raises Refused if there were too many in an hour.

    To remove what was chosen is always allowed.
    """
    limiter = request.context.privacy.name_limiter
    if not limiter.allows(request.asker.viewer_id, request.now):
        raise Refused("too_many_names")


async def _store(request: Request, viewer_id: str, **words: str) -> None:
    """Store a chosen name, how it is said, or pronouns; "" removes one."""
    async with request.db.write() as tx:
        await privacy_choices.set_wishes(tx, viewer_id, words, request.now)


OPERATIONS = (
    Operation(
        "call_me",
        ANYBODY,
        call_me,
        params=(text_parameter("name", optional=True),),
        chat=("!callme [name]",),
        examples=("!callme Deb (say: deb)",),
    ),
    Operation(
        "pronouns",
        ANYBODY,
        pronouns,
        params=(text_parameter("words", optional=True),),
        chat=("!pronouns [words]",),
        examples=("!pronouns they/them",),
    ),
    Operation(
        "uncall",
        MODERATORS | DOCK,
        uncall,
        params=(Parameter("viewer", ParameterKind.VIEWER),),
        chat=("!uncall <viewer>",),
        examples=("!uncall alice",),
    ),
)
