"""Rows of `semantic_notes`, `note_changes` and `never_mention`: notes, their history, and what is never mentioned.

A fact is never edited: it is superseded, and the old row keeps its text, its dates and a pointer to the new one. Each
change of status writes a row of `note_changes` in the same transaction. memory/ makes the decisions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from forgetmenot.domain.memory import Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.languages import read_reason
from forgetmenot.store.database import Row, Source, Transaction, row_as

_SELECT = """
SELECT n.*, (SELECT group_concat(DISTINCT e.episode_id) FROM note_evidence e WHERE e.note_id = n.id) AS episode_ids
FROM semantic_notes n
"""
_INSERT = """
INSERT INTO semantic_notes (id, scope, subject_id, fact, confidence, source_kind, importance, topics, asked_with,
    created_at, last_confirmed_at, confirmed_stream, expires_at, pinned, persona, external_id)
VALUES (:id, :scope, :subject_id, :fact, :confidence, :source_kind, :importance, :topics, :asked_with, :now, :at,
    :stream_id, :expires_at, :pinned, :persona, :external_id)
"""
_RECORD = "INSERT INTO note_changes (note_id, at, from_status, to_status, cause) VALUES (?, ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note to be written. `at`: when it was said, in which stream; `id` None: the next free one."""

    scope: Scope
    subject_id: str | None
    fact: str
    confidence: float
    source_kind: SourceKind
    at: int
    importance: Importance = Importance.MEDIUM
    topics: tuple[str, ...] = ()
    asked_with: tuple[str, ...] = ()
    expires_at: int | None = None
    stream_id: int | None = None
    pinned: bool = False
    id: int | None = None
    persona: str = ""
    external_id: int | None = None  # its number in the memory that it was imported from


class Change(NamedTuple):
    """One line of a note's history."""

    note_id: int
    at: int
    from_status: str | None
    to_status: str
    cause: str


def from_row(row: Row) -> Note:
    """A row of `semantic_notes` with its `episode_ids` as a Note."""
    lists = {name: json.loads(row[name]) for name in ("topics", "asked_with")}
    return row_as(row, Note, **lists, episode_ids=sorted(int(i) for i in (row["episode_ids"] or "").split(",") if i))


async def get(source: Source, note_id: int) -> Note | None:
    """One note, whatever its status."""
    row = await source.row(f"{_SELECT} WHERE n.id = ?", (note_id,))
    return from_row(row) if row else None


async def of_subject(
    source: Source, subject_id: str | None, statuses: Sequence[NoteStatus] = (NoteStatus.ACTIVE,)
) -> list[Note]:
    """The notes about one viewer, or (None) about the channel and its running bits, oldest first."""
    marks = ", ".join("?" * len(statuses))
    subject = "n.subject_id = ?" if subject_id is not None else "n.subject_id IS NULL AND n.scope <> 'viewer'"
    params = (*([subject_id] if subject_id is not None else []), *statuses)
    sql = f"{_SELECT} WHERE {subject} AND n.status IN ({marks}) AND n.fact <> '' ORDER BY n.id"  # marks
    return [from_row(row) for row in await source.rows(sql, params)]


async def withdrawn_since(source: Source, subject_id: str | None, at: int) -> list[Note]:
    """Notes about a subject that are superseded or retracted, and whose history has a change after a time (ms)."""
    subject = "n.subject_id = :subject" if subject_id is not None else "n.subject_id IS NULL AND n.scope <> 'viewer'"
    later = "EXISTS (SELECT 1 FROM note_changes c WHERE c.note_id = n.id AND c.at > :at)"
    gone = "n.status IN ('superseded', 'retracted') AND n.fact <> ''"
    sql = f"{_SELECT} WHERE {subject} AND {gone} AND {later} ORDER BY n.id"
    return [from_row(row) for row in await source.rows(sql, {"subject": subject_id, "at": at})]


async def page(
    source: Source, *, subject_id: str | None = None, status: str | None = None, limit: int = 1000, after: int = 0
) -> list[Note]:
    """Notes in the order of their ids, for listing and exporting: those after `after`, of one viewer or of all."""
    rows = await source.rows(
        f"{_SELECT} WHERE n.id > :after AND (:subject IS NULL OR n.subject_id = :subject)"
        " AND (:status IS NULL OR n.status = :status) ORDER BY n.id LIMIT :limit",
        {"after": after, "subject": subject_id, "status": status, "limit": limit},
    )
    return [from_row(row) for row in rows]


