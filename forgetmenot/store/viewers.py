"""People: one row per Twitch id, the names they go by now and went by before, and how often they came.

Promises that a name is never an identity: a rename keeps the id, a recycled login inherits nothing (its former holder
has no name until they speak again), and a provisional `login:alice` becomes the real id when that login first speaks,
in every table and in every text that mentions it. Knows nothing of what they said.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.domain.chat import Role, Standing, Viewer
from forgetmenot.settings.schema import PeopleSettings
from forgetmenot.store import events
from forgetmenot.store.database import Database, Row, Transaction
from forgetmenot.store.events import Clear

Source = Database | Transaction
PROVISIONAL = "login:"


class Seen(NamedTuple):
    """Somebody under one name for a while: what a batch of their lines says about them. Times in ms."""

    id: str
    login: str
    display_name: str
    role: Role
    first_at: int
    last_at: int


class Visit(NamedTuple):
    """One stream that somebody came to."""

    first_at: int
    last_at: int


class Known(NamedTuple):
    """Somebody a text may name: by which word, and whether they may be named at all."""

    id: str
    name: str
    hidden: bool


async def take_in(tx: Transaction, people: Sequence[Seen]) -> None:
    """Store who was seen, in the order in which they were seen; one person may stand there under several names.

    Of whom nothing changed but the time, it is written once a minute: a busy chat is the same people all along.
    """
    if changed := await _changed(tx, people):
        await _write(tx, changed)


async def _changed(tx: Transaction, people: Sequence[Seen]) -> list[Seen]:
    rows = await tx.rows(
        "SELECT id, login, display_name, role, first_seen_at, last_seen_at FROM viewers"
        " WHERE banned_at IS NULL AND id IN (SELECT value FROM json_each(?))",
        (json.dumps([one.id for one in people]),),
    )
    stored = {row[0]: tuple(row) for row in rows}
    renamed = len({one.id for one in people}) < len(people)
    return [one for one in people if renamed or not _is_stored(one, stored.get(one.id))]


def _is_stored(one: Seen, row: tuple[Any, ...] | None) -> bool:
    return (
        row is not None
        and row[1:4] == (one.login, one.display_name, one.role)
        and row[4] <= one.first_at
        and one.last_at < row[5] + MINUTE
    )


async def _write(tx: Transaction, people: Sequence[Seen]) -> None:
    holders = {one.login: one.id for one in people}
    await _join_provisional(tx, holders)
    await _release_logins(tx, holders)
    now_called = {one.id: one for one in people}
    await tx.many(
        "INSERT INTO viewers (id, login, display_name, role, first_seen_at, last_seen_at)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO UPDATE SET login = excluded.login,"
        " display_name = excluded.display_name, role = excluded.role,"
        " first_seen_at = min(first_seen_at, excluded.first_seen_at),"
        " last_seen_at = max(last_seen_at, excluded.last_seen_at),"
        " banned_at = CASE WHEN excluded.last_seen_at > banned_at THEN NULL ELSE banned_at END",
        [_row(one, holders) for one in now_called.values()],
    )
    await tx.many(
        "INSERT INTO viewer_names (viewer_id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (viewer_id, login) DO UPDATE SET display_name = excluded.display_name,"
        " last_seen_at = max(last_seen_at, excluded.last_seen_at)",
        [(one.id, one.login, one.display_name, one.first_at, one.last_at) for one in people],
    )


def _row(one: Seen, holders: dict[str, str]) -> tuple[object, ...]:
    """Their row; without the login if somebody else was seen with it after them."""
    theirs = holders[one.login] == one.id
    names = (one.login, one.display_name) if theirs else (None, None)
    return (one.id, *names, one.role, one.first_at, one.last_at)


async def _release_logins(tx: Transaction, holders: dict[str, str]) -> None:
    await tx.execute(
        "UPDATE viewers SET login = NULL, display_name = NULL FROM json_each(?1) j"
        " WHERE viewers.login = j.key AND viewers.id <> j.value",
        (json.dumps(holders),),
    )


async def _join_provisional(tx: Transaction, holders: dict[str, str]) -> None:
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
    """Move whatever refers to `old`, in whichever table, then let `old` go."""
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


async def attend(tx: Transaction, visits: Iterable[tuple[str, int, int, int, int]]) -> None:
    """Add to who came to which stream: (viewer id, stream id, first at, last at, lines)."""
    await tx.many(
        "INSERT INTO attendance (viewer_id, stream_id, first_at, last_at, lines) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (viewer_id, stream_id) DO UPDATE SET lines = lines + excluded.lines,"
        " first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)",
        visits,
    )


async def set_opted_out(tx: Transaction, viewer_id: str, at: int | None) -> None:
    """From then on nothing they say is stored, and what they said lately loses its text; None takes it back."""
    await tx.execute("UPDATE viewers SET opted_out_at = ? WHERE id = ?", (at, viewer_id))
    if at is not None:
        await events.clear(tx, Clear(at, viewer_id=viewer_id), at)


async def set_banned(tx: Transaction, viewer_id: str, at: int | None) -> None:
    """Hide all that is known about somebody; None takes it back."""
    await tx.execute("UPDATE viewers SET banned_at = ? WHERE id = ?", (at, viewer_id))


async def get(source: Source, viewer_id: str) -> Viewer | None:
    """One person by id."""
    row = await source.row("SELECT * FROM viewers WHERE id = ?", (viewer_id,))
    return viewer_of(row) if row else None


async def viewer_by_login(source: Source, login: str) -> Viewer | None:
    """Whoever holds that login now."""
    row = await source.row("SELECT * FROM viewers WHERE login = ?", (login.removeprefix("@").casefold(),))
    return viewer_of(row) if row else None


async def names_of(source: Source, viewer_ids: Iterable[str]) -> dict[str, str]:
    """The present display names of these people; who has none is left out."""
    rows = await source.rows(
        "SELECT id, coalesce(display_name, login) FROM viewers WHERE id IN (SELECT value FROM json_each(?))"
        " AND coalesce(display_name, login) IS NOT NULL",
        (json.dumps(sorted(set(viewer_ids))),),
    )
    return {row[0]: row[1] for row in rows}


async def search(source: Source, start: str, limit: int = 20) -> list[Viewer]:
    """People whose present login begins with these letters, who was seen last first."""
    low = start.removeprefix("@").casefold()
    rows = await source.rows(
        "SELECT * FROM viewers WHERE login >= ?1 AND login < ?1 || char(1114111) ORDER BY last_seen_at DESC LIMIT ?2",
        (low, limit),
    )
    return [viewer_of(row) for row in rows]


async def called(source: Source, words: Iterable[str]) -> list[Known]:
    """Whoever any of these words (casefolded) names: by login, former login, or a display name that is not the login.

    A login that somebody holds now is theirs, whoever held it before. `hidden`: opted out or banned.
    """
    rows = await source.rows(
        "WITH said AS (SELECT value AS word FROM json_each(?1)),"
        " found AS (SELECT v.id, s.word, 0 AS former FROM said s JOIN viewers v ON v.login = s.word"
        "  UNION ALL SELECT n.viewer_id, s.word, 1 FROM said s JOIN viewer_names n ON n.login = s.word"
        "  UNION ALL SELECT v.id, v.display_name, 0 FROM viewers v WHERE v.display_name IN (SELECT word FROM said))"
        " SELECT f.id, f.word, v.opted_out_at IS NOT NULL OR v.banned_at IS NOT NULL AS hidden"
        " FROM found f JOIN viewers v ON v.id = f.id ORDER BY f.former, v.last_seen_at DESC",
        (json.dumps(sorted(set(words))),),
    )
    first: dict[str, Known] = {}
    for row in rows:
        first.setdefault(row["word"], Known(row["id"], row["word"], bool(row["hidden"])))
    return list(first.values())


async def visits(source: Source, viewer_ids: Iterable[str]) -> dict[str, list[Visit]]:
    """The streams that these people came to, oldest first."""
    found: dict[str, list[Visit]] = {one: [] for one in viewer_ids}
    rows = await source.rows(
        "SELECT viewer_id, first_at, last_at FROM attendance WHERE viewer_id IN (SELECT value FROM json_each(?))"
        " ORDER BY first_at",
        (json.dumps(sorted(found)),),
    )
    for row in rows:
        found[row["viewer_id"]].append(Visit(row["first_at"], row["last_at"]))
    return found


def standing(came: Sequence[Visit], people: PeopleSettings, now: int) -> Standing:
    """How well somebody is known who came to these streams (oldest first). Pure."""
    if len(came) < people.newcomer_streams:
        return Standing.NEWCOMER
    here_now = now - came[-1].last_at < 12 * HOUR
    back_at, left_at = (came[-1].first_at, came[-2].last_at) if here_now and len(came) > 1 else (now, came[-1].last_at)
    if back_at - left_at >= people.returner_away_d * DAY:
        return Standing.RETURNER
    lately = sum(visit.last_at >= now - people.regular_within_d * DAY for visit in came)
    return Standing.REGULAR if lately >= people.regular_streams else Standing.KNOWN


def viewer_of(row: Row) -> Viewer:
    """A row of `viewers` as the noun."""
    return Viewer(
        id=row["id"],
        login=row["login"] or "",
        display_name=row["display_name"] or row["login"] or "",
        role=Role(row["role"]),
        first_seen_at=row["first_seen_at"],
        last_seen_at=row["last_seen_at"],
        opted_out=row["opted_out_at"] is not None,
    )
