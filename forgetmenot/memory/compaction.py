"""The compaction loop: unread chat becomes episodes, window by window, until nothing is due.

Promises: an episode, its people and the mark on its events are one transaction, refused if one of the events was
cleared while the model was thinking (then the window is read again); a model that fails leaves events unread, for
later; before they age out they are counted without it; a window that a model will not read is split once and then
counted. An episode that rests on a line cleared since is summarised again, once per pass.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from forgetmenot.clock import HOUR, MINUTE, Clock
from forgetmenot.errors import ModelBlocked, ModelError
from forgetmenot.logs import log
from forgetmenot.memory.episodes.recaps import Recaps
from forgetmenot.memory.episodes.summarise import Summariser
from forgetmenot.memory.episodes.windows import Cut, Window, aged, halves, windows
from forgetmenot.memory.streams import StreamBook
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import episode_mending, episodes, events, streams
from forgetmenot.store.database import Database
from forgetmenot.store.episode_mending import Dirty
from forgetmenot.store.episodes import NewEpisode

READ_AT_ONCE = 2_000
CLOSING_S = 3.0
REREADS = 3
"""How often a window is read again in one pass because its lines were cleared meanwhile."""


@dataclass(slots=True)
class PassReport:
    """What one pass did. `trouble`: what was wrong with the model, as a sentence; `unread`: events that wait."""

    episodes: list[int] = field(default_factory=list)
    counted: int = 0
    events: int = 0
    redone: int = 0
    removed: int = 0
    recaps: int = 0
    unread: int = 0
    trouble: str = ""

    @property
    def changed(self) -> bool:
        """Whether what prompts are made of has changed."""
        return bool(self.episodes or self.redone or self.removed or self.recaps)


class Compactor:
    """Runs passes, one at a time. `settings` is asked once per pass."""

    def __init__(
        self,
        *,
        db: Database,
        model: LanguageModel,
        settings: Callable[[], Settings],
        clock: Clock,
        book: StreamBook | None = None,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._book = book
        self._summariser = Summariser(db=db, model=model, settings=settings, clock=clock)
        self._recaps = Recaps(db=db, model=model, settings=settings, clock=clock)
        self._one_at_a_time = asyncio.Lock()

    async def run_pass(self, *, closing: bool = False, everything: bool = False) -> PassReport:
        """Summarise what is due. `closing`: everything, if the model answers in time; `everything`: without that limit.

        Raises StoreError. A model's failure is in the report.
        """
        report = PassReport()
        try:
            async with asyncio.timeout(CLOSING_S if closing else None), self._one_at_a_time:
                await self._pass(report, everything=everything or closing)
        except TimeoutError:
            report.trouble = "The model did not answer in time; what is left is read at the next start."
        report.unread = await events.count_unread(self._db)
        if report.changed or report.trouble:
            tell = log.info if report.changed else log.debug  # a model that is away is told by its own room, once
            tell(
                "chat compacted",
                episodes=len(report.episodes),
                events=report.events,
                redone=report.redone,
                unread=report.unread,
                trouble=report.trouble,
            )
        return report

    async def cover_aged(self) -> PassReport:
        """Count what is about to age out unread; no model is asked. The sweep calls this before it prunes."""
        report = PassReport()
        async with self._one_at_a_time:
            await self._cover_aged(report)
            await self._redo_by_counting(report)
        return report

    async def _pass(self, report: PassReport, *, everything: bool) -> None:
        if self._book is not None:
            await self._book.tick(self._clock.now())
        await self._cover_aged(report)
        await self._redo(report)
        await self._drain(report, everything=everything)
        report.recaps += await self._recaps.write_due(ask=not report.trouble)

    async def _drain(self, report: PassReport, *, everything: bool) -> None:
        while not report.trouble:
            lines = await events.unread(self._db, READ_AT_ONCE)
            due = windows(lines, await self._cut(everything=everything, truncated=len(lines) == READ_AT_ONCE))
            before = len(report.episodes)
            for window in due:
                await self._cover(window, report)
                if report.trouble:
                    return
            if len(report.episodes) == before:
                return

    async def _cut(self, *, everything: bool, truncated: bool) -> Cut:
        memory = self._settings().memory
        return Cut(
            smallest=memory.window_min_events,
            largest=memory.window_max_events,
            silence=memory.silence_min * MINUTE,
            now=self._clock.now(),
            closed=await streams.closed(self._db),
            everything=everything,
            truncated=truncated,
        )

    async def _cover(self, window: Window, report: PassReport) -> None:
        """One window: by the model, in two halves if it is refused, and by counting what is refused again."""
        try:
            await self._write(window, self._summariser.with_model, report)
        except ModelBlocked:
            for half in halves(window):
                await self._cover_half(half, report)
        except ModelError as error:
            report.trouble = str(error)

    async def _cover_half(self, window: Window, report: PassReport) -> None:
        if not window or report.trouble:
            return
        try:
            await self._write(window, self._summariser.with_model, report)
        except ModelBlocked:
            log.warning("a window was counted, the model would not read it", events=len(window))
            await self._write(window, self._summariser.by_counting, report)
        except ModelError as error:
            report.trouble = str(error)

    async def _write(self, window: Window, read: Callable[[Window], Awaitable[NewEpisode]], report: PassReport) -> None:
        for _ in range(REREADS):
            new = await read(window)
            episode_id = await episodes.write(self._db, new, self._clock.now())
            if episode_id is not None:
                report.episodes.append(episode_id)
                report.events += len(window)
                return
            window = await events.still_unread(self._db, [line.seq for line in window])
            if not window:
                return

    async def _cover_aged(self, report: PassReport) -> None:
        """Nothing ages out unread."""
        memory = self._settings().memory
        before = self._clock.now() - self._limit()
        while lines := await events.unread(self._db, READ_AT_ONCE):
            due = aged(lines, memory.window_max_events, before)
            done = len(report.episodes)
            for window in due:
                await self._write(window, self._summariser.by_counting, report)
            report.counted += len(report.episodes) - done
            if len(report.episodes) == done:
                return

    def _limit(self) -> int:
        """How old an unread line may become: half an hour less than it may be kept."""
        keep = int(self._settings().memory.raw_events_h * HOUR)
        return keep - min(30 * MINUTE, keep // 4)

    async def _redo(self, report: PassReport) -> None:
        """Summarise again what rests on cleared lines; what ages out meanwhile is counted. Notes go without a model."""
        dirty = await episode_mending.dirty(self._db)
        for one in dirty:
            await episode_mending.let_notes_go(self._db, one.id, self._clock.now())
        for one in dirty:
            if report.trouble and not self._is_aged(one):
                continue
            read = self._summariser.by_counting if self._is_aged(one) else self._summariser.with_model
            try:
                await self._redo_one(one, read, report)
            except ModelBlocked:
                await self._redo_one(one, self._summariser.by_counting, report)
            except ModelError as error:
                report.trouble = str(error)

    async def _redo_by_counting(self, report: PassReport) -> None:
        for one in await episode_mending.dirty(self._db):
            if self._is_aged(one):
                await self._redo_one(one, self._summariser.by_counting, report)

    def _is_aged(self, one: Dirty) -> bool:
        return one.started_at < self._clock.now() - self._limit()

    async def _redo_one(self, one: Dirty, read: Callable[[Window], Awaitable[NewEpisode]], report: PassReport) -> None:
        for _ in range(REREADS):
            window = await events.of_episode(self._db, one.id)
            if not window:
                report.removed += await episode_mending.remove(self._db, one, self._clock.now())
                return
            if await episode_mending.rewrite(self._db, one.id, await read(window), self._clock.now()):
                report.redone += 1
                return
