"""`forgetmenot doctor`: checks everything the bot needs, with a fix for each problem.

Guarantees:
- It changes no setting and sends nothing: no message, no renewed log-in, no model call.
- Each check has its own time limit, and a failing one does not stop the others.
- Its lines hold no chat, no viewer and no secret.
"""

import asyncio
import contextlib
import os
import platform
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from importlib import metadata
from pathlib import Path
from types import MappingProxyType

import aiohttp
from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot import __version__
from forgetmenot.dock.security import HOST
from forgetmenot.durations import DAY
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.files import is_locked
from forgetmenot.languages import ENGLISH, Language, read_reason, reason
from forgetmenot.llm.build import environment_with_key, key_variable
from forgetmenot.network import web_session
from forgetmenot.operations.actions import lacking
from forgetmenot.operations.handlers.switches import gaps_sentence
from forgetmenot.ports import BotState, Check
from forgetmenot.secret_store import Account, TokenStore, login_folder
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.store import backup, events, invariants, streams
from forgetmenot.store.database import SQLITE_VERSION, Database, open_database
from forgetmenot.twitch.errors import network_reason

OK = "ok"
WARN = "warn"
BAD = "bad"
# How long a check may take.
TIME_LIMIT_S = 8.0
_ANSWER_TIMEOUT = aiohttp.ClientTimeout(total=5)
# Bytes
LITTLE_SPACE = 500_000_000
CLOCK_OFF_S = 120
BACKUP_OLD = 14 * DAY
PACKAGES = ("aiohttp", "twitchio", "google-genai")
# State, line and fix of a check.
Finding = tuple[str, str, str]


class Examined(Struct, frozen=True):
    """What is checked. `trouble`: why the settings could not be read; they are the defaults then.

    `verify`: also check every row against the guarantees, which takes longer the larger the memory is. `open_memory`:
    that of the bot that runs in this process: it says itself how its parts are, and its memory is not opened again.
    """

    database: Path
    settings: Settings
    settings_file: Path | None
    trouble: str = ""
    use_keyring: bool = True
    verify: bool = False
    open_memory: Database | None = None
    language: Language = ENGLISH

    def finding(
        self,
        state: str,
        key: str,
        **values: object,
    ) -> Finding:
        """Return a finding by its key in the table [check]."""
        return finding(self.language, state, key, **values)


def finding(
    say: Language,
    state: str,
    key: str,
    /,
    **values: object,
) -> Finding:
    """Return a finding by its key in the table [check]: its line, and where something is wrong its fix."""
    line, fix = say.pair(f"check.{key}")
    line = line.format(**values).rstrip()
    if state == OK:
        return state, line, ""
    return state, line, fix.format(**values)


def trouble_with(
    say: Language,
    trouble: str,
    fix: str,
    state: str = BAD,
) -> Finding:
    """Return a finding whose line is a reason. `fix`: the key of its fix."""
    return state, say.reason(trouble), say(f"check.{fix}")


async def examine(subject: Examined) -> list[Check]:
    """Return the results of all checks, in the order in which a streamer would fix things."""
    time_limit = None if subject.verify else TIME_LIMIT_S
    results: list[Check] = []
    for check in COMPUTER if subject.open_memory else COMPUTER + PARTS:
        try:
            async with asyncio.timeout(time_limit):
                # of a coroutine this only makes it
                answer = await asyncio.to_thread(check, subject)
                result = answer if isinstance(answer, tuple) else await answer
        except TimeoutError:
            result = subject.finding(WARN, "too_slow")
        except ForgetMeNotError as error:
            result = trouble_with(subject.language, str(error), "restore_fix")
        name = subject.language(f"check.name.{check.__name__[1:]}")
        results.append(Check(name, *result))
    return results


def report(checks: list[Check]) -> dict[str, object]:
    """Return the checks as JSON; `ok` is False if one is bad."""
    return {
        "ok": all(check.state != BAD for check in checks),
        "checks": [asdict(check) for check in checks],
    }


# This computer.


def _versions(_subject: Examined) -> Finding:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    ours = f"ForgetMeNot {__version__}, Python {platform.python_version()}, SQLite {SQLITE_VERSION}"
    return OK, f"{ours}; {packages}.", ""


def _folder(subject: Examined) -> Finding:
    folder = subject.database.parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        return subject.finding(BAD, "folder_locked", folder=folder)
    # on Windows the rights of a profile's folder are lists, and closed to other users as they come
    if os.name != "nt" and folder.is_dir() and folder.stat().st_mode & 0o077:
        return subject.finding(WARN, "folder_open", folder=folder)
    return OK, str(folder), ""


