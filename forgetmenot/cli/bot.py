"""Runs the bot until Ctrl-C, opens its page, logs it in, checks it, and takes all of it back.

A double-click runs `start`.
"""

import re
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from forgetmenot.cli import common
from forgetmenot.cli.common import command, option
from forgetmenot.errors import ForgetMeNotError, InputError, SettingsError
from forgetmenot.settings.schema import Provider, Settings

if TYPE_CHECKING:
    from forgetmenot.secret_store import Account, TokenStore
    from forgetmenot.settings.live_settings import LiveSettings

_NOT_RUNNING = "The bot is not running. Type `forgetmenot start` first."
_NOT_OURS = (
    "Another program or an older bot uses that port. Restart the bot, or use the same --db and --config here "
    "as when it was started."
)
DOCTOR_KEYS = (
    """The exit code is 1 if something is bad; in JSON a check is ok, warn or bad."""
)
SIGNS = {"ok": "✓", "warn": "!", "bad": "✗"}


@command(
    "setup",
    about="open the set-up in the dock",
    shared="config db",
    page="#setup",
    channel=None,
    no_browser=False,
)
@command(
    "start",
    option(
        "channel",
        nargs="?",
        metavar="CHANNEL",
        help="read this channel, without an account",
    ),
    option("--no-browser", action="store_true", help="do not open the browser"),
    shared="config db",
    page="",
)
async def _start(arguments: Namespace) -> int:
    """Start what is set up and open the dock.

    Opens the dock in your browser and starts what is set up: without a channel only the dock, with a channel it
    listens, with a log-in it runs the bot. The settings are in config.toml beside the memory; the first start creates
    the file. If the bot is already running, only the dock is opened. With CHANNEL it reads that channel without an
    account and sends nothing; each channel has its own memory.
    """
    from forgetmenot import logs
    from forgetmenot.app import tray_icon
    from forgetmenot.app.live import check_channel, start_live
    from forgetmenot.llm.build import TERMS

    only_reads = arguments.channel is not None
    file = arguments.config
    path = common.database_path(arguments)
    # To read a channel once leaves no settings behind.
    if file is None and not only_reads:
        file = _write_settings_file(path.parent)
    settings = common.chosen_settings(file)
    if only_reads:
        settings = _that_reads(settings, arguments.channel)
        path = common.channel_database(arguments, settings.twitch.channel)
    elif not settings.dock.port:
        # Without a dock nobody could set a channel later.
        check_channel(settings)
    elif _open_running_dock(arguments, settings.dock.port, path):
        return 0
    # Google's terms have rules by age and by country, which whoever runs it has to know.
    if settings.model.provider is Provider.GEMINI:
        common.say(TERMS)
    logs.set_up(level=settings.log.level, folder=logs.beside(path), quiet=True)
    common.say(f"Settings: {file or 'the defaults'}")
    live = _with_free_port(settings, file)
    # The output may be kept in a journal, where others could read it.
    hides_token = arguments.no_browser and not common.has_terminal()
    say = _say_without_token if hides_token else common.say
    shown_addresses: list[str] = []

    def show(address: str) -> None:
        """Open the page the first time: after a change of the channel an open page reconnects by itself."""
        if not shown_addresses and not arguments.no_browser:
            common.open_page(address + arguments.page)
        shown_addresses.append(address)

    # The channel may be changed in the dock while the bot runs, and each has a memory of its own.
    def database_of(channel: str) -> Path:
        return common.channel_database(arguments, channel)

    options = common.options_given(arguments, file)
    _renew_autostart(arguments, options)

    # For the icon beside the clock.
    def show_again() -> None:
        common.open_page(shown_addresses[-1])

    await start_live(
        live,
        database_of,
        say,
        show,
        options,
        tray_icon.command_here(),
        show_again,
    )
    return 0


