"""`forgetmenot doctor|autostart`: what concerns the installation on this computer."""

import argparse
from pathlib import Path

import msgspec

from forgetmenot.cli.common import (
    Commands,
    add_command,
    chosen_settings,
    database_path,
    emit,
    options_given,
    say,
    show_line,
)
from forgetmenot.errors import InputError, SettingsError

DOCTOR_KEYS = """JSON: {"ok": false if something is bad, "checks": [{"name", "state": ok, warn or bad, "line", "fix"}]}.
The exit code is 1 if something is bad. --bundle writes the same with the end of the log into a file that can be sent to
somebody who helps you: it contains no chat, no viewers and no secrets."""
SIGNS = {"ok": "✓", "warn": "!", "bad": "✗"}


def add(subparsers: Commands) -> None:
    """Name the commands and their options."""
    doctor = add_command(
        subparsers,
        "doctor",
        "check everything and show how to fix it",
        _doctor,
        about="Checks versions, settings, folders, disk, clock, memory, log-in, model and dock, and says how to fix "
        "what is wrong. Changes nothing and sends nothing.",
        keys=DOCTOR_KEYS,
        config=True,
    )
    doctor.add_argument("--bundle", type=Path, metavar="FILE", help="write a report for somebody who helps you")
    doctor.add_argument("--verify", action="store_true", help="check every row of the memory against the promises")
    autostart = add_command(
        subparsers,
        "autostart",
        "start the bot when you log in to this computer",
        _autostart,
        about="Runs `forgetmenot start --no-browser` when you log in to this computer, or stops doing so. It applies "
        "from the next log-in; it does not start or stop a bot now. A program that starts this way does not see "
        "variables that are set in a terminal only, such as GEMINI_API_KEY.",
        config=True,
    )
    autostart.add_argument("what", choices=("on", "off", "status"), help="switch it on or off, or show the status")


async def _doctor(arguments: argparse.Namespace) -> int:
    from forgetmenot.app.doctor import BAD, Examined, bundle, examine, report

    database = database_path(arguments)
    try:
        settings, trouble = chosen_settings(arguments.config), ""
    except SettingsError as error:
        settings, trouble = None, str(error)
    checks = await examine(Examined(database, settings, arguments.config, trouble, verify=arguments.verify))
    if arguments.bundle is not None:
        _write(arguments.bundle, bundle(checks, database))
        say(f"The report is in {arguments.bundle}. It contains no chat, no viewers and no secrets.")
    elif arguments.json:
        emit(report(checks))
    else:
        for check in checks:
            show_line(
                f"{SIGNS[check.state]} {check.name}: {check.line}" + (f"\n    → {check.fix}" if check.fix else "")
            )
    return int(any(check.state == BAD for check in checks))


def _write(path: Path, value: object) -> None:
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another file.") from error


def _autostart(arguments: argparse.Namespace) -> None:
    """Switch or show it."""
    from forgetmenot.app import autostart

    options = options_given(arguments, arguments.config)
    changes = {"on": lambda: autostart.enable(options), "off": autostart.disable, "status": autostart.status}
    now = changes[arguments.what]()
    if arguments.json:
        emit({"on": now.on, "entry": now.entry})
    else:
        show_line(f"ForgetMeNot {'starts' if now.on else 'does not start'} with this computer ({now.entry}).")
