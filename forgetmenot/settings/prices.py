"""The cost of model calls, by prices in the settings and list prices of Gemini's models. Pure.

If only some models have a price the cost is a minimum. The offline model costs nothing.
"""

from collections.abc import Mapping
from typing import NamedTuple

from forgetmenot.languages import ENGLISH, Language
from forgetmenot.settings.schema import PriceSettings, Provider, Settings

MILLION = 1_000_000
LISTED = "2026-11"
# In US dollars per million tokens, as read in November 2026.
LIST_PRICES = {
    "gemini-3.5-flash-lite": PriceSettings(input=0.30, output=2.50, cached=0.03),
    # the regular price; Google takes half of it until 31 December 2026
    "gemini-3.8-flash": PriceSettings(input=1.50, output=7.50, cached=0.15),
    # the price from 30 November 2026; half of it before. That of cached input was not to be found.
    "gemini-4-argon": PriceSettings(input=4.00, output=20.00),
}
_DOLLARS = frozenset({"USD", "US$", "$"})


class TokenCounts(NamedTuple):
    """Tokens of some calls to one model. `input` includes `cached`, `output` includes thoughts."""

    input: int
    cached: int
    output: int


class Cost(NamedTuple):
    """In the currency of the settings. `whole`: every model that was used has a price."""

    amount: float
    whole: bool


def known_prices(settings: Settings) -> Mapping[str, PriceSettings]:
    """Return the prices of the settings, and for Gemini the list prices as well.

    Without the list prices if the settings count in another currency.
    """
    currency = settings.model.currency.strip().upper()
    counts_in_dollars = currency in _DOLLARS or not (currency or settings.prices)
    if settings.model.provider is not Provider.GEMINI or not counts_in_dollars:
        return settings.prices
    return {**LIST_PRICES, **settings.prices}


def currency_of(settings: Settings) -> str:
    """Return the currency that costs are shown in; "" where the settings name none."""
    if settings.model.currency or settings.prices:
        return settings.model.currency
    # The list's prices are in dollars.
    return "USD"


def cost(settings: Settings, counts_by_model: Mapping[str, TokenCounts]) -> Cost | None:
    """Return what calls cost; None if none of these models has a price."""
    prices = known_prices(settings)
    amount = 0.0
    models_without_price = 0
    models_with_price = 0
    for model, counts in counts_by_model.items():
        if model == Provider.OFFLINE or not any(counts):
            continue
        if model in prices:
            models_with_price += 1
            amount += _amount(prices[model], counts)
        else:
            models_without_price += 1
    if not models_with_price and (models_without_price or not prices):
        return None
    return Cost(amount, whole=not models_without_price)


def _amount(price: PriceSettings, counts: TokenCounts) -> float:
    uncached = max(0, counts.input - counts.cached)
    cached_price = price.cached or price.input
    amount_of_millions = (
        uncached * price.input
        + counts.cached * cached_price
        + counts.output * price.output
    )
    return amount_of_millions / MILLION


def cost_text(
    settings: Settings,
    counts_by_model: Mapping[str, TokenCounts],
    language: Language = ENGLISH,
) -> str:
    """Return what calls cost, as "0.0042 EUR"; "" if none of these models has a price."""
    text = money_text(settings, cost(settings, counts_by_model), language)
    if not text:
        return ""
    list_priced = known_prices(settings).keys() - settings.prices.keys()
    if list_priced.isdisjoint(counts_by_model):
        return text
    return language("status.list_prices", amount=text, date=LISTED)


def money_text(
    settings: Settings,
    cost: Cost | None,
    language: Language = ENGLISH,
) -> str:
    """Return a cost as "0.0042 EUR"; "" for None."""
    if cost is None:
        return ""
    decimals = 2 if cost.amount >= 1 or not cost.amount else 4
    number = f"{cost.amount:.{decimals}f}"
    if cost.amount and float(number) == 0:
        number = "under 0.0001"
    money = f"{number} {currency_of(settings)}".rstrip().replace(
        ".", language("decimal")
    )
    return money if cost.whole else language("status.at_least", amount=money)
