"""`forgetmenot why REPLY_ID`: explains one reply; without an id it lists the last ones."""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, add_json_option, number_from, show_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from forgetmenot.reply.explanation import Explanation
    from forgetmenot.store.bot_messages import BotMessage

LISTED = 20
KEYS = """JSON of one reply: {"id", "at", "trigger", "mode", "text", "status", "detail", "twitch_id", "asked",
"speaker", "model", "latency_ms", "tokens", "cost", "filters", "actions", "prompt", "sections": [{"name", "tokens",
"dropped", "rows": [{"of", "id", "text", "score"}]}]}. `at` is a time in ISO 8601; `detail` and `twitch_id` are what
Twitch answered (null: no id of it); `tokens` has "estimated", "billed", "cached", "output" and "thoughts", null where
the provider does not say; `cost` is by the prices in the file that --config names, null where it names none;
`filters` names those that changed the words; `prompt` is what was kept of it, with "shed", the steps that the budget
needed; `of` says what a row is: notes, episodes, streams (a recap), events (a line of chat), replies or actions;
`text` is the row as it reads today; `score` is what recall gave a note, else null.
Without an id: {"replies": [the first seven keys of each, newest first]}."""


def add(subparsers: Commands) -> None:
    """Name the options."""
    parser = subparsers.add_parser(
        "why",
        help="show why the bot said something",
        description="Shows everything about one reply: who asked, what the prompt contained, what was decided and "
        "sent. Without an ID it lists the last replies.",
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "reply", nargs="?", type=number_from(1), metavar="REPLY_ID", help="the reply's ID (default: list the last ones)"
    )
    add_config_option(parser)
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import existing_database, run_async

    return run_async(_show(arguments, existing_database(arguments)))


async def _show(arguments: argparse.Namespace, path: "Path") -> int:
    from forgetmenot.cli.common import chosen_settings, emit
    from forgetmenot.reply.explanation import explain, in_words, used
    from forgetmenot.settings import prices
    from forgetmenot.store import bot_messages
    from forgetmenot.store.database import open_database

    settings = chosen_settings(arguments.config)

    async with open_database(path) as db:
        if arguments.reply is None:
            _list(await bot_messages.listing(db, LISTED), as_object=arguments.json)
            return 0
        trail = await explain(db, arguments.reply)
    cost = prices.cost(settings, tokens) if (tokens := used(trail.reply)) else None
    if arguments.json:
        emit(as_json(trail, cost.amount if cost is not None else None))
    else:
        show_line("\n".join(in_words(trail, prices.amount(settings, cost))))
    return 0


def _list(replies: "Sequence[BotMessage]", *, as_object: bool) -> None:
    from forgetmenot.cli.common import emit

    if as_object:
        emit({"replies": [_brief(reply) for reply in replies]})
        return
    for reply in replies:
        show_line(_line(reply))


def _line(reply: "BotMessage") -> str:
    from forgetmenot.clock import iso

    return f"{reply.id:6} {iso(reply.at)} {reply.status:8} {reply.trigger:12} {reply.text or reply.detail}"


def _brief(reply: "BotMessage") -> dict[str, object]:
    from forgetmenot.clock import iso

    return {
        "id": reply.id,
        "at": iso(reply.at),
        "trigger": reply.trigger,
        "mode": reply.mode,
        "text": reply.text,
        "status": reply.status,
        "detail": reply.detail,
    }


def as_json(trail: "Explanation", cost: float | None) -> dict[str, object]:
    """The documented object."""
    reply = trail.reply
    return _brief(reply) | {
        "twitch_id": reply.twitch_id,
        "asked": trail.asked,
        "speaker": trail.speaker,
        "model": reply.model,
        "latency_ms": reply.latency_ms,
        "tokens": reply.usage,
        "cost": cost,
        "filters": list(reply.filters),
        "actions": list(trail.actions),
        "prompt": reply.prompt,
        "sections": [
            {
                "name": section.name,
                "tokens": section.tokens,
                "dropped": section.dropped,
                "rows": [{"of": row.of, "id": row.id, "text": row.text, "score": row.score} for row in section.rows],
            }
            for section in trail.sections
        ],
    }
