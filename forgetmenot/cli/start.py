"""`forgetmenot start|run|listen|dock`: runs the bot until Ctrl-C, and opens its page. A double-click runs `start`."""

import argparse
from pathlib import Path

from forgetmenot.cli.common import (
    DEMO_FOLDER,
    SETTINGS_FILE,
    Commands,
    add_command,
    channel_database,
    chosen_settings,
    data_folder,
    database_path,
    emit,
    open_page,
    options_given,
    run_async,
    say,
    show_line,
    show_notices,
)
from forgetmenot.errors import SettingsError

_MISSING = "The bot is not running. Type `forgetmenot start` first."
_NOT_OURS = (
    "Another program or an older bot uses that port. Restart the bot, or use the same --db and --config here "
    "as when it was started."
)


def add(subparsers: Commands) -> None:
    """Name the commands and their options."""
    start = add_command(
        subparsers,
        "start",
        "start what is set up and open the dock",
        _start,
        about="Opens the dock in your browser and starts what is set up: without a channel only the dock, with a "
        "channel it listens, with a log-in it runs the bot. The settings are in config.toml beside the memory; the "
        "first start creates the file. If the bot is already running, only the dock is opened.",
        config=True,
        json=False,
    )
    start.add_argument("--no-browser", action="store_true", help="do not open the browser")
    bot = add_command(
        subparsers,
        "run",
        "run the bot, without opening the dock",
        _run,
        about="Runs the bot in the channel from the settings, until Ctrl-C. It starts in shadow mode, a silent "
        "preview: it only answers commands until you change `mode`.",
        config=True,
        json=False,
    )
    bot.set_defaults(channel=None)
    reader = add_command(
        subparsers,
        "listen",
        "read a channel without an account",
        _run,
        about="Reads a channel anonymously and fills the memory. Sends nothing. Each channel has its own memory.",
        config=True,
        json=False,
    )
    reader.add_argument("channel", metavar="CHANNEL", help="its name or its address, twitch.tv/NAME")
    dock = add_command(
        subparsers,
        "dock",
        "open the dock, or write a page for OBS",
        _dock,
        about="Opens the running bot's page in your browser. For OBS: Docks → Custom Browser Docks, with the address "
        "that --file shows: a page on this computer that waits for the bot. Anyone with that page, or the address "
        "that --print shows, can see the memory and control the bot, so keep them private.",
        config=True,
    )
    dock.add_argument("--print", dest="only_print", action="store_true", help="print the address, open nothing")
    dock.add_argument("--file", action="store_true", help="write a page for OBS that waits for the bot")
    dock.add_argument(
        "--new-token", action="store_true", help="create a new address; the old one works until the bot stops"
    )


def _start(arguments: argparse.Namespace) -> int:
    """Start it, or open the dock of the one that runs."""
    import msgspec

    from forgetmenot import logs
    from forgetmenot.app.dock_service import usable_port
    from forgetmenot.app.live import check_channel, start_live
    from forgetmenot.settings.live_settings import LiveSettings

    path = database_path(arguments)
    file: Path = arguments.config or first_settings(path.parent / SETTINGS_FILE)
    settings = chosen_settings(file)
    if not settings.dock.port:
        check_channel(settings)  # without a dock nobody could set one
    elif address := running_address(path.parent, settings.dock.port):
        say("The bot is already running.")
        if not arguments.no_browser:
            open_page(address, wait_s=5)
        return 0
    show_notices(settings, path)
    logs.set_up(level=settings.log.level, folder=logs.beside(path))
    say(f"Settings: {file}")
    dock = msgspec.structs.replace(settings.dock, port=usable_port(settings.dock.port))
    live = LiveSettings(msgspec.structs.replace(settings, dock=dock), file)
    shown: list[str] = []

    def show(address: str) -> None:
        """Open the page once: after a change of the channel an open page reconnects by itself."""
        if not shown and not arguments.no_browser:
            open_page(address)
        shown.append(address)

    options = options_given(arguments, file)
    return run_async(start_live(live, lambda channel: channel_database(arguments, channel), say, show, options))


def first_settings(path: Path) -> Path:
    """Make a settings file with every setting explained if there is none; returns its path. Raises OSError."""
    from forgetmenot.files import make_own
    from forgetmenot.settings.load import example_toml

    make_own(path.parent)
    path.write_text(example_toml(), encoding="utf-8")
    path.chmod(0o600)
    return path


def _run(arguments: argparse.Namespace) -> int:
    """Run the bot, or read the channel that is named."""
    from forgetmenot import logs
    from forgetmenot.app.live import check_channel, listen_live, run_live
    from forgetmenot.settings.live_settings import LiveSettings

    settings = chosen_settings(arguments.config, channel=arguments.channel)
    path = channel_database(arguments, settings.twitch.channel)
    show_notices(settings, path)
    if arguments.channel is None:
        check_channel(settings)
    logs.set_up(level=settings.log.level, folder=logs.beside(path))
    live = run_live if arguments.channel is None else listen_live
    return run_async(live(LiveSettings(settings, arguments.config), path, say))


def _dock(arguments: argparse.Namespace) -> int:
    """Open or print it."""
    from forgetmenot.dock.security import check_host

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