async def fingerprint(source: Source, subject_id: str | None) -> tuple[object, ...]:
    """Something that differs when a subject's active notes differ. The last item: recall is allowed about them.

    It reads the subject's index entries and rows, no text and no evidence.
    """
    columns = "count(*), total(n.id), max(n.last_confirmed_at), total(n.confidence), total(n.pinned)"
    if subject_id is None:
        sql = f"SELECT {columns}, 1 FROM semantic_notes n WHERE subject_id IS NULL AND status = 'active'"  # noqa: S608
        row = await source.row(f"{sql} AND scope IN ('channel', 'running_bit')")
    else:
        open_to = "SELECT 1 FROM viewers v WHERE v.id = ?1 AND v.opted_out_at IS NULL AND v.banned_at IS NULL"
        row = await source.row(
            f"SELECT {columns}, EXISTS ({open_to}) FROM semantic_notes n"  # noqa: S608
            " WHERE subject_id = ?1 AND status = 'active'",
            (subject_id,),
        )
    return tuple(row) if row else ()


async def all_active(source: Source, note_ids: Sequence[int]) -> bool:
    """Whether each of these notes still is what is known."""
    found = await source.value(
        "SELECT count(*) FROM semantic_notes WHERE status = 'active' AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(note_ids)),),
    )
    return int(found or 0) == len(note_ids)


async def insert(tx: Transaction, new: NewNote, *, cause: str, now: int) -> int:
    """Write a note and the first line of its history; its id."""
    note_id = await tx.insert(_INSERT, _values(new, now))
    await record(tx, Change(note_id, now, None, NoteStatus.ACTIVE, cause))
    return note_id


def _values(new: NewNote, now: int) -> dict[str, object]:
    words = {name: json.dumps(getattr(new, name), ensure_ascii=False) for name in ("topics", "asked_with")}
    return {**asdict(new), **words, "now": now}


async def insert_many(tx: Transaction, new: Sequence[NewNote], *, cause: str, now: int) -> None:
    """Write many notes whose ids are given."""
    await tx.many(_INSERT, [_values(one, now) for one in new])
    await tx.many(
        _RECORD,
        [Change(one.id or 0, now, None, NoteStatus.ACTIVE, cause) for one in new],
    )


async def take_over(tx: Transaction, statuses: Sequence[tuple[int, NoteStatus]], *, cause: str, now: int) -> None:
    """Give notes that were just written the status they had elsewhere."""
    await tx.many("UPDATE semantic_notes SET status = ?2 WHERE id = ?1", statuses)
    await tx.many(
        _RECORD,
        [Change(note_id, now, NoteStatus.ACTIVE, status, cause) for note_id, status in statuses],
    )


async def point(tx: Transaction, successors: Mapping[int, int]) -> None:
    """Let superseded notes point to those that replaced them."""
    await tx.many("UPDATE semantic_notes SET superseded_by = ?2 WHERE id = ?1", list(successors.items()))


async def record(tx: Transaction, change: Change) -> None:
    """One line of a note's history."""
    await tx.execute(_RECORD, change)


async def set_status(
    tx: Transaction, note: Note, status: NoteStatus, *, at: int, cause: str, superseded_by: int | None = None
) -> None:
    """Change a note's status, and say why. `superseded_by` is what it points to afterwards."""
    await tx.execute(
        "UPDATE semantic_notes SET status = ?, superseded_by = ? WHERE id = ?", (status, superseded_by, note.id)
    )
    await record(tx, Change(note.id, at, note.status, status, cause))


async def set_confirmed(tx: Transaction, note: Note, *, stream_id: int | None) -> None:
    """Write a note's confidence, source kind, end and time of confirmation as they are in `note`."""
    await tx.execute(
        "UPDATE semantic_notes SET confidence = ?, source_kind = ?, last_confirmed_at = ?, expires_at = ?,"
        " confirmed_stream = ? WHERE id = ?",
        (note.confidence, note.source_kind, note.last_confirmed_at, note.expires_at, stream_id, note.id),
    )


async def set_pinned(tx: Transaction, note_id: int, *, pinned: bool) -> None:
    """Pin a note, so that it neither ages nor counts against a limit, or unpin it."""
    await tx.execute("UPDATE semantic_notes SET pinned = ? WHERE id = ?", (int(pinned), note_id))


