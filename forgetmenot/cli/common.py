"""Shared by the commands: their options, database paths, output, running operations, errors."""

import asyncio
import inspect
import os
import re
import sys
import textwrap
from argparse import (
    ArgumentParser,
    ArgumentTypeError,
    Namespace,
    RawDescriptionHelpFormatter,
)
from collections.abc import (
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TextIO, TypeVar

import msgspec

from forgetmenot.errors import InputError, SettingsError
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import as_typed

if TYPE_CHECKING:
    from forgetmenot.domain import OperationResult
    from forgetmenot.operations.types import Operation, Parameter, ParameterKind
    from forgetmenot.store.database import Database, Source

# The module of each command, of which only that one is imported. The order is that of the help.
COMMANDS = {
    "start": "bot",
    "setup": "bot",
    "demo": "play",
    "dock": "bot",
    "connect": "bot",
    "mcp": "bot",
    "login": "bot",
    "logout": "bot",
    "doctor": "bot",
    "autostart": "bot",
    "uninstall": "bot",
    "memory": "memory",
    "viewer": "memory",
    "recap": "recap",
    "learn": "play",
    "why": "inspect",
    "cost": "inspect",
    "actions": "inspect",
    "evaluate": "inspect",
    "recall": "inspect",
    "prompt": "inspect",
    "replay": "play",
}
# Commands that the help does not list.
FOR_DEVELOPERS = ("recall", "prompt", "replay")
# The names and keywords of `ArgumentParser.add_argument`.
Option = tuple[Sequence[str], Mapping[str, Any]]
Work = TypeVar("Work", bound=Callable[..., Any])
# The answer of a command that only reads: the value that --json prints, and the lines for people.
Shown = tuple[object, Iterable[str]]
DATABASE = "memory.sqlite3"
SETTINGS_FILE = "config.toml"
# In the data folder.
DEMO_FOLDER = "demo"
# Characters of a line of an import or of questions. A file with a longer line is another kind of file.
LONGEST_LINE = 4_000_000
# What a terminal would obey: control characters, and marks that change the direction of text.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
SUMMARY_KEYS = """\
The JSON object counts the run: lines = events + duplicates + excluded + other_room + unparsed + other, and
events = covered (read by an episode) + uncovered + redacted. pruned_unread is what was lost unread: 0."""


class Commands(Protocol):
    """What `ArgumentParser.add_subparsers` returns, to which commands are added."""

    def add_parser(self, name: str, **kwargs: Any) -> ArgumentParser:  # noqa: ANN401
        """Add the parser of one command."""


def option(*names: str, **how: Any) -> Option:  # noqa: ANN401  # as add_argument takes them
    """Return an option of a command, from the arguments of `add_argument`."""
    return names, how


def number_from(least: int) -> Callable[[str], int]:
    """Return a parser for whole numbers of at least `least` and at most 18 digits."""

    def read(text: str) -> int:
        # 18 digits: SQLite would make a float of a larger number, and find nothing by it.
        if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) < least:
            raise ArgumentTypeError(
                f"{text!r} is not a whole number of at least {least}"
            )
        return int(text)

    return read


