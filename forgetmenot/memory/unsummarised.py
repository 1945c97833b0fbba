"""Searches what was said and is not summarised yet, so that a question minutes later is answered.

- Only typed lines of the people who are asked for, or of anybody where a question names nobody ("who wanted
  chipotle?"), at most a day old; none that was deleted in chat, and none of people who are hidden.
- A line is returned if it shares something with the question: a word, one of nearly the same meaning, or one that is a
  slip of the finger away. Where the question asks for nothing in particular, what they said of themselves is returned.
- No commands, also none in words to the bot ("@bot remember that …": only the note of an accepted one counts), no
  questions, nothing sensitive that the settings do not allow; of anybody nothing sensitive at all.
"""

from collections import defaultdict
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import islice
from typing import NamedTuple

from forgetmenot.domain import PromptLine
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory.query import Query
from forgetmenot.memory.word_index import (
    NEAR_WEIGHT,
    SPELT_WEIGHT,
    is_one_slip,
    rarity,
)
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Source
from forgetmenot.store.events import ChatLines
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.meaning import WordTable, word_table
from forgetmenot.text.questions import is_question, speaks_of_self
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.words import (
    LINES_CACHED,
    key_of_line,
    stem,
    text_cache,
    words_of_line,
)

MOST_LINES = 6
# How many people may have typed the same words. More are a chant; one who copies a line must not hide it.
MOST_ALIKE = 5
# Only this many of the newest lines are compared with a question.
MOST_COMPARED = 100
# Only this many words of a question are looked for, its last ones. Hundreds of words, each compared with thousands,
# would hold up the whole bot for seconds.
MOST_ASKED_WORDS = 40
# A word counts as a word of the question if their meanings are at least this near (a cosine).
LEAST_NEARNESS = 0.4
# A line needs at least this part of the best line's score.
LEAST_OF_BEST = 0.5
# Letters at the beginning of a word that are hardly ever wrong.
UNTOUCHED_BY_SLIPS = 2


class Question(NamedTuple):
    """A question, the ids of the events that hold it, and when it was asked (ms): later lines are left out."""

    query: Query
    event_ids: Collection[str]
    at: int


async def search(
    source: Source,
    question: Question,
    viewer_ids: Sequence[str] | None,
    *,
    settings: Settings,
    now: int,
    is_request: Callable[[str], bool],
    chat: ChatLines | None = None,
) -> list[PromptLine]:
    """Return the lines of these people that fit a question, the newest first, at most MOST_LINES.

    `viewer_ids`: None for the lines of anybody. `is_request`: whether a line is a command to the bot in words. `now`
    in ms. `chat`: the newest lines until the question, which the caller has read; they are not read again. Raises
    StoreError.
    """
    if viewer_ids is not None and not viewer_ids:
        return []
    longest_age = min(DAY, int(settings.memory.raw_events_h * HOUR))
    since = now - longest_age
    if viewer_ids is None and chat is not None and chat.lines:
        lines = await _newest_of_anybody(source, chat, since, question.at)
    else:
        lines = await events.unsummarised(
            source, viewer_ids, since=since, until=question.at, limit=MOST_COMPARED
        )
    # left out before lines are compared: the question itself, and others like it, would share all of its words
    lines = _statements(lines, question.event_ids)
    if not lines:
        return []
    allowed = frozenset(settings.privacy.allow_categories)
    if viewer_ids is None:
        lines = _without_chants(lines)
        # Nothing sensitive is shown, even if the settings allow it: it would answer "who has …?" with a person's name.
        allowed = frozenset()
    query = question.query
    if query.is_general:
        # a general question has no word to look for; what people said about themselves answers it
        newest_first = reversed(lines)
        best_first = [line for line in newest_first if speaks_of_self(line.text)]
    else:
        table = word_table()
        last_words = query.telling[-MOST_ASKED_WORDS:]
        asked_words = [_AskedWord(word, table) for word in last_words]
        best_first = _best_matches(lines, asked_words)
    # asked of the few best lines only, because it takes long
    talk = (line for line in best_first if not is_request(line.text))
    showable = _showable(talk, allowed, settings.privacy.never_store)
    shown = list(islice(showable, MOST_LINES))
    # the best lines are chosen, and then put in order of time, the newest first
    shown.sort(key=lambda line: (line.at, line.id), reverse=True)
    return shown


async def _newest_of_anybody(
    source: Source,
    chat: ChatLines,
    since: int,
    until: int,
) -> list[PromptLine]:
    """Return the newest lines of anybody between two times (ms), oldest first, at most MOST_COMPARED.

    `chat`: the newest of chat. What came before is read.
    """
    newest = [line for line in chat.unsummarised if line.at >= since]
    newest = newest[-MOST_COMPARED:]
    older = await events.unsummarised(
        source,
        None,
        since=since,
        until=until,
        limit=MOST_COMPARED - len(newest),
        before=chat.lines[0],
    )
    return [*older, *newest]


def _without_chants(lines: Sequence[PromptLine]) -> list[PromptLine]:
    """Return the lines without words that more than MOST_ALIKE people typed.

    Words that many shout alike are shown with the present chat, as one line.
    """
    people_by_words: dict[str, set[str | None]] = defaultdict(set)
    for line in lines:
        people_by_words[key_of_line(line.text)].add(line.viewer_id)
    other_lines = []
    for line in lines:
        people = people_by_words[key_of_line(line.text)]
        if len(people) <= MOST_ALIKE:
            other_lines.append(line)
    return other_lines


