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
from forgetmenot.reply.context import Composed, ContextGatherer, PrefixKeeper, compose
from forgetmenot.reply.outbox import Outbox, ReasonToDrop, no_reason
from forgetmenot.reply.own_name import Identity
from forgetmenot.reply.polish import FilterContext, Polished, claims_action, polish
from forgetmenot.reply.reply_object import ModelReply, read_reply, reply_request
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Mode, Provider, Settings
from forgetmenot.store import bot_messages, events, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.clean import clean
from forgetmenot.text.phrases import names_everything
from forgetmenot.text.questions import speaks_of_self

# How often a reply is written, where rows of its prompt are taken back meanwhile.
MOST_DRAFTS = 2


class PendingReply(Struct, frozen=True):
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
        """The message that Twitch shows it under: of a raid, of what was said aloud and of a reward there is none."""
        unseen = self.event.kind in {EventKind.SPOKEN, EventKind.REDEMPTION}
        return None if unseen or self.trigger.kind is TriggerKind.RAID else self.event.id


class Words(Struct, frozen=True):
    """What is to be said, or why nothing is. `reason_to_drop`: asked when its turn comes."""

    text: str
    reason: str = ""
    reason_to_drop: ReasonToDrop = no_reason


_Row = tuple[str, int | str]


class _Draft(NamedTuple):
    """One try at a reply: what the model is asked, the prompt and what it was made of, and what the filters need."""

    job: PendingReply
    made: Composed
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
        """The words, or a reason for none. What was written over rows that are taken back meanwhile is written anew."""
        for _ in range(MOST_DRAFTS):
            await self.flush()
            if await self._was_cleared(job):
                return Words("", reason("cleared"))
            draft = await self._draft(job)
            if job.trigger.kind is TriggerKind.BARE and not draft.made.material.before:
                return Words(in_language(job.settings.bot.language)("chat.called"))
            try:
                answer = await self.model.generate(draft.request)
            except ModelError as error:
                log.warning(
                    "no answer from the model", reply=job.reply_id, error=type(error).__name__
                )
                return Words("", str(error))
            draft, answer = await self._second_look(draft, answer)
            await self.flush()
            # seconds have passed since the prompt was read
            if await self.db.together(partial(_taken_back, made=draft.made)):
                continue
            text, why = await self._written(draft, answer)
            gone = await self.db.together(partial(_taken_back, made=draft.made))
            # what its own action did to notes; lines and people that are gone by now are others' work
            before = frozenset(row for row in gone if row[0] in {"note", "revision"})
            return Words(text, why, partial(self._reason_to_drop, job, draft.made, before))
        return Words("", reason("cleared"))

    async def _draft(self, job: PendingReply) -> _Draft:
        identity = self.identity()
        made = await compose(
            self.keeper, self.gatherer, job.trigger, job.settings, bot_id=identity.user_id
        )
        async with self.db.write() as tx:
            await bot_messages.record_prompt(
                tx, job.reply_id, explain.telemetry(made, job.settings)
            )
        statements = [line.id for line in made.material.unsummarised if speaks_of_self(line.text)]
        if statements and job.trigger.direct:
            self.hasten_summary(statements)
        question = job.trigger.question
        looks = not is_small_talk(question) and self.model.name != Provider.OFFLINE
        role = made.material.speaker.role
        request = reply_request(made.prompt, job.settings, role, question, may_look_up=looks)
        return _Draft(job, made, request, filter_context(job.trigger, made, job.settings))

    async def _second_look(self, draft: _Draft, answer: ModelAnswer) -> tuple[_Draft, ModelAnswer]:
        """The answer, or, where the model asks to look something up and it is found, a second one over what was found.

        Once, and only while there is time for another call. Raises StoreError.
        """
        job, words = draft.job, read_reply(answer).look_up
        late = self.clock.now() + 2 * max(answer.latency_ms, SECOND) > job.deadline
        if not words or late or "look_up" not in (draft.request.schema or {}).get("properties", {}):
            return draft, answer
        material = await self.gatherer.second_look(
            draft.made, words, explain.notes_in(draft.made.prompt)
        )
        if material is None:
            return draft, answer
        prompt = assemble(draft.made.prefix, material, job.settings)
        made = draft.made._replace(prompt=prompt, material=material)
        request = reply_request(prompt, job.settings, material.speaker.role, job.trigger.question)
        try:
            second = await self.model.generate(request)
        except ModelError as error:
            log.info("no second answer", error=type(error).__name__)
            return draft, answer
        async with self.db.write() as tx:
            seen = explain.telemetry(made, job.settings) | {"looked_up": True}
            await bot_messages.record_prompt(tx, job.reply_id, seen)
        return draft._replace(made=made, request=request), second

    async def _was_cleared(self, job: PendingReply) -> bool:
        """Whether a line of the question was cleared in chat."""
        for event_id in (*job.trigger.earlier, job.event.id):
            if await events.was_deleted(self.db, event_id):
                return True
        return False

    async def _reason_to_drop(
        self, job: PendingReply, made: Composed, before: frozenset[_Row]
    ) -> str:
        """Why words may not go out any more, now that their turn has come; empty if they may. Raises StoreError."""
        if await self._was_cleared(job):
            return reason("cleared")
        gone = (
            await self.db.together(partial(_taken_back, made=made))
            - before
            - {("line", job.event.id)}
        )
        return reason("cleared") if gone else ""

    async def _written(self, draft: _Draft, answer: ModelAnswer) -> tuple[str, str]:
        reply = read_reply(answer)
        polished = await self._settle(draft, reply)
        shown = explain.notes_in(draft.made.prompt)
        used = [one for one in reply.notes if one in shown] if polished.text else []
        async with self.db.write() as tx:
            await bot_messages.record_answer(
                tx,
                draft.job.reply_id,
                model=answer.model,
                latency_ms=answer.latency_ms,
                usage=explain.usage(draft.made.prompt, answer),
                filters=polished.filters,
                used=used,
            )
            await notes.set_used(tx, used, self.clock.now())
        for name in polished.filters:
            log.info("filter fired", filter=name)
        return polished.text, "" if polished.text else reply.problem

    async def _settle(self, draft: _Draft, reply: ModelReply) -> Polished:
        """Act, if something was proposed and there is time for it, and polish the words that fit."""
        job, material, context, proposal = (
            draft.job,
            draft.made.material,
            draft.context,
            reply.proposal,
        )
        language = in_language(job.settings.bot.language)
        fired = (reply.problem,) if reply.problem and reply.say else ()
        if (
            proposal is not None and job.event.kind is EventKind.SPOKEN
        ):  # whoever is near the microphone is heard
            reply, proposal = replace(reply, say=proposal.if_refused), None
        if proposal is not None:
            if self.outbox.refusal_reason(job.deadline):
                return Polished("", (*fired, "too late"))  # neither done nor claimed
            context = replace(context, done=context.done | {proposal.name})
        polished = polish(reply.say, context)
        if proposal is not None:
            polished = replace(polished, text=await self._carry_out(draft, proposal, polished.text))
        elif not polished.text and "claim" in polished.filters:
            polished = replace(polished, text=language("action.neutral"))
        people = [material.speaker.id, *(other.viewer.id for other in material.others)]
        text = (await load_filter(self.db)).without_topics(polished.text, people)
        if text != polished.text:
            polished = Polished(
                text or language("action.another_subject"), (*polished.filters, "left alone")
            )
        # to a moderator: who was banned or timed out
        shown = names_typed(event.text for event in material.moderation)
        text = await without_hidden_names(self.db, polished.text, job.event.user_id, shown)
        if text != polished.text:
            polished = Polished(text, (*polished.filters, "hidden name"))
        # what a cut leaves in front may be a command
        polished = replace(polished, text=polish(polished.text, context).text)
        return Polished(polished.text, (*fired, *polished.filters))

    async def _carry_out(self, draft: _Draft, proposal: Proposal, words: str) -> str:
        """What is said after the policy decided and what it allowed was done. `words`: the model's, as if it was."""
        job, language = draft.job, in_language(draft.job.settings.bot.language)
        proposal = replace(proposal, if_refused=polish(proposal.if_refused, draft.context).text)
        if not job.kept:  # what is done has a row, with who asked and what they said
            return wording.harmless(proposal.if_refused, language)
        if "text" in proposal.params:
            text = await without_hidden_names(self.db, proposal.params["text"], job.event.user_id)
            proposal = replace(proposal, params={**proposal.params, "text": text})
        context = ActionContext(
            event=job.event,
            key=f"reply:{job.reply_id}",
            bot_message_id=job.reply_id,
            words=words,
            question=job.trigger.question if job.trigger.direct else "",
        )
        carried = await self.executor.carry_out(proposal, context)
        if carried.decision.verdict is Verdict.DENY and self._means_everything(job, proposal):
            question = await self.ask_erasure(job.event)
            if question:
                return question
        is_done = carried.outcome is not None and carried.outcome.kind is OutcomeKind.DONE
        # in a preview, which chat does not read, they stand as they would in chat
        if carried.words_hint or is_done or carried.decision.rule == "silent_preview":
            return carried.words_hint or words
        # nobody asked for it: the words answer without it, unless they say that it was done
        boasts = claims_action(words, draft.context.done)
        return wording.harmless(proposal.if_refused, language) if boasts else words

    @staticmethod
    def _means_everything(job: PendingReply, proposal: Proposal) -> bool:
        """Whether the model read a wish to be forgotten altogether, in whatever language.

        A silent preview is shown to nobody who could answer.
        """
        if proposal.name != "forget" or job.settings.bot.mode is Mode.SHADOW:
            return False
        target = clean(proposal.params.get("target", "")).lstrip("@").casefold()
        own = SELF_WORDS | {job.event.login.casefold(), clean(job.event.display_name).casefold()}
        return target in own and names_everything(proposal.params.get("what", ""))


def filter_context(trigger: Trigger, made: Composed, settings: Settings) -> FilterContext:
    """What the filters need for an answer to that prompt, in chat as in a preview."""
    return FilterContext(
        settings,
        (trigger.event.login, trigger.event.display_name),
        rules_of(made.prompt.sections[0].text),
        frozenset(action.done for action in made.material.actions_done if action.done),
    )


async def _taken_back(at: Source, made: Composed) -> frozenset[_Row]:
    """What of a prompt may not be mentioned any more: notes, lines, people; ("revision", …) for all else."""
    material = made.material
    revision = await notes.suppression_revision(at)
    return frozenset(
        (
            *(("note", one) for one in await notes.not_active(at, explain.notes_in(made.prompt))),
            *(
                ("line", one)
                for one in await events.cleared_ids(at, {line.event_id for line in material.said})
            ),
            *(("person", one) for one in await viewers.hidden_or_gone(at, material.names.keys())),
            *([("revision", str(revision))] if revision != made.revision else []),
        )
    )
