"""`forgetmenot replay FILE`: recorded chat through the same pipeline as live chat."""

import argparse
import contextlib
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from forgetmenot.cli.common import (
    DATABASE,
    SUMMARY_KEYS,
    Commands,
    add_config_option,
    add_json_option,
    database_path,
    emit,
    run_async,
    say,
    show_line,
)

FORMATS = ("irc", "csv", "jsonl")
MODELS = ("offline", "gemini", "openai_compatible")
TEMPORARY = "forgetmenot-replay-"


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "replay",
        help="feed recorded chat through the bot",
        description="Feeds recorded chat through the same pipeline as live chat. Times are the recording's own; "
        "nothing is sent. csv: sender,date in ms,message. jsonl: login, text, at, and if known id, user_id, badges. "
        "Without --db the memory is temporary.",
        epilog=SUMMARY_KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the recording")
    parser.add_argument("--format", choices=FORMATS, required=True, help="the recording's format")
    parser.add_argument("--db", type=Path, metavar="PATH", help="the memory to fill (default: a temporary one)")
    parser.add_argument("--model", choices=MODELS, help="which model to use (default: from the settings)")
    parser.add_argument("--speed", default="max", metavar="N", help="multiple of real time, or max (default)")
    parser.add_argument("--until-compacted", action="store_true", help="summarise the remainder too")
    add_config_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play it and print the summary."""
    return run_async(_replay(arguments))


async def _replay(arguments: argparse.Namespace) -> None:
    from forgetmenot import logs
    from forgetmenot.app.replay import Replay, read_recording, replay
    from forgetmenot.cli.common import chosen_settings

    logs.set_up(level="warning")
    how = Replay(
        settings=chosen_settings(arguments.config, model=arguments.model),
        speed=speed_of(arguments.speed),
        until_compacted=arguments.until_compacted,
        progress=say,
    )
    items = read_recording(arguments.file, arguments.format)
    with _memory(arguments) as path:
        summary = await replay(items, path, how)
    if summary.account.unparsed and summary.account.unparsed == summary.account.lines:
        lines = summary.account.lines
        say(f"None of its {lines} lines is in {arguments.format} format. Is --format right?")
    if arguments.json:
        emit(summary.as_json())
    else:
        for line in summary.in_words():
            show_line(line)


def speed_of(text: str) -> float | None:
    """Multiple of real time; None for as fast as possible. Raises InputError."""
    from forgetmenot.errors import InputError

    if text == "max":
        return None
    with contextlib.suppress(ValueError):
        if 0 < float(text) < 1e9:
            return float(text)
    raise InputError(f"--speed {text}: use `max` or a number above 0, for example 1 or 60.")


@contextlib.contextmanager
def _memory(arguments: argparse.Namespace) -> Iterator[Path]:
    if arguments.db is not None:
        yield database_path(arguments)
        return
    _drop_left_over()
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder, _ended_like_by_ctrl_c():
        yield Path(folder) / DATABASE


def _drop_left_over() -> None:
    """Delete the temporary memory of a killed replay, because it holds chat."""
    from forgetmenot.store.file_safety import is_locked

    for folder in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        if (folder / DATABASE).exists() and not is_locked(folder / DATABASE):
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _ended_like_by_ctrl_c() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C; otherwise it would end the process at once."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
