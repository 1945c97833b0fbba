"""Rows of `semantic_notes` with their history and evidence, and of `never_mention`: what is never brought up.

A fact is never edited: it is superseded, and the old row keeps its text, its dates and a pointer to the new one. Each
change of status writes a row of `note_changes` in the same transaction. memory/ makes the decisions.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot.domain import Episode, Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.languages import read_reason
from forgetmenot.store.database import (
    Database,
    Params,
    Row,
    Source,
    Transaction,
    row_as,
)

# A subquery and no join: it is asked for those notes alone that a condition picks.
_SELECT = """
SELECT n.*, (SELECT group_concat(DISTINCT e.episode_id) FROM note_evidence e WHERE e.note_id = n.id) AS episode_ids
FROM semantic_notes n
"""
_INSERT = """
INSERT INTO semantic_notes (id, scope, subject_id, fact, confidence, source_kind, importance, topics, asked_with,
    created_at, first_said_at, last_confirmed_at, confirmed_stream, expires_at, pinned, persona, status)
VALUES (:id, :scope, :subject_id, :fact, :confidence, :source_kind, :importance, :topics, :asked_with, :now,
    coalesce(:first_said_at, :at), :at, :stream_id, :expires_at, :pinned, :persona, :status)
"""
_RECORD = """
    INSERT INTO note_changes (note_id, at, from_status, to_status, cause)
    VALUES (?, ?, ?, ?, ?)
"""
_RECALLED = "n.status IN ('active', 'past')"
RECALLED = (NoteStatus.ACTIVE, NoteStatus.PAST)


class NewNote(Struct, frozen=True):
    """A note to be written. `at`: when it was said (last), in which stream; `id` None: the next free one.

    `first_said_at` None: at the same time.
    """

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
    status: NoteStatus = NoteStatus.ACTIVE
    first_said_at: int | None = None


class Change(NamedTuple):
    """One line of a note's history."""

    note_id: int
    at: int
    from_status: str | None
    to_status: str
    cause: str


def _notes(rows: Sequence[Row]) -> list[Note]:
    """Return rows of `semantic_notes` with their `episode_ids`."""
    if not rows:
        return []
    names = rows[0].keys()
    notes = []
    for row in rows:
        # dict(row) would look for each column by its name, which takes three times as long
        columns = dict(zip(names, row, strict=True))
        columns["topics"] = msgspec.json.decode(columns["topics"])
        columns["asked_with"] = msgspec.json.decode(columns["asked_with"])
        ids = columns["episode_ids"] or ""
        columns["episode_ids"] = sorted(map(int, ids.split(","))) if ids else []
        notes.append(columns)
    # all at once: one at a time takes twice as long
    return msgspec.convert(notes, list[Note], strict=False)


async def get(source: Source, note_id: int) -> Note | None:
    """Return a note of any status; None if there is none with that id."""
    notes = await where(source, "n.id = ?", (note_id,))
    return notes[0] if notes else None


async def where(
    source: Source,
    condition: str,
    params: Params,
) -> list[Note]:
    """Return the notes of a condition (SQL, on the row `n`), in the order that it names."""
    return _notes(await source.rows(f"{_SELECT} WHERE {condition}", params))


def _about(subject_id: str | None) -> str:
    """Return the SQL condition for notes about :subject, or (None) about the channel; an index serves either."""
    if subject_id is not None:
        return "n.subject_id = :subject"
    return "n.subject_id IS NULL AND n.scope IN ('channel', 'running_bit')"


async def of_subject(
    source: Source,
    subject_id: str | None,
    statuses: Sequence[NoteStatus] = (NoteStatus.ACTIVE,),
) -> list[Note]:
    """Return the notes about one viewer, or (None) about the channel and its running bits, oldest first."""
    status = "n.status IN (SELECT value FROM json_each(:statuses))"
    # A cleared note has no text: it stays for its history alone.
    condition = f"{_about(subject_id)} AND {status} AND n.fact <> '' ORDER BY n.id"
    return await where(source, condition, {"subject": subject_id, "statuses": statuses})


