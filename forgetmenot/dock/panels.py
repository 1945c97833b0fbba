"""What the page asks for, as JSON: the panels Now, Memory, Approvals and Settings.

A panel reads rows and renders them; names of viewers are looked up last, and nobody who is hidden has one here.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from typing import NamedTuple, Protocol

import msgspec
from aiohttp import web
from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot.clock import Clock
from forgetmenot.dock.security import UPLOAD
from forgetmenot.domain import NOTHING, Note
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Language, in_language, languages, reason
from forgetmenot.memory import provenance
from forgetmenot.memory.arrivals import arrivals
from forgetmenot.memory.briefs import about_viewer
from forgetmenot.memory.compaction import SILENCE
from forgetmenot.memory.missed import stream_so_far
from forgetmenot.memory.together import together_with
from forgetmenot.operations.actions import DEFAULT_REASON
from forgetmenot.operations.executor import undoable
from forgetmenot.operations.handlers.switches import switches_of
from forgetmenot.operations.handlers.viewers import SO_FAR_CHARS
from forgetmenot.operations.wording import sentence
from forgetmenot.people.standing import REGULAR_WITHIN
from forgetmenot.ports import Control, HearingState
from forgetmenot.privacy import suppression_list
from forgetmenot.settings import prices
from forgetmenot.settings.live_settings import LABELS, form_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    action_logs,
    backup,
    bot_messages,
    channel_state,
    counts,
    dock_rows,
    events,
    notes,
    personal_data,
    picture_rows,
    streams,
    viewers,
)
from forgetmenot.store.action_logs import ActionStatus, LoggedAction
from forgetmenot.store.bot_messages import BotMessage, ReplyStatus
from forgetmenot.store.database import Database, Row
from forgetmenot.store.names import by_login
from forgetmenot.store.picture_rows import PeopleBounds
from forgetmenot.store.receipts import ReceiptFile
from forgetmenot.text.mentions import ids_in, with_names

Item = Mapping[str, object]
# Rows of one answer to a list that is turned in pages.
ROWS_LIMIT = 200
# Items of the feed that a page gets when it opens.
FEED_LIMIT = 150
LOG_LIMIT = 100
STREAMS_LIMIT = 60
RECEIPTS_LIMIT = 50
# Bytes of a dropped file that are taken at once.
PIECE = 1 << 18


class DockContext(Struct, frozen=True):
    """The running bot as the dock sees it. `touched` has every open page told that something was changed from here."""

    control: Control
    db: Database
    settings: Callable[[], Settings]
    clock: Clock
    build: str
    touched: Callable[[], None]

    @property
    def version(self) -> str:
        """Return what an open page was made from: with another one it loads itself again."""
        return f"{self.build}-{self.language.code}"

    @property
    def language(self) -> Language:
        """Return the texts in the language of the settings."""
        return in_language(self.settings().bot.language)


CONTEXT = web.AppKey("context", DockContext)


def answer(
    value: object,
    status: int = 200,
    language: Language = ENGLISH,
) -> web.Response:
    """Return a value as JSON, with the reasons in it in a language."""
    body = msgspec.json.encode(value, enc_hook=language.reason)
    return web.Response(body=body, status=status, content_type="application/json")


def refusal(status: int, sentence: str) -> web.Response:
    """Return a refusal with its sentence, in the same shape as an action's answer."""
    return answer({"ok": False, "line": sentence}, status)


def whole(text: str) -> int:
    """Return the whole number that stands in an address. Raises InputError."""
    if not text.isdecimal() or len(text) > 15:
        raise InputError(reason("request_odd"))
    return int(text)


def reads(
    path: str, panel: Callable[[DockContext, web.Request], Awaitable[object]]
) -> web.RouteDef:
    """Return a route that answers with what a panel shows."""

    async def answered(request: web.Request) -> web.Response:
        context = request.app[CONTEXT]
        return answer(await panel(context, request), language=context.language)

    return web.get(path, answered)


def id_of(request: web.Request) -> int:
    """Return the id in the path. Raises InputError."""
    return whole(request.match_info["id"])


