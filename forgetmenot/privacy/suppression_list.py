"""The list of what the bot never mentions: topics and notes, of one viewer or of the channel.

The caller decides who may change it. Each change is a request in a file of its own as well
(store/privacy_requests), so that a copy that is restored knows it. Topics that only that file knows
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

# Characters of a topic.
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
    """Put a topic on the list, of one viewer or (None) of the channel; return the id of the entry.

    A topic that is listed already keeps its entry. `#12` names a note, which must be about that
    viewer. Raises FactRefused: "topic" (too long, or without a word), "not_found" (no such note),
    "not_stored" (no such viewer), "enough" (the list is full); StoreError.
    """
    text = clean(topic)
    note_id = _note_id_in(text)
    if len(text) > LONGEST_TOPIC:
        raise FactRefused("topic")
    if note_id is None and not topic_stems(text):
        raise FactRefused("topic")
    async with db.write() as tx:
        entries = await notes.suppressions(tx)
        listed_entry = find_entry(entries, viewer_id, text)
        if listed_entry is not None:
            return listed_entry.id
        if len(entries) >= MOST_ENTRIES:
            raise FactRefused("enough")
        if viewer_id is not None and await viewers.get(tx, viewer_id) is None:
            raise FactRefused("not_stored")
        if note_id is None:
            entry = SuppressionRow(0, viewer_id, text)
        else:
            entry = await _entry_of_note(tx, viewer_id, note_id)
        request = _request_of(tx.requests, RequestKind.NEVER_MENTION, entry, at)
        await privacy_choices.write_request(tx, request)
        return await notes.add_suppression(
            tx,
            entry.viewer_id,
            entry.words,
            note_id=entry.note_id,
            by_id=by,
            at=at,
        )


def _note_id_in(text: str) -> int | None:
    """Return the number of a note that a text names alone ("#12"); None if it is another text."""
    match = _NOTE_NUMBER.match(text)
    return None if match is None else int(match[1])


async def _entry_of_note(
    tx: Transaction,
    viewer_id: str | None,
    note_id: int,
) -> SuppressionRow:
    """Return the entry for a note. Raises FactRefused: there is none, or it is about another viewer."""
    note = await notes.get(tx, note_id)
    if note is None or viewer_id not in {None, note.subject_id}:
        raise FactRefused("not_found")
    return SuppressionRow(0, note.subject_id, "", note_id=note.id, fact=note.fact)


def find_entry(
    entries: Iterable[SuppressionRow],
    viewer_id: str | None,
    topic: str,
) -> SuppressionRow | None:
    """Return the entry that has a topic, in any form of its words, or a note; None if there is none."""
    note_id = _note_id_in(clean(topic))
    if note_id is not None:
        return _find_note_entry(entries, viewer_id, note_id)
    stems = topic_stems(topic)
    for entry in entries:
        if entry.viewer_id != viewer_id:
            continue
        if not entry.words:
            continue
        if topic_stems(entry.words) == stems:
            return entry
    return None


def _find_note_entry(
    entries: Iterable[SuppressionRow],
    viewer_id: str | None,
    note_id: int,
) -> SuppressionRow | None:
    for entry in entries:
        if entry.note_id == note_id and viewer_id in {None, entry.viewer_id}:
            return entry
    return None


async def unsuppress(
    db: Database,
    entry_id: int,
    at: int,
) -> bool:
    """Take an entry off the list, or an unlisted topic (by its `unlisted_id`); False if there is none."""
    async with db.write() as tx:
        entries = await notes.suppressions(tx)
        for entry in entries:
            if entry.id != entry_id:
                continue
            request = _request_of(tx.requests, RequestKind.MAY_MENTION, entry, at)
            await privacy_choices.write_request(tx, request)
            return await notes.remove_suppression(tx, entry_id)
        for topic in unlisted_requests(tx.requests, entries):
            if unlisted_id(tx.requests, topic) != entry_id:
                continue
            request = replace(topic, kind=RequestKind.MAY_MENTION, at=at)
            await privacy_choices.write_request(tx, request)
            return True
    return False


# ── the list and the file of requests ─────────────────────────────────────────────────────────


def known_topics(
    requests: PrivacyRequests,
    entries: Iterable[SuppressionRow],
    at: int,
) -> list[PrivacyRequest]:
    """Return the requests that the entries of the list stand for."""
    kind = RequestKind.NEVER_MENTION
    return [_request_of(requests, kind, entry, at) for entry in entries]


def _request_of(
    requests: PrivacyRequests,
    kind: RequestKind,
    entry: SuppressionRow,
    at: int,
) -> PrivacyRequest:
    """Return the request about what an entry of the list names."""
    words = topic_stems(entry.words) if entry.words else telling_stems(entry.fact)
    return requests.of_words(
        kind,
        entry.viewer_id,
        words,
        note_id=entry.note_id,
        at=at,
    )


async def carry_out_topic_request(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Do to the list of a copy what was decided about a topic or a note after the copy was made.

    Returns how many entries changed. A topic needs no entry: while the list lacks it, it is read in
    the file of requests. A decision that was reversed later is not carried out.
    """
    is_suppressed = tx.requests.is_topic(request)
    listed = []
    for entry in await notes.suppressions(tx):
        if _key_of(tx.requests, entry) == topic_key(request):
            listed.append(entry)
    if request.kind is RequestKind.MAY_MENTION:
        if is_suppressed:
            return 0
        for entry in listed:
            await notes.remove_suppression(tx, entry.id)
        return len(listed)
    is_missing = is_suppressed and not listed
    if request.kind is not RequestKind.NEVER_MENTION:
        return 0
    if not is_missing:
        return 0
    if not request.notes:
        return 0
    return await _add_note_entry(tx, request, viewer_id)


