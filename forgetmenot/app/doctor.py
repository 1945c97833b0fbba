"""`forgetmenot doctor`: checks everything the bot needs, with a fix for each problem.

Guarantees:
- It changes no setting and sends nothing: no message, no renewed log-in, no model call. A memory of an older version is
  brought to the newest one when it is opened.
- Each check has its own time limit, and a failing one does not stop the others.
- The report holds no chat, no viewer and no secret, so that it can be sent to somebody.
"""

import asyncio
import contextlib
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from importlib import metadata
from pathlib import Path

import aiohttp

from forgetmenot import __version__
from forgetmenot.dock.security import HOST
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.llm.build import environment_with_key
from forgetmenot.logs import mask
from forgetmenot.network import proxy_for, trusted
from forgetmenot.operations.catalogue import lacking, scopes_for
from forgetmenot.operations.switches import gaps_sentence
from forgetmenot.ports import BotState, Check
from forgetmenot.secret_store import login_folder
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.store import backup, dock_rows, invariants, personal_data, privacy_log, streams
from forgetmenot.store.database import SQLITE_VERSION, open_database
from forgetmenot.store.file_safety import is_locked, synced_by
from forgetmenot.twitch.token_store import Account, TokenStore

OK, WARN, BAD = "ok", "warn", "bad"
WITHIN_S = 8.0
LITTLE_SPACE = 500_000_000  # bytes
CLOCK_OFF_S = 120
MEASURED = ("aiohttp", "twitchio", "google-genai", "structlog")
RESTORE = "If that does not help: `forgetmenot memory restore FILE`, with one of the backups beside the memory."
LOCAL_ENDINGS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Examined:
    """What is checked. `settings` None: they could not be read, and `trouble` says why.

    `verify`: also check every row against the guarantees, which takes longer the larger the memory is. `running`: the
    bot that runs here says itself how its parts are.
    """

    database: Path
    settings: Settings | None
    settings_file: Path | None
    trouble: str = ""
    use_keyring: bool = True
    verify: bool = False
    running: bool = False


async def examine(what: Examined) -> list[Check]:
    """All checks, in the order in which a streamer would fix things."""
    settings = what.settings or Settings()
    computer: list[Callable[[], Awaitable[Check]]] = [
        lambda: _at_once(_versions()),
        lambda: asyncio.to_thread(_folder, what.database.parent),
        lambda: asyncio.to_thread(_disk, what.database.parent),
        lambda: _clock(settings),
        lambda: _memory(what.database),
        lambda: asyncio.to_thread(_backups, what.database),
    ]
    parts: list[Callable[[], Awaitable[Check]]] = [
        lambda: _at_once(_settings(what)),
        lambda: asyncio.to_thread(_instance, what.database),
        lambda: _dock(settings, what.database),
        lambda: asyncio.to_thread(_login, what, settings),
        lambda: _model(settings, what),
    ]
    checks = computer if what.running else computer + parts
    results = [await _guarded(check) for check in checks]
    return [*results, await _promises(what.database, settings)] if what.verify else results


def report(checks: list[Check]) -> dict[str, object]:
    """The checks as JSON; `ok` is False if one is bad."""
    return {"ok": all(check.state != BAD for check in checks), "checks": [asdict(check) for check in checks]}


async def bundle(checks: list[Check], what: Examined, log_lines: int = 2_000) -> dict[str, object]:
    """A report for support: the checks and the end of the log, without names, secrets and the home folder."""
    log_file = what.database.parent / "logs" / "forgetmenot.log"
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-log_lines:]
    content = {**report(checks), "system": platform.platform(), "python": sys.version, "log": lines}
    names = await _names(what)
    return {key: _without(value, names) for key, value in content.items()}


async def _names(what: Examined) -> frozenset[str]:
    """Whose names a report must not hold: the channel's, the bot's, every viewer's."""
    twitch = (what.settings or Settings()).twitch
    tokens = await asyncio.to_thread(lambda: [_tokens(what).load(account) for account in Account])
    names = {twitch.channel, twitch.bot_login, *(token.login for token in tokens if token is not None)}
    with contextlib.suppress(ForgetMeNotError):
        if what.database.is_file():
            async with open_database(what.database) as db:
                names |= await personal_data.all_names(db)
    return frozenset(name.lower() for name in names if name)


def _without(value: object, names: frozenset[str]) -> object:
    if isinstance(value, str):
        text = mask(value.replace(str(Path.home()), "~"))
        return re.sub(r"\w+", lambda word: "•••" if word[0].lower() in names else word[0], text)
    if isinstance(value, list):
        return [_without(part, names) for part in value]
    if isinstance(value, dict):
        return {key: _without(part, names) for key, part in value.items()}
    return value


