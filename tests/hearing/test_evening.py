"""An evening: a streamer who speaks, Twitch's events, chat, and a capable model, all of them servers on loopback."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from forgetmenot.app.account import open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.stream_input import StreamInput
from forgetmenot.clock import ManualClock, SystemClock
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.hearing import service, sources
from forgetmenot.logs import set_up
from forgetmenot.memory import backups
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
from forgetmenot.sim.twitch import ALL_SCOPES, stamp
from forgetmenot.store import channel_state
from forgetmenot.twitch import eventsub
from forgetmenot.twitch.chat_lines import RoomState
from forgetmenot.twitch.connection import Gap
from tests.hearing.obs_server import LoopbackObs, loopback_obs
from tests.loopback_servers.eventsub import LoopbackEventSub
from tests.loopback_servers.fixtures import log_in, settings_for
from tests.loopback_servers.openai import Sent, SimOpenAI
from tests.loopback_servers.twitch import TwitchSim
from tests.stage import working

BOT = "keeper"
MARKS = ("quizzleworth", "snorblefax", "brindlewump", "vexatron", "zitherbloom")
"""Words that are only spoken, one in each way that a spoken line comes: in no file a day later."""
PATCH = "so chat the patch brings back the grappling hook and mister quizzleworth"
MOVES = "movie night moves to Saturday says snorblefax"


def line(say: str) -> dict[str, object]:
    return {"action": None, "say": say, "if_refused": "", "notes": []}


HYPE = "Chat finished a level-4 hype train."
PLAYED: tuple[tuple[str, tuple[str, ...], dict[str, object]], ...] = (
    ("Summarise this chat", (f"P1 (spoken): {MOVES}", f"* {HYPE}"), {
        "summary": "P1 announced that movie night moves to Saturday. A level-4 hype train came before it."
    }),
    ("long-term memory", ("moves to Saturday",), {
        "notes": [{"who": "channel", "said_by": "P1", "fact": "movie night is on Saturdays", "lifetime": "permanent"}]
    }),
    ("write its recap", ("level-4 hype train",), {
        "summary": "Chat finished a level-4 hype train, and movie night moved to Saturday."
    }),
    ("say", ("which boss is next?",), line("The lighthouse keeper is next.")),
    ("say", ("<spoken>", PATCH), line("He said that it brings the grappling hook back.")),
)  # fmt: skip
"""What a capable model is asked for, what it must have been shown, and what it answers."""


class PlayedModel(SimOpenAI):
    """Answers by the script, so each answer shows that its line was in the prompt."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        asked = "\n".join(str(message["content"]) for message in sent["messages"])
        fitting = (
            answer
            for task, shown, answer in PLAYED
            if task in asked and all(one in asked for one in shown)
        )
        return json.dumps(next(fitting, {"summary": "Chat talked.", "notes": [], "say": ""}))


