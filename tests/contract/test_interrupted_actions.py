"""What a crash interrupted is looked up at Twitch, never done again: the real twitchio against a loopback Helix."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.entry import Job
from forgetmenot.actions.perform import revert_time
from forgetmenot.clock import MINUTE, SECOND
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import NewAction, Status
from tests.contract.test_actions_wire import Wire, scopes, wire

if TYPE_CHECKING:
    from forgetmenot.store.action_logs import LoggedAction

__all__ = ["scopes", "wire"]
SENDING = ("POST", "PATCH", "DELETE", "PUT")


async def interrupted(wire: Wire, name: str, *, done: bool, **params: str) -> None:
    """What a crash leaves: a row that is still running, and the deed at Twitch or not."""
    action, now = find(name), wire.clock.now()
    assert action is not None
    if "target" in params:
        params["target"] = wire.sim.world.user(params["target"]).id
    row = NewAction(
        key=name,
        at=now,
        name=name,
        kind=action.kind,
        params=params,
        verdict="allow",
        rule="allowed",
        reason="",
        status=Status.RUNNING,
        target_id=params.get("target"),
        revert_at=revert_time(action, params, now),
    )
    async with wire.db.write() as tx:
        await action_logs.insert(tx, row)
    if done:
        await wire.executor.performer.call(action.run, Job(params, "1", message_id="m"))


async def after_the_start(wire: Wire) -> LoggedAction:
    """The row once the program has started again; whatever was done before the crash was done once."""
    before = [one for one in wire.sim.requests if one.method in SENDING]
    await wire.approvals.start()
    assert [one for one in wire.sim.requests if one.method in SENDING] == before
    [row] = await action_logs.latest(wire.db, 5)
    return row


DEEDS: list[tuple[str, dict[str, str]]] = [
    ("ban", {"target": "bob", "reason": ""}),
    ("timeout", {"target": "bob", "seconds": "60", "reason": ""}),
    ("long_timeout", {"target": "bob", "seconds": "600", "reason": ""}),
    ("slow_mode", {"seconds": "60", "gap": "5"}),
    ("emote_only", {"seconds": "60"}),
    ("title", {"text": "Building a shed"}),
    ("category", {"text": "Celeste"}),
]


@pytest.mark.parametrize(("name", "params"), DEEDS)
@pytest.mark.parametrize("done", [True, False])
async def test_what_can_be_asked_is_told_as_it_is(wire: Wire, name: str, params: dict[str, str], done: bool) -> None:
    await interrupted(wire, name, done=done, **params)
    await wire.clock.advance(20 * SECOND)
    row = await after_the_start(wire)
    assert row.status is (Status.DONE if done else Status.FAILED)
    assert ("it is so" if done else "it is not so") in row.detail
    await wire.approvals.start()
    assert (await action_logs.latest(wire.db, 5))[0].detail == row.detail


@pytest.mark.parametrize("name", ["untimeout", "unban"])
@pytest.mark.parametrize("done", [True, False])
async def test_whether_somebody_was_let_off(wire: Wire, name: str, done: bool) -> None:
    await wire.sim.ban("bob")
    await wire.clock.advance(MINUTE)
    await interrupted(wire, name, done=done, target="bob")
    assert (await after_the_start(wire)).status is (Status.DONE if done else Status.FAILED)


async def test_who_was_banned_again_says_nothing_about_the_lifting(wire: Wire) -> None:
    await interrupted(wire, "unban", done=False, target="bob")
    await wire.clock.advance(5 * SECOND)
    await wire.sim.ban("bob")
    assert (await after_the_start(wire)).status is Status.UNKNOWN


@pytest.mark.parametrize("done", [True, False])
async def test_a_timeout_that_would_be_over_is_unknown(wire: Wire, done: bool) -> None:
    await interrupted(wire, "timeout", done=done, target="bob", seconds="60", reason="")
    await wire.clock.advance(2 * MINUTE)
    assert (await after_the_start(wire)).status is Status.UNKNOWN


@pytest.mark.parametrize(("name", "seconds"), [("ban", "0"), ("timeout", "60")])
async def test_another_moderators_deed_is_not_the_bots(wire: Wire, name: str, seconds: str) -> None:
    await interrupted(wire, name, done=False, target="bob", seconds=seconds, reason="")
    await (wire.sim.ban("bob") if name == "ban" else wire.sim.timeout("bob", 600))
    assert (await after_the_start(wire)).status is Status.UNKNOWN


@pytest.mark.parametrize("name", ["ban", "timeout"])
async def test_what_the_bot_did_long_before_says_nothing(wire: Wire, name: str) -> None:
    bob = wire.sim.world.user("bob").id
    await (wire.helix.ban(bob, "") if name == "ban" else wire.helix.timeout(bob, 600, ""))
    await wire.clock.advance(MINUTE)
    await interrupted(wire, name, done=False, target="bob", seconds="60", reason="")
    assert (await after_the_start(wire)).status is Status.UNKNOWN


async def test_a_ban_is_no_timeout(wire: Wire) -> None:
    await interrupted(wire, "timeout", done=False, target="bob", seconds="60", reason="")
    await wire.helix.ban(wire.sim.world.user("bob").id, "")
    assert (await after_the_start(wire)).status is Status.UNKNOWN


async def test_a_timeout_is_no_ban(wire: Wire) -> None:
    await interrupted(wire, "ban", done=False, target="bob", reason="")
    await wire.sim.timeout("bob", 600)
    assert (await after_the_start(wire)).status is Status.FAILED


async def test_a_mode_that_holds_is_still_taken_back_in_time(wire: Wire) -> None:
    await interrupted(wire, "emote_only", done=True, seconds="60")
    await wire.clock.advance(20 * SECOND)
    await after_the_start(wire)
    assert wire.sim.world.rules.emote_mode
    await wire.clock.advance(MINUTE)
    await wire.approvals.work_off()
    assert not wire.sim.world.rules.emote_mode
    assert (await action_logs.latest(wire.db, 1))[0].status is Status.UNDONE


async def test_a_moderators_own_slow_mode_is_left_on(wire: Wire) -> None:
    await interrupted(wire, "slow_mode", done=False, seconds="60", gap="5")
    wire.sim.world.rules.slow_mode, wire.sim.world.rules.slow_mode_wait_time = True, 30
    assert (await after_the_start(wire)).status is Status.FAILED
    await wire.clock.advance(2 * MINUTE)
    await wire.approvals.work_off()
    assert wire.sim.world.rules.slow_mode
    assert wire.calls("PATCH", "chat/settings") == []


@pytest.mark.parametrize(
    ("name", "params"),
    [("delete", {"target": "bob"}), ("announce", {"text": "hi"}), ("clip", {}), ("say", {"text": "x"})],
)
async def test_what_twitch_cannot_tell_is_unknown_and_nothing_is_asked(
    wire: Wire, name: str, params: dict[str, str]
) -> None:
    await interrupted(wire, name, done=False, **params)
    before = len(wire.sim.requests)
    assert (await after_the_start(wire)).status is Status.UNKNOWN
    assert len(wire.sim.requests) == before


@pytest.mark.parametrize("how", [{"status": 503}, {"stall": True}, {"html": True}, {"status": 403}, {"status": 429}])
async def test_a_twitch_that_does_not_answer_leaves_it_unknown(wire: Wire, how: dict[str, int]) -> None:
    await interrupted(wire, "ban", done=True, target="bob", reason="")
    wire.sim.faults.add("helix", path="moderation/banned", times=None, **how)
    async with asyncio.timeout(3):
        assert (await after_the_start(wire)).status is Status.UNKNOWN


async def test_without_the_streamers_log_in_it_is_unknown(wire: Wire) -> None:
    await interrupted(wire, "ban", done=True, target="bob", reason="")
    wire.helix._broadcaster = None  # nobody is logged in as broadcaster
    assert (await after_the_start(wire)).status is Status.UNKNOWN


async def test_an_undo_that_a_crash_left_unnoted_is_not_told_as_failed(wire: Wire) -> None:
    """The timeout was lifted, and the program died before it could write that down."""
    await wire.timeout()
    async with wire.db.write() as tx:
        assert await action_logs.ask_for_undo(tx, 1, by="9", now=wire.clock.now())
    await wire.helix.untimeout(wire.sim.world.user("alice").id)
    await wire.approvals.start()
    [row] = await action_logs.latest(wire.db, 1)
    assert (row.status, row.detail) == (Status.UNDONE, "taken back")
