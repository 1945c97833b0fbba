"""Now: how things stand, and what happened. `dock/feed` sends both as they change."""

from collections.abc import Mapping
from typing import NamedTuple

from forgetmenot.dock.context import DockContext, Item, id_of, names, reads
from forgetmenot.dock.pages.approvals import proposal_item, waits
from forgetmenot.domain import NOTHING
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.languages import Language
from forgetmenot.memory import provenance
from forgetmenot.memory.arrival_cards import arrivals
from forgetmenot.memory.compaction import SILENCE
from forgetmenot.operations.handlers.switches import switches_of
from forgetmenot.ports import BotState, HearingState
from forgetmenot.settings import prices
from forgetmenot.store import (
    action_logs,
    bot_messages,
    channel_state,
    counts,
    dock_rows,
    events,
    streams,
    viewers,
)
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import BotMessage, ReplyStatus
from forgetmenot.store.database import Row
from forgetmenot.text.mentions import with_names

# Items of the feed that a page gets when it opens.
FEED_LIMIT = 150


async def standing(context: DockContext) -> Item:
    """Return how things stand. Times are in ms.

    `spent`: tokens of the last 24 hours, and their cost where prices are named. `arrivals`: who of those that the
    memory knows just came in.
    """
    now = context.clock.now()
    settings = context.settings()
    state = context.control.state()
    channel = await channel_state.read_all(context.db)
    switches = switches_of(channel)
    tokens_used = await counts.tokens_by_model(context.db, since=now - DAY)
    language = context.language
    arrived = await arrivals(context.db, settings, now)
    waiting = await action_logs.waiting(context.db, now)
    return {
        "name": settings.bot.name,
        "channel": settings.twitch.channel or channel.get("login", ""),
        "title": channel.get("title", "") or channel.get("category", ""),
        "live": channel.get("live") == "1",
        "live_since": int(channel.get("started_at") or 0),
        "mode": settings.bot.mode,
        "paused": switches.paused,
        "quiet_until": switches.quiet_until,
        "safe_mode": switches.safe_mode or settings.actions.safe_mode,
        "safe_in_settings": settings.actions.safe_mode,
        "phase": state.phase,
        "trouble": language.reason(_first_trouble(state)),
        "hint": language.reason(state.port_trouble or state.login_hint),
        "login_trouble": language.reason(state.login_trouble),
        "per_minute": await events.count_since(context.db, now - MINUTE),
        "raw_h": settings.memory.raw_events_h,
        "unread": await events.count_unread(context.db),
        "unread_at": await events.last_unread_at(context.db),
        "summaries": await context.db.highest_id("episodes") > 0,
        "window": settings.memory.window_min_events,
        "silence_min": SILENCE // MINUTE,
        "spent": {
            "tokens": _total(tokens_used),
            "cost": prices.cost_text(settings, tokens_used, language),
            "limits": await _limits(context, tokens_used),
            "saving": language.reason(state.saving),
        },
        "waiting": len(waiting),
        "recap": await streams.newest_recap(context.db, now - DAY),
        "arrivals": [arrival._asdict() for arrival in arrived],
        "hearing": _hearing(state.hearing, language),
    }


def _first_trouble(state: BotState) -> str:
    """Return the trouble that a streamer would mend first; empty if all is well."""
    return (
        state.file_trouble
        or state.login_trouble
        or state.phase_trouble
        or state.sending_trouble
        or state.model_trouble
        or state.memory_trouble
    )


def _hearing(hearing: HearingState | None, language: Language) -> Item | None:
    """Return whether the bot listens to the streamer; None if hearing is off."""
    if hearing is None:
        return None
    return {"on": hearing.listening, "trouble": language.reason(hearing.trouble)}


def _total(tokens_used: Mapping[str, prices.TokenCounts]) -> int:
    """Return the tokens of all models together."""
    total = 0
    for count in tokens_used.values():
        total += count.input + count.output
    return total


async def _limits(
    context: DockContext, used_today: Mapping[str, prices.TokenCounts]
) -> Item:
    """Return for each limit what was spent, what may be, and the share of it; None where no limit is set."""
    limits = context.settings().limits
    used_in_stream: Mapping[str, prices.TokenCounts] = {}
    if limits.tokens_per_stream or limits.money_per_stream:
        stream_id = await streams.current_id(context.db)
        since = context.clock.now()
        if stream_id is not None:
            since = await streams.start_of(context.db, stream_id)
        used_in_stream = await counts.tokens_by_model(context.db, since=since)
    day = _limit(context, used_today, limits.tokens_per_day, limits.money_per_day)
    stream = _limit(
        context,
        used_in_stream,
        limits.tokens_per_stream,
        limits.money_per_stream,
    )
    return {"day": day, "stream": stream}


