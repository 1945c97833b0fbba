"""Actions that wait for a person: list, approve, deny, undo; and the end of actions that last for a time only.

Guarantees:
- A waiting action expires after `approval_expires_s`.
- Approving decides again with fresh facts and acts at most once.
- What a crash interrupted is unknown, and never repeated.
- A timed action is reverted, also after a crash; this is retried while Twitch is unreachable.

The caller checks who may approve.
"""

from collections.abc import Callable

from forgetmenot.clock import HOUR, SECOND
from forgetmenot.domain import Decision, OperationResult, Outcome, OutcomeKind, Proposal
from forgetmenot.languages import Language, in_language, reason
from forgetmenot.logs import log
from forgetmenot.operations import wording
from forgetmenot.operations.catalogue import find
from forgetmenot.operations.executor import ALLOWED, Executor, call_of, revert_time, undoable
from forgetmenot.operations.types import Action
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, LoggedAction

TRY_AGAIN = 15 * SECOND
GIVE_UP = HOUR


class Approvals:
    """The queue, on top of an Executor."""

    def __init__(self, executor: Executor, *, mode_off: Callable[[str], None] = lambda _mode: None) -> None:
        """`mode_off` is called with a channel mode (catalogue: `mode`) that the bot has switched off again."""
        self._executor = executor
        self._db, self._clock = executor.db, executor.clock
        self._mode_off = mode_off

    async def approve(self, action_id: int, by: str) -> OperationResult:
        """Carry out a waiting action if the policy still allows it."""
        row = await action_logs.get(self._db, action_id)
        now, settings = self._clock.now(), self._executor.settings()
        if row is None or row.status is not ActionStatus.WAITING or (row.expires_at or 0) <= now:
            return _result("not_waiting", action_id)
        facts = await self._executor.gatherer.facts_again(row, by, settings, now)
        action = find(row.name)
        proposal = Proposal(row.name, row.params)
        # minutes have passed: the target may have left, been made a moderator, or been timed out by somebody
        decision, facts = await self._executor.decide_with_twitch(proposal, action, facts, settings, now)
        if action is None or decision.verdict not in ALLOWED:
            return await self._too_late(action_id, by, decision)
        async with self._db.write() as tx:
            revert_at = revert_time(action, row.params, now)
            # dock and chat may approve at the same moment: one of them gets the row
            claimed = await action_logs.claim(tx, action_id, now, decided_by=by, revert_at=revert_at)
        if not claimed:
            return _result("not_waiting", action_id)
        outcome = await self._executor.perform(action, action_id, call_of(row, facts.target))
        return _done(
            row, outcome, facts.target.display_name if facts.target else "", in_language(settings.bot.language)
        )

    async def deny(self, action_id: int, by: str) -> OperationResult:
        """Refuse a waiting action. `by`: who decided, for the log."""
        why = "denied_by_moderator"
        async with self._db.write() as tx:
            now = self._clock.now()
            ok = await action_logs.deny(tx, action_id, by=by, rule=why, reason=reason(why), now=now)
        return _result("denied" if ok else "not_waiting", action_id, ok=ok)

    async def undo(self, by: str, action_id: int | None = None) -> OperationResult:
        """Undo one action, or the last one of this hour that can be undone."""
        row = await self._to_undo(action_id)
        if row is None:
            return _result("nothing_to_undo" if action_id is None else "cannot_undo", action_id or 0)
        async with self._db.write() as tx:
            asked = await action_logs.ask_for_undo(tx, row.id, by=by, now=self._clock.now())
        if asked:
            await self.take_back()
        after = await action_logs.get(self._db, row.id)
        if after is not None and after.status is ActionStatus.UNDONE:
            return _result("undone", row.id, ok=True, action=row.name)
        again = after is not None and after.revert_at is not None
        return _result("undo_later" if again else "cannot_undo", row.id, action=row.name)

    async def start(self) -> None:
        """At start: settle what a crash interrupted, without repeating it, and revert what is due."""
        for row in await action_logs.running(self._db):
            async with self._db.write() as tx:
                await action_logs.settle(tx, row.id, ActionStatus.UNKNOWN, reason("stopped"), self._clock.now())
            log.warning("an action was interrupted", action=row.id, name=row.name)
        await self.take_back()

    async def work_off(self) -> None:
        """Every second or so: expire old proposals, revert what is due."""
        await action_logs.expire(self._db, self._clock.now())
        await self.take_back()

    async def take_back(self) -> None:
        """Revert what is due."""
        for row in await action_logs.due_for_revert(self._db, self._clock.now()):
            await self._take_back(row)

    async def _take_back(self, row: LoggedAction) -> None:
        action = undoable(row, self._clock.now())
        outcome = await self._undone(action, row)
        if action is not None and action.mode and outcome.kind is OutcomeKind.DONE:
            self._mode_off(action.mode)
        now = self._clock.now()
        # a temporary mode is tried for an hour whatever Twitch answers; another undo ends with a refusal
        over = (now - (row.finished_at or row.at) > GIVE_UP) if action and action.reverts else _refused(outcome)
        async with self._db.write() as tx:
            if outcome.kind is OutcomeKind.DONE:
                await action_logs.set_revert(tx, row.id, None, reason("undone"), ActionStatus.UNDONE)
            elif over:
                await action_logs.set_revert(tx, row.id, None, reason("not_undone", reason=outcome.detail))
            else:
                later = reason("not_undone", reason=outcome.detail)
                await action_logs.set_revert(tx, row.id, now + TRY_AGAIN, later)
        log.info("action taken back", action=row.id, name=row.name, outcome=outcome.kind)

    async def _undone(self, action: Action | None, row: LoggedAction) -> Outcome:
        """What came of undoing a row. `action`: None where it can no longer be undone."""
        if action is None or action.undo is None:
            return Outcome(OutcomeKind.REFUSED, reason("ended"))
        return await self._executor.call(action.undo, call_of(row))

    async def _too_late(self, action_id: int, by: str, decision: Decision) -> OperationResult:
        async with self._db.write() as tx:
            await action_logs.deny(
                tx, action_id, by=by, rule=decision.rule, reason=decision.reason, now=self._clock.now()
            )
        return _result("approval_denied", action_id, reason=decision.reason)

    async def _to_undo(self, action_id: int | None) -> LoggedAction | None:
        if action_id is not None:
            row = await action_logs.get(self._db, action_id)
            return row if row is not None and undoable(row, self._clock.now()) else None
        rows = await action_logs.latest(self._db, 50, (ActionStatus.DONE, ActionStatus.UNKNOWN))
        now = self._clock.now()
        return next((row for row in rows if (row.finished_at or row.at) >= now - HOUR and undoable(row, now)), None)


def _refused(outcome: Outcome) -> bool:
    return outcome.kind is OutcomeKind.REFUSED


def _done(row: LoggedAction, outcome: Outcome, target: str, language: Language) -> OperationResult:
    if outcome.kind is OutcomeKind.DONE:
        return _result(
            "approved",
            row.id,
            ok=True,
            line=wording.done_line(row.name, row.params, target, language),
        )
    return _result("approved_unknown" if outcome.kind is OutcomeKind.UNKNOWN else "approved_failed", row.id)


def _result(code: str, action_id: int, *, ok: bool = False, **data: object) -> OperationResult:
    return OperationResult(ok=ok, code=code, data={"id": action_id, **data})
