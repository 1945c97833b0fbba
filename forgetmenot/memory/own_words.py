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
    """Return a topic without "my", and without the articles of its language.

    "mi perra" is "perra", "die Katzen" "Katzen". "Die Hard" stays as it is: a topic with an English
    word in it is English.
    """
    bare = phrases.without_possessives(topic)
    parts = bare.split()
    small = FOREIGN_STOPWORDS - STOPWORDS
    telling = [part for part in parts if not small.issuperset(words(part))]
    if not telling or is_english(" ".join(telling)):
        return bare
    return " ".join(telling)


def is_english(text: str) -> bool:
    """Return whether a text has a telling word of English; True where the table of words cannot be read."""
    table = word_table()
    if table is None:
        return True
    telling = [
        word for word in words(text) if word not in STOPWORDS | FOREIGN_STOPWORDS
    ]
    return any(table.number(stem(word)) is not None for word in telling)


def is_foreign(text: str) -> bool:
    """Return whether a text is in another language than English: the rules of English cannot read it."""
    is_latin = any("a" <= letter <= "z" for letter in text.casefold())
    if not is_latin:
        return any(letter.isalpha() for letter in text)
    if UNSPACED.search(text) or is_german(text):
        return True
    foreign = 0
    english = 0
    for word in text.split():
        parts = words(word)
        is_english_stopword = STOPWORDS.issuperset(parts)
        is_foreign_stopword = (
            FOREIGN_STOPWORDS.issuperset(parts) and not is_english_stopword
        )
        # an accent tells as well: "à" is not "a"
        if is_foreign_stopword or not word.isascii():
            foreign += 1
        elif is_english_stopword:
            english += 1
    if foreign != english:
        return foreign > english
    return not is_english(text)


class _SharedWords(NamedTuple):
    """The number of typed words that a note has, with the words beside it, and that its fact has."""

    in_note: int
    in_fact: int


def best_matches(typed: str, candidates: Sequence[Note]) -> list[Note]:
    """Return the notes with the largest number of the typed words, and of those the ones with most in the fact.

    Where no word fits exactly, one that differs by a slip or an ending will do. None if no note has any.
    """
    stems = topic_stems(without_small_words(typed))
    stems = stems - FOREIGN_STOPWORDS or stems
    matches = _best([_shared_words(stems, note) for note in candidates], candidates)
    if not matches:
        similar = [
            _SharedWords(_similar_word_count(typed, note), 0) for note in candidates
        ]
        matches = _best(similar, candidates)
    return matches


def _best(
    shared_words: Sequence[_SharedWords], candidates: Sequence[Note]
) -> list[Note]:
    """Return the notes that share most, none if no note shares a word."""
    most_shared = max(shared_words, default=_SharedWords(0, 0))
    if most_shared.in_note == 0:
        return []
    pairs = zip(shared_words, candidates, strict=True)
    return [note for shared, note in pairs if shared == most_shared]


def _shared_words(stems: frozenset[str], note: Note) -> _SharedWords:
    in_note = stems & mentioned_stems(note.text_with_topics)
    in_fact = stems & mentioned_stems(note.fact)
    return _SharedWords(len(in_note), len(in_fact))


def _similar_word_count(typed: str, note: Note) -> int:
    """Return the number of typed words that are nearly a word of a note."""
    note_words = [
        word for word in words(note.text_with_topics) if len(word) >= _SHORTEST_ALIKE
    ]
    count = 0
    for word in words(typed):
        if (
            len(word) < _SHORTEST_ALIKE
            or word in STOPWORDS
            or word in FOREIGN_STOPWORDS
        ):
            continue
        if any(similar_words(word, note_word) for note_word in note_words):
            count += 1
    return count


def may_correct(
    stored_fact: str,
    new_fact: str,
    line: str,
) -> bool:
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


def repeated_note(
    fact: str, candidates: Iterable[Note]
) -> tuple[Relation, Note] | None:
    """Return the English note that a fact in another language repeats, or corrects in its number; None if it is new.

    Every word of the fact has to stand beside the note: one that does not makes it another fact.
    """
    statement = _statement(fact)
    if statement is None:
        return None
    for note in candidates:
        stems = mentioned_stems(note.text_with_topics)
        has_verbs = all(verb_stems & stems for verb_stems in statement.verbs)
        if not has_verbs or not statement.things <= stems:
            continue
        numbers = phrases.numbers_in(note.fact)
        if statement.numbers == numbers:
            return Relation.DUPLICATE, note
        if statement.numbers and numbers:
            return Relation.CONFLICT, note
    return None


def _statement(fact: str) -> _Statement | None:
    """Return a fact taken apart; None if it is English, denies something, or names nothing."""
    if not is_foreign(fact) or phrases.says_otherwise(fact):
        return None
    verbs = phrases.verbs_in(fact)
    bare = phrases.without_numbers(without_small_words(fact))
    known_verbs = {stem(word) for word in verbs}
    things = (
        topic_stems(bare) - known_verbs - {stem(word) for word in FOREIGN_STOPWORDS}
    )
    if not things:
        return None
    # a note seldom says "have" in so many words: "has a dog" is "dog owner" as well
    telling_roots = [roots for roots in verbs.values() if roots != "have"]
    verb_stems = tuple(frozenset(map(stem, roots.split())) for roots in telling_roots)
    return _Statement(things, verb_stems, phrases.numbers_in(fact))
