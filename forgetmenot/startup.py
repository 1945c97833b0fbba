"""How the program was started, and heavy packages imported when they are first needed, by one thread at a time.

Two threads of which one imports a package and the other a module of it can wait for each other; CPython then ends one
of the imports with an error. So whatever is imported off the event loop is imported through here.
"""

import asyncio
import importlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")

_one_at_a_time = threading.Lock()


def load(*names: str) -> None:
    """Import modules by their full names, from any thread."""
    with _one_at_a_time:
        for name in names:
            importlib.import_module(name)


async def load_off_the_loop(*names: str) -> None:
    """Import modules while the event loop goes on."""
    await asyncio.to_thread(load, *names)


async def make_off_the_loop(make: Callable[[], Made]) -> Made:
    """What `make`, which imports what it needs, gives."""

    def alone() -> Made:
        with _one_at_a_time:
            return make()

    return await asyncio.to_thread(alone)


def as_typed() -> str:
    """How this program is started from where its user is: `forgetmenot`, unless it is not on the path."""
    if named := os.environ.get("FORGETMENOT_COMMAND"):  # set by scripts/run.py
        return named
    if getattr(sys, "frozen", False):
        return quoted(sys.executable)
    module = getattr(sys.modules.get("__main__"), "__spec__", None)
    as_module = module is not None and module.name == "forgetmenot.__main__"
    return f"{_python_as_typed()} -m forgetmenot" if as_module else "forgetmenot"


def quoted(path: str | os.PathLike[str]) -> str:
    """Return a path as one word of a command that somebody copies into a terminal."""
    text = os.fspath(path)
    if os.name == "nt":
        return subprocess.list2cmdline([text])
    return shlex.quote(text)


def _python_as_typed() -> str:
    """Its name if the terminal finds this Python by it, else where it lies."""
    name = Path(sys.executable).name
    found = shutil.which(name)
    return name if found and Path(found) == Path(sys.executable) else quoted(sys.executable)
