"""`forgetmenot viewer show|export|erase|optout|optin LOGIN`: the rights of one person, by the streamer's hand."""

import argparse
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_action,
    emit,
    existing_database,
    known_viewer,
    run_async,
    say,
    show_line,
)

if TYPE_CHECKING:
    from forgetmenot.store.database import Database

SHOW_KEYS = """JSON: {"id", "login", "display_name", "role", "first_seen_at", "last_seen_at", "opted_out", "banned",
"names": [former and present logins], "notes": [{"id", "fact", "source_kind"}], "held": {"events", "notes", "episodes",
"replies", "actions", "streams"}}. Times are ISO 8601, UTC."""
EXPORT_KEYS = """One JSON object with everything that is held: the person, and under each kind (names, streams, lines,
notes, notes_history, evidence, summaries, replies, actions …) its rows. Times are ISO 8601, UTC. --out names a
file to write it to; JSON then: {"path"}."""
ERASE_KEYS = """JSON: {"erased": true, "opted_out", "events", "notes", "actions", "rewritten": {table: rows},
"log_lines", "wiped", "ms"}. wiped is false while another program reads the file; the bot then finishes it by itself."""
OPT_KEYS = 'JSON: {"id", "opted_out"}.'

Action = Callable[["Database", str, argparse.Namespace], Awaitable[int | None]]


def add(subparsers: Commands) -> None:
    """Name the command and its options."""
    parser = subparsers.add_parser("viewer", help="show, hand over or erase what is held about one person")
    actions = parser.add_subparsers(dest="viewer_command", metavar="ACTION", required=True)
    _action(actions, "show", "what is held about a person", SHOW_KEYS, _show)
    export = _action(actions, "export", "everything held about a person, as one JSON file", EXPORT_KEYS, _export)
    export.add_argument("--out", type=Path, metavar="FILE", help="write it there instead of printing it")
    erase = _action(actions, "erase", "erase a person: no byte is left of them", ERASE_KEYS, _erase)
    erase.add_argument("--yes", action="store_true", help="do not ask")
    _action(actions, "optout", "store nothing of a person from now on", OPT_KEYS, _opt_out)
    _action(actions, "optin", "take that back", OPT_KEYS, _opt_in)


def _action(actions: Commands, name: str, words: str, keys: str, do: Action) -> argparse.ArgumentParser:
    parser = add_action(actions, name, words, keys)
    parser.add_argument("login", metavar="LOGIN", help="their present login, or their Twitch id")
    parser.set_defaults(run=lambda arguments: run_async(_run(do, arguments)))
    return parser


async def _run(do: Action, arguments: argparse.Namespace) -> int | None:
    from forgetmenot.store.database import open_database

    async with open_database(existing_database(arguments)) as db:
        return await do(db, await _whom(db, arguments), arguments)


async def _whom(db: "Database", arguments: argparse.Namespace) -> str:
    """The id of whom it is about; somebody who never spoke here may opt out, by a provisional one."""
    from forgetmenot.store import viewers
    from forgetmenot.text.logins import is_login, login_of
    from forgetmenot.text.mentions import provisional

    login = login_of(arguments.login)
    unseen = provisional(login)
    if arguments.viewer_command in {"optout", "optin"} and await viewers.find(db, arguments.login) is None:
        opts_out = arguments.viewer_command == "optout" and login and is_login(login) and not login.isdecimal()
        if opts_out or await viewers.find(db, unseen) is not None:
            return unseen
    return await known_viewer(db, arguments.login)


