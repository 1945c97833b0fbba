"""Backups without chat, built by copying the tables that may be kept.

Guarantees:
- No byte of a raw message, of the bot's replies or of a log of actions gets into a copy, not even for a moment, since
  only the tables in `KEPT` are read (a test compares them and `LEFT_OUT` with the schema).
- A copy is whole or not there, and only its owner can read it.
- Tokens and the key of hashes are not in the database at all.
"""

import asyncio
import contextlib
import os
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import msgspec

from forgetmenot import errors
from forgetmenot.files import make_own, write_own
from forgetmenot.store import file_safety
from forgetmenot.store.database import (
    Database,
    Source,
    connect,
    reading_beside,
    refuse_foreign,
    schema_sql,
    translating,
)

KEPT = (
    "viewers",
    "viewer_names",
    "streams",
    "attendance",
    "episodes",
    "episode_people",
    "semantic_notes",
    "note_evidence",
    "note_changes",
    "never_mention",
    "forgotten",
    "opted_out_unknown",
    "fun_consents",
    "channel_state",
)
LEFT_OUT = {
    "events": "raw chat",
    "runs": "accounts for raw chat",
    "tally": "accounts for raw chat",
    "briefs": "made again from the notes",
    "bot_messages": "may quote chat, and is kept for some days only",
    "action_logs": "may quote chat, and is kept for some days only",
    "cooldowns": "over soon",
    "model_calls": "kept for some days only",
}
FOLDER = "backups"
HIGHEST = 2**62


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds."""

    path: Path
    size: int
    notes: int
    episodes: int


def copies_of(database: Path) -> list[Path]:
    """The copies beside a memory, newest first; none of another memory in the same folder."""
    name = re.compile(re.escape(database.stem) + r"-\d{8}-\d{6}-\d{3}\.sqlite3")
    folder = database.parent / FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted((file for file in found if name.fullmatch(file.name)), reverse=True)


def drop(database: Path) -> int:
    """Delete the copies beside a memory, unfinished ones too; how many there were. Raises StoreError."""
    gone = copies_of(database)
    try:
        for file in [*gone, *leftovers(database)]:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise errors.StoreError(f"{error.filename} cannot be deleted: {error.strerror}. Delete it yourself.") from error
    return len(gone)


def leftovers(database: Path) -> list[Path]:
    """What a crash left of a restore, a copy or a file half written. They are deleted at each start and erasure."""
    folder, name = database.parent, database.name
    patterns = (f"{FOLDER}/{database.stem}-*.part", f"{name}.restoring*", f"{name}.*.part", ".*.new", "login/.*.new")
    return [file for pattern in patterns for file in folder.glob(pattern)]


def copy(source: Path, target: Path) -> Copied:
    """Write a copy of `source` to `target`, which is replaced. Takes seconds for a large memory: not for the loop.

    Raises StoreError.
    """
    part = target.with_name(target.name + ".part")
    try:
        make_own(target.parent)
        part.unlink(missing_ok=True)
        file_safety.protect(part)
        counted = _fill(part, source)
        with part.open("r+b") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except OSError as error:
        raise errors.StoreError(f"{target} cannot be written: {error.strerror}. Choose another place.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return Copied(target, target.stat().st_size, counted.notes, counted.episodes)


def _fill(part: Path, source: Path) -> "Counts":
    with translating(part), contextlib.closing(connect(part, "rw")) as db:
        # the file is new, is synced as a whole at the end, and is thrown away if anything goes wrong
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = MEMORY", "foreign_keys = OFF"):
            db.execute(f"PRAGMA {pragma}")
        db.executescript(schema_sql())
        db.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        db.execute("BEGIN")  # all of it as of one moment
        _take_over(db)
        db.execute("COMMIT")
        counted = Counts(*db.execute(_COUNTS).fetchone())
        db.execute("DETACH source")
    return counted


def _take_over(db: sqlite3.Connection) -> None:
    for table in KEPT:
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
        db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}")  # noqa: S608
    # Numbers are not given twice: an id that somebody wrote down means the same row for ever.
    db.execute("DELETE FROM main.sqlite_sequence")
    db.execute("INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence")


def _number(db: sqlite3.Connection, sql: str) -> int:
    return int(db.execute(sql).fetchone()[0])


def check(path: Path) -> None:
    """See that a file is a whole memory of ours. Raises StoreError, StoreForeign."""
    if not path.is_file():
        raise errors.InputError(f"There is no file {path}.")
    with reading_beside(path) as db:
        if not file_safety.may_be_ours(path):
            raise errors.StoreForeign(f"{path} is not a ForgetMeNot memory. Nothing was changed.")
        refuse_foreign(path, _number(db, "PRAGMA application_id"), _number(db, "PRAGMA user_version"))
        if _has_strange_parts(db):
            raise errors.StoreForeign(f"{path} was changed by another program. Nothing was changed.")
        # SQLite gives no number twice: where they are used up, no more rows could be added
        used_up = f"SELECT 1 FROM sqlite_sequence WHERE typeof(seq) <> 'integer' OR seq > {HIGHEST}"  # noqa: S608
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok" or db.execute(used_up).fetchone():
            raise errors.StoreForeign(f"{path} is damaged. Nothing was changed; try another backup.")


def _has_strange_parts(db: sqlite3.Connection) -> bool:
    """Whether it holds what is run when it is read, and is not ours word for word."""
    ours = schema_sql()
    for kind, name, sql in db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master"):
        # a copy from elsewhere may be made to run SQL of its own when it is opened
        if kind == "view" or (kind == "trigger" and sql not in ours):
            return True
        if kind == "table" and sql.upper().startswith("CREATE VIRTUAL") and sql not in ours:
            return True
        if kind == "table" and db.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden > 1", (name,)).fetchone():
            return True
    return False


def duplicate(path: Path, target: Path) -> None:
    """The file as it is, with what its write-ahead log holds. Raises StoreError."""
    file_safety.protect(target)
    with reading_beside(path) as old, contextlib.closing(connect(target, "rw")) as new:
        old.backup(new)


# The size of the memory is kept in a file beside it. A memory that was emptied or damaged since the last run is not
# used, and replaces no backup, until a person decides.


FEWEST = 10
"""Below this number of notes, summaries and people a loss cannot be detected."""


class Counts(msgspec.Struct, frozen=True):
    """How much a memory holds."""

    notes: int = 0
    episodes: int = 0
    viewers: int = 0

    def lacks(self, before: "Counts") -> bool:
        """Whether more than half of what there was is gone."""
        pairs = ((self.notes, before.notes), (self.episodes, before.episodes), (self.viewers, before.viewers))
        return any(then >= FEWEST and 2 * now < then for now, then in pairs)

    def __str__(self) -> str:
        return f"{self.notes} notes, {self.episodes} summaries and {self.viewers} people"


_COUNTS = (
    "SELECT (SELECT count(*) FROM semantic_notes), (SELECT count(*) FROM episodes), (SELECT count(*) FROM viewers)"
)


def counts_file(database: Path) -> Path:
    """Where the numbers of the last run lie."""
    return database.with_name(f"{database.name}.counts")


def last_counts(database: Path) -> Counts | None:
    """How much the memory held when that was last written down; None where nobody knows. Raises StoreError."""
    try:
        return msgspec.json.decode(counts_file(database).read_bytes(), type=Counts)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    except OSError as error:
        raise file_safety.cannot_open(counts_file(database), error) from error


async def counts(source: Source) -> Counts:
    """How much a memory holds now."""
    return Counts(*(await source.rows(_COUNTS))[0])


def write_counts(database: Path, found: Counts) -> None:
    """Write down how much the memory holds, if that is news. Raises StoreError."""
    file = counts_file(database)
    try:
        if last_counts(database) == found:
            return
        part = file.with_name(f"{file.name}.part")
        write_own(part, msgspec.json.encode(found), os.O_TRUNC)
        part.replace(file)
    except OSError as error:
        raise file_safety.cannot_open(file, error) from error


async def check_start(db: Database) -> None:
    """See that the memory is whole and that nothing of the last run is missing. Raises StoreDamaged, StoreError."""
    if damage := await db.damage():
        raise _missing(db.path, f"{db.path} is damaged ({damage}).")
    lost = sorted({*KEPT, *LEFT_OUT} - {*await db.column("SELECT name FROM sqlite_master WHERE type = 'table'")})
    if lost:
        raise _missing(db.path, f"{db.path} lacks the tables {', '.join(lost)}.")
    before, now = await asyncio.to_thread(last_counts, db.path), await counts(db)
    if before is not None and now.lacks(before):
        way_out = f"If that is intended, delete {counts_file(db.path)} and start again."
        raise _missing(db.path, f"{db.path} held {before} at the last run, and now holds {now}.", way_out)


def _missing(database: Path, what: str, more: str = "") -> errors.StoreDamaged:
    best = best_copy(database)
    back = f"Restore the best backup with `forgetmenot memory restore {best}`." if best else "There is no backup."
    return errors.StoreDamaged(f"{what} Nothing was changed. {back} {more}".rstrip())


def best_copy(database: Path) -> Path | None:
    """The copy beside a memory that holds most; of equals the newest. One that cannot be read holds nothing."""
    held = [(counted.notes + counted.episodes, copy) for copy in copies_of(database) if (counted := counts_of(copy))]
    return max(held, default=(0, None))[1]


def counts_of(copy: Path) -> Counts | None:
    """How much a copy holds; None if it cannot be read."""
    try:
        with reading_beside(copy) as db:
            return Counts(*db.execute(_COUNTS).fetchone())
    except errors.StoreError:
        return None


def delete_old_copies(database: Path, newest: Path, keep: int) -> None:
    """Delete the copies above `keep`, but never the best one while the newest holds less than half of it."""
    best, made = best_copy(database), counts_of(newest)
    spared = best if best and (made is None or made.lacks(counts_of(best) or Counts())) else None
    for old in copies_of(database)[keep:]:
        if old != spared:
            with contextlib.suppress(OSError):  # the next one tries again
                old.unlink()
