"""Everything a person left in the database, found and taken away.

Guarantees:
- Every text column of every table is looked at: `PLACES` names how each is cleaned; a test compares them with the
  schema, and says why the others need not be.
- Large tables are read on a connection of its own, so that nobody waits.

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
from forgetmenot.store.rights import OptedOut, PrivacyRequest, RequestKind
from forgetmenot.text.mentions import provisional_id

# Rows that one transaction of an erasure deletes.
NOTES_AT_ONCE, LINES_AT_ONCE = 40, 200
BANNED_FOR = 7 * DAY


class ColumnFormat(StrEnum):
    """How people are written in a column."""

    TEXT = "text"  # words of somebody
    WORDS = "words"  # a JSON list of words
    FIELDS = "fields"  # a JSON object, of which FREE_TEXTS are words of somebody and PEOPLE a name
    REASON = (
        "reason"  # a reason of ours, with values (languages.reason), or what another program said
    )


# Fields of a proposed action. All others are numbers, or names of the program's and of the settings'.
FREE_TEXTS = frozenset({"text", "fact", "what", "reason"})
PEOPLE = frozenset({"target"})


class Place(Struct, frozen=True):
    """Columns in which somebody may be written, in the rows that `only` (SQL) names.

    `cut`: sentences about them go; `whole`: the texts go; otherwise only their name does. `also` (SQL) is set with it.
    `near` (SQL on the row `t`): whether they were there, so that a bare name may be theirs. `typed`: there it is taken
    for theirs, if it is no word; in what is kept, people are ids (`<@42>`), so a bare name stays.
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


_WITH_THE_BOT = (
    "(from_bot = 1 OR addressed = 1 OR text LIKE '!%')"  # these quote what is remembered
)
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
_NEAR_STREAM = f"t.ended_at IS NULL AND t.started_at >= :since OR EXISTS ({_HERE} = t.id)"
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
    Place("bot_messages", ("detail",), ColumnFormat.REASON, typed=True, near=_NEAR_TIME),
    Place("action_logs", ("params_json",), ColumnFormat.FIELDS, typed=True, near=_NEAR_TIME),
    Place("action_logs", ("reason", "detail"), ColumnFormat.REASON, typed=True, near=_NEAR_TIME),
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
# What is remembered: where a name stands in it without a mention, it is a word (or was typed before they came).
_MEMORY_TEXTS = (("semantic_notes", "fact"), ("episodes", "summary"), ("streams", "recap"))
# What is on: games, as Twitch says, and what the streamer plays.
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
    """Whether there is somebody with that id."""
    return await source.row("SELECT 1 FROM viewers WHERE id = ?", (viewer_id,)) is not None


async def names_of(source: Source, viewer_id: str) -> list[str]:
    """Every name that somebody goes or went by, but for those that are somebody else's by now."""
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
    names = {name for row in rows for name in row if name}
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


def longer_names(path: Path, viewer_id: str, names: Sequence[str]) -> list[str]:
    """Longer names of other people that one of these is a part of: "bob_7" is one of "bob_77"."""
    around: set[str] = set()
    with separate_reader(path) as own:
        for table, person in (("viewers", "id"), ("viewer_names", "viewer_id")):
            for column in ("login", "display_name"):
                sql = f"SELECT {column} FROM {table} WHERE {person} <> ? AND instr(lower({column}), lower(?))"
                for name in names:
                    around.update(row[0] for row in own.execute(sql, (viewer_id, name)))
    theirs = {name.casefold() for name in names}
    return sorted(name for name in around if name.casefold() not in theirs)


def texts_containing(path: Path, needles: Sequence[str]) -> Iterator[str]:
    """What is remembered in which one of these stands (A to Z in lower case). Raises StoreError."""
    found = " OR ".join("instr(hay, ?) > 0" for _ in needles) or "FALSE"
    with separate_reader(path) as own:
        for table, column in _MEMORY_TEXTS:
            hay = f"SELECT {column} AS text, lower({column}) AS hay FROM {table}"
            for row in own.execute(f"SELECT text FROM ({hay}) WHERE {found}", needles):
                yield row[0]


def played_categories(path: Path) -> set[str]:
    """What was ever played, as Twitch says. Raises StoreError."""
    with separate_reader(path) as own:
        return {row[0] for row in own.execute(_PLAYED) if row[0]}


