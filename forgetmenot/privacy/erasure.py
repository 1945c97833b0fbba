"""Erases a person: afterwards no byte of the data folder shows that they were ever there.

Guarantees:
- The person is hidden at once, and every table is cleaned (store/personal_data names each column).
- What others said of them loses the mention; summaries and recaps lose the sentences about them.
- Nothing of anybody else changes. A person is who the data says: an id, an @name. A bare name is
  theirs in what was typed where they were, if it is no word; what is remembered names people by
  their ids, so a bare name stays there.
- Then the file is rebuilt, and while their id and names are still known every file of the data
  folder is searched for them: the report says how many files and bytes, and how often they were
  found. A stop half way is taken up by `erase_due`.
- What was said of them until then teaches nothing again (store/privacy_requests, by time); whoever
  talks again is new.

Copies that somebody made of the file elsewhere are out of reach until they are restored here.

Log files hold counts and numbers of rows, no viewer's id and no name. One in which a person stands
all the same is emptied in place, so that a program that is writing to it can go on.

In this order: the eraser, which decides when; the steps on rows; names and words; files; the search.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from forgetmenot import logs
from forgetmenot.clock import Clock
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import ForgetMeNotError, InputError, StoreError
from forgetmenot.files import incoming_folder, read_blocks
from forgetmenot.logs import log
from forgetmenot.people.common_words import ORDINARY
from forgetmenot.privacy.erased_topics import suppress_mentions, without_topics
from forgetmenot.privacy.recap_files import TextsAbout, clean_files, is_quote_of
from forgetmenot.privacy.row_cleaning import cleaned_texts, without
from forgetmenot.privacy.suppression import SuppressionFilter, filter_of
from forgetmenot.store import (
    backup,
    bot_messages,
    channel_state,
    episodes,
    leftovers,
    notes,
    person_deletion,
    personal_data,
    privacy_choices,
    traced_texts,
    viewers,
)
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.events import END_OF_TIME
from forgetmenot.store.personal_data import (
    DOUBTFUL_PLACES,
    PLACES,
    DoubtfulPlace,
    Moment,
    Place,
)
from forgetmenot.store.receipts import Receipt, ReceiptFile, ReceiptKind
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

# No model call and no reply that knew of a person takes longer (ms).
UNDER_WAY = 2 * MINUTE
# Who is erased twice within this time (ms) is left to the periodic task.
BEGIN_AGAIN_AFTER = 10 * MINUTE
# How often a place is looked through at most: where chat goes on naming somebody, there is always
# something new.
MOST_LOOKS = 8
# Texts that one transaction rewrites: replies and commands write in between.
TEXTS_AT_ONCE = 50
# Texts of the channel's state; all others are the program's own. The digest is made of recaps.
_TITLE = "title"
_DIGEST = "digest"
_SUBFOLDERS = (backup.FOLDER, "logs", "login")
# Bytes that are read of a file at once, and that are searched in one step, which holds the event loop for .1 ms. Where
# less is read at once the loop waits longer: each read begins its wait for a turn anew.
_CHUNK = 1 << 22
_STEP = 1 << 15
# Bytes on each side of what may be a name that are looked at with it.
_AROUND = 128
# Letters and digits, in UTF-8: all of some bytes, those at their begin, and those at their end.
_WHOLE_WORD = re.compile(rb"[\w\x80-\xff]*")
_CUT_AT_BEGIN = re.compile(rb"\A[\w\x80-\xff]+")
_CUT_AT_END = re.compile(rb"[\w\x80-\xff]+\Z")
# An episode whose summary is empty may go.
_SUMMARIES = PLACES[0]
_STEMS_OF_SOMEBODY = fact_stems(SOMEBODY)

AsyncAction = Callable[[], Awaitable[object]]


class ErasureReport(Struct):
    """What was deleted and rewritten, and what a search of all files found afterwards."""

    events: int = 0
    notes: int = 0
    # how many texts were rewritten, by table
    rewritten: dict[str, int] = field(default_factory=dict)
    # False if another process keeps deleted bytes alive for now
    wiped: bool = False
    # how much was searched
    files: int = 0
    bytes: int = 0
    # how often the person was found, in all and by file; an unreachable file counts once
    found: int = 0
    places: dict[str, int] = field(default_factory=dict)
    # files of recaps that could not be read or changed
    unreachable: list[str] = field(default_factory=list)
    # texts of others that were left, with a bare name in them that may be theirs, or a word
    doubtful: int = 0
    # the code of its receipt; "" if that could not be written
    receipt: str = ""


class Eraser:
    """Erases people from one memory, one at a time."""

    def __init__(
        self,
        *,
        db: Database,
        clock: Clock,
        before: Sequence[AsyncAction] = (),
        after: Sequence[AsyncAction] = (),
    ) -> None:
        """Take what an erasure needs.

        `before` stores the lines that were just heard (Ingest.flush). `after` drops what is kept in
        memory (recall's caches, the prompt's prefix). The command line, a process of its own, needs
        neither.
        """
        self._db = db
        self._clock = clock
        self._before = before
        self._after = after
        self._one_at_a_time = asyncio.Lock()
        # who was erased in the last minutes, and when (ms)
        self._lately: list[tuple[int, NameForms]] = []
        # when each erasure was started (ms), by viewer
        self._started_at: dict[str, int] = {}
        self._tasks: dict[str, asyncio.Task[ErasureReport | None]] = {}
        self._receipts = ReceiptFile(db.path)
        # The codes of the receipts of erasures that are not finished, by viewer.
        self._codes: dict[str, str] = {}

    def start(self, viewer_id: str) -> None:
        """Erase somebody who is hidden, as a task in the background.

        Not twice in a short time: each erasure searches every file. What a stop interrupts is
        finished by `erase_due`.
        """
        now = self._clock.now()
        # A list, because entries are deleted meanwhile.
        for started_id, started_at in list(self._started_at.items()):
            if now - started_at >= BEGIN_AGAIN_AFTER:
                del self._started_at[started_id]
        if viewer_id in self._started_at:
            return
        self._started_at[viewer_id] = now
        for task_id, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[task_id]
        work = self._erase_in_background(viewer_id)
        self._tasks[viewer_id] = asyncio.create_task(work, name="erasure")

    def is_begun(self, viewer_id: str) -> bool:
        """Return whether an erasure was started whose report nobody has read yet."""
        return viewer_id in self._tasks

    async def report_of(self, viewer_id: str, within_s: float) -> ErasureReport | None:
        """Return the report of an erasure that was started; None if it takes longer (seconds).

        Also None if the erasure was interrupted.
        """
        task = self._tasks[viewer_id]
        await asyncio.wait([task], timeout=within_s)
        if not task.done():
            return None
        self._tasks.pop(viewer_id, None)
        return task.result()

    async def idle(self) -> None:
        """Wait until every erasure that was started is done."""
        while True:
            unfinished = [task for task in self._tasks.values() if not task.done()]
            if not unfinished:
                return
            await asyncio.wait(unfinished)

    async def _erase_in_background(self, viewer_id: str) -> ErasureReport | None:
        """Erase somebody; None where that was interrupted, since `erase_due` finishes it."""
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
        await self._begin_receipt(viewer_id)
        async with self._one_at_a_time:
            was_wipe_due = bool(await channel_state.read(self._db, WIPE_DUE))
            report, person = await self._erase_rows(viewer_id)
            await finish(
                self._db,
                [(report, person)],
                self._clock.now(),
                all_copies=was_wipe_due,
            )
            await self._finish_receipt(viewer_id, report)
            await self._drop_caches()
        return report

    def receipt_of(self, viewer_id: str) -> str:
        """Return the code of the receipt of an erasure that is under way; "" if there is none."""
        return self._codes.get(viewer_id, "")

    async def _begin_receipt(self, viewer_id: str) -> None:
        """Begin a receipt, so that its code can be told before a long erasure is done."""
        if viewer_id in self._codes:
            return
        if not await personal_data.is_known(self._db, viewer_id):
            return
        now = self._clock.now()
        try:
            self._codes[viewer_id] = await asyncio.to_thread(
                self._receipts.begin, ReceiptKind.ERASURE, now
            )
        except StoreError as error:
            # It proves the erasure, and must not hold it up.
            log.warning("a receipt cannot be written", reason=str(error))

    async def _finish_receipt(self, viewer_id: str, report: ErasureReport) -> None:
        """Search for what is left and store the receipt; without one if it cannot be written."""
        code = self._codes.pop(viewer_id, "")
        if not code:
            return
        now = self._clock.now()
        try:
            receipt = await asyncio.to_thread(
                _receipt, self._db.path, code, report, now
            )
            await asyncio.to_thread(self._receipts.put, receipt, now)
        except StoreError as error:
            log.warning("a receipt cannot be written", reason=str(error))
            return
        report.receipt = code

    async def _erase_rows(self, viewer_id: str) -> tuple[ErasureReport, NameForms]:
        """Write what waits in memory, erase the rows, and return what was found with the forms of the name."""
        for store_lines in self._before:
            await store_lines()
        report, person = await erase_rows(self._db, viewer_id, self._clock.now())
        # The names are kept in memory for two minutes alone, to find what a call that was under
        # way still writes.
        self._lately.append((self._clock.now(), person))
        return report, person

    async def _drop_caches(self) -> None:
        for drop in self._after:
            await drop()

    async def erase_due(self) -> list[ErasureReport]:
        """Do all that is due; return the reports of those who were erased. Raises StoreError.

        A periodic task, every minute or so: it finishes what was begun, erases who was banned seven
        days ago, and looks a second time for those who were erased lately. However many people are
        due, the file is rebuilt once.
        """
        async with self._one_at_a_time:
            was_wipe_due = bool(await channel_state.read(self._db, WIPE_DUE))
            erased = []
            due_ids = await self._due_viewers()
            for viewer_id in due_ids:
                await self._begin_receipt(viewer_id)
                erased.append(await self._erase_rows(viewer_id))
            count_before = len(self._lately)
            is_any_stray = await self._clean_again()
            if erased or is_any_stray or was_wipe_due:
                # Who else was to be wiped (a forgotten fact, an erasure before a stop) is not known
                # any more, so no copy can be searched for them.
                await finish(
                    self._db,
                    erased,
                    self._clock.now(),
                    all_copies=is_any_stray or was_wipe_due,
                )
            for viewer_id, (report, _person) in zip(due_ids, erased, strict=True):
                await self._finish_receipt(viewer_id, report)
            is_any_looked_at = len(self._lately) < count_before
            if erased or is_any_looked_at:
                # What was under way has filled the caches anew.
                await self._drop_caches()
        return [report for report, _person in erased]

    async def _due_viewers(self) -> list[str]:
        """Return the ids of the viewers to erase, without those who wait for a task of their own.

        Such a task waits for the lock that is held here, and it keeps the report for whoever asked.
        """
        due_ids = await privacy_choices.erasures_due(self._db, self._clock.certain())
        viewer_ids = []
        for viewer_id in due_ids:
            task = self._tasks.get(viewer_id)
            if task is None or task.done():
                viewer_ids.append(viewer_id)
        return viewer_ids

    async def _clean_again(self) -> bool:
        """Clean what a call or a reply that was under way wrote after an erasure.

        Returns whether anything was rewritten.
        """
        now = self._clock.now()
        report = ErasureReport()
        for entry in list(self._lately):
            erased_at, person = entry
            if now - erased_at < UNDER_WAY:
                continue
            # Who talked again is new, and stays.
            if not await personal_data.is_known(self._db, person.viewer_id):
                await _clean(self._db, person, now, report, since=erased_at)
            # Not before: where the disk refuses the rewriting, it is tried again.
            self._lately.remove(entry)
        return bool(report.rewritten)


# ── rows ──────────────────────────────────────────────────────────────────────────────────────


async def erase_rows(
    db: Database,
    viewer_id: str,
    now: int,
) -> tuple[ErasureReport, NameForms]:
    """Take a viewer out of every row, log file and file of recaps.

    Returns the report so far, and how they were written; `finish` wipes what was deleted and
    completes the report. Raises InputError if nobody has that id, StoreError.
    """
    report = ErasureReport()
    person = await _forms_of(db, viewer_id)
    wishes = await viewers.wishes_of(db, viewer_id)
    async with db.write() as tx:
        await privacy_choices.begin_erasure(tx, viewer_id, now)
    topics = await filter_of(db, viewer_id)
    if topics is not None:
        await _clean_recap_files_of_topics(db, person, topics)
    # Before the rows go that show which replies were made of them: a reply to somebody else need
    # not have the name.
    replies = await asyncio.to_thread(bot_messages.about_viewer, db.path, viewer_id)
    # And while it is known what they were called, and which words the bot had for them.
    reply_ids = [reply_id for reply_id, _twitch_id in replies]
    await _clean_recap_files(db, person, reply_ids, report)
    if topics is not None:
        await suppress_mentions(db, person, topics, now)
    for start in range(0, len(replies), TEXTS_AT_ONCE):
        batch = replies[start : start + TEXTS_AT_ONCE]
        async with db.write() as tx:
            await bot_messages.clear(tx, batch, now)
    await _delete_rows(db, viewer_id, report)
    await _clean(db, person, now, report)
    # Whatever came in meanwhile goes as well.
    await _delete_rows(db, viewer_id, report)
    moment = Moment(viewer_id, now)
    chosen_name = wishes.get("called", "")
    doubtful = await asyncio.to_thread(
        doubtful_places, db.path, person, moment, chosen_name
    )
    report.doubtful = len(doubtful)
    async with db.write() as tx:
        await personal_data.keep_doubtful(tx, doubtful, now)
        await person_deletion.delete_person(tx, viewer_id, now)
        # In the same transaction: after it nobody knows that something is left to wipe.
        await channel_state.put(tx, {WIPE_DUE: "1"}, now)
    await asyncio.to_thread(_empty_logs, db.path, person)
    cleaned_files = await asyncio.to_thread(_clean_incoming_files, db.path, person)
    if cleaned_files:
        report.rewritten["dropped_files"] = cleaned_files
    # The caches have the words of what was compared.
    await asyncio.to_thread(clear_text_caches)
    return report, person


async def finish(
    db: Database,
    erased: Sequence[tuple[ErasureReport, NameForms]],
    now: int,
    *,
    all_copies: bool,
) -> None:
    """Wipe what was deleted, and search every file for those who were erased.

    Copies in which one of them stands are deleted, or all of them with `all_copies`; a running bot
    makes a new one. Raises StoreError.
    """
    wiped = await db.wipe_deleted(thorough=True)
    if all_copies:
        await asyncio.to_thread(_delete_all_copies, db.path)
    else:
        people = [person for _report, person in erased]
        await asyncio.to_thread(_delete_copies_with, db.path, people, now)
    async with db.write() as tx:
        await channel_state.put(tx, {WIPE_DUE: "" if wiped else "1"}, now)
    for report, person in erased:
        report.wiped = wiped
        forms = _forms_to_search(person, report)
        await asyncio.to_thread(_search, db.path, forms, report)
        report.places |= dict.fromkeys(report.unreachable, 1)
        report.found += len(report.unreachable)
        # The log has the time of day: with other numbers a receipt could be matched to it, and by
        # the time to a request.
        log.info("a viewer was erased", wiped=report.wiped, found=report.found)


def _receipt(
    database: Path,
    code: str,
    report: ErasureReport,
    now: int,
) -> Receipt:
    """Return the receipt of a finished erasure. Raises StoreError."""
    removed = Counter(report.rewritten)
    removed["events"] += report.events
    removed["semantic_notes"] += report.notes
    return Receipt(
        code,
        ReceiptKind.ERASURE,
        now - now % DAY,
        removed=dict(+removed),
        tables=len(leftovers.tables_of(database)),
        files=report.files,
        bytes=report.bytes,
        remaining=report.found,
        doubtful=report.doubtful,
        is_finished=True,
    )


async def _delete_rows(
    db: Database,
    viewer_id: str,
    report: ErasureReport,
) -> None:
    """Delete all rows that are the viewer's, some at a time."""
    while await _delete_some(db, viewer_id, report):
        pass


