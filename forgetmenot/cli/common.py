"""Shared by the commands: their options, database paths, output, running operations, errors."""

import argparse
import asyncio
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TextIO, TypeVar

import msgspec

from forgetmenot.errors import InputError, SettingsError
from forgetmenot.languages import ENGLISH
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import as_typed

if TYPE_CHECKING:
    from forgetmenot.domain import OperationResult
    from forgetmenot.operations.types import Operation
    from forgetmenot.store.database import Database, Source

# The module of each command.
COMMANDS = {
    **dict.fromkeys(("start", "setup"), "bot"),
    "demo": "play",
    **dict.fromkeys(("dock", "login", "logout", "doctor", "autostart", "uninstall"), "bot"),
    **dict.fromkeys(("memory", "viewer"), "memory"),
    "learn": "play",
    **dict.fromkeys(("why", "cost", "actions", "evaluate", "recall", "prompt"), "inspect"),
    "replay": "play",
}
# What is left out of the help.
FOR_DEVELOPERS = ("recall", "prompt", "replay")
# What `argparse` is to be told about an option.
Option = tuple[Sequence[str], Mapping[str, Any]]
Work = TypeVar("Work", bound=Callable[..., Any])
# What a reading command found: the value that --json prints, and the lines for people.
Shown = tuple[object, Iterable[str]]
DATABASE = "memory.sqlite3"
SETTINGS_FILE = "config.toml"
DEMO_FOLDER = "demo"  # in the data folder
LONGEST_LINE = (
    4_000_000  # characters of an import or of a question: a longer line is another kind of file
)
# what a terminal obeys: control characters, and marks that turn the direction of text around
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
SUMMARY_KEYS = """\
The JSON object counts the run: lines = events + duplicates + excluded + other_room + unparsed + other, and
events = covered (read by an episode) + uncovered + redacted. pruned_unread is what was lost unread: 0."""


class Commands(Protocol):
    """What a command adds itself to: what `ArgumentParser.add_subparsers` returns."""

    def add_parser(self, name: str, **kwargs: Any) -> argparse.ArgumentParser:  # noqa: ANN401
        """Add the parser of one command."""


def option(*names: str, **how: Any) -> Option:  # noqa: ANN401  # as add_argument takes them
    """An option of a command."""
    return names, how


def number_from(least: int) -> Callable[[str], int]:
    """A parser for integer options: at least this, and at most SQLite's largest integer."""

    def read(text: str) -> int:
        # 18 digits: SQLite would make a float of a larger number, and find nothing by it
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return read