async def _guarded(check: Callable[[], Awaitable[Check]]) -> Check:
    try:
        async with asyncio.timeout(WITHIN_S):
            return await check()
    except TimeoutError:
        return Check("Time", WARN, "One check took too long.", "Run `forgetmenot doctor` again.")
    except ForgetMeNotError as error:
        return Check("Memory", BAD, str(error), RESTORE)


async def _at_once(check: Check) -> Check:
    return check


def _versions() -> Check:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in MEASURED)
    ours = f"ForgetMeNot {__version__}, Python {platform.python_version()}, SQLite {SQLITE_VERSION}"
    return Check("Versions", OK, f"{ours}; {packages}.")


def _settings(what: Examined) -> Check:
    if what.trouble:
        return Check("Settings", BAD, what.trouble, "Correct that line.")
    if what.settings_file is None:
        return Check("Settings", WARN, "No settings file: the defaults are used.", "Type `forgetmenot start`.")
    if not (what.settings or Settings()).twitch.channel:
        return Check("Settings", WARN, "No channel is set yet.", "Open the dock and enter your channel's name.")
    return Check("Settings", OK, f"Read from {what.settings_file}.")


def _folder(folder: Path) -> Check:
    if not folder.is_dir():
        return Check("Data folder", WARN, f"{folder} does not exist yet.", "The first start creates it.")
    if not os.access(folder, os.W_OK):
        return Check("Data folder", BAD, f"{folder} is not writable.", "Give your user write permission for it.")
    if service := synced_by(folder):
        line = f"{service} syncs {folder}: erased data stays in its copies, and the sync can damage the file."
        return Check("Data folder", WARN, line, "Stop the bot, move the folder and start the bot with --db.")
    if os.name != "nt" and folder.stat().st_mode & 0o077:
        return Check("Data folder", WARN, f"Other users of this computer can read {folder}.", f"chmod 700 {folder}")
    return Check("Data folder", OK, f"Only you can read {folder}.")


def _disk(folder: Path) -> Check:
    there = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(there).free
    line = f"{free / 1e9:.1f} GB are free."
    if free < LITTLE_SPACE:
        return Check("Disk", WARN, line, "Free some space: on a full disk the bot cannot remember.")
    return Check("Disk", OK, line)


async def _clock(settings: Settings) -> Check:
    """This computer's time against Twitch's, by the date of an answer; any answer will do."""
    try:
        async with _session() as session, _get(session, settings.twitch.helix_url) as answer:
            server_time = parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except (aiohttp.ClientError, OSError, TimeoutError, KeyError, ValueError) as error:
        line = f"Twitch does not answer ({type(error).__name__})."
        return Check("Network and clock", BAD, line, "Check your internet connection, and twitch.tv in a browser.")
    off = time.time() - server_time
    if abs(off) > CLOCK_OFF_S:
        line = f"This computer's clock is {abs(off) / 60:.0f} minutes {'ahead' if off > 0 else 'behind'}."
        return Check("Network and clock", WARN, line, "Turn on automatic time in the system settings.")
    return Check("Network and clock", OK, "Twitch answers, and the clock is right.")


async def _memory(database: Path) -> Check:
    if not database.is_file():
        return Check("Memory", WARN, f"There is no memory at {database} yet.", "The first start creates it.")
    async with open_database(database) as db:
        damage = await db.damage()
        counted = await dock_rows.promises(db, oldest=0)
        changed = await privacy_log.broken_at(db)
    if changed:
        line = f"Line {changed} of {database.name}.asked, the list of privacy requests, was changed or is missing."
        return Check("Memory", BAD, line, "Put the file back from where it was copied; people's requests stand in it.")
    if damage:
        return Check("Memory", BAD, f"The file is damaged: {damage}.", RESTORE)
    broken = [name for name in ("pruned_unread", "no_evidence", "lost_successor", "hidden_lines") if counted[name]]
    size = f"{counted['size'] / 1e6:.1f} MB"
    if broken:
        return Check("Memory", BAD, f"{size}; broken promises: {', '.join(broken)}.", "Please report this.")
    return Check("Memory", OK, f"{size}, not damaged; {counted['unread']:,} messages wait to be summarised.")


