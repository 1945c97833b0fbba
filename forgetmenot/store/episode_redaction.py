"""Episodes that rest on a cleared line: cut or taken away, and with them the notes that rest on it."""

from collections.abc import Iterable, Sequence

from forgetmenot.store import bot_messages
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.episodes import NewEpisode, columns_of, drop_empty, write_people

REDACTED = "redaction"
"""The cause in a note's history when what it rested on was cleared."""
# Evidence from an episode that rests on somebody whose lines in it were cleared, or on nobody in particular; or that
# is the cleared line itself, in which the bot was told to remember something.
_THEIR_WORD = """
SELECT e.note_id, e.episode_id, e.stance FROM note_evidence e JOIN semantic_notes n ON n.id = e.note_id
WHERE e.episode_id = :episode AND (e.speaker_id IS NULL
    OR e.speaker_id IN (SELECT viewer_id FROM events WHERE episode_id = :episode AND redacted_at IS NOT NULL)
    OR n.subject_id IN (SELECT viewer_id FROM events WHERE episode_id = :episode AND redacted_at IS NOT NULL)
    OR EXISTS (SELECT 1 FROM episodes WHERE id = :episode AND kind = 'command'))
"""
_LOSE_IT = f"""
DELETE FROM note_evidence WHERE (note_id, episode_id, stance) IN (
    SELECT e.note_id, e.episode_id, e.stance FROM ({_THEIR_WORD}) e
    WHERE EXISTS (SELECT 1 FROM note_evidence o
        WHERE o.note_id = e.note_id AND o.episode_id <> :episode AND o.stance <> 'contradicted'))
"""  # noqa: S608  # a constant
_REST_ON_IT = f"""
SELECT DISTINCT n.id, n.status FROM ({_THEIR_WORD}) e JOIN semantic_notes n ON n.id = e.note_id
WHERE e.stance <> 'contradicted' AND n.fact <> '' AND NOT n.pinned
"""  # noqa: S608  # a constant
# What a cleared line said to be over, unless something else was done with it since.
_SAID_OVER = """
SELECT DISTINCT n.id FROM note_evidence e JOIN semantic_notes n ON n.id = e.note_id
JOIN episodes p ON p.id = e.episode_id AND p.kind = 'command'
WHERE e.episode_id = ? AND e.stance = 'contradicted' AND n.status = 'retracted' AND n.fact <> ''
    AND e.at = (SELECT at FROM note_changes WHERE note_id = n.id ORDER BY id DESC LIMIT 1)
"""
# What a retracted note had replaced, and what holds in its place: what had replaced that note in turn, or nothing.
_REPLACED_BY = """
WITH RECURSIVE gone (id) AS (SELECT value FROM json_each(?)), replaced (id, by) AS (
    SELECT id, superseded_by FROM semantic_notes WHERE status = 'superseded' AND superseded_by IN gone
    UNION SELECT r.id, n.superseded_by FROM replaced r JOIN semantic_notes n ON n.id = r.by WHERE r.by IN gone)
SELECT id, by FROM replaced WHERE id NOT IN gone AND (by IS NULL OR by NOT IN gone)
"""


async def dirty(source: Source) -> list[int]:
    """Episodes that rest on a cleared line, oldest first."""
    return await source.column("SELECT id FROM episodes WHERE dirty_at IS NOT NULL ORDER BY id")


async def written(source: Source, episode_id: int) -> tuple[str, str, str, str]:
    """The kind, summary, model and topic of an episode; empty texts if there is none."""
    row = await source.row("SELECT kind, summary, model, topic FROM episodes WHERE id = ?", (episode_id,))
    return (row[0], row[1], row[2], row[3]) if row is not None else ("", "", "", "")


async def cleared_people(source: Source, episode_id: int) -> list[str]:
    """Whose lines of an episode were cleared."""
    cleared = "episode_id = ? AND redacted_at IS NOT NULL AND from_bot = 0"
    return await source.column(f"SELECT DISTINCT viewer_id FROM events WHERE {cleared}", (episode_id,))  # noqa: S608


async def postpone(tx: Transaction, episode_id: int, *, tries: int, retry_at: int) -> None:
    """Say when an episode is read again after that has failed so often."""
    await tx.execute("UPDATE episodes SET tries = ?, retry_at = ? WHERE id = ?", (tries, retry_at, episode_id))


