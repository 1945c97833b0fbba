"""The texts that may say a fact are found without a look at the prompts of a month."""

import json
import time

from forgetmenot.store.database import Database
from forgetmenot.store.traced_texts import texts_with_words
from tests.rows import put

REPLIES = 6_000


async def test_of_most_replies_no_prompt_is_read(db: Database) -> None:
    """Others wait while a fact is forgotten: nobody may write."""
    rows = [["events", number] for number in range(100)] + [["notes", 12]]
    prompt = json.dumps({"sections": [{"rows": rows}]}, separators=(",", ":"))
    async with db.write() as tx:
        await put(tx, "viewers", id="1", login="alice")
        note_id = await put(tx, "semantic_notes", subject_id="1", fact="plays cello")
        for _ in range(REPLIES):
            text = "that boss took an hour, and the tower is next"
            await put(tx, "bot_messages", text=text, prompt_json=prompt)
        found_row = await put(tx, "bot_messages", text="Cello!", prompt_json=prompt)
    assert note_id != 12
    seconds = []
    texts = []
    async with db.write() as tx:
        for _ in range(3):
            start = time.process_time()
            texts = await texts_with_words(tx, 12, "1", ["play", "cello"])
            seconds.append(time.process_time() - start)
    assert [text.id for text in texts] == [found_row]
    assert min(seconds) < 0.06


async def test_a_reply_to_another_counts_by_what_stood_in_its_prompt(
    db: Database,
) -> None:
    """With the note half of its words are enough, with a summary of the same people all of them."""
    with_note, with_episode, with_neither = (
        json.dumps({"sections": [{"rows": [row]}]}, separators=(",", ":"))
        for row in (["notes", 12], ["episodes", 7], ["episodes", 70])
    )
    async with db.write() as tx:
        await put(tx, "viewers", id="1", login="alice")
        await put(tx, "viewers", id="2", login="bob")
        await put(tx, "semantic_notes", id=12, subject_id="1", fact="plays cello")
        await put(tx, "episodes", id=7, summary="They talked.")
        await put(tx, "episode_people", episode_id=7, viewer_id="1", lines=1)
        expected = []
        for text, prompt, is_own in (
            ("Cello!", with_note, True),
            ("Somebody plays cello.", with_episode, False),
            ("Cello!", with_episode, None),
            ("Somebody plays cello.", with_neither, None),
        ):
            values = {"viewer_id": "2", "text": text, "prompt_json": prompt}
            row_id = await put(tx, "bot_messages", **values)
            if is_own is not None:
                expected.append((row_id, is_own))
        texts = await texts_with_words(tx, 12, "1", ["play", "cello"])
    assert [(text.id, text.own) for text in texts] == expected
