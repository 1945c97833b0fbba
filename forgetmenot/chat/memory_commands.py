"""Told to remember, to forget, that something is wrong: by viewers about themselves, by moderators about anybody.

Promises an answer that quotes the fact as it is stored, or says why nothing was stored. What its subject forgets is
deleted for good; what a moderator takes back can be brought back with `!wrong #id undo`.
"""

from collections.abc import Awaitable, Callable

from forgetmenot.chat.whom import NotTheirs, Unknown, Whom, has_words, moderates, whom, with_names
from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.domain.memory import Note, Scope
from forgetmenot.memory import never
from forgetmenot.memory.notes import remember, undoing
from forgetmenot.memory.notes.forgetting import forget_fact
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.memory.people import ORDINARY
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events, notes, rights, viewers
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import defang, mention
from forgetmenot.text.told_facts import first_word, others_fact, own_fact, said_of_oneself
from forgetmenot.text.wishes import Wish

JUST_BEFORE = 10 * MINUTE
LINES_BEFORE = 3
ABOUT_YOURSELF = "Tell me something about yourself, like: !remember I play drums"
OPTED_OUT = "You opted out, so I keep nothing. !optin changes that."
NOT_YOURS = "That works for yourself; a moderator can do it for others."

_REFUSALS = {
    "length": "A fact needs 5 to 200 characters.",
    "link": "I keep no addresses of pages.",
    "about_a_person": NOT_YOURS,
    "pinned": "Something else is pinned there; a moderator has to take it back first.",
    "opted_out": "They opted out, so I keep nothing about them.",
    "forgotten": "They asked me to forget that, so I don't keep it.",
    "back_and_forth": "That changed back and forth today; tell me again another time.",
    "enough_this_stream": "That is enough for one stream.",
    "not_live": "That one is taken back already.",
    "nothing_to_undo": "There is nothing to bring back.",
    "not_found": "There is no such note.",
}


