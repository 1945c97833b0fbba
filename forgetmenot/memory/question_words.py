"""The words of a question about anybody, and the words that count as them. Pure.

Searches of all notes (memory/channel_search) and of the book (memory/book) share these rules. The notes of one viewer
are few, and other words count less there (memory/word_index).
"""

from collections.abc import Collection, Iterable, Sequence

from forgetmenot.memory.query import Query
from forgetmenot.text.meaning import Meanings, WordTable
from forgetmenot.text.mentions import mention
from forgetmenot.text.words import stem

# Words of a question that are looked up, the longest: they are the rarest.
MOST_WORDS = 8
# A note may have only a word of nearly the same meaning as a short question: "who has a pet?" So more such words count
# than among one viewer's notes, and each counts more.
NEAR_STEMS = 16
NEAR_WEIGHT = 0.8


def asked_words(query: Query, people: Iterable[str]) -> list[str]:
    """Return the words of a question that are looked up: the people in it, as mentions, and its longest words.

    `people`: the ids of the people whom the question names.
    """
    longest_first = sorted(query.telling, key=len, reverse=True)
    mentions = [mention(viewer_id) for viewer_id in people]
    return [*mentions, *longest_first][:MOST_WORDS]


def near_stems(word: str, table: WordTable | None) -> dict[str, float]:
    """Return the stem of a word and the stems nearest to it in meaning, each with its share (0 to 1).

    The stem itself counts 1. It is the only one if the table is None or does not list the word.
    """
    word_stem = stem(word)
    shares = {word_stem: 1.0}
    if table is None:
        return shares
    number = table.number(word_stem)
    if number is None:
        return shares
    for near_number, nearness in table.near(number)[:NEAR_STEMS]:
        near_stem = table.stem_of(near_number)
        shares.setdefault(near_stem, NEAR_WEIGHT * nearness)
    return shares


def cosines_to(
    query: Query,
    stems_of_texts: Sequence[Collection[str]],
    table: WordTable,
) -> list[float]:
    """Return how near the meaning of each text is to a question, as a cosine (-1 to 1).

    `stems_of_texts`: the stems of each text.
    """
    # The table reads only the first words of a very long text. Sorting makes these the same in every run.
    sorted_stems = [sorted(stems) for stems in stems_of_texts]
    meanings = Meanings(table, [table.numbers(stems) for stems in sorted_stems])
    asked_stems = [stem(word) for word in query.telling]
    asked_numbers = table.numbers(asked_stems)
    return meanings.cosines(asked_numbers)
