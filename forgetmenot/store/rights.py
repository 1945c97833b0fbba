"""What viewers asked for about their data: one file beside the memory, to which lines are only ever added.

Guarantees:
- A request is on disk before it is carried out, and the memory counts the lines that it has carried out. What a kill, a
  lock or a full disk kept it from is done later, and again in every older copy that is restored (memory/rights).
- No line holds an id, a name or a fact: people and words stand there as keyed hashes. The key is the first line; the
  file is its owner's alone and in no backup. (Plain hashes of Twitch ids hide nothing: all can be tried in minutes.)
- A memory that has carried out more lines than there are does not open (`check`). A file that is removed, cut or
  replaced while it is used is written anew, from what was read of it.
"""

import contextlib
import hmac
import secrets
import threading
from collections.abc import Collection, Container, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
from filelock import FileLock

from forgetmenot.errors import StoreError, StoreRequestsLost
from forgetmenot.files import append_own, replace_file
from forgetmenot.logs import log

# The share of a forgotten fact's words that a claim has, to be that fact, whichever way it points.
KNOWN_AGAIN = 0.6
_LOCK_S = 5.0


class RequestKind(StrEnum):
    """What was asked for. `allow`: a fact that was forgotten may be remembered again."""

    OPT_OUT = "opt_out"
    OPT_IN = "opt_in"
    ERASE = "erase"
    FORGET = "forget"
    ALLOW = "allow"


class PrivacyRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line. `subject`: hash of the viewer's id; `words`: hashes of a fact's words; `notes`: ids of what said it."""

    kind: RequestKind
    subject: str
    at: int = 0
    words: tuple[str, ...] = ()
    notes: tuple[int, ...] = ()


class _Key(msgspec.Struct):
    key: str


class PrivacyRequests:
    """The file of one memory and what follows from it. Other processes may add lines: each question looks first."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".requests")
        self.lines: list[PrivacyRequest] = []
        self.waiting: list[
            PrivacyRequest
        ] = []  # the disk takes none of them for now; they count all the same
        self._key = b""
        self._read_at: tuple[int, int] | None = None
        self._harmed = False  # what was read of the file stands in it no more
        self._one_at_a_time = threading.RLock()  # lines are written in threads
        self._fold([])

    def digest(self, *parts: str) -> str:
        """32 hex digits that only the holder of the key can make of these texts. Raises StoreError."""
        if not self._key:
            self.refresh()
        if not self._key:
            self.add()
        return hmac.digest(
            self._key, "\0".join(parts).encode("utf-8", "surrogatepass"), "sha256"
        ).hex()[:32]

    def of(
        self,
        kind: RequestKind,
        viewer_id: str,
        at: int,
        *,
        words: tuple[str, ...] = (),
        notes: tuple[int, ...] = (),
    ) -> PrivacyRequest:
        """A request of a viewer."""
        return PrivacyRequest(kind, self.digest("viewer", viewer_id), at, words, notes)

    def add(self, *new: PrivacyRequest) -> int:
        """Write requests, on disk when this returns; how many lines there are then. Raises StoreError."""
        with self._one_at_a_time:
            try:
                # two processes may begin at once: both then read what came first
                with FileLock(f"{self.path}.lock", timeout=_LOCK_S, mode=0o600):
                    self.refresh()
                    if not self._key and self.lines:
                        raise StoreRequestsLost(
                            f"{self.path} is damaged: its first line is its key. Put back a copy."
                        )
                    if self._harmed or not self._key:
                        key = _Key(self._key.hex() or secrets.token_hex(32))
                        replace_file(self.path, _written([key, *self.lines, *new]).decode())
                    else:
                        # a line that a crash or a full disk cut through stays a line of its own, and counts for nothing
                        start = b"" if self.path.read_bytes().endswith(b"\n") else b"\n"
                        append_own(self.path, start + _written(new))
                    self._harmed = False
            except (OSError, TimeoutError) as error:
                raise self._unusable(error) from error
            self.refresh()
            return len(self.lines)

    def keep_waiting(self, request: PrivacyRequest) -> None:
        """Let a request count that cannot be written yet."""
        self.waiting.append(request)
        self._fold([*self.lines, *self.waiting])

    def write_waiting(self) -> None:
        """Write what waits, and a harmed file anew. Raises StoreError."""
        if self._harmed:
            self.add()
        while self.waiting:
            self.add(self.waiting[0])
            self.waiting.pop(0)

    def refresh(self) -> None:
        """Read the file if it changed. Raises StoreError."""
        try:
            found = self.path.stat()
            if self._read_at == (found.st_size, found.st_mtime_ns):
                return
            held = self.path.read_bytes()
        except FileNotFoundError:
            self._harmed = bool(self._key)
            return
        except OSError as error:
            raise self._unusable(error) from error
        with self._one_at_a_time:
            lines = held.splitlines()
            key, requests = b"", list(_requests(lines))
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError, ValueError, IndexError):
                key = bytes.fromhex(msgspec.json.decode(lines[0], type=_Key).key)
            self._read_at = (found.st_size, found.st_mtime_ns)
            self._harmed = bool(self._key) and (
                key != self._key or requests[: len(self.lines)] != self.lines
            )
            if self._harmed:
                log.error(
                    "the file of privacy requests was changed by another program, and is written anew"
                )
                return
            self._key, self.lines = key, requests
            self._fold([*self.lines, *self.waiting])

    def check(self, carried_out: int, mark: str, way_out: str) -> None:
        """See that nothing is missing that the memory has carried out. Raises StoreRequestsLost, StoreError."""
        self.refresh()
        missing = "is missing" if not self.path.exists() else ""
        if not missing and self._key and mark != self.mark():
            missing = "belongs to another memory"
        elif not missing and (not self._key or len(self.lines) < carried_out):
            missing = f"holds {len(self.lines)} of {carried_out} requests"
        if carried_out and missing:
            raise StoreRequestsLost(
                f"{self.path} {missing}: without it nobody knows who was erased or opted out, and their data would be"
                f" stored again. Put the file back, or run `{way_out}`, which keeps the opt-outs of the people in the"
                " memory; who was erased has to ask again."
            )

    def mark(self) -> str:
        """By which a memory knows that the file is its own."""
        return self.digest("mark")[:16]

    def start_anew(self) -> None:
        """Begin a new file in the place of one that is lost. Raises StoreError."""
        with self._one_at_a_time:
            self._key, self.lines, self._read_at, self._harmed = b"", [], None, False
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:
                raise self._unusable(error) from error
            self.add()

    def _unusable(self, error: OSError) -> StoreError:
        return StoreError(
            f"{self.path} cannot be read or written: {error.strerror or error}. Check its permissions and the disk."
        )

    # ── what follows from it ────────────────────────────────────────────────────────────────

    def _fold(self, requests: Sequence[PrivacyRequest]) -> None:
        self._choice: dict[str, RequestKind] = {}
        self._erased: dict[str, int] = {}
        self._forgotten: dict[str, list[PrivacyRequest]] = {}
        for one in requests:
            if one.kind is RequestKind.ERASE:
                self._erased[one.subject] = max(one.at, self._erased.get(one.subject, 0))
            elif one.kind is RequestKind.FORGET:
                self._forgotten.setdefault(one.subject, []).append(one)
            elif one.kind is RequestKind.ALLOW:
                held = self._forgotten.get(one.subject, [])
                self._forgotten[one.subject] = [
                    fact for fact in held if not _covers(one.words, fact.words)
                ]
            else:
                self._choice[one.subject] = one.kind

    def is_out(self, viewer_id: str) -> bool:
        """Whether a viewer opted out, also one whom the memory does not know."""
        if self._read_at is None:
            self.refresh()
        return (
            bool(self._choice)
            and self.chose_last(self.digest("viewer", viewer_id)) is RequestKind.OPT_OUT
        )

    def chose_last(self, subject: str) -> RequestKind | None:
        """What somebody chose last: to opt out or in."""
        return self._choice.get(subject)

    def erased_at(self, viewer_id: str) -> int:
        """When somebody last asked to be erased (ms); what was said of them until then is refused. -1: never."""
        self.refresh()
        return self._erased.get(self.digest("viewer", viewer_id), -1) if self._erased else -1

    def is_forgotten(self, viewer_id: str, words: Collection[str], *, since: int = -1) -> bool:
        """Whether a claim about a viewer (its words) is a fact that they asked to be forgotten; only after `since`."""
        self.refresh()
        held = self._forgotten.get(self.digest("viewer", viewer_id)) if self._forgotten else None
        said = self.hashed(viewer_id, words) if held else ()
        return any(one.at > since and _covers(said, one.words) for one in held or ())

    def hashed(self, viewer_id: str, words: Collection[str]) -> tuple[str, ...]:
        """A fact's words as they stand in a request."""
        return tuple(sorted(self.digest("word", viewer_id, word) for word in words))

    def says(self, viewer_id: str, words: Collection[str], request: PrivacyRequest) -> bool:
        """Whether a claim about a viewer is the fact of a request."""
        return _covers(self.hashed(viewer_id, words), request.words)


def _covers(said: Collection[str], forgotten: Collection[str]) -> bool:
    return bool(forgotten) and sum(word in said for word in forgotten) >= KNOWN_AGAIN * len(
        forgotten
    )


def _written(requests: Sequence[PrivacyRequest | _Key]) -> bytes:
    return b"".join(msgspec.json.encode(one) + b"\n" for one in requests)


def _requests(lines: Sequence[bytes]) -> Iterator[PrivacyRequest]:
    for line in lines:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            yield msgspec.json.decode(line, type=PrivacyRequest)


class OptedOut(Container[str]):
    """Everybody of whom nothing may be stored. `ids`: those who are known; `in` knows the others too."""

    def __init__(self, ids: Collection[str], requests: PrivacyRequests) -> None:
        self.ids = frozenset(ids)
        self._requests = requests

    def __contains__(self, viewer_id: object) -> bool:
        return viewer_id in self.ids or self._requests.is_out(str(viewer_id))
