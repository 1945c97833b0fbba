"""The policy: decides whether a proposal may run, from its facts, the settings, recent actions and the time. Pure.

Guarantees:
- Every decision names the rule that made it.
- No setting and no text of a model lets an action of class C run without a person.
- Safe mode stops everything.

The rules are in operations/rules, in order. The first refusal wins; else the first rule that requires a person; else
the proposal is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forgetmenot.domain.action import Decision, Proposal, Verdict
from forgetmenot.operations.catalogue import find
from forgetmenot.operations.entry import Action
from forgetmenot.operations.parameters import check
from forgetmenot.operations.policy_facts import PolicyFacts, RecentDecisions
from forgetmenot.operations.rules import RULES, Case, Rule
from forgetmenot.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class Step:
    """A rule's answer to a proposal; no verdict means no objection."""

    rule: str
    says: str
    verdict: Verdict | None
    reason: str


def explain(
    proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int
) -> list[Step]:
    """What each rule says, in order; the last step is the verdict. An unknown action has that step only."""
    steps, decision = _judged(proposal, facts, settings, recent, now)
    return [*steps, Step("verdict", f"decided by {decision.rule}", decision.verdict, decision.reason)]


def decide(proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int) -> Decision:
    """Allow, allow shortened, ask a person, or deny. `params` hold the target's id where the model wrote a name."""
    return _judged(proposal, facts, settings, recent, now)[1]


def _judged(
    proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int
) -> tuple[list[Step], Decision]:
    """The rules' answers and the resulting decision."""
    action = find(proposal.name)
    if action is None:
        return [], Decision(Verdict.DENY, "known", "There is no action with that name.")
    case = _case(action, proposal, facts, settings, recent, now)
    steps = [_step(rule, case) for rule in RULES]
    return steps, _verdict(case, steps)


def _case(
    action: Action, proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int
) -> Case:
    return Case(
        action=action,
        checked=check(
            action,
            _given(action, proposal, facts),
            settings.actions.max_timeout_s,
            settings.reply,
            settings.bridge.effects,
        ),
        facts=facts,
        settings=settings,
        recent=recent,
        now=now,
    )


def _given(action: Action, proposal: Proposal, facts: PolicyFacts) -> Mapping[str, str]:
    """The proposal's parameters; what its asker typed stands in the place of a model's words."""
    typed = facts.typed.get(action.name)
    return proposal.params if typed is None or not action.typed else {**proposal.params, action.typed: typed}


def _step(rule: Rule, case: Case) -> Step:
    ruling = rule.check(case)
    if ruling is None:
        return Step(rule.name, rule.says, None, "")
    if case.facts.approved_by and (rule.overruled or ruling.verdict is Verdict.ASK):
        return Step(rule.name, rule.says, None, f"Overridden by a moderator: {ruling.reason}")
    return Step(rule.name, rule.says, ruling.verdict, ruling.reason)


def _verdict(case: Case, steps: list[Step]) -> Decision:
    for verdict in (Verdict.DENY, Verdict.ASK):
        for step in steps:
            if step.verdict is verdict:
                return Decision(verdict, step.rule, step.reason, _params(case))
    if case.checked.changed:
        return Decision(Verdict.ALLOW_CHANGED, "parameters", case.checked.changed, _params(case))
    return Decision(Verdict.ALLOW, "allowed", "No rule objects.", _params(case))


def _params(case: Case) -> Mapping[str, str]:
    if not case.action.needs_target:
        return case.checked.params
    return {**case.checked.params, "target": case.target.id if case.target is not None else ""}
