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
    answer = await room.executor.approve(waiting, "9")
    assert (answer.ok, answer.data["line"]) == (True, "Bob is banned.")
    assert room.ports.calls == [("ban", "2")]
    assert not (await room.executor.approve(waiting, "9")).ok
    assert room.ports.calls == [("ban", "2")]


async def test_what_waits_too_long_lapses(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    await room.clock.advance(5 * MINUTE)
    assert not (await room.executor.approve(waiting, "9")).ok
    await room.executor.work_off()
    row = await action_logs.get(room.db, waiting)
    assert row is not None
    assert row.status is ActionStatus.EXPIRED
    assert room.ports.calls == []


async def test_approval_looks_again(room: Room) -> None:
    first, second = await _ask_for_ban(room), await _ask_for_ban(room, "alice")
    room.ports.immune = {"2"}
    answer = await room.executor.approve(first, "9")
    assert not answer.ok
    assert "moderator" in str(answer.data["reason"])
    await room.set_state(safe_mode="1")
    assert not (await room.executor.approve(second, "9")).ok
    assert room.ports.calls == []


async def test_an_undo_without_a_number_means_nothing_old(room: Room) -> None:
    """A slip of the finger lifts no ban of last week; its number does."""
    waiting = await _ask_for_ban(room)
    assert (await room.executor.approve(waiting, "9")).ok
    await room.clock.advance(61 * MINUTE)
    answer = await room.executor.undo("9")
    assert not answer.ok
    assert answer.code == "nothing_to_undo"
    assert ("untimeout", "2") not in room.ports.calls
    assert (await room.executor.undo("9", waiting)).ok
    assert room.ports.calls[-1] == ("untimeout", "2")


async def test_a_timeout_that_has_ended_is_not_taken_back(room: Room) -> None:
    """What holds by now would be somebody else's; and the undo is for what came before it."""
    waiting = await _ask_for_ban(room)
    assert (await room.executor.approve(waiting, "9")).ok
    carried = await room.timeout_alice()
    await room.clock.advance(MINUTE)
    assert not (await room.executor.undo("9", carried.log_id)).ok
    assert ("untimeout", "1") not in room.ports.calls
    assert (await room.executor.undo("9")).ok
    assert room.ports.calls[-1] == ("untimeout", "2")


async def test_an_undo_that_is_tried_again_lifts_no_later_timeout(room: Room) -> None:
    carried = await room.timeout_alice()
    room.ports.answer = Outcome(OutcomeKind.UNKNOWN, "Twitch is away")
    assert (await room.executor.undo("9", carried.log_id)).code == "undo_later"
    calls = len(room.ports.calls)
    await room.clock.advance(MINUTE)
    await room.executor.work_off()
    assert len(room.ports.calls) == calls


async def test_an_undo_that_twitch_refuses_is_not_tried_for_ever(room: Room) -> None:
    carried = await room.timeout_alice()
    room.ports.answer = Outcome(OutcomeKind.REFUSED, "not timed out")
    assert not (await room.executor.undo("9", carried.log_id)).ok
    calls = len(room.ports.calls)
    await room.clock.advance(MINUTE)
    await room.executor.work_off()
    assert len(room.ports.calls) == calls


async def test_a_ban_that_twitch_does_not_answer_is_not_claimed(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    room.ports.hangs = True
    answer = await room.executor.approve(waiting, "9")
    assert not answer.ok
    assert answer.code == "approved_unknown"
    room.ports.hangs = False
    room.ports.answer = Outcome(OutcomeKind.REFUSED, "no")
    assert (await room.executor.approve(await _ask_for_ban(room), "9")).code == "approved_failed"


async def test_two_people_approve_at_once_and_it_happens_once(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    answers = await asyncio.gather(room.executor.approve(waiting, "9"), room.executor.approve(waiting, "100"))
    assert sorted(answer.ok for answer in answers) == [False, True]
    assert room.ports.calls == [("ban", "2")]


async def test_a_mode_that_cannot_be_taken_back_is_given_up_after_an_hour(room: Room) -> None:
    await room.propose("emote_only", {"seconds": "20"}, who="carol", text="emote only please")
    room.ports.answer = Outcome(OutcomeKind.REFUSED, "not a moderator any more")
    for _ in range(5):
        await room.clock.advance(20 * MINUTE)
        await room.executor.work_off()
    calls = len(room.ports.calls)
    await room.clock.advance(20 * MINUTE)
    await room.executor.work_off()
    assert len(room.ports.calls) == calls
    assert "not undone" in (await action_logs.latest(room.db, 1))[0].detail


async def test_nobody_who_is_not_in_chat_is_hit(room: Room) -> None:
    async with room.db.write() as tx:
        await tx.execute("UPDATE events SET redacted_at = ?, text = '' WHERE viewer_id = '2'", (room.clock.now(),))
    for name in ("ban", "timeout", "long_timeout", "shoutout"):
        assert (await room.propose(name, {"target": "bob"}, who="carol")).decision.rule == "target_known"