async def let_notes_go(tx: Transaction, episode_ids: Iterable[int], now: int) -> None:
    """Retract what rests on cleared lines of these episodes; they themselves may have to wait for a model."""
    for episode_id in episode_ids:
        await _let_notes_go(tx, episode_id, now)


async def rewrite(db: Database, episode_id: int, new: NewEpisode, now: int) -> bool:
    """Put a new summary in the place of one that rested on a cleared line.

    False, and nothing written, if another of its lines was cleared meanwhile.
    """
    async with db.write() as tx:
        if not await _still_rests_on(tx, episode_id, new.seqs):
            return False
        await tx.execute(
            "UPDATE episodes SET kind = ?1, stream_id = ?2, started_at = ?3, ended_at = ?4, summary = ?5, events = ?6,"
            " model = ?7,"
            " topic = coalesce(nullif(?8, ''), (SELECT substr(category, 1, 60) FROM streams WHERE id = ?2), ''),"
            " dirty_at = NULL WHERE id = ?9",
            (*columns_of(new), episode_id),
        )
        await tx.execute("DELETE FROM episode_people WHERE episode_id = ?", (episode_id,))
        await write_people(tx, episode_id, new.people)
        await _let_notes_go(tx, episode_id, now)
    return True


async def _still_rests_on(tx: Transaction, episode_id: int, seqs: Sequence[int]) -> bool:
    left = await tx.column("SELECT seq FROM events WHERE episode_id = ? AND redacted_at IS NULL", (episode_id,))
    return set(left) == set(seqs)


async def remove(db: Database, episode_id: int, now: int) -> bool:
    """Take away an episode of which every line was cleared; its notes that rest on it alone are retracted.

    False, and nothing changed, if it still covers something.
    """
    async with db.write() as tx:
        if not await _still_rests_on(tx, episode_id, ()):
            return False
        await _let_notes_go(tx, episode_id, now)
        await tx.execute("UPDATE events SET episode_id = NULL WHERE episode_id = ?", (episode_id,))
        empty = "summary = '', topic = '', events = 0, dirty_at = NULL"
        await tx.execute(f"UPDATE episodes SET {empty} WHERE id = ?", (episode_id,))  # noqa: S608  # a constant
        await drop_empty(tx, [episode_id], now)
    return True


async def _let_notes_go(tx: Transaction, episode_id: int, now: int) -> None:
    """Retract the notes that rest on this episode alone and on the word of somebody whose lines were cleared.

    They lose their text, and so do the replies that had one of them in their prompt.
    Also those that another has replaced, or they would come back with the end of that one. Other notes of theirs lose
    it as evidence. What others said stays; so does what a person has pinned. A fact that a retracted note had replaced
    holds again, unless that note was replaced itself; so does one that a cleared line said to be over.
    """
    # read first: the next statements take the evidence away that it looks for
    over = await tx.column(_SAID_OVER, (episode_id,))
    await tx.execute(_LOSE_IT, {"episode": episode_id})
    gone = await tx.pairs(_REST_ON_IT, {"episode": episode_id})
    sql = "SELECT min(created_at) FROM semantic_notes WHERE id IN (SELECT value FROM json_each(?))"
    since = await tx.value(sql, (gone.keys(),))
    replaced = await tx.rows(_REPLACED_BY, (gone.keys(),))
    back = [row["id"] for row in replaced if row["by"] is None]
    await tx.execute(
        "UPDATE semantic_notes SET status = 'retracted', superseded_by = NULL, fact = '', topics = '[]',"
        " asked_with = '[]' WHERE id IN (SELECT value FROM json_each(?))",
        (gone.keys(),),
    )
    if since is not None:
        await bot_messages.clear_since(tx, since, at=now)
    await tx.many(
        "UPDATE semantic_notes SET superseded_by = ?2, status = iif(?2 IS NULL, 'active', status) WHERE id = ?1",
        [*map(tuple, replaced), *((note_id, None) for note_id in over)],
    )
    await tx.many(
        "INSERT INTO note_changes (note_id, at, from_status, to_status, cause) VALUES (?, ?, ?, ?, ?)",
        [(note_id, now, status, "retracted", REDACTED) for note_id, status in gone.items() if status != "retracted"]
        + [(note_id, now, "superseded", "active", REDACTED) for note_id in back]
        + [(note_id, now, "retracted", "active", REDACTED) for note_id in over],
    )
