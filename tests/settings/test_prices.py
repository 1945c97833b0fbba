"""What calls cost: by the prices that were named, and by list prices of Gemini where none was."""

from pathlib import Path

import pytest

from forgetmenot.languages import in_language
from forgetmenot.settings.load import parse_settings
from forgetmenot.settings.prices import LIST_PRICES, TokenCounts, cost_text

LISTED = """
[model]
currency = "EUR"
[prices."flash-3.5"]
input = 0.5
cached = 0.1
output = 2
[prices.uncached]
input = 1
"""
SETTINGS = parse_settings(LISTED, "test")


@pytest.mark.parametrize(
    ("used", "text"),
    [
        (
            {
                "flash-3.5": TokenCounts(3_000_000, 1_000_000, 500_000),
                "uncached": TokenCounts(1_000_000, 900_000, 0),
            },
            "3.10 EUR",
        ),
        (
            {"flash-3.5": TokenCounts(1_000, 0, 0), "another": TokenCounts(5, 0, 0)},
            "at least 0.0005 EUR",
        ),
        ({"offline": TokenCounts(900, 0, 80)}, "0.00 EUR"),
        ({"flash-3.5": TokenCounts(1, 0, 0)}, "under 0.0001 EUR"),
        ({"another": TokenCounts(5, 0, 0)}, ""),
        (
            {
                "offline": TokenCounts(900, 0, 80),
                "flash-3.5": TokenCounts(0, 0, 1_000_000),
            },
            "2.00 EUR",
        ),
        ({"uncached": TokenCounts(1_000_000, 0, 0)}, "1.00 EUR"),
        ({"uncached": TokenCounts(1_500_000, 0, 0)}, "1.50 EUR"),
        ({"uncached": TokenCounts(999_900, 0, 0)}, "0.9999 EUR"),
        ({"flash-3.5": TokenCounts(0, 0, 0)}, "0.00 EUR"),
        ({"flash-3.5": TokenCounts(5_000, 5_000, 0)}, "0.0005 EUR"),
    ],
)
def test_a_cost_is_by_the_prices_there_are_and_at_least_that_where_one_is_missing(
    used: dict[str, TokenCounts], text: str
) -> None:
    assert cost_text(SETTINGS, used) == text


def test_what_is_reported_as_cached_costs_no_uncached_token_more() -> None:
    dear = '[model]\ncurrency = "EUR"\n[prices.dear]\ninput = 10_000\ncached = 1'
    used = {"dear": TokenCounts(500, 500, 0)}
    assert cost_text(parse_settings(dear, "test"), used) == "0.0005 EUR"


def test_an_amount_is_written_as_the_language_does_and_without_a_currency_if_none_is_set() -> (
    None
):
    used = {"flash-3.5": TokenCounts(0, 0, 1_000_000)}
    assert cost_text(SETTINGS, used, in_language("de")) == "2,00 EUR"
    no_currency = parse_settings(LISTED.replace('currency = "EUR"', ""), "test")
    assert cost_text(no_currency, used) == "2.00"


GEMINI = '[model]\nprovider = "gemini"\n'
MILLION = {"gemini-3.5-flash-lite": TokenCounts(1_000_000, 900_000, 1_000_000)}


OWN = '[prices."gemini-3.5-flash-lite"]\ninput = 1\noutput = 1'


@pytest.mark.parametrize(
    ("toml", "text"),
    [
        (GEMINI, "2.56 USD (list prices of 2026-11)"),
        (f'{GEMINI}currency = "USD"\n{OWN}', "2.00 USD"),
        (f'{GEMINI}currency = "usd"', "2.56 usd (list prices of 2026-11)"),
        (f'{GEMINI}currency = "EUR"', ""),
        (
            '[model]\nprovider = "openai_compatible"\nbase_url = "http://127.0.0.1:1/v1"',
            "",
        ),
    ],
)
def test_gemini_has_list_prices_in_dollars_until_the_settings_name_one(
    toml: str, text: str
) -> None:
    assert cost_text(parse_settings(toml, "test"), MILLION) == text


def test_the_page_about_models_has_the_same_prices() -> None:
    page = (Path(__file__).parents[2] / "docs" / "MODELS.md").read_text(
        encoding="utf-8"
    )
    for model, price in LIST_PRICES.items():
        cached = f"{price.cached:.2f}" if price.cached else "as input"
        row = f"| `{model}` | {price.input:.2f} | {cached} | {price.output:.2f} |"
        assert row in page
