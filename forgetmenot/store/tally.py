"""What became of every line that a run of the program took in; it adds up, also for what was pruned since.

For each run: lines = events + duplicates + excluded + other_room + unparsed + other, and
events = covered + uncovered + redacted. The counts are written in the transactions that they count.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forgetmenot.store.database import Database, Source, Transaction


@dataclass(frozen=True, slots=True)
class Account:
    """The lines of one run. `uncovered` includes `pruned_unread`, which is a health figure and should be 0."""

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

    @property
    def balanced(self) -> bool:
        """Whether both sums come out."""
        rest = self.duplicates + self.excluded + self.other_room + self.unparsed + self.other
        return self.lines == self.events + rest and self.events == self.covered + self.uncovered + self.redacted


async def begin_run(db: Database, command: str, now: int) -> int:
    """Open the books of a start of the program; the run's id."""
    async with db.write() as tx:
        return await tx.insert("INSERT INTO runs (started_at, command) VALUES (?, ?)", (now, command))


async def add(tx: Transaction, run_id: int, counts: Mapping[str, int]) -> None:
    """Add to a run's counts."""
    await tx.many(
        "INSERT INTO tally (run_id, name, count) VALUES (?, ?, ?)"
        " ON CONFLICT (run_id, name) DO UPDATE SET count = count + excluded.count",
        [(run_id, name, count) for name, count in counts.items() if count],
    )


async def counts(source: Source, run_id: int) -> dict[str, int]:
    """Everything counted for a run, also why lines were excluded (`excluded_known_bot` …)."""
    rows = await source.rows("SELECT name, count FROM tally WHERE run_id = ?", (run_id,))
    return {row["name"]: row["count"] for row in rows}


async def pruned_unread(source: Source) -> int:
    """How many events were ever pruned without having been read, redacted or excluded: 0, or something is wrong."""
    row = await source.row("SELECT coalesce(sum(count), 0) FROM tally WHERE name = 'pruned_unread'")
    return int(row[0]) if row else 0


async def account(source: Source, run_id: int) -> Account:
    """The account of one run as of now."""
    counted = await counts(source, run_id)
    row = await source.row(
        "SELECT coalesce(sum(redacted_at IS NOT NULL), 0) AS redacted,"
        " coalesce(sum(redacted_at IS NULL AND episode_id IS NOT NULL), 0) AS covered,"
        " coalesce(sum(redacted_at IS NULL AND episode_id IS NULL), 0) AS unread FROM events WHERE run_id = ?",
        (run_id,),
    )
    assert row is not None  # noqa: S101  # an aggregate always has one row
    lost = counted.get("pruned_unread", 0)
    plain = ("lines", "events", "duplicates", "excluded", "other_room", "unparsed", "other")
    return Account(
        **{name: counted.get(name, 0) for name in plain},
        covered=row["covered"] + counted.get("pruned_covered", 0),
        uncovered=row["unread"] + lost,
        redacted=row["redacted"] + counted.get("pruned_redacted", 0),
        pruned_unread=lost,
    )
