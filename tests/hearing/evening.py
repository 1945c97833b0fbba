"""A channel for an evening: a streamer who speaks, Twitch's events, chat, OBS and a model, all of them on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from forgetmenot.app.account import TwitchAccount, open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.stream_input import StreamInput
from forgetmenot.clock import ManualClock, SystemClock
from forgetmenot.demo.twitch_server import ALL_SCOPES, stamp
from forgetmenot.durations import SECOND
from forgetmenot.logs import set_up
from forgetmenot.secret_store import Account, TokenStore, login_folder
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import (
    BotSettings,
    HearingSettings,
    Mode,
    ModelSettings,
    Provider,
    RewardSettings,
    Settings,
)
from forgetmenot.store import channel_state
from forgetmenot.twitch import eventsub
from forgetmenot.twitch.chat_lines import RoomState
from forgetmenot.twitch.connection import Gap
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.loopback_servers.eventsub import LoopbackEventSub
from tests.loopback_servers.fixtures import log_in, settings_for
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.twitch import TwitchSim
from tests.stage import working

BOT = "keeper"


def line(say: str) -> dict[str, object]:
    return {"action": None, "say": say, "if_refused": "", "notes": []}


class Twitch(TwitchSim):
    """With EventSub beside chat and Helix."""

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__("demo", now=now)
        self.events = LoopbackEventSub(
            now=lambda: datetime.fromtimestamp(now() / 1_000, UTC)
        )

    def add_login(self, router: web.UrlDispatcher) -> None:
        super().add_login(router)
        router.add_get("/eventsub", self.events.socket)
        router.add_post("/helix/eventsub/subscriptions", self.events.subscribe)

    async def happens(self, kind: str, login: str = "", **event: Any) -> None:  # noqa: ANN401  # Twitch's own shapes
        """One event; `now` among its values is the moment it happens at."""
        owner = self.world.owner
        now = stamp(self.now())
        room = {
            "broadcaster_user_id": owner.id,
            "broadcaster_user_login": "demo",
            "broadcaster_user_name": "Demo",
        }
        if login:
            user = self.world.user(login)
            room |= {
                "user_id": user.id,
                "user_login": user.login,
                "user_name": user.name,
            }
        await self.events.notify(
            kind,
            room
            | {key: now if value == "now" else value for key, value in event.items()},
        )


@dataclass
class Evening:
    """Everything that runs, and a clock that the test moves."""

    bot: Bot
    twitch: Twitch
    obs: LoopbackObs
    captions: Path
    stream: StreamInput
    clock: ManualClock
    account: TwitchAccount

    async def until_heard(self, mark: str) -> None:
        """Time passes until a line with this word was heard. A caption is whole when it has stood for two seconds."""
        async with asyncio.timeout(60):
            while self.stream.hearing is None or mark not in self.stream.hearing.last:
                await asyncio.sleep(0.05)
                await self.clock.advance(SECOND)
        await self.bot.ingest.flush()

    async def answered(self, count: int) -> str:
        """The newest of so many lines that the bot has sent."""
        await self.twitch.until(lambda: len(self.twitch.sent) >= count)
        return self.twitch.sent[-1].text

    async def passes(self, ms: int) -> None:
        """Time passes, with what is due then."""
        await self.twitch.settled()
        await self.bot.settle()
        await self.clock.advance(ms)
        await self.bot.tasks.catch_up()


@asynccontextmanager
async def evening(
    folder: Path, clock: ManualClock, model: SimOpenAI, *, streamer: bool = True
) -> AsyncIterator[Evening]:
    """`model`: a server that is not open yet. `streamer`: whether the streamer has logged in beside the bot."""
    captions = folder / "obs" / "captions.txt"
    folder_of_bot = folder / "bot"
    captions.parent.mkdir()
    captions.write_text("from yesterday\n", encoding="utf-8")
    folder_of_bot.mkdir()
    set_up(level="debug", folder=folder_of_bot, console=False)
    async with (
        model,
        Twitch(clock.now) as twitch,
        loopback_obs(LoopbackObs({"Captions": ""})) as there,
    ):
        path = folder_of_bot / "memory.sqlite3"
        store = TokenStore(login_folder(path), use_keyring=False)
        log_in(twitch, store, BOT)
        if streamer:
            rights = (*ALL_SCOPES, *eventsub.RIGHTS)
            log_in(twitch, store, "demo", *rights, account=Account.BROADCASTER)
        settings = LiveSettings(
            Settings(
                twitch=settings_for(twitch).twitch,
                bot=BotSettings(mode=Mode.MENTIONS, name=BOT, notice=""),
                model=ModelSettings(
                    provider=Provider.OPENAI_COMPATIBLE, base_url=model.url
                ),
                hearing=HearingSettings(
                    obs=there.url,
                    source="Captions",
                    captions=str(captions),
                    programs=True,
                ),
                rewards=RewardSettings(ask="Ask the bot"),
            )
        )
        async with (
            open_account(
                settings, login_folder(path), SystemClock(), use_keyring=False
            ) as account,
            open_bot(
                path,
                settings=settings,
                clock=clock,
                account=account.helix,
                me=await account.myself(),
            ) as bot,
        ):
            stream = StreamInput(bot, settings, login_folder(path))
            watch_channel(
                bot,
                account,
                reported=lambda: stream.reports_state,
                corrected=stream.corrected,
            )

            async def read() -> None:
                async for item in account.chat.events():
                    if isinstance(item, RoomState):
                        await channel_state.claim(
                            bot.db, item.room_id, "demo", clock.now()
                        )
                    if not isinstance(item, Gap):
                        await bot.hear(item)

            async with working(read(), *(work() for _, work in stream.tasks(account))):
                await twitch.joined()
                await bot.tasks.catch_up()
                await twitch.until(lambda: stream.reports_state and there.clients)
                yield Evening(bot, twitch, there, captions, stream, clock, account)
            await twitch.events.hang_up()


async def the_stream_begins(tonight: Evening) -> None:
    """OBS says so at once, an event brings title and category, and Helix knows it later."""
    await tonight.obs.stream(on=True)
    await tonight.twitch.happens(
        "channel.update",
        title="Boss rush",
        language="en",
        category_id="1",
        category_name="Hades",
        content_classification_labels=[],
    )
    state = {"live": "1", "title": "Boss rush", "category": "Hades"}
    await state_becomes(tonight.bot, state)
    tonight.twitch.go_live(title="Boss rush", game="Hades")


async def state_becomes(bot: Bot, state: dict[str, str]) -> None:
    async with asyncio.timeout(60):
        while not state.items() <= (await channel_state.read_all(bot.db)).items():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
