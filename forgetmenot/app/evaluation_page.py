"""The report of `forgetmenot eval report --html` as one page that needs nothing else: text and inline SVG."""

from collections.abc import Mapping
from html import escape

from forgetmenot.app.evaluation import COUNTS, Figures

BAR, GAP, LEFT, WIDTH = 18, 6, 260, 720
GOOD = frozenset(("liked", "good", "went_on"))
BAD = frozenset(("corrected", "bad", "deleted"))
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
    """The page as HTML text."""
    charts = [_chart(title, figures[name]) for name, title in COUNTS.items()]
    tokens = {section["name"]: section["tokens"] for section in figures["sections"]}
    notes = figures["notes"]
    told = ", ".join(f"{name} {ms} ms" for name, ms in figures["latency_ms"].items() if ms is not None) or "no reply"
    body = [
        f"<h1>ForgetMeNot: the last {escape(since)}</h1>",
        f"<p>Since {escape(figures['since'])}. Time for a reply: {told}.</p>",
        *charts[:2],
        _chart("Mean tokens of each section of the prompt", tokens),
        *charts[2:],
        f"<h2>Notes</h2><p>{notes['offered']} were in prompts, {notes['used']} were used.</p>",
        _notes("Most used", [one for one in notes["most_used"] if one["used"]]),
        _notes("Often offered, never used", notes["never_used"]),
        _notes("Used in a reply that was called wrong", notes["corrected"]),
    ]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>ForgetMeNot: evaluation</title><style>{_STYLE}</style><body>{''.join(body)}</body></html>\n"
    )


def _chart(title: str, counts: Mapping[str, int]) -> str:
    """Bars, the longest as wide as there is room."""
    if not counts:
        return f"<h2>{escape(title)}</h2><p>none</p>"
    most, rows = max(1, *counts.values()), []
    for place, (name, count) in enumerate(counts.items()):
        y, wide = place * (BAR + GAP), round((WIDTH - LEFT - 80) * count / most)
        kind = "good" if name in GOOD else "bad" if name in BAD else ""
        label = escape(name.replace("_", " "))
        rows.append(
            f'<text x="{LEFT - 10}" y="{y + 14}" text-anchor="end">{label}</text>'
            f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{max(1, wide)}" height="{BAR}" rx="3"/>'
            f'<text x="{LEFT + wide + 8}" y="{y + 14}">{count}</text>'
        )
    tall = len(counts) * (BAR + GAP)
    return (
        f'<h2>{escape(title)}</h2><svg viewBox="0 0 {WIDTH} {tall}" role="img" aria-label="{escape(title)}">'
        f"{''.join(rows)}</svg>"
    )


def _notes(title: str, found: list[Mapping[str, int]]) -> str:
    rows = "".join(f"<tr><td>#{n['id']}<td>{n['offered']}<td>{n['used']}<td>{n['corrected']}" for n in found)
    head = "<tr><th>note<th>offered<th>used<th>called wrong"
    return f"<h2>{escape(title)}</h2><table>{head}{rows}</table>" if rows else ""
