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
from forgetmenot.store import bot_messages, personal_data
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database
from forgetmenot.text.removal import fact_stems
from forgetmenot.twitch.chat_permission import ChatPermission

EVERYBODY = ""
LONGEST_TEXT = 500  # characters that Twitch takes
LONGEST_NUMBERED = 490
# How long an answer about somebody's own data waits for a place.
RIGHTS_WAIT = 10 * MINUTE
# Asked when a message's turn comes: why what happened since it was written makes it pointless. Raises StoreError.
ReasonToDrop = Callable[[], Awaitable[str]]


async def no_reason() -> str:
    """Nothing that happens makes it pointless."""
    return ""


class Outgoing(Struct, frozen=True):
    """One message. `reply_id`: its row in bot_messages; `deadline`: when it is too late.

    Twitch refuses the same words again within 30 s. Then a message with an `addressee` (a name) gets
    that name in front, and one that is `numbered` or still the same gets a number: nobody stays
    without an answer for sounding like somebody else. What is said to nobody is dropped.
    `reason_to_drop`: asked when its turn comes; raises StoreError. `kept`: False if its words are to leave nothing
    behind, as the answer to somebody who opted out may repeat what they said. `first`: before all that are not.
    """

    reply_id: int
    text: str
    deadline: int
    reply_to: str | None = None
    numbered: bool = False
    addressee: str = ""
    kept: bool = True
    first: bool = False
    reason_to_drop: ReasonToDrop = no_reason

    @property
    def to_keep(self) -> str:
        """What is stored of the text."""
        return self.text if self.kept else ""


class Sent(Struct, frozen=True):
    """What became of a message."""

    status: ReplyStatus
    detail: str = ""


