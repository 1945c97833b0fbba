"""Tier 1's door: what chat says goes in here and is on disk within 250 ms.

Promises: `take` returns at once and keeps at most `ROOM` lines in memory; one writer stores them in batches, each line
once by Twitch's id; a line that was cleared, before it arrived or after, keeps no text; whoever is excluded leaves
nothing; every line taken is counted in the transaction that stores it. When the disk says no, the batch stays and is
tried again, and `trouble` says so. A line that the database will never take is left out, counted, and holds up nobody.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from forgetmenot.clock import DAY, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind, Redaction
from forgetmenot.errors import StoreError, StoreRefused
from forgetmenot.logs import log
from forgetmenot.memory.exclusion import Exclusion
from forgetmenot.memory.roles import role_of
from forgetmenot.memory.streams import StreamBook
from forgetmenot.settings.schema import Settings
from forgetmenot.store import attendance, events, identities, rights, tally
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.events import Clear, NewEvent
from forgetmenot.store.identities import Seen

BATCH = 500
"""So many lines are written without waiting for more …"""
AT_ONCE = 1_000
"""… and at most so many in one transaction, where more have come meanwhile."""
BATCH_WAIT_S = 0.25
RETRY_S = 1.0
ROOM = 100_000
UNSTORABLE = (StoreRefused, OverflowError, UnicodeError)
"""What says that one line is at fault, and not the disk."""
NOT_STORED = frozenset({"other_room", "unparsed", "other"})
_USER, _ALL = "user:", "all"


@dataclass(frozen=True, slots=True)
class Taken:
    """A line on its way to the disk."""

    event: ChatEvent
    addressed: bool = False
    from_bot: bool = False
    again: bool = False  # stored by an earlier replay


@dataclass(slots=True)
class Clears:
    """What was cleared, for lines that arrive after their clear."""

    at: dict[str, int] = field(default_factory=dict)

    def add(self, redactions: Iterable[Redaction]) -> dict[str, int]:
        """Take these in; what is new, by key."""
        new: dict[str, int] = {}
        for one in redactions:
            key = one.event_id or (_USER + one.user_id if one.user_id else _ALL)
            new[key] = max(one.at, self.at.get(key, 0))
        self.at |= new
        return new

    def of(self, event: ChatEvent) -> int | None:
        """When the line was cleared, or None."""
        if event.id in self.at:
            return self.at[event.id]
        later = (self.at.get(_USER + event.user_id, -1), self.at.get(_ALL, -1))
        return next((at for at in later if event.at <= at), None)

    def forget(self, before: int) -> None:
        """Let clears go of lines that could not be stored any more."""
        self.at = {key: at for key, at in self.at.items() if at >= before}


class Ingest:
    """Takes lines in. `open` it before the first; `run` it as a task, or call `flush` where the clock is not real."""

    def __init__(
        self, *, db: Database, book: StreamBook, settings: Callable[[], Settings], clock: Clock, run_id: int
    ) -> None:
        self._db = db
        self._book = book
        self._settings = settings
        self._clock = clock
        self.run_id = run_id
        self.own_id = ""
        self.trouble = ""
        self._queue: deque[Taken | Redaction] = deque()
        self._counts: Counter[str] = Counter()
        self._clears = Clears()
        self._wake = asyncio.Event()
        self._full = asyncio.Event()
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Take up what the last run left: the open stream, and the clears that still wait for their lines."""
        await self._book.load()
        self._clears = Clears(await events.pending_clears(self._db))

    @property
    def waiting(self) -> int:
        """How many lines are not on disk yet."""
        return len(self._queue)

    def take(self, what: ChatEvent | Redaction, addressed: bool = False) -> None:  # noqa: FBT001, FBT002  # a fact about the line
        """Take a line or a clear in. `addressed`: it speaks to the bot."""
        if isinstance(what, Redaction):
            self._counts.update(("lines", "other"))
            self._push(replace(what, at=min(max(what.at, 0), self._clock.now() + DAY)))
        else:
            self._counts["lines"] += 1
            self._push(Taken(storable(what, self._clock.now()), addressed))

    def take_again(self, event: ChatEvent) -> None:
        """Count a line that is known to have been stored before, although its id may be gone: a recording's."""
        self._counts["lines"] += 1
        self._push(Taken(storable(event, self._clock.now()), again=True))

    def note(self, outcome: str, lines: int = 1) -> None:
        """Count lines that hold nothing to store: `other_room`, `unparsed`, or `other`."""
        if outcome not in NOT_STORED:
            raise ValueError(f"a line that is not stored is one of {', '.join(sorted(NOT_STORED))}")
        self._counts["lines"] += lines
        self._counts[outcome] += lines
        self._wake.set()

    def note_own_line(self, text: str, *, event_id: str, at: int, login: str = "", user_id: str = "") -> None:
        """Take in what the bot itself said, as context for summaries. Its echo from chat is dropped by user id."""
        who = user_id or self.own_id or "bot"
        event = ChatEvent(event_id, EventKind.MESSAGE, who, login or who, login or who, text, at)
        self._counts["lines"] += 1
        self._push(Taken(event, from_bot=True))

    def _push(self, what: Taken | Redaction) -> None:
        if len(self._queue) >= ROOM and isinstance(what, Taken):
            self._counts.update(("excluded", "excluded_no_room"))
            return
        self._queue.append(what)
        self._wake.set()
        if len(self._queue) >= BATCH:
            self._full.set()

    async def run(self) -> None:
        """Write batches until cancelled; then write the rest, if the disk lets it."""
        try:
            while True:
                await self._wake.wait()
                await self._gather()
                await self._write_or_wait()
        finally:
            await self._write_or_wait(patiently=False)

    async def _gather(self) -> None:
        """Let a batch fill up, for as long in real time as a line may stay unwritten."""
        try:
            async with asyncio.timeout(BATCH_WAIT_S):
                await self._full.wait()
        except TimeoutError:
            return

    async def _write_or_wait(self, *, patiently: bool = True) -> None:
        try:
            await self.flush()
        except StoreError:
            if patiently:
                await asyncio.sleep(RETRY_S)

    async def flush(self) -> None:
        """Store everything that was taken. Raises StoreError; nothing is lost by it."""
        async with self._writing:
            self._wake.clear()
            self._full.clear()
            while self._queue or self._counts:
                await self._write_batch()

    async def _write_batch(self) -> None:
        batch = [self._queue.popleft() for _ in range(min(AT_ONCE, len(self._queue)))]
        counts, self._counts = self._counts, Counter()
        left = [(batch, counts)]
        try:
            while left:
                try:
                    await self._write(*left[-1])
                except UNSTORABLE as error:
                    left += _halves(*left.pop(), error)
                else:
                    left.pop()
        except BaseException as error:
            for lines, counted in left:
                self._queue.extendleft(reversed(lines))
                self._counts.update(counted)
            self._wake.set()
            if isinstance(error, StoreError):
                self._say(error)
            raise
        self.trouble = ""

    async def _write(self, batch: Sequence[Taken | Redaction], counts: Counter[str]) -> None:
        try:
            async with self._db.write() as tx:
                await self._store(tx, batch, counts)
        except BaseException:
            self._book.forget()
            raise

    def _say(self, error: StoreError) -> None:
        if not self.trouble:
            log.warning("chat cannot be stored, it waits in memory", reason=str(error), waiting=len(self._queue))
        self.trouble = str(error)

    async def _store(self, tx: Transaction, batch: Sequence[Taken | Redaction], counted: Counter[str]) -> None:
        counts: Counter[str] = Counter()
        taken = [one for one in batch if isinstance(one, Taken)]
        redactions = [one for one in batch if isinstance(one, Redaction)]
        new_clears = self._clears.add(redactions)
        welcome = await self._welcome(tx, taken, counts)
        if welcome:
            await self._store_lines(tx, welcome, counts)
        if redactions:
            await self._clear(tx, redactions, new_clears)
        await tally.add(tx, self.run_id, counts + counted)

    async def _welcome(self, tx: Transaction, taken: Sequence[Taken], counts: Counter[str]) -> list[Taken]:
        """Those that nothing keeps out."""
        rules = Exclusion(self._settings().memory, await rights.opted_out(tx), self.own_id)
        welcome: list[Taken] = []
        for one in taken:
            why = None if one.from_bot else rules.why(one.event)
            if why is not None:
                counts.update(("excluded", f"excluded_{why}"))
            elif one.again:
                counts["duplicates"] += 1
            else:
                welcome.append(one)
        return welcome

    async def _store_lines(self, tx: Transaction, lines: Sequence[Taken], counts: Counter[str]) -> None:
        people = _seen(one.event for one in lines if not one.from_bot)
        await identities.take_in(tx, people)
        for one in {one.event.user_id: one for one in lines if one.from_bot}.values():
            await identities.add_bot(tx, one.event.user_id, one.event.login, one.event.display_name)
        placed = [(one, stream) for part, stream in await self._placed(tx, lines) for one in part]
        fresh = await events.insert(tx, [self._row(one, stream) for one, stream in placed])
        new = placed if fresh is None else _once([pair for pair in placed if pair[0].event.id in fresh])
        counts["events"] += len(new)
        counts["duplicates"] += len(lines) - len(new)
        await attendance.attend(tx, _visits(new))

    async def _placed(self, tx: Transaction, lines: Sequence[Taken]) -> list[tuple[Sequence[Taken], int | None]]:
        """The lines with their streams; a batch is one piece unless a stream may end inside it."""
        times = [one.event.at for one in lines]
        if max(times) - min(times) < self._settings().memory.stream_gap_h * 3_600_000:
            return [(lines, await self._book.place(tx, min(times), max(times)))]
        return [((one,), await self._book.place(tx, one.event.at, one.event.at)) for one in lines]

    def _row(self, one: Taken, stream_id: int | None) -> NewEvent:
        event = one.event
        cleared_at = self._clears.of(event) if self._clears.at else None
        return NewEvent(
            event.id,
            self.run_id,
            stream_id,
            event.user_id,
            event.kind,
            "" if cleared_at is not None else event.text,
            "" if cleared_at is not None else event.system_text,
            event.reply_to.event_id if event.reply_to else None,
            role_of(event.badges),
            event.bits,
            event.emote_only,
            one.addressed,
            one.from_bot,
            event.at,
            cleared_at,
        )

    async def _clear(self, tx: Transaction, redactions: Sequence[Redaction], new: dict[str, int]) -> None:
        for one in redactions:
            await events.clear(tx, Clear(one.at, one.event_id, one.user_id), self._clock.now())
            if one.user_id and one.duration_s is None and one.event_id is None:
                await identities.set_banned(tx, one.user_id, one.at)
        await events.remember_clears(tx, new)

    def forget_clears(self, before: int) -> None:
        """Called by the sweep: clears from before then wait for nothing."""
        self._clears.forget(before)


