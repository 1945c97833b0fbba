"""What the estimate of tokens has learned from the bills, per model; kept across restarts."""

from forgetmenot.store.calibration_rule import next_factor
from forgetmenot.store.database import Database

SMALLEST = 50  # a smaller prompt says more about the provider's fixed overhead than about its tokenizer


async def factor_of(db: Database, model: str) -> float:
    """Billed tokens per token estimated with factor 1; 1.0 for a model that has not billed yet."""
    found = await db.value("SELECT factor FROM calibration WHERE model = ?", (model,))
    return float(found) if found is not None else 1.0


async def learn(db: Database, model: str, estimated: int, billed: int | None, at: int, *, factor: float = 1.0) -> float:
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
