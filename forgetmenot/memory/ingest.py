"""Takes chat lines in; they are on disk within 250 ms.

- `take` returns at once. At most `MAXIMUM_WAITING` lines wait in memory.
- One writer stores batches. Every line is counted in the transaction that stores it, and stored once, by Twitch's id.
- A line that was cleared, before it arrived or after, has no text. Excluded viewers leave nothing.
- If writing fails, the batch stays in the queue and is tried again; `trouble` says so. What still waits at a stop is
  lost, and the log says how many lines. A line that the database never accepts is counted and skipped.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import STREAM_GAP, ChatEvent, EventKind, Redaction, Role
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import StoreError, StoreRefused
from forgetmenot.logs import log
from forgetmenot.memory.moderation import act_of
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.people.exclusion import OPTED_OUT, Exclusion
from forgetmenot.people.standing import role_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    action_logs,
    bot_messages,
    channel_state,
    episodes,
    events,
    figures,
    privacy_choices,
    streams,
    viewers,
)
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.events import Clear, NewEvent
from forgetmenot.store.figures import PlacedLine
from forgetmenot.store.privacy_requests import OptedOut, RequestKind
from forgetmenot.store.viewers import SeenViewer
from forgetmenot.text.chat_commands import asks_for_receipt
from forgetmenot.text.mentions import provisional_id

# A batch of this many lines is written without waiting for more.
BATCH = 500
# How many lines one transaction writes at most, where more have come meanwhile. Each page of an index is written once
# a transaction, so large ones write a third of what transactions of 1,000 lines do; other writes wait up to .15 s.
LINES_PER_TRANSACTION = 4_000
BATCH_WAIT_S = 0.25
RETRY_S = 1.0
# While the disk takes nothing, this many lines wait in memory; further ones are counted and dropped.
MAXIMUM_WAITING = 100_000
# Errors whose cause is one line and not the disk.
UNSTORABLE = (StoreRefused, OverflowError, UnicodeError)
# SQLite takes it, but ends a text of a JSON list there, so that an id is not found again.
_NUL = "\0"
_TEXTS = ("text", "system_text", "display_name", "login", "id", "user_id")
JOKE_TIMEOUT = "timeout"  # as operations/actions names it
# Events that the bot makes itself: they have the streamer's login in the place of their name.
WITHOUT_DISPLAY_NAME = frozenset({EventKind.SPOKEN, EventKind.STREAM})
# Events that name a person without the badges that show a moderator.
WITHOUT_BADGES = frozenset({EventKind.FOLLOW, EventKind.REDEMPTION, EventKind.STREAM})
# How long a clear that overtook its line waits for it: seconds are usual, a reconnection takes minutes.
WAITS_FOR_ITS_LINE = HOUR
# How wrong the clock may be before it is corrected (clock.SystemClock).
UNCORRECTED = 5 * SECOND
# Keys of `Ingest._cleared` beside ids of messages.
_USER = "user:"
_ALL = "all"


class TakenLine(Struct, frozen=True, gc=False):
    """A line on its way to the disk. `addressed`: it speaks to the bot. `from_bot`: the bot wrote it."""

    event: ChatEvent
    addressed: bool = False
    from_bot: bool = False


class SortedLines(Struct, frozen=True):
    """The lines of a batch that may be stored, and how many others there are for which reason.

    `opted_out_by_login`: by login, the ids of people who opted out before they ever wrote here.
    """

    accepted: list[TakenLine]
    counts: Counter[str]
    opted_out_by_login: dict[str, str]


class Ingest:
    """Takes lines in. `run` it as a task, or call `flush` yourself where the clock is not real.

    `trouble`: why chat cannot be stored now; empty while it can.
    """

    def __init__(
        self,
        *,
        db: Database,
        stream_tracker: StreamTracker,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._stream_tracker = stream_tracker
        self._clock = clock
        # the bot's user id, once it has signed in
        self.own_id = ""
        self._settings = settings
        # when (ms) a message, a person's lines or the whole chat were cleared, by _cleared_key. A line of it that
        # arrives later is stored without its text.
        self._cleared: dict[str, int] = {}
        self.trouble = ""
        self._queue: deque[TakenLine | Redaction] = deque()
        # counts that are stored with the next batch
        self._counts: Counter[str] = Counter()
        # how many lines are left to write one by one, to find the one that the database does not accept
        self._one_by_one = 0
        self._wake = asyncio.Event()
        self._batch_full = asyncio.Event()
        self._writing = asyncio.Lock()

    def close(self) -> None:
        """Log how many lines could not be stored and are lost. To be called after the last line."""
        if self._queue:
            log.error(
                "chat that could not be stored is lost",
                lines=len(self._queue),
                reason=self.trouble,
            )

    @property
    def waiting(self) -> int:
        """Return the number of lines that are not on disk yet."""
        return len(self._queue)

    def take(self, item: ChatEvent | Redaction, addressed: bool = False) -> None:  # noqa: FBT001, FBT002  # a fact about the line
        """Queue a line, or a clear: what Twitch took away. `addressed`: the line speaks to the bot."""
        if isinstance(item, Redaction):
            # it came as a line of chat, but becomes no event (store/counts adds the lines up)
            self._counts.update(("lines", "other"))
            self._push(item)
            return
        self._counts["lines"] += 1
        event = storable(item, self._clock.now())
        self._push(TakenLine(event, addressed))

    def note(self, outcome: str, lines: int = 1) -> None:
        """Count lines that are not stored. `outcome`: the name of the count, `other_room`, `unparsed` or `other`."""
        self._counts["lines"] += lines
        self._counts[outcome] += lines
        self._wake.set()

    def note_own_line(
        self,
        text: str,
        *,
        event_id: str,
        at: int,
        login: str = "",
        user_id: str = "",
    ) -> None:
        """Queue what the bot itself wrote, as context for summaries.

        Twitch sends it back as a line of chat, which is dropped by its user id. `login` and `user_id`: the bot's, if
        known.
        """
        bot_id = user_id or self.own_id or "bot"
        name = login or bot_id
        event = ChatEvent(event_id, EventKind.MESSAGE, bot_id, name, name, text, at)
        self._counts["lines"] += 1
        event = storable(event, self._clock.now())
        self._push(TakenLine(event, from_bot=True))

    def _push(self, item: TakenLine | Redaction) -> None:
        """Put a line or a clear into the queue. A line is dropped and counted if the queue is full."""
        # a clear is never dropped, because the message that it deletes would stay in the memory
        if len(self._queue) >= MAXIMUM_WAITING and isinstance(item, TakenLine):
            self._counts.update(("excluded", "excluded_no_room"))
            return
        self._queue.append(item)
        self._wake.set()
        if len(self._queue) >= BATCH:
            self._batch_full.set()

    async def run(self) -> None:
        """Write batches until cancelled, then write the rest if the disk accepts it."""
        try:
            while True:
                await self._wake.wait()
                # waiting lets more lines into the batch, but no line may wait longer than this
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(BATCH_WAIT_S):
                        await self._batch_full.wait()
                await self._write_or_wait()
        finally:
            await self._write_or_wait(patiently=False)

    async def _write_or_wait(self, *, patiently: bool = True) -> None:
        """Store everything in the queue. If the disk refuses, wait RETRY_S, unless `patiently` is False."""
        try:
            await self.flush()
        except StoreError:  # flush has set `trouble`
            if patiently:
                await asyncio.sleep(RETRY_S)

    async def flush(self) -> None:
        """Store everything in the queue. Raises StoreError; the queue keeps its lines then."""
        # the task, a correction by voice and a stop may all flush at the same time
        async with self._writing:
            self._wake.clear()
            self._batch_full.clear()
            while self._queue or self._counts:
                await self._write_batch()

    async def _write_batch(self) -> None:
        """Write the first lines of the queue, and remove them from it. Raises StoreError."""
        limit = 1 if self._one_by_one else LINES_PER_TRANSACTION
        batch = list(islice(self._queue, limit))
        counts = self._counts
        self._counts = Counter()
        try:
            async with self._db.write() as tx:
                await self._store(tx, batch, counts)
        # BaseException, because a write can be cancelled: its lines stay in the queue too
        except BaseException as error:
            self._counts.update(counts)
            self._wake.set()
            if not isinstance(error, UNSTORABLE) or not batch:
                self._report_trouble(error)
                raise
            if len(batch) > 1:
                # the error does not say which line it is, so each of them is written by itself
                self._one_by_one = len(batch)
                return
            self._skip(batch[0], error)
        for _ in batch:
            self._queue.popleft()
        self._one_by_one = max(0, self._one_by_one - 1)
        self.trouble = ""

    def _report_trouble(self, error: BaseException) -> None:
        """Set `trouble` to the reason why nothing can be stored, and log it the first time."""
        # other errors come of a stop, which is no trouble
        if not isinstance(error, StoreError):
            return
        if not self.trouble:
            log.warning(
                "chat cannot be stored, it waits in memory",
                reason=str(error),
                waiting=len(self._queue),
            )
        self.trouble = str(error)

    def _skip(self, item: TakenLine | Redaction, error: Exception) -> None:
        """Log and count a line that the database does not accept."""
        log.error("a line cannot be stored and is left out", error=type(error).__name__)
        # a clear was counted when it was taken
        if isinstance(item, TakenLine):
            self._counts.update(("excluded", "excluded_unstorable"))

    async def _store(
        self,
        tx: Transaction,
        batch: Sequence[TakenLine | Redaction],
        queue_counts: Counter[str],
    ) -> None:
        """Write a batch of lines and clears. `queue_counts`: what was counted when they were queued."""
        counts: Counter[str] = Counter()
        now = self._clock.now()
        redactions = await self._redactions(tx, batch, now)
        # before the lines are written, because a clear may come before its line in the same batch
        self._remember_cleared(redactions, now)
        opted_out = await privacy_choices.opted_out(tx)
        taken_lines = [item for item in batch if isinstance(item, TakenLine)]
        # in the writer's thread, because this many lines would hold the event loop
        sorted_lines = await tx.together(
            lambda _part: self._not_excluded(taken_lines, opted_out)
        )
        counts.update(sorted_lines.counts)
        if sorted_lines.opted_out_by_login:
            await self._opt_out_by_id(tx, sorted_lines.opted_out_by_login, opted_out)
        lines = sorted_lines.accepted
        if lines:
            seen_viewers = await tx.together(
                lambda part: self._store_lines(part, lines, counts)
            )
            # whoever was banned and writes again has been unbanned
            last_lines = {person.id: person.last_at for person in seen_viewers}
            await privacy_choices.lift_bans(tx, last_lines)
        for redaction in redactions:
            clear = Clear(redaction.at, redaction.event_id, redaction.user_id)
            await episodes.clear(tx, clear, now)
        await privacy_choices.ban(tx, _banned(redactions))
        await self._store_moderation(tx, redactions, opted_out, counts)
        counts.update(queue_counts)
        await add_counts(tx, counts)

    async def _redactions(
        self,
        tx: Transaction,
        batch: Sequence[TakenLine | Redaction],
        now: int,
    ) -> list[Redaction]:
        """Return the clears of a batch, without timeouts that the bot gave because somebody asked it to."""
        redactions = []
        for redaction in await _dated_redactions(tx, batch, now):
            if not await _is_own_joke(tx, redaction):
                redactions.append(redaction)
        return redactions

    def _remember_cleared(self, redactions: Sequence[Redaction], now: int) -> None:
        """Remember what was cleared for lines that are still to come, for WAITS_FOR_ITS_LINE."""
        oldest_at = now - WAITS_FOR_ITS_LINE
        self._cleared = {
            key: at for key, at in self._cleared.items() if at >= oldest_at
        }
        for redaction in redactions:
            key = _cleared_key(redaction)
            self._cleared[key] = max(redaction.at, self._cleared.get(key, 0))

    async def _not_excluded(
        self, lines: Sequence[TakenLine], opted_out: OptedOut
    ) -> SortedLines:
        """Return the lines that may be stored, and count the others by reason.

        A line is excluded by a setting, or because its author opted out.
        """
        rules = Exclusion(self._settings().memory, opted_out, self.own_id)
        # cached, because most people in a large batch wrote several of its lines
        reason_of = lru_cache(maxsize=None)(rules.of_line_by)
        accepted_lines: list[TakenLine] = []
        counts: Counter[str] = Counter()
        opted_out_by_login: dict[str, str] = {}
        for line in lines:
            event = line.event
            reason = None
            if not line.from_bot:
                reason = reason_of(event.user_id, event.login, event.badges)
            # whoever asks whether they were forgotten must not be stored again for asking
            if reason is None and asks_for_receipt(event.text):
                reason = "receipt"
            if reason is None:
                accepted_lines.append(line)
                continue
            counts.update(("excluded", f"excluded_{reason}"))
            # their login is on the list of those who opted out, but not yet their id
            is_by_login = reason == OPTED_OUT and event.user_id not in rules.opted_out
            if is_by_login:
                opted_out_by_login[event.login] = event.user_id
        return SortedLines(accepted_lines, counts, opted_out_by_login)

    async def _opt_out_by_id(
        self,
        tx: Transaction,
        viewer_ids: dict[str, str],
        opted_out: OptedOut,
    ) -> None:
        """Store the ids of people who opted out before they ever wrote here: until now only their login was known.

        `viewer_ids`: by login. `opted_out`: the list from before this.
        """
        now = self._clock.now()
        await viewers.join_provisional(tx, viewer_ids)
        for login, viewer_id in viewer_ids.items():
            if provisional_id(login) in opted_out.ids:
                await privacy_choices.opt_out(tx, viewer_id, now)
            else:
                # They were erased since. Only a hash of them is stored, so they get no row in the table of viewers.
                request = tx.requests.of(RequestKind.OPT_OUT, viewer_id, now)
                await privacy_choices.write_request(tx, request)

    async def _store_moderation(
        self,
        tx: Transaction,
        redactions: Sequence[Redaction],
        opted_out: OptedOut,
        counts: Counter[str],
    ) -> None:
        """Store what moderators did as events of the channel: chat does not show which moderator did it.

        The event has the id of the person they did it to, if that person was seen here and did not opt out.
        """
        channel = await channel_state.read_all(tx)
        channel_id = channel.get("id", "")
        if not redactions or not channel_id:
            return
        target_ids = await _target_ids(tx, redactions)
        seen_here = await viewers.may_be_stored(tx, set(filter(None, target_ids)))
        stream_id = await streams.current_id(tx)
        rows = []
        for redaction, hit_id in zip(redactions, target_ids, strict=True):
            may_be_stored = hit_id in seen_here and hit_id not in opted_out
            target_id = hit_id if may_be_stored else None
            rows.append(_moderation_event(redaction, target_id, channel_id, stream_id))
        # the author of these events is the channel, which needs a row even if the streamer never typed
        logins = {channel_id: channel.get("login")}
        await viewers.add_unseen(tx, logins, self._clock.now())
        new_ids = await events.insert(tx, rows)
        event_count = len(rows)
        # None: all of them were new
        new_count = event_count if new_ids is None else len(new_ids)
        counts["lines"] += event_count
        counts["events"] += new_count
        counts["duplicates"] += event_count - new_count

    async def _store_lines(
        self,
        tx: Transaction,
        lines: Sequence[TakenLine],
        counts: Counter[str],
    ) -> list[SeenViewer]:
        """Store lines as events, with their authors and figures, and return the authors.

        The figures stay when the events are deleted.
        """
        seen_viewers = await self._store_people(tx, lines)
        lines_and_streams = await self._placed(tx, lines)
        rows = [self._row(line, stream_id) for line, stream_id in lines_and_streams]
        new_ids = await events.insert(tx, rows)
        new_lines = _first_of_each(lines_and_streams, new_ids)
        counts["events"] += len(new_lines)
        counts["duplicates"] += len(lines) - len(new_lines)
        lines_of_people = []
        events_of_streams = []
        for line, stream_id in new_lines:
            event = line.event
            events_of_streams.append((event, stream_id))
            if not line.from_bot:
                line_of_person = PlacedLine(event.user_id, stream_id, event.at)
                lines_of_people.append(line_of_person)
        await streams.record_visits(tx, visits(lines_of_people))
        await figures.count_minutes(tx, lines_of_people)
        await figures.add_moments(tx, events_of_streams)
        return seen_viewers

    async def _store_people(
        self, tx: Transaction, lines: Sequence[TakenLine]
    ) -> list[SeenViewer]:
        """Store the authors of lines with their names and times, and return them without the bot."""
        seen_viewers = seen(line.event for line in lines if not line.from_bot)
        await viewers.record_seen(tx, seen_viewers)
        # the bot needs a row for its own lines, but it is no viewer: it has no attendance and no standing
        own_events = {line.event.id: line.event for line in lines if line.from_bot}
        bot_accounts = {event.user_id: event for event in own_events.values()}
        for event in bot_accounts.values():
            await viewers.add_bot(tx, event.user_id, event.login, event.display_name)
        # before the rows are made, which have no text if their reply was cleared
        if own_events:
            await self._remember_cleared_replies(tx, own_events)
        return seen_viewers

    async def _remember_cleared_replies(
        self, tx: Transaction, own_events: Mapping[str, ChatEvent]
    ) -> None:
        """Remember which of the bot's own lines (by id) have to be stored without text.

        A reply is cleared together with the line that it answers. That may happen before the reply comes back as a line
        of chat.
        """
        for event_id in await bot_messages.cleared_lines(tx, list(own_events)):
            self._cleared[event_id] = own_events[event_id].at

    async def _placed(
        self, tx: Transaction, lines: Sequence[TakenLine]
    ) -> list[tuple[TakenLine, int | None]]:
        """Return each line with the id of the stream it was written in; None outside of streams."""
        times = [line.event.at for line in lines]
        first_at = min(times)
        last_at = max(times)
        if last_at - first_at < STREAM_GAP:
            stream_id = await self._stream_tracker.place(tx, first_at, last_at)
            return [(line, stream_id) for line in lines]
        # in such a long time a stream may end: each line is placed by itself
        lines_and_streams = []
        for line in lines:
            stream_id = await self._stream_tracker.place(
                tx, line.event.at, line.event.at
            )
            lines_and_streams.append((line, stream_id))
        return lines_and_streams

    def _row(self, line: TakenLine, stream_id: int | None) -> NewEvent:
        """Return a line as a row of the database. It has no text if it was cleared before it arrived."""
        event = line.event
        cleared_at = self._cleared_at(event)
        is_cleared = cleared_at is not None
        return NewEvent(
            event.id,
            stream_id,
            event.user_id,
            event.kind,
            role_of(event.badges),
            event.at,
            text="" if is_cleared else event.text,
            system_text="" if is_cleared else event.system_text,
            addressed=line.addressed,
            from_bot=line.from_bot,
            redacted_at=cleared_at,
        )

    def _cleared_at(self, event: ChatEvent) -> int | None:
        """Return when an event was cleared (ms), alone, with its author's lines or with the whole chat; else None."""
        if not self._cleared:
            return None
        cleared_at = self._cleared.get(event.id)
        if cleared_at is not None:
            return cleared_at
        for key in (_USER + event.user_id, _ALL):
            cleared_at = self._cleared.get(key)
            if cleared_at is not None and event.at <= cleared_at:
                return cleared_at
        return None


