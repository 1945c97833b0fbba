"""A Twitch on loopback, and settings that point at it."""

from collections.abc import AsyncIterator

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.secret_store import Account, Token, TokenStore
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


def settings_for(sim: TwitchSim, **twitch: object) -> Settings:
    """Settings that point at it."""
    plain = {
        "channel": "demo",
        "client_id": sim.client_id,
        "bot_login": "keeper",
        "server": sim.url,
    }
    return Settings(twitch=TwitchSettings(**{**plain, **twitch}))  # type: ignore[arg-type]  # the caller's


@pytest.fixture
def settings(sim: TwitchSim) -> Settings:
    """The same, of this test's."""
    return settings_for(sim)


def log_in(
    sim: TwitchSim,
    store: TokenStore,
    login: str = "keeper",
    *scopes: str,
    account: Account = Account.BOT,
) -> Token:
    """Somebody has typed the code for an account; without scopes it may do everything."""
    granted = sim.grant(login, *scopes)
    token = Token(
        granted.access, granted.refresh, granted.user_id, login, granted.scopes
    )
    store.save(account, token)
    return token
