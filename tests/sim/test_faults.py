"""What goes wrong on request goes wrong, so often as asked, and then right again."""

import asyncio

import aiohttp
import pytest

from forgetmenot.sim.reader import Connect
from forgetmenot.sim.twitch import TwitchSim


async def test_dropped_connections_end_and_can_come_again(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await sim.drop()
    await reader.closed()
    await sim.until(lambda: not sim.irc.connections)
    again = await connect()
    await sim.say("alice", "hi")
    await again.until("hi")
    assert sim.irc.opened == 2


async def test_a_stalled_connection_stays_open_and_silent(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await reader.until("ROOMSTATE")
    sim.stall()
    await sim.say("alice", "lost")
    await reader.send("PING :anybody")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await reader.socket.receive()
    assert not reader.socket.closed


async def test_a_stalled_connection_does_not_answer_a_goodbye(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    sim.stall()
    await reader.socket.close()
    assert reader.socket.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE
    await sim.until(lambda: not sim.irc.connections)


async def test_a_stall_can_begin_at_connecting(sim: TwitchSim) -> None:
    sim.faults.add("irc", stall=True)
    async with aiohttp.ClientSession() as session, session.ws_connect(sim.irc_url) as socket:
        await socket.send_str("NICK justinfan1")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await socket.receive()


@pytest.mark.parametrize("data", [b"\x00\xff", "@;;==\x00 nonsense"])
async def test_garbage_arrives_as_it_is(sim: TwitchSim, connect: Connect, data: str | bytes) -> None:
    reader = await connect()
    await reader.until("ROOMSTATE")
    await sim.garbage(data)
    assert (await reader.socket.receive()).data == data


@pytest.mark.parametrize("how", [{"html": True}, {"status": 503}, {"drop": True, "times": 2}])
async def test_connecting_to_chat_fails_as_asked(sim: TwitchSim, how: dict[str, object]) -> None:
    """Aiohttp itself tries a GET once more when the server hangs up: hence twice."""
    sim.faults.add("irc", **how)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientError):
            await session.ws_connect(sim.irc_url)
        async with session.ws_connect(sim.irc_url) as socket:
            assert not socket.closed


async def test_a_dead_network_refuses_and_comes_back_on_the_same_port(sim: TwitchSim, connect: Connect) -> None:
    address = sim.irc_url
    await sim.refuse()
    with pytest.raises(aiohttp.ClientConnectorError):
        await connect()
    await sim.accept()
    await connect()
    assert sim.irc_url == address


async def test_reconnect_is_asked_for(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await sim.reconnect()
    assert await reader.until("RECONNECT") == ":tmi.twitch.tv RECONNECT"


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


async def test_faults_are_cleared_by_place(sim: TwitchSim) -> None:
    sim.faults.add("irc", html=True, times=None)
    sim.faults.add("oauth", status=500, times=None)
    sim.faults.clear("irc")
    assert [fault.where for fault in sim.faults.waiting] == ["oauth"]
    sim.faults.clear()
    assert not sim.faults.waiting
