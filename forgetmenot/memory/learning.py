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
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
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
from forgetmenot.memory.transcript import SUMMARY_WORDS, Cut, Window, windows
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
from forgetmenot.store.figures import SpokenLine
from forgetmenot.text.mentions import provisional_id

T = TypeVar("T")
READ_AT_ONCE = 500
# How long unread live chat is waited for before each window of past chat.
LIVE_FIRST_S = 60.0
# Instructions and what is known, besides the lines themselves; measured with a hosted model's prompts.
TOKENS_A_CALL = 900
SECONDS_A_CALL = 4.0
# Without a model; 2,460 were measured on two busy cores.
LINES_A_SECOND = 1_000
BYTES_A_TOKEN = 3
LEARNED = "learned:"
LINES_NAMED = 5
# A file does not say what kind of account its channel is.
VIDEOS_KEPT_AT_MOST = 60 * DAY
LONGEST_STREAM = 2 * DAY  # of Twitch's
# A log by the minute dates a line up to a minute early; the clock of a PC is seconds ahead.
EARLY_BY_AT_MOST = MINUTE
LATE_BY_AT_MOST = 5 * SECOND
# The bot listened between two of its windows that are not further apart.
LULL = 15 * MINUTE


class Estimate(Struct, frozen=True):
    """What learning from files would take. Times in ms; `tokens`: in and out, by what the memory's model is billed.

    `bad`: by file, what cannot be read.
    """

    lines: int
    streams: int
    first_at: int
    last_at: int
    calls: int
    tokens: TokenCounts
    bad: dict[str, Unread]

    @property
    def days(self) -> int:
        """From the first line to the last."""
        return (self.last_at - self.first_at) // DAY + 1

    @property
    def minutes(self) -> int:
        """How long it takes; 0 for less than one."""
        if self.calls:  # with a hosted model, one call after the other
            return max(1, round(self.calls * SECONDS_A_CALL / 60))
        return round(self.lines / LINES_A_SECOND / 60)

    def in_words(self, settings: Settings, say: Language) -> str:
        """For a person who is asked whether to begin: how much it is, and what it takes in time and money."""
        counts = _counts(self, "lines streams", say)
        amount = say("setup.past_amount", **counts, days=say("span.d", n=self.days))
        return " ".join(
            [amount, self._price_in_words(settings, say), *_unread(self.bad, say)]
        )

    def _time_in_words(self, say: Language) -> str:
        if not self.minutes:
            return say("setup.past_moment")
        if self.minutes == 1:
            return say("setup.past_minutes", minutes=say("span.min", n=1))
        return say("setup.past_minutes", minutes=say.duration(self.minutes * MINUTE))

    def _price_in_words(self, settings: Settings, say: Language) -> str:
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
    """What came of it. `known`: lines that were heard or learned before; `excluded`: of people who are left out.

    `trouble`: why it stopped before the end.
    """

    lines: int = 0
    streams: int = 0
    episodes: int = 0
    notes: int = 0
    known: int = 0
    trouble: str = ""
    bad: dict[str, Unread] = field(default_factory=dict)
    excluded: int = 0

    def in_words(self, say: Language, *, stopped: bool = False) -> str:
        """For a person; `stopped`: it was not read to its end."""
        counts = _counts(self, "lines streams episodes notes", say)
        known = say("page.count.lines", n=say.number(self.known))
        outcome = "stopped" if stopped or self.trouble else "learned"
        summary = say(f"setup.past_{outcome}", **counts, known=known)
        return " ".join(
            filter(None, [summary, *_unread(self.bad, say), say.reason(self.trouble)])
        )


def _counts(
    of: object,
    names: str,
    say: Language,
) -> dict[str, str]:
    """Each count with its noun, such as "1 line" or "24 lines"."""
    return {
        name: say(f"page.count.{name}", n=say.number(getattr(of, name)))
        for name in names.split()
    }


def _unread(bad: Mapping[str, Unread], say: Language) -> list[str]:
    """Per file, what cannot be read: how many lines, and the numbers of the first."""
    sentences = []
    for path, unread in bad.items():
        file = Path(path).name
        if unread.lines:
            numbers = ", ".join(map(str, unread.first[:LINES_NAMED]))
            more = ", …" if unread.lines > LINES_NAMED else ""
            count = say.number(unread.lines)
            sentences.append(
                say("setup.past_bad", n=count, file=file, lines=numbers + more)
            )
        if unread.cut_off:
            sentences.append(say("setup.past_cut_off", file=file))
    return sentences


class _Done(Struct):
    """How many lines of a file were read."""

    lines: int = 0


