"""Erasing a person: afterwards no byte of the data folder tells that they were ever there.

Guarantees:
- The person is hidden at once, and every table is cleaned (store/personal_data names each column).
- What others said of them loses the mention; summaries and recaps lose the sentences about them.
- Nothing of anybody else changes. A person is who the data says: an id, an @name. A bare name is theirs in what was
  typed where they were, if it is no word; what is remembered names people by their ids, so a bare name stays there.
- Then the file is rebuilt, and while their id and names are still known every file of the
  data folder is searched for them: the report says how many files and bytes, and how often they were found. A stop half
  way is taken up by `erase_due`.
- What was said of them until then teaches nothing again (store/privacy_requests, by time); whoever talks again is new.

Copies that somebody made of the file elsewhere are out of reach until they are restored here.

Log files hold counts and numbers of rows, no viewer's id and no name. One in which a person stands all the same is
emptied in place, so that a program that is writing to it can go on.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from forgetmenot import logs
from forgetmenot.clock import Clock
from forgetmenot.durations import MINUTE
from forgetmenot.errors import ForgetMeNotError, InputError, StoreError
from forgetmenot.files import incoming_folder, read_blocks
from forgetmenot.logs import log
from forgetmenot.people.common_words import ORDINARY
from forgetmenot.privacy.erased_topics import keep_unmentioned, without_topics
from forgetmenot.privacy.recap_files import ShownTexts, clean_files, is_one_of
from forgetmenot.privacy.row_cleaning import cleaned_texts, without
from forgetmenot.privacy.suppression import filter_of
from forgetmenot.store import (
    backup,
    bot_messages,
    channel_state,
    episodes,
    notes,
    personal_data,
    privacy_choices,
    traced_texts,
)
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Database
from forgetmenot.store.events import END_OF_TIME
from forgetmenot.store.personal_data import (
    DOUBTFUL_PLACES,
    PLACES,
    DoubtfulPlace,
    Moment,
    Place,
)
from forgetmenot.text.meaning import word_table
from forgetmenot.text.mentions import SOMEBODY
from forgetmenot.text.removal import (
    MIN_INSIDE,
    NameForms,
    fact_stems,
    is_distinct,
)
from forgetmenot.text.words import (
    FOREIGN_STOPWORDS,
    clear_text_caches,
    words,
)

# No model call and no reply that knew of a person takes longer.
UNDER_WAY = 2 * MINUTE
# Who is erased twice within this is left to the periodic task.
BEGIN_AGAIN_AFTER = 10 * MINUTE
# So often a place is looked through: where chat goes on naming somebody, there is always something new.
MOST_LOOKS = 8
# Texts that one transaction rewrites: replies and commands write in between.
TEXTS_AT_ONCE = 50
# Texts of the channel's state; all others are the program's own. The digest is made of recaps.
_TITLE = "title"
_DIGEST = "digest"
_SUBFOLDERS = (backup.FOLDER, "logs", "login")
_CHUNK = 1 << 20
# So many bytes on each side of what may be a name are looked at with it.
_AROUND = 64
_NOBODY = fact_stems(SOMEBODY)

Step = Callable[[], Awaitable[object]]


class ErasureReport(Struct):
    """What was deleted and rewritten. `wiped`: False if another process keeps deleted bytes alive for now.

    `files` and `bytes` were searched afterwards, in which the person was `found` so often, in these `places`; files of
    recaps that could not be read or changed (`unreachable`) count among them. `doubtful`: texts of others that were
    left, with a bare name in them that may be theirs, or a word.
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
    doubtful: int = 0


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
        before: Sequence[Step] = (),
        after: Sequence[Step] = (),
    ) -> None:
        self._db = db
        self._clock = clock
        self._before = before
        self._after = after
        self._one_at_a_time = asyncio.Lock()
        self._lately: list[tuple[int, NameForms]] = []
        self._begun: dict[str, int] = {}
        self._running: dict[str, asyncio.Task[ErasureReport | None]] = {}

    def start(self, viewer_id: str) -> None:
        """Erase somebody who is hidden, beside whatever else happens.

        Not twice in a short time: each erasure searches every file. What a stop interrupts is finished by `erase_due`.
        """
        now = self._clock.now()
        for begun_id, begun_at in list(self._begun.items()):
            if now - begun_at >= BEGIN_AGAIN_AFTER:
                del self._begun[begun_id]
        if viewer_id in self._begun:
            return
        self._begun[viewer_id] = now
        for running_id, task in list(self._running.items()):
            if task.done():
                del self._running[running_id]
        self._running[viewer_id] = asyncio.create_task(
            self._erase_in_background(viewer_id), name="erasure"
        )

    def is_begun(self, viewer_id: str) -> bool:
        """Whether an erasure was started of which nobody has asked yet what it did."""
        return viewer_id in self._running

    async def report_of(self, viewer_id: str, within_s: float) -> ErasureReport | None:
        """What an erasure that was started did, if it is done in that time (seconds)."""
        task = self._running[viewer_id]
        await asyncio.wait([task], timeout=within_s)
        if not task.done():
            return None
        self._running.pop(viewer_id, None)
        return task.result()

    async def idle(self) -> None:
        """Wait until every erasure that was begun is done."""
        while True:
            unfinished = [task for task in self._running.values() if not task.done()]
            if not unfinished:
                return
            await asyncio.wait(unfinished)

    async def _erase_in_background(self, viewer_id: str) -> ErasureReport | None:
        try:
            return await self.erase(viewer_id)
        except ForgetMeNotError as error:
            log.warning(
                "an erasure was interrupted and will be finished later",
                error=type(error).__name__,
            )
            return None

    async def erase(self, viewer_id: str) -> ErasureReport:
        """Erase one person. Raises InputError if nobody has that id, StoreError."""
        async with self._one_at_a_time:
            was_due = bool(await channel_state.read(self._db, WIPE_DUE))
            report, person = await self._erase(viewer_id)
            await finish(
                self._db, [(report, person)], self._clock.now(), all_copies=was_due
            )
            await self._forget()
        return report

    async def _erase(self, viewer_id: str) -> tuple[ErasureReport, NameForms]:
        for make_readable in self._before:
            await make_readable()
        report, person = await erase_rows(self._db, viewer_id, self._clock.now())
        # the names are kept in memory for two minutes alone, to find what a call that was under way still writes
        self._lately.append((self._clock.now(), person))
        return report, person

    async def _forget(self) -> None:
        for drop in self._after:
            await drop()

    async def erase_due(self) -> list[ErasureReport]:
        """A periodic task, every minute or so: finish what was begun, erase who was banned seven days ago, look twice.

        However many people are due, the file is rebuilt once.
        """
        async with self._one_at_a_time:
            due = await privacy_choices.erasures_due(self._db, self._clock.certain())
            # somebody who was begun waits for this lock with a task of their own, which tells them what it did
            waiting = {
                viewer_id
                for viewer_id, task in self._running.items()
                if not task.done()
            }
            was_due = bool(await channel_state.read(self._db, WIPE_DUE))
            erased = [
                await self._erase(viewer_id)
                for viewer_id in due
                if viewer_id not in waiting
            ]
            count_before = len(self._lately)
            stray = await self._look_again()
            if erased or stray or was_due:
                # what else was to be wiped (a forgotten fact, an erasure before a stop) is in no list any more
                all_copies = stray or was_due
                await finish(self._db, erased, self._clock.now(), all_copies=all_copies)
            # what was under way has filled the caches anew
            if erased or len(self._lately) < count_before:
                await self._forget()
        return [report for report, _ in erased]

    async def _look_again(self) -> bool:
        """Clean what a model call or a reply that was under way wrote after an erasure; whether there was any."""
        now = self._clock.now()
        report = ErasureReport()
        for entry in list(self._lately):
            erased_at, person = entry
            if now - erased_at < UNDER_WAY:
                continue
            # who talked again is new, and stays
            if not await personal_data.is_known(self._db, person.viewer_id):
                await _clean(self._db, person, now, report, since=erased_at)
            # only now: a look that the disk refused is taken again
            self._lately.remove(entry)
        return bool(report.rewritten)


