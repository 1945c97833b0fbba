"""Now: how things stand, and what happened. `dock/feed` sends both as they change."""

from collections.abc import Mapping
from operator import itemgetter
from typing import NamedTuple

from forgetmenot.dock.context import DockContext, Item, PageRequest, names, reads
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
    db = context.db
    now = context.clock.now()
    settings = context.settings()
    language = context.language
    state = context.control.state()
    channel = await channel_state.read_all(db)
    switches = switches_of(channel)
    tokens_used = await counts.tokens_by_model(db, since=now - DAY)
    arrived = await arrivals(db, settings, now)
    waiting = await action_logs.waiting(db, now)
    lines_last_minute = await events.count_since(db, now - MINUTE)
    newest_summary_id = await db.highest_id("episodes")
    login = channel.get("login", "")
    title = channel.get("title", "")
    category = channel.get("category", "")
    # Empty while the channel is off.
    started_at = channel.get("started_at") or 0
    trouble = _first_trouble(state)
    return {
        "name": settings.bot.name,
        # Before a channel is set, a memory may still say whose it is.
        "channel": settings.twitch.channel or login,
        "title": title or category,
        "live": channel.get("live") == "1",
        "live_since": int(started_at),
        "mode": settings.bot.mode,
        "paused": switches.paused,
        "quiet_until": switches.quiet_until,
        # Switched on in the settings it stays on, whatever the button says: the page shows which of the two it is.
        "safe_mode": switches.safe_mode or settings.actions.safe_mode,
        "safe_in_settings": settings.actions.safe_mode,
        "phase": state.phase,
        "trouble": language.reason(trouble),
        "hint": language.reason(state.port_trouble or state.login_hint),
        "login_trouble": language.reason(state.login_trouble),
        "per_minute": lines_last_minute,
        "raw_h": settings.memory.raw_events_h,
        "unread": await events.count_unread(db),
        "unread_at": await events.last_unread_at(db),
        "summaries": newest_summary_id > 0,
        "window": settings.memory.window_min_events,
        "silence_min": SILENCE // MINUTE,
        "spent": {
            "tokens": _total(tokens_used),
            "cost": prices.cost_text(settings, tokens_used, language),
            "limits": await _limits(context, tokens_used),
            "saving": language.reason(state.saving),
        },
        "waiting": len(waiting),
        "recap": await streams.newest_recap(db, now - DAY),
        "arrivals": [arrival._asdict() for arrival in arrived],
        "hearing": _hearing(state.hearing, language),
    }


def _first_trouble(state: BotState) -> str:
    """Return the trouble that a streamer would mend first; empty if all is well."""
    # A missing log-in keeps the bot from its channel as well, so it comes before the trouble with the connection.
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
    trouble = language.reason(hearing.trouble)
    return {"on": hearing.listening, "trouble": trouble}


def _total(tokens_used: prices.CountsByModel) -> int:
    """Return the tokens of all models together."""
    total = 0
    for count in tokens_used.values():
        total += count.input + count.output
    return total


async def _limits(context: DockContext, used_today: prices.CountsByModel) -> Item:
    """Return for each limit what was spent, what may be, and the share of it; None where no limit is set."""
    limits = context.settings().limits
    used_in_stream: prices.CountsByModel = {}
    # It is counted at each look, so only where a limit of the stream is set.
    if limits.tokens_per_stream or limits.money_per_stream:
        used_in_stream = await _used_in_stream(context)
    return {
        "day": _limit(
            context,
            used_today,
            limits.tokens_per_day,
            limits.money_per_day,
        ),
        "stream": _limit(
            context,
            used_in_stream,
            limits.tokens_per_stream,
            limits.money_per_stream,
        ),
    }


async def _used_in_stream(context: DockContext) -> prices.CountsByModel:
    """Return the tokens of each model since the stream began; none while none is on."""
    stream_id = await streams.current_id(context.db)
    if stream_id is None:
        return {}
    since = await streams.start_of(context.db, stream_id)
    return await counts.tokens_by_model(context.db, since=since)


def _limit(
    context: DockContext,
    used: prices.CountsByModel,
    tokens: int,
    money: float,
) -> Item | None:
    """Return what was spent of one limit, in money if the limit is; None if there is none."""
    # Where both are set, money is shown.
    if money:
        return _money_limit(context, used, money)
    if tokens:
        return _token_limit(context.language, _total(used), tokens)
    return None


def _money_limit(
    context: DockContext,
    used: prices.CountsByModel,
    money: float,
) -> Item:
    """Return what was spent of a limit in money."""
    settings = context.settings()
    language = context.language
    limit = prices.Cost(money, whole=True)
    # None where no model that was used has a price.
    spent = prices.cost(settings, used)
    if spent is None:
        spent = prices.Cost(0.0, whole=True)
    return {
        "spent": prices.money_text(settings, spent, language),
        "text": prices.money_text(settings, limit, language),
        "share": spent.amount / money,
        "in_money": True,
    }


