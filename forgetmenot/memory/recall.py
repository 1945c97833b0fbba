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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import Episode, Note, Recalled
from forgetmenot.durations import MINUTE
from forgetmenot.memory import channel_search
from forgetmenot.memory.ranking import Candidate, Postings, Query, WordIndex, query_of
from forgetmenot.people.standing import ActiveViewers
from forgetmenot.privacy import suppression
from forgetmenot.privacy.suppression import SuppressionFilter
from forgetmenot.prompt.material import CHANNEL_NOTES, SPEAKER_NOTES
from forgetmenot.settings.schema import Persona, Settings, current_persona
from forgetmenot.store import episodes, events, notes, streams, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.text.meaning import word_table
from forgetmenot.text.mentions import ids_in, mention, with_names
from forgetmenot.text.removal import without_person
from forgetmenot.text.words import STOPWORDS, sentences_of, stem, words

SUBJECTS_KEPT = 200
# Notes that are asked on the loop; more, which only an import brings, are asked in a thread.
FEW = 400
# Of somebody of whom little is known a few notes are offered whatever fits: the answer may share no word with the
# question and hardly its meaning ("which pet?", "has a gecko").
LITTLE_KNOWN, AT_LEAST = 10, 4
NEARLY_AS_GOOD = 0.5  # of the best one's score
CHATTING = 15 * MINUTE
PREPARED = 40  # people at most whose postings are built beforehand
EPISODES_PER_NOTE = 3

CHANNEL = ""  # the key of what is known about the channel and its running bits
LOOKED_AT = 5
MOST_SENTENCES = 3  # of what somebody missed, from the newest MOST_STREAMS
MOST_STREAMS = 20
A_VISIT = 10 * MINUTE  # so long without a line of theirs, and they were away
LINES_LOOKED_AT = 400
ASKED_WITH = (
    8  # words of a message, the longest: they are the rarest, and of more no summary has half
)
EPISODES_KEPT = 3_000  # the newest; of a channel with three streams a week more than a year
READ_AT_ONCE, READ_IN_PASSING = 200, 20
MATCHING_SHARE = 0.5  # of the query's words that a past episode must speak of, and at least two


Print = tuple[object, ...]  # a fingerprint of one subject's notes


class NotesSnapshot(NamedTuple):
    """The state of some subjects' notes at one moment, and what is suppressed then."""

    suppression_filter: SuppressionFilter
    prints: tuple[Print, ...]


