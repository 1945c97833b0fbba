"""What the bot never brings up: topics and notes on a list, and the names of people who are hidden.

- What is never mentioned stays stored, and is shown again when the entry is removed. The caller decides who may change
  the list.
- A text with all words of an entry, in any form and order, is suppressed; for an entry about one viewer only where it
  is about them. A note has the words beside it too (memory/own_words), and what it says in English goes with it.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.domain import Note, NoteStatus
from forgetmenot.errors import FactRefused
from forgetmenot.people.handles import names_typed, without_names
from forgetmenot.people.names import called
from forgetmenot.store import notes, personal_data, viewers
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.names import Known
from forgetmenot.store.notes import NotedWords, SuppressionRow
from forgetmenot.store.rights import (
    CHANNEL,
    PrivacyRequest,
    PrivacyRequests,
    RequestKind,
    topic_key,
)
from forgetmenot.text.clean import clean, plain
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.words import (
    join_sentences,
    mentioned_stems,
    sentences_of,
    telling_stems,
    topic_stems,
)

LONGEST = 200
MOST = 200
# Numbers of topics that are not on the list begin here.
UNLISTED_FROM = 10**12
_NOTE = re.compile(r"#(\d{1,15})\s*\Z")


class SuppressionFilter:
    """Entries, ready to be asked.

    `removed`: (whom it was about, what it said) of notes that were taken back. `unlisted`: topics that only the file of
    requests knows. `noted`: what stands in the notes of people with topics.
    """

    def __init__(
        self,
        entries: Iterable[SuppressionRow] = (),
        removed: Iterable[tuple[str, str]] = (),
        unlisted: "UnlistedTopics | None" = None,
        noted: Iterable[NotedWords] = (),
    ) -> None:
        self.entries = tuple(entries)
        self._removed = _meanings(removed)
        self._topics = tuple(
            (entry.viewer_id, topic)
            for entry in self.entries
            if (topic := topic_stems(entry.words))
        )
        facts = [(entry.viewer_id, entry.fact) for entry in self.entries]
        # a topic in a viewer's own words hides a note that is English
        facts += [(note.viewer_id, note.fact) for note in noted if self._is_named(note)]
        self._facts = tuple((viewer_id, fact) for viewer_id, fact in facts if fact)
        self._stems = self._topics + _meanings(self._facts)
        self._notes = frozenset(
            entry.note_id for entry in self.entries if entry.note_id is not None
        )
        self.unlisted = unlisted

    def _is_named(self, note: NotedWords) -> bool:
        """Whether a topic of its viewer names a note."""
        topics = [topic for viewer_id, topic in self._topics if viewer_id == note.viewer_id]
        text = plain(note.text)
        # a stem stands in its word but for the last letter: most notes are told apart by that alone
        likely = [topic for topic in topics if all(stem[:-1] in text for stem in topic)]
        return bool(likely) and any(topic <= mentioned_stems(note.text) for topic in likely)

    def __bool__(self) -> bool:
        return bool(self.entries) or self.unlisted is not None

    @property
    def people(self) -> frozenset[str]:
        """Everybody of whom something is left alone, as far as the memory knows."""
        return frozenset(who for who, _ in self._stems if who is not None)

    def allows(self, note: Note) -> bool:
        """Whether a note may be shown."""
        if note.id in self._notes:
            return False
        about = (note.subject_id, *ids_in(note.fact))
        text = note.text_with_topics
        if _any_said(self._topics, text, about):
            return False
        return self.unlisted is None or self.unlisted.allows(note, mentioned_stems(text), about)

    def has(self, text: str, about: Iterable[str | None] = ()) -> bool:
        """Whether a text about these people speaks of what is left alone."""
        return self._any_said(self._stems, text, tuple(about))

    def about(self, people: Iterable[str | None]) -> tuple[str, ...]:
        """The words that are left alone of the channel and of these people."""
        wanted = {None, *people}
        topics = [
            entry.words for entry in self.entries if entry.words and entry.viewer_id in wanted
        ]
        facts = [fact for viewer_id, fact in self._facts if viewer_id in wanted]
        return (*topics, *facts)

    def without(self, text: str, also: Iterable[str | None] = ()) -> str:
        """A summary without the sentences that speak of it; who a sentence is about stands in it, or in the last.

        Nor those that say what a note said that was taken back: a summary would give it back. `also`: whom each may be
        about besides.
        """
        return self._without(text, self._stems + self._removed, tuple(also))

    def without_topics(self, text: str, people: Iterable[str | None]) -> str:
        """A reply to or about these people without the sentences that speak of what is left alone."""
        return self._without(text, self._stems, tuple(people))

    def _without(self, text: str, meanings: "_Meanings", people: tuple[str | None, ...]) -> str:
        if not meanings and self.unlisted is None:
            return text
        return join_sentences(
            sentence
            for sentence, about in with_subjects(text)
            if not self._any_said(meanings, sentence, (*about, *people))
        )

    def _any_said(self, meanings: "_Meanings", text: str, about: tuple[str | None, ...]) -> bool:
        if _any_said(meanings, text, about):
            return True
        return self.unlisted is not None and self.unlisted.named_in(mentioned_stems(text), about)


class UnlistedTopics:
    """Topics that the file of requests knows and the list in the memory does not, as hashes of their words.

    They were asked for after a copy was made that was restored, or by somebody who was erased.
    """

    def __init__(self, requests: PrivacyRequests, topics: Iterable[PrivacyRequest]) -> None:
        self._requests = requests
        self._by_subject: dict[str, list[PrivacyRequest]] = {}
        for topic in topics:
            self._by_subject.setdefault(topic.subject, []).append(topic)

    def of(self, viewer_id: str | None) -> Sequence[PrivacyRequest]:
        """Those of one viewer, or (None) of the channel."""
        return self._by_subject.get(self._requests.digest("viewer", viewer_id or CHANNEL), ())

    def named_in(self, stems: frozenset[str], about: Iterable[str | None]) -> bool:
        """Whether a text with these words speaks of one, of the channel's or of these people."""
        return any(
            topic_words <= words for topic_words, words in self._compared(stems, about, notes=True)
        )

    def allows(self, note: Note, stems: frozenset[str], about: Iterable[str | None]) -> bool:
        """Whether a note with these words may be shown: it is not about a topic, and says no more than a note on it."""
        if any(topic <= words for topic, words in self._compared(stems, about, notes=False)):
            return False
        fact = telling_stems(note.fact)
        return not any(
            topic == words for topic, words in self._compared(fact, [note.subject_id], notes=True)
        )

    def _compared(
        self, stems: frozenset[str], about: Iterable[str | None], *, notes: bool
    ) -> Iterator[tuple[AbstractSet[str], AbstractSet[str]]]:
        """The words of each topic that may be meant, and those of a text, as hashes. `notes`: also what a note said."""
        for viewer_id in {None, *about}:
            topics = [topic for topic in self.of(viewer_id) if notes or not topic.notes]
            if not topics:
                continue
            words = frozenset(self._requests.hashed(viewer_id or CHANNEL, stems))
            for topic in topics:
                yield frozenset(topic.words), words


