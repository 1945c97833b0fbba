"""What a line of chat corrects of what is known of its speaker.

`corrected` compares what the line plainly claims with each fact, then sums the weights of a table (text/classifier)
that scripts/train_corrections.py trained on labelled lines:

1. Could a line like this correct anything? Most are sorted out here.
2. Which of the known facts does it correct, if one: does it replace it, or only end it?
3. Which of its words are the new value, and which words of the fact the old one?

Callers leave out what asks, quotes, supposes or jokes (text/statements, `stated_part`). Prefers "nothing": where two
facts fit equally, and where it is not sure. A fact that is surely corrected, but not surely to what, only ends.
docs/EVALUATION.md has how often it is right.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from forgetmenot.domain.memory import Note
from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.memory.facts.correction_features import (
    OTHERS,
    Pairing,
    Span,
    Values,
    denied,
    line_features,
    read_words,
)
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.text.caches import text_cache
from forgetmenot.text.classifier import WeightTable, classifier, share
from forgetmenot.text.statements import claims, fact_of, is_moping, own_fact, stated_part
from forgetmenot.text.words import telling_stems

MAY_CORRECT, MAY_CORRECT_WHAT_WAS_SAID = 0.1, 0.03
"""Least probability that a line corrects anything, for it to be compared with what is known, or was just spoken of."""
SHORTLISTED = 0.02
"""Least probability that it corrects a fact, for values to be looked for in it."""
SURE_OF_WORDS = 0.4
"""Least probability that both values are the right words; below, the fact only ends."""
LIKELY, SHORT = 0.5, 4
"""The same, to ask about a fact that was just spoken of; and the words of a line in which "no" is enough for it."""
SURE = 0.9
"""Least probability for a correction."""
SURE_WHERE_SPOKEN_OF = 0.8
"""The same, of a fact that was just spoken of."""
SURE_WHERE_ANNOUNCED = 0.4
"""The same, of a fact that was just spoken of, by a line that says that it corrects: "*Bergen"."""
SURE_OF_COMMANDS = 0.97
"""The same, by the text of a command."""
LEAD = 0.3
"""By how much a fact must be likelier to be corrected than any other."""

MOST_COMPARED = 30
"""Facts that a line is compared with."""
MOST_SHORTLISTED = 3
"""Facts in which values are looked for, the likeliest."""
LONGEST_LINE = 200
"""Characters of a line that may correct something: what it takes grows with the square."""

_OBJECTS = lex.as_set("""no nope nah not wait oops sorry mean actually wrong nein nee non não nie correction
    scratch scrap strike meant misspoke mistyped""")
"""Words of a line that objects to what was just said."""
_IDIOM = re.compile(r"\bno (?:way|idea|problem|worries|cap|thanks|doubt|offen[cs]e|u)\b|\boh no\b", re.IGNORECASE)
"""What has a "no" and denies nothing."""
_ANNOUNCES = re.compile(
    r"\A\*[\w'’ -]{2,30}\Z|\A[\w'’ -]{2,30}\*\Z|\b(?:correction|scratch|scrap|strike|meant|misspoke|mistyped)\b",
    re.IGNORECASE,
)
"""What says that it corrects what was just said: "*Bergen", "scratch that, Dark Souls 3"."""
_FROM_TO = re.compile(r"(?:from )?(.+?) (?:to|->) (.+)")
_ARTICLE = re.compile(r"\b(?i:an?) \Z")


class Before(NamedTuple):
    """What came before a line. `by` says whose words `said` are: the bot's to its speaker ("bot") or theirs ("own").

    "told": nothing came before, the line is the text of a command. "": nothing came before.
    """

    by: str = ""
    said: str = ""


NOTHING_BEFORE = Before()


class KnownFact(Protocol):
    """A note or a heard fact."""

    @property
    def fact(self) -> str:
        """What it says, without its subject."""


Known = TypeVar("Known", bound=KnownFact)


def seems_to_correct(line: str, *, to_bot: bool) -> bool:
    """Whether a line behind one of the bot's may mean to correct it: enough to ask. `to_bot`: it speaks to the bot."""
    said = [word.word for word in read_words(line) if not word.is_sign]
    objects = (to_bot or len(said) <= SHORT) and not _OBJECTS.isdisjoint(said)
    return (objects and not _IDIOM.search(line)) or likelihood(classifier("corrections"), line) >= LIKELY


