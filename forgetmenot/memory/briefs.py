"""Briefs: who a regular is, in at most 500 characters, made of their notes when a stream is over.

- One call of the model is for many regulars; whoever waited longest comes first, and nobody is left out.
- The same notes are not paid for twice: the next brief is made of the last one and of what changed since. Only where
  something of the last one was taken back, or where most is new, it is made of all notes again.
- What lost one of its notes while the model was thinking (somebody was erased, a line was cleared) is not stored.
- No hearsay, and no sentence that begins with somebody else.
- Where a brief is missing or outdated, the notes themselves are shown.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import Importance, Note, NoteStatus, Purpose, SourceKind
from forgetmenot.durations import DAY
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory.ranking import freshness
from forgetmenot.memory.summarizer import MemoryWriter
from forgetmenot.memory.summary_instructions import (
    BRIEFS,
    BRIEFS_SCHEMA,
    WRITTEN_IN,
    memory_request,
    read_briefs,
)
from forgetmenot.people.handles import Handles
from forgetmenot.people.standing import REGULAR_WITHIN
from forgetmenot.privacy.suppression import SuppressionFilter, load_filter
from forgetmenot.settings.schema import Settings, current_persona
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Source, Transaction
from forgetmenot.store.episodes import Brief
from forgetmenot.text.days import written_day, written_days
from forgetmenot.text.mentions import fence, ids_in, with_names
from forgetmenot.text.words import sentences_of

CHARACTERS = 500
# Regulars in one call of the model.
VIEWERS_PER_CALL = 10
# Regulars in one pass; the others come with the next.
VIEWERS_PER_PASS = 60
# Notes of one regular: those that last and matter first, then the freshest.
NOTES = 20
RANKS = {importance: rank for rank, importance in enumerate(Importance)}
# With fewer notes than that there is nothing to sum up.
MIN_NOTES = 3
# About how long a word is, because the length of an answer is asked for in words.
CHARACTERS_PER_WORD = 4
# What a note is that a brief says no longer, but that nobody took back.
ENDED = (NoteStatus.SUPERSEDED, NoteStatus.PAST, NoteStatus.EXPIRED, NoteStatus.EVICTED)


async def about_viewer(source: Source, viewer_id: str) -> str:
    """Return a viewer's brief with today's names, to be shown to people. Empty if they have none or are hidden."""
    suppressed = await load_filter(source)
    # no persona: the newest brief of any
    stored_brief, _note_ids = await episodes.usable_brief(
        source, viewer_id, persona=None
    )
    brief = suppressed.without(stored_brief)
    named_ids = {viewer_id, *ids_in(brief)}
    names, hidden = await viewers.shown_and_hidden(source, named_ids)
    if viewer_id in hidden:
        return ""
    return with_names(brief, names)


def _hash(brief_notes: Sequence[Note]) -> str:
    """Return a hash of notes, which changes when a note comes, goes or is reworded."""
    # by id, because their order by freshness changes from day to day without any news
    by_id = sorted(brief_notes, key=lambda note: note.id)
    facts = "\n".join(f"{note.id} {note.fact}" for note in by_id)
    return hashlib.sha256(facts.encode()).hexdigest()[:32]


class Sources(Struct, frozen=True):
    """What the next brief is made of: the last brief and what changed since, or the notes alone.

    `main_notes`: the notes that matter most. `valid_notes`: the notes of the last brief that still hold; `ended_notes`:
    the notes that no longer do. `new_notes`: those main notes that the last brief lacks, or all of them if there is
    none. `read_at`: when the notes were read (ms).
    """

    read_at: int
    main_notes: Sequence[Note]
    new_notes: Sequence[Note]
    last_brief: Brief | None = None
    valid_notes: Sequence[Note] = ()
    ended_notes: Sequence[Note] = ()

    @property
    def notes(self) -> list[Note]:
        """Return every note that the next brief rests on, once."""
        notes_by_id = {note.id: note for note in (*self.valid_notes, *self.new_notes)}
        return list(notes_by_id.values())

    @property
    def has_news(self) -> bool:
        """Return whether the last brief is missing, lacks a note, or says something that no longer holds."""
        if self.last_brief is None:
            return True
        return bool(self.new_notes or self.ended_notes)


class BriefWriter(MemoryWriter):
    """Makes the briefs of regulars."""

    async def run_pass(self) -> int:
        """Make the briefs that are due, and return how many have a text. Raises StoreError.

        A brief is due when a regular's notes changed and the stream that they were in is over.
        """
        settings = self._settings()
        if not settings.memory.briefs:
            # somebody switched briefs off: the stored ones are deleted
            async with self._db.write() as tx:
                await episodes.drop_briefs(tx)
            return 0
        due_ids = await self._due(settings)
        if not due_ids:
            return 0
        suppressed = await load_filter(self._db)
        sources_of: dict[str, Sources] = {}
        # a write transaction, because _sources dates a brief anew that still holds
        async with self._db.write() as tx:
            for viewer_id in due_ids:
                sources = await self._sources(tx, viewer_id, settings, suppressed)
                if sources is not None:
                    sources_of[viewer_id] = sources
        # whoever has too few notes gets an empty brief: else they would be due again in every pass
        empty_briefs = {}
        ids_to_write = []
        for viewer_id, sources in sources_of.items():
            if len(sources.main_notes) < MIN_NOTES:
                empty_briefs[viewer_id] = ""
            else:
                ids_to_write.append(viewer_id)
        await self._put(empty_briefs, sources_of, settings)
        made = 0
        try:
            for position in range(0, len(ids_to_write), VIEWERS_PER_CALL):
                viewer_ids = ids_to_write[position : position + VIEWERS_PER_CALL]
                batch = {viewer_id: sources_of[viewer_id] for viewer_id in viewer_ids}
                made += await self._make(batch, settings, suppressed)
        except ModelError as error:
            log.debug("briefs wait for the model", error=type(error).__name__)
        if made:
            log.info("briefs made", viewers=made)
        return made

    async def _due(self, settings: Settings) -> list[str]:
        """Return the ids of regulars whose brief may be outdated, whoever waited longest first."""
        now = self._clock.now()
        return await episodes.briefs_due(
            self._db,
            current_persona(settings).name,
            regular_since=now - REGULAR_WITHIN,
            regular_streams=settings.people.regular_streams,
            a_day_ago=now - DAY,
            limit=VIEWERS_PER_PASS,
        )

    async def _sources(
        self,
        tx: Transaction,
        viewer_id: str,
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> Sources | None:
        """Return what a viewer's next brief is made of. None if the last one still holds: it is dated anew then."""
        now = self._clock.now()
        persona = current_persona(settings).name
        shown_notes = await self._shown_notes(tx, viewer_id, settings, suppressed)
        main_notes = shown_notes[:NOTES]
        hash_of_notes = _hash(main_notes)
        if await episodes.brief_unchanged(tx, viewer_id, persona, hash_of_notes, now):
            return None
        notes_alone = Sources(read_at=now, main_notes=main_notes, new_notes=main_notes)
        last_brief = await episodes.brief_to_update(tx, viewer_id, persona)
        if last_brief is None:
            return notes_alone
        sources = await _changed_since(
            tx, now, last_brief, main_notes, shown_notes, suppressed
        )
        if not sources.has_news:
            # only the order of the notes changed: others are now among the NOTES that matter most
            brief = replace(
                last_brief,
                made_of=hash_of_notes,
                made_at=now,
                notes=tuple(note.id for note in sources.valid_notes),
            )
            await episodes.put_brief(tx, brief)
            return None
        # where most is new, a brief of the notes alone is better than the last one with many corrections
        news_count = len(sources.new_notes) + len(sources.ended_notes)
        if news_count > len(main_notes) // 2:
            return notes_alone
        return sources

    async def _shown_notes(
        self,
        source: Source,
        viewer_id: str,
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> list[Note]:
        """Return a viewer's notes that a brief may use, the most important first.

        No hearsay, and nothing that is suppressed or belongs to another persona.
        """
        now = self._clock.now()
        persona = current_persona(settings)
        shown_notes = []
        for note in await notes.of_subject(source, viewer_id):
            is_hearsay = note.source_kind is SourceKind.REPORTED
            if is_hearsay or note.is_inactive(now) or not persona.sees(note.persona):
                continue
            if suppressed.allows(note):
                shown_notes.append(note)

        def importance(note: Note) -> tuple[bool, int, float]:
            """Return the sort key: what lasts or was pinned, then what matters, then what is fresh."""
            lasts = note.pinned or note.expires_at is None
            return lasts, RANKS[note.importance], freshness(note, now)

        shown_notes.sort(key=importance, reverse=True)
        return shown_notes

    async def _make(
        self,
        sources_of: Mapping[str, Sources],
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> int:
        """Ask the model for these viewers' briefs, store them, and return how many have a text. Raises ModelError.

        Whoever is missing in the answer is asked for in the next pass. If the model blocks the call or the answer has
        no brief, each viewer is asked for alone: one viewer's notes must not cost the others their briefs.
        """
        texts: dict[str, str] = {}
        with contextlib.suppress(ModelBlocked):
            texts = await self._ask_model(sources_of, settings, suppressed)
        if not texts and len(sources_of) > 1:
            stored_count = 0
            for viewer_id, sources in sources_of.items():
                one_viewer = {viewer_id: sources}
                stored_count += await self._make(one_viewer, settings, suppressed)
            return stored_count
        if not texts:
            # the model has no brief of this one viewer: an empty one is stored, so that it is not asked again
            texts = dict.fromkeys(sources_of, "")
        return await self._put(texts, sources_of, settings)

    async def _ask_model(
        self,
        sources_of: Mapping[str, Sources],
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> dict[str, str]:
        """Ask the model for these viewers' briefs, and return what may be stored of each, by id. Raises ModelError."""
        # the viewers themselves, and everybody in their notes
        named_ids = list(sources_of)
        for sources in sources_of.values():
            for text in _texts_of(sources):
                named_ids += ids_in(text)
        handles = Handles.of(named_ids)
        prompt = self._prompt(sources_of, handles, suppressed, settings.bot.timezone)
        number_of_words = len(sources_of) * CHARACTERS // CHARACTERS_PER_WORD
        request = memory_request(
            Purpose.BRIEF,
            BRIEFS.format(language=WRITTEN_IN, characters=CHARACTERS),
            prompt,
            number_of_words,
            settings.model,
            BRIEFS_SCHEMA,
        )
        answer = await self._model.generate(request)
        briefs_by_handle = read_briefs(answer.text)
        texts = {}
        for viewer_id in sources_of:
            brief = briefs_by_handle.get(handles.handle(viewer_id))
            if brief is None:
                continue
            # no messages: a brief is made of notes, and the limit is in characters
            stored_text = await self._stored(
                brief,
                messages=(),
                handles=handles,
                limit=CHARACTERS,
                size=len,
            )
            unsuppressed = suppressed.without(stored_text)
            texts[viewer_id] = _own_sentences(viewer_id, unsuppressed)
        return texts

    def _prompt(
        self,
        sources_of: Mapping[str, Sources],
        handles: Handles,
        suppressed: SuppressionFilter,
        zone: str,
    ) -> str:
        """Return the prompt: today's date, and a block of notes for each viewer."""
        now = self._clock.now()
        # a stretch of time that begins and ends now: today's weekday and date
        today = written_days(now, now, zone)
        blocks = [f"Today is {today}."]
        for number, (viewer_id, sources) in enumerate(sources_of.items(), start=1):
            rows = _rows(viewer_id, sources, handles, suppressed, zone)
            blocks.append(fence(f"p{number}", "\n".join(rows)))
        return "\n\n".join(blocks)

    async def _put(
        self,
        texts: Mapping[str, str],
        sources_of: Mapping[str, Sources],
        settings: Settings,
    ) -> int:
        """Store briefs, and return how many have a text.

        `texts`: by viewer. An empty brief is stored too, so that the model is not asked again about the same notes.
        """
        stored_count = 0
        async with self._db.write() as tx:
            suppressed = await load_filter(tx)
            for viewer_id, text in texts.items():
                sources = sources_of[viewer_id]
                shown_notes = await self._shown_notes(
                    tx, viewer_id, settings, suppressed
                )
                shown_facts = {(note.id, note.fact) for note in shown_notes}
                used_facts = {(note.id, note.fact) for note in sources.notes}
                # a note was removed or reworded while the model was thinking: the brief is outdated already
                if not used_facts <= shown_facts:
                    continue
                stored_count += bool(text)
                brief = Brief(
                    viewer_id,
                    text,
                    made_of=_hash(sources.main_notes),
                    # not the time of the answer: notes that were written meanwhile are not in this brief
                    made_at=sources.read_at,
                    persona=current_persona(settings).name,
                    notes=tuple(note.id for note in sources.notes),
                )
                await episodes.put_brief(tx, brief)
        return stored_count


async def _changed_since(
    tx: Transaction,
    now: int,
    last_brief: Brief,
    main_notes: Sequence[Note],
    shown_notes: Sequence[Note],
    suppressed: SuppressionFilter,
) -> Sources:
    """Return the last brief with what changed since it was written.

    `shown_notes`: all notes that a brief may use. `main_notes`: those of them that matter most.
    """
    valid_notes = []
    for note in shown_notes:
        if note.id in last_brief.notes and not _is_newer(note, last_brief):
            valid_notes.append(note)
    new_notes = [note for note in main_notes if _is_newer(note, last_brief)]
    new_ids = {note.id for note in new_notes}
    ended_notes = []
    for note in await notes.of_subject(tx, last_brief.viewer_id, ENDED):
        # a note that is new may replace one that the brief left out: the model sees what it replaces
        concerns_brief = note.id in last_brief.notes or note.superseded_by in new_ids
        # a note that is newer than the brief was never in it
        if not concerns_brief or _is_newer(note, last_brief):
            continue
        if suppressed.allows(note):
            ended_notes.append(note)
    return Sources(
        read_at=now,
        main_notes=main_notes,
        new_notes=new_notes,
        last_brief=last_brief,
        valid_notes=valid_notes,
        ended_notes=ended_notes,
    )


def _is_newer(note: Note, last_brief: Brief) -> bool:
    """Return whether a note is newer than a brief. A note corrected by hand keeps its id but is newer."""
    # of the same millisecond: the note is older if the brief was made of it
    if note.created_at == last_brief.made_at:
        return note.id not in last_brief.notes
    return note.created_at > last_brief.made_at


def _own_sentences(viewer_id: str, brief: str) -> str:
    """Return a brief without the sentences that begin with another viewer."""
    own_sentences = []
    for sentence in sentences_of(brief):
        people = ids_in(sentence)
        if not people or people[0] == viewer_id:
            own_sentences.append(sentence)
    return " ".join(own_sentences)


def _texts_of(sources: Sources) -> Iterator[str]:
    """Yield every stored text that the prompt shows of a viewer."""
    for note in (*sources.new_notes, *sources.ended_notes):
        yield note.fact
    if sources.last_brief is not None:
        yield sources.last_brief.text


def _rows(
    viewer_id: str,
    sources: Sources,
    handles: Handles,
    suppressed: SuppressionFilter,
    zone: str,
) -> list[str]:
    """Return the lines of the prompt about one viewer: the last brief, then new notes, then ended ones."""
    handle = handles.handle(viewer_id)
    rows = []
    if sources.last_brief is not None:
        text = handles.hide(suppressed.without(sources.last_brief.text))
        day = written_day(sources.last_brief.made_at, zone)
        rows.append(f"So far, written on {day}: {text}")
    for note in (*sources.new_notes, *sources.ended_notes):
        fact = handles.hide(note.fact).rstrip(".")
        day = written_day(note.first_said_at, zone)
        # what ended is shown too, so that the model takes it out of the text
        beginning = "no longer so: " if note in sources.ended_notes else ""
        rows.append(f"[{day}] {beginning}{handle} {fact}.")
    return rows
