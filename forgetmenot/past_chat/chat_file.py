"""One file with the chat of past streams, as events in the order of time, in bounded memory.

- A file is of the form that its beginning shows (past_chat/formats); it may be packed with gzip.
- It is looked at once (`look`), and then its events are read as often as needed (`events`).
- What moderators took away in it is not among the events: a deleted message; what somebody said within a day before a
  timeout, or ever before a ban; what anybody said within a day before the chat was cleared. Nor is what AutoMod held.
- A file that is not in order (justlog's `?reverse`) is read several times, each time a stretch of it.
- What cannot be read, was said by a name that nobody can have, or is dated later than `until` is left out, counted, and
  named by its number. A file of no known form raises InputError.
"""

import io
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import TextIO

import msgspec
from msgspec import Struct, field

from forgetmenot.domain import STREAM_GAP, ChatEvent, Redaction
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import InputError
from forgetmenot.files import file_id, is_cut_off, open_text
from forgetmenot.languages import reason
from forgetmenot.past_chat.formats import (
    Broadcast,
    CutOffError,
    NoDayError,
    Record,
    RemovedText,
    UnknownFormError,
    read_json,
    read_log,
)
from forgetmenot.text.mentions import is_login, provisional_id
from forgetmenot.twitch.chat_lines import Unparsed

# Lines that could not be read and are named by their number.
BAD_NAMED = 20
# So many lines that cannot be read, before one that can: it is a file of something else.
FOREIGN_AFTER = 200
# Lines of a file that is not in order which are held in memory at once.
SORTED_AT_ONCE = 25_000
_STRETCH = 10 * MINUTE
# Lines are a little out of order where two programs write one log.
_OUT_OF_ORDER = MINUTE
_REMEMBERED_IDS = 5_000
_HEAD = 64
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(ChatEvent)
_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{\]])")


class Unread(Struct):
    """What of a file cannot be read: how many lines, the numbers of the first, and whether its end is missing."""

    lines: int = 0
    first: list[int] = field(default_factory=list)
    cut_off: bool = False

    def add(self, number: int) -> None:
        """Count a line by its number."""
        self.lines += 1
        if len(self.first) < BAD_NAMED:
            self.first.append(number)

    def __bool__(self) -> bool:
        return self.lines > 0 or self.cut_off


