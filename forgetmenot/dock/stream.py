"""What happens, as server-sent events: one look at the database every so often for all open pages together.

Promises no work at all while nobody looks; that a page which was away gets what it missed, told by its last event's
id; that a slow page never holds up the bot (it is cut off, comes back by itself and catches up). Events: `hello` (its
`hidden` is another after somebody was hidden or erased: what a page shows is no longer right), `now` (how things
stand), `items` (new or changed), `gone` (keys of cleared lines), `changed` (look again), `erasing` (how far an erasure
is).
"""

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec
from aiohttp import web

from forgetmenot.clock import MINUTE
from forgetmenot.dock import now
from forgetmenot.dock.desk import DESK, Desk
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import log
from forgetmenot.store.dock import feed as dock_feed
from forgetmenot.store.dock.feed import Marks

LOOK_EVERY_S = 0.7
LOOK_ANYWAY = 8  # looks: times pass even when nothing is written
STILL_HERE_S = 15.0
BEHIND_AT_MOST = 60
NEWEST = 30

Messages = asyncio.Queue[bytes | None]


class Stream:
    """The looking, and who is told."""

    def __init__(self) -> None:
        self._listeners: set[Messages] = set()
        self._looking: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._marks = Marks()
        self._shown: dict[str, now.Item] = {}
        self._standing: now.Item = {}
        self._cleared_at = 0
        self._hidden = ""
        self._touched = False

    def touched(self) -> None:
        """Something was changed from a page: all pages look again."""
        self._touched = True

    def tell(self, name: str, data: object) -> None:
        """Send all pages an event at once."""
        self._tell(event(name, data))

    async def listen(self, desk: Desk, after: Marks | None) -> Messages:
        """Be told of everything from now on, beginning with what happened since those marks."""
        messages: Messages = asyncio.Queue(BEHIND_AT_MOST)
        async with self._beginning:  # all docks come back at the same time when the bot was started again
            if self._looking is None:
                self._marks = await dock_feed.marks(desk.db)
                self._cleared_at = desk.clock.now()
                self._hidden = await dock_feed.hidden(desk.db)
                self._looking = asyncio.create_task(self._look_on(desk), name="dock's look")
            self._listeners.add(messages)
        try:
            await self._greet(messages, desk, after)
        except BaseException:
            self.leave(messages)
            raise
        return messages

    async def _greet(self, messages: Messages, desk: Desk, after: Marks | None) -> None:
        """How things stand, and what happened since those marks."""
        here = await dock_feed.marks(desk.db)
        messages.put_nowait(_hello(desk, await dock_feed.hidden(desk.db), fresh=after is None))
        messages.put_nowait(event("now", await now.standing(desk)))
        messages.put_nowait(event("items", await now.history(desk, after or Marks()), mark=here))
        if after is not None:
            messages.put_nowait(_gone(await dock_feed.taken_away(desk.db, 0)))
            messages.put_nowait(event("changed", {}))

    def leave(self, messages: Messages) -> None:
        """Be told no more; with the last one the looking ends."""
        self._listeners.discard(messages)
        if not self._listeners and self._looking is not None:
            self._looking.cancel()
            self._looking = None
            self._shown.clear()

    async def aclose(self) -> None:
        """Let every page go."""
        for messages in list(self._listeners):
            self._end(messages)
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    async def _look_on(self, desk: Desk) -> None:
        seen, looks = -1, 0
        while True:
            try:
                version, looks = await desk.db.data_version(), looks + 1
                if version != seen or self._touched or looks % LOOK_ANYWAY == 0:
                    seen = version
                    await self._look(desk)
            except ForgetMeNotError as error:
                log.warning("the dock could not look", reason=str(error))
            await asyncio.sleep(LOOK_EVERY_S)

    async def _look(self, desk: Desk) -> None:
        await self._begin_anew(desk)
        before, self._marks = self._marks, await dock_feed.marks(desk.db)
        items = await self._news(desk, before)
        standing = await now.standing(desk)
        if standing != self._standing:
            self._standing = standing
            self._tell(event("now", {**standing, "at": desk.clock.now()}))
        if items:
            self._tell(event("items", items, mark=self._marks))
        await self._cleared(desk)
        if self._touched or any(item["kind"] != "line" for item in items):
            self._touched = False
            self._tell(event("changed", {}))

    async def _begin_anew(self, desk: Desk) -> None:
        """If somebody was hidden, let in again or erased: open pages show what a new one would."""
        before, self._hidden = self._hidden, await dock_feed.hidden(desk.db)
        if self._hidden != before:
            self._tell(_hello(desk, self._hidden, fresh=True))
            self._tell(event("items", await now.history(desk, Marks())))
            self._touched = True

    async def _news(self, desk: Desk, before: Marks) -> list[now.Item]:
        """What is new, and those of the newest replies and actions that have changed."""
        db = desk.db
        found = now.heard(await dock_feed.lines(db, before.line, 10 * NEWEST))
        found += await now.episodes(desk, await dock_feed.episodes(db, before.episode, NEWEST))
        found += await now.notes(desk, await dock_feed.changes(db, before.change, NEWEST))
        moving = await now.replies(desk, await dock_feed.replies(db, NEWEST))
        moving += await now.actions(desk, await dock_feed.actions(db, NEWEST))
        first = not self._shown
        changed = [item for item in moving if self._shown.get(str(item["key"])) != item]
        self._shown = {str(item["key"]): item for item in moving}
        return found if first else found + changed

    async def _cleared(self, desk: Desk) -> None:
        since, self._cleared_at = self._cleared_at, desk.clock.now()
        gone = await dock_feed.taken_away(desk.db, since - MINUTE)
        if gone:
            self._tell(_gone(gone))

    def _tell(self, message: bytes) -> None:
        for messages in list(self._listeners):
            try:
                messages.put_nowait(message)
            except asyncio.QueueFull:  # it comes back by itself and catches up
                self._end(messages)

    def _end(self, messages: Messages) -> None:
        self._listeners.discard(messages)
        while not messages.empty():
            messages.get_nowait()
        messages.put_nowait(None)


