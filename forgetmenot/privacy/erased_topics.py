"""What others said on a topic that somebody asked never to mention, when that person is erased.

Once they are erased nobody can tell any more which texts were about them, so the topic itself would no longer hide
them. While it is known:

- a note of somebody else that speaks of them and of the topic goes on the list by its number: it stays its owner's;
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
from forgetmenot.text.removal import NameForms
from forgetmenot.text.words import join_sentences, sentences_of

# Texts that one transaction rewrites: replies and commands write in between.
TEXTS_AT_ONCE = 50


async def keep_unmentioned(
    db: Database,
    person: NameForms,
    topics: SuppressionFilter,
    now: int,
) -> None:
    """Leave nothing in the memory to be mentioned that speaks of somebody and of their topics."""
    await _list_notes(db, topics, person.viewer_id, now)
    await _cut_sentences(db, topics, person.viewer_id, now)
    await _take_words(db, topics, person, now)


async def _list_notes(
    db: Database,
    topics: SuppressionFilter,
    viewer_id: str,
    now: int,
) -> None:
    mentioning = await notes.of_others_mentioning(db, viewer_id)
    hidden = [note for note in mentioning if not topics.allows(note)]
    if not hidden:
        return
    async with db.write() as tx:
        listed = {row.note_id for row in await notes.suppressions(tx)}
        for note in hidden:
            if note.id in listed:
                continue
            about = note.subject_id
            await notes.add_suppression(
                tx, about, "", note_id=note.id, by_id=None, at=now
            )


async def _cut_sentences(
    db: Database,
    topics: SuppressionFilter,
    viewer_id: str,
    now: int,
) -> None:
    changed = []
    for text in await traced_texts.texts_mentioning(db, viewer_id):
        rest = topics.without(text.text)
        if rest != text.text:
            changed.append((text, rest))
    for start in range(0, len(changed), TEXTS_AT_ONCE):
        async with db.write() as tx:
            for text, rest in changed[start : start + TEXTS_AT_ONCE]:
                await traced_texts.rewrite_traced(tx, text, rest)
                if text.table == "episodes" and not rest:
                    await episodes.drop_empty(tx, [text.id], now)
    if any(text.table == "streams" for text, _rest in changed):
        # made of recaps, and made again of what is left of them
        async with db.write() as tx:
            await channel_state.put(tx, {"digest": "", "digest_of": ""}, now)


async def _take_words(
    db: Database,
    topics: SuppressionFilter,
    person: NameForms,
    now: int,
) -> None:
    lines, replies = await asyncio.to_thread(_spoken, db.path, topics, person)
    for start in range(0, len(lines), TEXTS_AT_ONCE):
        async with db.write() as tx:
            for line in lines[start : start + TEXTS_AT_ONCE]:
                await traced_texts.rewrite_traced(tx, line, "")
    for start in range(0, len(replies), TEXTS_AT_ONCE):
        async with db.write() as tx:
            await bot_messages.clear(tx, replies[start : start + TEXTS_AT_ONCE], now)


def _spoken(
    path: Path,
    topics: SuppressionFilter,
    person: NameForms,
) -> tuple[list[traced_texts.TracedText], list[tuple[int, str]]]:
    """Lines of chat, and replies (row, and Twitch's id of its line), that name them and speak of a topic."""

    def speaks_of_it(text: str) -> bool:
        marked = person.with_mentions(text)
        return marked != text and topics.has(marked, [person.viewer_id])

    lines = [line for line in traced_texts.typed_lines(path) if speaks_of_it(line.text)]
    replies = []
    for reply_id, twitch_id, text in traced_texts.sent_texts(path):
        if speaks_of_it(text):
            replies.append((reply_id, twitch_id))
    return lines, replies


def without_topics(
    text: str,
    person: NameForms,
    topics: SuppressionFilter,
) -> str:
    """A text of a recap's file without the sentences that speak of them and of a topic.

    There people stand by their names, so a bare name counts also where it is a word.
    """
    person = NameForms(person.viewer_id, person.names, (), person.others)
    sentences = sentences_of(text)
    marked = with_subjects(person.with_mentions(text))
    allowed = []
    for sentence, (marked_sentence, about) in zip(sentences, marked, strict=False):
        if not topics.has(marked_sentence, about):
            allowed.append(sentence)
    return text if allowed == sentences else join_sentences(allowed)
