"""The dock in a real Chromium, before a running bot on the demo's memory."""

import base64
import json
import re
from pathlib import Path

import aiohttp
import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, Page, Route, expect

from forgetmenot.app.recap_sharing import PNG, WEBHOOK, WEBHOOK_ENV
from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE
from forgetmenot.durations import DAY
from forgetmenot.files import incoming_folder
from forgetmenot.languages import in_language, reason
from forgetmenot.memory.edits import remember
from forgetmenot.secret_store import SecretStore, login_folder
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.load import parse_settings
from forgetmenot.store import action_logs, episodes, personal_data, streams, viewers
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import Brief
from forgetmenot.store.personal_data import DoubtfulPlace
from forgetmenot.store.receipts import ReceiptFile, ReceiptKind
from tests.dock.conftest import (
    BROWSER,
    STATE,
    DemoBot,
    FakeControl,
    fake_dock,
    go,
    opened,
    page_on,
    until,
)
from tests.dock.test_panels import hide, put_edit
from tests.memory.test_learning import log
from tests.ports import unused_port
from tests.rows import put

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(
        loop_scope="session"
    ),  # one Chromium for all: each test has a context of its own
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
PANELS = ("now", "memory", "approvals", "settings")
PLACES = (
    *PANELS,
    "setup",
    "memory/channel",
    "memory/streams",
    "memory/notes",
    "memory/note/2",
)
EVIL = "<img src=x onerror=document.title='broken'>"


STRANGE_LANGUAGE = (
    "Object.defineProperty(Navigator.prototype, 'language', {get: () => 'en-US@posix'})"
)


async def test_the_browser_may_call_its_language_by_what_is_no_tag(
    demo: DemoBot, running: Browser
) -> None:
    """Chromium 103 and 127, which OBS brings, do it where the system's language is unset."""
    async with page_on(running, demo.address) as page:
        await page.add_init_script(STRANGE_LANGUAGE)
        await page.reload()
        await expect(page.locator("#top .switches")).to_be_visible()


async def test_every_panel_fits_in_both_languages_and_texts_from_chat_are_text(
    demo: DemoBot, running: Browser
) -> None:
    async with demo.bot.db.write() as tx:
        await tx.execute(
            "UPDATE viewers SET display_name = ? WHERE login = 'heidi'", (EVIL,)
        )
        quiet_until = demo.clock.now() + 1_000_000
        await tx.execute(
            "UPDATE streams SET title = ?, video_id = 2134, video_at = 1, video_until = ?",
            (EVIL, quiet_until),
        )
    async with (
        page_on(running, demo.address) as page,
        page_on(running, demo.address) as other,
    ):
        await demo.propose_timeout()  # so that the navigation has a number
        await demo.hear("bob", EVIL)
        await expect(page.locator(".item.line", has_text=EVIL).first).to_be_visible()
        for language, word in (("English", "Memory"), ("Deutsch", "Gedächtnis")):
            if language != "English":
                await go(page, "setup")
                await page.locator("#language").select_option(language)
            for each_page in (page, other):  # every open page changes
                await expect(each_page.locator("#nav")).to_contain_text(word)
            for place in PLACES:
                await go(page, place)
                await until(
                    page, "document.querySelector('main').innerText.length > 60"
                )
                assert await page.locator("main img").count() == 0
                assert "broken" not in await page.title()
                await all_fit(page, place)
                for name in await page.locator("#nav .label").all():
                    await expect(name).to_be_visible()
            if language == "English":
                await go(page, "memory/note/2")
                await expect(page.locator(".fact")).to_contain_text(EVIL)
                await expect(
                    page.get_by_text("min into the stream").first
                ).to_be_visible()
                link = page.get_by_role("link", name="in the video").first
                assert str(await link.get_attribute("href")).startswith(
                    "https://www.twitch.tv/videos/2134?t="
                )
                assert await link.get_attribute("rel") == "noreferrer"


TROUBLES = (
    {
        "login_trouble": reason(
            "nobody_in", account=reason("bot"), command="forgetmenot login"
        )
    },
    {
        "phase": "waiting",
        "phase_trouble": reason("could_not", doing="read", reason="x" * 60),
    },
    {
        "model_trouble": "http://127.0.0.1:11434/v1/chat/completions/without/a/space/to/break/it: connection refused"
    },
)


