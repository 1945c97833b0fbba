"""Explains replies: one row in words; and previews replies without sending them.

`telemetry` and `usage` are what the writer stores in the row: ids and counts, no chat text. `explain`
reads a row back with the texts that are still there: notes and episodes as they are now, chat lines
as long as tier 1 holds them.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.domain import ChatEvent, EventKind, ModelAnswer, Prompt, RowId, Viewer
from forgetmenot.errors import InputError
from forgetmenot.languages import ENGLISH, Language, join_reasons, reason
from forgetmenot.memory.recall import Recall
from forgetmenot.operations import facts
from forgetmenot.people.names import resolve
from forgetmenot.reply.context import ComposedPrompt, ContextGatherer, compose
from forgetmenot.reply.own_name import Identity, identity_of, without_name
from forgetmenot.reply.prefix import PrefixKeeper
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
    quotes,
    streams,
    viewers,
)
from forgetmenot.store.bot_messages import BotMessage, ReplyStatus
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import mention, provisional_id, with_names
from forgetmenot.text.tokens import estimate_tokens

# The id of the line of a preview.
EVENT_ID = "dry-run"
# Notes that a reply used and chat gets to see, and characters of that answer.
CHAT_NOTES_LIMIT = 4
CHAT_LINE_LENGTH = 450
# Stands for a text that is not kept any more.
GONE = reason("gone")
# What is shown of a reply as it is stored.
_SHOWN_FIELDS = (
    "id",
    "at",
    "trigger",
    "mode",
    "status",
    "text",
    "detail",
    "twitch_id",
    "model",
    "latency_ms",
    "usage",
    "filters",
    "used",
    "outcome",
)


async def preview(
    viewer_name: str,
    message: str,
    *,
    db: Database,
    settings: Settings,
    clock: Clock,
    keeper: PrefixKeeper | None = None,
    identity: Identity | None = None,
) -> tuple[Trigger, ComposedPrompt]:
    """Return the prompt that this viewer's message would give now.

    `viewer_name`: a login or a Twitch id. `identity`: who the bot is; None: the account it was last
    signed in with. A line that asks nothing is taken for a mention. Raises StoreError.
    """
    recall = Recall(db=db, settings=lambda: settings, clock=clock)
    # A running bot has indexed episodes and notes by now; this one has to begin here.
    await recall.prepare()
    if identity is None:
        state = await channel_state.read_all(db)
        bot_id = state.get("bot_id", "")
        bot_login = state.get("bot_login", "")
        identity = identity_of(settings, bot_id, bot_login)
    event = await _line_by(db, viewer_name, message, clock.now())
    nobody = Conversations({})
    trigger = trigger_of(event, identity, nobody, settings, event.at)
    if trigger is None:
        question = without_name(event.text, identity)
        trigger = Trigger(TriggerKind.MENTION, event, question)
    if keeper is None:
        keeper = PrefixKeeper(db=db, recall=recall, settings=lambda: settings)
    gatherer = ContextGatherer(db=db, recall=recall, clock=clock)
    composed = await compose(
        keeper,
        gatherer,
        trigger,
        settings,
        bot_id=identity.user_id,
    )
    return trigger, composed


async def _line_by(
    db: Database,
    viewer_name: str,
    message: str,
    now: int,
) -> ChatEvent:
    """Return a message as a line of chat by a viewer; by a stranger if nobody of that name is known."""
    viewer = await _viewer_named(db, viewer_name)
    if viewer is not None:
        return ChatEvent(
            EVENT_ID,
            EventKind.MESSAGE,
            viewer.id,
            viewer.login,
            viewer.display_name,
            message,
            now,
            badges=frozenset({viewer.role.value}),
        )
    display_name = viewer_name.strip().removeprefix("@")
    login = display_name.casefold()
    return ChatEvent(
        EVENT_ID,
        EventKind.MESSAGE,
        provisional_id(login),
        login,
        display_name,
        message,
        now,
    )


async def _viewer_named(db: Database, viewer_name: str) -> Viewer | None:
    """Return the viewer with a name or id; of several the likeliest, None if nobody has it."""
    viewer_ids = await resolve(db, viewer_name)
    if not viewer_ids:
        return None
    viewer_id = viewer_ids[0]
    found_viewers = await viewers.get_many(db, [viewer_id])
    return found_viewers.get(viewer_id)


def notes_in(prompt: Prompt) -> frozenset[int]:
    """Return the ids of the notes that stand in a prompt, and of those that its briefs are made of."""
    note_ids = set()
    for section in prompt.sections:
        for kind, row_id in section.rows:
            if kind == "notes":
                note_ids.add(row_id)
    return frozenset(note_ids)


def telemetry(composed: ComposedPrompt, settings: Settings) -> dict[str, object]:
    """Return what the row keeps of a prompt. The order of "rows" is their rank.

    "dropped": how many rows of a section did not fit; "shed": the names of the steps that dropped them.
    "prefix_whole": whether no section of the prefix was dropped. "scores": what recall gave each note, by id.
    """
    prompt = composed.prompt
    material = composed.material
    recalled_notes = [*material.notes, *material.channel]
    for other in material.others:
        recalled_notes += other.notes
    # Those that answer a question for a person ("who plays the cello?").
    recalled_notes += material.anybody
    # So that somebody can see why a note came before another one.
    scores = {}
    for recalled in recalled_notes:
        note_id = str(recalled.note.id)
        scores[note_id] = round(recalled.score, 4)
    sections = []
    for section in prompt.sections:
        stored_section = {
            "name": section.name,
            "tokens": section.tokens,
            "rows": section.rows,
            "dropped": section.dropped,
        }
        sections.append(stored_section)
    return {
        "sections": sections,
        "scores": scores,
        "shed": list(prompt.shed),
        "estimated": prompt.estimated_tokens,
        "budget": settings.prompt.budget_tokens,
        "prefix_sha256": composed.prefix.sha256,
        "prefix_whole": prompt.prefix == composed.prefix.text,
        "prefix_tokens": estimate_tokens(prompt.prefix),
    }


def usage(prompt: Prompt, answer: ModelAnswer) -> dict[str, int | None]:
    """Return what the row keeps of the bill.

    These are the tokens as they were estimated, and as the provider counted them; "billed" are those of
    the prompt.
    """
    return {
        "estimated": prompt.estimated_tokens,
        "billed": answer.usage.input,
        "cached": answer.usage.cached,
        "output": answer.usage.output,
        "thoughts": answer.usage.thoughts,
    }


class ExplainedRow(Struct, frozen=True):
    """One row of a prompt: which, and its text if it is still kept.

    `score`: what recall gave it, if it did. `of`: the kind of row, as in a RowId.
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
    """Everything about one reply.

    `question`: the line it answers, by `viewer_name`; empty if there is none, or none any more.
    """

    reply: BotMessage
    viewer_name: str
    question: str
    sections: tuple[ExplainedSection, ...]
    actions: tuple[str, ...]


