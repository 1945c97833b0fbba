"""What is known and what happened before, for what was just said: in time, and nothing that is to be left alone."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import pytest

from forgetmenot.domain import Episode, NoteStatus, Recalled
from forgetmenot.durations import HOUR
from forgetmenot.memory import edits
from forgetmenot.memory.missed import Missed, missed
from forgetmenot.memory.past_episodes import EpisodeIndex, newest, spoken_of
from forgetmenot.memory.query import query_of
from forgetmenot.memory.recall import CHANNEL, Recall, fitting
from forgetmenot.privacy import suppression, suppression_list
from forgetmenot.privacy.hidden_names import without_hidden_names
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.store import notes, viewers
from forgetmenot.store.notes import Stance
from tests.notes_world import World, note
from tests.rows import put


async def test_what_changes_is_seen_at_once(world: World, recall: Recall) -> None:
    first = await world.note("plays drums")
    await recall.about(["1"], "drums")
    await world.note("bought new drums")
    assert len(await recall.about(["1"], "drums")) == 2
    note = await notes.get(world.db, first)
    assert note is not None
    async with world.db.write() as tx:
        await notes.set_pinned(tx, first, pinned=True)
    assert (await recall.about(["1"], "new drums"))[0].note.id == first
    async with world.db.write() as tx:
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=0, cause="wrong")
    assert [recalled.note.fact for recalled in await recall.about(["1"], "drums")] == [
        "bought new drums"
    ]


async def test_the_channels_facts_are_ranked_by_the_message(
    world: World, recall: Recall
) -> None:
    await world.note("movie night is on the first friday of the month", None)
    for number in range(12):
        await world.note(f"rule {number}: be kind to the {number}th mod", None)
    recalled = await recall.about([CHANNEL], recall.query("when is movie night?"), 3)
    assert [hit.note.id for hit in fitting(recalled)] == [recalled[0].note.id]
    assert recalled[0].note.fact.startswith("movie night")
    assert (
        fitting(
            await recall.about(
                [CHANNEL], recall.query("which football club does she support"), 3
            )
        )
        == ()
    )


async def test_only_what_fits_is_shown_and_all_where_nothing_is_asked_for(
    world: World, recall: Recall
) -> None:
    for number in range(7):
        await world.note(f"once beat the swamp boss in {number} tries")
    for fact in (
        "plays the cello in a quartet",
        "lives in Oslo",
        "collects stamps",
        "has two cats",
    ):
        await world.clock.advance(HOUR)
        await world.note(fact)

    async def recalled_facts(text: str, before: str = "") -> list[str]:
        recalled = await recall.about(["1"], recall.query(text, before=before))
        return [hit.note.fact for hit in recalled]

    assert await recalled_facts("do I still play the cello?") == [
        "plays the cello in a quartet"
    ]
    assert await recalled_facts("who is xyzzy plugh?") == []
    for text in (
        "hi!",
        "Good morning everyone",
        "guten Abend",
        "what do you know about me?",
        "tell me about me",
        "was weißt du so über mich?",
        "que sabes sobre mí",
        "こんばんは",
    ):
        assert len(await recalled_facts(text)) == 11, text
    assert (
        len(
            await recalled_facts(
                "what do you know about me?", before="that cello was hard"
            )
        )
        == 11
    )
    for text in (
        "what's new with me?",
        "any news?",
        "was gibt's Neues",
        "quoi de neuf ?",
    ):
        assert (await recalled_facts(text))[0] == "has two cats", text


@pytest.mark.parametrize(("known", "offered"), [(3, 3), (5, 4), (10, 4), (11, 0)])
async def test_of_whom_little_is_known_a_few_notes_are_shown_whatever_fits(
    world: World, recall: Recall, known: int, offered: int
) -> None:
    for number in range(known):
        await world.note(f"owns boat number {number}")
    assert len(await recall.about(["1"], "xyzzy plugh?")) == offered


def test_of_the_channels_notes_only_those_half_as_good_as_the_best_fit() -> None:
    recalled = [
        Recalled(note(number, "is a rule"), score, asked_for=asked_for)
        for number, score, asked_for in (
            (1, 1.2, False),
            (2, 1.0, True),
            (3, 0.7, True),
            (4, 0.5, True),
        )
    ]
    assert [hit.note.id for hit in fitting(recalled)] == [2, 3]
    assert [hit.note.id for hit in fitting(recalled, without=[2])] == [3]


async def test_a_note_is_found_by_the_summaries_of_its_last_three_episodes(
    world: World, recall: Recall
) -> None:
    note_id = await world.note("won the final")
    for number in range(12):
        await world.note(f"owns boat number {number}")
    async with world.db.write() as tx:
        for subject in ("fencing", "chess", "archery", "curling"):
            now = world.clock.now()
            episode_id = await put(
                tx, "episodes", summary=f"They spoke of {subject}.", ended_at=now
            )
            stance = Stance(note_id, episode_id, "confirmed", "1", False, now)
            await notes.add_evidence(tx, stance)

    async def is_found(subject: str) -> bool:
        recalled = await recall.about(["1"], f"how is {subject} going?")
        return note_id in {hit.note.id for hit in recalled}

    assert not await is_found("fencing")
    for subject in ("chess", "archery", "curling"):
        assert await is_found(subject), subject


async def test_a_pinned_note_is_shown_whatever_is_asked(
    world: World, recall: Recall
) -> None:
    await world.note("founded the channel", pinned=True)
    await world.note("plays the cello")
    recalled = await recall.about(["1"], "do I still play the cello?")
    assert len(recalled) == 2


# ── past episodes ─────────────────────────────────────────────────────────────────────────────


async def about(world: World, text: str, without: Sequence[int] = ()) -> list[Episode]:
    return await spoken_of(
        world.db,
        EpisodeIndex(),
        query_of(text),
        SuppressionFilter(),
        1,
        without=without,
    )


async def test_the_episode_that_a_message_is_about(world: World) -> None:
    raid = await world.episode(
        "A raid of 80 people came in while <@1> beat the fire dragon.", {"1": (9, 0)}
    )
    await world.episode("People talked about dinner.", {"2": (9, 0)})
    episodes = await about(world, "remember the raid during that dragon fight?")
    assert [episode.id for episode in episodes] == [raid]
    assert (
        await about(
            world, "remember the raid during that dragon fight?", without=[raid]
        )
        == []
    )
    assert await about(world, "dragon fruit smoothie recipes anyone?") == []
    assert await about(world, "???") == []


@pytest.mark.parametrize("column", ["opted_out_at", "banned_at"])
async def test_of_who_is_hidden_nothing_is_told_and_of_the_others_the_rest(
    world: World, column: str
) -> None:
    """A regular who opts out does not take the channel's past along."""
    summary = "<@1> fell off the lighthouse. She blamed the lantern. <@2> won the pumpkin race."
    await world.episode(summary, {"1": (9, 0), "2": (9, 0)})
    assert [
        episode.summary for episode in await about(world, "that pumpkin race?")
    ] == [summary]
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE viewers SET {column} = 1 WHERE id = '1'")  # noqa: S608  # a column of ours
    episodes = await about(world, "that pumpkin race?")
    assert [episode.summary for episode in episodes] == ["<@2> won the pumpkin race."]
    assert await about(world, "who fell off that lighthouse?") == []
    assert await about(world, "the lantern by the lighthouse") == []


