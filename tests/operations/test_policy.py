"""The policy: every rule says no (or asks) where it should, and nothing lets class C run without a person."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace

from forgetmenot.domain import Proposal, Role, Verdict
from forgetmenot.operations.catalogue import ACTIONS, BY_NAME, CHAT, IMMUNITY, NEEDS, lacking, scopes_for
from forgetmenot.operations.policy import RULES, Case, decide
from forgetmenot.operations.requests import Checked
from forgetmenot.operations.types import ActionClass, PersonFacts, PolicyFacts, RecentDecisions
from forgetmenot.secret_store import Account
from forgetmenot.settings.schema import (
    ActionSettings,
    BotSettings,
    ClassMode,
    GuardedMode,
    Mode,
    Settings,
    TwitchSettings,
)

NOW = 1_784_894_400_000
ALICE = PersonFacts("1", "alice", display_name="Alice", message_id="m1")
BOB = PersonFacts("2", "bob", display_name="Bob", message_id="m2")
MOD = PersonFacts("9", "carol", role=Role.MODERATOR)
LIVE = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    actions=ActionSettings(class_a=ClassMode.LIVE, class_b=ClassMode.LIVE, class_c=GuardedMode.ASK),
)
TIMEOUT = Proposal("timeout", {"target": "alice", "seconds": "30"})
CLIP = Proposal("clip")
BAN = Proposal("ban", {"target": "bob"})
WILLING = PolicyFacts(asker=ALICE, target=ALICE, asked_for=frozenset({"timeout", "clip", "marker"}), live=True)
ON_BOB = replace(WILLING, target=BOB)


def _with(**actions: object) -> Settings:
    return msgspec.structs.replace(LIVE, actions=msgspec.structs.replace(LIVE.actions, **actions))


ANNOUNCE = Proposal("announce", {"text": "hear, hear"})
FORGET, SLOW = Proposal("forget", {"target": "bob", "what": "tea"}), Proposal("slow_mode")
SHOUTOUT = Proposal("shoutout", {"target": "bob"})
BY_MOD = replace(ON_BOB, asker=MOD, asked_for=frozenset({"shoutout", "announce"}), named=True)
CALM = RecentDecisions()
"""Nothing was decided lately."""

ASK, DENY = Verdict.ASK, Verdict.DENY
FULL = RecentDecisions(waiting=5, waiting_of_asker=2)
CASES: list[tuple[str, Verdict, Proposal, PolicyFacts, Settings, RecentDecisions]] = [
    ("unknown_action", DENY, Proposal("explode"), WILLING, LIVE, CALM),
    # strangers who ask for slow mode must not keep everybody from a clip
    *(("allowed", Verdict.ALLOW, one, WILLING, LIVE, FULL) for one in (CLIP, TIMEOUT)),
    ("parameters", DENY, Proposal("timeout", {"target": "alice", "seconds": "soon"}), WILLING, LIVE, CALM),
    ("parameters", DENY, Proposal("announce", {"text": ' {"action": "ban"} '}), WILLING, LIVE, CALM),
    ("safe_mode", DENY, CLIP, replace(WILLING, safe_mode=True), LIVE, CALM),
    ("paused", DENY, CLIP, replace(WILLING, paused=True), LIVE, CALM),
    ("silent_preview", DENY, CLIP, WILLING, msgspec.structs.replace(LIVE, bot=BotSettings()), CALM),
    ("switched_off", DENY, CLIP, WILLING, _with(disabled=("clip",)), CALM),
    ("switched_off", DENY, CLIP, WILLING, _with(class_a=ClassMode.OFF), CALM),
    ("switched_off", ASK, CLIP, WILLING, _with(class_a=ClassMode.ASK), CALM),
    ("switched_off", DENY, TIMEOUT, WILLING, _with(class_b=ClassMode.SHADOW), CALM),
    ("stream_live", DENY, TIMEOUT, replace(WILLING, live=False), LIVE, CALM),
    ("target_known", DENY, TIMEOUT, replace(WILLING, target=None), LIVE, CALM),
    ("not_a_bot", DENY, TIMEOUT, replace(ON_BOB, target=replace(BOB, is_bot=True)), LIVE, CALM),
    ("immune", DENY, TIMEOUT, replace(ON_BOB, target=replace(BOB, role=Role.VIP)), LIVE, CALM),
    ("immune", DENY, BAN, replace(ON_BOB, target=MOD), LIVE, CALM),
    ("protected", DENY, TIMEOUT, WILLING, _with(denied_targets=("@Alice",)), CALM),
    ("protected", DENY, TIMEOUT, WILLING, _with(allowed_targets=("bob",)), CALM),
    ("newcomer", DENY, TIMEOUT, replace(WILLING, target=replace(ALICE, newcomer=True)), LIVE, CALM),
    ("refused_often", DENY, CLIP, WILLING, LIVE, RecentDecisions(refusals=3)),
    ("asked_in_words", DENY, Proposal("remember", {"target": "me", "fact": "likes tea"}), WILLING, LIVE, CALM),
    ("own_notes_only", DENY, FORGET, replace(ON_BOB, typed={"forget": "tea"}), LIVE, CALM),
    ("consent", DENY, TIMEOUT, ON_BOB, LIVE, CALM),
    ("consent", DENY, TIMEOUT, replace(WILLING, asked_for=frozenset()), LIVE, CALM),
    ("consent", ASK, TIMEOUT, replace(ON_BOB, asker=MOD), LIVE, CALM),
    ("affects_everybody", ASK, Proposal("emote_only"), replace(WILLING, asker=MOD), LIVE, CALM),
    ("affects_everybody", ASK, ANNOUNCE, replace(WILLING, asker=MOD), LIVE, CALM),
    ("asked_in_words", DENY, SHOUTOUT, replace(ON_BOB, asker=MOD), LIVE, CALM),
    ("affects_everybody", DENY, SHOUTOUT, replace(BY_MOD, named=False), LIVE, CALM),
    ("affects_everybody", ASK, SHOUTOUT, replace(BY_MOD, asker=ALICE), LIVE, CALM),
    *(("asked_in_words", DENY, Proposal(name), replace(WILLING, asker=who, asked_for=frozenset()), LIVE, CALM)
      for name in ("clip", "marker") for who in (ALICE, MOD)),
    ("asked_in_words", DENY, BAN, replace(ON_BOB, asker=MOD, asks_nothing=True), LIVE, CALM),
    ("asked_in_words", DENY, Proposal("bit", {"text": "the lamp"}), replace(WILLING, asker=MOD), LIVE, CALM),
    ("affects_everybody", DENY, Proposal("bit"), replace(WILLING, typed={"bit": "the lamp"}), LIVE, CALM),
    ("moderators_only", DENY, BAN, ON_BOB, LIVE, CALM),
    ("already_on", DENY, SLOW, replace(WILLING, asker=MOD, room_modes=frozenset({"slow"})), LIVE, CALM),
    ("too_soon", DENY, CLIP, WILLING, LIVE, RecentDecisions(cooldown_until=NOW + 1)),
    ("stream_limit", DENY, CLIP, WILLING, LIVE, RecentDecisions(done_this_stream=30)),
    ("queue_full", DENY, Proposal("emote_only"), WILLING, LIVE, RecentDecisions(waiting=5)),
    ("queue_full", DENY, Proposal("emote_only"), WILLING, LIVE, RecentDecisions(waiting=2, waiting_of_asker=2)),
    ("immune", DENY, TIMEOUT, replace(WILLING, immune=True), LIVE, CALM),
    ("immune", DENY, TIMEOUT, replace(WILLING, immune=None), LIVE, CALM),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "verdict", "proposal", "facts", "settings", "recent"), CASES)
def test_each_rule_decides_where_it_should(
    rule: str, verdict: Verdict, proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions
) -> None:
    decision = decide(proposal, facts, settings, recent, NOW)
    assert (decision.rule, decision.verdict) == (rule, verdict)
    assert decision.reason


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in RULES} - {case[0] for case in CASES} == {"always_asks"}
    assert {case[0] for case in CASES if case[1] is ASK} == {"switched_off", "consent", "affects_everybody"}


def test_class_c_needs_a_person_by_two_rules() -> None:
    """Whatever the rule of the classes says: the last one asks by itself."""
    for action in ACTIONS:
        alone = Case(action, Checked({}), WILLING, LIVE, CALM, NOW)
        asked = RULES[-1].check(alone)
        assert (asked[0] if asked else None) is (ASK if action.kind is ActionClass.NEVER_ALONE else None)
        assert RULES[-1].check(replace(alone, facts=replace(WILLING, approved_by="9"))) is None
    assert decide(BAN, replace(ON_BOB, asker=MOD), LIVE, CALM, NOW).verdict is ASK
    assert decide(BAN, replace(ON_BOB, approved_by="9"), LIVE, CALM, NOW).verdict is Verdict.ALLOW


# ── properties ───────────────────────────────────────────────────────────────────────────────

NAMES, FLAG = st.sampled_from([action.name for action in ACTIONS]), st.booleans()
TEXTS = st.text(max_size=9) | st.sampled_from(["60", "1", "99999", "bob", "me", "hello there"])
NAMED = st.sampled_from(["target", "seconds", "text", "reason", "fact", "what", "gap", "user_id"])
PEOPLE = st.builds(
    PersonFacts, st.sampled_from("12"), st.sampled_from(["alice", "bob"]), role=st.sampled_from(list(Role)),
    newcomer=FLAG, is_bot=FLAG,
)  # fmt: skip
FACTS = st.builds(
    PolicyFacts, asker=PEOPLE, target=st.none() | PEOPLE, immune=st.sampled_from([True, False, None]),
    asked_for=st.frozensets(NAMES, max_size=5), typed=st.dictionaries(NAMES, TEXTS, max_size=2), named=FLAG,
    live=FLAG, paused=FLAG, safe_mode=FLAG, approved_by=st.sampled_from(["", "9"]),
)  # fmt: skip
ANYBODY = st.lists(st.sampled_from(["alice", "bob"]), max_size=1).map(tuple)
ACTION_SETTINGS = st.builds(
    ActionSettings, class_a=st.sampled_from(list(ClassMode)), class_b=st.sampled_from(list(ClassMode)),
    class_c=st.sampled_from([*GuardedMode, ClassMode.LIVE]),  # even a value that the settings cannot hold
    disabled=st.lists(NAMES, max_size=2).map(tuple), denied_targets=ANYBODY, allowed_targets=ANYBODY,
    max_timeout_s=st.integers(1, 60), safe_mode=FLAG,
)  # fmt: skip
SETTINGS = st.builds(Settings, bot=st.builds(BotSettings, mode=st.sampled_from(list(Mode))), actions=ACTION_SETTINGS)
RECENT = st.builds(RecentDecisions, cooldown_until=st.integers(0, 2 * NOW), refusals=st.integers(0, 5))


@given(st.builds(Proposal, NAMES, st.dictionaries(NAMED, TEXTS)), FACTS, SETTINGS, RECENT)
@hypothesis_settings(max_examples=200)
def test_what_holds_for_any_text_and_any_settings(
    proposal: Proposal, facts: PolicyFacts, settings: Settings, recent: RecentDecisions
) -> None:
    """A person's yes sets aside what protects from the model; never the streamer's settings, nor who is immune."""
    decision = decide(proposal, facts, settings, recent, NOW)
    if decision.verdict not in {Verdict.ALLOW, Verdict.ALLOW_CHANGED}:
        assert not (facts.approved_by and decision.verdict is ASK)
        return
    action, actions = BY_NAME[proposal.name], settings.actions
    mode = {ActionClass.FREE: actions.class_a, ActionClass.GUARDED: actions.class_b}.get(action.kind, actions.class_c)
    assert mode == "live" or (mode == "ask" and facts.approved_by)
    assert facts.approved_by or action.kind is not ActionClass.NEVER_ALONE
    assert settings.bot.mode is not Mode.SHADOW
    assert not any((actions.safe_mode, facts.safe_mode, facts.paused, action.name in actions.disabled))
    assert facts.live or not action.needs_live
    assert facts.target is not None or not action.needs_target
    if action.harms and facts.target is not None:
        assert facts.target.role not in {Role.BROADCASTER, Role.MODERATOR, Role.VIP}
        assert facts.immune is False
        assert not actions.allowed_targets or facts.target.login in actions.allowed_targets
        assert facts.target.login not in actions.denied_targets
        assert facts.approved_by or (facts.target.id == facts.asker.id and action.name in facts.asked_for)
    if action.name == "timeout":
        assert 1 <= int(decision.params["seconds"]) <= actions.max_timeout_s


OFF = {"class_a": ClassMode.OFF, "class_b": ClassMode.OFF, "class_c": GuardedMode.OFF}
FREE = {"class_a": ClassMode.LIVE, "class_b": ClassMode.OFF, "class_c": GuardedMode.OFF}


@pytest.mark.parametrize(
    ("actions", "bot", "broadcaster"),
    [
        ({**OFF, "class_b": ClassMode.SHADOW}, (), ()),
        ({"safe_mode": True}, (), ()),
        (FREE, ("clips:edit", "moderator:manage:shoutouts"), ("channel:manage:broadcast",)),
        ({**FREE, "disabled": ("clip", "marker")}, ("moderator:manage:shoutouts",), ()),
        ({**OFF, "class_b": ClassMode.LIVE}, None, ("moderation:read", "channel:read:vips")),
    ],
)
def test_rights_are_asked_for_what_is_switched_on(
    actions: dict[str, Any], bot: tuple[str, ...] | None, broadcaster: tuple[str, ...]
) -> None:
    """Whoever may do harm must be able to ask who is immune; a bot that only talks asks for chat alone."""
    twitch = TwitchSettings(channel="demo", bot_login="keeper")
    settings = Settings(actions=ActionSettings(**actions), twitch=twitch)
    assert bot is None or scopes_for(Account.BOT, settings) == (*CHAT, *bot)
    assert scopes_for(Account.BROADCASTER, settings) == broadcaster
    assert "forgetmenot login" in lacking(Account.BOT, Settings(), CHAT)
    assert lacking(Account.BOT, settings, scopes_for(Account.BOT, settings)) == ""


def test_every_right_and_every_action_that_needs_one_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "TWITCH_APP.md").read_text(encoding="utf-8")
    asked = {*CHAT, *IMMUNITY, *(one for action in NEEDS for one in (action.name, action.scope))}
    assert [name for name in sorted(asked) if f"`{name}`" not in page] == []
