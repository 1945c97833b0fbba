"""The panels Figures, Health, Set-up, Settings, Memory and Rights: what the page asks for, as JSON."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from aiohttp import web

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.dock.context import CONTEXT, DockContext, answer, id_of, names, page_of
from forgetmenot.dock.security import HOST
from forgetmenot.domain.memory import Note
from forgetmenot.errors import InputError
from forgetmenot.languages import Language, languages, reason
from forgetmenot.memory.briefs import about_viewer
from forgetmenot.memory.notes.provenance import refusals
from forgetmenot.memory.viewer_rules import REGULAR_WITHIN
from forgetmenot.operations.wording import sentence
from forgetmenot.settings import prices
from forgetmenot.settings.live_settings import LABELS, Label, form_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import backup, channel_state, dock_rows, model_calls, notes, run_stats
from forgetmenot.store.dock_rows import NotePage, PersonRow
from forgetmenot.text.mentions import show

LAST_REPLIES = 60
LAST_STREAMS = 12
CHAT_STEP = 2 * MINUTE
CHAT_BARS = 60
CHAT_REACHES_BACK = 24 * HOUR
BETWEEN_SWEEPS = 20 * MINUTE
"""How much older than its setting chat may get: it is deleted every ten minutes, and one time may be missed."""
ZERO_PROMISES = (
    "raw_old", "pruned_unread", "no_evidence", "hidden_lines",
    "lost_successor", "over_budget", "ran_unasked", "without_trail",
)  # fmt: skip
"""The promises whose figure has to be 0."""
STREAMS = 60


async def _figures(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    db = context.db
    bills = await dock_rows.bills(db, LAST_REPLIES)
    return answer(
        {
            "chat": await _chat(context),
            "sections": await dock_rows.tokens_per_section(db, LAST_REPLIES),
            "bills": bills,
            "streams": await _spend_per_stream(context),
            "currency": context.settings().model.currency,
            "notes": await _notes_per_day(context),
            "filters": list((await run_stats.sum_of(db, "filters", 0)).items()),
            "rules": await _rules(context),
            "recall": sorted(round(ms, 2) for ms in context.control.state().recall_ms),
        }
    )


async def _rules(context: DockContext) -> list[tuple[str, str, int]]:
    """How often each rule decided, and what; a rule is its reason."""
    say, found = context.language, []
    for name, times in (await run_stats.sum_of(context.db, "rules", 0)).items():
        rule, verdict = name.split(": ")
        found.append((say(key) if (key := f"reason.{rule}") in say else rule, verdict, times))
    return found


async def _spend_per_stream(context: DockContext) -> list[tuple[int, int, int, float | None]]:
    """Of each stream: its start, tokens in and out, and what they cost where prices are named."""
    settings = context.settings()
    found: list[tuple[int, int, int, float | None]] = []
    for began, used in await model_calls.used_per_stream(context.db, LAST_STREAMS):
        cost = prices.cost(settings, used)
        tokens_in = sum(usage.input for usage in used.values())
        tokens_out = sum(usage.output for usage in used.values())
        found.append((began, tokens_in, tokens_out, None if cost is None else round(cost.amount, 6)))
    return found


async def _chat(context: DockContext) -> list[tuple[int, float]]:
    """Lines a minute, over the last two hours in which something was said; silence is 0."""
    counted = dict(await dock_rows.chat_per_minute(context.db, context.clock.now() - CHAT_REACHES_BACK, CHAT_STEP))
    if not counted:
        return []
    last = max(counted)
    bars = [last - (CHAT_BARS - 1 - number) * CHAT_STEP for number in range(CHAT_BARS)]
    return [(began, counted.get(began, 0) * MINUTE / CHAT_STEP) for began in bars]


async def _notes_per_day(context: DockContext) -> list[dict[str, object]]:
    """How many notes stood in which status at the end of each day on which something changed."""
    standing: dict[str, int] = {}
    days: dict[int, dict[str, int]] = {}
    for began, status, moved in await dock_rows.note_moves(context.db, DAY):
        standing[status] = standing.get(status, 0) + moved
        days[began] = dict(standing)
    return [{"at": day, "counts": counts} for day, counts in sorted(days.items())][-30:]


# Health: what is checked, and the promises as figures.


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise as a figure. `kept` None: it is only shown, there is nothing to keep."""

    line: str
    figure: str
    kept: bool | None


