"""What a message asks for: its words with their weights, and its time. Pure."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from forgetmenot.text.dates import NO_TIME, AskedTime, asked_time
from forgetmenot.text.questions import without_greeting
from forgetmenot.text.words import (
    FILLER,
    STOPWORDS,
    foreign_stopwords_in,
    ideographs,
    is_hiragana,
    words,
)

# What a word counts of the category and the title, and a small word of another language.
LOW_WEIGHT = 0.3
# Words that no query has; "chat" is filler in English, and in a French question it is a cat.
_IGNORED_IN_ENGLISH = STOPWORDS | FILLER
_IGNORED_ELSEWHERE = _IGNORED_IN_ENGLISH - {"chat", "chats"}
# Words that ask for what was said last, where nothing else is asked for: "what's new with me?"
_NEWEST = """new news newest latest lately recently update updates neu neues neuigkeiten zuletzt nuevo nueva novedades
    últimamente novo novidades ultimamente nouveau nouvelles neuf récemment"""
NEWEST = frozenset(words(_NEWEST))


class Query(Struct, frozen=True):
    """What a message asks for.

    `words`: the words asked for, with their weights. `time`: what is asked about time. `is_general`: nothing in
    particular is asked for, as by a greeting or "what do you know about me?". `newest`: what was said last is asked
    for, as by "what's new?"; then `is_general` is set too. `zone`: the time zone of the days that the message names.
    """

    words: Mapping[str, float] = field(default_factory=dict)
    time: AskedTime = NO_TIME
    is_general: bool = False
    newest: bool = False
    zone: str = ""

    @property
    def telling(self) -> list[str]:
        """Return the message's own words, without those that count little."""
        return [word for word, weight in self.words.items() if weight >= 1]


def query_of(
    text: str,
    *,
    context: str = "",
    names: Iterable[str] = (),
    zone: str = "",
) -> Query:
    """Return what a text asks for.

    The words of `context` (category, title) count less, those of `names` not at all. What counts less must stand in a
    note as it is: it matches no misspelling. Small words of other languages count less too: "hat", "son" and "van" are
    some.
    """
    # scripts without spaces are searched sign by sign as well
    typed_words = words(without_greeting(text)) + ideographs(text)
    small_words = foreign_stopwords_in(typed_words)
    ignored = _ignored_words(names, is_english=not small_words)
    weights: dict[str, float] = {}
    for word in words(context):
        if word not in ignored:
            weights[word] = LOW_WEIGHT
    for word in typed_words:
        if word in ignored:
            continue
        is_small = word in small_words or is_hiragana(word)
        weights[word] = LOW_WEIGHT if is_small else 1.0
    telling = {word for word, weight in weights.items() if weight >= 1}
    if telling and telling <= NEWEST:
        return Query(is_general=True, newest=True, zone=zone)
    return Query(weights, asked_time(text), is_general=not telling, zone=zone)


def _ignored_words(names: Iterable[str], *, is_english: bool) -> frozenset[str]:
    """Return the words that no query has: those of these names, small ones and filler."""
    words_of_names: set[str] = set()
    for name in names:
        words_of_names.update(words(name))
    small_words = _IGNORED_IN_ENGLISH if is_english else _IGNORED_ELSEWHERE
    return small_words | words_of_names
