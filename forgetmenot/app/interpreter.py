"""Keeps the event loop from being held by what the interpreter does by itself.

For a process that runs on: opened once, when everything is wired.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_S = 0.0005
YOUNG = 5_000  # objects made between two collections: a reply makes some thousand, and most are gone when it ends


@contextmanager
def short_pauses() -> Iterator[None]:
    """A thread that computes gives way after half a millisecond; collections skip what was there from the start.

    Without it a thread that builds postings holds the loop for 5 ms at a time, and a full collection, which walks
    every module that was imported, for 15 to 50 ms.
    """
    before, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        sys.setswitchinterval(before)
