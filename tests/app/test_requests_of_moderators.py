"""What a moderator asks for is done at Twitch after their yes, or it is said at once what is missing."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from forgetmenot.app.account import open_account
from forgetmenot.app.bot import open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.secret_store import Account, TokenStore
from forgetmenot.store import channel_state
from tests.loopback_servers.fixtures import log_in
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.twitch import TwitchSim
from tests.stage import asking, working

BAN = {"name": "ban", "target": "spammer", "reason": "spam"}


class Evening:
    """A bot in the loopback Twitch's chat, whose model proposes a ban to whatever is asked."""

    def __init__(self, sim: TwitchSim) -> None:
        self.sim = sim

    async def answer(self, login: str, text: str) -> str:
        """What the bot says to a line."""
        before = len(self.sim.sent)
        await self.sim.say(login, text)
        await self.sim.until(lambda: len(self.sim.sent) > before, 20)
        return self.sim.sent[-1].text


@asynccontextmanager
async def evening(
    folder: Path,
    sim: TwitchSim,
    *,
    streamer: bool = True,
    moderates: bool = True,
    scopes: tuple[str, ...] = (),
) -> AsyncIterator[Evening]:
    """`streamer`: whether the streamer has logged in; `scopes` of the bot's log-in, all if there are none."""
    clock = ManualClock(sim.now())
    async with SimOpenAI() as model:
        twitch = {
            "channel": "demo",
            "client_id": sim.client_id,
            "bot_login": "keeper",
            "server": sim.url,
        }
        settings = asking(
            model,
            twitch=twitch,
            bot={"mode": "mentions", "name": "keeper", "notice": ""},
        )
        proposal = {
            "action": BAN,
            "say": "Banned.",
            "if_refused": "No way.",
            "notes": [],
        }
        model.answers(*[json.dumps(proposal)] * 2)
        store = TokenStore(folder, use_keyring=False)
        log_in(sim, store, "keeper", *scopes)
        if streamer:
            log_in(sim, store, "demo", account=Account.BROADCASTER)
        if moderates:
            sim.world.moderator("keeper")
        sim.world.moderator("carol")
        async with (
            open_account(lambda: settings, folder, clock, use_keyring=False) as account,
            open_bot(
                folder / "m.sqlite3",
                settings=lambda: settings,
                clock=clock,
                account=account.helix,
                me=await account.myself(),
            ) as bot,
        ):

            async def read() -> None:
                async for item in account.chat.events():
                    await bot.hear(item)  # type: ignore[arg-type]  # there is no gap

            async with working(read()):
                await sim.joined()
                async with bot.db.write() as tx:
                    await channel_state.put(tx, {"live": "1"}, clock.now())
                await sim.say("spammer", "buy followers")
                await sim.settled()
                await bot.settle()
                yield Evening(sim)


async def test_a_moderators_ban_of_a_newcomer_waits_for_their_yes_and_is_done_at_twitch(
    tmp_path: Path, sim: TwitchSim
) -> None:
    spammer = sim.world.user("spammer").id
    async with evening(tmp_path, sim) as tonight:
        reply = await tonight.answer("carol", "@keeper please ban spammer")
        assert "!approve 1" in reply
        assert spammer not in sim.world.banned
        await tonight.answer("carol", "!approve 1")
        assert spammer in sim.world.banned


async def test_what_is_missing_is_said_before_a_yes_is_asked_for(
    tmp_path: Path, sim: TwitchSim
) -> None:
    async with evening(tmp_path, sim, streamer=False) as tonight:
        answer = await tonight.answer("carol", "@keeper please ban spammer")
        assert answer == (
            "I can't do that now. That needs the streamer's own log-in, which is made in the dock's set-up."
        )


async def test_a_bot_that_is_no_moderator_says_how_it_becomes_one(
    tmp_path: Path, sim: TwitchSim
) -> None:
    async with evening(tmp_path, sim, moderates=False) as tonight:
        answer = await tonight.answer("carol", "@keeper please ban spammer")
        assert answer == (
            "I can't do that now. I am not a moderator here. The streamer types /mod keeper in chat."
        )


async def test_a_log_in_without_the_right_says_which_and_a_viewer_hears_only_no(
    tmp_path: Path, sim: TwitchSim
) -> None:
    chat = ("chat:read", "user:read:chat", "user:write:chat")
    async with evening(tmp_path, sim, scopes=chat) as tonight:
        answer = await tonight.answer("carol", "@keeper please ban spammer")
        assert "moderator:manage:banned_users" in answer
        assert await tonight.answer("alice", "@keeper please ban spammer") == "No way."
