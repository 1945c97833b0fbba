"""Whoever is erased had topics that nobody was to mention of them: nobody's notes speak of them afterwards."""

from pathlib import Path

import pytest

from forgetmenot.domain import Scope
from forgetmenot.memory import backups
from forgetmenot.memory.edits import remember
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.recap_markdown import write_file
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.privacy.suppression_list import suppress, unlisted_of
from forgetmenot.settings.schema import RecapSettings, Settings
from forgetmenot.store import channel_state, notes, streams
from forgetmenot.store.database import Database, open_database
from tests.notes_world import World
from tests.rows import put

pytestmark = pytest.mark.filterwarnings("error")


async def mentionable_facts(db: Database) -> list[str]:
    """What a reply may know of anybody."""
    hidden = await load_filter(db)
    return sorted(note.fact for note in await notes.page(db) if hidden.allows(note))


async def erased(world: World) -> None:
    report = await Eraser(db=world.db, clock=world.clock).erase("1")
    assert report.found == 0


async def test_notes_of_others_about_it_stay_theirs_and_are_not_mentioned(
    world: World, recall: Recall
) -> None:
    await suppress(world.db, "1", "my divorce", by="1", at=world.clock.now())
    helping = await world.note("helps <@1> through the divorce", "2")
    await world.note("plays chess with <@1>", "2")
    await world.note("got divorced in May", "2")
    joke = await world.note("the divorce cake of <@1>", None, scope=Scope.RUNNING_BIT)
    before = await mentionable_facts(world.db)
    assert before == ["got divorced in May", "plays chess with <@1>"]
    await erased(world)
    assert await mentionable_facts(world.db) == [
        "got divorced in May",
        "plays chess with somebody",
    ]
    recalled_facts = [
        recalled.note.fact
        for recalled in await recall.about(["2"], recall.query("divorce"))
    ]
    assert recalled_facts == ["got divorced in May", "plays chess with somebody"]
    stored_facts = {note.id: note.fact for note in await notes.page(world.db)}
    assert stored_facts[helping] == "helps somebody through the divorce"
    assert stored_facts[joke] == "the divorce cake of somebody"
    assert {row.note_id for row in await notes.suppressions(world.db)} == {
        helping,
        joke,
    }


async def test_summaries_lines_and_replies_lose_what_speaks_of_it(
    world: World, tmp_path: Path
) -> None:
    await world.regulars("1", "2")
    together = "<@2> and <@1> talked about the divorce. <@2> and <@1> beat the boss. It rained."
    stream = await world.over("1", "2", recap=together)
    await world.episode(together, {"1": (2, 0), "2": (2, 0)}, stream)
    folder = tmp_path / "recaps"
    folder.mkdir()
    now = world.clock.now()
    async with world.db.write() as tx:
        await channel_state.put(tx, {"digest": together, "digest_of": "x"}, now)
        for number, text in enumerate(
            ("@alice and her divorce", "my own divorce", "hi @alice")
        ):
            await put(
                tx,
                "events",
                id=f"e{number}",
                viewer_id="2",
                stream_id=stream,
                text=text,
                at=now,
            )
        await put(
            tx,
            "bot_messages",
            text="@alice, the divorce is over!",
            viewer_id="2",
            at=now,
        )
    await write_file(
        world.db, stream, Settings(recap=RecapSettings(folder=str(folder)))
    )
    [file] = folder.iterdir()
    assert "talked about the divorce" in file.read_text(encoding="utf-8")
    await suppress(world.db, "1", "my divorce", by="1", at=now)
    await erased(world)
    summaries = await world.db.column(
        "SELECT summary FROM episodes UNION SELECT recap FROM streams"
    )
    assert [text for text in summaries if "divorce" in text] == []
    assert [text for text in summaries if "beat the boss" in text] != []
    assert "divorce" not in await channel_state.read(world.db, "digest")
    lines = await world.db.column(
        "SELECT text FROM events WHERE text <> '' ORDER BY id"
    )
    assert lines == ["my own divorce", "hi somebody"]
    assert (
        await world.db.column(
            "SELECT text FROM bot_messages WHERE text LIKE '%divorce%'"
        )
        == []
    )
    text = file.read_text(encoding="utf-8")
    assert "divorce" not in text
    assert "It rained." in text


async def test_the_topic_still_holds_for_what_is_said_of_them_later(
    world: World, tmp_path: Path
) -> None:
    """And after a restore of an older copy, in which they are erased again."""
    now = world.clock.now()
    await world.note("helps <@1> through the divorce", "2")
    copy = tmp_path / "elsewhere" / "copy.sqlite3"
    await backups.copy_to(world.db, copy)
    await suppress(world.db, "1", "my divorce", by="1", at=now)
    await erased(world)
    await world.clock.advance(60_000)
    await world.viewer("1", "alice")
    later = world.clock.now()
    await remember(world.db, "1", "got divorced in May", by="1", at=later)
    await remember(world.db, "2", "went to the divorce party of <@1>", by="2", at=later)
    assert await mentionable_facts(world.db) == []
    assert len(await unlisted_of(world.db, "1")) == 1
    path = tmp_path / "restored.sqlite3"
    path.with_name(path.name + ".requests").write_bytes(
        world.db.requests.path.read_bytes()
    )
    await backups.restore(copy, path, now=later, keep=3)
    async with open_database(path) as db:
        assert [note.fact for note in await notes.page(db)] == [
            "helps somebody through the divorce"
        ]
        assert await mentionable_facts(db) == []


async def test_without_a_topic_nothing_of_others_changes(world: World) -> None:
    note = await world.note("helps <@1> through the divorce", "2")
    await suppress(world.db, "2", "chess", by="2", at=0)
    await erased(world)
    assert {row.note_id for row in await notes.suppressions(world.db)} == {None}
    assert await mentionable_facts(world.db) == ["helps somebody through the divorce"]
    assert note
    assert await streams.recap_files(world.db) == []
