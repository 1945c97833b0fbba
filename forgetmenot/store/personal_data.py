"""Reads, cleans and deletes everything that the database has of a person.

Guarantees:
- `PLACES` has every text column that may name somebody, and how it is cleaned. A test compares it with the schema, and
  says why the other columns need no cleaning.
- Large tables are read on a separate connection, so that no reply waits for it.

What a cleaned text says is decided by privacy/erasure.
"""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from forgetmenot.durations import DAY
from forgetmenot.languages import read_reason
from forgetmenot.store import bot_messages, channel_state, episodes, notes, viewers
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import (
    CARRIED_OUT,
    Database,
    Row,
    Source,
    Transaction,
    separate_reader,
)
from forgetmenot.store.events import END_OF_TIME, Clear
from forgetmenot.store.privacy_requests import OptedOut, PrivacyRequest, RequestKind
from forgetmenot.text.mentions import provisional_id

# Rows that one transaction of an erasure deletes.
NOTES_AT_ONCE = 40
LINES_AT_ONCE = 200
# How long a banned viewer is hidden before they are erased (ms).
BANNED_FOR = 7 * DAY


class ColumnFormat(StrEnum):
    """How people are written in a column."""

    TEXT = "text"  # words of somebody
    WORDS = "words"  # a JSON list of words
    FIELDS = "fields"  # a JSON object, of which FREE_TEXTS are words of somebody and PEOPLE a name
    REASON = "reason"  # a reason of ours with its values (languages.reason), or another program's text


# Fields of a proposed action. All others are numbers, or names of the program's and of the settings'.
FREE_TEXTS = frozenset({"text", "fact", "what", "reason"})
PEOPLE = frozenset({"target"})


class Place(Struct, frozen=True):
    """Columns in which a person may be written, in the rows that `only` (SQL) selects.

    `cut`: sentences about them are removed; `whole`: the whole text is; without either, only their name is.
    `also`: an SQL assignment that is made with it.
    `near`: SQL on the row `t`: whether the person was there, so that a name without a mention may be theirs.
    `typed`: a text that people typed, where such a name is taken for theirs unless it is a common word. In all other
    texts people are mentions (`<@42>`), so a name without one stays.
    """

    table: str
    columns: tuple[str, ...]
    written: ColumnFormat = ColumnFormat.TEXT
    cut: bool = False
    whole: bool = False
    typed: bool = False
    only: str = "TRUE"
    also: str = ""
    near: str = "FALSE"


_WITH_THE_BOT = "(from_bot = 1 OR addressed = 1 OR text LIKE '!%')"  # these quote what is remembered
_CLEARED = "redacted_at = coalesce(redacted_at, at)"
_IN_EPISODE = """
SELECT 1
FROM episode_people p
WHERE p.viewer_id = :viewer
    AND p.episode_id
"""
_HERE = "SELECT 1 FROM attendance a WHERE a.viewer_id = :viewer AND a.stream_id"
_DURING = """
    SELECT 1
    FROM attendance a
    JOIN streams s ON s.id = a.stream_id
    WHERE a.viewer_id = :viewer
        AND t.at BETWEEN s.started_at AND max(coalesce(s.ended_at, :now), s.last_event_at)
"""
# `since`: what was written after they were erased was begun while they were there.
_NEAR_EPISODE = f"t.created_at >= :since OR EXISTS ({_IN_EPISODE} = t.id)"
_NEAR_NOTE = (
    "t.created_at >= :since OR EXISTS (SELECT 1 FROM note_evidence e JOIN episode_people p"
    " ON p.episode_id = e.episode_id WHERE e.note_id = t.id AND p.viewer_id = :viewer)"
)
_NEAR_STREAM = (
    f"t.ended_at IS NULL AND t.started_at >= :since OR EXISTS ({_HERE} = t.id)"
)
_NEAR_LINE = f"t.at >= :since OR t.stream_id IS NULL OR EXISTS ({_HERE} = t.stream_id)"
_NEAR_TIME = f"t.at >= :since OR EXISTS ({_DURING})"

