"""Looks once more into the memory, with words that the model asked for. Reads only."""

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from forgetmenot.domain import Episode, Recalled, Viewer
from forgetmenot.memory.ranking import Query
from forgetmenot.memory.recall import CHANNEL, spoken_of
from forgetmenot.people.names import index_of
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.prompt.material import Past, TailMaterial
from forgetmenot.reply.context import ComposedPrompt, ContextGatherer, with_names
from forgetmenot.reply.prefix import row_ids
from forgetmenot.store.database import Source
from forgetmenot.text.questions import speaks_of_self

# Notes of each subject, and episodes, that a second look adds.
NOTES_LIMIT = 8
EPISODES_LIMIT = 2


async def look_again(
    gatherer: ContextGatherer,
    composed: ComposedPrompt,
    search_words: str,
    shown_notes: Collection[int],
) -> TailMaterial | None:
    """Return the material with what other words find of people, channel and past; None if they find nothing.

    What stands in the prompt already (`shown_notes`, by id) is left out. Raises StoreError.
    """
    material = composed.material
    recall = gatherer.recall
    names = (await index_of(gatherer.db, [search_words])).words_of_names(search_words)
    query = recall.query(search_words, names=names)
    if not query.telling:
        return None

    others = [other.viewer for other in material.others]
    recalled: list[Recalled] = []
    for subject in (CHANNEL, *_ids_of_recalled([material.speaker, *others])):
        of_subject = await recall.about(
            [subject], query, NOTES_LIMIT + len(shown_notes)
        )
        new_notes = [
            candidate
            for candidate in of_subject
            if candidate.asked_for and candidate.note.id not in shown_notes
        ]
        recalled += new_notes[:NOTES_LIMIT]
    if not await _is_about_somebody(gatherer, material):
        known_notes = {*shown_notes, *(candidate.note.id for candidate in recalled)}
        recalled += await _of_anybody(gatherer, search_words, known_notes)

    asked_about = _ids_of_recalled(others or [material.speaker])
    past = await _past(gatherer, composed, query, asked_about)
    if not recalled and not past:
        return None
    material = replace(material, looked_up=tuple(recalled), looked_up_past=past)
    return await with_names(gatherer.db, material)


def _ids_of_recalled(people: Iterable[Viewer]) -> list[str]:
    return [viewer.id for viewer in people if not viewer.opted_out]


async def _is_about_somebody(gatherer: ContextGatherer, material: TailMaterial) -> bool:
    """Return whether the message is about its speaker, or names somebody."""
    text = material.message.text
    if material.others or speaks_of_self(text):
        return True
    names = await index_of(
        gatherer.db, [text], present=gatherer.recall.active_viewers.ids
    )
    return material.speaker.id in names.named_in(text)


async def _of_anybody(
    gatherer: ContextGatherer,
    search_words: str,
    known_notes: Collection[int],
) -> list[Recalled]:
    """Return what else is known about anybody that fits the words."""

    async def read(source: Source) -> list[Recalled]:
        snapshot = await gatherer.recall.look(source, [])
        return await gatherer.recall.of_anybody(source, search_words, snapshot)

    recalled = await gatherer.db.together(read)
    return [candidate for candidate in recalled if candidate.note.id not in known_notes]


async def _past(
    gatherer: ContextGatherer,
    composed: ComposedPrompt,
    query: Query,
    people: Sequence[str],
) -> tuple[Past, ...]:
    """Return the past episodes that fit the query and do not stand in the prompt yet.

    The words are other words for one thing: an episode has one of them and the person, or two.
    """
    suppression_filter = await load_filter(gatherer.db)
    shown_episodes = [*row_ids(composed.prefix, "episodes")]
    shown_episodes += [past.id for past in composed.material.past_episodes]

    async def read(source: Source) -> list[Episode]:
        return await spoken_of(
            source,
            gatherer.recall.episodes,
            query,
            suppression_filter,
            EPISODES_LIMIT,
            people=people,
            without=shown_episodes,
            any_two=True,
        )

    # only the reader's thread may use the index of episodes
    episodes = await gatherer.db.together(read)
    return tuple(
        Past(episode.id, episode.ended_at, episode.summary) for episode in episodes
    )
