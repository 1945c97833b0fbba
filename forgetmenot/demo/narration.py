"""What the demo shows: all of it line by line (`Narrator`), or a highlight that a newcomer follows (`Highlight`).

Both write lines with the name of a style; the command line chooses colours for the styles.
"""

import asyncio
import textwrap
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from forgetmenot.clock import Clock
from forgetmenot.demo.script import Cue
from forgetmenot.domain import Episode, NoteStatus
from forgetmenot.memory.merge import LIVE
from forgetmenot.sim.world import SimMessage
from forgetmenot.store import action_logs, bot_messages, dock_rows, episodes, notes, viewers
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import BotMessage, ReplyStatus
from forgetmenot.store.database import Database
from forgetmenot.store.dock_rows import ChangedNote, FeedCursor
from forgetmenot.text.mentions import ids_in, show

Out = Callable[[str, str], None]
"""Takes a style (plain, caption, chat, bot, memory, refused, faint) and a line."""

_SENTENCES = {
    "delete": "a moderator deletes {name}'s last line: its text is gone at once",
    "timeout": "a moderator times {name} out for {number} s: their lines are gone at once",
    "sub": "{name} subscribes ({number} months)",
    "gift": "{name} gifts {number} subs",
    "raid": "{name} raids with {number} people",
    "shared": "{name} speaks in a partner's channel (shared chat): not stored, not answered",
    "again": "Twitch delivers {name}'s last line a second time: it is stored once",
}
_MARKS = {NoteStatus.SUPERSEDED: "~", NoteStatus.RETRACTED: "-", NoteStatus.EXPIRED: "-", NoteStatus.EVICTED: "-"}
_FROM_MEMORY = frozenset({"brief", "lore", "others", "channel_notes", "channel_notes_asked", "past_episode"})
MOST = 1_000  # changes of notes that are read at a time
BIT_MEMORY = "      | "
BIT_REPLY = "      > "


