"""Where captions come from: a file that some program writes, or a text source of OBS.

The file may be overwritten with the current caption, appended to or truncated; be plain text or subtitles (SRT, VTT) in
UTF-8 or UTF-16, with or without a byte-order mark; and be missing now and there later. What stands there at the first
look is old and is not read. Where it grows by more than LARGEST bytes between two looks, only its end is read. Looking
blocks, so it belongs in a thread; it raises InputError for what is no file of captions, and never waits for a pipe.

OBS is asked over its own WebSocket server (protocol 5), through simpleobsws, four times a second: it reports a changed
source only since version 30.1, and not what a plugin changes by itself. Raises HearingError.
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
    from simpleobsws import WebSocketClient

LARGEST = 64 * 1024
TAIL = 64
SUBTITLES = frozenset({".srt", ".vtt"})
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Caption(NamedTuple):
    """What a file shows. `ended`: nothing will be added to this line."""

    text: str
    ended: bool


class _State(NamedTuple):
    """A file as it was at a look. `read_to`: bytes, but for half a character; `tail`: the last of them."""

    identity: tuple[int, int]
    changed: int
    size: int
    read_to: int
    tail: bytes


class CaptionFile:
    """One file, which may not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before: _State | None = None
        self._looked = False
        self._line = ""  # the last line that was appended, as far as it goes
        self._after_gap = True  # an empty line stood before it
        self._subtitles = path.suffix.casefold() in SUBTITLES

    def look(self) -> list[Caption]:
        """Return what changed since the last look, in order. Raises InputError."""
        is_first = not self._looked
        self._looked = True
        before = self._before
        try:
            with self._opened() as file:
                about = os.fstat(file.fileno())
                identity = (about.st_dev, about.st_ino)
                if before and before[:3] == (identity, about.st_mtime_ns, about.st_size):
                    return []
                encoding = _encoding(file.read(4))
                start = max(0, about.st_size - LARGEST) & ~1  # UTF-16 has two bytes a character
                file.seek(start)
                data = file.read(LARGEST)
        except FileNotFoundError:
            self._before = None
            return []
        except (OSError, ValueError) as error:  # the second: a path that none can be
            why = getattr(error, "strerror", "") or str(error)
            raise self._unusable("unreadable_file", why) from None
        data = _whole_characters(data, encoding)
        self._before = _State(
            identity, about.st_mtime_ns, about.st_size, start + len(data), data[-TAIL:]
        )
        if is_first:
            self._shown(data.decode(encoding, "replace"))
            return []
        if before is None or before.identity != identity or before.read_to == 0:
            return self._shown(self._decoded(data, encoding))
        if before.read_to < start:  # so much was added that its beginning is not read
            return self._added(self._decoded(data, encoding))
        added = _added_bytes(data, before.read_to - start, before.tail)
        if added is None:
            return self._shown(self._decoded(data, encoding))
        return self._added(self._decoded(added, encoding))

    def _opened(self) -> BinaryIO:
        """Open the file without waiting for a pipe. Raises InputError for what is no file, OSError, ValueError."""
        # the memory itself is not opened beside SQLite: closing it again would take its locks away
        if not stat.S_ISREG(self._path.stat().st_mode) or files.is_open(self._path):
            raise self._unusable("no_captions")
        # without O_NONBLOCK, opening a pipe waits for somebody who writes to it
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(self._path, flags), "rb")

    def _added(self, text: str) -> list[Caption]:
        """Return what was written behind the rest."""
        *lines, self._line = (self._line + text.replace("\r\n", "\n")).split("\n")
        self._line = self._line[-LARGEST:]
        captions = [Caption(line, ended=True) for line in self._spoken("\n".join(lines))]
        if lines:
            self._after_gap = not lines[-1].strip()
        captions += [Caption(line, ended=False) for line in self._spoken(self._line)]
        return captions

    def _shown(self, text: str) -> list[Caption]:
        """Return what stands there instead of what stood there before.

        Lines that are all whole are several; else a program has broken one line to fit its window.
        """
        self._after_gap = True
        lines = self._spoken(text)
        *whole_rows, self._line = text.replace("\r\n", "\n").split("\n")
        self._after_gap = not whole_rows or not whole_rows[-1].strip()
        are_several = not self._line and not self._subtitles
        return [Caption(("\n" if are_several else " ").join(lines), ended=False)]

    def _spoken(self, text: str) -> list[str]:
        self._subtitles = self._subtitles or "-->" in text
        return caption_lines(text, subtitles=self._subtitles, after_gap=self._after_gap)

    def _decoded(self, data: bytes, encoding: str) -> str:
        text = data.decode(encoding, "replace").lstrip("\ufeff")
        odd = sum(char == "\ufffd" or (char < " " and char not in "\t\r\n\f") for char in text)
        if odd > 2 + len(text) // 20:
            raise self._unusable("no_captions")
        return text

    def _unusable(self, code: str, why: str = "") -> InputError:
        return InputError(reason(code, path=str(self._path), why=why))


