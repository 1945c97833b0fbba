"""`forgetmenot memory list|show|why|import|export`: notes, their origin, import and export.

Changes (undo, retract, pin, never) are in cli/memory_edits, backups in cli/memory_copies.
"""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_action,
    database_path,
    emit,
    known_viewer,
    number_from,
    opened,
    run_async,
    say,
    show_line,
    text_lines,
)
from forgetmenot.cli.memory_copies import add_copies
from forgetmenot.cli.memory_edits import add_changes
from forgetmenot.cli.note_output import NOTE_KEYS, as_json, as_lines

if TYPE_CHECKING:
    from forgetmenot.memory.notes.provenance import Explanation

LIST_KEYS = 'JSON: {"notes": [note …]}. ' + NOTE_KEYS
WHY_KEYS = (
    """JSON: {"note", "evidence": [{"episode", "kind", "stream", "stance", "speaker", "addressed", "at",
"topic", "summary"}], "history": [{"at", "from", "to", "cause"}], "replaced": [ids], "replaced_by": id or null,
"replies": [{"id", "at"}], "streams": [ids in which it came up]}. stance is stated, confirmed or contradicted; speaker a
name or null.
"""
    + NOTE_KEYS
)
IMPORT_KEYS = """FILE holds JSON lines (- reads standard input): {"id"?, "scope"?, "viewer", "fact", "confidence"?,
"observed_at"?, "topics"?, "persona"?, "episode"?: {"key", "summary"}}. viewer is a login or a Twitch id (none for
scope channel and running_bit); a login nobody has seen yet is joined to its id when it first speaks. observed_at is ISO
8601, UTC without a zone. An id that another note has gets a new one; the old is kept as its external id.
Lines with the same episode key share that episode as evidence.
Also taken over as `export` prints them: "login" (of a new id, if nobody has it here), "status", "source_kind" (else
import), "importance", "asked_with", "expires_at" (else permanent), "superseded_by", "pinned". Refused are facts that
were forgotten here, and people who were erased or opted out.
JSON: {"imported", "merged", "episodes", "viewers", "refused": [{"line", "reason"}]}."""
EXPORT_KEYS = """One JSON object per line, as import takes it: {"id", "scope", "viewer" (its id), "login", "fact",
"confidence", "observed_at", "topics", "status", "source_kind", "importance", "asked_with", "expires_at" (null:
permanent), "superseded_by", "pinned", "persona" (if it is one's own), "episode": {"key", "summary"}}. People in texts
stand as <@id>. Only active notes unless --status says otherwise; no chat is in it, and, unless
--viewer names them, nobody who opted out or was banned."""


def add(subparsers: Commands) -> None:
    """Name the command and its options."""
    parser = subparsers.add_parser("memory", help="list, explain, correct, import and export notes")
    actions = parser.add_subparsers(dest="memory_command", metavar="ACTION", required=True)
    _add_list(actions)
    for name, help_text, keys, run in (
        ("show", "one note", NOTE_KEYS, _show),
        ("why", "where a note comes from", WHY_KEYS, _why),
    ):
        one = add_action(actions, name, help_text, keys)
        one.add_argument("id", type=number_from(1), metavar="ID", help="the note's number")
        one.set_defaults(run=lambda arguments, run=run: run_async(run(arguments)))
    _add_import(actions)
    _add_export(actions)
    add_changes(actions)
    add_copies(actions)


def _add_list(actions: Commands) -> None:
    parser = add_action(actions, "list", "notes in the order of their ids", LIST_KEYS)
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (login or id)")
    parser.add_argument("--status", default="active", help="active (default), stale, expired, … or all")
    parser.add_argument("--limit", type=number_from(1), default=1_000, help="at most this many (default: 1000)")
    parser.add_argument("--after", type=number_from(0), default=0, metavar="ID", help="only ids above this one")
    parser.set_defaults(run=lambda arguments: run_async(_list(arguments)))


def _add_import(actions: Commands) -> None:
    parser = add_action(actions, "import", "import notes from JSON lines", IMPORT_KEYS)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--merge", action="store_true", help="confirm or replace existing notes")
    parser.add_argument("--dry-run", action="store_true", help="only say what would come in")
    parser.add_argument("--unfiltered", action="store_true", help="skip the filter for sensitive facts")
    parser.set_defaults(run=lambda arguments: run_async(_import(arguments)))


