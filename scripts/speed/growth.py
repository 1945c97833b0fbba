"""What grows with a channel, and what does not: the same figures at several sizes of a memory.

`python scripts/growth_picture.py` draws docs/images/growth.svg from what `bench.py growth --json` prints.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import process_time

from forgetmenot.app.live import short_pauses
from forgetmenot.privacy.erasure import Eraser
from speed.figures import Figure
from speed.ingest import PEOPLE, TAKEN_AT_ONCE, through_ingest
from speed.invented import Invented, viewer_id
from speed.replies import COMMON, memory, warm_prompts

PROMPT = "ms a prompt"
ERASURE = "CPU-s an erasure"
INGEST = "lines a CPU-s"


def measure(
    folder: Path,
    viewers: Sequence[int],
    lines: int,
) -> list[Figure]:
    """Figures at these numbers of viewers (twenty notes each), and of chat up to so many lines."""
    figures = []
    for number in viewers:
        path = folder / f"{number}.sqlite3"
        figures += asyncio.run(_with_viewers(path, number))
    chat = list(Invented().chat(lines, PEOPLE))
    took = asyncio.run(through_ingest(folder / "ingest.sqlite3", chat))
    for part, seconds in enumerate(took, start=1):
        name = f"growth: ingest at {part * TAKEN_AT_ONCE} lines"
        figures.append(Figure(name, TAKEN_AT_ONCE / seconds, INGEST))
    return figures


async def _with_viewers(path: Path, viewers: int) -> list[Figure]:
    """Measure a prompt and an erasure in a memory of so many viewers."""
    async with memory(path, viewers) as large:
        notes = await large.db.value("SELECT count(*) FROM semantic_notes")
        with short_pauses():
            prompts = await warm_prompts(large, range(COMMON))
            began = process_time()
            eraser = Eraser(db=large.db, clock=large.clock)
            await eraser.erase(viewer_id(COMMON - 1))
            erasure_took = process_time() - began
    computing = median(took.computing for took in prompts)
    return [
        Figure(f"growth: prompt at {notes} notes", computing, PROMPT),
        Figure(f"growth: erasure at {notes} notes", erasure_took, ERASURE),
    ]