async def erase_requests(
    source: Source, viewer_id: str, at: int, login: str = ""
) -> list[PrivacyRequest]:
    """The request to be erased, by id and by each name: a copy may know them only as somebody who was named.

    `login`: theirs, where they only just came. Not before their last line: it has Twitch's time, which may be ahead.
    """
    at = max(
        at, await source.value("SELECT last_seen_at FROM viewers WHERE id = ?", (viewer_id,)) or 0
    )
    names = dict.fromkeys([*await names_of(source, viewer_id), *([login] if login else [])])
    written = [viewer_id, *map(provisional_id, names)]
    return [source.requests.of(RequestKind.ERASE, one, at) for one in written]


async def begin_erasure(tx: Transaction, viewer_id: str, now: int) -> None:
    """Write down that somebody is to be erased, unless it is, and hide them."""
    if await tx.value("SELECT erase_at FROM viewers WHERE id = ?", (viewer_id,)) is None:
        await write_request(tx, *await erase_requests(tx, viewer_id, now))
    await hide_for_erasure(tx, viewer_id, now, newer=True)


async def hide_for_erasure(
    tx: Transaction, viewer_id: str, at: int, *, newer: bool = False
) -> bool:
    """Hide somebody who asked at that time to be erased, whatever crashes; False if they are newer than that.

    `newer`: also then, since their lines have Twitch's time, which may be ahead.
    """
    return bool(
        await tx.execute(
            """
            UPDATE viewers
            SET erase_at = coalesce(erase_at, ?1), banned_at = coalesce(banned_at, ?1)
            WHERE id = ?2
                AND (?3 OR first_seen_at <= ?1 OR erase_at IS NOT NULL)
            """,
            (at, viewer_id, newer),
        )
    )


async def erasures_due(source: Source, now: int) -> list[str]:
    """Whose erasure was asked for and not finished, and who was banned seven days ago."""
    sql = """
        SELECT id
        FROM viewers
        WHERE erase_at IS NOT NULL OR banned_at <= ?
        ORDER BY id
    """
    return await source.column(sql, (now - BANNED_FOR,))


async def delete_chat(tx: Transaction, viewer_id: str) -> tuple[int, bool]:
    """Delete some of what somebody said in the last hours and of what the bot said to them, and what it did.

    How many lines of theirs, and whether there may be more; the answers to lines go before them. What must still be
    taken back is left, without them.
    """
    theirs = "(asked_by = ?1 OR target_id = ?1) AND revert_at IS NULL AND status != 'running'"
    await tx.execute(f"DELETE FROM action_logs WHERE {theirs}", (viewer_id,))
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
    said = f"SELECT text FROM bot_messages WHERE text <> '' AND id IN ({answers})"
    await tx.execute(f"UPDATE events SET {cleared} WHERE from_bot = 1 AND text IN ({said})", values)
    gone = await tx.execute(f"DELETE FROM bot_messages WHERE id IN ({answers})", values)
    if gone == LINES_AT_ONCE:  # there may be more of them for the same lines
        return 0, True
    keys = f"SELECT 'line:' || id FROM ({lines})"
    await tx.execute(f"UPDATE episodes SET key = NULL WHERE key IN ({keys})", values)
    # counted as redacted, so that the account of lines still adds up to zero unread
    gone = await tx.execute(f"DELETE FROM events WHERE id IN ({lines})", values)
    await add_counts(tx, {"pruned_redacted": gone})
    return gone, gone == LINES_AT_ONCE


async def facts_of(source: Source, viewer_id: str, limit: int = -1) -> dict[int, str]:
    """The text of notes about somebody, whatever their status, by their ids."""
    return await source.pairs(
        "SELECT id, fact FROM semantic_notes WHERE subject_id = ? LIMIT ?", (viewer_id, limit)
    )


async def recap_mentions(source: Source, viewer_id: str) -> list[str]:
    """The texts that a recap is made of and that mention somebody."""
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
    """Whom an erasure is of, and when it is: `since` then what is written was begun before (ms)."""

    viewer: str
    now: int
    since: int = END_OF_TIME


class DoubtfulPlace(NamedTuple):
    """A text that was left in an erasure, with a bare name in it: its table and row."""

    table: str
    row: int


# Where the streamer is shown them, so long and no more than so many.
_DOUBTFUL, DOUBTFUL_SHOWN_FOR, MOST_DOUBTFUL = "doubtful", 30 * DAY, 30
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


