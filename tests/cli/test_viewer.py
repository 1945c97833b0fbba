"""`forgetmenot viewer`: one person's rights on the command line, also beside a running bot."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.errors import InputError

LINES = [
    {
        "id": 1,
        "viewer": "alicequux",
        "fact": "plays drums",
        "episode": {"key": "a", "summary": "They spoke of a band."},
    },
    {"id": 2, "viewer": "bob", "fact": "plays in alicequux's band, <@login:alicequux> says"},
]

Run = Callable[..., Any]


@pytest.fixture
def run(run: Run, take_in: Run) -> Run:
    """Run one command on a memory with two people; what it printed (as JSON with --json)."""
    take_in(LINES)
    return run


def test_what_is_held_is_exported(run: Run) -> None:
    whole = json.loads(run("viewer", "export", "alicequux"))
    assert whole["person"]["login"] == "alicequux"
    assert [(note["fact"], note["topics"], note["asked_with"]) for note in whole["notes"]] == [("plays drums", [], [])]
    assert [row["summary"] for row in whole["summaries"]] == ["They spoke of a band."]


def said(chat: Path, login: str, at: int, user_id: str = "771234599") -> Path:
    """A recording of one line."""
    tags = f"@id={at};user-id={user_id};tmi-sent-ts={at}"
    chat.write_text(f"{tags} :{login}!{login}@{login}.tmi.twitch.tv PRIVMSG #demo :hello\n", encoding="utf-8")
    return chat


def test_who_never_spoke_here_may_opt_out_by_name(run: Run, tmp_path: Path) -> None:
    """Before the first line: that one is not stored either. Nothing else can be asked about somebody unknown."""
    assert run("viewer", "optout", "@DaveQuux", "--json")["data"] == {"viewer": "login:davequux"}
    chat = said(tmp_path / "chat.txt", "davequux", 1_700_000_000_000)
    told = run("replay", chat, "--format", "irc", "--json")
    assert (told["events"], told["excluded"]) == (0, 1)
    said(chat, "dave2", 1_700_000_001_000)
    assert run("replay", chat, "--format", "irc", "--json")["excluded"] == 1  # also by another name
    assert b"quux" not in b"".join(file.read_bytes().lower() for file in tmp_path.glob("memory*")).replace(
        b"alicequux", b""
    )
    assert run("viewer", "optin", "771234599", "--json")["code"] == "opted_in"
    for words in (("export", "erinquux"), ("optin", "erinquux"), ("optout", "not a login"), ("optout", "@")):
        with pytest.raises(InputError, match="No viewer named"):
            run("viewer", *words)


def test_erase_asks_first_and_leaves_no_byte(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--yes"):
        run("viewer", "erase", "alicequux")
    report = run("viewer", "erase", "alicequux", "--yes", "--json")["data"]
    assert (report["notes"], report["wiped"]) == (1, True)
    assert not [file for file in tmp_path.iterdir() if b"alicequux" in file.read_bytes()]
    [note] = run("memory", "list", "--json")["notes"]
    assert note["fact"] == "plays in somebody's band, somebody says"
    with pytest.raises(InputError, match="No viewer named"):
        run("viewer", "export", "alicequux")
    assert (report["found"], report["places"], report["files"] > 1) == (0, {}, True)
