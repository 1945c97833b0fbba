"""Recalls the notes about a subject that fit what was just said.

- Nothing about viewers who opted out or were banned, nothing suppressed, no notes of other personas.
- Stale and past notes only where the message has a word of theirs, or one of nearly the same meaning.
- Postings are kept per subject until its notes change. They are built in the reader's thread, for a viewer at their
  first line, so that neither a reply nor the event loop waits for it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import Note, Recalled
from forgetmenot.durations import MINUTE
from forgetmenot.memory import channel_search
from forgetmenot.memory.note_index import Candidate
from forgetmenot.memory.past_episodes import EpisodeIndex
from forgetmenot.memory.query import Query, query_of
from forgetmenot.memory.ranking import Postings
from forgetmenot.people.standing import ActiveViewers
from forgetmenot.privacy import suppression
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.prompt.material import CHANNEL_NOTES, SPEAKER_NOTES
from forgetmenot.settings.schema import Persona, Settings, current_persona
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.meaning import word_table

# Postings of this many subjects are kept.
SUBJECTS_KEPT = 200
# Up to this many notes are ranked on the event loop; more, which only an import brings, are ranked in a thread.
FEW_NOTES = 400
# If only LITTLE_KNOWN notes are known about somebody, AT_LEAST of them are offered even if none fits: an answer may
# share no word with the question, and hardly its meaning ("which pet?", "has a gecko").
LITTLE_KNOWN = 10
AT_LEAST = 4
# The part of the best note's score that other notes about the channel must have.
NEARLY_AS_GOOD = 0.5
# Viewers who wrote within this time before the program's start are expected to write again.
CHATTED_WITHIN = 15 * MINUTE
# Postings of this many people at most are built beforehand.
MOST_PREPARED = 40
# The newest episodes of a note whose summaries help to find it.
EPISODES_PER_NOTE = 3

# The subject that stands for the channel and its running bits.
CHANNEL = ""
# A value that changes when a subject's notes change. Its last item: whether the subject may be shown.
Fingerprint = tuple[object, ...]


class NotesSnapshot(NamedTuple):
    """What one transaction read: the fingerprints of some subjects' notes, and what is suppressed.

    `fingerprints`: one for each subject, in the order of the subjects.
    """

    suppression_filter: SuppressionFilter
    fingerprints: tuple[Fingerprint, ...]


class Recall:
    """Recall for one database. `settings` returns the present settings, and is called once per recall."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.active_viewers = ActiveViewers(db=db, settings=settings, clock=clock)
        self.episodes = EpisodeIndex()
        # by their subjects, with the fingerprints of the notes that they were built from; the oldest come first
        self._postings_of: dict[
            tuple[str, ...], tuple[tuple[Fingerprint, ...], Postings]
        ] = {}
        # the ids of those who wrote since the last `prepare`, in that order; a dict is a set that keeps its order
        self._recent_speakers: dict[str, None] = {}
        # counts calls of `forget`, so that what was read before one is not kept after it
        self._forget_count = 0

    def query(
        self,
        message: str,
        *,
        before: str = "",
        category: str = "",
        title: str = "",
        names: Iterable[str] = (),
    ) -> Query:
        """Return what a message asks for, together with the text that the speaker wrote `before` it.

        Filler, the bot's names, `names` and @names are left out. Category and title count little: on a chess stream
        they bring up chess notes only if nothing else decides.
        """
        bot = self._settings().bot
        ignored_names = (bot.name, *bot.aliases, *names)
        typed_words = f"{before} {message}".split()
        asked_words = [word for word in typed_words if not word.startswith("@")]
        query = query_of(
            " ".join(asked_words),
            context=f"{category} {title}",
            names=ignored_names,
            zone=bot.timezone,
        )
        if not message or not before:
            return query
        # a greeting asks for nothing in particular, whatever was said before it
        message_query = query_of(message, names=ignored_names)
        return replace(
            query, is_general=message_query.is_general, newest=message_query.newest
        )

    async def about(
        self,
        subjects: Sequence[str],
        query: Query | str,
        limit: int | None = None,
        *,
        padded: bool = False,
        only_if_asked_for: bool = False,
        snapshot: NotesSnapshot | None = None,
    ) -> list[Recalled]:
        """Return the notes about some viewers, or about the CHANNEL with its running bits, as one list, best first.

        Only notes that fit are returned. With `padded`, or if the query is general, others fill the list up to `limit`.
        With `only_if_asked_for` none is returned if no note has a word of the message.
        `limit`: by default what a prompt has room for. `snapshot`: what `look` has just returned for these subjects;
        None: it is read here. Raises StoreError.
        """
        settings = self._settings()
        if isinstance(query, str):
            query = query_of(query, zone=settings.bot.timezone)
        if limit is None:
            limit = CHANNEL_NOTES if CHANNEL in subjects else SPEAKER_NOTES
        if snapshot is None:
            snapshot = await self._look_at(subjects)
        fingerprints = snapshot.fingerprints
        postings = await self._postings(tuple(subjects), fingerprints, query)

        padded_to: int | None = None
        if not padded and not query.is_general:
            is_little_known = len(postings.notes) <= LITTLE_KNOWN
            padded_to = AT_LEAST if is_little_known else 0
        rank = partial(
            postings.ranked,
            query,
            now=self._clock.now(),
            limit=limit,
            padded_to=padded_to,
            only_if_asked_for=only_if_asked_for,
            may_be_shown=_filter_of(settings, snapshot.suppression_filter),
        )
        if len(postings.notes) <= FEW_NOTES and postings.is_ready(query):
            return rank()
        return await asyncio.to_thread(rank)

    async def of_anybody(
        self,
        source: Source,
        question: str,
        snapshot: NotesSnapshot,
        people: Iterable[str] = (),
        names: Iterable[str] = (),
    ) -> list[Recalled]:
        """Return the notes about anybody that fit a question, best first; none for a sensitive question.

        `snapshot`: of any subjects, because only its suppression filter is read. `people`: the ids of those whom the
        question names. `names`: the words by which it names them. Raises StoreError.
        """
        if channel_search.asks_what_is_sensitive(question):
            return []
        settings = self._settings()
        return await channel_search.search(
            source,
            self.query(question, names=names),
            table=word_table(),
            now=self._clock.now(),
            may_be_shown=_filter_of(settings, snapshot.suppression_filter),
            people=people,
            may_be_sensitive=bool(settings.privacy.allow_categories),
        )

    def heard(self, viewer_id: str) -> None:
        """Note that a viewer wrote a line: the next `prepare` builds the postings of their notes.

        Only the last MOST_PREPARED speakers are remembered.
        """
        self._recent_speakers[viewer_id] = None
        while len(self._recent_speakers) > MOST_PREPARED:
            oldest_speaker = next(iter(self._recent_speakers))
            del self._recent_speakers[oldest_speaker]

    async def prepare(self) -> None:
        """Build the postings of recent speakers and of the channel where they changed, so that no reply waits."""
        if not self._postings_of:
            # the program has just started, and nobody has been heard yet
            since = self._clock.now() - CHATTED_WITHIN
            chatters = await viewers.known_chatters(
                self._db, since=since, limit=MOST_PREPARED
            )
            self._recent_speakers |= dict.fromkeys(chatters)
        has_more = True
        while has_more:
            # in slices, so that other reads get their turn
            has_more = await self._db.together(self.episodes.read_on)
        if not self._recent_speakers:
            return
        subjects = [CHANNEL, *self._recent_speakers]
        self._recent_speakers = {}
        for subject in subjects:
            snapshot = await self._look_at([subject])
            postings = await self._postings((subject,), snapshot.fingerprints)
            if not postings.is_ready():
                # they were built for a question that did not need everything
                await asyncio.to_thread(postings.make_ready)

    def forget(self) -> None:
        """Empty the caches of notes, episodes and active viewers: after an erasure, or changes by hand."""
        self._postings_of.clear()
        self._recent_speakers.clear()
        # nothing that was removed is shown from the old index: the episodes are read again
        self.episodes = EpisodeIndex()
        self._forget_count += 1
        self.active_viewers.forget()

    async def look(self, source: Source, subjects: Sequence[str]) -> NotesSnapshot:
        """Return the state of these subjects' notes, for a caller that reads more in the same transaction."""
        fingerprints = [
            await notes.fingerprint(source, subject or None) for subject in subjects
        ]
        suppression_filter = await suppression.load_filter(source)
        return NotesSnapshot(suppression_filter, tuple(fingerprints))

    async def _look_at(self, subjects: Sequence[str]) -> NotesSnapshot:
        """Return the state of these subjects' notes, read in a transaction of its own."""
        return await self._db.together(lambda source: self.look(source, subjects))

    async def _postings(
        self,
        subjects: tuple[str, ...],
        fingerprints: tuple[Fingerprint, ...],
        query: Query | None = None,
    ) -> Postings:
        """Return the postings of these subjects from the cache; they are built if the notes have changed.

        `query`: what they are built for; None: for any.
        """
        if subjects in self._postings_of:
            kept_fingerprints, kept_postings = self._postings_of[subjects]
            if kept_fingerprints == fingerprints:
                return kept_postings
        # hidden people are left out, so nothing about them can be found
        visible = []
        for subject, fingerprint in zip(subjects, fingerprints, strict=True):
            may_be_shown = fingerprint[-1]
            if may_be_shown:
                visible.append(subject)
        forget_count = self._forget_count

        async def build(source: Source) -> Postings:
            postings = await _build(source, visible)
            postings.make_ready(query)
            return postings

        postings = await self._db.together(build)
        if forget_count != self._forget_count:
            # somebody may have been erased meanwhile, so these are not cached
            return postings
        # removed first, so that the new entry is the last one: the first is the oldest
        self._postings_of.pop(subjects, None)
        self._postings_of[subjects] = (fingerprints, postings)
        while len(self._postings_of) > SUBJECTS_KEPT:
            oldest = next(iter(self._postings_of))
            del self._postings_of[oldest]
        return postings


