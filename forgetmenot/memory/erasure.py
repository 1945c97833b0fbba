"""Erasing a person: afterwards no byte of the data folder tells that they were ever there.

Guarantees:
- The person is hidden at once, and every table is cleaned (store/personal_data names each column).
- What others said of them loses the mention; summaries and recaps lose the sentences about them.
- Then the file is rebuilt and the log files are cleaned. A stop half way is taken up by `erase_due`.
- Keyed hashes stay, so that old texts cannot teach the same facts again; whoever talks again is new.

Copies that somebody made of the file elsewhere are out of reach.

Log files hold facts and ids, never chat: an erasure overwrites a person's id and names in them in place. A file keeps
its length and its lines, so that a program that is writing to it can go on.

Forgetting one fact, because its subject wants it, deletes the note and those it had replaced; summaries and recaps no
longer say it, and a keyed hash keeps it from being learned again, unless its subject asks for it in so many words. What
deleted rows leave in the file goes with the next thorough wipe (`Eraser.erase_due`).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from forgetmenot import logs
from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.memory import Note
from forgetmenot.errors import ForgetMeNotError, InputError
from forgetmenot.logs import log
from forgetmenot.memory import receipts
from forgetmenot.memory.active_viewers import ORDINARY
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.memory.privacy_queue import file_of
from forgetmenot.store import (
    backup,
    briefs,
    channel_state,
    episodes,
    forgotten_facts,
    notes,
    opt_outs,
    personal_data,
    privacy_log,
)
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.personal_data import PLACES, Place
from forgetmenot.text.removal import Names, says, traces, without_fact, without_person

Progress = Callable[[float, str], None]
"""Called with the share that is done (0 to 1) and what is being done."""
_UNWATCHED: Progress = lambda _share, _what: None  # noqa: E731
UNDER_WAY = 2 * MINUTE
"""No model call and no reply that knew of a person takes longer."""
BEGIN_AGAIN_AFTER = 10 * MINUTE
"""Who is erased twice within this is left to the periodic task."""
WORD_IN_TEXTS = 100
"""A name of letters alone that stands in more texts than this, without an @ or an id, is taken for a word."""
MANY_EPISODES = 200
"""When so many summaries change at once, all briefs go first: each change would be looked up in each of them."""
MOST_LOOKS = 8
"""So often a place is looked through: where chat goes on naming somebody, there is always something new."""
TEXTS_AT_ONCE = 50
"""Texts that one transaction rewrites: replies and commands write in between."""
_KEPT_TEXTS = (Place("episodes", ("summary",)), Place("semantic_notes", ("fact",)))
_KEPT_STATES = frozenset({"id", "login", "bot_id", "bot_login", privacy_log.LOG_END, receipts.RECEIPTS_DUE})


@dataclass(slots=True)
class ErasureReport:
    """What was deleted and rewritten. `wiped`: False if another process keeps deleted bytes alive for now.

    `receipt`: the code with which everything can be searched for the person again (memory/receipts).
    """

    events: int = 0
    notes: int = 0
    actions: int = 0
    rewritten: dict[str, int] = field(default_factory=dict)
    log_lines: int = 0
    opted_out: bool = False
    wiped: bool = False
    receipt: str = ""
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
        self._begun: dict[str, int] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def flush(self) -> None:
        """Make lines that were just heard readable. Raises StoreError."""
        for make_readable in self._before:
            await make_readable()

    async def begin(self, viewer_id: str) -> tuple[bool, str]:
        """Hide a person now and erase them beside whatever else happens; False if `erase_due` does it later.

        Not twice in a short time: each erasure searches every file. What a stop interrupts is finished by `erase_due`.
        With it comes the code of the receipt (memory/receipts), which is written when the erasure is done.
        """
        now = self._clock.now()
        async with self._db.write() as tx:
            receipt = receipts.code_of(tx.key, viewer_id, await personal_data.begin(tx, viewer_id, now))
        self._begun = {who: at for who, at in self._begun.items() if now - at < BEGIN_AGAIN_AFTER}
        if self._begun.setdefault(viewer_id, now) != now:
            return False, receipt
        task = asyncio.create_task(self._erase_in_background(viewer_id), name="erasure")
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return True, receipt

    async def idle(self) -> None:
        """Wait until every erasure that was begun is done."""
        while self._running:
            await asyncio.wait(self._running)

    async def _erase_in_background(self, viewer_id: str) -> None:
        try:
            await self.erase(viewer_id)
        except ForgetMeNotError as error:
            log.warning("an erasure was interrupted and will be finished later", error=type(error).__name__)

    async def erase(self, viewer_id: str, progress: Progress = _UNWATCHED) -> ErasureReport:
        """Erase one person. Raises InputError if nobody has that id, StoreError."""
        async with self._one_at_a_time:
            report = await self._erase(viewer_id, progress, wipe=True)
            await self._drop_copies()
        return report

    async def _erase(self, viewer_id: str, progress: Progress, *, wipe: bool) -> ErasureReport:
        await self.flush()
        who = await _names(self._db, viewer_id)
        report = await erase(self._db, viewer_id, now=self._clock.now(), progress=progress, wipe=wipe)
        # the names are kept in memory for two minutes alone, to find what a call that was under way still writes
        self._lately.append((self._clock.now(), who))
        return report

    async def _drop_copies(self) -> None:
        for drop in self._after:
            await drop()

    async def erase_due(self) -> list[ErasureReport]:
        """A periodic task, every minute or so: finish what was begun, erase who was banned seven days ago, look twice.

        However many people are due, the file is rebuilt once.
        """
        async with self._one_at_a_time:
            due = await personal_data.due(self._db, self._clock.certain())
            reports = [await self._erase(viewer_id, _UNWATCHED, wipe=False) for viewer_id in due]
            stray = await self._look_again()
            if reports or stray or await channel_state.read(self._db, WIPE_DUE):
                wiped = await _wipe(self._db, self._clock.now())
                for report in reports:
                    report.wiped = wiped
                if wiped:
                    await receipts.write_due(self._db)
            if reports:
                await self._drop_copies()
        return reports

    async def _look_again(self) -> bool:
        """Clean what a model call or a reply that was under way wrote after an erasure; whether there was any."""
        now = self._clock.now()
        ripe = [who for at, who in self._lately if now - at >= UNDER_WAY]
        self._lately = [(at, who) for at, who in self._lately if now - at < UNDER_WAY]
        report = ErasureReport()
        for who in ripe:
            if not await personal_data.is_known(self._db, who.viewer_id):  # who talked again is new, and stays
                await _clean(self._db, who, now, report, _UNWATCHED)
        return bool(report.rewritten)


async def erase(
    db: Database, viewer_id: str, *, now: int, progress: Progress = _UNWATCHED, wipe: bool = True
) -> ErasureReport:
    """Erase one person from the database and its folder. Raises InputError if nobody has that id, StoreError.

    `wipe` False: somebody else rebuilds the file when more is done.
    """
    began = time.monotonic()
    report = ErasureReport()
    progress(0.0, "hiding")
    who = await _names(db, viewer_id)
    # their waiting requests name them; an opt-out among these must outlive the erasure
    opts_out = await asyncio.to_thread(file_of(db.path).forget, viewer_id)
    async with db.write() as tx:
        if opts_out:
            await opt_outs.opt_out(tx, viewer_id, now)
        asked_at = await personal_data.begin(tx, viewer_id, now)
    while await _delete_some(db, viewer_id, now, report):
        pass
    report.receipt = receipts.code_of(db.key, viewer_id, asked_at)
    await _clean(db, who, now, report, progress)
    while await _delete_some(db, viewer_id, now, report):  # whatever came in meanwhile goes as well
        pass
    async with db.write() as tx:
        report.opted_out = await personal_data.delete_person(tx, viewer_id, now)
        # in the same transaction: after it nobody knows the names that the receipt is made of
        await receipts.owe(tx, report.receipt, who, now)
    report.log_lines = await asyncio.to_thread(clean_log_files, db.path, who)
    progress(0.5, "rebuilding the file")
    report.wiped = await _wipe(db, now) if wipe else False
    progress(0.9, "searching every file")
    if report.wiped:
        await receipts.write_due(db)
    progress(1.0, "done")
    report.ms = int((time.monotonic() - began) * 1_000)
    log.info(
        "a viewer was erased", events=report.events, notes=report.notes, rewritten=report.rewritten, wiped=report.wiped
    )
    return report


async def _names(db: Database, viewer_id: str) -> Names:
    if not await personal_data.is_known(db, viewer_id):
        raise InputError("Nobody with that id is known, so there is nothing to erase.")
    names = await personal_data.names_of(db, viewer_id)

    def read() -> Names:
        words = {name.casefold() for name in names if name.isalpha() and _is_a_word(db.path, name)}
        return Names(viewer_id, names, ORDINARY | words, personal_data.names_around(db.path, viewer_id, names))

    return await asyncio.to_thread(read)


def _is_a_word(path: Path, name: str) -> bool:
    """Whether a name is so common in what is remembered that it must be a word: somebody may be called "minecraft".

    Else erasing one account could cut a game, or a town, out of everybody's notes. It still counts behind an @.
    """
    alone = Names("", [name])
    rows = (row for place in _KEPT_TEXTS for row in personal_data.written_in(path, place, alone.needles))
    texts = (row for row in rows if alone.hidden(str(row[1])) != row[1])
    return next(islice(texts, WORD_IN_TEXTS, None), None) is not None


async def _delete_some(db: Database, viewer_id: str, now: int, report: ErasureReport) -> bool:
    """Delete some of the rows that are theirs, so that others may write soon; whether there may be more.

    A stop in between leaves them hidden, and `erase_due` goes on.
    """
    facts = await personal_data.facts_of(db, viewer_id, personal_data.NOTES_AT_ONCE)
    words = await asyncio.to_thread(lambda: [traces(fact) for fact in facts.values()])
    async with db.write() as tx:
        await forgotten_facts.add_forgotten(tx, viewer_id, words, at=now, whole=True)
        report.notes += await notes.delete_of_subject(tx, viewer_id, list(facts))
    async with db.write() as tx:
        lines, more = await personal_data.delete_chat(tx, viewer_id)
        report.actions += await personal_data.delete_actions(tx, viewer_id)
    report.events += lines
    return more or len(facts) == personal_data.NOTES_AT_ONCE


async def _clean(db: Database, who: Names, now: int, report: ErasureReport, progress: Progress) -> None:
    """Take them out of what is left, piece by piece."""
    for step, place in enumerate(PLACES):
        progress(0.5 * step / len(PLACES), place.table)
        changed = await _clean_place(db, place, who, now)
        if changed:
            report.rewritten[place.table] = report.rewritten.get(place.table, 0) + changed
    held = await channel_state.read_all(db)
    cleaned = {name: _clean_text(value, who, cut=True) for name, value in held.items() if name not in _KEPT_STATES}
    rewritten = {name: text for name, text in cleaned.items() if text != held[name]}  # others may change meanwhile
    async with db.write() as tx:
        await channel_state.put(tx, rewritten, now)


async def _clean_place(db: Database, place: Place, who: Names, now: int) -> int:
    """Look through a place until nothing of them is found: others write while it is cleaned."""
    changed = 0
    for _ in range(MOST_LOOKS):
        cleaned = await asyncio.to_thread(_cleaned, db.path, place, who)
        if not cleaned:
            break
        for some in range(0, len(cleaned), TEXTS_AT_ONCE):
            rows = cleaned[some : some + TEXTS_AT_ONCE]
            async with db.write() as tx:
                if place.table == "episodes" and len(cleaned) > MANY_EPISODES:
                    await briefs.drop_all(tx)
                changed += await personal_data.rewrite(tx, place, rows)
                if place == PLACES[0]:
                    emptied = [row[len(place.columns)] for row in rows if not row[0]]
                    await episodes.drop_empty(tx, emptied, now)
    return changed


def _cleaned(path: Path, place: Place, who: Names) -> list[tuple[Any, ...]]:
    """The rows that change: cleaned columns, then the rowid, then the columns as they are."""
    found = []
    for rowid, *texts in personal_data.written_in(path, place, who.needles):
        cleaned = [_clean_text(text, who, cut=place.cut) if isinstance(text, str) else text for text in texts]
        if cleaned != texts:
            found.append((*(("",) * len(texts) if place.whole else cleaned), rowid, *texts))
    return found


def _clean_text(text: str, who: Names, *, cut: bool) -> str:
    if text == who.viewer_id:
        return ""
    return without_person(who.marked(text), who.viewer_id) if cut else who.hidden(text)


async def _wipe(db: Database, now: int) -> bool:
    wiped = await db.wipe_deleted(thorough=True)
    await asyncio.to_thread(backup.drop, db.path)  # they know more than they may; a running bot makes a new one
    # else the next start would take what was erased for damage
    await asyncio.to_thread(backup.write_counts, db.path, await backup.counts(db))
    async with db.write() as tx:
        await channel_state.put(tx, {WIPE_DUE: "" if wiped else "1"}, now)
    return wiped


def clean_log_files(database: Path, who: Names) -> int:
    """Overwrite every trace of a person in the log files of a memory's bot; how many lines had one."""
    return sum(_clean_file(file, who) for file in sorted(logs.beside(database).glob(f"{logs.FILE}*")))


