"""What a line of chat corrects of what is known of its speaker.

`revised` asks a table of weights (text/classifier) that scripts/train_corrections.py trained on labelled lines:

1. Could a line like this correct anything? Most are sorted out here.
2. Which of the known facts does it correct, if one: says it something else instead, or only that it no longer holds?
3. Which of its words are the new value, and which words of the fact the old one?

What quotes, supposes or jokes (`meant_part`) is not asked about. Prefers "nothing": where two facts fit
equally, and where it is not sure. A fact that is surely corrected, but not surely to what, is only no longer known.
docs/EVALUATION.md has how often it is right.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar

from forgetmenot.domain.memory import Note
from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.memory.facts.correction_features import Pairing, Span, Values, denied, line_features, read_words
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.text.classifier import WeightTable, classifier, share
from forgetmenot.text.statements import claims, fact_of, is_moping, meant_part, own_fact
from forgetmenot.text.words import STOPWORDS, stem, telling_stems, words

MAY, SHORTLISTED, SURE_OF_WORDS = 0.1, 0.02, 0.4
"""Probabilities: that a line corrects something, that it is this fact, and that both values are the right words."""
SURE, SURE_WHERE_SPOKEN_OF, SURE_WHERE_PLAIN, SURE_WHERE_TOLD = 0.9, 0.8, 0.4, 0.97
"""That it surely is this fact: in general, where it was just spoken of, where the line says so too, and of commands."""
AHEAD = 0.3
"""So much more likely than any other fact's must the correction of one be."""
ASKED = 3
"""Facts for which values are looked for, the likeliest."""

_SAYS_SO = lex.as_set("correction scratch scrap strike meant misspoke mistyped")
_HINTS = _SAYS_SO | lex.as_set("* no nope nah not wait oops sorry mean actually nein nee non não nie")
_STARRED = re.compile(r"\*[\w'’ -]{2,30}|[\w'’ -]{2,30}\*")
_ARTICLE = re.compile(r"\b(?i:an?) \Z")
_SOMEBODY = re.compile(
    r"\b(?:he|she|his|her|their|him|them|sis|bro|(?:my|our) (?:\w+ )?(?:brother|sister|mum|mom|dad|mother|father|son"
    r"|daughter|wife|husband|partner|girlfriend|boyfriend|friend|mate|boss|neighbou?r|roommate|cousin|uncle|aunt"
    r"|kid)s?)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;.!]+(?:\s+|\Z)|\s[-–—]+\s|\b(?:and|but|so)\b\s*", re.IGNORECASE)


MOST_COMPARED = 30
"""Facts that a line is held against."""
LONGEST_LINE = 200
"""Characters of a line that may correct something: what it takes grows with the square."""


class Before(NamedTuple):
    """What came before a line: the bot's `said` to its speaker ("bot"), their own line ("own"), a command ("told")."""

    by: str = ""
    said: str = ""


NOTHING_BEFORE = Before()


class Stated(Protocol):
    """A note, or something else that is known."""

    @property
    def fact(self) -> str:
        """What it says, without its subject."""


Known = TypeVar("Known", bound=Stated)


def may_correct(text: str) -> bool:
    """Whether a line could correct something; most could not."""
    return likelihood(_table(), text) >= MAY


def likelihood(table: WeightTable, text: str) -> float:
    """How likely a line is to correct something, whatever is known."""
    return share(table.sum_for("line", line_features(text)))


def corrected(meant: str, held: Sequence[Note], before: Before = NOTHING_BEFORE) -> tuple[Note, str | None] | None:
    """The live note that a line contradicts, and what it says instead: None if only that it no longer holds.

    What the line plainly claims ("I live in Bergen now") is compared with each note first.
    """
    repeated: set[int] = set()
    for forms in _readings(meant):
        for fact in forms:
            related = [(relate(note.fact, fact), note) for note in held]
            same = {note.id for relation, note in related if relation is Relation.DUPLICATE}
            repeated |= same
            conflicts = [note for relation, note in related if relation is Relation.CONFLICT]
            if not same and len(conflicts) == 1:
                return _in_earnest(conflicts[0], fact)
            if same:
                break
    found = revised(meant, [note for note in held if note.id not in repeated], before)
    return found and _in_earnest(*found)


def _in_earnest(note: Note, fact: str | None) -> tuple[Note, str | None] | None:
    return None if is_moping(note.fact, fact or "") else (note, fact)


