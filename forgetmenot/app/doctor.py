"""`forgetmenot doctor`: checks everything the bot needs, with a fix for each problem.

Guarantees:
- It changes no setting and sends nothing: no message, no renewed log-in, no model call. A memory of an older version is
  brought to the newest one when it is opened.
- Each check has its own time limit, and a failing one does not stop the others.
- The report holds no chat, no viewer and no secret, so that it can be sent to somebody.
"""

import asyncio
import contextlib
import json
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

import aiohttp

from forgetmenot import __version__
from forgetmenot.dock.security import HOST
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.languages import ENGLISH, Language, read_reason
from forgetmenot.llm.build import environment_with_key
from forgetmenot.logs import mask
from forgetmenot.network import proxy_for, trusted
from forgetmenot.operations.catalogue import lacking, scopes_for
from forgetmenot.operations.switches import gaps_sentence
from forgetmenot.ports import BotState, Check, HearingState
from forgetmenot.secret_store import Account, TokenStore, login_folder
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.store import backup, events, invariants, personal_data, streams
from forgetmenot.store.database import SQLITE_VERSION, open_database
from forgetmenot.store.file_safety import is_locked, synced_by
from forgetmenot.twitch.errors import network_reason

OK, WARN, BAD = "ok", "warn", "bad"
WITHIN_S = 8.0
LITTLE_SPACE = 500_000_000  # bytes
CLOCK_OFF_S = 120
LOG_LINES = 2_000  # of the end of the log, in a report
MEASURED = ("aiohttp", "twitchio", "google-genai")
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
    language: Language = ENGLISH

    def says(self, part: str, state: str, line: str, fix: str = "", /, **values: object) -> Check:
        """A check with its texts in the language of the report."""
        return _check(self.language, part, state, line, fix, **values)

    @property
    def chosen(self) -> Settings:
        """The settings; the defaults where they could not be read."""
        return self.settings or Settings()


async def examine(what: Examined) -> list[Check]:
    """All checks, in the order in which a streamer would fix things."""
    results = [await _guarded(what, check) for check in (COMPUTER if what.running else COMPUTER + PARTS)]
    return [*results, await _promises(what)] if what.verify else results


def _check(language: Language, part: str, state: str, line: str, fix: str = "", /, **values: object) -> Check:
    """A check with its texts, by their keys in the table [check]; what it says to do only where something is wrong."""
    mend = language(f"check.{fix}", **values) if fix and state != OK else ""
    return Check(language(f"check.name.{part}"), state, language(f"check.{line}", **values).rstrip(), mend)


def report(checks: list[Check]) -> dict[str, object]:
    """The checks as JSON; `ok` is False if one is bad."""
    return {"ok": all(check.state != BAD for check in checks), "checks": [asdict(check) for check in checks]}


async def bundle(checks: list[Check], what: Examined) -> dict[str, object]:
    """A report for support: the checks and the end of the log, without names, secrets and the home folder."""
    log_file = what.database.parent / "logs" / "forgetmenot.log"
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = log_file.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
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
        text, home = mask(value), str(Path.home())
        for written in (json.dumps(home)[1:-1], home, Path.home().as_posix()):  # the log's lines are JSON
            text = text.replace(written, "~")
        return re.sub(r"\w+", lambda word: "•••" if word[0].lower() in names else word[0], text)
    if isinstance(value, list):
        return [_without(part, names) for part in value]
    if isinstance(value, dict):
        return {key: part if key in {"name", "state"} else _without(part, names) for key, part in value.items()}
    return value


async def _guarded(what: Examined, check: "OneCheck") -> Check:
    say = what.language
    try:
        async with asyncio.timeout(WITHIN_S):
            found = await asyncio.to_thread(check, what)  # of a coroutine this only makes it
            return found if isinstance(found, Check) else await found
    except TimeoutError:
        return what.says("time", WARN, "too_slow", "too_slow_fix")
    except ForgetMeNotError as error:
        return Check(say("check.name.memory"), BAD, say.reason(str(error)), say("check.restore_fix"))


