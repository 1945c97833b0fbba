"""The queue of everything that the bot sends to chat.

Guarantees:
- Never over Twitch's limits in a sliding window of 30 s, also across a restart. First come, first served: no viewer can
  fill it, because replies and commands have a limit for each. Only answers about somebody's own data ("Done: I forgot
  you") go before all others, and wait for minutes: who asked for it must not believe that nothing was done.
- No text twice within the time in which Twitch refuses repeats: an answer is varied, not dropped.
- A message that waited too long is dropped with a reason.
- Each is sent at most once: its row is `sending` before the call, and after a crash it becomes `unknown`. Only a 429 is
  retried.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import count

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.durations import HOUR, MINUTE, SECOND
from forgetmenot.errors import StoreError, TwitchError, TwitchRateLimited
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.ports import ChatOut
from forgetmenot.reply.polish import tidy
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, privacy_choices
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database
from forgetmenot.text.removal import fact_stems
from forgetmenot.twitch.chat_permission import ChatPermission

EVERYBODY = ""
# Characters that Twitch takes, and those that leave room for a number behind them.
LONGEST_TEXT = 500
LONGEST_NUMBERED = 490
# How long an answer about somebody's own data waits for a place.
RIGHTS_WAIT = 10 * MINUTE
# Asked when a message's turn comes: why what happened since it was written makes it pointless. Raises StoreError.
ReasonToDrop = Callable[[], Awaitable[str]]


async def no_reason() -> str:
    """Return no reason: nothing that happens makes the message pointless."""
    return ""


class Outgoing(Struct, frozen=True):
    """One message. `reply_id`: its row in bot_messages; `deadline`: when it is too late (ms).

    Twitch refuses the same words again within 30 s. Then a message with an `addressee` (a name) gets that name in
    front, and one that is `numbered` or still the same gets a number: nobody stays without an answer for sounding like
    somebody else. What is said to nobody is dropped.

    `reason_to_drop`: asked when its turn comes; raises StoreError. `keeps_text`: False if its words are to leave
    nothing behind, as the answer to somebody who opted out may repeat what they said. `is_urgent`: it goes before all
    that are not.
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
        """What is stored of the text."""
        return self.text if self.keeps_text else ""


class Sent(Struct, frozen=True):
    """What became of a message."""

    status: ReplyStatus
    detail: str = ""