async def keep_doubtful(tx: Transaction, places: Sequence[DoubtfulPlace], now: int) -> None:
    """Keep where the streamer may look, without the name: the newest of each table, notes first."""
    if not places:
        return
    shown = [place for place in places if place.table in _SHOWN_TEXTS]
    shown.sort(key=lambda place: (place.table != "semantic_notes", -place.row))
    kept = [[*place, now] for place in shown] + await _kept_doubtful(tx, now)
    value = msgspec.json.encode(kept[:MOST_DOUBTFUL]).decode()
    await channel_state.put(tx, {_DOUBTFUL: value}, now)


async def doubtful_texts(source: Source, now: int) -> list[dict[str, object]]:
    """The texts that erasures left in doubt and that are still there: table, row, text."""
    texts: list[dict[str, object]] = []
    for table, row, _at in await _kept_doubtful(source, now):
        text = await source.value(_SHOWN_TEXTS[table], (row,))
        entry = {"table": table, "row": row, "text": text}
        if text and entry not in texts:
            texts.append(entry)
    return texts


async def _kept_doubtful(source: Source, now: int) -> list[tuple[str, int, int]]:
    stored = await channel_state.read(source, _DOUBTFUL)
    rows = msgspec.json.decode(stored or "[]", type=list[tuple[str, int, int]])
    return [row for row in rows if row[0] in _SHOWN_TEXTS and now - row[2] < DOUBTFUL_SHOWN_FOR]


def is_in_copy(path: Path, moment: Moment) -> bool:
    """Whether somebody is known in a copy, or its digest mentions them. Raises StoreError."""
    known = "SELECT 1 FROM viewers WHERE id = :viewer"
    mentioned = "SELECT 1 FROM channel_state WHERE instr(value, '<@' || :viewer || '>')"
    with separate_reader(path) as own:
        sql = f"SELECT EXISTS ({known}) OR EXISTS ({mentioned})"
        return bool(own.execute(sql, moment._asdict()).fetchone()[0])


async def came_to_newest_stream(source: Source, moment: Moment) -> bool:
    """Whether somebody came to the newest stream, or was erased since it began."""
    newest = "(SELECT t.id, t.started_at, t.ended_at FROM streams t ORDER BY t.id DESC LIMIT 1) t"
    sql = f"SELECT {_NEAR_STREAM} FROM {newest}"
    return bool(await source.value(sql, moment._asdict()))


class WrittenRow(NamedTuple):
    """A row in which somebody may stand. `near`: whether they were there when it came to be."""

    rowid: int
    near: bool
    texts: tuple[str | None, ...]


def rows_containing(
    path: Path, place: Place, needles: Sequence[str], moment: Moment
) -> Iterator[WrittenRow]:
    """The rows in which one of these stands. Raises StoreError."""
    together = " || char(10) || ".join(f"coalesce({column}, '')" for column in place.columns)
    pieces = {f"needle{number}": needle for number, needle in enumerate(needles)}
    found = " OR ".join(f"instr(hay, :{name}) > 0" for name in pieces) or "FALSE"
    columns = ", ".join(f"t.{column}" for column in place.columns)
    hay = f"SELECT rowid AS number, lower({together}) AS hay FROM {place.table} WHERE {place.only}"
    sql = f"""
        SELECT t.rowid, {place.near}, {columns}
        FROM ({hay})
        JOIN {place.table} t ON t.rowid = number
        WHERE {found}
    """
    with separate_reader(path) as own:
        for rowid, near, *texts in own.execute(sql, {**pieces, **moment._asdict()}):
            yield WrittenRow(rowid, bool(near), tuple(texts))


async def rewrite(tx: Transaction, place: Place, rows: Iterable[Sequence[object]]) -> int:
    """Write cleaned texts where nobody else has changed them; how many.

    Of each row the place's columns in order, the rowid, and the columns as they were read.
    """
    columns = ", ".join(
        [*(f"{column} = ?" for column in place.columns), *([place.also] if place.also else [])]
    )
    as_read = " AND ".join(f"{column} IS ?" for column in place.columns)
    return await tx.many(f"UPDATE {place.table} SET {columns} WHERE rowid = ? AND {as_read}", rows)


async def first_seen_by_id(source: Source) -> dict[str, int]:
    """The ids of all people there are, and since when."""
    return await source.pairs("SELECT id, first_seen_at FROM viewers")


