"""What is handed over about somebody, and what is erased of them, is all there is about them."""

from forgetmenot.store import channel_state, data_export, notes
from forgetmenot.store.database import Database
from forgetmenot.store.personal_data import PLACES
from tests.rows import put


async def test_every_table_that_points_to_people_is_looked_at(db: Database) -> None:
    pointing = await db.rows(
        "SELECT DISTINCT m.name FROM sqlite_master m, pragma_foreign_key_list(m.name) f"
        " WHERE m.type = 'table' AND f.\"table\" = 'viewers'"
    )
    assert len(pointing) > 8
    looked_at = " ".join(data_export.EXPORT_PARTS.values())
    assert [row[0] for row in pointing if f"{row[0]} " not in looked_at] == []


async def test_what_they_asked_for_and_where_the_channel_tells_of_them_is_there(
    db: Database,
) -> None:
    async with db.write() as tx:
        for key, login in (("1", "alice"), ("2", "bob")):
            await put(tx, "viewers", id=key, login=login)
        await notes.add_suppression(tx, "2", "harps", note_id=None, by_id="1", at=5)
        await channel_state.put(
            tx, {"digest": "<@1> won, <@2> lost.", "title": "a race"}, 5
        )
    hers = await data_export.export(db, "1")
    assert [row["words"] for row in hers["never_mention"]] == ["harps"]
    assert [row["value"] for row in hers["channel_texts"]] == ["<@1> won, <@2> lost."]
    assert (
        "by_id" in hers["never_mention"][0],
        "viewer_id" in hers["never_mention"][0],
    ) == (
        True,
        False,
    )
    assert [
        row["words"] for row in (await data_export.export(db, "2"))["never_mention"]
    ] == ["harps"]


_WORDS_OF_OURS = """
events.kind events.role episodes.kind semantic_notes.scope semantic_notes.status semantic_notes.source_kind
semantic_notes.importance semantic_notes.persona note_changes.from_status note_changes.to_status bot_messages.trigger
bot_messages.mode bot_messages.status bot_messages.outcome action_logs.name action_logs.class action_logs.verdict
action_logs.rule action_logs.status briefs.persona model_calls.purpose model_calls.model model_calls.error tally
episodes.model episodes.sentence_times episodes.topic episodes.language streams.category bot_messages.model
bot_messages.token_usage_json
bot_messages.prompt_json bot_messages.filters_json action_logs.key
spending moments.kind reply_weeks
"""
_GOES_WITH_THE_VIEWER = """
viewers viewer_names name_words nicknames attendance episode_people note_evidence action_logs.asked_by
action_logs.target_id briefs.viewer_id never_mention.viewer_id never_mention.by_id
moments.viewer_id quotes.viewer_id quotes.by_id
"""
EXEMPT = {
    **dict.fromkeys(
        _WORDS_OF_OURS.split(),
        "words, counts and names of ours, of the settings or of games",
    ),
    **dict.fromkeys(
        _GOES_WITH_THE_VIEWER.split(), "goes, or is unset, with the row in viewers"
    ),
    **dict.fromkeys(
        ("events.viewer_id", "events.target_id"), "rows of theirs are deleted"
    ),
    **dict.fromkeys(
        (
            "semantic_notes.subject_id",
            "bot_messages.viewer_id",
            "bot_messages.about_id",
        ),
        "rows of theirs are deleted",
    ),
    "channel_state": "read whole: it is a few rows",
    "streams.recap_file": "a path; privacy/erasure cleans the file",
    "events.id": "Twitch's id of a message of somebody else",
    "quotes.line": "Twitch's id of the message; the row goes with its author",
    "bot_messages.event_id": "rows that answer them are deleted",
    **dict.fromkeys(
        ("streams.twitch_id", "bot_messages.twitch_id"), "Twitch's id of it"
    ),
    **dict.fromkeys(
        ("briefs.made_of", "briefs.notes", "bot_messages.notes_json"),
        "ids of rows, and a hash of them",
    ),
}


async def text_columns(db: Database) -> set[str]:
    rows = await db.rows(
        "SELECT m.name AS t, c.name AS c FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
        " AND c.type = 'TEXT' AND m.sql NOT LIKE '%VIRTUAL%' AND m.name NOT LIKE 'episodes_fts%'"
    )
    return {f"{row['t']}.{row['c']}" for row in rows}


async def test_every_text_column_is_accounted_for(db: Database) -> None:
    """And no reason is given for what is not there."""
    cleaned = set[str]()
    for place in PLACES:
        cleaned |= {f"{place.table}.{column}" for column in place.columns}
    columns = await text_columns(db)
    assert {
        name
        for name in columns - cleaned
        if name not in EXEMPT and name.split(".")[0] not in EXEMPT
    } == set()
    tables = {
        row[0]
        for row in await db.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    assert EXEMPT.keys() <= columns | tables
    assert cleaned <= columns