def _token_limit(language: Language, used: int, limit: int) -> Item:
    """Return what was used of a limit in tokens."""
    used_text = language.number(used)
    limit_text = language.number(limit)
    return {
        "spent": language("page.count.tokens", n=used_text),
        "text": language("page.count.tokens", n=limit_text),
        "share": used / limit,
        "in_money": False,
    }


async def history(context: DockContext, limit: int = FEED_LIMIT) -> list[Item]:
    """Return the newest of what happened, oldest first."""
    db = context.db
    # Chat is most of it: of each other kind fewer items are read.
    replies_limit = limit // 3
    share = limit // 5
    replies = await bot_messages.listing(db, replies_limit)
    actions = await action_logs.latest(db, share)
    episodes = await dock_rows.feed_episodes(db, share)
    changes = await dock_rows.changes(db, 0, share)
    texts = [row["summary"] for row in episodes]
    people = [row.viewer_id for row in replies]
    for change in changes:
        texts += [change.fact, change.cause]
        people.append(change.subject_id)
    asking_ids = set()
    for action in actions:
        people += [action.asked_by, action.target_id]
        if waits(action):
            asking_ids.add(action.bot_message_id)
    shown_names = await names(db, texts, people)
    colors = await viewers.colors(db, shown_names)
    wording = _Wording(shown_names, colors, context.language)
    items = await dock_rows.lines(db, limit)
    for episode in episodes:
        # Of a stretch in which nothing happened the feed has nothing to show.
        if episode["summary"] != NOTHING:
            items.append(_episode(episode, wording))
    for change in changes:
        items.append(_change(change, wording))
    # These come newest first; of one moment the older stays before the newer.
    for reply in reversed(replies):
        asks = reply.id in asking_ids
        items.append(_reply(reply, wording, asks=asks))
    for action in reversed(actions):
        items.append(_action(action, wording))
    return sorted(items, key=itemgetter("at"))


class _Wording(NamedTuple):
    """What items of the feed are worded with: the people who may be named, by id, their colours, and the language."""

    names: Mapping[str, str]
    colors: Mapping[str, str]
    language: Language

    def person(self, viewer_id: str | None) -> Item:
        """Return somebody as an item names them; empty for nobody, and for who is hidden."""
        if viewer_id is None or viewer_id not in self.names:
            return {"who": "", "person": "", "color": ""}
        name = self.names[viewer_id]
        color = self.colors.get(viewer_id, "")
        return {"who": name, "person": viewer_id, "color": color}


def _episode(row: Row, wording: _Wording) -> Item:
    """Return a summary as an item."""
    return {
        "key": f"episode:{row['id']}",
        "kind": "episode",
        "at": row["at"],
        "text": with_names(row["summary"], wording.names),
        "events": row["events"],
    }


def _change(row: dock_rows.ChangedNote, wording: _Wording) -> Item:
    """Return what became of a note as an item."""
    cause = provenance.because(row.cause, wording.names)
    return {
        **wording.person(row.subject_id),
        "key": f"change:{row.id}",
        "kind": "note",
        "note": row.note_id,
        "at": row.at,
        "scope": row.scope,
        "text": with_names(row.fact, wording.names),
        "before": row.before,
        "after": row.after,
        "cause": wording.language.reason(cause),
    }


def _reply(
    row: BotMessage,
    wording: _Wording,
    *,
    asks: bool,
) -> Item:
    """Return a reply as an item.

    `asks`: it says that an action waits for approval, which the approval's own card says as well.
    """
    return {
        **wording.person(row.viewer_id),
        "key": f"reply:{row.id}",
        "kind": "reply",
        "id": row.id,
        "at": row.at,
        "text": row.text,
        "status": row.status,
        "detail": wording.language.reason(row.detail),
        "points": _points_lost(row),
        "asks": asks,
    }


# What is not known to have failed may have been answered.
_MAYBE_ANSWERED = {
    ReplyStatus.SENDING,
    ReplyStatus.SENT,
    ReplyStatus.UNKNOWN,
}


def _points_lost(reply: BotMessage) -> bool:
    """Return whether channel points were spent on an answer that did not come, so that they can be given back."""
    if reply.trigger != "reward":
        return False
    if reply.status in _MAYBE_ANSWERED:
        return False
    return reply.detail not in {
        bot_messages.NOT_FINISHED,
        bot_messages.ANSWERED_ELSEWHERE,
    }


def _action(row: LoggedAction, wording: _Wording) -> Item:
    """Return an action as an item."""
    proposal = proposal_item(row, wording.names, wording.language)
    return {"key": f"action:{row.id}", "kind": "action", **proposal}


async def _why(page: PageRequest) -> object:
    """Return everything about one reply. Raises InputError if there is none."""
    return await page.context.control.why(page.row_id)


ROUTES = (reads("/api/why/{id}", _why),)