PLACES = (
    Place("episodes", ("summary",), cut=True, near=_NEAR_EPISODE),
    Place("episodes", ("key",)),
    Place("streams", ("recap",), cut=True, near=_NEAR_STREAM),
    Place("streams", ("title",), typed=True, near=_NEAR_STREAM),
    # before the fact loses the mention that tells whom they name
    Place(
        "semantic_notes",
        ("topics", "asked_with"),
        ColumnFormat.WORDS,
        typed=True,
        near="instr(t.fact, '<@' || :viewer || '>')",
    ),
    Place("semantic_notes", ("fact",), near=_NEAR_NOTE),
    Place("note_changes", ("cause",), ColumnFormat.REASON),
    Place("moments", ("text",), typed=True, only="kind = 'title'", near=_NEAR_TIME),
    Place(
        "events",
        ("text", "system_text"),
        whole=True,
        typed=True,
        only=_WITH_THE_BOT,
        also=_CLEARED,
        near=_NEAR_LINE,
    ),
    Place("events", ("text", "system_text"), typed=True, near=_NEAR_LINE),
    Place(
        "bot_messages",
        ("text",),
        whole=True,
        typed=True,
        only="trigger = 'command'",
        near=_NEAR_TIME,
    ),
    Place("bot_messages", ("text",), cut=True, typed=True, near=_NEAR_TIME),
    Place(
        "bot_messages", ("detail",), ColumnFormat.REASON, typed=True, near=_NEAR_TIME
    ),
    Place(
        "action_logs",
        ("params_json",),
        ColumnFormat.FIELDS,
        typed=True,
        near=_NEAR_TIME,
    ),
    Place(
        "action_logs",
        ("reason", "detail"),
        ColumnFormat.REASON,
        typed=True,
        near=_NEAR_TIME,
    ),
    Place("action_logs", ("decided_by",), ColumnFormat.REASON),
    Place("briefs", ("text",), cut=True),
    Place("never_mention", ("words",)),
)
# Texts that stay for more than a day, in which a bare name may be left.
DOUBTFUL_PLACES = (
    Place("semantic_notes", ("fact",), near=_NEAR_NOTE),
    Place("episodes", ("summary",), near=_NEAR_EPISODE),
    Place("streams", ("title", "recap"), near=_NEAR_STREAM),
    Place("bot_messages", ("text",), near=_NEAR_TIME),
    Place("action_logs", ("params_json",), near=_NEAR_TIME),
    Place("never_mention", ("words",)),
)
# What is remembered. A name without a mention in it is an everyday word, or was typed before its bearer came.
_MEMORY_TEXTS = (
    ("semantic_notes", "fact"),
    ("episodes", "summary"),
    ("streams", "recap"),
)
# Every game that was played.
_PLAYED = """
    SELECT category
    FROM streams
    UNION
    SELECT topic
    FROM episodes
    UNION
    SELECT value
    FROM channel_state
    WHERE name = 'category'
"""


async def is_known(source: Source, viewer_id: str) -> bool:
    """Whether a viewer with that id is stored."""
    return (
        await source.row("SELECT 1 FROM viewers WHERE id = ?", (viewer_id,)) is not None
    )


async def names_of(source: Source, viewer_id: str) -> list[str]:
    """Return all present and former names of a viewer, without those that are somebody else's now."""
    rows = await source.rows(
        """
        SELECT login, display_name
        FROM viewers
        WHERE id = ?1
        UNION
        SELECT n.login, n.display_name
        FROM viewer_names n
        WHERE n.viewer_id = ?1
            AND NOT EXISTS (SELECT 1 FROM viewers v WHERE v.login = n.login AND v.id <> ?1)
        """,
        (viewer_id,),
    )
    names: set[str] = set()
    for row in rows:
        names.update(name for name in row if name)
    # two people may be shown by the same name in Chinese, Japanese or Korean
    shared = await source.column(
        """
        SELECT display_name
        FROM viewers
        WHERE id <> ?
            AND login <> lower(display_name)
            AND display_name IN (SELECT value FROM json_each(?))
        """,
        (viewer_id, sorted(names)),
    )
    return sorted(names.difference(shared))


def longer_names(
    path: Path,
    viewer_id: str,
    names: Sequence[str],
) -> list[str]:
    """Return other people's names that contain one of these, as "bob_77" contains "bob_7". Raises StoreError."""
    columns = (
        ("viewers", "id", "login"),
        ("viewers", "id", "display_name"),
        ("viewer_names", "viewer_id", "login"),
        ("viewer_names", "viewer_id", "display_name"),
    )
    longer: set[str] = set()
    with separate_reader(path) as connection:
        for table, id_column, name_column in columns:
            is_other = f"{id_column} <> ? AND instr(lower({name_column}), lower(?))"
            sql = f"SELECT {name_column} FROM {table} WHERE {is_other}"
            for name in names:
                longer.update(
                    row[0] for row in connection.execute(sql, (viewer_id, name))
                )
    own_names = {name.casefold() for name in names}
    return sorted(name for name in longer if name.casefold() not in own_names)


