"""While Twitch shows nothing of what the bot writes, no model is asked, and the dock says why and what to do."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from forgetmenot.app.account import TwitchAccount, open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.doctor import BAD, OK
from forgetmenot.clock import ManualClock
from forgetmenot.dock.context import DockContext
from forgetmenot.dock.pages import now
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.ports import Check
from forgetmenot.secret_store import TokenStore
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.twitch.connection import Gap, Phase
from tests.loopback_servers.fixtures import log_in
from tests.loopback_servers.openai import Sent, SimOpenAI
from tests.loopback_servers.twitch import TwitchSim
from tests.stage import asking, working

Change = Callable[[TwitchSim], Awaitable[None]]


class TalkativeModel(SimOpenAI):
    """Has an answer to everything, each time another one."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        say = f"That is answer {len(self.seen)}."
        return json.dumps({"action": None, "say": say, "if_refused": "", "notes": []})


@dataclass
class Evening:
    """A bot in the loopback Twitch's chat, by a clock that the test moves."""

    sim: TwitchSim
    bot: Bot
    account: TwitchAccount
    model: SimOpenAI
    clock: ManualClock
    settings: LiveSettings
    lines: int = 0

    async def ask(self, login: str = "alice") -> tuple[int, int]:
        """Somebody asks; how often the model was asked for that, and how many messages were seen in chat."""
        self.lines += 1
        calls_before = len(self.model.seen)
        sent = len(self.sim.sent)
        await self.clock.advance(31 * SECOND)
        await self.sim.say(login, f"@keeper what is number {self.lines} of all this?")
        await self.settled()
        return len(self.model.seen) - calls_before, len(self.sim.sent) - sent

    async def type(self, text: str) -> int:
        """A moderator types a command; how many messages were seen in chat."""
        sent = len(self.sim.sent)
        await self.clock.advance(31 * SECOND)
        await self.sim.say("carol", text)
        await self.settled()
        return len(self.sim.sent) - sent

    async def settled(self) -> None:
        await self.sim.settled()
        await self.bot.settle()

    async def passes(self, ms: int) -> None:
        """Time passes, with what is due then, also between a question and its answer on the connection."""
        await self.clock.advance(ms)
        await self.bot.tasks.catch_up()
        await self.settled()

    async def until(self, condition: Callable[[], object]) -> None:
        """Seconds pass until it holds."""
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.01)
                await self.clock.advance(SECOND)
        await self.settled()

    def reads(self) -> bool:
        """Whether the bot is in chat, with whatever account."""
        return self.account.chat.state.phase is Phase.CONNECTED

    async def sending(self) -> Check:
        """The check "Sending", as the dock shows it."""
        control = BotControl(self.bot, self.settings, ConnectionStatus())
        checks = await control.checks(everything=False)
        return next(check for check in checks if check.name == "Sending")

    async def header(self) -> object:
        """What is wrong, in the dock's header."""
        control = BotControl(self.bot, self.settings, ConnectionStatus())
        context = DockContext(
            control, self.bot.db, self.settings, self.clock, "", lambda: None
        )
        return (await now.standing(context))["trouble"]


@asynccontextmanager
async def evening(
    folder: Path, sim: TwitchSim, clock: ManualClock
) -> AsyncIterator[Evening]:
    async with TalkativeModel() as model:
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
        live = LiveSettings(settings)
        log_in(sim, TokenStore(folder, use_keyring=False))
        sim.world.moderator("carol")
        async with (
            open_account(live, folder, clock, use_keyring=False) as account,
            open_bot(
                folder / "m.sqlite3",
                settings=live,
                clock=clock,
                account=account.helix,
                me=await account.myself(),
            ) as bot,
        ):
            watch_channel(bot, account)

            async def read() -> None:
                async for item in account.chat.events():
                    if not isinstance(item, Gap):
                        await bot.hear(item)

            async with working(read()):
                tonight = Evening(sim, bot, account, model, clock, live)
                await tonight.until(tonight.reads)
                yield tonight


@pytest.fixture
async def sim(clock: ManualClock) -> AsyncIterator[TwitchSim]:
    async with TwitchSim(now=clock.now) as running:
        yield running


