"""The tables of weights: as they are, missing and damaged."""

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from forgetmenot.app.bot import open_bot
from forgetmenot.clock import SystemClock
from forgetmenot.errors import ProgramDamaged
from forgetmenot.settings.schema import Settings
from forgetmenot.text import classifier as tables
from forgetmenot.text.classifier import Table, WeightTable, classifier

CLASSIFIERS = Path(__file__).parents[2] / "scripts" / "classifiers"
TABLE = files("forgetmenot.text").joinpath("lasting.weights").read_bytes()
HEAD = TABLE.index(b"\n") + 1
ODD = {
    "empty": b"",
    "a pointer to the file": b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
    "cut off": TABLE[:-50],
    "a bit turned": TABLE[: HEAD + 500] + bytes([TABLE[HEAD + 500] ^ 255]) + TABLE[HEAD + 501 :],
    "other line ends": TABLE.replace(b"\n", b"\r\n"),
    "no labels": b"{}\n" + TABLE[HEAD:],
    "no object": b"[]\n" + TABLE[HEAD:],
}


TRAINED_ON = {
    "answers": ("questions.tsv", "ordinary_lines.txt"),
    "lasting": ("lasting.tsv",),
    "questions": ("questions.tsv", "ordinary_lines.txt"),
}


@pytest.mark.parametrize("name", TRAINED_ON)
def test_a_table_was_trained_on_the_rows_that_are_there(name: Table) -> None:
    rows = b"".join((CLASSIFIERS / one).read_bytes() for one in TRAINED_ON[name])
    assert classifier(name).rows == hashlib.sha256(rows).hexdigest()[:16]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tables, "files", lambda _: tmp_path)
    classifier.cache_clear()
    yield tmp_path
    classifier.cache_clear()


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_a_damaged_table_is_said_to_be_one(folder: Path, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        WeightTable(data)
    (folder / "lasting.weights").write_bytes(data)
    with pytest.raises(ProgramDamaged, match=r"lasting\.weights is missing or damaged"):
        classifier("lasting")


async def test_the_bot_does_not_start_without_its_tables(folder: Path) -> None:
    path = folder / "m.sqlite3"
    with pytest.raises(ProgramDamaged, match="Install ForgetMeNot again"):
        async with open_bot(path, "test", settings=Settings, clock=SystemClock()):
            pass
    assert not path.exists()