async def _delete_some(
    db: Database,
    viewer_id: str,
    report: ErasureReport,
) -> bool:
    """Delete some of a viewer's rows, so that others may write soon; return whether more may be left.

    A stop in between leaves the viewer hidden, and `erase_due` goes on.
    """
    facts = await personal_data.facts_of(db, viewer_id, person_deletion.NOTES_AT_ONCE)
    async with db.write() as tx:
        report.notes += await notes.delete_of_subject(tx, viewer_id, list(facts))
    async with db.write() as tx:
        deleted_lines, is_more_chat = await person_deletion.delete_chat(tx, viewer_id)
    report.events += deleted_lines
    may_have_more_notes = len(facts) == person_deletion.NOTES_AT_ONCE
    return is_more_chat or may_have_more_notes


async def _clean(
    db: Database,
    person: NameForms,
    now: int,
    report: ErasureReport,
    since: int = END_OF_TIME,
) -> None:
    """Take the person out of the rows that are left, place by place.

    `since` (ms): what was written from then on was begun while they were there.
    """
    moment = Moment(person.viewer_id, now, since)
    for place in PLACES:
        changed = await _clean_place(db, place, person, moment)
        if changed:
            changed_before = report.rewritten.get(place.table, 0)
            report.rewritten[place.table] = changed_before + changed
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
    """Clean a place until nothing of the person is found; return how many rows changed.

    It is looked through several times, because others write while it is cleaned.
    """
    changed = 0
    for _look in range(MOST_LOOKS):
        rows = await asyncio.to_thread(_cleaned_rows, db.path, place, person, moment)
        if not rows:
            break
        for start in range(0, len(rows), TEXTS_AT_ONCE):
            batch = rows[start : start + TEXTS_AT_ONCE]
            async with db.write() as tx:
                changed += await personal_data.rewrite(tx, place, batch)
                if place == _SUMMARIES:
                    await _drop_empty_episodes(tx, batch, moment.now)
    return changed