class MemoryCommands:
    """Answers `!remember`, `!forget`, `!wrong`, and the same said to the bot."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock

    # ── remember ────────────────────────────────────────────────────────────────────────────

    async def remember(self, wish: Wish, event: ChatEvent) -> str:
        """Keep what was told. Raises NotTheirs, Unknown."""
        return await self._unless_opted_out(event, lambda: self._remember(wish.text, event))

    async def _unless_opted_out(self, event: ChatEvent, do: Callable[[], Awaitable[str]]) -> str:
        if event.user_id in await rights.opted_out(self._db):
            return OPTED_OUT
        return await do() if await viewers.get(self._db, event.user_id) else "I keep nothing about this account."

    async def _remember(self, told: str, event: ChatEvent) -> str:
        own = Whom(event.user_id, event.display_name, own=True)
        name, rest = first_word(told.removeprefix("about "))
        if name.casefold() in {event.login.casefold(), event.display_name.casefold()}:
            return await self._keep(own, others_fact(rest), event)
        fact = own_fact(told)
        if fact is not None and not await self._is_about_another(told, name, rest):
            return await self._keep(own, fact, event)
        if not moderates(event):
            return ABOUT_YOURSELF if fact is None else NOT_YOURS
        return await self._remember_for(*(first_word(rest) if name.casefold() == "the" else (name, rest)), told, event)

    async def _remember_for(self, name: str, rest: str, told: str, event: ChatEvent) -> str:
        """What a moderator tells of somebody by name; of nobody who is known: of the channel."""
        try:
            about = await whom(self._db, event, name or "?")
        except Unknown:
            return await self._keep(Whom(None, "the channel", own=False), told, event)
        fact = others_fact(rest) if about.id is not None or rest.lstrip().startswith(":") else told
        return await self._keep(about, fact, event)

    async def _is_about_another(self, told: str, name: str, rest: str) -> bool:
        """Whether a text begins with a name, which is then its subject: "@bob's cat is mine", "bob hates me"."""
        if told.strip().startswith("@") or rest.startswith(("'s ", "’s ", ":")):
            return True
        return name.casefold() not in ORDINARY and bool(await viewers.called(self._db, [name.casefold()]))

    async def _keep(self, about: Whom, fact: str, event: ChatEvent) -> str:
        try:
            note = await remember.remember(
                self._db,
                about.id,
                defang(fact),
                by=event.user_id,
                at=self._clock.now(),
                scope=Scope.VIEWER if about.id is not None else Scope.CHANNEL,
                privacy=self._settings().privacy,
                word=remember.TOLD if moderates(event) else remember.VIEWERS_WORD,
                line=event.id,
            )
        except Refused as refused:
            return refusal(refused.rule)
        return f"Remembered about {'you' if about.own else about.name}: {await self._quoted(note)}"

    async def remember_this(self, wish: Wish, event: ChatEvent) -> str:
        """Keep what somebody said just before. Raises NotTheirs, Unknown."""
        about = await whom(self._db, event, wish.who)
        if about.id is None:
            return "Name a person: !remember this about NAME"
        lines = await self._lines_before(about.id, event)
        if not lines:
            return f"I see nothing that {'you' if about.own else about.name} said just before."
        facts = [fact for line in reversed(lines) if (fact := said_of_oneself(line)) is not None]
        fact = facts[0] if facts else f'said: "{" / ".join(lines)}"'
        return await self._unless_opted_out(event, lambda: self._keep(about, fact[:200], event))

    async def _lines_before(self, viewer_id: str, event: ChatEvent) -> list[str]:
        found = await events.latest_of(self._db, viewer_id, LINES_BEFORE + 1)
        fresh = [line for line in found if line.id != event.id and event.at - line.at <= JUST_BEFORE]
        return [line.text for line in fresh if line.text and not line.text.startswith("!")][-LINES_BEFORE:]

    # ── forget ──────────────────────────────────────────────────────────────────────────────

    async def forget(self, wish: Wish, event: ChatEvent) -> str:
        """Forget one note: for good by its subject, to be undone by a moderator. Raises NotTheirs, Unknown."""
        about, what = await self._about(wish.text, event)
        if not has_words(what):
            return "What shall I forget? !memory shows the numbers, !forget #12 forgets one."
        found = await self._find(about, what, event)
        if not found:
            return f"I find nothing like that about {'you' if about.own else about.name}."
        if len(found) > 1:
            listed = " · ".join([await self._shown(note) for note in found])
            return f"Which one? {listed} (!forget #{found[0].id} forgets the first)"
        return await self._let_go(found[0], event)

    async def _about(self, text: str, event: ChatEvent) -> tuple[Whom, str]:
        """Whom a text speaks of, and what: "@bob drums" is bob's, if a moderator says it."""
        name, rest = first_word(text.removeprefix("about "))
        own = Whom(event.user_id, event.display_name, own=True)
        if not moderates(event):
            if text.strip().startswith("@"):
                await whom(self._db, event, name)
            return own, text
        try:
            return await whom(self._db, event, name or "?"), rest
        except Unknown:
            if text.strip().startswith("@"):
                raise
            return own, text

    async def _find(self, about: Whom, what: str, event: ChatEvent) -> list[Note]:
        now, moderator = self._clock.now(), moderates(event)
        found = await remember.find(self._db, about.id, what, now=now, past=not moderator)
        if found or not moderator:
            return found
        found = await self._of_anybody(about, what)
        return found or (await remember.find(self._db, about.id, what, now=now, past=True) if about.own else [])

    async def _of_anybody(self, about: Whom, what: str) -> list[Note]:
        """What a moderator may mean besides: any note by its number, else what is known of the channel."""
        number = what.strip().removeprefix("#")
        if number.isdecimal():
            note = await notes.get(self._db, int(number[:15]))
            return [note] if note is not None else []
        return await remember.find(self._db, None, what, now=self._clock.now()) if about.own else []

    async def _let_go(self, note: Note, event: ChatEvent) -> str:
        shown = await self._shown(note)
        if note.subject_id == event.user_id:
            await forget_fact(self._db, note.id, at=self._clock.now())
            return f"Forgotten for good: {shown}"
        return await self._take_back(note.id, event)

    # ── wrong ───────────────────────────────────────────────────────────────────────────────

    async def wrong(self, wish: Wish, event: ChatEvent) -> str:
        """Take a note back, or bring it back. Raises NotTheirs."""
        if not moderates(event):
            raise NotTheirs
        if wish.confirmed:
            return await self._bring_back(int(wish.text))
        return await self._take_back(int(wish.text), event)

    async def _take_back(self, note_id: int, event: ChatEvent) -> str:
        try:
            cause = f"wrong, said {mention(event.user_id)}"
            note = await undoing.retract(self._db, note_id, at=self._clock.now(), cause=cause)
        except Refused as refused:
            return refusal(refused.rule)
        return f"Taken back: {await self._shown(note)} (!wrong #{note.id} undo brings it back)"

    async def _bring_back(self, note_id: int) -> str:
        try:
            note = await undoing.undo(self._db, note_id, at=self._clock.now())
        except Refused as refused:
            return refusal(refused.rule)
        return f"Back again: {await self._shown(note)}"

    async def _shown(self, note: Note) -> str:
        """A note by its number and its fact; by its number alone where it is to be left alone."""
        quiet = await never.silence(self._db)
        return await self._quoted(note) if quiet.allows(note) else f"#{note.id}"

    async def _quoted(self, note: Note) -> str:
        [fact] = await with_names(self._db, [note.fact])
        return f"#{note.id} {fact}"


def refusal(rule: str) -> str:
    """Why something is not kept, for the one who asked."""
    if rule.startswith("sensitive"):
        return "I don't keep that kind of thing about people."
    if rule.startswith("claim"):
        return "That is not mine to remember: roles and orders are no facts."
    return _REFUSALS.get(rule, "I can't keep that.")
