"""What the commands share: where the database is, how they print, how they run and fail."""

import argparse
import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

DATABASE = "memory.sqlite3"


def data_folder() -> Path:
    """The platform's folder for our data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("forgetmenot", appauthor=False))


def add_db_option(parser: argparse.ArgumentParser) -> None:
    """`--db PATH`."""
    parser.add_argument("--db", type=Path, metavar="PATH", help="the memory's file (default: in your data folder)")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, on standard output")


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """`--config PATH`."""
    parser.add_argument("--config", type=Path, metavar="PATH", help="the settings file (default: built-in settings)")


def database_path(arguments: argparse.Namespace) -> Path:
    """The database that `--db` names, or the default one."""
    chosen: Path | None = arguments.db
    return chosen if chosen is not None else data_folder() / DATABASE


def existing_database(arguments: argparse.Namespace) -> Path:
    """The same, for commands that only look: a file that is not there is an error, not a new memory."""
    from forgetmenot.errors import InputError

    path = database_path(arguments)
    if not path.is_file():
        raise InputError(f"There is no memory at {path} yet. Start the bot once, or name a file with --db.")
    return path


def say(text: str = "") -> None:
    """Progress and errors, for a person: on standard error."""
    print(text, file=sys.stderr, flush=True)


def emit(value: object) -> None:
    """One JSON object on one line of standard output."""
    import msgspec

    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def run_async(work: Coroutine[Any, Any, int | None]) -> int:
    """Run a command's coroutine; its exit code (None: 0)."""
    return asyncio.run(work) or 0
