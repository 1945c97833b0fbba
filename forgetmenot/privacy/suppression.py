"""The filter of what is suppressed: topics and notes on a list (privacy/suppression_list).

- What is suppressed stays stored, and is shown again when the entry is removed.
- A text with all words of an entry, in any form and order, is suppressed. An entry about one viewer
  suppresses only texts about them.
- A note has more words than its fact (memory/own_words): those count too. Where a topic suppresses a
  note, other texts that say the fact of that note are suppressed with it.
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


class _SuppressedWords(NamedTuple):
    """The stems of a topic or a fact that is suppressed, of one viewer or (None) of the channel."""

    viewer_id: str | None
    stems: frozenset[str]


class SuppressionFilter:
    """Tells which notes and texts are suppressed, by entries of the list."""

    def __init__(
        self,
        entries: Iterable[SuppressionRow] = (),
        removed_facts: Iterable[tuple[str, str]] = (),
        unlisted: "UnlistedTopics | None" = None,
        noted_words: Iterable[NotedWords] = (),
    ) -> None:
        """Take what is suppressed from the entries.

        `removed_facts`: the subject's id and the fact of notes that were removed, or corrected since.
        `unlisted`: topics that only the file of requests knows.
        `noted_words`: the words of the notes about people with topics.
        """
        self.entries = tuple(entries)
        self.unlisted = unlisted
        self._topics = _topic_words(self.entries)
        suppressed_facts = self._suppressed_facts(noted_words)
        self._suppressed = self._topics + _fact_words(suppressed_facts)
        # Apart, because only summaries are cleaned of them: a reply may say that a note was removed or corrected.
        self._removed = _fact_words(removed_facts)
        self._note_ids = {entry.note_id for entry in self.entries}

    def _suppressed_facts(
        self, noted_words: Iterable[NotedWords]
    ) -> list[tuple[str | None, str]]:
        """Return the facts that are on the list or that a topic names, each with whose it is."""
        facts: list[tuple[str | None, str]] = []
        for entry in self.entries:
            if entry.fact:
                facts.append((entry.viewer_id, entry.fact))
        for note in noted_words:
            # A topic in a viewer's own language suppresses a note that is English.
            if note.fact and self._names_note(note):
                facts.append((note.viewer_id, note.fact))
        return facts

    def _names_note(self, note: NotedWords) -> bool:
        """Return whether a topic of the note's viewer names it."""
        text = plain(note.text)
        for topic in self._topics:
            if topic.viewer_id != note.viewer_id:
                continue
            # Stemming a note is slow. A stem stands in its word but for the last letter, and most
            # notes are told apart by that alone.
            is_likely = all(stem[:-1] in text for stem in topic.stems)
            if is_likely and topic.stems <= mentioned_stems(note.text):
                return True
        return False

    def __bool__(self) -> bool:
        return bool(self.entries) or self.unlisted is not None

    @property
    def people(self) -> frozenset[str]:
        """Return the ids of all of whom something is suppressed, as far as the memory knows."""
        viewer_ids = set()
        for words in self._suppressed:
            if words.viewer_id is not None:
                viewer_ids.add(words.viewer_id)
        return frozenset(viewer_ids)

    def allows(self, note: Note) -> bool:
        """Return whether a note may be shown."""
        if note.id in self._note_ids:
            return False
        people = (note.subject_id, *ids_in(note.fact))
        # With its topics, which may have the word in the viewer's own language.
        text = note.text_with_topics
        if _speaks_of(self._topics, text, people):
            return False
        if self.unlisted is None:
            return True
        return self.unlisted.allows(note, mentioned_stems(text), people)

    def matches(self, text: str, people: Iterable[str | None] = ()) -> bool:
        """Return whether a text about these people speaks of what is suppressed."""
        return self._matches(self._suppressed, text, tuple(people))

    def without(self, text: str, people: Iterable[str | None] = ()) -> str:
        """Return a summary without the sentences that are suppressed.

        Nor those that say what a removed note said, or a corrected one before: a summary would give it back.
        A sentence is about whom it or the one before it mentions, and perhaps about these people.
        """
        return self._without(text, self._suppressed + self._removed, tuple(people))

    def without_topics(self, text: str, people: Iterable[str | None]) -> str:
        """Return a reply to or about these people without the sentences that are suppressed."""
        return self._without(text, self._suppressed, tuple(people))

    def _without(
        self,
        text: str,
        suppressed: tuple[_SuppressedWords, ...],
        people: tuple[str | None, ...],
    ) -> str:
        """Return the sentences of a text that speak of nothing suppressed of those they are about."""
        if not suppressed and self.unlisted is None:
            return text
        allowed_sentences = []
        for sentence, subject_ids in with_subjects(text):
            if not self._matches(suppressed, sentence, (*subject_ids, *people)):
                allowed_sentences.append(sentence)
        return join_sentences(allowed_sentences)

    def _matches(
        self,
        suppressed: tuple[_SuppressedWords, ...],
        text: str,
        people: tuple[str | None, ...],
    ) -> bool:
        if _speaks_of(suppressed, text, people):
            return True
        if self.unlisted is None:
            return False
        return self.unlisted.matches(mentioned_stems(text), people)


