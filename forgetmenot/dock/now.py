"""The Now panel: the bot's status, what happened, and what waits for a person."""

from collections.abc import Iterable, Mapping, Sequence

from aiohttp import web

from forgetmenot.clock import DAY, MINUTE
from forgetmenot.dock.context import CONTEXT, DockContext, answer, id_of, names
from forgetmenot.languages import Language
from forgetmenot.memory.notes.provenance import because
from forgetmenot.operations import switches
from forgetmenot.operations.catalogue import DEFAULT_REASON
from forgetmenot.operations.executor import undoable
from forgetmenot.settings import prices
from forgetmenot.store import action_logs, bot_messages, channel_state, dock_rows, events, model_calls
from forgetmenot.store.action_logs import ActionStatus, LoggedAction
from forgetmenot.store.dock_rows import ChangedNote, HeardLine, WrittenEpisode
from forgetmenot.text.mentions import show

Item = dict[str, object]
SHOWN = 150  # items of each kind that a page gets when it opens


async def standing(context: DockContext) -> Item:
    """How things stand. Times in ms; `spent`: tokens of the last 24 hours, and their cost where prices are named."""
    now, settings, state = context.clock.now(), context.settings(), context.control.state()
    channel = await channel_state.read_all(context.db)
    switched = switches.of(channel)
    spent = await model_calls.bills(context.db, "model", now - DAY)
    used = {one.model: one.used for one in spent}
    return {
        "name": settings.bot.name,
        "channel": settings.twitch.channel or channel.get("login", ""),
        "title": channel.get("title", ""),
        "category": channel.get("category", ""),
        "live": channel.get("live") == "1",
        "live_since": int(channel.get("started_at") or 0),
        "mode": settings.bot.mode,
        "paused": switched.paused,
        "quiet_until": switched.quiet_until,
        "safe_mode": switched.safe_mode or settings.actions.safe_mode,
        "safe_in_settings": settings.actions.safe_mode,
        "phase": state.phase,
        "login": state.login,
        "trouble": context.language.reason(
            state.login_trouble or state.phase_trouble or state.model_trouble or state.memory_trouble
        )
        or switches.failing_sentence(channel, context.language),
        "hint": context.language.reason(state.login_hint),
        "model": state.reply_model,
        "model_ok": not state.model_trouble,
        "queued": state.queued,
        "thinking": state.thinking,
        "per_minute": await events.count_since(context.db, now - MINUTE),
        "raw_h": settings.memory.raw_events_h,
        "unread": await events.count_unread(context.db),
        "summaries": await dock_rows.any_summary(context.db),
        "window": settings.memory.window_min_events,
        "silence_min": settings.memory.silence_min,
        "spent": {
            "calls": sum(one.calls for one in spent), "input": sum(one.input for one in used.values()),
            "cached": sum(one.cached for one in used.values()), "output": sum(one.output for one in used.values()),
            "cost": prices.in_words(settings, used, context.language),
        },
        "waiting": len(await action_logs.waiting(context.db, now)),
    }  # fmt: skip


