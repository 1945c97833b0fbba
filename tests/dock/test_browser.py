"""The dock in a real Chromium, before a running bot on the demo's memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from forgetmenot.clock import DAY, HOUR
from forgetmenot.domain.memory import Scope, SourceKind
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import parse_settings
from forgetmenot.store import action_logs, briefs, channel_state, notes, viewers
from forgetmenot.store.briefs import Brief
from forgetmenot.store.notes import NewNote
from tests.dock.demo_bot import BROWSER, DemoBot, chromium, opened, page_on, play

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),  # one Chromium for all of them: each test has a context of its own
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
PANELS = ("now", "memory", "approvals", "figures", "health", "rights", "settings")
PLACES = (*PANELS, "setup", "memory/channel", "memory/streams", "memory/notes", "memory/note/2")
EVIL = "<img src=x onerror=document.title='broken'>"


@pytest.fixture(scope="session")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("demo"))


@pytest_asyncio.fixture(loop_scope="module")
async def demo(memory: Path, tmp_path: Path) -> AsyncIterator[DemoBot]:
    async with opened(memory, tmp_path) as here:
        yield here


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def unchanged(memory: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DemoBot]:
    """A bot for tests that change nothing and say nothing."""
    async with opened(memory, tmp_path_factory.mktemp("unchanged")) as here:
        yield here


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def running() -> AsyncIterator[Browser]:
    async with chromium() as one:
        yield one


async def until(page: Page, condition: str) -> None:
    """Wait until an expression holds (Playwright's own waiting needs eval, which the page forbids)."""
    async with asyncio.timeout(8):
        while not await page.evaluate(condition):  # noqa: ASYNC110  # another process's state
            await asyncio.sleep(0.05)


async def go(page: Page, place: str) -> None:
    await page.evaluate("place => { location.hash = place }", place)
    await until(page, f"document.querySelector('main').classList.contains('{place.split('/', maxsplit=1)[0]}')")
    await until(page, "document.querySelector('.content').childElementCount > 0")


async def test_every_panel_fits_and_has_something_to_say(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, unchanged.address) as page:
        for place in PLACES:
            await go(page, place)
            await until(page, "document.querySelector('main').innerText.length > 60")
            for width in (1100, 420, 300):
                await page.set_viewport_size({"width": width, "height": 900})
                assert await page.evaluate("document.documentElement.scrollWidth") <= width, (place, width)


async def test_the_page_changes_its_language_and_fits_in_it(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address, 300) as page, page_on(running, demo.address) as other:
        await go(page, "setup")
        await page.get_by_label("Language").select_option("Deutsch")
        await expect(other.locator("#nav")).to_contain_text("Gedächtnis")  # every open page changes
        await expect(page.locator("html")).to_have_attribute("lang", "de")
        for place in PLACES:
            await go(page, place)
            await until(page, "document.querySelector('main').innerText.length > 60")
            assert await page.evaluate("document.documentElement.scrollWidth") <= 300, place
        await other.get_by_role("button", name="Pause").click()
        await expect(other.locator("#toast")).to_contain_text("Pause.")
        await expect(page.locator("#top .standing")).to_contain_text("Pause")


async def test_what_was_heard_goes_when_a_summary_has_it(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address) as page:
        await demo.sim.say("heidi", "I play the cello")
        await demo.settle()
        await expect(page.locator(".heard-now")).to_contain_text("plays the cello")
        await demo.clock.advance(HOUR)
        await demo.bot.tasks.catch_up()
        await expect(page.locator(".item.episode").first).to_contain_text("cello")
        await expect(page.locator(".heard-now")).to_have_count(0)


async def test_the_token_leaves_the_address_and_a_reload_needs_it_no_more(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, unchanged.address) as page:
        assert "token" not in page.url
        await page.reload()
        await page.wait_for_selector("#top .switches")


async def test_an_address_that_is_none_opens_the_first_panel(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, f"{unchanged.address}#%") as page:
        for place, title in (("%E0%A4%A", "Now"), ("constructor", "Now"), ("memory/constructor", "Memory")):
            await page.evaluate("place => { location.hash = place }", place)
            await expect(page.locator("#nav [aria-current=page]")).to_have_text(title)
            await expect(page.locator(".feed .item, .list .item").first).to_be_visible()


async def test_a_page_without_the_token_asks_for_the_address_again(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, unchanged.address) as page:
        await page.evaluate("sessionStorage.clear()")
        await page.evaluate("location.hash = 'health'")
        await expect(page.get_by_role("heading", name="Open the dock again")).to_be_visible()


async def test_a_stale_page_reloads_itself(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, unchanged.address) as page:
        build = await page.locator("meta[name=build]").get_attribute("content")
        hello = 'event: hello\ndata: {"build": "another", "at": 1}\n\n'
        await page.route("**/events*", lambda route: route.fulfill(content_type="text/event-stream", body=hello))
        loads: list[str] = []
        page.on("load", lambda _page: loads.append("load"))
        await page.evaluate(f"import('/static/{build}/live.js').then(m => m.connect())")
        async with asyncio.timeout(5):
            while not loads:  # noqa: ASYNC110  # another process's event
                await asyncio.sleep(0.05)
        await page.unroute("**/events*")
        await page.wait_for_load_state()
        await page.wait_for_selector("#top .switches")
        assert await page.locator("meta[name=build]").get_attribute("content") == build


async def test_what_is_said_appears_by_itself_with_its_why(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address) as page:
        await demo.sim.say("heidi", "@forgetmenot what is my cat called?")
        await demo.settle()
        await expect(page.locator(".item.line", has_text="what is my cat called?")).to_be_visible()
        reply = page.locator(".item.reply").first
        await expect(reply).to_contain_text("said")
        await reply.get_by_role("button", name="Why").click()
        sheet = page.locator("dialog")
        await expect(sheet).to_contain_text("What the model saw")
        await expect(sheet).to_contain_text("of 4,000 tokens")
        await expect(sheet.locator("li.remembered", has_text="Miso").first).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(sheet).to_have_count(0)


async def test_names_and_texts_from_chat_are_text(demo: DemoBot, running: Browser) -> None:
    async with demo.bot.db.write() as tx:
        await tx.execute("UPDATE viewers SET display_name = ? WHERE login = 'heidi'", (EVIL,))
        await tx.execute("UPDATE streams SET title = ?", (EVIL,))
    async with page_on(running, demo.address) as page:
        await demo.sim.say("bob", EVIL)
        await demo.settle()
        await expect(page.locator(".item.line", has_text=EVIL).first).to_be_visible()
        for place in PLACES:
            await go(page, place)
            await page.wait_for_timeout(50)
            assert await page.locator("main img").count() == 0
            assert "broken" not in await page.title()
        await go(page, "memory/note/2")
        await expect(page.locator(".fact")).to_contain_text(EVIL)


async def test_approve_in_place_in_a_small_dock(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address, 300, 400) as page:
        await demo.propose_timeout()
        [row] = await action_logs.waiting(demo.bot.db, demo.clock.now())
        await expect(page.locator("#nav .badge")).to_have_text("1")
        await expect(page.locator(".cards")).to_be_hidden()  # a small dock: how it stands, what waits, what happens
        await expect(page.locator(".countdown")).to_contain_text(":")
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator("#toast")).to_contain_text("timed out")
        done = await action_logs.get(demo.bot.db, row.id)
        assert done is not None
        assert done.status is action_logs.ActionStatus.DONE
        await expect(page.locator("#nav .badge")).to_have_count(0)
        await go(page, "approvals")
        await page.get_by_role("button", name="Undo").first.click()
        await expect(page.locator("#toast")).to_contain_text("undone")


