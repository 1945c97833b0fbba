"""Queries for the dock's memory panel: viewers, pages of notes, streams with their episodes. Reads only.

Of a banned viewer only the ban is shown, until it is lifted.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from forgetmenot.domain.memory import Note
from forgetmenot.store import notes
from forgetmenot.store.database import Database, Row


class PersonRow(NamedTuple):
    """Somebody in the list. Times in ms; `lately`: streams within the time that makes a regular."""

    id: str
    login: str | None
    name: str
    role: str
    first_seen_at: int
    last_seen_at: int
    opted_out: int
    banned: int
    erasing: int
    streams: int
    lately: int
    notes: int


class EpisodeRow(NamedTuple):
    """An episode of a stream."""

    id: int
    stream_id: int | None
    kind: str
    started_at: int
    ended_at: int
    summary: str
    topic: str
    events: int
    people: int
    notes: int


_PEOPLE = """
FROM viewers v WHERE v.id <> :bot AND (:likes = '[]' OR EXISTS (SELECT 1 FROM json_each(:likes) f
    WHERE v.login LIKE f.value ESCAPE '\\' OR v.display_name LIKE f.value ESCAPE '\\'
        OR EXISTS (SELECT 1 FROM viewer_names m WHERE m.viewer_id = v.id AND m.login LIKE f.value ESCAPE '\\')))
    AND (:only = '' OR (:only = 'opted_out') = (v.opted_out_at IS NOT NULL))
"""
_PERSON = """
SELECT v.id, v.login, coalesce(v.display_name, v.login, 'somebody') AS name, v.role, v.first_seen_at, v.last_seen_at,
    v.opted_out_at IS NOT NULL AS opted_out, v.banned_at IS NOT NULL AS banned, v.erase_at IS NOT NULL AS erasing,
    (SELECT count(*) FROM attendance a WHERE a.viewer_id = v.id) AS streams,
    (SELECT count(*) FROM attendance a WHERE a.viewer_id = v.id AND a.last_at >= :since) AS lately,
    (SELECT count(*) FROM semantic_notes n
        WHERE n.subject_id = v.id AND n.status IN ('active', 'stale') AND v.banned_at IS NULL)
        AS notes
"""


async def people(
    db: Database, *, find: str, since: int, bot: str, offset: int, limit: int, only: str = ""
) -> tuple[int, list[PersonRow]]:
    """How many fit a search (by any name they ever had), and a page of them: who came most lately first.

    `only`: "opted_out", or "" for everybody.
    """
    asked = {
        "likes": json.dumps(_likes(find)),
        "since": since,
        "bot": bot,
        "only": only,
        "offset": offset,
        "limit": limit,
    }
    total = int(await db.value(f"SELECT count(*) {_PEOPLE}", asked))
    rows = await db.rows(
        f"{_PERSON} {_PEOPLE} ORDER BY lately DESC, notes DESC, v.last_seen_at DESC, v.id LIMIT :limit OFFSET :offset",
        asked,
    )
    return total, [PersonRow(*row) for row in rows]


async def person(db: Database, viewer_id: str, since: int) -> PersonRow | None:
    """One of them."""
    row = await db.row(f"{_PERSON} FROM viewers v WHERE v.id = :id", {"id": viewer_id, "since": since})
    return PersonRow(*row) if row else None


def _likes(find: str) -> list[str]:
    """Patterns, none for nothing; several for what is not ASCII, of which SQLite's LIKE knows no capitals."""
    text = find.strip().removeprefix("@")
    written = {text} if text.isascii() else {text, text.lower(), text.upper(), text.title()}
    escaped = (one.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for one in sorted(written))
    return [f"%{one}%" for one in escaped] if text else []


_HIDDEN = "coalesce(n.subject_id, '') NOT IN (SELECT id FROM viewers WHERE banned_at IS NOT NULL)"
_SCOPES = {"": "", "viewer": "n.scope = 'viewer'", "channel": "n.scope <> 'viewer'"}
_STATUSES = {"live": "n.status IN ('active', 'stale')", "past": "n.status NOT IN ('active', 'stale')"}
_ORDER = "ORDER BY n.pinned DESC, n.last_confirmed_at DESC, n.id DESC"
_NOTE = """
SELECT n.*, (SELECT group_concat(DISTINCT e.episode_id) FROM note_evidence e WHERE e.note_id = n.id) AS episode_ids
"""


