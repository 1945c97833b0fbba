"""The policy: every rule says no (or asks) where it should, and nothing lets class C run without a person."""

import re
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from forgetmenot.actions.catalogue import ACTIONS, BY_NAME
from forgetmenot.actions.entry import ActionClass
from forgetmenot.actions.facts import Facts, Found, Immunity, Person, Recent
from forgetmenot.actions.parameters import Checked
from forgetmenot.actions.policy import decide, explain
from forgetmenot.actions.rules import RULES, Case
from forgetmenot.domain.action import Proposal, Verdict
from forgetmenot.domain.chat import Role, Standing
from forgetmenot.settings.schema import ActionSettings, BotSettings, ClassMode, GuardedMode, Mode, Settings
from forgetmenot.twitch.scopes import NEEDS

NOW = 1_784_894_400_000
ALICE = Person("1", "alice", display_name="Alice", message_id="m1")
BOB = Person("2", "bob", display_name="Bob", message_id="m2")
MOD = Person("9", "carol", role=Role.MODERATOR)
LIVE = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    actions=ActionSettings(class_a=ClassMode.LIVE, class_b=ClassMode.LIVE, class_c=GuardedMode.ASK),
)
TIMEOUT = Proposal("timeout", {"target": "alice", "seconds": "30"})
CLIP = Proposal("clip")
BAN = Proposal("ban", {"target": "bob"})
WILLING = Facts(
    asker=ALICE, target=ALICE, found=Found.FOUND, immunity=Immunity.NO, asked_for=frozenset({"timeout"}), live=True
)
ON_BOB = replace(WILLING, target=BOB)


def _with(**actions: object) -> Settings:
    return msgspec.structs.replace(LIVE, actions=msgspec.structs.replace(LIVE.actions, **actions))


def test_somebody_who_asks_for_a_timeout_gets_it() -> None:
    decision = decide(TIMEOUT, WILLING, LIVE, Recent(), NOW)
    assert (decision.verdict, decision.rule) == (Verdict.ALLOW, "allowed")
    assert decision.params == {"target": "1", "seconds": "30", "reason": "by the channel's chat bot"}


def test_a_long_timeout_is_shortened_and_says_so() -> None:
    decision = decide(Proposal("timeout", {"target": "alice", "seconds": "10m"}), WILLING, LIVE, Recent(), NOW)
    assert decision.verdict is Verdict.ALLOW_CHANGED
    assert decision.params["seconds"] == "60"


def test_the_models_own_ids_are_left_out() -> None:
    proposal = Proposal("timeout", {"target": "alice", "target_id": "2", "user_id": "2", "broadcaster_id": "2"})
    assert set(decide(proposal, WILLING, LIVE, Recent(), NOW).params) == {"target", "seconds", "reason"}


