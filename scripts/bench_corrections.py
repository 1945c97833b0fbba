"""How the memory takes corrections: `python scripts/bench_corrections.py [--cases N] [--heldout] [--json]`.

The seeded contract (by command, dock and plain speech) and the unseen scenarios of tests/data/corrections.jsonl. With
`--base-url URL --model NAME` instead: what that model makes of those that the rules leave, if they are said to the bot.
What the lines mean: docs/EVALUATION.md.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from scoring.corrections import contract, play_behind_replies, play_spoken_to, play_unseen
from scoring.playing import settings_for

from forgetmenot import logs

UNSEEN = Path(__file__).resolve().parent.parent / "tests/data/corrections.jsonl"
BEHIND_REPLIES = UNSEEN.with_name("corrections_behind_replies.tsv")


def main() -> int:
    """Print the figures; 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=12, metavar="N", help="seeded cases for each way (default: 12)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--heldout", action="store_true", help="the held-out scenarios instead of those for developing")
    parser.add_argument("--behind-replies", action="store_true", help="instead: what viewers say behind a reply")
    parser.add_argument("--misses", action="store_true", help="name what was not as it should be")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--base-url", default="", help="an OpenAI-compatible server")
    parser.add_argument("--model", default="", help="the model's name there")
    chosen = parser.parse_args()
    logs.set_up(level="error")
    split = "heldout" if chosen.heldout else "dev"
    if chosen.behind_replies:
        tallies = {"behind replies": asyncio.run(play_behind_replies(BEHIND_REPLIES))}
    elif chosen.base_url:
        settings = settings_for(chosen.base_url, chosen.model)
        tallies = {f"with the model, {split}": asyncio.run(play_spoken_to(UNSEEN, split, settings))}
    else:
        tallies = {
            "contract": asyncio.run(contract(chosen.seed, chosen.cases)),
            f"unseen, {split}": asyncio.run(play_unseen(UNSEEN, split)),
        }
    if chosen.json:
        print(json.dumps({name: tally.figures() for name, tally in tallies.items()}))
        return 0
    for name, tally in tallies.items():
        print(name)
        for figure, value in tally.figures().items():
            print(f"  {figure:60}{value}")
        if chosen.misses and not chosen.heldout:
            for missed in tally.missed:
                print(f"  - {missed}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
