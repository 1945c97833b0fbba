"""The search for a receipt: a person is found however a text is written, and nobody else is taken for them."""

import io
from pathlib import Path

import pytest

from forgetmenot.memory.receipts import TraceFinder, traces_of
from forgetmenot.store.privacy_log import HashKey
from forgetmenot.text.removal import Names

CASES = [
    ("anana7", "banana7 ananana7 anana7", 3),  # it may begin inside of itself
    ("josé7", 'José7 "JOS\\u00c97" jose7', 2),
    ("мария", "и Мария, и \\u043c\\u0430\\u0440\\u0438\\u044f", 2),
    ("bob_7", "bob_77 @bob_7 bob_8", 1),  # "bob_77" is somebody else
    ("carol", "carols @Carol (carol)", 2),
]


@pytest.mark.parametrize(("name", "text", "times"), CASES)
def test_a_name_is_found_however_it_is_written(tmp_path: Path, name: str, text: str, times: int) -> None:
    key = HashKey.beside(tmp_path / "memory.sqlite3")
    finder = TraceFinder(key, traces_of(key, Names("500000050", [name], (), ["bob_77"])), {"bob_77"})
    for padding in (0, (1 << 18) - 5):  # also across the edge between two parts of a file
        texts = f"{' x' * (padding // 2)} {text} \x02\x00 500000050, not 5000000501".encode() + b"\xff\xfe"
        assert finder.count_in(io.BytesIO(texts)) == (times + 1, len(texts))
