"""Told to remember, to find, to pin."""

from typing import TYPE_CHECKING

import pytest

from forgetmenot.clock import DAY
from forgetmenot.domain.memory import EpisodeKind, NoteStatus, Scope, SourceKind
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.memory.notes.remember import VIEWERS_WORD, find, remember
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes, evidence, notes

if TYPE_CHECKING:
    from tests.notes_world import World


async def test_a_command_makes_its_episode_first_and_a_note_that_rests_on_it(world: "World") -> None:
    stream = await world.stream()
    note = await remember(world.db, "1", "plays drums with <@2>", by="1", at=world.clock.now())
    assert (note.source_kind, note.fact) == (SourceKind.COMMAND, "plays drums with <@2>")
    [word] = await evidence.chain(world.db, note.id)
    assert (word.speaker_id, word.addressed, word.stance) == ("1", True, "stated")
    assert (word.episode.kind, word.episode.stream_id) == (EpisodeKind.COMMAND, stream)
    assert word.episode.summary == "<@1> asked to remember about <@1>: plays drums with <@2>"
    episode = await episodes.get(world.db, word.episode.id)
    assert episode is not None
    assert set(episode.people) == {"1", "2"}
    assert await episodes.unread(world.db) == []


async def test_told_twice_is_one_note_and_told_otherwise_supersedes(world: "World") -> None:
    first = await remember(world.db, "1", "lives in Oslo", by="1", at=world.clock.now())
    again = await remember(world.db, "1", "lives in Oslo", by="1", at=world.clock.now())
    other = await remember(world.db, "1", "lives in Rome", by="9", at=world.clock.now())
    assert again.id == first.id != other.id
    [old] = await notes.of_subject(world.db, "1", (NoteStatus.SUPERSEDED,))
    assert (old.id, old.superseded_by) == (first.id, other.id)


async def test_the_channel_and_running_bits(world: "World") -> None:
    channel = await remember(world.db, None, "streams on Fridays", by="9", at=1)
    bit = await remember(world.db, None, "the cat crashes it", by="9", at=1, scope=Scope.RUNNING_BIT)
    assert (channel.scope, bit.scope) == (Scope.CHANNEL, Scope.RUNNING_BIT)


@pytest.mark.parametrize("fact", ["abc", "x" * 201, "is a moderator of this channel", "is afraid of zebras"])
async def test_what_is_never_stored_is_refused_and_leaves_nothing(world: "World", fact: str) -> None:
    with pytest.raises(Refused):
        await remember(world.db, "1", fact, by="1", at=1, privacy=PrivacySettings(never_store=("zebras",)))
    assert await notes.page(world.db) == []
    assert await world.db.value("SELECT count(*) FROM episodes") == 0


async def test_notes_are_found_by_number_and_by_words(world: "World") -> None:
    drums = await remember(world.db, "1", "plays drums in a band", by="1", at=1)
    bass = await remember(world.db, "1", "owns an old bass guitar", by="1", at=1)
    await remember(world.db, "2", "plays drums as well", by="2", at=1)

    async def found(text: str) -> list[int]:
        return [note.id for note in await find(world.db, "1", text, now=1)]

    assert await found("the drums") == [drums.id]
    assert await found(f"#{bass.id}") == [bass.id]
    assert sorted(await found("drums or guitar")) == [drums.id, bass.id]
    assert await found("the violin") == []
    assert await found("#999") == []


async def test_one_viewer_is_kept_ten_notes_in_one_stream(world: "World") -> None:
    stream = await world.stream()
    words = ("drums", "chess", "tennis", "violin", "poker", "darts", "golf", "harp", "go", "rugby")
    for word in words:
        await remember(world.db, "1", f"plays {word} at the weekend", by="1", at=world.clock.now(), word=VIEWERS_WORD)
    with pytest.raises(Refused, match="enough_this_stream"):
        await remember(world.db, "1", "has two cats", by="1", at=world.clock.now(), word=VIEWERS_WORD)
    assert stream
    await remember(world.db, "2", "has two cats", by="2", at=world.clock.now(), word=VIEWERS_WORD)
    await remember(world.db, "1", "has two dogs", by="1", at=world.clock.now())
    await world.clock.advance(DAY)
    await world.stream()
    await remember(world.db, "1", "has three hens", by="1", at=world.clock.now(), word=VIEWERS_WORD)
