"""A bare client of the loopback's chat: collects lines, answers nothing. For tests of the loopback, not for a bot."""

import asyncio

import aiohttp


class Reader:
    """One connection."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def send(self, *texts: str) -> None:
        """Send lines."""
        for text in texts:
            await self.socket.send_str(f"{text}\r\n")

    async def until(self, part: str) -> str:
        """The first line that holds this text. Raises TimeoutError, or EOFError when the connection ends."""
        async with asyncio.timeout(5):
            async for message in self.socket:
                lines = str(message.data).splitlines() if message.type is aiohttp.WSMsgType.TEXT else []
                found = next((line for line in lines if part in line), None)
                if found is not None:
                    return found
        raise EOFError(part)
