"""Briefs: who a regular is, in at most 500 characters, made in the background and read when they speak.

Sources: their notes, which win; their part of the current stream, renewed once an hour; their last seven days.

- The same sources are not paid for twice: a hash of them is kept.
- No hearsay.
- Where a brief is missing or outdated, the notes themselves are shown.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forgetmenot.clock import DAY, HOUR, Clock
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory import suppression
from forgetmenot.memory.episodes import prompts
from forgetmenot.memory.episodes.summarizer import forbidden
from forgetmenot.memory.episodes.summary_rules import kept, sentences_of, within_characters
from forgetmenot.memory.handles import Handles
from forgetmenot.memory.ranking import by_recency
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.memory.text_gate import text_fault
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings, speaking
from forgetmenot.store import briefs, notes, streams
from forgetmenot.store.briefs import STREAM, Brief
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, mention

CHARACTERS = 500
STREAM_CHARACTERS = 300
LATELY_CHARACTERS = 600
DAYS = 7
AT_ONCE = 10
NOTES = 20
SEEN_WITHIN = HOUR
FEWEST = 3
"""With fewer notes and sentences together than that there is nothing to sum up."""


@dataclass(frozen=True, slots=True)
class BriefPart:
    """What a few episodes tell of somebody, and which."""

    text: str
    episodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Sources:
    """What a brief is made of."""

    viewer_id: str
    notes: tuple[Note, ...]
    now: BriefPart
    lately: BriefPart

    @property
    def made_of(self) -> str:
        """Their hash."""
        facts = [f"{note.id} {note.fact}" for note in sorted(self.notes, key=lambda note: note.id)]
        return hashlib.sha256("\n".join([*facts, self.now.text, self.lately.text]).encode()).hexdigest()[:32]

    @property
    def size(self) -> int:
        """How much there is to sum up; what an episode says as a note does counts once."""
        sentences = [*sentences_of(self.now.text), *sentences_of(self.lately.text)]
        return len({*sentences, *(f"{mention(self.viewer_id)} {note.fact}." for note in self.notes)})


class BriefWriter:
    """Makes briefs. `settings` is asked once per pass."""

    def __init__(self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._model = model
        self._settings = settings
        self._clock = clock

    async def run_pass(self) -> int:
        """Make the briefs of regulars seen lately whose sources changed; how many. Raises StoreError."""
        settings, now = self._settings(), self._clock.now()
        suppression_filter = await suppression.load_filter(self._db)
        people = settings.people
        around = await briefs.regulars_around(
            self._db,
            seen_since=now - SEEN_WITHIN,
            regular_since=now - people.regular_within_d * DAY,
            regular_streams=people.regular_streams,
            limit=AT_ONCE,
        )
        made = 0
        for viewer_id in around:
            try:
                made += await self._make(viewer_id, settings, suppression_filter)
            except ModelError as error:
                log.debug("briefs wait for the model", error=type(error).__name__)
                break
        if made:
            log.info("briefs made", viewers=made)
        return made

    async def _make(self, viewer_id: str, settings: Settings, suppression_filter: SuppressionFilter) -> bool:
        persona = speaking(settings)
        sources = await self._sources(viewer_id, settings, suppression_filter)
        old = await briefs.get(self._db, viewer_id, persona=persona.name)
        if old is not None and old.made_of == sources.made_of:
            return False
        text = await self._text(sources, settings, suppression_filter) if sources.size >= FEWEST else ""
        brief = Brief(
            viewer_id=viewer_id,
            text=text,
            made_of=sources.made_of,
            made_at=self._clock.now(),
            persona=persona.name,
            notes=tuple(note.id for note in sources.notes),
            episodes=(*sources.now.episodes, *sources.lately.episodes),
        )
        async with self._db.write() as tx:
            await briefs.put(tx, brief)
        return bool(text)

    async def _sources(self, viewer_id: str, settings: Settings, suppression_filter: SuppressionFilter) -> _Sources:
        stream = await streams.open_id(self._db)
        since = self._clock.now() // DAY * DAY - DAYS * DAY  # by whole days: it does not change with every minute
        summaries = await briefs.summaries_about(
            self._db, viewer_id, since=since, without=() if stream is None else (stream,)
        )
        return _Sources(
            viewer_id,
            await self._notes(viewer_id, settings, suppression_filter),
            await self._stream_part(viewer_id, stream, suppression_filter),
            _part(summaries, viewer_id, suppression_filter, LATELY_CHARACTERS),
        )

    async def _notes(
        self, viewer_id: str, settings: Settings, suppression_filter: SuppressionFilter
    ) -> tuple[Note, ...]:
        """The freshest of their own: no hearsay, nothing that is to be left alone."""
        held = await notes.of_subject(self._db, viewer_id)
        shown = [
            note
            for note in held
            if note.source_kind is not SourceKind.REPORTED
            and speaking(settings).sees(note.persona)
            and suppression_filter.allows(note)
        ]
        ranked = await asyncio.to_thread(by_recency, shown, now=self._clock.now(), limit=NOTES)
        return tuple(one.note for one in ranked)

    async def _stream_part(
        self, viewer_id: str, stream: int | None, suppression_filter: SuppressionFilter
    ) -> BriefPart:
        """Their part of the stream that is on, as it was when it was last renewed."""
        if stream is None:
            return BriefPart("", ())
        now = self._clock.now()
        old = await briefs.get(self._db, viewer_id, STREAM)
        if old is not None and old.stream_id == stream and now - old.made_at < HOUR:
            return BriefPart(suppression_filter.without(old.text), old.episodes)
        part = _part(
            await briefs.summaries_about(self._db, viewer_id, stream_id=stream),
            viewer_id,
            suppression_filter,
            STREAM_CHARACTERS,
        )
        async with self._db.write() as tx:
            await briefs.put(
                tx,
                Brief(viewer_id, part.text, "", now, kind=STREAM, stream_id=stream, episodes=part.episodes),
            )
        return part

    async def _text(self, sources: _Sources, settings: Settings, suppression_filter: SuppressionFilter) -> str:
        handles = _handles(sources)
        request = prompts.brief_request(
            [f"P1 {handles.hide(note.fact).rstrip('.')}." for note in sources.notes],
            handles.hide(sources.now.text),
            handles.hide(sources.lately.text),
            characters=CHARACTERS,
            max_output_tokens=prompts.output_limit(CHARACTERS // 4, settings.model),
        )
        try:
            answer = prompts.read_summary((await self._model.generate(request)).text) or ""
        except ModelBlocked:
            return ""
        text = kept(answer, (), handles, most_words=CHARACTERS, forbidden=forbidden(settings)).text
        return within_characters(sentences_of(suppression_filter.without(text)), CHARACTERS)


def _handles(sources: _Sources) -> Handles:
    texts = [*(note.fact for note in sources.notes), sources.now.text, sources.lately.text]
    return Handles.of([sources.viewer_id, *(who for text in texts for who in ids_in(text))])


def _part(
    summaries: Sequence[tuple[int, str]], viewer_id: str, suppression_filter: SuppressionFilter, most: int
) -> BriefPart:
    """The sentences about somebody out of episodes, the newest that fit, in their order.

    Only those that begin with them: what "bob said of alice" is hearsay, and no part of who alice is.
    """
    found = [
        (episode, sentence)
        for episode, summary in summaries
        for sentence in sentences_of(suppression_filter.without(summary))
        if ids_in(sentence)[:1] == (viewer_id,) and text_fault(sentence) is None
    ]
    kept_: list[tuple[int, str]] = []
    room = most
    for episode, sentence in reversed(found):
        if len(sentence) + 1 > room:
            break
        kept_.append((episode, sentence))
        room -= len(sentence) + 1
    kept_.reverse()
    return BriefPart(" ".join(sentence for _, sentence in kept_), tuple(dict.fromkeys(episode for episode, _ in kept_)))
