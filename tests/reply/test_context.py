"""How the material of a reply is read: at once, and as things stand."""

from collections.abc import Awaitable, Callable

import pytest

from forgetmenot.domain import ChatEvent, EventKind, Scope, SourceKind
from forgetmenot.memory.recall import Recall
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.store import channel_state, notes, viewers
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.notes import NewNote
from tests.notes_world import World
from tests.rows import put
from tests.stage import Stage

Ask = Callable[[str], Awaitable[TailMaterial]]


@pytest.fixture
def ask(world: World) -> Ask:
    """The material for what alice says."""
    recall = Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)
    gatherer = ContextGatherer(db=world.db, recall=recall, clock=world.clock)

    async def material(text: str) -> TailMaterial:
        event = ChatEvent("e", EventKind.MESSAGE, "1", "alice", "Alice", text, world.clock.now())
        return await gatherer.tail(Trigger(TriggerKind.MENTION, event, text), world.settings)

    return material


async def know(db: Database, viewer: str, fact: str, at: int) -> None:
    async with db.write() as tx:
        await notes.insert(
            tx, NewNote(Scope.VIEWER, viewer, fact, 0.8, SourceKind.SELF_CLAIM, at), cause="said", now=at
        )


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by each trip to the reader's thread."""
    seen: list[str] = []

    def counted(name: str) -> None:
        real = getattr(Database, name)

        async def noted(*args: object) -> object:
            seen.append(name)
            return await real(*args)

        monkeypatch.setattr(Database, name, noted)

    counted("rows")
    counted("together")
    return seen


async def test_once_notes_are_known_a_reply_reads_once(world: World, ask: Ask, reads: list[str]) -> None:
    await know(world.db, "1", "plays drums with <@2>", 1)
    await know(world.db, "2", "plays the tuba", 1)
    await world.episode("<@2> told of the tuba and the drums.", {"2": (3, 0)})
    await ask("how are the tuba and the drums of bob?")
    reads.clear()
    found = await ask("does bob know of the tuba and the drums?")
    assert reads == ["together"]
    assert [one.note.fact for one in found.notes] == ["plays drums with <@2>"]
    assert [one.note.fact for other in found.others for one in other.notes] == ["plays the tuba"]
    assert [past.text for past in found.past_episodes] == ["<@2> told of the tuba and the drums."]
    assert found.names["2"] == "Bob"


async def test_people_whom_only_a_note_names_have_their_names(world: World, ask: Ask) -> None:
    await know(world.db, "1", "plays drums with <@2>", 1)
    assert (await ask("hello")).names["2"] == "Bob"
    async with world.db.write() as tx:
        await viewers.set_banned(tx, "2", world.clock.now())
    found = await ask("hello")
    assert "2" not in found.names
    assert "2" in found.hidden


async def test_what_another_program_writes_counts_from_the_next_reply_on(world: World, ask: Ask) -> None:
    await know(world.db, "1", "plays drums", 1)
    assert len((await ask("hello")).notes) == 1
    async with open_database(world.db.path) as other:
        await know(other, "1", "lives in Oslo", 2)
        assert {one.note.fact for one in (await ask("hello")).notes} == {"plays drums", "lives in Oslo"}
        async with other.write() as tx:
            await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
        assert (await ask("hello")).notes == ()


async def test_a_raid_without_a_word_is_in_the_chat_and_in_nobodys_own_lines(world: World, ask: Ask) -> None:
    raid = {"id": "r", "viewer_id": "1", "kind": "raid", "text": "", "system_text": "42 raiders from Alice!"}
    async with world.db.write() as tx:
        await put(tx, "events", **raid, at=world.clock.now())
    found = await ask("who raided us?")
    assert [line.text for line in found.chat] == ["(42 raiders from Alice!)"]
    assert found.own_lines == ()


async def test_what_may_not_be_told_any_more_leaves_the_prefix_before_the_next_pass(stage: Stage) -> None:
    """Who is hidden or gone, and what rests on a cleared line; what another stream told stays."""
    async with stage.db.write() as tx:
        before = await put(tx, "streams", ended_at=1, recap="The recap had a flute.")
        now = await put(tx, "streams", started_at=2, last_event_at=2)
        await put(tx, "episodes", stream_id=before, summary="<@1> played a flute.", ended_at=1)
        told = "<@1> likes tea. <@2> plays the harp. <@3> won. Somebody played an oboe."
        await put(tx, "episodes", stream_id=now, summary=told)
        await channel_state.put(tx, {"digest": "It was a week of flutes."}, 1)
    whole = await stage.keeper.current()
    assert await stage.keeper.current() is whole
    assert all(words in whole.text for words in ("had a flute", "week of flutes", "likes tea", "harp", "Carol won"))
    async with stage.db.write() as tx:
        await viewers.set_banned(tx, "2", stage.clock.now())
    without = await stage.keeper.current()
    assert ("harp" in without.text, "tea" in without.text, "Carol won" in without.text) == (False, True, True)
    assert await stage.keeper.current() is without
    async with stage.db.write() as tx:
        await tx.execute("DELETE FROM viewers WHERE id = '3'")
    assert "Carol" not in (await stage.keeper.current()).text
    async with stage.db.write() as tx:
        await tx.execute("UPDATE episodes SET cleared_at = 5, summary = '' WHERE id = 1")
        await tx.execute("UPDATE streams SET recap = '', recapped_at = NULL")
    cleared = (await stage.keeper.current()).text
    assert ("flute" in cleared, "oboe" in cleared) == (False, True)
    async with stage.db.write() as tx:
        await tx.execute("UPDATE episodes SET cleared_at = 6, summary = '' WHERE id = 2")
    assert "oboe" not in (await stage.keeper.current()).text


async def test_a_message_that_names_nobody_is_about_whom_the_lines_before_it_were(stage: Stage) -> None:
    """After a question about bob, "where does he live?" is about bob, for a quarter of an hour."""
    await stage.know("lives in Utrecht", "2")
    await stage.reply("@forgetmenot_bot what is bob's job?")
    await stage.clock.advance(60_000)
    await stage.ask("@forgetmenot_bot and where does he live?")
    assert "] lives in Utrecht" in stage.model.asked[-1].prompt
    await stage.clock.advance(3_600_000)
    await stage.ask("@forgetmenot_bot where does she live?")
    assert "] lives in Utrecht" not in stage.model.asked[-1].prompt
