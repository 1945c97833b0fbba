"""People decide: what waits, lapses, is approved, refused, undone."""

from __future__ import annotations

import asyncio

from forgetmenot.clock import MINUTE
from forgetmenot.domain import Outcome, OutcomeKind, Verdict
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus
from tests.operations.conftest import Room


async def _ask_for_ban(room: Room, who: str = "bob") -> int:
    carried = await room.propose("ban", {"target": who}, who="carol")
    assert carried.decision.verdict is Verdict.ASK
    assert carried.words_hint == f"Type !approve {carried.log_id} and I'll do it (ban {who.title()})."
    return carried.log_id or 0


async def test_a_ban_waits_and_is_carried_out_when_a_person_says_so(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    assert room.ports.calls == []
    assert [row.id for row in await action_logs.waiting(room.db, room.clock.now())] == [waiting]
    answer = await room.approvals.approve(waiting, "9")
    assert (answer.ok, answer.data["line"]) == (True, "Bob is banned.")
    assert room.ports.calls == [("ban", "2")]
    assert not (await room.approvals.approve(waiting, "9")).ok
    assert room.ports.calls == [("ban", "2")]


async def test_what_waits_too_long_lapses(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    await room.clock.advance(5 * MINUTE)
    assert not (await room.approvals.approve(waiting, "9")).ok
    await room.approvals.work_off()
    row = await action_logs.get(room.db, waiting)
    assert row is not None
    assert row.status is ActionStatus.EXPIRED
    assert room.ports.calls == []


async def test_approval_looks_again(room: Room) -> None:
    first, second = await _ask_for_ban(room), await _ask_for_ban(room, "alice")
    room.ports.immune = {"2"}
    answer = await room.approvals.approve(first, "9")
    assert not answer.ok
    assert "moderator" in str(answer.data["reason"])
    await room.set_state(safe_mode="1")
    assert not (await room.approvals.approve(second, "9")).ok
    assert room.ports.calls == []


async def test_another_process_approves_and_the_bot_carries_it_out(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    async with room.db.write() as tx:
        assert await action_logs.approve_elsewhere(tx, waiting, by="the command line", now=room.clock.now())
    await room.approvals.work_off()
    await room.approvals.work_off()
    assert room.ports.calls == [("ban", "2")]


async def test_an_undo_without_a_number_means_nothing_old(room: Room) -> None:
    """A slip of the finger lifts no ban of last week; its number does."""
    waiting = await _ask_for_ban(room)
    assert (await room.approvals.approve(waiting, "9")).ok
    await room.clock.advance(61 * MINUTE)
    answer = await room.approvals.undo("9")
    assert not answer.ok
    assert answer.code == "nothing_to_undo"
    assert ("untimeout", "2") not in room.ports.calls
    assert (await room.approvals.undo("9", waiting)).ok
    assert room.ports.calls[-1] == ("untimeout", "2")


async def test_a_timeout_that_has_ended_is_not_taken_back(room: Room) -> None:
    """What holds by now would be somebody else's; and the undo is for what came before it."""
    waiting = await _ask_for_ban(room)
    assert (await room.approvals.approve(waiting, "9")).ok
    carried = await room.timeout_alice()
    await room.clock.advance(MINUTE)
    assert not (await room.approvals.undo("9", carried.log_id)).ok
    assert ("untimeout", "1") not in room.ports.calls
    assert (await room.approvals.undo("9")).ok
    assert room.ports.calls[-1] == ("untimeout", "2")


async def test_an_undo_that_is_tried_again_lifts_no_later_timeout(room: Room) -> None:
    carried = await room.timeout_alice()
    room.ports.answer = Outcome(OutcomeKind.UNKNOWN, "Twitch is away")
    assert (await room.approvals.undo("9", carried.log_id)).code == "undo_later"
    calls = len(room.ports.calls)
    await room.clock.advance(MINUTE)
    await room.approvals.work_off()
    assert len(room.ports.calls) == calls


async def test_an_undo_that_twitch_refuses_is_not_tried_for_ever(room: Room) -> None:
    carried = await room.timeout_alice()
    room.ports.answer = Outcome(OutcomeKind.REFUSED, "not timed out")
    assert not (await room.approvals.undo("9", carried.log_id)).ok
    calls = len(room.ports.calls)
    await room.clock.advance(MINUTE)
    await room.approvals.work_off()
    assert len(room.ports.calls) == calls


async def test_a_ban_that_twitch_does_not_answer_is_not_claimed(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    room.ports.hangs = True
    answer = await room.approvals.approve(waiting, "9")
    assert not answer.ok
    assert answer.code == "approved_unknown"
    room.ports.hangs = False
    room.ports.answer = Outcome(OutcomeKind.REFUSED, "no")
    assert (await room.approvals.approve(await _ask_for_ban(room), "9")).code == "approved_failed"


async def test_two_people_approve_at_once_and_it_happens_once(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    answers = await asyncio.gather(room.approvals.approve(waiting, "9"), room.approvals.approve(waiting, "100"))
    assert sorted(answer.ok for answer in answers) == [False, True]
    assert room.ports.calls == [("ban", "2")]


async def test_a_mode_that_cannot_be_taken_back_is_given_up_after_an_hour(room: Room) -> None:
    await room.propose("emote_only", {"seconds": "20"}, who="carol", text="emote only please")
    room.ports.answer = Outcome(OutcomeKind.REFUSED, "not a moderator any more")
    for _ in range(5):
        await room.clock.advance(20 * MINUTE)
        await room.approvals.work_off()
    calls = len(room.ports.calls)
    await room.clock.advance(20 * MINUTE)
    await room.approvals.work_off()
    assert len(room.ports.calls) == calls
    assert "not undone" in (await action_logs.latest(room.db, 1))[0].detail


async def _gone(room: Room, viewer_id: str, *, banned: bool = True) -> None:
    """What Twitch's word of a ban or a timeout leaves: no line of theirs, and a mark if it is a ban."""
    at = room.clock.now()
    async with room.db.write() as tx:
        await tx.execute("UPDATE events SET redacted_at = ?, text = '' WHERE viewer_id = ?", (at, viewer_id))
        if banned:
            await tx.execute("UPDATE viewers SET banned_at = ? WHERE id = ?", (at, viewer_id))


async def test_who_is_banned_is_found_by_login_to_be_unbanned(room: Room) -> None:
    await _gone(room, "2")
    for nobody in ("2", "nobody_at_all"):  # an id is no name
        refused = await room.propose("unban", {"target": nobody}, who="carol")
        assert refused.decision.rule == "target_known"
    carried = await room.propose("unban", {"target": "@Bob"}, who="carol")
    assert carried.decision.verdict is Verdict.ASK
    assert (await room.approvals.approve(carried.log_id or 0, "9")).ok
    assert room.ports.calls == [("untimeout", "2")]


async def test_a_timeout_of_its_own_can_be_lifted_while_it_lasts(room: Room) -> None:
    assert (await room.timeout_alice()).decision.verdict is Verdict.ALLOW
    await _gone(room, "1", banned=False)
    await room.clock.advance(10_000)  # the rests after class B are for what it does, not for taking that back
    carried = await room.propose("untimeout", {"target": "alice"}, who="carol")
    assert carried.decision.verdict is Verdict.ALLOW, carried.decision
    assert room.ports.calls[-1] == ("untimeout", "1")


async def test_nobody_who_is_not_in_chat_is_hit(room: Room) -> None:
    """Only what lifts something finds people who are not there."""
    await _gone(room, "2")
    for name in ("ban", "timeout", "long_timeout", "shoutout"):
        assert (await room.propose(name, {"target": "bob"}, who="carol")).decision.verdict is Verdict.DENY