async def erase_rows(
    db: Database,
    viewer_id: str,
    now: int,
) -> tuple[ErasureReport, NameForms]:
    """Take them out of every row and log file; what is deleted is wiped by `finish`."""
    report = ErasureReport()
    person = await _names(db, viewer_id)
    async with db.write() as tx:
        await privacy_choices.begin_erasure(tx, viewer_id, now)
    topics = await filter_of(db, viewer_id)
    if topics is not None:
        await clean_files(
            db, lambda text, _quoted: without_topics(text, person, topics)
        )
    # before the rows go that tell which replies were made of them: a reply to somebody else need not have the name
    made_of_them = await asyncio.to_thread(
        bot_messages.about_viewer, db.path, viewer_id
    )
    # and while it is known what they were called, and which words the bot had for them
    await _clean_recaps(db, person, [row for row, _line in made_of_them], report)
    if topics is not None:
        await keep_unmentioned(db, person, topics, now)
    for start in range(0, len(made_of_them), TEXTS_AT_ONCE):
        async with db.write() as tx:
            await bot_messages.clear(
                tx, made_of_them[start : start + TEXTS_AT_ONCE], now
            )
    await _delete_rows(db, viewer_id, report)
    await _clean(db, person, now, report)
    # whatever came in meanwhile goes as well
    await _delete_rows(db, viewer_id, report)
    doubtful = await asyncio.to_thread(
        _doubtful, db.path, person, Moment(viewer_id, now)
    )
    report.doubtful = len(doubtful)
    async with db.write() as tx:
        await personal_data.keep_doubtful(tx, doubtful, now)
        await privacy_choices.delete_person(tx, viewer_id, now)
        # in the same transaction: after it nobody knows that something is left to wipe
        await channel_state.put(tx, {WIPE_DUE: "1"}, now)
    await asyncio.to_thread(_clean_logs, db.path, person)
    dropped = await asyncio.to_thread(_clean_dropped, db.path, person)
    if dropped:
        report.rewritten["dropped_files"] = dropped
    clear_text_caches()  # the words of what was compared
    return report, person


