"""Briefs: who a regular is, in at most 500 characters, made at the end of a stream and read when they speak.

Sources: their notes, which win, and what they did in their last streams. That, too, is shown by itself, by stream: it
is cut from the episodes by rule, so it needs no model and goes with them.

- One call of the model is for many regulars; whoever waited longest comes first, and nobody is left out.
- The same sources are not paid for twice: a hash of them is kept.
- What lost one of its sources while the model was thinking (somebody was erased, a line was cleared) is not stored.
- No hearsay, and no sentence that begins with somebody else.
- Where a brief is missing or outdated, the notes themselves are shown.
"""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from msgspec import Struct

from forgetmenot.clock import DAY, Clock, local_date, local_days
from forgetmenot.domain import Importance, Note, SourceKind
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory import prompts
from forgetmenot.memory.people import REGULAR_WITHIN, Handles
from forgetmenot.memory.ranking import freshness
from forgetmenot.memory.summarizer import count_cut, forbidden
from forgetmenot.memory.suppression import SuppressionFilter, load_filter
from forgetmenot.memory.text_gate import storable_summary
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings, speaking
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.episodes import Brief
from forgetmenot.text.mentions import ids_in, mention, show
from forgetmenot.text.words import sentences_of

CHARACTERS = 500
STREAM_CHARACTERS = 300
STREAMS = 3
DAYS = 7
VIEWERS_PER_CALL = 10
"""Regulars in one call of the model."""
MOST = 60
"""Regulars in one pass; the others come with the next."""
NOTES = 60
"""Of one regular: those that last and matter first, then the freshest."""
RANKS = {importance: rank for rank, importance in enumerate(Importance)}
FEWEST = 3
"""With fewer notes and sentences together than that there is nothing to sum up."""


class StreamPart(NamedTuple):
    """What somebody did in one stream, and the episodes that say it."""

    stream: int
    began_at: int
    text: str
    episodes: tuple[int, ...]


async def streams_of(
    source: Source, viewer_id: str, suppressed: SuppressionFilter, *, since: int = 0, streams: int = STREAMS
) -> list[StreamPart]:
    """What somebody did in the newest streams in which something is known of them, oldest first."""
    rows = await episodes.summaries_about(source, viewer_id, since=since, streams=streams)
    parts = []
    for (stream, began), of_stream in groupby(rows, key=itemgetter(0, 1)):
        told = [
            # those that begin with them: what "bob said of alice" is hearsay, and no part of who alice is
            [(episode, one) for one in sentences_of(suppressed.without(summary)) if ids_in(one)[:1] == (viewer_id,)]
            for *_, episode, summary in of_stream
        ]
        sentences = _fitting(told)
        text = " ".join(sentence for _, sentence in sentences)
        if text:
            parts.append(StreamPart(stream, began, text, tuple(dict.fromkeys(episode for episode, _ in sentences))))
    return parts


def _fitting(told: Sequence[Sequence[tuple[int, str]]]) -> list[tuple[int, str]]:
    """The sentences of a stream's episodes that fit, in order: the newest episodes, and of each its first sentences.

    A summary begins with what matters most.
    """
    kept: list[list[tuple[int, str]]] = []
    room = STREAM_CHARACTERS + 1
    for episode in reversed(told):
        kept.insert(0, [])
        for number, sentence in episode:
            if len(sentence) + 1 > room:
                break
            room -= len(sentence) + 1
            kept[0].append((number, sentence))
    return [sentence for episode in kept for sentence in episode]


async def about_viewer(source: Source, viewer_id: str) -> tuple[str, list[dict[str, object]]]:
    """A viewer's brief and what they did in their last streams ({"at": start in ms, "text"}), to be shown to people."""
    suppressed = await load_filter(source)
    brief = suppressed.without((await episodes.usable_brief(source, viewer_id, None))[0])
    parts = await streams_of(source, viewer_id, suppressed, streams=DAYS)
    people = {viewer_id, *ids_in(brief), *(who for part in parts for who in ids_in(part.text))}
    names, hidden = await viewers.shown_and_hidden(source, people)
    if viewer_id in hidden:
        return "", []
    return show(brief, names), [{"at": part.began_at, "text": show(part.text, names)} for part in reversed(parts)]


class _Sources(Struct, frozen=True):
    """What a brief is made of."""

    viewer_id: str
    notes: tuple[Note, ...]
    streams: tuple[StreamPart, ...]

    @property
    def facts(self) -> list[str]:
        """Their notes as sentences, each with the day on which it was first said."""
        who = mention(self.viewer_id)
        return [f"[{local_date(note.first_said_at)}] {who} {note.fact.rstrip('.')}." for note in self.notes]

    @property
    def lately(self) -> list[str]:
        """What they did, stream by stream, each with its day."""
        return [f"[{local_date(part.began_at)}] {part.text}" for part in self.streams]

    @property
    def enough(self) -> bool:
        """Whether there is anything to sum up."""
        return len(self.notes) + sum(len(sentences_of(part.text)) for part in self.streams) >= FEWEST

    def rests_on(self, left: "_Sources") -> bool:
        """Whether all of it still stands there."""
        return {*self.facts, *self.lately} <= {*left.facts, *left.lately}

    @property
    def made_of(self) -> str:
        """Their hash."""
        # by id, because their order by freshness changes from day to day without any news
        facts = [f"{note.id} {note.fact}" for note in sorted(self.notes, key=lambda note: note.id)]
        return hashlib.sha256("\n".join([*facts, *self.lately]).encode()).hexdigest()[:32]


