"""Looks into the bot: why it gave a reply, what it cost, what waits for approval; for developers recall and prompts."""

import hashlib
from argparse import Namespace
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from forgetmenot.cli import common
from forgetmenot.cli.common import command, number_from, option
from forgetmenot.errors import InputError
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from forgetmenot.domain import Prompt
    from forgetmenot.memory.recall import Recall
    from forgetmenot.reply.explain import ReplyExplanation
    from forgetmenot.settings.prices import TokenCounts
    from forgetmenot.store.bot_messages import BotMessage
    from forgetmenot.store.database import Database

# Replies that `why` lists without an ID.
LISTED = 20
# What `why` calls the rows of a prompt.
ROW_LABELS = {
    "notes": "note",
    "episodes": "summary",
    "streams": "stream",
    "events": "chat line",
    "replies": "reply",
    "actions": "action",
}
GROUPS = ("purpose", "model", "day", "stream")
PROMPT_KEYS = """The prompt is prefix and tail, one after the other. In JSON `rows` are the ids, best first, of what
stands in a section; `dropped` counts those that the budget left out."""
WHY_KEYS = """In JSON times are milliseconds since 1970; `filters` changed the words; `used` are the notes that the
model says it used; `of` says what a row is; `text` is the row as it reads today."""
RECALL_KEYS = """FILE has JSON lines {"id", "viewers": [logins or ids], "text", "limit"?}; each is answered, in order:
{"id", "note_ids": [best first], "ms"}; a line that cannot be used gets {"id", "error"}."""
EVALUATE_KEYS = """In JSON `outcomes` counts replies: good or bad (rated), deleted, corrected (a used note changed in
ten minutes), asked_again (the same, by the same viewer, within two), silence (none of these). `ranks`: used notes by
place."""
# A sum without every price would look smaller than what is billed.
NO_PRICES = (
    "No prices are set, so there is no sum in money: see [prices] in the settings."
)
COST_KEYS = """Tokens are as billed; costs need [prices] in the settings. Old calls are deleted (`keep_replies_d`)."""


# ── the prompt for a message ────────────────────────────────────────────────────────────────


@command(
    "prompt",
    option(
        "--viewer",
        required=True,
        metavar="LOGIN",
        help="who writes it: a login or a Twitch ID",
    ),
    option("--message", required=True, metavar="TEXT", help="what they write"),
    option(
        "--now",
        metavar="ISO",
        help="use this time instead of now (without a zone: UTC)",
    ),
    keys=PROMPT_KEYS,
    shared="config db json",
)
async def _prompt(arguments: Namespace) -> None:
    """Show the exact prompt for a message, without sending anything.

    Shows the prompt for a message from that viewer, with the tokens of each part. No model is asked, and nothing is
    sent or written.
    """
    path = common.existing_database(arguments)
    settings = common.chosen_settings(arguments.config)
    at = None
    if arguments.now:
        at = common.time_of("--now", arguments.now)
    prompt = await build_prompt(path, settings, arguments.viewer, arguments.message, at)
    sections = []
    lines = [prompt.prefix + prompt.tail, ""]
    for section in prompt.sections:
        row_ids = [row_id for _kind, row_id in section.rows]
        fields = common.picked(section, "name tokens")
        sections.append({**fields, "rows": row_ids, "dropped": section.dropped})
        # As a table: names of sections have up to 20 letters.
        line = f"{section.name:20} {section.tokens:5} tokens"
        if row_ids:
            line += f"  rows {', '.join(map(str, row_ids))}"
        if section.dropped:
            line += f"  dropped {section.dropped}"
        lines.append(line)
    budget = settings.prompt.budget_tokens
    lines.append(f"{'total':20} {prompt.estimated_tokens:5} tokens of {budget}")
    value = {
        **common.picked(prompt, "prefix tail"),
        # Equal for equal prefixes, which is what a model's cache goes by.
        "prefix_sha256": hashlib.sha256(prompt.prefix.encode()).hexdigest(),
        "estimated_tokens": prompt.estimated_tokens,
        "sections": sections,
    }
    common.report(arguments, value, lines, to=common.show_line)


