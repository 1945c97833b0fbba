"""Everything a person left in the database, found and taken away.

Promises that every text column of every table is looked at: `PLACES` names how each is cleaned, `EXEMPT` why the others
need not be, and a test compares the two with the schema. Large tables are read in pieces, so that nobody waits long.
What a cleaned text says is decided by memory/erasure.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from forgetmenot.clock import DAY
from forgetmenot.store import ledger, rights, tally
from forgetmenot.store.database import Row, Source, Transaction
from forgetmenot.store.ledger import Entry, Kind
from forgetmenot.text.mentions import provisional

AT_ONCE = 500
"""Rows looked at in one read: replies read in between."""
PEOPLE_AT_ONCE = 2_000
"""The same of people: their names are short."""
BANNED_FOR = 7 * DAY


@dataclass(frozen=True, slots=True)
class Place:
    """Columns in which somebody may be written, in the rows that `only` (SQL) names.

    `cut`: sentences about them go; `whole`: the texts go; otherwise only their name does. `also` (SQL) is set with it.
    """

    table: str
    columns: tuple[str, ...]
    cut: bool = False
    whole: bool = False
    only: str = "TRUE"
    also: str = ""


_TOLD_TO_THE_BOT_OR_BY_IT = "(from_bot = 1 OR addressed = 1 OR text LIKE '!%')"  # these quote what is remembered
_CLEARED = "redacted_at = coalesce(redacted_at, at)"

PLACES = (
    Place("episodes", ("summary",), cut=True),
    Place("episodes", ("key", "model")),
    Place("streams", ("recap",), cut=True),
    Place("streams", ("title", "category", "twitch_id")),
    Place("semantic_notes", ("fact", "topics", "asked_with")),
    Place("note_changes", ("cause",)),
    Place("events", ("text", "system_text"), whole=True, only=_TOLD_TO_THE_BOT_OR_BY_IT, also=_CLEARED),
    Place("events", ("text", "system_text")),
    Place("bot_messages", ("text",), whole=True, only="trigger = 'command'"),
    Place("bot_messages", ("text",), cut=True),
    Place("bot_messages", ("detail", "prompt_json", "token_usage_json", "filters_json", "model", "twitch_id")),
    Place("action_logs", ("params_json", "reason", "detail", "decided_by", "key")),
    Place("briefs", ("text",), cut=True),
    Place("never_mention", ("words",)),
    Place("model_calls", ("model", "error")),
)

EXEMPT = {
    "viewers": "the person's own row goes; other people keep their names",
    "viewer_names": "goes with the row in viewers",
    "attendance": "goes with the row in viewers",
    "episode_people": "goes with the row in viewers",
    "fun_consents": "goes with the row in viewers",
    "note_evidence": "its speaker is unset with the row in viewers; stance is a word of ours",
    "forgotten": "keyed hashes",
    "opted_out_unknown": "keyed hashes",
    "pending_redactions": "rows of theirs are deleted",
    "cooldowns": "rows of theirs are deleted",
    "channel_state": "read whole: it is a few rows",
    "tally": "counts under names of ours",
    "runs": "commands of ours",
    "calibration": "models' names",
    "events.id": "Twitch's id of a message of somebody else",
    "events.viewer_id": "their rows are deleted",
    "events.kind": "a word of ours",
    "events.reply_to_id": "unset where it points to a message of theirs",
    "events.role": "a word of ours",
    "episodes.kind": "a word of ours",
    "semantic_notes.scope": "a word of ours",
    "semantic_notes.subject_id": "their rows are deleted",
    "semantic_notes.status": "a word of ours",
    "semantic_notes.source_kind": "a word of ours",
    "semantic_notes.importance": "a word of ours",
    "note_changes.from_status": "a word of ours",
    "note_changes.to_status": "a word of ours",
    "bot_messages.event_id": "rows that answer them are deleted",
    "bot_messages.viewer_id": "rows that answer them are deleted",
    "bot_messages.trigger": "a word of ours",
    "bot_messages.mode": "a word of ours",
    "bot_messages.status": "a word of ours",
    "action_logs.asked_by": "unset with the row in viewers",
    "action_logs.target_id": "unset with the row in viewers",
    "action_logs.name": "a word of ours",
    "action_logs.class": "a word of ours",
    "action_logs.verdict": "a word of ours",
    "action_logs.rule": "a word of ours",
    "action_logs.status": "a word of ours",
    "semantic_notes.persona": "a setting's name",
    "briefs.viewer_id": "goes with the row in viewers",
    "briefs.kind": "a word of ours",
    "briefs.persona": "a setting's name",
    "briefs.made_of": "a hash of sources that are gone",
    "briefs.notes": "ids of rows",
    "briefs.episodes": "ids of rows",
    "never_mention.viewer_id": "goes with the row in viewers",
    "never_mention.by_id": "unset with the row in viewers",
    "model_calls.purpose": "a word of ours",
}


class Held(NamedTuple):
    """How much is held of somebody: rows by kind."""

    events: int
    notes: int
    episodes: int
    replies: int
    actions: int
    streams: int


async def is_known(source: Source, viewer_id: str) -> bool:
    """Whether there is somebody with that id."""
    return await source.row("SELECT 1 FROM viewers WHERE id = ?", (viewer_id,)) is not None


async def names_of(source: Source, viewer_id: str) -> list[str]:
    """Every name that somebody goes or went by, but for those that are somebody else's by now."""
    rows = await source.rows(
        "SELECT login, display_name FROM viewers WHERE id = ?1 UNION SELECT n.login, n.display_name FROM viewer_names n"
        " WHERE n.viewer_id = ?1 AND NOT EXISTS (SELECT 1 FROM viewers v WHERE v.login = n.login AND v.id <> ?1)",
        (viewer_id,),
    )
    return sorted({name for row in rows for name in row if name})


