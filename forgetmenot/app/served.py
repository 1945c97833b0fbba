"""The dock beside a running bot. A dock that cannot be opened is told, and never keeps the bot from running."""

import contextlib
import socket
from collections.abc import AsyncIterator, Callable

from forgetmenot.app.bot import Bot
from forgetmenot.app.control import BotControl, Surroundings
from forgetmenot.dock.security import HOST, check_host
from forgetmenot.dock.server import open_dock
from forgetmenot.errors import SettingsError, StoreError
from forgetmenot.settings.live import LiveSettings


@contextlib.asynccontextmanager
async def served(
    bot: Bot,
    settings: LiveSettings,
    around: Surroundings,
    tell: Callable[[str], None],
    *,
    any_port: bool = False,
) -> AsyncIterator[str]:
    """Serve the dock meanwhile; its address, or an empty text. `any_port`: another port will do if it is taken."""
    wanted = settings().dock
    if not wanted.port:
        yield ""
        return
    check_host(wanted.host)
    port = wanted.port if not any_port or _is_free(wanted.port) else _free_port()
    async with contextlib.AsyncExitStack() as stack:
        dock = open_dock(
            control=BotControl(bot, settings, around),
            db=bot.db,
            settings=settings,
            clock=bot.clock,
            folder=bot.db.path.parent,
            port=port,
        )
        try:
            address = await stack.enter_async_context(dock)
        except (SettingsError, StoreError) as error:
            tell(f"No dock this time. {error}")
            address = ""
        else:
            tell(f"The dock: {address}")
        yield address


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
