"""`forgetmenot setup|login|logout`: sets the bot up question by question, and logs it in to Twitch with a device code.

In the set-up an empty answer keeps what is set.
"""

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from forgetmenot.cli import common
from forgetmenot.errors import ForgetMeNotError, TwitchError

if TYPE_CHECKING:
    from forgetmenot.app.setup import SetupService
    from forgetmenot.secret_store import Account, Token, TokenStore
    from forgetmenot.settings.live_settings import LiveSettings
    from forgetmenot.settings.schema import Settings
    from forgetmenot.twitch.oauth import DeviceCode


def add(subparsers: common.Commands) -> None:
    """Name the commands and their options."""
    common.add_command(subparsers, "setup", _set_up, config=True, json=False)
    login = common.add_command(subparsers, "login", _login, config=True, json=False)
    login.add_argument("--no-browser", action="store_true", help="do not open the browser, only show the address")
    logout = common.add_command(subparsers, "logout", _logout, config=True, json=False)
    for parser in (login, logout):
        parser.add_argument(
            "--as",
            dest="account",
            choices=("bot", "broadcaster"),
            default="bot",
            help="which account; if one account is both, use bot (default: bot)",
        )


# The set-up.


async def _set_up(arguments: argparse.Namespace) -> None:
    """Set the bot up, question by question.

    The same steps as in the dock: channel, name and character, AI model, log-in, mode. An empty answer keeps what is
    set. The answers are written to the settings file.
    """
    from forgetmenot.app.bot import open_bot
    from forgetmenot.app.control import BotControl, ConnectionStatus
    from forgetmenot.app.setup import SetupService
    from forgetmenot.cli.start import first_settings
    from forgetmenot.clock import SystemClock
    from forgetmenot.settings.live_settings import LiveSettings
    from forgetmenot.settings.schema import Settings

    path = common.database_path(arguments)
    file = arguments.config or first_settings(path.parent / common.SETTINGS_FILE)
    settings = LiveSettings(common.chosen_settings(file), file)
    service = SetupService(settings, path.parent)
    async with open_bot(path, "setup", settings=Settings, clock=SystemClock()) as bot:
        with service.attached(bot, BotControl(bot, settings, ConnectionStatus("setup"))):
            await _channel(service, settings)
            await _character(service, settings)
            await _model(service, settings)
            await _sign_in_bot(service, settings, arguments)
            await _mode(service, settings)
    common.say(f"The settings are in {settings.path}. Start the bot: forgetmenot start")


async def _channel(service: "SetupService", settings: "LiveSettings") -> None:
    while answer := await _ask("Your channel's name", settings().twitch.channel):
        if await _done(service, "channel", channel=answer):
            return


async def _character(service: "SetupService", settings: "LiveSettings") -> None:
    from forgetmenot.languages import in_language
    from forgetmenot.settings.live_settings import presets

    bot = settings().bot
    name = await _ask("The bot's name", bot.name)
    known = presets(in_language())
    titles = list(known)
    common.say("Characters: " + ", ".join(f"{number} {title}" for number, title in enumerate(titles, 1)))
    answer = await _ask("A number, or a character in your own words", "as it is")
    chosen = known[titles[int(answer) - 1]] if answer.isdecimal() and 0 < int(answer) <= len(titles) else answer
    if name or chosen:
        await _done(service, "character", name=name or bot.name, persona=chosen or bot.persona)


async def _model(service: "SetupService", settings: "LiveSettings") -> None:
    from forgetmenot.app.setup import local_programs
    from forgetmenot.llm.build import KEY_PAGE, TERMS
    from forgetmenot.settings.schema import Provider

    common.say("AI model: 1 Gemini, 2 a program on this computer, 3 none yet")
    kinds = {"1": Provider.GEMINI, "2": Provider.OPENAI_COMPATIBLE, "3": Provider.OFFLINE}
    kind = await _ask("A number", next(key for key, one in kinds.items() if one is settings().model.provider))
    if kind == "1":
        common.say(f"{TERMS} Get a key at {KEY_PAGE}. It is not shown while you paste it.")
        await _done(service, "model", provider="gemini", key=await _ask_hidden("Key"))
    elif kind == "2":
        for program in await local_programs():
            common.say(f"{program['name']} at {program['base_url']}: {program['models']}")
        base_url = await _ask("Its address", settings().model.base_url or "none")
        model = await _ask("The model's name", settings().model.reply_model)
        now = settings().model
        address, chosen = base_url or now.base_url, model or now.reply_model
        await _done(service, "model", provider="openai_compatible", base_url=address, model=chosen)
    elif kind == "3":
        await _done(service, "model", provider="offline")