async def explain(db: Database, reply_id: int) -> ReplyExplanation:
    """Return the trail of one reply, from what is still stored.

    Raises InputError if there is no such row (any more).
    """
    reply = await bot_messages.get(db, reply_id)
    if reply is None:
        raise InputError(reason("reply_gone", n=reply_id))
    line = await events.line_by_id(db, reply.event_id) if reply.event_id else None
    question = line.text if line is not None else ""
    people = [reply.viewer_id] if reply.viewer_id else []
    names, _hidden = await viewers.shown_and_hidden(db, people)
    actions = []
    for action in await action_logs.of_reply(db, reply_id):
        decision = reason(
            "decided",
            action=action.name,
            reason=action.reason,
            status=action.status,
        )
        actions.append(join_reasons(decision, action.detail))
    return ReplyExplanation(
        reply,
        viewer_name=names.get(reply.viewer_id or "", reason("somebody")),
        question=with_names(question, await viewers.named_in(db, [question])),
        sections=await _sections(db, reply),
        actions=tuple(actions),
    )


def as_json(
    trail: ReplyExplanation,
    settings: Settings,
    language: Language = ENGLISH,
) -> dict[str, object]:
    """Return the trail as the dock and the command line show it: times in ms, `cost` in words."""
    reply = trail.reply
    fields = {name: getattr(reply, name) for name in _SHOWN_FIELDS}
    return {
        **fields,
        "who": trail.viewer_name,
        "asked": trail.question,
        "actions": trail.actions,
        "cost": _cost(reply, settings, language),
        "budget": reply.prompt.get("budget"),
        "shed": reply.prompt.get("shed", []),
        "sections": trail.sections,
    }


def _cost(
    reply: BotMessage,
    settings: Settings,
    language: Language,
) -> str:
    """Return what a reply cost, in words; "" where the provider did not report its tokens."""
    input_tokens = reply.usage.get("billed")
    # The server does not count tokens, or no model was asked.
    if input_tokens is None:
        return ""
    cached = reply.usage.get("cached") or 0
    output = reply.usage.get("output") or 0
    thoughts = reply.usage.get("thoughts") or 0
    counts = prices.TokenCounts(input_tokens, cached, output + thoughts)
    return prices.cost_text(settings, {reply.model: counts}, language)


