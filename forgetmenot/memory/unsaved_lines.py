"""Lines of chat that could not be stored before a stop wait in a file beside the database for the next start.

- The file is its owner's alone and holds raw chat, as the database would. It is overwritten and deleted as soon as its
  lines are stored; there they fall under the same 24 hours as all chat.
- An erasure takes the person's lines out of it, and their names out of what others said.
- A line in it that cannot be read is left out; the others are taken.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from forgetmenot.domain.chat import ChatEvent, Redaction
from forgetmenot.memory.event_writer import TakenLine
from forgetmenot.text.removal import Names


class _Row(msgspec.Struct, omit_defaults=True):
    line: TakenLine | None = None
    clear: Redaction | None = None


def path_of(database: Path) -> Path:
    """Where the file lies."""
    return database.with_name(database.name + ".unsaved")


def save(database: Path, lines: Iterable[TakenLine | Redaction]) -> None:
    """Write the file anew. Raises OSError; then there is none."""
    file = path_of(database)
    rows = [_Row(line=_alone(item)) if isinstance(item, TakenLine) else _Row(clear=item) for item in lines]
    try:
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            for row in rows:
                out.write(msgspec.json.encode(row) + b"\n")
            out.flush()
            os.fsync(out.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            drop(database)
        raise


def _alone(item: TakenLine) -> TakenLine:
    """The line without the words of the one that it answers, which may be anybody's."""
    answered = item.event.reply_to
    if answered is None:
        return item
    return replace(item, event=replace(item.event, reply_to=replace(answered, login="", text="")))


def load(database: Path) -> list[TakenLine | Redaction]:
    """What is in the file, in order. Raises OSError."""
    try:
        held = path_of(database).read_bytes()
    except FileNotFoundError:
        return []
    found: list[TakenLine | Redaction] = []
    for text in held.splitlines():
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            row = msgspec.json.decode(text, type=_Row)
            found += [item for item in (row.line, row.clear) if item is not None]
    return found


def drop(database: Path) -> None:
    """Overwrite and delete the file. Raises OSError."""
    file = path_of(database)
    with contextlib.suppress(FileNotFoundError):
        with file.open("r+b") as held:
            held.write(b"\0" * file.stat().st_size)
            held.flush()
            os.fsync(held.fileno())
        file.unlink()


def forget(database: Path, who: Names) -> None:
    """Take a person out of the file. Raises OSError."""
    held = load(database)
    if not held:
        return
    kept = [_without(item, who) for item in held if _speaker(item) != who.viewer_id]
    drop(database)
    if kept:
        save(database, kept)


def _speaker(item: TakenLine | Redaction) -> str | None:
    return item.event.user_id if isinstance(item, TakenLine) else item.user_id


def _without(item: TakenLine | Redaction, who: Names) -> TakenLine | Redaction:
    if isinstance(item, Redaction):
        return item
    event: ChatEvent = item.event
    answered = event.reply_to if event.reply_to is None or event.reply_to.user_id != who.viewer_id else None
    hidden, system_text = who.hidden(event.text), who.hidden(event.system_text)
    return replace(item, event=replace(event, reply_to=answered, text=hidden, system_text=system_text))
