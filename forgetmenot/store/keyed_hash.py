"""Keyed hashes: to know something again without being able to tell what it was.

Plain hashes of Twitch ids hide nothing (all of them can be tried in minutes), so a secret key goes in. It lies in a
file of its own beside the database, readable by its owner, and belongs in no backup. Made when it is first needed;
where hashes exist that were made with one that is lost, store/privacy_log refuses before that.
"""

import contextlib
import hmac
import os
import secrets
from pathlib import Path

from forgetmenot.errors import StoreError, StoreKeyLost

_LENGTH = 32


class HashKey:
    """The key in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = b""

    @classmethod
    def beside(cls, database: Path) -> "HashKey":
        """The key of a memory."""
        return cls(database.with_name(database.name + ".key"))

    def exists(self) -> bool:
        """Whether there is a key."""
        return bool(self._key) or self.path.is_file()

    def digest(self, *parts: str) -> str:
        """32 hex digits that only the holder of the key can make of these texts. Raises StoreError."""
        if not self._key:
            self._key = self._read()
        return hmac.digest(self._key, "\0".join(parts).encode("utf-8", "surrogatepass"), "sha256").hex()[:32]

    def load(self) -> None:
        """Read the key, so that a file that is lost later is not replaced by a new one. Raises StoreError."""
        self._key = self._read()

    def replace(self) -> None:
        """Make a new key in the place of one that is lost or damaged. Raises StoreError."""
        fresh = self.path.with_name(self.path.name + ".part")
        try:
            fresh.unlink(missing_ok=True)
            _make(fresh)
            fresh.replace(self.path)
        except OSError as error:
            raise self._unusable(error) from error
        self.load()

    def _read(self) -> bytes:
        try:
            with contextlib.suppress(FileExistsError):
                _make(self.path)
            key = self.path.read_bytes()
        except OSError as error:
            raise self._unusable(error) from error
        if len(key) != _LENGTH:
            raise StoreKeyLost(
                f"{self.path} is damaged. Put back the file as it was, or run `forgetmenot memory new-key`: who was"
                " erased has to ask again."
            )
        return key

    def _unusable(self, error: OSError) -> StoreError:
        return StoreError(f"{self.path} cannot be read or written: {error.strerror}. Check its permissions.")


def _make(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(_LENGTH))