def _versions(what: Examined) -> Check:
    from importlib import metadata

    packages = ", ".join(f"{name} {metadata.version(name)}" for name in MEASURED)
    ours = f"ForgetMeNot {__version__}, Python {platform.python_version()}, SQLite {SQLITE_VERSION}"
    return Check(what.language("check.name.versions"), OK, f"{ours}; {packages}.")


def _settings(what: Examined) -> Check:
    say = what.language
    if what.trouble:
        return Check(say("check.name.settings"), BAD, say.reason(what.trouble), say("check.settings_fix"))
    if what.settings_file is None:
        return what.says("settings", WARN, "settings_none", "settings_none_fix")
    if not what.chosen.twitch.channel:
        return what.says("settings", WARN, "channel_unset", "channel_unset_fix")
    return what.says("settings", OK, "settings_from", file=what.settings_file)


def _folder(what: Examined) -> Check:
    folder = what.database.parent
    if not folder.is_dir():
        return what.says("folder", WARN, "folder_new", "folder_new_fix", folder=folder)
    if not os.access(folder, os.W_OK):
        return what.says("folder", BAD, "folder_locked", "folder_locked_fix", folder=folder)
    if service := synced_by(folder):
        values = {"service": service, "folder": folder}
        return what.says("folder", WARN, "folder_synced", "folder_synced_fix", **values)
    if os.name != "nt" and folder.stat().st_mode & 0o077:
        return what.says("folder", WARN, "folder_open", "folder_open_fix", folder=folder)
    return what.says("folder", OK, "folder", folder=folder)


def _disk(what: Examined) -> Check:
    folder = what.database.parent
    free = shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free
    size = f"{free / 1e9:.1f}".replace(".", what.language("decimal"))
    return what.says("disk", WARN if free < LITTLE_SPACE else OK, "disk", "disk_fix", size=size)


async def _clock(what: Examined) -> Check:
    """This computer's time against Twitch's, by the date of an answer; any answer will do."""
    try:
        async with _session() as session, _get(session, what.chosen.twitch.helix_url) as answer:
            server_time = parsedate_to_datetime(answer.headers["Date"]).timestamp()
    except (aiohttp.ClientError, OSError, TimeoutError, KeyError, ValueError) as error:
        why = what.language.reason(network_reason(error))
        return what.says("clock", BAD, "no_network", "no_network_fix", error=why)
    off = time.time() - server_time
    if abs(off) > CLOCK_OFF_S:
        line = "clock_ahead" if off > 0 else "clock_behind"
        return what.says("clock", WARN, line, "clock_fix", n=f"{abs(off) / 60:.0f}")
    return what.says("clock", OK, "clock")


async def _memory(what: Examined) -> Check:
    say, database = what.language, what.database
    if not database.is_file():
        return what.says("memory", WARN, "memory_none", "folder_new_fix", path=database)
    async with open_database(database) as db:
        damage = await db.damage()
        broken, unread = await invariants.broken(db), await events.count_unread(db)
    if damage:
        return what.says("memory", BAD, "damaged", "restore_fix", damage=damage)
    size = f"{database.stat().st_size / 1e6:.1f} MB".replace(".", say("decimal"))
    if broken:
        return what.says("memory", BAD, "memory_broken", "report_fix", size=size, promises=", ".join(broken))
    return what.says("memory", OK, "memory", size=size, n=say.number(unread))


async def _promises(what: Examined) -> Check:
    """Check the guarantees, as of the last line: chat that ages while no bot runs is deleted at the next start."""
    say = what.language
    if not what.database.is_file():
        return what.says("promises", OK, "promises_none")
    try:
        async with open_database(what.database) as db:
            now = await streams.last_heard(db)
            broken = await invariants.verify(db, now=now, keep_h=what.chosen.memory.raw_events_h)
    except ForgetMeNotError as error:
        return Check(say("check.name.promises"), BAD, say.reason(str(error)), say("check.restore_fix"))
    if broken:
        return what.says("promises", BAD, "promises_broken", "report_fix", promises="; ".join(map(str, broken)))
    return what.says("promises", OK, "promises")