class Narrator:
    """Shows every line of chat, and what became of it."""

    def __init__(self, db: Database, clock: Clock, out: Out) -> None:
        self._db = db
        self._clock = clock
        self._write = out
        self._seen = FeedCursor()

    def _out(self, text: str) -> None:
        self._write("plain", text)

    async def begin(self) -> None:
        """Explain how to read it; show only what comes from now on."""
        self._seen = await dock_rows.feed_cursor(self._db)
        self._out("")
        self._out("How to read it:  hh:mm  who: what is said in chat")
        self._out(f"{BIT_MEMORY}what goes into the memory: episodes, notes (+ new, ~ replaced, - gone)")
        self._out(f"{BIT_REPLY}what the bot says or does, and what its prompt was made of (ids of notes)")

    async def report(self, cue: Cue) -> None:
        """Show a cue, and what it led to."""
        at = datetime.fromtimestamp(self._clock.now() / 1_000, UTC).strftime("%H:%M")
        if cue.verb in _SENTENCES:
            self._out(f"{at}  * {_SENTENCES[cue.verb].format(name=cue.name, number=cue.number)}")
        else:
            self._out(f"{at}  {cue.name}: {cue.text}")
        await self._report_news()

    async def stream_begins(self, title: str) -> None:
        """Show a stream's title."""
        self._heading(f"stream “{title}” begins")

    async def stream_ends(self) -> None:
        """Say what happens at the end of a stream."""
        self._heading("the stream is over: the remainder is summarised, then the stream is recapped")

    async def stream_ended(self) -> None:
        """Show what the end of the stream added to the memory."""
        await self._report_news()

    def _heading(self, text: str) -> None:
        self._out("")
        self._out(f"── {text} " + "─" * max(0, 76 - len(text)))

    async def _report_news(self) -> None:
        """Show what was added since the last time."""
        before, self._seen = self._seen, await dock_rows.feed_cursor(self._db)
        for reply in await dock_rows.rows_since(self._db, bot_messages.get, before.reply, self._seen.reply):
            self._reply(reply)
        for action in await dock_rows.rows_since(self._db, action_logs.get, before.action, self._seen.action):
            self._action(action)
        for episode in await dock_rows.rows_since(self._db, episodes.get, before.episode, self._seen.episode):
            await self._episode(episode)
        for change in await dock_rows.changes(self._db, before.change, MOST):
            await self._note(change)

    def _reply(self, reply: BotMessage) -> None:
        usage, sections = reply.usage, reply.prompt.get("sections", [])
        memory = [
            f"{part['name']} {part['rows']}" for part in sections if part["rows"] and part["name"] in _FROM_MEMORY
        ]
        if sections:
            facts = "; ".join(memory) or "no memory fits"
            same = f"{reply.prompt.get('prefix_tokens', 0)} in the unchanged prefix"
            self._out(f"{BIT_REPLY}prompt of {usage.get('estimated', '?')} tokens, {same}; from memory: {facts}")
        if reply.text:
            how = f"{reply.status}: {reply.detail}" if reply.status is ReplyStatus.DROPPED else reply.status
            self._out(f"{BIT_REPLY}ForgetMeNot ({how}): {reply.text}")
        else:
            self._out(f"{BIT_REPLY}ForgetMeNot says nothing: {reply.detail}")

    def _action(self, action: LoggedAction) -> None:
        self._out(f"{BIT_REPLY}proposes {action.name}: {action.verdict} by the rule “{action.rule}”, {action.status}")

    async def _episode(self, episode: Episode) -> None:
        people = f", {len(episode.people)} people" if episode.people else ""
        self._out(f"{BIT_MEMORY}episode {episode.id} ({episode.kind}, {episode.events} lines{people}):")
        for part in textwrap.wrap(await _named(self._db, episode.summary), 96):
            self._out(f"{BIT_MEMORY}  {part}")

    async def _note(self, change: ChangedNote) -> None:
        who = await _named(self._db, f"<@{change.subject_id}>") if change.subject_id else change.scope.replace("_", " ")
        fact, mark, how = await _named(self._db, change.fact), _MARKS.get(NoteStatus(change.after), "+"), change.cause
        note = await notes.get(self._db, change.note_id)
        if mark == "+" and not change.before and note is not None:
            how = f"{note.source_kind}, {note.confidence:.1f}"
        self._out(f"{BIT_MEMORY}{mark} note {change.note_id} about {who}: {fact}  ({how})")


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
        self._lines = self._streams = 0
        self._heard = 0
        self._seen = self._began = FeedCursor()

    async def begin(self) -> None:
        """Show only what comes from now on."""
        self._seen = self._began = await dock_rows.feed_cursor(self._db)

    async def stream_begins(self, _title: str) -> None:
        """Count its lines."""
        self._lines = 0
        self._streams += 1

    async def report(self, cue: Cue) -> None:
        """Show a marked cue and what it led to; a caption stands before its lines."""
        self._lines += 1
        if cue.caption:
            self._out("plain", "")
            self._out("caption", cue.caption)
            await self._pause(1.2)
        before, self._seen = self._seen, await dock_rows.feed_cursor(self._db)
        words = [said.text for said in self._said[self._heard :] if said.via == "helix"]
        self._heard = len(self._said)
        if not cue.shown:
            return
        self._shown.add(cue.name)
        self._out("chat", f"   {cue.name}: {cue.text}")
        await self._pause(1.2)
        for change in await dock_rows.changes(self._db, before.change, MOST):
            what = "replaced:" if NoteStatus(change.after) is NoteStatus.SUPERSEDED else "remembered:"
            self._out("memory", f"      {what} {await _named(self._db, change.fact)}")
        for text in words:
            self._out("bot", f"   ForgetMeNot: {text}")
        if not words and await dock_rows.rows_since(self._db, bot_messages.get, before.reply, self._seen.reply):
            self._out("refused", "      ForgetMeNot stays silent and does nothing.")
        for action in await dock_rows.rows_since(self._db, action_logs.get, before.action, self._seen.action):
            if action.verdict == "deny":
                self._out("refused", f"      refused by code: {action.name} ({action.reason})")
        await self._pause(1.4 if words else 0)

    async def stream_ends(self) -> None:
        """Nothing yet: the summaries come next."""

    async def stream_ended(self) -> None:
        """After the first stream, show what is left of it: notes about those who were shown."""
        if self._streams > 1:
            return
        changes = await dock_rows.changes(self._db, self._began.change, MOST)
        latest = {change.note_id: change for change in changes}.values()
        kept = [change for change in latest if change.after in LIVE]
        summaries = (await dock_rows.feed_cursor(self._db)).episode - self._began.episode
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