def data_folder() -> Path:
    """The platform's folder for our data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("forgetmenot", appauthor=False))


class Command(NamedTuple):
    """A command as `command` declares it. `path`: "cost", or "memory list"."""

    path: str
    run: Callable[..., Any]
    options: Sequence[Option]
    about: str
    keys: str
    shared: str = "db json"
    on_memory: bool = True
    defaults: Mapping[str, object] = MappingProxyType({})


_COMMANDS: list[Command] = []
# Commands that only have actions, with their help.
GROUPS = {
    "memory": "list, explain, correct, import and export notes",
    "viewer": "export or erase what is stored about one viewer",
}
# Options that many commands have.
SHARED: Mapping[str, Option] = {
    "config": option(
        "--config",
        type=Path,
        metavar="PATH",
        help="the settings file (default: config.toml beside the memory)",
    ),
    "db": option(
        "--db", type=Path, metavar="PATH", help="the memory file (default: in your data folder)"
    ),
    "json": option(
        "--json", action="store_true", help="print JSON, and nothing else, on standard output"
    ),
}


def command(
    path: str,
    *options: Option,
    about: str = "",
    keys: str = "",
    shared: str = "db json",
    on_memory: bool = False,
    **defaults: object,
) -> Callable[[Work], Work]:
    """Declare a function as a command. `keys`: its JSON; `shared`: which of the shared options it has.

    It takes the parsed arguments; `on_memory`: the open memory first, which must exist. It gives an exit code (None
    for 0), or what it found: the value that --json prints, and the lines for people. Its help is the first line of what
    it says of itself, or `about`; its description is what follows there. `defaults`: arguments that nobody types.
    """

    def declared(run: Work) -> Work:
        _COMMANDS.append(Command(path, run, options, about, keys, shared, on_memory, defaults))
        return run

    return declared


def add_commands(commands: Commands, module: str) -> None:
    """Add the commands that a module declares, and what the table of operations offers beside them."""
    groups: dict[str, Commands] = {}
    for one in _COMMANDS:
        group, _, name = one.path.rpartition(" ")
        if one.run.__module__ != module:
            continue
        if group and group not in groups:
            parser = commands.add_parser(group, help=GROUPS[group], description=GROUPS[group])
            parser.set_defaults(run=partial(_list_actions, parser))
            groups[group] = parser.add_subparsers(dest="verb", metavar="ACTION")
        _add(groups.get(group, commands), name, one)
    if groups:
        from forgetmenot.operations.commands import OPERATIONS

        for operation in OPERATIONS.values():
            example = next(
                (line for line in operation.examples if line.startswith("forgetmenot ")), ""
            )
            if example and (words := example.split())[1] in groups:
                change = Command(
                    path=" ".join(words[1:3]),
                    run=_change,
                    options=_options_of(operation),
                    about=ENGLISH(f"does.{operation.name}"),
                    keys=f"Example: {example}\n{CHANGE_KEYS}",
                    defaults={"operation": operation},
                )
                _add(groups[words[1]], words[2], change)


def _list_actions(parser: argparse.ArgumentParser, _: argparse.Namespace) -> int:
    parser.print_help(sys.stderr)
    return 2


def _add(commands: Commands, name: str, one: Command) -> None:
    first, _, more = inspect.cleandoc(one.run.__doc__ or "").partition("\n\n")
    about = one.about or first[:1].lower() + first[1:].rstrip(".")
    # argparse lists in its help what has a help
    listed = {} if one.path in FOR_DEVELOPERS else {"help": about}
    parser = commands.add_parser(
        name,
        **listed,
        description=textwrap.fill(" ".join((more or about).split()), 100),
        epilog=one.keys,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for names, how in (*(SHARED[name] for name in one.shared.split()), *one.options):
        parser.add_argument(*names, **how)
    parser.set_defaults(run=partial(_run, one), **one.defaults)


async def _on_memory(one: Command, arguments: argparse.Namespace) -> int | None:
    from forgetmenot.store.read_only import open_existing

    async with open_existing(existing_database(arguments)) as db:
        found = await one.run(db, arguments)
    if isinstance(found, tuple):
        value, lines = found
        report(arguments, value, lines, to=show_line)
        return 0
    return int(found or 0)


def _run(one: Command, arguments: argparse.Namespace) -> int:
    from forgetmenot.logs import log

    def report_bug(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        # asyncio's own report prints values, which could be chat
        log.error(
            "a task failed unexpectedly",
            exc_info=context.get("exception"),
            kind=context.get("message"),
        )

    async def watched(work: Coroutine[Any, Any, int | None]) -> int | None:
        asyncio.get_running_loop().set_exception_handler(report_bug)
        return await work

    work = _on_memory(one, arguments) if one.on_memory else one.run(arguments)
    return (asyncio.run(watched(work)) if isinstance(work, Coroutine) else work) or 0


def database_path(arguments: argparse.Namespace, *, folder: Path | None = None) -> Path:
    """The database that `--db` names, else that of the configured channel. Raises InputError for a folder.

    `folder`: look there, and not in the data folder. Of a link what it points to: what lies beside a memory (lock, key,
    lists) is to be the same for everybody.
    """
    from forgetmenot.store.channel_state import file_for

    chosen: Path | None = arguments.db
    if chosen is not None:
        path = chosen
    elif folder is not None:
        path = folder / DATABASE
    else:
        channel = ""
        with suppress(
            SettingsError
        ):  # without settings, or with wrong ones, it is the first memory
            channel = load_settings(
                getattr(arguments, "config", None) or data_folder() / SETTINGS_FILE
            ).twitch.channel
        path = file_for(data_folder() / DATABASE, channel)
    if path.is_dir():
        raise InputError(
            f"{path} is a folder. Use a file in it with --db, for example {path / DATABASE}."
        )
    if path.exists() and not path.is_file():  # opening a pipe with a name waits without end
        raise InputError(f"{path} is no file. Choose another one with --db.")
    return path.resolve() if path.is_symlink() else path


def channel_database(arguments: argparse.Namespace, channel: str) -> Path:
    """The memory of a channel: the file that `--db` names, else the channel's own in the data folder."""
    from forgetmenot.store.channel_state import file_for

    return (
        database_path(arguments)
        if arguments.db is not None
        else file_for(data_folder() / DATABASE, channel)
    )


def existing_database(arguments: argparse.Namespace) -> Path:
    """The path for commands that only read: a missing file is an error, not a new memory."""
    path = database_path(arguments)
    if not path.is_file():
        raise InputError(f"There is no memory at {path} yet. Start the bot once, or use --db FILE.")
    return path


def time_of(name: str, given: str | None) -> int:
    """The time (ms) that an option names; the present one without it. Raises InputError."""
    from forgetmenot.clock import SystemClock, parse_iso

    if given is None:
        return SystemClock().now()
    try:
        return parse_iso(given)
    except ValueError:
        raise InputError(
            f"{name} {given} is not a time. Write it like 2026-11-20T18:30:00Z."
        ) from None


