"""Shows a demo as it happens, for somebody who has never seen the bot: chat on the left, what the bot does indented.

Reads what was added to the database since it last looked; knows nothing of how it came there.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from forgetmenot.clock import Clock
from forgetmenot.demo.script import Cue
from forgetmenot.domain.memory import Episode, NoteStatus
from forgetmenot.store import additions, viewers
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.additions import Marks, NoteNews
from forgetmenot.store.bot_messages import BotMessage, Status
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, show

_SENTENCES = {
    "delete": "a moderator deletes {name}'s last line: its text is gone at once",
    "timeout": "a moderator times {name} out for {number} s: their lines are gone at once",
    "sub": "{name} subscribes ({number} months)",
    "gift": "{name} gifts {number} subs",
    "raid": "{name} raids with {number} people",
    "shared": "{name} speaks in a partner's channel (shared chat): not stored, not answered",
    "again": "Twitch delivers {name}'s last line a second time: it is stored once",
}
_MARKS = {
    NoteStatus.SUPERSEDED: "~",
    NoteStatus.RETRACTED: "-",
    NoteStatus.EXPIRED: "-",
    NoteStatus.EVICTED: "-",
}
BIT_MEMORY = "      | "
BIT_REPLY = "      > "


class Narrator:
    """Prints. `out` takes one line."""

    def __init__(self, db: Database, clock: Clock, out: Callable[[str], None]) -> None:
        self._db = db
        self._clock = clock
        self._out = out
        self._seen = Marks()

    async def begin(self) -> None:
        """Explain how to read it; show only what comes from now on."""
        self._seen = await additions.marks(self._db)
        self._out("")
        self._out("How to read it:  hh:mm  who: what is said in chat")
        self._out(f"{BIT_MEMORY}what goes into the memory: episodes, notes (+ new, ~ replaced, - gone)")
        self._out(f"{BIT_REPLY}what the bot says or does, and what its prompt was made of (ids of notes)")

    async def tell(self, cue: Cue) -> None:
        """Show a cue, and what it led to."""
        at = datetime.fromtimestamp(self._clock.now() / 1_000, UTC).strftime("%H:%M")
        if cue.verb in _SENTENCES:
            self._out(f"{at}  * {_SENTENCES[cue.verb].format(name=cue.name, number=cue.number)}")
        else:
            self._out(f"{at}  {cue.name}: {cue.text}")
        await self.tell_news()

    async def tell_news(self) -> None:
        """Show what was added since the last time."""
        before, self._seen = self._seen, await additions.marks(self._db)
        for reply in await additions.replies_since(self._db, before.reply):
            self._reply(reply)
        for action in await additions.actions_since(self._db, before.action):
            self._action(action)
        for episode in await additions.episodes_since(self._db, before.episode):
            await self._episode(episode)
        for note in await additions.notes_since(self._db, before.change):
            await self._note(note)

    def title(self, text: str) -> None:
        """A heading."""
        self._out("")
        self._out(f"── {text} " + "─" * max(0, 76 - len(text)))

    def _reply(self, reply: BotMessage) -> None:
        usage, sections = reply.usage, reply.prompt.get("sections", [])
        memory = [f"{one['name']} {one['rows']}" for one in sections if one["rows"] and one["name"] in _MEMORY]
        if sections:
            told = "; ".join(memory) or "no memory fits"
            same = f"{reply.prompt.get('prefix_tokens', 0)} in the unchanged prefix"
            self._out(f"{BIT_REPLY}prompt of {usage.get('estimated', '?')} tokens, {same}; from memory: {told}")
        if reply.text:
            how = f"{reply.status}: {reply.detail}" if reply.status is Status.DROPPED else reply.status
            self._out(f"{BIT_REPLY}ForgetMeNot ({how}): {reply.text}")
        else:
            self._out(f"{BIT_REPLY}ForgetMeNot says nothing: {reply.detail}")

    def _action(self, action: LoggedAction) -> None:
        self._out(f"{BIT_REPLY}proposes {action.name}: {action.verdict} by the rule “{action.rule}”, {action.status}")

    async def _episode(self, episode: Episode) -> None:
        people = f", {len(episode.people)} people" if episode.people else ""
        self._out(f"{BIT_MEMORY}episode {episode.id} ({episode.kind}, {episode.events} lines{people}):")
        for part in _wrapped(await self._shown(episode.summary), 96):
            self._out(f"{BIT_MEMORY}  {part}")

    async def _note(self, change: NoteNews) -> None:
        note = change.note
        who = await self._shown(f"<@{note.subject_id}>") if note.subject_id else note.scope.replace("_", " ")
        fact = await self._shown(note.fact)
        mark = _MARKS.get(NoteStatus(change.after), "+")
        how = change.cause if mark != "+" or change.before else f"{note.source_kind}, {note.confidence:.1f}"
        self._out(f"{BIT_MEMORY}{mark} note {note.id} about {who}: {fact}  ({how})")

    async def _shown(self, text: str) -> str:
        return show(text, await viewers.names(self._db, ids_in(text)))


_MEMORY = frozenset({"brief", "lore", "others", "channel_notes", "past_episode"})


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width)
