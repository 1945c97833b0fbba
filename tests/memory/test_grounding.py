"""Whether what a model wrote is supported by the chat that it read."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory.grounding import Evidence, Said
from forgetmenot.text.words import stems

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "grounding.jsonl").read_text("utf-8").splitlines()
]
_HANDLE = re.compile(r"(?<![A-Za-z0-9])P(\d+)(?!\d)")


def named(text: str) -> str:
    return _HANDLE.sub(r"<@\1>", text)


def evidence(*lines: tuple[str, str, str]) -> Evidence:
    """Lines of a handle, a role and a text."""
    said = [Said(who[1:], named(text), role in {"streamer", "moderator"}) for who, role, text in lines]
    return Evidence(said, next((who[1:] for who, role, _ in lines if role == "streamer"), None))


def verdicts(split: str) -> Iterator[tuple[str, bool]]:
    """The kind of each labelled statement, and whether it is refused."""
    for case in CASES:
        if case["split"] != split:
            continue
        read = evidence(*case["lines"])
        for kind in ("true", "invented"):
            yield from ((f"sentences {kind}", read.sentence_fault(named(text)) is not None) for text in case[kind])
            for who, fact in case[f"notes_{kind}"]:
                fault = read.channel_fault(fact) if who == "channel" else read.note_fault(named(fact), who[1:])
                yield f"notes {kind}", fault is not None


@pytest.mark.parametrize("split", ["dev", "heldout"])
def test_share_refused_of_labelled_statements(split: str) -> None:
    """Words alone reach this much: many of the invented ones are made of the words of the very person."""
    told = list(verdicts(split))
    refused, total = Counter(kind for kind, no in told if no), Counter(kind for kind, _ in told)
    share = {kind: round(refused[kind] / total[kind], 3) for kind in total}
    print(split, share)  # noqa: T201
    assert share["sentences invented"] >= 0.69
    assert share["sentences true"] <= 0.2
    assert share["notes invented"] >= 0.78
    assert share["notes true"] <= (0.25 if split == "dev" else 0.11)


CHAT = evidence(
    ("P1", "streamer", "movie night is on fridays at 8"),
    ("P2", "viewer", "my sister P3 and I moved to Oslo"),
    ("P3", "viewer", "I never drink coffee, only 3 teas a day"),
    ("P4", "viewer", "I want a husky"),
    ("P2", "viewer", "do you bake?"),
    ("P5", "viewer", "yes, twice a week"),
)


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        ("P3 drinks three teas a day.", None), ("P2 and P3 moved to Oslo.", None),
        ("The streamer has a movie night on Fridays.", None), ("P5 bakes twice a week.", None),
        ("P3 drinks four teas a day.", "number"), ("The episode is of 2017-06-19.", "number"),
        ("P2 moved to Bergen.", "name"), ("P3 drinks coffee.", "sense"), ("P2 never moved to Oslo.", "sense"),
        ("P4 has a husky.", "sense"), ("P4 moved to Oslo.", "words"), ("P5 studies law and collects stamps.", "words"),
        ("Whole sentences in the third person about decisions.", "echo"),
        ("Coffee is never drunk before noon.", "alone"), ("Movie night is on Fridays.", None),
    ],
)  # fmt: skip
def test_each_rule(sentence: str, rule: str | None) -> None:
    instructions = frozenset(stems("Write whole sentences in the third person about events and decisions."))
    assert CHAT.sentence_fault(named(sentence), instructions) == rule


def test_a_fact_about_the_channel_is_not_made_of_several_official_lines() -> None:
    read = evidence(
        ("P1", "streamer", "the stream is back"),
        ("P1", "streamer", "the raid is on friday"),
        ("P1", "streamer", "dinner is at 8"),
        ("P2", "viewer", "the stream begins every friday at 8"),
    )
    assert read.channel_fault("the stream begins every friday at 8") == "channel"
    assert read.channel_fault("the raid is on friday") is None


def test_what_somebody_asks_or_says_of_their_family_is_no_fact_about_them() -> None:
    lines = [
        ("P2", "viewer", "when's the road trip"),
        ("P3", "viewer", "my grandpa drove trams in Prague"),
        ("P4", "viewer", "I drove trams in Prague with my grandpa"),
    ]
    read = evidence(*lines)
    assert read.note_fault("plans a road trip", "2") == "asked"
    assert read.note_fault("drove trams in Prague", "3") == "about"
    assert read.note_fault("has a grandpa who drove trams in Prague", "3") is None
    assert read.note_fault("drove trams in Prague", "4") is None


@pytest.mark.parametrize(
    ("line", "fact", "speaker"),
    [
        (("P2", "I brew my own cider"), "brews their own cider", "2"),
        (("P2", "ich braue meinen Cider"), "ich braue meinen Cider", "2"),
        (("P2", "cider again"), "brews cider", None),  # less than CLEARLY
        (("P2", "brew cider with apples"), "brews cider", None),  # no first person
        (("P2", "do I brew cider?"), "brews cider", None),
        (("P2", "my brother brews cider"), "brews cider", None),
        (("P2", "I heard that P4 brews cider"), "brews cider", None),  # of somebody else
        (("P2", "I brew cider with P4"), "brews cider with P4", "2"),
        (("P3", "P2 brews cider"), "brews cider", "3"),
        (("P3", "I brew cider"), "brews cider", None),  # of themselves
        (("P3", "P2 and P4 brew cider"), "brews cider", None),
    ],
)
def test_who_said_it_is_found_in_lines_alone(line: tuple[str, str], fact: str, speaker: str | None) -> None:
    who, text = line
    read = evidence((who, "viewer", text), ("P4", "viewer", "what is going on"), ("P5", "viewer", "I like cider"))
    assert read.speaker_of(named(fact), "2") == speaker


@pytest.mark.parametrize(
    ("smear", "own", "fact"),
    [
        ("P2 is 45", "I am back", "is 45"),
        ("P2 has 12 of them", "I am back", "has 12 of them"),
        ("P2 owes 5000 dollars", "I owe dollars to everyone", "owes 5000 dollars"),
    ],
)
def test_a_number_that_another_said_is_not_found_in_somebodys_own_line(smear: str, own: str, fact: str) -> None:
    read = evidence(("P3", "viewer", smear), ("P2", "viewer", own))
    assert read.speaker_of(fact, "2") != "2"


def test_a_speaker_is_soon_sought_among_many_lines_that_fit() -> None:
    lines = [("P2", "viewer", "do I love pizza with extra cheese?")] * 300
    lines += [(f"P{number}", "viewer", f"does P2 love pizza with extra cheese? {number}") for number in range(3, 300)]
    read = evidence(*lines)
    began = time.process_time()
    assert read.speaker_of("loves pizza with extra cheese", "2") is None
    assert time.process_time() - began < 2


def test_speakers_are_found_for_a_share_of_labelled_notes() -> None:
    """Without being told who spoke: fewer true notes are kept, and few invented ones pass."""
    for split in ("dev", "heldout"):
        kept = {"true": [0, 0], "invented": [0, 0]}
        for case in CASES:
            read = evidence(*case["lines"])
            for kind, count in kept.items():
                notes = [(who[1:], named(fact)) for who, fact in case[f"notes_{kind}"] if who != "channel"]
                count[0] += sum(read.speaker_of(fact, who) == who for who, fact in notes if case["split"] == split)
                count[1] += len(notes) if case["split"] == split else 0
        print(split, kept)  # noqa: T201
        assert kept["true"][0] >= 0.18 * kept["true"][1]
        assert kept["invented"][0] <= 0.04 * kept["invented"][1]


def test_a_note_that_says_nothing_is_supported_by_nothing() -> None:
    assert CHAT.note_fault("is a viewer", "2") == "words"


def test_a_fact_about_the_channel_needs_its_own_people_or_three_witnesses() -> None:
    rumour = [(f"P{number}", "viewer", "the karaoke stream is on Monday") for number in range(2, 5)]
    assert evidence(*rumour[:2]).channel_fault("karaoke streams are on Mondays") == "channel"
    assert evidence(*rumour).channel_fault("karaoke streams are on Mondays") is None
    assert evidence(("P2", "moderator", rumour[0][2])).channel_fault("karaoke streams are on Mondays") is None
    assert Evidence([Said("", "Karaoke Monday", official=True)]).channel_fault("karaoke is on Monday") is None


@given(st.lists(st.tuples(st.sampled_from("12"), st.text(max_size=60)), max_size=5), st.text(max_size=120))
def test_no_text_breaks_it(lines: list[tuple[str, str]], statement: str) -> None:
    read = Evidence([Said(who, text) for who, text in lines], "1")
    assert read.sentence_fault(statement) in {None, "number", "name", "sense", "words", "echo", "alone"}
    assert read.channel_fault(statement) in {None, "channel"}
