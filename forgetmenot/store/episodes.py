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

from forgetmenot.domain import Episode, EpisodeKind, Participant, Participation
from forgetmenot.store import bot_messages, events
from forgetmenot.store.database import Database, Params, Source, Transaction, row_as
from forgetmenot.text.removal import without_person
from forgetmenot.text.words import sentences_of


class NewEpisode(Struct, frozen=True):
    """An episode to be written. `seqs`: the events that it covers; that of a command covers none.

    `key`: for a command, the key of its line (`key_of_line`).
    """

    kind: EpisodeKind
    stream_id: int | None
    started_at: int
    ended_at: int
    summary: str
    people: Mapping[str, Participation]
    seqs: Sequence[int] = ()
    model: str = ""
    key: str | None = None
    language: str = ""
    sentence_times: Sequence[int] = ()


# An episode that was learned from a file of past chat has the key "past:", the file's own key, ":" and a number.
KEY_OF_PAST = "past:"


# An import asks for these: what was heard live, or learned before, is not read again.
class HeardSpan(NamedTuple):
    """A stretch of time (ms) whose chat the memory knows.

    `learned_from`: "" for live chat, which is known whole; else the key of the file of past chat that it was learned
    from, of which only the lines of `viewer_id` are known.
    """

    first_at: int
    last_at: int
    learned_from: str
    viewer_id: str | None


async def heard_spans(
    source: Source,
    since: int,
    until: int,
    lull: int,
) -> list[HeardSpan]:
    """Return the stretches between these times (ms) whose chat the memory has read or will read, in order.

    Live chat also if it is up to `lull` ms before or after them.
    """
    # three kinds of stretches: live chat that was summarised, what was learned from files (of each person their own
    # lines alone), and live chat that still waits for its summary
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
    """Return the key of the file that an episode (its key) was learned from; "" for none."""
    if not key.startswith(KEY_OF_PAST):
        return ""
    return key.removeprefix(KEY_OF_PAST).partition(":")[0]


async def write(
    db: Database,
    new: NewEpisode,
    now: int,
) -> int | None:
    """Write an episode, mark its events as covered, and return its id.

    None, and nothing is written, if one of the events was covered or cleared meanwhile.
    """
    async with db.write() as tx:
        # the model thought for seconds: a line may have been cleared meanwhile, or read with another window
        if len(await events.still_unread(tx, new.seqs)) < len(new.seqs):
            return None
        episode_id = await insert(tx, new, now)
        # In the same transaction: a line is covered by one episode, or waits for one.
        await events.set_episode(tx, new.seqs, episode_id)
    return episode_id


# A key is unique: of a line that made two episodes, the second has none.
_INSERT = """
INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, model, topic,
    created_at, extracted_at, key, language, sentence_times)
VALUES (:kind, :stream_id, :started_at, :ended_at, :summary, :events, :model,
    coalesce((SELECT substr(category, 1, 60) FROM streams WHERE id = :stream_id), ''),
    :now, :read_at,
    iif(EXISTS (SELECT 1 FROM episodes WHERE key = :key), NULL, :key),
    :language, :sentence_times)
"""


async def insert(
    tx: Transaction,
    new: NewEpisode,
    now: int,
) -> int:
    """Write an episode and its participants, and return its id. Participants who are not stored are left out."""
    # an episode from a file covers no events: its people say how many lines it has
    lines = len(new.seqs) or sum(part.lines for part in new.people.values())
    # an episode of a command comes with its note, and is not read for more
    read_at = now if new.kind is EpisodeKind.COMMAND else None
    values = {
        "kind": new.kind,
        "stream_id": new.stream_id,
        "started_at": new.started_at,
        "ended_at": new.ended_at,
        "summary": new.summary,
        "events": lines,
        "model": new.model,
        "now": now,
        "read_at": read_at,
        "key": new.key,
        "language": new.language,
        "sentence_times": new.sentence_times,
    }
    episode_id = await tx.insert(_INSERT, values)
    await tx.many(
        """
        INSERT INTO episode_people (episode_id, viewer_id, lines, addressed)
        SELECT ?, id, ?, ?
        FROM viewers
        WHERE id = ?
        """,
        [
            (episode_id, part.lines, part.addressed, viewer_id)
            for viewer_id, part in new.people.items()
        ],
    )
    return episode_id


