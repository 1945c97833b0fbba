"""What live chat shows about the bot: replies by outcome, filters and rules, notes used, model calls and their cost."""

import re
from typing import Any

from forgetmenot.clock import DAY, HOUR, MINUTE, iso
from forgetmenot.errors import InputError
from forgetmenot.settings import prices
from forgetmenot.settings.schema import Settings
from forgetmenot.store import counts
from forgetmenot.store.database import Database

UNITS = {"m": MINUTE, "h": HOUR, "d": DAY}


def period_of(text: str) -> int:
    """`7d`, `12h` in ms. Raises InputError."""
    period = re.fullmatch(r"(\d{1,4})([mhd])", text)
    if not period or not int(period[1]):
        raise InputError(f"--since {text}: a number and a unit are needed, for example 12h or 7d.")
    return int(period[1]) * UNITS[period[2]]


async def figures_since(db: Database, since: int, settings: Settings) -> dict[str, Any]:
    """All figures since a time (ms), as JSON has them. Money needs prices in the settings."""
    latencies = await counts.latencies(db, since)
    offered = await counts.notes_offered(db, since)
    return {
        "since": iso(since),
        **await counts.sums(db, since),
        "notes": {"offered": len(offered), "used": sum(offered.values())},
        "latency_ms": {f"p{share}": latencies[len(latencies) * share // 100] for share in (50, 90, 99) if latencies},
        "spend_total": prices.in_words(settings, await counts.spent(db, since=since)),
    }


def in_words(figures: dict[str, Any]) -> list[str]:
    """The report for a terminal: one line for each group, what is most frequent first."""
    lines = [f"Since {figures.pop('since')}:"]
    for name, counted in figures.items():
        shown = ", ".join(f"{key} {n}" for key, n in counted.items()) if isinstance(counted, dict) else counted
        lines.append(f"  {name.replace('_', ' ')}: {shown or 'none'}")
    return lines
