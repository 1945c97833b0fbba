"""Keyed hashes: to know something again without being able to tell what it was.

Plain hashes of Twitch ids hide nothing (all of them can be tried in minutes), so a secret key goes in. It lies in a
file of its own beside the database, readable by its owner, and belongs in no backup. Made when it is first needed.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from forgetmenot.errors import StoreError

_LENGTH = 32


class HashKey:
    """The key in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = b""

    def digest(self, *parts: str) -> str:
        """32 hex digits that only the holder of the key can make of these texts. Raises StoreError."""
        if not self._key:
            self._key = self._load()
        return hmac.new(self._key, "\0".join(parts).encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]

    def _load(self) -> bytes:
        try:
            with contextlib.suppress(FileExistsError):
                self._make()
            key = self.path.read_bytes()
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read or written: {error.strerror}. Check its permissions."
            ) from error
        if len(key) != _LENGTH:
            raise StoreError(f"{self.path} is damaged. Move it away: what was forgotten is then no longer known again.")
        return key

    def _make(self) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_LENGTH))