async def _drop_empty_episodes(
    tx: Transaction,
    summary_rows: Sequence[tuple[Any, ...]],
    now: int,
) -> None:
    """Drop the episodes whose summary is empty now."""
    emptied_ids = []
    for row in summary_rows:
        cleaned_summary, episode_id, _old_summary = row
        if not cleaned_summary:
            emptied_ids.append(episode_id)
    await episodes.drop_empty(tx, emptied_ids, now)


def _cleaned_rows(
    path: Path,
    place: Place,
    person: NameForms,
    moment: Moment,
) -> list[tuple[Any, ...]]:
    """Return the rows that change, as `personal_data.rewrite` takes them. Raises StoreError.

    Each is the cleaned columns, then the rowid, then the columns as they are.
    """
    rows = []
    for row in personal_data.rows_containing(path, place, person.needles, moment):
        texts = cleaned_texts(row, place, person)
        if texts == row.texts:
            continue
        if place.whole:
            texts = ("",) * len(texts)
        rows.append((*texts, row.rowid, *row.texts))
    return rows


# ── names and words ───────────────────────────────────────────────────────────────────────────


async def _forms_of(db: Database, viewer_id: str) -> NameForms:
    """Return how a viewer is written. Raises InputError if nobody has that id."""
    if not await personal_data.is_known(db, viewer_id):
        raise InputError("Nobody with that id is known, so there is nothing to erase.")
    names = await personal_data.names_of(db, viewer_id)
    return await asyncio.to_thread(name_forms, db.path, viewer_id, names)