class BriefWriter:
    """Makes briefs. `settings` is asked once per pass."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def run_pass(self) -> int:
        """Make the briefs of regulars whose stream is over and whose sources changed; how many. Raises StoreError."""
        settings, now = self._settings(), self._clock.now()
        if not settings.memory.briefs:
            async with self._db.write() as tx:
                await episodes.drop_briefs(tx)
            return 0
        people, persona = settings.people, speaking(settings).name
        viewer_ids = await episodes.briefs_due(
            self._db,
            persona,
            regular_since=now - REGULAR_WITHIN,
            regular_streams=people.regular_streams,
            a_day_ago=now - DAY,
            limit=MOST,
        )
        if not viewer_ids:
            return 0
        suppressed = await load_filter(self._db)
        waiting = [await self._sources(self._db, viewer_id, settings, suppressed) for viewer_id in viewer_ids]
        async with self._db.write() as tx:
            changed = [
                s for s in waiting if not await episodes.brief_unchanged(tx, s.viewer_id, persona, s.made_of, now)
            ]
        # also those without enough to say: else they would be looked at in every pass
        made = await self._put([(s, "") for s in changed if not s.enough], settings)
        changed = [s for s in changed if s.enough]
        try:
            for start in range(0, len(changed), VIEWERS_PER_CALL):
                made += await self._make(changed[start : start + VIEWERS_PER_CALL], settings, suppressed)
        except ModelError as error:
            log.debug("briefs wait for the model", error=type(error).__name__)
        if made:
            log.info("briefs made", viewers=made)
        return made

    async def _sources(self, at: Source, viewer_id: str, settings: Settings, suppressed: SuppressionFilter) -> _Sources:
        """Their own notes and last streams: no hearsay, nothing that is not to be mentioned."""
        now = self._clock.now()
        shown = [
            note
            for note in await notes.of_subject(at, viewer_id)
            if note.source_kind is not SourceKind.REPORTED
            and not note.is_quiet(now)
            and speaking(settings).sees(note.persona)
            and suppressed.allows(note)
        ]
        # what lasts or was pinned first, then what matters, then what is fresh
        shown.sort(key=lambda note: freshness(note, now), reverse=True)
        shown.sort(key=lambda one: (one.pinned or one.expires_at is None, RANKS[one.importance]), reverse=True)
        since = now // DAY * DAY - DAYS * DAY  # by whole days: it does not change with every minute
        streams = await streams_of(at, viewer_id, suppressed, since=since)
        return _Sources(viewer_id, tuple(shown[:NOTES]), tuple(streams))

    async def _make(self, people: Sequence[_Sources], settings: Settings, suppressed: SuppressionFilter) -> int:
        """Ask for these people's briefs and store them. Whoever the answer leaves out is asked for in the next pass.

        What the model blocks, or answers with nobody's, is asked for one by one: what one viewer got into the memory
        costs no other their brief. Raises ModelError.
        """
        texts: dict[str, str] = {}
        with contextlib.suppress(ModelBlocked):
            texts = await self._written_briefs(people, settings, suppressed)
        if not texts and len(people) > 1:
            return sum([await self._make([one], settings, suppressed) for one in people])
        # an empty brief is stored for one person alone whom the model blocks, so that it is not asked again
        answered = [(one, texts.get(one.viewer_id, "")) for one in people if one.viewer_id in texts or not texts]
        return await self._put(answered, settings)

    async def _written_briefs(
        self, people: Sequence[_Sources], settings: Settings, suppressed: SuppressionFilter
    ) -> dict[str, str]:
        ids = [one.viewer_id for one in people]
        handles = Handles.of([*ids, *(who for one in people for s in (*one.facts, *one.lately) for who in ids_in(s))])
        sources = [(list(map(handles.hide, one.facts)), list(map(handles.hide, one.lately))) for one in people]
        request = prompts.briefs_request(sources, local_days(self._clock.now()), CHARACTERS, settings.model)
        answers = prompts.read_briefs((await self._model.generate(request)).text)
        texts = {}
        for one in people:
            answer = answers.get(handles.handle(one.viewer_id))
            if answer is not None:
                kept = storable_summary(answer, (), handles, most=CHARACTERS, size=len, forbidden=forbidden(settings))
                await count_cut(self._db, kept.cut)
                written = sentences_of(suppressed.without(kept.text))
                texts[one.viewer_id] = " ".join(s for s in written if ids_in(s)[:1] in {(), (one.viewer_id,)})
        return texts

    async def _put(self, made: Sequence[tuple[_Sources, str]], settings: Settings) -> int:
        """Store briefs, also empty ones: their sources are not paid for again. How many have a text."""
        persona, stored = speaking(settings).name, 0
        async with self._db.write() as tx:
            suppressed = await load_filter(tx)
            for sources, text in made:
                left = await self._sources(tx, sources.viewer_id, settings, suppressed)
                if not sources.rests_on(left):
                    continue
                stored += bool(text)
                note_ids = tuple(note.id for note in sources.notes)
                episode_ids = tuple(episode for part in sources.streams for episode in part.episodes)
                now = self._clock.now()
                brief = Brief(sources.viewer_id, text, sources.made_of, now, persona, note_ids, episode_ids)
                await episodes.put_brief(tx, brief)
        return stored
