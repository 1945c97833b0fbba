"""Streams: when each began and ended, what it was called, and its recap."""

from collections.abc import Collection, Iterable
from pathlib import Path

from forgetmenot.domain import Attendance, Stream, Video
from forgetmenot.store.database import Row, Source, Transaction, row_as


async def begin(tx: Transaction, at: int) -> int:
    """Open a stream; its id."""
    return await tx.insert("INSERT INTO streams (started_at, last_event_at) VALUES (?1, ?1)", (at,))


async def nearest(source: Source, first_at: int, last_at: int, gap: int) -> int | None:
    """The stream in which something was said between these times, or the nearest that is less than `gap` ms away."""
    ended_at = "max(last_event_at, coalesce(ended_at, 0))"
    away = f"max(0, started_at - :last, :first - {ended_at})"
    sql = f"""
        SELECT id
        FROM streams
        WHERE {away} < :gap
        ORDER BY {away}, abs(started_at - :first)
        LIMIT 1
    """
    stream_id: int | None = await source.value(
        sql, {"first": first_at, "last": last_at, "gap": gap}
    )
    return stream_id


async def add_past(tx: Transaction, at: int) -> int:
    """A stream that was over before its chat was read; its id. Its recap, of a part at first, is not posted unasked."""
    sql = """
        INSERT INTO streams (started_at, last_event_at, ended_at, posted_at)
        VALUES (?1, ?1, ?1, 0)
    """
    return await tx.insert(sql, (at,))


async def describe_past(tx: Transaction, stream_id: int, title: str) -> None:
    """Store what a file calls a stream, if it has no title yet."""
    sql = "UPDATE streams SET title = ? WHERE id = ? AND title = ''"
    await tx.execute(sql, (title, stream_id))


async def extend_past(tx: Transaction, stream_id: int, first_at: int, last_at: int) -> None:
    """More of a past stream was read, and its recap is due again: it went on between these times, at least.

    When a stream began and ended that Twitch has named is known.
    """
    await tx.execute(
        """
        UPDATE streams
        SET recapped_at = NULL,
            started_at = iif(twitch_id IS NULL, min(started_at, ?1), started_at),
            ended_at = iif(twitch_id IS NULL, max(ended_at, ?2), ended_at),
            last_event_at = iif(twitch_id IS NULL OR ended_at IS NULL, max(last_event_at, ?2),
                last_event_at)
        WHERE id = ?3
        """,
        (first_at, last_at, stream_id),
    )


async def touch(tx: Transaction, stream_id: int, at: int) -> None:
    """Note that something was said in it."""
    await tx.execute(
        "UPDATE streams SET last_event_at = max(last_event_at, ?) WHERE id = ?", (at, stream_id)
    )


async def describe(
    tx: Transaction, stream_id: int, *, twitch_id: str | None, title: str, category: str
) -> None:
    """Store what Twitch says about it."""
    await tx.execute(
        """
        UPDATE streams
        SET twitch_id = coalesce(?, twitch_id), title = ?, category = ?
        WHERE id = ?
        """,
        (twitch_id, title, category, stream_id),
    )


async def end(tx: Transaction, stream_id: int, at: int) -> None:
    """Close it, once; never before it began."""
    await tx.execute(
        """
        UPDATE streams
        SET ended_at = max(?, started_at)
        WHERE id = ?
            AND ended_at IS NULL
        """,
        (at, stream_id),
    )


async def current(source: Source) -> Row | None:
    """The stream that is on: id, started_at, last_event_at, twitch_id."""
    return await source.row("SELECT * FROM streams WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1")


async def current_id(source: Source) -> int | None:
    """The stream that is on now."""
    row = await current(source)
    return int(row["id"]) if row else None


async def get_many(source: Source, stream_ids: Iterable[int]) -> dict[int, Stream]:
    """Those of these streams that there are, by their ids."""
    found = await _streams_where(source, "id IN (SELECT value FROM json_each(?))", list(stream_ids))
    return {one.id: one for one in found}


