"""How the material of a reply is read: at once, and as things stand."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.memory import Scope, SourceKind
from forgetmenot.memory.recall import Recall
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.store import identities, notes
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.notes import NewNote
from tests.notes_world import World

if TYPE_CHECKING:
    from collections.abc import Awaitable

    Ask = Callable[[str], Awaitable[TailMaterial]]


@pytest.fixture
def ask(world: World) -> "Ask":
    """The material for what alice says."""
    recall = Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)
    gatherer = Gatherer(db=world.db, recall=recall, clock=world.clock)

    async def material(text: str) -> TailMaterial:
        event = ChatEvent("e", EventKind.MESSAGE, "1", "alice", "Alice", text, world.clock.now())
        return await gatherer.tail(Trigger(TriggerKind.MENTION, event, text), world.settings, nonce="abc123")

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


async def test_once_notes_are_known_a_reply_reads_once(world: World, ask: "Ask", reads: list[str]) -> None:
    await know(world.db, "1", "plays drums with <@2>", 1)
    await know(world.db, "2", "plays the tuba", 1)
    await world.episode("<@2> told of the tuba and the drums.", {"2": (3, 0)})
    await ask("how are the tuba and the drums of bob?")
    reads.clear()
    found = await ask("does bob know of the tuba and the drums?")
    assert reads == ["together"]
    assert [one.note.fact for one in found.lore] == ["plays drums with <@2>"]
    assert [one.note.fact for other in found.others for one in other.lore] == ["plays the tuba"]
    assert [past.text for past in found.past_episodes] == ["<@2> told of the tuba and the drums."]
    assert found.names["2"] == "Bob"


async def test_people_whom_only_a_note_names_have_their_names(world: World, ask: "Ask") -> None:
    await know(world.db, "1", "plays drums with <@2>", 1)
    assert (await ask("hello")).names["2"] == "Bob"
    async with world.db.write() as tx:
        await identities.set_banned(tx, "2", world.clock.now())
    found = await ask("hello")
    assert "2" not in found.names
    assert "2" in found.hidden


async def test_what_another_program_writes_counts_from_the_next_reply_on(world: World, ask: "Ask") -> None:
    await know(world.db, "1", "plays drums", 1)
    assert len((await ask("hello")).lore) == 1
    async with open_database(world.db.path) as other:
        await know(other, "1", "lives in Oslo", 2)
        assert {one.note.fact for one in (await ask("hello")).lore} == {"plays drums", "lives in Oslo"}
        async with other.write() as tx:
            await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
        assert (await ask("hello")).lore == ()


async def test_a_raid_without_a_word_is_in_the_chat_and_in_nobodys_own_lines(world: World, ask: "Ask") -> None:
    async with world.db.write() as tx:
        await tx.execute("INSERT OR IGNORE INTO runs (id, started_at, command) VALUES (1, 0, 'test')")
        await tx.execute(
            "INSERT INTO events (id, run_id, viewer_id, kind, text, system_text, role, at)"
            " VALUES ('r', 1, '1', 'raid', '', '42 raiders from Alice have joined!', 'viewer', ?)",
            (world.clock.now(),),
        )
    found = await ask("who raided us?")
    assert [line.text for line in found.chat] == ["(42 raiders from Alice have joined!)"]
    assert found.own_lines == ()


async def test_the_past_of_who_is_named_comes_up(world: World, ask: "Ask") -> None:
    await world.episode("<@2> raided with 42 people.", {"2": (1, 0)})
    assert [past.text for past in (await ask("when did bob raid us?")).past_episodes] == ["<@2> raided with 42 people."]
