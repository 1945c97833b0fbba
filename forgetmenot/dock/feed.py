"""Server-sent events for the dock: one periodic query for all open pages together.

- No work while no page is open.
- A page shows what `now.history` has at the moment: it is sent what is new or changed there, and what has left it,
  whether that is old, was cleared, or is of somebody who was hidden or erased.
- A page that was away, or too slow and was disconnected, comes back by itself and begins anew.

Events: `hello`, `now` (status), `items` (new or changed), `gone` (keys), `changed` (pages read their rows again).
"""

import asyncio
import contextlib
from collections.abc import Iterable

from aiohttp import web

from forgetmenot.dock.context import CONTEXT, DockContext, Item
from forgetmenot.dock.pages import now
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import log
from forgetmenot.server_sent_events import (
    STILL_HERE,
    STILL_HERE_EVERY_S,
    event,
    open_stream,
)

# A look only asks SQLite whether anything was written; chat is, four times a second at most.
LOOK_EVERY_S = 0.05
# Looks after which pages are brought up to date although nothing was written, because times pass.
LOOKS_UNTIL_UPDATE = 110
# Messages: a page that is further behind than this hangs, and would hold them all.
BEHIND_LIMIT = 60

# What is to be sent to one page; None ends its stream.
Messages = asyncio.Queue[bytes | None]


class EventFeed:
    """Polls the database and sends events to open pages."""

    def __init__(self) -> None:
        self._listeners: set[Messages] = set()
        self._looking: asyncio.Task[None] | None = None
        self._one_look = asyncio.Lock()
        self._shown: dict[str, Item] = {}
        self._standing: Item = {}
        self._version = ""
        self._touched = False

    def touched(self) -> None:
        """Let all pages look again: something was changed from one of them."""
        self._touched = True

    async def listen(self, context: DockContext) -> Messages:
        """Subscribe, beginning with how things stand and the newest of what happened."""
        messages: Messages = asyncio.Queue(BEHIND_LIMIT)
        # After a restart of the bot all open docks come back at the same time: they share one look.
        async with self._one_look:
            standing = await now.standing(context)
            if self._looking is None:
                self._version = context.version
                self._shown = await _window(context)
                self._looking = asyncio.create_task(
                    self._look_on(context), name="dock's look"
                )
            else:
                await self._look(context)
            hello = _hello(context, fresh=True)
            items = list(self._shown.values())
            messages.put_nowait(hello)
            messages.put_nowait(event("now", standing))
            messages.put_nowait(event("items", items))
            self._listeners.add(messages)
        return messages

    def leave(self, messages: Messages) -> None:
        """Unsubscribe; without pages polling stops."""
        self._listeners.discard(messages)
        if not self._listeners and self._looking is not None:
            self._looking.cancel()
            self._looking = None
            self._shown = {}

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
        """Look for changes until cancelled."""
        # No version of SQLite's: the first look is always made.
        shown_version = -1
        looks = 0
        while True:
            try:
                version = await context.db.data_version()
                looks += 1
                is_changed = version != shown_version or self._touched
                if is_changed or looks % LOOKS_UNTIL_UPDATE == 0:
                    shown_version = version
                    async with self._one_look:
                        await self._look(context)
            except ForgetMeNotError as error:
                log.warning("the dock could not look", reason=str(error))
            await asyncio.sleep(LOOK_EVERY_S)

    async def _look(self, context: DockContext) -> None:
        """Send to all pages what has changed since the last look."""
        if self._version != context.version:
            # Another language was chosen: a page that is sent another version loads itself again.
            self._version = context.version
            hello = _hello(context, fresh=False)
            self._send_to_pages(hello)
        before = self._shown
        window = await _window(context)
        self._shown = window
        items = []
        for key, item in window.items():
            if before.get(key) != item:
                items.append(item)
        gone_keys = [key for key in before if key not in window]
        standing = await now.standing(context)
        if standing != self._standing:
            self._standing = standing
            # The time of sending is no part of how things stand: it alone is no reason to send.
            sent_at = context.clock.now()
            sent_standing = {**standing, "at": sent_at}
            self._send_to_pages(event("now", sent_standing))
        if items:
            self._send_to_pages(event("items", items))
        if gone_keys:
            self._send_to_pages(event("gone", gone_keys))
        gone_items = [before[key] for key in gone_keys]
        if self._touched or self._changes_other_pages(items, gone_items):
            self._touched = False
            self._send_to_pages(event("changed", {}))

    def _changes_other_pages(
        self, new_items: Iterable[Item], gone_items: Iterable[Item]
    ) -> bool:
        """Return whether pages that show more than the feed have to read their rows again."""
        for item in new_items:
            # Chat is nothing that they show; everything else may be.
            if item["kind"] != "line":
                return True
        # What is older than all that is shown only made room for something newer. What is not was cleared, or is of
        # somebody who was hidden or erased.
        shown_items = list(self._shown.values())
        oldest_at = shown_items[0]["at"] if shown_items else 0
        return any(item["at"] >= oldest_at for item in gone_items)

    def _send_to_pages(self, message: bytes) -> None:
        for messages in list(self._listeners):
            try:
                messages.put_nowait(message)
            except asyncio.QueueFull:
                # The page comes back by itself and begins anew.
                self._end(messages)

    def _end(self, messages: Messages) -> None:
        """End the stream of one page."""
        self._listeners.discard(messages)
        # The queue may be full, and what is in it the page would be sent again when it comes back.
        while not messages.empty():
            messages.get_nowait()
        messages.put_nowait(None)


STREAM = web.AppKey("stream", EventFeed)


async def _window(context: DockContext) -> dict[str, Item]:
    """Return what a page shows of what happened, by key."""
    items = await now.history(context)
    return {item["key"]: item for item in items}


def _hello(context: DockContext, *, fresh: bool) -> bytes:
    """Return the event that names the version of a page. `fresh`: the page forgets what it has, and begins anew."""
    values = {
        "build": context.version,
        "at": context.clock.now(),
        "fresh": fresh,
    }
    return event("hello", values)


async def events(request: web.Request) -> web.StreamResponse:
    """`GET /api/events`: never ends by itself."""
    context = request.app[CONTEXT]
    stream = request.app[STREAM]
    response = await open_stream(request)
    messages = await stream.listen(context)
    try:
        while True:
            try:
                # Not wait_for: before Python 3.12 it loses a cancellation that comes with a message.
                async with asyncio.timeout(STILL_HERE_EVERY_S):
                    message = await messages.get()
            except TimeoutError:
                message = STILL_HERE
            if message is None:
                return response
            await response.write(message)
    except ConnectionError:
        return response
    finally:
        stream.leave(messages)
