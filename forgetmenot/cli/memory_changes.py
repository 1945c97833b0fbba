"""`forgetmenot memory undo|retract|pin|unpin|never`: what a person changes about what is remembered.

Nothing is deleted here: each change is a line in the note's history and can be taken back.
"""

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_action,
    emit,
    existing_database,
    known_viewer,
    number_from,
    run_async,
    show_line,
)
from forgetmenot.cli.shown_notes import as_json, as_lines

if TYPE_CHECKING:
    from forgetmenot.domain.memory import Note
    from forgetmenot.store.database import Database
    from forgetmenot.store.never import Left

CHANGED_KEYS = "JSON: the note as it is now, with the keys of `memory show`."
NEVER_KEYS = """Without WORDS the list is printed. All words of an entry must occur, in any form, for something to be
left alone; #12 names one note. JSON: {"never": [{"id", "viewer", "viewer_id", "words", "note", "at"}]}. viewer is a
login, or null for the whole channel."""
SENTENCES = {
    "not_found": "There is no such note. `forgetmenot memory list --status all` shows the numbers there are.",
    "not_live": "This note is not in use any more, so there is nothing to take back.",
    "nothing_to_undo": "Nothing was done to this note that could be undone.",
    "length": "Give at least one word that means something, and at most 200 characters.",
    "enough": "The list is full (200 entries). Take one off first with --remove.",
}

Change = Callable[["Database", int, int], Awaitable[None]]


def add_changes(actions: Commands) -> None:
    """Name the actions and their options."""
    changes: tuple[tuple[str, str, Change], ...] = (
        ("undo", "take back the last supersede or retraction of a note", _undo),
        ("retract", "take a note back; `undo` brings it back", _retract),
        ("pin", "let a note neither age nor fall to a cap", _pin),
        ("unpin", "let a pinned note live like the others", _unpin),
    )
    for name, help_text, change in changes:
        parser = add_action(actions, name, help_text, CHANGED_KEYS)
        parser.add_argument("id", type=number_from(1), metavar="ID", help="the note's number")
        parser.set_defaults(run=lambda arguments, change=change: run_async(_changed(arguments, change)))
    parser = add_action(actions, "never", "what is never brought up: show it, add to it, take off it", NEVER_KEYS)
    parser.add_argument("words", nargs="*", metavar="WORDS", help="a topic, a fact, or #ID of a note")
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (default: about anybody)")
    parser.add_argument("--remove", type=number_from(1), metavar="N", help="take entry N off the list")
    parser.set_defaults(run=lambda arguments: run_async(_never(arguments)))


def _refusal(rule: str) -> Exception:
    from forgetmenot.errors import InputError

    return InputError(SENTENCES.get(rule, f"That was refused: {rule}."))


async def _changed(arguments: argparse.Namespace, change: Change) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory.notes.proposals import Refused
    from forgetmenot.store import notes
    from forgetmenot.store.database import open_database

    async with open_database(existing_database(arguments)) as db:
        try:
            await change(db, arguments.id, SystemClock().now())
        except Refused as refused:
            raise _refusal(refused.rule) from None
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


async def _undo(db: "Database", note_id: int, now: int) -> None:
    from forgetmenot.memory.notes import undoing

    await undoing.undo(db, note_id, at=now)


async def _retract(db: "Database", note_id: int, now: int) -> None:
    from forgetmenot.memory.notes import undoing

    await undoing.retract(db, note_id, at=now, cause="by hand")


async def _pin(db: "Database", note_id: int, now: int) -> None:
    from forgetmenot.memory.notes import remember

    await remember.pin(db, note_id, at=now)


async def _unpin(db: "Database", note_id: int, now: int) -> None:
    from forgetmenot.memory.notes import remember

    await remember.pin(db, note_id, at=now, pinned=False)


# ── what is never brought up ────────────────────────────────────────────────────────────────


async def _never(arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory import never
    from forgetmenot.memory.notes.proposals import Refused
    from forgetmenot.store.database import open_database

    async with open_database(existing_database(arguments)) as db:
        if arguments.remove is not None and not await never.allow_again(db, arguments.remove):
            raise _refusal(f"there is no entry {arguments.remove}")
        if arguments.words:
            viewer_id = await known_viewer(db, arguments.viewer) if arguments.viewer is not None else None
            now = SystemClock().now()
            try:
                await never.leave_alone(db, viewer_id, " ".join(arguments.words), by=None, at=now)
            except Refused as refused:
                raise _refusal(refused.rule) from None
        await _list(db, machine=arguments.json)


async def _list(db: "Database", *, machine: bool) -> None:
    from forgetmenot.store import never, viewers

    rows = await never.listed(db)
    logins = await viewers.logins(db, sorted({row.viewer_id for row in rows if row.viewer_id is not None}))
    if machine:
        emit({"never": [_row(row, logins) for row in rows]})
        return
    for row in rows:
        about = "anybody" if row.viewer_id is None else logins.get(row.viewer_id, "somebody")
        show_line(f"{row.id}. {about}: {row.words or f'note #{row.note_id}'}")


def _row(row: "Left", logins: dict[str, str]) -> dict[str, object]:
    from forgetmenot.clock import iso

    return {
        "id": row.id,
        "viewer": logins.get(row.viewer_id or ""),
        "viewer_id": row.viewer_id,
        "words": row.words,
        "note": row.note_id,
        "at": iso(row.at),
    }
