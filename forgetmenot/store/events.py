"""Tier 1: what was said, kept at most 24 h.

Each of Twitch's ids is stored once; a cleared line keeps its row and loses its text; an event is covered by one episode
or none. Does not decide what is stored (memory/ingest) or when it goes (memory/retention).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import starmap
from typing import NamedTuple

from forgetmenot.domain import EventKind, Line, PromptLine, StreamEvent
from forgetmenot.durations import HOUR
from forgetmenot.store import bot_messages, channel_state
from forgetmenot.store.database import Params, Source, Transaction, row_as


class NewEvent(NamedTuple):
    """One row to be."""

    id: str
    stream_id: int | None
    viewer_id: str
    kind: str
    role: str
    at: int
    text: str = ""
    system_text: str = ""
    addressed: bool = False
    from_bot: bool = False
    redacted_at: int | None = None
    target_id: str | None = None


class Clear(NamedTuple):
    """What is to lose its text: one event, one person's events until then, or (neither) all events until then.

    `remembered`: what one of these lines asked the bot to remember goes, too; not where the whole chat goes.
    """

    at: int
    event_id: str | None = None
    viewer_id: str | None = None
    remembered: bool = True


_INSERT = f"""
    INSERT INTO events ({", ".join(NewEvent._fields)})
    VALUES ({", ".join("?" * len(NewEvent._fields))})
    ON CONFLICT (id) DO NOTHING
"""
_REMEMBERED_BY_COMMAND = """
    SELECT 1
    FROM note_evidence v
    JOIN semantic_notes n ON n.id = v.note_id
    WHERE v.episode_id = episodes.id
        AND v.stance <> 'contradicted'
        AND n.source_kind <> 'self_claim'
