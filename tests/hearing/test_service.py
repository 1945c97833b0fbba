"""The streamer's voice becomes lines, whatever its source does: the loop goes on, and a good line after it is heard."""

import asyncio
import os
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.hearing import captions, service, sources
from forgetmenot.hearing.service import Hearing
from forgetmenot.settings.schema import HearingSettings
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.stage import until, working

pytestmark = pytest.mark.slow

LONGEST_STEP_S = 0.3  # of the loop, in its own processor time: the machine may be busy with other tests
MOST_BYTES = 8_000_000
GOOD = "movie night moves to Saturday"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(service, "MAX_PAUSE_S", 0.3)
    monkeypatch.setattr(service, "FILE_ANSWERS_WITHIN_S", 0.1)
    monkeypatch.setattr(captions, "QUIET", 200)
    monkeypatch.setattr(sources, "ASK_EVERY_S", 0.02)
    monkeypatch.setattr(sources, "ANSWER_WITHIN_S", 0.5)


class Listener:
    """A Hearing that runs, and what it handed on."""

    def __init__(self, settings: HearingSettings, password: str = "") -> None:
        self.lines = list[str]()
        self.live = list[bool | None]()
        self.hearing = Hearing(
            settings=lambda: settings,
            clock=SystemClock(),
            hear=self._hear,
            live=self._live,
            password=lambda: password,
        )

    async def _hear(self, line: str) -> None:
        self.lines.append(line)

    async def _live(self, live: bool | None) -> None:  # as the port has it
        self.live.append(live)


@asynccontextmanager
async def listening(
    settings: HearingSettings, password: str = ""
) -> AsyncIterator[Listener]:
    """At its end: the loop was never held for long, and no more memory was used than a little."""
    listener = Listener(settings, password)
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.thread_time() - before)

    tracemalloc.start()
    try:
        async with working(listener.hearing.run(), look()):
            yield listener
            assert longest < LONGEST_STEP_S
            assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


# ── a file ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "captions.txt"
    file.touch()
    return file


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"so\n" * 40_000)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (huge, ""),
        (folder, "not a text file"),
        (lambda path: path.write_bytes(bytes(range(256)) * 400), "not a text file"),
        (Path.unlink, ""),
    ],
)
async def test_a_file_that_is_no_file_of_captions(
    path: Path, harm: Callable[[Path], None], reason: str
) -> None:
    async with listening(HearingSettings(captions=str(path))) as listener:
        await asyncio.sleep(0.1)
        await asyncio.to_thread(harm, path)
        await (
            until(lambda: reason in listener.hearing.trouble)
            if reason
            else asyncio.sleep(0.2)
        )
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        await written_until_heard(path, listener)


async def written_until_heard(path: Path, listener: Listener) -> None:
    """Good lines, of which the first may be what stands there when the file is found again."""
    async with asyncio.timeout(60):
        while not any(GOOD in line for line in listener.lines):
            with path.open("a") as file:
                file.write(f"{len(listener.lines)} {time.monotonic()} {GOOD}\n")
            await asyncio.sleep(0.1)
    assert listener.hearing.trouble == ""