async def finish(
    db: Database,
    erased: Sequence[tuple[ErasureReport, NameForms]],
    now: int,
    *,
    all_copies: bool,
) -> None:
    """Wipe what was deleted, and search every file for those who were erased. Raises StoreError.

    Copies in which one of them stands are deleted, or `all_copies`; a running bot makes a new one.
    """
    wiped = await db.wipe_deleted(thorough=True)
    people = [person for _report, person in erased]
    await asyncio.to_thread(_drop_copies, db.path, people, now, all_copies=all_copies)
    async with db.write() as tx:
        await channel_state.put(tx, {WIPE_DUE: "" if wiped else "1"}, now)
    for report, person in erased:
        report.wiped = wiped
        await asyncio.to_thread(_search, db.path, _searched_for(person, report), report)
        report.places |= dict.fromkeys(report.unreachable, 1)
        report.found += len(report.unreachable)
        log.info(
            "a viewer was erased",
            events=report.events,
            notes=report.notes,
            rewritten=report.rewritten,
            wiped=report.wiped,
            files=report.files,
            bytes=report.bytes,
            found=report.found,
            doubtful=report.doubtful,
        )


def _drop_copies(
    database: Path,
    people: Sequence[NameForms],
    now: int,
    *,
    all_copies: bool = False,
) -> None:
    """Delete the copies beside the memory in which one of them stands; the others may be all that is left of a text."""
    copies = backup.copies_of(database)
    if not all_copies:
        copies = [
            copy
            for copy in copies
            if any(_stands_in(copy, person, now) for person in people)
        ]
    backup.delete_copies(database, copies)