def _with_free_port(settings: Settings, file: Path | None) -> "LiveSettings":
    """Return the settings for this run. Where another program has the dock's port they have the next free one."""
    from forgetmenot.dock.server import usable_port
    from forgetmenot.logs import log
    from forgetmenot.settings.live_settings import LiveSettings

    port = usable_port(settings.dock.port)
    dock = msgspec.structs.replace(settings.dock, port=port)
    live = LiveSettings(msgspec.structs.replace(settings, dock=dock), file)
    # For this run only: the next one tries the port of the file again, which OBS may point to.
    if port != settings.dock.port:
        live.taken_port = settings.dock.port
        log.warning("the dock's port is taken", taken=live.taken_port, port=port)
        common.say(live.port_trouble())
    return live


def _say_without_token(line: str) -> None:
    """Print a line without the dock's token."""
    common.say(re.sub(r"\?token=\S+", " (to open it: forgetmenot dock)", line))


def _write_settings_file(folder: Path) -> Path:
    """Write a settings file that explains every setting, and return its path."""
    from forgetmenot.files import make_own
    from forgetmenot.settings.load import example_toml

    file = folder / common.SETTINGS_FILE
    make_own(folder)
    file.write_text(example_toml(), encoding="utf-8")
    # Settings name accounts and addresses; a persona may say more. They are their owner's alone.
    file.chmod(0o600)
    return file


def _open_running_dock(
    arguments: Namespace,
    port: int,
    database: Path,
) -> bool:
    """Open the page of a bot that is running already; False if none is."""
    from forgetmenot.dock.obs_page import dock_answers
    from forgetmenot.dock.security import HOST, address, token_in

    token = token_in(database.parent)
    # Also where another program has the port: then the dock is opened at another one.
    if not dock_answers(HOST, port, token):
        return False
    common.say("The bot is already running.")
    if not arguments.no_browser:
        common.open_page(address(port, token) + arguments.page, wait_s=5)
    return True


def _that_reads(settings: Settings, channel: str) -> Settings:
    """Return the settings of a bot that only listens to a channel. Raises InputError if that is no login."""
    from forgetmenot.settings.load import no_login_reason
    from forgetmenot.text.mentions import channel_in_address, is_login, login_of

    typed_login = channel_in_address(channel)
    if not is_login(typed_login):
        raise InputError(no_login_reason(typed_login))
    # Without a client_id nobody logs in.
    twitch = msgspec.structs.replace(
        settings.twitch, channel=login_of(typed_login), client_id=""
    )
    return msgspec.structs.replace(settings, twitch=twitch)


@command(
    "dock",
    option(
        "--print",
        dest="only_print",
        action="store_true",
        help="print the address, open nothing",
    ),
    option(
        "--new-token",
        action="store_true",
        help="create a new address; the old one works until the bot stops",
    ),
    shared="config db json",
)
def _dock(arguments: Namespace) -> int:
    """Open the dock.

    Opens the running bot's page in your browser. Anyone with the address can see the memory and control the bot, so
    keep it private. For OBS, use "Add to OBS" in the dock's settings.
    """
    from forgetmenot.dock.obs_page import dock_answers
    from forgetmenot.dock.security import HOST, address, token_in

    port = common.chosen_settings(arguments.config).dock.port
    if not port:
        raise SettingsError(
            "The dock is off: `port` in the table [dock] of your settings is 0."
        )
    token = token_in(common.database_path(arguments).parent, fresh=arguments.new_token)
    url = address(port, token)
    # False where something else answers there, None where nothing does.
    running = dock_answers(HOST, port, token)
    if arguments.json:
        common.emit({"address": url, "running": bool(running)})
        return 0
    if arguments.only_print:
        common.show_line(url)
        return 0
    if running:
        common.show_line(url)
        common.open_page(url, wait_s=5)
        return 0
    reason = _NOT_RUNNING if running is None else _NOT_OURS
    common.say(f"{reason} The address will be:")
    common.show_line(url)
    return 1


NEW_API_TOKEN = option(
    "--new-token",
    action="store_true",
    help="create a new token; the old one works until the bot stops",
)