def _cleared_key(redaction: Redaction) -> str:
    """Return the key of a clear in `Ingest._cleared`: of one message, one person's lines, or the whole chat."""
    if redaction.event_id:
        return redaction.event_id
    if redaction.user_id:
        return _USER + redaction.user_id
    return _ALL


def _moderation_event(
    redaction: Redaction,
    target_id: str | None,
    channel_id: str,
    stream_id: int | None,
) -> NewEvent:
    """Return what a moderator did as an event of the channel. `target_id`: the id of the person they did it to."""
    act = act_of(redaction)
    message_or_viewer_id = redaction.event_id or target_id or ""
    # the same act gets the same id, so that it is stored once
    event_id = f"{act.name}:{message_or_viewer_id}:{redaction.at}"
    return NewEvent(
        event_id,
        stream_id,
        channel_id,
        EventKind.MODERATION,
        Role.VIEWER,
        redaction.at,
        system_text=act.words,
        target_id=target_id,
    )


def _first_of_each(
    lines_and_streams: Sequence[tuple[TakenLine, int | None]],
    new_ids: Collection[str] | None,
) -> list[tuple[TakenLine, int | None]]:
    """Return the lines that were new to the database, each once.

    `new_ids`: the ids of the new events; None if all were new and different.
    """
    if new_ids is None:
        return list(lines_and_streams)
    first_lines: dict[str, tuple[TakenLine, int | None]] = {}
    for line, stream_id in lines_and_streams:
        if line.event.id in new_ids:
            first_lines.setdefault(line.event.id, (line, stream_id))
    return list(first_lines.values())


