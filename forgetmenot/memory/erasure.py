"""Erasing a person: afterwards no byte of the data folder tells that they were ever there.

Promises: hidden at once; every table is cleaned (store/erasure names each column); what others said of them loses the
mention, summaries and recaps lose the sentences about them; then the file is rebuilt and the log files are cleaned. A
stop half way is taken up by `erase_due`. Keyed hashes stay, so that old texts cannot teach the same facts again;
whoever talks again is new. Copies that somebody made of the file elsewhere are out of reach.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from forgetmenot.clock import MINUTE, SECOND, Clock
from forgetmenot.errors import InputError
from forgetmenot.logs import log
from forgetmenot.memory import log_files
from forgetmenot.memory.people import ORDINARY
from forgetmenot.store import backup, channel_state, erasure, fact_traces, forgotten, notes
from forgetmenot.store.database import Database, Row, Transaction
from forgetmenot.store.erasure import PLACES, Place
from forgetmenot.text.removal import Names, traces, without_person

Progress = Callable[[float, str], None]
"""Called with the share that is done (0 to 1) and what is being done."""

WIPE_DUE = "wipe_due"
HUSH_FROM = "hush_from"
"""Since when answers may quote what was forgotten; unset once they were looked through."""
UNDER_WAY = 2 * MINUTE
"""No model call and no reply that knew of a person takes longer."""
ECHOED = 10 * SECOND
"""Within this the bot's own line has come back from chat."""
WORD_IN_TEXTS = 100
"""A name of letters alone that stands in more texts than this, without an @ or an id, is taken for a word."""
MANY_EPISODES = 200
"""When so many summaries change at once, all briefs go first: each change would be looked up in each of them."""
_TOLD = (Place("episodes", ("summary",)), Place("semantic_notes", ("fact",)))
_KEPT_STATES = frozenset({"id", "login", "bot_id", "bot_login"})


@dataclass(slots=True)
class ErasureReport:
    """What was deleted and rewritten. `wiped`: False if another process keeps deleted bytes alive for now."""

    events: int = 0
    notes: int = 0
    actions: int = 0
    rewritten: dict[str, int] = field(default_factory=dict)
    log_lines: int = 0
    opted_out: bool = False
    wiped: bool = False
    ms: int = 0


class Eraser:
    """Erases people from one memory, one at a time.

    `before` makes lines that were just heard readable (Ingest.flush); `after` drops what is kept in memory (recall's
    caches, the prompt's prefix). Both are left out by the command line, which is a process of its own.
    """

    def __init__(
        self,
        *,
        db: Database,
        clock: Clock,
        before: Sequence[Callable[[], Awaitable[object]]] = (),
        after: Sequence[Callable[[], Awaitable[object]]] = (),
    ) -> None:
        self._db = db
        self._clock = clock
        self._before = before
        self._after = after
        self._one_at_a_time = asyncio.Lock()
        self._lately: list[tuple[int, Names]] = []

    async def erase(self, viewer_id: str, progress: Progress = lambda _share, _what: None) -> ErasureReport:
        """Erase one person. Raises InputError if nobody has that id, StoreError."""
        async with self._one_at_a_time:
            report = await self._erase(viewer_id, progress, wipe=True)
            await self._call(self._after)
        return report

    async def _erase(self, viewer_id: str, progress: Progress, *, wipe: bool) -> ErasureReport:
        await self._call(self._before)
        who = await _names(self._db, viewer_id)
        report = await erase(self._db, viewer_id, now=self._clock.now(), progress=progress, wipe=wipe)
        self._lately.append((self._clock.now(), who))
        return report

    @staticmethod
    async def _call(those: Sequence[Callable[[], Awaitable[object]]]) -> None:
        for call in those:
            await call()

    async def erase_due(self) -> list[ErasureReport]:
        """A chore, every minute or so: finish what was begun, erase who was banned seven days ago, look twice.

        However many people are due, the file is rebuilt once.
        """
        async with self._one_at_a_time:
            due = await erasure.due(self._db, self._clock.now())
            reports = [await self._erase(viewer_id, lambda _share, _what: None, wipe=False) for viewer_id in due]
            stray = await self._look_again() | await self._hush()
            if reports or stray or await channel_state.read(self._db, WIPE_DUE):
                wiped = await _wipe(self._db, self._clock.now())
                for report in reports:
                    report.wiped = wiped
            if reports:
                await self._call(self._after)
        return reports

    async def _hush(self) -> bool:
        """Take away the answers that quote what was just forgotten: they are stored after it went. Whether any was."""
        now, found = self._clock.now(), False
        since = await channel_state.read(self._db, HUSH_FROM)
        if not since:
            return False
        async with self._db.write() as tx:
            for viewer_id, answer in await fact_traces.answers(tx, int(since), now - ECHOED):
                if await forgotten.is_known(tx, viewer_id, traces(answer.text), own_since=None):
                    for one in (answer, *await fact_traces.echoes(tx, answer.text)):
                        await fact_traces.silence(tx, one)
                    found = True
            if not await forgotten.any_since(tx, now - UNDER_WAY):
                await channel_state.clear(tx, HUSH_FROM)
        return found

    async def _look_again(self) -> bool:
        """Clean what a model call or a reply that was under way wrote after an erasure; whether there was any."""
        now = self._clock.now()
        ripe = [who for at, who in self._lately if now - at >= UNDER_WAY]
        self._lately = [(at, who) for at, who in self._lately if now - at < UNDER_WAY]
        report = ErasureReport()
        for who in ripe:
            if not await erasure.is_known(self._db, who.viewer_id):  # who talked again is new, and stays
                await _clean(self._db, who, now, report, lambda _share, _what: None)
        return bool(report.rewritten)