@command(
    "connect",
    NEW_API_TOKEN,
    about="show how other programs read the memory",
    shared="config db json",
)
def _connect(arguments: Namespace) -> None:
    """Print the address and the token for other programs on this computer.

    They may read who somebody is, what happened and what was learned; they cannot change anything. It is off until you
    switch it on in the dock's settings, or as `enabled = true` in the table [local_api].
    """
    settings = common.chosen_settings(arguments.config)
    address, token = _local_api(arguments, settings, fresh=arguments.new_token)
    enabled = settings.local_api.enabled
    if arguments.json:
        common.emit({"address": address, "token": token, "enabled": enabled})
        return
    common.show_line(f"Address: {address}")
    common.show_line(f"Token: {token}")
    if not enabled:
        common.say(
            "It is switched off: set `enabled = true` in the table [local_api] of your settings."
        )


@command("mcp", about="serve the memory to an agent (MCP)", shared="config db")
def _mcp(arguments: Namespace) -> None:
    """Serve the memory to an agent that starts this command, over standard input and output (MCP).

    The bot must run with the interface for other programs switched on. Needs the extra `mcp`:
    pip install 'forgetmenot-bot[mcp]'.
    """
    from forgetmenot.local_api import mcp_server

    settings = common.chosen_settings(arguments.config)
    mcp_server.serve(*_local_api(arguments, settings))


def _local_api(
    arguments: Namespace,
    settings: Settings,
    *,
    fresh: bool = False,
) -> tuple[str, str]:
    """Return the address and the token of the interface for other programs. Raises SettingsError and StoreError."""
    from forgetmenot.dock.security import HOST, token_in
    from forgetmenot.local_api.server import PREFIX, TOKEN_FILE

    port = settings.dock.port
    if not port:
        raise SettingsError(
            "The dock is off, and with it this interface: `port` in the table [dock] of your settings is 0."
        )
    folder = common.database_path(arguments).parent
    token = token_in(folder, fresh=fresh, file=TOKEN_FILE)
    return f"http://{HOST}:{port}{PREFIX}", token


# ── log-in ──────────────────────────────────────────────────────────────────────────────────


def token_store(arguments: Namespace) -> "TokenStore":
    """Return the store of the log-ins of this memory's bot."""
    from forgetmenot.secret_store import TokenStore, login_folder

    return TokenStore(login_folder(common.database_path(arguments)))


ACCOUNT = option(
    "--as",
    dest="account",
    choices=("bot", "broadcaster"),
    default="bot",
    help="which account; if one account is both, use bot (default: bot)",
)


@command("login", ACCOUNT, shared="config db")
async def _login(arguments: Namespace) -> None:
    """Sign in at Twitch by typing a code.

    For a computer without a screen: shows a code, waits until you have typed it anywhere, and keeps the log-in in the
    system's keyring, or in a file that only you can read. In the dock it is one button.
    """
    from forgetmenot.secret_store import Account

    await sign_in(
        common.chosen_settings(arguments.config),
        Account(arguments.account),
        token_store(arguments),
    )


