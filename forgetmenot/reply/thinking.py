"""What to say to one line: its prompt, the model, the proposal carried out, and words that fit what really happened.

Promises that what was thought over lines which were cleared meanwhile is thought anew, or not said; and that without a
model it is quiet, or answers a direct question, now and then, from what it remembers.
"""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from forgetmenot.actions.executor import Executor
from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.model import ModelAnswer, ModelRequest, Prompt, Purpose
from forgetmenot.errors import ModelError
from forgetmenot.logs import log
from forgetmenot.ports import LanguageModel
from forgetmenot.prompt.assemble import split
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply import trail
from forgetmenot.reply.compose import compose
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.job import Job
from forgetmenot.reply.outbox import Outbox
from forgetmenot.reply.postprocess import Polished, polish
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import Identity
from forgetmenot.reply.wording import Wording, manner_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, calibration, events
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import show

APOLOGY_EVERY = 10 * MINUTE
THOUGHTS = 2
"""How often a line is thought about, where lines of its prompt are cleared meanwhile."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Whom a reply is made with."""

    model: LanguageModel
    gatherer: Gatherer
    keeper: PrefixKeeper
    outbox: Outbox
    executor: Executor


class Thinker:
    """Finds the words for lines that are to be answered. Says nothing, and decides about no turn."""

    def __init__(
        self,
        parts: Parts,
        *,
        db: Database,
        clock: Clock,
        identity: Callable[[], Identity],
        flush: Callable[[], Awaitable[None]],
        room_modes: Callable[[], frozenset[str]],
    ) -> None:
        self._db = db
        self._model = parts.model
        self._gatherer = parts.gatherer
        self._keeper = parts.keeper
        self._wording = Wording(executor=parts.executor, outbox=parts.outbox, identity=identity, room_modes=room_modes)
        self._clock = clock
        self._identity = identity
        self._flush = flush
        self._apologised: int | None = None

    async def words_for(self, job: Job) -> tuple[str, str]:
        """The words, or a reason for none. What was thought over lines that are cleared meanwhile is thought anew."""
        for _ in range(THOUGHTS):
            await self._flush()
            if await events.was_deleted(self._db, job.event.id):
                return "", "its line was cleared"
            prompt, material = await self._prompt(job)
            try:
                answer = await self._ask(prompt, job.settings)
            except ModelError as error:
                log.warning("no answer from the model", reply=job.reply_id, error=type(error).__name__)
                return self._without_model(job, material, error)
            if not await self._any_cleared([line.event_id for line in material.said]):
                polished = await self._wording.find(job, prompt, material, answer)
                await self._record(job, prompt, answer, polished)
                return polished.text, ""
        return "", "lines of its prompt were cleared"

    async def _any_cleared(self, event_ids: list[str]) -> bool:
        await self._flush()
        return await events.any_cleared(self._db, event_ids)

    async def _prompt(self, job: Job) -> tuple[Prompt, TailMaterial]:
        nonce, bot_id = secrets.token_hex(3), self._identity().user_id
        made = await compose(self._keeper, self._gatherer, job.trigger, job.settings, nonce=nonce, bot_id=bot_id)
        async with self._db.write() as tx:
            await bot_messages.record_prompt(tx, job.reply_id, trail.telemetry(made, job.settings))
        return made.prompt, made.material

    async def _ask(self, prompt: Prompt, settings: Settings) -> ModelAnswer:
        system, data = split(prompt)
        return await self._model.generate(
            ModelRequest(Purpose.REPLY, system, data, max_output_tokens=settings.model.reply_output_tokens)
        )

    async def _record(self, job: Job, prompt: Prompt, answer: ModelAnswer, polished: Polished) -> None:
        usage = trail.usage(prompt, answer)
        async with self._db.write() as tx:
            await bot_messages.record_answer(
                tx,
                job.reply_id,
                model=answer.model,
                latency_ms=answer.latency_ms,
                usage=usage,
                filters=polished.filters,
            )
        for name in polished.filters:
            log.info("filter fired", reply=job.reply_id, filter=name)
        await calibration.learn(
            self._db,
            self._model.name,
            prompt.estimated_tokens,
            answer.usage.input,
            self._clock.now(),
            factor=self._keeper.factor,
        )

    def _without_model(self, job: Job, material: TailMaterial, error: ModelError) -> tuple[str, str]:
        """Quiet; but whoever asked outright hears, now and then, something that is remembered about them."""
        reason = f"{type(error).__name__}: {error}"
        now = self._clock.now()
        due = self._apologised is None or now - self._apologised >= APOLOGY_EVERY
        if not (job.trigger.direct and material.lore and due):
            return "", reason
        self._apologised = now
        fact = show(material.lore[0].note.fact, material.names)
        words = f"I can't find my words right now, but I have not forgotten you: {fact}"
        log.info("answered from a template", reply=job.reply_id)
        return polish(words, manner_of(job, material, self._identity())).text, ""
