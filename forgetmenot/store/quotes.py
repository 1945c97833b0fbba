"""Quotes: lines of chat that a moderator asked to keep, permanently, with who said them and when.

A quote goes with its author, with its line (triggers of the schema), or when it is removed; whoever opted out or is
banned is in no list.
"""

from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct

from forgetmenot.store import bot_messages, channel_state, privacy_choices
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Source, Transaction, row_as
from forgetmenot.store.privacy_requests import PrivacyRequest, RequestKind


class NewQuote(NamedTuple):
    """A line to keep. `line`: Twitch's id of the message; `by_id`: who asked for it."""

    viewer_id: str
    text: str
    line: str
    stream_id: int | None
    said_at: int
    by_id: str | None


class Quote(Struct, frozen=True):
    """A kept line. `text` names people as `<@id>`; `said_at` in ms."""

    id: int
    viewer_id: str
    text: str
    line: str
    stream_id: int | None
    said_at: int
    by_id: str | None


async def add(tx: Transaction, quote: NewQuote) -> int:
    """Keep a line and return the quote's number; of a line that is kept already, the number that it has."""
    await tx.execute(
        """
        INSERT INTO quotes (viewer_id, text, line, stream_id, said_at, by_id)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (line) DO NOTHING
        """,
        quote,
    )
    # Not the last row's id: where the line is a quote already, none was added.
    return int(await tx.value("SELECT id FROM quotes WHERE line = ?", (quote.line,)))


async def shown(source: Source) -> list[Quote]:
    """Return the quotes of everybody who may be shown, oldest first."""
    rows = await source.rows(
        """
        SELECT q.*
        FROM quotes q
        JOIN shown v ON v.id = q.viewer_id
        ORDER BY q.said_at, q.id
        """
    )
    return [row_as(row, Quote) for row in rows]


async def get(source: Source, quote_id: int) -> Quote | None:
    """Return a quote by its number; None if there is none."""
    row = await source.row("SELECT * FROM quotes WHERE id = ?", (quote_id,))
    return None if row is None else row_as(row, Quote)


async def newest_of(source: Source, viewer_id: str) -> Quote | None:
    """Return the quote of a viewer that was kept last; None if there is none."""
    number = await source.value(
        "SELECT max(id) FROM quotes WHERE viewer_id = ?", (viewer_id,)
    )
    return None if number is None else await get(source, number)


async def remove(
    tx: Transaction,
    quote: Quote,
    now: int,
) -> None:
    """Remove a quote and what the bot said of it, also from every older copy that is restored. Raises StoreError.

    A copy has no replies.
    """
    # Written first, so that a backup that still has the quote loses it when it is restored.
    words = (_key(tx, quote.viewer_id, quote.line),)
    request = tx.requests.of(RequestKind.UNQUOTE, quote.viewer_id, now, words=words)
    await privacy_choices.write_request(tx, request)
    await bot_messages.clear_quote(tx, quote.id, now)
    await _delete(tx, [quote.id])
    await channel_state.put(tx, {WIPE_DUE: "1"}, now)


async def remove_again(
    tx: Transaction,
    request: PrivacyRequest,
    viewer_id: str,
) -> int:
    """Remove from an older copy a quote that was removed since, and return how many that were."""
    lines = await tx.pairs(
        "SELECT id, line FROM quotes WHERE viewer_id = ?", (viewer_id,)
    )
    removed_ids = []
    for quote_id, line in lines.items():
        # By the hash of its line, since a quote's number may be another's in this copy.
        if _key(tx, viewer_id, line) in request.words:
            removed_ids.append(quote_id)
    return await _delete(tx, removed_ids)


def _key(
    source: Source,
    viewer_id: str,
    line: str,
) -> str:
    """Return the keyed hash by which a request names a quote: in an older copy its number may be another's."""
    return source.requests.digest("quote", viewer_id, line)


async def _delete(tx: Transaction, quote_ids: Collection[int]) -> int:
    return await tx.execute(
        "DELETE FROM quotes WHERE id IN (SELECT value FROM json_each(?))", (quote_ids,)
    )