async def _streams_where(source: Source, condition: str, *params: object) -> list[Stream]:
    """The streams that a condition of ours picks, in its order."""
    return [
        row_as(row, Stream)
        for row in await source.rows(f"SELECT * FROM streams s WHERE {condition}", params)
    ]


async def start_of(source: Source, stream_id: int | None) -> int:
    """When a stream began; 0 for none."""
    return int(await source.value("SELECT started_at FROM streams WHERE id = ?", (stream_id,)) or 0)


async def last_heard(source: Source) -> int:
    """When the last line of any stream was said (ms); 0 in an empty memory."""
    return int(await source.value("SELECT coalesce(max(last_event_at), 0) FROM streams"))


async def previous(source: Source, stream_id: int | None) -> tuple[int, str] | None:
    """The stream before that one (None: the last of all) with its recap."""
    row = await source.row(
        """
        SELECT id, recap
        FROM streams
        WHERE ?1 IS NULL OR (started_at, id) < (SELECT started_at, id FROM streams WHERE id = ?1)
        ORDER BY started_at DESC, id DESC
        LIMIT 1
        """,
        (stream_id,),
    )
    return (row[0], row[1]) if row else None


async def streams_ago(source: Source, stream_ids: Collection[int]) -> dict[int, int]:
    """How many streams ago each of these was: 0 is the one that is on, 1 the last that is over."""
    later = "SELECT count(*) FROM streams n WHERE n.started_at > s.started_at"
    none_is_on = "NOT EXISTS (SELECT 1 FROM streams o WHERE o.ended_at IS NULL)"
    sql = f"""
        SELECT s.id, ({later}) + ({none_is_on})
        FROM streams s
        WHERE s.id IN (SELECT value FROM json_each(?))
    """
    return await source.pairs(sql, (stream_ids,))


async def without_recap(source: Source) -> list[Stream]:
    """Closed streams that have no recap yet and nothing unread, oldest first.

    A line that no model would read for hours holds up no recap.
    """
    unread = "e.stream_id = s.id AND e.episode_id IS NULL AND e.redacted_at IS NULL AND e.tries < 7"
    over = f"ended_at IS NOT NULL AND recapped_at IS NULL AND NOT EXISTS (SELECT 1 FROM events e WHERE {unread})"
    return await _streams_where(source, f"{over} ORDER BY id")


async def ended_with_unread(source: Source) -> frozenset[int]:
    """The ids of streams that have ended and still hold unread events."""
    sql = """
        SELECT DISTINCT e.stream_id
        FROM events e
        JOIN streams s ON s.id = e.stream_id
        WHERE e.episode_id IS NULL
            AND e.redacted_at IS NULL
            AND s.ended_at IS NOT NULL
    """
    return frozenset(await source.column(sql))


async def set_recap(tx: Transaction, stream_id: int, recap: str, at: int) -> bool:
    """Write a stream's recap; False if it has one."""
    sql = """
        UPDATE streams
        SET recap = ?, recapped_at = ?
        WHERE id = ?
            AND recapped_at IS NULL
    """
    return await tx.execute(sql, (recap, at, stream_id)) == 1


async def newest_since(source: Source, at: int, limit: int) -> list[Stream]:
    """The newest streams that were on after then, oldest first."""
    on = "ended_at IS NULL OR ended_at > ? ORDER BY started_at DESC, id DESC LIMIT ?"
    return (await _streams_where(source, on, at, limit))[::-1]


async def recapped(source: Source, days: int) -> list[Stream]:
    """The streams that ended within so many days of the newest one that is over, oldest first.

    Nothing while a stream that is over waits for its recap.
    """
    waits = """
        SELECT 1
        FROM streams o
        WHERE o.ended_at IS NOT NULL
            AND o.recapped_at IS NULL
    """
    lately = "recap <> '' AND ended_at > (SELECT max(ended_at) FROM streams) - ? * 86400000"
    return await _streams_where(
        source, f"{lately} AND NOT EXISTS ({waits}) ORDER BY ended_at, id", days
    )


# Twitch's videos of streams.


