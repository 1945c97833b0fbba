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
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from forgetmenot import files
from forgetmenot.errors import HearingError, InputError
from forgetmenot.hearing.captions import caption_lines
from forgetmenot.languages import reason
from forgetmenot.startup import load_off_the_loop

if TYPE_CHECKING:
    from simpleobsws import Request, RequestResponse, WebSocketClient

# Bytes that are read of a file at a look.
MAX_BYTES = 64 * 1024
# Bytes by which the place is recognised where the last look ended.
TAIL_BYTES = 64
SUBTITLES = frozenset({".srt", ".vtt"})
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Caption(NamedTuple):
    """A text that a file shows. `ended`: nothing will be added to this line."""

    text: str
    ended: bool


class _State(NamedTuple):
    """A file as it was at a look."""

    # device and number of the file
    identity: tuple[int, int]
    changed_ns: int
    size: int
    # the bytes that were read, without half a character, and the last of them
    read_to: int
    tail: bytes

    def is_unchanged(self, status: os.stat_result) -> bool:
        """Return whether the file is still as it was."""
        if self.identity != (status.st_dev, status.st_ino):
            return False
        return self.changed_ns == status.st_mtime_ns and self.size == status.st_size


class CaptionFile:
    """One file, which may not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last_state: _State | None = None
        self._is_first_look = True
        # The last line that was appended, as far as it goes, and whether it follows an empty one.
        self._line = ""
        self._after_gap = True
        self._subtitles = path.suffix.casefold() in SUBTITLES

    def look(self) -> list[Caption]:
        """Return what changed since the last look, in order. Raises InputError."""
        is_first = self._is_first_look
        self._is_first_look = False
        before = self._last_state
        try:
            with self._opened() as file:
                status = os.fstat(file.fileno())
                if before is not None and before.is_unchanged(status):
                    return []
                encoding = _encoding(file.read(4))
                # Even, because UTF-16 has two bytes a character.
                start = max(0, status.st_size - MAX_BYTES) & ~1
                file.seek(start)
                data = _whole_characters(file.read(MAX_BYTES), encoding)
        except FileNotFoundError:
            self._last_state = None
            return []
        # ValueError: a path that no file can have.
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "") or str(error)
            raise self._unusable("unreadable_file", why) from None
        identity = (status.st_dev, status.st_ino)
        self._last_state = _State(
            identity,
            status.st_mtime_ns,
            status.st_size,
            read_to=start + len(data),
            tail=data[-TAIL_BYTES:],
        )
        if is_first:
            # What is there already is old, and is not read.
            self._shown(data.decode(encoding, "replace"))
            return []
        if before is None or before.identity != identity or before.read_to == 0:
            return self._shown(self._decoded(data, encoding))
        # So much was added that its beginning is not read.
        if before.read_to < start:
            return self._added(self._decoded(data, encoding))
        added = _added_bytes(data, before.read_to - start, before.tail)
        if added is None:
            return self._shown(self._decoded(data, encoding))
        return self._added(self._decoded(added, encoding))

    def _opened(self) -> BinaryIO:
        """Open the file without waiting for a pipe.

        Raises InputError for what is no file, OSError and ValueError.
        """
        # The memory itself is not opened beside SQLite: closing it would take its locks away.
        is_file = stat.S_ISREG(self._path.stat().st_mode)
        if not is_file or files.is_open(self._path):
            raise self._unusable("no_captions")
        # Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(self._path, flags), "rb")

    def _added(self, text: str) -> list[Caption]:
        """Return the lines that were written behind the rest."""
        new_text = self._line + text.replace("\r\n", "\n")
        *whole_rows, self._line = new_text.split("\n")
        self._line = self._line[-MAX_BYTES:]
        captions = []
        for line in self._spoken("\n".join(whole_rows)):
            captions.append(Caption(line, ended=True))
        if whole_rows:
            self._after_gap = not whole_rows[-1].strip()
        for line in self._spoken(self._line):
            captions.append(Caption(line, ended=False))
        return captions

    def _shown(self, text: str) -> list[Caption]:
        """Return what replaced the text before, as one caption.

        If all lines are whole there are several. Else a program has broken one to fit its window.
        """
        self._after_gap = True
        lines = self._spoken(text)
        *whole_rows, self._line = text.replace("\r\n", "\n").split("\n")
        self._after_gap = not whole_rows or not whole_rows[-1].strip()
        are_several = not self._line and not self._subtitles
        separator = "\n" if are_several else " "
        return [Caption(separator.join(lines), ended=False)]

    def _spoken(self, text: str) -> list[str]:
        """Return the lines of a text without what belongs to subtitles."""
        self._subtitles = self._subtitles or "-->" in text
        return caption_lines(text, subtitles=self._subtitles, after_gap=self._after_gap)

    def _decoded(self, data: bytes, encoding: str) -> str:
        """Return the text of a file. Raises InputError for a file of something else."""
        text = data.decode(encoding, "replace").lstrip("\ufeff")
        odd_count = sum(_is_odd(char) for char in text)
        # A few odd characters are a slip of some program.
        if odd_count > 2 + len(text) // 20:
            raise self._unusable("no_captions")
        return text

    def _unusable(self, code: str, why: str = "") -> InputError:
        return InputError(reason(code, path=str(self._path), why=why))


def _is_odd(char: str) -> bool:
    """Return whether a character shows that a file is no text."""
    return char == "\ufffd" or (char < " " and char not in "\t\r\n\f")


def _whole_characters(data: bytes, encoding: str) -> bytes:
    """Return the data without a last character of which bytes are still to come."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    decoder.decode(data)
    waiting, _flags = decoder.getstate()
    return data[: len(data) - len(waiting)]


