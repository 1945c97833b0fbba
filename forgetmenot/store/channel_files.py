"""Assigns memory files to channels by Twitch id, so that two channels never mix.

The first channel whose chat is read owns the file permanently; another channel gets its own file in the same folder; a
renamed channel keeps its file.
"""

import contextlib
import sqlite3
from pathlib import Path
from typing import NamedTuple

from forgetmenot.errors import TwitchRefused
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database
from forgetmenot.store.file_safety import may_be_ours


class Owner(NamedTuple):
    """The channel that owns a file: its id and last login. Both are empty if no channel owns it yet."""

    id: str = ""
    login: str = ""


def file_for(default: Path, channel: str) -> Path:
    """The memory file of a channel: `default` if it is that channel's or has no owner, else one beside it."""
    channel = channel.casefold().lstrip("#")
    if not channel or owner_of(default).login in {"", channel}:
        return default
    named = [file for file in _beside(default) if owner_of(file).login == channel]
    return next(iter(named), default.with_name(f"{default.stem}-{channel}{default.suffix}"))


async def claim(db: Database, room_id: str, channel: str, now: int) -> None:
    """Record that this file belongs to the channel that is read now.

    Raises TwitchRefused if it is another channel's, or if the channel has a memory under a former name: that file is
    then noted under the new name, and `file_for` gives it from now on.
    """
    channel = channel.casefold().lstrip("#")
    known = await channel_state.read(db, "id")
    if known == room_id:
        async with db.write() as tx:
            await channel_state.put(tx, {"login": channel}, now)
        return
    if known:
        raise TwitchRefused(
            f"{db.path} is the memory of another channel. Use another file with --db, or leave --db out."
        )
    former = next((file for file in _beside(db.path) if file != db.path and owner_of(file).id == room_id), None)
    if former is not None:
        was = owner_of(former).login
        _rename(former, channel, now)
        async with db.write() as tx:
            await channel_state.clear(tx, "login")
        raise TwitchRefused(
            f"This channel was called {was} before, and {former} is its memory. Restart the bot to use it."
        )
    async with db.write() as tx:
        await channel_state.put(tx, {"id": room_id, "login": channel}, now)


def owner_of(file: Path) -> Owner:
    """The owner of a file, as far as it can be read. Read-only."""
    with contextlib.suppress(OSError, sqlite3.Error):
        if file.is_file() and may_be_ours(file):
            with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as reading:
                rows = reading.execute("SELECT name, value FROM channel_state WHERE name IN ('id', 'login')")
                return Owner(**dict(rows.fetchall()))
    return Owner()


def _beside(file: Path) -> list[Path]:
    return sorted(file.parent.glob(f"*{file.suffix}"))


def _rename(file: Path, channel: str, now: int) -> None:
    with contextlib.closing(sqlite3.connect(file, timeout=5)) as writing, writing:
        writing.execute("UPDATE channel_state SET value = ?, updated_at = ? WHERE name = 'login'", (channel, now))