def data_folder() -> Path:
    """Return the system's folder for our data."""
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
# What the help says about operations. In chat's help the bot speaks of itself; here it does not.
ABOUT_CHANGES = {
    "edit": "correct a note",
    "retract": "remove a note; it can be restored",
    "restore": "undo the last change of a note",
    "pin": "keep a note permanently",
    "unpin": "let a pinned note age again",
    "never_mention": "never mention a topic or a note again",
    "may_mention": "take an entry off the list of what is never mentioned",
    "erase": "permanently delete everything about a viewer",
    "opt_out": "store nothing about a viewer from now on",
    "opt_in": "remember a viewer again",
    "receipt": "show a receipt of an erasure, and search again",
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
        "--db",
        type=Path,
        metavar="PATH",
        help="the memory file (default: in your data folder)",
    ),
    "json": option(
        "--json",
        action="store_true",
        help="print JSON, and nothing else, on standard output",
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

    The function takes the parsed arguments; with `on_memory` first the open memory, which must exist. It returns an
    exit code (None for 0), or with `on_memory` what it read: the value that --json prints, and the lines for people.
    The command's help is `about`, or the first line of the function's docstring; its description is the rest.
    `defaults`: arguments that nobody types.
    """

    def declared(run: Work) -> Work:
        _COMMANDS.append(
            Command(path, run, options, about, keys, shared, on_memory, defaults)
        )
        return run

    return declared


def add_commands(commands: Commands, module: str) -> None:
    """Add the commands that a module declares, and to its groups the operations that change something."""
    groups: dict[str, Commands] = {}
    for declared in _COMMANDS:
        # Others are there where one process builds several parsers, as tests do.
        if declared.run.__module__ != module:
            continue
        group, _, name = declared.path.rpartition(" ")
        if group and group not in groups:
            parser = commands.add_parser(
                group, help=GROUPS[group], description=GROUPS[group]
            )
            parser.set_defaults(run=partial(_list_actions, parser))
            groups[group] = parser.add_subparsers(dest="verb", metavar="ACTION")
        _add(groups.get(group, commands), name, declared)
    if groups:
        _add_operations(groups)


def _add_operations(groups: Mapping[str, Commands]) -> None:
    """Add the operations whose example is typed in a terminal: `forgetmenot memory retract 12`."""
    for operation, example in _typed_in_a_terminal():
        _program, group, name, *_params = example.split()
        change = Command(
            path=f"{group} {name}",
            run=_change,
            options=_options_of(operation),
            about=ABOUT_CHANGES[operation.name],
            keys=f"Example: {example}\n{CHANGE_KEYS}",
            defaults={"operation": operation},
        )
        _add(groups[group], name, change)


def _typed_in_a_terminal() -> "Iterator[tuple[Operation, str]]":
    """Yield the operations that are commands of a group, each with its example: "forgetmenot memory pin 12"."""
    from forgetmenot.operations.commands import OPERATIONS

    for operation in OPERATIONS.values():
        for example in operation.examples:
            # Other examples are those of chat.
            if example.startswith("forgetmenot "):
                yield operation, example
                break


def action_names(group: str) -> list[str]:
    """Return the names of the actions of a group, such as "list" of `memory`."""
    paths = [declared.path for declared in _COMMANDS]
    for _operation, example in _typed_in_a_terminal():
        paths.append(" ".join(example.split()[1:3]))
    prefix = f"{group} "
    return [path.removeprefix(prefix) for path in paths if path.startswith(prefix)]


def near_word(typed: str, names: Iterable[str]) -> str:
    """Return the question whether a similar name was meant, with a space before; "" if none is near."""
    import difflib

    match = difflib.get_close_matches(typed, list(names), n=1, cutoff=0.7)
    return f" Did you mean `{match[0]}`?" if match else ""


def _list_actions(parser: ArgumentParser, _: Namespace) -> int:
    parser.print_help(sys.stderr)
    return 2


def _add(
    commands: Commands,
    name: str,
    declared: Command,
) -> None:
    """Add one command to a parser."""
    docstring = inspect.cleandoc(declared.run.__doc__ or "")
    first_line, _, rest = docstring.partition("\n\n")
    about = declared.about or first_line[:1].lower() + first_line[1:].rstrip(".")
    # argparse lists a command only if `help` is given.
    listed = {} if declared.path in FOR_DEVELOPERS else {"help": about}
    description = " ".join((rest or about).split())
    parser = commands.add_parser(
        name,
        **listed,
        # Wrapped here, because the formatter that leaves `epilog` as it is leaves this as well.
        description=textwrap.fill(description, 100),
        epilog=declared.keys,
        formatter_class=RawDescriptionHelpFormatter,
    )
    shared_options = [SHARED[shared] for shared in declared.shared.split()]
    for names, how in (*shared_options, *declared.options):
        parser.add_argument(*names, **how)
    parser.set_defaults(run=partial(_run, declared), **declared.defaults)


async def _on_memory(declared: Command, arguments: Namespace) -> int | None:
    """Run a command with the open memory, print what it read, and return the exit code."""
    from forgetmenot.store.read_only import open_existing

    async with open_existing(existing_database(arguments)) as db:
        answer = await declared.run(db, arguments)
    # Closed by now: whoever reads the output slowly, such as `less`, keeps no memory open.
    if isinstance(answer, tuple):
        value, lines = answer
        report(arguments, value, lines, to=show_line)
        return 0
    return int(answer or 0)


def _run(declared: Command, arguments: Namespace) -> int:
    """Run a command, and return the exit code."""
    if declared.on_memory:
        work = _on_memory(declared, arguments)
    else:
        work = declared.run(arguments)
    # Most commands are asynchronous; those that only print are not.
    if isinstance(work, Coroutine):
        return asyncio.run(_watched(work)) or 0
    return work or 0


async def _watched(work: Coroutine[Any, Any, int | None]) -> int | None:
    """Run a command, with failures of its background tasks logged."""
    asyncio.get_running_loop().set_exception_handler(_log_failed_task)
    return await work


def _log_failed_task(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a task that failed. asyncio's own report prints values, which could be chat."""
    from forgetmenot.logs import log

    log.error(
        "a task failed unexpectedly",
        exc_info=context.get("exception"),
        kind=context.get("message"),
    )


def database_path(arguments: Namespace, *, folder: Path | None = None) -> Path:
    """Return the memory file that `--db` names, else that of the configured channel. Raises InputError.

    `folder`: where the file is without `--db`, in place of the data folder. A link is resolved, because the files
    beside a memory (lock, key, requests) must be the same for everybody who opens it.
    """
    path: Path | None = arguments.db
    if path is None and folder is not None:
        path = folder / DATABASE
    if path is None:
        path = _configured_database(arguments)
    if path.is_dir():
        raise InputError(
            f"{path} is a folder. Use a file in it with --db, for example {path / DATABASE}."
        )
    # Opening a named pipe would wait without end.
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file. Choose another one with --db.")
    return path.resolve() if path.is_symlink() else path


def _configured_database(arguments: Namespace) -> Path:
    """Return the memory file of the channel in the settings; without usable settings the first one."""
    from forgetmenot.store.channel_state import file_for

    file = getattr(arguments, "config", None) or data_folder() / SETTINGS_FILE
    channel = ""
    # A command that only reads the memory works with settings that have an error, too.
    with suppress(SettingsError):
        channel = load_settings(file).twitch.channel
    return file_for(data_folder() / DATABASE, channel)


def channel_database(arguments: Namespace, channel: str) -> Path:
    """Return the memory file that `--db` names, else the channel's own in the data folder."""
    from forgetmenot.store.channel_state import file_for

    if arguments.db is not None:
        return database_path(arguments)
    return file_for(data_folder() / DATABASE, channel)


def existing_database(arguments: Namespace) -> Path:
    """Return the memory file of a command that only reads. Raises InputError if there is none."""
    path = database_path(arguments)
    if not path.is_file():
        raise InputError(
            f"There is no memory at {path} yet. Start the bot once, or use --db FILE."
        )
    return path


def now() -> int:
    """Return the time of this computer's clock (ms)."""
    from forgetmenot.clock import SystemClock

    return SystemClock().now()


def time_of(name: str, typed: str) -> int:
    """Return the time (ms) that was typed for an option. Raises InputError."""
    from forgetmenot.clock import parse_iso

    try:
        return parse_iso(typed)
    except ValueError:
        raise InputError(
            f"{name} {typed} is not a time. Write it like 2026-11-20T18:30:00Z."
        ) from None


def confirmed(
    warning: str,
    expected: str = "yes",
    typed: str = "yes",
) -> bool:
    """Return whether somebody types `expected` after a warning. Raises InputError without a terminal.

    `typed`: how the question calls that.
    """
    # In a script the question would wait without end.
    if not sys.stdin.isatty():
        raise InputError(f"{warning} Add --yes to skip this question.")
    say(f"{warning} Type {typed} to continue:")
    return sys.stdin.readline().strip().casefold() == expected.casefold()


def options_given(arguments: Namespace, config: Path | None) -> list[str]:
    """Return the options that start the bot with the same settings and memory."""
    options: list[str] = []
    # Absolute: what starts with the computer starts in another folder.
    if config is not None:
        options += ["--config", str(config.absolute())]
    if arguments.db is not None:
        options += ["--db", str(arguments.db.absolute())]
    return options


async def run_operation(
    db: "Database",
    name: str,
    params: "Mapping[str, object]",
) -> "OperationResult":
    """Run an operation as the streamer, and return its result."""
    from forgetmenot.clock import SystemClock
    from forgetmenot.domain import Asker, Role, Surface
    from forgetmenot.operations.commands import OPERATIONS
    from forgetmenot.operations.run import run
    from forgetmenot.operations.types import OperationContext
    from forgetmenot.privacy.erasure import Eraser
    from forgetmenot.privacy.requests import PrivacyService

    clock = SystemClock()
    eraser = Eraser(db=db, clock=clock)
    # Not patient: whoever types is told that the memory cannot be written, and can try again.
    privacy = PrivacyService(
        db=db,
        clock=clock,
        eraser=eraser,
        patient=False,
    )
    context = OperationContext(
        db=db,
        settings=Settings,
        clock=clock,
        operations=OPERATIONS,
        eraser=eraser,
        privacy=privacy,
    )
    # Whoever may type here may open the file as well: there is no smaller right to check.
    asker = Asker(Surface.CLI, role=Role.BROADCASTER)
    return await run(context, name, params, asker)


CHANGE_KEYS = 'JSON: {"ok", "code" (what came of it), "line" (the same in words), "data" (depends on the code)}.'


def _options_of(operation: "Operation") -> list[Option]:
    """Return the options of an operation, one for each parameter."""
    kinds = {parameter.kind for parameter in operation.params}
    options = []
    for parameter in operation.params:
        typed_option = _option_of(parameter, kinds)
        if typed_option is not None:
            options.append(typed_option)
    return options


def _option_of(
    parameter: "Parameter", kinds: Collection["ParameterKind"]
) -> Option | None:
    """Return the option of a parameter; None if nobody types it in a terminal.

    `kinds`: those of all parameters of the operation.
    """
    from forgetmenot.operations.types import ParameterKind

    name = parameter.name
    if parameter.kind is ParameterKind.NUMBER:
        return option(name, type=number_from(1), metavar="ID", help="its number")
    if parameter.kind is ParameterKind.FLAG:
        return option(
            "--yes", dest=name, action="store_true", help="do not ask for confirmation"
        )
    # Beside a text, which takes all words that follow, a viewer can only be an option.
    if parameter.kind is ParameterKind.VIEWER and ParameterKind.TEXT in kinds:
        about_viewer = "only about this viewer (default: about anybody)"
        return option("--viewer", metavar="LOGIN", help=about_viewer)
    if parameter.kind is ParameterKind.VIEWER:
        return option(
            name, metavar="LOGIN", help="their login, also a former one, or Twitch ID"
        )
    # In chat, words may stand for the number; in a terminal the number is typed.
    if parameter.optional and ParameterKind.NUMBER in kinds:
        return None
    nargs = "*" if parameter.optional else "+"
    return option(name, nargs=nargs, metavar=name.upper(), help="in your own words")


async def _change(db: "Database", arguments: Namespace) -> int:
    """Run an operation, print its result, and return the exit code. Raises InputError."""
    from forgetmenot.operations.wording import sentence

    operation: Operation = arguments.operation
    params: dict[str, object] = {}
    for parameter in operation.params:
        value = getattr(arguments, parameter.name, None)
        # The shell has cut a text at its spaces.
        params[parameter.name] = " ".join(value) if isinstance(value, list) else value
    # Only an erasure has this parameter.
    if params.get("confirm") is False:
        login = str(params["viewer"])
        # Raises InputError before anything is asked.
        await known_viewer(db, login)
        warning = (
            f"This permanently erases everything about {login} and cannot be undone."
        )
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
    """Return the id of a stored viewer. Raises InputError if nobody or several can be meant."""
    from forgetmenot.people import names

    candidates = await names.resolve(source, login_or_id, may_be_short=True)
    if not candidates:
        raise InputError(
            f"No viewer named {login_or_id}. Use a name they have or had, or a Twitch ID."
        )
    if len(candidates) > 1:
        listed = await names.told_apart(source, candidates)
        raise InputError(
            f"{login_or_id} can be {listed}. Use @ and the login, or id: and the ID."
        )
    return candidates[0]


@contextmanager
def text_lines(name: str) -> Iterator[Iterator[str]]:
    """Open the lines of a regular file, or of standard input for `-`. Raises InputError."""
    from forgetmenot.files import open_text

    if name == "-":
        yield _lines(sys.stdin, "Standard input")
        return
    path = Path(name)
    # Opening a named pipe would wait without end.
    if path.exists() and not path.is_file():
        raise InputError(f"{name} is no file. Use - to read what is piped in.")
    try:
        # A byte that is no text becomes `\\xff`, which is no JSON, so its line alone is refused.
        file = open_text(path, errors="backslashreplace")
    except OSError as error:
        raise InputError(
            f"{name} cannot be read: {error.strerror or error}."
        ) from error
    with file:
        yield _lines(file, name)


def _lines(file: TextIO, name: str) -> Iterator[str]:
    """Give the lines of a file. Raises InputError for one that is longer than LONGEST_LINE."""
    from forgetmenot.files import lines_of

    for number, line in enumerate(lines_of(file, LONGEST_LINE), 1):
        if len(line) == LONGEST_LINE:
            raise InputError(
                f"{name}, line {number}: too long (over {LONGEST_LINE:,} characters). Shorten or remove it."
            )
        # PowerShell begins a pipe with a byte order mark, too.
        yield line.removeprefix("\ufeff") if number == 1 else line


def printable(text: str) -> str:
    """Return a text without escape sequences and marks that change the direction of text."""
    return _UNPRINTABLE.sub("\ufffd", text)


def say(text: str = "") -> None:
    """Print progress or an error on standard error."""
    print(printable(_with_commands_as_typed(text)), file=sys.stderr, flush=True)


def show_line(text: str = "") -> None:
    """Print an answer on standard output."""
    print(printable(_with_commands_as_typed(text)), flush=True)


def has_terminal() -> bool:
    """Return whether somebody sees what is printed. A Windows program without a console has no streams."""
    # Typed anew: the type stubs know nothing of a program without streams.
    stream: TextIO | None = sys.stderr
    return stream is not None and stream.isatty()


def show_failure(sentence: str) -> None:
    """Open a page with the reason why the bot did not start: without a terminal nobody would see it."""
    import html

    from forgetmenot.files import make_own

    text = html.escape(printable(sentence))
    style = "font: 1.1rem system-ui, sans-serif; margin: 15vh auto; max-width: 36em"
    folder = data_folder()
    page = folder / "not-started.html"
    # On a full disk even this fails, and there is nothing left to show it with.
    with suppress(OSError):
        make_own(folder)
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><title>ForgetMeNot</title><body style="{style}">'
            f"<h1>ForgetMeNot did not start</h1><p>{text}</p>",
            encoding="utf-8",
        )
        open_page(page.as_uri(), wait_s=5)


