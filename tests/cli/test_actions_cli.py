"""`forgetmenot actions` and `forgetmenot policy`: JSON on standard output and nothing else, told for people else."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot import cli
from forgetmenot.clock import SystemClock
from forgetmenot.errors import InputError
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.database import open_database
from forgetmenot.store.file_safety import instance_lock
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


def test_list_and_approve(waiting: Run) -> None:
    listed = waiting("actions", "list", "--json")["actions"]
    assert [(one["id"], one["name"], one["target"], one["asked_by"]) for one in listed] == [(1, "ban", "Bob", "Alice")]
    assert waiting("actions", "approve", "1", "--json")["ok"]
    with pytest.raises(InputError, match="cannot be undone"):
        waiting("actions", "undo", "1")
    waiting("actions", "deny", "1")
    assert waiting("actions", "approve", "1", "--json", code=2)["ok"] is False
    assert "ban Bob: denied" in waiting("actions", "log")


def test_undo_and_enable(run: Run, database: Path) -> None:
    asyncio.run(_fill(database, ActionStatus.DONE))
    run("actions", "undo", "1")
    assert run("actions", "enable", "--json")["code"] == "enabled_none"
    with pytest.raises(InputError, match="no action `timeuot`"):
        run("actions", "enable", "timeuot")
    run("actions", "list")


def test_explain_gives_the_rules_one_by_one(waiting: Run, config: Path) -> None:
    words = ("policy", "explain", "--viewer", "alice", "--config", config, "--action")
    asked = '{"name": "timeout", "target": "me", "seconds": 90}'
    told = waiting(*words, asked, "--message", "time me out", "--json")
    assert (told["verdict"], told["params"]["target"], told["params"]["seconds"]) == ("allow_changed", "1", "60")
    told = waiting(*words, '{"name": "timeout", "target": "bob"}', "--json")
    assert (told["verdict"], told["rule"]) == ("deny", "consent")
    assert [one["rule"] for one in told["steps"] if one["verdict"]] == ["consent"]
    assert "always_asks" in waiting(*words, '{"name": "ban", "target": "bob"}')


@pytest.mark.parametrize(
    ("target", "message", "verdict", "rule"),
    [
        ("me", "time me out", "allow", "allowed"),
        ("@Alice", "time me out", "allow", "allowed"),
        ("alice", "hi", "deny", "asked_in_words"),
        ("bob", "time me out", "deny", "target_known"),
    ],
)
def test_settings_can_be_tried_before_there_is_a_memory(
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    target: str,
    message: str,
    verdict: str,
    rule: str,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(config.parent))
    words = ["policy", "explain", "--viewer", "alice", "--config", str(config), "--json", "--action"]
    action = json.dumps({"name": "timeout", "target": target, "seconds": 30})
    assert cli.main([*words, action, "--message", message]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["rule"]) == (verdict, rule)
    action = '{"name": "remember", "target": "me", "fact": "tea"}'
    assert cli.main([*words, action, "--message", "remember that I like tea"]) == 0
    assert json.loads(capsys.readouterr().out)["params"]["fact"] == "likes tea"
    assert list(config.parent.iterdir()) == [config]


def test_an_id_is_no_target_in_a_dry_run_either(waiting: Run) -> None:
    words = ("policy", "explain", "--viewer", "alice", "--json", "--action")
    for target, found in (("2", False), ("bob", True), ("@BOB", True), ("Me", True)):
        steps = waiting(*words, json.dumps({"name": "ban", "target": target}))["steps"]
        said = {one["rule"]: one["verdict"] for one in steps}
        assert (said["target_known"] is None) is found, target
    with pytest.raises(InputError, match="is not an action"):
        waiting(*words, "ban bob")


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


@pytest.mark.parametrize(("what", "status"), [("approve", ActionStatus.WAITING), ("undo", ActionStatus.DONE)])
@pytest.mark.parametrize("running", [True, False])
def test_when_it_is_done_depends_on_whether_a_bot_runs(
    run: Run, database: Path, what: str, status: ActionStatus, running: bool
) -> None:
    """A bot that does not run does nothing in a moment."""
    asyncio.run(_fill(database, status))
    with instance_lock(database, "run") if running else contextlib.nullcontext():
        line = run("actions", what, "1", "--json")["line"]
    assert ("in a moment" in line) is running
    assert ("It is not running now" in line) is not running


@pytest.mark.usefixtures("waiting")
def test_without_a_config_it_is_told_whose_settings_these_are(
    database: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["policy", "explain", "--viewer", "alice", "--db", str(database), "--action", '{"name": "clip"}']
    config = config.rename(config.with_name("elsewhere.toml"))
    cli.main(words)
    assert "--config" in capsys.readouterr().err
    cli.main([*words, "--config", str(config)])
    assert "--config" not in capsys.readouterr().err
