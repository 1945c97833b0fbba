"""The streamer's voice in a real Chromium: the set-up's step, the last line, the mark, the feed, and the switch."""

import asyncio
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.dock.conftest import BROWSER, go, page_on
from tests.dock.test_setup import address_of, loopback_settings, opened
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.loopback_servers.twitch import TwitchSim
from tests.program import running as started

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


async def says(there: LoopbackObs, text: str) -> None:
    """A caption, which is whole when the next one comes."""
    await there.write("Captions", text)
    await asyncio.sleep(0.6)
    await there.write("Captions", "")


async def fits(page: Page) -> None:
    for width in (300, 1_100):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_the_voice_is_set_up_shown_and_stopped(tmp_path: Path, running: Browser) -> None:
    async with (
        TwitchSim() as sim,
        loopback_obs(LoopbackObs({"Game title": "", "Captions": ""}, password="secret")) as there,
    ):
        file = loopback_settings(tmp_path, sim)
        file.write_text(file.read_text().replace("[twitch]", '[twitch]\nchannel = "demo"'))
        async with (
            started(tmp_path, "start", "--no-browser") as bot,
            page_on(running, await address_of(bot, file.parent), 1_100, restarts=True) as page,
        ):
            await it_is_set_up(page, there, sim)
            await it_is_shown_and_stopped(page, there)
            await there.close()
        assert "Traceback" not in bot.told


async def it_is_set_up(page: Page, there: LoopbackObs, sim: TwitchSim) -> None:
    await go(page, "setup")
    step = await opened(page, "Your voice")
    await step.get_by_label("OBS's address").fill(there.url)
    for password in ("wrong", "secret"):
        await step.get_by_label("Password").fill(password)
        await step.get_by_role("button", name="Find text sources").click()
        if password == "wrong":
            await expect(step.locator(".outcome")).to_contain_text("refused the password")
    await expect(step.get_by_label("Text source").locator("option")).to_have_text(["none", "Game title", "Captions"])
    await step.get_by_label("Text source").select_option("Captions")
    await step.get_by_role("button", name="Save").click()
    await expect(step).to_contain_text("Say something")
    await sim.until(lambda: "GetInputSettings" in there.asked)
    await page.wait_for_timeout(500)  # what stands there when it begins to listen was said before
    await says(there, "can you hear me")
    await expect(step).to_contain_text("can you hear me")
    await expect(step).to_contain_text("The channel is not live, so it is not kept.")
    await fits(page)
    await there.stream(on=True)
    await expect(step).not_to_contain_text("The channel is not live")


async def it_is_shown_and_stopped(page: Page, there: LoopbackObs) -> None:
    await says(there, "movie night moves to Saturday")
    await go(page, "now")
    await expect(page.locator(".item.line", has_text="movie night").locator(".chip")).to_have_text("spoken")
    await page.get_by_role("button", name="Listening to you").click()
    await expect(page.get_by_role("button", name="Not listening")).to_be_visible()
    await says(there, "this is between us")
    await page.get_by_role("button", name="Not listening").click()
    await expect(page.get_by_role("button", name="Listening to you")).to_be_visible()
    await expect(page.locator(".item.line")).to_have_count(1)
    there.sources = {"Untertitel": ""}
    await expect(page.get_by_role("button", name="Cannot hear you")).to_be_visible()
    await fits(page)
