"""Chapters of a stream from its summaries: for a video's description, as CSV, and as an edit list for editors.

A chapter is the first sentence of a summary that may be published, under the rules of a recap: only regulars stand
there by name, nobody who opted out or was banned, and nothing that is never mentioned.
"""

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from forgetmenot.domain import NOTHING, Stream
from forgetmenot.durations import HOUR, MINUTE, SECOND
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.memory.recap_markdown import about_the_named, people_of
from forgetmenot.privacy.hidden_names import only_naming
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.settings.schema import Settings
from forgetmenot.store import dock_rows, episodes, streams
from forgetmenot.store.database import Database, Source
from forgetmenot.store.events import END_OF_TIME
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import with_names
from forgetmenot.text.removal import opens_with_pronoun
from forgetmenot.text.words import sentences_of

FORMATS = ("youtube", "csv", "edl")
# YouTube takes no shorter chapters, and titles of at most 100 characters.
SHORTEST = 10 * SECOND
LONGEST_TITLE = 99
# What a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@")
# Editors begin a timeline at this hour.
TIMELINE_BEGINS = HOUR


class Chapter(NamedTuple):
    """A part of a stream. `begin` and `end`: ms since its video began; without a video, since the stream began."""

    begin: int
    end: int
    title: str


async def chapters_of(
    source: Database,
    stream_id: int,
    settings: Settings,
) -> list[Chapter]:
    """Return the chapters of a stream. The first begins at 0. Raises InputError if there is none."""
    streams_by_id = await streams.get_many(source, [stream_id])
    stream = streams_by_id.get(stream_id)
    if stream is None:
        raise InputError(reason("nothing_here"))
    video_begins_at = await _video_begins(source, stream)
    people = await people_of(source, stream, settings)
    begins: list[int] = []
    titles: list[str] = []
    for said_at, sentence in await _first_sentences(source, stream, people.names):
        title = await _title(source, sentence, people.names)
        if not title:
            continue
        # YouTube shows no chapters unless the first begins at 0.
        begin = 0
        if begins:
            begin = max(0, said_at - video_begins_at)
            if begin - begins[-1] < SHORTEST:
                continue
        begins.append(begin)
        titles.append(title)
    if not begins:
        raise InputError(reason("no_chapters"))
    # A chapter ends where the next begins, the last with the stream.
    # While the stream is on it has no end, and its last chapter no length.
    ended_at = stream.ended_at or 0
    last_end = max(0, ended_at - video_begins_at)
    ends = [*begins[1:], last_end]
    chapters = []
    for begin, end, title in zip(begins, ends, titles, strict=True):
        chapters.append(Chapter(begin, max(begin, end), title))
    return chapters


async def _first_sentences(
    source: Source,
    stream: Stream,
    names: Mapping[str, str],
) -> list[tuple[int, str]]:
    """Return the first sentence of each summary that may be published, and when it was said (ms), oldest first.

    `names`: of the viewers who may be named, by id.
    """
    suppressed = await load_filter(source)
    stored_episodes = await episodes.between(
        source, stream.id, stream.started_at - 1, END_OF_TIME
    )
    sentence_times_of = await episodes.sentence_times(source, stored_episodes)
    first_sentences = []
    for episode in stored_episodes:
        if episode.summary == NOTHING:
            continue
        # One sentence each: a chapter's title has room for no more.
        is_left_out = False
        for sentence in sentences_of(suppressed.without(episode.summary)):
            # The "they" of a sentence that is left out would now mean somebody else.
            if is_left_out and opens_with_pronoun(sentence):
                continue
            published_sentence = about_the_named(sentence, names)
            is_left_out = not published_sentence
            if published_sentence:
                said_at = sentence_times_of[episode.id].get(
                    sentence, episode.started_at
                )
                first_sentences.append((said_at, published_sentence))
                break
    return first_sentences


async def _title(
    source: Source,
    sentence: str,
    names: Mapping[str, str],
) -> str:
    """Return a sentence as the title of a chapter. Empty if it names somebody who may not be shown."""
    named_sentence = with_names(sentence, names)
    # A summary may also have a name that is no mention, of somebody who may not be named.
    shown_text = await only_naming(source, named_sentence, names)
    return _cut(clean(shown_text).rstrip("."))


async def newest_stream(source: Database) -> int:
    """Return the id of the stream that ended last. Raises InputError if none has ended."""
    # The newest stream may still be on; then it is the one before.
    rows = await dock_rows.streams(source, 2)
    for row in rows:
        if row["ended_at"] is not None:
            return int(row["id"])
    raise InputError(reason("nothing_here"))


async def _video_begins(source: Source, stream: Stream) -> int:
    """Return when the video of a stream began (ms). Without a video, return when the stream began."""
    videos = await streams.videos(source, [stream.id])
    video = videos.get(stream.id)
    if video is None:
        return stream.started_at
    return video.at


def _cut(title: str) -> str:
    """Return a title cut at a word to the length that YouTube takes."""
    if len(title) <= LONGEST_TITLE:
        return title
    whole_words = title[:LONGEST_TITLE].rsplit(" ", 1)[0]
    return f"{whole_words}…"


def as_text(
    chapters: Sequence[Chapter],
    form: str,
    name: str,
) -> str:
    """Return the chapters as the text of a file in one of FORMATS. `name`: the title of an edit list."""
    if form == "csv":
        return _table(chapters)
    if form == "edl":
        return _edit_list(chapters, clean(name))
    lines = []
    for chapter in chapters:
        # YouTube refuses a description that has one of these.
        title = chapter.title.replace("<", "‹").replace(">", "›")
        lines.append(f"{_clock(chapter.begin)} {title}")
    return "\n".join([*lines, ""])


def _table(chapters: Sequence[Chapter]) -> str:
    """Return the chapters as CSV with the columns start, end and title."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("start", "end", "title"))
    for chapter in chapters:
        title = chapter.title
        # A title must not run as a formula; a spreadsheet also reads the wide forms of the signs that begin one.
        if unicodedata.normalize("NFKC", title).startswith(_FORMULA):
            title = f"'{title}"
        begin = _clock(chapter.begin, hours=True)
        end = _clock(chapter.end, hours=True)
        table.writerow((begin, end, title))
    return text.getvalue()


def _edit_list(chapters: Sequence[Chapter], name: str) -> str:
    """Return the chapters as an edit list (CMX 3600).

    DaVinci Resolve reads the entries as markers, other editors as clips.
    """
    lines = [f"TITLE: {name}", "FCM: NON-DROP FRAME", ""]
    for number, chapter in enumerate(chapters, 1):
        marker_at = TIMELINE_BEGINS + chapter.begin
        second = _clock(marker_at, hours=True).rjust(8, "0")
        # The last two digits count frames: a marker is one frame long.
        first = f"{second}:00"
        last = f"{second}:01"
        # A bar in the title would begin the next field of the line.
        title = chapter.title.replace("|", "/")
        lines += [
            f"{number:03}  001      V     C        {first} {last} {first} {last}",
            f"* FROM CLIP NAME: {title}",
            f" |C:ResolveColorBlue |M:{title} |D:1",
            "",
        ]
    return "\n".join(lines)


def _clock(ms: int, *, hours: bool = False) -> str:
    """Return a time (ms) as `4:05` or `1:04:05`. `hours`: also write 0 hours."""
    whole_hours = ms // HOUR
    minutes = ms // MINUTE % 60
    seconds = ms // SECOND % 60
    if not whole_hours and not hours:
        return f"{minutes}:{seconds:02}"
    return f"{whole_hours}:{minutes:02}:{seconds:02}"