def confirmed(warning: str, expected: str = "yes", what: str = "yes") -> bool:
    """Whether somebody types `expected` after the warning. Raises InputError where nobody can type."""
    if not sys.stdin.isatty():  # a question in a script would wait without end
        raise InputError(f"{warning} Add --yes to skip this question.")
    say(f"{warning} Type {what} to continue:")
    return sys.stdin.readline().strip().casefold() == expected.casefold()


def options_given(arguments: argparse.Namespace, config: Path | None) -> list[str]:
    """The options that start the bot with the same settings and memory."""
    given = {"--config": config, "--db": arguments.db}
    return [
        word
        for name, path in given.items()
        if path is not None
        for word in (name, str(path.absolute()))
    ]


async def run_operation(
    db: "Database", name: str, params: "Mapping[str, object]"
) -> "OperationResult":
    """Run an operation as the streamer."""
    from forgetmenot.clock import SystemClock
    from forgetmenot.domain import Asker, Role, Surface
    from forgetmenot.operations.commands import OPERATIONS
    from forgetmenot.operations.run import run
    from forgetmenot.operations.types import OperationContext
    from forgetmenot.privacy.erasure import Eraser
    from forgetmenot.privacy.requests import Rights

    clock = SystemClock()
    eraser = Eraser(db=db, clock=clock)
    context = OperationContext(
        db=db,
        settings=Settings,
        clock=clock,
        operations=OPERATIONS,
        eraser=eraser,
        rights=Rights(db=db, clock=clock, eraser=eraser, patient=False),
    )
    asker = Asker(Surface.CLI, role=Role.BROADCASTER)
    return await run(context, name, params, asker)


CHANGE_KEYS = 'JSON: {"ok", "code" (what came of it), "line" (the same in words), "data" (depends on the code)}.'


def _options_of(operation: "Operation") -> list[Option]:
    """A number, a text and, where nothing else is typed, a viewer are words; a flag is the answer to a question."""
    from forgetmenot.operations.types import ParameterKind

    kinds = [one.kind for one in operation.params]
    found = list[Option]()
    for one in operation.params:
        if one.kind is ParameterKind.NUMBER:
            found.append(option(one.name, type=number_from(1), metavar="ID", help="its number"))
        elif one.kind is ParameterKind.FLAG:
            found.append(
                option(
                    "--yes", dest=one.name, action="store_true", help="do not ask for confirmation"
                )
            )
        elif one.kind is ParameterKind.VIEWER and ParameterKind.TEXT in kinds:
            found.append(
                option(
                    "--viewer",
                    metavar="LOGIN",
                    help="only about this viewer (default: about anybody)",
                )
            )
        elif one.kind is ParameterKind.VIEWER:
            found.append(
                option(
                    one.name, metavar="LOGIN", help="their login, also a former one, or Twitch ID"
                )
            )
        elif not (
            one.optional and ParameterKind.NUMBER in kinds
        ):  # in chat, words may stand for the number
            nargs = "*" if one.optional else "+"
            found.append(
                option(one.name, nargs=nargs, metavar=one.name.upper(), help="in your own words")
            )
    return found


async def _change(db: "Database", arguments: argparse.Namespace) -> int:
    """Run an operation; its result as JSON, or in words."""
    from forgetmenot.operations.wording import sentence

    operation: Operation = arguments.operation
    given = {one.name: getattr(arguments, one.name, None) for one in operation.params}
    params = {
        name: " ".join(value) if isinstance(value, list) else value for name, value in given.items()
    }
    if params.get("confirm") is False:
        login = str(await known_viewer(db, str(params["viewer"])) and params["viewer"])
        warning = f"This permanently erases everything about {login} and cannot be undone."
        if not confirmed(warning, login, "the login again"):
            say("Nothing was erased.")
            return 1
        params["confirm"] = True
    result = await run_operation(db, operation.name, params)
    line = sentence(result)
    if arguments.json:
        emit({"ok": result.ok, "code": result.code, "line": line, "data": result.data})
        return 0 if result.ok else InputError.exit_code
    if not result.ok:
        raise InputError(line)
    say(line)
    return 0


async def known_viewer(source: "Source", login_or_id: str) -> str:
    """The id of a known viewer. Raises InputError, also where several can be meant."""
    from forgetmenot.people import names

    meant = await names.resolve(source, login_or_id, may_be_short=True)
    if not meant:
        raise InputError(
            f"No viewer named {login_or_id}. Use a name they have or had, or a Twitch ID."
        )
    if len(meant) > 1:
        listed = await names.told_apart(source, meant)
        raise InputError(f"{login_or_id} can be {listed}. Use @ and the login, or id: and the ID.")
    return meant[0]


