"""The bot's hands against a loopback Twitch through the real twitchio."""

import pytest

from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.errors import (
    TwitchLoginNeeded,
    TwitchRateLimited,
    TwitchRefused,
    TwitchUnavailable,
)
from forgetmenot.secret_store import Account
from forgetmenot.twitch.helix import Helix
from tests.contract.conftest import Computer
from tests.loopback_servers.twitch import TwitchSim


@pytest.fixture
async def helix(sim: TwitchSim, computer: Computer) -> Helix:
    sim.world.moderator("keeper")
    return computer.helix(
        computer.login(),
        broadcaster=computer.login("demo", account=Account.BROADCASTER),
    )


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        ("msg_rejected", OutcomeKind.UNKNOWN, "AutoMod"),
        ("msg_slowmode", OutcomeKind.REFUSED, "slow mode"),
        ("something_new", OutcomeKind.REFUSED, "was not sent"),
    ],
)
async def test_a_drop_has_its_reason_and_what_automod_holds_may_still_appear(
    sim: TwitchSim, helix: Helix, code: str, kind: OutcomeKind, reason: str
) -> None:
    sim.drop_next(code)
    outcome = await helix.say("hello")
    assert outcome.kind is kind
    assert reason in outcome.detail
    assert sim.sent == []


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        (None, 30),
        (
            {"Ratelimit-Reset": "1700000017", "Date": "Tue, 14 Nov 2023 22:13:20 GMT"},
            17,
        ),
        ({}, 1),
    ],
)
async def test_writing_too_fast_asks_for_a_pause(
    sim: TwitchSim, helix: Helix, headers: dict[str, str] | None, wait: int
) -> None:
    """As long as a 429 names; without one chat has silenced the bot."""
    await helix.room_id()
    if headers is None:
        sim.drop_next("msg_ratelimit")
    else:
        sim.faults.add("helix", status=429, headers=headers)
    with pytest.raises(TwitchRateLimited) as raised:
        await helix.say("hello")
    assert raised.value.retry_after_s == wait


async def test_a_message_whose_answer_was_lost_is_unknown_and_not_sent_twice(
    sim: TwitchSim, helix: Helix
) -> None:
    await helix.room_id()
    sim.faults.add("helix", path="chat/messages", lose=True)
    assert (await helix.say("hello")).kind is OutcomeKind.UNKNOWN
    assert len(sim.sent) == 1


async def test_a_message_whose_renewal_was_lost_was_not_sent(
    sim: TwitchSim, helix: Helix
) -> None:
    """Twitch refused the message with a 401: whatever becomes of the renewal, it may be sent again."""
    await helix.room_id()
    sim.expire()
    sim.faults.add("oauth", path="oauth2/token", lose=True, times=None)
    with pytest.raises(TwitchUnavailable):
        await helix.say("hello")
    assert sim.sent == []


async def test_nothing_is_done_in_another_channel_than_the_one_that_is_read(
    sim: TwitchSim, computer: Computer
) -> None:
    """A name may change hands: chat says which channel is read, by its id."""
    heard = ["999"]
    helix = computer.helix(computer.login(), chat_room=lambda: heard[0])
    for doing in (helix.say("hello"), helix.ban("1", ""), helix.channel_state()):
        with pytest.raises(TwitchRefused, match="different account"):
            await doing
    heard[0] = sim.world.room_id
    assert (await helix.say("hello")).kind is OutcomeKind.DONE


async def test_the_moderators_deeds_arrive_with_both_ids(
    sim: TwitchSim, helix: Helix
) -> None:
    alice = sim.world.user("alice").id
    bob = sim.world.user("bob").id
    message = await sim.say("carol", "oops")
    me = sim.world.user("keeper").id
    room = await helix.room_id()
    outcomes = [
        await helix.timeout(alice, 30, "asked for it"),
        await helix.untimeout(alice),
        await helix.ban(bob, ""),
        await helix.delete_message(message),
        await helix.announce("Hear, hear"),
        await helix.set_slow_mode(5),
        await helix.set_slow_mode(None),
        await helix.set_emote_only(on=True),
        await helix.set_emote_only(on=False),
    ]
    assert outcomes == [Outcome(OutcomeKind.DONE)] * len(outcomes)
    assert message in sim.world.deleted
    assert not sim.world.slow_s
    assert not sim.world.emote_only
    assert [
        action.body.get("slow_mode_wait_time")
        for action in sim.actions
        if "slow_mode" in action.body
    ] == [5, None]
    for action in sim.actions:
        assert (action.param("broadcaster_id"), action.param("moderator_id")) == (
            room,
            me,
        )
    assert [action.path for action in sim.actions][:4] == ["moderation/bans"] * 3 + [
        "moderation/chat"
    ]
    assert all(request.status < 400 for request in sim.requests), "no call costs a 401"


async def test_a_message_is_pinned(sim: TwitchSim, helix: Helix) -> None:
    sent = await helix.say("This stream so far: the boss fell.")
    assert (await helix.pin_message(sent.twitch_id)).kind is OutcomeKind.DONE
    assert sim.helix.pinned == "This stream so far: the boss fell."
    assert (await helix.pin_message("nothing")).kind is OutcomeKind.REFUSED


async def test_the_streams_deeds(sim: TwitchSim, helix: Helix) -> None:
    sim.go_live(title="Cosy", game="Chess")
    guest = sim.world.user("guest").id
    assert (await helix.create_marker("a moment")).kind is OutcomeKind.DONE
    clip = await helix.create_clip()
    assert clip.kind is OutcomeKind.DONE
    assert clip.twitch_id
    assert (await helix.shoutout(guest)).kind is OutcomeKind.DONE
    assert (await helix.set_channel(title="New title")).kind is OutcomeKind.DONE
    assert (await helix.channel_state()).title == "New title"


async def test_who_is_immune(sim: TwitchSim, helix: Helix) -> None:
    sim.world.moderator("mo")
    sim.world.vip("viv")
    immune = {
        name
        for name in ("demo", "mo", "viv", "alice")
        if await helix.is_immune(sim.world.user(name).id)
    }
    assert immune == {"demo", "mo", "viv"}


async def test_twitchs_no_is_an_outcome_with_its_reason(
    sim: TwitchSim, helix: Helix
) -> None:
    outcome = await helix.timeout(sim.world.room_id, 30, "")
    assert outcome.kind is OutcomeKind.REFUSED
    assert "Could not time a viewer out: The user" in outcome.detail
    assert (await helix.delete_message("")).kind is OutcomeKind.REFUSED
    assert sim.actions == []


async def test_a_missing_right_names_it_and_costs_no_renewal(
    sim: TwitchSim, computer: Computer
) -> None:
    sim.world.moderator("keeper")
    helix = computer.helix(computer.login("keeper", "user:write:chat"))
    with pytest.raises(TwitchLoginNeeded, match="moderator:manage:banned_users"):
        await helix.timeout(sim.world.user("alice").id, 30, "")
    with pytest.raises(TwitchLoginNeeded, match="login --as broadcaster"):
        await helix.create_marker("")
    assert sim.oauth.refreshes == 0
