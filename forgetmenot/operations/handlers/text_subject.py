"""Whom a typed text is about: "@bob drums", "bob: plays drums", "I play drums", "the lamp is broken"."""

import re

from forgetmenot.domain import Target
from forgetmenot.errors import FactRefused
from forgetmenot.memory import own_words
from forgetmenot.operations.targets import CHANNEL_WORDS, own_target, resolve_target
from forgetmenot.operations.types import Refused, Request
from forgetmenot.people import names
from forgetmenot.people.common_words import is_ordinary
from forgetmenot.text.chat_commands import (
    fact_about_other,
    first_word,
    main_clause,
    own_fact,
)
from forgetmenot.text.mentions import without_links
from forgetmenot.text.names import compact
from forgetmenot.text.phrases import describes_somebody_else

# "this about bob" says nothing that could be kept.
_SAYS_NOTHING = re.compile(
    r"(?:(?:this|that|it) (?:about|of|from)|about|of) @?\w+[.!]*", re.IGNORECASE
)


async def subject_and_fact(request: Request, typed: str) -> tuple[Target, str]:
    """Return the subject of a typed text and the fact.

    A moderator's text that names no known viewer is about the channel. Raises Refused if a viewer writes about somebody
    else.
    """
    asker = request.asker
    if _SAYS_NOTHING.fullmatch(typed):
        raise Refused("about_yourself")
    # Asked before anything is cut: a link could stand in a clause that is left out.
    if not asker.moderates and without_links(typed) != typed:
        raise FactRefused("link")
    typed = main_clause(typed)
    name, rest = first_word(typed.removeprefix("about "))
    own_names = {asker.login.casefold(), asker.display_name.casefold()}
    if name.casefold() in own_names:
        return own_target(asker), fact_about_other(rest)
    fact = own_fact(typed, for_channel=asker.moderates)
    # A moderator's text in any language may be about the channel, so it is not taken for their own.
    if fact is None and not asker.moderates and _is_own_in_another_language(typed):
        fact = typed
    names_somebody = await _begins_with_name(request, typed, name, rest)
    if fact is not None and not names_somebody:
        return own_target(asker), fact
    if asker.moderates:
        return await _named_subject_and_fact(request, typed, name, rest)
    raise Refused("about_yourself" if fact is None else "not_yours")


async def _begins_with_name(
    request: Request,
    typed: str,
    name: str,
    rest: str,
) -> bool:
    """Return whether a text begins with somebody's name: "@bob's cat is mine", "bob hates me".

    `name` and `rest`: its first word, and what follows that.
    """
    if begins_with_at(typed):
        return True
    if rest.startswith(("'s ", "’s ", ":")):
        return True
    if is_ordinary(compact(name)):
        return False
    return bool(await names.called(request.db, [name.casefold()]))


def _is_own_in_another_language(typed: str) -> bool:
    """Return whether a text that the rules of English cannot read may speak of whoever typed it: "vivo en Madrid"."""
    return own_words.is_foreign(typed) and not describes_somebody_else(typed)


async def _named_subject_and_fact(
    request: Request,
    typed: str,
    name: str,
    rest: str,
) -> tuple[Target, str]:
    """Return whom a moderator's text is about, and the fact.

    That is the person whose name begins the text; the channel, if it begins with no name. `name` and `rest`: the first
    word of `typed`, and what follows it.
    """
    # "the channel is ten years old" begins with the name "channel".
    if name.casefold() == "the":
        name, rest = first_word(rest)
    must_be_name = typed.startswith("@") or rest.startswith(":")
    typed_name = as_typed(typed, name)
    about = await named_target(request, typed_name, must_be_name=must_be_name)
    if about is None:
        return Target(), typed
    # "stream starts at 8" is kept whole, "stream: starts at 8" without its label.
    is_label = rest.lstrip().startswith(":")
    if about.id is None and not is_label:
        return about, typed
    return about, fact_about_other(rest)


async def subject_and_rest(request: Request, typed: str) -> tuple[Target, str]:
    """Return the subject of a text, and the text without it: "@bob drums" is about bob if a moderator says it.

    A viewer's text is always about themselves. Raises Refused if it begins with the @name of somebody else.
    """
    asker = request.asker
    has_at = begins_with_at(typed)
    if not asker.moderates and not has_at:
        return own_target(asker), typed
    # "about bob drums" names bob as "bob drums" does.
    name, rest = first_word(typed.removeprefix("about "))
    # first_word drops the @, which tells "@channel", a viewer, from "channel".
    typed_name = as_typed(typed, name)
    # Looked up for a viewer as well: this raises Refused for the @name of somebody else.
    about = await named_target(request, typed_name, must_be_name=has_at)
    if about is None or not asker.moderates:
        return own_target(asker), typed
    return about, rest.strip(" :,")


def begins_with_at(typed: str) -> bool:
    """Return whether a text begins with an @name."""
    return typed.strip().startswith("@")


def as_typed(typed: str, name: str) -> str:
    """Return the name that begins a text, with its @ if it has one: "@channel" can be a viewer."""
    return f"@{name}" if begins_with_at(typed) else name


async def named_target(
    request: Request,
    name: str,
    *,
    must_be_name: bool,
) -> Target | None:
    """Return who goes by a name; None if nobody does. Raises Refused where it must be somebody's name.

    An ordinary word ("drums are loud") is nobody's name unless it must be.
    """
    is_channel_word = name.casefold() in CHANNEL_WORDS
    is_word = is_ordinary(compact(name)) and not is_channel_word
    if is_word and not must_be_name:
        return None
    # An empty name would mean the asker; nobody can be called "?".
    looked_up = name or "?"
    try:
        return await resolve_target(
            request.context, request.asker, looked_up, may_be_short=True
        )
    except Refused as refusal:
        if must_be_name or refusal.result.code != "unknown_viewer":
            raise
        return None
