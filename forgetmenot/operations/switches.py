"""The switches: pause, quiet and safe mode. They survive a restart."""

from collections.abc import Mapping

from msgspec import Struct

from forgetmenot.clock import MINUTE
from forgetmenot.languages import Language, in_language
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


def of(state: Mapping[str, str]) -> Switches:
    """The switches in the channel's state."""
    return Switches(
        paused=state.get("paused") == "1",
        quiet_until=int(state.get("quiet_until") or 0),
        safe_mode=state.get("safe_mode") == "1",
    )


async def read(db: Database) -> Switches:
    """Read the switches."""
    return of(await channel_state.read_all(db))


async def pause(db: Database, now: int) -> None:
    """Stay silent until resumed."""
    await _put(db, {"paused": "1"}, now)


async def resume(db: Database, now: int) -> None:
    """Speak and act again."""
    await _put(db, {"paused": "", "quiet_until": "", "safe_mode": ""}, now)


async def quiet(db: Database, minutes: int, now: int) -> None:
    """Stay silent for this many minutes."""
    await _put(db, {"quiet_until": str(now + minutes * MINUTE)}, now)


async def safe(db: Database, now: int, *, on: bool) -> None:
    """Switch safe mode: the bot talks and does nothing else."""
    await _put(db, {"safe_mode": "1" if on else ""}, now)


async def status_line(db: Database, settings: Settings, now: int) -> str:
    """The status in one line."""
    state, language = await channel_state.read_all(db), in_language(settings.bot.language)
    switches, gaps = of(state), gaps_sentence(state, now, language)
    waiting = len(await action_logs.waiting(db, now))
    parts = [_how(switches, settings, now, language)]
    if switches.safe_mode or settings.actions.safe_mode:
        parts.append(language("status.safe"))
    if waiting:
        parts.append(language("status.waiting", n=waiting))
    parts += [gaps] if gaps else []
    return language("status.line", name=settings.bot.name, parts=", ".join(parts))


def _how(switches: Switches, settings: Settings, now: int, language: Language) -> str:
    if switches.paused:
        return language("status.paused")
    if switches.quiet_until > now:
        return language("status.quiet", n=-(-(switches.quiet_until - now) // MINUTE))
    return language(f"status.{settings.bot.mode}")


async def _put(db: Database, values: dict[str, str], now: int) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, values, now)


# Gaps: the stretches in which chat was not heard.


def gaps_sentence(state: Mapping[str, str], now: int, language: Language) -> str:
    """The number of gaps since the start and the last one, without a full stop; empty if there was none.

    `state`: the channel's state (`gaps`, `gap_from`, `gap_to`; times in ms).
    """
    count = int(state.get("gaps") or 0)
    if not count:
        return ""
    began, ended = int(state.get("gap_from") or 0), int(state.get("gap_to") or 0)
    length, ago = language.span(ended - began), language.span(now - ended, "ago")
    return language("status.gaps", n=count, length=length, ago=ago)
