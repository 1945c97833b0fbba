"""Recalls the notes about a subject, ranked by what was just said.

- It answers within the time limit of the settings. If ranking takes longer, then within a quarter more: the last good
  answer without what was retracted since, else the plain sort, else nothing.
- Nothing about viewers who opted out or were banned, nothing suppressed, no notes of other personas.
- Postings are cached per subject until its notes change, and built in a thread, so that the event loop is not held.
"""

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory import suppression
from forgetmenot.memory.active_viewers import ActiveViewers
from forgetmenot.memory.meaning import word_table
from forgetmenot.memory.ranking import Candidate, Found, Postings, Query, by_recency, query_of, short_names
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.settings.schema import Settings, speaking
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Database, Source

BYTES_KEPT = 40_000_000  # of postings, over all subjects: 25 with 150 notes, or 100 with 20
FEW = 400
"""Notes that are asked on the loop, once their postings are built; more are asked in a thread."""
CHANNEL_NOTES_ASKED = 3
NEARLY_AS_GOOD = 0.5  # of the best one's score
CHATTING = 15 * MINUTE
PREPARED = 40  # people at most whose postings are built beforehand
ANSWERS_KEPT = 500
TIMES_KEPT = 200
EPISODES_PER_NOTE = 3

CHANNEL = ""  # the key of what is known about the channel and its running bits


Print = tuple[object, ...]  # a fingerprint of one subject's notes


class NotesSnapshot(NamedTuple):
    """The state of some subjects' notes at one moment, and what is suppressed then."""

    suppression_filter: SuppressionFilter
    prints: tuple[Print, ...]


class _Kept(NamedTuple):
    revision: tuple[Print, ...]
    postings: Postings
    lock: threading.Lock  # postings keep what they worked out, and one thread at a time may ask

    def ask(
        self,
        query: Query,
        now: int,
        limit: int,
        opens: Callable[[Note], bool],
    ) -> Found:
        with self.lock:
            return self.postings.ranked(query, now=now, limit=limit, opens=opens)


