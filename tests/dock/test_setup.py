"""The set-up in a real Chromium: from an empty data folder to the first silent-preview reply; and to a voice."""

import asyncio
import json
import re
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from forgetmenot.app.account import login_rights
from forgetmenot.dock.security import address, token_in
from forgetmenot.secret_store import Account
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import Mode, Provider, Settings
from forgetmenot.store.channel_state import Owner, owner_of
from tests.dock.conftest import BROWSER, go, page_on
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.twitch import TwitchSim
from tests.ports import unused_port
from tests.program import Running
from tests.program import running as started
from tests.stage import until

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


class Talking(SimOpenAI):
    """A model that answers in the form it is asked for."""

    def _write(self, sent: dict[str, Any], *, obey: bool) -> str:  # noqa: ARG002  # it obeys
        request = json.dumps(sent)
        return (
            json.dumps({"action": None, "say": "Understood."})
            if '"say"' in request.replace("\\", "")
            else "Understood."
        )


def loopback_settings(folder: Path, sim: TwitchSim, port: int | None = None) -> Path:
    """What a fresh installation has, but with a Twitch on loopback in place of the real one."""
    path = folder / "forgetmenot" / "config.toml"
    path.parent.mkdir()
    path.write_text(
        f'[twitch]\nserver = "{sim.url}"\n[dock]\nport = {port or unused_port()}\n',
        encoding="utf-8",
    )
    return path


async def address_of(bot: Running, folder: Path) -> str:
    await bot.says("The dock: ")
    port = re.findall(r"The dock: http://[^:]+:(\d+)", bot.output)[0]
    return address(int(port), token_in(folder))


async def opened(page: Page, title: str) -> Locator:
    """A step, open."""
    step = page.locator("details.step", has=page.locator("summary b", has_text=title))
    if await step.get_attribute("open") is None:
        await step.locator("summary").first.click()
    return step


async def test_from_an_empty_folder_to_the_first_silent_reply(
    tmp_path: Path, running: Browser
) -> None:
    """With a client ID that came with the program, and then with one of one's own; each step opens the next."""
    async with TwitchSim() as sim, Talking() as model:
        file = loopback_settings(tmp_path, sim)
        sim.oauth.interval = 1
        supplied = {"FORGETMENOT_CLIENT_ID": "1234567890abcdef"}
        async with (
            started(tmp_path, "start", "--no-browser", env=supplied) as bot,
            page_on(running, await address_of(bot, file.parent), restarts=True) as page,
        ):
            await the_channel(page, sim)
            await the_model(page, model)
            await the_character(page)
            await the_account(page, sim)
            await the_silent_preview(page, sim)
            await expect(page.locator("#top .hint")).to_have_count(
                0
            )  # no complaint stays
            await page.evaluate("location.hash = 'settings'")
            await page.get_by_role("button", name="Quit").click()
            await expect(
                page.get_by_role("heading", name="The bot has stopped.")
            ).to_be_visible()
            assert await bot.ended() == 0
            await page.wait_for_timeout(1_500)
            await expect(page.locator("main")).to_contain_text(
                "You can close this page."
            )
        assert "Traceback" not in bot.output
    settings = load_settings(file)
    assert (settings.twitch.channel, settings.twitch.client_id) == (
        "demo",
        sim.client_id,
    )
    assert (settings.bot.name, settings.bot.mode) == ("Fern", Mode.MENTIONS)
    assert (settings.model.provider, settings.model.reply_model) == (
        Provider.OPENAI_COMPATIBLE,
        "small-model",
    )
    memory = file.with_name("memory.sqlite3")
    assert owner_of(memory) == Owner(sim.world.room_id, "demo"), (
        "and not nobody_here's, the name that was mistyped"
    )
    assert not memory.with_name("memory-demo.sqlite3").exists()


async def opens(page: Page, title: str) -> Locator:
    """The step that has opened by itself."""
    step = page.locator("details.step[open]")
    await expect(step.locator("summary b").first).to_have_text(title)
    return step


