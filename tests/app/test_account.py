"""The bot's account on Twitch: two log-ins that are watched, and what its badges allow."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from forgetmenot.app.account import (
    CHANNEL_STATE_EVERY,
    WHERE_REPORTED,
    TwitchAccount,
    login_rights,
    open_account,
    watch_channel,
)
from forgetmenot.app.bot import Bot, BotIdentity
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, OutcomeKind, Role, Video
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import TwitchError
from forgetmenot.operations.actions import scopes_for
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import ActionSettings, ClassMode, GuardedMode, Settings
from forgetmenot.store import channel_state, streams
from forgetmenot.twitch import eventsub
from forgetmenot.twitch.chat_lines import RoomState
from tests.loopback_servers.fixtures import log_in, settings_for
from tests.loopback_servers.twitch import TwitchSim
from tests.stage import working

pytestmark = pytest.mark.slow


@pytest.fixture
async def account(
    tmp_path: Path, sim: TwitchSim, settings: Settings, clock: ManualClock
) -> AsyncIterator[TwitchAccount]:
    """The bot's log-in is there, the streamer's is not."""
    log_in(sim, TokenStore(tmp_path, use_keyring=False))
    async with open_account(
        lambda: settings, tmp_path, clock, use_keyring=False
    ) as opened:
        await opened.myself()
        yield opened


@pytest.mark.slow
async def test_a_missing_log_in_of_the_streamer_is_told_and_taken_up_without_a_restart(
    sim: TwitchSim, account: TwitchAccount, clock: ManualClock, tmp_path: Path
) -> None:
    sim.go_live()
    watching = asyncio.gather(account.login.keep_valid(), account.keep_streamer_valid())
    await sim.until(lambda: account.streamer.trouble)
    assert "forgetmenot login --as broadcaster" in account.streamer.trouble
    assert account.login.trouble == ""
    log_in(
        sim,
        TokenStore(tmp_path, use_keyring=False),
        "demo",
        account=Account.BROADCASTER,
    )
    assert (await account.helix.create_marker("here")).kind is OutcomeKind.DONE
    await clock.advance(MINUTE)
    await sim.until(lambda: not account.streamer.trouble)
    watching.cancel()


def test_how_much_it_may_write_is_found_from_its_badges(
    account: TwitchAccount, bot: Bot
) -> None:
    """From the moment that Twitch tells them, not from the next look at the channel."""
    watch_channel(bot, account)
    for badges, many in (
        ({"moderator"}, True),
        ({"broadcaster"}, True),
        ({"vip"}, False),
        ({"lead_moderator"}, True),
    ):
        account.chat.own_badges = frozenset(badges)
        assert bot.outbox.pace.moderates() is many
    account.chat.own_badges = None
    assert not bot.outbox.pace.moderates()


async def test_a_streams_video_is_found_by_the_time_at_which_both_begin(
    account: TwitchAccount, bot: Bot, sim: TwitchSim, clock: ManualClock
) -> None:
    began = clock.now() - HOUR
    async with bot.db.write() as tx:
        stream = await streams.begin(tx, began)
        other = await streams.begin(tx, began - DAY)
        unseen = await streams.begin(tx, began)
        for stream_id in (stream, other):
            await streams.describe(tx, stream_id, twitch_id="7", title="", category="")
    account.chat.joined.set()
    log_in(sim, account.login._store)
    sim.helix.videos = {2134: began + 30_000, 2133: began - DAY - HOUR}
    watch_channel(bot, account)
    await bot.tasks.do("videos")
    assert await streams.videos(bot.db, [stream, other, unseen]) == {
        stream: Video(2134, began + 30_000, began + 30_000 + 7 * DAY)
    }


# ── who has to log in, and with what ────────────────────────────────────────────────────────

NO_ACTIONS = ActionSettings(
    class_a=ClassMode.OFF, class_b=ClassMode.OFF, class_c=GuardedMode.OFF
)


@asynccontextmanager
async def logged_in(
    folder: Path, settings: Settings, clock: ManualClock
) -> AsyncIterator[TwitchAccount]:
    """The account with the log-ins that lie in a folder; whose they are is known if somebody is logged in."""
    async with open_account(
        lambda: settings, folder, clock, use_keyring=False
    ) as account:
        await account.myself()
        yield account


@pytest.mark.parametrize(
    ("bot", "bot_login", "channel", "actions", "is_needed"),
    [
        ("keeper", "keeper", "demo", ActionSettings(), True),
        ("keeper", "keeper", "demo", NO_ACTIONS, False),
        # the bot speaks as the streamer, whether the settings name its account or not
        ("demo", "demo", "Demo", ActionSettings(), False),
        ("demo", "", "#Demo", ActionSettings(), False),
    ],
)
async def test_the_streamer_logs_in_besides_the_bot_only_where_that_is_of_use(
    tmp_path: Path,
    sim: TwitchSim,
    clock: ManualClock,
    bot: str,
    bot_login: str,
    channel: str,
    actions: ActionSettings,
    is_needed: bool,  # of a table
) -> None:
    log_in(sim, TokenStore(tmp_path, use_keyring=False), bot)
    settings = replace(
        settings_for(sim, bot_login=bot_login, channel=channel), actions=actions
    )
    async with logged_in(tmp_path, settings, clock) as account:
        assert account.needs_streamer() is is_needed


async def test_what_was_never_set_up_is_a_hint_and_what_lapsed_is_broken(
    tmp_path: Path, sim: TwitchSim, settings: Settings, clock: ManualClock
) -> None:
    store = TokenStore(tmp_path, use_keyring=False)
    async with logged_in(tmp_path, settings, clock) as account:
        assert (account.broken, bool(account.hint)) == ("", True)
        assert "forgetmenot login" in account.login.trouble
        with pytest.raises(TwitchError):
            await account.streamer.validate()
        assert "forgetmenot login --as broadcaster" in account.streamer.trouble
        assert account.streamer.hint not in {"", account.login.hint}
    log_in(sim, store)
    log_in(sim, store, "demo", account=Account.BROADCASTER)
    async with logged_in(tmp_path, settings, clock) as account:
        await account.streamer.validate()
        assert (account.broken, account.hint) == ("", "")
        for token in sim.tokens.issued:
            token.expired = token.used = True
        for login in (account.login, account.streamer):
            with pytest.raises(TwitchError):
                await login.validate()
        assert account.login.trouble in account.broken
        assert account.streamer.trouble in account.broken
        assert account.hint == ""


async def test_only_whoever_has_the_channel_is_asked_for_its_events(
    sim: TwitchSim,
) -> None:
    events = set(eventsub.RIGHTS)
    settings = settings_for(sim, bot_login="keeper")
    for_bot = login_rights(Account.BOT, settings)
    assert for_bot == scopes_for(Account.BOT, settings)
    assert not events <= set(for_bot)
    for_streamer = login_rights(Account.BROADCASTER, settings)
    assert events < set(for_streamer)
    assert len(set(for_streamer)) == len(for_streamer), "each right once"
    # One account for both, or one that may be both.
    for bot_login in ("demo", ""):
        one_account = settings_for(sim, bot_login=bot_login)
        assert events < set(login_rights(Account.BOT, one_account))


# ── who the bot is, in chat ─────────────────────────────────────────────────────────────────


async def test_whose_a_log_in_is_is_asked_where_it_does_not_say(
    tmp_path: Path, sim: TwitchSim, settings: Settings, clock: ManualClock
) -> None:
    store = TokenStore(tmp_path, use_keyring=False)
    token = log_in(sim, store)
    store.save(Account.BOT, replaced_login(token))
    async with open_account(
        lambda: settings, tmp_path, clock, use_keyring=False
    ) as account:
        sim.faults.add("oauth", path="oauth2/validate", status=503)
        assert await account.myself() == BotIdentity()
        assert account.login.trouble
        assert await account.myself() == BotIdentity(token.user_id, "keeper")


def replaced_login(token: Token) -> Token:
    """The log-in as it is stored before Twitch has said whose it is."""
    return replace(token, user_id="", login="")


@asynccontextmanager
async def reading(account: TwitchAccount) -> AsyncIterator[None]:
    """The bot reads the chat."""

    async def read() -> None:
        async with contextlib.aclosing(account.chat.events()) as items:
            async for _item in items:
                pass

    async with working(read()):
        async with asyncio.timeout(60):
            await account.chat.joined.wait()
        yield


def nicks(sim: TwitchSim) -> list[str]:
    """The names of those who are in chat."""
    return [connection.nick for connection in sim.irc.connections]


async def test_a_bot_that_reads_without_a_log_in_signs_in_once_there_is_one(
    tmp_path: Path, sim: TwitchSim, settings: Settings, clock: ManualClock, bot: Bot
) -> None:
    store = TokenStore(tmp_path, use_keyring=False)
    async with logged_in(tmp_path, settings, clock) as account, reading(account):
        watch_channel(bot, account)
        await bot.tasks.do("account")
        assert account.chat.state.login == ""
        assert bot.me == BotIdentity()
        token = log_in(sim, store)
        await bot.tasks.do("account")
        assert bot.me == BotIdentity(token.user_id, "keeper")
        async with asyncio.timeout(60):
            while account.chat.state.login != "keeper":
                await asyncio.sleep(0.01)
                await clock.advance(SECOND)
        assert "keeper" in nicks(sim)
        # Once it is signed in, it stays on its connection.
        connections = list(sim.irc.connections)
        await bot.tasks.do("account")
        await sim.settled()
        assert list(sim.irc.connections) == connections


async def test_badges_are_looked_at_while_the_bot_may_not_write(
    account: TwitchAccount, bot: Bot, sim: TwitchSim
) -> None:
    async with reading(account):
        watch_channel(bot, account)
        assert bot.permission.role() is Role.VIEWER
        assert bot.permission.is_banned() is False
        sim.world.moderator("keeper")
        await bot.tasks.do("badges")
        await sim.settled()
        assert account.chat.own_badges == frozenset(), "nothing keeps it from writing"
        bot.permission.heard(RoomState(room_id=sim.world.room_id, emote_only=True))
        await bot.tasks.do("badges")
        await sim.settled()
        await sim.until(lambda: account.chat.own_badges == frozenset({"moderator"}))
        assert bot.permission.role() is Role.MODERATOR


# ── the state of the channel ────────────────────────────────────────────────────────────────


async def test_the_channel_is_looked_at_less_often_where_twitch_reports_it(
    account: TwitchAccount, bot: Bot, sim: TwitchSim
) -> None:
    account.chat.joined.set()
    sim.go_live(title="Ladders")
    is_reported = False
    seen: list[ChannelState] = []

    def corrected(state: ChannelState) -> ChannelState:
        seen.append(state)
        return replace(state, title="Ladders, part two")

    watch_channel(bot, account, reported=lambda: is_reported, corrected=corrected)
    [looking] = [task for task in bot.tasks.all if task.name == "channel"]
    await bot.tasks.do("channel")
    assert [(state.live, state.title) for state in seen] == [(True, "Ladders")]
    assert await channel_state.read(bot.db, "title") == "Ladders, part two"
    assert looking.every_ms == CHANNEL_STATE_EVERY
    is_reported = True
    await bot.tasks.do("channel")
    assert looking.every_ms == WHERE_REPORTED
    is_reported = False
    await bot.tasks.do("channel")
    assert looking.every_ms == CHANNEL_STATE_EVERY


async def test_without_a_log_in_nobody_is_asked_how_the_channel_is(
    tmp_path: Path, sim: TwitchSim, settings: Settings, clock: ManualClock, bot: Bot
) -> None:
    async with logged_in(tmp_path, settings, clock) as account:
        account.chat.joined.set()
        watch_channel(bot, account)
        for name in ("account", "channel", "videos"):
            await bot.tasks.do(name)
        assert [task.trouble for task in bot.tasks.all if task.trouble] == []
    assert sim.requests == []


async def test_who_the_bot_is_and_whether_the_stream_is_on_come_first(
    account: TwitchAccount, bot: Bot
) -> None:
    own_tasks = [task.name for task in bot.tasks.all]
    watch_channel(bot, account)
    names = [task.name for task in bot.tasks.all]
    assert names == ["account", "channel", *own_tasks, "badges", "videos"]
