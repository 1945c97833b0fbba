"""The `forgetmenot` command. Nothing heavy is imported before a command runs.

Each module declares its commands beside the functions that do them (`common.command`). Expected errors are one sentence
on standard error, with the exit codes of errors.py.
"""

import contextlib
import gc
import importlib
import io
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from forgetmenot import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # Answered before anything is imported: 0.03 s instead of 0.2.
    if words == ["--version"]:
        print(f"forgetmenot {__version__}")
        return 0
    # What is imported stays (110,000 objects for a start), so collecting garbage among it would only cost 25 ms.
    gc.set_threshold(300_000, *gc.get_threshold()[1:])
    from forgetmenot.errors import ForgetMeNotError

    _speak_utf_8()
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    # A double-click types nothing.
    words = words or ["start"]
    try:
        parsed = _parsed(words)
        return int(parsed.run(parsed))
    except ForgetMeNotError as error:
        code = _failed(str(error), error.exit_code)
        # Only what a double-click runs may have nobody who reads a terminal.
        if words == ["start"]:
            _show_without_terminal(str(error))
        return code
    except KeyboardInterrupt:
        # 128 and the number of the signal, as shells have it.
        return _failed("stopped.", 130)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Without this Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(
            f"{error.filename or 'The system'}: {error.strerror or error}.", 1
        )
    except Exception as error:  # noqa: BLE001  # a bug
        # What Python would print may quote chat or a secret.
        from forgetmenot.logs import where

        return _failed(
            f"this is a bug. Please report it with these lines:\n{where(error)}", 1
        )


def _parsed(words: Sequence[str]) -> Namespace:
    """Return the arguments of a command. Raises InputError for a name that there is not."""
    from forgetmenot.cli.common import GROUPS, use_found_file
    from forgetmenot.errors import InputError
    from forgetmenot.startup import as_typed

    program = as_typed(same_folder=True)
    name = words[0]
    # argparse would list every command in its error, and name none that is near.
    if not name.startswith("-"):
        _refuse_unknown_command(name, program)
    parser = build_parser(name)
    if name in GROUPS and len(words) > 1:
        _refuse_unknown_action(name, words[1])
    parsed, unknown_words = parser.parse_known_args(words)
    if unknown_words:
        raise InputError(
            f"`{name}` does not know `{unknown_words[0]}`. `forgetmenot {name} --help` explains it."
        )
    use_found_file(parsed)
    return parsed


def _refuse_unknown_command(name: str, program: str) -> None:
    """Raise InputError if there is no command of that name."""
    from forgetmenot.cli.common import COMMANDS, FOR_DEVELOPERS, near_word
    from forgetmenot.errors import InputError

    if name in COMMANDS:
        return
    guess = near_word(name, COMMANDS.keys() - set(FOR_DEVELOPERS))
    raise InputError(
        f"There is no command `{name}`.{guess} `{program} --help` explains them."
    )


def _refuse_unknown_action(group: str, name: str) -> None:
    """Raise InputError if a command has no action of that name."""
    from forgetmenot.cli.common import action_names, near_word
    from forgetmenot.errors import InputError

    names = action_names(group)
    if name.startswith("-") or name in names:
        return
    guess = near_word(name, names)
    raise InputError(
        f"`{group}` has no action `{name}`.{guess} `forgetmenot {group} --help` explains them."
    )


def _speak_utf_8() -> None:
    """Write UTF-8 to files and pipes; to a terminal what it can show, without encoding errors."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # None in a Windows program without a console; something else where tests read it.
        if not isinstance(stream, io.TextIOWrapper):
            continue
        encoding = None if stream.isatty() else "utf-8"
        stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _failed(sentence: str, code: int) -> int:
    """Print why a command failed, and return its exit code."""
    from forgetmenot.cli.common import say

    # Whoever read standard error may be gone, too.
    with contextlib.suppress(OSError):
        say(f"forgetmenot: {sentence}")
    return code


def _show_without_terminal(sentence: str) -> None:
    """Show why a program that was built, and started with a click, did not start."""
    from forgetmenot.cli.common import has_terminal, show_failure

    if getattr(sys, "frozen", False) and not has_terminal():
        show_failure(sentence)


def build_parser(command: str = "") -> ArgumentParser:
    """Return the parser of the whole command line, or only of the module of one command."""
    from forgetmenot.cli.common import COMMANDS, add_commands
    from forgetmenot.startup import as_typed

    program = as_typed(same_folder=True)
    parser = ArgumentParser(
        prog=program,
        description="A local-first Twitch chat bot that remembers your regulars and deletes raw chat after 24 hours.",
        epilog=f"Without a command it runs `{program} start`.",
    )
    parser.add_argument(
        "--version", action="version", version=f"forgetmenot {__version__}"
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules = list(dict.fromkeys(COMMANDS.values()))
    if command in COMMANDS:
        modules = [COMMANDS[command]]
    for name in modules:
        # Its commands are declared as it is imported.
        module = importlib.import_module(f"forgetmenot.cli.{name}")
        add_commands(subparsers, module.__name__)
    return parser
