"""Decides whether a proposal of the model may run, from its facts, the settings, recent actions and the time. Pure.

Guarantees:
- Every decision names the rule that made it.
- No setting and no text of a model lets an action of class C run without a person.
- Safe mode stops everything.

The rules are one ordered table: each denies a case, requires a person, or does not object. The first refusal wins; else
the first rule that requires a person; else the proposal is allowed.
"""

from collections.abc import Callable

from msgspec import Struct

from forgetmenot.domain import Decision, Proposal, Role, Verdict
from forgetmenot.languages import reason
from forgetmenot.operations.actions import class_mode, find
from forgetmenot.operations.proposed_params import Checked, check
from forgetmenot.operations.types import (
    Action,
    ActionClass,
    PersonFacts,
    PolicyFacts,
    RecentDecisions,
)
from forgetmenot.settings.schema import Mode, Settings

# How many of an asker's proposals may be refused lately before all of theirs are.
MANY_REFUSALS = 3
# How many proposals may wait for a person: of more, people would approve some without reading them.
MOST_WAITING = 5
MOST_WAITING_OF_ONE = 2


class Case(Struct, frozen=True):
    """A proposal with its facts."""

    action: Action
    checked: Checked
    facts: PolicyFacts
    settings: Settings
    recent: RecentDecisions
    now: int

    @property
    def target(self) -> PersonFacts | None:
        """Return the target."""
        return self.facts.target

    @property
    def guarded(self) -> bool:
        """Return whether it does not run by itself: strict rules or a person stand before it."""
        return self.action.kind is not ActionClass.FREE


# A rule's objection: deny, or require a person; and why.
Ruling = tuple[Verdict, str]


class Rule(Struct, frozen=True):
    """One row of the table. `overridable`: an approval overrides it."""

    name: str
    check: Callable[[Case], Ruling | None]
    overridable: bool = False


def _deny(code: str) -> Ruling:
    """Return the ruling that denies, with the reason of that code."""
    return Verdict.DENY, reason(code)


def _ask_a_person() -> Ruling:
    """Return the ruling that a person has to approve first."""
    return Verdict.ASK, reason("always_asks")


def _denies(
    name: str,
    holds: Callable[[Case], object],
    *,
    why: str = "",
    overridable: bool = False,
) -> Rule:
    """Return a rule that denies where the condition holds. `why`: its reason, unless that has the rule's name."""

    def check_case(case: Case) -> Ruling | None:
        return _deny(why or name) if holds(case) else None

    return Rule(name, check_case, overridable)


def _fitting_parameters(case: Case) -> Ruling | None:
    """Deny a proposal whose parameters do not fit."""
    problem = case.checked.problem
    return (Verdict.DENY, problem) if problem else None


def _setting(case: Case) -> Ruling | None:
    """Rule as the settings of the action say: off, a dry run, or ask a person first."""
    match class_mode(case.action, case.settings.actions):
        case "off":
            return _deny("switched_off")
        case "shadow":
            return _deny("action_preview")
        case "ask":
            return _ask_a_person()
    return None


def _immune_on_twitch(case: Case) -> Ruling | None:
    """Deny harm to somebody who is immune on Twitch, or of whom Twitch did not say whether they are."""
    is_immune = case.facts.immune
    if not case.action.harms:
        return None
    if is_immune is False:
        return None
    return _deny("immune" if is_immune else "immune_unknown")


def _protected(case: Case) -> bool:
    """Return whether the lists of targets in the settings forbid this one."""
    target = case.target
    if target is None or not case.guarded:
        return False
    actions = case.settings.actions
    if _is_listed(target, actions.denied_targets):
        return True
    # If there is a list of allowed targets, nobody else may be harmed.
    if not case.action.harms:
        return False
    if not actions.allowed_targets:
        return False
    return not _is_listed(target, actions.allowed_targets)


def _newcomer(case: Case) -> bool:
    """Return whether the target is new here, and no moderator named them.

    Spammers are newcomers, so a moderator may ask for one to be harmed; what always needs a person still waits for one.
    """
    if not case.action.harms:
        return False
    if not case.settings.actions.newcomer_protection:
        return False
    if case.facts.asker.role.moderates and case.facts.named:
        return False
    return case.target is not None and case.target.newcomer


