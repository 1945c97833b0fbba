"""Events of Twitch as they should not come: late, twice, out of order, of another channel, and very many at once."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.app.stream_input import StreamInput
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, ChatEvent, EventKind
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.store import channel_state, events
from forgetmenot.twitch.chat_lines import OtherRoom, parse, understand
from forgetmenot.twitch.eventsub import Redemption
from tests.loopback_servers.openai import Sent, SimOpenAI
from tests.stage import RecordingAccount, asking, live_bot, said

REMEMBER = "Remember this"
ASK = "Ask the bot"


class EchoingModel(SimOpenAI):
    """Answers each question with the question."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        prompt = "\n".join(str(message["content"]) for message in sent["messages"])
        question = prompt.rpartition("<message>\n")[2].partition("\n")[0]
        say = f"You asked {question.rpartition('what is ')[2]}"
        return json.dumps({"action": None, "say": say, "if_refused": "", "notes": []})

    @property
    def prompt(self) -> str:
        """What it was shown last."""
        return "\n".join(
            str(message["content"]) for message in self.seen[-1]["messages"]
        )


class Evening:
    """A bot that runs, with what it hears of the stream."""

    def __init__(
        self,
        bot: Bot,
        account: RecordingAccount,
        clock: ManualClock,
        stream: StreamInput,
    ) -> None:
        self.bot = bot
        self.account = account
        self.clock = clock
        self.stream = stream

    def raid(self, event_id: str = "raid-1", ago: int = 0) -> ChatEvent:
        return ChatEvent(
            event_id,
            EventKind.RAID,
            "id-foxface",
            "foxface",
            "Foxface",
            "",
            self.clock.now() - ago,
            system_text="5000 raiders from Foxface have joined!",
        )

    def redemption(self, reward: str, typed: str) -> Redemption:
        event = ChatEvent(
            "redemption:r1",
            EventKind.REDEMPTION,
            "id-alice",
            "alice",
            "Alice",
            typed,
            self.clock.now(),
            system_text=f"Alice redeemed the reward “{reward}”.",
        )
        return Redemption(event, reward)

    async def chat(self, login: str, text: str) -> None:
        await self.bot.hear(
            said(
                self.clock, f"m-{login}-{self.clock.now()}", f"id-{login}", login, text
            )
        )

    async def count(self, kind: EventKind) -> int:
        await self.bot.settle()
        count = await self.bot.db.value(
            "SELECT count(*) FROM events WHERE kind = ?", (kind,)
        )
        return int(count)


@asynccontextmanager
async def evening(
    folder: Path, clock: ManualClock, model: SimOpenAI
) -> AsyncIterator[Evening]:
    """Opened twice over the same folder, it is the same bot after a restart."""
    settings = asking(
        model,
        bot={"mode": "mentions", "notice": ""},
        rewards={"ask": ASK, "remember": REMEMBER},
    )
    async with live_bot(folder / "m.sqlite3", clock, lambda: settings) as (
        bot,
        account,
    ):
        await channel_state.claim(bot.db, "id-carol", "carol", clock.now())
        state = ChannelState(
            live=True, title="Finals", category="Chess", started_at=clock.now()
        )
        await bot.channel_is(state)
        yield Evening(bot, account, clock, StreamInput(bot, lambda: settings, folder))


