"""What waits for a person: the list, yes, no, undo, and taking back what never stays.

Promises: a waiting action lapses after its five minutes; approving decides again with fresh facts and acts at most
once; what a crash interrupted is looked up at Twitch, and never done again; what must be taken back is, also after a
crash, and is tried again while Twitch is away. Who may approve is the caller's to check.
"""

from collections.abc import Callable
from dataclasses import dataclass

from forgetmenot.actions import lines
from forgetmenot.actions.catalogue import find
from forgetmenot.actions.executor import ALLOWED, Executor
from forgetmenot.actions.perform import job_of, revert_time, undoable
from forgetmenot.clock import HOUR, SECOND, Clock
from forgetmenot.domain.action import Decision, Outcome, OutcomeKind, Proposal
from forgetmenot.logs import log
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import LoggedAction, Status
from forgetmenot.store.database import Database

TRY_AGAIN = 15 * SECOND
GIVE_UP = HOUR
_NOTHING_TO_UNDO = "Nothing of the last hour can be undone. !undo 3 takes back #3."
_LEFT = {
    True: (Status.DONE, "asked at the next start, Twitch says that it is so"),
    False: (Status.FAILED, "asked at the next start, Twitch says that it is not so"),
    None: (Status.UNKNOWN, "Twitch could not be asked, or cannot tell"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person's yes, no or undo led to, as one sentence to say."""

    ok: bool
    line: str


class Approvals:
    """The queue, on top of an Executor."""

    def __init__(
        self,
        executor: Executor,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
        mode_off: Callable[[str], None] = lambda _mode: None,
    ) -> None:
        """`mode_off` is told of a room's mode (catalogue: `mode`) that the bot has switched off again."""
        self._executor = executor
        self._mode_off = mode_off
        self._db = db
        self._settings = settings
        self._clock = clock

    async def waiting(self) -> list[LoggedAction]:
        """What waits for a person, oldest first."""
        return await action_logs.waiting(self._db, self._clock.now())

    async def approve(self, action_id: int, by: str) -> Answer:
        """Carry a waiting action out, if it still may be."""
        row = await action_logs.get(self._db, action_id)
        now, settings = self._clock.now(), self._settings()
        if row is None or row.status is not Status.WAITING or (row.expires_at or 0) <= now:
            return Answer(ok=False, line=f"#{action_id} is not waiting.")
        facts = await self._executor.gatherer.facts_again(row, by, settings, now)
        action = find(row.name)
        proposal = Proposal(row.name, row.params)
        decision, facts = await self._executor.decide_with_twitch(proposal, action, facts, settings, now)
        if action is None or decision.verdict not in ALLOWED:
            return await self._too_late(action_id, by, decision)
        async with self._db.write() as tx:
            revert_at = revert_time(action, row.params, now)
            claimed = await action_logs.claim(tx, action_id, now, decided_by=by, revert_at=revert_at)
        if not claimed:
            return Answer(ok=False, line=f"#{action_id} is not waiting.")
        login, message = (facts.target.login, facts.target.message_id) if facts.target else ("", "")
        outcome = await self._executor.performer.perform(action, action_id, job_of(row, login, message))
        return _told(row, outcome, login)

    async def deny(self, action_id: int, by: str) -> Answer:
        """Refuse a waiting action."""
        async with self._db.write() as tx:
            done = await action_logs.refuse(
                tx, action_id, by=by, rule="person", reason="A person refused it.", now=self._clock.now()
            )
        return Answer(ok=done, line=f"#{action_id} is refused." if done else f"#{action_id} is not waiting.")

    async def undo(self, by: str, action_id: int | None = None) -> Answer:
        """Take back one action, or the last one of this hour that can be."""
        row = await self._to_undo(action_id)
        if row is None:
            return Answer(ok=False, line=_NOTHING_TO_UNDO if action_id is None else f"#{action_id} cannot be undone.")
        async with self._db.write() as tx:
            asked = await action_logs.ask_for_undo(tx, row.id, by=by, now=self._clock.now())
        if asked:
            await self.take_back()
        after = await action_logs.get(self._db, row.id)
        if after is not None and after.status is Status.UNDONE:
            return Answer(ok=True, line=f"#{row.id} ({row.name}) is undone.")
        again = after is not None and after.revert_at is not None
        how = "is not undone yet; it is tried again" if again else "could not be undone: Twitch refused"
        return Answer(ok=False, line=f"#{row.id} ({row.name}) {how}.")

    async def start(self) -> None:
        """After a start: nothing that a crash interrupted is repeated, and what must be taken back is."""
        for row in await action_logs.running(self._db):
            await self._settle_left(row)
        await self.take_back()

    async def work_off(self) -> None:
        """Every second or so: let lapse what waited too long, take back what is due, do what others approved."""
        now = self._clock.now()
        for row in await action_logs.approved_elsewhere(self._db, now):
            await self.approve(row.id, row.decided_by or "")
        if await action_logs.any_lapsed(self._db, now):
            async with self._db.write() as tx:
                await action_logs.expire(tx, now)
        await self.take_back()

    async def take_back(self) -> None:
        """Take back what is due."""
        for row in await action_logs.due_for_revert(self._db, self._clock.now()):
            await self._take_back(row)

    async def _settle_left(self, row: LoggedAction) -> None:
        """What became of what a crash left running: Twitch is asked, where it can tell."""
        holds = await self._executor.performer.look_up(find(row.name), job_of(row))
        status, said = _LEFT[holds]
        async with self._db.write() as tx:
            await action_logs.settle(tx, row.id, status, f"The program stopped meanwhile; {said}.", self._clock.now())
        log.warning("an action was interrupted", action=row.id, name=row.name, outcome=status)

    async def _take_back(self, row: LoggedAction) -> None:
        action = undoable(row, self._clock.now())
        if action is None or action.undo is None:
            outcome = Outcome(OutcomeKind.REFUSED, "it has ended, or it cannot be taken back")
        else:
            outcome = await self._executor.performer.call(action.undo, job_of(row))
            if _refused(outcome) and await self._executor.performer.look_up(action, job_of(row)) is False:
                # Somebody was faster, or a crash came between the deed and its note.
                outcome = Outcome(OutcomeKind.DONE)
        if action is not None and action.mode and outcome.kind is OutcomeKind.DONE:
            self._mode_off(action.mode)
        now = self._clock.now()
        over = (now - (row.finished_at or row.at) > GIVE_UP) if action and action.reverts else _refused(outcome)
        async with self._db.write() as tx:
            if outcome.kind is OutcomeKind.DONE:
                await action_logs.reverted(tx, row.id, Status.UNDONE, "taken back")
            elif over:
                await action_logs.reverted(tx, row.id, row.status, f"not taken back: {outcome.detail}")
            else:
                await action_logs.postpone_revert(tx, row.id, now + TRY_AGAIN, f"not yet taken back: {outcome.detail}")
        log.info("action taken back", action=row.id, name=row.name, outcome=outcome.kind)

    async def _too_late(self, action_id: int, by: str, decision: Decision) -> Answer:
        async with self._db.write() as tx:
            await action_logs.refuse(
                tx, action_id, by=by, rule=decision.rule, reason=decision.reason, now=self._clock.now()
            )
        return Answer(ok=False, line=f"#{action_id} cannot be done: {decision.reason}")

    async def _to_undo(self, action_id: int | None) -> LoggedAction | None:
        if action_id is not None:
            row = await action_logs.get(self._db, action_id)
            return row if row is not None and undoable(row, self._clock.now()) else None
        rows = await action_logs.latest(self._db, 50, (Status.DONE, Status.UNKNOWN))
        now = self._clock.now()
        return next((row for row in rows if (row.finished_at or row.at) >= now - HOUR and undoable(row, now)), None)


def _refused(outcome: Outcome) -> bool:
    return outcome.kind is OutcomeKind.REFUSED


def _told(row: LoggedAction, outcome: Outcome, login: str) -> Answer:
    if outcome.kind is OutcomeKind.DONE:
        return Answer(ok=True, line=lines.done_line(row.name, row.params, login) or "Done.")
    if outcome.kind is OutcomeKind.UNKNOWN:
        return Answer(ok=False, line=f"#{row.id}: Twitch did not answer in time; it may or may not be done.")
    return Answer(ok=False, line=f"#{row.id} did not work.")