async def set_video(tx: Transaction, stream_id: int, video: Video) -> None:
    """Note which video shows a stream."""
    await tx.execute(
        """
        UPDATE streams
        SET video_id = ?, video_at = ?, video_until = ?
        WHERE id = ?
        """,
        (*video, stream_id),
    )


async def videos(source: Source, stream_ids: Iterable[int | None]) -> dict[int, Video]:
    """The videos of these streams, where they are known."""
    sql = """
        SELECT id, video_id, video_at, video_until
        FROM streams
        WHERE video_id IS NOT NULL
    """
    sql += " AND id IN (SELECT value FROM json_each(?))"
    rows = await source.rows(sql, (set(stream_ids),))
    return {row[0]: Video(*tuple(row)[1:]) for row in rows}


async def without_video(source: Source, since: int) -> dict[int, int]:
    """When streams began that Twitch has shown since then, and whose video is not known; by their ids."""
    sql = """
        SELECT id, started_at
        FROM streams
        WHERE twitch_id IS NOT NULL
            AND video_id IS NULL
            AND started_at > ?
    """
    return await source.pairs(sql, (since,))


# Where a recap went: a file of the streamer's, and Discord.


async def to_share(source: Source, since: int) -> list[Row]:
    """Streams that ended since then (ms) and have a recap, oldest first: id, in_file, posted_at."""
    wanted = "recap <> '' AND ended_at > ? ORDER BY ended_at, id"
    in_file = "recap_file <> '' AND recap_file_of IS recapped_at AS in_file"
    return await source.rows(
        f"SELECT id, {in_file}, posted_at FROM streams WHERE {wanted}", (since,)
    )


async def newest_recap(source: Source, since: int) -> int | None:
    """The newest stream that ended since then (ms) and has a recap, while none is on."""
    ended = "recap <> '' AND ended_at > ? AND NOT EXISTS (SELECT 1 FROM streams o WHERE o.ended_at IS NULL)"
    sql = f"SELECT id FROM streams WHERE {ended} ORDER BY ended_at DESC LIMIT 1"
    found: int | None = await source.value(sql, (since,))
    return found


async def sharing_of(source: Source, stream_id: int) -> dict[str, object]:
    """Where its recap went: recap_file, posted_at."""
    return dict(
        await source.row("SELECT recap_file, posted_at FROM streams WHERE id = ?", (stream_id,))
        or ()
    )


async def set_recap_file(tx: Transaction, stream_id: int, path: str) -> None:
    """Note where a recap was written."""
    await tx.execute(
        """
        UPDATE streams
        SET recap_file = ?, recap_file_of = recapped_at
        WHERE id = ?
        """,
        (path, stream_id),
    )


async def recap_files(source: Source) -> list[str]:
    """Every file that a recap was written to, as far as the memory knows."""
    return await source.column("SELECT recap_file FROM streams WHERE recap_file <> ''")


async def recap_folders(source: Source) -> set[str]:
    """Every folder that recaps were written to, also by a memory that was newer than this copy of it."""
    files = await recap_files(source)
    return {str(Path(file).parent) for file in files} | set(source.requests.recap_folders)


async def claim_post(tx: Transaction, stream_id: int, at: int, *, again: bool) -> bool:
    """Note that a recap is posted now; False if it was before, unless it is to be posted again."""
    sql = """
        UPDATE streams
        SET posted_at = ?
        WHERE id = ?
            AND (coalesce(posted_at, 0) = 0 OR ?)
    """
    return await tx.execute(sql, (at, stream_id, again)) == 1


async def mark_posted(tx: Transaction, started_at: int, at: int) -> int:
    """Note of a stream in an older copy that its recap was posted, or may have been; how many there were."""
    sql = """
        UPDATE streams
        SET posted_at = ?
        WHERE started_at = ?
            AND coalesce(posted_at, 0) = 0
    """
    return await tx.execute(sql, (at, started_at))


async def start_times(source: Source, *, posted: bool = False) -> list[int]:
    """When each stream began (ms). `posted`: only of those whose recap was posted."""
    sql = "SELECT started_at FROM streams WHERE NOT ? OR coalesce(posted_at, 0) <> 0"
    return await source.column(sql, (posted,))


