"""The list of what the bot never mentions: topics and notes, of one viewer or of the whole channel.

The caller decides who may change it. Each change is a request in a file of its own as well
(store/privacy_requests), so that a copy that is restored knows it; topics that only that file knows
are unlisted.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.errors import FactRefused
from forgetmenot.store import notes, privacy_choices, viewers
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.notes import SuppressionRow
from forgetmenot.store.privacy_requests import (
    CHANNEL,
    PrivacyRequest,
    PrivacyRequests,
    RequestKind,
    topic_key,
)
from forgetmenot.text.clean import clean
from forgetmenot.text.words import telling_stems, topic_stems

LONGEST_TOPIC = 200
MOST_ENTRIES = 200
# Numbers of topics that are not on the list begin here.
UNLISTED_FROM = 10**12
_NOTE_NUMBER = re.compile(r"#(\d{1,15})\s*\Z")


async def suppress(
    db: Database,
    viewer_id: str | None,
    topic: str,
    *,
    by: str | None,
    at: int,
) -> int:
    """Never mention something again, of one viewer or (None) at all; the id of the entry.

    `#12` names a note, which must be about that viewer. Raises FactRefused (topic, not_found, unknown, enough).
    """
    text = clean(topic)
    note_number = _NOTE_NUMBER.match(text)
    if len(text) > LONGEST_TOPIC:
        raise FactRefused("topic")
    if note_number is None and not topic_stems(text):
        raise FactRefused("topic")
    async with db.write() as tx:
        entries = await notes.suppressions(tx)
        listed = same_entry(entries, viewer_id, text)
        if listed is not None:
            return listed.id
        if len(entries) >= MOST_ENTRIES:
            raise FactRefused("enough")
        if viewer_id is not None and await viewers.get(tx, viewer_id) is None:
            raise FactRefused("not_stored")
        if note_number is None:
            entry = SuppressionRow(0, viewer_id, text)
        else:
            entry = await _entry_of_note(tx, viewer_id, int(note_number[1]))
        request = topic_of(tx.requests, RequestKind.NEVER_MENTION, entry, at)
        await privacy_choices.write_request(tx, request)
        return await notes.add_suppression(
            tx, entry.viewer_id, entry.words, note_id=entry.note_id, by_id=by, at=at
        )


async def _entry_of_note(
    tx: Transaction,
    viewer_id: str | None,
    note_id: int,
) -> SuppressionRow:
    """The entry for a note. Raises FactRefused: there is none, or it is about somebody else."""
    note = await notes.get(tx, note_id)
    if note is None or viewer_id not in {None, note.subject_id}:
        raise FactRefused("not_found")
    return SuppressionRow(0, note.subject_id, "", note_id=note.id, fact=note.fact)


def topic_of(
    requests: PrivacyRequests,
    kind: RequestKind,
    entry: SuppressionRow,
    at: int,
) -> PrivacyRequest:
    """The request that an entry of the list stands for."""
    words = topic_stems(entry.words) if entry.words else telling_stems(entry.fact)
    return requests.of_words(kind, entry.viewer_id, words, note_id=entry.note_id, at=at)


def same_entry(
    entries: Iterable[SuppressionRow],
    viewer_id: str | None,
    topic: str,
) -> SuppressionRow | None:
    """The entry that already has a topic, in any form of its words, or a note; None if there is none."""
    note_number = _NOTE_NUMBER.match(clean(topic))
    stems = topic_stems(topic)
    for entry in entries:
        if note_number is not None:
            is_subject = viewer_id in {None, entry.viewer_id}
            is_same = is_subject and entry.note_id == int(note_number[1])
        else:
            is_subject = entry.viewer_id == viewer_id
            is_same = (
                is_subject and entry.words != "" and topic_stems(entry.words) == stems
            )
        if is_same:
            return entry
    return None


async def unsuppress(
    db: Database,
    entry_id: int,
    at: int,
) -> bool:
    """Take one entry off the list, or let an unlisted topic (by its `unlisted_id`) be mentioned; False if none is."""
    async with db.write() as tx:
        rows = await notes.suppressions(tx)
        for row in rows:
            if row.id == entry_id:
                request = topic_of(tx.requests, RequestKind.MAY_MENTION, row, at)
                await privacy_choices.write_request(tx, request)
                return await notes.remove_suppression(tx, entry_id)
        for topic in unlisted_requests(tx.requests, rows):
            if unlisted_id(tx.requests, topic) == entry_id:
                request = replace(topic, kind=RequestKind.MAY_MENTION, at=at)
                await privacy_choices.write_request(tx, request)
                return True
    return False


async def list_again(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Do to a copy what was decided since about a topic, or a note; how many entries changed.

    A topic needs no row: while the list lacks it, it is read in the file of requests.
    """
    is_suppressed = tx.requests.is_topic(request)
    rows = await notes.suppressions(tx)
    listed = [row for row in rows if _key_of(tx.requests, row) == topic_key(request)]
    if request.kind is RequestKind.MAY_MENTION and not is_suppressed:
        for row in listed:
            await notes.remove_suppression(tx, row.id)
        return len(listed)
    is_missing = (
        request.kind is RequestKind.NEVER_MENTION and is_suppressed and not listed
    )
    if is_missing and request.notes:
        return await _list_note_again(tx, request, viewer_id)
    return 0


