"""Reads captions where they come from: a file that some program writes, or a text source of OBS.

The file may be overwritten with the current caption, appended to or truncated; be plain text or
subtitles (SRT, VTT) in UTF-8 or UTF-16, with or without a byte-order mark; and be missing now and
there later. What is in it at the first look is old and is not read. If it grows by more than
MAX_BYTES between two looks, only its end is read. Looking blocks, so it belongs in a thread. It
raises InputError for what is no file of captions, and never waits for a pipe.

OBS is asked over its own WebSocket server (protocol 5), through simpleobsws, four times a second:
it reports a changed source only since version 30.1, and not what a plugin changes by itself.
Raises HearingError.
"""

import asyncio
import codecs
import contextlib
import logging
import os
import re
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from forgetmenot import files
from forgetmenot.errors import HearingError, InputError
from forgetmenot.hearing.captions import caption_lines
from forgetmenot.languages import reason
from forgetmenot.startup import load_off_the_loop

if TYPE_CHECKING:
    from simpleobsws import WebSocketClient

# Bytes that are read of a file at a look.
MAX_BYTES = 64 * 1024
# Bytes by which the place is recognised where the last look ended.
TAIL_BYTES = 64
SUBTITLES = frozenset({".srt", ".vtt"})
# Characters that no text has: what cannot be decoded, and control characters.
_ODD = re.compile(r"[\ufffd\x00-\x08\x0b\x0e-\x1f]")
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Caption(NamedTuple):
    """A text that a file shows. `ended`: nothing will be added to this line."""

    text: str
    ended: bool


class _Content(NamedTuple):
    """The end of a file, from the byte `start` on, without half a character."""

    start: int
    data: bytes
    encoding: str

    @property
    def end(self) -> int:
        """Return the byte at which reading ended."""
        return self.start + len(self.data)


class _Look(NamedTuple):
    """A file as it was at a look: its status, and what was read of it."""

    status: os.stat_result
    read_to: int
    tail: bytes

    def is_of(self, status: os.stat_result) -> bool:
        """Return whether this is still the same file, not another one of its name."""
        return os.path.samestat(self.status, status)

    def is_unchanged(self, status: os.stat_result) -> bool:
        """Return whether the file is still as it was."""
        if not self.is_of(status):
            return False
        if self.status.st_size != status.st_size:
            return False
        return self.status.st_mtime_ns == status.st_mtime_ns


