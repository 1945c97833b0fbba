"""The cost of model calls, by the prices in the settings, and by list prices of Gemini's models besides. Pure.

Where only some models have a price the cost is a minimum. The offline model costs nothing.
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


class Used(NamedTuple):
    """Tokens of some calls to one model. `input` includes `cached`, `output` includes thoughts."""

    input: int
    cached: int
    output: int


class Cost(NamedTuple):
    """In the currency of the settings. `whole`: every model that was used has a price."""

    amount: float
    whole: bool


def known_prices(settings: Settings) -> Mapping[str, PriceSettings]:
    """The prices of the settings; for Gemini the list prices besides, unless the settings count in another currency."""
    currency = settings.model.currency.strip().upper()
    dollars = currency in _DOLLARS or not (currency or settings.prices)
    if settings.model.provider is not Provider.GEMINI or not dollars:
        return settings.prices
    return {**LIST_PRICES, **settings.prices}


def cost(settings: Settings, used: Mapping[str, Used]) -> Cost | None:
    """What calls cost, by model; None where none of these models has a price."""
    prices = known_prices(settings)
    paid = {
        model: tokens for model, tokens in used.items() if model != Provider.OFFLINE and any(tokens)
    }
    known = [_of(prices[model], tokens) for model, tokens in paid.items() if model in prices]
    if not known and (paid or not prices):
        return None
    return Cost(sum(known), len(known) == len(paid))


def _of(price: PriceSettings, used: Used) -> float:
    fresh = max(0, used.input - used.cached)
    return (
        fresh * price.input
        + used.cached * (price.cached or price.input)
        + used.output * price.output
    ) / MILLION


def in_words(settings: Settings, used: Mapping[str, Used], language: Language = ENGLISH) -> str:
    """What calls cost, by model, as "0.0042 EUR"; empty where none of these models has a price."""
    words = amount(settings, cost(settings, used), language)
    listed = known_prices(settings).keys() - settings.prices.keys()
    return (
        language("status.list_prices", amount=words, date=LISTED)
        if words and listed & used.keys()
        else words
    )


def amount(settings: Settings, cost: Cost | None, language: Language = ENGLISH) -> str:
    """A cost in words, as "0.0042 EUR"; empty where there is none."""
    if cost is None:
        return ""
    amount = f"{cost.amount:.2f}" if cost.amount >= 1 or not cost.amount else f"{cost.amount:.4f}"
    if cost.amount and float(amount) == 0:
        amount = "under 0.0001"
    currency = settings.model.currency or ("" if settings.prices else "USD")
    money = f"{amount} {currency}".rstrip().replace(".", language("decimal"))
    return money if cost.whole else language("status.at_least", amount=money)