def _whole_characters(data: bytes, encoding: str) -> bytes:
    """Return the data without a last character of which bytes are still to come."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    decoder.decode(data)
    waiting, _flags = decoder.getstate()
    return data[: len(data) - len(waiting)]


def _added_bytes(data: bytes, read_to: int, tail: bytes) -> bytes | None:
    """Return what stands behind what was read; None if the file was written anew.

    It was if it is shorter, or does not hold the same bytes (`tail`) where reading ended.
    """
    same_as_before = tail[-read_to:] if read_to else b""
    if read_to > len(data) or not data[:read_to].endswith(same_as_before):
        return None
    return data[read_to:]


def _encoding(head: bytes) -> str:
    """By the byte-order mark, else by where the zeros of two ASCII letters stand in UTF-16."""
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    if (
        marked
        or len(head) < 4
        or (head[0] == 0) == (head[1] == 0)
        or (head[0] == 0) != (head[2] == 0)
    ):
        return marked or "utf-8"
    return "utf-16-be" if head[0] == 0 else "utf-16-le"


# OBS.


EVENTS = 64  # of outputs (1 << 6): the protocol's bit
ASK_EVERY_S = 0.25
ANSWER_WITHIN_S = 5.0
WRONG_PASSWORD = 4009  # the code with which OBS closes the connection then
NOT_FOUND = 600
Shown = Callable[[str], None]


@asynccontextmanager
async def _connected(url: str, password: str) -> AsyncIterator["WebSocketClient"]:
    await load_off_the_loop("simpleobsws")
    import simpleobsws
    import websockets

    # both log what they receive: captions must be in no log
    for name in ("simpleobsws", "websockets", "websockets.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    about = simpleobsws.IdentificationParameters(eventSubscriptions=EVENTS)
    client = simpleobsws.WebSocketClient(url, password, about)
    try:
        async with asyncio.timeout(ANSWER_WITHIN_S):
            await client.connect()
            while not client.is_identified():
                if not client.ws_open:
                    wrong = client.ws.close_code == WRONG_PASSWORD
                    raise HearingError(reason("obs_password" if wrong else "obs_away", url=url))
                await asyncio.sleep(0.05)
        yield client
    except (OSError, ValueError, TimeoutError, websockets.exceptions.WebSocketException) as error:
        raise HearingError(reason("obs_away", url=url, why=type(error).__name__)) from None
    except (
        simpleobsws.MessageTimeout,
        simpleobsws.NotIdentifiedError,
        AttributeError,
        KeyError,
        TypeError,
    ):
        # the last three: answers in another form than the protocol's, which simpleobsws hands on unread
        raise HearingError(reason("obs_away", url=url)) from None
    finally:
        if client.recv_task is not None:
            with contextlib.suppress(Exception):
                await client.disconnect()


async def text_sources(url: str, password: str) -> list[str]:
    """The names of OBS's text sources. Raises HearingError."""
    async with _connected(url, password) as client:
        return await _text_sources(client)


async def _text_sources(client: "WebSocketClient") -> list[str]:
    import simpleobsws

    answer = await client.call(simpleobsws.Request("GetInputList"))
    inputs = (answer.responseData or {}).get("inputs", [])
    return [
        str(one.get("inputName"))
        for one in inputs
        if "text" in str(one.get("inputKind", "")).casefold()
    ]


async def follow(
    url: str,
    password: str,
    source: str,
    shown: Shown,
    live: Callable[[bool | None], Awaitable[None]],
) -> None:
    """Report what a text source shows, and when the stream begins or ends. Ends only by raising HearingError.

    `live` is told at once whether OBS streams: True, or None, because the stream may come from another computer.
    `shown` gets the whole text each time it is seen, changed or not.
    """
    async with _connected(url, password) as client:
        import simpleobsws

        async def state(event: object) -> None:
            now = event.get("outputState") if isinstance(event, dict) else None
            if now in ("OBS_WEBSOCKET_OUTPUT_STARTED", "OBS_WEBSOCKET_OUTPUT_STOPPED"):
                await live(now == "OBS_WEBSOCKET_OUTPUT_STARTED")

        client.register_event_callback(state, "StreamStateChanged")
        streams = await client.call(simpleobsws.Request("GetStreamStatus"), timeout=ANSWER_WITHIN_S)
        await live((streams.responseData or {}).get("outputActive") is True or None)
        asking = simpleobsws.Request("GetInputSettings", {"inputName": source})
        while client.ws_open:
            answer = await client.call(asking, timeout=ANSWER_WITHIN_S)
            if answer.requestStatus.code == NOT_FOUND:
                there = ", ".join(await _text_sources(client))
                raise HearingError(reason("obs_no_source", source=source, there=there))
            settings = (answer.responseData or {}).get("inputSettings")
            text = settings.get("text") if isinstance(settings, dict) else None
            shown(text if isinstance(text, str) else "")
            await asyncio.sleep(ASK_EVERY_S)
        raise HearingError(reason("obs_away", url=url))
