"""`forgetmenot memory`, `recall` and `actions`, as scripts and people use them."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.errors import InputError, StoreLocked
from forgetmenot.files import instance_lock
from forgetmenot.store import action_logs, viewers
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.database import open_database

LINES = [
    {"id": 1, "viewer": "alice", "fact": "plays drums", "episode": {"key": "a", "summary": "They spoke about a band."}},
    {"id": 2, "viewer": "alice", "fact": "lives in Oslo"},
    {"id": 3, "viewer": "bob", "fact": "is <@login:alice>'s brother"},
    {"id": 4, "scope": "channel", "fact": "streams on Fridays"},
    {"id": 4, "scope": "channel", "fact": "streams on Fridays"},
]

Run = Callable[..., Any]


@pytest.fixture
def filled(run: Run, take_in: Run) -> Run:
    """Run one command on a memory with these notes in it."""
    assert take_in(LINES) == {
        "imported": 4,
        "episodes": 4,
        "viewers": 2,
        "refused": [{"line": 5, "reason": "this note is here already"}],
    }
    return run


def test_list_gives_notes_with_present_names(filled: Run) -> None:
    notes = filled("memory", "list", "--json")["notes"]
    assert [note["id"] for note in notes] == [1, 2, 3, 4]
    assert [note["viewer"] for note in notes] == ["alice", "alice", "bob", None]
    assert notes[2]["fact"] == "is alice's brother"
    assert [note["id"] for note in filled("memory", "list", "--viewer", "@Alice", "--json")["notes"]] == [1, 2]
    assert filled("memory", "list", "--status", "past", "--json") == {"notes": []}
    assert "#3 bob: is alice's brother" in filled("memory", "list")
    assert "#4 channel: streams on Fridays" in filled("memory", "list", "--status", "all")


def test_why_gives_the_chain(filled: Run) -> None:
    told, note = filled("memory", "why", "1", "--json"), filled("memory", "show", "1", "--json")
    assert told["note"] == note
    assert (note["fact"], note["status"], note["source_kind"]) == ("plays drums", "active", "import")
    assert [word["summary"] for word in told["evidence"]] == ["They spoke about a band."]
    assert [(one["from"], one["to"], one["cause"]) for one in told["history"]] == [(None, "active", "imported")]
    assert (told["replaced"], told["replaced_by"], told["replies"]) == ([], None, [])
    assert "They spoke about a band." in filled("memory", "why", "1")


def test_export_prints_a_line_per_note(filled: Run) -> None:
    lines = [json.loads(line) for line in filled("memory", "export").splitlines()]
    assert [line["id"] for line in lines] == [1, 2, 3, 4]
    assert lines[0]["episode"] == {"key": "a", "summary": "They spoke about a band."}
    assert [json.loads(line)["id"] for line in filled("memory", "export", "--viewer", "bob").splitlines()] == [3]


def test_an_import_keeps_out_what_the_settings_say_is_never_stored(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[privacy]\nnever_store = ["axolotl"]\nallow_categories = ["health"]\n')
    facts = ("keeps an axolotl", "is allergic to feathers", "plays drums")
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps({"viewer": "alice", "fact": f}) + "\n" for f in facts))
    told = run("memory", "import", tmp_path / "notes.jsonl", "--config", tmp_path / "config.toml", "--json")
    assert [refused["line"] for refused in told["refused"]] == [1]
    assert told["imported"] == 2


def test_recall_answers_a_batch_line_by_line(filled: Run, tmp_path: Path) -> None:
    asked = [
        {"id": "a", "viewers": ["alice", "bob"], "text": "whose brother?", "limit": 1},
        {"id": 2, "viewers": ["nobody"], "text": "drums"},
        {"id": 3},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in asked), encoding="utf-8")
    answers = [json.loads(line) for line in filled("recall", "--batch", str(file)).splitlines()]
    assert [answer["id"] for answer in answers] == ["a", 2, None]
    assert answers[0]["note_ids"] == [3]
    assert answers[0]["ms"] > 0
    assert answers[1]["note_ids"] == []
    assert "line 3" in answers[2]["error"]


@pytest.mark.parametrize(
    "words",
    [
        ("memory", "show", "99"), ("memory", "why", "99"), ("memory", "list", "--viewer", "nobody"),
        ("memory", "undo", "1"), ("memory", "pin", "99"),
        ("memory", "nevermention", "the"), ("memory", "maymention", "7"), ("memory", "import", "/nowhere/notes.jsonl"),
        ("cost", "--since", "soon"), ("recall", "--batch", "-", "--now", "noon"),
        ("recall", "--batch", "/nowhere/questions.jsonl"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_sentence(filled: Run, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        filled(*words)
    assert str(caught.value).endswith((".", "Z."))


def test_a_note_is_taken_back_and_a_topic_is_listed_and_let_go(filled: Run) -> None:
    filled("memory", "retract", "2")
    assert filled("memory", "show", "2", "--json")["status"] == "retracted"
    assert [note["id"] for note in filled("memory", "list", "--json")["notes"]] == [1, 3, 4]
    filled("memory", "undo", "2")
    causes = [change["cause"] for change in filled("memory", "why", "2", "--json")["history"]]
    assert causes[1:] == ["by hand", "undone"]
    filled("memory", "nevermention", "election", "results")
    filled("memory", "nevermention", "#3")
    told = filled("memory", "never", "--json")["never"]
    assert [(one["viewer"], one["words"], one["note"]) for one in told] == [
        (None, "election results", None), ("bob", "", 3),
    ]  # fmt: skip
    assert filled("memory", "never") == "1. anybody: election results\n2. bob: note #3\n"
    filled("memory", "maymention", "1")
    assert filled("memory", "never") == "2. bob: note #3\n"


async def _propose_a_ban(path: Path) -> None:
    now = SystemClock().now()
    async with open_database(path) as db, db.write() as tx:
        await action_logs.insert(
            tx,
            NewAction(
                key="k", at=now, name="ban", kind="C", params={"target": "2", "reason": ""}, verdict="ask",
                rule="always_asks", reason="A moderator has to agree.", status=ActionStatus.WAITING,
                asked_by=await viewers.find(tx, "alice"), target_id=await viewers.find(tx, "bob"),
                expires_at=now + 300_000,
            ),
        )  # fmt: skip


def test_what_waits_for_approval_is_listed(filled: Run, database: Path) -> None:
    asyncio.run(_propose_a_ban(database))
    [action] = filled("actions", "--json")["actions"]
    assert (action["id"], action["name"], action["target"], action["asked_by"]) == (1, "ban", "bob", "alice")
    assert "ban bob, asked by alice: waiting" in filled("actions")


@pytest.fixture
def copied(run: Run, take_in: Run) -> Run:
    """Run one command on a memory with two notes; what it printed as JSON."""
    take_in([LINES[0], LINES[3]])
    return lambda *words: run(*words, "--json")


def test_a_backup_is_the_way_back_and_nothing_is_replaced_unasked(copied: Run, tmp_path: Path, database: Path) -> None:
    made = copied("memory", "backup")
    assert Path(made["path"]).parent == database.parent / "backups"
    assert (made["notes"], made["episodes"]) == (2, 2)
    assert made["bytes"] == Path(made["path"]).stat().st_size
    copied("memory", "retract", 4)
    with pytest.raises(InputError, match="--yes"):
        copied("memory", "restore", made["path"])
    told = copied("memory", "restore", made["path"], "--yes")
    assert (told["restored"], told["notes"], told["erased"]) == (True, 2, 0)
    assert Path(told["saved"]).is_file()
    assert [note["id"] for note in copied("memory", "list")["notes"]] == [1, 4]
    made = copied("memory", "backup", tmp_path)
    with pytest.raises(InputError, match="already exists"):
        copied("memory", "backup", made["path"])
    with instance_lock(database), pytest.raises(StoreLocked):
        copied("memory", "restore", made["path"], "--yes")
