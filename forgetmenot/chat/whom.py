"""Whom a wish is about, and who may wish it: viewers themselves; moderators anybody and the channel."""

from dataclasses import dataclass

from forgetmenot.domain.chat import ChatEvent, Role
from forgetmenot.memory.roles import role_of
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, show
from forgetmenot.text.words import words

CHANNEL_WORDS = frozenset({"channel", "stream", "chat"})


@dataclass(frozen=True, slots=True)
class Whom:
    """Somebody (`id` None: the channel). `own`: it is the speaker; `name` is for showing."""

    id: str | None
    name: str
    own: bool


class NotTheirs(Exception):
    """A viewer asks for something about somebody else. Control flow of chat/."""


class Unknown(Exception):
    """Nobody goes by that name. Control flow of chat/; carries the name."""


def moderates(event: ChatEvent) -> bool:
    """Whether the very message came from a moderator or the streamer."""
    return role_of(event.badges) in {Role.BROADCASTER, Role.MODERATOR}


async def whom(db: Database, event: ChatEvent, name: str) -> Whom:
    """Whom a name means (empty: the speaker). Raises NotTheirs, Unknown."""
    wanted = name.removeprefix("@").casefold()
    if wanted in {"", event.login.casefold(), event.display_name.casefold()}:
        return Whom(event.user_id, event.display_name, own=True)
    if not moderates(event):
        raise NotTheirs
    if wanted in CHANNEL_WORDS:
        return Whom(None, "the channel", own=False)
    found = await viewers.called(db, [wanted])
    if not found:
        raise Unknown(name)
    shown = await viewers.names(db, [found[0].id])
    return Whom(found[0].id, shown.get(found[0].id, name), own=found[0].id == event.user_id)


async def with_names(db: Database, texts: list[str]) -> list[str]:
    """Stored texts as they may be shown: present names, "somebody" for who is hidden."""
    ids = sorted({viewer_id for text in texts for viewer_id in ids_in(text)})
    names = await viewers.names(db, sorted(set(ids) - await viewers.hidden(db, ids)))
    return [show(text, names) for text in texts]


def has_words(text: str) -> bool:
    """Whether anything is left to look for."""
    return bool(words(text))