def key_of_line(event_id: str) -> str:
    """Return the key of an episode that one line of chat made."""
    return f"line:{event_id}"


async def drop_line_keys(tx: Transaction, before: int) -> None:
    """Delete the keys of commands typed before a time (ms): chat that old cannot be cleared any more."""
    await tx.execute(
        # ";" comes after ":", so this range is every key that begins with "line:", and an index answers it
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
    tx: Transaction,
    episodes: Sequence[tuple[int, str | None, int, str]],
    now: int,
) -> None:
    """Write many imported episodes: id, key, time (ms) and summary of each. They are not read for notes."""
    await tx.many(
        """
        INSERT INTO episodes (id, kind, key, started_at, ended_at, summary, events, created_at,
            extracted_at)
        VALUES (?1, 'import', ?2, ?3, ?3, ?4, 0, ?5, ?5)
        """,
        [(*episode, now) for episode in episodes],
    )


async def summary_of(source: Source, episode_id: int) -> str:
    """Return the summary of an episode; "" if there is none."""
    sql = "SELECT summary FROM episodes WHERE id = ?"
    return await source.value(sql, (episode_id,)) or ""


async def set_summary(
    tx: Transaction,
    episode_id: int,
    summary: str,
) -> bool:
    """Write another text in the place of a summary; False if there is no such episode.

    When its sentences were said is not known any more.
    """
    sql = "UPDATE episodes SET summary = ?, sentence_times = '[]' WHERE id = ? AND summary <> ''"
    return await tx.execute(sql, (summary, episode_id)) == 1


async def add_people(tx: Transaction, pairs: Iterable[tuple[int, str]]) -> None:
    """Write who is in imported episodes: pairs of episode id and viewer id."""
    await tx.many(
        """
        INSERT OR IGNORE INTO episode_people (episode_id, viewer_id, lines, addressed)
        VALUES (?, ?, 0, 0)
        """,
        pairs,
    )


async def drop_empty(
    tx: Transaction,
    episode_ids: Sequence[int],
    now: int,
) -> None:
    """Delete those of these episodes that are empty and that nothing rests on.

    Empty ones that a line or a note still needs stay, and are not read for notes.
    """
    # People first: an empty summary that stays must have none (store/invariants).
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
    # what a line or a note still points at stays as a row without words, and there is nothing to read in it
    read = "extracted_at = coalesce(extracted_at, ?)"
    await tx.execute(
        f"UPDATE episodes SET {read} WHERE summary = '' AND id {listed}",
        (now, episode_ids),
    )


async def mark_read(
    tx: Transaction,
    episode_id: int,
    at: int,
) -> bool:
    """Store that an episode was read for notes; False if it was already, or is no longer there."""
    # IS NULL in the statement itself: of two passes one is told that the episode was read.
    sql = "UPDATE episodes SET extracted_at = ? WHERE id = ? AND extracted_at IS NULL"
    return await tx.execute(sql, (at, episode_id)) > 0


async def get(source: Source, episode_id: int) -> Episode | None:
    """Return an episode by its id; None if there is none."""
    episodes = await get_many(source, [episode_id])
    return episodes[0] if episodes else None


async def get_many(source: Source, episode_ids: Collection[int]) -> list[Episode]:
    """Return those of these episodes that are there, oldest first."""
    return await _episodes_where(
        source, "id IN (SELECT value FROM json_each(?)) ORDER BY id", (episode_ids,)
    )


async def sentence_times(
    source: Source, episodes: Iterable[Episode]
) -> dict[int, dict[str, int]]:
    """Return when what the sentences of episodes say was said (ms), by episode and sentence, as far as it is known.

    Nothing of a summary that has lost a sentence since.
    """
    summaries = {episode.id: episode.summary for episode in episodes}
    rows = await source.pairs(
        "SELECT id, sentence_times FROM episodes WHERE id IN (SELECT value FROM json_each(?))",
        (summaries.keys(),),
    )
    times_of: dict[int, dict[str, int]] = {}
    for episode_id, stored in rows.items():
        times = json.loads(stored)
        sentences = sentences_of(summaries[episode_id])
        times_of[episode_id] = {}
        # a sentence was cut since, and nobody knows which: no time is better than a wrong one
        if len(times) == len(sentences):
            pairs = zip(sentences, times, strict=True)
            times_of[episode_id] = {sentence: at for sentence, at in pairs if at}
    return times_of


