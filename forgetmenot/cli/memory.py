"""`forgetmenot memory`: lists, explains and corrects notes. Files (import, export, backups) are in cli/memory_files.

A correction deletes nothing: each change is in the note's history and can be undone.
"""

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from forgetmenot.cli import common, memory_files
from forgetmenot.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forgetmenot.domain.memory import Note
    from forgetmenot.memory.notes.provenance import NoteExplanation
    from forgetmenot.store.database import Database
    from forgetmenot.store.notes import SuppressionRow

NOTE_KEYS = """A note in JSON: id, scope (viewer, channel, running_bit), viewer (login or null), viewer_id, fact,
confidence (0 to 1), status (active, stale, expired, superseded, evicted, retracted), source_kind (command, import,
self_claim, observed, reported), importance, topics, asked_with, created_at, last_confirmed_at, expires_at (null:
permanent), superseded_by, pinned, persona (empty: of all), episode_ids. Times are ISO 8601, UTC."""
LIST_KEYS = 'JSON: {"notes": [note …]}. ' + NOTE_KEYS
WHY_KEYS = (
    """JSON: {"note", "evidence": [{"episode", "kind", "stream", "stance", "speaker", "addressed", "at",
"topic", "summary"}], "history": [{"at", "from", "to", "cause"}], "replaced": [ids], "replaced_by": id or null,
"replies": [{"id", "at"}], "streams": [ids in which it came up]}. stance is stated, confirmed or contradicted; speaker a
name or null.
"""
    + NOTE_KEYS
)
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


def add(subparsers: common.Commands) -> None:
    """Name the actions and their options."""
    actions = common.add_actions(subparsers, "memory", "list, explain, correct, import and export notes")
    listing = common.add_command(
        actions, "list", "notes in the order of their ids", common.on_memory(_list), keys=LIST_KEYS
    )
    memory_files.add_filters(listing)
    listing.add_argument("--limit", type=common.number_from(1), default=1_000, help="at most this many (default: 1000)")
    listing.add_argument("--after", type=common.number_from(0), default=0, metavar="ID", help="only ids above this one")
    show = common.add_command(actions, "show", "one note", common.on_memory(_show), keys=NOTE_KEYS)
    why = common.add_command(actions, "why", "where a note comes from", common.on_memory(_why), keys=WHY_KEYS)
    changes = []
    for name, operation, help_text in CHANGES:
        changes.append(common.add_command(actions, name, help_text, common.on_memory(_change), keys=CHANGED_KEYS))
        changes[-1].set_defaults(operation=operation)
    for parser in (show, why, *changes):
        parser.add_argument("id", type=common.number_from(1), metavar="ID", help="the note's number")
    about = "show, extend or shorten the list of what is never mentioned"
    never = common.add_command(actions, "never", about, common.on_memory(_never), keys=NEVER_KEYS)
    never.add_argument("words", nargs="*", metavar="WORDS", help="a topic, a fact, or #ID of a note")
    never.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (default: about anybody)")
    never.add_argument("--remove", type=common.number_from(1), metavar="N", help="remove entry N from the list")
    memory_files.add(actions)