async def names_around(source: Source, viewer_id: str, names: Sequence[str]) -> list[str]:
    """Longer names of other people that one of these is a part of: "bob_7" is one of "bob_77"."""
    rows = await _called(source, "viewers", "id", viewer_id, names)
    rows += await _called(source, "viewer_names", "viewer_id", viewer_id, names)
    parts = [name.lower() for name in names]
    return sorted({name for row in rows for name in row if name and any(part in name.lower() for part in parts)})


async def _called(source: Source, table: str, of: str, viewer_id: str, names: Sequence[str]) -> list[Row]:
    """The names of others in which one of these stands."""
    hay = "lower(coalesce(login, '') || char(10) || coalesce(display_name, '')) AS hay"
    wanted = " OR ".join("instr(hay, lower(?)) > 0" for _ in names) or "FALSE"
    sql = (
        f"SELECT login, display_name FROM (SELECT login, display_name, {hay} FROM {table}"  # noqa: S608  # constants
        f" WHERE rowid > ? AND rowid <= ? AND {of} <> ?) WHERE {wanted}"
    )
    rows: list[Row] = []
    for after in range(0, await _last(source, table), PEOPLE_AT_ONCE):
        rows += await source.rows(sql, (after, after + PEOPLE_AT_ONCE, viewer_id, *names))
    return rows


async def held(source: Source, viewer_id: str) -> Held:
    """How much is held of somebody."""
    row = await source.row(
        "SELECT (SELECT count(*) FROM events WHERE viewer_id = ?1),"
        " (SELECT count(*) FROM semantic_notes WHERE subject_id = ?1),"
        " (SELECT count(*) FROM episode_people WHERE viewer_id = ?1),"
        " (SELECT count(*) FROM bot_messages WHERE viewer_id = ?1),"
        " (SELECT count(*) FROM action_logs WHERE asked_by = ?1 OR target_id = ?1),"
        " (SELECT count(*) FROM attendance WHERE viewer_id = ?1)",
        (viewer_id,),
    )
    return Held(*row) if row else Held(0, 0, 0, 0, 0, 0)


async def begin(tx: Transaction, viewer_id: str, now: int) -> None:
    """Hide somebody, and note that they are to be erased: a crash does not save what is held."""
    await tx.execute(
        "UPDATE viewers SET erase_at = coalesce(erase_at, ?1), banned_at = coalesce(banned_at, ?1) WHERE id = ?2",
        (now, viewer_id),
    )


async def due(source: Source, now: int) -> list[str]:
    """Whose erasure was asked for and not finished, and who was banned seven days ago."""
    rows = await source.rows(
        "SELECT id FROM viewers WHERE erase_at IS NOT NULL OR banned_at <= ? ORDER BY id", (now - BANNED_FOR,)
    )
    return [row[0] for row in rows]


async def delete_chat(tx: Transaction, viewer_id: str) -> int:
    """Delete what somebody said in the last hours and what the bot said to them; how many lines of theirs."""
    theirs = "SELECT id FROM events WHERE viewer_id = ?1"
    await tx.execute(f"UPDATE events SET reply_to_id = NULL WHERE reply_to_id IN ({theirs})", (viewer_id,))  # noqa: S608
    told = "SELECT 'line:' || id FROM events WHERE viewer_id = ?"
    await tx.execute(f"UPDATE episodes SET key = NULL WHERE key IN ({told})", (viewer_id,))  # noqa: S608
    answers = f"viewer_id = ?1 OR event_id IN ({theirs})"
    cleared = "text = '', system_text = '', redacted_at = coalesce(redacted_at, at)"
    said = f"SELECT text FROM bot_messages WHERE {answers}"  # noqa: S608
    await tx.execute(f"UPDATE events SET {cleared} WHERE from_bot = 1 AND text IN ({said})", (viewer_id,))  # noqa: S608
    await tx.execute(f"DELETE FROM bot_messages WHERE {answers}", (viewer_id,))  # noqa: S608
    await tx.execute(
        f"DELETE FROM pending_redactions WHERE event_id IN ({theirs}) OR event_id = 'user:' || ?1",  # noqa: S608
        (viewer_id,),
    )
    for row in await tx.rows("SELECT run_id, count(*) FROM events WHERE viewer_id = ? GROUP BY 1", (viewer_id,)):
        await tally.add(tx, row[0], {"pruned_redacted": row[1]})
    return await tx.execute("DELETE FROM events WHERE viewer_id = ?", (viewer_id,))