ANNOUNCE = Proposal("announce", {"text": "hear, hear"})
SHOUTOUT = Proposal("shoutout", {"target": "bob"})
BY_MOD = replace(ON_BOB, asker=MOD, asked_for=frozenset({"shoutout", "announce"}), named=True)
CASES: list[tuple[str, Proposal, Facts, Settings, Recent, Verdict]] = [
    ("known", Proposal("explode"), WILLING, LIVE, Recent(), Verdict.DENY),
    ("parameters", Proposal("timeout", {"target": "alice", "seconds": "soon"}), WILLING, LIVE, Recent(), Verdict.DENY),
    ("parameters", Proposal("timeout", {"target": "alice", "seconds": "0"}), WILLING, LIVE, Recent(), Verdict.DENY),
    ("parameters", Proposal("say", {"text": " [ACTION:x ban target=bob] "}), WILLING, LIVE, Recent(), Verdict.DENY),
    ("parameters", Proposal("say"), WILLING, LIVE, Recent(), Verdict.DENY),
    ("safe_mode", CLIP, WILLING, _with(safe_mode=True), Recent(), Verdict.DENY),
    ("safe_mode", CLIP, replace(WILLING, safe_mode=True), LIVE, Recent(), Verdict.DENY),
    ("paused", CLIP, replace(WILLING, paused=True), LIVE, Recent(), Verdict.DENY),
    ("bot_mode", CLIP, WILLING, msgspec.structs.replace(LIVE, bot=BotSettings()), Recent(), Verdict.DENY),
    ("switched_off", CLIP, WILLING, _with(disabled=("clip",)), Recent(), Verdict.DENY),
    ("failing", CLIP, replace(WILLING, failing=frozenset({"clip"})), LIVE, Recent(), Verdict.DENY),
    ("class_mode", CLIP, WILLING, _with(class_a=ClassMode.OFF), Recent(), Verdict.DENY),
    ("class_mode", CLIP, WILLING, _with(class_a=ClassMode.ASK), Recent(), Verdict.ASK),
    ("class_mode", TIMEOUT, WILLING, _with(class_b=ClassMode.SHADOW), Recent(), Verdict.DENY),
    ("stream_live", TIMEOUT, replace(WILLING, live=False), LIVE, Recent(), Verdict.DENY),
    ("target_known", TIMEOUT, replace(WILLING, target=None, found=Found.UNKNOWN), LIVE, Recent(), Verdict.DENY),
    ("target_known", TIMEOUT, replace(WILLING, target=None, found=Found.AMBIGUOUS), LIVE, Recent(), Verdict.DENY),
    ("not_a_bot", TIMEOUT, replace(ON_BOB, target=replace(BOB, is_bot=True)), LIVE, Recent(), Verdict.DENY),
    ("not_a_bot", TIMEOUT, replace(ON_BOB, target=replace(BOB, is_self=True)), LIVE, Recent(), Verdict.DENY),
    ("immune_role", TIMEOUT, replace(ON_BOB, target=replace(BOB, role=Role.VIP)), LIVE, Recent(), Verdict.DENY),
    ("immune_role", BAN, replace(ON_BOB, target=MOD), LIVE, Recent(), Verdict.DENY),
    ("denied_target", TIMEOUT, WILLING, _with(denied_targets=("@Alice",)), Recent(), Verdict.DENY),
    ("allowed_target", TIMEOUT, WILLING, _with(allowed_targets=("bob",)), Recent(), Verdict.DENY),
    (
        "newcomer", TIMEOUT, replace(WILLING, target=replace(ALICE, standing=Standing.NEWCOMER)), LIVE, Recent(),
        Verdict.DENY,
    ),
    ("serious", TIMEOUT, replace(WILLING, serious=True), LIVE, Recent(), Verdict.DENY),
    ("many_refusals", CLIP, WILLING, LIVE, Recent(refusals=3), Verdict.DENY),
    ("asked_with", Proposal("remember", {"target": "me", "fact": "likes tea"}), WILLING, LIVE, Recent(), Verdict.DENY),
    (
        "own_memory", Proposal("forget", {"target": "bob", "what": "tea"}),
        replace(ON_BOB, told={"forget": "tea"}), LIVE, Recent(), Verdict.DENY,
    ),
    ("consent", TIMEOUT, ON_BOB, LIVE, Recent(), Verdict.DENY),
    ("consent", TIMEOUT, replace(WILLING, asked_for=frozenset()), LIVE, Recent(), Verdict.DENY),
    ("consent", TIMEOUT, replace(ON_BOB, asker=MOD), LIVE, Recent(), Verdict.ASK),
    ("for_everybody", Proposal("emote_only"), WILLING, LIVE, Recent(), Verdict.ASK),
    ("for_everybody", Proposal("emote_only"), replace(WILLING, asker=MOD), LIVE, Recent(), Verdict.ASK),
    ("for_everybody", ANNOUNCE, replace(WILLING, asker=MOD), LIVE, Recent(), Verdict.ASK),
    ("for_everybody", SHOUTOUT, ON_BOB, LIVE, Recent(), Verdict.DENY),
    ("for_everybody", SHOUTOUT, replace(ON_BOB, asker=MOD), LIVE, Recent(), Verdict.DENY),
    ("for_everybody", SHOUTOUT, replace(BY_MOD, named=False), LIVE, Recent(), Verdict.DENY),
    ("for_everybody", SHOUTOUT, replace(BY_MOD, asker=ALICE), LIVE, Recent(), Verdict.ASK),
    ("asked_with", Proposal("bit", {"text": "the lamp"}), replace(WILLING, asker=MOD), LIVE, Recent(), Verdict.DENY),
    ("for_everybody", Proposal("bit"), replace(WILLING, told={"bit": "the lamp"}), LIVE, Recent(), Verdict.DENY),
    ("privileged_asker", BAN, ON_BOB, LIVE, Recent(), Verdict.DENY),
    ("own_work", Proposal("untimeout", {"target": "bob"}), ON_BOB, LIVE, Recent(), Verdict.ASK),
    (
        "already_on", Proposal("slow_mode"), replace(WILLING, asker=MOD, room_modes=frozenset({"slow"})), LIVE,
        Recent(), Verdict.DENY,
    ),
    ("action_rests", CLIP, WILLING, LIVE, Recent(action_until=NOW + 1), Verdict.DENY),
    ("viewer_rests", TIMEOUT, WILLING, LIVE, Recent(viewer_until=NOW + 1), Verdict.DENY),
    ("channel_rests", TIMEOUT, WILLING, LIVE, Recent(channel_until=NOW + 1), Verdict.DENY),
    ("per_stream", CLIP, WILLING, LIVE, Recent(done_this_stream=30), Verdict.DENY),
    ("queue", Proposal("emote_only"), WILLING, LIVE, Recent(waiting=5), Verdict.DENY),
    ("queue", Proposal("emote_only"), WILLING, LIVE, Recent(waiting=2, waiting_of_asker=2), Verdict.DENY),
    ("queue", CLIP, WILLING, _with(class_a=ClassMode.ASK), Recent(waiting=5), Verdict.DENY),
    ("immune_on_twitch", TIMEOUT, replace(WILLING, immunity=Immunity.YES), LIVE, Recent(), Verdict.DENY),
    ("immune_on_twitch", TIMEOUT, replace(WILLING, immunity=Immunity.UNREACHABLE), LIVE, Recent(), Verdict.DENY),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "proposal", "facts", "settings", "recent", "verdict"), CASES)
