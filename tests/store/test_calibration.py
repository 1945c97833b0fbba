"""The estimate of tokens learns from the bill, and remembers what it has learned."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.prompt.budget import estimate
from forgetmenot.sim.tokens import count
from forgetmenot.store.calibration import factor_of, learn
from forgetmenot.store.calibration_rule import HIGHEST, LOWEST, next_factor
from forgetmenot.store.database import Database, open_database

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
        await learn(db, "m", estimated, billed, at=number, factor=factor)
    assert sum(map(abs, errors)) / len(errors) <= 0.05
    assert min(errors) >= -0.10


@pytest.mark.parametrize("kind", LINES)
async def test_with_the_factor_taken_once_in_five_replies_it_is_as_good(db: Database, kind: str) -> None:
    """As the program does it: the factor is the prefix's, which stays for several replies; bills come in for each."""
    errors, factor = [], 1.0
    for number, prompt in enumerate(_prompts(kind, 60)):
        if number % 5 == 0:
            factor = await factor_of(db, "m")
        estimated, billed = estimate(prompt, factor), count(prompt)
        if number >= 20:
            errors.append(estimated / billed - 1)
        await learn(db, "m", estimated, billed, at=number, factor=factor)
    assert sum(map(abs, errors)) / len(errors) <= 0.05
    assert min(errors) >= -0.10


async def test_what_was_learned_survives_a_restart_and_belongs_to_one_model(tmp_path: Path) -> None:
    async with open_database(tmp_path / "m.sqlite3") as db:
        assert await factor_of(db, "m") == 1.0
        assert await learn(db, "m", 1_000, 800, at=1) == 0.8
    async with open_database(tmp_path / "m.sqlite3") as db:
        assert await factor_of(db, "m") == 0.8
        assert await factor_of(db, "other") == 1.0


async def test_an_estimate_made_with_a_factor_is_held_against_the_bill_without_it(db: Database) -> None:
    await learn(db, "m", 1_000, 800, at=1)
    for at in range(2, 20):
        await learn(db, "m", 800, 800, at=at, factor=0.8)
    assert await factor_of(db, "m") == pytest.approx(0.8)


@pytest.mark.parametrize(("estimated", "billed"), [(1_000, None), (1_000, 3), (10, 900), (0, 0)])
async def test_a_missing_or_meaningless_bill_teaches_nothing(db: Database, estimated: int, billed: int | None) -> None:
    assert await learn(db, "m", estimated, billed, at=1) == 1.0


def test_one_odd_bill_moves_it_little() -> None:
    factor = 1.0
    for samples in range(20):
        factor = next_factor(factor, samples, 1.0)
    assert next_factor(factor, 20, 50.0) < 1.1


@settings(max_examples=100)
@given(st.lists(st.floats(min_value=0.0, max_value=1e6), min_size=1, max_size=50))
def test_it_stays_within_sane_limits_whatever_is_billed(ratios: list[float]) -> None:
    factor = 1.0
    for samples, ratio in enumerate(ratios):
        factor = next_factor(factor, samples, ratio)
        assert LOWEST <= factor <= HIGHEST


@settings(max_examples=50)
@given(st.floats(min_value=LOWEST, max_value=HIGHEST))
def test_a_steady_ratio_is_learned_whole(ratio: float) -> None:
    factor = 1.0
    for samples in range(30):
        factor = next_factor(factor, samples, ratio)
    assert factor == pytest.approx(ratio)
