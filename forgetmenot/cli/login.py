"""`forgetmenot login` and `forgetmenot logout`: log the bot in to Twitch with a device code."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, database_path, run_async, say

if TYPE_CHECKING:
    from forgetmenot.settings.schema import Settings
    from forgetmenot.twitch.auth import Login
    from forgetmenot.twitch.oauth import DeviceCode
    from forgetmenot.twitch.token_store import Account, Token, TokenStore

_TRIES = 5
_PAUSE_S = 1.0


def add(subparsers: Commands) -> None:
    """The two commands."""
    login = subparsers.add_parser(
        "login",
        help="sign in at Twitch by typing a code",
        description="Sign in at Twitch: shows a code, waits until you have typed it, and keeps the log-in in your "
        "system's keyring, or in a file that only you can read.",
    )
    _add_account(login)
    login.add_argument("--no-browser", action="store_true", help="do not open the browser, only show the address")
    add_config_option(login)
    add_db_option(login)
    login.set_defaults(run=_login)
    logout = subparsers.add_parser(
        "logout",
        help="revoke the log-in at Twitch",
        description="Revoke the log-in at Twitch and delete it from this machine.",
    )
    _add_account(logout)
    add_config_option(logout)
    add_db_option(logout)
    logout.set_defaults(run=_logout)


def _add_account(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="account",
        choices=("bot", "broadcaster"),
        default="bot",
        help="which account; if one account is both, use bot (default: bot)",
    )


def token_store(arguments: argparse.Namespace) -> "TokenStore":
    """The log-ins of this memory's bot, where `run` finds them."""
    from forgetmenot.secret_store import login_folder
    from forgetmenot.twitch.token_store import TokenStore

    return TokenStore(login_folder(database_path(arguments)))


def _login(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import chosen_settings
    from forgetmenot.twitch.token_store import Account

    settings, account = chosen_settings(arguments.config), Account(arguments.account)
    return run_async(sign_in(settings, account, token_store(arguments), open_browser=not arguments.no_browser))


async def sign_in(settings: "Settings", account: "Account", store: "TokenStore", *, open_browser: bool) -> int:
    """Show a code, wait until it is typed, store the log-in and say whose it is. Raises TwitchError."""
    import asyncio

    from forgetmenot.clock import SystemClock
    from forgetmenot.operations.catalogue import scopes_for
    from forgetmenot.twitch.auth import Login
    from forgetmenot.twitch.oauth import begin_device_login, finish_device_login

    scopes = scopes_for(account, settings)
    if not scopes:
        say("No setting needs the broadcaster's account. There is nothing to do.")
        return 0
    code = await begin_device_login(settings, scopes)
    _show(code, scopes, _whose(settings, account))
    _open(code.address, wanted=open_browser)
    countdown = asyncio.create_task(_count_down(code.expires_in))
    try:
        token = await finish_device_login(settings, code, scopes)
    finally:
        countdown.cancel()
        if sys.stderr.isatty():
            say("")  # it stood on an unfinished line
    store.save(account, token)  # before anything else can go wrong: the code is spent
    login = Login(account=account, store=store, settings=lambda: settings, clock=SystemClock())
    _welcome(settings, account, await _named(login), store)
    return 0


def _whose(settings: "Settings", account: "Account") -> str:
    from forgetmenot.twitch.token_store import Account

    if account is Account.BROADCASTER:
        name, whose = _channel(settings), "the streamer's account"
    else:
        name, whose = settings.twitch.bot_login.lower(), "the account that the bot will use"
    return f"{whose} ({name})" if name else whose


def _channel(settings: "Settings") -> str:
    return settings.twitch.channel.lower().lstrip("#")


def _show(code: "DeviceCode", scopes: tuple[str, ...], whose: str) -> None:
    say(f"Sign in at Twitch with {whose}; check which account your browser is signed in to:")
    say(f"\n    address  {code.address}\n    code     {code.user_code}\n")
    _show_qr(code.address)
    say(f"Twitch will ask you to allow: {', '.join(scopes)} (what each is for: docs/TWITCH_APP.md).")


def _show_qr(address: str) -> None:
    if sys.stderr.isatty() and "utf" in (sys.stderr.encoding or "").lower():
        say(f"Or point a phone's camera here:\n\n{qr_code(address)}\n")


def qr_code(text: str) -> str:
    """A text as a QR code in lines of half blocks, two rows of modules each."""
    import io

    import segno

    drawn = io.StringIO()
    segno.make(text, micro=False).terminal(out=drawn, compact=True, border=2)
    return drawn.getvalue()


def _open(address: str, *, wanted: bool) -> None:
    import webbrowser

    if not (wanted and sys.stderr.isatty() and address.startswith("https://") and _has_desktop()):
        return
    try:
        opened = webbrowser.open(address)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        say("The browser could not be opened. Open the address yourself.")


def _has_desktop() -> bool:
    """Whether a browser opens in a window; a text browser would take over the terminal."""
    windows = sys.platform in ("win32", "darwin")
    return windows or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


async def _count_down(seconds: int) -> None:
    import asyncio

    if not sys.stderr.isatty():
        say(f"Waiting up to {seconds // 60} minutes.")
        return
    for left in range(seconds, 0, -1):
        print(f"\rWaiting for the code: {left // 60}:{left % 60:02} left ", end="", file=sys.stderr, flush=True)
        await asyncio.sleep(1)


async def _named(login: "Login") -> "Token":
    """The login of the account; a Twitch error at this point does not undo the log-in."""
    import asyncio

    from forgetmenot.errors import TwitchRateLimited, TwitchUnavailable

    for _ in range(_TRIES):
        try:
            return await login.validate()
        except (TwitchUnavailable, TwitchRateLimited):
            await asyncio.sleep(_PAUSE_S)
    return await login.token()


def _welcome(settings: "Settings", account: "Account", token: "Token", store: "TokenStore") -> None:
    from forgetmenot.operations.catalogue import lacking
    from forgetmenot.twitch.token_store import Account

    say(f"Logged in as {token.login or 'an account that Twitch has not named yet'} ({account.value}).")
    say(f"Rights: {', '.join(sorted(token.scopes)) or 'unknown yet'}.")
    say(f"The log-in is kept in {store.place(account)}.")
    channel, bot = _channel(settings), settings.twitch.bot_login.lower()
    if account is Account.BROADCASTER and token.login and channel and token.login != channel:
        say(f"Note: the channel in the settings is {channel}. Sign in with that account for the streamer's rights.")
    if account is Account.BOT and token.login and bot and token.login != bot:
        say(f"Note: the bot's account in the settings is {bot}. Sign in with that one, or change `bot_login`.")
    missing = lacking(account, settings, token.scopes) if token.scopes else ""
    if missing:
        say(missing)


def _logout(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import chosen_settings
    from forgetmenot.twitch.token_store import Account

    return run_async(sign_out(chosen_settings(arguments.config), Account(arguments.account), token_store(arguments)))


async def sign_out(settings: "Settings", account: "Account", store: "TokenStore") -> int:
    """Revoke the token and delete it."""
    from forgetmenot.clock import SystemClock
    from forgetmenot.twitch.auth import Login

    login = Login(account=account, store=store, settings=lambda: settings, clock=SystemClock())
    revoked = await login.log_out()
    if revoked is None:
        say(f"Nobody was logged in as {account.value}.")
    elif revoked:
        say(f"The {account.value}'s log-in is revoked and deleted here.")
    else:
        say(f"The {account.value}'s log-in is deleted here, but Twitch could not be reached. Disconnect the app")
        say("with that account at https://www.twitch.tv/settings/connections.")
    return 0
