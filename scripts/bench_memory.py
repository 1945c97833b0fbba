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
from pathlib import Path

from scoring import facts

from forgetmenot.errors import InputError
from forgetmenot.files import open_text


def _lines(path: Path, parts: int) -> list[list[str]]:
    try:
        with open_text(path) as file:
            text = file.read()
    except (OSError, UnicodeError, InputError) as error:
        sys.exit(f"{path} cannot be read: {error}")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    rows = [line.split("|", parts - 1) for line in lines]
    whole = [row for row in rows if len(row) == parts]
    if len(whole) < len(rows):
        print(f"{len(rows) - len(whole)} lines have no {parts} parts and are left out.", file=sys.stderr)
    return whole


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
    rates, wrong = facts.pairs(rows) if pairs else facts.sensitive_phrases(rows)
    if wanted.wrong:
        print("\n".join(wrong), file=sys.stderr)
    print(json.dumps(rates) if wanted.json else "\n".join(f"{key:24}{value}" for key, value in rates.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
