"""Promise 3: every note has at least one episode as evidence, and nothing sensitive becomes one."""

import json

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.errors import FactRefused
from forgetmenot.memory.edits import remember
from forgetmenot.memory.extraction import Extractor, ExtractReport
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import PrivacySettings, Settings
from forgetmenot.store import notes
from forgetmenot.store.database import Database
from tests.notes_world import Scripted
from tests.rows import put

SENSITIVE = (
    "has type 1 diabetes",
    "votes Republican",
    "is a devout Catholic",
    "is gay and came out last year",
    "lives at 12 Baker Street, Springfield",
    "can be reached at alice@example.org",
)
DEFAULTS = PrivacySettings()


@pytest.fixture
async def alice(db: Database) -> str:
    """A viewer in one episode."""
    async with db.write() as tx:
        await put(tx, "viewers", id="1", login="alice")
        await put(
            tx,
            "episodes",
            id=1,
            summary=f"<@1> plays drums. <@1> has two cats. <@1> {SENSITIVE[0]}.",
        )
        await tx.execute(
            "INSERT INTO episode_people (episode_id, viewer_id, lines) VALUES (1, '1', 5)"
        )
    return "1"


async def extract(
    db: Database, clock: ManualClock, *facts: str, privacy: PrivacySettings = DEFAULTS
) -> ExtractReport:
    """What a model that always proposes these facts makes of the episode."""
    settings = Settings(privacy=privacy)
    plain = {"who": "P1", "said_by": "P1", "confidence": 0.9, "lifetime": "permanent"}
    answer_text = json.dumps(
        {"notes": [plain | {"fact": fact, "importance": "low"} for fact in facts]}
    )
    return await Extractor(
        db=db, model=Scripted(answer_text), settings=lambda: settings, clock=clock
    ).run_pass()


async def test_every_door_leaves_evidence(
    db: Database, clock: ManualClock, alice: str
) -> None:
    await extract(db, clock, "plays drums", "has two cats")
    await remember(db, alice, "drives an old van", by=alice, at=clock.now())
    await remember(db, None, "streams on Fridays", by=alice, at=clock.now())
    lines = [
        json.dumps({"viewer": "alice", "fact": fact})
        for fact in ("bakes bread", "plays drums")
    ]
    await import_notes(db, lines, now=clock.now())
    assert len(await notes.page(db)) == 5
    without = "SELECT count(*) FROM semantic_notes WHERE id NOT IN (SELECT note_id FROM note_evidence)"
    assert await db.value(without) == 0


@pytest.mark.parametrize("fact", SENSITIVE)
async def test_nothing_sensitive_comes_in_by_any_door(
    db: Database, clock: ManualClock, alice: str, fact: str
) -> None:
    report = await extract(db, clock, fact)
    assert [rule.split(":")[0] for rule in report.refused] == ["sensitive"]
    with pytest.raises(FactRefused, match="sensitive"):
        await remember(db, alice, fact, by=alice, at=clock.now())
    taken = await import_notes(
        db, [json.dumps({"viewer": "alice", "fact": fact})], now=clock.now()
    )
    assert len(taken.refused) == 1
    assert await notes.page(db) == []


async def test_the_streamer_may_allow_a_category_and_forbid_words(
    db: Database, clock: ManualClock, alice: str
) -> None:
    privacy = PrivacySettings(allow_categories=("health",), never_store=("axolotls",))
    report = await extract(db, clock, SENSITIVE[0], "breeds axolotls", privacy=privacy)
    assert (report.added, sum(report.refused.values())) == (1, 1)


async def test_an_episode_is_read_once_and_a_raw_line_never(
    db: Database, clock: ManualClock, alice: str
) -> None:
    """Also one that yielded no note: with no episode left there is nothing to ask the model about."""
    assert (await extract(db, clock)).episodes == 1
    assert (await extract(db, clock, "plays bass")).episodes == 0
    assert await notes.page(db) == []
