"""How the program was started, and late imports of heavy packages, by one thread at a time.

Two threads of which one imports a package and the other a module of it can wait for each other;
CPython then ends one of the imports with an error. So whatever is imported off the event loop is
imported through here.
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

_import_lock = threading.Lock()


def load(*names: str) -> None:
    """Import modules by their full names, from any thread."""
    with _import_lock:
        for name in names:
            importlib.import_module(name)


async def load_off_the_loop(*names: str) -> None:
    """Import modules while the event loop goes on."""
    await asyncio.to_thread(load, *names)


async def make_off_the_loop(make: Callable[[], Made]) -> Made:
    """Return what `make` returns, which imports what it needs, while the event loop goes on."""

    def make_locked() -> Made:
        with _import_lock:
            return make()

    return await asyncio.to_thread(make_locked)


def as_typed(*, same_folder: bool = False) -> str:
    """Return the command that starts this program: `forgetmenot`, if that is on the path.

    `same_folder`: it is typed in the folder where this program was started, so the path to a script
    may be a relative one.
    """
    # Both are set by scripts/run.py.
    full_command = os.environ.get("FORGETMENOT_COMMAND")
    if same_folder and full_command:
        return os.environ.get("FORGETMENOT_TYPED", full_command)
    if full_command:
        return full_command
    if getattr(sys, "frozen", False):
        # The package for Debian links the program from a folder on the path.
        command_on_path = shutil.which("forgetmenot")
        program = Path(sys.executable).resolve()
        if command_on_path and Path(command_on_path).resolve() == program:
            return "forgetmenot"
        return quoted(sys.executable)
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is None or spec.name != "forgetmenot.__main__":
        return "forgetmenot"
    # It was started like this, so the command may not be on the path.
    return f"{_python_as_typed()} -m forgetmenot"


def quoted(path: str | os.PathLike[str]) -> str:
    """Return a path as one word of a command that somebody copies into a terminal."""
    text = os.fspath(path)
    if os.name == "nt":
        return subprocess.list2cmdline([text])
    return shlex.quote(text)


def _python_as_typed() -> str:
    """Return this Python's name if the terminal finds it by that, else its path."""
    name = Path(sys.executable).name
    path_of_name = shutil.which(name)
    is_on_path = path_of_name is not None and Path(path_of_name) == Path(sys.executable)
    return name if is_on_path else quoted(sys.executable)
