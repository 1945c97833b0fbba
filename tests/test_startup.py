"""Heavy packages from several threads at once."""

import asyncio
import os
import shlex
import sys
import time
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path

import pytest

from forgetmenot.startup import as_typed, load_off_the_loop, make_off_the_loop


async def test_a_package_and_a_module_of_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It imports a module of its own, as twitchio does; with plain imports CPython 3.11 ends it with _DeadlockError."""
    folder = tmp_path / "slowpackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import part\n", encoding="utf-8")
    (folder / "part.py").write_text("made = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def slow(_loader: SourceFileLoader, spec: ModuleSpec) -> None:
        """It takes its time before the module is known to others."""
        time.sleep(0.2 if spec.name == "slowpackage" else 0)

    monkeypatch.setattr(SourceFileLoader, "create_module", slow)

    async def soon() -> int:
        await asyncio.sleep(0.05)
        return await make_off_the_loop(
            lambda: int(__import__("slowpackage.part").part.made)
        )

    _, made = await asyncio.gather(load_off_the_loop("slowpackage"), soon())
    assert made == 1


@pytest.mark.skipif(os.name == "nt", reason="quotes for a POSIX shell")
def test_a_command_that_is_shown_can_be_typed_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "it's a $HOME" / "forgetmenot"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.delenv("FORGETMENOT_COMMAND", raising=False)
    assert shlex.split(f"{as_typed()} dock") == [str(program), "dock"]


@pytest.mark.skipif(os.name == "nt", reason="a link of POSIX")
def test_a_program_that_is_linked_on_the_path_is_named_by_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "opt" / "forgetmenot"
    program.parent.mkdir()
    program.touch(mode=0o755)
    link = tmp_path / "bin" / "forgetmenot"
    link.parent.mkdir()
    link.symlink_to(program)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.delenv("FORGETMENOT_COMMAND", raising=False)
    monkeypatch.setenv("PATH", str(link.parent))
    assert as_typed() == "forgetmenot"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert as_typed() == str(program)
