"""Finds what happened before: the newest episodes for the prefix, and older ones that fit a message.

Nothing that an episode says of people who opted out or were banned, or that is suppressed, is returned.
"""

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from msgspec.structs import replace

from forgetmenot.domain import Episode
from forgetmenot.memory.query import Query
from forgetmenot.memory.word_index import WordIndex
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.prompt.chat_speed import USUAL, speed_within, working_set
from forgetmenot.prompt.material import Past
from forgetmenot.store import episodes, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.meaning import word_table
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.removal import without_person
from forgetmenot.text.words import STOPWORDS, read_words, stem, words

# This stream's episodes that the prefix shows, where chat is not fast.
EPISODES_OF_STREAM = USUAL.episodes
# Past episodes that are read to find those that may be shown.
MOST_READ = 5
# Only this many words of a message are searched, the longest: they are the rarest. No summary has half of more words.
MOST_ASKED_WORDS = 8
# The newest episodes that are indexed; of a channel with three streams a week more than a year.
EPISODES_INDEXED = 3_000
# Episodes that are indexed in one go, before other reads get their turn; fewer while a message waits.
READ_AT_ONCE = 200
READ_IN_PASSING = 20
# Of a word that so many episodes have it is kept which they are.
IN_MANY = 50
# A past episode must have this part of the query's words, and at least two of them.
MATCHING_SHARE = 0.5


async def newest(
    db: Database,
    suppression_filter: SuppressionFilter,
) -> list[Past]:
    """Return what a prompt's prefix shows of the past: the last stream's recap, then episodes, the newest last.

    They are the newest episodes of this stream. If these are few, the last episode of the stream before comes first.
    How many are shown depends on the speed of chat. Hidden and suppressed sentences are left out.
    """
    stream_id = await streams.current_id(db)
    this_stream: list[Episode] = []
    if stream_id is not None:
        stored_episodes = await episodes.newest(
            db, stream_id=stream_id, limit=EPISODES_OF_STREAM
        )
        this_stream = await visible_episodes(db, stored_episodes, suppression_filter)
    # lines a minute in the newest episode
    speed = 0.0
    if this_stream:
        newest_episode = this_stream[-1]
        length = newest_episode.ended_at - newest_episode.started_at
        speed = speed_within(newest_episode.events, length)
    limit = working_set(speed).episodes
    recaps, past_episodes = await _of_last_stream(db, stream_id, suppression_filter)
    for episode in this_stream:
        past = Past(episode.id, episode.ended_at, episode.summary)
        past_episodes.append(past)
    newest_episodes = past_episodes[-limit:]
    return [*recaps, *newest_episodes]


async def _of_last_stream(
    db: Database,
    stream_id: int | None,
    suppression_filter: SuppressionFilter,
) -> tuple[list[Past], list[Past]]:
    """Return the recap and the last episode of the stream before this one, each as a list of at most one item.

    Both lists are empty if that episode may not be shown.
    """
    previous = await streams.previous(db, stream_id)
    if previous is None:
        return [], []
    previous_id, recap = previous
    stored = await episodes.newest(db, stream_id=previous_id, limit=1)
    visible = await visible_episodes(db, stored, suppression_filter)
    if not visible:
        return [], []
    [last] = visible
    last_episode = Past(last.id, last.ended_at, last.summary)
    unsuppressed = suppression_filter.without(recap)
    shown_recap = await without_hidden(db, unsuppressed)
    if not shown_recap:
        return [], [last_episode]
    last_recap = Past(previous_id, last.ended_at, shown_recap, is_recap=True)
    return [last_recap], [last_episode]


