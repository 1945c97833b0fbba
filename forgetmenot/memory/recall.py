"""What is known that fits the moment: a subject's own notes, sorted by what was just said; people; past episodes.

Promises an answer within the time the settings give it. Where that was too little, in a quarter more: the last good one
for that subject, less what was taken back since, then the plain sort, then nothing. Nothing about a viewer who opted
out or was banned, nothing that is to be left alone, no note of a persona that does not speak. Notes are read by key;
their postings are kept per subject for as long as its notes stay the same, and built in a thread, so that the loop is
never held.
"""

import asyncio
import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from forgetmenot.clock import DAY, MINUTE, Clock
from forgetmenot.domain.memory import Episode, Note, Recalled
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory import never
from forgetmenot.memory.concordance import having_stem
from forgetmenot.memory.people import People, forget_names
from forgetmenot.memory.ranking import Candidate, Postings, Query, by_recency, query_of
from forgetmenot.memory.silence import Silence
from forgetmenot.memory.topics import touched
from forgetmenot.settings.personas import speaking
from forgetmenot.settings.schema import Settings
from forgetmenot.store import episode_search, episodes, notes, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.words import stem, words

BYTES_KEPT = 40_000_000  # of postings, over all subjects: 25 with 150 notes, or 100 with 20
FEW = 200
"""Notes: all of their words are weighed at once, and they are asked on the loop; more, word by word in a thread."""
ANSWERS_KEPT = 500
TIMES_KEPT = 200
EPISODES_PER_NOTE = 3
CROWD_FRESH = MINUTE
SEEN_LATELY = DAY
PAST_LOOKED_AT = 5
PAST_ASKED_WITH = 8  # words of a message, the longest: they are the rarest, and of more no summary has half
MATCHING_SHARE = 0.5  # of the query's words that a past episode must speak of, and at least two

CHANNEL = ""  # the key of what is known about the channel and its running bits


Print = tuple[object, ...]  # a fingerprint of one subject's notes


class PrefixEpisodes(NamedTuple):
    """What the prefix tells of the past: this stream's newest, the last stream's last and its recap."""

    this_stream: list[Episode]
    last_stream: Episode | None
    recap: str


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
        self._kept: OrderedDict[tuple[str, ...], _Kept] = OrderedDict()
        self._answers: OrderedDict[tuple[str, ...], list[Recalled]] = OrderedDict()
        self._people = People(())
        self._people_until = self._people_seen = 0
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
        people = [word for word in said if self._people.is_name(word)]
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
        self._people_until = 0
        forget_names()

    async def silence(self) -> Silence:
        """What is to be left alone now."""
        self._silence = await never.silence(self._db)
        return self._silence

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

    async def people_in(self, text: str, *, without: Collection[str] = (), limit: int | None = None) -> list[str]:
        """The ids of the people a text speaks of; `without` are ids to leave out: the speaker's, the bot's."""
        await self.look_around()
        return self.named_in(text, without=without, limit=limit)

    def named_in(self, text: str, *, without: Collection[str] = (), limit: int | None = None) -> list[str]:
        """What `people_in` says, of the people who were around when `look_around` looked: without reading anything."""
        wanted = self._settings().recall.others if limit is None else limit
        return self._people.named_in(text, without=without, limit=wanted)

    async def look_around(self) -> None:
        """See who is around, unless that was seen within the last minute."""
        if self._clock.now() >= self._people_until:
            await self.look_again()

    async def look_again(self) -> None:
        """See who is around. For a chore too: then no reply has to wait for it."""
        now, regular = self._clock.now(), self._settings().people
        names = await viewers.around(
            self._db,
            seen_since=now - SEEN_LATELY,
            regular_since=now - regular.regular_within_d * DAY,
            regular_streams=regular.regular_streams,
        )
        seen = hash(tuple(names))
        if seen != self._people_seen:
            self._people = await asyncio.to_thread(People, names)
            self._people_seen = seen
        self._people_until = now + CROWD_FRESH

    async def episodes(self, query: Query | str, limit: int = 3, *, without: Sequence[int] = ()) -> list[Episode]:
        """The episodes whose summaries fit a query best."""
        asked = query_of(query) if isinstance(query, str) else query
        terms = [word for word, weight in asked.items() if weight >= 1]
        if not terms:
            return []
        return await episode_search.best(self._db, episode_search.any_of(terms), limit=limit, without=without)

    async def past_episodes(
        self, query: Query | str, limit: int, *, without: Sequence[int] = (), at: Source | None = None
    ) -> list[Episode]:
        """The older episodes that speak of enough of a message, best first; `without`: those shown anyway.

        `at`: where to read, for a caller who reads more at once.
        """
        asked = query_of(query) if isinstance(query, str) else query
        telling = sorted((word for word, weight in asked.items() if weight >= 1), key=len, reverse=True)
        terms = {stem(word): word for word in telling[:PAST_ASKED_WITH]}
        enough = max(2, math.ceil(MATCHING_SHARE * len(terms)))
        if len(terms) < enough or not limit:
            return []

        async def read(at: Source) -> tuple[Silence, list[Episode]]:
            wanted = list(terms.values())
            found = await episode_search.speaking_of(at, wanted, at_least=enough, limit=PAST_LOOKED_AT, without=without)
            return (await never.silence(at) if found else Silence()), found

        silence, candidates = await (read(at) if at is not None else self._db.together(read))
        shared = {one.id: _shared(terms, one.summary) for one in candidates}
        about = sorted((one for one in candidates if shared[one.id] >= enough), key=lambda one: -shared[one.id])
        told = (_told(one, silence) for one in about[:limit])
        return [one for one in told if one is not None]

    async def newest_episodes(self, limit: int = 3) -> PrefixEpisodes:
        """The prefix's episodes: the newest of this stream, and one of the last stream with its recap."""
        stream = await streams.open_id(self._db)
        newest = await episodes.newest(self._db, stream_id=stream, limit=limit - 1) if stream is not None else []
        silence = await self.silence()
        this = [told for one in newest if (told := _told(one, silence)) is not None]
        before = await streams.before(self._db, stream)
        if before is None:
            return PrefixEpisodes(this, None, "")
        last = await episodes.newest(self._db, stream_id=before[0], limit=1)
        return PrefixEpisodes(this, _told(last[0], silence) if last else None, silence.without(before[1]))


async def _notes(at: Source, subjects: tuple[str, ...]) -> list[Note]:
    return [note for subject in subjects for note in await notes.of_subject(at, subject or None)]


def _shared(stems: Iterable[str], summary: str) -> int:
    """How many of these stems a summary has."""
    told = sorted(set(words(summary)))
    return sum(bool(having_stem(told, one)) for one in stems)


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


def _told(episode: Episode, silence: Silence) -> Episode | None:
    """An episode as it may be shown; None where nothing is left of it."""
    if not silence:
        return episode
    summary = silence.without(episode.summary)
    return replace(episode, summary=summary) if summary else None
