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
_TEXTS = ("text", "system_text", "display_name", "login", "id", "user_id")
JOKE_TIMEOUT = "timeout"  # as operations/actions names it
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
    """A line on its way to the disk. `addressed`: it speaks to the bot; `from_bot`: the bot said it."""

    event: ChatEvent
    addressed: bool = False
    from_bot: bool = False


class SortedLines(Struct, frozen=True):
    """The lines of a batch that may be stored, how many others there are and why, and who of them gets an id.

    `opted_out_by_login`: the ids of people who opted out by login before they ever spoke here.
    """

    accepted: list[TakenLine]
    counts: Counter[str]
    opted_out_by_login: dict[str, str]


class Ingest:
    """Takes lines in. `run` it as a task, or call `flush` where the clock is not real.

    `trouble`: why chat cannot be stored at the moment; empty while it can.
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
        self.own_id = ""
        self._settings = settings
        # when a message, a person's lines or (_ALL) the whole chat were cleared, for lines that are still to come
        self._cleared: dict[str, int] = {}
        self.trouble = ""
        self._queue: deque[TakenLine | Redaction] = deque()
        # what was counted since the last batch was written, with which it is stored
        self._counts: Counter[str] = Counter()
        # how many lines are still to be written one by one, to find the one that the database does not accept
        self._singly = 0
        self._wake = asyncio.Event()
        self._batch_full = asyncio.Event()
        self._writing = asyncio.Lock()

    def close(self) -> None:
        """Log how many lines could not be stored and are lost. After the last line."""
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
        """Take in a line or a clear. `addressed`: the line speaks to the bot."""
        if isinstance(item, Redaction):
            self._counts.update(("lines", "other"))
            self._push(item)
            return
        self._counts["lines"] += 1
        event = storable(item, self._clock.now())
        self._push(TakenLine(event, addressed))

    def note(self, outcome: str, lines: int = 1) -> None:
        """Count lines that hold nothing to store. `outcome`: `other_room`, `unparsed` or `other`."""
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
        """Take in what the bot itself said, as context for summaries. Its echo from chat is dropped by user id."""
        bot_id = user_id or self.own_id or "bot"
        name = login or bot_id
        event = ChatEvent(event_id, EventKind.MESSAGE, bot_id, name, name, text, at)
        self._counts["lines"] += 1
        self._push(TakenLine(event, from_bot=True))

    def _push(self, item: TakenLine | Redaction) -> None:
        """Put a line or a clear into the queue; a line that finds it full is counted and dropped."""
        # a clear is taken however many lines wait: dropped, it would leave a deleted message in the memory
        if len(self._queue) >= MAXIMUM_WAITING and isinstance(item, TakenLine):
            self._counts.update(("excluded", "excluded_no_room"))
            return
        self._queue.append(item)
        self._wake.set()
        if len(self._queue) >= BATCH:
            self._batch_full.set()

    async def run(self) -> None:
        """Write batches until cancelled; then write the rest, if the disk lets it."""
        try:
            while True:
                await self._wake.wait()
                # the batch may fill up for as long as a line may stay unwritten
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(BATCH_WAIT_S):
                        await self._batch_full.wait()
                await self._write_or_wait()
        finally:
            await self._write_or_wait(patiently=False)

    async def _write_or_wait(self, *, patiently: bool = True) -> None:
        """Store everything that was taken; where the disk refuses, wait for the next try. `patiently` False: do not."""
        try:
            await self.flush()
        except StoreError:  # `trouble` says so
            if patiently:
                await asyncio.sleep(RETRY_S)

    async def flush(self) -> None:
        """Store everything that was taken. Raises StoreError; nothing is lost by it."""
        # the task, a spoken correction and a stop may all flush at the same time
        async with self._writing:
            self._wake.clear()
            self._batch_full.clear()
            while self._queue or self._counts:
                await self._write_batch()

    async def _write_batch(self) -> None:
        """Write the first lines of the queue, and remove them from it. Raises StoreError."""
        limit = 1 if self._singly else LINES_PER_TRANSACTION
        batch = list(islice(self._queue, limit))
        counts = self._counts
        self._counts = Counter()
        try:
            async with self._db.write() as tx:
                await self._store(tx, batch, counts)
        # also when cancelled: what is not written stays in the queue
        except BaseException as error:
            self._counts.update(counts)
            self._wake.set()
            if not isinstance(error, UNSTORABLE) or not batch:
                self._report_trouble(error)
                raise
            if len(batch) > 1:
                # nobody can say which of these it is: they are written one by one
                self._singly = len(batch)
                return
            self._skip(batch[0], error)
        for _ in batch:
            self._queue.popleft()
        self._singly = max(0, self._singly - 1)
        self.trouble = ""

    def _report_trouble(self, error: BaseException) -> None:
        """Say in `trouble` why nothing can be stored, and in the log when it begins."""
        # a stop is no trouble
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
        """Count a line that the database does not accept."""
        log.error("a line cannot be stored and is left out", error=type(error).__name__)
        # a clear was counted when it was taken
        if isinstance(item, TakenLine):
            self._counts.update(("excluded", "excluded_unstorable"))

    async def _store(
        self,
        tx: Transaction,
        batch: Sequence[TakenLine | Redaction],
        earlier_counts: Counter[str],
    ) -> None:
        """Write a batch. `earlier_counts`: what was counted of it when it was taken."""
        counts: Counter[str] = Counter()
        now = self._clock.now()
        redactions = await self._redactions(tx, batch, now)
        # before the lines are written: a clear in the same batch covers those that it overtook as well
        self._remember_cleared(redactions, now)
        opted_out = await privacy_choices.opted_out(tx)
        taken_lines = [item for item in batch if isinstance(item, TakenLine)]
        # in the writer's thread: that many lines would hold the event loop
        sorted_lines = await tx.together(
            lambda _part: self._not_excluded(taken_lines, opted_out)
        )
        counts.update(sorted_lines.counts)
        if sorted_lines.opted_out_by_login:
            await self._opt_out_by_id(tx, sorted_lines.opted_out_by_login, opted_out)
        lines = sorted_lines.accepted
        if lines:
            people = await tx.together(
                lambda part: self._store_lines(part, lines, counts)
            )
            # whoever was banned and writes again is not banned any more
            last_lines = {person.id: person.last_at for person in people}
            await privacy_choices.lift_bans(tx, last_lines)
        for redaction in redactions:
            clear = Clear(redaction.at, redaction.event_id, redaction.user_id)
            await episodes.clear(tx, clear, now)
        await privacy_choices.ban(tx, _banned(redactions))
        await self._store_moderation(tx, redactions, opted_out, counts)
        counts.update(earlier_counts)
        await add_counts(tx, counts)

    async def _redactions(
        self,
        tx: Transaction,
        batch: Sequence[TakenLine | Redaction],
        now: int,
    ) -> list[Redaction]:
        """Return what moderators cleared, without the timeouts that somebody asked the bot for."""
        redactions = []
        for redaction in await _dated_redactions(tx, batch, now):
            if not await _is_own_joke(tx, redaction):
                redactions.append(redaction)
        return redactions

    def _remember_cleared(self, redactions: Sequence[Redaction], now: int) -> None:
        """Keep what was cleared for lines that are still to come, and forget what is long ago."""
        oldest = now - WAITS_FOR_ITS_LINE
        self._cleared = {key: at for key, at in self._cleared.items() if at >= oldest}
        for redaction in redactions:
            key = _cleared_key(redaction)
            self._cleared[key] = max(redaction.at, self._cleared.get(key, 0))

    async def _not_excluded(
        self, lines: Sequence[TakenLine], opted_out: OptedOut
    ) -> SortedLines:
        """Return the lines that no setting and nobody's opting out excludes; the others are counted."""
        rules = Exclusion(self._settings().memory, opted_out, self.own_id)
        # most people of a large batch say more than one line in it
        reason_of = lru_cache(maxsize=None)(rules.of_line_by)
        accepted: list[TakenLine] = []
        counts: Counter[str] = Counter()
        opted_out_by_login: dict[str, str] = {}
        for line in lines:
            event = line.event
            reason = None
            if not line.from_bot:
                reason = reason_of(event.user_id, event.login, event.badges)
            # who asks whether they were forgotten is not known again for asking
            if reason is None and asks_for_receipt(event.text):
                reason = "receipt"
            if reason is None:
                accepted.append(line)
                continue
            counts.update(("excluded", f"excluded_{reason}"))
            is_by_name = reason == OPTED_OUT and event.user_id not in rules.opted_out
            if is_by_name:
                opted_out_by_login[event.login] = event.user_id
        return SortedLines(accepted, counts, opted_out_by_login)

    async def _opt_out_by_id(
        self,
        tx: Transaction,
        viewer_ids: dict[str, str],
        opted_out: OptedOut,
    ) -> None:
        """Store the ids of people who opted out by login before they ever spoke here.

        `viewer_ids`: by login. `opted_out`: as it was read before this.
        """
        now = self._clock.now()
        await viewers.join_provisional(tx, viewer_ids)
        for login, viewer_id in viewer_ids.items():
            if provisional_id(login) in opted_out.ids:
                await privacy_choices.opt_out(tx, viewer_id, now)
            else:
                # Erased since they opted out: all that is stored of them is a hash, so they get no row.
                request = tx.requests.of(RequestKind.OPT_OUT, viewer_id, now)
                await privacy_choices.write_request(tx, request)

    async def _store_moderation(
        self,
        tx: Transaction,
        redactions: Sequence[Redaction],
        opted_out: OptedOut,
        counts: Counter[str],
    ) -> None:
        """Store what moderators did, as events of the channel. Chat does not say which of them it was.

        The person they hit is stored by id, unless nobody with that id was ever seen here, or they opted out.
        """
        channel = await channel_state.read_all(tx)
        channel_id = channel.get("id", "")
        if not redactions or not channel_id:
            return
        targets = await _targets(tx, redactions)
        seen_here = await viewers.may_be_stored(tx, set(filter(None, targets)))
        stream_id = await streams.current_id(tx)
        rows = []
        for redaction, target in zip(redactions, targets, strict=True):
            may_be_stored = target in seen_here and target not in opted_out
            target_id = target if may_be_stored else None
            rows.append(_moderation_event(redaction, target_id, channel_id, stream_id))
        # the events are the channel's, which may never have typed
        logins = {channel_id: channel.get("login")}
        await viewers.add_unseen(tx, logins, self._clock.now())
        new_ids = await events.insert(tx, rows)
        total = len(rows)
        # None: all of them were new
        stored = total if new_ids is None else len(new_ids)
        counts["lines"] += total
        counts["events"] += stored
        counts["duplicates"] += total - stored

    async def _store_lines(
        self,
        tx: Transaction,
        lines: Sequence[TakenLine],
        counts: Counter[str],
    ) -> list[SeenViewer]:
        """Store lines as events, with who said them, and the figures that stay when the events go.

        Returns who said them.
        """
        people = await self._store_people(tx, lines)
        placed = await self._placed(tx, lines)
        rows = [self._row(line, stream_id) for line, stream_id in placed]
        new_ids = await events.insert(tx, rows)
        new_lines = _first_of_each(placed, new_ids)
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
        return people

    async def _store_people(
        self, tx: Transaction, lines: Sequence[TakenLine]
    ) -> list[SeenViewer]:
        """Store who said the lines, by which name and when, and return them."""
        people = seen(line.event for line in lines if not line.from_bot)
        await viewers.record_seen(tx, people)
        # the bot is no viewer who was seen: it has a name, for its lines, but no attendance and no standing
        own_events = {line.event.id: line.event for line in lines if line.from_bot}
        bot_accounts = {event.user_id: event for event in own_events.values()}
        for event in bot_accounts.values():
            await viewers.add_bot(tx, event.user_id, event.login, event.display_name)
        if own_events:
            await self._remember_cleared_replies(tx, own_events)
        return people

    async def _remember_cleared_replies(
        self, tx: Transaction, own_events: Mapping[str, ChatEvent]
    ) -> None:
        """Keep which of the bot's own lines (by id) are stored without their text: their reply was cleared or erased.

        A reply is cleared with the line that it was made from, and that may happen before the reply comes in as a
        line of chat.
        """
        for event_id in await bot_messages.cleared_lines(tx, list(own_events)):
            self._cleared[event_id] = own_events[event_id].at

    async def _placed(
        self, tx: Transaction, lines: Sequence[TakenLine]
    ) -> list[tuple[TakenLine, int | None]]:
        """Return each line with the id of its stream; None outside of streams."""
        times = [line.event.at for line in lines]
        first_at = min(times)
        last_at = max(times)
        if last_at - first_at < STREAM_GAP:
            stream_id = await self._stream_tracker.place(tx, first_at, last_at)
            return [(line, stream_id) for line in lines]
        # a stream may end inside the batch
        placed = []
        for line in lines:
            stream_id = await self._stream_tracker.place(
                tx, line.event.at, line.event.at
            )
            placed.append((line, stream_id))
        return placed

    def _row(self, line: TakenLine, stream_id: int | None) -> NewEvent:
        """Return a line as a row of the database, without its text if it was cleared before it came."""
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
        """Return when an event was cleared (ms), by itself, with all of its author's or with the whole chat."""
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
    """Return the key of `Ingest._cleared` for a message, the lines of a person, or the whole chat."""
    if redaction.event_id:
        return redaction.event_id
    if redaction.user_id:
        return _USER + redaction.user_id
    return _ALL


