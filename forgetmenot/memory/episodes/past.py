"""What happened before: the newest episodes for the prefix, and the older ones that a message speaks of.

Nothing of people who opted out or were banned, and nothing of what is to be left alone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from forgetmenot.domain.memory import Episode
from forgetmenot.memory.concordance import having_stem
from forgetmenot.memory.ranking import Query
from forgetmenot.memory.silence import Silence
from forgetmenot.store import episode_search, episodes, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.removal import without_person
from forgetmenot.text.words import stem, words

LOOKED_AT = 5
ASKED_WITH = 8  # words of a message, the longest: they are the rarest, and of more no summary has half
MATCHING_SHARE = 0.5  # of the query's words that a past episode must speak of, and at least two


class Newest(NamedTuple):
    """What the prefix tells of the past: this stream's newest, the last stream's last and its recap."""

    this_stream: list[Episode]
    last_stream: Episode | None
    recap: str


async def newest(db: Database, silence: Silence, limit: int = 3) -> Newest:
    """The newest of this stream, and one of the last stream with its recap: `limit` in all."""
    stream = await streams.open_id(db)
    here = await episodes.newest(db, stream_id=stream, limit=limit - 1) if stream is not None else []
    this = await _told(db, here, silence)
    before = await streams.before(db, stream)
    if before is None:
        return Newest(this, None, "")
    last = await _told(db, await episodes.newest(db, stream_id=before[0], limit=1), silence)
    return Newest(this, last[0] if last else None, await without_hidden(db, silence.without(before[1])))


async def spoken_of(
    at: Source, query: Query, silence: Silence, limit: int, *, people: Sequence[str] = (), without: Sequence[int] = ()
) -> list[Episode]:
    """The older episodes that speak of enough of a message, best first.

    `people`: the ids of those it names, each of whom counts as a word; `without`: the episodes that are shown anyway.
    """
    telling = sorted([*map(mention, people), *_telling(query)], key=len, reverse=True)
    terms = {stem(word): word for word in telling[:ASKED_WITH]}
    if not terms or not limit:
        return []
    enough = min(len(terms), max(2, math.ceil(MATCHING_SHARE * len(terms))))
    wanted = list(terms.values())
    found = await episode_search.speaking_of(at, wanted, at_least=enough, limit=LOOKED_AT + 1, without=without)
    if len(terms) == 1 and len(found) > LOOKED_AT:
        return []  # a word that many speak of tells none of them apart
    told = await _told(at, found, silence)
    shared = {one.id: _shared(terms, one.summary) for one in told}
    about = sorted((one for one in told if shared[one.id] >= enough), key=lambda one: -shared[one.id])
    return about[:limit]


async def fitting(at: Source, query: Query, limit: int = 3) -> list[Episode]:
    """The episodes whose summaries fit a query best, however little that is."""
    terms = _telling(query)
    found = await episode_search.best(at, episode_search.any_of(terms), limit=limit) if terms else []
    return await _told(at, found, Silence())


async def without_hidden(at: Source, text: str) -> str:
    """A text without what it says of people who opted out or were banned since."""
    return _without(text, await viewers.hidden(at, ids_in(text)))


def _telling(query: Query) -> list[str]:
    """The words of the message itself, without what counts little."""
    return [word for word, weight in query.items() if weight >= 1]


def _shared(stems: Iterable[str], summary: str) -> int:
    """How many of these stems a summary has."""
    told = sorted(set(words(summary)))
    return sum(bool(having_stem(told, one)) for one in stems)


async def _told(at: Source, found: Sequence[Episode], silence: Silence) -> list[Episode]:
    """These episodes as they may be told, without those of which nothing is left."""
    if not found:
        return []
    hidden = await viewers.hidden(at, {who for one in found for who in ids_in(one.summary)})
    opened = [replace(one, summary=_without(silence.without(one.summary), hidden)) for one in found]
    return [one for one in opened if one.summary]


def _without(text: str, hidden: Iterable[str]) -> str:
    for viewer_id in hidden:
        text = without_person(text, viewer_id)
    return text
