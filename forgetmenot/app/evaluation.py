"""What live chat shows about the bot: replies by outcome, the use of its memory, the cost of its prompts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from forgetmenot.clock import DAY, HOUR, MINUTE, iso
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH
from forgetmenot.settings import prices
from forgetmenot.settings.schema import Settings
from forgetmenot.store import model_calls, notes, run_stats, viewers
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, show

Figures = Mapping[str, Any]
UNITS = {"m": MINUTE, "h": HOUR, "d": DAY}
OFTEN = 5
"""A note that was offered that often and never used is worth a look."""
COUNTS = {
    "prompts": "Prompts by kind of message",
    "replies": "Replies by outcome",
    "unsupported": "Replies with something that no row supports",
    "filters": "Filters that changed a reply",
    "rules": "Rules that decided about an action",
    "shed": "Parts of the prompt left out, by kind of message",
    "calls": "Model calls",
    "tokens": "Tokens",
}


class ReportTable(NamedTuple):
    """One part of the report. A single column of numbers is drawn as bars."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str | int | float, ...]]


def period_of(text: str) -> int:
    """`7d`, `12h` in ms. Raises InputError."""
    period = re.fullmatch(r"(\d{1,4})([mhd])", text)
    if not period or not int(period[1]):
        raise InputError(f"--since {text}: a number and a unit are needed, for example 12h or 7d.")
    return int(period[1]) * UNITS[period[2]]


async def figures_since(db: Database, since: int, settings: Settings) -> dict[str, Any]:
    """All figures since a time (ms), as JSON has them. Money needs prices in the settings."""
    latencies = await run_stats.latencies(db, since)
    offered: list[dict[str, Any]] = [{**note, "fact": ""} for note in await run_stats.notes_offered(db, since)]
    facts = await notes.facts_by_id(db, [note["id"] for note in offered])
    named = {viewer_id for about, fact in facts.values() for viewer_id in (*ids_in(fact), *([about] if about else []))}
    names = await viewers.names(db, sorted(named))
    for note in offered:
        about, fact = facts.get(note["id"], (None, ""))
        note["fact"] = f"{names.get(about or '', 'the channel')}: {show(fact, names)}" if fact else "deleted"
    bills = await model_calls.bills(db, "purpose", since)
    spent = [(f"{bill.group} {bill.model}", prices.cost(settings, {bill.model: bill.used})) for bill in bills]
    total = await model_calls.spent(db, since=since)
    return {
        "since": iso(since),
        **await run_stats.sums(db, since),
        "sections": await run_stats.sections(db, since),
        "notes": {
            "offered": len(offered),
            "used": sum(note["used"] > 0 for note in offered),
            "most_used": [note for note in sorted(offered, key=lambda note: -note["used"]) if note["used"]][:10],
            "never_used": [note for note in offered if not note["used"] and note["offered"] >= OFTEN][:20],
            "corrected": [note for note in offered if note["corrected"]][:20],
        },
        "latency_ms": {f"p{share}": _quantile(latencies, share) for share in (50, 90, 99)},
        "spend": {name: round(cost.amount, 6) for name, cost in spent if cost is not None},
        "spend_total": prices.in_words(settings, total),
    }


def _quantile(ordered: list[int], share: int) -> int | None:
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)] if ordered else None


def tables(figures: Figures) -> list[ReportTable]:
    """The parts of the report in their order."""
    asked, offered, total = figures["prompts"], figures["notes"], figures["spend_total"]
    counts = {
        name: ReportTable(
            title, ("",), [(_called(name, code), count) for code, count in figures[name].items() if count]
        )
        for name, title in COUNTS.items()
    }
    shares = [
        (_called("shed", code), count, f"{100 * count // max(1, asked.get(code.partition(':')[0], 0))} %")
        for code, count in figures["shed"].items()
    ]
    counts["shed"] = ReportTable(COUNTS["shed"], ("prompts", "of that kind"), shares)
    return [
        *counts.values(),
        ReportTable(f"Spend: {total or 'no prices are set, see [prices]'}", ("",), list(figures["spend"].items())),
        ReportTable(
            "Sections of the prompt, by cost and gain",
            ("mean tokens", "rows shown", "notes used", "used per 1,000"),
            [
                (_called("sections", s["name"]), s["tokens"], s["shown"], s["used"], _gain(s))
                for s in figures["sections"]
            ],
        ),
        _notes("Notes used most", offered["most_used"]),
        _notes(f"Notes offered {OFTEN} times or more and never used", offered["never_used"]),
        _notes("Notes used in a reply that was called wrong", offered["corrected"]),
    ]


WORDS = {"sections": "section", "filters": "filter", "rules": "rule", "shed": "shed"}
"""The tables of the page's words, for what the figures name by a code."""