async def unread(
    source: Source,
    limit: int = 50,
    *,
    due_at: int = events.END_OF_TIME,
) -> list[Episode]:
    """Return the oldest episodes that were not read for notes, but for those that at `due_at` wait for another try."""
    condition = (
        # The index episodes_to_extract has these rows alone, in this order.
        f"extracted_at IS NULL AND NOT ({events.WAITS}) ORDER BY id LIMIT :limit"
    )
    values = {"limit": limit, "now": due_at, "latest": due_at + events.LONGEST_WAIT}
    return await _episodes_where(source, condition, values)


async def newest(
    source: Source,
    *,
    stream_id: int | None,
    limit: int,
) -> list[Episode]:
    """Return a stream's newest episodes from chat that say something, oldest first."""
    condition = """
        stream_id IS ?
            AND kind = 'chat'
            AND summary <> ''
        ORDER BY ended_at DESC, id DESC
        LIMIT ?
    """
    # IS, because chat outside of a stream has none: NULL equals nothing.
    newest_first = await _episodes_where(source, condition, (stream_id, limit))
    return newest_first[::-1]


async def between(
    source: Source,
    stream_id: int,
    after: int,
    before: int,
) -> list[Episode]:
    """Return a stream's episodes from chat that began and ended within that time (ms), oldest first."""
    within = "stream_id = ? AND kind = 'chat' AND summary <> '' AND started_at > ? AND ended_at < ?"
    return await _episodes_where(
        source, f"{within} ORDER BY started_at, id", (stream_id, after, before)
    )


async def _episodes_where(
    source: Source,
    condition: str,
    params: Params,
) -> list[Episode]:
    """Return the episodes of a condition (SQL), in the order that it names."""
    rows = await source.rows(f"SELECT * FROM episodes WHERE {condition}", params)
    return [row_as(row, Episode) for row in rows]


async def summaries_of_stream(
    source: Source, stream_id: int
) -> list[tuple[EpisodeKind, str]]:
    """Return the kind and summary of a stream's episodes from chat, oldest first."""
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
    """Return the summaries of these episodes."""
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
    """Return the people of an episode: who spoke most first."""
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


async def requests_since(
    source: Source,
    viewer_id: str,
    since: int,
) -> int:
    """Return how often a viewer asked for something to be remembered since a time (ms)."""
    sql = """
        SELECT count(*)
        FROM episode_people p
        JOIN episodes e ON e.id = p.episode_id
        WHERE p.viewer_id = ?
            AND p.lines > 0
            AND e.kind = 'command'
            AND e.ended_at >= ?
    """
    return int(await source.value(sql, (viewer_id, since)))


async def ids_by_key(source: Source, keys: Collection[str]) -> dict[str, int]:
    """Return the ids of imported episodes by their own names."""
    return await source.pairs(
        "SELECT key, id FROM episodes WHERE key IN (SELECT value FROM json_each(?))",
        (keys,),
    )


async def texts_after(
    source: Source,
    episode_id: int,
    limit: int,
) -> list[tuple[int, str]]:
    """Return the summary with the topic of episodes that came after one, by their ids, for an index.

    Not those of commands.
    """
    later = "id > ? AND summary <> '' AND kind <> 'command' ORDER BY id LIMIT ?"
    rows = await source.rows(
        f"SELECT id, summary || ' ' || topic FROM episodes WHERE {later}",
        (episode_id, limit),
    )
    return [(row[0], row[1]) for row in rows]


async def id_before_newest(source: Source, count: int) -> int:
    """Return the id after which the newest `count` episodes come; 0 if there are no more than those."""
    # It walks the primary key from its end, over as many rows as are left out.
    sql = "SELECT id FROM episodes ORDER BY id DESC LIMIT 1 OFFSET ?"
    return int(await source.value(sql, (count,)) or 0)


# The cause in a note's history when what it rested on was cleared.
REDACTED = "redaction"
# Evidence from an episode that is the word of nobody in particular, or of (or about) somebody with a cleared line in
# it; or the episode is the cleared line itself, a command to remember something.
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


async def postpone(
    tx: Transaction,
    episode_id: int,
    *,
    tries: int,
    retry_at: int,
) -> None:
    """Store that reading an episode for notes failed `tries` times, and when it is tried again (ms)."""
    await tx.execute(
        "UPDATE episodes SET tries = ?, retry_at = ? WHERE id = ?",
        (tries, retry_at, episode_id),
    )