def texts_containing(path: Path, needles: Sequence[str]) -> Iterator[str]:
    """Give the notes, summaries and recaps that contain one of these (A to Z in lower case). Raises StoreError."""
    contains = " OR ".join("instr(lowered, ?) > 0" for _ in needles) or "FALSE"
    with separate_reader(path) as connection:
        for table, column in _MEMORY_TEXTS:
            texts = f"SELECT {column} AS text, lower({column}) AS lowered FROM {table}"
            for row in connection.execute(
                f"SELECT text FROM ({texts}) WHERE {contains}", needles
            ):
                yield row[0]


def played_categories(path: Path) -> set[str]:
    """Return every game that was played. Raises StoreError."""
    with separate_reader(path) as connection:
        return {row[0] for row in connection.execute(_PLAYED) if row[0]}


async def erase_requests(
    source: Source,
    viewer_id: str,
    at: int,
    login: str = "",
) -> list[PrivacyRequest]:
    """Return the requests that erase a viewer: one by id and one by each name.

    By name, since a copy may know somebody only as a login that was mentioned. `login`: that of a viewer whose row may
    not have it yet.
    """
    last_seen_at = await source.value(
        "SELECT last_seen_at FROM viewers WHERE id = ?", (viewer_id,)
    )
    # their last line has Twitch's time, which may be ahead of ours
    erased_at = max(at, last_seen_at or 0)
    names = await names_of(source, viewer_id)
    if login and login not in names:
        names.append(login)
    subjects = [viewer_id, *map(provisional_id, names)]
    return [
        source.requests.of(RequestKind.ERASE, subject, erased_at)
        for subject in subjects
    ]


async def begin_erasure(
    tx: Transaction,
    viewer_id: str,
    now: int,
) -> None:
    """Write the request to erase a viewer, unless there is one, and hide the viewer."""
    if (
        await tx.value("SELECT erase_at FROM viewers WHERE id = ?", (viewer_id,))
        is None
    ):
        await write_request(tx, *await erase_requests(tx, viewer_id, now))
    await hide_for_erasure(tx, viewer_id, now, newer=True)


async def hide_for_erasure(
    tx: Transaction,
    viewer_id: str,
    at: int,
    *,
    newer: bool = False,
) -> bool:
    """Hide a viewer who asked at that time (ms) to be erased, until the erasure is finished.

    False if nothing was hidden, because they came after the request: they are stored anew. `newer`: hide them also
    then, since their lines have Twitch's time, which may be ahead of ours.
    """
    sql = """
        UPDATE viewers
        SET erase_at = coalesce(erase_at, ?1), banned_at = coalesce(banned_at, ?1)
        WHERE id = ?2
            AND (?3 OR first_seen_at <= ?1 OR erase_at IS NOT NULL)
    """
    return await tx.execute(sql, (at, viewer_id, newer)) > 0


async def erasures_due(source: Source, now: int) -> list[str]:
    """Return the ids of viewers whose erasure is not finished, or who were banned seven days ago."""
    sql = """
        SELECT id
        FROM viewers
        WHERE erase_at IS NOT NULL OR banned_at <= ?
        ORDER BY id
    """
    return await source.column(sql, (now - BANNED_FOR,))