async def withdrawn_since(
    source: Source,
    subject_id: str | None,
    at: int,
) -> list[Note]:
    """Return a subject's superseded and retracted notes whose history has a change after a time (ms)."""
    # The history has an index by note and time: of each such note one entry is looked up.
    later = (
        "EXISTS (SELECT 1 FROM note_changes c WHERE c.note_id = n.id AND c.at > :at)"
    )
    withdrawn = "n.status IN ('superseded', 'retracted') AND n.fact <> ''"
    condition = f"{_about(subject_id)} AND {withdrawn} AND {later} ORDER BY n.id"
    return await where(source, condition, {"subject": subject_id, "at": at})


async def page(
    source: Source,
    *,
    subject_id: str | None = None,
    status: str | None = None,
    limit: int = 1000,
    after: int = 0,
) -> list[Note]:
    """Return notes in the order of their ids: those after the id `after`, of one viewer or (None) of all."""
    condition = """
        n.id > :after
            AND (:subject IS NULL OR n.subject_id = :subject)
            AND (:status IS NULL OR n.status = :status)
        ORDER BY n.id
        LIMIT :limit
    """
    # A page follows the primary key, whatever it asks for, and stops at its limit.
    values = {"after": after, "subject": subject_id, "status": status, "limit": limit}
    return await where(source, condition, values)


async def fingerprint(source: Source, subject_id: str | None) -> tuple[object, ...]:
    """Return a value that changes when a subject's recalled notes do; its last item: whether they may be recalled.

    It reads no text and no evidence.
    """
    # sums instead of the rows: a note that comes, goes, is confirmed or pinned changes one of them
    sql = f"""
        SELECT count(*), total(n.id), max(n.last_confirmed_at), total(n.confidence),
            total(n.pinned), total(n.stale),
            :subject IS NULL OR EXISTS (SELECT 1 FROM shown WHERE id = :subject)
        FROM semantic_notes n
        WHERE {_about(subject_id)}
            AND {_RECALLED}
    """
    return tuple(await source.row(sql, {"subject": subject_id}) or ())


async def of_stream(source: Source, stream_id: int) -> list[Note]:
    """Return active notes that rest on a stream's summaries, the newest first."""
    from_stream = """
        SELECT v.note_id
        FROM note_evidence v
        JOIN episodes e ON e.id = v.episode_id
        WHERE e.stream_id = ?
            AND v.stance <> 'contradicted'
    """
    condition = f"""
        n.status = 'active'
            AND n.fact <> ''
            AND n.id IN ({from_stream})
        ORDER BY n.last_confirmed_at DESC, n.id DESC
        LIMIT 500
    """
    return await where(source, condition, (stream_id,))


async def learned_after(
    source: Source,
    note_id: int,
    until_id: int,
    limit: int,
) -> list[Note]:
    """Return the active notes behind one note and up to another, oldest first; none about somebody who is hidden."""
    condition = """
        n.id > ?
            AND n.id <= ?
            AND n.status = 'active'
            AND n.fact <> ''
            AND (n.subject_id IS NULL OR n.subject_id IN (SELECT id FROM shown))
        ORDER BY n.id
        LIMIT ?
    """
    return await where(source, condition, (note_id, until_id, limit))


async def not_active(source: Source, note_ids: Collection[int]) -> frozenset[int]:
    """Return those of these notes that may no longer be recalled."""
    active = f"SELECT 1 FROM semantic_notes n WHERE n.id = j.value AND {_RECALLED}"
    sql = f"SELECT value FROM json_each(?) j WHERE NOT EXISTS ({active})"
    return frozenset(await source.column(sql, (note_ids,)))


async def insert(
    tx: Transaction,
    new: NewNote,
    *,
    cause: str,
    now: int,
) -> int:
    """Write a note and the first line of its history, and return its id."""
    note_id = await tx.insert(_INSERT, _values(new, now))
    await record(tx, Change(note_id, now, None, new.status, cause))
    return note_id


def _values(new: NewNote, now: int) -> dict[str, object]:
    """Return the parameters of `_INSERT` for a note."""
    values = asdict(new)
    values["topics"] = json.dumps(new.topics, ensure_ascii=False)
    values["asked_with"] = json.dumps(new.asked_with, ensure_ascii=False)
    values["now"] = now
    return values