async def confirmed_stream(source: Source, note_id: int) -> int | None:
    """The stream in which a note was last written or confirmed."""
    row = await source.row("SELECT confirmed_stream FROM semantic_notes WHERE id = ?", (note_id,))
    return row[0] if row else None


async def superseded_by(source: Source, note_id: int) -> list[Note]:
    """The notes that point to this one."""
    return [from_row(row) for row in await source.rows(f"{_SELECT} WHERE n.superseded_by = ?", (note_id,))]


async def changes(source: Source, note_id: int) -> list[Change]:
    """A note's history, oldest first."""
    rows = await source.rows(
        "SELECT note_id, at, from_status, to_status, cause FROM note_changes WHERE note_id = ? ORDER BY id", (note_id,)
    )
    return [Change(*row)._replace(cause=read_reason(row["cause"])) for row in rows]


async def changed_last(source: Source, note_ids: Sequence[int], cause: str, at: int) -> set[int]:
    """Those of these notes whose last change was for that cause, just then."""
    rows = await source.rows(
        "SELECT c.note_id FROM note_changes c WHERE c.note_id IN (SELECT value FROM json_each(?))"
        " AND c.at = ? AND c.cause = ?"
        " AND NOT EXISTS (SELECT 1 FROM note_changes later WHERE later.note_id = c.note_id AND later.id > c.id)",
        (json.dumps(list(note_ids)), at, cause),
    )
    return {row[0] for row in rows}


async def changed_since(source: Source, note_ids: Sequence[int], cause: str, since: int) -> bool:
    """Whether one of these notes was changed for that cause since then."""
    marks = ", ".join("?" * len(note_ids))
    sql = f"SELECT 1 FROM note_changes WHERE note_id IN ({marks}) AND cause = ? AND at >= ? LIMIT 1"  # noqa: S608
    return await source.row(sql, (*note_ids, cause, since)) is not None


async def written_in_stream(
    source: Source, subject_id: str | None, stream_id: int, kind: SourceKind | None = None
) -> int:
    """How many notes about a subject one stream has brought, of any kind or of one."""
    row = await source.row(
        "SELECT count(DISTINCT n.id) FROM semantic_notes n JOIN note_evidence e ON e.note_id = n.id"
        " JOIN episodes p ON p.id = e.episode_id"
        " WHERE n.subject_id IS ?1 AND e.stance = 'stated' AND p.stream_id = ?2"
        " AND n.source_kind = coalesce(?3, n.source_kind)",
        (subject_id, stream_id, kind),
    )
    return int(row[0]) if row else 0


async def delete_of_subject(tx: Transaction, subject_id: str, note_ids: Sequence[int]) -> int:
    """Delete these notes about a viewer with history and evidence; only for an erasure."""
    ids = json.dumps(list(note_ids))
    await tx.execute(
        "UPDATE semantic_notes SET superseded_by = NULL WHERE superseded_by IN (SELECT value FROM json_each(?))", (ids,)
    )
    return await tx.execute(
        "DELETE FROM semantic_notes WHERE subject_id = ? AND id IN (SELECT value FROM json_each(?))", (subject_id, ids)
    )


