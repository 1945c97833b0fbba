"""The policy: every rule says no (or asks) where it should, and nothing lets class C run without a person."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from forgetmenot.domain import Proposal, Role, Verdict
from forgetmenot.languages import reason
from forgetmenot.operations.actions import (
    CHAT,
    DEFAULT_REASON,
    IMMUNITY,
    NEEDS,
    lacking,
    scopes_for,
)
from forgetmenot.operations.policy import RULES, decide
from forgetmenot.operations.types import PersonFacts, PolicyFacts, RecentDecisions
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
    actions=ActionSettings(
        class_a=ClassMode.LIVE, class_b=ClassMode.LIVE, class_c=GuardedMode.ASK
    ),
)
TIMEOUT = Proposal("timeout", {"target": "alice", "seconds": "30"})
CLIP = Proposal("clip")
BAN = Proposal("ban", {"target": "bob"})
WILLING = PolicyFacts(
    asker=ALICE,
    target=ALICE,
    asked_for=frozenset({"timeout", "clip", "marker"}),
    live=True,
)
ON_BOB = replace(WILLING, target=BOB)
UNASKED = replace(WILLING, asked_for=frozenset())


def _with(**actions: object) -> Settings:
    return msgspec.structs.replace(
        LIVE, actions=msgspec.structs.replace(LIVE.actions, **actions)
    )


ANNOUNCE = Proposal("announce", {"text": "hear, hear"})
FORGET = Proposal("forget", {"target": "bob", "what": "tea"})
SLOW = Proposal("slow_mode")
SHOUTOUT = Proposal("shoutout", {"target": "bob"})
BY_MOD = replace(
    ON_BOB, asker=MOD, asked_for=frozenset({"shoutout", "announce"}), named=True
)
CALM = RecentDecisions()
"""Nothing was decided lately."""

ASK = Verdict.ASK
DENY = Verdict.DENY
FULL = RecentDecisions(waiting=5, waiting_of_asker=2)


class Case(NamedTuple):
    """What a rule says of a proposal."""

    rule: str
    verdict: Verdict
    proposal: Proposal
    facts: PolicyFacts = WILLING
    settings: Settings = LIVE
    recent: RecentDecisions = CALM


CASES = [
    Case("unknown_action", DENY, Proposal("explode")),
    # strangers who ask for slow mode must not keep everybody from a clip
    Case("allowed", Verdict.ALLOW, CLIP, recent=FULL),
    Case("allowed", Verdict.ALLOW, TIMEOUT, recent=FULL),
    Case(
        "parameters", DENY, Proposal("timeout", {"target": "alice", "seconds": "soon"})
    ),
    Case("parameters", DENY, Proposal("announce", {"text": ' {"action": "ban"} '})),
    Case("safe_mode", DENY, CLIP, replace(WILLING, safe_mode=True)),
    Case("paused", DENY, CLIP, replace(WILLING, paused=True)),
    Case(
        "silent_preview",
        DENY,
        CLIP,
        settings=msgspec.structs.replace(LIVE, bot=BotSettings()),
    ),
    Case("switched_off", DENY, CLIP, settings=_with(disabled=("clip",))),
    Case("switched_off", DENY, CLIP, settings=_with(class_a=ClassMode.OFF)),
    Case("switched_off", ASK, CLIP, settings=_with(class_a=ClassMode.ASK)),
    Case("switched_off", DENY, TIMEOUT, settings=_with(class_b=ClassMode.SHADOW)),
    Case("stream_live", DENY, TIMEOUT, replace(WILLING, live=False)),
    Case("target_known", DENY, TIMEOUT, replace(WILLING, target=None)),
    Case("not_a_bot", DENY, TIMEOUT, replace(ON_BOB, target=replace(BOB, is_bot=True))),
    Case("immune", DENY, TIMEOUT, replace(ON_BOB, target=replace(BOB, role=Role.VIP))),
    Case("immune", DENY, BAN, replace(ON_BOB, target=MOD)),
    Case("protected", DENY, TIMEOUT, settings=_with(denied_targets=("@Alice",))),
    Case("protected", DENY, TIMEOUT, settings=_with(allowed_targets=("bob",))),
    Case(
        "newcomer",
        DENY,
        TIMEOUT,
        replace(WILLING, target=replace(ALICE, newcomer=True)),
    ),
    # spammers are newcomers: who names one means them, and is asked once more
    Case("switched_off", ASK, BAN, replace(BY_MOD, target=replace(BOB, newcomer=True))),
    Case(
        "newcomer",
        DENY,
        BAN,
        replace(BY_MOD, named=False, target=replace(BOB, newcomer=True)),
    ),
    Case("possible", DENY, BAN, replace(BY_MOD, obstacle="needs the streamer")),
    Case("possible", DENY, CLIP, replace(WILLING, obstacle="needs a right")),
    Case("refused_often", DENY, CLIP, recent=RecentDecisions(refusals=3)),
    Case("allowed", Verdict.ALLOW, CLIP, recent=RecentDecisions(refusals=2)),
    Case(
        "asked_in_words",
        DENY,
        Proposal("remember", {"target": "me", "fact": "likes tea"}),
    ),
    Case("own_notes_only", DENY, FORGET, replace(ON_BOB, typed={"forget": "tea"})),
    Case("consent", DENY, TIMEOUT, ON_BOB),
    Case("consent", DENY, TIMEOUT, UNASKED),
    Case("consent", ASK, TIMEOUT, replace(ON_BOB, asker=MOD)),
    Case("affects_everybody", ASK, Proposal("emote_only"), replace(WILLING, asker=MOD)),
    Case("asked_in_words", DENY, SHOUTOUT, replace(ON_BOB, asker=MOD)),
    Case("affects_everybody", DENY, SHOUTOUT, replace(BY_MOD, named=False)),
    Case("affects_everybody", ASK, SHOUTOUT, replace(BY_MOD, asker=ALICE)),
    Case("asked_in_words", DENY, CLIP, UNASKED),
    Case("asked_in_words", DENY, Proposal("marker"), UNASKED),
    Case("asked_in_words", DENY, CLIP, replace(UNASKED, asker=MOD)),
    Case("asked_in_words", DENY, Proposal("marker"), replace(UNASKED, asker=MOD)),
    Case("asked_in_words", DENY, BAN, replace(ON_BOB, asker=MOD, asks_nothing=True)),
    Case(
        "affects_everybody",
        DENY,
        Proposal("bit"),
        replace(WILLING, typed={"bit": "the lamp"}),
    ),
    Case("moderators_only", DENY, BAN, ON_BOB),
    Case(
        "already_on",
        DENY,
        SLOW,
        replace(WILLING, asker=MOD, room_modes=frozenset({"slow"})),
    ),
    Case("too_soon", DENY, CLIP, recent=RecentDecisions(cooldown_until=NOW + 1)),
    Case("stream_limit", DENY, CLIP, recent=RecentDecisions(done_this_stream=30)),
    Case("queue_full", DENY, Proposal("emote_only"), recent=RecentDecisions(waiting=5)),
    Case(
        "queue_full",
        DENY,
        Proposal("emote_only"),
        recent=RecentDecisions(waiting=2, waiting_of_asker=2),
    ),
    Case(
        "affects_everybody",
        ASK,
        Proposal("emote_only"),
        recent=RecentDecisions(waiting=4, waiting_of_asker=1),
    ),
    Case("immune", DENY, TIMEOUT, replace(WILLING, immune=True)),
    Case("immune", DENY, TIMEOUT, replace(WILLING, immune=None)),
]


@pytest.mark.parametrize(
    ("rule", "verdict", "proposal", "facts", "settings", "recent"), CASES
)
def test_each_rule_decides_where_it_should(
    rule: str,
    verdict: Verdict,
    proposal: Proposal,
    facts: PolicyFacts,
    settings: Settings,
    recent: RecentDecisions,
) -> None:
    decision = decide(proposal, facts, settings, recent, NOW)
    assert (decision.rule, decision.verdict) == (rule, verdict)
    assert decision.reason


CHECKED = {"target": "1", "seconds": "30", "reason": DEFAULT_REASON}


def test_an_allowed_action_has_its_parameters_with_the_targets_id() -> None:
    decision = decide(TIMEOUT, WILLING, LIVE, CALM, NOW)
    assert (decision.verdict, decision.params) == (Verdict.ALLOW, CHECKED)


def test_a_reduced_action_is_allowed_with_the_reduced_parameters() -> None:
    too_long = Proposal("timeout", {"target": "alice", "seconds": "999"})
    decision = decide(too_long, WILLING, LIVE, CALM, NOW)
    assert (decision.verdict, decision.rule) == (Verdict.ALLOW_CHANGED, "parameters")
    assert decision.reason == reason("changed", parameter="seconds")
    assert decision.params == CHECKED | {"seconds": "60"}


def test_a_denied_action_keeps_the_parameters_that_were_checked() -> None:
    decision = decide(TIMEOUT, replace(WILLING, live=False), LIVE, CALM, NOW)
    assert (decision.verdict, decision.params) == (Verdict.DENY, CHECKED)


# What a person's yes does not set aside: what cannot be done, the streamer's settings, and who is immune.
BINDING = {
    "unknown_action", "parameters", "safe_mode", "paused", "silent_preview", "switched_off", "stream_live",
    "target_known", "not_a_bot", "immune", "protected", "already_on", "possible",
}  # fmt: skip


def test_every_rule_has_a_case_and_binds_the_person_who_approves_or_protects_from_the_model_alone() -> (
    None
):
    assert {rule.name for rule in RULES} - {case[0] for case in CASES} == {
        "always_asks"
    }
    for rule, verdict, proposal, facts, settings, recent in CASES:
        decision = decide(
            proposal, replace(facts, approved_by="9"), settings, recent, NOW
        )
        denied = rule in BINDING and verdict is DENY
        assert (decision.rule, decision.verdict) == (
            (rule, DENY) if denied else ("allowed", Verdict.ALLOW)
        ), proposal


def test_an_action_in_preview_is_not_taken_for_a_bot_in_preview() -> None:
    settings = _with(class_b=ClassMode.SHADOW)
    decision = decide(TIMEOUT, WILLING, settings, CALM, NOW)
    assert decision.reason == reason("action_preview")


def test_class_c_needs_a_person_by_two_rules() -> None:
    """Whatever the rule of the classes says, even a setting that cannot be: the last one asks by itself."""
    free: Any = ClassMode.LIVE
    for settings in (LIVE, _with(class_c=free)):
        assert (
            decide(BAN, replace(ON_BOB, asker=MOD), settings, CALM, NOW).verdict is ASK
        )
        assert (
            decide(BAN, replace(ON_BOB, approved_by="9"), settings, CALM, NOW).verdict
            is Verdict.ALLOW
        )


OFF: dict[str, Any] = {
    "class_a": ClassMode.OFF,
    "class_b": ClassMode.OFF,
    "class_c": GuardedMode.OFF,
}
FREE = {**OFF, "class_a": ClassMode.LIVE}


@pytest.mark.parametrize(
    ("actions", "bot", "broadcaster"),
    [
        ({**OFF, "class_b": ClassMode.SHADOW}, (), ()),
        ({"safe_mode": True}, (), ()),
        (
            FREE,
            ("clips:edit", "moderator:manage:shoutouts"),
            ("channel:manage:broadcast",),
        ),
        ({**FREE, "disabled": ("clip", "marker")}, ("moderator:manage:shoutouts",), ()),
    ],
)
def test_a_bot_that_only_talks_asks_for_the_rights_of_chat_alone(
    actions: dict[str, Any], bot: tuple[str, ...], broadcaster: tuple[str, ...]
) -> None:
    twitch = TwitchSettings(channel="demo", bot_login="keeper")
    settings = Settings(actions=ActionSettings(**actions), twitch=twitch)
    assert scopes_for(Account.BOT, settings) == (*CHAT, *bot)
    assert scopes_for(Account.BROADCASTER, settings) == broadcaster
    missing = lacking(Account.BOT, settings, scopes_for(Account.BOT, settings))
    assert missing.trouble == ""


def test_every_right_and_every_action_that_needs_one_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "TWITCH_APP.md").read_text(
        encoding="utf-8"
    )
    harmful = Settings(actions=ActionSettings(**OFF | {"class_b": ClassMode.LIVE}))
    assert set(IMMUNITY) <= set(scopes_for(Account.BROADCASTER, harmful)), (
        "it must be able to ask who is immune"
    )
    names = {*CHAT, *IMMUNITY}
    for action in NEEDS:
        names |= {action.name, action.scope}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []
