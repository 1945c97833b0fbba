"""Takes chat lines in; they are on disk within 250 ms.

- `take` returns at once and keeps at most `MOST_WAITING` lines in memory.
- One writer stores batches; every line is counted in the transaction that stores it, and stored once, by Twitch's id.
- A line that was cleared, before it arrived or after, has no text; excluded viewers leave nothing.
- If writing fails, the batch is kept and retried, and `trouble` says so. What still waits at a stop is lost, and the
  log says how much. A line that the database never accepts is counted and skipped.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, Clock
from forgetmenot.domain import STREAM_GAP, ChatEvent, EventKind, Redaction, Role
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
    personal_data,
    streams,
    viewers,
)
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.events import Clear, NewEvent
from forgetmenot.store.figures import SpokenLine
from forgetmenot.store.rights import OptedOut, RequestKind
from forgetmenot.store.viewers import SeenViewer
from forgetmenot.text.mentions import provisional_id

# Lines that are written without waiting for more.
BATCH = 500
# The most of them in one transaction, where more have come meanwhile.
LINES_PER_TRANSACTION = 1_000
BATCH_WAIT_S = 0.25
RETRY_S = 1.0
# Lines in memory: of more that come while the disk takes none, each is counted and not kept.
MOST_WAITING = 100_000
# Errors whose cause is one line and not the disk.
UNSTORABLE = (StoreRefused, OverflowError, UnicodeError)
_TEXTS = ("text", "system_text", "display_name", "login", "id", "user_id")
JOKE_TIMEOUT = "timeout"  # as operations/actions names it
# What Twitch tells besides chat: who did it, and not whether they are a moderator.
WITHOUT_BADGES = frozenset({EventKind.FOLLOW, EventKind.REDEMPTION, EventKind.STREAM})
# A clear that overtook its line is kept for so long: seconds are usual, a reconnection takes minutes.
WAITS_FOR_ITS_LINE = HOUR
# By so much the clock may be wrong before it is corrected (clock.SystemClock).
UNCORRECTED = 5 * SECOND
_USER, _ALL = "user:", "all"


class TakenLine(Struct, frozen=True):
    """A line on its way to the disk."""

    event: ChatEvent
    addressed: bool = False
    from_bot: bool = False


class Ingest:
    """Takes lines in. `run` it as a task, or call `flush` where the clock is not real."""

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
        self._cleared: dict[str, int] = {}
        """When a message, a person's lines or (_ALL) the whole chat were cleared, for lines that are still to come."""
        self.trouble = ""
        self._queue: deque[TakenLine | Redaction] = deque()
        self._counts: Counter[str] = Counter()
        self._singly = 0  # so many lines are written one by one, to find the one that the database does not accept
        self._wake = asyncio.Event()
        self._batch_full = asyncio.Event()
        self._writing = asyncio.Lock()

    def close(self) -> None:
        """After the last line: say what could not be stored and is lost."""
        if self._queue:
            log.error(
                "chat that could not be stored is lost", lines=len(self._queue), reason=self.trouble
            )

    @property
    def waiting(self) -> int:
        """How many lines are not on disk yet."""
        return len(self._queue)

    def take(self, what: ChatEvent | Redaction, addressed: bool = False) -> None:  # noqa: FBT001, FBT002  # a fact about the line
        """Take a line or a clear in. `addressed`: it speaks to the bot."""
        if isinstance(what, Redaction):
            self._counts.update(("lines", "other"))
            self._push(what)
        else:
            self._counts["lines"] += 1
            self._push(TakenLine(storable(what, self._clock.now()), addressed))

    def note(self, outcome: str, lines: int = 1) -> None:
        """Count lines that hold nothing to store: `other_room`, `unparsed`, or `other`."""
        self._counts["lines"] += lines
        self._counts[outcome] += lines
        self._wake.set()

    def note_own_line(
        self, text: str, *, event_id: str, at: int, login: str = "", user_id: str = ""
    ) -> None:
        """Take in what the bot itself said, as context for summaries. Its echo from chat is dropped by user id."""
        who = user_id or self.own_id or "bot"
        event = ChatEvent(event_id, EventKind.MESSAGE, who, login or who, login or who, text, at)
        self._counts["lines"] += 1
        self._push(TakenLine(event, from_bot=True))

    def _push(self, what: TakenLine | Redaction) -> None:
        # a clear is taken however much waits: dropped, it would leave a deleted message in the memory
        if len(self._queue) >= MOST_WAITING and isinstance(what, TakenLine):
            self._counts.update(("excluded", "excluded_no_room"))
            return
        self._queue.append(what)
        self._wake.set()
        if len(self._queue) >= BATCH:
            self._batch_full.set()

    async def run(self) -> None:
        """Write batches until cancelled; then write the rest, if the disk lets it."""
        try:
            while True:
                await self._wake.wait()
                with contextlib.suppress(
                    TimeoutError
                ):  # a batch fills up, as long as a line may stay unwritten
                    async with asyncio.timeout(BATCH_WAIT_S):
                        await self._batch_full.wait()
                await self._write_or_wait()
        finally:
            await self._write_or_wait(patiently=False)

    async def _write_or_wait(self, *, patiently: bool = True) -> None:
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
        batch = list(islice(self._queue, 1 if self._singly else LINES_PER_TRANSACTION))
        counts, self._counts = self._counts, Counter()
        try:
            async with self._db.write() as tx:
                await self._store(tx, batch, counts)
        except (
            BaseException
        ) as error:  # also when cancelled: what is not written stays in the queue
            self._counts.update(counts)
            self._wake.set()
            if not isinstance(error, UNSTORABLE) or not batch:
                if isinstance(error, StoreError) and not self.trouble:
                    waiting = len(self._queue)
                    log.warning(
                        "chat cannot be stored, it waits in memory",
                        reason=str(error),
                        waiting=waiting,
                    )
                self.trouble = str(error) if isinstance(error, StoreError) else self.trouble
                raise
            if len(batch) > 1:  # one of these is at fault
                self._singly = len(batch)
                return
            log.error("a line cannot be stored and is left out", error=type(error).__name__)
            if isinstance(batch[0], TakenLine):  # a clear was counted when it was taken
                self._counts.update(("excluded", "excluded_unstorable"))
        for _ in batch:
            self._queue.popleft()
        self._singly = max(0, self._singly - 1)
        self.trouble = ""

    async def _store(
        self, tx: Transaction, batch: Sequence[TakenLine | Redaction], counted: Counter[str]
    ) -> None:
        """Write a batch. `counted`: what was counted about it before."""
        counts: Counter[str] = Counter()
        taken = [item for item in batch if isinstance(item, TakenLine)]
        now = self._clock.now()
        # before the lines are written: a clear in the same batch covers those that it overtook as well
        redactions = [
            redaction
            for redaction in await _dated(tx, batch, now)
            if not await _is_own_joke(tx, redaction)
        ]
        self._cleared = {
            key: at for key, at in self._cleared.items() if at >= now - WAITS_FOR_ITS_LINE
        }
        for one in redactions:
            key = one.event_id or (_USER + one.user_id if one.user_id else _ALL)
            self._cleared[key] = max(one.at, self._cleared.get(key, 0))
        opted_out = await personal_data.opted_out(tx)
        welcome = await self._welcome(tx, taken, opted_out, counts)
        if welcome:
            await self._store_lines(tx, welcome, counts)
        for one in redactions:
            await episodes.clear(tx, Clear(one.at, one.event_id, one.user_id), now)
        await personal_data.ban(tx, _banned(redactions))
        await self._store_moderation(tx, redactions, opted_out, counts)
        counts.update(counted)
        await add_counts(tx, counts)

    async def _welcome(
        self,
        tx: Transaction,
        taken: Sequence[TakenLine],
        opted_out: OptedOut,
        counts: Counter[str],
    ) -> list[TakenLine]:
        """Those that nothing keeps out."""
        rules = Exclusion(self._settings().memory, opted_out, self.own_id)
        welcome: list[TakenLine] = []
        by_name: dict[str, str] = {}
        for line in taken:
            why = None if line.from_bot else rules.why(line.event)
            if why is not None:
                counts.update(("excluded", f"excluded_{why}"))
                if why == OPTED_OUT and line.event.user_id not in rules.opted_out:
                    by_name[line.event.login] = line.event.user_id
            else:
                welcome.append(line)
        if by_name:
            # who opted out by name, before they ever spoke here, has opted out as the person they turn out to be
            await viewers.join_provisional(tx, by_name)
        for login, viewer_id in by_name.items():
            if provisional_id(login) in opted_out.ids:  # as it was before they were joined
                await personal_data.opt_out(tx, viewer_id, self._clock.now())
            else:  # of who was erased since, there is a hash alone: it stays so
                out = tx.requests.of(RequestKind.OPT_OUT, viewer_id, self._clock.now())
                await personal_data.write_request(tx, out)
        return welcome

    async def _store_moderation(
        self,
        tx: Transaction,
        redactions: Sequence[Redaction],
        opted_out: OptedOut,
        counts: Counter[str],
    ) -> None:
        """Store what moderators did, as events of the channel. Chat does not say which of them it was.

        Of whom they hit the id is stored, unless nobody with it was ever seen here, or they opted out.
        """
        channel = await channel_state.read_all(tx)
        channel_id = channel.get("id", "")
        if not redactions or not channel_id:
            return
        authors = await events.authors(tx, [one.event_id for one in redactions if one.event_id])
        hit = {one.user_id for one in redactions if one.user_id} | set(authors.values())
        seen_here = await viewers.may_be_stored(tx, hit)
        stream_id = await streams.current_id(tx)
        acts = []
        for redaction in redactions:
            act = act_of(redaction)
            target = redaction.user_id or authors.get(redaction.event_id or "")
            known = target if target in seen_here and target not in opted_out else None
            act_id = f"{act.name}:{redaction.event_id or known or ''}:{redaction.at}"
            acts.append(
                NewEvent(
                    act_id,
                    stream_id,
                    channel_id,
                    EventKind.MODERATION,
                    Role.VIEWER,
                    redaction.at,
                    system_text=act.words,
                    target_id=known,
                )
            )
        await viewers.add_unseen(tx, {channel_id: channel.get("login")}, self._clock.now())
        fresh = await events.insert(tx, acts)
        stored = len(acts) if fresh is None else len(fresh)
        counts.update({"lines": len(acts), "events": stored, "duplicates": len(acts) - stored})

    async def _store_lines(
        self, tx: Transaction, lines: Sequence[TakenLine], counts: Counter[str]
    ) -> None:
        people = seen(line.event for line in lines if not line.from_bot)
        await viewers.record_seen(tx, people)
        await personal_data.lift_bans(tx, {person.id: person.last_at for person in people})
        # the bot is no viewer who was seen: it has a name, for its lines, but no attendance and no standing
        for line in {line.event.user_id: line for line in lines if line.from_bot}.values():
            await viewers.add_bot(tx, line.event.user_id, line.event.login, line.event.display_name)
        if own := {line.event.id: line.event.at for line in lines if line.from_bot}:
            # the bot's own line comes after its reply: what that was made from may have been cleared meanwhile
            self._cleared |= {
                key: own[key] for key in await bot_messages.cleared_lines(tx, list(own))
            }
        times = [line.event.at for line in lines]
        if max(times) - min(times) < STREAM_GAP:
            stream = await self._stream_tracker.place(tx, min(times), max(times))
            placed = [(line, stream) for line in lines]
        else:  # a stream may end inside the batch
            placed = [
                (line, await self._stream_tracker.place(tx, line.event.at, line.event.at))
                for line in lines
            ]
        fresh = await events.insert(tx, [self._row(line, stream) for line, stream in placed])
        new = placed
        if fresh is not None:
            new = list(
                {
                    pair[0].event.id: pair for pair in reversed(placed) if pair[0].event.id in fresh
                }.values()
            )
        counts["events"] += len(new)
        counts["duplicates"] += len(lines) - len(new)
        spoken = [
            SpokenLine(line.event.user_id, stream, line.event.at)
            for line, stream in new
            if not line.from_bot
        ]
        await streams.record_visits(tx, visits(spoken))
        await figures.count_minutes(tx, spoken)
        await figures.add_moments(tx, [(line.event, stream) for line, stream in new])

    def _row(self, line: TakenLine, stream_id: int | None) -> NewEvent:
        event, cleared_at = line.event, self._cleared.get(line.event.id)
        if cleared_at is None and self._cleared:
            later = (self._cleared.get(_USER + event.user_id, -1), self._cleared.get(_ALL, -1))
            cleared_at = next((at for at in later if event.at <= at), None)
        return NewEvent(
            event.id,
            stream_id,
            event.user_id,
            event.kind,
            role_of(event.badges),
            event.at,
            text="" if cleared_at is not None else event.text,
            system_text="" if cleared_at is not None else event.system_text,
            addressed=line.addressed,
            from_bot=line.from_bot,
            redacted_at=cleared_at,
        )


