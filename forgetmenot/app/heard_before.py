"""Which recordings a memory has heard already: their lines go after a day, and with them the ids that would tell.

Promises that a recording played twice into one memory is stored once, and one that has grown since with what is new
alone. What is kept is a keyed hash over all of a recording's ids: nobody's line or name can be had from it, nor tried.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from forgetmenot.chat.router import Heard
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database

NAME = "recordings"
MOST = 200


async def heard_before(db: Database, items: Sequence[Heard]) -> int:
    """How many of a recording's first items an earlier replay has stored."""
    known = await _marks(db)
    ends = set(known.values())
    found, so_far = 0, hashlib.sha256()
    for count, item in enumerate(items, 1):
        _add(so_far, item)
        if count in ends and known.get(_name(db, so_far)) == count:
            found = count
    return found


async def mark(db: Database, items: Sequence[Heard], now: int) -> None:
    """Note that these items are stored."""
    so_far = hashlib.sha256()
    for item in items:
        _add(so_far, item)
    known = await _marks(db)
    name = _name(db, so_far)
    known.pop(name, None)
    kept = [*known.items(), (name, len(items))][-MOST:]
    async with db.write() as tx:
        await channel_state.put(tx, {NAME: msgspec.json.encode(dict(kept)).decode()}, now)


async def _marks(db: Database) -> dict[str, int]:
    """How many items each known hash is of, the oldest first."""
    text = await channel_state.read(db, NAME)
    return msgspec.json.decode(text, type=dict[str, int]) if text else {}


def _name(db: Database, so_far: "hashlib._Hash") -> str:
    return db.key.digest("recording", so_far.hexdigest())


def _add(so_far: "hashlib._Hash", item: Heard) -> None:
    told = item.id if isinstance(item, ChatEvent) else type(item).__name__
    so_far.update(told.encode("utf-8", "surrogatepass") + b"\n")
