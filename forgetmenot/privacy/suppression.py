"""The filter of what the bot never mentions: topics and notes on a list (privacy/suppression_list).

- What is never mentioned stays stored, and is shown again when the entry is removed.
- A text with all words of an entry, in any form and order, is suppressed; for an entry about one viewer only where it
  is about them. A note has the words beside it too (memory/own_words), and what it says in English goes with it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from forgetmenot.domain import Note, NoteStatus
from forgetmenot.privacy.suppression_list import unlisted_requests
from forgetmenot.store import notes
from forgetmenot.store.database import Source
from forgetmenot.store.notes import NotedWords, SuppressionRow
from forgetmenot.store.privacy_requests import CHANNEL, PrivacyRequest, PrivacyRequests
from forgetmenot.text.clean import plain
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.words import (
    join_sentences,
    mentioned_stems,
    sentences_of,
    telling_stems,
    topic_stems,
)


class _Meaning(NamedTuple):
    """What is not mentioned, as stems, of one viewer or (None) at all."""

    viewer_id: str | None
    stems: frozenset[str]


_Meanings = tuple[_Meaning, ...]


class SuppressionFilter:
    """Entries of the list, ready to be asked.

    `removed`: (whom it was about, what it said) of notes that were removed. `unlisted`: topics that only the file of
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
        self.unlisted = unlisted
        self._topics = _topic_meanings(self.entries)
        self._facts = self._suppressed_facts(noted)
        self._meanings = self._topics + _fact_meanings(self._facts)
        self._removed = _fact_meanings(removed)
        self._note_ids = {
            entry.note_id for entry in self.entries if entry.note_id is not None
        }

    def _suppressed_facts(
        self, noted: Iterable[NotedWords]
    ) -> list[tuple[str | None, str]]:
        """Whose facts may not be mentioned: those on the list, and those that a topic names."""
        facts: list[tuple[str | None, str]] = []
        for entry in self.entries:
            if entry.fact:
                facts.append((entry.viewer_id, entry.fact))
        for note in noted:
            # a topic in a viewer's own words hides a note that is English
            if note.fact and self._names_note(note):
                facts.append((note.viewer_id, note.fact))
        return facts

    def _names_note(self, note: NotedWords) -> bool:
        """Whether a topic of its viewer names a note."""
        text = plain(note.text)
        for topic in self._topics:
            if topic.viewer_id != note.viewer_id:
                continue
            # a stem stands in its word but for the last letter: most notes are told apart by that alone
            is_likely = all(stem[:-1] in text for stem in topic.stems)
            if is_likely and topic.stems <= mentioned_stems(note.text):
                return True
        return False

    def __bool__(self) -> bool:
        return bool(self.entries) or self.unlisted is not None

    @property
    def people(self) -> frozenset[str]:
        """Everybody of whom something is suppressed, as far as the memory knows."""
        viewer_ids = {meaning.viewer_id for meaning in self._meanings}
        return frozenset(viewer_id for viewer_id in viewer_ids if viewer_id is not None)

    def allows(self, note: Note) -> bool:
        """Whether a note may be shown."""
        if note.id in self._note_ids:
            return False
        about = (note.subject_id, *ids_in(note.fact))
        text = note.text_with_topics
        if _is_mentioned(self._topics, text, about):
            return False
        if self.unlisted is None:
            return True
        return self.unlisted.allows(note, mentioned_stems(text), about)

    def has(self, text: str, about: Iterable[str | None] = ()) -> bool:
        """Whether a text about these people speaks of what is suppressed."""
        return self._mentions(self._meanings, text, tuple(about))

    def without(self, text: str, also: Iterable[str | None] = ()) -> str:
        """A summary without the sentences that speak of it; who a sentence is about stands in it, or in the last.

        Nor those that say what a removed note said: a summary would give it back. `also`: whom each may be about
        besides.
        """
        return self._without(text, self._meanings + self._removed, tuple(also))

    def without_topics(self, text: str, people: Iterable[str | None]) -> str:
        """A reply to or about these people without the sentences that speak of what is suppressed."""
        return self._without(text, self._meanings, tuple(people))

    def _without(
        self,
        text: str,
        meanings: _Meanings,
        people: tuple[str | None, ...],
    ) -> str:
        if not meanings and self.unlisted is None:
            return text
        allowed = []
        for sentence, about in with_subjects(text):
            if not self._mentions(meanings, sentence, (*about, *people)):
                allowed.append(sentence)
        return join_sentences(allowed)

    def _mentions(
        self,
        meanings: _Meanings,
        text: str,
        about: tuple[str | None, ...],
    ) -> bool:
        if _is_mentioned(meanings, text, about):
            return True
        if self.unlisted is None:
            return False
        return self.unlisted.named_in(mentioned_stems(text), about)


class _Hashes(NamedTuple):
    """The words of an unlisted topic and those of a text, as hashes."""

    topic: frozenset[str]
    text: frozenset[str]


