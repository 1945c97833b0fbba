"""The interface for other programs: off until it is on, read only, and nobody in it who may not be told of."""

import asyncio
import contextlib
import importlib
import json
import random
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace
from yarl import URL

from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE as DOCK_TOKEN_FILE
from forgetmenot.domain import Scope
from forgetmenot.durations import DAY
from forgetmenot.local_api import events
from forgetmenot.local_api.server import LISTENERS_LIMIT, TOKEN_FILE
from forgetmenot.privacy import suppression_list
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import LocalApiSettings, MemorySettings, Settings
from forgetmenot.store import channel_state, privacy_choices, quotes, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.quotes import NewQuote
from tests.dock.conftest import fake_dock
from tests.notes_world import World, world
from tests.ports import unused_port

__all__ = ["world"]

ON = Settings(local_api=LocalApiSettings(enabled=True))
SECRET = "plays the theremin"
HOSTILE_PATHS = (
    "viewers/alice",
    "viewers/hidden",
    "viewers/30",
    "viewers/<@30>",
    "viewers/",
    "viewers/alice/notes",
    "viewers/alice%00",
    "viewers/'%20OR%201=1",
    "viewers/%F0%9F%92%A9",
    "viewers/" + "a" * 4000,
    "viewers/%2e%2e",
    "viewers/..%2f..%2fapi%2fsettings",
    "../api/settings",
    "%2e%2e/api/settings",
    "channel",
    "book",
    "recap",
    "openapi.json",
    "events",
)


