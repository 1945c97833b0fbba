"""Selects past episodes: the newest for the prefix, older ones that fit a message, and what somebody missed.

Without people who opted out or were banned, and without what is suppressed. What somebody missed is at most three
sentences, each as it stands in a recap or in an episode's summary, oldest first, and none of the time that they were
here; no model is asked.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from forgetmenot.clock import MINUTE
from forgetmenot.domain.chat import EventKind
from forgetmenot.domain.memory import Episode
from forgetmenot.memory import suppression
from forgetmenot.memory.inverted_index import having_stem
from forgetmenot.memory.ranking import Query
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.store import episodes, events, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.caches import text_cache
from forgetmenot.text.mentions import ids_in, mention, show
from forgetmenot.text.removal import without_person
from forgetmenot.text.sentences import sentences_of
from forgetmenot.text.words import stem, words

LOOKED_AT = 5
MOST_SENTENCES = 3  # of what somebody missed, from the newest MOST_STREAMS
MOST_STREAMS = 20
A_VISIT = 30 * MINUTE  # so long without a line of theirs, and they were away
LINES_LOOKED_AT = 400
ASKED_WITH = 8  # words of a message, the longest: they are the rarest, and of more no summary has half
MATCHING_SHARE = 0.5  # of the query's words that a past episode must speak of, and at least two


class Newest(NamedTuple):
    """Past episodes of the prefix: this stream's newest, the last stream's last and its recap."""

    this_stream: list[Episode]
    last_stream: Episode | None
    recap: str


async def newest(db: Database, suppression_filter: SuppressionFilter, limit: int = 3) -> Newest:
    """The newest of this stream, and one of the last stream with its recap: `limit` in all."""
    stream = await streams.open_id(db)
    here = await episodes.newest(db, stream_id=stream, limit=limit - 1) if stream is not None else []
    this = await _visible(db, here, suppression_filter)
    before = await streams.before(db, stream)
    if before is None:
        return Newest(this, None, "")
    last = await _visible(db, await episodes.newest(db, stream_id=before[0], limit=1), suppression_filter)
    return Newest(this, last[0] if last else None, await without_hidden(db, suppression_filter.without(before[1])))


async def spoken_of(
    at: Source,
    query: Query,
    suppression_filter: SuppressionFilter,
    limit: int,
    *,
    people: Sequence[str] = (),
    without: Sequence[int] = (),
) -> list[Episode]:
    """The older episodes that speak of enough of a message, best first; their topic decides between equals.

    `people`: the ids of those it names, each of whom counts as a word; `without`: the episodes that are shown anyway.
    """
    telling = sorted([*map(mention, people), *_telling(query)], key=len, reverse=True)
    terms = {stem(word): word for word in telling[:ASKED_WITH]}
    if not terms or not limit:
        return []
    enough = min(len(terms), max(2, math.ceil(MATCHING_SHARE * len(terms))))
    wanted = list(terms.values())
    # one more than is looked at, to see whether many episodes have a single word
    found = await episodes.speaking_of(at, wanted, at_least=enough, limit=LOOKED_AT + 1, without=without)
    if len(terms) == 1 and len(found) > LOOKED_AT:
        return []  # a word that many speak of tells none of them apart
    visible = await _visible(at, found, suppression_filter)
    shared = [(_shared(terms, f"{one.summary} {one.topic}"), _shared(terms, one.topic), one) for one in visible]
    shared.sort(key=lambda one: one[:2], reverse=True)
    return [one for count, _, one in shared if count >= enough][:limit]


async def fitting(at: Source, query: Query, limit: int = 3) -> list[Episode]:
    """The episodes whose summaries fit a query best, however little that is."""
    terms = _telling(query)
    found = await episodes.search(at, episodes.any_of(terms), limit=limit) if terms else []
    return await _visible(at, found, SuppressionFilter())


async def without_hidden(at: Source, text: str) -> str:
    """A text without what it says of people who opted out or were banned since."""
    return _without(text, await viewers.hidden(at, ids_in(text)))


def _telling(query: Query) -> list[str]:
    """The words of the message itself, without what counts little."""
    return [word for word, weight in query.words.items() if weight >= 1]


def _shared(stems: Iterable[str], text: str) -> int:
    """How many of these stems a text has."""
    known = _different_words(text) if text else ()
    return sum(bool(having_stem(known, one)) for one in stems)


@text_cache(512)
def _different_words(text: str) -> tuple[str, ...]:
    """The words of a summary, sorted: the newest ones come up again and again."""
    return tuple(sorted(set(words(text))))


async def _visible(at: Source, found: Sequence[Episode], suppression_filter: SuppressionFilter) -> list[Episode]:
    """These episodes as they may be told, without those of which nothing is left."""
    if not found:
        return []
    hidden = await viewers.hidden(at, {who for one in found for who in ids_in(one.summary)})
    opened = [replace(one, summary=_without(suppression_filter.without(one.summary), hidden)) for one in found]
    return [one for one in opened if one.summary]


def _without(text: str, hidden: Iterable[str]) -> str:
    for viewer_id in hidden:
        text = without_person(text, viewer_id)
    return text


# What somebody missed.


class Missed(NamedTuple):
    """`since`: when they were last here, None for never. `sentences` with today's names, and where each stands."""

    since: int | None
    sentences: tuple[str, ...] = ()
    evidence: tuple[tuple[str, int], ...] = ()


