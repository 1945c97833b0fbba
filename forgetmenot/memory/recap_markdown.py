"""A stream's recap as Markdown for the streamer, and the file that it is written to.

- It says what happened and who came, and lists jokes, plans, clips and the bot's best lines. Only regulars and the
  streamer are named, unless they opted out or were banned. Others are only counted. There is no hearsay. What a viewer
  or a model wrote is neither markup nor a mention there (text/markdown).
- Its files are found by their folder, even if the memory does not know the stream any more. So an erasure, a forgotten
  fact and an opt-out can remove their sentences from them (privacy/recap_files).
"""

import asyncio
import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from errno import ENOENT
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forgetmenot.domain import Attendance, Note, Scope, SourceKind, Standing, Stream
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import StoreError
from forgetmenot.files import replace_file
from forgetmenot.languages import Language, in_language, reason
from forgetmenot.memory.time_together import anniversaries
from forgetmenot.people.handles import names_typed, streamer_of
from forgetmenot.people.names import called, index_of
from forgetmenot.people.standing import REGULAR_WITHIN, standing_of
from forgetmenot.privacy.hidden_names import only_naming
from forgetmenot.privacy.suppression import SuppressionFilter, load_filter
from forgetmenot.prompt.viewer_plans import plan_end
from forgetmenot.settings.schema import PeopleSettings, Settings
from forgetmenot.store import (
    action_logs,
    bot_messages,
    episodes,
    notes,
    privacy_choices,
    streams,
    viewers,
)
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.privacy_requests import PrivacyRequest, RequestKind
from forgetmenot.text.days import local_time
from forgetmenot.text.markdown import escape_markdown
from forgetmenot.text.mentions import ids_in, mention, with_names
from forgetmenot.text.removal import opens_with_pronoun
from forgetmenot.text.words import join_sentences, sentences_of, telling_stems

if TYPE_CHECKING:
    from forgetmenot.people.time_together import Fact

# How many jokes and how many plans, moments and lines of the bot a recap has at most.
LISTED_LIMIT = 5
MOMENTS_LIMIT = 10
QUOTES_LIMIT = 3
# More lines are read than are shown, because some are repeats or tell people to type a command.
QUOTES_READ = 10 * QUOTES_LIMIT
BULLET = "- "
QUOTED = "> "
CHAT = "chat"
# A game of less than this share of a stream is not named.
SMALLEST_SHARE = 0.05
_CLIP = re.compile(r"https://clips\.twitch\.tv/[\w-]{1,120}", re.ASCII)
_SOMEBODY_BEGINS = re.compile(r"(?:\A|(?<=[.!?] ))s(?=ome(?:body|one)\b)")
# A command: a line that tells people to type one is not worth quoting.
_COMMAND = re.compile(r"(?:\A|\s)!\w")
_MENTIONED = r"<@[\w:-]+>"
# "P1, P2 and P3"
_LISTED = re.compile(rf"{_MENTIONED}(?:(?:,| and|, and) {_MENTIONED})+")
# A mention with a possessive: the sentence is about that person's own things.
_OWN_THINGS = re.compile(r"<@([\w:-]+)>['’]s?\b")


class StreamPeople(NamedTuple):
    """Who came to a stream, who came back after a long time, and the names of those who may be named, by id."""

    attendance: Mapping[str, Attendance]
    returners: Sequence[str]
    names: Mapping[str, str]


async def people_of(
    source: Source,
    stream: Stream,
    settings: Settings,
) -> StreamPeople:
    """Return the people of a stream. Only its regulars and the streamer have names there, unless hidden."""
    lately_since = stream.started_at - REGULAR_WITHIN
    attendance = await streams.attendance_at(source, stream.id, lately=lately_since)
    returners = _returners(attendance, settings.people, stream.started_at)
    regulars = _regulars(attendance, returners, settings.people)
    nameable_ids = [*regulars]
    streamer = await streamer_of(source, settings.twitch.channel)
    if streamer is not None:
        nameable_ids.append(streamer.id)
    names, _hidden = await viewers.shown_and_hidden(source, nameable_ids)
    return StreamPeople(attendance, returners, names)


