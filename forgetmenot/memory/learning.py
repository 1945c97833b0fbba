"""Learns from the chat of past streams (past_chat/chat_file): through the summaries and notes of live chat.

- Its lines are older than a raw line may be kept, so they are never stored: a window of them is in memory until its
  summary is written. Streams get their own dates; what was said later wins, as always.
- The part of a file that was read, and the summary of it, are one transaction: stopped, it goes on where it was, and
  the same file twice adds nothing.
- A stream is one stream, whether it was heard live, or learned before from another program's file: past chat belongs to
  the stream that was on then, or that ended or began less than STREAM_GAP away. A line counts once: what was said while
  the bot listened is known, whoever said it; of a file that was learned, what the people said who are in its windows.
- People who opted out, were erased since, are banned or ignored leave nothing, also where the file has only a name of
  theirs; a window is read anew if somebody left while the model was thinking. The bot's own lines are shown to the
  model for context, and are evidence of nothing. Live chat is read first.
"""

import asyncio
import math
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.clock import Clock
from forgetmenot.domain import STREAM_GAP, ChatEvent, Line, Video
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.errors import InputError, ModelBlocked, ModelError
from forgetmenot.languages import Language, reason
from forgetmenot.memory.extraction import Extractor
from forgetmenot.memory.ingest import seen, visits
from forgetmenot.memory.summarizer import Summarizer
from forgetmenot.memory.summary_instructions import SUMMARY_WORDS
from forgetmenot.memory.transcript import (
    Cut,
    Window,
    smallest_full_window,
    windows,
)
from forgetmenot.past_chat.chat_file import PastChat, Unread
from forgetmenot.people.exclusion import Exclusion
from forgetmenot.people.names import owners
from forgetmenot.people.standing import role_of
from forgetmenot.ports import LanguageModel
from forgetmenot.settings import prices
from forgetmenot.settings.prices import TokenCounts
from forgetmenot.settings.schema import MemorySettings, Provider, Settings
from forgetmenot.store import (
    channel_state,
    episodes,
    events,
    figures,
    privacy_choices,
    streams,
    viewers,
)
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.episodes import KEY_OF_PAST, HeardSpan, NewEpisode
from forgetmenot.store.figures import PlacedLine
from forgetmenot.text.mentions import provisional_id

T = TypeVar("T")
# Lines of a file that are cut into windows at once.
READ_AT_ONCE = 500
# How long (s) unread live chat is waited for before each window of past chat, and how often it is looked at.
LIVE_FIRST_S = 60.0
LOOK_EVERY_S = 2.0
# Instructions and what is known, besides the lines themselves; measured with a hosted model's prompts.
TOKENS_A_CALL = 800
SECONDS_A_CALL = 4.0
# Without a model; 2,460 were measured on two busy cores.
LINES_A_SECOND = 1_000
BYTES_A_TOKEN = 3
# The key of a file in the channel's state begins so; the value is the number of its lines that were read.
LEARNED = "learned:"
# Of the lines that cannot be read the numbers of this many are shown.
LINES_NAMED = 5
# Twitch keeps videos so long at most. A file does not say what kind of account its channel is.
VIDEOS_KEPT_AT_MOST = 60 * DAY
# Twitch ends a broadcast after this time.
LONGEST_STREAM = 2 * DAY
# A window of past chat ends with its stream or when it is full, never for a silence.
NEVER = 1 << 60
# A log by the minute dates a line up to a minute early; the clock of a PC is seconds ahead.
EARLY_BY_AT_MOST = MINUTE
LATE_BY_AT_MOST = 5 * SECOND
# The bot listened between two of its windows that are not further apart.
LONGEST_LULL = 15 * MINUTE


