"""The channel's state and switches, as texts by name, which survive a restart; and which memory file is a channel's.

Names in use: `id`, `login`, `title`, `category`, `live` ("1" or "0"), `started_at`, `paused`, `quiet_until`,
`safe_mode`, `bot_id`, `bot_login`, `digest`, `digest_of`, `noticed_stream`,
`wipe_due`, `privacy_requests` (store/database),
`gaps` (in what was heard, since the start), `gap_from`, `gap_to`, `gap_reason` (the last one; times in ms).
A name that was never set is an empty text.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from forgetmenot.errors import StoreError, TwitchRefused
from forgetmenot.files import may_be_ours
from forgetmenot.store.database import (
    Database,
    Source,
    Transaction,
    connected,
    separate_reader,
)

# Set while bytes of what was deleted may be left: privacy/erasure rebuilds the file.
WIPE_DUE = "wipe_due"


async def read(source: Source, name: str) -> str:
    """Return the value of a name; "" if it was never set."""
    return (
        await source.value("SELECT value FROM channel_state WHERE name = ?", (name,))
        or ""
    )


async def read_all(source: Source) -> dict[str, str]:
    """Return the values of all names that were set."""
    return await source.pairs("SELECT name, value FROM channel_state")


async def value_since(
    source: Source,
    name: str,
    value: str,
) -> int | None:
    """Return since when a name has this value (ms); None if it has another one."""
    at: int | None = await source.value(
        "SELECT updated_at FROM channel_state WHERE name = ? AND value = ?",
        (name, value),
    )
    return at


async def put(
    tx: Transaction,
    values: Mapping[str, str],
    now: int,
) -> None:
    """Set names; `updated_at` changes only where the value did."""
    await tx.many(
        """
        INSERT INTO channel_state (name, value, updated_at)
        VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
        WHERE value != excluded.value
        """,
        [(name, value, now) for name, value in values.items()],
    )


# Which memory file belongs to which channel, by Twitch id, so that two channels never mix. The first channel whose chat
# is read owns the file permanently; another gets its own file in the same folder; a renamed channel keeps its file.


class Owner(NamedTuple):
    """The channel that owns a file: its id and last login. Both are empty if no channel owns it yet."""

    id: str = ""
    login: str = ""


def file_for(default: Path, channel: str) -> Path:
    """Return the memory file of a channel: `default` if it is that channel's or has no owner, else one beside it."""
    login = channel.casefold().lstrip("#")
    owner = owner_of(default)
    # a file without Twitch's id of its channel is nobody's yet
    if not login or not owner.id or owner.login == login:
        return default
    for file in _files_beside(default):
        if owner_of(file).login == login:
            return file
    return default.with_name(f"{default.stem}-{login}{default.suffix}")


async def claim(
    db: Database,
    room_id: str,
    channel: str,
    now: int,
) -> None:
    """Record that this file belongs to the channel that is read now.

    Raises TwitchRefused if it is another channel's, or if the channel has a memory under a former name: that file is
    then noted under the new name, and `file_for` gives it from now on.
    """
    login = channel.casefold().lstrip("#")
    owner_id = await read(db, "id")
    if owner_id not in {"", room_id}:
        raise TwitchRefused(
            f"{db.path} is the memory of another channel. Use another file with --db, or leave --db out."
        )
    # A file that has the channel's id needs no search: it opens every memory of the folder.
    former = None if owner_id else _other_file_of(room_id, db.path)
    if former is None:
        async with db.write() as tx:
            await put(tx, {"id": room_id, "login": login}, now)
        return
    async with db.write() as tx:
        # This file gives up the name first: if the rest fails, no two files have it, and the next
        # start tries again.
        await put(tx, {"login": ""}, now)
    former_login = owner_of(former).login
    with connected(former, "rw") as connection:
        renamed = (
            "UPDATE channel_state SET value = ?, updated_at = ? WHERE name = 'login'"
        )
        connection.execute(renamed, (login, now))
    raise TwitchRefused(
        f"This channel was called {former_login} before, and {former} is its memory. Restart the bot to use it."
    )


def _other_file_of(room_id: str, path: Path) -> Path | None:
    """Return another file beside `path` that belongs to the channel; None if there is none."""
    for file in _files_beside(path):
        if file != path and owner_of(file).id == room_id:
            return file
    return None


def owner_of(file: Path) -> Owner:
    """Return the owner of a file; an empty one if the file cannot be read or is no memory of ours."""
    sql = "SELECT name, value FROM channel_state WHERE name IN ('id', 'login')"
    with contextlib.suppress(OSError, StoreError):
        # SQLite would open, and lock, any file that it is pointed to.
        if file.is_file() and may_be_ours(file):
            with separate_reader(file) as connection:
                rows = connection.execute(sql).fetchall()
                return Owner(**dict(rows))
    return Owner()


def _files_beside(file: Path) -> list[Path]:
    """Return the files in the same folder with the same ending, this one among them."""
    return sorted(file.parent.glob(f"*{file.suffix}"))