def name_forms(
    path: Path,
    viewer_id: str,
    names: Sequence[str],
) -> NameForms:
    """Return how somebody with these names is written. Raises StoreError.

    Some names may stand in a text as a word: those that are words of a language or games, and those
    that stand in notes or summaries, where people are ids.
    """
    others = personal_data.longer_names(path, viewer_id, names)
    everyday_names = _everyday_names(path, names)
    remembered_names = set()
    for name in names:
        if name in everyday_names or is_distinct(name):
            continue
        bare_form = NameForms("", [name], (), others)
        texts = personal_data.texts_containing(path, bare_form.needles)
        if any(bare_form.is_bare_in(text) for text in texts):
            remembered_names.add(name)
    return NameForms(viewer_id, names, everyday_names | remembered_names, others)


def _everyday_names(path: Path, names: Iterable[str]) -> set[str]:
    """Return those names that are numbers, words of a language or games. Raises StoreError."""
    titles = personal_data.played_categories(path)
    played_games = {"".join(words(title)) for title in titles}
    table = word_table()
    everyday_names = set()
    for name in names:
        is_word = table is not None and table.number(name.casefold()) is not None
        is_game = "".join(words(name)) in played_games
        if _is_small(name) or is_word or is_game:
            everyday_names.add(name)
    return everyday_names