async def the_channel(page: Page, sim: TwitchSim) -> None:
    step = await opens(
        page, "Your channel"
    )  # it is shown by itself where nothing is set up
    await expect(step.get_by_label("Your channel's name")).to_be_focused()
    field = step.get_by_label("Your channel's name")
    listen = step.get_by_role("button", name="Listen")
    await field.fill("nobody_here")
    await listen.click()
    await expect(step.locator(".outcome")).to_contain_text(
        "There is no channel nobody_here on Twitch"
    )
    await field.fill("my channel")
    await listen.click()
    for _ in range(
        2
    ):  # what the bot says of the channel before does not take its place
        await expect(step.locator(".outcome")).to_contain_text("is not a login")
        await page.wait_for_event(
            "response", lambda answer: answer.url.endswith("/api/setup")
        )
    await field.fill("https://www.twitch.tv/Demo")
    await listen.click()
    await opens(page, "AI model")
    await sim.say("alice", "I play the cello")
    step = await opened(page, "Your channel")
    await expect(step.locator(".outcome")).to_have_text("Reading demo")
    await expect(step.locator(".seen")).to_contain_text("I play the cello")
    await expect(step).to_contain_text(
        "1 line heard. The first summary comes after 39 more, or in 30 min if chat stays quiet."
    )
    await expect(page.locator("#top .bad")).to_have_count(0)


async def the_model(page: Page, model: SimOpenAI) -> None:
    step = await opened(page, "AI model")
    await step.get_by_label("A program on this PC").check()
    await step.locator("summary", has_text="Its address").click()
    await step.get_by_role("textbox", name="Its address").fill(model.url)
    await step.get_by_role("button", name="List its models").click()
    await expect(step.locator("select:visible")).to_have_value("small-model")
    await step.get_by_role("button", name="Test and save").click()
    await expect(step.locator(".outcome")).to_contain_text(
        "It works. small-model says: “Understood.”"
    )


async def the_character(page: Page) -> None:
    step = await opens(page, "Name and character")
    await expect(step.locator("blockquote")).to_contain_text("Understood.")
    await step.get_by_label("Name").fill("Fern")
    await step.get_by_role("button", name="Dry wit").click()
    await step.get_by_role("button", name="Save").click()


async def the_account(page: Page, sim: TwitchSim) -> None:
    step = await opens(page, "The bot's account")
    await step.locator("summary", has_text="Use an app of my own").click()
    await step.get_by_placeholder("the Client ID you copied").fill(sim.client_id)
    await step.get_by_role("button", name="Save").click()
    await expect(step.locator(".outcome")).to_have_text("Saved.")
    await expect(page.locator("#top .standing")).to_contain_text("demo")
    await step.get_by_role("button", name="Sign in", exact=True).click()
    await expect(step.locator("svg.qr path")).to_be_visible()
    sim.approve(await step.locator(".user-code").inner_text(), "keeper")
    await opens(page, "How much it says")
    await expect(page.locator("details.step").nth(3)).to_contain_text("/mod keeper")
    assert [set(token.scopes) for token in sim.tokens.issued] == [
        set(login_rights(Account.BOT, Settings()))
    ]


async def the_silent_preview(page: Page, sim: TwitchSim) -> None:
    step = await opens(page, "How much it says")
    await expect(page.locator(".hello")).to_contain_text(
        "Type @Fern hello in your chat."
    )
    await sim.until(
        lambda: any(
            connection.nick == "keeper" and connection.channels
            for connection in sim.irc.connections
        )
    )
    await sim.say("bob", "@fern what do you think of this level?")
    hello = page.locator(".hello")
    await expect(hello).to_contain_text("It answered: “Understood.”")
    await expect(hello).to_contain_text("✓")
    assert sim.sent == []
    await step.get_by_role("button", name="Mentions").click()
    await expect(step.locator(".outcome")).to_have_text("Saved.")


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    async with TwitchSim() as sim:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            loopback_settings(tmp_path, sim, port)
            async with started(tmp_path, "start", "--no-browser") as bot:
                await bot.says(f"Another program uses port {port}.")
                # said before the signals are its own: a stop would end it on the spot
                await bot.says("The dock: ")
                assert await bot.stop() == 0
        [log] = tmp_path.rglob("forgetmenot.log")
        lines = log.read_text().splitlines()
        [line] = [line for line in lines if "port is taken" in line]
        assert json.loads(line)["taken"] == port


