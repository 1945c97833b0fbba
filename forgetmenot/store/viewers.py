"""Viewers' rows: who somebody is by id, who is hidden, and how a row comes to be. By their names: store/names.

- Hidden are those who opted out or were banned.
- A rename keeps the id. A recycled login inherits nothing; its former holder has no name until they speak again.
- A provisional `login:alice` becomes the real id when that login first speaks, in every table and text.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from forgetmenot.domain import Role, Viewer
from forgetmenot.store.database import Database, Row, Source, Transaction, row_as
from forgetmenot.text.mentions import PROVISIONAL, ids_in, provisional_id


async def get(source: Source, viewer_id: str) -> Viewer | None:
    """Return one person by id, hidden or not; None for somebody who is not stored."""
    row = await source.row("SELECT * FROM viewers WHERE id = ?", (viewer_id,))
    return viewer_of(row) if row else None


async def existing(source: Source, viewer_ids: Collection[str]) -> list[str]:
    """Return those of these ids that somebody has, hidden or not."""
    return await source.column(
        "SELECT id FROM viewers WHERE id IN (SELECT value FROM json_each(?))",
        (viewer_ids,),
    )


async def get_many(source: Source, viewer_ids: Collection[str]) -> dict[str, Viewer]:
    """Return people by their ids; those who opted out are marked, those who were banned are left out."""
    rows = await source.rows(
        """
        SELECT *
        FROM viewers
        WHERE banned_at IS NULL
            AND id IN (SELECT value FROM json_each(?))
        """,
        (viewer_ids,),
    )
    return {row["id"]: viewer_of(row) for row in rows}


_AMONG = "FROM viewers WHERE id IN (SELECT value FROM json_each(?))"
# As the view `shown` has it, the other way round: of ids that may be anybody's.
_IS_HIDDEN = "(opted_out_at IS NOT NULL OR banned_at IS NOT NULL)"


async def names(source: Source, viewer_ids: Iterable[str]) -> dict[str, str]:
    """Return the present display names of these people; who has none is left out."""
    name = "coalesce(display_name, login)"
    return await source.pairs(
        f"SELECT id, {name} {_AMONG} AND {name} IS NOT NULL", (list(viewer_ids),)
    )


async def colors(source: Source, viewer_ids: Iterable[str]) -> dict[str, str]:
    """Return the colours that these people chose for their names; who chose none is left out."""
    return await source.pairs(
        f"SELECT id, color {_AMONG} AND color <> ''", (list(viewer_ids),)
    )


async def logins(source: Source, viewer_ids: Iterable[str]) -> dict[str, str]:
    """Return the present logins of these people, where they have one."""
    return await source.pairs(
        f"SELECT id, login {_AMONG} AND login IS NOT NULL", (list(viewer_ids),)
    )


async def shown_and_hidden(
    source: Source, viewer_ids: Collection[str]
) -> tuple[dict[str, str], frozenset[str]]:
    """Return the present display names of these people, and the hidden ones among them."""
    rows = await source.rows(
        f"SELECT id, coalesce(display_name, login), {_IS_HIDDEN} {_AMONG}",
        (viewer_ids,),
    )
    shown_names: dict[str, str] = {}
    hidden_ids: set[str] = set()
    for viewer_id, name, is_hidden in rows:
        if is_hidden:
            hidden_ids.add(viewer_id)
        elif name is not None:
            shown_names[viewer_id] = name
    return shown_names, frozenset(hidden_ids)


async def named_in(source: Source, texts: Iterable[str]) -> dict[str, str]:
    """Return the present display names of the people whom these texts mention, without the hidden ones."""
    viewer_ids: set[str] = set()
    for text in texts:
        viewer_ids.update(ids_in(text))
    shown_names, _hidden = await shown_and_hidden(source, viewer_ids)
    return shown_names


async def hidden(source: Source, viewer_ids: Collection[str]) -> frozenset[str]:
    """Return those among them who are hidden."""
    return frozenset(
        await source.column(f"SELECT id {_AMONG} AND {_IS_HIDDEN}", (viewer_ids,))
    )


async def hidden_or_gone(source: Source, viewer_ids: Collection[str]) -> frozenset[str]:
    """Return those among them who are hidden, or not stored any more."""
    sql = "SELECT id FROM shown WHERE id IN (SELECT value FROM json_each(?))"
    shown_ids = await source.column(sql, (viewer_ids,))
    # From those who are shown, since somebody whose row is gone is in no list of the hidden.
    return frozenset(viewer_ids).difference(shown_ids)


async def known_chatters(
    source: Source,
    *,
    since: int,
    limit: int,
) -> list[str]:
    """Return the ids of those seen since then of whom something is known, the latest first; nobody hidden."""
    # An index answers it without reading a note.
    known = "EXISTS (SELECT 1 FROM semantic_notes n WHERE n.subject_id = v.id AND n.status = 'active')"
    sql = f"""
        SELECT id
        FROM shown v
        WHERE last_seen_at >= ?
            AND {known}
        ORDER BY last_seen_at DESC
        LIMIT ?
    """
    return await source.column(sql, (since, limit))


def viewer_of(row: Row) -> Viewer:
    """Return a row of `viewers` as a Viewer."""
    login = row["login"] or ""
    return row_as(
        row,
        Viewer,
        login=login,
        display_name=row["display_name"] or login,
        opted_out=row["opted_out_at"] is not None,
    )


# ── chatters ────────────────────────────────────────────────────────────────────────────────
# Viewers with a recent stored line. So known bots, viewers who opted out and people whose every line was cleared are
# never the target of an action.


class Chatter(Struct, frozen=True):
    """A viewer in chat. `streams`: how many they came to; `message_id`: their last stored message, or ""."""

    id: str
    login: str
    display_name: str
    role: Role
    streams: int
    message_id: str


# Events that are no messages in chat.
_NO_MESSAGE = "('moderation', 'spoken', 'follow', 'redemption', 'stream')"
# Subqueries by the indexes on viewers' visits and lines: for each of those present a look-up, and
# no pass over the day's chat.
_CHATTER = f"""
SELECT v.id, coalesce(v.login, '') AS login, coalesce(v.display_name, '') AS display_name, v.role,
    (SELECT count(*) FROM attendance a WHERE a.viewer_id = v.id) AS streams,
    coalesce((
        SELECT l.id
        FROM events l
        WHERE l.viewer_id = v.id
            AND l.redacted_at IS NULL
            AND l.kind NOT IN {_NO_MESSAGE}
            AND l.id != :without
        ORDER BY l.at DESC
        LIMIT 1
    ), '') AS message_id
