"""The prompt that somebody's line would give, for tests of what a memory shows."""

from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.model import Prompt
from forgetmenot.memory.recall import Recall
from forgetmenot.reply.context import ContextGatherer, PrefixKeeper, compose
from forgetmenot.reply.triggers import Trigger, TriggerKind
from tests.notes_world import World


async def prompt_for(world: World, viewer_id: str, login: str, text: str) -> Prompt:
    """What the model would see if this viewer said that now."""
    recall = Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)
    keeper = PrefixKeeper(db=world.db, recall=recall, settings=lambda: world.settings, clock=world.clock, model="x")
    event = ChatEvent("dry", EventKind.MESSAGE, viewer_id, login, login.title(), text, world.clock.now())
    gatherer = ContextGatherer(db=world.db, recall=recall, clock=world.clock)
    trigger = Trigger(TriggerKind.MENTION, event, text)
    return (await compose(keeper, gatherer, trigger, world.settings, bot_id="")).prompt


def section(prompt: Prompt, name: str) -> str:
    return "".join(one.text for one in prompt.sections if one.name == name)