async def _sign_in_bot(service: "SetupService", settings: "LiveSettings", arguments: argparse.Namespace) -> None:
    from forgetmenot.languages import reason
    from forgetmenot.secret_store import Account

    common.say(f"To speak, the bot needs an account and a Twitch app. {reason('make_app')}")
    if answer := await _ask("The app's client ID", settings().twitch.client_id or "none"):
        await _done(service, "client", client_id=answer)
    if settings().twitch.client_id and (await _ask("Sign in the bot's account now? y or n", "n")).lower() == "y":
        try:
            await sign_in(settings(), Account.BOT, token_store(arguments), open_browser=True)
        except TwitchError as error:
            common.say(str(error))


async def _mode(service: "SetupService", settings: "LiveSettings") -> None:
    common.say("Mode: shadow (silent preview), mentions (replies when mentioned), live (also speaks up by itself)")
    if answer := await _ask("Mode", settings().bot.mode.value):
        await _done(service, "mode", mode=answer)


async def _done(service: "SetupService", step: str, **fields: object) -> bool:
    """Do a step and say what came of it; a question that comes back is asked."""
    try:
        result = await service.run(step, msgspec.json.encode(fields))
    except ForgetMeNotError as error:
        common.say(str(error))
        return False
    if "ask" in result:
        sure = (await _ask(f"{result['ask']} y or n", "n")).lower() == "y"
        return sure and await _done(service, step, **fields, sure=True)
    common.say(str(result["line"]))
    return bool(result["ok"])


async def _ask(question: str, now: str) -> str:
    """What was typed; empty to keep what is set, also where nobody can type."""
    common.say(f"{question} [{now or 'none'}]: ")
    try:
        return (await asyncio.to_thread(input)).strip()
    except EOFError:
        return ""


async def _ask_hidden(question: str) -> str:
    import getpass

    return (await asyncio.to_thread(getpass.getpass, f"{question}: ")).strip()


# Log-in.


def token_store(arguments: argparse.Namespace) -> "TokenStore":
    """The log-ins of this memory's bot, where `run` finds them."""
    from forgetmenot.secret_store import TokenStore, login_folder

    return TokenStore(login_folder(common.database_path(arguments)))


async def _login(arguments: argparse.Namespace) -> None:
    """Sign in at Twitch by typing a code.

    Sign in at Twitch: shows a code, waits until you have typed it, and keeps the log-in in your system's keyring, or in
    a file that only you can read.
    """
    from forgetmenot.secret_store import Account

    settings, account = common.chosen_settings(arguments.config), Account(arguments.account)
    await sign_in(settings, account, token_store(arguments), open_browser=not arguments.no_browser)


async def sign_in(settings: "Settings", account: "Account", store: "TokenStore", *, open_browser: bool) -> None:
    """Show a code, wait until it is typed, store the log-in and say whose it is. Raises TwitchError."""
    from forgetmenot.app.account import finish_login
    from forgetmenot.operations.catalogue import scopes_for
    from forgetmenot.twitch.oauth import begin_device_login

    scopes = scopes_for(account, settings)
    if not scopes:
        common.say("No setting needs the broadcaster's account. There is nothing to do.")
        return
    code = await begin_device_login(settings, scopes)
    _show(code, scopes, _whose(settings, account))
    _open(code.address, wanted=open_browser)
    countdown = asyncio.create_task(_count_down(code.expires_in))
    try:
        token = await finish_login(lambda: settings, store, account, code, scopes)
    finally:
        countdown.cancel()
        if sys.stderr.isatty():
            common.say("")  # it stood on an unfinished line
    _welcome(settings, account, token, store)


