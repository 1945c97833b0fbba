"""`forgetmenot autostart on|off|status`: whether the bot starts with the computer."""

import argparse

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, add_json_option, emit, show_line


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "autostart",
        help="start the bot when you log in to this computer",
        description="Runs `forgetmenot start --no-browser` when you log in to this computer, or stops doing so. It "
        "applies from the next log-in; it does not start or stop a bot now. A program that starts this way "
        "does not see variables that are set in a terminal only, such as GEMINI_API_KEY.",
    )
    parser.add_argument("what", choices=("on", "off", "status"), help="switch it on or off, or show the status")
    add_config_option(parser)
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Switch or show it."""
    from forgetmenot.app import autostart

    given = {"--config": arguments.config, "--db": arguments.db}
    options = [word for name, path in given.items() if path is not None for word in (name, str(path.absolute()))]
    changes = {"on": lambda: autostart.enable(options), "off": autostart.disable, "status": autostart.status}
    now = changes[arguments.what]()
    if arguments.json:
        emit({"on": now.on, "entry": now.entry})
    else:
        show_line(f"ForgetMeNot {'starts' if now.on else 'does not start'} with this computer ({now.entry}).")
    return 0
