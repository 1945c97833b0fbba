"""Looks once more into the memory, with words that the model asked for. Reads only."""

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from forgetmenot.domain import Episode, Recalled, Viewer
from forgetmenot.memory.past_episodes import spoken_of
from forgetmenot.memory.query import Query
from forgetmenot.memory.recall import CHANNEL
from forgetmenot.people.names import index_of
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.prompt.material import Past, TailMaterial
from forgetmenot.reply.context import ComposedPrompt, ContextGatherer, with_names
from forgetmenot.store.database import Source
from forgetmenot.text.questions import speaks_of_self

# Notes of each subject, and episodes, that a second look adds.
NOTES_LIMIT = 8
EPISODES_LIMIT = 2


async def look_again(
    gatherer: ContextGatherer,
    composed: ComposedPrompt,
    search_words: str,
    shown_ids: Collection[int],
) -> TailMaterial | None:
    """Return the material with what other words find of people, channel and past.

    `shown_ids`: the notes that stand in the prompt already, which are left out.
    None if nothing else is found. Raises StoreError.
    """
    material = composed.material
    names = await index_of(gatherer.db, [search_words])
    query = gatherer.recall.query(
        search_words, names=names.words_of_names(search_words)
    )
    # Without a word that says what is asked for ("what about it"), any note would fit.
    if not query.telling:
        return None

    others = [other.viewer for other in material.others]
    subjects = [CHANNEL, *_remembered_ids([material.speaker, *others])]
    recalled_notes: list[Recalled] = []
    for subject in subjects:
        recalled_notes += await _notes_about(gatherer, subject, query, shown_ids)
    if not await _is_about_somebody(gatherer, material):
        found_ids = {recalled.note.id for recalled in recalled_notes}
        recalled_notes += await _notes_about_anybody(
            gatherer, search_words, {*shown_ids, *found_ids}
        )
    # Where nobody is asked about, the past is asked for what the speaker was in.
    people_asked_about = _remembered_ids(others or [material.speaker])
    past = await _past(gatherer, composed, query, people_asked_about)
    if not recalled_notes and not past:
        return None
    material = replace(material, looked_up=tuple(recalled_notes), looked_up_past=past)
    return await with_names(gatherer.db, material)


def _remembered_ids(people: Iterable[Viewer]) -> list[str]:
    """Return the ids of those of whom anything is remembered: they have not opted out."""
    return [viewer.id for viewer in people if not viewer.opted_out]


async def _notes_about(
    gatherer: ContextGatherer,
    subject: str,
    query: Query,
    shown_ids: Collection[int],
) -> list[Recalled]:
    """Return the notes about a subject that the words ask for, without those that are shown."""
    # More than are wanted, since any of them may be shown already.
    recalled_notes = await gatherer.recall.about(
        [subject], query, NOTES_LIMIT + len(shown_ids)
    )
    new_notes = []
    for recalled in recalled_notes:
        if recalled.asked_for and recalled.note.id not in shown_ids:
            new_notes.append(recalled)
    return new_notes[:NOTES_LIMIT]


async def _is_about_somebody(gatherer: ContextGatherer, material: TailMaterial) -> bool:
    """Return whether the message is about its speaker, or names somebody."""
    text = material.message.text
    if material.others or speaks_of_self(text):
        return True
    names = await index_of(
        gatherer.db, [text], present=gatherer.recall.active_viewers.ids
    )
    return material.speaker.id in names.named_in(text)


async def _notes_about_anybody(
    gatherer: ContextGatherer,
    search_words: str,
    known_ids: Collection[int],
) -> list[Recalled]:
    """Return what is known about anybody that fits the words, without these notes."""

    async def read(source: Source) -> list[Recalled]:
        snapshot = await gatherer.recall.look(source, [])
        return await gatherer.recall.of_anybody(source, search_words, snapshot)

    recalled_notes = await gatherer.db.together(read)
    new_notes = []
    for recalled in recalled_notes:
        if recalled.note.id not in known_ids:
            new_notes.append(recalled)
    return new_notes


async def _past(
    gatherer: ContextGatherer,
    composed: ComposedPrompt,
    query: Query,
    people: Sequence[str],
) -> tuple[Past, ...]:
    """Return the past episodes that fit the query and do not stand in the prompt yet.

    A model searches with several words for one thing, so an episode need not have all: it fits with any
    two of them, or with one and a person asked about.
    """
    suppression_filter = await load_filter(gatherer.db)
    # An episode of which the prefix has only some sentences may be read in full, so it is not left out.
    shown_ids = list(composed.prefix.whole_episodes)
    for past in composed.material.past_episodes:
        shown_ids.append(past.id)

    async def read(source: Source) -> list[Episode]:
        return await spoken_of(
            source,
            gatherer.recall.episodes,
            query,
            suppression_filter,
            EPISODES_LIMIT,
            people=people,
            without=shown_ids,
            any_two=True,
        )

    # Only the reader's thread may use the index of episodes.
    episodes = await gatherer.db.together(read)
    return tuple(
        Past(episode.id, episode.ended_at, episode.summary) for episode in episodes
    )
