"""Reads chat in the forms in which other programs write it, record by record, in bounded memory.

- Chatterino's logs, with each of its timestamps and without: `[20:15:03] alice: hi`,
  `[8:15 pm] ゆき yuki_ch: hi`. The day stands in their first line or in the file's name, and the
  time is the computer's own.
- justlog's: `[2026-05-1 20:15:03] #channel alice: hi`, by UTC; its JSON; and TwitchDownloader's text
- raw IRC lines with Twitch's tags
- JSON of TwitchDownloader (`comments`), of justlog (`messages`) and of chat-downloader (a list)

A record is what `twitch/chat_lines` makes of a line: something said, something taken away, of no
interest, or Unparsed. What a moderator took away stands in a log as a sentence of the program, which
nobody in chat can write: what they write begins with their name and a colon.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from datetime import time as datetime_time
from typing import Any, NamedTuple, TextIO

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.files import lines_of
from forgetmenot.text.clean import clean, cut
from forgetmenot.text.mentions import (
    defang,
    is_anonymous,
    is_login,
    is_viewer_id,
    provisional_id,
)
from forgetmenot.twitch import chat_lines
from forgetmenot.twitch.chat_lines import (
    MAX_TEXT,
    ChatItem,
    OtherLine,
    OtherRoom,
    Unparsed,
)

# Characters that are read of a file at once.
CHUNK = 256 * 1024
# Characters of one value of a JSON file: no program writes a longer one of those that are read.
LONGEST_RECORD = 16 * 1024 * 1024
# Characters of a line of a log, and of a name.
LONGEST_LINE = 20_000
LONGEST_NAME = 60
LONGEST_TITLE = 200
_VIDEO_ID = re.compile(r"[0-9]{1,15}")


class RemovedText(Struct, frozen=True):
    """A moderator took away what somebody said, of which the log has the beginning. `at`: in ms."""

    at: int
    login: str
    beginning: str


class Record(NamedTuple):
    """One line of a log, or one item of a JSON file. `number`: from 1."""

    number: int
    item: ChatItem | RemovedText


class Broadcast(Struct):
    """What a file says of the broadcast whose chat it holds. `began_at`: ms; 0 where it does not say."""

    title: str = ""
    video: int = 0
    began_at: int = 0

    def describe(self, video: object) -> None:
        """Read TwitchDownloader's `video`. Older files lack parts of it."""
        title = _text(video, "title")
        self.title = clean(title[:LONGEST_TITLE])
        self.video = 0
        number = _text(video, "id")
        if _VIDEO_ID.fullmatch(number):
            self.video = int(number)
        self.began_at = _utc_ms(_value(video, "created_at"))


class CutOffError(Exception):
    """The text ends where more of it has to follow."""


class UnknownFormError(Exception):
    """No program writes such a file."""


class NoDayError(Exception):
    """A log has times, and nothing names their day."""


# ── logs: one line each ───────────────────────────────────────────────────────────────────────

# What Chatterino writes when it begins or ends a file.
_MARK = re.compile(
    r"# St(?:art|op) logging at (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d) ?(.*)",
    re.IGNORECASE,
)
_DAY_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
# A line with its time. The channel stands before the time in Chatterino's lists of highlights, and
# behind it in justlog's logs.
_STAMPED = re.compile(
    r"(?:#(?P<room>\w+) +)?\[(?P<stamp>[^\]]{1,40})\] +(?:#\w+ )?(?P<rest>.+)",
    re.DOTALL,
)
_STAMP = re.compile(
    r"(?:(\d{4})-(\d{1,2})-(\d{1,2})[ T])?(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(?: ?([ap])m)?(?: ?UTC|Z)?",
    re.IGNORECASE,
)
_CHAT_LINE = re.compile(
    r"(?:(?P<shown>[^\s:]{1,60}) )?(?P<login>\w{1,25}): (?P<text>.*)", re.DOTALL
)
# AutoMod reports in one line that it holds a message; the next line is that message.
_HELD_BY = "automod"
_HELD = "Held a message for reason"
_TIMEOUT_OR_BAN = re.compile(
    r"(?:(?P<first>\w+) has been (?P<what>timed out|permanently banned|banned)\b"
    r"|\w+ (?P<verb>timed out|banned) (?P<second>\w+)\b).*",
    re.DOTALL,
)
_CLEARED = re.compile(
    r"(?:chat has been cleared|(?:\w+ )?cleared the chat)\b.*", re.IGNORECASE
)
_REMOVED = re.compile(
    r"(?:A message from (\w+) was deleted:|\w+ deleted message from (\w+) saying:) ?(.*)",
    re.DOTALL,
)
_ONE_DAY = timedelta(days=1)
# A time that is earlier than the line before by more than this is of the next day.
_NEXT_DAY = timedelta(hours=12)
# By less than this, lines are only out of order.
_BACKWARDS = timedelta(minutes=2)