FROM viewers v
WHERE v.opted_out_at IS NULL
"""


async def chatters_present(
    db: Database,
    since: int,
    without_event: str,
) -> list[Chatter]:
    """Return everybody who wrote since a time (ms).

    `without_event`: the line that is being answered, which counts as nobody's last message.
    """
    rows = await db.rows(
        f"""
        {_CHATTER}
            AND v.banned_at IS NULL
            AND v.id IN (
                SELECT viewer_id
                FROM events
                WHERE at >= :since
                    AND redacted_at IS NULL
                    AND from_bot = 0
                    AND kind <> 'moderation'
            )
        """,
        {"without": without_event, "since": since},
    )
    return [row_as(row, Chatter) for row in rows]


async def chatter(db: Database, viewer_id: str) -> Chatter | None:
    """Return a viewer as a chatter, also one who did not write lately; None for one who opted out."""
    row = await db.row(
        f"{_CHATTER} AND v.id = :viewer", {"viewer": viewer_id, "without": ""}
    )
    return row_as(row, Chatter) if row else None


# ── how a viewer's row is written ───────────────────────────────────────────────────────────


class SeenViewer(NamedTuple):
    """A viewer under one name, as seen in a batch of lines, from `first_at` to `last_at` (ms).

    `display_name` "", `role` None, `color` "" and `watch_streak` 0 are unknown, and leave what is
    stored, as does `sub_months` without a role.
    """

    id: str
    login: str
    display_name: str
    role: Role | None
    first_at: int
    last_at: int
    color: str = ""
    sub_months: int = 0
    watch_streak: int = 0


async def record_seen(tx: Transaction, people: Sequence[SeenViewer]) -> None:
    """Store who was seen, in that order. A viewer who was renamed meanwhile is there once for each name."""
    holders = {person.login: person.id for person in people}
    # In this order: a provisional row has the login that is taken from others next.
    await join_provisional(tx, holders)
    await _release_logins(tx, holders)
    # The last name counts, and the last holder of a login: lines come in the order in which they
    # were said.
    latest = {person.id: person for person in people}
    stored_rows = await _stored_rows(tx, latest)
    unchanged: list[tuple[int, int, str]] = []
    rows: list[tuple[object, ...]] = []
    for person in latest.values():
        if holders[person.login] != person.id:
            # somebody else was seen with the login after them, so they have no name now
            nameless = (person.id, None, None, *person[3:])
            rows.append(nameless)
        elif _is_stored(person, stored_rows.get(person.id)):
            unchanged.append((person.first_at, person.last_at, person.id))
        else:
            rows.append(person)
    # Most people of a batch are unchanged but for the times. No index of the table has these columns,
    # so this is fast.
    await tx.many(
        """
        UPDATE viewers
        SET first_seen_at = min(first_seen_at, ?), last_seen_at = max(last_seen_at, ?)
        WHERE id = ?
        """,
        unchanged,
    )
    # ?1 to ?9 are the fields of a SeenViewer in their order: ?3 display_name, ?4 role, ?5 first_at,
    # ?6 last_at, ?8 sub_months, ?9 watch_streak. A value that is unknown leaves what is stored.
    await tx.many(
        """
        INSERT INTO viewers (
            id, login, display_name, role, first_seen_at, last_seen_at, color,
            sub_months, sub_months_at, watch_streak, watch_streak_at, moderator_since
        )
        VALUES (
            ?1, ?2, iif(?3 = '', ?2, ?3), coalesce(?4, 'viewer'), ?5, ?6, ?7,
            ?8, iif(?8 = 1, ?6, 0), ?9, iif(?9 > 0, ?6, 0), iif(?4 = 'moderator', ?5, NULL)
        )
        ON CONFLICT (id) DO UPDATE SET
            login = excluded.login,
            display_name = iif(
                ?3 = '' AND login = ?2, display_name, excluded.display_name
            ),
            role = coalesce(?4, role),
            color = iif(excluded.color = '', color, excluded.color),
            first_seen_at = min(first_seen_at, excluded.first_seen_at),
            last_seen_at = max(last_seen_at, excluded.last_seen_at),
            banned_at = iif(excluded.last_seen_at > banned_at, NULL, banned_at),
            -- a number that was unknown until now may have grown at any time
            sub_months_at = iif(
                ?8 > sub_months AND (sub_months > 0 OR ?8 = 1), ?6, sub_months_at
            ),
            sub_months = iif(?4 IS NULL, sub_months, ?8),
            watch_streak = iif(?9 > 0, ?9, watch_streak),
            watch_streak_at = iif(?9 > 0, ?6, watch_streak_at),
            moderator_since = CASE ?4
                WHEN 'moderator' THEN coalesce(moderator_since, ?5)
                ELSE iif(?4 IS NULL, moderator_since, NULL)
            END
        """,
        rows,
    )
    await _record_names(tx, people)


async def _stored_rows(
    tx: Transaction,
    viewer_ids: Collection[str],
) -> dict[str, Row]:
    """Return by id what is stored of these viewers: names, role, color and months.

    Whoever is banned is left out: they count as new when they write again, which lifts the ban.
    """
    rows = await tx.rows(
        """
        SELECT id, login, display_name, role, color, sub_months
        FROM viewers
        WHERE banned_at IS NULL
            AND id IN (SELECT value FROM json_each(?))
        """,
        (list(viewer_ids),),
    )
    return {row[0]: row for row in rows}


def _is_stored(person: SeenViewer, row: Row | None) -> bool:
    """Return whether a row of `_stored_rows` has all that is known of somebody but the times."""
    if row is None:
        return False
    _id, login, display_name, role, color, sub_months = row
    if login != person.login or person.display_name not in {"", display_name}:
        return False
    # without a role the months are unknown
    has_news = person.role is not None and person.sub_months != sub_months
    if has_news or person.watch_streak:
        return False
    return person.role in {None, role} and person.color in {"", color}


async def record_past(tx: Transaction, people: Sequence[SeenViewer]) -> None:
    """Store people of past chat. Names and roles that are stored are newer, and stay."""
    # a login belongs to whoever has it now; of provisional ids only `login:alice` has the login alice
    login = """iif(
            EXISTS (SELECT 1 FROM viewers WHERE login = ?2 AND id <> ?1)
                OR (?1 GLOB ?10 AND ?1 <> ?11),
            NULL,
            ?2
        )"""
    await tx.many(
        f"""
        INSERT INTO viewers (id, login, display_name, role, first_seen_at, last_seen_at, color)
        SELECT ?1, {login}, ?3, ?4, ?5, ?6, ?7
        WHERE true
        ON CONFLICT (id) DO UPDATE SET
            first_seen_at = min(first_seen_at, excluded.first_seen_at),
            last_seen_at = max(last_seen_at, excluded.last_seen_at)
        """,
        [
            (*person, f"{PROVISIONAL}*", provisional_id(person.login))
            for person in people
        ],
    )
    await _record_names(tx, people)


async def _record_names(tx: Transaction, people: Sequence[SeenViewer]) -> None:
    """Store from when to when people were seen with these names."""
    await tx.many(
        """
        INSERT INTO viewer_names (viewer_id, login, display_name, first_seen_at, last_seen_at)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET
            first_seen_at = min(first_seen_at, excluded.first_seen_at),
            last_seen_at = max(last_seen_at, excluded.last_seen_at)
        """,
        [
            (
                person.id,
                person.login,
                person.display_name,
                person.first_at,
                person.last_at,
            )
            for person in people
            if person.display_name
        ],
    )


async def _release_logins(tx: Transaction, holders: dict[str, str]) -> None:
    """Take these logins from other viewers. `holders`: whose each is now."""
    await tx.execute(
        """
        UPDATE viewers
        SET login = NULL, display_name = NULL
        FROM json_each(?1) j
        WHERE viewers.login = j.key
            AND viewers.id <> j.value
        """,
        (holders,),
    )


async def join_provisional(tx: Transaction, holders: dict[str, str]) -> None:
    """Give viewers who were known only by login the ids that were seen with it. `holders`: id by login."""
    rows = await tx.rows(
        """
        SELECT v.id, j.value AS real, r.id IS NOT NULL AS both
        FROM json_each(?1) j
        JOIN viewers v ON v.id = ?2 || j.key
            AND v.id <> j.value
        LEFT JOIN viewers r ON r.id = j.value
        """,
        (holders, PROVISIONAL),
    )
    # Mentions in texts have no foreign key: they are replaced by hand.
    texts = (
        ("episodes", "summary"),
        ("semantic_notes", "fact"),
        ("streams", "recap"),
        ("quotes", "text"),
        ("streams", "so_far"),
    )
    for provisional, real, both_exist in rows:
        if both_exist:
            await _merge(tx, provisional, real)
        else:
            # every reference follows by ON UPDATE CASCADE
            await tx.execute(
                "UPDATE viewers SET id = ? WHERE id = ?", (real, provisional)
            )
        mentions = (f"<@{provisional}>", f"<@{real}>")
        for table, column in texts:
            replaced = f"{column} = replace({column}, ?1, ?2)"
            sql = f"UPDATE {table} SET {replaced} WHERE instr({column}, ?1) > 0"
            await tx.execute(sql, mentions)


async def _merge(
    tx: Transaction,
    old: str,
    new: str,
) -> None:
    """Let every row that points at the viewer `old` point at `new`, then delete `old`."""
    # Asked of the schema, so that no table that is added later is forgotten.
    references = await tx.rows(
        """
        SELECT m.name, f."from" AS field
        FROM sqlite_master m, pragma_foreign_key_list(m.name) f
        WHERE m.type = 'table'
            AND f."table" = 'viewers'
        """
    )
    for table, field in references:
        # OR IGNORE: if both have a row (of one stream, of one episode), that of `old` stays, and is deleted with it
        await tx.execute(
            f'UPDATE OR IGNORE "{table}" SET "{field}" = ?2 WHERE "{field}" = ?1',
            (old, new),
        )
    await tx.execute(
        """
        UPDATE viewers
        SET opted_out_at = coalesce(opted_out_at, (SELECT opted_out_at FROM viewers WHERE id = ?1))
        WHERE id = ?2
        """,
        (old, new),
    )
    await tx.execute("DELETE FROM viewers WHERE id = ?", (old,))


async def add_bot(
    tx: Transaction,
    viewer_id: str,
    login: str,
    display_name: str,
) -> None:
    """Write the bot's own row, which its lines need. It was never seen, so no list of people has it."""
    # A login is unique: whoever had the bot's before has none now.
    await _release_logins(tx, {login: viewer_id})
    await tx.execute(
        """
        INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at)
        VALUES (?, ?, ?, 0, 0)
        ON CONFLICT (id) DO UPDATE SET login = excluded.login, display_name = excluded.display_name
        """,
        (viewer_id, login, display_name),
    )


