"""What the page asks for, as JSON: the panels Now, Memory, Approvals and Settings.

A panel reads rows and renders them; names of viewers are looked up last, and nobody who is hidden has one here.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
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
from forgetmenot.operations.actions import DEFAULT_REASON
from forgetmenot.operations.executor import undoable
from forgetmenot.operations.handlers.switches import switches_of
from forgetmenot.operations.wording import sentence
from forgetmenot.people.standing import REGULAR_WITHIN
from forgetmenot.ports import Control
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
from forgetmenot.text.mentions import ids_in, with_names

Item = Mapping[str, object]
LONGEST_PAGE = 200
SHOWN = 150  # items of each kind that a page gets when it opens
LOGGED = 100
STREAMS = 60
PIECE = 1 << 18  # bytes of a dropped file


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
        """What an open page was made from: with another one it loads itself again."""
        return f"{self.build}-{self.language.code}"

    @property
    def language(self) -> Language:
        """The texts in the language of the settings."""
        return in_language(self.settings().bot.language)


CONTEXT = web.AppKey("context", DockContext)


def answer(value: object, status: int = 200, language: Language = ENGLISH) -> web.Response:
    """A value as JSON, with the reasons in it in a language."""
    body = msgspec.json.encode(value, enc_hook=language.reason)
    return web.Response(body=body, status=status, content_type="application/json")


def refusal(status: int, sentence: str) -> web.Response:
    """A refusal with its sentence, in the same shape as an action's answer."""
    return answer({"ok": False, "line": sentence}, status)


def whole(text: str) -> int:
    """A whole number that is typed in an address. Raises InputError."""
    if not text.isdecimal() or len(text) > 15:
        raise InputError(reason("request_odd"))
    return int(text)


def reads(
    path: str, panel: Callable[[DockContext, web.Request], Awaitable[object]]
) -> web.RouteDef:
    """A route that answers with what a panel shows."""

    async def answered(request: web.Request) -> web.Response:
        context = request.app[CONTEXT]
        return answer(await panel(context, request), language=context.language)

    return web.get(path, answered)


def id_of(request: web.Request) -> int:
    """The id in the path. Raises InputError."""
    return whole(request.match_info["id"])


def page_of(request: web.Request) -> tuple[int, int]:
    """Offset and limit of the query. Raises InputError."""
    offset, limit = (
        whole(request.query.get(name, usual)) for name, usual in (("offset", "0"), ("limit", "50"))
    )
    return offset, min(limit, LONGEST_PAGE)


async def names(
    db: Database, texts: Iterable[str], also: Iterable[str | None] = ()
) -> dict[str, str]:
    """The present names of viewers mentioned in texts and of these ids, without hidden ones."""
    people = {who for text in texts for who in ids_in(text)} | {who for who in also if who}
    return await viewers.names(db, sorted(people - await viewers.hidden(db, people)))


# Now: how things stand, and what happened.


async def standing(context: DockContext) -> Item:
    """How things stand. Times in ms; `spent`: tokens of the last 24 hours, and their cost where prices are named.

    `arrivals`: who of those that the memory knows just came in.
    """
    now, settings, state = context.clock.now(), context.settings(), context.control.state()
    channel = await channel_state.read_all(context.db)
    switched = switches_of(channel)
    used = await counts.tokens_by_model(context.db, since=now - DAY)
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
        "paused": switched.paused,
        "quiet_until": switched.quiet_until,
        "safe_mode": switched.safe_mode or settings.actions.safe_mode,
        "safe_in_settings": settings.actions.safe_mode,
        "phase": state.phase,
        "trouble": context.language.reason(trouble),
        "hint": context.language.reason(state.login_hint),
        "login_trouble": context.language.reason(state.login_trouble),
        "per_minute": await events.count_since(context.db, now - MINUTE),
        "raw_h": settings.memory.raw_events_h,
        "unread": await events.count_unread(context.db),
        "unread_at": await events.last_unread_at(context.db),
        "summaries": await context.db.highest_id("episodes") > 0,
        "window": settings.memory.window_min_events,
        "silence_min": SILENCE // MINUTE,
        "spent": {
            "tokens": sum(one.input + one.output for one in used.values()),
            "cost": prices.cost_text(settings, used, context.language),
            "limits": await _limits(context, used),
            "saving": context.language.reason(state.saving),
        },
        "waiting": len(await action_logs.waiting(context.db, now)),
        "recap": await streams.newest_recap(context.db, now - DAY),
        "arrivals": [one._asdict() for one in await arrivals(context.db, settings, now)],
        "hearing": state.hearing
        and {
            "on": state.hearing.listening,
            "trouble": context.language.reason(state.hearing.trouble),
        },
    }


