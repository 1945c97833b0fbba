"""Counts of what happened to every line; calls to language models with their tokens, one row each.

The counts add up, also after pruning: lines = events + duplicates + excluded + other_room + unparsed + other, and
events = covered + uncovered + redacted. They are written in the transactions that they count.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import astuple, fields

from forgetmenot.clock import Clock
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.settings.prices import TokenCounts
from forgetmenot.store import figures
from forgetmenot.store.database import Database, Row, Source, Transaction
from forgetmenot.text.days import iso_day


class LineCounts(Struct, frozen=True):
    """The lines that were heard. `uncovered` includes `pruned_unread`, which is a health figure and should be 0."""

    lines: int
    events: int
    duplicates: int
    excluded: int
    other_room: int
    unparsed: int
    other: int
    covered: int
    uncovered: int
    redacted: int
    pruned_unread: int

    def since(self, before: "LineCounts") -> "LineCounts":
        """Return what was added since `before` was read; `uncovered` stays the number that waits now."""
        counts = {}
        for field in fields(LineCounts):
            counts[field.name] = getattr(self, field.name) - getattr(before, field.name)
        counts["uncovered"] = self.uncovered
        return LineCounts(**counts)

    @property
    def balanced(self) -> bool:
        """Return whether both sums come out."""
        rest = (
            self.duplicates
            + self.excluded
            + self.other_room
            + self.unparsed
            + self.other
        )
        return (
            self.lines == self.events + rest
            and self.events == self.covered + self.uncovered + self.redacted
        )


async def add_counts(tx: Transaction, counts: Mapping[str, int]) -> None:
    """Add to the counts."""
    await tx.many(
        """
        INSERT INTO tally (name, count)
        VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET count = count + excluded.count
        """,
        # A batch counts mostly zeros: these make no rows.
        [(name, count) for name, count in counts.items() if count],
    )


async def all_counts(source: Source) -> dict[str, int]:
    """Return everything that was counted, also why lines were excluded (`excluded_known_bot` …)."""
    return await source.pairs("SELECT name, count FROM tally")


async def line_counts(source: Source) -> LineCounts:
    """Return the counts as of now."""
    tally = await all_counts(source)
    state = "iif(redacted_at IS NOT NULL, 'redacted', iif(episode_id IS NOT NULL, 'covered', 'unread'))"
    # What is stored is counted from the rows, at most a day of chat. Of what was pruned only the
    # tally knows.
    stored = Counter(
        await source.pairs(f"SELECT {state}, count(*) FROM events GROUP BY 1")
    )
    pruned_unread = tally.get("pruned_unread", 0)
    names = (
        "lines",
        "events",
        "duplicates",
        "excluded",
        "other_room",
        "unparsed",
        "other",
    )
    return LineCounts(
        **{name: tally.get(name, 0) for name in names},
        covered=stored["covered"] + tally.get("pruned_covered", 0),
        uncovered=stored["unread"] + pruned_unread,
        redacted=stored["redacted"] + tally.get("pruned_redacted", 0),
        pruned_unread=pruned_unread,
    )


# What a recording or the demo brought: the rows above the highest number that each table had given before. Rows may be
# deleted meanwhile, so a difference of two totals could fall below zero.


# By the name of the count: a table, and which of its rows.
_COUNTED_ROWS = {
    "episodes": ("episodes", "TRUE"),
    "notes": ("semantic_notes", "TRUE"),
    "superseded": ("note_changes", "to_status = 'superseded'"),
    "replies": ("bot_messages", "status IN ('sent', 'shadow')"),
    "proposed": ("action_logs", "TRUE"),
    "executed": ("action_logs", "status IN ('done', 'undone')"),
    "llm_calls": ("model_calls", "TRUE"),
}


async def highest_ids(db: Database) -> dict[str, int]:
    """Return the highest number that each counted table has given to a row so far, also to one that is gone."""
    return {table: await db.highest_id(table) for table, _ in _COUNTED_ROWS.values()}


async def rows_added(db: Database, above: Mapping[str, int]) -> dict[str, int]:
    """Return how many rows of each kind came above those numbers."""
    counts = {}
    for name, (table, which) in _COUNTED_ROWS.items():
        # By the primary key: what the table had before is not read.
        sql = f"SELECT count(*) FROM {table} WHERE {which} AND id > ?"
        counts[name] = int(await db.value(sql, (above[table],)))
    return counts


class Meter:
    """The ports.CallMeter that app/bot hands to the models: writes each call down."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        zone: Callable[[], str],
    ) -> None:
        """`zone`: the channel's time zone, by which days are counted."""
        self._db = db
        self._clock = clock
        self._zone = zone

    async def record(
        self,
        purpose: Purpose,
        model: str,
        usage: TokenUsage,
        latency_ms: int,
        error: str | None,
    ) -> None:
        """Note one finished call; `error` is the class of what went wrong, or None."""
        now = self._clock.now()
        day = iso_day(now, self._zone())
        async with self._db.write() as tx:
            await tx.execute(
                """
                INSERT INTO model_calls (at, purpose, model, input, cached, output, thoughts,
                    latency_ms, error)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                (now, purpose.value, model, *astuple(usage), latency_ms, error),
            )
            # In the same transaction: the call's own row goes after some days, and its share of the
            # day stays.
            await figures.add_spending(
                tx,
                day=day,
                purpose=purpose.value,
                model=model,
                usage=usage,
                failed=error is not None,
            )


async def tokens_by_model(db: Database, *, since: int) -> dict[str, TokenCounts]:
    """Return the tokens of the calls since a time (ms), by model."""
    return {bill.model: bill.used for bill in await bills(db, "model", since)}


class Bill(NamedTuple):
    """Totals of the calls of one group. `group`: a purpose, a model, a day (YYYY-MM-DD) or a stream's id.

    Tokens are sums of what was billed; a provider that does not say counts as 0.
    """

    group: str
    model: str
    calls: int
    used: TokenCounts
    failed: int


_GROUPS = {
    "purpose": "purpose",
    "model": "model",
    # Each call counts for the stream that began last before it, also when that is over: recaps are
    # made after the end.
    "stream": "coalesce((SELECT max(id) FROM streams WHERE started_at <= model_calls.at), 0)",
}


async def bills(
    source: Source,
    by: str,
    since: int,
) -> list[Bill]:
    """Return the calls since a time (ms), by purpose, model or stream, and by model within each."""
    # `total` instead of `sum`: where all calls lack a number it gives 0, and no NULL.
    rows = await source.rows(
        f"""
        SELECT {_GROUPS[by]} AS kind, model, count(*), total(input), total(cached),
            total(output) + total(thoughts), total(error IS NOT NULL)
        FROM model_calls
        WHERE at >= ?
        GROUP BY kind, model
        ORDER BY kind, model
        """,
        (since,),
    )
    return [_bill(row) for row in rows]


async def daily_bills(source: Source, first_day: str) -> list[Bill]:
    """Return the calls from a day (YYYY-MM-DD) on, by the channel's days and by model; also of deleted rows."""
    rows = await source.rows(
        """
        SELECT day, model, sum(calls), sum(input), sum(cached), sum(output), sum(failed)
        FROM spending
        WHERE day >= ?
        GROUP BY day, model
        ORDER BY day, model
        """,
        (first_day,),
    )
    return [_bill(row) for row in rows]


def _bill(row: Row) -> Bill:
    """Return a row of totals as a bill. SQLite's `total` gives floats."""
    group, model, calls, prompt, cached, output, failed = row
    return Bill(
        str(group),
        model,
        calls,
        TokenCounts(int(prompt), int(cached), int(output)),
        int(failed),
    )
