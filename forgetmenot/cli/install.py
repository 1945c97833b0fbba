"""`forgetmenot doctor|autostart|uninstall`: what concerns the installation on this computer."""

import argparse
import shutil
import sys
from pathlib import Path

import msgspec

from forgetmenot.cli.common import (
    Commands,
    add_command,
    chosen_settings,
    confirmed,
    data_folder,
    database_path,
    emit,
    options_given,
    report,
    say,
    show_line,
)
from forgetmenot.errors import InputError, SettingsError
from forgetmenot.settings.schema import Settings

DOCTOR_KEYS = """JSON: {"ok": false if something is bad, "checks": [{"name", "state": ok, warn or bad, "line", "fix"}]}.
The exit code is 1 if something is bad. --bundle writes the same with the end of the log into a file that can be sent to
somebody who helps you: it contains no chat, no names and no secrets."""
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
    uninstall = add_command(
        subparsers,
        "uninstall",
        "revoke the log-ins and undo what the bot set up on this computer",
        _uninstall,
        about="Revokes both log-ins at Twitch, deletes them and the AI model's key here, and removes the entry that "
        "starts the bot with the computer. Says what was done and what stays: the memory, unless --data is given, and "
        "the program.",
        config=True,
        json=False,
    )
    uninstall.add_argument("--data", action="store_true", help="also permanently delete the data folder")
    uninstall.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    autostart.add_argument(
        "what", choices=("on", "off", "status"), metavar="on|off|status", help="switch it on or off, or show the status"
    )


async def _doctor(arguments: argparse.Namespace) -> int:
    from forgetmenot.app.doctor import BAD, Examined, bundle, examine
    from forgetmenot.app.doctor import report as as_json

    database = database_path(arguments)
    try:
        settings, trouble = chosen_settings(arguments.config), ""
    except SettingsError as error:
        settings, trouble = None, str(error)
    what = Examined(database, settings, arguments.config, trouble, verify=arguments.verify)
    checks = await examine(what)
    if arguments.bundle is not None:
        _write(arguments.bundle, await bundle(checks, what))
        say(f"The report is in {arguments.bundle}. It contains no chat, no names and no secrets.")
    if arguments.json:
        emit(as_json(checks))
    elif arguments.bundle is None:
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
    line = f"ForgetMeNot {'starts' if now.on else 'does not start'} with this computer ({now.entry})."
    report(arguments, {"on": now.on, "entry": now.entry}, line, to=show_line)


async def _uninstall(arguments: argparse.Namespace) -> None:
    from forgetmenot.app import autostart
    from forgetmenot.cli.setup import sign_out, token_store
    from forgetmenot.llm.build import kept_key_name
    from forgetmenot.memory.privacy_queue import spare_path_of
    from forgetmenot.secret_store import SecretStore, login_folder
    from forgetmenot.store.file_safety import is_locked
    from forgetmenot.twitch.token_store import Account

    database, folder = database_path(arguments), data_folder()
    locks = [*folder.rglob("*.lock"), *database.parent.glob("*.lock")]  # also of other channels' memories
    if any(is_locked(lock.with_suffix("")) for lock in locks):
        raise InputError("The bot is running. Stop it first: Ctrl-C in its terminal, or close its window.")
    delete = arguments.data and folder.is_dir()
    warning = f"This permanently deletes {folder}: the memory, its backups, the settings and the log."
    if delete and not arguments.yes and not confirmed(warning):
        say("Nothing was changed.")
        return
    try:
        settings = chosen_settings(arguments.config)
    except SettingsError as error:  # Twitch knows whose token it is; only other addresses would be in the file
        say(str(error))
        settings = Settings()
    for account in Account:
        await sign_out(settings, account, token_store(arguments))
    secrets, key = SecretStore(login_folder(database)), kept_key_name(settings.model.api_key_env)
    if secrets.load(key):
        secrets.delete(key)
        say("The AI model's key is deleted here. Revoke it where you got it, if you use it nowhere else.")
    if autostart.status().on:
        autostart.disable()
        say("The bot no longer starts with this computer.")
    if delete:
        for memory in folder.rglob("*.sqlite3"):
            spare_path_of(memory).unlink(missing_ok=True)
        shutil.rmtree(folder)
        say(f"{folder} is deleted.")
    if database.parent.is_dir():
        say(f"The memory, the settings and the log stay in {database.parent}.")
    say(f"To remove the program: {autostart.how_to_remove(Path(sys.prefix), Path(__file__).parents[2])}.")
