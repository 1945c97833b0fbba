"""Serves the dock beside a running bot. If it cannot be opened, that is reported and the bot runs on."""

import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Callable

from forgetmenot.app.bot import Bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.setup import SetupService
from forgetmenot.dock.security import HOST
from forgetmenot.dock.server import open_dock
from forgetmenot.errors import SettingsError, StoreError
from forgetmenot.settings.live_settings import LiveSettings


@contextlib.asynccontextmanager
async def serve_dock(
    bot: Bot,
    settings: LiveSettings,
    status: ConnectionStatus,
    report: Callable[[str], None],
    *,
    any_port: bool = False,
    opened: Callable[[str], None] = lambda _address: None,
    setup: SetupService | None = None,
) -> AsyncIterator[str]:
    """Serve the dock while the block runs; yields its address or "". `any_port`: another port will do if it is taken.

    `opened` gets the address as soon as the dock answers there. `setup`: the one that outlives this bot, if any.
    """
    wanted = settings().dock
    if not wanted.port:
        yield ""
        return
    port = usable_port(wanted.port) if any_port else wanted.port
    async with contextlib.AsyncExitStack() as stack:
        control = BotControl(bot, settings, status)
        if setup is None:
            setup = SetupService(settings, bot.db.path.parent)
            stack.push_async_callback(setup.login.aclose)
        stack.enter_context(setup.attached(bot, control))
        dock = open_dock(
            control=control,
            setup=setup,
            db=bot.db,
            settings=settings,
            clock=bot.clock,
            folder=bot.db.path.parent,
            port=port,
        )
        try:
            address = await stack.enter_async_context(dock)
        except (SettingsError, StoreError) as error:
            report(f"The dock did not start. {error}")
            address = ""
        else:
            report(f"The dock: {address}")
            opened(address)
        yield address


def usable_port(wanted: int) -> int:
    """This port, or a free one if it is taken."""
    with socket.socket() as probe:
        # a port that was just left is free; on Windows the option would also take one that somebody listens at
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except OSError:
            probe.bind((HOST, 0))
        return int(probe.getsockname()[1]) if wanted else 0
