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

import aiohttp
from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot import __version__
from forgetmenot.dock.security import HOST
from forgetmenot.durations import DAY, SECOND
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.files import is_locked
from forgetmenot.languages import ENGLISH, Language, read_reason, reason
from forgetmenot.llm.build import environment_with_key, key_variable
from forgetmenot.network import web_session
from forgetmenot.operations.actions import lacking
from forgetmenot.operations.handlers.switches import gaps_sentence
from forgetmenot.ports import BotState, Check, HearingState
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
# What `_get` raises where a server cannot be reached, or its address is none.
_UNREACHABLE = (aiohttp.ClientError, OSError, TimeoutError, ValueError)
# Bytes
MEGABYTE = 1_000_000
GIGABYTE = 1_000 * MEGABYTE
LITTLE_SPACE = 500 * MEGABYTE
CLOCK_OFF_S = 120
BACKUP_OLD = 14 * DAY
PACKAGES = ("aiohttp", "twitchio", "google-genai")


class Finding(Struct, frozen=True):
    """What a check has found: a text of the table [check] with its values.

    With a `line`, a reason or any other text, that is shown, and the text of `key` is what to do about it.
    """

    state: str
    key: str
    values: Mapping[str, object] = {}
    line: str = ""


def ok(key: str = "fine", **values: object) -> Finding:
    """Return the finding that all is well."""
    return Finding(OK, key, values)


def warn(key: str, **values: object) -> Finding:
    """Return a finding of something that works, but is not as it should be."""
    return Finding(WARN, key, values)


def bad(key: str, **values: object) -> Finding:
    """Return a finding of something that does not work."""
    return Finding(BAD, key, values)


def ok_as(line: str) -> Finding:
    """Return the finding that all is well, in a line of its own."""
    return Finding(OK, "fine", line=line)


def trouble(line: str, fix: str, state: str = BAD) -> Finding:
    """Return a finding whose line is a reason. `fix`: the key of its fix."""
    return Finding(state, fix, line=line)


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


async def examine(subject: Examined) -> list[Check]:
    """Return the results of all checks, in the order in which a streamer would fix things."""
    time_limit = None if subject.verify else TIME_LIMIT_S
    checks = COMPUTER if subject.open_memory else COMPUTER | PARTS
    findings: dict[str, Finding] = {}
    for name, check in checks.items():
        try:
            async with asyncio.timeout(time_limit):
                # Most look at files. Of a coroutine the thread only makes it.
                answer = await asyncio.to_thread(check, subject)
                if not isinstance(answer, Finding):
                    answer = await answer
                findings[name] = answer
        except TimeoutError:
            findings[name] = warn("too_slow")
        except ForgetMeNotError as error:
            findings[name] = trouble(str(error), "restore_fix")
    return _in_words(findings, subject.language)


def _in_words(findings: Mapping[str, Finding], language: Language) -> list[Check]:
    """Return findings in a language. They are named by keys of the table [check.name]."""
    checks = []
    for name, finding in findings.items():
        line, fix = language.pair(f"check.{finding.key}")
        if finding.line:
            fix = line
            line = language.reason(finding.line)
        else:
            line = line.format_map(finding.values).rstrip()
            fix = fix.format_map(finding.values)
        if finding.state == OK:
            fix = ""
        check = Check(
            name=language(f"check.name.{name}"),
            state=finding.state,
            line=line,
            fix=fix,
        )
        checks.append(check)
    return checks


def report(checks: list[Check]) -> dict[str, object]:
    """Return the checks as JSON; `ok` is False if one is bad."""
    states = [check.state for check in checks]
    return {
        "ok": BAD not in states,
        "checks": [asdict(check) for check in checks],
    }


# This computer.


def _versions(_subject: Examined) -> Finding:
    python = platform.python_version()
    ours = f"ForgetMeNot {__version__}, Python {python}, SQLite {SQLITE_VERSION}"
    packages = []
    for name in PACKAGES:
        version = metadata.version(name)
        packages.append(f"{name} {version}")
    packages_text = ", ".join(packages)
    return ok_as(f"{ours}; {packages_text}.")


def _folder(subject: Examined) -> Finding:
    """Check that the data folder can be written, and that no other user can read it."""
    folder = subject.database.parent
    if not folder.is_dir():
        return ok_as(str(folder))
    if not os.access(folder, os.W_OK):
        return bad("folder_locked", folder=folder)
    # on Windows the rights of a profile's folder are lists, and closed to other users as they come
    is_open = folder.stat().st_mode & 0o077
    if is_open and os.name != "nt":
        return warn("folder_open", folder=folder)
    return ok_as(str(folder))


def _disk(subject: Examined) -> Finding:
    folder = subject.database.parent
    # the folder is made at the first start
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    state = WARN if free < LITTLE_SPACE else OK
    size = _decimal(free / GIGABYTE, subject.language)
    return Finding(state, "disk", {"size": size})


