"""The list of what people asked for: lines of hashes, only ever added."""

from pathlib import Path

import pytest

from forgetmenot.errors import StoreError
from forgetmenot.store.keyed import HashKey
from forgetmenot.store.ledger import Entry, Kind, erased, note, path_of, read


async def test_what_is_noted_is_read_in_its_order(tmp_path: Path) -> None:
    key = HashKey(tmp_path / "m.sqlite3.key")
    wishes = [Entry(Kind.OPTED_OUT, "a", 5), Entry(Kind.FORGOTTEN, "b", 6, ("x", "y"), whole=True)]
    await note(key, wishes[:1])
    await note(key, [])
    await note(key, wishes[1:])
    assert path_of(key) == tmp_path / "m.sqlite3.asked"
    assert read(path_of(key)) == wishes


async def test_a_line_that_was_cut_off_keeps_its_place_and_does_nothing(tmp_path: Path) -> None:
    key = HashKey(tmp_path / "m.sqlite3.key")
    await note(key, [Entry(Kind.ERASED, "a", 5), Entry(Kind.ERASED, "a", 9)])
    with path_of(key).open("ab") as file:
        file.write(b'{"kind":"eras\n')
    assert len(read(path_of(key))) == 3
    assert erased(path_of(key)) == {"a": 9}


async def test_nothing_asked_is_an_empty_list_and_a_folder_in_the_way_is_told(tmp_path: Path) -> None:
    key = HashKey(tmp_path / "m.sqlite3.key")
    assert read(path_of(key)) == []
    path_of(key).mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        read(path_of(key))
    with pytest.raises(StoreError, match="cannot be written"):
        await note(key, [Entry(Kind.ERASED, "a", 5)])