class NotePage(NamedTuple):
    """Which notes. `scope`: viewer, channel or ""; `status`: live, past or ""; `subject` and `find` may be empty."""

    scope: str = ""
    subject: str = ""
    status: str = "live"
    find: str = ""
    offset: int = 0
    limit: int = 100


async def page(db: Database, wanted: NotePage) -> tuple[int, list[Note]]:
    """How many notes fit, and a page of them: pinned first, then the newest."""
    likes = {f"like{number}": like for number, like in enumerate(_likes(wanted.find))}
    asked = {**wanted._asdict(), **likes}
    found = f"FROM semantic_notes n WHERE {_conditions(wanted, likes)}"
    total = int(await db.value(f"SELECT count(*) {found}", asked))  # constants, here and below
    picked = f"SELECT n.id {found} {_ORDER} LIMIT :limit OFFSET :offset"  # first: evidence only of what is shown
    rows = await db.rows(f"{_NOTE} FROM semantic_notes n WHERE n.id IN ({picked}) {_ORDER}", asked)
    return total, [notes.from_row(row) for row in rows]


def _conditions(wanted: NotePage, likes: Iterable[str]) -> str:
    """Only those that ask for something: the database then finds its index."""
    found = [_HIDDEN, _SCOPES[wanted.scope], _STATUSES.get(wanted.status, "")]
    found += ["n.subject_id = :subject"] if wanted.subject else []
    found += [" OR ".join(f"n.fact LIKE :{like} ESCAPE '\\'" for like in likes)]
    return " AND ".join(f"({one})" for one in found if one)


async def note(db: Database, note_id: int) -> Note | None:
    """One of them, if it may be shown."""
    row = await db.row(
        f"{_NOTE} FROM semantic_notes n WHERE n.id = ? AND {_HIDDEN}",
        (note_id,),
    )
    return notes.from_row(row) if row else None


async def streams(db: Database, limit: int) -> list[Row]:
    """The newest streams, newest first: id, started_at, ended_at, title, category, recap, episodes, people."""
    return await db.rows(
        "WITH shown AS (SELECT * FROM streams ORDER BY id DESC LIMIT ?),"
        " present AS (SELECT stream_id, count(*) AS people FROM attendance"
        " WHERE stream_id >= (SELECT min(id) FROM shown) GROUP BY stream_id)"
        " SELECT s.id, s.started_at, s.ended_at, s.title, s.category, s.recap,"
        " (SELECT count(*) FROM episodes e WHERE e.stream_id = s.id) AS episodes, coalesce(p.people, 0) AS people"
        " FROM shown s LEFT JOIN present p ON p.stream_id = s.id ORDER BY s.id DESC",
        (limit,),
    )


async def episodes_of(db: Database, stream_id: int) -> list[EpisodeRow]:
    """A stream's episodes, oldest first."""
    rows = await db.rows(
        "SELECT e.id, e.stream_id, e.kind, e.started_at, e.ended_at, e.summary, e.topic, e.events,"
        " (SELECT count(*) FROM episode_people p WHERE p.episode_id = e.id),"
        " (SELECT count(DISTINCT n.note_id) FROM note_evidence n WHERE n.episode_id = e.id)"
        " FROM episodes e WHERE e.stream_id = ? ORDER BY e.started_at, e.id LIMIT 500",
        (stream_id,),
    )
    return [EpisodeRow(*row) for row in rows]


async def titles(db: Database, stream_ids: list[int]) -> dict[int, tuple[str, int]]:
    """Title and start of these streams."""
    marks = ", ".join("?" * len(stream_ids))
    rows = await db.rows(
        f"SELECT id, title, started_at FROM streams WHERE id IN ({marks})",  # noqa: S608  # only marks
        stream_ids,
    )
    return {row[0]: (row[1], row[2]) for row in rows}