async def build_prompt(
    path: "Path",
    settings: Settings,
    viewer: str,
    message: str,
    at: int | None,
) -> "Prompt":
    """Return the prompt that a viewer's message would get at a time (ms; None: now)."""
    from forgetmenot.clock import ManualClock, SystemClock
    from forgetmenot.prompt.instructions import check_floor
    from forgetmenot.reply.explain import preview
    from forgetmenot.reply.reply_object import offered
    from forgetmenot.store.database import open_database

    actions = offered(settings.actions, settings.bridge.effects)
    # As the bot does at its start: a budget too small for the instructions is refused.
    check_floor(settings, settings.twitch.channel, actions)
    clock = SystemClock() if at is None else ManualClock(at)
    async with open_database(path) as db:
        _trigger, composed = await preview(
            viewer, message, db=db, settings=settings, clock=clock
        )
        return composed.prompt


# ── why a reply was given ───────────────────────────────────────────────────────────────────


@command(
    "why",
    option(
        "reply",
        nargs="?",
        type=number_from(1),
        metavar="REPLY_ID",
        help="the reply's ID (default: the last ones)",
    ),
    keys=WHY_KEYS,
    shared="config db json",
    on_memory=True,
)
async def _why(db: "Database", arguments: Namespace) -> common.Shown:
    """Show why the bot said something.

    Shows everything about one reply: who asked, what the prompt contained, what was decided and sent. Without an ID it
    lists the last replies.
    """
    from forgetmenot.reply.explain import as_json, explain

    settings = common.chosen_settings(arguments.config)
    if arguments.reply is None:
        return await _last_replies(db, settings)
    explanation = await explain(db, arguments.reply)
    value = as_json(explanation, settings)
    return value, _why_lines(explanation, str(value["cost"]), settings)


async def _last_replies(db: "Database", settings: Settings) -> common.Shown:
    """Return the last replies as JSON has them, and a sentence on each."""
    from forgetmenot.store import bot_messages, viewers

    replies = await bot_messages.listing(db, LISTED)
    asker_ids = {reply.viewer_id for reply in replies if reply.viewer_id}
    names, _hidden = await viewers.shown_and_hidden(db, asker_ids)
    rows = []
    lines = []
    for reply in replies:
        rows.append(common.picked(reply, "id at trigger mode status text detail"))
        # The bot may have spoken to nobody, or to somebody who is hidden by now.
        asker = names.get(reply.viewer_id or "", "")
        replied_at = common.local_time(reply.at, settings)
        lines.append(f"#{reply.id}  {replied_at}  {_outcome(reply, asker)}")
    if not lines:
        return {"replies": rows}, ["The bot has not replied to anything yet."]
    lines.append("`forgetmenot why NUMBER` explains one of them.")
    return {"replies": rows}, lines


def _outcome(reply: "BotMessage", asker: str) -> str:
    """Return what made the bot answer, and what came of it: "mentioned by Bob: said “Hi!”"."""
    from forgetmenot.languages import ENGLISH

    # Triggers are stored as they are called ("first line"); a key of a language has no spaces.
    trigger = reply.trigger.replace(" ", "_").replace("-", "_")
    cause = _worded(f"page.trigger.{trigger}", reply.trigger)
    if asker:
        cause += f" ({asker})"
    status = ENGLISH(f"page.status.{reply.status}")
    words = f" “{reply.text}”" if reply.text else ""
    detail = f" ({ENGLISH.reason(reply.detail)})" if reply.detail else ""
    return f"{cause}: {status}{words}{detail}"


