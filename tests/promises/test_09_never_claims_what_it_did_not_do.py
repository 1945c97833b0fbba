"""Promise 9: the words that go out fit what was done, whatever the model wrote, with a proposal or without one."""

import pytest

from forgetmenot.domain import Decision, Outcome, OutcomeKind, Proposal, Verdict
from forgetmenot.languages import in_language
from forgetmenot.operations.wording import line_for
from forgetmenot.reply.output_filters import claims_action
from tests.stage import Stage, answering

NEUTRAL = in_language()("action.neutral")
UNSURE = in_language()("action.unsure")


def _words(
    verdict: Verdict,
    kind: OutcomeKind | None,
    if_refused: str,
    words: str = "",
    *,
    moderates: bool = False,
) -> str:
    decision = Decision(
        verdict, "rule", "reason", {"target": "2", "seconds": "30", "reason": ""}
    )
    outcome = Outcome(kind) if kind else None
    proposal = Proposal("timeout", {}, if_refused)
    return line_for(
        decision,
        outcome,
        proposal,
        log_id=3,
        target="bob",
        say=words,
        moderates=moderates,
    )


def test_what_waits_is_unknown_or_was_shortened_is_told_as_it_is() -> None:
    assert _words(Verdict.ALLOW, OutcomeKind.UNKNOWN, "Sure, done") == UNSURE
    assert (
        _words(Verdict.ALLOW_CHANGED, OutcomeKind.DONE, "") == "Done: timeout bob 30 s."
    )
    assert _words(Verdict.ALLOW_CHANGED, OutcomeKind.REFUSED, "") == NEUTRAL
    assert (
        _words(Verdict.ASK, None, "")
        == "A moderator has to say yes first (timeout bob 30 s: !approve 3)."
    )
    assert (
        _words(Verdict.ASK, None, "", moderates=True)
        == "Type !approve 3 and I'll do it (timeout bob 30 s)."
    )


def test_only_what_was_done_lets_the_models_own_words_out() -> None:
    for verdict in Verdict:
        for kind in (None, *OutcomeKind):
            own_words = _words(verdict, kind, "", "See you!") == ""
            assert own_words == (verdict is Verdict.ALLOW and kind is OutcomeKind.DONE)


TIMEOUT = answering(
    "Off you go!",
    "timeout",
    target="alice",
    seconds=30,
    if_refused="I can not do that now, alice.",
)


@pytest.mark.parametrize(
    "outcome", [OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.UNKNOWN]
)
async def test_a_deed_that_went_wrong_lets_no_later_boast_out(
    stage: Stage, outcome: OutcomeKind
) -> None:
    stage.moderation.answer = Outcome(outcome)
    stage.model.answers = [
        TIMEOUT,
        "I timed out alice a minute ago.",
        "I created a clip.",
    ]
    await stage.ask("@forgetmenot_bot time me out please")
    assert stage.moderation.done_actions == ["timeout 1 30"]
    for viewer in "23":
        reply = await stage.reply("@forgetmenot_bot what did you do?", viewer)
        assert reply.text == NEUTRAL
        assert "claim" in (await stage.row(reply.id)).filters


async def test_a_deed_that_was_done_may_be_told_and_no_other(stage: Stage) -> None:
    true_words = "I timed out alice a minute ago."
    stage.model.answers = [TIMEOUT, true_words, "I banned alice."]
    await stage.ask("@forgetmenot_bot time me out please")
    assert (
        await stage.reply("@forgetmenot_bot what did you do?", "2")
    ).text == true_words
    assert (await stage.reply("@forgetmenot_bot what else?", "3")).text == NEUTRAL


LIES = [
    "I timed out bob.",
    "bob is banned now",
    "Bob has been muted",
    "I've just deleted that message for you",
    "slow mode is on",
    "𝐛𝐚𝐧𝐧𝐞𝐝",
    "No problem, bob is banned",
]


@pytest.mark.parametrize("lie", LIES)
async def test_a_refusal_that_claims_an_action_is_replaced(
    stage: Stage, lie: str
) -> None:
    stage.moderation.answer = Outcome(OutcomeKind.REFUSED)
    stage.model.answers = [
        answering(lie, "timeout", target="alice", seconds=30, if_refused=lie)
    ]
    assert (await stage.reply("@forgetmenot_bot time me out please")).text == NEUTRAL


async def test_words_about_another_action_do_not_go_out_with_a_true_one(
    stage: Stage,
) -> None:
    words = "Enjoy your timeout, alice. I banned bob too."
    stage.model.answers = [answering(words, "timeout", target="alice", seconds=30)]
    assert (
        await stage.reply("@forgetmenot_bot time me out please")
    ).text == "Enjoy your timeout, alice."


@pytest.mark.parametrize(
    "boast",
    ["I **ban**ned bob", "I `timed out` bob", "You are ti**med** out", "*bans bob*"],
)
async def test_no_markup_hides_a_boast(stage: Stage, boast: str) -> None:
    """What counts is what chat reads: filters take the markup away behind the one that hears boasts."""
    refused = answering("ok", "ban", target="bob", if_refused=boast)
    boast_with_action = answering(boast, "timeout", target="alice", seconds=30)
    stage.model.answers = [boast, refused, boast_with_action]
    for viewer, words in (("2", "hi"), ("3", "ban bob"), ("1", "time me out please")):
        reply = await stage.reply(f"@forgetmenot_bot {words}", viewer)
        assert (
            reply.text == NEUTRAL
            if viewer != "1"
            else not claims_action(reply.text, {"timeout"})
        )