def read_log(
    file: TextIO,
    name: str,
    channel: str,
) -> Iterator[Record]:
    """Give the records of a log.

    `name`: the file's; `channel`: the memory's, "" if unknown. Raises NoDayError, CutOffError.
    """
    log = _Log(name, channel)
    lines = lines_of(file, LONGEST_LINE)
    for number, line in enumerate(lines, 1):
        text = line.strip("\r\n")
        if not text.strip():
            continue
        item = log.read(text, number)
        # A longer line is given in pieces, which have no end either.
        is_whole = line.endswith("\n") or len(line) >= LONGEST_LINE
        if isinstance(item, Unparsed) and not is_whole:
            raise CutOffError
        yield Record(number, item)
    if log.lacks_day:
        raise NoDayError


class _Log:
    """A log that is read line by line: what a line means may depend on those before it."""

    def __init__(self, name: str, channel: str) -> None:
        self._channel = channel.casefold()
        self._day = _day_in(name)
        # The time of the line before by the computer's clock, without a zone.
        self._last: datetime | None = None
        # The time of the last line that has none (ms); 0 where nothing tells the day.
        self._untimed_at = 0
        if self._day is not None:
            midnight = datetime.combine(self._day, datetime.min.time())
            self._untimed_at = _ms(midnight)
        # In autumn the clock shows an hour twice: this is the second one.
        self._in_second_hour = False
        self._is_timed = False
        # The line before says that AutoMod holds a message.
        self._is_held = False
        self.lacks_day = False

    def read(self, line: str, number: int) -> ChatItem | RemovedText:
        """Return what one line says."""
        mark = _MARK.fullmatch(line)
        if mark is not None:
            self._begin_at(mark)
            return OtherLine("MARK")
        if line.startswith("# "):
            return OtherLine("REMARK")
        if line.startswith(("@", ":")):
            return chat_lines.understand(chat_lines.parse(line), None)
        stamped = _STAMPED.fullmatch(line)
        if stamped is None and self._is_timed:
            return Unparsed()
        if stamped is None:
            return self._untimed(line, number)
        self._is_timed = True
        stamp = _STAMP.fullmatch(stamped["stamp"])
        at = self._moment(stamp) if stamp else 0
        if not at:
            return Unparsed()
        room = (stamped["room"] or "").casefold()
        if room and self._channel and room != self._channel:
            self._is_held = False
            return OtherRoom()
        text = stamped["rest"].strip()
        item = self._item(text, at, number)
        return OtherLine("SYSTEM") if item is None else item

    def _begin_at(self, mark: re.Match[str]) -> None:
        """Take the day and the time of a mark that Chatterino wrote."""
        *numbers, zone = mark.groups()
        try:
            moment = datetime(*map(int, numbers))  # type: ignore[arg-type]  # noqa: DTZ001  # of here
        except ValueError:
            return
        self._day = moment.date()
        self._last = moment
        second_moment = moment.replace(fold=1)
        is_second = second_moment.astimezone().tzname() == zone
        self._in_second_hour = is_second and _is_ambiguous(moment)
        self._untimed_at = _ms(second_moment if self._in_second_hour else moment)

    def _untimed(self, line: str, number: int) -> ChatItem | RemovedText:
        """Return what a line without a time says: it was said after the one before it."""
        if not self._untimed_at:
            return Unparsed()
        self._untimed_at += 1
        item = self._item(line, self._untimed_at, number)
        if item is not None:
            return item
        # Without a time a sentence of the program cannot be told from any other text; only behind
        # a mark it is certain that a program wrote the file.
        if self._last is None:
            return Unparsed()
        return OtherLine("SYSTEM")

    def _moment(self, stamp: re.Match[str]) -> int:
        """Return the time of a line (ms); 0 if there is no such time, or nothing tells its day."""
        year, month, day, *_ = stamp.groups()
        try:
            if year is not None:
                day_in_stamp = date(int(year), int(month), int(day))
                time = _time_of_day(stamp)
                return _ms(datetime.combine(day_in_stamp, time, UTC))
            if self._day is None:
                self.lacks_day = True
                return 0
            local = datetime.combine(self._day, _time_of_day(stamp))
            return _ms(self._placed(local))
        except (ValueError, OverflowError, OSError):
            return 0

    def _placed(self, moment: datetime) -> datetime:
        """Return a time of the computer's clock on its day, and in its hour of the two in autumn.

        A file may go on over midnight and over a change of clocks.
        """
        last = self._last or moment
        day_before = moment - _ONE_DAY
        if last - moment > _NEXT_DAY:
            moment += _ONE_DAY
        elif timedelta() < last - day_before < _BACKWARDS:
            # Out of order, across midnight.
            moment = day_before
        if not _is_ambiguous(moment):
            self._in_second_hour = False
        elif last - moment > _BACKWARDS:
            self._in_second_hour = True
        day = moment.date()
        self._day = max(self._day or day, day)
        self._last = moment
        return moment.replace(fold=int(self._in_second_hour))

    def _item(
        self,
        text: str,
        at: int,
        number: int,
    ) -> ChatItem | RemovedText | None:
        """Return what the words of a line are.

        None for a sentence of the program that takes nothing away.
        """
        line = _CHAT_LINE.fullmatch(text)
        if line is None or not _is_name_of(line["shown"], line["login"]):
            self._is_held = False
            return _taken_away(text, at)
        login = line["login"]
        was_held = self._is_held
        self._is_held = login.casefold() == _HELD_BY and _HELD in line["text"]
        if was_held or self._is_held:
            return OtherLine("HELD")
        return _chat_event(
            f"{at}:{number}",
            provisional_id(login),
            login,
            line["shown"] or login,
            line["text"],
            at,
        )