async def _list_note_again(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    [note_id] = request.notes
    note = await notes.get(tx, note_id)
    if note is None or (note.subject_id or CHANNEL) != viewer_id:
        return 0
    # a newer note has that number in this copy
    if note.created_at > request.at:
        return 0
    at = request.at
    await notes.add_suppression(
        tx, note.subject_id, "", note_id=note_id, by_id=None, at=at
    )
    return 1


# ── unlisted topics ───────────────────────────────────────────────────────────────────────────


class UnlistedTopic(NamedTuple):
    """A topic that only the file of requests knows. `id`: its number for the dock, higher than that of any row.

    `subject`: the hash of the viewer, or of the channel.
    """

    id: int
    at: int
    subject: str


async def unlisted(source: Source) -> list[UnlistedTopic]:
    """Every unlisted topic, in the order in which they were asked for."""
    requests = source.requests
    topics = []
    for topic in unlisted_requests(requests, await notes.suppressions(source)):
        topics.append(
            UnlistedTopic(unlisted_id(requests, topic), topic.at, topic.subject)
        )
    return topics


async def unlisted_of(source: Source, viewer_id: str | None) -> list[UnlistedTopic]:
    """The unlisted topics of one viewer, or (None) of the channel."""
    topics = await unlisted(source)
    if not topics:
        return []
    subject = source.requests.digest("viewer", viewer_id or CHANNEL)
    return [topic for topic in topics if topic.subject == subject]


def unlisted_id(requests: PrivacyRequests, topic: PrivacyRequest) -> int:
    """A number by which the dock and the command line name an unlisted topic; no row's is so high."""
    digits = requests.digest(
        "topic", topic.subject, *topic.words, *map(str, topic.notes)
    )
    return UNLISTED_FROM + int(digits, 16) % UNLISTED_FROM


def unlisted_requests(
    requests: PrivacyRequests, rows: Sequence[SuppressionRow]
) -> Sequence[PrivacyRequest]:
    """The topics of the file of requests that have no row."""
    if not requests.topics:
        return ()
    # each reply asks several times, and hashing the words of 200 rows takes 4 ms: no words are kept for it
    version = (hash(tuple(rows)), requests.count)
    cached = requests.unlisted
    if cached is None or cached[0] != version:
        listed = {_key_of(requests, row) for row in rows}
        topics = [topic for topic in requests.topics if topic_key(topic) not in listed]
        cached = (version, topics)
        requests.unlisted = cached
    return cached[1]


def _key_of(requests: PrivacyRequests, row: SuppressionRow) -> tuple[object, ...]:
    return topic_key(topic_of(requests, RequestKind.NEVER_MENTION, row, 0))
