"""What people decided about data: one file beside the memory, to which lines are only ever added.

Viewers opt out, or ask to be forgotten; the channel bans, posts a recap and names the folder of recaps. An older copy
of the memory does not know these requests, and carries them out from this file.

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
# Stands for the size and time of the file of requests where there is none.
NO_FILE = (-1, -1)


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
    UNQUOTE = "unquote"  # a kept line is removed from the book
    UNCALL = "uncall"  # a chosen name or pronouns are taken off, or replaced
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
        # not written yet, because the disk was full or locked; they count all the same
        self.waiting: list[PrivacyRequest] = []
        # which topics are not on the list (privacy/suppression), for a list and a number of requests
        self.unlisted: tuple[object, Sequence[PrivacyRequest]] | None = None
        self._key = b""
        self._read_at: tuple[int, int] | None = None
        # the file lacks lines that were read of it before
        self._harmed = False
        # lines are written in threads
        self._one_at_a_time = threading.RLock()
        self._fold([])

    def digest(self, *parts: str) -> str:
        """Return the keyed hash of these texts, 32 hex digits. Makes a key if there is none. Raises StoreError."""
        if not self._key:
            self.refresh()
        if not self._key:
            self.add()
        # With a NUL between them: ("ab", "c") and ("a", "bc") are not the same.
        text = "\0".join(parts).encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, text, "sha256").hex()[:32]

    def of(
        self,
        kind: RequestKind,
        viewer_id: str,
        at: int,
        *,
        words: tuple[str, ...] = (),
        notes: tuple[int, ...] = (),
    ) -> PrivacyRequest:
        """Return a request of a viewer, ready to be added."""
        return PrivacyRequest(kind, self.digest("viewer", viewer_id), at, words, notes)

    def add(self, *new: PrivacyRequest) -> int:
        """Write requests to disk, and return how many lines the file then has. Raises StoreError."""
        with self._one_at_a_time:
            try:
                # two processes may make the file at once: the second reads the key of the first
                with FileLock(f"{self.path}.lock", timeout=_LOCK_S, mode=0o600):
                    self.refresh()
                    self._write(new)
            except (OSError, TimeoutError) as error:
                raise self._unusable(error) from error
            self.refresh()
            return len(self.lines)

    def _write(self, new: Sequence[PrivacyRequest]) -> None:
        """Add requests to the file, or write it anew where it lacks its key or lines.

        Raises OSError, StoreRequestsLost.
        """
        if not self._key and self.lines:
            raise StoreRequestsLost(
                f"{self.path} is damaged: its first line is its key. Put back a copy."
            )
        if self._key and not self._harmed:
            # a line that a crash or a full disk cut through stays a line of its own, and counts for nothing
            ends_whole = self.path.read_bytes().endswith(b"\n")
            start = b"" if ends_whole else b"\n"
            append_own(self.path, start + _encoded(new))
            return
        key = _Key(self._key.hex() or secrets.token_hex(32))
        content = _encoded([key, *self.lines, *new])
        replace_file(self.path, content.decode())
        self._harmed = False

    def keep_waiting(self, request: PrivacyRequest) -> None:
        """Apply a request that cannot be written yet, and keep it for `write_waiting`."""
        self.waiting.append(request)
        self._fold([*self.lines, *self.waiting])

    def write_waiting(self) -> None:
        """Write the requests that wait, and rewrite a file that lost lines. Raises StoreError."""
        if self._harmed:
            self.add()
        while self.waiting:
            self.add(self.waiting[0])
            # Only now: what could not be written goes on waiting, and counts.
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
            # so that who only asks does not look for the file each time
            self._read_at = NO_FILE
        except OSError as error:
            raise self._unusable(error) from error

    def _take_in(self, content: bytes) -> None:
        """Use the content of the file, unless it lacks something that was read of it before."""
        lines = content.splitlines()
        key = _key_of(lines)
        requests = list(_decoded(lines))
        has_all_lines = requests[: len(self.lines)] == self.lines
        self._harmed = bool(self._key) and (key != self._key or not has_all_lines)
        if self._harmed:
            log.error(
                "the file of privacy requests was changed by another program, and is written anew"
            )
            return
        self._key = key
        self.lines = requests
        self._fold([*self.lines, *self.waiting])

    def check(
        self,
        carried_out: int,
        mark: str,
        way_out: str,
    ) -> None:
        """See that the file has every request that the memory has carried out.

        `way_out`: the command that makes a new file. Raises StoreRequestsLost, StoreError.
        """
        self.refresh()
        fault = self._fault(carried_out, mark)
        if carried_out and fault:
            raise StoreRequestsLost(
                f"{self.path} {fault}: without it nobody knows who was erased or opted out, and their data would be"
                f" stored again. Put the file back, or run `{way_out}`, which keeps the opt-outs of the people in the"
                " memory; who was erased has to ask again."
            )

    def _fault(self, carried_out: int, mark: str) -> str:
        """Return what is wrong with the file; "" if nothing is."""
        if not self.path.exists():
            return "is missing"
        if not self._key:
            return "lacks its first line, which is its key"
        if mark != self.mark():
            return "belongs to another memory"
        if len(self.lines) < carried_out:
            return f"holds {len(self.lines)} of {carried_out} requests"
        return ""

    def mark(self) -> str:
        """Return what a memory notes of this file, to recognise it."""
        return self.digest("mark")[:16]

    def start_anew(self) -> None:
        """Replace a file that is lost or damaged by a new one. Raises StoreError."""
        with self._one_at_a_time:
            self._key = b""
            self.lines = []
            self._read_at = None
            self._harmed = False
            try:
                self.path.unlink(missing_ok=True)
            except OSError as error:
                raise self._unusable(error) from error
            self.add()

    def _unusable(self, error: OSError) -> StoreError:
        cause = error.strerror or error
        return StoreError(
            f"{self.path} cannot be read or written: {cause}. Check its permissions and the disk."
        )

    # ── what follows from it ────────────────────────────────────────────────────────────────

    def _fold(self, requests: Sequence[PrivacyRequest]) -> None:
        # From the beginning each time: the file has a line for each decision, and few are made.
        self._standing = StandingRequests(requests)

    def is_out(self, viewer_id: str) -> bool:
        """Return whether a viewer opted out, also one whom the memory does not know."""
        self._read_once()
        # Asked for every line of chat: without a request nothing is hashed.
        if not self._standing.choices:
            return False
        return self.chose_last(self.digest("viewer", viewer_id)) is RequestKind.OPT_OUT

    def chose_last(self, subject: str) -> RequestKind | None:
        """Return the last choice of a viewer (their hash): OPT_OUT or OPT_IN; None if they never chose."""
        return self._standing.choices.get(subject)

    def has_erasures(self) -> bool:
        """Return whether anybody has asked to be erased."""
        self.refresh()
        return bool(self._standing.erased_at)

    def erased_at(self, viewer_id: str) -> int:
        """Return when a viewer last asked to be erased (ms); -1 if never. What was said until then is not stored."""
        self.refresh()
        if not self._standing.erased_at:
            return -1
        return self._standing.erased_at.get(self.digest("viewer", viewer_id), -1)

    def is_forgotten(
        self,
        viewer_id: str,
        words: Collection[str],
        *,
        since: int = -1,
    ) -> bool:
        """Return whether a claim (its words) says a fact that was forgotten by a request after `since` (ms)."""
        self.refresh()
        if not self._standing.forgotten:
            return False
        facts = self._standing.forgotten.get(self.digest("viewer", viewer_id))
        if not facts:
            return False
        claim = self.hashed(viewer_id, words)
        return any(fact.at > since and _is_fact(claim, fact.words) for fact in facts)

    def banned_at(self, viewer_id: str) -> int | None:
        """Return when a viewer was banned (ms); None if they were not, or have written since."""
        self._read_once()
        if not self._standing.banned_at:
            return None
        return self._standing.banned_at.get(self.digest("viewer", viewer_id))

    def is_banned(self, subject: str) -> bool:
        """Return whether the viewer with that hash was banned and has not written since."""
        return subject in self._standing.banned_at

    @property
    def count(self) -> int:
        """Return how many requests there are, including those that cannot be written yet."""
        return len(self.lines) + len(self.waiting)

    @property
    def topics(self) -> Collection[PrivacyRequest]:
        """Return the topics that are never mentioned, of viewers and of the channel, also of erased viewers."""
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
        """Return a request about a topic or a note (its words) of a viewer, or (None) of the channel."""
        subject_id = viewer_id or CHANNEL
        notes = () if note_id is None else (note_id,)
        return self.of(
            kind, subject_id, at, words=self.hashed(subject_id, words), notes=notes
        )

    def is_topic(self, request: PrivacyRequest) -> bool:
        """Return whether what a request names is not to be mentioned now."""
        self._read_once()
        return topic_key(request) in self._standing.topics

    def is_removed(self, request: PrivacyRequest) -> bool:
        """Return whether the note that a request names was removed, and not brought back."""
        return topic_key(request) in self._standing.removed

    def was_posted(self, started_at: int) -> bool:
        """Return whether the recap of the stream that began then was posted, or may have been."""
        self._read_once()
        return self.stream_hash(started_at) in self._standing.posted

    def posted(self, started_at: int, at: int) -> PrivacyRequest:
        """Return the request that says: the recap of the stream that began then is posted."""
        return PrivacyRequest(RequestKind.POSTED, self.stream_hash(started_at), at)

    def stream_hash(self, started_at: int) -> str:
        """Return the hash of a stream, by when it began (ms).

        Not by its id: after a restore another stream may get that.
        """
        return self.digest("stream", str(started_at))

    @property
    def recap_folders(self) -> Collection[str]:
        """Return every folder that recaps were written to."""
        self._read_once()
        return self._standing.recap_folders

    # For questions that come with every line: whoever asks for a batch of them calls `refresh`
    # before.
    def _read_once(self) -> None:
        if self._read_at is None:
            self.refresh()

    def hashed(self, viewer_id: str, words: Collection[str]) -> tuple[str, ...]:
        """Return the words of a fact as a request holds them."""
        return tuple(sorted(self.digest("word", viewer_id, word) for word in words))

    def says(
        self,
        viewer_id: str,
        words: Collection[str],
        request: PrivacyRequest,
    ) -> bool:
        """Return whether a claim about a viewer (its words) says the fact of a request."""
        return _is_fact(self.hashed(viewer_id, words), request.words)


class StandingRequests:
    """What holds after a list of requests. Everything is by the hash of a viewer; `…_at` are times (ms)."""

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
        """Take a request into account: a later one of the same kind replaces an earlier one."""
        subject = request.subject
        match request.kind:
            case RequestKind.OPT_OUT | RequestKind.OPT_IN:
                self.choices[subject] = request.kind
            case RequestKind.ERASE:
                self.erased_at[subject] = max(
                    request.at, self.erased_at.get(subject, 0)
                )
            case RequestKind.FORGET:
                self.forgotten.setdefault(subject, []).append(request)
            case RequestKind.ALLOW:
                facts = self.forgotten.get(subject, [])
                remaining = [
                    fact for fact in facts if not _is_fact(request.words, fact.words)
                ]
                self.forgotten[subject] = remaining
            case RequestKind.NEVER_MENTION:
                self.topics[topic_key(request)] = request
            case RequestKind.MAY_MENTION:
                self.topics.pop(topic_key(request), None)
            case _:
                self._add_by_channel(request)

    def _add_by_channel(self, request: PrivacyRequest) -> None:
        """Apply a request of the channel, or of a note's subject."""
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
    """Return the key by which two requests about the same topic or note are told to be the same."""
    return request.subject, request.words, request.notes


def _is_fact(claim: Collection[str], fact: Collection[str]) -> bool:
    """Return whether a claim has so many of a fact's words that it says that fact."""
    shared = sum(word in claim for word in fact)
    return bool(fact) and shared >= KNOWN_AGAIN * len(fact)


def _mark_of(path: Path) -> tuple[int, int]:
    """Return size and time of a file, by which a change is seen. Raises OSError."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _key_of(lines: Sequence[bytes]) -> bytes:
    """Return the key of a file, which is its first line; empty if that is damaged, or there is none."""
    try:
        first_line = msgspec.json.decode(lines[0], type=_Key)
        return bytes.fromhex(first_line.key)
    except (msgspec.MsgspecError, UnicodeError, ValueError, IndexError):
        return b""


def _encoded(requests: Sequence[PrivacyRequest | _Key]) -> bytes:
    return b"".join(msgspec.json.encode(request) + b"\n" for request in requests)


def _decoded(lines: Sequence[bytes]) -> Iterator[PrivacyRequest]:
    """Give the requests of a file's lines. A line that is none, like the key or a line cut by a crash, is left out."""
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
