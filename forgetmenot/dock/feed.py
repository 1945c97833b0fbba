"""Server-sent events for the dock: one periodic query for all open pages together.

- No work while no page is open.
- A page that was away, or too slow and was disconnected, comes back by itself and begins anew with the newest.

Events: `hello` (its `hidden` changes when somebody was hidden or erased, and pages reload), `now` (status), `items`
(new or changed), `gone` (keys of cleared lines), `changed` (reload).
"""

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec
from aiohttp import web

from forgetmenot.clock import MINUTE
from forgetmenot.dock import panels
from forgetmenot.dock.panels import CONTEXT, DockContext, Item
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import log
from forgetmenot.store import dock_rows
from forgetmenot.store.dock_rows import FeedCursor

LOOK_EVERY_S = 0.05  # only asks SQLite whether anything was written; chat is, four times a second at most
LOOK_ANYWAY = 110  # looks: times pass even when nothing is written
STILL_HERE_S = 15.0
BEHIND_AT_MOST = 60
NEWEST = 30

Messages = asyncio.Queue[bytes | None]


class EventFeed:
    """Polls the database and sends events to open pages."""

    def __init__(self) -> None:
        self._listeners: set[Messages] = set()
        self._looking: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()
        self._cursor = FeedCursor()
        self._shown: dict[str, Item] | None = None  # None: not looked yet, so nothing is new
        self._standing: Item = {}
        self._cleared_at = 0
        self._hidden = ""
        self._version = ""
        self._touched = False

    def touched(self) -> None:
        """Something was changed from a page: all pages look again."""
        self._touched = True

    def send(self, name: str, data: object) -> None:
        """Send an event to all pages now."""
        self._send_to_pages(event(name, data))

    async def listen(self, context: DockContext) -> Messages:
        """Subscribe, beginning with how things stand and the newest of what happened."""
        messages: Messages = asyncio.Queue(BEHIND_AT_MOST)
        async with self._beginning:  # all docks come back at the same time when the bot was started again
            if self._looking is None:
                self._cursor = await dock_rows.feed_cursor(context.db)
                self._cleared_at = context.clock.now()
                self._hidden, self._version = await dock_rows.hidden_revision(context.db), context.version
                self._looking = asyncio.create_task(self._look_on(context), name="dock's look")
            self._listeners.add(messages)
        try:
            messages.put_nowait(_hello(context, await dock_rows.hidden_revision(context.db), fresh=True))
            messages.put_nowait(event("now", await panels.standing(context)))
            messages.put_nowait(event("items", await panels.history(context)))
        except BaseException:
            self.leave(messages)
            raise
        return messages

    def leave(self, messages: Messages) -> None:
        """Unsubscribe; without pages polling stops."""
        self._listeners.discard(messages)
        if not self._listeners and self._looking is not None:
            self._looking.cancel()
            self._looking = None
            self._shown = None

    async def aclose(self) -> None:
        """Close every page's stream."""
        for messages in list(self._listeners):
            self._end(messages)
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking
            self._looking = None

    async def _look_on(self, context: DockContext) -> None:
        seen, looks = -1, 0
        while True:
            try:
                version, looks = await context.db.data_version(), looks + 1
                if version != seen or self._touched or looks % LOOK_ANYWAY == 0:
                    seen = version
                    await self._look(context)
            except ForgetMeNotError as error:
                log.warning("the dock could not look", reason=str(error))
            await asyncio.sleep(LOOK_EVERY_S)

    async def _look(self, context: DockContext) -> None:
        await self._begin_anew(context)
        if self._version != context.version:  # another language: pages load themselves again
            self._version = context.version
            self._send_to_pages(_hello(context, self._hidden, fresh=False))
        before, self._cursor = self._cursor, await dock_rows.feed_cursor(context.db)
        items = await self._news(context, before)
        standing = await panels.standing(context)
        if standing != self._standing:
            self._standing = standing
            self._send_to_pages(event("now", {**standing, "at": context.clock.now()}))
        if items:
            self._send_to_pages(event("items", items))
        await self._cleared(context)
        if self._touched or any(item["kind"] != "line" for item in items):
            self._touched = False
            self._send_to_pages(event("changed", {}))

    async def _begin_anew(self, context: DockContext) -> None:
        """If somebody was hidden, let in again or erased: open pages show what a new one would."""
        before, self._hidden = self._hidden, await dock_rows.hidden_revision(context.db)
        if self._hidden != before:
            self._send_to_pages(_hello(context, self._hidden, fresh=True))
            self._send_to_pages(event("items", await panels.history(context)))
            self._touched = True

    async def _news(self, context: DockContext, before: FeedCursor) -> list[Item]:
        """What is new, and those of the newest replies and actions that have changed."""
        db = context.db
        news = await dock_rows.lines(db, before.line, 10 * NEWEST)
        news += await panels.episode_items(context, await dock_rows.feed_episodes(db, before.episode, NEWEST))
        news += await panels.note_items(context, await dock_rows.changes(db, before.change, NEWEST))
        moving = await panels.reply_items(context, NEWEST)
        moving += await panels.action_items(context, NEWEST)
        shown, self._shown = self._shown, {str(item["key"]): item for item in moving}
        return news if shown is None else news + [item for item in moving if shown.get(str(item["key"])) != item]

    async def _cleared(self, context: DockContext) -> None:
        since, self._cleared_at = self._cleared_at, context.clock.now()
        gone = await dock_rows.taken_away(context.db, since - MINUTE)
        if gone:
            self._send_to_pages(_gone(gone))

    def _send_to_pages(self, message: bytes) -> None:
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


STREAM = web.AppKey("stream", EventFeed)


def event(name: str, data: object) -> bytes:
    """One server-sent event."""
    return f"event: {name}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


def _hello(context: DockContext, hidden: str, *, fresh: bool) -> bytes:
    return event("hello", {"build": context.version, "at": context.clock.now(), "fresh": fresh, "hidden": hidden})


def _gone(lines: Sequence[int]) -> bytes:
    return event("gone", [f"line:{seq}" for seq in lines])


async def events(request: web.Request) -> web.StreamResponse:
    """`GET /events`: never ends by itself."""
    context, stream = request.app[CONTEXT], request.app[STREAM]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    await response.write(b"retry: 1000\n\n")
    messages = await stream.listen(context)
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
