"""Promise 9, the policy's part: the words that go out fit the outcome, whatever the model wrote for the refusal."""

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from forgetmenot.actions.claims import claims
from forgetmenot.actions.lines import NEUTRAL, UNSURE, words_for
from forgetmenot.actions.scrub import smells
from forgetmenot.domain.action import Decision, Outcome, OutcomeKind, Verdict

LIES = [
    "I timed out bob.",
    "Done!",
    "bob is banned now",
    "Bob has been muted",
    "I've just deleted that message for you",
    "slow mode is on",
    "Enjoy your timeout, bob",
    "bob: gone",
    "𝐛𝐚𝐧𝐧𝐞𝐝",
    "Consider it done, alice",
    "No problem, bob is banned",
    "I can't say no, so bob is timed out",
]
HONEST = [
    "I can't do that, alice.",
    "Not today!",
    "Nope, bob is staying.",
    "I won't ban bob, he is lovely",
    "Ask a moderator, please.",
    "That didn't happen: no timeout for you.",
]


def _words(verdict: Verdict, kind: OutcomeKind | None, otherwise: str) -> str:
    decision = Decision(verdict, "rule", "reason", {"target": "2", "seconds": "30", "reason": ""})
    outcome = Outcome(kind) if kind else None
    return words_for(decision, outcome, "timeout", otherwise, log_id=3, target="bob")


@pytest.mark.parametrize("lie", LIES)
def test_a_refusal_that_claims_a_deed_is_replaced(lie: str) -> None:
    for kind in (None, OutcomeKind.REFUSED, OutcomeKind.FAILED):
        assert _words(Verdict.DENY if kind is None else Verdict.ALLOW, kind, lie) == NEUTRAL


@pytest.mark.parametrize("words", HONEST)
def test_an_honest_refusal_is_said_as_it_was_written(words: str) -> None:
    assert _words(Verdict.DENY, None, words) == words


def test_what_is_unknown_is_called_unknown() -> None:
    assert _words(Verdict.ALLOW, OutcomeKind.UNKNOWN, "Sure, done") == UNSURE


def test_waiting_for_a_person_says_so() -> None:
    assert _words(Verdict.ASK, None, "bob is banned") == "I've asked the moderators (#3)."


def test_a_shortened_deed_is_told_as_it_was() -> None:
    assert _words(Verdict.ALLOW_CHANGED, OutcomeKind.DONE, "") == "bob is timed out for 30 s."
    assert _words(Verdict.ALLOW_CHANGED, OutcomeKind.REFUSED, "") == NEUTRAL


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Off you go, alice, see you in a bit!", ""),
        ("Enjoy your timeout, alice", ""),
        ("I won't ban you, just a timeout", ""),
        ("bob is banned", "bob is timed out for 30 s."),
        ("Timed out alice. I also deleted the messages of bob", "bob is timed out for 30 s."),
        ("slow mode is on as well", "bob is timed out for 30 s."),
    ],
)
def test_words_about_another_deed_do_not_go_out_with_a_true_one(words: str, said: str) -> None:
    decision = Decision(Verdict.ALLOW, "allowed", "", {"target": "2", "seconds": "30", "reason": ""})
    done = Outcome(OutcomeKind.DONE)
    assert words_for(decision, done, "timeout", "", log_id=1, target="bob", words=words) == said


def test_only_what_was_done_lets_the_models_own_words_out() -> None:
    for verdict in Verdict:
        for kind in (None, *OutcomeKind):
            own_words = _words(verdict, kind, "") == ""
            assert own_words == (verdict is Verdict.ALLOW and kind is OutcomeKind.DONE)


@effort(max_examples=150, deadline=None)
@given(st.text(max_size=80))
def test_no_text_for_a_refusal_makes_a_claim_or_a_tag(otherwise: str) -> None:
    words = _words(Verdict.DENY, None, otherwise)
    assert words
    assert words == NEUTRAL or not claims(words)
    assert not smells(words)
