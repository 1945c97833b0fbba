"""Does a model answer what is known and admit what is not? `bench_answers.py --base-url URL --model NAME ROWS`.

    bench_answers.py ROWS --base-url URL --model NAME [--locomo FILE] [--of NAME …] [--count N] [--set …]
    bench_answers.py ROWS                        # judge the rows of an earlier run again

ROWS is a file of JSON lines, one for each question with its reply and prompt: a run that was stopped goes on there.
Keys of the figures: known, answered (share of the known that get an answer), right (share that have it), unknown,
false_memory (share of the unknown that get an answer all the same), quoted (share of them that get a note, word for
word, which does not answer), talk, talk_cut (share of the small talk of which words were left out as unsupported),
tokens_in, seconds_p50.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from scoring import answers, playing

from forgetmenot import logs
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import Settings


def _settings(wanted: argparse.Namespace) -> Settings:
    tables = msgspec.to_builtins(playing.settings_for(wanted.base_url, wanted.model))
    for change in wanted.set:
        name, _, value = change.partition("=")
        table, _, key = name.partition(".")
        tables[table][key] = tomllib.loads(f"value = {value}")["value"]
    return convert(tables, "--set")


async def _run(wanted: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    batches = list(answers.listed(wanted.questions)) if wanted.questions else [answers.own_list(wanted.own, seed=7)]
    if wanted.locomo:
        batches += answers.locomo(wanted.locomo, wanted.of, wanted.count, seed=7)
    with wanted.rows.open("a", encoding="utf-8") as file, tempfile.TemporaryDirectory() as folder:

        def keep(row: dict[str, Any]) -> None:
            rows.append(row)
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()

        for batch in batches:
            known = {row["question"] for row in rows if row["batch"] == batch.name}
            await answers.ask(batch, _settings(wanted), Path(folder), keep, known)


def main() -> int:
    """Ask, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, metavar="ROWS")
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--offline", action="store_true", help="the rules that the bot has without a model")
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="questions of this file as well")
    parser.add_argument("--of", nargs="*", default=("conv-42", "conv-47"), metavar="NAME", help="its conversations")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="questions of this file instead of our own list")
    parser.add_argument("--own", type=int, default=18, metavar="N", help="of our own questions of each kind")
    parser.add_argument("--count", type=int, default=15, metavar="N", help="of each kind and conversation")
    parser.add_argument("--set", nargs="*", default=(), metavar="TABLE.KEY=VALUE", help="settings to try")
    parser.add_argument("--show", action="store_true", help="every question with its reply, on standard error")
    wanted = parser.parse_args()
    logs.set_up(level="error")
    rows = (
        [json.loads(line) for line in wanted.rows.read_text(encoding="utf-8").splitlines()]
        if wanted.rows.exists()
        else []
    )
    if wanted.base_url or wanted.offline:
        asyncio.run(_run(wanted, rows))
    for row in rows if wanted.show else ():
        print(f"{answers.verdict(row):9}{row['question']} ({row['answer']}) → {row['reply']}", file=sys.stderr)
    for name in sorted({row["batch"] for row in rows}):
        print(name, json.dumps(answers.figures([row for row in rows if row["batch"] == name])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