def _moderation_event(
    redaction: Redaction,
    target: str | None,
    channel_id: str,
    stream_id: int | None,
) -> NewEvent:
    """Return what a moderator did as an event of the channel. `target`: the id of the person who was hit."""
    act = act_of(redaction)
    hit = redaction.event_id or target or ""
    # the same act has the same id, so that it is stored once
    event_id = f"{act.name}:{hit}:{redaction.at}"
    return NewEvent(
        event_id,
        stream_id,
        channel_id,
        EventKind.MODERATION,
        Role.VIEWER,
        redaction.at,
        system_text=act.words,
        target_id=target,
    )


def _first_of_each(
    placed: Sequence[tuple[TakenLine, int | None]], new_ids: Collection[str] | None
) -> list[tuple[TakenLine, int | None]]:
    """Return the lines of events that were new, each once.

    `new_ids`: the ids of these events; None if all were new, and none came twice.
    """
    if new_ids is None:
        return list(placed)
    first_lines: dict[str, tuple[TakenLine, int | None]] = {}
    for line, stream_id in placed:
        if line.event.id in new_ids:
            first_lines.setdefault(line.event.id, (line, stream_id))
    return list(first_lines.values())


async def _targets(
    tx: Transaction, redactions: Sequence[Redaction]
) -> list[str | None]:
    """Return whom each clear hit, by id: also the author of a deleted message; None if it hit nobody, or who it was.

    Twitch does not report the author of a deleted message, which is looked up.
    """
    message_ids = [redaction.event_id for redaction in redactions if redaction.event_id]
    authors = await events.authors(tx, message_ids)
    targets = []
    for redaction in redactions:
        author = authors.get(redaction.event_id or "")
        targets.append(redaction.user_id or author)
    return targets


