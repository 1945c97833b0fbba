"""Log-ins against a loopback Twitch."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.operations.actions import lacking
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.login import Login
from tests.loopback_servers.fixtures import log_in, settings, sim
from tests.loopback_servers.twitch import TwitchSim

__all__ = ["Computer", "computer", "settings", "sim"]


@dataclass
class Computer:
    """A PC with log-ins in files, whose settings name the loopback Twitch."""

    sim: TwitchSim
    settings: Settings
    store: TokenStore
    opened: list[Helix] = field(default_factory=list)

    def login(
        self, name: str = "keeper", *scopes: str, account: Account = Account.BOT
    ) -> Login:
        """Somebody who has logged in; without scopes, with all of them."""
        log_in(self.sim, self.store, name, *scopes, account=account)
        return self.kept_login(account=account)

    def kept_login(self, *, account: Account = Account.BOT, **more: Any) -> Login:  # noqa: ANN401  # what it takes
        """The log-in that lies there, if one does."""
        options = {
            "store": self.store,
            "settings": lambda: self.settings,
            "clock": SystemClock(),
            "lacking": lacking,
        }
        return Login(account=account, **{**options, **more})

    def helix(self, bot: Login, **more: Any) -> Helix:  # noqa: ANN401  # what it takes
        """Helix for that log-in."""
        self.opened.append(Helix(settings=lambda: self.settings, bot=bot, **more))
        return self.opened[-1]

    def kept(self) -> Token | None:
        """The bot's pair as it lies there."""
        return self.store.load(Account.BOT)


@pytest.fixture
async def computer(
    sim: TwitchSim, settings: Settings, tmp_path: Path
) -> AsyncIterator[Computer]:
    made = Computer(sim, settings, TokenStore(tmp_path / "tokens", use_keyring=False))
    yield made
    for helix in made.opened:
        await helix.aclose()
