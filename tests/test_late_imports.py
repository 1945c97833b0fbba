"""Heavy packages from several threads at once."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from forgetmenot.late_imports import load_off_the_loop, make_off_the_loop


class SlowDisk:
    """A finder that takes its time over one package, and then leaves it to the others."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "slowpackage":
            time.sleep(0.2)


@pytest.fixture
def slow_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that imports a module of its own, as twitchio does."""
    folder = tmp_path / "slowpackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import part\n", encoding="utf-8")
    (folder / "part.py").write_text("made = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [SlowDisk(), *sys.meta_path])
    return folder.name


async def test_a_package_and_a_module_of_it_at_once(slow_package: str) -> None:
    """With plain imports CPython before 3.13 ends the first with _DeadlockError."""

    async def soon() -> int:
        await asyncio.sleep(0.05)
        return await make_off_the_loop(lambda: int(__import__(f"{slow_package}.part").part.made))

    _, made = await asyncio.gather(load_off_the_loop(slow_package), soon())
    assert made == 1
