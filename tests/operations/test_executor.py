"""The executor: decided by rule or by a person, done at most once, told truthfully, undone."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from forgetmenot import errors
from forgetmenot.clock import MINUTE
from forgetmenot.domain import Outcome, OutcomeKind, Proposal, Verdict
from forgetmenot.operations.facts import ActionContext, lately
from forgetmenot.prompt.material import ActionDone
from forgetmenot.settings.schema import BridgeSettings
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus
from tests.operations.conftest import Room


async def test_a_wish_is_decided_done_and_logged(room: Room) -> None:
    carried = await room.timeout_alice()
    assert room.ports.calls == [("timeout", "1", "30")]
    assert carried.outcome is not None
    assert (carried.decision.verdict, carried.outcome.kind) == (Verdict.ALLOW, OutcomeKind.DONE)
    assert carried.words_hint == "Done: timeout Alice 30 s."
    row = await action_logs.get(room.db, carried.log_id or 0)
    assert row is not None
    assert (row.status, row.rule, row.target_id, row.asked_by) == (ActionStatus.DONE, "allowed", "1", "1")


async def test_an_effect_is_run_where_the_settings_list_it_and_no_other(room: Room) -> None:
    room.current[0] = msgspec.structs.replace(room.current[0], bridge=BridgeSettings(firebot_lists=("Confetti",)))
    assert (await room.propose("effect", {"effect": "end the stream"})).decision.verdict is Verdict.DENY
    for line in ("hi", "what does confetti do", "no confetti please"):
        denied = await room.propose("effect", {"effect": "confetti"}, text=line)
        assert denied.decision.rule == "asked_in_words"
    carried = await room.propose("effect", {"effect": "confetti"}, text="@bot some CONFETTI please")
    assert room.ports.calls == [("effect", "Confetti")]
    assert carried.words_hint == "Done: effect “Confetti”."


async def test_who_is_immune_is_left_alone_and_twitch_has_the_last_word(room: Room) -> None:
    for who in ("vera", "carol", "streamer", "othersbot", "newbie"):
        assert (await room.propose("timeout", {"target": who})).decision.rule in {"immune", "not_a_bot", "newcomer"}
        await room.clock.advance(11 * MINUTE)
        await room.speak()
    room.ports.immune = {"1"}
    assert (await room.timeout_alice()).decision.rule == "immune"
    for error in (errors.TwitchUnavailable("down"), TimeoutError()):
        room.ports.immunity_error = error
        assert (await room.timeout_alice()).decision.rule == "immune"
    assert room.ports.calls == []


async def test_class_b_rests_for_everybody_and_for_its_target(room: Room) -> None:
    await room.timeout_alice()
    assert (await room.timeout_alice()).decision.rule == "too_soon"
    await room.clock.advance(6 * MINUTE)
    await room.speak()
    assert (await room.timeout_alice()).decision.rule == "too_soon"
    asked = await room.propose("timeout", {"target": "me"}, who="bob", text="@bot time me out")
    assert asked.decision.verdict is Verdict.ALLOW


async def test_who_is_refused_thrice_has_to_wait_but_not_for_what_nobody_asked(room: Room) -> None:
    wishes = (Proposal("bit", {"text": "Hello again."}), Proposal("clip"), Proposal("marker"), Proposal("clip"))
    rules = [(await room.propose(one.name, dict(one.params), text="nice one")).decision.rule for one in wishes]
    assert rules == ["asked_in_words"] * 4
    for _ in range(3):
        assert (await room.propose("timeout", {"target": "bob"})).decision.rule == "consent"
    assert (await room.propose("clip")).decision.rule == "refused_often"
    assert (await room.propose("clip", who="bob", text="clip das bitte")).decision.verdict is Verdict.ALLOW
    await room.clock.advance(11 * MINUTE)
    assert (await room.propose("clip")).decision.verdict is Verdict.ALLOW


async def test_at_once_and_together_it_is_still_once(room: Room) -> None:
    context = ActionContext(event=room.event("alice", "clip it"), key="same")
    await asyncio.gather(*(room.executor.carry_out(Proposal("clip"), context) for _ in range(5)))
    assert room.ports.calls == [("clip",)]


async def test_a_mode_is_taken_back_after_a_crash_and_while_twitch_is_away_again_and_again(room: Room) -> None:
    class Crash(BaseException):
        pass

    async def die() -> None:
        raise Crash

    room.ports.before = die
    with pytest.raises(Crash):
        await room.propose("emote_only", {"seconds": "20"}, who="carol", text="emote only please")
    room.ports.before = None
    room.ports.answer = errors.TwitchUnavailable("down")
    await room.clock.advance(30_000)
    await room.executor.recover()
    assert [row.status for row in await action_logs.latest(room.db, 5)] == [ActionStatus.UNKNOWN]
    room.ports.answer = Outcome(OutcomeKind.DONE)
    await room.clock.advance(20_000)
    await room.executor.work_off()
    assert room.ports.calls == [("emote_only", "True"), ("emote_only", "False"), ("emote_only", "False")]
    assert [row.status for row in await action_logs.latest(room.db, 5)] == [ActionStatus.UNDONE]


@pytest.mark.parametrize(
    ("name", "params", "text", "call"),
    [
        ("marker", {}, "mark this", ("marker", "")),
        ("shoutout", {"target": "bob"}, "shoutout to bob", ("shoutout", "2")),
        ("bit", {}, "running joke: the lamp fell again", ("bit", "the lamp fell again", "9")),
        ("remember", {"target": "bob", "fact": "x"}, "remember that bob knits", ("remember", "2", "knits", "9")),
        ("forget", {"target": "bob", "what": "all"}, "please forget bob tea", ("forget", "2", "tea", "9")),
        ("announce", {"text": "hear, hear"}, "announce it", ("announce", "hear, hear")),
        ("delete", {"target": "me"}, "@bot delete my message", ("delete_message", "said-1")),  # not the wish itself
    ],
)
async def test_each_action_makes_its_one_call(
    room: Room, name: str, params: dict[str, str], text: str, call: tuple[str, ...]
) -> None:
    carried = await room.propose(name, params, who="alice" if name == "delete" else "carol", text=text)
    assert carried.outcome is not None
    assert room.ports.calls == [call]
    # a note goes with the line that asked for it, when that is deleted
    assert room.ports.line == (f"trigger-{room.proposals}" if name in {"bit", "remember", "forget"} else "")


async def test_what_was_done_can_be_told_later(room: Room) -> None:
    await room.timeout_alice()
    await room.executor.undo("9")
    await room.propose("clip")
    await room.propose("ban", {"target": "bob"}, who="carol")
    await room.propose("timeout", {"target": "bob"})
    assert await lately(room.db, since=0) == (
        ActionDone(1, "timeout of <@1> for 30 s: done, and undone since"),
        ActionDone(2, "clip: done", "clip"),
        ActionDone(3, "ban of <@2>: not done: waits for a moderator"),
    )
    assert await lately(room.db, since=room.clock.now() + 1) == ()


# ── people decide ──


async def _ask_for_ban(room: Room, who: str = "bob") -> int:
    carried = await room.propose("ban", {"target": who}, who="carol")
    assert carried.decision.verdict is Verdict.ASK
    assert carried.words_hint == f"Type !approve {carried.log_id} and I'll do it (ban {who.title()})."
    return carried.log_id or 0


async def test_a_ban_waits_and_is_carried_out_once_when_people_say_so(room: Room) -> None:
    waiting = await _ask_for_ban(room)
    assert room.ports.calls == []
    assert [row.id for row in await action_logs.waiting(room.db, room.clock.now())] == [waiting]
    both = (room.executor.approve(waiting, "9"), room.executor.approve(waiting, "100"))
    answers = sorted(await asyncio.gather(*both), key=lambda one: one.ok)
    assert [(one.ok, one.code) for one in answers] == [(False, "not_waiting"), (True, "approved")]
    assert room.ports.calls == [("ban", "2")]
    lapsed = await _ask_for_ban(room, "alice")
    await room.clock.advance(5 * MINUTE)
    assert not (await room.executor.approve(lapsed, "9")).ok
    await room.executor.work_off()
    row = await action_logs.get(room.db, lapsed)
    assert row is not None
    assert row.status is ActionStatus.EXPIRED
    assert room.ports.calls == [("ban", "2")]


@pytest.mark.parametrize(
    ("answer", "code"), [(OutcomeKind.UNKNOWN, "undo_later"), (OutcomeKind.REFUSED, "cannot_undo")]
)
async def test_an_undo_that_failed_lifts_no_later_timeout(room: Room, answer: OutcomeKind, code: str) -> None:
    carried = await room.timeout_alice()
    room.ports.answer = Outcome(answer, "Twitch says no, or nothing")
    assert (await room.executor.undo("9", carried.log_id)).code == code
    calls = len(room.ports.calls)
    await room.clock.advance(MINUTE)
    await room.executor.work_off()
    assert len(room.ports.calls) == calls


async def test_approval_looks_again_and_claims_nothing(room: Room) -> None:
    for answer, code in ((OutcomeKind.UNKNOWN, "approved_unknown"), (OutcomeKind.REFUSED, "approved_failed")):
        room.ports.before = asyncio.Event().wait if answer is OutcomeKind.UNKNOWN else None
        room.ports.answer = Outcome(answer, "no")
        assert (await room.executor.approve(await _ask_for_ban(room), "9")).code == code
    room.ports.calls = []
    first, second = await _ask_for_ban(room), await _ask_for_ban(room, "alice")
    room.ports.immune = {"2"}
    assert "moderator" in str((await room.executor.approve(first, "9")).data["reason"])
    await room.set_state(safe_mode="1")
    assert not (await room.executor.approve(second, "9")).ok
    assert room.ports.calls == []


async def test_an_undo_lifts_what_holds_and_without_a_number_nothing_old(room: Room) -> None:
    """A slip of the finger lifts no ban of last week; and what has ended by itself would be somebody else's by now."""
    waiting = await _ask_for_ban(room)
    assert (await room.executor.approve(waiting, "9")).ok
    await room.clock.advance(61 * MINUTE)
    assert (await room.executor.undo("9")).code == "nothing_to_undo"
    await room.speak()
    assert (await room.executor.approve(await _ask_for_ban(room, "alice"), "9")).ok
    carried = await room.timeout_alice()
    await room.clock.advance(MINUTE)
    assert not (await room.executor.undo("9", carried.log_id)).ok
    assert [call for call in room.ports.calls if call[0] == "untimeout"] == []
    assert (await room.executor.undo("9")).ok
    assert (await room.executor.undo("9", waiting)).ok
    assert room.ports.calls[-2:] == [("untimeout", "1"), ("untimeout", "2")]


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