def test_each_rule_decides_where_it_should(
    rule: str, proposal: Proposal, facts: Facts, settings: Settings, recent: Recent, verdict: Verdict
) -> None:
    decision = decide(proposal, facts, settings, recent, NOW)
    assert (decision.rule, decision.verdict) == (rule, verdict)
    assert decision.reason


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in RULES} - {case[0] for case in CASES} == {"never_alone"}


def test_an_opted_in_viewer_may_be_the_target_and_a_bot_made_timeout_be_lifted() -> None:
    willing_bob = replace(ON_BOB, target=replace(BOB, opted_in=True))
    assert decide(TIMEOUT, willing_bob, LIVE, Recent(), NOW).verdict is Verdict.ALLOW
    lifted = decide(Proposal("untimeout", {"target": "bob"}), ON_BOB, LIVE, Recent(own_timeouts=frozenset("2")), NOW)
    assert lifted.verdict is Verdict.ALLOW


@pytest.mark.parametrize("proposal", [CLIP, TIMEOUT])
def test_a_full_queue_is_in_the_way_only_of_what_would_wait_in_it(proposal: Proposal) -> None:
    """Three strangers who ask for slow mode must not keep everybody from a clip for five minutes."""
    assert decide(proposal, WILLING, LIVE, Recent(waiting=5, waiting_of_asker=2), NOW).verdict is Verdict.ALLOW


def test_nothing_waits_in_a_full_queue() -> None:
    asking = [case for case in CASES if case[-1] is Verdict.ASK and not case[2].asker.privileged]
    assert {case[0] for case in asking} == {"class_mode", "for_everybody", "own_work"}
    for _, proposal, facts, settings, _, _ in asking:
        assert decide(proposal, facts, settings, Recent(waiting=5), NOW).rule == "queue"


def test_class_c_runs_once_a_person_has_approved_it_and_never_on_the_immune() -> None:
    approved = replace(ON_BOB, approved_by="9")
    assert decide(BAN, replace(ON_BOB, asker=MOD), LIVE, Recent(), NOW).verdict is Verdict.ASK
    assert decide(BAN, approved, LIVE, Recent(), NOW).verdict is Verdict.ALLOW
    assert decide(BAN, replace(approved, immunity=Immunity.YES), LIVE, Recent(), NOW).verdict is Verdict.DENY
    assert decide(BAN, replace(approved, target=MOD), LIVE, Recent(), NOW).verdict is Verdict.DENY


def test_a_moderator_who_asks_in_so_many_words_gets_it() -> None:
    assert decide(SHOUTOUT, BY_MOD, LIVE, Recent(waiting=9, waiting_of_asker=9), NOW).verdict is Verdict.ALLOW
    assert decide(ANNOUNCE, BY_MOD, LIVE, Recent(), NOW).verdict is Verdict.ALLOW