class CaptionFile:
    """One file, which may not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last_look: _Look | None = None
        self._is_first_look = True
        # The last line that was appended, as far as it goes, and whether it follows an empty one.
        self._line = ""
        self._after_gap = True
        self._subtitles = path.suffix.casefold() in SUBTITLES

    def look(self) -> list[Caption]:
        """Return what changed since the last look, in order. Raises InputError."""
        is_first = self._is_first_look
        self._is_first_look = False
        before = self._last_look
        try:
            with self._opened() as file:
                status = os.fstat(file.fileno())
                if before is not None and before.is_unchanged(status):
                    return []
                content = _read_end(file, status.st_size)
        except FileNotFoundError:
            self._last_look = None
            return []
        # ValueError: a path that no file can have.
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "") or str(error)
            raise self._unusable("unreadable_file", why) from None
        tail = content.data[-TAIL_BYTES:]
        self._last_look = _Look(status, content.end, tail)
        if is_first:
            # What is there already is old. It is taken in only so that what is added to its last
            # line is seen as that, and it may be anything: no complaint about it.
            old_text = content.data.decode(content.encoding, "replace")
            self._shown(old_text)
            return []
        added = None
        if before is not None and before.is_of(status):
            added = _added_bytes(content, before)
        if added is None:
            text = self._decoded(content.data, content.encoding)
            return self._shown(text)
        text = self._decoded(added, content.encoding)
        return self._added(text)

    def _opened(self) -> BinaryIO:
        """Open the file without waiting for a pipe.

        Raises InputError for what is no file, OSError and ValueError.
        """
        # The memory itself is not opened beside SQLite: closing it would take its locks away.
        status = self._path.stat()
        is_file = stat.S_ISREG(status.st_mode)
        if not is_file or files.is_open(self._path):
            raise self._unusable("no_captions")
        # A pipe may have taken the file's place since. Without O_NONBLOCK, which Windows lacks,
        # opening one waits for somebody who writes to it.
        no_waiting = getattr(os, "O_NONBLOCK", 0)
        # Without O_BINARY, which only Windows has, \r\n would be read as \n and no size would fit.
        binary = getattr(os, "O_BINARY", 0)
        descriptor = os.open(self._path, os.O_RDONLY | no_waiting | binary)
        return os.fdopen(descriptor, "rb")

    def _added(self, text: str) -> list[Caption]:
        """Return the lines that were written behind the rest."""
        new_text = self._line + text
        whole_rows, line_break, last_row = new_text.rpartition("\n")
        # A program that never breaks a line must not fill the memory.
        self._line = last_row[-MAX_BYTES:]
        captions = []
        for line in self._spoken(whole_rows):
            captions.append(Caption(line, ended=True))
        if line_break:
            self._after_gap = _ends_with_gap(whole_rows)
        for line in self._spoken(self._line):
            captions.append(Caption(line, ended=False))
        return captions

    def _shown(self, text: str) -> list[Caption]:
        """Return what replaced the text before, as one caption.

        If all lines are whole there are several. Else a program has broken one to fit its window.
        """
        self._after_gap = True
        lines = self._spoken(text)
        whole_rows, _, self._line = text.rpartition("\n")
        self._after_gap = _ends_with_gap(whole_rows)
        are_several = not self._line and not self._subtitles
        separator = "\n" if are_several else " "
        caption = separator.join(lines)
        return [Caption(caption, ended=False)]

    def _spoken(self, text: str) -> list[str]:
        """Return the lines of a text without what belongs to subtitles."""
        self._subtitles = self._subtitles or "-->" in text
        return caption_lines(
            text,
            subtitles=self._subtitles,
            after_gap=self._after_gap,
        )

    def _decoded(self, data: bytes, encoding: str) -> str:
        """Return the text of a file. Raises InputError for a file of something else."""
        text = data.decode(encoding, "replace").lstrip("\ufeff")
        odd_count = len(_ODD.findall(text))
        # A few odd characters are a slip of some program.
        limit = 2 + len(text) // 20
        if odd_count > limit:
            raise self._unusable("no_captions")
        return text

    def _unusable(self, code: str, why: str = "") -> InputError:
        path = str(self._path)
        sentence = reason(code, path=path, why=why)
        return InputError(sentence)


def _ends_with_gap(whole_rows: str) -> bool:
    """Return whether the last of these rows is empty; true where there is none."""
    _, _, last_row = whole_rows.rpartition("\n")
    return not last_row.strip()


def _read_end(file: BinaryIO, size: int) -> _Content:
    """Return the end of a file that has so many bytes."""
    encoding = _encoding(file.read(4))
    # Even, because UTF-16 has two bytes a character.
    start = max(0, size - MAX_BYTES) & ~1
    file.seek(start)
    data = file.read(MAX_BYTES)
    whole_data = _whole_characters(data, encoding)
    return _Content(start, whole_data, encoding)


def _whole_characters(data: bytes, encoding: str) -> bytes:
    """Return the data without a last character of which bytes are still to come."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    decoder.decode(data)
    waiting, _flags = decoder.getstate()
    end = len(data) - len(waiting)
    return data[:end]


def _added_bytes(content: _Content, before: _Look) -> bytes | None:
    """Return what stands behind what was read before; None if the file was written anew.

    It was if it is shorter, or does not hold the same bytes (`tail`) where reading ended.
    """
    if before.read_to == 0:
        return None
    # So much was added that its beginning is not read.
    if before.read_to < content.start:
        return content.data
    if before.read_to > content.end:
        return None
    position = before.read_to - content.start
    known_data = content.data[:position]
    # Of the tail only its end may still stand in what is read now.
    tail = before.tail[-position:] if position else b""
    if not known_data.endswith(tail):
        return None
    return content.data[position:]


