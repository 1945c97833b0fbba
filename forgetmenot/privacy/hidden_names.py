"""Removes from free text the names of people who are not to be named in it."""

import re
from collections.abc import Callable, Container

from forgetmenot.people.common_words import is_ordinary
from forgetmenot.people.handles import names_typed, without_names
from forgetmenot.people.names import called
from forgetmenot.store.database import Source
from forgetmenot.store.names import Known, by_login
from forgetmenot.text.mentions import SOMEBODY, is_login, provisional_id
from forgetmenot.text.names import compact

# Twitch's logins have 3 to 25 letters, digits and underscores; some keyboards type a wide @.
_TYPED_NAME = re.compile(r"[@＠]?\b\w{3,25}\b")


async def without_hidden_names(
    source: Source,
    text: str,
    reader: str,
    shown: Container[str] = (),
) -> str:
    """Return a text without the names of people who opted out or were banned.

    `reader`: the id of the viewer whom the text is for; their own name stays.
    `shown`: names (casefolded) that stay as well, as a moderator may hear who was banned.
    """

    def is_not_shown(person: Known) -> bool:
        if person.id == reader:
            return False
        if person.name in shown:
            return False
        return person.hidden

    return await _without_people(source, text, is_not_shown)


async def only_naming(
    source: Source,
    text: str,
    viewer_ids: Container[str],
) -> str:
    """Return a text without the names of all but these people."""

    def is_other(person: Known) -> bool:
        return person.id not in viewer_ids

    return await _without_people(source, text, is_other)


async def _without_people(
    source: Source,
    text: str,
    is_removed: Callable[[Known], bool],
) -> str:
    # Whoever is hidden too: the index that replies use does not know them.
    typed_names = names_typed([text])
    people = await called(source, typed_names)
    removed_names = {person.name for person in people if is_removed(person)}
    return without_names(text, removed_names)


async def without_erased_names(source: Source, text: str) -> str:
    """Return a stream's title without the logins of people who were erased and have not come back.

    Twitch reports the title each minute as the streamer typed it, also after an erasure took a name
    out of it. An ordinary word counts as a name only behind an @.
    """
    erased_names = set()
    typed_names = set(_TYPED_NAME.findall(text))
    for typed_name in typed_names:
        if await _is_erased(source, typed_name):
            erased_names.add(typed_name)

    def replacement(match: re.Match[str]) -> str:
        return SOMEBODY if match[0] in erased_names else match[0]

    return _TYPED_NAME.sub(replacement, text)


async def _is_erased(source: Source, typed_name: str) -> bool:
    """Return whether a typed name is the login of an erased person, and of nobody else by now."""
    is_marked = typed_name[0] in "@＠"
    login = typed_name.lstrip("@＠").casefold()
    if not is_login(login):
        return False
    if not is_marked and is_ordinary(compact(login)):
        return False
    # Nothing else knows an erased name: the request is stored by the id and by each name.
    was_erased = source.requests.erased_at(provisional_id(login)) >= 0
    if not was_erased:
        return False
    return await by_login(source, login) is None
