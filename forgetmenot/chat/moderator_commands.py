"""What moderators and the broadcaster may type: `!approve 3`, `!deny 3`, `!undo`, `!bot …`, `!why`.

Promises: recognised by the badges of the very message, never for the bot itself or another bot (whose lines can be
put into its mouth); works without a model; gives the line to say, and None for what is no such command. From anybody
else a command is None too: it is nobody's business to learn that it exists.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from forgetmenot.actions import switches
from forgetmenot.actions.approvals import Answer, Approvals
from forgetmenot.actions.lines import described
from forgetmenot.clock import Clock
from forgetmenot.domain.chat import ChatEvent, Role
from forgetmenot.memory.exclusion import is_bot
from forgetmenot.memory.roles import role_of
from forgetmenot.reply.trail import explain, one_line
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, channel_state, viewers
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import Status
from forgetmenot.store.database import Database

_COMMAND = re.compile(
    r"\s*!(approve|deny|undo|why|bot)(?:\s+#?([a-z0-9]{1,12}))?(?:\s+([0-9]{1,4})\s*(?:m|min)?)?\s*", re.IGNORECASE
)
HELP = "I know !bot pause · resume · quiet 10 · safe · status"


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it was typed. `word` is `!bot`'s own; `number` an id or minutes."""

    name: str
    word: str = ""
    number: int | None = None


def command_of(text: str) -> Command | None:
    """The command that a whole line is; None for everything else. Never raises."""
    found = _COMMAND.fullmatch(text.strip()) if text.isascii() else None
    if found is None:
        return None
    name, second, third = found[1].lower(), (found[2] or "").lower(), found[3]
    if name == "bot":
        return Command("bot", second, int(third) if third else None)
    if third is not None or (second and not second.isdigit()):
        return None
    return Command(name, number=int(second) if second else None)


class ModeratorCommands:
    """Carries them out."""

    def __init__(
        self,
        *,
        db: Database,
        approvals: Approvals,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._approvals = approvals
        self._settings = settings
        self._clock = clock
        self._read_back: set[int] = set()

    async def handle(self, event: ChatEvent) -> str | None:
        """The line to say, or None: not a command, or not from somebody who may."""
        command = command_of(event.text)
        if command is None or not await self._may(event):
            return None
        answers = {"approve": self._approve, "deny": self._deny, "undo": self._undo, "why": self._why, "bot": self._bot}
        return await answers[command.name](command, event.user_id)

    async def _may(self, event: ChatEvent) -> bool:
        if role_of(event.badges) not in {Role.BROADCASTER, Role.MODERATOR}:
            return False
        own = event.user_id == await channel_state.read(self._db, "bot_id")
        return not own and not is_bot(self._settings().memory, event.login, event.user_id, event.badges)

    async def _approve(self, command: Command, by: str) -> str:
        """Yes; without a number only to the one thing that waits, if it was shown what it is."""
        waiting = await self._approvals.waiting()
        if command.number is None and len(waiting) == 1 and not await self._was_shown(waiting[0]):
            self._read_back.add(waiting[0].id)
            [shown] = await self._described(waiting)
            return f"Waiting: {shown}. !approve {waiting[0].id} does it."
        return (await self._one(command, by, self._approvals.approve)).line

    async def _was_shown(self, row: LoggedAction) -> bool:
        """Whether chat could read what waits: it was read back, or the line that asked for it was sent."""
        if row.id in self._read_back:
            return True
        said = await bot_messages.get(self._db, row.bot_message_id) if row.bot_message_id else None
        return said is not None and said.status is Status.SENT and f"!approve {row.id})" in said.text

    async def _described(self, rows: list[LoggedAction]) -> list[str]:
        names = await viewers.names(self._db, [row.target_id for row in rows if row.target_id])
        return [f"#{row.id} {described(row.name, row.params, names.get(row.target_id or '', ''))}" for row in rows]

    async def _deny(self, command: Command, by: str) -> str:
        return (await self._one(command, by, self._approvals.deny)).line

    async def _one(self, command: Command, by: str, do: Callable[[int, str], Awaitable[Answer]]) -> Answer:
        """Without a number it is the one thing that waits."""
        if command.number is not None:
            return await do(command.number, by)
        waiting = await self._approvals.waiting()
        if len(waiting) == 1:
            return await do(waiting[0].id, by)
        names = ", ".join(await self._described(waiting[:5]))
        return Answer(ok=False, line=f"Which one? {names}" if waiting else "Nothing is waiting.")

    async def _undo(self, command: Command, by: str) -> str:
        return (await self._approvals.undo(by, command.number)).line

    async def _why(self, command: Command, _by: str) -> str:
        one = await (bot_messages.get(self._db, command.number) if command.number else bot_messages.latest(self._db))
        if one is None:
            return f"I know of no reply #{command.number}." if command.number else "I haven't said anything yet."
        return one_line(await explain(self._db, one.id))

    async def _bot(self, command: Command, _by: str) -> str:
        now = self._clock.now()
        if command.word == "pause":
            await switches.pause(self._db, now)
            return "Paused. !bot resume brings me back."
        if command.word == "resume":
            await switches.resume(self._db, now)
        elif command.word == "quiet":
            return await self._quiet(command.number or 10, now)
        elif command.word == "safe":
            await switches.safe(self._db, now, on=True)
            return "Safe mode: I talk, and do nothing. !bot resume ends it."
        elif command.word not in {"", "status"}:
            return HELP
        return await switches.status_line(self._db, self._settings(), now)

    async def _quiet(self, minutes: int, now: int) -> str:
        minutes = max(1, min(minutes, switches.LONGEST_QUIET_MIN))
        await switches.quiet(self._db, minutes, now)
        return f"Quiet for {minutes} min."
