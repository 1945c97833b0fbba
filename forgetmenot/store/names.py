"""By which words people are found: an index of their names and nicknames, kept by writes; and who had a login when.

- `name_words` has the words of every name that somebody has or had (text/names). It is written with the name.
- `nicknames` has the words of notes that say how somebody is called. Such a word counts while its note is active.
- `viewer_names` says from when to when somebody was seen with a name: a login means whoever had it at that time.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from forgetmenot.store.database import Source
from forgetmenot.text.names import NamedPerson, NameKeys, compact

# People at most whom one word brings. A word that fits more of them means one only by their whole name.
MOST_A_WORD = 500
# People at most whose names are compared with the words of one text, and of those for one word who are not here.
MOST_COMPARED = 300
MOST_ABSENT = 60


class Known(NamedTuple):
    """Somebody a text may name: by which word, and whether they may be named at all."""

    id: str
    name: str
    hidden: bool


class NameSpan(NamedTuple):
    """Somebody who was seen with a login from `first_at` to `last_at` (ms).

    `is_current`: it is theirs now. `renamed_at`: when they were first seen with another one after that, if they were.
    """

    viewer_id: str
    login: str
    first_at: int
    last_at: int
    is_current: bool
    renamed_at: int | None


async def ids_by_word(source: Source, keys: NameKeys) -> dict[str, list[str]]:
    """The ids that the index has for each key, at most MOST_A_WORD; whoever it fits exactly comes first."""
    theirs = (
        "(SELECT group_concat(viewer_id, ' ') FROM"
        f" (SELECT viewer_id FROM name_words WHERE %s LIMIT {MOST_A_WORD}))"
    )
    exact = theirs % "word = j.value"
    begins = theirs % "word >= j.value AND word < j.value || char(1114111)"
    rows = await source.rows(
        f"""
        SELECT j.value, {begins}
        FROM json_each(?1) j
        UNION ALL
        SELECT j.value, {exact}
        FROM json_each(?2) j
        """,
        (keys.short, keys.exact - keys.short),
    )
    return {row[0]: list(dict.fromkeys(row[1].split())) for row in rows if row[1]}


async def ids_by_nickname(source: Source, keys: Collection[str]) -> dict[str, list[str]]:
    """The ids of those whom an active note gives one of these nicknames."""
    rows = await source.rows(
        f"""
        SELECT k.word, n.subject_id
        FROM json_each(?) j
        JOIN nicknames k ON k.word = j.value
        JOIN semantic_notes n ON n.id = k.note_id
        WHERE n.status = 'active'
            AND n.subject_id IS NOT NULL
        LIMIT {MOST_A_WORD}
        """,
        (keys,),
    )
    found: dict[str, list[str]] = {}
    for word, viewer_id in rows:
        found.setdefault(word, []).append(viewer_id)
    return found


async def people(
    source: Source, viewer_ids: Collection[str], here: Collection[str]
) -> dict[str, NamedPerson]:
    """These people with their names, by id; nobody hidden. `here`: the ids of those in chat, and of regulars."""
    rows = await source.rows(
        """
        SELECT v.id, coalesce(v.login, ''), coalesce(v.display_name, ''), (
            SELECT group_concat(n.login || char(10) || n.display_name, char(10))
            FROM viewer_names n
            WHERE n.viewer_id = v.id
        ), EXISTS (SELECT 1 FROM semantic_notes n WHERE n.subject_id = v.id AND n.status = 'active')
        FROM shown v
        WHERE v.id IN (SELECT value FROM json_each(?))
        """,
        (viewer_ids,),
    )
    return {
        row[0]: NamedPerson(
            row[0],
            row[1],
            row[2],
            former=tuple(dict.fromkeys((row[3] or "").split("\n"))),
            is_here=row[0] in here,
            is_known=bool(row[4]),
        )
        for row in rows
    }


async def active_ids(
    source: Source, *, seen_since: int, regular_since: int, regular_streams: int
) -> frozenset[str]:
    """The ids of recent chatters and of regulars, the latest 2,000 of them."""
    rows = await source.column(
        """
        WITH regulars AS (
            SELECT a.viewer_id
            FROM attendance a
            JOIN streams s ON s.id = a.stream_id
            WHERE s.started_at >= :regular_since
            GROUP BY a.viewer_id
            HAVING count(*) >= :regular_streams
        )
        SELECT id
        FROM shown
        WHERE last_seen_at >= :seen_since OR id IN (SELECT viewer_id FROM regulars)
        ORDER BY last_seen_at DESC
        LIMIT 2000
        """,
        {
            "seen_since": seen_since,
            "regular_since": regular_since,
            "regular_streams": regular_streams,
        },
    )
    return frozenset(rows)


# ── whole names ──────────────────────────────────────────────────────────────────────────────


async def by_id(source: Source, viewer_id: str) -> list[str]:
    """The id, if somebody has it, hidden or not."""
    return await source.column("SELECT id FROM viewers WHERE id = ?", (viewer_id,))


async def by_login(source: Source, login: str) -> str | None:
    """The id of whoever has this login now, hidden or not."""
    viewer_id: str | None = await source.value("SELECT id FROM viewers WHERE login = ?", (login,))
    return viewer_id


async def spans_by_login(source: Source, logins: Collection[str]) -> dict[str, list[NameSpan]]:
    """Who was seen with each of these logins and when, hidden people too.

    Of somebody who was only named, and never seen, it is the time of their row.
    """
    rows = await source.rows(
        """
        WITH asked AS (SELECT value AS login FROM json_each(?)), had AS (
            SELECT n.viewer_id, n.login, min(n.first_seen_at) AS first_at,
                max(n.last_seen_at) AS last_at
            FROM asked
            JOIN viewer_names n ON n.login = asked.login
            GROUP BY n.login, n.viewer_id
        )
        SELECT h.viewer_id, h.login, h.first_at, h.last_at, v.login IS h.login, (
            SELECT min(m.first_seen_at)
            FROM viewer_names m
            WHERE m.viewer_id = h.viewer_id
                AND m.login <> h.login
                AND m.first_seen_at > h.last_at
        )
        FROM had h
        JOIN viewers v ON v.id = h.viewer_id
        UNION ALL
        SELECT v.id, v.login, v.first_seen_at, v.last_seen_at, 1, NULL
        FROM asked
        JOIN viewers v ON v.login = asked.login
        WHERE NOT EXISTS (
            SELECT 1
            FROM viewer_names n
            WHERE n.viewer_id = v.id
                AND n.login = v.login
        )
        """,
        (logins,),
    )
    found: dict[str, list[NameSpan]] = {}
    for row in rows:
        span = NameSpan(row[0], row[1], row[2], row[3], bool(row[4]), row[5])
        found.setdefault(span.login, []).append(span)
    return found


async def ids_by_display_name(source: Source, names: Collection[str]) -> dict[str, list[str]]:
    """The ids of those who are shown by a name (casefolded) that is not their login, by name; hidden people too."""
    rows = await source.rows(
        """
        SELECT v.id, v.login, v.display_name
        FROM json_each(?) j
        JOIN name_words w ON w.word = j.value
        JOIN viewers v ON v.id = w.viewer_id
        ORDER BY v.last_seen_at DESC
        """,
        ({compact(name) for name in names},),
    )
    found: dict[str, list[str]] = {}
    for viewer_id, login, display_name in rows:
        shown = (display_name or "").casefold()
        if shown in names and shown != login:
            found.setdefault(shown, []).append(viewer_id)
    return found


def ids_to_compare(found: Collection[Sequence[str]], here: Collection[str]) -> list[str]:
    """Whose names are compared with the words of a text: of those whom each fits who is here, else the first."""
    viewer_ids = {one for ids in found for one in ids if one in here}
    for ids in found:
        if viewer_ids.isdisjoint(ids):
            viewer_ids.update(ids[:MOST_ABSENT])
    return sorted(viewer_ids)[:MOST_COMPARED]
