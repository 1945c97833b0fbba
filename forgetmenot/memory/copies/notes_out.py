"""Notes out of the memory as JSON lines that memory/copies/notes_in takes in again, with no chat in them."""

from collections.abc import AsyncIterator

from forgetmenot.clock import iso
from forgetmenot.domain.memory import Note
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Database


async def export_notes(
    db: Database, *, subject_id: str | None = None, status: str | None = None
) -> AsyncIterator[dict[str, object]]:
    """Every note as a line that `import_notes` takes again, with all that it takes over; in order of ids.

    Without people who opted out or were banned, unless one is asked for: where it goes, nobody knows that of them.
    """
    after = 0
    while batch := await notes.page(db, subject_id=subject_id, status=status, limit=1_000, after=after):
        after = batch[-1].id
        first = {note.id: note.episode_ids[0] for note in batch if note.episode_ids}
        told = await episodes.summaries_with_keys(db, first.values())
        people = sorted({note.subject_id for note in batch if note.subject_id is not None})
        logins = await viewers.logins(db, people)
        hidden = await viewers.hidden(db, people) if subject_id is None else frozenset[str]()
        for note in batch:
            if note.subject_id in hidden:
                continue
            yield _line(note, logins, told.get(first.get(note.id, 0)))


def _line(note: Note, logins: dict[str, str], told: tuple[str, str] | None) -> dict[str, object]:
    line: dict[str, object] = {
        "id": note.id,
        "scope": note.scope.value,
        "viewer": note.subject_id,
        "login": logins.get(note.subject_id or ""),
        "fact": note.fact,
        "confidence": round(note.confidence, 4),
        "observed_at": iso(note.last_confirmed_at),
        "topics": list(note.topics),
        "status": note.status.value,
        "source_kind": note.source_kind.value,
        "importance": note.importance.value,
        "asked_with": list(note.asked_with),
        "expires_at": None if note.expires_at is None else iso(note.expires_at),
        "superseded_by": note.superseded_by,
        "pinned": note.pinned,
    }
    if note.persona:
        line["persona"] = note.persona
    if told is not None:
        line["episode"] = {"key": told[0], "summary": told[1]}
    return line
