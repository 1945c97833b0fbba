"""Tier 2: rows of `episodes` with their participants. An episode from chat is written with the events that it covers.

Episodes of a command or an import cover no events; they come with their notes. store/episode_redaction handles episodes
whose lines were cleared.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forgetmenot.domain import Episode, EpisodeKind, Part, Role
from forgetmenot.store import events
from forgetmenot.store.database import Database, Params, Row, Source, Transaction, row_as

_EPISODE = """
SELECT e.*, (SELECT group_concat(viewer_id, char(10)) FROM episode_people p WHERE p.episode_id = e.id) AS people
FROM episodes e
"""


@dataclass(frozen=True, slots=True)
class NewEpisode:
    """An episode to be written over these events."""

    kind: EpisodeKind
    stream_id: int | None
    started_at: int
    ended_at: int
    summary: str
    people: Mapping[str, Part]
    seqs: Sequence[int]
    model: str = ""
    topic: str = ""


class OwnEpisode(NamedTuple):
    """The episode of a command or an import: it comes with its notes and is never read for more."""

    kind: EpisodeKind
    summary: str
    at: int
    people: tuple[str, ...]
    key: str | None = None
    stream_id: int | None = None
    spoke: str | None = None


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody in an episode. `lines` 0: mentioned, did not speak. `hidden`: opted out or banned."""

    viewer_id: str
    login: str | None
    display_name: str | None
    role: Role
    lines: int
    addressed: int
    hidden: bool


async def write(db: Database, new: NewEpisode, now: int) -> int | None:
    """Write an episode and mark its events; its id, or None (and nothing written) if an event is unread no more."""
    async with db.write() as tx:
        if not await events.are_unread(tx, new.seqs):
            return None
        episode_id = await insert(tx, new, now)
        await events.cover(tx, new.seqs, episode_id)
    return episode_id


async def insert(tx: Transaction, new: NewEpisode, now: int) -> int:
    """Write an episode and who is in it; its id."""
    episode_id = await tx.insert(
        "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, model, topic, created_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
        " coalesce(nullif(?8, ''), (SELECT substr(category, 1, 60) FROM streams WHERE id = ?2), ''), ?9)",
        (*columns_of(new), now),
    )
    await write_people(tx, episode_id, new.people)
    return episode_id


def columns_of(new: NewEpisode) -> tuple[object, ...]:
    """kind, stream_id, started_at, ended_at, summary, events, model, topic (if empty, the category is stored)."""
    return (new.kind, new.stream_id, new.started_at, new.ended_at, new.summary, len(new.seqs), new.model, new.topic)


async def write_people(tx: Transaction, episode_id: int, people: Mapping[str, Part]) -> None:
    """Say who is in an episode from chat; whoever is not stored is left out."""
    await tx.many(
        "INSERT INTO episode_people (episode_id, viewer_id, lines, addressed)"
        " SELECT ?, id, ?, ? FROM viewers WHERE id = ?",
        [(episode_id, part.lines, part.addressed, who) for who, part in people.items()],
    )


def key_of_line(event_id: str) -> str:
    """The key of an episode that one line of chat made."""
    return f"line:{event_id}"


async def forget_lines(tx: Transaction, before: int) -> None:
    """Delete ids of lines said before then: they can no longer be cleared."""
    await tx.execute(
        # ";" comes after ":": a range that holds every key with "line:" in front, and that an index finds
        "UPDATE episodes SET key = NULL WHERE kind = 'command' AND key >= 'line:' AND key < 'line;' AND ended_at < ?",
        (before,),
    )


async def insert_own(tx: Transaction, new: OwnEpisode, now: int) -> int:
    """Write an episode that somebody's word makes; its id."""
    episode_id = await tx.insert(
        # a key stands in one episode: of a line that made two, the second has none
        "INSERT INTO episodes (kind, key, stream_id, started_at, ended_at, summary, events, created_at, extracted_at)"
        " VALUES (?1, iif(EXISTS (SELECT 1 FROM episodes WHERE key = ?2), NULL, ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (new.kind, new.key, new.stream_id, new.at, new.at, new.summary, int(new.spoke is not None), now, now),
    )
    await tx.many(
        "INSERT OR IGNORE INTO episode_people (episode_id, viewer_id, lines, addressed) VALUES (?, ?, ?, ?)",
        [(episode_id, who, int(who == new.spoke), int(who == new.spoke)) for who in new.people],
    )
    return episode_id


