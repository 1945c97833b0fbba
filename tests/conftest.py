"""What all tests share: a database on disk and a clock that the test moves."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from forgetmenot import logs  # noqa: F401  # gives the last resort its form, as in a program
from forgetmenot.clock import ManualClock
from forgetmenot.store.database import Database, open_database
from tests.played_demo import played_demo

__all__ = ["played_demo"]

# The gate tries the same examples each time: what it finds, everybody finds.
# `--hypothesis-profile=default` tries more, and others.
settings.register_profile(
    "gate", max_examples=50, derandomize=True, deadline=None, database=None
)
settings.load_profile("gate")

NOON = 1_784_894_400_000  # 2026-07-24T12:00:00Z


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Whatever a test sets up is gone after it: the next one hears what a program hears that set nothing up."""
    root = logging.getLogger()
    handlers = list(root.handlers)
    level = root.level
    raising = logging.raiseExceptions
    if logging.lastResort is not None:
        root.addHandler(
            logging.lastResort
        )  # pytest's own handlers keep it from being used
    yield
    for handler in set(root.handlers) - {*handlers, logging.lastResort}:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.raiseExceptions = raising


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands at noon until the test moves it."""
    return ManualClock(NOON)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as the first start leaves it: made once, copied for each test."""
    path = tmp_path_factory.mktemp("empty") / "memory.sqlite3"

    async def make() -> None:
        async with open_database(path):
            pass

    asyncio.run(make())
    return path


@pytest.fixture
async def db(tmp_path: Path, empty_database: Path) -> AsyncIterator[Database]:
    """An empty database on disk."""
    path = tmp_path / "memory.sqlite3"
    shutil.copyfile(empty_database, path)
    async with open_database(path) as database:
        yield database
