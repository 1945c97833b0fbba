"""The queue of everything that the bot sends to chat.

Guarantees:
- Never over Twitch's limits in a sliding window of 30 s, also across a restart (reply/send_rate).
- First come, first served: no viewer can fill it, because replies and commands have a limit for
  each. Only answers about somebody's own data ("Done: I forgot you") go before all others, and wait
  for minutes: who asked for it must not believe that nothing was done.
- No text twice within the time in which Twitch refuses repeats: an answer is varied, not dropped.
- A message that waited too long is dropped with a reason.
- Each is sent at most once: its row is `sending` before the call, and after a crash it becomes
  `unknown`. Only a 429 is retried.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import OF_NOBODY, LinePeople, Outcome, OutcomeKind
from forgetmenot.durations import HOUR, MINUTE, SECOND
from forgetmenot.errors import StoreError, TwitchError, TwitchRateLimited
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.ports import ChatOut
from forgetmenot.reply.output_filters import tidy
from forgetmenot.reply.send_rate import WINDOW_MS, SendRateLimiter
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, privacy_choices, viewers
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database
from forgetmenot.text.removal import fact_stems
from forgetmenot.twitch.chat_permission import ChatPermission

# The viewer of a line that is said to nobody in particular.
EVERYBODY = ""
# Characters that Twitch takes, and those that leave room for a number behind them.
LONGEST_TEXT = 500
LONGEST_NUMBERED = 490
# How long an answer about somebody's own data waits for a place (ms).
PRIVACY_WAIT = 10 * MINUTE

# Asked when a message's turn comes: returns why what happened since it was written makes it
# pointless, or "". Raises StoreError.
ReasonToDrop = Callable[[], Awaitable[str]]


async def no_reason() -> str:
    """Return no reason: nothing that happens makes the message pointless."""
    return ""


class Outgoing(Struct, frozen=True):
    """One message. `reply_id`: its row in bot_messages; `deadline`: when it is too late (ms).

    Twitch refuses the same words again within 30 s. Then a message with an `addressee` (a name) gets
    that name in front, and one that is `numbered` or still the same gets a number: nobody stays
    without an answer for sounding like somebody else. What is said to nobody is dropped.

    `keeps_text`: False if its words are not stored, as the answer to somebody who opted out may
    repeat what they said. `is_urgent`: it goes before all that are not.
    """

    reply_id: int
    text: str
    deadline: int
    reply_to: str | None = None
    numbered: bool = False
    addressee: str = ""
    keeps_text: bool = True
    is_urgent: bool = False
    reason_to_drop: ReasonToDrop = no_reason

    @property
    def stored_text(self) -> str:
        """Return what is stored of the text."""
        return self.text if self.keeps_text else ""


class Sent(Struct, frozen=True):
    """What became of a message."""

    status: ReplyStatus
    detail: str = ""
    twitch_id: str = ""


class _QueuedMessage(Struct, eq=False):
    """A message in the queue. `result`: what whoever sent it waits for."""

    message: Outgoing
    result: asyncio.Future[Sent] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Outbox:
    """The queue. `run` works it off, at its `pace`."""

    def __init__(
        self,
        *,
        db: Database,
        out: ChatOut,
        clock: Clock,
        settings: Callable[[], Settings],
        overhear: Callable[[str, str], None] = lambda _text, _twitch_id: None,
        permission: ChatPermission | None = None,
    ) -> None:
        """Begin with an empty queue.

        `out` sends to chat. `overhear` is called with the text of each message that went out, and
        Twitch's id of it: the memory keeps it as context for summaries. `permission` knows whether
        Twitch would show a message.
        """
        self._db = db
        self._out = out
        self._clock = clock
        self._settings = settings
        self._overhear = overhear
        self._queue: deque[_QueuedMessage] = deque()
        self._filled = asyncio.Event()
        # How many lines are not in the queue yet, because their row is still being written.
        self._coming = 0
        # Set while the queue is empty, or only waits for time to pass.
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self.permission = permission or ChatPermission(clock)
        self.pace = SendRateLimiter(slow_ms=self.permission.slow_ms)

    async def send(self, message: Outgoing) -> Sent:
        """Queue a message, and return what became of it. Needs `run` to be running."""
        queued = _QueuedMessage(message)
        self._queue.insert(self._place_for(message), queued)
        self._filled.set()
        self._is_idle.clear()
        return await queued.result

    def _place_for(self, message: Outgoing) -> int:
        """Return the place in the queue: the last, or for an urgent one behind the urgent ones."""
        if message.is_urgent:
            for place, queued in enumerate(self._queue):
                if not queued.message.is_urgent:
                    return place
        return len(self._queue)

    async def say_line(
        self,
        text: str,
        *,
        reply_to: str | None = None,
        viewer_id: str = EVERYBODY,
        people: LinePeople = OF_NOBODY,
        trigger: str = "command",
        is_optional: bool = False,
        is_urgent: bool = False,
        leaves_nothing: bool = False,
    ) -> Sent:
        """Send a line that no model wrote, such as a command's answer; return what became of it.

        It is sent in every mode. `people`: whom it is about and whom it names; its row has room for one
        whom it is about. It is not sent if one of them opts out or asks to be erased while it waits,
        or has a fact forgotten that it says. `is_optional`: it may be left out where only the places
        are free that are kept for replies. `is_urgent`: it is an answer about somebody's own data.
        `leaves_nothing`: neither its words nor its viewer are stored. Raises StoreError.
        """
        now = self._clock.now()
        messages_before_it = self.waiting + self._coming
        if is_optional and self.pace.is_crowded(now, messages_before_it):
            return Sent(ReplyStatus.DROPPED, reason("kept_for_replies"))
        settings = self._settings()
        text = tidy(text, settings)
        # Not whoever opted out or was erased before: that is what the line may report. Asked before its row waits for
        # its turn to be written, because a wish may come first.
        shown_ids = people.about | people.named
        nameable = await viewers.may_be_stored(self._db, shown_ids)
        # Counted from here on: while the row is written, others must see that it will want a place.
        self._coming += 1
        try:
            keeps_text = not leaves_nothing
            if keeps_text and viewer_id != EVERYBODY:
                keeps_text = not await privacy_choices.leaves_nothing(
                    self._db, viewer_id
                )
            async with self._db.write() as tx:
                reply_id = await bot_messages.begin(
                    tx,
                    at=now,
                    event_id=reply_to if keeps_text else None,
                    viewer_id=viewer_id if keeps_text else None,
                    about_id=min(people.about, default=None) if keeps_text else None,
                    trigger=trigger,
                    mode=settings.bot.mode,
                )
        finally:
            self._coming -= 1
        longest_wait = settings.reply.stale_after_s * SECOND
        if is_urgent:
            longest_wait = PRIVACY_WAIT

        concerned_ids = {viewer_id, *shown_ids} - {EVERYBODY}

        async def reason_to_drop() -> str:
            is_nameable = await viewers.may_be_stored(self._db, nameable) == nameable
            if not is_nameable or self._says_forgotten(text, concerned_ids, since=now):
                return reason("cleared")
            return ""

        message = Outgoing(
            reply_id,
            text,
            now + longest_wait,
            reply_to,
            numbered=True,
            # The answer to a request to forget a fact quotes that fact.
            keeps_text=keeps_text and not self._says_forgotten(text, concerned_ids),
            is_urgent=is_urgent,
            reason_to_drop=reason_to_drop,
        )
        return await self.send(message)

    def _says_forgotten(
        self,
        text: str,
        people: Collection[str],
        *,
        since: int = -1,
    ) -> bool:
        """Return whether a line says a fact that one of these viewers had forgotten after `since` (ms)."""
        stems = fact_stems(text)
        if not stems:
            return False
        requests = self._db.requests
        return any(requests.is_forgotten(id_, stems, since=since) for id_ in people)

    async def say_without_row(self, text: str, reply_to: str | None) -> None:
        """Send a text past the queue and without a row, where the memory takes none now (a full disk).

        It is dropped if it cannot be sent at once, if it repeats a text, or if Twitch does not take it: without a row
        nothing would send it again.
        """
        now = self._clock.now()
        if self.pace.free_at(now, self.waiting) > now:
            return
        if self.pace.is_repeated(text, now):
            return
        self.pace.text_sent(text, now)
        self.pace.call_begins(now)
        try:
            await self._out.say(text, reply_to)
        except TwitchError as error:
            log.warning("message not sent", error=type(error).__name__)
        finally:
            self.pace.call_ended(self._clock.now())

    def refusal_reason(self, deadline: int, *, ahead: int = 0) -> str:
        """Return why a reply would not be shown, or not before the deadline (ms); "" if it would.

        `ahead`: the number of messages that are being written now and will be sent before it. Asked
        only of replies, since they cost tokens. A command's answer is always tried: that is how the
        bot learns that Twitch lets it write again.
        """
        now = self._clock.now()
        trouble = self.permission.trouble()
        if trouble:
            return trouble
        if now > deadline:
            return reason("too_late")
        free_at = self.pace.free_at(now, self.waiting + ahead)
        # A place that is free at once is in time even at the deadline itself.
        is_in_time = free_at == now or free_at < deadline
        return "" if is_in_time else reason("too_late")

    async def idle(self) -> None:
        """Wait until everything is sent, or waits for the clock."""
        await self._is_idle.wait()

    @property
    def waiting(self) -> int:
        """Return how many messages wait."""
        return len(self._queue)

    async def recover(self) -> int:
        """Settle, at the start, what a crash left in the middle of sending; return how many.

        It is never sent again. What went out just before the start counts towards the limits, and is
        not said again. Raises StoreError.
        """
        async with self._db.write() as tx:
            unfinished = await bot_messages.resolve_unfinished(tx)
        now = self._clock.now()
        recent = await bot_messages.sent_since(self._db, now - WINDOW_MS, now)
        for at, text in recent:
            self.pace.call_begins(at)
            self.pace.text_sent(text, at)
        if unfinished:
            log.warning("messages of unknown fate", count=unfinished)
        return unfinished

    async def seen_in_chat(self, text: str) -> None:
        """Store that a line of the bot's own came back on the reading connection: it was delivered.

        Raises StoreError.
        """
        async with self._db.write() as tx:
            await bot_messages.confirm_delivery(tx, text, self._clock.now() - HOUR)

    async def deleted_in_chat(self, twitch_id: str | None) -> None:
        """Store that a moderator deleted a message, if it was the bot's.

        That is the outcome of the reply, whatever comes later.
        """
        if twitch_id is None:
            return
        try:
            reply_id = await bot_messages.id_by_twitch_id(self._db, twitch_id)
            if reply_id is None:
                return
            async with self._db.write() as tx:
                await bot_messages.set_outcome(tx, reply_id, "deleted")
        except StoreError as error:
            log.warning(
                "a deleted reply could not be marked", error=type(error).__name__
            )

    # ── working it off ──────────────────────────────────────────────────────────────────────

    async def run(self) -> None:
        """Send what is queued until cancelled; then drop the rest, so that no sender waits forever."""
        try:
            while True:
                await self._filled.wait()
                await self.step()
        finally:
            queued = self._take()
            while queued is not None:
                _finish(queued, Sent(ReplyStatus.DROPPED, reason("stopped")))
                queued = self._take()

    async def step(self) -> None:
        """Wait for a free place, then send or drop one message."""
        now = self._clock.now()
        free_at = self.pace.free_at(now, 0)
        if free_at > now:
            await self._wait_for_place(free_at - now)
            return
        queued = self._take()
        if queued is None:
            return
        queued.message = self._in_new_words(queued.message, now)
        try:
            drop_reason = self._reason_to_drop(queued.message, now)
            if drop_reason:
                await self._drop(queued, drop_reason)
            else:
                await self._deliver(queued)
        except StoreError as error:
            # Without its row a message could be sent twice, so it is not sent at all.
            log.error(
                "message not sent",
                reply_id=queued.message.reply_id,
                error=type(error).__name__,
            )
            _finish(queued, Sent(ReplyStatus.DROPPED, str(error)))
        finally:
            # Neither settled nor put back: it was cancelled in the middle of the call, and Twitch
            # may have it.
            if queued not in self._queue:
                _finish(queued, Sent(ReplyStatus.UNKNOWN, reason("stopped")))

    async def _wait_for_place(self, wait_ms: int) -> None:
        """Drop what is too late, then wait for the next place, but for a second at most.

        Then everything is looked at again: a new message may go first, one may have grown stale, and
        the limit may have become that of a moderator.
        """
        await self._drop_stale()
        # `idle` returns meanwhile, so that a replay or a test can move the clock on.
        self._is_idle.set()
        await self._clock.sleep(min(wait_ms, SECOND))
        self._is_idle.clear()

    def _in_new_words(self, message: Outgoing, now: int) -> Outgoing:
        """Return a message with words that Twitch has not just had, if it is for somebody."""
        if not self.pace.is_repeated(message.text, now):
            return message
        if not message.addressee and not message.numbered:
            return message
        text = message.text
        if message.addressee:
            text = f"@{message.addressee} {text}"[:LONGEST_TEXT]
            if not self.pace.is_repeated(text, now):
                return replace(message, text=text)
        for number in count(2):
            numbered_text = f"{text[:LONGEST_NUMBERED]} ({number})"
            if not self.pace.is_repeated(numbered_text, now):
                return replace(message, text=numbered_text)
        return message

    def _take(self) -> _QueuedMessage | None:
        """Return the next message in the queue; None if it is empty."""
        while self._queue:
            queued = self._queue.popleft()
            # A message whose sender was cancelled, or that was dropped as stale, has a result already,
            # and is still in the queue.
            if not queued.result.done():
                return queued
        self._filled.clear()
        self._is_idle.set()
        return None

    async def _drop_stale(self) -> None:
        """Drop the messages whose time is over before they wait for a place any longer."""
        now = self._clock.now()
        stale = []
        for queued in self._queue:
            if now > queued.message.deadline and not queued.result.done():
                stale.append(queued)
        for queued in stale:
            await self._drop(queued, reason("too_late"))

    def _reason_to_drop(self, message: Outgoing, now: int) -> str:
        """Return why a message is not sent now; "" if it is."""
        if not message.text:
            return reason("nothing_to_say")
        if now > message.deadline:
            return reason("too_late")
        if self.pace.is_repeated(message.text, now):
            return reason("same_text")
        return ""

    async def _drop(self, queued: _QueuedMessage, drop_reason: str) -> None:
        """Store that a message is not sent, and why. Raises StoreError."""
        message = queued.message
        text = message.stored_text
        if await message.reason_to_drop():
            # It may say again what was cleared.
            text = ""
        async with self._db.write() as tx:
            await bot_messages.settle(
                tx,
                message.reply_id,
                ReplyStatus.DROPPED,
                drop_reason,
                text=text,
            )
        log.info("message dropped", reply_id=message.reply_id, reason=drop_reason)
        _finish(queued, Sent(ReplyStatus.DROPPED, drop_reason))

    async def _deliver(self, queued: _QueuedMessage) -> None:
        """Claim the message's row, hand the message to Twitch, and store what became of it.

        Raises StoreError.
        """
        message = queued.message
        now = self._clock.now()
        is_claimed = False
        async with self._db.write() as tx:
            # Asked inside the write: nothing can be forgotten between this question and the row.
            drop_reason = await message.reason_to_drop()
            if not drop_reason:
                is_claimed = await bot_messages.record_sending(
                    tx, message.reply_id, message.stored_text, now
                )
        if drop_reason:
            await self._drop(queued, drop_reason)
            return
        if not is_claimed:
            # An earlier run has claimed it, or another answer to the same line.
            _finish(queued, Sent(ReplyStatus.UNKNOWN, reason("same_text")))
            return
        self.pace.call_begins(now)
        try:
            outcome = await self._out.say(message.text, message.reply_to)
            self.permission.answered(outcome)
        except TwitchRateLimited as limited:
            await self._put_back(queued, limited.retry_after_s)
            return
        except TwitchError as error:
            outcome = Outcome(OutcomeKind.REFUSED, str(error))
        finally:
            self.pace.call_ended(self._clock.now())
        await self._finish_delivery(queued, outcome)

    async def _finish_delivery(self, queued: _QueuedMessage, outcome: Outcome) -> None:
        """Store what Twitch answered to a message, and hand it to the sender. Raises StoreError."""
        message = queued.message
        status = _status_of(outcome)
        # A message of unknown fate may have gone out, so Twitch could refuse the same text as a repeat.
        if status is not ReplyStatus.REFUSED:
            self.pace.text_sent(message.text, self._clock.now())
        async with self._db.write() as tx:
            await bot_messages.settle(
                tx,
                message.reply_id,
                status,
                outcome.detail,
                twitch_id=outcome.twitch_id,
            )
        is_done = outcome.kind is OutcomeKind.DONE
        if message.keeps_text and is_done and outcome.twitch_id:
            # A summary needs the bot's lines as context, and they are not ingested as others' are.
            self._overhear(message.text, outcome.twitch_id)
        log.info(
            "message sent",
            reply_id=message.reply_id,
            status=status,
            detail=outcome.detail,
        )
        _finish(queued, Sent(status, outcome.detail, outcome.twitch_id))

    async def _put_back(self, queued: _QueuedMessage, retry_after_s: float) -> None:
        """Put a message first in the queue again: Twitch took nothing, and named a time to wait.

        Raises StoreError.
        """
        pause = int(retry_after_s * SECOND)
        self.pace.pause_until(self._clock.now() + pause)
        async with self._db.write() as tx:
            # No longer `sending`, so that a crash while it waits does not make its fate unknown.
            await bot_messages.settle(
                tx,
                queued.message.reply_id,
                ReplyStatus.SILENT,
                reason("asked_to_wait"),
                text="",
            )
        self._queue.appendleft(queued)
        self._filled.set()


def _status_of(outcome: Outcome) -> ReplyStatus:
    """Return the status of a message that Twitch answered like that."""
    match outcome.kind:
        case OutcomeKind.DONE:
            return ReplyStatus.SENT
        case OutcomeKind.UNKNOWN:
            return ReplyStatus.UNKNOWN
        case _:
            return ReplyStatus.REFUSED


def _finish(queued: _QueuedMessage, sent: Sent) -> None:
    """Hand what became of a message to whoever waits for it."""
    if not queued.result.done():
        queued.result.set_result(sent)
