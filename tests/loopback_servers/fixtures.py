"""A Twitch on loopback, and settings that point at it."""

from collections.abc import AsyncIterator

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.settings.schema import Settings, TwitchSettings
from tests.loopback_servers.twitch import TwitchSim


def asleep(clock: ManualClock, count: int = 1) -> bool:
    """Whether so many tasks wait for the clock to be moved: only then do they notice that it is."""
    return sum(not waiter.done() for waiter in clock._moved._waiters) >= count


@pytest.fixture
async def sim() -> AsyncIterator[TwitchSim]:
    """A Twitch whose channel is `demo`."""
    async with TwitchSim() as running:
        yield running


@pytest.fixture
def settings(sim: TwitchSim) -> Settings:
    """Settings that point at it."""
    return Settings(
        twitch=TwitchSettings(
            channel="demo",
            client_id=sim.client_id,
            bot_login="keeper",
            irc_url=sim.irc_url,
            helix_url=sim.helix_url,
            id_url=sim.id_url,
        )
    )