async def delete_chat(tx: Transaction, viewer_id: str) -> tuple[int, bool]:
    """Delete a viewer's actions, and a part of their lines and of the bot's answers to them.

    Returns how many lines were deleted, and whether there may be more. Answers are deleted before their lines. An
    action that is running or must still be undone stays, without the viewer.
    """
    is_settled = "revert_at IS NULL AND status != 'running'"
    sql = f"DELETE FROM action_logs WHERE (asked_by = ?1 OR target_id = ?1) AND {is_settled}"
    await tx.execute(sql, (viewer_id,))
    values = {"viewer": viewer_id, "limit": LINES_AT_ONCE}
    lines = """
        SELECT id
        FROM events
        WHERE viewer_id = :viewer OR target_id = :viewer
        ORDER BY seq
        LIMIT :limit
    """
    answers = f"""
        SELECT id
        FROM bot_messages
        WHERE viewer_id = :viewer OR event_id IN ({lines})
        LIMIT :limit
    """
    cleared = "text = '', system_text = '', redacted_at = coalesce(redacted_at, at)"
    answer_texts = (
        f"SELECT text FROM bot_messages WHERE text <> '' AND id IN ({answers})"
    )
    is_answer = f"from_bot = 1 AND text IN ({answer_texts})"
    await tx.execute(f"UPDATE events SET {cleared} WHERE {is_answer}", values)
    deleted_answers = await tx.execute(
        f"DELETE FROM bot_messages WHERE id IN ({answers})", values
    )
    # there may be more answers to the same lines
    if deleted_answers == LINES_AT_ONCE:
        return 0, True
    keys = f"SELECT 'line:' || id FROM ({lines})"
    await tx.execute(f"UPDATE episodes SET key = NULL WHERE key IN ({keys})", values)
    deleted_lines = await tx.execute(
        f"DELETE FROM events WHERE id IN ({lines})", values
    )
    # counted as redacted, so that the counts of lines still add up
    await add_counts(tx, {"pruned_redacted": deleted_lines})
    return deleted_lines, deleted_lines == LINES_AT_ONCE


async def facts_of(
    source: Source,
    viewer_id: str,
    limit: int = -1,
) -> dict[int, str]:
    """Return the texts of the notes about a viewer, of any status, by note id."""
    return await source.pairs(
        "SELECT id, fact FROM semantic_notes WHERE subject_id = ? LIMIT ?",
        (viewer_id, limit),
    )


async def recap_mentions(source: Source, viewer_id: str) -> list[str]:
    """Return the notes and recaps that mention a viewer; recap files are made of them."""
    return await source.column(
        f"""
        SELECT fact
        FROM semantic_notes
        WHERE instr(fact, {_NAMED})
        UNION
        SELECT recap
        FROM streams
        WHERE instr(recap, {_NAMED})
        """,
        (viewer_id,),
    )


class Moment(NamedTuple):
    """The viewer of an erasure, and when it is (ms).

    `since`: what is written from then on was begun while the viewer was there.
    """

    viewer: str
    now: int
    since: int = END_OF_TIME


class DoubtfulPlace(NamedTuple):
    """A text that an erasure left, although it has a name that may be theirs: its table and row."""

    table: str
    row: int


# The name in channel_state under which doubtful places are kept; the streamer sees them in the dock.
_DOUBTFUL = "doubtful"
DOUBTFUL_SHOWN_FOR = 30 * DAY
MOST_DOUBTFUL = 30
_SHOWN_TEXTS = {
    "semantic_notes": """
        SELECT fact
        FROM semantic_notes
        WHERE id = ?
            AND status = 'active'
            AND (subject_id IS NULL OR subject_id IN (SELECT id FROM shown))
    """,
    "episodes": "SELECT summary FROM episodes WHERE id = ?",
    "streams": "SELECT title || ' ' || recap FROM streams WHERE id = ?",
    "bot_messages": "SELECT text FROM bot_messages WHERE id = ?",
}


async def keep_doubtful(
    tx: Transaction,
    places: Sequence[DoubtfulPlace],
    now: int,
) -> None:
    """Store for the streamer where such names may be, without the name: notes first, then the newest rows."""
    if not places:
        return
    shown = [place for place in places if place.table in _SHOWN_TEXTS]
    shown.sort(key=lambda place: (place.table != "semantic_notes", -place.row))
    new_rows = [(place.table, place.row, now) for place in shown]
    rows = new_rows + await _kept_doubtful(tx, now)
    value = msgspec.json.encode(rows[:MOST_DOUBTFUL]).decode()
    await channel_state.put(tx, {_DOUBTFUL: value}, now)


async def doubtful_texts(source: Source, now: int) -> list[dict[str, object]]:
    """Return the doubtful texts that are still there: table, row and text of each."""
    texts: list[dict[str, object]] = []
    for table, row, _at in await _kept_doubtful(source, now):
        text = await source.value(_SHOWN_TEXTS[table], (row,))
        entry = {"table": table, "row": row, "text": text}
        if text and entry not in texts:
            texts.append(entry)
    return texts


async def _kept_doubtful(source: Source, now: int) -> list[tuple[str, int, int]]:
    """Return the doubtful places that may still be shown: table, row, and when they were noted (ms)."""
    stored = await channel_state.read(source, _DOUBTFUL)
    rows = msgspec.json.decode(stored or "[]", type=list[tuple[str, int, int]])
    return [
        row
        for row in rows
        if row[0] in _SHOWN_TEXTS and now - row[2] < DOUBTFUL_SHOWN_FOR
    ]


