"""A loopback Twitch, and a plain client of its chat."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest
import twitchio
from twitchio.http import Route

from tests.loopback_servers.irc_reader import Connect, Reader
from tests.loopback_servers.twitch import TwitchSim

RECAP_DEADLINE = aiohttp.ClientWSTimeout(ws_close=0.05)


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
            reader = Reader(await stack.enter_async_context(session.ws_connect(sim.irc_url, timeout=RECAP_DEADLINE)))
            await reader.send("CAP REQ :twitch.tv/tags twitch.tv/commands", f"PASS {password or 'x'}", f"NICK {nick}")
            if join:
                await reader.send(f"JOIN #{join}")
                await reader.until(" 366 ")
            return reader

        yield open_one


class OneAccount(twitchio.Client):
    """twitchio as it is, with tokens from memory instead of its file."""

    def __init__(self, client_id: str) -> None:
        super().__init__(client_id=client_id)
        self.kept: list[tuple[str, str]] = []

    async def load_tokens(self, path: str | None = None, /) -> None:  # noqa: ARG002  # twitchio's own signature
        for access, refresh in self.kept:
            await self.add_token(access, refresh)

    async def save_tokens(self, path: str | None = None, /) -> None:  # a file in the current folder, otherwise
        pass


@pytest.fixture
async def client(sim: TwitchSim, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OneAccount]:
    """The real twitchio, which takes the loopback for Twitch; nobody is signed in."""
    monkeypatch.setattr(Route, "BASE", sim.helix_url)
    monkeypatch.setattr(Route, "ID_BASE", sim.id_url)
    client = OneAccount(sim.client_id)
    yield client
    await client.close()


@pytest.fixture
async def channel(sim: TwitchSim, client: OneAccount) -> twitchio.PartialUser:
    """The channel, through twitchio signed in as `bot`, which moderates it."""
    sim.world.moderator("bot")
    token = sim.grant("bot")
    client.kept.append((token.access, token.refresh))
    await client.login_dcf(save_token=False)
    await client.start_dcf(block=False)
    return client.create_partialuser(sim.world.room_id, sim.world.owner.login)


@pytest.fixture
def bot_id(sim: TwitchSim) -> str:
    """The id of `bot`."""
    return sim.world.user("bot").id
