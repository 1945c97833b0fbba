"""`forgetmenot setup`: the dock's set-up in a terminal, question by question. An empty answer keeps what is set."""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    SETTINGS_FILE,
    Commands,
    add_config_option,
    add_db_option,
    chosen_settings,
    database_path,
    run_async,
    say,
)

if TYPE_CHECKING:
    from forgetmenot.app.setup import SetupService
    from forgetmenot.settings.live_settings import LiveSettings


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "setup",
        help="set the bot up, question by question",
        description="The same steps as in the dock: channel, name and character, AI model, log-in, mode. An empty "
        "answer keeps what is set. The answers are written to the settings file.",
    )
    add_config_option(parser)
    add_db_option(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and write the answers to the settings file."""
    from forgetmenot.cli.start import first_settings
    from forgetmenot.settings.live_settings import LiveSettings

    file = arguments.config or first_settings(database_path(arguments).parent / SETTINGS_FILE)
    return run_async(_set_up(arguments, LiveSettings(chosen_settings(file), file)))


async def _set_up(arguments: argparse.Namespace, settings: "LiveSettings") -> int:
    from forgetmenot.app.bot import open_bot
    from forgetmenot.app.control import BotControl, ConnectionStatus
    from forgetmenot.app.setup import SetupService
    from forgetmenot.clock import SystemClock
    from forgetmenot.settings.schema import Settings

    path = database_path(arguments)
    service = SetupService(settings, path.parent)
    async with open_bot(path, "setup", settings=Settings, clock=SystemClock()) as bot:
        with service.attached(bot, BotControl(bot, settings, ConnectionStatus("setup"))):
            await _channel(service, settings)
            await _character(service, settings)
            await _model(service, settings)
            await _log_in(service, settings, arguments)
            await _mode(service, settings)
    say(f"The settings are in {settings.path}. Start the bot: forgetmenot start")
    return 0


async def _channel(service: "SetupService", settings: "LiveSettings") -> None:
    while answer := await _asked("Your channel's name", settings().twitch.channel):
        if await _done(service, "channel", channel=answer):
            return


async def _character(service: "SetupService", settings: "LiveSettings") -> None:
    from forgetmenot.languages import in_language
    from forgetmenot.settings.labels import presets

    bot = settings().bot
    name = await _asked("The bot's name", bot.name)
    known = presets(in_language())
    titles = list(known)
    say("Characters: " + ", ".join(f"{number} {title}" for number, title in enumerate(titles, 1)))
    answer = await _asked("A number, or a character in your own words", "as it is")
    chosen = known[titles[int(answer) - 1]] if answer.isdecimal() and 0 < int(answer) <= len(titles) else answer
    if name or chosen:
        await _done(service, "character", name=name or bot.name, persona=chosen or bot.persona)


async def _model(service: "SetupService", settings: "LiveSettings") -> None:
    from forgetmenot.app.model_choice import local_programs
    from forgetmenot.llm.build import KEY_PAGE, TERMS

    say("AI model: 1 Gemini, 2 a program on this computer, 3 none yet")
    kind = await _asked("A number", settings().model.provider.value)
    if kind == "1":
        say(f"{TERMS} Get a key at {KEY_PAGE}. It is not shown while you paste it.")
        await _done(service, "model", provider="gemini", key=await _asked_secretly("Key"))
    elif kind == "2":
        for one in await local_programs():
            say(f"{one['name']} at {one['base_url']}: {one['models']}")
        base_url = await _asked("Its address", settings().model.base_url or "none")
        model = await _asked("The model's name", settings().model.reply_model)
        now = settings().model
        address, chosen = base_url or now.base_url, model or now.reply_model
        await _done(service, "model", provider="openai_compatible", base_url=address, model=chosen)
    elif kind == "3":
        await _done(service, "model", provider="offline")


async def _log_in(service: "SetupService", settings: "LiveSettings", arguments: argparse.Namespace) -> None:
    from forgetmenot.cli.login import sign_in, token_store
    from forgetmenot.errors import TwitchError
    from forgetmenot.twitch.token_store import Account

    say("To speak, the bot needs an account and a Twitch app; docs/TWITCH_APP.md shows how to get one.")
    if answer := await _asked("The app's client ID", settings().twitch.client_id or "none"):
        await _done(service, "client", client_id=answer)
    if settings().twitch.client_id and (await _asked("Sign in the bot's account now? y or n", "n")).lower() == "y":
        try:
            await sign_in(settings(), Account.BOT, token_store(arguments), open_browser=True)
        except TwitchError as error:
            say(str(error))


async def _mode(service: "SetupService", settings: "LiveSettings") -> None:
    say("Mode: shadow (silent preview), mentions (answers who speaks to it), live (also speaks up by itself)")
    if answer := await _asked("Mode", settings().bot.mode.value):
        await _done(service, "mode", mode=answer)


async def _done(service: "SetupService", step: str, **fields: object) -> bool:
    """Do a step and say what came of it; a question that comes back is asked."""
    import msgspec

    from forgetmenot.errors import ForgetMeNotError

    try:
        told = await service.run(step, msgspec.json.encode(fields))
    except ForgetMeNotError as error:
        say(str(error))
        return False
    if "ask" in told:
        sure = (await _asked(f"{told['ask']} y or n", "n")).lower() == "y"
        return sure and await _done(service, step, **fields, sure=True)
    say(str(told["line"]))
    return bool(told["ok"])


async def _asked(question: str, now: str) -> str:
    """What was typed; empty to keep what is set, also where nobody can type."""
    import asyncio

    say(f"{question} [{now or 'none'}]: ")
    try:
        return (await asyncio.to_thread(input)).strip()
    except EOFError:
        return ""


async def _asked_secretly(question: str) -> str:
    import asyncio
    import getpass

    return (await asyncio.to_thread(getpass.getpass, f"{question}: ")).strip()
