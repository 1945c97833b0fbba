"""What this machine does without us, in the same run: bare SQLite in our own file, with our own tables and indexes.

The bounds of other figures are multiples of these, so that they hold on any machine, also on a busy one.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from time import process_time

from forgetmenot.domain import ChatEvent
from forgetmenot.files import protect
from forgetmenot.store.database import connect, schema_sql
from forgetmenot.store.line_keys import line_key
from speed.invented import NOW, viewer_id

NOTES = 20
LINES = 20
OWN_LINES = 5
EPISODES = 3
EVENTS_PER_COMMIT = 1_000
# as the bot's own (KB, negative)
CACHE_SIZE = -8_000
MS_PER_S = 1_000

_NOTES_OF_PERSON = """
SELECT id, fact, source_kind
FROM semantic_notes
WHERE subject_id = ? AND status = 'active'
ORDER BY last_confirmed_at DESC
LIMIT ?
"""
_NEWEST_LINES = """
SELECT viewers.login, events.text, events.at
FROM events
JOIN viewers ON viewers.id = events.viewer_id
ORDER BY events.at DESC
LIMIT ?
"""
_OWN_LINES = "SELECT text FROM events WHERE viewer_id = ? ORDER BY at DESC LIMIT ?"
_EPISODES = "SELECT summary FROM episodes ORDER BY ended_at DESC LIMIT ?"

_SPEAKER = """
INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at)
VALUES (?1, ?2, ?3, ?4, ?4)
ON CONFLICT (id) DO UPDATE SET last_seen_at = excluded.last_seen_at
"""
_EVENT = """
INSERT INTO events (key, id, viewer_id, kind, text, role, at)
VALUES (?, ?, ?, 'message', ?, 'viewer', ?)
"""

# each gets a note's number and fact, whose it is, and when
_ROWS_OF_NOTE = (
    """
    INSERT INTO episodes (id, kind, started_at, ended_at, summary, events, created_at)
    VALUES (:number, 'import', :now, :now, :fact, 0, :now)
    """,
    "INSERT INTO episode_people VALUES (:number, :person, 8, 0)",
    """
    INSERT INTO semantic_notes (
        id, scope, subject_id, fact, confidence, source_kind,
        created_at, first_said_at, last_confirmed_at
    )
    VALUES (:number, 'viewer', :person, :fact, .8, 'self_claim', :now, :now, :now)
    """,
    "INSERT INTO note_evidence VALUES (:number, :number, 'stated', :person, 0, :now)",
    "INSERT INTO note_changes VALUES (:number, :number, :now, NULL, 'active', 'import')",
)


def plain_queries(
    path: Path,
    people: Sequence[int],
    *,
    cold: bool = False,
) -> float:
    """Return the usual time (ms) of a prompt's rows: somebody's notes and lines, the newest of chat, last episodes.

    `cold`: no page of the file stays in this process from one person to the next.
    """
    times_s = []
    with closing(connect(path)) as db:
        for number in people:
            if cold:
                db.execute("PRAGMA shrink_memory")
            person = viewer_id(number)
            began = process_time()
            db.execute(_NOTES_OF_PERSON, (person, NOTES)).fetchall()
            db.execute(_OWN_LINES, (person, OWN_LINES)).fetchall()
            db.execute(_NEWEST_LINES, (LINES,)).fetchall()
            db.execute(_EPISODES, (EPISODES,)).fetchall()
            times_s.append(process_time() - began)
    return median(times_s) * MS_PER_S


def bare_events(path: Path, chat: Sequence[ChatEvent]) -> float:
    """Return how many lines a second of processor time SQLite takes in, with who said them."""
    with closing(_new_file(path)) as db:
        began = process_time()
        for first in range(0, len(chat), EVENTS_PER_COMMIT):
            events = chat[first : first + EVENTS_PER_COMMIT]
            db.execute("BEGIN")
            db.executemany(_SPEAKER, [_speaker(event) for event in events])
            db.executemany(_EVENT, [_event(event) for event in events])
            db.execute("COMMIT")
        took_s = process_time() - began
    return len(chat) / took_s


def bare_notes(path: Path, facts: Sequence[str]) -> float:
    """Return how many notes of one person a second of processor time SQLite takes, each with its evidence."""
    person = viewer_id(0)
    same = {"person": person, "now": NOW}
    rows = [
        {"number": number, "fact": fact, **same}
        for number, fact in enumerate(facts, start=1)
    ]
    with closing(_new_file(path)) as db:
        began = process_time()
        db.execute("BEGIN")
        db.execute(_SPEAKER, (person, None, None, NOW))
        for sql in _ROWS_OF_NOTE:
            db.executemany(sql, rows)
        db.execute("COMMIT")
        took_s = process_time() - began
    return len(facts) / took_s


def _new_file(path: Path) -> sqlite3.Connection:
    """Make an empty memory without the triggers, which call functions of ours."""
    protect(path)
    db = connect(path, "rw")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA cache_size = {CACHE_SIZE}")
    db.executescript(schema_sql())
    triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    for (name,) in triggers.fetchall():
        db.execute(f"DROP TRIGGER {name}")
    return db


def _speaker(event: ChatEvent) -> tuple[str, str, str, int]:
    return event.user_id, event.login, event.display_name, event.at


def _event(event: ChatEvent) -> tuple[int | None, str, str, str, int]:
    return line_key(event.id), event.id, event.user_id, event.text, event.at
