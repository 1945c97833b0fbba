"""The Health panel: the state of each part of the bot with what to do, and the guarantees as live figures."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from aiohttp import web

from forgetmenot.clock import HOUR, MINUTE
from forgetmenot.dock.context import CONTEXT, DockContext, answer
from forgetmenot.dock.security import HOST
from forgetmenot.operations import switches
from forgetmenot.operations.switches import gaps_sentence
from forgetmenot.ports import BotState
from forgetmenot.settings.schema import Provider, Settings
from forgetmenot.store import backup, channel_state, dock_rows

GRACE = 20 * MINUTE  # between two sweeps


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part of the bot: `state` is ok, off or trouble; `fix` says what to do about it."""

    name: str
    state: str
    line: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise as a figure. `kept` None: it is only shown, there is nothing to keep."""

    line: str
    figure: str
    kept: bool | None


def parts(state: BotState, settings: Settings, gaps: str = "", failing: str = "") -> list[HealthCheck]:
    """Every part in a sentence. `gaps`: what was not heard; `failing`: what it cannot do, in sentences. Pure."""
    return [
        _chat(state, settings, gaps),
        _login(state),
        _model(state, settings),
        HealthCheck("Memory", "trouble" if state.memory_trouble else "ok", state.memory_trouble or _MEMORY, _WAIT),
        _tasks(state),
        _replies(state, settings),
        HealthCheck(
            "Actions", "trouble" if failing else "ok", failing or "No action failed three times in a row.", _ENABLE
        ),
        HealthCheck("Spending", "trouble" if state.saving else "ok", state.saving or "Within its limits.", _LIMITS),
        HealthCheck("Settings", "ok", _where(state)),
    ]


_MEMORY = "Chat becomes summaries, and summaries become notes."
_ENABLE = "Fix what the log reports, then type `!bot resume` in chat or `forgetmenot actions enable` in a terminal."
_LIMITS = "Nothing is lost: the bot catches up later. The limits are in the settings, under Limits."
_WAIT = "Nothing is lost: the bot catches up as soon as the model answers."


def _chat(state: BotState, settings: Settings, gaps: str) -> HealthCheck:
    channel = settings.twitch.channel or "the channel"
    if state.phase == "connected":
        return HealthCheck("Chat", "ok", f"Reading {channel}. {gaps}".rstrip())
    if state.phase == "none":
        fix = "Enter your channel's name in the set-up."
        return HealthCheck("Chat", "off", "The bot is in no channel.", fix)
    trouble = state.phase_trouble or f"Connecting to {channel} …"
    fix = "The bot tries again by itself. If this lasts, check your network, and twitch.tv in a browser."
    return HealthCheck("Chat", "trouble", f"{trouble} {gaps}".rstrip(), fix)


def _login(state: BotState) -> HealthCheck:
    if state.login_trouble:
        to_type = " `forgetmenot login" in state.login_trouble
        fix = "Type that in a terminal." if to_type else "The bot tries again by itself; see what the message says."
        return HealthCheck("Log-in", "trouble", state.login_trouble, fix)
    if state.login_hint:
        return HealthCheck("Log-in", "off", state.login_hint, "The set-up does it: open the settings, then “Set up”.")
    if not state.login:
        return HealthCheck("Log-in", "off", "It is not signed in: it listens and sends nothing.", "Open the set-up.")
    return HealthCheck("Log-in", "ok", f"Logged in as {state.login}.")


def _model(state: BotState, settings: Settings) -> HealthCheck:
    if state.model_trouble:
        return HealthCheck("Model", "trouble", state.model_trouble, "Check the table [model] of your settings.")
    if settings.model.provider is Provider.OFFLINE:
        return HealthCheck(
            "Model",
            "ok",
            "No AI model: the bot answers only where a note plainly answers. Nothing leaves this machine.",
        )
    used = " and ".join(dict.fromkeys((state.reply_model, state.memory_model)))
    return HealthCheck("Model", "ok", f"{used} answers.")


def _tasks(state: BotState) -> HealthCheck:
    failing = [task for task in state.tasks if task.trouble]
    if failing:
        line = " ".join(f"{task.name}: {task.trouble.rstrip('.')}." for task in failing)
        return HealthCheck("Periodic tasks", "trouble", line, "The bot tries again by itself. The log has the details.")
    return HealthCheck("Periodic tasks", "ok", f"All {len(state.tasks)} tasks are on time.")


def _replies(state: BotState, settings: Settings) -> HealthCheck:
    if not state.login:
        return HealthCheck("Replies", "off", "The bot cannot reply: nobody is logged in.")
    mode = {
        "shadow": "Silent preview: the bot only answers commands (shadow).",
        "mentions": "The bot answers when mentioned.",
    }
    line = mode.get(settings.bot.mode, "The bot answers, and also speaks by itself (live).")
    return HealthCheck("Replies", "ok", f"{line} {state.queued} waiting to be sent.")


def _where(state: BotState) -> str:
    return (
        f"Read from {state.settings_file}."
        if state.settings_file
        else "Defaults: the bot was started without a settings file."
    )


def promises(counted: Mapping[str, int], settings: Settings) -> list[Promise]:
    """The figures behind the promises. Pure."""
    budget = settings.prompt.budget_tokens
    hours = f"{settings.memory.raw_events_h:g}"
    zeros = (
        (f"Raw chat older than {hours} h", "raw_old"),
        ("Messages deleted before they were summarised", "pruned_unread"),
        ("Notes without evidence", "no_evidence"),
        ("Stored messages of people who opted out", "hidden_lines"),
        ("Replaced notes without a successor", "lost_successor"),
        ("Prompts over their budget", "over_budget"),
        ("Class C actions done without approval", "ran_unasked"),
        ("Replies that cannot be explained", "without_trail"),
    )
    return [
        *(Promise(line, str(counted[key]), counted[key] == 0) for line, key in zeros),
        Promise("Largest prompt of the last 30 days", f"{counted['largest_prompt']:,} of {budget:,} tokens", None),
        Promise("Messages waiting to be summarised", f"{counted['unread']:,}", None),
        Promise("Summaries waiting to be read for notes", f"{counted['to_extract']:,}", None),
        Promise("Summaries that no model could read for notes", f"{counted['set_aside']:,}", None),
        Promise("Sent messages that may not have arrived", f"{counted['unsure']:,}", None),
        Promise("Erasures in progress", f"{counted['erasing']:,}", None),
        Promise("Who can see this page", f"this machine ({HOST})", None),
        Promise("Size of the memory", f"{counted['size'] / 1_000_000:.1f} MB", None),
    ]


async def _health(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    settings = context.settings()
    oldest = context.clock.now() - round(settings.memory.raw_events_h * HOUR) - GRACE
    counted = await dock_rows.promises(context.db, oldest=oldest)
    state = await channel_state.read_all(context.db)
    gaps = _gaps(state, context.clock.now())
    found = parts(context.control.state(), settings, gaps, switches.failing_sentence(state))
    return answer(
        {
            "parts": [asdict(part) for part in found],
            "promises": [asdict(promise) for promise in promises(counted, settings)],
            "backups": await asyncio.to_thread(_backups, context),
        }
    )


def _gaps(state: Mapping[str, str], now: int) -> str:
    line, reason = gaps_sentence(state, now), state.get("gap_reason", "").rstrip(".")
    return f"{line} ({reason})." if line and reason else f"{line}." if line else ""


def _backups(context: DockContext) -> list[dict[str, object]]:
    """The copies that lie beside the memory, newest first."""
    copies = [(one.name, one.stat()) for one in backup.kept(context.db.path)[:10]]
    return [{"name": name, "at": int(stat.st_mtime * 1_000), "size": stat.st_size} for name, stat in copies]


ROUTES = (web.get("/api/health", _health),)
