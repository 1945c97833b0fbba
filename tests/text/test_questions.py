"""Which lines ask for something remembered, and which notes answer them, on lines that nobody trained on."""

from pathlib import Path

import pytest

from forgetmenot.text.questions import ANSWERS, answers, asked_about, without_names

TESTS = Path(__file__).parents[1]
UNSEEN = (TESTS / "data" / "question_lines.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in UNSEEN if not line.startswith("#")]


def test_lines_that_ask_for_memory_are_known() -> None:
    found = [asked_about(line) for kind, line, *_ in ROWS if kind != "none"]
    wrong = [asked_about(line) for kind, line, *_ in ROWS if kind == "none"]
    print(sum(map(bool, found)), len(found), sum(map(bool, wrong)), len(wrong))  # noqa: T201
    assert sum(map(bool, found)) >= 0.88 * len(found)
    assert sum(map(bool, wrong)) <= 0.1 * len(wrong)


def test_notes_that_answer_are_known() -> None:
    told: list[bool] = []
    untold: list[bool] = []
    right = 0
    for kind, line, *beside in ROWS:
        if kind != "none":
            shares = [answers(line, fact) for fact in beside[0].split(" | ")]
            (untold if beside[1] == "=" else told).append(max(shares) >= ANSWERS)
            right += max(shares) >= ANSWERS and str(shares.index(max(shares)) + 1) in beside[1].split(",")
    print(sum(told), right, len(told), sum(untold), len(untold))  # noqa: T201
    assert right >= 0.28 * len(told)
    assert sum(told) - right <= 0.02 * len(told)
    assert sum(untold) <= 0.07 * len(untold)


@pytest.mark.parametrize(
    "line", ["<@1> plays well", "who would win, <@1> or <@1>?", "how to beat this boss?", "gg", ""]
)
def test_what_asks_for_no_memory_is_left_alone(line: str) -> None:
    assert not asked_about(line)


def test_names_count_as_one_word() -> None:
    assert without_names("Alice's cat, alices dog, @alice <@42>", {"alice", "Alice's", "@alice"}.__contains__) == (
        "<@1> cat, <@1> dog, <@1> <@42>"
    )