def _add_export(actions: Commands) -> None:
    parser = add_action(actions, "export", "print notes as JSON lines", EXPORT_KEYS)
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (login or id)")
    parser.add_argument("--status", default="active", help="active (default), stale, expired, … or all")
    parser.set_defaults(run=lambda arguments: run_async(_export(arguments)))


async def _list(arguments: argparse.Namespace) -> None:
    from forgetmenot.store import notes

    async with opened(arguments) as db:
        found = await notes.page(
            db,
            subject_id=await known_viewer(db, arguments.viewer) if arguments.viewer is not None else None,
            status=_status(arguments),
            limit=arguments.limit,
            after=arguments.after,
        )
        if arguments.json:
            emit({"notes": await as_json(db, found)})
            return
        for line in await as_lines(db, found):
            show_line(line)


def _status(arguments: argparse.Namespace) -> str | None:
    from forgetmenot.domain.memory import NoteStatus
    from forgetmenot.errors import InputError

    status: str = arguments.status
    if status != "all" and status not in list(NoteStatus):
        raise InputError(f"There is no status {status}. Use one of: {', '.join(NoteStatus)}, all.")
    return None if status == "all" else status


async def _show(arguments: argparse.Namespace) -> None:
    from forgetmenot.store import notes

    async with opened(arguments) as db:
        note = await notes.get(db, arguments.id)
        if note is None:
            raise _no_note(arguments.id)
        if arguments.json:
            emit((await as_json(db, [note]))[0])
            return
        show_line((await as_lines(db, [note]))[0])
        show_line(f"  {note.status.value}, {note.source_kind.value}, confidence {note.confidence:.2f}")


def _no_note(note_id: int) -> Exception:
    from forgetmenot.errors import InputError

    return InputError(f"There is no note {note_id}. `forgetmenot memory list` lists the numbers.")


async def _why(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.notes.provenance import explain, in_words

    async with opened(arguments) as db:
        explained = await explain(db, arguments.id)
        if explained is None:
            raise _no_note(arguments.id)
        if not arguments.json:
            show_line(in_words(explained))
            return
        note = (await as_json(db, [explained.note]))[0]
        emit({"note": note, **_chain(explained)})


def _chain(explained: "Explanation") -> dict[str, object]:
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
            {"at": iso(one.at), "from": one.from_status, "to": one.to_status, "cause": one.cause}
            for one in explained.history
        ],
        "replaced": [note.id for note in explained.replaced],
        "replaced_by": explained.note.superseded_by,
        "replies": [{"id": reply, "at": iso(at)} for reply, at in explained.replies],
        "streams": list(explained.streams),
    }


async def _import(arguments: argparse.Namespace) -> int:
    from forgetmenot.clock import SystemClock
    from forgetmenot.errors import InputError
    from forgetmenot.memory.transfer import import_notes
    from forgetmenot.store.database import open_database

    with text_lines(arguments.file) as lines:
        async with open_database(database_path(arguments)) as db:
            report = await import_notes(
                db,
                lines,
                now=SystemClock().now(),
                merge=arguments.merge,
                filtered=not arguments.unfiltered,
                dry_run=arguments.dry_run,
            )
    for refused in report.refused if not arguments.json else ():
        say(f"line {refused.line}: {refused.reason}")
    if arguments.json:
        emit(
            {
                "imported": report.imported,
                "merged": report.merged,
                "episodes": report.episodes,
                "viewers": report.viewers,
                "refused": [refused._asdict() for refused in report.refused],
            }
        )
    else:
        if arguments.dry_run:
            say("Nothing was changed. This is what would come in:")
        say(f"{report.imported} notes imported, {report.merged} merged, {len(report.refused)} lines refused.")
    if report.refused and not report.imported + report.merged:
        raise InputError(f"None of the {len(report.refused)} lines of {arguments.file} could be used. Nothing changed.")
    return 0


async def _export(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.transfer import export_notes

    async with opened(arguments) as db:
        subject = await known_viewer(db, arguments.viewer) if arguments.viewer is not None else None
        async for line in export_notes(db, subject_id=subject, status=_status(arguments)):
            emit(line)
