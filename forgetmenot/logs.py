"""Logging: plain lines on the console, JSON lines in a file, and in neither chat or a secret.

Code logs facts about things (ids, counts, kinds), never what was said. structlog's processors
enforce it, for libraries too: keys that could hold chat are dropped, whatever is shaped like a
token is masked. A reply, an episode or a periodic task is bound once
(`structlog.contextvars.bound_contextvars`), and each line that is logged meanwhile names it.
"""

import logging
import logging.handlers
import os
import re
import sys
import traceback
from collections.abc import Mapping
from enum import Enum
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import Any

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, Processor, WrappedLogger

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
DEEPEST_LEVEL = 4
# What structlog itself passes from processor to processor.
STRUCTLOG_KEYS = frozenset({"_record", "_from_structlog"})
FILE = "forgetmenot.log"
# keys of Google, OpenAI, Groq, xAI and Hugging Face, signed tokens, and Twitch's tokens of 30
# letters and digits
_SECRET = re.compile(
    r"(?i)(oauth:|bearer\s+|token[\"'=:\s]+|key[\"'=:\s]+)?"
    r"(AIza[0-9A-Za-z_\-]{20,}|(?:sk-|gsk_|xai-|hf_)[0-9A-Za-z_\-]{16,}"
    r"|(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_\-]{10,}\.[0-9A-Za-z_.\-]+"
    r"|(?<![0-9A-Za-z-])[0-9a-z]{30}(?![0-9A-Za-z-]))"
)
_AFTER_WORD = re.compile(
    r"(?i)(oauth:|bearer\s+|(?:token|api_?key|secret|password|device_code)[\"']?\s*[=:]\s*[\"']?)"
    r"[^\s\"',;&]{6,}"
)
_IN_ADDRESS = re.compile(r"(?<=://)[^/?#@\s\"']{1,200}@")


def where(error: BaseException) -> str:
    """Return where an exception was raised, and its kind; without its message."""
    frames = "".join(traceback.format_list(traceback.extract_tb(error.__traceback__)))
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    trace = f"Traceback (most recent call last):\n{frames}{type(error).__qualname__}"
    return "\n".join([trace, *map(where, inner)])


def mask(text: str) -> str:
    """Return a text with all that is shaped like a token, a key or an address's log-in masked."""
    return _SECRET.sub("•••", _AFTER_WORD.sub(r"\1•••", _IN_ADDRESS.sub("•••@", text)))


def _safe_value(value: object, depth: int = 0) -> object:
    """Return a value as it may be written down.

    Texts are masked; in nested values keys that could hold chat are dropped; of any other object,
    and of what is nested too deep, only the name of its type stays.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | PurePath | Enum):
        return mask(str(value))
    if depth >= DEEPEST_LEVEL:
        return type(value).__name__
    if isinstance(value, Mapping):
        return _safe_mapping(value, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return [_safe_value(item, depth + 1) for item in value]
    return type(value).__name__


def _safe_mapping(mapping: Mapping[Any, Any], depth: int) -> dict[str, object]:
    safe: dict[str, object] = {}
    for key, value in mapping.items():
        if str(key) not in CHAT_KEYS:
            safe[mask(str(key))] = _safe_value(value, depth + 1)
    return safe


# The processors: each takes an event and returns it changed (structlog's own shape).


def _drop_chat_and_mask(
    _logger: WrappedLogger,
    _method: str,
    event: EventDict,
) -> EventDict:
    """Drop the keys that could hold chat and mask secrets in the values of the others."""
    safe: EventDict = {}
    for key, value in event.items():
        if key in STRUCTLOG_KEYS:
            safe[key] = value
        elif key not in CHAT_KEYS:
            safe[key] = _safe_value(value)
    return safe


def _name_exception(
    _logger: WrappedLogger,
    _method: str,
    event: EventDict,
) -> EventDict:
    """Replace an exception by where it was raised and its kind.

    Neither its message nor the values around it are written: these may quote chat.
    """
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()
    if isinstance(error, tuple):
        error = error[1]
    if isinstance(error, BaseException):
        event["exception"] = where(error)
    return event


def _formatter(renderer: Processor) -> ProcessorFormatter:
    """Return the formatter of a handler, for records of ours and of libraries alike."""
    return ProcessorFormatter(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _name_exception,
            _drop_chat_and_mask,
            ProcessorFormatter.remove_processors_meta,
            renderer,
        ]
    )


def _console_formatter() -> ProcessorFormatter:
    return _formatter(structlog.dev.ConsoleRenderer(colors=False, sort_keys=False))


def _file_formatter() -> ProcessorFormatter:
    return _formatter(structlog.processors.JSONRenderer(ensure_ascii=False))


structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        ProcessorFormatter.wrap_for_formatter,
    ],
    wrapper_class=structlog.stdlib.BoundLogger,
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)

# What the bot does, as facts: `log.info("an episode was written", episode=7)`.
# debug: for whoever looks for a bug. info: what happens on an ordinary evening. warning: what goes
# on by itself, worse than it should. error: what did not work. exception: a bug that is handled
# now, with its place. `exc_info`: the exception to report, or True for the one that is handled now.
log: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger("forgetmenot")
if logging.lastResort is not None:
    # until `set_up` is called (a command that only prints): warnings alone, on standard error
    logging.lastResort.setFormatter(_console_formatter())


def beside(database: Path) -> Path:
    """Return the folder that a bot with this memory writes its log to."""
    return database.parent / "logs"


def set_up(
    *,
    level: str = "info",
    folder: Path | None = None,
    console: bool = True,
    quiet: bool = False,
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
    for name in (
        "aiosqlite",
        "asyncio",
        "twitchio",
        "google_genai",
        "httpx",
        "aiohttp",
    ):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    # None: a program without a window on Windows.
    if console and sys.stderr is not None:
        shown = logging.StreamHandler(sys.stderr)
        shown.setLevel(logging.WARNING if quiet and level == "info" else logging.NOTSET)
        _add(root, shown, _console_formatter())
    if folder is None:
        return
    # Else a full disk prints a traceback for each line.
    logging.raiseExceptions = False
    try:
        make_own(folder)
        file = _OwnFile(
            folder / FILE, maxBytes=1_000_000, backupCount=2, encoding="utf-8"
        )
    except OSError as error:
        log.warning("there is no log file", folder=str(folder), reason=error.strerror)
        return
    _add(root, file, _file_formatter())


class _OwnFile(logging.handlers.RotatingFileHandler):
    """A log that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        handle = os.open(self.baseFilename, flags, 0o600)
        return TextIOWrapper(
            os.fdopen(handle, "ab"),
            encoding=self.encoding,
            errors=self.errors,
            line_buffering=True,
        )


def _add(
    root: logging.Logger,
    handler: logging.Handler,
    formatter: logging.Formatter,
) -> None:
    handler.setFormatter(formatter)
    root.addHandler(handler)
