"""Tracks streams: which one a line belongs to, when one begins and ends.

Where Helix says whether the channel is live, that decides: an interruption shorter than the flap is the same stream,
and what is said while the channel is known to be offline belongs to none. Where it does not, a gap in chat does.
"""

from msgspec import Struct

from forgetmenot.clock import HOUR, MINUTE
from forgetmenot.domain import ChannelState
from forgetmenot.logs import log
from forgetmenot.store import streams
from forgetmenot.store.database import Database, Transaction

# A stream that is offline for less goes on: Twitch reports short drops as an end.
OFFLINE_AT_LEAST = 10 * MINUTE
STREAM_GAP = 12 * HOUR  # without chat: then a new stream begins, where Twitch's live state is unknown


class _Open(Struct):
    """The stream that is on. `seen_live_at`: when Helix last said so, if it ever did."""

    id: int
    last_event_at: int
    twitch_id: str | None
    seen_live_at: int | None = None


class StreamTracker:
    """Which stream is on. One per database."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._open: _Open | None = None
        self._offline = False
        self._stale = True  # the one that was on when the program stopped goes on

    def forget(self) -> None:
        """A transaction that asked `place` was rolled back: what is on has to be read again."""
        self._stale = True

    async def _read(self, source: Transaction) -> None:
        row = await streams.open_one(source)
        # no table has when Helix last saw it live
        seen = self._open.seen_live_at if self._open and row and self._open.id == row["id"] else None
        self._open = None if row is None else _Open(row["id"], row["last_event_at"], row["twitch_id"], seen)
        self._stale = False

    async def place(self, tx: Transaction, first_at: int, last_at: int) -> int | None:
        """The stream of lines said between these times, opened if need be; None while the channel is offline."""
        if self._stale:
            await self._read(tx)
        # a stream that Helix has named ends when Helix says so, however long chat is silent
        if self._open and self._open.twitch_id is None and first_at - self._open.last_event_at > STREAM_GAP:
            await self._close(tx, self._open.last_event_at)
        if self._open is None and self._offline:
            return None
        if self._open is None:
            self._open = _Open(await streams.begin(tx, first_at), last_at, None)
        self._open.last_event_at = max(self._open.last_event_at, last_at)
        await streams.touch(tx, self._open.id, last_at)
        return self._open.id

    async def live(self, state: ChannelState, now: int) -> None:
        """Take what Helix says, at `now` (ms): it opens, names or closes the stream. Raises StoreError."""
        self._offline = not state.live
        async with self._db.write() as tx:
            if self._stale:
                await self._read(tx)
            stream = self._open
            if not state.live:
                last_live = (stream.seen_live_at or stream.last_event_at) if stream else now
                # it ended when it was last seen live, not when the flap had passed
                if stream and stream.twitch_id is not None and now - last_live >= OFFLINE_AT_LEAST:
                    await self._close(tx, last_live)
                return
            if stream and self._is_another(stream, state, now):
                await self._close(tx, stream.last_event_at)
            if self._open is None:
                at = state.started_at or now  # ahead of now where the PC's clock is behind
                self._open = _Open(await streams.begin(tx, at), max(at, now), state.stream_id)
            # OBS, and an event about the title alone, report no id
            name = self._open.twitch_id = state.stream_id or self._open.twitch_id or ""
            self._open.seen_live_at = now
            await streams.describe(tx, self._open.id, twitch_id=name, title=state.title, category=state.category)

    async def tick(self, now: int) -> None:
        """Close a stream that nothing was said in for longer than the gap (where Helix does not say it is on)."""
        async with self._db.write() as tx:  # looked at where nobody writes: the next lines may open another one
            if self._stale:
                await self._read(tx)
            stream = self._open
            unknown = stream is not None and (stream.seen_live_at is None or now - stream.seen_live_at > STREAM_GAP)
            if stream is not None and unknown and now - stream.last_event_at > STREAM_GAP:
                await self._close(tx, stream.last_event_at)

    def _is_another(self, stream: _Open, state: ChannelState, now: int) -> bool:
        if stream.twitch_id is None:
            return now - stream.last_event_at > STREAM_GAP
        last = max(stream.last_event_at, stream.seen_live_at or 0)
        # another id alone is not another stream: one that broke off for a moment comes back with a new one
        return stream.twitch_id != state.stream_id and (state.started_at or now) - last > OFFLINE_AT_LEAST

    async def _close(self, tx: Transaction, at: int) -> None:
        if self._open:
            await streams.end(tx, self._open.id, at)
            log.info("stream closed", stream=self._open.id)
        self._open = None
