"""Corrections in plain speech count at the next reply, not when chat is summarised.

A line changes only what is known of its speaker, and only where it plainly corrects one live note (memory/facts). The
streamer corrects the channel's notes as well. What is quoted, supposed or joked changes nothing, and whatever is new
but contradicts nothing waits until chat is summarised. The old note is superseded as by any other claim; where the line
does not say what is true instead, or not plainly, it is retracted. Both can be undone.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory.facts.corrections import LONGEST_LINE, NOTHING_BEFORE, Before, corrected
from forgetmenot.memory.notes import edits, note_merge
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, events, notes
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.mentions import defang
from forgetmenot.text.statements import stated_part

OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)
LATELY = 5 * MINUTE
"""How old the line or the reply may be that a correction without a subject is about."""


class SpokenCorrections:
    """Looks for corrections in lines of chat. `flush` makes lines that were just heard readable."""

    def __init__(
        self, *, db: Database, settings: Callable[[], Settings], clock: Clock, flush: Callable[[], Awaitable[None]]
    ) -> None:
        self._db, self._settings, self._clock, self._flush = db, settings, clock, flush
        self._last: OrderedDict[str, tuple[int, str]] = OrderedDict()

    async def take(self, event: ChatEvent) -> None:
        """Write what a line corrects, if anything. A correction that is refused or cannot be written is only logged."""
        text = event.text
        if event.kind is not EventKind.MESSAGE or len(text) > LONGEST_LINE:
            return
        lately = self._last.pop(event.user_id, (0, ""))
        self._last[event.user_id] = event.at, text
        while next(iter(self._last.values()))[0] < event.at - LATELY:  # no line is kept longer than it is of use
            self._last.popitem(last=False)
        meant = "" if is_command(text) else stated_part(defang(text))
        if not meant:
            return
        try:
            for subject in (event.user_id, *([None] if "broadcaster" in event.badges else [])):
                held = await notes.of_subject(self._db, subject, note_merge.LIVE)
                if not held:
                    continue
                found = await asyncio.to_thread(corrected, meant, held, await self._before(event, lately))
                if found is not None:
                    await self._write(event, *found)
                    return
        except FactRefused as refused:
            log.debug("a correction in chat is not taken", rule=refused.rule)
        except StoreError as error:
            log.warning("a correction in chat could not be written", error=type(error).__name__)

    def forget(self) -> None:
        """Drop the last lines of everybody: after an erasure."""
        self._last.clear()

    async def _before(self, event: ChatEvent, lately: tuple[int, str]) -> Before:
        """The bot's last reply to the speaker, else their own last line."""
        since = event.at - LATELY
        for reply in await bot_messages.said_lately(self._db, 1, since, event.user_id):
            return Before("bot", reply.text)
        return Before("own", lately[1]) if lately[0] >= since else NOTHING_BEFORE

    async def _write(self, event: ChatEvent, note: Note, fact: str | None) -> None:
        await self._flush()
        if await events.by_id(self._db, event.id) is not None:
            return  # Twitch delivered it twice, or an earlier run has heard it
        if fact is None:
            await edits.retract_by_word(self._db, note.id, by=event.user_id, at=event.at, line=event.id)
            return
        await edits.remember(
            self._db,
            note.subject_id,
            fact,
            by=event.user_id,
            at=self._clock.now(),
            privacy=self._settings().privacy,
            scope=note.scope,
            word=OWN_WORD if note.subject_id is not None else edits.TRUSTED,
            line=event.id,
            instead_of=note.id,
        )
