"""The `forgetmenot` command: one small file per noun; nothing heavy is imported before a command runs."""

import argparse
import sys
from collections.abc import Sequence

from forgetmenot import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code (errors.py says which)."""
    parser = argparse.ArgumentParser(
        prog="forgetmenot", description="A Twitch chat bot that remembers without keeping the chat."
    )
    parser.add_argument("--version", action="version", version=f"forgetmenot {__version__}")
    parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    parser.print_help()
    return 0
