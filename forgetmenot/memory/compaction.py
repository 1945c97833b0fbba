"""The compaction loop: unread chat becomes episodes, window by window, until nothing is due.

- An episode, its people and the mark on its events are one transaction, refused if one of the events was cleared
  while the model was thinking; then the window is read again.
- Whatever a model does wrong leaves the events unread, and the pass goes on. A window that got no answer comes first in
  the next pass; one without a usable summary is halved and tried again, later each time, so that a line that no model
  reads ends up alone. Only the age limit has chat counted instead of summarised.
- While chat is behind, several windows are summarised together; their episodes are written in order of time.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct, field

from forgetmenot.clock import Clock
from forgetmenot.domain import Line
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import ODD_INPUT, ModelBlocked, ModelError
from forgetmenot.languages import join_reasons, reason
from forgetmenot.logs import log
from forgetmenot.memory.stream_recap import RecapWriter
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.memory.summarizer import Summarizer
from forgetmenot.memory.transcript import (
    Cut,
    Window,
    aged,
    halves,
    waiting_time,
    windows,
)
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import episodes, events, streams
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.text.words import clear_text_caches

# Unread lines that are read at once.
READ_AT_ONCE = 2_000
# Seconds that a stop waits for the last summaries.
CLOSING_S = 3.0
# Fewer lines than a window may have wait this long for more: fewer, fuller summaries cost fewer model calls. What they
# say is found meanwhile as it was typed (memory/unsummarised). Not longer: an event without a line of its own has only
# the minutes of its window.
WINDOW_WAITS = 10 * MINUTE
# After this long without a line, fewer lines than a window's are summarised, too.
SILENCE = 30 * MINUTE
# How many windows are summarised together while more than these are due. A model takes five calls at once
# (llm/guarded.Limits): two are left to extraction, which goes on meanwhile.
WINDOWS_AT_ONCE = 3
# Lines are counted this long before they may not be stored any more.
COUNTED_BEFORE = 30 * MINUTE
# After this many windows without a summary, and none with one between, the model is taken to be at fault.
FAILURES_IN_A_ROW = 3


class PassReport(Struct):
    """What a pass did.

    `episodes`: the ids of those written. `counted`: how many of them count chat without the model. `unread`: events
    that still wait. `failures_in_a_row`: windows without a summary since the last one that got one; `failure`: why the
    last of them has none. `unanswered`: the numbers of lines that are left to the next pass. `trouble`: a sentence on
    why the pass ended early.
    """

    episodes: list[int] = field(default_factory=list)
    counted: int = 0
    recaps: int = 0
    unread: int = 0
    failures_in_a_row: int = 0
    failure: str = ""
    unanswered: set[int] = field(default_factory=set)
    trouble: str = ""

    @property
    def model_works(self) -> bool:
        """Return whether the model has summarised a window."""
        return len(self.episodes) > self.counted

    @property
    def changed(self) -> bool:
        """Return whether the pass wrote an episode or a recap, so that prompts have something new."""
        return bool(self.episodes or self.recaps)


class Compactor:
    """Runs passes, one at a time. It reads the settings anew in each pass."""

    def __init__(
        self,
        *,
        db: Database,
        model: LanguageModel,
        settings: Callable[[], Settings],
        clock: Clock,
        stream_tracker: StreamTracker,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._stream_tracker = stream_tracker
        self._summarizer = Summarizer(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self._recaps = RecapWriter(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self._pass_lock = asyncio.Lock()
        # in the last pass every window failed: the next one ends at its first failure, and the other windows stay whole
        self._model_suspected = False

    async def run_pass(
        self, *, closing: bool = False, everything: bool = False
    ) -> PassReport:
        """Summarise what is due, and return a report. If the model fails, its `trouble` says so. Raises StoreError.

        `everything`: do not wait for more lines. `closing`: also everything, but for at most CLOSING_S seconds.
        """
        report = PassReport()
        time_limit = CLOSING_S if closing else None
        try:
            async with asyncio.timeout(time_limit), self._pass_lock:
                await self._pass(report, everything=everything or closing)
        except TimeoutError:
            report.trouble = reason("chat_kept")
        report.unread = await events.count_unread(self._db)
        if report.changed or report.trouble:
            # an unreachable model is logged once by llm/guarded
            write_log = log.info if report.changed else log.debug
            write_log(
                "chat compacted",
                episodes=len(report.episodes),
                unread=report.unread,
                trouble=report.trouble,
            )
        return report

    async def cover_aged(self) -> None:
        """Count lines that will be deleted unread soon, without the model. The sweep of old lines calls this first."""
        async with self._pass_lock:
            await self._cover_aged(PassReport())

    async def _pass(self, report: PassReport, *, everything: bool) -> None:
        """Count lines that will be deleted soon, summarise what is due, then write recaps of streams that are over."""
        await self._stream_tracker.tick(self._clock.now())
        await self._cover_aged(report)
        await self._drain(report, everything=everything)
        if report.model_works:
            self._model_suspected = False
        else:
            report.trouble = report.trouble or report.failure
            # a pass in which nothing was due says nothing of the model, so it clears no suspicion
            self._model_suspected = self._model_suspected or bool(report.failure)
        report.recaps += await self._recaps.write_due(ask=not report.trouble)

    async def _drain(self, report: PassReport, *, everything: bool) -> None:
        """Summarise window after window, until none is due or the pass has trouble with the model."""
        while not report.trouble:
            due_windows = await self._due_windows(report, everything=everything)
            if not due_windows:
                return
            while due_windows and not report.trouble:
                batch_size = self._number_at_once(len(due_windows), report)
                await self._cover_at_once(due_windows[:batch_size], report)
                due_windows = due_windows[batch_size:]

    async def _due_windows(
        self, report: PassReport, *, everything: bool
    ) -> list[Window]:
        """Return the windows that are due, without the lines that the model left unanswered in this pass."""
        memory = self._settings().memory
        lines = await self._unread_lines(due_at=self._clock.now())
        wait = 0
        # the first summary comes soon, so that a new streamer sees one
        is_first_summary = await self._db.highest_id("episodes") == 0
        if not everything and not is_first_summary:
            wait = WINDOW_WAITS
        cut = Cut(
            smallest=memory.window_min_events,
            largest=memory.window_max_events,
            silence=SILENCE,
            now=self._clock.now(),
            closed=await streams.ended_with_unread(self._db),
            everything=everything,
            truncated=len(lines) == READ_AT_ONCE,
            wait=wait,
        )
        to_read = [line for line in lines if line.seq not in report.unanswered]
        return windows(to_read, cut)

    async def _unread_lines(self, due_at: int = events.END_OF_TIME) -> list[Line]:
        """Return the oldest READ_AT_ONCE unread lines, without those that at `due_at` (ms) wait for another try."""
        # in the reader's thread, because so many objects would hold the event loop for 5 to 10 ms
        return await self._db.together(
            lambda snapshot: events.unread(snapshot, READ_AT_ONCE, due_at=due_at)
        )

    def _number_at_once(self, due_count: int, report: PassReport) -> int:
        """Return how many of the due windows are summarised together.

        It is one, unless chat is behind and the model works: a model that fails is asked as seldom as possible.
        """
        is_behind = due_count > WINDOWS_AT_ONCE
        model_works = report.model_works and report.failures_in_a_row == 0
        if is_behind and model_works:
            return WINDOWS_AT_ONCE
        return 1

    async def _cover_at_once(
        self, due_windows: Sequence[Window], report: PassReport
    ) -> None:
        """Summarise windows together, and write their episodes in order of time."""
        summaries = [self._summarizer.with_model(window) for window in due_windows]
        results = await asyncio.gather(*summaries, return_exceptions=True)
        for window, result in zip(due_windows, results, strict=True):
            await self._cover(window, result, report)

    async def _cover(
        self,
        window: Window,
        result: NewEpisode | BaseException,
        report: PassReport,
    ) -> None:
        """Write the episode of a window, or record the failure of its summary. Raises StoreError."""
        try:
            # asyncio.gather returned it; raised again, it is handled by its kind
            if isinstance(result, BaseException):
                raise result
            await self._write(result, report)
            report.failures_in_a_row = 0
        except ModelBlocked as error:
            await self._postpone(window, str(error), report)
        except ModelError as error:
            # no answer says nothing about the window: it stays whole for the next pass
            report.unanswered |= {line.seq for line in window}
            self._count_failure(str(error), report)
        except ODD_INPUT as error:
            log.exception("a window could not be read")
            failure = f"{type(error).__name__} while a summary was made."
            await self._postpone(window, failure, report)

    async def _postpone(
        self,
        window: Window,
        failure: str,
        report: PassReport,
    ) -> None:
        """Halve a window that got no usable summary, so that its halves are tried again. A single line stays as it is.

        Halves are due at once if the model has summarised another window in this pass. Else they wait, as a single line
        always does.
        """
        self._count_failure(join_reasons(failure, reason("chat_kept")), report)
        # a safety filter may stop at one line alone: halving finds it, and the other lines get their summary
        tries = max(line.tries for line in window) + 1
        retry_at = self._clock.now()
        if not report.model_works or len(window) == 1:
            retry_at += waiting_time(tries)
        async with self._db.write() as tx:
            await events.postpone(tx, halves(window), tries=tries, retry_at=retry_at)
        log.debug("a window waits for another try", events=len(window), tries=tries)

    def _count_failure(self, failure: str, report: PassReport) -> None:
        """Count a window that got no summary, and set `trouble` if the model seems to be at fault.

        It seems so after FAILURES_IN_A_ROW failures, or after one if every window of the last pass failed.
        """
        report.failures_in_a_row += 1
        report.failure = failure
        still_fails = self._model_suspected and not report.model_works
        if still_fails or report.failures_in_a_row >= FAILURES_IN_A_ROW:
            report.trouble = failure

    async def _write(self, episode: NewEpisode, report: PassReport) -> None:
        """Store an episode, unless one of its lines was cleared meanwhile. Raises StoreError."""
        episode_id = await episodes.write(self._db, episode, self._clock.now())
        if episode_id is not None:
            report.episodes.append(episode_id)
            return
        # The other lines are read again. The caches are emptied, because the line may be of somebody who was erased.
        await asyncio.to_thread(clear_text_caches)

    async def _cover_aged(self, report: PassReport) -> None:
        """Count the lines that would be deleted unread soon, window by window."""
        memory = self._settings().memory
        longest_age = int(memory.raw_events_h * HOUR)
        # where chat is kept for only an hour, COUNTED_BEFORE would count half of it before a model can read it
        head_start = min(COUNTED_BEFORE, longest_age // 4)
        said_before = self._clock.certain() - longest_age + head_start
        # each round reads READ_AT_ONCE lines at most
        while True:
            number_before = len(report.episodes)
            lines = await self._unread_lines()
            for window in aged(lines, memory.window_max_events, said_before):
                episode = await self._summarizer.by_counting(window)
                await self._write(episode, report)
            counted = len(report.episodes) - number_before
            if counted == 0:
                return
            report.counted += counted