class Recall:
    """Recall for one database. `settings` is asked once per call."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.active_viewers = ActiveViewers(db=db, settings=settings, clock=clock)
        self.episodes = EpisodeIndex()
        self._kept: dict[tuple[str, ...], tuple[tuple[Print, ...], Postings]] = {}
        self._heard: dict[str, None] = {}
        self._forgotten = 0

    def query(
        self,
        message: str,
        *,
        before: str = "",
        category: str = "",
        title: str = "",
        names: Iterable[str] = (),
    ) -> Query:
        """What is asked for: the message and the speaker's thought before it, less names, filler and the bot's name.

        Left out are `names`, and whoever stands behind an @. Category and title count little: a chess stream brings up
        chess notes where nothing else decides.
        """
        bot = self._settings().bot
        low = f"{category} {title}"
        typed = [word for word in f"{before} {message}".split() if not word.startswith("@")]
        without = (bot.name, *bot.aliases, *names)
        asked = query_of(" ".join(typed), low=low, without=without, zone=bot.timezone)
        if not message or not before:
            return asked
        # a greeting asks for nothing in particular, whatever was said before it
        alone = query_of(message, without=without)
        return replace(asked, anything=alone.anything, newest=alone.newest)

    async def about(
        self,
        subjects: Sequence[str],
        query: Query | str,
        limit: int | None = None,
        *,
        padded: bool = False,
        seen: NotesSnapshot | None = None,
    ) -> list[Recalled]:
        """The notes about some viewers, or about the CHANNEL with its running bits, as one list, best first.

        Only those that fit what is asked, but all there are where nothing is, as by a greeting. `padded`: also else.
        `seen`: what `look` has just read of them. Raises StoreError.
        """
        settings, key = self._settings(), tuple(subjects)
        usual = CHANNEL_NOTES if CHANNEL in subjects else SPEAKER_NOTES
        asked = query_of(query, zone=settings.bot.timezone) if isinstance(query, str) else query
        if seen is None:
            seen = await self._db.together(lambda at: self.look(at, key))
        revision, postings = self._kept.get(key, ((), None))
        if postings is None or revision != seen.prints:
            postings = await self._built(key, seen.prints)
        now = self._clock.now()
        opens = partial(_may_be_shown, current_persona(settings), seen.suppression_filter)

        def ranked() -> list[Recalled]:
            most = usual if limit is None else limit
            at_least = AT_LEAST if len(postings.notes) <= LITTLE_KNOWN else 0
            padded_to = None if padded or asked.anything else at_least
            return postings.ranked(asked, now=now, limit=most, padded=padded_to, opens=opens)

        return ranked() if len(postings.notes) <= FEW else await asyncio.to_thread(ranked)

    async def of_anybody(
        self,
        at: Source,
        question: str,
        seen: NotesSnapshot,
        people: Iterable[str] = (),
        names: Iterable[str] = (),
    ) -> list[Recalled]:
        """The notes about anybody that fit a question, or words to look up, best first; none to a sensitive one.

        `people`: the ids of those whom the question names; `names`: the words by which it does. Raises StoreError.
        """
        if channel_search.asks_what_is_sensitive(question):
            return []
        settings = self._settings()
        return await channel_search.search(
            at,
            self.query(question, names=names),
            table=word_table(),
            now=self._clock.now(),
            opens=partial(_may_be_shown, current_persona(settings), seen.suppression_filter),
            people=people,
            may_be_sensitive=bool(settings.privacy.allow_categories),
        )

    def heard(self, viewer_id: str) -> None:
        """Somebody said something: what is known about them is made ready with the next `prepare`."""
        self._heard[viewer_id] = None
        while len(self._heard) > PREPARED:
            del self._heard[next(iter(self._heard))]

    async def prepare(self) -> None:
        """Build the postings of whoever chats, and of the channel, where they changed: no reply waits for it."""
        if (
            not self._kept
        ):  # the program has just started: whoever was here lately is expected to go on
            self._heard |= dict.fromkeys(
                await viewers.known_chatters(
                    self._db, since=self._clock.now() - CHATTING, limit=PREPARED
                )
            )
        while await self._db.together(self.episodes.read_on):  # slice by slice
            pass
        if not self._heard:
            return
        due, self._heard = [CHANNEL, *self._heard], {}
        for subject in due:
            seen = await self._db.together(lambda at, who=subject: self.look(at, [who]))  # type: ignore[misc]
            if self._kept.get((subject,), ((),))[0] != seen.prints:
                await self._built((subject,), seen.prints)

    def forget(self) -> None:
        """Drop what is kept in this process of notes, episodes and who chats: after an erasure, or changes by hand."""
        self._kept.clear()
        self._heard.clear()
        self.episodes = (
            EpisodeIndex()
        )  # nothing that was removed is shown from the old one: it is read again
        self._forgotten += 1
        self.active_viewers.forget()

    async def look(self, at: Source, subjects: Sequence[str]) -> NotesSnapshot:
        """What has to be read before anything is recalled of these subjects, for a caller who reads more at once."""
        prints = [await notes.fingerprint(at, subject or None) for subject in subjects]
        return NotesSnapshot(await suppression.load_filter(at), tuple(prints))

    async def _built(self, subjects: tuple[str, ...], revision: tuple[Print, ...]) -> Postings:
        """Build and keep the postings of these subjects; of whoever is hidden there are none."""
        visible = [
            subject or None for subject, seen in zip(subjects, revision, strict=True) if seen[-1]
        ]
        forgotten = self._forgotten

        async def build(at: Source) -> Postings:
            known = [
                note
                for subject in visible
                for note in await notes.of_subject(at, subject, notes.RECALLED)
            ]
            near = {note.id: note.episode_ids[-EPISODES_PER_NOTE:] for note in known}
            texts = await episodes.summaries(
                at, {episode for ids in near.values() for episode in ids}
            )
            found = [
                Candidate(note, tuple((one, texts[one]) for one in near[note.id] if one in texts))
                for note in known
            ]
            return Postings(
                found, word_table() if found else None
            )  # 3 MB, not read while there is nothing to find

        postings = await self._db.together(build)
        if forgotten == self._forgotten:  # else somebody was erased meanwhile
            self._kept.pop(subjects, None)
            self._kept[subjects] = revision, postings
            while len(self._kept) > SUBJECTS_KEPT:
                del self._kept[next(iter(self._kept))]
        return postings


def _may_be_shown(persona: Persona, suppression_filter: SuppressionFilter, note: Note) -> bool:
    """Return whether this persona may know a note, and nobody asked for it never to be mentioned."""
    if not persona.sees(note.persona):
        return False
    return not suppression_filter or suppression_filter.allows(note)


def fitting(found: Sequence[Recalled], *, without: Collection[int] = ()) -> tuple[Recalled, ...]:
    """The notes about the channel that a message asks for by their words, but for those of `without`; often none."""
    least = found[0].score * NEARLY_AS_GOOD if found else 0.0
    return tuple(
        one for one in found if one.asked_for and one.score >= least and one.note.id not in without
    )


# ── past episodes ─────────────────────────────────────────────────────────────────────────────


class Newest(NamedTuple):
    """Past episodes of the prefix: this stream's newest, the last stream's last and its recap."""

    this_stream: list[Episode]
    last_stream: Episode | None
    recap: str


async def newest(db: Database, suppression_filter: SuppressionFilter, limit: int = 3) -> Newest:
    """The newest of this stream, and one of the last stream with its recap: `limit` in all."""
    stream = await streams.current_id(db)
    here = (
        await episodes.newest(db, stream_id=stream, limit=limit - 1) if stream is not None else []
    )
    this = await _visible(db, here, suppression_filter)
    before = await streams.previous(db, stream)
    if before is None:
        return Newest(this, None, "")
    last = await _visible(
        db, await episodes.newest(db, stream_id=before[0], limit=1), suppression_filter
    )
    return Newest(
        this,
        last[0] if last else None,
        await without_hidden(db, suppression_filter.without(before[1])),
    )


class EpisodeIndex:
    """The words of the newest episodes, kept in the process. Only one thread may use it: the reader's.

    It is read on from where it ended. What is stored is read again before it is shown, so a summary that was cut or
    rewritten since costs a miss at most.
    """

    def __init__(self) -> None:
        self._words = WordIndex()
        self._filled = False
        self._read_to: int | None = None

    async def read_on(self, at: Source, limit: int = READ_AT_ONCE) -> bool:
        """Read some episodes that came since; whether there may be more."""
        if self._read_to is None:
            self._read_to = await episodes.id_before_newest(at, EPISODES_KEPT)
        texts = await episodes.texts_after(at, self._read_to, limit)
        if (
            texts and not self._filled
        ):  # the table of words is not read while there is nothing to find
            self._words, self._filled = WordIndex(word_table()), True
        for episode_id, text in texts:
            self._words.add(episode_id, {word for word in words(text) if word not in STOPWORDS})
            self._read_to = episode_id
        return len(texts) == limit

    def forms(self, word: str) -> frozenset[str]:
        """The forms of a word that the episodes have."""
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
        """The episodes with a form of enough of these words, those that have most and then the newest first.

        `rarest_first`: those first whose words the fewest episodes have.
        """
        having = [set(chain.from_iterable(map(self._words.places, forms))) for forms in terms]
        having.sort(key=len)
        # who has k of n words has one of the rarest n - k + 1
        rare = set().union(*having[: len(having) - enough + 1]).difference(without)
        counts: Counter[int] = Counter()
        for episode_ids in having:
            counts.update(episode_ids & rare)
        scores: Mapping[int, float] = counts
        if rarest_first:
            scores = _rarity(having)
        fitting = [episode_id for episode_id, count in counts.items() if count >= enough]
        return heapq.nlargest(limit, fitting, key=lambda found: (scores[found], found))


def _rarity(having: Iterable[Collection[int]]) -> dict[int, float]:
    """How rare the words of each episode are together; `having` are the episodes that have each word."""
    rarity: dict[int, float] = defaultdict(float)
    for episode_ids in having:
        for episode_id in episode_ids:
            rarity[episode_id] += 1 / len(episode_ids)
    return rarity


async def spoken_of(
    at: Source,
    index: EpisodeIndex,
    query: Query,
    suppression_filter: SuppressionFilter,
    limit: int,
    *,
    people: Sequence[str] = (),
    without: Sequence[int] = (),
    any_two: bool = False,
) -> list[Episode]:
    """The older episodes that speak of enough of a message, best first; the newest of equals.

    `people`: the ids of those it names, each of whom counts as a word; `without`: the episodes that are shown anyway.
    `any_two`: two of the words are enough, and the rarest count most: they are other words for one thing.
    """
    telling = sorted([*map(mention, people), *query.telling], key=len, reverse=True)
    different = {stem(word): word for word in telling[:ASKED_WITH]}
    if not different or not limit:
        return []
    await index.read_on(at, READ_IN_PASSING)
    terms = list(map(index.forms, different.values()))
    share = 0 if any_two else MATCHING_SHARE
    enough = min(len(terms), max(2, math.ceil(share * len(terms))))
    # one more than is looked at, to see whether many episodes have a single word
    best = index.speaking_of(terms, enough, without, LOOKED_AT + 1, rarest_first=any_two)
    if len(terms) == 1 and len(best) > LOOKED_AT:
        return []  # a word that many speak of tells none of them apart
    visible = await _visible(at, await episodes.get_many(at, best), suppression_filter)
    shared = []
    for one in visible:
        said = set(words(f"{one.summary} {one.topic}"))
        shared.append((sum(not said.isdisjoint(forms) for forms in terms), one.id, one))
    if any_two:
        shared.sort(key=lambda found: best.index(found[1]))
    else:
        shared.sort(reverse=True)
    return [one for count, _, one in shared if count >= enough][:limit]


async def without_hidden(at: Source, text: str) -> str:
    """A text without what it says of people who opted out or were banned since."""
    return _without(text, await viewers.hidden(at, ids_in(text)))


async def _visible(
    at: Source, found: Sequence[Episode], suppression_filter: SuppressionFilter
) -> list[Episode]:
    """These episodes as they may be told, without those of which nothing is left."""
    if not found:
        return []
    hidden = await viewers.hidden(at, {who for one in found for who in ids_in(one.summary)})
    opened = [
        replace(one, summary=_without(suppression_filter.without(one.summary), hidden))
        for one in found
    ]
    return [one for one in opened if one.summary]


def _without(text: str, hidden: Iterable[str]) -> str:
    for viewer_id in hidden:
        text = without_person(text, viewer_id)
    return text


# What somebody missed.


class Missed(NamedTuple):
    """`since`: when they were last here, None for never. `sentences` with today's names, and where each stands."""

    since: int | None
    sentences: tuple[str, ...] = ()
    evidence: tuple[tuple[str, int], ...] = ()


