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
WITHIN_S = 8.0
_ANSWER_WITHIN = aiohttp.ClientTimeout(total=5)
LITTLE_SPACE = 500_000_000  # bytes
CLOCK_OFF_S = 120
BACKUP_OLD = 14 * DAY
MEASURED = ("aiohttp", "twitchio", "google-genai")
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

    def found(self, state: str, key: str, **values: object) -> Finding:
        """A finding by its key in the table [check]."""
        return found(self.language, state, key, **values)


def found(say: Language, state: str, key: str, /, **values: object) -> Finding:
    """A finding by its key in the table [check]: its line, and where something is wrong its fix."""
    line, fix = say.pair(f"check.{key}")
    return state, line.format(**values).rstrip(), "" if state == OK else fix.format(**values)


def trouble_with(say: Language, trouble: str, fix: str, state: str = BAD) -> Finding:
    """A finding whose line is a reason. `fix`: the key of its fix."""
    return state, say.reason(trouble), say(f"check.{fix}")


async def examine(what: Examined) -> list[Check]:
    """All checks, in the order in which a streamer would fix things."""
    checks: list[Check] = []
    for check in COMPUTER if what.open_memory else COMPUTER + PARTS:
        try:
            async with asyncio.timeout(None if what.verify else WITHIN_S):
                answer = await asyncio.to_thread(check, what)  # of a coroutine this only makes it
                finding = answer if isinstance(answer, tuple) else await answer
        except TimeoutError:
            finding = what.found(WARN, "too_slow")
        except ForgetMeNotError as error:
            finding = trouble_with(what.language, str(error), "restore_fix")
        checks.append(Check(what.language(f"check.name.{check.__name__[1:]}"), *finding))
    return checks


def report(checks: list[Check]) -> dict[str, object]:
    """The checks as JSON; `ok` is False if one is bad."""
    return {
        "ok": all(check.state != BAD for check in checks),
        "checks": [asdict(check) for check in checks],
    }


# This computer.


def _versions(_what: Examined) -> Finding:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in MEASURED)
    ours = f"ForgetMeNot {__version__}, Python {platform.python_version()}, SQLite {SQLITE_VERSION}"
    return OK, f"{ours}; {packages}.", ""


def _folder(what: Examined) -> Finding:
    folder = what.database.parent
    if folder.is_dir() and not os.access(folder, os.W_OK):
        return what.found(BAD, "folder_locked", folder=folder)
    # on Windows the rights of a profile's folder are lists, and closed to other users as they come
    if os.name != "nt" and folder.is_dir() and folder.stat().st_mode & 0o077:
        return what.found(WARN, "folder_open", folder=folder)
    return OK, str(folder), ""


def _disk(what: Examined) -> Finding:
    folder = what.database.parent
    free = shutil.disk_usage(
        next(place for place in (folder, *folder.parents) if place.exists())
    ).free
    size = f"{free / 1e9:.1f}".replace(".", what.language("decimal"))
    return what.found(WARN if free < LITTLE_SPACE else OK, "disk", size=size)


async def _clock(what: Examined) -> Finding:
    """This computer's time against Twitch's, by the date of an answer; any answer will do."""
    try:
        server_time = parsedate_to_datetime(
            (await _get(what.settings.twitch.helix_url))[1]
        ).timestamp()
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        return what.found(BAD, "no_network", error=what.language.reason(network_reason(error)))
    if (off := abs(time.time() - server_time)) > CLOCK_OFF_S:
        return what.found(WARN, "clock_off", n=f"{off / 60:.0f}")
    return what.found(OK, "fine")


async def _memory(what: Examined) -> Finding:
    """The guarantees are checked as of the last line: what ages while no bot runs is deleted at the next start."""
    if what.open_memory is not None:
        return await _memory_in(what.open_memory, what)
    if not what.database.is_file():
        return what.found(WARN, "memory_none", path=what.database)
    async with open_database(what.database) as db:
        return await _memory_in(db, what)


async def _memory_in(db: Database, what: Examined) -> Finding:
    say = what.language
    damage = await db.damage()
    if damage:
        return trouble_with(say, say("check.damaged", damage=damage), "restore_fix")
    if what.verify:
        now = await streams.last_heard(db)
        kept_h = what.settings.memory.raw_events_h
        violations = await invariants.verify(db, now=now, keep_h=kept_h)
        broken = [str(violation) for violation in violations]
    else:
        broken = await invariants.broken_guarantees(db)
    if broken:
        return what.found(BAD, "memory_broken", promises="; ".join(broken))
    size = f"{db.path.stat().st_size / 1e6:.1f} MB".replace(".", say("decimal"))
    unread = await events.count_unread(db)
    return what.found(OK, "memory", size=size, n=say.number(unread))


def _backups(what: Examined) -> Finding:
    kept = backup.copies_of(what.database)
    if not kept:
        return what.found(WARN, "no_backup")
    age = round((time.time() - kept[0].stat().st_mtime) * 1000)
    return what.found(
        WARN if age > BACKUP_OLD else OK,
        "backups",
        n=len(kept),
        age=what.language.duration(age, "age"),
    )


# The parts of a bot, as far as they can be seen from outside.


