"""The policy: decides whether a proposal may run, from its facts, the settings, recent actions and the time. Pure.

Guarantees:
- Every decision names the rule that made it.
- No setting and no text of a model lets an action of class C run without a person.
- Safe mode stops everything.

The rules are one ordered table: each denies a case, requires a person, or does not object. The first refusal wins; else
the first rule that requires a person; else the proposal is allowed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forgetmenot.domain.action import Decision, Proposal, Verdict
from forgetmenot.domain.chat import Standing
from forgetmenot.operations.catalogue import class_mode, find
from forgetmenot.operations.entry import (
    CLASS_WORDS,
    IMMUNE,
    Action,
    ActionClass,
    Immunity,
    PersonFacts,
    PolicyFacts,
    RecentDecisions,
    TargetFound,
)
from forgetmenot.operations.parameters import Checked, check
from forgetmenot.settings.schema import Mode, Settings

MANY_REFUSALS = 3
MOST_WAITING = 5
MOST_WAITING_OF_ONE = 2


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal with its facts."""

    action: Action
    checked: Checked
    facts: PolicyFacts
    settings: Settings
    recent: RecentDecisions
    now: int

    @property
    def target(self) -> PersonFacts | None:
        """The target."""
        return self.facts.target

    @property
    def guarded(self) -> bool:
        """Whether it is of class B or C."""
        return self.action.kind is not ActionClass.FREE


@dataclass(frozen=True, slots=True)
class Ruling:
    """A rule's objection: deny, or require a person."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. `overruled`: an approval overrides it."""

    name: str
    says: str
    check: Callable[[Case], Ruling | None]
    overruled: bool = False


def _deny(reason: str) -> Ruling:
    return Ruling(Verdict.DENY, reason)


def _ask(reason: str) -> Ruling:
    return Ruling(Verdict.ASK, reason)


def _parameters(case: Case) -> Ruling | None:
    return _deny(case.checked.problem) if case.checked.problem else None


def _safe_mode(case: Case) -> Ruling | None:
    on = case.settings.actions.safe_mode or case.facts.safe_mode
    return _deny("Safe mode is on: the bot takes no action.") if on else None


def _paused(case: Case) -> Ruling | None:
    return _deny("The bot is paused.") if case.facts.paused else None


def _bot_mode(case: Case) -> Ruling | None:
    shadow = case.settings.bot.mode is Mode.SHADOW
    return _deny("Silent preview is on: the bot takes no action.") if shadow else None


def _switched_off(case: Case) -> Ruling | None:
    off = case.action.name in case.settings.actions.disabled
    return _deny(f"{case.action.name} is switched off in the settings.") if off else None


def _failing(case: Case) -> Ruling | None:
    off = case.action.name in case.facts.failing
    return _deny(f"{case.action.name} failed three times in a row and is paused.") if off else None


def _class_mode(case: Case) -> Ruling | None:
    mode = class_mode(case.action, case.settings)
    if mode == "off":
        return _deny(f"{CLASS_WORDS[case.action.kind]}: switched off in the settings.")
    if mode == "shadow":
        return _deny("Set to silent preview: shown here, not done.")
    return _ask(f"{CLASS_WORDS[case.action.kind]}: a moderator decides first.") if mode == "ask" else None


def _stream_live(case: Case) -> Ruling | None:
    needed = case.action.needs_live and not case.facts.live
    return _deny("The stream is not live.") if needed else None


def _target_known(case: Case) -> Ruling | None:
    if not case.action.needs_target:
        return None
    if case.facts.found is TargetFound.AMBIGUOUS:
        return _deny("That name fits more than one person in chat.")
    return None if case.target is not None else _deny("Nobody with that name is in chat now.")


def _not_a_bot(case: Case) -> Ruling | None:
    hit = case.target is not None and (case.target.is_bot or case.target.is_self)
    return _deny("Bots, including this one, are never a target.") if hit else None


def _immune_role(case: Case) -> Ruling | None:
    if not case.action.harms or case.target is None or case.target.role not in IMMUNE:
        return None
    return _deny(f"A {case.target.role} is immune.")


def _immune_on_twitch(case: Case) -> Ruling | None:
    if not case.action.harms or case.facts.immunity in {Immunity.NOT_ASKED, Immunity.NO}:
        return None
    if case.facts.immunity is Immunity.YES:
        return _deny("Twitch says that they are a moderator, a VIP or the broadcaster.")
    return _deny("Twitch could not be asked whether they are immune. That needs the broadcaster's log-in.")


