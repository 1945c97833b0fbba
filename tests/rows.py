"""Rows that a test needs as they are: with what matters to it, and something plain for the rest."""

from typing import Any

from forgetmenot.store.database import Transaction
from forgetmenot.store.line_keys import line_key

_PLAIN: dict[str, dict[str, Any]] = {
    "action_logs": {
        "at": 1, "name": "clip", "class": "A", "params_json": "{}", "verdict": "allow", "rule": "", "reason": "",
    },
    "bot_messages": {"at": 1, "trigger": "mention", "mode": "live", "text": "", "status": "sent"},
    "episodes": {"kind": "chat", "started_at": 1, "ended_at": 2, "events": 25, "created_at": 2},
    "events": {"kind": "message", "role": "viewer", "at": 1},
    "model_calls": {"at": 1, "purpose": "reply", "model": "fake", "latency_ms": 1},
    "semantic_notes": {
        "scope": "viewer", "confidence": 0.9, "source_kind": "self_claim", "created_at": 1, "first_said_at": 1,
        "last_confirmed_at": 1,
    },
    "streams": {"started_at": 1, "last_event_at": 1},
    "viewers": {"first_seen_at": 1, "last_seen_at": 1},
}  # fmt: skip


async def put(tx: Transaction, table: str, **columns: object) -> int:
    """Insert one row; its rowid. A viewer is shown by the login, a line has the key of its id."""
    row = {**_PLAIN.get(table, {}), **columns}
    if table == "viewers" and "display_name" not in row:
        row["display_name"] = str(row["login"]).title()
    if table == "events" and "key" not in row:
        row["key"] = line_key(str(row["id"]))
    marks = ", ".join(f":{name}" for name in row)
    return await tx.insert(
        f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})",  # noqa: S608
        row,
    )