class EpisodeIndex:
    """The words of the newest episodes, kept in the process. Only the database's reader thread may use it.

    Each `read_on` continues where the last one ended. The index may be older than a summary that was cut or rewritten.
    That does no harm: every episode is read from the database again before it is shown.
    """

    def __init__(self) -> None:
        self._words = WordIndex()
        self._is_filled = False
        # the id of the last episode that was read
        self._read_to: int | None = None
        # all episodes that are read have higher ids
        self._id_before = 0
        # by word that many episodes have: in how many it was found, and these as bits
        self._bits_kept: dict[str, tuple[int, int]] = {}

    async def read_on(self, source: Source, limit: int = READ_AT_ONCE) -> bool:
        """Index at most `limit` of the episodes written since the last call; return whether there may be more."""
        if self._read_to is None:
            self._id_before = await episodes.id_before_newest(source, EPISODES_INDEXED)
            self._read_to = self._id_before
        texts = await episodes.texts_after(source, self._read_to, limit)
        # mostly nothing is new, and adding even nothing looks through all words of the index
        if not texts:
            return False
        if not self._is_filled:
            # the table of words is not read while there is nothing to find
            self._words = WordIndex(word_table())
            self._is_filled = True
        words_of_texts: list[tuple[int, set[str]]] = []
        for episode_id, text in texts:
            telling_words = {word for word in read_words(text) if word not in STOPWORDS}
            words_of_texts.append((episode_id, telling_words))
            self._read_to = episode_id
        self._words.add(words_of_texts)
        return len(texts) == limit

    def forms(self, word: str) -> frozenset[str]:
        """Return the words of the indexed episodes that are forms of a word."""
        return frozenset(self._words.forms(word))

    def speaking_of(
        self,
        terms: Sequence[Collection[str]],
        *,
        enough: int,
        without: Collection[int],
        limit: int,
        rarest_first: bool = False,
    ) -> list[int]:
        """Return the ids of the episodes with at least `enough` of the terms, best first.

        A term is all forms of one word. Episodes with the most terms are best, then the newest; with `rarest_first`
        those with the rarest terms. `without`: the ids of episodes that are left out.
        """
        # A set of episodes is one number here, with a bit for each: sets of thousands of ids take fifty times as long.
        all_bits = map(self._bits_of_term, terms)
        episodes_with = sorted(all_bits, key=int.bit_count)
        with_at_least = _with_at_least(episodes_with)
        left_out = self._bits(without)
        if rarest_first:
            rarity_of = {}
            for bit in _highest_first(with_at_least[enough] & ~left_out):
                rarity_of[bit] = _rarity(bit, episodes_with)
            best = heapq.nlargest(limit, rarity_of, key=rarity_of.__getitem__)
            return [self._id_before + bit for bit in best]
        best = []
        for term_count in range(len(terms), enough - 1, -1):
            episode_bits = with_at_least[term_count] & ~left_out
            best += islice(_highest_first(episode_bits), limit - len(best))
            left_out |= episode_bits
        return [self._id_before + bit for bit in best]

    def _bits_of_term(self, forms: Iterable[str]) -> int:
        """Return the episodes that have any of these words, each as a bit."""
        bits = 0
        for form in forms:
            bits |= self._bits_of_word(form)
        return bits

    def _bits_of_word(self, word: str) -> int:
        """Return the episodes that have a word, each as a bit; kept for words of many."""
        episode_ids = self._words.places(word)
        count = len(episode_ids)
        if count < IN_MANY:
            return self._bits(episode_ids)
        kept_count, bits = self._bits_kept.get(word, (0, 0))
        if kept_count != count:
            bits |= self._bits(episode_ids[kept_count:])
            self._bits_kept[word] = (count, bits)
        return bits

    def _bits(self, episode_ids: Iterable[int]) -> int:
        """Return episodes as the bits of a number: the first one that is indexed is bit 1."""
        bits = 0
        for episode_id in episode_ids:
            # what the prefix shows may be older than what is indexed
            if episode_id > self._id_before:
                bits |= 1 << (episode_id - self._id_before)
        return bits


def _with_at_least(episodes_with: Sequence[int]) -> list[int]:
    """Return by a number of terms, from 0 on, the episodes that have at least so many of them.

    `episodes_with`: for each term, the episodes that have it; each a bit.
    """
    # the first are all: a negative number has all bits
    with_at_least = [-1, *(0 for _term in episodes_with)]
    for episodes_with_term in episodes_with:
        # from the highest number down: the lower ones are still those without this term
        for count in range(len(episodes_with), 0, -1):
            with_at_least[count] |= with_at_least[count - 1] & episodes_with_term
    return with_at_least