def page_of(request: web.Request) -> tuple[int, int]:
    """Return offset and limit of the query. Raises InputError."""
    offset = whole(request.query.get("offset", "0"))
    limit = whole(request.query.get("limit", "50"))
    return offset, min(limit, ROWS_LIMIT)


async def names(
    db: Database,
    texts: Iterable[str],
    viewer_ids: Iterable[str | None] = (),
) -> dict[str, str]:
    """Return the present names of viewers mentioned in texts and of these ids, without hidden ones."""
    people = {viewer_id for viewer_id in viewer_ids if viewer_id}
    for text in texts:
        people.update(ids_in(text))
    shown = people - await viewers.hidden(db, people)
    return await viewers.names_as_asked(db, sorted(shown))


# Now: how things stand, and what happened.


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
    # the trouble that a streamer would mend first
    trouble = (
        state.file_trouble
        or state.login_trouble
        or state.phase_trouble
        or state.sending_trouble
        or state.model_trouble
        or state.memory_trouble
    )
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
        "trouble": context.language.reason(trouble),
        "hint": context.language.reason(state.port_trouble or state.login_hint),
        "login_trouble": context.language.reason(state.login_trouble),
        "per_minute": await events.count_since(context.db, now - MINUTE),
        "raw_h": settings.memory.raw_events_h,
        "unread": await events.count_unread(context.db),
        "unread_at": await events.last_unread_at(context.db),
        "summaries": await context.db.highest_id("episodes") > 0,
        "window": settings.memory.window_min_events,
        "silence_min": SILENCE // MINUTE,
        "spent": {
            "tokens": _total(tokens_used),
            "cost": prices.cost_text(settings, tokens_used, context.language),
            "limits": await _limits(context, tokens_used),
            "saving": context.language.reason(state.saving),
        },
        "waiting": len(await action_logs.waiting(context.db, now)),
        "recap": await streams.newest_recap(context.db, now - DAY),
        "arrivals": [
            arrival._asdict() for arrival in await arrivals(context.db, settings, now)
        ],
        "hearing": _hearing(state.hearing, context.language),
    }


def _hearing(hearing: HearingState | None, language: Language) -> Item | None:
    """Return whether the bot listens to the streamer; None if hearing is off."""
    if hearing is None:
        return None
    return {"on": hearing.listening, "trouble": language.reason(hearing.trouble)}


def _total(tokens_used: Mapping[str, prices.TokenCounts]) -> int:
    return sum(count.input + count.output for count in tokens_used.values())


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
    return {
        "day": _limit(context, used_today, limits.tokens_per_day, limits.money_per_day),
        "stream": _limit(
            context, used_in_stream, limits.tokens_per_stream, limits.money_per_stream
        ),
    }


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
    waiting = {action.bot_message_id for action in actions if _waits(action)}
    items = list[Item](await dock_rows.lines(db, limit))
    items += [_episode(row, shown) for row in episodes if row["summary"] != NOTHING]
    items += [_change(row, shown) for row in changes]
    items += [_reply(row, shown, asks=row.id in waiting) for row in reversed(replies)]
    items += [_action(row, shown) for row in reversed(actions)]
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


def _waits(action: LoggedAction) -> bool:
    return action.status is ActionStatus.WAITING


def _episode(row: Row, shown: _Shown) -> Item:
    return {
        "key": f"episode:{row['id']}",
        "kind": "episode",
        "at": row["at"],
        "text": with_names(row["summary"], shown.names),
        "events": row["events"],
    }


def _change(row: dock_rows.ChangedNote, shown: _Shown) -> Item:
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


def _action(row: LoggedAction, shown: _Shown) -> Item:
    proposal = _proposal(row, shown.names, shown.language)
    return {"key": f"action:{row.id}", "kind": "action", **proposal}


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


def _proposal(
    row: LoggedAction,
    shown_names: Mapping[str, str],
    language: Language,
) -> Item:
    """Return one proposal, for the feed and for the approvals."""
    params = {
        name: shown_names.get(value, value)
        for name, value in row.params.items()
        if value != DEFAULT_REASON
    }
    return {
        "id": row.id,
        "at": row.at,
        "name": row.name,
        "reason": language.reason(row.reason),
        "status": row.status,
        "detail": language.reason(row.detail),
        "asked_by": shown_names.get(row.asked_by or "", ""),
        "target": shown_names.get(row.target_id or "", ""),
        "target_id": row.target_id if row.target_id in shown_names else "",
        "params": params,
    }


