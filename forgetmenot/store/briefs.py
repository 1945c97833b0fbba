"""Rows of `briefs`: short texts about one viewer, made of notes and episodes. They can be deleted and are made again.

A brief is used only while its sources are valid: notes active, episodes neither gone nor waiting for a new summary, and
the viewer neither opted out nor banned.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from forgetmenot.store.database import Source, Transaction, as_noun
from forgetmenot.text.mentions import mention

BRIEF, STREAM = "brief", "stream"


@dataclass(frozen=True, slots=True)
class Brief:
    """One row. `made_of`: hash of the sources; `notes` and `episodes`: their ids."""

    viewer_id: str
    text: str
    made_of: str
    made_at: int
    kind: str = BRIEF
    persona: str = ""
    stream_id: int | None = None
    notes: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()


async def put(tx: Transaction, brief: Brief) -> None:
    """Insert or replace one; nothing is written for a viewer who is gone."""
    await tx.execute(
        "INSERT INTO briefs (viewer_id, kind, persona, stream_id, text, made_of, notes, episodes, made_at)"
        " SELECT :viewer_id, :kind, :persona, :stream_id, :text, :made_of, :notes, :episodes, :made_at"
        " FROM viewers WHERE id = :viewer_id"
        " ON CONFLICT (viewer_id, kind, persona) DO UPDATE SET stream_id = excluded.stream_id, text = excluded.text,"
        " made_of = excluded.made_of, notes = excluded.notes, episodes = excluded.episodes,"
        " made_at = excluded.made_at",
        asdict(brief) | {"notes": json.dumps(brief.notes), "episodes": json.dumps(brief.episodes)},
    )


async def get(source: Source, viewer_id: str, kind: str = BRIEF, persona: str = "") -> Brief | None:
    """One row, whether or not its sources are still valid."""
    row = await source.row(
        "SELECT * FROM briefs WHERE viewer_id = ? AND kind = ? AND persona = ?", (viewer_id, kind, persona)
    )
    if row is None:
        return None
    return as_noun(row, Brief, notes=json.loads(row["notes"]), episodes=json.loads(row["episodes"]))


async def usable(source: Source, viewer_id: str, persona: str = "") -> tuple[str, tuple[int, ...]]:
    """A viewer's brief and the ids of its notes if all sources are valid; else an empty text."""
    row = await source.row(
        "SELECT b.text, b.notes FROM briefs b JOIN viewers v ON v.id = b.viewer_id"
        " WHERE b.viewer_id = ? AND b.kind = 'brief' AND b.persona = ?"
        " AND v.opted_out_at IS NULL AND v.banned_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM json_each(b.notes) j LEFT JOIN semantic_notes n ON n.id = j.value"
        "  WHERE n.id IS NULL OR n.status <> 'active')"
        " AND NOT EXISTS (SELECT 1 FROM json_each(b.episodes) j LEFT JOIN episodes e ON e.id = j.value"
        "  WHERE e.id IS NULL OR e.dirty_at IS NOT NULL OR e.summary = '')",
        (viewer_id, persona),
    )
    return (str(row[0]), tuple(json.loads(row[1]))) if row else ("", ())


async def regulars_around(
    source: Source, *, seen_since: int, regular_since: int, regular_streams: int, limit: int
) -> list[str]:
    """Regulars who were seen lately, those without a brief first, then those whose brief is oldest."""
    rows = await source.rows(
        "SELECT v.id FROM viewers v LEFT JOIN briefs b ON b.viewer_id = v.id AND b.kind = 'brief'"
        " WHERE v.last_seen_at >= :seen AND v.opted_out_at IS NULL AND v.banned_at IS NULL"
        " AND (SELECT count(*) FROM attendance a JOIN streams s ON s.id = a.stream_id"
        "  WHERE a.viewer_id = v.id AND s.started_at >= :since) >= :streams"
        " GROUP BY v.id ORDER BY max(coalesce(b.made_at, 0)), v.id LIMIT :limit",
        {"seen": seen_since, "since": regular_since, "streams": regular_streams, "limit": limit},
    )
    return [row[0] for row in rows]


async def summaries_about(
    source: Source, viewer_id: str, *, stream_id: int | None = None, since: int = 0, without: Sequence[int] = ()
) -> list[tuple[int, str]]:
    """The episodes from chat that mention somebody, with their summaries, oldest first.

    `stream_id`: of that stream alone; `without`: streams to leave out.
    """
    rows = await source.rows(
        "SELECT e.id, e.summary FROM episode_people p JOIN episodes e ON e.id = p.episode_id"
        " WHERE p.viewer_id = :viewer AND e.kind = 'chat' AND e.dirty_at IS NULL AND e.ended_at >= :since"
        " AND (:stream IS NULL OR e.stream_id = :stream) AND instr(e.summary, :mention) > 0"
        " AND (e.stream_id IS NULL OR e.stream_id NOT IN (SELECT value FROM json_each(:without)))"
        " ORDER BY e.ended_at, e.id",
        {
            "viewer": viewer_id,
            "since": since,
            "stream": stream_id,
            "mention": mention(viewer_id),
            "without": json.dumps(list(without)),
        },
    )
    return [(row[0], row[1]) for row in rows]
