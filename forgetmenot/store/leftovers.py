"""Searches every table for what is left of a person or of a fact, also in a copy of the memory. Reads only."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from forgetmenot.store.database import separate_reader

# Which column says when a row was written, the first that a table has. A viewer's row is as old as the viewer.
_TIMES = (
    "first_seen_at",
    "at",
    "created_at",
    "made_at",
    "updated_at",
    "said_at",
    "last_event_at",
    "last_at",
)
_MENTIONING = (
    ("semantic_notes", "fact"),
    ("episodes", "summary"),
    ("streams", "recap"),
    ("briefs", "text"),
    ("channel_state", "value"),
)
_MENTIONED = "'<@' || :viewer || '>'"
# Where a fact about a viewer may stand: table, column, rows.
_FACT_PLACES = (
    ("semantic_notes", "fact", "subject_id = :viewer"),
    ("episodes", "summary", f"instr(summary, {_MENTIONED})"),
    ("streams", "recap", f"instr(recap, {_MENTIONED})"),
    ("channel_state", "value", f"instr(value, {_MENTIONED})"),
    ("briefs", "text", "viewer_id = :viewer"),
    ("events", "text", "viewer_id = :viewer"),
    ("bot_messages", "text", "viewer_id = :viewer OR about_id = :viewer"),
    ("quotes", "text", "viewer_id = :viewer"),
)


class StoredRow(NamedTuple):
    """A row that may name somebody. `at`: when it was written (ms); None if its table does not say."""

    table: str
    at: int | None
    texts: tuple[str, ...]


def tables_of(path: Path) -> dict[str, list[str]]:
    """Return the columns of each table that has texts, by table. Raises StoreError."""
    sql = """
        SELECT t.name, c.name
        FROM sqlite_master t
        JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table'
            AND t.name NOT LIKE 'sqlite_%'
        ORDER BY t.name, c.cid
    """
    columns: dict[str, list[str]] = {}
    with separate_reader(path) as connection:
        for table, column in connection.execute(sql):
            columns.setdefault(table, []).append(column)
    return columns


def first_seen(path: Path) -> dict[str, int]:
    """Return when each stored viewer was first seen (ms), by id. Raises StoreError."""
    with separate_reader(path) as connection:
        return dict(connection.execute("SELECT id, first_seen_at FROM viewers"))


def rows_with(path: Path, needles: Sequence[str]) -> Iterator[StoredRow]:
    """Give the rows of all tables that have one of these (A to Z in lower case) in any column. Raises StoreError."""
    contains = " OR ".join("instr(lowered, ?) > 0" for _ in needles) or "FALSE"
    # A connection for each table: a read that goes on for seconds keeps the log from being emptied.
    for table, columns in tables_of(path).items():
        joined = " || char(10) || ".join(f"coalesce({name}, '')" for name in columns)
        times = [name for name in _TIMES if name in columns]
        time = times[0] if times else "NULL"
        # With a limit the subquery stays one: a row is lowered once, not for each needle.
        sql = f"""
            SELECT {time}, {", ".join(columns)}
            FROM (SELECT *, lower({joined}) AS lowered FROM {table} LIMIT -1)
            WHERE {contains}
        """
        with separate_reader(path) as connection:
            for at, *values in connection.execute(sql, needles):
                texts = [value for value in values if isinstance(value, str)]
                yield StoredRow(table, at, tuple(texts))


def texts_with_mentions(path: Path) -> Iterator[str]:
    """Give the texts that stay and mention people. Raises StoreError."""
    with separate_reader(path) as connection:
        for table, column in _MENTIONING:
            sql = f"SELECT {column} FROM {table} WHERE instr({column}, '<@')"
            for (text,) in connection.execute(sql):
                yield text


def texts_about(path: Path, viewer_id: str) -> Iterator[tuple[str, str]]:
    """Give what may state a fact about a viewer: table and text. Raises StoreError."""
    with separate_reader(path) as connection:
        for table, column, where in _FACT_PLACES:
            sql = f"SELECT {column} FROM {table} WHERE {where}"
            for (text,) in connection.execute(sql, {"viewer": viewer_id}):
                yield table, text
