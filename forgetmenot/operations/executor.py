"""Carries out what the model proposes, at once or when a person approves; undoes it.

    carried = await executor.carry_out(proposal, context)

Guarantees:
- operations/policy alone decides; approving decides again with fresh facts.
- At most one execution per `context.key`, whatever crashes in between. What a crash interrupted is unknown, and never
  repeated.
- Before anybody is harmed, Twitch is asked whether they are immune.
- `words_hint` never claims what was not done.
- What waits for a person expires after `approval_expires_s`.
- A timed action is reverted, also after a crash; this is retried while Twitch is unreachable.

The caller checks who may approve.
"""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import (
    Decision,
    OperationResult,
    Outcome,
    OutcomeKind,
    Proposal,
    Verdict,
)
from forgetmenot.durations import HOUR, SECOND
from forgetmenot.errors import ForgetMeNotError, TwitchRefused, TwitchUnavailable
from forgetmenot.languages import Language, in_language, reason
from forgetmenot.logs import log
from forgetmenot.operations import facts, wording
from forgetmenot.operations.actions import find, scopes_of
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.policy import decide
from forgetmenot.operations.types import (
    Action,
    ActionCall,
    ActionPorts,
    PersonFacts,
    PolicyFacts,
    Runner,
)
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, viewers
from forgetmenot.store.action_logs import ActionStatus, LoggedAction, NewAction
from forgetmenot.store.database import Database

# What the policy lets run at once.
ALLOWED = frozenset({Verdict.ALLOW, Verdict.ALLOW_CHANGED})
# The first status of a row whose action does not run at once.
_STATUS = {Verdict.ASK: ActionStatus.WAITING, Verdict.DENY: ActionStatus.DENIED}
# Seconds after which an action's outcome is unknown: it is claimed neither as done nor as failed.
TWITCH_ANSWERS_WITHIN_S = 3.0
# How long (ms) after a failed undo the next one is tried, and how long after its action a temporary mode is given up.
RETRY_AFTER = 15 * SECOND
GIVE_UP_AFTER = HOUR


class ExecutedProposal(Struct, frozen=True):
    """The result of a proposal. `words_hint` replaces the model's words; empty: they may be sent."""

    decision: Decision
    outcome: Outcome | None
    words_hint: str
    log_id: int | None = None


