"""Calls to language models with their tokens: one row each, for health, summaries and costs."""

from typing import NamedTuple

from forgetmenot.clock import Clock
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.settings.prices import Used
from forgetmenot.store.database import Database, Source, Transaction


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
                    *(self._clock.now(), purpose.value, model),
                    *(usage.input, usage.cached, usage.output, usage.thoughts),
                    *(latency_ms, error),
                ),
            )


async def spent(db: Database, *, since: int) -> dict[str, Used]:
    """The tokens of the calls since a time (ms), by model."""
    return {bill.model: bill.used for bill in await bills(db, "model", since)}


async def tokens_since(source: Source, since: int) -> int:
    """Tokens in and out of all calls since a time (ms), as billed; cached ones count as the others."""
    sql = "SELECT total(input) + total(output) + total(thoughts) FROM model_calls WHERE at >= ?"
    return int(await source.value(sql, (since,)))


class Bill(NamedTuple):
    """Totals of the calls of one group. `group`: a purpose, a model, a day (YYYY-MM-DD, UTC) or a stream's id.

    Tokens are sums of what was billed; a provider that does not say counts as 0.
    """

    group: str
    model: str
    calls: int
    used: Used
    failed: int


_GROUPS = {
    "purpose": "purpose",
    "model": "model",
    "day": "strftime('%Y-%m-%d', at / 1000, 'unixepoch')",
    "stream": "coalesce((SELECT max(id) FROM streams WHERE started_at <= model_calls.at), 0)",
}


async def bills(source: Source, by: str, since: int) -> list[Bill]:
    """The calls since a time (ms), by purpose, model, day or stream, and by model within each."""
    rows = await source.rows(
        f"SELECT {_GROUPS[by]} AS kind, model, count(*), total(input), total(cached), total(output) + total(thoughts),"  # noqa: S608  # one of four texts above
        " total(error IS NOT NULL) FROM model_calls WHERE at >= ? GROUP BY kind, model ORDER BY kind, model",
        (since,),
    )
    return [
        Bill(str(row[0]), row[1], row[2], Used(*(int(one) for one in tuple(row)[3:6])), int(row[6])) for row in rows
    ]


async def prune(tx: Transaction, before: int, limit: int) -> int:
    """Delete the rows of calls made before a time, up to a number; how many they were."""
    old = "SELECT id FROM model_calls WHERE at < ? LIMIT ?"
    return await tx.execute(f"DELETE FROM model_calls WHERE id IN ({old})", (before, limit))  # noqa: S608  # a constant
