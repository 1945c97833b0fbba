"""`forgetmenot actions`: what the bot proposed, and what came of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forgetmenot.clock import SystemClock
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.database import open_database
from tests.rows import put

Run = Callable[..., Any]


async def _fill(path: Path, status: ActionStatus) -> None:
    now = SystemClock().now()
    async with open_database(path) as db, db.write() as tx:
        for viewer_id, login in (("1", "alice"), ("2", "bob")):
            await put(tx, "viewers", id=viewer_id, login=login, first_seen_at=now, last_seen_at=now)
        await action_logs.insert(
            tx,
            NewAction(
                key="k", at=now, name="ban", kind="C", params={"target": "2", "reason": ""}, verdict="ask",
                rule="always_asks", reason="This always needs a moderator's approval.", status=status, asked_by="1",
                target_id="2", expires_at=now + 300_000,
            ),
        )  # fmt: skip


def test_what_waits_and_what_was_done_is_listed(run: Run, database: Path) -> None:
    asyncio.run(_fill(database, ActionStatus.WAITING))
    [action] = run("actions", "--json")["actions"]
    assert (action["id"], action["name"], action["target"], action["asked_by"]) == (1, "ban", "Bob", "Alice")
    assert "ban Bob, asked by Alice: waiting" in run("actions")