class Executor(Struct, kw_only=True):
    """Decides, acts and records.

    `room_modes`: the chat modes that are on in the channel, whoever switched them on; `mode_off` is called with one
    that the bot has switched off again.
    """

    db: Database
    ports: ActionPorts
    settings: Callable[[], Settings]
    clock: Clock
    room_modes: Callable[[], frozenset[str]] = frozenset
    mode_off: Callable[[str], None] = lambda _mode: None
    timeout_s: float = TWITCH_ANSWERS_WITHIN_S

    async def carry_out(
        self, proposal: Proposal, context: ActionContext
    ) -> ExecutedProposal:
        """Decide and act; the result says what may be sent."""
        settings = self.settings()
        now = self.clock.now()
        policy_facts = await facts.gather(
            self.db, proposal, context, self.room_modes(), settings, now
        )
        action = find(proposal.name)
        decision, policy_facts = await self._decide_with_twitch(
            proposal, action, policy_facts, settings, now
        )
        row = _new_row(proposal, action, decision, policy_facts, context, settings, now)
        # Written before anything is done: the row's unique key keeps the proposal from being carried out twice.
        async with self.db.write() as tx:
            row_id = await action_logs.insert(tx, row)
        log.info(
            "proposal",
            action=row_id,
            # A name that is not in the table is a model's words, and those are never logged.
            name=action.name if action else "unknown",
            verdict=decision.verdict,
            rule=decision.rule,
        )
        language = in_language(settings.bot.language)
        if row_id is None:
            return _already_handled(proposal, decision, language)
        outcome = None
        if action is not None and decision.verdict in ALLOWED:
            call = _call_of(row, policy_facts.target, context.event.id)
            outcome = await self._perform(action, row_id, call)
        # Without a hint the model's words stand. In a preview, which only the streamer reads, they show what chat would
        # get; and to what nobody asked for they answer better than a refusal.
        is_preview = decision.rule == "silent_preview"
        if is_preview or _is_unasked_refusal(decision, proposal, policy_facts):
            return ExecutedProposal(decision, None, words_hint="", log_id=row_id)
        is_impossible = decision.rule in wording.IMPOSSIBLE
        if is_impossible and _is_moderators_request(policy_facts, proposal):
            # The streamer and moderators can do something about it, so they read what is missing.
            line = wording.impossible(decision, language)
        else:
            line = wording.line_for(
                decision,
                outcome,
                proposal,
                target=_name_of(policy_facts.target),
                say=context.words,
                log_id=row_id,
                moderates=policy_facts.asker.role.moderates,
                language=language,
            )
        return ExecutedProposal(decision, outcome, line, row_id)

    async def preview(self, proposal: Proposal, context: ActionContext) -> Decision:
        """Return the policy's decision. Nothing is written and Twitch is not asked."""
        settings = self.settings()
        now = self.clock.now()
        policy_facts = await facts.gather(
            self.db, proposal, context, self.room_modes(), settings, now
        )
        action = find(proposal.name)
        policy_facts = replace(policy_facts, obstacle=await self._obstacle(action))
        recent = await facts.recent_decisions(
            self.db, action, policy_facts, settings.actions, now
        )
        return decide(proposal, policy_facts, settings, recent, now)

    async def _obstacle(self, action: Action | None) -> str:
        """Return why an action could not be done at Twitch, whatever is decided; empty where it could. Asks nobody."""
        if action is None or not action.scope:
            return ""
        try:
            return await self.ports.moderation.lacks(scopes_of(action))
        except ForgetMeNotError as error:
            return str(error)

    async def _decide_with_twitch(
        self,
        proposal: Proposal,
        action: Action | None,
        policy_facts: PolicyFacts,
        settings: Settings,
        now: int,
    ) -> tuple[Decision, PolicyFacts]:
        """Decide; before a harmful action, ask Twitch whether the target is immune and decide again."""
        policy_facts = replace(policy_facts, obstacle=await self._obstacle(action))
        recent = await facts.recent_decisions(
            self.db, action, policy_facts, settings.actions, now
        )
        decision = decide(proposal, policy_facts, settings, recent, now)
        if decision.verdict not in ALLOWED:
            return decision, policy_facts
        if action is None or not action.harms or policy_facts.target is None:
            return decision, policy_facts
        # Badges are those of the last message: who was made a moderator since has none yet.
        is_immune = await self._is_immune(policy_facts.target.id)
        policy_facts = replace(policy_facts, immune=is_immune)
        decision = decide(proposal, policy_facts, settings, recent, now)
        return decision, policy_facts

    async def _is_immune(self, viewer_id: str) -> bool | None:
        """Return whether Twitch says that somebody is immune; None where it could not be asked."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self.ports.moderation.is_immune(viewer_id)
        except (TimeoutError, ForgetMeNotError):
            return None

    async def _perform(
        self,
        action: Action,
        row_id: int,
        call: ActionCall,
    ) -> Outcome:
        """Carry out an action whose row is `running`, store what became of it, and return that."""
        outcome = await self._call(action.run, call)
        detail = outcome.detail
        if action.name == "clip" and outcome.twitch_id:
            # Twitch gives no list by which it could be found later
            detail = f"https://clips.twitch.tv/{outcome.twitch_id}"
        status = ActionStatus(outcome.kind)
        async with self.db.write() as tx:
            await action_logs.settle(tx, row_id, status, detail, self.clock.now())
        log.info("action", action=row_id, name=action.name, outcome=outcome.kind)
        return outcome

    async def _call(self, runner: Runner, call: ActionCall) -> Outcome:
        """Make one call, given up after `timeout_s`, and return its outcome."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await runner(self.ports, call)
        except TimeoutError:
            return Outcome(OutcomeKind.UNKNOWN, reason("in_time"))
        except ForgetMeNotError as error:
            return Outcome(_outcome_of(error), str(error))
        except Exception:  # noqa: BLE001  # whatever it is, the row must not stay `running`
            log.exception("an action failed in an unexpected way")
            return Outcome(OutcomeKind.UNKNOWN, reason("internal_error"))

    # What waits for a person.

    async def approve(self, action_id: int, by: str) -> OperationResult:
        """Carry out a waiting action if the policy still allows it."""
        row = await action_logs.get(self.db, action_id)
        now = self.clock.now()
        settings = self.settings()
        if row is None or not _still_waits(row, now):
            return _result("not_waiting", action_id)
        # Minutes have passed: meanwhile the target may have left, become a moderator or been timed out.
        policy_facts = await facts.gather_again(
            self.db, row, by, self.room_modes(), settings, now
        )
        proposal = Proposal(row.name, row.params)
        action = find(row.name)
        decision, policy_facts = await self._decide_with_twitch(
            proposal, action, policy_facts, settings, now
        )
        if action is None or decision.verdict not in ALLOWED:
            async with self.db.write() as tx:
                await action_logs.deny(
                    tx,
                    action_id,
                    by=by,
                    rule=decision.rule,
                    reason=decision.reason,
                    now=now,
                )
            return _result("approval_denied", action_id, reason=decision.reason)
        revert_at = _revert_time(action, row.params, now)
        async with self.db.write() as tx:
            # The dock and chat may approve at the same moment: only one of them claims the row.
            is_claimed = await action_logs.claim(
                tx, action_id, now, decided_by=by, revert_at=revert_at
            )
        if not is_claimed:
            return _result("not_waiting", action_id)
        call = _call_of(row, policy_facts.target)
        outcome = await self._perform(action, action_id, call)
        language = in_language(settings.bot.language)
        return _approval_result(row, outcome.kind, policy_facts.target, language)

    async def deny(self, action_id: int, by: str) -> OperationResult:
        """Refuse a waiting action. `by`: who decided, for the log."""
        rule = "denied_by_moderator"
        now = self.clock.now()
        async with self.db.write() as tx:
            is_denied = await action_logs.deny(
                tx,
                action_id,
                by=by,
                rule=rule,
                reason=reason(rule),
                now=now,
            )
        row = await action_logs.get(self.db, action_id)
        if row is None or not is_denied:
            return _result("not_waiting", action_id)
        target_id = row.target_id or ""
        names = await viewers.names(self.db, [target_id])
        language = in_language(self.settings().bot.language)
        line = wording.denied_line(
            row.name, row.params, names.get(target_id, ""), language
        )
        return _result("denied", action_id, ok=True, about_id=row.target_id, line=line)

    async def work_off(self) -> None:
        """Every second or so: expire old proposals, revert what is due."""
        await action_logs.expire(self.db, self.clock.now())
        await self._revert_due()

    # What is undone, by a person or because its time is over.

    async def undo(self, by: str, action_id: int | None = None) -> OperationResult:
        """Undo one action, or the last one of the past hour that can be undone."""
        now = self.clock.now()
        row = await self._undoable_row(action_id, now)
        if row is None and action_id is None:
            return _result("nothing_to_undo", 0)
        if row is None:
            return _result("cannot_undo", action_id or 0)
        # Stored first: a stop between here and Twitch's answer must not lose the wish.
        async with self.db.write() as tx:
            is_due = await action_logs.ask_for_undo(tx, row.id, by=by, now=now)
        if is_due:
            await self._revert_due()
        row_after = await action_logs.get(self.db, row.id)
        code = "cannot_undo"
        is_undone = False
        if row_after is not None:
            is_undone = row_after.status is ActionStatus.UNDONE
            if is_undone:
                code = "undone"
            elif row_after.revert_at is not None:
                code = "undo_later"
        return _result(code, row.id, ok=is_undone, action=row.name)

    async def _undoable_row(
        self, action_id: int | None, now: int
    ) -> LoggedAction | None:
        """Return the action of that number, if it can be undone; None if it cannot.

        Without a number it is the last one of the past hour that can be undone.
        """
        if action_id is not None:
            row = await action_logs.get(self.db, action_id)
            if row is None:
                return None
            if undoable(row, now) is None:
                return None
            return row
        rows = await action_logs.latest(
            self.db, 50, (ActionStatus.DONE, ActionStatus.UNKNOWN)
        )
        for row in rows:
            is_recent = _done_at(row) >= now - HOUR
            if is_recent and undoable(row, now) is not None:
                return row
        return None

    async def recover(self) -> None:
        """At start: settle what a crash interrupted, without repeating it, and revert what is due."""
        detail = reason("stopped")
        for row in await action_logs.running(self.db):
            now = self.clock.now()
            async with self.db.write() as tx:
                await action_logs.settle(tx, row.id, ActionStatus.UNKNOWN, detail, now)
            log.warning("an action was interrupted", action=row.id, name=row.name)
        await self._revert_due()

    async def _revert_due(self) -> None:
        """Try each undo that is due: the action's time is over, or somebody asked for it."""
        for row in await action_logs.due_for_revert(self.db, self.clock.now()):
            action = undoable(row, self.clock.now())
            outcome = await self._undo_once(row, action)
            if outcome.kind is OutcomeKind.DONE:
                await self._store_undone(row, action)
            else:
                await self._store_not_undone(row, action, outcome)
            log.info("undo tried", action=row.id, name=row.name, outcome=outcome.kind)

    async def _undo_once(self, row: LoggedAction, action: Action | None) -> Outcome:
        """Ask Twitch once to undo an action; refused where nothing is left to undo."""
        if action is None or action.undo is None:
            # It has ended by itself, as a timeout does, or no action has this name any more.
            return Outcome(OutcomeKind.REFUSED, reason("ended"))
        return await self._call(action.undo, _call_of(row))

    async def _store_undone(self, row: LoggedAction, action: Action | None) -> None:
        """Store that an action was undone. Raises StoreError."""
        if action is not None and action.mode:
            # Until Twitch reports it, the policy would deny the mode as one that is on already.
            self.mode_off(action.mode)
        async with self.db.write() as tx:
            await action_logs.set_revert(
                tx, row.id, None, reason("undone"), ActionStatus.UNDONE
            )

    async def _store_not_undone(
        self,
        row: LoggedAction,
        action: Action | None,
        outcome: Outcome,
    ) -> None:
        """Store why an undo failed, and when it is tried again.

        The end of a temporary mode is tried for an hour, whatever Twitch answers. Any other undo is tried until Twitch
        refuses it. Raises StoreError.
        """
        now = self.clock.now()
        gives_up = outcome.kind is OutcomeKind.REFUSED
        if action is not None and action.reverts:
            gives_up = now - _done_at(row) > GIVE_UP_AFTER
        next_try = None if gives_up else now + RETRY_AFTER
        why = reason("not_undone", reason=outcome.detail)
        async with self.db.write() as tx:
            await action_logs.set_revert(tx, row.id, next_try, why)


