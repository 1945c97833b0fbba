"""Recalls what is known about a subject and what happened before, as far as it fits what was just said.

- Nothing about viewers who opted out or were banned, nothing suppressed, no notes of other personas.
- Stale and past notes only where the message has a word of theirs, or one of nearly the same meaning.
- Postings are kept per subject until its notes change. They are built in the reader's thread, for a viewer at their
  first line, so that neither a reply nor the event loop waits for it.
- Past episodes: the newest for the prefix, older ones that fit a message, and what somebody missed. That is at most
  three sentences, each as it stands in a recap or in an episode's summary, oldest first, and none of the time that they
  were here; no model is asked.
"""

import asyncio
import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import Episode, Note, Recalled
from forgetmenot.durations import MINUTE
from forgetmenot.memory import channel_search
from forgetmenot.memory.ranking import Candidate, Postings, Query, query_of
from forgetmenot.memory.word_index import WordIndex
from forgetmenot.people.standing import ActiveViewers
from forgetmenot.privacy import suppression
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.prompt.material import CHANNEL_NOTES, SPEAKER_NOTES, Past
from forgetmenot.settings.schema import Persona, Settings, current_persona
from forgetmenot.store import episodes, events, notes, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.meaning import word_table
from forgetmenot.text.mentions import ids_in, mention, with_names
from forgetmenot.text.removal import without_person
from forgetmenot.text.words import STOPWORDS, sentences_of, stem, words

# Postings of this many subjects are kept.
SUBJECTS_KEPT = 200
# Up to this many notes are ranked on the event loop; more, which only an import brings, are ranked in a thread.
FEW = 400
# Of somebody of whom little is known (in notes) a few notes are offered whatever fits: the answer may share no word
# with the question and hardly its meaning ("which pet?", "has a gecko").
LITTLE_KNOWN = 10
AT_LEAST = 4
# The part of the best note's score that other notes about the channel must have.
NEARLY_AS_GOOD = 0.5
# Whoever wrote within this time before the start is expected to go on.
CHATTING = 15 * MINUTE
# Postings of this many people at most are built beforehand.
PREPARED = 40
# The newest episodes of a note whose summaries help to find it.
EPISODES_PER_NOTE = 3

# The key of what is known about the channel and its running bits.
CHANNEL = ""
# Past episodes that are read to find those that may be shown.
LOOKED_AT = 5
# Sentences of what somebody missed, from the newest MOST_STREAMS streams.
MOST_SENTENCES = 3
MOST_STREAMS = 20
# Whoever wrote no line for this long was away.
A_VISIT = 10 * MINUTE
LINES_LOOKED_AT = 400
# Words of a message, the longest: they are the rarest, and of more no summary has half.
ASKED_WITH = 8
# The newest episodes that are indexed; of a channel with three streams a week more than a year.
EPISODES_KEPT = 3_000
READ_AT_ONCE = 200
READ_IN_PASSING = 20
# The part of the query's words that a past episode must speak of; at least two words.
MATCHING_SHARE = 0.5


# A value that changes when the notes of a subject do. Its last item: whether the subject may be shown.
Fingerprint = tuple[object, ...]


class NotesSnapshot(NamedTuple):
    """The state of some subjects' notes at one moment, and what is suppressed then.

    `fingerprints`: one for each subject, in the order of the subjects.
    """

    suppression_filter: SuppressionFilter
    fingerprints: tuple[Fingerprint, ...]