def _possible(case: Case) -> Ruling | None:
    """Deny what could not be carried out now, whatever is decided."""
    if not case.facts.obstacle:
        return None
    return Verdict.DENY, case.facts.obstacle


def _consent(case: Case) -> Ruling | None:
    """Rule on an action that its target has to agree to: only the asker can have it done to themselves.

    A moderator's request for somebody else waits for a person.
    """
    if not case.action.consent:
        return None
    if case.target is None:
        return None
    # Whoever asks to be timed out has agreed to it.
    if _is_asker(case) and case.action.name in case.facts.asked_for:
        return None
    if case.facts.asker.role.moderates:
        return _ask_a_person()
    return _deny("asked_in_words")


def _unasked(case: Case) -> bool:
    """Return whether the asker's words do not ask for the action.

    Small models add one, or a second line, to any answer.
    """
    action = case.action
    facts = case.facts
    # Only the asker's own words are written into the memory, so there must be some.
    if action.typed:
        return action.name not in facts.typed
    if action.name in facts.asked_for:
        return False
    # A guarded action may have been asked for in words that no pattern knows, unless the line asks for nothing at all.
    if case.guarded:
        return facts.asks_nothing
    # An action without a pattern (`asks`) can be asked for in any words, so it never counts as unasked.
    return bool(action.asks)


def _for_everybody(case: Case) -> Ruling | None:
    """Rule on an action that concerns all of chat: a moderator's own words allow it, else a person is asked."""
    if not case.action.channel_wide:
        return None
    facts = case.facts
    is_asked = case.action.name in facts.asked_for
    if case.action.needs_target and not facts.named:
        is_asked = False
    if is_asked and facts.asker.role.moderates:
        return None
    # Nobody has asked: a guarded action may still be worth a moderator's time, a free one would only fill the queue.
    if is_asked or case.guarded:
        return _ask_a_person()
    return _deny("asked_in_words")


def _is_refused_class(case: Case) -> bool:
    """Return whether an action that always needs a person was asked for by somebody who is no moderator."""
    if case.action.kind is not ActionClass.NEVER_ALONE:
        return False
    return not case.facts.asker.role.moderates


def _about_another(case: Case) -> bool:
    """Return whether a viewer asks for something about somebody else that is only for their own notes."""
    if not case.action.self_only:
        return False
    if case.facts.asker.role.moderates:
        return False
    return not _is_asker(case)


def _queue_full(case: Case) -> bool:
    """Return whether too many proposals wait for a person already, in all or of this asker."""
    if case.facts.asker.role.moderates:
        return False
    if not _would_wait(case):
        return False
    recent = case.recent
    return (
        recent.waiting >= MOST_WAITING or recent.waiting_of_asker >= MOST_WAITING_OF_ONE
    )


def _never_alone(case: Case) -> Ruling | None:
    """Ask a person about what is never done without one, unless one approved it."""
    if case.action.kind is not ActionClass.NEVER_ALONE:
        return None
    if case.facts.approved_by:
        return None
    return _ask_a_person()


def _would_wait(case: Case) -> bool:
    """Return whether a rule requires a person, so that the proposal would wait in the queue."""
    for rule in RULES:
        # The rule that calls this.
        if rule.name == "queue_full":
            continue
        ruling = rule.check(case)
        if ruling is not None and ruling[0] is Verdict.ASK:
            return True
    return False


def _is_listed(person: PersonFacts, logins: tuple[str, ...]) -> bool:
    """Return whether a list of the settings has somebody's login."""
    listed = {login.removeprefix("@").casefold() for login in logins}
    return person.login.casefold() in listed


def _is_immune(role: Role) -> bool:
    """Return whether somebody's badge makes them immune, which is known without asking Twitch."""
    return role.moderates or role is Role.VIP


def _is_asker(case: Case) -> bool:
    """Return whether the target is the asker."""
    return case.target is not None and case.target.id == case.facts.asker.id


