"""Writes the reply to one line: prompt, model call, proposed action, and words that fit its outcome.

Guarantees:
- What was written over lines, notes or people that were taken back meanwhile is written anew, or not said. That is
  decided by the rows of its prompt.
- Nothing is claimed that was not done: a refused, failed or unclear action speaks the executor's words, and a reply
  that proposed nothing names only actions that were done. Nothing is done for a reply that could not go out in time.
- Else the model's words go out as they are, in the form that chat takes (reply/polish).
- Without a model it is quiet.
"""

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import (
    ChatEvent,
    EventKind,
    ModelAnswer,
    ModelRequest,
    OutcomeKind,
    Proposal,
    Verdict,
)
from forgetmenot.durations import SECOND
from forgetmenot.errors import ModelError
from forgetmenot.languages import in_language, reason
from forgetmenot.logs import log
from forgetmenot.operations import wording
from forgetmenot.operations.executor import Executor
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.request_words import SELF_WORDS, is_small_talk
from forgetmenot.people.handles import names_typed
from forgetmenot.ports import LanguageModel
from forgetmenot.privacy.hidden_names import without_hidden_names
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.prompt.assemble import assemble
from forgetmenot.prompt.instructions import rules_of
from forgetmenot.reply import explain
from forgetmenot.reply.context import ComposedPrompt, ContextGatherer, compose
from forgetmenot.reply.outbox import Outbox, ReasonToDrop, no_reason
from forgetmenot.reply.own_name import Identity
from forgetmenot.reply.polish import FilterContext, Polished, claims_action, polish
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.reply_object import ModelReply, read_reply, reply_request
from forgetmenot.reply.second_look import look_again
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Mode, Provider, Settings
from forgetmenot.store import bot_messages, events, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.clean import clean
from forgetmenot.text.phrases import names_everything
from forgetmenot.text.questions import speaks_of_self

# How often a reply is written, where rows of its prompt are taken back meanwhile.
DRAFTS_LIMIT = 2


class PendingReply(Struct, frozen=True):
    """A reply that is to be written.

    `reply_id`: its row in bot_messages. `keeps_text`: False if the answer's words are not stored, because nothing of
    who asked is.
    """

    trigger: Trigger
    settings: Settings
    reply_id: int
    keeps_text: bool = True

    @property
    def event(self) -> ChatEvent:
        """The line that asks for it."""
        return self.trigger.event

    @property
    def deadline(self) -> int:
        """When it is too late for an answer (ms)."""
        return self.event.at + self.settings.reply.stale_after_s * SECOND

    @property
    def reply_to(self) -> str | None:
        """The message that Twitch shows it under; None for a raid, for what was said aloud and for a reward."""
        if self.trigger.kind is TriggerKind.RAID:
            return None
        if self.event.kind in {EventKind.SPOKEN, EventKind.REDEMPTION}:
            return None
        return self.event.id


class Words(Struct, frozen=True):
    """What is to be said, or why nothing is. `reason_to_drop`: asked when its turn comes."""

    text: str
    reason: str = ""
    reason_to_drop: ReasonToDrop = no_reason


# What kind of thing may not be mentioned any more, and its id.
_Row = tuple[str, int | str]


class _Draft(NamedTuple):
    """One try at a reply: what the model is asked, the prompt and what it was made of, and what the filters need."""

    job: PendingReply
    composed: ComposedPrompt
    request: ModelRequest
    context: FilterContext


async def _asks_nothing(_event: ChatEvent) -> str:
    return ""


def _hastens_nothing(_event_seqs: Collection[int]) -> None:
    """Leave the events to the next pass."""


