"""Decides for each chat line whether to reply, and runs the reply.

    trigger → recall → prompt → model → proposal decided and carried out → words that fit the outcome
            → polish → queue

Guarantees:
- At most one reply is in progress per viewer, for their newest line.
- The action is decided and carried out before the words go out, and only if there is still time and
  room for them.
- No model is asked for what could not be said in time, counting what waits and what is being written.
- A line that was cleared meanwhile is not answered, and nothing is said that was written over such a
  line.
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
from forgetmenot.store import bot_messages, privacy_choices, reply_outcomes
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.clean import clean

# Ids of lines, and viewers, that are kept in memory.
EVENTS_REMEMBERED = 2_000
PEOPLE_REMEMBERED = 5_000
# How many of the last answers are searched for one to the same words, as a line of chat or as a reward.
ANSWERS_REMEMBERED = 20
# For a question of several lines, the bot waits at most this many times as long as for one line.
GATHERING_LIMIT = 4
# Whoever has not spoken for this long (ms), or since the start, may be greeted.
ABSENCE = 12 * HOUR


class Reply(Struct, frozen=True):
    """What became of a trigger: the row, how it ended, and the words (said or only thought)."""

    id: int
    status: ReplyStatus
    text: str = ""
    detail: str = ""


class ReplyEngine:
    """Answers chat."""

    def __init__(
        self,
        writer: ReplyWriter,
        *,
        settings: Callable[[], Settings],
        speaks_up: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`speaks_up` returns whether the spending limits let the bot speak without being asked."""
        self._writer = writer
        self._db = writer.db
        self._clock = writer.clock
        self._outbox = writer.outbox
        self._identity = writer.identity
        self._flush = writer.flush
        self._settings = settings
        self._speaks_up = speaks_up
        self.conversation_tracker = ConversationTracker()
        # ids of lines that were taken up, the newest last; the values say nothing
        self._taken_up: OrderedDict[str, int] = OrderedDict()
        # by viewer: when they last spoke (ms)
        self._spoke_at: OrderedDict[str, int] = OrderedDict()
        # by viewer: the id of their newest line, while its reply is made
        self._newest: dict[str, str] = {}
        # by viewer: a question that may go on in their next line
        self._unfinished: dict[str, Trigger] = {}
        # by viewer: when the first line of that question came (ms)
        self._unfinished_since: dict[str, int] = {}
        # by viewer: the newest line whose answer is not yet asked of the model
        self._pending: dict[str, PendingReply] = {}
        # the last replies that went out to anybody
        self._answered: deque[PendingReply] = deque(maxlen=ANSWERS_REMEMBERED)
        # by viewer: held while a reply to them is made, so that the next one waits
        self._turns: dict[str, asyncio.Lock] = {}
        # when it last spoke without being spoken to (ms)
        self._spoke_up_at: int | None = None
        self._tasks: set[asyncio.Task[Reply | None]] = set()
        # how many replies are in progress; one that only waits for the clock is not counted
        self._in_progress = 0
        # how many of them the writer is writing
        self._replies_being_written = 0
        # set while `_in_progress` is 0
        self._none_in_progress = asyncio.Event()
        self._none_in_progress.set()

    def take(self, event: ChatEvent) -> None:
        """Consider a line in a task of its own: a reply may take seconds, chat does not wait for it."""
        task = asyncio.create_task(self.consider(event), name=f"reply to {event.id}")
        self._tasks.add(task)
        self._enter()
        task.add_done_callback(self._over)

    def is_asked(self, event: ChatEvent) -> bool:
        """Return whether a line speaks to the bot outright."""
        identity = self._identity()
        nobody = Conversations({})
        trigger = trigger_of(event, identity, nobody, self._settings(), event.at)
        return trigger is not None and trigger.direct

    def forget(self) -> None:
        """Drop who talks with whom and who was greeted: somebody was erased."""
        self.conversation_tracker = ConversationTracker()
        self._spoke_at.clear()
        self._answered.clear()

    async def idle(self) -> None:
        """Wait until no reply is being made.

        Those that wait for the clock (a cooldown, the sending limit) are not waited for.
        """
        while True:
            await self._none_in_progress.wait()
            await self._outbox.idle()
            if self._none_in_progress.is_set():
                return

    async def aclose(self) -> None:
        """Cancel the replies that are being made."""
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
        # A question that is typed may go on in the next line. A reward is whole, and so is what a
        # caption has as a sentence.
        is_spoken = event.kind is EventKind.SPOKEN
        is_typed = not is_spoken and trigger.kind is not TriggerKind.REWARD
        if trigger.direct and is_typed:
            trigger = await self._gathered(trigger, settings)
            if trigger is None:
                return None
        try:
            # So that a newcomer has a row before the reply's row refers to them.
            await self._flush()
            # `_taken_up` knows the lines of this run. An earlier run may have answered this one.
            if await bot_messages.is_answered(self._db, event.id):
                return None
            pending = await self._begin(trigger, settings)
        except StoreError as error:
            log.warning("no reply without a disk", error=type(error).__name__)
            return None
        try:
            # What is logged while this reply is made names it.
            with structlog.contextvars.bound_contextvars(reply_id=pending.reply_id):
                return await self._in_turn(pending)
        except ForgetMeNotError as error:
            detail = f"{type(error).__name__}: {error}"
            return await self._end(pending, ReplyStatus.SILENT, detail)

    # ── whether a line is answered ──────────────────────────────────────────────────────────

    async def _trigger_in(self, event: ChatEvent, settings: Settings) -> Trigger | None:
        """Return the trigger in a line that may be answered now; None if there is none."""
        now = self._clock.now()
        identity = self._identity()
        is_reward = event.kind is EventKind.REDEMPTION
        if is_ignored(event, identity, settings) and not is_reward:
            return None
        returning = await self._is_returning(event, settings)
        talks = self.conversation_tracker.conversations()
        trigger = trigger_of(event, identity, talks, settings, now, returning=returning)
        trigger = self._joined_with_waiting(event, trigger, talks)
        # Noted after the trigger was read: for that, this line must not count as one in between.
        self.conversation_tracker.note_line(event)
        if trigger is None:
            return None
        if self._is_repeated(event.id):
            return None
        # A reward is taken up also while the bot is silent, to leave a row that says so: the points
        # can be given back.
        if trigger.kind is not TriggerKind.REWARD and await self._is_silent():
            return None
        if trigger.direct:
            return trigger
        if self._speaks_up is None:
            return trigger
        return trigger if await self._speaks_up() else None

    async def _is_returning(self, event: ChatEvent, settings: Settings) -> bool:
        """Return whether this is the first line of somebody who is back after a long time."""
        is_first_line = self._is_first_line(event)
        if not is_first_line:
            return False
        if settings.bot.mode is not Mode.LIVE:
            return False
        standing = await self._writer.gatherer.standing(event, settings)
        return standing is Standing.RETURNER

    def _is_first_line(self, event: ChatEvent) -> bool:
        """Return whether this person has not spoken since the program started, or for half a day.

        So nobody is greeted twice.
        """
        spoke_at = self._spoke_at.get(event.user_id)
        put_last(self._spoke_at, event.user_id, event.at, PEOPLE_REMEMBERED)
        return spoke_at is None or event.at - spoke_at >= ABSENCE

    def _is_repeated(self, event_id: str) -> bool:
        """Return whether a line was taken up before; it is from now on."""
        if event_id in self._taken_up:
            return True
        put_last(self._taken_up, event_id, 0, EVENTS_REMEMBERED)
        return False

    async def _is_silent(self) -> bool:
        """Return whether somebody switched the bot to silence. Raises StoreError."""
        switches = await read_switches(self._db)
        return switches.silent(self._clock.now())

    def _joined_with_waiting(
        self,
        event: ChatEvent,
        trigger: Trigger | None,
        talks: Conversations,
    ) -> Trigger | None:
        """Return the trigger of a line, with the lines of the same person that wait for an answer.

        People write a question over several lines, and name the bot in the first one only.
        """
        # Either their question may go on in this line, or the model was not asked about it yet.
        waiting = self._unfinished.get(event.user_id)
        if waiting is None and event.user_id in self._pending:
            waiting = self._pending[event.user_id].trigger
        if waiting is None:
            return trigger
        if waiting.event.id == event.id:
            return trigger
        if event.emote_only:
            return trigger
        if trigger is not None and trigger.direct:
            return joined(waiting, event, trigger.question)
        identity = self._identity()
        if is_ignored(event, identity, self._settings()):
            return trigger
        if is_command(event.text):
            return trigger
        if is_to_somebody_else(event, identity, talks.speakers):
            return trigger
        return joined(waiting, event, event.text)

    async def _gathered(self, trigger: Trigger, settings: Settings) -> Trigger | None:
        """Wait for more of a question that has no end yet; return its trigger.

        None if a later line came meanwhile: its own call returns the whole question.
        """
        viewer_id = trigger.event.user_id
        # An earlier line of the same question waits already.
        goes_on = viewer_id in self._unfinished
        self._unfinished[viewer_id] = trigger
        since = self._unfinished_since.setdefault(viewer_id, trigger.event.at)
        gather_ms = int(settings.reply.gather_s * SECOND)
        line_ends_at = trigger.event.at + gather_ms
        question_ends_at = since + GATHERING_LIMIT * gather_ms
        try:
            wait = min(line_ends_at, question_ends_at) - self._clock.now()
            if wait > 0 and is_unfinished(trigger.question, goes_on=goes_on):
                with self._waiting():
                    await self._clock.sleep(wait)
        finally:
            is_newest = self._unfinished.get(viewer_id) is trigger
            if is_newest:
                del self._unfinished[viewer_id]
                del self._unfinished_since[viewer_id]
        return trigger if is_newest else None

    # ── making the reply ────────────────────────────────────────────────────────────────────

    async def _begin(self, trigger: Trigger, settings: Settings) -> PendingReply:
        """Write the row of a reply that is taken up. Raises StoreError."""
        event_id: str | None = trigger.event.id
        viewer_id: str | None = trigger.event.user_id
        leaves_nothing = await privacy_choices.leaves_nothing(
            self._db, trigger.event.user_id
        )
        if leaves_nothing:
            # The row stays, so that counts and costs are right, and names nobody.
            event_id = None
            viewer_id = None
        async with self._db.write() as tx:
            reply_id = await bot_messages.begin(
                tx,
                at=self._clock.now(),
                event_id=event_id,
                viewer_id=viewer_id,
                trigger=trigger.kind,
                mode=settings.bot.mode,
            )
            if viewer_id is not None:
                await reply_outcomes.mark_asked_again(
                    tx, viewer_id, trigger.question, trigger.event.at
                )
        return PendingReply(trigger, settings, reply_id, keeps_text=not leaves_nothing)

    async def _in_turn(self, pending: PendingReply) -> Reply:
        """Make a reply when those before it to the same viewer are done."""
        viewer_id = pending.event.user_id
        self._newest[viewer_id] = pending.event.id
        if pending.trigger.direct:
            self._pending[viewer_id] = pending
        # One lock for each viewer: the replies to two people are made side by side.
        turn = self._turns.setdefault(viewer_id, asyncio.Lock())
        try:
            # Not counted as in progress: the reply that holds the lock may wait for the clock.
            with self._waiting():
                await turn.acquire()
            try:
                pass_reason = await self._reason_to_pass(pending)
                self._no_longer_pending(pending)
                if pass_reason:
                    return await self._end(pending, ReplyStatus.SILENT, pass_reason)
                return await self._reply(pending)
            finally:
                turn.release()
        finally:
            self._no_longer_pending(pending)
            if self._is_newest(pending):
                # No later line of this viewer waits for the lock, so nobody needs it any more.
                del self._newest[viewer_id]
                del self._turns[viewer_id]

    def _no_longer_pending(self, pending: PendingReply) -> None:
        """Let no later line be joined to this one: from now on the model is asked about it."""
        viewer_id = pending.event.user_id
        if self._pending.get(viewer_id) is pending:
            del self._pending[viewer_id]

    async def _reason_to_pass(self, pending: PendingReply) -> str:
        """Return why no model is asked, after waiting for the cooldowns; "" if one is.

        Raises StoreError.
        """
        trigger = pending.trigger
        answered_at = self.conversation_tracker.answered_at(pending.event.user_id)
        wait = wait_ms(
            trigger,
            answered_at,
            self._spoke_up_at,
            pending.settings,
            self._clock.now(),
        )
        if trigger.kind is TriggerKind.REWARD:
            # Points were spent on it, so it waits for no cooldown.
            wait = 0
            give_back_reason = await self._reason_to_give_back(pending)
            if give_back_reason:
                return give_back_reason
        if self._is_answered_elsewhere(pending):
            return bot_messages.ANSWERED_ELSEWHERE
        # A reply that nobody asked for is dropped at once. One that continues a talk waits, as a
        # question does.
        if wait > 0 and trigger.kind in UNASKED:
            return reason("cooldown", n=f"{wait / SECOND:.0f}")
        is_in_time = self._clock.now() + wait <= pending.deadline
        if wait > 0 and is_in_time and self._is_newest(pending):
            with self._waiting():
                await self._clock.sleep(wait)
        if not self._is_newest(pending):
            return reason("newer_line")
        if await self._is_over_hourly_limit(pending):
            limit = pending.settings.limits.replies_per_viewer_hour
            return reason("hour_limit", n=limit)
        # Asked before the model is: its words could not be sent, and would be paid for.
        return self._outbox.refusal_reason(
            pending.deadline, ahead=self._replies_being_written
        )

    async def _is_over_hourly_limit(self, pending: PendingReply) -> bool:
        """Return whether a viewer got as many answers in the last hour as the settings allow."""
        limit = pending.settings.limits.replies_per_viewer_hour
        role = role_of(pending.event.badges)
        if not limit:
            return False
        if role in {Role.MODERATOR, Role.BROADCASTER}:
            return False
        viewer_id = pending.event.user_id
        since = self._clock.now() - HOUR
        answers = await bot_messages.count_answers_to(self._db, viewer_id, since)
        return answers >= limit

    async def _reason_to_give_back(self, pending: PendingReply) -> str:
        """Return why a reward is not answered, so that its points can be given back; "" if it is.

        A line of chat that is ignored leaves no row; a reward always does.
        """
        if is_ignored(pending.event, self._identity(), pending.settings):
            return reason("ignored")
        if not pending.trigger.question:
            return reason("nothing_to_say")
        if await self._is_silent():
            return reason("paused")
        return ""

    def _is_answered_elsewhere(self, pending: PendingReply) -> bool:
        """Return whether the same words were answered as a line of chat, or as a reward's.

        Twitch sends the message of a reward as both.
        """
        text = clean(pending.event.text)
        since = self._clock.now() - MINUTE
        is_reward = pending.trigger.kind is TriggerKind.REWARD
        for answered in self._answered:
            event = answered.event
            if event.user_id != pending.event.user_id:
                continue
            if event.at < since:
                continue
            was_reward = answered.trigger.kind is TriggerKind.REWARD
            if was_reward is not is_reward and clean(event.text) == text:
                return True
        return False

    def _is_newest(self, pending: PendingReply) -> bool:
        """Return whether no later line of the same viewer was taken up."""
        return self._newest.get(pending.event.user_id) == pending.event.id

    async def _reply(self, pending: PendingReply) -> Reply:
        """Write a reply and send it. Raises StoreError."""
        self._replies_being_written += 1
        try:
            words = await self._writer.words_for(pending)
        finally:
            self._replies_being_written -= 1
        is_follow_up = pending.trigger.kind is TriggerKind.FOLLOW_UP
        if is_follow_up and not words.text:
            self.conversation_tracker.was_silent(pending.event.user_id)
        silent_reason = words.reason
        if not words.text and not silent_reason:
            silent_reason = reason("nothing_to_say")
        if silent_reason:
            return await self._end(pending, ReplyStatus.SILENT, silent_reason)
        if pending.settings.bot.mode is Mode.SHADOW:
            return await self._end(pending, ReplyStatus.SHADOW, "", words.text)
        addressee = ""
        if pending.trigger.direct:
            addressee = pending.event.display_name
        message = Outgoing(
            pending.reply_id,
            words.text,
            pending.deadline,
            pending.reply_to,
            addressee=addressee,
            keeps_text=pending.keeps_text,
            reason_to_drop=words.reason_to_drop,
        )
        sent = await self._outbox.send(message)
        # A message of unknown fate may have gone out. It counts as an answer, so that nobody gets two.
        if sent.status in {ReplyStatus.SENT, ReplyStatus.UNKNOWN}:
            self._note_answer(pending, words.text)
        return Reply(pending.reply_id, sent.status, words.text, sent.detail)

    def _note_answer(self, pending: PendingReply, text: str) -> None:
        """Remember that a viewer was answered, for cooldowns and for going on with the talk."""
        now = self._clock.now()
        self.conversation_tracker.answered(
            pending.event.user_id,
            now,
            direct=pending.trigger.direct,
            asks_back=text.rstrip().endswith(("?", "？")),
        )
        self._answered.append(pending)
        if not pending.trigger.direct:
            self._spoke_up_at = now

    async def _end(
        self,
        pending: PendingReply,
        status: ReplyStatus,
        detail: str,
        text: str = "",
    ) -> Reply:
        """Store how a reply ended that is not sent, and return it. Raises StoreError."""
        stored_text = text if pending.keeps_text else ""
        async with self._db.write() as tx:
            await bot_messages.settle(
                tx,
                pending.reply_id,
                status,
                detail,
                text=stored_text,
            )
        log.info(
            "reply not sent",
            reply_id=pending.reply_id,
            status=status,
            trigger=pending.trigger.kind,
        )
        return Reply(pending.reply_id, status, text, detail)

    # ── counting what is being made ─────────────────────────────────────────────────────────

    def _over(self, task: asyncio.Task[Reply | None]) -> None:
        """Forget a task that is over, and log what went wrong in it."""
        self._tasks.discard(task)
        self._leave()
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        unexpected = None if isinstance(error, ForgetMeNotError) else error
        log.error("a reply failed", error=type(error).__name__, exc_info=unexpected)

    def _enter(self) -> None:
        """Count one more reply as in progress."""
        self._in_progress += 1
        # Where a test awaits `consider` itself, `take` has not counted it: then `_waiting` counts from
        # 0 to -1 and back.
        if self._in_progress > 0:
            self._none_in_progress.clear()

    def _leave(self) -> None:
        """Count one reply less as in progress."""
        self._in_progress -= 1
        if self._in_progress <= 0:
            self._none_in_progress.set()

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        """Do not count this reply as in progress while it only waits.

        `idle` returns meanwhile, so that a replay or a test can move the clock on.
        """
        self._leave()
        try:
            yield
        finally:
            self._enter()
