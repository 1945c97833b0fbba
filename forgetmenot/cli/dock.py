"""`forgetmenot dock`: opens the page of the running bot, or writes the page that OBS is pointed to."""

import argparse
from pathlib import Path

from forgetmenot.cli.common import (
    DEMO_FOLDER,
    Commands,
    add_config_option,
    add_db_option,
    add_json_option,
    data_folder,
    database_path,
    emit,
    say,
    show_line,
)

_MISSING = "The bot is not running. Type `forgetmenot start` first."
_NOT_OURS = (
    "Another program or an older bot uses that port. Restart the bot, or use the same --db and --config here "
    "as when it was started."
)


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "dock",
        help="open the dock, or write a page for OBS",
        description="Opens the running bot's page in your browser. For OBS: Docks → Custom Browser Docks, with the "
        "address that --file shows: a page on this computer that waits for the bot. Anyone with that page, or the "
        "address that --print shows, can see the memory and control the bot, so keep them private.",
    )
    parser.add_argument("--print", dest="only_print", action="store_true", help="print the address, open nothing")
    parser.add_argument("--file", action="store_true", help="write a page for OBS that waits for the bot")
    parser.add_argument(
        "--new-token", action="store_true", help="create a new address; the old one works until the bot stops"
    )
    add_config_option(parser)
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Open or print it."""
    from forgetmenot.cli.common import chosen_settings
    from forgetmenot.dock.security import check_host
    from forgetmenot.errors import SettingsError

    dock = chosen_settings(arguments.config).dock
    check_host(dock.host)
    if not dock.port:
        raise SettingsError("The dock is off: `port` in the table [dock] of your settings is 0.")
    url, running = _address(arguments, dock.port)
    if arguments.json:
        emit({"address": url, "running": bool(running)})
        return 0
    if arguments.file:
        return _write_page(arguments, dock.port)
    if arguments.only_print:
        show_line(url)
        return 0
    if not running:
        say(f"{_MISSING if running is None else _NOT_OURS} The address will be:")
        show_line(url)
        return 1
    import webbrowser

    say("Opening the dock. For OBS, type: forgetmenot dock --file")
    show_line(url)
    webbrowser.open(url)
    return 0


def _write_page(arguments: argparse.Namespace, port: int) -> int:
    """Write the page that OBS is pointed to, and print its address."""
    from forgetmenot.dock import waiting_page
    from forgetmenot.dock.security import token_in

    folder = database_path(arguments).parent
    page = waiting_page.write(folder, port, token_in(folder))
    say("In OBS: Docks → Custom Browser Docks, with this address. It waits for the bot and then shows the dock.")
    show_line(page.absolute().as_uri())
    return 0


def _address(arguments: argparse.Namespace, port: int) -> tuple[str, bool | None]:
    """The dock's address, of this memory or a running demo, and whether it answers there (None: nothing does)."""
    from forgetmenot.dock.security import HOST, TOKEN_FILE, address, token_in
    from forgetmenot.dock.waiting_page import dock_answers

    token = token_in(database_path(arguments).parent, fresh=arguments.new_token)
    running = dock_answers(HOST, port, token)
    if running is False and arguments.db is None and not arguments.new_token:
        demo = data_folder() / DEMO_FOLDER
        if (demo / TOKEN_FILE).is_file() and (theirs := running_address(demo, port)):
            return theirs, True
    return address(port, token), running


def running_address(folder: Path, port: int) -> str:
    """The address of a running dock for the memory in `folder`; empty if none runs."""
    from forgetmenot.dock.security import HOST, address, token_in
    from forgetmenot.dock.waiting_page import dock_answers

    token = token_in(folder)
    return address(port, token) if dock_answers(HOST, port, token) else ""