def _encoding(head: bytes) -> str:
    """Return the encoding of a file by its first four bytes.

    By the byte-order mark, else by where the zeros of two ASCII letters stand in UTF-16.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    if len(head) < 4:
        return "utf-8"
    are_zeros = [byte == 0 for byte in head[:3]]
    if are_zeros == [True, False, True]:
        return "utf-16-be"
    if are_zeros == [False, True, False]:
        return "utf-16-le"
    return "utf-8"


# ── OBS ─────────────────────────────────────────────────────────────────────────────────────

# The protocol's bit for events of outputs.
OUTPUT_EVENTS = 1 << 6
ASK_EVERY_S = 0.25
ANSWER_WITHIN_S = 5.0
# The code with which OBS closes the connection, and the one for a source that does not exist.
WRONG_PASSWORD = 4009
NOT_FOUND = 600
# OBS also reports that it is starting, or lost its connection for a moment: that changes nothing.
_IS_LIVE = {
    "OBS_WEBSOCKET_OUTPUT_STARTED": True,
    "OBS_WEBSOCKET_OUTPUT_STOPPED": False,
}


@asynccontextmanager
async def _connected(url: str, password: str) -> AsyncIterator["WebSocketClient"]:
    """Connect to OBS for the block. Raises HearingError."""
    await load_off_the_loop("simpleobsws")
    import simpleobsws
    import websockets

    # Both log what they receive, and captions must be in no log.
    for name in ("simpleobsws", "websockets", "websockets.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    parameters = simpleobsws.IdentificationParameters(eventSubscriptions=OUTPUT_EVENTS)
    client = simpleobsws.WebSocketClient(url, password, parameters)
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            await client.connect()
            # Not simpleobsws' own wait: it waits on where OBS has closed for a wrong password.
            while not client.is_identified():
                if not client.ws_open:
                    raise _closed(client, url)
                await asyncio.sleep(0.05)
        yield client
    except (
        OSError,
        ValueError,
        TimeoutError,
        websockets.exceptions.WebSocketException,
    ) as error:
        kind = type(error).__name__
        raise HearingError(reason("obs_away", url=url, why=kind)) from None
    except (simpleobsws.MessageTimeout, simpleobsws.NotIdentifiedError):
        raise HearingError(reason("obs_away", url=url)) from None
    # Answers in another form than the protocol's, which simpleobsws hands on unread.
    except (AttributeError, KeyError, TypeError):
        raise HearingError(reason("obs_away", url=url)) from None
    finally:
        if client.recv_task is not None:
            with contextlib.suppress(Exception):
                await client.disconnect()


def _closed(client: "WebSocketClient", url: str) -> HearingError:
    """Return why OBS has closed the connection before it took the password."""
    if client.ws.close_code == WRONG_PASSWORD:
        return HearingError(reason("obs_password", url=url))
    return HearingError(reason("obs_away", url=url))


class _Answer(NamedTuple):
    """What OBS answered to a request."""

    code: int
    data: dict[str, Any]


async def _ask(
    client: "WebSocketClient",
    request_type: str,
    **parameters: str,
) -> _Answer:
    """Return OBS's answer. Raises what `_connected` translates, and CancelledError."""
    import simpleobsws

    request = simpleobsws.Request(request_type, parameters or None)
    answer = await client.call(request, timeout=ANSWER_WITHIN_S)
    _end_if_cancelled()
    return _Answer(answer.requestStatus.code, answer.responseData or {})


def _end_if_cancelled() -> None:
    """Raise CancelledError if somebody wants this task to end.

    simpleobsws waits with wait_for, which before Python 3.12 loses a cancellation that comes with an answer or an
    error: the bot would never end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def text_sources(url: str, password: str) -> list[str]:
    """Return the names of OBS's text sources. Raises HearingError."""
    async with _connected(url, password) as client:
        return await _text_sources(client)


async def _text_sources(client: "WebSocketClient") -> list[str]:
    answer = await _ask(client, "GetInputList")
    names = []
    for source in answer.data.get("inputs", []):
        # The kind of a text source has another name on each system.
        kind = str(source.get("inputKind", ""))
        name = str(source.get("inputName"))
        if "text" in kind.casefold():
            names.append(name)
    return names


async def follow(
    url: str,
    password: str,
    source: str,
    on_text: Callable[[str], None],
    on_live: Callable[[bool | None], Awaitable[None]],
) -> None:
    """Report what a text source shows, and when the stream begins or ends.

    Ends only by raising HearingError. `on_live` is called at once with whether OBS streams: True, or
    None, because the stream may come from another computer. `on_text` gets the whole text each time
    it is seen, changed or not.
    """
    try:
        await _follow_connection(url, password, source, on_text, on_live)
    except HearingError:
        # The caller connects again after an error, and a task that is to end would go on.
        _end_if_cancelled()
        raise


async def _follow_connection(
    url: str,
    password: str,
    source: str,
    on_text: Callable[[str], None],
    on_live: Callable[[bool | None], Awaitable[None]],
) -> None:
    """Follow one connection, as `follow` says."""

    async def stream_changed(event: object) -> None:
        if not isinstance(event, dict):
            return
        state = str(event.get("outputState"))
        is_live = _IS_LIVE.get(state)
        if is_live is not None:
            await on_live(is_live)

    async with _connected(url, password) as client:
        # Before the first question, so that no change falls between the two.
        client.register_event_callback(stream_changed, "StreamStateChanged")
        status = await _ask(client, "GetStreamStatus")
        is_streaming = status.data.get("outputActive") is True
        await on_live(is_streaming or None)
        while client.ws_open:
            answer = await _ask(client, "GetInputSettings", inputName=source)
            if answer.code == NOT_FOUND:
                existing = ", ".join(await _text_sources(client))
                raise HearingError(
                    reason("obs_no_source", source=source, there=existing)
                )
            on_text(_text_of(answer.data))
            await asyncio.sleep(ASK_EVERY_S)
        raise HearingError(reason("obs_away", url=url))


def _text_of(data: dict[str, Any]) -> str:
    """Return the text in the settings of a text source; "" if it has none."""
    settings = data.get("inputSettings")
    if not isinstance(settings, dict):
        return ""
    text = settings.get("text", "")
    return text if isinstance(text, str) else ""