STREAM = web.AppKey("stream", Stream)


def event(name: str, data: object, mark: Marks | None = None) -> bytes:
    """One server-sent event; with a mark, one that a page can go on from."""
    place = f"id: {mark.line}.{mark.episode}.{mark.change}\n".encode() if mark is not None else b""
    return place + f"event: {name}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


def _hello(desk: Desk, hidden: str, *, fresh: bool) -> bytes:
    return event("hello", {"build": desk.build, "at": desk.clock.now(), "fresh": fresh, "hidden": hidden})


def _gone(lines: Sequence[int]) -> bytes:
    return event("gone", [f"line:{seq}" for seq in lines])


def marks_of(text: str) -> Marks | None:
    """The marks in a last event's id; None for what is none."""
    parts: Sequence[str] = text.split(".")
    if len(parts) != len(Marks._fields) or not all(part.isdecimal() and len(part) < 16 for part in parts):
        return None
    return Marks(*(int(part) for part in parts))


async def events(request: web.Request) -> web.StreamResponse:
    """`GET /events`: never ends by itself."""
    desk, stream = request.app[DESK], request.app[STREAM]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    await response.write(b"retry: 1000\n\n")
    after = marks_of(request.headers.get("Last-Event-ID") or request.query.get("after", ""))
    messages = await stream.listen(desk, await _plausible(desk, after))
    try:
        while True:
            try:
                message = await asyncio.wait_for(messages.get(), STILL_HERE_S)
            except TimeoutError:
                message = b": still here\n\n"
            if message is None:
                return response
            await response.write(message)
    except ConnectionError:
        return response
    finally:
        stream.leave(messages)


async def _plausible(desk: Desk, after: Marks | None) -> Marks | None:
    """Marks of another database would hide what is new in this one."""
    here = await dock_feed.marks(desk.db)
    return after if after is None or all(a <= b for a, b in zip(after, here, strict=True)) else None
