"""Tracks streams: which one a line belongs to, when one begins and ends.

Where Twitch or OBS says whether the channel is live, that decides: an interruption shorter than OFFLINE_AT_LEAST is
the same stream, and what is said while the channel is known to be offline belongs to none. Where nobody says it, a gap
in chat does. A report that it is off need not come twice: the stream ends when the time has passed.
"""

from collections.abc import Mapping

from msgspec import Struct

from forgetmenot.domain import STREAM_GAP, ChannelState, ChatEvent, EventKind
from forgetmenot.durations import MINUTE
from forgetmenot.logs import log
from forgetmenot.store import figures, streams
from forgetmenot.store.database import Database, Transaction
from forgetmenot.text.clean import clean

# A stream that is offline for less goes on: Twitch reports short drops as an end.
OFFLINE_AT_LEAST = 10 * MINUTE


class _Open(Struct):
    """The stream that is on. `seen_live_at`: when it was last reported live, if it ever was in this run."""

    id: int
    last_event_at: int
    twitch_id: str | None
    seen_live_at: int | None = None


class StreamTracker:
    """Which stream is on. One per database. It is read where it is changed: a write may fail, or wait for another."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # since when the channel is reported off (ms); None while it is live, or nobody has reported
        self._off_since: int | None = None
        self._seen_live: dict[int, int] = {}  # by stream, which no table has

    async def _on(self, tx: Transaction) -> _Open | None:
        row = await streams.current(tx)
        if row is None:
            return None
        return _Open(
            row["id"], row["last_event_at"], row["twitch_id"], self._seen_live.get(row["id"])
        )

    async def place(self, tx: Transaction, first_at: int, last_at: int) -> int | None:
        """The stream of lines said between these times, opened if need be; None while the channel is offline."""
        stream = await self._still_on(tx, first_at)
        # a stream that Helix has named ends when Helix says so, however long chat is silent
        if stream and stream.twitch_id is None and first_at - stream.last_event_at > STREAM_GAP:
            await _close(tx, stream, stream.last_event_at)
            stream = None
        if stream is None and self._off_since is not None:
            return None
        stream_id = stream.id if stream else await streams.begin(tx, first_at)
        await streams.touch(tx, stream_id, last_at)
        return stream_id

    async def live(self, state: ChannelState, now: int) -> None:
        """Take what Twitch or OBS says, at `now` (ms): it opens, names or closes the stream. Raises StoreError."""
        if not state.live:
            await self._off(now)
            return
        began = state.started_at or now
        async with self._db.write() as tx:
            stream = await self._still_on(tx, began)
            if stream and _is_another(stream, state, now):
                await _close(tx, stream, stream.last_event_at)
                stream = None
            # ahead of now where the PC's clock is behind
            stream_id = stream.id if stream else await streams.begin(tx, began)
            # OBS, and an event about the title alone, report no id
            name = state.stream_id or None
            await streams.describe(
                tx, stream_id, twitch_id=name, title=state.title, category=state.category
            )
            await figures.note_title(tx, stream_id, now, title=state.title, game=state.category)
        self._off_since = None
        self._seen_live = {stream_id: now}

    async def _off(self, now: int) -> None:
        if self._off_since is None:
            self._off_since = now
        async with self._db.write() as tx:
            await self._still_on(tx, now)

    async def tick(self, now: int) -> None:
        """Close a stream that has been off for long enough, or that nobody reports on and chat is silent in."""
        async with self._db.write() as tx:
            stream = await self._still_on(tx, now)
            unknown = stream is not None and (
                stream.seen_live_at is None or now - stream.seen_live_at > STREAM_GAP
            )
            if stream is not None and unknown and now - stream.last_event_at > STREAM_GAP:
                await _close(tx, stream, stream.last_event_at)

    async def end_stopped(self, off_since: int, now: int) -> None:
        """At a start: close the stream that an earlier run heard was off since then (ms), if that is long ago."""
        async with self._db.write() as tx:
            stream = await streams.current(tx)
            if stream is None or stream["started_at"] > off_since:
                return
            ended_at = min(stream["last_event_at"], off_since)
            if now - off_since >= OFFLINE_AT_LEAST:
                await streams.end(tx, stream["id"], ended_at)

    async def _still_on(self, tx: Transaction, at: int) -> _Open | None:
        """The stream that is on at a time (ms); one that was off for long enough by then is closed."""
        stream = await self._on(tx)
        if stream is None or self._off_since is None:
            return stream
        last_live = stream.seen_live_at
        if last_live is None:
            last_live = min(stream.last_event_at, self._off_since)
        if at - last_live < OFFLINE_AT_LEAST:
            return stream
        # it ended when it was last seen live, not when the time had passed
        await _close(tx, stream, last_live)
        return None


def _is_another(stream: _Open, state: ChannelState, now: int) -> bool:
    if stream.twitch_id is None:
        return now - stream.last_event_at > STREAM_GAP
    last = max(stream.last_event_at, stream.seen_live_at or 0)
    # another id alone is not another stream: one that broke off for a moment comes back with a new one
    return (
        stream.twitch_id != state.stream_id and (state.started_at or now) - last > OFFLINE_AT_LEAST
    )


async def _close(tx: Transaction, stream: _Open, at: int) -> None:
    await streams.end(tx, stream.id, at)
    log.info("stream closed", stream=stream.id)


def channel_changes(
    before: Mapping[str, str], after: Mapping[str, str], now: int
) -> list[ChatEvent]:
    """The stream's new game and title as events of the channel. `before`: the names of channel_state.

    A first title or game is none: nothing changed.
    """
    changes = []
    for field, sentence in (
        ("category", "The game changed from {before} to {after}."),
        ("title", "The stream's title changed to “{after}”."),
    ):
        if before.get(field) and after[field] and before[field] != after[field]:
            text = clean(sentence.format(before=before[field], after=after[field]))
            login = before.get("login", "")
            changes.append(
                ChatEvent(
                    f"{field}:{now}",
                    EventKind.STREAM,
                    before["id"],
                    login,
                    login,
                    "",
                    now,
                    system_text=text,
                )
            )
    return changes
