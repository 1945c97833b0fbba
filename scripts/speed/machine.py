"""What else the machine does while it is measured: the figures say little when it is much."""

import contextlib
import os

PRIORITY = -10
BUSY = 0.5  # of the processors, beside the one that measures


def raise_priority() -> None:
    """Go before other programs, where the system lets us."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)


def load() -> str:
    """How busy the machine was in the last minute, in words; empty where the system does not tell."""
    if not hasattr(os, "getloadavg"):
        return ""
    processes, processors = os.getloadavg()[0], os.cpu_count() or 1
    loaded = "; it is loaded, so times are longer than the bot's own" if processes > 1 + BUSY * processors else ""
    return f"load average {processes:.1f} on {processors} processors{loaded}"
