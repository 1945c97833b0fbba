"""Copies of the memory without chat: some kept beside it, one wherever somebody wants it, and the way back.

Guarantees:
- The newest few are kept, and where the newest holds less than half of what an older one does, the newest of those.
- None of them outlives a request to be forgotten: those that have the person are deleted with it
  (of a fact: all), and one is made anew.
- Going back to any copy carries out again what was decided since: erasures, forgotten facts, removed
  notes, opting out, what is never mentioned, bans (privacy/requests). The recap of a stream is not posted again.

Copies that somebody keeps elsewhere are out of reach until they are restored here.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from forgetmenot import files
from forgetmenot.clock import Clock
from forgetmenot.durations import DAY, HOUR
from forgetmenot.errors import (
    ForgetMeNotError,
    InputError,
    StoreError,
    StoreForeign,
    StoreRequestsLost,
)
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.privacy.erasure import erase_rows
from forgetmenot.privacy.requests import carry_out
from forgetmenot.settings.schema import Settings
from forgetmenot.store import backup, channel_state, events, privacy_choices
from forgetmenot.store.backup import FOLDER, Copied, copies_of, delete_copies
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Database, open_database, uninterrupted
from forgetmenot.store.privacy_requests import PrivacyRequests, RequestKind


def name_of(database: Path, at: int) -> str:
    """Return the file name of a copy made at a time (ms). Sorting the names puts the copies in order of time."""
    made_at = datetime.fromtimestamp(at / 1_000, UTC)
    return f"{database.stem}-{made_at:%Y%m%d-%H%M%S}-{at % 1_000:03}.sqlite3"


async def make(
    db: Database,
    *,
    at: int,
    keep: int,
) -> Copied:
    """Make a copy beside the memory, and delete the oldest so that `keep` are left.

    `at`: the time (ms) in its name. Raises StoreError.
    """
    folder = db.path.parent / FOLDER
    copied = await copy_to(db, folder / name_of(db.path, at))
    await asyncio.to_thread(backup.delete_old_copies, db.path, keep)
    return copied


async def copy_to(db: Database, target: Path) -> Copied:
    """Copy the memory to `target`, again if a privacy request arrives meanwhile. Raises StoreError."""
    while True:
        # the file is read by its path, where another program may have put a different one
        await db.stay_in_place()
        request_count = _request_count(db)
        # a cancelled task does not stop its thread, which would leave half a copy behind
        copying = asyncio.to_thread(backup.copy, db.path, target)
        copied = await uninterrupted(copying)
        is_complete = _request_count(db) == request_count
        if not is_complete:
            # the copy may still hold what somebody has just asked to be forgotten
            target.unlink(missing_ok=True)
            continue
        log.info(
            "a backup was made",
            notes=copied.notes,
            episodes=copied.episodes,
            bytes=copied.size,
        )
        return copied


def _request_count(db: Database) -> int:
    """Return the number of privacy requests, also of those that other processes have written."""
    db.requests.refresh()
    return len(db.requests.lines)


class Backups:
    """Makes the copies while the bot runs. A periodic task.

    It makes one at its start and every day, if notes, summaries, recaps, quotes or wishes changed since the newest
    copy. It makes one at once when all copies had to be deleted.
    """

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._checked_at: int | None = None

    async def run_pass(self) -> None:
        """Make a copy if one is due; called every minute or so. Raises StoreError."""
        keep = self._settings().privacy.keep_backups
        now = self._clock.now()
        # also where the settings now ask for no copies: older ones may still be there
        await self._delete_stale_copies(now)
        if keep == 0:
            return
        copies = copies_of(self._db.path)
        was_checked_today = (
            self._checked_at is not None and now - self._checked_at < DAY
        )
        if copies and was_checked_today:
            return
        if not copies or await self._changed_since(copies[0]):
            await make(self._db, at=now, keep=keep)
        elif len(copies) > keep:
            # the setting was lowered since
            await asyncio.to_thread(backup.delete_old_copies, self._db.path, keep)
        self._checked_at = now

    async def _delete_stale_copies(self, now: int) -> None:
        """Delete all copies if they may hold notes or summaries of a line that chat has cleared since."""
        # store/events sets this mark when it clears such a line
        if not await channel_state.read(self._db, events.COPIES_STALE):
            return
        delete_copies(self._db.path)
        async with self._db.write() as tx:
            await channel_state.put(tx, {events.COPIES_STALE: ""}, now)

    async def _changed_since(self, newest_copy: Path) -> bool:
        """Return whether the memory changed since its newest copy was made."""
        # the file at the memory's path is compared, where another program may have put a different one
        await self._db.stay_in_place()
        return await asyncio.to_thread(backup.lacks_changes, newest_copy, self._db.path)


class MemoryFileWatch:
    """Keeps the memory's file in its place while the bot runs. A periodic task.

    If another program removes or replaces the file, the bot puts its own memory back. Both become backups, so nothing
    is lost. `trouble` says so for an hour.
    """

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self.trouble = ""
        self._trouble_until = 0
        self._db = db
        self._settings = settings
        self._clock = clock
        # the value of `times_put_back` when the backups were last made; None before the first pass
        self._handled_times: int | None = None
        self._unreadable: set[Path] = set()

    async def run_pass(self) -> None:
        """Put the memory's file back if another program moved it, and make backups of both; called every second.

        Raises StoreError if the file cannot be put back, or if the other program's file is no memory.
        """
        await self._db.stay_in_place()
        now = self._clock.now()
        if now > self._trouble_until:
            self.trouble = ""
        if self._db.times_put_back != self._handled_times:
            # At the start as well: a kill may have left what lay in the memory's place.
            await self._back_up(now)
        # Reported each second until somebody has moved the file away: it may be somebody's memory.
        unreadable = [file for file in self._unreadable if file.exists()]
        if unreadable:
            raise StoreError(reason("other_file", path=str(unreadable[0])))

    async def _back_up(self, now: int) -> None:
        """Make backups of the memory that was put back, and of the files that lay in its place."""
        times_put_back = self._db.times_put_back
        keep = self._settings().privacy.keep_backups
        if times_put_back:
            folder = str(self._db.path.parent)
            self.trouble = reason("file_put_back", folder=folder)
            self._trouble_until = now + HOUR
            if keep:
                # Dated a millisecond after the backup of the other file: the next start compares the memory with the
                # newest copy. One copy more than usual is kept, because the other file becomes one too.
                await make(self._db, at=now + 1, keep=keep + 1)
        for other_file in backup.files_put_aside(self._db.path):
            if files.is_open(other_file):
                # a thread still reads this file, which was the memory: the next pass backs it up
                return
            try:
                await self._back_up_other(other_file, now)
            except (StoreForeign, InputError):
                self._unreadable.add(other_file)
        self._handled_times = times_put_back

    async def _back_up_other(self, other_file: Path, now: int) -> None:
        """Make a backup of the file that lay in the memory's place, then delete that file.

        The backup has nothing of people who asked to be forgotten.
        """
        await asyncio.to_thread(backup.check, other_file)
        # Privacy requests are carried out in a first copy: the backup must never exist with what they delete.
        first_copy = other_file.with_name(f"{other_file.name}.part")
        folder = self._db.path.parent / FOLDER
        backup_file = folder / name_of(self._db.path, now)
        try:
            await asyncio.to_thread(backup.copy, other_file, first_copy)
            await _carry_out_requests(first_copy, self._db.requests, now)
            await asyncio.to_thread(backup.copy, first_copy, backup_file)
        finally:
            for file in _files(first_copy):
                file.unlink(missing_ok=True)
        for file in _files(other_file):
            file.unlink(missing_ok=True)
        log.warning(
            "what lay in the memory's place is kept as a backup",
            backup=backup_file.name,
        )


class Restored(Struct, frozen=True):
    """What a restore did.

    `saved`: the copy of the memory that was replaced; None if there was none. `erased` … `banned`: how many privacy
    requests of each kind were carried out again.
    """

    notes: int
    episodes: int
    erased: int
    forgotten: int
    removed: int
    opted_out: int
    banned: int
    saved: Path | None


async def restore(
    source: Path,
    database: Path,
    *,
    now: int,
    keep: int,
) -> Restored:
    """Put a copy in the memory's place. The memory must not be in use (files.instance_lock).

    `keep`: the number of copies to keep beside it. Raises InputError, StoreError.
    """
    await asyncio.to_thread(backup.check, source)
    if database.exists():
        await _check_replaceable(database, source)
    # prepared beside the memory and moved into its place at the end: a stop in between leaves the memory as it was
    restored_file = database.with_name(f"{database.name}.restoring")
    folder = database.parent / FOLDER
    try:
        # a restore that was killed may have left a log, which SQLite would read with the new file
        for file in _files(restored_file):
            file.unlink(missing_ok=True)
        await asyncio.to_thread(backup.copy, source, restored_file)
        requests = PrivacyRequests(database)
        row_counts, request_counts = await _carry_out_requests(
            restored_file, requests, now
        )
        saved_copy = await _save(database, now, keep)
        if request_counts[RequestKind.ERASE] or request_counts[RequestKind.FORGET]:
            # the older copies still hold what was just erased or forgotten
            for copy in copies_of(database):
                if copy != saved_copy:
                    copy.unlink(missing_ok=True)
        # the next start compares the memory with its newest copy, which has to be of the restored one
        newest_copy = folder / name_of(database, now + 1)
        await asyncio.to_thread(backup.copy, restored_file, newest_copy)
        _replace(restored_file, database)
    finally:
        for file in _files(restored_file):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)
    return Restored(
        notes=row_counts.notes,
        episodes=row_counts.episodes,
        erased=request_counts[RequestKind.ERASE],
        forgotten=request_counts[RequestKind.FORGET],
        removed=request_counts[RequestKind.REMOVE],
        opted_out=request_counts[RequestKind.OPT_OUT],
        banned=request_counts[RequestKind.BAN],
        saved=saved_copy,
    )


async def _check_replaceable(database: Path, source: Path) -> None:
    """Raise an error if this copy may not replace this memory.

    Raises InputError if the copy is the memory itself, StoreError if the memory's file of privacy requests is lost.
    """
    if source.samefile(database):
        raise InputError(
            f"{source} is the memory itself. Choose a backup; they are in {database.parent / FOLDER}."
        )
    # Opening it raises the error of lost requests. A file that is no memory any more may be replaced.
    with contextlib.suppress(StoreForeign):
        async with open_database(database):
            pass


async def _carry_out_requests(
    copy_file: Path,
    requests: PrivacyRequests,
    now: int,
) -> tuple[backup.Counts, Counter[RequestKind]]:
    """Carry out all privacy requests in a copy. Return its numbers of rows, and of requests by kind."""
    async with open_database(copy_file, requests=requests) as db:
        request_counts = await carry_out(db)
        # the copy may have been made before an erasure was finished
        for viewer_id in await privacy_choices.erasures_due(db, now):
            await erase_rows(db, viewer_id, now)
        # deleted rows leave their bytes in the file until it is rebuilt
        wipe_due = await channel_state.read(db, WIPE_DUE)
        if wipe_due and await db.wipe_deleted(thorough=True):
            async with db.write() as tx:
                await channel_state.put(tx, {WIPE_DUE: ""}, now)
        row_counts = await backup.counts(db)
        return row_counts, request_counts


async def _save(
    database: Path,
    now: int,
    keep: int,
) -> Path | None:
    """Make a copy of the present memory, and return its path. None if there is no memory, or it cannot be read."""
    if not database.exists():
        return None
    try:
        async with open_database(database) as db:
            # one more than usual, or making this copy could delete the one that is being restored
            copied = await make(db, at=now, keep=keep + 1)
            return copied.path
    except StoreRequestsLost:
        # without the requests, the restored memory would have people back who were erased
        raise
    except ForgetMeNotError as error:
        log.warning("what was there could not be saved", reason=str(error))
        return None


def _replace(restored_file: Path, database: Path) -> None:
    """Move a restored file into the memory's place. Raises StoreError if another program uses the memory."""
    try:
        # an old log must not be read with the new file
        for file in _files(database)[1:]:
            files.delete(file)
        files.move_into_place(restored_file, database)
    except OSError as error:
        raise StoreError(
            f"{database} cannot be replaced: {error.strerror}. Close the program that uses it."
        ) from error


def _files(database: Path) -> list[Path]:
    """Return a database's file and the files that SQLite puts beside it, without its privacy requests."""
    all_files = [database]
    for ending in ("-wal", "-shm", "-journal"):
        all_files.append(database.with_name(f"{database.name}{ending}"))
    return all_files
