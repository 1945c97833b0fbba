"""How well recall finds the note that answers a question, and how fast.

    python scripts/bench_recall.py DATA [--fill 200000] [--json]

DATA is a file in LoCoMo's format: conversations with observations (taken as notes), session summaries (taken as the
episodes they rest on) and questions with evidence. Everything goes through the public import and recall. A question's
evidence ids name the notes that rest on them; its subjects are the speakers it names, else both; ten notes are asked
for. `--fill` measures the time with that many notes about other people in the same memory.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from scoring import recall


def show(told: dict[str, Any]) -> None:
    """A table for people."""
    print(f"{'':38}{'asked':>6}{'recall@5':>10}{'recall@10':>10}{'MRR':>7}{'ms p50':>8}{'ms p95':>8}")
    for way, by_kind in told.items():
        if way in {"filled", "episodes", "past"}:
            continue
        for kind, one in by_kind.items():
            figures = f"{one['questions']:6}{one['recall@5']:10.3f}{one['recall@10']:10.3f}{one['mrr']:7.3f}"
            print(f"{way + ', ' + kind:38}{figures}{one['ms_p50']:8.2f}{one['ms_p95']:8.2f}")
    print(f"episodes: the best three hold the answer in {told['episodes']['all']['recall@10']:.3f} of the cases")
    past = told["past"]["all"]
    right = past["recall@10"] / past["answered"] if past["answered"] else 0.0
    print(f"past: a prompt tells one in {past['answered']:.3f} of the cases; {right:.3f} of those hold the answer")
    for name, figure in told.get("filled", {}).items():
        print(f"filled: {name} {figure}")


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--fill", type=int, default=0, metavar="N", help="also time it among N notes about others")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        told = asyncio.run(recall.measure(arguments.data, arguments.fill))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{arguments.data} is no file in LoCoMo's format: {error}")
    if not told:
        sys.exit(f"{arguments.data} asks no questions.")
    if arguments.json:
        print(json.dumps(told))
    else:
        show(told)


if __name__ == "__main__":
    main()