@pytest.fixture
async def tonight(
    tmp_path: Path, sim: TwitchSim, clock: ManualClock
) -> AsyncIterator[Evening]:
    async with evening(tmp_path, sim, clock) as started:
        yield started


MUTES: dict[str, tuple[Change, Change]] = {
    "emote-only": (
        lambda sim: sim.chat_mode(emote_only=True),
        lambda sim: sim.chat_mode(emote_only=False),
    ),
    "subscribers only": (
        lambda sim: sim.chat_mode(subscribers_only=True),
        lambda sim: sim.chat_mode(subscribers_only=False),
    ),
}


@pytest.mark.parametrize(("name", "changes"), MUTES.items(), ids=MUTES)
async def test_in_a_mode_that_shuts_it_out_no_model_is_asked(
    tonight: Evening, name: str, changes: tuple[Change, Change]
) -> None:
    begins, ends = changes
    assert await tonight.ask() == (1, 1)
    assert (await tonight.sending()).state == OK
    await begins(tonight.sim)
    assert await tonight.ask() == (0, 0)
    check = await tonight.sending()
    assert check.state == BAD
    assert name in check.line
    assert "/mod keeper" in check.line
    assert await tonight.header() == check.line
    await ends(tonight.sim)
    assert await tonight.ask() == (1, 1)
    assert await tonight.header() == ""


async def test_the_reason_stands_beside_the_line_that_got_no_answer(
    tonight: Evening,
) -> None:
    await tonight.sim.chat_mode(emote_only=True)
    await tonight.ask()
    row = await tonight.bot.db.row("SELECT status, detail FROM bot_messages")
    assert row is not None
    assert row["status"] == "silent"
    assert "mute_emote_only" in row["detail"]


async def test_a_moderator_writes_in_every_mode(tonight: Evening) -> None:
    sim = tonight.sim
    sim.world.moderator("keeper")
    await sim.drop()
    await tonight.until(lambda: "moderator" in (tonight.account.chat.own_badges or ()))
    await sim.chat_mode(
        emote_only=True, subscribers_only=True, followers_only=True, slow_s=120
    )
    assert await tonight.ask() == (1, 1)
    assert await tonight.ask("bob") == (1, 1)


async def test_made_a_moderator_it_writes_again_by_itself(tonight: Evening) -> None:
    await tonight.sim.chat_mode(emote_only=True)
    assert await tonight.ask() == (0, 0)
    tonight.sim.world.moderator("keeper")
    await tonight.passes(30 * SECOND)
    await tonight.passes(SECOND)
    assert await tonight.ask() == (1, 1)
    assert (await tonight.sending()).state == OK


async def test_where_only_followers_write_one_answer_shows_whether_it_is_one(
    tonight: Evening,
) -> None:
    sim = tonight.sim
    await sim.chat_mode(followers_only=True)
    assert await tonight.ask() == (1, 0)
    assert await tonight.ask() == (0, 0)
    check = await tonight.sending()
    assert "let keeper follow you" in check.line
    sim.world.followers.add(sim.world.user("keeper").id)
    assert await tonight.type("!commands") == 1
    assert await tonight.ask() == (1, 1)


async def test_a_bot_that_follows_writes_where_only_followers_do(
    tonight: Evening,
) -> None:
    tonight.sim.world.followers.add(tonight.sim.world.user("keeper").id)
    await tonight.sim.chat_mode(followers_only=True)
    assert await tonight.ask() == (1, 1)
    assert await tonight.ask() == (1, 1)


async def test_slow_mode_is_waited_for_and_what_comes_too_late_is_not_paid_for(
    tonight: Evening,
) -> None:
    await tonight.sim.chat_mode(slow_s=120)
    assert await tonight.ask() == (1, 1)
    assert await tonight.ask("bob") == (0, 0), (
        "in 90 seconds nobody remembers the question"
    )
    check = await tonight.sending()
    assert "once in 120 s" in check.line
    await tonight.clock.advance(60 * SECOND)
    assert await tonight.ask("bob") == (1, 1)
    await tonight.sim.chat_mode(slow_s=3)
    assert (await tonight.sending()).state == OK