async def insert_many(
    tx: Transaction,
    notes: Sequence[NewNote],
    *,
    cause: str,
    now: int,
) -> None:
    """Write many notes that have ids already, each with the first line of its history."""
    # Two statements for all of them: one at a time, each would be a trip to the writer's thread.
    await tx.many(_INSERT, [_values(note, now) for note in notes])
    await tx.many(
        _RECORD, [Change(note.id or 0, now, None, note.status, cause) for note in notes]
    )


async def record(tx: Transaction, change: Change) -> None:
    """Write one line of a note's history."""
    await tx.execute(_RECORD, change)


async def set_status(
    tx: Transaction,
    note: Note,
    status: NoteStatus,
    *,
    at: int,
    cause: str,
    superseded_by: int | None = None,
) -> None:
    """Change a note's status, and record why. `superseded_by`: the note that replaces it, if one does."""
    await tx.execute(
        "UPDATE semantic_notes SET status = ?, superseded_by = ? WHERE id = ?",
        (status, superseded_by, note.id),
    )
    await record(tx, Change(note.id, at, note.status, status, cause))


async def set_confirmed(
    tx: Transaction,
    note: Note,
    *,
    stream_id: int | None,
) -> None:
    """Store that a note was confirmed: its confidence, source kind, end and time of confirmation."""
    await tx.execute(
        """
        UPDATE semantic_notes
        SET confidence = ?, source_kind = ?, last_confirmed_at = ?, expires_at = ?,
            confirmed_stream = ?, stale = 0
        WHERE id = ?
        """,
        (
            note.confidence,
            note.source_kind,
            note.last_confirmed_at,
            note.expires_at,
            stream_id,
            note.id,
        ),
    )


async def set_used(
    tx: Transaction,
    note_ids: Collection[int],
    at: int,
) -> None:
    """Store that a reply used these notes at a time (ms). A stale one is no longer stale."""
    used = "id IN (SELECT value FROM json_each(?))"
    await tx.execute(
        f"UPDATE semantic_notes SET used_at = ?, stale = 0 WHERE {used}", (at, note_ids)
    )


async def swap_numbers(
    tx: Transaction,
    first_id: int,
    second_id: int,
) -> None:
    """Exchange the ids of two notes, with their evidence, history and what they replaced.

    What names a note by its number (a reply that used it, what is never mentioned) goes on naming that number.
    """
    # until the exchange is whole, some rows point at no note
    await tx.execute("PRAGMA defer_foreign_keys = ON")
    id_columns = (
        ("semantic_notes", "id"),
        ("note_evidence", "note_id"),
        ("note_changes", "note_id"),
    )
    # No note has it: SQLite gives ids from 1 on.
    unused_id = -1
    steps = ((first_id, unused_id), (second_id, first_id), (unused_id, second_id))
    for table, column in id_columns:
        for before, after in steps:
            await tx.execute(
                f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (after, before)
            )
    await tx.execute(
        """
        UPDATE semantic_notes
        SET superseded_by = iif(superseded_by = ?1, ?2, ?1)
        WHERE superseded_by IN (?1, ?2)
        """,
        (first_id, second_id),
    )


async def set_pinned(
    tx: Transaction,
    note_id: int,
    *,
    pinned: bool,
) -> None:
    """Pin a note, so that it neither ages nor counts against a limit, or unpin it."""
    await tx.execute(
        "UPDATE semantic_notes SET pinned = ? WHERE id = ?", (int(pinned), note_id)
    )


async def confirmed_stream(source: Source, note_id: int) -> int | None:
    """Return the stream in which a note was last written or confirmed."""
    stream: int | None = await source.value(
        "SELECT confirmed_stream FROM semantic_notes WHERE id = ?", (note_id,)
    )
    return stream


async def predecessors(source: Source, note_id: int) -> list[Note]:
    """Return the notes that this one replaced."""
    return await where(source, "n.superseded_by = ?", (note_id,))


_CHANGES = "SELECT note_id, at, from_status, to_status, cause FROM note_changes c"
_LAST_CHANGE = "NOT EXISTS (SELECT 1 FROM note_changes later WHERE later.note_id = c.note_id AND later.id > c.id)"


