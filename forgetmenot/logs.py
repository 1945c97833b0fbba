"""Logging: plain lines on the console, JSON lines in a rotating file, and in neither chat text or a secret.

Code logs facts about things (ids, counts, kinds), never what was said. A processor enforces it: keys that could
hold chat are dropped, and whatever is shaped like a token is masked. A message that repeats itself is written at most
30 times a minute; the next one after that says how many were left out.
"""

import logging
import logging.handlers
import os
import re
import sys
import time
import traceback
from collections.abc import Mapping, MutableMapping
from enum import Enum
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import Any

import structlog

from forgetmenot.files import make_own

CHAT_KEYS = frozenset({"text", "message", "summary", "fact", "prompt", "reply", "login", "display_name", "system_text"})
OF_STRUCTLOG = frozenset({"exc_info", "stack_info", "positional_args"})
MOST_DEEP = 4
FILE = "forgetmenot.log"
MOST_REPEATS = 30
REPEAT_WINDOW_S = 60.0
MESSAGES_REMEMBERED = 500
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


def _format_exception(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Where a bug is, and its kind; not its message or the values around it, for these may quote chat."""
    given = event.pop("exc_info", None)
    error = given if isinstance(given, BaseException) else (given if isinstance(given, tuple) else sys.exc_info())[1]
    if given and error is not None:
        event["exception"] = where(error)
    return event


def where(error: BaseException) -> str:
    """Where an exception was raised, and its kind; without its message."""
    frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    trace = f"Traceback (most recent call last):\n{frames}{type(error).__qualname__}"
    return "\n".join([trace, *map(where, inner)])


def mask(text: str) -> str:
    """The text with everything that is shaped like a token, an API key or an address's log-in masked."""
    return _SECRET.sub("•••", _AFTER_WORD.sub(r"\1•••", _IN_ADDRESS.sub("•••@", text)))


def _drop_and_mask(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key in CHAT_KEYS & event.keys():
        del event[key]
    for key, value in event.items():
        if not key.startswith("_") and key not in OF_STRUCTLOG:
            event[key] = _harmless(value)
    return event


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


_SHARED: list[structlog.types.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _format_exception,
    _drop_and_mask,
]
# Until `set_up` is called (a command that only prints): warnings alone, and never on standard output.
structlog.configure(
    processors=[*_SHARED, structlog.dev.ConsoleRenderer(colors=False)],
    wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    cache_logger_on_first_use=False,
)
log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("forgetmenot")


def beside(database: Path) -> Path:
    """The folder that a bot with this memory writes its log to."""
    return database.parent / "logs"


def set_up(*, level: str = "info", folder: Path | None = None, console: bool = True, quiet: bool = False) -> None:
    """Configure structlog over the standard library. `folder` gets forgetmenot.log (3 × 1 MB, JSON lines).

    `quiet`: of what is logged at "info" the console shows only warnings.
    """
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level.upper())
    # at "debug" these log SQL parameters, addresses and bodies, which hold chat and tokens
    for name in ("aiosqlite", "asyncio", "twitchio", "google_genai", "httpx", "aiohttp"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    if console and sys.stderr is not None:  # None: a program without a window on Windows
        shown = _handler(logging.StreamHandler(sys.stderr), structlog.dev.ConsoleRenderer(colors=False))
        shown.setLevel(logging.WARNING if quiet and level == "info" else logging.NOTSET)
        root.addHandler(shown)
    if folder is not None:
        _add_file(root, folder)


class RepeatLimit(logging.Filter):
    """Lets the same message through `MOST_REPEATS` times a minute: a fault in a loop must not fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written. One handler's filter: records arrive one at a time."""
        said = record.msg.get("event", "") if isinstance(record.msg, dict) else record.msg
        key = (record.name, record.levelno, str(said)[:200])
        now = time.monotonic()
        began, count = self._seen.get(key, (now, 0))
        if now - began >= REPEAT_WINDOW_S:
            if count > MOST_REPEATS and isinstance(record.msg, dict):
                record.msg = {**record.msg, "left_out": count - MOST_REPEATS}
            began, count = now, 0
        if len(self._seen) >= MESSAGES_REMEMBERED and key not in self._seen:
            self._seen.clear()
        self._seen[key] = (began, count + 1)
        return count < MOST_REPEATS


class _OwnFile(logging.handlers.RotatingFileHandler):
    """A log that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return TextIOWrapper(os.fdopen(handle, "ab"), encoding=self.encoding, errors=self.errors, line_buffering=True)


def _add_file(root: logging.Logger, folder: Path) -> None:
    """A log that cannot be written is said once and ends nothing."""
    logging.raiseExceptions = False  # else a full disk prints a traceback for each line
    try:
        make_own(folder)
        file = _OwnFile(folder / FILE, maxBytes=1_000_000, backupCount=2, encoding="utf-8")
    except OSError as error:
        log.warning("there is no log file", folder=str(folder), reason=error.strerror)
        return
    root.addHandler(_handler(file, structlog.processors.JSONRenderer(ensure_ascii=False)))


def _handler(handler: logging.Handler, renderer: structlog.types.Processor) -> logging.Handler:
    handler.addFilter(RepeatLimit())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            foreign_pre_chain=_SHARED,
        )
    )
    return handler
