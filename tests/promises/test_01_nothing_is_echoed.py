"""Promise 1, where a model's server refuses with what it was sent: the prompt's words reach no file."""

import json
from pathlib import Path

from aiohttp import web

from forgetmenot.app.bot import Myself, open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.logs import set_up
from forgetmenot.settings.schema import BotSettings, Mode, ModelSettings, Provider, Settings, TwitchSettings
from forgetmenot.sim.openai import Sent, SimOpenAI
from forgetmenot.store import channel_state
from tests.stage import FakeChat, FakeModeration

START = 1_800_000_000_000


class Account(FakeModeration, FakeChat):
    """A Twitch account that remembers what it was asked to say."""

    def __init__(self, clock: ManualClock) -> None:
        FakeModeration.__init__(self)
        FakeChat.__init__(self, clock)


async def echo(sent: Sent) -> web.StreamResponse:
    """Refuse, with the end of what was sent, wherever a server may put it."""
    said = json.dumps(sent["messages"])[-600:]
    return web.json_response({"error": {"message": said, "code": said, "type": said}}, status=400)


async def test_a_server_that_echoes_the_prompt_leaves_no_word_of_it_in_any_file(tmp_path: Path) -> None:
    set_up(level="debug", folder=tmp_path, console=False)
    clock = ManualClock(START)
    async with SimOpenAI() as sim:
        sim.fail(echo, times=1_000)
        settings = Settings(
            bot=BotSettings(mode=Mode.MENTIONS),
            twitch=TwitchSettings(channel="carol"),
            model=ModelSettings(
                provider=Provider.OPENAI_COMPATIBLE, base_url=sim.url, reply_model="m", memory_model="m"
            ),
        )
        path = tmp_path / "memory.sqlite3"
        account, me = Account(clock), Myself("99", "forgetmenot_bot")
        async with open_bot(path, "run", settings=lambda: settings, clock=clock, account=account, me=me) as bot:
            async with bot.db.write() as tx:
                await channel_state.put(tx, {"live": "1"}, clock.now())
            for number in range(30):
                await bot.hear(_line(clock, f"e{number}", f"my banana{number} sentence"))
            await bot.hear(_line(clock, "asked", "@forgetmenot_bot my other banana question"))
            await bot.settle()
            await bot.compactor.run_pass(everything=True)
            (detail,) = await bot.db.rows("SELECT status, detail FROM bot_messages WHERE event_id = 'asked'")
        assert len(sim.seen) >= 2, "both the reply and the summary were asked for"
    assert "refused the request (400)" in detail[1]
    for file in tmp_path.iterdir():
        if not file.name.startswith("memory.sqlite3"):  # raw chat has its day there
            assert b"banana" not in file.read_bytes(), file
    assert "banana" not in detail[1]


def _line(clock: ManualClock, event_id: str, text: str) -> ChatEvent:
    return ChatEvent(event_id, EventKind.MESSAGE, "222", "bob", "Bob", text, clock.now())