async def test_erase_end_to_end(demo: DemoBot, running: Browser) -> None:
    heidi = await viewers.by_login(demo.bot.db, "heidi")
    assert heidi is not None
    async with page_on(running, demo.address) as page:
        await go(page, "rights")
        await page.get_by_label("Which viewer?").fill("heidi")
        row = page.locator(".item.person", has_text="Heidi")
        await expect(page.locator(".item.person")).to_have_count(1)
        async with page.expect_download() as file:
            await row.get_by_role("button", name="Export").click()
        assert "Miso" in json.dumps(json.loads((await (await file.value).path()).read_text()))
        await row.get_by_role("button", name="Erase").click()
        await expect(page.get_by_role("button", name="Erase permanently")).to_be_disabled()
        await page.get_by_label("Type heidi to confirm").fill("heidi")
        done = asyncio.Event()
        await page.route("**/api/do/erase", lambda route: held(route, done))
        await page.get_by_role("button", name="Erase permanently").click()
        await expect(page.locator("dialog")).to_contain_text("Done.", timeout=20_000)  # told before the answer came
        assert await page.locator("dialog progress").evaluate("one => one.value") == 1
        done.set()
        receipt = page.locator("dialog .user-code")
        await expect(receipt).to_be_visible(timeout=20_000)
        code = await receipt.inner_text()
        await page.get_by_role("button", name="Close").click()
        await expect(page.locator(".item.person")).to_have_count(0)
        await page.get_by_text("Check a receipt").click()
        await page.get_by_label("Code of the receipt").fill(code.lower())
        await page.get_by_role("button", name="Check").click()
        await expect(page.locator(".outcome")).to_contain_text("0 found", timeout=20_000)
    assert await viewers.get(demo.bot.db, heidi.id) is None
    assert await demo.bot.db.row("SELECT 1 FROM semantic_notes WHERE fact LIKE '%Miso%'") is None


