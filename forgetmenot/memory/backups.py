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
    """Return the name of a copy that was made at a time (ms), by which copies are in order."""
    made_at = datetime.fromtimestamp(at / 1_000, UTC)
    return f"{database.stem}-{made_at:%Y%m%d-%H%M%S}-{at % 1_000:03}.sqlite3"


async def make(
    db: Database,
    *,
    at: int,
    keep: int,
) -> Copied:
    """Make a copy beside the memory and delete those above `keep`. Raises StoreError."""
    folder = db.path.parent / FOLDER
    copied = await copy_to(db, folder / name_of(db.path, at))
    await asyncio.to_thread(backup.delete_old_copies, db.path, keep)
    return copied


async def copy_to(db: Database, target: Path) -> Copied:
    """Make a copy at `target`. A copy that still has somebody who was forgotten meanwhile is made again."""
    while True:
        # it is read by its path: else it would be a copy of what another program put there
        await db.stay_in_place()
        request_count = _request_count(db)
        # a thread cannot be cancelled: leaving it behind would leave half a copy
        copying = asyncio.to_thread(backup.copy, db.path, target)
        copied = await uninterrupted(copying)
        is_complete = _request_count(db) == request_count
        if not is_complete:
            # somebody asked for something meanwhile that the copy may not have
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
    """Return the number of privacy requests, those of other processes included."""
    db.requests.refresh()
    return len(db.requests.lines)


class Backups:
    """The copies of a running bot. A periodic task.

    At its start and every day it makes one if notes, summaries, recaps, quotes or wishes changed since the newest copy;
    and one whenever the others had to be deleted.
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
        # also where no copies are made any more: those of earlier settings may still be there
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
            await asyncio.to_thread(backup.delete_old_copies, self._db.path, keep)
        self._checked_at = now

    async def _delete_stale_copies(self, now: int) -> None:
        """Delete all copies if they may have what rests on a line that was cleared in chat since."""
        if not await channel_state.read(self._db, events.COPIES_STALE):
            return
        delete_copies(self._db.path)
        async with self._db.write() as tx:
            await channel_state.put(tx, {events.COPIES_STALE: ""}, now)

    async def _changed_since(self, newest_copy: Path) -> bool:
        """Return whether the memory has something that its newest copy lacks."""
        # the copy is compared with the file at the memory's path, which has to be the memory
        await self._db.stay_in_place()
        return await asyncio.to_thread(backup.lacks_changes, newest_copy, self._db.path)


class MemoryFileWatch:
    """Sees that the memory's file stays in its place while the bot runs. A periodic task.

    Where another program removed or replaced it, the bot's own memory is back in its place and gets a backup, and what
    lay there instead becomes one as well: nothing of either is lost. `trouble` says so for an hour.
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
        # how often the file had been put back when that was last dealt with; None before the first pass
        self._handled_times: int | None = None
        self._unreadable: set[Path] = set()

    async def run_pass(self) -> None:
        """See to the file; called every second.

        Raises StoreError if it cannot be put back, or if what lay in its place cannot be read.
        """
        await self._db.stay_in_place()
        now = self._clock.now()
        if now > self._trouble_until:
            self.trouble = ""
        if self._db.times_put_back != self._handled_times:
            # At the start as well: a kill may have left what lay in the memory's place.
            await self._back_up(now)
        # Reported each second until somebody has moved the file away: it may be somebody's memory.
        unreadable = [other for other in self._unreadable if other.exists()]
        if unreadable:
            raise StoreError(reason("other_file", path=str(unreadable[0])))

    async def _back_up(self, now: int) -> None:
        """Make backups of the memory that was put back, and of what lay in its place."""
        times = self._db.times_put_back
        keep = self._settings().privacy.keep_backups
        if times:
            folder = str(self._db.path.parent)
            self.trouble = reason("file_put_back", folder=folder)
            self._trouble_until = now + HOUR
            if keep:
                # newer than what lay in its place, which must not be what the next start compares with
                await make(self._db, at=now + 1, keep=keep + 1)
        for other in backup.files_put_aside(self._db.path):
            if files.is_open(other):
                # a thread still reads what was the memory: left to the next pass
                return
            try:
                await self._back_up_other(other, now)
            except (StoreForeign, InputError):
                self._unreadable.add(other)
        self._handled_times = times

    async def _back_up_other(self, other: Path, now: int) -> None:
        """Make a backup of the memory in another file, then delete that file.

        The backup has nothing of people who asked to be forgotten.
        """
        await asyncio.to_thread(backup.check, other)
        # The requests are carried out in a copy of their own, so that `target` is complete as soon as it exists.
        part = other.with_name(f"{other.name}.part")
        folder = self._db.path.parent / FOLDER
        target = folder / name_of(self._db.path, now)
        try:
            await asyncio.to_thread(backup.copy, other, part)
            await _carry_out_requests(part, self._db.requests, now)
            await asyncio.to_thread(backup.copy, part, target)
        finally:
            for file in _files(part):
                file.unlink(missing_ok=True)
        for file in _files(other):
            file.unlink(missing_ok=True)
        log.warning(
            "what lay in the memory's place is kept as a backup", backup=target.name
        )