def _decimal(number: float, language: Language) -> str:
    """Return a number with one decimal."""
    text = f"{number:.1f}"
    return text.replace(".", language("decimal"))


async def _clock(subject: Examined) -> Finding:
    """Compare this computer's time with Twitch's, by the date of an answer; any answer will do."""
    url = subject.settings.twitch.helix_url
    try:
        _, date = await _get(url)
        server_time = parsedate_to_datetime(date).timestamp()
    except _UNREACHABLE as error:
        why = subject.language.reason(network_reason(error))
        return bad("no_network", error=why)
    difference_s = abs(time.time() - server_time)
    if difference_s > CLOCK_OFF_S:
        minutes = round(difference_s / 60)
        return warn("clock_off", n=minutes)
    return ok()


async def _memory(subject: Examined) -> Finding:
    """Check the memory; a file that is not open is opened for it.

    Rows are judged as of the last line heard: what ages while no bot runs is deleted at the next start.
    """
    if subject.open_memory is not None:
        return await _memory_in(subject.open_memory, subject)
    path = subject.database
    if not path.is_file():
        return warn("memory_none", path=path)
    async with open_database(path) as db:
        return await _memory_in(db, subject)


async def _memory_in(db: Database, subject: Examined) -> Finding:
    """Return what is wrong with an open memory: a damaged file, or rows that break a guarantee; else its size."""
    damage = await db.damage()
    if damage:
        line = subject.language("check.damaged", damage=damage)
        return trouble(line, "restore_fix")
    broken = await _broken_promises(db, subject)
    if broken:
        promises = "; ".join(broken)
        return bad("memory_broken", promises=promises)
    megabytes = db.path.stat().st_size / MEGABYTE
    size = _decimal(megabytes, subject.language)
    unread = await events.count_unread(db)
    unread_text = subject.language.number(unread)
    return ok("memory", size=f"{size} MB", n=unread_text)


async def _broken_promises(db: Database, subject: Examined) -> list[str]:
    """Return what the rows break of the guarantees, each as a line."""
    # The dock asks while the bot works: a few counts do there, and reading every row is for `verify`.
    if not subject.verify:
        return await invariants.broken_guarantees(db)
    last_heard = await streams.last_heard(db)
    keep_h = subject.settings.memory.raw_events_h
    violations = await invariants.verify(
        db,
        now=last_heard,
        keep_h=keep_h,
    )
    return [str(violation) for violation in violations]


def _backups(subject: Examined) -> Finding:
    backups = backup.copies_of(subject.database)
    if not backups:
        return warn("no_backup")
    made_at = backups[0].stat().st_mtime
    age_s = time.time() - made_at
    age_ms = round(age_s * SECOND)
    values = {
        "n": len(backups),
        "age": subject.language.duration(age_ms, "age"),
    }
    state = WARN if age_ms > BACKUP_OLD else OK
    return Finding(state, "backups", values)


# The parts of a bot, as far as they can be seen from outside.


def _settings(subject: Examined) -> Finding:
    if subject.trouble:
        return trouble(subject.trouble, "settings_fix")
    if not subject.settings.twitch.channel:
        return warn("no_channel")
    return ok_as(str(subject.settings_file or ""))


async def _bot(subject: Examined) -> Finding:
    if is_locked(subject.database):
        return ok("bot_runs")
    # No bot runs on this memory: whatever answers at its port is another program.
    port = subject.settings.dock.port
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(1):
            _, writer = await asyncio.open_connection(HOST, port)
        writer.close()
        return warn("port_taken", port=port)
    return ok("bot_off")


def _login(subject: Examined) -> Finding:
    settings = subject.settings
    if not settings.twitch.client_id:
        make_app = reason("make_app")
        unset = reason("client_unset", make_app=make_app)
        return trouble(unset, "setup_fix", WARN)
    # what is stored here is looked at; Twitch is not asked, because asking would renew the log-in
    folder = login_folder(subject.database)
    store = TokenStore(folder, use_keyring=subject.use_keyring)
    token = store.load(Account.BOT)
    if token is None:
        return trouble(reason("bot_not_in"), "setup_fix", WARN)
    # A log-in that was stored without its scopes is not blamed for them.
    if token.scopes:
        missing = lacking(Account.BOT, settings, token.scopes)
        if missing.trouble:
            return trouble(missing.trouble, "setup_fix", WARN)
    return ok("signed_in", login=token.login)


async def _model(subject: Examined) -> Finding:
    model = subject.settings.model
    if model.provider is Provider.OFFLINE:
        return ok("offline")
    if model.provider is Provider.GEMINI:
        return await asyncio.to_thread(_gemini_key, subject)
    # The list of models costs nothing, and refuses a wrong key as a reply would.
    address = model.base_url.rstrip("/")
    try:
        status, _ = await _get(f"{address}/models")
    except _UNREACHABLE as error:
        kind = type(error).__name__
        away = reason("server_away", url=model.base_url, error=kind)
        return trouble(away, "setup_fix")
    if status in {401, 403}:
        refused = reason("server_key", status=status)
        return trouble(refused, "setup_fix")
    return ok_as(model.reply_model)


