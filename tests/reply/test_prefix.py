"""The prefix: nothing of people who are hidden now, whatever was written before."""

from forgetmenot.store import channel_state, identities, rights
from tests.stage import Stage


async def test_what_an_episode_says_of_somebody_who_opted_out_is_left_out(stage: Stage) -> None:
    await stage.hear("hello", viewer="1")
    await stage.hear("hello", viewer="2")
    async with stage.db.write() as tx:
        stream = await tx.insert("INSERT INTO streams (started_at, last_event_at) VALUES (1, 1)")
        await tx.insert(
            "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
            " VALUES ('chat', ?, 1, 2, '<@1> likes tea. <@2> plays the harp.', 2, 2)",
            (stream,),
        )
    assert "plays the harp" in (await stage.keeper.refresh()).text
    async with stage.db.write() as tx:
        await rights.opt_out(tx, "2", stage.clock.now())
    prefix = (await stage.keeper.refresh()).text
    assert "harp" not in prefix
    assert "likes tea" in prefix


async def test_who_is_hidden_or_gone_leaves_it_before_the_next_pass(stage: Stage) -> None:
    async with stage.db.write() as tx:
        stream = await tx.insert("INSERT INTO streams (started_at, last_event_at) VALUES (1, 1)")
        await tx.insert(
            "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
            " VALUES ('chat', ?, 1, 2, '<@1> likes tea. <@2> plays the harp. <@3> won.', 3, 2)",
            (stream,),
        )
    whole = await stage.keeper.current()
    assert await stage.keeper.current() is whole
    async with stage.db.write() as tx:
        await identities.set_banned(tx, "2", stage.clock.now())
    without = await stage.keeper.current()
    assert ("harp" in without.text, "tea" in without.text, "Carol won" in without.text) == (False, True, True)
    assert await stage.keeper.current() is without
    async with stage.db.write() as tx:
        await tx.execute("DELETE FROM viewers WHERE id = '3'")
    assert "Carol" not in (await stage.keeper.current()).text


async def test_what_rests_on_a_cleared_line_leaves_it_at_once(stage: Stage) -> None:
    """Its summary, and the recap and the digest that were made of it; not those of another stream."""
    async with stage.db.write() as tx:
        for number, words in ((1, "a harp"), (2, "an oboe")):
            stream = await tx.insert(
                "INSERT INTO streams (started_at, last_event_at, ended_at, recap) VALUES (?1, ?1, ?2, ?3)",
                (number, number if number == 1 else None, f"The recap had {words}." if number == 1 else ""),
            )
            await tx.insert(
                "INSERT INTO episodes (kind, stream_id, started_at, ended_at, summary, events, created_at)"
                " VALUES ('chat', ?1, ?2, ?2, ?3, 2, 2)",
                (stream, number, f"Somebody played {words}."),
            )
        await channel_state.put(tx, {"digest": "It was a week of harps."}, 1)
    whole = (await stage.keeper.current()).text
    assert all(words in whole for words in ("recap had a harp", "played an oboe", "week of harps"))
    async with stage.db.write() as tx:
        await tx.execute("UPDATE episodes SET dirty_at = 5 WHERE id = 1")
    cleared = (await stage.keeper.current()).text
    assert "harp" not in cleared
    assert "played an oboe" in cleared
    async with stage.db.write() as tx:
        await tx.execute("UPDATE episodes SET dirty_at = 6 WHERE id = 2")
    assert "oboe" not in (await stage.keeper.current()).text
