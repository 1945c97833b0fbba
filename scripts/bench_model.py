"""Measure what the bot learns and answers with a model: `bench_model.py --base-url URL --model NAME` or `--offline`.

A scripted stream (scripts/scoring/stream.txt: lines of chat with what must and what must not be learned from them)
and, with `--locomo FILE`, conversations of LoCoMo as chat go through the whole bot: ingest, summaries, notes, recall,
prompt, reply, on a real file. How a note is judged stands in scripts/scoring/gold.py; no model judges another.

Keys of the JSON, for each of `stream` and `locomo`:
known_facts, facts_learned (share of them), notes, notes_true (share of the notes that are about the right subject and
were said so), wrong_subject, traps (share: jokes, quotes, hearsay … taken for facts), junk (share: the rest), lines,
seconds, calls_per_1000_lines, tokens_in_per_1000_lines, tokens_out_per_1000_lines (memory and replies), cached (share
of the input that the server had ready), questions, answered_right (share), leaks (replies that show JSON, annotations,
tags, codes, or six words of the instructions in a row), calls (by purpose: calls, input, cached, output, seconds,
failed).

LoCoMo's notes are judged by the lines alone: `notes_true` are those of which 70 % of the content words stand in one
line of their subject; a fact counts as learned where a note of its subject has half of its content words.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from scoring import gold, playing

STREAM = Path(__file__).parent / "scoring" / "stream.txt"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--base-url", default="", help="an OpenAI-compatible server, for example of local_model.py")
    parser.add_argument("--model", default="", help="the model's name there")
    parser.add_argument("--offline", action="store_true", help="the rules that the bot has without a model")
    parser.add_argument("--only", choices=["stream", "locomo"], help="only this one")
    parser.add_argument("--limit", type=int, default=0, help="only so many lines of the stream")
    parser.add_argument("--locomo", type=Path, help="LoCoMo's file")
    parser.add_argument("--conversation", type=int, default=0, help="which of its conversations (default: 0)")
    parser.add_argument("--sessions", type=int, default=2, help="how many of its sessions (default: 2)")
    parser.add_argument("--questions", type=int, default=10, help="how many of its questions (default: 10)")
    parser.add_argument("--keep", type=Path, help="leave the memories in this folder")
    parser.add_argument("--show", action="store_true", help="list notes, missed facts and replies on standard error")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args()
    if bool(wanted.base_url and wanted.model) == wanted.offline:
        parser.error("name --base-url and --model, or --offline")
    if wanted.only == "locomo" and not wanted.locomo:
        parser.error("--only locomo needs --locomo FILE")
    return wanted


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def _measure(wanted: argparse.Namespace, folder: Path) -> dict[str, dict[str, Any]]:
    settings = playing.settings_for(wanted.base_url, wanted.model)
    results: dict[str, dict[str, Any]] = {}
    if wanted.only != "locomo":
        stream = gold.read_stream(STREAM)
        stream = stream.first(wanted.limit) if wanted.limit else stream
        played = await playing.play(stream, folder / "stream.sqlite3", settings, _say)
        results["stream"] = _result(played, gold.judge(played.notes, stream), wanted)
    if wanted.locomo and wanted.only != "stream":
        chat, facts = playing.locomo(wanted.locomo, wanted.conversation, wanted.sessions, wanted.questions)
        played = await playing.play(chat, folder / "locomo.sqlite3", settings, _say)
        said = [line for line in chat.lines if not line.wanted]
        results["locomo"] = _result(played, gold.judge_by_lines(played.notes, facts, said), wanted)
    return results


def _result(played: playing.Played, judged: gold.Judged, wanted: argparse.Namespace) -> dict[str, Any]:
    if wanted.show:
        _show(played, judged)
    total = {name: sum(one[name] for one in played.calls.values()) for name in ("calls", "input", "cached", "output")}
    per_1000 = 1_000 / max(1, played.lines)
    return {
        **judged.rates(),
        "lines": played.lines,
        "seconds": played.seconds,
        "calls_per_1000_lines": round(total["calls"] * per_1000, 1),
        "tokens_in_per_1000_lines": round(total["input"] * per_1000),
        "tokens_out_per_1000_lines": round(total["output"] * per_1000),
        "cached": gold.share(total["cached"], total["input"]),
        "questions": len(played.replies),
        "answered_right": gold.share(sum(right for *_, right in played.replies), len(played.replies)),
        "leaks": len(played.leaks),
        "calls": played.calls,
    }


def _show(played: playing.Played, judged: gold.Judged) -> None:
    for summary in played.episodes:
        _say(f"summary: {summary}")
    for verdict, note in sorted(judged.verdicts):
        _say(f"{verdict:14}{note.subject}: {note.fact}")
    for fact in judged.missed:
        _say(f"missed        {fact}")
    for question, answer, reply, right in played.replies:
        _say(f"{'right' if right else 'WRONG':6}{question} ({answer}) → {reply or '(nothing)'}")
    for text in played.leaks:
        _say(f"leak          {text}")


def main() -> int:
    """Play and print."""
    wanted = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = asyncio.run(_measure(wanted, folder))
    if wanted.json:
        print(json.dumps(results))
    else:
        for name, figures in results.items():
            print(name)
            for key, value in figures.items():
                print(f"  {key:28}{json.dumps(value) if isinstance(value, dict) else value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
