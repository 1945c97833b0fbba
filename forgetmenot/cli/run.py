"""`forgetmenot run`: the bot in its channel, until Ctrl-C."""

import argparse

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, database_path, run_async, say


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "run",
        help="run the bot",
        description="Runs the bot in the channel that the settings name, until Ctrl-C. It starts in shadow mode: it "
        "thinks, and answers commands alone, until the settings say otherwise.",
    )
    add_config_option(parser)
    add_db_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run it."""
    from forgetmenot import logs
    from forgetmenot.app.live import check_channel, run_live
    from forgetmenot.cli.notices import tell_first
    from forgetmenot.cli.settings import chosen_settings
    from forgetmenot.settings.live import LiveSettings

    settings = chosen_settings(arguments.config)
    path = database_path(arguments)
    tell_first(settings, path)
    check_channel(settings)
    logs.set_up(level=settings.log.level, folder=logs.beside(path))
    return run_async(run_live(LiveSettings(settings, arguments.config), path, say))
