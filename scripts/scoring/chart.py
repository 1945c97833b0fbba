"""Two line charts in one SVG, drawn by hand: recall against notes per person, time against notes in the database."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle, pairwise

WIDTH, HEIGHT, LEFT, TOP = 420, 300, 60, 50
COLOURS = ("#7c3aed", "#a78bfa", "#0e7490", "#b45309", "#6b7280", "#be123c", "#15803d", "#1d4ed8")
Lines = Mapping[str, Mapping[float, float]]


def svg(recall: Lines, latency: Lines) -> str:
    """Both charts side by side."""
    left = _chart(recall, "recall@10 by notes per person", top=1.0, bottom=0.0, unit="")
    parts = [_group(0, left)]
    if latency:
        slowest = max(value for line in latency.values() for value in line.values())
        right = _chart(
            latency,
            "processor ms for one message by notes in the database",
            top=10 ** math.ceil(math.log10(slowest)),
            bottom=0.1,
            unit=" ms",
        )
        parts.append(_group(WIDTH + 300, right))
    total = (WIDTH + 300) * len(parts) + LEFT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {HEIGHT + TOP + 50}" font-family="sans-serif"'
        f' font-size="12"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _group(x: int, inside: str) -> str:
    return f'<g transform="translate({x + LEFT},{TOP})">{inside}</g>'


def _chart(lines: Lines, title: str, *, top: float, bottom: float, unit: str) -> str:
    """One chart; its x axis is logarithmic, its y axis too where `bottom` is above 0."""
    xs = sorted({x for line in lines.values() for x in line})
    first, last = math.log(xs[0]), math.log(max(xs[-1], xs[0] * 1.01))

    def place(x: float, y: float) -> tuple[float, float]:
        share = math.log(max(y, bottom) / bottom) / math.log(top / bottom) if bottom else y / top
        return (math.log(x) - first) / (last - first) * WIDTH, HEIGHT * (1 - share)

    ticks = (
        [bottom * 10**i for i in range(round(math.log10(top / bottom)) + 1)] if bottom else [0, 0.2, 0.4, 0.6, 0.8, 1]
    )
    drawn = [f'<text y="-20" font-size="14" font-weight="bold">{escape(title)}</text>']
    for y in ticks:
        at = place(xs[0], y)[1]
        drawn.append(f'<path d="M0 {at:.1f}H{WIDTH}" stroke="#e5e7eb"/>')
        drawn.append(f'<text x="-8" y="{at + 4:.1f}" text-anchor="end">{y:g}{unit}</text>')
    drawn += [f'<text x="{place(x, top)[0]:.1f}" y="{HEIGHT + 20}" text-anchor="middle">{x:,g}</text>' for x in xs]
    labels = _apart([place(max(line), line[max(line)])[1] for line in lines.values()])
    for colour, label, (name, line) in zip(cycle(COLOURS), labels, lines.items(), strict=False):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(x, line[x]) for x in sorted(line)))
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn.append(f'<text x="{WIDTH + 8}" y="{label + 4:.1f}" fill="{colour}">{escape(name)}</text>')
    return "".join(drawn)


def _apart(ends: Sequence[float]) -> list[float]:
    """Where labels go: at the lines' ends, but never two in one place."""
    order = sorted(range(len(ends)), key=lambda i: ends[i])
    places = dict(enumerate(ends))
    for above, below in pairwise(order):
        places[below] = max(places[below], places[above] + 15)
    return [places[i] for i in range(len(ends))]
