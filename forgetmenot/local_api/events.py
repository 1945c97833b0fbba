"""What happens, as server-sent events: `arrived`, `learned`, `recap`. The memory is looked at while somebody listens.

A stream begins with what happens after it was opened, and ends when the interface is switched off.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from forgetmenot.clock import Clock
from forgetmenot.local_api import answers
from forgetmenot.memory.arrival_cards import arrivals
from forgetmenot.server_sent_events import STILL_HERE, STILL_HERE_EVERY_S, event
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from forgetmenot.store.database import Database

LOOK_EVERY_S = 1.0
# Of one look; after an import thousands are new at once.
LEARNED_LIMIT = 20


class Watch:
    """Looks at the memory for one listener, and knows what they have been sent."""

    def __init__(
        self,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._version = -1
        # Who, and when: somebody may come in again in the same stream.
        self._arrived: set[tuple[str, int]] = set()
        self._newest_note = 0
        self._recap: int | None = None

    async def begin(self) -> None:
        """Take what has happened so far as known."""
        self._version = await self._db.data_version()
        self._newest_note = await self._db.highest_id("semantic_notes")
        cards = await arrivals(self._db, self._settings(), self._clock.now())
        self._arrived = {(card.id, card.at) for card in cards}
        newest = await streams.last_recapped(self._db)
        if newest is not None:
            self._recap = newest.id

    async def events(self) -> AsyncIterator[bytes]:
        """Yield events as they happen, and a comment when nothing does for a while; ends when switched off."""
        silent_s = 0.0
        while self._settings().local_api.enabled:
            happened = await self._look()
            for message in happened:
                yield message
            silent_s = 0.0 if happened else silent_s + LOOK_EVERY_S
            if silent_s >= STILL_HERE_EVERY_S:
                silent_s = 0.0
                yield STILL_HERE
            await asyncio.sleep(LOOK_EVERY_S)

    async def _look(self) -> list[bytes]:
        """Return what has happened since the last look."""
        # Cheap while nothing is written: SQLite counts the changes that other connections made.
        version = await self._db.data_version()
        if version == self._version:
            return []
        self._version = version
        happened = await self._arrivals()
        happened += await self._learned()
        happened += await self._recaps()
        return happened

    async def _arrivals(self) -> list[bytes]:
        """Return an event for each viewer who came in since the last look."""
        settings = self._settings()
        now = self._clock.now()
        events = []
        for card in await arrivals(self._db, settings, now):
            if (card.id, card.at) in self._arrived:
                continue
            self._arrived.add((card.id, card.at))
            viewer = await answers.viewer_by_id(self._db, settings, card.id, now)
            # None for an ignored account, and for who was hidden meanwhile.
            if viewer is not None:
                events.append(event("arrived", viewer))
        return events

    async def _learned(self) -> list[bytes]:
        """Return an event for each note that was written since the last look, the first LEARNED_LIMIT of them."""
        # Beyond the limit the others are passed over: this is news, not a copy of the memory.
        # Read first: a note that is written meanwhile belongs to the next look.
        newest_note = await self._db.highest_id("semantic_notes")
        learned = await answers.learned(
            self._db, self._newest_note, newest_note, LEARNED_LIMIT
        )
        self._newest_note = newest_note
        return [event("learned", fact) for fact in learned]

    async def _recaps(self) -> list[bytes]:
        """Return an event if a stream got its recap since the last look."""
        stream = await streams.last_recapped(self._db)
        if stream is None or stream.id == self._recap:
            return []
        self._recap = stream.id
        recap = await answers.recap(self._db, self._settings())
        if recap is None:
            return []
        return [event("recap", recap)]
