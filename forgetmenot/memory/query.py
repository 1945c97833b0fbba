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

# The weight of words of the category and title, and of stopwords of other languages. Other words weigh 1.
LOW_WEIGHT = 0.3
# Words that no query contains. "chat" is filler in English, but means "cat" in French.
_IGNORED_IN_ENGLISH = STOPWORDS | FILLER
_IGNORED_ELSEWHERE = _IGNORED_IN_ENGLISH - {"chat", "chats"}
# Words that ask for what was said last, where nothing else is asked for: "what's new with me?"
_NEWEST = """new news newest latest lately recently update updates neu neues neuigkeiten zuletzt nuevo nueva novedades
    últimamente novo novidades ultimamente nouveau nouvelles neuf récemment"""
NEWEST = frozenset(words(_NEWEST))


class Query(Struct, frozen=True):
    """What a message asks for.

    `words`: the words asked for, with their weights. `time`: the question about time. `is_general`: no word is asked
    for, as in a greeting or "what do you know about me?". `newest`: the question is what was said last, as in "what's
    new?"; then `is_general` is set too. `zone`: the time zone of the days that the message names.
    """

    words: Mapping[str, float] = field(default_factory=dict)
    time: AskedTime = NO_TIME
    is_general: bool = False
    newest: bool = False
    zone: str = ""

    @property
    def telling(self) -> list[str]:
        """Return the words of full weight: the message's own words, without stopwords."""
        return [word for word, weight in self.words.items() if weight >= 1]


def query_of(
    text: str,
    *,
    context: str = "",
    names: Iterable[str] = (),
    zone: str = "",
) -> Query:
    """Return what a text asks for.

    Words of `context` (category, title) and stopwords of other languages ("hat", "son", "van") get LOW_WEIGHT. Words of
    `names` are left out. `zone`: as in Query.
    """
    # scripts without spaces have no words between spaces, so each of their signs is searched, too
    typed_words = words(without_greeting(text)) + ideographs(text)
    foreign_stopwords = foreign_stopwords_in(typed_words)
    ignored = _IGNORED_ELSEWHERE if foreign_stopwords else _IGNORED_IN_ENGLISH
    words_of_names: set[str] = set()
    for name in names:
        words_of_names.update(words(name))
    weights: dict[str, float] = {}
    for word in words(context):
        if word not in ignored and word not in words_of_names:
            weights[word] = LOW_WEIGHT
    for word in typed_words:
        if word in ignored or word in words_of_names:
            continue
        # a word of hiragana alone is mostly an ending or a particle
        is_stopword = word in foreign_stopwords or is_hiragana(word)
        weights[word] = LOW_WEIGHT if is_stopword else 1.0
    telling = {word for word, weight in weights.items() if weight >= 1}
    if telling and telling <= NEWEST:
        return Query(is_general=True, newest=True, zone=zone)
    return Query(weights, asked_time(text), is_general=not telling, zone=zone)
