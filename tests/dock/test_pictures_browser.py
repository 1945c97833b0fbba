"""The dock's pictures in a real Chromium: seen at each width and theme, stepped through by keyboard, read as tables."""

import contextlib
from collections.abc import AsyncIterator
from typing import Literal

import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, Page, expect

from forgetmenot.clock import ManualClock
from forgetmenot.demo.past_streams import with_price
from forgetmenot.dock.security import TOKEN_FILE
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings, TwitchSettings
from forgetmenot.store.database import Database
from forgetmenot.text.days import iso_day
from tests.conftest import NOON
from tests.dock.conftest import BROWSER, fake_dock, go, page_on, until
from tests.dock.test_pictures import put_answers, put_streams
from tests.ports import unused_port
from tests.rows import put

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
Theme = Literal["dark", "light"]
THEMES: tuple[Theme, ...] = ("dark", "light")
WIDTHS = (300, 420, 1100)
PLACES = (
    "memory/people",
    "memory/streams",
    "memory/notes",
    "memory/answers",
    "memory/person/1",
    "costs",
)
LONG_NAME = "W" * 25
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
# Colours of all that is drawn, the smallest text, and what sticks out of its picture.
DRAWN = """() => {
  const drawn = [...document.querySelectorAll('.figures path.series, .figures text')];
  const shapes = drawn.filter((node) => node.tagName === 'path');
  const words = drawn.filter((node) => node.tagName === 'text');
  const sticksOut = (node) => {
    const [own, picture] = [node, node.ownerSVGElement].map((one) => one.getBoundingClientRect());
    return own.left < picture.left - 1 || own.right > picture.right + 1;
  };
  return {
    fills: [...new Set(shapes.map((node) => getComputedStyle(node).fill))],
    smallest: Math.min(...words.map((node) => parseFloat(getComputedStyle(node).fontSize))),
    out: drawn.filter(sticksOut).length,
  };
}"""
IS_REDRAWN = """[...document.querySelectorAll('.figures')].every(
  (node) => node.clientWidth === node.parentNode.clientWidth)"""


async def fill(db: Database) -> None:
    """A channel of forty streams with figures of every kind, and people with names that are hard to show."""
    streams = await put_streams(db, 40)
    await put_answers(db, login="erin", viewer="9")
    async with db.write() as tx:
        for viewer, name in (
            ("1", LONG_NAME),
            ("3", HEBREW),
            ("4", "\U0001f3ae\U0001f525"),
        ):
            await tx.execute(
                "UPDATE viewers SET display_name = ? WHERE id = ?", (name, viewer)
            )
        for number, stream in enumerate(streams):
            at = NOON - (39 - number) * DAY
            for minute in range(60):
                lines = 1 + (minute * 7 + number) % 23
                await put(
                    tx,
                    "minutes",
                    stream_id=stream,
                    minute=at // MINUTE + minute,
                    lines=lines,
                    people=1,
                    addressed=0,
                )
            for kind, text in (
                ("title", "Ladders"),
                ("game", "Chess"),
                ("raid", "61"),
                ("gift", "5"),
            ):
                await put(
                    tx,
                    "moments",
                    stream_id=stream,
                    at=at + 20 * MINUTE,
                    kind=kind,
                    text=text,
                    viewer_id="1",
                )
            note = await put(
                tx,
                "semantic_notes",
                subject_id="1",
                fact=f"plays level {number}",
                first_said_at=at,
            )
            await put(
                tx,
                "note_changes",
                note_id=note,
                at=at + HOUR,
                to_status="active",
                cause="x",
            )
            for purpose in ("reply", "recap"):
                await put(
                    tx,
                    "spending",
                    day=iso_day(at, ""),
                    purpose=purpose,
                    model="demo-model",
                    calls=3,
                    input=90_000,
                    cached=0,
                    output=900,
                    failed=0,
                )


@contextlib.asynccontextmanager
async def served(db: Database, clock: ManualClock) -> AsyncIterator[str]:
    """The address of a dock on that memory."""
    port = unused_port()
    settings = with_price(Settings(twitch=TwitchSettings(channel="demo")))
    limits = replace(settings.limits, money_per_stream=0.1)
    live = LiveSettings(replace(settings, limits=limits))
    async with fake_dock(db, clock, port, live=live):
        yield f"http://127.0.0.1:{port}/?token={(db.path.parent / TOKEN_FILE).read_text()}"


