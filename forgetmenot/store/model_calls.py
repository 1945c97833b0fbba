"""Calls to language models with their tokens: one row each, for health, summaries and costs."""

from typing import NamedTuple

from forgetmenot.clock import Clock
from forgetmenot.domain.model import Purpose, TokenUsage
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


async def used_per_stream(db: Database, last: int) -> list[tuple[int, dict[str, Used]]]:
    """Of the last streams, oldest first: the start, and the tokens of all calls until the next one's, by model."""
    newest = await db.rows("SELECT id, started_at FROM streams ORDER BY id DESC LIMIT ?", (last,))
    billed = await bills(db, "stream", min((row["started_at"] for row in newest), default=0))
    return [
        (began, {one.model: one.used for one in billed if one.group == str(stream)})
        for stream, began in reversed(newest)
    ]


async def prune(tx: Transaction, before: int, limit: int) -> int:
    """Delete the rows of calls made before a time, up to a number; how many they were."""
    old = "SELECT id FROM model_calls WHERE at < ? LIMIT ?"
    return await tx.execute(f"DELETE FROM model_calls WHERE id IN ({old})", (before, limit))  # noqa: S608  # a constant


# The learned factor between estimated and billed tokens, per model; kept across restarts.


SMALLEST = 50  # a smaller prompt says more about the provider's fixed overhead than about its tokenizer


async def factor_of(db: Database, model: str) -> float:
    """Billed tokens per token estimated with factor 1; 1.0 for a model that has not billed yet."""
    found = await db.value("SELECT factor FROM calibration WHERE model = ?", (model,))
    return float(found) if found is not None else 1.0


async def learn_factor(
    db: Database, model: str, estimated: int, billed: int | None, at: int, *, factor: float = 1.0
) -> float:
    """Take one bill and return the new factor.

    `estimated` is the whole prompt's estimate, made with `factor` (what `factor_of` gave then); `billed` the
    provider's count of input tokens, cached ones included, or None where it does not say (nothing is learned).
    """
    if billed is None or min(estimated, billed) < SMALLEST:
        return await factor_of(db, model)
    async with db.write() as tx:
        row = await tx.row("SELECT factor, samples FROM calibration WHERE model = ?", (model,))
        known, samples = (float(row["factor"]), int(row["samples"])) if row else (1.0, 0)
        learned = next_factor(known, samples, billed * factor / estimated)
        await tx.execute(
            "INSERT INTO calibration (model, factor, samples, updated_at) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (model) DO UPDATE SET factor = excluded.factor, samples = excluded.samples,"
            " updated_at = excluded.updated_at",
            (model, learned, samples + 1, at),
        )
    return learned


# The factor is a running average of billed tokens per estimated token, robust against one odd reply. It leans upwards:
# an estimate that is too low overruns the budget, one that is too high only leaves out a line.


LOWEST, HIGHEST = 0.25, 4.0
MEMORY = 12  # samples that count: later ones are followed at this pace, so that a change of language is noticed
UPWARD = 1.5
ODD = 1.6  # after the first few, a ratio further off than this is taken as this far off


def next_factor(factor: float, samples: int, ratio: float) -> float:
    """The factor after one more bill. `ratio`: billed tokens / tokens estimated with factor 1."""
    if samples == 0:
        return min(max(ratio, LOWEST), HIGHEST)
    if samples >= 3:
        ratio = min(max(ratio, factor / ODD), factor * ODD)
    step = 1 / min(samples + 1, MEMORY)
    if ratio > factor:
        step = min(1.0, step * UPWARD)
    return min(max(factor + step * (ratio - factor), LOWEST), HIGHEST)