class ReplyWriter(Struct):
    """Writes replies. It neither sends them nor decides which line gets one.

    `identity`: who the bot is now; `flush` makes lines that were just heard readable. `ask_erasure`: asks whoever wrote
    a line whether everything about them is to be deleted, and returns the question. `hasten_summary`: is handed the
    events with which somebody spoke of themselves, when they are asked about before they are summarised.
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
    ask_erasure: Callable[[ChatEvent], Awaitable[str]] = _asks_nothing
    hasten_summary: Callable[[Collection[int]], None] = _hastens_nothing

    async def words_for(self, job: PendingReply) -> Words:
        """Return the words, or a reason for none.

        What was written over rows that are taken back meanwhile is written anew. Raises StoreError.
        """
        for _ in range(DRAFTS_LIMIT):
            await self.flush()
            if await self._was_cleared(job):
                return Words("", reason("cleared"))
            draft = await self._draft(job)
            if (
                job.trigger.kind is TriggerKind.BARE
                and not draft.composed.material.before
            ):
                return Words(in_language(job.settings.bot.language)("chat.called"))
            try:
                answer = await self.model.generate(draft.request)
            except ModelError as error:
                log.warning(
                    "no answer from the model",
                    reply=job.reply_id,
                    error=type(error).__name__,
                )
                return Words("", str(error))
            draft, answer = await self._second_look(draft, answer)
            await self.flush()
            # seconds have passed since the prompt was read
            if await self._taken_back(draft.composed):
                continue
            text, problem = await self._written(draft, answer)
            taken_back = await self._taken_back(draft.composed)
            # its own action may have changed notes; lines and people that are gone by now are others' work
            own_changes = frozenset(
                row for row in taken_back if row[0] in {"note", "revision"}
            )
            reason_to_drop = partial(
                self._reason_to_drop, job, draft.composed, own_changes
            )
            return Words(text, problem, reason_to_drop)
        return Words("", reason("cleared"))

    async def _draft(self, job: PendingReply) -> _Draft:
        """Compose the prompt and what the model is asked, and store what stands in the prompt."""
        bot_id = self.identity().user_id
        composed = await compose(
            self.keeper, self.gatherer, job.trigger, job.settings, bot_id=bot_id
        )
        material = composed.material
        await self._record_prompt(job, explain.telemetry(composed, job.settings))
        if material.congratulate_at and job.settings.bot.mode is not Mode.SHADOW:
            # before the model is asked: whatever dies in between, nobody is told twice
            told_at = max(self.clock.now(), material.congratulate_at)
            async with self.db.write() as tx:
                await viewers.set_congratulated(tx, job.event.user_id, told_at)
        statements = [
            line.id for line in material.unsummarised if speaks_of_self(line.text)
        ]
        if statements and job.trigger.direct:
            self.hasten_summary(statements)
        question = job.trigger.question
        may_look_up = (
            not is_small_talk(question) and self.model.name != Provider.OFFLINE
        )
        request = reply_request(
            composed.prompt,
            job.settings,
            material.speaker.role,
            question,
            may_look_up=may_look_up,
        )
        return _Draft(
            job, composed, request, filter_context(job.trigger, composed, job.settings)
        )

    async def _record_prompt(
        self, job: PendingReply, telemetry: dict[str, object]
    ) -> None:
        async with self.db.write() as tx:
            await bot_messages.record_prompt(tx, job.reply_id, telemetry)

    async def _second_look(
        self, draft: _Draft, answer: ModelAnswer
    ) -> tuple[_Draft, ModelAnswer]:
        """Return the answer, or a second one if the model asks to look something up and it is found.

        Once, and only while there is time for another call. Raises StoreError.
        """
        job = draft.job
        composed = draft.composed
        search_words = read_reply(answer).look_up
        schema = draft.request.schema or {}
        if not search_words or "look_up" not in schema.get("properties", {}):
            return draft, answer
        # a second call takes about as long as the first did
        expected_end = self.clock.now() + 2 * max(answer.latency_ms, SECOND)
        if expected_end > job.deadline:
            return draft, answer
        shown_notes = explain.notes_in(composed.prompt)
        material = await look_again(self.gatherer, composed, search_words, shown_notes)
        if material is None:
            return draft, answer
        prompt = assemble(composed.prefix, material, job.settings)
        composed = composed._replace(prompt=prompt, material=material)
        request = reply_request(
            prompt, job.settings, material.speaker.role, job.trigger.question
        )
        try:
            second_answer = await self.model.generate(request)
        except ModelError as error:
            log.info("no second answer", error=type(error).__name__)
            return draft, answer
        telemetry = explain.telemetry(composed, job.settings) | {"looked_up": True}
        await self._record_prompt(job, telemetry)
        return draft._replace(composed=composed, request=request), second_answer

    async def _was_cleared(self, job: PendingReply) -> bool:
        """Return whether a line of the question was cleared in chat."""
        for event_id in (*job.trigger.earlier, job.event.id):
            if await events.was_deleted(self.db, event_id):
                return True
        return False

    async def _reason_to_drop(
        self,
        job: PendingReply,
        composed: ComposedPrompt,
        own_changes: frozenset[_Row],
    ) -> str:
        """Return why words may not go out any more, now that their turn has come; empty if they may.

        `own_changes`: what the reply itself changed. Raises StoreError.
        """
        if await self._was_cleared(job):
            return reason("cleared")
        taken_back = await self._taken_back(composed)
        taken_back -= own_changes
        # a line that lost its words with a forgotten fact may still be answered: nobody cleared it in chat
        taken_back -= {("line", job.event.id)}
        return reason("cleared") if taken_back else ""

    async def _taken_back(self, composed: ComposedPrompt) -> frozenset[_Row]:
        return await self.db.together(partial(_rows_taken_back, composed=composed))

    async def _written(self, draft: _Draft, answer: ModelAnswer) -> tuple[str, str]:
        """Return the words, and the problem if there are none; the answer is stored."""
        reply = read_reply(answer)
        polished = await self._settle(draft, reply)
        prompt = draft.composed.prompt
        used: list[int] = []
        if polished.text:
            shown_notes = explain.notes_in(prompt)
            used = [note_id for note_id in reply.notes if note_id in shown_notes]
        async with self.db.write() as tx:
            await bot_messages.record_answer(
                tx,
                draft.job.reply_id,
                model=answer.model,
                latency_ms=answer.latency_ms,
                usage=explain.usage(prompt, answer),
                filters=polished.filters,
                used=used,
            )
            await notes.set_used(tx, used, self.clock.now())
        for name in polished.filters:
            log.info("filter fired", filter=name)
        return polished.text, "" if polished.text else reply.problem

    async def _settle(self, draft: _Draft, reply: ModelReply) -> Polished:
        """Act, if something was proposed and there is time for it, and polish the words that fit."""
        job = draft.job
        context = draft.context
        proposal = reply.proposal
        fired = (reply.problem,) if reply.problem and reply.say else ()
        if proposal is not None and job.event.kind is EventKind.SPOKEN:
            # anybody near the microphone is heard, so nothing is done for what was said aloud
            reply = replace(reply, say=proposal.if_refused)
            proposal = None
        if proposal is not None:
            if self.outbox.refusal_reason(job.deadline):
                # neither done nor claimed
                return Polished("", (*fired, "too late"))
            context = replace(context, done=context.done | {proposal.name})
        polished = polish(reply.say, context)
        if proposal is not None:
            polished = replace(
                polished, text=await self._carry_out(draft, proposal, polished.text)
            )
        elif not polished.text and "claim" in polished.filters:
            language = in_language(job.settings.bot.language)
            polished = replace(polished, text=language("action.neutral"))
        polished = await self._without_suppressed(draft, polished)
        # what a cut leaves in front may be a command
        text = polish(polished.text, context).text
        return Polished(text, (*fired, *polished.filters))

    async def _without_suppressed(self, draft: _Draft, polished: Polished) -> Polished:
        """Return the words without suppressed topics and hidden names."""
        job = draft.job
        material = draft.composed.material
        people = [material.speaker.id, *(other.viewer.id for other in material.others)]
        text = (await load_filter(self.db)).without_topics(polished.text, people)
        if text != polished.text:
            language = in_language(job.settings.bot.language)
            text = text or language("action.another_subject")
            polished = Polished(text, (*polished.filters, "left alone"))
        # a moderator is answered who was banned or timed out
        shown_names = names_typed(event.text for event in material.moderation)
        text = await without_hidden_names(
            self.db, polished.text, job.event.user_id, shown_names
        )
        if text != polished.text:
            polished = Polished(text, (*polished.filters, "hidden name"))
        return polished

    async def _carry_out(
        self,
        draft: _Draft,
        proposal: Proposal,
        words: str,
    ) -> str:
        """Carry out what the policy allows of a proposal, and return the words that fit what became of it.

        `words`: the model's, as if it were done.
        """
        job = draft.job
        language = in_language(job.settings.bot.language)
        proposal = replace(
            proposal, if_refused=polish(proposal.if_refused, draft.context).text
        )
        if not job.keeps_text:
            # an action leaves a row with who asked and what they said
            return wording.harmless(proposal.if_refused, language)
        if "text" in proposal.params:
            text = await without_hidden_names(
                self.db, proposal.params["text"], job.event.user_id
            )
            proposal = replace(proposal, params={**proposal.params, "text": text})
        context = ActionContext(
            event=job.event,
            key=f"reply:{job.reply_id}",
            bot_message_id=job.reply_id,
            words=words,
            question=job.trigger.question if job.trigger.direct else "",
        )
        result = await self.executor.carry_out(proposal, context)
        if result.decision.verdict is Verdict.DENY and _means_everything(job, proposal):
            question = await self.ask_erasure(job.event)
            if question:
                return question
        if result.words_hint:
            return result.words_hint
        if result.outcome is not None and result.outcome.kind is OutcomeKind.DONE:
            return words
        # in a preview, which chat does not read, the words stand as they would in chat
        if result.decision.rule == "silent_preview":
            return words
        # nobody asked for it: the words answer without it, unless they say that it was done
        if claims_action(words, draft.context.done):
            return wording.harmless(proposal.if_refused, language)
        return words


def _means_everything(job: PendingReply, proposal: Proposal) -> bool:
    """Return whether the model read a wish to be forgotten altogether, in whatever language.

    A silent preview is shown to nobody who could answer.
    """
    if proposal.name != "forget" or job.settings.bot.mode is Mode.SHADOW:
        return False
    target = clean(proposal.params.get("target", "")).lstrip("@").casefold()
    own_names = {job.event.login.casefold(), clean(job.event.display_name).casefold()}
    if target not in SELF_WORDS | own_names:
        return False
    return names_everything(proposal.params.get("what", ""))


def filter_context(
    trigger: Trigger,
    composed: ComposedPrompt,
    settings: Settings,
) -> FilterContext:
    """Return what the filters need for an answer to that prompt, in chat as in a preview."""
    actions_done = composed.material.actions_done
    return FilterContext(
        settings,
        speaker_names=(trigger.event.login, trigger.event.display_name),
        rules=rules_of(composed.prompt.sections[0].text),
        done=frozenset(action.done for action in actions_done if action.done),
        links=frozenset(
            past.link for past in composed.material.past_episodes if past.link
        ),
    )


async def _rows_taken_back(source: Source, composed: ComposedPrompt) -> frozenset[_Row]:
    """Return what of a prompt may not be mentioned any more: notes, lines, people; ("revision", …) for all else."""
    material = composed.material
    revision = await notes.suppression_revision(source)
    note_ids = await notes.not_active(source, explain.notes_in(composed.prompt))
    event_ids = await events.cleared_ids(
        source, {line.event_id for line in material.lines_heard}
    )
    people = await viewers.hidden_or_gone(source, material.names.keys())
    rows: set[_Row] = {("note", note_id) for note_id in note_ids}
    rows.update(("line", event_id) for event_id in event_ids)
    rows.update(("person", viewer_id) for viewer_id in people)
    if revision != composed.revision:
        rows.add(("revision", str(revision)))
    return frozenset(rows)
