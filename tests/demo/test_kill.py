"""Killed at any moment and started again, the demo goes on: nothing twice, nothing lost."""

import asyncio
import json
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from forgetmenot.store.counts import line_counts
from forgetmenot.store.database import open_database
from tests.played_demo import witnessed
from tests.program import command, environment

pytestmark = pytest.mark.slow


def demo(folder: Path, path: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command("demo", "--fast", "--json", "--db", path),
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed_at(folder: Path, path: Path, events: int) -> set[str]:
    """Play until so many events are stored, then kill -9; the events that were committed."""
    with demo(folder, path) as process:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as db:
            while process.poll() is None and len(stored(db)) < events:
                time.sleep(0.002)
        process.kill()
    with closing(sqlite3.connect(path)) as db:
        return stored(db)


def stored(db: sqlite3.Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT id FROM witness")}


def finish(folder: Path, path: Path) -> dict[str, int]:
    """Play to the end; what it tells."""
    with demo(folder, path) as process:
        out, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    (line,) = out.splitlines()
    told: dict[str, int] = json.loads(line)
    return told


def chat(path: Path) -> Counter[tuple[str, int]]:
    """Who said something when, as often as it was stored."""
    with closing(sqlite3.connect(path)) as db:
        rows = list(db.execute("SELECT viewer_id, at FROM witness WHERE NOT from_bot"))
    began = min(at for _, at in rows)
    return Counter((viewer, at - began) for viewer, at in rows)


def count(path: Path, sql: str) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute(sql).fetchone()[0] or 0)


async def adds_up(path: Path) -> bool:
    """Over both runs: the second also reads what the first has stored."""
    async with open_database(path) as db:
        return (await line_counts(db)).balanced


def test_a_killed_demo_goes_on_and_says_nothing_twice(tmp_path: Path, demo_folder: Path) -> None:
    path, whole = tmp_path / "m.sqlite3", demo_folder / "witnessed.sqlite3"
    asyncio.run(witnessed(path))
    committed = killed_at(tmp_path, path, 250)
    told = finish(tmp_path, path)
    with closing(sqlite3.connect(path)) as db:
        assert committed <= stored(db)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert chat(path) == chat(whole)
    assert count(path, "SELECT count(*) - count(DISTINCT id) FROM witness") == 0
    twice = "SELECT count(*) FROM (SELECT 1 FROM bot_messages WHERE status IN ('sent', 'unknown', 'sending')"
    assert count(path, f"{twice} AND event_id NOT NULL GROUP BY event_id HAVING count(*) > 1)") == 0
    assert count(path, "SELECT sum(count) FROM tally WHERE name = 'pruned_unread'") == 0
    redacted = "SELECT (SELECT sum(count) FROM tally WHERE name = 'pruned_redacted')"
    redacted += " + (SELECT count(*) FROM events WHERE redacted_at NOT NULL)"
    assert count(path, redacted) == count(whole, redacted)
    kept_out = ("duplicates", "excluded", "other_room", "unparsed", "other")
    assert told["lines"] == told["events"] + sum(told[name] for name in kept_out)
    assert asyncio.run(adds_up(path))
