"""The panels Figures, Health, Set-up and Settings: what the page asks for, as JSON."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

from aiohttp import web

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.dock.context import CONTEXT, DockContext, answer
from forgetmenot.dock.security import HOST
from forgetmenot.languages import Language, languages
from forgetmenot.memory.heard_facts import heard_facts
from forgetmenot.memory.notes.provenance import refusals
from forgetmenot.settings import prices
from forgetmenot.settings.labels import LABELS, RESTARTING, Label
from forgetmenot.settings.live_settings import form_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import backup, dock_rows, model_calls, run_stats

LAST_REPLIES = 60
LAST_STREAMS = 12
CHAT_STEP = 2 * MINUTE
CHAT_BARS = 60
CHAT_REACHES_BACK = 24 * HOUR


async def _figures(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    db = context.db
    bills = await dock_rows.bills(db, LAST_REPLIES)
    return answer(
        {
            "chat": await _chat(context),
            "sections": await dock_rows.tokens_per_section(db, LAST_REPLIES),
            "bills": bills,
            "streams": await _streams(context),
            "currency": context.settings().model.currency,
            "notes": await _notes(context),
            "filters": list((await run_stats.sum_of(db, "filters", 0)).items()),
            "rules": [(*name.split(": "), n) for name, n in (await run_stats.sum_of(db, "rules", 0)).items()],
            "recall": sorted(round(ms, 2) for ms in context.control.state().recall_ms),
        }
    )


async def _streams(context: DockContext) -> list[tuple[int, int, int, float | None]]:
    """Of each stream: its start, tokens in and out, and what they cost where prices are named."""
    settings, found = context.settings(), []
    for began, used in await model_calls.used_per_stream(context.db, LAST_STREAMS):
        cost = prices.cost(settings, used)
        tokens = sum(one.input for one in used.values()), sum(one.output for one in used.values())
        found.append((began, *tokens, None if cost is None else round(cost.amount, 6)))
    return found


async def _chat(context: DockContext) -> list[tuple[int, float]]:
    """Lines a minute, over the last two hours in which something was said; silence is 0."""
    counted = dict(await dock_rows.chat_per_minute(context.db, context.clock.now() - CHAT_REACHES_BACK, CHAT_STEP))
    if not counted:
        return []
    last = max(counted)
    bars = [last - (CHAT_BARS - 1 - number) * CHAT_STEP for number in range(CHAT_BARS)]
    return [(began, counted.get(began, 0) * MINUTE / CHAT_STEP) for began in bars]


async def _notes(context: DockContext) -> list[dict[str, object]]:
    """How many notes stood in which status at the end of each day on which something changed."""
    standing: dict[str, int] = {}
    days: dict[int, dict[str, int]] = {}
    for began, status, moved in await dock_rows.note_moves(context.db, DAY):
        standing[status] = standing.get(status, 0) + moved
        days[began] = dict(standing)
    return [{"at": day, "counts": counts} for day, counts in sorted(days.items())][-30:]


# Health.


GRACE = 20 * MINUTE  # between two sweeps


KEPT = (
    *("raw_old", "pruned_unread", "no_evidence", "hidden_lines"),
    *("lost_successor", "over_budget", "ran_unasked", "without_trail"),
)
"""The promises whose figure has to be 0."""


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
        "largest_prompt": language("promise.of_tokens", n=language.number(counted["largest_prompt"]), budget=budget),
        **{key: language.number(counted[key]) for key in ("unread", "to_extract", "set_aside", "unsure", "erasing")},
        "page": language("promise.this_machine", host=HOST),
        "size": f"{counted['size'] / 1_000_000:.1f} MB".replace(".", language("decimal")),
    }
    return [
        *(Promise(language(f"promise.{key}", hours=hours), str(counted[key]), counted[key] == 0) for key in KEPT),
        *(Promise(language(f"promise.{key}"), figure, None) for key, figure in shown.items()),
    ]


async def _health(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    settings = context.settings()
    oldest = context.clock.now() - round(settings.memory.raw_events_h * HOUR) - GRACE
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
        known = next((part for part in reversed(rule.split(":")) if f"page.refused.{part}" in say), "other")
        counted[what, say(f"page.refused.{known}")] += times
    return [(what, rule, times) for (what, rule), times in counted.most_common()]


def _backups(context: DockContext) -> list[dict[str, object]]:
    """The copies that lie beside the memory, newest first."""
    copies = [(one.name, one.stat()) for one in backup.copies_of(context.db.path)[:10]]
    return [{"name": name, "at": int(stat.st_mtime * 1_000), "size": stat.st_size} for name, stat in copies]


# The set-up, the settings and the first minutes; app/setup decides what an answer does.


class Setup(Protocol):
    """The set-up, step by step."""

    async def state(self) -> Mapping[str, object]:
        """What is set up and what is not, without a secret."""
        ...

    async def run(self, step: str, body: bytes) -> Mapping[str, object]:
        """Do one step with its JSON; the result has `ok` and `line`. Raises errors of ours."""
        ...


SETUP = web.AppKey("setup", Setup)


async def _state(request: web.Request) -> web.Response:
    return answer(await request.app[SETUP].state())


async def _run(request: web.Request) -> web.Response:
    result = await request.app[SETUP].run(request.match_info["step"], await request.read())
    request.app[CONTEXT].touched()
    return answer(result)


async def _settings(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    state = context.control.state()
    rows = [_row(context.settings(), table, key, label, context.language) for (table, key), label in LABELS.items()]
    return answer({"file": state.settings_file, "rows": rows, "languages": languages()})


async def _heard(request: web.Request) -> web.Response:
    """What one viewer said about themselves and no summary covers yet."""
    context = request.app[CONTEXT]
    viewer = request.query.get("viewer", "")[:60]
    facts = await heard_facts(context.db, context.settings().privacy, viewer) if viewer else []
    return answer([one.fact for one in facts])


def _row(settings: Settings, table: str, key: str, label: Label, language: Language) -> dict[str, object]:
    """One setting with its form, its default and its words."""
    title, sentence = language.pair(f"settings.{table}.{key}")
    return {
        "table": table,
        "key": key,
        "group": language(f"group.{label.group}"),
        "label": title,
        "sentence": sentence,
        "basic": label.basic,
        "suffix": language(f"unit.{label.unit}") if label.unit else "",
        "value": getattr(getattr(settings, table), key),
        "default": getattr(getattr(Settings(), table), key),
        "restarts": table in RESTARTING,
        "form": form_of(table, key),
    }


ROUTES = (
    web.get("/api/figures", _figures),
    web.get("/api/health", _health),
    web.get("/api/setup", _state),
    web.post("/api/setup/{step}", _run),
    web.get("/api/settings", _settings),
    web.get("/api/heard", _heard),
)
