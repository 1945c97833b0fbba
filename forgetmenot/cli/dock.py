"""`forgetmenot dock`: opens the page of the running bot, or prints its address for OBS."""

import argparse

from forgetmenot.cli.common import (
    Commands,
    add_config_option,
    add_db_option,
    add_json_option,
    database_path,
    emit,
    say,
    show_line,
)


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "dock",
        help="open the dock, or print its address for OBS",
        description="Opens the running bot's page in your browser. For OBS: Docks → Custom Browser Docks, with the "
        "address that --print shows. Who has the address can see the memory and steer the bot: keep it to yourself.",
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="print the address, open nothing")
    parser.add_argument("--new-token", action="store_true", help="make a new address; the old one ends with the bot")
    add_config_option(parser)
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Open or print it."""
    from forgetmenot.cli.settings import chosen_settings
    from forgetmenot.dock.security import address, check_host, token_in
    from forgetmenot.errors import SettingsError

    dock = chosen_settings(arguments.config).dock
    check_host(dock.host)
    if not dock.port:
        raise SettingsError("The dock is off: `port` in the table [dock] of your settings is 0.")
    url = address(dock.port, token_in(database_path(arguments).parent, fresh=arguments.new_token))
    if arguments.json:
        emit({"address": url, "running": _answers(dock.port)})
        return 0
    if arguments.only_print:
        show_line(url)
        return 0
    if not _answers(dock.port):
        say("Nothing answers there yet: start `forgetmenot run`, `listen` or `demo` first. The address will be:")
        show_line(url)
        return 1
    import webbrowser

    say("Opening the dock. In OBS: Docks → Custom Browser Docks, with this address:")
    show_line(url)
    webbrowser.open(url)
    return 0


def _answers(port: int) -> bool:
    import socket

    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
