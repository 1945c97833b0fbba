"""`forgetmenot cost`: what calls to language models came to, by purpose, model, day or stream."""

import argparse
import re
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_config_option,
    add_db_option,
    add_json_option,
    chosen_settings,
    emit,
    existing_database,
    run_async,
    show_line,
)

if TYPE_CHECKING:
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.model_calls import Bill

KEYS = """JSON: {"since": ms, "by", "rows": [{"group", "model", "calls", "failed", "input", "cached", "output",
"cost"}], "cost": in words or empty}.
Tokens are as billed; costs need [prices] in the settings. Calls are kept for 30 days."""
GROUPS = ("purpose", "model", "day", "stream")
_SPAN = re.compile(r"(\d{1,4})([hd])")


def add(subparsers: Commands) -> None:
    """Name the command's options."""
    parser = subparsers.add_parser(
        "cost",
        help="show what calls to AI models cost",
        description="Shows tokens and, if the settings have prices, money.",
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--since", default="30d", metavar="SPAN", help="how far back, such as 12h or 7d (default: 30d)")
    parser.add_argument("--by", choices=GROUPS, default="purpose", help="group the calls by (default: purpose)")
    add_config_option(parser)
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=lambda arguments: run_async(_run(arguments)))


async def _run(arguments: argparse.Namespace) -> None:
    from forgetmenot.clock import SystemClock
    from forgetmenot.settings import prices
    from forgetmenot.store import model_calls
    from forgetmenot.store.database import open_database

    settings = chosen_settings(arguments.config)
    since = SystemClock().now() - _span_ms(arguments.since)
    async with open_database(existing_database(arguments)) as db:
        rows = await model_calls.bills(db, arguments.by, since)
        total = {model: one.used for model, one in (await model_calls.spent(db, since=since)).items()}
    whole = prices.in_words(settings, total)
    if arguments.json:
        kinds = [{**row._asdict(), **row.used._asdict(), "cost": _cost(settings, row)} for row in rows]
        for kind in kinds:
            del kind["used"]
        emit({"since": since, "by": arguments.by, "rows": kinds, "cost": whole})
        return
    show_line(f"{arguments.by:12} {'model':24} {'calls':>6} {'tokens in':>11} {'cached':>7} {'out':>9}  cost")
    for row in rows:
        used, cached = row.used, f"{100 * row.used.cached // max(1, row.used.input)} %"
        counts = f"{row.calls:6} {used.input:11,} {cached:>7} {used.output:9,}"
        show_line(f"{row.group:12} {row.model[:24]:24} {counts}  {_cost(settings, row)}")
    show_line(f"Total: {whole or 'no prices are set, see [prices] in the settings'}.")


def _cost(settings: "Settings", row: "Bill") -> str:
    from forgetmenot.settings import prices

    return prices.in_words(settings, {row.model: row.used})


def _span_ms(text: str) -> int:
    from forgetmenot.clock import DAY, HOUR
    from forgetmenot.errors import InputError

    found = _SPAN.fullmatch(text)
    if found is None:
        raise InputError(f"--since {text}: use a number and h or d, such as 12h or 7d.")
    return int(found[1]) * (HOUR if found[2] == "h" else DAY)
