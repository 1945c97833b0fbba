"""One word for one idea: the glossary's places exist, and the words that it replaced are in no name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "forgetmenot"
PAGE = (ROOT / "docs" / "GLOSSARY.md").read_text("utf-8")
ROWS = re.findall(r"^\| (.+?) \| .+? \| (.+?) \|$", PAGE, re.MULTILINE)[2:]
# The field's word for each is in the glossary; `room` alone is Twitch's own word for a channel's chat.
FORBIDDEN = re.compile(
    "patience|concordance|crowd|silence|whom|deeds?|told|tells|hands|desk|house|road|tally|dossier|ledger|beliefs"
    "|rehearsal|chores?|wish|wishes"
)
# Where functions and parameters are held to it as well, besides modules and classes everywhere.
STRICT = ("app/bot.py", "app/control.py", "chat.py", "cli", "dock", "operations", "domain")


def words(name: str) -> set[str]:
    return {word.lower() for part in name.split("_") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", part)}


def classes(path: Path) -> list[str]:
    return re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE)


def names(path: Path) -> Iterator[str]:
    yield from classes(path)
    inside = str(path.relative_to(PACKAGE)).startswith(STRICT)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))) if inside else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def test_the_glossary_is_short_and_its_places_exist() -> None:
    modules = {str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py")}
    modules |= {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("__init__.py")}
    there = modules.union(*map(classes, PACKAGE.rglob("*.py")))
    assert 20 <= len(ROWS) <= 40
    for word, places in ROWS:
        for place in re.findall(r"`(.+?)`", places):
            assert place in there, f"{word}: {place}"


def test_no_name_uses_a_replaced_word() -> None:
    every = [(path, name) for path in PACKAGE.rglob("*.py") for name in (path.stem, *names(path))]
    assert [(path.name, name) for path, name in every if any(map(FORBIDDEN.fullmatch, words(name)))] == []
