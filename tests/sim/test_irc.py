"""The loopback chat behaves as Twitch's does towards a reading client."""

import aiohttp
import pytest

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


async def test_without_the_capability_lines_have_no_tags(sim: TwitchSim) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(sim.irc_url) as socket:
        for line in ("NICK justinfan7", "JOIN #demo"):
            await socket.send_str(line)
        await sim.joined()
        await sim.say("alice", "hi")
        async for message in socket:
            if "PRIVMSG" in message.data:
                assert message.data == ":alice!alice@alice.tmi.twitch.tv PRIVMSG #demo :hi\r\n"
                return


async def test_signing_in_takes_a_living_token_with_the_right_to_read(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect("bot", f"oauth:{sim.grant('bot').access}")
    assert sim.irc.connections[0].user is sim.world.user("bot")
    await sim.say("alice", "hi")
    await reader.until("PRIVMSG")


@pytest.mark.parametrize(
    ("scope", "dead", "password", "why"),
    [
        ("chat:read", True, "oauth:{}", "Login authentication failed"),
        ("user:read:chat", False, "oauth:{}", "Login authentication failed"),
        ("chat:read", False, "{}", "Improperly formatted auth"),
    ],
)
async def test_a_bad_password_is_told_and_the_connection_closed(
    sim: TwitchSim, connect: Connect, scope: str, dead: bool, password: str, why: str
) -> None:
    token = sim.grant("bot", scope)
    token.expired = dead
    reader = await connect("bot", password.format(token.access), join="")
    assert await reader.until("NOTICE") == f":tmi.twitch.tv NOTICE * :{why}"
    await reader.closed()


async def test_a_join_is_followed_by_the_room_s_state(sim: TwitchSim, connect: Connect) -> None:
    sim.world.rules.slow_mode, sim.world.rules.slow_mode_wait_time = True, 10
    reader = await connect()
    state = await reader.until("ROOMSTATE")
    assert f"room-id={sim.world.room_id};slow=10" in state


async def test_a_channel_that_does_not_exist_and_a_ban_are_notices(sim: TwitchSim, connect: Connect) -> None:
    await sim.ban("bot")
    reader = await connect("bot", f"oauth:{sim.grant('bot').access}", join="")
    await reader.send("JOIN #elsewhere")
    assert "@msg-id=msg_channel_suspended " in await reader.until("NOTICE #elsewhere")
    await reader.send("JOIN #demo")
    assert "@msg-id=msg_banned " in await reader.until("NOTICE #demo")


async def test_tag_values_are_escaped_and_a_reply_names_its_parent(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    first = await sim.say("alice", r"a; b\c")
    await sim.say("bob", "what?", reply_to=first)
    line = await reader.until("what?")
    assert r"reply-parent-msg-body=a\:\sb\\c;" in line
    assert f"reply-parent-msg-id={first};" in line
    assert line.endswith("PRIVMSG #demo :@Alice what?")


async def test_me_bits_first_message_and_shared_chat_show_in_the_line(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await sim.say("alice", "waves", me=True, bits=100, first_msg=True)
    line = await reader.until("waves")
    assert line.endswith(":\x01ACTION waves\x01")
    assert ";bits=100" in line
    assert "first-msg=1" in line
    await sim.shared("eve", "from next door")
    assert "source-room-id=987654321" in await reader.until("next door")


async def test_clearing_tells_what_is_gone(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    message_id = await sim.say("eve", "spam")
    await sim.clear_message(message_id)
    assert f"target-msg-id={message_id}" in await reader.until("CLEARMSG #demo :spam")
    await sim.timeout("eve", 30)
    assert "@ban-duration=30;" in await reader.until("CLEARCHAT #demo :eve")
    await sim.ban("eve")
    assert "ban-duration" not in await reader.until("CLEARCHAT #demo :eve")
    await sim.clear_chat()
    assert (await reader.until("CLEARCHAT")).endswith("CLEARCHAT #demo")


async def test_a_moved_clock_ends_a_timeout(sim: TwitchSim) -> None:
    await sim.timeout("eve", 30)
    eve = sim.world.user("eve")
    assert sim.world.ban_left(eve.id) == 30_000
    began = sim.now()
    sim.now = lambda: began + 30_000
    assert sim.world.ban_left(eve.id) == 0


@pytest.mark.parametrize(
    ("kind", "happening"),
    [
        ("sub", lambda sim: sim.sub("alice")),
        ("resub", lambda sim: sim.sub("alice", 12, "a year!")),
        ("submysterygift", lambda sim: sim.gift("alice", 5)),
        ("subgift", lambda sim: sim.gift("alice", recipient="bob")),
        ("raid", lambda sim: sim.raid("alice", 40)),
        ("announcement", lambda sim: sim.announcement("alice", "listen")),
    ],
)
async def test_notices_of_the_channel(sim: TwitchSim, connect: Connect, kind: str, happening) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    reader = await connect()
    notice_id = await happening(sim)
    line = await reader.until("USERNOTICE")
    assert f"msg-id={kind};" in line
    assert f";id={notice_id};" in line


async def test_a_message_can_be_delivered_twice(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    message_id = await sim.say("alice", "hi")
    line = await reader.until("PRIVMSG")
    await sim.repeat(message_id)
    assert await reader.until("PRIVMSG") == line
    assert len(sim.log) == 1


async def test_pings_are_answered_both_ways(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await reader.send("PING :abc")
    assert await reader.until("PONG") == ":tmi.twitch.tv PONG tmi.twitch.tv :abc"
    await sim.ping()
    assert await reader.until("PING") == "PING :tmi.twitch.tv"
    await reader.send("PONG :tmi.twitch.tv")
    await sim.until(lambda: sim.irc.connections[0].pongs == 1)


async def test_after_part_nothing_is_heard(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await reader.send("PART #demo")
    await reader.until("PART #demo")
    await sim.say("alice", "gone?")
    await reader.send("PING :end")
    assert "PONG" in await reader.until("")


async def test_what_one_connection_says_the_others_hear(sim: TwitchSim, connect: Connect) -> None:
    reader, writer = await connect(), await connect("bot", f"oauth:{sim.grant('bot').access}")
    await writer.send("PRIVMSG #demo :from irc")
    await reader.until(":from irc")
    assert [said.via for said in sim.log] == ["irc"]
    await reader.send("PRIVMSG #demo :anonymous", "PING :end")
    await reader.until("PONG")
    assert len(sim.log) == 1


async def test_a_rename_keeps_the_id_and_a_recycled_login_gets_another(sim: TwitchSim) -> None:
    alice = sim.world.user("alice")
    assert sim.world.rename("alice", "alicia").id == alice.id
    assert sim.world.user("alice", id="77").id == "77"
