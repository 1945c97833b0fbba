"""What memory puts into a prompt above single notes, and what it keeps out of a reply."""

import contextlib

from forgetmenot.domain import Scope
from forgetmenot.privacy import suppression_list
from forgetmenot.store import bot_messages, channel_state, episodes, notes, viewers
from forgetmenot.store.database import connect
from forgetmenot.store.episodes import Brief
from tests.rows import put
from tests.stage import Stage


async def prompt_of(stage: Stage, text: str, viewer: str = "1") -> str:
    """What the model was shown for a line."""
    await stage.ask(text, viewer)
    return stage.model.asked[-1].system + stage.model.asked[-1].prompt


async def test_a_brief_stands_before_the_notes_and_names_what_it_is_made_of(
    stage: Stage,
) -> None:
    note = await stage.know("plays drums")
    async with stage.db.write() as tx:
        await episodes.put_brief(
            tx,
            Brief(
                "1", "<@1> drums with <@2>.", "hash", stage.clock.now(), notes=(note,)
            ),
        )
    reply = await stage.reply("@forgetmenot_bot hello there")
    prompt = stage.model.asked[-1].prompt
    assert "<brief>\nAlice drums with Bob.\n</brief>" in prompt
    assert prompt.index("<brief>") < prompt.index("<lore>")
    sections = {
        section["name"]: section["rows"]
        for section in (await stage.row(reply.id)).prompt["sections"]
    }
    assert sections["brief"] == sections["lore"] == [["notes", note]]
    assert [
        used for used, _ in await bot_messages.prompted_with_note(stage.db, note)
    ] == [reply.id]
    async with stage.db.write() as tx:
        await viewers.set_banned(tx, "2", stage.clock.now())
    await stage.clock.advance(60_000)
    assert "Alice drums with somebody." in await prompt_of(
        stage, "@forgetmenot_bot hello there"
    )


async def test_a_reply_leaves_alone_what_is_left_alone(stage: Stage) -> None:
    await stage.know("got divorced in May")
    await suppression_list.suppress(stage.db, "1", "divorce", by="1", at=0)
    stage.model.answers = [
        "Nice hat! How is the divorce going?",
        "The divorce, right.",
        "Bob, about that divorce.",
    ]
    prompt = await prompt_of(stage, "@forgetmenot_bot so, about my divorce")
    assert "divorced in May" not in prompt
    await stage.clock.advance(60_000)
    await stage.ask("@forgetmenot_bot tell me")
    await stage.clock.advance(60_000)
    await stage.ask("@forgetmenot_bot tell me more", "2")
    assert stage.said[:2] == ["Nice hat!", "Let's talk about something else."]
    assert "divorce" in stage.said[2]


async def test_what_is_left_alone_stands_in_no_line_of_the_chat(stage: Stage) -> None:
    """Of the channel: nobody's line. Of one viewer: theirs, those that name them, and the bot's own."""
    await suppression_list.suppress(stage.db, None, "election", by="9", at=0)
    await suppression_list.suppress(stage.db, "1", "divorce", by="1", at=0)
    for text, viewer_id in (
        ("my divorce is a mess", "1"),
        ("alice and her divorce again", "2"),
        ("the elections are rigged", "3"),
        ("my own divorce was in May", "3"),
        ("what a race", "2"),
    ):
        await stage.hear(text, viewer_id)
        await stage.clock.advance(1_000)
    stage.model.answers = ["An election of hats!", "Hats for all."]
    async with stage.db.write() as tx:
        for viewer_id in ("3", "1"):
            text = f"Divorce papers for {viewer_id} came."
            await put(
                tx, "bot_messages", at=stage.clock.now(), viewer_id=viewer_id, text=text
            )
    prompt = await prompt_of(stage, "@forgetmenot_bot what is going on?")
    assert "what a race" in prompt
    assert "my own divorce was in May" in prompt
    for removed_words in ("a mess", "alice and her", "rigged", "papers"):
        assert removed_words not in prompt


async def test_what_is_left_alone_leaves_the_prefix_at_once(stage: Stage) -> None:
    await stage.know("chat bets on elections", None, Scope.CHANNEL)
    assert "elections" in await prompt_of(stage, "@forgetmenot_bot hello there")
    await suppression_list.suppress(stage.db, None, "election", by="9", at=0)
    await stage.clock.advance(60_000)
    assert "elections" not in await prompt_of(
        stage, "@forgetmenot_bot hello again", "2"
    )


async def test_a_stale_note_that_a_reply_used_is_active_again_and_no_other(
    stage: Stage,
) -> None:
    used = await stage.know("plays drums")
    beside = await stage.know("likes drums in films")
    async with stage.db.write() as tx:
        await notes.set_stale(tx, "1", before=stage.clock.now() + 1, streams=0)
    stage.model.answers = [
        f'{{"notes": [{used}, 4711], "say": "The drums, of course."}}'
    ]
    reply = await stage.reply("@forgetmenot_bot what drums do I play?")
    assert (await stage.row(reply.id)).used == (used,)
    assert [
        note.id for note in await notes.of_subject(stage.db, "1") if note.stale
    ] == [beside]


