"""How well recall finds the note that answers a question, how fast, and how it does beside other ways.

    python scripts/bench_recall.py DATA [--errors FILE] [--tuned-on NAME …] [--fill N …] [--json] [--svg FILE]

DATA is a file in LoCoMo's format: conversations with observations (taken as notes), session summaries (taken as the
episodes they rest on) and questions with evidence. Everything goes through the public import and recall; the other
ways rank the same notes. A question's evidence ids name the notes that rest on them; its subjects are the speakers it
names, else both; ten notes are asked for. docs/EVALUATION.md says what each figure means and what it does not show.
"""

import argparse
import asyncio
import json
import math
import sys
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

from scoring import recall

WIDTH, HEIGHT, LEFT, TOP = 420, 300, 60, 50
COLOURS = ("#7c3aed", "#a78bfa", "#0e7490", "#b45309", "#6b7280", "#be123c", "#15803d", "#1d4ed8")
Lines = Mapping[str, Mapping[float, float]]


def show(results: dict[str, Any]) -> None:
    """Tables for people."""
    columns = ("questions", "recall@5", "recall@10", "mrr", "ms_p50", "ms_p95", "ms_p99")
    print(f"{'':44}" + "".join(f"{name:>10}" for name in columns))
    for way, by_kind in results["ways"].items():
        for kind, one in by_kind.items() if way not in {"episodes", "past"} else ():
            print(f"{way + ': ' + kind:44}" + "".join(f"{one[name]:10g}" for name in columns))
    episodes, past = results["ways"]["episodes"]["all"], results["ways"]["past"]["all"]
    print(f"\nepisodes: the best three hold the answer in {episodes['recall@10']:.3f} of the cases")
    right = past["recall@10"] / past["answered"] if past["answered"] else 0.0
    print(f"past: a prompt tells one in {past['answered']:.3f} of the cases; {right:.3f} of those hold the answer")
    for way, by_threshold in results["abstention"].items():
        for threshold, shares in by_threshold.items():
            answered, wrongly = shares["answered"], shares["answered wrongly"]
            print(f"fit ≥ {threshold}, {way}: {answered:.3f} of what has an answer, {wrongly:.3f} of what has none")
    print("\nrecall@10 by notes per person")
    for way, line in results["by_size"].items():
        print(f"{way:44}" + "".join(f"{size:>6}: {figure:.3f}" for size, figure in line.items()))
    for filled in results["filled"]:
        print("filled: " + ", ".join(f"{name} {figure:g}" for name, figure in filled.items()))


def charts(results: dict[str, Any]) -> str:
    """The SVG of recall by notes per person, and of time by notes in the database where that was measured."""
    lines = ("warm_cpu_ms_p50", "warm_cpu_ms_p99", "cold_cpu_ms_p50", "cold_cpu_ms_p99")
    latency = {
        name.replace("_cpu_ms_p", ", p"): {one["notes"]: one[name] for one in results["filled"]} for name in lines
    }
    return _svg(results["by_size"], latency if results["filled"] else {})


def _svg(by_size: Lines, latency: Lines) -> str:
    """Both charts side by side: recall against notes per person, time against notes in the database."""
    left = _chart(by_size, "recall@10 by notes per person", top=1.0, bottom=0.0, unit="")
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


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--errors", type=Path, metavar="FILE", help="questions known to be wrong: figures without them")
    parser.add_argument("--tuned-on", nargs="*", default=(), metavar="NAME", help="conversations that weights know")
    parser.add_argument("--fill", type=int, nargs="*", default=(), metavar="N", help="time it among N notes of others")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also draw it")
    arguments = parser.parse_args()
    try:
        results = asyncio.run(recall.measure(arguments.data, arguments.fill, arguments.errors, arguments.tuned_on))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{arguments.data} is no file in LoCoMo's format: {error}")
    if not results["ways"]:
        sys.exit(f"{arguments.data} asks no questions.")
    if arguments.svg:
        arguments.svg.write_text(charts(results), encoding="utf-8")
    if arguments.json:
        print(json.dumps(results))
    else:
        show(results)


if __name__ == "__main__":
    main()
