"""Streams: when each began and ended, what it was called, and its recap."""

from collections.abc import Collection, Iterable
from pathlib import Path

from forgetmenot.domain import Attendance, Stream, Video
from forgetmenot.store.database import Row, Source, Transaction, row_as


async def begin(tx: Transaction, at: int) -> int:
    """Write a stream that begins, and return its id."""
    return await tx.insert(
        "INSERT INTO streams (started_at, last_event_at) VALUES (?1, ?1)", (at,)
    )


async def nearest(
    source: Source,
    first_at: int,
    last_at: int,
    gap: int,
) -> int | None:
    """Return the stream that was on between these times (ms), or the nearest less than `gap` ms away; else None."""
    # A stream that is on lasts until its last line, so far.
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
    """Write a stream that was over before its chat was read, and return its id.

    Its recap is not posted by itself: while only a part of the chat is read, it is of that part.
    """
    sql = """
        INSERT INTO streams (started_at, last_event_at, ended_at, posted_at)
        VALUES (?1, ?1, ?1, 0)
    """
    return await tx.insert(sql, (at,))


async def describe_past(
    tx: Transaction,
    stream_id: int,
    title: str,
) -> None:
    """Store what a file calls a stream, if it has no title yet."""
    # Twitch's own title is better than the name of a file.
    sql = "UPDATE streams SET title = ? WHERE id = ? AND title = ''"
    await tx.execute(sql, (title, stream_id))


async def extend_past(
    tx: Transaction,
    stream_id: int,
    first_at: int,
    last_at: int,
) -> None:
    """Store that a past stream was on between these times (ms), and that its recap is due again.

    Of a stream that Twitch has named, beginning and end are known, and stay.
    """
    await tx.execute(
        """
        UPDATE streams
        SET recapped_at = NULL,
            started_at = iif(twitch_id IS NULL, min(started_at, ?1), started_at),
            ended_at = iif(twitch_id IS NULL, max(ended_at, ?2), ended_at),
            last_event_at = iif(
                twitch_id IS NULL OR ended_at IS NULL,
                max(last_event_at, ?2),
                last_event_at
            )
        WHERE id = ?3
        """,
        (first_at, last_at, stream_id),
    )


async def touch(
    tx: Transaction,
    stream_id: int,
    at: int,
) -> None:
    """Store that something was said in a stream at a time (ms)."""
    await tx.execute(
        "UPDATE streams SET last_event_at = max(last_event_at, ?) WHERE id = ?",
        (at, stream_id),
    )


async def describe(
    tx: Transaction,
    stream_id: int,
    *,
    twitch_id: str | None,
    title: str,
    category: str,
) -> None:
    """Store what Twitch says about a stream."""
    await tx.execute(
        """
        UPDATE streams
        SET twitch_id = coalesce(?, twitch_id), title = ?, category = ?
        WHERE id = ?
        """,
        (twitch_id, title, category, stream_id),
    )


async def end(
    tx: Transaction,
    stream_id: int,
    at: int,
) -> None:
    """Store when a stream ended (ms), unless it has an end; never before its beginning."""
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
    """Return the row of the stream that is on now; None if none is."""
    # A stop may have left an older stream without its end: the newest one is on.
    return await source.row(
        "SELECT * FROM streams WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1"
    )


async def current_id(source: Source) -> int | None:
    """Return the id of the stream that is on now; None if none is."""
    row = await current(source)
    return int(row["id"]) if row else None


async def get_many(source: Source, stream_ids: Iterable[int]) -> dict[int, Stream]:
    """Return those of these streams that are stored, by id."""
    ids = list(stream_ids)
    streams = await _streams_where(
        source, "id IN (SELECT value FROM json_each(?))", ids
    )
    return {stream.id: stream for stream in streams}


async def _streams_where(
    source: Source,
    condition: str,
    *params: object,
) -> list[Stream]:
    """Return the streams of a condition (SQL, on the row `s`), in the order that it names."""
    rows = await source.rows(f"SELECT * FROM streams s WHERE {condition}", params)
    return [row_as(row, Stream) for row in rows]


async def start_of(source: Source, stream_id: int | None) -> int:
    """Return when a stream began (ms); 0 for None."""
    return int(
        await source.value("SELECT started_at FROM streams WHERE id = ?", (stream_id,))
        or 0
    )


async def on_at(source: Source, times: Collection[int]) -> dict[int, int]:
    """Return which stream was on at each of these times (ms), where one was."""
    sql = """
        SELECT j.value, s.id
        FROM json_each(?) j
        JOIN streams s ON s.started_at <= j.value
            AND j.value <= max(coalesce(s.ended_at, s.last_event_at), s.last_event_at)
        ORDER BY s.started_at
    """
    # Where two were on at once, the later one stays: it comes last.
    return await source.pairs(sql, (times,))