def _worded(key: str, name: str) -> str:
    """Return the words of the interface for a name; the name itself where they lack it.

    A memory may hold names that another version of the bot has written.
    """
    from forgetmenot.languages import ENGLISH

    return ENGLISH(key) if key in ENGLISH else name


def _why_lines(
    explanation: "ReplyExplanation",
    cost: str,
    settings: Settings,
) -> list[str]:
    """Return sentences that explain one reply."""
    from forgetmenot.languages import ENGLISH

    reply = explanation.reply
    # Of somebody who has no name any more it is a reason, which each language words.
    viewer_name = ENGLISH.reason(explanation.viewer_name)
    asker = viewer_name if reply.viewer_id else ""
    lines = [f"Reply {reply.id}, {common.local_time(reply.at, settings)}."]
    # Gone once the line is older than a day: raw chat is deleted then.
    if explanation.question:
        lines.append(f"{viewer_name} wrote: “{explanation.question}”")
    lines.append(f"What made it answer: {_outcome(reply, asker)}")
    lines += [f"Action: {ENGLISH.reason(action)}" for action in explanation.actions]
    if reply.model:
        lines.append(_model_sentence(reply, cost))
    if reply.filters:
        lines.append(f"Its words were changed by: {', '.join(reply.filters)}.")
    if reply.used:
        numbers = ", ".join(f"#{note_id}" for note_id in reply.used)
        lines.append(f"It used {common.counted(len(reply.used), 'note')}: {numbers}.")
    if reply.outcome:
        outcome = _worded(f"page.outcome.{reply.outcome}", reply.outcome)
        lines.append(f"Afterwards it was {outcome}.")
    if explanation.sections:
        lines.append("Its prompt held:")
    for section in explanation.sections:
        title = _worded(f"page.section.{section.name}", section.name)
        left_out = f", {section.dropped} left out" if section.dropped else ""
        lines.append(f"  {title} ({common.counted(section.tokens, 'token')}{left_out})")
        for row in section.rows:
            label = ROW_LABELS.get(row.of, row.of)
            # As it reads today: "no longer stored" where it is gone.
            lines.append(f"    {label} {row.id}: {ENGLISH.reason(row.text)}")
    return lines


def _model_sentence(reply: "BotMessage", cost: str) -> str:
    """Return which model wrote a reply, how long that took, and what it cost."""
    model = "the built-in rules" if reply.model == "offline" else reply.model
    parts = [f"It was written by {model}"]
    if reply.latency_ms is not None:
        parts.append(f"in {reply.latency_ms / 1_000:.1f} s")
    if cost:
        parts.append(f"for {cost}")
    return " ".join(parts) + "."


# ── the notes that a message brings up ──────────────────────────────────────────────────────


@command(
    "recall",
    option(
        "--batch",
        required=True,
        metavar="FILE",
        help="questions as JSON lines (- reads standard input)",
    ),
    option("--now", metavar="ISO", help="the time to recall at (default: now)"),
    keys=RECALL_KEYS,
    on_memory=True,
)
async def _recall(db: "Database", arguments: Namespace) -> None:
    """Find the notes about viewers that messages would bring up."""
    from forgetmenot.clock import ManualClock
    from forgetmenot.memory.recall import Recall

    # One moment for all questions, so that the same file gives the same answers.
    clock = ManualClock(common.now())
    if arguments.now is not None:
        clock = ManualClock(common.time_of("--now", arguments.now))
    recall = Recall(db=db, settings=Settings, clock=clock)
    with common.text_lines(arguments.batch) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                common.emit(await _answer(db, recall, number, line))


class Question(msgspec.Struct, frozen=True):
    """A line of --batch."""

    id: str | int
    viewers: list[str]
    text: str
    limit: int = 10