class Recall:
    """Recall for one database. `settings` returns the present settings, and is called once per recall."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.active_viewers = ActiveViewers(db=db, settings=settings, clock=clock)
        self.episodes = EpisodeIndex()
        # by their subjects, with the fingerprints of the notes that they were built from; the oldest come first
        self._postings_of: dict[
            tuple[str, ...], tuple[tuple[Fingerprint, ...], Postings]
        ] = {}
        # the ids of those who wrote since the last `prepare`, in that order; a dict is a set that keeps its order
        self._recent_speakers: dict[str, None] = {}
        # counts calls of `forget`, so that what was read before one is not kept after it
        self._forget_count = 0

    def query(
        self,
        message: str,
        *,
        before: str = "",
        category: str = "",
        title: str = "",
        names: Iterable[str] = (),
    ) -> Query:
        """Return what the message asks for, with the speaker's thought before it.

        Left out are filler, the bot's name, `names`, and whoever stands behind an @. Category and title count little:
        a chess stream brings up chess notes where nothing else decides.
        """
        bot = self._settings().bot
        ignored_names = (bot.name, *bot.aliases, *names)
        typed_words = f"{before} {message}".split()
        without_handles = [word for word in typed_words if not word.startswith("@")]
        query = query_of(
            " ".join(without_handles),
            context=f"{category} {title}",
            names=ignored_names,
            zone=bot.timezone,
        )
        if not message or not before:
            return query
        # a greeting asks for nothing in particular, whatever was said before it
        message_query = query_of(message, names=ignored_names)
        return replace(
            query, anything=message_query.anything, newest=message_query.newest
        )

    async def about(
        self,
        subjects: Sequence[str],
        query: Query | str,
        limit: int | None = None,
        *,
        padded: bool = False,
        snapshot: NotesSnapshot | None = None,
    ) -> list[Recalled]:
        """Return the notes about some viewers, or about the CHANNEL with its running bits, as one list, best first.

        Only notes that fit are returned; all there are where the query asks for nothing in particular, as a greeting
        does, or with `padded`. `limit`: by default what a prompt has room for. `snapshot`: what `look` has just
        returned for these subjects; None: it is read here. Raises StoreError.
        """
        settings = self._settings()
        if isinstance(query, str):
            query = query_of(query, zone=settings.bot.timezone)
        if limit is None:
            limit = CHANNEL_NOTES if CHANNEL in subjects else SPEAKER_NOTES
        if snapshot is None:
            snapshot = await self._look_at(subjects)
        postings = await self._postings(tuple(subjects), snapshot.fingerprints)

        padded_to: int | None = None
        if not padded and not query.anything:
            is_little_known = len(postings.notes) <= LITTLE_KNOWN
            padded_to = AT_LEAST if is_little_known else 0
        rank = partial(
            postings.ranked,
            query,
            now=self._clock.now(),
            limit=limit,
            padded_to=padded_to,
            may_be_shown=_filter_of(settings, snapshot.suppression_filter),
        )
        if len(postings.notes) <= FEW:
            return rank()
        return await asyncio.to_thread(rank)

    async def of_anybody(
        self,
        source: Source,
        question: str,
        snapshot: NotesSnapshot,
        people: Iterable[str] = (),
        names: Iterable[str] = (),
    ) -> list[Recalled]:
        """Return the notes about anybody that fit a question, or words to look up, best first.

        A sensitive question gets none. `snapshot`: of any subjects; only what it suppresses is read. `people`: the ids
        of those whom the question names; `names`: the words by which it names them. Raises StoreError.
        """
        if channel_search.asks_what_is_sensitive(question):
            return []
        settings = self._settings()
        return await channel_search.search(
            source,
            self.query(question, names=names),
            table=word_table(),
            now=self._clock.now(),
            may_be_shown=_filter_of(settings, snapshot.suppression_filter),
            people=people,
            may_be_sensitive=bool(settings.privacy.allow_categories),
        )

    def heard(self, viewer_id: str) -> None:
        """Make what is known about somebody who wrote a line ready with the next `prepare`."""
        self._recent_speakers[viewer_id] = None
        while len(self._recent_speakers) > PREPARED:
            first_speaker = next(iter(self._recent_speakers))
            del self._recent_speakers[first_speaker]

    async def prepare(self) -> None:
        """Build the postings of whoever chats, and of the channel, where they changed: no reply waits for it."""
        if not self._postings_of:
            # the program has just started: whoever was here lately is expected to go on
            since = self._clock.now() - CHATTING
            chatters = await viewers.known_chatters(
                self._db, since=since, limit=PREPARED
            )
            self._recent_speakers |= dict.fromkeys(chatters)
        has_more = True
        while has_more:
            # slice by slice, so that other reads get their turn
            has_more = await self._db.together(self.episodes.read_on)
        if not self._recent_speakers:
            return
        subjects = [CHANNEL, *self._recent_speakers]
        self._recent_speakers = {}
        for subject in subjects:
            snapshot = await self._look_at([subject])
            await self._postings((subject,), snapshot.fingerprints)

    def forget(self) -> None:
        """Drop what this process keeps of notes, episodes and who chats: after an erasure, or changes by hand."""
        self._postings_of.clear()
        self._recent_speakers.clear()
        # nothing that was removed is shown from the old index: the episodes are read again
        self.episodes = EpisodeIndex()
        self._forget_count += 1
        self.active_viewers.forget()

    async def look(self, source: Source, subjects: Sequence[str]) -> NotesSnapshot:
        """Return the state of these subjects' notes, for a caller who reads more in the same transaction."""
        fingerprints = [
            await notes.fingerprint(source, subject or None) for subject in subjects
        ]
        suppression_filter = await suppression.load_filter(source)
        return NotesSnapshot(suppression_filter, tuple(fingerprints))

    async def _look_at(self, subjects: Sequence[str]) -> NotesSnapshot:
        """Return the state of these subjects' notes, read in a transaction of its own."""
        return await self._db.together(lambda source: self.look(source, subjects))

    async def _postings(
        self, subjects: tuple[str, ...], fingerprints: tuple[Fingerprint, ...]
    ) -> Postings:
        """Return the postings of these subjects; they are built if none are kept for the present notes."""
        if subjects in self._postings_of:
            kept_fingerprints, kept_postings = self._postings_of[subjects]
            if kept_fingerprints == fingerprints:
                return kept_postings
        # of whoever is hidden there are no postings
        visible = []
        for subject, fingerprint in zip(subjects, fingerprints, strict=True):
            may_be_shown = fingerprint[-1]
            if may_be_shown:
                visible.append(subject)
        forget_count = self._forget_count
        postings = await self._db.together(lambda source: _build(source, visible))
        if forget_count != self._forget_count:
            # somebody was erased meanwhile
            return postings
        # removed first, so that it comes last among those that are kept
        self._postings_of.pop(subjects, None)
        self._postings_of[subjects] = (fingerprints, postings)
        while len(self._postings_of) > SUBJECTS_KEPT:
            oldest = next(iter(self._postings_of))
            del self._postings_of[oldest]
        return postings


