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
import sys
from pathlib import Path
from typing import Any

from scoring import chart, recall


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
    return chart.svg(results["by_size"], latency if results["filled"] else {})


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
