"""Backups without chat, built by copying the tables that may be kept.

Guarantees:
- No byte of a raw message, of the bot's replies or of a log of actions gets into a copy, not even for a moment, since
  only the tables in `KEPT` are read (a test compares them with the schema).
- A copy is whole or not there, and only its owner can read it.
- Rows are read into a fresh schema, so that nothing which somebody built into a copy is run when it is restored.
- Tokens and privacy requests are not in the database at all, nor does a copy say how many of those were carried out:
  wherever it is restored, all of them are carried out again.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from forgetmenot import errors, files
from forgetmenot.files import make_own
from forgetmenot.logs import log
from forgetmenot.startup import quoted
from forgetmenot.store.database import (
    ASIDE,
    CARRIED_OUT,
    Database,
    Source,
    connected,
    kept_open,
    refuse_foreign,
    schema_sql,
    separate_reader,
)

KEPT = (
    "viewers",
    "viewer_names",
    "name_words",
    "streams",
    "attendance",
    "episodes",
    "episode_people",
    "semantic_notes",
    "note_evidence",
    "note_changes",
    "nicknames",
    "note_words",
    "never_mention",
    "quotes",
    "channel_state",
    "spending",
    "minutes",
    "moments",
    "reply_weeks",
)
FOLDER = "backups"


class Copied(Struct, frozen=True):
    """What a copy holds."""

    path: Path
    size: int
    notes: int
    episodes: int


def copies_of(database: Path) -> list[Path]:
    """Return the copies beside a memory, newest first; none of another memory in the same folder."""
    # By the whole name: another memory in the folder may be called "memory-two".
    name = re.compile(re.escape(database.stem) + r"-\d{8}-\d{6}-\d{3}\.sqlite3")
    folder = database.parent / FOLDER
    if not folder.is_dir():
        return []
    # Their names begin alike and end with the time: the last by name is the newest.
    copies = [file for file in folder.iterdir() if name.fullmatch(file.name)]
    return sorted(copies, reverse=True)


def delete_copies(database: Path, copies: Sequence[Path] | None = None) -> int:
    """Delete copies of a memory (None: all) and unfinished ones, and return how many copies. Raises StoreError."""
    if copies is None:
        copies = copies_of(database)
    try:
        for file in [*copies, *leftovers(database)]:
            files.delete(file)
    except OSError as error:
        raise errors.StoreError(
            f"{error.filename} cannot be deleted: {error.strerror}. Delete it yourself."
        ) from error
    return len(copies)


def files_put_aside(database: Path) -> list[Path]:
    """Return the files that another program put in the memory's place and that were not backed up yet."""
    name = re.compile(re.escape(database.name + ASIDE) + r"\d+")
    return sorted(
        file for file in database.parent.iterdir() if name.fullmatch(file.name)
    )


def leftovers(database: Path) -> list[Path]:
    """Return the unfinished files of a crash: of a restore, a copy, a write. Each start and erasure deletes them."""
    name = database.name
    patterns = (
        f"{FOLDER}/{database.stem}-*.part",
        f"{name}.restoring*",
        f"{name}.*.part",
        ".*.new",
        "login/.*.new",
    )
    files_left: list[Path] = []
    for pattern in patterns:
        files_left += database.parent.glob(pattern)
    return files_left