class Recall:
    """Recall for one database. `settings` is asked once per call."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.active_viewers = ActiveViewers(db=db, settings=settings, clock=clock)
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._answers: OrderedDict[tuple[str, ...], Found] = OrderedDict()
        self.took_ms: deque[float] = deque(maxlen=TIMES_KEPT)
        self._suppression_filter = SuppressionFilter()
        self._forgotten = 0

    def query(
        self, message: str, *, before: str = "", category: str = "", title: str = "", names: Iterable[str] = ()
    ) -> Query:
        """What is asked for: the message and the speaker's thought before it, less names, filler and the bot's name.

        Left out are `names`, whoever stands behind an @, and the people around (as far as they were looked up
        before). Category and title count little: a GTA stream brings up GTA notes where nothing else decides.
        """
        bot = self._settings().bot
        said = [word for word in f"{before} {message}".split() if not word.startswith("@")]
        people = [word for word in said if self.active_viewers.is_name(word)]
        low = " ".join((category, title, *short_names(category)))
        return query_of(" ".join(said), low=low, without=(bot.name, *bot.aliases, *names, *people))

    async def about(
        self,
        subjects: Sequence[str],
        query: Query | str,
        limit: int | None = None,
        *,
        seen: NotesSnapshot | None = None,
    ) -> Found:
        """The notes about some viewers, or about the CHANNEL with its running bits, as one list, best first.

        `seen`: what `look` has just read of them.
        """
        usual, key = self._settings().recall, tuple(subjects)
        most = usual.channel_notes if CHANNEL in subjects else usual.speaker_notes
        most, seconds = most if limit is None else limit, usual.timeout_ms / 1_000
        asked = query_of(query) if isinstance(query, str) else query
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(seconds):
                if seen is None:
                    seen = await self._db.together(lambda at: self.look(at, key))
                self._suppression_filter = seen.suppression_filter
                answer = await self._ranked(key, seen.prints, asked, most, self._gate())
        except (TimeoutError, StoreError) as error:
            log.warning("recall is late", subjects=len(key), error=type(error).__name__)
            return await self._when_late(key, most, seconds, self._gate())
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > ANSWERS_KEPT:
            self._answers.popitem(last=False)
        self.took_ms.append((asyncio.get_running_loop().time() - began) * 1_000)
        return answer

    def forget(self) -> None:
        """Drop what is kept in this process of notes and of who chats: after an erasure, and after changes by hand."""
        self._kept.clear()
        self._answers.clear()
        self._forgotten += 1
        self.active_viewers.forget()

    async def prepare(self) -> None:
        """Build the postings of whoever chats now, and of the channel, where they changed: no reply waits for it."""
        chatting = await viewers.chatting(self._db, since=self._clock.now() - CHATTING, limit=PREPARED)
        for subject in [*chatting, CHANNEL] if chatting else ():
            revision = (await notes.fingerprint(self._db, subject or None),)
            kept = self._kept.get((subject,))
            if kept is None or kept.revision != revision:
                await self._built((subject,), revision)

    async def look(self, at: Source, subjects: Sequence[str]) -> NotesSnapshot:
        """What has to be read before anything is recalled of these subjects, for a caller who reads more at once."""
        prints = [await notes.fingerprint(at, subject or None) for subject in subjects]
        return NotesSnapshot(await suppression.load_filter(at), tuple(prints))

    def _gate(self) -> Callable[[Note], bool]:
        """Which notes may be shown: those of the persona that speaks, not left alone."""
        settings, suppression_filter = self._settings(), self._suppression_filter
        persona = speaking(settings)

        def opens(note: Note) -> bool:
            return persona.sees(note.persona) and (not suppression_filter or suppression_filter.allows(note))

        return opens

    async def _when_late(
        self, subjects: tuple[str, ...], limit: int, seconds: float, opens: Callable[[Note], bool]
    ) -> Found:
        """The last good answer, without what was retracted since if that can be read in time; else the plain sort."""
        good = [recalled for recalled in self._answers.get(subjects, ()) if opens(recalled.note)]
        try:
            # read only to drop what was removed since; that the order is old does no harm
            async with asyncio.timeout(seconds / 4):
                seen = [(subject, await notes.fingerprint(self._db, subject or None)) for subject in subjects]
                found = await _notes(self._db, tuple(subject for subject, shown in seen if shown[-1]))
        except (TimeoutError, StoreError):
            return Found(good[:limit])
        if not good:
            return Found(by_recency(filter(opens, found), now=self._clock.now(), limit=limit))
        there = {note.id for note in found}
        return Found([recalled for recalled in good if recalled.note.id in there][:limit])

    async def _ranked(
        self,
        subjects: tuple[str, ...],
        revision: tuple[Print, ...],
        query: Query,
        limit: int,
        opens: Callable[[Note], bool],
    ) -> Found:
        kept = self._kept.get(subjects)
        fresh = kept is None or kept.revision != revision
        if kept is None or fresh:
            kept = await self._built(subjects, revision)
        else:
            self._kept.move_to_end(subjects)
        asked = (query, self._clock.now(), limit, opens)
        # the first question of new postings takes long
        at_once = not fresh and len(kept.postings.notes) <= FEW
        return kept.ask(*asked) if at_once else await asyncio.to_thread(kept.ask, *asked)

    async def _built(self, subjects: tuple[str, ...], revision: tuple[Print, ...]) -> _Kept:
        """Build and keep the postings of these subjects."""
        visible = tuple(subject for subject, seen in zip(subjects, revision, strict=True) if seen[-1])
        forgotten = self._forgotten
        candidates = await self._db.together(lambda at: candidates_of(at, visible))
        postings = await asyncio.to_thread(lambda: Postings(candidates, word_table()))
        made = _Kept(revision, postings, threading.Lock())
        if forgotten == self._forgotten:  # else somebody was erased meanwhile
            self._kept[subjects] = made
            self._kept.move_to_end(subjects)
            # summed anew each time: postings grow while they are asked, because weights are worked out then
            held = sum(kept.postings.size for kept in self._kept.values())
            while held > BYTES_KEPT and len(self._kept) > 1:
                held -= self._kept.popitem(last=False)[1].postings.size
        return made


def fitting(found: Found, *, without: Collection[int] = ()) -> tuple[Recalled, ...]:
    """The few notes about the channel that fit what was asked, but for those of `without`; often none."""
    least = found[0].score * NEARLY_AS_GOOD if found else 0.0
    good = [one for one in found[:CHANNEL_NOTES_ASKED] if found.fits and one.score > 0 and one.score >= least]
    return tuple(one for one in good if one.note.id not in without)


async def _notes(at: Source, subjects: tuple[str, ...]) -> list[Note]:
    return [note for subject in subjects for note in await notes.of_subject(at, subject or None, notes.RECALLED)]


async def candidates_of(at: Source, subjects: tuple[str, ...]) -> list[Candidate]:
    """The subjects' notes with the summaries of their evidence."""
    known = await _notes(at, subjects)
    near = {note.id: note.episode_ids[-EPISODES_PER_NOTE:] for note in known}
    texts = await episodes.summaries(at, {episode for ids in near.values() for episode in ids})
    return [
        Candidate(note, tuple((episode, texts[episode]) for episode in near[note.id] if episode in texts))
        for note in known
    ]