# Approvals: what waits for a person, and the log of what was done.


async def _rows(context: DockContext, rows: list[LoggedAction]) -> list[Item]:
    people: list[str | None] = []
    for row in rows:
        people += [row.asked_by, row.target_id, row.decided_by]
    shown_names = await names(context.db, (), people)
    return [
        {
            **_proposal(row, shown_names, context.language),
            "expires_at": row.expires_at,
            "decided_by": shown_names.get(row.decided_by or "", row.decided_by or ""),
            "undoable": undoable(row, context.clock.now()) is not None,
        }
        for row in rows
    ]


async def _approvals(context: DockContext, _request: web.Request) -> object:
    waiting = await action_logs.waiting(context.db, context.clock.now())
    latest = await action_logs.latest(context.db, LOG_LIMIT)
    finished = [row for row in latest if not _waits(row)]
    return {
        "waiting": await _rows(context, waiting),
        "log": await _rows(context, finished),
    }


# Settings: how each part is, every setting, and the set-up, where app/setup decides what an answer does.


async def _checks(context: DockContext, request: web.Request) -> object:
    """Return how each part of the bot is; with `all` also this computer, files and the network (seconds)."""
    checks = await context.control.checks(everything=request.query.get("all") == "1")
    copies = await asyncio.to_thread(backup.copies_of, context.db.path)
    backed_up = int(copies[0].stat().st_mtime * 1_000) if copies else 0
    return {"checks": [asdict(check) for check in checks], "backed_up_at": backed_up}


class Setup(Protocol):
    """The set-up, step by step."""

    async def state(self) -> Mapping[str, object]:
        """What is set up and what is not, without a secret."""
        ...

    async def run(self, step: str, body: bytes) -> Mapping[str, object]:
        """Do one step with its JSON; the result has `ok` and `line`. Raises errors of ours."""
        ...

    async def take_file(
        self,
        name: str,
        size: int | None,
        pieces: AsyncIterator[bytes],
    ) -> Mapping[str, object]:
        """Keep a file with chat of past streams. `size`: as it was announced. Raises errors of ours."""
        ...


SETUP = web.AppKey("setup", Setup)


