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
from collections.abc import Sequence
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
    "viewers", "viewer_names", "name_words", "streams", "attendance", "episodes", "episode_people",
    "semantic_notes", "note_evidence", "note_changes", "nicknames", "note_words", "never_mention", "channel_state",
    "spending", "minutes", "moments", "reply_weeks",
)  # fmt: skip
FOLDER = "backups"


class Copied(Struct, frozen=True):
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


def delete_copies(database: Path, copies: Sequence[Path] | None = None) -> int:
    """Delete these copies beside a memory (None: all), and unfinished ones; how many there were. Raises StoreError."""
    gone = copies_of(database) if copies is None else copies
    try:
        for file in [*gone, *leftovers(database)]:
            files.delete(file)
    except OSError as error:
        raise errors.StoreError(
            f"{error.filename} cannot be deleted: {error.strerror}. Delete it yourself."
        ) from error
    return len(gone)


def files_put_aside(database: Path) -> list[Path]:
    """What another program put in the memory's place, and has no backup yet."""
    name = re.compile(re.escape(database.name + ASIDE) + r"\d+")
    return sorted(file for file in database.parent.iterdir() if name.fullmatch(file.name))


def leftovers(database: Path) -> list[Path]:
    """What a crash left of a restore, a copy or a file half written. They are deleted at each start and erasure."""
    folder, name = database.parent, database.name
    patterns = (
        f"{FOLDER}/{database.stem}-*.part",
        f"{name}.restoring*",
        f"{name}.*.part",
        ".*.new",
        "login/.*.new",
    )
    return [file for pattern in patterns for file in folder.glob(pattern)]


def copy(source: Path, target: Path) -> Copied:
    """Write a copy of `source` to `target`, which is replaced. Takes seconds for a large memory: not for the loop.

    Raises StoreError.
    """
    part = target.with_name(target.name + ".part")
    try:
        make_own(target.parent)
        part.unlink(missing_ok=True)
        files.protect(part)
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
    with kept_open(source), connected(part, "rw") as db:
        # the file is new, is synced as a whole at the end, and is thrown away if anything goes wrong
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
        # the rows are copied as they are: nothing is derived from them a second time
        for name, _sql in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.execute("ATTACH ? AS source", (f"{source.absolute().as_uri()}?mode=ro",))
        db.execute("BEGIN")  # all of it as of one moment
        for table in KEPT:
            columns = ", ".join(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))
            db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM source.{table}")
        db.execute("DELETE FROM main.channel_state WHERE name = ?", (CARRIED_OUT,))
        # Numbers are not given twice: an id that somebody wrote down means the same row for ever.
        db.execute("DELETE FROM main.sqlite_sequence")
        db.execute("INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence")
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


def check(path: Path) -> None:
    """See that a file is a whole memory of ours. Raises InputError, StoreError."""
    if not path.is_file():
        raise errors.InputError(f"There is no file {path}.")
    if not files.may_be_ours(path):
        raise errors.StoreForeign(f"{path} is not a ForgetMeNot memory. Nothing was changed.")
    with separate_reader(path) as db:
        marks = (
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        refuse_foreign(path, *marks)
        tables = {
            row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if not tables.issuperset(KEPT):
            raise errors.StoreForeign(
                f"{path} was changed by another program. Nothing was changed."
            )
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise errors.StoreForeign(
                f"{path} is damaged. Nothing was changed; try another backup."
            )


# A memory that was emptied or damaged since the newest copy is not used until a person decides.


# Below this number of notes, summaries and people a loss cannot be detected.
FEWEST = 10
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
        """Whether more than half of what there was is gone."""
        return any(
            then >= FEWEST and 2 * now < then for now, then in zip(self, before, strict=True)
        )

    def __str__(self) -> str:
        return f"{self.notes} notes, {self.episodes} summaries and {self.viewers} people"


async def counts(source: Source) -> Counts:
    """How much a memory holds now."""
    return Counts(*(await source.rows(_COUNTS))[0])


async def check_start(db: Database) -> None:
    """See that the memory is whole and holds what its newest copy holds. Raises StoreDamaged, StoreError."""
    newest = next(iter(copies_of(db.path)), None)
    back = (
        f"Restore the newest backup with `forgetmenot memory restore {quoted(newest)}`."
        if newest
        else "There is no backup."
    )
    if damage := await db.damage():
        raise errors.StoreDamaged(f"{db.path} is damaged ({damage}). Nothing was changed. {back}")
    before, now = (
        await asyncio.to_thread(_counts_of, newest) if newest else Counts(),
        await counts(db),
    )
    if now.lacks(before):
        raise errors.StoreDamaged(
            f"{db.path} held {before} at its last backup, and now holds {now}. Nothing was changed. {back}"
            f" If that is intended, move {newest} to another folder and start again."
        )


def _counts_of(copy: Path) -> Counts:
    """How much a copy holds; one that cannot be read holds nothing."""
    with contextlib.suppress(errors.StoreError), separate_reader(copy) as db:
        return Counts(*db.execute(_COUNTS).fetchone())
    return Counts()


def delete_old_copies(database: Path, keep: int) -> None:
    """Delete the copies above `keep`. One stays: the newest of which the newest copy of all lacks more than half.

    Else a memory that was emptied while it ran would push its last good copy out within days.
    """
    copies = copies_of(database)
    kept, older = copies[:keep], copies[keep:]
    newest = _counts_of(kept[0]) if older else Counts()
    spared = next((one for one in older if newest.lacks(_counts_of(one))), None)
    if spared is not None:
        log.warning(
            "an old backup is kept: more than half of it is no longer there", backup=spared.name
        )
    for one in older:
        if one != spared:
            with contextlib.suppress(OSError):  # the next one tries again
                one.unlink()
