"""Explains replies: one row in words; and previews replies without sending them.

`telemetry` and `usage` are what the engine writes into the row: ids and counts, no chat text. `explain` reads a row
back with the texts that are still there: notes and episodes as they are now, chat lines as long as tier 1 holds them.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.domain import ChatEvent, EventKind, ModelAnswer, Prompt, RowId
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Language, join_reasons, reason
from forgetmenot.memory.recall import Recall
from forgetmenot.operations import facts
from forgetmenot.people.names import resolve
from forgetmenot.reply.context import Composed, ContextGatherer, PrefixKeeper, compose
from forgetmenot.reply.own_name import Identity, identity_of, without_name
from forgetmenot.reply.triggers import Conversations, Trigger, TriggerKind, trigger_of
from forgetmenot.settings import prices
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    action_logs,
    bot_messages,
    channel_state,
    episodes,
    events,
    notes,
    streams,
    viewers,
)
from forgetmenot.store.bot_messages import BotMessage, ReplyStatus
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import mention, provisional_id, with_names
from forgetmenot.text.tokens import estimate_tokens

EVENT_ID = "dry-run"


async def preview(
    viewer: str,
    message: str,
    *,
    db: Database,
    settings: Settings,
    clock: Clock,
    keeper: PrefixKeeper | None = None,
    identity: Identity | None = None,
) -> tuple[Trigger, Composed]:
    """The prompt that this viewer's message would give now. `viewer`: a login or a Twitch id.

    `identity`: who the bot is, else the account it was last signed in with. A line that asks nothing is taken for a
    mention.
    """
    recall = Recall(db=db, settings=lambda: settings, clock=clock)
    await recall.prepare()  # nothing is read beforehand here, as in a bot that hears chat
    if identity is None:
        state = await channel_state.read_all(db)
        identity = identity_of(settings, state.get("bot_id", ""), state.get("bot_login", ""))
    name = viewer.strip().removeprefix("@")
    meant = await resolve(db, viewer)
    found = meant[0] if meant else None
    known = (await viewers.get_many(db, [found])).get(found) if found else None
    login = name.casefold()
    who = (
        (known.id, known.login, known.display_name)
        if known
        else (provisional_id(login), login, name)
    )
    badges = frozenset({known.role.value}) if known else frozenset[str]()
    event = ChatEvent(EVENT_ID, EventKind.MESSAGE, *who, message, clock.now(), badges=badges)
    trigger = trigger_of(event, identity, Conversations({}), settings, event.at)
    trigger = trigger or Trigger(TriggerKind.MENTION, event, without_name(event.text, identity))
    keeper = keeper or PrefixKeeper(db=db, recall=recall, settings=lambda: settings)
    gatherer = ContextGatherer(db=db, recall=recall, clock=clock)
    return trigger, await compose(keeper, gatherer, trigger, settings, bot_id=identity.user_id)


GONE = reason("gone")


def notes_in(prompt: Prompt) -> frozenset[int]:
    """The ids of the notes that stand in a prompt, and of those that its brief is made of."""
    return frozenset(
        row for section in prompt.sections for of, row in section.rows if of == "notes"
    )


def telemetry(made: Composed, settings: Settings) -> dict[str, object]:
    """What the row keeps of a prompt. The order of `rows` is their rank."""
    prompt, material = made.prompt, made.material
    recalled = (
        *material.notes,
        *material.channel,
        *(found for other in material.others for found in other.notes),
        *material.anybody,
    )
    return {
        "sections": [
            {
                "name": section.name,
                "tokens": section.tokens,
                "rows": section.rows,
                "dropped": section.dropped,
            }
            for section in prompt.sections
        ],
        "scores": {str(found.note.id): round(found.score, 4) for found in recalled},
        "shed": list(prompt.shed),
        "estimated": prompt.estimated_tokens,
        "budget": settings.prompt.budget_tokens,
        "prefix_sha256": made.prefix.sha256,
        "prefix_whole": prompt.prefix == made.prefix.text,
        "prefix_tokens": estimate_tokens(prompt.prefix),
    }


def usage(prompt: Prompt, answer: ModelAnswer) -> dict[str, int | None]:
    """What the row keeps of the bill."""
    used = answer.usage
    billed = {
        "billed": used.input,
        "cached": used.cached,
        "output": used.output,
        "thoughts": used.thoughts,
    }
    return {"estimated": prompt.estimated_tokens, **billed}


class ExplainedRow(Struct, frozen=True):
    """One row of a prompt: which, and its text if it is still kept. `score`: what recall gave it, if it did.

    `of`: as in a RowId.
    """

    id: int
    text: str
    score: float | None = None
    of: str = ""


class ExplainedSection(Struct, frozen=True):
    """One section of a prompt as it was."""

    name: str
    tokens: int
    dropped: int
    rows: tuple[ExplainedRow, ...]


class ReplyExplanation(Struct, frozen=True):
    """Everything about one reply. `asked`: the line it answers, by `who`; empty if there is none, or none any more."""

    reply: BotMessage
    who: str
    asked: str
    sections: tuple[ExplainedSection, ...]
    actions: tuple[str, ...]


async def explain(db: Database, reply_id: int) -> ReplyExplanation:
    """The trail of one reply, from what is still stored. Raises InputError if there is no such row (any more)."""
    reply = await bot_messages.get(db, reply_id)
    if reply is None:
        raise InputError(reason("reply_gone", n=reply_id))
    line = await events.line_by_id(db, reply.event_id) if reply.event_id else None
    asked = line.text if line is not None else ""
    names, _ = await viewers.shown_and_hidden(db, [reply.viewer_id] if reply.viewer_id else [])
    return ReplyExplanation(
        reply,
        names.get(reply.viewer_id or "", reason("somebody")),
        with_names(asked, await viewers.named_in(db, [asked])),
        await _sections(db, reply),
        tuple(
            join_reasons(
                reason("decided", action=done.name, reason=done.reason, status=done.status),
                done.detail,
            )
            for done in await action_logs.of_reply(db, reply_id)
        ),
    )


def as_json(
    trail: ReplyExplanation, settings: Settings, say: Language = ENGLISH
) -> dict[str, object]:
    """The trail as the dock and the command line show it; times in ms, `cost` in words."""
    reply, prompt = trail.reply, trail.reply.prompt
    kept = "id at trigger mode status text detail twitch_id model latency_ms usage filters used outcome"
    billed, cached, output, thoughts = (
        reply.usage.get(name) for name in ("billed", "cached", "output", "thoughts")
    )
    # where the provider did not say how many there were, nothing is known of what it cost
    used = (
        {}
        if billed is None
        else {reply.model: prices.TokenCounts(billed, cached or 0, (output or 0) + (thoughts or 0))}
    )
    return {
        **{name: getattr(reply, name) for name in kept.split()},
        "who": trail.who,
        "asked": trail.asked,
        "actions": trail.actions,
        "cost": prices.cost_text(settings, used, say) if used else "",
        "budget": prompt.get("budget"),
        "shed": prompt.get("shed", []),
        "sections": trail.sections,
    }


async def _sections(db: Database, reply: BotMessage) -> tuple[ExplainedSection, ...]:
    """The sections of its prompt, with the texts of the rows that are still kept and the names of today."""
    sections = reply.prompt.get("sections", [])
    texts = await _texts(db, [(of, row) for one in sections for of, row in one["rows"]])
    names = await viewers.named_in(db, texts.values())
    scores: Mapping[str, float] = reply.prompt.get("scores", {})

    def explained(kind: str, row: int) -> ExplainedRow:
        text = with_names(texts[kind, row], names) if (kind, row) in texts else GONE
        return ExplainedRow(row, text, scores.get(str(row)) if kind == "notes" else None, kind)

    return tuple(
        ExplainedSection(
            one["name"],
            one["tokens"],
            one["dropped"],
            tuple(explained(*row) for row in one["rows"]),
        )
        for one in sections
    )


async def _texts(db: Database, rows: Sequence[RowId]) -> dict[RowId, str]:
    """The texts that are still kept, by what they are of and id."""

    def ids(kind: str) -> list[int]:
        return [row for of, row in rows if of == kind]

    texts = {
        ("episodes", row): summary
        for row, summary in (await episodes.summaries(db, ids("episodes"))).items()
    }
    told = await streams.get_many(db, ids("streams"))
    texts |= {("streams", row): stream.recap for row, stream in told.items() if stream.recap}
    for seq, line in (await events.lines_by_seq(db, ids("events"))).items():
        texts["events", seq] = f"{mention(line.viewer_id or '')}: {line.text}"
    for row in ids("notes"):
        if (note := await notes.get(db, row)) is not None:
            texts["notes", row] = note.fact
    for row in ids("replies"):
        if (said := await bot_messages.get(db, row)) is not None:
            texts["replies", row] = said.text
    for row in ids("actions"):
        if (done := await action_logs.get(db, row)) is not None:
            texts["actions", row] = facts.line(done)
    return texts


def one_line(trail: ReplyExplanation, say: Language = ENGLISH) -> str:
    """For chat: why it said that, in one line. Notes by their numbers: what they say is not for everybody."""
    reply = trail.reply
    key = f"why.{reply.trigger.replace('-', '_')}"
    numbers = ", ".join(f"#{note}" for note in reply.used[:4])
    trigger = say(key if key in say else "why.mention", who=say.reason(trail.who))
    notes_used = (
        say("why.used", list=numbers, n=len(reply.used)) if numbers else say("why.used_none")
    )
    parts = [f"{trigger} {notes_used}", *(say.reason(action) for action in trail.actions[:1])]
    # that it was said is known to who asks why
    if reply.status != ReplyStatus.SENT:
        parts.append(say(f"page.status.{reply.status}"))
    parts.append(say.reason(reply.detail))
    told = "; ".join(part.rstrip(".") for part in parts if part)
    return say("why.line", id=reply.id, parts=told)[:450]
