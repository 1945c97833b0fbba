"""`forgetmenot eval`: scenarios played through the whole bot, what a setting changes in them, what live chat shows."""

import argparse
import asyncio
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from forgetmenot.cli.common import (
    Commands,
    add_action,
    add_config_option,
    add_json_option,
    chosen_settings,
    emit,
    existing_database,
    run_async,
    say,
    show_line,
)

if TYPE_CHECKING:
    from forgetmenot.app.scenarios import Scenario, ScenarioResult

MODELS = ("offline", "gemini", "openai_compatible")
BASELINE = "baseline.json"
REPORT_KEYS = """\
The JSON object's keys: since, replies (by outcome), filters, rules, shed (by kind of message), sections (mean tokens,
rows shown, rows used), notes (offered, used, corrected), unsupported, latency_ms, tokens, calls, prompts (by kind of
message), spend (by purpose and model, where the settings name prices), spend_total (in words)."""


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser("eval", help="measure the bot: scenarios, settings compared, a report of live chat")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    played = actions.add_parser(
        "run",
        help="play scenario files and check what they expect",
        description="Plays every scenario of a file or folder through the whole bot, over a memory of its own. Ends "
        f"with 1 if an expectation fails that {BASELINE} in the folder does not name.",
    )
    played.add_argument("folder", type=Path, metavar="DIR", help="a folder of scenario files, or one file")
    played.add_argument("--model", choices=MODELS, help="which model (default: offline)")
    add_config_option(played)
    add_json_option(played)
    played.set_defaults(run=lambda arguments: run_async(_run(arguments)))
    compared = actions.add_parser("compare", help="show what another settings file changes in the scenarios")
    compared.add_argument("before", type=Path, metavar="A.toml")
    compared.add_argument("after", type=Path, metavar="B.toml")
    compared.add_argument("folder", type=Path, metavar="DIR", help="a folder of scenario files, or one file")
    add_json_option(compared)
    compared.set_defaults(run=lambda arguments: run_async(_compare(arguments)))
    report = add_action(actions, "report", "how chat took the replies, and what of the memory was used", REPORT_KEYS)
    report.add_argument("--since", default="7d", metavar="TIME", help="how far back: 12h, 7d (default), 30d")
    report.add_argument("--html", type=Path, metavar="FILE", help="write it as one page with charts, too")
    add_config_option(report)
    report.set_defaults(run=lambda arguments: run_async(_report(arguments)))


# ── scenarios ───────────────────────────────────────────────────────────────────────────────


async def _run(arguments: argparse.Namespace) -> int:
    from forgetmenot import logs
    from forgetmenot.app.scenarios import read_scenarios, worse

    logs.set_up(level="error")
    model = chosen_settings(arguments.config, model=arguments.model).model if arguments.model else None
    results = await _play(read_scenarios(arguments.folder), {}, model)
    failed = worse(results, _baseline(arguments.folder))
    known = sum(len(one.failures) for one in results) - len(failed)
    if arguments.json:
        emit({"scenarios": len(results), "failed": failed, "known": known})
    else:
        for line in failed:
            show_line(line)
        show_line(
            f"{len(results)} scenarios, {sum(one.expectations for one in results)} expectations: {len(failed)} fail"
            + (f", {known} more are known to." if known else ".")
        )
    return 1 if failed else 0


def _baseline(folder: Path) -> Mapping[str, list[str]]:
    file = (folder if folder.is_dir() else folder.parent) / BASELINE
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


async def _play(
    scenarios: "list[Scenario]",
    tables: Mapping[str, Any],
    model: Any = None,  # noqa: ANN401  # ModelSettings, late
) -> "list[ScenarioResult]":
    """Two at a time: much of one's time is the disk's."""
    from forgetmenot.app.scenarios import play

    gate = asyncio.Semaphore(2)

    async def one(scenario: "Scenario") -> "ScenarioResult":
        async with gate:
            return await play(scenario, tables, model)

    return list(await asyncio.gather(*map(one, scenarios)))


async def _compare(arguments: argparse.Namespace) -> None:
    from forgetmenot import logs
    from forgetmenot.app.scenarios import read_scenarios

    logs.set_up(level="error")
    scenarios = read_scenarios(arguments.folder)
    before, after = [await _play(scenarios, _tables(file)) for file in (arguments.before, arguments.after)]
    changes = [change for pair in zip(before, after, strict=True) for change in _changes(*pair)]
    tokens = [round(mean([n for one in side for n in one.prompt_tokens] or [0])) for side in (before, after)]
    if arguments.json:
        emit({"scenarios": len(scenarios), "changes": changes, "prompt_tokens": tokens})
        return
    for change in changes:
        show_line(f"{change['scenario']}: {change['what']}\n  before: {change['before']}\n  after:  {change['after']}")
    show_line(f"{len(changes)} changes in {len(scenarios)} scenarios; mean prompt {tokens[0]} → {tokens[1]} tokens.")


def _tables(file: Path) -> Mapping[str, Any]:
    from forgetmenot.errors import InputError
    from forgetmenot.settings.load import load_settings

    load_settings(file)  # says what is wrong with it
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from error


def _changes(before: "ScenarioResult", after: "ScenarioResult") -> list[dict[str, str]]:
    found = []
    for line in before.failures.keys() | after.failures.keys():
        if (line in before.failures) != (line in after.failures):
            sides = {True: "holds", False: "fails"}
            was, now = sides[line not in before.failures], sides[line not in after.failures]
            found.append({"scenario": before.name, "what": line, "before": was, "after": now})
    if before.replies != after.replies:
        was, now = " / ".join(before.replies), " / ".join(after.replies)
        found.append({"scenario": before.name, "what": "replies", "before": was, "after": now})
    return found


# ── the report ──────────────────────────────────────────────────────────────────────────────


async def _report(arguments: argparse.Namespace) -> None:
    from forgetmenot.app.evaluation import figures_since, in_words, page, period_of
    from forgetmenot.clock import SystemClock
    from forgetmenot.store.database import open_database

    since = period_of(arguments.since)
    async with open_database(existing_database(arguments)) as db:
        figures = await figures_since(db, SystemClock().now() - since, chosen_settings(arguments.config))
    if arguments.html is not None:
        arguments.html.write_text(page(figures, arguments.since), encoding="utf-8")
        say(f"Written to {arguments.html}.")
    if arguments.json:
        emit(figures)
        return
    for line in in_words(figures, arguments.since):
        show_line(line)
