"""Services of the operations table: help, approvals, why, who and what was missed, switches, and a viewer's rights.

The rights (erase, opt out, opt in, export, what is kept) work in every mode and without a model. Nothing is erased
unless it was confirmed, and an erasure that was promised in chat is finished even if the program stops
(privacy/erasure.Eraser.erase_due).
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import asdict

from forgetmenot.clock import MINUTE, iso
from forgetmenot.domain import Asker, OperationResult, Surface
from forgetmenot.languages import Language, in_language
from forgetmenot.memory.arrivals import card
from forgetmenot.memory.recall import missed as what_was_missed
from forgetmenot.operations.run import Refused, may_ask
from forgetmenot.operations.types import (
    ApprovalQueue,
    Operation,
    OperationContext,
    Request,
    Service,
)
from forgetmenot.operations.wording import described
from forgetmenot.privacy.erasure import ErasureReport
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, bot_messages, channel_state, personal_data, viewers
from forgetmenot.store.database import Database

MOST_NAMED = 5


def _allowed(context: OperationContext, request: Request) -> list[Operation]:
    return [one for one in context.table.values() if one.chat and may_ask(one, request.asker)]


async def show_commands(context: OperationContext, request: Request) -> OperationResult:
    """The commands that the asker may type, without this one."""
    words = dict.fromkeys(
        f"!{_word(one)}" for one in _allowed(context, request) if one.name != "commands"
    )
    return OperationResult(ok=True, code="commands", data={"commands": list(words)})


async def show_help(context: OperationContext, request: Request) -> OperationResult:
    """The commands that most people need, or how one of them is typed."""
    allowed = _allowed(context, request)
    # both marks: East Asian keyboards type the wide one
    word = request.text("command").lstrip("!！").casefold()
    if not word:
        return OperationResult(ok=True, code="help")
    fitting = [one for one in allowed if word in {one.name, _word(one)}]
    fitting = fitting or [
        one for one in allowed if any(form.split()[0] == f"!{word}" for form in one.chat)
    ]
    if not fitting:
        code = "help_unknown" if request.asker.moderates else "not_allowed"
        return OperationResult(ok=False, code=code, data={"command": f"!{word}"})
    forms = [(shown(one.chat[0]), one.name, *one.examples[:1]) for one in fitting]
    return OperationResult(ok=True, code="help_command", data={"forms": forms})


def _word(operation: Operation) -> str:
    return operation.chat[0].split()[0].lstrip("!")


def shown(form: str) -> str:
    """A form as people read it: the first of its alternative words."""
    return " ".join(word if word[0] in "<[" else word.split("|")[0] for word in form.split())


async def decide(context: OperationContext, request: Request, *, approved: bool) -> OperationResult:
    """Approve or deny an action by its number; without one, what waits is listed."""
    number, queue = await _number_of(context, request), _queue(context)
    return await (queue.approve if approved else queue.deny)(number, name_of(request.asker))


def _queue(context: OperationContext) -> ApprovalQueue:
    if context.approvals is None:
        raise Refused("not_allowed")
    return context.approvals


async def _number_of(context: OperationContext, request: Request) -> int:
    """The number of the action that is meant. Raises Refused: it lists what waits, so that nobody approves unseen."""
    if number := request.number("id"):
        return number
    rows = (await action_logs.waiting(context.db, context.clock.now()))[:MOST_NAMED]
    names = await viewers.names(context.db, [row.target_id for row in rows if row.target_id])
    language = in_language(context.settings().bot.language)
    lines = [
        f"#{row.id} {described(row.name, row.params, names.get(row.target_id or '', ''), language)}"
        for row in rows
    ]
    raise Refused("which_action" if lines else "nothing_waits", actions=lines)


async def undo(context: OperationContext, request: Request) -> OperationResult:
    """Undo one action; without a number the last one of this hour that can be undone."""
    return await _queue(context).undo(name_of(request.asker), request.number("id") or None)


def name_of(asker: Asker) -> str:
    """Who decided, for the log: a viewer's id, or the surface."""
    return asker.viewer_id or "the command line"


# ── replies ─────────────────────────────────────────────────────────────────────────────────

# `!good` and `!bad` are about a reply that chat still sees.
RATED_WITHIN = 5 * MINUTE