def _time_of_day(stamp: re.Match[str]) -> datetime_time:
    """Return the time in a timestamp. Raises ValueError if there is no such time."""
    *_, hour, minute, second, thousandths, half = stamp.groups()
    hour_of_day = int(hour)
    if half is not None:
        is_afternoon = half in "pP"
        # 12 am is midnight, 12 pm noon.
        hour_of_day = hour_of_day % 12 + 12 * is_afternoon
    # ".5" is half a second.
    fraction = (thousandths or "0").ljust(3, "0")
    return datetime_time(
        hour_of_day,
        int(minute),
        int(second or 0),
        int(fraction) * 1_000,
    )


def _is_name_of(shown_name: str | None, login: str) -> bool:
    """Return whether a name before a login may be that person's.

    It is the login in other case, or a localized name, which has letters that no login has. Other
    words before a login belong to a sentence of the program.
    """
    if not shown_name:
        return True
    if not shown_name.isascii():
        return True
    return shown_name.casefold() == login.casefold()


def _taken_away(sentence: str, at: int) -> Redaction | RemovedText | None:
    """Return what a sentence of the program says that moderators took away; None for any other."""
    action = _TIMEOUT_OR_BAN.fullmatch(sentence)
    if action is not None:
        verb = action["what"] or action["verb"]
        login = action["first"] or action["second"]
        is_timeout = verb == "timed out"
        return _of_person(at, provisional_id(login), is_timeout=is_timeout)
    if _CLEARED.fullmatch(sentence):
        return Redaction(at)
    removed = _REMOVED.fullmatch(sentence)
    if removed is None:
        return None
    login = removed[1] or removed[2]
    text = clean(removed[3])
    beginning = text.removesuffix("…").rstrip()
    return RemovedText(at, login.casefold(), beginning)