async def missed(at: Source, viewer_id: str, now: int, most: int) -> Missed:
    """What a viewer missed, in `most` characters. Raises StoreError."""
    # the present visit began where there was no line of theirs for ten minutes before
    came, since = now, None
    for line in reversed(await events.latest_lines_of(at, viewer_id, LINES_LOOKED_AT)):
        if came - line.at > A_VISIT:
            since = line.at
            break
        came = min(came, line.at)
    since = since if since is not None else await streams.last_visit(at, viewer_id, came)
    if since is None:
        return Missed(None)
    texts = await _texts(at, since, came)
    suppressed = await suppression.load_filter(at)
    names, hidden = await viewers.shown_and_hidden(
        at, {who for text in texts.values() for who in ids_in(text)}
    )
    rows = []
    for source, text in texts.items():
        allowed = set(sentences_of(suppressed.without(text)))
        nameable = (
            one for one, about in suppression.with_subjects(text) if hidden.isdisjoint(about)
        )
        rows.append([(with_names(one, names), source) for one in nameable if one in allowed])
    # the first sentence of each text, the newest text first, then the second of each, as they fit
    chosen: dict[str, tuple[str, int]] = {}
    for sentence, source in (
        one for row in zip_longest(*reversed(rows)) for one in row if one is not None
    ):
        if len(chosen) < MOST_SENTENCES and sentence not in chosen and len(sentence) + 1 <= most:
            chosen[sentence] = source
            most -= len(sentence) + 1
    oldest_first = dict(sorted(chosen.items(), key=lambda one: list(texts).index(one[1])))
    return Missed(since, tuple(oldest_first), tuple(oldest_first.values()))


async def _texts(at: Source, since: int, came: int) -> dict[tuple[str, int], str]:
    """The recaps of streams that were missed whole, the summaries of those that were missed in part; oldest first.

    By what they are: ("stream", id) or ("episode", id).
    """
    found: dict[tuple[str, int], str] = {}
    for stream in await streams.newest_since(at, since, MOST_STREAMS):
        whole = (
            stream.started_at > since and stream.ended_at is not None and stream.ended_at <= came
        )
        if whole and stream.recap:
            found["stream", stream.id] = stream.recap
        else:
            parts = await episodes.between(at, stream.id, since, came)
            found |= {("episode", episode.id): episode.summary for episode in parts}
    return found
