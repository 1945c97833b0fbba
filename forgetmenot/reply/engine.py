"""Decides for each chat line whether to reply, and runs the reply.

    trigger → recall → prompt → model → proposal decided and carried out → words that fit the outcome → polish → queue

Guarantees:
- At most one reply is in progress per viewer, for their newest line.
- The action is decided and carried out before the words go out, and only if there is still time and room for them.
- No model is asked for what could not be said in time, counting what waits and what is being written.
- A line that was cleared meanwhile is not answered, and nothing is said that was written over such a line.
- In shadow mode nothing is sent.
- Every trigger that was taken up leaves one row that shows what became of it and why.

While the model is away it stays silent.
"""

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator

import structlog
from msgspec import Struct

from forgetmenot.domain import ChatEvent, EventKind, Role, Standing
from forgetmenot.durations import HOUR, MINUTE, SECOND
from forgetmenot.errors import ForgetMeNotError, StoreError
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.operations.handlers.switches import read_switches
from forgetmenot.people.standing import role_of
from forgetmenot.reply.conversations import ConversationTracker, put_last
from forgetmenot.reply.outbox import Outgoing
from forgetmenot.reply.triggers import (
    UNASKED,
    Conversations,
    Trigger,
    TriggerKind,
    is_ignored,
    is_to_somebody_else,
    is_unfinished,
    joined,
    trigger_of,
    wait_ms,
)
from forgetmenot.reply.writer import PendingReply, ReplyWriter
from forgetmenot.settings.schema import Mode, Settings
from forgetmenot.store import bot_messages, privacy_choices
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean

EVENTS_REMEMBERED = 2_000
PEOPLE_REMEMBERED = 5_000
# A question of many lines is waited for this many times as long as for one.
GATHERING_LIMIT = 4
# Who has not spoken for so long, or since the start, may be greeted (ms).
ABSENCE = 12 * HOUR


class Reply(Struct, frozen=True):
    """What became of a trigger: the row, how it ended, and the words (said or only thought)."""

    id: int
    status: ReplyStatus
    text: str = ""
    detail: str = ""