async def test_who_is_erased_leaves_the_docks_that_are_open_or_were_away(demo: DemoBot, running: Browser) -> None:
    heidi = await viewers.by_login(demo.bot.db, "heidi")
    assert heidi is not None
    await demo.sim.say("heidi", "Miso sits on the keyboard")
    await demo.settle()
    async with page_on(running, demo.address) as page, page_on(running, demo.address) as away:
        for one in (page, away):
            await expect(one.locator(".item.line", has_text="Miso sits")).to_be_visible()
        build = await away.locator("meta[name=build]").get_attribute("content")
        live = f"import('/static/{build}/live.js')"
        await away.evaluate(f"{live}.then(m => m.disconnect())")
        await demo.bot.eraser.erase(heidi.id)
        await expect(page.locator("main")).not_to_contain_text("Heidi")
        await away.evaluate(f"{live}.then(m => m.connect())")
        await expect(away.locator("main")).not_to_contain_text("Heidi")
        await demo.sim.say("bob", "how quiet it is")
        await demo.settle()
        for one in (page, away):
            await expect(one.locator(".item.line", has_text="how quiet it is")).to_be_visible()


async def held(route: Route, until_then: asyncio.Event) -> None:
    """Let a request do its work, and keep its answer back."""
    answer = await route.fetch()
    await until_then.wait()
    await route.fulfill(response=answer)


async def test_a_note_is_added_edited_pinned_silenced_retracted_and_brought_back(
    demo: DemoBot, running: Browser
) -> None:
    bob = await viewers.by_login(demo.bot.db, "bob")
    assert bob is not None
    async with demo.bot.db.write() as tx:
        await briefs.put(tx, Brief(bob.id, f"<@{bob.id}> sails on Sundays.", "", 1))
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob.id}")
        await expect(page.get_by_text("sails on Sundays.")).to_be_visible()
        await page.get_by_label("Remember about them").fill("collects old maps")
        await page.get_by_role("button", name="Add").first.click()
        card = page.locator(".notecard", has_text="collects old maps")
        await card.get_by_role("button", name="Edit").click()
        await page.get_by_label("The fact").fill("collects old sea maps")
        await page.get_by_role("button", name="Save").click()
        card = page.locator(".notecard", has_text="collects old sea maps")
        await expect(card).to_be_visible()
        await card.get_by_role("button", name="Pin", exact=True).click()
        await expect(card.locator(".chip", has_text="pinned")).to_be_visible()
        await card.get_by_role("button", name="Never mention").click()
        await expect(card.locator(".chip", has_text="never mentioned")).to_be_visible()
        await card.get_by_role("button", name="Remove").click()
        await expect(card).to_have_count(0)
        await page.get_by_role("button", name="Show history").click()
        await expect(page.locator(".notecard.superseded", has_text="collects old maps")).to_be_visible()
        await page.locator(".notecard.retracted").get_by_role("button", name="Undo").click()
        await page.get_by_role("button", name="Show active notes").click()
        await expect(card).to_be_visible()
        await page.get_by_label("A topic the bot never mentions").fill("the old job")
        await page.get_by_label("A topic the bot never mentions").press("Enter")
        left_alone = page.locator(".plain li", has_text="the old job")
        await left_alone.get_by_role("button", name="Allow again").click()
        await expect(left_alone).to_have_count(0)


