"""`forgetmenot memory` and `viewer`: notes, what is held about a viewer, import, export, backups and the key.

A correction deletes nothing: each change is in the note's history and can be undone.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from forgetmenot.cli import common
from forgetmenot.cli.common import command, number_from, option
from forgetmenot.domain import NoteStatus
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forgetmenot.domain import Note
    from forgetmenot.store.database import Database

NOTE_KEYS = """In JSON status is active, past, expired, superseded, evicted or retracted, source_kind command, import,
self_claim, observed or reported; expires_at is null for a permanent note, persona empty for one of all personas. Times
are ISO 8601, UTC; in the evidence and history of `why` milliseconds since 1970."""


# Options that choose notes.
FILTERS = (
    option("--viewer", metavar="LOGIN", help="only about this viewer (login or id)"),
    option(
        "--status",
        default="active",
        choices=(*NoteStatus, "all"),
        metavar="STATUS",
        help="which (default: active)",
    ),
)
NOTE = option("id", type=number_from(1), metavar="ID", help="the note's number")
LOGIN = option("login", metavar="LOGIN", help="their login, also a former one, or Twitch ID")


@command(
    "memory list",
    *FILTERS,
    option("--limit", type=number_from(1), default=1_000, help="at most this many (default: 1000)"),
    option("--after", type=number_from(0), default=0, metavar="ID", help="only ids above this one"),
    keys=NOTE_KEYS,
    on_memory=True,
)
async def _list(db: "Database", arguments: argparse.Namespace) -> common.Shown:
    """Notes in the order of their ids."""
    from forgetmenot.store import notes

    page = await notes.page(
        db,
        subject_id=await common.known_viewer(db, arguments.viewer)
        if arguments.viewer is not None
        else None,
        status=None if arguments.status == "all" else arguments.status,
        limit=arguments.limit,
        after=arguments.after,
    )
    return {"notes": await as_json(db, page)}, await as_lines(db, page)


@command("memory show", NOTE, keys=NOTE_KEYS, on_memory=True)
async def _show(db: "Database", arguments: argparse.Namespace) -> common.Shown:
    """One note."""
    from forgetmenot.store import notes

    note = await notes.get(db, arguments.id)
    if note is None:
        raise _no_note(arguments.id)
    details = f"  {note.status.value}, {note.source_kind.value}, confidence {note.confidence:.2f}"
    return (await as_json(db, [note]))[0], [*await as_lines(db, [note]), details]


def _no_note(note_id: int) -> InputError:
    return InputError(f"There is no note {note_id}. `forgetmenot memory list` lists the numbers.")


@command("memory why", NOTE, keys=NOTE_KEYS, on_memory=True)
async def _why(db: "Database", arguments: argparse.Namespace) -> common.Shown:
    """Where a note comes from."""
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory import provenance
    from forgetmenot.store import notes

    note = await notes.get(db, arguments.id)
    if note is None:
        raise _no_note(arguments.id)
    chain = await provenance.chain(db, note.id, SystemClock().now())
    return {"note": (await as_json(db, [note]))[0], **chain}, provenance.in_words(note, chain)


@command("memory never", on_memory=True)
async def _never(db: "Database", _arguments: argparse.Namespace) -> common.Shown:
    """What the bot must not mention."""
    from forgetmenot.clock import iso
    from forgetmenot.privacy.suppression_list import unlisted
    from forgetmenot.store import notes, viewers

    rows = await notes.suppressions(db)
    logins = await viewers.logins(
        db, sorted({row.viewer_id for row in rows if row.viewer_id is not None})
    )
    value = [
        {
            **common.picked(row, "id viewer_id words at"),
            "viewer": logins.get(row.viewer_id or ""),
            "note": row.note_id,
        }
        for row in rows
    ]
    lines = [
        f"{row.id}. {logins.get(row.viewer_id, 'somebody') if row.viewer_id else 'anybody'}: "
        f"{row.words or f'note #{row.note_id}'}"
        for row in rows
    ]
    empty = {"viewer_id": None, "words": "", "viewer": None, "note": None}
    for topic in await unlisted(db):
        value.append({**empty, "id": topic.id, "at": topic.at})
        lines.append(f"{topic.id}. a topic named at {iso(topic.at)}; its words are not stored")
    return {"never": value}, lines or ["Nothing is on the list."]


# Notes as JSON with the documented keys, or as lines.


async def as_lines(db: "Database", notes: "Sequence[Note]") -> list[str]:
    """A line per note: number, subject, fact, and the status unless it is active."""
    from forgetmenot.memory.provenance import names_for
    from forgetmenot.text.mentions import with_names

    names = await names_for(db, notes)
    scopes = {note.id: note.scope.value.replace("_", " ") for note in notes}
    return [
        f"#{note.id} {names.get(note.subject_id or '', scopes[note.id])}: {with_names(note.fact, names)}{_status(note)}"
        for note in notes
    ]


def _status(note: "Note") -> str:
    by = f" by #{note.superseded_by}" if note.superseded_by is not None else ""
    return "" if note.status == "active" else f" ({note.status.value}{by})"


async def as_json(db: "Database", notes: "Sequence[Note]") -> list[dict[str, object]]:
    """The notes with the keys of NOTE_KEYS, with names in the place of mentions."""
    from forgetmenot.memory.provenance import names_for
    from forgetmenot.store import viewers
    from forgetmenot.text.mentions import with_names

    names = await names_for(db, notes)
    logins = await viewers.logins(
        db, sorted({note.subject_id for note in notes if note.subject_id is not None})
    )
    rows = []
    for note in notes:
        row = common.dated(asdict(note))
        about = {"viewer": logins.get(note.subject_id or ""), "viewer_id": row.pop("subject_id")}
        rows.append(
            {
                **row,
                **about,
                "fact": with_names(note.fact, names),
                "confidence": round(note.confidence, 4),
            }
        )
    return rows


# One viewer.


@command("viewer export", LOGIN, shared="db", on_memory=True)
async def _export_viewer(db: "Database", arguments: argparse.Namespace) -> None:
    """Everything stored about a viewer, as one JSON file."""
    import msgspec

    from forgetmenot.operations.wording import sentence

    result = await common.run_operation(db, "export", {"viewer": arguments.login})
    if not result.ok:
        raise InputError(sentence(result))
    lists = {"topics", "asked_with", "params_json"}  # columns that hold JSON

    def readable(row: dict[str, object]) -> dict[str, object]:
        read = {key: msgspec.json.decode(str(value)) for key, value in row.items() if key in lists}
        return common.dated({**row, **read})

    parts: Mapping[str, Any] = result.data
    kinds = {
        name: [readable(row) for row in rows]
        for name, rows in parts.items()
        if isinstance(rows, list)
    }
    whole = {"person": common.dated(parts["person"]), **kinds}
    sys.stdout.write(msgspec.json.format(common.encoded(whole), indent=2).decode() + "\n")


# The memory's ways in and out as files.


IMPORT_KEYS = """FILE holds JSON lines (- reads standard input): {"id"?, "scope"?, "viewer", "fact", "confidence"?,
"observed_at"?, "topics"?, "asked_with"?, "importance"?, "source_kind"?, "expires_at"?, "pinned"?, "persona"?, "login"?,
"episode"?: {"key", "summary"}}. viewer is a login or a Twitch id (none for scope channel and running_bit); a login
nobody has seen yet is joined to its id when it first speaks. Times are ISO 8601, UTC without a zone. A note whose id is
taken gets a new one. Lines with the same episode key share that episode as evidence. Refused are facts that were
forgotten here, people who were erased or opted out, and what is here already.
JSON: {"imported", "episodes", "viewers", "refused": [{"line", "reason"}]}."""
EXPORT_KEYS = """One JSON object per line, as `memory import` reads it. People in texts stand as <@id>. Only active
notes unless --status says otherwise; no chat is in it, nor, unless --viewer names them, who opted out or was banned."""
REFUSED_SHOWN = 20
BACKUP_KEYS = """Holds notes, summaries, people and the channel: no chat, no replies, no log-in, and no privacy
requests. PATH may be a folder or a new file."""
RESTORE_KEYS = """Replaces the memory with a backup; the bot must not be running. What was decided since (erasures,
opt-outs, bans, what is never mentioned) is carried out again, as far as this machine recorded it. The previous memory
is saved among the backups."""
NEW_REQUESTS_KEYS = """For a memory whose file of privacy requests is lost: begins a new one. People in the memory who
opted out stay opted out; who was erased has to ask again."""


@command(
    "memory import",
    option(
        "file", metavar="FILE", nargs="?", default="-", help="the notes (default: standard input)"
    ),
    option("--unfiltered", action="store_true", help="skip the filter for sensitive facts"),
    keys=IMPORT_KEYS,
    shared="config db json",
)
async def _import(arguments: argparse.Namespace) -> None:
    """Import notes from JSON lines."""
    from forgetmenot.memory.transfer import import_notes
    from forgetmenot.store.database import open_database

    privacy = None if arguments.unfiltered else common.chosen_settings(arguments.config).privacy
    with common.text_lines(arguments.file) as given:
        async with open_database(common.database_path(arguments)) as db:
            result = await import_notes(db, given, now=common.time_of("now", None), privacy=privacy)
    counts = common.picked(result, "imported episodes viewers")
    lines = [f"line {refused.line}: {refused.reason}" for refused in result.refused[:REFUSED_SHOWN]]
    if (more := len(result.refused) - REFUSED_SHOWN) > 0:
        lines.append(f"… and {more} more; --json prints all.")
    people = result.viewers
    refused_lines = len(result.refused)
    lines.append(
        f"{result.imported} notes imported, {people} new viewers, {refused_lines} lines refused."
    )
    common.report(
        arguments, {**counts, "refused": [refused._asdict() for refused in result.refused]}, lines
    )
    if result.refused and not result.imported:
        raise InputError(
            f"None of the {len(result.refused)} lines of {arguments.file} could be used. Nothing changed."
        )


@command("memory export", *FILTERS, keys=EXPORT_KEYS, on_memory=True)
async def _export(db: "Database", arguments: argparse.Namespace) -> None:
    """Print notes as JSON lines."""
    from forgetmenot.memory.transfer import export_notes

    subject = (
        await common.known_viewer(db, arguments.viewer) if arguments.viewer is not None else None
    )
    async for line in export_notes(
        db, subject_id=subject, status=None if arguments.status == "all" else arguments.status
    ):
        common.emit(line)


@command("memory new-requests", keys=NEW_REQUESTS_KEYS)
async def _new_requests(arguments: argparse.Namespace) -> None:
    """Go on without the file of privacy requests, if it is lost."""
    from forgetmenot.files import instance_lock
    from forgetmenot.privacy.requests import start_new_requests
    from forgetmenot.store.database import open_database

    path = common.existing_database(arguments)
    with instance_lock(path):
        async with open_database(path, requests_lost=True) as db:
            out = await start_new_requests(db, common.time_of("now", None))
    common.report(
        arguments, {"opted_out": out}, [f"A new file was begun. {out} people stay opted out."]
    )


@command(
    "memory backup",
    option(
        "path", type=Path, metavar="PATH", nargs="?", help="where to (default: beside the memory)"
    ),
    keys=BACKUP_KEYS,
)
async def _backup(arguments: argparse.Namespace) -> None:
    """Copy the memory, without chat."""
    from forgetmenot.memory import backups
    from forgetmenot.store.backup import copies_of
    from forgetmenot.store.database import open_database

    now = common.time_of("now", None)
    async with open_database(common.existing_database(arguments)) as db:
        if arguments.path is None:
            keep = max(
                Settings().privacy.keep_backups, len(copies_of(db.path)) + 1
            )  # what was asked for stays
            made = await backups.make(db, at=now, keep=keep)
        else:
            name = backups.name_of(db.path, now)
            target = arguments.path / name if arguments.path.is_dir() else arguments.path
            if target.exists():
                raise InputError(f"{target} already exists. Choose another name.")
            made = await backups.copy_to(db, target)
    value = {
        "path": str(made.path),
        "bytes": made.size,
        "notes": made.notes,
        "episodes": made.episodes,
    }
    line = f"{made.notes} notes and {made.episodes} summaries are in {made.path}. Later erasures are carried out again"
    kept = "when it is restored here. Copies kept elsewhere still contain erased data: delete old ones."
    common.report(arguments, value, [f"{line} {kept}"])


@command(
    "memory restore",
    option("path", type=Path, metavar="PATH", help="the backup"),
    option("--yes", action="store_true", help="do not ask for confirmation"),
    keys=RESTORE_KEYS,
)
async def _restore(arguments: argparse.Namespace) -> int:
    """Restore a backup."""
    from forgetmenot.files import instance_lock
    from forgetmenot.memory import backups

    path = common.database_path(arguments)
    if (
        path.exists()
        and not arguments.yes
        and not common.confirmed(f"This replaces the memory in {path}.")
    ):
        common.say("Nothing was changed.")
        return 1
    with instance_lock(path):
        keep = Settings().privacy.keep_backups
        done = await backups.restore(
            arguments.path, path, now=common.time_of("now", None), keep=keep
        )
    counts = common.picked(done, "notes episodes erased forgotten removed opted_out banned")
    lines = [f"Restored: {done.notes} notes and {done.episodes} summaries, without chat."]
    again = {
        "erasures": done.erased,
        "facts forgotten": done.forgotten,
        "notes removed": done.removed,
        "opt-outs": done.opted_out,
        "bans": done.banned,
    }
    if any(again.values()):
        counts_again = ", ".join(f"{what} {count}" for what, count in again.items())
        lines.append(f"Done again: {counts_again}.")
    if done.saved is not None:
        lines.append(f"The previous memory is saved in {done.saved}.")
    saved = str(done.saved) if done.saved else None
    common.report(arguments, {"restored": True, **counts, "saved": saved}, lines)
    return 0
