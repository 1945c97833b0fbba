"""Recalls what is known about a subject, as far as it fits what was just said.

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
FEW = 400
# Of somebody of whom little is known (in notes) a few notes are offered whatever fits: the answer may share no word
# with the question and hardly its meaning ("which pet?", "has a gecko").
LITTLE_KNOWN = 10
AT_LEAST = 4
# The part of the best note's score that other notes about the channel must have.
NEARLY_AS_GOOD = 0.5
# Whoever wrote within this time before the start is expected to go on.
CHATTING = 15 * MINUTE
# Postings of this many people at most are built beforehand.
PREPARED = 40
# The newest episodes of a note whose summaries help to find it.
EPISODES_PER_NOTE = 3

# The key of what is known about the channel and its running bits.
CHANNEL = ""
# A value that changes when the notes of a subject do. Its last item: whether the subject may be shown.
Fingerprint = tuple[object, ...]


class NotesSnapshot(NamedTuple):
    """The state of some subjects' notes at one moment, and what is suppressed then.

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
        """Return what the message asks for, with the speaker's thought before it.

        Left out are filler, the bot's name, `names`, and whoever stands behind an @. Category and title count little:
        a chess stream brings up chess notes where nothing else decides.
        """
        bot = self._settings().bot
        ignored_names = (bot.name, *bot.aliases, *names)
        typed_words = f"{before} {message}".split()
        without_handles = [word for word in typed_words if not word.startswith("@")]
        query = query_of(
            " ".join(without_handles),
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
        snapshot: NotesSnapshot | None = None,
    ) -> list[Recalled]:
        """Return the notes about some viewers, or about the CHANNEL with its running bits, as one list, best first.

        Only notes that fit are returned; all there are where the query asks for nothing in particular, as a greeting
        does, or with `padded`. `limit`: by default what a prompt has room for. `snapshot`: what `look` has just
        returned for these subjects; None: it is read here. Raises StoreError.
        """
        settings = self._settings()
        if isinstance(query, str):
            query = query_of(query, zone=settings.bot.timezone)
        if limit is None:
            limit = CHANNEL_NOTES if CHANNEL in subjects else SPEAKER_NOTES
        if snapshot is None:
            snapshot = await self._look_at(subjects)
        postings = await self._postings(tuple(subjects), snapshot.fingerprints)

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
            may_be_shown=_filter_of(settings, snapshot.suppression_filter),
        )
        if len(postings.notes) <= FEW:
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
        """Return the notes about anybody that fit a question, or words to look up, best first.

        A sensitive question gets none. `snapshot`: of any subjects; only what it suppresses is read. `people`: the ids
        of those whom the question names; `names`: the words by which it names them. Raises StoreError.
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
        """Remember who wrote a line: the next `prepare` builds the postings of their notes.

        Only of the last PREPARED speakers: whoever is in the list for longest goes first.
        """
        self._recent_speakers[viewer_id] = None
        while len(self._recent_speakers) > PREPARED:
            oldest_speaker = next(iter(self._recent_speakers))
            del self._recent_speakers[oldest_speaker]

    async def prepare(self) -> None:
        """Build the postings of whoever chats, and of the channel, where they changed: no reply waits for it."""
        if not self._postings_of:
            # the program has just started: whoever was here lately is expected to go on
            since = self._clock.now() - CHATTING
            chatters = await viewers.known_chatters(
                self._db, since=since, limit=PREPARED
            )
            self._recent_speakers |= dict.fromkeys(chatters)
        has_more = True
        while has_more:
            # slice by slice, so that other reads get their turn
            has_more = await self._db.together(self.episodes.read_on)
        if not self._recent_speakers:
            return
        subjects = [CHANNEL, *self._recent_speakers]
        self._recent_speakers = {}
        for subject in subjects:
            snapshot = await self._look_at([subject])
            await self._postings((subject,), snapshot.fingerprints)

    def forget(self) -> None:
        """Drop what this process keeps of notes, episodes and who chats: after an erasure, or changes by hand."""
        self._postings_of.clear()
        self._recent_speakers.clear()
        # nothing that was removed is shown from the old index: the episodes are read again
        self.episodes = EpisodeIndex()
        self._forget_count += 1
        self.active_viewers.forget()

    async def look(self, source: Source, subjects: Sequence[str]) -> NotesSnapshot:
        """Return the state of these subjects' notes, for a caller who reads more in the same transaction."""
        fingerprints = [
            await notes.fingerprint(source, subject or None) for subject in subjects
        ]
        suppression_filter = await suppression.load_filter(source)
        return NotesSnapshot(suppression_filter, tuple(fingerprints))

    async def _look_at(self, subjects: Sequence[str]) -> NotesSnapshot:
        """Return the state of these subjects' notes, read in a transaction of its own."""
        return await self._db.together(lambda source: self.look(source, subjects))

    async def _postings(
        self, subjects: tuple[str, ...], fingerprints: tuple[Fingerprint, ...]
    ) -> Postings:
        """Return the postings of these subjects; they are built if none are kept for the present notes."""
        if subjects in self._postings_of:
            kept_fingerprints, kept_postings = self._postings_of[subjects]
            if kept_fingerprints == fingerprints:
                return kept_postings
        # of whoever is hidden there are no postings
        visible = []
        for subject, fingerprint in zip(subjects, fingerprints, strict=True):
            may_be_shown = fingerprint[-1]
            if may_be_shown:
                visible.append(subject)
        forget_count = self._forget_count
        postings = await self._db.together(lambda source: _build(source, visible))
        if forget_count != self._forget_count:
            # somebody was erased meanwhile
            return postings
        # removed first, so that it comes last among those that are kept
        self._postings_of.pop(subjects, None)
        self._postings_of[subjects] = (fingerprints, postings)
        while len(self._postings_of) > SUBJECTS_KEPT:
            oldest = next(iter(self._postings_of))
            del self._postings_of[oldest]
        return postings


async def _build(source: Source, subjects: Sequence[str]) -> Postings:
    """Build the postings of these subjects' notes, with the summaries of their newest episodes."""
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
        summarised = []
        for episode_id in note.episode_ids[-EPISODES_PER_NOTE:]:
            if episode_id in summaries:
                summarised.append((episode_id, summaries[episode_id]))
        candidates.append(Candidate(note, tuple(summarised)))
    return Postings(candidates, word_table())


def _filter_of(
    settings: Settings,
    suppression_filter: SuppressionFilter,
) -> Callable[[Note], bool]:
    """Return the function that says of a note whether it may be shown now."""
    persona = current_persona(settings)
    return partial(_may_be_shown, persona, suppression_filter)


def _may_be_shown(
    persona: Persona,
    suppression_filter: SuppressionFilter,
    note: Note,
) -> bool:
    """Return whether this persona may know a note, and nobody asked for it never to be mentioned."""
    if not persona.sees(note.persona):
        return False
    return not suppression_filter or suppression_filter.allows(note)


def fitting(
    recalled: Sequence[Recalled], *, without: Collection[int] = ()
) -> tuple[Recalled, ...]:
    """Return the notes about the channel that a message asks for by their words; often there are none.

    `recalled`: best first. `without`: the ids of notes that are left out.
    """
    if not recalled:
        return ()
    least = recalled[0].score * NEARLY_AS_GOOD
    asked_for = []
    for hit in recalled:
        is_wanted = hit.asked_for and hit.score >= least
        if is_wanted and hit.note.id not in without:
            asked_for.append(hit)
    return tuple(asked_for)
