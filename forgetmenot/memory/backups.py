"""Copies of the memory without chat: some kept beside it, one wherever somebody wants it, and the way back.

Guarantees:
- The newest few are kept.
- None of them outlives a request to be forgotten: they are deleted with it, and one is made anew.
- Going back to any copy carries out again what was asked for since: erasures, forgotten facts, opting out
  (store/privacy_log).

Copies that somebody keeps elsewhere are out of reach until they are restored here.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from forgetmenot.clock import DAY, Clock
from forgetmenot.errors import ForgetMeNotError, InputError, StoreError, StoreForeign, StoreKeyLost
from forgetmenot.files import make_own
from forgetmenot.logs import log
from forgetmenot.memory import erasure
from forgetmenot.memory.erasure import forget_fact
from forgetmenot.memory.receipts import RECEIPTS_DUE
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    backup,
    channel_state,
    episode_redaction,
    events,
    forgotten_facts,
    notes,
    opt_outs,
    personal_data,
    privacy_log,
)
from forgetmenot.store.backup import FOLDER, Copied, copies_of, drop
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Database, open_database, to_the_end
from forgetmenot.store.privacy_log import HashKey, PrivacyRequest, PrivacyRequestKind
from forgetmenot.text.removal import traces

_CHOICES = (PrivacyRequestKind.OPTED_OUT, PrivacyRequestKind.OPTED_IN)


def name_of(database: Path, at: int) -> str:
    """What a copy that was made at some time is called."""
    return f"{database.stem}-{datetime.fromtimestamp(at / 1_000, UTC):%Y%m%d-%H%M%S}-{at % 1_000:03}.sqlite3"


async def make(db: Database, *, at: int, keep: int) -> Copied:
    """Make a copy beside the memory and delete those above `keep`. Raises StoreError."""
    made = await copy_to(db, db.path.parent / FOLDER / name_of(db.path, at))
    await asyncio.to_thread(backup.delete_old_copies, db.path, made.path, keep)
    return made


async def copy_to(db: Database, target: Path) -> Copied:
    """Make a copy there. One in which somebody still stands who was forgotten meanwhile is made again."""
    while True:
        asked = privacy_log.size(db.key)
        # a thread cannot be cancelled: leaving it behind would leave half a copy
        made = await to_the_end(asyncio.to_thread(backup.copy, db.path, target))
        if privacy_log.size(db.key) == asked:
            log.info("a backup was made", notes=made.notes, episodes=made.episodes, bytes=made.size)
            return made
        target.unlink(missing_ok=True)


class Backups:
    """The copies of a running bot: one at its start, every day, and whenever the others had to go. A periodic task."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db, self._settings, self._clock = db, settings, clock
        self._made_at: int | None = None

    async def run_pass(self) -> None:
        """Every minute or so. Raises StoreError."""
        keep, now = self._settings().privacy.keep_backups, self._clock.now()
        await asyncio.to_thread(backup.write_counts, self._db.path, await backup.counts(self._db))
        if await channel_state.read(self._db, events.COPIES_STALE):
            drop(self._db.path)
            async with self._db.write() as tx:
                await channel_state.clear(tx, events.COPIES_STALE)
        recent = self._made_at is not None and now - self._made_at < DAY and copies_of(self._db.path)
        # a summary that still rests on a cleared line would outlive it in the copy
        if keep == 0 or recent or await episode_redaction.dirty(self._db):
            return
        await make(self._db, at=now, keep=keep)
        self._made_at = now


@dataclass(frozen=True, slots=True)
class Restored:
    """What going back did. `saved`: the copy of what was there before; `erased` …: requests carried out again."""

    notes: int
    episodes: int
    erased: int
    forgotten: int
    opted_out: int
    saved: Path | None


async def restore(source: Path, database: Path, *, now: int, keep: int) -> Restored:
    """Put a copy in the memory's place. The memory must not be in use (store/file_safety).

    Raises InputError, StoreError.
    """
    await asyncio.to_thread(backup.check, source)
    if database.exists() and source.samefile(database):
        raise InputError(f"{source} is the memory itself. Choose a backup; they are in {database.parent / FOLDER}.")
    await _refuse_lost_key(database)
    # prepared beside the memory and moved into its place at the end: a stop in between leaves the memory as it was
    fresh = database.with_name(f"{database.name}.restoring")
    try:
        await _prepare(source, fresh)
        done = await _replay_requests(fresh, database, now)
        saved = await _save(database, now, keep)
        _replace(fresh, database)
        backup.counts_file(database).unlink(missing_ok=True)  # what the copy lacks is meant to be lacking
        if done[2] or done[3]:  # erasures, facts: the older copies know more than they may
            for copy in copies_of(database):
                if copy != saved:
                    copy.unlink(missing_ok=True)
    finally:
        for file in _files(fresh):
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)
    return Restored(*done, saved)


async def _refuse_lost_key(database: Path) -> None:
    """Without the key nobody knows who was erased since the copy was made. Raises StoreKeyLost, StoreError."""
    key = HashKey.beside(database)
    await asyncio.to_thread(lambda: privacy_log.refuse_lost_key(key, database, keyed_rows=None))
    if database.exists():
        with contextlib.suppress(StoreForeign):  # what cannot be read any more is what a copy is for
            async with open_database(database):
                pass


async def _prepare(source: Path, fresh: Path) -> None:
    """Bring it to the newest schema, and leave out what no copy may hold, should it be a plain copy of the file."""
    make_own(fresh.parent)
    older = fresh.with_name(fresh.name + ".older")
    try:
        await asyncio.to_thread(backup.duplicate, source, older)
        async with open_database(older, any_key=True):
            pass
        await asyncio.to_thread(backup.copy, older, fresh)
    finally:
        for file in _files(older):
            file.unlink(missing_ok=True)


