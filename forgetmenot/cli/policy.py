"""`forgetmenot policy explain|table`: tries the policy's rules without a stream."""

import argparse
import dataclasses
from typing import TYPE_CHECKING

from forgetmenot.cli.common import (
    Commands,
    add_config_option,
    add_db_option,
    add_json_option,
    database_path,
    emit,
    existing_database,
    run_async,
    say,
    show_line,
)

if TYPE_CHECKING:
    from forgetmenot.domain.action import Decision, Proposal
    from forgetmenot.operations.entry import Action, PolicyFacts, RecentDecisions
    from forgetmenot.operations.policy import Step
    from forgetmenot.settings.schema import Settings

EXAMPLE = '{"name": "timeout", "target": "bob", "seconds": 30}'
EXPLAIN_KEYS = """JSON: {"action", "params", "verdict" (allow, allow_changed, ask, deny), "rule", "reason",
"steps": [{"rule", "says", "verdict" (null: it does not object), "reason"}]}. Twitch is not asked: whether the target is
immune is judged by the badges last seen."""
DEFAULTS = "These are the default settings (shadow, a silent preview). Use --config FILE for yours."
SHADOW = "The bot is in shadow mode (silent preview): it takes no action until you change `mode` in [bot]."
TABLE_KEYS = """JSON: {"bot_mode" (shadow: nothing is done), "actions": [{"name", "class", "mode" (off, shadow, ask,
live), "does", "params", "scope", "undo"}], "rules": [{"rule", "says", "a_person_may_set_it_aside"}]}."""


def add(subparsers: Commands) -> None:
    """Name the command and its options."""
    parser = subparsers.add_parser("policy", help="see what the bot may do, and try a proposal")
    nouns = parser.add_subparsers(dest="policy_command", metavar="ACTION", required=True)
    explain = nouns.add_parser("explain", help="show what each rule says about a proposal", epilog=EXPLAIN_KEYS)
    explain.add_argument("--viewer", required=True, metavar="LOGIN", help="who asks for it (login or Twitch ID)")
    explain.add_argument("--action", required=True, metavar="JSON", help=f"as in '{EXAMPLE}'")
    explain.add_argument("--message", default="", metavar="TEXT", help="what the viewer said")
    explain.add_argument("--offline", action="store_true", help="as if the stream were not live")
    add_db_option(explain)
    table = nouns.add_parser("table", help="show all actions and rules", epilog=TABLE_KEYS)
    for one, run in ((explain, _explain), (table, _table)):
        add_config_option(one)
        add_json_option(one)
        one.set_defaults(run=run)


def _explain(arguments: argparse.Namespace) -> int:
    return run_async(_explain_now(arguments))


async def _explain_now(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import chosen_settings
    from forgetmenot.clock import SystemClock
    from forgetmenot.operations.policy import decide, explain

    settings, now = chosen_settings(arguments.config), SystemClock().now()
    proposal = _proposal(arguments.action)
    facts, recent = await _facts(arguments, proposal, settings, now)
    steps = explain(proposal, facts, settings, recent, now)
    if arguments.json:
        emit(_explained(proposal, steps, decide(proposal, facts, settings, recent, now)))
        return 0
    for step in steps:
        show_line(f"{step.rule:17} {step.verdict or '–':14} {step.reason or step.says}")
    if arguments.config is None:
        say(DEFAULTS)
    return 0


def _proposal(action: str) -> "Proposal":
    """The action as the model would propose it."""
    from forgetmenot.domain.model import ModelAnswer, TokenUsage
    from forgetmenot.errors import InputError
    from forgetmenot.reply.reply_object import read_reply

    answer = ModelAnswer(f'{{"say": "", "action": {action}}}', "", TokenUsage())
    proposal = read_reply(answer).proposal
    if proposal is None:
        raise InputError(f"--action is not an action. Write it like '{EXAMPLE}'.")
    return proposal


async def _facts(
    arguments: argparse.Namespace, proposal: "Proposal", settings: "Settings", now: int
) -> "tuple[PolicyFacts, RecentDecisions]":
    """The facts of the stored channel; without a memory, of an unknown viewer."""
    import tempfile
    from pathlib import Path

    from forgetmenot.operations.catalogue import find
    from forgetmenot.operations.fact_gathering import FactGatherer
    from forgetmenot.store.database import open_database

    with tempfile.TemporaryDirectory() as empty:
        none_yet = arguments.db is None and not database_path(arguments).is_file()
        path = Path(empty) / "memory.sqlite3" if none_yet else existing_database(arguments)
        async with open_database(path) as db:
            gatherer = FactGatherer(db)
            facts = await gatherer.facts_of(arguments.viewer, arguments.message, proposal, settings, now)
            facts = dataclasses.replace(facts, live=not arguments.offline)
            return facts, await gatherer.recent(find(proposal.name), facts, now)


def _explained(proposal: "Proposal", steps: "list[Step]", decision: "Decision") -> dict[str, object]:
    return {
        "action": proposal.name,
        "params": decision.params,
        "verdict": decision.verdict,
        "rule": decision.rule,
        "reason": decision.reason,
        "steps": [
            {"rule": one.rule, "says": one.says, "verdict": one.verdict, "reason": one.reason} for one in steps[:-1]
        ],
    }


def _table(arguments: argparse.Namespace) -> int:
    from forgetmenot.cli.common import chosen_settings
    from forgetmenot.operations.catalogue import ACTIONS
    from forgetmenot.operations.policy import RULES
    from forgetmenot.settings.schema import Mode

    settings = chosen_settings(arguments.config)
    actions = [_entry(action, settings) for action in ACTIONS]
    if arguments.json:
        rules = [{"rule": one.name, "says": one.says, "a_person_may_set_it_aside": one.overruled} for one in RULES]
        emit({"bot_mode": settings.bot.mode, "actions": actions, "rules": rules})
        return 0
    for one in actions:
        show_line(f"{one['class']}  {one['name']:13} {one['mode']:7} {one['does']}")
    say()
    for number, rule in enumerate(RULES, 1):
        show_line(f"{number:2}  {rule.name:17} {rule.says}{' *' if rule.overruled else ''}")
    say("The first rule that says no decides. * A moderator's approval overrides this rule.")
    if settings.bot.mode is Mode.SHADOW:
        say(SHADOW)
    return 0


def _entry(action: "Action", settings: "Settings") -> dict[str, object]:
    from forgetmenot.operations.catalogue import class_mode

    off = action.name in settings.actions.disabled or settings.actions.safe_mode
    return {
        "name": action.name,
        "class": action.kind,
        "mode": "off" if off else class_mode(action, settings),
        "does": action.does,
        "params": {one.name: {"kind": one.kind, "least": one.least, "most": one.most} for one in action.params},
        "scope": action.scope,
        "undo": action.undo is not None,
    }
