"""The memory's files are their owner's alone; a synced folder is told."""

import os
import stat
from pathlib import Path

import pytest

from forgetmenot import logs
from forgetmenot.store.database import open_database
from forgetmenot.store.file_safety import protect, synced_by, warning_about
from forgetmenot.store.lock import held


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps others out by the user's folder")
async def test_no_file_of_the_memory_can_be_read_by_others(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    old = os.umask(0o022)
    try:
        async with open_database(folder / "memory.sqlite3") as db:
            db.key.digest("x")
            async with db.write() as tx:
                await tx.execute("INSERT INTO runs (started_at, command) VALUES (1, 'test')")
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    finally:
        os.umask(old)
    assert {"memory.sqlite3", "memory.sqlite3-wal", "memory.sqlite3.key"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="as above")
def test_lock_log_and_the_folders_they_make_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "data"
    old = os.umask(0o022)
    try:
        logs.set_up(folder=folder / "logs", console=False)
        logs.log.info("something")
        with held(folder / "memory.sqlite3", "test"):
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.rglob("*")}
    finally:
        os.umask(old)
        logs.set_up()
    assert modes.pop("logs") == 0o700
    assert {"forgetmenot.log", "memory.sqlite3.lock", "memory.sqlite3.holder"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="as above")
def test_an_older_file_is_closed_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    path.touch(mode=0o644)
    path.chmod(0o644)
    protect(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_is_not_there_is_no_error_here(tmp_path: Path) -> None:
    protect(tmp_path / "nowhere" / "memory.sqlite3")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("path", "service"),
    [
        ("/home/alice/Dropbox/bot/memory.sqlite3", "Dropbox"),
        ("/Users/alice/Library/Mobile Documents/com~apple~CloudDocs/m.sqlite3", "iCloud"),
        ("/home/alice/OneDrive - Alice/m.sqlite3", "OneDrive"),
        ("/home/alice/.local/share/forgetmenot/memory.sqlite3", None),
    ],
)
def test_a_synced_folder_is_seen_by_its_name(path: str, service: str | None) -> None:
    assert synced_by(Path(path)) == service
    told = warning_about(Path(path))
    assert (told is None) if service is None else (service in (told or ""))


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_into_a_synced_folder_is_seen(tmp_path: Path) -> None:
    (tmp_path / "Dropbox" / "bot").mkdir(parents=True)
    (tmp_path / "data").symlink_to(tmp_path / "Dropbox" / "bot")
    assert synced_by(tmp_path / "data" / "memory.sqlite3") == "Dropbox"


@pytest.mark.skipif(os.name == "nt", reason="permissions are not for Windows")
def test_what_a_crash_left_beside_it_is_closed_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).touch(0o644)
    protect(path)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