async def missed(at: Source, viewer_id: str, now: int, most: int) -> Missed:
    """What a viewer missed, in `most` characters. Raises StoreError."""
    came, since = await _visit(at, viewer_id, now)
    if since is None:
        return Missed(None)
    texts = await _texts(at, since, came)
    suppressed = await suppression.load_filter(at)
    names, hidden = await viewers.shown_and_hidden(at, {who for text in texts.values() for who in ids_in(text)})
    rows = []
    for text in texts.values():
        allowed = set(sentences_of(suppressed.without(text)))
        nameable = (one for one, about in suppression.with_subjects(text) if hidden.isdisjoint(about))
        rows.append([show(sentence, names) for sentence in nameable if sentence in allowed])
    chosen = sorted(_chosen(rows, most))
    evidence = list(texts)
    return Missed(
        since, tuple(rows[text][place] for text, place in chosen), tuple(evidence[text] for text, _ in chosen)
    )


async def _visit(at: Source, viewer_id: str, now: int) -> tuple[int, int | None]:
    """When the present visit began (before it there was no line of theirs for half an hour), and the last one ended."""
    came = now
    for line in reversed(await events.latest_of(at, viewer_id, LINES_LOOKED_AT)):
        # what was done to them is no line of theirs
        if line.kind is EventKind.MODERATION:
            continue
        if came - line.at > A_VISIT:
            return came, line.at
        came = min(came, line.at)
    return came, await streams.last_visit(at, viewer_id, came)


async def _texts(at: Source, since: int, came: int) -> dict[tuple[str, int], str]:
    """The recaps of streams that were missed whole, the summaries of those that were missed in part; oldest first.

    By what they are: ("stream", id) or ("episode", id).
    """
    found: dict[tuple[str, int], str] = {}
    for stream in await streams.since(at, since, MOST_STREAMS):
        whole = stream.started_at > since and stream.ended_at is not None and stream.ended_at <= came
        if whole and stream.recap:
            found["stream", stream.id] = stream.recap
        else:
            parts = await episodes.between(at, stream.id, since, came)
            found |= {("episode", episode.id): episode.summary for episode in parts}
    return found


def _chosen(rows: Sequence[Sequence[str]], most: int) -> list[tuple[int, int]]:
    """Which sentences (text, place): the first of each text, the newest text first, then the second …, as they fit."""
    newest_first = range(len(rows) - 1, -1, -1)
    longest = max(map(len, rows), default=0)
    chosen: dict[str, tuple[int, int]] = {}
    for place, text in ((place, text) for place in range(longest) for text in newest_first if place < len(rows[text])):
        sentence = rows[text][place]
        if len(chosen) < MOST_SENTENCES and sentence not in chosen and len(sentence) + 1 <= most:
            chosen[sentence] = (text, place)
            most -= len(sentence) + 1
    return list(chosen.values())