async def test_an_event_that_comes_again_also_after_a_restart_is_one(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with EchoingModel() as model:
        async with evening(tmp_path, clock, model) as tonight:
            raid = tonight.raid()
            for _ in range(2):
                await tonight.bot.hear(raid)
            assert await tonight.count(EventKind.RAID) == 1
        async with evening(tmp_path, clock, model) as tonight:
            await tonight.bot.hear(raid)
            assert await tonight.count(EventKind.RAID) == 1


@pytest.mark.parametrize("reward", [REMEMBER, ASK])
async def test_points_are_taken_once_also_after_a_restart(
    tmp_path: Path, clock: ManualClock, reward: str
) -> None:
    async with EchoingModel() as model:
        async with evening(tmp_path, clock, model) as tonight:
            redemption = tonight.redemption(reward, "I play the marimba")
            for _ in range(2):
                await tonight.stream.happened(redemption)
                await tonight.bot.settle()
            assert len(tonight.account.said) == 1
        await clock.advance(MINUTE)
        async with evening(tmp_path, clock, model) as tonight:
            await tonight.stream.happened(redemption)
            await tonight.bot.settle()
            assert tonight.account.said == []
            assert await tonight.count(EventKind.REDEMPTION) == 1


async def test_what_is_three_days_late_is_in_no_prompt_and_begins_no_stream(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with EchoingModel() as model, evening(tmp_path, clock, model) as tonight:
        await tonight.chat("alice", "hello")
        await tonight.bot.hear(tonight.raid(ago=3 * DAY))
        await clock.advance(11 * SECOND)
        await tonight.chat("alice", "@ForgetMeNot what is new?")
        await tonight.bot.settle()
        assert "Foxface" not in model.prompt
        assert await tonight.bot.db.value("SELECT count(*) FROM streams") == 1
        began = await tonight.bot.db.value("SELECT started_at FROM streams")
        assert began > clock.now() - MINUTE


async def test_events_out_of_order_stand_in_order(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with EchoingModel() as model, evening(tmp_path, clock, model) as tonight:
        await clock.advance(10 * MINUTE)
        for number, ago in ((1, MINUTE), (2, 5 * MINUTE), (3, 3 * MINUTE)):
            event = tonight.raid(f"raid-{number}", ago)
            await tonight.bot.hear(event)
        await tonight.chat("alice", "@ForgetMeNot what is new?")
        await tonight.bot.settle()
        rows = [line for line in model.prompt.splitlines() if "raiders from" in line]
        assert [row.partition(" ")[0] for row in rows] == ["5", "3", "1"]


def test_a_partners_raid_is_not_ours() -> None:
    """In a shared chat Twitch sends the partners' events too."""
    line = (
        "@id=1;login=foxface;msg-id=sharedchatnotice;source-msg-id=raid;room-id=7;source-room-id=8;"
        "user-id=5;system-msg=5000\\sraiders :tmi.twitch.tv USERNOTICE #demo"
    )
    assert isinstance(understand(parse(line), "demo"), OtherRoom)
    assert isinstance(
        understand(parse(line.replace("source-room-id=8;", "")), "den"), OtherRoom
    )


@pytest.mark.slow
async def test_a_raid_of_five_thousand_is_taken_in_and_still_seen(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with EchoingModel() as model, evening(tmp_path, clock, model) as tonight:
        await tonight.bot.hear(tonight.raid())
        started = time.perf_counter()
        for number in range(5_000):
            await clock.advance(5)
            await tonight.chat(f"fan{number}", "FOX RAID")
        await tonight.bot.settle()
        took = time.perf_counter() - started
        assert await tonight.count(EventKind.MESSAGE) == 5_000
        assert took < 60, "a minute of chat is taken in faster than it comes"
        await tonight.chat("alice", "@ForgetMeNot what is new?")
        await tonight.bot.settle()
        assert "just now: 5000 raiders from Foxface have joined!" in model.prompt
        assert "people: FOX RAID" in model.prompt
        assert len(tonight.account.said) == 1


async def test_ten_people_at_once_get_ten_answers(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with EchoingModel() as model, evening(tmp_path, clock, model) as tonight:
        names = [f"fan{number}" for number in range(10)]
        await asyncio.gather(
            *(tonight.chat(name, f"@ForgetMeNot what is {name}?") for name in names)
        )
        await tonight.bot.settle()
        assert sorted(tonight.account.said) == [f"You asked {name}?" for name in names]
        answered = await tonight.bot.db.pairs(
            "SELECT e.text, m.text FROM bot_messages m JOIN events e ON e.id = m.event_id"
        )
        assert answered == {
            f"@ForgetMeNot what is {name}?": f"You asked {name}?" for name in names
        }
        stored = await events.count_since(tonight.bot.db, clock.now() - MINUTE)
        assert stored >= 10
