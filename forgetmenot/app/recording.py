"""Reads recorded chat: raw IRC lines, CSV (sender,date in ms,message) or JSON lines. One item per line, whatever it is.

JSON lines: {"login", "text", "at" (ms or ISO 8601), "id"?, "user_id"?, "display_name"?, "badges"?}. Where a line has no
id it gets one made from its content and position, so that the same file read twice is the same lines twice. Where it
has no user id, its login is a provisional one; a sender that is no login ("bob the builder") gets one made from it. A
line that cannot be read is `Unparsed`; nothing here raises for it.
"""

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from forgetmenot.chat.router import Heard
from forgetmenot.clock import parse_iso
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.errors import InputError
from forgetmenot.text.mentions import defang, is_id, provisional
from forgetmenot.text_files import open_text
from forgetmenot.twitch.chat_lines import Other as OtherLine
from forgetmenot.twitch.chat_lines import Ping, Pong, Reconnect, Unparsed, Welcome, safe_text, understand
from forgetmenot.twitch.irc import parse

FORMATS = ("irc", "csv", "jsonl")
_CSV_COLUMNS = 3
LONGEST_LINE = 1 << 20
csv.field_size_limit(LONGEST_LINE)  # a line of any length is a line
_LOGIN = re.compile(r"[a-z0-9_]{1,25}")
_LAST_MOMENT = 4_102_444_800_000  # 2100-01-01: a later "time" is not one


def read_recording(path: Path, kind: str) -> Iterator[Heard]:
    """What the file holds, in its order. Raises InputError if there is no such file or it is not text."""
    try:
        with open_text(path, errors="replace", newline="") as file:  # an odd byte costs no line
            yield from {"irc": _irc, "csv": _csv, "jsonl": _jsonl}[kind](_lines(file))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def _lines(file: TextIO) -> Iterator[str]:
    """Its lines; of one that is longer than any line of chat, the beginning."""
    while line := file.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith("\n"):
            rest = file.readline(LONGEST_LINE)
        yield line


def _irc(lines: Iterator[str]) -> Iterator[Heard]:
    for line in lines:
        if not line.strip():
            continue
        item = understand(parse(line), None)
        yield OtherLine(type(item).__name__) if isinstance(item, Ping | Pong | Reconnect | Welcome) else item


def _csv(lines: Iterator[str]) -> Iterator[Heard]:
    for position, line in enumerate(lines):
        row = next(csv.reader([line.replace("\0", "")]))  # each by itself: a quotation mark ends with its line
        if position == 0 and row[:2] == ["sender", "date"]:
            continue
        yield _csv_row(position, row)


def _csv_row(position: int, row: list[str]) -> Heard:
    if len(row) != _CSV_COLUMNS:
        return Unparsed()
    sender, date, message = (part.strip() for part in row)
    if not sender or not re.fullmatch(r"[0-9]{1,13}", date) or int(date) > _LAST_MOMENT:
        return Unparsed()
    return _event(sender, message, int(date), _made_id(position, sender, date, message))


def _jsonl(lines: Iterator[str]) -> Iterator[Heard]:
    for position, line in enumerate(lines):
        if line.strip():
            yield _json_line(position, line)


def _json_line(position: int, line: str) -> Heard:
    try:
        told = json.loads(line)
        json.dumps(told, ensure_ascii=False).encode()  # half a character ("\ud800") is no text: UnicodeError
        login, text, at = str(told["login"]), str(told["text"]), told["at"]
        moment = at if isinstance(at, int) else parse_iso(str(at))
        if not login or not 0 <= moment <= _LAST_MOMENT:
            return Unparsed()
        made = _made_id(position, login, str(moment), text)
        event = _event(login, text, moment, str(told.get("id") or made))
        user_id = str(told.get("user_id") or event.user_id)
        if not is_id(user_id):
            return Unparsed()
        badges = frozenset(str(badge) for badge in told.get("badges", ()))
        name = defang(str(told.get("display_name") or login))
        return ChatEvent(
            event.id,
            event.kind,
            user_id,
            event.login,
            name,
            event.text,
            moment,
            badges=badges,
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return Unparsed()


def _event(sender: str, message: str, at: int, event_id: str) -> ChatEvent:
    login = _login(sender)
    return ChatEvent(event_id, EventKind.MESSAGE, provisional(login), login, defang(sender), safe_text(message), at)


def _login(sender: str) -> str:
    """The sender as a login: as it is, or made of its hash, the same for the same sender."""
    login = sender.casefold()
    if _LOGIN.fullmatch(login):
        return login
    return "made_" + hashlib.sha256(login.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _made_id(position: int, *content: str) -> str:
    return hashlib.sha256("\x1f".join((str(position), *content)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
