"""Measure rules against labelled lines: facts compared, and what is never stored.

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
from collections.abc import Callable
from pathlib import Path

from scoring import facts

from forgetmenot.errors import InputError
from forgetmenot.files import open_text

KINDS: dict[str, tuple[str, int, Callable[[list[list[str]]], tuple[dict[str, float], list[str]]], str]] = {
    "pairs": ("|", 4, facts.pairs, ""),
    "sensitive": ("|", 2, facts.sensitive_phrases, ""),
}
"""What parts the columns, how many there are, who judges, and the file of ours."""
DATA = Path(__file__).resolve().parent.parent / "tests/data"


def lines_of(path: Path, sign: str, parts: int) -> list[list[str]]:
    """The rows of a file. Those with too few columns are left out, and counted on standard error."""
    try:
        with open_text(path) as file:
            text = file.read()
    except (OSError, UnicodeError, InputError) as error:
        sys.exit(f"{path} cannot be read: {error}")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    rows = [line.split(sign, parts - 1) for line in lines]
    whole = [row for row in rows if len(row) == parts]
    if len(whole) < len(rows):
        print(f"{len(rows) - len(whole)} lines have no {parts} parts and are left out.", file=sys.stderr)
    return whole


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=list(KINDS))
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--wrong", action="store_true", help="list on standard error what was judged wrong")
    parser.add_argument("--half", choices=["even", "odd"], help="only every other line")
    wanted = parser.parse_args()
    if wanted.file is None and not KINDS[wanted.what][3]:
        parser.error("a file is needed")
    return wanted


def main() -> int:
    """Measure and print."""
    wanted = _arguments()
    sign, parts, judge, own = KINDS[wanted.what]
    rows = lines_of(wanted.file or DATA / own, sign, parts)
    if wanted.half:
        rows = rows[wanted.half == "odd" :: 2]
    rates, wrong = judge(rows)
    if wanted.wrong:
        print("\n".join(wrong), file=sys.stderr)
    print(json.dumps(rates) if wanted.json else "\n".join(f"{key:36}{value}" for key, value in rates.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