async def changes(source: Source, note_id: int) -> list[Change]:
    """Return a note's history, oldest first."""
    history = []
    sql = f"{_CHANGES} WHERE note_id = ? ORDER BY id"
    for row in await source.rows(sql, (note_id,)):
        change = Change(*row)
        history.append(change._replace(cause=read_reason(change.cause)))
    return history


async def changed_last(
    source: Source,
    note_ids: Sequence[int],
    cause: str,
    at: int,
) -> set[int]:
    """Return the ids of those of these notes whose last change was made for that cause at that time (ms)."""
    sql = f"""
        SELECT c.note_id
        FROM note_changes c
        WHERE c.note_id IN (SELECT value FROM json_each(?))
            AND c.at = ?
            AND c.cause = ?
            AND {_LAST_CHANGE}
    """
    return set(await source.column(sql, (note_ids, at, cause)))


async def removed_last(
    source: Source,
    cause: str,
    since: int,
) -> Change | None:
    """Return the last removal of a note for a cause since a time (ms); None if that note was changed afterwards."""
    sql = f"""
        {_CHANGES}
        WHERE at >= ?
            AND cause = ?
            AND to_status = 'retracted'
            AND {_LAST_CHANGE}
        ORDER BY id DESC
        LIMIT 1
    """
    row = await source.row(sql, (since, cause))
    return Change(*row) if row is not None else None


async def delete_of_subject(
    tx: Transaction,
    subject_id: str,
    note_ids: Sequence[int],
) -> int:
    """Delete these notes about a viewer with history and evidence, and return how many; only for an erasure."""
    listed = "IN (SELECT value FROM json_each(?))"
    # the pointer is a foreign key: a note cannot be deleted while another points at it
    await tx.execute(
        f"UPDATE semantic_notes SET superseded_by = NULL WHERE superseded_by {listed}",
        (note_ids,),
    )
    return await tx.execute(
        f"DELETE FROM semantic_notes WHERE id {listed} AND subject_id = ?",
        (note_ids, subject_id),
    )


async def of_others_mentioning(source: Source, viewer_id: str) -> list[Note]:
    """Return the notes that mention somebody and are not about them, whatever their status."""
    # It reads all notes, since no index knows the inside of a text: for erasures alone.
    condition = "n.subject_id IS NOT ?1 AND instr(n.fact, '<@' || ?1 || '>')"
    return await where(source, condition, (viewer_id,))


async def ids_in_use(source: Source, ids: Sequence[int]) -> set[int]:
    """Return those of these ids that a note has."""
    sql = "SELECT id FROM semantic_notes WHERE id IN (SELECT value FROM json_each(?))"
    return set(await source.column(sql, (ids,)))


async def facts_of(source: Source, subject_id: str | None) -> set[tuple[str, str]]:
    """Return the facts of all notes about a viewer or (None) the channel, of any status, each with its persona."""
    rows = await source.rows(
        "SELECT fact, persona FROM semantic_notes WHERE subject_id IS ?", (subject_id,)
    )
    return {(row[0], row[1]) for row in rows}


# Evidence: the episodes that notes rest on, rows of `note_evidence`.


class Stance(NamedTuple):
    """One row of evidence. `stance`: stated, confirmed, contradicted; `speaker_id` None: nobody in particular."""

    note_id: int
    episode_id: int
    stance: str
    speaker_id: str | None
    addressed: bool
    at: int


class EvidenceLink(NamedTuple):
    """One link of a note's chain, for `memory why`."""

    stance: str
    speaker_id: str | None
    addressed: bool
    at: int
    episode: Episode


async def add_evidence(tx: Transaction, *stances: Stance) -> None:
    """Write evidence; the same stance of the same episode twice is once."""
    await tx.many(
        """
        INSERT OR IGNORE INTO note_evidence (note_id, episode_id, stance, speaker_id, addressed, at)
        VALUES (?, ?, ?, ?, ?, ?)
        """,
        stances,
    )


