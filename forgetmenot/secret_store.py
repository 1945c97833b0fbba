"""Where secrets are kept, the log-ins among them: the system's keyring, or a file that only its user can read.

A save is atomic: after a crash there is the old text or the new one. The file exists only while the keyring could not
be used, so where there is one it is the newer. It cannot be used if its backend raises anything (each has errors of its
own), or is silent for ten seconds (it may show a prompt that nobody sees). Blocking: call it in a thread. Never logs a
secret.
"""

import contextlib
import queue
import sys
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from forgetmenot.files import delete, make_own, replace_file
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.startup import load

SERVICE = "forgetmenot"
LOGIN_FOLDER = "login"
SILENT_AFTER_S = 10.0
Answer = TypeVar("Answer")


def login_folder(database: Path) -> Path:
    """Where the secrets of a memory's bot lie, unless the system's keyring has them."""
    return database.parent / LOGIN_FOLDER


class KeyringUnusable(Exception):
    """The keyring gave no answer. `missing`: this computer has none. Control flow: `SecretStore` goes to the file."""

    def __init__(self, why: str, *, missing: bool = False) -> None:
        super().__init__(why)
        self.missing = missing


class SystemKeyring:
    """The system's keyring, asked in a thread of its own for each question."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self._thread: threading.Thread | None = None

    def ask(self, question: Callable[[Any], Answer]) -> Answer:
        """The answer to a question, which gets the module `keyring`. Raises KeyringUnusable.

        While an earlier question is still without an answer, no other one is asked.
        """
        answers: queue.SimpleQueue[tuple[Answer | None, Exception | None]] = queue.SimpleQueue()

        def answer() -> None:
            try:
                answers.put((question(sys.modules["keyring"]), None))
            except Exception as error:  # noqa: BLE001  # whatever a backend raises
                answers.put((None, error))

        with self._one_at_a_time:
            if self._thread is not None and self._thread.is_alive():
                raise KeyringUnusable("silent")
            load("keyring.errors")
            self._thread = threading.Thread(target=answer, name="keyring", daemon=True)
            self._thread.start()
            try:
                value, error = answers.get(timeout=SILENT_AFTER_S)
            except queue.Empty:
                log.warning("the keyring does not answer", seconds=SILENT_AFTER_S)
                raise KeyringUnusable("silent") from None
        if error is not None:
            missing = isinstance(error, sys.modules["keyring.errors"].NoKeyringError)
            raise KeyringUnusable(type(error).__name__, missing=missing)
        return cast("Answer", value)


_KEYRING = SystemKeyring()


class SecretStore:
    """Keeps texts by name. `folder` is for the files; `use_keyring` is off in tests and for who wants files.

    `file` is the form of a file's name.
    """

    def __init__(self, folder: Path, *, use_keyring: bool = True, file: str = "{}.secret") -> None:
        self.folder = folder
        self._use_keyring = use_keyring
        self._file = file

    def load(self, name: str) -> str | None:
        """The text; an empty one for nothing, None where the keyring cannot be read just now."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return self.path(name).read_text(encoding="utf-8")
        return self.from_keyring(name)

    def save(self, name: str, text: str) -> None:
        """Keep a text in place of the old one. Raises OSError if neither place takes it."""
        if self._use_keyring and self._saved_in_keyring(name, text):
            delete(self.path(name))
            return
        make_own(self.folder)
        replace_file(self.path(name), text)

    def _saved_in_keyring(self, name: str, text: str) -> bool:
        entry = self._entry(name)
        try:
            _KEYRING.ask(lambda keyring: keyring.set_password(SERVICE, entry, text))
            # one that is switched off takes, and loses
            kept = _KEYRING.ask(lambda keyring: keyring.get_password(SERVICE, entry))
        except KeyringUnusable as error:
            log.debug("no keyring", error=str(error))
            return False
        return bool(kept == text)

    def delete(self, name: str) -> None:
        """Forget it in both places. Raises OSError where the file cannot be deleted."""
        delete(self.path(name))
        if self._use_keyring:
            entry = self._entry(name)
            with contextlib.suppress(KeyringUnusable):
                _KEYRING.ask(lambda keyring: keyring.delete_password(SERVICE, entry))

    def place(self, name: str) -> str:
        """Where it is, in words for its owner."""
        path = self.path(name)
        return reason("place_file", path=str(path)) if path.exists() else reason("place_keyring")

    def path(self, name: str) -> Path:
        """The file that holds it where the keyring does not."""
        return self.folder / self._file.format(name)

    def from_keyring(self, name: str) -> str | None:
        """What the keyring holds; an empty text for nothing, None where it cannot be read just now."""
        if not self._use_keyring:
            return ""
        entry = self._entry(name)
        try:
            return _KEYRING.ask(lambda keyring: keyring.get_password(SERVICE, entry)) or ""
        except KeyringUnusable as error:
            log.debug("no keyring", error=str(error))
            return "" if error.missing else None

    def _entry(self, name: str) -> str:
        """Its name in the keyring, which the bots of other channels on this machine use, too."""
        return f"{name} {self.folder.resolve()}"


class Account(StrEnum):
    """Whose log-in it is. One account may do for both: then it is the bot's."""

    BOT = "bot"
    BROADCASTER = "broadcaster"


class Token(msgspec.Struct, frozen=True):
    """An access token, the refresh token that is good for one more, and whose they are ("" until Twitch has said)."""

    access: str
    refresh: str
    user_id: str = ""
    login: str = ""
    scopes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Token({self.login or self.user_id!r})"


class TokenStore:
    """The log-ins of the two accounts: keeps one pair of tokens per account. Never prints one."""

    def __init__(self, folder: Path, *, use_keyring: bool = True) -> None:
        self.folder = folder
        self._kept = SecretStore(folder, use_keyring=use_keyring, file="twitch-{}.json")

    def load(self, account: Account) -> Token | None:
        """The pair that was saved last, or None. What cannot be read counts as none; `is_empty` knows better."""
        for read in (self._kept.load, self._kept.from_keyring):
            with contextlib.suppress(msgspec.DecodeError):
                if text := read(account):
                    return msgspec.json.decode(text, type=Token)
        return None

    def is_empty(self, account: Account) -> bool:
        """Whether surely nothing is kept; a keyring that cannot be read just now may hold a pair."""
        return not self._kept.path(account).exists() and self._kept.from_keyring(account) == ""

    def save(self, account: Account, token: Token) -> None:
        """Keep a pair in place of the old one. Raises OSError if neither place takes it."""
        self._kept.save(account, msgspec.json.encode(token).decode())

    def delete(self, account: Account) -> None:
        """Forget the pair in both places. Raises OSError where the file cannot be deleted."""
        self._kept.delete(account)

    def place(self, account: Account) -> str:
        """Where the pair is, in words for its owner."""
        return self._kept.place(account)
