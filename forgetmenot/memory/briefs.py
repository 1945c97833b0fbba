"""Briefs: who a regular is, in at most 500 characters, made of their notes when a stream is over.

- One call of the model is for many regulars; whoever waited longest comes first, and nobody is left out.
- The same notes are not paid for twice: a hash of them is kept.
- What lost one of its notes while the model was thinking (somebody was erased, a line was cleared) is not stored.
- No hearsay, and no sentence that begins with somebody else.
- Where a brief is missing or outdated, the notes themselves are shown.
"""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence

from forgetmenot.clock import DAY, local_date, local_days
from forgetmenot.domain import Importance, Note, Purpose, SourceKind
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory.people import REGULAR_WITHIN, Handles
from forgetmenot.memory.ranking import freshness
from forgetmenot.memory.summarizer import MemoryWriter
from forgetmenot.memory.suppression import SuppressionFilter, load_filter
from forgetmenot.memory.transcript import BRIEFS, BRIEFS_SCHEMA, memory_request, read_briefs
from forgetmenot.settings.schema import Settings, speaking
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Source
from forgetmenot.store.episodes import Brief
from forgetmenot.text.mentions import fence, ids_in, show
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


async def about_viewer(source: Source, viewer_id: str) -> str:
    """A viewer's brief with today's names, to be shown to people; empty where there is none."""
    brief = (await load_filter(source)).without(
        (await episodes.usable_brief(source, viewer_id, None))[0]
    )
    names, hidden = await viewers.shown_and_hidden(source, {viewer_id, *ids_in(brief)})
    return "" if viewer_id in hidden else show(brief, names)


def _hash(known: Sequence[Note]) -> str:
    # by id, because their order by freshness changes from day to day without any news
    facts = [f"{note.id} {note.fact}" for note in sorted(known, key=lambda note: note.id)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


class BriefWriter(MemoryWriter):
    """Makes briefs."""

    async def run_pass(self) -> int:
        """Make the briefs of regulars whose stream is over and whose notes changed; how many. Raises StoreError."""
        settings, now = self._settings(), self._clock.now()
        if not settings.memory.briefs:
            async with self._db.write() as tx:
                await episodes.drop_briefs(tx)
            return 0
        viewer_ids = await episodes.briefs_due(
            self._db,
            speaking(settings).name,
            regular_since=now - REGULAR_WITHIN,
            regular_streams=settings.people.regular_streams,
            a_day_ago=now - DAY,
            limit=MOST,
        )
        if not viewer_ids:
            return 0
        suppressed = await load_filter(self._db)
        changed: dict[str, list[Note]] = {}
        async with self._db.write() as tx:
            for viewer_id in viewer_ids:
                known = await self._notes_of(tx, viewer_id, settings, suppressed)
                if not await episodes.brief_unchanged(
                    tx, viewer_id, speaking(settings).name, _hash(known), now
                ):
                    changed[viewer_id] = known
        # also those without enough to say: else they would be looked at in every pass
        await self._put(
            {who: "" for who, known in changed.items() if len(known) < FEWEST}, changed, settings
        )
        waiting, made = [who for who, known in changed.items() if len(known) >= FEWEST], 0
        try:
            for start in range(0, len(waiting), VIEWERS_PER_CALL):
                part = waiting[start : start + VIEWERS_PER_CALL]
                made += await self._make({who: changed[who] for who in part}, settings, suppressed)
        except ModelError as error:
            log.debug("briefs wait for the model", error=type(error).__name__)
        if made:
            log.info("briefs made", viewers=made)
        return made

    async def _notes_of(
        self, at: Source, viewer_id: str, settings: Settings, suppressed: SuppressionFilter
    ) -> list[Note]:
        """Their own notes: no hearsay, nothing that is not to be mentioned."""
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
        shown.sort(
            key=lambda one: (one.pinned or one.expires_at is None, RANKS[one.importance]),
            reverse=True,
        )
        return shown[:NOTES]

    async def _make(
        self,
        people: Mapping[str, Sequence[Note]],
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
            return sum(
                [
                    await self._make({who: known}, settings, suppressed)
                    for who, known in people.items()
                ]
            )
        # an empty brief is stored for one person alone whom the model blocks, so that it is not asked again
        return await self._put(texts or dict.fromkeys(people, ""), people, settings)

    async def _written(
        self,
        people: Mapping[str, Sequence[Note]],
        settings: Settings,
        suppressed: SuppressionFilter,
    ) -> dict[str, str]:
        """The model's briefs of these people, as far as they may be stored. Raises ModelError."""
        handles = Handles.of(
            [
                *people,
                *(who for known in people.values() for note in known for who in ids_in(note.fact)),
            ]
        )
        rows = [
            [
                f"[{local_date(one.first_said_at)}] {handles.handle(who)} {handles.hide(one.fact).rstrip('.')}."
                for one in known
            ]
            for who, known in people.items()
        ]
        parts = [fence(f"p{number}", "\n".join(known)) for number, known in enumerate(rows, 1)]
        prompt = "\n\n".join([f"Today is {local_days(self._clock.now())}.", *parts])
        system, words = BRIEFS.format(characters=CHARACTERS), len(people) * CHARACTERS // 4
        request = memory_request(
            Purpose.BRIEF, system, prompt, words, settings.model, BRIEFS_SCHEMA
        )
        answers = read_briefs((await self._model.generate(request)).text)
        texts = {}
        for who in people:
            if (answer := answers.get(handles.handle(who))) is not None:
                kept = await self._kept(answer, (), handles, most=CHARACTERS, size=len)
                written = sentences_of(suppressed.without(kept))
                texts[who] = " ".join(s for s in written if ids_in(s)[:1] in {(), (who,)})
        return texts

    async def _put(
        self, texts: Mapping[str, str], made_of: Mapping[str, Sequence[Note]], settings: Settings
    ) -> int:
        """Store briefs, also empty ones: their notes are not paid for again. How many have a text."""
        stored = 0
        async with self._db.write() as tx:
            suppressed = await load_filter(tx)
            for who, text in texts.items():
                left = {
                    (note.id, note.fact)
                    for note in await self._notes_of(tx, who, settings, suppressed)
                }
                if {
                    (note.id, note.fact) for note in made_of[who]
                } <= left:  # else something went meanwhile
                    stored += bool(text)
                    ids = tuple(note.id for note in made_of[who])
                    brief = Brief(
                        who,
                        text,
                        _hash(made_of[who]),
                        self._clock.now(),
                        speaking(settings).name,
                        ids,
                    )
                    await episodes.put_brief(tx, brief)
        return stored