async def _limits(context: DockContext, used_today: Mapping[str, prices.TokenCounts]) -> Item:
    """Per limit what was spent, what may be, and the share of it; None where no limit is set."""
    limits, stream = context.settings().limits, await streams.current_id(context.db)
    began = (
        await streams.start_of(context.db, stream) if stream is not None else context.clock.now()
    )
    used_now = (
        await counts.tokens_by_model(context.db, since=began)
        if limits.tokens_per_stream or limits.money_per_stream
        else {}
    )
    return {
        "day": _limit(context, used_today, limits.tokens_per_day, limits.money_per_day),
        "stream": _limit(context, used_now, limits.tokens_per_stream, limits.money_per_stream),
    }


def _limit(
    context: DockContext, used: Mapping[str, prices.TokenCounts], tokens: int, money: float
) -> Item | None:
    settings, say = context.settings(), context.language
    if money:
        spent = prices.cost(settings, used) or prices.Cost(0.0, whole=True)
        most = prices.money_text(settings, prices.Cost(money, whole=True), say)
        return {
            "spent": prices.money_text(settings, spent, say),
            "text": most,
            "share": spent.amount / money,
            "in_money": True,
        }
    if tokens:
        count = sum(one.input + one.output for one in used.values())
        most = say("page.count.tokens", n=say.number(tokens))
        return {
            "spent": say("page.count.tokens", n=say.number(count)),
            "text": most,
            "share": count / tokens,
            "in_money": False,
        }
    return None


async def history(context: DockContext, limit: int = SHOWN) -> list[Item]:
    """The newest of what happened, oldest first."""
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
    known = await names(db, texts, people)
    shown = _Shown(known, await viewers.colors(db, known), context.language)
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
        """Somebody as an item names them; empty for nobody, and for who is hidden."""
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


def _reply(row: BotMessage, shown: _Shown, *, asks: bool) -> Item:
    """`asks`: it says that an action waits for approval, which the approval's own card says as well."""
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
    """Whether channel points were spent on an answer that did not come, so that they can be given back."""
    done = {ReplyStatus.SENDING, ReplyStatus.SENT, ReplyStatus.UNKNOWN}
    no_loss = {bot_messages.NOT_FINISHED, bot_messages.ANSWERED_ELSEWHERE}
    return reply.trigger == "reward" and reply.status not in done and reply.detail not in no_loss


def _proposal(row: LoggedAction, known: Mapping[str, str], language: Language) -> Item:
    """One proposal, for the feed and for the approvals."""
    return {
        "id": row.id, "at": row.at, "name": row.name,
        "reason": language.reason(row.reason), "status": row.status, "detail": language.reason(row.detail),
        "asked_by": known.get(row.asked_by or "", ""), "target": known.get(row.target_id or "", ""),
        "target_id": row.target_id if row.target_id in known else "",
        "params": {
            name: known.get(value, value)
            for name, value in row.params.items()
            if value != DEFAULT_REASON
        },
    }  # fmt: skip


# Approvals: what waits for a person, and the log of what was done.