async def _list(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.store import notes

    page = await notes.page(
        db,
        subject_id=await common.known_viewer(db, arguments.viewer) if arguments.viewer is not None else None,
        status=memory_files.status_of(arguments),
        limit=arguments.limit,
        after=arguments.after,
    )
    common.report(arguments, {"notes": await as_json(db, page)}, *await as_lines(db, page), to=common.show_line)


async def _show(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.store import notes

    note = await notes.get(db, arguments.id)
    if note is None:
        raise _no_note(arguments.id)
    details = f"{note.status.value}, {note.source_kind.value}, confidence {note.confidence:.2f}"
    await _print(db, note, details, arguments)


async def _print(db: "Database", note: "Note", details: str, arguments: argparse.Namespace) -> None:
    lines = [(await as_lines(db, [note]))[0], f"  {details}"]
    common.report(arguments, (await as_json(db, [note]))[0], *lines, to=common.show_line)


def _no_note(note_id: int) -> InputError:
    return InputError(f"There is no note {note_id}. `forgetmenot memory list` lists the numbers.")


async def _why(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.notes.provenance import explain, in_words

    explained = await explain(db, arguments.id)
    if explained is None:
        raise _no_note(arguments.id)
    note = (await as_json(db, [explained.note]))[0]
    common.report(arguments, {"note": note, **_chain(explained)}, in_words(explained), to=common.show_line)


def _chain(explained: "NoteExplanation") -> dict[str, object]:
    from forgetmenot.clock import iso
    from forgetmenot.text.mentions import show

    return {
        "evidence": [
            {
                "episode": word.episode.id,
                "kind": word.episode.kind.value,
                "stream": word.episode.stream_id,
                "stance": word.stance,
                "speaker": explained.names.get(word.speaker_id or ""),
                "addressed": word.addressed,
                "at": iso(word.at),
                "topic": word.episode.topic,
                "summary": show(word.episode.summary, explained.names),
            }
            for word in explained.evidence
        ],
        "history": [
            {
                "at": iso(step.at),
                "from": step.from_status,
                "to": step.to_status,
                "cause": show(step.cause, explained.names),
            }
            for step in explained.history
        ],
        "replaced": [note.id for note in explained.replaced],
        "replaced_by": explained.note.superseded_by,
        "replies": [{"id": reply, "at": iso(at)} for reply, at in explained.replies],
        "streams": list(explained.streams),
    }


async def _change(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.store import notes

    await common.done(db, arguments.operation, {"id": arguments.id})
    note = await notes.get(db, arguments.id)
    if note is not None:
        pinned = ", pinned" if note.pinned else ""
        await _print(db, note, f"{note.status.value}{pinned}", arguments)


async def _never(db: "Database", arguments: argparse.Namespace) -> None:
    from forgetmenot.store import notes, viewers

    if arguments.remove is not None:
        await common.done(db, "may_mention", {"id": arguments.remove})
    if arguments.words:
        await common.done(db, "never_mention", {"what": " ".join(arguments.words), "viewer": arguments.viewer})
    rows = await notes.suppressions(db)
    logins = await viewers.logins(db, sorted({row.viewer_id for row in rows if row.viewer_id is not None}))
    about = [logins.get(row.viewer_id, "somebody") if row.viewer_id else "anybody" for row in rows]
    entries = [row.words or f"note #{row.note_id}" for row in rows]
    lines = [f"{row.id}. {who}: {what}" for row, who, what in zip(rows, about, entries, strict=True)]
    value = {"never": [_never_json(row, logins) for row in rows]}
    common.report(arguments, value, *lines or ["Nothing is on the list."], to=common.show_line)


def _never_json(row: "SuppressionRow", logins: dict[str, str]) -> dict[str, object]:
    return {
        **common.picked(row, "id viewer_id words at"),
        "viewer": logins.get(row.viewer_id or ""),
        "note": row.note_id,
    }


# Notes as JSON with the documented keys, or as lines.


async def as_lines(db: "Database", notes: "Sequence[Note]") -> list[str]:
    """A line per note: number, subject, fact, and the status unless it is active."""
    from forgetmenot.memory.notes.provenance import names_for
    from forgetmenot.text.mentions import show

    names = await names_for(db, notes)
    return [
        f"#{note.id} {names.get(note.subject_id or '', _scope(note))}: {show(note.fact, names)}{_fate(note)}"
        for note in notes
    ]


def _scope(note: "Note") -> str:
    return note.scope.value.replace("_", " ")


def _fate(note: "Note") -> str:
    by = f" by #{note.superseded_by}" if note.superseded_by is not None else ""
    return "" if note.status == "active" else f" ({note.status.value}{by})"


async def as_json(db: "Database", notes: "Sequence[Note]") -> list[dict[str, object]]:
    """The notes with the keys of NOTE_KEYS, with names in the place of mentions."""
    from forgetmenot.memory.notes.provenance import names_for
    from forgetmenot.store import viewers

    names = await names_for(db, notes)
    logins = await viewers.logins(db, sorted({note.subject_id for note in notes if note.subject_id is not None}))
    return [_note(note, names, logins) for note in notes]


def _note(note: "Note", names: "Mapping[str, str]", logins: "Mapping[str, str]") -> dict[str, object]:
    from forgetmenot.text.mentions import show

    row = common.dated(asdict(note))
    viewer_id = row.pop("subject_id")
    about = {"viewer": logins.get(note.subject_id or ""), "viewer_id": viewer_id}
    return {**row, **about, "fact": show(note.fact, names), "confidence": round(note.confidence, 4)}