async def _dated_redactions(
    tx: Transaction,
    batch: Sequence[TakenLine | Redaction],
    now: int,
) -> list[Redaction]:
    """Return the clears of a batch, each dated at the latest when it came in: else it would clear later lines, too.

    A clear and a line have the time of Twitch's clock, which may be ahead of ours: by how much, the lines before show.
    """
    redactions: list[Redaction] = []
    if not any(isinstance(item, Redaction) for item in batch):
        return redactions
    latest = max(now, await events.newest_at(tx))
    for item in batch:
        if isinstance(item, TakenLine):
            latest = max(latest, item.event.at)
        else:
            came_at = latest + UNCORRECTED
            redactions.append(replace(item, at=min(max(item.at, 0), came_at)))
    return redactions


def _banned(redactions: Iterable[Redaction]) -> dict[str, int]:
    """Return the ids of those who were banned, with the time (ms).

    A ban and a timeout are the same command at Twitch, but only a timeout has an end.
    """
    banned = {}
    for redaction in redactions:
        has_end = redaction.duration_s is not None
        is_of_one_message = redaction.event_id is not None
        if redaction.user_id and not has_end and not is_of_one_message:
            banned[redaction.user_id] = redaction.at
    return banned


async def _is_own_joke(tx: Transaction, redaction: Redaction) -> bool:
    """Return whether it is a timeout that somebody asked the bot for: that one clears nothing."""
    if not redaction.user_id or not redaction.duration_s:
        return False
    first_at = redaction.at - MINUTE
    last_at = redaction.at + MINUTE
    return await action_logs.was_done_to(
        tx, JOKE_TIMEOUT, redaction.user_id, first_at, last_at
    )