async def _promises(database: Path, settings: Settings) -> Check:
    """Check the guarantees, as of the last line: chat that ages while no bot runs is deleted at the next start."""
    if not database.is_file():
        return Check("Promises", OK, "There is no memory yet.")
    try:
        async with open_database(database) as db:
            now = await streams.last_heard(db)
            broken = await invariants.verify(db, now=now, keep_h=settings.memory.raw_events_h)
    except ForgetMeNotError as error:
        return Check("Promises", BAD, str(error), RESTORE)
    if broken:
        return Check("Promises", BAD, f"Broken promises: {'; '.join(map(str, broken))}.", "Please report this.")
    return Check("Promises", OK, "Every promise that the database can show is kept.")


def _backups(database: Path) -> Check:
    kept = backup.kept(database)
    if not kept:
        return Check("Backups", WARN, "There is no backup yet.", "The running bot makes one every day.")
    age_d = (time.time() - kept[0].stat().st_mtime) / 86_400
    line = f"{len(kept)} backups, the newest {age_d:.0f} days old."
    fix = "Start the bot, or type `forgetmenot memory backup`." if age_d > 14 else ""
    return Check("Backups", WARN if fix else OK, line, fix)


def _instance(database: Path) -> Check:
    running = is_locked(database)
    return Check("Bot", OK, "The bot is running." if running else "The bot is not running.")


async def _dock(settings: Settings, database: Path) -> Check:
    if not settings.dock.port:
        return Check("Dock", WARN, "The dock is switched off.", "Set `port` in the table [dock].")
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(HOST, settings.dock.port), 1)
    except (OSError, TimeoutError):
        return Check("Dock", OK, f"Port {settings.dock.port} is free.")
    writer.close()
    if is_locked(database):
        return Check("Dock", OK, f"The dock runs on port {settings.dock.port}.")
    line = f"Another program uses port {settings.dock.port}."
    return Check("Dock", WARN, line, "Change `port` in the table [dock] of your settings.")


def _login(what: Examined, settings: Settings) -> Check:
    if not settings.twitch.client_id:
        line = "`client_id` is not set: the bot can listen, but not speak."
        return Check("Log-in", WARN, line, "Follow docs/TWITCH_APP.md, then log in from the dock.")
    store = _tokens(what)
    token = store.load(Account.BOT)
    if token is None:
        return Check("Log-in", WARN, "Nobody is logged in: the bot listens and says nothing.", "`forgetmenot login`")
    if token.scopes and (missing := lacking(Account.BOT, settings, token.scopes)):
        return Check("Log-in", WARN, missing, "Only what needs that right is affected.")
    if scopes_for(Account.BROADCASTER, settings) and store.load(Account.BROADCASTER) is None:
        line = f"Logged in as {token.login}. Markers, titles and timeouts also need the streamer's log-in."
        return Check("Log-in", OK, line, "")
    return Check("Log-in", OK, f"Logged in as {token.login}.")


def _tokens(what: Examined) -> TokenStore:
    return TokenStore(login_folder(what.database), use_keyring=what.use_keyring)


async def _model(settings: Settings, what: Examined) -> Check:
    chosen = settings.model
    if chosen.provider is Provider.OFFLINE:
        line = "No AI model: the bot answers only where a note plainly answers."
        return Check("Model", OK, line)
    if chosen.provider is Provider.GEMINI:
        return await asyncio.to_thread(_gemini_key, settings, what)
    address = f"{chosen.base_url.rstrip('/')}/models"
    try:
        async with _session() as session, _get(session, address) as answer:
            if answer.status in {401, 403}:
                return Check(
                    "Model", BAD, f"{chosen.base_url} refuses the key.", "Check `api_key_env` in the table [model]."
                )
            return Check("Model", OK, f"{chosen.base_url} answers; replies come from {chosen.reply_model}.")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        here = any(ending in chosen.base_url for ending in LOCAL_ENDINGS)
        fix = "Start the program that serves it." if here else "Check `base_url` in the table [model]."
        return Check("Model", BAD, f"Nothing answers at {chosen.base_url}.", fix)


def _gemini_key(settings: Settings, what: Examined) -> Check:
    name = settings.model.api_key_env or "GEMINI_API_KEY"
    if os.environ.get(name):
        return Check("Model", OK, f"{settings.model.reply_model}, with a key from {name}.")
    folder = login_folder(what.database)
    if environment_with_key(settings.model, folder, use_keyring=what.use_keyring).get(name):
        return Check("Model", OK, f"{settings.model.reply_model}, with the key that was pasted in the set-up.")
    return Check("Model", BAD, f"There is no key: {name} is not set.", f"Set {name}, or paste the key in the dock.")


