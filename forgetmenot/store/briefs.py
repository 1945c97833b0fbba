"""Rows of `briefs`: one short text about a viewer, made of notes and episodes. They can be deleted and are made again.

A brief is used only while its sources are valid: notes active, episodes neither gone nor waiting for a new summary, and
the viewer neither opted out nor banned.
"""

import json
from dataclasses import asdict, dataclass

from forgetmenot.store.database import Source, Transaction
from forgetmenot.text.mentions import mention


@dataclass(frozen=True, slots=True)
class Brief:
    """One row. `made_of`: hash of the sources; `notes` and `episodes`: their ids."""

    viewer_id: str
    text: str
    made_of: str
    made_at: int
    persona: str = ""
    notes: tuple[int, ...] = ()
    episodes: tuple[int, ...] = ()


async def put(tx: Transaction, brief: Brief) -> None:
    """Insert or replace one; nothing is written for a viewer who is gone."""
    await tx.execute(
        "INSERT INTO briefs (viewer_id, persona, text, made_of, notes, episodes, made_at)"
        " SELECT :viewer_id, :persona, :text, :made_of, :notes, :episodes, :made_at FROM viewers WHERE id = :viewer_id"
        " ON CONFLICT (viewer_id, persona) DO UPDATE SET text = excluded.text, made_of = excluded.made_of,"
        " notes = excluded.notes, episodes = excluded.episodes, made_at = excluded.made_at",
        asdict(brief),
    )


async def unchanged(tx: Transaction, viewer_id: str, persona: str, made_of: str, at: int) -> bool:
    """Whether their brief was made of the same sources; then it counts as made now."""
    sql = "UPDATE briefs SET made_at = ? WHERE viewer_id = ? AND persona = ? AND made_of = ?"
    return await tx.execute(sql, (at, viewer_id, persona, made_of)) > 0


async def drop_all(tx: Transaction) -> None:
    """Delete all of them; they are made again in the background, and the notes do without them."""
    await tx.execute("DELETE FROM briefs")


async def usable(source: Source, viewer_id: str, persona: str | None = "") -> tuple[str, tuple[int, ...]]:
    """A viewer's brief and the ids of its notes if all sources are valid; else an empty text. None: of any persona."""
    row = await source.row(
        "SELECT b.text, b.notes FROM briefs b JOIN viewers v ON v.id = b.viewer_id"
        " WHERE b.viewer_id = ?1 AND b.persona = coalesce(?2, b.persona)"
        " AND v.opted_out_at IS NULL AND v.banned_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM json_each(b.notes) j LEFT JOIN semantic_notes n ON n.id = j.value"
        "  WHERE n.id IS NULL OR n.status <> 'active')"
        " AND NOT EXISTS (SELECT 1 FROM json_each(b.episodes) j LEFT JOIN episodes e ON e.id = j.value"
        "  WHERE e.id IS NULL OR e.dirty_at IS NOT NULL OR e.summary = '') ORDER BY b.made_at DESC",
        (viewer_id, persona),
    )
    return (str(row[0]), tuple(json.loads(row[1]))) if row else ("", ())


async def due(
    source: Source, persona: str, *, regular_since: int, regular_streams: int, a_day_ago: int, limit: int
) -> list[str]:
    """Regulars who came to a stream since their brief was made, and that stream has its recap; the oldest brief first.

    A stream that has been on for a day counts too, once a day; who was not seen for a week does not.
    """
    return await source.column(
        "SELECT v.id FROM viewers v LEFT JOIN briefs b ON b.viewer_id = v.id AND b.persona = :persona"
        " WHERE v.last_seen_at > :day - 518400000 AND v.opted_out_at IS NULL AND v.banned_at IS NULL"
        " AND (SELECT count(*) FROM attendance a JOIN streams s ON s.id = a.stream_id"
        "  WHERE a.viewer_id = v.id AND s.started_at >= :since) >= :streams"
        " AND EXISTS (SELECT 1 FROM attendance a JOIN streams s ON s.id = a.stream_id"
        "  WHERE a.viewer_id = v.id AND a.last_at > coalesce(b.made_at, 0) AND (s.recapped_at IS NOT NULL"
        "   OR (s.started_at <= :day AND coalesce(b.made_at, 0) <= :day)))"
        " ORDER BY coalesce(b.made_at, 0), v.id LIMIT :limit",
        {"persona": persona, "since": regular_since, "streams": regular_streams, "day": a_day_ago, "limit": limit},
    )


async def summaries_about(
    source: Source, viewer_id: str, *, since: int, streams: int
) -> list[tuple[int, int, int, str]]:
    """The episodes of chat that mention somebody, of their newest streams: stream, its start, episode, summary."""
    rows = await source.rows(
        "WITH about AS (SELECT e.id, e.stream_id, e.ended_at, e.summary FROM episode_people p"
        "  JOIN episodes e ON e.id = p.episode_id WHERE p.viewer_id = :viewer AND e.kind = 'chat'"
        "  AND e.dirty_at IS NULL AND e.ended_at >= :since AND instr(e.summary, :mention) > 0 AND e.stream_id > 0)"
        " SELECT a.stream_id, s.started_at, a.id, a.summary FROM about a JOIN streams s ON s.id = a.stream_id"
        " WHERE s.id IN (SELECT DISTINCT stream_id FROM about ORDER BY stream_id DESC LIMIT :streams)"
        " ORDER BY s.id, a.ended_at, a.id",
        {"viewer": viewer_id, "since": since, "mention": mention(viewer_id), "streams": streams},
    )
    return [tuple(row) for row in rows]
