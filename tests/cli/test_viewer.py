"""`forgetmenot viewer`: one person's rights on the command line, also beside a running bot."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.cli import memory, viewer
from forgetmenot.errors import InputError
from forgetmenot.store.database import open_database

LINES = [
    {
        "id": 1,
        "viewer": "alicequux",
        "fact": "plays drums",
        "episode": {"key": "a", "summary": "They spoke of a band."},
    },
    {"id": 2, "viewer": "bob", "fact": "is alicequux's brother, <@login:alicequux> says"},
]

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command on a memory with two people; what it printed (as JSON with --json)."""
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    memory.add(subparsers)
    viewer.add(subparsers)

    def one(*words: str) -> Any:  # noqa: ANN401  # JSON
        arguments = parser.parse_args([*words, "--db", str(tmp_path / "memory.sqlite3")])
        assert arguments.run(arguments) == 0
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in words else out

    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in LINES), encoding="utf-8")
    one("memory", "import", str(file))
    file.unlink()
    return one


def test_show_tells_what_is_held(run: Run) -> None:
    shown = run("viewer", "show", "alicequux", "--json")
    assert shown["notes"] == [{"id": 1, "fact": "plays drums", "source_kind": "import"}]
    assert shown["held"] == {"events": 0, "notes": 1, "episodes": 1, "replies": 0, "actions": 0, "streams": 0}
    assert (shown["opted_out"], shown["banned"], shown["names"]) == (False, False, ["alicequux"])
    assert "#1 plays drums (import)" in run("viewer", "show", "alicequux")


def test_export_is_one_readable_file(run: Run, tmp_path: Path) -> None:
    whole = json.loads(run("viewer", "export", "alicequux"))
    assert whole["person"]["login"] == "alicequux"
    assert [note["fact"] for note in whole["notes"]] == ["plays drums"]
    assert [row["summary"] for row in whole["summaries"]] == ["They spoke of a band."]
    run("viewer", "export", "alicequux", "--out", str(tmp_path / "hers.json"))
    assert json.loads((tmp_path / "hers.json").read_text(encoding="utf-8")) == whole
    with pytest.raises(InputError, match="cannot be written"):
        run("viewer", "export", "alicequux", "--out", str(tmp_path / "no" / "folder.json"))


def test_erase_leaves_no_byte(run: Run, tmp_path: Path) -> None:
    report = run("viewer", "erase", "alicequux", "--yes", "--json")
    assert (report["erased"], report["notes"], report["wiped"]) == (True, 1, True)
    assert not [file for file in tmp_path.iterdir() if b"alicequux" in file.read_bytes()]
    [note] = run("memory", "list", "--json")["notes"]
    assert note["fact"] == "is somebody's brother, somebody says"
    with pytest.raises(InputError, match="Nobody called"):
        run("viewer", "show", "alicequux")


def test_erase_asks_first(run: Run) -> None:
    with pytest.raises(InputError, match="--yes"):
        run("viewer", "erase", "alicequux")


def test_opt_out_and_in(run: Run) -> None:
    assert run("viewer", "optout", "alicequux", "--json")["opted_out"] is True
    assert run("viewer", "show", "alicequux", "--json")["opted_out"] is True
    assert run("viewer", "optin", "alicequux", "--json")["opted_out"] is False
    assert run("viewer", "show", "alicequux", "--json")["opted_out"] is False


async def test_it_waits_for_a_bot_that_is_writing(run: Run, tmp_path: Path) -> None:
    import asyncio

    async with open_database(tmp_path / "memory.sqlite3") as bot:
        async with bot.write():
            erasing = asyncio.create_task(asyncio.to_thread(run, "viewer", "erase", "alicequux", "--yes", "--json"))
            await asyncio.sleep(0.2)
            assert not erasing.done()
        assert (await erasing)["erased"]
        assert await bot.value("SELECT count(*) FROM viewers") == 1
