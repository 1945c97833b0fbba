"""How fast notes are imported, with the filter for what is never stored and without it."""

import json
from pathlib import Path
from time import process_time

from forgetmenot.app.live import short_pauses
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store.database import open_database
from speed.figures import Figure
from speed.invented import NOTES_EACH, NOW, Invented
from speed.replies import loop_watched


async def measure(folder: Path, notes: int) -> list[Figure]:
    """Notes a second of processor time, and how long the loop is held."""
    figures = []
    late_ms: list[float] = []
    filters = (("unfiltered", None, 2_000), ("filtered", PrivacySettings(), 600))
    for name, privacy, least in filters:
        lines = map(json.dumps, Invented(11).notes(range(notes // NOTES_EACH)))
        async with open_database(folder / f"{name}.sqlite3") as db:
            with short_pauses():
                async with loop_watched(late_ms):
                    began = process_time()
                    report = await import_notes(db, lines, now=NOW, privacy=privacy)
                    took = process_time() - began
        rate = report.imported / took
        figures.append(
            Figure(f"import, {name}", rate, "notes/CPU-s", least, at_least=True)
        )
    figures.append(Figure("import: event loop held, most", max(late_ms), "ms"))
    return figures