async def may_be_stored(source: Source, viewer_ids: Collection[str]) -> frozenset[str]:
    """Return those of these ids that somebody here has who neither opted out nor is being erased; also the banned."""
    sql = """
        SELECT id
        FROM viewers
        WHERE opted_out_at IS NULL
            AND erase_at IS NULL
            AND id IN (SELECT value FROM json_each(?))
    """
    return frozenset(await source.column(sql, (viewer_ids,)))


async def add_unseen(
    tx: Transaction,
    people: Mapping[str, str | None],
    at: int,
) -> None:
    """Store people nobody has seen yet, by id, with the login that is named for them unless somebody here has it.

    `login:alice`, where only the login is known, is joined to the real id when that login first speaks.
    """
    # Two statements: the login is unique, and an INSERT with one that is taken would add nobody.
    await tx.many(
        """
        INSERT OR IGNORE INTO viewers (id, first_seen_at, last_seen_at)
        VALUES (?, ?, ?)
        """,
        [(viewer_id, at, at) for viewer_id in people],
    )
    await tx.many(
        """
        UPDATE viewers
        SET login = ?1, display_name = ?1
        WHERE id = ?2
            AND login IS NULL
            AND NOT EXISTS (SELECT 1 FROM viewers WHERE login = ?1)
        """,
        [(login, viewer_id) for viewer_id, login in people.items() if login],
    )


