"""Log-ins against a loopback Twitch."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.operations.catalogue import lacking
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.auth import Login
from tests.loopback_servers.fixtures import settings, sim
from tests.loopback_servers.twitch import TwitchSim

__all__ = ["MakeLogin", "make_login", "settings", "sim", "store"]

MakeLogin = Callable[..., Login]


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
        return Login(account=account, store=store, settings=lambda: settings, clock=SystemClock(), lacking=lacking)

    return make