@contextmanager
def text_lines(name: str) -> Iterator[Iterator[str]]:
    """The lines of a regular file, or of standard input for `-`. Raises InputError."""
    from forgetmenot.files import open_text

    if name == "-":
        yield _lines(sys.stdin, "Standard input")
        return
    if (
        Path(name).exists() and not Path(name).is_file()
    ):  # a pipe with a name would be waited for without end
        raise InputError(f"{name} is no file. Use - to read what is piped in.")
    try:
        # A byte that is no text becomes `\\xff`, which is no JSON: its line is refused, and the others are not.
        file = open_text(Path(name), errors="backslashreplace")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}.") from error
    with file:
        yield _lines(file, name)


def _lines(file: TextIO, name: str) -> Iterator[str]:
    """Its lines. Raises InputError for one that does not fit into memory."""
    from forgetmenot.files import lines_of

    for number, line in enumerate(lines_of(file, LONGEST_LINE), 1):
        if len(line) == LONGEST_LINE:
            raise InputError(
                f"{name}, line {number}: too long (over {LONGEST_LINE:,} characters). Shorten or remove it."
            )
        yield (
            line.removeprefix("\ufeff") if number == 1 else line
        )  # PowerShell puts it first into a pipe, too


def printable(text: str) -> str:
    """The text made safe for a terminal: without escape sequences and bidirectional controls."""
    return _UNPRINTABLE.sub("\ufffd", text)


def say(text: str = "") -> None:
    """Print progress or an error on standard error."""
    print(printable(_with_commands_as_typed(text)), file=sys.stderr, flush=True)


def show_line(text: str = "") -> None:
    """Print an answer on standard output."""
    print(printable(_with_commands_as_typed(text)), flush=True)


def has_desktop() -> bool:
    """Whether a browser opens in a window; a text browser would take over the terminal."""
    # over SSH or in a container there is none, whatever browser is installed
    windows = sys.platform in ("win32", "darwin")
    return windows or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def open_page(address: str, wait_s: float = 0) -> None:
    """Open the page in a thread, because a text browser blocks until it is closed."""
    import threading
    import webbrowser

    opening = threading.Thread(target=webbrowser.open, args=(address,), daemon=True)
    opening.start()
    opening.join(wait_s)


def _with_commands_as_typed(text: str) -> str:
    """A message whose commands can be copied: outside an installation `forgetmenot` is not on the path."""
    if "forgetmenot " not in text or (command := as_typed()) == "forgetmenot":
        return text
    return re.sub(
        rf"(?<![\w/@.-])forgetmenot (?=(?:{'|'.join(COMMANDS)})\b)", lambda _: f"{command} ", text
    )


def encoded(value: object) -> bytes:
    """A value as JSON, with the reasons in it in English."""
    from forgetmenot.languages import ENGLISH

    return msgspec.json.encode(value, enc_hook=ENGLISH.reason)


def emit(value: object) -> None:
    """Print one JSON object on one line of standard output."""
    sys.stdout.write(encoded(value).decode() + "\n")
    sys.stdout.flush()


def report(
    arguments: argparse.Namespace,
    value: object,
    lines: Iterable[str],
    to: Callable[[str], None] = say,
) -> None:
    """The answer of a command: the value with --json, else the lines."""
    if arguments.json:
        emit(value)
    else:
        for line in lines:
            to(line)


def dated(row: Mapping[str, object]) -> dict[str, object]:
    """A row with readable times."""
    from forgetmenot.clock import iso

    times = {"at", "until"}
    return {
        key: iso(value)
        if isinstance(value, int) and (key.endswith("_at") or key in times)
        else value
        for key, value in row.items()
    }


def picked(row: object, names: str) -> dict[str, object]:
    """These fields of a row, with readable times."""
    return dated({name: getattr(row, name) for name in names.split()})


# Settings of a command: the file that --config names, or the defaults, with what its options change.


def use_found_file(arguments: argparse.Namespace) -> None:
    """Set `config` to the settings file beside the memory, where --config exists and was not given.

    No other place is looked at: a file in the current folder may be anybody's, and decides where the log-in is sent.
    """
    chosen: Path | None = getattr(arguments, "db", None)
    beside = (chosen.parent if chosen is not None else data_folder()) / SETTINGS_FILE
    if getattr(arguments, "config", SETTINGS_FILE) is None and beside.is_file():
        arguments.config = beside


def chosen_settings(path: Path | None) -> Settings:
    """Read the settings; without a file the defaults. Raises SettingsError."""
    if path is None:
        return Settings()
    from forgetmenot.operations import actions

    settings = load_settings(path)
    actions.refuse_unknown(settings.actions, str(path))
    return settings