# ── what somebody missed ──────────────────────────────────────────────────────────────────────


async def missed_by(world: World, viewer: str = "1", limit: int = 400) -> Missed:
    return await missed(world.db, viewer, world.clock.now(), limit)


async def test_what_was_missed_is_told_by_recaps_and_of_the_stream_that_is_on_by_what_came_before(
    world: World,
) -> None:
    assert (await missed_by(world)).since is None
    await world.over("1", recap="Alice was here for this one.")
    away = await world.over(
        recap="<@2> beat the dragon. <@9> baked bread. Chat voted on the election."
    )
    stream = await world.stream()
    before = await world.episode("<@2> opened the vault.", {"2": (9, 0)}, stream)
    await world.clock.advance(HOUR)
    await world.attends("1", stream)
    sentences = ("Bob beat the dragon.", "Carol baked bread.", "Bob opened the vault.")
    missed_events = await missed_by(world)
    assert (set(missed_events.sentences), set(missed_events.evidence)) == (
        set(sentences),
        {("stream", away), ("episode", before)},
    )
    async with world.db.write() as tx:
        await viewers.set_banned(tx, "2", world.clock.now())
    await suppression_list.suppress(world.db, None, "election", by="9", at=0)
    assert (await missed_by(world)).sentences == ("Carol baked bread.",)


