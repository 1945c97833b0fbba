"""The handlers of the switches (pause, quiet and safe mode, which survive a restart), and the status in one line."""

from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from forgetmenot.domain import OperationResult
from forgetmenot.durations import MINUTE
from forgetmenot.languages import Language, in_language
from forgetmenot.operations.entries import DOCK, MODERATORS, number_parameter
from forgetmenot.operations.types import Operation, Request
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, channel_state
from forgetmenot.store.database import Database

# Minutes. Who wants more pauses the bot.
LONGEST_QUIET_MIN = 240
USUAL_QUIET_MIN = 10


class Switches(Struct, frozen=True):
    """State of the switches. `quiet_until` is a time in ms, 0 for none."""

    paused: bool
    quiet_until: int
    safe_mode: bool

    def silent(self, now: int) -> bool:
        """Return whether the bot must not speak or act by itself."""
        return self.paused or self.quiet_until > now


def switches_of(state: Mapping[str, str]) -> Switches:
    """Return the switches in the channel's state."""
    return Switches(
        paused=state.get("paused") == "1",
        quiet_until=int(state.get("quiet_until") or 0),
        safe_mode=state.get("safe_mode") == "1",
    )


async def read_switches(db: Database) -> Switches:
    """Read the switches."""
    return switches_of(await channel_state.read_all(db))


async def quiet(request: Request) -> OperationResult:
    """Stay silent for some minutes."""
    minutes = request.number("minutes") or USUAL_QUIET_MIN
    minutes = max(1, min(minutes, LONGEST_QUIET_MIN))
    quiet_until = request.now + minutes * MINUTE
    return await switch(request, quiet_until=str(quiet_until))


async def switch(request: Request, **values: str) -> OperationResult:
    """Set switches to these values; the answer is the status then."""
    # In the memory and not in the process: after a crash a paused bot stays paused.
    async with request.db.write() as tx:
        await channel_state.put(tx, values, request.now)
    return await status(request)


async def status(request: Request) -> OperationResult:
    """Return the bot's status in one line."""
    line = await status_line(request.db, request.settings, request.now)
    return OperationResult(ok=True, code="status", data={"status": line})


async def status_line(
    db: Database,
    settings: Settings,
    now: int,
) -> str:
    """Return the status in one line."""
    state = await channel_state.read_all(db)
    language = in_language(settings.bot.language)
    switches = switches_of(state)
    # A pause outlasts a quiet, so it is the one that is named.
    if switches.paused:
        parts = [language("status.paused")]
    elif switches.quiet_until > now:
        # a minute that has begun counts
        minutes = -(-(switches.quiet_until - now) // MINUTE)
        parts = [language("status.quiet", n=minutes)]
    else:
        mode = language(f"page.mode.{settings.bot.mode}.title")
        parts = [language("status.on", mode=mode)]
    if switches.safe_mode or settings.actions.safe_mode:
        parts.append(language("status.safe"))
    waiting = await action_logs.waiting(db, now)
    if waiting:
        parts.append(language("status.waiting", n=len(waiting)))
    gaps = gaps_sentence(state, now, language)
    if gaps:
        parts.append(gaps)
    return language("status.line", name=settings.bot.name, parts=", ".join(parts))


def gaps_sentence(
    state: Mapping[str, str],
    now: int,
    language: Language,
) -> str:
    """Return how often chat was not heard since the start, and when last; empty if it was always heard.

    The sentence has no full stop: it is a part of the status.

    `state`: the channel's state (`gaps`, `gap_from`, `gap_to`; times in ms).
    """
    count = int(state.get("gaps") or 0)
    if not count:
        return ""
    began_at = int(state.get("gap_from") or 0)
    ended_at = int(state.get("gap_to") or 0)
    length = language.duration(ended_at - began_at)
    ago = language.duration(now - ended_at, "ago")
    return language("status.gaps", n=count, length=length, ago=ago)


OPERATIONS = (
    Operation(
        "pause",
        MODERATORS | DOCK,
        partial(switch, paused="1"),
        chat=("!bot pause",),
        examples=("!bot pause",),
    ),
    # It ends whatever keeps the bot still, so that nobody has to know which switch it was.
    Operation(
        "resume",
        MODERATORS | DOCK,
        partial(switch, paused="", quiet_until="", safe_mode=""),
        chat=("!bot resume",),
        examples=("!bot resume",),
    ),
    Operation(
        "quiet",
        MODERATORS | DOCK,
        quiet,
        params=(number_parameter("minutes", optional=True),),
        chat=("!bot quiet [minutes]",),
        examples=("!bot quiet 20",),
    ),
    Operation(
        "safe",
        MODERATORS | DOCK,
        partial(switch, safe_mode="1"),
        chat=("!bot safe",),
        examples=("!bot safe",),
    ),
    # a pause beside it goes on
    Operation("unsafe", DOCK, partial(switch, safe_mode="")),
    Operation(
        "status",
        MODERATORS,
        status,
        chat=("!bot status",),
        examples=("!bot status",),
    ),
)
