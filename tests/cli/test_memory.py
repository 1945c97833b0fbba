"""`forgetmenot memory` and `forgetmenot recall`, as scripts and people use them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.errors import InputError

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


def test_recall_gives_notes_in_order_with_scores(filled: Run) -> None:
    told = filled("recall", "--viewer", "alice", "still playing drums?", "--now", "2026-11-20T12:00:00Z", "--json")
    assert [(note["rank"], note["id"]) for note in told["notes"]] == [(1, 1), (2, 2)]
    assert told["notes"][0]["score"] > told["notes"][1]["score"] == 0
    assert "plays drums" in filled("recall", "--viewer", "alice", "drums")


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
        ("memory", "list", "--status", "lost"), ("memory", "undo", "1"), ("memory", "pin", "99"),
        ("memory", "nevermention", "the"), ("memory", "maymention", "7"), ("memory", "import", "/nowhere/notes.jsonl"),
        ("recall", "--viewer", "nobody", "drums"), ("cost", "--since", "soon"), ("recall", "--viewer", "alice"),
        ("recall", "--viewer", "alice", "drums", "--now", "noon"), ("recall", "--batch", "/nowhere/questions.jsonl"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_one_sentence(filled: Run, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        filled(*words)
    assert str(caught.value).endswith((".", "Z."))


@pytest.fixture
def edit(run: Run, take_in: Run) -> Run:
    """Run one action on a memory with a note about alice and one about bob; what it printed."""
    take_in([{"id": 1, "viewer": "alice", "fact": "lives in Oslo"}, {"id": 2, "viewer": "bob", "fact": "likes tea"}])
    return lambda *words: run("memory", *words)


def test_a_note_is_taken_back_and_brought_back(edit: Run) -> None:
    changed = edit("retract", "1", "--json")
    assert changed == {
        "ok": True, "code": "retracted", "line": "#1 is removed. Undo restores it.",
        "data": {"id": 1, "fact": "lives in Oslo"},
    }  # fmt: skip
    assert edit("show", "1", "--json")["status"] == "retracted"
    assert [note["id"] for note in edit("list", "--json")["notes"]] == [2]
    edit("undo", "1")
    assert [change["cause"] for change in edit("why", "1", "--json")["history"]][1:] == [
        "by hand",
        "undone",
    ]


def test_what_is_never_brought_up_is_listed_and_let_go(edit: Run) -> None:
    edit("nevermention", "election", "results")
    edit("nevermention", "#2")
    told = edit("never", "--json")["never"]
    assert [(one["viewer"], one["words"], one["note"]) for one in told] == [
        (None, "election results", None),
        ("bob", "", 2),
    ]
    assert edit("never") == "1. anybody: election results\n2. bob: note #2\n"
    edit("maymention", "1")
    assert edit("never") == "2. bob: note #2\n"
