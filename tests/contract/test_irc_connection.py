"""The real connection against a loopback Twitch: what it says, survives and tells; and the whole way out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from forgetmenot.clock import SystemClock
from forgetmenot.domain import ChatEvent, Redaction
from forgetmenot.errors import TwitchRefused
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch import connection as room
from forgetmenot.twitch.chat_lines import ChatItem, OtherRoom, RoomState
from forgetmenot.twitch.connection import Gap, IrcConnection, Phase
from tests.contract.conftest import Computer
from tests.loopback_servers.fixtures import settings_for
from tests.loopback_servers.twitch import TwitchSim


class HastyClock(SystemClock):
    """The machine's clock, whose pauses are only written down."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[int] = []

    async def sleep(self, ms: int) -> None:
        self.pauses.append(ms)
        await asyncio.sleep(0)


class Listener:
    """A connection that runs in a task, and all that it heard."""

    def __init__(self, settings: Settings, login: Any) -> None:  # noqa: ANN401  # what the connection takes
        self.clock = HastyClock()
        self.heard = list[ChatItem | Gap]()
        self.source = IrcConnection(
            settings=lambda: settings, clock=self.clock, login=login, random=Random(1)
        )
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with aclosing(self.source.events()) as events:
            async for item in events:
                self.heard.append(item)

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.heard if isinstance(item, ChatEvent)]

    @property
    def gaps(self) -> list[Gap]:
        return [item for item in self.heard if isinstance(item, Gap)]


@asynccontextmanager
async def listening(
    sim: TwitchSim, login: object = None, *, channel: str = "demo"
) -> AsyncIterator[Listener]:
    """Somebody listens."""
    listener = Listener(settings_for(sim, channel=channel), login)
    try:
        yield listener
    finally:
        listener.task.cancel()
        await asyncio.gather(listener.task, return_exceptions=True)


async def test_it_listens_without_an_account_and_hears_everything_in_order(
    sim: TwitchSim,
) -> None:
    async with listening(sim) as listener:
        await sim.joined()
        first = await sim.say("alice", "hello")
        await sim.raw(
            "@id=n1;user-id=5;room-id=1;source-room-id=987654321 :bob!bob@x PRIVMSG #demo :from next door"
        )
        await sim.clear_message(first)
        await sim.until(
            lambda: any(isinstance(item, Redaction) for item in listener.heard)
        )
        connection = sim.irc.connections[0]
        assert connection.caps == {"twitch.tv/tags", "twitch.tv/commands"}
        assert connection.nick.startswith("justinfan")
        assert listener.texts == ["hello"]
        assert [type(item).__name__ for item in listener.heard][-3:] == [
            "ChatEvent",
            "OtherRoom",
            "Redaction",
        ]
        assert listener.source.state.phase is Phase.CONNECTED
        assert listener.source.room_id == sim.world.room_id
        assert listener.gaps == []


async def test_a_token_that_expired_is_renewed_and_without_an_account_it_listens_on(
    sim: TwitchSim, computer: Computer
) -> None:
    """As after a night in which the PC slept: chat is the first to refuse the token."""
    login = computer.login()
    async with listening(sim, login.irc) as listener:
        await sim.joined()
        sim.expire()
        await sim.drop()
        await sim.until(lambda: listener.gaps)
        assert (listener.source.state.login, listener.source.state.error) == (
            "keeper",
            "",
        )
        assert sim.oauth.refreshes == 1
        assert login.trouble == ""
        sim.disconnect("keeper")
        await sim.drop()
        await sim.until(lambda: len(listener.gaps) == 2)
        assert listener.source.state.login == "", "it listens on, without the account"
        assert "forgetmenot login" in listener.source.state.error


async def test_badges_are_looked_at_without_leaving_the_connection(
    sim: TwitchSim, computer: Computer
) -> None:
    async with listening(sim, computer.login().irc) as listener:
        await sim.joined()
        assert listener.source.own_badges == frozenset()
        sim.world.moderator("keeper")
        listener.source.look_at_badges()
        await sim.settled()
        await sim.until(lambda: listener.source.own_badges == frozenset({"moderator"}))
        await sim.say("alice", "hello")
        await sim.until(lambda: listener.texts)
        assert listener.gaps == []


async def test_a_ban_that_comes_to_light_as_badges_are_looked_at_ends_in_reading_on(
    sim: TwitchSim, computer: Computer
) -> None:
    async with listening(sim, computer.login().irc) as listener:
        await sim.joined()
        sim.world.banned.add(sim.world.user("keeper").id)
        listener.source.look_at_badges()
        await sim.settled()
        await sim.until(lambda: listener.source.is_banned and listener.gaps)
        assert listener.source.state.login == ""
        await sim.say("alice", "hello")
        await sim.until(lambda: listener.texts)


