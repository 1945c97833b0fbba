"""The page Book in a real Chromium: at each width, theme and language, searched, stepped through, exported."""

import contextlib
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE
from forgetmenot.durations import DAY
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import BotSettings, Settings, TwitchSettings
from forgetmenot.store.database import Database
from tests.conftest import NOON
from tests.dock.conftest import BROWSER, FakeControl, fake_dock, go, page_on, until
from tests.dock.test_book import fill
from tests.dock.test_pictures_browser import (
    DRAWN,
    IS_REDRAWN,
    LONG_NAME,
    THEMES,
    WIDTHS,
    look,
)
from tests.ports import unused_port
from tests.rows import put

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]


@contextlib.asynccontextmanager
async def book_page(
    db: Database,
    clock: ManualClock,
    running: Browser,
    language: str = "en",
) -> AsyncIterator[tuple[Page, FakeControl]]:
    """The page Book of a dock on that memory, and what it asks of the bot."""
    port = unused_port()
    control = FakeControl()
    settings = Settings(
        bot=BotSettings(language=language), twitch=TwitchSettings(channel="demo")
    )
    async with fake_dock(db, clock, port, control, LiveSettings(settings)):
        token = (db.path.parent / TOKEN_FILE).read_text()
        address = f"http://127.0.0.1:{port}/?token={token}"
        async with page_on(running, address) as page:
            await go(page, "memory/book")
            yield page, control


@pytest.mark.parametrize(
    ("language", "heading"), [("en", "Running jokes"), ("de", "Running Gags")]
)
async def test_it_fits_at_each_width_and_theme(
    db: Database, clock: ManualClock, running: Browser, language: str, heading: str
) -> None:
    await fill(db)
    async with db.write() as tx:
        await tx.execute(
            "UPDATE viewers SET display_name = ? WHERE id = '1'", (LONG_NAME,)
        )
        await tx.execute("UPDATE quotes SET text = ?", (f"{'long' * 40} and on",))
    async with book_page(db, clock, running, language) as (page, _control):
        await expect(page.get_by_role("heading", name=heading)).to_be_visible()
        for theme in THEMES:
            for width in WIDTHS:
                await look(page, theme, width)
                await until(page, IS_REDRAWN)
                drawn = await page.evaluate(DRAWN)
                assert drawn["smallest"] >= 11
                assert drawn["out"] == 0
                scrolled = await page.evaluate("document.documentElement.scrollWidth")
                assert scrolled <= width, (theme, width)


async def test_the_picture_of_jokes_is_stepped_through_and_read_as_a_table(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with book_page(db, clock, running) as (page, _control):
        await expect(page.locator("figcaption")).to_have_text("When this joke lived")
        await page.locator(".plot").focus()
        await page.keyboard.press("Home")
        await expect(page.locator(".point")).to_contain_text("Jul 15, 2026")
        await page.keyboard.press("End")
        await expect(page.locator(".point")).to_contain_text("Jul 24, 2026")
        await page.get_by_text("As a table").click()
        row = page.locator("tbody tr")
        await expect(row).to_contain_text("Alice always blames the ladder")
        await expect(row.locator("td").last).to_have_text("2")


async def test_it_is_searched_a_quote_removed_and_all_exported(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with book_page(db, clock, running) as (page, control):
        link = page.get_by_role("link", name="video").first
        assert (await link.get_attribute("href") or "").endswith("77?t=0h21m0s")
        await page.get_by_role("button", name="Remove quote").click()
        await expect(page.locator("li", has_text="marker")).to_be_visible()
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Export").click()
        file = await (await download.value).path()
        assert file.read_text("utf-8").startswith("# Book")
        await page.get_by_role("searchbox").fill("tumbled off the ladder")
        await expect(
            page.get_by_text("Alice fell off the ladder.", exact=True)
        ).to_be_visible()
        await expect(page.get_by_role("heading", name="Running jokes")).to_have_count(0)
        assert ("unquote", {"id": 1}) in control.calls


async def test_clips_without_a_summary_are_folded_and_stay_unfolded(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with db.write() as tx:
        for name in ("Untold", "Other"):
            await put(
                tx,
                "moments",
                stream_id=1,
                at=NOON - 9 * DAY,  # before the first summary of that stream
                kind="clip",
                text=f"https://clips.twitch.tv/{name}",
                viewer_id="1",
            )
    async with book_page(db, clock, running) as (page, _control):
        untold = page.locator("li", has=page.locator("a[href$=Untold]"))
        summarised = page.locator("li", has=page.locator("a[href$=Abc]"))
        await expect(summarised).to_be_visible()
        await expect(untold).to_be_hidden()
        await page.get_by_text("2 moments without a summary").click()
        await expect(untold).to_be_visible()
        await page.get_by_role("searchbox").fill("zebra")
        await expect(page.get_by_role("heading", name="Clips")).to_have_count(0)
        await page.get_by_role("searchbox").fill("")
        await expect(untold).to_be_visible()


async def test_an_empty_book_says_how_it_is_filled(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    async with book_page(db, clock, running) as (page, _control):
        await expect(page.get_by_text("Type !quote")).to_be_visible()
