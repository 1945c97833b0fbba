"""Promise 13: a guest on the machine: on loopback only, nothing heavy before it is needed, no needless work."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import forgetmenot
from forgetmenot.app.bot import open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.dock import security
from forgetmenot.settings.schema import ModelSettings, Provider, Settings
from tests.loopback_servers.openai import SimOpenAI

PACKAGE = Path(forgetmenot.__file__).parent
HEAVY = ("google", "twitchio", "openai", "pydantic")


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after this."""
    print_modules = "import sys; print(*{name.split('.')[0] for name in sys.modules})"
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\n{print_modules}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.splitlines()[-1].split())


def test_the_version_is_told_without_the_bot() -> None:
    loaded = loaded_after("from forgetmenot.cli import main; main(['--version'])")
    assert loaded.isdisjoint(
        {*HEAVY, "aiohttp", "aiosqlite", "asyncio", "sqlite3", "msgspec", "keyring"}
    )


@pytest.mark.slow
def test_a_bot_with_the_offline_model_loads_no_sdk(tmp_path: Path) -> None:
    code = f"""
import asyncio, pathlib
from forgetmenot.app.bot import open_bot
from forgetmenot.clock import SystemClock
from forgetmenot.settings.schema import Settings
path = pathlib.Path({str(tmp_path / "m.sqlite3")!r})
async def main():
    async with open_bot(path, settings=Settings, clock=SystemClock()) as bot:
        await bot.memory_pass()
asyncio.run(main())
"""
    assert loaded_after(code).isdisjoint(HEAVY)


async def test_starting_asks_nobody_anything(
    tmp_path: Path, clock: ManualClock
) -> None:
    """Not the model either, where there is nothing to be read."""
    async with SimOpenAI() as server:
        settings = Settings(
            model=ModelSettings(
                provider=Provider.OPENAI_COMPATIBLE, base_url=server.url
            )
        )
        async with open_bot(
            tmp_path / "m.sqlite3", settings=lambda: settings, clock=clock
        ) as bot:
            await bot.tasks.catch_up()
            assert await bot.db.value("SELECT count(*) FROM model_calls") == 0
        assert server.seen == []


LISTENS = re.compile(r"\b(?:TCPSite|start_server|bind)\((?:self\._runner, |\()?(.+?),")


def test_nothing_listens_to_the_network() -> None:
    """Whatever opens a port names the loopback address where it does so; nobody names "all addresses"."""
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert [
        path
        for path, text in texts.items()
        if re.search(r"""["'](0\.0\.0\.0|::)["']""", text)
    ] == []
    hosts = LISTENS.findall("\n".join(texts.values()))
    opened = sum(
        len(re.findall(r"\b(?:TCPSite|start_server|bind)\(", text))
        for text in texts.values()
    )
    assert len(hosts) == opened >= 3
    assert set(hosts) == {"security.HOST", '"127.0.0.1"'}
    assert security.HOST == "127.0.0.1"
