"""A copy of the memory without chat: built from the tables that may be kept, never by taking something out.

Promises that no byte of a raw message, of the bot's replies or of a log of actions gets into a copy, not even for a
moment, since only the tables in `KEPT` are read (a test compares them and `LEFT_OUT` with the schema); that a copy is
whole or not there; and that only its owner can read it. Tokens and the key of hashes are not in the database at all.
"""

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forgetmenot import errors
from forgetmenot.folders import make_own
from forgetmenot.store import file_safety, ledger
from forgetmenot.store.database import BUSY_TIMEOUT_S, Source
from forgetmenot.store.file_safety import APPLICATION_ID
from forgetmenot.store.keyed import HashKey
from forgetmenot.store.migrations import LATEST, MIGRATIONS, schema_sql
from forgetmenot.store.translate import translating

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
    "calibration",
)
LEFT_OUT = {
    "events": "raw chat",
    "pending_redactions": "clears of raw chat",
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
ASKED = "backup_asked"
"""The name in channel_state of where the ledger ended when a copy was made."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds."""

    path: Path
    size: int
    notes: int
    episodes: int


def kept(database: Path) -> list[Path]:
    """The copies beside a memory, newest first; none of another memory in the same folder."""
    name = re.compile(re.escape(database.stem) + r"-\d{8}-\d{6}-\d{3}\.sqlite3")
    folder = database.parent / FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted((file for file in found if name.fullmatch(file.name)), reverse=True)


def drop(database: Path) -> int:
    """Delete the copies beside a memory, unfinished ones too; how many there were. Raises StoreError."""
    gone = kept(database)
    try:
        for file in [*gone, *(database.parent / FOLDER).glob(f"{database.stem}-*.part")]:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise errors.StoreError(f"{error.filename} cannot be deleted: {error.strerror}. Delete it by hand.") from error
    return len(gone)


def copy(source: Path, target: Path, key: HashKey | None) -> Copied:
    """Write a copy of `source` to `target`, which is replaced. Takes seconds for a large memory: not for the loop.

    `key`: the hash key of a memory in use, whose ledger position is noted; None for a copy of a copy, which has one.
    Raises StoreError.
    """
    part = target.with_name(target.name + ".part")
    try:
        make_own(target.parent)
        part.unlink(missing_ok=True)
        file_safety.protect(part)
        counts = _fill(part, source, key)
        _to_disk(part)
        part.replace(target)
    except OSError as error:
        raise errors.StoreError(f"{target} cannot be written: {error.strerror}. Choose another place.") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    return Copied(target, target.stat().st_size, *counts)


def _fill(part: Path, source: Path, key: HashKey | None) -> tuple[int, int]:
    with translating(part), contextlib.closing(_connect(part)) as db:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "temp_store = MEMORY", "foreign_keys = OFF"):
            db.execute(f"PRAGMA {pragma}")
        db.executescript(schema_sql())
        db.execute(f"PRAGMA user_version = {LATEST}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        with _one_moment(db, source, key) as asked:
            _take_over(db)
            if asked is not None:
                db.execute("INSERT OR REPLACE INTO channel_state VALUES (?, ?, 0)", (ASKED, asked))
        notes, episodes = (_number(db, f"SELECT count(*) FROM {name}") for name in ("semantic_notes", "episodes"))  # noqa: S608
        db.execute("DETACH source")
    return notes, episodes


def _take_over(db: sqlite3.Connection) -> None:
    for table in KEPT:
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
        db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}")  # noqa: S608
    # Numbers are not given twice: an id that somebody wrote down means the same row for ever.
    db.execute("DELETE FROM main.sqlite_sequence")
    db.execute("INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence")
    db.execute("INSERT INTO main.episodes_fts (episodes_fts) VALUES ('optimize')")


async def size(source: Source) -> tuple[int, int]:
    """How many notes and episodes a memory holds."""
    row = await source.row("SELECT (SELECT count(*) FROM semantic_notes), (SELECT count(*) FROM episodes)")
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S
    )


@contextlib.contextmanager
def _one_moment(db: sqlite3.Connection, source: Path, key: HashKey | None) -> Iterator[str | None]:
    """A transaction that sees the source as it was when the ledger ended there."""
    asked = None
    if key is None:
        _begin(db)
    else:
        with contextlib.closing(_connect(source)) as writer:  # nobody writes between the count and the first read
            writer.execute("BEGIN IMMEDIATE")
            asked = ledger.mark(ledger.path_of(key))
            _begin(db)
            writer.rollback()
    yield asked
    db.execute("COMMIT")


def _begin(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM source.channel_state").fetchone()


def _number(db: sqlite3.Connection, sql: str) -> int:
    return int(db.execute(sql).fetchone()[0])


def _to_disk(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def check(path: Path) -> None:
    """See that a file is a whole memory of ours. Raises StoreError, StoreForeign."""
    if not path.is_file():
        raise errors.InputError(f"There is no file {path}.")
    with (
        translating(path),
        contextlib.closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as db,
    ):
        if not file_safety.may_be_ours(path) or _number(db, "PRAGMA application_id") != APPLICATION_ID:
            raise errors.StoreForeign(f"{path} is no memory of ForgetMeNot. Nothing was changed.")
        version = _number(db, "PRAGMA user_version")
        if version > LATEST:
            raise errors.StoreForeign(
                f"{path} was written by a newer ForgetMeNot (schema {version}, this knows {LATEST}). Update this one."
            )
        if version < 1 or _has_strange_parts(db):
            raise errors.StoreForeign(f"{path} was not made by ForgetMeNot alone. Nothing was changed.")
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok" or _are_numbers_used_up(db):
            raise errors.StoreForeign(f"{path} is damaged. Nothing was changed; try another backup.")


def _has_strange_parts(db: sqlite3.Connection) -> bool:
    """Whether it holds what is run when it is read or brought to a newer schema, and is not ours word for word."""
    ours = "\n".join([schema_sql(), *(sql for _, sql in MIGRATIONS)])
    for kind, name, sql in db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master"):
        if kind == "view" or (kind == "trigger" and sql not in ours):
            return True
        if kind == "table" and sql.upper().startswith("CREATE VIRTUAL") and sql not in ours:
            return True
        if kind == "table" and db.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden > 1", (name,)).fetchone():
            return True
    return False


def _are_numbers_used_up(db: sqlite3.Connection) -> bool:
    """Whether no more rows could be added: SQLite gives no number twice."""
    found = db.execute("SELECT 1 FROM sqlite_sequence WHERE typeof(seq) <> 'integer' OR seq > ?", (HIGHEST,))
    return found.fetchone() is not None


def is_newest(path: Path) -> bool:
    """Whether a memory has the newest schema. Raises StoreError."""
    with translating(path), contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
        return _number(db, "PRAGMA user_version") == LATEST


def duplicate(path: Path, target: Path) -> None:
    """The file as it is, with what its write-ahead log holds. Raises StoreError."""
    file_safety.protect(target)
    with (
        translating(path),
        contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as old,
        contextlib.closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)
