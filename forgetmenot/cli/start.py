"""`forgetmenot start`: runs the bot as far as it is set up, with its dock in the browser. A double-click runs this."""

import argparse
from pathlib import Path

from forgetmenot.cli.common import (
    SETTINGS_FILE,
    Commands,
    add_config_option,
    add_db_option,
    channel_database,
    chosen_settings,
    database_path,
    run_async,
    say,
    show_notices,
)


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "start",
        help="start what is set up and open the dock",
        description="Opens the dock in your browser and starts what is set up: without a channel only the dock, "
        "with a channel it listens, with a log-in it runs the bot. The settings are in config.toml beside the memory; "
        "the first start creates the file. If the bot is already running, only the dock is opened.",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    add_config_option(parser)
    add_db_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Start it, or open the dock of the one that runs."""
    import msgspec

    from forgetmenot import logs
    from forgetmenot.app.dock_service import usable_port
    from forgetmenot.app.live import check_channel, start_live
    from forgetmenot.cli.dock import running_address
    from forgetmenot.settings.live_settings import LiveSettings

    path = database_path(arguments)
    file: Path = arguments.config or first_settings(path.parent / SETTINGS_FILE)
    settings = chosen_settings(file)
    if not settings.dock.port:
        check_channel(settings)  # without a dock nobody could set one
    elif address := running_address(path.parent, settings.dock.port):
        say("The bot is already running.")
        _open(address, quiet=arguments.no_browser, wait_s=5)
        return 0
    show_notices(settings, path)
    logs.set_up(level=settings.log.level, folder=logs.beside(path))
    say(f"Settings: {file}")
    dock = msgspec.structs.replace(settings.dock, port=usable_port(settings.dock.port))
    live = LiveSettings(msgspec.structs.replace(settings, dock=dock), file)
    shown: list[str] = []

    def show(address: str) -> None:
        """Open the page once: after a change of the channel an open page reconnects by itself."""
        if not shown:
            _open(address, quiet=arguments.no_browser)
        shown.append(address)

    given = {"--config": file, "--db": arguments.db}
    options = [word for name, path in given.items() if path is not None for word in (name, str(path.absolute()))]
    return run_async(start_live(live, lambda channel: channel_database(arguments, channel), say, show, options))


def first_settings(path: Path) -> Path:
    """Make a settings file with every setting explained if there is none; returns its path. Raises OSError."""
    from forgetmenot.files import make_own
    from forgetmenot.settings.load import example_toml

    make_own(path.parent)
    path.write_text(example_toml(), encoding="utf-8")
    path.chmod(0o600)
    return path


def _open(address: str, *, quiet: bool, wait_s: float = 0) -> None:
    """Open the page in a thread, because a text browser blocks until it is closed."""
    import threading
    import webbrowser

    if not quiet:
        opening = threading.Thread(target=webbrowser.open, args=(address,), daemon=True)
        opening.start()
        opening.join(wait_s)