async def _target_ids(
    tx: Transaction, redactions: Sequence[Redaction]
) -> list[str | None]:
    """Return whose text each clear took away, by id; None for the whole chat, or if nobody knows whose it was.

    Twitch does not send the author of a message that it deletes, so the author is looked up.
    """
    message_ids = [redaction.event_id for redaction in redactions if redaction.event_id]
    authors = await events.authors(tx, message_ids)
    target_ids = []
    for redaction in redactions:
        author = authors.get(redaction.event_id or "")
        target_ids.append(redaction.user_id or author)
    return target_ids


async def _dated_redactions(
    tx: Transaction,
    batch: Sequence[TakenLine | Redaction],
    now: int,
) -> list[Redaction]:
    """Return the clears of a batch, none dated later than it came in: a later one would clear lines to come.

    Their times are those of Twitch's clock, which may be ahead of ours. The newest line shows what time it is there.
    """
    redactions: list[Redaction] = []
    if not any(isinstance(item, Redaction) for item in batch):
        return redactions
    latest_at = max(now, await events.newest_at(tx))
    for item in batch:
        if isinstance(item, TakenLine):
            latest_at = max(latest_at, item.event.at)
        else:
            came_at = latest_at + UNCORRECTED
            cleared_at = min(max(item.at, 0), came_at)
            redactions.append(replace(item, at=cleared_at))
    return redactions