"""
_UNREAD = "episode_id IS NULL AND redacted_at IS NULL"
# Nothing is postponed for longer: what seems to be was written by a clock that ran ahead, and is due.
LONGEST_WAIT = 20 * HOUR
WAITS = "coalesce(retry_at, 0) > :now AND retry_at <= :latest"
# The name in channel_state of whether the backups know a summary or note that rests on a line which was cleared.
COPIES_STALE = "copies_stale"
# A time (ms) at which nothing waits for another try any more.
END_OF_TIME = 2**60


async def insert(tx: Transaction, rows: Sequence[NewEvent]) -> set[str] | None:
    """Store events; the ids that were new, or None if all of them were."""
    # from sqlite_sequence, because the rows of the highest numbers may have been deleted
    before = await tx.value(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"
    )
    if await tx.many(_INSERT, rows) == len(rows):
        return None
    return set(await tx.column("SELECT id FROM events WHERE seq > ?", (before,)))


async def clear(tx: Transaction, what: Clear, now: int) -> set[int]:
    """Take the text away, and mark the episodes that rest on it; the ids of these (episodes.clear mends them).

    What the bot said since loses its text, too (bot_messages.clear_since).
    """
    if what.event_id is not None:
        where = "id = :id"
    elif what.viewer_id is not None:
        where = "viewer_id = :id AND at <= :at AND kind <> 'moderation'"
    else:
        where = "at <= :at AND kind <> 'moderation'"
    whole_chat = what.event_id is None and what.viewer_id is None
    params = {"at": what.at, "id": what.event_id or what.viewer_id}
    rows = await tx.rows(
        f"SELECT episode_id, at FROM events WHERE redacted_at IS NULL AND {where}", params
    )
    await tx.execute(
        f"""
        UPDATE events
        SET text = '', system_text = '', redacted_at = :at
        WHERE redacted_at IS NULL
            AND {where}
        """,
        params,
    )
    affected = {row["episode_id"] for row in rows} - {None}
    if what.remembered:
        # by the time of the clear: a line that came with it was stored without its text
        lines = f"SELECT 'line:' || id FROM events WHERE redacted_at = :at AND {where}"
        requested = f"kind = 'command' AND key IN ({lines})"
        if whole_chat:  # what somebody asked for by command stays
            requested += f" AND NOT EXISTS ({_REMEMBERED_BY_COMMAND})"
        affected |= set(await tx.column(f"SELECT id FROM episodes WHERE {requested}", params))
    await tx.execute(
        """
        UPDATE episodes
        SET cleared_at = ?
        WHERE kind IN ('chat', 'counted', 'command')
            AND id IN (SELECT value FROM json_each(?))
        """,
        (now, affected),
    )
    if affected:
        made_of = "kind IN ('chat', 'counted') AND id IN (SELECT value FROM json_each(?))"
        of_streams = f"id IN (SELECT stream_id FROM episodes WHERE {made_of})"
        await tx.execute(
            f"UPDATE streams SET recap = '', recapped_at = NULL WHERE {of_streams}", (affected,)
        )
        await channel_state.put(tx, {COPIES_STALE: "1"}, now)
    if rows:
        since = min(row["at"] for row in rows)
        alone = what.viewer_id is None
        await bot_messages.clear_since(
            tx, since, at=what.at, viewer_id=what.viewer_id or "", everything=alone
        )
    return affected


async def unread(source: Source, limit: int = 2_000, *, due_at: int = END_OF_TIME) -> list[Line]:
    """The oldest events that no episode covers yet; with `due_at` without those that wait for another try then."""
    due = {"limit": limit, "now": due_at, "latest": due_at + LONGEST_WAIT}
    return await _lines_where(
        source, f"{_UNREAD} AND NOT ({WAITS}) ORDER BY at, seq LIMIT :limit", due
    )


async def postpone(
    tx: Transaction, windows: Sequence[Sequence[Line]], *, tries: int, retry_at: int
) -> None:
    """Say of lines that no summary came of which windows are tried next, and when."""
    await tx.many(
        "UPDATE events SET tries = ?, retry_at = ?, retry_from = ? WHERE seq = ?",
        [(tries, retry_at, window[0].seq, line.seq) for window in windows for line in window],
    )


async def still_unread(source: Source, seqs: Sequence[int]) -> list[Line]:
    """Those of these events that no episode covers yet and nobody cleared."""
    wanted = f"seq IN (SELECT value FROM json_each(?)) AND {_UNREAD} ORDER BY at, seq"
    return await _lines_where(source, wanted, (seqs,))


async def lines_of_episode(source: Source, episode_id: int) -> list[Line]:
    """What is left of the events that an episode covers."""
    return await _lines_where(
        source, "episode_id = ? AND redacted_at IS NULL ORDER BY at, seq", (episode_id,)
    )


async def latest_lines_of(source: Source, viewer_id: str, limit: int) -> list[Line]:
    """Somebody's newest lines, oldest first."""
    wanted = "viewer_id = ? AND redacted_at IS NULL ORDER BY at DESC, seq DESC LIMIT ?"
    return (await _lines_where(source, wanted, (viewer_id, limit)))[::-1]


async def by_id(source: Source, event_id: str) -> Line | None:
    """One event, if it still has its text."""
    return next(
        iter(await _lines_where(source, "id = ? AND redacted_at IS NULL", (event_id,))), None
    )


async def _lines_where(source: Source, condition: str, params: Params) -> list[Line]:
    return [
        row_as(row, Line)
        for row in await source.rows(f"SELECT * FROM events WHERE {condition}", params)
    ]


async def cleared_ids(source: Source, event_ids: Collection[str]) -> frozenset[str]:
    """Those of these lines that have lost their text. A line that was never stored is none."""
    sql = """
        SELECT id
        FROM events
        WHERE id IN (SELECT value FROM json_each(?))
            AND redacted_at IS NOT NULL
    """
    return frozenset(await source.column(sql, (event_ids,)))


async def ids_between(source: Source, since: int, until: int) -> frozenset[str]:
    """The ids of the lines that are stored of this time (ms), cleared ones too."""
    sql = "SELECT id FROM events WHERE at BETWEEN ? AND ?"
    return frozenset(await source.column(sql, (since, until)))


