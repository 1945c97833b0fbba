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
from forgetmenot.memory.transcript import (
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
MOST = 60
# Of one regular: those that last and matter first, then the freshest.
NOTES = 60
RANKS = {importance: rank for rank, importance in enumerate(Importance)}
# With fewer notes than that there is nothing to sum up.
FEWEST = 3
# What a note is that a brief says no longer, but that nobody took back.
ENDED = (NoteStatus.SUPERSEDED, NoteStatus.PAST, NoteStatus.EXPIRED, NoteStatus.EVICTED)


async def about_viewer(source: Source, viewer_id: str) -> str:
    """A viewer's brief with today's names, to be shown to people; empty where there is none."""
    brief = (await load_filter(source)).without(
        (await episodes.usable_brief(source, viewer_id, None))[0]
    )
    names, hidden = await viewers.shown_and_hidden(source, {viewer_id, *ids_in(brief)})
    return "" if viewer_id in hidden else with_names(brief, names)


def _hash(known: Sequence[Note]) -> str:
    # by id, because their order by freshness changes from day to day without any news
    facts = [
        f"{note.id} {note.fact}" for note in sorted(known, key=lambda note: note.id)
    ]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


class Sources(Struct, frozen=True):
    """What a brief is made of: the last one with what changed since, or notes alone.

    `known`: the notes that matter most; `standing`: those of the last brief that stand; `ended`: those that do not.
    `changed`: all or, since the last brief, the new ones of `known`. `read_at`: when they were read (ms).
    """

    read_at: int
    known: Sequence[Note]
    changed: Sequence[Note]
    last: Brief | None = None
    standing: Sequence[Note] = ()
    ended: Sequence[Note] = ()

    @property
    def notes(self) -> list[Note]:
        """The notes that the brief rests on, each once."""
        return list(
            {note.id: note for note in (*self.standing, *self.changed)}.values()
        )

    @property
    def has_news(self) -> bool:
        """Whether the last brief lacks something, or says what is no longer so."""
        return bool(self.last is None or self.changed or self.ended)


class BriefWriter(MemoryWriter):
    """Makes briefs."""

    async def run_pass(self) -> int:
        """Make the briefs of regulars whose stream is over and whose notes changed; how many. Raises StoreError."""
        settings = self._settings()
        if not settings.memory.briefs:
            async with self._db.write() as tx:
                await episodes.drop_briefs(tx)
            return 0
        due = await self._due(settings)
        if not due:
            return 0
        suppressed = await load_filter(self._db)
        changed: dict[str, Sources] = {}
        async with self._db.write() as tx:
            for viewer_id in due:
                sources = await self._sources(tx, viewer_id, settings, suppressed)
                if sources is not None:
                    changed[viewer_id] = sources
        # also those without enough to say: else they would be looked at in every pass
        silent = {
            who: "" for who, sources in changed.items() if len(sources.known) < FEWEST
        }
        await self._put(silent, changed, settings)
        waiting = [who for who in changed if who not in silent]
        made = 0
        try:
            for start in range(0, len(waiting), VIEWERS_PER_CALL):
                part = {
                    who: changed[who]
                    for who in waiting[start : start + VIEWERS_PER_CALL]
                }
                made += await self._make(part, settings, suppressed)
        except ModelError as error:
            log.debug("briefs wait for the model", error=type(error).__name__)
        if made:
            log.info("briefs made", viewers=made)
        return made

    async def _due(self, settings: Settings) -> list[str]:
        now = self._clock.now()
        return await episodes.briefs_due(
            self._db,
            current_persona(settings).name,
            regular_since=now - REGULAR_WITHIN,
            regular_streams=settings.people.regular_streams,
            a_day_ago=now - DAY,
            limit=MOST,
        )

    async def _sources(
        self,
        tx: Transaction,
        viewer_id: str,
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> Sources | None:
        """Return what this viewer's next brief is made of; None if the last one still holds.

        That one is then stored as made now.
        """
        now = self._clock.now()
        persona = current_persona(settings).name
        shown = await self._shown_notes(tx, viewer_id, settings, suppressed)
        known = shown[:NOTES]
        if await episodes.brief_unchanged(tx, viewer_id, persona, _hash(known), now):
            return None
        last = await episodes.brief_to_update(tx, viewer_id, persona)
        if last is None:
            return Sources(now, known, known)
        sources = await _changed_since(tx, now, last, known, shown, suppressed)
        if not sources.has_news:
            # the notes are in another order, so that others are among those that matter most
            ids = tuple(note.id for note in sources.standing)
            await episodes.put_brief(
                tx, replace(last, made_of=_hash(known), made_at=now, notes=ids)
            )
            return None
        # where most is new, the notes say it better than a text that has to be mended
        if len(sources.changed) + len(sources.ended) > len(known) // 2:
            return Sources(now, known, known)
        return sources

    async def _shown_notes(
        self,
        source: Source,
        viewer_id: str,
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> list[Note]:
        """Their own notes, the most important first: no hearsay, nothing that is not to be mentioned."""
        now = self._clock.now()
        shown = [
            note
            for note in await notes.of_subject(source, viewer_id)
            if note.source_kind is not SourceKind.REPORTED
            and not note.is_inactive(now)
            and current_persona(settings).sees(note.persona)
            and suppressed.allows(note)
        ]
        # what lasts or was pinned first, then what matters, then what is fresh
        shown.sort(key=lambda note: freshness(note, now), reverse=True)
        shown.sort(
            key=lambda note: (
                note.pinned or note.expires_at is None,
                RANKS[note.importance],
            ),
            reverse=True,
        )
        return shown

    async def _make(
        self,
        people: Mapping[str, Sources],
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> int:
        """Ask for these people's briefs and store them. Whoever the answer leaves out is asked for in the next pass.

        What the model blocks, or answers with nobody's, is asked for one by one: what one viewer got into the memory
        costs no other their brief. Raises ModelError.
        """
        texts: dict[str, str] = {}
        with contextlib.suppress(ModelBlocked):
            texts = await self._written(people, settings, suppressed)
        if not texts and len(people) > 1:
            made = 0
            for viewer_id, sources in people.items():
                made += await self._make({viewer_id: sources}, settings, suppressed)
            return made
        # an empty brief is stored for one person alone whom the model blocks, so that it is not asked again
        return await self._put(texts or dict.fromkeys(people, ""), people, settings)

    async def _written(
        self,
        people: Mapping[str, Sources],
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> dict[str, str]:
        """The model's briefs of these people, as far as they may be stored. Raises ModelError."""
        named = list(people)
        for sources in people.values():
            for text in _texts_of(sources):
                named += ids_in(text)
        handles = Handles.of(named)
        now = self._clock.now()
        zone = settings.bot.timezone
        blocks = [f"Today is {written_days(now, now, zone)}."]
        for number, (viewer_id, sources) in enumerate(people.items(), 1):
            rows = _rows(viewer_id, sources, handles, suppressed, zone)
            blocks.append(fence(f"p{number}", "\n".join(rows)))
        request = memory_request(
            Purpose.BRIEF,
            BRIEFS.format(language=WRITTEN_IN, characters=CHARACTERS),
            "\n\n".join(blocks),
            len(people) * CHARACTERS // 4,
            settings.model,
            BRIEFS_SCHEMA,
        )
        answers = read_briefs((await self._model.generate(request)).text)
        texts = {}
        for viewer_id in people:
            answer = answers.get(handles.handle(viewer_id))
            if answer is None:
                continue
            kept = await self._stored(answer, (), handles, limit=CHARACTERS, size=len)
            written = sentences_of(suppressed.without(kept))
            own = [text for text in written if ids_in(text)[:1] in {(), (viewer_id,)}]
            texts[viewer_id] = " ".join(own)
        return texts

    async def _put(
        self,
        texts: Mapping[str, str],
        made_of: Mapping[str, Sources],
        settings: Settings,
    ) -> int:
        """Store briefs, also empty ones: their notes are not paid for again. How many have a text."""
        stored = 0
        async with self._db.write() as tx:
            suppressed = await load_filter(tx)
            for viewer_id, text in texts.items():
                sources = made_of[viewer_id]
                shown = await self._shown_notes(tx, viewer_id, settings, suppressed)
                facts = {(note.id, note.fact) for note in shown}
                if not {(note.id, note.fact) for note in sources.notes} <= facts:
                    continue  # something went meanwhile
                stored += bool(text)
                brief = Brief(
                    viewer_id,
                    text,
                    _hash(sources.known),
                    # not when the model had answered: what was learnt meanwhile is not in it
                    sources.read_at,
                    current_persona(settings).name,
                    tuple(note.id for note in sources.notes),
                )
                await episodes.put_brief(tx, brief)
        return stored


async def _changed_since(
    tx: Transaction,
    now: int,
    last: Brief,
    known: Sequence[Note],
    shown: Sequence[Note],
    suppressed: SuppressionFilter,
) -> Sources:
    """What is new among `known` since the last brief, and what of that brief is no longer so."""
    standing = [
        note for note in shown if note.id in last.notes and not _is_newer(note, last)
    ]
    changed = [note for note in known if _is_newer(note, last)]
    new_ids = {note.id for note in changed}
    over = await notes.of_subject(tx, last.viewer_id, ENDED)
    ended = [
        note
        for note in over
        if (note.id in last.notes or note.superseded_by in new_ids)
        and not _is_newer(note, last)
        and suppressed.allows(note)
    ]
    return Sources(now, known, changed, last, standing, ended)


def _is_newer(note: Note, last: Brief) -> bool:
    """Whether a brief was made without a note as it stands: what was corrected by hand keeps its number."""
    if note.created_at == last.made_at:
        return note.id not in last.notes
    return note.created_at > last.made_at


def _texts_of(sources: Sources) -> Iterator[str]:
    """Every stored text that a brief is made of."""
    for note in (*sources.changed, *sources.ended):
        yield note.fact
    if sources.last is not None:
        yield sources.last.text


def _rows(
    viewer_id: str,
    sources: Sources,
    handles: Handles,
    suppressed: SuppressionFilter,
    zone: str,
) -> list[str]:
    """What the model reads about one person."""
    who = handles.handle(viewer_id)
    rows = []
    if sources.last is not None:
        text = handles.hide(suppressed.without(sources.last.text))
        rows.append(
            f"So far, written on {written_day(sources.last.made_at, zone)}: {text}"
        )
    for note in sources.changed:
        fact = handles.hide(note.fact).rstrip(".")
        rows.append(f"[{written_day(note.first_said_at, zone)}] {who} {fact}.")
    for note in sources.ended:
        fact = handles.hide(note.fact).rstrip(".")
        rows.append(
            f"[{written_day(note.first_said_at, zone)}] no longer so: {who} {fact}."
        )
    return rows
