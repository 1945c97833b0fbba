"""The feed in a real Chromium: chat as chat shows it, and what is asked above it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from forgetmenot.store import viewers
from tests.dock.conftest import BROWSER, DemoBot, go, opened, page_on, until
from tests.dock.test_browser import lines_in_view

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
AT_END = """(() => { const list = document.querySelector(".feed");
  return list.scrollHeight - list.scrollTop - list.clientHeight < 24; })()"""
CONTRASTS = """() => {
  const luminance = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255);
    const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const all = (selector) => [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one));
  const grounds = all("body, .feed .item.line.addressed").map((style) => luminance(style.backgroundColor));
  const names = all(".feed a.name").map((style) => luminance(style.color));
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  return names.flatMap((name) => grounds.map((ground) => contrast(name, ground)));
}"""


async def chat(demo: DemoBot, *texts: str) -> None:
    """Lines that are not equal to one another, by different people."""
    for place, text in enumerate(texts):
        await demo.hear(("bob", "heidi", "frank", "gina")[place % 4], text)


async def test_the_newest_is_at_the_bottom_and_whoever_reads_further_up_is_left_there(
    demo: DemoBot, running: Browser
) -> None:
    async with page_on(running, demo.address, 420, 600) as page:
        await chat(demo, *(f"line number {number}" for number in range(30)))
        await expect(page.locator(".feed .item.line").last).to_contain_text(
            "line number 29"
        )
        await until(page, AT_END)
        await page.locator(".feed").hover()
        await page.mouse.wheel(0, -300)
        await until(page, f"!{AT_END}")
        await page.mouse.move(5, 5)
        await chat(demo, "one more", "and another")
        newer = page.get_by_role("button", name=re.compile(r"^[2-9] newer"))
        await expect(newer).to_be_visible()
        assert not await page.evaluate(AT_END)
        await newer.click()
        await expect(page.locator(".newer")).to_be_hidden()
        await until(page, AT_END)
        await expect(page.get_by_text("and another")).to_be_in_viewport()


async def test_escape_out_of_a_sheet_does_not_freeze_the_feed(
    demo: DemoBot, running: Browser
) -> None:
    await demo.hear("heidi", "@forgetmenot what is my cat called?")
    async with page_on(running, demo.address, 420, 600) as page:
        await page.get_by_role("button", name="Why").last.click()
        await expect(page.locator("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog")).to_have_count(0)
        await chat(demo, *(f"line number {number}" for number in range(30)))
        await expect(page.get_by_text("line number 29")).to_be_in_viewport()
        await expect(page.locator(".newer")).to_be_hidden()


async def test_names_have_their_colours_readable_on_both_grounds_and_open_the_person(
    demo: DemoBot, running: Browser
) -> None:
    users = demo.sim.world.users
    users["bob"] = replace(demo.sim.world.user("bob"), color="#0000ff")
    await chat(demo, "hello", "hi", "hey", "good evening")
    async with page_on(running, demo.address, 1_100, 800) as page:
        name = page.locator(".feed .item.line", has_text="hello").locator("a.name").last
        for theme in ("dark", "light"):
            await page.emulate_media(color_scheme=theme)
            assert min(await page.evaluate(CONTRASTS)) >= 4.5, theme
        assert (
            await name.evaluate("one => getComputedStyle(one).color")
            == "rgb(0, 0, 255)"
        )
        await name.click()
        await expect(page.get_by_role("heading", name="Bob")).to_be_visible()
        assert await page.title() == "Bob · Memory · ForgetMeNot"


async def test_equal_lines_are_counted_and_long_ones_fold_at_three_rows(
    demo: DemoBot, running: Browser
) -> None:
    async with page_on(running, demo.address, 300, 400) as page:
        for login in ("bob", "heidi", "frank", "gina"):
            await demo.hear(login, "Poggers" if login == "frank" else "poggers")
        line = page.locator(".feed .item.line", has_text="poggers")
        await expect(line).to_have_count(1)
        await expect(line).to_contain_text("×4")
        long = "a long story about a ladder " * 12
        await demo.hear("bob", long)
        line = page.locator(".feed .item.line").last
        folded = await line.locator(".text").bounding_box()
        assert folded is not None
        assert folded["height"] < 70
        await line.get_by_role("button", name="More").click()
        whole = await line.locator(".text").bounding_box()
        assert whole is not None
        assert whole["height"] > 120
        await expect(line.get_by_role("button", name="Less")).to_be_visible()


async def test_three_arrivals_and_an_approval_leave_four_lines_of_chat(
    memory: Path, tmp_path: Path, running: Browser
) -> None:
    async with (
        opened(memory, tmp_path, earpiece="everyone_known") as demo,
        page_on(running, demo.address, 300, 400) as page,
    ):
        async with demo.bot.db.write() as tx:
            wishes = {"called": "Robin", "pronouns": "he/him"}
            await viewers.set_wishes(tx, await demo.id_of("bob"), wishes, 1)
        await chat(demo, "hello", "hi there", "hey all", "good evening")
        await demo.propose_timeout()
        await chat(demo, "well", "ok then", "so be it", "that ladder")
        await expect(page.locator(".arrival")).to_have_count(3)
        card = page.locator(".arrival", has_text="Robin; he/him · ")
        await expect(card).to_have_count(1)
        for arrival in await page.locator(".arrival").all():
            box = await arrival.bounding_box()
            assert box is not None
            assert box["height"] < 30
        await expect(page.get_by_role("button", name="Approve")).to_be_in_viewport(
            ratio=0.98
        )
        await expect(page.get_by_text("that ladder")).to_be_in_viewport(ratio=0.98)
        assert await lines_in_view(page) >= 4
        await page.locator(".arrival summary").first.click()
        await expect(
            page.get_by_role("link", name="All about them").first
        ).to_be_visible()
        await page.get_by_role("button", name="Close Bob").click()
        await expect(page.locator(".arrival")).to_have_count(2)


HEARD = "#heard p"


async def test_a_reply_and_an_approval_are_heard_once_and_nothing_that_was_there_before(
    demo: DemoBot, page: Page
) -> None:
    await go(page, "settings")  # wherever somebody is
    await expect(page.locator(HEARD)).to_have_count(0)
    await demo.hear("heidi", "@forgetmenot what is my cat called?")
    await expect(page.locator(HEARD)).to_have_count(1)
    await expect(page.locator(HEARD)).to_contain_text("called Miso")
    await demo.propose_timeout()
    await expect(page.locator(HEARD).last).to_have_text(
        "Approvals: Time out Frank for 30 s?"
    )
    await expect(page.locator(HEARD)).to_have_count(2)
