"""Twitch's events arrive through the real twitchio, each once, whatever the server does meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.schema import Settings, TwitchSettings
from forgetmenot.twitch import eventsub
from forgetmenot.twitch.eventsub import Redemption, StreamEvents, StreamReport
from forgetmenot.twitch.login import Login
from tests.loopback_servers.eventsub import (
    ALICE,
    NOW,
    ROOM,
    LoopbackEventSub,
    loopback_eventsub,
)
from tests.stage import until, working

pytestmark = pytest.mark.slow

TRAIN = {
    **ROOM, "id": "t1", "level": 4, "total": 100, "top_contributions": [], "started_at": NOW, "ended_at": NOW,
    "cooldown_ends_at": NOW, "is_shared_train": False, "type": "regular",
}  # fmt: skip
REDEEMED = {
    **ROOM, **ALICE, "id": "r1", "user_input": "which boss was that?", "status": "unfulfilled", "redeemed_at": NOW,
    "reward": {"id": "w1", "title": "Ask the bot", "cost": 100, "prompt": ""},
}  # fmt: skip


class Listener:
    """StreamEvents that run, and what they reported."""

    def __init__(
        self,
        server: LoopbackEventSub,
        folder: Path,
        scopes: tuple[str, ...],
        user_id: str,
    ) -> None:
        store = TokenStore(folder, use_keyring=False)
        clock = SystemClock()
        store.save(
            Account.BROADCASTER, Token("access", "refresh", user_id, "demo", scopes)
        )
        settings = Settings(
            twitch=TwitchSettings(channel="demo", client_id="app", server=server.url)
        )
        login = Login(
            account=Account.BROADCASTER,
            store=store,
            settings=lambda: settings,
            clock=clock,
        )
        self.server = server
        self.happened = list[StreamReport]()
        self.events = StreamEvents(
            login=login,
            settings=lambda: settings,
            clock=clock,
            room=self._room,
            happened=self._happened,
        )

    async def _room(self) -> str:
        return "100"

    async def _happened(self, report: StreamReport) -> None:
        self.happened.append(report)

    async def subscribed(self, *types: str) -> None:
        await until(lambda: set(types) <= self.server.types and self.events.subscribed)

    async def hears(self, kind: str, event: dict[str, Any]) -> StreamReport:
        """What is reported of an event, which is subscribed by then."""
        await self.subscribed(kind)
        await self.server.notify(kind, event)
        await until(lambda: self.happened)
        return self.happened.pop()

    async def hears_the_train(self) -> None:
        report = await self.hears("channel.hype_train.end", TRAIN)
        assert isinstance(report, ChatEvent)
        assert report.system_text == "Chat finished a level-4 hype train."


@asynccontextmanager
async def listening(
    folder: Path, *scopes: str, user_id: str = "100"
) -> AsyncIterator[Listener]:
    async with loopback_eventsub() as server:
        listener = Listener(server, folder, scopes, user_id)
        async with working(listener.events.run()):
            yield listener


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eventsub, "CHECK_EVERY_S", 0.2)
    monkeypatch.setattr(eventsub, "FIRST_PAUSE_S", 0.05)


async def test_a_follow_is_a_sentence(tmp_path: Path) -> None:
    async with listening(tmp_path, *eventsub.RIGHTS) as listener:
        followed = {**ROOM, **ALICE, "followed_at": NOW}
        event = await listener.hears("channel.follow", followed)
        assert isinstance(event, ChatEvent)
        assert event.system_text == "Alice followed the channel."


async def test_a_redemption_has_its_reward_and_is_kept_once(tmp_path: Path) -> None:
    kind = "channel.channel_points_custom_reward_redemption.add"
    async with listening(tmp_path, *eventsub.RIGHTS) as listener:
        first = await listener.hears(kind, REDEEMED)
        second = await listener.hears(kind, REDEEMED)
        assert isinstance(first, Redemption)
        assert isinstance(second, Redemption)
        assert first.reward == "Ask the bot"
        assert first.event.text == "which boss was that?"
        assert first.event.user_id == "1"
        assert first.event.kind is EventKind.REDEMPTION
        assert first.event.id == second.event.id


async def test_the_begin_of_a_stream_changes_the_channel(tmp_path: Path) -> None:
    online = {**ROOM, "id": "9", "type": "live", "started_at": NOW}
    async with listening(tmp_path, *eventsub.RIGHTS) as listener:
        began = await listener.hears("stream.online", online)
        assert isinstance(began, dict)
        assert (began["live"], began["stream_id"]) == (True, "9")


async def test_a_title_and_a_category_change_the_channel(tmp_path: Path) -> None:
    changed = {**TITLE, "title": "Boss  rush"}
    async with listening(tmp_path, *eventsub.RIGHTS) as listener:
        state = await listener.hears("channel.update", changed)
        assert state == {"title": "Boss rush", "category": "Hades"}


@pytest.mark.parametrize("fault", ["hang up", "move"])
async def test_a_lost_connection_is_made_again_and_subscribes_again(
    tmp_path: Path, fault: str
) -> None:
    async with listening(tmp_path, *eventsub.RIGHTS) as listener:
        await listener.subscribed("channel.hype_train.end")
        before = listener.server.connections
        await (
            listener.server.hang_up() if fault == "hang up" else listener.server.move()
        )
        await until(lambda: listener.server.connections > before)
        await listener.hears_the_train()


async def test_a_refused_a_revoked_and_an_odd_event_cost_nothing_else(
    tmp_path: Path,
) -> None:
    async with listening(tmp_path, *eventsub.RIGHTS) as listener:
        listener.server.refused = {"channel.poll.end"}
        await listener.subscribed("channel.hype_train.end")
        assert "poll_end" not in listener.events.subscribed
        await listener.server.notify("channel.hype_train.end", {**ROOM, "id": 7})
        await listener.hears_the_train()
        listener.server.refused = {"channel.poll.end", "channel.follow"}
        await listener.server.revoke("channel.follow")
        await until(lambda: "channel.follow" not in listener.server.types)
        await asyncio.sleep(0.5)
        await listener.hears_the_train()


@pytest.mark.slow
async def test_where_everything_is_refused_it_asks_ever_more_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eventsub, "FIRST_PAUSE_S", 0.1)
    async with listening(tmp_path) as listener:
        listener.server.refused = {"stream.online", "stream.offline", "channel.update"}
        await asyncio.sleep(1.5)
        assert 1 < listener.server.connections <= 4


LIVE = {**ROOM, "id": "9", "type": "live", "started_at": NOW}
TITLE = {
    **ROOM, "title": "Boss rush", "language": "en", "category_id": "1", "category_name": "Hades",
    "content_classification_labels": [],
}  # fmt: skip
OFF = {"live": False, "started_at": None, "stream_id": ""}


@pytest.mark.parametrize("event", [ROOM, {**ROOM, "id": "9"}], ids=["no id", "id"])
async def test_a_stream_ends_with_or_without_the_id_that_twitch_may_leave_out(
    tmp_path: Path, event: dict[str, Any]
) -> None:
    async with listening(tmp_path) as listener:
        assert await listener.hears("stream.offline", event) == OFF


async def test_the_bots_own_log_in_hears_the_state_of_a_channel_that_is_not_its_own(
    tmp_path: Path,
) -> None:
    """And asks for nothing that Twitch gives the channel's own account alone."""
    async with listening(tmp_path, *eventsub.RIGHTS, user_id="777") as listener:
        await listener.subscribed("stream.online", "stream.offline", "channel.update")
        assert listener.events.reports_state
        assert (
            not {"channel.poll.end", "channel.ad_break.begin"} & listener.server.types
        )
        began = await listener.hears("stream.online", LIVE)
        assert isinstance(began, dict)
        assert began["live"]


async def test_a_state_of_another_channel_or_of_before_the_last_is_left_out_and_an_old_one_only_asks(
    tmp_path: Path,
) -> None:
    async with listening(tmp_path) as listener:
        now = datetime.now(UTC)
        listener.server.now = lambda: now - timedelta(days=3)
        assert await listener.hears("stream.online", LIVE) == {}
        listener.server.now = lambda: now
        other = {**LIVE, "broadcaster_user_id": "200"}
        await listener.server.notify("stream.online", other)
        await listener.hears("stream.online", LIVE)
        listener.server.now = lambda: now - timedelta(seconds=30)
        await listener.server.notify("stream.offline", ROOM)
        assert await listener.hears("channel.update", TITLE) == {
            "title": "Boss rush",
            "category": "Hades",
        }
        assert listener.happened == []
