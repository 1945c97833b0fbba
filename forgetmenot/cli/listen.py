"""`forgetmenot listen CHANNEL`: read a channel without an account; remember, say nothing."""

import argparse

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, database_path, run_async, say


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "listen",
        help="read a channel without an account",
        description="Reads a channel anonymously and fills the memory. Sends nothing. One channel at a time: the "
        "memory is one channel's.",
    )
    parser.add_argument("channel", metavar="CHANNEL", help="the channel's login, as in twitch.tv/LOGIN")
    add_config_option(parser)
    add_db_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Listen until Ctrl-C."""
    from forgetmenot import logs
    from forgetmenot.app.live import listen_live
    from forgetmenot.cli.notices import tell_first
    from forgetmenot.cli.settings import chosen_settings
    from forgetmenot.settings.live import LiveSettings

    settings = chosen_settings(arguments.config, channel=arguments.channel)
    path = database_path(arguments)
    tell_first(settings, path)
    logs.set_up(level=settings.log.level, folder=logs.beside(path))
    return run_async(listen_live(LiveSettings(settings, arguments.config), path, say))
