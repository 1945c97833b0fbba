"""Evidence of notes: rows of `note_evidence`."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from forgetmenot.domain.memory import Episode
from forgetmenot.store.database import Source, Transaction
from forgetmenot.store.episodes import episode_of


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


async def add(tx: Transaction, stance: Stance) -> None:
    """Write evidence; the same stance of the same episode twice is once."""
    await add_many(tx, [stance])


async def add_many(tx: Transaction, stances: Iterable[Stance]) -> None:
    """Write evidence."""
    await tx.many(
        "INSERT OR IGNORE INTO note_evidence (note_id, episode_id, stance, speaker_id, addressed, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        stances,
    )


async def speakers(source: Source, note_id: int) -> list[tuple[str, int]]:
    """Who stated or confirmed a note, and in which episode."""
    rows = await source.rows(
        "SELECT speaker_id, episode_id FROM note_evidence"
        " WHERE note_id = ? AND stance <> 'contradicted' AND speaker_id IS NOT NULL",
        (note_id,),
    )
    return [(row[0], row[1]) for row in rows]


async def says(source: Source, note_id: int, episode_id: int, speaker_id: str | None) -> bool:
    """Whether this person's word in this episode is evidence for a note already."""
    row = await source.row(
        "SELECT 1 FROM note_evidence"
        " WHERE note_id = ? AND episode_id = ? AND speaker_id IS ? AND stance <> 'contradicted'",
        (note_id, episode_id, speaker_id),
    )
    return row is not None


async def streams_of(source: Source, note_ids: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The streams in which each of these notes was stated or confirmed, oldest first."""
    rows = await source.rows(
        "SELECT DISTINCT v.note_id, e.stream_id FROM note_evidence v JOIN episodes e ON e.id = v.episode_id"
        " WHERE v.stance <> 'contradicted' AND e.stream_id IS NOT NULL"
        " AND v.note_id IN (SELECT value FROM json_each(?)) ORDER BY v.note_id, e.stream_id",
        (json.dumps(sorted(note_ids)),),
    )
    found: dict[int, tuple[int, ...]] = {}
    for note_id, stream in rows:
        found[note_id] = (*found.get(note_id, ()), stream)
    return found


async def chain(source: Source, note_id: int) -> list[EvidenceLink]:
    """A note's evidence, oldest first."""
    rows = await source.rows(
        "SELECT e.*, v.stance, v.speaker_id, v.addressed, v.at AS said_at, NULL AS people"
        " FROM note_evidence v JOIN episodes e ON e.id = v.episode_id WHERE v.note_id = ? ORDER BY v.at, e.id",
        (note_id,),
    )
    return [
        EvidenceLink(row["stance"], row["speaker_id"], bool(row["addressed"]), row["said_at"], episode_of(row))
        for row in rows
    ]