def _whose(settings: "Settings", account: "Account") -> str:
    from forgetmenot.secret_store import Account

    if account is Account.BROADCASTER:
        name, whose = _channel_login(settings), "the streamer's account"
    else:
        name, whose = settings.twitch.bot_login.lower(), "the account that the bot will use"
    return f"{whose} ({name})" if name else whose


def _channel_login(settings: "Settings") -> str:
    return settings.twitch.channel.lower().lstrip("#")


def _show(code: "DeviceCode", scopes: tuple[str, ...], whose: str) -> None:
    common.say(f"Sign in at Twitch with {whose}; check which account your browser is signed in to:")
    common.say(f"\n    address  {code.address}\n    code     {code.user_code}\n")
    _show_qr(code.address)
    common.say(f"Twitch will ask you to allow: {', '.join(scopes)}.")


def _show_qr(address: str) -> None:
    if sys.stderr.isatty() and "utf" in (sys.stderr.encoding or "").lower():
        common.say(f"Or point a phone's camera here:\n\n{qr_code(address)}\n")


def qr_code(text: str) -> str:
    """A text as a QR code in lines of half blocks, two rows of modules each."""
    import io

    import segno

    drawn = io.StringIO()
    segno.make(text, micro=False).terminal(out=drawn, compact=True, border=2)
    return drawn.getvalue()


def _open(address: str, *, wanted: bool) -> None:
    import webbrowser

    if not (wanted and sys.stderr.isatty() and address.startswith("https://") and common.has_desktop()):
        return
    try:
        opened = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        common.say("The browser could not be opened. Open the address yourself.")


async def _count_down(seconds: int) -> None:
    if not sys.stderr.isatty():
        common.say(f"Waiting up to {seconds // 60} minutes.")
        return
    for left in range(seconds, 0, -1):
        print(f"\rWaiting for the code: {left // 60}:{left % 60:02} left ", end="", file=sys.stderr, flush=True)
        await asyncio.sleep(1)


def _welcome(settings: "Settings", account: "Account", token: "Token", store: "TokenStore") -> None:
    from forgetmenot.operations.catalogue import lacking
    from forgetmenot.secret_store import Account

    common.say(f"Logged in as {token.login or 'an account that Twitch has not named yet'} ({account.value}).")
    common.say(f"Rights: {', '.join(sorted(token.scopes)) or 'unknown yet'}.")
    common.say(f"The log-in is kept in {store.place(account)}.")
    channel, bot = _channel_login(settings), settings.twitch.bot_login.lower()
    if account is Account.BROADCASTER and token.login and channel and token.login != channel:
        common.say(
            f"Note: the channel in the settings is {channel}. Sign in with that account for the streamer's rights."
        )
    if account is Account.BOT and token.login and bot and token.login != bot:
        common.say(f"Note: the bot's account in the settings is {bot}. Sign in with that one, or change `bot_login`.")
    missing = lacking(account, settings, token.scopes) if token.scopes else ""
    if missing:
        common.say(missing)


async def _logout(arguments: argparse.Namespace) -> None:
    """Revoke the log-in at Twitch.

    Revoke the log-in at Twitch and delete it from this machine.
    """
    from forgetmenot.secret_store import Account

    await sign_out(common.chosen_settings(arguments.config), Account(arguments.account), token_store(arguments))


async def sign_out(settings: "Settings", account: "Account", store: "TokenStore") -> None:
    """Revoke the token and delete it."""
    from forgetmenot.clock import SystemClock
    from forgetmenot.twitch.auth import Login

    login = Login(account=account, store=store, settings=lambda: settings, clock=SystemClock())
    revoked = await login.log_out()
    if revoked is None:
        common.say(f"Nobody was logged in as {account.value}.")
    elif revoked:
        common.say(f"The {account.value}'s log-in is revoked and deleted here.")
    else:
        common.say(f"The {account.value}'s log-in is deleted here, but Twitch did not confirm that it is revoked.")
        common.say("Disconnect the app with that account at https://www.twitch.tv/settings/connections.")