class PastChat:
    """One file. `until`: nothing was said later (ms). `channel`: the memory's, if it is known.

    `ended`: once it is set, reading ends at the next line. After `look`: `lines` and `streams` of the events, the time
    of the first and the last (ms), the `size` of their texts in bytes, what is `unread`, and `key`: the file by its
    events, so that a copy with another name is the same file.
    """

    def __init__(
        self,
        path: Path,
        until: int,
        channel: str = "",
    ) -> None:
        self.path = path
        self.ended = False
        self.about = Broadcast()
        self.unread = Unread()
        self.lines = 0
        self.streams = 0
        self.first_at = 0
        self.last_at = 0
        self.size = 0
        self.key = ""
        self._until = until
        self._channel = channel
        self._identity = file_id(path)
        self._removals = _Removals()
        self._stretches: Counter[int] = Counter()  # lines by their time
        self._is_in_order = True
        self._is_newest_first = False

    def is_replaced(self) -> bool:
        """Return whether another file, or none, has the path by now."""
        return file_id(self.path) != self._identity

    def look(self) -> None:
        """Read the file to its end and keep none of it. Raises InputError for a file of no known form."""
        recognised = self._look_at_records()
        if self.ended:
            return
        if not recognised:
            raise InputError(reason("past_format", path=self.path.name))
        digest = blake2b(digest_size=12)
        for event in self.events():
            words = event.text.encode()
            digest.update(event.id.encode() + words)
            self.lines += 1
            self.size += len(words) + 8
            if event.at - self.last_at >= STREAM_GAP:
                self.streams += 1
            self.first_at = self.first_at or event.at
            self.last_at = max(self.last_at, event.at)
        self.key = digest.hexdigest()

    def _look_at_records(self) -> int:
        """Take in what was taken away, the order, and what cannot be read. How many records there are."""
        recognised = 0
        newest = 0
        later = 0
        earlier = 0
        before = 0
        for record in self._records(self.unread):
            item = record.item
            if isinstance(item, Unparsed) or (
                isinstance(item, ChatEvent) and not self._is_usable(item)
            ):
                self.unread.add(record.number)
                if not recognised and self.unread.lines > FOREIGN_AFTER:
                    return 0
                continue
            recognised += 1
            self._removals.add(item)
            if isinstance(item, ChatEvent):
                self._stretches[item.at // _STRETCH] += 1
                later += item.at > before
                earlier += item.at < before
                before = item.at
                newest = max(newest, item.at)
                self._is_in_order = (
                    self._is_in_order and item.at >= newest - _OUT_OF_ORDER
                )
        self._is_newest_first = earlier > later
        return recognised

    def events(self) -> Iterator[ChatEvent]:
        """Return what was said and not taken away, in the order of time, each message once. Raises InputError."""
        ids: OrderedDict[str, None] = OrderedDict()
        for event in self._ordered():
            if event.id in ids or self._removals.cover(event):
                continue
            ids[event.id] = None
            if len(ids) > _REMEMBERED_IDS:
                ids.popitem(last=False)
            yield event

    def _ordered(self) -> Iterator[ChatEvent]:
        if self._is_in_order:
            yield from self._said()
            return
        for first, last in self._ranges():
            # as bytes, which take a quarter of the memory
            packed = [
                (event.at, _ENCODER.encode(event))
                for event in self._said()
                if first <= event.at // _STRETCH <= last
            ]
            if self._is_newest_first:
                packed.reverse()  # lines of one moment
            packed.sort(key=itemgetter(0))
            for _at, event in packed:
                yield _DECODER.decode(event)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Stretches of time, first and last, that hold no more lines than are sorted at once."""
        stretches = sorted(self._stretches)
        while stretches:
            held = 0
            taken = 0
            for stretch in stretches:
                held += self._stretches[stretch]
                if taken and held > SORTED_AT_ONCE:
                    break
                taken += 1
            yield stretches[0], stretches[taken - 1]
            del stretches[:taken]

    def _said(self) -> Iterator[ChatEvent]:
        """What was said, in the file's order."""
        for record in self._records(Unread()):
            if isinstance(record.item, ChatEvent) and self._is_usable(record.item):
                yield record.item

    def _is_usable(self, event: ChatEvent) -> bool:
        return (
            0 < event.at <= self._until and bool(event.login) and is_login(event.login)
        )

    def _records(self, unread: Unread) -> Iterator[Record]:
        """Read the file. `unread` is told if its end is missing. Raises InputError."""
        if (
            self.path.exists() and not self.path.is_file()
        ):  # a pipe, or a device that never ends
            raise InputError(
                reason("unreadable_file", path=self.path.name, why=reason("no_file"))
            )
        try:
            # whoever wrote it may have been killed in the middle of a character
            with open_text(self.path, errors="replace", packed=True) as file:
                for record in self._of_form(file):
                    if self.ended:
                        return
                    yield record
                unread.cut_off = is_cut_off(file)
        except CutOffError:
            unread.cut_off = not self.ended
        except OSError as error:
            why = error.strerror or ""
            raise InputError(
                reason("unreadable_file", path=self.path.name, why=why)
            ) from None
        except UnknownFormError:
            raise InputError(reason("past_format", path=self.path.name)) from None
        except NoDayError:
            raise InputError(reason("past_no_day", path=self.path.name)) from None

    def _of_form(self, file: TextIO) -> Iterator[Record]:
        head = file.read(_HEAD)
        file.seek(0, io.SEEK_SET)
        if _JSON.match(head):
            return read_json(file, self.about, lambda: self.ended)
        return read_log(file, self.path.name, self._channel)


class _Removals:
    """What moderators took away in a file."""

    def __init__(self) -> None:
        self._messages: set[str] = set()
        # the times between which somebody's lines were taken away, by their id; "" is everybody
        self._spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._texts: defaultdict[str, list[tuple[int, str]]] = defaultdict(
            list
        )  # by login

    def add(self, item: object) -> None:
        """Take in a record; what takes nothing away is passed over."""
        if isinstance(item, RemovedText):
            self._texts[item.login].append((item.at, item.beginning))
        elif isinstance(item, Redaction) and item.event_id is not None:
            self._messages.add(item.event_id)
        elif isinstance(item, Redaction):
            is_ban = item.user_id is not None and item.duration_s is None
            since = 0 if is_ban else item.at - DAY
            self._add_span(item.user_id or "", since, item.at)

    def _add_span(
        self,
        person: str,
        since: int,
        until: int,
    ) -> None:
        spans = self._spans[person]
        if spans and spans[-1][0] <= until and since <= spans[-1][1]:
            last_since, last_until = (
                spans.pop()
            )  # one span: somebody may be timed out a thousand times
            since = min(since, last_since)
            until = max(until, last_until)
        spans.append((since, until))

    def cover(self, event: ChatEvent) -> bool:
        """Return whether a line was taken away."""
        if event.id in self._messages:
            return True
        for person in ("", event.user_id, provisional_id(event.login)):
            if self._reach(self._spans.get(person, ()), event.at):
                return True
        for at, beginning in self._texts.get(event.login, ()):
            if at - DAY < event.at <= at and event.text.startswith(beginning):
                return True
        return False

    @staticmethod
    def _reach(spans: Iterable[tuple[int, int]], at: int) -> bool:
        return any(since <= at <= until for since, until in spans)