async def set_banned(
    tx: Transaction,
    viewer_id: str,
    at: int | None,
) -> None:
    """Hide all that is known about somebody; None shows it again."""
    await tx.execute("UPDATE viewers SET banned_at = ? WHERE id = ?", (at, viewer_id))


async def set_congratulated(
    tx: Transaction,
    viewer_id: str,
    at: int,
) -> None:
    """Store that a model was told to congratulate somebody at a time (ms)."""
    sql = "UPDATE viewers SET congratulated_at = ? WHERE id = ?"
    await tx.execute(sql, (at, viewer_id))


async def set_wishes(
    tx: Transaction,
    viewer_id: str,
    words: Mapping[str, str],
    at: int,
) -> None:
    """Store how somebody asks to be called: `called`, `say_as` and `pronouns`, those of them that are named.

    Of somebody who opted out these can only be taken off.
    """
    await tx.execute(
        """
        UPDATE viewers
        SET called = coalesce(:called, called), say_as = coalesce(:say_as, say_as),
            pronouns = coalesce(:pronouns, pronouns), called_at = :at
        WHERE id = :viewer
            AND (opted_out_at IS NULL OR :takes_off)
        """,
        {
            "takes_off": not any(words.values()),
            "called": words.get("called"),
            "say_as": words.get("say_as"),
            "pronouns": words.get("pronouns"),
            "at": at,
            "viewer": viewer_id,
        },
    )


