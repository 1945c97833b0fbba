"""What the demo shows: a highlight that a newcomer follows; the dock shows everything.

It writes lines with the name of a style; the command line chooses colours for the styles.
"""

import asyncio
from collections.abc import Callable, Sequence

from forgetmenot.demo.script import Cue
from forgetmenot.domain import NoteStatus
from forgetmenot.memory.merge import LIVE
from forgetmenot.sim.irc import SimMessage
from forgetmenot.store import action_logs, dock_rows, viewers
from forgetmenot.store.counts import highest_ids
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, show

# Takes a style (plain, caption, chat, bot, memory, refused, faint) and a line.
Out = Callable[[str, str], None]

MOST = 1_000  # changes of notes that are read at a time


class Highlight:
    """Shows the marked lines under their captions, and what the bot did about them.

    `said`: chat as Twitch delivered it, since an erasure takes the bot's own words about a person from the memory as
    well. `pace`: 0 for no pauses.
    """

    def __init__(self, db: Database, said: Sequence[SimMessage], out: Out, pace: float) -> None:
        self._db = db
        self._said = said
        self._out = out
        self._pace = pace
        self._shown: set[str] = set()
        self._lines = self._heard = 0
        self._seen: dict[str, int] = {}
        self._began: dict[str, int] = {}

    async def begin(self) -> None:
        """Show only what comes from now on."""
        self._seen = self._began = await highest_ids(self._db)

    async def report(self, cue: Cue) -> None:
        """Show a marked cue and what it led to; a caption stands before its lines."""
        self._lines += 1
        if cue.caption:
            self._out("plain", "")
            self._out("caption", cue.caption)
            await self._pause(1.2)
        before, self._seen = self._seen, await highest_ids(self._db)
        words = [said.text for said in self._said[self._heard :] if said.via == "helix"]
        self._heard = len(self._said)
        if not cue.shown:
            return
        self._shown.add(cue.name)
        self._out("chat", f"   {cue.name}: {cue.text}")
        await self._pause(1.2)
        for change in await dock_rows.changes(self._db, before["note_changes"], MOST):
            what = "replaced:" if NoteStatus(change.after) is NoteStatus.SUPERSEDED else "remembered:"
            self._out("memory", f"      {what} {await _named(self._db, change.fact)}")
        for text in words:
            self._out("bot", f"   ForgetMeNot: {text}")
        if not words and self._seen["bot_messages"] > before["bot_messages"]:
            self._out("refused", "      ForgetMeNot stays silent and does nothing.")
        for action in reversed(await action_logs.latest(self._db, MOST)):
            if action.id > before["action_logs"] and action.verdict == "deny":
                self._out("refused", f"      refused by code: {action.name} ({action.reason})")
        await self._pause(1.4 if words else 0)

    async def stream_ended(self) -> None:
        """Show what is left of the stream: notes about those who were shown."""
        changes = await dock_rows.changes(self._db, self._began["note_changes"], MOST)
        latest = {change.note_id: change for change in changes}.values()
        kept = [change for change in latest if change.after in LIVE]
        summaries = (await highest_ids(self._db))["episodes"] - self._began["episodes"]
        self._out("plain", f"   … {self._lines} lines in all. The stream ends.")
        self._out("memory", f"   What stays: {summaries} short summaries and {len(kept)} notes, such as")
        for note in kept:
            who = await _named(self._db, f"<@{note.subject_id}>") if note.subject_id else "the channel"
            if who.lower() in self._shown or not note.subject_id:
                self._out("memory", f"      {who}: {await _named(self._db, note.fact)}")
        self._out("faint", "   The chat itself is permanently deleted after 24 hours.")
        await self._pause(2.5)

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._pace)


async def _named(db: Database, text: str) -> str:
    return show(text, await viewers.names(db, ids_in(text)))
