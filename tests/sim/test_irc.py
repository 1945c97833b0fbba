"""The loopback chat behaves as Twitch's does towards a reading client."""

import asyncio

import aiohttp
import pytest

from tests.loopback_servers.irc_reader import Connect
from tests.loopback_servers.twitch import TwitchSim


async def test_tag_values_are_escaped_and_a_reply_names_its_parent(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    first = await sim.say("alice", r"a; b\c")
    await sim.say("bob", "what?", reply_to=first)
    line = await reader.until("what?")
    assert r"reply-parent-msg-body=a\:\sb\\c;" in line
    assert f"reply-parent-msg-id={first};" in line
    assert line.endswith("PRIVMSG #demo :@Alice what?")


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
