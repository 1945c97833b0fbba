"""What somebody missed: the stored sentences about what happened since they were last here.

Guarantees, without a model:
- At most three sentences, each as it stands in a recap or in an episode's summary, oldest first.
- None that speaks of somebody who opted out or was banned, of what is never to be mentioned, or rests on a cleared
  line.
- Nothing of the time that they were here.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from forgetmenot.clock import MINUTE
from forgetmenot.domain.chat import EventKind
from forgetmenot.memory import suppression
from forgetmenot.store import episodes, events, streams, viewers
from forgetmenot.store.database import Source
from forgetmenot.text.mentions import ids_in, show
from forgetmenot.text.sentences import sentences_of

MOST_SENTENCES = 3
MOST_STREAMS = 20
A_VISIT = 30 * MINUTE  # so long without a line of theirs, and they were away
LINES_LOOKED_AT = 400


class Missed(NamedTuple):
    """`since`: when they were last here, None for never. `sentences` with today's names, and where each stands."""

    since: int | None
    sentences: tuple[str, ...] = ()
    evidence: tuple[tuple[str, int], ...] = ()


class _Text(NamedTuple):
    """A recap or an episode's summary, and which: ("stream", id) or ("episode", id)."""

    text: str
    evidence: tuple[str, int]


async def missed(at: Source, viewer_id: str, now: int, most: int) -> Missed:
    """What a viewer missed, in `most` characters. Raises StoreError."""
    came, since = await _visit(at, viewer_id, now)
    if since is None:
        return Missed(None)
    texts = await _texts(at, since, came)
    people = {who for one in texts for who in ids_in(one.text)}
    suppressed, (names, hidden) = await suppression.load_filter(at), await viewers.shown_and_hidden(at, people)
    rows = []
    for one in texts:
        allowed = set(sentences_of(suppressed.without(one.text)))
        rows.append([show(sentence, names) for sentence in _nameable(one.text, hidden) if sentence in allowed])
    chosen = sorted(_chosen(rows, most))
    sentences = tuple(rows[text][place] for text, place in chosen)
    return Missed(since, sentences, tuple(texts[text].evidence for text, _ in chosen))


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


async def _texts(at: Source, since: int, came: int) -> list[_Text]:
    """The recaps of streams that were missed whole, the episodes of those that were missed in part; oldest first."""
    found: list[_Text] = []
    for stream in await streams.since(at, since, MOST_STREAMS):
        whole = stream.started_at > since and stream.ended_at is not None and stream.ended_at <= came
        if whole and stream.recap:
            found.append(_Text(stream.recap, ("stream", stream.id)))
        else:
            episodes_ = await episodes.between(at, stream.id, since, came)
            found += [_Text(episode.summary, ("episode", episode.id)) for episode in episodes_]
    return found


def _nameable(text: str, hidden: Collection[str]) -> list[str]:
    """The sentences about people who may be named. One that names nobody goes on about whom the last one named."""
    kept: list[str] = []
    about: tuple[str, ...] = ()
    for sentence in sentences_of(text):
        about = tuple(ids_in(sentence)) or about
        if not set(about) & set(hidden):
            kept.append(sentence)
    return kept


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
