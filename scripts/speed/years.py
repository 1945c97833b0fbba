"""Years of a large channel, written by direct SQL: 1 M notes, 200 streams and 200,000 viewers.

Measured are the start's check, a backup, the question whether one is needed, how long the loop is held meanwhile, and
the program's way to chat.
"""

import json
import random
from array import array
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import process_time

from forgetmenot.clock import ManualClock
from forgetmenot.durations import DAY, HOUR
from forgetmenot.files import protect
from forgetmenot.memory.backups import Backups, make
from forgetmenot.settings.schema import Settings
from forgetmenot.store.backup import checked_start, copies_of
from forgetmenot.store.database import connect, open_database, schema_sql
from forgetmenot.store.name_keys import name_keys
from forgetmenot.store.note_keys import SPAN, key_of, stems_of_note
from speed.figures import Figure, percentile
from speed.invented import NOW, Invented, viewer_id
from speed.programs import time_of_packages, way_to_chat
from speed.replies import loop_watched

FACTS = 20_000
NOTES_PER_EPISODE = 5
STARTS = 3
FIRST_STREAM_AT = NOW - 4 * 365 * DAY


async def measure(folder: Path, notes: int) -> list[Figure]:
    """Figures of a memory with this number of notes, a fifth as many viewers and summaries, and 200 streams."""
    path = folder / "m.sqlite3"
    build(path, notes)
    figures = [Figure("years: size", path.stat().st_size / 1e6, "MB")]
    late_ms: list[float] = []
    clock = ManualClock(NOW)
    async with open_database(path) as db:
        async with loop_watched(late_ms):
            began = process_time()
            await make(db, at=clock.now(), keep=1)
            figures.append(Figure("years: a backup", process_time() - began, "CPU-s"))
        began = process_time()
        async with checked_start(db) as file_check:
            figures.append(
                Figure("years: a start waits", process_time() - began, "CPU-s", 0.5)
            )
            await file_check.passed()
            figures.append(
                Figure("years: the whole file read", process_time() - began, "CPU-s")
            )
        async with loop_watched(late_ms):
            backups = Backups(db=db, settings=Settings, clock=clock)
            began = process_time()
            await backups.run_pass()
            figures.append(
                Figure(
                    "years: no backup is needed", process_time() - began, "CPU-s", 0.5
                )
            )
        if len(copies_of(path)) != 1:
            raise SystemExit("a backup was made though nothing had changed")
    figures.append(Figure("years: loop held, p99", percentile(late_ms, 0.99), "ms"))
    ways = [await way_to_chat(folder) for _ in range(STARTS)]
    computing_s = [way.computing_s for way in ways if way.computing_s is not None]
    if computing_s:
        share = min(computing_s) / time_of_packages()
        name = "years: forgetmenot start, computing until in the channel"
        figures.append(Figure(name, share, "times bare Python", 3))
    return figures


