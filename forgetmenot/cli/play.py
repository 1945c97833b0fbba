"""`forgetmenot demo|replay|learn`: chat from a script or a file into the memory, and what came of it."""

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from forgetmenot.cli import common
from forgetmenot.errors import InputError

if TYPE_CHECKING:
    from forgetmenot.memory.learning import Estimate
    from forgetmenot.settings.schema import Settings

FORMATS = ("irc", "csv", "jsonl")
TEMPORARY = "forgetmenot-replay-"
LEARN_KEYS = """FILE: a broadcast's chat as JSON by TwitchDownloader, a log of Chatterino or justlog, or raw IRC lines.
JSON: {"lines", "streams", "episodes", "notes", "known" (lines that were learned before), "excluded": {rule: lines},
"bad": {file: [numbers of the first lines that could not be read]}, "trouble" (why it stopped before the end)}."""


def add(subparsers: common.Commands) -> None:
    """Name the commands and their options."""
    demo = common.add_command(subparsers, "demo", _demo, keys=common.SUMMARY_KEYS)
    demo.add_argument("--fast", action="store_true", help="without waiting")
    demo.add_argument("--verbose", action="store_true", help="show every line, the memory, prompts and decisions")
    demo.add_argument("--stay", action="store_true", help="keep the dock open afterwards, until Ctrl-C")
    demo.add_argument("--model", choices=common.MODELS, default="offline", help="which model to use (default: offline)")
    replay = common.add_command(subparsers, "replay", _replay, keys=common.SUMMARY_KEYS, config=True, db=False)
    replay.add_argument("file", type=Path, metavar="FILE", help="the recording")
    replay.add_argument("--format", choices=FORMATS, required=True, help="the recording's format")
    replay.add_argument("--db", type=Path, metavar="PATH", help="the memory to fill (default: a temporary one)")
    replay.add_argument("--model", choices=common.MODELS, help="which model to use (default: from the settings)")
    replay.add_argument("--speed", default="max", metavar="N", help="multiple of real time, or max (default)")
    replay.add_argument("--until-compacted", action="store_true", help="summarise the remainder too")
    learn = common.add_command(subparsers, "learn", _learn, keys=LEARN_KEYS, config=True)
    learn.add_argument("files", type=Path, nargs="+", metavar="FILE", help="chat of past streams")
    learn.add_argument("--yes", action="store_true", help="do not ask before it begins")


async def _demo(arguments: argparse.Namespace) -> None:
    """Play a scripted stream on this machine.

    Plays two evenings of a small channel through the whole bot, on a simulated Twitch, and shows a short highlight.
    With the offline model nothing leaves your machine. An interrupted demo continues where it stopped.
    """
    from forgetmenot import logs
    from forgetmenot.app.replay import RunSummary
    from forgetmenot.demo.show import Show, play

    common.say("ForgetMeNot's demo: a simulated Twitch, two evenings of chat, and what the bot makes of them.")
    logs.set_up(level="error")
    path = common.database_path(arguments, folder=common.data_folder() / common.DEMO_FOLDER)
    if arguments.db is None and path.exists():
        await begin_anew(path)
    settings = common.chosen_settings(None, model=arguments.model)
    common.show_notices(settings, path)
    watched = sys.stdout.isatty() and not (arguments.fast or arguments.json) and common.has_desktop()
    stay = arguments.stay or watched

    def opened(address: str) -> None:
        if watched:
            common.open_page(address)

    def finished(summary: RunSummary) -> None:
        if arguments.json:
            common.emit(summary.as_json())
            return
        if arguments.verbose:
            for line in ("", *summary.in_words()):
                common.show_line(line)
        for line in _next_steps(path, stay=stay):
            common.show_line(line)

    await play(
        path,
        Show(
            settings,
            _discard if arguments.json else common.show_styled,
            common.say,
            opened=opened,
            finished=finished,
            fast=arguments.fast,
            verbose=arguments.verbose,
            stay=stay,
        ),
    )


async def begin_anew(path: Path) -> None:
    """Delete the demo's own memory if another version of the program wrote it: a demo is played again, not kept."""
    from forgetmenot.errors import StoreError, StoreForeign
    from forgetmenot.store.database import open_database

    with contextlib.suppress(StoreError):
        try:
            async with open_database(path):
                pass
        except StoreForeign:
            shutil.rmtree(path.parent, ignore_errors=True)


def _next_steps(path: Path, *, stay: bool) -> list[str]:
    privacy = Path(__file__).parents[2] / "docs" / "PRIVACY.md"
    steps = [
        "",
        "Next:",
        "  1. forgetmenot start    for your own channel: it listens at once, without an account",
        "  2. forgetmenot setup    to choose an AI model; without one it only quotes its notes, as here",
        f"  3. {privacy if privacy.is_file() else '!privacy in chat'}    what is kept, and for how long",
        f"Everything in detail: forgetmenot demo --verbose. The demo's notes: forgetmenot memory list --db {path}",
    ]
    return [*steps, "The dock stays open. Ctrl-C ends the demo."] if stay else steps