def _denied_target(case: Case) -> Ruling | None:
    hit = case.guarded and case.target is not None and _listed(case.target, case.settings.actions.denied_targets)
    return _deny("The settings protect them.") if hit else None


def _allowed_target(case: Case) -> Ruling | None:
    allowed = case.settings.actions.allowed_targets
    if not allowed or not case.action.harms or case.target is None or _listed(case.target, allowed):
        return None
    return _deny("The settings allow only other targets.")


def _newcomer(case: Case) -> Ruling | None:
    if not (case.action.harms and case.settings.actions.newcomer_protection and case.target is not None):
        return None
    return _deny("They are new here.") if case.target.standing is Standing.NEWCOMER else None


def _serious(case: Case) -> Ruling | None:
    out_of_place = case.facts.serious and (case.action.playful or case.action.harms)
    return _deny("People are talking about something serious.") if out_of_place else None


def _many_refusals(case: Case) -> Ruling | None:
    many = case.recent.refusals >= MANY_REFUSALS
    return _deny("This viewer was refused too often in the last ten minutes.") if many else None


def _privileged_asker(case: Case) -> Ruling | None:
    foreign = case.action.kind is ActionClass.NEVER_ALONE and not case.facts.asker.privileged
    return _deny("Only moderators may ask for that.") if foreign else None


def _asked_with(case: Case) -> Ruling | None:
    missing = case.action.typed and case.action.name not in case.facts.typed
    return _deny("Nobody clearly asked for that.") if missing else None


def _own_memory(case: Case) -> Ruling | None:
    if not case.action.self_only or case.facts.asker.privileged or _is_asker(case):
        return None
    return _deny("Viewers may only ask for that about themselves.")


def _consent(case: Case) -> Ruling | None:
    if not case.action.consent or case.target is None or case.target.opted_in:
        return None
    if _is_asker(case) and case.action.name in case.facts.asked_for:
        return None
    if case.facts.asker.privileged:
        return _ask("They neither asked for it nor opted in: a moderator has to confirm.")
    return _deny("They neither asked for it nor opted in.")


def _for_everybody(case: Case) -> Ruling | None:
    if not case.action.channel_wide:
        return None
    asked = case.action.name in case.facts.asked_for and (case.facts.named or not case.action.needs_target)
    if asked and case.facts.asker.privileged:
        return None
    if not asked and not case.guarded:
        return _deny("Nobody clearly asked for that.")
    return _ask("It affects everybody: a moderator has to ask for it or agree.")


def _own_work(case: Case) -> Ruling | None:
    foreign = case.action.own_only and (case.target is None or case.target.id not in case.recent.own_timeouts)
    return _ask("The bot did not time them out: a moderator has to agree.") if foreign else None


def _already_on(case: Case) -> Ruling | None:
    on = bool(case.action.mode) and case.action.mode in case.facts.room_modes
    return _deny("The chat is already in that mode.") if on else None


def _action_rests(case: Case) -> Ruling | None:
    in_cooldown = case.recent.action_until > case.now
    return _deny(f"{case.action.name} was used a moment ago.") if in_cooldown else None


def _in_cooldown(case: Case, until: int) -> bool:
    """Class B is in cooldown, except for undoing the bot's own actions."""
    return case.action.kind is ActionClass.GUARDED and not case.action.own_only and until > case.now


def _viewer_rests(case: Case) -> Ruling | None:
    in_cooldown = _in_cooldown(case, case.recent.viewer_until)
    return _deny("This viewer was a target a short while ago.") if in_cooldown else None


def _channel_rests(case: Case) -> Ruling | None:
    in_cooldown = _in_cooldown(case, case.recent.channel_until)
    return _deny("Something of this kind was done a short while ago.") if in_cooldown else None


def _per_stream(case: Case) -> Ruling | None:
    full = case.recent.done_this_stream >= case.settings.actions.per_stream
    return _deny("This stream's limit of actions is reached.") if full else None


def _queue(case: Case) -> Ruling | None:
    if case.facts.asker.privileged or not _would_wait(case):
        return None
    many = case.recent.waiting >= MOST_WAITING or case.recent.waiting_of_asker >= MOST_WAITING_OF_ONE
    return _deny("Too many proposals are already waiting for approval.") if many else None


def _never_alone(case: Case) -> Ruling | None:
    alone = case.action.kind is ActionClass.NEVER_ALONE and not case.facts.approved_by
    return _ask("This always needs a moderator's approval.") if alone else None