async def insert_imported(tx: Transaction, new: Sequence[tuple[int, OwnEpisode]], now: int) -> None:
    """Write many imported episodes whose ids are given."""
    await tx.many(
        "INSERT INTO episodes (id, kind, key, stream_id, started_at, ended_at, summary, events, created_at,"
        " extracted_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
        [(i, one.kind, one.key, one.stream_id, one.at, one.at, one.summary, now, now) for i, one in new],
    )


async def add_people(tx: Transaction, pairs: Iterable[tuple[int, str]]) -> None:
    """Say that somebody is in an imported episode."""
    await tx.many(
        "INSERT OR IGNORE INTO episode_people (episode_id, viewer_id, lines, addressed) VALUES (?, ?, 0, 0)", pairs
    )


async def drop_empty(tx: Transaction, episode_ids: Sequence[int], now: int) -> None:
    """Of episodes with nothing left to say: delete those that nothing rests on, and have the others never read."""
    listed = "IN (SELECT value FROM json_each(?))"
    await tx.execute(
        f"DELETE FROM episode_people WHERE episode_id {listed}"  # noqa: S608  # constants, here and below
        " AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.id = episode_id AND e.summary <> '')",
        (episode_ids,),
    )
    await tx.execute(
        f"DELETE FROM episodes WHERE (summary = '' OR kind = 'command') AND id {listed}"  # noqa: S608
        " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.episode_id = episodes.id)"
        " AND NOT EXISTS (SELECT 1 FROM note_evidence v WHERE v.episode_id = episodes.id)",
        (episode_ids,),
    )
    read = "extracted_at = coalesce(extracted_at, ?)"
    await tx.execute(f"UPDATE episodes SET {read} WHERE summary = '' AND id {listed}", (now, episode_ids))  # noqa: S608


async def mark_read(tx: Transaction, episode_id: int, at: int) -> bool:
    """Say that an episode has been read for notes; False if it was before, or is no longer there."""
    return bool(
        await tx.execute("UPDATE episodes SET extracted_at = ? WHERE id = ? AND extracted_at IS NULL", (at, episode_id))
    )


async def get(source: Source, episode_id: int) -> Episode | None:
    """One episode by its id; None if there is none."""
    return next(iter(await _found(source, "e.id = ?", (episode_id,))), None)


async def unread(source: Source, limit: int = 50, *, due_at: int = events.END_OF_TIME) -> list[Episode]:
    """The oldest episodes that were never read for notes and do not wait to be summarised again.

    With `due_at` without those that wait for another try then.
    """
    # by id and not by time: an episode that is summarised again keeps its place
    wanted = f"e.extracted_at IS NULL AND e.dirty_at IS NULL AND NOT ({events.WAITS}) ORDER BY e.id LIMIT :limit"
    return await _found(source, wanted, {"limit": limit, "now": due_at, "latest": due_at + events.LONGEST_WAIT})


async def newest(source: Source, *, stream_id: int | None, limit: int) -> list[Episode]:
    """A stream's newest episodes from chat, oldest first; none that rests on a cleared line."""
    wanted = "e.stream_id IS ? AND e.kind = 'chat' AND e.dirty_at IS NULL ORDER BY e.ended_at DESC, e.id DESC LIMIT ?"
    return (await _found(source, wanted, (stream_id, limit)))[::-1]


async def between(source: Source, stream_id: int, after: int, before: int) -> list[Episode]:
    """A stream's episodes from chat that began and ended within that time (ms), oldest first; none to be redone."""
    wanted = (
        "e.stream_id = ? AND e.kind = 'chat' AND e.dirty_at IS NULL AND e.summary <> ''"
        " AND e.started_at > ? AND e.ended_at < ? ORDER BY e.started_at, e.id"
    )
    return await _found(source, wanted, (stream_id, after, before))


