"""The executor: decided by rule or by a person, done at most once, told truthfully, undone."""

import asyncio

import msgspec
import pytest

from forgetmenot import errors
from forgetmenot.domain import Outcome, OutcomeKind, Proposal, Verdict
from forgetmenot.durations import MINUTE
from forgetmenot.languages import ENGLISH
from forgetmenot.operations.facts import ActionContext
from forgetmenot.settings.schema import BridgeSettings
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus
from tests.operations.conftest import Room


async def test_an_effect_is_run_where_the_settings_list_it_and_no_other(
    room: Room,
) -> None:
    room.settings = msgspec.structs.replace(
        room.settings, bridge=BridgeSettings(firebot_lists=("Confetti",))
    )
    assert (
        await room.propose("effect", {"effect": "end the stream"})
    ).decision.verdict is Verdict.DENY
    denied = await room.propose(
        "effect", {"effect": "confetti"}, text="no confetti please"
    )
    assert denied.decision.rule == "asked_in_words"
    carried = await room.propose(
        "effect", {"effect": "confetti"}, text="@bot some CONFETTI please"
    )
    assert room.account.done_actions == ["effect Confetti"]
    assert carried.words_hint == "Done: effect “Confetti”."


async def test_nobody_is_hit_who_is_immune_new_or_not_in_chat_and_twitch_has_the_last_word(
    room: Room,
) -> None:
    for login in ("vera", "carol", "streamer", "othersbot", "newbie"):
        assert (await room.propose("timeout", {"target": login})).decision.rule in {
            "immune",
            "not_a_bot",
            "newcomer",
        }
        await room.clock.advance(11 * MINUTE)
        await room.speak()
    room.account.immune = {"1"}
    for error in (None, errors.TwitchUnavailable("down"), TimeoutError()):
        room.account.immunity_error = error
        assert (await room.timeout_alice()).decision.rule == "immune"
    async with room.db.write() as tx:
        await tx.execute(
            "UPDATE events SET redacted_at = ?, text = '' WHERE viewer_id = '2'",
            (room.clock.now(),),
        )
    for name in ("ban", "timeout", "long_timeout", "shoutout"):
        assert (
            await room.propose(name, {"target": "bob"}, asker="carol")
        ).decision.rule == "target_known"
    assert room.account.done_actions == []


async def test_class_b_rests_for_its_target_and_who_is_refused_thrice_waits(
    room: Room,
) -> None:
    await room.timeout_alice()
    for minutes in (0, 6):
        await room.clock.advance(minutes * MINUTE)
        await room.speak()
        assert (await room.timeout_alice()).decision.rule == "too_soon"
    carried = await room.propose(
        "timeout", {"target": "me"}, asker="bob", text="@bot time me out"
    )
    assert carried.decision.verdict is Verdict.ALLOW
    await room.clock.advance(11 * MINUTE)
    await room.speak()
    for _ in range(4):  # what nobody asked for counts against nobody
        assert (
            await room.propose("clip", text="nice one")
        ).decision.rule == "asked_in_words"
    for _ in range(3):
        assert (
            await room.propose("timeout", {"target": "bob"})
        ).decision.rule == "consent"
    assert (await room.propose("clip")).decision.rule == "refused_often"
    assert (await room.propose("clip", asker="bob")).decision.verdict is Verdict.ALLOW
    await room.clock.advance(11 * MINUTE)
    assert (await room.propose("clip")).decision.verdict is Verdict.ALLOW


async def test_at_once_and_together_it_is_still_once(room: Room) -> None:
    context = ActionContext(event=room.event("alice", "clip it"), key="same")
    await asyncio.gather(
        *(room.executor.carry_out(Proposal("clip"), context) for _ in range(5))
    )
    assert room.account.done_actions == ["clip"]


async def test_an_action_that_fails_in_an_unexpected_way_is_settled(room: Room) -> None:
    room.account.answer = RecursionError("too deep")
    await room.propose("clip")
    [row] = await action_logs.latest(room.db, 5)
    assert row.status is ActionStatus.UNKNOWN
    assert "Internal error" in ENGLISH.reason(row.detail)


async def test_a_mode_is_taken_back_after_a_crash_and_while_twitch_is_away_for_an_hour(
    room: Room,
) -> None:
    class Crash(BaseException):
        pass

    async def die() -> None:
        raise Crash

    room.account.before = die
    with pytest.raises(Crash):
        await room.propose(
            "emote_only", {"seconds": "20"}, asker="carol", text="emote only please"
        )
    room.account.before = None
    room.account.answer = errors.TwitchUnavailable("down")
    await room.clock.advance(30_000)
    await room.executor.recover()
    assert [row.status for row in await action_logs.latest(room.db, 5)] == [
        ActionStatus.UNKNOWN
    ]
    room.account.answer = Outcome(OutcomeKind.DONE)
    await room.clock.advance(20_000)
    await room.executor.work_off()
    assert room.account.done_actions == [
        "emote_only True",
        "emote_only False",
        "emote_only False",
    ]
    assert [row.status for row in await action_logs.latest(room.db, 5)] == [
        ActionStatus.UNDONE
    ]
    await room.clock.advance(31 * MINUTE)
    await room.speak()
    await room.propose(
        "emote_only", {"seconds": "20"}, asker="carol", text="emote only please"
    )
    room.account.answer = Outcome(OutcomeKind.REFUSED, "not a moderator any more")
    tried = []
    for _ in range(6):
        await room.clock.advance(20 * MINUTE)
        await room.executor.work_off()
        tried.append(len(room.account.done_actions))
    assert tried[0] > 4
    assert tried[-2:] == tried[-1:] * 2
    assert "not undone" in (await action_logs.latest(room.db, 1))[0].detail


