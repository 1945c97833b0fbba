"""Where log-ins are kept: the keyring where there is one, else a file for one pair of eyes."""

import importlib
import os
import stat
import threading
import time
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest

from forgetmenot import secret_store
from forgetmenot.secret_store import Account, Token, TokenStore

ONE = Token("access-1", "refresh-1", "42", "keeper", ("chat:read",))
TWO = Token("access-2", "refresh-2", "42", "keeper", ("chat:read",))


class MemoryKeyring(keyring.backend.KeyringBackend):
    """A keyring in memory, which can be locked (`error`), or wait for a person (while `answers` is clear)."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring is not fully typed
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False
        self.error: BaseException = keyring.errors.KeyringLocked()
        self.answers = threading.Event()
        self.answers.set()

    def get_password(self, service: str, username: str) -> str | None:
        return self._open().get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self._open().pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError

    def _open(self) -> dict[tuple[str, str], str]:
        if self.locked:
            raise self.error
        self.answers.wait()
        return self.kept


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> MemoryKeyring:
    """The computer's keyring."""
    keyring = MemoryKeyring()
    monkeypatch.setattr("keyring.core._keyring_backend", keyring)
    return keyring


def test_a_file_is_for_its_owner_alone_and_a_save_that_fails_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = TokenStore(tmp_path / "deep" / "folder", use_keyring=False)
    store.save(Account.BOT, ONE)
    store.save(Account.BOT, TWO)
    store.save(Account.BROADCASTER, ONE)
    assert store.load(Account.BOT) == TWO
    assert store.load(Account.BROADCASTER) == ONE
    files = sorted((tmp_path / "deep" / "folder").iterdir())
    assert [file.name for file in files] == [
        "twitch-bot.json",
        "twitch-broadcaster.json",
    ]
    if os.name == "posix":
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert "only you can read" in store.place(Account.BOT)

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.save(Account.BOT, ONE)
    assert store.load(Account.BOT) == TWO
    assert sorted((tmp_path / "deep" / "folder").iterdir()) == files


def test_a_locked_keyring_falls_back_to_the_file_and_the_newer_pair_wins(
    tmp_path: Path, ring: MemoryKeyring
) -> None:
    store = TokenStore(tmp_path)
    assert store.is_empty(Account.BOT)
    store.save(Account.BOT, ONE)
    assert "keyring" in store.place(Account.BOT)
    ring.locked = True
    assert not store.is_empty(Account.BOT), "it may hold a pair"
    store.save(Account.BOT, TWO)
    ring.locked = False
    assert store.load(Account.BOT) == TWO
    store.save(Account.BOT, ONE)
    assert store.load(Account.BOT) == ONE
    assert list(tmp_path.iterdir()) == []
    store.delete(Account.BOT)
    assert store.is_empty(Account.BOT)


class PromptDismissed(Exception):
    """As secretstorage raises it where somebody closes the prompt: no error of keyring's."""


@pytest.mark.parametrize(
    "error",
    [
        PromptDismissed(),
        keyring.errors.PasswordSetError(),
        OSError("no bus"),
        KeyError("x"),
    ],
)
def test_whatever_a_backend_raises_the_file_does_and_no_pair_is_lost(
    tmp_path: Path, ring: MemoryKeyring, error: BaseException
) -> None:
    store = TokenStore(tmp_path)
    store.save(Account.BOT, ONE)
    ring.locked = True
    ring.error = error
    assert store.load(Account.BOT) is None
    assert not store.is_empty(Account.BOT), "it may hold a pair"
    store.save(Account.BOT, TWO)
    assert store.load(Account.BOT) == TWO
    store.delete(Account.BOT)
    assert list(tmp_path.iterdir()) == []


def test_a_prompt_that_nobody_sees_holds_up_nothing(
    tmp_path: Path, ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_store, "SILENT_AFTER_S", 0.1)
    store = TokenStore(tmp_path)
    store.save(Account.BOT, ONE)
    ring.answers.clear()
    began = time.monotonic()
    assert store.load(Account.BOT) is None
    store.save(Account.BOT, TWO)
    assert store.load(Account.BOT) == TWO
    assert time.monotonic() - began < 5
    ring.answers.set()
    until = time.monotonic() + 5
    while any(tmp_path.iterdir()) and time.monotonic() < until:
        store.save(Account.BOT, ONE)
    assert store.load(Account.BOT) == ONE
    assert ring.kept


@pytest.mark.usefixtures("ring")
def test_a_second_bot_on_this_machine_has_a_log_in_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log-in goes with the database, however its path is written."""
    first = TokenStore(tmp_path / "one")
    second = TokenStore(tmp_path / "two")
    first.save(Account.BOT, ONE)
    second.save(Account.BOT, TWO)
    monkeypatch.chdir(tmp_path)
    TokenStore(Path("two")).delete(Account.BOT)
    assert (first.load(Account.BOT), second.load(Account.BOT)) == (ONE, None)


@pytest.mark.parametrize("backend", ["null", "fail"])
def test_without_any_keyring_the_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    """`keyring --disable` leaves one that takes everything and keeps nothing; a headless Linux one that raises."""
    module = importlib.import_module(f"keyring.backends.{backend}")
    monkeypatch.setattr("keyring.core._keyring_backend", module.Keyring())
    store = TokenStore(tmp_path)
    store.save(Account.BOT, ONE)
    assert store.load(Account.BOT) == ONE
    store.delete(Account.BOT)
    assert store.is_empty(Account.BOT)


def test_a_broken_file_counts_as_nobody_logged_in_and_a_token_does_not_show_itself(
    tmp_path: Path,
) -> None:
    for content in (b"", b"{}", b"\xff\xfe", b'{"access": 1}'):
        (tmp_path / "twitch-bot.json").write_bytes(content)
        assert TokenStore(tmp_path, use_keyring=False).load(Account.BOT) is None
    assert not any(secret in f"{ONE!r} {ONE}" for secret in (ONE.access, ONE.refresh))
