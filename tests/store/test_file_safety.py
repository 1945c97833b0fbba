"""The memory's files: private to their owner, one running bot each, one channel each."""

import argparse
import os
from pathlib import Path

import pytest

from forgetmenot.cli import common
from forgetmenot.errors import StoreLocked, TwitchRefused
from forgetmenot.files import instance_lock, is_locked, protect
from forgetmenot.store.channel_state import Owner, claim, file_for, owner_of
from forgetmenot.store.database import open_database


async def claimed(file: Path, room_id: str, channel: str) -> None:
    async with open_database(file) as db:
        await claim(db, room_id, channel, 1)


async def test_the_first_channel_owns_the_file_and_another_gets_its_own(
    tmp_path: Path,
) -> None:
    default = tmp_path / "memory.sqlite3"
    assert file_for(default, "") == file_for(default, "tea") == default, "nobody's yet"
    await claimed(default, "1", "#Tea")
    assert owner_of(default) == Owner("1", "tea")
    assert file_for(default, "TEA") == default
    other = file_for(default, "coffee")
    assert other == tmp_path / "memory-coffee.sqlite3"
    await claimed(other, "2", "coffee")
    assert (file_for(default, "coffee"), file_for(default, "tea")) == (other, default)
    with pytest.raises(TwitchRefused, match="another channel"):  # it is never written
        await claimed(default, "2", "coffee")
    assert owner_of(default) == Owner("1", "tea")


async def test_a_command_opens_the_memory_of_the_configured_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common, "data_folder", lambda: tmp_path)
    await claimed(tmp_path / "memory.sqlite3", "1", "tea")
    (tmp_path / "config.toml").write_text(
        '[twitch]\nchannel = "coffee"\n', encoding="utf-8"
    )
    assert (
        common.database_path(argparse.Namespace(db=None))
        == tmp_path / "memory-coffee.sqlite3"
    )


async def test_a_channel_that_changed_its_name_keeps_its_file(tmp_path: Path) -> None:
    default = tmp_path / "memory.sqlite3"
    await claimed(default, "1", "tea")
    fresh = file_for(default, "green_tea")
    with pytest.raises(TwitchRefused, match="was called tea before"):
        await claimed(fresh, "1", "green_tea")
    assert file_for(default, "green_tea") == default
    await claimed(default, "1", "green_tea")


@pytest.mark.skipif(os.name == "nt", reason="permissions are not for Windows")
def test_what_a_crash_left_beside_it_is_closed_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).touch(0o644)
    protect(path)
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_a_second_bot_is_refused_and_whether_one_runs_can_be_asked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.sqlite3"
    assert not is_locked(path)
    assert list(tmp_path.iterdir()) == []
    for _ in range(2):
        with instance_lock(path):
            assert is_locked(path)
            with (
                pytest.raises(StoreLocked, match="in use by another ForgetMeNot"),
                instance_lock(path),
            ):
                pass
    assert not is_locked(path)
