"""Why a note is believed: rows of `note_evidence`, and of `episodes` as far as tier 3 reads or makes them.

Episodes from chat are written in store/episodes.py; here are those that somebody's word makes (a command, an import),
the queue of those not yet read for notes, and what recall wants to know of a note's surroundings.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forgetmenot.domain.chat import Role
from forgetmenot.domain.memory import Episode, EpisodeKind
from forgetmenot.store.database import Row, Source, Transaction


class Stance(NamedTuple):
    """One row of evidence. `stance`: stated, confirmed, contradicted; `speaker_id` None: nobody in particular."""

    note_id: int
    episode_id: int
    stance: str
    speaker_id: str | None
    addressed: bool
    at: int


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


class Word(NamedTuple):
    """One link of a note's chain, for `memory why`."""

    stance: str
    speaker_id: str | None
    addressed: bool
    at: int
    episode: Episode


async def add(tx: Transaction, stance: Stance) -> None:
    """Write evidence; the same stance of the same episode twice is once."""
    await add_many(tx, [stance])


async def add_many(tx: Transaction, stances: Iterable[Stance]) -> None:
    """Write evidence."""
    await tx.many(
        "INSERT OR IGNORE INTO note_evidence (note_id, episode_id, stance, speaker_id, addressed, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        stances,
    )


async def speakers(source: Source, note_id: int) -> list[tuple[str, int]]:
    """Who stated or confirmed a note, and in which episode."""
    rows = await source.rows(
        "SELECT speaker_id, episode_id FROM note_evidence"
        " WHERE note_id = ? AND stance <> 'contradicted' AND speaker_id IS NOT NULL",
        (note_id,),
    )
    return [(row[0], row[1]) for row in rows]


async def says(source: Source, note_id: int, episode_id: int, speaker_id: str | None) -> bool:
    """Whether this person's word in this episode is evidence for a note already."""
    row = await source.row(
        "SELECT 1 FROM note_evidence"
        " WHERE note_id = ? AND episode_id = ? AND speaker_id IS ? AND stance <> 'contradicted'",
        (note_id, episode_id, speaker_id),
    )
    return row is not None