def _of_person(at: int, viewer_id: str, *, is_timeout: bool) -> Redaction:
    """Return that somebody was timed out or banned."""
    # How long a timeout lasts matters to nobody here, only that it is no ban.
    duration_s = 1 if is_timeout else None
    return Redaction(at, user_id=viewer_id, duration_s=duration_s)


def _day_in(name: str) -> date | None:
    """Return the day in a file's name; None if there is none."""
    match = _DAY_IN_NAME.search(name)
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _ms(moment: datetime) -> int:
    """Return a time in ms; one without a zone is the computer's."""
    return int(moment.timestamp() * 1_000)


def _is_ambiguous(moment: datetime) -> bool:
    """Return whether the computer's clock shows this time twice, as in autumn."""
    first = moment.replace(fold=0)
    second = moment.replace(fold=1)
    return first.timestamp() != second.timestamp()


# ── JSON: an object with a list in it, or a list, whose items are read one by one ─────────────


def read_json(
    file: TextIO,
    about: Broadcast,
    is_ended: Callable[[], bool],
) -> Iterator[Record]:
    """Give the records of a JSON file, and fill in what it says `about` the broadcast.

    `is_ended`: whether reading is to end now. Raises CutOffError, UnknownFormError.
    """
    text = _JsonText(file, is_ended)
    if text.takes("["):
        yield from _items(text, _of_chat_downloader)
        return
    text.takes("{")
    keys: set[str] = set()
    try:
        while not text.takes("}"):
            key = text.key()
            keys.add(key)
            if key in _LISTS and text.takes("["):
                yield from _items(text, _LISTS[key])
            elif key == "video":
                about.describe(text.value())
            else:
                text.skip()
            text.takes(",")
    except CutOffError:
        # TwitchDownloader embeds pictures, and may be cut off among them.
        is_known_form = not keys.isdisjoint({*_LISTS, "embeddedData"})
        if not is_known_form:
            raise UnknownFormError from None
        raise
    if keys.isdisjoint(_LISTS):
        raise UnknownFormError


def _items(text: "_JsonText", item_of: Callable[[Any], ChatItem]) -> Iterator[Record]:
    """Give the records of a list, behind whose bracket the text stands. Raises CutOffError."""
    number = 0
    while not text.takes("]"):
        number += 1
        yield Record(number, item_of(text.value()))
        text.takes(",")


_SPACE = re.compile(r"[ \t\r\n]*")
_IN_STRING = re.compile(r'[^"\\]*')
_PLAIN = re.compile(r'[^\s"\[\]{},:]+|[,:]')
_DECODER = json.JSONDecoder()


