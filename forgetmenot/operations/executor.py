"""Decides and carries out a proposal: facts, decision, log, call, and the words for chat.

    carried = await executor.carry_out(proposal, context)

Guarantees:
- The policy alone decides.
- At most one execution per `context.key`, whatever crashes in between.
- Class B and C ask Twitch about immunity first.
- `words_hint` never claims what was not done.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import SECOND, Clock
from forgetmenot.domain import Decision, Outcome, OutcomeKind, Proposal, Verdict
from forgetmenot.errors import ForgetMeNotError, TwitchRefused, TwitchUnavailable
from forgetmenot.languages import in_language, reason
from forgetmenot.logs import log
from forgetmenot.operations import wording
from forgetmenot.operations.catalogue import find
from forgetmenot.operations.facts import ActionContext, FactGatherer
from forgetmenot.operations.policy import decide
from forgetmenot.operations.types import Action, ActionCall, ActionPorts, PersonFacts, PolicyFacts, Runner
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, LoggedAction, NewAction
from forgetmenot.store.database import Database

ALLOWED = frozenset({Verdict.ALLOW, Verdict.ALLOW_CHANGED})
_STATUS = {Verdict.ASK: ActionStatus.WAITING, Verdict.DENY: ActionStatus.DENIED}
# After that an action's outcome is unknown, of which nothing is claimed.
TWITCH_ANSWERS_WITHIN_S = 3.0
_KINDS: tuple[tuple[type[ForgetMeNotError], OutcomeKind], ...] = (
    (TwitchUnavailable, OutcomeKind.UNKNOWN),  # the answer was lost: it may have been done
    (TwitchRefused, OutcomeKind.REFUSED),
    (ForgetMeNotError, OutcomeKind.FAILED),
)


class ExecutedProposal(Struct, frozen=True):
    """The result of a proposal. `words_hint` replaces the model's words; empty: they may be sent."""

    decision: Decision
    outcome: Outcome | None
    words_hint: str
    log_id: int | None = None


