"""`forgetmenot doctor`: checks the installation and says how to fix problems."""

import argparse
from pathlib import Path

from forgetmenot.cli.common import (
    Commands,
    add_config_option,
    add_db_option,
    add_json_option,
    chosen_settings,
    database_path,
    emit,
    run_async,
    say,
    show_line,
)

KEYS = """JSON: {"ok": false if something is bad, "checks": [{"name", "state": ok, warn or bad, "line", "fix"}]}.
The exit code is 1 if something is bad. --bundle writes the same with the end of the log into a file that can be sent to
somebody who helps you: it contains no chat, no viewers and no secrets."""
SIGNS = {"ok": "✓", "warn": "!", "bad": "✗"}


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "doctor",
        help="check everything and show how to fix it",
        description="Checks versions, settings, folders, disk, clock, memory, log-in, model and dock, and says how "
        "to fix what is wrong. Changes nothing and sends nothing.",
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--bundle", type=Path, metavar="FILE", help="write a report for somebody who helps you")
    parser.add_argument("--verify", action="store_true", help="check every row of the memory against the promises")
    add_config_option(parser)
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=lambda arguments: run_async(_run(arguments)))


async def _run(arguments: argparse.Namespace) -> int:
    from forgetmenot.app.doctor import BAD, Examined, bundle, examine, report
    from forgetmenot.errors import SettingsError

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
    import msgspec

    from forgetmenot.errors import InputError

    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another file.") from error