def is_in_copy(path: Path, moment: Moment) -> bool:
    """Whether a copy of the memory stores a viewer, or its digest mentions them. Raises StoreError."""
    known = "SELECT 1 FROM viewers WHERE id = :viewer"
    mentioned = "SELECT 1 FROM channel_state WHERE instr(value, '<@' || :viewer || '>')"
    sql = f"SELECT EXISTS ({known}) OR EXISTS ({mentioned})"
    with separate_reader(path) as connection:
        return bool(connection.execute(sql, moment._asdict()).fetchone()[0])


async def came_to_newest_stream(source: Source, moment: Moment) -> bool:
    """Whether a viewer came to the newest stream, or was erased since it began."""
    newest = "(SELECT t.id, t.started_at, t.ended_at FROM streams t ORDER BY t.id DESC LIMIT 1) t"
    sql = f"SELECT {_NEAR_STREAM} FROM {newest}"
    return bool(await source.value(sql, moment._asdict()))


class WrittenRow(NamedTuple):
    """A row that may name somebody. `near`: whether they were there when it was written."""

    rowid: int
    near: bool
    texts: tuple[str | None, ...]


def rows_containing(
    path: Path,
    place: Place,
    needles: Sequence[str],
    moment: Moment,
) -> Iterator[WrittenRow]:
    """Give the rows of a place that contain one of these (A to Z in lower case). Raises StoreError."""
    all_columns = " || char(10) || ".join(
        f"coalesce({column}, '')" for column in place.columns
    )
    values: dict[str, object] = moment._asdict()
    conditions = []
    for number, needle in enumerate(needles):
        values[f"needle{number}"] = needle
        conditions.append(f"instr(lowered, :needle{number}) > 0")
    columns = ", ".join(f"t.{column}" for column in place.columns)
    # the texts are lowered once, also when there are many needles
    sql = f"""
        SELECT t.rowid, {place.near}, {columns}
        FROM (
            SELECT rowid AS number, lower({all_columns}) AS lowered
            FROM {place.table}
            WHERE {place.only}
        )
        JOIN {place.table} t ON t.rowid = number
        WHERE {" OR ".join(conditions) or "FALSE"}
    """
    with separate_reader(path) as connection:
        for rowid, near, *texts in connection.execute(sql, values):
            yield WrittenRow(rowid, bool(near), tuple(texts))


async def rewrite(
    tx: Transaction,
    place: Place,
    rows: Iterable[Sequence[object]],
) -> int:
    """Write cleaned texts, and return how many rows changed. A row that was changed since it was read is left.

    Each of `rows`: the cleaned columns of the place in order, the rowid, and the columns as they were read.
    """
    assignments = [f"{column} = ?" for column in place.columns]
    if place.also:
        assignments.append(place.also)
    unchanged = " AND ".join(f"{column} IS ?" for column in place.columns)
    sql = f"""
        UPDATE {place.table}
        SET {", ".join(assignments)}
        WHERE rowid = ?
            AND {unchanged}
    """
    return await tx.many(sql, rows)


async def first_seen_by_id(source: Source) -> dict[str, int]:
    """Return when each stored viewer was first seen (ms), by id."""
    return await source.pairs("SELECT id, first_seen_at FROM viewers")


async def delete_person(
    tx: Transaction,
    viewer_id: str,
    now: int,
) -> None:
    """Delete a viewer's row and what the schema deletes with it. An opt-out is kept as a request."""
    opted_out_at = await tx.value(
        "SELECT opted_out_at FROM viewers WHERE id = ?", (viewer_id,)
    )
    if opted_out_at is not None and not tx.requests.is_out(viewer_id):
        await write_request(tx, tx.requests.of(RequestKind.OPT_OUT, viewer_id, now))
    await tx.execute("DELETE FROM viewers WHERE id = ?", (viewer_id,))


# ── opting out ────────────────────────────────────────────────────────────────────────────────


async def opted_out(source: Source) -> OptedOut:
    """Return the viewers who opted out; somebody known only by login is `login:alice`."""
    source.requests.refresh()
    ids = await source.column("SELECT id FROM viewers WHERE opted_out_at IS NOT NULL")
    return OptedOut(ids, source.requests)


