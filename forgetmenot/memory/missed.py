"""Finds what somebody missed while they were away: for "!missed".

- It is at most three sentences of recaps and episode summaries, unchanged and oldest first. No model is asked.
- What happened while they were here is left out, and so are suppressed sentences and those that name hidden people.
- Somebody new to the present stream gets what happened in it so far: the streamer's own text if there is one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from forgetmenot.domain import Stream
from forgetmenot.durations import MINUTE
from forgetmenot.privacy import suppression
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.store import episodes, events, streams, viewers
from forgetmenot.store.database import Source
from forgetmenot.text.mentions import ids_in, with_names
from forgetmenot.text.words import sentences_of

# Sentences that are returned, from the newest MOST_STREAMS streams.
MOST_SENTENCES = 3
MOST_STREAMS = 20
# A viewer who wrote no line for this long was away.
LONGEST_PAUSE = 10 * MINUTE
# Lines of a viewer that are read to find when their present visit began.
LINES_READ = 400

# Where a sentence stands: ("stream", id) for a recap, ("episode", id) for a summary.
_Evidence = tuple[str, int]


class Missed(NamedTuple):
    """What a viewer missed.

    `since`: when they were last here (ms), None for never. `sentences`: with present names, oldest first. `evidence`:
    the recap or summary of each sentence. `so_far`: the sentences about the stream that is on, if it is new to them.
    `people`: the ids of those whom these texts mention.
    """

    since: int | None
    sentences: tuple[str, ...] = ()
    evidence: tuple[_Evidence, ...] = ()
    so_far: tuple[str, ...] = ()
    people: frozenset[str] = frozenset()


async def missed(
    source: Source,
    viewer_id: str,
    now: int,
    max_chars: int,
) -> Missed:
    """Return what a viewer missed, in at most `max_chars` characters. Raises StoreError."""
    lines = await events.latest_lines_of(source, viewer_id, LINES_READ)
    # the newest first
    line_times = [line.at for line in reversed(lines)]
    came_at = _visit_began_at(line_times, now)
    earlier_times = [at for at in line_times if came_at - at > LONGEST_PAUSE]
    since = max(earlier_times, default=None)
    if since is None:
        # Raw lines are deleted after a day; attendance still has the last visit.
        since = await streams.last_visit(source, viewer_id, came_at)
    stream = await _current_stream(source)
    if since is None and stream is None:
        return Missed(None)
    so_far: dict[_Evidence, str] = {}
    summed_up_stream_id = None
    # The viewer is new to this stream, so it is summed up from its beginning.
    if stream is not None and stream.started_at > (since or 0):
        so_far = await _so_far_texts(source, stream, now)
        summed_up_stream_id = stream.id
    texts: dict[_Evidence, str] = {}
    if since is not None:
        texts = await _missed_texts(
            source, since, came_at, excluded_stream_id=summed_up_stream_id
        )
    texts |= so_far
    evidence_of = await _sentences_of(source, texts, stream, max_chars)
    of_this_stream = []
    people: set[str] = set()
    for sentence, evidence in evidence_of.items():
        people.update(ids_in(texts[evidence]))
        if evidence in so_far:
            of_this_stream.append(sentence)
    return Missed(
        since,
        sentences=tuple(evidence_of),
        evidence=tuple(evidence_of.values()),
        so_far=tuple(of_this_stream),
        people=frozenset(people),
    )


async def stream_so_far(
    source: Source,
    now: int,
    max_chars: int,
) -> str:
    """Return what `!missed` says about the stream that is on; "" if none is on or nothing is known."""
    stream = await _current_stream(source)
    if stream is None:
        return ""
    texts = await _so_far_texts(source, stream, now)
    return " ".join(await _sentences_of(source, texts, stream, max_chars))


async def _current_stream(source: Source) -> Stream | None:
    """Return the stream that is on; None if none is."""
    stream_id = await streams.current_id(source)
    if stream_id is None:
        return None
    streams_by_id = await streams.get_many(source, [stream_id])
    return streams_by_id[stream_id]


async def _so_far_texts(
    source: Source,
    stream: Stream,
    now: int,
) -> dict[_Evidence, str]:
    """Return the streamer's own text about a stream, else the summaries of its episodes, oldest first."""
    if stream.so_far:
        return {("stream", stream.id): stream.so_far}
    texts: dict[_Evidence, str] = {}
    # one ms more on both sides, because the store leaves out both ends
    began_at = stream.started_at - 1
    for episode in await episodes.between(source, stream.id, began_at, now + 1):
        texts["episode", episode.id] = episode.summary
    return texts


