"""Tier 2: rows of `episodes` with their participants, and above them `briefs`.

An episode from chat is written with the events that it covers. Episodes of a command or an import cover no events; they
come with their notes. One that rests on a cleared line is cut or taken away, and with it the notes that rest on it.

A brief is a short text about a viewer, made of notes and episodes; it can be deleted and is made again. It is used only
while its sources are valid: notes active, episodes neither gone nor waiting for a new summary, and the viewer neither
opted out nor banned.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot.domain import Episode, EpisodeKind, Part, Participant
from forgetmenot.store import bot_messages, events
from forgetmenot.store.database import Database, Params, Source, Transaction, row_as
from forgetmenot.text.removal import without_person


class NewEpisode(Struct, frozen=True):
    """An episode to be written over these events; that of a command covers none, and comes with its notes.

    `key`: of a command, the line that it was typed in.
    """

    kind: EpisodeKind
    stream_id: int | None
    started_at: int
    ended_at: int
    summary: str
    people: Mapping[str, Part]
    seqs: Sequence[int] = ()
    model: str = ""
    key: str | None = None
    language: str = ""


# How the key of an episode begins that was learned from a file of past chat; the file's own key follows, and a colon.
KEY_OF_PAST = "past:"


class HeardSpan(NamedTuple):
    """A stretch of time (ms) of which the memory knows what was said.

    `learned_from`: the key of the file of past chat that it was learned from, of which only what `viewer_id` said is
    known; "" for live chat.
    """

    first_at: int
    last_at: int
    learned_from: str
    viewer_id: str | None


async def heard_spans(source: Source, since: int, until: int, lull: int) -> list[HeardSpan]:
    """What the memory knows of the chat between these times, in order: read, or still to be read.

    Live chat also where it is up to `lull` ms away.
    """
    rows = await source.rows(
        """
        SELECT e.started_at, e.ended_at, '', NULL
        FROM episodes e
        WHERE e.kind IN ('chat', 'counted')
            AND coalesce(e.key, '') NOT LIKE :past || '%'
            AND e.ended_at >= :since - :lull
            AND e.started_at <= :until + :lull
        UNION ALL
        SELECT e.started_at, e.ended_at, e.key, p.viewer_id
        FROM episodes e
        JOIN episode_people p ON p.episode_id = e.id
            AND p.lines > 0
        WHERE e.key LIKE :past || '%'
            AND e.ended_at >= :since
            AND e.started_at <= :until
        UNION ALL
        SELECT min(at), max(at), '', NULL
        FROM events
        WHERE episode_id IS NULL
        GROUP BY stream_id
        HAVING max(at) >= :since - :lull
            AND min(at) <= :until + :lull
        ORDER BY 1
        """,
        {"since": since, "until": until, "lull": lull, "past": KEY_OF_PAST},
    )
    return [HeardSpan(row[0], row[1], _file_of(row[2]), row[3]) for row in rows]


def _file_of(key: str) -> str:
    """The file that an episode was learned from; "" for none."""
    return key.removeprefix(KEY_OF_PAST).partition(":")[0] if key.startswith(KEY_OF_PAST) else ""


async def write(db: Database, new: NewEpisode, now: int) -> int | None:
    """Write an episode and mark its events; its id, or None (and nothing written) if an event is unread no more."""
    async with db.write() as tx:
        if len(await events.still_unread(tx, new.seqs)) < len(new.seqs):
            return None
        episode_id = await insert(tx, new, now)
        await events.set_episode(tx, new.seqs, episode_id)
    return episode_id


async def insert(tx: Transaction, new: NewEpisode, now: int) -> int:
    """Write an episode and who is in it; its id."""
    lines = len(new.seqs) or sum(part.lines for part in new.people.values())
    read_at = now if new.kind is EpisodeKind.COMMAND else None  # never read for more notes
    episode_id = await tx.insert(
        "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, model, topic, created_at,"
        " extracted_at, key, language) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
        " coalesce((SELECT substr(category, 1, 60) FROM streams WHERE id = ?2), ''), ?8, ?9,"
        # a key stands in one episode: of a line that made two, the second has none
        " iif(EXISTS (SELECT 1 FROM episodes WHERE key = ?10), NULL, ?10), ?11)",
        (
            new.kind,
            new.stream_id,
            new.started_at,
            new.ended_at,
            new.summary,
            lines,
            new.model,
            now,
            read_at,
            new.key,
            new.language,
        ),
    )
    await tx.many(  # whoever is not stored is left out
        """
        INSERT INTO episode_people (episode_id, viewer_id, lines, addressed)
        SELECT ?, id, ?, ?
        FROM viewers
        WHERE id = ?
        """,
        [(episode_id, part.lines, part.addressed, who) for who, part in new.people.items()],
    )
    return episode_id


def key_of_line(event_id: str) -> str:
    """The key of an episode that one line of chat made."""
    return f"line:{event_id}"


async def drop_line_keys(tx: Transaction, before: int) -> None:
    """Delete ids of lines said before then: they can no longer be cleared."""
    await tx.execute(
        # ";" comes after ":": a range that holds every key with "line:" in front, and that an index finds
        """
        UPDATE episodes
        SET key = NULL
        WHERE kind = 'command'
            AND key >= 'line:'
            AND key < 'line;'
            AND ended_at < ?
        """,
        (before,),
    )


async def insert_imported(
    tx: Transaction, new: Sequence[tuple[int, str | None, int, str]], now: int
) -> None:
    """Write many imported episodes: id, key, time and summary. They are never read for more notes."""
    await tx.many(
        """
        INSERT INTO episodes (id, kind, key, started_at, ended_at, summary, events, created_at,
            extracted_at)
        VALUES (?1, 'import', ?2, ?3, ?3, ?4, 0, ?5, ?5)
        """,
        [(*one, now) for one in new],
    )


async def add_people(tx: Transaction, pairs: Iterable[tuple[int, str]]) -> None:
    """Say that somebody is in an imported episode."""
    await tx.many(
        """
        INSERT OR IGNORE INTO episode_people (episode_id, viewer_id, lines, addressed)
        VALUES (?, ?, 0, 0)
        """,
        pairs,
    )


async def drop_empty(tx: Transaction, episode_ids: Sequence[int], now: int) -> None:
    """Of episodes with nothing left to say: delete those that nothing rests on, and have the others never read."""
    listed = "IN (SELECT value FROM json_each(?))"
    await tx.execute(
        f"""
        DELETE FROM episode_people
        WHERE episode_id {listed}
            AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.id = episode_id AND e.summary <> '')
        """,
        (episode_ids,),
    )
    await tx.execute(
        f"""
        DELETE FROM episodes
        WHERE (summary = '' OR kind = 'command')
            AND id {listed}
            AND NOT EXISTS (SELECT 1 FROM events e WHERE e.episode_id = episodes.id)
            AND NOT EXISTS (SELECT 1 FROM note_evidence v WHERE v.episode_id = episodes.id)
        """,
        (episode_ids,),
    )
    read = "extracted_at = coalesce(extracted_at, ?)"
    await tx.execute(
        f"UPDATE episodes SET {read} WHERE summary = '' AND id {listed}", (now, episode_ids)
    )


async def mark_read(tx: Transaction, episode_id: int, at: int) -> bool:
    """Say that an episode has been read for notes; False if it was before, or is no longer there."""
    return bool(
        await tx.execute(
            "UPDATE episodes SET extracted_at = ? WHERE id = ? AND extracted_at IS NULL",
            (at, episode_id),
        )
    )


async def get(source: Source, episode_id: int) -> Episode | None:
    """One episode by its id; None if there is none."""
    return next(iter(await get_many(source, [episode_id])), None)


async def get_many(source: Source, episode_ids: Collection[int]) -> list[Episode]:
    """Those of these episodes that are there, oldest first."""
    return await _episodes_where(
        source, "id IN (SELECT value FROM json_each(?)) ORDER BY id", (episode_ids,)
    )


async def unread(
    source: Source, limit: int = 50, *, due_at: int = events.END_OF_TIME
) -> list[Episode]:
    """The oldest episodes that were never read for notes.

    With `due_at` without those that wait for another try then.
    """
    wanted = f"extracted_at IS NULL AND NOT ({events.WAITS}) ORDER BY id LIMIT :limit"
    return await _episodes_where(
        source, wanted, {"limit": limit, "now": due_at, "latest": due_at + events.LONGEST_WAIT}
    )


async def newest(source: Source, *, stream_id: int | None, limit: int) -> list[Episode]:
    """A stream's newest episodes from chat that say something, oldest first."""
    wanted = (
        "stream_id IS ? AND kind = 'chat' AND summary <> '' ORDER BY ended_at DESC, id DESC LIMIT ?"
    )
    return (await _episodes_where(source, wanted, (stream_id, limit)))[::-1]


