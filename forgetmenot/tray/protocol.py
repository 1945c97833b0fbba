"""What the bot and the process of the icon say to each other: menus in, the keys of chosen entries out."""

import json
import sys
from collections.abc import Iterator
from typing import NamedTuple, TextIO


class Entry(NamedTuple):
    """One line of the menu. Without a key it only informs."""

    key: str
    label: str


class Menu(NamedTuple):
    """What the icon shows. The first entry with a key is what a click on the icon does."""

    title: str
    icon: str
    entries: list[Entry]

    @property
    def on_click(self) -> str:
        """Return the key of the entry that a click on the icon chooses."""
        return next(entry.key for entry in self.entries if entry.key)


def to_line(menu: Menu) -> str:
    """Return a menu as one line of JSON."""
    return json.dumps(menu) + "\n"


def read_menus(lines: TextIO) -> Iterator[Menu]:
    """Yield each menu that the bot sends, until it closes the pipe."""
    for line in lines:
        yield menu_of(line)


def menu_of(line: str | bytes) -> Menu:
    """Return the menu of a line."""
    title, icon, rows = json.loads(line)
    return Menu(title, icon, [Entry(*row) for row in rows])


def choose(key: str) -> None:
    """Report to the bot which entry was chosen."""
    sys.stdout.write(f"{key}\n")
    # A pipe is buffered: without this the bot would hear of a click with the next few hundred.
    sys.stdout.flush()
