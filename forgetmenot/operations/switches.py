"""The switches: pause, quiet, safe mode, and actions switched off after failures. They survive a restart."""

from collections.abc import Mapping

from msgspec import Struct

from forgetmenot.clock import MINUTE
from forgetmenot.languages import Language, in_language, read_reason
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, channel_state
from forgetmenot.store.database import Database

LONGEST_QUIET_MIN = 240
FAILING = "action_off:"  # before an action's name: why it was switched off
SWITCHED_ON = "action_on:"  # before an action's name: when it got another chance (ms)


class Switches(Struct, frozen=True):
    """State of the switches. `quiet_until` is a time in ms, 0 for none; `failing` gives the reason by action."""

    paused: bool
    quiet_until: int
    safe_mode: bool
    failing: dict[str, str]

    def silent(self, now: int) -> bool:
        """Whether the bot must not speak or act by itself."""
        return self.paused or self.quiet_until > now


def of(state: Mapping[str, str]) -> Switches:
    """The switches in the channel's state."""
    return Switches(
        paused=state.get("paused") == "1",
        quiet_until=int(state.get("quiet_until") or 0),
        safe_mode=state.get("safe_mode") == "1",
        failing={name.removeprefix(FAILING): why for name, why in state.items() if name.startswith(FAILING) and why},
    )


async def read(db: Database) -> Switches:
    """Read the switches."""
    return of(await channel_state.read_all(db))


async def pause(db: Database, now: int) -> None:
    """Stay silent until resumed."""
    await _put(db, {"paused": "1"}, now)


async def resume(db: Database, now: int) -> None:
    """Speak and act again, and give failed actions another chance."""
    failing = (await read(db)).failing
    again = {FAILING + one: "" for one in failing} | {SWITCHED_ON + one: str(now) for one in failing}
    await _put(db, {"paused": "", "quiet_until": "", "safe_mode": "", **again}, now)


def failing_sentence(state: Mapping[str, str], language: Language) -> str:
    """Sentences about actions that were switched off after failures; empty if none was."""
    failing = sorted(of(state).failing.items())
    return " ".join(
        language(
            "status.failing_why", name=language.value("action", name), why=language.reason(read_reason(why)).rstrip(".")
        )
        for name, why in failing
    )


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
    parts += [language("status.failing", name=language.value("action", name)) for name in sorted(switches.failing)]
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
