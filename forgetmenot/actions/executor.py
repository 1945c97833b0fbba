"""Takes a proposal the whole way: facts, decision, log, deed, and the words that fit.

    carried = await executor.carry_out(proposal, context)

Promises: decided by the policy alone; carried out at most once per `context.key`, whatever dies in between; class B
and C ask Twitch about immunity first; what is said (`words_hint`) never claims what was not done.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from forgetmenot.actions import lines
from forgetmenot.actions.catalogue import find
from forgetmenot.actions.entry import Action, Hands, Job
from forgetmenot.actions.facts import Facts, Immunity
from forgetmenot.actions.gather import ActionContext, FactGatherer, resting_times
from forgetmenot.actions.perform import Performer, revert_time
from forgetmenot.actions.policy import decide
from forgetmenot.clock import Clock
from forgetmenot.domain.action import Decision, Outcome, Proposal, Verdict
from forgetmenot.logs import log
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, cooldowns
from forgetmenot.store.action_logs import NewAction, Status
from forgetmenot.store.database import Database

__all__ = ["ActionContext", "Carried", "Executor"]

ALLOWED = frozenset({Verdict.ALLOW, Verdict.ALLOW_CHANGED})
_STATUS = {Verdict.ASK: Status.WAITING, Verdict.DENY: Status.DENIED}


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of a proposal. `words_hint`: say this instead of the model's words; empty: they may go out."""

    decision: Decision
    outcome: Outcome | None
    words_hint: str
    log_id: int | None = None


class Executor:
    """Decides and acts. `room_modes`: what is on when a person approves."""

    def __init__(
        self,
        *,
        db: Database,
        hands: Hands,
        settings: Callable[[], Settings],
        clock: Clock,
        room_modes: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self.performer = Performer(db=db, hands=hands, settings=settings, clock=clock)
        self.gatherer = FactGatherer(db, room_modes)
        self._db = db
        self._settings = settings
        self._clock = clock

    async def carry_out(self, proposal: Proposal, context: ActionContext) -> Carried:
        """Decide, act, and tell what may be said."""
        settings, now = self._settings(), self._clock.now()
        facts = await self.gatherer.facts(proposal, context, settings, now)
        action = find(proposal.name)
        decision, facts = await self.decide_with_twitch(proposal, action, facts, settings, now)
        row = _new_row(proposal, action, decision, facts, context, settings, now)
        row_id = await self._log(row, action, facts, settings, now)
        log.info(
            "proposal",
            action=row_id,
            name=action.name if action else "unknown",
            verdict=decision.verdict,
            rule=decision.rule,
        )
        if row_id is None:
            return Carried(_again(decision), None, lines.harmless(proposal.otherwise))
        target = facts.target.display_name or facts.target.login if facts.target else ""
        outcome = None
        if action is not None and decision.verdict in ALLOWED:
            outcome = await self.performer.perform(action, row_id, _job(decision, facts, context.event.id))
        words = lines.words_for(
            decision,
            outcome,
            proposal.name,
            proposal.otherwise,
            log_id=row_id,
            target=target,
            words=context.words,
        )
        return Carried(decision, outcome, words, row_id)

    async def decide_with_twitch(
        self, proposal: Proposal, action: Action | None, facts: Facts, settings: Settings, now: int
    ) -> tuple[Decision, Facts]:
        """Decide; where that allows harm, ask Twitch whether the target is immune, and decide again."""
        recent = await self.gatherer.recent(action, facts, now)
        decision = decide(proposal, facts, settings, recent, now)
        if decision.verdict not in ALLOWED or action is None or not action.harms or facts.target is None:
            return decision, facts
        answer = {True: Immunity.YES, False: Immunity.NO, None: Immunity.UNREACHABLE}
        asked = replace(facts, immunity=answer[await self.performer.is_immune(facts.target.id)])
        return decide(proposal, asked, settings, recent, now), asked

    async def _log(
        self, row: NewAction, action: Action | None, facts: Facts, settings: Settings, now: int
    ) -> int | None:
        """Write the row; where it is to run now, with its cooldowns in the same transaction."""
        async with self._db.write() as tx:
            row_id = await action_logs.insert(tx, row)
            if row_id is not None and action is not None and row.status is Status.RUNNING:
                await cooldowns.rest(tx, resting_times(action, facts, settings, now))
        return row_id


def _new_row(
    proposal: Proposal,
    action: Action | None,
    decision: Decision,
    facts: Facts,
    context: ActionContext,
    settings: Settings,
    now: int,
) -> NewAction:
    status = _STATUS.get(decision.verdict, Status.RUNNING)
    return NewAction(
        key=context.key,
        at=now,
        name=proposal.name[:32],
        kind=str(action.kind) if action else "",
        params=decision.params,
        verdict=str(decision.verdict),
        rule=decision.rule,
        reason=decision.reason,
        status=status,
        asked_by=facts.asker.id,
        target_id=facts.target.id if facts.target else None,
        bot_message_id=context.bot_message_id,
        expires_at=now + settings.actions.approval_expires_s * 1_000 if status is Status.WAITING else None,
        revert_at=revert_time(action, decision.params, now) if action and status is Status.RUNNING else None,
    )


def _job(decision: Decision, facts: Facts, line: str) -> Job:
    login, message = (facts.target.login, facts.target.message_id) if facts.target else ("", "")
    return Job(params=decision.params, asked_by=facts.asker.id, target_login=login, message_id=message, line=line)


def _again(decision: Decision) -> Decision:
    return Decision(Verdict.DENY, "once", "This was taken up before.", decision.params)
