"""`forgetmenot actions` and `forgetmenot policy`: JSON on standard output and nothing else, told for people else."""

import argparse
import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.cli import actions
from forgetmenot.clock import SystemClock
from forgetmenot.errors import InputError
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.database import open_database
from forgetmenot.store.file_safety import instance_lock
from tests.rows import put


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    actions.add(subparsers)
    parsed = parser.parse_args(list(words))
    return int(parsed.run(parsed))


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
def memory(tmp_path: Path) -> str:
    """A database in which one ban waits."""
    path = tmp_path / "m.sqlite3"
    asyncio.run(_fill(path, ActionStatus.WAITING))
    return str(path)


def test_list_and_approve(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("actions", "list", "--db", memory, "--json") == 0
    listed = json.loads(capsys.readouterr().out)["actions"]
    assert [(one["id"], one["name"], one["target"], one["asked_by"]) for one in listed] == [(1, "ban", "Bob", "Alice")]
    assert _run("actions", "approve", "1", "--db", memory, "--json") == 0
    assert json.loads(capsys.readouterr().out)["ok"]
    assert _run("actions", "undo", "1", "--db", memory) == 1
    assert _run("actions", "deny", "1", "--db", memory) == 0
    assert _run("actions", "approve", "1", "--db", memory) == 1
    assert _run("actions", "log", "--db", memory) == 0
    assert "ban Bob: denied" in capsys.readouterr().out


def test_undo_and_enable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.sqlite3"
    asyncio.run(_fill(path, ActionStatus.DONE))
    assert _run("actions", "undo", "1", "--db", str(path)) == 0
    assert _run("actions", "enable", "--db", str(path), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"enabled": []}
    with pytest.raises(InputError, match="no action `timeuot`"):
        _run("actions", "enable", "timeuot", "--db", str(path))
    assert _run("actions", "list", "--db", str(path)) == 0


def test_explain_gives_the_rules_one_by_one(memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[bot]\nmode = "mentions"\n[actions]\nclass_b = "live"\nnewcomer_protection = false\n')
    words = ["policy", "explain", "--viewer", "alice", "--db", memory, "--config", str(config), "--json"]
    assert (
        _run(*words, "--action", '{"name": "timeout", "target": "me", "seconds": 90}', "--message", "time me out") == 0
    )
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["params"]["target"], told["params"]["seconds"]) == ("allow_changed", "1", "60")
    assert _run(*words, "--action", '{"name": "timeout", "target": "bob"}') == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["rule"]) == ("deny", "consent")
    assert [one["rule"] for one in told["steps"] if one["verdict"]] == ["consent"]
    assert _run(*words[:-1], "--action", '{"name": "ban", "target": "bob"}') == 0
    assert "always_asks" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "message", "verdict", "rule"),
    [
        ("me", "time me out", "allow", "allowed"),
        ("@Alice", "time me out", "allow", "allowed"),
        ("alice", "hi", "deny", "consent"),
        ("bob", "time me out", "deny", "target_known"),
    ],
)
def test_settings_can_be_tried_before_there_is_a_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    target: str,
    message: str,
    verdict: str,
    rule: str,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    config = tmp_path / "config.toml"
    config.write_text('[bot]\nmode = "mentions"\n[actions]\nclass_b = "live"\nnewcomer_protection = false\n')
    words = ["policy", "explain", "--viewer", "alice", "--config", str(config), "--json", "--message", message]
    assert _run(*words, "--action", json.dumps({"name": "timeout", "target": target, "seconds": 30})) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["rule"]) == (verdict, rule)
    remember = '{"name": "remember", "target": "me", "fact": "tea"}'
    assert _run(*words, "--action", remember, "--message", "remember that I like tea") == 0
    assert json.loads(capsys.readouterr().out)["params"]["fact"] == "likes tea"
    assert list(tmp_path.iterdir()) == [config]


def test_an_id_is_no_target_in_a_dry_run_either(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["policy", "explain", "--viewer", "alice", "--db", memory, "--json", "--action"]
    for target, found in (("2", False), ("bob", True), ("@BOB", True), ("Me", True)):
        _run(*words, json.dumps({"name": "ban", "target": target}))
        said = {one["rule"]: one["verdict"] for one in json.loads(capsys.readouterr().out)["steps"]}
        assert (said["target_known"] is None) is found, target


def test_what_is_no_action_is_an_error(memory: str) -> None:
    with pytest.raises(InputError, match="is not an action"):
        _run("policy", "explain", "--viewer", "alice", "--db", memory, "--action", "ban bob")


def test_table_shows_the_policy_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("policy", "table", "--json") == 0
    table = json.loads(capsys.readouterr().out)
    modes = {one["name"]: (one["class"], one["mode"]) for one in table["actions"]}
    assert modes["ban"] == ("C", "ask")
    assert modes["timeout"] == ("B", "shadow")
    assert next(one["rule"] for one in table["rules"]) == "parameters"
    assert table["bot_mode"] == "shadow"
    assert _run("policy", "table") == 0
    told = capsys.readouterr()
    assert "always_asks" in told.out
    assert "shadow mode" in told.err


@pytest.mark.parametrize(("what", "status"), [("approve", ActionStatus.WAITING), ("undo", ActionStatus.DONE)])
def test_when_it_is_done_depends_on_whether_a_bot_runs(
    tmp_path: Path, what: str, status: ActionStatus, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bot that does not run does nothing in a moment."""
    for running in (True, False):
        path = tmp_path / f"{running}.sqlite3"
        asyncio.run(_fill(path, status))
        words = ("actions", what, "1", "--db", str(path), "--json")
        with contextlib.ExitStack() as bot:
            if running:
                bot.enter_context(instance_lock(path, "run"))
            assert _run(*words) == 0
        line = json.loads(capsys.readouterr().out)["line"]
        assert ("in a moment" in line) is running
        assert ("It is not running now" in line) is not running


def test_without_a_config_it_is_told_whose_settings_these_are(
    memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("policy", "explain", "--viewer", "alice", "--db", memory, "--action", '{"name": "clip"}')
    _run(*words)
    assert "--config" in capsys.readouterr().err
    config = tmp_path / "config.toml"
    config.write_text('[bot]\nmode = "mentions"\n')
    _run(*words, "--config", str(config))
    assert "--config" not in capsys.readouterr().err