def _already_handled(
    proposal: Proposal,
    decision: Decision,
    language: Language,
) -> ExecutedProposal:
    """Return the result of a proposal that already has a row: it is not carried out again."""
    code = "already_handled"
    denial = Decision(Verdict.DENY, code, reason(code), decision.params)
    line = wording.harmless(proposal.if_refused, language)
    return ExecutedProposal(denial, None, line)


def _is_unasked_refusal(
    decision: Decision,
    proposal: Proposal,
    policy_facts: PolicyFacts,
) -> bool:
    """Return whether the policy denies what nobody asked for."""
    if decision.verdict is not Verdict.DENY:
        return False
    if not policy_facts.asks_nothing:
        return False
    # Somebody may have asked for these in words that code does not read, so the refusal goes out: it names the command.
    if proposal.name in wording.REFUSED_WITH_COMMAND:
        return False
    return proposal.name not in policy_facts.asked_for


def _approval_result(
    row: LoggedAction,
    outcome: OutcomeKind,
    target: PersonFacts | None,
    language: Language,
) -> OperationResult:
    """Return the result of an approval, by what became of the action."""
    if outcome is OutcomeKind.UNKNOWN:
        return _result("approved_unknown", row.id)
    if outcome is not OutcomeKind.DONE:
        return _result("approved_failed", row.id)
    target_name = target.display_name if target else ""
    line = wording.done_line(row.name, row.params, target_name, language)
    return _result("approved", row.id, ok=True, about_id=row.target_id, line=line)


