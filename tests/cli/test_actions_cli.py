"""`forgetmenot actions` and `forgetmenot policy`: JSON on standard output and nothing else, told for people else."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot import cli
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


@pytest.fixture
def waiting(run: Run, database: Path) -> Run:
    """Run one command on a memory in which one ban waits."""
    asyncio.run(_fill(database, ActionStatus.WAITING))
    return run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings of a bot that answers and acts."""
    path = tmp_path / "config.toml"
    path.write_text('[bot]\nmode = "mentions"\n[actions]\nclass_b = "live"\nnewcomer_protection = false\n')
    return path


def test_what_waits_is_listed_and_what_was_decided_is_kept(run: Run, database: Path) -> None:
    asyncio.run(_fill(database, ActionStatus.WAITING))
    listed = run("actions", "list", "--json")["actions"]
    assert [(one["id"], one["name"], one["target"], one["asked_by"]) for one in listed] == [(1, "ban", "Bob", "Alice")]
    assert "ban Bob: waiting" in run("actions", "log")


def test_table_shows_the_policy_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["policy", "table", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    modes = {one["name"]: (one["class"], one["mode"]) for one in table["actions"]}
    assert modes["ban"] == ("C", "ask")
    assert modes["timeout"] == ("B", "shadow")
    assert next(one["rule"] for one in table["rules"]) == "parameters"
    assert table["bot_mode"] == "shadow"
    assert cli.main(["policy", "table"]) == 0
    told = capsys.readouterr()
    assert "always_asks" in told.out
    assert "shadow mode" in told.err