async def last_heard(source: Source) -> int:
    """Return when the last line of any stream was said (ms); 0 in an empty memory."""
    return int(
        await source.value("SELECT coalesce(max(last_event_at), 0) FROM streams")
    )


async def previous(source: Source, stream_id: int | None) -> tuple[int, str] | None:
    """Return the id and recap of the stream before this one; for None, of the last stream."""
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
    """Return how many streams ago each of these was: 0 is the one that is on, 1 the last that is over."""
    # Counted, since ids are no order: a past stream that is learned today has the highest.
    later = "SELECT count(*) FROM streams n WHERE n.started_at > s.started_at"
    none_is_on = "NOT EXISTS (SELECT 1 FROM streams o WHERE o.ended_at IS NULL)"
    sql = f"""
        SELECT s.id, ({later}) + ({none_is_on})
        FROM streams s
        WHERE s.id IN (SELECT value FROM json_each(?))
    """
    return await source.pairs(sql, (stream_ids,))


async def without_recap(source: Source) -> list[Stream]:
    """Return closed streams that have no recap yet and nothing unread, oldest first.

    A line that no model would read for hours holds up no recap.
    """
    # By the index of unread lines, which is short, for the few streams that lack a recap.
    unread = "e.stream_id = s.id AND e.episode_id IS NULL AND e.redacted_at IS NULL AND e.tries < 7"
    over = f"ended_at IS NOT NULL AND recapped_at IS NULL AND NOT EXISTS (SELECT 1 FROM events e WHERE {unread})"
    return await _streams_where(source, f"{over} ORDER BY id")


async def ended_with_unread(source: Source) -> frozenset[int]:
    """Return the ids of streams that have ended and still hold unread events."""
    sql = """
        SELECT DISTINCT e.stream_id
        FROM events e
        JOIN streams s ON s.id = e.stream_id
        WHERE e.episode_id IS NULL
            AND e.redacted_at IS NULL
            AND s.ended_at IS NOT NULL
    """
    return frozenset(await source.column(sql))


async def set_recap(
    tx: Transaction,
    stream_id: int,
    recap: str,
    at: int,
) -> bool:
    """Write a stream's recap; False if it has one."""
    sql = """
        UPDATE streams
        SET recap = ?, recapped_at = ?
        WHERE id = ?
            AND recapped_at IS NULL
    """
    return await tx.execute(sql, (recap, at, stream_id)) == 1


async def recap_of(source: Source, stream_id: int) -> str:
    """Return the recap of a stream; "" if there is none."""
    sql = "SELECT recap FROM streams WHERE id = ?"
    return await source.value(sql, (stream_id,)) or ""


async def correct_recap(
    tx: Transaction,
    stream_id: int,
    recap: str,
    at: int,
) -> bool:
    """Write another text in the place of a stream's recap; False if it has none."""
    sql = """
        UPDATE streams
        SET recap = ?, recapped_at = ?
        WHERE id = ?
            AND recap <> ''
    """
    return await tx.execute(sql, (recap, at, stream_id)) == 1


async def last_recapped(source: Source) -> Stream | None:
    """Return the newest stream that is over and has a recap; None if there is none."""
    condition = "recap <> '' AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1"
    recapped_streams = await _streams_where(source, condition)
    return recapped_streams[0] if recapped_streams else None


async def set_so_far(
    tx: Transaction,
    stream_id: int,
    text: str,
) -> None:
    """Store what the streamer has the bot say of a stream while it is on; "" for its summaries."""
    await tx.execute("UPDATE streams SET so_far = ? WHERE id = ?", (text, stream_id))


async def newest_since(
    source: Source,
    at: int,
    limit: int,
) -> list[Stream]:
    """Return the newest streams that were on after a time (ms), oldest first."""
    on = "ended_at IS NULL OR ended_at > ? ORDER BY started_at DESC, id DESC LIMIT ?"
    # The limit counts from the newest, so they are turned round afterwards.
    newest_first = await _streams_where(source, on, at, limit)
    return newest_first[::-1]


async def recapped(source: Source, days: int) -> list[Stream]:
    """Return the streams that ended within so many days of the newest one that is over, oldest first.

    Nothing while a stream that is over waits for its recap.
    """
    # A digest now would lack the last evening.
    waits = """
        SELECT 1
        FROM streams o
        WHERE o.ended_at IS NOT NULL
            AND o.recapped_at IS NULL
    """
    # From the newest stream, not from today: after a month's break the last week is still the last
    # one.
    lately = (
        "recap <> '' AND ended_at > (SELECT max(ended_at) FROM streams) - ? * 86400000"
    )
    return await _streams_where(
        source, f"{lately} AND NOT EXISTS ({waits}) ORDER BY ended_at, id", days
    )