class Estimate(Struct, frozen=True):
    """What it would take to learn from files.

    `first_at`, `last_at`: the times of the first and last line (ms). `calls`: of the model. `tokens`: what the model
    would be billed for. `unread`: by file, the lines that cannot be read.
    """

    lines: int
    streams: int
    first_at: int
    last_at: int
    calls: int
    tokens: TokenCounts
    unread: dict[str, Unread]

    @property
    def days(self) -> int:
        """Return the number of days between the first and the last line, both included."""
        return (self.last_at - self.first_at) // DAY + 1

    @property
    def minutes(self) -> int:
        """Return about how many minutes it takes: at least 1 with a model; without one 0 if it is done in a moment."""
        if self.calls:
            # calls are made one after the other
            return max(1, round(self.calls * SECONDS_A_CALL / 60))
        return round(self.lines / LINES_A_SECOND / 60)

    def in_words(self, settings: Settings, say: Language) -> str:
        """Return the sentences shown before somebody decides: how much there is to learn, its time and its price."""
        counts = _counts(self, "lines streams", say)
        days = say("span.d", n=self.days)
        amount = say("setup.past_amount", **counts, days=days)
        price = self._price_in_words(settings, say)
        sentences = [amount, price, *_unread_in_words(self.unread, say)]
        return " ".join(sentences)

    def _time_in_words(self, say: Language) -> str:
        """Return how long it takes, in words."""
        if not self.minutes:
            return say("setup.past_moment")
        if self.minutes == 1:
            return say("setup.past_minutes", minutes=say("span.min", n=1))
        return say("setup.past_minutes", minutes=say.duration(self.minutes * MINUTE))

    def _price_in_words(self, settings: Settings, say: Language) -> str:
        """Return a sentence on how long it takes and what it costs."""
        time = self._time_in_words(say)
        if not self.calls:
            return say("setup.past_takes_no_model", time=time)
        model = settings.model.memory_model
        details = {
            "time": time,
            "model": model,
            "calls": say.number(self.calls),
            "tokens": say.number(self.tokens.input + self.tokens.output),
        }
        cost = prices.cost_text(settings, {model: self.tokens}, say)
        if not cost:
            return say("setup.past_takes_unpriced", **details)
        return say("setup.past_takes", **details, cost=cost)


class Learned(Struct):
    """What was learned.

    `known`: the number of lines that the memory knew before. `excluded`: the number of lines by people who are left
    out. `trouble`: why it stopped early. `unread`: by file, the lines that cannot be read.
    """

    lines: int = 0
    streams: int = 0
    episodes: int = 0
    notes: int = 0
    known: int = 0
    trouble: str = ""
    unread: dict[str, Unread] = field(default_factory=dict)
    excluded: int = 0

    def in_words(self, say: Language, *, stopped: bool = False) -> str:
        """Return the sentences shown afterwards. `stopped`: somebody stopped it early."""
        counts = _counts(self, "lines streams episodes notes", say)
        known = say("page.count.lines", n=say.number(self.known))
        outcome = "stopped" if stopped or self.trouble else "learned"
        summary = say(f"setup.past_{outcome}", **counts, known=known)
        sentences = [summary, *_unread_in_words(self.unread, say)]
        if self.trouble:
            sentences.append(say.reason(self.trouble))
        return " ".join(sentences)


def _counts(
    report: Estimate | Learned,
    names: str,
    say: Language,
) -> dict[str, str]:
    """Return some counts of a report in words, such as "24 lines". `names`: their fields, separated by spaces."""
    counts = {}
    for name in names.split():
        count = say.number(getattr(report, name))
        counts[name] = say(f"page.count.{name}", n=count)
    return counts


def _unread_in_words(unread_by_file: Mapping[str, Unread], say: Language) -> list[str]:
    """Return sentences on lines that cannot be read: by file, how many there are and the numbers of the first."""
    sentences = []
    for path, unread in unread_by_file.items():
        file = Path(path).name
        if unread.lines:
            numbers = [str(number) for number in unread.first[:LINES_NAMED]]
            if unread.lines > LINES_NAMED:
                numbers.append("…")
            listed = ", ".join(numbers)
            count = say.number(unread.lines)
            sentences.append(say("setup.past_bad", n=count, file=file, lines=listed))
        if unread.cut_off:
            sentences.append(say("setup.past_cut_off", file=file))
    return sentences


