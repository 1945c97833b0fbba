"""Reads the chat of past streams from files that other programs wrote, line by line, in bounded memory.

- TwitchDownloader's JSON of a broadcast: with the people's Twitch IDs, the stream's title and its video
- Chatterino's logs (`[20:15:03]  alice: hi`, the day in the file's first line or its name) and justlog's
  (`[2026-05-01 20:15:03] #channel alice: hi`)
- raw IRC lines with Twitch's tags

A file is of the format that its first line shows. What cannot be read, was said by a name that nobody can have, or is
dated later than `until` is left out and named by the number of its line. A file of no known format raises InputError.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, TextIO

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.errors import InputError
from forgetmenot.files import lines_of, open_text
from forgetmenot.languages import reason
from forgetmenot.memory.stream_tracker import STREAM_GAP
from forgetmenot.text.clean import clean, cut
from forgetmenot.text.mentions import defang, is_id, is_login, provisional
from forgetmenot.twitch import chat_lines

CHUNK = 256 * 1024
# Characters of one comment of a JSON file, or of what stands before the first: more is no such file.
LONGEST_RECORD = 2 * 1024 * 1024
LONGEST_LINE = 20_000
MOST_CHARACTERS = 500
# Lines that could not be read and are named by their number.
BAD_NAMED = 20
_TYPED = re.compile(r"\[(\d{4}-\d\d-\d\d )?(\d\d:\d\d:\d\d)\]\s+(?:#\w+ )?(\w{1,25}): (.+)")
_CHATTERINO_DAY = re.compile(r"# Start logging at (\d{4}-\d\d-\d\d)")
_DAY_IN_NAME = re.compile(r"(\d{4}-\d\d-\d\d)")
_COMMENTS = re.compile(r'"comments"\s*:\s*\[')


class PastChat(Struct):
    """One file: its lines as events, read once, and what is known when they are read.

    `until`: nothing was said later (ms). `bad_lines`: the numbers of the first lines that could not be read. `ended`:
    once it is set, reading ends at the next line. `size`: of the texts, in bytes. `key`: the file by its lines, so that
    a copy with another name is the same file.
    """

    path: Path
    until: int
    title: str = ""
    video: int = 0
    began_at: int = 0
    bad_lines: list[int] = field(default_factory=list)
    ended: bool = False
    lines: int = 0
    streams: int = 0
    first_at: int = 0
    last_at: int = 0
    size: int = 0
    key: str = ""

    def events(self) -> Iterator[ChatEvent]:
        """The lines of chat in the file's order. Raises InputError for a file of no known format."""
        if self.path.exists() and not self.path.is_file():  # a pipe, or a device that never ends
            raise InputError(reason("unreadable_file", path=self.path.name, why=reason("no_file")))
        try:
            # whoever wrote it may have been killed in the middle of a character
            with open_text(self.path, errors="replace") as file:
                first = file.read(1)
                digest = blake2b(digest_size=12)
                for event in self._json(file, first) if first == "{" else self._log(file, first):
                    said = event.text.encode()
                    digest.update(event.id.encode() + said)
                    self.lines, self.size = self.lines + 1, self.size + len(said) + 8
                    self.streams += event.at - self.last_at >= STREAM_GAP
                    self.first_at, self.last_at = self.first_at or event.at, event.at
                    yield event
                self.key = digest.hexdigest()
        except OSError as error:
            raise InputError(
                reason("unreadable_file", path=self.path.name, why=error.strerror or "")
            ) from None

    def _set_aside(self, number: int) -> None:
        if len(self.bad_lines) < BAD_NAMED:
            self.bad_lines.append(number)

    # ── logs: one line each ──────────────────────────────────────────────────────────────────

    def _log(self, file: TextIO, first: str) -> Iterator[ChatEvent]:
        day = (_DAY_IN_NAME.search(self.path.stem) or [""])[0]
        found = 0
        for number, rest in enumerate(lines_of(file, LONGEST_LINE), 1):
            if self.ended:
                return
            line = f"{first if number == 1 else ''}{rest}".strip("\r\n")
            if marked := _CHATTERINO_DAY.match(line):
                day = marked[1]
            if not line.strip() or line.startswith("#"):
                continue
            event = self._of_line(line, day, number)
            if event is None or not self._said(event):
                self._set_aside(number)
                if not found and number > 200:
                    raise InputError(reason("past_format", path=self.path.name))
            else:
                found += 1
                yield event
        if not found and not self.ended:
            raise InputError(reason("past_format", path=self.path.name))

    def _of_line(self, line: str, day: str, number: int) -> ChatEvent | None:
        if line.startswith(("@", ":")):
            found = chat_lines.understand(chat_lines.parse(line), None)
            return found if isinstance(found, ChatEvent) else None
        match = _TYPED.fullmatch(line)
        at = _moment(f"{(match[1] or day).strip()} {match[2]}", of_here=True) if match else 0
        if match is None or not at:
            return None
        return self._event(
            f"{at}:{number}", provisional(match[3]), match[3], match[3], match[4], at
        )

    # ── TwitchDownloader's JSON: an object whose comments are read one by one ────────────────

    def _json(self, file: TextIO, first: str) -> Iterator[ChatEvent]:
        text = first
        while not (start := _COMMENTS.search(text)):
            more = file.read(CHUNK)
            text += more
            if not more or len(text) > LONGEST_RECORD:
                raise InputError(reason("past_format", path=self.path.name))
        self._head(text[: start.start()])
        rest, number, decoder = text[start.end() :], 0, json.JSONDecoder()
        while not self.ended:
            rest = rest.lstrip(" \t\r\n,")
            if rest.startswith("]"):
                return
            try:
                comment, end = decoder.raw_decode(rest)
            except (ValueError, RecursionError):
                more = file.read(CHUNK)
                rest += more
                if (
                    not more or len(rest) > LONGEST_RECORD
                ):  # cut off, or broken: what came before is good
                    self._set_aside(number + 1)
                    return
                continue
            number, rest = number + 1, rest[end:]
            event = self._of_comment(comment)
            if event is None or not self._said(event):
                self._set_aside(number)
            else:
                yield event

    def _said(self, event: ChatEvent) -> bool:
        return 0 < event.at <= self.until and bool(event.login) and is_login(event.login)

    def _head(self, text: str) -> None:
        """The video, which stands before the comments. Older files lack parts of it."""
        try:
            about = json.loads(f"{text.rstrip().rstrip(',')}}}")
        except (ValueError, RecursionError):
            return
        video = _object(about, "video")
        self.title = clean(str(video.get("title") or "")[:200])
        number = str(video.get("id") or "")
        self.video = int(number) if re.fullmatch(r"[0-9]{1,15}", number) else 0
        self.began_at = _moment(video.get("created_at"))

    def _of_comment(self, comment: object) -> ChatEvent | None:
        who, message = _object(comment, "commenter"), _object(comment, "message")
        at, name = _moment(_value(comment, "created_at")), str(who.get("name") or "")
        viewer_id, key = str(who.get("_id") or ""), str(_value(comment, "_id") or "")
        text = message.get("body")
        if not (
            at
            and viewer_id
            and is_id(viewer_id)
            and name
            and is_login(name)
            and isinstance(text, str)
        ):
            return None
        listed = message.get("user_badges")
        badges = (
            (one.get("_id") for one in listed if isinstance(one, dict))
            if isinstance(listed, list)
            else ()
        )
        shown = str(who.get("display_name") or name)
        event = self._event(key or f"{at}:{viewer_id}", viewer_id, name, shown, text, at)
        return event and replace(event, badges=frozenset(map(str, badges)))

    @staticmethod
    def _event(
        key: str, viewer_id: str, login: str, name: str, text: str, at: int
    ) -> ChatEvent | None:
        text, name, login = (
            defang(clean(cut(text, MOST_CHARACTERS))),
            defang(clean(name[:60])),
            login.casefold(),
        )
        return (
            ChatEvent(f"past:{key}", EventKind.MESSAGE, viewer_id, login, name, text, at)
            if text
            else None
        )


def _value(holder: object, name: str) -> object:
    return holder.get(name) if isinstance(holder, dict) else None


def _object(holder: object, name: str) -> dict[str, Any]:
    value = _value(holder, name)
    return value if isinstance(value, dict) else {}


def _moment(text: object, *, of_here: bool = False) -> int:
    """A time in ms; 0 for none. `of_here`: by this computer's clock, where it names no zone; else UTC."""
    try:
        moment = datetime.fromisoformat(str(text))
        zone = moment.tzinfo or (None if of_here else UTC)
        return int(moment.replace(tzinfo=zone).timestamp() * 1_000)
    except (ValueError, OverflowError, OSError):
        return 0
