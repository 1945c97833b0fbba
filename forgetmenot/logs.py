"""Logging: plain lines on the console, JSON lines in a rotating file, and in neither chat text or a secret.

Code logs facts about things (ids, counts, kinds), never what was said. The formatter enforces it, for libraries too:
keys that could hold chat are dropped, and whatever is shaped like a token is masked.
"""

import json
import logging
import logging.handlers
import os
import re
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from functools import partialmethod
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import Any

from forgetmenot.files import make_own

CHAT_KEYS = frozenset(
    {
        "text",
        "message",
        "summary",
        "fact",
        "prompt",
        "reply",
        "login",
        "display_name",
        "system_text",
    }
)
MOST_DEEP = 4
FILE = "forgetmenot.log"
# keys of Google, OpenAI, Groq, xAI and Hugging Face, signed tokens, and Twitch's tokens of 30 letters and digits
_SECRET = re.compile(
    r"(?i)(oauth:|bearer\s+|token[\"'=:\s]+|key[\"'=:\s]+)?"
    r"(AIza[0-9A-Za-z_\-]{20,}|(?:sk-|gsk_|xai-|hf_)[0-9A-Za-z_\-]{16,}"
    r"|(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_\-]{10,}\.[0-9A-Za-z_.\-]+|(?<![0-9A-Za-z-])[0-9a-z]{30}(?![0-9A-Za-z-]))"
)
_AFTER_WORD = re.compile(
    r"(?i)(oauth:|bearer\s+|(?:token|api_?key|secret|password|device_code)[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&]{6,}"
)
_IN_ADDRESS = re.compile(r"(?<=://)[^/?#@\s\"']{1,200}@")


def where(error: BaseException) -> str:
    """Where an exception was raised, and its kind; without its message."""
    frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    trace = f"Traceback (most recent call last):\n{frames}{type(error).__qualname__}"
    return "\n".join([trace, *map(where, inner)])


def mask(text: str) -> str:
    """The text with everything that is shaped like a token, an API key or an address's log-in masked."""
    return _SECRET.sub("•••", _AFTER_WORD.sub(r"\1•••", _IN_ADDRESS.sub("•••@", text)))


def _harmless(value: object, depth: int = 0) -> object:
    """A value as it may be written down, however deep chat or a secret lies in it; of a thing only what it is."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | PurePath | Enum):
        return mask(str(value))
    if depth < MOST_DEEP and isinstance(value, Mapping):
        kept = {str(key): inner for key, inner in value.items() if str(key) not in CHAT_KEYS}
        return {mask(key): _harmless(inner, depth + 1) for key, inner in kept.items()}
    if depth < MOST_DEEP and isinstance(value, list | tuple | set | frozenset):
        return [_harmless(inner, depth + 1) for inner in value]
    return type(value).__name__


class _Sieved(logging.Formatter):
    """A record as one line, of ours or of a library: JSON for the file, plain for the console."""

    def __init__(self, *, as_json: bool = False) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line, without chat and secrets."""
        given = {"event": record.getMessage(), **getattr(record, "fields", {})}
        event = {key: _harmless(value) for key, value in given.items() if key not in CHAT_KEYS}
        event["level"] = record.levelname.lower()
        event["timestamp"] = (
            datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        )
        # where a bug is, and its kind; not its message or the values around it, for these may quote chat
        if record.exc_info and record.exc_info[1] is not None:
            event["exception"] = where(record.exc_info[1])
        if self._as_json:
            return json.dumps(event, ensure_ascii=False)
        head = f"{event.pop('timestamp')} [{event.pop('level'):<8}] {event.pop('event')!s:<30}"
        trace = f"\n{event.pop('exception')}" if "exception" in event else ""
        return (
            " ".join([head, *(f"{key}={value}" for key, value in event.items())]).rstrip() + trace
        )


class Log:
    """What the bot does, as facts: `log.info("an episode was written", episode=7)`; by the standard library's logger.

    `exc_info`: the exception that is to be told of, or True for the one that is handled now.
    """

    _logger = logging.getLogger("forgetmenot")

    def _write(self, level: int, event: str, **fields: object) -> None:
        if self._logger.isEnabledFor(level):
            error: Any = fields.pop("exc_info", None)
            self._logger.log(level, "%s", event, exc_info=error, extra={"fields": fields})

    debug = partialmethod(_write, logging.DEBUG)  # for whoever looks for a bug
    info = partialmethod(_write, logging.INFO)  # what happens on an ordinary evening
    warning = partialmethod(_write, logging.WARNING)  # what goes on by itself, worse than it should
    error = partialmethod(_write, logging.ERROR)  # what did not work
    exception = partialmethod(
        _write, logging.ERROR, exc_info=True
    )  # a bug that is handled now: with its place


log = Log()
if logging.lastResort is not None:
    # until `set_up` is called (a command that only prints): warnings alone, and never on standard output
    logging.lastResort.setFormatter(_Sieved())


def beside(database: Path) -> Path:
    """The folder that a bot with this memory writes its log to."""
    return database.parent / "logs"


def set_up(
    *, level: str = "info", folder: Path | None = None, console: bool = True, quiet: bool = False
) -> None:
    """Log to the console and to a file. `folder` gets forgetmenot.log (3 × 1 MB, JSON lines).

    `quiet`: of what is logged at "info" the console shows only warnings.
    """
    # a second call replaces the first: two handlers would write each line twice
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level.upper())
    # at "debug" these log SQL parameters, addresses and bodies, which hold chat and tokens
    for name in ("aiosqlite", "asyncio", "twitchio", "google_genai", "httpx", "aiohttp"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    if console and sys.stderr is not None:  # None: a program without a window on Windows
        shown = logging.StreamHandler(sys.stderr)
        shown.setLevel(logging.WARNING if quiet and level == "info" else logging.NOTSET)
        _add(root, shown, _Sieved())
    if folder is None:
        return
    logging.raiseExceptions = False  # else a full disk prints a traceback for each line
    try:
        make_own(folder)
        file = _OwnFile(folder / FILE, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    except OSError as error:
        log.warning("there is no log file", folder=str(folder), reason=error.strerror)
        return
    _add(root, file, _Sieved(as_json=True))


class _OwnFile(logging.handlers.RotatingFileHandler):
    """A log that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return TextIOWrapper(
            os.fdopen(handle, "ab"), encoding=self.encoding, errors=self.errors, line_buffering=True
        )


def _add(root: logging.Logger, handler: logging.Handler, formatter: logging.Formatter) -> None:
    handler.setFormatter(formatter)
    root.addHandler(handler)