async def facts_of(source: Source, ids: Sequence[int]) -> dict[int, tuple[str | None, str]]:
    """The subject and the fact of those of these ids that are in use."""
    rows = await source.rows(
        "SELECT id, subject_id, fact FROM semantic_notes WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {row[0]: (row[1], row[2]) for row in rows}


async def highest_id(source: Source) -> int:
    """The highest id ever given out; ids are never used twice."""
    row = await source.row(
        "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'semantic_notes'), 0),"
        " coalesce((SELECT max(id) FROM semantic_notes), 0))"
    )
    return int(row[0]) if row else 0


# Queries of the daily sweep. Each is short at any size: by an index, or for one viewer at a time. Of notes that are too
# many, hearsay goes first, then the least important, then the oldest. Absence is not staleness: only streams that a
# viewer came to after the last confirmation count.


_NOTE = "SELECT n.*, NULL AS episode_ids FROM semantic_notes n"
_MORTAL = "n.status = 'active' AND n.pinned = 0 AND n.source_kind <> 'import'"
_KEPT_FIRST = (
    "n.source_kind = 'reported', CASE n.importance WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END DESC,"
    " n.last_confirmed_at DESC, n.id DESC"
)
_AGED = f"{_MORTAL} AND n.last_confirmed_at <= :before"
_DUE = {
    "expired": f"{_NOTE} WHERE {_MORTAL} AND n.expires_at <= :now LIMIT :limit",
    "unconfirmed": f"{_NOTE} WHERE n.subject_id = :viewer AND {_AGED} AND (SELECT count(*) FROM attendance a"  # noqa: S608
    " WHERE a.viewer_id = :viewer AND a.first_at > n.last_confirmed_at) >= :streams",
    "unconfirmed of the channel": f"{_NOTE} WHERE n.subject_id IS NULL AND {_AGED} AND (SELECT count(*)"  # noqa: S608
    " FROM streams s WHERE s.started_at > n.last_confirmed_at) >= :streams LIMIT :limit",
    "too many": "WITH counted AS (SELECT n.id, n.expires_at IS NULL AS lasting, row_number() OVER ("  # noqa: S608
    f"PARTITION BY n.expires_at IS NULL ORDER BY {_KEPT_FIRST}) AS place FROM semantic_notes n"
    f" WHERE n.subject_id = :viewer AND {_MORTAL}) {_NOTE} JOIN counted c ON c.id = n.id"
    " WHERE c.place > CASE WHEN c.lasting THEN :permanent ELSE :timed END ORDER BY c.place DESC",
    "too many of the channel": f"{_NOTE} WHERE n.subject_id IS NULL AND {_MORTAL} ORDER BY {_KEPT_FIRST}"
    " LIMIT :limit OFFSET :kept",
}


async def due(source: Source, sweep: str, values: Mapping[str, object]) -> list[Note]:
    """The notes whose status one of the sweeps changes. `values`: what its query names."""
    return [from_row(row) for row in await source.rows(_DUE[sweep], values)]


async def attending_viewers(source: Source, streams: int) -> list[str]:
    """Viewers who have come to that many streams in all."""
    rows = await source.rows("SELECT viewer_id FROM attendance GROUP BY viewer_id HAVING count(*) >= ?", (streams,))
    return [row[0] for row in rows]


async def viewers_over_limit(source: Source, more_than: int) -> list[str]:
    """Viewers about whom there are more active notes than that."""
    rows = await source.rows(
        "SELECT subject_id FROM semantic_notes WHERE subject_id IS NOT NULL AND status = 'active'"
        " GROUP BY subject_id HAVING count(*) > ?",
        (more_than,),
    )
    return [row[0] for row in rows]


# The entries of the list that must never be mentioned.


class SuppressionRow(NamedTuple):
    """One row. `viewer_id` None: of the whole channel; `note_id`: that one note, and its words when it was named."""

    id: int
    viewer_id: str | None
    words: str
    note_id: int | None
    by_id: str | None
    at: int


async def add_suppression(
    tx: Transaction, viewer_id: str | None, words: str, *, note_id: int | None, by_id: str | None, at: int
) -> int:
    """Suppress something from now on; returns the row's id."""
    await tx.execute("DELETE FROM briefs WHERE viewer_id = ?1 OR ?1 IS NULL", (viewer_id,))
    return await tx.insert(
        "INSERT INTO never_mention (viewer_id, words, note_id, by_id, at) VALUES (?, ?, ?, ?, ?)",
        (viewer_id, words, note_id, by_id, at),
    )


async def remove_suppression(tx: Transaction, row_id: int) -> bool:
    """Delete an entry; False if there is no such row."""
    return bool(await tx.execute("DELETE FROM never_mention WHERE id = ?", (row_id,)))


async def suppression_revision(source: Source) -> tuple[int, int, int]:
    """A value that changes whenever an entry is added or removed."""
    found = (await source.rows("SELECT count(*), coalesce(max(id), 0), coalesce(sum(at), 0) FROM never_mention"))[0]
    return found[0], found[1], found[2]


async def suppressions_with_facts(source: Source) -> list[tuple[SuppressionRow, str]]:
    """Every entry, oldest first, with the fact of the note that it names, if that exists."""
    rows = await source.rows(
        "SELECT n.*, coalesce(s.fact, '') FROM never_mention n LEFT JOIN semantic_notes s ON s.id = n.note_id"
        " ORDER BY n.id"
    )
    return [(SuppressionRow(*row[:-1]), row[-1]) for row in rows]


async def suppressions(source: Source) -> list[SuppressionRow]:
    """Every entry, oldest first."""
    return [SuppressionRow(*row) for row in await source.rows("SELECT * FROM never_mention ORDER BY id")]