class _Waiting(Struct, eq=False):
    message: Outgoing
    done: asyncio.Future[Sent] = field(
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
        self._coming = 0  # lines whose row is being written
        self._calm = asyncio.Event()
        self._calm.set()
        self.permission = permission or ChatPermission(clock)
        self.pace = SendRateLimiter(slow_ms=self.permission.slow_ms)

    async def send(self, message: Outgoing) -> Sent:
        """Queue a message and wait for what becomes of it. Needs `run` to be running."""
        waiting = _Waiting(message)
        if message.first:
            others = [number for number, one in enumerate(self._queue) if not one.message.first]
            self._queue.insert(others[0] if others else len(self._queue), waiting)
        else:
            self._queue.append(waiting)
        self._filled.set()
        self._calm.clear()
        return await waiting.done

    async def say_line(
        self,
        text: str,
        *,
        reply_to: str | None = None,
        viewer_id: str = EVERYBODY,
        trigger: str = "command",
        spare: bool = False,
        first: bool = False,
    ) -> Sent:
        """Send a line that no model wrote, for example a command's answer, in every mode.

        `spare`: it may be left out where only the places are free that are kept for replies. `first`: it is an answer
        about somebody's own data.
        """
        if spare and self.pace.is_crowded(self._clock.now(), self.waiting + self._coming):
            return Sent(ReplyStatus.DROPPED, reason("kept_for_replies"))
        settings, now = self._settings(), self._clock.now()
        text = tidy(text, settings)
        # counted from here on: the row is being written, and the message will want a place
        self._coming += 1
        try:
            hidden = viewer_id != EVERYBODY and await personal_data.leaves_nothing(
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
        patience = RIGHTS_WAIT if first else settings.reply.stale_after_s * SECOND

        words = fact_stems(text) if viewer_id != EVERYBODY else frozenset()
        # the answer to a request to forget a fact quotes it
        quoting = words and self._db.requests.is_forgotten(viewer_id, words)

        async def forgotten() -> str:
            gone = words and self._db.requests.is_forgotten(viewer_id, words, since=now)
            return reason("cleared") if gone else ""

        kept = not hidden and not quoting
        return await self.send(
            Outgoing(
                reply_id,
                text,
                now + patience,
                reply_to,
                numbered=True,
                kept=kept,
                first=first,
                reason_to_drop=forgotten,
            )
        )

    async def say_without_row(self, text: str, reply_to: str | None) -> None:
        """Say that the memory takes no row now, if there is a place at once and it was not just said.

        Nothing remembers the line, so nothing sends it again.
        """
        now = self._clock.now()
        if self.pace.free_at(now, self.waiting) > now or self.pace.is_repeated(text, now):
            return
        self.pace.said(text, now)
        self.pace.call_begins(now)
        try:
            await self._out.say(text, reply_to)
        except TwitchError as error:
            log.warning("message not sent", error=type(error).__name__)
        finally:
            self.pace.call_ended(self._clock.now())

    def refusal_reason(self, deadline: int, *, others: int = 0) -> str:
        """Why a reply could not be shown, or not go out before the deadline; an empty text if it could.

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
        return "" if free == now or free < deadline else reason("too_late")

    async def idle(self) -> None:
        """Wait until everything is sent, or waits for the clock."""
        await self._calm.wait()

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._queue)

    async def recover(self) -> int:
        """At start: what a crash left in the middle of sending is never sent again. How many there were.

        What went out just before the start counts towards the limits, and is not said again.
        """
        async with self._db.write() as tx:
            left = await bot_messages.resolve_unfinished(tx)
        now = self._clock.now()
        for at, text in await bot_messages.sent_since(self._db, now - WINDOW_MS, now):
            self.pace.call_begins(at)
            self.pace.said(text, at)
        if left:
            log.warning("messages of unknown fate", count=left)
        return left

    async def seen_in_chat(self, text: str) -> None:
        """A line of the bot's own came back on the reading connection: proof that it was delivered."""
        async with self._db.write() as tx:
            await bot_messages.confirm_delivery(tx, text, self._clock.now() - HOUR)

    async def deleted_in_chat(self, twitch_id: str | None) -> None:
        """A moderator deleted a message: if it was the bot's, that is its outcome, whatever is said later."""
        if twitch_id is None:
            return
        try:
            if (reply_id := await bot_messages.id_by_twitch_id(self._db, twitch_id)) is not None:
                async with self._db.write() as tx:
                    await bot_messages.set_outcome(tx, reply_id, "deleted")
        except StoreError as error:
            log.warning("a deleted reply could not be marked", error=type(error).__name__)

    async def run(self) -> None:
        """Work the queue off until cancelled; then nobody waits any more."""
        try:
            while True:
                await self._filled.wait()
                await self.step()
        finally:
            while (waiting := self._take()) is not None:
                _finish(waiting, Sent(ReplyStatus.DROPPED, reason("stopped")))

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
            why = self._reason_to_drop(message, now)
            await (self._drop(waiting, why) if why else self._deliver(waiting))
        except (
            StoreError
        ) as error:  # without its row a message could be sent twice: so it is not sent at all
            log.error("message not sent", reply_id=message.reply_id, error=type(error).__name__)
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
        while self._queue:
            waiting = self._queue.popleft()
            if not waiting.done.done():  # else whoever asked has given up
                return waiting
        self._filled.clear()
        self._calm.set()
        return None

    async def _drop_stale(self) -> None:
        now = self._clock.now()
        for waiting in [
            one for one in self._queue if now > one.message.deadline and not one.done.done()
        ]:
            await self._drop(waiting, reason("too_late"))

    def _reason_to_drop(self, message: Outgoing, now: int) -> str:
        if not message.text:
            return reason("nothing_to_say")
        if now > message.deadline:
            return reason("too_late")
        return reason("same_text") if self.pace.is_repeated(message.text, now) else ""

    async def _drop(self, waiting: _Waiting, reason: str) -> None:
        message = waiting.message
        text = (
            "" if await message.reason_to_drop() else message.to_keep
        )  # it may say again what was cleared
        async with self._db.write() as tx:
            await bot_messages.settle(tx, message.reply_id, ReplyStatus.DROPPED, reason, text=text)
        log.info("message dropped", reply_id=message.reply_id, reason=reason)
        _finish(waiting, Sent(ReplyStatus.DROPPED, reason))

    async def _deliver(self, waiting: _Waiting) -> None:
        message, now = waiting.message, self._clock.now()
        async with self._db.write() as tx:
            # asked where nobody else writes: nothing is forgotten between the question and the words' row
            why = await message.reason_to_drop()
            mine = not why and await bot_messages.record_sending(
                tx, message.reply_id, message.to_keep, now
            )
        if why:
            await self._drop(waiting, why)
            return
        # claimed before: by an earlier run, or by another answer to the same line
        if not mine:
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
        known = {OutcomeKind.DONE: ReplyStatus.SENT, OutcomeKind.UNKNOWN: ReplyStatus.UNKNOWN}
        status = known.get(outcome.kind, ReplyStatus.REFUSED)
        # an unknown one may have gone out, and would be refused as a repetition
        if status is not ReplyStatus.REFUSED:
            self.pace.said(message.text, self._clock.now())
        async with self._db.write() as tx:
            await bot_messages.settle(
                tx, message.reply_id, status, outcome.detail, twitch_id=outcome.twitch_id
            )
        if message.kept and outcome.kind is OutcomeKind.DONE and outcome.twitch_id:
            self._overhear(message.text, outcome.twitch_id)
        log.info("message sent", reply_id=message.reply_id, status=status, detail=outcome.detail)
        _finish(waiting, Sent(status, outcome.detail))

    async def _put_back(self, waiting: _Waiting, retry_after_s: float) -> None:
        """Twitch took nothing and named a time: first in the queue again, if it can still be in time."""
        self.pace.pause_until(self._clock.now() + int(retry_after_s * SECOND))
        async with self._db.write() as tx:
            # no longer `sending`, so that a crash while it waits does not make its fate unknown
            await bot_messages.settle(
                tx, waiting.message.reply_id, ReplyStatus.SILENT, reason("asked_to_wait"), text=""
            )
        self._queue.appendleft(waiting)
        self._filled.set()


def _finish(waiting: _Waiting, sent: Sent) -> None:
    if not waiting.done.done():
        waiting.done.set_result(sent)


WINDOW_MS = 30 * SECOND
# Twitch silences a bot that sends more than this in 30 s for half an hour.
PER_WINDOW, PER_WINDOW_AS_MODERATOR = 20, 100


class SendRateLimiter:
    """Counts recent messages against Twitch's limits.

    `wide`: whether the higher limit of moderators applies. `slow_ms`: how long slow mode makes the bot wait between two
    messages.
    """

    def __init__(
        self, per_window: int = PER_WINDOW, *, slow_ms: Callable[[], int] = lambda: 0
    ) -> None:
        self._per_window = per_window
        self._slow_ms = slow_ms
        self._called_at: list[int] = []
        self._last_call_at: int | None = None
        self._said_at: dict[str, int] = {}
        self._not_before = 0
        self.wide: Callable[[], bool] = lambda: False

    def call_begins(self, now: int) -> None:
        """A message is handed to Twitch."""
        self._called_at.append(now)
        self._last_call_at = now

    def call_ended(self, now: int) -> None:
        """Twitch may have had the message only now, so its window runs from here."""
        # the newest is this call's, or that of a line without a row beside it: seconds apart, and the number is right
        self._called_at[-1:] = [now]
        self._last_call_at = now

    def pause_until(self, at: int) -> None:
        """Pause until that time, as Twitch asked."""
        self._not_before = at

    def said(self, text: str, at: int) -> None:
        """A text went out, or may have."""
        self._said_at[text.casefold()] = at

    def is_repeated(self, text: str, now: int) -> bool:
        """Whether Twitch would refuse a text as said in the last 30 s."""
        self._said_at = {said: at for said, at in self._said_at.items() if at > now - WINDOW_MS}
        return text.casefold() in self._said_at

    def free_at(self, now: int, ahead: int) -> int:
        """When there is a place for one more message behind `ahead` others."""
        return max(self._window_free_at(now, ahead), self._slow_free_at(now, ahead))

    def _slow_free_at(self, now: int, ahead: int) -> int:
        gap = self._slow_ms()
        if not gap or self._last_call_at is None:
            return now + ahead * gap
        return max(now, self._last_call_at + gap) + ahead * gap

    def _window_free_at(self, now: int, ahead: int) -> int:
        over = self._taken(now, ahead) - self._limit
        if over < 0:
            return max(now, self._not_before)
        rounds, place = divmod(over, self._limit)
        first = self._called_at[place] if place < len(self._called_at) else now
        return max(first + WINDOW_MS * (rounds + 1), self._not_before)

    def is_crowded(self, now: int, ahead: int) -> bool:
        """Whether, behind `ahead` others, only those places are left that are kept for replies: a quarter of them.

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
        return PER_WINDOW_AS_MODERATOR if self.wide() else self._per_window