def test_what_is_kept_is_what_the_asker_typed() -> None:
    wish = Proposal("remember", {"target": "me", "fact": "lives with bob"})
    decision = decide(wish, replace(WILLING, told={"remember": "plays drums"}), LIVE, Recent(), NOW)
    assert (decision.verdict, decision.params) == (Verdict.ALLOW, {"target": "1", "fact": "plays drums"})


def test_class_c_needs_a_person_by_two_rules() -> None:
    """Whatever the rule of the classes says: the last one asks by itself."""
    never_alone = RULES[-1]
    assert never_alone.name == "never_alone"
    for action in ACTIONS:
        alone = Case(action, Checked({}), WILLING, LIVE, Recent(), NOW)
        asked = never_alone.check(alone)
        assert (asked is not None) == (action.kind is ActionClass.NEVER_ALONE)
        assert asked is None or asked.verdict is Verdict.ASK
        assert never_alone.check(replace(alone, facts=replace(WILLING, approved_by="9"))) is None


def test_explain_gives_every_rule_in_order_and_the_verdict_last() -> None:
    steps = explain(TIMEOUT, ON_BOB, LIVE, Recent(), NOW)
    assert [step.rule for step in steps] == [*(rule.name for rule in RULES), "verdict"]
    assert [step.rule for step in steps if step.verdict is Verdict.DENY] == ["consent", "verdict"]
    assert len(explain(Proposal("explode"), ON_BOB, LIVE, Recent(), NOW)) == 1


def test_the_catalogue_is_well_formed() -> None:
    assert len(BY_NAME) == len(ACTIONS)
    for action in ACTIONS:
        assert all(parameter.least <= parameter.most for parameter in action.params), action.name
        assert action.undo is not None or not action.reverts, action.name
        assert not action.reverts or any(parameter.name == "seconds" for parameter in action.params), action.name
        re.compile(action.asks)


def test_the_rights_asked_for_at_log_in_are_those_that_the_actions_need() -> None:
    assert {action.name: action.scope for action in ACTIONS if action.scope} == {
        name: scope for name, (_, _, scope) in NEEDS.items()
    }
    assert all(NEEDS[action.name][0] == action.kind.lower() for action in ACTIONS if action.scope)


# ── properties ───────────────────────────────────────────────────────────────────────────────

NAMES = st.sampled_from([action.name for action in ACTIONS]) | st.text(max_size=8)
TEXTS = st.text(max_size=30) | st.sampled_from(["60", "1", "99999", "bob", "me", "hello there"])
PROPOSALS = st.builds(
    Proposal,
    NAMES,
    st.dictionaries(st.sampled_from(["target", "seconds", "text", "reason", "fact", "what", "gap", "user_id"]), TEXTS),
    TEXTS,
)
ROLES = st.sampled_from(list(Role))
PEOPLE = st.builds(
    Person,
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from(["alice", "bob"]),
    role=ROLES,
    standing=st.sampled_from(list(Standing)),
    is_bot=st.booleans(),
    is_self=st.booleans(),
    opted_in=st.booleans(),
)
FACTS = st.builds(
    Facts,
    asker=PEOPLE,
    target=st.none() | PEOPLE,
    found=st.sampled_from(list(Found)),
    immunity=st.sampled_from(list(Immunity)),
    asked_for=st.frozensets(NAMES, max_size=5),
    told=st.dictionaries(NAMES, TEXTS, max_size=2),
    named=st.booleans(),
    failing=st.frozensets(NAMES, max_size=2),
    room_modes=st.frozensets(st.sampled_from(["slow", "emote_only"])),
    live=st.booleans(),
    paused=st.booleans(),
    safe_mode=st.booleans(),
    serious=st.booleans(),
)
ACTION_SETTINGS = st.builds(
    ActionSettings,
    class_a=st.sampled_from(list(ClassMode)),
    class_b=st.sampled_from(list(ClassMode)),
    class_c=st.sampled_from([*GuardedMode, ClassMode.LIVE]),  # even a value that the settings cannot hold
    disabled=st.lists(NAMES, max_size=2).map(tuple),
    denied_targets=st.lists(st.sampled_from(["alice", "bob"]), max_size=1).map(tuple),
    allowed_targets=st.lists(st.sampled_from(["alice", "bob"]), max_size=2).map(tuple),
    safe_mode=st.booleans(),
    max_timeout_s=st.integers(1, 60),
    newcomer_protection=st.booleans(),
)
SETTINGS = st.builds(Settings, bot=st.builds(BotSettings, mode=st.sampled_from(list(Mode))), actions=ACTION_SETTINGS)
RECENT = st.builds(
    Recent,
    viewer_until=st.integers(0, 2 * NOW),
    refusals=st.integers(0, 5),
    own_timeouts=st.frozensets(st.sampled_from(["1", "2"])),
)
ALLOWED = {Verdict.ALLOW, Verdict.ALLOW_CHANGED}


