"""The loopback chat behaves as Twitch's does towards a reading client."""

from forgetmenot.sim.reader import Connect
from forgetmenot.sim.twitch import TwitchSim


async def test_an_anonymous_reader_hears_what_is_said(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    sim.world.user("alice", badges=("subscriber/12",))

    message_id = await sim.say("alice", "hello there", at=123)

    line = await reader.until("PRIVMSG")
    assert line.endswith(":alice!alice@alice.tmi.twitch.tv PRIVMSG #demo :hello there")
    assert f"id={message_id}" in line
    assert "tmi-sent-ts=123" in line
    assert "badges=subscriber/12" in line
