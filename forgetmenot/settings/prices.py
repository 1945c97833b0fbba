"""The cost of model calls, by the prices in the settings. Pure.

No price is assumed: without prices there is no cost, and where only some models have one the cost is a minimum. The
offline model costs nothing.
"""

from collections.abc import Mapping
from typing import NamedTuple

from forgetmenot.languages import ENGLISH, Language
from forgetmenot.settings.schema import PriceSettings, Provider, Settings

MILLION = 1_000_000


class Used(NamedTuple):
    """Tokens of some calls to one model. `input` includes `cached`, `output` includes thoughts."""

    input: int
    cached: int
    output: int


class Cost(NamedTuple):
    """In the currency of the settings. `whole`: every model that was used has a price."""

    amount: float
    whole: bool


def of_call(
    model: str, billed: int | None, cached: int | None, output: int | None, thoughts: int | None
) -> dict[str, Used]:
    """The tokens of one call, for what it cost; empty where the provider did not say."""
    return {} if billed is None else {model: Used(billed, cached or 0, (output or 0) + (thoughts or 0))}


def cost(settings: Settings, used: Mapping[str, Used]) -> Cost | None:
    """What calls cost, by model; None where none of these models has a price."""
    paid = {model: tokens for model, tokens in used.items() if model != Provider.OFFLINE and any(tokens)}
    known = [_of(settings.prices[model], tokens) for model, tokens in paid.items() if model in settings.prices]
    if not known and (paid or not settings.prices):
        return None
    return Cost(sum(known), len(known) == len(paid))


def _of(price: PriceSettings, used: Used) -> float:
    fresh = max(0, used.input - used.cached)
    return (fresh * price.input + used.cached * (price.cached or price.input) + used.output * price.output) / MILLION


def in_words(settings: Settings, used: Mapping[str, Used], language: Language = ENGLISH) -> str:
    """What calls cost, by model, as "0.0042 EUR"; empty where none of these models has a price."""
    return amount(settings, cost(settings, used), language)


def amount(settings: Settings, cost: Cost | None, language: Language = ENGLISH) -> str:
    """A cost in words, as "0.0042 EUR"; empty where there is none."""
    if cost is None:
        return ""
    amount = f"{cost.amount:.2f}" if cost.amount >= 1 or not cost.amount else f"{cost.amount:.4f}"
    if cost.amount and float(amount) == 0:
        amount = "under 0.0001"
    money = f"{amount} {settings.model.currency}".rstrip()
    return money if cost.whole else language("status.at_least", amount=money)
