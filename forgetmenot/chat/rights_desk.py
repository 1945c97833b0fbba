"""The viewers' rights, as chat commands: see it, erase it, opt out of it, read what is kept.

Promises that each works without a model and in every mode; that nothing is erased unless it was confirmed; and that an
erasure which was promised here is finished even if the program stops (memory/erasure.Eraser.erase_due).
"""

import asyncio
from collections.abc import Callable

from forgetmenot.chat.whom import Whom, with_names
from forgetmenot.clock import MINUTE, Clock
from forgetmenot.domain.memory import Importance, Note, SourceKind
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import log
from forgetmenot.memory import never
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.notes.beliefs import LIVE
from forgetmenot.settings.schema import Settings
from forgetmenot.store import erasure, notes, rights, viewers
from forgetmenot.store.database import Database

_WEIGHT = {Importance.HIGH: 2, Importance.MEDIUM: 1, Importance.LOW: 0}
AGAIN_AFTER = 10 * MINUTE
_ROOM = 60
"""Characters kept free behind the facts, for the count of those that did not fit."""


class RightsDesk:
    """Answers `!memory`, `!forgetme`, `!optout`, `!optin`, `!privacy`."""

    def __init__(self, *, db: Database, eraser: Eraser, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._eraser = eraser
        self._settings = settings
        self._clock = clock
        self._begun: dict[str, int] = {}
        self._erasures: set[asyncio.Task[None]] = set()

    async def idle(self) -> None:
        """Wait until every erasure that was asked for is done."""
        while self._erasures:
            await asyncio.wait(self._erasures)

    async def memory(self, who: Whom) -> str:
        """What is known about somebody, the most important first, in one message."""
        held = sorted(await notes.of_subject(self._db, who.id, LIVE), key=_rank, reverse=True)
        if not held:
            return f"I know nothing about {'you' if who.own else who.name} yet."
        if who.id is not None and who.id in await rights.opted_out(self._db):  # what is said in chat is stored, too
            return f"Kept from before the opt-out, and unsaid since: {len(held)}. !forgetme erases that."
        quiet = await never.silence(self._db)
        shown = await self._shown(held)
        facts = [_told(fact, note) for note, fact in zip(held, shown, strict=True) if quiet.allows(note)]
        facts += [f"#{note.id} (left alone)" for note in held if not quiet.allows(note)]
        start = f"What I know about {'you' if who.own else who.name}: "
        return _fitting(start, facts, self._settings().reply.max_chars)

    async def _shown(self, held: list[Note]) -> list[str]:
        return await with_names(self._db, [note.fact for note in held])

    async def forget_me(self, who: Whom, *, confirmed: bool, typed: str) -> str:
        """Say what an erasure means, or begin it."""
        if who.id is None:
            return "I can forget a person, not a channel. Type !forgetme NAME."
        if await viewers.get(self._db, who.id) is None:
            return f"I hold nothing about {'you' if who.own else who.name}."
        whose = "you" if who.own else who.name
        if not confirmed:
            return (
                f"That erases everything about {whose}: notes, today's lines, what summaries say. "
                f"It cannot be undone. To do it, type !forgetme {typed + ' ' if typed else ''}confirm"
            )
        async with self._db.write() as tx:
            await erasure.begin(tx, who.id, self._clock.now())
        if not self._may_start(who.id):
            return "Noted: whatever came since is erased within minutes."
        self._start(who.id)
        whose = "you" if who.own else "them"  # without their name: this line is stored when they are gone
        ending = "you are new to me" if who.own else "they are new to me"
        return f"Erasing everything about {whose} now; it takes a few seconds. After that {ending}."

    def _may_start(self, viewer_id: str) -> bool:
        """Whether it is done at once. Not twice in a short time: it rebuilds the file. Then the chore does it."""
        now = self._clock.now()
        self._begun = {who: at for who, at in self._begun.items() if now - at < AGAIN_AFTER}
        return self._begun.setdefault(viewer_id, now) == now

    def _start(self, viewer_id: str) -> None:
        task = asyncio.create_task(self._erase(viewer_id), name="erasure")
        self._erasures.add(task)
        task.add_done_callback(self._erasures.discard)

    async def _erase(self, viewer_id: str) -> None:
        """What goes wrong here is tried again by the chore."""
        try:
            await self._eraser.erase(viewer_id)
        except ForgetMeNotError as error:
            log.warning("an erasure was interrupted and will be finished later", error=type(error).__name__)

    async def opt_out(self, who: Whom) -> str:
        """Store nothing of them from now on."""
        if who.id is None:
            return "A person can opt out, not a channel."
        async with self._db.write() as tx:
            await rights.opt_out(tx, who.id, self._clock.now())
        await self._db.wipe_deleted()
        told = "you say" if who.own else f"{who.name} says"
        return f"Done: nothing {told} is stored from now on, and what I knew stays unsaid. !forgetme erases it, too."

    async def opt_in(self, who: Whom) -> str:
        """Take that back."""
        if who.id is None:
            return "A person can opt in, not a channel."
        async with self._db.write() as tx:
            was_out = await rights.opt_in(tx, who.id)
        whose = "you" if who.own else who.name
        return f"Welcome back: I remember {whose} again." if was_out else f"I remember {whose} already."

    def privacy(self) -> str:
        """What is kept, in one line, with the streamer's link."""
        settings = self._settings()
        link = f" {settings.privacy.privacy_url}" if settings.privacy.privacy_url else ""
        hours = f"{settings.memory.raw_events_h:g}"
        return (
            f"I keep short notes and summaries; chat itself is gone after {hours} h. !memory shows yours, "
            f"!forgetme erases them, !optout keeps you out.{link}"
        )


def _rank(note: Note) -> tuple[bool, int, float, int]:
    return (note.pinned, _WEIGHT[note.importance], note.confidence, note.last_confirmed_at)


def _told(fact: str, note: Note) -> str:
    hearsay = " (others say)" if note.source_kind is SourceKind.REPORTED else ""
    return f"#{note.id} {fact}{hearsay}"


def _fitting(start: str, facts: list[str], room: int) -> str:
    """As many facts as fit, and how many are left."""
    line, shown = start + facts[0][: room - len(start) - _ROOM], 1
    for fact in facts[1:]:
        if len(line) + len(fact) + 3 > room - _ROOM:
            break
        line, shown = f"{line} · {fact}", shown + 1
    left = len(facts) - shown
    return f"{line} · and {left} more; the streamer can hand you the whole file." if left else line
