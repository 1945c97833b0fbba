"""`forgetmenot demo|replay|eval`: chat from a file or a script through the whole bot, and what came of it."""

import argparse
import asyncio
import contextlib
import json
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from types import FrameType
from typing import TYPE_CHECKING, Any

from forgetmenot.cli import common
from forgetmenot.errors import InputError

if TYPE_CHECKING:
    from forgetmenot.app.scenarios import Scenario, ScenarioResult
    from forgetmenot.settings.schema import ModelSettings
    from forgetmenot.store.database import Database

FORMATS = ("irc", "csv", "jsonl")
TEMPORARY = "forgetmenot-replay-"
BASELINE = "baseline.json"
REPORT_KEYS = """\
The JSON object's keys: since, replies (by outcome), filters, rules, shed (by kind of message), sections (mean tokens,
rows shown, rows used), notes (offered, used, corrected, each with its fact), unsupported, latency_ms, tokens, calls,
prompts (by kind of message), spend (by purpose and model, where the settings name prices), spend_total (in words)."""


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
    actions = common.add_actions(
        subparsers, "eval", "measure the bot: scenarios, settings compared, a report of live chat"
    )
    played = common.add_command(actions, "run", _eval_run, config=True, db=False)
    played.add_argument("--model", choices=common.MODELS, help="which model (default: offline)")
    compared = common.add_command(actions, "compare", _compare, db=False)
    compared.add_argument("before", type=Path, metavar="A.toml")
    compared.add_argument("after", type=Path, metavar="B.toml")
    for parser in (played, compared):
        parser.add_argument("folder", type=Path, metavar="DIR", help="a folder of scenario files, or one file")
    report = common.add_command(actions, "report", common.on_memory(_report), keys=REPORT_KEYS, config=True)
    report.add_argument("--since", default="7d", metavar="TIME", help="how far back: 12h, 7d (default), 30d")
    report.add_argument("--html", type=Path, metavar="FILE", help="write it as one page with charts, too")


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


# Scenarios.


async def _eval_run(arguments: argparse.Namespace) -> int:
    """Play scenario files and check what they expect.

    Plays every scenario of a file or folder through the whole bot, over a memory of its own. Ends with 1 if an
    expectation fails that baseline.json in the folder does not name.
    """
    from forgetmenot import logs
    from forgetmenot.app.scenarios import read_scenarios, worse

    logs.set_up(level="error")
    model = common.chosen_settings(arguments.config, model=arguments.model).model if arguments.model else None
    results = await _play(read_scenarios(arguments.folder), {}, model)
    failed = worse(results, _baseline(arguments.folder))
    known = sum(len(result.failures) for result in results) - len(failed)
    if arguments.json:
        common.emit({"scenarios": len(results), "failed": failed, "known": known})
    else:
        for line in failed:
            common.show_line(line)
        common.show_line(
            f"{len(results)} scenarios, {sum(result.expectations for result in results)} expectations: "
            f"{len(failed)} fail" + (f", {known} more are known to." if known else ".")
        )
    return 1 if failed else 0


def _baseline(folder: Path) -> Mapping[str, list[str]]:
    file = (folder if folder.is_dir() else folder.parent) / BASELINE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


async def _play(
    scenarios: "list[Scenario]", tables: Mapping[str, Any], model: "ModelSettings | None" = None
) -> "list[ScenarioResult]":
    """Two at a time: much of one's time is the disk's."""
    from forgetmenot.app.scenarios import play

    gate = asyncio.Semaphore(2)

    async def played(scenario: "Scenario") -> "ScenarioResult":
        async with gate:
            return await play(scenario, tables, model)

    return list(await asyncio.gather(*map(played, scenarios)))


async def _compare(arguments: argparse.Namespace) -> None:
    """Show what another settings file changes in the scenarios."""
    from forgetmenot import logs
    from forgetmenot.app.scenarios import read_scenarios

    logs.set_up(level="error")
    scenarios = read_scenarios(arguments.folder)
    before, after = [await _play(scenarios, _tables(file)) for file in (arguments.before, arguments.after)]
    changes = [change for pair in zip(before, after, strict=True) for change in _changes(*pair)]
    tokens = [_mean_tokens(side) for side in (before, after)]
    lines = [
        *(f"{one['scenario']}: {one['what']}\n  before: {one['before']}\n  after:  {one['after']}" for one in changes),
        f"{len(changes)} changes in {len(scenarios)} scenarios; mean prompt {tokens[0]} → {tokens[1]} tokens.",
    ]
    value = {"scenarios": len(scenarios), "changes": changes, "prompt_tokens": tokens}
    common.report(arguments, value, *lines, to=common.show_line)


def _mean_tokens(results: "list[ScenarioResult]") -> int:
    return round(mean([tokens for result in results for tokens in result.prompt_tokens] or [0]))


def _tables(file: Path) -> Mapping[str, Any]:
    from forgetmenot.settings.load import load_settings

    load_settings(file)  # says what is wrong with it
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {getattr(error, 'strerror', error)}.") from error


def _changes(before: "ScenarioResult", after: "ScenarioResult") -> list[dict[str, str]]:
    changes = []
    for line in before.failures.keys() | after.failures.keys():
        if (line in before.failures) != (line in after.failures):
            sides = {True: "holds", False: "fails"}
            was, now = sides[line not in before.failures], sides[line not in after.failures]
            changes.append({"scenario": before.name, "what": line, "before": was, "after": now})
    if before.replies != after.replies:
        was, now = " / ".join(before.replies), " / ".join(after.replies)
        changes.append({"scenario": before.name, "what": "replies", "before": was, "after": now})
    return changes


# The report of live chat.


async def _report(db: "Database", arguments: argparse.Namespace) -> None:
    """How chat took the replies, and what of the memory was used."""
    from forgetmenot.app.evaluation import figures_since, in_words, page, period_of

    settings, since = common.chosen_settings(arguments.config), common.time_of("now", None) - period_of(arguments.since)
    figures = await figures_since(db, since, settings)
    if arguments.html is not None:
        arguments.html.write_text(page(figures, arguments.since), encoding="utf-8")
        common.say(f"Written to {arguments.html}.")
    common.report(arguments, figures, *in_words(figures, arguments.since), to=common.show_line)