async def leaves_nothing(source: Database, viewer_id: str) -> bool:
    """Whether neither a viewer's requests to the bot nor its answers are stored: they opted out, or are banned."""
    if viewer_id in await opted_out(source):
        return True
    return bool(await viewers.hidden(source, [viewer_id]))


async def opt_out(
    tx: Transaction,
    viewer_id: str,
    now: int,
) -> None:
    """Write the request of a viewer to opt out, and carry it out. Raises StoreError."""
    await write_request(tx, tx.requests.of(RequestKind.OPT_OUT, viewer_id, now))
    await mark_opted_out(tx, viewer_id, now)


async def mark_opted_out(
    tx: Transaction,
    viewer_id: str,
    at: int,
) -> None:
    """Mark a viewer as opted out, and remove their lines of the last day and what summaries say of them."""
    await tx.execute(
        """
        INSERT INTO viewers (id, first_seen_at, last_seen_at, opted_out_at)
        VALUES (?1, ?2, ?2, ?2)
        ON CONFLICT (id) DO UPDATE SET opted_out_at = coalesce(opted_out_at, ?2)
        """,
        (viewer_id, at),
    )
    await tx.execute(
        """
        UPDATE events
        SET target_id = NULL, id = 'moderation:' || seq
        WHERE target_id = ?
        """,
        (viewer_id,),
    )
    last_at = await tx.value(
        "SELECT max(at) FROM events WHERE viewer_id = ?", (viewer_id,)
    )
    # their lines have Twitch's time, which may be ahead of ours
    until = max(at, last_at or at)
    await episodes.clear(tx, Clear(until, viewer_id=viewer_id, remembered=False), at)


async def mark_opted_in(tx: Transaction, viewer_id: str) -> None:
    """Mark a viewer as no longer opted out."""
    await tx.execute(
        "UPDATE viewers SET opted_out_at = NULL WHERE id = ?", (viewer_id,)
    )


async def allow_fact(
    tx: Transaction,
    viewer_id: str,
    words: Collection[str],
) -> None:
    """Let a fact (its words) be remembered again that its subject had forgotten. Raises StoreError."""
    if tx.requests.is_forgotten(viewer_id, words):
        hashed = tx.requests.hashed(viewer_id, words)
        await write_request(
            tx, tx.requests.of(RequestKind.ALLOW, viewer_id, 0, words=hashed)
        )


# ── bans ──────────────────────────────────────────────────────────────────────────────────────


async def ban(tx: Transaction, banned: Mapping[str, int]) -> None:
    """Hide the viewers whom the channel banned. `banned`: when each was (ms), by id. Raises StoreError."""
    sql = "SELECT id FROM viewers WHERE id IN (SELECT value FROM json_each(?))"
    stored_ids = await tx.column(sql, (banned.keys(),))
    if not stored_ids:
        return
    requests = [
        tx.requests.of(RequestKind.BAN, banned_id, banned[banned_id])
        for banned_id in stored_ids
    ]
    await write_request(tx, *requests)
    for viewer_id in stored_ids:
        await viewers.set_banned(tx, viewer_id, banned[viewer_id])


async def banned(source: Source) -> dict[str, int]:
    """Return since when viewers are banned (ms), by id."""
    return await source.pairs(
        "SELECT id, banned_at FROM viewers WHERE banned_at IS NOT NULL"
    )


async def lift_bans(tx: Transaction, last_lines: Mapping[str, int]) -> None:
    """Write requests for the banned viewers who wrote again, so their ban was lifted.

    `last_lines`: when viewers last wrote (ms), by id. Raises StoreError.
    """
    lifted = []
    for viewer_id, at in last_lines.items():
        banned_at = tx.requests.banned_at(viewer_id)
        if banned_at is not None and at > banned_at:
            lifted.append(tx.requests.of(RequestKind.UNBAN, viewer_id, at))
    if lifted:
        await write_request(tx, *lifted)


async def ban_again(
    tx: Transaction,
    viewer_id: str,
    at: int,
) -> int:
    """Hide a viewer in an older copy, which does not know of the ban; returns 1 if they were not hidden yet."""
    return await tx.execute(
        "UPDATE viewers SET banned_at = ? WHERE id = ? AND banned_at IS NULL",
        (at, viewer_id),
    )


async def unban_again(tx: Transaction, viewer_id: str) -> int:
    """Show a viewer again in an older copy, which does not know that the ban was lifted; returns 1 if they were hidden.

    Not one who asked to be erased.
    """
    return await tx.execute(
        """
        UPDATE viewers
        SET banned_at = NULL
        WHERE id = ?
            AND banned_at IS NOT NULL
            AND erase_at IS NULL
        """,
        (viewer_id,),
    )


