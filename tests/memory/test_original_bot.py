"""The original bot's database comes in, whatever stands in it, and nothing of it is run."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from forgetmenot.clock import iso, parse_iso
from forgetmenot.errors import InputError
from forgetmenot.memory.transfer import import_notes
from forgetmenot.store import notes, viewers
from forgetmenot.store.original_bot import read_original
from tests.notes_world import World

NOW = parse_iso("2026-11-20T12:00:00Z")


OLD = {
    1: "CREATE TABLE viewers (login TEXT PRIMARY KEY, name TEXT);"
    "CREATE TABLE semantic_notes (id INTEGER PRIMARY KEY, login TEXT, fact TEXT, created_at TEXT);"
    "INSERT INTO semantic_notes VALUES (3, 'alice', 'plays drums', '2026-01-02 03:04:05');",
    4: "CREATE TABLE viewers (id TEXT PRIMARY KEY, login TEXT, twitch_id TEXT);"
    "CREATE TABLE episodes (id INTEGER PRIMARY KEY, summary TEXT);"
    "CREATE TABLE semantic_notes (id INTEGER PRIMARY KEY, scope TEXT, subject_id TEXT, fact TEXT, confidence REAL,"
    " importance TEXT, status TEXT, last_confirmed_at INTEGER, tags TEXT, episode_id INTEGER, superseded_by INTEGER);"
    "INSERT INTO viewers VALUES ('v7', 'zoe', '700');"
    "INSERT INTO episodes VALUES (9, 'Zoe talked about jazz.');"
    "INSERT INTO semantic_notes VALUES"
    " (5, 'viewer', 'v7', 'likes jazz', 0.7, 'high', 'active', 1767322845, '[\"music\"]', 9, NULL),"
    " (6, 'viewer', 'v7', 'likes rock', 80, '2', 'superseded', 1767322845000, 'music, loud', 9, 5),"
    " (7, 'running_bit', NULL, 'the ladder is to blame', NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
    " (8, 'viewer', 'v7', 'has diabetes', 0.7, 'high', 'active', 0, '', 9, NULL),"
    " (9, 'viewer', 'v7', 'hates soup', 0.7, 'high', 'archived', 0, '', 9, NULL);",
}


def old_database(path: Path, version: int) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript(f"{OLD[version]} PRAGMA user_version = {version};")
    return path


async def test_the_original_bots_database_comes_in(world: World, tmp_path: Path) -> None:
    found = read_original(old_database(tmp_path / "old.db", 4))
    assert (found.version, found.missing) == (4, ("semantic_notes.expires_at", "semantic_notes.pinned"))
    report = await import_notes(world.db, found.lines, now=NOW)
    assert (report.imported, report.viewers, [one.line for one in report.refused]) == (3, 1, [4, 5]), report.refused
    assert await viewers.find(world.db, "zoe") == "700"
    [jazz] = await notes.of_subject(world.db, "700")
    assert (jazz.id, jazz.fact, jazz.confidence, jazz.topics) == (5, "likes jazz", 0.7, ("music",))
    assert iso(jazz.last_confirmed_at) == "2026-01-02T03:00:45Z"
    rock = await notes.get(world.db, 6)
    assert rock is not None
    assert (rock.status, rock.superseded_by, rock.confidence, rock.topics) == ("superseded", 5, 0.8, ("music", "loud"))
    assert [note.fact for note in await notes.of_subject(world.db, None)] == ["the ladder is to blame"]
    [word] = await notes.evidence_of(world.db, 5)
    assert word.episode.summary == "Zoe talked about jazz."
    again = await import_notes(world.db, found.lines, now=NOW)
    assert (again.imported, again.episodes) == (0, 0)


async def test_people_are_found_by_login_where_the_id_is_kept_beside_it(world: World, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as old:
        old.executescript(
            "CREATE TABLE viewers (user_id TEXT PRIMARY KEY, login TEXT); INSERT INTO viewers VALUES ('700', 'Zoe');"
            "CREATE TABLE semantic_notes (subject_login TEXT, fact TEXT);"
            "INSERT INTO semantic_notes VALUES ('zoe', 'likes jazz'); PRAGMA user_version = 3;"
        )
    await import_notes(world.db, read_original(tmp_path / "old.db").lines, now=NOW)
    assert [note.fact for note in await notes.of_subject(world.db, "700")] == ["likes jazz"]


async def test_an_import_that_was_stopped_goes_on_where_it_was(world: World, tmp_path: Path) -> None:
    found = read_original(old_database(tmp_path / "old.db", 4))
    [rock] = [line for line in found.lines if "likes rock" in line]
    await import_notes(world.db, [rock], now=NOW)
    assert (await import_notes(world.db, found.lines, now=NOW)).imported == 2
    note = await notes.get(world.db, 6)
    assert note is not None
    assert note.superseded_by == 5


async def test_the_oldest_schema_knows_people_by_login_alone(world: World, tmp_path: Path) -> None:
    found = read_original(old_database(tmp_path / "old.db", 1))
    assert "episodes" in found.missing
    assert (await import_notes(world.db, found.lines, now=NOW)).imported == 1
    [note] = await notes.of_subject(world.db, "1")
    assert (note.fact, iso(note.last_confirmed_at)) == ("plays drums", "2026-01-02T03:04:05Z")


async def test_another_file_is_refused_with_a_sentence(world: World, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database, but long enough to be one " * 9)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE cats (name TEXT)")
    for name, words in (
        ("none.db", "cannot be read"),
        ("text.db", "cannot be read"),
        ("other.db", "no table semantic_notes"),
    ):
        with pytest.raises(InputError, match=words):
            read_original(tmp_path / name)
    with pytest.raises(InputError, match="memory restore"):
        read_original(world.db.path)


ROW = {"fact": "plays drums", "viewer": "alice", "importance": 1, "topics": "music", "confidence": 0.5}


@pytest.mark.parametrize(
    "odd",
    [
        {"importance": float("inf")}, {"importance": -5}, {"topics": "[" * 100_000}, {"topics": '[[[["music"]]]]'},
        {"confidence": float("inf")}, {"fact": b"\xff\x00", "topics": b"\xff", "importance": b""}, {"viewer": "9"},
    ],
)  # fmt: skip
def test_no_value_of_a_foreign_database_stops_the_others(tmp_path: Path, odd: dict[str, object]) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "odd.db")) as db, db:
        db.execute(f"CREATE TABLE semantic_notes ({', '.join(ROW)})")
        db.execute("CREATE TABLE viewers (id, login)")
        db.execute("INSERT INTO viewers VALUES ('9', x'ff')")
        for row in (ROW | odd, ROW):
            db.execute("INSERT INTO semantic_notes VALUES (?, ?, ?, ?, ?)", tuple(row.values()))
    assert len(read_original(tmp_path / "odd.db").lines) == 2


def test_a_row_that_is_not_utf_8_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(old_database(tmp_path / "odd.db", 4))) as db, db:
        db.execute("UPDATE semantic_notes SET fact = CAST(x'ff61' AS TEXT) WHERE id = 6")
        db.execute("UPDATE episodes SET summary = CAST(x'ff61' AS TEXT)")
    found = read_original(tmp_path / "odd.db")
    assert found.unreadable == ("episodes 9", "semantic_notes 6")
    assert len(found.lines) == 4


def test_nothing_of_a_foreign_database_is_run(tmp_path: Path) -> None:
    rows = "WITH RECURSIVE row (fact) AS (SELECT 'a' UNION ALL SELECT fact FROM row LIMIT 10000) SELECT * FROM row"
    with contextlib.closing(sqlite3.connect(tmp_path / "view.db")) as db, db:
        db.execute("CREATE VIEW semantic_notes AS " + rows)
    with pytest.raises(InputError, match="no table semantic_notes"):
        read_original(tmp_path / "view.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "computed.db")) as db, db:
        db.execute("CREATE TABLE semantic_notes (fact)")
        db.execute("INSERT INTO semantic_notes VALUES ('no JSON')")
        db.execute("ALTER TABLE semantic_notes ADD COLUMN more AS (json_extract(fact, '$'))")
    assert len(read_original(tmp_path / "computed.db").lines) == 1
