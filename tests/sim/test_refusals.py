"""What Helix and chat refuse, call by call, without a client between."""

import aiohttp
import pytest

from forgetmenot.sim.call import Call, Refused
from forgetmenot.sim.oauth import Token
from forgetmenot.sim.reader import Connect
from forgetmenot.sim.twitch import TwitchSim

IDS = "broadcaster_id={room}&moderator_id={bot}"
LONG = "x" * 501


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "no/such/thing", None, 404),
        ("POST", f"moderation/bans?{IDS}", {}, 400),
        ("POST", f"moderation/bans?{IDS}", {"data": {"user_id": "42"}}, 400),
        ("POST", f"moderation/bans?{IDS}", {"data": {"user_id": "{eve}", "duration": 0}}, 400),
        ("POST", f"moderation/bans?{IDS}", {"data": {"user_id": "{eve}", "reason": LONG}}, 400),
        ("POST", "moderation/bans?broadcaster_id=5&moderator_id={bot}", {}, 404),
        ("DELETE", f"moderation/chat?{IDS}", None, 204),
        ("DELETE", f"moderation/chat?{IDS}&message_id={{by_alice}}", None, 400),
        ("GET", f"chat/settings?{IDS}", None, 200),
        ("PATCH", f"chat/settings?{IDS}", {"slow_mode": True, "slow_mode_wait_time": 1}, 400),
        ("POST", f"chat/announcements?{IDS}", {"message": "x", "color": "pink"}, 400),
        ("POST", f"chat/announcements?{IDS}", {}, 400),
        ("POST", "chat/shoutouts?from_broadcaster_id={room}&to_broadcaster_id={room}&moderator_id={bot}", None, 400),
        ("POST", "chat/messages", {"broadcaster_id": "{room}", "sender_id": "{bot}", "message": LONG}, 422),
        ("POST", "chat/messages", {"broadcaster_id": "{room}", "sender_id": "{eve}", "message": "x"}, 401),
        ("POST", "chat/messages", {"broadcaster_id": "{room}", "sender_id": "{bot}"}, 400),
        ("PATCH", "channels?broadcaster_id={room}", {"title": "mine"}, 401),
        ("GET", "users?id=" + "&id=".join(str(number) for number in range(101)), None, 400),
        ("GET", "channels", None, 400),
        ("GET", "channels?broadcaster_id=5", None, 200),
        ("GET", "streams?user_login=DEMO", None, 200),
        ("GET", "games?id=27471", None, 200),
    ],
)
async def test_helix_answers_each_call_with_its_status(
    sim: TwitchSim, method: str, path: str, body: dict[str, object] | None, status: int
) -> None:
    sim.world.moderator("bot")
    sim.world.moderator("alice")
    names = {"room": sim.world.room_id, "bot": sim.world.user("bot").id, "eve": sim.world.user("eve").id}
    names["by_alice"] = await sim.say("alice", "mod talk")
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('bot').access}"}
    sent = _filled(body, names)
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, sim.helix_url + path.format(**names), json=sent) as answer,
    ):
        assert answer.status == status
    assert (sim.requests[-1].method, sim.requests[-1].status) == (method, status)
    assert "Authorization" not in sim.requests[-1].headers


def _filled(body: object, names: dict[str, str]) -> object:
    if isinstance(body, dict):
        return {key: _filled(value, names) for key, value in body.items()}
    return body.format(**names) if isinstance(body, str) else body


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"title": "x" * 141}, 400),
        ({"game_id": "12345678"}, 400),
        ({"game_id": "0"}, 204),
        ({"title": "fine"}, 204),
    ],
)
async def test_the_broadcaster_s_changes_are_checked(sim: TwitchSim, body: dict[str, str], status: int) -> None:
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('demo').access}"}
    address = f"{sim.helix_url}channels?broadcaster_id={sim.world.room_id}"
    async with aiohttp.ClientSession(headers=headers) as session, session.patch(address, json=body) as answer:
        assert answer.status == status


@pytest.mark.parametrize(("live", "description", "status"), [(True, "x" * 141, 400), (False, "", 404)])
async def test_a_marker_wants_a_stream_and_a_short_word(
    sim: TwitchSim, live: bool, description: str, status: int
) -> None:
    if live:
        sim.go_live()
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('demo').access}"}
    body = {"user_id": sim.world.room_id, "description": description}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{sim.helix_url}streams/markers", json=body) as answer,
    ):
        assert answer.status == status


async def test_a_body_that_is_not_json_is_taken_for_an_empty_one(sim: TwitchSim) -> None:
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('bot').access}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{sim.helix_url}chat/messages", data="{{") as answer,
    ):
        assert answer.status == 400


async def test_a_fault_may_bring_a_body_that_is_no_json(sim: TwitchSim) -> None:
    sim.faults.add("helix", status=500, body="")
    async with aiohttp.ClientSession() as session, session.get(f"{sim.helix_url}users") as answer:
        assert (answer.status, await answer.text()) == (500, "")


def test_a_scope_is_one_of_several() -> None:
    call = Call("GET", "x", Token("", "", "1", "bot", ("a",)), {})
    call.scope("a", "b")
    with pytest.raises(Refused, match="Missing scope: b or c"):
        call.scope("b", "c")


async def test_unknown_capabilities_and_commands_do_no_harm(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await reader.send("CAP LS 302", "CAP REQ :sasl", "NONSENSE", "", "PART")
    assert await reader.until(" NAK ") == ":tmi.twitch.tv CAP * NAK :sasl"
    await reader.send("PING :still here")
    await reader.until("PONG")


async def test_a_channel_that_is_not_there_may_be_met_with_silence(sim: TwitchSim, connect: Connect) -> None:
    sim.irc.silent_unknown = True
    reader = await connect(join="")
    await reader.send("JOIN #elsewhere", "PING :end")
    await reader.until(" 376 ")
    assert "PONG" in await reader.until("")


async def test_nobody_joins_before_being_let_in(sim: TwitchSim) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(sim.irc_url) as socket:
        await socket.send_str("JOIN #demo\r\nPING :x")
        assert "PONG" in (await socket.receive()).data
        assert not sim.irc.connections[0].channels


async def test_a_websocket_ping_is_answered(sim: TwitchSim) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(sim.irc_url, autoping=False) as socket:
        await socket.ping(b"there?")
        assert (await socket.receive()).type is aiohttp.WSMsgType.PONG


async def test_the_room_s_notice_and_the_end_of_a_stream(sim: TwitchSim, connect: Connect) -> None:
    reader = await connect()
    await sim.notice("This room is now in emote-only mode.", "emote_only_on")
    assert (await reader.until("NOTICE")).startswith("@msg-id=emote_only_on :tmi.twitch.tv NOTICE #demo :This")
    sim.go_live()
    sim.go_offline()
    assert sim.world.stream is None


async def test_the_streamer_may_be_renamed(sim: TwitchSim) -> None:
    room = sim.world.room_id
    sim.world.rename("demo", "demo2")
    assert (sim.world.owner.login, sim.world.room_id) == ("demo2", room)