# ── what is never brought up ──────────────────────────────────────────────────────────────────


async def facts(recall: Recall, viewer_id: str, query: str = "") -> list[str]:
    recalled = await recall.about([viewer_id], query, padded=True)
    return [hit.note.fact for hit in recalled]


async def test_a_topic_of_one_viewer_is_left_alone_for_them_and_for_nobody_else(
    world: World, recall: Recall
) -> None:
    for viewer_id in ("1", "2"):
        await world.note("got divorced in May", viewer_id)
        await world.note("plays drums", viewer_id, topics=("divorce",))
        await world.note("likes tea", viewer_id)
    await suppression_list.suppress(world.db, "1", "a dramatic divorce", by="1", at=0)
    assert len(await facts(recall, "1", "divorce")) == 3, (
        "all words of an entry must occur"
    )
    await suppression_list.suppress(world.db, "1", "divorced", by="1", at=0)
    assert await facts(recall, "1", "divorce") == ["likes tea"]
    assert len(await facts(recall, "2", "divorce")) == 3


async def test_the_summary_does_not_give_back_a_note_that_was_removed(
    world: World,
) -> None:
    stream = await world.stream()
    await world.episode(
        "<@1> plays the drums. <@2> plays the drums too. <@1> beat the boss.",
        {"1": (1, 0)},
        stream,
    )
    note = await world.note("plays the drums")

    async def newest_texts() -> list[str]:
        episodes = await newest(world.db, await suppression.load_filter(world.db))
        return [past.text for past in episodes]

    before = await newest_texts()
    await edits.retract(world.db, note, at=world.clock.now(), cause="wrong")
    assert await newest_texts() == ["<@2> plays the drums too. <@1> beat the boss."]
    await edits.undo(world.db, note, at=world.clock.now())
    assert await newest_texts() == before


@pytest.mark.parametrize(
    ("new_fact", "shown"),
    [
        ("cat is called Mila", "<@2>'s cat is called Miso too. <@1> beat the boss."),
        (
            "cat is called Miso and is grey",
            "<@1>'s cat is called Miso. <@2>'s cat is called Miso too. <@1> beat the boss.",
        ),
    ],
)
async def test_a_summary_does_not_contradict_a_note_that_was_corrected(
    world: World, new_fact: str, shown: str
) -> None:
    stream = await world.stream()
    summary = (
        "<@1>'s cat is called Miso. <@2>'s cat is called Miso too. <@1> beat the boss."
    )
    await world.episode(summary, {"1": (1, 0)}, stream)
    note = await world.note("cat is called Miso")

    async def newest_texts() -> list[str]:
        episodes = await newest(world.db, await suppression.load_filter(world.db))
        return [past.text for past in episodes]

    revision = await notes.suppression_revision(world.db)
    assert await newest_texts() == [summary]
    await edits.edit(
        world.db,
        note,
        new_fact,
        by="1",
        at=world.clock.now(),
        privacy=world.settings.privacy,
    )
    assert await newest_texts() == [shown]
    # so that the prefix is made anew
    assert await notes.suppression_revision(world.db) != revision
    await edits.undo(world.db, note, at=world.clock.now())
    assert await newest_texts() == [summary]