def _stands_in(
    copy: Path,
    person: NameForms,
    now: int,
) -> bool:
    """Whether a copy has somebody; also where it cannot be read."""
    moment = Moment(person.viewer_id, now)
    try:
        if personal_data.is_in_copy(copy, moment):
            return True
        places = [place for place in PLACES if place.table in backup.KEPT]
        return any(_cleaned(copy, place, person, moment) for place in places)
    except StoreError:
        return True


def _searched_for(person: NameForms, report: ErasureReport) -> NameForms:
    """What files are searched for: a bare name that was left in doubt is in the report already."""
    if not report.doubtful:
        return person
    in_doubt = [name for name in person.names if not is_distinct(name)]
    return NameForms(person.viewer_id, person.names, in_doubt, person.others)


async def _clean_recaps(
    db: Database,
    person: NameForms,
    reply_ids: Sequence[int],
    report: ErasureReport,
) -> None:
    """Take them out of the files that recaps were written to; a file that cannot be changed is named.

    And what the bot said to them, or said because of them: it need not name them.
    """
    spoken = await bot_messages.texts_to(db, person.viewer_id, reply_ids)
    replies_to_them = [fact_stems(text) for text in spoken]
    own_facts = await personal_data.facts_of(db, person.viewer_id)
    mentioning = await traced_texts.recap_mentions(db, person.viewer_id)
    shown = ShownTexts(person, own_facts.values(), mentioning)

    def cleaned(text: str, quoted: bool) -> str:  # noqa: FBT001  # as `clean_files` calls it
        if quoted and is_one_of(replies_to_them, fact_stems(text) - _NOBODY):
            return ""
        marked = shown.marked(text)
        if person.with_mentions(marked) == text:
            return text  # also where its spaces are odd
        return without(marked, person, cut=True, bare=True)

    lines, report.unreachable = await clean_files(db, cleaned)
    if report.unreachable:
        log.warning(
            "somebody may still stand in files of recaps", files=report.unreachable
        )
    if lines:
        report.rewritten["recap_files"] = lines


async def leave_recaps(db: Database, viewer_id: str) -> None:
    """Take somebody who opts out out of the files of recaps, as an erasure does. Nothing else of theirs changes."""
    if await personal_data.is_known(db, viewer_id):
        await _clean_recaps(db, await _names(db, viewer_id), (), ErasureReport())


async def _names(db: Database, viewer_id: str) -> NameForms:
    if not await personal_data.is_known(db, viewer_id):
        raise InputError("Nobody with that id is known, so there is nothing to erase.")
    names = await personal_data.names_of(db, viewer_id)
    return await asyncio.to_thread(_names_and_words, db.path, viewer_id, names)


def _names_and_words(
    path: Path,
    viewer_id: str,
    names: Sequence[str],
) -> NameForms:
    """Somebody's names, with those among them that a text may have as a word.

    These are words of a language, what is played, and what stands in notes or summaries: people stand there as ids.
    """
    others = personal_data.longer_names(path, viewer_id, names)
    everyday = _everyday(path, names)
    remembered = set()
    for name in names:
        if name in everyday or is_distinct(name):
            continue
        bare = NameForms("", [name], (), others)
        texts = personal_data.texts_containing(path, bare.needles)
        if any(bare.is_bare_in(text) for text in texts):
            remembered.add(name)
    return NameForms(viewer_id, names, everyday | remembered, others)


def _everyday(path: Path, names: Iterable[str]) -> set[str]:
    """Those names that are numbers, words of a language or games, whoever uses them."""
    played = {"".join(words(title)) for title in personal_data.played_categories(path)}
    table = word_table()
    everyday = set()
    for name in names:
        folded = name.casefold()
        is_listed = table is not None and table.number(folded) is not None
        if _is_small(name) or is_listed or "".join(words(name)) in played:
            everyday.add(name)
    return everyday


