"""`forgetmenot memory backup|restore`: a copy of the memory without chat, and the way back to one."""

import argparse
import sys
from pathlib import Path

from forgetmenot.cli.common import (
    Commands,
    add_action,
    database_path,
    emit,
    existing_database,
    run_async,
    say,
)

BACKUP_KEYS = """Holds notes, summaries, people and the channel: no chat, no replies, no log-in, and not the key that
makes hashes. Without PATH it goes into the folder `backups` beside the memory; PATH may be a folder or a new file.
JSON: {"path", "bytes", "notes", "episodes"}."""
RESTORE_KEYS = """Puts a backup in the memory's place; the bot must not be running. What people asked for since
(erasures, facts to be forgotten, opting out) is carried out again, as far as this machine noted it. What was there
before is saved among the backups. JSON: {"restored": true, "notes", "episodes", "erased", "forgotten", "opted_out",
"saved": path or null}; erased and opted_out count people, forgotten counts facts."""


def add_copies(actions: Commands) -> None:
    """Name the actions and their options."""
    making = add_action(actions, "backup", "copy the memory, without chat", BACKUP_KEYS)
    making.add_argument("path", type=Path, metavar="PATH", nargs="?", help="where to (default: beside the memory)")
    making.set_defaults(run=lambda arguments: run_async(_backup(arguments)))
    going_back = add_action(actions, "restore", "go back to a backup", RESTORE_KEYS)
    going_back.add_argument("path", type=Path, metavar="PATH", help="the backup")
    going_back.add_argument("--yes", action="store_true", help="do not ask")
    going_back.set_defaults(run=lambda arguments: run_async(_restore(arguments)))


async def _backup(arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory.copies import backups
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
    say(f"{made.notes} notes and {made.episodes} summaries are in {made.path}. Erasures made later are carried out")
    say("again when it is restored here; a copy that lies elsewhere still holds what was erased: delete old ones.")


def _target(chosen: Path, name: str) -> Path:
    from forgetmenot.errors import InputError

    target = chosen / name if chosen.is_dir() else chosen
    if target.exists():
        raise InputError(f"{target} is there already. Choose another name.")
    return target


async def _restore(arguments: argparse.Namespace) -> int:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory.copies import backups
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.lock import held

    path = database_path(arguments)
    if path.exists() and not arguments.yes and not await _confirmed(path):
        say("Nothing was changed.")
        return 1
    with held(path, "memory restore"):
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
        say(f"Carried out again: erasures {done.erased}, facts forgotten {done.forgotten}, opt-outs {done.opted_out}.")
    if done.saved is not None:
        say(f"What was there before is in {done.saved}.")
    return 0


async def _confirmed(path: Path) -> bool:
    import asyncio

    from forgetmenot.errors import InputError

    if not sys.stdin.isatty():
        raise InputError(f"This replaces the memory in {path}. Add --yes to do it without being asked.")
    say(f"This replaces the memory in {path}. Type yes to go on:")
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip().casefold() == "yes"