async def markdown_of(
    source: Source,
    stream_id: int,
    settings: Settings,
) -> str | None:
    """Return the recap of a stream as Markdown; None while the stream is not over or has no recap."""
    streams_by_id = await streams.get_many(source, [stream_id])
    stream = streams_by_id.get(stream_id)
    if stream is None or stream.ended_at is None or not stream.recap:
        return None
    attendance, returners, names = await people_of(source, stream, settings)
    suppressed = await load_filter(source)
    certain_notes: list[Note] = []
    hearsay: list[Note] = []
    for note in await notes.of_stream(source, stream.id):
        if not suppressed.allows(note):
            continue
        if note.source_kind is SourceKind.REPORTED:
            hearsay.append(note)
        else:
            certain_notes.append(note)
    occasions = await anniversaries(source, stream, attendance, settings)
    say = in_language(settings.bot.language)
    people = _people_lines(attendance, returners, names, say)
    people += _anniversary_lines(occasions, names, say)

    page = _Page(source, stream, settings, attendance, names, suppressed)
    sections = await page.head(hearsay)
    sections.append(_section(say("recap.people"), people))
    sections += await page.lists(certain_notes)
    text = "\n\n".join(section for section in sections if section)
    return f"{text}\n"


def _returners(
    attendance: Mapping[str, Attendance],
    settings: PeopleSettings,
    started_at: int,
) -> list[str]:
    """Return the ids of the viewers who came back with this stream after a long time."""
    returners = []
    for viewer_id, visits in attendance.items():
        if standing_of(visits, settings, started_at) is Standing.RETURNER:
            returners.append(viewer_id)
    return returners


def _regulars(
    attendance: Mapping[str, Attendance],
    returners: Sequence[str],
    settings: PeopleSettings,
) -> list[str]:
    """Return the ids of the viewers who came to enough streams lately to be named in a recap.

    Returners were away lately, so all their streams count.
    """
    regulars = []
    for viewer_id, visits in attendance.items():
        stream_count = visits.lately
        if viewer_id in returners:
            stream_count = visits.streams
        if stream_count >= settings.regular_streams:
            regulars.append(viewer_id)
    return regulars