class UnlistedTopics:
    """Topics that the file of requests knows and the list in the memory does not.

    They were asked for after a copy was made that was restored, or by somebody who was erased. Their
    words are hashes, so a text is hashed to be compared with them.
    """

    def __init__(
        self, requests: PrivacyRequests, topics: Iterable[PrivacyRequest]
    ) -> None:
        self._requests = requests
        self._by_subject: dict[str, list[PrivacyRequest]] = {}
        for topic in topics:
            self._by_subject.setdefault(topic.subject, []).append(topic)

    def of(self, viewer_id: str | None) -> Sequence[PrivacyRequest]:
        """Return the topics of one viewer, or (None) of the channel."""
        # The file has hashes alone, so of whom a topic is shows only when their id is hashed.
        subject = self._requests.digest("viewer", viewer_id or CHANNEL)
        return self._by_subject.get(subject, ())

    def matches(self, stems: frozenset[str], people: Iterable[str | None]) -> bool:
        """Return whether a text with these words speaks of a topic of these people, or of the channel."""
        for viewer_id in {None, *people}:
            topics = self.of(viewer_id)
            if self._is_any_named(viewer_id, topics, stems):
                return True
        return False

    def allows(
        self,
        note: Note,
        stems: frozenset[str],
        people: Iterable[str | None],
    ) -> bool:
        """Return whether a note with these words may be shown.

        It may not if it speaks of a topic of these people, nor if it says the same as a note that
        was put on the list. More than that it may say: it would be another note.
        """
        for viewer_id in {None, *people}:
            # Requests about a note have all of its words: those are compared below.
            topics = [topic for topic in self.of(viewer_id) if not topic.notes]
            if self._is_any_named(viewer_id, topics, stems):
                return False
        fact_stems = telling_stems(note.fact)
        for viewer_id in {None, note.subject_id}:
            if self._is_any_same(viewer_id, self.of(viewer_id), fact_stems):
                return False
        return True

    def _is_any_named(
        self,
        viewer_id: str | None,
        topics: Sequence[PrivacyRequest],
        stems: frozenset[str],
    ) -> bool:
        """Return whether these words include all words of one of a viewer's topics."""
        if not topics:
            return False
        # Words are hashed with the viewer they are about, so anew for each viewer.
        text_words = self._hashed(viewer_id, stems)
        return any(text_words.issuperset(topic.words) for topic in topics)

    def _is_any_same(
        self,
        viewer_id: str | None,
        topics: Sequence[PrivacyRequest],
        stems: frozenset[str],
    ) -> bool:
        """Return whether these words are just those of one of a viewer's topics."""
        if not topics:
            return False
        text_words = self._hashed(viewer_id, stems)
        return any(text_words == set(topic.words) for topic in topics)

    def _hashed(self, viewer_id: str | None, stems: frozenset[str]) -> set[str]:
        return set(self._requests.hashed(viewer_id or CHANNEL, stems))


