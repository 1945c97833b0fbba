"""`forgetmenot memory` and `viewer`: notes, what is held about a viewer, import, export, backups and the key.

A correction deletes nothing: each change is in the note's history and can be undone.
"""

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
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


# The options that select notes.
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
# Columns of an export that hold JSON as text.
_JSON_COLUMNS = {"topics", "asked_with", "params_json"}
LOGIN = option(
    "login", metavar="LOGIN", help="their login, also a former one, or Twitch ID"
)


@command(
    "memory list",
    *FILTERS,
    option(
        "--limit",
        type=number_from(1),
        default=1_000,
        help="at most this many (default: 1000)",
    ),
    option(
        "--after",
        type=number_from(0),
        default=0,
        metavar="ID",
        help="only ids above this one",
    ),
    keys=NOTE_KEYS,
    on_memory=True,
)
async def _list(db: "Database", arguments: Namespace) -> common.Shown:
    """List notes in the order of their ids."""
    from forgetmenot.store import notes

    page = await notes.page(
        db,
        subject_id=await _subject(db, arguments),
        status=_status_filter(arguments),
        limit=arguments.limit,
        after=arguments.after,
    )
    lines = await as_lines(db, page)
    return {"notes": await as_json(db, page)}, lines or [_empty_list(arguments)]


def _empty_list(arguments: Namespace) -> str:
    """Return the sentence that stands for a list of notes without any."""
    is_whole_list = arguments.viewer is None and not arguments.after
    if not is_whole_list or arguments.status != "active":
        return "No note fits these options."
    return "There are no notes yet. They are made while the bot listens to a stream."


async def _subject(db: "Database", arguments: Namespace) -> str | None:
    """Return the id of the viewer that --viewer names; None for all viewers. Raises InputError."""
    if arguments.viewer is None:
        return None
    return await common.known_viewer(db, arguments.viewer)


def _status_filter(arguments: Namespace) -> str | None:
    """Return the status that --status names; None for all."""
    return None if arguments.status == "all" else arguments.status


@command("memory show", NOTE, keys=NOTE_KEYS, on_memory=True)
async def _show(db: "Database", arguments: Namespace) -> common.Shown:
    """Show one note."""
    from forgetmenot.store import notes

    note = await notes.get(db, arguments.id)
    if note is None:
        raise _no_note(arguments.id)
    status = note.status.value
    details = f"  {status}, {note.source_kind.value}, confidence {note.confidence:.2f}"
    [row] = await as_json(db, [note])
    lines = await as_lines(db, [note])
    return row, [*lines, details]


def _no_note(note_id: int) -> InputError:
    """Return the error for a number that no note has."""
    return InputError(
        f"There is no note {note_id}. `forgetmenot memory list` lists the numbers."
    )


@command("memory why", NOTE, keys=NOTE_KEYS, on_memory=True)
async def _why(db: "Database", arguments: Namespace) -> common.Shown:
    """Show where a note comes from."""
    from forgetmenot.memory import provenance
    from forgetmenot.store import notes

    note = await notes.get(db, arguments.id)
    if note is None:
        raise _no_note(arguments.id)
    chain = await provenance.chain(db, note.id, common.now())
    [row] = await as_json(db, [note])
    return {"note": row, **chain}, provenance.in_words(note, chain)


@command("memory never", on_memory=True)
async def _never(db: "Database", _arguments: Namespace) -> common.Shown:
    """List what the bot must not mention."""
    from forgetmenot.clock import iso
    from forgetmenot.privacy.suppression_list import unlisted
    from forgetmenot.store import notes, viewers
    from forgetmenot.text.mentions import with_names

    rows = await notes.suppressions(db)
    names = await viewers.named_in(db, [row.words for row in rows])
    viewer_ids = {row.viewer_id for row in rows if row.viewer_id is not None}
    logins = await viewers.logins(db, sorted(viewer_ids))
    entries = []
    lines = []
    for row in rows:
        login = logins.get(row.viewer_id or "")
        fields = common.picked(row, "id viewer_id at")
        topic_words = with_names(row.words, names)
        entry = {"words": topic_words, "viewer": login, "note": row.note_id}
        entries.append({**fields, **entry})
        whose = "anybody"
        if row.viewer_id:
            whose = login or "somebody"
        words = topic_words or f"note #{row.note_id}"
        lines.append(f"{row.id}. {whose}: {words}")
    # Topics that are on the list as hashes alone, so that the memory itself mentions nothing.
    empty = {"viewer_id": None, "words": "", "viewer": None, "note": None}
    for topic in await unlisted(db):
        named_at = iso(topic.at)
        entries.append({**empty, "id": topic.id, "at": topic.at})
        lines.append(
            f"{topic.id}. a topic named at {named_at}; its words are not stored"
        )
    return {"never": entries}, lines or ["Nothing is on the list."]


