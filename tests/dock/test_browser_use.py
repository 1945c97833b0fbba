"""The dock in a real Chromium, in use: keyboard, long lists, a busy chat, a lost connection."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from forgetmenot.app.recap_sharing import WEBHOOK, WEBHOOK_ENV
from forgetmenot.domain import Scope, SourceKind
from forgetmenot.files import incoming_folder
from forgetmenot.secret_store import SecretStore, login_folder
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote
from tests.dock.demo_bot import BROWSER, DemoBot, go, opened, page_on, until
from tests.memory.test_learning import log

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


async def test_a_busy_chat_leaves_the_page_small_takes_no_click_away_and_closes_no_list(
    demo: DemoBot, page: Page
) -> None:
    """What is drawn anew between press and release loses the click; a list that is drawn anew closes."""
    kept = "#top button, #nav a, select[aria-label=Mode]"
    await page.evaluate("which => document.querySelectorAll(which).forEach(one => { one.dataset.same = '1' })", kept)
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
    same = page.locator("select[aria-label=Mode], #nav a[href='#now']").and_(page.locator("[data-same]"))
    await expect(same).to_have_count(2)
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("button", name="Chat").click()
    await expect(page.locator(".feed .item.line")).to_have_count(0)


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


async def test_who_just_came_in_has_a_card_until_it_is_put_away_or_unwanted(
    memory: Path, tmp_path: Path, running: Browser
) -> None:
    async with opened(memory, tmp_path, earpiece="everyone_known") as demo, page_on(running, demo.address, 300) as page:
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


EVIL = "<img src=x onerror=document.title='broken'> **@everyone**"
ADDRESS = "https://discord.com/api/webhooks/123456789012345678/" + "a1B2" * 17


async def test_a_recap_is_read_copied_and_waits_for_a_webhook(
    demo: DemoBot, running: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(WEBHOOK_ENV, raising=False)
    db = demo.bot.db
    async with db.write() as tx:
        await tx.execute(
            "UPDATE streams SET ended_at = last_event_at + 1, title = ? WHERE ended_at IS NOT NULL", (EVIL,)
        )
        await tx.execute("UPDATE streams SET recap = 'They built a ladder.' WHERE ended_at IS NOT NULL AND recap = ''")
    async with page_on(running, demo.address, 300) as page:
        await go(page, "memory/streams")
        await page.get_by_role("button", name="Recap").first.click()
        text = page.locator("dialog textarea")
        await expect(text).to_be_visible()
        title = (await text.input_value()).splitlines()[0]
        assert title == "# \\<img src=x onerror=document.title='broken'\\> \\*\\*@\u200beveryone\\*\\*"
        assert await page.evaluate("document.documentElement.scrollWidth") <= 300
        await page.get_by_role("button", name="Copy as Markdown").click()
        await expect(page.get_by_role("button", name="✓")).to_be_visible()
        await expect(page.get_by_role("button", name="Post to Discord")).to_have_count(0)
        await page.locator("dialog summary").click()
        await page.get_by_label("Discord webhook").fill("https://example.com/api/webhooks/1/x")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator("#toast .bad")).to_contain_text("address of a Discord webhook")
        await page.get_by_label("Discord webhook").fill(ADDRESS)
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("button", name="Post to Discord")).to_be_visible()
        assert ADDRESS not in await page.content()
        await page.keyboard.press("Escape")
        await go(page, "now")
        ready = page.get_by_role("button", name="The recap of the last stream")
        await expect(ready).to_be_hidden()  # a stream is on
        async with db.write() as tx:
            at = demo.clock.now() - 1
            await tx.execute("UPDATE streams SET recap = 'Over.', ended_at = ? WHERE ended_at IS NULL", (at,))
        await ready.click()
        await expect(page.locator("dialog textarea")).to_have_value(re.compile("Over"))
        assert await page.title() != "broken"
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


async def test_it_asks_shows_how_far_it_is_and_the_bot_goes_on(demo: DemoBot, running: Browser, tmp_path: Path) -> None:
    before = await demo.bot.db.value("SELECT count(*) FROM episodes")
    chat = log(tmp_path / "evening.log", lines=200).read_text()
    async with page_on(running, demo.address, 300) as page:
        await go(page, "memory/streams")
        await page.get_by_role("link", name="Chat of past streams").click()
        step = page.locator("details.step[open]")
        await expect(step.locator("summary")).to_contain_text("Chat of past streams")
        await page.evaluate(DROP, {"name": "evening.log", "text": "no chat at all\n" * 300})
        await expect(step.locator(".outcome.bad")).to_contain_text("evening.log is no chat")
        await page.evaluate(DROP, {"name": "evening.log", "text": f"odd line\n{chat}"})
        dialog = page.locator("dialog")
        await expect(dialog).to_contain_text("400 lines of 2 streams over 2 days")
        await expect(dialog).to_contain_text("evening.log that cannot be read: 1.")
        assert await page.evaluate("document.documentElement.scrollWidth") <= 300
        await dialog.get_by_role("button", name="Cancel").click()
        assert await demo.bot.db.value("SELECT count(*) FROM episodes") == before
        await step.get_by_role("button", name="Learn from it").click()
        await page.locator("dialog .row.end").get_by_role("button", name="Learn from it").click()
        await demo.hear("bob", "is it learning?")
        await expect(step.locator(".outcome")).to_contain_text("Learned from 400 lines of 2 streams")
        await expect(step.get_by_role("button", name="Delete the files")).to_have_count(0)
    assert await demo.bot.db.value("SELECT count(*) FROM episodes") > before
    assert not incoming_folder(demo.bot.db.path).exists()