def promises(counted: Mapping[str, int], settings: Settings, language: Language) -> list[Promise]:
    """The figures behind the promises. Pure."""
    hours = f"{settings.memory.raw_events_h:g}"
    budget = language.number(settings.prompt.budget_tokens)
    shown = {
        "largest_prompt": language("page.why.of_budget", n=language.number(counted["largest_prompt"]), budget=budget),
        **{key: language.number(counted[key]) for key in ("unread", "to_extract", "set_aside", "unsure", "erasing")},
        "page": language("promise.this_machine", host=HOST),
        "size": f"{counted['size'] / 1_000_000:.1f} MB".replace(".", language("decimal")),
    }
    return [
        *(
            Promise(language(f"promise.{key}", hours=hours), str(counted[key]), counted[key] == 0)
            for key in ZERO_PROMISES
        ),
        *(Promise(language(f"promise.{key}"), figure, None) for key, figure in shown.items()),
    ]


async def _health(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    settings = context.settings()
    oldest = context.clock.now() - round(settings.memory.raw_events_h * HOUR) - BETWEEN_SWEEPS
    counted = await dock_rows.promises(context.db, oldest=oldest)
    checks = await context.control.checks(everything=request.query.get("all") == "1")
    return answer(
        {
            "checks": [asdict(check) for check in checks],
            "promises": [asdict(promise) for promise in promises(counted, settings, context.language)],
            "refused": await _refused(context),
            "backups": await asyncio.to_thread(_backups, context),
        }
    )


async def _refused(context: DockContext) -> list[tuple[str, str, int]]:
    """What was kept out of the memory since the start: what it was, by which rule in words, how often."""
    say, counted = context.language, Counter[tuple[str, str]]()
    for what, rule, times in await refusals(context.db):
        # the last part with words of its own: "sensitive:health" is told as sensitive
        known = next((part for part in reversed(rule.split(":")) if f"page.refused.{part}" in say), "other")
        counted[what, say(f"page.refused.{known}")] += times
    return [(what, rule, times) for (what, rule), times in counted.most_common()]


def _backups(context: DockContext) -> list[dict[str, object]]:
    """The copies that lie beside the memory, newest first."""
    copies = [(one.name, one.stat()) for one in backup.copies_of(context.db.path)[:10]]
    return [{"name": name, "at": int(stat.st_mtime * 1_000), "size": stat.st_size} for name, stat in copies]


# The set-up, where app/setup decides what an answer does, and the settings.


class Setup(Protocol):
    """The set-up, step by step."""

    async def state(self) -> Mapping[str, object]:
        """What is set up and what is not, without a secret."""
        ...

    async def run(self, step: str, body: bytes) -> Mapping[str, object]:
        """Do one step with its JSON; the result has `ok` and `line`. Raises errors of ours."""
        ...


SETUP = web.AppKey("setup", Setup)


async def _setup_state(request: web.Request) -> web.Response:
    return answer(await request.app[SETUP].state())


async def _setup_step(request: web.Request) -> web.Response:
    result = await request.app[SETUP].run(request.match_info["step"], await request.read())
    request.app[CONTEXT].touched()
    return answer(result)


async def _settings(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    state = context.control.state()
    rows = [
        setting_json(context.settings(), table, key, label, context.language) for (table, key), label in LABELS.items()
    ]
    return answer({"file": state.settings_file, "rows": rows, "languages": languages()})


def setting_json(settings: Settings, table: str, key: str, label: Label, language: Language) -> dict[str, object]:
    """One setting with its form, its default and its words."""
    title, explanation = language.pair(f"settings.{table}.{key}")
    value, default = getattr(getattr(settings, table), key), getattr(getattr(Settings(), table), key)
    if (table, key) == ("bot", "notice"):  # said in the channel's language as long as it is the one to begin with
        said = language("chat.notice")
        value, default = said if value == default else value, said
    return {
        "table": table, "key": key, "group": language(f"group.{label.group}"), "label": title, "sentence": explanation,
        "basic": label.basic, "suffix": language(f"unit.{label.unit}") if label.unit else "",
        "value": value, "default": default,
        "form": form_of(table, key),
    }  # fmt: skip


# Memory and Rights: people, their notes, the channel's, streams with episodes, a note's chain.


def person_json(person: PersonRow, regular_streams: int) -> dict[str, object]:
    """Somebody as the page shows them."""
    return {
        **person._asdict(), "opted_out": bool(person.opted_out), "banned": bool(person.banned),
        "erasing": bool(person.erasing), "regular": person.lately >= regular_streams,
    }  # fmt: skip


def _since(context: DockContext) -> int:
    return context.clock.now() - REGULAR_WITHIN


async def _people(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    offset, limit = page_of(request)
    total, people = await dock_rows.people(
        context.db,
        find=request.query.get("find", "")[:50],
        since=_since(context),
        bot=await channel_state.read(context.db, "bot_id"),
        offset=offset,
        limit=limit,
        only="opted_out" if request.query.get("only") == "opted_out" else "",
    )
    regular = context.settings().people.regular_streams
    return answer({"total": total, "rows": [person_json(person, regular) for person in people]})


async def _person(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    person = await dock_rows.person(context.db, request.match_info["id"], _since(context))
    if person is None:
        raise InputError(reason("no_viewer"))
    alone = [row for row in await notes.suppressions(context.db) if row.viewer_id == person.id]
    known = person_json(person, context.settings().people.regular_streams)
    brief, streams = await about_viewer(context.db, person.id)
    known |= {"brief": brief, "in_streams": streams}
    return answer({**known, "left_alone": [{"id": row.id, "words": row.words, "note": row.note_id} for row in alone]})


async def _notes(request: web.Request) -> web.Response:
    context, query = request.app[CONTEXT], request.query
    offset, limit = page_of(request)
    scope, status = query.get("scope", ""), query.get("status", "live")
    if scope not in dock_rows.SCOPES or status not in dock_rows.STATUSES:
        raise InputError(reason("no_notes"))
    wanted = NotePage(scope, query.get("subject", "")[:60], status, query.get("find", "")[:80], offset, limit)
    total, rows = await dock_rows.page(context.db, wanted)
    return answer({"total": total, "rows": await notes_json(context, rows)})


async def notes_json(context: DockContext, rows: Sequence[Note]) -> list[dict[str, object]]:
    """Notes as the page shows them."""
    known = await names(context.db, (note.fact for note in rows), (note.subject_id for note in rows))
    alone = {row.note_id: row.id for row in await notes.suppressions(context.db) if row.note_id is not None}
    return [
        {
            "id": note.id, "scope": note.scope, "subject": note.subject_id, "who": known.get(note.subject_id or "", ""),
            "fact": show(note.fact, known), "confidence": round(note.confidence, 3), "status": note.status,
            "source": note.source_kind, "said_at": note.first_said_at, "confirmed_at": note.last_confirmed_at,
            "stale": note.stale, "expires_at": note.expires_at,
            "pinned": note.pinned, "episodes": len(note.episode_ids), "left_alone": alone.get(note.id),
        }
        for note in rows
    ]  # fmt: skip


async def _shown(request: web.Request) -> Note:
    """The note that is asked for, unless it is of somebody who is hidden. Raises InputError."""
    note = await dock_rows.note(request.app[CONTEXT].db, number := id_of(request))
    if note is None:
        raise InputError(reason("note_hidden", n=number))
    return note


async def _note(request: web.Request) -> web.Response:
    note = await _shown(request)
    return answer((await notes_json(request.app[CONTEXT], [note]))[0])


async def _chain(request: web.Request) -> web.Response:
    await _shown(request)
    context = request.app[CONTEXT]
    return answer(await context.control.chain(id_of(request)), language=context.language)


async def _streams(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await dock_rows.streams(context.db, STREAMS)
    known = await names(context.db, (row["recap"] for row in rows))
    columns = ("id", "started_at", "ended_at", "title", "category", "episodes", "people")
    return answer([{**{name: row[name] for name in columns}, "recap": show(row["recap"], known)} for row in rows])


async def _episodes(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await dock_rows.episodes_of(context.db, id_of(request))
    known = await names(context.db, (row["summary"] for row in rows))
    return answer([{**dict(row), "summary": show(row["summary"], known)} for row in rows])


async def _left_alone(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await notes.suppressions(context.db)
    known = await names(context.db, (), (row.viewer_id for row in rows))
    return answer(
        [
            {
                "id": row.id, "viewer": row.viewer_id, "who": known.get(row.viewer_id or "", ""),
                "words": row.words, "note": row.note_id,
            }
            for row in rows
        ]
    )  # fmt: skip


async def _export(request: web.Request) -> web.Response:
    params = {"viewer": request.match_info["id"]}
    result = await request.app[CONTEXT].control.run("export", params, lambda _share, _step: None)
    if not result.ok:
        raise InputError(sentence(result, request.app[CONTEXT].language))
    response = answer(dict(result.data))
    response.headers["Content-Disposition"] = 'attachment; filename="forgetmenot-export.json"'
    return response


ROUTES = (
    web.get("/api/figures", _figures),
    web.get("/api/health", _health),
    web.get("/api/setup", _setup_state),
    web.post("/api/setup/{step}", _setup_step),
    web.get("/api/settings", _settings),
    web.get("/api/people", _people),
    web.get("/api/person/{id}", _person),
    web.get("/api/notes", _notes),
    web.get("/api/note/{id}", _note),
    web.get("/api/chain/{id}", _chain),
    web.get("/api/streams", _streams),
    web.get("/api/stream/{id}", _episodes),
    web.get("/api/left_alone", _left_alone),
    web.get("/api/export/{id}", _export),
)
