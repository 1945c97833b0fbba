"""Measure how facts are compared and what is never stored.

    bench_memory.py pairs FILE [--json] [--wrong] [--half even|odd]

FILE has lines `kind|category|old|new` (kind D the same fact, C a contradiction, X two facts). Keys of the JSON:
pairs, conflicts_confirmed (share of C taken for the same), distinct_lost (share of X merged or superseded),
supersede_precision, supersede_recall, duplicates_found (share of D), duplicates_superseded, us_per_pair
(microseconds where neither fact was seen before), us_per_known_pair.

    bench_memory.py sensitive FILE [--json] [--wrong]

FILE has lines `category|phrase` ("harmless" for what may be stored). Keys: phrases, sensitive, harmless, recall,
precision, false_positives (share of the harmless), category_accuracy.
"""

import argparse
import json
import sys
import timeit
from collections import Counter
from pathlib import Path

from forgetmenot.memory.similarity import Relation, relate
from forgetmenot.text import reading, slots
from forgetmenot.text.sensitive import sensitive_category

Pair = tuple[str, str, str, str]
_LETTER = {Relation.DUPLICATE: "D", Relation.CONFLICT: "C", Relation.DISTINCT: "X"}


def _lines(path: Path, parts: int) -> list[list[str]]:
    rows = [line.split("|", parts - 1) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if len(row) == parts and not row[0].startswith("#")]


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def measure_pairs(rows: list[list[str]]) -> tuple[dict[str, float], list[str]]:
    """The rates for pairs, and the pairs that were told wrong."""
    told = [(row, _LETTER[relate(row[2], row[3])]) for row in rows]
    count = Counter((row[0], said) for row, said in told)
    kinds = Counter(row[0] for row, _ in told)
    superseded = sum(count[kind, "C"] for kind in "DCX")
    rates = {
        "pairs": len(rows),
        "conflicts_confirmed": _share(count["C", "D"], kinds["C"]),
        "distinct_lost": _share(count["X", "D"] + count["X", "C"], kinds["X"]),
        "supersede_precision": _share(count["C", "C"], superseded),
        "supersede_recall": _share(count["C", "C"], kinds["C"]),
        "duplicates_found": _share(count["D", "D"], kinds["D"]),
        "duplicates_superseded": _share(count["D", "C"], kinds["D"]),
        **_timed(rows),
    }
    return rates, [f"{'|'.join(row)} → {said}" for row, said in told if said != row[0]]


def _timed(rows: list[list[str]]) -> dict[str, float]:
    def run() -> None:
        for row in rows:
            relate(row[2], row[3])

    def fresh() -> None:
        reading.read.cache_clear()
        slots.slots_of.cache_clear()
        run()

    each = max(1, len(rows)) / 1e6
    return {
        "us_per_pair": round(min(timeit.repeat(fresh, number=1, repeat=5)) / each, 1),
        "us_per_known_pair": round(min(timeit.repeat(run, number=1, repeat=5)) / each, 1),
    }


def measure_sensitive(rows: list[list[str]]) -> tuple[dict[str, float], list[str]]:
    """The rates for phrases, and the phrases that were told wrong."""
    told = [(category, phrase, sensitive_category(phrase)) for category, phrase in rows]
    harmless = [said for category, _, said in told if category == "harmless"]
    caught = [(category, said) for category, _, said in told if category != "harmless" and said]
    sensitive = len(rows) - len(harmless)
    false = sum(said is not None for said in harmless)
    rates = {
        "phrases": len(rows),
        "sensitive": sensitive,
        "harmless": len(harmless),
        "recall": _share(len(caught), sensitive),
        "precision": _share(len(caught), len(caught) + false),
        "false_positives": _share(false, len(harmless)),
        "category_accuracy": _share(sum(category == said for category, said in caught), len(caught)),
    }
    return rates, [
        f"{category}|{phrase} → {said}" for category, phrase, said in told if (said or "harmless") != category
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=["pairs", "sensitive"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--wrong", action="store_true", help="list on standard error what was told wrong")
    parser.add_argument("--half", choices=["even", "odd"], help="only every other line")
    return parser.parse_args()


def main() -> int:
    """Measure and print."""
    wanted = _arguments()
    pairs = wanted.what == "pairs"
    rows = _lines(wanted.file, 4 if pairs else 2)
    if wanted.half:
        rows = rows[wanted.half == "odd" :: 2]
    rates, wrong = measure_pairs(rows) if pairs else measure_sensitive(rows)
    if wanted.wrong:
        print("\n".join(wrong), file=sys.stderr)
    print(json.dumps(rates) if wanted.json else "\n".join(f"{key:24}{value}" for key, value in rates.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
