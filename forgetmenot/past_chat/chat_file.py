"""Reads one file with the chat of past streams as events in the order of time, in bounded memory.

- A file is of the form that its beginning shows (past_chat/formats); it may be packed with gzip.
- It is looked at once (`look`), and then its events are read as often as needed (`events`).
- What moderators took away in it is not among the events: a deleted message; what somebody said
  within a day before a timeout, or ever before a ban; what anybody said within a day before the chat
  was cleared. Nor is what AutoMod held.
- A file that is not in order (justlog's `?reverse`) is read several times, each time a stretch of it.
- What cannot be read, was said by a name that nobody can have, or is dated later than `until` is left
  out, counted, and named by its number. A file of no known form raises InputError.
"""

import io
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
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
from forgetmenot.twitch.chat_lines import ChatItem, Unparsed

# Lines that could not be read and are named by their number.
BAD_NAMED = 20
# With more lines than this that cannot be read, before one that can, it is a file of something else.
FOREIGN_AFTER = 200
# Lines of a file that is not in order which are held in memory at once.
SORTED_AT_ONCE = 25_000
# Lines are counted by stretches of time of this length (ms).
_STRETCH = 10 * MINUTE
# Lines are a little out of order (ms) where two programs write one log.
_OUT_OF_ORDER = MINUTE
# A message that stands twice in a file stands twice among this many.
_REMEMBERED_IDS = 5_000
# Characters by which a form is recognised.
_HEAD = 64
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(ChatEvent)
# How JSON begins. "[20:15:03] alice: hi" begins a log.
_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{\]])")


class Unread(Struct):
    """What of a file cannot be read."""

    lines: int = 0
    # the numbers of the first of these lines
    first: list[int] = field(default_factory=list)
    # the file's end is missing
    cut_off: bool = False

    def add(self, number: int) -> None:
        """Count a line, and keep its number if it is one of the first."""
        self.lines += 1
        if len(self.first) < BAD_NAMED:
            self.first.append(number)

    def __bool__(self) -> bool:
        return self.lines > 0 or self.cut_off