def seen(chat: Iterable[ChatEvent]) -> list[SeenViewer]:
    """Return who was seen under which name, in the order of their last line."""
    events_of: dict[tuple[str, str, str], list[ChatEvent]] = {}
    for event in chat:
        key = (event.user_id, event.login, event.display_name)
        their_events = events_of.pop(key, [])
        their_events.append(event)
        # put in again, so that the last to speak stand last
        events_of[key] = their_events
    return [_seen_in(their_events) for their_events in events_of.values()]


def _seen_in(their_events: Sequence[ChatEvent]) -> SeenViewer:
    """Return what the events of one person, under one name, show of them: the newest that is known."""
    role = None
    sub_months = 0
    color = ""
    watch_streak = 0
    for event in their_events:
        color = event.color or color
        watch_streak = event.watch_streak or watch_streak
        if event.kind not in WITHOUT_BADGES:
            role = role_of(event.badges)
            sub_months = event.sub_months
    times = [event.at for event in their_events]
    latest = their_events[-1]
    return SeenViewer(
        latest.user_id,
        latest.login,
        latest.display_name,
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
    """Return who was in which stream: viewer, stream, time of the first and last line (ms), number of lines."""
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
    """Return the event in a form the database accepts: no lone surrogates, no time in the far future."""
    # of nearly every line: all of _TEXTS at once
    together = (
        f"{event.text}{event.system_text}{event.display_name}{event.login}{event.id}"
        f"{event.user_id}"
    )
    if not together.isascii():
        storable_texts = {}
        for name in _TEXTS:
            text = getattr(event, name)
            storable_texts[name] = text.encode("utf-8", "replace").decode("utf-8")
        event = replace(event, **storable_texts)
    # a line from the far future would never be old enough to be deleted
    if not 0 <= event.at <= now + DAY:
        possible_time = min(max(event.at, 0), now)
        event = replace(event, at=possible_time)
    return event
