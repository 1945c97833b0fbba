"""Why the bot said that: one row, told in words.

`telemetry` and `usage` are what the engine writes into the row: ids and counts, no chat text. `explain` reads a row
back with the texts that are still there: notes and episodes as they are now, chat lines as long as tier 1 holds them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forgetmenot.actions import history
from forgetmenot.clock import iso
from forgetmenot.domain.model import ModelAnswer, Prompt
from forgetmenot.errors import InputError
from forgetmenot.prompt.budget import estimate
from forgetmenot.reply.compose import Composed
from forgetmenot.settings.prices import Used, of_call
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, bot_messages, episodes, notes, recent_chat, streams, viewers
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import BotMessage, Status
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, mention, show

KINDS = {
    "channel_notes": "notes",
    "channel_notes_more": "notes",
    "brief": "notes",
    "lore": "notes",
    "others": "notes",
    "episodes": "episodes",
    "past_episode": "episodes",
    "own_messages": "events",
    "chat": "events",
    "message": "events",
    "bot_replies": "replies",
    "actions_done": "actions",
}
GONE = "(no longer kept)"
_OTHER = {"replies": "reply ", "streams": "stream "}


def telemetry(made: Composed, settings: Settings) -> dict[str, object]:
    """What the row keeps of a prompt. The order of `rows` is their rank."""
    prompt, material = made.prompt, made.material
    recalled = (*material.lore, *(found for other in material.others for found in other.lore))
    return {
        "sections": [
            {
                "name": section.name,
                "of": KINDS.get(section.name, ""),
                "tokens": section.tokens,
                "rows": list(section.rows),
                "others": [list(row) for row in section.others],
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
        "prefix_tokens": estimate(prompt.prefix, made.factor),
        "depth": material.depth.band,
        "factor": round(made.factor, 4),
    }


def usage(prompt: Prompt, answer: ModelAnswer) -> dict[str, int | None]:
    """What the row keeps of the bill."""
    billed = answer.usage
    return {
        "estimated": prompt.estimated_tokens,
        "billed": billed.input,
        "cached": billed.cached,
        "output": billed.output,
        "thoughts": billed.thoughts,
    }


@dataclass(frozen=True, slots=True)
class TrailRow:
    """One row of a prompt: which, and its text if it is still kept. `score`: what recall gave it, if it did.

    `of`: notes, episodes, streams (their recaps), events (lines of chat), replies or actions.
    """

    id: int
    text: str
    score: float | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class TrailSection:
    """One section of a prompt as it was."""

    name: str
    tokens: int
    dropped: int
    rows: tuple[TrailRow, ...]


@dataclass(frozen=True, slots=True)
class Trail:
    """Everything about one reply. `asked`: the line it answers; empty for a stream's notice, which answers none."""

    reply: BotMessage
    asked: str
    speaker: str
    sections: tuple[TrailSection, ...]
    actions: tuple[str, ...]


async def explain(db: Database, reply_id: int) -> Trail:
    """The trail of one reply. Raises InputError if there is no such row (any more)."""
    reply = await bot_messages.get(db, reply_id)
    if reply is None:
        raise InputError(
            f"There is no reply {reply_id}. Replies are kept for 30 days; `forgetmenot why` lists the last."
        )
    texts = await _Texts.read(db, reply)
    scores: Mapping[str, float] = reply.prompt.get("scores", {})
    sections = tuple(_section(section, texts, scores) for section in reply.prompt.get("sections", []))
    asked = [row.text for section in sections if section.name == "message" for row in section.rows]
    names, _ = await viewers.shown_and_hidden(db, [reply.viewer_id] if reply.viewer_id else [])
    speaker = names.get(reply.viewer_id or "", "somebody")
    return Trail(reply, asked[0] if asked else await _asked(db, reply), speaker, sections, await _actions(db, reply_id))


async def _asked(db: Database, reply: BotMessage) -> str:
    """The line that was answered without a prompt: a command, or what was left unanswered."""
    if reply.trigger == "notice":
        return ""
    line = await recent_chat.line_by_id(db, reply.event_id) if reply.event_id else None
    if line is None:
        return GONE
    text = f"{mention(line.viewer_id)}: {line.text}"
    return show(text, await _names(db, [text]))


