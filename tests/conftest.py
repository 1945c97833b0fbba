"""What all tests share: a database on disk and a clock that the test moves."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.store.database import Database, open_database

NOON = 1_784_894_400_000  # 2026-07-24T12:00:00Z


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands at noon until the test moves it."""
    return ManualClock(NOON)


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    """An empty database on disk."""
    async with open_database(tmp_path / "memory.sqlite3") as database:
        yield database