class _Window(NamedTuple):
    """Lines that are read together, by the ids that their people have here.

    `new`: those to learn from; `own`: the bot's ids; `excluded` and `known`: how many are left out.
    """

    new: list[ChatEvent]
    own: frozenset[str]
    excluded: int
    known: int

    @property
    def said(self) -> list[ChatEvent]:
        """The new lines of people."""
        return [event for event in self.new if event.user_id not in self.own]

    @property
    def lines(self) -> Window:
        """As the memory reads them; none where only the bot spoke."""
        if not self.said:
            return []
        return [
            _line(number, event, from_bot=event.user_id in self.own)
            for number, event in enumerate(self.new)
        ]


class Learner:
    """Reads files into one memory. `stop` ends it after the window that is being read."""

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
        """End it; what was read stays."""
        self.stopped = True

    async def learn(
        self,
        paths: Sequence[Path],
        progress: Callable[[float], None] = lambda _share: None,
    ) -> Learned:
        """Read the files, in the order of what was said in them. Raises InputError, StoreError."""
        report = Learned()
        files = await _look_at(paths, self._settings(), self._clock.now())
        files.sort(key=lambda file: file.first_at)
        total = sum(file.lines for file in files) or 1
        before = 0
        for file in files:
            async for lines in self._read(file, report):
                progress((before + lines) / total)
            before += file.lines
        return report

    async def _read(self, file: PastChat, report: Learned) -> AsyncIterator[int]:
        """Read a file from where it was left; how many of its lines were read, after each window."""
        if file.unread:
            report.bad[str(file.path)] = file.unread
        done = await _done(self._db, file)
        if done.lines >= file.lines:
            report.known += file.lines
            await self._describe_stream(file)
            return
        waiting = _windows(file, done.lines, self._settings().memory)
        while not self._ends(report):
            if await asyncio.to_thread(file.is_replaced):
                waiting.close()
                async for lines in self._read_anew(file, report):
                    yield lines
                return
            taken = await _beside(file, lambda: next(waiting, None))
            if not taken:
                await self._describe_stream(file)
                return
            await self._after_live_chat()
            is_read = False
            # again where somebody of it left while the model was thinking
            while not is_read and not self._ends(report):
                is_read = await self._read_window(taken, done, file, report)
            yield done.lines

    async def _read_anew(self, file: PastChat, report: Learned) -> AsyncIterator[int]:
        """Read a file that was written anew, because somebody in it was erased; what was read of it is known."""
        report.bad.pop(str(file.path), None)
        try:
            [again] = await _look_at([file.path], self._settings(), self._clock.now())
        except InputError:
            report.trouble = reason("past_gone", path=file.path.name)
            return
        async for lines in self._read(again, report):
            yield lines

    async def _describe_stream(self, file: PastChat) -> None:
        """Note what a file says of the stream whose chat it holds."""
        about = file.about
        if not file.lines or not _began_at(file, file.first_at):
            return
        async with self._db.write() as tx:
            stream = await streams.nearest(tx, file.first_at, file.last_at, STREAM_GAP)
            if stream is None:
                return
            await streams.describe_past(tx, stream, about.title)
            if about.video and not await streams.videos(tx, [stream]):
                until = about.began_at + VIDEOS_KEPT_AT_MOST
                await streams.set_video(
                    tx, stream, Video(about.video, about.began_at, until)
                )

    def _ends(self, report: Learned) -> bool:
        return self.stopped or bool(report.trouble)

    async def _read_window(
        self,
        taken: Sequence[ChatEvent],
        done: _Done,
        file: PastChat,
        report: Learned,
    ) -> bool:
        """Write the summary of a window with the mark that its lines were read, then its notes.

        False, and no summary, where the model is away, or somebody of the window left while it was thinking.
        """
        async with self._db.write() as tx:
            window = await self._window(tx, taken, file)
            await viewers.record_past(tx, seen(window.said))
        try:
            new = await self._summarised(window.lines)
        except ModelError as error:
            report.trouble = str(error)
            return False
        now = self._clock.now()
        async with self._db.write() as tx:
            if (await _done(tx, file)).lines != done.lines:
                raise InputError(reason("past_busy"))
            named = list(new.people) if new is not None else []
            if await viewers.hidden_or_gone(tx, named):
                return False
            if await self._window(tx, taken, file) != window:
                return False
            done.lines += len(taken)
            stream = await self._stream(tx, taken, file, report, is_new=new is not None)
            if new is not None and stream is not None:
                await self._write(tx, window, new, stream, file)
            progress = msgspec.json.encode(done).decode()
            await channel_state.put(tx, {LEARNED + file.key: progress}, now)
        report.lines += len(taken) - window.known
        report.known += window.known
        report.excluded += window.excluded
        report.episodes += new is not None
        report.notes += (await self._extractor.run_pass()).added
        return True

    async def _summarised(self, window: Window) -> NewEpisode | None:
        """The summary of a window; None for an empty one. Raises ModelError."""
        if not window:
            return None
        try:
            return await self._summarizer.with_model(window)
        except ModelBlocked:
            return await self._summarizer.by_counting(window)

    async def _stream(
        self,
        tx: Transaction,
        taken: Sequence[ChatEvent],
        file: PastChat,
        report: Learned,
        *,
        is_new: bool,
    ) -> int | None:
        """The stream that a window belongs to; None where there is none, and nothing new that would make one."""
        first_at = min(event.at for event in taken)
        last_at = max(event.at for event in taken)
        stream = await streams.nearest(tx, first_at, last_at, STREAM_GAP)
        if stream is None and is_new:
            stream = await streams.add_past(tx, _began_at(file, first_at) or first_at)
            report.streams += 1
        return stream

    async def _write(
        self,
        tx: Transaction,
        window: _Window,
        new: NewEpisode,
        stream: int,
        file: PastChat,
    ) -> None:
        """Write the summary of a window, and who was there."""
        key = f"{KEY_OF_PAST}{file.key}:{new.started_at}:{len(window.new)}"
        # its lines are in no table
        await episodes.insert(
            tx, replace(new, stream_id=stream, key=key), self._clock.now()
        )
        await streams.extend_past(tx, stream, new.started_at, new.ended_at)
        spoken = [SpokenLine(event.user_id, stream, event.at) for event in window.said]
        await streams.record_visits(tx, visits(spoken))
        await figures.count_past_minutes(tx, spoken)

    async def _window(
        self,
        source: Source,
        taken: Sequence[ChatEvent],
        file: PastChat,
    ) -> _Window:
        """The lines of those whom nothing keeps out, as far as they are not known."""
        own = await _own_ids(source, self._settings())
        welcome = await self._welcome(source, taken, own)
        first_at = min(event.at for event in taken)
        last_at = max(event.at for event in taken)
        heard = _Heard(
            await episodes.heard_spans(
                source, first_at - LATE_BY_AT_MOST, last_at + EARLY_BY_AT_MOST, LULL
            ),
            await events.ids_between(source, first_at, last_at),
            file.key,
        )
        new = [event for event in welcome if not heard.holds(event)]
        return _Window(new, own, len(taken) - len(welcome), len(welcome) - len(new))

    async def _welcome(
        self,
        source: Source,
        taken: Sequence[ChatEvent],
        own: frozenset[str],
    ) -> list[ChatEvent]:
        """The bot's own lines, and those of whom nothing keeps out, by the ids that they have here."""
        rules = Exclusion(
            self._settings().memory, await privacy_choices.opted_out(source)
        )
        identified = await _identified(source, taken)
        hidden = await viewers.hidden(source, {event.user_id for event in identified})
        welcome: list[ChatEvent] = []
        for event in identified:
            if not own.isdisjoint((event.user_id, provisional_id(event.login))):
                welcome.append(replace(event, user_id=min(own)))
                continue
            # somebody may have been erased when nothing but their name was known
            ids = (event.user_id, provisional_id(event.login))
            erased_at = max(source.requests.erased_at(viewer_id) for viewer_id in ids)
            if rules.why(event) or event.at <= erased_at or event.user_id in hidden:
                continue
            welcome.append(event)
        return welcome

    async def _after_live_chat(self) -> None:
        """Wait while a live bot has windows to read: they age out, these do not."""
        waited, most = 0.0, self._settings().memory.window_max_events
        while waited < LIVE_FIRST_S and await events.count_unread(self._db) > most:
            await asyncio.sleep(2)
            waited += 2