def copy(source: Path, target: Path) -> Copied:
    """Write a copy of `source` to `target`, which is replaced.

    It takes seconds for a large memory, so it is not called in the event loop. Raises StoreError.
    """
    part = target.with_name(target.name + ".part")
    try:
        make_own(target.parent)
        part.unlink(missing_ok=True)
        files.protect(part)
        # Filled and synced under another name: after a power cut there is a whole copy or none.
        counted = _fill(part, source)
        with part.open("r+b") as written:
            os.fsync(written.fileno())
        files.move_into_place(part, target)
    except OSError as error:
        raise errors.StoreError(
            f"{target} cannot be written: {error.strerror}. Choose another place."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return Copied(target, target.stat().st_size, counted.notes, counted.episodes)


def _fill(part: Path, source: Path) -> "Counts":
    """Copy what is kept of `source` into an empty file, and return how much it is. Raises StoreError."""
    with kept_open(source), connected(part, "rw") as db:
        # the file is new: it is synced as a whole at the end, and deleted if anything fails
        for pragma in (
            "journal_mode = OFF",
            "synchronous = OFF",
            "temp_store = MEMORY",
            "foreign_keys = OFF",
        ):
            db.execute(f"PRAGMA {pragma}")
        db.executescript(schema_sql())
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        # the triggers would derive rows that are copied anyway
        for name, _sql in triggers:
            db.execute(f"DROP TRIGGER {name}")
        # Read-only: the source is the memory that a running bot writes to.
        db.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        # one transaction, so that all tables are of one moment
        db.execute("BEGIN")
        for table in KEPT:
            column_rows = db.execute(f"PRAGMA main.table_info({table})")
            columns = ", ".join(row[1] for row in column_rows)
            db.execute(
                f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}"
            )
        # Requests since then are carried out again where the copy is restored, so it must not say
        # that they were.
        db.execute("DELETE FROM main.channel_state WHERE name = ?", (CARRIED_OUT,))
        # an id that somebody wrote down must never be given to another row
        db.execute("DELETE FROM main.sqlite_sequence")
        db.execute(
            "INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence"
        )
        for _name, sql in triggers:
            db.execute(sql)
        db.execute("COMMIT")
        if db.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise errors.StoreForeign(
                f"{source} lacks rows that others need. Nothing was changed; try another backup."
            )
        counted = Counts(*db.execute(_COUNTS).fetchone())
        db.execute("DETACH source")
    return counted


# What changes with every note, summary, recap, quote and wish. Chat alone changes none of it until it is summarised.
# Counted by indexes and by the numbers that SQLite gives, so no row of a large table is read.
_STATE = """
    SELECT
        (
            SELECT group_concat(name || seq)
            FROM (
                SELECT name, seq
                FROM sqlite_sequence
                WHERE name IN (
                    'episodes', 'semantic_notes', 'note_changes', 'never_mention', 'quotes'
                )
                ORDER BY name
            )
        ),
        (SELECT count(*) FROM note_changes),
        (SELECT count(*) FROM note_evidence INDEXED BY note_evidence_by_episode),
        (SELECT count(*) FROM episodes),
        (SELECT count(*) FROM episodes WHERE extracted_at IS NULL),
        (SELECT count(*) FROM episodes WHERE cleared_at IS NOT NULL),
        (SELECT count(*) FROM never_mention),
        (SELECT count(*) FROM quotes),
        (SELECT count(*) FROM viewers WHERE opted_out_at IS NOT NULL),
        (SELECT count(*) FROM viewers WHERE banned_at IS NOT NULL),
        (SELECT max(recapped_at) FROM streams),
        (SELECT max(called_at) FROM viewers WHERE called_at IS NOT NULL)
"""


def lacks_changes(copy_file: Path, database: Path) -> bool:
    """Return whether notes, summaries, recaps, quotes or wishes changed in a memory since a copy of it was made.

    It takes a tenth of a second for a million notes. A copy that cannot be read lacks everything. Raises StoreError.
    """
    with separate_reader(database) as db:
        state = db.execute(_STATE).fetchone()
    with contextlib.suppress(errors.StoreError), separate_reader(copy_file) as db:
        state_of_copy = db.execute(_STATE).fetchone()
        return bool(state != state_of_copy)
    return True


def check(path: Path) -> None:
    """See that a file is a whole memory of ours. Raises InputError, StoreError."""
    if not path.is_file():
        raise errors.InputError(f"There is no file {path}.")
    if not files.may_be_ours(path):
        raise errors.StoreForeign(
            f"{path} is not a ForgetMeNot memory. Nothing was changed."
        )
    with separate_reader(path) as db:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        refuse_foreign(path, application, version)
        table_rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {row[0] for row in table_rows}
        if not tables.issuperset(KEPT):
            raise errors.StoreForeign(
                f"{path} was changed by another program. Nothing was changed."
            )
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise errors.StoreForeign(
                f"{path} is damaged. Nothing was changed; try another backup."
            )


# ── a memory that was emptied or damaged ────────────────────────────────────────────────────
# If the newest copy holds far more than the memory, the memory is not used until a person decides.


