"""The dock in a real Chromium, before a running bot on the demo's memory."""

import asyncio
import json

import pytest
from playwright.async_api import Browser, Page, Route, expect

from forgetmenot.clock import HOUR
from forgetmenot.store import action_logs, briefs, channel_state, viewers
from forgetmenot.store.briefs import Brief
from tests.dock.demo_bot import BROWSER, DemoBot, go, page_on, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),  # one Chromium for all: each test has a context of its own
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
PANELS = ("now", "memory", "approvals", "figures", "health", "rights", "settings")
PLACES = (*PANELS, "setup", "memory/channel", "memory/streams", "memory/notes", "memory/note/2")
EVIL = "<img src=x onerror=document.title='broken'>"


async def test_every_panel_fits_and_has_something_to_say(unchanged: DemoBot, running: Browser) -> None:
    async with page_on(running, unchanged.address) as page:
        await expect(page.locator(".cards")).to_contain_text("only quotes notes")
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
        await expect(other.locator("#toast")).to_contain_text("pausiert")
        await expect(page.locator("#top .standing")).to_contain_text("Pause")


async def test_what_was_heard_goes_when_a_summary_has_it(demo: DemoBot, page: Page) -> None:
    await demo.hear("heidi", "I play the cello")
    await expect(page.locator(".heard-now")).to_contain_text("plays the cello")
    await demo.clock.advance(HOUR)
    await demo.bot.tasks.catch_up()
    await expect(page.locator(".item.episode").first).to_contain_text("cello")
    await expect(page.locator(".heard-now")).to_have_count(0)


async def test_an_address_that_is_none_opens_the_first_panel_and_the_token_leaves_it(
    unchanged: DemoBot, running: Browser
) -> None:
    async with page_on(running, f"{unchanged.address}#%") as page:
        assert "token" not in page.url
        await page.reload()  # needs it no more
        await page.wait_for_selector("#top .switches")
        for place, title in (("%E0%A4%A", "Now"), ("constructor", "Now"), ("memory/constructor", "Memory")):
            await page.evaluate("place => { location.hash = place }", place)
            await expect(page.locator("#nav [aria-current=page]")).to_have_text(title)
            await expect(page.locator(".feed .item, .list .item").first).to_be_visible()
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


async def test_what_is_said_appears_by_itself_with_its_why(demo: DemoBot, page: Page) -> None:
    await demo.hear("heidi", "@forgetmenot what is my cat called?")
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
        await demo.hear("bob", EVIL)
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


async def test_erase_end_to_end(demo: DemoBot, page: Page) -> None:
    heidi = await demo.id_of("heidi")
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
    assert await viewers.get(demo.bot.db, heidi) is None
    assert await demo.bot.db.row("SELECT 1 FROM semantic_notes WHERE fact LIKE '%Miso%'") is None


async def test_who_is_erased_leaves_the_docks_that_are_open_or_were_away(demo: DemoBot, running: Browser) -> None:
    heidi = await demo.id_of("heidi")
    await demo.hear("heidi", "Miso sits on the keyboard")
    async with page_on(running, demo.address) as page, page_on(running, demo.address) as away:
        for one in (page, away):
            await expect(one.locator(".item.line", has_text="Miso sits")).to_be_visible()
        build = await away.locator("meta[name=build]").get_attribute("content")
        live = f"import('/static/{build}/live.js')"
        await away.evaluate(f"{live}.then(m => m.disconnect())")
        await demo.bot.eraser.erase(heidi)
        await expect(page.locator("main")).not_to_contain_text("Heidi")
        await away.evaluate(f"{live}.then(m => m.connect())")
        await expect(away.locator("main")).not_to_contain_text("Heidi")
        await demo.hear("bob", "how quiet it is")
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
    bob = await demo.id_of("bob")
    async with demo.bot.db.write() as tx:
        await briefs.put(tx, Brief(bob, f"<@{bob}> sails on Sundays.", "", 1))
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob}")
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


async def test_two_docks_agree_about_notes_people_settings_and_switches(demo: DemoBot, running: Browser) -> None:
    bob = await demo.id_of("bob")
    async with page_on(running, demo.address) as one, page_on(running, demo.address) as other:
        for page in (one, other):
            await go(page, f"memory/person/{bob}")
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
        for page in (one, other):
            await go(page, "now")
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


async def test_what_one_writes_is_not_drawn_over_by_another_dock(demo: DemoBot, page: Page) -> None:
    bob = await demo.id_of("bob")
    await go(page, f"memory/person/{bob}")
    await page.locator(".notecard").first.get_by_role("button", name="Edit").click()
    await page.get_by_label("The fact").fill("half a senten")
    async with page.expect_response("**/api/person/*"):
        await remember_elsewhere(page, bob)
    await page.wait_for_timeout(300)  # nothing is to happen
    assert await page.get_by_label("The fact").input_value() == "half a senten"
    await page.get_by_role("button", name="Cancel").click()
    await remember_elsewhere(page, bob, "owns a green lamp")
    await expect(page.locator(".notecard", has_text="collects old maps")).to_be_visible()


async def remember_elsewhere(page: Page, viewer: str, fact: str = "collects old maps") -> None:
    """As another page would."""
    build = await page.locator("meta[name=build]").get_attribute("content")
    call = f"body => import('/static/{build}/api.js').then(m => m.post('do/remember', body))"
    await page.evaluate(call, {"target": viewer, "fact": fact})


async def test_the_keyboard_keeps_its_place_when_a_note_is_changed(demo: DemoBot, page: Page) -> None:
    bob = await demo.id_of("bob")
    await go(page, "memory/notes")
    pin = page.locator(".notecard").first.get_by_role("button", name="Pin", exact=True)
    await pin.focus()
    key = await page.evaluate("document.activeElement.closest('.notecard').dataset.note")
    await page.keyboard.press("Enter")
    card = page.locator(f".notecard[data-note='{key}']")
    await expect(card.locator(".chip", has_text="pinned")).to_be_visible()
    await card.get_by_role("button", name="Remove").focus()
    await remember_elsewhere(page, bob)
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
            again = page.get_by_role("button", name="Try again")
            await expect(again).to_be_visible()
            await page.unroute(f"**/api/{path}*")
            await again.evaluate_all("found => found.forEach(one => one.click())")  # gone if the page asked by itself
            await expect(page.locator("main")).not_to_contain_text("The disk is full.")


async def test_a_setting_is_changed_and_a_wrong_one_is_refused(demo: DemoBot, running: Browser) -> None:
    async with page_on(running, demo.address, 300) as page:
        await go(page, "settings")
        field = page.get_by_label("Longest reply")
        await field.fill("9000")
        await page.locator(".setting", has=field).get_by_role("button", name="Save").click()
        await expect(page.locator("#toast")).to_have_text("Longest reply: a number from 20 to 500.")
        await expect(field).to_have_value("9000")  # what was typed stays to be corrected
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