def _settings(what: Examined) -> Finding:
    if what.trouble:
        return trouble_with(what.language, what.trouble, "settings_fix")
    if not what.settings.twitch.channel:
        return what.found(WARN, "no_channel")
    return OK, str(what.settings_file or what.language("check.fine")), ""


async def _bot(what: Examined) -> Finding:
    port = what.settings.dock.port
    if is_locked(what.database):
        return what.found(OK, "bot_runs")
    with contextlib.suppress(OSError, TimeoutError):
        _, writer = await asyncio.wait_for(asyncio.open_connection(HOST, port), 1)
        writer.close()
        return what.found(WARN, "port_taken", port=port)
    return what.found(OK, "bot_off")


def _login(what: Examined) -> Finding:
    say = what.language
    settings = what.settings
    if not settings.twitch.client_id:
        return trouble_with(
            say, reason("client_unset", make_app=reason("make_app")), "setup_fix", WARN
        )
    # what is kept here is looked at; Twitch is not asked, because asking would renew the log-in
    token = TokenStore(login_folder(what.database), use_keyring=what.use_keyring).load(Account.BOT)
    if token is None:
        return trouble_with(say, reason("bot_not_in"), "setup_fix", WARN)
    if token.scopes and (missing := lacking(Account.BOT, settings, token.scopes)):
        return trouble_with(say, missing, "setup_fix", WARN)
    return what.found(OK, "signed_in", login=token.login)


async def _model(what: Examined) -> Finding:
    chosen = what.settings.model
    if chosen.provider is Provider.OFFLINE:
        return what.found(OK, "offline")
    if chosen.provider is Provider.GEMINI:
        name = key_variable(chosen)
        folder = login_folder(what.database)
        kept = await asyncio.to_thread(
            environment_with_key, chosen, folder, use_keyring=what.use_keyring
        )
        return (
            (OK, chosen.reply_model, "") if kept.get(name) else what.found(BAD, "no_key", name=name)
        )
    try:
        status, _ = await _get(f"{chosen.base_url.rstrip('/')}/models")
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        away = reason("server_away", url=chosen.base_url, error=type(error).__name__)
        return trouble_with(what.language, away, "setup_fix")
    if status in {401, 403}:
        refused = reason("server_key", status=status)
        return trouble_with(what.language, refused, "setup_fix")
    return OK, chosen.reply_model, ""


async def _get(url: str) -> tuple[int, str]:
    """Status and date of an answer."""
    async with web_session(_ANSWER_WITHIN) as session, session.get(url) as answer:
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
    """Every part in a sentence. `channel`: the channel's state, which knows what was not heard. Pure."""

    def unless(trouble: str, fix: str, fine: Finding | None = None) -> Finding:
        return trouble_with(say, trouble, fix) if trouble else fine or found(say, OK, "fine")

    gaps = gaps_sentence(channel, now, say)
    why = say.reason(read_reason(channel.get("gap_reason", ""))).rstrip(".")
    gaps = f"{gaps} ({why})." if gaps and why else f"{gaps}." if gaps else ""
    models = " + ".join(dict.fromkeys((state.reply_model, state.memory_model)))
    offline = settings.model.provider is Provider.OFFLINE
    tasks = " ".join(f"{say.reason(trouble).rstrip('.')}." for trouble in state.task_troubles)
    parts = {
        "chat": _chat(state, settings, gaps, say),
        "login": _signed_in(state, say),
        "sending": unless(state.sending_trouble, "sending_fix"),
        "model": unless(
            state.model_trouble,
            "setup_fix",
            found(say, OK, "offline") if offline else (OK, models, ""),
        ),
        "summaries": unless(state.memory_trouble, "again_fix"),
        "memory_file": unless(state.file_trouble, "file_fix"),
        "tasks": unless(tasks, "again_fix"),
        "spending": unless(state.saving, "again_fix"),
        "settings": (OK, state.settings_file or say("check.fine"), ""),
    }
    if state.hearing:
        fine = say("page.hearing.listening" if state.hearing.listening else "page.hearing.stopped")
        parts["hearing"] = unless(state.hearing.trouble, "again_fix", (OK, fine, ""))
    return [Check(say(f"check.name.{name}"), *finding) for name, finding in parts.items()]


def _chat(state: BotState, settings: Settings, gaps: str, say: Language) -> Finding:
    if state.phase == "connected":
        return found(say, OK, "reading", channel=settings.twitch.channel, gaps=gaps)
    if state.phase == "none":
        return found(say, WARN, "no_channel")
    trouble = say.reason(state.phase_trouble) or say("page.frame.connecting")
    return trouble_with(say, f"{trouble} {gaps}".rstrip(), "again_fix")


def _signed_in(state: BotState, say: Language) -> Finding:
    if state.login_trouble:
        # what names a command is mended by its user; a network or a full disk is not mended by another log-in
        return trouble_with(
            say,
            state.login_trouble,
            "setup_fix" if "`forgetmenot" in state.login_trouble else "again_fix",
        )
    if state.login_hint:
        return trouble_with(say, state.login_hint, "setup_fix", WARN)
    if not state.login:
        return trouble_with(say, reason("bot_not_in"), "setup_fix", WARN)
    return found(say, OK, "signed_in", login=state.login)