def _disk(subject: Examined) -> Finding:
    folder = subject.database.parent
    # the folder is made at the first start
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    size = f"{free / 1e9:.1f}".replace(".", subject.language("decimal"))
    return subject.finding(WARN if free < LITTLE_SPACE else OK, "disk", size=size)


async def _clock(subject: Examined) -> Finding:
    """Compare this computer's time with Twitch's, by the date of an answer; any answer will do."""
    try:
        _, date = await _get(subject.settings.twitch.helix_url)
        server_time = parsedate_to_datetime(date).timestamp()
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        return subject.finding(
            BAD, "no_network", error=subject.language.reason(network_reason(error))
        )
    difference_s = abs(time.time() - server_time)
    if difference_s > CLOCK_OFF_S:
        return subject.finding(WARN, "clock_off", n=f"{difference_s / 60:.0f}")
    return subject.finding(OK, "fine")


async def _memory(subject: Examined) -> Finding:
    """Check the memory as of its last line: what ages while no bot runs is deleted at the next start."""
    if subject.open_memory is not None:
        return await _memory_in(subject.open_memory, subject)
    if not subject.database.is_file():
        return subject.finding(WARN, "memory_none", path=subject.database)
    async with open_database(subject.database) as db:
        return await _memory_in(db, subject)


async def _memory_in(db: Database, subject: Examined) -> Finding:
    say = subject.language
    damage = await db.damage()
    if damage:
        return trouble_with(say, say("check.damaged", damage=damage), "restore_fix")
    if subject.verify:
        now = await streams.last_heard(db)
        violations = await invariants.verify(
            db, now=now, keep_h=subject.settings.memory.raw_events_h
        )
        broken = [str(violation) for violation in violations]
    else:
        broken = await invariants.broken_guarantees(db)
    if broken:
        return subject.finding(BAD, "memory_broken", promises="; ".join(broken))
    size = f"{db.path.stat().st_size / 1e6:.1f} MB".replace(".", say("decimal"))
    unread = await events.count_unread(db)
    return subject.finding(OK, "memory", size=size, n=say.number(unread))


def _backups(subject: Examined) -> Finding:
    backups = backup.copies_of(subject.database)
    if not backups:
        return subject.finding(WARN, "no_backup")
    age_ms = round((time.time() - backups[0].stat().st_mtime) * 1000)
    state = WARN if age_ms > BACKUP_OLD else OK
    age = subject.language.duration(age_ms, "age")
    return subject.finding(state, "backups", n=len(backups), age=age)


# The parts of a bot, as far as they can be seen from outside.


def _settings(subject: Examined) -> Finding:
    if subject.trouble:
        return trouble_with(subject.language, subject.trouble, "settings_fix")
    if not subject.settings.twitch.channel:
        return subject.finding(WARN, "no_channel")
    return OK, str(subject.settings_file or subject.language("check.fine")), ""


async def _bot(subject: Examined) -> Finding:
    port = subject.settings.dock.port
    if is_locked(subject.database):
        return subject.finding(OK, "bot_runs")
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            _, writer = await asyncio.open_connection(HOST, port)
        writer.close()
        return subject.finding(WARN, "port_taken", port=port)
    return subject.finding(OK, "bot_off")


def _login(subject: Examined) -> Finding:
    say = subject.language
    settings = subject.settings
    if not settings.twitch.client_id:
        trouble = reason("client_unset", make_app=reason("make_app"))
        return trouble_with(say, trouble, "setup_fix", WARN)
    # what is stored here is looked at; Twitch is not asked, because asking would renew the log-in
    token = TokenStore(
        login_folder(subject.database), use_keyring=subject.use_keyring
    ).load(Account.BOT)
    if token is None:
        return trouble_with(say, reason("bot_not_in"), "setup_fix", WARN)
    missing_scopes = (
        lacking(Account.BOT, settings, token.scopes) if token.scopes else ""
    )
    if missing_scopes:
        return trouble_with(say, missing_scopes, "setup_fix", WARN)
    return subject.finding(OK, "signed_in", login=token.login)


async def _model(subject: Examined) -> Finding:
    model = subject.settings.model
    if model.provider is Provider.OFFLINE:
        return subject.finding(OK, "offline")
    if model.provider is Provider.GEMINI:
        return await _gemini_key(subject)
    try:
        status, _ = await _get(f"{model.base_url.rstrip('/')}/models")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        trouble = reason("server_away", url=model.base_url, error=type(error).__name__)
        return trouble_with(subject.language, trouble, "setup_fix")
    if status in {401, 403}:
        trouble = reason("server_key", status=status)
        return trouble_with(subject.language, trouble, "setup_fix")
    return OK, model.reply_model, ""


