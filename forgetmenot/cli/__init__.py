"""The `forgetmenot` command: one small file per noun; nothing heavy is imported before a command runs.

A command's module has `add(subparsers)`, which names its options and sets `run`, a function from the parsed
arguments to an exit code. Expected errors are one sentence on standard error; errors.py tells their exit codes.
"""

import argparse
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence

from forgetmenot import __version__

COMMANDS = (
    "demo",
    "run",
    "listen",
    "dock",
    "replay",
    "login",
    "prompt",
    "why",
    "recall",
    "memory",
    "viewer",
    "policy",
    "actions",
    "sim",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:
        print(f"forgetmenot {__version__}")
        return 0
    from forgetmenot.errors import ForgetMeNotError

    _speak_utf_8()
    try:
        parsed = build_parser().parse_args(words)
        return int(parsed.run(parsed))
    except ForgetMeNotError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _failed("stopped.", 130)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(f"{error.filename or 'The system'}: {error.strerror or error}.", 1)
    except Exception as error:  # noqa: BLE001  # a bug: what Python would print may quote chat or a secret
        from forgetmenot.logs import where

        return _failed(f"this is a bug of ours, please report it with these lines:\n{where(error)}", 1)


def _speak_utf_8() -> None:
    """Files and pipes get UTF-8 on every system; a terminal gets what it can show, and never an error."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


def _failed(sentence: str, code: int) -> int:
    from forgetmenot.cli.common import say

    with contextlib.suppress(OSError):
        say(f"forgetmenot: {sentence}")
    return code


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="forgetmenot",
        description="A local-first Twitch chat bot that remembers the regulars without keeping the chat.",
    )
    parser.add_argument("--version", action="version", version=f"forgetmenot {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        importlib.import_module(f"forgetmenot.cli.{name}").add(subparsers)
    return parser
