"""A loopback Twitch, and a plain client of its chat."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest

from forgetmenot.sim.reader import Connect, Reader
from forgetmenot.sim.twitch import TwitchSim


@pytest.fixture
async def sim() -> AsyncIterator[TwitchSim]:
    async with TwitchSim(channel="demo", now=lambda: 1_784_894_400_000, seed=1) as sim:
        yield sim


@pytest.fixture
async def connect(sim: TwitchSim) -> AsyncIterator[Connect]:
    """Opens a signed-in connection that has joined; with join="" it has not."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())

        async def open_one(nick: str = "justinfan1", password: str = "", join: str = "demo") -> Reader:
            reader = Reader(await stack.enter_async_context(session.ws_connect(sim.irc_url)))
            await reader.send("CAP REQ :twitch.tv/tags twitch.tv/commands", f"PASS {password or 'x'}", f"NICK {nick}")
            if join:
                await reader.send(f"JOIN #{join}")
                await reader.until(" 366 ")
            return reader

        yield open_one
