"""The channel's book: what can be looked up of quotes, notes and what happened, with its day, minute and video.

- Nothing of people who opted out or were banned, nothing suppressed.
- What is asked for in other words is found by words of nearly the same meaning: each sentence of a summary is weighed
  by itself, beside the notes and quotes that fit.
- What a summary tells was at the minute of the line that its sentence rests on, where that is known; else its minutes
  are those of the window that the summary is of.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import Note, Recalled, Scope, Stream, Video
from forgetmenot.durations import minute_of
from forgetmenot.memory import channel_search
from forgetmenot.memory.past_episodes import EpisodeIndex, visible_episodes
from forgetmenot.memory.query import Query, query_of
from forgetmenot.memory.question_words import asked_words, cosines_to, near_stems
from forgetmenot.memory.ranking import (
    FITS_DATE,
    LEAST_OF_BEST,
    MEANING_SHARE,
    relative_to_best,
)
from forgetmenot.people.names import index_of
from forgetmenot.privacy.suppression import SuppressionFilter, load_filter
from forgetmenot.store import (
    episodes,
    figures,
    notes,
    picture_rows,
    quotes,
    streams,
    viewers,
)
from forgetmenot.store.database import Source
from forgetmenot.text.days import day_of
from forgetmenot.text.meaning import WordTable, word_table
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.words import sentences_of, stems

# Summaries that are weighed, those with the rarest words of the question.
EPISODES_READ = 60


class Entry(Struct, frozen=True):
    """Something in the book. `table` and `id`: its row in the database; `at` and `until`: when it was (ms).

    `text` names people as `<@id>`. `minutes`: its time in the stream, as "0:41–0:52"; empty outside of a stream.
    `link`: the address of its second in the stream's video; empty once Twitch has probably deleted that.
    """

    table: str
    id: int
    text: str
    at: int
    until: int
    stream_id: int | None = None
    minutes: str = ""
    link: str = ""


async def look_up(
    source: Source,
    index: EpisodeIndex,
    query: Query,
    suppression_filter: SuppressionFilter,
    *,
    now: int,
    limit: int,
    people: Sequence[str] = (),
    recalled: Sequence[Recalled] = (),
) -> list[Entry]:
    """Return what fits a question, best first, each with its minutes and link. Raises StoreError.

    `people`: the ids of the viewers in the question, each of whom counts as a word. `recalled`: the notes that fit it.
    """
    question_words = asked_words(query, people)
    if not question_words:
        return []
    # the index learns the summaries that were written since it was last asked
    await index.read_on(source)
    table = word_table()
    # for each word of the question, the stems that count as it, and how much each counts (0 to 1)
    asked_stems = [near_stems(word, table) for word in question_words]
    entries = await _sentences(source, index, asked_stems, suppression_filter)
    entries += await quote_entries(source, suppression_filter)
    entries += [_note_entry(hit.note) for hit in recalled]
    scores = _scores(entries, asked_stems, query, table)
    least_score = LEAST_OF_BEST * max(scores, default=0.0)
    fitting = []
    for score, entry in zip(scores, entries, strict=True):
        if score > 0 and score >= least_score:
            fitting.append((score, entry.at, entry))
    # of entries with the same score, the newest comes first
    fitting.sort(key=itemgetter(0, 1), reverse=True)
    best = [entry for _score, _at, entry in fitting[:limit]]
    return await with_places(source, best, now)


async def _sentences(
    source: Source,
    index: EpisodeIndex,
    asked_stems: Iterable[Collection[str]],
    suppression_filter: SuppressionFilter,
) -> list[Entry]:
    """Return every sentence of the summaries that have a word of the question, or one of nearly the same meaning.

    `asked_stems`: the stems that count as each word. Sentences are weighed by themselves afterwards.
    """
    # the index lists words as they are written ("played", "playing"), not their stems
    forms_of_words = []
    for stems_of_word in asked_stems:
        forms: set[str] = set()
        for near_stem in stems_of_word:
            forms |= index.forms(near_stem)
        forms_of_words.append(forms)
    episode_ids = index.speaking_of(
        forms_of_words,
        enough=1,
        without=(),
        limit=EPISODES_READ,
        rarest_first=True,
    )
    entries = []
    stored_episodes = await episodes.get_many(source, episode_ids)
    sentence_times_of = await episodes.sentence_times(source, stored_episodes)
    for episode in await visible_episodes(source, stored_episodes, suppression_filter):
        for sentence in sentences_of(episode.summary):
            said_at = sentence_times_of[episode.id].get(sentence)
            entry = Entry(
                table="episodes",
                id=episode.id,
                text=sentence,
                at=said_at or episode.started_at,
                until=said_at or episode.ended_at,
                stream_id=episode.stream_id,
            )
            entries.append(entry)
    return entries


async def quote_entries(
    source: Source, suppression_filter: SuppressionFilter
) -> list[Entry]:
    """Return the quotes that may be shown, oldest first."""
    stored_quotes = await quotes.shown(source)
    named_ids: set[str] = set()
    for quote in stored_quotes:
        named_ids.update(ids_in(quote.text))
    # quotes by hidden viewers are not among these; those that name one are left out here
    hidden = await viewers.hidden(source, named_ids)
    entries = []
    for quote in stored_quotes:
        people = ids_in(quote.text)
        is_suppressed = suppression_filter.matches(
            quote.text, [quote.viewer_id, *people]
        )
        if is_suppressed or not hidden.isdisjoint(people):
            continue
        entry = Entry(
            table="quotes",
            id=quote.id,
            text=f"{mention(quote.viewer_id)}: “{quote.text}”",
            at=quote.said_at,
            until=quote.said_at,
            stream_id=quote.stream_id,
        )
        entries.append(entry)
    return entries


def _note_entry(note: Note) -> Entry:
    """Return a note as an entry: it begins with its subject, and is dated when it was first said."""
    text = note.fact
    if note.subject_id is not None:
        text = f"{mention(note.subject_id)} {note.fact}"
    return Entry(
        table="notes",
        id=note.id,
        text=text,
        at=note.first_said_at,
        until=note.first_said_at,
    )


def _scores(
    entries: Sequence[Entry],
    asked_stems: Iterable[Mapping[str, float]],
    query: Query,
    table: WordTable | None,
) -> list[float]:
    """Return the score of each entry: for its words, of which rare ones count more, its meaning and its day.

    `asked_stems`: for each word of the question, the stems that count as it, and how much each counts (0 to 1).
    """
    stems_of = [set(stems(entry.text)) for entry in entries]
    scores = [0.0] * len(entries)
    for shares in asked_stems:
        weights = [_weight(entry_stems, shares) for entry_stems in stems_of]
        # how many entries have the word, with those that have a near word counted in part
        entries_with_word = sum(weights) or 1
        # A word that few entries have says most about which one is meant.
        rarity = math.log(1 + len(entries) / entries_with_word)
        for position, weight in enumerate(weights):
            scores[position] += rarity * weight
    scores = relative_to_best(scores)
    if table is not None:
        nearness = _nearness(stems_of, query, table)
        for position, near in enumerate(nearness):
            scores[position] += MEANING_SHARE * near
    for position, entry in enumerate(entries):
        said_on = day_of(entry.at, query.zone)
        scores[position] += FITS_DATE * query.time.fits(said_on)
    return scores


def _nearness(
    stems_of: Sequence[Collection[str]],
    query: Query,
    table: WordTable,
) -> list[float]:
    """Return how near each entry is to the question by meaning: 1 for the nearest, 0 for an average one or worse.

    `stems_of`: the stems of each entry.
    """
    cosines = cosines_to(query, stems_of, table)
    # Everything said in one channel is a little alike: only what is nearer than the average counts.
    average = sum(cosines) / max(1, len(cosines))
    return relative_to_best([max(cosine - average, 0.0) for cosine in cosines])


def _weight(entry_stems: Iterable[str], shares: Mapping[str, float]) -> float:
    """Return how much an entry counts for an asked word, by its nearest stem.

    1 for the word itself, less for one of nearly the same meaning, 0 for no such word. `shares`: how much each stem
    counts as the word.
    """
    weight = 0.0
    for entry_stem in entry_stems:
        share = shares.get(entry_stem, 0.0)
        weight = max(weight, share)
    return weight


# ── minutes and videos ────────────────────────────────────────────────────────────────


async def with_places(
    source: Source,
    entries: Sequence[Entry],
    now: int,
) -> list[Entry]:
    """Return entries with their stream, their minutes in it, and the link into its video."""
    # An entry of a note has no stream yet: it gets the one that was on when the note was first said.
    times = [entry.at for entry in entries if entry.stream_id is None]
    stream_at = await streams.on_at(source, times)
    entries_with_stream = []
    for entry in entries:
        stream_id = entry.stream_id or stream_at.get(entry.at)
        entries_with_stream.append(replace(entry, stream_id=stream_id))
    stream_ids = {
        entry.stream_id for entry in entries_with_stream if entry.stream_id is not None
    }
    streams_by_id = await streams.get_many(source, stream_ids)
    videos = await streams.videos(source, stream_ids)
    with_minutes = []
    for entry in entries_with_stream:
        # no stream has the id 0
        stream_id = entry.stream_id or 0
        stream = streams_by_id.get(stream_id)
        video = videos.get(stream_id)
        with_minutes.append(_with_minutes(entry, stream, video, now))
    return with_minutes


def _with_minutes(
    entry: Entry,
    stream: Stream | None,
    video: Video | None,
    now: int,
) -> Entry:
    """Return an entry with its minutes and link; unchanged if it was outside of a stream."""
    if stream is None:
        return entry
    first_minute = minute_of(entry.at, stream.started_at)
    last_minute = minute_of(entry.until, stream.started_at)
    minutes = first_minute
    if last_minute != first_minute:
        minutes = f"{first_minute}–{last_minute}"
    link = "" if video is None else video.link(entry.at, now)
    return replace(entry, minutes=minutes, link=link)


# ── the pages of the book ─────────────────────────────────────────────────────────────


class Joke(Struct, frozen=True):
    """A running joke. `times`: when it came up (ms), oldest first; `people`: the ids of those who made it."""

    entry: Entry
    times: tuple[int, ...]
    people: tuple[str, ...]


class Clip(Struct, frozen=True):
    """A clip or a marker. `address`: the clip's, empty for a marker. The entry's text is the summary of that time."""

    entry: Entry
    kind: str
    address: str


class Pages(Struct, frozen=True):
    """What the book holds."""

    quotes: Sequence[Entry]
    jokes: Sequence[Joke]
    clips: Sequence[Clip]


async def pages(source: Source, now: int) -> Pages:
    """Return the quotes, running jokes, clips and markers that may be shown, oldest first. Raises StoreError."""
    suppression_filter = await load_filter(source)
    shown_quotes = await quote_entries(source, suppression_filter)
    return Pages(
        await with_places(source, shown_quotes, now),
        await _jokes(source, suppression_filter, now),
        await _clips(source, suppression_filter, now),
    )


async def running_bits(
    source: Source, suppression_filter: SuppressionFilter
) -> list[Note]:
    """Return the notes of running jokes that may be shown, oldest first."""
    channel_notes = await notes.of_subject(source, None)
    return [
        note
        for note in channel_notes
        if note.scope is Scope.RUNNING_BIT and suppression_filter.allows(note)
    ]


async def _jokes(
    source: Source,
    suppression_filter: SuppressionFilter,
    now: int,
) -> list[Joke]:
    """Return the running jokes that may be shown, oldest first, with the times they came up and who made them."""
    bits = await running_bits(source, suppression_filter)
    note_ids = [note.id for note in bits]
    evidence_rows = await picture_rows.joke_times(source, note_ids)
    bit_entries = [_note_entry(note) for note in bits]
    jokes = []
    for entry in await with_places(source, bit_entries, now):
        # The evidence of the first time may have been erased with the person who said it.
        times = {entry.at}
        # a dict is a set that keeps its order
        tellers: dict[str, None] = {}
        for row in evidence_rows:
            if row["note_id"] != entry.id:
                continue
            times.add(row["at"])
            if row["speaker_id"]:
                tellers[row["speaker_id"]] = None
        joke = Joke(entry, times=tuple(sorted(times)), people=tuple(tellers))
        jokes.append(joke)
    return sorted(jokes, key=lambda joke: joke.entry.at)


async def _clips(
    source: Source,
    suppression_filter: SuppressionFilter,
    now: int,
) -> list[Clip]:
    """Return clips and markers, oldest first. Each has the summary of its time, if that may be shown."""
    rows = await figures.clips(source)
    # None for a clip outside of every summary, which finds no episode
    episode_ids = {row["episode_id"] for row in rows}
    stored_episodes = await episodes.get_many(source, episode_ids)
    shown_episodes = await visible_episodes(source, stored_episodes, suppression_filter)
    summaries = {episode.id: episode.summary for episode in shown_episodes}
    entries = []
    for row in rows:
        entry = Entry(
            table="moments",
            id=row["id"],
            text=summaries.get(row["episode_id"], ""),
            at=row["at"],
            until=row["at"],
            stream_id=row["stream_id"],
        )
        entries.append(entry)
    placed = await with_places(source, entries, now)
    clips = []
    for entry, row in zip(placed, rows, strict=True):
        clips.append(Clip(entry, kind=row["kind"], address=row["text"]))
    return clips


async def search(
    source: Source,
    text: str,
    *,
    now: int,
    zone: str,
    limit: int,
) -> list[Entry]:
    """Return the parts of summaries, notes and quotes that fit some words, best first. Raises StoreError."""
    index = EpisodeIndex()
    # The dock asks seldom: the whole index is built for this one question and then dropped.
    while await index.read_on(source):
        pass
    suppression_filter = await load_filter(source)
    names = await index_of(source, [text])
    query = query_of(text, names=names.words_of_names(text), zone=zone)
    people = names.named_in(text)
    recalled = await channel_search.search(
        source,
        query,
        table=word_table(),
        now=now,
        may_be_shown=suppression_filter.allows,
        people=people,
    )
    return await look_up(
        source,
        index,
        query,
        suppression_filter,
        now=now,
        limit=limit,
        people=people,
        recalled=recalled,
    )
