"""Writes the reply to one line: prompt, model call, proposed action, and words that fit its outcome.

Guarantees:
- What was written over lines, notes or people that were taken back meanwhile is written anew, or not said; so is what
  mentions them when its turn in the queue comes.
- Nothing is claimed that was not done: a refused, failed or unclear action speaks the executor's words, and a reply
  that proposed nothing names only actions that were done. Nothing is done for a reply that could not go out in time.
- Without a model it is quiet, or quotes, now and then, a note that plainly answers a direct question.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from forgetmenot.clock import MINUTE, SECOND, Clock
from forgetmenot.domain.action import Proposal
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.domain.model import ModelAnswer, ModelRequest, Prompt
from forgetmenot.domain.operation import OperationResult
from forgetmenot.errors import ModelError
from forgetmenot.languages import in_language, reason
from forgetmenot.llm.offline.answer import quotation
from forgetmenot.logs import log
from forgetmenot.memory.facts.corrections import seems_to_correct
from forgetmenot.memory.heard_facts import changed_by, just_said
from forgetmenot.memory.suppression import load_filter, revision_of, without_hidden_names, without_suppressed
from forgetmenot.operations import wording
from forgetmenot.operations.action_claims import claims_action
from forgetmenot.operations.executor import Executor
from forgetmenot.operations.fact_gathering import ActionContext
from forgetmenot.ports import LanguageModel
from forgetmenot.prompt.assemble import INSTRUCTIONS
from forgetmenot.prompt.instructions import rules_of
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply import explanation
from forgetmenot.reply.context import Composed, ContextGatherer, PrefixKeeper, compose
from forgetmenot.reply.outbox import Outbox, ReasonToDrop, no_reason
from forgetmenot.reply.postprocess import FilterContext, Polished, polish, tidy
from forgetmenot.reply.reply_object import ModelReply, read_reply, reply_request
from forgetmenot.reply.support import (
    Claim,
    asks_back,
    borrowed,
    contradicted,
    facts_in,
    never_said,
    repeated,
    says_nothing,
    unfounded,
    unsupported,
    used_notes,
    without_unsupported,
)
from forgetmenot.reply.triggers import Identity, Trigger, TriggerKind
from forgetmenot.settings.schema import Settings, Unsupported
from forgetmenot.store import bot_messages, events, model_calls, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.forgotten_facts import is_forgotten
from forgetmenot.text.denials import denies
from forgetmenot.text.mentions import ids_in, show
from forgetmenot.text.removal import traces

QUOTE_EVERY = 10 * MINUTE
"""How often a note is quoted while the model is away."""
LINES_AROUND = 10
CHANNEL = ("channel", "channel_notes", "channel_notes_more", "channel_notes_asked", "digest", "episodes")
ABOUT_PEOPLE = ("lore", "brief", "others")
OWN_WORDS = ("lore", "brief", "own_messages", "message")
SHARED = ("past_episode", "own_messages", "chat", "actions_done")
"""Sections that may answer a question about the channel, and one about anybody."""
_NUMBER = re.compile(r"(?:\[id:|#)(\d+)")
CLOCK_TIME = re.compile(r"\d{1,2}:\d\d")
"""What no general knowledge tells, so that only a row can be the source."""
THOUGHTS = 2
"""How often a line is thought about, where lines of its prompt are cleared meanwhile."""


@dataclass(frozen=True, slots=True)
class PendingReply:
    """`reply_id`: its row in bot_messages. `kept`: False if the answer's words are not: who asked is not stored."""

    trigger: Trigger
    settings: Settings
    reply_id: int
    kept: bool = True

    @property
    def event(self) -> ChatEvent:
        """The line that asks for it."""
        return self.trigger.event

    @property
    def deadline(self) -> int:
        """When it is too late for an answer."""
        return self.event.at + self.settings.reply.stale_after_s * SECOND

    @property
    def reply_to(self) -> str | None:
        """The message that Twitch shows it under; a raid is welcomed to everybody."""
        return None if self.trigger.kind is TriggerKind.RAID else self.event.id


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be said, or why nothing is. `reason_to_drop`: asked when its turn comes."""

    text: str
    reason: str = ""
    reason_to_drop: ReasonToDrop = no_reason


_Row = tuple[str, int | str]


class _Draft(NamedTuple):
    """One thought about a line: what is asked, the prompt and what it was made of, and what the filters need."""

    job: PendingReply
    made: Composed
    request: ModelRequest
    context: FilterContext

    @property
    def prompt(self) -> Prompt:
        return self.made.prompt

    @property
    def material(self) -> TailMaterial:
        return self.made.material


@dataclass(slots=True)
class ReplyWriter:
    """Writes replies. It neither sends them nor decides which line gets one.

    `identity` tells who the bot is now; `flush` makes lines that were just heard readable; `room_modes`: those that are
    on in the channel, whoever switched them on.
    """

    db: Database
    clock: Clock
    model: LanguageModel
    gatherer: ContextGatherer
    keeper: PrefixKeeper
    outbox: Outbox
    executor: Executor
    identity: Callable[[], Identity]
    flush: Callable[[], Awaitable[None]]
    room_modes: Callable[[], frozenset[str]]
    _quoted_at: int | None = None

    async def words_for(self, job: PendingReply) -> Words:
        """The words, or a reason for none. What was written over rows that are taken back meanwhile is written anew."""
        for _ in range(THOUGHTS):
            await self.flush()
            if await events.was_deleted(self.db, job.event.id):
                return Words("", reason("line_cleared"))
            draft = await self._draft(job)
            if job.trigger.kind is TriggerKind.BARE and not draft.material.before:
                return Words(in_language(job.settings.bot.language)("chat.called"))
            answer = error = None
            try:
                answer = await self.model.generate(draft.request)
            except ModelError as failure:
                error = failure
                log.warning("no answer from the model", reply=job.reply_id, error=type(error).__name__)
            await self.flush()
            # seconds have passed since the prompt was read
            if await self.db.together(partial(_taken_back, made=draft.made)):
                continue
            text, why = await (self._without_model(draft, error) if answer is None else self._written(draft, answer))
            gone = await self.db.together(partial(_taken_back, made=draft.made))
            # what its own action did to notes; lines and people that are gone by now are others' work
            before = frozenset(row for row in gone if row[0] in {"note", "revision"})
            return Words(text, why, partial(self._reason_to_drop, job, draft.made, text, before))
        return Words("", reason("prompt_cleared"))

    async def _draft(self, job: PendingReply) -> _Draft:
        identity = self.identity()
        made = await compose(self.keeper, self.gatherer, job.trigger, job.settings, bot_id=identity.user_id)
        async with self.db.write() as tx:
            await bot_messages.record_prompt(tx, job.reply_id, explanation.telemetry(made, job.settings))
        request = reply_request(made.prompt, job.settings, made.material.speaker.role, job.trigger.question)
        return _Draft(job, made, request, filter_context(job, made.material, identity, made.prompt))

    async def _written(self, draft: _Draft, answer: ModelAnswer) -> tuple[str, str]:
        reply = read_reply(answer, draft.job.trigger.question)
        polished = await self._settle(draft, reply)
        own = polish(reply.say, draft.context).text
        polished, claims = await asyncio.to_thread(_supported, draft, polished, own)
        if draft.material.asks_memory and not polished.text and "unsupported" in polished.filters:
            text = await self._quoted(draft, reply.say)
            text = text or in_language(draft.request.language)("action.not_remembered")
            polished = Polished(polish(text, draft.context).text, polished.filters)
        await self._record(draft, answer, polished, claims)
        words = polished.text or await self._about_correction(draft)
        return words, "" if words else reply.problem

    async def _reason_to_drop(self, job: PendingReply, made: Composed, text: str, before: frozenset[_Row]) -> str:
        """Why words may not go out any more, now that their turn has come; empty if they may. Raises StoreError."""
        if await events.was_deleted(self.db, job.event.id):
            return reason("line_cleared")
        gone = await self.db.together(partial(_taken_back, made=made)) - before - {("line", job.event.id)}
        texts: dict[_Row, str] = {("line", line.event_id): line.text for line in made.material.said}
        texts.update((("note", note_id), fact) for note_id, fact in _facts_shown(made.prompt).items())
        left_alone = (await load_filter(self.db)).about(made.material.names) if gone else ()
        mentioned = used_notes(text, dict(enumerate(texts.get(row, "") for row in gone)))
        hidden = any(kind == "person" for kind, _ in gone)
        if mentioned or hidden or without_suppressed(text, left_alone) != text:
            return reason("prompt_cleared")
        # a summary may have told it as well, and what was heard today is no note
        people = made.material.names if any(kind == "revision" for kind, _ in gone) else ()
        since = job.event.at - 1
        forgotten = [await is_forgotten(self.db, one, traces(text), own_since=None, since=since) for one in people]
        return reason("prompt_cleared") if any(forgotten) else ""

    async def _settle(self, draft: _Draft, reply: ModelReply) -> Polished:
        """Act, if something was proposed and there is time for it, and polish the words that fit."""
        job, material, context = draft.job, draft.material, draft.context
        language = in_language(job.settings.bot.language)
        polished = polish(reply.say, context)  # what is judged is what chat would read
        fired = (reply.problem,) if reply.problem and reply.say else ()
        say = polished.text
        if reply.proposal is not None:
            if self.outbox.refusal_reason(job.deadline):
                return Polished("", (*fired, "too late"))  # neither done nor claimed
            if_refused = polish(reply.proposal.if_refused, context).text
            params = {**reply.proposal.params}
            if "text" in params:
                params["text"] = await without_hidden_names(self.db, params["text"], job.event.user_id)
            proposal = replace(reply.proposal, params=params, if_refused=if_refused)
            say = await self._carry_out(draft, proposal, say)
        elif claims_action(say, {done.done for done in material.actions_done}):
            # "I've noted that", to a line that corrected a note when it was heard, is said in our words
            say, fired = await self._about_correction(draft) or language("action.neutral"), (*fired, "claim")
        if (allowed := without_suppressed(say, material.left_alone)) != say:
            say, fired = allowed or language("action.another_subject"), (*fired, "left alone")
        if (allowed := await without_hidden_names(self.db, say, job.event.user_id)) != say:
            say, fired = allowed, (*fired, "hidden name")
        if say != polished.text:
            polished = polish(say, context)
        return Polished(polished.text, (*fired, *polished.filters))

    async def _carry_out(self, draft: _Draft, proposal: Proposal, say: str) -> str:
        """The words that fit what the policy decided and what was done."""
        job = draft.job
        if not job.kept:  # what is done has a row, with who asked and what they said
            return wording.harmless(proposal.if_refused, in_language(job.settings.bot.language))
        context = ActionContext(
            event=job.event,
            key=f"reply:{job.reply_id}",
            recent_lines=tuple(line.text for line in draft.material.chat[-LINES_AROUND:]),
            bot_message_id=job.reply_id,
            words=say,
            room_modes=self.room_modes(),
            question=job.trigger.question if job.trigger.direct else "",
        )
        return (await self.executor.carry_out(proposal, context)).words_hint or say

    async def _record(self, draft: _Draft, answer: ModelAnswer, polished: Polished, claims: list[Claim]) -> None:
        reply_id, prompt = draft.job.reply_id, draft.prompt
        used = used_notes(polished.text, _facts_shown(prompt), draft.context.question)
        usage = explanation.usage(prompt, answer)
        async with self.db.write() as tx:
            await bot_messages.record_answer(
                tx,
                reply_id,
                model=answer.model,
                latency_ms=answer.latency_ms,
                usage=usage,
                filters=polished.filters,
            )
            await bot_messages.record_support(tx, reply_id, used, claims)
        for name in polished.filters:
            log.info("filter fired", reply=reply_id, filter=name)
        await model_calls.learn_factor(
            self.db,
            self.model.name,
            prompt.estimated_tokens,
            answer.usage.input,
            self.clock.now(),
            factor=self.keeper.factor,
        )

    async def _without_model(self, draft: _Draft, error: ModelError | None) -> tuple[str, str]:
        """Silence, except that a direct question is sometimes answered with a note that plainly answers it."""
        if words := await self._about_correction(draft):
            return words, ""
        now = self.clock.now()
        due = self._quoted_at is None or now - self._quoted_at >= QUOTE_EVERY
        if not (draft.job.trigger.direct and due and (words := await self._quoted(draft, ""))):
            return "", str(error)
        self._quoted_at = now
        log.info("quoted a note without a model", reply=draft.job.reply_id)
        return words, ""

    async def _quoted(self, draft: _Draft, said: str) -> str:
        """The note in a prompt that answers, or that what was `said` is made of, as chat may read it; else nothing."""
        request = draft.request
        words = await asyncio.to_thread(quotation, request.system, request.prompt, request.language, said)
        return await self._as_chat_may_read(draft, polish(words, draft.context).text)

    async def _about_correction(self, draft: _Draft) -> str:
        """What the line has just corrected; or how to correct the note just used, where it seems to mean that."""
        job = draft.job
        who, change = job.event.user_id, await changed_by(self.db, job.event.id)
        if change is not None:
            code, found = change.code, [change.note]
        else:
            said = await just_said(self.db, who, job.event.at)
            used, line, direct = said.notes if said is not None else [], job.trigger.question, job.trigger.direct
            own = [note for note in used if note.subject_id == who]
            code, found = ("which_wrong" if own[1:] else "if_wrong", own) if own else ("if_wrong_of_others", used)
            if not found or not (denies(line) or ((own or direct) and seems_to_correct(line, to_bot=direct))):
                return ""
        names = await viewers.names(self.db, sorted({one for note in found for one in ids_in(note.fact)}))
        quiet = await load_filter(self.db)
        listed = [{"id": note.id, "fact": show(note.fact, names) if quiet.allows(note) else ""} for note in found]
        result = OperationResult(ok=True, code=code, data={**listed[0], "notes": listed})
        words = tidy(wording.chat_line(result, in_language(job.settings.bot.language)), job.settings)
        return await self._as_chat_may_read(draft, words)

    async def _as_chat_may_read(self, draft: _Draft, words: str) -> str:
        """Words of ours that name notes; nothing where they have what is to be left alone."""
        if without_suppressed(words, draft.material.left_alone) != words:
            return ""  # the rest of a quotation would be the bot's own words, and might begin with a command
        return await without_hidden_names(self.db, words, draft.job.event.user_id)


def _supported(draft: _Draft, polished: Polished, own: str) -> tuple[Polished, list[Claim]]:
    """The words, without what no row supports where the settings say so, and what such is left.

    Where nothing is left of an answer, no words. `own`: what the model said. Words of ours, such as those for a
    refusal, may be said again, and need no note.
    """
    material, context, question = draft.material, draft.context, draft.context.question
    texts = {section.name: section.text for section in draft.prompt.sections if section.name != INSTRUCTIONS}
    known = (*context.bot_names, *context.speaker_names, *material.names.values())
    said, asked, asks = polished.text, " ".join((question, *known)), material.asks_memory and polished.text in own
    claims = unsupported(said, texts.values(), known)
    people = [texts[name] for name in (*ABOUT_PEOPLE, "past_episode") if name in texts]
    others = [other.viewer.display_name for other in material.others]
    # to who asks about themselves, one word of theirs in "I'm from Porto" is enough
    invented = borrowed(said, people, question, others, least=1 if asks and not others else 2)
    invented += [claim for claim in claims if CLOCK_TIME.fullmatch(said[claim.start : claim.end])]
    invented += never_said(said, [texts[name] for name in OWN_WORDS if name in texts])
    if said in own:
        facts = _facts_shown(draft.prompt)
        again = repeated(said, context.last_replies, facts, question)
        if "?" in question and not without_unsupported(said, again):  # another may ask the same in other words
            again = repeated(said, [line.text for line in material.thread], facts, question)
        invented += again
    if asks:
        about = ("others",) if material.others else ("now", "speaker", "lore", "brief", *CHANNEL)
        rows = [texts[name] for name in (*about, *SHARED) if name in texts]
        # with two people in question nothing tells whose fact it conflicts with
        if len(material.others) < 2:
            told = [fact for text in rows for fact in facts_in(text).values()]
            told += [] if material.others else [heard.fact for heard in material.heard]
            invented += contradicted(said, told, known)
        invented += unfounded(said, asked, rows, fits=not (material.nothing_known or invented))
        invented += unsupported(said, (*rows, question), known)
    wanted = context.settings.reply.unsupported
    claims += [part for part in invented if not any(part.start <= claim.start < part.end for claim in claims)]
    cut = {Unsupported.KEEP: [], Unsupported.MEMORY: invented}.get(wanted, claims)
    if cut or (asks and (asks_back(said) if said else "echo" in polished.filters)):
        text = without_unsupported(said, cut)
        text = "" if asks and says_nothing(text, asked) else polish(text, context).text
        polished = Polished(text, (*polished.filters, "unsupported"))
        claims = unsupported(polished.text, texts.values(), known) if wanted is Unsupported.MEMORY else []
    return polished, claims


async def _taken_back(at: Source, made: Composed) -> frozenset[_Row]:
    """What of a prompt may not be mentioned any more: notes, lines, people; ("revision", …) for all else."""
    material = made.material
    revision = await revision_of(at)
    return frozenset(
        (
            *(("note", one) for one in await notes.not_active(at, {*_facts_shown(made.prompt), *material.brief_notes})),
            *(("line", one) for one in await events.cleared(at, {line.event_id for line in material.said})),
            *(("person", one) for one in await viewers.hidden_or_gone(at, material.names.keys())),
            *([("revision", str(revision))] if revision != made.revision else []),
        )
    )


def _facts_shown(prompt: Prompt) -> dict[int, str]:
    shown = (section.text for section in prompt.sections if section.name != INSTRUCTIONS)
    return {note_id: fact for text in shown for note_id, fact in facts_in(text).items()}


def filter_context(job: PendingReply, material: TailMaterial, identity: Identity, prompt: Prompt) -> FilterContext:
    """What the filters need to know about this reply."""
    replies = tuple(line.text for line in (*material.bot_replies, *material.thread))
    shown = (section for section in prompt.sections if section.name not in {INSTRUCTIONS, "chat", "message"})
    return FilterContext(
        job.settings,
        (identity.login, identity.name, *identity.aliases),
        replies,
        (job.event.login, job.event.display_name),
        question=job.trigger.question,
        note_ids=frozenset(number for section in shown for number in _NUMBER.findall(section.text)),
        others=frozenset(name.casefold() for name in material.names.values()),
        rules=rules_of(prompt.sections[0].text),
        direct=job.trigger.direct,
    )