# ── the streamer's voice: the step, the last line, the mark, and the switch ─────────────────


async def says(there: LoopbackObs, text: str) -> None:
    """A caption, which is whole when the next one comes. The bot has looked at both."""
    await there.write("Captions", text)
    await is_looked_at(there)
    await there.write("Captions", "")
    await is_looked_at(there)


async def is_looked_at(there: LoopbackObs) -> None:
    """Wait until the bot asks what the source shows."""
    looks = there.requests.count("GetInputSettings")
    await until(lambda: there.requests.count("GetInputSettings") > looks)


async def fits(page: Page) -> None:
    for width in (300, 1_100):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_the_voice_is_set_up_shown_and_stopped(
    tmp_path: Path, running: Browser
) -> None:
    async with (
        TwitchSim() as sim,
        loopback_obs(
            LoopbackObs({"Game title": "", "Captions": ""}, password="secret")
        ) as there,
    ):
        file = loopback_settings(tmp_path, sim)
        file.write_text(
            file.read_text().replace("[twitch]", '[twitch]\nchannel = "demo"')
        )
        async with (
            started(tmp_path, "start", "--no-browser") as bot,
            page_on(
                running, await address_of(bot, file.parent), 1_100, restarts=True
            ) as page,
        ):
            await it_is_set_up(page, there, sim)
            assert "secret" not in file.read_text(), (
                "OBS's password is kept with the secrets"
            )
            await it_is_shown_and_stopped(page, there)
            await there.close()
        assert "Traceback" not in bot.output


async def it_is_set_up(page: Page, there: LoopbackObs, sim: TwitchSim) -> None:
    await go(page, "setup")
    step = await opened(page, "Your voice")
    await step.get_by_label("OBS's address").fill(there.url)
    for password in ("wrong", "secret"):
        await step.get_by_label("Password").fill(password)
        await step.get_by_role("button", name="Find text sources").click()
        if password == "wrong":
            await expect(step.locator(".outcome")).to_contain_text(
                "refused the password"
            )
    await expect(step.get_by_label("Text source").locator("option")).to_have_text(
        ["none", "Game title", "Captions"]
    )
    await step.get_by_label("Text source").select_option("Captions")
    await step.get_by_role("button", name="Save").click()
    await expect(step).to_contain_text("Say something")
    await sim.until(lambda: "GetInputSettings" in there.requests)
    await page.wait_for_timeout(
        500
    )  # what stands there when it begins to listen was said before
    await says(there, "can you hear me")
    await expect(step).to_contain_text("can you hear me")
    await expect(step).to_contain_text("The channel is not live, so it is not kept.")
    await fits(page)
    await there.stream(on=True)
    await expect(step).not_to_contain_text("The channel is not live")


async def it_is_shown_and_stopped(page: Page, there: LoopbackObs) -> None:
    await says(there, "movie night moves to Saturday")
    await go(page, "now")
    await expect(
        page.locator(".item.line", has_text="movie night").locator(".chip")
    ).to_have_text("spoken")
    await page.get_by_role("button", name="Listening to you").click()
    await expect(page.get_by_role("button", name="Not listening")).to_be_visible()
    # nobody looks at it while the bot does not listen
    await there.write("Captions", "this is between us")
    await asyncio.sleep(0.6)
    await there.write("Captions", "")
    await page.get_by_role("button", name="Not listening").click()
    await expect(page.get_by_role("button", name="Listening to you")).to_be_visible()
    await expect(page.locator(".item.line")).to_have_count(1)
    there.sources = {"Untertitel": ""}
    await expect(page.get_by_role("button", name="Cannot hear you")).to_be_visible()
    await fits(page)