def _is_small(name: str) -> bool:
    """Return whether a name is a number or a word of every sentence, or too short to be told from one."""
    folded_name = name.casefold()
    if len(name) < MIN_INSIDE:
        return True
    if folded_name.isdigit():
        return True
    return folded_name in ORDINARY or folded_name in FOREIGN_STOPWORDS


def doubtful_places(
    path: Path,
    person: NameForms,
    moment: Moment,
    chosen_name: str = "",
) -> list[DoubtfulPlace]:
    """Return the texts of others in which a bare name may still be theirs. Raises StoreError.

    They stay, and the streamer may look at them. A name that is an everyday word counts only where
    the person was; a number or a word of every sentence never. What is deleted within a day is left
    out. `chosen_name`: what they asked to be called. Anybody can choose any word, so nothing that
    others said is cut by it.
    """
    possible_names = {*person.names, chosen_name} - {""}
    names = {name for name in possible_names if not _is_small(name)}
    rare_names = names - _everyday_names(path, names)
    forms_near = NameForms("", names, (), person.others)
    forms_elsewhere = NameForms("", rare_names, (), person.others)
    places = set()
    for place in DOUBTFUL_PLACES:
        rows = personal_data.rows_containing(path, place, forms_near.needles, moment)
        for row in rows:
            forms = forms_near if row.near else forms_elsewhere
            if any(forms.is_bare_in(text) for text in row.texts if text):
                places.add(DoubtfulPlace(place.table, row.rowid))
    return sorted(places)