class Restored(Struct, frozen=True):
    """What a restore did. `saved`: the copy of what was there before; `erased` … `banned`: what was done again."""

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

    Raises InputError, StoreError.
    """
    await asyncio.to_thread(backup.check, source)
    if database.exists():
        await _check_replaceable(database, source)
    # prepared beside the memory and moved into its place at the end: a stop in between leaves the memory as it was
    fresh = database.with_name(f"{database.name}.restoring")
    folder = database.parent / FOLDER
    try:
        # of a restore that was killed: SQLite would read its log with the new file
        for file in _files(fresh):
            file.unlink(missing_ok=True)
        await asyncio.to_thread(backup.copy, source, fresh)
        requests = PrivacyRequests(database)
        row_counts, request_counts = await _carry_out_requests(fresh, requests, now)
        saved = await _save(database, now, keep)
        if request_counts[RequestKind.ERASE] or request_counts[RequestKind.FORGET]:
            # the older copies know more than they may
            for copy in copies_of(database):
                if copy != saved:
                    copy.unlink(missing_ok=True)
        # the newest copy: with it the next start compares what there is
        newest_copy = folder / name_of(database, now + 1)
        await asyncio.to_thread(backup.copy, fresh, newest_copy)
        _replace(fresh, database)
    finally:
        for file in _files(fresh):
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
        saved=saved,
    )


async def _check_replaceable(database: Path, source: Path) -> None:
    """Raise an error if a memory may not be replaced by this copy.

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
    fresh: Path,
    requests: PrivacyRequests,
    now: int,
) -> tuple[backup.Counts, Counter[RequestKind]]:
    """Do to a copy what people have asked for, and return what it holds then and how much was done."""
    async with open_database(fresh, requests=requests) as db:
        request_counts = await carry_out(db)
        for viewer_id in await privacy_choices.erasures_due(db, now):
            await erase_rows(db, viewer_id, now)
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
    """Make a copy of the present memory and return its path; None if there is none, or it cannot be read."""
    if not database.exists():
        return None
    try:
        async with open_database(database) as db:
            # one more than usual, so that this one does not rotate away the copy that is being restored
            copied = await make(db, at=now, keep=keep + 1)
            return copied.path
    except StoreRequestsLost:
        raise
    except ForgetMeNotError as error:
        log.warning("what was there could not be saved", reason=str(error))
        return None


def _replace(fresh: Path, database: Path) -> None:
    """Move a restored memory into its place. Raises StoreError."""
    try:
        # an old log must not be read with the new file
        for file in _files(database)[1:]:
            files.delete(file)
        files.move_into_place(fresh, database)
    except OSError as error:
        raise StoreError(
            f"{database} cannot be replaced: {error.strerror}. Close the program that uses it."
        ) from error


def _files(database: Path) -> list[Path]:
    """Return a database's file and those that SQLite puts beside it; its privacy requests are not among them."""
    all_files = [database]
    for ending in ("-wal", "-shm", "-journal"):
        all_files.append(database.with_name(f"{database.name}{ending}"))
    return all_files