async def rate(context: OperationContext, request: Request, *, good: bool) -> OperationResult:
    """Note that a reply was good or bad; without a number the last one of these minutes."""
    since = context.clock.now() - RATED_WITHIN
    if number := request.number("id"):
        reply = await bot_messages.get(context.db, number)
    else:
        reply = next(
            iter(await bot_messages.recently_sent(context.db, 1, since, commands=False)), None
        )
    if reply is None:
        return OperationResult(ok=False, code="no_reply")
    async with context.db.write() as tx:
        await bot_messages.set_outcome(tx, reply.id, "good" if good else "bad")
    return OperationResult(ok=True, code="rated")


async def why(context: OperationContext, request: Request) -> OperationResult:
    """Explain the last reply, or one reply, in one line."""
    number = request.number("id")
    one = await (
        bot_messages.get(context.db, number) if number else bot_messages.latest(context.db)
    )
    if one is None:
        return OperationResult(ok=False, code="no_reply")
    return OperationResult(ok=True, code="why", data={"line": await context.explain_reply(one.id)})


# ── who is here, and what happened ──────────────────────────────────────────────────────────

MISSED_CHARS, MISSED_LEAD = 450, 50


async def who(context: OperationContext, request: Request) -> OperationResult:
    """Who a viewer is, in one line, as the dock's card says it."""
    now, target = context.clock.now(), request.target
    zone = context.settings().bot.timezone
    found = await card(context.db, target.id, now, now, zone) if target.id is not None else None
    if found is None:
        return OperationResult(ok=True, code="memory_empty", target=target)
    language = in_language(context.settings().bot.language)
    parts = [found.who.replace(" · ", "; ")]
    if found.lately:
        lead = "page.arrivals.over" if found.over else "page.arrivals.lately"
        parts.append(language(lead, text=found.lately))
    text = " ".join(f"{part.rstrip('.')}." for part in parts if part)
    return OperationResult(
        ok=True, code="who", data={"n": found.streams, "text": text}, target=target
    )


async def missed(context: OperationContext, request: Request) -> OperationResult:
    """What happened since the asker was last here, in stored sentences."""
    asker = request.asker
    if asker.viewer_id in await personal_data.opted_out(context.db):
        return OperationResult(ok=False, code="you_opted_out")
    now = context.clock.now()
    most = min(context.settings().reply.max_chars, MISSED_CHARS) - MISSED_LEAD
    away = await context.db.together(lambda at: what_was_missed(at, asker.viewer_id, now, most))
    if away.since is None or not away.sentences:
        return OperationResult(ok=True, code="missed_nothing")
    return OperationResult(
        ok=True,
        code="missed",
        data={"ago": now - away.since, "text": " ".join(away.sentences), "evidence": away.evidence},
    )


# ── switches: pause, quiet and safe mode; they survive a restart ────────────────────────────

LONGEST_QUIET_MIN = 240


class Switches(Struct, frozen=True):
    """State of the switches. `quiet_until` is a time in ms, 0 for none."""

    paused: bool
    quiet_until: int
    safe_mode: bool

    def silent(self, now: int) -> bool:
        """Whether the bot must not speak or act by itself."""
        return self.paused or self.quiet_until > now


def switches_of(state: Mapping[str, str]) -> Switches:
    """The switches in the channel's state."""
    return Switches(
        state.get("paused") == "1",
        int(state.get("quiet_until") or 0),
        state.get("safe_mode") == "1",
    )


async def read_switches(db: Database) -> Switches:
    """Read the switches."""
    return switches_of(await channel_state.read_all(db))


def switched(**values: str) -> Service:
    """The service that sets switches to these values; the answer is how things stand then."""

    async def turn(context: OperationContext, _request: Request) -> OperationResult:
        return await _switch(context, values)

    return turn


async def quiet(context: OperationContext, request: Request) -> OperationResult:
    """Stay silent for some minutes."""
    minutes = max(1, min(request.number("minutes") or 10, LONGEST_QUIET_MIN))
    return await _switch(context, {"quiet_until": str(context.clock.now() + minutes * MINUTE)})


async def _switch(context: OperationContext, values: Mapping[str, str]) -> OperationResult:
    async with context.db.write() as tx:
        await channel_state.put(tx, values, context.clock.now())
    return await status(context)


async def status(context: OperationContext, _request: Request | None = None) -> OperationResult:
    """The bot's status in one line."""
    line = await status_line(context.db, context.settings(), context.clock.now())
    return OperationResult(ok=True, code="status", data={"status": line})