def _backups(what: Examined) -> Check:
    kept = backup.copies_of(what.database)
    if not kept:
        return what.says("backups", WARN, "no_backup", "no_backup_fix")
    age_d = (time.time() - kept[0].stat().st_mtime) / 86_400
    values = {"n": len(kept), "days": f"{age_d:.0f}"}
    return what.says("backups", WARN if age_d > 14 else OK, "backups", "backups_fix", **values)


def _instance(what: Examined) -> Check:
    return what.says("bot", OK, "bot_runs" if is_locked(what.database) else "bot_off")


async def _dock(what: Examined) -> Check:
    port = what.chosen.dock.port
    if not port:
        return what.says("dock", WARN, "dock_off", "dock_off_fix")
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(HOST, port), 1)
    except (OSError, TimeoutError):
        return what.says("dock", OK, "port_free", port=port)
    writer.close()
    if is_locked(what.database):
        return what.says("dock", OK, "dock_runs", port=port)
    return what.says("dock", WARN, "port_taken", "port_taken_fix", port=port)


def _login(what: Examined) -> Check:
    say, settings = what.language, what.chosen
    if not settings.twitch.client_id:
        return what.says("login", WARN, "client_unset", "client_unset_fix", make_app=say("reason.make_app"))
    store = _tokens(what)
    token = store.load(Account.BOT)
    if token is None:
        return what.says("login", WARN, "nobody_in", "nobody_in_fix")
    if token.scopes and (missing := lacking(Account.BOT, settings, token.scopes)):
        return Check(say("check.name.login"), WARN, say.reason(missing), say("check.rights_fix"))
    if scopes_for(Account.BROADCASTER, settings) and store.load(Account.BROADCASTER) is None:
        return what.says("login", OK, "streamer_out", login=token.login)
    return what.says("login", OK, "signed_in", login=token.login)


def _tokens(what: Examined) -> TokenStore:
    return TokenStore(login_folder(what.database), use_keyring=what.use_keyring)


async def _model(what: Examined) -> Check:
    chosen = what.chosen.model
    if chosen.provider is Provider.OFFLINE:
        return what.says("model", OK, "offline")
    if chosen.provider is Provider.GEMINI:
        return await asyncio.to_thread(_gemini_key, what)
    address = f"{chosen.base_url.rstrip('/')}/models"
    try:
        async with _session() as session, _get(session, address) as answer:
            if answer.status in {401, 403}:
                return what.says("model", BAD, "key_refused", "key_refused_fix", address=chosen.base_url)
            return what.says("model", OK, "server_answers", address=chosen.base_url, model=chosen.reply_model)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        here = any(ending in chosen.base_url for ending in LOCAL_ENDINGS)
        fix = "no_server_here_fix" if here else "no_server_fix"
        return what.says("model", BAD, "no_server", fix, address=chosen.base_url)


def _gemini_key(what: Examined) -> Check:
    model = what.chosen.model
    name = model.api_key_env or "GEMINI_API_KEY"
    if os.environ.get(name):
        return what.says("model", OK, "key_env", model=model.reply_model, name=name)
    folder = login_folder(what.database)
    if environment_with_key(model, folder, use_keyring=what.use_keyring).get(name):
        return what.says("model", OK, "key_kept", model=model.reply_model)
    return what.says("model", BAD, "no_key", "no_key_fix", name=name)


def _session() -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=5)
    return aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(ssl=trusted()))


def _get(session: aiohttp.ClientSession, url: str) -> "aiohttp.client._RequestContextManager":
    proxy, headers = proxy_for(url)
    return session.get(url, proxy=proxy, proxy_headers=headers)


OneCheck = Callable[[Examined], Check | Awaitable[Check]]
"""One check; a coroutine, or run in a thread."""
COMPUTER: tuple[OneCheck, ...] = (_versions, _folder, _disk, _clock, _memory, _backups)
PARTS: tuple[OneCheck, ...] = (_settings, _instance, _dock, _login, _model)


# The running bot.


