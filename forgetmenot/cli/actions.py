"""`forgetmenot actions|policy`: what waits for approval, what was done, and what is allowed and why."""

import argparse
import dataclasses
from typing import TYPE_CHECKING

from forgetmenot.cli import common

if TYPE_CHECKING:
    from forgetmenot.domain.action import Proposal
    from forgetmenot.operations.entry import Action, PolicyFacts, RecentDecisions
    from forgetmenot.settings.schema import Settings
    from forgetmenot.store.action_logs import LoggedAction
    from forgetmenot.store.database import Database

KEYS = """JSON: {"actions": [action …]}. An action: id, at, name, class (A, B, C), status (denied, waiting, running,
done, refused, failed, unknown, expired, undone), verdict (allow, allow_changed, ask, deny), rule, reason, detail,
asked_by and target (names or null), params, decided_by, expires_at, revert_at. Times are ISO 8601, UTC."""
EXAMPLE = '{"name": "timeout", "target": "bob", "seconds": 30}'
EXPLAIN_KEYS = """JSON: {"action", "params", "verdict" (allow, allow_changed, ask, deny), "rule", "reason",
"steps": [{"rule", "says", "verdict" (null: it does not object), "reason"}]}. Twitch is not asked: whether the target is
immune is judged by the badges last seen."""
DEFAULTS = "These are the default settings (shadow, a silent preview). Use --config FILE for yours."
SHADOW = "The bot is in shadow mode (silent preview): it takes no action until you change `mode` in [bot]."
TABLE_KEYS = """JSON: {"bot_mode" (shadow: nothing is done), "actions": [{"name", "class", "mode" (off, shadow, ask,
live), "does", "params", "scope", "undo"}], "rules": [{"rule", "says", "a_person_may_set_it_aside"}]}."""


def add(subparsers: common.Commands) -> None:
    """Name the commands and their options."""
    actions = common.add_actions(subparsers, "actions", "approve or deny what the bot wants to do; see what it did")
    common.add_command(actions, "list", common.on_memory(_list), keys=KEYS)
    log = common.add_command(actions, "log", common.on_memory(_log), keys=KEYS)
    log.add_argument("--limit", type=common.number_from(1), default=20, metavar="N", help="how many (default: 20)")
    for name in ("approve", "deny", "undo"):
        decide = common.add_command(
            actions, name, common.on_memory(_decide), f"{name} it", keys='JSON: {"id", "ok", "line"}.'
        )
        decide.add_argument("id", type=common.number_from(1), metavar="ID", help="its number")
    enable = common.add_command(actions, "enable", common.on_memory(_enable), keys='JSON: {"enabled": [names]}.')
    enable.add_argument("name", nargs="?", default="", metavar="NAME", help="its name (default: all of them)")

    policy = common.add_actions(subparsers, "policy", "see what the bot may do, and try a proposal")
    explain = common.add_command(policy, "explain", _explain, keys=EXPLAIN_KEYS, config=True)
    explain.add_argument("--viewer", required=True, metavar="LOGIN", help="who asks for it (login or Twitch ID)")
    explain.add_argument("--action", required=True, metavar="JSON", help=f"as in '{EXAMPLE}'")
    explain.add_argument("--message", default="", metavar="TEXT", help="what the viewer said")
    explain.add_argument("--offline", action="store_true", help="as if the stream were not live")
    common.add_command(policy, "table", _table, keys=TABLE_KEYS, config=True, db=False)


# What waits, and what was done.


async def _list(db: "Database", arguments: argparse.Namespace) -> None:
    """What waits for approval."""
    from forgetmenot.store import action_logs

    waiting = await action_logs.waiting(db, common.time_of("now", None))
    await _show(db, arguments, waiting, "Nothing is waiting for approval.")


async def _log(db: "Database", arguments: argparse.Namespace) -> None:
    """What was proposed and what happened."""
    from forgetmenot.store import action_logs

    await _show(db, arguments, await action_logs.latest(db, arguments.limit), "Nothing has been proposed yet.")


async def _decide(db: "Database", arguments: argparse.Namespace) -> int:
    from forgetmenot.operations.wording import sentence

    result = await common.run_operation(db, arguments.verb, {"id": arguments.id})
    line = sentence(result) + _when(arguments, result.code)
    common.report(arguments, {"id": arguments.id, "ok": result.ok, "line": line}, line)
    return 0 if result.ok else 1


async def _enable(db: "Database", arguments: argparse.Namespace) -> None:
    """Turn on an action that was paused after failures."""
    result = await common.done(db, "enable", {"name": arguments.name})
    names = tuple(map(str, result.data["names"])) if isinstance(result.data["names"], list) else ()
    line = f"Turned on again: {', '.join(names)}." if names else "No action was paused after failures."
    common.report(arguments, {"enabled": names}, line)


