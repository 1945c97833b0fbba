"""Who is around: the people whose names may come up, as recall and the memory commands look them up."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from forgetmenot.store.database import Source, Transaction


class Name(NamedTuple):
    """A person with one login of theirs; `current` is false for a former one."""

    viewer_id: str
    login: str
    display_name: str
    current: bool


async def around(
    source: Source, *, seen_since: int, regular_since: int, regular_streams: int, limit: int = 2_000
) -> list[Name]:
    """The names, former ones too, of recent chatters and of regulars; nobody who opted out or was banned."""
    rows = await source.rows(
        "WITH regulars AS (SELECT a.viewer_id FROM attendance a JOIN streams s ON s.id = a.stream_id"
        "  WHERE s.started_at >= :regular_since GROUP BY a.viewer_id HAVING count(*) >= :regular_streams),"
        " crowd AS (SELECT id, login, display_name FROM viewers"
        "  WHERE (last_seen_at >= :seen_since OR id IN (SELECT viewer_id FROM regulars))"
        "  AND opted_out_at IS NULL AND banned_at IS NULL ORDER BY last_seen_at DESC LIMIT :limit)"
        " SELECT id, login, display_name, 1 AS current FROM crowd WHERE login IS NOT NULL"
        " UNION ALL SELECT n.viewer_id, n.login, n.display_name, 0 FROM viewer_names n"
        "  JOIN crowd c ON c.id = n.viewer_id WHERE n.login IS NOT c.login",
        {
            "seen_since": seen_since,
            "regular_since": regular_since,
            "regular_streams": regular_streams,
            "limit": limit,
        },
    )
    return [Name(row[0], row[1], row[2] or row[1], bool(row[3])) for row in rows]


async def find(source: Source, login_or_id: str) -> str | None:
    """The id of a person given by id or by their present login; hidden people too."""
    row = await source.row(
        "SELECT id FROM viewers WHERE id = ?1 OR login = ?2 ORDER BY id = ?1 DESC LIMIT 1",
        (login_or_id, login_or_id.removeprefix("@").casefold()),
    )
    return str(row[0]) if row else None


async def names(source: Source, viewer_ids: Sequence[str]) -> dict[str, str]:
    """The present display names of these people."""
    if not viewer_ids:
        return {}
    marks = ", ".join("?" * len(viewer_ids))
    rows = await source.rows(
        f"SELECT id, coalesce(display_name, login) FROM viewers WHERE id IN ({marks})",  # noqa: S608  # only marks
        tuple(viewer_ids),
    )
    return {row[0]: row[1] for row in rows if row[1]}


async def shown_and_hidden(source: Source, viewer_ids: Sequence[str]) -> tuple[dict[str, str], frozenset[str]]:
    """The present display names of these people, and those among them of whom nothing may be shown, nor a name."""
    rows = await source.rows(
        "SELECT id, coalesce(display_name, login), opted_out_at IS NOT NULL OR banned_at IS NOT NULL FROM viewers"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(viewer_ids)),),
    )
    hidden = frozenset(row[0] for row in rows if row[2])
    return {row[0]: row[1] for row in rows if row[1] and row[0] not in hidden}, hidden


async def add_provisional(tx: Transaction, logins: Sequence[str], at: int) -> None:
    """People nobody has seen yet: `login:alice`, joined to the real id when that login first speaks."""
    await tx.many(
        "INSERT OR IGNORE INTO viewers (id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)",
        [(f"login:{login}", login, login, at, at) for login in logins],
    )


async def add_by_id(tx: Transaction, viewer_ids: Sequence[str], at: int) -> None:
    """People known by their Twitch id alone, until they speak."""
    await tx.many(
        "INSERT OR IGNORE INTO viewers (id, first_seen_at, last_seen_at) VALUES (?, ?, ?)",
        [(viewer_id, at, at) for viewer_id in viewer_ids],
    )


async def find_many(source: Source, logins_or_ids: Sequence[str]) -> dict[str, str]:
    """The ids of people given by id or by their present login, hidden people too; an id wins over a login."""
    given = json.dumps(list(logins_or_ids))
    rows = await source.rows(
        "SELECT login, id FROM viewers WHERE login IN (SELECT value FROM json_each(?1))"
        " UNION ALL SELECT id, id FROM viewers WHERE id IN (SELECT value FROM json_each(?1))",
        (given,),
    )
    return {row[0]: row[1] for row in rows}


async def logins(source: Source, viewer_ids: Sequence[str]) -> dict[str, str]:
    """The present logins of these people, where they have one."""
    rows = await source.rows(
        "SELECT id, login FROM viewers WHERE login IS NOT NULL AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(viewer_ids)),),
    )
    return {row[0]: row[1] for row in rows}
