"""What calls to language models cost: one row each, counted for health, for the demo's summary and for the bill."""

from typing import NamedTuple

from forgetmenot.clock import Clock
from forgetmenot.domain.model import Purpose, TokenUsage
from forgetmenot.settings.prices import Used
from forgetmenot.store.database import Database


class Meter:
    """The ports.CallMeter that app/bot hands to the models: writes each call down."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def record(self, purpose: Purpose, model: str, usage: TokenUsage, latency_ms: int, error: str | None) -> None:
        """Note one finished call; `error` is the class of what went wrong, or None."""
        async with self._db.write() as tx:
            await tx.execute(
                "INSERT INTO model_calls (at, purpose, model, input, cached, output, thoughts, latency_ms, error)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._clock.now(),
                    purpose.value,
                    model,
                    usage.input,
                    usage.cached,
                    usage.output,
                    usage.thoughts,
                    latency_ms,
                    error,
                ),
            )


class Spent(NamedTuple):
    """What some calls came to. Tokens are sums of what was billed; a provider that does not say counts as 0."""

    calls: int
    used: Used


async def spent(db: Database, *, since: int = 0) -> dict[str, Spent]:
    """The calls since a time (ms), by model."""
    rows = await db.rows(
        "SELECT model, count(*), total(input), total(cached), total(output) + total(thoughts)"
        " FROM model_calls WHERE at >= ? GROUP BY model",
        (since,),
    )
    return {row[0]: Spent(row[1], Used(*(int(tokens) for tokens in tuple(row)[2:]))) for row in rows}


async def prune(db: Database, before: int) -> int:
    """Delete the rows of calls made before a time; how many they were."""
    async with db.write() as tx:
        return await tx.execute("DELETE FROM model_calls WHERE at < ?", (before,))
