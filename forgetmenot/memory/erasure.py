"""Erasing a person: afterwards no byte of the data folder tells that they were ever there.

Guarantees:
- The person is hidden at once, and every table is cleaned (store/personal_data names each column).
- What others said of them loses the mention; summaries and recaps lose the sentences about them.
- Then the file is rebuilt, and while their id and names are still known every file of the
  data folder is searched for them: the report says how many files and bytes, and how often they were found. A stop half
  way is taken up by `erase_due`.
- What was said of them until then teaches nothing again (store/rights, by time); whoever talks again is new.

Copies that somebody made of the file elsewhere are out of reach until they are restored here.

Log files hold counts and numbers of rows, no viewer's id and no name. One in which a person stands all the same is
emptied in place, so that a program that is writing to it can go on.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from forgetmenot import logs
from forgetmenot.clock import MINUTE, Clock
from forgetmenot.errors import ForgetMeNotError, InputError, StoreError
from forgetmenot.files import incoming_folder, read_blocks, replace_file
from forgetmenot.logs import log
from forgetmenot.memory.people import ORDINARY, SOMEBODY
from forgetmenot.store import (
    backup,
    bot_messages,
    channel_state,
    episodes,
    notes,
    personal_data,
    streams,
)
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import CARRIED_OUT, Database, Source
from forgetmenot.store.personal_data import PLACES, Place
from forgetmenot.text.outgoing import escaped, unescaped
from forgetmenot.text.removal import ENOUGH, Names, traces, without_person
from forgetmenot.text.words import clear_text_caches

# No model call and no reply that knew of a person takes longer.
UNDER_WAY = 2 * MINUTE
# Who is erased twice within this is left to the periodic task.
BEGIN_AGAIN_AFTER = 10 * MINUTE
# A name of letters alone that stands in more texts than this, without an @ or an id, is taken for a word.
WORD_IN_TEXTS = 100
# So often a place is looked through: where chat goes on naming somebody, there is always something new.
MOST_LOOKS = 8
# Texts that one transaction rewrites: replies and commands write in between.
TEXTS_AT_ONCE = 50
_KEPT_TEXTS = (Place("episodes", ("summary",)), Place("semantic_notes", ("fact",)))
_KEPT_STATES = frozenset({"id", "login", "bot_id", "bot_login", CARRIED_OUT})
_SUBFOLDERS = (backup.FOLDER, "logs", "login")
_CHUNK, _AROUND = 1 << 20, 64
_NOBODY = traces(SOMEBODY)
# As memory/stream_recap names them.
RECAP_FILES = "????-??-?? stream *.md"
_LINE = re.compile(r"((?:- |> |# |\*)?)(.*?)(\*?)")

Step = Callable[[], Awaitable[object]]


class ErasureReport(Struct):
    """What was deleted and rewritten. `wiped`: False if another process keeps deleted bytes alive for now.

    `files` and `bytes` were searched afterwards, in which the person was `found` so often, in these `places`; files of
    recaps that could not be read or changed (`unreachable`) count among them.
    """

    events: int = 0
    notes: int = 0
    rewritten: dict[str, int] = field(default_factory=dict)
    wiped: bool = False
    files: int = 0
    bytes: int = 0
    places: dict[str, int] = field(default_factory=dict)
    unreachable: list[str] = field(default_factory=list)
    found: int = 0


class Eraser:
    """Erases people from one memory, one at a time.

    `before` makes lines that were just heard readable (Ingest.flush); `after` drops what is kept in memory (recall's
    caches, the prompt's prefix). Both are left out by the command line, which is a process of its own.
    """

    def __init__(
        self, *, db: Database, clock: Clock, before: Sequence[Step] = (), after: Sequence[Step] = ()
    ) -> None:
        self._db, self._clock, self._before, self._after = db, clock, before, after
        self._one_at_a_time = asyncio.Lock()
        self._lately: list[tuple[int, Names]] = []
        self._begun: dict[str, int] = {}
        self._running: dict[str, asyncio.Task[ErasureReport | None]] = {}

    def start(self, viewer_id: str) -> None:
        """Erase somebody who is hidden, beside whatever else happens.

        Not twice in a short time: each erasure searches every file. What a stop interrupts is finished by `erase_due`.
        """
        now = self._clock.now()
        self._begun = {who: at for who, at in self._begun.items() if now - at < BEGIN_AGAIN_AFTER}
        if self._begun.setdefault(viewer_id, now) != now:
            return
        task = asyncio.create_task(self._erase_in_background(viewer_id), name="erasure")
        self._running = {who: one for who, one in self._running.items() if not one.done()} | {
            viewer_id: task
        }

    def is_begun(self, viewer_id: str) -> bool:
        """Whether an erasure was started of which nobody has asked yet what it did."""
        return viewer_id in self._running

    async def report_of(self, viewer_id: str, within_s: float) -> ErasureReport | None:
        """What an erasure that was started did, if it is done in that time (seconds)."""
        await asyncio.wait([self._running[viewer_id]], timeout=within_s)
        return self._running.pop(viewer_id).result() if self._running[viewer_id].done() else None

    async def idle(self) -> None:
        """Wait until every erasure that was begun is done."""
        while under_way := [task for task in self._running.values() if not task.done()]:
            await asyncio.wait(under_way)

    async def _erase_in_background(self, viewer_id: str) -> ErasureReport | None:
        try:
            return await self.erase(viewer_id)
        except ForgetMeNotError as error:
            log.warning(
                "an erasure was interrupted and will be finished later", error=type(error).__name__
            )
            return None

    async def erase(self, viewer_id: str) -> ErasureReport:
        """Erase one person. Raises InputError if nobody has that id, StoreError."""
        async with self._one_at_a_time:
            report, who = await self._erase(viewer_id)
            await finish(self._db, [(report, who)], self._clock.now())
            await self._forget()
        return report

    async def _erase(self, viewer_id: str) -> tuple[ErasureReport, Names]:
        for make_readable in self._before:
            await make_readable()
        report, who = await erase_rows(self._db, viewer_id, self._clock.now())
        # the names are kept in memory for two minutes alone, to find what a call that was under way still writes
        self._lately.append((self._clock.now(), who))
        return report, who

    async def _forget(self) -> None:
        for drop in self._after:
            await drop()

    async def erase_due(self) -> list[ErasureReport]:
        """A periodic task, every minute or so: finish what was begun, erase who was banned seven days ago, look twice.

        However many people are due, the file is rebuilt once.
        """
        async with self._one_at_a_time:
            due = await personal_data.due(self._db, self._clock.certain())
            # somebody who was begun waits for this lock with a task of their own, which tells them what it did
            left = [one for one in due if one not in self._running or self._running[one].done()]
            erased = [await self._erase(viewer_id) for viewer_id in left]
            looked = len(self._lately)
            stray = await self._look_again()
            if erased or stray or await channel_state.read(self._db, WIPE_DUE):
                await finish(self._db, erased, self._clock.now())
            if (
                erased or len(self._lately) < looked
            ):  # what was under way has filled the caches anew
                await self._forget()
        return [report for report, _ in erased]

    async def _look_again(self) -> bool:
        """Clean what a model call or a reply that was under way wrote after an erasure; whether there was any."""
        now = self._clock.now()
        ripe = [who for at, who in self._lately if now - at >= UNDER_WAY]
        self._lately = [(at, who) for at, who in self._lately if now - at < UNDER_WAY]
        report = ErasureReport()
        for who in ripe:
            if not await personal_data.is_known(
                self._db, who.viewer_id
            ):  # who talked again is new, and stays
                await _clean(self._db, who, now, report)
        return bool(report.rewritten)


async def erase_rows(db: Database, viewer_id: str, now: int) -> tuple[ErasureReport, Names]:
    """Take them out of every row and log file; what is deleted is wiped by `finish`."""
    report = ErasureReport()
    who = await _names(db, viewer_id)
    async with db.write() as tx:
        await personal_data.begin(tx, viewer_id, now)
        # made again without them; and else each summary that changes would be looked up in each of them
        await episodes.drop_briefs(tx)
    # before the rows go that tell which replies were made of them: a reply to somebody else need not have the name
    made_of_them = await asyncio.to_thread(bot_messages.resting_on, db.path, viewer_id)
    # and while it is known what they were called, and which words the bot had for them
    await _clean_recaps(db, who, [row for row, _line in made_of_them], report)
    for some in range(0, len(made_of_them), TEXTS_AT_ONCE):
        async with db.write() as tx:
            await bot_messages.clear(tx, made_of_them[some : some + TEXTS_AT_ONCE], now)
    while await _delete_some(db, viewer_id, report):
        pass
    await _clean(db, who, now, report)
    while await _delete_some(db, viewer_id, report):  # whatever came in meanwhile goes as well
        pass
    async with db.write() as tx:
        await personal_data.delete_person(tx, viewer_id, now)
        # in the same transaction: after it nobody knows that something is left to wipe
        await channel_state.put(tx, {WIPE_DUE: "1"}, now)
    await asyncio.to_thread(_clean_logs, db.path, who)
    clear_text_caches()  # the words of what was compared
    return report, who


async def finish(db: Database, erased: Sequence[tuple[ErasureReport, Names]], now: int) -> None:
    """Wipe what was deleted, and search every file for those who were erased. Raises StoreError."""
    wiped = await db.wipe_deleted(thorough=True)
    await asyncio.to_thread(
        backup.drop, db.path
    )  # they know more than they may; a running bot makes a new one
    async with db.write() as tx:
        await channel_state.put(tx, {WIPE_DUE: "" if wiped else "1"}, now)
    for report, who in erased:
        report.wiped = wiped
        await asyncio.to_thread(_search, db.path, who, report)
        report.places |= dict.fromkeys(report.unreachable, 1)
        report.found += len(report.unreachable)
        done = {
            name: getattr(report, name)
            for name in ("events", "notes", "wiped", "files", "bytes", "found")
        }
        log.info("a viewer was erased", **done, rewritten=report.rewritten)


async def _clean_recaps(
    db: Database, who: Names, reply_ids: Sequence[int], report: ErasureReport
) -> None:
    """Take them out of the files that recaps were written to; a file that cannot be changed is named.

    And what the bot said to them, or said because of them: it need not name them.
    """
    said = [traces(text) for text in await bot_messages.words_of(db, who.viewer_id, reply_ids)]

    def cleaned(text: str, quoted: bool) -> str:  # noqa: FBT001  # as `clean_files` calls it
        words = (
            traces(text) - _NOBODY if quoted else ()
        )  # a name may stand in the reply, where a recap has "someone"
        if words and any(words <= one and len(words) >= ENOUGH * len(one) for one in said):
            return ""
        return _clean_text(text, who, cut=True) if who.hidden(text) != text else text

    lines, report.unreachable = await clean_files(db, cleaned)
    if report.unreachable:
        log.warning("somebody may still stand in files of recaps", files=report.unreachable)
    report.rewritten |= {"recap_files": lines} if lines else {}


async def clean_files(source: Source, change: Callable[[str, bool], str]) -> tuple[int, list[str]]:
    """Change the texts of all files of recaps; how many lines did, and the files that could not be changed.

    `change` gets a text, and whether it quotes the bot.
    """
    changed = 0
    failed = []
    for file in await _recap_files(source):
        try:
            changed += await asyncio.to_thread(_clean_file, file, change)
        except (OSError, UnicodeDecodeError):
            failed.append(str(file))
    return changed, failed


async def _recap_files(source: Source) -> list[Path]:
    """Every file of a recap, also of a stream that an older copy of the memory does not know.

    Of a folder that is missing (a drive that is not plugged in) what stands for all its files.
    """
    files = {Path(name) for name in await streams.recap_files(source)}
    for name in await streams.recap_folders(source):
        folder = Path(name)
        files.update(await asyncio.to_thread(_matching, folder))
        if not folder.is_dir() and not any(file.parent == folder for file in files):
            files.add(folder / RECAP_FILES)
    return sorted(files)


def _matching(folder: Path) -> list[Path]:
    return list(folder.glob(RECAP_FILES))


def _clean_file(path: Path, change: Callable[[str, bool], str]) -> int:
    if path.parent.is_dir() and not path.exists():
        return 0  # the streamer deleted it; a folder that is missing may be a drive that is not plugged in
    before = path.read_text(encoding="utf-8").splitlines()
    after = [_cleaned_line(line, change) for line in before]
    if after != before:
        replace_file(path, "\n".join(line for line in after if line is not None) + "\n")
    return sum(one != other for one, other in zip(before, after, strict=True))


def _cleaned_line(line: str, change: Callable[[str, bool], str]) -> str | None:
    """A line after a change of its text; None where nothing is left of it."""
    found = _LINE.fullmatch(line)
    text = unescaped(found[2]) if found else ""
    rest = change(text, line.startswith("> "))
    if found is None or rest == text:
        return line
    return f"{found[1]}{escaped(rest)}{found[3]}" if rest else None


async def _names(db: Database, viewer_id: str) -> Names:
    if not await personal_data.is_known(db, viewer_id):
        raise InputError("Nobody with that id is known, so there is nothing to erase.")
    names = await personal_data.names_of(db, viewer_id)

    def read() -> Names:
        words = {name.casefold() for name in names if name.isalpha() and _is_a_word(db.path, name)}
        return Names(
            viewer_id,
            names,
            ORDINARY | words,
            personal_data.names_around(db.path, viewer_id, names),
        )

    return await asyncio.to_thread(read)


def _is_a_word(path: Path, name: str) -> bool:
    """Whether a name is so common in what is remembered that it must be a word: somebody may be called "minecraft".

    Else erasing one account could cut a game, or a town, out of everybody's notes. It still counts behind an @.
    """
    alone = Names("", [name])
    rows = (
        row for place in _KEPT_TEXTS for row in personal_data.written_in(path, place, alone.needles)
    )
    texts = (row for row in rows if alone.hidden(str(row[1])) != row[1])
    return next(islice(texts, WORD_IN_TEXTS, None), None) is not None


async def _delete_some(db: Database, viewer_id: str, report: ErasureReport) -> bool:
    """Delete some of the rows that are theirs, so that others may write soon; whether there may be more.

    A stop in between leaves them hidden, and `erase_due` goes on.
    """
    facts = await personal_data.facts_of(db, viewer_id, personal_data.NOTES_AT_ONCE)
    async with db.write() as tx:
        report.notes += await notes.delete_of_subject(tx, viewer_id, list(facts))
    async with db.write() as tx:
        lines, more = await personal_data.delete_chat(tx, viewer_id)
    report.events += lines
    return more or len(facts) == personal_data.NOTES_AT_ONCE


async def _clean(db: Database, who: Names, now: int, report: ErasureReport) -> None:
    """Take them out of what is left, piece by piece."""
    for place in PLACES:
        changed = await _clean_place(db, place, who, now)
        if changed:
            report.rewritten[place.table] = report.rewritten.get(place.table, 0) + changed
    held = await channel_state.read_all(db)
    cleaned = {
        name: _clean_text(value, who, cut=True)
        for name, value in held.items()
        if name not in _KEPT_STATES
    }
    rewritten = {
        name: text for name, text in cleaned.items() if text != held[name]
    }  # others may change meanwhile
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
                changed += await personal_data.rewrite(tx, place, rows)
                if place == PLACES[0]:
                    emptied = [row[len(place.columns)] for row in rows if not row[0]]
                    await episodes.drop_empty(tx, emptied, now)
    return changed


def _cleaned(path: Path, place: Place, who: Names) -> list[tuple[Any, ...]]:
    """The rows that change: cleaned columns, then the rowid, then the columns as they are."""
    found = []
    for rowid, *texts in personal_data.written_in(path, place, who.needles):
        cleaned = [
            _clean_text(text, who, cut=place.cut) if isinstance(text, str) else text
            for text in texts
        ]
        if cleaned != texts:
            found.append((*(("",) * len(texts) if place.whole else cleaned), rowid, *texts))
    return found


def _clean_text(text: str, who: Names, *, cut: bool) -> str:
    if text == who.viewer_id:
        return ""
    return without_person(who.marked(text), who.viewer_id) if cut else who.hidden(text)


def _clean_logs(database: Path, who: Names) -> None:
    for file in logs.beside(database).glob(f"{logs.FILE}*"):
        held = file.read_text(encoding="utf-8", errors="replace")
        if who.hidden(held) != held:
            os.truncate(file, 0)


# ── the search ────────────────────────────────────────────────────────────────────────────────
# It cannot find what an erasure leaves on purpose: a name that is an everyday word, where no @ is before it.


def _search(database: Path, who: Names, report: ErasureReport) -> None:
    """Search every file of the data folder."""
    found: Counter[str] = Counter()
    files = files_of(database)
    for file in files:
        try:
            count, size = _count_in(read_blocks(file, _CHUNK), who)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(
                f"{file} cannot be searched: {error.strerror}. Check its permissions."
            ) from error
        found[str(file.relative_to(database.parent))] += count
        report.bytes += size
    report.files, report.places, report.found = len(files), dict(+found), found.total()


def files_of(database: Path) -> list[Path]:
    """Every file of the data folder: beside the memory, its copies, its log, the log-ins, chat that was dropped."""
    folders = {
        database.parent,
        logs.beside(database),
        *(database.parent / name for name in _SUBFOLDERS),
    }
    found = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    found += incoming_folder(database).rglob("*")
    found = [file for file in found if file.is_file()]
    return sorted(
        file for file in found if file.name != f"{database.name}-shm"
    )  # it holds numbers of pages alone


def _count_in(blocks: Iterable[bytes], who: Names) -> tuple[int, int]:
    """How often somebody stands in a file's bytes, and how many there are. Raises OSError."""
    found = size = 0
    rest = b""
    needles = {
        one.encode() for one in who.needles
    }  # A to Z in lower case; one stands wherever they are written
    needles = {one for one in needles if not any(other in one for other in needles - {one})}
    for block in blocks:
        size += len(block)
        part = rest + block
        low = part.lower()
        for needle in needles:
            at = low.find(needle)
            while at >= 0:
                around = part[max(0, at - _AROUND) : at + len(needle) + _AROUND].decode(
                    "utf-8", "replace"
                )
                found += who.hidden(around) != around
                at = low.find(needle, at + len(needle))
        rest = part[-_AROUND:]  # a name may stand across two chunks
    return found, size
