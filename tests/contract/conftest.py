"""Log-ins against a loopback Twitch."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.operations.catalogue import lacking
from forgetmenot.secret_store import Account, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.login import Login
from tests.loopback_servers.fixtures import log_in, settings, sim
from tests.loopback_servers.twitch import TwitchSim

__all__ = ["MakeHelix", "MakeLogin", "make_helix", "make_login", "settings", "sim", "store"]

MakeLogin = Callable[..., Login]
MakeHelix = Callable[..., Helix]


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    """Log-ins in files."""
    return TokenStore(tmp_path / "tokens", use_keyring=False)


@pytest.fixture
def make_login(sim: TwitchSim, settings: Settings, store: TokenStore) -> MakeLogin:
    """`make_login("keeper", "chat:read", …)`: somebody who has logged in; without scopes, with all of them."""

    def make(
        name: str = "keeper", *scopes: str, account: Account = Account.BOT, settings: Settings = settings
    ) -> Login:
        log_in(sim, store, name, *scopes, account=account)
        return Login(account=account, store=store, settings=lambda: settings, clock=SystemClock(), lacking=lacking)

    return make


@pytest.fixture
async def make_helix(settings: Settings) -> AsyncIterator[MakeHelix]:
    """`make_helix(login, …)`: Helix for that log-in, which gives its connections back at the end."""
    made: list[Helix] = []

    def make(bot: Login, **more: Any) -> Helix:  # noqa: ANN401  # what Helix takes
        made.append(Helix(**{"settings": lambda: settings, "bot": bot, **more}))
        return made[-1]

    yield make
    for helix in made:
        await helix.aclose()
