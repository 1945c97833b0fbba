"""What the bench's bounds are multiples of writes and reads the tables of today's schema."""

from contextlib import closing
from pathlib import Path

from speed.invented import Invented
from speed.yardsticks import bare_events, bare_notes, plain_queries

from forgetmenot.store.database import connect


def test_bare_sqlite_stores_every_line_with_its_speaker(tmp_path: Path) -> None:
    path = tmp_path / "events.sqlite3"
    chat = list(Invented().chat(lines=2_500, people=30))
    assert bare_events(path, chat) > 0
    with closing(connect(path)) as db:
        assert db.execute("SELECT count(*) FROM events").fetchone() == (2_500,)
        assert db.execute("SELECT count(*) FROM viewers").fetchone() == (30,)
    assert plain_queries(path, range(30)) > 0
    assert plain_queries(path, range(30), cold=True) > 0


def test_bare_sqlite_stores_every_note_with_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite3"
    assert bare_notes(path, ["plays the cello", "has a cat"]) > 0
    with closing(connect(path)) as db:
        rows = db.execute(
            """
            SELECT n.fact, e.summary
            FROM semantic_notes n
            JOIN note_evidence v ON v.note_id = n.id
            JOIN episodes e ON e.id = v.episode_id
            JOIN note_changes c ON c.note_id = n.id
            """
        ).fetchall()
    assert rows == [(fact, fact) for fact in ("plays the cello", "has a cat")]
