"""The built program's icon beside the clock: open the dock, pause or resume, quit.

The icon is a process of its own (`forgetmenot/tray`). Where no desktop shows icons it ends, and the bot runs on.
"""

import asyncio
import contextlib
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from forgetmenot import tray
from forgetmenot.app.periodic_tasks import survived
from forgetmenot.app.setup import SetupService
from forgetmenot.logs import log
from forgetmenot.operations.handlers.switches import read_switches
from forgetmenot.tray.protocol import Entry, Menu, to_line

LOOK_EVERY_S = 3.0
END_WITHIN_S = 1.0
_PICTURE = Path(tray.__file__).with_name("icon.png")


def command_here() -> list[str]:
    """Return the command of the icon's process; empty where the program was not built to have one."""
    if not getattr(sys, "frozen", False):
        return []
    program = Path(sys.executable)
    if sys.platform == "win32":
        # The program without a console has no pipes; the other one gets no window (CREATE_NO_WINDOW).
        program = program.with_name("forgetmenot.exe")
    return [str(program), tray.TRAY]


class TrayIcon:
    """Keeps the icon and does what is chosen in its menu.

    `open_page` opens the dock. `setup` knows which bot runs at the moment, and ends the program.
    """

    def __init__(
        self,
        command: Sequence[str],
        setup: SetupService,
        open_page: Callable[[], None],
        picture: Path = _PICTURE,
    ) -> None:
        self._command = command
        self._setup = setup
        self._open_page = open_page
        self._picture = picture
        self._shown: Menu | None = None
        # Ends with the icon's process.
        self.work: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Show the icon while the block runs."""
        work = survived("the tray icon", self._run())
        self.work = asyncio.create_task(work)
        try:
            yield
        finally:
            self.work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.work

    async def _run(self) -> None:
        flags = 0
        if sys.platform == "win32":
            flags = subprocess.CREATE_NO_WINDOW
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                creationflags=flags,
            )
        except OSError as error:
            log.warning("the tray icon did not start", reason=error.strerror)
            return
        updates = asyncio.create_task(self._keep_current(process))
        try:
            # Returns when the process has ended by itself: there is no tray, or no D-Bus.
            await self._obey(process)
            log.info("no tray shows an icon here")
        finally:
            updates.cancel()
            await _end(process)

    async def _keep_current(self, process: Process) -> None:
        """Send the menu whenever it has changed."""
        while True:
            await survived("the tray's menu", self._send(process))
            await asyncio.sleep(LOOK_EVERY_S)

    async def _send(self, process: Process) -> None:
        menu = await self._menu()
        if menu == self._shown or process.stdin is None:
            return
        self._shown = menu
        line = to_line(menu)
        process.stdin.write(line.encode())
        # The process may end between two looks.
        with contextlib.suppress(ConnectionError):
            await process.stdin.drain()

    async def _menu(self) -> Menu:
        """Return the menu as things stand. While the bot is built anew nothing can be paused."""
        say = self._setup.say
        settings = self._setup.settings
        title = settings().bot.name
        entries = []
        if settings.taken_port:
            line = say("tray.port", taken=settings.taken_port)
            entries.append(Entry("", line))
        open_label = say("tray.open")
        entries.append(Entry("open", open_label))
        control = self._setup.control
        if control is not None:
            switches = await read_switches(control.bot.db)
            if switches.paused:
                paused = say("page.frame.paused")
                title = f"{title}: {paused}"
                resume_label = say("label.resume")
                entries.append(Entry("resume", resume_label))
            else:
                pause_label = say("label.pause")
                entries.append(Entry("pause", pause_label))
        quit_label = say("page.settings.quit")
        entries.append(Entry("quit", quit_label))
        return Menu(title, str(self._picture), entries)

    async def _obey(self, process: Process) -> None:
        """Do what is chosen, until the process ends."""
        if process.stdout is None:
            return
        async for line in process.stdout:
            key = line.decode().strip()
            await survived("the tray's menu", self._do(key))
            # What was chosen may change the menu: pause becomes resume at once.
            await survived("the tray's menu", self._send(process))

    async def _do(self, key: str) -> None:
        setup = self._setup
        if key == "open":
            self._open_page()
        elif key == "quit" and setup.stop is not None:
            setup.stop()
        # The bot may have ended since the menu was shown.
        elif key in {"pause", "resume"} and setup.control is not None:
            await setup.control.run(key, {})


async def _end(process: Process) -> None:
    """Close the pipe, at which the process ends by itself; end it if it does not."""
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_WITHIN_S):
            await process.wait()
    if process.returncode is None:
        process.kill()
        await process.wait()