class _Page:
    """The parts of one recap. `names`: by id, the names of those who may be named. `attendance`: by id, who came."""

    def __init__(
        self,
        source: Source,
        stream: Stream,
        settings: Settings,
        attendance: Mapping[str, Attendance],
        names: Mapping[str, str],
        suppressed: SuppressionFilter,
    ) -> None:
        self._say = in_language(settings.bot.language)
        self._source = source
        self._stream = stream
        # only a stream that is over gets a recap, so it has an end
        self._ended_at = stream.ended_at or stream.started_at
        self._settings = settings
        self._attendance = attendance
        self._names = names
        self._suppressed = suppressed

    async def head(self, hearsay: Sequence[Note]) -> list[str]:
        """Return the title, the line with day, length and games, and what happened.

        `hearsay`: the notes of the stream that only others said about their subject.
        """
        title = self._stream.title or self._say("recap.untitled")
        facts = " · ".join(fact for fact in await self._facts() if fact)
        certain_recap = without_hearsay(self._stream.recap, hearsay)
        happened = about_the_named(certain_recap, self._names)
        return [
            f"# {escape_markdown(title)}",
            f"*{escape_markdown(facts)}*",
            await self._shown(happened),
        ]

    async def lists(self, certain_notes: Iterable[Note]) -> list[str]:
        """Return the lists of jokes, plans, moments and the bot's best lines, and the footer.

        `certain_notes`: the notes of the stream that are no hearsay.
        """
        jokes = []
        plans = []
        for note in certain_notes:
            if note.scope is Scope.RUNNING_BIT:
                jokes.append(note.fact)
            if self._is_open_plan(note):
                plans.append(self._plan(note))
        shown_jokes = []
        for joke in jokes[:LISTED_LIMIT]:
            shown_jokes.append(await self._shown(joke))
        shown_plans = []
        for plan in plans[:LISTED_LIMIT]:
            shown_plans.append(await self._shown(plan))
        moments = await self._moments()
        quotable = await self._quotable()
        shown_quotes = []
        for text, answered_id in distinct_quotes(quotable):
            shown_quotes.append(await self._shown(text, answered_id))
        bot_name = escape_markdown(self._settings.bot.name)
        quotes_title = self._say("recap.quotes", name=bot_name)
        footer = self._say("recap.footer")
        return [
            _section(self._say("recap.jokes"), shown_jokes),
            _section(self._say("recap.plans"), shown_plans),
            _section(self._say("recap.moments"), moments),
            _section(quotes_title, shown_quotes, QUOTED),
            f"*{footer}*",
        ]

    async def _facts(self) -> list[str]:
        """Return the day, length and games of the stream."""
        start = local_time(self._stream.started_at, self._settings.bot.timezone)
        # strftime writes names of days and months in English, so other languages have a format of numbers alone
        written_day = start.strftime(self._say("recap.date"))
        # "3 May" and not "03 May"
        day = written_day.replace(" 0", " ")
        length = self._say.duration(self._ended_at - self._stream.started_at)
        times_by_game = await episodes.games_of(self._source, self._stream.id)
        games = played(times_by_game, self._say)
        return [day, length, games or self._stream.category]

    def _is_open_plan(self, note: Note) -> bool:
        """Return whether a note is a plan whose time comes after the stream.

        It must belong to the channel, or to somebody who may be named.
        """
        if note.subject_id is not None and note.subject_id not in self._names:
            return False
        end = plan_end(note, self._settings.bot.timezone)
        return end is not None and end > self._ended_at

    def _plan(self, note: Note) -> str:
        """Return a plan behind its owner's name; the plans of the channel have no name."""
        if note.subject_id is None:
            return note.fact
        return f"{self._names[note.subject_id]}: {note.fact}"

    async def _moments(self) -> list[str]:
        """Return the clips and markers of the stream in words, each with its time in the stream."""
        rows = await action_logs.clips_and_markers(
            self._source, self._stream.started_at, self._ended_at, MOMENTS_LIMIT
        )
        moments = []
        for at, action, text in rows:
            shown_text = text
            # the address of a clip stays as it is, so that it can be clicked
            if not _CLIP.fullmatch(text):
                shown_text = await self._shown(text)
            name = self._say(f"action.name.{action}")
            time_in_stream = at - self._stream.started_at
            hours = time_in_stream // HOUR
            minutes = time_in_stream // MINUTE % 60
            moments.append(f"{hours}:{minutes:02} {name} {shown_text}")
        return moments

    async def _quotable(self) -> list[tuple[str, str]]:
        """Return the bot's best answers as (text, id of the answered viewer).

        Answers that name somebody who may not be named are left out.
        """
        answers = await bot_messages.best_answers(
            self._source,
            self._stream.started_at,
            self._ended_at,
            QUOTES_READ,
        )
        texts = [text for text, _viewer_id in answers]
        index = await index_of(self._source, texts, present=self._attendance.keys())
        quotable = []
        for text, viewer_id in answers:
            # by a short form or a nickname as well: "Lumi" is Lumi_X
            named_ids = set[str]()
            for naming in index.namings(text):
                named_ids.update(naming.viewer_ids)
            if not named_ids <= self._names.keys():
                continue
            named_text = with_names(text, self._names)
            allowed_text = await only_naming(self._source, named_text, self._names)
            # with "somebody" in the place of a name it would be no quote
            if allowed_text == named_text:
                quotable.append((text, viewer_id))
        return quotable

    async def _shown(self, text: str, answered_id: str | None = None) -> str:
        """Return a text as Markdown, with names for ids and without suppressed sentences.

        People who may not be named become "somebody". `answered_id`: the viewer that the text answered; None if it
        answered nobody.
        """
        typed_names = names_typed([text])
        named_people = await called(self._source, typed_names)
        people: list[str | None] = [answered_id]
        people += [person.id for person in named_people]
        unsuppressed = self._suppressed.without(text, people)
        named_text = with_names(unsuppressed, self._names)
        allowed_text = await only_naming(self._source, named_text, self._names)
        # a sentence that began with a name may begin with "somebody" now
        return escape_markdown(_SOMEBODY_BEGINS.sub("S", allowed_text))