# ── notes as JSON, or as lines ──────────────────────────────────────────────────────────────


async def as_lines(db: "Database", notes: "Sequence[Note]") -> list[str]:
    """Return a line per note: number, subject, fact, and the status unless it is active."""
    from forgetmenot.memory.provenance import names_for
    from forgetmenot.text.mentions import with_names

    names = await names_for(db, notes)
    lines = []
    for note in notes:
        scope = note.scope.value.replace("_", " ")
        # A fact about the channel has its scope in the place of a person.
        subject = names.get(note.subject_id or "", scope)
        fact = with_names(note.fact, names)
        lines.append(f"#{note.id} {subject}: {fact}{_status(note)}")
    return lines


def _status(note: "Note") -> str:
    """Return a note's status in brackets; "" for an active note."""
    if note.status is NoteStatus.ACTIVE:
        return ""
    by = f" by #{note.superseded_by}" if note.superseded_by is not None else ""
    return f" ({note.status.value}{by})"


async def as_json(db: "Database", notes: "Sequence[Note]") -> list[dict[str, object]]:
    """Return the notes with the keys of NOTE_KEYS, and names in place of mentions."""
    from forgetmenot.memory.provenance import names_for
    from forgetmenot.store import viewers
    from forgetmenot.text.mentions import with_names

    names = await names_for(db, notes)
    subject_ids = {note.subject_id for note in notes if note.subject_id is not None}
    logins = await viewers.logins(db, sorted(subject_ids))
    rows = []
    for note in notes:
        row = common.dated(asdict(note))
        row["viewer"] = logins.get(note.subject_id or "")
        row["viewer_id"] = row.pop("subject_id")
        row["fact"] = with_names(note.fact, names)
        # It is computed: further digits would only be noise.
        row["confidence"] = round(note.confidence, 4)
        rows.append(row)
    return rows


# ── one viewer ──────────────────────────────────────────────────────────────────────────────


@command("viewer export", LOGIN, shared="db", on_memory=True)
async def _export_viewer(db: "Database", arguments: Namespace) -> None:
    """Print everything stored about a viewer, as one JSON file."""
    from forgetmenot.operations.wording import sentence

    result = await common.run_operation(db, "export", {"viewer": arguments.login})
    if not result.ok:
        raise InputError(sentence(result))
    # The person's own row, and a list of rows for each other kind of data.
    parts: Mapping[str, Any] = result.data
    export: dict[str, object] = {"person": common.dated(parts["person"])}
    for name, rows in parts.items():
        if isinstance(rows, list):
            export[name] = [_readable(row) for row in rows]
    # Not through `show_line`, which would replace signs in what is theirs.
    text = msgspec.json.format(common.encoded(export), indent=2).decode()
    sys.stdout.write(f"{text}\n")


def _readable(row: dict[str, object]) -> dict[str, object]:
    """Return a row with its times as ISO 8601 and its JSON read."""
    columns = common.dated(row)
    for name in _JSON_COLUMNS & columns.keys():
        columns[name] = msgspec.json.decode(str(columns[name]))
    return columns


# ── import, export, backups ─────────────────────────────────────────────────────────────────


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
        "file",
        metavar="FILE",
        nargs="?",
        default="-",
        help="the notes (default: standard input)",
    ),
    option(
        "--unfiltered", action="store_true", help="skip the filter for sensitive facts"
    ),
    keys=IMPORT_KEYS,
    shared="config db json",
)
async def _import(arguments: Namespace) -> None:
    """Import notes from JSON lines."""
    from forgetmenot.memory.transfer import import_notes
    from forgetmenot.store.database import open_database

    # Without these settings import_notes filters nothing.
    privacy = None
    if not arguments.unfiltered:
        privacy = common.chosen_settings(arguments.config).privacy
    now = common.now()
    with common.text_lines(arguments.file) as import_lines:
        # Made where there is none: a new bot may begin with what an old one knew.
        async with open_database(common.database_path(arguments)) as db:
            result = await import_notes(db, import_lines, now=now, privacy=privacy)
    refused_count = len(result.refused)
    lines = []
    for refused in result.refused[:REFUSED_SHOWN]:
        lines.append(f"line {refused.line}: {refused.reason}")
    if refused_count > REFUSED_SHOWN:
        lines.append(f"… and {refused_count - REFUSED_SHOWN} more; --json prints all.")
    lines.append(
        f"{result.imported} notes imported, {result.viewers} new viewers, {refused_count} lines refused."
    )
    counts = common.picked(result, "imported episodes viewers")
    refused_rows = [refused._asdict() for refused in result.refused]
    common.report(arguments, {**counts, "refused": refused_rows}, lines)
    # A file of which nothing is of use is an error; a few lines that are refused are none.
    if result.refused and not result.imported:
        raise InputError(
            f"None of the {refused_count} lines of {arguments.file} could be used. Nothing changed."
        )


