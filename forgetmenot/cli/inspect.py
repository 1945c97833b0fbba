"""Looks into the bot: why it gave a reply, what it cost, what waits for approval; for developers recall and prompts."""

import argparse
import hashlib
from time import perf_counter
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict

from forgetmenot.cli import common
from forgetmenot.cli.memory import as_json as notes_as_json
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from forgetmenot.domain import Prompt
    from forgetmenot.memory.recall import Recall
    from forgetmenot.operations.types import Action
    from forgetmenot.reply.explain import ReplyExplanation
    from forgetmenot.store.action_logs import LoggedAction
    from forgetmenot.store.bot_messages import BotMessage
    from forgetmenot.store.counts import Bill
    from forgetmenot.store.database import Database

LISTED = 20
GROUPS = ("purpose", "model", "day", "stream")
PROMPT_KEYS = """JSON: {"prefix", "tail", "prefix_sha256", "estimated_tokens", "sections": [{"name", "tokens", "rows",
"dropped"}]}. The prompt is prefix and tail, one after the other; `prefix_sha256` is the SHA-256 of the prefix in hex.
`rows` are the ids, best first, of what stands in a section: notes (channel_notes, channel_notes_more,
channel_notes_asked, brief, lore, others), episodes (episodes, past_episode), lines of chat (own_messages, chat,
message), replies of the bot (bot_replies) or actions (actions_done). `dropped` counts the rows that the budget left
out."""
WHY_KEYS = """JSON of one reply: {"id", "at", "trigger", "mode", "text", "status", "detail", "twitch_id", "asked",
"speaker", "model", "latency_ms", "tokens", "cost", "filters", "used", "outcome", "actions", "prompt", "sections":
[{"name", "tokens", "dropped", "rows": [{"of", "id", "text", "score"}]}]}. `at` is a time in ISO 8601; `detail` and
`twitch_id` are what Twitch answered (null: no id of it); `tokens` has "estimated", "billed", "cached", "output" and
"thoughts", null where the provider does not say; `cost` is by the prices in the file that --config names, null where it
names none; `filters` names those that changed the words; `used` are the ids of the notes that the model says it used;
`outcome` is good, bad or deleted, empty where nobody rated it; `prompt` is what was kept of it, with "shed", the steps
that the budget needed; `of` says what a row is: notes, episodes, streams (a recap), events (a line of chat), replies or
actions; `text` is the row as it reads today; `score` is what recall gave a note, else null.
Without an id: {"replies": [the first seven keys of each, newest first]}."""
RECALL_KEYS = """JSON of one question: {"viewer_id", "ms", "notes": [{"rank", "score", and the keys of a note as in
`forgetmenot memory show --help`}]}. A score of 0 is padding by confidence and recency.
--batch takes JSON lines {"id", "viewers": [logins or ids], "text", "limit"?} and prints a line for each, in order:
{"id", "note_ids": [best first], "ms"}; a line that cannot be used gets {"id", "error"}."""
COST_KEYS = """JSON: {"since": ms, "by", "rows": [{"group", "model", "calls", "failed", "input", "cached", "output",
"cost"}], "cost": in words or empty}.
Tokens are as billed; costs need [prices] in the settings. Old calls are deleted (`keep_replies_d`)."""

REPORT_KEYS = """\
The JSON object's keys: since; prompts (by kind of message), replies (by outcome), filters, rules, shed (by kind of
message), unsupported, calls, tokens (each by name); notes (offered, used), latency_ms, spend_total (in words)."""
ACTIONS_KEYS = """JSON: {"actions": [action …]}. An action: id, at, name, class (A, B, C), status (denied, waiting,
running, done, refused, failed, unknown, expired, undone), verdict (allow, allow_changed, ask, deny), rule, reason,
detail, asked_by and target (names or null), params, decided_by, expires_at, revert_at. Times are ISO 8601, UTC."""
SHADOW = "The bot is in shadow mode (silent preview): it takes no action until you change `mode` in [bot]."
TABLE_KEYS = """JSON: {"bot_mode" (shadow: nothing is done), "actions": [{"name", "class", "mode" (off, shadow, ask,
live), "does", "params", "scope", "undo"}], "rules": [{"rule", "says", "a_person_may_set_it_aside"}]}."""


