"""The running bot as seen by the dock: implements ports.Control over a Bot and its settings.

The asker of a dock request is the channel's account.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from forgetmenot.app import previews
from forgetmenot.app.bot import Bot
from forgetmenot.app.previews import try_out
from forgetmenot.domain.operation import OperationResult, Surface
from forgetmenot.memory.erasure import Progress
from forgetmenot.operations import catalogue
from forgetmenot.operations.run import owner, run
from forgetmenot.ports import BotState, TaskState
from forgetmenot.prompt.instructions import check_floor
from forgetmenot.reply.reply_object import offered
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.connection import ConnectionState


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """State outside the Bot: its chat connection and problems with its log-in."""

    command: str
    connection: Callable[[], ConnectionState | None] = lambda: None
    login_trouble: Callable[[], str] = lambda: ""
    login_hint: Callable[[], str] = lambda: ""


class BotControl:
    """A ports.Control."""

    def __init__(self, bot: Bot, settings: LiveSettings, around: ConnectionStatus) -> None:
        self._bot = bot
        self._settings = settings
        self._around = around
        self._context = replace(bot.operations, change_setting=self._change_setting)

    def state(self) -> BotState:
        """The bot's state now."""
        bot, connection = self._bot, self._around.connection()
        return BotState(
            command=self._around.command,
            login=bot.me.login,
            phase=connection.phase.value if connection else "none",
            phase_since=connection.since if connection else 0,
            phase_trouble=connection.error if connection else "",
            login_trouble=self._around.login_trouble(),
            reply_model=bot.models.reply.name,
            memory_model=bot.models.memory.name,
            model_trouble=bot.models.trouble or "",
            memory_trouble=bot.memory_trouble,
            queued=bot.outbox.waiting,
            thinking=bot.engine.busy,
            tasks=tuple(TaskState(one.name, one.trouble, one.due_at) for one in bot.tasks.all),
            recall_ms=tuple(bot.recall.took_ms),
            settings_file=str(self._settings.path or ""),
            login_hint=self._around.login_hint(),
            saving=bot.spending.line,
        )

    async def why(self, reply_id: int) -> Mapping[str, object]:
        """The explanation of one reply."""
        return await previews.why(self._bot.db, reply_id, self._settings())

    async def chain(self, note_id: int) -> Mapping[str, object]:
        """The origin and the uses of one note."""
        return await previews.chain(self._bot.db, note_id)

    async def preview(self, login: str, text: str) -> Mapping[str, object]:
        """The reply to a message, without sending or doing anything."""
        return await try_out(self._bot, login, text)

    async def run(self, name: str, params: Mapping[str, object], progress: Progress) -> OperationResult:
        """Run an operation as the streamer."""
        bot = self._bot
        channel = self._settings().twitch.channel
        asker = await owner(bot.db, Surface.DOCK, channel, bot.clock.now())
        return await run(self._context, name, params, asker, progress)

    async def _change_setting(self, table: str, key: str, value: object) -> str:
        await asyncio.to_thread(self._settings.change, table, key, value, check_settings)
        path = self._settings.path
        return f"written to {path}" if path else "for this run: the bot was started without a settings file"


def check_settings(settings: Settings) -> None:
    """Refuse what the schema allows and the bot cannot work with. Raises SettingsError."""
    catalogue.refuse_unknown(settings.actions, "The new value")
    check_floor(settings, settings.twitch.channel, offered(settings.actions, settings.bridge.effects))
