"""`forgetmenot actions list|approve|deny|undo|enable|log`: what waits for a person, and what was done."""

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from forgetmenot.cli.common import Commands, add_action, emit, existing_database, number_from, run_async, say, show_line

if TYPE_CHECKING:
    from forgetmenot.store.action_logs import LoggedAction
    from forgetmenot.store.database import Database

BY = "the command line"
Run = Callable[[argparse.Namespace, "Database"], Awaitable[int]]
KEYS = """An action in JSON: id, at, name, class (A, B, C), status (denied, waiting, running, done, refused, failed,
unknown, expired, undone), verdict (allow, allow_changed, ask, deny), rule, reason, detail, asked_by and target (names
or null), params, decided_by, expires_at, revert_at. Times are ISO 8601, UTC."""


def add(subparsers: Commands) -> None:
    """Name the command and its options."""
    parser = subparsers.add_parser("actions", help="approve or refuse what the bot wants to do; see what it did")
    nouns = parser.add_subparsers(dest="actions_command", metavar="ACTION", required=True)
    _command(nouns, "list", "what waits for a person", 'JSON: {"actions": [action …]}. ' + KEYS, _list)
    log = _command(
        nouns, "log", "what was proposed and what became of it", 'JSON: {"actions": [action …]}. ' + KEYS, _log
    )
    log.add_argument("--limit", type=number_from(1), default=20, metavar="N", help="how many (default: 20)")
    for name, help_text, run in (
        ("approve", "let the bot do it", _approve),
        ("deny", "refuse it", _deny),
        ("undo", "have the bot take it back", _undo),
    ):
        one = _command(nouns, name, help_text, 'JSON: {"id", "ok", "line"}.', run)
        one.add_argument("id", type=number_from(1), metavar="ID", help="its number")
    enable = _command(
        nouns, "enable", "switch an action on again that failed too often", 'JSON: {"enabled": [names]}.', _enable
    )
    enable.add_argument("name", nargs="?", default="", metavar="NAME", help="its name (default: all of them)")


def _command(nouns: Commands, name: str, help_text: str, keys: str, run: Run) -> argparse.ArgumentParser:
    parser = add_action(nouns, name, help_text, keys)
    parser.set_defaults(run=lambda arguments: run_async(_with_database(arguments, run)))
    return parser


async def _with_database(arguments: argparse.Namespace, run: Run) -> int:
    from forgetmenot.store.database import open_database

    async with open_database(existing_database(arguments)) as db:
        return await run(arguments, db)


async def _list(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.store import action_logs

    return await _show(arguments, db, await action_logs.waiting(db, _now()), "Nothing waits for a person.")


async def _log(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.store import action_logs

    return await _show(arguments, db, await action_logs.latest(db, arguments.limit), "Nothing was proposed yet.")


async def _approve(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.store import action_logs

    async with db.write() as tx:
        ok = await action_logs.ask_for_approval(tx, arguments.id, by=BY, now=_now())
    done = _when(arguments, "the running bot does it", "it is done if one runs before it lapses")
    return _answer(arguments, f"is approved: {done}", "is not waiting.", ok=ok)


async def _deny(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.store import action_logs

    async with db.write() as tx:
        ok = await action_logs.refuse(tx, arguments.id, by=BY, rule="person", reason="A person refused it.", now=_now())
    return _answer(arguments, "is refused.", "is not waiting.", ok=ok)


async def _undo(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.actions.perform import undoable
    from forgetmenot.store import action_logs

    row = await action_logs.get(db, arguments.id)
    ok = False
    if row is not None and undoable(row, _now()) is not None:
        async with db.write() as tx:
            ok = await action_logs.ask_for_undo(tx, arguments.id, by=BY, now=_now())
    done = _when(arguments, "the running bot does it", "it is done when one runs next")
    return _answer(arguments, f"is to be taken back: {done}", "cannot be undone.", ok=ok)


async def _enable(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.actions.catalogue import find
    from forgetmenot.actions.switches import switch_on
    from forgetmenot.errors import InputError

    if arguments.name and find(arguments.name) is None:
        raise InputError(f"There is no action `{arguments.name}`. `forgetmenot policy table` names all of them.")
    names = await switch_on(db, arguments.name, _now())
    if arguments.json:
        emit({"enabled": names})
    else:
        say(f"Switched on again: {', '.join(names)}." if names else "Nothing was switched off after failures.")
    return 0


async def _show(arguments: argparse.Namespace, db: "Database", rows: "list[LoggedAction]", nothing: str) -> int:
    from forgetmenot.store import viewers

    names = await viewers.names(db, [one for row in rows for one in (row.asked_by, row.target_id) if one])
    if arguments.json:
        emit({"actions": [_json(row, names) for row in rows]})
        return 0
    for row in rows:
        show_line(_line(row, names))
    if not rows:
        say(nothing)
    return 0


def _json(row: "LoggedAction", names: dict[str, str]) -> dict[str, object]:
    from forgetmenot.clock import iso

    return {
        "id": row.id,
        "at": iso(row.at),
        "name": row.name,
        "class": row.kind,
        "status": row.status,
        "verdict": row.verdict,
        "rule": row.rule,
        "reason": row.reason,
        "detail": row.detail,
        "asked_by": names.get(row.asked_by or ""),
        "target": names.get(row.target_id or ""),
        "params": row.params,
        "decided_by": row.decided_by,
        "expires_at": iso(row.expires_at) if row.expires_at else None,
        "revert_at": iso(row.revert_at) if row.revert_at else None,
    }


def _line(row: "LoggedAction", names: dict[str, str]) -> str:
    from forgetmenot.clock import iso

    target = f" {names[row.target_id]}" if row.target_id in names else ""
    asked = f", asked by {names[row.asked_by]}" if row.asked_by in names else ""
    detail = f" ({row.detail})" if row.detail else ""
    return f"#{row.id}  {iso(row.at)}  {row.name}{target}: {row.status}{detail}; {row.rule}: {row.reason}{asked}"


def _when(arguments: argparse.Namespace, running: str, later: str) -> str:
    """Who does it, and when: by whether a bot holds this memory now."""
    from forgetmenot.store.lock import is_held

    if is_held(existing_database(arguments)):
        return f"{running} within a moment."
    return f"{later}. No bot is running on this memory now."


def _answer(arguments: argparse.Namespace, good: str, bad: str, *, ok: bool) -> int:
    line = f"#{arguments.id} {good if ok else bad}"
    if arguments.json:
        emit({"id": arguments.id, "ok": ok, "line": line})
    else:
        say(line)
    return 0 if ok else 1


def _now() -> int:
    from forgetmenot.clock import SystemClock

    return SystemClock().now()
