"""Free text without the names of people who are not to be named in it."""

from collections.abc import Callable, Container

from forgetmenot.people.handles import names_typed, without_names
from forgetmenot.people.names import called
from forgetmenot.store.database import Source
from forgetmenot.store.names import Known


async def without_hidden_names(
    source: Source, text: str, reader: str, shown: Container[str] = ()
) -> str:
    """Free text without the names of people who opted out or were banned, but for `reader`, who is spoken to.

    `shown`: names (casefolded) that may be said all the same, as a moderator may hear who was banned.
    """

    def is_hidden(person: Known) -> bool:
        return person.hidden and person.id != reader and person.name not in shown

    return await _without_names_of(source, text, is_hidden)


async def only_naming(source: Source, text: str, viewer_ids: Container[str]) -> str:
    """Free text without the names of all but these people."""
    return await _without_names_of(source, text, lambda person: person.id not in viewer_ids)


async def _without_names_of(source: Source, text: str, is_removed: Callable[[Known], bool]) -> str:
    people = await called(source, names_typed([text]))
    removed_names = {person.name for person in people if is_removed(person)}
    return without_names(text, removed_names)
