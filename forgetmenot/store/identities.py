"""Writes viewers' rows: creation, renames, and joining provisional ids.

Guarantees:
- A rename keeps the id.
- A recycled login inherits nothing; its former holder has no name until they speak again.
- A provisional `login:alice` becomes the real id when that login first speaks, in every table and text.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from forgetmenot.clock import MINUTE
from forgetmenot.domain.chat import Role
from forgetmenot.store.database import Transaction
from forgetmenot.text.mentions import PROVISIONAL, provisional


class SeenViewer(NamedTuple):
    """A viewer under one name, as seen in a batch of lines. Times in ms."""

    id: str
    login: str
    display_name: str
    role: Role
    first_at: int
    last_at: int


async def record_seen(tx: Transaction, people: Sequence[SeenViewer]) -> None:
    """Store who was seen, in the order in which they were seen; one person may stand there under several names.

    Of whom nothing changed but the time, it is written once a minute: a busy chat is the same people all along.
    """
    if changed := await _changed(tx, people):
        await _write(tx, changed)


async def _changed(tx: Transaction, people: Sequence[SeenViewer]) -> list[SeenViewer]:
    rows = await tx.rows(
        "SELECT id, login, display_name, role, first_seen_at, last_seen_at FROM viewers"
        " WHERE banned_at IS NULL AND id IN (SELECT value FROM json_each(?))",
        (json.dumps([person.id for person in people]),),
    )
    stored = {row[0]: tuple(row) for row in rows}
    renamed = len({person.id for person in people}) < len(people)
    return [person for person in people if renamed or not _is_stored(person, stored.get(person.id))]


def _is_stored(person: SeenViewer, row: tuple[Any, ...] | None) -> bool:
    return (
        row is not None
        and row[1:4] == (person.login, person.display_name, person.role)
        and row[4] <= person.first_at
        and person.last_at < row[5] + MINUTE
    )


async def _write(tx: Transaction, people: Sequence[SeenViewer]) -> None:
    holders = {person.login: person.id for person in people}
    await join(tx, holders)
    await _release_logins(tx, holders)
    now_called = {person.id: person for person in people}
    await tx.many(
        "INSERT INTO viewers (id, login, display_name, role, first_seen_at, last_seen_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET login = excluded.login,"
        " display_name = excluded.display_name, role = excluded.role,"
        " first_seen_at = min(first_seen_at, excluded.first_seen_at),"
        " last_seen_at = max(last_seen_at, excluded.last_seen_at),"
        " banned_at = CASE WHEN excluded.last_seen_at > banned_at THEN NULL ELSE banned_at END",
        [_row(person, holders) for person in now_called.values()],
    )
    await tx.many(
        "INSERT INTO viewer_names (viewer_id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET last_seen_at = max(last_seen_at, excluded.last_seen_at)",
        [(person.id, person.login, person.display_name, person.first_at, person.last_at) for person in people],
    )


def _row(person: SeenViewer, holders: dict[str, str]) -> tuple[object, ...]:
    """Their row; without the login if somebody else was seen with it after them."""
    theirs = holders[person.login] == person.id
    names = (person.login, person.display_name) if theirs else (None, None)
    return (person.id, *names, person.role, person.first_at, person.last_at)


async def _release_logins(tx: Transaction, holders: dict[str, str]) -> None:
    await tx.execute(
        "UPDATE viewers SET login = NULL, display_name = NULL FROM json_each(?1) j"
        " WHERE viewers.login = j.key AND viewers.id <> j.value",
        (json.dumps(holders),),
    )


async def join(tx: Transaction, holders: dict[str, str]) -> None:
    """Join viewers known only by login to the ids seen with it."""
    rows = await tx.rows(
        "SELECT v.id, j.value AS real, r.id IS NOT NULL AS both FROM json_each(?1) j"
        " JOIN viewers v ON v.id = ?2 || j.key AND v.id <> j.value LEFT JOIN viewers r ON r.id = j.value",
        (json.dumps(holders), PROVISIONAL),
    )
    for row in rows:
        await (_merge if row["both"] else _rename)(tx, row["id"], row["real"])
        await _mention_instead(tx, row["id"], row["real"])


async def _rename(tx: Transaction, old: str, new: str) -> None:
    """Every reference follows by ON UPDATE CASCADE."""
    await tx.execute("UPDATE viewers SET id = ? WHERE id = ?", (new, old))


async def _merge(tx: Transaction, old: str, new: str) -> None:
    """Move every reference to `old` in any table, then delete `old`."""
    references = await tx.rows(
        'SELECT m.name, f."from" AS field FROM sqlite_master m, pragma_foreign_key_list(m.name) f'
        " WHERE m.type = 'table' AND f.\"table\" = 'viewers'"
    )
    for row in references:
        table, field = row["name"], row["field"]
        await tx.execute(f'UPDATE OR IGNORE "{table}" SET "{field}" = ?2 WHERE "{field}" = ?1', (old, new))  # noqa: S608  # names out of our own schema
    await tx.execute(
        "UPDATE viewers SET opted_out_at = coalesce(opted_out_at, (SELECT opted_out_at FROM viewers WHERE id = ?1))"
        " WHERE id = ?2",
        (old, new),
    )
    await tx.execute("DELETE FROM viewers WHERE id = ?", (old,))


async def _mention_instead(tx: Transaction, old: str, new: str) -> None:
    for table, column in (("episodes", "summary"), ("semantic_notes", "fact"), ("streams", "recap")):
        await tx.execute(
            f"UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE instr({column}, ?1) > 0",  # noqa: S608  # constants
            (f"<@{old}>", f"<@{new}>"),
        )


async def add_bot(tx: Transaction, viewer_id: str, login: str, display_name: str) -> None:
    """The bot's own row, which its lines need. It was never "seen": nobody finds it among the people."""
    await _release_logins(tx, {login: viewer_id})
    await tx.execute(
        "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, 0, 0)"
        " ON CONFLICT (id) DO UPDATE SET login = excluded.login, display_name = excluded.display_name",
        (viewer_id, login, display_name),
    )


async def add_provisional(tx: Transaction, logins: Sequence[str], at: int) -> None:
    """People nobody has seen yet: `login:alice`, joined to the real id when that login first speaks."""
    await tx.many(
        "INSERT OR IGNORE INTO viewers (id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)",
        [(provisional(login), login, login, at, at) for login in logins],
    )


async def add_by_id(tx: Transaction, logins: Mapping[str, str | None], at: int) -> None:
    """People known by their Twitch id, until they speak; with the login they had elsewhere, if nobody has it here."""
    await tx.many(
        "INSERT OR IGNORE INTO viewers (id, first_seen_at, last_seen_at) VALUES (?, ?, ?)",
        [(viewer_id, at, at) for viewer_id in logins],
    )
    await tx.many(
        "UPDATE viewers SET login = ?1, display_name = ?1 WHERE id = ?2 AND login IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM viewers WHERE login = ?1)",
        [(login, viewer_id) for viewer_id, login in logins.items() if login],
    )


async def set_banned(tx: Transaction, viewer_id: str, at: int | None) -> None:
    """Hide all that is known about somebody; None takes it back."""
    await tx.execute("UPDATE viewers SET banned_at = ? WHERE id = ?", (at, viewer_id))