def _is_small(name: str) -> bool:
    """Whether a name is a number or a word of every sentence, or too short to be told from one."""
    folded = name.casefold()
    if len(name) < MIN_INSIDE or folded.isdigit():
        return True
    return folded in ORDINARY or folded in FOREIGN_STOPWORDS


def _doubtful(
    path: Path,
    person: NameForms,
    moment: Moment,
) -> list[DoubtfulPlace]:
    """The texts of others in which a bare name may still be theirs: they stay, and the streamer may look at them.

    Of an everyday word only those where they were; of small words none. What is deleted within a day is left out.
    """
    small = {name for name in person.names if _is_small(name)}
    names = set(person.names) - small
    names_near = NameForms("", names, (), person.others)
    names_elsewhere = NameForms(
        "", names - _everyday(path, person.names), (), person.others
    )
    places = set()
    for place in DOUBTFUL_PLACES:
        for row in personal_data.rows_containing(
            path, place, names_near.needles, moment
        ):
            names_there = names_near if row.near else names_elsewhere
            if any(names_there.is_bare_in(text) for text in row.texts if text):
                places.add(DoubtfulPlace(place.table, row.rowid))
    return sorted(places)


async def _delete_rows(
    db: Database,
    viewer_id: str,
    report: ErasureReport,
) -> None:
    """Delete all rows that are theirs, some at a time."""
    while await _delete_some(db, viewer_id, report):
        pass


async def _delete_some(
    db: Database,
    viewer_id: str,
    report: ErasureReport,
) -> bool:
    """Delete some of the rows that are theirs, so that others may write soon; whether there may be more.

    A stop in between leaves them hidden, and `erase_due` goes on.
    """
    facts = await personal_data.facts_of(db, viewer_id, privacy_choices.NOTES_AT_ONCE)
    async with db.write() as tx:
        report.notes += await notes.delete_of_subject(tx, viewer_id, list(facts))
    async with db.write() as tx:
        lines, more = await privacy_choices.delete_chat(tx, viewer_id)
    report.events += lines
    return more or len(facts) == privacy_choices.NOTES_AT_ONCE


async def _clean(
    db: Database,
    person: NameForms,
    now: int,
    report: ErasureReport,
    since: int = END_OF_TIME,
) -> None:
    """Take them out of what is left, piece by piece. `since`: then what is written was begun before (ms)."""
    moment = Moment(person.viewer_id, now, since)
    for place in PLACES:
        changed = await _clean_place(db, place, person, moment)
        if changed:
            report.rewritten[place.table] = (
                report.rewritten.get(place.table, 0) + changed
            )
    async with db.write() as tx:
        title = await channel_state.read(tx, _TITLE)
        digest = await channel_state.read(tx, _DIGEST)
        is_near = await personal_data.came_to_newest_stream(tx, moment)
        cleaned = {
            _TITLE: without(title, person, cut=True, bare=is_near),
            _DIGEST: without(digest, person, cut=True, bare=False),
        }
        await channel_state.put(tx, cleaned, now)


async def _clean_place(
    db: Database,
    place: Place,
    person: NameForms,
    moment: Moment,
) -> int:
    """Look through a place until nothing of them is found: others write while it is cleaned."""
    changed = 0
    for _ in range(MOST_LOOKS):
        cleaned = await asyncio.to_thread(_cleaned, db.path, place, person, moment)
        if not cleaned:
            break
        for start in range(0, len(cleaned), TEXTS_AT_ONCE):
            rows = cleaned[start : start + TEXTS_AT_ONCE]
            async with db.write() as tx:
                changed += await personal_data.rewrite(tx, place, rows)
                if place == PLACES[0]:
                    emptied = [row[len(place.columns)] for row in rows if not row[0]]
                    await episodes.drop_empty(tx, emptied, moment.now)
    return changed


