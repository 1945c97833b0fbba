"""`forgetmenot prompt`: the exact prompt for a message, without asking a model or sending anything.

With --json one object: `prefix`, `tail`, `prefix_sha256`, `estimated_tokens`, `shed` (the rungs of the drop ladder that
were needed) and `sections`, each with `name`, `tokens`, `rows` (database ids) and `dropped` (rows left out).
"""

import argparse
from typing import TYPE_CHECKING

from forgetmenot.cli.common import add_config_option, add_db_option, add_json_option

if TYPE_CHECKING:
    from pathlib import Path

    from forgetmenot.domain.model import Prompt
    from forgetmenot.reply.triggers import Trigger
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.database import Database

DRY_NONCE = "000000"


def add(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Name the options."""
    parser = subparsers.add_parser("prompt", help="show the exact prompt for a message, without sending anything")
    parser.add_argument("--viewer", required=True, metavar="LOGIN", help="who says it: a login or a Twitch id")
    parser.add_argument("--message", required=True, metavar="TEXT", help="what they say")
    parser.add_argument("--now", metavar="ISO", help="pretend that it is this time (without a zone: UTC)")
    add_db_option(parser)
    add_config_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import existing_database, run_async
    from forgetmenot.settings.load import load_settings
    from forgetmenot.settings.schema import Settings

    settings = load_settings(arguments.config) if arguments.config else Settings()
    return run_async(_show(arguments, existing_database(arguments), settings))


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
        raise InputError(f"{iso!r} is no time. Write one like 2026-11-20T18:30:00Z.") from None


async def build(path: "Path", settings: "Settings", viewer: str, message: str, now: int | None) -> "Prompt":
    """The prompt that this viewer's message would give at that time (None: now)."""
    from forgetmenot.clock import ManualClock, SystemClock
    from forgetmenot.memory.recall import Recall
    from forgetmenot.prompt.assemble import assemble
    from forgetmenot.prompt.voice import check_floor
    from forgetmenot.reply.gather import Gatherer
    from forgetmenot.reply.prefix import PrefixKeeper, offered
    from forgetmenot.store.database import open_database

    check_floor(settings, settings.twitch.channel, offered(settings.actions))
    clock = SystemClock() if now is None else ManualClock(now)
    async with open_database(path) as db:
        recall = Recall(db=db, settings=lambda: settings, clock=clock)
        model = settings.model.reply_model
        keeper = PrefixKeeper(db=db, recall=recall, settings=lambda: settings, clock=clock, model=model)
        prefix = await keeper.current()
        shown = [row for section in prefix.sections if section.name == "episodes" for row in section.rows]
        trigger = await _trigger(db, settings, viewer, message, clock.now())
        gatherer = Gatherer(db=db, recall=recall, clock=clock)
        material = await gatherer.tail(trigger, settings, nonce=DRY_NONCE, shown_episodes=shown)
        return assemble(prefix, material, settings, keeper.factor)


async def _trigger(db: "Database", settings: "Settings", viewer: str, message: str, now: int) -> "Trigger":
    from forgetmenot.domain.chat import ChatEvent, EventKind
    from forgetmenot.reply.triggers import Conversations, Identity, Trigger, TriggerKind, trigger_of, without_name
    from forgetmenot.store import working_set

    login = viewer.removeprefix("@")
    known = (await working_set.viewers(db, [login])).get(login) or await working_set.viewer_by_login(db, login)
    who = (known.id, known.login, known.display_name) if known else (f"login:{login.lower()}", login.lower(), login)
    badges = frozenset({known.role.value}) if known else frozenset[str]()
    event = ChatEvent("dry-run", EventKind.MESSAGE, *who, message, now, badges=badges)
    bot = Identity("", settings.twitch.bot_login, settings.bot.name, settings.bot.aliases)
    asked = trigger_of(event, bot, Conversations({}), settings, now)
    return asked or Trigger(TriggerKind.MENTION, event, without_name(message, bot))


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
        "shed": list(prompt.shed),
        "sections": sections,
    }


def _print(prompt: "Prompt", settings: "Settings") -> None:
    print(prompt.prefix + prompt.tail)
    print()
    for section in prompt.sections:
        rows = f"  rows {', '.join(map(str, section.rows))}" if section.rows else ""
        dropped = f"  dropped {section.dropped}" if section.dropped else ""
        print(f"{section.name:20} {section.tokens:5} tokens{rows}{dropped}")
    print(f"{'in all':20} {prompt.estimated_tokens:5} tokens of {settings.prompt.budget_tokens}")
