"""The handlers of the switches: pause, quiet and safe mode, which survive a restart; and the status in one line."""

from collections.abc import Mapping

from msgspec import Struct

from forgetmenot.domain import OperationResult
from forgetmenot.durations import MINUTE
from forgetmenot.languages import Language, in_language
from forgetmenot.operations.types import (
    Handler,
    OperationContext,
    Request,
)
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, channel_state
from forgetmenot.store.database import Database

LONGEST_QUIET_MIN = 240


class Switches(Struct, frozen=True):
    """State of the switches. `quiet_until` is a time in ms, 0 for none."""

    paused: bool
    quiet_until: int
    safe_mode: bool

    def silent(self, now: int) -> bool:
        """Whether the bot must not speak or act by itself."""
        return self.paused or self.quiet_until > now


def switches_of(state: Mapping[str, str]) -> Switches:
    """The switches in the channel's state."""
    return Switches(
        state.get("paused") == "1",
        int(state.get("quiet_until") or 0),
        state.get("safe_mode") == "1",
    )


async def read_switches(db: Database) -> Switches:
    """Read the switches."""
    return switches_of(await channel_state.read_all(db))


def switched(**values: str) -> Handler:
    """The handler that sets switches to these values; the answer is how things stand then."""

    async def turn(context: OperationContext, _request: Request) -> OperationResult:
        return await _switch(context, values)

    return turn


async def quiet(context: OperationContext, request: Request) -> OperationResult:
    """Stay silent for some minutes."""
    minutes = max(1, min(request.number("minutes") or 10, LONGEST_QUIET_MIN))
    return await _switch(context, {"quiet_until": str(context.clock.now() + minutes * MINUTE)})


async def _switch(context: OperationContext, values: Mapping[str, str]) -> OperationResult:
    async with context.db.write() as tx:
        await channel_state.put(tx, values, context.clock.now())
    return await status(context)


async def status(context: OperationContext, _request: Request | None = None) -> OperationResult:
    """The bot's status in one line."""
    line = await status_line(context.db, context.settings(), context.clock.now())
    return OperationResult(ok=True, code="status", data={"status": line})


async def status_line(db: Database, settings: Settings, now: int) -> str:
    """The status in one line."""
    state, language = await channel_state.read_all(db), in_language(settings.bot.language)
    switches, gaps = switches_of(state), gaps_sentence(state, now, language)
    if switches.paused:
        parts = [language("status.paused")]
    elif switches.quiet_until > now:
        parts = [language("status.quiet", n=-(-(switches.quiet_until - now) // MINUTE))]
    else:
        parts = [language("status.on", mode=language(f"page.mode.{settings.bot.mode}.title"))]
    if switches.safe_mode or settings.actions.safe_mode:
        parts.append(language("status.safe"))
    if waiting := len(await action_logs.waiting(db, now)):
        parts.append(language("status.waiting", n=waiting))
    parts += [gaps] if gaps else []
    return language("status.line", name=settings.bot.name, parts=", ".join(parts))


def gaps_sentence(state: Mapping[str, str], now: int, language: Language) -> str:
    """How often chat was not heard since the start, and the last time, without a full stop; empty if it always was.

    `state`: the channel's state (`gaps`, `gap_from`, `gap_to`; times in ms).
    """
    count = int(state.get("gaps") or 0)
    if not count:
        return ""
    began, ended = int(state.get("gap_from") or 0), int(state.get("gap_to") or 0)
    length, ago = language.duration(ended - began), language.duration(now - ended, "ago")
    return language("status.gaps", n=count, length=length, ago=ago)