async def _dated(
    tx: Transaction, batch: Sequence[TakenLine | Redaction], now: int
) -> list[Redaction]:
    """The clears of a batch, none dated later than when it came: it would cover what is said after it.

    By Twitch's time, which may be ahead of ours: lines before it show by how much.
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
    """Who was banned, and when: a ban and a timeout are the same command at Twitch, but only a timeout has an end."""
    banned = {}
    for redaction in redactions:
        if redaction.user_id and redaction.duration_s is None and redaction.event_id is None:
            banned[redaction.user_id] = redaction.at
    return banned


async def _is_own_joke(tx: Transaction, redaction: Redaction) -> bool:
    """Whether it is a timeout that somebody asked the bot for: it takes nothing back."""
    if not redaction.user_id or not redaction.duration_s:
        return False
    return await action_logs.was_done_to(
        tx, JOKE_TIMEOUT, redaction.user_id, redaction.at - MINUTE, redaction.at + MINUTE
    )


def seen(chat: Iterable[ChatEvent]) -> list[SeenViewer]:
    """Who was seen under which name, in the order of their last line."""
    seen: dict[tuple[str, str, str], SeenViewer] = {}
    for event in chat:
        key = (event.user_id, event.login, event.display_name)
        before = seen.pop(key, None)
        first, last = (before.first_at, before.last_at) if before else (event.at, event.at)
        role = (
            role_of(event.badges)
            if event.kind not in WITHOUT_BADGES
            else before.role
            if before
            else None
        )
        color = event.color or (before.color if before else "")
        seen[key] = SeenViewer(*key, role, min(first, event.at), max(last, event.at), color)
    return list(seen.values())


def visits(lines: Iterable[tuple[str, int | None, int]]) -> list[tuple[str, int, int, int, int]]:
    """Who was in which stream (viewer, stream, first at, last at, lines), from each line's viewer, stream and time."""
    found: dict[tuple[str, int], list[int]] = {}
    for viewer_id, stream, at in lines:
        if stream is not None:
            found.setdefault((viewer_id, stream), []).append(at)
    return [(*key, min(times), max(times), len(times)) for key, times in found.items()]


def storable(event: ChatEvent, now: int) -> ChatEvent:
    """The event in a form the database accepts: no lone surrogates, no time in the far future."""
    texts = {name: getattr(event, name) for name in _TEXTS}
    if not all(map(str.isascii, texts.values())):
        whole = {
            name: text.encode("utf-8", "replace").decode("utf-8") for name, text in texts.items()
        }
        event = replace(event, **whole)
    if (
        not 0 <= event.at <= now + DAY
    ):  # a line from the far future would never be old enough to be pruned
        event = replace(event, at=min(max(event.at, 0), now))
    return event
