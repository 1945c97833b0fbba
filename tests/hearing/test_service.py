"""The streamer's voice becomes lines, whatever its source does meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.errors import HearingError
from forgetmenot.hearing import service, sources
from forgetmenot.hearing.service import Hearing
from forgetmenot.settings.schema import HearingSettings
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.stage import until


class Listener:
    """A Hearing that runs, and what it handed on."""

    def __init__(self, settings: HearingSettings, password: str = "") -> None:
        self.settings = settings
        self.lines: list[str] = []
        self.live: list[bool | None] = []
        self.hearing = Hearing(
            settings=lambda: self.settings,
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
async def listening(settings: HearingSettings, password: str = "") -> AsyncIterator[Listener]:
    listener = Listener(settings, password)
    task = asyncio.create_task(listener.hearing.run())
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(sources, "ASK_EVERY_S", 0.05)


async def test_a_text_source_of_obs_is_heard_but_not_what_stood_there_before() -> None:
    """A source keeps its last caption: from yesterday, or from while nobody was to listen."""
    async with (
        loopback_obs(LoopbackObs({"Captions": "said yesterday"}, password="secret", streaming=True)) as there,
        listening(HearingSettings(obs=there.url, source="Captions"), "secret") as listener,
    ):

        async def shows(*texts: str) -> None:
            for text in texts:
                await there.write("Captions", text)
                asked = len(there.asked)
                await until(lambda: len(there.asked) > asked + 1)  # noqa: B023  # awaited at once

        await until(lambda: "GetInputSettings" in there.asked)
        assert listener.live == [True], "OBS streamed already"
        await shows("movie night", "movie night moves", "movie night moves to Saturday", "a private word")
        await until(lambda: listener.lines)
        listener.hearing.paused = True
        await asyncio.sleep(0.2)
        listener.hearing.paused = False
        await shows("a private word", "back again", "")
        await until(lambda: len(listener.lines) > 1)
        assert listener.lines == ["movie night moves to Saturday", "back again"]
        assert listener.hearing.last == "back again"


async def test_a_pause_holds_for_what_is_on_its_way() -> None:
    async with listening(HearingSettings(programs=True)) as listener:
        assert listener.hearing.sent("one")
        listener.hearing.paused = True
        await asyncio.sleep(0.1)
        assert listener.lines == []


async def test_the_text_sources_are_named_or_why_they_are_not() -> None:
    async with loopback_obs(LoopbackObs({"Untertitel": "hi"}, password="secret")) as there:
        assert await sources.text_sources(there.url, "secret") == ["Untertitel"]
        with pytest.raises(HearingError, match="refused the password"):
            await sources.text_sources(there.url, "wrong")
    with pytest.raises(HearingError, match="does not answer"):
        await sources.text_sources("ws://127.0.0.1:9", "")


@pytest.mark.parametrize("captions", ["~nobody_has_this_name/captions.txt", "a\0b"])
async def test_a_path_that_none_can_be_does_not_end_hearing(captions: str) -> None:
    async with listening(HearingSettings(captions=captions, programs=True)) as listener:
        await asyncio.sleep(0.2)
        assert listener.hearing.sent("movie night")
        await until(lambda: listener.lines)


@pytest.mark.parametrize("lie", [{"responseData": 7}, {"requestStatus": {}}, {"requestStatus": None}])
async def test_a_server_that_answers_in_another_form_is_named_and_does_not_end_hearing(lie: dict[str, object]) -> None:
    async with (
        loopback_obs(LoopbackObs({"Captions": "hi"}, lie=lie)) as there,
        listening(HearingSettings(obs=there.url, source="Captions", programs=True)) as listener,
    ):
        await until(lambda: listener.hearing.trouble)
        assert listener.hearing.sent("movie night")
        await until(lambda: listener.lines)
