"""Every pair of text and ground that the page uses has the contrast of WCAG AA, in the dark and in the light."""

import re
from importlib import resources

import pytest

AA = 4.5
PAIRS = {
    "text": ("bg", "panel", "raised", "accent-bg"), "soft": ("bg", "panel", "raised", "accent-bg", "warn-bg"),
    "accent": ("bg", "panel", "accent-bg"), "good": ("bg", "panel", "good-bg"), "warn": ("bg", "panel", "warn-bg"),
    "bad": ("bg", "panel", "raised", "bad-bg"), "on-accent": ("accent",),
}  # fmt: skip


def colours() -> list[dict[str, str]]:
    style = (resources.files("forgetmenot.dock") / "static" / "style.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    return [{name: _long(code) for name, code in re.findall(r"--([\w-]+): #([0-9a-f]+)", block)} for block in blocks]


def _long(code: str) -> str:
    return code if len(code) == 6 else "".join(digit * 2 for digit in code)


def luminance(code: str) -> float:
    parts = [int(code[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["dark", "light"])
def test_text_can_be_read(scheme: int) -> None:
    found = colours()[scheme]
    for text, ground in ((text, ground) for text, all_of in PAIRS.items() for ground in all_of):
        low, high = sorted((luminance(found[text]), luminance(found[ground])))
        assert (high + 0.05) / (low + 0.05) >= AA, (text, ground)
