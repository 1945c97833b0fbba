"""Who asked that nothing of them be stored: by id, or, once they were erased, by a keyed hash that names nobody."""

from collections.abc import Collection, Iterator

from forgetmenot.store import events, privacy_log, viewers
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.events import Clear
from forgetmenot.store.privacy_log import HashKey, PrivacyRequest, PrivacyRequestKind

Source = Database | Transaction


class OptedOut(Collection[str]):
    """Everybody of whom nothing may be stored. Iterating gives the ids that are known; `in` knows the others too."""

    def __init__(self, ids: Collection[str], hashes: Collection[str], key: HashKey) -> None:
        self._ids = frozenset(ids)
        self._hashes = frozenset(hashes)
        self._key = key

    def __contains__(self, viewer_id: object) -> bool:
        if viewer_id in self._ids:
            return True
        return bool(self._hashes) and self._key.digest("viewer", str(viewer_id)) in self._hashes

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids) + len(self._hashes)


async def opted_out(source: Source) -> OptedOut:
    """Everybody of whom nothing may be stored; provisional ids are `login:alice`."""
    ids = await source.column("SELECT id FROM viewers WHERE opted_out_at IS NOT NULL")
    hashes = await source.column("SELECT hash FROM opted_out_unknown")
    return OptedOut({*ids, *source.pending_opt_outs}, hashes, source.key)


async def leaves_nothing(source: Database, viewer_id: str) -> bool:
    """Whether nothing is to be stored of what somebody asks the bot and what it answers them: opted out, or banned."""
    return viewer_id in await opted_out(source) or bool(await viewers.hidden(source, [viewer_id]))


async def opt_out(tx: Transaction, viewer_id: str, now: int) -> None:
    """From now on nothing of somebody is stored; what they said lately leaves tier 1 and the summaries.

    All of it, also where their lines, which carry Twitch's time, are ahead of `now`.
    """
    await tx.execute(
        "INSERT INTO viewers (id, first_seen_at, last_seen_at, opted_out_at) VALUES (?1, ?2, ?2, ?2)"
        " ON CONFLICT (id) DO UPDATE SET opted_out_at = coalesce(opted_out_at, ?2)",
        (viewer_id, now),
    )
    await privacy_log.note(tx, [PrivacyRequest(PrivacyRequestKind.OPTED_OUT, tx.key.digest("viewer", viewer_id), now)])
    last = await tx.value("SELECT max(at) FROM events WHERE viewer_id = ?", (viewer_id,))
    await events.clear(tx, Clear(max(now, last or now), viewer_id=viewer_id, remembered=False), now)


async def opt_in(tx: Transaction, viewer_id: str) -> bool:
    """Take that back; False if they had not opted out."""
    known = await tx.execute(
        "UPDATE viewers SET opted_out_at = NULL WHERE id = ? AND opted_out_at IS NOT NULL", (viewer_id,)
    )
    digest = tx.key.digest("viewer", viewer_id)
    known += await tx.execute("DELETE FROM opted_out_unknown WHERE hash = ?", (digest,))
    if known:
        await privacy_log.note(tx, [PrivacyRequest(PrivacyRequestKind.OPTED_IN, digest)])
    return known > 0


async def opt_out_unknown(tx: Transaction, digest: str, now: int) -> None:
    """Store nothing of whoever has this hash."""
    await tx.execute("INSERT INTO opted_out_unknown (hash, at) VALUES (?, ?) ON CONFLICT DO NOTHING", (digest, now))


async def opt_in_unknown(tx: Transaction, digest: str) -> None:
    """Take that back; no effect where nobody has this hash."""
    await tx.execute("DELETE FROM opted_out_unknown WHERE hash = ?", (digest,))


async def note_again(tx: Transaction) -> int:
    """Write the opt-outs of the people in the memory to a list that was begun anew; how many."""
    held = await tx.pairs("SELECT id, opted_out_at FROM viewers WHERE opted_out_at IS NOT NULL ORDER BY id")
    out = PrivacyRequestKind.OPTED_OUT
    await privacy_log.note(tx, [PrivacyRequest(out, tx.key.digest("viewer", who), at) for who, at in held.items()])
    return len(held)