async def copy_evidence(
    tx: Transaction,
    old_id: int,
    new_id: int,
) -> None:
    """Let a note rest on what another one rests on."""
    await tx.execute(
        """
        INSERT OR IGNORE INTO note_evidence (note_id, episode_id, stance, speaker_id, addressed, at)
        SELECT ?2, episode_id, stance, speaker_id, addressed, at
        FROM note_evidence
        WHERE note_id = ?1
            AND stance <> 'contradicted'
        """,
        (old_id, new_id),
    )


async def is_evidence(
    source: Source,
    note_id: int,
    episode_id: int,
    speaker_id: str | None,
) -> bool:
    """Return whether this person's word in this episode is evidence for a note already."""
    # IS: nobody in particular is NULL, which = finds nowhere.
    word = "note_id = ? AND episode_id = ? AND speaker_id IS ? AND stance <> 'contradicted'"
    sql = f"SELECT 1 FROM note_evidence WHERE {word}"
    return await source.row(sql, (note_id, episode_id, speaker_id)) is not None


async def evidence_of(source: Source, note_id: int) -> list[EvidenceLink]:
    """Return a note's evidence, oldest first."""
    rows = await source.rows(
        """
        SELECT e.*, v.stance, v.speaker_id, v.addressed, v.at AS said_at
        FROM note_evidence v
        JOIN episodes e ON e.id = v.episode_id
        WHERE v.note_id = ?
        ORDER BY v.at, e.id
        """,
        (note_id,),
    )
    return [
        EvidenceLink(
            row["stance"],
            row["speaker_id"],
            bool(row["addressed"]),
            row["said_at"],
            row_as(row, Episode),
        )
        for row in rows
    ]


# ── the daily sweep ─────────────────────────────────────────────────────────────────────────
# No query reads the notes of everybody: each uses an index, or reads those of one viewer or of the channel.


_MAY_END = "n.status = 'active' AND n.pinned = 0 AND n.source_kind <> 'import'"
# Of too many notes hearsay goes first, then the least important, then the oldest.
_KEPT_FIRST = """
    n.source_kind = 'reported',
    CASE n.importance WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END DESC,
    n.last_confirmed_at DESC, n.id DESC
"""
_SAID_OR_USED = "max(n.last_confirmed_at, coalesce(n.used_at, 0))"
# A viewer who stayed away does not make a note stale: only streams that they came to count.
_CAME_SINCE = {
    "viewer": f"""
        n.subject_id = :viewer
            AND (
                SELECT count(*)
                FROM attendance a
                WHERE a.viewer_id = :viewer
                    AND a.first_at > {_SAID_OR_USED}
            )
    """,
    "channel": f"""
        n.subject_id IS NULL
            AND (SELECT count(*) FROM streams s WHERE s.started_at > {_SAID_OR_USED})
    """,
}
_TOO_MANY = f"{_MAY_END} ORDER BY {_KEPT_FIRST} LIMIT :limit OFFSET"
# The + keeps SQLite from the index of everybody's notes that end.
_DUE = {
    "over": f"""
        ({_MAY_END} AND n.expires_at <= :now OR n.status = 'past' AND n.expires_at <= :before)
        LIMIT :limit
    """,
    "channel": f"n.subject_id IS NULL AND {_TOO_MANY} :channel",
    "timed": f"n.subject_id = :viewer AND +n.expires_at IS NOT NULL AND {_TOO_MANY} :timed",
    "permanent": f"n.subject_id = :viewer AND n.expires_at IS NULL AND {_TOO_MANY} :permanent",
}
# What was to last for longer becomes past: it says what was. The rest is gone.
_LASTED_LONG = (
    "n.status = 'active' AND n.expires_at - n.last_confirmed_at > :longest_passing"
)
_ENDED = f"iif({_LASTED_LONG}, 'past', 'expired')"


