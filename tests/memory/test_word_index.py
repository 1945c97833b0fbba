"""Which texts a word stands in: its forms, words of nearly the same meaning, and misspelt ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory.word_index import WordIndex, is_one_slip, rarity, slips
from forgetmenot.text.meaning import word_table


def test_a_word_has_its_places_in_order_and_as_often_as_it_stands_there() -> None:
    index = WordIndex()
    index.add([(0, ["cat", "dog", "cat"])])
    index.add([(2, ["cat"])])
    assert list(index.places("cat")) == [0, 0, 2]
    assert list(index.places("dog")) == [0]
    assert list(index.places("bird")) == []


@pytest.mark.parametrize("table", [None, word_table()], ids=["no table", "table"])
def test_the_forms_of_a_word_have_its_stem(table: object) -> None:
    index = WordIndex(table)  # type: ignore[arg-type]
    index.add([(0, ["skies", "skip", "sky", "aardvark", "zoo", "xyzzying", "xyzzyed"])])
    assert sorted(index.forms("sky")) == ["skies", "sky"]
    assert sorted(index.forms("xyzzy")) == ["xyzzyed", "xyzzying"]
    assert index.forms("house") == []


def test_several_forms_that_the_table_lists_are_all_found() -> None:
    index = WordIndex(word_table())
    index.add([(0, ["cat", "cats"])])
    assert sorted(index.forms("cats")) == ["cat", "cats"]


def test_only_words_whose_spelling_counts_are_meant_by_a_misspelt_one() -> None:
    index = WordIndex()
    index.add([(0, ["platformer"])])
    index.add([(1, ["guitarist"])], spelling=True)
    assert index.like("platfromer") == {}
    assert index.like("guitarsit") == {"guitarist": 0.9}
    assert index.like("guitarsit", spelling=False) == {}


def test_a_word_that_is_no_slip_away_counts_by_its_common_trigrams() -> None:
    index = WordIndex()
    index.add([(0, ["zzz", "speedrunner", "qqq"])], spelling=True)
    [(word, share)] = index.like("speedrunning").items()
    assert word == "speedrunner"
    assert 0.9 * 0.3 <= share < 0.9


def test_the_eight_nearest_stems_count_for_a_word() -> None:
    table = word_table()
    assert table is not None
    number = table.number("dog")
    assert number is not None
    near_numbers = [neighbour for neighbour, _nearness in table.near(number)]
    words_of = {table.number(word): word for word in _WORDS}
    near_words = [
        words_of[neighbour] for neighbour in near_numbers if neighbour in words_of
    ]
    index = WordIndex(table)
    index.add([(0, near_words)])
    assert len(near_words) > 8
    assert list(index.like("dog")) == near_words[:8]


_WORDS = [
    *("puppy", "cat", "pet", "bulldog", "hound", "terrier", "canine", "kitten"),
    *("poodle", "animal", "leash", "bark", "breed", "labrador", "retriever"),
    *("rabbit", "horse", "pup", "beagle", "wolf", "cow", "pig", "goat", "bird"),
]


@pytest.mark.parametrize(("having", "count"), [(0, 10), (1, 10), (5, 10), (10, 10)])
def test_a_word_tells_the_more_the_fewer_have_it(having: int, count: int) -> None:
    odds = (count - having + 0.5) / (having + 0.5)
    assert math.exp(rarity(having, count)) == pytest.approx(1 + odds)


@pytest.mark.parametrize(
    ("word", "other", "is_slip"),
    [
        ("nurse", "nusre", True),
        ("nurse", "nurrse", True),
        ("nurse", "nuse", True),
        ("nurse", "nurze", True),
        ("nurse", "nurses", True),
        ("nurse", "nurse", True),
        ("nuns", "nurs", True),
        ("nurse", "nuxxe", False),
        ("nurse", "nuesr", False),
        ("nurse", "nursing", False),
        ("nurse", "nuxyrse", False),
        ("cat", "cut", False),
        ("cats", "cat", False),
        ("platformer", "platofmrer", False),
    ],
)
def test_one_slip_changes_one_letter_or_swaps_two(
    word: str, other: str, *, is_slip: bool
) -> None:
    assert is_one_slip(word, other) is is_slip
    assert is_one_slip(other, word) is is_slip


def test_of_a_short_word_there_are_no_slips() -> None:
    assert list(slips("cats")) == []
    assert {"nure", "nurs", "nusre", "nurze", "nurses", "nurrse"} <= set(slips("nurse"))


@given(st.text("abcdemnrs", min_size=5, max_size=9))
def test_slips_are_one_slip_away(word: str) -> None:
    away = set(slips(word))
    assert all(is_one_slip(word, other) for other in away if len(other) >= 4)
    assert all(other[:2] == word[:2] for other in away)