class UnlistedTopics:
    """Topics that the file of requests knows and the list in the memory does not, as hashes of their words.

    They were asked for after a copy was made that was restored, or by somebody who was erased.
    """

    def __init__(
        self, requests: PrivacyRequests, topics: Iterable[PrivacyRequest]
    ) -> None:
        self._requests = requests
        self._by_subject: dict[str, list[PrivacyRequest]] = {}
        for topic in topics:
            self._by_subject.setdefault(topic.subject, []).append(topic)

    def of(self, viewer_id: str | None) -> Sequence[PrivacyRequest]:
        """Those of one viewer, or (None) of the channel."""
        subject = self._requests.digest("viewer", viewer_id or CHANNEL)
        return self._by_subject.get(subject, ())

    def named_in(self, stems: frozenset[str], about: Iterable[str | None]) -> bool:
        """Whether a text with these words speaks of one, of the channel's or of these people."""
        compared = self._compared(stems, about, with_notes=True)
        return any(hashes.topic <= hashes.text for hashes in compared)

    def allows(
        self,
        note: Note,
        stems: frozenset[str],
        about: Iterable[str | None],
    ) -> bool:
        """Whether a note with these words may be shown: it is not about a topic, and says no more than a note on it."""
        compared = self._compared(stems, about, with_notes=False)
        if any(hashes.topic <= hashes.text for hashes in compared):
            return False
        fact_stems = telling_stems(note.fact)
        compared = self._compared(fact_stems, [note.subject_id], with_notes=True)
        return not any(hashes.topic == hashes.text for hashes in compared)

    def _compared(
        self,
        stems: frozenset[str],
        about: Iterable[str | None],
        *,
        with_notes: bool,
    ) -> Iterator[_Hashes]:
        """Each topic that may be meant, beside the words of a text. `with_notes`: also what a note said."""
        for viewer_id in {None, *about}:
            topics = self.of(viewer_id)
            if not with_notes:
                topics = [topic for topic in topics if not topic.notes]
            if not topics:
                continue
            text_hashes = frozenset(self._requests.hashed(viewer_id or CHANNEL, stems))
            for topic in topics:
                yield _Hashes(frozenset(topic.words), text_hashes)


def with_subjects(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """The sentences, each with whom it is about: one that names nobody goes on about whom the last one named."""
    about: Sequence[str] = ()
    for sentence in sentences_of(text):
        about = ids_in(sentence) or about
        yield sentence, about


def _topic_meanings(entries: Iterable[SuppressionRow]) -> _Meanings:
    meanings = []
    for entry in entries:
        stems = topic_stems(entry.words)
        if stems:
            meanings.append(_Meaning(entry.viewer_id, stems))
    return tuple(meanings)


def _fact_meanings(facts: Iterable[tuple[str | None, str]]) -> _Meanings:
    meanings = []
    for viewer_id, fact in facts:
        stems = telling_stems(fact)
        if stems:
            meanings.append(_Meaning(viewer_id, stems))
    return tuple(meanings)


def _is_mentioned(
    meanings: _Meanings,
    text: str,
    about: Iterable[str | None],
) -> bool:
    """Whether a text about these people has all words of one of these meanings."""
    subjects = {None, *about}
    stems = mentioned_stems(text)
    return any(
        meaning.stems <= stems and meaning.viewer_id in subjects for meaning in meanings
    )


async def load_filter(source: Source) -> SuppressionFilter:
    """The filter of what is suppressed now."""
    rows = await notes.suppressions(source)
    with_topics = {
        row.viewer_id for row in rows if row.words and row.viewer_id is not None
    }
    noted = []
    if with_topics:
        noted = await notes.noted_words(source, with_topics)
    removed = await notes.restorable_facts(source)
    topics = unlisted_requests(source.requests, rows)
    return SuppressionFilter(rows, removed, _unlisted_topics(source, topics), noted)


async def filter_of(source: Source, viewer_id: str) -> SuppressionFilter | None:
    """The filter of what is suppressed of one viewer alone; None if nothing is."""
    rows = await notes.suppressions(source)
    entries = [row for row in rows if row.viewer_id == viewer_id]
    subject = source.requests.digest("viewer", viewer_id)
    topics = []
    for topic in unlisted_requests(source.requests, rows):
        if topic.subject == subject:
            topics.append(topic)
    if not entries and not topics:
        return None
    noted = await notes.noted_words(source, {viewer_id}) if entries else []
    return SuppressionFilter(entries, (), _unlisted_topics(source, topics), noted)


def _unlisted_topics(
    source: Source, topics: Sequence[PrivacyRequest]
) -> UnlistedTopics | None:
    return UnlistedTopics(source.requests, topics) if topics else None


async def hides_nothing(
    source: Source,
    viewer_id: str | None,
    topic: str,
) -> bool:
    """Whether a topic hides none of the notes about a viewer, or (None) about the channel."""
    topic_filter = SuppressionFilter([SuppressionRow(0, viewer_id, topic)])
    known = await notes.of_subject(source, viewer_id, (NoteStatus.ACTIVE,))
    return all(topic_filter.allows(note) for note in known)
