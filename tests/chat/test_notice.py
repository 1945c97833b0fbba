"""Chat is told once per stream that the bot remembers."""

import pytest

from forgetmenot.actions import switches
from forgetmenot.chat import notice
from forgetmenot.clock import ManualClock
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import streams
from forgetmenot.store.database import Database

SPEAKING = Settings(bot=BotSettings(mode=Mode.MENTIONS, notice="I remember; !privacy"))


async def begin(db: Database, at: int) -> None:
    async with db.write() as tx:
        last = await streams.open_one(tx)
        if last is not None:
            await streams.end(tx, last["id"], at)
        await streams.begin(tx, at)


async def test_it_is_said_once_in_each_stream(db: Database, clock: ManualClock) -> None:
    assert await notice.take(db, SPEAKING, clock.now()) is None
    for _ in range(2):
        await begin(db, clock.now())
        assert await notice.take(db, SPEAKING, clock.now()) == "I remember; !privacy"
        assert await notice.take(db, SPEAKING, clock.now()) is None


@pytest.mark.parametrize(
    "bot", [BotSettings(), BotSettings(mode=Mode.LIVE, notice=" "), BotSettings(mode=Mode.SHADOW, notice="x")]
)
async def test_it_is_not_said_in_shadow_mode_or_where_it_is_empty(
    db: Database, clock: ManualClock, bot: BotSettings
) -> None:
    await begin(db, clock.now())
    assert await notice.take(db, Settings(bot=bot), clock.now()) is None


async def test_a_paused_bot_says_it_when_it_speaks_again(db: Database, clock: ManualClock) -> None:
    await begin(db, clock.now())
    await switches.pause(db, clock.now())
    assert await notice.take(db, SPEAKING, clock.now()) is None
    await switches.resume(db, clock.now())
    assert await notice.take(db, SPEAKING, clock.now()) is not None
