"""Speed, size, cost and recall: `python scripts/bench.py [--json] [--quick]`.

    bench.py replies                            one group of figures; the same as --only replies
    bench.py cost --price 0.30 2.50             an hour of chat, by prices of a million tokens
    bench.py --recall FILE [--tuned-on NAME …]  recall alone, on conversations in LoCoMo's format
    bench.py --precision FOLDER                 precision alone, on the beliefs and cases of precisionMemBench

All but the conversations is invented, seeded and thrown away afterwards. `--quick` measures on less. Prints a table of
figures with their bounds; the exit code is 1 when a bound is missed. JSON: `{"figures": [{"name", "value", "unit",
"bound", "at_least", "ok"}], "ok"}`.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    import environment

    environment.enter("dev")  # before anything that this Python may lack

from speed import (
    asked_in_chat,
    behind,
    cost,
    growth,
    imports,
    ingest,
    played_channel,
    precision,
    programs,
    recall,
    remember_when,
    replies,
    years,
)
from speed.figures import Figure, table

Measure = Callable[[Path], list[Figure] | Coroutine[Any, Any, list[Figure]]]


def measures(options: argparse.Namespace) -> dict[str, Measure]:
    """The groups of figures by name."""
    if options.recall:
        return {"recall": lambda _: recall.measure(options.recall, options.tuned_on)}
    if options.precision:
        return {"precision": lambda _: precision.measure(options.precision)}
    quick = options.quick
    return {
        "ingest": lambda folder: ingest.measure(folder, 20_000 if quick else 160_000),
        "replies": lambda folder: replies.measure(folder, 1_000 if quick else 10_000),
        "erasure": lambda folder: replies.erasure(folder, 1_000 if quick else 10_000),
        "behind": lambda folder: behind.measure(folder, 2_000 if quick else 6_000),
        "import": lambda folder: imports.measure(folder, 4_000 if quick else 40_000),
        "cost": lambda folder: cost.measure(
            folder, [10, 100] if quick else [10, 100, 400], options.price
        ),
        "memory": memory,
        "years": lambda folder: years.measure(folder, 20_000 if quick else 1_000_000),
        "growth": lambda folder: growth.measure(
            folder,
            (100, 1_000) if quick else (100, 1_000, 10_000),
            40_000 if quick else 160_000,
        ),
        "process": programs.process,
        "dock": lambda folder: programs.dock(folder, 10 if quick else 30),
    }


async def memory(folder: Path) -> list[Figure]:
    """What a group's memory is worth, and what is found when somebody asks in chat, also a month later."""
    return [
        *await played_channel.measure(folder),
        *await asked_in_chat.measure(folder),
        *await remember_when.measure(folder),
    ]


def machine_load() -> str:
    """How busy the machine was in the last minute: above 1, times are longer than the bot's own."""
    return (
        f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors"
        if hasattr(os, "getloadavg")
        else "load unknown"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="measure on less data")
    parser.add_argument(
        "group", nargs="?", metavar="GROUP", help="one group of figures alone"
    )
    parser.add_argument("--only", metavar="GROUP", help="the same")
    parser.add_argument(
        "--price", type=float, nargs=2, default=(0.0, 0.0), metavar=("IN", "OUT")
    )
    parser.add_argument(
        "--recall",
        type=Path,
        metavar="FILE",
        help="measure recall on these conversations",
    )
    parser.add_argument(
        "--precision",
        type=Path,
        metavar="FOLDER",
        help="measure precision on these beliefs",
    )
    parser.add_argument(
        "--tuned-on",
        nargs="*",
        default=(),
        metavar="NAME",
        help="conversations that weights know",
    )
    options = parser.parse_args()
    figures: list[Figure] = []
    group = options.only or options.group
    if group not in {None, *measures(options)}:
        parser.error(
            f"there is no group {group}; there are: {', '.join(measures(options))}"
        )
    # without bytecode, which everybody has, a start takes .2 s longer
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name, measure in measures(options).items():
        if group in {None, name}:
            print(f"measuring {name} … ({machine_load()})", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="forgetmenot-bench-") as folder:
                measured = measure(Path(folder))
                figures += (
                    asyncio.run(measured)
                    if isinstance(measured, Coroutine)
                    else measured
                )
    ok = all(figure.ok for figure in figures)
    print(
        json.dumps({"figures": [f.as_json() for f in figures], "ok": ok})
        if options.json
        else table(figures)
    )
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