async def was_deleted(source: Source, event_id: str) -> bool:
    """Whether a line was cleared in chat.

    Not one that lost its words with a fact that its speaker had forgotten.
    """
    # above 0: a line that lost its words with a forgotten fact has 0, as nobody cleared it in chat
    return (
        await source.row("SELECT 1 FROM events WHERE id = ? AND redacted_at > 0", (event_id,))
        is not None
    )


async def set_episode(tx: Transaction, seqs: Sequence[int], episode_id: int) -> None:
    """Say which episode covers these events."""
    sql = """
        UPDATE events
        SET episode_id = ?
        WHERE seq IN (SELECT value FROM json_each(?))
    """
    await tx.execute(sql, (episode_id, seqs))


async def count_unread(source: Source) -> int:
    """How many events no episode covers yet."""
    return int(await source.value(f"SELECT count(*) FROM events WHERE {_UNREAD}"))


async def prune(tx: Transaction, before: int, limit: int) -> dict[str, int]:
    """Delete the oldest of what was said before then, up to a number of lines.

    Gives how many were covered, redacted, or unread (which should be none).
    """
    rows = await tx.rows(
        """
        DELETE FROM events
        WHERE seq IN (SELECT seq FROM events WHERE at < ? ORDER BY at LIMIT ?)
        RETURNING CASE WHEN redacted_at IS NOT NULL THEN 'pruned_redacted' WHEN episode_id IS NOT
            NULL THEN 'pruned_covered' ELSE 'pruned_unread' END
        """,
        (before, limit),
    )
    return Counter(row[0] for row in rows)


# Recent chat for replies: without viewers who opted out or were banned, redacted lines, and the bot's own lines.


# A raid or a sub without words of the viewer's is given in Twitch's words, in brackets.
_LINES = """
SELECT e.seq, e.id, e.viewer_id, CASE WHEN e.text = '' THEN '(' || e.system_text || ')' ELSE e.text END, e.at
FROM events e JOIN shown v ON v.id = e.viewer_id WHERE e.redacted_at IS NULL AND e.from_bot = 0
    AND (e.text != '' OR e.system_text != '')
"""


async def _prompt_lines(source: Source, condition: str, params: Params) -> list[PromptLine]:
    return list(starmap(PromptLine, await source.rows(f"{_LINES} AND {condition}", params)))


async def lines(
    source: Source,
    *,
    since: int,
    until: int,
    limit: int,
    of: str | None = None,
    spoken: bool = False,
) -> list[PromptLine]:
    """The last lines of chat, oldest first; `of`: what one person typed; `spoken`: what the streamer said aloud.

    Twitch's events without words of a viewer's are none (`reported`).
    """
    kind = "e.kind = 'spoken'" if spoken else "e.kind NOT IN ('spoken', 'moderation')"
    theirs = "e.text <> ''"
    if of is not None:
        theirs += " AND e.viewer_id = :of"
    newest = "e.at BETWEEN :since AND :until ORDER BY e.at DESC, e.seq DESC LIMIT :limit"
    values = {"of": of, "since": since, "until": until, "limit": limit}
    return (await _prompt_lines(source, f"{kind} AND {theirs} AND {newest}", values))[::-1]


async def unsummarised(
    source: Source, viewer_ids: Collection[str], *, since: int, until: int, limit: int
) -> list[PromptLine]:
    """The newest lines that these people typed and no episode covers yet, oldest first."""
    theirs = "e.viewer_id IN (SELECT value FROM json_each(:of)) AND e.text <> ''"
    typed = "e.kind NOT IN ('spoken', 'moderation') AND e.episode_id IS NULL"
    newest = "e.at BETWEEN :since AND :until ORDER BY e.at DESC, e.seq DESC LIMIT :limit"
    values = {"of": viewer_ids, "since": since, "until": until, "limit": limit}
    return (await _prompt_lines(source, f"{theirs} AND {typed} AND {newest}", values))[::-1]