# ── files ─────────────────────────────────────────────────────────────────────────────────────


async def remove_from_recap_files(db: Database, viewer_id: str) -> None:
    """Take somebody who opts out out of the files of recaps, as an erasure does.

    Nothing else of theirs changes. Raises StoreError.
    """
    if not await personal_data.is_known(db, viewer_id):
        return
    person = await _forms_of(db, viewer_id)
    await _clean_recap_files(db, person, (), ErasureReport())


async def _clean_recap_files_of_topics(
    db: Database,
    person: NameForms,
    topics: SuppressionFilter,
) -> None:
    """Take out of the files of recaps what speaks of the person and of their topics."""

    def cleaned(text: str, _is_quote: bool) -> str:  # noqa: FBT001  # a TextCleaner
        return without_topics(text, person, topics)

    await clean_files(db, cleaned)


async def _clean_recap_files(
    db: Database,
    person: NameForms,
    reply_ids: Sequence[int],
    report: ErasureReport,
) -> None:
    """Take the person out of the files of recaps; report those that cannot be changed.

    What the bot said to them goes too, and these replies: they need not have the name.
    """
    reply_texts = await bot_messages.texts_to(db, person.viewer_id, reply_ids)
    own_facts = await personal_data.facts_of(db, person.viewer_id)
    mentioning_texts = await traced_texts.recap_mentions(db, person.viewer_id)
    # in threads: patterns of hundreds of facts, and the stems of a month of replies, would hold the event loop
    stems_of_replies = await asyncio.to_thread(_stems_of_each, reply_texts)
    texts_about = await asyncio.to_thread(
        TextsAbout, person, own_facts.values(), mentioning_texts
    )

    def cleaned(text: str, is_quote: bool) -> str:  # noqa: FBT001  # a TextCleaner
        if is_quote:
            quote_stems = fact_stems(text) - _STEMS_OF_SOMEBODY
            if is_quote_of(stems_of_replies, quote_stems):
                return ""
        marked_text = texts_about.marked(text)
        if person.with_mentions(marked_text) == text:
            # Nothing is about them. `without` would also even out the spaces.
            return text
        return without(marked_text, person, cut=True, bare=True)

    changed_lines, report.unreachable = await clean_files(db, cleaned)
    if report.unreachable:
        log.warning(
            "somebody may still stand in files of recaps", files=report.unreachable
        )
    if changed_lines:
        report.rewritten["recap_files"] = changed_lines