def _gemini_key(subject: Examined) -> Finding:
    """Check that there is a key for Gemini, which is not asked: a call could cost money."""
    model = subject.settings.model
    name = key_variable(model)
    environment = environment_with_key(
        model,
        login_folder(subject.database),
        use_keyring=subject.use_keyring,
    )
    if not environment.get(name):
        return bad("no_key", name=name)
    return ok_as(model.reply_model)


async def _get(url: str) -> tuple[int, str]:
    """Return status and date of an answer."""
    async with web_session(_ANSWER_TIMEOUT) as session, session.get(url) as answer:
        date = answer.headers.get("Date", "")
        return answer.status, date


# One check; a coroutine, or run in a thread.
OneCheck = Callable[[Examined], Finding | Awaitable[Finding]]
# By the name of their text in the table [check.name].
COMPUTER: dict[str, OneCheck] = {
    "versions": _versions,
    "folder": _folder,
    "disk": _disk,
    "clock": _clock,
    "memory": _memory,
    "backups": _backups,
}
PARTS: dict[str, OneCheck] = {
    "settings": _settings,
    "bot": _bot,
    "login": _login,
    "model": _model,
}


# The running bot.


def running_checks(
    state: BotState,
    settings: Settings,
    channel: Mapping[str, str],
    now: int,
    language: Language,
) -> list[Check]:
    """Return every part of the bot in a sentence.

    `channel`: the channel's state, which knows what was not heard. `now`: in ms. Pure.
    """
    gaps = _gaps(channel, now, language)
    task_trouble = _task_troubles(state, language)
    findings = {
        "chat": _chat(state, settings, gaps, language),
        "login": _signed_in(state),
        "sending": _part(state.sending_trouble, "sending_fix"),
        "model": _running_model(state, settings),
        "summaries": _part(state.memory_trouble, "again_fix"),
        "memory_file": _part(state.file_trouble, "file_fix"),
        "tasks": _part(task_trouble, "again_fix"),
        "spending": _part(state.saving, "again_fix"),
        "dock": _part(state.port_trouble, "port_fix"),
        "settings": ok_as(state.settings_file),
    }
    if state.hearing:
        findings["hearing"] = _hearing(state.hearing, language)
    return _in_words(findings, language)


def _part(trouble_line: str, fix: str) -> Finding:
    if trouble_line:
        return trouble(trouble_line, fix)
    return ok()


def _running_model(state: BotState, settings: Settings) -> Finding:
    if state.model_trouble:
        return trouble(state.model_trouble, "setup_fix")
    if settings.model.provider is Provider.OFFLINE:
        return ok("offline")
    # Often one model does both.
    if state.reply_model == state.memory_model:
        return ok_as(state.reply_model)
    return ok_as(f"{state.reply_model} + {state.memory_model}")


def _task_troubles(state: BotState, language: Language) -> str:
    """Return the troubles of all periodic tasks, each as a sentence."""
    sentences = []
    for task_trouble in state.task_troubles:
        sentence = language.reason(task_trouble).rstrip(".")
        sentences.append(f"{sentence}.")
    return " ".join(sentences)


def _hearing(hearing: HearingState, language: Language) -> Finding:
    if hearing.trouble:
        return trouble(hearing.trouble, "again_fix")
    state = "listening" if hearing.listening else "stopped"
    return ok_as(language(f"page.hearing.{state}"))


def _gaps(
    channel: Mapping[str, str],
    now: int,
    language: Language,
) -> str:
    """Return what was not heard of chat, and why, as a sentence; empty if there is nothing."""
    gaps = gaps_sentence(channel, now, language)
    if not gaps:
        return ""
    stored_reason = channel.get("gap_reason", "")
    gap_reason = read_reason(stored_reason)
    cause = language.reason(gap_reason).rstrip(".")
    if not cause:
        return f"{gaps}."
    return f"{gaps} ({cause})."


def _chat(
    state: BotState,
    settings: Settings,
    gaps: str,
    language: Language,
) -> Finding:
    if state.phase == "connected":
        channel = settings.twitch.channel
        return ok("reading", channel=channel, gaps=gaps)
    if state.phase == "none":
        return warn("no_channel")
    line = language.reason(state.phase_trouble)
    if not line:
        line = language("page.frame.connecting")
    return trouble(f"{line} {gaps}".rstrip(), "again_fix")


def _signed_in(state: BotState) -> Finding:
    if state.login_trouble:
        # what names a command is mended by its user; a network or a full disk is not mended by another log-in
        names_command = "`forgetmenot" in state.login_trouble
        fix = "setup_fix" if names_command else "again_fix"
        return trouble(state.login_trouble, fix)
    if state.login_hint:
        return trouble(state.login_hint, "setup_fix", WARN)
    if not state.login:
        return trouble(reason("bot_not_in"), "setup_fix", WARN)
    return ok("signed_in", login=state.login)
