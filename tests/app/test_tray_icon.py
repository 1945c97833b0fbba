"""The icon beside the clock, its process and its menu, on a D-Bus of its own as a desktop's panel sees it."""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import DBusConnection, DBusRouter, open_dbus_connection

from forgetmenot.app.bot import Bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.setup import SetupService
from forgetmenot.app.tray_icon import TrayIcon
from forgetmenot.operations.handlers.switches import read_switches
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.tray.linux import DBUS_MENU, ITEM, MENU_PATH, PROPERTIES, WATCHER

COMMAND = [sys.executable, "-m", "forgetmenot.tray"]
PICTURE = Path(__file__).parents[2] / "packaging" / "icon.png"
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("dbus-daemon") is None,
    reason="the icon of Linux desktops needs a D-Bus",
)


@pytest.fixture
def session_bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as bus:
        assert bus.stdout is not None
        address = bus.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield
        bus.terminate()


class Panel:
    """What a desktop's panel does with an icon."""

    def __init__(self, connection: DBusConnection) -> None:
        self.connection = connection
        self.owner = ""

    async def wait_for_icon(self) -> None:
        while not self.owner:
            message = await self.connection.receive()
            if message.header.message_type is MessageType.method_call:
                fields = {
                    field.name: value for field, value in message.header.fields.items()
                }
                self.owner = fields["sender"]

    async def ask(
        self,
        path: str,
        interface: str,
        method: str,
        signature: str,
        values: tuple[object, ...],
    ) -> Any:  # noqa: ANN401  # what D-Bus answers
        address = DBusAddress(path, bus_name=self.owner, interface=interface)
        call = new_method_call(address, method, signature, values)
        async with DBusRouter(self.connection) as router:
            answer = await asyncio.wait_for(router.send_and_get_reply(call), 60)
        assert answer.header.message_type is MessageType.method_return
        return answer.body

    async def labels(self) -> list[str]:
        _revision, (_root, _properties, rows) = await self.ask(
            MENU_PATH, DBUS_MENU, "GetLayout", "iias", (0, -1, [])
        )
        return [row[1]["label"][1] for _signature, row in rows]

    async def click(self, label: str) -> None:
        number = (await self.labels()).index(label) + 1
        await self.ask(
            MENU_PATH, DBUS_MENU, "Event", "isvu", (number, "clicked", ("s", ""), 0)
        )

    async def has_labels(self, labels: list[str]) -> None:
        async with asyncio.timeout(60):
            while await self.labels() != labels:  # noqa: ASYNC110  # asked of another process
                await asyncio.sleep(0.05)


@pytest.fixture
async def panel(session_bus: None) -> AsyncIterator[Panel]:
    async with await open_dbus_connection() as connection:
        async with DBusRouter(connection) as router:
            await router.send_and_get_reply(message_bus.RequestName(WATCHER))
        yield Panel(connection)


async def test_its_menu_opens_the_dock_pauses_resumes_and_quits(
    panel: Panel, bot: Bot
) -> None:
    chosen: list[str] = []
    settings = LiveSettings(Settings())
    settings.taken_port = 8737
    setup = SetupService(
        settings,
        bot.db.path.parent,
        use_keyring=False,
        stop=lambda: chosen.append("quit"),
    )
    control = BotControl(bot, settings, ConnectionStatus())
    icon = TrayIcon(COMMAND, setup, lambda: chosen.append("open"), PICTURE)
    async with setup.attached(control), icon.shown():
        await panel.wait_for_icon()
        taken = "Another program uses port 8737"
        assert await panel.labels() == [taken, "Open the dock", "Pause", "Quit"]
        (properties,) = await panel.ask(
            "/StatusNotifierItem", PROPERTIES, "GetAll", "s", (ITEM,)
        )
        assert properties["Title"] == ("s", "ForgetMeNot")
        await panel.ask("/StatusNotifierItem", ITEM, "Activate", "ii", (0, 0))
        await panel.click("Pause")
        await panel.has_labels([taken, "Open the dock", "Resume", "Quit"])
        assert (await read_switches(bot.db)).paused
        await panel.click("Resume")
        await panel.has_labels([taken, "Open the dock", "Pause", "Quit"])
        assert not (await read_switches(bot.db)).paused
        await panel.click("Quit")
        await panel.labels()
    assert chosen == ["open", "quit"]
    await setup.login.aclose()


async def test_a_panel_that_starts_later_shows_it_as_well(
    session_bus: None, bot: Bot
) -> None:
    setup = SetupService(
        LiveSettings(Settings()), bot.db.path.parent, use_keyring=False
    )
    icon = TrayIcon(COMMAND, setup, lambda: None, PICTURE)
    async with await open_dbus_connection() as watching, icon.shown():
        # the icon has asked for a panel in vain
        async with DBusRouter(watching) as router:
            async with asyncio.timeout(60):
                while True:
                    reply = await router.send_and_get_reply(message_bus.ListNames())
                    if len([n for n in reply.body[0] if n.startswith(":")]) > 1:
                        break
                    await asyncio.sleep(0.05)
        await watching.send(message_bus.RequestName(WATCHER))
        panel = Panel(watching)
        async with asyncio.timeout(60):
            await panel.wait_for_icon()
        assert await panel.labels() == ["Open the dock", "Quit"]
    await setup.login.aclose()


async def test_without_a_desktop_the_bot_runs_on(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    setup = SetupService(
        LiveSettings(Settings()), bot.db.path.parent, use_keyring=False
    )
    for command in (COMMAND, ["/nowhere/forgetmenot"]):
        icon = TrayIcon(command, setup, lambda: None, PICTURE)
        async with icon.shown():
            assert icon.work is not None
            async with asyncio.timeout(60):
                await asyncio.wait([icon.work])
    await setup.login.aclose()