async def test_the_prefix_has_two_episodes_and_one_where_chat_was_fast(
    world: World,
) -> None:
    stream = await world.stream()

    async def prefix_texts(lines: int) -> list[str]:
        """What the prefix shows where each episode is of so many lines in a minute."""
        async with world.db.write() as tx:
            await tx.execute("UPDATE episodes SET events = ?", (lines,))
        past = await newest(world.db, await suppression.load_filter(world.db))
        return [entry.text for entry in past]

    for number in range(4):
        text = f"<@1> lost race {number}."
        await world.episode(text, {"1": (1, 0)}, stream)
    assert await prefix_texts(10) == ["<@1> lost race 2.", "<@1> lost race 3."]
    assert await prefix_texts(100) == ["<@1> lost race 3."]


async def test_what_a_note_says_is_left_alone_wherever_it_is_said(
    world: World, recall: Recall
) -> None:
    """A note by its number: also the summary that it came from; other notes that share its words stay."""
    stream = await world.stream()
    await world.episode(
        "<@1> lost the finals to <@2>. <@2> cooked a goulash.", {"1": (1, 0)}, stream
    )
    note = await world.note("lost the finals")
    await world.note("lost the finals ticket and found it again")
    await suppression_list.suppress(world.db, "1", f"#{note}", by="1", at=0)
    assert await facts(recall, "1", "finals") == [
        "lost the finals ticket and found it again"
    ]
    episodes = await newest(world.db, await suppression.load_filter(world.db))
    assert [past.text for past in episodes] == ["<@2> cooked a goulash."]


async def test_a_hidden_name_is_found_where_no_spaces_part_words(world: World) -> None:
    people = [
        ("90", "arisu_jp", "アリス", 1),
        ("91", "minsu_kr", "김민수", 1),
        ("92", "seen", "ギター", None),
    ]
    async with world.db.write() as tx:
        await tx.many(
            "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at, opted_out_at)"
            " VALUES (?, ?, ?, 1, 1, ?)",
            people,
        )
    for text, expected in (
        ("アリスさんはギターを弾く", "somebodyさんはギターを弾く"),
        ("김민수가 왔다", "somebody가 왔다"),
    ):
        assert await without_hidden_names(world.db, text, "1") == expected
    assert (
        await without_hidden_names(world.db, "アリスさん、こんにちは", "90")
        == "アリスさん、こんにちは"
    )


T = TypeVar("T")


class CountingExecutor(ThreadPoolExecutor):
    """The event loop's threads, with a count of what they were given."""

    jobs = 0

    def submit(
        self, fn: Callable[..., T], /, *args: object, **kwargs: object
    ) -> "Future[T]":
        """Count a job, and run it."""
        self.jobs += 1
        return super().submit(fn, *args, **kwargs)


async def test_what_a_first_question_did_not_need_is_made_in_a_thread(
    world: World, recall: Recall
) -> None:
    executor = CountingExecutor()
    asyncio.get_running_loop().set_default_executor(executor)
    await world.note("lives in Oslo with two cats")
    assert await recall.about(["1"], "xyzzyq?", padded=True)
    assert executor.jobs == 0
    # it needs the notes' meanings, which no line had made
    assert await recall.about(["1"], "do they have any pets")
    assert executor.jobs == 1
    assert await recall.about(["1"], "do they have any pets")
    assert executor.jobs == 1


async def test_a_line_makes_ready_what_a_first_question_did_not_need(
    world: World, recall: Recall
) -> None:
    executor = CountingExecutor()
    asyncio.get_running_loop().set_default_executor(executor)
    await world.note("lives in Oslo with two cats")
    await recall.about(["1"], "xyzzyq?")
    recall.heard("1")
    await recall.prepare()
    jobs = executor.jobs
    assert await recall.about(["1"], "do they have any pets")
    assert executor.jobs == jobs
