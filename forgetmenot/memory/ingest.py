"""Takes chat lines in; they are on disk within 250 ms.

- `take` returns at once and keeps at most `MOST_WAITING` lines in memory.
- One writer stores batches (memory/event_writer); every line is counted in the transaction that stores it.
- If writing fails, the batch is kept and retried, and `trouble` says so. What waits is saved as it comes to a file
  beside the database that is reserved in advance, for a disk that is full: also a killed program loses none of it. What
  does not fit at a stop is logged as lost.
- A line that the database never accepts is counted and skipped.
"""

import asyncio
import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import msgspec

from forgetmenot.clock import DAY, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind, Redaction
from forgetmenot.errors import StoreError, StoreRefused
from forgetmenot.files import end_of_lines, write_own
from forgetmenot.logs import log
from forgetmenot.memory.event_writer import Clears, EventWriter, TakenLine
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Database
from forgetmenot.text.removal import Names

BATCH = 500
"""Lines that are written without waiting for more."""
LINES_PER_TRANSACTION = 1_000
"""The most of them in one transaction, where more have come meanwhile."""
BATCH_WAIT_S = 0.25
RETRY_S = 1.0
RESERVED = 1 << 20
"""Bytes of the file for what cannot be stored: some 2,000 lines."""
MOST_WAITING = 100_000
"""Lines in memory: of more that come while the disk takes none, each is counted and not kept."""
UNSTORABLE = (StoreRefused, OverflowError, UnicodeError)
"""Errors whose cause is one line and not the disk."""
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
        run_id: int,
    ) -> None:
        self._db = db
        self._stream_tracker = stream_tracker
        self._clock = clock
        self.run_id = run_id
        self.own_id = ""
        self._lines = EventWriter(stream_tracker=stream_tracker, settings=settings, clock=clock, run_id=run_id)
        self.trouble = ""
        self._queue: deque[TakenLine | Redaction] = deque()
        self._counts: Counter[str] = Counter()
        self._wake = asyncio.Event()
        self._batch_full = asyncio.Event()
        self._writing = asyncio.Lock()
        self._in_file = False  # what could not be stored is in the file
        self._saved = 0  # how many of the queue's first are in it

    async def open(self) -> None:
        """Take up what the last run left: the open stream, and the clears that still wait for their lines."""
        await self._stream_tracker.load()
        self._lines.clears = Clears(await events.pending_clears(self._db))
        try:
            left = await asyncio.to_thread(load_unsaved, self._db.path)
        except OSError as error:
            log.warning("what an earlier run could not store cannot be read", reason=error.strerror)
            return
        for one in left:
            self._counts.update(("lines",) if isinstance(one, TakenLine) else ("lines", "other"))
            self._push(one)
        self._saved, self._in_file = len(left), bool(left)
        if not left:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(drop_unsaved, self._db.path)

    async def close(self) -> None:
        """After the last line: what could not be stored goes into a file for the next start, or is said to be lost."""
        if not self._queue:
            return
        file, lines = unsaved_path(self._db.path), len(self._queue)
        try:
            kept = await self._may_be_kept(self._queue)
            lost = await asyncio.to_thread(save_unsaved, self._db.path, kept)
        except (OSError, StoreError) as error:
            log.error("chat that could not be stored is lost", lines=lines, reason=str(error))
            return
        lines -= lost
        log.warning("chat that could not be stored waits in a file for the next start", lines=lines, file=str(file))
        if lost:
            log.error("chat that could not be stored is lost", lines=lost, reason="there was no room for more")

    async def _may_be_kept(self, lines: Iterable[TakenLine | Redaction]) -> list[TakenLine | Redaction]:
        """Without lines of who may not be stored. Raises StoreError."""
        excluded = await self._lines.exclusion(self._db, self.own_id)
        return [one for one in lines if not isinstance(one, TakenLine) or not excluded.why(one.event)]

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

    def take_again(self, event: ChatEvent) -> None:
        """Count a line that is known to have been stored before, although its id may be gone: a recording's."""
        self._counts["lines"] += 1
        self._push(TakenLine(storable(event, self._clock.now()), again=True))

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
                await self._gather()
                await self._write_or_wait()
        finally:
            await self._write_or_wait(patiently=False)

    async def _gather(self) -> None:
        """Let a batch fill up, for as long in real time as a line may stay unwritten."""
        try:
            async with asyncio.timeout(BATCH_WAIT_S):
                await self._batch_full.wait()
        except TimeoutError:
            return

    async def _write_or_wait(self, *, patiently: bool = True) -> None:
        try:
            await self.flush()
        except StoreError:
            with contextlib.suppress(OSError, StoreError):  # `trouble` says already that the disk takes nothing
                await self._save_new()
            if patiently:
                await asyncio.sleep(RETRY_S)

    async def _save_new(self) -> None:
        """Add what came since the last try to the file; what finds no room there waits in memory alone."""
        async with self._writing:
            new = list(islice(self._queue, self._saved, None))
            if new:
                kept = await self._may_be_kept(new)
                self._saved, self._in_file = self._saved + len(new), True
                await asyncio.to_thread(save_unsaved, self._db.path, kept, behind=True)

    async def flush(self) -> None:
        """Store everything that was taken. Raises StoreError; nothing is lost by it."""
        # the task, a spoken correction and a stop may all flush at the same time
        async with self._writing:
            self._wake.clear()
            self._batch_full.clear()
            while self._queue or self._counts:
                await self._write_batch()
            if self._in_file:
                self._in_file = False
                with contextlib.suppress(OSError):  # its lines are stored: read again they would be known
                    await asyncio.to_thread(drop_unsaved, self._db.path)

    async def _write_batch(self) -> None:
        batch = [self._queue.popleft() for _ in range(min(LINES_PER_TRANSACTION, len(self._queue)))]
        self._saved -= len(batch)
        counts, self._counts = self._counts, Counter()
        # a stack: `_halves` puts the first half last, so that lines are written in the order in which they came
        left = [(batch, counts)]
        try:
            while left:
                try:
                    await self._write(*left[-1])
                except UNSTORABLE as error:
                    left += _halves(*left.pop(), error)
                else:
                    left.pop()
        # also when cancelled: what is not written goes back to the front of the queue, in its order
        except BaseException as error:
            self._saved += sum(len(lines) for lines, _ in left)
            for lines, counted in left:
                self._queue.extendleft(reversed(lines))
                self._counts.update(counted)
            self._wake.set()
            if isinstance(error, StoreError):
                if not self.trouble:
                    waiting = len(self._queue)
                    log.warning("chat cannot be stored, it waits in memory", reason=str(error), waiting=waiting)
                self.trouble = str(error)
            raise
        finally:
            self._saved = max(0, self._saved)
        self.trouble = ""

    async def _write(self, batch: Sequence[TakenLine | Redaction], counts: Counter[str]) -> None:
        try:
            async with self._db.write() as tx:
                await self._lines.store(tx, batch, counts, self.own_id)
        # the tracker may have opened a stream in the transaction that was just rolled back
        except BaseException:
            self._stream_tracker.forget()
            raise

    def forget_clears(self, before: int) -> None:
        """Called by the sweep: clears from before then wait for nothing."""
        self._lines.clears.forget(before)


