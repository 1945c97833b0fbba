"""`forgetmenot demo`: two evenings of a small channel on your own machine, without an account or a key."""

import argparse

from forgetmenot.cli.common import (
    DEMO_FOLDER,
    SUMMARY_KEYS,
    Commands,
    add_db_option,
    add_json_option,
    data_folder,
    database_path,
    emit,
    run_async,
    say,
    show_line,
)

MODELS = ("offline", "gemini", "openai_compatible")


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "demo",
        help="play a scripted stream on this machine",
        description="Plays two evenings of a small channel through the whole bot, on a simulated Twitch: chat, memory, "
        "prompts, decisions. With the offline model nothing leaves your machine. An interrupted demo continues "
        "where it stopped.",
        epilog=SUMMARY_KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--fast", action="store_true", help="without waiting")
    parser.add_argument("--stay", action="store_true", help="keep the dock open afterwards, until Ctrl-C")
    parser.add_argument("--model", choices=MODELS, default="offline", help="which model to use (default: offline)")
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Play it."""
    return run_async(_demo(arguments))


async def _demo(arguments: argparse.Namespace) -> None:
    say("ForgetMeNot's demo: a simulated Twitch, two evenings of chat, and what the bot learns from them.")
    from forgetmenot import logs
    from forgetmenot.cli.common import chosen_settings, show_notices
    from forgetmenot.demo.show import Show, play

    logs.set_up(level="error")
    path = database_path(arguments, folder=data_folder() / DEMO_FOLDER)
    out = _nothing if arguments.json else _line
    settings = chosen_settings(None, model=arguments.model)
    show_notices(settings, path)
    summary = await play(path, Show(settings, out, say, fast=arguments.fast, stay=arguments.stay))
    if arguments.json:
        emit(summary.as_json())
        return
    _line("")
    for line in summary.in_words():
        _line(line)
    _line(f"The demo's memory is in {path}. To see its notes: forgetmenot memory list --db {path}")


def _line(text: str) -> None:
    show_line(text)


def _nothing(_text: str) -> None:
    """Discard a line: with --json standard output holds JSON only."""