def _added_bytes(
    data: bytes,
    read_to: int,
    tail: bytes,
) -> bytes | None:
    """Return what stands behind what was read; None if the file was written anew.

    It was if it is shorter, or does not hold the same bytes (`tail`) where reading ended.
    """
    same_as_before = tail[-read_to:] if read_to else b""
    if read_to > len(data) or not data[:read_to].endswith(same_as_before):
        return None
    return data[read_to:]


def _encoding(head: bytes) -> str:
    """Return the encoding of a file by its first four bytes.

    By the byte-order mark, else by where the zeros of two ASCII letters stand in UTF-16.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    if len(head) < 4:
        return "utf-8"
    zeros = [byte == 0 for byte in head]
    if zeros[:3] == [True, False, True]:
        return "utf-16-be"
    if zeros[:3] == [False, True, False]:
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
_STREAM_STARTED = "OBS_WEBSOCKET_OUTPUT_STARTED"
_STREAM_STOPPED = "OBS_WEBSOCKET_OUTPUT_STOPPED"


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
            while not client.is_identified():
                if not client.ws_open:
                    is_wrong_password = client.ws.close_code == WRONG_PASSWORD
                    code = "obs_password" if is_wrong_password else "obs_away"
                    raise HearingError(reason(code, url=url))
                await asyncio.sleep(0.05)
        yield client
    except (
        OSError,
        ValueError,
        TimeoutError,
        websockets.exceptions.WebSocketException,
    ) as error:
        raise HearingError(
            reason("obs_away", url=url, why=type(error).__name__)
        ) from None
    except (simpleobsws.MessageTimeout, simpleobsws.NotIdentifiedError):
        raise HearingError(reason("obs_away", url=url)) from None
    # Answers in another form than the protocol's, which simpleobsws hands on unread.
    except (AttributeError, KeyError, TypeError):
        raise HearingError(reason("obs_away", url=url)) from None
    finally:
        if client.recv_task is not None:
            with contextlib.suppress(Exception):
                await client.disconnect()


async def _ask(client: "WebSocketClient", request: "Request") -> "RequestResponse":
    """Return OBS's answer. Raises what `_connected` translates, and CancelledError."""
    answer = await client.call(request, timeout=ANSWER_WITHIN_S)
    # simpleobsws waits with wait_for, which before Python 3.12 loses a cancellation that comes with the answer: the
    # bot would never end
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    return answer


async def text_sources(url: str, password: str) -> list[str]:
    """Return the names of OBS's text sources. Raises HearingError."""
    async with _connected(url, password) as client:
        return await _text_sources(client)


async def _text_sources(client: "WebSocketClient") -> list[str]:
    import simpleobsws

    answer = await _ask(client, simpleobsws.Request("GetInputList"))
    inputs = (answer.responseData or {}).get("inputs", [])
    names = []
    for source in inputs:
        # The kind of a text source has another name on each system.
        kind = str(source.get("inputKind", "")).casefold()
        if "text" in kind:
            names.append(str(source.get("inputName")))
    return names


async def follow(
    url: str,
    password: str,
    source: str,
    shown: Callable[[str], None],
    live: Callable[[bool | None], Awaitable[None]],
) -> None:
    """Report what a text source shows, and when the stream begins or ends.

    Ends only by raising HearingError. `live` is called at once with whether OBS streams: True, or
    None, because the stream may come from another computer. `shown` gets the whole text each time
    it is seen, changed or not.
    """
    async with _connected(url, password) as client:
        import simpleobsws

        async def stream_changed(event: object) -> None:
            state = event.get("outputState") if isinstance(event, dict) else None
            if state in (_STREAM_STARTED, _STREAM_STOPPED):
                await live(state == _STREAM_STARTED)

        client.register_event_callback(stream_changed, "StreamStateChanged")
        status = await _ask(client, simpleobsws.Request("GetStreamStatus"))
        is_streaming = (status.responseData or {}).get("outputActive") is True
        await live(is_streaming or None)
        request = simpleobsws.Request("GetInputSettings", {"inputName": source})
        while client.ws_open:
            answer = await _ask(client, request)
            if answer.requestStatus.code == NOT_FOUND:
                existing = ", ".join(await _text_sources(client))
                raise HearingError(
                    reason("obs_no_source", source=source, there=existing)
                )
            settings = (answer.responseData or {}).get("inputSettings")
            text = settings.get("text") if isinstance(settings, dict) else None
            shown(text if isinstance(text, str) else "")
            await asyncio.sleep(ASK_EVERY_S)
        raise HearingError(reason("obs_away", url=url))
