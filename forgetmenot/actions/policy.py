"""May this be done? A pure function of the proposal, the facts, the settings, what happened lately, and the time.

Promises: the same input gives the same decision; every decision names the rule that made it; no settings and no
text of a model lets an action of class C run without a person; safe mode stops everything. The rules stand in
actions/rules, in order. The first refusal wins; without one, the first rule that wants a person; else it is allowed.
Does no I/O and remembers nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.entry import Action
from forgetmenot.actions.facts import Facts, Recent
from forgetmenot.actions.parameters import check
from forgetmenot.actions.rules import RULES, Case, Rule
from forgetmenot.domain.action import Decision, Proposal, Verdict
from forgetmenot.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class Step:
    """What a rule said to one proposal; no verdict means that it did not object."""

    rule: str
    says: str
    verdict: Verdict | None
    reason: str


def explain(proposal: Proposal, facts: Facts, settings: Settings, recent: Recent, now: int) -> list[Step]:
    """What each rule says, in order; the last step is the verdict. An unknown action has that step only."""
    steps, decision = _judged(proposal, facts, settings, recent, now)
    return [*steps, Step("verdict", f"decided by {decision.rule}", decision.verdict, decision.reason)]


def decide(proposal: Proposal, facts: Facts, settings: Settings, recent: Recent, now: int) -> Decision:
    """Allow, allow shortened, ask a person, or deny. `params` hold the target's id where the model wrote a name."""
    return _judged(proposal, facts, settings, recent, now)[1]


def _judged(
    proposal: Proposal, facts: Facts, settings: Settings, recent: Recent, now: int
) -> tuple[list[Step], Decision]:
    """What the rules say, and what follows from it."""
    action = find(proposal.name)
    if action is None:
        return [], Decision(Verdict.DENY, "known", "There is no action of that name.")
    case = _case(action, proposal, facts, settings, recent, now)
    steps = [_step(rule, case) for rule in RULES]
    return steps, _verdict(case, steps)


def _case(action: Action, proposal: Proposal, facts: Facts, settings: Settings, recent: Recent, now: int) -> Case:
    return Case(
        action=action,
        checked=check(action, _given(action, proposal, facts), settings.actions.max_timeout_s, settings.reply),
        facts=facts,
        settings=settings,
        recent=recent,
        now=now,
    )


def _given(action: Action, proposal: Proposal, facts: Facts) -> Mapping[str, str]:
    """The proposal's parameters; what its asker told stands in the place of a model's words."""
    told = facts.told.get(action.name)
    return proposal.params if told is None or not action.told else {**proposal.params, action.told: told}


def _step(rule: Rule, case: Case) -> Step:
    ruling = rule.check(case)
    if ruling is None:
        return Step(rule.name, rule.says, None, "")
    if case.facts.approved_by and (rule.overruled or ruling.verdict is Verdict.ASK):
        return Step(rule.name, rule.says, None, f"Set aside by a person: {ruling.reason}")
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