def _name_of(person: PersonFacts | None) -> str:
    """Return a name as a sentence shows it; "" for nobody."""
    if person is None:
        return ""
    return person.display_name or person.login


def _outcome_of(error: ForgetMeNotError) -> OutcomeKind:
    """Return what an error of Twitch says of the action."""
    if isinstance(error, TwitchUnavailable):
        # the answer was lost: it may have been done
        return OutcomeKind.UNKNOWN
    if isinstance(error, TwitchRefused):
        return OutcomeKind.REFUSED
    return OutcomeKind.FAILED


def _new_row(
    proposal: Proposal,
    action: Action | None,
    decision: Decision,
    policy_facts: PolicyFacts,
    context: ActionContext,
    settings: Settings,
    now: int,
) -> NewAction:
    """Return the row of a decision: waiting for a person, refused, or about to run."""
    status = _STATUS.get(decision.verdict, ActionStatus.RUNNING)
    expires_at = None
    if status is ActionStatus.WAITING:
        expires_at = now + settings.actions.approval_expires_s * SECOND
    revert_at = None
    if action is not None and status is ActionStatus.RUNNING:
        # in the row from the start, so that a temporary mode is undone even if the bot dies right after the call
        revert_at = _revert_time(action, decision.params, now)
    return NewAction(
        key=context.key,
        at=now,
        # a model's words, of any length
        name=proposal.name[:32],
        kind=str(action.kind) if action else "",
        params=decision.params,
        verdict=str(decision.verdict),
        rule=decision.rule,
        reason=decision.reason,
        status=status,
        asked_by=policy_facts.asker.id,
        target_id=policy_facts.target.id if policy_facts.target else None,
        bot_message_id=context.bot_message_id,
        expires_at=expires_at,
        revert_at=revert_at,
    )