def _clean_file(path: Path, who: Names) -> int:
    changed = 0
    with path.open("r+b") as file:
        while line := file.readline():
            cleaned = who.blanked(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            if cleaned != line:
                # the cleaned line has as many bytes as before, so it is written over it
                end = file.tell()
                file.seek(end - len(line))
                file.write(cleaned)
                file.seek(end)
                changed += 1
    return changed


async def forget_fact(db: Database, note_id: int, *, at: int) -> Note:
    """Delete a note about a viewer for good; the note as it was. Raises FactRefused("not_found")."""
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        if note is None or note.subject_id is None:
            raise FactRefused("not_found")
        for one in [note, *await _replaced(tx, note)]:
            await _forget(tx, one, note.subject_id, at)
        await channel_state.put(tx, {WIPE_DUE: "1"}, at)
    await db.wipe_deleted()
    return note


async def _replaced(tx: Transaction, note: Note) -> list[Note]:
    """The notes that this one replaced, and those that they had replaced."""
    found: dict[int, Note] = {}
    waiting = [note]
    while waiting:
        for old in await notes.predecessors(tx, waiting.pop().id):
            if old.id not in found and old.id != note.id:
                found[old.id] = old
                waiting.append(old)
    return list(found.values())


async def _forget(tx: Transaction, note: Note, subject_id: str, at: int) -> None:
    words = traces(note.fact)
    for text in await forgotten_facts.texts(tx, note.id, subject_id, words):
        rest = without_fact(text.text, subject_id, note.fact)
        if rest != text.text:
            await forgotten_facts.rewrite_traced(tx, text, rest)
    for line in await forgotten_facts.spoken(tx, note.id, subject_id, words):
        if says(line.text, words) or line.text.startswith("!"):  # "!forget drums" names it, if not in full
            await forgotten_facts.clear_traced(tx, line)
    lines = await forgotten_facts.said_by_sources(tx, note.id, subject_id) if words else []
    with_all = await asyncio.to_thread(lambda: [line for line in lines if words <= traces(line.text)])
    for line in with_all:  # of a day of some moderator's lines
        await forgotten_facts.clear_traced(tx, line)
    await forgotten_facts.add_forgotten(tx, subject_id, [words], at=at)
    await forgotten_facts.delete_traced_note(tx, note.id, subject_id, at)
