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
from forgetmenot.store.line_keys import line_key


class NewEvent(NamedTuple):
    """A row to be written."""

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
    """Which events lose their text: one, one person's until `at` (ms), or (with neither) all until `at`.

    `remembered`: whether notes that one of these lines told the bot to remember are removed too. When the whole chat is
    cleared they stay in any case.
    """

    at: int
    event_id: str | None = None
    viewer_id: str | None = None
    remembered: bool = True


_INSERT = f"""
    INSERT INTO events (key, {", ".join(NewEvent._fields)})
    VALUES (?, {", ".join("?" * len(NewEvent._fields))})
    ON CONFLICT (key) DO NOTHING
"""
_REMEMBERED_BY_COMMAND = """
    SELECT 1
    FROM note_evidence v
    JOIN semantic_notes n ON n.id = v.note_id
    WHERE v.episode_id = episodes.id
        AND v.stance <> 'contradicted'
        AND n.source_kind <> 'self_claim'
"""
# In the words of the index events_unread, which SQLite uses for no others.
_UNREAD = "episode_id IS NULL AND redacted_at IS NULL"
# Nothing is postponed for longer: what seems to be was written by a clock that ran ahead, and is due.
LONGEST_WAIT = 20 * HOUR
WAITS = "coalesce(retry_at, 0) > :now AND retry_at <= :latest"
# The name in channel_state of whether the backups know a summary or note that rests on a line which was cleared.
COPIES_STALE = "copies_stale"
# A time (ms) at which nothing waits for another try any more.
END_OF_TIME = 2**60


async def insert(tx: Transaction, rows: Sequence[NewEvent]) -> set[str] | None:
    """Store events, and return the ids of those that were new, or None if all of them were."""
    # from sqlite_sequence, because the rows of the highest numbers may have been deleted
    highest = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"
    seq_before = await tx.value(highest)
    # SQLite says how many rows were new, not which: only a batch with a line seen before pays for the second query
    keyed_rows = [(line_key(row.id), *row) for row in rows]
    if await tx.many(_INSERT, keyed_rows) == len(rows):
        return None
    return set(await tx.column("SELECT id FROM events WHERE seq > ?", (seq_before,)))


