"""Erasure forgets no column: each text column of the schema is cleaned, or there is a reason why it need not be."""

from forgetmenot.store.database import Database
from forgetmenot.store.personal_data import EXEMPT, PLACES


async def text_columns(db: Database) -> set[str]:
    rows = await db.rows(
        "SELECT m.name AS t, c.name AS c FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        " AND c.type = 'TEXT' AND m.sql NOT LIKE '%VIRTUAL%' AND m.name NOT LIKE 'episodes_fts%'"
    )
    return {f"{row['t']}.{row['c']}" for row in rows}


async def test_every_text_column_is_accounted_for(db: Database) -> None:
    cleaned = {f"{place.table}.{column}" for place in PLACES for column in place.columns}
    unaccounted = {
        column
        for column in await text_columns(db) - cleaned
        if column not in EXEMPT and column.split(".")[0] not in EXEMPT
    }
    assert unaccounted == set()


async def test_no_reason_is_given_for_what_is_not_there(db: Database) -> None:
    columns = await text_columns(db)
    tables = {row[0] for row in await db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {name for name in EXEMPT if name not in columns | tables} == set()
    assert {f"{place.table}.{column}" for place in PLACES for column in place.columns} <= columns
