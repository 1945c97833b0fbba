"""How the time to read a text grows with its length, for what looks for personal data, links and moments in it.

A text is one unit over and over, which is what makes a pattern try every start and every end. Twice the length takes
twice the time where a pattern is linear and four times where it is not; the worst unit counts, the best of some tries.
"""

from collections.abc import Callable
from pathlib import Path
from time import process_time

from forgetmenot.text.dates import without_moments
from forgetmenot.text.mentions import has_link
from forgetmenot.text.sensitive import sensitive_category
from speed.figures import Figure

LENGTH = 4_000
WORTH_MEASURING_S = 0.02
"""Of the longer text: below this, the clock and the machine decide the ratio."""
UNITS = [
    *"a1.-,@_é{·",
    *(
        f"{unit} "
        for unit in ("", "a", "1", "is a", "last", "12345", "12 34 56", "ab12 1234", "1/", "psc 1,", "one", "+1")
    ),
    *(
        "a.",
        "a-",
        "1.",
        "1-",
        "a1",
        "d1",
        "12:",
        "0x0",
        ", ",
        "  ,",
        "corner of ",
        "wohnt a ",
        "calle a ",
        "12 rue ",
        "丁",
    ),
]
READERS: dict[str, Callable[[str], object]] = {
    "sensitive": sensitive_category,
    "moments": without_moments,
    "links": has_link,
}


def measure(_folder: Path, tries: int) -> list[Figure]:
    """The worst growth of each reader, and its longest time."""
    figures = []
    for name, reader in READERS.items():
        times = [(_seconds(reader, unit, LENGTH, tries), _seconds(reader, unit, 2 * LENGTH, tries)) for unit in UNITS]
        growth = [long / short for short, long in times if long >= WORTH_MEASURING_S]
        figures.append(Figure(f"{name}: time for twice the length", max(growth, default=1.0), "×", 3.0))
        figures.append(Figure(f"{name}: longest for {LENGTH:,} characters", 1_000 * max(s for s, _ in times), "ms"))
    return figures


def _seconds(reader: Callable[[str], object], unit: str, length: int, tries: int) -> float:
    text = (unit * length)[:length]
    return min(_once(reader, text) for _ in range(tries))


def _once(reader: Callable[[str], object], text: str) -> float:
    began = process_time()
    reader(text)
    return process_time() - began