async def clear(
    tx: Transaction,
    clearing: Clear,
    now: int,
) -> set[int]:
    """Delete the text of events, mark the episodes that rest on them, and return the ids of these.

    `episodes.clear` then mends them. What the bot said since loses its text too (`bot_messages.clear_since`).
    """
    # lines of moderation are written by us and hold no words of a viewer, so a clear leaves them
    whole_chat = clearing.event_id is None and clearing.viewer_id is None
    where = "at <= :at AND kind <> 'moderation'"
    if clearing.event_id is not None:
        where = "key = line_key(:id)"
    elif clearing.viewer_id is not None:
        where = f"viewer_id = :id AND {where}"
    params = {"at": clearing.at, "id": clearing.event_id or clearing.viewer_id}
    rows = await tx.rows(
        f"SELECT episode_id, at FROM events WHERE redacted_at IS NULL AND {where}",
        params,
    )
    # a trigger removes these quotes
    is_quoted = await tx.value(
        f"""
        SELECT 1
        FROM quotes
        WHERE line IN (SELECT id FROM events WHERE redacted_at IS NULL AND {where})
        LIMIT 1
        """,
        params,
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
    if clearing.remembered:
        # by the time of the clear, because a line that came with it was stored without its text
        line_keys = (
            f"SELECT 'line:' || id FROM events WHERE redacted_at = :at AND {where}"
        )
        sql = f"SELECT id FROM episodes WHERE kind = 'command' AND key IN ({line_keys})"
        if whole_chat:
            sql += f" AND NOT EXISTS ({_REMEMBERED_BY_COMMAND})"
        affected.update(await tx.column(sql, params))
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
        # their streams get new recaps
        await tx.execute(
            """
            UPDATE streams
            SET recap = '', recapped_at = NULL
            WHERE id IN (
                SELECT stream_id
                FROM episodes
                WHERE kind IN ('chat', 'counted')
                    AND id IN (SELECT value FROM json_each(?))
            )
            """,
            (affected,),
        )
    if affected or is_quoted:
        await channel_state.put(tx, {COPIES_STALE: "1"}, now)
    if rows:
        since = min(row["at"] for row in rows)
        await bot_messages.clear_since(
            tx,
            since,
            at=clearing.at,
            viewer_id=clearing.viewer_id or "",
            everything=clearing.viewer_id is None,
        )
    return affected


async def unread(
    source: Source,
    limit: int = 2_000,
    *,
    due_at: int = END_OF_TIME,
) -> list[Line]:
    """Return the oldest events that no episode covers, but for those that at `due_at` (ms) wait for another try."""
    condition = f"{_UNREAD} AND NOT ({WAITS}) ORDER BY at, seq LIMIT :limit"
    values = {"limit": limit, "now": due_at, "latest": due_at + LONGEST_WAIT}
    return await _lines_where(source, condition, values)


async def postpone(
    tx: Transaction,
    windows: Sequence[Sequence[Line]],
    *,
    tries: int,
    retry_at: int,
) -> None:
    """Store that windows of lines failed `tries` times, and when each is tried again (ms)."""
    rows = []
    for window in windows:
        # the window is put together again by its first line: the same lines fail or succeed together
        first_seq = window[0].seq
        rows += [(tries, retry_at, first_seq, line.seq) for line in window]
    sql = "UPDATE events SET tries = ?, retry_at = ?, retry_from = ? WHERE seq = ?"
    await tx.many(sql, rows)


async def still_unread(source: Source, seqs: Sequence[int]) -> list[Line]:
    """Return those of these events that no episode covers yet and nobody cleared."""
    condition = (
        f"seq IN (SELECT value FROM json_each(?)) AND {_UNREAD} ORDER BY at, seq"
    )
    return await _lines_where(source, condition, (seqs,))


async def lines_of_episode(source: Source, episode_id: int) -> list[Line]:
    """Return the lines that an episode covers, without cleared ones, in order."""
    condition = "episode_id = ? AND redacted_at IS NULL ORDER BY at, seq"
    return await _lines_where(source, condition, (episode_id,))


async def latest_lines_of(
    source: Source,
    viewer_id: str,
    limit: int,
) -> list[Line]:
    """Return somebody's newest lines, oldest first."""
    condition = (
        "viewer_id = ? AND redacted_at IS NULL ORDER BY at DESC, seq DESC LIMIT ?"
    )
    newest_first = await _lines_where(source, condition, (viewer_id, limit))
    return newest_first[::-1]


async def by_id(source: Source, event_id: str) -> Line | None:
    """Return an event by Twitch's id; None if it is not stored or was cleared."""
    lines = await _lines_where(
        source, "key = line_key(?) AND redacted_at IS NULL", (event_id,)
    )
    return lines[0] if lines else None


async def _lines_where(
    source: Source,
    condition: str,
    params: Params,
) -> list[Line]:
    """Return the events of a condition (SQL), in the order that it names."""
    rows = await source.rows(f"SELECT * FROM events WHERE {condition}", params)
    return [row_as(row, Line) for row in rows]


async def cleared_ids(source: Source, event_ids: Collection[str]) -> frozenset[str]:
    """Return the ids of those of these lines that were cleared. A line that was never stored is not among them."""
    sql = """
        SELECT id
        FROM events
        WHERE key IN (SELECT line_key(value) FROM json_each(?))
            AND redacted_at IS NOT NULL
    """
    return frozenset(await source.column(sql, (event_ids,)))


async def ids_between(
    source: Source,
    since: int,
    until: int,
) -> frozenset[str]:
    """Return the ids of all stored lines of a time (ms), also of cleared ones."""
    sql = "SELECT id FROM events WHERE at BETWEEN ? AND ?"
    return frozenset(await source.column(sql, (since, until)))


async def was_deleted(source: Source, event_id: str) -> bool:
    """Return whether a line was cleared in chat."""
    # a line that lost its words with a forgotten fact has 0: nobody cleared it in chat
    sql = "SELECT 1 FROM events WHERE key = line_key(?) AND redacted_at > 0"
    return await source.row(sql, (event_id,)) is not None


async def set_episode(
    tx: Transaction,
    seqs: Sequence[int],
    episode_id: int,
) -> None:
    """Store that an episode covers these events."""
    sql = """
        UPDATE events
        SET episode_id = ?
        WHERE seq IN (SELECT value FROM json_each(?))
    """
    await tx.execute(sql, (episode_id, seqs))


async def count_unread(source: Source) -> int:
    """Return how many events no episode covers yet."""
    return int(await source.value(f"SELECT count(*) FROM events WHERE {_UNREAD}"))


async def last_unread_at(source: Source) -> int:
    """Return when the newest event came that no episode covers yet (ms); 0 where there is none."""
    return int(await source.value(f"SELECT max(at) FROM events WHERE {_UNREAD}") or 0)


async def prune(
    tx: Transaction,
    before: int,
    limit: int,
) -> dict[str, int]:
    """Delete the oldest `limit` events before a time (ms).

    Returns how many were covered by an episode, were redacted, or were unread (which should be none), by the names of
    `counts`.
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


# ── recent chat for replies ─────────────────────────────────────────────────────────────────
# Without redacted lines, the bot's own, and those of viewers who opted out or were banned.


# A raid or a sub without words of the viewer's has Twitch's words in brackets.
_LINE = """
SELECT e.seq, e.id, e.viewer_id, CASE WHEN e.text = '' THEN '(' || e.system_text || ')' ELSE e.text END, e.at
"""
_OF_SHOWN = """
FROM events e JOIN shown v ON v.id = e.viewer_id WHERE e.redacted_at IS NULL AND e.from_bot = 0
    AND (e.text != '' OR e.system_text != '')
"""


# What viewers typed. What is said aloud has its own part of a prompt: in chat it would push the typed lines out.
_TYPED = "e.text <> '' AND e.kind NOT IN ('spoken', 'moderation')"
# Lines that came before another one.
_BEFORE = "(e.at, e.seq) < (:before_at, :before_seq)"
# The end of a condition of `_prompt_lines`: the newest lines between two times, newest first.
_NEWEST = "e.at BETWEEN :since AND :until ORDER BY e.at DESC, e.seq DESC LIMIT :limit"


async def _prompt_lines(
    source: Source,
    condition: str,
    params: Params,
) -> list[PromptLine]:
    """Return the lines of a condition (SQL, on the row `e`), in the order that it names."""
    rows = await source.rows(f"{_LINE} {_OF_SHOWN} AND {condition}", params)
    return list(starmap(PromptLine, rows))


async def lines(
    source: Source,
    *,
    since: int,
    until: int,
    limit: int,
    of: str | None = None,
    spoken: bool = False,
) -> list[PromptLine]:
    """Return the newest lines of chat between two times (ms), oldest first.

    `of`: only those of one viewer; `spoken`: what the streamer said aloud instead. Twitch's events without words of a
    viewer are left out: `reported_events` has them.
    """
    conditions = "e.text <> '' AND e.kind = 'spoken'" if spoken else _TYPED
    if of is not None:
        conditions += " AND e.viewer_id = :of"
    values = {"of": of, "since": since, "until": until, "limit": limit}
    newest_first = await _prompt_lines(source, f"{conditions} AND {_NEWEST}", values)
    return newest_first[::-1]


class ChatLines(NamedTuple):
    """Lines of chat, oldest first. `names`: the present names of their authors, as far as they have one.

    `unsummarised`: those of them that no episode covers yet.
    """

    lines: list[PromptLine]
    names: dict[str, str]
    unsummarised: list[PromptLine]

    def with_older(self, older: "ChatLines") -> "ChatLines":
        """Return these lines with older ones."""
        return ChatLines(
            lines=[*older.lines, *self.lines],
            names={**older.names, **self.names},
            unsummarised=[*older.unsummarised, *self.unsummarised],
        )


async def chat_lines(
    source: Source,
    *,
    since: int,
    until: int,
    limit: int,
    before: PromptLine | None = None,
) -> ChatLines:
    """Return the newest lines of chat between two times (ms), those of `lines`, with what else a prompt asks of them.

    `before`: only lines that came before this one.
    """
    sql = f"""
        {_LINE}, e.episode_id IS NULL, coalesce(v.display_name, v.login)
        {_OF_SHOWN} AND {_TYPED} AND {_BEFORE} AND {_NEWEST}
    """
    values = {"since": since, "until": until, "limit": limit, **_place_of(before)}
    newest_first = await source.rows(sql, values)
    chat = ChatLines([], {}, [])
    for row in reversed(newest_first):
        seq, event_id, viewer_id, text, at, is_unsummarised, name = row
        line = PromptLine(seq, event_id, viewer_id, text, at)
        chat.lines.append(line)
        if is_unsummarised:
            chat.unsummarised.append(line)
        if name is not None:
            chat.names[viewer_id] = name
    return chat


def _place_of(line: PromptLine | None) -> dict[str, int]:
    """Return the parameters of `_BEFORE` for a line; None: behind all lines."""
    if line is None:
        return {"before_at": END_OF_TIME, "before_seq": 0}
    return {"before_at": line.at, "before_seq": line.id}


async def unsummarised(
    source: Source,
    viewer_ids: Collection[str] | None,
    *,
    since: int,
    until: int,
    limit: int,
    before: PromptLine | None = None,
) -> list[PromptLine]:
    """Return the newest lines that these people (None: anybody) typed and no episode covers yet, oldest first.

    `before`: only lines that came before this one.
    """
    conditions = f"{_TYPED} AND e.episode_id IS NULL AND {_BEFORE}"
    if viewer_ids is not None:
        conditions += " AND e.viewer_id IN (SELECT value FROM json_each(:of))"
    values = {"of": viewer_ids, "since": since, "until": until, "limit": limit}
    values |= _place_of(before)
    newest_first = await _prompt_lines(source, f"{conditions} AND {_NEWEST}", values)
    return newest_first[::-1]


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
    -- without its own index the planner reads every line of that time: 12,000 in half an hour of a busy chat
    FROM events e INDEXED BY events_reported
    CROSS JOIN json_each(:kinds) k ON k.value = e.kind
    CROSS JOIN shown v ON v.id = e.viewer_id
    WHERE e.redacted_at IS NULL AND e.at BETWEEN :since AND :until
        AND (e.system_text <> '' OR e.kind = 'cheer')
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY kind ORDER BY at DESC, seq DESC) AS nth
    FROM reported WHERE kind <> 'gift' OR of_theirs = 1
)
SELECT seq, id, viewer_id, kind, words, at FROM numbered ORDER BY nth, importance LIMIT :limit
"""


async def reported_events(
    source: Source,
    *,
    since: int,
    until: int,
    limit: int,
    kinds: Sequence[EventKind] = REPORTED,
) -> list[StreamEvent]:
    """Return what Twitch reported between these times (ms), oldest first.

    If there is more than `limit`, the newest of each kind is taken before a second one of any kind.
    """
    values = {"kinds": kinds, "since": since, "until": until, "limit": limit}
    rows = await source.rows(_REPORTED_SQL, values)
    # Taken by importance, shown by time.
    return sorted(starmap(StreamEvent, rows), key=lambda event: (event.at, event.id))


async def moderation_events(
    source: Source,
    *,
    since: int,
    until: int,
    limit: int,
) -> list[StreamEvent]:
    """Return the newest acts of moderation between these times (ms), oldest first; for moderators alone.

    They name the viewer concerned, also a banned one, but nobody who opted out or is being erased.
    """
    rows = await source.rows(
        """
        SELECT e.seq, e.id, e.viewer_id, e.kind,
            iif(
                e.system_text LIKE 'The %',
                '',
                coalesce(v.display_name, v.login, 'somebody') || ' '
            ) || e.system_text,
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
    """Return who wrote these lines, by the lines' ids."""
    sql = """
        SELECT id, viewer_id
        FROM events
        WHERE key IN (SELECT line_key(value) FROM json_each(?))
    """
    return await source.pairs(sql, (event_ids,))


async def lines_by_seq(source: Source, seqs: Collection[int]) -> dict[int, PromptLine]:
    """Return those of these lines that are still there, by their seq."""
    lines = await _prompt_lines(
        source, "e.seq IN (SELECT value FROM json_each(?))", (seqs,)
    )
    return {line.id: line for line in lines}


async def line_by_id(source: Source, event_id: str) -> PromptLine | None:
    """Return a line by Twitch's id; None if it is not there any more."""
    lines = await _prompt_lines(source, "e.key = line_key(?)", (event_id,))
    return lines[0] if lines else None


async def newest_at(source: Source) -> int:
    """Return when the latest line was said (ms); 0 if none is kept."""
    # The end of the index on the time: no row is read.
    return int(await source.value("SELECT coalesce(max(at), 0) FROM events"))


async def count_since(source: Source, since: int) -> int:
    """Return how many lines viewers have written since a time (ms)."""
    sql = "SELECT count(*) FROM events WHERE at >= ? AND from_bot = 0 AND kind <> 'moderation'"
    return int(await source.value(sql, (since,)))
