"""The icon of Linux desktops, by the two protocols that their panels share, over the session's D-Bus.

StatusNotifierItem is the icon, com.canonical.dbusmenu its menu. KDE, Xfce, Cinnamon, MATE, LXQt and
Ubuntu's GNOME show both. pystray has no menu without GTK, which a built program cannot bring along;
jeepney is there anyway, for the keyring.
"""

import asyncio
import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from forgetmenot.tray.protocol import Entry, Menu, choose, menu_of

ITEM_PATH = "/StatusNotifierItem"
MENU_PATH = "/Menu"
ITEM = "org.kde.StatusNotifierItem"
DBUS_MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"
WATCHER = "org.kde.StatusNotifierWatcher"
# A value with its D-Bus type, as jeepney writes a variant.
Variant = tuple[str, Any]
# The signature and the values of an answer.
Answer = tuple[str, tuple[Any, ...]]
Layout = tuple[int, Mapping[str, Variant], list[Variant]]


class Icon:
    """Answers what panels ask of an icon and its menu."""

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self.revision = 1
        self._answers: Mapping[str, Callable[..., Answer | None]] = {
            "Get": self._get,
            "GetAll": self._get_all,
            "Activate": self._activate,
            "GetLayout": self._layout,
            "GetGroupProperties": self._group_properties,
            "Event": self._event,
            "EventGroup": self._event_group,
            "AboutToShow": lambda _id: ("b", (False,)),
            "AboutToShowGroup": lambda _ids: ("aiai", ([], [])),
        }

    def answer(self, member: str, values: tuple[Any, ...]) -> Answer | None:
        """Return the answer to a call; None where the icon has no such method."""
        method = self._answers.get(member)
        if method is None:
            return None
        return method(*values) or ("", ())

    def replace(self, menu: Menu) -> None:
        """Take another menu."""
        self.menu = menu
        self.revision += 1

    def properties(self, interface: str) -> Mapping[str, Variant]:
        """Return the properties of the icon or of its menu."""
        if interface == DBUS_MENU:
            return {"Version": ("u", 3), "Status": ("s", "normal")}
        icon = Path(self.menu.icon)
        return {
            "Category": ("s", "ApplicationStatus"),
            "Id": ("s", "forgetmenot"),
            "Title": ("s", self.menu.title),
            "Status": ("s", "Active"),
            "IconName": ("s", icon.stem),
            "IconThemePath": ("s", str(icon.parent)),
            "ToolTip": ("(sa(iiay)ss)", ("", [], self.menu.title, "")),
            "ItemIsMenu": ("b", False),
            "Menu": ("o", MENU_PATH),
        }

    def _get(self, interface: str, name: str) -> Answer:
        return "v", (self.properties(interface).get(name, ("s", "")),)

    def _get_all(self, interface: str) -> Answer:
        return "a{sv}", (self.properties(interface),)

    def _activate(self, _x: int, _y: int) -> None:
        choose(self.menu.on_click)

    def _layout(self, parent: int, _depth: int, _names: list[str]) -> Answer:
        """Return the menu: entry n has the number n + 1, and 0 is the menu itself."""
        # Entries have no menus of their own, so only the menu itself has rows.
        layout: Layout = (parent, self._entry_properties(parent), [])
        if parent == 0:
            rows: list[Variant] = []
            for number in range(1, len(self.menu.entries) + 1):
                row: Layout = (number, self._entry_properties(number), [])
                rows.append(("(ia{sv}av)", row))
            layout = (0, layout[1], rows)
        return "u(ia{sv}av)", (self.revision, layout)

    def _entry_properties(self, number: int) -> Mapping[str, Variant]:
        """Return what a panel shows of an entry; one without a key is grey."""
        if number == 0:
            return {"children-display": ("s", "submenu")}
        entry = self._entry(number)
        if entry is None:
            return {}
        # An underscore would underline the next letter.
        label = entry.label.replace("_", "__")
        return {"label": ("s", label), "enabled": ("b", bool(entry.key))}

    def _entry(self, number: int) -> Entry | None:
        if 1 <= number <= len(self.menu.entries):
            return self.menu.entries[number - 1]
        return None

    def _group_properties(self, numbers: list[int], _names: list[str]) -> Answer:
        # None named means all of them.
        wanted = numbers or range(1, len(self.menu.entries) + 1)
        rows = [(number, self._entry_properties(number)) for number in wanted]
        return "a(ia{sv})", (rows,)

    def _event(self, number: int, kind: str, _data: Variant, _at: int) -> None:
        entry = self._entry(number)
        if kind == "clicked" and entry is not None and entry.key:
            choose(entry.key)

    def _event_group(self, events: list[tuple[int, str, Variant, int]]) -> Answer:
        for event in events:
            self._event(*event)
        return "ai", ([],)


async def show(menu: Menu, lines: asyncio.StreamReader) -> None:
    """Show the icon until the bot closes the pipe. Raises OSError where there is no D-Bus."""
    from jeepney import (
        DBusAddress,
        MatchRule,
        MessageType,
        new_error,
        new_method_call,
        new_method_return,
        new_signal,
    )
    from jeepney.bus_messages import message_bus
    from jeepney.io.asyncio import open_dbus_connection

    connection = await open_dbus_connection(bus="SESSION")
    icon = Icon(menu)
    watcher = DBusAddress("/StatusNotifierWatcher", WATCHER, WATCHER)
    item = DBusAddress(ITEM_PATH, interface=ITEM)
    menu_object = DBusAddress(MENU_PATH, interface=DBUS_MENU)
    # A panel may start after the bot, or be started again.
    panel_starts = MatchRule(
        type="signal",
        sender="org.freedesktop.DBus",
        interface="org.freedesktop.DBus",
        member="NameOwnerChanged",
    )
    panel_starts.add_arg_condition(0, WATCHER)

    async def register() -> None:
        call = new_method_call(watcher, "RegisterStatusNotifierItem", "s", (ITEM_PATH,))
        await connection.send(call)

    async def answer_calls() -> None:
        """Answer what panels ask, and register again with a panel that starts."""
        while True:
            message = await connection.receive()
            kind = message.header.message_type
            fields = {
                field.name: value for field, value in message.header.fields.items()
            }
            if (
                kind is MessageType.signal
                and fields.get("member") == "NameOwnerChanged"
            ):
                await register()
            if kind is not MessageType.method_call:
                continue
            answer = icon.answer(fields["member"], message.body)
            # Every call gets an answer: a panel would wait 25 s for it.
            if answer is None:
                unknown = "org.freedesktop.DBus.Error.UnknownMethod"
                await connection.send(new_error(message, unknown))
            else:
                await connection.send(new_method_return(message, *answer))

    async with connection:
        await connection.send(message_bus.AddMatch(panel_starts))
        await register()
        answering = asyncio.create_task(answer_calls())
        async for line in lines:
            icon.replace(menu_of(line))
            # A panel reads the layout again from this entry on: 0 is the whole menu.
            changed = (icon.revision, 0)
            await connection.send(
                new_signal(menu_object, "LayoutUpdated", "ui", changed)
            )
            await connection.send(new_signal(item, "NewTitle"))
            await connection.send(new_signal(item, "NewToolTip"))
        answering.cancel()


async def _run() -> None:
    """Read menus from the bot without blocking the answers to the panel."""
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    first = await lines.readline()
    if first:
        await show(menu_of(first), lines)


def main() -> None:
    """Show the icon; without a D-Bus session, as on a server, end quietly."""
    with contextlib.suppress(OSError, KeyError):
        asyncio.run(_run())