class _PastWindow(NamedTuple):
    """Lines of a file that are read together. Their authors have the ids that they have in the memory.

    `new_events`: the lines to learn from. `bot_ids`: the ids of the bot. `excluded`: how many lines are by people who
    are left out. `known`: how many lines the memory knew before.
    """

    new_events: list[ChatEvent]
    bot_ids: frozenset[str]
    excluded: int
    known: int

    @property
    def of_people(self) -> list[ChatEvent]:
        """Return the new lines without those by the bot."""
        return [event for event in self.new_events if event.user_id not in self.bot_ids]

    @property
    def lines(self) -> Window:
        """Return the new lines as lines of chat for the summary. Empty if only the bot wrote some."""
        if not self.of_people:
            return []
        lines = []
        for number, event in enumerate(self.new_events):
            is_from_bot = event.user_id in self.bot_ids
            lines.append(_line(number, event, from_bot=is_from_bot))
        return lines


class Learner:
    """Reads files into one memory."""

    def __init__(
        self,
        *,
        db: Database,
        model: LanguageModel,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._summarizer = Summarizer(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self._extractor = Extractor(
            db=db,
            model=model,
            settings=settings,
            clock=clock,
        )
        self.stopped = False

    def stop(self) -> None:
        """Stop after the window that is being read. What was learned stays."""
        self.stopped = True

    async def learn(
        self,
        paths: Sequence[Path],
        progress: Callable[[float], None] = lambda _share: None,
    ) -> Learned:
        """Read the files, the oldest chat first, and return what was learned. Raises InputError, StoreError.

        `progress` is called after each window with the part of all lines that was read, from 0 to 1.
        """
        report = Learned()
        files = await _look_at(paths, self._settings(), self._clock.now())
        files.sort(key=lambda file: file.first_at)
        line_count = sum(file.lines for file in files) or 1
        lines_before = 0
        for file in files:
            async for lines_read in self._read(file, report):
                progress((lines_before + lines_read) / line_count)
            lines_before += file.lines
        return report

    async def _read(self, file: PastChat, report: Learned) -> AsyncIterator[int]:
        """Read a file from where it was left. After each window, yield how many of its lines were read so far."""
        # what cannot be read of the file, which the report lists
        if file.unread:
            report.unread[str(file.path)] = file.unread
        lines_read = await _lines_read(self._db, file)
        if lines_read >= file.lines:
            report.known += file.lines
            await self._describe_stream(file)
            return
        windows_left = _windows(file, lines_read, self._settings().memory)
        while not self._ends(report):
            if await asyncio.to_thread(file.is_replaced):
                windows_left.close()
                async for lines_read_anew in self._read_anew(file, report):
                    yield lines_read_anew
                return
            events_read = await _in_thread(file, lambda: next(windows_left, None))
            if not events_read:
                await self._describe_stream(file)
                return
            await self._after_live_chat()
            is_read = False
            # the window is read again if one of its people left while the model was thinking
            while not is_read and not self._ends(report):
                is_read = await self._read_window(events_read, lines_read, file, report)
            if is_read:
                lines_read += len(events_read)
            yield lines_read

    async def _read_anew(self, file: PastChat, report: Learned) -> AsyncIterator[int]:
        """Read a file again that an erasure has rewritten. Lines that were read before count as known.

        Yields the same as `_read`.
        """
        # _read adds what cannot be read of the rewritten file
        report.unread.pop(str(file.path), None)
        settings = self._settings()
        now = self._clock.now()
        try:
            [rewritten] = await _look_at([file.path], settings, now)
        except InputError:
            report.trouble = reason("past_gone", path=file.path.name)
            return
        async for lines_read in self._read(rewritten, report):
            yield lines_read

    async def _describe_stream(self, file: PastChat) -> None:
        """Store the title and the video that a file has of its stream, unless they are known."""
        broadcast = file.about
        # the file does not say when its broadcast began, or that time is wrong
        if not file.lines or _began_at(file, file.first_at) is None:
            return
        async with self._db.write() as tx:
            stream_id = await streams.nearest(
                tx, file.first_at, file.last_at, STREAM_GAP
            )
            if stream_id is None:
                return
            await streams.describe_past(tx, stream_id, broadcast.title)
            if not broadcast.video or await streams.videos(tx, [stream_id]):
                return
            kept_until = broadcast.began_at + VIDEOS_KEPT_AT_MOST
            video = Video(broadcast.video, broadcast.began_at, kept_until)
            await streams.set_video(tx, stream_id, video)

    def _ends(self, report: Learned) -> bool:
        """Return whether to read no more: somebody stopped it, or there was trouble."""
        return self.stopped or bool(report.trouble)

    async def _read_window(
        self,
        events_read: Sequence[ChatEvent],
        lines_read: int,
        file: PastChat,
        report: Learned,
    ) -> bool:
        """Write the summary of a window and the mark that its lines were read, then the notes of the summary.

        `lines_read`: how many lines of the file were read before. Returns False, without a summary, if the model fails
        or if somebody in the window left meanwhile.
        """
        async with self._db.write() as tx:
            window = await self._window(tx, events_read, file)
            # before the summary: it looks up among the viewers whom the lines mean
            await viewers.record_past(tx, seen(window.of_people))
        try:
            summary = await self._summarised(window.lines)
        except ModelError as error:
            report.trouble = str(error)
            return False
        now = self._clock.now()
        async with self._db.write() as tx:
            if await _lines_read(tx, file) != lines_read:
                # the same file is being learned twice at once
                raise InputError(reason("past_busy"))
            named_ids = list(summary.people) if summary is not None else []
            if await viewers.hidden_or_gone(tx, named_ids):
                return False
            # somebody left, or live chat made more of its lines known
            if await self._window(tx, events_read, file) != window:
                return False
            # a window without new lines has no summary, and makes no stream
            stream_id = await self._find_or_add_stream(
                tx, events_read, file, report, may_add=summary is not None
            )
            if summary is not None and stream_id is not None:
                await self._write(tx, window, summary, stream_id, file)
            lines_read += len(events_read)
            progress = {LEARNED + file.key: str(lines_read)}
            await channel_state.put(tx, progress, now)
        report.lines += len(events_read) - window.known
        report.known += window.known
        report.excluded += window.excluded
        report.episodes += summary is not None
        extract_report = await self._extractor.run_pass()
        report.notes += extract_report.added
        return True

    async def _summarised(self, window: Window) -> NewEpisode | None:
        """Return the summary of a window; None for a window without lines. Raises ModelError."""
        if not window:
            return None
        try:
            return await self._summarizer.with_model(window)
        except ModelBlocked:
            # a safety filter would block it the next time too: people and topics are counted instead
            return await self._summarizer.by_counting(window)

    async def _find_or_add_stream(
        self,
        tx: Transaction,
        events_read: Sequence[ChatEvent],
        file: PastChat,
        report: Learned,
        *,
        may_add: bool,
    ) -> int | None:
        """Return the id of the stream in which the lines were written.

        If there is none, one is added and counted if `may_add`. Else None is returned.
        """
        first_at = min(event.at for event in events_read)
        last_at = max(event.at for event in events_read)
        stream_id = await streams.nearest(tx, first_at, last_at, STREAM_GAP)
        if stream_id is None and may_add:
            # without a time in the file, the stream begins with its first line
            began_at = _began_at(file, first_at)
            if began_at is None:
                began_at = first_at
            stream_id = await streams.add_past(tx, began_at)
            report.streams += 1
        return stream_id

    async def _write(
        self,
        tx: Transaction,
        window: _PastWindow,
        summary: NewEpisode,
        stream_id: int,
        file: PastChat,
    ) -> None:
        """Write the summary of a window, and which viewers were there."""
        # past lines have no rows that the episode could name: its key has their file, time and number
        key = f"{KEY_OF_PAST}{file.key}:{summary.started_at}:{len(window.new_events)}"
        episode = replace(summary, stream_id=stream_id, key=key)
        await episodes.insert(tx, episode, self._clock.now())
        await streams.extend_past(tx, stream_id, summary.started_at, summary.ended_at)
        placed_lines = [
            PlacedLine(event.user_id, stream_id, event.at) for event in window.of_people
        ]
        await streams.record_visits(tx, visits(placed_lines))
        await figures.count_past_minutes(tx, placed_lines)

    async def _window(
        self,
        source: Source,
        events_read: Sequence[ChatEvent],
        file: PastChat,
    ) -> _PastWindow:
        """Return which of these lines are learned from: the allowed ones that are not known yet. Counts the others."""
        bot_ids = await _bot_ids(source, self._settings())
        admitted_events = await self._admitted(source, events_read, bot_ids)
        first_at = min(event.at for event in events_read)
        last_at = max(event.at for event in events_read)
        # clocks differ: live chat of a little before or after may be the same lines
        earliest = first_at - LATE_BY_AT_MOST
        latest = last_at + EARLY_BY_AT_MOST
        spans = await episodes.heard_spans(source, earliest, latest, LONGEST_LULL)
        event_ids = await events.ids_between(source, first_at, last_at)
        known_chat = _KnownChat(spans, event_ids, file.key)
        new_events = [event for event in admitted_events if not known_chat.holds(event)]
        return _PastWindow(
            new_events,
            bot_ids,
            excluded=len(events_read) - len(admitted_events),
            known=len(admitted_events) - len(new_events),
        )

    async def _admitted(
        self,
        source: Source,
        events_read: Sequence[ChatEvent],
        bot_ids: frozenset[str],
    ) -> list[ChatEvent]:
        """Return the lines by the bot and by people who are not left out, with the ids that they have in the memory."""
        opted_out = await privacy_choices.opted_out(source)
        exclusion = Exclusion(self._settings().memory, opted_out)
        identified_events = await _identified(source, events_read)
        hidden = await viewers.hidden(
            source, {event.user_id for event in identified_events}
        )
        admitted_events: list[ChatEvent] = []
        for event in identified_events:
            ids = (event.user_id, provisional_id(event.login))
            if not bot_ids.isdisjoint(ids):
                # one id for all lines of the bot, which may have several in the file
                admitted_events.append(replace(event, user_id=min(bot_ids)))
                continue
            # somebody may have been erased when only their login was known, by the id that stood for it
            erased_at = max(source.requests.erased_at(viewer_id) for viewer_id in ids)
            if event.at <= erased_at or event.user_id in hidden:
                continue
            if exclusion.why(event) is None:
                admitted_events.append(event)
        return admitted_events

    async def _after_live_chat(self) -> None:
        """Wait until the live bot has no window to read, at most LIVE_FIRST_S: its lines are deleted soon."""
        window_size = self._settings().memory.window_max_events
        seconds_waited = 0.0
        while seconds_waited < LIVE_FIRST_S:
            if await events.count_unread(self._db) <= window_size:
                return
            await asyncio.sleep(LOOK_EVERY_S)
            seconds_waited += LOOK_EVERY_S


class _KnownChat:
    """The chat that the memory already knows: heard live, or learned from other files.

    `spans`: the stretches of time that it knows. `event_ids`: the ids of its lines. `file_key`: the file being read.
    """

    def __init__(
        self,
        spans: Sequence[HeardSpan],
        event_ids: frozenset[str],
        file_key: str,
    ) -> None:
        self._event_ids = event_ids
        self._live: list[HeardSpan] = []
        # from files the lines of each viewer are known by themselves
        self._learned: defaultdict[str | None, list[HeardSpan]] = defaultdict(list)
        for span in spans:
            if not span.learned_from:
                self._add_live(span)
            # of the file being read, the memory knows how many lines were read (_lines_read)
            elif span.learned_from != file_key:
                self._learned[span.viewer_id].append(span)

    def _add_live(self, span: HeardSpan) -> None:
        """Add a span of live chat. It joins the one before if they are at most LONGEST_LULL apart.

        The bot listened in between, too.
        """
        if not self._live:
            self._live.append(span)
            return
        previous = self._live[-1]
        lull = span.first_at - previous.last_at
        if lull > LONGEST_LULL:
            self._live.append(span)
            return
        last_at = max(previous.last_at, span.last_at)
        self._live[-1] = previous._replace(last_at=last_at)

    def holds(self, event: ChatEvent) -> bool:
        """Return whether the memory knows this line."""
        if event.id in self._event_ids or _is_within(event, self._live):
            return True
        # another file may have had only the login of its author
        for viewer_id in (event.user_id, provisional_id(event.login)):
            learned_spans = self._learned.get(viewer_id, ())
            if _is_within(event, learned_spans):
                return True
        return False


def _is_within(event: ChatEvent, spans: Iterable[HeardSpan]) -> bool:
    """Return whether a line may have been written in one of these spans. Clocks may differ a little."""
    for span in spans:
        earliest = span.first_at - EARLY_BY_AT_MOST
        latest = span.last_at + LATE_BY_AT_MOST
        if earliest <= event.at <= latest:
            return True
    return False


async def _bot_ids(source: Source, settings: Settings) -> frozenset[str]:
    """Return the ids that the bot may have in a file. Empty if it never signed in and no login is set."""
    state = await channel_state.read_all(source)
    signed_in_login = state.get("bot_login", "")
    login_in_settings = settings.twitch.bot_login.lstrip("@")
    ids = {state.get("bot_id", "")}
    for login in (signed_in_login, login_in_settings):
        if login:
            ids.add(provisional_id(login))
    # a bot that never signed in has no id
    ids.discard("")
    return frozenset(ids)


async def _identified(
    source: Source, events_read: Sequence[ChatEvent]
) -> list[ChatEvent]:
    """Return the lines with the ids of their authors, because some chat logs have only logins.

    The author is whoever had the login at that time. A line whose login is unknown keeps its id.
    """
    logins = set()
    for event in events_read:
        # Twitch's ids are numbers; any other was made of a login
        if not event.user_id.isdigit():
            logins.add(event.login)
    id_by_login: Mapping[str, str] = {}
    if logins:
        id_by_login = await owners(source, logins, events_read[0].at)
    identified_events = []
    for event in events_read:
        if event.user_id.isdigit() or event.login not in id_by_login:
            identified_events.append(event)
        else:
            identified_events.append(replace(event, user_id=id_by_login[event.login]))
    return identified_events


async def estimate(
    paths: Sequence[Path],
    settings: Settings,
    now: int,
) -> Estimate:
    """Read the files once without storing anything, and return what it would take to learn from them.

    `now` in ms. Raises InputError, also if they have no line of chat.
    """
    files = await _look_at(paths, settings, now)
    if not any(file.lines for file in files):
        raise InputError(reason("past_nothing"))
    calls = 0
    input_tokens = 0
    if settings.model.provider is not Provider.OFFLINE:
        # one call for the summary of a window, one for the notes
        calls = 2 * sum(_window_count(file, settings.memory) for file in files)
        byte_count = sum(file.size for file in files)
        other_tokens = calls * (TOKENS_A_CALL + SUMMARY_WORDS)
        input_tokens = byte_count // BYTES_A_TOKEN + other_tokens
    output_tokens = calls * 2 * SUMMARY_WORDS
    unread = {}
    for file in files:
        if file.unread:
            unread[str(file.path)] = file.unread
    return Estimate(
        lines=sum(file.lines for file in files),
        streams=sum(file.streams for file in files),
        # a file without a line has no time
        first_at=min(file.first_at for file in files if file.lines),
        last_at=max(file.last_at for file in files),
        calls=calls,
        tokens=TokenCounts(input_tokens, 0, output_tokens),
        unread=unread,
    )


def _window_count(file: PastChat, memory: MemorySettings) -> int:
    """Return about how many windows a file has."""
    # A file has enough lines for full windows, except at the end of each stream.
    usual_size = max(1, smallest_full_window(memory.window_max_events))
    return math.ceil(file.lines / usual_size)


async def _in_thread(file: PastChat, read: Callable[[], T]) -> T:
    """Call `read` in a thread and return its result. If cancelled, the thread stops at the next line of the file."""
    try:
        return await asyncio.to_thread(read)
    except asyncio.CancelledError:
        # a large file takes minutes, and the program's end waits for its threads
        file.ended = True
        raise


async def _look_at(
    paths: Sequence[Path],
    settings: Settings,
    until: int,
) -> list[PastChat]:
    """Read the files once to count their lines, and return them. Raises InputError.

    `until`: the present (ms); lines from later times are not read.
    """
    files = []
    for path in paths:
        file = PastChat(path, until, settings.twitch.channel.lstrip("#"))
        await _in_thread(file, file.look)
        files.append(file)
    return files


def _windows(
    file: PastChat,
    lines_read: int,
    memory: MemorySettings,
) -> Generator[list[ChatEvent], None, None]:
    """Yield windows of the lines of a file that were not read yet. A window ends where its stream ends."""
    # lines that are in no window yet
    waiting_lines: list[ChatEvent] = []
    newest_at = 0
    unread = islice(file.events(), lines_read, None)
    # None stands for the end of the file
    for event in chain(unread, [None]):
        stream_ends = event is None
        # newest_at is 0 before the first line, which ends no stream
        if event is not None and newest_at:
            stream_ends = event.at - newest_at >= STREAM_GAP
        if stream_ends or len(waiting_lines) == READ_AT_ONCE:
            window_ends = _ends_of_windows(
                waiting_lines, newest_at, memory, everything=stream_ends
            )
            for start, end in pairwise([0, *window_ends]):
                yield waiting_lines[start:end]
            # the others wait for the lines after them
            del waiting_lines[: max(window_ends, default=0)]
        if event is None:
            return
        waiting_lines.append(event)
        newest_at = max(newest_at, event.at)


def _ends_of_windows(
    waiting_lines: Sequence[ChatEvent],
    newest_at: int,
    memory: MemorySettings,
    *,
    everything: bool,
) -> list[int]:
    """Cut lines into windows. Return for each window the index of the line after it.

    `everything`: their stream is over, so all lines go into windows.
    """
    # Windows are cut by the numbers that lines have in the database. These lines were never stored: each gets its
    # index as its number.
    lines = []
    for number, event in enumerate(waiting_lines):
        lines.append(_line(number, event, from_bot=False))
    cut = Cut(
        smallest=memory.window_min_events,
        largest=memory.window_max_events,
        silence=NEVER,
        now=newest_at,
        everything=everything,
        truncated=not everything,
    )
    return [window[-1].seq + 1 for window in windows(lines, cut)]


async def _lines_read(source: Source, file: PastChat) -> int:
    """Return how many lines of a file were read before."""
    stored = await channel_state.read(source, LEARNED + file.key)
    return int(stored or 0)


def _began_at(file: PastChat, at: int) -> int | None:
    """Return when the broadcast of a line began (ms). None if the file has no time, or one that cannot be right.

    `at`: the time of the line (ms).
    """
    began_at = file.about.began_at
    if abs(at - began_at) > LONGEST_STREAM:
        return None
    # no line is older than its broadcast; 0: the file has no time
    return min(began_at, at) or None


def _line(
    number: int,
    event: ChatEvent,
    *,
    from_bot: bool,
) -> Line:
    """Return a line of a file like a line of live chat. `number`: its place in its window."""
    return Line(
        seq=number,
        id=event.id,
        stream_id=None,
        viewer_id=event.user_id,
        kind=event.kind,
        text=event.text,
        system_text=event.system_text,
        role=role_of(event.badges),
        addressed=False,
        from_bot=from_bot,
        at=event.at,
    )