async def end_due(
    db: Database,
    query: str,
    values: Mapping[str, object],
) -> int:
    """End notes whose time is over ("over"), or that are too many, and return how many.

    `query`: a key of `_DUE`. `values`: the parameters of that query, and `cause`; of "over" also `longest_passing`, the
    time (ms) for which a note may have been meant that is gone at its end. Without a due note no transaction is opened.
    """
    due = f"SELECT n.id FROM semantic_notes n WHERE {_DUE[query]}"
    status = _ENDED if query == "over" else "'evicted'"
    if not await db.column(due, values):
        return 0
    async with db.write() as tx:
        # asked again inside the write: another process may have changed them
        note_ids = await tx.column(due, values)
        # The history first: it takes the old status from the note.
        parameters = {**values, "ids": note_ids}
        is_due = "n.id IN (SELECT value FROM json_each(:ids))"
        await tx.execute(
            f"""
            INSERT INTO note_changes (note_id, at, from_status, to_status, cause)
            SELECT n.id, :now, n.status, {status}, :cause
            FROM semantic_notes n
            WHERE {is_due}
            """,
            parameters,
        )
        sql = f"UPDATE semantic_notes AS n SET status = {status} WHERE {is_due}"
        return await tx.execute(sql, parameters)


async def set_stale(
    tx: Transaction,
    viewer: str | None,
    *,
    before: int,
    streams: int,
) -> int:
    """Mark old notes about a viewer, or (None) the channel, as stale, and return how many.

    Old are those that were last said or used before a time (ms), if their subject came to at least `streams` streams
    after that. For the channel every stream counts.
    """
    came = _CAME_SINCE["viewer" if viewer is not None else "channel"]
    return await tx.execute(
        f"""
        UPDATE semantic_notes AS n
        SET stale = 1
        WHERE {_MAY_END}
            AND n.stale = 0
            AND {_SAID_OR_USED} <= :before
            AND {came} >= :streams
        """,
        {"viewer": viewer, "before": before, "streams": streams},
    )


async def attending_viewers(source: Source, streams: int) -> list[str]:
    """Return the ids of viewers who came to at least so many streams."""
    return await source.column(
        # The table lies in the order of viewers (WITHOUT ROWID), so nothing is sorted.
        "SELECT viewer_id FROM attendance GROUP BY viewer_id HAVING count(*) >= ?",
        (streams,),
    )


async def viewers_over_limit(source: Source, more_than: int) -> list[str]:
    """Return the ids of viewers with more active notes than that."""
    sql = """
        SELECT subject_id
        FROM semantic_notes
        WHERE subject_id IS NOT NULL
            AND status = 'active'
        GROUP BY subject_id
        HAVING count(*) > ?
    """
    # The index notes_by_subject has both columns: no note is read.
    return await source.column(sql, (more_than,))


# ── what is never mentioned ─────────────────────────────────────────────────────────────────


class SuppressionRow(NamedTuple):
    """A topic that is never mentioned: of one viewer, or (None) of everybody.

    `note_id`: the note that it was made of, and `fact` what that says. Without one, every text with all of `words` is
    meant.
    """

    id: int
    viewer_id: str | None
    words: str
    note_id: int | None = None
    at: int = 0
    fact: str = ""


async def add_suppression(
    tx: Transaction,
    viewer_id: str | None,
    words: str,
    *,
    note_id: int | None,
    by_id: str | None,
    at: int,
) -> int:
    """Write a topic that is never mentioned, and return the row's id."""
    # a brief may have the topic anywhere: it is written again without it
    await tx.execute(
        "DELETE FROM briefs WHERE viewer_id = ?1 OR ?1 IS NULL", (viewer_id,)
    )
    # The foreign key would refuse a moderator who never wrote here.
    by = "(SELECT id FROM viewers WHERE id = ?)"
    sql = f"""
        INSERT INTO never_mention (viewer_id, words, note_id, by_id, at)
        VALUES (?, ?, ?, {by}, ?)
    """
    return await tx.insert(sql, (viewer_id, words, note_id, by_id, at))


async def remove_suppression(tx: Transaction, row_id: int) -> bool:
    """Delete a topic, so that it is mentioned again; False if there is no such row."""
    return bool(await tx.execute("DELETE FROM never_mention WHERE id = ?", (row_id,)))


