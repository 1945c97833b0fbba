"""Free text without the names of people who are not to be named in it."""

import re
from collections.abc import Callable, Container

from forgetmenot.people.common_words import is_ordinary
from forgetmenot.people.handles import names_typed, without_names
from forgetmenot.people.names import called
from forgetmenot.store.database import Source
from forgetmenot.store.names import Known, by_login
from forgetmenot.text.mentions import SOMEBODY, is_login, provisional_id
from forgetmenot.text.names import compact

_TYPED_NAME = re.compile(r"[@＠]?\b\w{3,25}\b")


async def without_hidden_names(
    source: Source,
    text: str,
    reader: str,
    shown: Container[str] = (),
) -> str:
    """Free text without the names of people who opted out or were banned, but for `reader`, who is spoken to.

    `shown`: names (casefolded) that may be said all the same, as a moderator may hear who was banned.
    """

    def is_hidden(person: Known) -> bool:
        return person.hidden and person.id != reader and person.name not in shown

    return await _without_names_of(source, text, is_hidden)


async def only_naming(
    source: Source,
    text: str,
    viewer_ids: Container[str],
) -> str:
    """Free text without the names of all but these people."""
    return await _without_names_of(
        source, text, lambda person: person.id not in viewer_ids
    )


async def _without_names_of(
    source: Source,
    text: str,
    is_removed: Callable[[Known], bool],
) -> str:
    people = await called(source, names_typed([text]))
    removed_names = {person.name for person in people if is_removed(person)}
    return without_names(text, removed_names)


async def without_erased_names(source: Source, text: str) -> str:
    """Return a stream's title without the logins of people who were erased and have not come back.

    Twitch reports the title each minute as the streamer typed it, also after an erasure took a name
    out of it. An ordinary word counts as a name only behind an @.
    """
    erased: dict[str, bool] = {}
    for typed in dict.fromkeys(_TYPED_NAME.findall(text)):
        erased[typed] = await _is_erased(source, typed)
    return _TYPED_NAME.sub(
        lambda match: SOMEBODY if erased[match[0]] else match[0], text
    )


async def _is_erased(source: Source, typed: str) -> bool:
    login = typed.lstrip("@＠").casefold()
    is_marked = typed[0] in "@＠"
    if not is_login(login) or (not is_marked and is_ordinary(compact(login))):
        return False
    if source.requests.erased_at(provisional_id(login)) < 0:
        return False
    return await by_login(source, login) is None
