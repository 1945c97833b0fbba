"""Is it the same fact? Measured on pairs written for it, and on its own rules."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory.compare_facts import Relation, relate

D = Relation.DUPLICATE
C = Relation.CONFLICT
X = Relation.DISTINCT
PAIRS = [
    line.split("|")
    for line in Path(__file__)
    .with_name("fact_pairs.txt")
    .read_text("utf-8")
    .splitlines()
    if not line.startswith("#")
]


def share(pairs: list[list[str]], kind: str, relations: set[Relation]) -> float:
    of_kind = [pair for pair in pairs if pair[0] == kind]
    return sum(relate(pair[2], pair[3]) in relations for pair in of_kind) / len(of_kind)


@pytest.mark.parametrize("half", [0, 1], ids=["looked at", "held out"])
def test_the_rates_that_keep_a_memory_true(half: int) -> None:
    pairs = PAIRS[half::2]
    superseded = [pair for pair in pairs if relate(pair[2], pair[3]) is C]
    assert share(pairs, "C", {D}) <= 0.04, "a contradiction taken for a confirmation"
    assert share(pairs, "X", {D, C}) <= 0.05, "a different fact merged or superseded"
    assert sum(pair[0] == "C" for pair in superseded) / len(superseded) >= 0.95
    assert share(pairs, "C", {C}) >= 0.65
    assert share(pairs, "D", {D}) >= 0.80


SMALL_WORDS = (
    "is",
    "is not",
    "no longer",
    "used to be",
    "this",
    "so",
    "likes",
    "<@42>",
    "1",
)
SMALL = st.lists(st.sampled_from(SMALL_WORDS), max_size=3)


@given(*[st.text(max_size=80) | SMALL.map(" ".join)] * 2)
def test_any_two_texts_have_a_relation(first: str, second: str) -> None:
    """What is left when words that say nothing are dropped may be nothing."""
    assert isinstance(relate(first, second), Relation)


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("🎸🎸🎸🎸🎸", "🎹🎹🎹🎹🎹", X),
        ("is friends with <@42>", "is friends with <@43>", X),
        ("<@42> taught them chess", "taught <@42> chess", X),
        ("lives in Berlin", "brother lives in Berlin", X),
        ("lives in Berlin with two cats", "lives in Berlin near the zoo", X),
        ("gifted 5 subs", "gifted 10 subs", X),
        ("used to live in Rome", "used to live in Milan", X),
        ("finished Portal", "finished Portal 2", X),
        ("has a cat named Miso", "has a cat named Tofu", X),
        ("works as a nurse", "also works as a barista", X),
        ("lives in Germany", "lives in Munich", X),
        ("is a vegetarian", "doesn't eat meat", D),
        ("likes coffee", "dislikes coffee", C),
        ("has a dog", "is looking for a dog", X),
        ("has a dog", "had a dog", C),
        ("saw Muse live in 2018", "saw Muse live in 2022", X),
        ("is a Zelda fan", "hates Zelda", C),
        ("plays X every day", "no longer plays X every day", C),
        ("", "plays chess", X),
        ("has cats", "likes cats", X),
        ("gifted 5 subs in May", "gifted 5 subs in June", X),
        ("was raided by <@42>", "raided <@42>", X),
        ("works as a mechanic", "works as a mechnaic", D),
        ("wants a dog", "has a dog", X),
    ],
)
def test_what_other_memories_got_wrong(old: str, new: str, relation: Relation) -> None:
    assert relate(old, new) is relation


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("loves 🍣", "loves 🍕", X),
        ("loves 🍣", "hates 🍣", C),
        ("favourite food is 🍣", "favourite food is 🍕", C),
        ("plays drums", "plays drums 🥁", D),
        ("waves with 👍", "waves with 👍🏽", D),
        ("is from 🇯🇵", "is from 🇧🇷", C),
    ],
)
def test_pictures_are_words(old: str, new: str, relation: Relation) -> None:
    assert relate(old, new) is relation


EIGHT_SHARED = "collects red green blue yellow white black {} happily"
TO = "reads long old English horror books aloud in autumn evenings to {}"


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        # of two words that each has alone, eight must be shared
        (EIGHT_SHARED.format("stamps"), EIGHT_SHARED.format("coins"), D),
        ("collects red green stamps", "collects red green coins", X),
        # two thirds, where one says more; a light verb weighs half
        ("chess", "plays chess", D),
        ("plays drums", "plays drums in a jazz band", X),
        # the values of two keys, and words of four letters
        ("favourite food is pizza", "favourite colour is blue", X),
        ("has a bran", "has a barn", X),
        # numbers: both have one, both say that it is so, and little else is new
        ("has 2 cats", "has 3 cats", C),
        ("has 2 cats", "has cats", X),
        ("has 2 cats", "does not have 3 cats", X),
        ("has 2 cats", "has 3 cats and a dog", X),
        # it ended, or never was
        ("no longer smokes", "never smoked", X),
        ("quit smoking", "smokes", C),
        ("never not smokes", "smokes", D),
        # whom it is about counts more than all words
        (TO.format("<@42>"), TO.format("<@43>"), X),
        (TO.format("<@42>"), TO.format("<@42>") + " again", D),
    ],
)
def test_what_two_facts_must_share(old: str, new: str, relation: Relation) -> None:
    assert relate(old, new) is relation
