"""Receipts of erasures and of forgotten facts: one small file beside the memory.

Guarantees:
- A receipt holds a random code, a day and numbers. Nothing in it is made from a person: no id, no name, no word, and
  no hash of one, since all ids and logins there are can be hashed in seconds.
- It has no time of day, and the file is written anew in the order of the codes. So neither shows which request of
  `store/privacy_requests` a receipt belongs to.
- The file is in no backup, so a restore of an older copy of the memory takes no receipt away.
"""

import secrets
from enum import StrEnum
from pathlib import Path

import msgspec
from filelock import FileLock
from msgspec import Struct, field

from forgetmenot.durations import DAY
from forgetmenot.errors import StoreError
from forgetmenot.files import replace_file

# Without vowels no code is a word, and none of these looks like a digit.
ALPHABET = "bcdfghjkmnpqrstvwxz"
CODE_LENGTH = 6
KEPT_FOR = 365 * DAY
_LOCK_S = 5.0


class ReceiptKind(StrEnum):
    """What was done."""

    ERASURE = "erasure"
    FACT = "fact"


class Receipt(Struct, frozen=True, omit_defaults=True):
    """What an erasure or a forgotten fact searched and removed.

    `day`: when it was (ms, midnight UTC). `removed`: rows and texts that were deleted or rewritten, by table. `tables`,
    `files` and `bytes` were searched afterwards: `remaining` traces were there, and `doubtful` texts with a word that
    may be the name. `is_finished`: False while it is under way, or if a stop interrupted it.
    """

    code: str
    kind: ReceiptKind
    day: int
    removed: dict[str, int] = field(default_factory=dict)
    tables: int = 0
    files: int = 0
    bytes: int = 0
    remaining: int = 0
    doubtful: int = 0
    is_finished: bool = False


class ReceiptFile:
    """The file of one memory."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}.receipts")

    def all(self, now: int) -> list[Receipt]:
        """Return the receipts of the last year, the newest day first. Raises StoreError."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable(error) from error
        try:
            receipts = msgspec.json.decode(content, type=list[Receipt])
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise StoreError(
                f"{self.path} is damaged. Delete it: only receipts are lost."
            ) from error
        # Old ones fall out here, and leave the file with the next one that is written.
        receipts = [receipt for receipt in receipts if now - receipt.day < KEPT_FOR]
        return sorted(receipts, key=lambda receipt: (-receipt.day, receipt.code))

    def begin(self, kind: ReceiptKind, now: int) -> str:
        """Store a receipt that is not finished yet, and return its new code. Raises StoreError."""
        known_codes = {receipt.code for receipt in self.all(now)}
        code = new_code()
        while code in known_codes:
            code = new_code()
        self.put(Receipt(code, kind, now - now % DAY), now)
        return code

    def put(self, receipt: Receipt, now: int) -> None:
        """Store a receipt, in the place of one with the same code. Raises StoreError."""
        try:
            # From reading to writing: another process may put one in meanwhile.
            with FileLock(f"{self.path}.lock", timeout=_LOCK_S, mode=0o600):
                receipts = {stored.code: stored for stored in self.all(now)}
                receipts[receipt.code] = receipt
                # Not in the order in which they came, which would show whose is whose.
                by_code = [receipts[code] for code in sorted(receipts)]
                replace_file(self.path, msgspec.json.encode(by_code).decode())
        except (OSError, TimeoutError) as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> StoreError:
        cause = error.strerror or error
        return StoreError(
            f"{self.path} cannot be read or written: {cause}. Check its permissions and the disk."
        )


def new_code() -> str:
    """Return a random code of six letters."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