async def clear(
    tx: Transaction,
    cleared: events.Clear,
    now: int,
) -> None:
    """Clear lines of chat, and remove what summaries and notes have of them."""
    # Notes before summaries: a summary that is emptied lets go of its lines, by which their notes
    # are found.
    for episode_id in await events.clear(tx, cleared, now):
        await _retract_notes(tx, episode_id, now)
        await _cut_summary(tx, episode_id, now)


async def _cut_summary(
    tx: Transaction,
    episode_id: int,
    now: int,
) -> None:
    """Remove from a summary every sentence about somebody whose line was cleared.

    If nothing is left of it, or it only counted lines, the episode's other lines are summarised again.
    """
    values = {"id": episode_id}
    cleared = "FROM events WHERE episode_id = :id AND redacted_at IS NOT NULL"
    remaining = "FROM events WHERE episode_id = :id AND redacted_at IS NULL"
    authors = f"SELECT viewer_id {cleared} AND from_bot = 0"
    row = await tx.row(
        f"""
        SELECT summary, kind = 'chat' AND EXISTS (SELECT 1 {remaining})
        FROM episodes
        WHERE id = :id
        """,
        values,
    )
    summary = ""
    if row is not None:
        text, may_be_cut = row
        summary = text if may_be_cut else ""
    # a summary does not say which sentence rests on which line: all of them about these people go
    for viewer_id in await tx.column(f"{authors} GROUP BY 1", values):
        summary = without_person(summary, viewer_id)
    if not summary:
        await tx.execute(
            # the lines count as unread again, so the next pass summarises those that were not cleared
            "UPDATE events SET episode_id = NULL WHERE episode_id = :id",
            values,
        )
    # whoever has another line in it stays a participant
    await tx.execute(
        f"""
        DELETE FROM episode_people
        WHERE episode_id = :id
            AND viewer_id IN ({authors} EXCEPT SELECT viewer_id {remaining})
        """,
        values,
    )
    await tx.execute(
        f"""
        UPDATE episodes
        SET summary = :summary, topic = '', events = (SELECT count(*) {remaining})
        WHERE id = :id
        """,
        {"id": episode_id, "summary": summary},
    )
    if not summary:
        await drop_empty(tx, [episode_id], now)


async def _retract_notes(
    tx: Transaction,
    episode_id: int,
    now: int,
) -> None:
    """Retract the notes that rest on this episode alone, and on the word of somebody whose lines were cleared.

    - They lose their text, and so do the replies that had one of them in their prompt.
    - So do notes that were replaced since: they would come back when the note that replaced them ends.
    - What others said stays, and so does what a person pinned. Other notes of theirs only lose this evidence.
    - A fact that a retracted note had replaced holds again, unless that note was replaced itself.
    """
    values = {"episode": episode_id}
    lost = f"SELECT e.note_id, e.episode_id, e.stance {_ON_THEIR_WORD} AND {_RESTS_ELSEWHERE}"
    await tx.execute(
        f"DELETE FROM note_evidence WHERE (note_id, episode_id, stance) IN ({lost})",
        values,
    )
    # after the evidence that a note does not need is gone, what is left here rests on this episode alone
    retracted = await tx.rows(
        f"""
        SELECT DISTINCT n.id, n.status, n.created_at {_ON_THEIR_WORD}
            AND e.stance <> 'contradicted'
            AND n.fact <> ''
            AND NOT n.pinned
        """,
        values,
    )
    for note_id, status, _created_at in retracted:
        await _retract_note(tx, note_id, status, now)
    # the bot may have repeated such a note in any reply since it was learned
    if retracted:
        first_created_at = min(created_at for _id, _status, created_at in retracted)
        await bot_messages.clear_since(tx, first_created_at, at=now)