async def test_the_switches_and_the_mode_are_the_same_in_two_docks(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address) as one, page_on(running, demo.address) as other:
        await one.get_by_role("button", name="Pause").click()
        await expect(other.get_by_role("button", name="Resume")).to_be_visible()
        assert await channel_state.read(demo.bot.db, "paused") == "1"
        await other.get_by_role("button", name="Resume").click()
        await expect(one.get_by_role("button", name="Pause")).to_be_visible()
        await one.get_by_role("button", name="Safe mode").click()
        await expect(other.get_by_role("button", name="End safe mode")).to_be_visible()
        await one.get_by_label("Mode").select_option("shadow")
        await expect(other.get_by_label("Mode")).to_have_value("shadow")
        assert demo.bot.settings().bot.mode == "shadow"


async def test_two_docks_agree_about_notes_people_and_settings(demo: DemoBot, running: Browser) -> None:
    bob = await viewers.by_login(demo.bot.db, "bob")
    assert bob is not None
    async with page_on(running, demo.address) as one, page_on(running, demo.address) as other:
        for page in (one, other):
            await go(page, f"memory/person/{bob.id}")
        await one.get_by_label("Remember about them").fill("collects old maps")
        await one.get_by_role("button", name="Add").first.click()
        card = other.locator(".notecard", has_text="collects old maps")
        await expect(card).to_be_visible()
        await card.get_by_role("button", name="Remove").click()
        await expect(one.locator(".notecard", has_text="collects old maps")).to_have_count(0)
        await other.locator("#toast").get_by_role("button", name="Undo").click()
        await expect(one.locator(".notecard", has_text="collects old maps")).to_be_visible()
        for page in (one, other):
            await go(page, "rights")
            await page.get_by_label("Which viewer?").fill("bob")
            await expect(page.locator(".list .item.person")).to_have_count(1)
        await one.locator(".list").get_by_role("button", name="Opt out").click()
        await expect(other.locator(".list").get_by_role("button", name="Opt in")).to_be_visible()
        for page in (one, other):
            await go(page, "settings")
        await one.get_by_label("Longest reply").fill("321")
        await one.locator(".setting", has=one.get_by_label("Longest reply")).get_by_role("button", name="Save").click()
        await expect(other.get_by_label("Longest reply")).to_have_value("321")


async def test_what_one_writes_is_not_drawn_over_by_another_dock(demo: DemoBot, running: Browser) -> None:
    bob = await viewers.by_login(demo.bot.db, "bob")
    assert bob is not None
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob.id}")
        await page.locator(".notecard").first.get_by_role("button", name="Edit").click()
        await page.get_by_label("The fact").fill("half a senten")
        async with page.expect_response("**/api/person/*"):
            await remember_elsewhere(page, bob.id)
        await page.wait_for_timeout(300)  # nothing is to happen
        assert await page.get_by_label("The fact").input_value() == "half a senten"
        await page.get_by_role("button", name="Cancel").click()
        await remember_elsewhere(page, bob.id, "owns a green lamp")
        await expect(page.locator(".notecard", has_text="collects old maps")).to_be_visible()


