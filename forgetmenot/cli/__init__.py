"""The `forgetmenot` command. Nothing heavy is imported before a command runs.

Each module declares its commands beside the functions that do them (`common.command`). Expected errors are one sentence
on standard error, with the exit codes of errors.py.
"""

import argparse
import contextlib
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence

from forgetmenot import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    # answered before anything is imported: 0.03 s instead of 0.2
    if words == ["--version"]:
        print(f"forgetmenot {__version__}")
        return 0
    # what is imported stays, so collecting garbage among it would only cost 35 ms of a start
    gc.set_threshold(100_000, *gc.get_threshold()[1:])
    from forgetmenot.errors import ForgetMeNotError

    _speak_utf_8()
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    words = words or ["start"]
    try:
        from forgetmenot.cli.common import COMMANDS, use_found_file

        if not words[0].startswith("-") and words[0] not in COMMANDS:
            from forgetmenot.settings.load import nearest_name

            guess = nearest_name(words[0], COMMANDS)
            return _failed(
                f"There is no command `{words[0]}`.{guess} `forgetmenot --help` explains them.", 2
            )
        parsed = build_parser(words[0]).parse_args(words)
        use_found_file(parsed)
        return int(parsed.run(parsed))
    except ForgetMeNotError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _failed("stopped.", 130)
    except BrokenPipeError:
        # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(f"{error.filename or 'The system'}: {error.strerror or error}.", 1)
    except Exception as error:  # noqa: BLE001  # a bug
        # what Python would print may quote chat or a secret
        from forgetmenot.logs import where

        return _failed(f"this is a bug. Please report it with these lines:\n{where(error)}", 1)


def _speak_utf_8() -> None:
    """Write UTF-8 to files and pipes; to a terminal what it can show, without encoding errors."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        encoding = None if stream.isatty() else "utf-8"
        stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _failed(sentence: str, code: int) -> int:
    """Print why a command failed, and return its exit code."""
    from forgetmenot.cli.common import say

    with contextlib.suppress(OSError):
        say(f"forgetmenot: {sentence}")
    return code


def build_parser(command: str = "") -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or only of the module of one command."""
    from forgetmenot.cli.common import COMMANDS, add_commands

    parser = argparse.ArgumentParser(
        prog="forgetmenot",
        description="A local-first Twitch chat bot that remembers your regulars and deletes raw chat after 24 hours.",
        epilog="Without a command it runs `forgetmenot start`.",
    )
    parser.add_argument("--version", action="version", version=f"forgetmenot {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    modules = list(dict.fromkeys(COMMANDS.values()))
    if command in COMMANDS:
        modules = [COMMANDS[command]]
    for module in modules:
        add_commands(subparsers, importlib.import_module(f"forgetmenot.cli.{module}").__name__)
    return parser
