"""The bot's account on Twitch: two log-ins that are watched, and what its badges allow."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.account import TwitchAccount, open_account, watch_channel
from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import OutcomeKind, Video
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.secret_store import Account, TokenStore
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from tests.loopback_servers.fixtures import log_in
from tests.loopback_servers.twitch import TwitchSim


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
