"""Carries one decided action out: at most 3 s, exactly one call, and the truth about it in the log.

Promises: the row is `running` before the call, so that it is never made twice; every error of Twitch is an outcome;
no answer in time is `unknown`, of which nothing may be claimed; three results of a kind in a row that were not
success switch the action off. Does not decide.
"""

import asyncio
from collections.abc import Callable, Mapping

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.entry import Action, Hands, Job, Runner
from forgetmenot.actions.switches import FAILING, SWITCHED_ON
from forgetmenot.clock import SECOND, Clock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.errors import ForgetMeNotError, TwitchRefused, TwitchUnavailable
from forgetmenot.logs import log
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, channel_state
from forgetmenot.store.action_logs import LoggedAction, Status
from forgetmenot.store.database import Database

IN_A_ROW = 3
_KINDS: tuple[tuple[type[ForgetMeNotError], OutcomeKind], ...] = (
    (TwitchUnavailable, OutcomeKind.UNKNOWN),  # the answer was lost: the deed may be done
    (TwitchRefused, OutcomeKind.REFUSED),
    (ForgetMeNotError, OutcomeKind.FAILED),
)
_BAD = frozenset({Status.REFUSED, Status.FAILED, Status.UNKNOWN})


class Performer:
    """Calls the hands and writes down what came of it."""

    def __init__(self, *, db: Database, hands: Hands, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._hands = hands
        self._settings = settings
        self._clock = clock

    async def perform(self, action: Action, row_id: int, job: Job) -> Outcome:
        """Do what a `running` row says, and settle the row."""
        outcome = await self.call(action.run, job)
        async with self._db.write() as tx:
            await action_logs.settle(tx, row_id, Status(outcome.kind), outcome.detail, self._clock.now())
        log.info("action", action=row_id, name=action.name, outcome=outcome.kind)
        if outcome.kind is not OutcomeKind.DONE:
            await self._switch_off_if_failing(action.name)
        return outcome

    async def call(self, runner: Runner, job: Job) -> Outcome:
        """One call, with its end after the settings' 3 s."""
        try:
            async with asyncio.timeout(self._settings().actions.execute_timeout_s):
                return await runner(self._hands, job)
        except TimeoutError:
            return Outcome(OutcomeKind.UNKNOWN, "TimeoutError: no answer in time")
        except ForgetMeNotError as error:
            return Outcome(_kind(error), f"{type(error).__name__}: {error}")

    async def look_up(self, action: Action | None, job: Job) -> bool | None:
        """Whether what was begun holds at Twitch; None where Twitch cannot tell, or could not be asked."""
        if action is None or action.lookup is None:
            return None
        try:
            async with asyncio.timeout(self._settings().actions.execute_timeout_s):
                return await action.lookup(self._hands, job, self._clock.now())
        except (TimeoutError, ForgetMeNotError):
            return None

    async def is_immune(self, user_id: str) -> bool | None:
        """What Twitch says; None where it could not be asked."""
        try:
            async with asyncio.timeout(self._settings().actions.execute_timeout_s):
                return await self._hands.moderation.is_immune(user_id)
        except (TimeoutError, ForgetMeNotError):
            return None

    async def _switch_off_if_failing(self, name: str) -> None:
        since = int(await channel_state.read(self._db, SWITCHED_ON + name) or 0)
        last = [row for row in await action_logs.last_results(self._db, name, IN_A_ROW) if row.at > since]
        if len(last) < IN_A_ROW or not all(row.status in _BAD for row in last):
            return
        if len({(row.status, row.detail.split(":")[0]) for row in last}) > 1:
            return
        now = self._clock.now()
        async with self._db.write() as tx:
            await channel_state.put(tx, {FAILING + name: last[0].detail or str(last[0].status)}, now)
        log.warning("an action is switched off after three failures of a kind", name=name, outcome=last[0].status)


def job_of(row: LoggedAction, login: str = "", message_id: str = "") -> Job:
    """What a logged row asks to be done."""
    return Job(row.params, asked_by=row.asked_by or "", target_login=login, message_id=message_id, at=row.at)


def revert_time(action: Action, params: Mapping[str, str], now: int) -> int | None:
    """When an action that is always taken back must be."""
    return now + int(params["seconds"]) * 1_000 if action.reverts else None


def undoable(row: LoggedAction, now: int) -> Action | None:
    """The action of a row whose effect can be taken back; None for one that has ended by itself, as a timeout does."""
    action = find(row.name)
    if row.status not in {Status.DONE, Status.UNKNOWN} or action is None or action.undo is None:
        return None
    ends = (row.finished_at or row.at) + int(row.params.get("seconds", 0)) * SECOND
    ended = "seconds" in row.params and not action.reverts and ends <= now
    return None if ended else action


def _kind(error: ForgetMeNotError) -> OutcomeKind:
    return next(kind for type_, kind in _KINDS if isinstance(error, type_))
