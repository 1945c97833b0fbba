"""Where secrets are kept, the log-ins among them: the system's keyring, or a private file.

A save is atomic: after a crash there is the old text or the new one. The file exists only while the
keyring could not be used, so where there is one it is the newer. It cannot be used if its backend
raises anything (each has errors of its own), or is silent for ten seconds (it may show a prompt
that nobody sees). Blocking: call it in a thread. Never logs a secret.
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
    """Return the folder of the secrets of a memory's bot, unless the keyring has them."""
    return database.parent / LOGIN_FOLDER


class KeyringUnusable(Exception):
    """The keyring gave no answer; `SecretStore` uses the file then.

    `missing`: this computer has no keyring.
    """

    def __init__(self, why: str, *, missing: bool = False) -> None:
        super().__init__(why)
        self.missing = missing


class SystemKeyring:
    """The system's keyring, asked in a thread of its own for each question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ask(self, question: Callable[[Any], Answer]) -> Answer:
        """Return the answer to a question, which gets the module `keyring`.

        While an earlier question has no answer, no other one is asked. Raises KeyringUnusable.
        """
        answers = queue.SimpleQueue[tuple[Answer | None, Exception | None]]()

        def answer() -> None:
            try:
                answers.put((question(sys.modules["keyring"]), None))
            except Exception as error:  # noqa: BLE001  # whatever a backend raises
                answers.put((None, error))

        # One question at a time: a prompt that nobody sees would be there twice.
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise KeyringUnusable("silent")
            load("keyring.errors")
            # A daemon, so that a backend that never answers does not hold up the program's end.
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
    """Keeps texts by name.

    `folder` is for the files, whose names have the form `file`. `use_keyring` is off in tests and
    for users who want files.
    """

    def __init__(
        self,
        folder: Path,
        *,
        use_keyring: bool = True,
        file: str = "{}.secret",
    ) -> None:
        self.folder = folder
        self._use_keyring = use_keyring
        self._file = file

    def load(self, name: str) -> str | None:
        """Return a text; "" if there is none, None if the keyring cannot be read just now."""
        # A file is there only while the keyring could not be used: it is the newer one.
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
            # A keyring that is switched off takes a text, and loses it.
            saved_text = _KEYRING.ask(
                lambda keyring: keyring.get_password(SERVICE, entry)
            )
        except KeyringUnusable as error:
            log.debug("no keyring", error=str(error))
            return False
        return bool(saved_text == text)

    def delete(self, name: str) -> None:
        """Delete a text in both places. Raises OSError if the file cannot be deleted."""
        delete(self.path(name))
        if self._use_keyring:
            entry = self._entry(name)
            with contextlib.suppress(KeyringUnusable):
                _KEYRING.ask(lambda keyring: keyring.delete_password(SERVICE, entry))

    def place(self, name: str) -> str:
        """Return where a text is, in words for its owner."""
        path = self.path(name)
        if path.exists():
            return reason("place_file", path=str(path))
        return reason("place_keyring")

    def path(self, name: str) -> Path:
        """Return the file that has a text if the keyring does not."""
        return self.folder / self._file.format(name)

    def from_keyring(self, name: str) -> str | None:
        """Return the keyring's text; "" if there is none, None if it cannot be read just now."""
        if not self._use_keyring:
            return ""
        entry = self._entry(name)
        try:
            text = _KEYRING.ask(lambda keyring: keyring.get_password(SERVICE, entry))
        except KeyringUnusable as error:
            log.debug("no keyring", error=str(error))
            # Where there is no keyring nothing can be in it; a locked one may have the text.
            return "" if error.missing else None
        return text or ""

    def _entry(self, name: str) -> str:
        """Return a name in the keyring, which the bots of other channels here use as well."""
        return f"{name} {self.folder.resolve()}"


class Account(StrEnum):
    """Whose log-in it is. One account may do for both: then it is the bot's."""

    BOT = "bot"
    BROADCASTER = "broadcaster"


class Token(msgspec.Struct, frozen=True):
    """An access token, and the refresh token that is good for one more.

    `user_id` and `login` are empty until Twitch has reported them.
    """

    access: str
    refresh: str
    user_id: str = ""
    login: str = ""
    scopes: tuple[str, ...] = ()

    # What prints a token, such as an error, shows no secret.
    def __repr__(self) -> str:
        return f"Token({self.login or self.user_id!r})"


class TokenStore:
    """The log-ins of the two accounts, one pair of tokens for each. Never prints one."""

    def __init__(self, folder: Path, *, use_keyring: bool = True) -> None:
        self.folder = folder
        self._secrets = SecretStore(
            folder, use_keyring=use_keyring, file="twitch-{}.json"
        )

    def load(self, account: Account) -> Token | None:
        """Return the pair that was saved last; None if there is none that can be read."""
        # A damaged file leaves the keyring's pair, if there is one.
        for read in (self._secrets.load, self._secrets.from_keyring):
            text = read(account)
            if not text:
                continue
            with contextlib.suppress(msgspec.DecodeError):
                return msgspec.json.decode(text, type=Token)
        return None

    def is_empty(self, account: Account) -> bool:
        """Return whether surely nothing is kept; False if the keyring cannot be read just now."""
        if self._secrets.path(account).exists():
            return False
        return self._secrets.from_keyring(account) == ""

    def save(self, account: Account, token: Token) -> None:
        """Keep a pair in place of the old one. Raises OSError if neither place takes it."""
        self._secrets.save(account, msgspec.json.encode(token).decode())

    def delete(self, account: Account) -> None:
        """Delete the pair in both places. Raises OSError if the file cannot be deleted."""
        self._secrets.delete(account)

    def place(self, account: Account) -> str:
        """Return where the pair is, in words for its owner."""
        return self._secrets.place(account)
