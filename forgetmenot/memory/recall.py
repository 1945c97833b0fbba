"""What is known that fits the moment: a subject's own notes, sorted by what was just said.

Promises an answer within the time the settings give it. Where that was too little, in a quarter more: the last good one
for that subject, less what was taken back since, then the plain sort, then nothing. Nothing about a viewer who opted
out or was banned, nothing that is to be left alone, no note of a persona that does not speak. Notes are read by key;
their postings are kept per subject for as long as its notes stay the same, and built in a thread, so that the loop is
never held.
"""

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from forgetmenot.clock import Clock
from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory import never
from forgetmenot.memory.crowd import Crowd
from forgetmenot.memory.ranking import Candidate, Postings, Query, by_recency, query_of
from forgetmenot.memory.silence import Silence
from forgetmenot.memory.topics import touched
from forgetmenot.settings.personas import speaking
from forgetmenot.settings.schema import Settings
from forgetmenot.store import episodes, notes
from forgetmenot.store.database import Database, Source

BYTES_KEPT = 40_000_000  # of postings, over all subjects: 25 with 150 notes, or 100 with 20
FEW = 200
"""Notes: all of their words are weighed at once, and they are asked on the loop; more, word by word in a thread."""
ANSWERS_KEPT = 500
TIMES_KEPT = 200
EPISODES_PER_NOTE = 3

CHANNEL = ""  # the key of what is known about the channel and its running bits


Print = tuple[object, ...]  # a fingerprint of one subject's notes


class Seen(NamedTuple):
    """How the notes of some subjects stand at one moment, and what is to be left alone then."""

    silence: Silence
    prints: tuple[Print, ...]


class _Kept(NamedTuple):
    revision: tuple[Print, ...]
    postings: Postings
    lock: threading.Lock  # postings keep what they worked out, and one thread at a time may ask


