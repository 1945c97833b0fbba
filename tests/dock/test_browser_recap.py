"""The recap of a stream in a real Chromium: read, copied, and never posted without a webhook and a press."""

import re

import pytest
from playwright.async_api import Browser, expect

from forgetmenot.app.recap_sharing import WEBHOOK, WEBHOOK_ENV
from forgetmenot.secret_store import SecretStore, login_folder
from tests.dock.demo_bot import BROWSER, DemoBot, go, page_on

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),  # one Chromium for all: each test has a context of its own
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
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
