"""The one way to a prompt for a line: the prefix of the moment and what the store knows that fits, put together."""

from typing import NamedTuple

from forgetmenot.domain.model import Prompt
from forgetmenot.prompt.assemble import assemble
from forgetmenot.prompt.material import Prefix, TailMaterial
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import Trigger
from forgetmenot.settings.schema import Settings


class Composed(NamedTuple):
    """A prompt and what it was made of. `factor`: the calibration that sizes were estimated with."""

    prompt: Prompt
    prefix: Prefix
    material: TailMaterial
    factor: float


async def compose(
    keeper: PrefixKeeper, gatherer: Gatherer, trigger: Trigger, settings: Settings, *, nonce: str, bot_id: str
) -> Composed:
    """The prompt for one line under one snapshot of the settings. Reads only. Raises StoreError."""
    prefix = await keeper.current()
    told = [row for section in prefix.sections if section.name == "episodes" for row in section.rows]
    material = await gatherer.tail(trigger, settings, nonce=nonce, bot_id=bot_id, shown_episodes=told)
    return Composed(assemble(prefix, material, settings, keeper.factor), prefix, material, keeper.factor)