def _highest_first(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set in a number, the highest first."""
    while bits:
        place = bits.bit_length() - 1
        yield place
        bits ^= 1 << place


def _rarity(place: int, episodes_with: Iterable[int]) -> float:
    """Return how rare the terms of the episode at a place are: a term that n episodes have adds 1 / n.

    `episodes_with`: for each term, the episodes that have it; each a bit.
    """
    rarity = 0.0
    for episodes_with_term in episodes_with:
        if episodes_with_term >> place & 1:
            rarity += 1 / episodes_with_term.bit_count()
    return rarity


async def spoken_of(
    source: Source,
    index: EpisodeIndex,
    query: Query,
    suppression_filter: SuppressionFilter,
    limit: int,
    *,
    people: Sequence[str] = (),
    without: Sequence[int] = (),
    any_two: bool = False,
) -> list[Episode]:
    """Return the older episodes with enough words of a query, best first, then the newest.

    `people`: the ids of viewers whom the message names; each counts as a word. `without`: the ids of episodes that are
    shown anyway. `any_two`: the words are synonyms, so two are enough and the rarest count most.
    """
    mentions = [mention(viewer_id) for viewer_id in people]
    longest_first = sorted([*mentions, *query.telling], key=len, reverse=True)
    # forms of the same word are searched once
    word_of_stem = {stem(word): word for word in longest_first[:MOST_ASKED_WORDS]}
    if not word_of_stem or not limit:
        return []
    await index.read_on(source, READ_IN_PASSING)
    terms = [index.forms(word) for word in word_of_stem.values()]
    enough = 2
    if not any_two:
        share_of_terms = math.ceil(MATCHING_SHARE * len(terms))
        enough = max(enough, share_of_terms)
    # a question of one word is answered by that word
    enough = min(enough, len(terms))
    # One more than is read, to notice a single word that many episodes have.
    best_ids = index.speaking_of(
        terms,
        enough=enough,
        without=without,
        limit=MOST_READ + 1,
        rarest_first=any_two,
    )
    if len(terms) == 1 and len(best_ids) > MOST_READ:
        # a word that many episodes have tells none of them apart
        return []
    if not best_ids:
        return []
    stored_episodes = await episodes.get_many(source, best_ids)
    # (how many of the terms it has, its id, the episode)
    matching: list[tuple[int, int, Episode]] = []
    for episode in await visible_episodes(source, stored_episodes, suppression_filter):
        # counted again, because sentences that may not be shown are cut by now
        term_count = _term_count(episode, terms)
        if term_count >= enough:
            matching.append((term_count, episode.id, episode))
    if any_two:
        matching.sort(key=lambda match: best_ids.index(match[1]))
    else:
        matching.sort(key=itemgetter(0, 1), reverse=True)
    return [episode for _term_count, _id, episode in matching[:limit]]


def _term_count(episode: Episode, terms: Iterable[frozenset[str]]) -> int:
    """Return how many terms an episode has in any form."""
    text = f"{episode.summary} {episode.topic}"
    episode_words = set(words(text))
    count = 0
    for forms in terms:
        if not episode_words.isdisjoint(forms):
            count += 1
    return count


async def without_hidden(source: Source, text: str) -> str:
    """Return a text without its sentences about people who have opted out or were banned."""
    hidden = await viewers.hidden(source, ids_in(text))
    return _without_people(text, hidden)


async def visible_episodes(
    source: Source,
    stored_episodes: Sequence[Episode],
    suppression_filter: SuppressionFilter,
) -> list[Episode]:
    """Return episodes with only the sentences that may be shown. An episode without any is left out."""
    if not stored_episodes:
        return []
    named_ids: set[str] = set()
    for episode in stored_episodes:
        named_ids.update(ids_in(episode.summary))
    hidden = await viewers.hidden(source, named_ids)
    visible = []
    for episode in stored_episodes:
        unsuppressed = suppression_filter.without(episode.summary)
        summary = _without_people(unsuppressed, hidden)
        if summary:
            visible.append(replace(episode, summary=summary))
    return visible


def _without_people(text: str, viewer_ids: Iterable[str]) -> str:
    """Return a text without the sentences about these people."""
    for viewer_id in viewer_ids:
        text = without_person(text, viewer_id)
    return text