async def _sentences_of(
    source: Source,
    texts: Mapping[_Evidence, str],
    stream: Stream | None,
    max_chars: int,
) -> dict[str, _Evidence]:
    """Return the sentences that may be shown and fit, oldest first, each with its evidence.

    `texts`: the oldest first. `stream`: the one that is on. The streamer's own text about it is not split.
    """
    suppression_filter = await suppression.load_filter(source)
    people: set[str] = set()
    for text in texts.values():
        people.update(ids_in(text))
    names, hidden = await viewers.shown_and_hidden(source, people)
    sentences_by_text = []
    for evidence, text in texts.items():
        shown = _sentences_to_show(text, suppression_filter, hidden)
        is_own_text = stream is not None and evidence == ("stream", stream.id)
        # the streamer's own text is shown as a whole, as one sentence
        if shown and is_own_text:
            shown = [" ".join(shown)]
        sentences = [(with_names(sentence, names), evidence) for sentence in shown]
        sentences_by_text.append(sentences)

    # The newest texts are served first: if the characters run out, the oldest sentences are missing.
    newest_first = sentences_by_text[::-1]
    evidence_of = _as_they_fit(_in_turn(newest_first), max_chars)
    places = list(texts)

    def place_of(sentence: str) -> int:
        """Return the place of a sentence's text; the texts are in order of time."""
        return places.index(evidence_of[sentence])

    oldest_first = sorted(evidence_of, key=place_of)
    return {sentence: evidence_of[sentence] for sentence in oldest_first}


def _as_they_fit(
    sentences: Iterable[tuple[str, _Evidence]],
    max_chars: int,
) -> dict[str, _Evidence]:
    """Return the first MOST_SENTENCES different sentences that fit, each with its evidence."""
    evidence_of: dict[str, _Evidence] = {}
    chars_left = max_chars
    for sentence, evidence in sentences:
        if len(evidence_of) == MOST_SENTENCES:
            break
        # with the space before the next one
        length = len(sentence) + 1
        if sentence in evidence_of or length > chars_left:
            continue
        evidence_of[sentence] = evidence
        chars_left -= length
    return evidence_of


def _visit_began_at(line_times: Iterable[int], now: int) -> int:
    """Return when a viewer's present visit began (ms): after a LONGEST_PAUSE without a line of theirs.

    `line_times`: when they wrote their lines, the newest first.
    """
    began_at = now
    for at in line_times:
        if began_at - at > LONGEST_PAUSE:
            break
        began_at = min(began_at, at)
    return began_at


def _sentences_to_show(
    text: str,
    suppression_filter: SuppressionFilter,
    hidden: frozenset[str],
) -> list[str]:
    """Return the sentences of a text that name nobody hidden and nothing suppressed."""
    allowed = set(sentences_of(suppression_filter.without(text)))
    shown = []
    for sentence, subject_ids in suppression.with_subjects(text):
        if sentence in allowed and hidden.isdisjoint(subject_ids):
            shown.append(sentence)
    return shown


def _in_turn(
    sentences_by_text: Sequence[Sequence[tuple[str, _Evidence]]],
) -> Iterator[tuple[str, _Evidence]]:
    """Yield the first sentence of each text, then the second of each, and so on."""
    for sentences in zip_longest(*sentences_by_text):
        for sentence in sentences:
            # texts of fewer sentences are filled up with None
            if sentence is not None:
                yield sentence


async def _missed_texts(
    source: Source,
    since: int,
    came_at: int,
    *,
    excluded_stream_id: int | None,
) -> dict[_Evidence, str]:
    """Return the texts about the streams that a viewer missed, oldest first, by their evidence.

    A stream that was missed whole has its recap, any other the summaries of the episodes that were missed. The viewer
    was away between `since` and `came_at` (ms). `excluded_stream_id`: a stream that is left out.
    """
    texts: dict[_Evidence, str] = {}
    for stream in await streams.newest_since(source, since, MOST_STREAMS):
        if stream.id == excluded_stream_id:
            continue
        is_over = stream.ended_at is not None and stream.ended_at <= came_at
        if stream.recap and is_over and stream.started_at > since:
            texts["stream", stream.id] = stream.recap
            continue
        for episode in await episodes.between(source, stream.id, since, came_at):
            texts["episode", episode.id] = episode.summary
    return texts
