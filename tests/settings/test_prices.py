"""What calls cost: by the prices that were named, and by nothing else."""

from forgetmenot.settings.load import parse_settings
from forgetmenot.settings.prices import Cost, Used, amount, cost

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


def test_cached_input_costs_its_own_price_where_it_has_one() -> None:
    found = cost(SETTINGS, {"flash-3.5": Used(3_000_000, 1_000_000, 500_000), "uncached": Used(1_000_000, 900_000, 0)})
    assert found == Cost(1.0 + 0.1 + 1.0 + 1.0, whole=True)
    assert amount(SETTINGS, found) == "3.10 EUR"


def test_a_model_without_a_price_makes_it_the_least_it_can_be() -> None:
    found = cost(SETTINGS, {"flash-3.5": Used(1_000, 0, 0), "another": Used(5, 0, 0)})
    assert amount(SETTINGS, found) == "at least 0.0005 EUR"
    assert cost(SETTINGS, {"another": Used(5, 0, 0)}) is None


def test_what_was_not_used_or_is_ours_costs_nothing_and_a_very_small_cost_is_not_that() -> None:
    for used in ({}, {"offline": Used(900, 0, 80)}, {"another": Used(0, 0, 0)}):
        assert amount(SETTINGS, cost(SETTINGS, used)) == "0.00 EUR"
    assert amount(SETTINGS, cost(SETTINGS, {"flash-3.5": Used(1, 0, 0)})) == "under 0.0001 EUR"
