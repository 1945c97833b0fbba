"""What helps everybody to use the dock: keyboard, screen readers, large text, contrast. In a real Chromium."""

import itertools

import pytest
from playwright.async_api import Browser, Page, expect

from tests.dock.conftest import BROWSER, DemoBot, go, page_on, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
PLACES = (
    "now", "memory", "memory/channel", "memory/book", "memory/streams", "memory/notes", "memory/note/2",
    "memory/answers", "costs",
    "approvals", "settings", "setup",
)  # fmt: skip
NO_WIDER = (
    "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
)
STYLES = """() => {
  const shown = [...document.querySelectorAll("body *")].filter((one) => one.innerText?.trim());
  const styles = shown.map((one) => getComputedStyle(one));
  return [[...new Set(styles.map((style) => style.fontSize))], [...new Set(styles.map((style) => style.fontWeight))]];
}"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4")].map((one) => Number(one.tagName[1]))"""
EMPTY_LISTS = """() => [...document.querySelectorAll("[role=list]")]
  .filter((list) => !list.querySelector("[role=listitem]")).length"""
EDGES = """() => {
  const luminance = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255);
    const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const all = (selector) => [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one));
  const fields = all("main :is(input, select, textarea):not([type=radio], [type=file])");
  const grounds = all("body, fieldset, .box").map((style) => luminance(style.backgroundColor));
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  return fields.flatMap((field) => grounds.map((ground) => contrast(luminance(field.borderTopColor), ground)));
}"""


async def test_each_page_has_ordered_headings_four_sizes_two_weights_and_room_for_large_text(
    demo: DemoBot, running: Browser
) -> None:
    sizes: set[str] = set()
    async with page_on(running, demo.address, 300, 600) as page:
        await demo.propose_timeout()
        for place in PLACES:
            await go(page, place)
            await until(page, "document.querySelector('main').innerText.length > 60")
            levels = await page.evaluate(HEADINGS)
            assert levels[0] == 1, place
            steps = [after - before for before, after in itertools.pairwise(levels)]
            assert max(steps, default=0) <= 1, (place, levels)
            assert await page.evaluate(EMPTY_LISTS) == 0, place
            font_sizes, weights = await page.evaluate(STYLES)
            sizes |= set(font_sizes)
            assert set(weights) <= {"400", "600"}, (place, weights)
            await page.evaluate("document.documentElement.style.fontSize = '200%'")
            await until(page, NO_WIDER)
            await page.evaluate("document.documentElement.style.fontSize = ''")
    assert len(sizes) <= 4, sizes


async def test_fields_and_switches_have_an_edge_that_can_be_seen(page: Page) -> None:
    for place in ("settings", "setup"):
        await go(page, place)
        await expect(page.locator("main :is(fieldset, .step)").first).to_be_visible()
        for theme in ("dark", "light"):
            await page.emulate_media(color_scheme=theme)
            assert min(await page.evaluate(EDGES)) >= 3, (place, theme)


async def test_the_keyboard_goes_on_where_it_was(demo: DemoBot, page: Page) -> None:
    await demo.propose_timeout()
    await page.get_by_role("button", name="Deny").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#toast")).to_contain_text("Frank is not timed out.")
    await expect(page.locator("main")).to_be_focused()
    await go(page, "memory/notes")
    cards = page.locator(".notecard")
    await expect(cards.nth(1)).to_be_visible()
    before = await cards.count()
    await cards.nth(1).get_by_role("button", name="Remove").focus()
    await page.keyboard.press("Enter")
    await expect(cards).to_have_count(before - 1)
    await until(page, "document.activeElement.closest('.notecard') !== null")
    await cards.first.get_by_role("button", name="Edit").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("fact")).to_be_focused()
    await page.keyboard.press("Escape")
    await until(page, "document.activeElement.closest('.notecard') !== null")