def has_desktop() -> bool:
    """Return whether a browser would open in a window; a text browser would take over the terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    # Over SSH or in a container there is no window, whatever browser is installed.
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def open_page(address: str, wait_s: float = 0) -> None:
    """Open a page, and wait at most `wait_s` seconds until the browser has it.

    In a thread, because a text browser blocks until it is closed.
    """
    import threading
    import webbrowser

    opening = threading.Thread(target=webbrowser.open, args=(address,), daemon=True)
    opening.start()
    opening.join(wait_s)


def _with_commands_as_typed(text: str) -> str:
    """Return a message with its commands as they have to be typed here.

    Without an installation `forgetmenot` is not on the path.
    """
    # Most lines name no command, and to find out how we were started takes a look at the disk.
    if "forgetmenot " not in text:
        return text
    program = as_typed(same_folder=True)
    if program == "forgetmenot":
        return text
    names = "|".join(COMMANDS)
    commands = rf"(?<![\w/@.-])forgetmenot (?=(?:{names})\b)"
    # As a function: a path of Windows has backslashes, which re.sub would read as its own marks.
    return re.sub(commands, lambda _match: f"{program} ", text)


def encoded(value: object) -> bytes:
    """Return a value as JSON, with the reasons in it in English."""
    from forgetmenot.languages import ENGLISH

    return msgspec.json.encode(value, enc_hook=ENGLISH.reason)


def local_time(ms: int, settings: Settings) -> str:
    """Return a moment as the channel's clocks show it: "28 November 2026, 20:24"."""
    from forgetmenot.text import days

    zone = settings.bot.timezone
    return f"{days.written_day(ms, zone)}, {days.local_time(ms, zone):%H:%M}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 note", "1,200 notes"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def emit(value: object) -> None:
    """Print one JSON object on one line of standard output."""
    sys.stdout.write(encoded(value).decode() + "\n")
    sys.stdout.flush()