async def sign_in(
    settings: Settings,
    account: "Account",
    store: "TokenStore",
) -> None:
    """Show a code, wait until it is typed, store the log-in and say whose it is. Raises TwitchError."""
    from forgetmenot.app.account import finish_login, login_rights
    from forgetmenot.operations.actions import lacking
    from forgetmenot.secret_store import Account
    from forgetmenot.twitch.login import begin_device_login

    scopes = login_rights(account, settings)
    # The setting that names the account.
    key = "bot_login"
    whose = "the bot's account"
    if account is Account.BROADCASTER:
        key = "channel"
        whose = "the streamer's account"
    expected_login = getattr(settings.twitch, key)
    if expected_login:
        whose += f" ({expected_login})"
    code = await begin_device_login(settings, scopes)
    common.say(
        f"Sign in at Twitch with {whose}; check which account your browser is signed in to:"
    )
    common.say(f"\n    address  {code.address}\n    code     {code.user_code}\n")
    common.say(
        f"Twitch will ask you to allow: {', '.join(scopes)}. The code works for {code.expires_in // 60} minutes."
    )
    token = await finish_login(lambda: settings, store, account, code, scopes)
    common.say(
        f"Logged in as {token.login or 'an account that Twitch has not named yet'} ({account.value})."
    )
    common.say(f"The log-in is kept in {store.place(account)}.")
    # A browser that is signed in to another account gives that one's log-in without asking.
    if token.login and expected_login and token.login != expected_login:
        common.say(
            f"Note: `{key}` in [twitch] is {expected_login}. Sign in with that account, or change the setting."
        )
    # Without a list of rights there is nothing to compare.
    if token.scopes:
        missing = lacking(account, settings, token.scopes)
        if missing.trouble:
            common.say(missing.trouble)


@command("logout", ACCOUNT, shared="config db")
async def _logout(arguments: Namespace) -> None:
    """Revoke the log-in at Twitch.

    Revoke the log-in at Twitch and delete it from this machine.
    """
    from forgetmenot.secret_store import Account

    await sign_out(
        common.chosen_settings(arguments.config),
        Account(arguments.account),
        token_store(arguments),
    )


async def sign_out(
    settings: Settings,
    account: "Account",
    store: "TokenStore",
) -> None:
    """Revoke the token of a log-in, delete it, and say so."""
    from forgetmenot.clock import SystemClock
    from forgetmenot.twitch.login import Login

    login = Login(
        account=account,
        store=store,
        settings=lambda: settings,
        clock=SystemClock(),
    )
    revoked = await login.log_out()
    if revoked is None:
        common.say(f"Nobody was logged in as {account.value}.")
    elif revoked:
        common.say(f"The {account.value}'s log-in is revoked and deleted here.")
    else:
        common.say(
            f"The {account.value}'s log-in is deleted here, but Twitch did not confirm that it is revoked."
        )
        common.say(
            "Disconnect the app with that account at https://www.twitch.tv/settings/connections."
        )


def _renew_autostart(arguments: Namespace, options: list[str]) -> None:
    """Let the computer start this copy, if it starts one that an update has replaced."""
    # With a channel it only reads that one.
    if arguments.channel is not None:
        return
    from forgetmenot.app import autostart

    try:
        if autostart.renew(options):
            common.say(
                "Starting with this computer now means this copy: the earlier one is gone."
            )
    # It starts all the same: that the computer starts the old copy is no reason not to.
    except ForgetMeNotError as error:
        common.say(str(error))


# ── doctor, autostart and uninstall ─────────────────────────────────────────────────────────


@command(
    "doctor",
    option(
        "--verify",
        action="store_true",
        help="check every row of the memory against the promises",
    ),
    keys=DOCTOR_KEYS,
    shared="config db json",
)
async def _doctor(arguments: Namespace) -> int:
    """Check everything and show how to fix it.

    Checks versions, settings, folders, disk, clock, memory, log-in, model and dock, and says how to fix what is wrong.
    Changes nothing and sends nothing.
    """
    from forgetmenot.app.doctor import BAD, Examined, examine
    from forgetmenot.app.doctor import report as as_json

    database = common.database_path(arguments)
    try:
        settings = common.chosen_settings(arguments.config)
        trouble = ""
    # A file that cannot be read is one of the things to report; the rest is checked all the same.
    except SettingsError as error:
        settings = Settings()
        trouble = str(error)
    examined = Examined(
        database, settings, arguments.config, trouble, verify=arguments.verify
    )
    checks = await examine(examined)
    if arguments.json:
        common.emit(as_json(checks))
    else:
        for check in checks:
            common.show_line(f"{SIGNS[check.state]} {check.name}: {check.line}")
            if check.fix:
                common.show_line(f"    → {check.fix}")
    return int(any(check.state == BAD for check in checks))