async def remember_elsewhere(page: Page, viewer: str, fact: str = "collects old maps") -> None:
    """As another page would."""
    build = await page.locator("meta[name=build]").get_attribute("content")
    call = f"body => import('/static/{build}/api.js').then(m => m.post('do/remember', body))"
    await page.evaluate(call, {"target": viewer, "fact": fact})


async def test_the_keyboard_keeps_its_place_when_a_note_is_changed(demo: DemoBot, running: Browser) -> None:
    bob = await viewers.by_login(demo.bot.db, "bob")
    assert bob is not None
    async with page_on(running, demo.address) as page:
        await go(page, "memory/notes")
        pin = page.locator(".notecard").first.get_by_role("button", name="Pin", exact=True)
        await pin.focus()
        key = await page.evaluate("document.activeElement.closest('.notecard').dataset.note")
        await page.keyboard.press("Enter")
        card = page.locator(f".notecard[data-note='{key}']")
        await expect(card.locator(".chip", has_text="pinned")).to_be_visible()
        await card.get_by_role("button", name="Remove").focus()
        await remember_elsewhere(page, bob.id)
        await expect(page.locator(".notecard", has_text="collects old maps")).to_be_visible()
        assert await page.evaluate("document.activeElement.textContent") == "Remove"


async def test_a_notes_chain_has_its_card_and_its_history(demo: DemoBot, running: Browser) -> None:
    old = await demo.bot.db.row("SELECT id, superseded_by FROM semantic_notes WHERE status = 'superseded'")
    assert old is not None
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/note/{old['superseded_by']}")
        await expect(page.locator("svg.chain .box")).not_to_have_count(0)
        await expect(page.locator(".notecard .meter")).to_be_visible()
        await page.locator("main").get_by_role("link", name=f"#{old['id']}", exact=True).click()
        await expect(page.get_by_role("heading", name="Replaced by")).to_be_visible()
        await page.locator(".notecard").get_by_role("button", name="Undo").click()
        await expect(page.locator("h2 .chip")).to_have_text("active")


async def test_the_words_of_a_chain_stay_in_their_boxes(demo: DemoBot, running: Browser) -> None:
    async with demo.bot.db.write() as tx:
        await tx.execute("UPDATE streams SET title = ?", ("灰の梯子：時計塔のいちばん上まで登る配信です" * 2,))
        await tx.execute("UPDATE semantic_notes SET fact = ? WHERE id = 2", ("🐈" * 40 + "W" * 100,))
    for width in (300, 1100):
        async with page_on(running, demo.address, width) as page:
            await go(page, "memory/note/2")
            await expect(page.locator(".chain .box")).not_to_have_count(0)
            assert await page.evaluate(
                "[...document.querySelectorAll('.chain .box')].every(box => [...box.querySelectorAll('text')].every("
                "text => text.getBBox().width <= box.querySelector('rect').getBBox().width - 12))"
            )


async def test_what_cannot_be_read_is_told_in_its_place_and_tried_again(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, unchanged.address) as page:
        for place, path in (
            ("health", "health"),
            ("figures", "figures"),
            ("settings", "settings"),
            ("rights", "people"),
        ):
            await page.route(
                f"**/api/{path}*", lambda route: route.fulfill(status=409, json={"line": "The disk is full."})
            )
            await go(page, place)
            await expect(page.locator("main")).to_contain_text("The disk is full.")
            await page.unroute(f"**/api/{path}*")
            await page.get_by_role("button", name="Try again").click()
            await expect(page.locator("main")).not_to_contain_text("The disk is full.")


async def test_a_setting_is_changed_and_a_wrong_one_is_refused(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address, 300) as page:
        await go(page, "settings")
        field = page.get_by_label("Longest reply")
        await field.fill("9000")
        await page.locator(".setting", has=field).get_by_role("button", name="Save").click()
        await expect(page.locator("#toast")).to_contain_text("Longest reply")
        await expect(field).to_have_value("500")
        await field.fill("200")
        await field.press("Enter")
        await expect(page.locator("#toast")).to_contain_text("Saved.")
    assert demo.bot.settings().reply.max_chars == 200