async def _replay_requests(fresh: Path, database: Path, now: int) -> tuple[int, int, int, int, int]:
    key = HashKey.beside(database)
    log_file = privacy_log.path_of(key)
    async with open_database(fresh, key=key) as db:
        end = await channel_state.read(db, privacy_log.LOG_END)
        if await asyncio.to_thread(privacy_log.predates_key, log_file, end):
            raise InputError(
                f"This copy was made before the key {key.path} was replaced: nobody knows who was erased since."
                " Nothing was changed. Restore it to another place with --db, or choose a newer copy."
            )
        if not key.exists():  # a copy from another machine: its hashes mean nothing here
            async with db.write() as tx:
                await forgotten_facts.drop_unreadable(tx)
        done = await replay_requests(db, await asyncio.to_thread(privacy_log.after, log_file, end), now)
        async with db.write() as tx:
            await channel_state.clear(tx, RECEIPTS_DUE)  # whoever was erased again has a receipt already
            await privacy_log.set_end(tx)
        if await db.wipe_deleted(thorough=True):  # else the next start does, and takes what was there before along
            async with db.write() as tx:
                await channel_state.clear(tx, WIPE_DUE)
        held = await backup.counts(db)
        return (held.notes, held.episodes, *done)


class KeyReplaced(NamedTuple):
    """What a new key keeps and loses. `opted_out`: people in the memory whose choice stays."""

    opted_out: int
    forgotten: int
    opted_out_unknown: int
    copies: int


async def start_new_key(db: Database, now: int) -> KeyReplaced:
    """Go on without the key that was lost (open the memory with `any_key`). Raises StoreError.

    Opt-outs of people in the memory stay. Hashes that nobody can read are dropped, and so are the copies beside the
    memory: who was erased since one was made is not known any more.
    """
    async with db.write() as tx:
        await privacy_log.start_anew(tx, now)
        facts, unknown = await forgotten_facts.drop_unreadable(tx)
        kept_out = await opt_outs.note_again(tx)
    copies = await asyncio.to_thread(drop, db.path)
    log.warning("a new key was made", opted_out=kept_out, forgotten=facts, opted_out_unknown=unknown, copies=copies)
    return KeyReplaced(kept_out, facts, unknown, copies)


async def replay_requests(db: Database, requests: list[PrivacyRequest], now: int) -> tuple[int, int, int]:
    """Carry out what was asked for after a copy was made; how many were erased, facts forgotten, people opted out."""
    seen = await personal_data.everybody(db) if requests else {}
    people = {db.key.digest("viewer", one): one for one in seen}
    chosen = {request.subject: request for request in requests if request.kind in _CHOICES}  # the last one of each
    gone = facts = out = 0
    for request in requests:
        viewer = people.get(request.subject)
        if request.kind is PrivacyRequestKind.ERASED:
            # whoever was first seen after the request is new, and stays
            if viewer is not None and seen[viewer] <= request.at and await personal_data.is_known(db, viewer):
                await erasure.erase(db, viewer, now=now, wipe=False)
                gone += 1
        elif request.kind is PrivacyRequestKind.FORGOTTEN:
            facts += await _replay_forgetting(db, request, viewer, now)
        elif request.kind is PrivacyRequestKind.ALLOWED:
            async with db.write() as tx:
                await forgotten_facts.allow_hashed(tx, request.subject, request.words)
        elif request is chosen.get(request.subject):
            out += await _replay_choice(db, request, viewer)
    return gone, facts, out


async def _replay_forgetting(db: Database, request: PrivacyRequest, viewer: str | None, now: int) -> int:
    async with db.write() as tx:
        await forgotten_facts.add_again(tx, request)
    if viewer is None or request.whole:
        return 0
    count = 0
    for note_id in await personal_data.facts_of(db, viewer):
        note = await notes.get(db, note_id)  # an earlier one may have taken it along
        if note is not None and forgotten_facts.is_it(db.key, viewer, traces(note.fact), request):
            await forget_fact(db, note_id, at=now)
            count += 1
    return count


async def _replay_choice(db: Database, request: PrivacyRequest, viewer: str | None) -> int:
    async with db.write() as tx:
        if request.kind is PrivacyRequestKind.OPTED_IN:
            await opt_outs.opt_in_unknown(tx, request.subject)
            if viewer is not None:
                await opt_outs.opt_in(tx, viewer)
        elif viewer is not None:
            await opt_outs.opt_out(tx, viewer, request.at)
        else:
            await opt_outs.opt_out_unknown(tx, request.subject, request.at)
    return request.kind is PrivacyRequestKind.OPTED_OUT


async def _save(database: Path, now: int, keep: int) -> Path | None:
    """A copy of what is there now; what cannot be read any more is let go."""
    if not database.exists():
        return None
    try:
        async with open_database(database) as db:
            # one more than usual, so that this one does not rotate away the copy that is being restored
            return (await make(db, at=now, keep=keep + 1)).path
    except StoreKeyLost:
        raise
    except ForgetMeNotError as error:
        log.warning("what was there could not be saved", reason=str(error))
        return None


def _replace(fresh: Path, database: Path) -> None:
    try:
        for file in _files(database)[1:]:  # an old log must not be read with the new file
            file.unlink(missing_ok=True)
        fresh.replace(database)
    except OSError as error:
        raise StoreError(f"{database} cannot be replaced: {error.strerror}. Close the program that uses it.") from error


def _files(database: Path) -> list[Path]:
    """A database's file and what SQLite puts beside it; its key and privacy log are not among them."""
    return [database, *(database.with_name(database.name + end) for end in ("-wal", "-shm", "-journal"))]