async def test_what_another_program_writes_counts_from_the_next_reply_on(
    stage: Stage,
) -> None:
    await stage.know("plays drums")
    assert "] plays drums" in await prompt_of(stage, "@forgetmenot_bot hello")
    with contextlib.closing(connect(stage.db.path, "rw")) as other:
        copied = "scope, subject_id, confidence, source_kind, created_at, first_said_at, last_confirmed_at"
        other.execute(
            f"INSERT INTO semantic_notes ({copied}, fact) SELECT {copied}, 'lives in Oslo' FROM semantic_notes"  # noqa: S608
        )
        await stage.clock.advance(60_000)
        assert "] lives in Oslo" in await prompt_of(stage, "@forgetmenot_bot hello")
        other.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
        await stage.clock.advance(60_000)
        assert "] " not in await prompt_of(stage, "@forgetmenot_bot hello")


async def test_what_may_not_be_told_any_more_leaves_the_prefix_before_the_next_pass(
    stage: Stage,
) -> None:
    """Who is hidden or gone, and what rests on a cleared line; what another stream told stays."""
    async with stage.db.write() as tx:
        before = await put(tx, "streams", ended_at=1, recap="The recap had a flute.")
        now = await put(tx, "streams", started_at=2, last_event_at=2)
        await put(
            tx, "episodes", stream_id=before, summary="<@1> played a flute.", ended_at=1
        )
        summary = (
            "<@1> likes tea. <@2> plays the harp. <@3> won. Somebody played an oboe."
        )
        await put(tx, "episodes", stream_id=now, summary=summary)
        await channel_state.put(tx, {"digest": "It was a week of flutes."}, 1)
    whole = await stage.keeper.current()
    assert await stage.keeper.current() is whole
    assert all(
        words in whole.prefix.text
        for words in ("had a flute", "week of flutes", "likes tea", "harp", "Carol won")
    )
    for change, removed_words, remaining_words in (
        ("UPDATE viewers SET banned_at = 1 WHERE id = '2'", "harp", "Carol won"),
        ("DELETE FROM viewers WHERE id = '3'", "Carol", "tea"),
        (
            "UPDATE streams SET recap = ''; UPDATE episodes SET cleared_at = 5, summary = '' WHERE id = 1",
            "flute",
            "oboe",
        ),
        (
            "UPDATE episodes SET cleared_at = 6, summary = '' WHERE id = 2",
            "oboe",
            "Racing",
        ),
    ):
        async with stage.db.write() as tx:
            for statement in change.split("; "):
                await tx.execute(statement)
        text = (await stage.keeper.current()).prefix.text
        assert (removed_words in text, remaining_words in text) == (False, True), change


async def test_a_new_title_and_game_stand_in_the_next_prompt(stage: Stage) -> None:
    """The stream of yesterday had another title, and no pass comes within the first half hour."""
    before = await stage.keeper.current()
    assert "title: Racing\n" in before.prefix.text
    state = {"title": "The last boss", "category": "Hades"}
    async with stage.db.write() as tx:
        await channel_state.put(tx, state, stage.clock.now())
    await stage.reply("@forgetmenot_bot what is on?")
    prompt = stage.model.asked[-1].system + stage.model.asked[-1].prompt
    assert "title: The last boss\ncategory: Hades\n" in prompt
    after = await stage.keeper.current()
    assert await stage.keeper.current() is after


async def test_a_message_that_names_nobody_is_about_whom_the_lines_before_it_were(
    stage: Stage,
) -> None:
    """After a question about bob, "where does he live?" is about bob, for a quarter of an hour."""
    await stage.know("lives in Utrecht", "2")
    await stage.reply("@forgetmenot_bot what is bob's job?")
    await stage.clock.advance(60_000)
    assert "] lives in Utrecht" in await prompt_of(
        stage, "@forgetmenot_bot and where does he live?"
    )
    await stage.clock.advance(3_600_000)
    assert "] lives in Utrecht" not in await prompt_of(
        stage, "@forgetmenot_bot where does she live?"
    )


async def test_who_somebody_is_is_told_by_their_brief_and_twenty_notes(
    stage: Stage,
) -> None:
    for number in range(22):
        await stage.know(
            f"has beaten the lighthouse level number {number} of a long game", "2"
        )
    last = await stage.know("moved to a houseboat near the harbour last spring", "2")
    async with stage.db.write() as tx:
        made_at = stage.clock.now()
        brief = Brief(
            "2", "<@2> runs every lighthouse with <@1>.", "hash", made_at, notes=(last,)
        )
        await episodes.put_brief(tx, brief)
    prompt = await prompt_of(stage, "@forgetmenot_bot who is bob?")
    assert "Bob: Bob runs every lighthouse with Alice." in prompt
    assert prompt.count("Bob: [id:") == 20
    await stage.clock.advance(60_000)
    prompt = await prompt_of(
        stage, "@forgetmenot_bot where does bob live, on a houseboat?", "3"
    )
    assert "runs every lighthouse" not in prompt
    assert prompt.count("Bob: [id:") < 5
    async with stage.db.write() as tx:
        await viewers.set_banned(tx, "1", stage.clock.now())
    await stage.clock.advance(60_000)
    assert "with somebody." in await prompt_of(
        stage, "@forgetmenot_bot who is bob?", "3"
    )


async def test_of_somebody_asked_about_a_little_is_told_though_nothing_fits(
    stage: Stage,
) -> None:
    for number in range(12):
        await stage.know(f"collects stamp {number}", "2")
    prompt = await prompt_of(stage, "@forgetmenot_bot what zorbles does bob vibe?")
    assert prompt.count("Bob: [id:") == 5