async def between(source: Source, stream_id: int, after: int, before: int) -> list[Episode]:
    """A stream's episodes from chat that began and ended within that time (ms), oldest first."""
    within = "stream_id = ? AND kind = 'chat' AND summary <> '' AND started_at > ? AND ended_at < ?"
    return await _episodes_where(
        source, f"{within} ORDER BY started_at, id", (stream_id, after, before)
    )


async def _episodes_where(source: Source, condition: str, params: Params) -> list[Episode]:
    """The episodes that a condition of ours picks, in its order."""
    return [
        row_as(row, Episode)
        for row in await source.rows(f"SELECT * FROM episodes WHERE {condition}", params)
    ]


async def summaries_of_stream(source: Source, stream_id: int) -> list[tuple[EpisodeKind, str]]:
    """The kind and summary of a stream's episodes from chat, oldest first."""
    rows = await source.rows(
        """
        SELECT kind, summary
        FROM episodes
        WHERE stream_id = ?
            AND kind IN ('chat', 'counted')
            AND summary <> ''
        ORDER BY ended_at, id
        """,
        (stream_id,),
    )
    return [(EpisodeKind(row[0]), row[1]) for row in rows]


async def summaries(source: Source, episode_ids: Iterable[int]) -> dict[int, str]:
    """The summaries of these episodes."""
    sql = """
        SELECT id, summary
        FROM episodes
        WHERE id IN (SELECT value FROM json_each(?))
    """
    return await source.pairs(sql, (list(episode_ids),))