async def history(context: DockContext, after: dock_rows.FeedCursor, limit: int = SHOWN) -> list[Item]:
    """What happened since those marks, oldest first; replies and actions always the newest, since they change."""
    db = context.db
    lines = await dock_rows.lines(db, after.line, limit)
    happened = await episodes(context, await dock_rows.feed_episodes(db, after.episode, limit // 5))
    learnt = await notes(context, await dock_rows.changes(db, after.change, limit // 5))
    said = await replies(context, limit // 3)
    did = await actions(context, limit // 5)
    every = [*items_of_lines(lines), *happened, *learnt, *said, *did]
    return sorted(every, key=lambda item: int(str(item["at"])))


def items_of_lines(lines: Iterable[HeardLine]) -> list[Item]:
    """Lines of chat."""
    return [
        {
            "key": f"line:{one.seq}", "kind": "line", "at": one.at, "who": one.name, "role": one.role,
            "what": one.kind, "text": one.text, "addressed": bool(one.addressed),
        }
        for one in lines
    ]  # fmt: skip


async def replies(context: DockContext, limit: int) -> list[Item]:
    """The newest of what the bot said or thought, oldest first: the newest ones may still change."""
    rows = (await bot_messages.listing(context.db, limit))[::-1]
    known = await names(context.db, (), (row.viewer_id for row in rows))
    return [
        {
            "key": f"reply:{row.id}", "kind": "reply", "id": row.id, "at": row.at, "text": row.text,
            "status": row.status, "detail": context.language.reason(row.detail), "trigger": row.trigger,
            "who": known.get(row.viewer_id or "", ""), "tokens": row.usage.get("billed", row.usage.get("estimated")),
            "latency_ms": row.latency_ms,
        }
        for row in rows
    ]  # fmt: skip


async def actions(context: DockContext, limit: int) -> list[Item]:
    """The newest of what was proposed, oldest first."""
    rows = (await action_logs.latest(context.db, limit))[::-1]
    known = await names(context.db, (), [who for row in rows for who in (row.asked_by, row.target_id)])
    return [{"key": f"action:{row.id}", "kind": "action", **proposal(row, known, context.language)} for row in rows]


def proposal(row: LoggedAction, known: Mapping[str, str], language: Language) -> Item:
    """One proposal, for the feed and for the approvals."""
    return {
        "id": row.id, "at": row.at, "name": row.name, "class": row.kind, "verdict": row.verdict, "rule": row.rule,
        "reason": language.reason(row.reason), "status": row.status, "detail": language.reason(row.detail),
        "asked_by": known.get(row.asked_by or "", ""), "target": known.get(row.target_id or "", ""),
    }  # fmt: skip


async def episodes(context: DockContext, rows: Sequence[WrittenEpisode]) -> list[Item]:
    """Episodes that were written."""
    known = await names(context.db, (row.summary for row in rows))
    return [
        {
            "key": f"episode:{row.id}", "kind": "episode", "id": row.id, "at": row.at, "until": row.until,
            "what": row.kind,
            "text": show(row.summary, known), "events": row.events,
        }
        for row in rows
    ]  # fmt: skip


async def notes(context: DockContext, rows: Sequence[ChangedNote]) -> list[Item]:
    """Notes that changed."""
    texts = (text for row in rows for text in (row.fact, row.cause))
    known = await names(context.db, texts, (row.subject_id for row in rows))
    return [
        {
            "key": f"change:{row.id}", "kind": "note", "note": row.note_id, "at": row.at,
            "who": known.get(row.subject_id or "", ""), "scope": row.scope, "text": show(row.fact, known),
            "before": row.before, "after": row.after, "cause": context.language.reason(because(row.cause, known)),
        }
        for row in rows
    ]  # fmt: skip


async def _now(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    return answer({"build": context.version, "at": context.clock.now(), "now": await standing(context)})


async def _why(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    return answer(await context.control.why(id_of(request)), language=context.language)


# The Approvals panel: what waits for a person, and the log of what was done.

LOGGED = 100


async def _rows(context: DockContext, rows: list[LoggedAction]) -> list[Item]:
    people = [who for row in rows for who in (row.asked_by, row.target_id, row.decided_by)]
    known = await names(context.db, (), people)
    return [
        {
            **proposal(row, known, context.language),
            "params": {name: known.get(value, value) for name, value in row.params.items() if value != DEFAULT_REASON},
            "expires_at": row.expires_at,
            "decided_by": known.get(row.decided_by or "", row.decided_by or ""),
            "undoable": undoable(row, context.clock.now()) is not None,
        }
        for row in rows
    ]


async def _approvals(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    waiting = await action_logs.waiting(context.db, context.clock.now())
    over = [row for row in await action_logs.latest(context.db, LOGGED) if row.status is not ActionStatus.WAITING]
    return answer({"waiting": await _rows(context, waiting), "log": await _rows(context, over)})


ROUTES = (web.get("/api/now", _now), web.get("/api/why/{id}", _why), web.get("/api/approvals", _approvals))