async def test_while_a_drive_hangs_a_program_is_heard(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    opened = os.open

    def slow(name: "str | Path", flags: int, mode: int = 0o777) -> int:
        if Path(name) == path:
            answers.wait(20)
        return opened(name, flags, mode)

    async with listening(
        HearingSettings(captions=str(path), programs=True)
    ) as listener:
        await asyncio.sleep(0.1)
        monkeypatch.setattr(os, "open", slow)
        await until(lambda: "no answer in time" in listener.hearing.trouble)
        assert listener.hearing.sent("meanwhile a program is heard")
        await until(lambda: listener.lines)
        answers.set()
        await written_until_heard(path, listener)


@pytest.mark.parametrize("captions", ["~nobody_has_this_name/captions.txt", "a\0b"])
async def test_a_path_that_none_can_be_ends_nothing_and_a_pause_holds_for_what_is_on_its_way(
    captions: str,
) -> None:
    async with listening(HearingSettings(captions=captions, programs=True)) as listener:
        await asyncio.sleep(0.2)
        assert listener.hearing.sent("movie night")
        await until(lambda: listener.lines)
        assert listener.hearing.sent("between us")
        listener.hearing.paused = True
        await asyncio.sleep(0.1)
        assert listener.lines == ["movie night"]


async def test_several_lines_that_a_program_sends_at_once_stay_several() -> None:
    async with listening(HearingSettings(programs=True)) as listener:
        assert listener.hearing.sent(
            "movie night\r\n\r\n[BLANK_AUDIO]\nmoves (laughs) to Saturday\n"
        )
        for silence in ("[BLANK_AUDIO]", "you", "Thank you for watching."):
            assert listener.hearing.sent(silence)
        assert listener.hearing.sent("so sad :( today")
        await until(lambda: len(listener.lines) == 3)
        assert listener.lines == ["movie night", "moves to Saturday", "so sad :( today"]


# ── OBS ─────────────────────────────────────────────────────────────────────────────────────


async def test_a_text_source_of_obs_is_heard_but_not_what_stood_there_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A source keeps its last caption: from yesterday, or from while nobody was to listen."""
    monkeypatch.setattr(
        captions, "QUIET", 60_000
    )  # a line is whole when the next one comes
    async with (
        loopback_obs(
            LoopbackObs(
                {"Captions": "said yesterday"}, password="secret", streaming=True
            )
        ) as there,
        listening(
            HearingSettings(obs=there.url, source="Captions"), "secret"
        ) as listener,
    ):

        async def shows(*texts: str) -> None:
            for text in texts:
                await there.write("Captions", text)
                request_count = len(there.requests)
                await until(lambda: len(there.requests) > request_count + 1)  # noqa: B023  # awaited at once

        await until(lambda: "GetInputSettings" in there.requests)
        assert listener.live == [True], "OBS streamed already"
        await shows(
            "movie night",
            "movie night moves",
            "movie night moves to Saturday",
            "a private word",
        )
        await until(lambda: listener.lines)
        listener.hearing.paused = True
        await asyncio.sleep(0.2)
        listener.hearing.paused = False
        await shows("a private word", "back again", "")
        await until(lambda: len(listener.lines) > 1)
        assert listener.lines == ["movie night moves to Saturday", "back again"]


@pytest.mark.slow
async def test_a_stop_that_comes_with_an_answer_of_obs_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before Python 3.12 `wait_for`, with which simpleobsws waits, could lose it, and the bot never ended."""
    monkeypatch.setattr(sources, "ASK_EVERY_S", 0)
    there = LoopbackObs({"Captions": "hello"}, streaming=True)

    async def live(_live: bool | None) -> None:
        """Take that it streams."""

    async with loopback_obs(there):
        for steps in range(40):
            there.requests.clear()
            following = asyncio.create_task(
                sources.follow(there.url, "", "Captions", lambda _text: None, live)
            )
            # a question of the connection before may come late; the first one of this connection does not
            await until(
                lambda: {"GetStreamStatus", "GetInputSettings"} <= set(there.requests)
            )
            for _ in range(steps):
                await asyncio.sleep(0)
            following.cancel()
            await asyncio.wait({following}, timeout=5)
            assert following.cancelled(), steps


async def renamed(there: LoopbackObs, listener: Listener) -> None:
    there.sources = {"Untertitel": ""}
    await until(lambda: "no source named Captions" in listener.hearing.trouble)
    assert "Untertitel" in listener.hearing.trouble
    there.sources = {"Captions": ""}


async def new_password(there: LoopbackObs, listener: Listener) -> None:
    there.password = "changed"
    await there.close()
    await until(lambda: "refused the password" in listener.hearing.trouble)
    there.password = "secret"


async def odd_answers(there: LoopbackObs, listener: Listener) -> None:
    lies: tuple[dict[str, object], ...] = (
        {"responseData": 7},
        {"requestStatus": {}},
        {"requestStatus": None},
    )
    for lie in lies:
        there.lie = lie
        await until(lambda: listener.hearing.trouble)
        there.lie = {}
        await until(lambda: not listener.hearing.trouble)


async def odd_messages(there: LoopbackObs, listener: Listener) -> None:
    for odd in (None, "text", {"outputState": ["OBS"]}):
        await there.event("StreamStateChanged", odd)
    for client in there.clients:
        await client.send(b"\x07")
    await until(lambda: listener.hearing.trouble)


@pytest.mark.slow
@pytest.mark.parametrize("harm", [renamed, new_password, odd_answers, odd_messages])
async def test_an_obs_in_any_state(
    harm: Callable[[LoopbackObs, Listener], Awaitable[None]],
) -> None:
    async with (
        loopback_obs(LoopbackObs({"Captions": ""}, password="secret")) as there,
        listening(
            HearingSettings(obs=there.url, source="Captions"), "secret"
        ) as listener,
    ):
        await until(lambda: "GetInputSettings" in there.requests)
        await harm(there, listener)
        await again(listener, there)
        assert not any(listener.live)


async def again(listener: Listener, there: LoopbackObs) -> None:
    """A line that is good is heard."""
    await until(lambda: there.clients and not listener.hearing.trouble)
    await there.write("Captions", GOOD)
    await asyncio.sleep(0.2)
    await there.write("Captions", "")
    await until(lambda: GOOD in listener.lines)


@pytest.mark.slow
async def test_an_obs_that_is_ended_and_started_again_is_heard_again() -> None:
    async with AsyncExitStack() as running:
        first = await running.enter_async_context(
            loopback_obs(LoopbackObs({"Captions": ""}))
        )
        async with listening(
            HearingSettings(obs=first.url, source="Captions")
        ) as listener:
            await until(lambda: "GetInputSettings" in first.requests)
            await running.aclose()
            await until(lambda: "does not answer" in listener.hearing.trouble)
            port = int(first.url.rpartition(":")[2])
            async with loopback_obs(
                LoopbackObs({"Captions": "said before"}), port
            ) as second:
                await again(listener, second)
                assert listener.lines == [GOOD]
