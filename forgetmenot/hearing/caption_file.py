"""Follows a file of captions, whichever way a program writes it. Blocking: call it in a thread.

- overwritten with the current caption, appended to, truncated; plain text or subtitles (SRT, VTT)
- UTF-8 or UTF-16, with or without a byte-order mark
- missing now and there later

What stands there at the first look is old and is not read. Where a file grows by more than LARGEST bytes between two
looks, only its end is read. Raises InputError for what is no file of captions, and never waits for a pipe.
"""

import codecs
import os
import stat
from pathlib import Path
from typing import NamedTuple

from forgetmenot.errors import InputError
from forgetmenot.hearing.captions import caption_lines
from forgetmenot.languages import reason

LARGEST = 64 * 1024
TAIL = 64
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


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
            handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
            with os.fdopen(handle, "rb") as file:
                about = os.fstat(handle)
                before, size = self._before, about.st_size
                identity = (about.st_dev, about.st_ino)
                if before and (before.identity, before.changed, before.size) == (identity, about.st_mtime_ns, size):
                    return []
                encoding = _encoding(file.read(4))
                start = max(0, size - LARGEST) & ~1  # UTF-16 has two bytes a character
                file.seek(start)
                data = file.read(LARGEST)
        except FileNotFoundError:
            self._before = None
            return []
        except (OSError, ValueError) as error:  # the second: a path that none can be
            raise self._unusable("unreadable_file", getattr(error, "strerror", "") or str(error)) from None
        self._before = _State(identity, about.st_mtime_ns, start + len(data), data[-TAIL:])
        if first:
            self._shown(data.decode(encoding, "replace"))
            return []
        at = before.size - start if before and before.identity == identity and 0 < before.size < size else -1
        if before and at >= 0 and data[max(0, at - TAIL) : at] != before.tail[-at:] and data[:at] != before.tail:
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
    if marked or len(head) < 4 or (head[0] == 0) == (head[1] == 0) or (head[0] == 0) != (head[2] == 0):
        return marked or "utf-8"
    return "utf-16-be" if head[0] == 0 else "utf-16-le"