def with_subjects(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Give the sentences of a text, each with the ids of the people whom it is about.

    A sentence that mentions nobody is about whom the last one mentioned.
    """
    subject_ids: Sequence[str] = ()
    for sentence in sentences_of(text):
        subject_ids = ids_in(sentence) or subject_ids
        yield sentence, subject_ids


def _topic_words(entries: Iterable[SuppressionRow]) -> tuple[_SuppressedWords, ...]:
    """Return the words of the topics that somebody asked never to mention."""
    suppressed = []
    for entry in entries:
        stems = topic_stems(entry.words)
        if stems:
            suppressed.append(_SuppressedWords(entry.viewer_id, stems))
    return tuple(suppressed)


def _fact_words(
    facts: Iterable[tuple[str | None, str]],
) -> tuple[_SuppressedWords, ...]:
    """Return the words of single facts that are not mentioned."""
    suppressed = []
    for viewer_id, fact in facts:
        stems = telling_stems(fact)
        if stems:
            suppressed.append(_SuppressedWords(viewer_id, stems))
    return tuple(suppressed)


def _speaks_of(
    suppressed: Iterable[_SuppressedWords],
    text: str,
    people: Iterable[str | None],
) -> bool:
    """Return whether a text about these people has all words of something suppressed."""
    # A topic of the channel (None) hides texts about anybody.
    subject_ids = {None, *people}
    stems = mentioned_stems(text)
    return any(
        words.viewer_id in subject_ids and words.stems <= stems for words in suppressed
    )


async def load_filter(source: Source) -> SuppressionFilter:
    """Return the filter of all that is suppressed now."""
    entries = await notes.suppressions(source)
    people_with_topics = set()
    for entry in entries:
        if entry.words and entry.viewer_id is not None:
            people_with_topics.add(entry.viewer_id)
    # Read only where there are topics: these are all words of all their notes.
    noted_words = []
    if people_with_topics:
        noted_words = await notes.noted_words(source, people_with_topics)
    removed_facts = await notes.restorable_facts(source)
    for corrected in await notes.corrected_facts(source):
        # A correction that only adds something leaves all that was said true.
        if not telling_stems(corrected.fact) <= telling_stems(corrected.new_fact):
            removed_facts.append((corrected.viewer_id, corrected.fact))
    topics = unlisted_requests(source.requests, entries)
    unlisted = _unlisted_topics(source, topics)
    return SuppressionFilter(entries, removed_facts, unlisted, noted_words)


async def filter_of(source: Source, viewer_id: str) -> SuppressionFilter | None:
    """Return the filter of what is suppressed of one viewer; None if nothing is."""
    requests = source.requests
    all_entries = await notes.suppressions(source)
    entries = [entry for entry in all_entries if entry.viewer_id == viewer_id]
    subject = requests.digest("viewer", viewer_id)
    topics = []
    for topic in unlisted_requests(requests, all_entries):
        if topic.subject == subject:
            topics.append(topic)
    if not entries and not topics:
        return None
    noted_words = []
    if entries:
        noted_words = await notes.noted_words(source, {viewer_id})
    unlisted = _unlisted_topics(source, topics)
    return SuppressionFilter(entries, (), unlisted, noted_words)


def _unlisted_topics(
    source: Source, topics: Sequence[PrivacyRequest]
) -> UnlistedTopics | None:
    return UnlistedTopics(source.requests, topics) if topics else None


async def suppresses_nothing(
    source: Source,
    viewer_id: str | None,
    topic: str,
) -> bool:
    """Return whether a topic suppresses no note about a viewer, or (None) about the channel."""
    entry = SuppressionRow(0, viewer_id, topic)
    topic_filter = SuppressionFilter([entry])
    active_notes = await notes.of_subject(source, viewer_id, (NoteStatus.ACTIVE,))
    return all(topic_filter.allows(note) for note in active_notes)
