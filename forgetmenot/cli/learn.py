"""`forgetmenot learn`: the memory learns from the chat of past streams."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from forgetmenot.cli import common
from forgetmenot.errors import InputError

if TYPE_CHECKING:
    from forgetmenot.memory.learning import Estimate
    from forgetmenot.settings.schema import Settings

KEYS = """FILE: a broadcast's chat as JSON by TwitchDownloader, a log of Chatterino or justlog, or raw IRC lines.
JSON: {"lines", "streams", "episodes", "notes", "known" (lines that were learned before), "excluded": {rule: lines},
"bad": {file: [numbers of the first lines that could not be read]}, "trouble" (why it stopped before the end)}."""


def add(subparsers: common.Commands) -> None:
    """Name the command and its options."""
    learn = common.add_command(subparsers, "learn", _learn, keys=KEYS, config=True)
    learn.add_argument("files", type=Path, nargs="+", metavar="FILE", help="chat of past streams")
    learn.add_argument("--yes", action="store_true", help="do not ask before it begins")


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
