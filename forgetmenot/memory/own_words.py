"""Compares notes with words in the language of the people who wrote them. Pure.

Notes are in English. Beside each stand words of the language that was spoken: `asked_with` and `topics`
(memory/extraction). So "meine Meerschweinchen" or "猫" finds, hides or repeats an English note.
"""

from collections.abc import Iterable, Sequence

from forgetmenot.domain import Note
from forgetmenot.memory.compare_facts import Relation
from forgetmenot.text import phrases
from forgetmenot.text.dates import without_times
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

# Two facts are of one kind, as two jobs are, if their meanings are at least this near (a cosine). Of 20 pairs those of
# one kind had .15 or more, those of two kinds at most .05.
SAME_KIND = 0.12
# Shorter words (in letters) are not compared: each is one slip away from many others.
_SHORTEST_SIMILAR = 4


def without_small_words(topic: str) -> str:
    """Return a topic without "my" and without articles of its language.

    "mi perra" is "perra", "die Katzen" is "Katzen". "Die Hard" stays: a topic with an English word is in English, where
    "die" is no article.
    """
    without_my = phrases.without_possessives(topic)
    small_words = FOREIGN_STOPWORDS - STOPWORDS
    remaining_parts = []
    for part in without_my.split():
        # a part may be of two words: "die-Katze"
        if not small_words.issuperset(words(part)):
            remaining_parts.append(part)
    without_articles = " ".join(remaining_parts)
    if not remaining_parts or is_english(without_articles):
        return without_my
    return without_articles


def is_english(text: str) -> bool:
    """Return whether a text has an English word besides stopwords.

    If the word table cannot be read, every text counts as English.
    """
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
    """Return whether a text is not in English."""
    is_latin = any("a" <= letter <= "z" for letter in text.casefold())
    if not is_latin:
        return any(letter.isalpha() for letter in text)
    if UNSPACED.search(text) or is_german(text):
        return True
    # the stopwords decide; if both sides are even, the other words do
    foreign_count = 0
    english_count = 0
    for word in text.split():
        parts = words(word)
        is_english_stopword = STOPWORDS.issuperset(parts)
        is_foreign_stopword = FOREIGN_STOPWORDS.issuperset(parts)
        # a word with an accent is foreign: "à" is not the English "a"
        if not word.isascii() or (is_foreign_stopword and not is_english_stopword):
            foreign_count += 1
        elif is_english_stopword:
            english_count += 1
    if foreign_count != english_count:
        return foreign_count > english_count
    return not is_english(text)


def best_matches(typed: str, candidates: Sequence[Note]) -> list[Note]:
    """Return the notes with the most typed words, and of those the ones with the most of them in the fact.

    If no note has a typed word, words that differ by a slip or an ending count. The list is empty if nothing matches.
    """
    stems = topic_stems(without_small_words(typed))
    # foreign stopwords are left out, unless nothing else was typed: "wer" alone may be meant
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
    """Return the notes with the largest counts; none if the first number of every count is 0."""
    largest = max(counts, default=(0, 0))
    if largest[0] == 0:
        return []
    pairs = zip(counts, candidates, strict=True)
    return [note for count, note in pairs if count == largest]


def _shared_counts(stems: frozenset[str], note: Note) -> tuple[int, int]:
    """Return how many of the stems a note has in its fact or beside it, and how many in its fact alone."""
    note_stems = mentioned_stems(note.text_with_topics)
    fact_stems = mentioned_stems(note.fact)
    return len(stems & note_stems), len(stems & fact_stems)


def _similar_count(typed: str, note: Note) -> int:
    """Return how many typed words are spelt nearly like a word of the note."""
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
    """Return whether an English fact may be the correction of a stored fact by a line in another language.

    The line's words cannot be compared with English ones, so both facts must be of the same kind, as "works as a baker"
    and "is a firefighter" are. New numbers of the fact must stand in the line, but for dates, which stand for its
    "yesterday". A question corrects nothing.
    """
    if not is_foreign(line) or not has_content(line):
        return False
    if "?" in line or "？" in line or opens_as_question(line):
        return False
    counted_numbers = phrases.numbers_in(without_times(new_fact))
    new_numbers = counted_numbers - phrases.numbers_in(stored_fact)
    if not new_numbers <= phrases.numbers_in(line):
        return False
    stored_stems = telling_stems(stored_fact)
    new_stems = telling_stems(new_fact)
    return nearness(stored_stems, new_stems) >= SAME_KIND


def repeated_note(
    fact: str, candidates: Iterable[Note]
) -> tuple[Relation, Note] | None:
    """Return the English note that a foreign fact repeats or, with another number, contradicts.

    Every word of the fact must be in the note or beside it. None if there is no such note, or if the fact is English,
    denies something or names nothing.
    """
    if not is_foreign(fact) or phrases.says_otherwise(fact):
        return None
    # by known verb of the fact: its English roots, with spaces between them
    verbs = phrases.verbs_in(fact)
    thing_stems = _things_in(fact, verbs)
    if not thing_stems:
        return None
    # "have" need not be in the note: "has a dog" may read "dog owner" there
    telling_roots = [roots for roots in verbs.values() if roots != "have"]
    stems_of_verbs = []
    for roots in telling_roots:
        stems_of_verbs.append({stem(root) for root in roots.split()})
    numbers = phrases.numbers_in(fact)
    for note in candidates:
        note_stems = mentioned_stems(note.text_with_topics)
        if not thing_stems <= note_stems:
            continue
        if any(note_stems.isdisjoint(verb_stems) for verb_stems in stems_of_verbs):
            continue
        note_numbers = phrases.numbers_in(note.fact)
        if numbers == note_numbers:
            return Relation.DUPLICATE, note
        # "has dogs" does not contradict "has two dogs"
        if numbers and note_numbers:
            return Relation.CONFLICT, note
    return None


def _things_in(fact: str, verbs: Iterable[str]) -> frozenset[str]:
    """Return the stems of what a foreign fact names, without stopwords, numbers and these verbs."""
    things_text = phrases.without_numbers(without_small_words(fact))
    small_stems = {stem(word) for word in FOREIGN_STOPWORDS}
    verb_stems = {stem(word) for word in verbs}
    return topic_stems(things_text) - verb_stems - small_stems