async def test_timed_out_it_is_silent_until_the_end(tonight: Evening) -> None:
    await tonight.sim.timeout("keeper", 600)
    assert await tonight.ask() == (0, 0)
    check = await tonight.sending()
    assert "another 10 min" in check.line
    assert "/untimeout keeper" in check.line
    await tonight.clock.advance(10 * MINUTE)
    assert await tonight.ask() == (1, 1)


async def test_a_commands_answer_shows_that_a_timeout_was_lifted(
    tonight: Evening,
) -> None:
    await tonight.sim.timeout("keeper", 600)
    assert await tonight.type("!commands") == 0
    assert await tonight.ask() == (0, 0)
    await tonight.sim.unban("keeper")
    assert await tonight.type("!commands") == 1
    assert await tonight.ask() == (1, 1)


async def test_timed_out_before_it_started_it_asks_the_model_twice_and_no_more(
    tonight: Evening,
) -> None:
    keeper = tonight.sim.world.user("keeper").id
    tonight.sim.world.timed_out[keeper] = tonight.clock.now() + 20 * MINUTE
    model_calls = [(await tonight.ask())[0] for _ in range(5)]
    assert model_calls == [1, 1, 0, 0, 0]
    assert "Twitch does not show what the bot writes" in (await tonight.sending()).line


async def test_words_that_twitch_refuses_do_not_silence_it_for_everybody(
    tonight: Evening,
) -> None:
    """Whoever has it say a blocked term could else mute it."""
    tonight.sim.drop_next(
        "msg_rejected_mandatory", "msg_duplicate", "channel_blocked_term"
    )
    # said before in unique-chat mode, and with signs that Twitch shows nobody
    tonight.sim.drop_next("msg_r9k", "msg_bad_characters")
    for login in ("alice", "bob", "dora", "carl", "fay"):
        assert await tonight.ask(login) == (1, 0)
    assert await tonight.ask("erin") == (1, 1)


async def test_an_account_that_twitch_blocks_is_no_matter_of_words(
    tonight: Evening,
) -> None:
    tonight.sim.drop_next("msg_channel_blocked", "msg_channel_blocked")
    assert [(await tonight.ask())[0] for _ in range(3)] == [1, 1, 0]


async def test_refused_for_unknown_reasons_it_tries_again_after_five_minutes(
    tonight: Evening,
) -> None:
    tonight.sim.drop_next("msg_new_rule", "msg_new_rule")
    model_calls = [(await tonight.ask())[0] for _ in range(3)]
    assert model_calls == [1, 1, 0]
    await tonight.clock.advance(5 * MINUTE)
    assert await tonight.ask() == (1, 1)


async def test_banned_it_reads_on_anonymously_and_comes_back_when_the_ban_is_lifted(
    tonight: Evening,
) -> None:
    sim = tonight.sim
    assert await tonight.ask() == (1, 1)
    await sim.ban("keeper")
    chat = tonight.account.chat
    await tonight.until(lambda: chat.is_banned and not tonight.reads())
    await tonight.until(tonight.reads)
    assert chat.state.login == ""
    assert await tonight.ask() == (0, 0)
    stored = await tonight.bot.db.value(
        "SELECT count(*) FROM events WHERE kind = 'message'"
    )
    assert stored == 3, "two questions and one answer: it reads on"
    check = await tonight.sending()
    assert "/unban keeper" in check.line
    assert await tonight.header() == check.line
    await tonight.passes(11 * MINUTE)
    await tonight.until(lambda: not tonight.reads())
    await tonight.until(tonight.reads)
    assert chat.is_banned, "it has looked again, and the ban stands"
    await sim.unban("keeper")
    await tonight.passes(11 * MINUTE)
    await tonight.until(lambda: chat.state.login == "keeper")
    assert not chat.is_banned
    assert await tonight.ask() == (1, 1)


async def test_a_bot_that_is_banned_from_the_start_reads_the_chat(
    tmp_path: Path, sim: TwitchSim, clock: ManualClock
) -> None:
    sim.world.banned.add(sim.world.user("keeper").id)
    async with evening(tmp_path, sim, clock) as tonight:
        assert await tonight.ask() == (0, 0)
        assert (
            await tonight.bot.db.value(
                "SELECT count(*) FROM events WHERE kind = 'message'"
            )
            == 1
        )
        assert "banned" in (await tonight.sending()).line