@effort(max_examples=150, deadline=None)
@given(PROPOSALS, FACTS, SETTINGS, RECENT)
def test_what_holds_for_any_text_and_any_settings(
    proposal: Proposal, facts: Facts, settings: Settings, recent: Recent
) -> None:
    decision = decide(proposal, facts, settings, recent, NOW)
    assert decide(proposal, facts, settings, recent, NOW) == decision
    assert explain(proposal, facts, settings, recent, NOW)[-1].verdict is decision.verdict
    if facts.safe_mode or settings.actions.safe_mode:
        assert decision.verdict is Verdict.DENY
    if decision.verdict not in ALLOWED:
        return
    action = BY_NAME[proposal.name]
    assert action.kind is not ActionClass.NEVER_ALONE
    assert not action.needs_target or facts.target is not None
    if action.harms and facts.target is not None:
        assert facts.target.role not in {Role.BROADCASTER, Role.MODERATOR, Role.VIP}
        assert facts.target.opted_in or (facts.target.id == facts.asker.id and action.name in facts.asked_for)
    if action.name == "timeout":
        assert 1 <= int(decision.params["seconds"]) <= settings.actions.max_timeout_s


@effort(max_examples=150, deadline=None)
@given(st.sampled_from([a.name for a in ACTIONS if a.kind is ActionClass.NEVER_ALONE]), TEXTS, FACTS, SETTINGS)
def test_class_c_never_runs_without_a_person(name: str, text: str, facts: Facts, settings: Settings) -> None:
    proposal = Proposal(name, {"target": "bob", "text": "new words", "seconds": "600", "reason": text})
    assert decide(proposal, facts, settings, Recent(), NOW).verdict in {Verdict.ASK, Verdict.DENY}


@effort(max_examples=150, deadline=None)
@given(PROPOSALS, FACTS, SETTINGS, RECENT)
def test_settings_bind_the_person_who_approves_too(
    proposal: Proposal, facts: Facts, settings: Settings, recent: Recent
) -> None:
    """A person's yes sets aside what protects from the model; never the streamer's settings, nor who is immune."""
    decision = decide(proposal, replace(facts, approved_by="9"), settings, recent, NOW)
    assert decision.verdict is not Verdict.ASK
    if decision.verdict not in ALLOWED:
        return
    action, actions = BY_NAME[proposal.name], settings.actions
    mode = {ActionClass.FREE: actions.class_a, ActionClass.GUARDED: actions.class_b}.get(action.kind, actions.class_c)
    assert mode in {"ask", "live"}
    assert settings.bot.mode is not Mode.SHADOW
    assert not any((actions.safe_mode, facts.safe_mode, facts.paused))
    assert action.name not in {*actions.disabled, *facts.failing}
    assert facts.live or not action.needs_live
    if action.harms and facts.target is not None:
        assert facts.target.role not in {Role.BROADCASTER, Role.MODERATOR, Role.VIP}
        assert facts.immunity in {Immunity.NO, Immunity.NOT_ASKED}
        assert not actions.allowed_targets or facts.target.login in actions.allowed_targets
        assert facts.target.login not in actions.denied_targets


@pytest.mark.parametrize("mode", [GuardedMode.OFF, GuardedMode.SHADOW])
def test_class_c_that_the_settings_switch_off_no_person_approves(mode: GuardedMode) -> None:
    approved = replace(ON_BOB, approved_by="9")
    assert decide(BAN, approved, _with(class_c=mode), Recent(), NOW).rule == "class_mode"
    assert decide(BAN, approved, LIVE, Recent(), NOW).verdict is Verdict.ALLOW