async def _show(db: "Database", arguments: argparse.Namespace, rows: "list[LoggedAction]", nothing: str) -> None:
    from forgetmenot.store import viewers

    names = await viewers.names(db, [viewer for row in rows for viewer in (row.asked_by, row.target_id) if viewer])
    value = {"actions": [_action_json(row, names) for row in rows]}
    common.report(arguments, value, *(_line(row, names) for row in rows), to=common.show_line)
    if not rows and not arguments.json:
        common.say(nothing)


def _action_json(row: "LoggedAction", names: dict[str, str]) -> dict[str, object]:
    fields = "id at name status verdict rule reason detail params decided_by expires_at revert_at"
    people = {"asked_by": names.get(row.asked_by or ""), "target": names.get(row.target_id or "")}
    return {**common.picked(row, fields), "class": row.kind, **people}


def _line(row: "LoggedAction", names: dict[str, str]) -> str:
    from forgetmenot.clock import iso

    target = f" {names[row.target_id]}" if row.target_id in names else ""
    asked_by = f", asked by {names[row.asked_by]}" if row.asked_by in names else ""
    detail = f" ({row.detail})" if row.detail else ""
    return f"#{row.id}  {iso(row.at)}  {row.name}{target}: {row.status}{detail}; {row.reason}{asked_by}"


def _when(arguments: argparse.Namespace, code: str) -> str:
    """Who carries out the decision, and when: depends on whether a bot is running on this memory."""
    from forgetmenot.store.file_safety import is_locked

    if code not in {"approval_noted", "undo_noted"}:
        return ""
    if is_locked(common.existing_database(arguments)):
        return ": the running bot does it in a moment."
    later = (
        "the bot does it if you start it before the approval expires"
        if code == "approval_noted"
        else "the bot does it at the next start"
    )
    return f": {later}. It is not running now."


# What is allowed, and why.


async def _explain(arguments: argparse.Namespace) -> None:
    """Show what each rule says about a proposal."""
    from forgetmenot.operations.policy import explain

    settings, now = common.chosen_settings(arguments.config), common.time_of("now", None)
    proposal = _proposal(arguments.action)
    facts, recent = await _facts(arguments, proposal, settings, now)
    steps, decision = explain(proposal, facts, settings, recent, now)
    value = {
        "action": proposal.name, "params": decision.params, "verdict": decision.verdict, "rule": decision.rule,
        "reason": decision.reason, "steps": [dataclasses.asdict(step) for step in steps],
    }  # fmt: skip
    lines = [f"{step.rule:17} {step.verdict or '–':14} {step.reason}" for step in steps]
    lines.append(f"{'verdict':17} {decision.verdict:14} {decision.reason}")
    common.report(arguments, value, *lines, to=common.show_line)
    if arguments.config is None and not arguments.json:
        common.say(DEFAULTS)


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
        none_yet = arguments.db is None and not common.database_path(arguments).is_file()
        path = Path(empty) / "memory.sqlite3" if none_yet else common.existing_database(arguments)
        async with open_database(path) as db:
            gatherer = FactGatherer(db)
            facts = await gatherer.facts_of(arguments.viewer, arguments.message, proposal, settings, now)
            facts = dataclasses.replace(facts, live=not arguments.offline)
            return facts, await gatherer.recent(find(proposal.name), facts, now)


def _table(arguments: argparse.Namespace) -> None:
    """Show all actions and rules."""
    from forgetmenot.languages import reason
    from forgetmenot.operations.catalogue import ACTIONS
    from forgetmenot.operations.policy import RULES
    from forgetmenot.settings.schema import Mode

    settings = common.chosen_settings(arguments.config)
    actions = [_entry(action, settings) for action in ACTIONS]
    if arguments.json:
        rules = [
            {"rule": rule.name, "says": reason(rule.name), "a_person_may_set_it_aside": rule.overridable}
            for rule in RULES
        ]
        common.emit({"bot_mode": settings.bot.mode, "actions": actions, "rules": rules})
        return
    for entry in actions:
        common.show_line(f"{entry['class']}  {entry['name']:13} {entry['mode']:7} {entry['does']}")
    common.say("\nThe rules, in order, each with what it says when it objects:")
    for number, rule in enumerate(RULES, 1):
        common.show_line(f"{number:2}  {rule.name:17} {reason(rule.name)}{' *' if rule.overridable else ''}")
    common.say("The first rule that says no decides. * A moderator's approval overrides this rule.")
    if settings.bot.mode is Mode.SHADOW:
        common.say(SHADOW)


def _entry(action: "Action", settings: "Settings") -> dict[str, object]:
    from forgetmenot.operations.catalogue import class_mode

    off = action.name in settings.actions.disabled or settings.actions.safe_mode
    return {
        "name": action.name,
        "class": action.kind,
        "mode": "off" if off else class_mode(action, settings.actions),
        "does": action.does,
        "params": {
            param.name: {"kind": param.kind, "least": param.least, "most": param.most} for param in action.params
        },
        "scope": action.scope,
        "undo": action.undo is not None,
    }
