"""Files with chat of past streams, dropped on the set-up in a real Chromium."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from forgetmenot.files import incoming_folder
from tests.dock.demo_bot import BROWSER, DemoBot, go, page_on
from tests.memory.test_learning import log

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),  # one Chromium for all: each test has a context of its own
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine"),
]
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
        await expect(dialog).to_contain_text("Lines of evening.log that cannot be read: 1.")
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