async def look(page: Page, theme: Theme, width: int, height: int = 700) -> None:
    await page.emulate_media(color_scheme=theme)
    await page.set_viewport_size({"width": width, "height": height})


async def test_a_regular_who_is_away_is_missing_on_their_page_too(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await put_streams(db, 40)
    async with served(db, clock) as address, page_on(running, address) as page:
        await go(page, "memory/people")
        bob = page.locator("a.person", has_text="Bob")
        await expect(bob.locator(".marks")).to_have_text("missing")
        await go(page, "memory/person/2")
        await expect(page.locator("header.who h2")).to_have_text("Bobmissing")


async def test_every_picture_fits_is_coloured_and_readable_at_each_width_and_theme(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with served(db, clock) as address, page_on(running, address) as page:
        fills: dict[Theme, set[str]] = {theme: set() for theme in THEMES}
        for place in PLACES:
            await go(page, place)
            picture = page.locator(
                "svg.cells" if place == "memory/people" else "svg.figures"
            ).first
            await expect(picture).to_be_visible()
            for theme in THEMES:
                for width in WIDTHS:
                    await look(page, theme, width)
                    if place == "memory/people":
                        box = await page.locator("a.person").first.bounding_box()
                        assert box is not None
                        assert 36 <= box["height"] <= 40
                    else:
                        await until(page, IS_REDRAWN)
                        drawn = await page.evaluate(DRAWN)
                        assert (drawn["smallest"] >= 11, drawn["out"]) == (True, 0), (
                            place,
                            width,
                        )
                        fills[theme] |= set(drawn["fills"])
                    assert (
                        await page.evaluate("document.documentElement.scrollWidth")
                        <= width
                    )
        assert len(fills["dark"]) > 5
        assert fills["dark"] != fills["light"]


async def test_costs_are_stepped_through_by_keyboard_read_as_a_table_and_capped_in_place(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with served(db, clock) as address, page_on(running, address) as page:
        await go(page, "costs")
        plot = page.locator(".plot")
        spoken = page.locator(".point")
        await expect(page.locator("figcaption")).to_have_text(
            "1.76 USD in 30 days: 0.88 USD for replies, 0.88 USD for the memory."
        )
        assert (
            await plot.get_attribute("aria-label")
            == await page.locator("figcaption").inner_text()
        )
        assert await spoken.get_attribute("aria-live") == "polite"
        caps = page.locator(".figures text.cap")
        await expect(caps).to_have_text(
            ["limit 0.15 USD a day ↑", "limit 0.10 USD a stream"]
        )
        await expect(page.get_by_label("Tokens a day")).to_be_hidden()
        await plot.focus()
        await page.keyboard.press("End")
        await expect(spoken).to_contain_text("Jul 24, 2026: 0.029 USD for replies")
        await page.keyboard.press("ArrowLeft")
        await expect(spoken).to_contain_text("Jul 23, 2026")
        await page.keyboard.press("Home")
        await expect(spoken).to_contain_text("Jun 25, 2026")
        assert await page.locator("table").count() == 0  # built when it is opened
        await page.get_by_text("As a table").click()
        await expect(page.locator("tbody tr")).to_have_count(30)
        await expect(page.locator("tbody tr").last).to_contain_text("0.029 USD")
        await page.get_by_role("button", name="a year").click()
        await expect(page.locator("tbody tr")).to_have_count(52)
        await expect(page.locator(".figures .cap")).to_have_count(
            0
        )  # a day's cap says nothing of a week
        field = page.get_by_label("Money a day")
        await expect(field).to_have_value("0.15")


async def test_an_evening_is_stepped_through_and_saved_as_svg_and_png(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with served(db, clock) as address, page_on(running, address) as page:
        await go(page, "memory/streams")
        await page.locator(".plot").focus()
        for _ in range(21):
            await page.keyboard.press("ArrowRight")
        spoken = page.locator(".point")
        await expect(spoken).to_contain_text(f"{LONG_NAME} raided with 61 viewers")
        await expect(spoken).to_contain_text("Playing Chess")
        await page.get_by_text("As a table").click()
        await expect(page.locator("tbody tr")).to_have_count(60)
        for name, start in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
            async with page.expect_download() as download:
                await page.get_by_role("button", name=name).click()
            file = await (await download.value).path()
            content = file.read_bytes()
            assert content.startswith(start)
            assert len(content) > 2_000
            assert (
                await download.value
            ).suggested_filename == f"forgetmenot-2026-07-24.{name.lower()}"


async def test_an_evening_grows_while_chat_comes_in_and_the_chosen_minute_stays(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with served(db, clock) as address, page_on(running, address) as page:
        await go(page, "memory/streams")
        await page.locator(".plot").focus()
        await page.keyboard.press("ArrowRight")
        before = await page.locator(".point").inner_text()
        caption = page.locator("figcaption")
        await expect(caption).to_contain_text("at most 23 a minute")
        async with db.write() as tx:
            await tx.execute(
                "UPDATE minutes SET lines = 99 WHERE minute = ?", (NOON // MINUTE + 30,)
            )
            await put(
                tx, "episodes", summary="More chat.", stream_id=40
            )  # what the feed reports
        await expect(caption).to_contain_text("at most 99 a minute")
        assert await page.locator(".point").inner_text() == before
        assert await page.evaluate("document.activeElement.className") == "plot"


async def test_who_comes_is_chosen_by_kind_and_leads_to_the_person(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with (
        served(db, clock) as address,
        page_on(running, address, 300, 400) as page,
    ):
        await go(page, "memory/people")
        await expect(page.locator("a.person")).to_have_count(5)
        assert await page.evaluate(
            "document.querySelectorAll('a.person')[4].getBoundingClientRect().bottom <= innerHeight"
        )
        await page.get_by_role("button", name="Missing 1").click()
        await expect(page.locator("a.person")).to_have_count(1)
        await expect(page.locator("a.person")).to_contain_text("Bob")
        await page.get_by_role("button", name="Everybody 5").click()
        row = page.locator("a.person", has_text=LONG_NAME)
        await expect(row).to_contain_text("30 of 30")
        await row.click()
        await expect(page.locator("figcaption")).to_contain_text("40 streams")
        await page.locator(".plot").focus()
        await page.keyboard.press("End")
        await expect(page.locator(".point")).to_contain_text("Gave 5 subs")


async def test_in_a_small_dock_notes_come_before_their_picture(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with (
        served(db, clock) as address,
        page_on(running, address, 300, 400) as page,
    ):
        await go(page, "memory/notes")
        await expect(page.locator(".notecard").first).to_be_in_viewport()
        await expect(page.locator(".plot")).to_be_hidden()
        await page.get_by_text("What it learned").click()
        await expect(page.locator(".figures")).to_be_visible()


async def test_a_bar_opens_what_is_behind_it(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    await fill(db)
    async with served(db, clock) as address, page_on(running, address) as page:
        await go(page, "memory/notes")
        await page.locator(".plot").focus()
        await page.keyboard.press("End")
        await page.keyboard.press("Enter")
        await expect(page.locator(".opened li")).to_contain_text("plays level 39")
        await go(page, "memory/answers")
        await expect(page.locator("figcaption")).to_contain_text("8 replies")
        await page.locator(".plot").focus()
        await page.keyboard.press("End")
        await page.keyboard.press("Enter")
        await expect(page.locator(".opened .item")).to_have_count(3)
        await page.keyboard.press("Home")
        await page.keyboard.press("Enter")
        await expect(page.locator(".opened")).to_contain_text("no longer kept")


async def test_an_empty_memory_draws_nothing_and_says_so(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    async with (
        served(db, clock) as address,
        page_on(running, address, 300, 400) as page,
    ):
        for place in (
            "memory/people",
            "memory/streams",
            "memory/notes",
            "memory/answers",
            "costs",
        ):
            await go(page, place)
            await until(page, "document.querySelector('main').innerText.length > 40")
        await expect(page.locator("figcaption")).to_contain_text("0 calls in 30 days")