# ── what was decided, and the count of it ─────────────────────────────────────────────────────


async def write_request(tx: Transaction, *requests: PrivacyRequest) -> None:
    """Write requests that this transaction carries out. Raises StoreError."""
    count = await asyncio.to_thread(tx.requests.add, *requests)
    # the count goes on only from what was carried out: an earlier request may still have to be
    if await carried_out(tx) == count - len(requests):
        await count_carried_out(tx, count)


async def carried_out(source: Source) -> int:
    """Return how many requests this memory has carried out."""
    count_and_mark = await channel_state.read(source, CARRIED_OUT)
    return int(count_and_mark.partition(" ")[0] or 0)


async def count_carried_out(tx: Transaction, count: int) -> None:
    """Store that the first `count` requests are carried out."""
    await channel_state.put(tx, {CARRIED_OUT: f"{count} {tx.requests.mark()}"}, 0)


# ── export ────────────────────────────────────────────────────────────────────────────────────
# Everything that is held about one person, row by row, as it lies in the database.


_NAMED = "'<@' || ?1 || '>'"
_THEIR_NOTES = "(SELECT id FROM semantic_notes WHERE subject_id = ?1)"
EXPORT_PARTS = {
    "person": "viewers WHERE id = ?1",
    "names": "viewer_names WHERE viewer_id = ?1",
    "words_of_names": "name_words WHERE viewer_id = ?1",
    "streams": "attendance WHERE viewer_id = ?1",
    "moments": "moments WHERE viewer_id = ?1",
    "lines": "events WHERE viewer_id = ?1 AND redacted_at IS NULL",
    "moderation": "events WHERE target_id = ?1",
    "notes": "semantic_notes WHERE subject_id = ?1",
    "notes_history": f"note_changes WHERE note_id IN {_THEIR_NOTES}",
    "evidence": f"note_evidence WHERE note_id IN {_THEIR_NOTES}",
    "said_about_others": "semantic_notes WHERE subject_id IS NOT ?1"
    " AND id IN (SELECT note_id FROM note_evidence WHERE speaker_id = ?1)",
    "mentioned_in_notes": f"semantic_notes WHERE subject_id IS NOT ?1 AND instr(fact, {_NAMED})",
    "summaries": "episodes WHERE id IN (SELECT episode_id FROM episode_people WHERE viewer_id = ?1)",
    "recaps": f"streams WHERE instr(recap, {_NAMED})",
    "briefs": "briefs WHERE viewer_id = ?1",
    "replies": "bot_messages WHERE viewer_id = ?1",
    "actions": "action_logs WHERE asked_by = ?1 OR target_id = ?1",
    "never_mention": "never_mention WHERE viewer_id = ?1 OR by_id = ?1",
    "channel_texts": f"channel_state WHERE instr(value, {_NAMED})",
}
# Columns that an export shows only if they hold the person's own id: ids of others, and a path of the streamer's.
_OWN_ID_ONLY = {
    "subject_id",
    "viewer_id",
    "speaker_id",
    "asked_by",
    "target_id",
    "decided_by",
    "by_id",
    "recap_file",
}

Rows = list[dict[str, object]]


async def export(db: Database, viewer_id: str) -> dict[str, Rows]:
    """Return what is stored about a viewer, by kind, `person` first. Times in ms; people in texts as `<@id>`."""
    parts = {}
    for name, from_where in EXPORT_PARTS.items():
        rows = await db.rows(f"SELECT * FROM {from_where} ORDER BY 1", (viewer_id,))
        parts[name] = [_exported(row, viewer_id) for row in rows]
    return parts


def _exported(row: Row, viewer_id: str) -> dict[str, object]:
    """Return what an export shows of a row."""
    columns = {}
    for name, value in dict(row).items():
        if name in _OWN_ID_ONLY and value != viewer_id:
            continue
        columns[name] = (
            read_reason(str(value)) if name in {"cause", "reason"} else value
        )
    return columns


class TracedText(NamedTuple):
    """A text that may say a fact. `own`: it is the subject's or the bot's; `id`: its rowid."""

    table: str
    column: str
    own: bool
    id: int
    text: str


