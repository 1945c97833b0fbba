"""What people decided about data: one file beside the memory, to which lines are only ever added.

Viewers ask to be forgotten or left alone; the channel bans, posts a recap and names the folder of recaps. A copy of the
memory that is older than that does not know it: it learns it from here.

Guarantees:
- A request is on disk before it is carried out, and the memory counts the lines that it has carried out. What a kill, a
  lock or a full disk kept it from is done later, and again in every older copy that is restored (privacy/requests).
- No line holds an id, a name, a topic or a fact: people and words stand there as keyed hashes. The key is the first
  line; the file is its owner's alone and in no backup. (Plain hashes of Twitch
  ids hide nothing: all can be tried in minutes.)
- A memory that has carried out more lines than there are does not open (`check`). A file that is removed, cut or
  replaced while it is used is written anew, from what was read of it.
"""

import contextlib
import hmac
import secrets
import threading
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
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


# The viewer in a request that is about the channel.
CHANNEL = ""


class RequestKind(StrEnum):
    """What was decided."""

    OPT_OUT = "opt_out"
    OPT_IN = "opt_in"
    ERASE = "erase"
    FORGET = "forget"
    ALLOW = "allow"  # a fact that was forgotten may be remembered again
    NEVER_MENTION = "never_mention"
    MAY_MENTION = "may_mention"
    REMOVE = "remove"  # a note, by its subject, who can bring it back
    BRING_BACK = "bring_back"
    BAN = "ban"
    UNBAN = "unban"  # somebody who was banned writes again
    POSTED = "posted"  # the recap of a stream, to Discord
    RECAP_FOLDER = "recap_folder"  # recaps are written there


class PrivacyRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line.

    `subject`: hash of the viewer's id, or of when the stream began; `words`: hashes of the words of a fact or a topic;
    `notes`: ids of what said it; `folder`: where recaps are.
    """

    kind: RequestKind
    subject: str
    at: int = 0
    words: tuple[str, ...] = ()
    notes: tuple[int, ...] = ()
    folder: str = ""


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
        # which topics are not on the list (privacy/suppression), for a list and a number of requests
        self.unlisted: tuple[object, Sequence[PrivacyRequest]] | None = None
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
                        replace_file(self.path, _encoded([key, *self.lines, *new]).decode())
                    else:
                        # a line that a crash or a full disk cut through stays a line of its own, and counts for nothing
                        start = b"" if self.path.read_bytes().endswith(b"\n") else b"\n"
                        append_own(self.path, start + _encoded(new))
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
            if self._read_at == _mark_of(self.path):
                return
            # read under the lock: a line that another thread writes meanwhile is not taken for one that is missing
            with self._one_at_a_time:
                read_at = _mark_of(self.path)
                self._take_in(self.path.read_bytes())
                self._read_at = read_at
        except FileNotFoundError:
            self._harmed = bool(self._key)
        except OSError as error:
            raise self._unusable(error) from error

    def _take_in(self, content: bytes) -> None:
        """Use what the file holds, unless something is missing that stood in it."""
        lines = content.splitlines()
        key = b""
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, ValueError, IndexError):
            key = bytes.fromhex(msgspec.json.decode(lines[0], type=_Key).key)
        requests = list(_decoded(lines))
        is_longer = requests[: len(self.lines)] == self.lines
        self._harmed = bool(self._key) and (key != self._key or not is_longer)
        if self._harmed:
            log.error(
                "the file of privacy requests was changed by another program, and is written anew"
            )
            return
        self._key = key
        self.lines = requests
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
        self._standing = StandingRequests(requests)

    def is_out(self, viewer_id: str) -> bool:
        """Whether a viewer opted out, also one whom the memory does not know."""
        self._read_once()
        if not self._standing.choices:
            return False
        return self.chose_last(self.digest("viewer", viewer_id)) is RequestKind.OPT_OUT

    def chose_last(self, subject: str) -> RequestKind | None:
        """What somebody chose last: to opt out or in."""
        return self._standing.choices.get(subject)

    def erased_at(self, viewer_id: str) -> int:
        """When somebody last asked to be erased (ms); what was said of them until then is refused. -1: never."""
        self.refresh()
        if not self._standing.erased_at:
            return -1
        return self._standing.erased_at.get(self.digest("viewer", viewer_id), -1)

    def is_forgotten(self, viewer_id: str, words: Collection[str], *, since: int = -1) -> bool:
        """Whether a claim about a viewer (its words) is a fact that they asked to be forgotten; only after `since`."""
        self.refresh()
        if not self._standing.forgotten:
            return False
        facts = self._standing.forgotten.get(self.digest("viewer", viewer_id))
        if not facts:
            return False
        claim = self.hashed(viewer_id, words)
        return any(fact.at > since and _is_fact(claim, fact.words) for fact in facts)

    def banned_at(self, viewer_id: str) -> int | None:
        """When somebody was banned who has not written since (ms); None for everybody else."""
        self._read_once()
        if not self._standing.banned_at:
            return None
        return self._standing.banned_at.get(self.digest("viewer", viewer_id))

    def is_banned(self, subject: str) -> bool:
        """Whether the viewer with that hash was banned and has not written since."""
        return subject in self._standing.banned_at

    @property
    def count(self) -> int:
        """How many requests there are, those among them that cannot be written yet."""
        return len(self.lines) + len(self.waiting)

    @property
    def topics(self) -> Collection[PrivacyRequest]:
        """What is never to be mentioned, of viewers and of the channel, also of who was erased."""
        self._read_once()
        return self._standing.topics.values()

    def of_words(
        self,
        kind: RequestKind,
        viewer_id: str | None,
        words: Collection[str],
        *,
        note_id: int | None = None,
        at: int = 0,
    ) -> PrivacyRequest:
        """A request about a topic or a note (its words) of one viewer, or (None) of the channel."""
        subject_id = viewer_id or CHANNEL
        notes = () if note_id is None else (note_id,)
        return self.of(kind, subject_id, at, words=self.hashed(subject_id, words), notes=notes)

    def is_topic(self, request: PrivacyRequest) -> bool:
        """Whether what a request names is not to be mentioned now."""
        self._read_once()
        return topic_key(request) in self._standing.topics

    def is_removed(self, request: PrivacyRequest) -> bool:
        """Whether the note that a request names was removed, and not brought back."""
        return topic_key(request) in self._standing.removed

    def was_posted(self, started_at: int) -> bool:
        """Whether the recap of the stream that began then was posted, or may have been."""
        self._read_once()
        return self.stream_hash(started_at) in self._standing.posted

    def posted(self, started_at: int, at: int) -> PrivacyRequest:
        """That the recap of the stream that began then is posted."""
        return PrivacyRequest(RequestKind.POSTED, self.stream_hash(started_at), at)

    def stream_hash(self, started_at: int) -> str:
        """The hash of a stream. Not of its number: after a restore another stream gets that."""
        return self.digest("stream", str(started_at))

    @property
    def recap_folders(self) -> Collection[str]:
        """Every folder that recaps were written to."""
        self._read_once()
        return self._standing.recap_folders

    def _read_once(self) -> None:
        if self._read_at is None:
            self.refresh()

    def hashed(self, viewer_id: str, words: Collection[str]) -> tuple[str, ...]:
        """A fact's words as they stand in a request."""
        return tuple(sorted(self.digest("word", viewer_id, word) for word in words))

    def says(self, viewer_id: str, words: Collection[str], request: PrivacyRequest) -> bool:
        """Whether a claim about a viewer is the fact of a request."""
        return _is_fact(self.hashed(viewer_id, words), request.words)


