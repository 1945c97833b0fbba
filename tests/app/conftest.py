"""A bot over a database on disk, without an account; and a loopback Twitch."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.settings.schema import Settings
from tests.loopback_servers.fixtures import settings, sim

__all__ = ["bot", "settings", "sim"]


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    """A bot in shadow mode with the offline model."""
    async with open_bot(
        tmp_path / "memory.sqlite3", settings=Settings, clock=clock
    ) as opened:
        yield opened
