"""The schema, and the steps that bring an older database to it: all of them or none."""

from importlib import resources
from pathlib import Path

import aiosqlite

from forgetmenot.errors import StoreForeign
from forgetmenot.store.file_safety import APPLICATION_ID

LATEST = 3

# (version that the step leads to, SQL)
MIGRATIONS: tuple[tuple[int, str], ...] = (
    (
        2,
        """ALTER TABLE events ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN retry_at INTEGER;
ALTER TABLE events ADD COLUMN retry_from INTEGER;
ALTER TABLE episodes ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episodes ADD COLUMN retry_at INTEGER;
ALTER TABLE semantic_notes ADD COLUMN external_id INTEGER;
CREATE TABLE reply_outcomes (
    reply_id    INTEGER PRIMARY KEY REFERENCES bot_messages (id) ON DELETE CASCADE,
    outcome     TEXT    NOT NULL DEFAULT '',         -- went_on, corrected, liked, ignored, deleted, good, bad; '' open
    used        TEXT    NOT NULL DEFAULT '[]',       -- ids of the notes that the reply used, JSON
    unsupported TEXT    NOT NULL DEFAULT '[]'        -- [kind, start, end] of what no row supports, JSON
) STRICT;""",
    ),
    (
        3,
        """ALTER TABLE episodes ADD COLUMN topic TEXT NOT NULL DEFAULT '';
DROP TRIGGER episodes_fts_insert;
DROP TRIGGER episodes_fts_delete;
DROP TRIGGER episodes_fts_update;
DROP TABLE episodes_fts;
CREATE VIRTUAL TABLE episodes_fts USING fts5 (
    summary, topic, content='episodes', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER episodes_fts_insert AFTER INSERT ON episodes BEGIN
    INSERT INTO episodes_fts (rowid, summary, topic) VALUES (new.id, new.summary, new.topic);
END;
CREATE TRIGGER episodes_fts_delete AFTER DELETE ON episodes BEGIN
    INSERT INTO episodes_fts (episodes_fts, rowid, summary, topic) VALUES ('delete', old.id, old.summary, old.topic);
END;
CREATE TRIGGER episodes_fts_update AFTER UPDATE OF summary, topic ON episodes BEGIN
    INSERT INTO episodes_fts (episodes_fts, rowid, summary, topic) VALUES ('delete', old.id, old.summary, old.topic);
    INSERT INTO episodes_fts (rowid, summary, topic) VALUES (new.id, new.summary, new.topic);
END;
INSERT INTO episodes_fts (episodes_fts) VALUES ('rebuild');
DROP TABLE briefs;
CREATE TABLE briefs (
    id        INTEGER PRIMARY KEY,
    viewer_id TEXT    NOT NULL REFERENCES viewers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    persona   TEXT    NOT NULL DEFAULT '',
    text      TEXT    NOT NULL,
    made_of   TEXT    NOT NULL,                      -- a hash of its sources
    notes     TEXT    NOT NULL DEFAULT '[]',         -- ids, JSON: it is used while all of them stand
    episodes  TEXT    NOT NULL DEFAULT '[]',
    made_at   INTEGER NOT NULL,
    UNIQUE (viewer_id, persona)
) STRICT;""",
    ),
)


def schema_sql() -> str:
    """The newest schema. Packaged in a wheel; at the checkout's root under an editable install."""
    packaged = resources.files("forgetmenot.store") / "schema.sql"
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "schema.sql").read_text(encoding="utf-8")


async def refuse_foreign(writer: aiosqlite.Connection, path: Path) -> None:
    """Raise StoreForeign for a file or a database of another program, or of a newer version of this one."""
    if path.stat().st_size == 1:  # SQLite takes just that for an empty database, and writes over it
        raise StoreForeign(f"{path} is not a readable SQLite database. Choose another file with --db.")
    tables = await number(writer, "SELECT count(*) FROM sqlite_master")
    if tables and await number(writer, "PRAGMA application_id") != APPLICATION_ID:
        raise StoreForeign(f"{path} is a database of another program. Choose another file with --db.")
    version = await number(writer, "PRAGMA user_version")
    if version > LATEST:
        raise StoreForeign(
            f"{path} was written by a newer ForgetMeNot (schema {version}, this knows {LATEST}). Update ForgetMeNot."
        )


async def bring_to_latest(writer: aiosqlite.Connection) -> None:
    """Make the schema in a new database, or take an older one through the steps it lacks: all of them or none."""
    version = await number(writer, "PRAGMA user_version")
    if version == LATEST:
        return
    steps = [schema_sql()] if version == 0 else [sql for number, sql in MIGRATIONS if number > version]
    # in the script itself: `executescript` first commits any transaction that was begun outside of it
    script = "\n".join(["BEGIN IMMEDIATE;", *steps, f"PRAGMA user_version = {LATEST};"])
    script += f"\nPRAGMA application_id = {APPLICATION_ID};\nCOMMIT;"
    await writer.executescript(script)


async def number(connection: aiosqlite.Connection, sql: str) -> int:
    """The whole number that a query gives."""
    rows = list(await connection.execute_fetchall(sql))
    return int(rows[0][0])
