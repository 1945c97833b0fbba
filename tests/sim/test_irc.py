"""The loopback chat behaves as Twitch's does towards a reading client."""

import asyncio

import aiohttp
import pytest

from tests.loopback_servers.irc_reader import Connect
from tests.loopback_servers.twitch import TwitchSim


async def test_an_anonymous_reader_hears_what_is_said(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    sim.world.user("alice", badges=("subscriber/12",))

    message_id = await sim.say("alice", "hello there", at=123)

    line = await reader.until("PRIVMSG")
    assert line.endswith(":alice!alice@alice.tmi.twitch.tv PRIVMSG #demo :hello there")
    assert f"id={message_id}" in line
    assert "tmi-sent-ts=123" in line
    assert "badges=subscriber/12" in line


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


@pytest.mark.parametrize(
    ("kind", "happening"),
    [
        ("sub", lambda sim: sim.sub("alice")),
        ("resub", lambda sim: sim.sub("alice", 12, "a year!")),
        ("submysterygift", lambda sim: sim.gift("alice", 5)),
        ("subgift", lambda sim: sim.gift_to("alice", "bob")),
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


async def test_a_fault_strikes_its_own_call_and_so_often_as_asked(sim: TwitchSim) -> None:
    token = sim.grant("bot")
    headers = {"Authorization": f"Bearer {token.access}", "Client-Id": sim.client_id}
    sim.faults.add("helix", path="users", status=429, times=2, headers={"Ratelimit-Reset": "99"})
    async with aiohttp.ClientSession(headers=headers) as session:
        seen = []
        for path in ("channels?broadcaster_id=1", "users", "users", "users"):
            async with session.get(sim.helix_url + path) as answer:
                seen.append((answer.status, answer.headers.get("Ratelimit-Reset") == "99"))
    assert seen == [(200, False), (429, True), (429, True), (200, False)]


async def test_a_lost_answer_was_carried_out_all_the_same(sim: TwitchSim) -> None:
    token = sim.grant("bot")
    headers = {"Authorization": f"Bearer {token.access}", "Client-Id": sim.client_id}
    sim.faults.add("helix", path="chat/messages", lose=True)
    message = {"broadcaster_id": sim.world.room_id, "sender_id": token.user_id, "message": "hi"}
    async with aiohttp.ClientSession(headers=headers) as session:
        with pytest.raises(aiohttp.ClientError):
            await session.post(f"{sim.helix_url}chat/messages", json=message)
    assert [said.text for said in sim.sent] == ["hi"]


async def test_a_slow_answer_is_right_and_a_stalled_one_never_comes(sim: TwitchSim) -> None:
    sim.faults.add("oauth", delay=0.01)
    sim.faults.add("oauth", stall=True)
    headers = {"Authorization": f"OAuth {sim.grant('bot').access}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.get(f"{sim.id_url}oauth2/validate") as answer:
            assert answer.status == 200
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), session.get(f"{sim.id_url}oauth2/validate"):
                pass