def report(
    arguments: Namespace,
    value: object,
    lines: Iterable[str],
    to: Callable[[str], None] = say,
) -> None:
    """Print the answer of a command: the value with --json, else the lines."""
    if arguments.json:
        emit(value)
    else:
        for line in lines:
            to(line)


def dated(row: Mapping[str, object]) -> dict[str, object]:
    """Return a row with its times (ms) as ISO 8601."""
    from forgetmenot.clock import iso

    columns = {}
    for name, value in row.items():
        # All columns that hold a time are called so; some are NULL, and stay so.
        is_time = name.endswith("_at") or name in {"at", "until"}
        columns[name] = iso(value) if is_time and isinstance(value, int) else value
    return columns


def picked(row: object, names: str) -> dict[str, object]:
    """Return the fields of a row that `names` lists (with spaces between), with times as ISO 8601."""
    return dated({name: getattr(row, name) for name in names.split()})


# ── settings of a command ───────────────────────────────────────────────────────────────────


def use_found_file(arguments: Namespace) -> None:
    """Set `config` to the settings file beside the memory, if the command has --config and nobody typed it.

    No other place is looked at: a file in the current folder may be anybody's, and settings decide where the log-in is
    sent.
    """
    # A command without --config has no such attribute: it is left alone, too.
    if getattr(arguments, "config", SETTINGS_FILE) is not None:
        return
    database: Path | None = getattr(arguments, "db", None)
    folder = database.parent if database is not None else data_folder()
    file = folder / SETTINGS_FILE
    if file.is_file():
        arguments.config = file


def chosen_settings(path: Path | None) -> Settings:
    """Return the settings of a file; None: the defaults. Raises SettingsError."""
    if path is None:
        return Settings()
    from forgetmenot.operations import actions

    settings = load_settings(path)
    # The schema cannot know the names of actions, which are listed above it.
    actions.refuse_unknown(settings.actions, str(path))
    return settings