async def status_line(db: Database, settings: Settings, now: int) -> str:
    """The status in one line."""
    state, language = await channel_state.read_all(db), in_language(settings.bot.language)
    switches, gaps = switches_of(state), gaps_sentence(state, now, language)
    if switches.paused:
        parts = [language("status.paused")]
    elif switches.quiet_until > now:
        parts = [language("status.quiet", n=-(-(switches.quiet_until - now) // MINUTE))]
    else:
        parts = [language("status.on", mode=language(f"page.mode.{settings.bot.mode}.title"))]
    if switches.safe_mode or settings.actions.safe_mode:
        parts.append(language("status.safe"))
    if waiting := len(await action_logs.waiting(db, now)):
        parts.append(language("status.waiting", n=waiting))
    parts += [gaps] if gaps else []
    return language("status.line", name=settings.bot.name, parts=", ".join(parts))


def gaps_sentence(state: Mapping[str, str], now: int, language: Language) -> str:
    """How often chat was not heard since the start, and the last time, without a full stop; empty if it always was.

    `state`: the channel's state (`gaps`, `gap_from`, `gap_to`; times in ms).
    """
    count = int(state.get("gaps") or 0)
    if not count:
        return ""
    began, ended = int(state.get("gap_from") or 0), int(state.get("gap_to") or 0)
    length, ago = language.duration(ended - began), language.duration(now - ended, "ago")
    return language("status.gaps", n=count, length=length, ago=ago)


# ── rights ──────────────────────────────────────────────────────────────────────────────────


# After that chat is answered that it is under way.
LONGEST_ERASURE_S = 10.0


async def erase(context: OperationContext, request: Request) -> OperationResult:
    """Erase everything about a viewer. One that takes long runs on beside the answer in chat."""
    who, viewer_id = request.target, _person(request)
    if request.asker.surface is Surface.CHAT and request.flag("confirm"):
        if not await context.rights.erase(viewer_id, request.asker.login if who.own else ""):
            return OperationResult(ok=False, code="memory_empty", target=who)
        if not context.eraser.is_begun(viewer_id):
            return OperationResult(ok=True, code="erasing", target=who)
        found = await context.eraser.report_of(viewer_id, LONGEST_ERASURE_S)
        if (
            found is None or not found.wiped
        ):  # somebody else's comes first, or another program reads the file
            return OperationResult(ok=True, code="erasing", target=who)
        return OperationResult(ok=True, code="erased", data=_figures(found), target=who)
    await context.flush()
    if not await personal_data.is_known(context.db, viewer_id):
        return OperationResult(ok=False, code="memory_empty", target=who)
    if not request.flag("confirm"):
        typed = "" if who.own else f"{who.name} "
        return OperationResult(
            ok=False, code="erase_unconfirmed", data={"typed": typed}, target=who
        )
    report = await context.eraser.erase(viewer_id)
    return OperationResult(ok=True, code="erased", data=_figures(report), target=who)


def _figures(report: ErasureReport) -> dict[str, object]:
    return {**asdict(report), "mb": round(report.bytes / 1e6, 1)}


def _person(request: Request) -> str:
    """The id of the viewer that it is about. Raises Refused: it is about the channel."""
    if request.target.id is None:
        raise Refused("unknown_viewer", name="channel")
    return request.target.id


async def opt_out(context: OperationContext, request: Request) -> OperationResult:
    """Store nothing of a viewer from now on; what is known of them is neither shown nor used."""
    viewer_id = _person(request)
    await context.rights.opt_out(viewer_id)
    await context.refresh()
    return OperationResult(
        ok=True, code="opted_out", data={"viewer": viewer_id}, target=request.target
    )


async def opt_in(context: OperationContext, request: Request) -> OperationResult:
    """Remember a viewer again."""
    who, viewer_id = request.target, _person(request)
    was_out = await context.rights.opt_in(viewer_id)
    if was_out:
        await context.refresh()
    elif not who.own and await viewers.get(context.db, viewer_id) is None:
        raise Refused("unknown_viewer", name=who.name)
    return OperationResult(ok=True, code="opted_in", data={"viewer": viewer_id}, target=who)


async def privacy(context: OperationContext, _request: Request) -> OperationResult:
    """What is kept, with the streamer's link."""
    settings = context.settings()
    data = {"hours": f"{settings.memory.raw_events_h:g}", "link": settings.privacy.privacy_url}
    return OperationResult(ok=True, code="privacy", data=data)


async def export(context: OperationContext, request: Request) -> OperationResult:
    """Everything that is kept about a viewer, as JSON."""
    who = request.target
    rows = await personal_data.export(context.db, who.id) if who.id is not None else {}
    if not rows or not rows["person"]:
        return OperationResult(ok=False, code="memory_empty", target=who)
    held = {"exported_at": iso(context.clock.now()), **rows, "person": rows["person"][0]}
    return OperationResult(ok=True, code="exported", data=held, target=who)
