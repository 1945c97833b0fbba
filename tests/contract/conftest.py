"""A loopback Twitch, and log-ins against it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.settings.schema import Settings, TwitchSettings
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.twitch.auth import Login
from forgetmenot.twitch.tokens import Account, Token, TokenStore

MakeLogin = Callable[..., Login]


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


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    """Log-ins in files."""
    return TokenStore(tmp_path / "tokens", use_keyring=False)


@pytest.fixture
def make_login(sim: TwitchSim, settings: Settings, store: TokenStore) -> MakeLogin:
    """`make_login("keeper", "chat:read", …)`: somebody who has logged in; without scopes, with all of them."""

    def make(name: str = "keeper", *scopes: str, account: Account = Account.BOT) -> Login:
        granted = sim.grant(name, *scopes)
        token = Token(granted.access, granted.refresh, granted.user_id, name, tuple(granted.scopes))
        store.save(account, token)
        return Login(account=account, store=store, settings=lambda: settings, clock=SystemClock())

    return make