class Twitch(TwitchSim):
    """With EventSub beside chat and Helix."""

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__("demo", now=now)
        self.events = LoopbackEventSub(now=lambda: datetime.fromtimestamp(now() / 1_000, UTC))

    def add_login(self, router: web.UrlDispatcher) -> None:
        super().add_login(router)
        router.add_get("/eventsub", self.events.socket)
        router.add_post("/helix/eventsub/subscriptions", self.events.subscribe)

    async def happens(self, kind: str, who: str = "", **event: Any) -> None:  # noqa: ANN401  # Twitch's own shapes
        """One event; `now` among its values is the moment it happens at."""
        owner, now = self.world.owner, stamp(self.now())
        room = {
            "broadcaster_user_id": owner.id,
            "broadcaster_user_login": "demo",
            "broadcaster_user_name": "Demo",
        }
        if who:
            user = self.world.user(who)
            room |= {"user_id": user.id, "user_login": user.login, "user_name": user.name}
        await self.events.notify(
            kind, room | {key: now if value == "now" else value for key, value in event.items()}
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

    async def said(self, mark: str) -> None:
        """Time passes until a line with this word was heard. A caption is whole when it has stood for two seconds."""
        async with asyncio.timeout(20):
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
    folder: Path, clock: ManualClock, *, streamer: bool = True
) -> AsyncIterator[Evening]:
    """`streamer`: whether the streamer has logged in beside the bot."""
    captions, here = folder / "obs" / "captions.txt", folder / "bot"
    captions.parent.mkdir()
    captions.write_text("from yesterday\n", encoding="utf-8")
    here.mkdir()
    set_up(level="debug", folder=here, console=False)
    async with (
        PlayedModel() as model,
        Twitch(clock.now) as twitch,
        loopback_obs(LoopbackObs({"Captions": ""})) as there,
    ):
        path = here / "memory.sqlite3"
        store = TokenStore(login_folder(path), use_keyring=False)
        log_in(twitch, store, BOT)
        if streamer:
            rights = (*ALL_SCOPES, *eventsub.RIGHTS)
            log_in(twitch, store, "demo", *rights, account=Account.BROADCASTER)
        settings = LiveSettings(
            Settings(
                twitch=settings_for(twitch).twitch,
                bot=BotSettings(mode=Mode.MENTIONS, name=BOT, notice=""),
                model=ModelSettings(provider=Provider.OPENAI_COMPATIBLE, base_url=model.url),
                hearing=HearingSettings(
                    obs=there.url, source="Captions", captions=str(captions), programs=True
                ),
                rewards=RewardSettings(ask="Ask the bot"),
            )
        )
        async with (
            open_account(settings, login_folder(path), SystemClock(), use_keyring=False) as account,
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
                        await channel_state.claim(bot.db, item.room_id, "demo", clock.now())
                    if not isinstance(item, Gap):
                        await bot.hear(item)

            async with working(read(), *(work() for _, work in stream.tasks(account))):
                await twitch.joined()
                await bot.tasks.catch_up()
                await twitch.until(lambda: stream.reports_state and there.clients)
                yield Evening(bot, twitch, there, captions, stream, clock)
            await twitch.events.hang_up()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(sources, "ASK_EVERY_S", 0.02)


async def test_an_evening_is_heard_answered_remembered_and_gone_a_day_later(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with evening(tmp_path, clock) as tonight:
        bot, twitch, db = tonight.bot, tonight.twitch, tonight.bot.db
        await the_stream_begins(tonight)
        for end in (2, 5, 9, None):  # a caption in OBS, which grows
            await tonight.obs.write("Captions", " ".join(PATCH.split()[:end]))
            await asyncio.sleep(0.05)
        await tonight.said(MARKS[0])
        await tonight.clock.advance(MINUTE)
        await twitch.say("alice", f"@{BOT} what did he say about the patch?")
        assert await tonight.answered(1) == "He said that it brings the grappling hook back."

        await captions_come_in_every_way(tonight)
        await twitch.happens(
            "channel.hype_train.end", id="t1", level=4, total=100, top_contributions=[], started_at="now",
            ended_at="now", cooldown_ends_at="now", is_shared_train=False, type="regular",
        )  # fmt: skip
        await twitch.happens(
            "channel.channel_points_custom_reward_redemption.add", "alice", id="r1", status="unfulfilled",
            user_input="which boss is next?", redeemed_at="now",
            reward={"id": "w", "title": "Ask the bot", "cost": 9, "prompt": ""},
        )  # fmt: skip
        assert await tonight.answered(2) == "The lighthouse keeper is next."

        await bot.ingest.flush()
        await backups.make(db, at=clock.now(), keep=3)
        held = holding(tmp_path / "bot")
        assert set(held) == set(MARKS)
        assert {file.name for files in held.values() for file in files} <= {
            "memory.sqlite3",
            "memory.sqlite3-wal",
        }

        for number in range(30):
            await tonight.clock.advance(5 * SECOND)
            await twitch.say(f"viewer{number % 4}", f"to the boss, part {number}")
        await tonight.passes(30 * MINUTE)
        assert await db.value("SELECT fact FROM semantic_notes") == "movie night is on Saturdays"
        twitch.go_offline()
        await twitch.happens("stream.offline")
        for _ in range(5):
            await tonight.passes(10 * MINUTE)
        assert "level-4 hype train" in str(await db.value("SELECT recap FROM streams"))

        await tonight.passes(DAY - HOUR)
        await tonight.passes(HOUR + MINUTE)
        assert holding(tmp_path / "bot") == {}


async def the_stream_begins(tonight: Evening) -> None:
    """OBS says so at once, an event brings title and category, and Helix knows it later."""
    await tonight.obs.stream(on=True)
    await tonight.twitch.happens(
        "channel.update", title="Boss rush", language="en", category_id="1", category_name="Hades",
        content_classification_labels=[],
    )  # fmt: skip
    wanted = {"live": "1", "title": "Boss rush", "category": "Hades"}
    await _state_becomes(tonight.bot, wanted)
    tonight.twitch.go_live(title="Boss rush", game="Hades")


async def captions_come_in_every_way(tonight: Evening) -> None:
    """A file that is overwritten, appended to, and one of subtitles; and a line from a program."""
    file = tonight.captions
    file.write_text("movie night moves", encoding="utf-8")
    await asyncio.sleep(0.05)
    file.write_text(MOVES, encoding="utf-8")
    await tonight.said(MARKS[1])
    with file.open("a", encoding="utf-8") as end:
        end.write("\nbring popcorn brindlewump\n")
    await tonight.said(MARKS[2])
    file.write_text("1\n00:00:01,000 --> 00:00:02,000\n<i>thanks</i>\n", encoding="utf-8")
    await asyncio.sleep(0.05)
    with file.open("a", encoding="utf-8") as end:
        end.write("\n2\n00:00:03,000 --> 00:00:04,000\nto vexatron for the raid\n\n")
    await tonight.said(MARKS[3])
    assert tonight.stream.sent("a zitherbloom for everybody")
    await tonight.said(MARKS[4])


def holding(folder: Path) -> dict[str, list[Path]]:
    """Which of the spoken words stand in which files."""
    data = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    places = {
        mark: [file for file, held in data.items() if mark.encode() in held] for mark in MARKS
    }
    return {mark: files for mark, files in places.items() if files}


async def test_with_the_bots_account_alone_a_stream_begins_and_ends_at_once(
    tmp_path: Path, clock: ManualClock
) -> None:
    """Twitch's API, which is asked at once, knows it later, and does not take it back."""
    async with evening(tmp_path, clock, streamer=False) as tonight:
        bot = tonight.bot
        twitch = tonight.twitch
        began = clock.now()
        twitch.world.title = "Boss rush"
        await twitch.happens("stream.online", id="41", type="live", started_at="now")
        await _state_becomes(bot, {"live": "1", "title": "Boss rush"})
        await twitch.say("alice", "first!")
        await tonight.passes(2 * MINUTE)
        assert await channel_state.read(bot.db, "live") == "1"
        assert await bot.db.value("SELECT stream_id FROM events WHERE text = 'first!'") == 1
        twitch.go_live(at=began)
        await tonight.passes(10 * MINUTE)
        ended = clock.now()
        await twitch.happens("stream.offline")
        await _state_becomes(bot, {"live": "0"})
        await tonight.passes(2 * MINUTE)
        assert await channel_state.read(bot.db, "live") == "0", "though the API says that it is on"
        twitch.go_offline()
        await tonight.passes(10 * MINUTE)
        assert await bot.db.column("SELECT ended_at FROM streams") == [ended]


async def _state_becomes(bot: Bot, wanted: dict[str, str]) -> None:
    async with asyncio.timeout(20):
        while not wanted.items() <= (await channel_state.read_all(bot.db)).items():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
