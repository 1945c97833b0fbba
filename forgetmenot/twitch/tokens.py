"""Where the log-ins are kept: the system's keyring, or a file that only its user can read. Nowhere else.

A save is atomic: after a crash there is the old pair or the new one. The file exists only while the keyring could not
be used, so where there is one it is the newer. Blocking: call it in a thread. Never prints a token.
"""

import contextlib
import os
import tempfile
from enum import StrEnum
from pathlib import Path

import msgspec

from forgetmenot.folders import make_own
from forgetmenot.late_imports import load
from forgetmenot.logs import log

SERVICE = "forgetmenot"


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
    """Keeps one pair per account. `folder` is for the file; `use_keyring` is off in tests and for who wants a file."""

    def __init__(self, folder: Path, *, use_keyring: bool = True) -> None:
        self._folder = folder
        self._use_keyring = use_keyring

    def load(self, account: Account) -> Token | None:
        """The pair that was saved last, or None. What cannot be read counts as none; `is_empty` knows better."""
        with contextlib.suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
            return msgspec.json.decode(self._path(account).read_bytes(), type=Token)
        text = self._from_keyring(account)
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(text, type=Token) if text else None
        return None

    def is_empty(self, account: Account) -> bool:
        """Whether surely nothing is kept; a keyring that cannot be read just now may hold a pair."""
        return not self._path(account).exists() and self._from_keyring(account) == ""

    def save(self, account: Account, token: Token) -> None:
        """Keep a pair in place of the old one. Raises OSError if neither place takes it."""
        text = msgspec.json.encode(token).decode()
        if self._into_keyring(account, text):
            self._path(account).unlink(missing_ok=True)
        else:
            self._into_file(account, text)

    def delete(self, account: Account) -> None:
        """Forget the pair."""
        self._path(account).unlink(missing_ok=True)
        if self._use_keyring:
            load("keyring")
            import keyring
            from keyring.errors import KeyringError

            with contextlib.suppress(KeyringError):
                keyring.delete_password(SERVICE, self._entry(account))

    def place(self, account: Account) -> str:
        """Where the pair is, in words for its owner."""
        if self._path(account).exists():
            return f"the file {self._path(account)}, which only you can read"
        return "your system's keyring"

    def _path(self, account: Account) -> Path:
        return self._folder / f"twitch-{account.value}.json"

    def _entry(self, account: Account) -> str:
        """Its name in the keyring, which the bots of other channels on this machine use, too."""
        return f"{account.value} {self._folder.resolve()}"

    def _from_keyring(self, account: Account) -> str | None:
        """What the keyring holds; an empty text for nothing, None where it cannot be read just now."""
        if not self._use_keyring:
            return ""
        load("keyring")
        import keyring
        from keyring.errors import KeyringError, NoKeyringError

        try:
            return keyring.get_password(SERVICE, self._entry(account)) or ""
        except KeyringError as error:
            log.debug("no keyring", error=type(error).__name__)
            return "" if isinstance(error, NoKeyringError) else None

    def _into_keyring(self, account: Account, text: str) -> bool:
        if not self._use_keyring:
            return False
        load("keyring")
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.set_password(SERVICE, self._entry(account), text)
            kept = keyring.get_password(SERVICE, self._entry(account))
        except KeyringError as error:
            log.debug("no keyring", error=type(error).__name__)
            return False
        return kept == text  # one that is switched off takes, and loses

    def _into_file(self, account: Account, text: str) -> None:
        make_own(self._folder)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".twitch-", suffix=".new")  # made with mode 0600
        fresh = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path(account))
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
