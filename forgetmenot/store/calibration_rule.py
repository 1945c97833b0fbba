"""How a token estimate learns from the bill: a running factor, robust against one odd reply.

Pure. A factor is billed tokens per estimated token; estimates are multiplied by it. It leans upwards: an estimate that
is too low overruns the budget, one that is too high only leaves out a line.
"""

LOWEST, HIGHEST = 0.25, 4.0
MEMORY = 12  # samples that count: later ones are followed at this pace, so that a change of language is noticed
UPWARD = 1.5
ODD = 1.6  # after the first few, a ratio further off than this is taken as this far off


def next_factor(factor: float, samples: int, ratio: float) -> float:
    """The factor after one more bill. `ratio`: billed tokens / tokens estimated with factor 1."""
    if samples == 0:
        return _within(ratio, LOWEST, HIGHEST)
    if samples >= 3:
        ratio = _within(ratio, factor / ODD, factor * ODD)
    step = 1 / min(samples + 1, MEMORY)
    if ratio > factor:
        step = min(1.0, step * UPWARD)
    return _within(factor + step * (ratio - factor), LOWEST, HIGHEST)


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