def may_correct(line: str) -> bool:
    """Whether a line could correct what was just spoken of ("no, Bergen"); most could not."""
    return likelihood(classifier("corrections"), line) >= MAY_CORRECT_WHAT_WAS_SAID


def likelihood(table: WeightTable, text: str) -> float:
    """How likely a line is to correct something, whatever is known."""
    return share(table.sum_for("line", line_features(text)))


class Judged(NamedTuple):
    """The probability that a line corrects the fact of this number, and the fact as it then reads: None if it ends."""

    sure: float
    number: int
    fact: str | None


def corrected(line: str, held: Sequence[Known], before: Before = NOTHING_BEFORE) -> tuple[Known, str | None] | None:
    """The fact that a line corrects, and how it then reads: None if it only ends. None if it corrects nothing.

    `line`: as `stated_part` leaves it. What it plainly claims ("I live in Bergen now") comes first.
    """
    for new in _claimed(line):
        related = [(relate(known.fact, new), known) for known in held]
        against = [one for found, one in related if found is Relation.CONFLICT or _instead(line, one.fact, new)]
        if len(against) == 1 and not any(found is Relation.DUPLICATE for found, _ in related):
            return against[0], new
    return _by_weights(line, held, before)


def _claimed(line: str) -> Iterator[str]:
    """What a line claims, in the forms that a note may have: "has a cat called Soot" is "their cat is called Soot"."""
    for claim in claims(line):
        yield fact_of(claim)
        if claim.startswith("'s "):
            yield f"their {claim[3:]}"


def _instead(line: str, old: str, new: str) -> bool:
    """Whether a line says by name that all of an old fact that is not in the new one is untrue: "Max not Rex"."""
    before, after = telling_stems(old), telling_stems(new)
    gone = before - after
    return all((before & after, gone, after - before)) and gone <= denied(read_words(line))


def _by_weights(line: str, held: Sequence[Known], before: Before) -> tuple[Known, str | None] | None:
    if len(line) > LONGEST_LINE or not may_correct(line):
        return None
    near = _compared(line, held)
    spoken_of = [near[at] for at in sorted(_spoken_of([known.fact for known in near], before.said))]
    near = near if likelihood(classifier("corrections"), line) >= MAY_CORRECT else spoken_of
    judged = sorted(judged_of(line, tuple(known.fact for known in near), before), reverse=True) if near else []
    if not judged or (len(judged) > 1 and judged[0].sure - judged[1].sure < LEAD):
        return None
    best, least = judged[0], SURE_OF_COMMANDS if before.by == "told" else SURE
    if near[best.number] in spoken_of:
        least = SURE_WHERE_ANNOUNCED if _ANNOUNCES.search(line) else SURE_WHERE_SPOKEN_OF
    return (near[best.number], best.fact) if best.sure >= least else None


def _compared(line: str, held: Sequence[Known]) -> Sequence[Known]:
    """At most MOST_COMPARED of the known facts: those that share most words with the line, then the newest."""
    if len(held) <= MOST_COMPARED:
        return held
    said = telling_stems(line)
    # reversed before a stable sort, so that of equals the newest come first
    newest = list(reversed(held))
    return sorted(newest, key=lambda known: -len(said & telling_stems(known.fact)))[:MOST_COMPARED]


@text_cache(1_024)
def judged_of(line: str, facts: tuple[str, ...], before: Before) -> list[Judged]:
    """As `judge`, by the program's own table. Cached: each reply reads today's chat again."""
    return judge(line, facts, before, classifier("corrections"))


def judge(line: str, facts: Sequence[str], before: Before, table: WeightTable) -> list[Judged]:
    """Of the facts that a line may correct, the likeliest MOST_SHORTLISTED."""
    beside = pairings(line, facts, before)
    likely = sorted(((share(table.sum_for("fact", one.features)), at) for at, one in enumerate(beside)), reverse=True)
    return [
        _judged(table, line, at, facts[at], beside[at]) for may, at in likely[:MOST_SHORTLISTED] if may >= SHORTLISTED
    ]


def pairings(line: str, facts: Sequence[str], before: Before) -> list[Pairing]:
    """The line beside each fact."""
    about = _spoken_of(facts, before.said)
    return [
        Pairing(line, fact, [*facts[:at], *facts[at + 1 :]], context=before.by, said=before.said, about=at in about)
        for at, fact in enumerate(facts)
    ]


