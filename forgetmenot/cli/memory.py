"""`forgetmenot memory list|show|why|import|export`: what is remembered, where it comes from, in and out.

What changes notes (undo, retract, pin, never) is cli/memory_changes; copies of the whole are cli/memory_copies.
"""

import argparse
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forgetmenot.cli.common import (
    add_db_option,
    add_json_option,
    database_path,
    emit,
    existing_database,
    run_async,
    say,
    show_line,
)
from forgetmenot.cli.memory_changes import add_changes
from forgetmenot.cli.memory_copies import add_copies

if TYPE_CHECKING:
    from forgetmenot.domain.memory import Note
    from forgetmenot.store.database import Database

NOTE_KEYS = """A note in JSON: id, scope (viewer, channel, running_bit), viewer (login or null), viewer_id, fact,
confidence (0 to 1), status (active, stale, expired, superseded, evicted, retracted), source_kind (command, import,
self_claim, observed, reported), importance, topics, asked_with, created_at, last_confirmed_at, expires_at (null:
permanent), superseded_by, pinned, persona (empty: of all), episode_ids. Times are ISO 8601, UTC."""

LIST_KEYS = 'JSON: {"notes": [note …]}. ' + NOTE_KEYS
WHY_KEYS = (
    """JSON: {"note", "evidence": [{"episode", "kind", "stream", "stance", "speaker", "addressed", "at",
"summary"}], "history": [{"at", "from", "to", "cause"}], "replaced": [ids], "replaced_by": id or null,
"replies": [{"id", "at"}], "streams": [ids in which it came up]}. stance is stated, confirmed or contradicted; speaker a
name or null.
"""
    + NOTE_KEYS
)
IMPORT_KEYS = """FILE holds JSON lines (- reads standard input): {"id"?, "scope"?, "viewer", "fact", "confidence"?,
"observed_at"?, "topics"?, "persona"?, "episode"?: {"key", "summary"}}. viewer is a login or a Twitch id (none for
scope channel and running_bit); a login nobody has seen yet is joined to its id when it first speaks. observed_at is ISO
8601, UTC without a zone. An id is taken if it is free. Lines with the same episode key share that episode as evidence.
Also taken over as `export` prints them: "status", "source_kind" (else import), "importance", "asked_with", "expires_at"
(else permanent), "superseded_by", "pinned". Refused are facts that were forgotten here, and people who were erased or
opted out.
JSON: {"imported", "merged", "episodes", "viewers", "refused": [{"line", "reason"}]}."""
EXPORT_KEYS = """One JSON object per line, as import takes it: {"id", "scope", "viewer" (its id), "login", "fact",
"confidence", "observed_at", "topics", "status", "source_kind", "importance", "asked_with", "expires_at" (null:
permanent), "superseded_by", "pinned", "persona" (if it is one's own), "episode": {"key", "summary"}}. People in texts
stand as <@id>. Only active notes unless --status says otherwise; no chat is in it."""


def add(subparsers: Any) -> None:  # noqa: ANN401  # argparse does not name this type
    """Name the command and its options."""
    parser = subparsers.add_parser("memory", help="list, explain, correct, import and export what is remembered")
    actions = parser.add_subparsers(dest="memory_command", metavar="ACTION", required=True)
    _add_list(actions)
    for name, help_text, keys, run in (
        ("show", "one note", NOTE_KEYS, _show),
        ("why", "where a note comes from", WHY_KEYS, _why),
    ):
        one = _action(actions, name, help_text, keys)
        one.add_argument("id", type=int, metavar="ID", help="the note's number")
        one.set_defaults(run=lambda arguments, run=run: run_async(run(arguments)))
    _add_import(actions)
    _add_export(actions)
    add_changes(actions)
    add_copies(actions)


def _action(actions: Any, name: str, help_text: str, keys: str) -> argparse.ArgumentParser:  # noqa: ANN401  # as above
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=help_text, description=help_text, epilog=keys, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_db_option(parser)
    add_json_option(parser)
    return parser


def _add_list(actions: Any) -> None:  # noqa: ANN401  # as above
    parser = _action(actions, "list", "notes in the order of their ids", LIST_KEYS)
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (login or id)")
    parser.add_argument("--status", default="active", help="active (default), stale, expired, … or all")
    parser.add_argument("--limit", type=int, default=1_000, help="at most this many (default: 1000)")
    parser.add_argument("--after", type=int, default=0, metavar="ID", help="only ids above this one")
    parser.set_defaults(run=lambda arguments: run_async(_list(arguments)))


def _add_import(actions: Any) -> None:  # noqa: ANN401  # as above
    parser = _action(actions, "import", "take in notes from JSON lines", IMPORT_KEYS)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--merge", action="store_true", help="confirm or supersede what is known")
    parser.add_argument("--unfiltered", action="store_true", help="leave out the filter for sensitive content")
    parser.set_defaults(run=lambda arguments: run_async(_import(arguments)))


def _add_export(actions: Any) -> None:  # noqa: ANN401  # as above
    parser = _action(actions, "export", "print notes as JSON lines", EXPORT_KEYS)
    parser.add_argument("--viewer", metavar="LOGIN", help="only about this viewer (login or id)")
    parser.add_argument("--status", default="active", help="active (default), stale, expired, … or all")
    parser.set_defaults(run=lambda arguments: run_async(_export(arguments)))


@asynccontextmanager
async def _opened(arguments: argparse.Namespace) -> "AsyncIterator[Database]":
    from forgetmenot.store.database import open_database

    async with open_database(existing_database(arguments)) as db:
        yield db


