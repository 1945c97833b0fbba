"""Reads the rows of the dock's feed and of its Memory page. It writes nothing, and each query has a limit.

- The feed has nothing of people who opted out or were banned, and no redacted line.
- Of a banned viewer the Memory page shows the ban alone, until it is lifted.

The bot's own lines and their reasons are in `bot_messages`, the rows of the pictures in `picture_rows`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from forgetmenot.domain import Note
from forgetmenot.languages import read_reason, reason
from forgetmenot.store import notes
from forgetmenot.store.database import Database, Row
from forgetmenot.store.picture_rows import PeopleBounds, ids_of_kind


class ChangedNote(NamedTuple):
    """A change of a note's status. `at`: when it was changed."""

    id: int
    at: int
    note_id: int
    subject_id: str | None
    scope: str
    fact: str
    before: str | None
    after: str
    cause: str


async def lines(db: Database, limit: int) -> list[dict[str, object]]:
    """Return the newest lines, oldest first, as the feed has them."""
    rows = await db.rows(
        """
        SELECT 'line:' || e.seq AS key, 'line' AS kind, e.at,
            coalesce(v.display_name, v.login, 'somebody') AS who, v.id AS person, v.color,
            e.role, e.kind AS what, iif(e.text = '', e.system_text, e.text) AS text, e.addressed
        FROM events e
        JOIN shown v ON v.id = e.viewer_id
        WHERE e.redacted_at IS NULL
            AND e.from_bot = 0
            AND e.kind <> 'moderation'
        ORDER BY e.seq DESC
        LIMIT ?
        """,
        (limit,),
    )
    return [dict(row) for row in reversed(rows)]


async def feed_episodes(db: Database, limit: int) -> list[Row]:
    """Return the newest episodes, oldest first: id, at, summary, events."""
    sql = """
        SELECT id, created_at AS at, summary, events
        FROM episodes
        ORDER BY id DESC
        LIMIT ?
    """
    # The newest by the primary key, then turned round: the page is read downwards.
    return (await db.rows(sql, (limit,)))[::-1]


async def changes(
    db: Database,
    after: int,
    limit: int,
) -> list[ChangedNote]:
    """Return the newest changes of notes after a mark, oldest first."""
    rows = await db.rows(
        """
        SELECT c.id, c.at, n.id, n.subject_id, n.scope, n.fact, c.from_status, c.to_status, c.cause
        FROM note_changes c
        JOIN semantic_notes n ON n.id = c.note_id
        LEFT JOIN viewers v ON v.id = n.subject_id
        WHERE c.id > ?
            AND v.opted_out_at IS NULL
            AND v.banned_at IS NULL
        ORDER BY c.id DESC
        LIMIT ?
        """,
        (after, limit),
    )
    return [
        ChangedNote(*row)._replace(cause=read_reason(row["cause"]))
        for row in reversed(rows)
    ]


# The memory panel: viewers, pages of notes, streams with their episodes.


_PEOPLE = """
FROM viewers v WHERE v.id NOT IN (:bot, 'bot')
    AND coalesce(v.login, '') NOT IN (SELECT value FROM channel_state WHERE name = 'bot_login')
    AND (:find = '' OR instr(casefold(v.login || ' ' || v.display_name), :find)
    OR instr(casefold(v.called), :find)
    OR EXISTS (SELECT 1 FROM viewer_names m
        WHERE m.viewer_id = v.id AND instr(casefold(m.login || ' ' || m.display_name), :find))
    OR v.id IN (SELECT n.subject_id FROM nicknames k JOIN semantic_notes n ON n.id = k.note_id
        WHERE k.word = :find AND n.status = 'active'))
"""
_PERSON = """
SELECT v.id, v.login, coalesce(v.display_name, v.login, 'somebody') AS name, v.role, v.first_seen_at, v.last_seen_at,
    v.opted_out_at IS NOT NULL AS opted_out, v.banned_at IS NOT NULL AS banned, v.erase_at IS NOT NULL AS erasing,
    (SELECT count(*) FROM attendance a WHERE a.viewer_id = v.id) AS streams,
    (SELECT count(*) FROM attendance a WHERE a.viewer_id = v.id AND a.last_at >= :since) AS lately,
    (SELECT count(*) FROM semantic_notes n
        WHERE n.subject_id = v.id AND n.status = 'active' AND v.banned_at IS NULL) AS notes
"""


# Somebody in the list, by the columns of `_PERSON`. `lately`: streams within the time that makes a regular.
Person = dict[str, Any]


async def people(
    db: Database,
    *,
    find: str,
    kind: str = "",
    bounds: PeopleBounds,
    bot: str,
    offset: int,
    limit: int,
) -> tuple[int, list[Person]]:
    """Return how many fit a search (by any name they ever had), and a page of them: who came most lately first.

    `kind`: one of picture_rows.KINDS, or empty for everybody, also who is hidden.
    """
    values = {
        **bounds._asdict(),
        "find": _searched(find),
        "since": bounds.regular_since,
        "bot": bot,
        "offset": offset,
        "limit": limit,
    }
    # The kinds are counted over everybody's visits: only where one is asked for.
    people_found = f"{_PEOPLE} AND v.id IN ({ids_of_kind(kind)})" if kind else _PEOPLE
    # A query of its own: only the page needs the counts of `_PERSON`, which cost a look-up each.
    total = int(await db.value(f"SELECT count(*) {people_found}", values))
    order = "lately DESC, notes DESC, v.last_seen_at DESC, v.id"
    rows = await db.rows(
        f"{_PERSON} {people_found} ORDER BY {order} LIMIT :limit OFFSET :offset",
        values,
    )
    return total, [dict(row) for row in rows]


