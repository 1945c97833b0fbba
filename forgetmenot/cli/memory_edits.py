"""`forgetmenot memory undo|retract|pin|unpin|never`: changes notes.

Nothing is deleted here: each change is in the note's history and can be undone.
"""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_action,
    done,
    emit,
    number_from,
    opened,
    run_async,
    show_line,
)
from forgetmenot.cli.note_output import as_json, as_lines

if TYPE_CHECKING:
    from forgetmenot.domain.memory import Note
    from forgetmenot.store.database import Database
    from forgetmenot.store.notes import SuppressionRow

CHANGED_KEYS = "JSON: the note as it is now, with the keys of `memory show`."
NEVER_KEYS = """Without WORDS the list is printed. All words of an entry must occur, in any form, for something to be
withheld; #12 names one note. JSON: {"never": [{"id", "viewer", "viewer_id", "words", "note", "at"}]}. viewer is a
login, or null for the whole channel."""
CHANGES = (
    # as it is typed, the operation, what it does
    ("undo", "restore", "undo the last change of a note: a replacement or a removal"),
    ("retract", "retract", "remove a note; `undo` restores it"),
    ("pin", "pin", "keep a note permanently"),
    ("unpin", "unpin", "let a pinned note expire like the others"),
)


def add_changes(actions: Commands) -> None:
    """Name the actions and their options."""
    for name, operation, help_text in CHANGES:
        parser = add_action(actions, name, help_text, CHANGED_KEYS)
        parser.add_argument("id", type=number_from(1), metavar="ID", help="the note's number")
        parser.set_defaults(run=lambda arguments, name=operation: run_async(_changed(arguments, name)))
    parser = add_action(actions, "never", "show, extend or shorten the list of what is never mentioned", NEVER_KEYS)
    parser.add_argument("words", nargs="*", metavar="WORDS", help="a topic, a fact, or #ID of a note")
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (default: about anybody)")
    parser.add_argument("--remove", type=number_from(1), metavar="N", help="remove entry N from the list")
    parser.set_defaults(run=lambda arguments: run_async(_never(arguments)))


async def _changed(arguments: argparse.Namespace, operation: str) -> None:
    from forgetmenot.store import notes

    async with opened(arguments) as db:
        await done(db, operation, {"id": arguments.id})
        note = await notes.get(db, arguments.id)
        if note is not None:
            await _print(db, note, machine=arguments.json)


async def _print(db: "Database", note: "Note", *, machine: bool) -> None:
    if machine:
        emit((await as_json(db, [note]))[0])
        return
    pinned = ", pinned" if note.pinned else ""
    show_line((await as_lines(db, [note]))[0])
    show_line(f"  {note.status.value}{pinned}")


async def _never(arguments: argparse.Namespace) -> None:
    async with opened(arguments) as db:
        if arguments.remove is not None:
            await done(db, "may_mention", {"id": arguments.remove})
        if arguments.words:
            await done(db, "never_mention", {"what": " ".join(arguments.words), "viewer": arguments.viewer})
        await _list(db, machine=arguments.json)


async def _list(db: "Database", *, machine: bool) -> None:
    from forgetmenot.store import notes, viewers

    rows = await notes.suppressions(db)
    logins = await viewers.logins(db, sorted({row.viewer_id for row in rows if row.viewer_id is not None}))
    if machine:
        emit({"never": [_row(row, logins) for row in rows]})
        return
    for row in rows:
        about = "anybody" if row.viewer_id is None else logins.get(row.viewer_id, "somebody")
        show_line(f"{row.id}. {about}: {row.words or f'note #{row.note_id}'}")


def _row(row: "SuppressionRow", logins: dict[str, str]) -> dict[str, object]:
    from forgetmenot.clock import iso

    return {
        "id": row.id,
        "viewer": logins.get(row.viewer_id or ""),
        "viewer_id": row.viewer_id,
        "words": row.words,
        "note": row.note_id,
        "at": iso(row.at),
    }
