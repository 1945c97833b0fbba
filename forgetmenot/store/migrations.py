"""Numbered steps from each older schema to the next. A step is never edited once it was released.

`schema.sql` is what a new database gets; a test brings every past version here and compares the two.
"""

from importlib import resources
from pathlib import Path

import aiosqlite

from forgetmenot.errors import StoreForeign
from forgetmenot.store.file_safety import APPLICATION_ID
from forgetmenot.store.translate import translating

LATEST = 1

# (version that the step leads to, SQL)
MIGRATIONS: tuple[tuple[int, str], ...] = ()


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


async def bring_to_latest(writer: aiosqlite.Connection, path: Path) -> None:
    """Make the schema in a new database, or take an older one through the steps it lacks: all of them or none."""
    version = await number(writer, "PRAGMA user_version")
    if version == LATEST:
        return
    steps = [schema_sql()] if version == 0 else [sql for number, sql in MIGRATIONS if number > version]
    script = "\n".join(["BEGIN IMMEDIATE;", *steps, f"PRAGMA user_version = {LATEST};"])
    script += f"\nPRAGMA application_id = {APPLICATION_ID};\nCOMMIT;"
    with translating(path):
        await writer.executescript(script)


async def number(connection: aiosqlite.Connection, sql: str) -> int:
    """The whole number that a query gives."""
    rows = list(await connection.execute_fetchall(sql))
    return int(rows[0][0])