def _section(
    title: str,
    lines: Iterable[str],
    mark: str = BULLET,
) -> str:
    """Return a heading and the lines under it, each behind a mark; "" if there are no lines."""
    rows = [f"{mark}{line}" for line in lines if line]
    if not rows:
        return ""
    # without an empty line between them, Markdown joins quotations
    separator = "\n\n" if mark == QUOTED else "\n"
    body = separator.join(rows)
    return f"## {title}\n\n{body}"


def _people_lines(
    attendance: Mapping[str, Attendance],
    returners: Sequence[str],
    names: Mapping[str, str],
    say: Language,
) -> list[str]:
    """Return how many people wrote, how many of them for the first time, and who came back."""
    first_time_count = 0
    for visits in attendance.values():
        if visits.streams == 1:
            first_time_count += 1
    lines = [say("recap.wrote", n=len(attendance))]
    if first_time_count:
        lines.append(say("recap.first", n=first_time_count))
    if returners:
        people = [names[viewer_id] for viewer_id in returners if viewer_id in names]
        people.sort()
        everybody = _with_others(people, len(returners), say)
        lines.append(say("recap.back", who=everybody))
    return [escape_markdown(line) for line in lines]


def _with_others(
    people: Sequence[str],
    total: int,
    say: Language,
) -> str:
    """Return these names in one line, with the number of the others at its end.

    `total`: how many people there are, with the others.
    """
    phrases = list(people)
    other_count = total - len(people)
    if other_count:
        phrases.append(say("recap.others", n=other_count))
    return ", ".join(phrases)


def _anniversary_lines(
    occasions: Mapping[str, Sequence["Fact"]],
    names: Mapping[str, str],
    say: Language,
) -> list[str]:
    """Return how many anniversaries there were, and the anniversaries of people who may be named.

    `occasions`: the anniversaries of each viewer, by id.
    """
    if not occasions:
        return []
    people = []
    for viewer_id, facts in occasions.items():
        if viewer_id in names:
            words = ", ".join(fact.words(say) for fact in facts)
            people.append(f"{names[viewer_id]} ({words})")
    everybody = _with_others(people, len(occasions), say)
    count = sum(len(facts) for facts in occasions.values())
    line = say("recap.anniversaries", n=count, who=everybody)
    return [escape_markdown(line)]


