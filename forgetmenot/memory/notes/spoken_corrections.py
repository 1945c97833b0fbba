"""Corrections in plain speech count at the next reply, not when chat is summarised.

A line changes only what is known of its speaker, and only where it plainly corrects one live note (memory/facts). The
streamer corrects the channel's notes as well. What is quoted, supposed or joked changes nothing, and whatever is new
but contradicts nothing waits for the memory's own reading of chat. The old note is superseded as by any other claim.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Note, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory.facts.corrections import corrected, just_said, may_correct
from forgetmenot.memory.notes import edits, note_merge
from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.memory.recall import word_table
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, events, notes
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import is_command
from forgetmenot.text.statements import meant_part

LONGEST_LINE = 200
OWN_WORD = edits.TellerTrust(SourceKind.SELF_CLAIM, most=10)
LATELY = 5 * MINUTE
"""How old the lines or the reply may be that a correction without a subject is about."""
OWN_LINES = 4
"""The number of the speaker's last lines that it may be about."""


class SpokenCorrections:
    """Looks for corrections in lines of chat. `flush` makes lines that were just heard readable."""

    def __init__(
        self, *, db: Database, settings: Callable[[], Settings], clock: Clock, flush: Callable[[], Awaitable[None]]
    ) -> None:
        self._db, self._settings, self._clock, self._flush = db, settings, clock, flush

    async def take(self, event: ChatEvent) -> None:
        """Take up what a line corrects, if it does."""
        text = event.text
        if event.kind is not EventKind.MESSAGE or len(text) > LONGEST_LINE or not may_correct(text):
            return
        meant = "" if is_command(text) or text.rstrip().endswith("?") else meant_part(text)
        if not meant:
            return
        try:
            for subject in (event.user_id, *([None] if "broadcaster" in event.badges else [])):
                held = await notes.of_subject(self._db, subject, note_merge.LIVE)
                certain = await self._just_mentioned(event, held) if held else ()
                found = await asyncio.to_thread(_corrected, meant, held, certain) if held else None
                if found is not None:
                    await self._write(event, *found)
                    return
        except FactRefused as refused:
            log.debug("a correction in chat is not taken", rule=refused.rule)
        except StoreError as error:
            log.warning("a correction in chat could not be written", error=type(error).__name__)

    async def _just_mentioned(self, event: ChatEvent, held: Sequence[Note]) -> Sequence[Note]:
        """The notes that the bot's last reply to the speaker used, else those that their own last lines were about."""
        await self._flush()
        since = event.at - LATELY
        for reply in await bot_messages.said_to(self._db, event.user_id, 1, since):
            _, used, _ = await bot_messages.of_reply(self._db, reply.id)
            if about := [note for note in held if note.id in used]:
                return about
        lines = await events.lines_of(self._db, event.user_id, since=since, until=event.at, limit=OWN_LINES + 1)
        return just_said(held, [line.text for line in reversed(lines) if line.event_id != event.id])

    async def _write(self, event: ChatEvent, note: Note, fact: str) -> None:
        if await events.by_id(self._db, event.id) is not None:
            return  # Twitch delivered it twice, or an earlier run has heard it
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


def _corrected(meant: str, held: Sequence[Note], certain: Sequence[Note]) -> tuple[Note, str] | None:
    """In a thread: the table is read at the first question, and notes are taken apart when they are first compared."""
    return corrected(meant, held, certain, word_table())
