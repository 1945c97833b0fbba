"""Listens to the streamer's captions while the settings allow it, and hands them on line by line.

- A source that fails (OBS closed, a wrong password, no such file) is a sentence in `trouble`, and
  is tried again.
- Switched off, nothing is opened. While it is `paused` nothing is heard.
- However much comes, at most MAX_PER_MINUTE lines are handed on; the rest is dropped.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from forgetmenot.clock import Clock
from forgetmenot.durations import MINUTE, SlidingWindow
from forgetmenot.errors import HearingError, InputError
from forgetmenot.hearing.captions import (
    MAX_LINE,
    CaptionReader,
    is_made_of_silence,
    spoken_words,
)
from forgetmenot.hearing.sources import Caption, CaptionFile, follow
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.settings.schema import HearingSettings

# Lines that are handed on.
MAX_PER_MINUTE = 60
# How often the settings and the captions' file are looked at.
LOOK_EVERY_S = 0.5
FILE_ANSWERS_WITHIN_S = 5.0
# How long a source that failed is left alone: twice as long each time, up to the longest pause.
FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 30.0


class Hearing:
    """Hears the streamer's captions as lines."""

    def __init__(
        self,
        *,
        settings: Callable[[], HearingSettings],
        clock: Clock,
        hear: Callable[[str], Awaitable[None]],
        live: Callable[[bool | None], Awaitable[None]],
        password: Callable[[], str],
    ) -> None:
        """Take where lines go.

        `hear` gets each line, `live` whether OBS streams, as sources.follow reports it. `password`
        returns OBS's password.
        """
        self._settings = settings
        self._clock = clock
        self._hear = hear
        self._live = live
        self._password = password
        self._lines: asyncio.Queue[str] = asyncio.Queue(MAX_PER_MINUTE)
        self._handed_on = SlidingWindow(MAX_PER_MINUTE, MINUTE)
        self.paused = False
        self._trouble_of_source: dict[str, str] = {}
        # The look at the captions' file that is under way, or was the last.
        self._look: asyncio.Future[list[Caption] | Exception] | None = None
        # The line that was heard last, and when that was (ms).
        self.last = ""
        self.last_at = 0

    @property
    def listening(self) -> bool:
        """Return whether something would be heard now."""
        return self._settings().on and not self.paused

    @property
    def trouble(self) -> str:
        """Return why a source cannot be heard; "" if all can."""
        for trouble in self._trouble_of_source.values():
            if trouble:
                return trouble
        return ""

    def sent(self, text: str) -> bool:
        """Take the lines that a program sent.

        False if they are not to be heard, or too much comes. What a recognizer makes of silence is
        taken, and is no line.
        """
        if not self.listening:
            return False
        if not self._settings().programs:
            return False
        silent_for = self._clock.now() - self.last_at
        are_all_taken = True
        for row in text.splitlines():
            line = spoken_words(row)[:MAX_LINE]
            if is_made_of_silence(line, silent_for):
                continue
            # The others are taken all the same: what fits is heard.
            if not self._take(line):
                are_all_taken = False
        return are_all_taken

    async def run(self) -> None:
        """Listen, as the settings of the moment say; never returns."""
        # Handing on is a task of its own: a reader who takes long must not hold up a source.
        handing_on = self._hand_on()
        obs = self._follow("obs", _wants_obs, self._follow_obs)
        file = self._follow("captions", _wants_file, self._follow_file)
        async with asyncio.TaskGroup() as group:
            group.create_task(handing_on)
            group.create_task(obs)
            group.create_task(file)

    async def _hand_on(self) -> None:
        while True:
            line = await self._lines.get()
            # It may have been switched off, or paused, while the line waited.
            if not self.listening:
                continue
            self.last = line
            self.last_at = self._clock.now()
            await self._hear(line)

    def _take(self, line: str) -> bool:
        """Queue a line; False if it is not to be heard, or too much comes."""
        now = self._clock.now()
        # A source is stopped up to LOOK_EVERY_S after it was switched off.
        if not self.listening:
            return False
        if self._handed_on.is_full(now):
            return False
        if self._lines.full():
            return False
        self._handed_on.count(now)
        self._lines.put_nowait(line)
        return True

    def _take_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._take(line)

    async def _follow(
        self,
        name: str,
        is_wanted: Callable[[HearingSettings], bool],
        source: Callable[[HearingSettings], Awaitable[None]],
    ) -> None:
        """Keep one kind of source going while it is wanted; never returns.

        It is begun again when it fails and when its settings change.
        """
        loop = asyncio.get_running_loop()
        pause_s = FIRST_PAUSE_S
        while True:
            settings = self._settings()
            if self.paused or not is_wanted(settings):
                pause_s = FIRST_PAUSE_S
                await asyncio.sleep(LOOK_EVERY_S)
                continue
            began_at_s = loop.time()
            work = asyncio.ensure_future(source(settings))
            try:
                while not work.done() and self._goes_on_with(settings):
                    await asyncio.wait({work}, timeout=LOOK_EVERY_S)
                if work.done():
                    await work
            except (HearingError, InputError) as error:
                if self._trouble_of_source.get(name) != str(error):
                    log.warning("captions cannot be heard", reason=str(error))
                self._trouble_of_source[name] = str(error)
                pause_s = min(2 * pause_s, MAX_PAUSE_S)
                lasted_s = loop.time() - began_at_s
                # It worked until now: the failures before it are another matter.
                if lasted_s > MAX_PAUSE_S:
                    pause_s = FIRST_PAUSE_S
                await asyncio.sleep(pause_s)
            finally:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)

    def _goes_on_with(self, settings: HearingSettings) -> bool:
        """Return whether these are still the settings, and nobody paused it."""
        return not self.paused and self._settings() == settings

    async def _follow_obs(self, settings: HearingSettings) -> None:
        reader: CaptionReader | None = None

        def shown(text: str) -> None:
            nonlocal reader
            self._trouble_of_source["obs"] = ""
            # OBS breaks a line where its source ends.
            one_line = text.replace("\n", " ")
            # What stood there when OBS was connected is old.
            if reader is None:
                reader = CaptionReader()
                reader.stands(one_line)
            lines = reader.shows(one_line, self._clock.now())
            self._take_all(lines)

        password = await asyncio.to_thread(self._password)
        await follow(settings.obs, password, settings.source, shown, self._live)

    async def _follow_file(self, settings: HearingSettings) -> None:
        # Path's own expanduser raises if nobody has that name.
        path = os.path.expanduser(settings.captions)  # noqa: PTH111
        file = CaptionFile(Path(path))
        reader = CaptionReader()
        while True:
            # A look from before a pause may still hang.
            await self._file_answers(settings)
            self._look = _in_a_thread(file.look)
            await self._file_answers(settings)
            captions = self._look.result()
            if isinstance(captions, Exception):
                raise captions
            self._trouble_of_source["captions"] = ""
            self._read(reader, captions)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _file_answers(self, settings: HearingSettings) -> None:
        """Wait until the look at the file has ended.

        A network drive may hang: no second look is begun meanwhile.
        """
        if self._look is None:
            return
        done, _ = await asyncio.wait({self._look}, timeout=FILE_ANSWERS_WITHIN_S)
        if not done:
            self._trouble_of_source["captions"] = reason(
                "unreadable_file", path=settings.captions, why=reason("in_time")
            )
            await asyncio.wait({self._look})

    def _read(self, reader: CaptionReader, captions: list[Caption]) -> None:
        now = self._clock.now()
        lines: list[str] = []
        # A program may have written an hour at once: more than these would be dropped anyway.
        for caption in captions[-MAX_PER_MINUTE:]:
            if caption.ended:
                lines += reader.ends(caption.text, now)
            else:
                lines += reader.shows(caption.text, now)
        if not captions:
            lines += reader.quiet(now)
        self._take_all(lines)


def _wants_obs(settings: HearingSettings) -> bool:
    return settings.obs != "" and settings.source != ""


def _wants_file(settings: HearingSettings) -> bool:
    return settings.captions != ""


def _in_a_thread(
    look: Callable[[], list[Caption]],
) -> "asyncio.Future[list[Caption] | Exception]":
    """Look in a thread of its own, and return its result or error in a future.

    The loop's own threads are few, and the program's end would wait for them.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Caption] | Exception] = loop.create_future()

    def work() -> None:
        result: list[Caption] | Exception
        try:
            result = look()
        except Exception as error:  # noqa: BLE001  # whoever waits for the answer raises it
            result = error
        # The loop may have ended.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(answer.set_result, result)

    threading.Thread(target=work, name="captions", daemon=True).start()
    return answer