async def count_people(db: Database, bot: str) -> int:
    """Return how many people the list has where nothing is searched for."""
    return int(await db.value(f"SELECT count(*) {_PEOPLE}", {"find": "", "bot": bot}))


async def person(
    db: Database,
    viewer_id: str,
    since: int,
) -> Person | None:
    """Return one of them by id; None for somebody who is not stored.

    `since` (ms): from when on `lately` counts streams.
    """
    row = await db.row(
        f"{_PERSON} FROM viewers v WHERE v.id = :id", {"id": viewer_id, "since": since}
    )
    return dict(row) if row else None


def _searched(find: str) -> str:
    return find.strip().removeprefix("@").casefold()


# NOT IN a list of the banned, which is short and has an index, instead of a join with everybody.
_NOT_BANNED = "n.fact <> '' AND coalesce(n.subject_id, '') NOT IN (SELECT id FROM viewers WHERE banned_at IS NOT NULL)"
SCOPES = {"": "", "viewer": "n.scope = 'viewer'", "channel": "n.scope <> 'viewer'"}
STATUSES = {"live": "n.status = 'active'", "past": "n.status <> 'active'", "any": ""}
_ORDER = "ORDER BY n.pinned DESC, n.last_confirmed_at DESC, n.id DESC"


async def page(
    db: Database, *, scope: str = "", subject: str = "", status: str = "live", find: str = "", offset: int = 0,
    limit: int = 100,
) -> tuple[int, list[Note]]:  # fmt: skip
    """Return how many notes fit, and a page of them: pinned first, then the newest.

    `scope`, `status`: of the two above.
    """
    words = _searched(find)
    values = {"subject": subject, "find": words, "offset": offset, "limit": limit}
    # only those that ask for something: the database then finds its index
    conditions = [
        _NOT_BANNED,
        SCOPES[scope],
        STATUSES[status],
        "n.subject_id = :subject" if subject else "",
        "instr(casefold(n.fact), :find)" if words else "",
    ]
    condition = " AND ".join(filter(None, conditions))
    notes_found = f"FROM semantic_notes n WHERE {condition}"
    total = int(await db.value(f"SELECT count(*) {notes_found}", values))
    # the ids first: evidence is gathered only of the notes that are shown
    ids_of_page = f"SELECT n.id {notes_found} {_ORDER} LIMIT :limit OFFSET :offset"
    return total, await notes.where(db, f"n.id IN ({ids_of_page}) {_ORDER}", values)


async def editors(db: Database, note_ids: Sequence[int]) -> dict[int, str]:
    """Return the ids of those who wrote these notes anew last; a note that nobody edited is left out."""
    rows = await db.rows(
        """
        SELECT old.superseded_by, word.speaker_id
        FROM semantic_notes old
        JOIN note_changes c ON c.note_id = old.id AND c.to_status = 'superseded' AND c.cause = ?2
        JOIN note_evidence word ON word.note_id = old.superseded_by AND word.stance = 'stated'
        WHERE old.superseded_by IN (SELECT value FROM json_each(?1))
        ORDER BY word.at
        """,
        (note_ids, reason("by_hand")),
    )
    # The last one stays: rows come in the order of their times.
    return {row[0]: row[1] or "" for row in rows}


async def note(db: Database, note_id: int) -> Note | None:
    """Return one of them, if it may be shown."""
    return next(
        iter(await notes.where(db, f"n.id = ? AND {_NOT_BANNED}", (note_id,))), None
    )


async def streams(db: Database, limit: int) -> list[Row]:
    """Return the newest streams, newest first: id, started_at, ended_at, title, category, recap, episodes, people."""
    return await db.rows(
        """
        WITH shown AS (SELECT * FROM streams ORDER BY started_at DESC, id DESC LIMIT ?), present
            AS (
            SELECT stream_id, count(*) AS people
            FROM attendance
            WHERE stream_id IN (SELECT id FROM shown)
            GROUP BY stream_id
        )
        SELECT s.id, s.started_at, s.ended_at, s.title, s.category, s.recap, (
            SELECT count(*)
            FROM episodes e
            WHERE e.stream_id = s.id
        ) AS episodes, coalesce(p.people, 0) AS people
        FROM shown s
        LEFT JOIN present p ON p.stream_id = s.id
        ORDER BY s.started_at DESC, s.id DESC
        """,
        (limit,),
    )


async def episodes_of(db: Database, stream_id: int) -> list[Row]:
    """Return a stream's episodes, oldest first; `people` and `notes` are numbers."""
    return await db.rows(
        """
        SELECT e.id, e.stream_id, e.kind, e.started_at, e.ended_at, e.summary, e.topic, e.events,
            (SELECT count(*) FROM episode_people p WHERE p.episode_id = e.id) AS people, (
            SELECT count(DISTINCT n.note_id)
            FROM note_evidence n
            WHERE n.episode_id = e.id
        ) AS notes
        FROM episodes e
        WHERE e.stream_id = ?
        ORDER BY e.started_at, e.id
        LIMIT 500
        """,
        (stream_id,),
    )