@dataclass
class Interface:
    """The interface as another program has it."""

    settings: LiveSettings
    folder: Path
    port: int
    client: aiohttp.ClientSession

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/"

    @property
    def token(self) -> str:
        return (self.folder / TOKEN_FILE).read_text()

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        sent_headers = {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        async with self.client.get(self.address + path, headers=sent_headers) as answer:
            return answer.status, await answer.json(content_type=None)

    async def read(self, path: str) -> Any:  # noqa: ANN401  # JSON
        status, value = await self.get(path, Authorization=f"Bearer {self.token}")
        assert status == 200, value
        return value

    async def status(self, path: str) -> int:
        return (await self.get(path, Authorization=f"Bearer {self.token}"))[0]


@contextlib.asynccontextmanager
async def served(
    db: Database,
    clock: ManualClock,
    settings: Settings = ON,
) -> AsyncIterator[Interface]:
    live = LiveSettings(settings)
    port = unused_port()
    async with (
        fake_dock(db, clock, port, live=live),
        aiohttp.ClientSession() as client,
    ):
        interface = Interface(live, db.path.parent, port, client)
        await interface.get("channel")  # the first request makes the token
        yield interface


@pytest.fixture
async def interface(
    world: World,
    db: Database,
    clock: ManualClock,
) -> AsyncIterator[Interface]:
    await world.regulars("1")
    await world.note(SECRET)
    async with served(db, clock) as made:
        yield made


async def test_while_it_is_off_nothing_answers_and_nothing_of_it_is_written(
    db: Database, clock: ManualClock
) -> None:
    async with served(db, clock, Settings()) as interface:
        for path in ("channel", "viewers/alice", "openapi.json", "events"):
            status, answer = await interface.get(path, Authorization="Bearer x")
            assert status == 404
            assert "token" not in json.dumps(answer)
        assert not (interface.folder / TOKEN_FILE).exists()


async def test_a_viewer_is_told_as_the_streamers_card_tells_them(
    interface: Interface, db: Database, clock: ManualClock
) -> None:
    async with db.write() as tx:
        words = {"called": "Ally", "say_as": "al-ee", "pronouns": "they/them"}
        await viewers.set_wishes(tx, "1", words, clock.now())
    alice = await interface.read("viewers/alice")
    assert alice == {
        "login": "alice",
        "name": "Ally",
        "say": "al-ee",
        "pronouns": "they/them",
        "streams": 5,
        "streak": 5,
        "last_seen": alice["last_seen"],
        "regular": True,
        "card": SECRET,
    }
    assert alice["last_seen"].endswith("Z")
    assert await interface.read("viewers/ALICE") == alice
    bob = await interface.read("viewers/bob")
    assert (bob["streams"], bob["regular"], bob["card"]) == (0, False, "")


async def test_nobody_is_told_of_who_may_not_be(
    world: World, db: Database, clock: ManualClock
) -> None:
    for number, login in enumerate(
        ("left", "banned", "erased", "ignored", "nightbot", "itself"), start=20
    ):
        await world.viewer(str(number), login)
        await world.note(f"{SECRET} {login}", str(number))
    async with db.write() as tx:
        await privacy_choices.opt_out(tx, "20", clock.now())
        await privacy_choices.ban(tx, {"21": clock.now()})
        await privacy_choices.hide_for_erasure(tx, "22", clock.now())
        await channel_state.put(tx, {"bot_id": "25"}, clock.now())
    settings = replace(ON, memory=MemorySettings(ignored_viewers=("@Ignored",)))
    async with served(db, clock, settings) as interface:
        unknown = await interface.get(
            "viewers/nobody", Authorization=f"Bearer {interface.token}"
        )
        assert unknown[0] == 404
        for login in ("left", "banned", "erased", "ignored", "nightbot", "itself"):
            answer = await interface.get(
                f"viewers/{login}", Authorization=f"Bearer {interface.token}"
            )
            assert answer == unknown, login


async def test_an_erased_viewer_is_gone_with_the_next_request(
    interface: Interface, db: Database, clock: ManualClock
) -> None:
    assert await interface.status("viewers/alice") == 200
    async with db.write() as tx:
        await privacy_choices.hide_for_erasure(tx, "1", clock.now())
    assert await interface.status("viewers/alice") == 404


async def test_what_is_never_mentioned_is_not_told_here_either(
    interface: Interface, world: World, db: Database, clock: ManualClock
) -> None:
    await world.note("the chair squeaks", None, scope=Scope.RUNNING_BIT)
    await world.note("<@1> sings to the chair", None, scope=Scope.RUNNING_BIT)
    channel = await interface.read("channel")
    assert channel["running_bits"] == ["Alice sings to the chair", "the chair squeaks"]
    for topic in ("chair", "theremin"):
        await suppression_list.suppress(db, None, topic, by="9", at=clock.now())
    assert (await interface.read("channel"))["running_bits"] == []
    assert (await interface.read("viewers/alice"))["card"] == ""


async def test_the_book_is_told_without_people_who_may_not_be(
    interface: Interface, world: World, db: Database, clock: ManualClock
) -> None:
    stream = await world.stream()
    await world.note("the chair squeaks", None, scope=Scope.RUNNING_BIT)
    async with db.write() as tx:
        for viewer_id, text in (("1", "never trust a goose"), ("2", "I did it")):
            quote = NewQuote(viewer_id, text, text, stream, clock.now(), "9")
            await quotes.add(tx, quote)
        await privacy_choices.ban(tx, {"2": clock.now()})
    entries = (await interface.read("book"))["entries"]
    assert [(entry["kind"], entry["text"]) for entry in entries] == [
        ("quote", "Alice: “never trust a goose”"),
        ("joke", "the chair squeaks"),
    ]
    assert entries[0]["minutes"] == "0:00"


async def test_the_newest_recap_is_told_also_while_the_next_stream_is_on(
    interface: Interface, world: World
) -> None:
    assert await interface.status("recap") == 404
    await world.over("1", recap="Chat built a bridge.")
    await world.stream()
    recap = await interface.read("recap")
    assert "Chat built a bridge." in recap["markdown"]
    assert recap["ended"] > recap["started"]


@pytest.mark.slow
async def test_two_thousand_hostile_requests_learn_nothing(
    interface: Interface, world: World, db: Database, clock: ManualClock
) -> None:
    await world.viewer("30", "hidden")
    await world.note(f"{SECRET} secretly", "30")
    async with db.write() as tx:
        await privacy_choices.ban(tx, {"30": clock.now()})
    dock_token = (interface.folder / DOCK_TOKEN_FILE).read_text()
    token = interface.token
    chance = random.Random(39)
    bearer = f"Bearer {token}"
    headers: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {dock_token}"},
        {"Authorization": f"Basic {token}"},
        {"Authorization": bearer[:-1]},
        {"Authorization": f"{bearer}x"},
        {"X-Dock-Token": token},
        {"Cookie": f"token={token}"},
        {"Authorization": bearer, "Origin": "https://evil.example"},
        {"Authorization": bearer, "Origin": "null"},
        {"Authorization": bearer, "Sec-Fetch-Site": "cross-site"},
        {"Authorization": bearer, "Sec-Fetch-Site": "none"},
        {"Authorization": bearer, "Host": "evil.example"},
        {"Authorization": bearer, "Host": f"localhost:{interface.port}"},
    )
    methods = ("GET", "GET", "GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE")
    for _ in range(2_000):
        path = chance.choice(HOSTILE_PATHS)
        if chance.random() < 0.3:
            path += f"?token={token}"
        url = URL(interface.address + path, encoded=True)
        method = chance.choice(methods)
        header = chance.choice(headers)
        async with interface.client.request(method, url, headers=header) as answer:
            body = await answer.text()
        assert answer.status in {400, 401, 403, 404, 405, 414}, (method, path, header)
        for secret in (SECRET, token, dock_token, "Alice"):
            assert secret not in body, (method, path, header)
        assert "Access-Control-Allow-Origin" not in answer.headers
    # the same paths by somebody who may read: only what stands above comes, and never who is hidden
    good = {"Authorization": f"Bearer {token}"}
    for path in HOSTILE_PATHS:
        if path == "events":
            continue
        url = URL(interface.address + path, encoded=True)
        async with interface.client.get(url, headers=good) as answer:
            body = await answer.text()
            assert "secretly" not in body
            is_there = path in {"viewers/alice", "channel", "book", "openapi.json"}
            assert (answer.status == 200) is is_there, path