def _discard(_style: str, _text: str) -> None:
    """With --json standard output holds JSON only."""


# Recordings.


async def _replay(arguments: argparse.Namespace) -> None:
    """Feed recorded chat through the bot.

    Feeds recorded chat through the same pipeline as live chat. Times are the recording's own; nothing is sent. csv:
    sender,date in ms,message. jsonl: login, text, at, and if known id, user_id, badges. Without --db the memory is
    temporary.
    """
    from forgetmenot import logs
    from forgetmenot.app.replay import Replay, read_chat, replay

    logs.set_up(level="warning")
    how = Replay(
        settings=common.chosen_settings(arguments.config, model=arguments.model),
        speed=speed_of(arguments.speed),
        until_compacted=arguments.until_compacted,
        progress=common.say,
    )
    items = read_chat(arguments.file, arguments.format)
    with _memory(arguments) as path:
        summary = await replay(items, path, how)
    common.report(arguments, summary.as_json(), *summary.in_words(), to=common.show_line)


def speed_of(text: str) -> float | None:
    """Multiple of real time; None for as fast as possible. Raises InputError."""
    if text == "max":
        return None
    with contextlib.suppress(ValueError):
        if 0 < float(text) < 1e9:
            return float(text)
    raise InputError(f"--speed {text}: use `max` or a number above 0, for example 1 or 60.")


@contextlib.contextmanager
def _memory(arguments: argparse.Namespace) -> Iterator[Path]:
    if arguments.db is not None:
        yield common.database_path(arguments)
        return
    _drop_left_over()
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder, _ended_like_by_ctrl_c():
        yield Path(folder) / common.DATABASE


def _drop_left_over() -> None:
    """Delete the temporary memory of a killed replay, because it holds chat."""
    from forgetmenot.store.file_safety import is_locked

    for folder in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*"):
        if (folder / common.DATABASE).exists() and not is_locked(folder / common.DATABASE):
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


# Chat of past streams.


async def _learn(arguments: argparse.Namespace) -> None:
    """Learn from the chat of past streams.

    Reads it in the order of time, like live chat. Its lines are not stored. First it says what that takes. It can be
    stopped and goes on where it was; the same file twice adds nothing. The bot may run meanwhile.
    """
    from forgetmenot import logs
    from forgetmenot.clock import SystemClock
    from forgetmenot.llm.build import build_models, environment_with_key
    from forgetmenot.memory.learning import Learner, estimate
    from forgetmenot.secret_store import login_folder
    from forgetmenot.store.counts import Meter
    from forgetmenot.store.database import open_database

    logs.set_up(level="error")
    settings, path = common.chosen_settings(arguments.config), common.database_path(arguments)
    clock = SystemClock()
    found = await estimate(arguments.files, settings, clock.now())
    if not found.lines:
        raise InputError("There is no line of chat in these files.")
    common.say(_in_words(found, settings))
    if not arguments.yes and not common.confirmed("Learn from it now?"):
        return
    async with open_database(path) as db:
        environ = environment_with_key(settings.model, login_folder(path))
        models = build_models(settings.model, Meter(db, clock), environ=environ)
        try:
            learner = Learner(db=db, model=models.memory, settings=lambda: settings, clock=clock)
            report = await learner.learn(arguments.files, lambda share, what: common.say(f"{share:4.0%}  {what}"))
        finally:
            await models.aclose()
    value = {
        **common.picked(report, "lines streams episodes notes known bad trouble"),
        "excluded": dict(report.excluded),
    }
    lines = [f"{report.lines} lines of {report.streams} streams: {report.episodes} summaries, {report.notes} notes."]
    lines += [f"{report.known} lines were learned before."] if report.known else []
    lines += [f"{file}: {len(bad)} lines could not be read, the first is {bad[0]}." for file, bad in report.bad.items()]
    common.report(arguments, value, *lines, to=common.show_line)
    if report.trouble:
        raise InputError(f"{report.trouble} What was read is kept; the same command goes on from there.")


def _in_words(found: "Estimate", settings: "Settings") -> str:
    from forgetmenot.settings import prices

    cost = prices.in_words(settings, {settings.model.memory_model: found.tokens})
    total = found.tokens.input + found.tokens.output
    bad = f" {found.bad} lines cannot be read." if found.bad else ""
    return (
        f"{found.lines} lines of {found.streams} streams over {found.days} days.{bad} About {found.calls} model calls"
        f" and {total:,} tokens{f', {cost}' if cost else ''}, in about {max(1, found.minutes)} minutes."
    )