async def _found(source: Source, condition: str, params: Params) -> list[Episode]:
    """The episodes that a condition of ours picks, in its order."""
    return [episode_of(row) for row in await source.rows(f"{_EPISODE} WHERE {condition}", params)]


async def summaries_of_stream(source: Source, stream_id: int) -> list[str]:
    """The summaries of a stream's episodes from chat, oldest first, without those that rest on a cleared line."""
    sql = "SELECT summary FROM episodes WHERE stream_id = ? AND kind IN ('chat', 'counted') AND summary <> ''"
    return await source.column(f"{sql} AND dirty_at IS NULL ORDER BY ended_at, id", (stream_id,))


async def summaries(source: Source, episode_ids: Iterable[int]) -> dict[int, str]:
    """The summaries of these episodes."""
    sql = "SELECT id, summary FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
    return await source.pairs(sql, (list(episode_ids),))


async def keys(source: Source, episode_ids: Iterable[int]) -> dict[int, str]:
    """The key of each of these episodes: its own, or one made of its id."""
    sql = "SELECT id, coalesce(key, 'episode-' || id) FROM episodes WHERE id IN (SELECT value FROM json_each(?))"
    return await source.pairs(sql, (list(episode_ids),))


async def participants(source: Source, episode_id: int) -> list[Participant]:
    """The people of an episode: who spoke most first."""
    rows = await source.rows(
        "SELECT p.viewer_id, v.login, v.display_name, v.role, p.lines, p.addressed,"
        " v.opted_out_at IS NOT NULL OR v.banned_at IS NOT NULL AS hidden"
        " FROM episode_people p JOIN viewers v ON v.id = p.viewer_id WHERE p.episode_id = ?"
        " ORDER BY p.lines DESC, p.viewer_id",
        (episode_id,),
    )
    return [row_as(row, Participant) for row in rows]


async def requests_since(source: Source, viewer_id: str, since: int) -> int:
    """How often somebody asked for something to be remembered, since then."""
    sql = (
        "SELECT count(*) FROM episode_people p JOIN episodes e ON e.id = p.episode_id"
        " WHERE p.viewer_id = ? AND p.lines > 0 AND e.kind = 'command' AND e.ended_at >= ?"
    )
    return int(await source.value(sql, (viewer_id, since)))


async def ids_by_key(source: Source, keys: Collection[str]) -> dict[str, int]:
    """The ids of imported episodes by their own names."""
    return await source.pairs("SELECT key, id FROM episodes WHERE key IN (SELECT value FROM json_each(?))", (keys,))


def episode_of(row: Row) -> Episode:
    """A row as an Episode; `people`: ids, a line each, or NULL where they were not read."""
    return row_as(row, Episode, people=(row["people"] or "").split("\n") if row["people"] else ())


async def texts_after(source: Source, episode_id: int, limit: int) -> list[tuple[int, str]]:
    """The summary with the topic of episodes that came after one, by their ids, for an index; not those of commands."""
    sql = (
        "SELECT id, summary || ' ' || topic FROM episodes WHERE id > ? AND summary <> '' AND kind <> 'command'"
        " ORDER BY id LIMIT ?"
    )
    return [(row[0], row[1]) for row in await source.rows(sql, (episode_id, limit))]


async def id_before_newest(source: Source, count: int) -> int:
    """The id behind which there are no more than so many episodes."""
    return int(await source.value("SELECT id FROM episodes ORDER BY id DESC LIMIT 1 OFFSET ?", (count,)) or 0)


async def get_many(source: Source, episode_ids: Collection[int]) -> list[Episode]:
    """Those of these episodes that do not rest on a cleared line. Their people are not read."""
    sql = (
        "SELECT e.*, NULL AS people FROM episodes e WHERE e.id IN (SELECT value FROM json_each(?)) AND dirty_at IS NULL"
    )
    return [episode_of(row) for row in await source.rows(sql, (episode_ids,))]
