"""`forgetmenot why REPLY_ID`: everything about one reply. Without an id it lists the last ones.

With --json one object: `id`, `at`, `trigger`, `mode`, `text`, `status`, `detail`, `asked`, `speaker`, `model`,
`latency_ms`, `tokens`, `filters`, `actions`, `prompt` (as it was kept) and `sections` with their
`rows` of `id`, `text` and `score`.
"""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import add_db_option, add_json_option

if TYPE_CHECKING:
    from pathlib import Path

    from forgetmenot.reply.trail import Trail
    from forgetmenot.store.bot_messages import BotMessage


def add(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Name the options."""
    parser = subparsers.add_parser("why", help="tell why the bot said what it said")
    parser.add_argument(
        "reply", nargs="?", type=int, metavar="REPLY_ID", help="a reply's id; without it: the last ones"
    )
    add_db_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import existing_database, run_async

    return run_async(_tell(arguments, existing_database(arguments)))


async def _tell(arguments: argparse.Namespace, path: "Path") -> int:
    from forgetmenot.cli.common import emit
    from forgetmenot.reply.trail import explain, in_words
    from forgetmenot.store import bot_messages
    from forgetmenot.store.database import open_database

    async with open_database(path) as db:
        if arguments.reply is None:
            for reply in await bot_messages.listing(db, 20):
                emit(_brief(reply)) if arguments.json else print(_line(reply))
            return 0
        trail = await explain(db, arguments.reply)
    if arguments.json:
        emit(as_json(trail))
    else:
        print("\n".join(in_words(trail)))
    return 0


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


def as_json(trail: "Trail") -> dict[str, object]:
    """The documented object."""
    reply = trail.reply
    return _brief(reply) | {
        "asked": trail.asked,
        "speaker": trail.speaker,
        "model": reply.model,
        "latency_ms": reply.latency_ms,
        "tokens": reply.usage,
        "filters": list(reply.filters),
        "actions": list(trail.actions),
        "prompt": reply.prompt,
        "sections": [
            {
                "name": section.name,
                "tokens": section.tokens,
                "dropped": section.dropped,
                "rows": [{"id": row.id, "text": row.text, "score": row.score} for row in section.rows],
            }
            for section in trail.sections
        ],
    }
