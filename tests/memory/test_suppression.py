"""What is never brought up: in no recalled note, no summary and no reply, whichever form its words take."""

from forgetmenot.memory import edits, rights
from forgetmenot.memory.recall import Recall, newest
from forgetmenot.memory.rights import SuppressionFilter, without_hidden_names
from forgetmenot.store.notes import SuppressionRow
from tests.notes_world import World


async def facts(recall: Recall, viewer_id: str, query: str = "") -> list[str]:
    return [one.note.fact for one in await recall.about([viewer_id], query)]


async def test_a_topic_of_one_viewer_is_left_alone_for_them_and_for_nobody_else(world: World, recall: Recall) -> None:
    for who in ("1", "2"):
        await world.note("got divorced in May", who)
        await world.note("plays drums", who, topics=("divorce",))
        await world.note("likes tea", who)
    await rights.suppress(world.db, "1", "a dramatic divorce", by="1", at=0)
    assert len(await facts(recall, "1", "divorce")) == 3, "all words of an entry must occur"
    await rights.suppress(world.db, "1", "divorced", by="1", at=0)
    assert await facts(recall, "1", "divorce") == ["likes tea"]
    assert len(await facts(recall, "2", "divorce")) == 3


async def test_the_summary_does_not_give_back_a_note_that_was_removed(world: World) -> None:
    stream = await world.stream()
    await world.episode("<@1> plays the drums. <@2> plays the drums too. <@1> beat the boss.", {"1": (1, 0)}, stream)
    note = await world.note("plays the drums")

    async def told() -> list[str]:
        found = await newest(world.db, await rights.load_filter(world.db))
        return [one.summary for one in found.this_stream]

    before = await told()
    await edits.retract(world.db, note, at=world.clock.now(), cause="wrong")
    assert await told() == ["<@2> plays the drums too. <@1> beat the boss."]
    await edits.undo(world.db, note, at=world.clock.now())
    assert await told() == before


async def test_what_a_note_says_is_left_alone_wherever_it_is_said(world: World, recall: Recall) -> None:
    """A note by its number: also the summary that it came from; other notes that share its words stay."""
    stream = await world.stream()
    await world.episode("<@1> lost the finals to <@2>. <@2> cooked a goulash.", {"1": (1, 0)}, stream)
    note = await world.note("lost the finals")
    await world.note("lost the finals ticket and found it again")
    await rights.suppress(world.db, "1", f"#{note}", by="1", at=0)
    assert await facts(recall, "1", "finals") == ["lost the finals ticket and found it again"]
    shown = await newest(world.db, await rights.load_filter(world.db))
    assert [one.summary for one in shown.this_stream] == ["<@2> cooked a goulash."]
    silence = await rights.load_filter(world.db)
    assert silence.about(["1"]) == ("lost the finals",)
    assert silence.about(["2"]) == ()


def test_a_sentence_goes_on_about_whoever_the_last_one_named() -> None:
    silence = SuppressionFilter([SuppressionRow(1, "1", "divorce")])
    assert silence.without("<@1> came by. The divorce is through. <@2> had a divorce.") == (
        "<@1> came by. <@2> had a divorce."
    )


async def test_a_hidden_name_is_found_where_no_spaces_part_words(world: World) -> None:
    people = [("90", "arisu_jp", "アリス", 1), ("91", "minsu_kr", "김민수", 1), ("92", "seen", "ギター", None)]
    async with world.db.write() as tx:
        await tx.many(
            "INSERT INTO viewers (id, login, display_name, first_seen_at, last_seen_at, opted_out_at)"
            " VALUES (?, ?, ?, 1, 1, ?)",
            people,
        )
    for text, shown in (("アリスさんはギターを弾く", "someoneさんはギターを弾く"), ("김민수가 왔다", "someone가 왔다")):
        assert await without_hidden_names(world.db, text, "1") == shown
    assert await without_hidden_names(world.db, "アリスさん、こんにちは", "90") == "アリスさん、こんにちは"