class _JsonText:
    """A JSON text of any length, read from its beginning to its end.

    The decoder of the standard library needs the whole text; a file may be larger than the memory.
    """

    def __init__(self, file: TextIO, is_ended: Callable[[], bool]) -> None:
        self._file = file
        self._is_ended = is_ended
        # What was read of it and not passed over yet, and the position in that.
        self._text = ""
        self._at = 0

    def _reads_more(self) -> bool:
        """Read on; return False at the end.

        Each time as much again, so that a long value is not looked at too often.
        """
        rest = self._text[self._at :]
        chunk = ""
        if not self._is_ended():
            chunk = self._file.read(max(CHUNK, len(rest)))
        self._text = rest + chunk
        self._at = 0
        return bool(chunk)

    def _next(self) -> str:
        """Return the next character that is no space. Raises CutOffError at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            if space is not None:
                self._at = space.end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._reads_more():
                raise CutOffError

    def takes(self, character: str) -> bool:
        """Pass over this character; return False if it is not the next. Raises CutOffError."""
        if self._next() != character:
            return False
        self._at += 1
        return True

    def key(self) -> str:
        """Read the name of a member, with its colon. Raises CutOffError."""
        name = self.value()
        if not isinstance(name, str) or not self.takes(":"):
            raise CutOffError
        return name

    def value(self) -> object:
        """Read one value; None for one that is broken or too long, which is passed over.

        Raises CutOffError.
        """
        self._next()
        while True:
            value = None
            end = 0
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                break
            except ValueError:
                pass
            # A number or a word that ends where the text does may go on in what is still to be read.
            is_whole = end < len(self._text) or self._text[end - 1] in '"]}'
            if end and is_whole:
                self._at = end
                return value
            is_too_long = len(self._text) - self._at > LONGEST_RECORD
            if is_too_long or not self._reads_more():
                break
        self.skip()
        return None

    def skip(self) -> None:
        """Pass over one value of any length. Raises CutOffError."""
        depth = 0
        while True:
            character = self._next()
            if character == '"':
                self._skip_string()
            elif character in "[{":
                depth += 1
                self._at += 1
            elif character in "]}":
                depth -= 1
                self._at += 1
            else:
                self._skip_plain()
            if depth <= 0:
                return

    def _skip_string(self) -> None:
        self._at += 1
        while True:
            run = _IN_STRING.match(self._text, self._at)
            if run is not None:
                self._at = run.end()
            # A backslash needs what it stands before.
            if self._at + 1 >= len(self._text) and self._text[self._at :] != '"':
                if not self._reads_more():
                    raise CutOffError
            elif self._text[self._at] == '"':
                self._at += 1
                return
            else:
                # A backslash, and what it stands before.
                self._at += 2

    def _skip_plain(self) -> None:
        """Pass over a number or a word; or over one comma or colon."""
        while True:
            run = _PLAIN.match(self._text, self._at)
            if run is None:
                # Nothing that JSON knows.
                self._at += 1
                return
            self._at = run.end()
            is_whole = self._at < len(self._text) or run[0] in ",:"
            if is_whole or not self._reads_more():
                return


def _of_comment(comment: object) -> ChatItem:
    """Return what a comment of TwitchDownloader says."""
    if _value(comment, "state") not in (None, "", "published"):
        return OtherLine("DELETED")
    commenter = _value(comment, "commenter")
    message = _value(comment, "message")
    event = _said(
        key=_text(comment, "_id"),
        viewer_id=_text(commenter, "_id"),
        login=_text(commenter, "name"),
        name=_text(commenter, "display_name"),
        text=_value(message, "body"),
        at=_utc_ms(_value(comment, "created_at")),
    )
    if isinstance(event, Unparsed):
        return event
    badges = _badges(_value(message, "user_badges"), "_id")
    event = replace(event, badges=badges)
    if _value(message, "is_action") is True:
        return replace(event, kind=EventKind.ME)
    return event


def _of_message(message: object) -> ChatItem:
    """Return what a message of justlog says: it has the line as Twitch sent it, or parts of it."""
    raw_line = _value(message, "raw")
    if isinstance(raw_line, str) and raw_line:
        return chat_lines.understand(chat_lines.parse(raw_line), None)
    # 1 is PRIVMSG, a line of chat.
    if _value(message, "type") not in (None, 1):
        return OtherLine("OTHER")
    name = _text(message, "displayName")
    login = _text(message, "username") or name
    tags = _value(message, "tags")
    return _said(
        key=_text(message, "id"),
        viewer_id=_text(tags, "user-id") or provisional_id(login),
        login=login,
        name=name,
        text=_value(message, "text"),
        at=_utc_ms(_value(message, "timestamp")),
    )


def _of_chat_downloader(item: object) -> ChatItem:
    """Return what an item of chat-downloader's list says."""
    at = _ms_of_microseconds(_value(item, "timestamp"))
    kind = _text(item, "message_type")
    if kind == "ban_user":
        login = _text(item, "banned_user")
        viewer_id = _text(item, "target_author_id") or provisional_id(login)
        is_timeout = bool(_value(item, "ban_duration"))
        return _of_person(at, viewer_id, is_timeout=is_timeout)
    if kind == "delete_message":
        return Redaction(at, event_id=_text(item, "target_message_id"))
    if kind == "clear_chat":
        return Redaction(at)
    author = _value(item, "author")
    text = _value(item, "message")
    has_no_text = author is None or text is None
    if isinstance(item, dict) and has_no_text:
        return OtherLine(kind or "text_message")
    login = author if isinstance(author, str) else _text(author, "name")
    made_up_id = provisional_id(login)
    viewer_id = _text(author, "id") or made_up_id
    # It writes chat of YouTube in the same form, where ids are words.
    if not viewer_id.isdecimal() and viewer_id != made_up_id:
        return Unparsed()
    event = _said(
        key=_text(item, "message_id"),
        viewer_id=viewer_id,
        login=login,
        name=_text(author, "display_name"),
        text=text,
        at=at,
    )
    if isinstance(event, Unparsed):
        return event
    badges = _badges(_value(author, "badges"), "name")
    return replace(event, badges=badges)


