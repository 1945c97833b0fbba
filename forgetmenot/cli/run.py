"""`forgetmenot run` and `forgetmenot listen CHANNEL`: runs the bot, or only reads a channel, until Ctrl-C."""

import argparse

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, channel_database, run_async, say


def add(subparsers: Commands) -> None:
    """Name the options of both commands."""
    bot = subparsers.add_parser(
        "run",
        help="run the bot",
        description="Runs the bot in the channel from the settings, until Ctrl-C. It starts in shadow mode, a silent "
        "preview: it only answers commands until you change `mode`.",
    )
    reader = subparsers.add_parser(
        "listen",
        help="read a channel without an account",
        description="Reads a channel anonymously and fills the memory. Sends nothing. Each channel has its own memory.",
    )
    reader.add_argument("channel", metavar="CHANNEL", help="the channel's login, as in twitch.tv/LOGIN")
    for parser in (bot, reader):
        add_config_option(parser)
        add_db_option(parser)
        parser.set_defaults(run=run)
    bot.set_defaults(channel=None)


def run(arguments: argparse.Namespace) -> int:
    """Run the bot, or read the channel that is named."""
    from forgetmenot import logs
    from forgetmenot.app.live import check_channel, listen_live, run_live
    from forgetmenot.cli.common import chosen_settings, show_notices
    from forgetmenot.settings.live_settings import LiveSettings

    settings = chosen_settings(arguments.config, channel=arguments.channel)
    path = channel_database(arguments, settings.twitch.channel)
    show_notices(settings, path)
    if arguments.channel is None:
        check_channel(settings)
    logs.set_up(level=settings.log.level, folder=logs.beside(path))
    live = run_live if arguments.channel is None else listen_live
    return run_async(live(LiveSettings(settings, arguments.config), path, say))