async def _rows(context: DockContext, rows: list[LoggedAction]) -> list[Item]:
    people = [who for row in rows for who in (row.asked_by, row.target_id, row.decided_by)]
    known = await names(context.db, (), people)
    return [
        {
            **_proposal(row, known, context.language),
            "expires_at": row.expires_at,
            "decided_by": known.get(row.decided_by or "", row.decided_by or ""),
            "undoable": undoable(row, context.clock.now()) is not None,
        }
        for row in rows
    ]


async def _approvals(context: DockContext, _request: web.Request) -> object:
    waiting = await action_logs.waiting(context.db, context.clock.now())
    over = [
        row
        for row in await action_logs.latest(context.db, LOGGED)
        if row.status is not ActionStatus.WAITING
    ]
    return {"waiting": await _rows(context, waiting), "log": await _rows(context, over)}


# Settings: how each part is, every setting, and the set-up, where app/setup decides what an answer does.


async def _checks(context: DockContext, request: web.Request) -> object:
    """How each part of the bot is; with `all` also this computer, the files and the network, which takes seconds."""
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
        self, name: str, size: int | None, pieces: AsyncIterator[bytes]
    ) -> Mapping[str, object]:
        """Keep a file with chat of past streams. `size`: as it was announced. Raises errors of ours."""
        ...


SETUP = web.AppKey("setup", Setup)


