"""`forgetmenot memory`, `viewer`, `recall` and `actions`, as scripts and people use them, also beside a running bot."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.errors import InputError, StoreLocked
from forgetmenot.files import instance_lock
from forgetmenot.languages import reason
from forgetmenot.store.database import open_database
from tests.rows import put

LINES = [
    {
        "id": 1,
        "viewer": "alicequux",
        "fact": "plays drums",
        "episode": {"key": "a", "summary": "They spoke of a band."},
    },
    {"id": 2, "viewer": "alicequux", "fact": "lives in Oslo"},
    {"id": 3, "viewer": "bob", "fact": "is <@login:alicequux>'s brother"},
    {"id": 4, "scope": "channel", "fact": "streams on Fridays"},
]

Run = Callable[..., Any]


@pytest.fixture
def filled(run: Run, take_in: Run) -> Run:
    """Run one command on a memory with these notes in it."""
    report = take_in([*LINES, LINES[3]])
    assert (report["imported"], report["refused"]) == (
        4,
        [{"line": 5, "reason": "this note is here already"}],
    )
    return run


def test_list_gives_notes_with_present_names_and_why_the_chain(filled: Run) -> None:
    notes = filled("memory", "list", "--json")["notes"]
    assert [(note["id"], note["viewer"]) for note in notes] == [
        (1, "alicequux"),
        (2, "alicequux"),
        (3, "bob"),
        (4, None),
    ]
    assert notes[2]["fact"] == "is alicequux's brother"
    assert [
        note["id"]
        for note in filled("memory", "list", "--viewer", "@AliceQuux", "--json")[
            "notes"
        ]
    ] == [1, 2]
    assert filled("memory", "list", "--status", "past", "--json") == {"notes": []}
    assert "#4 channel: streams on Fridays" in filled(
        "memory", "list", "--status", "all"
    )
    chain = filled("memory", "why", "1", "--json")
    note = filled("memory", "show", "1", "--json")
    assert chain["note"] == note
    assert [word["summary"] for word in chain["evidence"]] == ["They spoke of a band."]
    assert [
        (change["from"], change["to"], change["cause"]) for change in chain["history"]
    ] == [(None, "active", "imported")]
    assert "They spoke of a band." in filled("memory", "why", "1")


def test_an_export_can_be_read_in_and_a_person_gets_what_is_held(filled: Run) -> None:
    lines = [json.loads(line) for line in filled("memory", "export").splitlines()]
    assert [line["id"] for line in lines] == [1, 2, 3, 4]
    assert lines[0]["episode"] == {"key": "a", "summary": "They spoke of a band."}
    assert [
        json.loads(line)["id"]
        for line in filled("memory", "export", "--viewer", "bob").splitlines()
    ] == [3]
    whole = json.loads(filled("viewer", "export", "alicequux"))
    assert whole["person"]["login"] == "alicequux"
    assert [note["fact"] for note in whole["notes"]] == ["plays drums", "lives in Oslo"]
    assert "They spoke of a band." in [row["summary"] for row in whole["summaries"]]


def test_an_import_keeps_out_what_the_settings_say_is_never_stored(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(
        '[privacy]\nnever_store = ["axolotl"]\nallow_categories = ["health"]\n'
    )
    facts = ("keeps an axolotl", "is allergic to feathers", "plays drums")
    (tmp_path / "notes.jsonl").write_text(
        "".join(json.dumps({"viewer": "alice", "fact": f}) + "\n" for f in facts)
    )
    report = run(
        "memory",
        "import",
        tmp_path / "notes.jsonl",
        "--config",
        tmp_path / "config.toml",
        "--json",
    )
    assert ([refused["line"] for refused in report["refused"]], report["imported"]) == (
        [1],
        2,
    )


def test_a_note_is_taken_back_and_a_topic_is_listed_and_let_go(filled: Run) -> None:
    filled("memory", "retract", "2")
    assert [note["id"] for note in filled("memory", "list", "--json")["notes"]] == [
        1,
        3,
        4,
    ]
    filled("memory", "undo", "2")
    causes = [
        change["cause"] for change in filled("memory", "why", "2", "--json")["history"]
    ]
    assert causes[1:] == ["by hand", "undone"]
    filled("memory", "nevermention", "election", "results")
    filled("memory", "nevermention", "#3")
    entries = filled("memory", "never", "--json")["never"]
    assert [(entry["viewer"], entry["words"], entry["note"]) for entry in entries] == [
        (None, "election results", None),
        ("bob", "", 3),
    ]
    filled("memory", "maymention", "1")
    assert filled("memory", "never") == "2. bob: note #3\n"


def test_a_topic_that_names_somebody_is_listed_by_their_name(filled: Run) -> None:
    filled("memory", "nevermention", "@bob", "election")
    assert filled("memory", "never").casefold() == "1. anybody: bob election\n"


async def test_what_waits_for_approval_is_listed(database: Path, run: Run) -> None:
    async with open_database(database) as db, db.write() as tx:
        for key, login in (("1", "alice"), ("2", "bob")):
            await put(tx, "viewers", id=key, login=login)
        waiting = {
            "key": "k",
            "name": "ban",
            "status": "waiting",
            "asked_by": "1",
            "target_id": "2",
        }
        await put(
            tx, "action_logs", **waiting, params_json='{"target": "2", "reason": ""}'
        )
    assert "ban Bob, asked by Alice: waiting" in await asyncio.to_thread(run, "actions")


async def test_an_action_that_was_done_is_listed_without_the_permission(
    database: Path, run: Run
) -> None:
    async with open_database(database) as db, db.write() as tx:
        link = "https://clips.twitch.tv/Abc"
        done = {"name": "clip", "status": "done", "detail": link}
        await put(tx, "action_logs", key="k", reason=reason("allowed"), **done)
    listed = await asyncio.to_thread(run, "actions")
    assert listed.rstrip().endswith("clip: done. https://clips.twitch.tv/Abc")


def test_a_backup_is_the_way_back_and_nothing_is_replaced_unasked(
    filled: Run, tmp_path: Path, database: Path
) -> None:
    made = filled("memory", "backup", "--json")
    assert Path(made["path"]).parent == database.parent / "backups"
    assert (made["notes"], made["bytes"]) == (4, Path(made["path"]).stat().st_size)
    filled("memory", "retract", 4)
    with pytest.raises(InputError, match="--yes"):
        filled("memory", "restore", made["path"])
    restored = filled("memory", "restore", made["path"], "--yes", "--json")
    assert (restored["restored"], restored["notes"], restored["erased"]) == (True, 4, 0)
    assert Path(restored["saved"]).is_file()
    assert len(filled("memory", "list", "--json")["notes"]) == 4
    made = filled("memory", "backup", tmp_path, "--json")
    with pytest.raises(InputError, match="already exists"):
        filled("memory", "backup", made["path"])
    with instance_lock(database), pytest.raises(StoreLocked):
        filled("memory", "restore", made["path"], "--yes")


# ── one person's rights ──


def recording(chat: Path, login: str, at: int, user_id: str = "771234599") -> Path:
    """A recording of one line."""
    tags = f"@id={at};user-id={user_id};tmi-sent-ts={at}"
    chat.write_text(
        f"{tags} :{login}!{login}@{login}.tmi.twitch.tv PRIVMSG #demo :hello\n",
        encoding="utf-8",
    )
    return chat


def test_who_never_spoke_here_may_opt_out_by_name(filled: Run, tmp_path: Path) -> None:
    """Before the first line: that one is not stored either, nor one by another name."""
    assert filled("viewer", "optout", "@DaveQuux", "--json")["data"] == {
        "viewer": "login:davequux"
    }
    for number, login in enumerate(("davequux", "dave2")):
        chat = recording(tmp_path / "chat.txt", login, 1_700_000_000_000 + number)
        counts = filled("replay", chat, "--format", "irc", "--json")
        assert (counts["events"], counts["excluded"]) == (0, 1)
    assert b"davequux" not in b"".join(
        file.read_bytes().lower() for file in tmp_path.glob("memory*")
    )
    assert filled("viewer", "optin", "771234599", "--json")["code"] == "opted_in"


def test_a_former_login_means_the_person(filled: Run, tmp_path: Path) -> None:
    for number, login in enumerate(("oldquux", "newquux")):
        filled(
            "replay",
            recording(tmp_path / "chat.txt", login, 1_700_000_000_000 + number),
            "--format",
            "irc",
        )
    assert filled("viewer", "optout", "oldquux", "--json")["data"] == {
        "viewer": "771234599"
    }


def test_an_id_that_is_another_ones_login_is_asked_about(
    filled: Run, tmp_path: Path
) -> None:
    for user_id, login in (("777777", "firstquux"), ("771234599", "777777")):
        chat = recording(tmp_path / "chat.txt", login, 1_700_000_000_000, user_id)
        filled("replay", chat, "--format", "irc")
    listed = "firstquux (@firstquux, id:777777), 777777 (@777777, id:771234599)"
    with pytest.raises(InputError, match="777777 can be") as raised:
        filled("viewer", "erase", "777777", "--yes")
    assert listed in str(raised.value)
    assert filled("viewer", "erase", "id:777777", "--yes", "--json")["ok"]
    assert "771234599" in str(filled("viewer", "export", "@777777"))


def test_erase_leaves_no_byte(filled: Run, tmp_path: Path) -> None:
    report = filled("viewer", "erase", "alicequux", "--yes", "--json")["data"]
    assert (report["notes"], report["wiped"], report["found"], report["places"]) == (
        2,
        True,
        0,
        {},
    )
    assert not [
        file for file in tmp_path.iterdir() if b"alicequux" in file.read_bytes()
    ]
    assert [note["fact"] for note in filled("memory", "list", "--json")["notes"]] == [
        "is somebody's brother",
        "streams on Fridays",
    ]
    with pytest.raises(InputError, match="No viewer named"):
        filled("viewer", "export", "alicequux")