class _Heard:
    """What is known of a stretch of time: heard live, or learned from another file than the one with this key."""

    def __init__(
        self,
        spans: Sequence[HeardSpan],
        event_ids: frozenset[str],
        key: str,
    ) -> None:
        self._event_ids = event_ids
        self._live: list[HeardSpan] = []
        self._learned: defaultdict[str | None, list[HeardSpan]] = defaultdict(
            list
        )  # by viewer
        for span in spans:
            if not span.learned_from:
                self._hear_live(span)
            elif span.learned_from != key:
                self._learned[span.viewer_id].append(span)

    def _hear_live(self, span: HeardSpan) -> None:
        """The bot listened in a window of live chat, and in a lull between two of them."""
        before = self._live[-1] if self._live else None
        if before is not None and span.first_at - before.last_at <= LULL:
            last_at = max(before.last_at, span.last_at)
            self._live[-1] = before._replace(last_at=last_at)
        else:
            self._live.append(span)

    def holds(self, event: ChatEvent) -> bool:
        """Return whether a line is known."""
        if event.id in self._event_ids or any(
            _within(event, span) for span in self._live
        ):
            return True
        for viewer_id in (event.user_id, provisional_id(event.login)):
            if any(_within(event, span) for span in self._learned.get(viewer_id, ())):
                return True
        return False


