"""`forgetmenot memory backup|restore|new-key`: copies of the memory without chat, and restoring them."""

import argparse
import sys
from pathlib import Path

from forgetmenot.cli.common import Commands, add_action, database_path, emit, existing_database, run_async, say

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


def add_copies(actions: Commands) -> None:
    """Name the actions and their options."""
    making = add_action(actions, "backup", "copy the memory, without chat", BACKUP_KEYS)
    making.add_argument("path", type=Path, metavar="PATH", nargs="?", help="where to (default: beside the memory)")
    making.set_defaults(run=lambda arguments: run_async(_backup(arguments)))
    going_back = add_action(actions, "restore", "restore a backup", RESTORE_KEYS)
    going_back.add_argument("path", type=Path, metavar="PATH", help="the backup")
    renewing = add_action(actions, "new-key", "go on without the key file, if it is lost", NEW_KEY_KEYS)
    renewing.set_defaults(run=lambda arguments: run_async(_new_key(arguments)))
    going_back.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    going_back.set_defaults(run=lambda arguments: run_async(_restore(arguments)))


async def _new_key(arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory import backups
    from forgetmenot.store.database import open_database
    from forgetmenot.store.file_safety import instance_lock

    path = existing_database(arguments)
    with instance_lock(path, "memory new-key"):
        async with open_database(path, any_key=True) as db:
            done = await backups.start_new_key(db, SystemClock().now())
    if arguments.json:
        emit(done._asdict())
        return
    say(f"A new key is in use. {done.opted_out} people stay opted out; {done.copies} copies were deleted.")
    say(f"Dropped, since nobody can read them: {done.forgotten} forgotten facts, {done.opted_out_unknown} opt-outs.")


async def _backup(arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory import backups
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.backup import kept
    from forgetmenot.store.database import open_database

    now = SystemClock().now()
    async with open_database(existing_database(arguments)) as db:
        if arguments.path is None:
            keep = max(Settings().privacy.keep_backups, len(kept(db.path)) + 1)  # what was asked for stays
            made = await backups.make(db, at=now, keep=keep)
        else:
            made = await backups.copy_to(db, _target(arguments.path, backups.name_of(db.path, now)))
    if arguments.json:
        emit({"path": str(made.path), "bytes": made.size, "notes": made.notes, "episodes": made.episodes})
        return
    say(f"{made.notes} notes and {made.episodes} summaries are in {made.path}. Later erasures are carried out")
    say("again when it is restored here. Copies kept elsewhere still contain erased data: delete old ones.")


def _target(chosen: Path, name: str) -> Path:
    from forgetmenot.errors import InputError

    target = chosen / name if chosen.is_dir() else chosen
    if target.exists():
        raise InputError(f"{target} already exists. Choose another name.")
    return target


async def _restore(arguments: argparse.Namespace) -> int:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory import backups
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.file_safety import instance_lock

    path = database_path(arguments)
    if path.exists() and not arguments.yes and not await _confirmed(path):
        say("Nothing was changed.")
        return 1
    with instance_lock(path, "memory restore"):
        keep = Settings().privacy.keep_backups
        done = await backups.restore(arguments.path, path, now=SystemClock().now(), keep=keep)
    if arguments.json:
        emit(
            {
                "restored": True,
                "notes": done.notes,
                "episodes": done.episodes,
                "erased": done.erased,
                "forgotten": done.forgotten,
                "opted_out": done.opted_out,
                "saved": str(done.saved) if done.saved else None,
            }
        )
        return 0
    say(f"Restored: {done.notes} notes and {done.episodes} summaries, without chat.")
    if done.erased or done.forgotten or done.opted_out:
        say(f"Done again: erasures {done.erased}, facts forgotten {done.forgotten}, opt-outs {done.opted_out}.")
    if done.saved is not None:
        say(f"The previous memory is saved in {done.saved}.")
    return 0


async def _confirmed(path: Path) -> bool:
    import asyncio

    from forgetmenot.errors import InputError

    if not sys.stdin.isatty():
        raise InputError(f"This replaces the memory in {path}. Add --yes to skip this question.")
    say(f"This replaces the memory in {path}. Type yes to continue:")
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip().casefold() == "yes"