# What Twitch reports, the most important first: of many a reply is shown the newest of each kind before a second one.
REPORTED = (
    EventKind.RAID,
    EventKind.STREAM,
    EventKind.GIFT,
    EventKind.SUB,
    EventKind.CHEER,
    EventKind.REDEMPTION,
    EventKind.FOLLOW,
    EventKind.NOTICE,
)
# A gift of fifty subs comes as one event and fifty more: the first of each giver says how many.
_REPORTED_SQL = """
WITH reported AS (
    SELECT e.seq, e.id, e.viewer_id, e.kind, e.at, k.key AS importance,
        iif(e.system_text = '', 'cheered: ' || e.text, e.system_text) AS words,
        row_number() OVER (PARTITION BY e.kind, e.viewer_id ORDER BY e.at, e.seq) AS of_theirs
    FROM events e JOIN shown v ON v.id = e.viewer_id JOIN json_each(:kinds) k ON k.value = e.kind
    WHERE e.redacted_at IS NULL AND e.at BETWEEN :since AND :until
        AND (e.system_text <> '' OR e.kind = 'cheer')
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY kind ORDER BY at DESC, seq DESC) AS nth
    FROM reported WHERE kind <> 'gift' OR of_theirs = 1
)
SELECT seq, id, viewer_id, kind, words, at FROM numbered ORDER BY nth, importance LIMIT :limit
"""


async def reported_events(
    source: Source, *, since: int, until: int, limit: int, kinds: Sequence[EventKind] = REPORTED
) -> list[StreamEvent]:
    """What Twitch reported between these times, oldest first.

    Where there is more than the limit, the newest of each kind comes before a second of any.
    """
    values = {"kinds": kinds, "since": since, "until": until, "limit": limit}
    rows = await source.rows(_REPORTED_SQL, values)
    return sorted(starmap(StreamEvent, rows), key=lambda event: (event.at, event.id))


async def moderation_events(
    source: Source, *, since: int, until: int, limit: int
) -> list[StreamEvent]:
    """The newest acts of moderation between these times, oldest first, for moderators alone.

    With the names of those whom they hit, also of the banned; not of who opted out or is being erased.
    """
    rows = await source.rows(
        """
        SELECT e.seq, e.id, e.viewer_id, e.kind,
            iif(e.system_text LIKE 'The %', '', coalesce(v.display_name, v.login,
                'somebody') || ' ') || e.system_text,
            e.at
        FROM events e
        LEFT JOIN viewers v ON v.id = e.target_id
            AND v.opted_out_at IS NULL
            AND v.erase_at IS NULL
        WHERE e.kind = 'moderation'
            AND e.redacted_at IS NULL
            AND e.at BETWEEN ? AND ?
        ORDER BY e.at DESC, e.seq DESC
        LIMIT ?
        """,
        (since, until, limit),
    )
    return list(starmap(StreamEvent, reversed(rows)))


async def authors(source: Source, event_ids: Collection[str]) -> dict[str, str]:
    """Who wrote these lines, by the lines' ids."""
    sql = """
        SELECT id, viewer_id
        FROM events
        WHERE id IN (SELECT value FROM json_each(?))
    """
    return await source.pairs(sql, (event_ids,))


async def lines_by_seq(source: Source, seqs: Collection[int]) -> dict[int, PromptLine]:
    """Lines that are still there, by their seq."""
    return {
        line.id: line
        for line in await _prompt_lines(
            source, "e.seq IN (SELECT value FROM json_each(?))", (seqs,)
        )
    }


async def line_by_id(source: Source, event_id: str) -> PromptLine | None:
    """One line by Twitch's id, if it is still there."""
    return next(iter(await _prompt_lines(source, "e.id = ?", (event_id,))), None)


async def newest_at(source: Source) -> int:
    """When the latest line was said (ms); 0 if none is kept."""
    return int(await source.value("SELECT coalesce(max(at), 0) FROM events"))


async def count_since(source: Source, since: int) -> int:
    """How many lines were said since then."""
    return int(
        await source.value(
            """
            SELECT count(*)
            FROM events
            WHERE at >= ?
                AND from_bot = 0
                AND kind <> 'moderation'
            """,
            (since,),
        )
    )