@pytest.mark.parametrize(
    ("name", "params", "text", "call"),
    [
        (
            "timeout",
            {"target": "me", "seconds": "30"},
            "@bot time me out",
            "timeout 1 30",
        ),
        (
            "delete",
            {"target": "me"},
            "@bot delete my message",
            "delete said-1",
        ),  # not the wish itself
        ("marker", {}, "mark this", "marker"),
        ("shoutout", {"target": "bob"}, "shoutout to bob", "shoutout 2"),
        ("announce", {"text": "hear, hear"}, "announce it", "announce hear, hear"),
        (
            "bit",
            {},
            "running joke: the lamp fell again",
            "bit the lamp fell again by 9",
        ),
        (
            "remember",
            {"target": "bob", "fact": "x"},
            "remember that bob knits",
            "remember 2 knits by 9",
        ),
        (
            "forget",
            {"target": "bob", "what": "all"},
            "please forget bob tea",
            "forget 2 tea by 9",
        ),
    ],
)
async def test_each_action_makes_its_one_call(
    room: Room, name: str, params: dict[str, str], text: str, call: str
) -> None:
    carried = await room.propose(
        name,
        params,
        asker="alice" if name in {"timeout", "delete"} else "carol",
        text=text,
    )
    assert carried.decision.verdict in {Verdict.ALLOW, Verdict.ALLOW_CHANGED}
    assert room.account.done_actions == [call]
    row = await action_logs.get(room.db, carried.log_id or 0)
    assert row is not None
    assert row.status is ActionStatus.DONE
    # a note goes with the line that asked for it, when that is deleted
    assert room.line == (
        f"trigger-{room.proposals}" if name in {"bit", "remember", "forget"} else ""
    )


# ── people decide ──


async def _ask_for_ban(room: Room, login: str = "bob") -> int:
    carried = await room.propose("ban", {"target": login}, asker="carol")
    assert carried.decision.verdict is Verdict.ASK
    return carried.log_id or 0


async def test_a_ban_waits_and_is_carried_out_once_when_people_say_so(
    room: Room,
) -> None:
    waiting = await _ask_for_ban(room)
    assert room.account.done_actions == []
    approvals = (
        room.executor.approve(waiting, "9"),
        room.executor.approve(waiting, "100"),
    )
    assert sorted(result.code for result in await asyncio.gather(*approvals)) == [
        "approved",
        "not_waiting",
    ]
    lapsed = await _ask_for_ban(room, "alice")
    await room.clock.advance(5 * MINUTE)
    await room.speak()
    assert (await room.executor.approve(lapsed, "9")).code == "not_waiting"
    assert room.account.done_actions == ["ban 2"]


async def test_approval_looks_again_and_claims_nothing(room: Room) -> None:
    for answer, code in (
        (OutcomeKind.UNKNOWN, "approved_unknown"),
        (OutcomeKind.REFUSED, "approved_failed"),
    ):
        room.account.before = (
            asyncio.Event().wait if answer is OutcomeKind.UNKNOWN else None
        )
        room.account.answer = Outcome(answer, "no")
        assert (await room.executor.approve(await _ask_for_ban(room), "9")).code == code
    room.account.done_actions.clear()
    first = await _ask_for_ban(room)
    second = await _ask_for_ban(room, "alice")
    room.account.immune = {"2"}
    assert "moderator" in str((await room.executor.approve(first, "9")).data["reason"])
    await room.set_state(safe_mode="1")
    assert not (await room.executor.approve(second, "9")).ok
    assert room.account.done_actions == []


async def test_an_undo_lifts_what_holds_and_without_a_number_nothing_old(
    room: Room,
) -> None:
    """A slip of the finger lifts no ban of last week; and what has ended by itself would be somebody else's by now."""
    waiting = await _ask_for_ban(room)
    assert (await room.executor.approve(waiting, "9")).ok
    await room.clock.advance(61 * MINUTE)
    assert (await room.executor.undo("9")).code == "nothing_to_undo"
    await room.speak()
    assert (await room.executor.approve(await _ask_for_ban(room, "alice"), "9")).ok
    carried = await room.timeout_alice()
    for answer, code in (
        (OutcomeKind.UNKNOWN, "undo_later"),
        (OutcomeKind.DONE, "cannot_undo"),
    ):
        room.account.answer = Outcome(answer)
        assert (await room.executor.undo("9", carried.log_id)).code == code
        await room.clock.advance(MINUTE)
        await room.executor.work_off()
    assert room.account.done_actions[3:] == ["untimeout 1"]
    assert (await room.executor.undo("9")).ok
    assert (await room.executor.undo("9", waiting)).ok
    assert room.account.done_actions[4:] == ["untimeout 1", "untimeout 2"]


async def test_what_a_moderator_asks_in_vain_counts_against_nobody(room: Room) -> None:
    for _ in range(5):
        denied = await room.propose(
            "timeout", {"target": "vera"}, asker="carol", text="@bot time vera out"
        )
        assert denied.decision.rule == "immune"
    assert (await room.propose("clip", asker="carol")).decision.verdict is Verdict.ALLOW
