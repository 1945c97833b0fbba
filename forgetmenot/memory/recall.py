"""Recalls the notes about a subject, ranked by what was just said.

- Nothing about viewers who opted out or were banned, nothing suppressed, no notes of other personas.
- Stale and past notes only where the message has a word of theirs, or one of nearly the same meaning.
- Postings are kept per subject until its notes change. They are built in the reader's thread, for a viewer at their
  first line, so that neither a reply nor the event loop waits for it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain import Note, Recalled
from forgetmenot.memory import rights
from forgetmenot.memory.meaning import word_table
from forgetmenot.memory.past_episodes import EpisodeIndex
from forgetmenot.memory.people import ActiveViewers
from forgetmenot.memory.ranking import Candidate, Postings, Query, query_of
from forgetmenot.memory.rights import SuppressionFilter
from forgetmenot.prompt.material import CHANNEL_NOTES, SPEAKER_NOTES
from forgetmenot.settings.schema import Settings, speaking
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Database, Source

SUBJECTS_KEPT = 200
# Notes that are asked on the loop; more, which only an import brings, are asked in a thread.
FEW = 400
# So many notes are offered though they share nothing with the message.
PADDED_TO = 10
NEARLY_AS_GOOD = 0.5  # of the best one's score
CHATTING = 15 * MINUTE
PREPARED = 40  # people at most whose postings are built beforehand
EPISODES_PER_NOTE = 3

CHANNEL = ""  # the key of what is known about the channel and its running bits


Print = tuple[object, ...]  # a fingerprint of one subject's notes


class NotesSnapshot(NamedTuple):
    """The state of some subjects' notes at one moment, and what is suppressed then."""

    suppression_filter: SuppressionFilter
    prints: tuple[Print, ...]


class Recall:
    """Recall for one database. `settings` is asked once per call."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.active_viewers = ActiveViewers(db=db, settings=settings, clock=clock)
        self.episodes = EpisodeIndex()
        self._kept: dict[tuple[str, ...], tuple[tuple[Print, ...], Postings]] = {}
        self._heard: dict[str, None] = {}
        self._forgotten = 0

    def query(
        self, message: str, *, before: str = "", category: str = "", title: str = "", names: Iterable[str] = ()
    ) -> Query:
        """What is asked for: the message and the speaker's thought before it, less names, filler and the bot's name.

        Left out are `names`, whoever stands behind an @, and the people around (as far as they were looked up
        before). Category and title count little: a chess stream brings up chess notes where nothing else decides.
        """
        bot = self._settings().bot
        said = [word for word in f"{before} {message}".split() if not word.startswith("@")]
        people = [word for word in said if self.active_viewers.is_name(word)]
        return query_of(" ".join(said), low=f"{category} {title}", without=(bot.name, *bot.aliases, *names, *people))

    async def about(
        self,
        subjects: Sequence[str],
        query: Query | str,
        limit: int | None = None,
        *,
        seen: NotesSnapshot | None = None,
    ) -> list[Recalled]:
        """The notes about some viewers, or about the CHANNEL with its running bits, as one list, best first.

        `seen`: what `look` has just read of them. Raises StoreError.
        """
        settings, key = self._settings(), tuple(subjects)
        usual = CHANNEL_NOTES if CHANNEL in subjects else SPEAKER_NOTES
        asked = query_of(query) if isinstance(query, str) else query
        if seen is None:
            seen = await self._db.together(lambda at: self.look(at, key))
        revision, postings = self._kept.get(key, ((), None))
        if postings is None or revision != seen.prints:
            postings = await self._built(key, seen.prints)
        now, quiet, persona = self._clock.now(), seen.suppression_filter, speaking(settings)

        def opens(note: Note) -> bool:
            return persona.sees(note.persona) and (not quiet or quiet.allows(note))

        def ranked() -> list[Recalled]:
            most = usual if limit is None else limit
            return postings.ranked(asked, now=now, limit=most, padded=PADDED_TO, opens=opens)

        return ranked() if len(postings.notes) <= FEW else await asyncio.to_thread(ranked)

    def heard(self, viewer_id: str) -> None:
        """Somebody said something: what is known about them is made ready with the next `prepare`."""
        self._heard[viewer_id] = None
        while len(self._heard) > PREPARED:
            del self._heard[next(iter(self._heard))]

    async def prepare(self) -> None:
        """Build the postings of whoever chats, and of the channel, where they changed: no reply waits for it."""
        if not self._kept:  # the program has just started: whoever was here lately is expected to go on
            self._heard |= dict.fromkeys(
                await viewers.chatting(self._db, since=self._clock.now() - CHATTING, limit=PREPARED)
            )
        while await self._db.together(self.episodes.read_on):  # slice by slice
            pass
        if not self._heard:
            return
        due, self._heard = [CHANNEL, *self._heard], {}
        for subject in due:
            seen = await self._db.together(lambda at, who=subject: self.look(at, [who]))  # type: ignore[misc]
            if self._kept.get((subject,), ((),))[0] != seen.prints:
                await self._built((subject,), seen.prints)

    def forget(self) -> None:
        """Drop what is kept in this process of notes, episodes and who chats: after an erasure, or changes by hand."""
        self._kept.clear()
        self._heard.clear()
        self.episodes = EpisodeIndex()  # nothing that was removed is shown from the old one: it is read again
        self._forgotten += 1
        self.active_viewers.forget()

    async def look(self, at: Source, subjects: Sequence[str]) -> NotesSnapshot:
        """What has to be read before anything is recalled of these subjects, for a caller who reads more at once."""
        prints = [await notes.fingerprint(at, subject or None) for subject in subjects]
        return NotesSnapshot(await rights.load_filter(at), tuple(prints))

    async def _built(self, subjects: tuple[str, ...], revision: tuple[Print, ...]) -> Postings:
        """Build and keep the postings of these subjects; of whoever is hidden there are none."""
        visible = tuple(subject for subject, seen in zip(subjects, revision, strict=True) if seen[-1])
        forgotten = self._forgotten

        async def build(at: Source) -> Postings:
            found = await candidates_of(at, visible)
            return Postings(found, word_table() if found else None)  # 3 MB, not read while there is nothing to find

        postings = await self._db.together(build)
        if forgotten == self._forgotten:  # else somebody was erased meanwhile
            self._kept.pop(subjects, None)
            self._kept[subjects] = revision, postings
            while len(self._kept) > SUBJECTS_KEPT:
                del self._kept[next(iter(self._kept))]
        return postings


def fitting(found: Sequence[Recalled], *, without: Collection[int] = ()) -> tuple[Recalled, ...]:
    """The notes about the channel that a message asks for by their words, but for those of `without`; often none."""
    least = found[0].score * NEARLY_AS_GOOD if found else 0.0
    return tuple(one for one in found if one.asked_for and one.score >= least and one.note.id not in without)


async def candidates_of(at: Source, subjects: tuple[str, ...]) -> list[Candidate]:
    """The subjects' notes that may be recalled, with the summaries of their evidence."""
    known = [note for subject in subjects for note in await notes.of_subject(at, subject or None, notes.RECALLED)]
    near = {note.id: note.episode_ids[-EPISODES_PER_NOTE:] for note in known}
    texts = await episodes.summaries(at, {episode for ids in near.values() for episode in ids})
    return [
        Candidate(note, tuple((episode, texts[episode]) for episode in near[note.id] if episode in texts))
        for note in known
    ]
