"""Whatever a source does, the loop goes on, memory is bounded, and a good line after it is heard."""

import asyncio
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.hearing import captions, service, sources
from forgetmenot.hearing.service import MOST_PER_MINUTE
from forgetmenot.settings.schema import HearingSettings
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.hearing.test_service import Listener, listening
from tests.stage import until

LONGEST_STEP_S = 0.3  # of the loop, in its own processor time: the machine may be busy with other tests
MOST_BYTES = 8_000_000
GOOD = "movie night moves to Saturday"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(service, "LONGEST_PAUSE_S", 0.3)
    monkeypatch.setattr(service, "FILE_ANSWERS_WITHIN_S", 0.1)
    monkeypatch.setattr(captions, "QUIET", 200)
    monkeypatch.setattr(sources, "ASK_EVERY_S", 0.02)
    monkeypatch.setattr(sources, "ANSWER_WITHIN_S", 0.5)


@asynccontextmanager
async def going_on() -> AsyncIterator[None]:
    """The loop is never held for long, and no more memory is used than a little."""
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.thread_time() - before)

    looking = asyncio.create_task(look())
    tracemalloc.start()
    try:
        yield
        assert longest < LONGEST_STEP_S
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
        looking.cancel()


# What is done to the file, and a word of the sentence that the dock shows then (nothing: it shows none).


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + b"so\n" * 40_000)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("harm", "named"),
    [
        (huge, ""),
        (folder, "not a text file"),
        (pipe, "not a text file"),
        (lambda path: path.write_bytes(bytes(range(256)) * 400), "not a text file"),
        (lambda path: path.write_text("so " * 200_000), ""),
        (Path.unlink, ""),
    ],
)
async def test_a_file_that_is_no_file_of_captions(tmp_path: Path, harm: Callable[[Path], None], named: str) -> None:
    if harm is pipe and not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    path = tmp_path / "captions.txt"
    path.touch()
    async with listening(HearingSettings(captions=str(path))) as listener, going_on():
        await asyncio.sleep(0.1)
        await asyncio.to_thread(harm, path)
        await (until(lambda: named in listener.hearing.trouble) if named else asyncio.sleep(0.2))
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        await written_until_heard(path, listener)


async def written_until_heard(path: Path, listener: Listener) -> None:
    """Good lines, of which the first may be what stands there when the file is found again."""
    async with asyncio.timeout(20):
        while not any(GOOD in line for line in listener.lines):
            with path.open("a") as file:
                file.write(f"{len(listener.lines)} {time.monotonic()} {GOOD}\n")
            await asyncio.sleep(0.1)
    assert listener.hearing.trouble == ""


async def test_ten_thousand_lines_a_second_cost_a_minutes_worth(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.touch()
    async with listening(HearingSettings(captions=str(path))) as listener, going_on():
        await asyncio.sleep(0.1)
        with path.open("a") as file:
            for part in range(10):
                file.writelines(f"this is line number {part * 500 + n} of many\n" for n in range(500))
                file.flush()
                await asyncio.sleep(0.05)
        await until(lambda: len(listener.lines) == MOST_PER_MINUTE)
        assert len(listener.lines) == MOST_PER_MINUTE


@contextmanager
def hanging(path: Path) -> Iterator[threading.Event]:
    """A drive that does not answer until the event is set."""
    answers, opened = threading.Event(), os.open

    def slow(name: "str | Path", flags: int, mode: int = 0o777) -> int:
        if Path(name) == path:
            answers.wait()
        return opened(name, flags, mode)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", slow)
        try:
            yield answers
        finally:
            answers.set()


async def test_a_drive_that_hangs_costs_one_thread_however_often_it_is_tried(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.touch()
    async with listening(HearingSettings(captions=str(path), programs=True)) as listener, going_on():
        await asyncio.sleep(0.1)
        before = threading.active_count()
        with hanging(path) as answers:
            await until(lambda: "no answer in time" in listener.hearing.trouble)
            for _ in range(5):
                listener.hearing.paused = True
                await asyncio.sleep(0.05)
                listener.hearing.paused = False
                await asyncio.sleep(0.05)
            assert threading.active_count() <= before + 1
            assert listener.hearing.sent("meanwhile a program is heard")
            await until(lambda: listener.lines)
            answers.set()
            await asyncio.sleep(0.1)
        await written_until_heard(path, listener)


HANGING = """
import asyncio, os, sys, threading
from forgetmenot.clock import SystemClock
from forgetmenot.hearing.service import Hearing
from forgetmenot.settings.schema import HearingSettings
os.open = lambda *_given: threading.Event().wait()

async def main():
    async def take(_): pass
    hearing = Hearing(settings=lambda: HearingSettings(captions=sys.argv[1]), clock=SystemClock(), hear=take, live=take,
                      password=str)
    running = asyncio.create_task(hearing.run())
    await asyncio.sleep(0.5)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

asyncio.run(main())
print("ended")
"""


def test_a_drive_that_hangs_keeps_no_program_from_ending(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.touch()
    words = [sys.executable, "-c", HANGING, str(path)]
    assert subprocess.run(words, capture_output=True, timeout=30, check=True).stdout == b"ended\n"


# OBS


async def again(listener: Listener, there: LoopbackObs) -> None:
    """A line that is good is heard."""
    await until(lambda: there.clients and not listener.hearing.trouble)
    await there.write("Captions", GOOD)
    await asyncio.sleep(0.2)
    await there.write("Captions", "")
    await until(lambda: GOOD in listener.lines)


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


async def a_megabyte(there: LoopbackObs, listener: Listener) -> None:
    for n in range(5):
        await there.write("Captions", f"{n} " + "so " * 300_000)
        await asyncio.sleep(0.1)
    await there.write("Captions", "")


async def odd_events(there: LoopbackObs, listener: Listener) -> None:
    every: tuple[Any, ...] = (None, "text", 7, [], {"outputState": ["OBS"]})
    for odd in every:
        await there.event("StreamStateChanged", odd)
    await asyncio.sleep(0.1)


async def odd_message(there: LoopbackObs, listener: Listener) -> None:
    for client in there.clients:
        await client.send(b"\x07")
    await until(lambda: listener.hearing.trouble)


@pytest.mark.parametrize("harm", [renamed, new_password, a_megabyte, odd_events, odd_message])
async def test_an_obs_in_any_state(harm: Callable[[LoopbackObs, Listener], Awaitable[None]]) -> None:
    async with (
        loopback_obs(LoopbackObs({"Captions": ""}, password="secret")) as there,
        listening(HearingSettings(obs=there.url, source="Captions"), "secret") as listener,
        going_on(),
    ):
        await until(lambda: "GetInputSettings" in there.asked)
        await harm(there, listener)
        await again(listener, there)
        assert not any(listener.live)


async def test_an_obs_that_is_ended_and_started_again_is_heard_again() -> None:
    async with AsyncExitStack() as running:
        first = await running.enter_async_context(loopback_obs(LoopbackObs({"Captions": ""})))
        async with listening(HearingSettings(obs=first.url, source="Captions")) as listener:
            await until(lambda: "GetInputSettings" in first.asked)
            await running.aclose()
            await until(lambda: "does not answer" in listener.hearing.trouble)
            port = int(first.url.rpartition(":")[2])
            async with loopback_obs(LoopbackObs({"Captions": "said before"}), port) as second:
                await again(listener, second)
                assert listener.lines == [GOOD]
