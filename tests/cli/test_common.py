"""What the commands print is safe for a terminal, whatever chat was made of."""

import argparse
import os
from pathlib import Path

import pytest

from forgetmenot.cli import common
from forgetmenot.cli.common import say, show_line


def test_nothing_a_terminal_obeys_is_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evil = "\x1b]0;PWNED\x07 \x9b31m \x08\x7f \r \u202eabc \u2066x \u2028 \ud800"
    for write in (say, show_line):
        write(f"before {evil} after\nnext\tcolumn 😀👩‍🚀 שלום é")
    out, err = capsys.readouterr()
    assert out == err
    assert out.endswith(" after\nnext\tcolumn 😀👩‍🚀 שלום é\n")
    assert not set("\x1b\x07\x9b\x08\x7f\r\u202e\u2066\u2028\ud800") & set(out)


def test_a_message_names_commands_as_they_are_typed_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGETMENOT_COMMAND", "python3 scripts/run.py")
    say("Type `forgetmenot login` again. forgetmenot is a bot; /home/forgetmenot start")
    expected = "Type `python3 scripts/run.py login` again. forgetmenot is a bot; /home/forgetmenot start\n"
    assert capsys.readouterr().err == expected


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_to_a_memory_is_the_memory(tmp_path: Path) -> None:
    """Its lock, its key and its lists lie beside the file itself: a second bot and another key would do harm."""
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "data" / "memory.sqlite3")
    arguments = argparse.Namespace(db=tmp_path / "link.sqlite3")
    assert (
        common.database_path(arguments)
        == (tmp_path / "data" / "memory.sqlite3").resolve()
    )
    arguments.db = Path("memory.sqlite3")
    assert common.database_path(arguments) == arguments.db