async def _build(source: Source, subjects: Sequence[str]) -> Postings:
    """Build the postings of these subjects' notes, with the summaries of their newest episodes."""
    recallable: list[Note] = []
    for subject in subjects:
        recallable += await notes.of_subject(source, subject or None, notes.RECALLED)
    if not recallable:
        # the table of words (3 MB) is not read while there is nothing to find
        return Postings([], None)
    episode_ids: set[int] = set()
    for note in recallable:
        episode_ids.update(note.episode_ids[-EPISODES_PER_NOTE:])
    summaries = await episodes.summaries(source, episode_ids)
    candidates = []
    for note in recallable:
        summarised = []
        for episode_id in note.episode_ids[-EPISODES_PER_NOTE:]:
            if episode_id in summaries:
                summarised.append((episode_id, summaries[episode_id]))
        candidates.append(Candidate(note, tuple(summarised)))
    return Postings(candidates, word_table())


def _filter_of(
    settings: Settings,
    suppression_filter: SuppressionFilter,
) -> Callable[[Note], bool]:
    """Return the function that says of a note whether it may be shown now."""
    persona = current_persona(settings)
    return partial(_may_be_shown, persona, suppression_filter)


def _may_be_shown(
    persona: Persona,
    suppression_filter: SuppressionFilter,
    note: Note,
) -> bool:
    """Return whether this persona may know a note, and nobody asked for it never to be mentioned."""
    if not persona.sees(note.persona):
        return False
    return not suppression_filter or suppression_filter.allows(note)