async def unclaim_post(tx: Transaction, stream_id: int) -> None:
    """Note that it was not posted after all."""
    await tx.execute("UPDATE streams SET posted_at = NULL WHERE id = ?", (stream_id,))


# Who came to which stream.


async def record_visits(tx: Transaction, visits: Iterable[tuple[str, int, int, int, int]]) -> None:
    """Add to who came to which stream: (viewer id, stream id, first at, last at, lines)."""
    await tx.many(
        """
        INSERT INTO attendance (viewer_id, stream_id, first_at, last_at, lines)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (viewer_id, stream_id) DO UPDATE SET
            lines = lines + excluded.lines,
            first_at = min(first_at, excluded.first_at),
            last_at = max(last_at, excluded.last_at)
        """,
        visits,
    )


async def arrived_since(
    source: Source, at: int, without: Collection[str], limit: int
) -> dict[str, int]:
    """Who wrote their first line of a stream since then and has a note: when, by their id, the newest first.

    Neither the streamer, nor who opted out or was banned, nor the logins in `without`.
    """
    rows = await source.rows(
        """
        SELECT v.id, a.first_at
        FROM attendance a
        JOIN shown v ON v.id = a.viewer_id
        WHERE a.first_at >= ?
            AND v.erase_at IS NULL
            AND v.role <> 'broadcaster'
            AND coalesce(v.login, '') NOT IN (SELECT value FROM json_each(?))
            AND EXISTS (
                SELECT 1
                FROM semantic_notes n
                WHERE n.subject_id = v.id
                    AND n.status = 'active'
            )
        ORDER BY a.first_at DESC, v.id
        LIMIT ?
        """,
        (at, without, limit),
    )
    return {str(row[0]): int(row[1]) for row in rows}


async def attendance_of(
    source: Source, viewer_ids: Iterable[str], *, lately: int
) -> dict[str, Attendance]:
    """How often these people came, and since `lately` (ms). The open stream counts, but nobody comes back from it."""
    found = dict.fromkeys(viewer_ids, Attendance(0, 0, None))
    rows = await source.rows(
        """
        SELECT a.viewer_id, count(*), sum(s.started_at >= :lately),
            max(iif(s.ended_at IS NOT NULL, a.last_at, NULL))
        FROM attendance a
        JOIN streams s ON s.id = a.stream_id
        WHERE a.viewer_id IN (SELECT value FROM json_each(:viewers))
        GROUP BY a.viewer_id
        """,
        {"viewers": found.keys(), "lately": lately},
    )
    return found | {row[0]: Attendance(*tuple(row)[1:]) for row in rows}


async def attendance_at(source: Source, stream_id: int, *, lately: int) -> dict[str, Attendance]:
    """Who came to one stream, and how often until then; neither the streamer nor who opted out or was banned."""
    rows = await source.rows(
        """
        SELECT a.viewer_id, count(*), sum(s.started_at >= :lately),
            max(iif(s.id <> here.id, b.last_at, NULL))
        FROM attendance a
        JOIN streams here ON here.id = a.stream_id
        JOIN shown v ON v.id = a.viewer_id
        JOIN attendance b ON b.viewer_id = a.viewer_id
        JOIN streams s ON s.id = b.stream_id
            AND (s.started_at, s.id) <= (here.started_at, here.id)
        WHERE a.stream_id = :stream
            AND v.role <> 'broadcaster'
        GROUP BY a.viewer_id
        """,
        {"stream": stream_id, "lately": lately},
    )
    return {row[0]: Attendance(*tuple(row)[1:]) for row in rows}


async def last_visit(source: Source, viewer_id: str, before: int) -> int | None:
    """When somebody was last in a stream that they came to before then (ms)."""
    # of a stream they are in again now, when they came to it: their last line there is of the present visit
    sql = """
        SELECT max(iif(last_at < ?2, last_at, first_at))
        FROM attendance
        WHERE viewer_id = ?1
            AND first_at < ?2
    """
    at: int | None = await source.value(sql, (viewer_id, before))
    return at
