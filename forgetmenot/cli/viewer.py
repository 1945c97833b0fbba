"""`forgetmenot viewer show|export|erase|optout|optin LOGIN`: data and rights of one viewer."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forgetmenot.cli import common

if TYPE_CHECKING:
    from forgetmenot.store.database import Database

SHOW_KEYS = """JSON: {"id", "login", "display_name", "role", "first_seen_at", "last_seen_at", "opted_out", "banned",
"names": [former and present logins], "notes": [{"id", "fact", "source_kind"}], "brief", "streams": [{"at", "text"}]
(what they did in their last streams), "held": {"events", "notes", "episodes", "replies", "actions", "streams"}}.
Times are ISO 8601, UTC."""
EXPORT_KEYS = """One JSON object with everything that is held: the person, and under each kind (names, streams, lines,
notes, notes_history, evidence, summaries, replies, actions …) its rows. Times are ISO 8601, UTC. --out names a
file to write it to; JSON then: {"path"}."""
ERASE_KEYS = """JSON: {"erased": true, "opted_out", "events", "notes", "actions", "rewritten": {table: rows},
"log_lines", "wiped", "files", "bytes", "places": {file: times}, "found", "ms"}; files and bytes were searched for
them afterwards. wiped is false while another program reads the file; the bot then finishes it by itself."""
OPT_KEYS = 'JSON: {"id", "opted_out"}.'


def add(subparsers: common.Commands) -> None:
    """Name the command and its options."""
    actions = common.add_actions(subparsers, "viewer", "show, export or erase what is stored about one viewer")
    common.add_command(actions, "show", common.on_memory(_show), keys=SHOW_KEYS)
    export = common.add_command(actions, "export", common.on_memory(_export), keys=EXPORT_KEYS)
    export.add_argument("--out", type=Path, metavar="FILE", help="write to this file instead of printing")
    erase = common.add_command(actions, "erase", _erase, keys=ERASE_KEYS)
    erase.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    for operation, about in (
        ("opt_out", "store nothing about a viewer from now on"),
        ("opt_in", "remember a viewer again"),
    ):
        opting = common.add_command(actions, operation.replace("_", ""), common.on_memory(_opt), about, keys=OPT_KEYS)
        opting.set_defaults(operation=operation)
    for parser in actions.choices.values():
        parser.add_argument("login", metavar="LOGIN", help="their current login or Twitch ID")


async def _show(db: "Database", arguments: argparse.Namespace) -> None:
    """Show what is stored about a viewer."""
    from forgetmenot.memory.briefs import about_viewer
    from forgetmenot.memory.notes.note_merge import LIVE
    from forgetmenot.memory.notes.provenance import names_for
    from forgetmenot.store import notes, personal_data
    from forgetmenot.text.mentions import show

    viewer_id = await common.known_viewer(db, arguments.login)
    row = await personal_data.export_person(db, viewer_id)
    live = await notes.of_subject(db, viewer_id, LIVE)
    names = await names_for(db, live)
    facts = [{"id": note.id, "fact": show(note.fact, names), "source_kind": note.source_kind.value} for note in live]
    brief, parts = await about_viewer(db, viewer_id)
    parts = [common.dated(part) for part in parts]
    held = await personal_data.count_rows(db, viewer_id)
    person = common.dated(row) | {"opted_out": bool(row["opted_out_at"]), "banned": bool(row["banned_at"])}
    del person["opted_out_at"], person["banned_at"]
    known = {"names": await personal_data.names_of(db, viewer_id), "notes": facts, "brief": brief, "streams": parts}
    out = ", opted out" if person["opted_out"] else ""
    lines = [
        f"{row['display_name'] or row['login'] or viewer_id} (id {viewer_id}, {row['role']}{out})",
        f"  seen {person['first_seen_at']} to {person['last_seen_at']}",
        "  held: " + ", ".join(f"{count} {name}" for name, count in held.items()),
        *(f"  #{fact['id']} {fact['fact']} ({fact['source_kind']})" for fact in facts),
        *([f"  in short: {brief}"] if brief else []),
        *(f"  stream of {part['at']}: {part['text']}" for part in parts),
    ]
    common.report(arguments, {**person, **known, "held": held}, *lines, to=common.show_line)


def _read(row: dict[str, object]) -> dict[str, object]:
    """A row with its JSON columns parsed, so that an export holds lists instead of quoted text."""
    import msgspec

    lists = {"topics", "asked_with", "params_json"}
    return {key: msgspec.json.decode(str(value)) if key in lists else value for key, value in row.items()}


async def _export(db: "Database", arguments: argparse.Namespace) -> None:
    """Everything stored about a viewer, as one JSON file."""
    import msgspec

    parts: dict[str, Any] = dict((await common.done(db, "export", {"viewer": arguments.login})).data)
    kinds = {name: [common.dated(_read(row)) for row in rows] for name, rows in parts.items() if isinstance(rows, list)}
    everything = {"person": common.dated(parts["person"]), **kinds}
    text = msgspec.json.format(common.encoded(everything), indent=2).decode()
    if arguments.out is None:
        sys.stdout.write(text + "\n")
        return
    common.write_new(arguments.out, text + "\n")
    common.report(arguments, {"path": str(arguments.out)}, f"Written to {arguments.out}.")


def _erase(arguments: argparse.Namespace) -> int:
    """Permanently delete a viewer's data."""
    common.run_async(common.on_memory(_check_known)(arguments))  # before somebody is asked to type it again
    login = arguments.login
    warning = f"This permanently erases everything about {login} and cannot be undone."
    if not arguments.yes and not common.confirmed(warning, login, "the login again"):
        common.say("Nothing was erased.")
        return 1
    return common.run_async(common.on_memory(_erase_now)(arguments))


async def _check_known(db: "Database", arguments: argparse.Namespace) -> None:
    await common.known_viewer(db, arguments.login)


async def _erase_now(db: "Database", arguments: argparse.Namespace) -> int:
    from forgetmenot.operations.wording import sentence

    result = await common.run_operation(db, "erase", {"viewer": arguments.login, "confirm": True}, _progress)
    common.report(arguments, {"erased": result.ok, **result.data}, sentence(result))
    return 0 if result.ok else 1


def _progress(share: float, step: str) -> None:
    common.say(f"{share:4.0%} {step}")


async def _opt(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.operations.wording import sentence

    result = await common.done(db, arguments.operation, {"viewer": arguments.login})
    chosen = {"id": result.data["viewer"], "opted_out": arguments.operation == "opt_out"}
    common.report(arguments, chosen, sentence(result))
