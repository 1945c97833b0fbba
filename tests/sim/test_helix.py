"""Helix on loopback, through the real twitchio: what is sent, what is done, what is refused and why."""

import aiohttp
import pytest
import twitchio

from forgetmenot.sim.world import SimMessage
from tests.loopback_servers.irc_reader import Connect
from tests.loopback_servers.twitch import TwitchSim


async def test_what_is_sent_comes_back_on_the_reading_connection(
    sim: TwitchSim, connect: Connect, channel: twitchio.PartialUser, bot_id: str
) -> None:
    reader = await connect()
    asked = await sim.say("alice", "@bot hi")
    sent = await channel.send_message("hello", bot_id, token_for=bot_id, reply_to_message_id=asked)
    line = await reader.until(":bot!")
    assert sent.sent
    assert f"id={sent.id};" in line
    assert f"user-id={bot_id};" in line
    assert f"reply-parent-msg-id={asked};" in line
    assert "badges=moderator/1;" in line
    assert [said.text for said in sim.sent] == ["hello"]


async def test_the_same_text_within_30_seconds_is_dropped(
    sim: TwitchSim, channel: twitchio.PartialUser, bot_id: str
) -> None:
    await channel.send_message("hello", bot_id, token_for=bot_id)
    with pytest.raises(twitchio.MessageRejectedError) as raised:
        await channel.send_message("hello", bot_id, token_for=bot_id)
    assert raised.value.code == "msg_duplicate"
    began = sim.now()
    sim.now = lambda: began + 30_000
    await channel.send_message("hello", bot_id, token_for=bot_id)
    assert len(sim.sent) == 2


def _slow(sim: TwitchSim) -> None:
    sim.world.rules.slow_mode = True
    sim.chat.said.append(SimMessage("1", sim.world.user("bot"), "just now", sim.now()))


def _timed_out(sim: TwitchSim) -> None:
    sim.world.ban(sim.world.user("bot").id, 1)


def _banned(sim: TwitchSim) -> None:
    sim.world.ban(sim.world.user("bot").id, None)


@pytest.mark.parametrize(
    ("code", "arrange"),
    [
        ("msg_slowmode", _slow),
        ("msg_followersonly", lambda sim: setattr(sim.world.rules, "follower_mode", True)),
        ("msg_subsonly", lambda sim: setattr(sim.world.rules, "subscriber_mode", True)),
        ("msg_emoteonly", lambda sim: setattr(sim.world.rules, "emote_mode", True)),
        ("msg_rejected", lambda sim: sim.drops.held_words.add("hello")),
        ("msg_timedout", _timed_out),
        ("msg_banned", _banned),
        ("something_new", lambda sim: sim.drop_next("something_new")),
    ],
)
async def test_the_room_drops_with_a_reason(  # type: ignore[no-untyped-def]
    sim: TwitchSim,
    channel: twitchio.PartialUser,
    bot_id: str,
    code: str,
    arrange,  # noqa: ANN001  # a lambda
) -> None:
    sim.world.moderators.clear()
    arrange(sim)
    with pytest.raises(twitchio.MessageRejectedError) as raised:
        await channel.send_message("hello", bot_id, token_for=bot_id)
    assert raised.value.code == code
    assert not sim.sent
    assert sim.drops.attempts[0].dropped == code


@pytest.mark.parametrize(("moderator", "limit"), [(False, 20), (True, 100)])
async def test_the_rate_limit_is_counted(
    sim: TwitchSim, channel: twitchio.PartialUser, bot_id: str, moderator: bool, limit: int
) -> None:
    if not moderator:
        sim.world.moderators.clear()
    for number in range(limit):
        await channel.send_message(f"line {number}", bot_id, token_for=bot_id)
    with pytest.raises(twitchio.MessageRejectedError):
        await channel.send_message("one more", bot_id, token_for=bot_id)
    assert sim.drops.breaches == 1


async def test_a_timeout_is_done_recorded_and_read_by_all(
    sim: TwitchSim, connect: Connect, channel: twitchio.PartialUser, bot_id: str
) -> None:
    reader, eve = await connect(), sim.world.user("eve")
    done = await channel.timeout_user(moderator=bot_id, user=eve.id, duration=30, reason="enough", token_for=bot_id)
    assert done.end_time is not None
    assert (done.end_time - done.created_at).total_seconds() == 30
    assert "ban-duration=30" in await reader.until("CLEARCHAT")
    (action,) = sim.actions
    assert (action.method, action.path, action.user_id) == ("POST", "moderation/bans", bot_id)
    assert action.param("broadcaster_id") == sim.world.room_id
    assert action.param("moderator_id") == bot_id
    assert action.headers["Client-ID"] == sim.client_id
    assert action.body == {"data": {"user_id": eve.id, "duration": 30, "reason": "enough"}}
    await channel.unban_user(moderator=bot_id, user_id=eve.id, token_for=bot_id)
    assert not sim.world.ban_left(eve.id)


async def _refusal(work) -> tuple[int, str]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    with pytest.raises(twitchio.HTTPException) as raised:
        await work
    assert isinstance(raised.value.extra, dict)
    return raised.value.status, raised.value.extra["message"]


async def test_bans_are_refused_as_twitch_refuses_them(
    sim: TwitchSim, channel: twitchio.PartialUser, bot_id: str
) -> None:
    eve, alice = sim.world.user("eve"), sim.world.moderator("alice")
    as_bot = {"moderator": bot_id, "token_for": bot_id}
    await channel.ban_user(user=eve.id, moderator=bot_id, token_for=bot_id)
    assert "already banned" in (await _refusal(channel.ban_user(user=eve.id, moderator=bot_id, token_for=bot_id)))[1]
    for user_id in (alice.id, sim.world.room_id):
        assert (await _refusal(channel.timeout_user(user=user_id, duration=1, **as_bot)))[0] == 400
    assert (await _refusal(channel.unban_user(user_id=alice.id, **as_bot)))[0] == 400
    assert (await _refusal(channel.timeout_user(user=eve.id, duration=9_999_999, **as_bot)))[0] == 400
    wrong = channel.timeout_user(user=eve.id, duration=1, moderator=alice.id, token_for=bot_id)
    assert (await _refusal(wrong))[0] == 401
    sim.world.moderators.discard(bot_id)
    assert (await _refusal(channel.timeout_user(user=eve.id, duration=1, **as_bot)))[0] == 403
    assert len(sim.actions) == 1


async def test_a_missing_scope_is_named(sim: TwitchSim, channel: twitchio.PartialUser, bot_id: str) -> None:
    for token in sim.tokens.issued:
        token.scopes = ("user:write:chat",)
    refusal = await _refusal(channel.ban_user(user=sim.world.user("eve").id, moderator=bot_id, token_for=bot_id))
    assert refusal == (401, "Missing scope: moderator:manage:banned_users")


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


async def test_helix_has_so_many_points_a_minute(sim: TwitchSim) -> None:
    sim.bucket.limit = 1
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('bot').access}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for status in (200, 429):
            async with session.get(f"{sim.helix_url}users") as answer:
                assert answer.status == status
                assert answer.headers["Ratelimit-Remaining"] == "0"


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
