"""Whom a name means, among the people who are in chat now. Pure.

Promises: an id in the proposal means nothing (digits are tried as a name like any other); a name that fits nobody
or two people is refused; a name that only looks like somebody's (other letters) fits nobody.
"""

from collections.abc import Iterable

from forgetmenot.actions.facts import Found, Person
from forgetmenot.text.clean import clean

SELF_WORDS = frozenset({"me", "myself", "self"})


def resolve(name: str, present: Iterable[Person], asker: Person) -> tuple[Found, Person | None]:
    """The person in chat who goes by that login or display name; `me` is the asker."""
    wanted = bare(name)
    people = {person.id: person for person in present}
    people.setdefault(asker.id, asker)
    if wanted in SELF_WORDS:
        return Found.FOUND, people[asker.id]
    fits = [person for person in people.values() if wanted and wanted in _names(person)]
    by_login = [person for person in fits if person.login.casefold() == wanted]
    if len(by_login) == 1 and len(fits) == 1:
        return Found.FOUND, by_login[0]
    if len(fits) == 1:
        return Found.FOUND, fits[0]
    return (Found.AMBIGUOUS if fits else Found.UNKNOWN), None


def bare(name: str) -> str:
    """A name as it was meant, without what is written around it, in lower case."""
    return clean(name).lstrip("@").rstrip(",.:;!?").casefold()


def _names(person: Person) -> set[str]:
    return {person.login.casefold(), clean(person.display_name).casefold()} - {""}
