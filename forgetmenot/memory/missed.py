"""Finds what somebody missed while they were away: for "!missed".

It is at most three sentences, each as it stands in a recap or in an episode's summary, oldest first, and none of the
time that they were here; no model is asked. None that names somebody who is hidden, or that is suppressed.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

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
# Whoever wrote no line for this long was away.
A_VISIT = 10 * MINUTE
# Lines of a viewer that are read to find when their present visit began.
LINES_LOOKED_AT = 400

# Where a sentence stands: ("stream", id) for a recap, ("episode", id) for a summary.
_Evidence = tuple[str, int]


class Missed(NamedTuple):
    """What a viewer missed.

    `since`: when they were last here (ms), None for never. `sentences` with today's names, oldest first; `evidence`:
    where each stands.
    """

    since: int | None
    sentences: tuple[str, ...] = ()
    evidence: tuple[_Evidence, ...] = ()


async def missed(
    source: Source,
    viewer_id: str,
    now: int,
    max_chars: int,
) -> Missed:
    """Return what a viewer missed, in at most `max_chars` characters. Raises StoreError."""
    lines = await events.latest_lines_of(source, viewer_id, LINES_LOOKED_AT)
    lines_at = [line.at for line in reversed(lines)]
    came_at = _visit_began_at(lines_at, now)
    since = next((at for at in lines_at if came_at - at > A_VISIT), None)
    if since is None:
        since = await streams.last_visit(source, viewer_id, came_at)
    if since is None:
        return Missed(None)
    texts = await _missed_texts(source, since, came_at)
    suppression_filter = await suppression.load_filter(source)
    people: set[str] = set()
    for text in texts.values():
        people.update(ids_in(text))
    names, hidden = await viewers.shown_and_hidden(source, people)
    sentences_by_text = []
    for evidence, text in texts.items():
        shown = _sentences_to_show(text, suppression_filter, hidden)
        sentences = [(with_names(sentence, names), evidence) for sentence in shown]
        sentences_by_text.append(sentences)

    newest_first = sentences_by_text[::-1]
    evidence_of = _as_they_fit(_in_turn(newest_first), max_chars)
    age_order = list(texts)
    oldest_first = sorted(
        evidence_of, key=lambda sentence: age_order.index(evidence_of[sentence])
    )
    evidence_in_order = [evidence_of[sentence] for sentence in oldest_first]
    return Missed(since, tuple(oldest_first), tuple(evidence_in_order))


def _as_they_fit(
    sentences: Iterable[tuple[str, _Evidence]],
    max_chars: int,
) -> dict[str, _Evidence]:
    """Return the first MOST_SENTENCES of these sentences that fit, each once, with where they stand."""
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


def _visit_began_at(lines_at: Iterable[int], now: int) -> int:
    """Return when a viewer's present visit began (ms): in the A_VISIT before it they wrote nothing.

    `lines_at`: when they wrote their lines, the newest first.
    """
    began_at = now
    for at in lines_at:
        if began_at - at > A_VISIT:
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
) -> dict[_Evidence, str]:
    """Return the recaps of streams that were missed whole and the summaries of those missed in part, oldest first.

    Missed is what happened between the two times (ms).
    """
    texts: dict[_Evidence, str] = {}
    for stream in await streams.newest_since(source, since, MOST_STREAMS):
        is_over = stream.ended_at is not None and stream.ended_at <= came_at
        if stream.recap and is_over and stream.started_at > since:
            texts["stream", stream.id] = stream.recap
            continue
        for episode in await episodes.between(source, stream.id, since, came_at):
            texts["episode", episode.id] = episode.summary
    return texts
