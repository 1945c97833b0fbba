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

from jeepney import (
    DBusAddress,
    HeaderFields,
    MatchRule,
    Message,
    MessageType,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import DBusConnection, open_dbus_connection

from forgetmenot.tray.protocol import Entry, Menu, choose, menu_of

ITEM_PATH = "/StatusNotifierItem"
MENU_PATH = "/Menu"
ITEM = "org.kde.StatusNotifierItem"
DBUS_MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"
WATCHER = "org.kde.StatusNotifierWatcher"
UNKNOWN_METHOD = "org.freedesktop.DBus.Error.UnknownMethod"
# A value with its D-Bus type, as jeepney writes a variant.
Variant = tuple[str, Any]
# The signature and the values of an answer.
Answer = tuple[str, tuple[Any, ...]]
NO_VALUES: Answer = ("", ())
# Number, properties and entries of a part of the menu.
Layout = tuple[int, Mapping[str, Variant], list[Variant]]
# The menu itself; entry n of the list has the number n + 1.
WHOLE_MENU = 0


class Icon:
    """Answers what panels ask of an icon and its menu."""

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self.revision = 1
        self._answers: Mapping[str, Callable[..., Answer]] = {
            "Get": self._get,
            "GetAll": self._get_all,
            "Activate": self._activate,
            "GetLayout": self._get_layout,
            "GetGroupProperties": self._group_properties,
            "Event": self._event,
            "EventGroup": self._event_group,
            # The menu is always as it was sent last: nothing to update before it opens.
            "AboutToShow": lambda _id: ("b", (False,)),
            "AboutToShowGroup": lambda _ids: ("aiai", ([], [])),
        }

    def answer(self, member: str, values: tuple[Any, ...]) -> Answer | None:
        """Return the answer to a call; None where the icon has no such method."""
        method = self._answers.get(member)
        if method is None:
            return None
        return method(*values)

    def replace(self, menu: Menu) -> None:
        """Take another menu."""
        self.menu = menu
        self.revision += 1

    def properties(self, interface: str) -> Mapping[str, Variant]:
        """Return the properties of the icon or of its menu."""
        if interface == DBUS_MENU:
            return {
                "Version": ("u", 3),
                "Status": ("s", "normal"),
            }
        icon = Path(self.menu.icon)
        return {
            "Category": ("s", "ApplicationStatus"),
            "Id": ("s", "forgetmenot"),
            "Title": ("s", self.menu.title),
            "Status": ("s", "Active"),
            # A panel looks for a file of this name in that folder.
            "IconName": ("s", icon.stem),
            "IconThemePath": ("s", str(icon.parent)),
            "ToolTip": ("(sa(iiay)ss)", ("", [], self.menu.title, "")),
            "ItemIsMenu": ("b", False),
            "Menu": ("o", MENU_PATH),
        }

    def _get(self, interface: str, name: str) -> Answer:
        empty = ("s", "")
        value = self.properties(interface).get(name, empty)
        return "v", (value,)

    def _get_all(self, interface: str) -> Answer:
        return "a{sv}", (self.properties(interface),)

    def _activate(self, _x: int, _y: int) -> Answer:
        choose(self.menu.on_click)
        return NO_VALUES

    def _get_layout(
        self,
        parent: int,
        _depth: int,
        _names: list[str],
    ) -> Answer:
        return "u(ia{sv}av)", (self.revision, self._layout(parent))

    def _layout(self, number: int) -> Layout:
        """Return a part of the menu."""
        rows: list[Variant] = []
        # Entries have no menus of their own, so only the menu itself has rows.
        if number == WHOLE_MENU:
            for entry_number in self._entry_numbers():
                rows.append(("(ia{sv}av)", self._layout(entry_number)))
        return number, self._properties_of(number), rows

    def _entry_numbers(self) -> range:
        return range(1, len(self.menu.entries) + 1)

    def _properties_of(self, number: int) -> Mapping[str, Variant]:
        """Return what a panel shows of an entry; one without a key is grey."""
        if number == WHOLE_MENU:
            return {"children-display": ("s", "submenu")}
        entry = self._entry(number)
        if entry is None:
            return {}
        # An underscore would underline the next letter.
        label = entry.label.replace("_", "__")
        return {
            "label": ("s", label),
            "enabled": ("b", bool(entry.key)),
        }

    def _entry(self, number: int) -> Entry | None:
        # A panel may ask for a number of an older, longer menu.
        if number not in self._entry_numbers():
            return None
        return self.menu.entries[number - 1]

    def _group_properties(self, numbers: list[int], _names: list[str]) -> Answer:
        # None named means all of them.
        wanted = numbers or self._entry_numbers()
        rows = [(number, self._properties_of(number)) for number in wanted]
        return "a(ia{sv})", (rows,)

    def _event(
        self,
        number: int,
        kind: str,
        _data: Variant,
        _at: int,
    ) -> Answer:
        entry = self._entry(number)
        if kind == "clicked" and entry is not None and entry.key:
            choose(entry.key)
        return NO_VALUES

    def _event_group(self, events: list[tuple[int, str, Variant, int]]) -> Answer:
        for event in events:
            self._event(*event)
        # The numbers that were not there: a click on an old menu is simply lost.
        return "ai", ([],)


class SessionBus:
    """The icon on the session's D-Bus."""

    def __init__(self, connection: DBusConnection, icon: Icon) -> None:
        self._connection = connection
        self._icon = icon

    async def register(self) -> None:
        """Have panels show the icon."""
        # A panel may start after the bot, or be started again.
        panel_starts = MatchRule(
            type="signal",
            sender="org.freedesktop.DBus",
            interface="org.freedesktop.DBus",
            member="NameOwnerChanged",
        )
        panel_starts.add_arg_condition(0, WATCHER)
        await self._connection.send(message_bus.AddMatch(panel_starts))
        await self._register_with_panel()

    async def _register_with_panel(self) -> None:
        watcher = DBusAddress("/StatusNotifierWatcher", WATCHER, WATCHER)
        call = new_method_call(watcher, "RegisterStatusNotifierItem", "s", (ITEM_PATH,))
        await self._connection.send(call)

    async def answer_calls(self) -> None:
        """Answer what panels ask, and register again with a panel that starts."""
        while True:
            message = await self._connection.receive()
            kind = message.header.message_type
            member = message.header.fields.get(HeaderFields.member)
            if kind is MessageType.signal and member == "NameOwnerChanged":
                await self._register_with_panel()
            if kind is MessageType.method_call:
                await self._answer(message, member)

    async def _answer(self, call: Message, member: str) -> None:
        answer = self._icon.answer(member, call.body)
        # Every call gets an answer: a panel would wait 25 s for it.
        if answer is None:
            await self._connection.send(new_error(call, UNKNOWN_METHOD))
        else:
            await self._connection.send(new_method_return(call, *answer))

    async def show(self, menu: Menu) -> None:
        """Replace the menu, and tell panels to read it again."""
        self._icon.replace(menu)
        item = DBusAddress(ITEM_PATH, interface=ITEM)
        menu_object = DBusAddress(MENU_PATH, interface=DBUS_MENU)
        changed = (self._icon.revision, WHOLE_MENU)
        for signal in (
            new_signal(menu_object, "LayoutUpdated", "ui", changed),
            new_signal(item, "NewTitle"),
            new_signal(item, "NewToolTip"),
        ):
            await self._connection.send(signal)


async def _run() -> None:
    """Show the icon until the bot closes the pipe. Raises OSError where there is no D-Bus."""
    # Menus are read without blocking the answers to the panel.
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    first_line = await lines.readline()
    if not first_line:
        return
    icon = Icon(menu_of(first_line))
    async with await open_dbus_connection(bus="SESSION") as connection:
        bus = SessionBus(connection, icon)
        await bus.register()
        answering = asyncio.create_task(bus.answer_calls())
        async for line in lines:
            await bus.show(menu_of(line))
        answering.cancel()


def main() -> None:
    """Show the icon; without a D-Bus session, as on a server, end quietly."""
    with contextlib.suppress(OSError, KeyError):
        asyncio.run(_run())