async def test_a_message_is_tried_and_nothing_is_said(unchanged: DemoBot, running: Browser) -> None:
    said = await unchanged.bot.db.value("SELECT count(*) FROM bot_messages")
    async with page_on(running, unchanged.address) as page:
        await page.get_by_text("Try a message; nothing is sent").click()
        await page.get_by_label("What would the bot say to").fill("heidi")
        await page.get_by_label("the message").fill("what is my cat called?")
        await page.get_by_role("button", name="Try").click()
        await expect(page.locator(".result .text")).to_contain_text("Miso")
        await expect(page.locator(".result")).to_contain_text("Nothing was sent or done.")
    assert await unchanged.bot.db.value("SELECT count(*) FROM bot_messages") == said


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
        await tab_to(page, "Rights")
        await page.keyboard.press("Enter")
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


async def test_ten_thousand_notes_are_a_window(demo: DemoBot, running: Browser) -> None:
    bob = await viewers.by_login(demo.bot.db, "bob")
    assert bob is not None
    new = [
        NewNote(
            Scope.VIEWER, bob.id, f"owns the blue book {number}", 0.8, SourceKind.IMPORT, number, id=10_000 + number
        )
        for number in range(10_000)
    ]
    async with demo.bot.db.write() as tx:
        await notes.insert_many(tx, new, cause="test", now=1)
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob.id}")
        await expect(page.locator(".notecard").first).to_be_visible()
        assert await page.locator(".notecard").count() <= 200
        for share in (0.3, 0.7, 1.0, 0.1):
            await page.evaluate("share => window.scrollTo(0, document.body.scrollHeight * share)", share)
            await until(
                page,
                "[...document.querySelectorAll('.notecard')].some(n => { const b = n.getBoundingClientRect();"
                " return b.bottom > 0 && b.top < innerHeight })",
            )
            assert await page.locator(".notecard").count() <= 250


async def test_what_one_writes_stays_while_one_looks_elsewhere_in_a_long_list(demo: DemoBot, running: Browser) -> None:
    bob = await viewers.by_login(demo.bot.db, "bob")
    assert bob is not None
    new = [
        NewNote(Scope.VIEWER, bob.id, f"owns blue book {number}", 0.8, SourceKind.IMPORT, number, id=10_000 + number)
        for number in range(300)
    ]
    async with demo.bot.db.write() as tx:
        await notes.insert_many(tx, new, cause="test", now=1)
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob.id}")
        await page.locator(".notecard").first.get_by_role("button", name="Edit").click()
        await page.get_by_label("The fact").fill("half a senten")
        await page.get_by_label("Remember about them").focus()
        await page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        await expect(page.locator(".page[data-page='5'] .notecard").first).to_be_visible()
        await page.evaluate("window.scrollTo(0, 0)")
        await expect(page.get_by_label("The fact")).to_have_value("half a senten")


async def test_a_pointer_that_leaves_the_list_takes_nothing_from_the_keyboard(
    unchanged: DemoBot, running: Browser
) -> None:
    async with page_on(running, unchanged.address) as page:
        await page.locator(".feed .item").first.hover()
        await tab_to(page, "Why")
        await page.locator("#top").hover()
        await expect(page.locator(".feed button:focus-visible")).to_have_count(1)
        await page.keyboard.press("Enter")
        await expect(page.locator("dialog")).to_be_visible()


async def test_a_busy_chat_leaves_the_page_usable_and_small(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address) as page:
        for burst in range(10):
            for number in range(40):
                await demo.sim.say(f"viewer{number}", f"line {burst} {number} of many")
            await demo.settle()
        await expect(page.locator(".item.line", has_text="line 9 39").first).to_be_visible()
        assert await page.locator(".feed .item").count() <= 120
        await page.get_by_role("button", name="Chat").click()
        await expect(page.locator(".feed .item.line")).to_have_count(0)


