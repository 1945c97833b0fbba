"""One viewer who types nothing but commands: they work, a few are answered, and everybody else is heard."""

from pathlib import Path

from forgetmenot.app.bot import BotIdentity, open_bot
from forgetmenot.chat import BURST
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.memory.edits import VIEWER_TRUST
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import notes, personal_data
from tests.stage import RecordingAccount

SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS))


def line(number: int, clock: ManualClock, who: str, text: str, *badges: str) -> ChatEvent:
    return ChatEvent(
        f"e{number}", EventKind.MESSAGE, f"id-{who}", who, who, text, clock.now(), badges=frozenset(badges)
    )


async def test_a_flood_of_commands_silences_nobody_and_every_right_still_works(
    tmp_path: Path, clock: ManualClock
) -> None:
    account, me = RecordingAccount(), BotIdentity("99", "forgetmenot")
    path = tmp_path / "m.sqlite3"
    async with open_bot(path, settings=lambda: SETTINGS, clock=clock, account=account, me=me) as bot:
        await bot.hear(line(0, clock, "alice", "hello"))
        await bot.settle()
        for number in range(1, 31):
            await bot.hear(line(number, clock, "alice", f"!remember I own {number} hats and {number + 40} left shoes"))
        await bot.hear(line(31, clock, "alice", "!optout"))
        await bot.settle()
        assert 1 <= len(account.said) <= BURST
        assert "id-alice" in await personal_data.opted_out(bot.db)
        assert len(await notes.of_subject(bot.db, "id-alice")) <= (VIEWER_TRUST.most or 0)
        said = len(account.said)
        await bot.hear(line(32, clock, "carol", "!bot status", "moderator"))
        await bot.settle()
        assert len(account.said) == said + 1
