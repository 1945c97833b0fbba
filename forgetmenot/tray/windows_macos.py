"""The icon of Windows and macOS, by pystray, which is part of the built program only."""

import sys
import threading
from collections.abc import Callable

from forgetmenot.tray.protocol import Menu, choose, read_menus


class Icon:
    """An icon whose menu the bot replaces while it is shown."""

    def __init__(self, menu: Menu) -> None:
        import PIL.Image
        import pystray

        self._menu = menu
        self._item = pystray.MenuItem
        self.shown = pystray.Icon(
            "forgetmenot",
            PIL.Image.open(menu.icon),
            menu.title,
            pystray.Menu(self._items),
        )

    def _items(self) -> list[object]:
        """Return the entries as pystray asks for them, each time that it draws the menu."""
        items = []
        for entry in self._menu.entries:
            items.append(
                self._item(
                    entry.label,
                    _chooser(entry.key),
                    default=entry.key == self._menu.on_click,
                    enabled=bool(entry.key),
                )
            )
        return items

    def replace(self, menu: Menu) -> None:
        """Show another menu."""
        self._menu = menu
        self.shown.title = menu.title
        self.shown.update_menu()


def _chooser(key: str) -> Callable[[], None]:
    """Return what pystray calls when an entry is chosen."""
    return lambda: choose(key)


def main() -> None:
    """Show the icon. The main thread is the icon's; another one waits for menus."""
    menus = read_menus(sys.stdin)
    icon = Icon(next(menus))

    def follow() -> None:
        for menu in menus:
            icon.replace(menu)
        # The bot closed the pipe: the loop of the main thread ends here.
        icon.shown.stop()

    # A daemon, since nothing can interrupt its wait for the next line.
    threading.Thread(target=follow, daemon=True).start()
    icon.shown.run()