class PastChat:
    """One file. What stands below "after `look`" is known once it was looked at."""

    def __init__(
        self,
        path: Path,
        until: int,
        channel: str = "",
    ) -> None:
        """`until`: nothing was said later (ms). `channel`: the memory's, "" if it is not known."""
        self.path = path
        # Set by another thread: reading ends at the next line.
        self.ended = False
        # After `look`:
        self.about = Broadcast()
        self.unread = Unread()
        # how many events and streams there are, and the time of the first and the last event (ms)
        self.lines = 0
        self.streams = 0
        self.first_at = 0
        self.last_at = 0
        # the size of their texts in bytes
        self.size = 0
        # a hash of the events: a copy with another name is the same file
        self.key = ""
        self._until = until
        self._channel = channel
        self._identity = file_id(path)
        self._removals = _Removals()
        # how many lines there are in each stretch of time
        self._stretches: Counter[int] = Counter()
        self._is_in_order = True
        self._is_newest_first = False

    def is_replaced(self) -> bool:
        """Return whether another file, or none, has the path by now."""
        return file_id(self.path) != self._identity

    def look(self) -> None:
        """Read the file to its end and keep none of it.

        Raises InputError for a file of no known form.
        """
        recognised = self._look_at_records()
        if self.ended:
            return
        if not recognised:
            raise self._unknown_form()
        digest = blake2b(digest_size=12)
        for event in self.events():
            text = event.text.encode()
            digest.update(event.id.encode() + text)
            self.lines += 1
            self.size += len(text) + 8
            if event.at - self.last_at >= STREAM_GAP:
                self.streams += 1
            self.first_at = self.first_at or event.at
            self.last_at = max(self.last_at, event.at)
        self.key = digest.hexdigest()

    def _look_at_records(self) -> int:
        """Learn what was taken away, the order, and what cannot be read.

        Returns how many records can be read; 0 for a file of something else.
        """
        recognised = 0
        newest_at = 0
        last_at = 0
        later = 0
        earlier = 0
        for record in self._records(self.unread):
            item = record.item
            if not self._is_readable(item):
                self.unread.add(record.number)
                if not recognised and self.unread.lines > FOREIGN_AFTER:
                    return 0
                continue
            recognised += 1
            self._removals.add(item)
            if not isinstance(item, ChatEvent):
                continue
            self._stretches[item.at // _STRETCH] += 1
            if item.at > last_at:
                later += 1
            if item.at < last_at:
                earlier += 1
            last_at = item.at
            newest_at = max(newest_at, item.at)
            if item.at < newest_at - _OUT_OF_ORDER:
                self._is_in_order = False
        self._is_newest_first = earlier > later
        return recognised

    def events(self) -> Iterator[ChatEvent]:
        """Give what was said and not taken away, in the order of time, each message once.

        Raises InputError.
        """
        given_ids: OrderedDict[str, None] = OrderedDict()
        for event in self._ordered():
            if event.id in given_ids:
                continue
            if self._removals.cover(event):
                continue
            given_ids[event.id] = None
            if len(given_ids) > _REMEMBERED_IDS:
                given_ids.popitem(last=False)
            yield event

    def _ordered(self) -> Iterator[ChatEvent]:
        """Give what was said, in the order of time."""
        if self._is_in_order:
            yield from self._in_file_order()
            return
        for first, last in self._ranges():
            # As bytes, which take a quarter of the memory.
            packed_events = []
            for event in self._in_file_order():
                stretch = event.at // _STRETCH
                if first <= stretch <= last:
                    packed_events.append((event.at, _ENCODER.encode(event)))
            if self._is_newest_first:
                # Sorting keeps the order of lines of one moment.
                packed_events.reverse()
            packed_events.sort(key=itemgetter(0))
            for _at, packed_event in packed_events:
                yield _DECODER.decode(packed_event)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Give ranges of stretches, the first and the last, of as many lines as are sorted at once."""
        stretches = sorted(self._stretches)
        while stretches:
            lines = 0
            count = 0
            for stretch in stretches:
                lines += self._stretches[stretch]
                if count and lines > SORTED_AT_ONCE:
                    break
                count += 1
            yield stretches[0], stretches[count - 1]
            del stretches[:count]

    def _in_file_order(self) -> Iterator[ChatEvent]:
        """Give what was said, in the file's order."""
        for record in self._records(Unread()):
            item = record.item
            if isinstance(item, ChatEvent) and self._is_readable(item):
                yield item

    def _is_readable(self, item: ChatItem | RemovedText) -> bool:
        """Return whether an item could be read, and may have been said at its time by its name."""
        if isinstance(item, Unparsed):
            return False
        if not isinstance(item, ChatEvent):
            return True
        if not 0 < item.at <= self._until:
            return False
        return bool(item.login) and is_login(item.login)

    def _records(self, unread: Unread) -> Iterator[Record]:
        """Give the records of the file, and note in `unread` if its end is missing.

        Raises InputError.
        """
        # A pipe, or a device that never ends.
        if self.path.exists() and not self.path.is_file():
            raise self._unreadable(reason("no_file"))
        try:
            # Whoever wrote it may have been killed in the middle of a character.
            with open_text(self.path, errors="replace", packed=True) as file:
                for record in self._of_form(file):
                    if self.ended:
                        return
                    yield record
                unread.cut_off = is_cut_off(file)
        except CutOffError:
            unread.cut_off = not self.ended
        except OSError as error:
            raise self._unreadable(error.strerror or "") from None
        except UnknownFormError:
            raise self._unknown_form() from None
        except NoDayError:
            raise InputError(reason("past_no_day", path=self.path.name)) from None

    def _unknown_form(self) -> InputError:
        return InputError(reason("past_format", path=self.path.name))

    def _unreadable(self, why: str) -> InputError:
        return InputError(reason("unreadable_file", path=self.path.name, why=why))

    def _of_form(self, file: TextIO) -> Iterator[Record]:
        """Give the records by the form that the file's beginning shows."""
        head = file.read(_HEAD)
        file.seek(0, io.SEEK_SET)
        if _JSON.match(head):
            return read_json(file, self.about, lambda: self.ended)
        return read_log(file, self.path.name, self._channel)


class _Removals:
    """What moderators took away in a file."""

    def __init__(self) -> None:
        # ids of messages
        self._messages: set[str] = set()
        # by somebody's id ("" is everybody): the times between which their lines were taken away (ms)
        self._spans: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        # by login: how texts began that were taken away, and when that was (ms)
        self._texts: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)

    def add(self, item: object) -> None:
        """Take in an item; one that takes nothing away is passed over."""
        if isinstance(item, RemovedText):
            self._texts[item.login].append((item.at, item.beginning))
            return
        if not isinstance(item, Redaction):
            return
        if item.event_id is not None:
            self._messages.add(item.event_id)
            return
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
        # Spans that meet become one: somebody may be timed out a thousand times.
        if spans:
            last_since, last_until = spans[-1]
            if last_since <= until and since <= last_until:
                spans.pop()
                since = min(since, last_since)
                until = max(until, last_until)
        spans.append((since, until))

    def cover(self, event: ChatEvent) -> bool:
        """Return whether a line was taken away."""
        if event.id in self._messages:
            return True
        # A log without ids names whoever was timed out by login.
        for person in ("", event.user_id, provisional_id(event.login)):
            spans = self._spans.get(person, ())
            if any(since <= event.at <= until for since, until in spans):
                return True
        for at, beginning in self._texts.get(event.login, ()):
            is_of_that_day = at - DAY < event.at <= at
            if is_of_that_day and event.text.startswith(beginning):
                return True
        return False