async def test_no_trouble_makes_the_page_wider_than_the_dock(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    """In German, whose words are longer."""
    control = FakeControl()
    port = unused_port()
    live = LiveSettings(
        parse_settings('[bot]\nlanguage = "de"\n[twitch]\nchannel = "demo"', "test")
    )
    async with fake_dock(db, clock, port, control, live):
        address = f"http://127.0.0.1:{port}/?token={(db.path.parent / TOKEN_FILE).read_text()}"
        async with page_on(running, address, restarts=True) as page:
            for trouble in TROUBLES:
                control.now = replace(STATE, **trouble)
                sentence = (
                    in_language("de")
                    .reason(str(list(trouble.values())[-1]))
                    .replace("`", "")
                )
                await expect(page.locator("#top .standing.bad")).to_contain_text(
                    sentence[:40]
                )
                await all_fit(page, trouble)
            await page.route("**/api/events", lambda route: route.abort())
            await page.reload()
            await expect(page.locator("#top .standing.bad")).to_be_visible()
            await all_fit(page, "lost")


async def test_a_count_of_seconds_is_not_read_aloud_again_and_again(
    db: Database, clock: ManualClock, running: Browser
) -> None:
    control = FakeControl()
    port = unused_port()
    live = LiveSettings(parse_settings('[twitch]\nchannel = "demo"', "test"))
    async with fake_dock(db, clock, port, control, live):
        address = f"http://127.0.0.1:{port}/?token={(db.path.parent / TOKEN_FILE).read_text()}"
        async with page_on(running, address, restarts=True) as page:
            standing = page.locator("#top .standing")
            await expect(standing).not_to_contain_text("next try")
            for seconds in (9, 8, 7):
                line = f"It failed: next try in {seconds} s."
                control.now = replace(STATE, model_trouble=line)
                await expect(standing).to_contain_text(line)
            await expect(page.locator("#heard p")).to_have_text(
                ["It failed: next try in 9 s."]
            )


NO_WIDER = (
    "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
)


async def all_fit(page: Page, trouble: object) -> None:
    for width in (300, 320, 420, 559, 720, 980, 1280):
        await page.set_viewport_size({"width": width, "height": 500})
        await until(page, NO_WIDER)
        assert await page.evaluate("innerWidth") == width, (trouble, width)


async def test_a_small_dock_keeps_chat_in_view_and_approves_in_place(
    demo: DemoBot, running: Browser
) -> None:
    async with page_on(running, demo.address, 300, 400) as page:
        await demo.hear("heidi", "@forgetmenot what is my cat called?")
        reply = page.locator(".item.reply").last
        await expect(reply).to_contain_text("called Miso")  # the newest is the last
        for width, height in ((320, 800), (420, 800), (300, 400)):
            await page.set_viewport_size({"width": width, "height": height})
            await expect(reply).to_be_in_viewport(ratio=0.98)
            await expect(page.get_by_label("Mode")).to_be_hidden()
            await page.get_by_role("button", name="Menu").click()
            await expect(page.get_by_label("Mode")).to_be_visible()
            await page.get_by_role("button", name="Menu").click()
        await demo.propose_timeout()
        [row] = await action_logs.waiting(demo.bot.db, demo.clock.now())
        await expect(page.locator("#nav .badge")).to_have_text("1")
        await expect(page.get_by_role("link", name="Approvals 1")).to_be_visible()
        await expect(page.locator(".countdown")).to_contain_text(":")
        await expect(
            page.get_by_text("Time out Frank for 30 s? They asked for it.")
        ).to_be_visible()
        for again in (
            ".feed .item.action.waiting",
            f".feed .item:has-text('!approve {row.id}')",
        ):
            await expect(page.locator(again)).to_have_count(
                0
            )  # it is asked once, and above
        for login, text in (
            ("alice", "one"),
            ("bob", "two"),
            ("carol", "three"),
            ("dave", "four"),
        ):
            await demo.hear(login, text)
        await expect(page.locator(".feed .item.line").last).to_contain_text("four")
        assert await lines_in_view(page) >= 4
        await page.get_by_role("button", name="Approve").click()
        await expect(page.locator("#toast")).to_contain_text(
            "Done: timeout Frank 30 s."
        )
        action = await action_logs.get(demo.bot.db, row.id)
        assert action is not None
        assert action.status is action_logs.ActionStatus.DONE
        await expect(page.locator("#nav .badge")).to_have_count(0)
        await go(page, "approvals")
        await page.get_by_role("button", name="Undo").first.click()
        await expect(page.locator("#toast")).to_contain_text("undone")


async def test_what_was_decided_says_who_asked(demo: DemoBot, running: Browser) -> None:
    """Of a correction no target is named, so nothing else tells whose wish it was."""
    db = demo.bot.db
    heidi = await db.value("SELECT id FROM viewers WHERE login = 'heidi'")
    decision = {"verdict": "deny", "status": "denied", "asked_by": heidi}
    async with db.write() as tx:
        await put(tx, "action_logs", key="1", name="correct", **decision)
        await put(tx, "action_logs", key="2", name="ban", target_id=heidi, **decision)
    async with page_on(running, demo.address) as page:
        await go(page, "approvals")
        corrected = page.locator(".item.action.denied", has_text="correct")
        await expect(corrected).to_contain_text("Heidi asked for it.")
        banned = page.locator(".item.action.denied", has_text="ban")
        await expect(banned).to_contain_text("They asked for it.")


async def lines_in_view(page: Page) -> int:
    """How many lines of chat can be read whole."""
    return int(
        await page.evaluate(
            """() => {
              const box = document.querySelector(".feed").getBoundingClientRect();
              const end = Math.min(box.bottom, innerHeight) + 1;
              const lines = [...document.querySelectorAll(".feed .item.line")]
                .map((one) => one.getBoundingClientRect());
              return lines.filter((line) => line.top >= box.top - 1 && line.bottom <= end).length;
            }"""
        )
    )


async def test_a_note_is_not_edited_by_you_if_its_editor_is_hidden(
    demo: DemoBot, page: Page
) -> None:
    db = demo.bot.db
    editor_id = await db.value("SELECT id FROM viewers WHERE login = 'bob'")
    async with db.write() as tx:
        await put_edit(tx, 1, editor_id)
        await tx.execute(
            "UPDATE note_evidence SET speaker_id = ? WHERE note_id = 2", (editor_id,)
        )
    await go(page, "memory/note/2")
    card = page.locator(".notecard")
    await expect(card).to_contain_text("edited by Bob")
    await hide(db, editor_id)
    await page.reload()
    await expect(card).to_contain_text("edited")
    await expect(card).not_to_contain_text("edited by")


async def test_a_line_that_was_not_answered_says_so_once(
    demo: DemoBot, page: Page
) -> None:
    await demo.hear("heidi", "@forgetmenot what is my cat called?")
    async with demo.bot.db.write() as tx:
        await tx.execute(
            "UPDATE bot_messages SET status = 'silent', text = '', detail = ?"
            " WHERE id = (SELECT max(id) FROM bot_messages)",
            (reason("too_late"),),
        )
    await page.reload()
    silent = page.locator(".item.reply.silent .text").last
    await expect(silent).to_have_text(re.compile(r"Heidi\s*no reply\s*too late$"))


async def test_a_wrong_reply_is_corrected_from_its_why(
    demo: DemoBot, page: Page
) -> None:
    await demo.hear("heidi", "@forgetmenot what is my cat called?")
    async with (
        demo.bot.db.write() as tx
    ):  # as a model names the notes that its line uses
        await tx.execute(
            "UPDATE bot_messages SET notes_json = (SELECT json_array(id) FROM semantic_notes WHERE status = 'active'"
            " AND fact LIKE '%Miso%') WHERE id = (SELECT max(id) FROM bot_messages)"
        )
    await expect(
        page.locator(".item.line", has_text="what is my cat called?")
    ).to_be_visible()
    await (
        page.locator(".item.reply", has_text="called Miso")
        .first.get_by_role("button", name="Why")
        .click()
    )
    sheet = page.locator("dialog")
    await expect(sheet).to_contain_text("It used:")
    await expect(sheet).to_contain_text("what is my cat called?")
    used = sheet.locator(".notecard", has_text="Miso")
    await expect(used).to_contain_text("said it themselves")
    await used.get_by_role("button", name="Edit").click()
    await expect(sheet.locator(".whole .fixed")).to_have_text("Heidi")
    await sheet.get_by_label("fact").fill("Heidi has a cat called Udon")
    await sheet.get_by_role("button", name="Save").click()
    await expect(sheet.locator(".notecard")).to_contain_text("has a cat called Udon")
    await expect(sheet.locator(".notecard")).to_contain_text("edited by you")
    await expect(sheet.locator(".notecard button").first).to_be_focused()
    facts = await demo.bot.db.column(
        "SELECT fact FROM semantic_notes WHERE status = 'active'"
    )
    assert "has a cat called Udon" in facts
    assert "has a cat called Miso" not in facts
    await sheet.locator(".notecard").get_by_role("button", name="Edit").click()
    await page.keyboard.press("Escape")  # ends the editing, and not the sheet
    await sheet.locator(".notecard").get_by_role("button", name="Remove").click()
    await expect(sheet.locator(".notecard")).to_contain_text("removed")
    await sheet.locator("#toast").get_by_role("button", name="Undo").click()
    await expect(sheet.locator(".notecard")).not_to_contain_text("removed")
    await expect(
        sheet.locator(".notecard").get_by_role("button", name="Remove")
    ).to_be_visible()
    await sheet.get_by_text("Summaries it could read").click()
    await expect(sheet.locator("details[open] li").first).to_contain_text("lighthouse")
    await expect(
        sheet.get_by_role("link", name="Correct them under Streams")
    ).to_be_visible()
    good = sheet.get_by_role("button", name="Good")
    bad = sheet.get_by_role("button", name="Bad")
    await good.click()
    await expect(good).to_have_attribute("aria-pressed", "true")
    await expect(good).to_contain_text("✓")  # also without colours
    await expect(good).to_be_focused()
    await bad.click()
    await expect(bad).to_have_attribute("aria-pressed", "true")
    await expect(good).to_have_attribute("aria-pressed", "false")
    await sheet.get_by_text("For engineers").click()
    await expect(sheet).to_contain_text("of 4,000 tokens")
    await page.keyboard.press("Escape")
    await expect(sheet).to_have_count(0)


async def test_two_docks_agree_and_the_settings_back_up_and_give_the_address_for_obs(
    demo: DemoBot, running: Browser
) -> None:
    async with (
        page_on(running, demo.address) as opened_page,
        page_on(running, demo.address, 1100) as other,
    ):
        await opened_page.get_by_role("button", name="Pause").click()
        await expect(other.get_by_role("button", name="Resume")).to_be_visible()
        await other.get_by_role("button", name="Safe mode").click()
        await other.get_by_role("button", name="End safe mode").click()
        await expect(
            other.get_by_role("button", name="Safe mode", exact=True)
        ).to_be_visible()
        await opened_page.get_by_role(
            "button", name="Resume"
        ).click()  # it was paused before, and stayed so
        await expect(other.get_by_role("button", name="Pause")).to_be_visible()
        for page in (opened_page, other):
            await go(page, "settings")
            await page.get_by_text("Advanced").click()
        field = opened_page.get_by_label("Longest reply")
        await field.fill("9000")
        await (
            opened_page.locator(".setting", has=field)
            .get_by_role("button", name="Save")
            .click()
        )
        await expect(opened_page.locator("#toast")).to_have_text(
            "Longest reply: Must be at most 500."
        )
        await expect(field).to_have_value(
            "9000"
        )  # what was typed stays to be corrected
        await field.fill("321")
        await field.press("Enter")
        await expect(other.get_by_label("Longest reply")).to_have_value("321")

        await opened_page.get_by_role("button", name="Back up now").click()
        await expect(opened_page.locator("#toast")).to_contain_text("Backed up")
        assert copies_of(demo.bot.db.path)
        await opened_page.get_by_role("button", name="Add to OBS").click()
        address = await opened_page.get_by_label("Address for OBS").input_value()
        assert Path(address.removeprefix("file://")).is_file()


async def test_other_programs_get_their_address_and_token_once_they_may_read(
    demo: DemoBot, running: Browser
) -> None:
    async with (
        page_on(running, demo.address) as page,
        aiohttp.ClientSession() as client,
    ):
        await go(page, "settings")
        await page.get_by_text("Advanced").click()
        show = page.get_by_role("button", name="Show address and token")
        await expect(show).to_have_count(0)
        await page.get_by_label("Let other programs read").click()
        await show.click()
        address = await page.get_by_label("Address", exact=True).input_value()
        token = await page.get_by_label("Token", exact=True).input_value()
        headers = {"Authorization": f"Bearer {token}"}
        async with client.get(f"{address}channel", headers=headers) as answer:
            assert answer.status == 200
        await page.get_by_label("Let other programs read").click()
        await expect(show).to_have_count(0)
        async with client.get(f"{address}channel", headers=headers) as answer:
            assert answer.status == 404


async def test_the_token_leaves_the_address_and_without_it_nothing_is_shown(
    demo: DemoBot, running: Browser
) -> None:
    async with page_on(running, f"{demo.address}#%") as page:
        assert "token" not in page.url
        await page.reload()  # needs it no more
        await page.wait_for_selector("#top .switches")
        await page.evaluate("sessionStorage.clear()")
        await page.evaluate("location.hash = 'settings'")
        await expect(
            page.get_by_role("heading", name="Open the dock again")
        ).to_be_visible()


async def test_who_is_erased_and_what_is_old_leaves_the_docks_that_are_open_or_were_away(
    demo: DemoBot, running: Browser
) -> None:
    heidi = await demo.id_of("heidi")
    await demo.hear("heidi", "Miso sits on the keyboard")
    async with (
        page_on(running, demo.address) as page,
        page_on(running, demo.address) as away,
    ):
        for each_page in (page, away):
            await expect(
                each_page.locator(".item.line", has_text="Miso sits")
            ).to_be_visible()
        build = await away.locator("meta[name=build]").get_attribute("content")
        live = f"import('/static/{build}/live.js')"
        await away.evaluate(f"{live}.then(m => m.disconnect())")
        await demo.bot.eraser.erase(heidi)
        await expect(page.locator("main")).not_to_contain_text("Heidi")
        await away.evaluate(f"{live}.then(m => {{ m.connect(); }})")
        await expect(away.locator("main")).not_to_contain_text("Heidi")
        await demo.hear("bob", "how quiet it is")
        for each_page in (page, away):
            await expect(
                each_page.locator(".item.line", has_text="how quiet it is")
            ).to_be_visible()
        await demo.clock.advance(DAY)
        await demo.hear("bob", "a new day")
        for each_page in (page, away):
            await expect(each_page.locator(".item.line")).to_have_count(1)
            await expect(each_page.locator(".item.line")).to_contain_text("a new day")
            await expect(each_page.locator(".item.episode")).not_to_have_count(0)


async def test_what_an_erasure_left_in_doubt_is_listed_and_leads_to_the_note(
    demo: DemoBot, running: Browser
) -> None:
    bob = await demo.id_of("bob")
    note = await remember(
        demo.bot.db, bob, "met zanzibarian", by=bob, at=demo.clock.now()
    )
    async with demo.bot.db.write() as tx:
        place = DoubtfulPlace("semantic_notes", note.id)
        await personal_data.keep_doubtful(tx, [place], demo.clock.now())
    async with page_on(running, demo.address) as page:
        await go(page, "memory/channel")
        await expect(
            page.get_by_role("heading", name="Left by erasures")
        ).to_be_visible()
        doubtful_text = page.locator("li", has_text="met zanzibarian")
        await doubtful_text.get_by_role("link", name=f"#{note.id}").click()
        await expect(
            page.locator(".notecard", has_text="met zanzibarian")
        ).to_be_visible()


async def test_receipts_are_listed_without_names(
    demo: DemoBot, running: Browser
) -> None:
    heidi = await demo.id_of("heidi")
    report = await demo.bot.eraser.erase(heidi)
    receipts = ReceiptFile(demo.bot.db.path)
    receipts.begin(ReceiptKind.ERASURE, demo.clock.now())
    async with page_on(running, demo.address) as page:
        await go(page, "memory/channel")
        await expect(page.get_by_role("heading", name="Receipts")).to_be_visible()
        row = page.locator("li", has_text=report.receipt.upper())
        await expect(row).to_have_count(1)
        await expect(row).to_contain_text("entries removed, 0 left")
        await expect(page.locator("li", has_text="not finished yet")).to_have_count(1)
        await expect(page.locator("main")).not_to_contain_text("heidi")


async def test_a_note_goes_through_everything_and_its_person_is_exported_and_erased(
    demo: DemoBot, running: Browser
) -> None:
    bob = await demo.id_of("bob")
    async with demo.bot.db.write() as tx:
        await episodes.put_brief(tx, Brief(bob, f"<@{bob}> sails on Sundays.", "", 1))
        wishes = {"called": "Robin", "say_as": "rob-in", "pronouns": "he/him"}
        await viewers.set_wishes(tx, bob, wishes, 1)
    async with page_on(running, demo.address) as page:
        await go(page, f"memory/person/{bob}")
        await expect(page.get_by_text("sails on Sundays.")).to_be_visible()
        await expect(page.get_by_text("Robin (say: rob-in); he/him")).to_be_visible()
        await page.get_by_role("button", name="Remove chosen name").click()
        await expect(page.get_by_text("Robin (say: rob-in)")).to_have_count(0)
        await page.get_by_label("Remember").fill("collects old maps")
        await page.get_by_role("button", name="Add").first.click()
        card = page.locator(".notecard", has_text="collects old maps")
        await card.get_by_role("button", name="Edit").click()
        await page.get_by_label("fact").fill("collects old sea maps")
        await page.get_by_role("button", name="Save").click()
        card = page.locator(".notecard", has_text="collects old sea maps")
        await expect(card).to_be_visible()
        await card.get_by_role("button", name="Pin", exact=True).click()
        await expect(card.locator(".chip", has_text="pinned")).to_be_visible()
        await card.get_by_role("button", name="Never mention").click()
        await expect(page.locator("#toast")).to_contain_text(
            "This is not mentioned any more."
        )  # no more is promised
        await expect(card.locator(".chip", has_text="never mentioned")).to_be_visible()
        await card.get_by_role("button", name="Remove").click()
        await expect(card).to_have_count(0)
        await page.get_by_role("button", name="History").click()
        await expect(
            page.locator(".notecard.superseded", has_text="collects old maps")
        ).to_be_visible()
        await (
            page.locator(".notecard.retracted")
            .get_by_role("button", name="Undo")
            .click()
        )
        await page.get_by_role("button", name="History").click()
        await expect(card).to_be_visible()
        async with page.expect_download() as file:
            await page.get_by_role("button", name="Export").click()
        assert "old sea maps" in json.dumps(
            json.loads((await (await file.value).path()).read_text())
        )
        await page.get_by_role("button", name="Erase").click()
        await expect(
            page.get_by_role("button", name="Erase permanently")
        ).to_be_disabled()
        field = page.get_by_label("Type bob to confirm")
        await field.fill("bob")
        # Enter does not also press the button that has the focus again, which would ask once more.
        await field.press("Enter")
        await expect(page.locator("dialog[open]")).to_contain_text("Erased")
        await page.get_by_role("button", name="Close").click()
        assert await viewers.get(demo.bot.db, bob) is None


async def test_the_streamer_writes_what_is_said_of_the_stream_that_is_on(
    demo: DemoBot, running: Browser
) -> None:
    assert await streams.current_id(demo.bot.db) is not None
    words = "Bob won the race, barely!"
    async with page_on(running, demo.address) as page:
        await go(page, "memory/streams")
        field = page.get_by_label("What latecomers hear of this stream")
        await field.fill(words)
        await page.get_by_role("button", name="Use this text").click()
        await expect(page.locator("#toast")).to_contain_text("Saved.")
        await page.reload()
        await expect(field).to_have_value(words)
        await page.get_by_role("button", name="Say and pin it in chat").click()
        await expect(page.locator("#toast")).to_contain_text("Said and pinned.")


async def test_a_recap_and_a_summary_are_corrected(demo: DemoBot, page: Page) -> None:
    db = demo.bot.db
    await go(page, "memory/streams")
    over = page.locator(".timeline > li", has=page.get_by_role("button", name="Recap"))
    await over.first.get_by_role("button", name="Edit").first.click()
    sheet = page.locator("dialog")
    await sheet.get_by_role("textbox").fill("Carol lost to a ladder.")
    await sheet.get_by_role("button", name="Save").click()
    await expect(sheet).to_have_count(0)
    await expect(page.locator("#toast")).to_contain_text("Saved.")
    await expect(over.first).to_contain_text("Carol lost to a ladder.")
    carol = f"<@{await demo.id_of('carol')}> lost to a ladder."
    assert await db.value("SELECT count(*) FROM streams WHERE recap = ?", (carol,)) == 1
    await over.first.locator("summary").click()
    summary = over.first.locator(".item.episode").first
    await summary.get_by_role("button", name="Edit").click()
    await sheet.get_by_role("textbox").fill("Nothing but rain.")
    await sheet.get_by_role("button", name="Save").click()
    await expect(sheet).to_have_count(0)
    await expect(summary).to_contain_text("Nothing but rain.")
    texts = await db.column("SELECT summary FROM episodes")
    assert "Nothing but rain." in texts


async def test_a_summary_is_corrected_where_a_note_comes_from(
    demo: DemoBot, page: Page
) -> None:
    """Also if it names somebody who chose another name, by which the list under Streams shows them."""
    db = demo.bot.db
    carol = await demo.id_of("carol")
    row = await db.row(
        "SELECT e.note_id, e.episode_id FROM note_evidence e JOIN episodes p ON p.id = e.episode_id"
        " WHERE p.stream_id IS NOT NULL ORDER BY e.note_id LIMIT 1"
    )
    assert row is not None
    async with db.write() as tx:
        await tx.execute("UPDATE viewers SET called = 'Caz' WHERE id = ?", (carol,))
        await tx.execute(
            "UPDATE episodes SET summary = ? WHERE id = ?",
            (f"<@{carol}> won. It rained.", row["episode_id"]),
        )
    await go(page, f"memory/note/{row['note_id']}")
    evidence = page.locator(".item.episode", has_text="It rained.")
    await evidence.get_by_role("button", name="Edit").click()
    sheet = page.locator("dialog")
    await expect(sheet.get_by_role("textbox")).to_have_value(
        "Caz (Carol) won. It rained."
    )
    await sheet.get_by_role("textbox").fill("Caz (Carol) won. It snowed.")
    await sheet.get_by_role("button", name="Save").click()
    await expect(sheet).to_have_count(0)
    await expect(
        page.locator(".item.episode", has_text="Carol won. It snowed.")
    ).to_have_count(1)
    stored = await episodes.summary_of(db, row["episode_id"])
    assert stored == f"<@{carol}> won. It snowed."


async def test_a_busy_chat_leaves_the_page_small_takes_no_click_away_and_closes_no_list(
    demo: DemoBot, page: Page
) -> None:
    """What is drawn anew between press and release loses the click; a list that is drawn anew closes."""
    always_there = "#top button, #nav a, select[aria-label=Mode]"
    await page.evaluate(
        "which => document.querySelectorAll(which).forEach(one => { one.dataset.same = '1' })",
        always_there,
    )
    await page.get_by_role("button", name="Pause").hover()
    await page.mouse.down()
    before = await page.locator(".cards").inner_text()
    for burst in range(10):
        for number in range(40):
            await demo.sim.say(f"viewer{number}", f"line {burst} {number} of many")
        await demo.settle()
    await expect(page.locator(".item.line", has_text="line 9 39").first).to_be_visible()
    assert await page.locator(".feed .item").count() <= 120
    await expect(page.locator(".cards")).not_to_have_text(before)
    await page.mouse.up()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    same = page.locator("select[aria-label=Mode], #nav a[href='#now']").and_(
        page.locator("[data-same]")
    )
    await expect(same).to_have_count(2)
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("button", name="Chat").click()
    await expect(page.locator(".feed .item.line")).to_have_count(0)


async def test_after_a_lost_connection_it_says_so_and_catches_up(
    memory: Path, tmp_path: Path, running: Browser
) -> None:
    """A bot that stops and starts again: the page is never touched."""
    async with opened(memory, tmp_path / "one") as first:
        port = int(first.address.split(":")[2].split("/")[0])
        its_memory = first.bot.db.path
        context = page_on(running, first.address)
        page = await context.__aenter__()
        await expect(page.locator("#top")).to_contain_text("streamer")
    await expect(page.locator("#top")).to_contain_text("cannot be reached")
    await expect(
        page.get_by_role("heading", name="The bot has stopped.")
    ).to_be_visible()
    await expect(page.locator("#nav")).to_be_hidden()
    async with opened(its_memory, tmp_path / "two", port=port) as again:
        assert again.address == first.address
        await again.hear("bob", "did anybody miss me?")
        await expect(page.locator("#top")).not_to_contain_text("cannot be reached")
        await expect(
            page.locator(".item.line", has_text="did anybody miss me?")
        ).to_be_visible()
        await page.context.close()


ADDRESS = "https://discord.com/api/webhooks/123456789012345678/" + "a1B2" * 17


async def test_a_recap_is_read_copied_and_waits_for_a_webhook(
    demo: DemoBot, running: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(WEBHOOK_ENV, raising=False)
    db = demo.bot.db
    async with db.write() as tx:
        over = "title = ?, recap = 'They built a ladder.' WHERE ended_at IS NOT NULL"
        await tx.execute(f"UPDATE streams SET {over}", (f"{EVIL} **@everyone**",))  # noqa: S608  # no input
        await tx.execute("UPDATE episodes SET summary = 'They built a ladder.'")
    async with page_on(running, demo.address, 300) as page:
        await go(page, "memory/streams")
        await page.get_by_role("button", name="Recap").first.click()
        text = page.locator("dialog textarea")
        await expect(text).to_be_visible()
        title = (await text.input_value()).splitlines()[0]
        assert (
            title
            == "# \\<img src=x onerror=document.title='broken'\\> \\*\\*@\u200beveryone\\*\\*"
        )
        assert await page.evaluate("document.documentElement.scrollWidth") <= 300
        async with page.expect_download() as download:
            await page.get_by_role("button", name="YouTube").click()
        chapters = await download.value
        assert chapters.suggested_filename.startswith("chapters-")
        assert (await chapters.path()).read_bytes().startswith(b"0:00 ")
        await expect(page.get_by_role("button", name="Post to Discord")).to_have_count(
            0
        )
        await page.locator("dialog summary", has_text="Discord webhook").click()
        await page.get_by_label("Discord webhook").fill(
            "https://example.com/api/webhooks/1/x"
        )
        await page.get_by_role("dialog").get_by_role("button", name="Save").click()
        await expect(page.locator("#toast .bad")).to_contain_text(
            "address of a Discord webhook"
        )
        await page.get_by_label("Discord webhook").fill(ADDRESS)
        await page.get_by_role("dialog").get_by_role("button", name="Save").click()
        await expect(page.get_by_role("button", name="Post to Discord")).to_be_visible()
        assert ADDRESS not in await page.content()
        await expect(page.locator("dialog .plot svg")).to_be_visible()
        posted: list[dict[str, str]] = []

        async def take(route: Route) -> None:  # Discord itself is not asked
            posted.append(json.loads(route.request.post_data or "{}"))
            await route.fulfill(json={"ok": True, "line": "Done."})

        await page.route("**/api/setup/post_recap", take)
        await page.get_by_role("button", name="Post to Discord").click()
        await expect(page.locator("#toast")).to_contain_text("Done.")
        assert base64.b64decode(posted[0]["picture"]).startswith(PNG)
        await page.keyboard.press("Escape")
    secrets = SecretStore(login_folder(db.path))
    assert secrets.load(WEBHOOK) == ADDRESS
    secrets.delete(WEBHOOK)


DROP = """async ({ name, text }) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  const field = document.querySelector(".drop");
  for (const type of ["dragover", "drop"]) {
    field.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


async def test_it_asks_shows_how_far_it_is_and_the_bot_goes_on(
    demo: DemoBot, running: Browser, tmp_path: Path
) -> None:
    before = await demo.bot.db.value("SELECT count(*) FROM episodes")
    chat = log(tmp_path / "evening.log", lines=200).read_text()
    async with page_on(running, demo.address, 300) as page:
        await go(page, "memory/streams")
        await page.get_by_role("link", name="Chat of past streams").click()
        step = page.locator("details.step[open]")
        await expect(step.locator("summary")).to_contain_text("Chat of past streams")
        await page.evaluate(
            DROP, {"name": "evening.log", "text": "no chat at all\n" * 300}
        )
        await expect(step.locator(".outcome.bad")).to_contain_text(
            "evening.log is no chat"
        )
        await page.evaluate(DROP, {"name": "evening.log", "text": f"odd line\n{chat}"})
        outcome = step.locator(".outcome")  # beside the button, which asks nothing more
        await expect(outcome).to_contain_text("400 lines, 2 streams, 2 days")
        await expect(outcome).to_contain_text("evening.log: 1 line cannot be read: 1.")
        assert await page.evaluate("document.documentElement.scrollWidth") <= 300
        assert await demo.bot.db.value("SELECT count(*) FROM episodes") == before
        await step.get_by_role("button", name="Learn from it").click()
        await demo.hear("bob", "is it learning?")
        await expect(step.locator(".outcome")).to_contain_text(
            "Learned from 400 lines (2 streams)"
        )
        await expect(step.get_by_role("button", name="Delete the files")).to_have_count(
            0
        )
    assert await demo.bot.db.value("SELECT count(*) FROM episodes") > before
    assert not incoming_folder(demo.bot.db.path).exists()
