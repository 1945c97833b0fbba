"""Keeps the event loop from being held by what the interpreter does by itself.

For a process that runs on: opened once, when everything is wired.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_S = 0.0005


@contextmanager
def short_pauses() -> Iterator[None]:
    """A thread that computes gives way after half a millisecond; collections skip what was there from the start.

    Without it a thread that builds postings holds the loop for 5 ms at a time, and a full collection, which walks
    every module that was imported, for 15 to 50 ms.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)
