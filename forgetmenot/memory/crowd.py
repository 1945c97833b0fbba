"""Who is around: the names by which a message can speak of somebody, looked up once a minute.

Around is whoever was seen within a day, and every regular; nobody who opted out or was banned.
"""

import asyncio
from collections.abc import Callable, Collection

from forgetmenot.clock import DAY, MINUTE, Clock
from forgetmenot.memory.people import People, forget_names
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import Database

FRESH = MINUTE
SEEN_LATELY = DAY


class Crowd:
    """The people of one database. Until it has looked it knows nobody."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._people = People(())
        self._until = self._seen = 0

    def is_name(self, word: str) -> bool:
        """Whether a word names somebody who is around."""
        return self._people.is_name(word)

    def named_in(self, text: str, *, without: Collection[str] = (), limit: int | None = None) -> list[str]:
        """The ids of the people a text speaks of, in its order; `without` are ids to leave out. Reads nothing."""
        wanted = self._settings().recall.others if limit is None else limit
        return self._people.named_in(text, without=without, limit=wanted)

    async def look(self) -> None:
        """See who is around, unless that was seen within the last minute."""
        if self._clock.now() >= self._until:
            await self.look_again()

    async def look_again(self) -> None:
        """See who is around. For a chore too: then no reply has to wait for it."""
        now, regular = self._clock.now(), self._settings().people
        names = await viewers.around(
            self._db,
            seen_since=now - SEEN_LATELY,
            regular_since=now - regular.regular_within_d * DAY,
            regular_streams=regular.regular_streams,
        )
        seen = hash(tuple(names))
        if seen != self._seen:
            self._people = await asyncio.to_thread(People, names)
            self._seen = seen
        self._until = now + FRESH

    def forget(self) -> None:
        """Look anew before the next message: after an erasure."""
        self._until = 0
        forget_names()
