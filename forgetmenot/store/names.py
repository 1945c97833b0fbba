"""By which words people are found: an index of their names and nicknames, kept by writes; and who had a login when.

- `name_words` has the words of every name that somebody has or had (text/names). It is written with the name.
- `nicknames` has the words of notes that say how somebody is called. Such a word counts while its note is active.
- `viewer_names` says from when to when somebody was seen with a name: a login means whoever had it at that time.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from forgetmenot.store.database import Source
from forgetmenot.text.names import NamedPerson, NameKeys, compact

# A word of a text brings this many people at most. If it fits more, only a whole name is recognised.
MOST_A_WORD = 500
# The names of this many people at most are compared with the words of one text.
MOST_COMPARED = 300
# Of the people whom one word fits and who are not in chat, this many are compared.
MOST_ABSENT = 60


class Known(NamedTuple):
    """Somebody whom a text may name. `hidden`: they opted out or were banned, so they are not named."""

    id: str
    name: str
    hidden: bool


class NameSpan(NamedTuple):
    """The time from `first_at` to `last_at` (ms) in which a viewer was seen with a login.

    `is_current`: they have it now. `renamed_at`: when they were first seen with another one after that, if ever.
    """

    viewer_id: str
    login: str
    first_at: int
    last_at: int
    is_current: bool
    renamed_at: int | None


async def ids_by_word(source: Source, keys: NameKeys) -> dict[str, list[str]]:
    """Return the viewers of each key of a text, at most MOST_A_WORD; those with exactly that name come first."""
    # The ids of a word come as one text: a name of chat's may bring hundreds, for each word of a
    # line.
    exact = _viewers_of_word("word = j.value")
    # a range, which the index answers; char(1114111) is the last character there is
    begins = _viewers_of_word("word >= j.value AND word < j.value || char(1114111)")
    rows = await source.rows(
        f"""
        SELECT j.value, {begins}
        FROM json_each(?1) j
        UNION ALL
        SELECT j.value, {exact}
        FROM json_each(?2) j
        """,
        # What begins with a word has those who are called so as well.
        (keys.short, keys.exact - keys.short),
    )
    viewers = {}
    for key, viewer_ids in rows:
        if viewer_ids:
            viewers[key] = list(dict.fromkeys(viewer_ids.split()))
    return viewers


def _viewers_of_word(condition: str) -> str:
    """Return the SQL of the ids of viewers with such a word in a name, in one text."""
    return f"""(
            SELECT group_concat(viewer_id, ' ')
            FROM (SELECT viewer_id FROM name_words WHERE {condition} LIMIT {MOST_A_WORD})
        )"""


async def ids_by_nickname(
    source: Source, keys: Collection[str]
) -> dict[str, list[str]]:
    """Return the ids of the viewers by these nicknames: those they ask to be called by, and those of active notes.

    At most MOST_A_WORD ids for all nicknames together.
    """
    # Both conditions on `called` are those of the index viewers_by_called, which has the few who asked.
    rows = await source.rows(
        f"""
        SELECT wanted.value, v.id
        FROM json_each(?1) wanted
        JOIN viewers v ON lower(v.called) = wanted.value
            AND v.called <> ''
        UNION ALL
        SELECT nickname.word, n.subject_id
        FROM json_each(?1) wanted
        JOIN nicknames nickname ON nickname.word = wanted.value
        JOIN semantic_notes n ON n.id = nickname.note_id
        WHERE n.status = 'active'
            AND n.subject_id IS NOT NULL
        LIMIT {MOST_A_WORD}
        """,
        (keys,),
    )
    viewers: dict[str, list[str]] = {}
    for nickname, viewer_id in rows:
        viewers.setdefault(nickname, []).append(viewer_id)
    return viewers


async def people(
    source: Source,
    viewer_ids: Collection[str],
    here: Collection[str],
) -> dict[str, NamedPerson]:
    """Return these people with their names, without hidden ones. `here`: the ids of regulars and those in chat."""
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
    people_by_id = {}
    for viewer_id, login, display_name, former_names, has_note in rows:
        people_by_id[viewer_id] = NamedPerson(
            viewer_id,
            login,
            display_name,
            former=tuple(dict.fromkeys((former_names or "").split("\n"))),
            is_here=viewer_id in here,
            is_known=bool(has_note),
        )
    return people_by_id


async def active_ids(
    source: Source,
    *,
    seen_since: int,
    regular_since: int,
    regular_streams: int,
) -> frozenset[str]:
    """Return the ids of recent chatters and of regulars, the latest 2,000 of them."""
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
    """Return the id, if somebody has it, hidden or not."""
    return await source.column("SELECT id FROM viewers WHERE id = ?", (viewer_id,))


async def by_login(source: Source, login: str) -> str | None:
    """Return the id of whoever has this login now, hidden or not."""
    viewer_id: str | None = await source.value(
        "SELECT id FROM viewers WHERE login = ?", (login,)
    )
    return viewer_id


async def spans_by_login(
    source: Source, logins: Collection[str]
) -> dict[str, list[NameSpan]]:
    """Return who was seen with each of these logins and when, hidden people too.

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
    spans: dict[str, list[NameSpan]] = {}
    for viewer_id, login, first_at, last_at, is_current, renamed_at in rows:
        span = NameSpan(
            viewer_id, login, first_at, last_at, bool(is_current), renamed_at
        )
        spans.setdefault(login, []).append(span)
    return spans


async def ids_by_display_name(
    source: Source, names: Collection[str]
) -> dict[str, list[str]]:
    """Return the ids of viewers, also hidden ones, by their display name (casefolded), if that is not their login."""
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
    viewers: dict[str, list[str]] = {}
    for viewer_id, login, display_name in rows:
        # The index has names without their marks, so more come than were asked for.
        folded = (display_name or "").casefold()
        if folded in names and folded != login:
            viewers.setdefault(folded, []).append(viewer_id)
    return viewers


def ids_to_compare(
    candidates: Collection[Sequence[str]], here: Collection[str]
) -> list[str]:
    """Return the viewers whose names are compared with the words of a text.

    `candidates`: the viewers of each word. Of each word those who are here are compared; if nobody is, its first ones.
    """
    # Twice over the words: only when all who are here are known it shows which words they leave
    # open.
    viewer_ids: set[str] = set()
    for ids in candidates:
        viewer_ids.update(viewer_id for viewer_id in ids if viewer_id in here)
    for ids in candidates:
        if viewer_ids.isdisjoint(ids):
            viewer_ids.update(ids[:MOST_ABSENT])
    return sorted(viewer_ids)[:MOST_COMPARED]
