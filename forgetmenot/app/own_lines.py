"""What the bot says is overheard by its memory: context for summaries, evidence of nothing."""

from forgetmenot.clock import Clock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.memory.ingest import Ingest
from forgetmenot.ports import ChatOut


class Overheard:
    """A ports.ChatOut around another one, which tells the memory what went out."""

    def __init__(self, out: ChatOut, ingest: Ingest, clock: Clock) -> None:
        self._out = out
        self._ingest = ingest
        self._clock = clock

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Send it, and note it if it went out."""
        outcome = await self._out.say(text, reply_to)
        if outcome.kind is OutcomeKind.DONE and outcome.twitch_id:
            self._ingest.note_own_line(text, event_id=outcome.twitch_id, at=self._clock.now())
        return outcome