def fitting(
    recalled: Sequence[Recalled], *, without: Collection[int] = ()
) -> tuple[Recalled, ...]:
    """Return the notes about the channel that a message asks for by their words; often there are none.

    `recalled`: best first. `without`: the ids of notes that are left out.
    """
    if not recalled:
        return ()
    least = recalled[0].score * NEARLY_AS_GOOD
    asked_for = []
    for hit in recalled:
        is_wanted = hit.asked_for and hit.score >= least
        if is_wanted and hit.note.id not in without:
            asked_for.append(hit)
    return tuple(asked_for)


# ── past episodes ─────────────────────────────────────────────────────────────────────────────


async def newest(
    db: Database,
    suppression_filter: SuppressionFilter,
    limit: int = 3,
) -> list[Past]:
    """Return what the prefix shows of the past, as far as it may be shown.

    That is the recap of the last stream and its last episode, then this stream's newest episodes: `limit` episodes in
    all.
    """
    stream_id = await streams.current_id(db)
    this_stream: list[Episode] = []
    if stream_id is not None:
        stored = await episodes.newest(db, stream_id=stream_id, limit=limit - 1)
        this_stream = await visible_episodes(db, stored, suppression_filter)
    past = await _of_last_stream(db, stream_id, suppression_filter)
    for episode in this_stream:
        past.append(Past(episode.id, episode.ended_at, episode.summary))
    return past


async def _of_last_stream(
    db: Database,
    stream_id: int | None,
    suppression_filter: SuppressionFilter,
) -> list[Past]:
    """Return the recap and the last episode of the stream before this one; nothing where it has no such episode."""
    previous = await streams.previous(db, stream_id)
    if previous is None:
        return []
    previous_id, recap = previous
    stored = await episodes.newest(db, stream_id=previous_id, limit=1)
    visible = await visible_episodes(db, stored, suppression_filter)
    if not visible:
        return []
    [last] = visible
    past = []
    shown_recap = await without_hidden(db, suppression_filter.without(recap))
    if shown_recap:
        past.append(Past(previous_id, last.ended_at, shown_recap, is_recap=True))
    past.append(Past(last.id, last.ended_at, last.summary))
    return past


class EpisodeIndex:
    """The words of the newest episodes, kept in the process. Only one thread may use it: the reader's.

    Each `read_on` goes on where the last one ended. What is stored is read again before it is shown, so a summary that
    was cut or rewritten since is missed at most.
    """

    def __init__(self) -> None:
        self._words = WordIndex()
        self._is_filled = False
        # the id of the last episode that was read
        self._read_to: int | None = None

    async def read_on(self, source: Source, limit: int = READ_AT_ONCE) -> bool:
        """Read at most `limit` of the episodes that came since, and return whether there may be more."""
        if self._read_to is None:
            self._read_to = await episodes.id_before_newest(source, EPISODES_KEPT)
        texts = await episodes.texts_after(source, self._read_to, limit)
        if texts and not self._is_filled:
            # the table of words is not read while there is nothing to find
            self._words = WordIndex(word_table())
            self._is_filled = True
        for episode_id, text in texts:
            telling_words = {word for word in words(text) if word not in STOPWORDS}
            self._words.add(episode_id, telling_words)
            self._read_to = episode_id
        return len(texts) == limit

    def forms(self, word: str) -> frozenset[str]:
        """Return the forms of a word that the episodes have."""
        return frozenset(self._words.forms(word))

    def speaking_of(
        self,
        terms: Sequence[Collection[str]],
        enough: int,
        without: Collection[int],
        limit: int,
        *,
        rarest_first: bool = False,
    ) -> list[int]:
        """Return the ids of the episodes with a form of at least `enough` of these words, best first.

        Each term is the forms of one word. Those that have most words come first, then the newest; with `rarest_first`
        those whose words the fewest episodes have.
        """
        # by term: the episodes that have it; the rarest term first
        episodes_with: list[set[int]] = []
        for forms in terms:
            places = map(self._words.places, forms)
            episodes_with.append(set(chain.from_iterable(places)))
        episodes_with.sort(key=len)
        # an episode with k of n words has one of the rarest n - k + 1: no others need to be counted
        rarest = episodes_with[: len(episodes_with) - enough + 1]
        candidates = set().union(*rarest).difference(without)
        counts: Counter[int] = Counter()
        for episode_ids in episodes_with:
            counts.update(episode_ids & candidates)
        scores: Mapping[int, float] = counts
        if rarest_first:
            scores = _rarity(episodes_with)

        def rank(episode_id: int) -> tuple[float, int]:
            return scores[episode_id], episode_id

        matching = [
            episode_id for episode_id, count in counts.items() if count >= enough
        ]
        return heapq.nlargest(limit, matching, key=rank)