def _would_wait(case: Case) -> bool:
    """Whether another rule requires a person."""
    rulings = (rule.check(case) for rule in RULES if rule.check is not _queue)
    return any(ruling is not None and ruling.verdict is Verdict.ASK for ruling in rulings)


def _listed(person: PersonFacts, logins: tuple[str, ...]) -> bool:
    return person.login.casefold() in {login.removeprefix("@").casefold() for login in logins}


def _is_asker(case: Case) -> bool:
    return case.target is not None and case.target.id == case.facts.asker.id


RULES: tuple[Rule, ...] = (
    Rule("parameters", "all parameters are given and valid", _parameters),
    Rule("safe_mode", "safe mode stops everything", _safe_mode),
    Rule("paused", "a paused bot does nothing", _paused),
    Rule("bot_mode", "in shadow mode (silent preview) no action runs", _bot_mode),
    Rule("switched_off", "single actions can be switched off", _switched_off),
    Rule("failing", "an action that failed three times in a row is paused", _failing),
    Rule("class_mode", "each kind of action is off, in silent preview, asks, or is live", _class_mode),
    Rule("stream_live", "some actions only make sense on a live stream", _stream_live),
    Rule("target_known", "the target is one person who is in chat now", _target_known),
    Rule("not_a_bot", "bots and the bot itself are no targets", _not_a_bot),
    Rule("immune_role", "the broadcaster, moderators and VIPs are immune", _immune_role),
    Rule("denied_target", "the settings list people who are never a target", _denied_target),
    Rule("allowed_target", "the settings may list the only allowed targets", _allowed_target),
    Rule("newcomer", "newcomers are protected", _newcomer, overruled=True),
    Rule("serious", "no games while people talk about something serious", _serious, overruled=True),
    Rule("many_refusals", "viewers who were refused often have to wait", _many_refusals, overruled=True),
    Rule("privileged_asker", "only moderators may ask for serious actions", _privileged_asker, overruled=True),
    Rule("asked_with", "memory changes only in the asker's own words", _asked_with, overruled=True),
    Rule("own_memory", "viewers ask about themselves, moderators about anybody", _own_memory, overruled=True),
    Rule("consent", "the target asked for it or opted in", _consent, overruled=True),
    Rule(
        "for_everybody",
        "what affects everybody needs a moderator who clearly asks for it",
        _for_everybody,
        overruled=True,
    ),
    Rule("own_work", "the bot only lifts its own timeouts by itself", _own_work, overruled=True),
    Rule("already_on", "a mode that somebody else turned on stays", _already_on),
    Rule("action_rests", "each action has a cooldown", _action_rests, overruled=True),
    Rule("viewer_rests", "each target has a cooldown", _viewer_rests, overruled=True),
    Rule("channel_rests", "moderation has a cooldown for the whole channel", _channel_rests, overruled=True),
    Rule("per_stream", "each stream has a limit of actions", _per_stream, overruled=True),
    Rule("queue", "the approval queue stays short", _queue, overruled=True),
    Rule("immune_on_twitch", "Twitch is also asked whether the target is immune", _immune_on_twitch),
    Rule("never_alone", "serious actions always need approval, whatever the settings", _never_alone),
)


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """A rule's answer to a proposal; no verdict means no objection."""

    rule: str
    says: str
    verdict: Verdict | None
    reason: str


def explain(
    proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int
) -> list[RuleAnswer]:
    """What each rule says, in order; the last step is the verdict. An unknown action has that step only."""
    steps, decision = _judged(proposal, facts, settings, recent, now)
    return [*steps, RuleAnswer("verdict", f"decided by {decision.rule}", decision.verdict, decision.reason)]


def decide(proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int) -> Decision:
    """Allow, allow shortened, ask a person, or deny. `params` hold the target's id where the model wrote a name."""
    return _judged(proposal, facts, settings, recent, now)[1]


def _judged(
    proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions, now: int
) -> tuple[list[RuleAnswer], Decision]:
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


def _step(rule: Rule, case: Case) -> RuleAnswer:
    ruling = rule.check(case)
    if ruling is None:
        return RuleAnswer(rule.name, rule.says, None, "")
    if case.facts.approved_by and (rule.overruled or ruling.verdict is Verdict.ASK):
        return RuleAnswer(rule.name, rule.says, None, f"Overridden by a moderator: {ruling.reason}")
    return RuleAnswer(rule.name, rule.says, ruling.verdict, ruling.reason)


def _verdict(case: Case, steps: list[RuleAnswer]) -> Decision:
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
