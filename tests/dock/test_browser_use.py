"""The dock in a real Chromium, in use: keyboard, long lists, a busy chat, a lost connection."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from forgetmenot.clock import DAY
from forgetmenot.domain import Scope, SourceKind
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote
from tests.dock.demo_bot import BROWSER, DemoBot, go, opened, page_on, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),  # one Chromium for all: each test has a context of its own
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]


async def test_the_keyboard_is_enough(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address, 1100) as page:
        await demo.propose_timeout()
        await expect(page.locator("#nav .badge")).to_have_text("1")
        await tab_to(page, "Approvals")
        await page.keyboard.press("Enter")
        await tab_to(page, "Deny")
        await page.keyboard.press("Space")
        await expect(page.locator(".item.action.denied").first).to_contain_text("Frank")
        assert await demo.bot.db.value("SELECT status FROM action_logs ORDER BY id DESC") == "denied"
        await page.evaluate("id => { location.hash = `memory/person/${id}` }", await demo.id_of("frank"))
        await tab_to(page, "Erase")
        await page.keyboard.press("Enter")
        await expect(page.locator("dialog")).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog")).to_have_count(0)
        assert await page.evaluate("document.activeElement.textContent") == "Erase"


async def tab_to(page: Page, name: str) -> None:
    for _ in range(120):
        await page.keyboard.press("Tab")
        held = await page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent")
        if held == name:
            outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"{name} does not show that it has the focus"
            return
    raise AssertionError(f"{name} cannot be reached")


async def give_books(demo: DemoBot, count: int) -> str:
    """So many notes about Bob; his id."""
    bob = await demo.id_of("bob")
    new = [
        NewNote(Scope.VIEWER, bob, f"owns the blue book {number}", 0.8, SourceKind.IMPORT, number, id=10_000 + number)
        for number in range(count)
    ]
    async with demo.bot.db.write() as tx:
        await notes.insert_many(tx, new, cause="test", now=1)
    return bob


async def test_a_long_list_grows_as_one_reads_on_and_takes_nothing_from_who_writes_in_it(
    demo: DemoBot, running: Browser
) -> None:
    bob = await give_books(demo, 10_000)
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob}")
        cards = page.locator(".notecard")
        await cards.first.get_by_role("button", name="Edit").click()
        await page.get_by_label("fact").fill("half a senten")
        assert await cards.count() <= 100
        for more in (100, 150):
            await page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
            await until(page, f"document.querySelectorAll('.notecard').length >= {more}")
        await page.evaluate("window.scrollTo(0, 0)")
        await expect(page.get_by_label("fact")).to_have_value("half a senten")


async def test_a_busy_chat_leaves_the_page_usable_and_small(demo: DemoBot, page: Page) -> None:
    for burst in range(10):
        for number in range(40):
            await demo.sim.say(f"viewer{number}", f"line {burst} {number} of many")
        await demo.settle()
    await expect(page.locator(".item.line", has_text="line 9 39").first).to_be_visible()
    assert await page.locator(".feed .item").count() <= 120
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("button", name="Chat").click()
    await expect(page.locator(".feed .item.line")).to_have_count(0)


async def test_a_busy_chat_takes_no_click_away_and_closes_no_list(demo: DemoBot, page: Page) -> None:
    """What is drawn anew between press and release loses the click; a list that is drawn anew closes."""
    kept = "#top button, #nav a, select[aria-label=Mode]"
    await page.evaluate("which => document.querySelectorAll(which).forEach(one => { one.dataset.same = '1' })", kept)
    await page.get_by_role("button", name="Pause").hover()
    await page.mouse.down()
    before = await page.locator(".cards").inner_text()
    await demo.hear("bob", "one more line")
    await expect(page.locator(".item.line", has_text="one more line")).to_be_visible()
    await expect(page.locator(".cards")).not_to_have_text(before)
    await page.mouse.up()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    await expect(
        page.locator("select[aria-label=Mode], #nav a[href='#now']").and_(page.locator("[data-same]"))
    ).to_have_count(2)


async def test_after_a_lost_connection_it_says_so_and_catches_up(
    memory: Path, tmp_path: Path, running: Browser
) -> None:
    """A bot that stops and starts again: the page is never touched."""
    async with opened(memory, tmp_path / "one") as first:
        port, its_memory = int(first.address.split(":")[2].split("/")[0]), first.bot.db.path
        context = page_on(running, first.address)
        page = await context.__aenter__()
        await expect(page.locator("#top")).to_contain_text("streamer")
    await expect(page.locator("#top")).to_contain_text("cannot be reached")
    async with opened(its_memory, tmp_path / "two", port=port) as again:
        assert again.address == first.address
        await again.hear("bob", "did anybody miss me?")
        await expect(page.locator("#top")).not_to_contain_text("cannot be reached")
        await expect(page.locator(".item.line", has_text="did anybody miss me?")).to_be_visible()
        await page.context.close()


async def test_chat_leaves_the_page_when_it_leaves_the_memory(demo: DemoBot, page: Page) -> None:
    await expect(page.locator(".item.line")).not_to_have_count(0)
    await demo.clock.advance(DAY)
    await demo.hear("bob", "a new day")
    await expect(page.locator(".item.line")).to_have_count(1)
    await expect(page.locator(".item.line")).to_contain_text("a new day")
    await expect(page.locator(".item.episode")).not_to_have_count(0)


async def test_who_just_came_in_has_a_card_until_it_is_put_away_or_unwanted(
    memory: Path, tmp_path: Path, running: Browser
) -> None:
    async with (
        opened(memory, tmp_path, earpiece="everyone_known") as demo,
        page_on(running, demo.address, 300) as page,
    ):
        card = page.locator(".arrival")
        await expect(card).to_have_count(0)
        await demo.hear("niaj", "hello again")
        await expect(card).to_contain_text("Niaj")
        await card.get_by_role("button", name="Not again").click()
        await expect(card).to_have_count(0)
        await demo.hear("carol", "hi")
        await demo.hear("niaj", "how is everybody?")
        await expect(card).to_contain_text("Carol")
        assert await page.evaluate("document.documentElement.scrollWidth") <= 300
        await go(page, "settings")
        async with page.context.expect_page() as opening:
            await page.get_by_role("link", name="Just came in").click()
        own = await opening.value
        assert own.url.endswith("/earpiece")
        await own.set_viewport_size({"width": 300, "height": 600})
        card = own.locator(".arrival")
        await expect(card).to_contain_text("Carol")
        await expect(own.locator("#top")).to_be_hidden()
        await expect(own.locator("#nav")).to_be_hidden()
        assert await own.evaluate("document.documentElement.scrollWidth") <= 300
        size = await card.locator(".text").first.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
        assert size >= 18
        async with own.context.expect_page() as opening:
            await card.get_by_role("link", name="Carol").click()
        await expect((await opening.value).locator(".who h2")).to_contain_text("Carol")
        await card.get_by_role("button", name="Close").click()
        await expect(card).to_have_count(0)
        await expect(own.locator(".empty")).to_contain_text("ten minutes")