async def _answer(
    db: "Database",
    recall: "Recall",
    number: int,
    line: str,
) -> dict[str, object]:
    """Return the answer to one line of --batch, as JSON has it."""
    from forgetmenot.people import names

    try:
        question = msgspec.json.decode(line, type=Question)
    except msgspec.MsgspecError as error:
        return {"id": None, "error": f"line {number}: {error}"}
    # Of the bot's own work alone; to open the memory and to read the line takes longer.
    started = perf_counter()
    typed_names = [name.removeprefix("@").casefold() for name in question.viewers]
    viewer_ids: list[str] = []
    for name in typed_names:
        for viewer_id in await names.resolve(db, name):
            if viewer_id not in viewer_ids:
                viewer_ids.append(viewer_id)
    query = recall.query(question.text, names=typed_names)
    note_ids = []
    if viewer_ids:
        matches = await recall.about(viewer_ids, query, question.limit)
        note_ids = [match.note.id for match in matches]
    ms = (perf_counter() - started) * 1_000
    return {"id": question.id, "note_ids": note_ids, "ms": round(ms, 3)}


# ── what models cost ────────────────────────────────────────────────────────────────────────


@command(
    "cost",
    option(
        "--since",
        default="30d",
        metavar="SPAN",
        help="how far back, such as 12h or 7d (default: 30d)",
    ),
    option(
        "--by",
        choices=GROUPS,
        default="purpose",
        help="group the calls by (default: purpose)",
    ),
    keys=COST_KEYS,
    shared="config db json",
    on_memory=True,
)
async def _cost(db: "Database", arguments: Namespace) -> common.Shown:
    """Show what calls to AI models cost.

    Shows tokens and, if the settings have prices, money.
    """
    from forgetmenot.durations import parse_duration
    from forgetmenot.settings import prices
    from forgetmenot.store import counts
    from forgetmenot.text.days import iso_day

    period = parse_duration(arguments.since)
    if not period:
        raise InputError(
            f"--since {arguments.since}: a number and a unit are needed, for example 12h or 7d."
        )
    since = common.now() - period
    settings = common.chosen_settings(arguments.config)
    # Days outlive the log of calls, so they are asked for from a table of their own.
    if arguments.by == "day":
        first_day = iso_day(since, settings.bot.timezone)
        bills = await counts.daily_bills(db, first_day)
    else:
        bills = await counts.bills(db, arguments.by, since)
    rows = []
    lines = []
    used_in_all: dict[str, prices.TokenCounts] = {}
    for bill in bills:
        model = bill.model
        used = bill.used
        # A model may have a bill in each group; the sum is made by model, because their prices differ.
        used_before = used_in_all.get(model, prices.TokenCounts(0, 0, 0))
        used_in_all[model] = prices.TokenCounts(
            input=used_before.input + used.input,
            cached=used_before.cached + used.cached,
            output=used_before.output + used.output,
        )
        cost = prices.cost_text(settings, {model: used})
        fields = common.picked(bill, "group model calls failed")
        rows.append({**fields, **used._asdict(), "cost": cost})
        sentence = _bill_sentence(model, bill.calls, used, cost)
        lines.append(f"{bill.group}: {sentence}")
    total = prices.cost_text(settings, used_in_all)
    value = {"since": since, "by": arguments.by, "rows": rows, "cost": total}
    if not rows:
        return value, [f"No model was called in the last {arguments.since}."]
    head = f"Calls to models in the last {arguments.since}, by {arguments.by}:"
    total_line = f"In all: {total}." if total else NO_PRICES
    return value, [head, *lines, total_line]


def _bill_sentence(
    model: str,
    calls: int,
    used: "TokenCounts",
    cost: str,
) -> str:
    """Return what the calls to one model used: "3 calls to x, 900 tokens read, 20 written, 0.01 EUR"."""
    name = "the built-in rules" if model == "offline" else model
    parts = [f"{common.counted(calls, 'call')} to {name}"]
    if used.input or used.output:
        cached = f" ({used.cached:,} of them cached)" if used.cached else ""
        parts.append(f"{used.input:,} tokens read{cached}, {used.output:,} written")
    if cost:
        parts.append(cost)
    return ", ".join(parts)