def _banned(redactions: Iterable[Redaction]) -> dict[str, int]:
    """Return who was banned, by id, and when (ms).

    Twitch sends bans and timeouts as the same command, but only a timeout has an end.
    """
    banned_at = {}
    for redaction in redactions:
        has_end = redaction.duration_s is not None
        is_of_one_message = redaction.event_id is not None
        if redaction.user_id and not has_end and not is_of_one_message:
            banned_at[redaction.user_id] = redaction.at
    return banned_at


async def _is_own_joke(tx: Transaction, redaction: Redaction) -> bool:
    """Return whether the bot gave this timeout because somebody asked for it as a joke. It clears nothing."""
    if not redaction.user_id or not redaction.duration_s:
        return False
    # the bot's log has the time of our clock, the clear that of Twitch's
    first_at = redaction.at - MINUTE
    last_at = redaction.at + MINUTE
    return await action_logs.was_done_to(
        tx, JOKE_TIMEOUT, redaction.user_id, first_at, last_at
    )


def seen(chat: Iterable[ChatEvent]) -> list[SeenViewer]:
    """Return who was seen under which name, whoever wrote last at the end."""
    events = list(chat)
    display_names: dict[tuple[str, str], str] = {}
    for event in events:
        if event.kind not in WITHOUT_DISPLAY_NAME:
            display_names[event.user_id, event.login] = event.display_name
    events_of: dict[tuple[str, str, str], list[ChatEvent]] = {}
    for event in events:
        display_name = event.display_name
        if event.kind in WITHOUT_DISPLAY_NAME:
            display_name = display_names.get((event.user_id, event.login), "")
        key = (event.user_id, event.login, display_name)
        events_of_viewer = events_of.pop(key, [])
        events_of_viewer.append(event)
        # taken out and put in again: a dict keeps its order, and whoever wrote last must be at the end
        events_of[key] = events_of_viewer
    people = []
    for (_user_id, _login, display_name), events_of_viewer in events_of.items():
        people.append(_seen_in(events_of_viewer, display_name))
    return people