class _Waiting(Struct, eq=False):
    """A message in the queue. `result`: what whoever sent it waits for."""

    message: Outgoing
    result: asyncio.Future[Sent] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Outbox:
    """The queue. `run` works it off, at its `pace`.

    `overhear` gets the words of what went out, and Twitch's id of it: for the memory, as context for summaries.
    `permission`: whether Twitch would show a message.
    """

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
        self._db = db
        self._out = out
        self._clock = clock
        self._settings = settings
        self._overhear = overhear
        self._queue: deque[_Waiting] = deque()
        self._filled = asyncio.Event()
        # how many lines have their row written just now, and will come into the queue
        self._coming = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self.permission = permission or ChatPermission(clock)
        self.pace = SendRateLimiter(slow_ms=self.permission.slow_ms)

    async def send(self, message: Outgoing) -> Sent:
        """Queue a message, and return what became of it. Needs `run` to be running."""
        waiting = _Waiting(message)
        place = len(self._queue)
        if message.is_urgent:
            # before the first that is not
            ordinary = [
                i
                for i, queued in enumerate(self._queue)
                if not queued.message.is_urgent
            ]
            place = min(ordinary, default=place)
        self._queue.insert(place, waiting)
        self._filled.set()
        self._calm.clear()
        return await waiting.result

    async def say_line(
        self,
        text: str,
        *,
        reply_to: str | None = None,
        viewer_id: str = EVERYBODY,
        trigger: str = "command",
        is_optional: bool = False,
        is_urgent: bool = False,
    ) -> Sent:
        """Send a line that no model wrote, for example a command's answer, in every mode; return what became of it.

        `is_optional`: it may be left out where only the places are free that are reserved for replies. `is_urgent`: it
        is an answer about somebody's own data. Raises StoreError.
        """
        if is_optional and self.pace.is_crowded(
            self._clock.now(), self.waiting + self._coming
        ):
            return Sent(ReplyStatus.DROPPED, reason("kept_for_replies"))
        settings = self._settings()
        now = self._clock.now()
        text = tidy(text, settings)
        # counted from here on: the row is being written, and the message will want a place
        self._coming += 1
        try:
            hidden = viewer_id != EVERYBODY and await privacy_choices.leaves_nothing(
                self._db, viewer_id
            )
            async with self._db.write() as tx:
                reply_id = await bot_messages.begin(
                    tx,
                    at=now,
                    event_id=None if hidden else reply_to,
                    viewer_id=None if hidden else viewer_id,
                    trigger=trigger,
                    mode=settings.bot.mode,
                )
        finally:
            self._coming -= 1
        longest_wait = (
            RIGHTS_WAIT if is_urgent else settings.reply.stale_after_s * SECOND
        )
        fact = fact_stems(text) if viewer_id != EVERYBODY else frozenset()

        def is_forgotten(since: int = -1) -> bool:
            return bool(fact) and self._db.requests.is_forgotten(
                viewer_id, fact, since=since
            )

        async def reason_to_drop() -> str:
            return reason("cleared") if is_forgotten(since=now) else ""

        message = Outgoing(
            reply_id,
            text,
            now + longest_wait,
            reply_to,
            numbered=True,
            # the answer to a request to forget a fact quotes it
            keeps_text=not hidden and not is_forgotten(),
            is_urgent=is_urgent,
            reason_to_drop=reason_to_drop,
        )
        return await self.send(message)

    async def say_without_row(self, text: str, reply_to: str | None) -> None:
        """Say that the memory takes no row now, if there is a place at once and it was not just said.

        Nothing remembers the line, so nothing sends it again.
        """
        now = self._clock.now()
        if self.pace.free_at(now, self.waiting) > now or self.pace.is_repeated(
            text, now
        ):
            return
        self.pace.text_sent(text, now)
        self.pace.call_begins(now)
        try:
            await self._out.say(text, reply_to)
        except TwitchError as error:
            log.warning("message not sent", error=type(error).__name__)
        finally:
            self.pace.call_ended(self._clock.now())

    def refusal_reason(self, deadline: int, *, others: int = 0) -> str:
        """Return why a reply could not be shown, or not go out before the deadline; empty if it could.

        `others`: how many messages are still in the making and will want a place before it. Only replies are held back,
        which cost tokens: a command's answer is tried, and shows when Twitch lets the bot write again.
        """
        now = self._clock.now()
        trouble = self.permission.trouble()
        if trouble:
            return trouble
        if now > deadline:
            return reason("too_late")
        ahead = self.waiting + others
        free = self.pace.free_at(now, ahead)
        if free == now or free < deadline:
            return ""
        return reason("too_late")

    async def idle(self) -> None:
        """Wait until everything is sent, or waits for the clock."""
        await self._calm.wait()

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._queue)

    async def recover(self) -> int:
        """At start: settle what a crash left in the middle of sending, which is never sent again; return how many.

        What went out just before the start counts towards the limits, and is not said again. Raises StoreError.
        """
        async with self._db.write() as tx:
            unfinished = await bot_messages.resolve_unfinished(tx)
        now = self._clock.now()
        for at, text in await bot_messages.sent_since(self._db, now - WINDOW_MS, now):
            self.pace.call_begins(at)
            self.pace.text_sent(text, at)
        if unfinished:
            log.warning("messages of unknown fate", count=unfinished)
        return unfinished

    async def seen_in_chat(self, text: str) -> None:
        """Store that a line of the bot's own came back on the reading connection: it was delivered."""
        async with self._db.write() as tx:
            await bot_messages.confirm_delivery(tx, text, self._clock.now() - HOUR)

    async def deleted_in_chat(self, twitch_id: str | None) -> None:
        """Store that a moderator deleted a message: if it was the bot's, that is its outcome, whatever comes later."""
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

    async def run(self) -> None:
        """Work the queue off until cancelled; then nobody waits any more."""
        try:
            while True:
                await self._filled.wait()
                await self.step()
        finally:
            waiting = self._take()
            while waiting is not None:
                _finish(waiting, Sent(ReplyStatus.DROPPED, reason("stopped")))
                waiting = self._take()

    async def step(self) -> None:
        """Wait for a free place, then send or drop one message."""
        now = self._clock.now()
        free = self.pace.free_at(now, 0)
        if free > now:
            await self._drop_stale()
            self._calm.set()
            # a second at most: meanwhile messages come, grow stale, or the limit becomes that of a moderator
            await self._clock.sleep(min(free - now, SECOND))
            self._calm.clear()
            return
        waiting = self._take()
        if waiting is None:
            return
        message = self._in_new_words(waiting.message, now)
        waiting.message = message
        try:
            drop_reason = self._reason_to_drop(message, now)
            if drop_reason:
                await self._drop(waiting, drop_reason)
            else:
                await self._deliver(waiting)
        except StoreError as error:
            # without its row a message could be sent twice: so it is not sent at all
            log.error(
                "message not sent",
                reply_id=message.reply_id,
                error=type(error).__name__,
            )
            _finish(waiting, Sent(ReplyStatus.DROPPED, str(error)))
        finally:
            # neither settled nor put back: cancelled in the middle of the call, so Twitch may have it
            if waiting not in self._queue:
                _finish(waiting, Sent(ReplyStatus.UNKNOWN, reason("stopped")))

    def _in_new_words(self, message: Outgoing, now: int) -> Outgoing:
        """Return a message with words that Twitch has not just had, if it is for somebody."""
        if not self.pace.is_repeated(message.text, now):
            return message
        text = message.text
        if message.addressee:
            text = f"@{message.addressee} {text}"[:LONGEST_TEXT]
            if not self.pace.is_repeated(text, now):
                return replace(message, text=text)
        if not message.addressee and not message.numbered:
            return message
        for number in count(2):
            numbered = f"{text[:LONGEST_NUMBERED]} ({number})"
            if not self.pace.is_repeated(numbered, now):
                return replace(message, text=numbered)
        return message

    def _take(self) -> _Waiting | None:
        """Return the next message in the queue; None if it is empty."""
        while self._queue:
            waiting = self._queue.popleft()
            # else whoever sent it has given up
            if not waiting.result.done():
                return waiting
        self._filled.clear()
        self._calm.set()
        return None

    async def _drop_stale(self) -> None:
        now = self._clock.now()
        stale = [
            waiting
            for waiting in self._queue
            if now > waiting.message.deadline and not waiting.result.done()
        ]
        for waiting in stale:
            await self._drop(waiting, reason("too_late"))

    def _reason_to_drop(self, message: Outgoing, now: int) -> str:
        if not message.text:
            return reason("nothing_to_say")
        if now > message.deadline:
            return reason("too_late")
        if self.pace.is_repeated(message.text, now):
            return reason("same_text")
        return ""

    async def _drop(self, waiting: _Waiting, drop_reason: str) -> None:
        message = waiting.message
        text = message.stored_text
        if await message.reason_to_drop():
            # it may say again what was cleared
            text = ""
        async with self._db.write() as tx:
            await bot_messages.settle(
                tx, message.reply_id, ReplyStatus.DROPPED, drop_reason, text=text
            )
        log.info("message dropped", reply_id=message.reply_id, reason=drop_reason)
        _finish(waiting, Sent(ReplyStatus.DROPPED, drop_reason))

    async def _deliver(self, waiting: _Waiting) -> None:
        """Claim the message's row, hand the message to Twitch, and store what became of it. Raises StoreError."""
        message = waiting.message
        now = self._clock.now()
        is_claimed = False
        async with self._db.write() as tx:
            # asked inside the write: nothing can be forgotten between this question and the row
            drop_reason = await message.reason_to_drop()
            if not drop_reason:
                is_claimed = await bot_messages.record_sending(
                    tx, message.reply_id, message.stored_text, now
                )
        if drop_reason:
            await self._drop(waiting, drop_reason)
            return
        if not is_claimed:
            # an earlier run has claimed it, or another answer to the same line
            _finish(waiting, Sent(ReplyStatus.UNKNOWN, reason("same_text")))
            return
        self.pace.call_begins(now)
        try:
            outcome = await self._out.say(message.text, message.reply_to)
            self.permission.answered(outcome)
        except TwitchRateLimited as limited:
            await self._put_back(waiting, limited.retry_after_s)
            return
        except TwitchError as error:
            outcome = Outcome(OutcomeKind.REFUSED, str(error))
        finally:
            self.pace.call_ended(self._clock.now())
        status = _STATUS.get(outcome.kind, ReplyStatus.REFUSED)
        # an unknown one may have gone out, and would be refused as a repetition
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
        if (
            message.keeps_text
            and outcome.kind is OutcomeKind.DONE
            and outcome.twitch_id
        ):
            self._overhear(message.text, outcome.twitch_id)
        log.info(
            "message sent",
            reply_id=message.reply_id,
            status=status,
            detail=outcome.detail,
        )
        _finish(waiting, Sent(status, outcome.detail))

    async def _put_back(self, waiting: _Waiting, retry_after_s: float) -> None:
        """Put a message first in the queue again: Twitch took nothing, and named a time to wait."""
        self.pace.pause_until(self._clock.now() + int(retry_after_s * SECOND))
        async with self._db.write() as tx:
            # no longer `sending`, so that a crash while it waits does not make its fate unknown
            await bot_messages.settle(
                tx,
                waiting.message.reply_id,
                ReplyStatus.SILENT,
                reason("asked_to_wait"),
                text="",
            )
        self._queue.appendleft(waiting)
        self._filled.set()