async def delete_deeds(tx: Transaction, viewer_id: str) -> int:
    """Delete what was asked for by them or aimed at them; what must still be taken back is left, without them."""
    await tx.execute("DELETE FROM cooldowns WHERE key = ?", (viewer_id,))
    return await tx.execute(
        "DELETE FROM action_logs WHERE (asked_by = ?1 OR target_id = ?1) AND revert_at IS NULL AND status != 'running'",
        (viewer_id,),
    )


async def facts_of(source: Source, viewer_id: str) -> list[str]:
    """The text of every note about somebody, whatever its status."""
    rows = await source.rows("SELECT fact FROM semantic_notes WHERE subject_id = ?", (viewer_id,))
    return [row[0] for row in rows]


async def last_row(source: Source, place: Place) -> int:
    """The highest rowid of a table."""
    return await _last(source, place.table)


async def _last(source: Source, table: str) -> int:
    return int(await source.value(f"SELECT coalesce(max(rowid), 0) FROM {table}"))  # noqa: S608  # a constant


async def written_in(source: Source, place: Place, needles: Sequence[str], *, after: int) -> list[Row]:
    """The rows among the next `AT_ONCE` in which one of these stands: rowid, and the place's columns."""
    together = " || char(10) || ".join(f"coalesce({column}, '')" for column in place.columns)
    found = " OR ".join("instr(hay, ?) > 0" for _ in needles)
    columns = ", ".join(place.columns)
    return await source.rows(
        f"SELECT rowid, {columns} FROM (SELECT rowid, {columns}, lower({together}) AS hay FROM {place.table}"  # noqa: S608
        f" WHERE rowid > ? AND rowid <= ? AND {place.only}) WHERE {found}",
        (after, after + AT_ONCE, *needles),
    )


async def rewrite(tx: Transaction, place: Place, rows: Iterable[Sequence[object]]) -> None:
    """Write cleaned texts: the place's columns in order, then the rowid."""
    columns = ", ".join([*(f"{column} = ?" for column in place.columns), *([place.also] if place.also else [])])
    await tx.many(f"UPDATE {place.table} SET {columns} WHERE rowid = ?", rows)  # noqa: S608  # constants


async def everybody(source: Source) -> dict[str, int]:
    """The ids of all people there are, and since when."""
    return {row[0]: row[1] for row in await source.rows("SELECT id, first_seen_at FROM viewers")}


async def notes_of(source: Source, viewer_id: str) -> list[int]:
    """The ids of every note about somebody, whatever its status."""
    return [row[0] for row in await source.rows("SELECT id FROM semantic_notes WHERE subject_id = ?", (viewer_id,))]


async def cleared_since(source: Source, at: int) -> bool:
    """Whether a line that a summary rests on was cleared since then."""
    return (
        await source.row("SELECT 1 FROM events WHERE redacted_at >= ? AND episode_id IS NOT NULL LIMIT 1", (at,))
        is not None
    )


async def drop_briefs(tx: Transaction) -> None:
    """Let all briefs go; they are made again in the background, and the notes do without them."""
    await tx.execute("DELETE FROM briefs")


async def drop_empty_episodes(tx: Transaction, episode_ids: Iterable[int], now: int) -> None:
    """Of episodes with nothing left to say: delete those that nothing rests on, and have the others never read."""
    ids = json.dumps(list(episode_ids))
    await tx.execute(
        "DELETE FROM episodes WHERE summary = '' AND id IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.episode_id = episodes.id)"
        " AND NOT EXISTS (SELECT 1 FROM note_evidence v WHERE v.episode_id = episodes.id)",
        (ids,),
    )
    await tx.execute(
        "UPDATE episodes SET extracted_at = coalesce(extracted_at, ?)"
        " WHERE summary = '' AND id IN (SELECT value FROM json_each(?))",
        (now, ids),
    )


async def states(source: Source) -> list[tuple[str, str]]:
    """What is kept about the channel: names and values."""
    return [(row[0], row[1]) for row in await source.rows("SELECT name, value FROM channel_state")]


async def delete_person(tx: Transaction, viewer_id: str, now: int) -> bool:
    """Delete the person's own row and what goes with it. Somebody who opted out is still not stored; True if so."""
    row = await tx.row("SELECT opted_out_at FROM viewers WHERE id = ?", (viewer_id,))
    opted_out = row is not None and row[0] is not None
    if opted_out:
        await rights.opt_out_unknown(tx, tx.key.digest("viewer", viewer_id), now)
    written = [viewer_id, *(provisional(name) for name in await names_of(tx, viewer_id))]
    await ledger.note(tx.key, [Entry(Kind.ERASED, tx.key.digest("viewer", one), now) for one in written])
    await tx.execute("DELETE FROM viewers WHERE id = ?", (viewer_id,))
    return opted_out