async def _setup_step(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    result = await request.app[SETUP].run(
        request.match_info["step"], await request.read()
    )
    context.touched()
    return answer(result, language=context.language)


async def _past_chat(request: web.Request) -> web.Response:
    pieces = request.content.iter_chunked(PIECE)
    name = request.query.get("name", "")
    return answer(
        await request.app[SETUP].take_file(name, request.content_length, pieces)
    )


async def _settings(context: DockContext, _request: web.Request) -> object:
    rows = [
        _setting(context.settings(), table, key, context.language)
        for table, key in LABELS
    ]
    return {
        "file": context.control.state().settings_file,
        "rows": rows,
        "languages": languages(),
    }


def _setting(
    settings: Settings,
    table: str,
    key: str,
    language: Language,
) -> Item:
    """Return one setting with its form, its default and its words."""
    label = LABELS[table, key]
    title, explanation = language.pair(f"settings.{table}.{key}")
    value = getattr(getattr(settings, table), key)
    default = getattr(getattr(Settings(), table), key)
    if (table, key) == ("bot", "notice"):
        # the default is said in the channel's language
        translated = language("chat.notice")
        if value == default:
            value = translated
        default = translated
    return {
        "table": table,
        "key": key,
        "group": language(f"group.{label.group}"),
        "label": title,
        "sentence": explanation,
        "basic": label.basic,
        "value": value,
        "default": default,
        "form": form_of(table, key),
    }


# Memory: people, their notes, the channel's, streams with episodes, a note's chain.


async def _people(context: DockContext, request: web.Request) -> object:
    offset, limit = page_of(request)
    kind = request.query.get("kind", "")
    if kind and kind not in picture_rows.KINDS:
        raise InputError(reason("request_odd"))
    bounds = people_bounds(context.settings(), context.clock.now())
    total, people = await dock_rows.people(
        context.db,
        find=request.query.get("find", "")[:50],
        kind=kind,
        bounds=bounds,
        bot=await channel_state.read(context.db, "bot_id"),
        offset=offset,
        limit=limit,
    )
    streams_shown = await picture_rows.latest_streams(
        context.db, picture_rows.STREAMS_IN_ROW
    )
    cells = await picture_rows.attendance(
        context.db, [row["id"] for row in people], [row["id"] for row in streams_shown]
    )
    rows = []
    for person in people:
        regular = person["lately"] >= bounds.regular_streams
        away = person["last_seen_at"] < bounds.missing_before
        rows.append(
            {
                **person,
                "regular": regular and not away,
                "missing": away and person["streams"] >= bounds.regular_streams,
                "cells": cells.get(person["id"], []),
            }
        )
    return {"total": total, "rows": rows}


def people_bounds(settings: Settings, now: int) -> PeopleBounds:
    """Return what makes a regular, a newcomer and somebody who is missing."""
    people = settings.people
    return PeopleBounds(
        regular_streams=people.regular_streams,
        regular_since=now - REGULAR_WITHIN,
        newcomer_streams=people.newcomer_streams,
        missing_before=now - people.returner_away_d * DAY,
    )


async def _person(context: DockContext, request: web.Request) -> object:
    since = context.clock.now() - REGULAR_WITHIN
    person = await dock_rows.person(context.db, request.match_info["id"], since)
    if person is None:
        raise InputError(reason("nothing_here"))
    regular = person["lately"] >= context.settings().people.regular_streams
    brief = await about_viewer(context.db, person["id"])
    suppressed = await _suppressed(context.db, person["id"])
    shown = (await viewers.get_many(context.db, [person["id"]])).get(person["id"])
    together = await together_with(
        context.db, person["id"], context.settings(), context.clock.now()
    )
    return {
        **person,
        "regular": regular,
        "brief": brief,
        "left_alone": suppressed,
        "wishes": shown.wishes if shown is not None and not shown.opted_out else "",
        "together": [fact.words(context.language) for fact in together.facts],
    }


async def _suppressed(db: Database, viewer_id: str | None) -> list[Item]:
    """Return what the bot never mentions about somebody, or about anybody (None). An unlisted topic has no words."""
    items: list[Item] = []
    for row in await notes.suppressions(db):
        if row.viewer_id == viewer_id:
            items.append(
                {"id": row.id, "words": row.words, "note": row.note_id, "at": row.at}
            )
    for topic in await suppression_list.unlisted_of(db, viewer_id):
        items.append({"id": topic.id, "words": "", "note": None, "at": topic.at})
    return items


async def _doubtful(context: DockContext, _request: web.Request) -> object:
    """Return the texts of others in which erasures left a name that may be a word: table, row, text."""
    rows = await personal_data.doubtful_texts(context.db, context.clock.now())
    shown_names = await names(context.db, (str(row["text"]) for row in rows))
    return [{**row, "text": with_names(str(row["text"]), shown_names)} for row in rows]


async def _receipts(context: DockContext, _request: web.Request) -> object:
    """Return the receipts of erasures and of forgotten facts: numbers of nobody."""
    file = ReceiptFile(context.db.path)
    receipts = await asyncio.to_thread(file.all, context.clock.now())
    return [
        {
            "code": receipt.code.upper(),
            "kind": receipt.kind,
            "day": receipt.day,
            "removed": sum(receipt.removed.values()),
            "remaining": receipt.remaining + receipt.doubtful,
            "finished": receipt.is_finished,
        }
        for receipt in receipts[:RECEIPTS_LIMIT]
    ]


async def _notes(context: DockContext, request: web.Request) -> object:
    query = request.query
    offset, limit = page_of(request)
    scope = query.get("scope", "")
    status = query.get("status", "live")
    if scope not in dock_rows.SCOPES or status not in dock_rows.STATUSES:
        raise InputError(reason("request_odd"))
    total, rows = await dock_rows.page(
        context.db,
        scope=scope,
        subject=query.get("subject", "")[:60],
        status=status,
        find=query.get("find", "")[:80],
        offset=offset,
        limit=limit,
    )
    return {"total": total, "rows": await notes_json(context, rows)}


async def notes_json(
    context: DockContext, rows: Sequence[Note]
) -> list[dict[str, object]]:
    """Return notes as the page shows them."""
    editors = await dock_rows.editors(context.db, [note.id for note in rows])
    people = [*(note.subject_id for note in rows), *editors.values()]
    shown_names = await names(context.db, (note.fact for note in rows), people)
    streamer_id = await by_login(
        context.db, context.settings().twitch.channel.casefold()
    )
    # by note: the suppression that names it
    suppressions = {
        row.note_id: row.id
        for row in await notes.suppressions(context.db)
        if row.note_id is not None
    }
    return [
        {
            "id": note.id,
            "scope": note.scope,
            "subject": note.subject_id,
            "who": shown_names.get(note.subject_id or "", ""),
            "fact": with_names(note.fact, shown_names),
            "confidence": round(note.confidence, 3),
            "status": note.status,
            "source": note.source_kind,
            "said_at": note.first_said_at,
            "confirmed_at": note.last_confirmed_at,
            "stale": note.stale,
            "expires_at": note.expires_at,
            "pinned": note.pinned,
            "episodes": len(note.episode_ids),
            "left_alone": suppressions.get(note.id),
            "edited": note.id in editors,
            "edited_by_you": editors.get(note.id, "") == streamer_id,
            "edited_by": shown_names.get(editors.get(note.id, ""), ""),
        }
        for note in rows
    ]


async def _note(context: DockContext, request: web.Request) -> object:
    """Return one note; with `chain` also where it comes from and was used.

    Raises InputError if there is none, or if it is of somebody who is hidden.
    """
    note_id = id_of(request)
    note = await dock_rows.note(context.db, note_id)
    if note is None:
        raise InputError(reason("nothing_here"))
    [shown_note] = await notes_json(context, [note])
    if request.query.get("chain"):
        shown_note["chain"] = await context.control.chain(note_id)
    return shown_note


async def _streams(context: DockContext, _request: web.Request) -> object:
    rows = await dock_rows.streams(context.db, STREAMS_LIMIT)
    shown_names = await names(context.db, (row["recap"] for row in rows))
    now = context.clock.now()
    on_now = await streams.current_id(context.db)
    shown = []
    for row in rows:
        item = {**dict(row), "recap": with_names(row["recap"], shown_names)}
        if row["id"] == on_now:
            item["so_far"] = await stream_so_far(context.db, now, SO_FAR_CHARS)
        shown.append(item)
    return shown


async def _episodes(context: DockContext, request: web.Request) -> object:
    rows = await dock_rows.episodes_of(context.db, id_of(request))
    shown_names = await names(context.db, (row["summary"] for row in rows))
    return [
        {**dict(row), "summary": with_names(row["summary"], shown_names)}
        for row in rows
        if row["summary"] != NOTHING
    ]


async def _export(context: DockContext, request: web.Request) -> object:
    result = await context.control.run("export", {"viewer": request.match_info["id"]})
    if not result.ok:
        raise InputError(sentence(result, context.language))
    return result.data


ROUTES = (
    reads(
        "/api/why/{id}", lambda context, request: context.control.why(id_of(request))
    ),
    reads("/api/approvals", _approvals),
    reads("/api/checks", _checks),
    reads("/api/setup", lambda _, request: request.app[SETUP].state()),
    web.post("/api/setup/{step}", _setup_step),
    web.post(UPLOAD, _past_chat),
    reads("/api/settings", _settings),
    reads("/api/people", _people),
    reads("/api/person/{id}", _person),
    reads("/api/notes", _notes),
    reads("/api/note/{id}", _note),
    reads("/api/streams", _streams),
    reads("/api/stream/{id}", _episodes),
    reads("/api/left_alone", lambda context, _: _suppressed(context.db, None)),
    reads("/api/doubtful", _doubtful),
    reads("/api/receipts", _receipts),
    reads("/api/export/{id}", _export),
)
