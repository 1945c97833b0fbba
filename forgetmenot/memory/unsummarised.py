"""Searches what was said and is not summarised yet, so that a question minutes later is answered.

- Only typed lines of the people who are asked for, or of anybody where a question names nobody ("who wanted
  chipotle?"), at most a day old; none that was deleted in chat, and none of people who are hidden.
- A line is returned if it shares something with the question: a word, one of nearly the same meaning, or one that is a
  slip of the finger away. Where the question asks for nothing in particular, what they said of themselves is returned.
- No commands, no questions, nothing sensitive that the settings do not allow.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from forgetmenot.domain import PromptLine
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory.query import Query
from forgetmenot.memory.word_index import (
    NEAR_WEIGHT,
    SPELT_WEIGHT,
    is_one_slip,
    rarity,
)
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store import events
from forgetmenot.store.database import Source
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import plain, words_key
from forgetmenot.text.meaning import WordTable
from forgetmenot.text.questions import is_question, speaks_of_self
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.words import stem, words

MOST_LINES = 6
# The newest lines, of the people asked for or of anybody, that are compared with the question.
MOST_COMPARED = 100
# The last words of a question that are looked for. Hundreds of them, each compared with thousands of words, would hold
# up the whole bot for seconds.
MOST_ASKED_WORDS = 40
# How near a word's meaning must be to that of a word of the question (a cosine).
LEAST_NEARNESS = 0.4
# What part of the best line's score a line must have.
LEAST_OF_BEST = 0.5
# Letters at the end of a word that a form of it may not have, and letters that are looked for at least.
MOST_ENDING = 2
SHORTEST_BEGINNING = 3
# Letters at the beginning of a word that are hardly ever wrong.
UNTOUCHED_BY_SLIPS = 2


async def search(
    source: Source,
    query: Query,
    viewer_ids: Sequence[str] | None,
    *,
    settings: Settings,
    now: int,
    until: int,
    table: WordTable | None,
) -> list[PromptLine]:
    """Return the lines of these people that fit what is asked, the newest first, at most MOST_LINES.

    `viewer_ids`: None for the lines of anybody. `until`: when the question was asked (ms); later lines are left out.
    `now` in ms. Raises StoreError.
    """
    if viewer_ids is not None and not viewer_ids:
        return []
    longest_age = min(DAY, int(settings.memory.raw_events_h * HOUR))
    lines = await events.unsummarised(
        source,
        viewer_ids,
        since=now - longest_age,
        until=until,
        limit=MOST_COMPARED,
    )
    if viewer_ids is None:
        lines = _without_chants(lines)
    if query.is_general:
        # "what do you know about me?" has no word to look for: what people said of themselves answers it
        newest_first = reversed(lines)
        best_first = [line for line in newest_first if speaks_of_self(line.text)]
    else:
        last_words = query.telling[-MOST_ASKED_WORDS:]
        asked_words = [_AskedWord(word, table) for word in last_words]
        best_first = _sharing(lines, asked_words)
    statements = _statements(best_first, settings.privacy)
    shown = list(islice(statements, MOST_LINES))
    # chosen by how well they fit, shown in order of time
    shown.sort(key=lambda line: (line.at, line.id), reverse=True)
    return shown


def _without_chants(lines: Sequence[PromptLine]) -> list[PromptLine]:
    """Return the lines whose words only one person typed: what many shout alike stands in the chat, in one line."""
    people_by_words: dict[str, set[str | None]] = defaultdict(set)
    for line in lines:
        people_by_words[words_key(line.text)].add(line.viewer_id)
    return [line for line in lines if len(people_by_words[words_key(line.text)]) == 1]


def _statements(
    lines: Iterable[PromptLine], privacy: PrivacySettings
) -> Iterator[PromptLine]:
    """Yield the lines that state something which may be shown."""
    allowed = frozenset(privacy.allow_categories)
    for line in lines:
        if is_command(line.text) or is_question(line.text):
            continue
        category = sensitive_category(
            line.text, allow=allowed, extra=privacy.never_store
        )
        if category is None:
            yield line


class _AskedWord:
    """A word of the question, to be compared with the words of lines.

    `shares`: the stems of the words that count as it, and how much (0 to 1). `beginnings`: how these words begin; a
    line without any of these letters has none of the words.
    """

    def __init__(self, word: str, table: WordTable | None) -> None:
        word_stem = stem(word)
        self.shares = {word_stem: 1.0}
        number = None
        if table is not None:
            number = table.number(word_stem)
        if table is not None and number is not None:
            for near_number, nearness in table.near(number):
                if nearness < LEAST_NEARNESS:
                    continue
                near_stem = table.stem_of(near_number)
                self.shares.setdefault(near_stem, NEAR_WEIGHT * nearness)
        self.beginnings = [_beginning(form) for form in self.shares]
        # a word that the table does not list may be misspelt
        self._misspelt: str | None = None
        if number is None:
            self._misspelt = word
            self.beginnings.append(word[:UNTOUCHED_BY_SLIPS])

    def share_of(self, line_word: str) -> float:
        """Return how much a word counts as this one: 1 for its forms, 0 for most."""
        share = self.shares.get(stem(line_word), 0.0)
        if share == 0.0 and self._is_slip(line_word):
            return SPELT_WEIGHT
        return share

    def _is_slip(self, line_word: str) -> bool:
        """Return whether a word may be this one with a slip of the finger."""
        if self._misspelt is None:
            return False
        start = self._misspelt[:UNTOUCHED_BY_SLIPS]
        return line_word.startswith(start) and is_one_slip(self._misspelt, line_word)


def _beginning(form: str) -> str:
    """Return the letters with which every form of a word begins."""
    length = max(SHORTEST_BEGINNING, len(form) - MOST_ENDING)
    return form[:length]


def _sharing(
    lines: Sequence[PromptLine], asked_words: Sequence[_AskedWord]
) -> list[PromptLine]:
    """Return the lines that share enough of the question's rarer words, best first; of equal ones the newest first."""
    places_of = _places_of_words(lines, asked_words)
    scores = [0.0] * len(lines)
    for asked_word in asked_words:
        shares = _shares_of_lines(asked_word, places_of)
        word_rarity = rarity(len(shares), len(lines))
        for place, share in shares.items():
            scores[place] += share * word_rarity
    least = LEAST_OF_BEST * max(scores, default=0.0)
    fitting = []
    for place, score in enumerate(scores):
        if score > 0 and score >= least:
            fitting.append(place)

    def rank(place: int) -> tuple[float, int, int]:
        """Return the sort key: the best last, and of equal ones the newest."""
        line = lines[place]
        return scores[place], line.at, line.id

    fitting.sort(key=rank, reverse=True)
    return [lines[place] for place in fitting]


def _shares_of_lines(
    asked_word: _AskedWord,
    places_of: Mapping[str, Iterable[int]],
) -> dict[int, float]:
    """Return how much the nearest word of each line counts as an asked one, by the place of the line.

    `places_of`: the places of the lines that have each word.
    """
    shares: dict[int, float] = {}
    for line_word, places in places_of.items():
        share = asked_word.share_of(line_word)
        if share == 0:
            continue
        for place in places:
            shares[place] = max(share, shares.get(place, 0.0))
    return shares


def _places_of_words(
    lines: Sequence[PromptLine], asked_words: Sequence[_AskedWord]
) -> dict[str, set[int]]:
    """Return the words of the lines, each with the places in `lines` of those that have it.

    Lines that can have no word that counts as an asked one are left out.
    """
    beginnings: set[str] = set()
    for asked_word in asked_words:
        beginnings.update(asked_word.beginnings)
    places_of: dict[str, set[int]] = {}
    for place, line in enumerate(lines):
        # most lines have none of these letters, and need not be read word by word
        plain_text = plain(line.text)
        if not any(beginning in plain_text for beginning in beginnings):
            continue
        for line_word in words(line.text):
            places_of.setdefault(line_word, set()).add(place)
    return places_of