async def _viewer(db: "Database", given: str | None) -> str | None:
    from forgetmenot.errors import InputError
    from forgetmenot.store import crowd

    if given is None:
        return None
    found = await crowd.find(db, given)
    if found is None:
        raise InputError(f"Nobody called {given} is known. Use a present login or a Twitch id.")
    return found


async def _list(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.notes.why import names_for
    from forgetmenot.store import notes
    from forgetmenot.text.mentions import show

    async with _opened(arguments) as db:
        found = await notes.page(
            db,
            subject_id=await _viewer(db, arguments.viewer),
            status=_status(arguments),
            limit=arguments.limit,
            after=arguments.after,
        )
        if arguments.json:
            emit({"notes": await as_json(db, found)})
            return
        names = await names_for(db, found)
        for note in found:
            show_line(f"#{note.id} {names.get(note.subject_id or '', note.scope.value)}: {show(note.fact, names)}")


def _status(arguments: argparse.Namespace) -> str | None:
    from forgetmenot.domain.memory import NoteStatus
    from forgetmenot.errors import InputError

    status: str = arguments.status
    if status != "all" and status not in list(NoteStatus):
        raise InputError(f"There is no status {status}. Known are: {', '.join(NoteStatus)}, all.")
    return None if status == "all" else status


async def as_json(db: "Database", found: "list[Note]") -> list[dict[str, object]]:
    """Notes as the commands print them, with names in the place of mentions."""
    from forgetmenot.memory.notes.why import names_for
    from forgetmenot.store import crowd

    names = await names_for(db, found)
    logins = await crowd.logins(db, sorted({note.subject_id for note in found if note.subject_id is not None}))
    return [_note(note, names, logins) for note in found]


def _note(note: "Note", names: dict[str, str], logins: dict[str, str]) -> dict[str, object]:
    from forgetmenot.clock import iso
    from forgetmenot.text.mentions import show

    return {
        "id": note.id,
        "scope": note.scope.value,
        "viewer": logins.get(note.subject_id or ""),
        "viewer_id": note.subject_id,
        "fact": show(note.fact, names),
        "confidence": round(note.confidence, 4),
        "status": note.status.value,
        "source_kind": note.source_kind.value,
        "importance": note.importance.value,
        "topics": list(note.topics),
        "asked_with": list(note.asked_with),
        "created_at": iso(note.created_at),
        "last_confirmed_at": iso(note.last_confirmed_at),
        "expires_at": None if note.expires_at is None else iso(note.expires_at),
        "superseded_by": note.superseded_by,
        "pinned": note.pinned,
        "persona": note.persona,
        "episode_ids": list(note.episode_ids),
    }


async def _show(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.notes.why import names_for
    from forgetmenot.store import notes
    from forgetmenot.text.mentions import show

    async with _opened(arguments) as db:
        note = await notes.get(db, arguments.id)
        if note is None:
            raise _no_note(arguments.id)
        if arguments.json:
            emit((await as_json(db, [note]))[0])
            return
        names = await names_for(db, [note])
        show_line(f"#{note.id} {names.get(note.subject_id or '', note.scope.value)}: {show(note.fact, names)}")
        show_line(f"  {note.status.value}, {note.source_kind.value}, confidence {note.confidence:.2f}")


def _no_note(note_id: int) -> Exception:
    from forgetmenot.errors import InputError

    return InputError(f"There is no note {note_id}. `forgetmenot memory list` shows the numbers there are.")


async def _why(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.notes.why import explain, in_words

    async with _opened(arguments) as db:
        told = await explain(db, arguments.id)
        if told is None:
            raise _no_note(arguments.id)
        if not arguments.json:
            show_line(in_words(told))
            return
        note = (await as_json(db, [told.note]))[0]
        emit({"note": note, **_chain(told)})


def _chain(told: Any) -> dict[str, object]:  # noqa: ANN401  # an Explanation; its module is imported late
    from forgetmenot.clock import iso
    from forgetmenot.text.mentions import show

    return {
        "evidence": [
            {
                "episode": word.episode.id,
                "kind": word.episode.kind.value,
                "stream": word.episode.stream_id,
                "stance": word.stance,
                "speaker": told.names.get(word.speaker_id),
                "addressed": word.addressed,
                "at": iso(word.at),
                "summary": show(word.episode.summary, told.names),
            }
            for word in told.evidence
        ],
        "history": [
            {"at": iso(one.at), "from": one.from_status, "to": one.to_status, "cause": one.cause}
            for one in told.history
        ],
        "replaced": [note.id for note in told.replaced],
        "replaced_by": told.note.superseded_by,
        "replies": [{"id": reply, "at": iso(at)} for reply, at in told.replies],
        "streams": list(told.streams),
    }


async def _import(arguments: argparse.Namespace) -> int:
    from forgetmenot.clock import SystemClock
    from forgetmenot.memory.copies.transfer import import_notes
    from forgetmenot.store.database import open_database

    with _lines(arguments.file) as lines:
        async with open_database(database_path(arguments)) as db:
            report = await import_notes(
                db, lines, now=SystemClock().now(), merge=arguments.merge, filtered=not arguments.unfiltered
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
        say(f"{report.imported} notes imported, {report.merged} merged, {len(report.refused)} lines refused.")
    return 0


@contextmanager
def _lines(name: str) -> Iterator[Iterator[str]]:
    from forgetmenot.errors import InputError

    if name == "-":
        yield iter(sys.stdin)
        return
    try:
        with Path(name).open(encoding="utf-8") as file:
            yield iter(file)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start}.") from error


async def _export(arguments: argparse.Namespace) -> None:
    from forgetmenot.memory.copies.notes_out import export_notes

    async with _opened(arguments) as db:
        subject = await _viewer(db, arguments.viewer)
        async for line in export_notes(db, subject_id=subject, status=_status(arguments)):
            emit(line)