async def streams_of(source: Source, note_ids: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """The streams in which each of these notes was stated or confirmed, oldest first."""
    rows = await source.rows(
        "SELECT DISTINCT v.note_id, e.stream_id FROM note_evidence v JOIN episodes e ON e.id = v.episode_id"
        " WHERE v.stance <> 'contradicted' AND e.stream_id IS NOT NULL"
        " AND v.note_id IN (SELECT value FROM json_each(?)) ORDER BY v.note_id, e.stream_id",
        (json.dumps(sorted(note_ids)),),
    )
    found: dict[int, tuple[int, ...]] = {}
    for note_id, stream in rows:
        found[note_id] = (*found.get(note_id, ()), stream)
    return found


async def chain(source: Source, note_id: int) -> list[Word]:
    """A note's evidence, oldest first."""
    rows = await source.rows(
        "SELECT e.*, v.stance, v.speaker_id, v.addressed, v.at AS said_at, NULL AS people"
        " FROM note_evidence v JOIN episodes e ON e.id = v.episode_id WHERE v.note_id = ? ORDER BY v.at, e.id",
        (note_id,),
    )
    return [
        Word(row["stance"], row["speaker_id"], bool(row["addressed"]), row["said_at"], _episode(row)) for row in rows
    ]


def _episode(row: Row) -> Episode:
    return Episode(
        id=row["id"],
        kind=EpisodeKind(row["kind"]),
        stream_id=row["stream_id"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        summary=row["summary"],
        events=row["events"],
        people=tuple((row["people"] or "").split("\n")) if row["people"] else (),
    )


_EPISODE = """
SELECT e.*, (SELECT group_concat(viewer_id, char(10)) FROM episode_people p WHERE p.episode_id = e.id) AS people
FROM episodes e
"""


async def unread(source: Source, limit: int = 50) -> list[Episode]:
    """The oldest episodes that were never read for notes and do not wait to be summarised again."""
    rows = await source.rows(
        f"{_EPISODE} WHERE e.extracted_at IS NULL AND e.dirty_at IS NULL ORDER BY e.id LIMIT ?", (limit,)
    )
    return [_episode(row) for row in rows]


async def episode(source: Source, episode_id: int) -> Episode | None:
    """One episode."""
    row = await source.row(f"{_EPISODE} WHERE e.id = ?", (episode_id,))
    return _episode(row) if row else None


async def mark_read(tx: Transaction, episode_id: int, at: int) -> bool:
    """Say that an episode has been read for notes; False if it was before, or is no longer there."""
    return bool(
        await tx.execute("UPDATE episodes SET extracted_at = ? WHERE id = ? AND extracted_at IS NULL", (at, episode_id))
    )


async def participants(source: Source, episode_id: int) -> list[Participant]:
    """The people of an episode: who spoke most first."""
    rows = await source.rows(
        "SELECT p.viewer_id, v.login, v.display_name, v.role, p.lines, p.addressed,"
        " v.opted_out_at IS NOT NULL OR v.banned_at IS NOT NULL AS hidden"
        " FROM episode_people p JOIN viewers v ON v.id = p.viewer_id WHERE p.episode_id = ?"
        " ORDER BY p.lines DESC, p.viewer_id",
        (episode_id,),
    )
    return [
        Participant(
            row["viewer_id"],
            row["login"],
            row["display_name"],
            Role(row["role"]),
            row["lines"],
            row["addressed"],
            bool(row["hidden"]),
        )
        for row in rows
    ]


async def stream_start(source: Source, stream_id: int | None) -> int:
    """When a stream began; 0 for none."""
    row = await source.row("SELECT started_at FROM streams WHERE id = ?", (stream_id,))
    return int(row[0]) if row else 0


async def told_since(source: Source, viewer_id: str, since: int) -> int:
    """How often somebody asked for something to be remembered, since then."""
    row = await source.row(
        "SELECT count(*) FROM episode_people p JOIN episodes e ON e.id = p.episode_id"
        " WHERE p.viewer_id = ? AND p.lines > 0 AND e.kind = 'command' AND e.ended_at >= ?",
        (viewer_id, since),
    )
    return int(row[0]) if row else 0


async def open_stream(source: Source) -> int | None:
    """The stream that is on now."""
    row = await source.row("SELECT id FROM streams WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1")
    return int(row[0]) if row else None


class OwnEpisode(NamedTuple):
    """An episode that somebody's word makes: it is never read for notes, it comes with them."""

    kind: EpisodeKind
    summary: str
    at: int
    people: tuple[str, ...]
    key: str | None = None
    stream_id: int | None = None
    spoke: str | None = None


async def insert_episode(tx: Transaction, new: OwnEpisode, now: int) -> int:
    """Write a command's or an import's episode; its id."""
    episode_id = await tx.insert(
        "INSERT INTO episodes (kind, key, stream_id, started_at, ended_at, summary, events, created_at, extracted_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (new.kind, new.key, new.stream_id, new.at, new.at, new.summary, int(new.spoke is not None), now, now),
    )
    await tx.many(
        "INSERT OR IGNORE INTO episode_people (episode_id, viewer_id, lines, addressed) VALUES (?, ?, ?, ?)",
        [(episode_id, who, int(who == new.spoke), int(who == new.spoke)) for who in new.people],
    )
    return episode_id


async def insert_episodes(tx: Transaction, new: Sequence[tuple[int, OwnEpisode]], now: int) -> None:
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


async def highest_episode(source: Source) -> int:
    """The highest episode id ever given out."""
    row = await source.row(
        "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'episodes'), 0),"
        " coalesce((SELECT max(id) FROM episodes), 0))"
    )
    return int(row[0]) if row else 0


async def episodes_by_key(source: Source, keys: Sequence[str]) -> dict[str, int]:
    """The ids of imported episodes by their own names."""
    rows = await source.rows(
        "SELECT key, id FROM episodes WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),)
    )
    return {row[0]: row[1] for row in rows}


async def summaries(source: Source, episode_ids: Iterable[int]) -> dict[int, str]:
    """The summaries of these episodes."""
    rows = await source.rows(
        "SELECT id, summary FROM episodes WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(episode_ids)),),
    )
    return {row[0]: row[1] for row in rows}


async def replies_with(source: Source, note_id: int, limit: int = 20) -> list[tuple[int, int]]:
    """The bot's kept replies that had a note in their prompt: id and time, newest first."""
    rows = await source.rows(
        "SELECT DISTINCT m.id, m.at FROM bot_messages m, json_each(m.prompt_json, '$.sections') s,"
        " json_each(s.value, '$.rows') r WHERE json_valid(m.prompt_json) AND r.value = ?"
        " AND s.value ->> 'name' IN ('lore', 'others', 'brief', 'channel_notes', 'channel_notes_more')"
        " ORDER BY m.at DESC LIMIT ?",
        (note_id, limit),
    )
    return [(row[0], row[1]) for row in rows]


_NOBODY_HIDDEN = """
NOT EXISTS (SELECT 1 FROM episode_people p JOIN viewers v ON v.id = p.viewer_id
    WHERE p.episode_id = e.id AND (v.opted_out_at IS NOT NULL OR v.banned_at IS NOT NULL))
"""
_BEST = f"""
SELECT e.*, NULL AS people FROM (SELECT rowid, rank FROM episodes_fts WHERE episodes_fts MATCH :match
    ORDER BY rank LIMIT :limit + 20 + json_array_length(:without)) f JOIN episodes e ON e.id = f.rowid
WHERE e.id NOT IN (SELECT value FROM json_each(:without)) AND {_NOBODY_HIDDEN} ORDER BY f.rank LIMIT :limit
"""  # noqa: S608  # a constant
_SHARING = f"""
WITH rare AS MATERIALIZED (SELECT value FROM json_each(:terms) ORDER BY
        (SELECT count(*) FROM (SELECT 1 FROM episodes_fts WHERE episodes_fts MATCH value LIMIT 1000)) LIMIT :rarest),
    sharing AS MATERIALIZED (SELECT f.rowid AS id, count(*) AS terms FROM rare JOIN episodes_fts f
        ON episodes_fts MATCH rare.value GROUP BY f.rowid HAVING count(*) >= 2)
SELECT e.*, NULL AS people FROM sharing s JOIN episodes e ON e.id = s.id
WHERE e.id NOT IN (SELECT value FROM json_each(:without)) AND {_NOBODY_HIDDEN}
ORDER BY s.terms DESC, e.id DESC LIMIT :limit
"""  # noqa: S608  # a constant


async def search(source: Source, match: str, *, limit: int, without: Sequence[int] = ()) -> list[Episode]:
    """The episodes whose summary fits a full-text query best, best first; none with hidden people in it.

    `match` is FTS5's own syntax: build it with `any_of`, never from foreign text. The few best are chosen by their
    numbers before anything else of them is read.
    """
    rows = await source.rows(_BEST, {"match": match, "without": json.dumps(list(without)), "limit": limit})
    return [_episode(row) for row in rows]


async def speaking_of(
    source: Source, terms: Sequence[str], *, at_least: int, limit: int, without: Sequence[int] = ()
) -> list[Episode]:
    """Candidates for having `at_least` (two or more) of these words in their summary; most of them first, then newest.

    Whatever has k of n words has two of the rarest n - k + 2: only these are looked up, since a common word stands in
    thousands of summaries. None with hidden people in it.
    """
    values = {
        "terms": json.dumps([any_of([term]) for term in terms]),
        "rarest": max(2, len(terms) - at_least + 2),
        "without": json.dumps(list(without)),
        "limit": limit,
    }
    return [_episode(row) for row in await source.rows(_SHARING, values)]


def any_of(terms: Iterable[str]) -> str:
    """An FTS5 query that takes any of these words; quoted, so that none of them is an operator."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


async def newest(source: Source, *, stream_id: int | None, limit: int) -> list[Episode]:
    """A stream's newest episodes from chat, oldest first."""
    rows = await source.rows(
        f"{_EPISODE} WHERE e.stream_id IS ? AND e.kind = 'chat' ORDER BY e.ended_at DESC, e.id DESC LIMIT ?",
        (stream_id, limit),
    )
    return [_episode(row) for row in reversed(rows)]


async def stream_before(source: Source, stream_id: int | None) -> tuple[int, str] | None:
    """The stream before that one (None: the last of all) with its recap."""
    row = await source.row(
        "SELECT id, recap FROM streams WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT 1", (stream_id,)
    )
    return (row[0], row[1]) if row else None


async def summaries_with_keys(source: Source, episode_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """The key (its own, or one made of its id) and the summary of each of these episodes."""
    rows = await source.rows(
        "SELECT id, coalesce(key, 'episode-' || id), summary FROM episodes"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(set(episode_ids))),),
    )
    return {row[0]: (row[1], row[2]) for row in rows}
