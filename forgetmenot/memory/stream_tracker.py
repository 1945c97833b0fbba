"""Tracks streams: which one a line belongs to, when one begins and ends.

- Twitch or OBS may report whether the channel is live. After an interruption shorter than OFFLINE_AT_LEAST the stream
  goes on. What is said while the channel is known to be offline belongs to no stream.
- Without such reports a stream ends with a gap in chat.
- One report that the channel is off is enough: the stream ends when OFFLINE_AT_LEAST has passed.
"""

from collections.abc import Mapping

from msgspec import Struct

from forgetmenot.domain import STREAM_GAP, ChannelState, ChatEvent, EventKind
from forgetmenot.durations import MINUTE
from forgetmenot.logs import log
from forgetmenot.store import figures, streams
from forgetmenot.store.database import Database, Transaction
from forgetmenot.text.clean import clean

# A stream goes on after a shorter interruption, because Twitch reports short drops as an end.
OFFLINE_AT_LEAST = 10 * MINUTE


class _OpenStream(Struct):
    """The stream that is on. `seen_live_at`: when it was last reported live (ms), None if never in this run."""

    id: int
    last_event_at: int
    twitch_id: str | None
    seen_live_at: int | None = None


class StreamTracker:
    """Knows which stream is on. One per database.

    The open stream is read from the database each time: a write may fail, or wait for another one.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        # since when the channel is reported off (ms); None while it is live or without a report
        self._off_since: int | None = None
        # when the stream was last reported live (ms), by its id; this is not stored
        self._seen_live: dict[int, int] = {}

    async def _current(self, tx: Transaction) -> _OpenStream | None:
        """Return the open stream of the database; None if there is none."""
        row = await streams.current(tx)
        if row is None:
            return None
        seen_live_at = self._seen_live.get(row["id"])
        return _OpenStream(
            id=row["id"],
            last_event_at=row["last_event_at"],
            twitch_id=row["twitch_id"],
            seen_live_at=seen_live_at,
        )

    async def place(
        self,
        tx: Transaction,
        first_at: int,
        last_at: int,
    ) -> int | None:
        """Return the id of the stream of some lines; begin a stream if none is on. None while the channel is offline.

        `first_at`, `last_at`: when the first and the last of the lines were said (ms).
        """
        stream = await self._still_on(tx, first_at)
        # a stream with an id of Twitch ends when Twitch reports it, however long chat is silent
        if stream is not None and stream.twitch_id is None:
            silence = first_at - stream.last_event_at
            if silence > STREAM_GAP:
                await _close(tx, stream, stream.last_event_at)
                stream = None
        if stream is None and self._off_since is not None:
            return None
        if stream is None:
            stream_id = await streams.begin(tx, first_at)
        else:
            stream_id = stream.id
        await streams.touch(tx, stream_id, last_at)
        return stream_id

    async def live(self, state: ChannelState, now: int) -> None:
        """Take a report of Twitch or OBS: begin, describe or end the stream. `now` in ms. Raises StoreError."""
        if not state.live:
            await self._report_off(now)
            return
        # by Twitch's clock; it is after `now` if this computer's clock is behind
        started_at = state.started_at or now
        async with self._db.write() as tx:
            stream = await self._still_on(tx, started_at)
            if stream is not None and _is_another(stream, state, now):
                await _close(tx, stream, stream.last_event_at)
                stream = None
            if stream is None:
                stream_id = await streams.begin(tx, started_at)
            else:
                stream_id = stream.id
            # OBS, and an event about the title alone, report no id
            twitch_id = state.stream_id or None
            await streams.describe(
                tx,
                stream_id,
                twitch_id=twitch_id,
                title=state.title,
                category=state.category,
            )
            await figures.note_title(
                tx, stream_id, now, title=state.title, game=state.category
            )
        self._off_since = None
        self._seen_live = {stream_id: now}

    async def _report_off(self, now: int) -> None:
        """Take a report that the channel is off. The stream ends once it was off for OFFLINE_AT_LEAST."""
        if self._off_since is None:
            self._off_since = now
        async with self._db.write() as tx:
            await self._still_on(tx, now)

    async def tick(self, now: int) -> None:
        """End a stream that was off for long enough, or one in a silent chat that nobody reports live."""
        async with self._db.write() as tx:
            stream = await self._still_on(tx, now)
            if stream is None or now - stream.last_event_at <= STREAM_GAP:
                return
            seen_live_at = stream.seen_live_at
            if seen_live_at is None or now - seen_live_at > STREAM_GAP:
                await _close(tx, stream, stream.last_event_at)

    async def end_stopped(self, off_since: int, now: int) -> None:
        """At a start, end the stream that an earlier run left open although it was off for OFFLINE_AT_LEAST.

        `off_since`: when that run was told that the channel is off (ms).
        """
        if now - off_since < OFFLINE_AT_LEAST:
            return
        async with self._db.write() as tx:
            stream_row = await streams.current(tx)
            # a stream that began after the report is not the one that went off
            if stream_row is None or stream_row["started_at"] > off_since:
                return
            ended_at = min(stream_row["last_event_at"], off_since)
            await streams.end(tx, stream_row["id"], ended_at)

    async def _still_on(self, tx: Transaction, at: int) -> _OpenStream | None:
        """Return the stream that is on at a time (ms), else None. A stream that was off for long enough is ended."""
        stream = await self._current(tx)
        if stream is None or self._off_since is None:
            return stream
        last_live_at = stream.seen_live_at
        if last_live_at is None:
            # nobody reported it live in this run, so its last line is the last sign of it
            last_live_at = min(stream.last_event_at, self._off_since)
        if at - last_live_at < OFFLINE_AT_LEAST:
            return stream
        # the stream ended when it was last seen live, not OFFLINE_AT_LEAST later
        await _close(tx, stream, last_live_at)
        return None


def _is_another(
    stream: _OpenStream,
    state: ChannelState,
    now: int,
) -> bool:
    """Return whether a report is about another stream than the open one."""
    # without an id, only a long silence before the report shows that it is another stream
    if stream.twitch_id is None:
        return now - stream.last_event_at > STREAM_GAP
    if stream.twitch_id == state.stream_id:
        return False
    # a new id is not enough: a stream that broke off for a moment comes back with a new id
    last_sign_at = max(stream.last_event_at, stream.seen_live_at or 0)
    started_at = state.started_at or now
    return started_at - last_sign_at > OFFLINE_AT_LEAST


async def _close(
    tx: Transaction,
    stream: _OpenStream,
    at: int,
) -> None:
    """End a stream at a time (ms)."""
    await streams.end(tx, stream.id, at)
    log.info("stream closed", stream=stream.id)


_CHANGE_SENTENCES = {
    "category": "The game changed from {before} to {after}.",
    "title": "The stream's title changed to “{after}”.",
}


def channel_changes(
    before: Mapping[str, str],
    after: Mapping[str, str],
    now: int,
) -> list[ChatEvent]:
    """Return the events of a changed game and title. `before`, `after`: the rows of channel_state, by name.

    A value without one before it is no change.
    """
    changes = []
    for name, sentence in _CHANGE_SENTENCES.items():
        old_value = before.get(name)
        new_value = after[name]
        if not old_value or not new_value or old_value == new_value:
            continue
        login = before.get("login", "")
        report = clean(sentence.format(before=old_value, after=new_value))
        event = ChatEvent(
            id=f"{name}:{now}",
            kind=EventKind.STREAM,
            # an event needs a viewer: the streamer stands for the channel here, and said nothing
            user_id=before["id"],
            login=login,
            display_name=login,
            text="",
            at=now,
            system_text=report,
        )
        changes.append(event)
    return changes