def _session() -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=5)
    return aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(ssl=trusted()))


def _get(session: aiohttp.ClientSession, url: str) -> "aiohttp.client._RequestContextManager":
    proxy, headers = proxy_for(url)
    return session.get(url, proxy=proxy, proxy_headers=headers)


# The running bot.


def running_checks(state: BotState, settings: Settings, gaps: str = "", failing: str = "") -> list[Check]:
    """Every part in a sentence. `gaps`: what was not heard; `failing`: what it cannot do, in sentences. Pure."""
    return [
        _chat(state, settings, gaps),
        _running_login(state),
        _running_model(state, settings),
        Check("Summaries", BAD if state.memory_trouble else OK, state.memory_trouble or _SUMMARIES, _WAIT),
        _tasks(state),
        _replies(state, settings),
        Check("Actions", BAD if failing else OK, failing or "No action failed three times in a row.", _ENABLE),
        Check("Spending", BAD if state.saving else OK, state.saving or "Within its limits.", _LIMITS),
        Check("Settings", OK, _where(state)),
    ]


_SUMMARIES = "Chat becomes summaries, and summaries become notes."
_ENABLE = "Fix what the log reports, then type `!bot resume` in chat or `forgetmenot actions enable` in a terminal."
_LIMITS = "Nothing is lost: the bot catches up later. The limits are in the settings, under Limits."
_WAIT = "Nothing is lost: the bot catches up as soon as the model answers."


def _chat(state: BotState, settings: Settings, gaps: str) -> Check:
    channel = settings.twitch.channel or "the channel"
    if state.phase == "connected":
        return Check("Chat", OK, f"Reading {channel}. {gaps}".rstrip())
    if state.phase == "none":
        fix = "Enter your channel's name in the set-up."
        return Check("Chat", WARN, "The bot is in no channel.", fix)
    trouble = state.phase_trouble or f"Connecting to {channel} …"
    fix = "The bot tries again by itself. If this lasts, check your network, and twitch.tv in a browser."
    return Check("Chat", BAD, f"{trouble} {gaps}".rstrip(), fix)


def _running_login(state: BotState) -> Check:
    if state.login_trouble:
        to_type = " `forgetmenot login" in state.login_trouble
        fix = "Type that in a terminal." if to_type else "The bot tries again by itself; see what the message says."
        return Check("Log-in", BAD, state.login_trouble, fix)
    if state.login_hint:
        return Check("Log-in", WARN, state.login_hint, "The set-up does it: open the settings, then “Set up”.")
    if not state.login:
        return Check("Log-in", WARN, "It is not signed in: it listens and sends nothing.", "Open the set-up.")
    return Check("Log-in", OK, f"Logged in as {state.login}.")


def _running_model(state: BotState, settings: Settings) -> Check:
    if state.model_trouble:
        return Check("Model", BAD, state.model_trouble, "Check the table [model] of your settings.")
    if settings.model.provider is Provider.OFFLINE:
        return Check(
            "Model",
            OK,
            "No AI model: the bot answers only where a note plainly answers. Nothing leaves this machine.",
        )
    used = " and ".join(dict.fromkeys((state.reply_model, state.memory_model)))
    return Check("Model", OK, f"{used} answers.")


def _tasks(state: BotState) -> Check:
    failing = [task for task in state.tasks if task.trouble]
    if failing:
        line = " ".join(f"{task.name}: {task.trouble.rstrip('.')}." for task in failing)
        return Check("Periodic tasks", BAD, line, "The bot tries again by itself. The log has the details.")
    return Check("Periodic tasks", OK, f"All {len(state.tasks)} tasks are on time.")


def _replies(state: BotState, settings: Settings) -> Check:
    if not state.login:
        return Check("Replies", WARN, "The bot cannot reply: nobody is logged in.")
    mode = {
        "shadow": "Silent preview: the bot only answers commands (shadow).",
        "mentions": "The bot answers when mentioned.",
    }
    line = mode.get(settings.bot.mode, "The bot answers, and also speaks by itself (live).")
    return Check("Replies", OK, f"{line} {state.queued} waiting to be sent.")


def _where(state: BotState) -> str:
    return (
        f"Read from {state.settings_file}."
        if state.settings_file
        else "Defaults: the bot was started without a settings file."
    )


def gaps_line(state: Mapping[str, str], now: int) -> str:
    """What of chat was not heard, and why; empty if nothing."""
    line, reason = gaps_sentence(state, now), state.get("gap_reason", "").rstrip(".")
    return f"{line} ({reason})." if line and reason else f"{line}." if line else ""
