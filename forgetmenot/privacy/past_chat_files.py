"""A file with the chat of past streams, written anew without one person."""

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

_END_OF_TIME = 1 << 62


def remove_person(path: Path, person: NameForms) -> bool:
    """Take somebody out of a file, and say whether they stood in it. Raises OSError if it cannot be changed.

    It is written anew in the form of TwitchDownloader, whatever its form was, without what they said and what others
    said of them. What cannot be written anew is deleted.
    """
    if not _holds_any(path, [person.viewer_id, *person.names]):
        return False
    new = path.with_name(f"{path.name}.new")
    try:
        chat = PastChat(path, _END_OF_TIME)
        chat.look()
        _write_anew(new, chat, person)
        move_into_place(new, path)
    except (OSError, InputError):
        new.unlink(missing_ok=True)
        delete(path)
    return True


def _holds_any(path: Path, names: Iterable[str]) -> bool:
    """Whether one of these stands anywhere in a file, whatever its case; also as JSON escapes it."""
    needles = {name.casefold() for name in names if name}
    needles |= {json.dumps(needle)[1:-1] for needle in needles}
    longest = max(map(len, needles), default=0)
    rest = ""
    try:
        with open_text(path, errors="replace", packed=True) as file:
            while chunk := file.read(CHUNK):
                text = rest + chunk.casefold()
                if any(needle in text for needle in needles):
                    return True
                rest = text[-longest:]
    except (OSError, InputError):
        return True  # unknown, and so as if they did
    return False


def _write_anew(
    path: Path,
    chat: PastChat,
    person: NameForms,
) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        about = chat.about
        began_at = _iso(about.began_at) if about.began_at else None
        video = {"title": about.title, "id": str(about.video), "created_at": began_at}
        file.write(f'{{"video": {json.dumps(video)}, "comments": [')
        separator = "\n"
        for event in chat.events():
            if not _is_of(event, person):
                file.write(separator + json.dumps(_comment(event)))
                separator = ",\n"
        file.write("\n]}\n")
        file.flush()
        os.fsync(file.fileno())


def _is_of(event: ChatEvent, person: NameForms) -> bool:
    """Whether somebody said a line, or is named in it."""
    if event.user_id == person.viewer_id or person.is_named(event.login):
        return True
    if person.is_named(event.display_name):
        return True
    return any(
        person.anonymized(text) != text for text in (event.text, event.system_text)
    )


def _comment(event: ChatEvent) -> dict[str, object]:
    return {
        "_id": event.id,
        "created_at": _iso(event.at),
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


def _iso(at: int) -> str:
    return datetime.fromtimestamp(at / 1_000, UTC).isoformat(timespec="milliseconds")