class ReplyEngine:
    """Answers chat. `speaks_up`: whether it may speak without being spoken to, as far as spending limits go."""

    def __init__(
        self,
        writer: ReplyWriter,
        *,
        settings: Callable[[], Settings],
        speaks_up: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self._writer = writer
        self._db = writer.db
        self._clock = writer.clock
        self._outbox = writer.outbox
        self._identity = writer.identity
        self._flush = writer.flush
        self._settings = settings
        self._speaks_up = speaks_up
        self.conversation_tracker = ConversationTracker()
        # ids of lines that were taken up
        self._taken_up: OrderedDict[str, int] = OrderedDict()
        # by viewer: when they last spoke, and the id of their newest line while its reply is made
        self._spoke_at: OrderedDict[str, int] = OrderedDict()
        self._newest: dict[str, str] = {}
        # by viewer: the question whose end is waited for, and when it began
        self._gathering: dict[str, Trigger] = {}
        self._gathering_since: dict[str, int] = {}
        # by viewer: the newest line whose answer is not yet asked of the model
        self._pending: dict[str, PendingReply] = {}
        self._answered: deque[PendingReply] = deque(maxlen=20)
        self._turns: dict[str, asyncio.Lock] = {}
        # when it last spoke without being spoken to
        self._spoke_up_at: int | None = None
        self._tasks: set[asyncio.Task[Reply | None]] = set()
        # replies that are being made, and those of them that the writer works on
        self._busy = 0
        self._thinking = 0
        self._calm = asyncio.Event()
        self._calm.set()

    def take(self, event: ChatEvent) -> None:
        """Consider a line in a task of its own: a reply may take seconds, chat does not wait for it."""
        task = asyncio.create_task(self.consider(event), name=f"reply to {event.id}")
        self._tasks.add(task)
        self._enter()
        task.add_done_callback(self._over)

    def is_asked(self, event: ChatEvent) -> bool:
        """Return whether a line speaks to the bot outright."""
        trigger = trigger_of(
            event, self._identity(), Conversations({}), self._settings(), event.at
        )
        return trigger is not None and trigger.direct

    def forget(self) -> None:
        """Drop who talks with whom and who was greeted: somebody was erased."""
        self.conversation_tracker = ConversationTracker()
        self._spoke_at.clear()
        self._answered.clear()

    async def idle(self) -> None:
        """Wait until no reply is in the making but those that wait for the clock (a cooldown, the sending limit)."""
        while True:
            await self._calm.wait()
            await self._outbox.idle()
            if self._calm.is_set():
                return

    async def aclose(self) -> None:
        """Give up what is in the making."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def consider(self, event: ChatEvent) -> Reply | None:
        """Answer one line if it asks for it, and return what became of it; None if it does not ask.

        Takes as long as the reply does.
        """
        settings = self._settings()
        trigger = await self._trigger_in(event, settings)
        if trigger is None:
            return None
        # a reward is whole, and so is what a caption has as a sentence
        is_typed = (
            event.kind is not EventKind.SPOKEN
            and trigger.kind is not TriggerKind.REWARD
        )
        if trigger.direct and is_typed:
            trigger = await self._gathered(trigger, settings)
            if trigger is None:
                return None
        try:
            # so that a newcomer is somebody by the time their row is written
            await self._flush()
            # in this run `_taken_up` knows; this is for a line that an earlier run has answered
            if await bot_messages.is_answered(self._db, event.id):
                return None
            job = await self._begin(trigger, settings)
        except StoreError as error:
            log.warning("no reply without a disk", error=type(error).__name__)
            return None
        try:
            # what is logged while this reply is made names it
            with structlog.contextvars.bound_contextvars(reply_id=job.reply_id):
                return await self._in_turn(job)
        except ForgetMeNotError as error:
            return await self._end(
                job, ReplyStatus.SILENT, f"{type(error).__name__}: {error}"
            )

    async def _trigger_in(self, event: ChatEvent, settings: Settings) -> Trigger | None:
        """Return the trigger in a line that may be answered now; None if there is none."""
        now = self._clock.now()
        identity = self._identity()
        if (
            is_ignored(event, identity, settings)
            and event.kind is not EventKind.REDEMPTION
        ):
            return None
        returning = (
            self._is_first_line(event)
            and settings.bot.mode is Mode.LIVE
            and await self._writer.gatherer.standing(event, settings)
            is Standing.RETURNER
        )
        talks = self.conversation_tracker.conversations()
        trigger = trigger_of(event, identity, talks, settings, now, returning=returning)
        trigger = self._joined_with_waiting(event, trigger, talks)
        # after the trigger is known: this line must not count as one that came between
        self.conversation_tracker.note_line(event)
        if trigger is None or self._is_repeated(event.id):
            return None
        # of a reward there is a row that says so: the points can be given back
        if trigger.kind is not TriggerKind.REWARD and (
            await read_switches(self._db)
        ).silent(now):
            return None
        if trigger.direct or self._speaks_up is None or await self._speaks_up():
            return trigger
        return None

    def _joined_with_waiting(
        self,
        event: ChatEvent,
        trigger: Trigger | None,
        talks: Conversations,
    ) -> Trigger | None:
        """Return the trigger of a line, with the lines of the same person that still wait for an answer.

        People write a question over several lines, and name the bot in the first one only.
        """
        waiting = self._gathering.get(event.user_id)
        if waiting is None and event.user_id in self._pending:
            waiting = self._pending[event.user_id].trigger
        if waiting is None or waiting.event.id == event.id or event.emote_only:
            return trigger
        if trigger is not None and trigger.direct:
            return joined(waiting, event, trigger.question)
        if is_ignored(event, self._identity(), self._settings()) or is_command(
            event.text
        ):
            return trigger
        if is_to_somebody_else(event, self._identity(), talks.speakers):
            return trigger
        return joined(waiting, event, event.text)

    async def _gathered(self, trigger: Trigger, settings: Settings) -> Trigger | None:
        """Wait for more of a question that has no end yet; None if a later line of it is answered."""
        viewer_id = trigger.event.user_id
        goes_on = viewer_id in self._gathering
        self._gathering[viewer_id] = trigger
        since = self._gathering_since.setdefault(viewer_id, trigger.event.at)
        gather_ms = int(settings.reply.gather_s * SECOND)
        ends_at = min(trigger.event.at + gather_ms, since + GATHERING_LIMIT * gather_ms)
        try:
            wait = ends_at - self._clock.now()
            if wait > 0 and is_unfinished(trigger.question, goes_on=goes_on):
                with self._waiting():
                    await self._clock.sleep(wait)
            is_newest = self._gathering.get(viewer_id) is trigger
        finally:
            if self._gathering.get(viewer_id) is trigger:
                del self._gathering[viewer_id], self._gathering_since[viewer_id]
        return trigger if is_newest else None

    async def _begin(self, trigger: Trigger, settings: Settings) -> PendingReply:
        """Write the row of a reply that is taken up. Raises StoreError."""
        event = trigger.event
        hidden = await privacy_choices.leaves_nothing(self._db, event.user_id)
        async with self._db.write() as tx:
            reply_id = await bot_messages.begin(
                tx,
                at=self._clock.now(),
                event_id=None if hidden else event.id,
                viewer_id=None if hidden else event.user_id,
                trigger=trigger.kind,
                mode=settings.bot.mode,
            )
        return PendingReply(trigger, settings, reply_id, keeps_text=not hidden)

    async def _in_turn(self, job: PendingReply) -> Reply:
        """Make a reply when those before it to the same viewer are done."""
        viewer_id = job.event.user_id
        self._newest[viewer_id] = job.event.id
        if job.trigger.direct:
            self._pending[viewer_id] = job
        # one lock for each viewer: the replies to two people are made side by side
        turn = self._turns.setdefault(viewer_id, asyncio.Lock())
        try:
            # the reply before may wait for the clock
            with self._waiting():
                await turn.acquire()
            try:
                pass_reason = await self._reason_to_pass(job)
                self._no_longer_pending(job)
                if pass_reason:
                    return await self._end(job, ReplyStatus.SILENT, pass_reason)
                return await self._reply(job)
            finally:
                turn.release()
        finally:
            self._no_longer_pending(job)
            if self._newest.get(viewer_id) == job.event.id:
                # nothing waits behind it
                del self._newest[viewer_id]
                del self._turns[viewer_id]

    def _no_longer_pending(self, job: PendingReply) -> None:
        if self._pending.get(job.event.user_id) is job:
            del self._pending[job.event.user_id]

    async def _reason_to_pass(self, job: PendingReply) -> str:
        """Return why no model is asked, after waiting for the cooldowns; empty if one is. Raises StoreError."""
        answered_at = self.conversation_tracker.answered_at(job.event.user_id)
        wait = wait_ms(
            job.trigger, answered_at, self._spoke_up_at, job.settings, self._clock.now()
        )
        if job.trigger.kind is TriggerKind.REWARD:
            # points were spent on it
            wait = 0
            give_back_reason = await self._reason_to_give_back(job)
            if give_back_reason:
                return give_back_reason
        if self._is_answered_elsewhere(job):
            return bot_messages.ANSWERED_ELSEWHERE
        # a reply that nobody asked for is dropped at once; one that continues a talk waits, as a question does
        if wait > 0 and job.trigger.kind in UNASKED:
            return reason("cooldown", n=f"{wait / SECOND:.0f}")
        if (
            wait > 0
            and self._is_newest(job)
            and self._clock.now() + wait <= job.deadline
        ):
            with self._waiting():
                await self._clock.sleep(wait)
        if not self._is_newest(job):
            return reason("newer_line")
        if await self._is_over_hourly_limit(job):
            return reason("hour_limit", n=job.settings.limits.replies_per_viewer_hour)
        # asked before the model is: its words could not be sent, and would be paid for
        return self._outbox.refusal_reason(job.deadline, others=self._thinking)

    async def _is_over_hourly_limit(self, job: PendingReply) -> bool:
        limit = job.settings.limits.replies_per_viewer_hour
        if not limit or role_of(job.event.badges) in {Role.MODERATOR, Role.BROADCASTER}:
            return False
        since = self._clock.now() - HOUR
        return (
            await bot_messages.count_answers_to(self._db, job.event.user_id, since)
            >= limit
        )

    async def _reason_to_give_back(self, job: PendingReply) -> str:
        """Return why a reward is not answered, so that its points can be given back; empty if it is.

        A line of chat that is ignored leaves no row; a reward always does.
        """
        if is_ignored(job.event, self._identity(), job.settings):
            return reason("ignored")
        if not job.trigger.question:
            return reason("nothing_to_say")
        if (await read_switches(self._db)).silent(self._clock.now()):
            return reason("paused")
        return ""

    def _is_answered_elsewhere(self, job: PendingReply) -> bool:
        """Return whether the same words were answered as a line of chat, or as a reward's: they come as both."""
        text = clean(job.event.text)
        since = self._clock.now() - MINUTE
        is_reward = job.trigger.kind is TriggerKind.REWARD
        for answered in self._answered:
            if answered.event.user_id != job.event.user_id or answered.event.at < since:
                continue
            was_reward = answered.trigger.kind is TriggerKind.REWARD
            if was_reward is not is_reward and clean(answered.event.text) == text:
                return True
        return False

    def _is_newest(self, job: PendingReply) -> bool:
        return self._newest.get(job.event.user_id) == job.event.id

    def _is_first_line(self, event: ChatEvent) -> bool:
        """Return whether this person has not spoken since the program started, or for half a day.

        So nobody is greeted twice.
        """
        spoke_at = self._spoke_at.get(event.user_id)
        put_last(self._spoke_at, event.user_id, event.at, PEOPLE_REMEMBERED)
        return spoke_at is None or event.at - spoke_at >= ABSENCE

    def _is_repeated(self, event_id: str) -> bool:
        if event_id in self._taken_up:
            return True
        put_last(self._taken_up, event_id, 0, EVENTS_REMEMBERED)
        return False

    async def _reply(self, job: PendingReply) -> Reply:
        """Write a reply and send it. Raises StoreError."""
        self._thinking += 1
        try:
            words = await self._writer.words_for(job)
        finally:
            self._thinking -= 1
        if job.trigger.kind is TriggerKind.FOLLOW_UP and not words.text:
            self.conversation_tracker.was_silent(job.event.user_id)
        if words.reason or not words.text:
            return await self._end(
                job, ReplyStatus.SILENT, words.reason or reason("nothing_to_say")
            )
        if job.settings.bot.mode is Mode.SHADOW:
            return await self._end(job, ReplyStatus.SHADOW, "", words.text)
        message = Outgoing(
            job.reply_id,
            words.text,
            job.deadline,
            job.reply_to,
            addressee=job.event.display_name if job.trigger.direct else "",
            keeps_text=job.keeps_text,
            reason_to_drop=words.reason_to_drop,
        )
        sent = await self._outbox.send(message)
        # an unknown fate counts as an answer, so that nobody gets two
        if sent.status in {ReplyStatus.SENT, ReplyStatus.UNKNOWN}:
            self.conversation_tracker.answered(
                job.event.user_id,
                self._clock.now(),
                direct=job.trigger.direct,
                asks_back=words.text.rstrip().endswith(("?", "？")),
            )
            self._answered.append(job)
            if not job.trigger.direct:
                self._spoke_up_at = self._clock.now()
        return Reply(job.reply_id, sent.status, words.text, sent.detail)

    async def _end(
        self,
        job: PendingReply,
        status: ReplyStatus,
        detail: str,
        text: str = "",
    ) -> Reply:
        """Store how a reply ended that is not sent, and return it. Raises StoreError."""
        stored_text = text if job.keeps_text else ""
        async with self._db.write() as tx:
            await bot_messages.settle(
                tx, job.reply_id, status, detail, text=stored_text
            )
        log.info(
            "reply not sent",
            reply_id=job.reply_id,
            status=status,
            trigger=job.trigger.kind,
        )
        return Reply(job.reply_id, status, text, detail)

    def _over(self, task: asyncio.Task[Reply | None]) -> None:
        self._tasks.discard(task)
        self._leave()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            unexpected = None if isinstance(error, ForgetMeNotError) else error
            log.error("a reply failed", error=type(error).__name__, exc_info=unexpected)

    def _enter(self) -> None:
        self._busy += 1
        # it is not positive where somebody awaits `consider` itself
        if self._busy > 0:
            self._calm.clear()

    def _leave(self) -> None:
        self._busy -= 1
        if self._busy <= 0:
            self._calm.set()

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        """Do not count this reply as being made while it only waits.

        `idle` returns meanwhile, so that a replay or a test can move the clock on.
        """
        self._leave()
        try:
            yield
        finally:
            self._enter()