def _finish(waiting: _Waiting, sent: Sent) -> None:
    if not waiting.result.done():
        waiting.result.set_result(sent)


_STATUS = {OutcomeKind.DONE: ReplyStatus.SENT, OutcomeKind.UNKNOWN: ReplyStatus.UNKNOWN}

WINDOW_MS = 30 * SECOND
# Twitch silences a bot that sends more messages than this in 30 s for half an hour.
PER_WINDOW = 20
PER_WINDOW_AS_MODERATOR = 100


class SendRateLimiter:
    """Counts recent messages against Twitch's limits.

    `moderates`: whether the bot has the higher limit of moderators. `slow_ms`: how long slow mode makes the bot wait
    between two messages. All times are in ms.
    """

    def __init__(
        self, per_window: int = PER_WINDOW, *, slow_ms: Callable[[], int] = lambda: 0
    ) -> None:
        self._per_window = per_window
        self._slow_ms = slow_ms
        self._called_at: list[int] = []
        self._last_call_at: int | None = None
        self._text_sent_at: dict[str, int] = {}
        self._not_before = 0
        self.moderates: Callable[[], bool] = lambda: False

    def call_begins(self, now: int) -> None:
        """Count a message that is handed to Twitch now."""
        self._called_at.append(now)
        self._last_call_at = now

    def call_ended(self, now: int) -> None:
        """Let the message's window run from now: Twitch may have had it only at the end of the call."""
        # the newest is this call's, or that of a line without a row beside it: seconds apart, and the number is right
        self._called_at[-1:] = [now]
        self._last_call_at = now

    def pause_until(self, at: int) -> None:
        """Pause until that time, as Twitch asked."""
        self._not_before = at

    def text_sent(self, text: str, at: int) -> None:
        """Remember that a text went out, or may have."""
        self._text_sent_at[text.casefold()] = at

    def is_repeated(self, text: str, now: int) -> bool:
        """Return whether Twitch would refuse a text because it was sent in the last 30 s."""
        since = now - WINDOW_MS
        self._text_sent_at = {
            sent: at for sent, at in self._text_sent_at.items() if at > since
        }
        return text.casefold() in self._text_sent_at

    def free_at(self, now: int, ahead: int) -> int:
        """Return when there is a place for one more message behind `ahead` others."""
        return max(self._window_free_at(now, ahead), self._slow_free_at(now, ahead))

    def _slow_free_at(self, now: int, ahead: int) -> int:
        gap = self._slow_ms()
        if not gap or self._last_call_at is None:
            return now + ahead * gap
        return max(now, self._last_call_at + gap) + ahead * gap

    def _window_free_at(self, now: int, ahead: int) -> int:
        excess = self._taken(now, ahead) - self._limit
        if excess < 0:
            return max(now, self._not_before)
        # it follows the message that opened its place, a window later for each full window ahead of it
        rounds, place = divmod(excess, self._limit)
        first = self._called_at[place] if place < len(self._called_at) else now
        return max(first + WINDOW_MS * (rounds + 1), self._not_before)

    def is_crowded(self, now: int, ahead: int) -> bool:
        """Return whether behind `ahead` others only the places are left that are reserved for replies: a quarter.

        In slow mode those are all that are not free at once.
        """
        if self._slow_free_at(now, ahead) > now:
            return True
        return self._taken(now, ahead) >= self._limit - self._limit // 4

    def _taken(self, now: int, ahead: int) -> int:
        self._called_at = [at for at in self._called_at if at > now - WINDOW_MS]
        return len(self._called_at) + ahead

    @property
    def _limit(self) -> int:
        return PER_WINDOW_AS_MODERATOR if self.moderates() else self._per_window
