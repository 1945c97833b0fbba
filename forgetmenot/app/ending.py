"""How a running bot is asked to end: Ctrl-C, SIGTERM, or on Windows a console that closes.

During the start the wish breaks the start off; afterwards `asked` returns and the bot winds down. Asking again changes
nothing: it is on its way.
"""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGBREAK")


class Ending:
    """The wish, once somebody has it. Made in the task that starts the bot."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._start = asyncio.current_task()

    def ask(self) -> None:
        """Ask for the end."""
        if not self._asked.is_set() and self._start is not None:
            self._start.cancel()
        self._asked.set()

    @property
    def is_asked(self) -> bool:
        """Whether somebody did."""
        return self._asked.is_set()

    async def asked(self) -> None:
        """Say that the start is over, and wait for the wish."""
        self._start = None
        await self._asked.wait()


@contextlib.contextmanager
def on_signals() -> Iterator[Ending]:
    """An ending that signals ask for, until the block is left. A start that was broken off ends the block quietly."""
    ending, loop = Ending(), asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None:
                _listen(number, ending, loop, stack)
        try:
            yield ending
        except asyncio.CancelledError:
            if not ending.is_asked:
                raise


def _listen(
    number: signal.Signals, ending: Ending, loop: asyncio.AbstractEventLoop, stack: contextlib.ExitStack
) -> None:
    try:
        loop.add_signal_handler(number, ending.ask)
        stack.callback(loop.remove_signal_handler, number)
    except NotImplementedError:  # Windows

        def ask(_number: int, _frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(ending.ask)

        stack.callback(signal.signal, number, signal.signal(number, ask))
