"""How the material of a reply is read: as things stand."""

from forgetmenot.domain import Scope, SourceKind
from forgetmenot.store import channel_state, notes, viewers
from forgetmenot.store.database import open_database
from forgetmenot.store.notes import NewNote
from tests.rows import put
from tests.stage import Stage


async def test_what_another_program_writes_counts_from_the_next_reply_on(stage: Stage) -> None:
    async def shown(viewer: str = "1") -> str:
        await stage.clock.advance(60_000)
        await stage.ask("@forgetmenot_bot hello", viewer)
        return stage.model.asked[-1].prompt

    await stage.know("plays drums")
    assert "] plays drums" in await shown()
    async with open_database(stage.db.path) as other:
        async with other.write() as tx:
            new = NewNote(Scope.VIEWER, "1", "lives in Oslo", 0.8, SourceKind.SELF_CLAIM, 2)
            await notes.insert(tx, new, cause="said", now=2)
        told = await shown()
        assert ("] plays drums" in told, "] lives in Oslo" in told) == (True, True)
        async with other.write() as tx:
            await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
        assert "] " not in await shown()


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