def _stems_of_each(texts: Iterable[str]) -> list[frozenset[str]]:
    """Return the stems of each text."""
    return [fact_stems(text) for text in texts]


def _empty_logs(database: Path, person: NameForms) -> None:
    """Empty each log file in which the person stands. Raises OSError."""
    for file in logs.beside(database).glob(f"{logs.FILE}*"):
        text = file.read_text(encoding="utf-8", errors="replace")
        if person.anonymized(text) != text:
            os.truncate(file, 0)


def _clean_incoming_files(database: Path, person: NameForms) -> int:
    """Take the person out of the chat of past streams that waits to be learned from.

    Returns out of how many files.
    """
    folder = incoming_folder(database)
    files = [file for file in folder.rglob("*") if file.is_file()]
    if not files:
        return 0
    # Imported late, since few people drop such files on the dock.
    from forgetmenot.privacy.past_chat_files import remove_person

    changed_files = 0
    for file in files:
        try:
            changed_files += remove_person(file, person)
        except OSError:
            # Windows refuses while the file is read. The search finds them in it, and it is deleted
            # when it was learned.
            log.warning("somebody may still stand in chat that was dropped on the dock")
    return changed_files


def _delete_all_copies(database: Path) -> None:
    backup.delete_copies(database, backup.copies_of(database))


def _delete_copies_with(
    database: Path,
    people: Sequence[NameForms],
    now: int,
) -> None:
    """Delete the copies beside the memory in which one of these people stands.

    The others stay: they may be all that is left of a text.
    """
    copies = []
    for copy in backup.copies_of(database):
        if any(_is_in_copy(copy, person, now) for person in people):
            copies.append(copy)
    backup.delete_copies(database, copies)


def _is_in_copy(
    copy: Path,
    person: NameForms,
    now: int,
) -> bool:
    """Return whether a copy has the person; True for one that cannot be read."""
    moment = Moment(person.viewer_id, now)
    try:
        if personal_data.is_in_copy(copy, moment):
            return True
        for place in PLACES:
            if place.table not in backup.KEPT:
                continue
            if _cleaned_rows(copy, place, person, moment):
                return True
    except StoreError:
        return True
    return False


# ── the search ────────────────────────────────────────────────────────────────────────────────
# It does not look for what an erasure leaves on purpose: a name that is a word, where no @ is before it.


def _forms_to_search(person: NameForms, report: ErasureReport) -> NameForms:
    """Return the forms to search files for.

    Where bare names were left in doubt, they are in the report already.
    """
    if not report.doubtful:
        return person
    doubtful_names = [name for name in person.names if not is_distinct(name)]
    return NameForms(person.viewer_id, person.names, doubtful_names, person.others)


class SearchedFile(Struct, frozen=True):
    """A file that was searched: how often the person is in it, its bytes, and when it was written (ms)."""

    path: Path
    count: int
    size: int
    written_at: int