def _called(figure: str, code: str) -> str:
    """A code in words; of a kind of message or a verdict beside it, each for itself."""
    parts = [(f"page.{WORDS.get(figure, '')}.{part.replace(' ', '_')}", part) for part in code.split(": ")]
    return ": ".join(ENGLISH(key) if key in ENGLISH else part.replace("_", " ") for key, part in parts)


def _gain(section: Figures) -> float:
    """Notes used for each 1,000 tokens that a section took."""
    return round(float(1_000 * section["used"] / max(1, section["tokens"] * section["prompts"])), 2)


def _notes(title: str, found: Iterable[Figures]) -> ReportTable:
    rows = [(f"#{note['id']} {note['fact']}", note["offered"], note["used"], note["corrected"]) for note in found]
    return ReportTable(title, ("offered", "used", "called wrong"), rows)


def _summary(figures: Figures) -> str:
    offered = figures["notes"]
    took = ", ".join(f"{name} {ms} ms" for name, ms in figures["latency_ms"].items() if ms is not None)
    used = f"{offered['offered']} notes were in prompts, {offered['used']} were used"
    return f"{used}. Time for a reply: {took or 'no reply'}."


def in_words(figures: Figures, since: str) -> list[str]:
    """The report for a terminal."""
    lines = [f"The last {since}, since {figures['since']}. {_summary(figures)}"]
    for table in tables(figures):
        lines += ["", table.title]
        bars = len(table.columns) == 1
        most = max((float(row[1]) for row in table.rows), default=1) if bars else 0
        if not bars and table.rows:
            lines.append(f"  {'':44}" + "".join(f"{name:>16}" for name in table.columns))
        for name, *cells in table.rows:
            bar = "▇" * round(20 * float(cells[0]) / (most or 1)) if bars else ""
            width = 14 if bars else 16
            lines.append(f"  {name:44.43}" + "".join(f"{cell:>{width}}" for cell in cells) + (f" {bar}" if bar else ""))
        lines += [] if table.rows else ["  none"]
    return lines


# ── the page ────────────────────────────────────────────────────────────────────────────────

BAR, GAP, LEFT, WIDTH = 18, 6, 260, 720
KINDS = {**dict.fromkeys(("liked", "good", "went on"), "good"), **dict.fromkeys(("corrected", "bad", "deleted"), "bad")}
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1b22; --soft: #6b6975; --ground: #fbfaf8;
  --bar: #5b6ee1; --good: #2e8b57; --bad: #c0392b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceaf2; --soft: #a09dab; --ground: #17161b; --bar: #8c9bff; --good: #5fc08a; --bad: #ef7d70; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 760px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; } p, td { color: var(--soft); }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
rect { fill: var(--bar); } rect.good { fill: var(--good); } rect.bad { fill: var(--bad); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; font-variant-numeric: tabular-nums; }
"""


def page(figures: Figures, since: str) -> str:
    """The report as one HTML page that needs nothing else: text and inline SVG."""
    parts = [_part(table) for table in tables(figures)]
    head = f"<h1>ForgetMeNot: the last {escape(since)}</h1><p>Since {escape(figures['since'])}. {_summary(figures)}</p>"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>ForgetMeNot: evaluation</title><style>{_STYLE}</style><body>{head}{''.join(parts)}</body></html>\n"
    )


def _part(table: ReportTable) -> str:
    title = f"<h2>{escape(table.title)}</h2>"
    if not table.rows:
        return f"{title}<p>none</p>"
    if len(table.columns) == 1:
        return title + _chart(table)
    head = "".join(f"<th>{escape(name)}" for name in ("", *table.columns))
    return (
        f"{title}<table><tr>{head}"
        + "".join("<tr>" + "".join(f"<td>{escape(str(cell))}" for cell in row) for row in table.rows)
        + "</table>"
    )


def _chart(table: ReportTable) -> str:
    """Bars, the longest as wide as there is room."""
    most, rows = max(float(count) for _, count in table.rows) or 1, []
    for place, (name, count) in enumerate(table.rows):
        y, wide = place * (BAR + GAP), round((WIDTH - LEFT - 80) * float(count) / most)
        rows.append(
            f'<text x="{LEFT - 10}" y="{y + 14}" text-anchor="end">{escape(str(name))}</text>'
            f'<rect class="{KINDS.get(str(name), "")}" x="{LEFT}" y="{y}" width="{max(1, wide)}" height="{BAR}"/>'
            f'<text x="{LEFT + wide + 8}" y="{y + 14}">{count}</text>'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {len(table.rows) * (BAR + GAP)}" role="img" aria-label="{escape(table.title)}">'
        f"{''.join(rows)}</svg>"
    )