def _halves(
    batch: Sequence[TakenLine | Redaction], counts: Counter[str], error: Exception
) -> list[tuple[list[TakenLine | Redaction], Counter[str]]]:
    """Bisect a batch to find the line that the database does not accept."""
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
    """The event in a form the database accepts: no lone surrogates, no time in the far future."""
    texts = {name: getattr(event, name) for name in _TEXTS}
    if not all(map(str.isascii, texts.values())):
        whole = {name: text.encode("utf-8", "replace").decode("utf-8") for name, text in texts.items()}
        event = replace(event, **whole)
    # SQLite's integers have 64 bits, and a line from the far future would never be old enough to be pruned
    if not 0 <= event.at <= now + DAY or event.bits >= 1 << 62:
        event = replace(event, at=min(max(event.at, 0), now), bits=min(event.bits, 1 << 32))
    return event


# Lines that could not be stored wait in a file beside the database for the next start. It is its owner's
# alone and holds raw chat, as the database would, and is overwritten as soon as its lines are stored.


class _Row(msgspec.Struct, omit_defaults=True):
    line: TakenLine | None = None
    clear: Redaction | None = None


def unsaved_path(database: Path) -> Path:
    """Where the file lies."""
    return database.with_name(database.name + ".unsaved")


def save_unsaved(database: Path, lines: Iterable[TakenLine | Redaction], *, behind: bool = False) -> int:
    """Write lines into the file, the oldest first, anew or `behind` what is in it; how many had no room.

    Raises OSError if none had.
    """
    file = unsaved_path(database)
    rows = [_Row(line=_alone(item)) if isinstance(item, TakenLine) else _Row(clear=item) for item in lines]
    data = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    held = _held(file)
    at, before = end_of_lines(held) if behind else (0, b"")
    try:
        write_own(file, before + data if behind else data.ljust(len(held), b"\n"), at=at)
    except OSError:
        room = max(0, len(_held(file)) - at - len(before))
        fits = data[: data.rfind(b"\n", 0, room) + 1]
        write_own(file, before + fits.ljust(room, b"\n"), at=at)
        if not fits:
            raise
        return len(rows) - fits.count(b"\n")
    return 0


def _held(file: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return file.read_bytes()
    return b""


def _alone(item: TakenLine) -> TakenLine:
    """The line without the words of the one that it answers, which may be anybody's."""
    answered = item.event.reply_to
    if answered is None:
        return item
    return replace(item, event=replace(item.event, reply_to=replace(answered, login="", text="")))


def load_unsaved(database: Path) -> list[TakenLine | Redaction]:
    """What is in the file, in order; a line that cannot be read is left out. Raises OSError."""
    found: list[TakenLine | Redaction] = []
    for text in _held(unsaved_path(database)).strip().splitlines():  # what is reserved is line ends
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            row = msgspec.json.decode(text, type=_Row)
            found += [item for item in (row.line, row.clear) if item is not None]
    return found


def drop_unsaved(database: Path) -> None:
    """Overwrite the file, and leave it reserved. Raises OSError."""
    file = unsaved_path(database)
    held = _held(file)
    if len(held) != RESERVED or held.strip():
        write_own(file, b"\n" * max(len(held), RESERVED))
        os.truncate(file, RESERVED)


def forget_unsaved(database: Path, who: Names) -> None:
    """Take a person's lines out of the file, and their names out of what others said. Raises OSError."""
    if held := load_unsaved(database):
        save_unsaved(database, [_without(item, who) for item in held if _viewer_of(item) != who.viewer_id])


def _viewer_of(item: TakenLine | Redaction) -> str | None:
    return item.event.user_id if isinstance(item, TakenLine) else item.user_id


def _without(item: TakenLine | Redaction, who: Names) -> TakenLine | Redaction:
    if isinstance(item, Redaction):
        return item
    event: ChatEvent = item.event
    answered = event.reply_to if event.reply_to is None or event.reply_to.user_id != who.viewer_id else None
    hidden, system_text = who.hidden(event.text), who.hidden(event.system_text)
    return replace(item, event=replace(event, reply_to=answered, text=hidden, system_text=system_text))
