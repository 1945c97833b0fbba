"""A short fact, taken apart."""

import pytest

from forgetmenot.memory.facts.reading import read, same_word
from forgetmenot.memory.facts.slots import slots_of


@pytest.mark.parametrize(
    ("fact", "polarity"),
    [
        ("likes pizza", 1), ("dislikes pizza", -1), ("doesn't dislike pizza", 1), ("no longer likes pizza", -1),
        ("doesn't like pizza anymore", -1), ("can't wait for pizza", 1), ("never misses a stream", 1),
        ("plays No Man's Sky", 1), ("gave up on chess", -1), ("rarely plays chess", -1),
    ],
)  # fmt: skip
def test_which_way_a_fact_points(fact: str, polarity: int) -> None:
    assert read(fact).polarity == polarity


@pytest.mark.parametrize(
    ("fact", "numbers"),
    [
        ("has two cats", ("2",)), ("has 1,000 followers", ("1000",)), ("has 1.5k followers", ("1500",)),
        ("came 2nd", ("2",)), ("is 180cm tall", ("180",)), ("finished Dark Souls III", ()), ("plays gta 5", ()),
        ("is rank 5", ("5",)), ("likes 5 maps", ("5",)), ("pb is 1:23.4 in 100%", ("1:23.4",)), ("won $50", ("50",)),
        ("played 500 hours", ("500",)),
    ],
)  # fmt: skip
def test_numbers_are_counts_and_not_parts_of_names(fact: str, numbers: tuple[str, ...]) -> None:
    assert read(fact).numbers == numbers


@pytest.mark.parametrize(
    ("slipped", "meant"),
    [("favrite game", "favorite game"), ("wokrs as a cook", "works as a cook"), ("doesnt liek", "doesnt liek")],
)
def test_a_word_that_decides_is_read_with_a_slip(slipped: str, meant: str) -> None:
    assert read(slipped).tokens == meant


@pytest.mark.parametrize("fact", ["likes donut holes", "owns two studios", "live music", "name day", "the nerve of it"])
def test_another_word_is_not_taken_for_it(fact: str) -> None:
    assert read(fact).tokens == fact


def test_what_is_wanted_is_not_there_yet() -> None:
    assert read("is saving up for a car").aim
    assert not read("has a car").aim


def test_a_month_is_no_verb() -> None:
    assert "may" in read("birthday is in May").content
    assert "may" not in read("may move soon").content


def test_whose_fact_it_is() -> None:
    assert read("older brother plays chess").owner == "brother"
    assert read("plays chess with a brother").owner == ""
    assert read("").owner == ""


def test_people_are_read_with_their_place_in_the_sentence() -> None:
    assert read("<@42> taught them").mentions != read("taught <@42>").mentions


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