async def test_a_busy_chat_takes_no_click_away_and_closes_no_list(demo: DemoBot, running: Browser) -> None:
    """What is drawn anew between press and release loses the click; a list that is drawn anew closes."""
    async with page_on(running, demo.address) as page:
        kept = "#top button, #nav a, select[aria-label=Mode]"
        await page.evaluate(
            "which => document.querySelectorAll(which).forEach(one => { one.dataset.same = '1' })", kept
        )
        await page.get_by_role("button", name="Pause").hover()
        await page.mouse.down()
        before = await page.locator(".cards").inner_text()
        await demo.sim.say("bob", "one more line")
        await demo.settle()
        await expect(page.locator(".item.line", has_text="one more line")).to_be_visible()
        await expect(page.locator(".cards")).not_to_have_text(before)
        await page.mouse.up()
        await expect(page.get_by_role("button", name="Resume")).to_be_visible()
        await expect(
            page.locator("select[aria-label=Mode], #nav a[href='#now']").and_(page.locator("[data-same]"))
        ).to_have_count(2)


async def test_the_list_stands_still_while_somebody_points_at_it(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address) as page:
        first = page.locator(".feed .item").first
        await first.hover()
        read = await first.inner_text()
        for number in range(3):
            await demo.sim.say("bob", f"newer line {number}")
        await demo.settle()
        await expect(page.get_by_text("3 newer. They appear when you leave the list.")).to_be_visible()
        assert (await first.inner_text()).split("\n")[0] == read.split("\n")[0]
        await page.locator("#top").hover()
        await expect(page.locator(".feed .item").first).to_contain_text("newer line 2")
        await expect(page.locator(".held")).to_be_hidden()
        await page.locator(".item.reply").first.get_by_role("button", name="Why").click()
        await page.get_by_role("button", name="Close").click()  # the focus is back on “Why”, the pointer is not
        await page.locator("#top").hover()
        await demo.sim.say("bob", "the newest line")
        await demo.settle()
        await expect(page.locator(".feed .item").first).to_contain_text("the newest line")


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
        await again.sim.say("bob", "did anybody miss me?")
        await again.settle()
        await expect(page.locator("#toast")).to_contain_text("up to date again", timeout=20_000)
        await expect(page.locator("#top")).not_to_contain_text("cannot be reached")
        await expect(page.locator(".item.line", has_text="did anybody miss me?")).to_be_visible()
        await page.context.close()


async def test_chat_leaves_the_page_when_it_leaves_the_memory(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address) as page:
        await expect(page.locator(".item.line")).not_to_have_count(0)
        await demo.clock.advance(DAY)
        await demo.sim.say("bob", "a new day")
        await demo.settle()
        await expect(page.locator(".item.line")).to_have_count(1)
        await expect(page.locator(".item.line")).to_contain_text("a new day")
        await expect(page.locator(".item.episode")).not_to_have_count(0)


async def test_spend_is_shown_in_money_where_prices_are_named(demo: DemoBot, running: Browser) -> None:
    now, live = demo.clock.now(), demo.bot.settings
    assert isinstance(live, LiveSettings)
    priced = parse_settings('[model]\ncurrency = "EUR"\n[prices.small]\ninput = 2', "test")
    live._now = msgspec.structs.replace(live(), model=priced.model, prices=priced.prices)
    async with demo.bot.db.write() as tx:
        await tx.execute(
            "INSERT INTO model_calls (at, purpose, model, input, latency_ms) VALUES (?, 'reply', 'small', 700000, 1)",
            (now,),
        )
    async with page_on(running, demo.address, 300) as page:
        await expect(page.locator(".cards")).to_contain_text("1.40 EUR")
        await go(page, "figures")
        spend = page.locator("figure", has_text="Spend per stream")
        await expect(spend).to_contain_text("EUR, of all model calls with a price")
        await spend.get_by_text("As a table").click()
        await expect(spend.locator("tr").last).to_contain_text("1.4")