async def erase(
    db: Database, viewer_id: str, *, now: int, progress: Progress = lambda _share, _what: None, wipe: bool = True
) -> ErasureReport:
    """Erase one person from the database and its folder. Raises InputError if nobody has that id, StoreError.

    `wipe` False: somebody else rebuilds the file when more is done.
    """
    began = time.monotonic()
    report = ErasureReport()
    progress(0.0, "hiding")
    who = await _names(db, viewer_id)
    async with db.write() as tx:
        await erasure.begin(tx, viewer_id, now)
        await _delete(tx, viewer_id, now, report)
    await _clean(db, who, now, report, progress)
    async with db.write() as tx:  # whatever came in meanwhile goes as well
        await _delete(tx, viewer_id, now, report)
        report.opted_out = await erasure.delete_person(tx, viewer_id, now)
    progress(0.5, "rebuilding the file")
    report.wiped = await _wipe(db, now) if wipe else False
    progress(0.9, "log files")
    report.log_lines = await asyncio.to_thread(log_files.clean, db.path, who)
    progress(1.0, "done")
    report.ms = int((time.monotonic() - began) * 1_000)
    log.info(
        "a viewer was erased", events=report.events, notes=report.notes, rewritten=report.rewritten, wiped=report.wiped
    )
    return report


async def _names(db: Database, viewer_id: str) -> Names:
    if not await erasure.is_known(db, viewer_id):
        raise InputError("Nobody with that id is known, so there is nothing to erase.")
    names = await erasure.names_of(db, viewer_id)
    words = {name.casefold() for name in names if name.isalpha() and await _is_a_word(db, name)}
    return Names(viewer_id, names, ORDINARY | words, await erasure.names_around(db, viewer_id, names))


async def _is_a_word(db: Database, name: str) -> bool:
    """Whether a name is so common in what is remembered that it must be a word: somebody may be called "minecraft".

    Else erasing one account could cut a game, or a town, out of everybody's notes. It still counts behind an @.
    """
    alone = Names("", [name])
    texts = 0
    for place in _TOLD:
        after, last = 0, await erasure.last_row(db, place)
        while after <= last and texts <= WORD_IN_TEXTS:
            rows = await erasure.written_in(db, place, alone.needles, after=after)
            texts += sum(alone.hidden(str(row[1])) != row[1] for row in rows)
            after += erasure.AT_ONCE
    return texts > WORD_IN_TEXTS


async def _delete(tx: Transaction, viewer_id: str, now: int, report: ErasureReport) -> None:
    """Delete the rows that are theirs."""
    facts = await erasure.facts_of(tx, viewer_id)
    words = await asyncio.to_thread(lambda: [traces(fact) for fact in facts])  # stems of some hundred facts
    await forgotten.add(tx, viewer_id, words, at=now, whole=True)
    report.notes += await notes.delete_of_subject(tx, viewer_id)
    report.events += await erasure.delete_chat(tx, viewer_id)
    report.actions += await erasure.delete_deeds(tx, viewer_id)


async def _clean(db: Database, who: Names, now: int, report: ErasureReport, progress: Progress) -> None:
    """Take them out of what is left, piece by piece."""
    for step, place in enumerate(PLACES):
        progress(0.5 * step / len(PLACES), place.table)
        changed = await _clean_place(db, place, who, now)
        if changed:
            report.rewritten[place.table] = report.rewritten.get(place.table, 0) + changed
    await _clean_states(db, who, now)


async def _clean_place(db: Database, place: Place, who: Names, now: int) -> int:
    after, changed = 0, 0
    while after <= await erasure.last_row(db, place):
        rows = await erasure.written_in(db, place, who.needles, after=after)
        cleaned = await asyncio.to_thread(_cleaned, rows, place, who) if rows else []
        if cleaned:
            async with db.write() as tx:
                if place.table == "episodes" and len(cleaned) > MANY_EPISODES:
                    await erasure.drop_briefs(tx)
                await erasure.rewrite(tx, place, cleaned)
                if place == PLACES[0]:
                    await erasure.drop_empty_episodes(tx, [int(str(row[-1])) for row in cleaned if not row[0]], now)
        changed += len(cleaned)
        after += erasure.AT_ONCE
    return changed


def _cleaned(rows: Iterable[Row], place: Place, who: Names) -> list[tuple[object, ...]]:
    """The rows that change: cleaned columns, then the rowid."""
    found = []
    for row in rows:
        texts = tuple(row)[1:]
        cleaned = tuple(_clean_text(text, who, cut=place.cut) if isinstance(text, str) else text for text in texts)
        if place.whole and cleaned != texts:
            cleaned = ("",) * len(texts)
        if cleaned != texts:
            found.append((*cleaned, row[0]))
    return found


def _clean_text(text: str, who: Names, *, cut: bool) -> str:
    if text == who.viewer_id:
        return ""
    return without_person(who.marked(text), who.viewer_id) if cut else who.hidden(text)


async def _clean_states(db: Database, who: Names, now: int) -> None:
    states = [(name, value) for name, value in await erasure.states(db) if name not in _KEPT_STATES]
    cleaned = {name: _clean_text(value, who, cut=True) for name, value in states}
    changed = {name: cleaned[name] for name, value in states if cleaned[name] != value}
    async with db.write() as tx:
        await channel_state.put(tx, changed, now)


async def _wipe(db: Database, now: int) -> bool:
    wiped = await db.wipe_deleted(thorough=True)
    await asyncio.to_thread(backup.drop, db.path)  # they know more than they may; a running bot makes a new one
    async with db.write() as tx:
        await channel_state.put(tx, {WIPE_DUE: "" if wiped else "1"}, now)
    return wiped