def with_subjects(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The sentences, each with whom it is about: one that names nobody goes on about whom the last one named."""
    about: Sequence[str] = ()
    for sentence in sentences_of(text):
        about = ids_in(sentence) or about
        yield sentence, about


_Meanings = tuple[tuple[str | None, frozenset[str]], ...]


def _meanings(entries: Iterable[tuple[str | None, str]]) -> _Meanings:
    return tuple((who, stems) for who, text in entries if (stems := telling_stems(text)))


def _any_said(meanings: _Meanings, text: str, about: Iterable[str | None]) -> bool:
    people = {who for who in about if who is not None}
    mentioned = mentioned_stems(text)
    return any(stems <= mentioned and (who is None or who in people) for who, stems in meanings)


async def without_hidden_names(
    source: Source, text: str, reader: str, shown: Container[str] = ()
) -> str:
    """Free text without the names of people who opted out or were banned, but for `reader`, who is spoken to.

    `shown`: names (casefolded) that may be said all the same, as a moderator may hear who was banned.
    """

    def is_hidden(known: Known) -> bool:
        return known.hidden and known.id != reader and known.name not in shown

    return await _without_known(source, text, is_hidden)


async def only_naming(source: Source, text: str, may_be: Container[str]) -> str:
    """Free text without the names of all but these people."""
    return await _without_known(source, text, lambda one: one.id not in may_be)


async def _without_known(source: Source, text: str, goes: Callable[[Known], bool]) -> str:
    known = await called(source, names_typed([text]))
    return without_names(text, {one.name for one in known if goes(one)})


async def suppress(
    db: Database, viewer_id: str | None, what: str, *, by: str | None, at: int
) -> int:
    """Never bring something up again, of one viewer or (None) at all; the id of the entry.

    `#12` names a note, which must be about that viewer. Raises FactRefused (topic, not_found, unknown, enough).
    """
    text = clean(what)
    named = _NOTE.match(text)
    if len(text) > LONGEST or not (named or topic_stems(text)):
        raise FactRefused("topic")
    async with db.write() as tx:
        entries = await notes.suppressions(tx)
        known = same_entry(entries, viewer_id, text)
        if known is not None:
            return known.id
        if len(entries) >= MOST:
            raise FactRefused("enough")
        if viewer_id is not None and await viewers.get(tx, viewer_id) is None:
            raise FactRefused("not_stored")
        note = await notes.get(tx, int(named[1])) if named else None
        if named and (note is None or viewer_id not in {None, note.subject_id}):
            raise FactRefused("not_found")
        if note is None:
            entry = SuppressionRow(0, viewer_id, text)
        else:
            entry = SuppressionRow(0, note.subject_id, "", note_id=note.id, fact=note.fact)
        await personal_data.write_request(
            tx, topic_of(tx.requests, RequestKind.NEVER_MENTION, entry, at)
        )
        return await notes.add_suppression(
            tx, entry.viewer_id, entry.words, note_id=entry.note_id, by_id=by, at=at
        )


def topic_of(
    requests: PrivacyRequests, kind: RequestKind, entry: SuppressionRow, at: int
) -> PrivacyRequest:
    """The request that an entry of the list stands for."""
    words = topic_stems(entry.words) if entry.words else telling_stems(entry.fact)
    return requests.of_words(kind, entry.viewer_id, words, note_id=entry.note_id, at=at)


def same_entry(
    entries: Iterable[SuppressionRow], viewer_id: str | None, what: str
) -> SuppressionRow | None:
    """The entry that already has a topic, in any form of its words, or a note; None if there is none."""
    named = _NOTE.match(clean(what))
    stems = topic_stems(what)
    for entry in entries:
        if named:
            is_same = entry.note_id == int(named[1]) and viewer_id in {None, entry.viewer_id}
        else:
            is_same = (
                entry.viewer_id == viewer_id
                and entry.words != ""
                and topic_stems(entry.words) == stems
            )
        if is_same:
            return entry
    return None


async def unsuppress(db: Database, entry_id: int, at: int) -> bool:
    """Take one entry off the list, or let an unlisted topic (by its `unlisted_id`) be mentioned; False if none is."""
    async with db.write() as tx:
        rows = await notes.suppressions(tx)
        for row in rows:
            if row.id == entry_id:
                lifted = topic_of(tx.requests, RequestKind.MAY_MENTION, row, at)
                await personal_data.write_request(tx, lifted)
                return await notes.remove_suppression(tx, entry_id)
        for topic in _unlisted(tx.requests, rows):
            if unlisted_id(tx.requests, topic) == entry_id:
                lifted = replace(topic, kind=RequestKind.MAY_MENTION, at=at)
                await personal_data.write_request(tx, lifted)
                return True
    return False


async def list_again(tx: Transaction, request: PrivacyRequest, viewer_id: str) -> int:
    """Do to a copy what was decided since about a topic, or a note; how many entries changed.

    A topic needs no row: while the list lacks it, it is read in the file of requests.
    """
    is_left_alone = tx.requests.is_topic(request)
    rows = await notes.suppressions(tx)
    kind = RequestKind.NEVER_MENTION
    listed = [
        row for row in rows if topic_key(topic_of(tx.requests, kind, row, 0)) == topic_key(request)
    ]
    if request.kind is RequestKind.MAY_MENTION and not is_left_alone:
        for row in listed:
            await notes.remove_suppression(tx, row.id)
        return len(listed)
    if request.kind is RequestKind.NEVER_MENTION and is_left_alone and request.notes and not listed:
        [note_id] = request.notes
        note = await notes.get(tx, note_id)
        if (
            note is not None
            and (note.subject_id or CHANNEL) == viewer_id
            and note.created_at <= request.at
        ):
            await notes.add_suppression(
                tx, note.subject_id, "", note_id=note_id, by_id=None, at=request.at
            )
            return 1
    return 0


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
    topics = _unlisted(requests, await notes.suppressions(source))
    return [
        UnlistedTopic(unlisted_id(requests, topic), topic.at, topic.subject) for topic in topics
    ]


async def unlisted_of(source: Source, viewer_id: str | None) -> list[UnlistedTopic]:
    """The unlisted topics of one viewer, or (None) of the channel."""
    topics = await unlisted(source)
    if not topics:
        return []
    subject = source.requests.digest("viewer", viewer_id or CHANNEL)
    return [topic for topic in topics if topic.subject == subject]


def unlisted_id(requests: PrivacyRequests, topic: PrivacyRequest) -> int:
    """A number by which the dock and the command line name an unlisted topic; no row's is so high."""
    digits = requests.digest("topic", topic.subject, *topic.words, *map(str, topic.notes))
    return UNLISTED_FROM + int(digits, 16) % UNLISTED_FROM


def _unlisted(
    requests: PrivacyRequests, rows: Sequence[SuppressionRow]
) -> Sequence[PrivacyRequest]:
    """The topics of the file that have no row."""
    if not requests.topics:
        return ()
    # each reply asks several times, and hashing the words of 200 rows takes 4 ms: no words are kept for it
    version = (hash(tuple(rows)), requests.count)
    known = requests.unlisted
    if known is None or known[0] != version:
        listed = {topic_key(topic_of(requests, RequestKind.NEVER_MENTION, row, 0)) for row in rows}
        topics = [topic for topic in requests.topics if topic_key(topic) not in listed]
        known = (version, topics)
        requests.unlisted = known
    return known[1]


async def load_filter(source: Source) -> SuppressionFilter:
    """The filter of what is suppressed now."""
    rows = await notes.suppressions(source)
    topics = _unlisted(source.requests, rows)
    unlisted = UnlistedTopics(source.requests, topics) if topics else None
    people = {row.viewer_id for row in rows if row.words and row.viewer_id is not None}
    noted = await notes.noted_words(source, people) if people else []
    return SuppressionFilter(rows, await notes.restorable_facts(source), unlisted, noted)


async def hides_nothing(source: Source, viewer_id: str | None, topic: str) -> bool:
    """Whether a topic hides none of the notes about a viewer, or (None) about the channel."""
    topic_filter = SuppressionFilter([SuppressionRow(0, viewer_id, topic)])
    known = await notes.of_subject(source, viewer_id, (NoteStatus.ACTIVE,))
    return all(topic_filter.allows(note) for note in known)


async def filter_of(source: Source, viewer_id: str) -> SuppressionFilter | None:
    """The filter of what is suppressed of one viewer alone; None if nothing is."""
    rows = await notes.suppressions(source)
    entries = [row for row in rows if row.viewer_id == viewer_id]
    subject = source.requests.digest("viewer", viewer_id)
    topics = [topic for topic in _unlisted(source.requests, rows) if topic.subject == subject]
    if not entries and not topics:
        return None
    unlisted = UnlistedTopics(source.requests, topics) if topics else None
    noted = await notes.noted_words(source, {viewer_id}) if entries else []
    return SuppressionFilter(entries, (), unlisted, noted)
