"""Takes chat lines in; they are on disk within 250 ms.

- `take` returns at once and keeps at most `MOST_WAITING` lines in memory.
- One writer stores batches (memory/event_writer); every line is counted in the transaction that stores it.
- If writing fails, the batch is kept and retried, and `trouble` says so. What still waits at a stop is lost, and the
  log says how much.
- A line that the database never accepts is counted and skipped.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Sequence
from itertools import islice

from msgspec.structs import replace

from forgetmenot.clock import DAY, Clock
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.errors import StoreError, StoreRefused
from forgetmenot.logs import log
from forgetmenot.memory.event_writer import EventWriter, TakenLine
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database

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
NOT_STORED = frozenset({"other_room", "unparsed", "other"})


class Ingest:
    """Takes lines in. `open` it before the first; `run` it as a task, or call `flush` where the clock is not real."""

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
        self._lines = EventWriter(stream_tracker=stream_tracker, settings=settings, clock=clock)
        self.trouble = ""
        self._queue: deque[TakenLine | Redaction] = deque()
        self._counts: Counter[str] = Counter()
        self._singly = 0  # so many lines are written one by one, to find the one that the database does not accept
        self._wake = asyncio.Event()
        self._batch_full = asyncio.Event()
        self._writing = asyncio.Lock()

    async def open(self) -> None:
        """Take up the stream that the last run left open."""
        await self._stream_tracker.load()

    def close(self) -> None:
        """After the last line: say what could not be stored and is lost."""
        if self._queue:
            log.error("chat that could not be stored is lost", lines=len(self._queue), reason=self.trouble)

    @property
    def waiting(self) -> int:
        """How many lines are not on disk yet."""
        return len(self._queue)

    def take(self, what: ChatEvent | Redaction, addressed: bool = False) -> None:  # noqa: FBT001, FBT002  # a fact about the line
        """Take a line or a clear in. `addressed`: it speaks to the bot."""
        if isinstance(what, Redaction):
            self._counts.update(("lines", "other"))
            # a clear with a time far ahead would also cover what that person says later
            self._push(replace(what, at=min(max(what.at, 0), self._clock.now() + DAY)))
        else:
            self._counts["lines"] += 1
            self._push(TakenLine(storable(what, self._clock.now()), addressed))

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
                with contextlib.suppress(TimeoutError):  # a batch fills up, as long as a line may stay unwritten
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
            await self._write(batch, counts)
        except BaseException as error:  # also when cancelled: what is not written stays in the queue
            self._counts.update(counts)
            self._wake.set()
            if not isinstance(error, UNSTORABLE) or not batch:
                if isinstance(error, StoreError) and not self.trouble:
                    waiting = len(self._queue)
                    log.warning("chat cannot be stored, it waits in memory", reason=str(error), waiting=waiting)
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

    async def _write(self, batch: Sequence[TakenLine | Redaction], counts: Counter[str]) -> None:
        try:
            async with self._db.write() as tx:
                await self._lines.store(tx, batch, counts, self.own_id)
        # the tracker may have opened a stream in the transaction that was just rolled back
        except BaseException:
            self._stream_tracker.forget()
            raise


def storable(event: ChatEvent, now: int) -> ChatEvent:
    """The event in a form the database accepts: no lone surrogates, no time in the far future."""
    texts = {name: getattr(event, name) for name in _TEXTS}
    if not all(map(str.isascii, texts.values())):
        whole = {name: text.encode("utf-8", "replace").decode("utf-8") for name, text in texts.items()}
        event = replace(event, **whole)
    if not 0 <= event.at <= now + DAY:  # a line from the far future would never be old enough to be pruned
        event = replace(event, at=min(max(event.at, 0), now))
    return event
