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
from typing import TYPE_CHECKING, NamedTuple

from forgetmenot.errors import HearingError, InputError
from forgetmenot.hearing.captions import caption_lines
from forgetmenot.languages import reason
from forgetmenot.startup import load_off_the_loop

if TYPE_CHECKING:
    from simpleobsws import WebSocketClient

LARGEST = 64 * 1024
TAIL = 64
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
    identity: tuple[int, int]
    changed: int
    size: int
    tail: bytes


class CaptionFile:
    """One file, which may not exist yet."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before: _State | None = None
        self._looked = False
        self._line = ""  # the last line that was appended, as far as it goes

    def look(self) -> list[Caption]:
        """What changed since the last look, in order. Raises InputError."""
        first, self._looked = not self._looked, True
        try:
            if not stat.S_ISREG(self._path.stat().st_mode):
                raise self._unusable("no_captions")
            # without O_NONBLOCK, opening a pipe waits for somebody who writes to it
            handle = os.open(
                self._path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            )
            with os.fdopen(handle, "rb") as file:
                about = os.fstat(handle)
                before, size = self._before, about.st_size
                identity = (about.st_dev, about.st_ino)
                if before and (before.identity, before.changed, before.size) == (
                    identity,
                    about.st_mtime_ns,
                    size,
                ):
                    return []
                encoding = _encoding(file.read(4))
                start = max(0, size - LARGEST) & ~1  # UTF-16 has two bytes a character
                file.seek(start)
                data = file.read(LARGEST)
        except FileNotFoundError:
            self._before = None
            return []
        except (OSError, ValueError) as error:  # the second: a path that none can be
            raise self._unusable(
                "unreadable_file", getattr(error, "strerror", "") or str(error)
            ) from None
        self._before = _State(identity, about.st_mtime_ns, start + len(data), data[-TAIL:])
        if first:
            self._shown(data.decode(encoding, "replace"))
            return []
        at = (
            before.size - start
            if before and before.identity == identity and 0 < before.size < size
            else -1
        )
        if (
            before
            and at >= 0
            and data[max(0, at - TAIL) : at] != before.tail[-at:]
            and data[:at] != before.tail
        ):
            at = -1  # longer, but not with the same beginning: it was written anew
        grown = before is not None and before.identity == identity and 0 < before.size < start
        text = self._decoded(data[at:] if at >= 0 else data, encoding)
        return self._added(text) if at >= 0 or grown else self._shown(text)

    def _added(self, text: str) -> list[Caption]:
        """What was written behind the rest."""
        *lines, self._line = (self._line + text.replace("\r\n", "\n")).split("\n")
        self._line = self._line[-LARGEST:]
        ended = [Caption(line, ended=True) for line in caption_lines("\n".join(lines))]
        return ended + [Caption(line, ended=False) for line in caption_lines(self._line)]

    def _shown(self, text: str) -> list[Caption]:
        """What stands there instead of what stood there before."""
        lines = caption_lines(text)
        self._line = "" if text.endswith("\n") or not lines else lines[-1]
        return [Caption(" ".join(lines), ended=False)]

    def _decoded(self, data: bytes, encoding: str) -> str:
        text = data.decode(encoding, "replace").lstrip("\ufeff")
        odd = sum(char == "\ufffd" or (char < " " and char not in "\t\r\n\f") for char in text)
        if odd > 2 + len(text) // 20:
            raise self._unusable("no_captions")
        return text

    def _unusable(self, code: str, why: str = "") -> InputError:
        return InputError(reason(code, path=str(self._path), why=why))


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
