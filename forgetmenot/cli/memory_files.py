"""`forgetmenot memory import|export|backup|restore|new-key`: the memory's ways in and out as files."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_command,
    confirmed,
    database_path,
    emit,
    existing_database,
    known_viewer,
    on_memory,
    picked,
    report,
    run_async,
    say,
    text_lines,
    time_of,
)
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:
    from forgetmenot.store.database import Database

IMPORT_KEYS = """FILE holds JSON lines (- reads standard input): {"id"?, "scope"?, "viewer", "fact", "confidence"?,
"observed_at"?, "topics"?, "persona"?, "episode"?: {"key", "summary"}}. viewer is a login or a Twitch id (none for
scope channel and running_bit); a login nobody has seen yet is joined to its id when it first speaks. observed_at is ISO
8601, UTC without a zone. An id that another note has gets a new one; the old is kept as its external id.
Lines with the same episode key share that episode as evidence.
Also taken over as `export` prints them: "login" (of a new id, if nobody has it here), "status", "source_kind" (else
import), "importance", "asked_with", "expires_at" (else permanent), "superseded_by", "pinned". Refused are facts that
were forgotten here, and people who were erased or opted out.
A line {"stream", "ended_at", "twitch_id", "title", "category", "visits": [[viewer, login, first, last, lines]]} is a
past stream with who came to it; times in ms.
--from reads the notes of the original bot's database (schema 1 to 4) instead; what its tables lack is named,
and each row with a text that is not UTF-8, which is left out (exit code 1).
JSON: {"imported", "merged", "episodes", "viewers", "streams", "refused": [{"line", "reason"}]}."""
EXPORT_KEYS = """One JSON object per line, as import takes it: {"id", "scope", "viewer" (its id), "login", "fact",
"confidence", "observed_at", "topics", "status", "source_kind", "importance", "asked_with", "expires_at" (null:
permanent), "superseded_by", "pinned", "persona" (if it is one's own), "episode": {"key", "summary"}}. People in texts
stand as <@id>. Then a line for each stream to which somebody came. Only active notes unless --status says otherwise; no
chat is in it, and, unless --viewer names them, nobody who opted out or was banned."""
REFUSED_SHOWN = 20
BACKUP_KEYS = """Holds notes, summaries, people and the channel: no chat, no replies, no log-in, and not the key that
makes hashes. Without PATH the copy goes into the folder `backups` beside the memory; PATH may be a folder or a
new file.
JSON: {"path", "bytes", "notes", "episodes"}."""
RESTORE_KEYS = """Replaces the memory with a backup; the bot must not be running. What people asked for since
(erasures, facts to be forgotten, opt-outs) is carried out again, as far as this machine recorded it. The previous
memory is saved among the backups. JSON: {"restored": true, "notes", "episodes", "erased", "forgotten", "opted_out",
"saved": path or null}; erased and opted_out count people, forgotten counts facts."""
NEW_KEY_KEYS = """Opt-outs of people in the memory stay. Facts to be forgotten, opt-outs of people who were erased
and the copies beside the memory are dropped. JSON: {"opted_out", "forgotten", "opted_out_unknown", "copies"}."""


def add(actions: Commands) -> None:
    """Name the actions and their options."""
    importing = add_command(actions, "import", "import notes from JSON lines", _import, keys=IMPORT_KEYS)
    importing.add_argument("file", metavar="FILE", nargs="?", default="-", help="the notes (default: standard input)")
    importing.add_argument("--from", dest="original", type=Path, metavar="FILE.db", help="the original bot's database")
    importing.add_argument("--merge", action="store_true", help="confirm or replace existing notes")
    importing.add_argument("--dry-run", action="store_true", help="only say what would come in")
    importing.add_argument("--unfiltered", action="store_true", help="skip the filter for sensitive facts")
    add_filters(add_command(actions, "export", "print notes as JSON lines", on_memory(_export), keys=EXPORT_KEYS))
    backup = add_command(actions, "backup", "copy the memory, without chat", _backup, keys=BACKUP_KEYS)
    backup.add_argument("path", type=Path, metavar="PATH", nargs="?", help="where to (default: beside the memory)")
    restore = add_command(actions, "restore", "restore a backup", _restore, keys=RESTORE_KEYS)
    restore.add_argument("path", type=Path, metavar="PATH", help="the backup")
    restore.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    add_command(actions, "new-key", "go on without the key file, if it is lost", _new_key, keys=NEW_KEY_KEYS)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Which notes."""
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (login or id)")
    parser.add_argument("--status", default="active", help="active (default), stale, expired, … or all")


def status_of(arguments: argparse.Namespace) -> str | None:
    """The status that `--status` names; None for all. Raises InputError."""
    from forgetmenot.domain.memory import NoteStatus

    status: str = arguments.status
    if status != "all" and status not in list(NoteStatus):
        raise InputError(f"There is no status {status}. Use one of: {', '.join(NoteStatus)}, all.")
    return None if status == "all" else status


async def _import(arguments: argparse.Namespace) -> int:
    from forgetmenot.memory.transfer import import_notes
    from forgetmenot.store.original_bot import read_original

    opened: AbstractContextManager[Iterable[str]] = text_lines(arguments.file)
    unreadable: tuple[str, ...] = ()
    if arguments.original is not None:
        original = await asyncio.to_thread(read_original, arguments.original)
        missing = f" Not there: {', '.join(original.missing)}." if original.missing else ""
        say(f"{arguments.original}: schema {original.version}, {len(original.lines)} notes.{missing}")
        opened, unreadable = nullcontext(original.lines), original.unreadable
        for row in unreadable:
            say(f"{row} is left out: a text of it is not UTF-8.")
    with opened as lines:
        async with _import_into(database_path(arguments)) as db:
            result = await import_notes(
                db,
                lines,
                now=time_of("now", None),
                merge=arguments.merge,
                filtered=not arguments.unfiltered,
                dry_run=arguments.dry_run,
            )
    for refused in result.refused[:REFUSED_SHOWN] if not arguments.json else ():
        say(f"line {refused.line}: {refused.reason}")
    if arguments.json:
        counts = picked(result, "imported merged episodes viewers streams")
        emit({**counts, "refused": [refused._asdict() for refused in result.refused]})
    else:
        if (more := len(result.refused) - REFUSED_SHOWN) > 0:
            say(f"… and {more} more; --json prints all.")
        if arguments.dry_run:
            say("Nothing was changed. This is what would come in:")
        say(
            f"{result.imported} notes imported, {result.merged} merged, {result.streams} streams,"
            f" {result.viewers} new viewers, {len(result.refused)} lines refused."
        )
    if result.refused and not result.imported + result.merged + result.streams:
        file = arguments.original or arguments.file
        raise InputError(f"None of the {len(result.refused)} lines of {file} could be used. Nothing changed.")
    return int(bool(unreadable))


@asynccontextmanager
async def _import_into(path: Path) -> "AsyncIterator[Database]":
    """The memory to import into. A new one that stays empty is deleted again."""
    from forgetmenot.store.backup import Counts, counts
    from forgetmenot.store.database import open_database

    new, new_folder, others = not path.exists(), not path.parent.exists(), set(path.parent.glob("*"))
    stays = True
    try:
        async with open_database(path) as db:
            try:
                yield db
            finally:
                stays = not new or await counts(db) != Counts()
    finally:
        if not stays:
            for made in set(path.parent.glob(f"{path.name}*")) - others:
                made.unlink()
            if new_folder:
                path.parent.rmdir()


async def _export(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.transfer import export_notes

    subject = await known_viewer(db, arguments.viewer) if arguments.viewer is not None else None
    async for line in export_notes(db, subject_id=subject, status=status_of(arguments)):
        emit(line)


async def _new_key(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory import backups
    from forgetmenot.store.database import open_database
    from forgetmenot.store.file_safety import instance_lock

    path = existing_database(arguments)
    with instance_lock(path, "memory new-key"):
        async with open_database(path, any_key=True) as db:
            done = await backups.start_new_key(db, time_of("now", None))
    report(
        arguments,
        done._asdict(),
        f"A new key is in use. {done.opted_out} people stay opted out; {done.copies} copies were deleted.",
        f"Dropped, since nobody can read them: {done.forgotten} forgotten facts, {done.opted_out_unknown} opt-outs.",
    )


async def _backup(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory import backups
    from forgetmenot.store.backup import copies_of
    from forgetmenot.store.database import open_database

    now = time_of("now", None)
    async with open_database(existing_database(arguments)) as db:
        if arguments.path is None:
            keep = max(Settings().privacy.keep_backups, len(copies_of(db.path)) + 1)  # what was asked for stays
            made = await backups.make(db, at=now, keep=keep)
        else:
            made = await backups.copy_to(db, _target(arguments.path, backups.name_of(db.path, now)))
    report(
        arguments,
        {"path": str(made.path), "bytes": made.size, "notes": made.notes, "episodes": made.episodes},
        f"{made.notes} notes and {made.episodes} summaries are in {made.path}. Later erasures are carried out",
        "again when it is restored here. Copies kept elsewhere still contain erased data: delete old ones.",
    )


def _target(chosen: Path, name: str) -> Path:
    target = chosen / name if chosen.is_dir() else chosen
    if target.exists():
        raise InputError(f"{target} already exists. Choose another name.")
    return target


def _restore(arguments: argparse.Namespace) -> int:
    path = database_path(arguments)
    if path.exists() and not arguments.yes and not confirmed(f"This replaces the memory in {path}."):
        say("Nothing was changed.")
        return 1
    return run_async(_restore_now(arguments, path))


async def _restore_now(arguments: argparse.Namespace, path: Path) -> None:
    from forgetmenot.memory import backups
    from forgetmenot.store.file_safety import instance_lock

    with instance_lock(path, "memory restore"):
        keep = Settings().privacy.keep_backups
        done = await backups.restore(arguments.path, path, now=time_of("now", None), keep=keep)
    if arguments.json:
        counts = picked(done, "notes episodes erased forgotten opted_out")
        emit({"restored": True, **counts, "saved": str(done.saved) if done.saved else None})
        return
    say(f"Restored: {done.notes} notes and {done.episodes} summaries, without chat.")
    if done.erased or done.forgotten or done.opted_out:
        say(f"Done again: erasures {done.erased}, facts forgotten {done.forgotten}, opt-outs {done.opted_out}.")
    if done.saved is not None:
        say(f"The previous memory is saved in {done.saved}.")