def _within(event: ChatEvent, span: HeardSpan) -> bool:
    return (
        span.first_at - EARLY_BY_AT_MOST <= event.at <= span.last_at + LATE_BY_AT_MOST
    )


async def _own_ids(source: Source, settings: Settings) -> frozenset[str]:
    """The ids under which the bot itself stands in a file; none where it was never signed in and has no login set."""
    state = await channel_state.read_all(source)
    logins = {state.get("bot_login", ""), settings.twitch.bot_login.lstrip("@")}
    ids = {provisional_id(login) for login in logins if login}
    return frozenset({state["bot_id"], *ids} if state.get("bot_id") else ids)


async def _identified(source: Source, taken: Sequence[ChatEvent]) -> list[ChatEvent]:
    """The lines with the ids of those who had their logins then: a log has names alone."""
    logins = {event.login for event in taken if not event.user_id.isdigit()}
    known = await owners(source, logins, taken[0].at) if logins else {}
    return [
        event
        if event.user_id.isdigit()
        else replace(event, user_id=known.get(event.login, event.user_id))
        for event in taken
    ]


async def estimate(
    paths: Sequence[Path],
    settings: Settings,
    now: int,
) -> Estimate:
    """Read the files once without storing anything. Raises InputError, also where there is no line of chat in them."""
    files = await _look_at(paths, settings, now)
    if not any(file.lines for file in files):
        raise InputError(reason("past_nothing"))
    memory = settings.memory
    per_window = max(1, (memory.window_min_events + memory.window_max_events) // 2)
    calls = 0
    read = 0
    if settings.model.provider is not Provider.OFFLINE:
        calls = 2 * sum(-(-file.lines // per_window) for file in files)
        size = sum(file.size for file in files)
        read = size // BYTES_A_TOKEN + calls * (TOKENS_A_CALL + SUMMARY_WORDS)
    return Estimate(
        lines=sum(file.lines for file in files),
        streams=sum(file.streams for file in files),
        first_at=min(file.first_at for file in files if file.lines),
        last_at=max(file.last_at for file in files),
        calls=calls,
        tokens=TokenCounts(read, 0, calls * 2 * SUMMARY_WORDS),
        bad={str(file.path): file.unread for file in files if file.unread},
    )


async def _beside(chat: PastChat, read: Callable[[], T]) -> T:
    """Read in a thread."""
    try:
        return await asyncio.to_thread(read)
    except asyncio.CancelledError:
        chat.ended = True  # a large file takes minutes, and the program's end waits for its threads
        raise


async def _look_at(
    paths: Sequence[Path],
    settings: Settings,
    until: int,
) -> list[PastChat]:
    """The files as they were read to their ends, without being kept. Raises InputError."""
    files = []
    for path in paths:
        file = PastChat(path, until, settings.twitch.channel.lstrip("#"))
        await _beside(file, file.look)
        files.append(file)
    return files


def _windows(
    chat: PastChat,
    skipped: int,
    memory: MemorySettings,
) -> Generator[list[ChatEvent], None, None]:
    """The windows of a file's lines after those that are skipped. None goes on over the end of a stream."""
    waiting: list[ChatEvent] = []
    newest = 0
    for event in chain(islice(chat.events(), skipped, None), [None]):
        ended = event is None or (newest and event.at - newest >= STREAM_GAP)
        if ended or len(waiting) == READ_AT_ONCE:
            lines = [
                _line(number, said, from_bot=False)
                for number, said in enumerate(waiting)
            ]
            cut = Cut(
                smallest=memory.window_min_events,
                largest=memory.window_max_events,
                silence=1 << 60,
                now=newest,
                everything=bool(ended),
                truncated=not ended,
            )
            ends = [window[-1].seq + 1 for window in windows(lines, cut)]
            yield from (waiting[start:end] for start, end in pairwise([0, *ends]))
            del waiting[: max(ends, default=0)]
        if event is not None:
            waiting.append(event)
            newest = event.at if ended else max(newest, event.at)


async def _done(source: Source, file: PastChat) -> _Done:
    return msgspec.json.decode(
        await channel_state.read(source, LEARNED + file.key) or "{}", type=_Done
    )


def _began_at(file: PastChat, at: int) -> int:
    """When the broadcast of a line said at `at` (ms) began; 0 where the file does not say, or is wrong."""
    began_at = file.about.began_at
    return min(began_at, at) if abs(at - began_at) <= LONGEST_STREAM else 0


def _line(
    number: int,
    event: ChatEvent,
    *,
    from_bot: bool,
) -> Line:
    return Line(
        number, event.id, None, event.user_id, event.kind, event.text, event.system_text, role_of(event.badges),
        addressed=False, from_bot=from_bot, at=event.at,
    )  # fmt: skip
