"""Draw docs/images/growth.svg: `python scripts/bench.py growth --json | python scripts/growth_picture.py`.

Three curves with the size of the memory on a logarithmic axis. Nothing but the standard library is needed.
"""

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "growth.svg"
WIDTH = 260
HEIGHT = 180
LEFT = 84
TOP = 40
BOTTOM = 40
BLUE = "#4a6fa5"
CURVES = (
    ("prompt", "notes", "Prompt, warm", "ms of processor time"),
    ("erasure", "notes", "Erasure of a viewer", "s of processor time"),
    ("ingest", "lines", "Chat taken in", "lines a second of processor time"),
)
_NAME = re.compile(r"growth: (\w+) at (\d+) (\w+)")


class Point(NamedTuple):
    """A figure at a size."""

    size: int
    value: float


def points_of(figures: Sequence[dict[str, object]]) -> dict[str, list[Point]]:
    """Return the points of each curve by its name, smallest size first."""
    points: dict[str, list[Point]] = {name: [] for name, *_words in CURVES}
    for figure in figures:
        match = _NAME.match(str(figure["name"]))
        if match is not None:
            value = float(str(figure["value"]))
            points[match[1]].append(Point(int(match[2]), value))
    return {name: sorted(of_curve) for name, of_curve in points.items()}


def picture(points: dict[str, list[Point]]) -> str:
    """Return the SVG."""
    width = LEFT + len(CURVES) * (WIDTH + LEFT)
    height = TOP + HEIGHT + BOTTOM
    font = 'font-family="sans-serif" font-size="12" fill="#444"'
    view = f'viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} {font}>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, (name, unit, title, axis) in enumerate(CURVES):
        left_edge = LEFT + number * (WIDTH + LEFT)
        parts += _curve(points[name], left_edge, unit, f"{title} ({axis})")
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _curve(
    points: Sequence[Point],
    left_edge: int,
    unit: str,
    title: str,
) -> list[str]:
    """Return one curve with its axes; the values begin at zero."""
    smallest = math.log(points[0].size)
    largest = math.log(points[-1].size)
    top_value = 1.25 * max(point.value for point in points)
    bottom = TOP + HEIGHT
    parts = [
        f'<text x="{left_edge}" y="{TOP - 18}" font-weight="bold">{title}</text>',
        f'<path d="M{left_edge} {TOP}V{bottom}H{left_edge + WIDTH}" fill="none" stroke="#999"/>',
    ]
    line = []
    for point in points:
        share = (math.log(point.size) - smallest) / (largest - smallest)
        x = left_edge + 16 + share * (WIDTH - 32)
        y = bottom - point.value / top_value * HEIGHT
        line.append(f"{x:.1f},{y:.1f}")
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{BLUE}"/>')
        if point in {points[0], points[-1]}:
            value = _formatted(point.value)
            size = f"{point.size:,} {unit}"
            parts.append(_text(x, y - 10, value))
            parts.append(_text(x, bottom + 18, size))
    joined = " ".join(line)
    parts.append(
        f'<polyline points="{joined}" fill="none" stroke="{BLUE}" stroke-width="2"/>'
    )
    return parts


def _formatted(value: float) -> str:
    """Return a value with three digits at least."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _text(
    x: float,
    y: float,
    words: str,
) -> str:
    """Return a text whose middle stands at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{words}</text>'


def main() -> None:
    """Write the picture of the figures that come in."""
    figures = json.load(sys.stdin)["figures"]
    PICTURE.write_text(picture(points_of(figures)), encoding="utf-8")


if __name__ == "__main__":
    main()