async def delete_person(tx: Transaction, viewer_id: str, now: int) -> None:
    """Delete the person's own row and what goes with it. Somebody who opted out is still not stored."""
    opted_out = (
        await tx.value("SELECT opted_out_at FROM viewers WHERE id = ?", (viewer_id,)) is not None
    )
    if opted_out and not tx.requests.is_out(viewer_id):
        await write_request(tx, tx.requests.of(RequestKind.OPT_OUT, viewer_id, now))
    await tx.execute("DELETE FROM viewers WHERE id = ?", (viewer_id,))


# ── opting out ────────────────────────────────────────────────────────────────────────────────


async def opted_out(source: Source) -> OptedOut:
    """Everybody of whom nothing may be stored; provisional ids are `login:alice`."""
    source.requests.refresh()
    ids = await source.column("SELECT id FROM viewers WHERE opted_out_at IS NOT NULL")
    return OptedOut(ids, source.requests)


async def leaves_nothing(source: Database, viewer_id: str) -> bool:
    """Whether nothing is to be stored of what somebody asks the bot and what it answers them: opted out, or banned."""
    return viewer_id in await opted_out(source) or bool(await viewers.hidden(source, [viewer_id]))


async def opt_out(tx: Transaction, viewer_id: str, now: int) -> None:
    """From now on nothing of somebody is stored."""
    await write_request(tx, tx.requests.of(RequestKind.OPT_OUT, viewer_id, now))
    await mark_opted_out(tx, viewer_id, now)


async def mark_opted_out(tx: Transaction, viewer_id: str, at: int) -> None:
    """Mark somebody as opted out; what they said lately leaves tier 1 and the summaries.

    All of it, also where their lines, which carry Twitch's time, are ahead of `at`.
    """
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
    last = await tx.value("SELECT max(at) FROM events WHERE viewer_id = ?", (viewer_id,))
    await episodes.clear(tx, Clear(max(at, last or at), viewer_id=viewer_id, remembered=False), at)


async def mark_opted_in(tx: Transaction, viewer_id: str) -> None:
    """Unmark somebody who had opted out."""
    await tx.execute("UPDATE viewers SET opted_out_at = NULL WHERE id = ?", (viewer_id,))


async def allow_fact(tx: Transaction, viewer_id: str, words: Collection[str]) -> None:
    """Their subject asked for a fact to be remembered after all. Raises StoreError."""
    if tx.requests.is_forgotten(viewer_id, words):
        hashed = tx.requests.hashed(viewer_id, words)
        await write_request(tx, tx.requests.of(RequestKind.ALLOW, viewer_id, 0, words=hashed))


# ── bans ──────────────────────────────────────────────────────────────────────────────────────


async def ban(tx: Transaction, banned: Mapping[str, int]) -> None:
    """Hide everything that is known of people whom the channel banned: when (ms), by their ids."""
    sql = "SELECT id FROM viewers WHERE id IN (SELECT value FROM json_each(?))"
    known = await tx.column(sql, (banned.keys(),))
    if not known:
        return
    await write_request(tx, *(tx.requests.of(RequestKind.BAN, one, banned[one]) for one in known))
    for viewer_id in known:
        await viewers.set_banned(tx, viewer_id, banned[viewer_id])


async def banned(source: Source) -> dict[str, int]:
    """Since when people are banned (ms), by their ids."""
    return await source.pairs("SELECT id, banned_at FROM viewers WHERE banned_at IS NOT NULL")


async def lift_bans(tx: Transaction, last_lines: Mapping[str, int]) -> None:
    """Write down whose ban was lifted: they wrote after it. `last_lines`: when they last did (ms), by their ids."""
    free = []
    for viewer_id, at in last_lines.items():
        banned_at = tx.requests.banned_at(viewer_id)
        if banned_at is not None and at > banned_at:
            free.append(tx.requests.of(RequestKind.UNBAN, viewer_id, at))
    if free:
        await write_request(tx, *free)


async def ban_again(tx: Transaction, viewer_id: str, at: int) -> int:
    """Hide somebody of whose ban an older copy does not know; how many were hidden."""
    return await tx.execute(
        "UPDATE viewers SET banned_at = ? WHERE id = ? AND banned_at IS NULL", (at, viewer_id)
    )


async def unban_again(tx: Transaction, viewer_id: str) -> int:
    """Show somebody again of whose lifted ban an older copy does not know, unless they asked to be erased."""
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
    number = await asyncio.to_thread(tx.requests.add, *requests)
    if await carried_out(tx) == number - len(requests):
        await count_carried_out(tx, number)


async def carried_out(source: Source) -> int:
    """How many requests this memory has carried out."""
    return int((await channel_state.read(source, CARRIED_OUT)).partition(" ")[0] or 0)