def add(subparsers: common.Commands) -> None:
    """Name the commands and their options."""
    prompt = common.add_command(subparsers, "prompt", _prompt, keys=PROMPT_KEYS, config=True)
    prompt.add_argument("--viewer", required=True, metavar="LOGIN", help="who writes it: a login or a Twitch ID")
    prompt.add_argument("--message", required=True, metavar="TEXT", help="what they write")
    prompt.add_argument("--now", metavar="ISO", help="use this time instead of now (without a zone: UTC)")
    why = common.add_command(subparsers, "why", common.on_memory(_why), keys=WHY_KEYS, config=True)
    reply = "the reply's ID (default: list the last ones)"
    why.add_argument("reply", nargs="?", type=common.number_from(1), metavar="REPLY_ID", help=reply)
    recall = common.add_command(subparsers, "recall", _recall, keys=RECALL_KEYS)
    recall.add_argument("text", nargs="?", metavar="TEXT", help="the message")
    recall.add_argument("--viewer", metavar="LOGIN", help="the viewer (login or id)")
    recall.add_argument("--batch", metavar="FILE", help="questions as JSON lines (- reads standard input)")
    recall.add_argument("--limit", type=common.number_from(1), default=10, help="at most this many notes (default: 10)")
    recall.add_argument("--now", metavar="ISO", help="the time to recall at (default: now)")
    cost = common.add_command(subparsers, "cost", common.on_memory(_cost), keys=COST_KEYS, config=True)
    cost.add_argument("--since", default="30d", metavar="SPAN", help="how far back, such as 12h or 7d (default: 30d)")
    cost.add_argument("--by", choices=GROUPS, default="purpose", help="group the calls by (default: purpose)")
    report = common.add_command(subparsers, "report", common.on_memory(_report), keys=REPORT_KEYS, config=True)
    report.add_argument("--since", default="7d", metavar="TIME", help="how far back: 12h, 7d (default), 30d")

    actions = common.add_actions(subparsers, "actions", "see what the bot wants to do, and what it did")
    common.add_command(actions, "list", common.on_memory(_list), keys=ACTIONS_KEYS)
    log = common.add_command(actions, "log", common.on_memory(_log), keys=ACTIONS_KEYS)
    log.add_argument("--limit", type=common.number_from(1), default=20, metavar="N", help="how many (default: 20)")

    policy = common.add_actions(subparsers, "policy", "see what the bot may do")
    common.add_command(policy, "table", _table, keys=TABLE_KEYS, config=True, db=False)


# The prompt for a message.


async def _prompt(arguments: argparse.Namespace) -> None:
    """Show the exact prompt for a message, without sending anything.

    Shows the prompt for a message from that viewer, with the tokens of each part. No model is asked, and nothing is
    sent or written.
    """
    path, settings = common.existing_database(arguments), common.chosen_settings(arguments.config)
    now = common.time_of("--now", arguments.now) if arguments.now else None
    prompt = await build_prompt(path, settings, arguments.viewer, arguments.message, now)
    value = {
        **common.picked(prompt, "prefix tail"),
        "prefix_sha256": hashlib.sha256(prompt.prefix.encode()).hexdigest(),
        "estimated_tokens": prompt.estimated_tokens,
        "sections": [common.picked(section, "name tokens rows dropped") for section in prompt.sections],
    }
    lines = [prompt.prefix + prompt.tail, ""]
    for section in prompt.sections:
        rows = f"  rows {', '.join(map(str, section.rows))}" if section.rows else ""
        dropped = f"  dropped {section.dropped}" if section.dropped else ""
        lines.append(f"{section.name:20} {section.tokens:5} tokens{rows}{dropped}")
    lines.append(f"{'total':20} {prompt.estimated_tokens:5} tokens of {settings.prompt.budget_tokens}")
    common.report(arguments, value, *lines, to=common.show_line)


async def build_prompt(path: "Path", settings: Settings, viewer: str, message: str, now: int | None) -> "Prompt":
    """The prompt that this viewer's message would give at that time (None: now)."""
    from forgetmenot.clock import ManualClock, SystemClock
    from forgetmenot.prompt.instructions import check_floor
    from forgetmenot.reply.explain import preview
    from forgetmenot.reply.reply_object import offered
    from forgetmenot.store.database import open_database

    check_floor(settings, settings.twitch.channel, offered(settings.actions, settings.bridge.effects))
    clock = SystemClock() if now is None else ManualClock(now)
    async with open_database(path) as db:
        return (await preview(viewer, message, db=db, settings=settings, clock=clock))[1].prompt


