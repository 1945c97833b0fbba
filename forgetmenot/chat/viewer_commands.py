"""What viewers may always type, whatever the mode, with the model down: their memory, and their rights over it.

`!memory` · `!forgetme` · `!optout` · `!optin` · `!privacy` · `!remember …` · `!forget …` · `!wrong #id`, and the same
said to the bot (`@bot remember that …`, `@bot forget that …`, `@bot what do you know about me`). Promises that viewers
see and change what is theirs, and only moderators and the streamer what is somebody else's. Gives the line to say, an
empty one for nothing, and None for what is no such wish. The line of somebody who opted out leaves nothing behind.
"""

from collections.abc import Awaitable, Callable

from forgetmenot.chat.memory_commands import NOT_YOURS, MemoryCommands
from forgetmenot.chat.rights_desk import RightsDesk
from forgetmenot.chat.whom import NotTheirs, Unknown, whom
from forgetmenot.clock import Clock
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.memory.erasure import Eraser
from forgetmenot.reply.triggers import Conversations, Identity, is_ignored, trigger_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database
from forgetmenot.text.wishes import Kind, Wish, wish_of


class ViewerCommands:
    """Recognises wishes and has them carried out. `flush` makes lines that were just heard readable."""

    def __init__(
        self,
        *,
        db: Database,
        eraser: Eraser,
        settings: Callable[[], Settings],
        clock: Clock,
        identity: Callable[[], Identity],
        flush: Callable[[], Awaitable[object]],
    ) -> None:
        self._db = db
        self._settings = settings
        self._identity = identity
        self._flush = flush
        self.rights = RightsDesk(db=db, eraser=eraser, settings=settings, clock=clock)
        self._memory = MemoryCommands(db=db, settings=settings, clock=clock)

    async def idle(self) -> None:
        """Wait until every erasure that was asked for is done."""
        await self.rights.idle()

    async def handle(self, event: ChatEvent) -> str | None:
        """The line to say, or None: no such wish. Raises StoreError."""
        identity, settings = self._identity(), self._settings()
        trigger = trigger_of(event, identity, Conversations({}), settings, event.at)
        wish = wish_of(event.text, trigger.question if trigger is not None and trigger.direct else None)
        if wish is None or is_ignored(event, identity, settings):
            return None
        await self._flush()
        try:
            return await self._carry_out(wish, event)
        except NotTheirs:
            return None if wish.spoken or wish.kind is Kind.WRONG else NOT_YOURS
        except Unknown as unknown:
            return None if wish.spoken else f"I don't know anybody called {unknown}."

    async def _carry_out(self, wish: Wish, event: ChatEvent) -> str:
        told = {
            Kind.REMEMBER: self._memory.remember,
            Kind.REMEMBER_THIS: self._memory.remember_this,
            Kind.FORGET: self._memory.forget,
            Kind.WRONG: self._memory.wrong,
        }
        if wish.kind in told:
            return await told[wish.kind](wish, event)
        if wish.kind is Kind.PRIVACY:
            return self.rights.privacy()
        about = await whom(self._db, event, wish.who)
        if wish.kind is Kind.FORGET_ME:
            return await self.rights.forget_me(about, confirmed=wish.confirmed, typed=wish.who)
        return await {
            Kind.MEMORY: self.rights.memory,
            Kind.OPT_OUT: self.rights.opt_out,
            Kind.OPT_IN: self.rights.opt_in,
        }[wish.kind](about)
