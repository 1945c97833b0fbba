"""Heavy packages from several threads at once."""

import asyncio
import sys
import time
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from forgetmenot.startup import load_off_the_loop, make_off_the_loop


class Slow(SourceFileLoader):
    """Takes its time before the module is known to others."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        time.sleep(0.2)
        return super().create_module(spec)


class Finder:
    """Finds one package and loads it slowly."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        if name != self.folder.name:
            return None
        file = self.folder / "__init__.py"
        loader = Slow(name, str(file))
        return spec_from_file_location(name, file, loader=loader, submodule_search_locations=[str(self.folder)])


@pytest.fixture
def slow_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package that imports a module of its own, as twitchio does."""
    folder = tmp_path / "slowpackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import part\n", encoding="utf-8")
    (folder / "part.py").write_text("made = 1\n", encoding="utf-8")
    monkeypatch.setattr(sys, "meta_path", [Finder(folder), *sys.meta_path])
    return folder.name


async def test_a_package_and_a_module_of_it_at_once(slow_package: str) -> None:
    """With plain imports CPython 3.11 ends the first of them with _DeadlockError."""

    async def soon() -> int:
        await asyncio.sleep(0.05)
        return await make_off_the_loop(lambda: int(__import__(f"{slow_package}.part").part.made))

    _, made = await asyncio.gather(load_off_the_loop(slow_package), soon())
    assert made == 1