def _statements(
    lines: Iterable[PromptLine],
    question_ids: Collection[str],
) -> list[PromptLine]:
    """Return the lines that are no command and no question.

    `question_ids`: the ids of the events that hold the question itself.
    """
    statements = []
    for line in lines:
        if line.event_id in question_ids:
            continue
        if _is_statement(line.text):
            statements.append(line)
    return statements


# The same lines are compared with one question after the other.
@text_cache(LINES_CACHED)
def _is_statement(text: str) -> bool:
    """Return whether a line is no command and no question."""
    return not is_command(text) and not is_question(text)


def _showable(
    lines: Iterable[PromptLine],
    allowed: frozenset[str],
    never_store: Iterable[str],
) -> Iterator[PromptLine]:
    """Yield the lines that hold nothing sensitive.

    `allowed`: the sensitive categories that may be shown. `never_store`: what the settings never store.
    """
    for line in lines:
        category = sensitive_category(line.text, allow=allowed, extra=never_store)
        if category is None:
            yield line


class _AskedWord:
    """A word of the question, ready to be compared with the words of lines."""

    def __init__(self, word: str, table: WordTable | None) -> None:
        word_stem = stem(word)
        # by stem, first the word's own: how much words of that stem count as this word (0 to 1)
        self._shares = {word_stem: 1.0}
        number = None
        if table is not None:
            number = table.number(word_stem)
        if table is not None and number is not None:
            for near_number, nearness in table.near(number):
                if nearness < LEAST_NEARNESS:
                    continue
                near_stem = table.stem_of(near_number)
                self._shares.setdefault(near_stem, NEAR_WEIGHT * nearness)
        # a line can match this word only if it has one of these marks (`_words_by_mark`)
        self.marks = set(self._shares)
        # a word that the table does not list may be misspelt
        self._misspelt: str | None = None
        if number is None:
            self._misspelt = word
            self.marks.add(word[:UNTOUCHED_BY_SLIPS])

    def shares_in(self, lines: "_LineWords") -> dict[str, float]:
        """Return the words of the lines that count as this one, each with how much it counts (0 to 1)."""
        shares = {}
        for word_stem, share in self._shares.items():
            for line_word in lines.by_stem.get(word_stem, ()):
                shares[line_word] = share
        if self._misspelt is None:
            return shares
        beginning = self._misspelt[:UNTOUCHED_BY_SLIPS]
        for line_word in lines.by_beginning.get(beginning, ()):
            if line_word not in shares and is_one_slip(self._misspelt, line_word):
                shares[line_word] = SPELT_WEIGHT
        return shares


# The same lines are compared with one question after the other.
@text_cache(LINES_CACHED)
def _words_by_mark(text: str) -> Mapping[str, Sequence[str]]:
    """Return the words of a line by their marks: the stem and the first letters of each.

    A line and an asked word can match only if they share a mark.
    """
    words_by_mark: dict[str, list[str]] = defaultdict(list)
    for line_word in words_of_line(text):
        marks = {stem(line_word), line_word[:UNTOUCHED_BY_SLIPS]}
        for mark in marks:
            words_by_mark[mark].append(line_word)
    return dict(words_by_mark)


class _LineWords:
    """The words of lines that share a mark with a question.

    `places`: by word, the places of the lines that have it. `by_stem`, `by_beginning`: the words with each stem, and
    with each beginning of UNTOUCHED_BY_SLIPS letters.
    """

    def __init__(
        self, lines: Sequence[PromptLine], asked_words: Iterable[_AskedWord]
    ) -> None:
        asked_marks: set[str] = set()
        for asked_word in asked_words:
            asked_marks |= asked_word.marks
        self.places: dict[str, list[int]] = defaultdict(list)
        for place, line in enumerate(lines):
            words_by_mark = _words_by_mark(line.text)
            # most words share no mark
            marked_words: set[str] = set()
            for mark in asked_marks & words_by_mark.keys():
                marked_words.update(words_by_mark[mark])
            for line_word in marked_words:
                self.places[line_word].append(place)
        self.by_stem: dict[str, list[str]] = defaultdict(list)
        self.by_beginning: dict[str, list[str]] = defaultdict(list)
        for line_word in self.places:
            self.by_stem[stem(line_word)].append(line_word)
            beginning = line_word[:UNTOUCHED_BY_SLIPS]
            self.by_beginning[beginning].append(line_word)


def _best_matches(
    lines: Sequence[PromptLine], asked_words: Sequence[_AskedWord]
) -> list[PromptLine]:
    """Return the lines that share enough words with a question, the best first, and of equal ones the newest.

    The fewer lines have a word, the more it counts. A line needs LEAST_OF_BEST of the best score.
    """
    line_words = _LineWords(lines, asked_words)
    scores = [0.0] * len(lines)
    for asked_word in asked_words:
        shares = _shares_of_lines(asked_word, line_words)
        word_rarity = rarity(len(shares), len(lines))
        for place, share in shares.items():
            scores[place] += share * word_rarity
    least = LEAST_OF_BEST * max(scores, default=0.0)
    fitting = []
    for place, score in enumerate(scores):
        if score > 0 and score >= least:
            fitting.append(place)

    def rank(place: int) -> tuple[float, int, int]:
        """Return the sort key: the larger the better, and for equal scores the newer."""
        line = lines[place]
        return scores[place], line.at, line.id

    fitting.sort(key=rank, reverse=True)
    return [lines[place] for place in fitting]


def _shares_of_lines(
    asked_word: _AskedWord,
    line_words: _LineWords,
) -> dict[int, float]:
    """Return how much the nearest word of a line counts as an asked one, by the place of the line."""
    shares: dict[int, float] = {}
    for line_word, share in asked_word.shares_in(line_words).items():
        for place in line_words.places[line_word]:
            shares[place] = max(share, shares.get(place, 0.0))
    return shares