# The change of a note that somebody corrected, in the words of its index.
_CORRECTED = """to_status = 'superseded' AND cause = '["by_hand", {}]'"""
# A value that changes when more may have to be left unmentioned: by this list, a removed or corrected note, a cleared
# line, or a privacy request.
Revision = tuple[object, ...]
# Asked for every reply: each part reads a short index, or a table of a few rows. By itself SQLite would count retracted
# notes in the index of everybody's: with 60,000 notes 2 ms of each reply.
_REVISION = f"""
SELECT
    (SELECT count(*) || ' ' || coalesce(max(id), 0) || ' ' || coalesce(sum(at), 0) FROM never_mention),
    (SELECT count(*) FROM semantic_notes INDEXED BY notes_removed
        WHERE status = 'retracted' AND subject_id IS NOT NULL),
    (SELECT coalesce(max(id), 0) FROM note_changes INDEXED BY note_changes_by_hand WHERE {_CORRECTED}),
    (SELECT coalesce(max(cleared_at), 0) FROM episodes WHERE cleared_at IS NOT NULL),
    (SELECT coalesce(max(value), '0') FROM channel_state WHERE name = 'privacy_requests')
"""


async def suppression_revision(source: Source) -> Revision:
    """Return the present revision of what is suppressed."""
    return tuple((await source.rows(_REVISION))[0])


async def restorable_facts(source: Source, limit: int = 200) -> list[tuple[str, str]]:
    """Return the newest retracted notes about viewers that can be restored: viewer id and fact."""
    # The index notes_removed has retracted notes alone: the limit is reached without reading others.
    rows = await source.rows(
        """
        SELECT subject_id, fact
        FROM semantic_notes n
        WHERE status = 'retracted'
            AND subject_id IS NOT NULL
            AND fact <> ''
            AND NOT EXISTS (
                SELECT 1
                FROM semantic_notes o
                WHERE o.subject_id = n.subject_id
                    AND o.status = 'active'
                    AND o.fact = n.fact
            )
        ORDER BY id DESC
        LIMIT ?
        """,
        (limit,),
    )
    return [(str(row[0]), str(row[1])) for row in rows]


class CorrectedFact(NamedTuple):
    """What a note about a viewer said, and what it says since somebody corrected it."""

    viewer_id: str
    fact: str
    new_fact: str


async def corrected_facts(source: Source, limit: int = 100) -> list[CorrectedFact]:
    """Return what the newest corrected notes about viewers said before, unless it holds again."""
    # not all, because each prompt reads them: 100 take some 0.2 ms
    rows = await source.rows(
        f"""
        SELECT n.subject_id, n.fact, s.fact
        FROM (
            SELECT id, note_id
            FROM note_changes INDEXED BY note_changes_by_hand
            WHERE {_CORRECTED}
        ) c
        JOIN semantic_notes n ON n.id = c.note_id
        JOIN semantic_notes s ON s.id = n.superseded_by
        WHERE n.status = 'superseded'
            AND n.subject_id IS NOT NULL
            AND n.fact <> ''
            AND NOT EXISTS (
                SELECT 1
                FROM semantic_notes o
                WHERE o.subject_id = n.subject_id
                    AND o.status = 'active'
                    AND o.fact = n.fact
            )
        ORDER BY c.id DESC
        LIMIT ?
        """,
        (limit,),
    )
    return [CorrectedFact(*row) for row in rows]


class NotedWords(NamedTuple):
    """The fact of a note about a viewer; `text`: the fact with the topics and question words stored beside it."""

    viewer_id: str
    fact: str
    text: str


async def noted_words(source: Source, viewer_ids: Iterable[str]) -> list[NotedWords]:
    """Return the texts of the active notes about these viewers."""
    rows = await source.rows(
        """
        SELECT subject_id, fact, fact || ' ' || topics || ' ' || asked_with
        FROM semantic_notes
        WHERE status = 'active'
            AND subject_id IN (SELECT value FROM json_each(?))
        """,
        (json.dumps(sorted(viewer_ids)),),
    )
    return [NotedWords(*row) for row in rows]


async def suppressions(source: Source) -> list[SuppressionRow]:
    """Return all topics that are never mentioned, oldest first."""
    columns = "n.id, n.viewer_id, n.words, n.note_id, n.at, coalesce(s.fact, '')"
    sql = f"""
        SELECT {columns}
        FROM never_mention n
        LEFT JOIN semantic_notes s ON s.id = n.note_id
        ORDER BY n.id
    """
    return [SuppressionRow(*row) for row in await source.rows(sql)]
