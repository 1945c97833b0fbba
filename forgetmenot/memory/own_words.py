"""What people name in their own words. Notes are English; beside each stand words of the language that was spoken.

`asked_with` and `topics` are those words (memory/extraction). By them a note is found, hidden or said again by whoever
types "meine Meerschweinchen" or "猫". Pure.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from forgetmenot.domain import Note
from forgetmenot.memory.compare_facts import Relation
from forgetmenot.text import phrases
from forgetmenot.text.meaning import nearness, word_table
from forgetmenot.text.questions import opens_as_question
from forgetmenot.text.small_talk import has_content
from forgetmenot.text.words import (
    FOREIGN_STOPWORDS,
    STOPWORDS,
    UNSPACED,
    is_german,
    mentioned_stems,
    similar_words,
    stem,
    telling_stems,
    topic_stems,
    words,
)

# How near two facts are that say one thing of somebody: of 20 pairs those of one kind were .15 or more apart from 0,
# those of two kinds at most .05.
SAME_KIND = 0.12
# Of a note's words so short none is told from another by a slip.
_SHORTEST_ALIKE = 4


def without_small_words(topic: str) -> str:
    """A topic without "my", and without the articles of its language: "mi perra" is "perra", "die Katzen" "Katzen".

    "Die Hard" stays as it is: a topic with an English word in it is English.
    """
    bare = phrases.without_possessives(topic)
    parts = bare.split()
    small = FOREIGN_STOPWORDS - STOPWORDS
    telling = [part for part in parts if not small.issuperset(words(part))]
    if not telling or is_english(" ".join(telling)):
        return bare
    return " ".join(telling)


def is_english(text: str) -> bool:
    """Whether a text has a telling word of English; also where the table of words cannot be read."""
    table = word_table()
    if table is None:
        return True
    telling = [word for word in words(text) if word not in STOPWORDS | FOREIGN_STOPWORDS]
    return any(table.number(stem(word)) is not None for word in telling)


def is_foreign(text: str) -> bool:
    """Whether a text is in another language than English: the rules of English cannot read it."""
    is_latin = any("a" <= letter <= "z" for letter in text.casefold())
    if not is_latin:
        return any(letter.isalpha() for letter in text)
    if UNSPACED.search(text) or is_german(text):
        return True
    foreign = 0
    english = 0
    for word in text.split():
        is_small = FOREIGN_STOPWORDS.issuperset(words(word)) and not STOPWORDS.issuperset(
            words(word)
        )
        if is_small or not word.isascii():  # an accent: "à" is not "a"
            foreign += 1
        elif STOPWORDS.issuperset(words(word)):
            english += 1
    if foreign != english:
        return foreign > english
    return not is_english(text)


def best_matches(typed: str, known: Sequence[Note]) -> list[Note]:
    """The notes with the largest number of the typed words, those first that say them themselves; none without any.

    Where no word fits exactly, one that differs by a slip or an ending will do.
    """
    asked = topic_stems(without_small_words(typed))
    asked = asked - FOREIGN_STOPWORDS or asked
    scores = {note.id: _shared(asked, note) for note in known}
    best = max(scores.values(), default=(0, 0))
    if not best[0]:
        scores = {note.id: (_alike_words(typed, note), 0) for note in known}
        best = max(scores.values(), default=(0, 0))
    if not best[0]:
        return []
    return [note for note in known if scores[note.id] == best]


def _shared(asked: frozenset[str], note: Note) -> tuple[int, int]:
    """The number of these stems that a note has, and that its fact has."""
    return len(asked & mentioned_stems(note.text_with_topics)), len(
        asked & mentioned_stems(note.fact)
    )


def _alike_words(typed: str, note: Note) -> int:
    """The number of typed words that are nearly a word of a note."""
    known = [word for word in words(note.text_with_topics) if len(word) >= _SHORTEST_ALIKE]
    asked = [word for word in words(typed) if word not in STOPWORDS | FOREIGN_STOPWORDS]
    long_enough = [word for word in asked if len(word) >= _SHORTEST_ALIKE]
    return sum(any(similar_words(word, other) for other in known) for word in long_enough)


def may_correct(stored_fact: str, new_fact: str, line: str) -> bool:
    """Return whether an English fact may be what a line of another language says instead of a stored one.

    No word of the line can be compared with it, so that its meaning has to do: it is of the same kind as what it
    corrects ("works as a baker" and "is a firefighter"). Its numbers stand in the line. A question corrects nothing.
    """
    if not is_foreign(line) or not has_content(line):
        return False
    if "?" in line or "？" in line or opens_as_question(line):
        return False
    new_numbers = phrases.numbers_in(new_fact) - phrases.numbers_in(stored_fact)
    if not new_numbers <= phrases.numbers_in(line):
        return False
    return nearness(telling_stems(stored_fact), telling_stems(new_fact)) >= SAME_KIND


class _Statement(NamedTuple):
    """A fact in another language, taken apart. `verbs`: the English stems of each verb that is known."""

    things: frozenset[str]
    verbs: tuple[frozenset[str], ...]
    numbers: frozenset[str]


def said_before(fact: str, known: Iterable[Note]) -> tuple[Relation, Note] | None:
    """The English note that a fact in another language repeats, or corrects in its number; None if it is new.

    Every word of the fact has to stand beside the note: one that does not makes it another fact.
    """
    statement = _statement(fact)
    if statement is None:
        return None
    for note in known:
        stems = mentioned_stems(note.text_with_topics)
        does_as_much = all(verb & stems for verb in statement.verbs)
        if not (does_as_much and statement.things <= stems):
            continue
        numbers = phrases.numbers_in(note.fact)
        if statement.numbers == numbers:
            return Relation.DUPLICATE, note
        if statement.numbers and numbers:
            return Relation.CONFLICT, note
    return None


def _statement(fact: str) -> _Statement | None:
    """Take a fact apart; None where it is English, denies something, or names nothing."""
    if not is_foreign(fact) or phrases.says_otherwise(fact):
        return None
    verbs = phrases.verbs_in(fact)
    bare = phrases.without_numbers(without_small_words(fact))
    known_verbs = {stem(word) for word in verbs}
    things = topic_stems(bare) - known_verbs - {stem(word) for word in FOREIGN_STOPWORDS}
    if not things:
        return None
    roots = tuple(
        frozenset(map(stem, roots.split())) for roots in verbs.values() if roots != "have"
    )
    return _Statement(things, roots, phrases.numbers_in(fact))
