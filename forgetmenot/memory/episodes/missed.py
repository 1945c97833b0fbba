"""What somebody missed: the stored sentences about what happened since they were last here.

Promises, without a model: at most three sentences, each as it stands in a recap or in an episode's summary, oldest
first; none that speaks of somebody who opted out or was banned, of what is to be left alone, or rests on a cleared
line; nothing of the time that they were here.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from forgetmenot.clock import MINUTE
from forgetmenot.domain.chat import EventKind
from forgetmenot.memory import suppression
from forgetmenot.memory.episodes.summary_rules import sentences_of
from forgetmenot.store import episodes, events, streams, viewers
from forgetmenot.store.database import Source
from forgetmenot.text.mentions import ids_in, show

MOST_SENTENCES = 3
MOST_STREAMS = 20
A_VISIT = 30 * MINUTE  # so long without a line of theirs, and they were away
LINES_LOOKED_AT = 400


class Summary(NamedTuple):
    """A stored text with where it stands: the stream whose recap it is, or the episode."""

    at: int
    text: str
    stream: int | None = None
    episode: int | None = None


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
    found = await _summaries(at, since, came)
    told = await _tellable(at, found)
    names = await viewers.names(at, {who for sentences in told for one in sentences for who in ids_in(one)})
    shown = [[show(sentence, names) for sentence in sentences] for sentences in told]
    chosen = sorted(_chosen(shown, most))
    return Missed(
        since,
        tuple(shown[source][place] for source, place in chosen),
        tuple(_evidence(found[source]) for source, _ in chosen),
    )


async def _visit(at: Source, viewer_id: str, now: int) -> tuple[int, int | None]:
    """When the present visit began (before it there was no line of theirs for half an hour), and the last one ended."""
    came = now
    for line in reversed(await events.latest_of(at, viewer_id, LINES_LOOKED_AT)):
        if line.kind is EventKind.MODERATION:
            continue
        if came - line.at > A_VISIT:
            return came, line.at
        came = min(came, line.at)
    return came, await streams.last_visit(at, viewer_id, came)


async def _summaries(at: Source, since: int, came: int) -> list[Summary]:
    """The recaps of streams that were missed whole, the episodes of those that were missed in part; oldest first."""
    found: list[Summary] = []
    for stream in await streams.since(at, since, MOST_STREAMS):
        whole = stream.started_at > since and stream.ended_at is not None and stream.ended_at <= came
        if whole and stream.recap:
            found.append(Summary(stream.started_at, stream.recap, stream=stream.id))
            continue
        of_stream = await episodes.between(at, stream.id, since, came)
        found += [Summary(one.started_at, one.summary, episode=one.id) for one in of_stream]
    return found


async def _tellable(at: Source, found: Sequence[Summary]) -> list[list[str]]:
    """Of each text the sentences that may be told, as they stand."""
    silence = await suppression.load_filter(at)
    hidden = await viewers.hidden(at, {who for one in found for who in ids_in(one.text)})
    told = []
    for one in found:
        allowed = set(sentences_of(silence.without(one.text)))
        told.append([sentence for sentence in _of_shown(one.text, hidden) if sentence in allowed])
    return told


def _of_shown(text: str, hidden: Iterable[str]) -> list[str]:
    """The sentences about people who may be named. One that names nobody goes on about whom the last one named."""
    kept: list[str] = []
    about: tuple[str, ...] = ()
    for sentence in sentences_of(text):
        about = tuple(ids_in(sentence)) or about
        if not set(about) & set(hidden):
            kept.append(sentence)
    return kept


def _chosen(told: Sequence[Sequence[str]], most: int) -> list[tuple[int, int]]:
    """Which sentences: the first of each text, the newest text first, then the second of each, as far as they fit."""
    order = [
        (source, place) for place, row in enumerate(zip_longest(*told)) for source, one in _newest_first(row) if one
    ]
    chosen: list[tuple[int, int]] = []
    seen: set[str] = set()
    for source, place in order:
        sentence = told[source][place]
        if len(chosen) < MOST_SENTENCES and sentence not in seen and len(sentence) + 1 <= most:
            chosen.append((source, place))
            seen.add(sentence)
            most -= len(sentence) + 1
    return chosen


def _newest_first(row: Sequence[str | None]) -> list[tuple[int, str | None]]:
    return list(enumerate(row))[::-1]


def _evidence(summary: Summary) -> tuple[str, int]:
    return ("stream", summary.stream) if summary.stream is not None else ("episode", summary.episode or 0)