def _halves(
    batch: Sequence[Taken | Redaction], counts: Counter[str], error: Exception
) -> list[tuple[list[Taken | Redaction], Counter[str]]]:
    """Find the line that the database does not take: the halves, the older one last; or that line, counted out."""
    if len(batch) > 1:
        middle = len(batch) // 2
        return [(list(batch[middle:]), Counter()), (list(batch[:middle]), counts)]
    if not batch:
        raise error
    log.error("a line cannot be stored and is left out", error=type(error).__name__, kind=type(batch[0]).__name__)
    if isinstance(batch[0], Redaction):  # counted when it was taken
        return [([], counts)]
    return [([], counts + Counter(("excluded", "excluded_unstorable")))]


def storable(event: ChatEvent, now: int) -> ChatEvent:
    """The event as a database takes it: no half characters, and no time that would keep it for years."""
    texts = (event.text, event.system_text, event.display_name, event.login, event.id, event.user_id)
    if not all(map(str.isascii, texts)):
        event = replace(
            event,
            text=_whole(event.text),
            system_text=_whole(event.system_text),
            display_name=_whole(event.display_name),
            login=_whole(event.login),
            id=_whole(event.id),
            user_id=_whole(event.user_id),
        )
    if not 0 <= event.at <= now + DAY or event.bits >= 1 << 62:
        event = replace(event, at=min(max(event.at, 0), now), bits=min(event.bits, 1 << 32))
    return event


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _seen(chat: Iterable[ChatEvent]) -> list[Seen]:
    """Who was seen under which name, in the order of their last line."""
    last: dict[tuple[str, str, str], ChatEvent] = {}
    first: dict[tuple[str, str, str], int] = {}
    for event in chat:
        key = (event.user_id, event.login, event.display_name)
        first.setdefault(key, event.at)
        last.pop(key, None)
        last[key] = event
    return [
        Seen(*key, role_of(event.badges), min(first[key], event.at), max(first[key], event.at))
        for key, event in last.items()
    ]


def _once(pairs: Sequence[tuple[Taken, int | None]]) -> list[tuple[Taken, int | None]]:
    return list({one.event.id: (one, stream) for one, stream in reversed(pairs)}.values())


def _visits(pairs: Iterable[tuple[Taken, int | None]]) -> list[tuple[str, int, int, int, int]]:
    found: dict[tuple[str, int], tuple[int, int, int]] = {}
    for one, stream in pairs:
        if stream is None or one.from_bot:
            continue
        at = one.event.at
        first, last, lines = found.get((one.event.user_id, stream), (at, at, 0))
        found[one.event.user_id, stream] = (min(first, at), max(last, at), lines + 1)
    return [(*key, *visit) for key, visit in found.items()]
