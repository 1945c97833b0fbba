"""What happens reaches every open page, and a page that was away catches up."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.dock import feed
from forgetmenot.dock.pages.now import FEED_LIMIT
from forgetmenot.server_sent_events import event
from forgetmenot.store import channel_state, viewers
from forgetmenot.store.database import Database
from tests.dock.conftest import Served
from tests.rows import put

NUMBERS = itertools.count(1)


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "LOOK_EVERY_S", 0.02)


async def say(
    db: Database, clock: ManualClock, text: str, viewer: str = "1", name: str = "Alice"
) -> None:
    async with db.write() as tx:
        await viewers.add_unseen(tx, {viewer: name.lower()}, 1)
        await put(
            tx,
            "events",
            id=f"{next(NUMBERS)}",
            viewer_id=viewer,
            text=text,
            at=clock.now(),
        )


Told = tuple[str, str, object]


async def dock_events(answer: aiohttp.ClientResponse) -> AsyncIterator[Told]:
    """Events: name, id, data."""
    name = ""
    mark = ""
    async for raw in answer.content:
        line = raw.decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("id: "):
            mark = line[4:]
        elif line.startswith("data: "):
            yield name, mark, json.loads(line[6:])
            name = ""
            mark = ""


async def until(events: AsyncIterator[Told], name: str, needle: str = "") -> Told:
    async with asyncio.timeout(60):
        async for event in events:
            if event[0] == name and needle in json.dumps(event[2]):
                return event
    raise AssertionError(f"no {name}")


async def test_a_cleared_line_and_who_opted_out_are_taken_from_the_page(
    dock: Served, db: Database, clock: ManualClock
) -> None:
    await say(db, clock, "something rude")
    await say(db, clock, "secret", viewer="2", name="Bob")
    async with dock.client.get(f"{dock.origin}/api/events") as answer:
        events = dock_events(answer)
        await until(events, "items", "rude")
        async with db.write() as tx:
            await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '2'")
        assert (await until(events, "gone"))[2] == ["line:2"]
        async with db.write() as tx:
            await tx.execute(
                "UPDATE events SET text = '', redacted_at = ?", (clock.now(),)
            )
        assert (await until(events, "gone"))[2] == ["line:1"]
    await say(db, clock, "meanwhile")
    async with dock.client.get(
        f"{dock.origin}/api/events"
    ) as answer:  # a page that comes back begins anew
        events = dock_events(answer)
        assert '"fresh": true' in json.dumps((await until(events, "hello"))[2])
        items = (await until(events, "items"))[2]
        assert [item["text"] for item in list(items)] == ["meanwhile"]  # type: ignore[call-overload]


async def before_changed(events: AsyncIterator[Told]) -> str:
    """What comes until pages are asked to read their rows again."""
    messages = []
    async with asyncio.timeout(60):
        async for event in events:
            if event[0] == "changed":
                break
            messages.append(event)
    return json.dumps(messages)


async def test_pages_read_their_rows_again_for_more_than_chat(
    dock: Served, db: Database, clock: ManualClock
) -> None:
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"1": "alice", "2": "bob"}, 1)
        for number in range(1, FEED_LIMIT + 1):
            row = {"id": f"old{number}", "viewer_id": "1", "text": "hi", "at": number}
            await put(tx, "events", **row)
    async with dock.client.get(f"{dock.origin}/api/events") as answer:
        events = dock_events(answer)
        await until(events, "items")
        # chat alone changes nothing else, also where it pushes an old line out
        await say(db, clock, "only chat", viewer="2", name="Bob")
        assert (await until(events, "gone"))[2] == ["line:1"]
        async with db.write() as tx:
            await put(tx, "episodes", summary="Of ladders.", ended_at=clock.now())
        assert "Of ladders." in await before_changed(events)
        # somebody who is hidden is hidden on every page
        async with db.write() as tx:
            await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '2'")
        assert '"gone"' in await before_changed(events)
        # a button may have changed anything
        assert (await dock.post("/api/do/pause", {}))[0] == 200
        await before_changed(events)


async def test_another_language_has_pages_load_themselves_again(dock: Served) -> None:
    async with dock.client.get(f"{dock.origin}/api/events") as answer:
        events = dock_events(answer)
        assert '-en", ' in json.dumps(await until(events, "hello"))
        dock.settings.change({("bot", "language"): "de"}, lambda _settings: None)
        hello = json.dumps(await until(events, "hello"))
        assert '-de", ' in hello
        assert '"fresh": false' in hello


async def test_how_things_stand_is_sent_as_it_changes(
    dock: Served, db: Database, clock: ManualClock
) -> None:
    async with dock.client.get(f"{dock.origin}/api/events") as answer:
        events = dock_events(answer)
        await until(events, "now")
        async with db.write() as tx:
            await channel_state.put(tx, {"title": "Up the ladder"}, clock.now())
        await until(events, "now", "Up the ladder")


async def test_a_silent_stream_is_kept_open_by_comments(
    dock: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "STILL_HERE_EVERY_S", 0.05)
    comments = 0
    async with (
        dock.client.get(f"{dock.origin}/api/events") as answer,
        asyncio.timeout(60),
    ):
        async for line in answer.content:
            comments += line == b": still here\n"
            if comments == 2:
                break
    assert comments == 2


def looking() -> list[asyncio.Task[object]]:
    return [task for task in asyncio.all_tasks() if task.get_name() == "dock's look"]


async def test_pages_that_come_at_the_same_time_share_one_look_and_without_a_page_there_is_none(
    dock: Served, db: Database
) -> None:
    """As all open docks do when the bot was started again."""
    assert not looking()
    async with contextlib.AsyncExitStack() as stack:
        ask = [
            stack.enter_async_context(dock.client.get(f"{dock.origin}/api/events"))
            for _ in range(5)
        ]
        for answer in await asyncio.gather(*ask):
            await until(dock_events(answer), "items")
        assert len(looking()) == 1
    async with asyncio.timeout(60):
        while looking():  # the server notices at its next word to the page that is gone
            await say(db, ManualClock(1), "still there?")
            await asyncio.sleep(0.05)


async def test_a_slow_page_is_cut_off_and_holds_nobody_up() -> None:
    stream = feed.EventFeed()
    slow: feed.Messages = asyncio.Queue(2)
    stream._listeners.add(slow)
    for number in range(5):
        stream._send_to_pages(event("now", number))
    assert slow.get_nowait() is None