class Judged(NamedTuple):
    """How sure it is that a line corrects the fact of this number, and the corrected fact, None if it is not known."""

    sure: float
    number: int
    fact: str | None


def revised(line: str, held: Sequence[Known], before: Before = NOTHING_BEFORE) -> tuple[Known, str | None] | None:
    """The one known fact that a line corrects, and the fact with its new value, or None if that is not sure."""
    if len(line) > LONGEST_LINE:
        return None
    near = _nearest(line, held)
    spoken_of = _spoken_of([known.fact for known in near], before.said)
    if not may_correct(line):  # unless it is about what was just spoken of: "no, Bergen"
        if before.by != "bot" and not _HINTS & {word.word for word in read_words(line)}:
            return None
        near, spoken_of = [near[at] for at in sorted(spoken_of)], set(range(len(spoken_of)))
    judged = sorted(judged_of(line, tuple(known.fact for known in near), before), reverse=True) if near else []
    if not judged or (len(judged) > 1 and judged[0].sure - judged[1].sure < AHEAD):
        return None
    best = judged[0]
    least = SURE_WHERE_TOLD if before.by == "told" else SURE
    if best.number in spoken_of:
        least = SURE_WHERE_PLAIN if _says_so(line) else SURE_WHERE_SPOKEN_OF
    return (near[best.number], best.fact) if best.sure >= least else None


def _says_so(line: str) -> bool:
    """Whether a line says that it corrects what was just said: "*Bergen", "scratch that, Dark Souls 3"."""
    return bool(_STARRED.fullmatch(line) or any(word.word in _SAYS_SO for word in read_words(line)))


def _nearest(line: str, held: Sequence[Known]) -> Sequence[Known]:
    """Of very many known facts, those that share words with the line, and the newest."""
    if len(held) <= MOST_COMPARED:
        return held
    said = telling_stems(line)
    newest = list(reversed(held))
    return sorted(newest, key=lambda known: -len(said & telling_stems(known.fact)))[:MOST_COMPARED]


@lru_cache(maxsize=1_024)
def judged_of(line: str, facts: tuple[str, ...], before: Before) -> list[Judged]:
    """As `judge`, by the program's own table; what was heard today is asked about for each reply."""
    return judge(line, facts, before, _table())


def judge(line: str, facts: Sequence[str], before: Before, table: WeightTable) -> list[Judged]:
    """Of the facts that a line may correct, the likeliest."""
    beside = pairings(line, facts, before)
    likely = sorted(((share(table.sum_for("fact", one.features)), at) for at, one in enumerate(beside)), reverse=True)
    return [_judged(table, line, at, facts[at], beside[at]) for may, at in likely[:ASKED] if may >= SHORTLISTED]


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
    """The span with the largest sum, that sum, and its share among all."""
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
    """Whether a line of its subject carries a model's correction of a note: every new word is theirs."""
    meant = "" if line.rstrip().endswith("?") else meant_part(line)
    said, before, after = map(telling_stems, (meant, old, new))
    fresh, gone = after - before, before - after
    own = fresh <= said and bool(fresh or gone & said) and fresh.isdisjoint(denied(read_words(meant), gone))
    return own and not (_SOMEBODY.search(meant) and not _SOMEBODY.search(old)) and not is_moping(old, new)


def meant_note(held: Sequence[Note], fact: str) -> Note | None:
    """The one note that a new text is about: the one that it contradicts, or shares the most telling words with."""
    said = {stem(word) for word in words(fact)} - STOPWORDS
    shared = {note.id: len(said & {stem(word) for word in words(note.fact)}) for note in held}
    most = max(shared.values(), default=0)
    conflicts = [note for note in held if relate(note.fact, fact) is Relation.CONFLICT]
    found = conflicts or [note for note in held if most and shared[note.id] == most]
    return found[0] if len(found) == 1 else None


def _readings(meant: str) -> Iterator[tuple[str, ...]]:
    """What a line may state of its speaker, each in the forms that a note may have.

    "My cat is called Soot" is also what it says of the one cat there is; "Hades is my favourite game" stands on its
    head.
    """
    for claim in claims(meant):
        definite = ("their " + claim.removeprefix("'s "),) if claim.startswith("'s ") else ()
        yield fact_of(claim), *definite
    for clause in _CLAUSE.split(meant):
        value, _, what = clause.partition(" is my ")
        if what:
            yield (own_fact(f"my {what} is {value}") or "",)


def _table() -> WeightTable:
    return classifier("corrections")
