"""What people name in their own words. Notes are English; beside each stand words of the language that was spoken.

`asked_with` and `topics` are those words (memory/extraction). By them a note is found, hidden or said again by whoever
types "meine Meerschweinchen" or "猫". Pure.
"""

from collections.abc import Iterable, Sequence

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

# How near the meanings of two facts are (a cosine) that say one thing of somebody, as two jobs do. Of 20 pairs those of
# one kind had .15 or more, those of two kinds at most .05.
SAME_KIND = 0.12
# Of shorter words (in letters) each is one slip away from many.
_SHORTEST_SIMILAR = 4


def without_small_words(topic: str) -> str:
    """Return a topic without "my", and without the articles of its language.

    "mi perra" is "perra", "die Katzen" "Katzen". "Die Hard" stays as it is: a topic with an English
    word in it is English.
    """
    bare = phrases.without_possessives(topic)
    small_words = FOREIGN_STOPWORDS - STOPWORDS
    parts = []
    for part in bare.split():
        # a part may be of two words: "die-Katze"
        if not small_words.issuperset(words(part)):
            parts.append(part)
    without_articles = " ".join(parts)
    if not parts or is_english(without_articles):
        return bare
    return without_articles


def is_english(text: str) -> bool:
    """Return whether a text has a telling word of English; True where the table of words cannot be read."""
    table = word_table()
    if table is None:
        return True
    for word in words(text):
        if word in STOPWORDS or word in FOREIGN_STOPWORDS:
            continue
        if table.number(stem(word)) is not None:
            return True
    return False


def is_foreign(text: str) -> bool:
    """Return whether a text is in another language than English: the rules of English cannot read it."""
    is_latin = any("a" <= letter <= "z" for letter in text.casefold())
    if not is_latin:
        return any(letter.isalpha() for letter in text)
    if UNSPACED.search(text) or is_german(text):
        return True
    # the small words decide; where they are even, the others
    foreign_count = 0
    english_count = 0
    for word in text.split():
        parts = words(word)
        is_english_stopword = STOPWORDS.issuperset(parts)
        is_foreign_stopword = FOREIGN_STOPWORDS.issuperset(parts)
        # an accent counts as well: "à" is not "a"
        if not word.isascii() or (is_foreign_stopword and not is_english_stopword):
            foreign_count += 1
        elif is_english_stopword:
            english_count += 1
    if foreign_count != english_count:
        return foreign_count > english_count
    return not is_english(text)


def best_matches(typed: str, candidates: Sequence[Note]) -> list[Note]:
    """Return the notes with the largest number of the typed words, and of those the ones with most in the fact.

    Where no word fits exactly, one that differs by a slip or an ending will do. Returns none if no note has any.
    """
    stems = topic_stems(without_small_words(typed))
    # all of them where there are no others: "wer" alone may be meant
    stems = stems - FOREIGN_STOPWORDS or stems
    shared_counts = [_shared_counts(stems, note) for note in candidates]
    matches = _with_largest(shared_counts, candidates)
    if matches:
        return matches
    similar_counts = [(_similar_count(typed, note), 0) for note in candidates]
    return _with_largest(similar_counts, candidates)


def _with_largest(
    counts: Sequence[tuple[int, int]], candidates: Sequence[Note]
) -> list[Note]:
    """Return the notes with the largest counts; none if the first count of all is 0."""
    largest = max(counts, default=(0, 0))
    if largest[0] == 0:
        return []
    pairs = zip(counts, candidates, strict=True)
    return [note for count, note in pairs if count == largest]


def _shared_counts(stems: frozenset[str], note: Note) -> tuple[int, int]:
    """Return how many of these stems a note has, with the words beside it, and how many its fact has."""
    note_stems = mentioned_stems(note.text_with_topics)
    fact_stems = mentioned_stems(note.fact)
    return len(stems & note_stems), len(stems & fact_stems)


def _similar_count(typed: str, note: Note) -> int:
    """Return the number of typed words that are nearly a word of a note."""
    note_words = [
        word for word in words(note.text_with_topics) if len(word) >= _SHORTEST_SIMILAR
    ]
    count = 0
    for word in words(typed):
        if len(word) < _SHORTEST_SIMILAR:
            continue
        if word in STOPWORDS or word in FOREIGN_STOPWORDS:
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
    stored_stems = telling_stems(stored_fact)
    new_stems = telling_stems(new_fact)
    return nearness(stored_stems, new_stems) >= SAME_KIND


def repeated_note(
    fact: str, candidates: Iterable[Note]
) -> tuple[Relation, Note] | None:
    """Return the English note that a fact in another language repeats, or corrects in its number.

    Every word of the fact has to stand beside the note: one that does not makes it another fact. None if there is no
    such note, and for a fact that is English, denies something or names nothing.
    """
    if not is_foreign(fact) or phrases.says_otherwise(fact):
        return None
    # the verbs that are known, with their English roots
    verbs = phrases.verbs_in(fact)
    things = _things_in(fact, verbs)
    if not things:
        return None
    # a note seldom says "have" in so many words: "has a dog" is "dog owner" as well
    telling_roots = [roots for roots in verbs.values() if roots != "have"]
    stems_of_verbs = []
    for roots in telling_roots:
        stems_of_verbs.append({stem(root) for root in roots.split()})
    numbers = phrases.numbers_in(fact)
    for note in candidates:
        note_stems = mentioned_stems(note.text_with_topics)
        if not things <= note_stems:
            continue
        if any(note_stems.isdisjoint(verb_stems) for verb_stems in stems_of_verbs):
            continue
        note_numbers = phrases.numbers_in(note.fact)
        if numbers == note_numbers:
            return Relation.DUPLICATE, note
        if numbers and note_numbers:
            return Relation.CONFLICT, note
    return None


def _things_in(fact: str, verbs: Iterable[str]) -> frozenset[str]:
    """Return the stems of a fact in another language without its small words, its numbers and these verbs."""
    bare = phrases.without_numbers(without_small_words(fact))
    small_stems = {stem(word) for word in FOREIGN_STOPWORDS}
    verb_stems = {stem(word) for word in verbs}
    return topic_stems(bare) - verb_stems - small_stems
