"""The loopback Twitch refuses what Twitch refuses: the other tests here rely on it."""

import aiohttp
import pytest

from tests.loopback_servers.twitch import TwitchSim


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Client-Id": "simclientid"}, "OAuth token is missing"),
        ({"Client-Id": "simclientid", "Authorization": "Bearer nonsense"}, "Invalid OAuth token"),
        ({"Authorization": "Bearer {}"}, "Client ID is missing"),
        ({"Client-Id": "other", "Authorization": "Bearer {}"}, "Client ID and OAuth token do not match"),
    ],
)
async def test_a_call_without_its_papers_is_401(sim: TwitchSim, headers: dict[str, str], message: str) -> None:
    papers = {name: value.format(sim.grant("bot").access) for name, value in headers.items()}
    async with aiohttp.ClientSession(headers=papers) as session, session.get(f"{sim.helix_url}users") as answer:
        assert answer.status == 401
        assert (await answer.json())["message"] == message
        assert answer.headers["Ratelimit-Limit"] == "800"


IDS = "broadcaster_id={room}&moderator_id={bot}"
LONG = "x" * 501


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "no/such/thing", None, 404),
        ("POST", "moderation/bans?moderator_id={bot}", {"data": {"user_id": "{eve}"}}, 400),
        ("POST", "moderation/bans?broadcaster_id={room}", {"data": {"user_id": "{eve}"}}, 400),
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
