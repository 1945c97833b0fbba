"""`forgetmenot demo|replay|learn`: chat from a script or a file into the memory, and what came of it."""

import os
import shutil
import sys
import textwrap
from argparse import Namespace
from pathlib import Path

from msgspec.structs import asdict

from forgetmenot.cli import common
from forgetmenot.cli.common import command, option
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import quoted

FORMATS = ("irc", "csv")
LEARN_KEYS = """FILE: chat as JSON or text by TwitchDownloader, as JSON by chat-downloader or justlog, a log of
Chatterino or justlog, or raw IRC lines; each also packed as .gz.
JSON: {"lines", "streams", "episodes", "notes", "known" (lines heard or learned before), "excluded" (lines of who is
left out), "bad": {file: {"lines" (how many cannot be read), "first" (their numbers), "cut_off" (its end is missing)}},
"trouble" (why it stopped before the end)}."""


@command(
    "demo",
    option("--fast", action="store_true", help="without waiting"),
    option(
        "--stay",
        action="store_true",
        help="keep the dock open afterwards, until Ctrl-C",
    ),
    keys=common.SUMMARY_KEYS,
)
async def _demo(arguments: Namespace) -> None:
    """Play a scripted stream on this machine.

    Plays two evenings of a small channel through the whole bot, on a simulated Twitch, and shows a short highlight; the
    dock shows the rest. Nothing leaves your machine.
    """
    from forgetmenot import logs
    from forgetmenot.demo.show import Show, play

    common.say(
        "ForgetMeNot's demo: a simulated Twitch, two evenings of chat, and what the bot makes of them.\n"
        "What it remembers is real; replies marked (recorded) have the wording of an AI model."
    )
    logs.set_up(level="error")
    path = common.database_path(
        arguments, folder=common.data_folder() / common.DEMO_FOLDER
    )
    is_on_terminal = sys.stdout.isatty() and not arguments.fast and not arguments.json
    # Where nobody can see a page, or a script reads the output, none is opened.
    watched = is_on_terminal and common.has_desktop()
    stay = arguments.stay or watched
    # Only a checkout has the page; a wheel does not bring the documentation.
    privacy_page = Path(__file__).parents[2] / "docs" / "PRIVACY.md"
    privacy = str(privacy_page) if privacy_page.is_file() else "!privacy in chat"
    steps = [
        "",
        "Next:",
        "  1. forgetmenot start    for your own channel: it listens at once, without an account",
        "  2. forgetmenot setup    to choose an AI model; without one it only quotes its notes",
        f"  3. {privacy}    what is kept, and for how long",
        f"The demo's notes: forgetmenot memory list --db {quoted(path)}",
    ]
    if stay:
        steps.append("The dock stays open. Ctrl-C ends the demo.")

    def show_text(style: str, text: str) -> None:
        # With --json standard output holds JSON only.
        if not arguments.json:
            _show_styled(style, text)

    def opened(address: str) -> None:
        if watched:
            common.open_page(address)

    def finished(summary: object) -> None:
        common.report(arguments, summary, steps, to=common.show_line)

    show = Show(
        Settings(),
        show_text,
        common.say,
        opened=opened,
        finished=finished,
        fast=arguments.fast,
        stay=stay,
        # A memory that somebody named may be their own: the demo does not begin it anew.
        ours=arguments.db is None,
    )
    await play(path, show)


# SGR codes of terminals.
COLOURS = {
    "caption": "1;36",
    "bot": "1;32",
    "memory": "33",
    "refused": "31",
    "faint": "2",
}


def _show_styled(style: str, text: str) -> None:
    """Print a line of the demo; on a terminal in its width, and in colours unless NO_COLOR is set."""
    line = common.printable(text)
    if _shows_colours():
        # A line that goes on begins a little further in than the line itself.
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        columns = shutil.get_terminal_size().columns
        line = textwrap.fill(line, max(40, columns - 1), subsequent_indent=indent)
        if style in COLOURS:
            line = f"\x1b[{COLOURS[style]}m{line}\x1b[0m"
    print(line, flush=True)


