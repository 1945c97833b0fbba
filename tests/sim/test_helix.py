"""Helix on loopback, through the real twitchio: what is sent, what is done, what is refused and why."""

import aiohttp
import pytest
import twitchio

from forgetmenot.sim.reader import Connect
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.sim.world import Said


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
    sim.chat.said.append(Said("1", sim.world.user("bot"), "just now", sim.now()))


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
        ("msg_rejected", lambda sim: sim.world.held_words.add("hello")),
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
    assert sim.chat.attempts[0].dropped == code


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
    assert sim.chat.breaches == 1


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


@pytest.mark.parametrize("missing", ["broadcaster_id", "moderator_id"])
async def test_both_ids_must_stand_in_the_query(sim: TwitchSim, missing: str) -> None:
    bot = sim.world.moderator("bot")
    query = {"broadcaster_id": sim.world.room_id, "moderator_id": bot.id}
    del query[missing]
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('bot').access}"}
    body = {"data": {"user_id": sim.world.user("eve").id, "duration": 10}}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{sim.helix_url}moderation/bans", params=query, json=body) as answer,
    ):
        assert answer.status == 400
        assert missing in (await answer.json())["message"]
    assert not sim.actions


async def test_helix_has_so_many_points_a_minute(sim: TwitchSim) -> None:
    sim.helix.bucket.limit = 1
    headers = {"Client-Id": sim.client_id, "Authorization": f"Bearer {sim.grant('bot').access}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for status in (200, 429):
            async with session.get(f"{sim.helix_url}users") as answer:
                assert answer.status == status
                assert answer.headers["Ratelimit-Remaining"] == "0"


async def test_deleting_takes_only_what_may_be_deleted(
    sim: TwitchSim, connect: Connect, channel: twitchio.PartialUser, bot_id: str
) -> None:
    reader = await connect()
    by_owner, by_eve = await sim.say("demo", "mine"), await sim.say("eve", "spam")
    await channel.delete_chat_messages(moderator=bot_id, message_id=by_eve, token_for=bot_id)
    await reader.until(f"target-msg-id={by_eve}")
    for message_id, status in ((by_owner, 400), (by_eve, 404), ("unknown", 404)):
        work = channel.delete_chat_messages(moderator=bot_id, message_id=message_id, token_for=bot_id)
        assert (await _refusal(work))[0] == status


async def test_chat_settings_change_and_are_told(
    sim: TwitchSim, connect: Connect, channel: twitchio.PartialUser, bot_id: str
) -> None:
    reader = await connect()
    await reader.until("ROOMSTATE")
    changed = await channel.update_chat_settings(bot_id, slow_mode=True, slow_mode_wait_time=10, token_for=bot_id)
    assert (changed.slow_mode, changed.slow_mode_wait_time, changed.emote_mode) == (True, 10, False)
    assert "slow=10" in await reader.until("ROOMSTATE")
    assert (await channel.fetch_chat_settings(token_for=bot_id)).slow_mode
    assert (await _refusal(channel.update_chat_settings(bot_id, token_for=bot_id)))[0] == 400


async def test_announcements_and_shoutouts(
    sim: TwitchSim, connect: Connect, channel: twitchio.PartialUser, bot_id: str
) -> None:
    reader, alice = await connect(), sim.world.user("alice")
    await channel.send_announcement(moderator=bot_id, message="listen", color="blue", token_for=bot_id)
    assert "msg-param-color=BLUE" in await reader.until("USERNOTICE")
    shout = {"to_broadcaster": alice.id, "moderator": bot_id, "token_for": bot_id}
    assert (await _refusal(channel.send_shoutout(**shout)))[0] == 400
    sim.go_live()
    await channel.send_shoutout(**shout)
    assert (await _refusal(channel.send_shoutout(**shout)))[0] == 429
    assert [action.path for action in sim.actions] == ["chat/announcements", "chat/shoutouts"]


async def test_the_stream_its_title_and_what_it_allows(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser, bot_id: str
) -> None:
    assert await client.fetch_streams(user_ids=[channel.id], token_for=bot_id) == []
    assert (await _refusal(channel.create_clip(token_for=bot_id)))[0] == 404
    live = sim.go_live(title="Going deep", game="Celeste")
    (stream,) = await client.fetch_streams(user_ids=[channel.id], token_for=bot_id)
    assert (stream.id, stream.title, stream.game_name) == (live.id, "Going deep", "Celeste")
    assert stream.started_at.timestamp() * 1_000 == sim.now()
    clip = await channel.create_clip(token_for=bot_id)
    assert clip.id == sim.channel.clips[0]["id"]
    assert [found.id async for found in client.fetch_clips(clip_ids=[clip.id], token_for=bot_id)] == [clip.id]
    info = await channel.fetch_channel_info(token_for=bot_id)
    assert (info.title, info.game_name) == ("Going deep", "Celeste")


async def test_what_only_the_broadcaster_may(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser, bot_id: str
) -> None:
    sim.go_live()
    sim.world.vip("carol")
    assert (await _refusal(channel.modify_channel(title="mine now")))[0] == 401
    token = sim.grant("demo")
    await client.add_token(token.access, token.refresh)
    await channel.modify_channel(title="New", game_id="504461")
    assert (sim.world.title, sim.world.game) == ("New", "Celeste")
    marker = await channel.create_stream_marker(token_for=channel.id, description="here")
    assert marker.description == "here"
    assert [user.name for user in await channel.fetch_moderators()] == ["bot"]
    assert [user.name for user in await channel.fetch_vips()] == ["carol"]


async def test_lists_come_in_pages(sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser) -> None:
    for number in range(45):
        sim.world.moderator(f"mod{number}")
    token = sim.grant("demo")
    await client.add_token(token.access, token.refresh)
    assert len({user.id async for user in channel.fetch_moderators()}) == 46


async def test_users_are_found_by_login_and_id(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser, bot_id: str
) -> None:
    alice = sim.world.user("alice", name="ALICE")
    found = await client.fetch_users(logins=["Alice", "nobody"], token_for=bot_id)
    assert [(user.id, user.name, user.display_name) for user in found] == [(alice.id, "alice", "ALICE")]


async def test_games_are_found(sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser) -> None:
    game = await client.fetch_game(name="celeste")
    assert game is not None
    assert game.id == "504461"
    found = [category.name async for category in client.search_categories("mine")]
    assert found == ["Minecraft"]


async def test_banned_people_are_listed_for_the_broadcaster(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser
) -> None:
    await sim.timeout("eve", 60)
    await sim.ban("mallory")
    token = sim.grant("demo")
    await client.add_token(token.access, token.refresh)
    listed = {entry.user.name: entry.expires_at for entry in await channel.fetch_banned_user()}
    assert set(listed) == {"eve", "mallory"}
    assert listed["mallory"] is None


async def test_a_ban_tells_who_made_it_when_and_why(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser, bot_id: str
) -> None:
    eve, began = sim.world.user("eve"), sim.now()
    sim.now = lambda: began
    await channel.timeout_user(moderator=bot_id, user=eve.id, duration=60, reason="spam", token_for=bot_id)
    sim.now = lambda: began + 30_000
    token = sim.grant("demo")
    await client.add_token(token.access, token.refresh)
    (entry,) = await channel.fetch_banned_user(user_ids=[eve.id])
    assert (entry.moderator.id, entry.reason) == (bot_id, "spam")
    assert int(entry.created_at.timestamp()) == began // 1_000
    assert entry.expires_at is not None
    assert int(entry.expires_at.timestamp()) == began // 1_000 + 60
    assert await channel.fetch_banned_user(user_ids=[channel.id]) == []


async def test_where_the_bot_moderates(
    sim: TwitchSim, client: twitchio.Client, channel: twitchio.PartialUser, bot_id: str
) -> None:
    bot = client.create_partialuser(bot_id)
    assert [found.id for found in await bot.fetch_moderated_channels()] == [channel.id]