async def keys_and_summaries(
    source: Source, episode_ids: Iterable[int]
) -> dict[int, dict[str, str]]:
    """`key` (an episode's own, or one made of its id) and `summary` of these episodes."""
    rows = await source.rows(
        """
        SELECT id, coalesce(key, 'episode-' || id) AS key, summary
        FROM episodes
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (list(episode_ids),),
    )
    return {row["id"]: {"key": row["key"], "summary": row["summary"]} for row in rows}


async def participants(source: Source, episode_id: int) -> list[Participant]:
    """The people of an episode: who spoke most first."""
    rows = await source.rows(
        """
        SELECT p.viewer_id, v.role, p.lines, p.addressed,
            v.opted_out_at IS NOT NULL OR v.banned_at IS NOT NULL AS hidden
        FROM episode_people p
        JOIN viewers v ON v.id = p.viewer_id
        WHERE p.episode_id = ?
        ORDER BY p.lines DESC, p.viewer_id
        """,
        (episode_id,),
    )
    return [row_as(row, Participant) for row in rows]


async def requests_since(source: Source, viewer_id: str, since: int) -> int:
    """How often somebody asked for something to be remembered, since then."""
    asked = "p.viewer_id = ? AND p.lines > 0 AND e.kind = 'command' AND e.ended_at >= ?"
    sql = f"""
        SELECT count(*)
        FROM episode_people p
        JOIN episodes e ON e.id = p.episode_id
        WHERE {asked}
    """
    return int(await source.value(sql, (viewer_id, since)))


async def ids_by_key(source: Source, keys: Collection[str]) -> dict[str, int]:
    """The ids of imported episodes by their own names."""
    return await source.pairs(
        "SELECT key, id FROM episodes WHERE key IN (SELECT value FROM json_each(?))", (keys,)
    )


async def texts_after(source: Source, episode_id: int, limit: int) -> list[tuple[int, str]]:
    """The summary with the topic of episodes that came after one, by their ids, for an index; not those of commands."""
    later = "id > ? AND summary <> '' AND kind <> 'command' ORDER BY id LIMIT ?"
    rows = await source.rows(
        f"SELECT id, summary || ' ' || topic FROM episodes WHERE {later}", (episode_id, limit)
    )
    return [(row[0], row[1]) for row in rows]


async def id_before_newest(source: Source, count: int) -> int:
    """The id behind which there are no more than so many episodes."""
    return int(
        await source.value("SELECT id FROM episodes ORDER BY id DESC LIMIT 1 OFFSET ?", (count,))
        or 0
    )


# The cause in a note's history when what it rested on was cleared.
REDACTED = "redaction"
# Evidence from an episode that rests on somebody whose lines in it were cleared, or on nobody in particular; or that
# is the cleared line itself, in which the bot was told to remember something.
_ON_THEIR_WORD = """
FROM note_evidence e JOIN semantic_notes n ON n.id = e.note_id WHERE e.episode_id = :episode AND (e.speaker_id IS NULL
    OR EXISTS (SELECT 1 FROM events v WHERE v.episode_id = :episode AND v.redacted_at IS NOT NULL
        AND v.viewer_id IN (e.speaker_id, n.subject_id))
    OR EXISTS (SELECT 1 FROM episodes WHERE id = :episode AND kind = 'command'))
"""
_RESTS_ELSEWHERE = """
EXISTS (SELECT 1 FROM note_evidence o
    WHERE o.note_id = n.id AND o.episode_id <> :episode AND o.stance <> 'contradicted')
"""


async def postpone(tx: Transaction, episode_id: int, *, tries: int, retry_at: int) -> None:
    """Say when an episode is read again after that has failed so often."""
    await tx.execute(
        "UPDATE episodes SET tries = ?, retry_at = ? WHERE id = ?", (tries, retry_at, episode_id)
    )


async def clear(tx: Transaction, what: events.Clear, now: int) -> None:
    """Clear lines of chat, and at once what summaries and notes have of them."""
    for episode_id in await events.clear(tx, what, now):
        await _retract_notes(tx, episode_id, now)
        await _cut_summary(tx, episode_id, now)


async def _cut_summary(tx: Transaction, episode_id: int, now: int) -> None:
    """Take every sentence about who said a cleared line out of a summary.

    Where no sentence is left, or the summary only counts, its other lines are read again.
    """
    of_it = "FROM events WHERE episode_id = :id AND redacted_at"
    authors = f"SELECT viewer_id {of_it} IS NOT NULL AND from_bot = 0"
    row = await tx.row(
        f"""
        SELECT summary, kind = 'chat' AND EXISTS (SELECT 1 {of_it} IS NULL)
        FROM episodes
        WHERE id = :id
        """,
        {"id": episode_id},
    )
    summary = row[0] if row is not None and row[1] else ""
    for viewer_id in await tx.column(f"{authors} GROUP BY 1", {"id": episode_id}):
        summary = without_person(summary, viewer_id)
    if not summary:
        await tx.execute("UPDATE events SET episode_id = NULL WHERE episode_id = ?", (episode_id,))
    await tx.execute(
        f"""
        DELETE FROM episode_people
        WHERE episode_id = :id
            AND viewer_id IN ({authors} EXCEPT SELECT viewer_id {of_it} IS NULL)
        """,
        {"id": episode_id},
    )
    left = f"(SELECT count(*) {of_it} IS NULL)"
    await tx.execute(
        f"""
        UPDATE episodes
        SET summary = :summary, topic = '', events = {left}
        WHERE id = :id
        """,
        {"id": episode_id, "summary": summary},
    )
    if not summary:
        await drop_empty(tx, [episode_id], now)


async def _retract_notes(tx: Transaction, episode_id: int, now: int) -> None:
    """Retract the notes that rest on this episode alone and on the word of somebody whose lines were cleared.

    They lose their text, and so do the replies that had one of them in their prompt.
    Also those that another has replaced, or they would come back with the end of that one. Other notes of theirs lose
    it as evidence. What others said stays; so does what a person has pinned. A fact that a retracted note had replaced
    holds again, unless that note was replaced itself.
    """
    this = {"episode": episode_id}
    lost = f"SELECT e.note_id, e.episode_id, e.stance {_ON_THEIR_WORD} AND {_RESTS_ELSEWHERE}"
    await tx.execute(
        f"DELETE FROM note_evidence WHERE (note_id, episode_id, stance) IN ({lost})", this
    )
    rests_on_it = (
        f"{_ON_THEIR_WORD} AND e.stance <> 'contradicted' AND n.fact <> '' AND NOT n.pinned"
    )
    gone = await tx.rows(f"SELECT DISTINCT n.id, n.status, n.created_at {rests_on_it}", this)
    for note_id, status, _ in gone:
        by = "(SELECT superseded_by FROM semantic_notes WHERE id = ?1)"
        replaced = await tx.rows(
            f"""
            UPDATE semantic_notes
            SET superseded_by = {by}, status = iif({by} IS NULL, 'active', status)
            WHERE superseded_by = ?1
            RETURNING id, status
            """,
            (note_id,),
        )
        await tx.execute(
            """
            UPDATE semantic_notes
            SET status = 'retracted', superseded_by = NULL, fact = '', topics = '[]',
                asked_with = '[]'
            WHERE id = ?
            """,
            (note_id,),
        )
        changed = [(row[0], "superseded", "active") for row in replaced if row[1] == "active"]
        changed += [(note_id, status, "retracted")] if status != "retracted" else []
        await tx.many(
            """
            INSERT INTO note_changes (note_id, from_status, to_status, at, cause)
            VALUES (?, ?, ?, ?, ?)
            """,
            [(*change, now, REDACTED) for change in changed],
        )
    if gone:
        await bot_messages.clear_since(tx, min(row[2] for row in gone), at=now)


class Brief(Struct, frozen=True):
    """One row. `made_of`: hash of the notes; `notes`: their ids."""

    viewer_id: str
    text: str
    made_of: str
    made_at: int
    persona: str = ""
    notes: tuple[int, ...] = ()


async def put_brief(tx: Transaction, brief: Brief) -> None:
    """Insert or replace one; nothing is written for a viewer who is hidden or gone."""
    await tx.execute(
        """
        INSERT INTO briefs (viewer_id, persona, text, made_of, notes, made_at)
        SELECT :viewer_id, :persona, :text, :made_of, :notes, :made_at
        FROM shown
        WHERE id = :viewer_id
        ON CONFLICT (viewer_id, persona) DO UPDATE SET
            text = excluded.text, made_of = excluded.made_of,
            notes = excluded.notes, made_at = excluded.made_at
        """,
        asdict(brief),
    )


async def brief_unchanged(
    tx: Transaction, viewer_id: str, persona: str, made_of: str, at: int
) -> bool:
    """Whether their brief was made of the same sources; then it counts as made now."""
    sql = """
        UPDATE briefs
        SET made_at = ?
        WHERE viewer_id = ?
            AND persona = ?
            AND made_of = ?
    """
    return await tx.execute(sql, (at, viewer_id, persona, made_of)) > 0


async def drop_briefs(tx: Transaction) -> None:
    """Delete all of them; they are made again in the background, and the notes do without them."""
    await tx.execute("DELETE FROM briefs")


async def usable_brief(
    source: Source, viewer_id: str, persona: str | None = ""
) -> tuple[str, tuple[int, ...]]:
    """A viewer's brief and the ids of its notes if all sources are valid; else an empty text. None: of any persona."""
    row = await source.row(
        "SELECT b.text, b.notes FROM briefs b JOIN shown v ON v.id = b.viewer_id"
        " WHERE b.viewer_id = ?1 AND b.persona = coalesce(?2, b.persona)"
        " AND NOT EXISTS (SELECT 1 FROM json_each(b.notes) j LEFT JOIN semantic_notes n ON n.id = j.value"
        # what was corrected by hand stands under its old number, but is newer
        "  WHERE n.id IS NULL OR n.status <> 'active' OR n.created_at > b.made_at)"
        " ORDER BY b.made_at DESC",
        (viewer_id, persona),
    )
    return (str(row[0]), tuple(json.loads(row[1]))) if row else ("", ())


async def brief_to_update(source: Source, viewer_id: str, persona: str) -> Brief | None:
    """A viewer's last brief, which may be outdated; None where a note of it was taken back, or is gone."""
    row = await source.row(
        """
        SELECT viewer_id, text, made_of, made_at, persona, notes
        FROM briefs b
        WHERE viewer_id = ?
            AND persona = ?
            AND text <> ''
            AND NOT EXISTS (
                SELECT 1
                FROM json_each(b.notes) j
                LEFT JOIN semantic_notes n ON n.id = j.value
                WHERE n.id IS NULL OR n.status = 'retracted'
            )
        """,
        (viewer_id, persona),
    )
    return None if row is None else row_as(row, Brief, notes=tuple(json.loads(row["notes"])))


async def briefs_due(
    source: Source,
    persona: str,
    *,
    regular_since: int,
    regular_streams: int,
    a_day_ago: int,
    limit: int,
) -> list[str]:
    """Regulars who came to a stream since their brief was made, and that stream has its recap; the oldest brief first.

    A stream that has been on for a day counts too, once a day; who was not seen for a week does not.
    """
    return await source.column(
        """
        SELECT v.id
        FROM shown v
        LEFT JOIN briefs b ON b.viewer_id = v.id
            AND b.persona = :persona
        WHERE v.last_seen_at > :day - 518400000
            AND (
                SELECT count(*)
                FROM attendance a
                JOIN streams s ON s.id = a.stream_id
                WHERE a.viewer_id = v.id
                    AND s.started_at >= :since
            ) >= :streams
            AND EXISTS (
                SELECT 1
                FROM attendance a
                JOIN streams s ON s.id = a.stream_id
                WHERE a.viewer_id = v.id
                    AND a.last_at > coalesce(b.made_at, 0)
                    AND (
                        s.recapped_at IS NOT NULL OR (
                            s.started_at <= :day
                                AND coalesce(b.made_at, 0) <= :day
                        )
                    )
            )
        ORDER BY coalesce(b.made_at, 0), v.id
        LIMIT :limit
        """,
        {
            "persona": persona,
            "since": regular_since,
            "streams": regular_streams,
            "day": a_day_ago,
            "limit": limit,
        },
    )


async def games_of(source: Source, stream_id: int) -> dict[str, int]:
    """What was played in a stream, with how long chat was about it (ms), the longest first."""
    sql = """
        SELECT topic, sum(max(ended_at - started_at, 1)) AS length
        FROM episodes
        WHERE stream_id = ?
            AND topic <> ''
        GROUP BY topic
        ORDER BY length DESC, topic
    """
    return await source.pairs(sql, (stream_id,))