# In the order in which they are asked. The first refusal counts, and none after it is asked.
RULES: tuple[Rule, ...] = (
    Rule("parameters", _fitting_parameters),
    _denies(
        "safe_mode",
        lambda case: case.settings.actions.safe_mode or case.facts.safe_mode,
        why="paused",
    ),
    _denies("paused", lambda case: case.facts.paused),
    Rule("switched_off", _setting),
    _denies("stream_live", lambda case: case.action.needs_live and not case.facts.live),
    _denies(
        "target_known", lambda case: case.action.needs_target and case.target is None
    ),
    _denies(
        "not_a_bot", lambda case: case.target and case.target.is_bot, why="target_known"
    ),
    _denies(
        "immune",
        lambda case: case.action.harms and case.target and _is_immune(case.target.role),
    ),
    _denies("protected", _protected),
    _denies("newcomer", _newcomer, why="protected", overridable=True),
    _denies(
        "refused_often",
        lambda case: case.recent.refusals >= MANY_REFUSALS,
        overridable=True,
    ),
    _denies("moderators_only", _is_refused_class, overridable=True),
    _denies("asked_in_words", _unasked, overridable=True),
    _denies("own_notes_only", _about_another, why="moderators_only", overridable=True),
    Rule("consent", _consent, overridable=True),
    Rule("affects_everybody", _for_everybody, overridable=True),
    _denies(
        "already_on",
        lambda case: case.action.mode in case.facts.room_modes,
        why="already_handled",
    ),
    _denies(
        "too_soon", lambda case: case.recent.cooldown_until > case.now, overridable=True
    ),
    _denies(
        "stream_limit",
        lambda case: case.recent.done_this_stream >= case.settings.actions.per_stream,
        overridable=True,
    ),
    _denies("queue_full", _queue_full, overridable=True),
    # Before the rule that asks a person, so that nobody approves what cannot be done.
    Rule("possible", _possible),
    # Late, because its fact costs a request to Twitch. While Twitch was not asked, the rule does not object.
    Rule("immune", _immune_on_twitch),
    # The last refusal, so that in a preview any other reason is named first.
    _denies("silent_preview", lambda case: case.settings.bot.mode is Mode.SHADOW),
    Rule("always_asks", _never_alone),
)


def decide(
    proposal: Proposal,
    facts: PolicyFacts,
    settings: Settings,
    recent: RecentDecisions,
    now: int,
) -> Decision:
    """Allow, allow shortened, ask a person, or deny.

    `params` of the decision hold the target's id where the model wrote a name.
    """
    action = find(proposal.name)
    if action is None:
        return Decision(Verdict.DENY, "unknown_action", reason("switched_off"))
    proposed = dict(proposal.params)
    if action.typed and action.name in facts.typed:
        # What the asker typed replaces the model's words for it.
        proposed[action.typed] = facts.typed[action.name]
    checked = check(action, proposed, settings)
    case = Case(action, checked, facts, settings, recent, now)
    params = dict(checked.params)
    if action.needs_target:
        params["target"] = case.target.id if case.target is not None else ""
    objection = _objection(case, params)
    if objection is not None:
        return objection
    if checked.change_reason:
        return Decision(
            Verdict.ALLOW_CHANGED, "parameters", checked.change_reason, params
        )
    return Decision(Verdict.ALLOW, "allowed", reason("allowed"), params)


def _objection(case: Case, params: dict[str, str]) -> Decision | None:
    """Return the first refusal of a rule, else the first question for a person; None if no rule objects."""
    question: Decision | None = None
    for rule in RULES:
        ruling = rule.check(case)
        if ruling is None:
            continue
        verdict, why = ruling
        is_overridden = rule.overridable or verdict is Verdict.ASK
        if case.facts.approved_by and is_overridden:
            continue
        decision = Decision(verdict, rule.name, why, params)
        # A refusal counts at once, even if an earlier rule only wants to ask a person.
        if verdict is Verdict.DENY:
            return decision
        if question is None:
            question = decision
    return question
