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
    # The regular price; Google takes half of it until 31 December 2026.
    "gemini-3.8-flash": PriceSettings(input=1.50, output=7.50, cached=0.15),
    # The price from 30 November 2026; half of it before. That of cached input was not to be found.
    "gemini-4-argon": PriceSettings(input=4.00, output=20.00),
}
_DOLLARS = frozenset({"USD", "US$", "$"})


class TokenCounts(NamedTuple):
    """Tokens of some calls to one model. `input` includes `cached`, `output` includes thoughts."""

    input: int
    cached: int
    output: int


# What calls used, by the model that was called.
CountsByModel = Mapping[str, TokenCounts]


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


def cost(settings: Settings, used: CountsByModel) -> Cost | None:
    """Return what calls cost; None if none of these models has a price."""
    prices = known_prices(settings)
    amount = 0.0
    has_unpriced = False
    has_priced = False
    for model, counts in used.items():
        # The built-in rules, and a model whose calls failed before they used anything.
        if model == Provider.OFFLINE or not any(counts):
            continue
        if model in prices:
            has_priced = True
            amount += _amount(prices[model], counts)
        else:
            has_unpriced = True
    # Nothing used costs 0, but only where there is a currency to say it in.
    if not has_priced and (has_unpriced or not prices):
        return None
    return Cost(amount, whole=not has_unpriced)


def _amount(price: PriceSettings, counts: TokenCounts) -> float:
    """Return what the tokens of one model cost."""
    # A server may count more cached tokens than it was sent.
    uncached = max(0, counts.input - counts.cached)
    # Without a price of its own cached input costs what input does: rather too much than too little.
    cached_price = price.cached or price.input
    amount = uncached * price.input
    amount += counts.cached * cached_price
    amount += counts.output * price.output
    return amount / MILLION


def cost_text(
    settings: Settings,
    used: CountsByModel,
    language: Language = ENGLISH,
) -> str:
    """Return what calls cost, as "0.0042 EUR"; "" if none of these models has a price."""
    text = money_text(settings, cost(settings, used), language)
    if not text:
        return ""
    list_priced = known_prices(settings).keys() - settings.prices.keys()
    if list_priced.isdisjoint(used):
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
    # A reply costs a hundredth of a cent: with two decimals it would be 0.00.
    decimals = 2 if cost.amount >= 1 or not cost.amount else 4
    number = f"{cost.amount:.{decimals}f}"
    if cost.amount and float(number) == 0:
        number = "under 0.0001"
    # A currency may be empty.
    money = f"{number} {currency_of(settings)}".rstrip()
    money = money.replace(".", language("decimal"))
    if cost.whole:
        return money
    return language("status.at_least", amount=money)