def _limit(
    context: DockContext,
    used: Mapping[str, prices.TokenCounts],
    tokens: int,
    money: float,
) -> Item | None:
    """Return what was spent of one limit, in money if the limit is; None if there is none."""
    settings = context.settings()
    say = context.language
    if money:
        spent = prices.cost(settings, used) or prices.Cost(0.0, whole=True)
        return {
            "spent": prices.money_text(settings, spent, say),
            "text": prices.money_text(settings, prices.Cost(money, whole=True), say),
            "share": spent.amount / money,
            "in_money": True,
        }
    if tokens:
        count = _total(used)
        return {
            "spent": say("page.count.tokens", n=say.number(count)),
            "text": say("page.count.tokens", n=say.number(tokens)),
            "share": count / tokens,
            "in_money": False,
        }
    return None


async def history(context: DockContext, limit: int = FEED_LIMIT) -> list[Item]:
    """Return the newest of what happened, oldest first."""
    db = context.db
    # Chat is most of it: of each other kind a share is read, so that the rest fits.
    replies = await bot_messages.listing(db, limit // 3)
    actions = await action_logs.latest(db, limit // 5)
    episodes = await dock_rows.feed_episodes(db, limit // 5)
    changes = await dock_rows.changes(db, 0, limit // 5)
    texts = [row["summary"] for row in episodes]
    people = [row.viewer_id for row in replies]
    for change in changes:
        texts += [change.fact, change.cause]
        people.append(change.subject_id)
    for action in actions:
        people += [action.asked_by, action.target_id]
    shown_names = await names(db, texts, people)
    shown = _Shown(shown_names, await viewers.colors(db, shown_names), context.language)
    asking_ids = {action.bot_message_id for action in actions if waits(action)}
    items = list[Item](await dock_rows.lines(db, limit))
    for episode in episodes:
        if episode["summary"] != NOTHING:
            items.append(_episode(episode, shown))
    for change in changes:
        items.append(_change(change, shown))
    # These come newest first; of one moment the older stays before the newer.
    for reply in reversed(replies):
        items.append(_reply(reply, shown, asks=reply.id in asking_ids))
    for action in reversed(actions):
        items.append(_action(action, shown))
    return sorted(items, key=lambda item: int(str(item["at"])))


class _Shown(NamedTuple):
    """The people who may be named in the feed, by id, with the colours of their names."""

    names: Mapping[str, str]
    colors: Mapping[str, str]
    language: Language

    def person(self, viewer_id: str | None) -> Item:
        """Return somebody as an item names them; empty for nobody, and for who is hidden."""
        if viewer_id is None or viewer_id not in self.names:
            return {"who": "", "person": "", "color": ""}
        color = self.colors.get(viewer_id, "")
        return {"who": self.names[viewer_id], "person": viewer_id, "color": color}


def _episode(row: Row, shown: _Shown) -> Item:
    """Return a summary as an item."""
    return {
        "key": f"episode:{row['id']}",
        "kind": "episode",
        "at": row["at"],
        "text": with_names(row["summary"], shown.names),
        "events": row["events"],
    }


def _change(row: dock_rows.ChangedNote, shown: _Shown) -> Item:
    """Return what became of a note as an item."""
    return {
        **shown.person(row.subject_id),
        "key": f"change:{row.id}",
        "kind": "note",
        "note": row.note_id,
        "at": row.at,
        "scope": row.scope,
        "text": with_names(row.fact, shown.names),
        "before": row.before,
        "after": row.after,
        "cause": shown.language.reason(provenance.because(row.cause, shown.names)),
    }


def _reply(
    row: BotMessage,
    shown: _Shown,
    *,
    asks: bool,
) -> Item:
    """Return a reply as an item.

    `asks`: it says that an action waits for approval, which the approval's own card says as well.
    """
    return {
        **shown.person(row.viewer_id),
        "key": f"reply:{row.id}",
        "kind": "reply",
        "id": row.id,
        "at": row.at,
        "text": row.text,
        "status": row.status,
        "detail": shown.language.reason(row.detail),
        "points": _points_lost(row),
        "asks": asks,
    }


def _points_lost(reply: BotMessage) -> bool:
    """Return whether channel points were spent on an answer that did not come, so that they can be given back."""
    if reply.trigger != "reward":
        return False
    if reply.status in {ReplyStatus.SENDING, ReplyStatus.SENT, ReplyStatus.UNKNOWN}:
        return False
    return reply.detail not in {
        bot_messages.NOT_FINISHED,
        bot_messages.ANSWERED_ELSEWHERE,
    }


def _action(row: LoggedAction, shown: _Shown) -> Item:
    """Return an action as an item."""
    proposal = proposal_item(row, shown.names, shown.language)
    return {"key": f"action:{row.id}", "kind": "action", **proposal}


ROUTES = (
    reads(
        "/api/why/{id}", lambda context, request: context.control.why(id_of(request))
    ),
)
