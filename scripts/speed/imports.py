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
from speed.yardsticks import bare_notes


async def measure(folder: Path, notes: int) -> list[Figure]:
    """Notes a second of processor time, and how long the loop is held."""
    figures: list[Figure] = []
    late_ms: list[float] = []
    invented = Invented(13)
    facts = [invented.fact() for _ in range(notes)]
    bare = bare_notes(folder / "bare.sqlite3", facts)
    figures.append(Figure("bare SQLite, as many notes", bare, "notes/CPU-s"))
    # 5,000 and 2,000 notes a second where bare SQLite takes 75,000
    filters = (("unfiltered", None, 0.066), ("filtered", PrivacySettings(), 0.027))
    for name, privacy, least in filters:
        lines = map(json.dumps, Invented(11).notes(range(notes // NOTES_EACH)))
        async with open_database(folder / f"{name}.sqlite3") as db:
            with short_pauses():
                async with loop_watched(late_ms):
                    began = process_time()
                    report = await import_notes(db, lines, now=NOW, privacy=privacy)
                    took = process_time() - began
        rate = report.imported / took
        figures.append(Figure(f"import, {name}", rate, "notes/CPU-s"))
        beside = f"import, {name}, beside"
        figures.append(
            Figure(beside, rate / bare, "of bare SQLite", least, at_least=True)
        )
    figures.append(Figure("import: event loop held, most", max(late_ms), "ms"))
    return figures