def _rarity(episodes_with: Iterable[Collection[int]]) -> dict[int, float]:
    """Return how rare the words of each episode are together; `episodes_with`: the episodes that have each word."""
    rarity: dict[int, float] = defaultdict(float)
    for episode_ids in episodes_with:
        for episode_id in episode_ids:
            rarity[episode_id] += 1 / len(episode_ids)
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
    """Return the older episodes that speak of enough of a message, best first; of equal ones the newest first.

    `people`: the ids of those whom the message names, each of whom counts as a word. `without`: the ids of episodes
    that are shown anyway. `any_two`: two of the words are enough, and the rarest count most, because they are other
    words for one thing.
    """
    asked_words = sorted([*map(mention, people), *query.telling], key=len, reverse=True)
    word_of_stem = {stem(word): word for word in asked_words[:ASKED_WITH]}
    if not word_of_stem or not limit:
        return []
    await index.read_on(source, READ_IN_PASSING)
    terms = [index.forms(word) for word in word_of_stem.values()]
    enough = 2
    if not any_two:
        enough = max(2, math.ceil(MATCHING_SHARE * len(terms)))
    enough = min(enough, len(terms))
    # One more than is looked at, to see whether many episodes have a single word.
    best_ids = index.speaking_of(
        terms, enough, without, LOOKED_AT + 1, rarest_first=any_two
    )
    if len(terms) == 1 and len(best_ids) > LOOKED_AT:
        # a word that many episodes have tells none of them apart
        return []
    stored = await episodes.get_many(source, best_ids)
    term_counts: dict[int, int] = {}
    matching: list[Episode] = []
    for episode in await visible_episodes(source, stored, suppression_filter):
        # counted again: what may not be shown was cut
        term_counts[episode.id] = _term_count(episode, terms)
        if term_counts[episode.id] >= enough:
            matching.append(episode)
    if any_two:
        matching.sort(key=lambda episode: best_ids.index(episode.id))
    else:
        matching.sort(
            key=lambda episode: (term_counts[episode.id], episode.id), reverse=True
        )
    return matching[:limit]


def _term_count(episode: Episode, terms: Iterable[frozenset[str]]) -> int:
    """Return the number of terms of which an episode has a form."""
    episode_words = set(words(f"{episode.summary} {episode.topic}"))
    return sum(not episode_words.isdisjoint(forms) for forms in terms)


async def without_hidden(source: Source, text: str) -> str:
    """Return a text without what it says of people who opted out or were banned since."""
    hidden = await viewers.hidden(source, ids_in(text))
    return _without_people(text, hidden)


async def visible_episodes(
    source: Source,
    stored: Sequence[Episode],
    suppression_filter: SuppressionFilter,
) -> list[Episode]:
    """Return these episodes as they may be shown, without those of which nothing is left."""
    if not stored:
        return []
    people: set[str] = set()
    for episode in stored:
        people.update(ids_in(episode.summary))
    hidden = await viewers.hidden(source, people)
    visible = []
    for episode in stored:
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


# ── what somebody missed ──────────────────────────────────────────────────────────────────────


# Where a sentence stands: ("stream", id) for a recap, ("episode", id) for a summary.
_Evidence = tuple[str, int]


class Missed(NamedTuple):
    """What a viewer missed.

    `since`: when they were last here (ms), None for never. `sentences` with today's names, oldest first; `evidence`:
    where each stands.
    """

    since: int | None
    sentences: tuple[str, ...] = ()
    evidence: tuple[_Evidence, ...] = ()