class StandingRequests:
    """What follows from requests that were made one after the other. `…_at` are times (ms) by the hash of a viewer."""

    def __init__(self, requests: Iterable[PrivacyRequest]) -> None:
        self.choices: dict[str, RequestKind] = {}
        self.erased_at: dict[str, int] = {}
        self.forgotten: dict[str, list[PrivacyRequest]] = {}
        self.banned_at: dict[str, int] = {}
        self.topics: dict[tuple[object, ...], PrivacyRequest] = {}
        self.removed: set[tuple[object, ...]] = set()
        self.posted: set[str] = set()
        self.recap_folders: set[str] = set()
        for request in requests:
            self._add(request)

    def _add(self, request: PrivacyRequest) -> None:
        subject = request.subject
        match request.kind:
            case RequestKind.OPT_OUT | RequestKind.OPT_IN:
                self.choices[subject] = request.kind
            case RequestKind.ERASE:
                self.erased_at[subject] = max(request.at, self.erased_at.get(subject, 0))
            case RequestKind.FORGET:
                self.forgotten.setdefault(subject, []).append(request)
            case RequestKind.ALLOW:
                facts = self.forgotten.get(subject, [])
                still = [fact for fact in facts if not _is_fact(request.words, fact.words)]
                self.forgotten[subject] = still
            case RequestKind.NEVER_MENTION:
                self.topics[topic_key(request)] = request
            case RequestKind.MAY_MENTION:
                self.topics.pop(topic_key(request), None)
            case _:
                self._add_by_channel(request)

    def _add_by_channel(self, request: PrivacyRequest) -> None:
        """What the channel decides, and what anybody may take back."""
        subject = request.subject
        match request.kind:
            case RequestKind.REMOVE:
                self.removed.add(topic_key(request))
            case RequestKind.BRING_BACK:
                self.removed.discard(topic_key(request))
            case RequestKind.BAN:
                self.banned_at[subject] = request.at
            case RequestKind.UNBAN:
                self.banned_at.pop(subject, None)
            case RequestKind.POSTED:
                self.posted.add(subject)
            case RequestKind.RECAP_FOLDER:
                self.recap_folders.add(request.folder)


def topic_key(request: PrivacyRequest) -> tuple[object, ...]:
    """What two requests have in common that name the same topic, or the same note."""
    return request.subject, request.words, request.notes


def _is_fact(said: Collection[str], forgotten: Collection[str]) -> bool:
    return bool(forgotten) and sum(word in said for word in forgotten) >= KNOWN_AGAIN * len(
        forgotten
    )


def _mark_of(path: Path) -> tuple[int, int]:
    """Return size and time of a file, by which a change is seen. Raises OSError."""
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def _encoded(requests: Sequence[PrivacyRequest | _Key]) -> bytes:
    return b"".join(msgspec.json.encode(one) + b"\n" for one in requests)


def _decoded(lines: Sequence[bytes]) -> Iterator[PrivacyRequest]:
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
