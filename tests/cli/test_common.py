"""What the commands print is safe for a terminal, whatever chat was made of."""

import argparse
import json
import os
from pathlib import Path

import pytest

from forgetmenot.cli import common, main
from forgetmenot.cli.common import printable, say, show_line
from forgetmenot.clock import SystemClock
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.store.counts import Meter
from forgetmenot.store.database import open_database


@pytest.mark.parametrize(
    "evil", ["\x1b]0;PWNED\x07", "\x9b31m", "\x08\x7f", "\r", "\u202eabc", "\u2066x", "\u2028", "\ud800"]
)
def test_nothing_a_terminal_obeys_is_printed(evil: str, capsys: pytest.CaptureFixture[str]) -> None:
    for write in (say, show_line):
        write(f"before {evil} after\nnext\tcolumn 😀👩‍🚀 שלום é")
    out, err = capsys.readouterr()
    assert out == err
    assert out.endswith(" after\nnext\tcolumn 😀👩‍🚀 שלום é\n")
    assert not set(evil) & set("\x1b\x07\x9b\x08\x7f\r\u202e\u2066\u2028\ud800") & set(out)
    assert printable(out) == out


@pytest.fixture
async def memory(tmp_path: Path) -> Path:
    async with open_database(tmp_path / "m.sqlite3") as db:
        meter = Meter(db, SystemClock())
        await meter.record(Purpose.REPLY, "small", TokenUsage(1_000, 600, 50, 0), 5, None)
        await meter.record(Purpose.REPLY, "small", TokenUsage(1_000, 600, 50, 0), 5, None)
        await meter.record(Purpose.SUMMARY, "large", TokenUsage(2_000, 0, 200, 100), 5, "ModelBlocked")
    return tmp_path / "m.sqlite3"


def test_by_purpose_and_in_money_where_there_are_prices(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = memory.with_name("config.toml")
    config.write_text('[model]\ncurrency = "EUR"\n[prices."small"]\ninput = 1000.0\noutput = 2000.0\n')
    assert main(["cost", "--db", str(memory), "--config", str(config), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    reply, summary = told["rows"]
    assert (reply["group"], reply["calls"], reply["input"], reply["cached"], reply["output"]) == (
        "reply", 2, 2_000, 1_200, 100,
    )  # fmt: skip
    assert reply["cost"] == "2.20 EUR"
    assert (summary["failed"], summary["output"], summary["cost"]) == (1, 300, "")
    assert told["cost"] == "at least 2.20 EUR"


@pytest.mark.parametrize("typed", ["python3 scripts/run.py", "forgetmenot", r"C:\bots\forgetmenot.exe"])
def test_a_message_names_commands_as_they_are_typed_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setenv("FORGETMENOT_COMMAND", typed)
    say("Type `forgetmenot login` again. forgetmenot is a bot; /home/forgetmenot start")
    assert capsys.readouterr().err == f"Type `{typed} login` again. forgetmenot is a bot; /home/forgetmenot start\n"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_to_a_memory_is_the_memory(tmp_path: Path) -> None:
    """Its lock, its key and its lists lie beside the file itself: a second bot and another key would do harm."""
    (tmp_path / "link.sqlite3").symlink_to(tmp_path / "data" / "memory.sqlite3")
    given = argparse.Namespace(db=tmp_path / "link.sqlite3")
    assert common.database_path(given) == (tmp_path / "data" / "memory.sqlite3").resolve()
    given.db = Path("memory.sqlite3")
    assert common.database_path(given) == given.db