async def _setup_step(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    result = await request.app[SETUP].run(request.match_info["step"], await request.read())
    context.touched()
    return answer(result, language=context.language)


async def _past_chat(request: web.Request) -> web.Response:
    pieces = request.content.iter_chunked(PIECE)
    name = request.query.get("name", "")
    return answer(await request.app[SETUP].take_file(name, request.content_length, pieces))


async def _settings(context: DockContext, _request: web.Request) -> object:
    rows = [_setting(context.settings(), table, key, context.language) for table, key in LABELS]
    return {"file": context.control.state().settings_file, "rows": rows, "languages": languages()}


def _setting(settings: Settings, table: str, key: str, language: Language) -> Item:
    """One setting with its form, its default and its words."""
    label = LABELS[table, key]
    title, explanation = language.pair(f"settings.{table}.{key}")
    value, default = (
        getattr(getattr(settings, table), key),
        getattr(getattr(Settings(), table), key),
    )
    if (table, key) == (
        "bot",
        "notice",
    ):  # said in the channel's language as long as it is the one to begin with
        said = language("chat.notice")
        value, default = said if value == default else value, said
    return {
        "table": table, "key": key, "group": language(f"group.{label.group}"), "label": title, "sentence": explanation,
        "basic": label.basic, "value": value, "default": default, "form": form_of(table, key),
    }  # fmt: skip


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
    streams_shown = await picture_rows.latest_streams(context.db, picture_rows.STREAMS_IN_ROW)
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
    alone = await _never_mentioned(context.db, person["id"])
    return {**person, "regular": regular, "brief": brief, "left_alone": alone}


async def _never_mentioned(db: Database, viewer_id: str | None) -> list[Item]:
    """What the bot never mentions about somebody, or about anybody (None). An unlisted topic has no words."""
    rows = [row for row in await notes.suppressions(db) if row.viewer_id == viewer_id]
    listed = [{"id": row.id, "words": row.words, "note": row.note_id, "at": row.at} for row in rows]
    unlisted = await suppression_list.unlisted_of(db, viewer_id)
    return [
        *listed,
        *({"id": topic.id, "words": "", "note": None, "at": topic.at} for topic in unlisted),
    ]


async def _doubtful(context: DockContext, _request: web.Request) -> object:
    """The texts of others in which erasures left a name that may be a word: table, row, text."""
    rows = await personal_data.doubtful_texts(context.db, context.clock.now())
    known = await names(context.db, (str(row["text"]) for row in rows))
    return [{**row, "text": with_names(str(row["text"]), known)} for row in rows]


async def _notes(context: DockContext, request: web.Request) -> object:
    query = request.query
    offset, limit = page_of(request)
    scope, status = query.get("scope", ""), query.get("status", "live")
    if scope not in dock_rows.SCOPES or status not in dock_rows.STATUSES:
        raise InputError(reason("request_odd"))
    subject, find = query.get("subject", "")[:60], query.get("find", "")[:80]
    total, rows = await dock_rows.page(
        context.db,
        scope=scope,
        subject=subject,
        status=status,
        find=find,
        offset=offset,
        limit=limit,
    )
    return {"total": total, "rows": await notes_json(context, rows)}


async def notes_json(context: DockContext, rows: Sequence[Note]) -> list[dict[str, object]]:
    """Notes as the page shows them."""
    editors = await dock_rows.editors(context.db, [note.id for note in rows])
    people = [*(note.subject_id for note in rows), *editors.values()]
    known = await names(context.db, (note.fact for note in rows), people)
    streamer = await by_login(context.db, context.settings().twitch.channel.casefold())
    alone = {
        row.note_id: row.id
        for row in await notes.suppressions(context.db)
        if row.note_id is not None
    }
    return [
        {
            "id": note.id, "scope": note.scope, "subject": note.subject_id, "who": known.get(note.subject_id or "", ""),
            "fact": with_names(note.fact, known), "confidence": round(note.confidence, 3), "status": note.status,
            "source": note.source_kind, "said_at": note.first_said_at, "confirmed_at": note.last_confirmed_at,
            "stale": note.stale, "expires_at": note.expires_at,
            "pinned": note.pinned, "episodes": len(note.episode_ids), "left_alone": alone.get(note.id),
            "edited": note.id in editors, "edited_by_you": editors.get(note.id, "") == streamer,
            "edited_by": known.get(editors.get(note.id, ""), ""),
        }
        for note in rows
    ]  # fmt: skip


async def _note(context: DockContext, request: web.Request) -> object:
    """One note, unless it is of somebody who is hidden; with `chain` also where it comes from and was used."""
    number = id_of(request)
    note = await dock_rows.note(context.db, number)
    if note is None:
        raise InputError(reason("nothing_here"))
    chain = {"chain": await context.control.chain(number)} if request.query.get("chain") else {}
    return {**(await notes_json(context, [note]))[0], **chain}


async def _streams(context: DockContext, _request: web.Request) -> object:
    rows = await dock_rows.streams(context.db, STREAMS)
    known = await names(context.db, (row["recap"] for row in rows))
    return [{**dict(row), "recap": with_names(row["recap"], known)} for row in rows]


async def _episodes(context: DockContext, request: web.Request) -> object:
    rows = await dock_rows.episodes_of(context.db, id_of(request))
    known = await names(context.db, (row["summary"] for row in rows))
    return [
        {**dict(row), "summary": with_names(row["summary"], known)}
        for row in rows
        if row["summary"] != NOTHING
    ]


async def _export(context: DockContext, request: web.Request) -> object:
    result = await context.control.run("export", {"viewer": request.match_info["id"]})
    if not result.ok:
        raise InputError(sentence(result, context.language))
    return result.data


ROUTES = (
    reads("/api/why/{id}", lambda context, asked: context.control.why(id_of(asked))),
    reads("/api/approvals", _approvals),
    reads("/api/checks", _checks),
    reads("/api/setup", lambda _, asked: asked.app[SETUP].state()),
    web.post("/api/setup/{step}", _setup_step),
    web.post(UPLOAD, _past_chat),
    reads("/api/settings", _settings),
    reads("/api/people", _people),
    reads("/api/person/{id}", _person),
    reads("/api/notes", _notes),
    reads("/api/note/{id}", _note),
    reads("/api/streams", _streams),
    reads("/api/stream/{id}", _episodes),
    reads("/api/left_alone", lambda context, _: _never_mentioned(context.db, None)),
    reads("/api/doubtful", _doubtful),
    reads("/api/export/{id}", _export),
)