class Recall:
    """Recall for one database. `settings` is asked once per call."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.crowd = Crowd(db=db, settings=settings, clock=clock)
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._answers: OrderedDict[tuple[str, ...], list[Recalled]] = OrderedDict()
        self.took_ms: deque[float] = deque(maxlen=TIMES_KEPT)
        self._silence = Silence()

    def query(
        self, message: str, *, before: str = "", category: str = "", title: str = "", names: Iterable[str] = ()
    ) -> Query:
        """What is asked for: the message and the speaker's thought before it, less names, filler and the bot's name.

        Left out are `names`, whoever stands behind an @, and the people around (as far as they were looked up
        before). Category and title count little: a GTA stream brings up GTA notes where nothing else decides.
        """
        bot = self._settings().bot
        said = [word for word in f"{before} {message}".split() if not word.startswith("@")]
        people = [word for word in said if self.crowd.is_name(word)]
        return query_of(" ".join(said), low=f"{category} {title}", without=(bot.name, *bot.aliases, *names, *people))

    async def about_viewer(
        self,
        viewer_id: str,
        query: Query | str,
        limit: int | None = None,
        *,
        talk: frozenset[str] | None = None,
        seen: Seen | None = None,
    ) -> list[Recalled]:
        """The notes about one viewer, best first. `talk`: what the topic gate, where it is on, holds topics against.

        `seen`: what `look` has read of them just now, if it has.
        """
        wanted = self._settings().recall.speaker_notes if limit is None else limit
        return await self._in_time((viewer_id,), query, wanted, talk, seen)

    async def about_viewers(
        self,
        viewer_ids: Sequence[str],
        query: Query | str,
        limit: int | None = None,
        *,
        talk: frozenset[str] | None = None,
    ) -> list[Recalled]:
        """The notes about several viewers as one list, best first."""
        wanted = self._settings().recall.speaker_notes if limit is None else limit
        return await self._in_time(tuple(viewer_ids), query, wanted, talk)

    async def about_channel(self, query: Query | str, limit: int | None = None) -> list[Recalled]:
        """The notes about the channel and its running bits, best first."""
        wanted = self._settings().recall.channel_notes if limit is None else limit
        return await self._in_time((CHANNEL,), query, wanted)

    def forget(self, viewer_id: str | None = None) -> None:
        """Drop what is kept in memory of one viewer, or of everybody: after an erasure."""
        for kept in (self._kept, self._answers):
            for key in [key for key in kept if viewer_id is None or viewer_id in key]:
                del kept[key]
        self.crowd.forget()

    async def look(self, at: Source, subjects: Sequence[str]) -> Seen:
        """What has to be read before anything is recalled of these subjects, for a caller who reads more at once."""
        prints = [await notes.fingerprint(at, subject or None) for subject in subjects]
        return Seen(await never.silence(at), tuple(prints))

    def _gate(self, talk: frozenset[str] | None) -> Callable[[Note], bool]:
        """Which notes may be shown: those of the persona that speaks, not left alone, touched by the conversation."""
        settings, silence = self._settings(), self._silence
        persona = speaking(settings)
        gated = talk if settings.recall.topic_gate else None

        def opens(note: Note) -> bool:
            return (
                persona.sees(note.persona)
                and (not silence or silence.allows(note))
                and (gated is None or touched(note, gated))
            )

        return opens

    async def _in_time(
        self,
        subjects: tuple[str, ...],
        query: Query | str,
        limit: int,
        talk: frozenset[str] | None = None,
        seen: Seen | None = None,
    ) -> list[Recalled]:
        asked = query_of(query) if isinstance(query, str) else query
        seconds = self._settings().recall.timeout_ms / 1_000
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(seconds):
                if seen is None:
                    seen = await self._db.together(lambda at: self.look(at, subjects))
                self._silence = seen.silence
                answer = await self._ranked(subjects, seen.prints, asked, limit, self._gate(talk))
        except (TimeoutError, StoreError) as error:
            log.warning("recall is late", subjects=len(subjects), error=type(error).__name__)
            return await self._when_late(subjects, limit, seconds, self._gate(talk))
        self._remember(subjects, answer)
        self.took_ms.append((asyncio.get_running_loop().time() - began) * 1_000)
        return answer

    def _remember(self, subjects: tuple[str, ...], answer: list[Recalled]) -> None:
        self._answers[subjects] = answer
        self._answers.move_to_end(subjects)
        while len(self._answers) > ANSWERS_KEPT:
            self._answers.popitem(last=False)

    async def _when_late(
        self, subjects: tuple[str, ...], limit: int, seconds: float, opens: Callable[[Note], bool]
    ) -> list[Recalled]:
        """The last good answer, less what was taken back since if that can be read in time; else the plain sort."""
        good = [one for one in self._answers.get(subjects, ()) if opens(one.note)]
        try:
            async with asyncio.timeout(seconds / 4):
                found = await _notes(self._db, await self._open_to(subjects))
        except (TimeoutError, StoreError):
            return good[:limit]
        if not good:
            return by_recency(filter(opens, found), now=self._clock.now(), limit=limit)
        there = {note.id for note in found}
        return [one for one in good if one.note.id in there][:limit]

    async def _ranked(
        self,
        subjects: tuple[str, ...],
        revision: tuple[Print, ...],
        query: Query,
        limit: int,
        opens: Callable[[Note], bool],
    ) -> list[Recalled]:
        kept, now = self._kept.get(subjects), self._clock.now()
        if kept is not None and kept.revision == revision:
            self._kept.move_to_end(subjects)
            asked = (kept, query, now, limit, opens)
            few = len(kept.postings.notes) <= FEW
            return _asked(*asked) if few else await asyncio.to_thread(_asked, *asked)
        visible = tuple(subject for subject, seen in zip(subjects, revision, strict=True) if seen[-1])
        candidates = await self._db.together(lambda at: _candidates(at, visible))
        made, answer = await asyncio.to_thread(_built_and_asked, revision, candidates, query, now, limit, opens)
        self._kept[subjects] = made
        self._kept.move_to_end(subjects)
        self._make_room()
        return answer

    async def _open_to(self, subjects: tuple[str, ...]) -> tuple[str, ...]:
        prints = {subject: await notes.fingerprint(self._db, subject or None) for subject in subjects}
        return tuple(subject for subject in subjects if prints[subject][-1])

    def _make_room(self) -> None:
        held = sum(kept.postings.size for kept in self._kept.values())
        while held > BYTES_KEPT and len(self._kept) > 1:
            held -= self._kept.popitem(last=False)[1].postings.size


async def _notes(at: Source, subjects: tuple[str, ...]) -> list[Note]:
    return [note for subject in subjects for note in await notes.of_subject(at, subject or None)]


def _built_and_asked(
    revision: tuple[Print, ...],
    candidates: list[Candidate],
    query: Query,
    now: int,
    limit: int,
    opens: Callable[[Note], bool],
) -> tuple[_Kept, list[Recalled]]:
    """The first question takes the longest: it is asked where the postings are built."""
    kept = _Kept(revision, Postings(candidates), threading.Lock())
    if len(candidates) <= FEW:
        kept.postings.weigh_all()
    return kept, _asked(kept, query, now, limit, opens)


def _asked(kept: _Kept, query: Query, now: int, limit: int, opens: Callable[[Note], bool]) -> list[Recalled]:
    with kept.lock:
        return kept.postings.ranked(query, now=now, limit=limit, opens=opens)


async def _candidates(at: Source, subjects: tuple[str, ...]) -> list[Candidate]:
    """The subjects' notes with the summaries of their evidence."""
    known = await _notes(at, subjects)
    near = {note.id: note.episode_ids[-EPISODES_PER_NOTE:] for note in known}
    texts = await episodes.summaries(at, {episode for ids in near.values() for episode in ids})
    return [
        Candidate(note, tuple((episode, texts[episode]) for episode in near[note.id] if episode in texts))
        for note in known
    ]
