"""Reads and rewrites everything that the database has of a person.

Guarantees:
- `PLACES` has every text column that may name somebody, and how it is cleaned. A test compares it with the schema, and
  says why the other columns need no cleaning.
- Large tables are read on a separate connection, so that no reply waits for it.

What a cleaned text says is decided by privacy/erasure.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from forgetmenot.durations import DAY
from forgetmenot.store import channel_state
from forgetmenot.store.database import (
    Source,
    Transaction,
    separate_reader,
)
from forgetmenot.store.events import END_OF_TIME


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
_NEAR_QUOTE = (
    f"t.said_at >= :since OR t.stream_id IS NULL OR EXISTS ({_HERE} = t.stream_id)"
)
_NEAR_TIME = f"t.at >= :since OR EXISTS ({_DURING})"

PLACES = (
    Place("episodes", ("summary",), cut=True, near=_NEAR_EPISODE),
    Place("episodes", ("key",)),
    Place("streams", ("recap",), cut=True, near=_NEAR_STREAM),
    Place("streams", ("so_far",), cut=True, typed=True, near=_NEAR_STREAM),
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
    Place("quotes", ("text",), cut=True, typed=True, near=_NEAR_QUOTE),
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
    # What is left of a reply without a sentence answers nothing, and its line in chat goes whole as well.
    Place("bot_messages", ("text",), whole=True, typed=True, near=_NEAR_TIME),
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
    Place("streams", ("title", "recap", "so_far"), near=_NEAR_STREAM),
    Place("quotes", ("text",), near=_NEAR_QUOTE),
    Place("bot_messages", ("text",), near=_NEAR_TIME),
    Place("action_logs", ("params_json",), near=_NEAR_TIME),
    Place("never_mention", ("words",)),
)
# What is remembered. A name without a mention in it is an everyday word, or was typed before its bearer came.
_MEMORY_TEXTS = (
    ("semantic_notes", "fact"),
    ("episodes", "summary"),
    ("streams", "recap"),
    ("quotes", "text"),
    ("streams", "so_far"),
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
    """Return whether a viewer with that id is stored."""
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
    # Everybody else's display name is their login in other capitals, which nobody shares.
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
            # It reads every name: an index finds how a name begins, not what is inside of it.
            is_other = f"{id_column} <> ? AND instr(lower({name_column}), lower(?))"
            sql = f"SELECT {name_column} FROM {table} WHERE {is_other}"
            for name in names:
                longer.update(
                    row[0] for row in connection.execute(sql, (viewer_id, name))
                )
    # SQLite folds ASCII alone: a name in other capitals is still their own.
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
    "streams": "SELECT title || ' ' || recap || ' ' || so_far FROM streams WHERE id = ?",
    "quotes": "SELECT text FROM quotes WHERE id = ?",
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
    new_places = [place for place in places if place.table in _SHOWN_TEXTS]
    new_places.sort(key=lambda place: (place.table != "semantic_notes", -place.row))
    new_rows = [(place.table, place.row, now) for place in new_places]
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
    """Return whether a copy of the memory stores a viewer, or its digest mentions them. Raises StoreError."""
    known = "SELECT 1 FROM viewers WHERE id = :viewer"
    mentioned = "SELECT 1 FROM channel_state WHERE instr(value, '<@' || :viewer || '>')"
    sql = f"SELECT EXISTS ({known}) OR EXISTS ({mentioned})"
    with separate_reader(path) as connection:
        return bool(connection.execute(sql, moment._asdict()).fetchone()[0])


async def came_to_newest_stream(source: Source, moment: Moment) -> bool:
    """Return whether a viewer came to the newest stream, or was erased since it began."""
    newest = "(SELECT t.id, t.started_at, t.ended_at FROM streams t ORDER BY t.id DESC LIMIT 1) t"
    # The same words as for recaps, so the newest stream must be called `t`.
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
        # Row by row: a memory of years may have more of these than fit in memory.
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
    # The texts were read before the transaction, for seconds. What was written anew since is read
    # again by the next pass. IS compares NULL, too.
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