def _is_moderators_request(policy_facts: PolicyFacts, proposal: Proposal) -> bool:
    """Return whether a moderator's own words ask for it: they name its target, or the action."""
    is_asked = policy_facts.named or proposal.name in policy_facts.asked_for
    return policy_facts.asker.role.moderates and is_asked


def _call_of(
    row: NewAction | LoggedAction,
    target: PersonFacts | None = None,
    line: str = "",
) -> ActionCall:
    """Return the call of a row. `line`: the id of the line that asks for it, if it is done at once."""
    return ActionCall(
        params=row.params,
        asked_by=row.asked_by or "",
        message_id=target.message_id if target else "",
        at=row.at,
        line=line,
    )


def _revert_time(
    action: Action,
    params: Mapping[str, str],
    now: int,
) -> int | None:
    """Return when an action must be reverted (ms); None if it stays."""
    if not action.reverts:
        return None
    return now + int(params["seconds"]) * SECOND


def undoable(row: LoggedAction, now: int) -> Action | None:
    """Return the action of a row if it can be undone; None for one that has ended by itself, as a timeout does."""
    action = find(row.name)
    # An action of unknown outcome may have been done, and it does no harm to undo one that was not.
    if row.status not in {ActionStatus.DONE, ActionStatus.UNKNOWN}:
        return None
    if action is None:
        return None
    if action.undo is None:
        return None
    # A mode does not end at Twitch until the bot switches it off.
    if "seconds" not in row.params:
        return action
    if action.reverts:
        return action
    ends_at = _done_at(row) + int(row.params["seconds"]) * SECOND
    return action if ends_at > now else None


def _still_waits(row: LoggedAction, now: int) -> bool:
    """Return whether an action waits for a person, and has not expired."""
    if row.status is not ActionStatus.WAITING:
        return False
    # `work_off` marks the expired ones only every second.
    return row.expires_at is not None and row.expires_at > now


def _done_at(row: LoggedAction) -> int:
    """Return when an action was carried out (ms); when it was proposed if a crash came between."""
    return row.finished_at or row.at


def _result(
    code: str,
    action_id: int,
    *,
    ok: bool = False,
    about_id: str | None = None,
    **data: object,
) -> OperationResult:
    """Return the result of a decision about an action; `about_id`: the viewer whom its line names."""
    values = {"id": action_id, **data}
    about_ids = frozenset() if about_id is None else frozenset({about_id})
    return OperationResult(ok=ok, code=code, data=values, about_ids=about_ids)