def _shows_colours() -> bool:
    """Return whether standard output is a terminal that shows colours, and they are wanted (no-color.org)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return False
    return os.environ.get("TERM") != "dumb"


# ── recordings ──────────────────────────────────────────────────────────────────────────────


@command(
    "replay",
    option("file", type=Path, metavar="FILE", help="the recording"),
    option("--format", choices=FORMATS, required=True, help="the recording's format"),
    option(
        "--db",
        type=Path,
        required=True,
        metavar="PATH",
        help="the memory to fill",
    ),
    option(
        "--until-compacted", action="store_true", help="summarise the remainder too"
    ),
    keys=common.SUMMARY_KEYS,
    shared="config json",
)
async def _replay(arguments: Namespace) -> None:
    """Feed recorded chat through the bot.

    Feeds recorded chat through the same pipeline as live chat. Times are the recording's own; nothing is sent. A line
    of csv is sender,date in ms,message.
    """
    from forgetmenot import logs
    from forgetmenot.app.replay import read_chat, replay

    logs.set_up(level="warning")
    settings = common.chosen_settings(arguments.config)
    items = read_chat(arguments.file, arguments.format)
    counts = await replay(
        items,
        common.database_path(arguments),
        settings,
        until_compacted=arguments.until_compacted,
        progress=common.say,
    )
    lines = [f"{name}: {count}" for name, count in counts.items()]
    common.report(arguments, counts, lines, to=common.show_line)


# ── chat of past streams ────────────────────────────────────────────────────────────────────


@command(
    "learn",
    option(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="chat of past streams",
    ),
    option("--yes", action="store_true", help="do not ask before it begins"),
    keys=LEARN_KEYS,
    shared="config db json",
)
async def _learn(arguments: Namespace) -> None:
    """Learn from the chat of past streams.

    Reads it in the order of time, like live chat. Its lines are not stored. First it says what that takes. It can be
    stopped and goes on where it was; the same file twice adds nothing. The bot may run meanwhile.
    """
    from forgetmenot import logs
    from forgetmenot.clock import SystemClock
    from forgetmenot.languages import ENGLISH
    from forgetmenot.llm.build import build_models, environment_with_key
    from forgetmenot.memory.learning import Learner, estimate
    from forgetmenot.secret_store import login_folder
    from forgetmenot.store.counts import Meter
    from forgetmenot.store.database import open_database

    logs.set_up(level="error")
    settings = common.chosen_settings(arguments.config)
    path = common.database_path(arguments)
    clock = SystemClock()
    estimated = await estimate(arguments.files, settings, clock.now())
    common.say(estimated.in_words(settings, ENGLISH))
    if not arguments.yes and not common.confirmed("Learn from it now?"):
        return
    last_percent = ""

    # Called for each part that is read: only what would be printed anew is.
    def progress(share: float) -> None:
        nonlocal last_percent
        percent = f"{share:4.0%}"
        if percent != last_percent:
            common.say(percent)
            last_percent = percent

    async with open_database(path) as db:
        # The key may be in the keyring instead of a variable.
        environ = environment_with_key(settings.model, login_folder(path))
        meter = Meter(db, clock, lambda: settings.bot.timezone)
        models = build_models(settings.model, meter, environ=environ)
        try:
            learner = Learner(
                db=db,
                model=models.memory,
                settings=lambda: settings,
                clock=clock,
            )
            report = await learner.learn(arguments.files, progress)
        finally:
            await models.aclose()
    value = common.picked(report, "lines streams episodes notes known trouble excluded")
    value["bad"] = {path: asdict(unread) for path, unread in report.unread.items()}
    common.report(arguments, value, [report.in_words(ENGLISH)], to=common.show_line)
    # What was learned until then is stored.
    if report.trouble:
        raise InputError("Type the same command again to go on.")