def _cleaned(
    path: Path,
    place: Place,
    person: NameForms,
    moment: Moment,
) -> list[tuple[Any, ...]]:
    """The rows that change: cleaned columns, then the rowid, then the columns as they are."""
    changed = []
    for row in personal_data.rows_containing(path, place, person.needles, moment):
        texts = cleaned_texts(row, place, person)
        if texts == row.texts:
            continue
        if place.whole:
            texts = ("",) * len(texts)
        changed.append((*texts, row.rowid, *row.texts))
    return changed


def _clean_logs(database: Path, person: NameForms) -> None:
    for file in logs.beside(database).glob(f"{logs.FILE}*"):
        text = file.read_text(encoding="utf-8", errors="replace")
        if person.anonymized(text) != text:
            os.truncate(file, 0)


def _clean_dropped(database: Path, person: NameForms) -> int:
    """Take them out of the chat of past streams that waits to be learned from; out of how many files."""
    files = [file for file in incoming_folder(database).rglob("*") if file.is_file()]
    if not files:
        return 0
    from forgetmenot.privacy.past_chat_files import remove_person

    changed = 0
    for file in files:
        try:
            changed += remove_person(file, person)
        except OSError:
            # Windows, while it is read: the search finds it, and it is deleted when it was learned
            log.warning("somebody may still stand in chat that was dropped on the dock")
    return changed


# ── the search ────────────────────────────────────────────────────────────────────────────────
# It does not look for what an erasure leaves on purpose: a name that is a word, where no @ is before it.


def _search(
    database: Path,
    person: NameForms,
    report: ErasureReport,
) -> None:
    """Search every file of the data folder."""
    places: Counter[str] = Counter()
    files = files_of(database)
    for file in files:
        try:
            count, size = _count_in(read_blocks(file, _CHUNK), person)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(
                f"{file} cannot be searched: {error.strerror}. Check its permissions."
            ) from error
        places[str(file.relative_to(database.parent))] += count
        report.bytes += size
    report.files = len(files)
    report.places = dict(+places)
    report.found = places.total()


def files_of(database: Path) -> list[Path]:
    """Every file of the data folder: beside the memory, its copies, its log, the log-ins, chat that was dropped."""
    folders = {database.parent, logs.beside(database)}
    folders.update(database.parent / name for name in _SUBFOLDERS)
    files = set(incoming_folder(database).rglob("*"))
    for folder in folders:
        if folder.is_dir():
            files.update(folder.iterdir())
    # this one holds numbers of pages alone
    files.discard(database.with_name(f"{database.name}-shm"))
    return sorted(file for file in files if file.is_file())


def _count_in(blocks: Iterable[bytes], person: NameForms) -> tuple[int, int]:
    """How often somebody stands in a file's bytes, and how many there are. Raises OSError."""
    count = 0
    size = 0
    rest = b""
    encoded = {needle.encode() for needle in person.needles}
    # a piece that has another one in it is found with that
    needles = []
    for piece in encoded:
        others = encoded - {piece}
        if not any(other in piece for other in others):
            needles.append(piece)
    for block in blocks:
        size += len(block)
        part = rest + block
        lowered = part.lower()  # A to Z, as the needles are
        for needle in needles:
            start = lowered.find(needle)
            while start >= 0:
                end = start + len(needle)
                count += _is_them(part, start, end, person)
                start = lowered.find(needle, end)
        rest = part[-_AROUND:]  # a name may stand across two chunks
    return count, size


def _is_them(
    part: bytes,
    start: int,
    end: int,
    person: NameForms,
) -> bool:
    """Whether somebody is meant by what stands there."""
    around = part[max(0, start - _AROUND) : end + _AROUND].decode("utf-8", "replace")
    return person.anonymized(around) != around
