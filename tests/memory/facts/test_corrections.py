"""A correction in plain speech counts at once; what is quoted, supposed or joked counts never."""

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from forgetmenot.domain.memory import Note
from forgetmenot.memory.facts.corrections import Before, corrected, supports_correction
from forgetmenot.text.classifier import classifier
from forgetmenot.text.statements import meant_part, stated_part
from forgetmenot.text.words import words
from tests.notes_world import note

LINES = Path(__file__).parents[2] / "data" / "correction_lines.tsv"
PAIRS = Path(__file__).with_name("pairs.txt")
KNOWN = (
    "lives in Oslo", "plays the viola", "has a driving test on Monday", "likes tea", "has 3 cats and 2 dogs",
    "has a horse called Miso",
    "has a desk with two monitors and brown switches",
)  # fmt: skip


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("I live in Bergen now", "lives in Bergen"),
        ("cello, not viola!", "plays the cello"),
        ("not the viola, the cello", "plays the cello"),
        ("my test got moved, it's Thursday now", "has a driving test on Thursday"),
        ("my horse is called Soot", "their horse is called Soot"),
        ("I live in Oslo", None),  # known
        ("I like coffee", None),  # new, but contradicts nothing
        ("the race moved to Friday", None),  # about something else
        ("the cat is 4 now", None),  # not four cats
        ("sold the viola, I play zither now", "plays the zither"),
        ("Paris, not Rome", None),
        ("I'm not in Oslo, dentist thing", None),
        ("if the test moved to Friday I could come", None),
        ("my sister's driving test moved to Friday", None),
        ("no wait, Bergen", None),  # nobody has just said where they live
    ],
)
def test_a_line_changes_the_one_note_that_it_contradicts(line: str, fact: str | None) -> None:
    found = corrected(line, [note(number, known) for number, known in enumerate(KNOWN)])
    assert (found[1] if found else None) == fact


@pytest.mark.parametrize(
    ("known", "line", "fact"),
    [
        ("lives in Oslo", "no wait, Bergen", "lives in Bergen"),
        ("lives in Oslo", "*Bergen", "lives in Bergen"),
        ("lives in Oslo", "no pizza today", None),
        ("lives in Oslo", "sorry, brb", None),
        ("has a cat called Miso", "KEKW", None),
        ("has a cat called Miso", "kekw kekw", None),
        ("favourite game is Celeste", "catJAM PogU", None),
        ("lives in Oslo", "wait it's raining", None),
        ("plays the cello in a band", "actually it's a viola", "plays the viola in a band"),
        ("runs Dark Souls 2 tonight", "scratch that, dark souls 3", "runs Dark Souls 3 tonight"),
        ("has a 3070", "upgraded to a 4070 last night", "has a 4070"),
        ("has one brother", "correction: one brother, several gremlins", None),
        ("exam is on Monday", "it's friday actually", "exam is on Friday"),
        ("exam is on Monday", "finally, friday", "exam is on Friday"),
        ("has a cat called Miso", "I have a new cat", None),
    ],
)
def test_a_line_without_a_subject_is_about_what_was_just_said(known: str, line: str, fact: str | None) -> None:
    held = [note(1, known), note(2, "likes tea")]
    found = corrected(line, held, Before("own", known))
    assert (found[1] if found else None) == fact


def labelled() -> list[tuple[Before, list[Note], str, str]]:
    rows = [line.split("\t") for line in LINES.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        (Before(*re.split(r": ?", before, maxsplit=1)), list(map(note, range(9), known.split(" | "))), line, outcome)
        for before, known, line, outcome in rows
    ]


def verdict(outcome: str, known: list[Note], found: tuple[Note, str | None] | None) -> str:
    """What became of a labelled line: nothing, the right fact, or another."""
    if found is None:
        return "nothing"
    number, _, new = outcome.partition(": ")
    if outcome == "=" or known[int(number) - 1] is not found[0]:
        return "wrong"
    old, wanted, got = (set(words(text)) for text in (found[0].fact, new, found[1] or ""))
    if found[1] is None or new == "-":
        return "ended" if found[1] is None else "wrong"
    return "right" if wanted - old <= got and not (old - wanted) & got else "wrong"


def test_rates_on_lines_by_somebody_who_knew_no_rule() -> None:
    """docs/EVALUATION.md has the rates."""
    counts: Counter[tuple[str, str]] = Counter()
    for before, known, line, outcome in labelled():
        meant = stated_part(line)
        kind = "nothing" if outcome == "=" else "over" if outcome.endswith(": -") else "new"
        counts[kind, verdict(outcome, known, corrected(meant, known, before) if meant else None)] += 1
    print(sorted(counts.items()))  # noqa: T201
    assert counts["new", "right"] >= 95
    assert counts["new", "wrong"] <= 5
    assert counts["over", "ended"] >= 25
    assert counts["nothing", "wrong"] <= 7


def test_the_table_was_trained_on_the_lines_that_are_there() -> None:
    folder = Path(__file__).parents[3] / "scripts" / "classifiers"
    lines = b"".join((folder / name).read_bytes() for name in ("corrections.tsv", "ordinary_lines.txt"))
    assert classifier("corrections").rows == hashlib.sha256(lines).hexdigest()[:16]


def test_facts_that_differ_are_hardly_ever_corrections_of_each_other() -> None:
    """Both ways, the pairs that comparing facts is measured on (`test_similarity`): 8 of 842."""
    pairs = [line.split("|")[2:] for line in PAIRS.read_text("utf-8").splitlines() if line.startswith("X|")]
    both = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    assert len([(old, new) for old, new in both if corrected(new, [note(1, old)], Before("told"))]) <= 0.015 * len(both)


@pytest.mark.parametrize(
    "line",
    [
        '"I live in Bergen" said the sign', "imagine I live in Bergen", "I live in Bergen Kappa",
        "what if I moved to Bergen", "i'd live in Bergen if they paid me", "my mum said I live in Bergen",
        "the song goes I live in Bergen now", "ojalá viviera en Bergen",
    ],
)  # fmt: skip
def test_what_is_not_meant_is_no_evidence(line: str) -> None:
    assert meant_part(line) != line
    assert "I live in Bergen" not in meant_part(line)


@pytest.mark.parametrize(
    ("line", "carried"),
    [
        ("I live in Bergen", True), ("I don't live in Oslo anymore I live in Bergen", True),
        ("not Oslo, Bergen", True), ("no wait, Bergen", True), ("I don't live in Bergen", False),
        ("I never said Bergen lol", False), ("do I live in Bergen?", False), ("my mum lives in Bergen", False),
    ],
)  # fmt: skip
def test_a_models_correction_needs_a_line_that_says_so(line: str, carried: bool) -> None:
    assert supports_correction(line, "lives in Oslo", "lives in Bergen") is carried