def _seen_in(events_of_viewer: Sequence[ChatEvent], display_name: str) -> SeenViewer:
    """Return what the events of one person under one name show of them, such as their newest role and color."""
    role = None
    sub_months = 0
    color = ""
    watch_streak = 0
    for event in events_of_viewer:
        color = event.color or color
        watch_streak = event.watch_streak or watch_streak
        if event.kind not in WITHOUT_BADGES:
            role = role_of(event.badges)
            sub_months = event.sub_months
    times = [event.at for event in events_of_viewer]
    latest_event = events_of_viewer[-1]
    return SeenViewer(
        latest_event.user_id,
        latest_event.login,
        display_name,
        role,
        min(times),
        max(times),
        color,
        sub_months,
        watch_streak,
    )


def visits(
    lines: Iterable[PlacedLine],
) -> list[tuple[str, int, int, int, int]]:
    """Return who was in which stream: viewer id, stream id, time of the first and last line (ms), number of lines."""
    times_of: dict[tuple[str, int], list[int]] = {}
    for viewer_id, stream_id, at in lines:
        if stream_id is None:
            continue
        key = (viewer_id, stream_id)
        if key in times_of:
            times_of[key].append(at)
        else:
            times_of[key] = [at]
    rows = []
    for (viewer_id, stream_id), times in times_of.items():
        rows.append((viewer_id, stream_id, min(times), max(times), len(times)))
    return rows


def storable(event: ChatEvent, now: int) -> ChatEvent:
    """Return an event that the database accepts: no lone surrogates and no NUL in its texts, no impossible time."""
    # nearly every line is ASCII, which one look at all of _TEXTS shows
    all_texts = (
        f"{event.text}{event.system_text}{event.display_name}{event.login}{event.id}"
        f"{event.user_id}"
    )
    if not all_texts.isascii() or _NUL in all_texts:
        storable_texts = {}
        for name in _TEXTS:
            text = getattr(event, name).replace(_NUL, "")
            storable_texts[name] = text.encode("utf-8", "replace").decode("utf-8")
        event = replace(event, **storable_texts)
    # a line from the far future would never become old enough to be deleted
    if not 0 <= event.at <= now + DAY:
        possible_time = min(max(event.at, 0), now)
        event = replace(event, at=possible_time)
    return event