async def _sections(db: Database, reply: BotMessage) -> tuple[ExplainedSection, ...]:
    """Return the sections of a reply's prompt, with the texts that are still kept.

    People stand in them by their names of today.
    """
    stored_sections = reply.prompt.get("sections", [])
    rows: list[RowId] = []
    for section in stored_sections:
        rows += [(kind, row_id) for kind, row_id in section["rows"]]
    texts = await _texts(db, rows)
    names = await viewers.named_in(db, texts.values())
    scores: Mapping[str, float] = reply.prompt.get("scores", {})

    def explained(kind: str, row_id: int) -> ExplainedRow:
        text: str = GONE
        if (kind, row_id) in texts:
            text = with_names(texts[kind, row_id], names)
        score = None
        if kind == "notes":
            # JSON has texts as keys.
            score = scores.get(str(row_id))
        return ExplainedRow(row_id, text, score, kind)

    sections = []
    for section in stored_sections:
        explained_rows = [explained(kind, row_id) for kind, row_id in section["rows"]]
        explained_section = ExplainedSection(
            section["name"],
            section["tokens"],
            section["dropped"],
            tuple(explained_rows),
        )
        sections.append(explained_section)
    return tuple(sections)


async def _texts(db: Database, rows: Sequence[RowId]) -> dict[RowId, str]:
    """Return the texts that are still kept, by kind and id of their rows."""
    texts = await _past_texts(db, rows)
    for note_id in _ids(rows, "notes"):
        note = await notes.get(db, note_id)
        if note is not None:
            texts["notes", note_id] = note.fact
    for reply_id in _ids(rows, "replies"):
        reply = await bot_messages.get(db, reply_id)
        if reply is not None:
            texts["replies", reply_id] = reply.text
    for action_id in _ids(rows, "actions"):
        action = await action_logs.get(db, action_id)
        if action is not None:
            texts["actions", action_id] = facts.action_line(action)
    return texts


async def _past_texts(db: Database, rows: Sequence[RowId]) -> dict[RowId, str]:
    """Return the texts of episodes, recaps, quotes and lines of chat."""
    texts: dict[RowId, str] = {}
    summaries = await episodes.summaries(db, _ids(rows, "episodes"))
    for episode_id, summary in summaries.items():
        texts["episodes", episode_id] = summary
    stored_streams = await streams.get_many(db, _ids(rows, "streams"))
    for stream_id, stream in stored_streams.items():
        if stream.recap:
            texts["streams", stream_id] = stream.recap
    for quote_id in _ids(rows, "quotes"):
        quote = await quotes.get(db, quote_id)
        if quote is not None:
            texts["quotes", quote_id] = f"{mention(quote.viewer_id)}: {quote.text}"
    lines = await events.lines_by_seq(db, _ids(rows, "events"))
    for seq, line in lines.items():
        texts["events", seq] = f"{mention(line.viewer_id or '')}: {line.text}"
    return texts


def _ids(rows: Sequence[RowId], wanted_kind: str) -> list[int]:
    """Return the ids of the rows of one kind."""
    return [row_id for kind, row_id in rows if kind == wanted_kind]


def one_line(trail: ReplyExplanation, language: Language = ENGLISH) -> str:
    """Return why the bot said that, in one line for chat.

    Notes stand there by their numbers: what they say is not for everybody.
    """
    reply = trail.reply
    trigger_name = reply.trigger.replace("-", "_")
    trigger_key = f"why.{trigger_name}"
    # All ways of speaking to the bot share one text.
    if trigger_key not in language:
        trigger_key = "why.mention"
    trigger = language(trigger_key, who=language.reason(trail.viewer_name))
    notes_used = language("why.used_none")
    if reply.used:
        shown_ids = reply.used[:CHAT_NOTES_LIMIT]
        numbers = ", ".join(f"#{note_id}" for note_id in shown_ids)
        notes_used = language("why.used", list=numbers, n=len(reply.used))
    parts = [f"{trigger} {notes_used}"]
    if trail.actions:
        parts.append(language.reason(trail.actions[0]))
    # Whoever asks why knows that it was said.
    if reply.status != ReplyStatus.SENT:
        parts.append(language(f"page.status.{reply.status}"))
    parts.append(language.reason(reply.detail))
    text = "; ".join(part.rstrip(".") for part in parts if part)
    return language("why.line", id=reply.id, parts=text)[:CHAT_LINE_LENGTH]
