"""What calls to language models cost: one row each, counted for health, for the demo's summary and for the bill."""

from dataclasses import dataclass

from forgetmenot.clock import Clock
from forgetmenot.domain.model import Purpose, TokenUsage
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


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls came to. Tokens are sums of what was billed; a provider that does not say counts as 0."""

    calls: int
    errors: int
    input: int
    cached: int
    output: int
    thoughts: int


async def spent(db: Database, *, since: int = 0, purpose: Purpose | None = None) -> Spent:
    """The calls since a time (ms), for one purpose or for all."""
    row = await db.row(
        "SELECT count(*), count(error), total(input), total(cached), total(output), total(thoughts)"
        " FROM model_calls WHERE at >= ? AND (? IS NULL OR purpose = ?)",
        (since, purpose, purpose),
    )
    assert row is not None  # noqa: S101  # an aggregate has always one row
    return Spent(*(int(value) for value in row))


async def prune(db: Database, before: int) -> int:
    """Delete the rows of calls made before a time; how many they were."""
    async with db.write() as tx:
        return await tx.execute("DELETE FROM model_calls WHERE at < ?", (before,))
