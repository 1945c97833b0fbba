"""The list of what people asked for: chained lines of hashes, only ever added; and the key they were made with."""

import sys
from pathlib import Path

import pytest

from forgetmenot.errors import StoreError, StoreKeyLost
from forgetmenot.memory.backups import start_new_key
from forgetmenot.store import opt_outs
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.privacy_log import (
    HashKey,
    PrivacyRequest,
    PrivacyRequestKind,
    broken_at,
    erased,
    note,
    path_of,
    read,
)
from tests.full_disk import no_room

WISHES = [
    PrivacyRequest(PrivacyRequestKind.OPTED_OUT, "a", 5),
    PrivacyRequest(PrivacyRequestKind.FORGOTTEN, "b", 6, ("x", "y"), whole=True),
    PrivacyRequest(PrivacyRequestKind.ERASED, "a", 9),
]


async def write(db: Database, *wishes: PrivacyRequest) -> None:
    async with db.write() as tx:
        await note(tx, wishes)


async def test_what_is_noted_is_read_in_its_order(db: Database) -> None:
    for part in (WISHES[:1], [], WISHES[1:]):
        await write(db, *part)
    path = path_of(db.key)
    assert path == db.path.with_name("memory.sqlite3.asked")
    assert [(one.kind, one.subject, one.at, one.words, one.whole) for one in read(path)] == [
        (one.kind, one.subject, one.at, one.words, one.whole) for one in WISHES
    ]
    assert await broken_at(db) == 0


async def test_a_line_that_was_cut_off_keeps_its_place_and_does_nothing(db: Database) -> None:
    await write(db, *WISHES)
    with path_of(db.key).open("ab") as file:
        file.write(b'{"kind":"eras')
    await write(db, PrivacyRequest(PrivacyRequestKind.ERASED, "c", 11))
    assert len(read(path_of(db.key))) == 5
    assert erased(path_of(db.key)) == {"a": 9, "c": 11}
    assert await broken_at(db) == 0


async def test_nothing_asked_is_an_empty_list_and_a_folder_in_the_way_is_reported(db: Database) -> None:
    assert read(path_of(db.key)) == []
    path_of(db.key).mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        read(path_of(db.key))
    with pytest.raises(StoreError, match="cannot be"):
        await write(db, *WISHES)


async def test_a_removed_a_moved_or_a_changed_line_shows(db: Database) -> None:
    await write(db, *WISHES)
    path, whole = path_of(db.key), path_of(db.key).read_bytes()
    lines = whole.splitlines(keepends=True)
    for keep, number in (([1, 2], 1), ([0, 2], 2), ([0, 1], 3), ([0, 2, 1], 2), ([], 1), ([0, 0, 1, 2], 2)):
        path.write_bytes(b"".join(lines[at] for at in keep))
        assert await broken_at(db) == number, keep
    path.write_bytes(whole.replace(b'"at":6', b'"at":7'))
    assert await broken_at(db) == 2


# ── a key that is lost ──────────────────────────────────────────────────────────────────────


@pytest.fixture
async def asked(tmp_path: Path) -> Path:
    """A memory in which 1 and, by a hash alone, 2 opted out."""
    path = tmp_path / "data" / "memory.sqlite3"
    async with open_database(path) as db, db.write() as tx:
        await opt_outs.opt_out(tx, "1", 5)
        await opt_outs.opt_out_unknown(tx, tx.key.digest("viewer", "2"), 6)
    return path


def lose(path: Path, how: str) -> None:
    key = path.with_name("memory.sqlite3.key")
    if how == "another":
        key.write_bytes(b"k" * 32)
    elif how == "short":
        key.write_bytes(b"k")
    else:
        key.unlink()
    if how == "only rows":
        path.with_name("memory.sqlite3.asked").unlink()


@pytest.mark.parametrize("how", ["missing", "another", "short", "only rows"])
async def test_a_memory_with_hashes_does_not_open_without_its_key(asked: Path, how: str) -> None:
    lose(asked, how)
    held = {file.name: file.read_bytes() for file in asked.parent.iterdir() if file.suffix != ".sqlite3-shm"}
    for _ in range(2):
        with pytest.raises(StoreKeyLost, match="memory new-key"):
            async with open_database(asked):
                pass
    names = {"memory.sqlite3.key", "memory.sqlite3.asked"} & held.keys()
    assert {name: asked.with_name(name).read_bytes() for name in names} == {name: held[name] for name in names}
    async with open_database(asked, any_key=True) as db:
        done = await start_new_key(db, 9)
    assert (done.opted_out, done.forgotten, done.opted_out_unknown) == (1, 0, 1)
    async with open_database(asked) as db:
        assert list(await opt_outs.opted_out(db)) == ["1"]
        assert await broken_at(db) == 0
        assert [one.kind for one in read(path_of(db.key))] == ["new_key", "opted_out"]


async def test_a_key_that_is_deleted_while_it_is_used_is_not_replaced(asked: Path) -> None:
    async with open_database(asked) as db:
        lose(asked, "missing")
        assert "2" in await opt_outs.opted_out(db)
    assert not asked.with_name("memory.sqlite3.key").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("crashed", [False, True])
async def test_a_key_that_could_not_be_written_whole_is_made_anew(tmp_path: Path, crashed: bool) -> None:
    """The first wish on a full disk: an empty key file would keep everybody's wishes out for good."""
    path = tmp_path / "memory.sqlite3"
    async with open_database(path) as db:
        with pytest.raises(StoreError, match="cannot be read or written"), no_room():
            db.key.digest("viewer", "1")
        assert crashed or db.key.digest("viewer", "1")
    if crashed:
        path.with_name("memory.sqlite3.key").write_bytes(b"")
    async with open_database(path) as db:
        assert db.key.digest("viewer", "1") == HashKey.beside(path).digest("viewer", "1")