def build(path: Path, notes: int) -> None:
    """Write the memory. The triggers are left out while it is filled: the indexes of words are made at once."""
    protect(path)
    with closing(connect(path, "rw")) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA cache_size = -500000")
        db.execute("PRAGMA synchronous = OFF")
        db.executescript(schema_sql())
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _sql in triggers:
            db.execute(f"DROP TRIGGER {name}")
        viewers = notes // 5
        episodes = notes // NOTES_PER_EPISODE
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO streams (id, started_at, last_event_at, ended_at) VALUES (?, ?, ?, ?)",
            _stream_rows(),
        )
        db.executemany(
            "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at) VALUES (?, ?, ?, ?, ?)",
            _viewer_rows(viewers),
        )
        db.execute(
            "INSERT INTO viewer_names SELECT id, login, display_name, first_seen_at, last_seen_at FROM viewers"
        )
        db.executemany("INSERT INTO name_words VALUES (?, ?)", _name_words(viewers))
        db.execute(
            "INSERT INTO attendance SELECT id, rowid % 200 + 1, first_seen_at, last_seen_at, 40 FROM viewers"
        )
        db.executemany(
            """
            INSERT INTO episodes (
                id, kind, stream_id, started_at, ended_at, summary, events, created_at, extracted_at
            )
            VALUES (?1, 'chat', ?1 % 200 + 1, ?2, ?2, ?3, 40, ?2, ?2)
            """,
            _episode_rows(episodes),
        )
        invented = Invented()
        facts = [invented.fact() for _ in range(FACTS)]
        db.executemany(
            """
            INSERT INTO semantic_notes (
                id, scope, subject_id, fact, confidence, source_kind, created_at, first_said_at, last_confirmed_at
            )
            VALUES (?1, 'viewer', ?2, ?3, .8, 'self_claim', ?4, ?4, ?4)
            """,
            _note_rows(notes, viewers, facts),
        )
        db.executemany(
            "INSERT INTO note_words VALUES (?, ?, ?)", _note_words(notes, facts)
        )
        db.execute(
            """
            INSERT INTO note_evidence
            SELECT id, (id - 1) / ? + 1, 'stated', subject_id, 0, created_at
            FROM semantic_notes
            """,
            (NOTES_PER_EPISODE,),
        )
        db.execute(
            "INSERT INTO note_changes SELECT id, id, created_at, NULL, 'active', 'extraction' FROM semantic_notes"
        )
        db.execute(
            "INSERT INTO episode_people SELECT DISTINCT episode_id, speaker_id, 8, 0 FROM note_evidence"
        )
        for _name, sql in triggers:
            db.execute(sql)
        db.execute("COMMIT")


def _stream_rows() -> Iterator[tuple[int, int, int, int]]:
    """Yield a stream of four hours for each of 200 weeks."""
    for number in range(200):
        started_at = FIRST_STREAM_AT + number * 7 * DAY
        ended_at = started_at + 4 * HOUR
        yield number + 1, started_at, ended_at, ended_at


def _viewer_rows(viewers: int) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield the viewers, who first came to one stream or another."""
    for number in range(viewers):
        login = f"viewer_{number}"
        at = FIRST_STREAM_AT + number % 200 * 7 * DAY
        yield viewer_id(number), login, login.title(), at, at + HOUR


def _name_words(viewers: int) -> Iterator[tuple[str, str]]:
    """Yield the words of which the index of names knows a viewer."""
    for number in range(viewers):
        login = f"viewer_{number}"
        for word in json.loads(name_keys(login, login.title())):
            yield word, viewer_id(number)


def _episode_rows(episodes: int) -> Iterator[tuple[int, int, str]]:
    """Yield summaries of sixty invented words, spread over the streams."""
    invented = Invented(seed=8)
    summaries = [" ".join(invented.words(60)) for _ in range(1_000)]
    for number in range(1, episodes + 1):
        at = FIRST_STREAM_AT + number % 200 * 7 * DAY + number // 200 * 1_000
        yield number, at, f"{summaries[number % 1_000]} {number}"


def _note_rows(
    notes: int, viewers: int, facts: list[str]
) -> Iterator[tuple[int, str, str, int]]:
    dice = random.Random(7)  # noqa: S311  # the same in every run
    for number in range(1, notes + 1):
        # a few regulars have most of the notes
        viewer = int(viewers * dice.random() ** 2)
        at = FIRST_STREAM_AT + number % 200 * 7 * DAY
        yield number, viewer_id(viewer), _fact(number, facts), at


def _fact(number: int, facts: list[str]) -> str:
    return f"{facts[number % FACTS]} number {number}"


def _note_words(notes: int, facts: list[str]) -> Iterator[tuple[int, int, bytes]]:
    """Yield the rows of the index of words, span by span."""
    keys_of_facts = []
    for fact in facts:
        keys_of_facts.append(
            [key_of(word) for word in stems_of_note(f"{fact} number", [], [])]
        )
    for span in range(notes // SPAN + 1):
        places: dict[int, array[int]] = defaultdict(lambda: array("H"))
        for number in range(max(1, span * SPAN), min(notes + 1, (span + 1) * SPAN)):
            place = number % SPAN
            for key in {*keys_of_facts[number % FACTS], key_of(str(number))}:
                places[key].append(place)
        for key, packed in places.items():
            yield key, span, packed.tobytes()
