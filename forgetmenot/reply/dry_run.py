"""What would be made of a message, without a word sent: the same line, the same trigger and the same prompt.

For the command line and the dock. Reads only; a stranger is somebody whom nobody has seen before.
"""

from collections.abc import Callable
from dataclasses import dataclass

from forgetmenot.clock import Clock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.model import Prompt
from forgetmenot.llm.build import reply_name
from forgetmenot.memory.recall import Recall
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply.compose import compose
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import (
    Conversations,
    Identity,
    Trigger,
    TriggerKind,
    identity_of,
    trigger_of,
    without_name,
)
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, viewers
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import provisional

EVENT_ID = "dry-run"


@dataclass(frozen=True, slots=True)
class DryRun:
    """What was made of a message."""

    trigger: Trigger
    material: TailMaterial
    prompt: Prompt


class Rehearsal:
    """Makes prompts. `identity`: who the bot is, else the account it was last signed in with."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
        keeper: PrefixKeeper | None = None,
        identity: Callable[[], Identity] | None = None,
    ) -> None:
        recall = Recall(db=db, settings=settings, clock=clock)
        model = reply_name(settings().model)
        self._db = db
        self._settings = settings
        self._clock = clock
        self._keeper = keeper or PrefixKeeper(db=db, recall=recall, settings=settings, clock=clock, model=model)
        self._gatherer = Gatherer(db=db, recall=recall, clock=clock)
        self._identity = identity

    async def of(self, viewer: str, message: str, nonce: str) -> DryRun:
        """What this viewer's message would give now. `viewer`: a login or a Twitch id."""
        settings = self._settings()
        identity = self._identity() if self._identity else await stored_identity(self._db, settings)
        trigger = asked(await self._event(viewer, message), identity, settings)
        made = await compose(self._keeper, self._gatherer, trigger, settings, nonce=nonce, bot_id=identity.user_id)
        return DryRun(trigger, made.material, made.prompt)

    async def _event(self, viewer: str, message: str) -> ChatEvent:
        name = viewer.strip().removeprefix("@")
        found = await viewers.find(self._db, name)
        known = (await viewers.get_many(self._db, [found])).get(found) if found else None
        login = name.casefold()
        who = (known.id, known.login, known.display_name) if known else (provisional(login), login, name)
        badges = frozenset({known.role.value}) if known else frozenset[str]()
        return ChatEvent(EVENT_ID, EventKind.MESSAGE, *who, message, self._clock.now(), badges=badges)


def asked(event: ChatEvent, identity: Identity, settings: Settings) -> Trigger:
    """The line's trigger; a line that asks nothing is taken for a mention."""
    trigger = trigger_of(event, identity, Conversations({}), settings, event.at)
    return trigger or Trigger(TriggerKind.MENTION, event, without_name(event.text, identity))


async def stored_identity(db: Database, settings: Settings) -> Identity:
    """The bot as it was last signed in."""
    state = await channel_state.read_all(db)
    return identity_of(settings, state.get("bot_id", ""), state.get("bot_login", ""))
