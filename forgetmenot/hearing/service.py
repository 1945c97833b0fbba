"""Listens to the streamer's captions while the settings say so, and hands on what was said, line by line.

- A source that fails (OBS closed, a wrong password, no such file) is a sentence in `trouble`, and is tried again.
- Switched off, nothing is opened; while it is `paused` nothing is heard.
- However much comes, at most MOST_PER_MINUTE lines are handed on; the rest is dropped.
"""

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

from forgetmenot.clock import Clock
from forgetmenot.durations import MINUTE
from forgetmenot.errors import HearingError, InputError
from forgetmenot.hearing.captions import (
    LONGEST_LINE,
    CaptionReader,
    is_made_of_silence,
    spoken_words,
)
from forgetmenot.hearing.sources import Caption, CaptionFile, follow
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.settings.schema import HearingSettings

MOST_PER_MINUTE = 60
LOOK_EVERY_S = 0.5
FILE_ANSWERS_WITHIN_S = 5.0
LONGEST_PAUSE_S = 30.0


class Hearing:
    """The streamer's voice as lines. `hear` gets each; `live`: whether OBS streams, as sources.follow reports it.

    `password`: OBS's, from the place where secrets are kept.
    """

    def __init__(
        self,
        *,
        settings: Callable[[], HearingSettings],
        clock: Clock,
        hear: Callable[[str], Awaitable[None]],
        live: Callable[[bool | None], Awaitable[None]],
        password: Callable[[], str],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._hear = hear
        self._live = live
        self._password = password
        self._lines: asyncio.Queue[str] = asyncio.Queue(MOST_PER_MINUTE)
        self._given: deque[int] = deque(maxlen=MOST_PER_MINUTE)
        self.paused = False
        self._troubles: dict[str, str] = {}  # by source
        self._looking: asyncio.Future[list[Caption] | Exception] | None = None
        self.last = ""
        self.last_at = 0

    @property
    def listening(self) -> bool:
        """Whether something would be heard now."""
        return self._settings().on and not self.paused

    @property
    def trouble(self) -> str:
        """Why a source cannot be heard; empty if there is no such."""
        return next(filter(None, self._troubles.values()), "")

    def sent(self, text: str) -> bool:
        """Take the lines that a program sent; False if they are not to be heard, or too much comes.

        What a recognizer makes of silence is taken, and is no line.
        """
        if not self.listening or not self._settings().programs:
            return False
        silent_for = self._clock.now() - self.last_at
        lines = [spoken_words(line)[:LONGEST_LINE] for line in text.splitlines()]
        said = [line for line in lines if not is_made_of_silence(line, silent_for)]
        taken = [self._take(line) for line in said]
        return all(taken)

    async def run(self) -> None:
        """Listen for ever, as the settings of the moment say."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._hand_on())
            group.create_task(
                self._follow("obs", lambda now: bool(now.obs and now.source), self._follow_obs)
            )
            group.create_task(
                self._follow("captions", lambda now: bool(now.captions), self._follow_file)
            )

    async def _hand_on(self) -> None:
        while True:
            line = await self._lines.get()
            if not self.listening:
                continue
            self.last, self.last_at = line, self._clock.now()
            await self._hear(line)

    def _take(self, line: str) -> bool:
        now = self._clock.now()
        crowded = len(self._given) == MOST_PER_MINUTE and now - self._given[0] < MINUTE
        if not line or not self.listening or crowded or self._lines.full():
            return False
        self._given.append(now)
        self._lines.put_nowait(line)
        return True

    async def _follow(
        self,
        name: str,
        wanted: Callable[[HearingSettings], bool],
        source: Callable[[HearingSettings], Awaitable[None]],
    ) -> None:
        """Keep one kind of source going: again when it fails, anew when its settings change, not while it is off."""
        pause = 1.0
        while True:
            settings = self._settings()
            if not wanted(settings) or self.paused:
                pause = 1.0
                await asyncio.sleep(LOOK_EVERY_S)
                continue
            began = asyncio.get_running_loop().time()
            working = asyncio.ensure_future(source(settings))
            try:
                while not working.done() and self._settings() == settings and not self.paused:
                    await asyncio.wait({working}, timeout=LOOK_EVERY_S)
                if working.done():
                    await working
            except (HearingError, InputError) as error:
                if self._troubles.get(name) != str(error):
                    log.warning("captions cannot be heard", reason=str(error))
                self._troubles[name] = str(error)
                lasted = asyncio.get_running_loop().time() - began
                pause = 1.0 if lasted > LONGEST_PAUSE_S else min(2 * pause, LONGEST_PAUSE_S)
                await asyncio.sleep(pause)
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)

    async def _follow_obs(self, settings: HearingSettings) -> None:
        reader: CaptionReader | None = None

        def shown(text: str) -> None:
            nonlocal reader
            self._troubles["obs"] = ""
            if reader is None:
                reader = CaptionReader()
                reader.stands(text.replace("\n", " "))
            # OBS breaks a line where its source ends
            for line in reader.shows(text.replace("\n", " "), self._clock.now()):
                self._take(line)

        password = await asyncio.to_thread(self._password)
        await follow(settings.obs, password, settings.source, shown, self._live)

    async def _follow_file(self, settings: HearingSettings) -> None:
        # Path's own expanduser raises where nobody has that name
        file = CaptionFile(Path(os.path.expanduser(settings.captions)))  # noqa: PTH111
        reader = CaptionReader()
        while True:
            await self._file_answers(settings)  # to a look before a pause
            self._looking = _in_a_thread(file.look)
            await self._file_answers(settings)
            captions = self._looking.result()
            if isinstance(captions, Exception):
                raise captions
            self._troubles["captions"] = ""
            self._read(reader, captions)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _file_answers(self, settings: HearingSettings) -> None:
        """Wait until nobody looks at the file. A network drive may hang: then no second look is begun."""
        if self._looking is None:
            return
        done, _ = await asyncio.wait({self._looking}, timeout=FILE_ANSWERS_WITHIN_S)
        if not done:
            self._troubles["captions"] = reason(
                "unreadable_file", path=settings.captions, why=reason("in_time")
            )
            await asyncio.wait({self._looking})

    def _read(self, reader: CaptionReader, captions: list[Caption]) -> None:
        now = self._clock.now()
        lines: list[str] = []
        for caption in captions[-MOST_PER_MINUTE:]:
            if caption.ended:
                lines += reader.ends(caption.text, now)
            else:
                lines += reader.shows(caption.text, now)
        if not captions:
            lines += reader.quiet(now)
        for line in lines:
            self._take(line)


def _in_a_thread(look: Callable[[], list[Caption]]) -> "asyncio.Future[list[Caption] | Exception]":
    """Look in a thread of its own. The loop's threads are few, and the program's end would wait for them."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Caption] | Exception] = loop.create_future()

    def work() -> None:
        found: list[Caption] | Exception
        try:
            found = look()
        except Exception as error:  # noqa: BLE001  # whoever waits for the answer raises it
            found = error
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(answer.set_result, found)

    threading.Thread(target=work, name="captions", daemon=True).start()
    return answer
