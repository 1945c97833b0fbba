"""A bot over a database on disk, without an account; the steps of its set-up; and a loopback Twitch."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.setup import SetupService
from forgetmenot.clock import ManualClock
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import Settings
from tests.loopback_servers.fixtures import settings, sim

__all__ = ["bot", "settings", "sim", "steps"]


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    """A bot in shadow mode with the offline model."""
    async with open_bot(
        tmp_path / "memory.sqlite3", settings=Settings, clock=clock
    ) as opened:
        yield opened


class Steps:
    """The set-up of a bot, and its settings file."""

    def __init__(
        self, service: SetupService, settings: LiveSettings, bot: Bot, file: Path
    ) -> None:
        self.service = service
        self.settings = settings
        self.bot = bot
        self.file = file

    async def do(self, step: str, **fields: object) -> dict[str, object]:
        """Do one step, as the page asks for it."""
        return dict(await self.service.run(step, json.dumps(fields).encode()))

    async def shown(self, part: str) -> Mapping[str, object]:
        """What the page shows of one of its parts."""
        state = await self.service.state()
        values = state[part]
        assert isinstance(values, Mapping)
        return values


@asynccontextmanager
async def opened_steps(
    folder: Path, clock: ManualClock, config: str, status: ConnectionStatus
) -> AsyncIterator[Steps]:
    """The set-up of a bot with this settings file."""
    file = folder / "config.toml"
    file.write_text(config)
    settings = LiveSettings(load_settings(file), file)
    service = SetupService(settings, folder, use_keyring=False)
    async with (
        open_bot(folder / "memory.sqlite3", settings=settings, clock=clock) as bot,
        service.attached(BotControl(bot, settings, status)),
    ):
        yield Steps(service, settings, bot, file)
        await service.login.aclose()


@pytest.fixture
async def steps(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Steps]:
    """The set-up where nothing is set yet."""
    async with opened_steps(tmp_path, clock, "# mine\n", ConnectionStatus()) as opened:
        yield opened