# ── how well it answers ─────────────────────────────────────────────────────────────────────


@command(
    "evaluate",
    keys=EVALUATE_KEYS,
    shared="config db json",
    on_memory=True,
)
async def _evaluate(db: "Database", arguments: Namespace) -> common.Shown:
    """Show how well the bot answers.

    Shows how its replies were taken, week by week, and how well the notes were ranked that they used.
    """
    from msgspec.structs import asdict

    from forgetmenot.languages import ENGLISH
    from forgetmenot.reply.evaluation import evaluate

    settings = common.chosen_settings(arguments.config)
    figures = await evaluate(db, settings.bot.timezone)
    weeks = [asdict(week) for week in figures.weeks]
    value = {**asdict(figures), "weeks": weeks}
    if not figures.replies:
        return value, ["The bot has sent no replies yet."]
    titles = {}
    for name in figures.outcomes:
        titles[name] = ENGLISH(f"page.answers.outcome.{name}")
    head = "  ".join(["week of   ", "replies", *titles.values()])
    lines = [f"{figures.replies} replies, by how they were taken:", head]
    for week in figures.weeks:
        replies = sum(week.outcomes.values())
        cells = [week.week, f"{replies:7}"]
        for name, count in week.outcomes.items():
            # As wide as the title above it.
            width = len(titles[name])
            cells.append(f"{count:{width}}")
        lines.append("  ".join(cells))
    if figures.share_used is not None:
        lines.append(
            f"Of the notes in their prompts the replies used {figures.share_used:.0%}."
        )
    if figures.median_rank is not None:
        places = ", ".join(
            f"{place}: {count}" for place, count in figures.ranks.items()
        )
        lines.append(
            f"A used note stood at place {figures.median_rank:g} of its list (median); {places}."
        )
    return value, lines


# ── what was done ───────────────────────────────────────────────────────────────────────────


@command(
    "actions",
    option(
        "--limit",
        type=number_from(1),
        default=20,
        metavar="N",
        help="how many (default: 20)",
    ),
    shared="config db json",
    on_memory=True,
)
async def _actions(db: "Database", arguments: Namespace) -> common.Shown:
    """Show what the bot proposed to do, what waits for approval, and what happened."""
    from forgetmenot.languages import ENGLISH, reason
    from forgetmenot.store import action_logs, viewers

    settings = common.chosen_settings(arguments.config)
    rows = await action_logs.latest(db, arguments.limit)
    # The columns of --json that are printed as they are stored.
    fields = "id at name status verdict rule reason detail params decided_by expires_at revert_at"
    askers = {row.asked_by for row in rows if row.asked_by}
    targets = {row.target_id for row in rows if row.target_id}
    names = await viewers.names(db, askers | targets)
    allowed = reason("allowed")
    actions = []
    lines = []
    for row in rows:
        asked_by = names.get(row.asked_by or "")
        target = names.get(row.target_id or "")
        names_of_row = {"class": row.kind, "asked_by": asked_by, "target": target}
        actions.append({**common.picked(row, fields), **names_of_row})
        action = _worded(f"action.name.{row.name}", row.name)
        if target:
            action += f" {target}"
        if asked_by:
            action += f", asked by {asked_by}"
        status = ENGLISH(f"page.status.{row.status}")
        # What was allowed has a status that says more.
        decided_why = "" if row.reason == allowed else row.reason
        # What came of it, and why it was decided so; either may be empty.
        details = [ENGLISH.reason(text) for text in (row.detail, decided_why) if text]
        sentence = f"{action}: {status}. {' '.join(details)}".rstrip()
        proposed_at = common.local_time(row.at, settings)
        lines.append(f"#{row.id}  {proposed_at}  {sentence}")
    return {"actions": actions}, lines or ["Nothing has been proposed yet."]
