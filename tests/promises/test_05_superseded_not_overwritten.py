"""Promise 5: facts are superseded, not overwritten; only their subject's wish to be forgotten deletes."""

import random
import re
from pathlib import Path

import pytest

import forgetmenot.store
from forgetmenot.domain import Note, NoteStatus
from forgetmenot.durations import DAY
from forgetmenot.errors import FactRefused
from forgetmenot.memory.edits import remember, undo
from forgetmenot.store import notes, viewers
from forgetmenot.store.database import Database

ALICE = "login:alice"
FACTS = (
    "lives in Oslo", "lives in Rome", "lives in Lima", "works as a nurse", "works as a pilot",
    "favourite game is Tetris", "favourite game is Doom", "likes coffee", "does not like coffee",
)  # fmt: skip


@pytest.fixture(autouse=True)
async def alice(db: Database) -> None:
    """Somebody who is known."""
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"login:alice": "alice"}, 1)


async def tell(db: Database, fact: str, at: int) -> Note:
    return await remember(db, ALICE, fact, by=ALICE, at=at)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_said_in_whatever_order_nothing_is_lost_and_no_chain_runs_in_a_circle(
    db: Database, seed: int
) -> None:
    dice = random.Random(seed)
    stated_facts = set[str]()
    for day in range(DAY, 26 * DAY, DAY):
        fact = dice.choice(FACTS)
        stated_facts.add(fact)
        await tell(db, fact, day)
        if dice.random() < 0.2:
            try:
                await undo(db, dice.choice(await notes.page(db)).id, at=day + 1)
            except FactRefused as refusal:
                assert refusal.rule == "nothing_to_undo"  # noqa: PT017  # the other refusals would be a failure
    every = {note.id: note for note in await notes.page(db)}
    assert {note.fact for note in every.values()} == stated_facts
    for note in every.values():
        chain = [note.id]
        newer = note.superseded_by
        while newer is not None:
            assert every[chain[-1]].status is NoteStatus.SUPERSEDED
            assert newer not in chain
            chain.append(newer)
            newer = every[newer].superseded_by


async def test_the_old_row_keeps_its_text_and_dates_and_there_and_back_is_two_rows(
    db: Database,
) -> None:
    old = await tell(db, "lives in Oslo", 1_000)
    new = await tell(db, "lives in Rome", 2_000)
    old_row = await notes.get(db, old.id)
    assert old_row is not None
    assert (old_row.status, old_row.superseded_by, old_row.fact) == (
        NoteStatus.SUPERSEDED,
        new.id,
        "lives in Oslo",
    )
    assert (old_row.created_at, old_row.last_confirmed_at, old_row.confidence) == (
        1_000,
        1_000,
        old.confidence,
    )
    for day, fact in enumerate(["lives in Oslo", "lives in Rome"] * 3, start=1):
        await tell(db, fact, day * DAY)
    stored = [(note.fact, note.status) for note in await notes.page(db)]
    assert stored == [
        ("lives in Oslo", NoteStatus.SUPERSEDED),
        ("lives in Rome", NoteStatus.ACTIVE),
    ]


FORGETTING = {"notes.py"}  # what carries out a subject's own wish


def test_notes_are_deleted_where_people_are_forgotten_and_no_statement_sets_a_fact() -> (
    None
):
    """No other module deletes notes, and no UPDATE names the column that holds the text, but to empty it."""
    folder = Path(forgetmenot.store.__file__).parent
    texts = {
        file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")
    }
    assert {
        name for name, text in texts.items() if "DELETE FROM semantic_notes" in text
    } <= FORGETTING
    assert [
        name
        for name, text in texts.items()
        if re.search(r"SET (\w+ = \S+, )*fact\b(?! = '')", text)
    ] == []