# Twitch's videos of streams.


async def set_video(
    tx: Transaction,
    stream_id: int,
    video: Video,
) -> None:
    """Store which video shows a stream."""
    await tx.execute(
        """
        UPDATE streams
        SET video_id = ?, video_at = ?, video_until = ?
        WHERE id = ?
        """,
        (*video, stream_id),
    )


async def videos(source: Source, stream_ids: Iterable[int | None]) -> dict[int, Video]:
    """Return the videos of these streams, where they are known."""
    sql = """
        SELECT id, video_id, video_at, video_until
        FROM streams
        WHERE video_id IS NOT NULL
            AND id IN (SELECT value FROM json_each(?))
    """
    rows = await source.rows(sql, (set(stream_ids),))
    return {stream_id: Video(*video) for stream_id, *video in rows}


async def without_video(source: Source, since: int) -> dict[int, int]:
    """Return when streams began that Twitch has shown since then, and whose video is not known; by their ids."""
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
    """Return streams that ended since then (ms) and have a recap, oldest first: id, in_file, posted_at."""
    condition = "recap <> '' AND ended_at > ? ORDER BY ended_at, id"
    # A recap that was made anew since is not what stands in its file.
    in_file = "recap_file <> '' AND recap_file_of IS recapped_at AS in_file"
    return await source.rows(
        f"SELECT id, {in_file}, posted_at FROM streams WHERE {condition}", (since,)
    )


async def newest_recap(source: Source, since: int) -> int | None:
    """Return the newest stream that ended since then (ms) and has a recap, while none is on."""
    ended = "recap <> '' AND ended_at > ? AND NOT EXISTS (SELECT 1 FROM streams o WHERE o.ended_at IS NULL)"
    sql = f"SELECT id FROM streams WHERE {ended} ORDER BY ended_at DESC LIMIT 1"
    stream_id: int | None = await source.value(sql, (since,))
    return stream_id


async def sharing_of(source: Source, stream_id: int) -> dict[str, object]:
    """Return where a stream's recap went: recap_file ("" if none) and posted_at (ms)."""
    sql = "SELECT recap_file, posted_at FROM streams WHERE id = ?"
    row = await source.row(sql, (stream_id,))
    return dict(row) if row else {}


async def set_recap_file(
    tx: Transaction,
    stream_id: int,
    path: str,
) -> None:
    """Store to which file a stream's recap was written."""
    await tx.execute(
        """
        UPDATE streams
        SET recap_file = ?, recap_file_of = recapped_at
        WHERE id = ?
        """,
        (path, stream_id),
    )


async def recap_files(source: Source) -> list[str]:
    """Return every file that a recap was written to, as far as the memory knows."""
    return await source.column("SELECT recap_file FROM streams WHERE recap_file <> ''")


async def recap_folders(source: Source) -> set[str]:
    """Return every folder that recaps were written to, also after this copy of the memory was made."""
    # The rows of an older copy do not know later folders; the requests do.
    folders = set(source.requests.recap_folders)
    for file in await recap_files(source):
        folders.add(str(Path(file).parent))
    return folders


async def claim_post(
    tx: Transaction,
    stream_id: int,
    at: int,
    *,
    again: bool,
) -> bool:
    """Store that a recap is posted at a time (ms); False if it was before and `again` is not set."""
    sql = """
        UPDATE streams
        SET posted_at = ?
        WHERE id = ?
            AND (coalesce(posted_at, 0) = 0 OR ?)
    """
    # Claimed before it is posted: a crash in between posts nothing, and not twice.
    return await tx.execute(sql, (at, stream_id, again)) == 1


async def mark_posted(
    tx: Transaction,
    started_at: int,
    at: int,
) -> int:
    """Store in an older copy that a stream's recap was posted, or may have been; returns how many streams changed."""
    sql = """
        UPDATE streams
        SET posted_at = ?
        WHERE started_at = ?
            AND coalesce(posted_at, 0) = 0
    """
    # By its beginning: in an older copy the stream may have another id.
    return await tx.execute(sql, (at, started_at))


async def start_times(source: Source, *, posted: bool = False) -> list[int]:
    """Return when each stream began (ms). `posted`: only of those whose recap was posted."""
    sql = "SELECT started_at FROM streams WHERE NOT ? OR coalesce(posted_at, 0) <> 0"
    return await source.column(sql, (posted,))