async def _gemini_key(subject: Examined) -> Finding:
    """Check that there is a key for Gemini, which is not asked: a call could cost money."""
    model = subject.settings.model
    name = key_variable(model)
    folder = login_folder(subject.database)
    environment = await asyncio.to_thread(
        environment_with_key, model, folder, use_keyring=subject.use_keyring
    )
    if not environment.get(name):
        return subject.finding(BAD, "no_key", name=name)
    return OK, model.reply_model, ""


async def _get(url: str) -> tuple[int, str]:
    """Return status and date of an answer."""
    async with web_session(_ANSWER_TIMEOUT) as session, session.get(url) as answer:
        return answer.status, answer.headers.get("Date", "")


# One check, named after its text in the table [check.name]; a coroutine, or run in a thread.
OneCheck = Callable[[Examined], Finding | Awaitable[Finding]]
COMPUTER: tuple[OneCheck, ...] = (_versions, _folder, _disk, _clock, _memory, _backups)
PARTS: tuple[OneCheck, ...] = (_settings, _bot, _login, _model)


# The running bot.


def running_checks(
    state: BotState,
    settings: Settings,
    channel: Mapping[str, str] = MappingProxyType({}),
    now: int = 0,
    say: Language = ENGLISH,
) -> list[Check]:
    """Return every part of the bot in a sentence.

    `channel`: the channel's state, which knows what was not heard. `now`: in ms. Pure.
    """

    def fine_or_trouble(
        trouble: str,
        fix: str,
        fine: Finding | None = None,
    ) -> Finding:
        if trouble:
            return trouble_with(say, trouble, fix)
        return fine or finding(say, OK, "fine")

    models = " + ".join(dict.fromkeys((state.reply_model, state.memory_model)))
    fine_model: Finding = (OK, models, "")
    if settings.model.provider is Provider.OFFLINE:
        fine_model = finding(say, OK, "offline")
    tasks = " ".join(
        f"{say.reason(trouble).rstrip('.')}." for trouble in state.task_troubles
    )
    parts = {
        "chat": _chat(state, settings, _gaps(channel, now, say), say),
        "login": _signed_in(state, say),
        "sending": fine_or_trouble(state.sending_trouble, "sending_fix"),
        "model": fine_or_trouble(state.model_trouble, "setup_fix", fine_model),
        "summaries": fine_or_trouble(state.memory_trouble, "again_fix"),
        "memory_file": fine_or_trouble(state.file_trouble, "file_fix"),
        "tasks": fine_or_trouble(tasks, "again_fix"),
        "spending": fine_or_trouble(state.saving, "again_fix"),
        "dock": fine_or_trouble(state.port_trouble, "port_fix"),
        "settings": (OK, state.settings_file or say("check.fine"), ""),
    }
    if state.hearing:
        fine = say(
            "page.hearing.listening"
            if state.hearing.listening
            else "page.hearing.stopped"
        )
        parts["hearing"] = fine_or_trouble(
            state.hearing.trouble, "again_fix", (OK, fine, "")
        )
    return [Check(say(f"check.name.{name}"), *result) for name, result in parts.items()]


def _gaps(
    channel: Mapping[str, str],
    now: int,
    say: Language,
) -> str:
    """Return what was not heard of chat, and why, as a sentence; empty if there is nothing."""
    gaps = gaps_sentence(channel, now, say)
    if not gaps:
        return ""
    cause = say.reason(read_reason(channel.get("gap_reason", ""))).rstrip(".")
    return f"{gaps} ({cause})." if cause else f"{gaps}."


def _chat(
    state: BotState,
    settings: Settings,
    gaps: str,
    say: Language,
) -> Finding:
    if state.phase == "connected":
        return finding(say, OK, "reading", channel=settings.twitch.channel, gaps=gaps)
    if state.phase == "none":
        return finding(say, WARN, "no_channel")
    trouble = say.reason(state.phase_trouble) or say("page.frame.connecting")
    return trouble_with(say, f"{trouble} {gaps}".rstrip(), "again_fix")


def _signed_in(state: BotState, say: Language) -> Finding:
    if state.login_trouble:
        # what names a command is mended by its user; a network or a full disk is not mended by another log-in
        fix = "setup_fix" if "`forgetmenot" in state.login_trouble else "again_fix"
        return trouble_with(say, state.login_trouble, fix)
    if state.login_hint:
        return trouble_with(say, state.login_hint, "setup_fix", WARN)
    if not state.login:
        return trouble_with(say, reason("bot_not_in"), "setup_fix", WARN)
    return finding(say, OK, "signed_in", login=state.login)
