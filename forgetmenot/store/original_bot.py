"""Reads the database of the original bot (schema versions 1 to 4) as lines that an import takes. Changes nothing.

Its tables are known by name and their columns by any of the names that they had: viewers, episodes and semantic_notes,
in which people stand by login. What a table lacks is left out, and named in `missing`.

The file may be anybody's: only stored columns of real tables are read, for a view or a computed column runs what its
author wrote, without end if they like; and no value of another type than expected stops the others.
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from forgetmenot.errors import InputError
from forgetmenot.store.file_safety import APPLICATION_ID

_NOTE = {
    "id": "id note_id",
    "fact": "fact text content note",
    "about": "subject_id subject_login login subject viewer_login viewer username user_login user_id viewer_id",
    "scope": "scope kind",
    "confidence": "confidence",
    "importance": "importance",
    "status": "status state",
    "observed_at": "last_confirmed_at updated_at observed_at last_seen_at created_at",
    "expires_at": "expires_at valid_until",
    "topics": "topics tags topic",
    "superseded_by": "superseded_by replaced_by",
    "pinned": "pinned",
    "episode": "episode_id source_episode_id evidence_episode_id",
}
_EPISODE = {"id": "id episode_id", "summary": "summary text content"}
_VIEWER = {
    "key": "id viewer_id user_id login",
    "login": "login username name",
    "twitch_id": "twitch_id twitch_user_id user_id",
}
_SCOPES = {
    "viewer": "viewer",
    "user": "viewer",
    "channel": "channel",
    "running_bit": "running_bit",
    "bit": "running_bit",
}
_IMPORTANCE = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class OriginalMemory:
    """What was found. `lines`: one JSON line for each note; `missing`: tables and columns that are not there.

    `unreadable`: rows that are left out because a text of theirs is not UTF-8.
    """

    version: int
    lines: tuple[str, ...]
    missing: tuple[str, ...]
    unreadable: tuple[str, ...]


def read_original(path: Path) -> OriginalMemory:
    """Read the whole file. Raises InputError for a file that is no such database."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return _read(db, path)
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be read as a SQLite database: {error}.") from error


def _read(db: sqlite3.Connection, path: Path) -> OriginalMemory:
    if db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
        raise InputError(f"{path} is a memory of ForgetMeNot: use `memory restore`, or `memory export` and import.")
    missing: list[str] = []
    unreadable: list[str] = []
    read = partial(_rows, db, missing=missing, unreadable=unreadable)
    people = list(read("viewers", _VIEWER))
    viewers = {str(row[by]).lower(): row for by in ("login", "key") for row in people if row.get(by) is not None}
    episodes = {row.get("id"): row.get("summary") for row in read("episodes", _EPISODE)}
    notes = list(read("semantic_notes", _NOTE))
    if "semantic_notes" in missing or "semantic_notes.fact" in missing:
        raise InputError(f"{path} has no table semantic_notes with facts: it is no database of the original bot.")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    lines = (json.dumps(_line(note, viewers, episodes, path.name)) for note in notes)
    return OriginalMemory(version, tuple(lines), tuple(missing), tuple(unreadable))


def _rows(
    db: sqlite3.Connection, table: str, wanted: Mapping[str, str], missing: list[str], unreadable: list[str]
) -> Iterator[dict[str, Any]]:
    """The rows of a table by our own names for its columns."""
    # a text that is no UTF-8 must cost its own row and no other
    db.row_factory, db.text_factory = sqlite3.Row, partial(str, encoding="utf-8", errors="surrogateescape")
    real = "SELECT i.name FROM pragma_table_list(?1) t, pragma_table_info(?1) i WHERE t.schema = 'main'"
    there = [row["name"] for row in db.execute(f"{real} AND t.type = 'table'", (table,))]
    if not there:
        missing.append(table)
        return
    columns = {ours: next((name for name in names.split() if name in there), None) for ours, names in wanted.items()}
    missing += [f"{table}.{ours}" for ours, name in columns.items() if name is None]
    read = ", ".join(f'"{name}"' for name in columns.values() if name is not None) or "NULL"
    for row in db.execute(f'SELECT {read} FROM "{table}"'):  # noqa: S608  # names of ours
        if any("\udc80" <= char <= "\udcff" for value in row if isinstance(value, str) for char in value):
            unreadable.append(f"{table} {row[0]}")
        else:
            yield {ours: row[name] for ours, name in columns.items() if name is not None}


def _line(
    note: Mapping[str, Any], viewers: Mapping[str, Mapping[str, Any]], episodes: Mapping[Any, Any], file: str
) -> dict[str, Any]:
    about = str(note["about"]).strip() if note.get("about") not in {None, ""} else None
    scope = _SCOPES.get(str(note.get("scope") or "").lower(), "viewer" if about else "channel")
    line: dict[str, Any] = {"scope": scope, "fact": str(note["fact"] or "")}
    if scope == "viewer" and about:
        known = viewers.get(about.lower(), {})
        twitch_id = str(known.get("twitch_id") or "")
        line["viewer"] = twitch_id if twitch_id.isdigit() else str(known.get("login") or about)
        line["login"] = login if isinstance(login := known.get("login"), str) else None
    if isinstance(note.get("id"), int):
        line["id"] = note["id"]
    if isinstance(note.get("superseded_by"), int):
        line["superseded_by"] = note["superseded_by"]
    line |= {"status": str(note.get("status") or "active").lower(), "pinned": bool(note.get("pinned"))}
    confidence = note.get("confidence")
    if isinstance(confidence, int | float):
        line["confidence"] = min(1.0, max(0.0, confidence / 100 if confidence > 1 else confidence))
    line["importance"] = _importance(note.get("importance"))
    line |= {name: time for name in ("observed_at", "expires_at") if (time := _time(note.get(name)))}
    line["topics"] = _words(note.get("topics"))
    summary = episodes.get(note.get("episode"))
    if summary:
        line["episode"] = {"key": f"{file}: episode {note['episode']}", "summary": str(summary)}
    return line


def _importance(value: object) -> str:
    """Low, medium or high, of a word or a number up to 1 or 10."""
    if isinstance(value, int | float):
        return _IMPORTANCE[int(3 * min(0.9, max(0, value / 10 if value > 1 else value)))]
    return value.lower() if isinstance(value, str) and value.lower() in _IMPORTANCE else "medium"


def _time(value: object) -> str | None:
    """A time as ISO 8601: from seconds or milliseconds, or from text in either form of SQLite's and Python's."""
    if isinstance(value, int | float) and value > 0:
        with contextlib.suppress(ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(value / 1_000 if value > 1e11 else value, UTC).isoformat()
    return value.strip().replace(" ", "T", 1) if isinstance(value, str) and value.strip() else None


def _words(value: object) -> list[str]:
    """A list of words, of JSON or of text with commas."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(value) if isinstance(value, str) and value.startswith("[") else value
    found = value if isinstance(value, list) else str(value or "").split(",")
    return [str(word).strip() for word in found if isinstance(word, str | int) and str(word).strip()][:100]
