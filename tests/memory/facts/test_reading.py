"""A short fact, taken apart."""

import pytest

from forgetmenot.memory.facts.reading import read, same_word
from forgetmenot.memory.facts.slots import slots_of


@pytest.mark.parametrize(
    ("slipped", "meant"),
    [("favrite game", "favorite game"), ("wokrs as a cook", "works as a cook"), ("doesnt liek", "doesnt liek")],
)
def test_a_word_that_decides_is_read_with_a_slip(slipped: str, meant: str) -> None:
    assert read(slipped).tokens == meant


@pytest.mark.parametrize("fact", ["likes donut holes", "owns two studios", "live music", "name day", "the nerve of it"])
def test_another_word_is_not_taken_for_it(fact: str) -> None:
    assert read(fact).tokens == fact


@pytest.mark.parametrize(
    ("slot", "facts"),
    [
        ("home", ["lives in Berlin", "is now based in Berlin", "moved from Rome to Berlin"]),
        ("job", ["works as a nurse", "is a nurse", "job is nurse", "is a nurse by trade", "became a nurse"]),
        ("main", ["mains Jinx", "main is Jinx", "is a Jinx main", "Jinx main"]),
        ("timezone", ["timezone is CET", "is in the CET timezone"]),
        ("birthday", ["birthday is May 3", "was born on May 3", "bday is May 3"]),
        ("age", ["is 30 years old", "just turned 30", "is 30", "age is 30"]),
        ("favourite", ["favourite game is Celeste", "Celeste is their favorite game", "fav game is Celeste"]),
        ("love life", ["is single", "got married to Sam", "is dating Sam", "is engaged"]),
        ("pet", ["cat is named Miso", "cat's name is Miso", "has a cat called Miso"]),
        ("rank", ["is gold in Valorant", "reached gold 2 in Valorant", "peaked gold in Valorant"]),
    ],
)
def test_phrasings_of_one_slot(slot: str, facts: list[str]) -> None:
    for fact in facts:
        assert slot in {found.name for found in slots_of(read(fact).tokens)}, fact


@pytest.mark.parametrize(
    "fact", ["lives in a small flat", "likes cats", "single-player games are fun", "works at night", ""]
)
def test_no_slot_is_filled(fact: str) -> None:
    assert slots_of(read(fact).tokens) == ()


def test_key_and_rest_are_told_apart_from_the_value() -> None:
    (slot,) = slots_of(read("mains Jinx in Smash").tokens)
    assert (slot.value, slot.key) == (frozenset({"jinx"}), frozenset({"smash"}))
    (home,) = slots_of(read("brother lives in Berlin with two cats").tokens)
    assert home.who == {"brother"}
    assert home.rest == {"2", "cat"}


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("amsterdam", "amsterdm"),
        ("amsterdam", "asmterdam"[0] + "msterdma"),
        ("guitar", "guitarr"),
        ("chicken", "chicksn"),
    ],
)
def test_slips(one: str, two: str) -> None:
    assert same_word(one, two)
    assert same_word(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("ireland", "iceland"), ("house", "horse"), ("train", "brain"), ("cat", "cut"), ("game", "games2"),
        ("soul#2", "soul#3"), ("berlin", "barcelona"), ("drums", "drummer"),
    ],
)  # fmt: skip
def test_other_words(one: str, two: str) -> None:
    assert not same_word(one, two)