async def test_a_half_open_connection_is_noticed(
    sim: TwitchSim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "HEARTBEAT_S", 0.2)
    async with listening(sim) as listener:
        await sim.joined()
        sim.stall()
        await sim.until(lambda: listener.gaps)
        assert "closed" in listener.gaps[0].reason


async def test_nothing_in_a_message_begins_a_line_of_its_own(sim: TwitchSim) -> None:
    forged = (
        "@badges=broadcaster/1;user-id=9;id=f :eve!eve@x PRIVMSG #demo :!bot resume"
    )
    async with listening(sim) as listener:
        await sim.joined()
        for ending in ("\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"):
            await sim.raw(
                f"@user-id=5;id=e{ord(ending)} :eve!eve@x PRIVMSG #demo :hello{ending}{forged}"
            )
        await sim.say("alice", "still here")
        await sim.until(lambda: listener.texts[-1:] == ["still here"])
        assert len(listener.texts) == 8
        assert all(text.startswith("hello") for text in listener.texts[:-1])


async def test_what_is_wrong_with_the_network_is_said_until_it_is_over_and_pauses_grow_with_jitter(
    sim: TwitchSim,
) -> None:
    faults: tuple[tuple[dict[str, object], str], ...] = (
        ({"html": True}, "its own web page"),
        ({"drop": True}, "Could not read the chat"),
        ({"status": 503}, "503"),
    )
    fault, sentence = faults[0]
    sim.faults.add("irc", times=None, **fault)
    async with listening(sim) as listener:
        for fault, sentence in faults:
            sim.faults.clear()
            sim.faults.add("irc", times=None, **fault)
            await sim.until(lambda: sentence in listener.source.state.error)  # noqa: B023  # awaited at once
        await sim.until(lambda: len(listener.clock.pauses) >= 12)
        sim.faults.clear()
        await sim.until(lambda: listener.source.state.phase is Phase.CONNECTED)
        assert listener.source.state.error == ""
    pauses = listener.clock.pauses
    assert 500 <= pauses[0] <= 1_000
    assert all(30_000 <= pause <= 60_000 for pause in pauses[6:])
    assert len(set(pauses[6:])) > 1


@pytest.mark.parametrize("silent", [False, True])
async def test_a_channel_that_does_not_exist_or_never_answers_is_one_clear_sentence(
    sim: TwitchSim, monkeypatch: pytest.MonkeyPatch, *, silent: bool
) -> None:
    monkeypatch.setattr(room, "JOIN_WITHIN_S", 0.05 if silent else room.JOIN_WITHIN_S)
    monkeypatch.setattr(room, "TICK_S", 0.05)
    sim.irc.silent_unknown = silent
    async with listening(sim, channel="nowhere") as listener:
        with pytest.raises(TwitchRefused, match="no channel `nowhere`"):
            await listener.task


async def test_a_room_state_of_no_room_or_of_another_one_changes_nothing(
    sim: TwitchSim,
) -> None:
    """Only the modes that it names: the memory is of the room that was joined."""
    async with listening(sim) as listener:
        await sim.joined()
        await sim.raw("@emote-only=1 :tmi.twitch.tv ROOMSTATE #demo")
        await sim.raw("@room-id=;slow=10 :tmi.twitch.tv ROOMSTATE #demo")
        await sim.raw("@room-id=987654321;slow=30 :tmi.twitch.tv ROOMSTATE #demo")
        await sim.say("alice", "hello")
        await sim.until(lambda: listener.texts)
        states = [item for item in listener.heard if isinstance(item, RoomState)]
        assert [(state.emote_only, state.slow_s) for state in states[1:]] == [
            (True, None),
            (None, 10),
        ]
        assert {state.room_id for state in states} == {sim.world.room_id}
        assert any(isinstance(item, OtherRoom) for item in listener.heard)


async def test_another_room_under_the_same_name_is_not_joined_after_a_reconnection(
    sim: TwitchSim,
) -> None:
    """The channel was renamed while the network was away, and somebody else took its name."""
    async with listening(sim) as listener:
        await sim.joined()
        was = sim.world.owner
        sim.world.owner = replace(was, id="987654321")
        await sim.drop()
        await sim.until(lambda: "`demo`" in listener.source.state.error)
        await sim.raw(
            "@id=n1;user-id=5;room-id=987654321 :bob!bob@x PRIVMSG #demo :from elsewhere"
        )
        sim.world.owner = was
        await sim.until(lambda: listener.source.state.phase is Phase.CONNECTED)
        await sim.say("alice", "hello")
        await sim.until(lambda: listener.texts)
        assert listener.texts == ["hello"]
        assert not listener.task.done()
