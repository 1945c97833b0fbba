"""The Health panel: each part of the bot in a sentence, with what to do; and the promises as live figures."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from aiohttp import web

from forgetmenot.actions import switches
from forgetmenot.clock import HOUR, MINUTE
from forgetmenot.dock.desk import DESK, Desk, answer
from forgetmenot.dock.security import HOST
from forgetmenot.ports import BotState
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.store import backup, channel_state
from forgetmenot.store.dock import figures as dock_figures
from forgetmenot.text.gaps import gaps_told

GRACE = 20 * MINUTE  # between two sweeps


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the bot: `state` is ok, off or trouble; `fix` says what to do about it."""

    name: str
    state: str
    line: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise as a figure. `kept` None: it is only told, there is nothing to keep."""

    line: str
    figure: str
    kept: bool | None


def parts(state: BotState, settings: Settings, gaps: str = "", failing: str = "") -> list[Part]:
    """Every part in a sentence. `gaps`: what was not heard; `failing`: what it cannot do, in sentences. Pure."""
    return [
        _chat(state, settings, gaps),
        _login(state),
        _model(state, settings),
        Part("Memory", "trouble" if state.memory_trouble else "ok", state.memory_trouble or _MEMORY, _WAIT),
        _chores(state),
        _replies(state, settings),
        Part("Actions", "trouble" if failing else "ok", failing or "None failed three times in a row.", _ENABLE),
        Part("Settings", "ok", _where(state)),
    ]


_MEMORY = "Chat becomes episodes, and episodes become notes."
_ENABLE = (
    "Mend what the log says is missing, then type `!bot resume` in chat or `forgetmenot actions enable` in a terminal."
)
_WAIT = "Nothing is lost meanwhile: it is read as soon as the model answers."


def _chat(state: BotState, settings: Settings, gaps: str) -> Part:
    channel = settings.twitch.channel or "the channel"
    if state.phase == "connected":
        return Part("Chat", "ok", f"Reading {channel}. {gaps}".rstrip())
    if state.phase == "none":
        fix = "Start it with `forgetmenot listen CHANNEL`, or name `channel` in the table [twitch] of your settings."
        return Part("Chat", "off", "No channel is being read.", fix)
    trouble = state.phase_trouble or f"Connecting to {channel} …"
    fix = "It tries again by itself. If it lasts, look at the network, and at twitch.tv in a browser."
    return Part("Chat", "trouble", f"{trouble} {gaps}".rstrip(), fix)


def _login(state: BotState) -> Part:
    if state.login_trouble:
        to_type = " `forgetmenot login" in state.login_trouble
        fix = "Type that in a terminal." if to_type else "It is tried again by itself; look at what it says."
        return Part("Log-in", "trouble", state.login_trouble, fix)
    if not state.login:
        return Part("Log-in", "off", "Nobody is logged in: it listens, and sends nothing.", "`forgetmenot login`")
    return Part("Log-in", "ok", f"Logged in as {state.login}.")


def _model(state: BotState, settings: Settings) -> Part:
    if state.model_trouble:
        return Part("Model", "trouble", state.model_trouble, "Look at the table [model] of your settings.")
    if settings.model.provider is Provider.OFFLINE:
        return Part("Model", "ok", "The offline model: simple words, nothing leaves this machine.")
    used = " and ".join(dict.fromkeys((state.reply_model, state.memory_model)))
    return Part("Model", "ok", f"{used} answers.")


def _chores(state: BotState) -> Part:
    failing = [chore for chore in state.chores if chore.trouble]
    if failing:
        told = " ".join(f"{chore.name}: {chore.trouble.rstrip('.')}." for chore in failing)
        return Part("Chores", "trouble", told, "Each is tried again by itself; the log has the details.")
    return Part("Chores", "ok", f"All {len(state.chores)} pieces of regular work are on time.")


def _replies(state: BotState, settings: Settings) -> Part:
    if not state.login:
        return Part("Replies", "off", "It says nothing: nobody is logged in.")
    mode = {"shadow": "It thinks, and answers commands alone (shadow).", "mentions": "It answers who speaks to it."}
    line = mode.get(settings.bot.mode, "It answers, and speaks up by itself (live).")
    return Part("Replies", "ok", f"{line} {state.queued} waiting to be sent.")


def _where(state: BotState) -> str:
    return f"Read from {state.settings_file}." if state.settings_file else "Built-in: no settings file was named."


def promises(counted: Mapping[str, int], settings: Settings) -> list[Promise]:
    """The figures behind the promises. Pure."""
    budget = settings.prompt.budget_tokens
    hours = f"{settings.memory.raw_events_h:g}"
    zeros = (
        (f"Raw chat older than {hours} h", "raw_old"),
        ("Lines deleted before they were read", "pruned_unread"),
        ("Notes without an episode behind them", "no_evidence"),
        ("Lines kept of people who opted out", "hidden_lines"),
        ("Superseded notes that point nowhere", "lost_successor"),
        ("Prompts over their budget", "over_budget"),
        ("Class C actions done without a person", "ran_unasked"),
        ("Replies that cannot explain themselves", "without_trail"),
    )
    return [
        *(Promise(line, str(counted[key]), counted[key] == 0) for line, key in zeros),
        Promise("Largest prompt of the last 30 days", f"{counted['largest_prompt']:,} of {budget:,} tokens", None),
        Promise("Lines that wait to be read", f"{counted['unread']:,}", None),
        Promise("Episodes that wait to be learnt from", f"{counted['to_extract']:,}", None),
        Promise("Messages of which it is not known whether they arrived", f"{counted['unsure']:,}", None),
        Promise("Erasures under way", f"{counted['erasing']:,}", None),
        Promise("Who can see this page", f"this machine ({HOST})", None),
        Promise("Size of the memory", f"{counted['size'] / 1_000_000:.1f} MB", None),
    ]


async def _health(request: web.Request) -> web.Response:
    desk = request.app[DESK]
    settings = desk.settings()
    oldest = desk.clock.now() - round(settings.memory.raw_events_h * HOUR) - GRACE
    counted = await dock_figures.promises(desk.db, oldest=oldest)
    state = await channel_state.read_all(desk.db)
    gaps = _gaps(state, desk.clock.now())
    found = parts(desk.control.state(), settings, gaps, switches.failing_told(state))
    return answer(
        {
            "parts": [asdict(part) for part in found],
            "promises": [asdict(promise) for promise in promises(counted, settings)],
            "backups": await asyncio.to_thread(_backups, desk),
        }
    )


def _gaps(state: Mapping[str, str], now: int) -> str:
    told, reason = gaps_told(state, now), state.get("gap_reason", "").rstrip(".")
    return f"{told} ({reason})." if told and reason else f"{told}." if told else ""


def _backups(desk: Desk) -> list[dict[str, object]]:
    """The copies that lie beside the memory, newest first."""
    told = [(one.name, one.stat()) for one in backup.kept(desk.db.path)[:10]]
    return [{"name": name, "at": int(stat.st_mtime * 1_000), "size": stat.st_size} for name, stat in told]


ROUTES = (web.get("/api/health", _health),)