def running_checks(
    state: BotState, settings: Settings, gaps: str = "", failing: str = "", say: Language = ENGLISH
) -> list[Check]:
    """Every part in a sentence. `gaps`: what was not heard; `failing`: what it cannot do, in sentences. Pure."""
    where = ("settings_from", {"file": state.settings_file}) if state.settings_file else ("settings_default", {})
    return [
        _chat(state, settings, gaps, say),
        _running_login(state, say),
        _running_model(state, settings, say),
        _trouble(say, "summaries", state.memory_trouble),
        _tasks(state, say),
        _replies(state, settings, say),
        _trouble(say, "actions", failing),
        _trouble(say, "spending", state.saving),
        *([_hearing(say, state.hearing)] if state.hearing else []),
        _check(say, "settings", OK, where[0], **where[1]),
    ]


def _trouble(say: Language, name: str, trouble: str) -> Check:
    if not trouble:
        return _check(say, name, OK, name)
    return Check(say(f"check.name.{name}"), BAD, say.reason(trouble), say(f"check.{name}_fix"))


def _hearing(say: Language, hearing: HearingState) -> Check:
    if hearing.trouble:
        return Check(say("check.name.hearing"), WARN, say.reason(hearing.trouble), say("check.hearing_fix"))
    return _check(say, "hearing", OK, "hearing" if hearing.listening else "hearing_stopped")


def _chat(state: BotState, settings: Settings, gaps: str, say: Language) -> Check:
    channel = settings.twitch.channel or say("check.the_channel")
    if state.phase == "connected":
        return _check(say, "chat", OK, "reading", channel=channel, gaps=gaps)
    if state.phase == "none":
        return _check(say, "chat", WARN, "no_channel", "no_channel_fix")
    trouble = say.reason(state.phase_trouble) or say("check.connecting", channel=channel)
    return Check(say("check.name.chat"), BAD, f"{trouble} {gaps}".rstrip(), say("check.connecting_fix"))


def _running_login(state: BotState, say: Language) -> Check:
    if state.login_trouble:
        fix = "login_type_fix" if " `forgetmenot login" in state.login_trouble else "login_again_fix"
        return Check(say("check.name.login"), BAD, say.reason(state.login_trouble), say(f"check.{fix}"))
    if state.login_hint:
        return Check(say("check.name.login"), WARN, say.reason(state.login_hint), say("check.login_hint_fix"))
    if not state.login:
        return _check(say, "login", WARN, "not_signed_in", "not_signed_in_fix")
    return _check(say, "login", OK, "signed_in", login=state.login)


def _running_model(state: BotState, settings: Settings, say: Language) -> Check:
    if state.model_trouble:
        return Check(say("check.name.model"), BAD, say.reason(state.model_trouble), say("check.model_fix"))
    if settings.model.provider is Provider.OFFLINE:
        return _check(say, "model", OK, "no_model")
    first, second = state.reply_model, state.memory_model
    models = first if first == second else say("check.models_and", first=first, second=second)
    return _check(say, "model", OK, "model_answers", models=models)


def _tasks(state: BotState, say: Language) -> Check:
    troubles = {task.name: say.reason(task.trouble).rstrip(".") for task in state.tasks if task.trouble}
    lines = [say("check.task_failed", task=name, trouble=trouble) for name, trouble in troubles.items()]
    if lines:
        return Check(say("check.name.tasks"), BAD, " ".join(lines), say("check.tasks_fix"))
    return _check(say, "tasks", OK, "tasks", n=len(state.tasks))


def _replies(state: BotState, settings: Settings, say: Language) -> Check:
    if not state.login:
        return _check(say, "replies", WARN, "cannot_reply", "cannot_reply_fix")
    mode = say(f"check.{settings.bot.mode}")
    return _check(say, "replies", OK, "queued" if state.queued else settings.bot.mode, mode=mode, n=state.queued)


def gaps_line(state: Mapping[str, str], now: int, say: Language = ENGLISH) -> str:
    """What of chat was not heard, and why; empty if nothing."""
    line, reason = gaps_sentence(state, now, say), say.reason(read_reason(state.get("gap_reason", ""))).rstrip(".")
    return f"{line} ({reason})." if line and reason else f"{line}." if line else ""