@command("memory export", *FILTERS, keys=EXPORT_KEYS, on_memory=True)
async def _export(db: "Database", arguments: Namespace) -> None:
    """Print notes as JSON lines."""
    from forgetmenot.memory.transfer import export_notes

    subject_id = await _subject(db, arguments)
    status = _status_filter(arguments)
    # Line by line: all notes together may not fit into memory.
    async for line in export_notes(db, subject_id=subject_id, status=status):
        common.emit(line)


@command("memory new-requests", keys=NEW_REQUESTS_KEYS)
async def _new_requests(arguments: Namespace) -> None:
    """Go on without the file of privacy requests, if it is lost."""
    from forgetmenot.files import instance_lock
    from forgetmenot.privacy.requests import start_new_requests
    from forgetmenot.store.database import open_database

    path = common.existing_database(arguments)
    # A running bot would go on with the requests that it has read.
    with instance_lock(path):
        async with open_database(path, requests_lost=True) as db:
            opted_out = await start_new_requests(db, common.now())
    line = f"A new file was begun. Who stays opted out: {opted_out}."
    common.report(arguments, {"opted_out": opted_out}, [line])


@command(
    "memory backup",
    option(
        "path",
        type=Path,
        metavar="PATH",
        nargs="?",
        help="where to (default: beside the memory)",
    ),
    keys=BACKUP_KEYS,
)
async def _backup(arguments: Namespace) -> None:
    """Copy the memory, without chat."""
    from forgetmenot.memory import backups
    from forgetmenot.store.backup import copies_of
    from forgetmenot.store.database import open_database

    now = common.now()
    target = arguments.path
    async with open_database(common.existing_database(arguments)) as db:
        if target is None:
            # A backup that somebody asked for deletes no older one.
            keep = max(Settings().privacy.keep_backups, len(copies_of(db.path)) + 1)
            made = await backups.make(db, at=now, keep=keep)
        else:
            if target.is_dir():
                target /= backups.name_of(db.path, now)
            # It may be anybody's file, and a backup that is already there is not replaced.
            if target.exists():
                raise InputError(f"{target} already exists. Choose another name.")
            made = await backups.copy_to(db, target)
    value = {
        "path": str(made.path),
        "bytes": made.size,
        "notes": made.notes,
        "episodes": made.episodes,
    }
    line = (
        f"{made.notes} notes and {made.episodes} summaries are in {made.path}. Later erasures are carried out again"
        " when it is restored here. Copies kept elsewhere still contain erased data: delete old ones."
    )
    common.report(arguments, value, [line])


@command(
    "memory restore",
    option("path", type=Path, metavar="PATH", help="the backup"),
    option("--yes", action="store_true", help="do not ask for confirmation"),
    keys=RESTORE_KEYS,
)
async def _restore(arguments: Namespace) -> int:
    """Restore a backup."""
    from forgetmenot.files import instance_lock
    from forgetmenot.memory import backups

    path = common.database_path(arguments)
    # Where there is no memory yet nothing is replaced.
    must_ask = path.exists() and not arguments.yes
    if must_ask and not common.confirmed(f"This replaces the memory in {path}."):
        common.say("Nothing was changed.")
        return 1
    now = common.now()
    keep = Settings().privacy.keep_backups
    # Raises an error of ours while the bot runs: it would go on writing to the file that is replaced.
    with instance_lock(path):
        restored = await backups.restore(arguments.path, path, now=now, keep=keep)
    counts = common.picked(
        restored, "notes episodes erased forgotten removed opted_out banned"
    )
    lines = [
        f"Restored: {restored.notes} notes and {restored.episodes} summaries, without chat."
    ]
    # What was decided after the backup was made, from the file of privacy requests.
    repeated = {
        "erasures": restored.erased,
        "facts forgotten": restored.forgotten,
        "notes removed": restored.removed,
        "opt-outs": restored.opted_out,
        "bans": restored.banned,
    }
    if any(repeated.values()):
        repeated_counts = ", ".join(
            f"{kind} {count}" for kind, count in repeated.items()
        )
        lines.append(f"Done again: {repeated_counts}.")
    saved = None
    if restored.saved is not None:
        saved = str(restored.saved)
        lines.append(f"The previous memory is saved in {saved}.")
    common.report(arguments, {"restored": True, **counts, "saved": saved}, lines)
    return 0
