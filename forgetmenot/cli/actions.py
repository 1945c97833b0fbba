"""`forgetmenot actions list|approve|deny|undo|enable|log`: actions that wait for approval, and the log."""

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_action,
    done,
    emit,
    existing_database,
    number_from,
    opened,
    run_async,
    run_operation,
    say,
    show_line,
)

if TYPE_CHECKING:
    from forgetmenot.store.action_logs import LoggedAction
    from forgetmenot.store.database import Database

Run = Callable[[argparse.Namespace, "Database"], Awaitable[int]]
KEYS = """An action in JSON: id, at, name, class (A, B, C), status (denied, waiting, running, done, refused, failed,
unknown, expired, undone), verdict (allow, allow_changed, ask, deny), rule, reason, detail, asked_by and target (names
or null), params, decided_by, expires_at, revert_at. Times are ISO 8601, UTC."""


def add(subparsers: Commands) -> None:
    """Name the command and its options."""
    parser = subparsers.add_parser("actions", help="approve or deny what the bot wants to do; see what it did")
    nouns = parser.add_subparsers(dest="actions_command", metavar="ACTION", required=True)
    _command(nouns, "list", "what waits for approval", 'JSON: {"actions": [action …]}. ' + KEYS, _list)
    log = _command(nouns, "log", "what was proposed and what happened", 'JSON: {"actions": [action …]}. ' + KEYS, _log)
    log.add_argument("--limit", type=number_from(1), default=20, metavar="N", help="how many (default: 20)")
    for name, help_text in (("approve", "approve it"), ("deny", "deny it"), ("undo", "undo it")):
        one = _command(nouns, name, help_text, 'JSON: {"id", "ok", "line"}.', _decide)
        one.add_argument("id", type=number_from(1), metavar="ID", help="its number")
    enable = _command(
        nouns, "enable", "turn on an action that was paused after failures", 'JSON: {"enabled": [names]}.', _enable
    )
    enable.add_argument("name", nargs="?", default="", metavar="NAME", help="its name (default: all of them)")


def _command(nouns: Commands, name: str, help_text: str, keys: str, run: Run) -> argparse.ArgumentParser:
    parser = add_action(nouns, name, help_text, keys)
    parser.set_defaults(run=lambda arguments: run_async(_with_database(arguments, run)))
    return parser


async def _with_database(arguments: argparse.Namespace, run: Run) -> int:
    async with opened(arguments) as db:
        return await run(arguments, db)


async def _list(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.store import action_logs

    return await _show(arguments, db, await action_logs.waiting(db, _now()), "Nothing is waiting for approval.")


async def _log(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.store import action_logs

    return await _show(arguments, db, await action_logs.latest(db, arguments.limit), "Nothing has been proposed yet.")


async def _decide(arguments: argparse.Namespace, db: "Database") -> int:
    from forgetmenot.operations.wording import sentence

    result = await run_operation(db, arguments.actions_command, {"id": arguments.id})
    line = sentence(result) + _when(arguments, result.code)
    if arguments.json:
        emit({"id": arguments.id, "ok": result.ok, "line": line})
    else:
        say(line)
    return 0 if result.ok else 1


async def _enable(arguments: argparse.Namespace, db: "Database") -> int:
    result = await done(db, "enable", {"name": arguments.name})
    names = tuple(str(one) for one in result.data["names"]) if isinstance(result.data["names"], list) else ()
    if arguments.json:
        emit({"enabled": names})
    else:
        say(f"Turned on again: {', '.join(names)}." if names else "No action was paused after failures.")
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


def _when(arguments: argparse.Namespace, code: str) -> str:
    """Who carries out the decision, and when: depends on whether a bot is running on this memory."""
    from forgetmenot.store.file_safety import is_locked

    if code not in {"approval_noted", "undo_noted"}:
        return ""
    if is_locked(existing_database(arguments)):
        return ": the running bot does it in a moment."
    later = (
        "the bot does it if you start it before the approval expires"
        if code == "approval_noted"
        else "the bot does it at the next start"
    )
    return f": {later}. It is not running now."


def _now() -> int:
    from forgetmenot.clock import SystemClock

    return SystemClock().now()
