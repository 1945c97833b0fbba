"""Writes the reply to one line: prompt, model call, proposed action, and words that fit its outcome.

Guarantees:
- What was written over lines, notes or people that were withdrawn meanwhile is written anew, or not
  said. That is decided by the rows of its prompt.
- Nothing is claimed that was not done: a refused, failed or unclear action speaks the executor's
  words, and a reply that proposed nothing names only actions that were done. Nothing is done for a
  reply that could not go out in time.
- Else the model's words go out as they are, in the form that chat takes (reply/output_filters).
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
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply import explain
from forgetmenot.reply.context import ComposedPrompt, ContextGatherer, compose
from forgetmenot.reply.outbox import Outbox, ReasonToDrop, no_reason
from forgetmenot.reply.output_filters import (
    FilterContext,
    Polished,
    claims_action,
    polish,
)
from forgetmenot.reply.own_name import Identity
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

# How often a reply is written, where rows of its prompt are withdrawn meanwhile.
DRAFTS_LIMIT = 2


class PendingReply(Struct, frozen=True):
    """A reply that is to be written.

    `reply_id`: its row in bot_messages. `keeps_text`: False if the answer's words are not stored,
    because nothing of who asked is.
    """

    trigger: Trigger
    settings: Settings
    reply_id: int
    keeps_text: bool = True

    @property
    def event(self) -> ChatEvent:
        """Return the line that asks for it."""
        return self.trigger.event

    @property
    def deadline(self) -> int:
        """Return when it is too late for an answer (ms)."""
        return self.event.at + self.settings.reply.stale_after_s * SECOND

    @property
    def reply_to(self) -> str | None:
        """Return the id of the message that Twitch shows the reply under.

        None for a raid, for what was said aloud and for a reward: those are no lines of chat.
        """
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


# A row of a prompt that may not be mentioned any more: what kind of thing it is, and its id.
_WithdrawnRow = tuple[str, int | str]


class _Draft(NamedTuple):
    """One try at a reply: its prompt, what the model is asked, and what the filters need."""

    pending: PendingReply
    composed: ComposedPrompt
    request: ModelRequest
    context: FilterContext


async def _asks_nothing(_event: ChatEvent) -> str:
    """Ask no question."""
    return ""


def _hastens_nothing(_event_seqs: Collection[int]) -> None:
    """Leave the events to the next pass."""


class ReplyWriter(Struct):
    """Writes replies. It neither sends them nor decides which line gets one."""

    db: Database
    clock: Clock
    model: LanguageModel
    gatherer: ContextGatherer
    keeper: PrefixKeeper
    outbox: Outbox
    executor: Executor
    # returns who the bot is now
    identity: Callable[[], Identity]
    # stores the lines that were just heard
    flush: Callable[[], Awaitable[None]]
    # asks whoever wrote a line whether everything about them is to be deleted; returns the question
    ask_erasure: Callable[[ChatEvent], Awaitable[str]] = _asks_nothing
    # is handed the events with which somebody spoke of themselves, when they are asked about before
    # they are summarised
    hasten_summary: Callable[[Collection[int]], None] = _hastens_nothing

    async def words_for(self, pending: PendingReply) -> Words:
        """Return the words of a reply, or a reason for none. Raises StoreError.

        If lines or notes of its prompt were withdrawn while the model wrote, it is written anew.
        """
        for _draft in range(DRAFTS_LIMIT):
            # What was just heard is in the database only then, and the prompt is made from there.
            await self.flush()
            if await self._was_cleared(pending):
                return Words("", reason("cleared"))
            words = await self._try_words(pending)
            # None: the words rest on something that was withdrawn.
            if words is not None:
                return words
        return Words("", reason("cleared"))

    async def _try_words(self, pending: PendingReply) -> Words | None:
        """Return the words of one try; None if rows of its prompt were withdrawn meanwhile."""
        draft = await self._draft(pending)
        # The bot's bare name asks it to answer the line before. Where there is none, it asks what is wanted.
        is_bare = pending.trigger.kind is TriggerKind.BARE
        if is_bare and not draft.composed.material.before:
            language = in_language(pending.settings.bot.language)
            return Words(language("chat.called"))
        try:
            answer = await self.model.generate(draft.request)
        except ModelError as error:
            log.warning(
                "no answer from the model",
                reply=pending.reply_id,
                error=type(error).__name__,
            )
            return Words("", str(error))
        draft, answer = await self._second_look(draft, answer)
        await self.flush()
        # Seconds have passed since the prompt was read.
        if await self._withdrawn(draft.composed):
            return None
        text, problem = await self._carry_out_answer(draft, answer)
        # The reply's own action may have changed notes. Lines and people that are gone by now were
        # not its doing.
        own_changes = set()
        for row in await self._withdrawn(draft.composed):
            kind, _row_id = row
            if kind in {"note", "revision"}:
                own_changes.add(row)
        reason_to_drop = partial(
            self._reason_to_drop,
            pending,
            draft.composed,
            frozenset(own_changes),
        )
        return Words(text, problem, reason_to_drop)

    async def _draft(self, pending: PendingReply) -> _Draft:
        """Compose the prompt and what the model is asked, and store what stands in the prompt."""
        settings = pending.settings
        composed = await compose(
            self.keeper,
            self.gatherer,
            pending.trigger,
            settings,
            bot_id=self.identity().user_id,
        )
        material = composed.material
        await self._record_prompt(pending, explain.telemetry(composed, settings))
        # In a preview nobody reads it, so they are still to be congratulated.
        if material.congratulate_at and settings.bot.mode is not Mode.SHADOW:
            # Before the model is asked: whatever dies in between, nobody is congratulated twice.
            congratulated_at = max(self.clock.now(), material.congratulate_at)
            async with self.db.write() as tx:
                await viewers.set_congratulated(
                    tx, pending.event.user_id, congratulated_at
                )
        self._hasten_summary_of_statements(pending, material)
        question = pending.trigger.question
        is_model = self.model.name != Provider.OFFLINE
        request = reply_request(
            composed.prompt,
            settings,
            material.speaker.role,
            question,
            may_look_up=is_model and not is_small_talk(question),
        )
        context = filter_context(pending.trigger, composed, settings)
        return _Draft(pending, composed, request, context)

    def _hasten_summary_of_statements(
        self, pending: PendingReply, material: TailMaterial
    ) -> None:
        """Have lines summarised soon that a question found, if people speak of themselves in them.

        What they say of themselves becomes a note by that, and does not go with the line.
        """
        if not pending.trigger.direct:
            return
        # Only lines of the speaker and of people who were asked about: a question to all finds some line
        # in any busy chat, and a summary for each would cost more than it is worth.
        asked_about = {material.speaker.id, *material.other_ids}
        statements = []
        for line in material.unsummarised:
            if line.viewer_id in asked_about and speaks_of_self(line.text):
                statements.append(line.id)
        if statements:
            self.hasten_summary(statements)

    async def _record_prompt(
        self, pending: PendingReply, telemetry: dict[str, object]
    ) -> None:
        """Store what stood in the prompt, for "why did it say that?". Raises StoreError."""
        async with self.db.write() as tx:
            await bot_messages.record_prompt(tx, pending.reply_id, telemetry)

    async def _second_look(
        self, draft: _Draft, answer: ModelAnswer
    ) -> tuple[_Draft, ModelAnswer]:
        """Return the answer, or a second one if the model asks to look something up and it is found.

        Once, and only while there is time for another call. Raises StoreError.
        """
        pending = draft.pending
        composed = draft.composed
        search_words = read_reply(answer).look_up
        schema = draft.request.schema or {}
        may_look_up = "look_up" in schema.get("properties", {})
        if not search_words or not may_look_up:
            return draft, answer
        # A second call takes about as long as the first did.
        expected_ms = 2 * max(answer.latency_ms, SECOND)
        expected_end = self.clock.now() + expected_ms
        if expected_end > pending.deadline:
            return draft, answer
        shown_ids = explain.notes_in(composed.prompt)
        material = await look_again(self.gatherer, composed, search_words, shown_ids)
        if material is None:
            return draft, answer
        prompt = assemble(composed.prefix, material, pending.settings)
        composed = composed._replace(prompt=prompt, material=material)
        request = reply_request(
            prompt,
            pending.settings,
            material.speaker.role,
            pending.trigger.question,
        )
        try:
            second_answer = await self.model.generate(request)
        except ModelError as error:
            log.info("no second answer", error=type(error).__name__)
            return draft, answer
        telemetry = explain.telemetry(composed, pending.settings)
        await self._record_prompt(pending, telemetry | {"looked_up": True})
        return draft._replace(composed=composed, request=request), second_answer

    # ── what was withdrawn meanwhile ────────────────────────────────────────────────────────

    async def _was_cleared(self, pending: PendingReply) -> bool:
        """Return whether a line of the question was cleared in chat."""
        for event_id in (*pending.trigger.earlier, pending.event.id):
            if await events.was_deleted(self.db, event_id):
                return True
        return False

    async def _reason_to_drop(
        self,
        pending: PendingReply,
        composed: ComposedPrompt,
        own_changes: frozenset[_WithdrawnRow],
    ) -> str:
        """Return why words may not go out any more, now that their turn has come; "" if they may.

        `own_changes`: what the reply itself changed. Raises StoreError.
        """
        if await self._was_cleared(pending):
            return reason("cleared")
        withdrawn = await self._withdrawn(composed)
        withdrawn -= own_changes
        # A line that lost its words with a forgotten fact may still be answered: nobody cleared it
        # in chat.
        withdrawn -= {("line", pending.event.id)}
        return reason("cleared") if withdrawn else ""

    async def _withdrawn(self, composed: ComposedPrompt) -> frozenset[_WithdrawnRow]:
        """Return the rows of a prompt that may not be mentioned any more. Raises StoreError."""
        return await self.db.together(partial(_withdrawn_rows, composed=composed))

    # ── the words ───────────────────────────────────────────────────────────────────────────

    async def _carry_out_answer(
        self, draft: _Draft, answer: ModelAnswer
    ) -> tuple[str, str]:
        """Carry out the action that an answer proposes, and store what is known of the answer.

        Return the words to send, and the problem if there are none.
        """
        reply = read_reply(answer)
        polished = await self._act_and_polish(draft, reply)
        prompt = draft.composed.prompt
        used_ids: list[int] = []
        if polished.text:
            shown_ids = explain.notes_in(prompt)
            used_ids = [note_id for note_id in reply.notes if note_id in shown_ids]
        async with self.db.write() as tx:
            await bot_messages.record_answer(
                tx,
                draft.pending.reply_id,
                model=answer.model,
                latency_ms=answer.latency_ms,
                usage=explain.usage(prompt, answer),
                filters=polished.filters,
                used=used_ids,
            )
            await notes.set_used(tx, used_ids, self.clock.now())
        for name in polished.filters:
            log.info("filter fired", filter=name)
        if polished.text:
            return polished.text, ""
        return "", reply.problem

    async def _act_and_polish(self, draft: _Draft, reply: ModelReply) -> Polished:
        """Carry out what the reply proposes, and return the words that fit what came of it, polished.

        No words if it is too late for the action.
        """
        pending = draft.pending
        context = draft.context
        proposal = reply.proposal
        # An answer that was cut off is recorded like the work of a filter: "unfinished".
        reading_filters: tuple[str, ...] = ()
        if reply.problem and reply.say:
            reading_filters = (reply.problem,)
        if proposal is not None and pending.event.kind is EventKind.SPOKEN:
            # Anybody near the microphone is heard, so nothing is done for what was said aloud.
            reply = replace(reply, say=proposal.if_refused)
            proposal = None
        if proposal is not None:
            if self.outbox.refusal_reason(pending.deadline):
                # It is neither done nor claimed.
                return Polished("", (*reading_filters, "too late"))
            # The filter against claims lets the words pass: `_carry_out` sends those that claim the
            # action only if it is done.
            context = replace(context, done=context.done | {proposal.name})
        polished = polish(reply.say, context)
        if proposal is not None:
            text = await self._carry_out(draft, proposal, polished.text)
            polished = replace(polished, text=text)
        elif not polished.text and "claim" in polished.filters:
            # The words only claimed what was never proposed.
            language = in_language(pending.settings.bot.language)
            polished = replace(polished, text=language("action.neutral"))
        polished = await self._without_suppressed(draft, polished)
        # Once more, since what a cut leaves in front may be a command.
        text = polish(polished.text, context).text
        return Polished(text, (*reading_filters, *polished.filters))

    async def _without_suppressed(self, draft: _Draft, polished: Polished) -> Polished:
        """Return the words without suppressed topics and hidden names."""
        pending = draft.pending
        material = draft.composed.material
        people = [*material.other_ids, material.speaker.id]
        suppression_filter = await load_filter(self.db)
        text = suppression_filter.without_topics(polished.text, people)
        if text != polished.text:
            language = in_language(pending.settings.bot.language)
            text = text or language("action.another_subject")
            polished = Polished(text, (*polished.filters, "left alone"))
        # A moderator who asks is answered who was banned or timed out.
        shown_names = names_typed(event.text for event in material.moderation)
        text = await without_hidden_names(
            self.db,
            polished.text,
            pending.event.user_id,
            shown_names,
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
        """Carry out what the policy allows of a proposal, and return words that fit the outcome.

        `words`: the model's, as if it were done.
        """
        pending = draft.pending
        language = in_language(pending.settings.bot.language)
        if_refused = polish(proposal.if_refused, draft.context).text
        proposal = replace(proposal, if_refused=if_refused)
        if not pending.keeps_text:
            # An action leaves a row with who asked and what they said.
            return wording.harmless(if_refused, language)
        if "text" in proposal.params:
            text = await without_hidden_names(
                self.db, proposal.params["text"], pending.event.user_id
            )
            proposal = replace(proposal, params={**proposal.params, "text": text})
        question = ""
        if pending.trigger.direct:
            question = pending.trigger.question
        context = ActionContext(
            event=pending.event,
            # One reply proposes one action, so its number is the key.
            key=f"reply:{pending.reply_id}",
            bot_message_id=pending.reply_id,
            words=words,
            question=question,
        )
        result = await self.executor.carry_out(proposal, context)
        is_denied = result.decision.verdict is Verdict.DENY
        if is_denied and _means_everything(pending, proposal):
            are_you_sure = await self.ask_erasure(pending.event)
            if are_you_sure:
                return are_you_sure
        if result.words_hint:
            return result.words_hint
        if result.outcome is not None and result.outcome.kind is OutcomeKind.DONE:
            return words
        # In a preview, which chat does not read, the words stand as they would in chat.
        if result.decision.rule == "silent_preview":
            return words
        # Nobody asked for it: the words answer without it, unless they say that it was done.
        if claims_action(words, draft.context.done):
            return wording.harmless(if_refused, language)
        return words


def _means_everything(pending: PendingReply, proposal: Proposal) -> bool:
    """Return whether somebody wishes that everything about them is forgotten, as the model reads it.

    That is a proposal to forget "everything" of the speaker; the model knows the wish in any language.
    False in a silent preview, since nobody there could confirm it.
    """
    if proposal.name != "forget":
        return False
    if pending.settings.bot.mode is Mode.SHADOW:
        return False
    event = pending.event
    typed_target = clean(proposal.params.get("target", ""))
    target = typed_target.lstrip("@").casefold()
    display_name = clean(event.display_name)
    own_names = {event.login.casefold(), display_name.casefold()}
    if target not in SELF_WORDS | own_names:
        return False
    return names_everything(proposal.params.get("what", ""))


def filter_context(
    trigger: Trigger,
    composed: ComposedPrompt,
    settings: Settings,
) -> FilterContext:
    """Return what the filters need for an answer to that prompt, in chat as in a preview."""
    material = composed.material
    done = {action.done for action in material.actions_done if action.done}
    links = {past.link for past in material.past_episodes if past.link}
    return FilterContext(
        settings,
        speaker_names=(trigger.event.login, trigger.event.display_name),
        rules=rules_of(composed.prompt.sections[0].text),
        done=frozenset(done),
        links=frozenset(links),
    )


async def _withdrawn_rows(
    source: Source, composed: ComposedPrompt
) -> frozenset[_WithdrawnRow]:
    """Return what of a prompt may not be mentioned any more: notes, lines and people.

    ("revision", …) stands for a change of what is suppressed.
    """
    material = composed.material
    revision = await notes.suppression_revision(source)
    note_ids = await notes.not_active(source, explain.notes_in(composed.prompt))
    line_ids = {line.event_id for line in material.lines_heard}
    event_ids = await events.cleared_ids(source, line_ids)
    people = await viewers.hidden_or_gone(source, material.names.keys())
    rows: list[_WithdrawnRow] = []
    for note_id in note_ids:
        rows.append(("note", note_id))
    for event_id in event_ids:
        rows.append(("line", event_id))
    for viewer_id in people:
        rows.append(("person", viewer_id))
    if revision != composed.revision:
        rows.append(("revision", str(revision)))
    return frozenset(rows)