async def _add_note_entry(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Put the note of a request on the list; return 1, or 0 if this memory has another note there."""
    [note_id] = request.notes
    note = await notes.get(tx, note_id)
    if note is None:
        return 0
    if (note.subject_id or CHANNEL) != viewer_id:
        return 0
    if note.created_at > request.at:
        # A newer note has got that number in this copy.
        return 0
    await notes.add_suppression(
        tx,
        note.subject_id,
        "",
        note_id=note_id,
        by_id=None,
        at=request.at,
    )
    return 1


# ── unlisted topics ───────────────────────────────────────────────────────────────────────────


class UnlistedTopic(NamedTuple):
    """A topic that only the file of requests knows, as the dock and the command line show it.

    `id`: its `unlisted_id`; `subject`: the hash of the viewer, or of the channel.
    """

    id: int
    at: int
    subject: str


async def unlisted(source: Source) -> list[UnlistedTopic]:
    """Return every unlisted topic, in the order in which they were asked for."""
    requests = source.requests
    topics = []
    for request in unlisted_requests(requests, await notes.suppressions(source)):
        topic_id = unlisted_id(requests, request)
        topics.append(UnlistedTopic(topic_id, request.at, request.subject))
    return topics


async def unlisted_of(source: Source, viewer_id: str | None) -> list[UnlistedTopic]:
    """Return the unlisted topics of one viewer, or (None) of the channel."""
    topics = await unlisted(source)
    if not topics:
        return []
    subject = source.requests.digest("viewer", viewer_id or CHANNEL)
    return [topic for topic in topics if topic.subject == subject]


def unlisted_id(requests: PrivacyRequests, topic: PrivacyRequest) -> int:
    """Return a number for an unlisted topic, made of its hashes; it is higher than any row's id."""
    note_ids = map(str, topic.notes)
    digits = requests.digest("topic", topic.subject, *topic.words, *note_ids)
    return UNLISTED_FROM + int(digits, 16) % UNLISTED_FROM


def unlisted_requests(
    requests: PrivacyRequests, entries: Sequence[SuppressionRow]
) -> Sequence[PrivacyRequest]:
    """Return the topics of the file of requests that have no entry on the list."""
    if not requests.topics:
        return ()
    # Each reply asks several times, and hashing the words of 200 entries takes 4 ms. So the answer
    # is kept until the list or the file changes; of the entries only a hash is kept, no words.
    version = (hash(tuple(entries)), requests.count)
    cached = requests.unlisted
    if cached is not None and cached[0] == version:
        return cached[1]
    listed_keys = {_key_of(requests, entry) for entry in entries}
    topics = []
    for topic in requests.topics:
        if topic_key(topic) not in listed_keys:
            topics.append(topic)
    requests.unlisted = (version, topics)
    return topics


def _key_of(requests: PrivacyRequests, entry: SuppressionRow) -> tuple[object, ...]:
    request = _request_of(requests, RequestKind.NEVER_MENTION, entry, 0)
    return topic_key(request)