async def _retract_note(
    tx: Transaction,
    note_id: int,
    status: str,
    now: int,
) -> None:
    """Retract a note without its text. What it had replaced takes its place, or points at what replaced it."""
    successor = "(SELECT superseded_by FROM semantic_notes WHERE id = ?1)"
    # Before the note loses `superseded_by`, which says what takes its place.
    replaced = await tx.rows(
        f"""
        UPDATE semantic_notes
        SET superseded_by = {successor}, status = iif({successor} IS NULL, 'active', status)
        WHERE superseded_by = ?1
        RETURNING id, status
        """,
        (note_id,),
    )
    await tx.execute(
        """
        UPDATE semantic_notes
        SET status = 'retracted', superseded_by = NULL, fact = '', topics = '[]', asked_with = '[]'
        WHERE id = ?
        """,
        (note_id,),
    )
    # one note can have replaced several, which come back together
    changes = []
    for replaced_id, new_status in replaced:
        if new_status == "active":
            changes.append((replaced_id, "superseded", "active", now, REDACTED))
    if status != "retracted":
        changes.append((note_id, status, "retracted", now, REDACTED))
    await tx.many(
        """
        INSERT INTO note_changes (note_id, from_status, to_status, at, cause)
        VALUES (?, ?, ?, ?, ?)
        """,
        changes,
    )


class Brief(Struct, frozen=True):
    """A row of `briefs`. `made_of`: a hash of the notes that it was made of; `notes`: their ids."""

    viewer_id: str
    text: str
    made_of: str
    made_at: int
    persona: str = ""
    notes: tuple[int, ...] = ()


async def put_brief(tx: Transaction, brief: Brief) -> None:
    """Write or replace a viewer's brief; nothing is written for one who is hidden or not stored."""
    # From the view `shown`: while the model wrote, they may have opted out or been banned.
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
    tx: Transaction,
    viewer_id: str,
    persona: str,
    made_of: str,
    at: int,
) -> bool:
    """Return whether a viewer's brief was made of the same sources; then it counts as made at that time (ms)."""
    sql = """
        UPDATE briefs
        SET made_at = ?
        WHERE viewer_id = ?
            AND persona = ?
            AND made_of = ?
    """
    return await tx.execute(sql, (at, viewer_id, persona, made_of)) > 0


async def drop_briefs(tx: Transaction) -> None:
    """Delete all briefs. They are made again in the background; until then replies use the notes alone."""
    await tx.execute("DELETE FROM briefs")


async def usable_brief(
    source: Source,
    viewer_id: str,
    persona: str | None = "",
) -> tuple[str, tuple[int, ...]]:
    """Return a viewer's brief and the ids of its notes, if all of these are still valid; else ("", ()).

    `persona`: whose brief; None: the newest of any.
    """
    # A note that is gone has no row: LEFT JOIN, or the brief would outlive it.
    # a note that was corrected by hand has its old id, but is newer than the brief
    row = await source.row(
        """
        SELECT b.text, b.notes
        FROM briefs b
        JOIN shown v ON v.id = b.viewer_id
        WHERE b.viewer_id = ?1
            AND b.persona = coalesce(?2, b.persona)
            AND NOT EXISTS (
                SELECT 1
                FROM json_each(b.notes) j
                LEFT JOIN semantic_notes n ON n.id = j.value
                WHERE n.id IS NULL OR n.status <> 'active' OR n.created_at > b.made_at
            )
        ORDER BY b.made_at DESC
        """,
        (viewer_id, persona),
    )
    if row is None:
        return "", ()
    return str(row["text"]), tuple(json.loads(row["notes"]))


async def brief_to_update(
    source: Source,
    viewer_id: str,
    persona: str,
) -> Brief | None:
    """Return a viewer's last brief, also an outdated one; None if a note of it was retracted or deleted."""
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
    if row is None:
        return None
    return row_as(row, Brief, notes=tuple(json.loads(row["notes"])))


async def briefs_due(
    source: Source,
    persona: str,
    *,
    regular_since: int,
    regular_streams: int,
    a_day_ago: int,
    limit: int,
) -> list[str]:
    """Return the regulars whose brief is due, the oldest brief first.

    It is due when they came to a stream since it was made, and that stream has its recap. A stream that has been on for
    a day counts without a recap, once a day. Who was not seen for a week is left out.
    """
    # 518,400,000 ms are six days: with the day that `:day` is ago already, a week.
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
    """Return what was played in a stream, with how long chat was about it (ms), the longest first."""
    # At least 1 ms each: an episode of a single line has no length.
    sql = """
        SELECT topic, sum(max(ended_at - started_at, 1)) AS length
        FROM episodes
        WHERE stream_id = ?
            AND topic <> ''
        GROUP BY topic
        ORDER BY length DESC, topic
    """
    return await source.pairs(sql, (stream_id,))
