"""Selects past episodes: the newest for the prefix, older ones that fit a message, and what somebody missed.

Without people who opted out or were banned, and without what is suppressed. What somebody missed is at most three
sentences, each as it stands in a recap or in an episode's summary, oldest first, and none of the time that they were
here; no model is asked.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.clock import MINUTE
from forgetmenot.domain import Episode
from forgetmenot.memory import rights
from forgetmenot.memory.meaning import word_table
from forgetmenot.memory.ranking import Query, WordIndex
from forgetmenot.memory.rights import SuppressionFilter
from forgetmenot.store import episodes, events, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.mentions import ids_in, mention, show
from forgetmenot.text.removal import without_person
from forgetmenot.text.words import STOPWORDS, sentences_of, stem, words

LOOKED_AT = 5
MOST_SENTENCES = 3  # of what somebody missed, from the newest MOST_STREAMS
MOST_STREAMS = 20
A_VISIT = 30 * MINUTE  # so long without a line of theirs, and they were away
LINES_LOOKED_AT = 400
ASKED_WITH = 8  # words of a message, the longest: they are the rarest, and of more no summary has half
EPISODES_KEPT = 3_000  # the newest; of a channel with three streams a week more than a year
READ_AT_ONCE, READ_IN_PASSING = 200, 20
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


class EpisodeIndex:
    """The words of the newest episodes, kept in the process. Only one thread may use it: the reader's.

    It is read on from where it ended. What is stored is read again before it is shown, so a summary that was cut or
    rewritten since costs a miss at most.
    """

    def __init__(self) -> None:
        self._words = WordIndex()
        self._filled = False
        self._read_to: int | None = None

    async def read_on(self, at: Source, limit: int = READ_AT_ONCE) -> bool:
        """Read some episodes that came since; whether there may be more."""
        if self._read_to is None:
            self._read_to = await episodes.id_before_newest(at, EPISODES_KEPT)
        texts = await episodes.texts_after(at, self._read_to, limit)
        if texts and not self._filled:  # the table of words is not read while there is nothing to find
            self._words, self._filled = WordIndex(word_table()), True
        for episode_id, text in texts:
            self._words.add(episode_id, {word for word in words(text) if word not in STOPWORDS})
            self._read_to = episode_id
        return len(texts) == limit

    def forms(self, word: str) -> frozenset[str]:
        """The forms of a word that the episodes have."""
        return frozenset(self._words.forms(word))

    def speaking_of(self, terms: Sequence[Collection[str]], enough: int, without: Collection[int]) -> list[int]:
        """The episodes with a form of enough of these words, those that have most and then the newest first."""
        found = [set(chain.from_iterable(map(self._words.places, forms))) for forms in terms]
        found.sort(key=len)
        # who has k of n words has one of the rarest n - k + 1
        rare = set().union(*found[: len(found) - enough + 1]).difference(without)
        shared = {episode: sum(episode in having for having in found) for episode in rare}
        good = [episode for episode, count in shared.items() if count >= enough]
        return sorted(good, key=lambda episode: (shared[episode], episode), reverse=True)


async def spoken_of(
    at: Source,
    index: EpisodeIndex,
    query: Query,
    suppression_filter: SuppressionFilter,
    limit: int,
    *,
    people: Sequence[str] = (),
    without: Sequence[int] = (),
) -> list[Episode]:
    """The older episodes that speak of enough of a message, best first; the newest of equals.

    `people`: the ids of those it names, each of whom counts as a word; `without`: the episodes that are shown anyway.
    """
    telling = sorted([*map(mention, people), *query.telling], key=len, reverse=True)
    different = {stem(word): word for word in telling[:ASKED_WITH]}
    if not different or not limit:
        return []
    await index.read_on(at, READ_IN_PASSING)
    terms = list(map(index.forms, different.values()))
    enough = min(len(terms), max(2, math.ceil(MATCHING_SHARE * len(terms))))
    # one more than is looked at, to see whether many episodes have a single word
    best = index.speaking_of(terms, enough, without)[: LOOKED_AT + 1]
    if len(terms) == 1 and len(best) > LOOKED_AT:
        return []  # a word that many speak of tells none of them apart
    visible = await _visible(at, await episodes.get_many(at, best), suppression_filter)
    shared = []
    for one in visible:
        said = set(words(f"{one.summary} {one.topic}"))
        shared.append((sum(not said.isdisjoint(forms) for forms in terms), one.id, one))
    shared.sort(reverse=True)
    return [one for count, _, one in shared if count >= enough][:limit]


async def without_hidden(at: Source, text: str) -> str:
    """A text without what it says of people who opted out or were banned since."""
    return _without(text, await viewers.hidden(at, ids_in(text)))


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
    # the present visit began where there was no line of theirs for half an hour before
    came, since = now, None
    for line in reversed(await events.latest_of(at, viewer_id, LINES_LOOKED_AT)):
        if came - line.at > A_VISIT:
            since = line.at
            break
        came = min(came, line.at)
    since = since if since is not None else await streams.last_visit(at, viewer_id, came)
    if since is None:
        return Missed(None)
    texts = await _texts(at, since, came)
    suppressed = await rights.load_filter(at)
    names, hidden = await viewers.shown_and_hidden(at, {who for text in texts.values() for who in ids_in(text)})
    rows = []
    for source, text in texts.items():
        allowed = set(sentences_of(suppressed.without(text)))
        nameable = (one for one, about in rights.with_subjects(text) if hidden.isdisjoint(about))
        rows.append([(show(one, names), source) for one in nameable if one in allowed])
    # the first sentence of each text, the newest text first, then the second of each, as they fit
    chosen: dict[str, tuple[str, int]] = {}
    for sentence, source in (one for row in zip_longest(*reversed(rows)) for one in row if one is not None):
        if len(chosen) < MOST_SENTENCES and sentence not in chosen and len(sentence) + 1 <= most:
            chosen[sentence] = source
            most -= len(sentence) + 1
    oldest_first = dict(sorted(chosen.items(), key=lambda one: list(texts).index(one[1])))
    return Missed(since, tuple(oldest_first), tuple(oldest_first.values()))


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