_EVIDENCE = "FROM note_evidence WHERE note_id = :note"
_THEIRS = f"""
SELECT episode_id {_EVIDENCE}
UNION
SELECT episode_id
FROM episode_people
WHERE viewer_id = :subject
"""
# what the bot said to others counts where it named the note by its number, or had it in its prompt
_QUOTED = (
    "instr(text, '#' || :note || ' ') OR id IN (SELECT value FROM json_each(:replies))"
)
_MAY_SAY = (
    ("episodes", "summary", True, f"id IN ({_THEIRS})"),
    ("streams", "recap", True, "instr(recap, '<@' || :subject || '>')"),
    ("bot_messages", "text", True, f"(viewer_id = :subject OR {_QUOTED})"),
    ("events", "text", True, "(viewer_id = :subject OR from_bot = 1)"),
    (
        "events",
        "text",
        False,
        f"viewer_id <> :subject AND viewer_id IN (SELECT speaker_id {_EVIDENCE})",
    ),
)


async def texts_with_words(
    tx: Transaction,
    note_id: int,
    subject_id: str,
    words: Collection[str],
) -> list[TracedText]:
    """Return the texts that contain one of a fact's words (stems), so that they may say the fact.

    These are the summaries of its evidence and of all else with its subject, recaps that mention the subject, the
    lines of the subject and of those who said the fact, and what the bot said to the subject or about the note.
    """
    texts: list[TracedText] = []
    # a stem may end otherwise than its word: "stori" is not in "story", but "stor" is
    parts = [word[: max(3, len(word) - 1)] for word in words]
    prompted = await bot_messages.prompted_with_note(tx, note_id, limit=-1)
    reply_ids = [reply_id for reply_id, _at in prompted]
    values = {
        "note": note_id,
        "subject": subject_id,
        "replies": reply_ids,
        "parts": parts,
    }
    for table, column, own, where in _MAY_SAY:
        has_word = f"EXISTS (SELECT 1 FROM json_each(:parts) WHERE instr(lower({column}), value))"
        sql = f"SELECT rowid, {column} FROM {table} WHERE {where} AND {has_word}"
        for row_id, text in await tx.rows(sql, values):
            texts.append(TracedText(table, column, own=own, id=row_id, text=text))
    return texts


async def texts_mentioning(source: Source, viewer_id: str) -> list[TracedText]:
    """Return the summaries, recaps and briefs that mention a viewer."""
    texts: list[TracedText] = []
    for table, column in (
        ("episodes", "summary"),
        ("streams", "recap"),
        ("briefs", "text"),
    ):
        sql = f"SELECT rowid, {column} FROM {table} WHERE instr({column}, '<@' || ? || '>')"
        for row_id, text in await source.rows(sql, (viewer_id,)):
            texts.append(TracedText(table, column, own=False, id=row_id, text=text))
    return texts


def typed_lines(path: Path) -> Iterator[TracedText]:
    """Give the lines of chat that are kept. Raises StoreError."""
    sql = "SELECT rowid, text FROM events WHERE text <> ''"
    with separate_reader(path) as connection:
        for row_id, text in connection.execute(sql):
            yield TracedText("events", "text", own=False, id=row_id, text=text)


def sent_texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """Give what the bot said: reply id, Twitch's id of the line ("" if unknown), and text. Raises StoreError."""
    sql = """
        SELECT id, coalesce(twitch_id, ''), text
        FROM bot_messages
        WHERE text <> ''
    """
    with separate_reader(path) as connection:
        yield from connection.execute(sql)


async def rewrite_traced(
    tx: Transaction,
    text: TracedText,
    remaining_text: str,
) -> None:
    """Replace a text by what remains of it.

    A line of chat is marked as redacted at 0: nobody deleted it in chat, so it still gets its answer.
    """
    assignments = f"{text.column} = ?"
    if text.table == "events":
        assignments += ", redacted_at = coalesce(redacted_at, 0)"
    sql = f"UPDATE {text.table} SET {assignments} WHERE rowid = ?"
    await tx.execute(sql, (remaining_text, text.id))


async def delete_traced_note(
    tx: Transaction,
    note_id: int,
    subject_id: str,
    at: int,
) -> None:
    """Delete a note with its evidence and history, and empty episodes that nothing else rests on."""
    episode_ids = await tx.column(
        "SELECT episode_id FROM note_evidence WHERE note_id = ?", (note_id,)
    )
    await notes.delete_of_subject(tx, subject_id, [note_id])
    await episodes.drop_empty(tx, episode_ids, at)
