"""How chat takes a reply, and what of its prompt a reply used."""

from pathlib import Path

import pytest
from bench_memory import lines_of
from scoring import facts
from scoring.facts import PEOPLE

from forgetmenot.reply.outcomes import LineAfter, ReplyOutcome, outcome_of
from forgetmenot.reply.support import (
    Claim,
    asks_memory,
    facts_in,
    unfounded,
    unsupported,
    used_notes,
    without_unsupported,
)

DATA = Path(__file__).parents[1] / "data" / "outcomes.tsv"


def test_outcomes_are_read_as_well_as_they_were() -> None:
    """On the half that the rules were made on; `scripts/bench_memory.py outcomes` prints the other one, too."""
    rates, _ = facts.outcomes(lines_of(DATA, "\t", 4))
    assert rates["dev: right"] >= 0.88
    assert rates["dev: corrected, precision"] >= 0.85


@pytest.mark.parametrize(
    ("lines", "outcome"),
    [
        ([], ReplyOutcome.IGNORED),
        ([("bob", "alice lol that jump")], ReplyOutcome.IGNORED),
        ([("bob", "@alice no way")], ReplyOutcome.IGNORED),
        ([("alice", "lol"), ("alice", "no that's wrong")], ReplyOutcome.CORRECTED),
    ],
)
def test_a_line_to_somebody_else_counts_for_nothing(lines: list[tuple[str, str]], outcome: ReplyOutcome) -> None:
    assert outcome_of("the boss is weak to ice", [LineAfter(*one) for one in lines], people=PEOPLE) is outcome


LORE = "[id:1; said by them; 2 days ago] plays the cello\n[id:2] collects stamps from Peru\n"


def test_what_a_reply_used_and_what_nothing_supports() -> None:
    assert facts_in(LORE) == {1: "plays the cello", 2: "collects stamps from Peru"}
    reply = "You play the cello, alice, and last time in Rome you won 12 medals. Stamps are fun."
    assert used_notes(reply, facts_in(LORE), "what do I play?") == [1, 2]
    assert used_notes("I have no idea.", facts_in(LORE)) == []
    claims = unsupported(reply, [LORE], ["alice"])
    assert [(one.kind, reply[one.start : one.end]) for one in claims] == [
        ("past", "last time"),
        ("name", "Rome"),
        ("number", "12"),
    ]
    assert without_unsupported(reply, claims) == "You play the cello, alice. Stamps are fun."
    assert unsupported("You have stamps from Peru, two of them.", [LORE]) == []
    assert unsupported("Last time we spoke of your cello and stamps.", [LORE]) == []
    assert without_unsupported("In Rome.", [Claim("name", 3, 7)]) == ""


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        ("Alice plays the cello in Rome.", "Alice plays the cello in Rome."),  # half of it is known
        ("She plays the trombone. Nice question!", "Nice question!"),
        ("Her band tours Norway in June.", ""),
        ("I don't remember that, sorry.", "I don't remember that, sorry."),
        ("Alice plays the cello, imported from Norway in June. Nice!", "Alice plays the cello. Nice!"),
    ],
)
def test_an_answer_about_somebody_needs_a_note_about_them(reply: str, left: str) -> None:
    asked = "what instrument does alice play?"
    assert asks_memory(asked, names_somebody=True)
    assert without_unsupported(reply, unfounded(reply, asked, [LORE])) == left


@pytest.mark.parametrize(
    "question", ["what is the capital of Norway?", "alice plays well", "who would win, alice or bob?"]
)
def test_what_asks_for_no_memory_is_left_alone(question: str) -> None:
    assert not asks_memory(question, names_somebody="alice" in question)


def test_a_japanese_reply_keeps_its_supported_sentences() -> None:
    reply = "雨が降った。点が出た。"
    assert without_unsupported(reply, [Claim("number", 6, 7)]) == "雨が降った。"
