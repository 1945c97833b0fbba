"""One word for one idea: the glossary is short, and its places exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "forgetmenot"
PAGE = (ROOT / "docs" / "GLOSSARY.md").read_text("utf-8")
ROWS = re.findall(r"^\| (.+?) \| .+? \| (.+?) \|$", PAGE, re.MULTILINE)[2:]


def test_the_glossary_is_short_and_its_places_exist() -> None:
    there = {str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py")}
    for path in PACKAGE.rglob("*.py"):
        there.update(re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE))
    assert 20 <= len(ROWS) <= 40
    for word, places in ROWS:
        for place in re.findall(r"`(.+?)`", places):
            assert place in there, f"{word}: {place}"
