"""Promise 8: the model proposes, code disposes. The same input gives the same decision, without any I/O inside."""

import ast
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import Proposal, Role, Verdict
from forgetmenot.operations import policy
from forgetmenot.operations.actions import ACTIONS, BY_NAME
from forgetmenot.operations.policy import decide
from forgetmenot.operations.types import (
    ActionClass,
    PersonFacts,
    PolicyFacts,
    RecentDecisions,
)
from forgetmenot.settings.schema import (
    ActionSettings,
    BotSettings,
    ClassMode,
    Mode,
    Settings,
)

NOW = 1_784_894_400_000
ALICE = PersonFacts("1", "alice")
OPEN = Settings(
    bot=BotSettings(mode=Mode.LIVE),
    actions=ActionSettings(
        class_a=ClassMode.LIVE, class_b=ClassMode.LIVE, newcomer_protection=False
    ),
)
WILLING = PolicyFacts(
    asker=ALICE,
    target=ALICE,
    asked_for=frozenset(action.name for action in ACTIONS),
    live=True,
)
NEVER_ALONE = [
    action.name for action in ACTIONS if action.kind is ActionClass.NEVER_ALONE
]


def test_the_policy_imports_nothing_that_could_look_outside() -> None:
    tree = ast.parse(Path(str(policy.__file__)).read_text(encoding="utf-8"))
    imported = {
        node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
    allowed = (
        "collections.abc",
        "msgspec",
        "forgetmenot.operations.",
        "forgetmenot.domain",
        "forgetmenot.languages",
        "forgetmenot.settings.",
    )
    assert all(name.startswith(allowed) for name in imported), imported


@given(
    st.sampled_from(NEVER_ALONE),
    st.dictionaries(
        st.sampled_from(
            ["target", "text", "seconds", "reason", "approved_by", "verdict"]
        ),
        st.text(),
    ),
    st.text(),
    st.booleans(),
)
def test_no_text_of_a_model_lets_class_c_run(
    name: str, params: dict[str, str], if_refused: str, live: bool
) -> None:
    proposal = Proposal(
        name,
        {"target": "alice", "text": "words", "seconds": "600"} | params,
        if_refused,
    )
    decision_input = (
        proposal,
        WILLING,
        OPEN if live else Settings(),
        RecentDecisions(),
        NOW,
    )
    decision = decide(*decision_input)
    assert decision.verdict in {Verdict.ASK, Verdict.DENY}
    assert decision == decide(*decision_input)


@given(st.sampled_from([action.name for action in ACTIONS]))
def test_safe_mode_stops_everything(name: str) -> None:
    proposal = Proposal(
        name,
        {
            "target": "alice",
            "text": "words",
            "seconds": "61",
            "fact": "tea",
            "what": "tea",
        },
    )
    safe = PolicyFacts(
        asker=ALICE, target=ALICE, safe_mode=True, live=True, approved_by="9"
    )
    assert decide(proposal, safe, OPEN, RecentDecisions(), NOW).verdict is Verdict.DENY


NAMES = st.sampled_from([action.name for action in ACTIONS])
TEXTS = st.text(max_size=20) | st.sampled_from(
    ["60", "1", "99999", "bob", "me", "hello there"]
)
PARAMS = st.dictionaries(
    st.sampled_from(["target", "seconds", "text", "fact", "what", "gap", "user_id"]),
    TEXTS,
)
FLAG = st.booleans()
LOGINS = st.sampled_from(["alice", "bob"])
PEOPLE = st.builds(
    PersonFacts,
    st.sampled_from(["1", "2"]),
    LOGINS,
    role=st.sampled_from(list(Role)),
    newcomer=FLAG,
    is_bot=FLAG,
)
FACTS = st.builds(
    PolicyFacts,
    asker=PEOPLE,
    target=st.none() | PEOPLE,
    immune=st.sampled_from([True, False, None]),
    asked_for=st.frozensets(NAMES, max_size=5),
    typed=st.dictionaries(NAMES, TEXTS, max_size=2),
    **dict.fromkeys(("named", "live", "paused", "safe_mode"), FLAG),
)
CHOSEN = st.builds(
    ActionSettings,
    class_a=st.sampled_from(list(ClassMode)),
    class_b=st.sampled_from(list(ClassMode)),
    class_c=st.sampled_from(
        list(ClassMode)
    ),  # even a value that the settings cannot hold
    denied_targets=st.lists(LOGINS, max_size=1).map(tuple),
    max_timeout_s=st.integers(1, 60),
)


@given(
    st.builds(Proposal, NAMES | st.text(max_size=8), PARAMS, TEXTS),
    FACTS,
    CHOSEN,
    st.sampled_from(list(Mode)),
)
def test_what_runs_without_a_person_harms_only_who_asked_for_it(
    proposal: Proposal, facts: PolicyFacts, actions: ActionSettings, mode: Mode
) -> None:
    settings = Settings(bot=BotSettings(mode=mode), actions=actions)
    decision = decide(proposal, facts, settings, RecentDecisions(), NOW)
    if decision.verdict not in {Verdict.ALLOW, Verdict.ALLOW_CHANGED}:
        return
    action = BY_NAME[proposal.name]
    assert action.kind is not ActionClass.NEVER_ALONE
    assert not any((facts.safe_mode, facts.paused))
    if action.harms and facts.target is not None:
        assert facts.target.role not in {Role.BROADCASTER, Role.MODERATOR, Role.VIP}
        assert (facts.target.id, action.name in facts.asked_for) == (
            facts.asker.id,
            True,
        )
        assert facts.target.login not in actions.denied_targets
    if action.name == "timeout":
        assert 1 <= int(decision.params["seconds"]) <= actions.max_timeout_s
