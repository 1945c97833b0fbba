"""What the commands share: where the database is, how they print, how they run and fail."""

import argparse
import asyncio
import re
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

if TYPE_CHECKING:
    from forgetmenot.store.database import Source

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001  # has no public name
"""What a command adds itself to."""
DATABASE = "memory.sqlite3"
DEMO_FOLDER = "demo"  # in the data folder
LONGEST_LINE = 4_000_000
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SUMMARY_KEYS = """\
The JSON object's keys, counted over the whole run, also of what has been pruned since:
  lines       = events + duplicates + excluded + other_room + unparsed + other
  events      stored in tier 1; = covered + uncovered + redacted
  covered     read by an episode; uncovered: not yet; redacted: cleared by moderators
  duplicates  delivered twice by Twitch; excluded: bots, ignored or opted-out people, the bot itself
  other_room  said in a partner's channel; unparsed: not a line of chat; other: lines that say nothing to store
  episodes, notes, superseded  what the memory gained, and facts that were replaced
  replies     written, said or only thought; pruned_unread: lost unread (0)
  actions     proposed; allowed at once; denied; executed (also by a person's approval, so it may exceed allowed)
  llm_calls   all calls of a model; tokens: replies' inputs, estimated, billed, of these cached,
              and of the estimated ones those in the prompt's unchanged prefix"""


def number_from(least: int) -> Callable[[str], int]:
    """What reads a whole number on the command line: this one or more, and no more than SQLite can count."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return read


def data_folder() -> Path:
    """The platform's folder for our data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("forgetmenot", appauthor=False))


def add_action(actions: Commands, name: str, help_text: str, keys: str) -> argparse.ArgumentParser:
    """One action of a noun, with `--db` and `--json`; `keys` tells what is in the JSON."""
    parser = actions.add_parser(
        name, help=help_text, description=help_text, epilog=keys, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_db_option(parser)
    add_json_option(parser)
    return parser


def add_db_option(parser: argparse.ArgumentParser) -> None:
    """`--db PATH`."""
    parser.add_argument("--db", type=Path, metavar="PATH", help="the memory's file (default: in your data folder)")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """`--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, on standard output")


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """`--config PATH`."""
    parser.add_argument("--config", type=Path, metavar="PATH", help="the settings file (default: built-in settings)")


def database_path(arguments: argparse.Namespace, *, folder: Path | None = None) -> Path:
    """The database that `--db` names, else that in `folder` or in the data folder. Raises InputError for a folder."""
    from forgetmenot.errors import InputError

    chosen: Path | None = arguments.db
    path = chosen if chosen is not None else (folder or data_folder()) / DATABASE
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file in it with --db, for example {path / DATABASE}.")
    return path


def existing_database(arguments: argparse.Namespace) -> Path:
    """The same, for commands that only look: a file that is not there is an error, not a new memory."""
    from forgetmenot.errors import InputError

    path = database_path(arguments)
    if not path.is_file():
        raise InputError(f"There is no memory at {path} yet. Start the bot once, or name a file with --db.")
    return path


async def known_viewer(source: "Source", login_or_id: str) -> str:
    """The id of somebody the memory knows; an InputError names whoever it does not."""
    from forgetmenot.errors import InputError
    from forgetmenot.store import viewers

    found = await viewers.find(source, login_or_id)
    if found is None:
        raise InputError(f"Nobody called {login_or_id} is known. Use a present login or a Twitch id.")
    return found


@contextmanager
def text_lines(name: str) -> Iterator[Iterator[str]]:
    """The lines of a file, or of standard input for `-`; an InputError where it cannot be read."""
    from forgetmenot.errors import InputError
    from forgetmenot.text_files import open_text

    if name == "-":
        yield _lines(sys.stdin, "Standard input")
        return
    try:
        # A byte that is no text becomes `\\xff`, which is no JSON: its line is refused, and the others are not.
        file = open_text(Path(name), errors="backslashreplace")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}.") from error
    with file:
        yield _lines(file, name)


def _lines(file: TextIO, name: str) -> Iterator[str]:
    """Its lines, as long as each fits into memory. Raises InputError."""
    from forgetmenot.errors import InputError

    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if number == 1:
            line = line.removeprefix("\ufeff")  # PowerShell puts it first into a pipe, too
        if len(line) == LONGEST_LINE:
            raise InputError(f"{name}, line {number}: too long (over {LONGEST_LINE:,} characters). Shorten or drop it.")
        yield line


def printable(text: str) -> str:
    """The text as a terminal may have it: chat may hold escape sequences, and characters that turn lines around."""
    return _UNPRINTABLE.sub("\ufffd", text)


def say(text: str = "") -> None:
    """Progress and errors, for a person: on standard error."""
    print(printable(text), file=sys.stderr, flush=True)


def show_line(text: str = "") -> None:
    """An answer for a person: on standard output."""
    print(printable(text), flush=True)


def emit(value: object) -> None:
    """One JSON object on one line of standard output."""
    import msgspec

    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def run_async(work: Coroutine[Any, Any, int | None]) -> int:
    """Run a command's coroutine; its exit code (None: 0)."""
    return asyncio.run(_watched(work)) or 0


async def _watched(work: Coroutine[Any, Any, int | None]) -> int | None:
    asyncio.get_running_loop().set_exception_handler(_tell_bug)
    return await work


def _tell_bug(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What asyncio would print with every value in it, and so perhaps with chat."""
    from forgetmenot.logs import log

    log.error("a task failed unexpectedly", exc_info=context.get("exception"), kind=context.get("message"))
