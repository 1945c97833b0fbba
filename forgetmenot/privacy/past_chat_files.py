"""Rewrites a file with the chat of past streams without one person."""

import json
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.errors import InputError
from forgetmenot.files import delete, move_into_place, open_text
from forgetmenot.past_chat.chat_file import PastChat
from forgetmenot.past_chat.formats import CHUNK
from forgetmenot.text.removal import NameForms

# Later than any line (ms): whatever a file dates in the future stays in it.
_END_OF_TIME = 1 << 62


def remove_person(path: Path, person: NameForms) -> bool:
    """Take somebody out of a file; return whether they stood in it.

    The file is rewritten in the form of TwitchDownloader, whatever its form was, without what they
    said and what others said of them. A file that cannot be rewritten is deleted.
    Raises OSError if it can be neither rewritten nor deleted.
    """
    if not _contains_any(path, [person.viewer_id, *person.names]):
        return False
    new_path = path.with_name(f"{path.name}.new")
    try:
        chat = PastChat(path, _END_OF_TIME)
        chat.look()
        _write_without(new_path, chat, person)
        move_into_place(new_path, path)
    except (OSError, InputError):
        # Better without the file than with somebody in it: it only waits to be learned from.
        new_path.unlink(missing_ok=True)
        delete(path)
    return True


def _contains_any(path: Path, names: Iterable[str]) -> bool:
    """Return whether a name stands anywhere in a file, whatever its case; also as JSON escapes it.

    True for a file that cannot be read: it may have them.
    """
    needles = {name.casefold() for name in names if name}
    # JSON writes "ü" as "\u00fc".
    escaped_needles = {json.dumps(needle)[1:-1] for needle in needles}
    needles |= escaped_needles
    longest = max(map(len, needles), default=0)
    carried_over = ""
    try:
        with open_text(path, errors="replace", packed=True) as file:
            chunk = file.read(CHUNK)
            while chunk:
                text = carried_over + chunk.casefold()
                if any(needle in text for needle in needles):
                    return True
                # A name may stand across two chunks.
                carried_over = text[-longest:]
                chunk = file.read(CHUNK)
    except (OSError, InputError):
        return True
    return False


def _write_without(
    path: Path,
    chat: PastChat,
    person: NameForms,
) -> None:
    """Write a chat to a file that its owner alone may read. Raises OSError, InputError."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        about = chat.about
        began_at = _iso_time(about.began_at) if about.began_at else None
        video = {
            "title": about.title,
            "id": str(about.video),
            "created_at": began_at,
        }
        file.write(f'{{"video": {json.dumps(video)}, "comments": [')
        separator = "\n"
        for event in chat.events():
            if _is_about(event, person):
                continue
            file.write(separator + json.dumps(_comment(event)))
            separator = ",\n"
        file.write("\n]}\n")
        file.flush()
        os.fsync(file.fileno())


def _is_about(event: ChatEvent, person: NameForms) -> bool:
    """Return whether the person said a line, or is named in it."""
    if event.user_id == person.viewer_id:
        return True
    if person.is_named(event.login):
        return True
    if person.is_named(event.display_name):
        return True
    if person.anonymized(event.text) != event.text:
        return True
    return person.anonymized(event.system_text) != event.system_text


def _comment(event: ChatEvent) -> dict[str, object]:
    """Return a line as TwitchDownloader writes it."""
    return {
        "_id": event.id,
        "created_at": _iso_time(event.at),
        "commenter": {
            "_id": event.user_id,
            "name": event.login,
            "display_name": event.display_name,
        },
        "message": {
            "body": event.text or event.system_text,
            "is_action": event.kind is EventKind.ME,
            "user_badges": [{"_id": badge} for badge in sorted(event.badges)],
        },
    }


def _iso_time(at: int) -> str:
    """Return a time (ms) in ISO 8601, in UTC with milliseconds."""
    moment = datetime.fromtimestamp(at / 1_000, UTC)
    return moment.isoformat(timespec="milliseconds")
