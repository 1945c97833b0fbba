"""`forgetmenot memory undo|retract|pin|unpin|never`, as a streamer uses them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.errors import InputError

Run = Callable[..., Any]


@pytest.fixture
def run(run: Run, take_in: Run) -> Run:
    """Run one action on a memory with a note about alice and one about bob; what it printed."""
    take_in([{"id": 1, "viewer": "alice", "fact": "lives in Oslo"}, {"id": 2, "viewer": "bob", "fact": "likes tea"}])
    return lambda *words: run("memory", *words)


def test_a_note_is_taken_back_and_brought_back(run: Run) -> None:
    assert run("retract", "1", "--json")["status"] == "retracted"
    assert [note["id"] for note in run("list", "--json")["notes"]] == [2]
    assert run("undo", "1", "--json")["status"] == "active"
    assert [change["cause"] for change in run("why", "1", "--json")["history"]][1:] == ["by hand", "undone"]


def test_a_supersede_is_undone_in_one_step(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "more.jsonl"
    file.write_text(json.dumps({"viewer": "alice", "fact": "lives in Bergen"}), encoding="utf-8")
    run("import", str(file), "--merge")
    [moved] = run("list", "--viewer", "alice", "--json")["notes"]
    assert moved["fact"] == "lives in Bergen"
    run("undo", "1")
    assert [note["fact"] for note in run("list", "--viewer", "alice", "--json")["notes"]] == ["lives in Oslo"]
    assert run("show", str(moved["id"]), "--json")["status"] == "retracted"


def test_a_note_is_pinned_and_let_go(run: Run) -> None:
    assert "pinned" in run("pin", "1")
    assert run("show", "1", "--json")["pinned"] is True
    assert run("unpin", "1", "--json")["pinned"] is False


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("undo", "1"), "could be undone"),
        (("undo", "99"), "no such note"),
        (("retract", "99"), "no such note"),
        (("pin", "99"), "no such note"),
        (("never", "#99"), "no such note"),
        (("never", "the"), "at least one word"),
        (("never", "tea", "--viewer", "carol"), "Nobody called carol"),
        (("never", "--remove", "7"), "no entry 7"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_way_out(run: Run, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        run(*words)


def test_what_is_never_brought_up_is_listed_and_let_go(run: Run) -> None:
    run("never", "election", "results")
    told = run("never", "#2", "--json")["never"]
    assert [(one["viewer"], one["words"], one["note"]) for one in told] == [
        (None, "election results", None),
        ("bob", "", 2),
    ]
    assert run("never") == "1. anybody: election results\n2. bob: note #2\n"
    assert run("never", "--remove", "1") == "2. bob: note #2\n"