def _judged(table: WeightTable, line: str, number: int, fact: str, pairing: Pairing) -> Judged:
    values = likeliest_values(table, pairing)
    found = pairing.outcome_features(values) if values else {"no values"}
    features = pairing.features | found
    sure, ended = share(table.sum_for("corrects", features)), share(table.sum_for("ended", features))
    # where the new value is not sure the fact only ends: to say nothing is better than to say the wrong thing
    if values is None or ended >= 0.5 or share(table.sum_for("words", found)) < SURE_OF_WORDS:
        return Judged(sure, number, None)
    return Judged(sure, number, with_value(line, fact, values.new, values.old))


def likeliest_values(table: WeightTable, pairing: Pairing) -> Values | None:
    """The words of the line that are a new value, and those of the fact that are the old one, if there are any."""
    new = _likeliest((table.sum_for("new", pairing.new_value_features(one)), one) for one in pairing.new_values())
    if new is None:
        return None
    olds = ((table.sum_for("old", pairing.old_value_features(one, new[1])), one) for one in pairing.old_values())
    old = _likeliest(olds)
    return None if old is None else Values(new[1], old[1], new[0], old[0], new[2], old[2])


def _likeliest(weighed: Iterable[tuple[float, Span]]) -> tuple[float, Span, float] | None:
    """The largest sum, its span, and its share among all; None without spans."""
    found = sorted(weighed, reverse=True)
    if not found:
        return None
    most, span = found[0]
    return most, span, 1 / sum(math.exp(one - most) for one, _ in found)


def with_value(line: str, fact: str, new: Span, old: Span) -> str:
    """The fact with words of the line in the place of some of its own; capital where the old ones had one."""
    said, known = read_words(line), read_words(fact)
    value = line[said[new[0]].start : said[new[1] - 1].end]
    start, end = known[old[0]].start, known[old[1] - 1].end
    value = f"{value[0].upper()}{value[1:]}" if fact[start].isupper() else value
    before = _ARTICLE.sub("an " if value[0].lower() in "aeiou" else "a ", fact[:start])
    return f"{before}{value}{fact[end:]}"


def _spoken_of(facts: Sequence[str], text: str) -> set[int]:
    """The numbers of the facts that a text is about: those it shares the most telling words with."""
    said = telling_stems(text)
    shared = [len(telling_stems(fact) & said) for fact in facts] if said else []
    most = max(shared, default=0)
    return {at for at, one in enumerate(shared) if most and one == most}


def supports_correction(line: str, old: str, new: str) -> bool:
    """Whether a line of its subject supports a model's correction of a note: every new word is theirs."""
    meant = stated_part(line)
    said, before, after = map(telling_stems, (meant, old, new))
    fresh, gone = after - before, before - after
    own = fresh <= said and bool(fresh or gone & said) and fresh.isdisjoint(denied(read_words(meant), gone))
    others = (any(word.word in OTHERS for word in read_words(text)) for text in (meant, old))
    return own and list(others) != [True, False] and not is_moping(old, new)


def reworded(fact: str, said: str, most: int = LONGEST_LINE) -> str:
    """A fact as somebody wants it: what they said is all of it ("lives in Bergen"), or a new value ("Bergen").

    Also "Oslo to Bergen". `most`: a text of more words that says it in no form is all of it.
    """
    whole, parts = own_fact(said), _FROM_TO.fullmatch(said)
    if whole is not None and " " in whole:
        return whole
    if parts is not None and (named := re.search(rf"\b{re.escape(parts[1])}\b", fact, re.IGNORECASE)):
        return f"{fact[: named.start()]}{parts[2]}{fact[named.end() :]}"
    pairing, table = Pairing(said, fact, context="bot", about=True), classifier("corrections")
    new = max(pairing.new_values(), key=lambda span: span[1] - span[0], default=None)
    if new is None or len(said.split()) > most:
        return said
    olds = ((table.sum_for("old", pairing.old_value_features(one, new)), one) for one in pairing.old_values())
    old = _likeliest(olds)
    return said if old is None else with_value(said, fact, new, old[1])


def meant_note(held: Sequence[Note], fact: str) -> Note | None:
    """The one note that a new text is about: the one that it contradicts, or shares the most telling words with."""
    conflicts = [note for note in held if relate(note.fact, fact) is Relation.CONFLICT]
    found = conflicts or [held[at] for at in _spoken_of([note.fact for note in held], fact)]
    return found[0] if len(found) == 1 else None