@command(
    "autostart",
    option(
        "what",
        choices=("on", "off", "status"),
        metavar="on|off|status",
        help="switch it, or show the status",
    ),
    shared="config db json",
)
def _autostart(arguments: Namespace) -> None:
    """Start the bot when you log in to this computer.

    Runs `forgetmenot start --no-browser` when you log in to this computer, or stops doing so. It applies from the next
    log-in; it does not start or stop a bot now. A program that starts this way does not see variables that are set in a
    terminal only, such as GEMINI_API_KEY.
    """
    from forgetmenot.app import autostart

    if arguments.what == "on":
        autostart.enable(common.options_given(arguments, arguments.config))
    elif arguments.what == "off":
        autostart.disable()
    # Asked of the system, not concluded from what was typed.
    on = autostart.is_on()
    entry = str(autostart.entry())
    starts = "starts" if on else "does not start"
    line = f"ForgetMeNot {starts} with this computer ({entry})."
    common.report(arguments, {"on": on, "entry": entry}, [line], to=common.show_line)


@command(
    "uninstall",
    option(
        "--data", action="store_true", help="also permanently delete the data folder"
    ),
    option("--yes", action="store_true", help="do not ask for confirmation"),
    shared="config db",
)
async def _uninstall(arguments: Namespace) -> None:
    """Revoke the log-ins and undo what the bot set up on this computer.

    Revokes both log-ins at Twitch, deletes them, the AI model's key, the password of OBS and the Discord webhook here,
    and removes the entry that starts the bot with the computer. Says what was done and what stays: the memory, unless
    --data is given, and the program.
    """
    from forgetmenot.app import autostart
    from forgetmenot.app.recap_sharing import WEBHOOK
    from forgetmenot.app.stream_input import OBS_PASSWORD
    from forgetmenot.files import is_locked
    from forgetmenot.llm.build import kept_key_name
    from forgetmenot.secret_store import Account, SecretStore, login_folder

    database = common.database_path(arguments)
    folder = common.data_folder()
    # Also those of other channels' memories.
    locks = [*folder.rglob("*.lock"), *database.parent.glob("*.lock")]
    if any(is_locked(lock.with_suffix("")) for lock in locks):
        raise InputError(
            "The bot is running. Stop it first: Ctrl-C in its terminal, or close its window."
        )
    if arguments.data and arguments.db is not None:
        raise InputError(
            f"--data deletes {folder}, where --db is not needed. Delete {database.parent} yourself."
        )
    # Asked before anything is done, so that a "no" leaves all as it was.
    delete = arguments.data and folder.is_dir()
    warning = f"This permanently deletes {folder}: the memory, its backups, the settings and the log."
    if delete and not arguments.yes and not common.confirmed(warning):
        common.say("Nothing was changed.")
        return
    try:
        settings = common.chosen_settings(arguments.config)
    except SettingsError as error:
        # The defaults do: Twitch knows whose token it is, and the file could only name other addresses.
        common.say(str(error))
        settings = Settings()
    # Revoked before the folder goes: the log-ins may be files in it.
    for account in Account:
        await sign_out(settings, account, token_store(arguments))
    secrets = SecretStore(login_folder(database))
    for name in (*map(kept_key_name, Provider), OBS_PASSWORD, WEBHOOK):
        secrets.delete(name)
    common.say(
        "Keys and passwords kept for it are deleted here. Revoke a model's key and a webhook where you made them."
    )
    if autostart.is_there():
        autostart.disable()
        common.say("The bot no longer starts with this computer.")
    if delete:
        # Of a link also what it points to.
        shutil.rmtree(folder.resolve())
        folder.unlink(missing_ok=True)
        common.say(f"{folder} is deleted.")
    if database.parent.is_dir():
        common.say(f"The memory, the settings and the log stay in {database.parent}.")
    removal = autostart.how_to_remove(Path(sys.prefix), Path(__file__).parents[2])
    common.say(f"To remove the program: {removal}.")