async def missed(
    source: Source,
    viewer_id: str,
    now: int,
    max_chars: int,
) -> Missed:
    """Return what a viewer missed, in at most `max_chars` characters. Raises StoreError."""
    lines = await events.latest_lines_of(source, viewer_id, LINES_LOOKED_AT)
    lines_at = [line.at for line in reversed(lines)]
    came_at = _visit_began_at(lines_at, now)
    since = next((at for at in lines_at if came_at - at > A_VISIT), None)
    if since is None:
        since = await streams.last_visit(source, viewer_id, came_at)
    if since is None:
        return Missed(None)
    texts = await _missed_texts(source, since, came_at)
    suppression_filter = await suppression.load_filter(source)
    people: set[str] = set()
    for text in texts.values():
        people.update(ids_in(text))
    names, hidden = await viewers.shown_and_hidden(source, people)
    sentences_by_text = []
    for evidence, text in texts.items():
        shown = _sentences_to_show(text, suppression_filter, hidden)
        sentences = [(with_names(sentence, names), evidence) for sentence in shown]
        sentences_by_text.append(sentences)

    newest_first = sentences_by_text[::-1]
    evidence_of = _as_they_fit(_in_turn(newest_first), max_chars)
    age_order = list(texts)
    oldest_first = sorted(
        evidence_of, key=lambda sentence: age_order.index(evidence_of[sentence])
    )
    evidence_in_order = [evidence_of[sentence] for sentence in oldest_first]
    return Missed(since, tuple(oldest_first), tuple(evidence_in_order))


def _as_they_fit(
    sentences: Iterable[tuple[str, _Evidence]],
    max_chars: int,
) -> dict[str, _Evidence]:
    """Return the first MOST_SENTENCES of these sentences that fit, each once, with where they stand."""
    evidence_of: dict[str, _Evidence] = {}
    chars_left = max_chars
    for sentence, evidence in sentences:
        if len(evidence_of) == MOST_SENTENCES:
            break
        # with the space before the next one
        length = len(sentence) + 1
        if sentence in evidence_of or length > chars_left:
            continue
        evidence_of[sentence] = evidence
        chars_left -= length
    return evidence_of


def _visit_began_at(lines_at: Iterable[int], now: int) -> int:
    """Return when a viewer's present visit began (ms): in the A_VISIT before it they wrote nothing.

    `lines_at`: when they wrote their lines, the newest first.
    """
    began_at = now
    for at in lines_at:
        if began_at - at > A_VISIT:
            break
        began_at = min(began_at, at)
    return began_at


def _sentences_to_show(
    text: str,
    suppression_filter: SuppressionFilter,
    hidden: frozenset[str],
) -> list[str]:
    """Return the sentences of a text that name nobody hidden and nothing suppressed."""
    allowed = set(sentences_of(suppression_filter.without(text)))
    shown = []
    for sentence, subject_ids in suppression.with_subjects(text):
        if sentence in allowed and hidden.isdisjoint(subject_ids):
            shown.append(sentence)
    return shown


def _in_turn(
    sentences_by_text: Sequence[Sequence[tuple[str, _Evidence]]],
) -> Iterator[tuple[str, _Evidence]]:
    """Yield the first sentence of each text, then the second of each, and so on."""
    for sentences in zip_longest(*sentences_by_text):
        for sentence in sentences:
            # texts of fewer sentences are filled up with None
            if sentence is not None:
                yield sentence


async def _missed_texts(
    source: Source,
    since: int,
    came_at: int,
) -> dict[_Evidence, str]:
    """Return the recaps of streams that were missed whole and the summaries of those missed in part, oldest first.

    Missed is what happened between the two times (ms).
    """
    texts: dict[_Evidence, str] = {}
    for stream in await streams.newest_since(source, since, MOST_STREAMS):
        is_over = stream.ended_at is not None and stream.ended_at <= came_at
        if stream.recap and is_over and stream.started_at > since:
            texts["stream", stream.id] = stream.recap
            continue
        for episode in await episodes.between(source, stream.id, since, came_at):
            texts["episode", episode.id] = episode.summary
    return texts