async def _names(db: Database, texts: Iterable[str]) -> Mapping[str, str]:
    people = {who for text in texts for who in ids_in(text)}
    return await viewers.names(db, sorted(people - await viewers.hidden(db, people)))


def _rows_of(reply: BotMessage) -> dict[str, list[int]]:
    """The ids of the rows that the prompt held, by what they are of."""
    ids: dict[str, list[int]] = {}
    for section in reply.prompt.get("sections", []):
        ids.setdefault(section.get("of", ""), []).extend(section.get("rows", []))
        for kind, row in section.get("others", []):
            ids.setdefault(kind, []).append(row)
    return ids


def _section(section: Mapping[str, Any], texts: "_Texts", scores: Mapping[str, float]) -> TrailSection:
    kind = section.get("of", "")
    rows = tuple(
        TrailRow(row, texts.of(of, row), scores.get(str(row)) if of == "notes" else None, of)
        for of, row in [*((kind, row) for row in section.get("rows", [])), *section.get("others", [])]
    )
    return TrailSection(section["name"], section["tokens"], section["dropped"], rows)


class _Texts:
    """The texts of a prompt's rows, with the names of today."""

    def __init__(self, texts: dict[tuple[str, int], str], names: Mapping[str, str]) -> None:
        self._texts = texts
        self._names = names

    @classmethod
    async def read(cls, db: Database, reply: BotMessage) -> "_Texts":
        """Look up every row that the prompt held."""
        ids = _rows_of(reply)
        texts: dict[tuple[str, int], str] = {}
        for note_id in ids.get("notes", []):
            if (note := await notes.get(db, note_id)) is not None:
                texts["notes", note_id] = note.fact
        for episode_id, summary in (await episodes.summaries(db, ids.get("episodes", []))).items():
            texts["episodes", episode_id] = summary
        for stream_id, recap in (await streams.recaps(db, ids.get("streams", []))).items():
            texts["streams", stream_id] = recap
        for seq, line in (await recent_chat.lines_by_seq(db, ids.get("events", []))).items():
            texts["events", seq] = f"{mention(line.viewer_id)}: {line.text}"
        for said_id in ids.get("replies", []):
            if (said := await bot_messages.get(db, said_id)) is not None:
                texts["replies", said_id] = said.text
        for action_id in ids.get("actions", []):
            if (done := await action_logs.get(db, action_id)) is not None:
                texts["actions", action_id] = history.line(done)
        return cls(texts, await _names(db, texts.values()))

    def of(self, kind: str, row: int) -> str:
        """One row's text, if it is still there."""
        text = self._texts.get((kind, row))
        return show(text, self._names) if text is not None else GONE


async def _actions(db: Database, reply_id: int) -> tuple[str, ...]:
    return tuple(_action(done) for done in await action_logs.of_reply(db, reply_id))


def _action(done: LoggedAction) -> str:
    detail = f", {done.detail}" if done.detail else ""
    decided = f"{done.verdict} by rule {done.rule} ({done.reason})"
    return f"{done.name} (class {done.kind or '?'}): {decided} → {done.status}{detail}"


# ── in words ────────────────────────────────────────────────────────────────────────────────

_ENDINGS = {
    Status.SENT: "It was sent.",
    Status.SHADOW: "It was only thought: the bot is in shadow mode.",
    Status.SENDING: "It is being sent.",
    Status.UNKNOWN: "Whether it arrived is not known.",
    Status.DROPPED: "It was not sent",
    Status.REFUSED: "Twitch refused it",
    Status.SILENT: "It said nothing",
}


