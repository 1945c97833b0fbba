"""What live chat shows about the bot: replies by outcome, the memory's use, the prompt's cost. Figures and words."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from forgetmenot.clock import DAY, HOUR, MINUTE, iso
from forgetmenot.errors import InputError
from forgetmenot.store import bot_messages
from forgetmenot.store.database import Database

Figures = Mapping[str, Any]
UNITS = {"m": MINUTE, "h": HOUR, "d": DAY}
OFTEN = 5
"""A note that was offered that often and never used is worth a look."""
COUNTS = {
    "replies": "Replies by outcome",
    "unsupported": "Replies with something that no row supports",
    "filters": "Filters that changed a reply",
    "rules": "Rules that decided about an action",
    "shed": "Parts of the prompt left out, by kind of message",
    "calls": "Model calls",
    "tokens": "Tokens",
}


def period_of(text: str) -> int:
    """`7d`, `12h` in ms. Raises InputError."""
    found = re.fullmatch(r"(\d{1,4})([mhd])", text)
    if not found or not int(found[1]):
        raise InputError(f"--since {text}: a number and a unit are needed, for example 12h or 7d.")
    return int(found[1]) * UNITS[found[2]]


async def figures_since(db: Database, since: int) -> dict[str, Any]:
    """All figures since a time (ms), as JSON has them."""
    taken = await bot_messages.latencies(db, since)
    offered = await bot_messages.notes_offered(db, since)
    return {
        "since": iso(since),
        **await bot_messages.sums(db, since),
        "sections": await bot_messages.sections(db, since),
        "notes": {
            "offered": len(offered),
            "used": sum(one["used"] > 0 for one in offered),
            "most_used": sorted(offered, key=lambda one: -one["used"])[:10],
            "never_used": [one for one in offered if not one["used"] and one["offered"] >= OFTEN][:20],
            "corrected": [one for one in offered if one["corrected"]][:20],
        },
        "latency_ms": {f"p{share}": _quantile(taken, share) for share in (50, 90, 99)},
    }


def _quantile(ordered: list[int], share: int) -> int | None:
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)] if ordered else None


def in_words(figures: Figures, since: str) -> list[str]:
    """The same as tables for a terminal."""
    lines = [f"The last {since}, since {figures['since']}."]
    for name, title in COUNTS.items():
        lines += _table(title, figures[name])
    lines += ["", "Sections of the prompt: mean tokens, rows shown, notes used"]
    lines += [f"  {s['name']:22}{s['tokens']:>7}{s['shown']:>8}{s['used']:>8}" for s in figures["sections"]] or [
        "  none"
    ]
    notes = figures["notes"]
    lines += ["", f"Notes: {notes['offered']} were in prompts, {notes['used']} were used."]
    lines += _ids("  most used", [one for one in notes["most_used"] if one["used"]], "used")
    lines += _ids(f"  offered {OFTEN} times or more and never used", notes["never_used"], "offered")
    lines += _ids("  used in a reply that was called wrong", notes["corrected"], "corrected")
    told = ", ".join(f"{name} {ms} ms" for name, ms in figures["latency_ms"].items() if ms is not None)
    return [*lines, "", f"Time for a reply: {told or 'no reply'}."]


def _table(title: str, counts: Mapping[str, int]) -> list[str]:
    most = max(counts.values(), default=1)
    rows = [
        f"  {name.replace('_', ' '):44}{count:>10} {'▇' * round(20 * count / most)}" for name, count in counts.items()
    ]
    return ["", title, *(rows or ["  none"])]


def _ids(title: str, notes: Iterable[Mapping[str, int]], key: str) -> list[str]:
    told = ", ".join(f"#{one['id']} ({one[key]})" for one in notes)
    return [f"{title}: {told}"] if told else []