async def unclaim_post(tx: Transaction, stream_id: int) -> None:
    """Store that a recap was not posted after all."""
    await tx.execute("UPDATE streams SET posted_at = NULL WHERE id = ?", (stream_id,))


# Who came to which stream.


async def record_visits(
    tx: Transaction, visits: Iterable[tuple[str, int, int, int, int]]
) -> None:
    """Add visits: viewer id, stream id, first and last line (ms), and number of lines of each."""
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
    source: Source,
    at: int,
    without: Collection[str],
    limit: int,
) -> dict[str, int]:
    """Return who wrote their first line of a stream since then and has a note: when, by their id, the newest first.

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
    # By the index on first lines: who came minutes ago is found among the visits of years.
    return {str(row[0]): int(row[1]) for row in rows}


async def attendance_of(
    source: Source,
    viewer_ids: Iterable[str],
    *,
    lately: int,
) -> dict[str, Attendance]:
    """Return how often these viewers came, in all and since `lately` (ms).

    The stream that is on counts, but is not the one that they come back from. It is not missed either.
    """
    # Who never came has no row, and an answer all the same.
    attendance = dict.fromkeys(viewer_ids, Attendance(0, 0, None, 0))
    rows = await source.rows(
        """
        WITH visits AS (
            SELECT a.viewer_id, count(*), sum(s.started_at >= :lately),
                max(iif(s.ended_at IS NOT NULL, a.last_at, NULL)) AS left_at
            FROM attendance a
            JOIN streams s ON s.id = a.stream_id
            WHERE a.viewer_id IN (SELECT value FROM json_each(:viewers))
            GROUP BY a.viewer_id
        )
        SELECT visits.*, (
            SELECT count(*)
            FROM streams missed
            WHERE missed.started_at > visits.left_at
                AND missed.ended_at IS NOT NULL
        )
        FROM visits
        """,
        {"viewers": attendance.keys(), "lately": lately},
    )
    for viewer_id, *counts in rows:
        attendance[viewer_id] = Attendance(*counts)
    return attendance


async def attendance_at(
    source: Source,
    stream_id: int,
    *,
    lately: int,
) -> dict[str, Attendance]:
    """Return who came to one stream, and how often until then; neither the streamer nor who opted out or was banned."""
    rows = await source.rows(
        """
        WITH visits AS (
            SELECT a.viewer_id, count(*), sum(s.started_at >= :lately),
                max(iif(s.id <> here.id, b.last_at, NULL)) AS left_at
            FROM attendance a
            JOIN streams here ON here.id = a.stream_id
            JOIN shown v ON v.id = a.viewer_id
            JOIN attendance b ON b.viewer_id = a.viewer_id
            JOIN streams s ON s.id = b.stream_id
                AND (s.started_at, s.id) <= (here.started_at, here.id)
            WHERE a.stream_id = :stream
                AND v.role <> 'broadcaster'
            GROUP BY a.viewer_id
        )
        SELECT visits.*, (
            SELECT count(*)
            FROM streams missed
            WHERE missed.started_at > visits.left_at
                AND missed.started_at < (SELECT started_at FROM streams WHERE id = :stream)
        )
        FROM visits
        """,
        {"stream": stream_id, "lately": lately},
    )
    # Until that stream, by its beginning: a recap that is made late counts as on its evening.
    return {viewer_id: Attendance(*counts) for viewer_id, *counts in rows}


async def last_visit(
    source: Source,
    viewer_id: str,
    before: int,
) -> int | None:
    """Return when somebody was last in a stream that they came to before then (ms)."""
    # of a stream they are in again now, when they came to it: their last line there is of the present visit
    sql = """
        SELECT max(iif(last_at < ?2, last_at, first_at))
        FROM attendance
        WHERE viewer_id = ?1
            AND first_at < ?2
    """
    at: int | None = await source.value(sql, (viewer_id, before))
    return at


async def streak(source: Source, viewer_id: str) -> int:
    """Return how many streams in a row somebody came to, up to the last one.

    The stream that is on counts once they came to it, and breaks nothing before.
    """
    sql = """
        SELECT count(*)
        FROM attendance a
        JOIN streams s ON s.id = a.stream_id
        WHERE a.viewer_id = :viewer
            AND s.started_at > coalesce((
                SELECT max(missed.started_at)
                FROM streams missed
                WHERE missed.ended_at IS NOT NULL
                    AND NOT EXISTS (
                        SELECT 1
                        FROM attendance b
                        WHERE b.viewer_id = :viewer
                            AND b.stream_id = missed.id
                    )
            ), 0)
    """
    # What came after the last stream that they missed is the streak: one query, however long it is.
    count: int = await source.value(sql, {"viewer": viewer_id})
    return count
