"""Totals of a run, and what model calls cost and teach."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain.memory import NoteStatus, Scope, SourceKind
from forgetmenot.domain.model import Purpose, TokenUsage
from forgetmenot.prompt.material import estimate
from forgetmenot.settings.prices import Used
from forgetmenot.store import bot_messages, notes, run_stats
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.model_calls import (
    HIGHEST,
    LOWEST,
    Meter,
    factor_of,
    learn_factor,
    next_factor,
    spent,
)
from forgetmenot.store.notes import NewNote
from forgetmenot.store.run_stats import Totals, totals
from tests.loopback_servers.model_server import count
from tests.rows import put


async def learn(db: Database, fact: str) -> int:
    async with db.write() as tx:
        new = NewNote(Scope.CHANNEL, None, fact, 0.8, SourceKind.OBSERVED, 1)
        return await notes.insert(tx, new, cause="test", now=1)


async def answer(db: Database, status: ReplyStatus, estimated: int) -> None:
    async with db.write() as tx:
        row = await bot_messages.begin(tx, at=1, event_id=None, viewer_id=None, trigger="name", mode="shadow")
        usage = {"estimated": estimated}
        await bot_messages.record_answer(tx, row, model="fake", latency_ms=1, usage=usage, filters=())
        await bot_messages.settle(tx, row, status)


async def test_of_the_tokens_those_of_the_unchanged_prefix_are_counted(db: Database) -> None:
    """Of replies that have a prompt and an estimate alone: both halves of the share are of the same replies."""
    await answer(db, ReplyStatus.SENT, 1_000)
    async with db.write() as tx:
        await bot_messages.record_prompt(tx, 1, {"prefix_tokens": 600})
        row = await bot_messages.begin(tx, at=1, event_id=None, viewer_id=None, trigger="name", mode="shadow")
        await bot_messages.record_prompt(tx, row, {"prefix_tokens": 600})
        await bot_messages.settle(tx, row, ReplyStatus.SILENT)
    told = await totals(db)
    assert (told.estimated, told.prefix) == (1_000, 600)


async def test_what_was_deleted_since_still_counts(db: Database, clock: ManualClock) -> None:
    """Pruned after its days, or erased with a person: it happened."""
    await run_stats.begin_run(db, "test", 1)
    for status in (ReplyStatus.SENT, ReplyStatus.SHADOW, ReplyStatus.DROPPED):
        await answer(db, status, 100)
    meter = Meter(db, clock)
    await meter.record(Purpose.REPLY, "fake", TokenUsage(1_000, 600, 20, 0), 5, None)
    await meter.record(Purpose.SUMMARY, "fake", TokenUsage(), 5, "ModelUnavailable")
    old, new = await learn(db, "the boss has three phases"), await learn(db, "the boss has four phases")
    async with db.write() as tx:
        await bot_messages.record_prompt(tx, 1, {"prefix_tokens": 60})
        note = await notes.get(tx, old)
        assert note is not None
        await notes.set_status(tx, note, NoteStatus.SUPERSEDED, at=2, cause="test", superseded_by=new)
        for number, (verdict, status_) in enumerate((("allow", "done"), ("deny", "denied"))):
            await put(tx, "action_logs", key=str(number), verdict=verdict, rule="test", reason="test", status=status_)
    told = await totals(db)
    assert told == Totals(0, 2, 1, 2, 2, 1, 1, 1, 2, 300, 60, 1_000, 600, 1_000)
    async with db.write() as tx:
        await tx.execute("DELETE FROM bot_messages")
        await tx.execute("DELETE FROM action_logs")
        await tx.execute("DELETE FROM semantic_notes")
        await tx.execute("DELETE FROM model_calls")
    assert await totals(db) == told


LINES = {
    "chat": "alice: that was so close omg|bob: lol true|carol: what game is this|dave: he missed the jump again",
    "emotes": "alice: KEKW KEKW|bob: PogChamp catJAM|carol: OMEGALUL LETSGO|dave: monkaS peepoHappy widepeepoSad",
    "japanese": "alice: こんばんは、今日もよろしくお願いします|bob: 草生える|carol: すごい！|dave: 猫の名前はミソです",
    "cyrillic": "alice: привет всем, как дела|bob: ну ты даёшь|carol: спасибо за стрим|dave: я играю на барабанах",
}
PERSONA = "You are a warm, quick-witted regular of this channel who remembers what is worth remembering. " * 20


def _prompts(kind: str, how_many: int) -> list[str]:
    dice = random.Random(7)
    lines = LINES[kind].split("|")
    mixed = [*lines, *lines, *LINES["chat"].split("|")]
    return [PERSONA + "\n".join(dice.choices(mixed, k=dice.randint(20, 90))) for _ in range(how_many)]


@pytest.mark.parametrize("kind", LINES)
async def test_after_twenty_replies_the_mean_error_is_small_and_it_is_hardly_ever_too_low(
    db: Database, kind: str
) -> None:
    errors = []
    for number, prompt in enumerate(_prompts(kind, 60)):
        factor = await factor_of(db, "m")
        estimated, billed = estimate(prompt, factor), count(prompt)
        if number >= 20:
            errors.append(estimated / billed - 1)
        await learn_factor(db, "m", estimated, billed, at=number, factor=factor)
    assert sum(map(abs, errors)) / len(errors) <= 0.05
    assert min(errors) >= -0.10


async def test_what_was_learned_survives_a_restart_and_belongs_to_one_model(tmp_path: Path) -> None:
    async with open_database(tmp_path / "m.sqlite3") as db:
        assert await factor_of(db, "m") == 1.0
        assert await learn_factor(db, "m", 1_000, 800, at=1) == 0.8
    async with open_database(tmp_path / "m.sqlite3") as db:
        assert await factor_of(db, "m") == 0.8
        assert await factor_of(db, "other") == 1.0


async def test_an_estimate_made_with_a_factor_is_held_against_the_bill_without_it(db: Database) -> None:
    await learn_factor(db, "m", 1_000, 800, at=1)
    for at in range(2, 20):
        await learn_factor(db, "m", 800, 800, at=at, factor=0.8)
    assert await factor_of(db, "m") == pytest.approx(0.8)


@pytest.mark.parametrize(("estimated", "billed"), [(1_000, None), (1_000, 3), (10, 900), (0, 0)])
async def test_a_missing_or_meaningless_bill_teaches_nothing(db: Database, estimated: int, billed: int | None) -> None:
    assert await learn_factor(db, "m", estimated, billed, at=1) == 1.0


def test_one_odd_bill_moves_it_little() -> None:
    factor = 1.0
    for samples in range(20):
        factor = next_factor(factor, samples, 1.0)
    assert next_factor(factor, 20, 50.0) < 1.1


@given(st.lists(st.floats(min_value=0.0, max_value=1e6), min_size=1, max_size=50))
def test_it_stays_within_sane_limits_whatever_is_billed(ratios: list[float]) -> None:
    factor = 1.0
    for samples, ratio in enumerate(ratios):
        factor = next_factor(factor, samples, ratio)
        assert LOWEST <= factor <= HIGHEST


async def test_calls_are_summed_by_model_and_time(db: Database, clock: ManualClock) -> None:
    meter, start = Meter(db, clock), clock.now()
    await meter.record(Purpose.REPLY, "m", TokenUsage(1_000, 600, 20, 5), 800, None)
    await clock.advance(MINUTE)
    await meter.record(Purpose.REPLY, "m", TokenUsage(), 12_000, "ModelUnavailable")
    await meter.record(Purpose.SUMMARY, "n", TokenUsage(2_000, None, 100, None), 900, None)
    assert await spent(db, since=0) == {"m": Used(1_000, 600, 25), "n": Used(2_000, 0, 100)}
    assert await spent(db, since=start + 1) == {"m": Used(0, 0, 0), "n": Used(2_000, 0, 100)}