def one_line(trail: Trail) -> str:
    """For chat: why it said that, in one line. Notes by their numbers: what they say is not for everybody."""
    reply = trail.reply
    notes_used = [row.id for section in trail.sections if section.name in _RECALLED for row in section.rows][:4]
    ids = ", ".join(f"#{note}" for note in notes_used)
    known = f"I had note{'s' if len(notes_used) > 1 else ''} {ids} in mind" if notes_used else "I had no notes in mind"
    ending = _ending(reply)
    said = [_WHY.get(reply.trigger, f"{{who}} spoke to me ({reply.trigger})").format(who=trail.speaker), known]
    said += [*trail.actions[:1], ending[:1].lower() + ending[1:]]
    return f"#{reply.id}: {'; '.join(said)}"[:450]


_RECALLED = frozenset({"lore", "others"})
_WHY = {
    "follow-up": "{who} went on talking with me",
    "raid": "a raid came in",
    "returner": "{who} is back after a long time",
    "notice": "it is said once per stream",
}


def used(reply: BotMessage) -> dict[str, Used]:
    """The tokens of a reply's call, for what it cost; empty where the provider did not say."""
    billed, cached, output, thoughts = (reply.usage.get(name) for name in ("billed", "cached", "output", "thoughts"))
    return of_call(reply.model, billed, cached, output, thoughts)


def in_words(trail: Trail, cost: str = "") -> list[str]:
    """The whole story, a line each. `cost`: of the call, in words."""
    reply = trail.reply
    return [
        f"Reply {reply.id}, {iso(reply.at)}, in {reply.mode} mode.",
        "Put together from the rows that are still kept: notes and summaries as they read today, not as they did then.",
        f"Asked by {trail.speaker} ({reply.trigger}): {trail.asked}"
        if trail.asked
        else f"Asked by nobody ({reply.trigger}).",
        f"Said: {reply.text or '(nothing)'}",
        f"{_ending(reply)}{_taken(reply)}",
        *([f"Changed on the way by: {', '.join(reply.filters)}."] if reply.filters else []),
        *(f"Action: {action}." for action in trail.actions),
        *_model(reply, cost),
        *_prompt(reply),
        *(line for section in trail.sections for line in _rows(section)),
    ]


def _ending(reply: BotMessage) -> str:
    ending = _ENDINGS[reply.status]
    return ending if ending.endswith(".") else f"{ending}: {(reply.detail or 'no reason kept').rstrip('.')}."


def _taken(reply: BotMessage) -> str:
    return f" Twitch took it as message {reply.twitch_id}." if reply.twitch_id else ""


def _model(reply: BotMessage, cost: str) -> list[str]:
    if not reply.model:
        return ["No model answered."]
    bill = reply.usage
    cached = "" if bill.get("cached") is None else f", {bill['cached']} of them cached"
    tokens = f"tokens in: {bill.get('estimated')} estimated, {_told(bill.get('billed'))} billed{cached}"
    out = f"tokens out: {_told(bill.get('output'))}"
    return [f"Model {reply.model}, {reply.latency_ms} ms; {tokens}; {out}{f'; cost: {cost}' if cost else ''}."]


def _told(count: int | None) -> str:
    return "not told how many" if count is None else str(count)


def _prompt(reply: BotMessage) -> list[str]:
    told = reply.prompt
    if not told:
        return ["No prompt was made."]
    shed = ", ".join(told["shed"]) or "nothing"
    whole = "whole" if told["prefix_whole"] else "shortened"
    prefix = f"prefix {told['prefix_sha256'][:12]} ({told['prefix_tokens']} tokens, {whole})"
    size = f"{told['estimated']} of {told['budget']} tokens"
    return [f"Prompt: {size}, chat {told['depth']}; left out: {shed}; {prefix}."]


def _rows(section: TrailSection) -> list[str]:
    dropped = f", {section.dropped} left out" if section.dropped else ""
    head = f"  {section.name}: {section.tokens} tokens{dropped}"
    return [head, *(f"    {rank}. {_which(row)}{_score(row)} {row.text}" for rank, row in enumerate(section.rows, 1))]


def _which(row: TrailRow) -> str:
    return f"[{_OTHER.get(row.of, '')}{row.id}]"


def _score(row: TrailRow) -> str:
    return f" ({row.score:.3f})" if row.score else ""
