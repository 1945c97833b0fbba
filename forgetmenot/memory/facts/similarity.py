"""Compares two short facts about one person, without a model.

It prefers "different" where it is not sure: "same" confirms the old fact and "conflict" supersedes it, and an error in
either costs more than one row too many. A rephrasing that shares no
word is different here; the model, which sees what is known, may still say otherwise.
"""

from collections.abc import Mapping
from enum import StrEnum
from itertools import chain, pairwise

from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.memory.facts.reading import COUNTRIES, Reading, read, same_word
from forgetmenot.memory.facts.slots import Slot, slots_of


class Relation(StrEnum):
    """What a new fact is to an old one."""

    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    DISTINCT = "distinct"


_SAME_ENOUGH = 0.66  # of the weight of both facts' words
_ALIKE_ENOUGH = 0.8  # the same where each has a word of its own
_OF_ONE_THING = 0.75  # for a number to correct a number
_HAVING = frozenset(
    {"has", "have", "had", "owns", "got", "gets", "bought", "collects", "wants", "knows", "can", "speaks"}
)
_NO_MORE = [
    {(has, article), (had, article)} for has, had in (("has", "had"), ("owns", "owned")) for article in ("a", "an")
]


def relate(old: str, new: str) -> Relation:
    """What `new` is to `old`: says the same, contradicts it (and should supersede it), or is another fact."""
    if old == new:
        return Relation.DUPLICATE
    one, two = read(old), read(new)
    if one.tokens and one.tokens == two.tokens:  # of emoji and signs nothing is read
        return Relation.DUPLICATE
    if one.mentions != two.mentions:
        return Relation.DISTINCT
    return _by_slot(one, two) or _by_words(one, two)


def _by_slot(one: Reading, two: Reading) -> Relation | None:
    """What single-valued slots say, if both facts fill the same one."""
    for old in slots_of(one.tokens):
        for new in slots_of(two.tokens):
            fits = not old.key or not new.key or _covers(old.key, new.key)
            if old.name == new.name and old.who == new.who and fits:
                return _same_slot(one, two, old, new)
    return None