async def _show(db: "Database", viewer_id: str, arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.notes.beliefs import LIVE
    from forgetmenot.memory.notes.why import names_for
    from forgetmenot.store import dossier, erasure, notes
    from forgetmenot.text.mentions import show

    row = await dossier.person(db, viewer_id)
    live = await notes.of_subject(db, viewer_id, LIVE)
    names = await names_for(db, live)
    facts = [{"id": one.id, "fact": show(one.fact, names), "source_kind": one.source_kind.value} for one in live]
    held = (await erasure.held(db, viewer_id))._asdict()
    person = _dated(row) | {"opted_out": bool(row["opted_out_at"]), "banned": bool(row["banned_at"])}
    del person["opted_out_at"], person["banned_at"]
    if arguments.json:
        emit({**person, "names": await erasure.names_of(db, viewer_id), "notes": facts, "held": held})
        return
    out = ", opted out" if person["opted_out"] else ""
    show_line(f"{row['display_name'] or row['login'] or viewer_id} (id {viewer_id}, {row['role']}{out})")
    show_line(f"  seen {person['first_seen_at']} to {person['last_seen_at']}")
    show_line("  held: " + ", ".join(f"{count} {name}" for name, count in held.items()))
    for fact in facts:
        show_line(f"  #{fact['id']} {fact['fact']} ({fact['source_kind']})")


def _read(row: dict[str, object]) -> dict[str, object]:
    """A row with the lists that lie in it as JSON: in a file for people they are no text in quotation marks."""
    import msgspec

    lists = {"topics", "asked_with", "params_json"}
    return {key: msgspec.json.decode(str(value)) if key in lists else value for key, value in row.items()}


def _dated(row: dict[str, object]) -> dict[str, object]:
    """A row with its times readable."""
    from forgetmenot.clock import iso

    times = {"at", "until"}
    return {
        key: iso(value) if isinstance(value, int) and (key.endswith("_at") or key in times) else value
        for key, value in row.items()
    }


async def _export(db: "Database", viewer_id: str, arguments: argparse.Namespace) -> None:
    import msgspec

    from forgetmenot.errors import InputError
    from forgetmenot.store import dossier

    parts = await dossier.everything(db, viewer_id)
    dated = {name: [_dated(_read(row)) for row in rows] for name, rows in parts.items()}
    whole = {"person": _dated(await dossier.person(db, viewer_id)), **dated}
    text = msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
    if arguments.out is None:
        sys.stdout.write(text + "\n")
        return
    try:
        _write_for_one(arguments.out, text + "\n")
    except OSError as error:
        raise InputError(f"{arguments.out} cannot be written: {error.strerror}. Choose another file.") from error
    if arguments.json:
        emit({"path": str(arguments.out)})
    else:
        say(f"Written to {arguments.out}.")


def _write_for_one(path: Path, text: str) -> None:
    """Write a file that only its owner can read: all of it, or none. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".new")  # made with mode 0600
    fresh = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


async def _erase(db: "Database", viewer_id: str, arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from forgetmenot.clock import SystemClock
    from forgetmenot.memory.erasure import Eraser

    if not arguments.yes and not await _confirmed(arguments.login):
        say("Nothing was erased.")
        return 1
    report = await Eraser(db=db, clock=SystemClock()).erase(viewer_id, _progress)
    if arguments.json:
        emit({"erased": True, **asdict(report)})
        return 0
    rows = sum(report.rewritten.values())
    say(f"Erased: {report.notes} notes, {report.events} lines; {rows} texts rewritten, in {report.ms / 1_000:.1f} s.")
    if not report.wiped:
        say("Another program holds the file open; the bot finishes the last step by itself within minutes.")
    return 0


async def _confirmed(login: str) -> bool:
    import asyncio

    from forgetmenot.errors import InputError

    if not sys.stdin.isatty():
        raise InputError(f"This erases {login} for good. Add --yes to do it without being asked.")
    say(f"This erases everything about {login} and cannot be undone. Type the login again to go on:")
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip().casefold() == login.casefold()


def _progress(share: float, step: str) -> None:
    say(f"{share:4.0%} {step}")


async def _opt_out(db: "Database", viewer_id: str, arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.store import rights

    async with db.write() as tx:
        await rights.opt_out(tx, viewer_id, SystemClock().now())
    await db.wipe_deleted()
    _told(viewer_id, arguments, opted_out=True)


async def _opt_in(db: "Database", viewer_id: str, arguments: argparse.Namespace) -> None:
    from forgetmenot.store import rights

    async with db.write() as tx:
        await rights.opt_in(tx, viewer_id)
    _told(viewer_id, arguments, opted_out=False)


def _told(viewer_id: str, arguments: argparse.Namespace, *, opted_out: bool) -> None:
    if arguments.json:
        emit({"id": viewer_id, "opted_out": opted_out})
    else:
        say(f"Nothing {arguments.login} says is stored from now on." if opted_out else "They are remembered again.")
