"""Heavy packages from several threads at once."""

import asyncio
import time
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path

import pytest

from forgetmenot.startup import load_off_the_loop, make_off_the_loop


async def test_a_package_and_a_module_of_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It imports a module of its own, as twitchio does; with plain imports CPython 3.11 ends it with _DeadlockError."""
    (folder := tmp_path / "slowpackage").mkdir()
    (folder / "__init__.py").write_text("from . import part\n", encoding="utf-8")
    (folder / "part.py").write_text("made = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def slow(_loader: SourceFileLoader, spec: ModuleSpec) -> None:
        """It takes its time before the module is known to others."""
        time.sleep(0.2 if spec.name == "slowpackage" else 0)

    monkeypatch.setattr(SourceFileLoader, "create_module", slow)

    async def soon() -> int:
        await asyncio.sleep(0.05)
        return await make_off_the_loop(lambda: int(__import__("slowpackage.part").part.made))

    _, made = await asyncio.gather(load_off_the_loop("slowpackage"), soon())
    assert made == 1
