"""What is true on one day only is not kept as if it were true for good."""

import pytest

from forgetmenot.text.moments import without_moments


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("moved to Oslo last week", "moved to Oslo"),
        ("adopted a cat two weeks ago", "adopted a cat"),
        ("yesterday, finished a degree", "finished a degree"),
        ("married <@2> this past summer in Rome", "married <@2> in Rome"),
        ("started a new job 3 days ago", "started a new job"),
        ("quit coffee earlier today", "quit coffee"),
    ],
)
def test_the_moment_goes_and_the_fact_stays(text: str, left: str) -> None:
    assert without_moments(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "plays drums every week",
        "bakes on sundays",
        "was born in the winter of 1990",
        "loves The Last of Us",
        "watches the Today Show",
        "next year of study is the third",
        "works nights",
        "has two cats, a week old",
    ],
)
def test_what_is_no_moment_stays(text: str) -> None:
    assert without_moments(text) == text