# Why a reply was given.


async def _why(db: "Database", arguments: argparse.Namespace) -> None:
    """Show why the bot said something.

    Shows everything about one reply: who asked, what the prompt contained, what was decided and sent. Without an ID it
    lists the last replies.
    """
    from forgetmenot.reply.explain import explain, in_words, used
    from forgetmenot.settings import prices
    from forgetmenot.store import bot_messages

    settings = common.chosen_settings(arguments.config)
    if arguments.reply is None:
        replies = await bot_messages.listing(db, LISTED)
        listed = {"replies": [_brief(reply) for reply in replies]}
        return common.report(arguments, listed, *map(_line, replies), to=common.show_line)
    explained = await explain(db, arguments.reply)
    tokens = used(explained.reply)
    cost = prices.cost(settings, tokens) if tokens else None
    lines = in_words(explained, prices.amount(settings, cost))
    value = reply_as_json(explained, cost.amount if cost is not None else None)
    return common.report(arguments, value, *lines, to=common.show_line)


def _line(reply: "BotMessage") -> str:
    from forgetmenot.clock import iso

    return f"{reply.id:6} {iso(reply.at)} {reply.status:8} {reply.trigger:12} {reply.text or reply.detail}"


def _brief(reply: "BotMessage") -> dict[str, object]:
    return common.picked(reply, "id at trigger mode text status detail")


def reply_as_json(explained: "ReplyExplanation", cost: float | None) -> dict[str, object]:
    """The documented object."""
    reply = explained.reply
    return {
        **_brief(reply), **common.picked(reply, "twitch_id model latency_ms filters used outcome prompt"),
        **common.picked(explained, "asked speaker actions"), "tokens": reply.usage, "cost": cost,
        "sections": [asdict(section) for section in explained.sections],
    }  # fmt: skip


# The notes that a message brings up.


async def _recall(arguments: argparse.Namespace) -> None:
    """Show the notes that a message would bring up.

    Shows the notes about a viewer that a message would bring up, best first.
    """
    from forgetmenot.clock import ManualClock
    from forgetmenot.memory.recall import Recall
    from forgetmenot.store.database import open_database

    if (arguments.batch is None) == (arguments.viewer is None or arguments.text is None):
        raise InputError("Give --viewer LOGIN and a TEXT, or --batch FILE.")
    clock = ManualClock(common.time_of("--now", arguments.now))
    async with open_database(common.existing_database(arguments)) as db:
        recall = Recall(db=db, settings=Settings, clock=clock)
        if arguments.batch is not None:
            await _batch(db, recall, arguments.batch)
        else:
            await _one_question(db, recall, arguments)


async def _one_question(db: "Database", recall: "Recall", arguments: argparse.Namespace) -> None:
    viewer = await common.known_viewer(db, arguments.viewer)
    started = perf_counter()
    recalled = await recall.about([viewer], recall.query(arguments.text, names=(arguments.viewer,)), arguments.limit)
    ms = (perf_counter() - started) * 1_000
    shown = await notes_as_json(db, [match.note for match in recalled])
    ranked: list[dict[str, Any]] = [
        {"rank": rank, "score": match.score, **note}
        for rank, (match, note) in enumerate(zip(recalled, shown, strict=True), start=1)
    ]
    lines = (f"{note['rank']:3} {note['score']:.4f} #{note['id']} {note['fact']}" for note in ranked)
    value = {"viewer_id": viewer, "ms": round(ms, 3), "notes": ranked}
    common.report(arguments, value, *lines, to=common.show_line)


class Question(msgspec.Struct, frozen=True):
    """A line of --batch."""

    id: str | int
    viewers: list[str]
    text: str
    limit: int = 10


async def _batch(db: "Database", recall: "Recall", name: str) -> None:
    with common.text_lines(name) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                common.emit(await _answer(db, recall, number, line))


async def _answer(db: "Database", recall: "Recall", number: int, line: str) -> dict[str, object]:
    from forgetmenot.store import viewers

    try:
        question = msgspec.json.decode(line, type=Question)
    except msgspec.MsgspecError as error:
        return {"id": None, "error": f"line {number}: {error}"}
    started = perf_counter()
    given = [name.removeprefix("@").casefold() for name in question.viewers]
    ids = await viewers.find_many(db, given)
    subjects = tuple(dict.fromkeys(ids[name] for name in given if name in ids))
    query = recall.query(question.text, names=given)
    recalled = await recall.about(subjects, query, question.limit) if subjects else []
    ms = (perf_counter() - started) * 1_000
    return {"id": question.id, "note_ids": [match.note.id for match in recalled], "ms": round(ms, 3)}


