"""Pictures of the dock's panels on the demo's memory: `scripts/screenshots.py FOLDER [--language de]`.

At 300 × 400 (a small dock in OBS), 320 × 800, 420 × 800 and 1100 × 800, in the Chromium that is on the machine. Files
are named PANEL-WIDTH.png. demo.svg is what the demo prints on a terminal.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import browser
import environment
from environment import ROOT, fail, say

if TYPE_CHECKING:
    from playwright.async_api import ViewportSize

SIZES = ((300, 400), (320, 800), (420, 800), (1100, 800))
PLACES = {
    "now": "now",
    "people": "memory/people",
    "person": "memory/people",
    "note": "memory/note/2",
    "channel": "memory/channel",
    "streams": "memory/streams",
    "notes": "memory/notes",
    "answers": "memory/answers",
    "costs": "costs",
    "approvals": "approvals",
    "settings": "settings",
    "setup": "setup",
    "why": "now",
}
CLICKS = {"person": "a.item.person", "why": ".item.reply.sent:has-text('Oslo') button"}


def _address_in(lines: Iterable[str]) -> str:
    """Return the first address in these lines; "" if there is none."""
    for line in lines:
        for word in line.split():
            if word.startswith("http://"):
                return word
    return ""


def main() -> int:
    """Play the demo, take the pictures, end the demo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--language", default="en", help="in this language")
    arguments = parser.parse_args()
    python = environment.ensure("dev")
    if Path(sys.prefix) != python.parents[1]:
        return subprocess.run(
            [str(python), __file__, *sys.argv[1:]], check=False
        ).returncode
    if browser.ensure() is None:
        fail("there is no Chromium here. FORGETMENOT_BROWSER names one.")
    folder: Path = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="forgetmenot-screenshots-") as name:
        asyncio.run(draw_terminal(Path(name) / "terminal.sqlite3", folder / "demo.svg"))
        command = [
            sys.executable,
            "-m",
            "forgetmenot",
            "demo",
            "--fast",
            "--stay",
            "--json",
        ]
        command += ["--db", str(Path(name) / "memory.sqlite3")]
        with subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.PIPE, text=True
        ) as demo:
            try:
                asyncio.run(
                    take(_address_in(demo.stderr or ()), folder, arguments.language)
                )
            finally:
                demo.terminate()
    return 0


COLOURS = {
    "caption": "#5ccfe6",
    "bot": "#a6e22e",
    "memory": "#e6b450",
    "refused": "#ff6b6b",
    "faint": "#808890",
}
PLAIN = "#d8dee9"
KEEP = 'xml:space="preserve"'


async def draw_terminal(memory: Path, file: Path) -> None:
    """Play the demo and draw what it prints, in its colours."""
    from forgetmenot import logs
    from forgetmenot.demo.show import Show, play
    from forgetmenot.settings.schema import DockSettings, Settings

    printed: list[tuple[str, str]] = []

    def take_line(style: str, text: str) -> None:
        indent = " " * (len(text) - len(text.lstrip()) + 2)
        printed.extend(
            (style, line)
            for line in textwrap.wrap(text, 92, subsequent_indent=indent) or [""]
        )

    logs.set_up(level="error")
    await play(memory, Show(Settings(dock=DockSettings(port=0)), take_line, fast=True))
    rows = [
        f'<text x="14" y="{26 + 17 * row}" fill="{COLOURS.get(style, PLAIN)}" {KEEP}>{escape(line)}</text>'
        for row, (style, line) in enumerate(printed[1:])
    ]
    height = 34 + 17 * len(rows)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" font-family="monospace" font-size="13">'
    box = f'<rect width="780" height="{height}" rx="6" fill="#1b1f27"/>'
    file.write_text("\n".join([head, box, *rows, "</svg>", ""]), encoding="utf-8")


async def take(address: str, folder: Path, language: str) -> None:
    """Every panel in every size."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(
            executable_path=browser.find(), args=list(browser.ARGUMENTS)
        )
        for width, height in SIZES:
            viewport: ViewportSize = {"width": width, "height": height}
            page = await running.new_page(
                viewport=viewport, color_scheme="dark", reduced_motion="reduce"
            )
            await page.goto(address)
            await page.locator(".item.episode").first.wait_for(timeout=60_000)
            if (width, height) == SIZES[0]:
                await page.wait_for_timeout(8_000)  # the demo plays its two evenings
                await page.evaluate("location.hash = 'setup'")
                # as its user does
                await page.locator("#language").select_option(language)
                await page.locator(
                    f"html[lang={language}] .feed, html[lang={language}] .step"
                ).first.wait_for()
            for name, place in PLACES.items():
                await page.evaluate("place => { location.hash = place }", place)
                await page.wait_for_timeout(700)
                if name in CLICKS:
                    await page.locator(CLICKS[name]).first.click()
                    await page.wait_for_timeout(500)
                await page.screenshot(path=folder / f"{name}-{width}.png")
                say(f"{name}-{width}.png")
            await page.close()
        await running.close()


if __name__ == "__main__":
    sys.exit(main())
