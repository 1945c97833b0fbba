"""One viewer who types nothing but commands: they work, a few are answered, and everybody else is heard."""

from pathlib import Path

from forgetmenot.app.bot import BotIdentity, open_bot
from forgetmenot.chat import BURST
from forgetmenot.clock import ManualClock
from forgetmenot.memory.edits import VIEWER_TRUST
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import notes, personal_data
from tests.stage import RecordingAccount, said

SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS))


async def test_a_flood_of_commands_silences_nobody_and_every_right_still_works(
    tmp_path: Path, clock: ManualClock
) -> None:
    account, me = RecordingAccount(), BotIdentity("99", "forgetmenot")
    path = tmp_path / "m.sqlite3"
    async with open_bot(path, settings=lambda: SETTINGS, clock=clock, account=account, me=me) as bot:
        await bot.hear(said(clock, "e0", "id-alice", "alice", "hello"))
        await bot.settle()
        for number in range(1, 31):
            await bot.hear(
                said(
                    clock,
                    f"e{number}",
                    "id-alice",
                    "alice",
                    f"!remember I own {number} hats and {number + 40} left shoes",
                )
            )
        await bot.hear(said(clock, "e31", "id-alice", "alice", "!optout"))
        await bot.settle()
        assert 1 <= len(account.said) <= BURST
        assert "id-alice" in await personal_data.opted_out(bot.db)
        assert len(await notes.of_subject(bot.db, "id-alice")) <= (VIEWER_TRUST.most or 0)
        before = len(account.said)
        await bot.hear(said(clock, "e32", "id-carol", "carol", "!bot status", "moderator"))
        await bot.settle()
        assert len(account.said) == before + 1
