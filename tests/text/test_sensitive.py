"""What is never stored, measured on a list of phrases."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.sensitive import CATEGORIES, sensitive_category


def listed(name: str) -> list[list[str]]:
    """Category and phrase, line by line."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [line.split("|", 1) for line in lines if not line.startswith("#")]


PHRASES = listed("sensitive_phrases.txt")
HARMLESS = [phrase for category, phrase in PHRASES if category == "harmless"]
SENSITIVE = [(category, phrase) for category, phrase in PHRASES if category != "harmless"]


@pytest.mark.parametrize("half", [0, 1], ids=["looked at", "held out"])
def test_recall_and_false_positives_on_the_list(half: int) -> None:
    sensitive, harmless = SENSITIVE[half::2], HARMLESS[half::2]
    caught = sum(sensitive_category(phrase) is not None for _, phrase in sensitive)
    false = sum(sensitive_category(phrase) is not None for phrase in harmless)
    print(f"recall {caught / len(sensitive):.3f}, precision {caught / (caught + false):.3f}")  # noqa: T201
    print(f"{false} of {len(harmless)} harmless phrases refused")  # noqa: T201
    assert caught / len(sensitive) >= 0.95
    assert false / len(harmless) <= 0.03


def test_the_privacy_page_tells_what_the_list_shows() -> None:
    caught = sum(sensitive_category(phrase) is not None for _, phrase in SENSITIVE)
    false = sum(sensitive_category(phrase) is not None for phrase in HARMLESS)
    page = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text("utf-8")
    told = f"catches {caught} of {len(SENSITIVE)} and wrongly refuses {false} of {len(HARMLESS)};"
    assert told in " ".join(page.split())


def test_phrases_of_somebody_who_had_not_seen_the_rules() -> None:
    missed = [phrase for kind, phrase in listed("sensitive_phrases_blind.txt") if kind != "harmless"]
    missed = [phrase for phrase in missed if sensitive_category(phrase) is None]
    refused = [phrase for kind, phrase in listed("sensitive_phrases_blind.txt") if kind == "harmless"]
    refused = [phrase for phrase in refused if sensitive_category(phrase) is not None]
    assert (missed, refused) == ([], [])


def test_the_list_is_long_and_covers_every_category() -> None:
    assert len(PHRASES) >= 300
    assert {category for category, _ in SENSITIVE} == set(CATEGORIES)


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_that_is_allowed_lets_its_phrases_through(category: str) -> None:
    said = [sensitive_category(phrase, allow={category}) for kind, phrase in SENSITIVE if kind == category]
    assert category not in said


def test_words_of_ones_own_count_in_any_inflection_and_whatever_is_allowed() -> None:
    everything = frozenset(CATEGORIES)
    assert sensitive_category("collects fireworks", allow=everything, extra=["firework"]) == "custom"
    assert sensitive_category("met the ex wife", extra=["ex wife", " "]) == "custom"
    assert sensitive_category("plays chess", extra=["ex wife", "..."]) is None


def test_look_alike_letters_do_not_hide_it() -> None:
    assert sensitive_category("is gаy") == "sexuality"
    assert sensitive_category("ｈａｓ diabetes") == "health"


@pytest.mark.parametrize(
    ("fact", "category"),
    [
        ("has d1abetes", "health"),
        ("has d.i.a.b.e.t.e.s", "health"),
        ("takes pr0zac every day", "mood"),
        ("is g a y", "sexuality"),
        ("is a m u s l i m", "faith"),
        ("is a mus1im", "faith"),
        ("v0tes republican", "politics"),
        ("number is five five five one two three four five six seven", "contact"),
        ("call me on zero, one, seven, one, five, five, five, oh, two, three", "contact"),
    ],
)
def test_neither_digits_for_letters_nor_gaps_hide_it(fact: str, category: str) -> None:
    assert sensitive_category(fact) == category


@pytest.mark.parametrize(
    "fact",
    [
        *("plays on a PS5 with 2 friends", "finished F1 23 at level 99", "won a 1v1 against the boss", "is a D&D fan"),
        *("counts one two three four", "says G G W P after each game", "types l o l a lot", "has a 4k screen"),
    ],
)
def test_digits_and_gaps_alone_are_harmless(fact: str) -> None:
    assert sensitive_category(fact) is None


def test_the_id_in_a_mention_is_no_telephone() -> None:
    assert sensitive_category("call <@5558675309> the king") is None


@settings(max_examples=200)
@given(st.text(max_size=120))
def test_any_text_has_an_answer(text: str) -> None:
    assert sensitive_category(text) in {None, *CATEGORIES}