class Executor:
    """Decides, acts and records. `room_modes` returns the channel's modes at the time of an approval."""

    def __init__(
        self,
        *,
        db: Database,
        ports: ActionPorts,
        settings: Callable[[], Settings],
        clock: Clock,
        room_modes: Callable[[], frozenset[str]] = frozenset,
        timeout_s: float = TWITCH_ANSWERS_WITHIN_S,
    ) -> None:
        self.gatherer = FactGatherer(db, room_modes)
        self.db = db
        self.settings = settings
        self.clock = clock
        self.timeout_s = timeout_s
        self._ports = ports

    async def carry_out(self, proposal: Proposal, context: ActionContext) -> ExecutedProposal:
        """Decide and act; the result says what may be sent."""
        settings, now = self.settings(), self.clock.now()
        facts = await self.gatherer.facts(proposal, context, settings, now)
        action = find(proposal.name)
        decision, facts = await self.decide_with_twitch(proposal, action, facts, settings, now)
        row = _new_row(proposal, action, decision, facts, context, settings, now)
        # written before anything is done: the unique key is what keeps a second run of it away
        async with self.db.write() as tx:
            row_id = await action_logs.insert(tx, row)
        log.info(
            "proposal",
            action=row_id,
            name=action.name if action else "unknown",
            verdict=decision.verdict,
            rule=decision.rule,
        )
        if row_id is None:
            return ExecutedProposal(
                Decision(Verdict.DENY, "already_handled", reason("already_handled"), decision.params),
                None,
                wording.harmless(proposal.if_refused, in_language(settings.bot.language)),
            )
        target = facts.target.display_name or facts.target.login if facts.target else ""
        outcome = None
        if action is not None and decision.verdict in ALLOWED:
            outcome = await self.perform(action, row_id, call_of(row, facts.target, context.event.id))
        # in a preview, which nobody but the streamer reads, the words of the model stand as they would in chat
        previewed = decision.rule == "silent_preview"
        if previewed or _nobody_asked(proposal, decision, facts):
            return ExecutedProposal(decision, None, "", row_id)
        line = wording.line_for(
            decision,
            outcome,
            proposal,
            target=target,
            say=context.words,
            log_id=row_id,
            moderates=facts.asker.privileged,
            language=in_language(settings.bot.language),
        )
        return ExecutedProposal(decision, outcome, line, row_id)

    async def decide_with_twitch(
        self, proposal: Proposal, action: Action | None, facts: PolicyFacts, settings: Settings, now: int
    ) -> tuple[Decision, PolicyFacts]:
        """Decide; before a harmful action, ask Twitch whether the target is immune and decide again."""
        recent = await self.gatherer.recent(action, facts, settings.actions, now)
        decision = decide(proposal, facts, settings, recent, now)
        if decision.verdict not in ALLOWED or action is None or not action.harms or facts.target is None:
            return decision, facts
        asked = replace(facts, immune=await self._in_time(self._ports.moderation.is_immune(facts.target.id)))
        return decide(proposal, asked, settings, recent, now), asked

    async def perform(self, action: Action, row_id: int, call: ActionCall) -> Outcome:
        """Carry out a `running` row and settle it."""
        outcome = await self.call(action.run, call)
        clip = action.name == "clip" and outcome.twitch_id  # Twitch gives no list by which it could be found later
        detail = f"https://clips.twitch.tv/{clip}" if clip else outcome.detail
        async with self.db.write() as tx:
            await action_logs.settle(tx, row_id, ActionStatus(outcome.kind), detail, self.clock.now())
        log.info("action", action=row_id, name=action.name, outcome=outcome.kind)
        return outcome

    async def call(self, runner: Runner, call: ActionCall) -> Outcome:
        """One call, given up after `timeout_s`."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await runner(self._ports, call)
        except TimeoutError:
            return Outcome(OutcomeKind.UNKNOWN, reason("in_time"))
        except ForgetMeNotError as error:
            return Outcome(next(kind for type_, kind in _KINDS if isinstance(error, type_)), str(error))

    async def _in_time(self, asking: Awaitable[bool | None]) -> bool | None:
        """What Twitch says; None where it could not be asked."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await asking
        except (TimeoutError, ForgetMeNotError):
            return None


def _nobody_asked(proposal: Proposal, decision: Decision, facts: PolicyFacts) -> bool:
    """Whether an action was denied for a line that asks for nothing: its words answer better than a refusal."""
    return facts.asks_nothing and decision.verdict is Verdict.DENY and proposal.name not in facts.asked_for


def _new_row(
    proposal: Proposal,
    action: Action | None,
    decision: Decision,
    facts: PolicyFacts,
    context: ActionContext,
    settings: Settings,
    now: int,
) -> NewAction:
    status = _STATUS.get(decision.verdict, ActionStatus.RUNNING)
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
        expires_at=now + settings.actions.approval_expires_s * 1_000 if status is ActionStatus.WAITING else None,
        # in the row from the start, so that a temporary mode is undone even if the bot dies right after the call
        revert_at=revert_time(action, decision.params, now) if action and status is ActionStatus.RUNNING else None,
    )


def call_of(row: NewAction | LoggedAction, target: PersonFacts | None = None, line: str = "") -> ActionCall:
    """The call of a row. `line`: the id of the line that asks for it, if it is done at once."""
    return ActionCall(row.params, row.asked_by or "", target.message_id if target else "", row.at, line)


def revert_time(action: Action, params: Mapping[str, str], now: int) -> int | None:
    """When an action must be reverted, in ms; None if it stays."""
    return now + int(params["seconds"]) * 1_000 if action.reverts else None


def undoable(row: LoggedAction, now: int) -> Action | None:
    """The action of a row if it can be undone; None for one that has ended by itself, as a timeout does."""
    action = find(row.name)
    if row.status not in {ActionStatus.DONE, ActionStatus.UNKNOWN} or action is None or action.undo is None:
        return None
    ends = (row.finished_at or row.at) + int(row.params.get("seconds", 0)) * SECOND
    ended = "seconds" in row.params and not action.reverts and ends <= now
    return None if ended else action