def _covers(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether the smaller set of words is found in the larger, typos forgiven."""
    small, large = sorted((one, two), key=len)
    return all(word in large or any(same_word(word, other) for other in large) for word in small)


def _same_slot(one: Reading, two: Reading, old: Slot, new: Slot) -> Relation | None:
    agree = one.polarity == two.polarity
    if _covers(old.value, new.value) or _covers(old.spelt, new.spelt):
        if not agree:
            return Relation.CONFLICT
        if old.rest != new.rest and all(word.isdecimal() for word in (*old.rest, *new.rest)):
            return None  # how long, how often: the numbers decide
        both_say_more = old.rest and new.rest and old.rest.isdisjoint(new.rest)
        return Relation.DISTINCT if both_say_more else Relation.DUPLICATE
    # different words beside two values mean two things; there is one home and one love, whatever is added
    if old.name not in {"home", "love life"} and old.rest and new.rest and old.rest.isdisjoint(new.rest):
        return Relation.DISTINCT
    at_one_time = agree and one.polarity > 0 and not (old.past or new.past)
    exclusive = at_one_time and not _may_both_hold(one, two, old, new)
    return Relation.CONFLICT if exclusive else Relation.DISTINCT


def _may_both_hold(one: Reading, two: Reading, old: Slot, new: Slot) -> bool:
    """Whether a slot can have both values after all: "also", two indefinite pets, a city and its country."""
    if one.additive or two.additive or (old.few and new.few):
        return True
    places = old.name in {"home", "origin"}
    return places and bool(old.value & COUNTRIES) != bool(new.value & COUNTRIES)


def _by_words(one: Reading, two: Reading) -> Relation:
    """What the words, numbers and polarity of two facts say."""
    if one.owner != two.owner:
        return Relation.DISTINCT
    mine, theirs, shared = _leftovers(one, two)
    alike = _weight(shared) / max(0.1, _weight(shared) + _weight(mine) + _weight(theirs))
    if _counted(one, two) != _counted(two, one) and not _none_of_them(one, two):
        return _numbers(one, two, mine, theirs, alike)
    if one.aim != two.aim:
        return Relation.CONFLICT if _reached(one, two, mine, theirs, shared) else Relation.DISTINCT
    if one.polarity != two.polarity:
        denied = _denies(mine, theirs, alike) or _given_up(one, two, mine, theirs)
        return Relation.CONFLICT if denied else Relation.DISTINCT
    if one.never != two.never and one.ended != two.ended:
        return Relation.DISTINCT
    opposed = len(mine) == len(theirs) == 1 and theirs[0] in lex.OPPOSITES.get(mine[0], ())
    if opposed and not _compatible(one, two, shared):
        return Relation.CONFLICT
    return _duplicate(one, two, mine, theirs, alike)


def _leftovers(one: Reading, two: Reading) -> tuple[list[str], list[str], list[str]]:
    """The words only one of the facts has, and those that both have, typos forgiven."""
    mine = [word for word in one.content if word not in two.content]
    theirs = [word for word in two.content if word not in one.content]
    shared = [word for word in one.content if word in two.content]
    if mine and theirs:
        _forgive(one, two, mine, theirs, shared)
    return mine, theirs, shared


def _forgive(one: Reading, two: Reading, mine: list[str], theirs: list[str], shared: list[str]) -> None:
    """Count as shared what is one word but for a slip, or for the space inside it."""
    spelt = one.content | two.content
    for some, others in ((mine, theirs), (theirs, mine)):
        for word in tuple(some):
            runs = ((word_,) for word_ in others), pairwise(others)
            twins = next((run for run in chain(*runs) if _one_word(word, run, spelt)), ())
            if twins:
                some.remove(word)
                others[:] = [other for other in others if other not in twins]
                shared.append(word)


def _one_word(word: str, run: tuple[str, ...], spelt: Mapping[str, str]) -> bool:
    if len(run) == 1 and same_word(word, run[0]):
        return True
    written = spelt[word]
    if written[0] != spelt[run[0]][0]:
        return False
    together = "".join(spelt[part] for part in run)
    return written == together or same_word(written, together)


def _weight(words: list[str]) -> float:
    return sum(0.5 if word in lex.LIGHT_VERBS else 1.0 for word in words)


def _counted(reading: Reading, beside: Reading) -> tuple[str, ...]:
    """The numbers of a fact; "a sister" is one sister where the other fact counts sisters."""
    if not reading.numbers and reading.one and len(beside.numbers) == 1:
        return ("1",)
    return tuple(sorted(reading.numbers))


def _numbers(one: Reading, two: Reading, mine: list[str], theirs: list[str], alike: float) -> Relation:
    """Another number is a correction where everything else is the same and it is not another occasion."""
    both = _counted(one, two) and _counted(two, one)
    correction = both and not (mine and theirs) and alike >= _OF_ONE_THING and one.polarity == two.polarity
    # a number of single occasions is another occasion; not so a count of times
    occasions = (one.event or two.event) and "time" not in one.content
    return Relation.CONFLICT if correction and not occasions else Relation.DISTINCT


def _none_of_them(one: Reading, two: Reading) -> bool:
    """Whether one fact counts what there was never any of: "has no kids", "has two kids"."""
    none, some = (one, two) if one.polarity < 0 else (two, one)
    return none.polarity < 0 < some.polarity and not none.ended and not none.numbers


def _denies(mine: list[str], theirs: list[str], alike: float) -> bool:
    only_verbs = all(word in lex.LIGHT_VERBS for word in (*mine, *theirs))
    return alike >= _SAME_ENOUGH and (only_verbs or not (mine and theirs))


def _given_up(one: Reading, two: Reading, mine: list[str], theirs: list[str]) -> bool:
    """Whether one fact tells the end of what the other one does: "studies physics", "dropped out of physics"."""
    active, over = (one, two) if two.ended else (two, one)
    only = (mine, theirs) if two.ended else (theirs, mine)
    begins = list(active.content)[:1]  # nothing, where every word says nothing: "is this"
    return over.ended and only == (begins, []) and not lex.PURSUITS.isdisjoint(begins)


def _reached(one: Reading, two: Reading, mine: list[str], theirs: list[str], shared: list[str]) -> bool:
    """Whether the new fact has what the old one was after; who has one thing may well want another."""
    same = shared and all(word in lex.LIGHT_VERBS for word in (*mine, *theirs))
    has = two.polarity > 0 and not lex.REACHED.isdisjoint(two.tokens.split()[:2])
    return bool(same) and one.aim and has


def _compatible(one: Reading, two: Reading, shared: list[str]) -> bool:
    """Whether one may do both: like both, own both, have done both."""
    having = not _HAVING.isdisjoint(one.tokens.split()[:2])
    return having or lex.LIKE in shared or one.event or two.event or one.additive or two.additive


def _had(one: Reading, two: Reading) -> bool:
    """Whether a thing is still had by one fact only: "has a dog", "had a dog"."""
    verbs = {tuple(reading.tokens.split()[:2]) for reading in (one, two)}
    return verbs in _NO_MORE and lex.CHILDREN.isdisjoint(one.content)


def _duplicate(one: Reading, two: Reading, mine: list[str], theirs: list[str], alike: float) -> Relation:
    named = any(word in one.names or word in two.names or "#" in word for word in (*mine, *theirs))
    if _had(one, two):
        return Relation.CONFLICT if alike >= _SAME_ENOUGH and not (mine and theirs) else Relation.DISTINCT
    if (mine and theirs and named) or one.passive != two.passive or not lex.TELLING.isdisjoint((*mine, *theirs)):
        return Relation.DISTINCT
    enough = _ALIKE_ENOUGH if named or (mine and theirs) else _SAME_ENOUGH
    return Relation.DUPLICATE if alike >= enough else Relation.DISTINCT
