"""`forgetmenot dock`: opens the page of the running bot, or prints its address for OBS."""

import argparse

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

OK = 200
_MISSING = "Nothing answers there yet: start `forgetmenot run`, `listen` or `demo` first."
_NOT_OURS = (
    "What runs at that port does not know this address: start the bot again, or name the same --db and --config here "
    "as it was started with."
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
    from forgetmenot.dock.security import check_host
    from forgetmenot.errors import SettingsError

    dock = chosen_settings(arguments.config).dock
    check_host(dock.host)
    if not dock.port:
        raise SettingsError("The dock is off: `port` in the table [dock] of your settings is 0.")
    url, status = _address(arguments, dock.port)
    if arguments.json:
        emit({"address": url, "running": status == OK})
        return 0
    if arguments.only_print:
        show_line(url)
        return 0
    if status != OK:
        say(f"{_MISSING if status is None else _NOT_OURS} The address will be:")
        show_line(url)
        return 1
    import webbrowser

    say("Opening the dock. In OBS: Docks → Custom Browser Docks, with this address:")
    show_line(url)
    webbrowser.open(url)
    return 0


def _address(arguments: argparse.Namespace, port: int) -> tuple[str, int | None]:
    """The address, and what answers there: of the memory that is meant, or of the demo's, if that is what runs."""
    from forgetmenot.dock.security import TOKEN_FILE, address, token_in

    url = address(port, token_in(database_path(arguments).parent, fresh=arguments.new_token))
    if (status := _asked(url)) in {None, OK} or arguments.db is not None or arguments.new_token:
        return url, status
    demo = data_folder() / DEMO_FOLDER
    if (demo / TOKEN_FILE).is_file() and _asked(theirs := address(port, token_in(demo))) == OK:
        return theirs, OK
    return url, status


def _asked(url: str) -> int | None:
    """The status that the page answers with; None if nothing answers, 0 if it is no web server."""
    import http.client
    from urllib.parse import urlsplit

    there = urlsplit(url)
    connection = http.client.HTTPConnection(there.netloc, timeout=1)
    try:
        connection.request("HEAD", f"{there.path}?{there.query}")
        return connection.getresponse().status
    except http.client.HTTPException:
        return 0
    except OSError:
        return None
    finally:
        connection.close()
