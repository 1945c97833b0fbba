"""Plays a script's cues on the loopback Twitch, one after the other, and waits until the bot has dealt with each.

The clock is moved to each cue's time; `pace_s` is how long a person gets to read it. Messages have ids that follow from
the script, so that a demo which was killed and started again says nothing twice.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.demo.script import Cue
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.sim.world import Said

SPOKEN = frozenset({"say", "me", "cheer"})
Tell = Callable[[Cue], Awaitable[None]]


@dataclass(slots=True)
class Player:
    """One showing. `tell` is called after each cue; what lies before `resume_at` (ms) was played before."""

    sim: TwitchSim
    bot: Bot
    clock: ManualClock
    tell: Tell
    pace_s: float = 0.0
    resume_at: int = 0

    async def play(self, cues: list[Cue], began: int) -> None:
        """Play a stream's cues; `began`: when the stream began, in ms."""
        last: dict[str, str] = {}
        for number, cue in enumerate(cues):
            self.sim.world.reseed(f"{began}:{number}")
            if began + cue.at < self.resume_at:
                self._recall(cue, began + cue.at, last)
                continue
            await self.clock.move_to(began + cue.at)
            await self._say(cue, last)
            await self.caught_up()
            await self.tell(cue)
            await asyncio.sleep(self.pace_s)

    async def caught_up(self) -> None:
        """Wait until the bot has read what was sent, has answered it, and has done what is due."""
        pongs = [(connection, connection.pongs) for connection in self.sim.irc.connections]
        await self.sim.ping()
        await self.sim.until(lambda: all(connection.pongs > before for connection, before in pongs), 10)
        await self.bot.settle()
        await self.bot.chores.catch_up()
        await self.bot.settle()

    def _recall(self, cue: Cue, at: int, last: dict[str, str]) -> None:
        """It was said before the demo was interrupted; under the same id, it can still be answered or deleted."""
        if cue.verb in SPOKEN:
            world = self.sim.world
            said = Said(world.new_id(), world.user(cue.name), cue.text, at)
            world.messages[said.id] = said
            last[cue.name] = said.id

    async def _say(self, cue: Cue, last: dict[str, str]) -> None:
        sim, name = self.sim, cue.name
        if cue.verb in SPOKEN:
            words = f"Cheer{cue.number} {cue.text}" if cue.verb == "cheer" else cue.text
            answers = last.get(cue.other, "")
            last[name] = await sim.say(name, words, me=cue.verb == "me", reply_to=answers, bits=cue.number)
        elif cue.verb in {"delete", "again"}:
            await (sim.clear_message if cue.verb == "delete" else sim.repeat)(last[name])
        else:
            await self._happen(cue)

    async def _happen(self, cue: Cue) -> None:
        sim, name = self.sim, cue.name
        match cue.verb:
            case "shared":
                await sim.shared(name, cue.text)
            case "timeout":
                await sim.timeout(name, cue.number)
            case "sub":
                await sim.sub(name, cue.number)
            case "gift":
                await sim.gift(name, cue.number)
            case "raid":
                await sim.raid(name, cue.number)
            case "announce":
                await sim.announcement(name, cue.text)
