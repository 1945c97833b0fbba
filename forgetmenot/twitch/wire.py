"""One WebSocket to Twitch's chat: lines in, lines out, and the watchdog that notices when it is dead.

A connection can die without a word (a cable pulled, a PC put to sleep). After `idle_ms` of silence, or when the clock
has jumped, the server is asked with a PING of our own; no sign of life after that means TwitchUnavailable.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from forgetmenot.clock import SECOND, Clock
from forgetmenot.errors import TwitchUnavailable
from forgetmenot.network import proxy_for, trusted

_OPEN_WITHIN_S = 20.0
TICK_S = 5.0  # how often a silent connection is looked at
_JUMP = 30 * SECOND  # a pause between two looks that only a suspended PC explains
_ENDED = "Twitch's chat closed the connection."
_SILENT = "Twitch's chat fell silent."


class Wire:
    """One open connection. `heard_at` is when its last sign of life came, by the house's clock."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool], clock: Clock, idle_ms: int) -> None:
        self._socket = socket
        self._clock = clock
        self._idle_s = idle_ms / SECOND
        self._tick_s = min(TICK_S, self._idle_s / 3)
        self._alive = self._asked = self._monotonic()
        self._waiting_for_pong = False
        self._looked_at = self.heard_at = clock.now()

    async def send(self, *lines: str) -> None:
        """Send lines in one frame. Raises aiohttp's errors."""
        await self._socket.send_str("".join(f"{line}\r\n" for line in lines))

    async def receive(self) -> list[str]:
        """The lines of the next frame, or none after a quiet moment. Raises TwitchUnavailable when it is dead."""
        try:
            message = await self._socket.receive(timeout=self._tick_s)
        except TimeoutError:
            await self._watch()
            return []
        self._looked_at = self._clock.now()
        if message.type is aiohttp.WSMsgType.TEXT:
            text = str(message.data)
        elif message.type is aiohttp.WSMsgType.BINARY:
            text = bytes(message.data).decode("utf-8", "replace")
        else:
            raise TwitchUnavailable(_ENDED)
        self._alive, self._waiting_for_pong, self.heard_at = self._monotonic(), False, self._looked_at
        # A lone \r ends nothing: in somebody's message it must not begin a line of its own, with badges of its own.
        return [line for line in text.replace("\r\n", "\n").split("\n") if line]

    async def _watch(self) -> None:
        now, last_look = self._clock.now(), self._looked_at
        self._looked_at = now
        moment = self._monotonic()
        if self._waiting_for_pong:
            if moment - self._asked >= min(10.0, self._idle_s):
                raise TwitchUnavailable(_SILENT)
        elif moment - self._alive >= self._idle_s or now - last_look > _JUMP:
            self._waiting_for_pong, self._asked = True, moment
            await self.send("PING :still-there")

    @staticmethod
    def _monotonic() -> float:
        return asyncio.get_running_loop().time()


@asynccontextmanager
async def open_wire(session: aiohttp.ClientSession, url: str, clock: Clock, idle_ms: int) -> AsyncIterator[Wire]:
    """Connect, and close at the end without waiting long for a goodbye. Raises aiohttp's errors and TimeoutError."""
    goodbye = aiohttp.ClientWSTimeout(ws_close=1.0)
    proxy, headers = proxy_for(url)
    async with asyncio.timeout(_OPEN_WITHIN_S):
        socket = await session.ws_connect(
            url, timeout=goodbye, max_msg_size=1 << 20, proxy=proxy, proxy_headers=headers, ssl=trusted()
        )
    try:
        yield Wire(socket, clock, idle_ms)
    finally:
        await socket.close()