async def _build(source: Source, subjects: Sequence[str]) -> Postings:
    """Build the postings of these subjects' notes, with the summaries of the notes' newest episodes."""
    recallable: list[Note] = []
    for subject in subjects:
        recallable += await notes.of_subject(source, subject or None, notes.RECALLED)
    if not recallable:
        # the table of words (3 MB) is not read while there is nothing to find
        return Postings([], None)
    episode_ids: set[int] = set()
    for note in recallable:
        episode_ids.update(note.episode_ids[-EPISODES_PER_NOTE:])
    summaries = await episodes.summaries(source, episode_ids)
    candidates = []
    for note in recallable:
        note_summaries = []
        for episode_id in note.episode_ids[-EPISODES_PER_NOTE:]:
            if episode_id in summaries:
                note_summaries.append((episode_id, summaries[episode_id]))
        candidates.append(Candidate(note, tuple(note_summaries)))
    return Postings(candidates, word_table())


def _filter_of(
    settings: Settings,
    suppression_filter: SuppressionFilter,
) -> Callable[[Note], bool]:
    """Return the function that decides whether a note may be shown now."""
    persona = current_persona(settings)
    return partial(_may_be_shown, persona, suppression_filter)


def _may_be_shown(
    persona: Persona,
    suppression_filter: SuppressionFilter,
    note: Note,
) -> bool:
    """Return whether the persona may know a note and the note is not suppressed."""
    if not persona.sees(note.persona):
        return False
    return not suppression_filter or suppression_filter.allows(note)


def fitting(
    recalled: Sequence[Recalled], *, without: Collection[int] = ()
) -> tuple[Recalled, ...]:
    """Return the notes about the channel that have a word of the message; often there are none.

    `recalled`: best first. `without`: the ids of notes that are left out.
    """
    if not recalled:
        return ()
    least = recalled[0].score * NEARLY_AS_GOOD
    asked_for = []
    for candidate in recalled:
        is_wanted = candidate.asked_for and candidate.score >= least
        if is_wanted and candidate.note.id not in without:
            asked_for.append(candidate)
    return tuple(asked_for)