async def test_the_token_neither_opens_the_dock_nor_acts(
    interface: Interface,
) -> None:
    headers = {
        "Authorization": f"Bearer {interface.token}",
        "X-Dock-Token": interface.token,
    }
    origin = f"http://127.0.0.1:{interface.port}"
    async with interface.client.get(f"{origin}/api/settings", headers=headers) as got:
        assert got.status == 401
    async with interface.client.post(
        f"{origin}/api/do/pause", json={}, headers={**headers, "Origin": origin}
    ) as got:
        assert got.status == 401
    async with interface.client.post(
        f"{interface.address}channel", json={}, headers=headers
    ) as got:
        assert got.status in {401, 405}


# ── what happens ────────────────────────────────────────────────────────────────────────────


class Listener:
    """A program that reads the events one by one."""

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content

    async def next(self) -> tuple[str, Any]:
        async with asyncio.timeout(60):
            while True:
                block = (await self._content.readuntil(b"\n\n")).decode()
                if not block:
                    return "end", None
                if block.startswith("event: "):
                    name, _, data = block.partition("\ndata: ")
                    return name.removeprefix("event: "), json.loads(data)


@contextlib.asynccontextmanager
async def listening(interface: Interface) -> AsyncIterator[Listener]:
    headers = {"Authorization": f"Bearer {interface.token}"}
    async with interface.client.get(
        f"{interface.address}events", headers=headers
    ) as answer:
        assert answer.status == 200
        assert await answer.content.readuntil(b"\n\n") == b"retry: 1000\n\n"
        yield Listener(answer.content)


async def test_listeners_hear_who_comes_what_is_learned_and_the_recap(
    interface: Interface,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "LOOK_EVERY_S", 0.02)
    async with listening(interface) as listener:
        await world.clock.advance(DAY)
        stream = await world.stream()
        await world.attends("1", stream)
        assert (await listener.next())[1]["login"] == "alice"
        await world.note("has a cat")
        name, learned = await listener.next()
        assert (name, learned["login"], learned["fact"]) == (
            "learned",
            "alice",
            "has a cat",
        )
        await world.note("the lamp flickers", None)
        assert (await listener.next())[1]["login"] is None
        await world.over("1", recap="Alice came with a cat.")
        name, recap = await listener.next()
        while name == "arrived":
            name, recap = await listener.next()
        assert name == "recap"
        assert "Alice came with a cat." in recap["markdown"]


async def test_a_stream_ends_when_the_interface_is_switched_off(
    interface: Interface, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LOOK_EVERY_S", 0.02)
    async with listening(interface) as listener:
        await asyncio.to_thread(
            interface.settings.change,
            {("local_api", "enabled"): False},
            lambda _settings: None,
        )
        assert await listener.next() == ("end", None)
    assert await interface.status("channel") == 404


async def test_listeners_are_few_so_that_the_dock_keeps_its_connections(
    interface: Interface,
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(LISTENERS_LIMIT):
            await stack.enter_async_context(listening(interface))
        assert await interface.status("events") == 503
        assert await interface.status("channel") == 200


async def test_a_request_for_the_headers_alone_holds_no_listeners_place(
    interface: Interface,
) -> None:
    headers = {"Authorization": f"Bearer {interface.token}"}
    address = f"{interface.address}events"
    async with interface.client.head(address, headers=headers) as answer:
        assert answer.status == 405


# ── by a client that is made of the description ─────────────────────────────────────────────


@pytest.mark.slow
async def test_a_client_generated_from_the_description_reads_everything(
    interface: Interface,
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await world.over("1", recap="Chat built a bridge.")
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(await interface.read("openapi.json")))
    generate = (
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--path",
        str(document),
        "--output-path",
        str(tmp_path / "made"),
        "--meta",
        "none",
    )
    config = tmp_path / "config.yml"
    config.write_text("post_hooks: []\n")
    process = await asyncio.create_subprocess_exec(
        *generate,
        "--config",
        str(config),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
    monkeypatch.syspath_prepend(str(tmp_path))
    client = importlib.import_module("made").AuthenticatedClient(
        base_url=f"http://127.0.0.1:{interface.port}", token=interface.token
    )
    operation = "made.api.default"
    get_viewer = importlib.import_module(f"{operation}.get_viewer")
    get_channel = importlib.import_module(f"{operation}.get_channel")
    get_book = importlib.import_module(f"{operation}.get_book")
    get_recap = importlib.import_module(f"{operation}.get_recap")
    alice = await get_viewer.asyncio("alice", client=client)
    assert (alice.name, alice.card, alice.regular) == ("Alice", SECRET, True)
    assert (await get_channel.asyncio(client=client)).live is False
    assert (await get_book.asyncio(client=client)).entries == []
    recap = await get_recap.asyncio(client=client)
    assert "Chat built a bridge." in recap.markdown


async def test_no_fact_is_left_out_that_is_noted_while_another_is_told(
    world: World,
    db: Database,
    clock: ManualClock,
) -> None:
    watch = events.Watch(db, lambda: ON, clock)
    await watch.begin()

    async def note_much() -> None:
        for number in range(60):
            await world.note(f"plays instrument number {number}")

    noting = asyncio.create_task(note_much())
    messages: list[bytes] = []
    while not noting.done():
        messages += await watch._look()
    messages += await watch._look()
    assert len(messages) == 60
    assert len(set(messages)) == 60
