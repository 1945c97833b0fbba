"""Chat of past streams that was dropped on the dock: taken in, looked at, and learned from beside the live bot.

- A file is never read into memory. It lies in a private folder beside the memory, and is deleted when it was learned
  from, when the streamer wants it, when the bot ends, and after a crash at the next start.
- Nothing is learned before the streamer has seen what it takes. Stopped, it goes on where it was; so does the same file
  dropped again (memory/learning).
"""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from forgetmenot.errors import ForgetMeNotError, InputError, StoreError
from forgetmenot.files import incoming_folder, make_own
from forgetmenot.languages import Language, in_language, reason
from forgetmenot.logs import log
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:
    from forgetmenot.app.bot import Bot
    from forgetmenot.memory.learning import Learner

# The largest file, and what stays free on the disk: the memory has to be written too.
BYTES_LIMIT = 16_000_000_000
SPARE_BYTES = 1_000_000_000
FILES_LIMIT = 100
# Bytes after which the disk is looked at again while a file comes.
LOOK_EVERY = 64_000_000
# Windows would write other line ends without it.
_BINARY = getattr(os, "O_BINARY", 0)
_ODD = re.compile(r"[^\w.() -]")


class PastChatUpload:
    """The files that one bot is to learn from."""

    def __init__(self, bot: "Bot", settings: Callable[[], Settings]) -> None:
        self._bot = bot
        self._settings = settings
        self._folder = incoming_folder(bot.db.path)
        self._files: list[Path] = []
        # locked while a file comes in
        self._taking = asyncio.Lock()
        self._learner: Learner | None = None
        self._task: asyncio.Task[None] | None = None
        # how much of the files was learned from, 0 to 1
        self._share = 0.0
        # the sentence that the page shows: what was learned, or why it failed
        self._line = ""

    @property
    def state(self) -> Mapping[str, object]:
        """Return the files, whether they are learned from, how much of them was, and what there is to say."""
        names = [path.name for path in self._files]
        return {
            "files": names,
            "running": self._is_learning,
            "share": self._share,
            "line": self._line,
        }

    @property
    def _is_learning(self) -> bool:
        if self._task is None:
            return False
        return not self._task.done()

    @property
    def _is_busy(self) -> bool:
        return self._is_learning or self._taking.locked()

    async def take(
        self,
        name: str,
        size: int | None,
        pieces: AsyncIterator[bytes],
    ) -> None:
        """Store a file. `size`: in bytes, as it was announced. Raises InputError, StoreError."""
        file_count = len(self._files)
        if self._is_busy or file_count >= FILES_LIMIT:
            raise InputError(reason("past_busy"))
        limit = min(BYTES_LIMIT, self._free_bytes())
        announced = size or 0
        # Where the disk is full already, a file of any size is too large.
        if announced > limit:
            raise InputError(reason("past_too_large"))
        async with self._taking:
            # in a folder of its own: two may have the same name
            folder = self._folder / str(file_count)
            path = folder / _file_name(name)
            try:
                await self._store(path, pieces)
            except BaseException:
                # also where the page was closed meanwhile
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._files.append(path)

    async def _store(self, path: Path, pieces: AsyncIterator[bytes]) -> None:
        """Write a file into a new folder. Raises InputError, StoreError."""
        try:
            make_own(path.parent)
            await self._write(path, pieces)
        # The page was closed: nobody is there to read of it.
        except ConnectionError:
            raise
        except OSError as error:
            why = error.strerror or ""
            trouble = reason("not_written", path=path.name, error=why)
            raise StoreError(trouble) from error

    async def _write(self, path: Path, pieces: AsyncIterator[bytes]) -> None:
        """Write a file as it comes. What was announced is not believed: each byte that is written counts."""
        new_file = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
        descriptor = os.open(path, new_file, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            looked_at = 0
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)
                size = file.tell()
                if size > BYTES_LIMIT:
                    raise InputError(reason("past_too_large"))
                if size - looked_at >= LOOK_EVERY:
                    looked_at = size
                    if self._free_bytes() < 0:
                        raise InputError(reason("past_too_large"))
            # an erasure has written anew what came of it, without somebody
            written = os.fstat(file.fileno())
            at_path = path.stat()
            is_replaced = not os.path.samestat(written, at_path)
        if is_replaced:
            raise InputError(reason("past_gone", path=path.name))

    def _free_bytes(self) -> int:
        """Return the bytes that a file may still take of the disk."""
        # The folder itself is made with the first file.
        usage = shutil.disk_usage(self._folder.parent)
        return usage.free - SPARE_BYTES

    async def look(self) -> Mapping[str, object]:
        """Return what learning from the files takes, in words. Raises InputError."""
        from forgetmenot.memory.learning import estimate

        settings = self._settings()
        now = self._bot.clock.now()
        try:
            expected = await estimate(self._files, settings, now)
        except InputError:
            # No chat can be read in them: they would only stand in the way of the right ones.
            self.drop()
            raise
        line = expected.in_words(settings, self._say)
        return {"ok": True, "line": line}

    def learn(self) -> None:
        """Begin, or go on where it was stopped. Raises InputError."""
        if not self._files:
            raise InputError(reason("past_nothing"))
        if self._is_busy:
            raise InputError(reason("past_busy"))
        from forgetmenot.memory.learning import Learner

        bot = self._bot
        self._learner = Learner(
            db=bot.db,
            model=bot.models.memory,
            settings=self._settings,
            clock=bot.clock,
        )
        self._share = 0.0
        self._line = ""
        work = self._learn(self._learner)
        self._task = asyncio.create_task(work, name="learning from past chat")

    async def _learn(self, learner: "Learner") -> None:
        try:
            report = await learner.learn(self._files, self._progress)
        except ForgetMeNotError as error:
            self._line = self._say.reason(str(error))
            return
        except Exception as error:  # noqa: BLE001  # the supervisor: nobody else waits for this task
            log.exception("learning from past chat failed")
            self._line = type(error).__name__
            return
        self._line = report.in_words(self._say, stopped=learner.stopped)
        if not report.trouble and not learner.stopped:
            self._clear()

    def _progress(self, share: float) -> None:
        self._share = share

    def stop(self) -> None:
        """Stop learning after the window that is being read; the files stay, to go on."""
        if self._learner is not None:
            self._learner.stop()

    def drop(self) -> None:
        """Delete the files. Raises InputError while they are read or another one comes."""
        if self._is_busy:
            raise InputError(reason("past_busy"))
        self._line = ""
        self._clear()

    async def aclose(self) -> None:
        """Stop at once, and delete the files."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._clear()

    def _clear(self) -> None:
        self._files.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _say(self) -> Language:
        return in_language(self._settings().bot.language)


def _file_name(name: str) -> str:
    """Return a name that every system takes for a file, and that leads to no other folder."""
    safe_name = _ODD.sub("_", name)[-60:]
    return safe_name.strip(" .") or "chat"