async def count_carried_out(tx: Transaction, number: int) -> None:
    """Note that the first so many requests were carried out."""
    await channel_state.put(tx, {CARRIED_OUT: f"{number} {tx.requests.mark()}"}, 0)


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
# Columns with somebody's id, which are told only where it is their own, and with a path of the streamer's.
_ONLY_THEIRS = {
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
    """What is held about somebody, by kind, `person` first. Times in ms; people in texts as `<@id>`."""

    def told(row: Row) -> dict[str, object]:
        kept = {
            key: value
            for key, value in dict(row).items()
            if key not in _ONLY_THEIRS or value == viewer_id
        }
        return {
            key: read_reason(str(kept[key])) if key in {"cause", "reason"} else kept[key]
            for key in kept
        }

    found = {
        name: await db.rows(f"SELECT * FROM {where} ORDER BY 1", (viewer_id,))
        for name, where in EXPORT_PARTS.items()
    }
    return {name: [told(row) for row in rows] for name, rows in found.items()}


class TracedText(NamedTuple):
    """A text that may say a fact, with its table and row. `own`: said by its subject, or by the bot."""

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
_QUOTED = "instr(text, '#' || :note || ' ') OR id IN (SELECT value FROM json_each(:replies))"
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
    tx: Transaction, note_id: int, subject_id: str, words: Collection[str]
) -> list[TracedText]:
    """The texts in which one of a fact's words (stems) stands.

    Its evidence and what else was written about its subject; what they said in the last hours, what the bot said to
    them, and what those others said on whose word the note rests.
    """
    found: list[TracedText] = []
    # a stem may end otherwise than the word: "stori" stands in no "story", and "stor" does
    parts = [word[: max(3, len(word) - 1)] for word in words]
    replies = [
        reply_id for reply_id, _at in await bot_messages.prompted_with_note(tx, note_id, limit=-1)
    ]
    values = {"note": note_id, "subject": subject_id, "replies": replies, "parts": parts}
    for table, column, own, where in _MAY_SAY:
        near = f"EXISTS (SELECT 1 FROM json_each(:parts) WHERE instr(lower({column}), value))"
        rows = await tx.rows(
            f"SELECT rowid, {column} FROM {table} WHERE {where} AND {near}", values
        )
        found += [TracedText(table, column, own, *row) for row in rows]
    return found


async def texts_mentioning(source: Source, viewer_id: str) -> list[TracedText]:
    """What is remembered, notes aside, and mentions somebody."""
    texts: list[TracedText] = []
    for table, column in (("episodes", "summary"), ("streams", "recap"), ("briefs", "text")):
        sql = f"SELECT rowid, {column} FROM {table} WHERE instr({column}, '<@' || ? || '>')"
        for row_id, text in await source.rows(sql, (viewer_id,)):
            texts.append(TracedText(table, column, False, row_id, text))  # noqa: FBT003
    return texts


def typed_lines(path: Path) -> Iterator[TracedText]:
    """The lines of chat that are kept. Raises StoreError."""
    with separate_reader(path) as own:
        for row_id, text in own.execute("SELECT rowid, text FROM events WHERE text <> ''"):
            yield TracedText("events", "text", False, row_id, text)  # noqa: FBT003


def sent_texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """What the bot said: the row, Twitch's id of the line, the text. Raises StoreError."""
    sql = """
        SELECT id, coalesce(twitch_id, ''), text
        FROM bot_messages
        WHERE text <> ''
    """
    with separate_reader(path) as own:
        yield from own.execute(sql)


async def rewrite_traced(tx: Transaction, text: TracedText, rest: str) -> None:
    """Write what is left of a text. A line of chat was deleted by nobody (redacted at 0): it still gets its answer."""
    also = ", redacted_at = coalesce(redacted_at, 0)" if text.table == "events" else ""
    await tx.execute(
        f"UPDATE {text.table} SET {text.column} = ?{also} WHERE rowid = ?", (rest, text.id)
    )


async def delete_traced_note(tx: Transaction, note_id: int, subject_id: str, at: int) -> None:
    """Delete a note with its evidence and history, and episodes with nothing left to say that held only it."""
    episode_ids = await tx.column(
        "SELECT episode_id FROM note_evidence WHERE note_id = ?", (note_id,)
    )
    await notes.delete_of_subject(tx, subject_id, [note_id])
    await episodes.drop_empty(tx, episode_ids, at)
