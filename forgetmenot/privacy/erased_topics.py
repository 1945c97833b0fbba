"""What others said on a topic that somebody asked never to mention, when that person is erased.

Once they are erased nobody can tell any more which texts were about them, so the topic itself would
no longer suppress those texts. While it is known:

- a note of somebody else that speaks of them and of the topic goes on the list by its number: it
  stays its owner's;
- summaries, recaps and short texts about regulars lose the sentences that do;
- what was typed in the last hours, and what the bot said, loses its words.

The topic stays in force by its hashes (privacy/suppression) for whatever is said of them later.
"""

import asyncio
from pathlib import Path

from forgetmenot.privacy.suppression import SuppressionFilter, with_subjects
from forgetmenot.store import (
    bot_messages,
    channel_state,
    episodes,
    notes,
    traced_texts,
)
from forgetmenot.store.database import Database
from forgetmenot.store.traced_texts import TracedText
from forgetmenot.text.removal import NameForms
from forgetmenot.text.words import join_sentences, sentences_of

# Texts that one transaction rewrites: replies and commands write in between.
TEXTS_AT_ONCE = 50


async def suppress_mentions(
    db: Database,
    person: NameForms,
    topics: SuppressionFilter,
    now: int,
) -> None:
    """Remove or suppress every text of others that speaks of a person and of their topics.

    `topics` has the topics of that person alone; `now` is in ms. Raises StoreError.
    """
    await _suppress_notes(db, topics, person.viewer_id, now)
    await _cut_sentences(db, topics, person.viewer_id, now)
    await _clear_chat_and_replies(db, topics, person, now)


async def _suppress_notes(
    db: Database,
    topics: SuppressionFilter,
    viewer_id: str,
    now: int,
) -> None:
    """Put the notes of others that mention the viewer and a topic on the list, by number."""
    mentioning_notes = await notes.of_others_mentioning(db, viewer_id)
    suppressed_notes = [note for note in mentioning_notes if not topics.allows(note)]
    if not suppressed_notes:
        return
    async with db.write() as tx:
        entries = await notes.suppressions(tx)
        listed_ids = {entry.note_id for entry in entries}
        for note in suppressed_notes:
            if note.id in listed_ids:
                continue
            await notes.add_suppression(
                tx,
                note.subject_id,
                "",
                note_id=note.id,
                by_id=None,
                at=now,
            )


async def _cut_sentences(
    db: Database,
    topics: SuppressionFilter,
    viewer_id: str,
    now: int,
) -> None:
    """Cut the sentences on a topic out of the stored texts that mention the viewer."""
    changes: list[tuple[TracedText, str]] = []
    for stored in await traced_texts.texts_mentioning(db, viewer_id):
        remaining_text = topics.without(stored.text)
        if remaining_text != stored.text:
            changes.append((stored, remaining_text))
    for start in range(0, len(changes), TEXTS_AT_ONCE):
        batch = changes[start : start + TEXTS_AT_ONCE]
        async with db.write() as tx:
            for stored, remaining_text in batch:
                await traced_texts.rewrite_traced(tx, stored, remaining_text)
                if stored.table == "episodes" and not remaining_text:
                    await episodes.drop_empty(tx, [stored.id], now)
    is_recap_changed = any(stored.table == "streams" for stored, _text in changes)
    if is_recap_changed:
        # The digest is made of recaps, and made again of what is left of them.
        async with db.write() as tx:
            await channel_state.put(tx, {"digest": "", "digest_of": ""}, now)


async def _clear_chat_and_replies(
    db: Database,
    topics: SuppressionFilter,
    person: NameForms,
    now: int,
) -> None:
    """Delete the words of chat lines and of the bot's replies that name the person on a topic."""
    lines = await asyncio.to_thread(_lines_on_topics, db.path, topics, person)
    replies = await asyncio.to_thread(_replies_on_topics, db.path, topics, person)
    # The words go and the row stays: other rows rest on it.
    for start in range(0, len(lines), TEXTS_AT_ONCE):
        async with db.write() as tx:
            for line in lines[start : start + TEXTS_AT_ONCE]:
                await traced_texts.rewrite_traced(tx, line, "")
    for start in range(0, len(replies), TEXTS_AT_ONCE):
        batch = replies[start : start + TEXTS_AT_ONCE]
        async with db.write() as tx:
            await bot_messages.clear(tx, batch, now)


def _lines_on_topics(
    path: Path,
    topics: SuppressionFilter,
    person: NameForms,
) -> list[TracedText]:
    """Return the lines of chat that name the person and speak of a topic. Raises StoreError."""
    lines = []
    for line in traced_texts.typed_lines(path):
        if _names_on_topic(line.text, topics, person):
            lines.append(line)
    return lines


def _replies_on_topics(
    path: Path,
    topics: SuppressionFilter,
    person: NameForms,
) -> list[tuple[int, str]]:
    """Return the replies that name the person and speak of a topic. Raises StoreError.

    Each is the id of the reply and Twitch's id of its line in chat.
    """
    replies = []
    for reply_id, twitch_id, text in traced_texts.sent_texts(path):
        if _names_on_topic(text, topics, person):
            replies.append((reply_id, twitch_id))
    return replies


def _names_on_topic(
    text: str,
    topics: SuppressionFilter,
    person: NameForms,
) -> bool:
    """Return whether a text names the person, by any name, and speaks of a topic."""
    # Typed lines and replies name people as they are spelt, topics go by mentions.
    marked_text = person.with_mentions(text)
    if marked_text == text:
        return False
    return topics.matches(marked_text, [person.viewer_id])


def without_topics(
    text: str,
    person: NameForms,
    topics: SuppressionFilter,
) -> str:
    """Return a text of a recap's file without the sentences that speak of a person and of a topic."""
    # In such a file people stand by their bare names. So the name counts also if it is a word ("rose"):
    # no names are handed on as `words`, which never count bare.
    any_form = NameForms(person.viewer_id, person.names, words=(), others=person.others)
    sentences = sentences_of(text)
    # A mention in the place of a name has no mark that ends a sentence, so these are as many.
    marked_sentences = with_subjects(any_form.with_mentions(text))
    allowed_sentences = []
    for sentence, (marked_sentence, subject_ids) in zip(
        sentences, marked_sentences, strict=False
    ):
        if not topics.matches(marked_sentence, subject_ids):
            allowed_sentences.append(sentence)
    if allowed_sentences == sentences:
        return text
    return join_sentences(allowed_sentences)
