"""Prints notes, as JSON with the documented keys or as lines."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forgetmenot.domain.memory import Note
    from forgetmenot.store.database import Database

NOTE_KEYS = """A note in JSON: id, scope (viewer, channel, running_bit), viewer (login or null), viewer_id, fact,
confidence (0 to 1), status (active, stale, expired, superseded, evicted, retracted), source_kind (command, import,
self_claim, observed, reported), importance, topics, asked_with, created_at, last_confirmed_at, expires_at (null:
permanent), superseded_by, pinned, persona (empty: of all), episode_ids. Times are ISO 8601, UTC."""


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