def distinct_quotes(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the first QUOTES_LIMIT lines of the bot that differ and name no command.

    A line is (text, id of the answered viewer).
    """
    quotes: list[tuple[str, str]] = []
    seen_texts: set[str] = set()
    for text, viewer_id in lines:
        comparable_text = text.casefold().strip(" .!?")
        if _COMMAND.search(text) or comparable_text in seen_texts:
            continue
        seen_texts.add(comparable_text)
        quotes.append((text, viewer_id))
    return quotes[:QUOTES_LIMIT]


def played(games: Mapping[str, int], say: Language) -> str:
    """Return the games of a stream, with their shares if there are several; "" if none is known.

    `games`: by name, how long each was played, the longest first.
    """
    total = sum(games.values())
    shares: dict[str, float] = {}
    for game, length in games.items():
        share = length / total
        if share >= SMALLEST_SHARE:
            shares[game] = share
    if len(shares) < 2:
        # the only one, or none
        return "".join(shares)
    phrases = []
    for game, share in shares.items():
        percent = round(100 * share)
        phrases.append(say("recap.share", game=game, percent=percent))
    return ", ".join(phrases)


def without_hearsay(recap: str, hearsay: Sequence[Note]) -> str:
    """Return a recap without the sentences that repeat hearsay about a person in them, or about the channel.

    `hearsay`: notes that only others said about their subject.
    """
    sentences = []
    is_left_out = False
    for sentence in sentences_of(recap):
        # The "they" of a sentence that is left out would now mean somebody else.
        if is_left_out and opens_with_pronoun(sentence):
            continue
        sentence_stems = telling_stems(sentence)
        # None stands for the channel, which any sentence may be about
        subjects = {None, *ids_in(sentence)}
        is_left_out = any(
            note.subject_id in subjects and telling_stems(note.fact) <= sentence_stems
            for note in hearsay
        )
        if not is_left_out:
            sentences.append(sentence)
    return join_sentences(sentences)


def about_the_named(recap: str, names: Mapping[str, str]) -> str:
    """Return a recap without the sentences about a person who may not be named, or about that person's things.

    In a sentence about several people, those who may not be named become "chat", unless it would name chat twice.
    `names`: by id, the names of the others.
    """
    sentences = []
    is_left_out = False
    for sentence in sentences_of(recap):
        # The "they" of a sentence that is left out would now mean somebody else.
        if is_left_out and opens_with_pronoun(sentence):
            continue
        people = ids_in(sentence)
        nameless = [viewer_id for viewer_id in people if viewer_id not in names]
        owners = set(_OWN_THINGS.findall(sentence))
        # "<@1>'s cat": whoever else is in the sentence, it is about that person's own things
        is_about_theirs = not owners.isdisjoint(nameless)
        is_alone = len(people) == 1
        is_left_out = bool(nameless) and (is_alone or is_about_theirs)
        if is_left_out:
            continue
        with_chat = _LISTED.sub(
            lambda listed: _with_chat_last(listed[0], names), sentence
        )
        for viewer_id in nameless:
            with_chat = with_chat.replace(mention(viewer_id), CHAT)
        # "chat blamed chat" says nothing
        if with_chat.count(CHAT) - sentence.count(CHAT) > 1:
            is_left_out = True
            continue
        # the sentence may begin with "chat" now
        first_letter = with_chat[:1].upper()
        sentences.append(first_letter + with_chat[1:])
    return join_sentences(sentences)


def _with_chat_last(listed: str, names: Mapping[str, str]) -> str:
    """Return a list of people with one "chat" at its end for all who may not be named."""
    listed_ids = ids_in(listed)
    shown = [mention(viewer_id) for viewer_id in listed_ids if viewer_id in names]
    if len(shown) == len(listed_ids):
        return listed
    if not shown:
        return CHAT
    shown_people = ", ".join(shown)
    return f"{shown_people} and {CHAT}"


# ── the file ──────────────────────────────────────────────────────────────────────────────────


async def write_file(
    db: Database,
    stream_id: int,
    settings: Settings,
) -> None:
    """Write a stream's recap into the folder of the settings. Raises StoreError."""
    folder = Path(settings.recap.folder).expanduser().absolute()
    started_at = await streams.start_of(db, stream_id)
    start = local_time(started_at, settings.bot.timezone)
    # The time is in the name, because after a restore of an older copy another stream of that day may get the same id.
    path = folder / f"{start:%Y-%m-%d %H-%M} stream {stream_id}.md"
    written_text = None
    # The folder may be on a slow drive, so the file is written outside of a transaction. Something may be forgotten
    # meanwhile: then the recap reads differently, and the file is written again.
    while True:
        text = await markdown_of(db, stream_id, settings)
        if text is None or text == written_text:
            return
        # stored before the file is written: an erasure looks for the file where the memory says it is
        async with db.write() as tx:
            if folder.is_dir():
                await _store_folder(tx, str(folder))
            await streams.set_recap_file(tx, stream_id, str(path))
        try:
            await asyncio.to_thread(_write_text, path, text)
        except OSError as error:
            # The file may hold the text of an earlier round, with somebody who was erased since.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            async with db.write() as tx:
                await streams.set_recap_file(tx, stream_id, "")
            why = reason("not_written", path=str(path), error=error.strerror or "")
            raise StoreError(why) from error
        written_text = text


def _write_text(path: Path, text: str) -> None:
    """Write a file into a folder that exists. Raises OSError."""
    folder = path.parent
    if not folder.is_dir():
        message = "the folder for recaps does not exist"
        raise FileNotFoundError(ENOENT, message, str(folder))
    replace_file(path, text)


async def _store_folder(tx: Transaction, folder: str) -> None:
    """Store the folder of recaps with the privacy requests, which survive a restore of an older copy.

    An older copy of the memory does not know the folder, but an erasure in it must find the files.
    """
    if folder in tx.requests.recap_folders:
        return
    request = PrivacyRequest(RequestKind.RECAP_FOLDER, "", folder=folder)
    await privacy_choices.write_request(tx, request)