# Below this number of notes, summaries and people a loss cannot be detected.
FEWEST = 10
# A memory of at least this size (bytes) is read as a whole while the bot already runs: it takes seconds.
CHECKED_BESIDE_THE_START = 100_000_000
_COUNTS = """
    SELECT (
        SELECT count(*)
        FROM semantic_notes
    ), (SELECT count(*) FROM episodes), (SELECT count(*) FROM viewers)
"""


class Counts(NamedTuple):
    """How much a memory holds."""

    notes: int = 0
    episodes: int = 0
    viewers: int = 0

    def lacks(self, before: "Counts") -> bool:
        """Return whether more than half of the notes, the summaries or the people of `before` are gone."""
        for count, count_before in zip(self, before, strict=True):
            if count_before >= FEWEST and 2 * count < count_before:
                return True
        return False

    def __str__(self) -> str:
        return (
            f"{self.notes} notes, {self.episodes} summaries and {self.viewers} people"
        )


async def counts(source: Source) -> Counts:
    """Return how much a memory holds now."""
    return Counts(*(await source.rows(_COUNTS))[0])


class FileCheck:
    """Sees that the memory's file is whole, and holds what its newest copy holds.

    Both take seconds for a large memory, so that one is checked when `passed` is first awaited, beside whatever else
    is done then.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        # looked for now: a copy that is made before the check lacks what the memory lacks
        copies = copies_of(db.path)
        self._newest = copies[0] if copies else None
        self._checking: asyncio.Task[None] | None = None

    async def passed(self) -> None:
        """Return when the memory was found whole. Raises StoreDamaged, StoreError."""
        if self._checking is None:
            self._checking = asyncio.create_task(self._check(), name="file check")
        await asyncio.shield(self._checking)

    async def aclose(self) -> None:
        """Break the check off."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)

    async def _check(self) -> None:
        db = self._db
        newest = self._newest
        way_out = "There is no backup."
        if newest is not None:
            command = f"forgetmenot memory restore {quoted(newest)}"
            way_out = f"Restore the newest backup with `{command}`."
        damage = await db.damage()
        if damage:
            raise errors.StoreDamaged(f"{db.path} is damaged ({damage}). {way_out}")
        if newest is not None:
            await _check_counts(db, newest, way_out)


@contextlib.asynccontextmanager
async def checked_start(db: Database) -> AsyncIterator[FileCheck]:
    """See that a memory is whole before it is used; a large one may be used before. Raises StoreDamaged, StoreError.

    Gives the check, which is broken off at the end of the block. A large memory that was emptied is no large one.
    """
    check = FileCheck(db)
    try:
        if await db.bytes_used() < CHECKED_BESIDE_THE_START:
            await check.passed()
        yield check
    finally:
        await check.aclose()


async def _check_counts(
    db: Database,
    newest: Path,
    way_out: str,
) -> None:
    """Raise StoreDamaged where more than half of what the newest copy holds is gone."""
    before = await asyncio.to_thread(_counts_of, newest)
    now = await counts(db)
    if now.lacks(before):
        raise errors.StoreDamaged(
            f"{db.path} held {before} at its last backup, and now holds {now}. Nothing was changed. {way_out}"
            f" If that is intended, move {newest} to another folder and start again."
        )


def _counts_of(copy: Path) -> Counts:
    """Return how much a copy holds; one that cannot be read holds nothing."""
    with contextlib.suppress(errors.StoreError), separate_reader(copy) as db:
        return Counts(*db.execute(_COUNTS).fetchone())
    return Counts()


def delete_old_copies(database: Path, keep: int) -> None:
    """Delete the oldest copies, so that `keep` are left.

    One older copy stays beside them if the newest one lacks more than half of it. Otherwise a memory that was emptied
    while it ran would displace its last good copy within days.
    """
    copies = copies_of(database)
    newest_copies = copies[:keep]
    older_copies = copies[keep:]
    if not older_copies:
        return
    # The newest alone is compared: it is what the memory holds now.
    newest_counts = _counts_of(newest_copies[0])
    spared = None
    for copy_file in older_copies:
        if newest_counts.lacks(_counts_of(copy_file)):
            spared = copy_file
            log.warning(
                "an old backup is kept: more than half of it is no longer there",
                backup=spared.name,
            )
            break
    for copy_file in older_copies:
        if copy_file == spared:
            continue
        # one that cannot be deleted now is tried again at the next backup
        with contextlib.suppress(OSError):
            copy_file.unlink()