# What models cost.


async def _cost(db: "Database", arguments: argparse.Namespace) -> None:
    """Show what calls to AI models cost.

    Shows tokens and, if the settings have prices, money.
    """
    from forgetmenot.app.report import period_of
    from forgetmenot.settings import prices
    from forgetmenot.store import counts

    settings = common.chosen_settings(arguments.config)
    since = common.time_of("now", None) - period_of(arguments.since)
    rows = await counts.bills(db, arguments.by, since)
    total = await counts.spent(db, since=since)
    cost = prices.in_words(settings, total)
    if arguments.json:
        kinds = [{**row._asdict(), **row.used._asdict(), "cost": _cost_of(settings, row)} for row in rows]
        for kind in kinds:
            del kind["used"]
        common.emit({"since": since, "by": arguments.by, "rows": kinds, "cost": cost})
        return
    if not rows:
        common.show_line(f"No model was called in the last {arguments.since}.")
        return
    common.show_line(f"{arguments.by:12} {'model':24} {'calls':>6} {'tokens in':>11} {'cached':>7} {'out':>9}  cost")
    for row in rows:
        used, cached = row.used, f"{100 * row.used.cached // max(1, row.used.input)} %"
        numbers = f"{row.calls:6} {used.input:11,} {cached:>7} {used.output:9,}"
        common.show_line(f"{row.group:12} {row.model[:24]:24} {numbers}  {_cost_of(settings, row)}")
    free = not any(any(used) for used in total.values())
    unknown = "no tokens, so no cost" if free else "no prices are set, see [prices] in the settings"
    common.show_line(f"Total: {cost or unknown}.")


def _cost_of(settings: Settings, row: "Bill") -> str:
    from forgetmenot.settings import prices

    return prices.in_words(settings, {row.model: row.used})


# The report of live chat.


async def _report(db: "Database", arguments: argparse.Namespace) -> None:
    """How chat took the replies, and what of the memory was used."""
    from forgetmenot.app.report import figures_since, in_words, period_of

    settings, since = common.chosen_settings(arguments.config), common.time_of("now", None) - period_of(arguments.since)
    figures = await figures_since(db, since, settings)
    common.report(arguments, figures, *in_words(dict(figures)), to=common.show_line)


# What waits, and what was done.


async def _list(db: "Database", arguments: argparse.Namespace) -> None:
    """What waits for approval."""
    from forgetmenot.store import action_logs

    waiting = await action_logs.waiting(db, common.time_of("now", None))
    await _show_actions(db, arguments, waiting, "Nothing is waiting for approval.")


async def _log(db: "Database", arguments: argparse.Namespace) -> None:
    """What was proposed and what happened."""
    from forgetmenot.store import action_logs

    await _show_actions(db, arguments, await action_logs.latest(db, arguments.limit), "Nothing has been proposed yet.")


async def _show_actions(
    db: "Database", arguments: argparse.Namespace, rows: "list[LoggedAction]", nothing: str
) -> None:
    from forgetmenot.store import viewers

    names = await viewers.names(db, [viewer for row in rows for viewer in (row.asked_by, row.target_id) if viewer])
    value = {"actions": [_action_json(row, names) for row in rows]}
    common.report(arguments, value, *(_action_line(row, names) for row in rows), to=common.show_line)
    if not rows and not arguments.json:
        common.say(nothing)


def _action_json(row: "LoggedAction", names: dict[str, str]) -> dict[str, object]:
    fields = "id at name status verdict rule reason detail params decided_by expires_at revert_at"
    people = {"asked_by": names.get(row.asked_by or ""), "target": names.get(row.target_id or "")}
    return {**common.picked(row, fields), "class": row.kind, **people}


def _action_line(row: "LoggedAction", names: dict[str, str]) -> str:
    from forgetmenot.clock import iso

    target = f" {names[row.target_id]}" if row.target_id in names else ""
    asked_by = f", asked by {names[row.asked_by]}" if row.asked_by in names else ""
    detail = f" ({row.detail})" if row.detail else ""
    return f"#{row.id}  {iso(row.at)}  {row.name}{target}: {row.status}{detail}; {row.reason}{asked_by}"


# What is allowed, and why.


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
