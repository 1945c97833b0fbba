"""Searches what was said and is not summarised yet, so that a question minutes later is answered.

- Only typed lines of the people who are asked for, at most a day old; none that was deleted in chat, and none of
  people who are hidden.
- A line is returned if it shares something with the question: a word, one of nearly the same meaning, or one that is
  spelt nearly so. Where the question asks for nothing in particular, what they said of themselves is returned.
- No commands, no questions, nothing sensitive that the settings do not allow.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from forgetmenot.domain import PromptLine
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory.ranking import Query, WordIndex
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Source
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.meaning import WordTable
from forgetmenot.text.questions import is_question, speaks_of_self
from forgetmenot.text.sensitive import sensitive_category
from forgetmenot.text.words import STOPWORDS, words

MOST_LINES = 6
# The newest lines of the people asked for that are compared with the question.
MOST_COMPARED = 100
# How much a word must count as one of the question's (`WordIndex.like`).
LEAST_ALIKE = 0.2
# What part of the best line's score a line must have.
LEAST_OF_BEST = 0.5


async def search(
    at: Source,
    query: Query,
    viewer_ids: Sequence[str],
    *,
    settings: Settings,
    now: int,
    until: int,
    table: WordTable | None,
) -> list[PromptLine]:
    """Return the lines of these people that fit what is asked, the newest first.

    `until`: when the question was asked (ms); later lines are left out.
    """
    since = now - min(DAY, int(settings.memory.raw_events_h * HOUR))
    lines = await events.unsummarised(at, viewer_ids, since=since, until=until, limit=MOST_COMPARED)
    telling = [line for line in lines if not is_command(line.text) and not is_question(line.text)]
    if query.anything:
        fitting = [line for line in telling if speaks_of_self(line.text)]
    else:
        fitting = _sharing(telling, query.telling, table)
    shown: list[PromptLine] = []
    for line in fitting:
        if len(shown) == MOST_LINES:
            break
        if _may_be_shown(line, settings):
            shown.append(line)
    return sorted(shown, key=lambda line: (line.at, line.id), reverse=True)


def _may_be_shown(line: PromptLine, settings: Settings) -> bool:
    privacy = settings.privacy
    allowed = frozenset(privacy.allow_categories)
    return sensitive_category(line.text, allow=allowed, extra=privacy.never_store) is None


def _sharing(
    lines: Sequence[PromptLine], asked_words: Iterable[str], table: WordTable | None
) -> list[PromptLine]:
    """Return the lines that share enough of the question's rarer words, best first and the newest of equals."""
    index = WordIndex(table)
    for place, line in enumerate(lines):
        line_words = {word for word in words(line.text) if word not in STOPWORDS}
        index.add(place, line_words, spelling=True)
    scores = [0.0] * len(lines)
    for word in asked_words:
        shares = _shares(index, word)
        rarity = math.log(1 + (len(lines) - len(shares) + 0.5) / (len(shares) + 0.5))
        for place, share in shares.items():
            scores[place] += share * rarity
    least = LEAST_OF_BEST * max(scores, default=0.0)
    ranked = [(scores[place], line.at, line.id, line) for place, line in enumerate(lines)]
    ranked.sort(key=lambda row: row[:3], reverse=True)
    return [line for score, _at, _id, line in ranked if score > 0 and score >= least]


def _shares(index: WordIndex, word: str) -> Mapping[int, float]:
    """Return the places of the lines that have a word of the question, with how much theirs counts as it."""
    shares: dict[int, float] = {}
    for line_word, share in index.like(word).items():
        if share < LEAST_ALIKE:
            continue
        for place in index.places(line_word):
            shares[place] = max(share, shares.get(place, 0.0))
    return shares
