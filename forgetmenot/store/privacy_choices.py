"""Marks what was decided about people's data, in the rows of the memory.

Viewers ask to be erased or opt out; the channel bans and lifts bans. Each decision is first written as a request into
the file of store/privacy_requests; the memory counts how many of them it has carried out.
"""

import asyncio
from collections.abc import Collection, Mapping

from forgetmenot.durations import DAY
from forgetmenot.store import channel_state, episodes, viewers
from forgetmenot.store.database import CARRIED_OUT, Database, Source, Transaction
from forgetmenot.store.events import Clear
from forgetmenot.store.personal_data import names_of
from forgetmenot.store.privacy_requests import (
    OptedOut,
    PrivacyRequest,
    RequestKind,
)
from forgetmenot.text.mentions import provisional_id

# How long a banned viewer is hidden before they are erased (ms).
BANNED_FOR = 7 * DAY


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
    # Hidden at once: nothing of them is used while the erasure takes its seconds.
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


# Asked each minute: `> 0` and `+` have SQLite look into two small indexes. Else it reads every viewer.
_DUE = """
    SELECT id
    FROM viewers
    WHERE erase_at > 0 OR banned_at <= ?
    ORDER BY +id
"""


async def erasures_due(source: Source, now: int) -> list[str]:
    """Return the ids of viewers whose erasure is not finished, or who were banned seven days ago."""
    return await source.column(_DUE, (now - BANNED_FOR,))


# ── opting out ────────────────────────────────────────────────────────────────────────


async def opted_out(source: Source) -> OptedOut:
    """Return the viewers who opted out; somebody known only by login is `login:alice`."""
    source.requests.refresh()
    ids = await source.column("SELECT id FROM viewers WHERE opted_out_at IS NOT NULL")
    return OptedOut(ids, source.requests)


async def leaves_nothing(source: Database, viewer_id: str) -> bool:
    """Return whether nothing of a viewer is stored, requests included: they opted out, or are banned."""
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
    # What moderators did to them is remembered without them: the id of such an event names its target too.
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


# ── what somebody asks to be called ───────────────────────────────────────────────────


async def set_wishes(
    tx: Transaction,
    viewer_id: str,
    words: Mapping[str, str],
    now: int,
) -> None:
    """Store how somebody asks to be called (`viewers.set_wishes`). Raises StoreError.

    What they asked for before is written as a request, so that no older copy brings it back.
    """
    stored_words = await viewers.wishes_of(tx, viewer_id)
    dropped = []
    for column, new_word in words.items():
        word = stored_words.get(column, "")
        # The same word again takes nothing back.
        if word not in {"", new_word}:
            dropped.append(_wish_key(tx, viewer_id, column, word))
    if dropped:
        request = tx.requests.of(
            RequestKind.UNCALL, viewer_id, now, words=tuple(dropped)
        )
        await write_request(tx, request)
    await viewers.set_wishes(tx, viewer_id, words, now)


async def take_off_wishes(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Take off in an older copy what somebody asked to be called no more; return 1 if that was there."""
    stored_words = await viewers.wishes_of(tx, viewer_id, until=request.at)
    taken_off = {}
    for column, word in stored_words.items():
        if _wish_key(tx, viewer_id, column, word) in request.words:
            taken_off[column] = ""
    if not taken_off:
        return 0
    await viewers.set_wishes(tx, viewer_id, taken_off, request.at)
    return 1


def _wish_key(
    source: Source,
    viewer_id: str,
    column: str,
    word: str,
) -> str:
    """Return the keyed hash by which a request names a chosen name or pronouns."""
    return source.requests.digest("wish", viewer_id, column, word)


# ── bans ──────────────────────────────────────────────────────────────────────────────


async def ban(tx: Transaction, banned: Mapping[str, int]) -> None:
    """Hide the viewers whom the channel banned. `banned`: when each was (ms), by id. Raises StoreError."""
    # Only who is stored: of others there is nothing to hide, and each request is a line that stays.
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


# ── requests, and the count of those carried out ──────────────────────────────────────


async def write_request(tx: Transaction, *requests: PrivacyRequest) -> None:
    """Write requests that this transaction carries out. Raises StoreError."""
    # In a thread: it waits for another process's lock, and for the disk.
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
