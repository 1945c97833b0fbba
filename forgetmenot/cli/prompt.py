"""`forgetmenot prompt`: the exact prompt for a message, without asking a model or sending anything."""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import Commands, add_config_option, add_db_option, add_json_option, show_line

if TYPE_CHECKING:
    from pathlib import Path

    from forgetmenot.domain.model import Prompt
    from forgetmenot.settings.schema import Settings

KEYS = """JSON: {"prefix", "tail", "prefix_sha256", "estimated_tokens", "sections": [{"name", "tokens", "rows",
"dropped"}]}. The prompt is prefix and tail, one after the other; `prefix_sha256` is the SHA-256 of the prefix in hex.
`rows` are the ids, best first, of what stands in a section: notes (channel_notes, channel_notes_more,
channel_notes_asked, brief, lore, others), episodes (episodes, past_episode), lines of chat (own_messages, chat,
message), replies of the bot (bot_replies) or actions (actions_done). `dropped` counts the rows that the budget left
out."""


def add(subparsers: Commands) -> None:
    """Name the options."""
    parser = subparsers.add_parser(
        "prompt",
        help="show the exact prompt for a message, without sending anything",
        description="Shows the prompt for a message from that viewer, with the tokens of each part. No model is "
        "asked, and nothing is sent or written.",
        epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--viewer", required=True, metavar="LOGIN", help="who writes it: a login or a Twitch ID")
    parser.add_argument("--message", required=True, metavar="TEXT", help="what they write")
    parser.add_argument("--now", metavar="ISO", help="use this time instead of now (without a zone: UTC)")
    add_db_option(parser)
    add_config_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import chosen_settings, existing_database, run_async

    return run_async(_show(arguments, existing_database(arguments), chosen_settings(arguments.config)))


async def _show(arguments: argparse.Namespace, path: "Path", settings: "Settings") -> int:
    prompt = await build(path, settings, arguments.viewer, arguments.message, _time(arguments.now))
    if arguments.json:
        from forgetmenot.cli.common import emit

        emit(as_json(prompt))
    else:
        _print(prompt, settings)
    return 0


def _time(iso: str | None) -> int | None:
    from forgetmenot.clock import parse_iso
    from forgetmenot.errors import InputError

    try:
        return parse_iso(iso) if iso else None
    except ValueError:
        raise InputError(f"{iso!r} is not a time. Write it like 2026-11-20T18:30:00Z.") from None


async def build(path: "Path", settings: "Settings", viewer: str, message: str, now: int | None) -> "Prompt":
    """The prompt that this viewer's message would give at that time (None: now)."""
    from forgetmenot.clock import ManualClock, SystemClock
    from forgetmenot.prompt.instructions import check_floor
    from forgetmenot.reply.explanation import ReplyPreview
    from forgetmenot.reply.reply_object import offered
    from forgetmenot.store.database import open_database

    check_floor(settings, settings.twitch.channel, offered(settings.actions, settings.bridge.effects))
    clock = SystemClock() if now is None else ManualClock(now)
    async with open_database(path) as db:
        preview = ReplyPreview(db=db, settings=lambda: settings, clock=clock)
        return (await preview.of(viewer, message)).prompt


def as_json(prompt: "Prompt") -> dict[str, object]:
    """The documented object."""
    import hashlib

    sections = [
        {"name": s.name, "tokens": s.tokens, "rows": list(s.rows), "dropped": s.dropped} for s in prompt.sections
    ]
    return {
        "prefix": prompt.prefix,
        "tail": prompt.tail,
        "prefix_sha256": hashlib.sha256(prompt.prefix.encode()).hexdigest(),
        "estimated_tokens": prompt.estimated_tokens,
        "sections": sections,
    }


def _print(prompt: "Prompt", settings: "Settings") -> None:
    show_line(prompt.prefix + prompt.tail)
    show_line()
    for section in prompt.sections:
        rows = f"  rows {', '.join(map(str, section.rows))}" if section.rows else ""
        dropped = f"  dropped {section.dropped}" if section.dropped else ""
        show_line(f"{section.name:20} {section.tokens:5} tokens{rows}{dropped}")
    show_line(f"{'total':20} {prompt.estimated_tokens:5} tokens of {settings.prompt.budget_tokens}")
