"""The switches that people turn while a stream runs: pause, quiet, safe mode; and actions that failed too often.

They outlive a restart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forgetmenot.clock import MINUTE
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, channel_state
from forgetmenot.store.database import Database
from forgetmenot.text.gaps import gaps_told

LONGEST_QUIET_MIN = 240
FAILING = "action_off:"  # before an action's name: why it was switched off
SWITCHED_ON = "action_on:"  # before an action's name: when it got another chance (ms)


@dataclass(frozen=True, slots=True)
class Switches:
    """How they stand. `quiet_until` is a time in ms, 0 for none; `failing` says what failed, by action."""

    paused: bool
    quiet_until: int
    safe_mode: bool
    failing: dict[str, str]

    def silent(self, now: int) -> bool:
        """Whether the bot is to say and do nothing by itself."""
        return self.paused or self.quiet_until > now


def of(state: Mapping[str, str]) -> Switches:
    """How they stand in what is kept of the channel."""
    return Switches(
        paused=state.get("paused") == "1",
        quiet_until=int(state.get("quiet_until") or 0),
        safe_mode=state.get("safe_mode") == "1",
        failing={name.removeprefix(FAILING): why for name, why in state.items() if name.startswith(FAILING) and why},
    )


async def read(db: Database) -> Switches:
    """How the switches stand."""
    return of(await channel_state.read_all(db))


async def pause(db: Database, now: int) -> None:
    """Be silent until somebody says resume."""
    await _put(db, {"paused": "1"}, now)


async def resume(db: Database, now: int) -> None:
    """Speak and act again, and give what failed too often another chance."""
    await _put(db, {"paused": "", "quiet_until": "", "safe_mode": ""}, now)
    await switch_on(db, "", now)


async def switch_on(db: Database, name: str, now: int) -> list[str]:
    """Give actions that were switched off after failures another chance; their names. No name: all of them."""
    chosen = [one for one in (await read(db)).failing if name in {"", one}]
    await _put(db, {FAILING + one: "" for one in chosen} | {SWITCHED_ON + one: str(now) for one in chosen}, now)
    return chosen


def failing_told(state: Mapping[str, str]) -> str:
    """What was switched off after failures, and why, in sentences; an empty text if nothing was."""
    return " ".join(
        f"{name} is switched off after three failures ({why.rstrip('.')})."
        for name, why in sorted(of(state).failing.items())
    )


async def quiet(db: Database, minutes: int, now: int) -> None:
    """Be silent for so many minutes."""
    await _put(db, {"quiet_until": str(now + minutes * MINUTE)}, now)


async def safe(db: Database, now: int, *, on: bool) -> None:
    """Safe mode: it talks, and does nothing."""
    await _put(db, {"safe_mode": "1" if on else ""}, now)


async def status_line(db: Database, settings: Settings, now: int) -> str:
    """How it is, in one line."""
    state = await channel_state.read_all(db)
    switches, gaps = of(state), gaps_told(state, now)
    waiting = len(await action_logs.waiting(db, now))
    parts = [_how(switches, settings, now)]
    if switches.safe_mode or settings.actions.safe_mode:
        parts.append("safe mode is on")
    if waiting:
        parts.append(f"{waiting} waiting for approval")
    parts += [
        f"{name} is switched off after three failures (!bot resume tries it again)" for name in sorted(switches.failing)
    ]
    parts += [gaps] if gaps else []
    return f"{settings.bot.name}: {', '.join(parts)}."


def _how(switches: Switches, settings: Settings, now: int) -> str:
    if switches.paused:
        return "paused"
    if switches.quiet_until > now:
        return f"quiet for {-(-(switches.quiet_until - now) // MINUTE)} more min"
    return f"on ({settings.bot.mode})"


async def _put(db: Database, values: dict[str, str], now: int) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, values, now)
