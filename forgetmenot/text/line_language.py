"""Which language a line is in, as far as its words show it, and which words it has. Pure.

common_words.txt has the most frequent words of German, Spanish, Portuguese and French
(scripts/build_common_words.py); those of English are in the word table (text/meaning).

"""

from enum import Enum
from functools import cache
from importlib.resources import files

from forgetmenot.text.meaning import is_common_word
from forgetmenot.text.words import (
    FOREIGN_STOPWORDS,
    STOPWORDS,
    UNSPACED,
    text_cache,
    words,
)


class LineLanguage(Enum):
    """What a line is written in."""

    ENGLISH = "English"
    OTHER = "another language"
    UNKNOWN = "too short to say"


@cache
def _common_words() -> frozenset[str]:
    listed = files(__package__).joinpath("common_words.txt").read_text("utf-8")
    return frozenset(listed.split())


def is_word_of_another_language(word: str) -> bool:
    """Return whether a folded word is frequent in German, Spanish, Portuguese or French."""
    return word in _common_words()


@text_cache(1_024)
def line_language(text: str) -> LineLanguage:
    """Return the language of most of a line's words; words of both languages show nothing."""
    if UNSPACED.search(text):
        return LineLanguage.OTHER
    english_count = 0
    other_count = 0
    for word in words(text):
        is_english = word in STOPWORDS
        is_of_another = word in FOREIGN_STOPWORDS or is_word_of_another_language(word)
        # English is known by its stop words alone: its other words are borrowed everywhere.
        if is_english and not is_of_another:
            english_count += 1
        elif is_of_another and not is_english and not is_common_word(word):
            other_count += 1
    if english_count == other_count:
        return LineLanguage.UNKNOWN
    if english_count > other_count:
        return LineLanguage.ENGLISH
    return LineLanguage.OTHER