async def wishes_of(
    source: Source,
    viewer_id: str,
    until: int | None = None,
) -> dict[str, str]:
    """Return how somebody asks to be called, by column; nothing if that was changed after a time (ms)."""
    row = await source.row(
        """
        SELECT called, say_as, pronouns
        FROM viewers
        WHERE id = ?1
            AND (?2 IS NULL OR called_at <= ?2)
        """,
        (viewer_id, until),
    )
    return {} if row is None else dict(zip(row.keys(), row, strict=True))


# With the name in brackets: a model, and the streamer, must know who that is.
_CHOSEN_AND_NAME = "called || ' (' || coalesce(display_name, login) || ')'"


async def shown_by_chosen_name(source: Source, text: str) -> dict[str, str]:
    """Return by id the names, as `Deb (alice)`, of viewers who chose one and whom a text names so, in any case."""
    is_in_text = f"instr(lower(?), lower({_CHOSEN_AND_NAME}))"
    sql = (
        f"SELECT id, {_CHOSEN_AND_NAME} FROM shown WHERE called <> '' AND {is_in_text}"
    )
    return await source.pairs(sql, (text,))


async def names_as_asked(source: Source, viewer_ids: Iterable[str]) -> dict[str, str]:
    """Return the present names of these people, as `Deb (alice)` where they ask to be called otherwise."""
    name = "coalesce(display_name, login)"
    shown_name = f"iif(called = '', {name}, {_CHOSEN_AND_NAME})"
    return await source.pairs(
        f"SELECT id, {shown_name} {_AMONG} AND {name} IS NOT NULL", (list(viewer_ids),)
    )