def _search(
    database: Path,
    person: NameForms,
    report: ErasureReport,
) -> None:
    """Search every file of the data folder for the person. Raises StoreError."""
    for file in searched_files(files_of(database), person):
        report.files += 1
        report.bytes += file.size
        if file.count:
            name = str(file.path.relative_to(database.parent))
            report.places[name] = file.count
            report.found += file.count


def searched_files(files: Iterable[Path], person: NameForms) -> Iterator[SearchedFile]:
    """Search files for a person. Raises StoreError."""
    for path in files:
        try:
            written_at = int(path.stat().st_mtime * 1000)
            count, size = _count_in(read_blocks(path, _CHUNK), person)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(
                f"{path} cannot be searched: {error.strerror}. Check its permissions."
            ) from error
        yield SearchedFile(path, count, size, written_at)


def files_of(database: Path) -> list[Path]:
    """Return every file of the data folder.

    Those are beside the memory: its copies, its logs, the log-ins, and chat that was dropped.
    """
    folders = {database.parent, logs.beside(database)}
    folders.update(database.parent / name for name in _SUBFOLDERS)
    paths = set(incoming_folder(database).rglob("*"))
    for folder in folders:
        if folder.is_dir():
            paths.update(folder.iterdir())
    # This one holds numbers of pages alone.
    paths.discard(database.with_name(f"{database.name}-shm"))
    return sorted(path for path in paths if path.is_file())


def _count_in(blocks: Iterable[bytes], person: NameForms) -> tuple[int, int]:
    """Return how often the person stands in a file's bytes, and how many bytes there are.

    Raises OSError.
    """
    count = 0
    size = 0
    # What may be a name is judged by the bytes on both sides of it: at the end of a step it waits for the next one.
    part = b""
    searched_to = 0
    needles = _shortest_needles(person)
    for step in _in_steps(blocks):
        size += len(step)
        part = part[max(0, searched_to - _AROUND) :] + step
        first = min(searched_to, _AROUND)
        searched_to = max(first, len(part) - _AROUND)
        count += _count_between(part, first, searched_to, needles, person)
    count += _count_between(part, searched_to, len(part), needles, person)
    return count, size


def _count_between(
    part: bytes,
    first: int,
    last: int,
    needles: Sequence[bytes],
    person: NameForms,
) -> int:
    """Return how often the person is named by what begins between two places of the bytes."""
    # Only A to Z become small, as in the needles.
    lowered = part.lower()
    count = 0
    for needle in needles:
        start = lowered.find(needle, first)
        while first <= start < last:
            end = start + len(needle)
            if _is_named_at(part, start, end, person):
                count += 1
            start = lowered.find(needle, end)
    return count


def _in_steps(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of blocks, a few at a time."""
    for block in blocks:
        for start in range(0, len(block), _STEP):
            yield block[start : start + _STEP]


def _shortest_needles(person: NameForms) -> list[bytes]:
    """Return pieces to look for; one that contains another piece is found with that."""
    pieces = {needle.encode() for needle in person.needles}
    shortest = []
    for piece in pieces:
        others = pieces - {piece}
        if not any(other in piece for other in others):
            shortest.append(piece)
    return shortest


def _is_named_at(
    part: bytes,
    start: int,
    end: int,
    person: NameForms,
) -> bool:
    """Return whether the bytes from start to end, with those around them, name the person."""
    before = part[max(0, start - _AROUND) : start]
    behind = part[end : end + _AROUND]
    # Where the bytes end in the middle of a longer name, that would be taken for this one.
    if _WHOLE_WORD.fullmatch(before) is None:
        before = _CUT_AT_BEGIN.sub(b"", before)
    if _WHOLE_WORD.fullmatch(behind) is None:
        behind = _CUT_AT_END.sub(b"", behind)
    around = before + part[start:end] + behind
    # A cut through a letter leaves a sign that is no letter, as before and behind a name.
    text = around.decode("utf-8", "replace")
    return person.anonymized(text) != text
