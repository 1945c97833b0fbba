"""The log-ins of the two accounts, kept as secrets (secret_store). Blocking: call it in a thread.

Never prints a token.
"""

import contextlib
from enum import StrEnum
from pathlib import Path

import msgspec

from forgetmenot.secret_store import SecretStore


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
        self.folder = folder
        self._files = _AccountSecrets(folder, use_keyring=use_keyring)

    def load(self, account: Account) -> Token | None:
        """The pair that was saved last, or None. What cannot be read counts as none; `is_empty` knows better."""
        for read in (self._files.from_file, self._files.from_keyring):
            with contextlib.suppress(msgspec.DecodeError):
                if text := read(account.value):
                    return msgspec.json.decode(text, type=Token)
        return None

    def is_empty(self, account: Account) -> bool:
        """Whether surely nothing is kept; a keyring that cannot be read just now may hold a pair."""
        return not self._files.path(account.value).exists() and self._files.from_keyring(account.value) == ""

    def save(self, account: Account, token: Token) -> None:
        """Keep a pair in place of the old one. Raises OSError if neither place takes it."""
        self._files.save(account.value, msgspec.json.encode(token).decode())

    def delete(self, account: Account) -> None:
        """Forget the pair in both places. Raises OSError where the file cannot be deleted."""
        self._files.delete(account.value)

    def place(self, account: Account) -> str:
        """Where the pair is, in words for its owner."""
        return self._files.place(account.value)


class _AccountSecrets(SecretStore):
    """A log-in's file has Twitch in its name; its entry in the keyring has not."""

    def path(self, name: str) -> Path:
        return self.folder / f"twitch-{name}.json"