# By the name of the list that a file holds.
_LISTS: Mapping[str, Callable[[Any], ChatItem]] = {
    "comments": _of_comment,
    "messages": _of_message,
}


def _said(
    *,
    key: str,
    viewer_id: str,
    login: str,
    name: str,
    text: object,
    at: int,
) -> ChatEvent | Unparsed:
    """Return what an item of a JSON file says.

    Unparsed where time, text or person are none that Twitch gives. `key`: the event's id, if it has
    one; `name`: the one that is shown, if it has one; `at`: in ms, 0 for no time.
    """
    if not at or not isinstance(text, str) or not _is_somebody(viewer_id, login):
        return Unparsed()
    event_id = key or f"{at}:{viewer_id}"
    return _chat_event(event_id, viewer_id, login, name or login, text, at)


def _chat_event(
    event_id: str,
    viewer_id: str,
    login: str,
    name: str,
    text: str,
    at: int,
) -> ChatEvent | Unparsed:
    """Return what somebody said, made safe; Unparsed where nothing is left of it. `at`: in ms."""
    safe_text = defang(clean(cut(text, MAX_TEXT)))
    if not safe_text:
        return Unparsed()
    return ChatEvent(
        id=event_id,
        kind=EventKind.MESSAGE,
        user_id=viewer_id,
        login=login.casefold(),
        display_name=defang(clean(name[:LONGEST_NAME])),
        text=safe_text,
        at=at,
    )


def _is_somebody(viewer_id: str, login: str) -> bool:
    """Return whether an id and a login are such as Twitch gives, and of no anonymous gifter."""
    if not login:
        return False
    if is_anonymous(viewer_id, login):
        return False
    return is_login(login) and is_viewer_id(viewer_id)


def _badges(listed: object, key: str) -> frozenset[str]:
    """Return the names of badges; `key`: where each of them has its name."""
    if not isinstance(listed, list):
        return frozenset()
    names = [str(_value(badge, key)) for badge in listed]
    return frozenset(names)


def _value(fields: object, name: str) -> object:
    """Return a member of an object; None if it has none, or is no object."""
    if isinstance(fields, dict):
        return fields.get(name)
    return None


def _text(fields: object, name: str) -> str:
    """Return a member of an object as text; "" if it has none, or is no object."""
    return str(_value(fields, name) or "")


def _ms_of_microseconds(microseconds: object) -> int:
    """Return a time in ms; 0 if it is none."""
    if isinstance(microseconds, int | float) and 0 < microseconds < 1e18:
        return int(microseconds) // 1_000
    return 0


def _utc_ms(text: object) -> int:
    """Return a time in ISO 8601 in ms, by UTC where it names no zone; 0 if it is none."""
    try:
        moment = datetime.fromisoformat(str(text))
        zone = moment.tzinfo or UTC
        return _ms(moment.replace(tzinfo=zone))
    except (ValueError, OverflowError, OSError):
        return 0
