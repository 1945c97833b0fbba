"""Learns from the chat of past streams (memory/past_chat): through the summaries and notes of live chat.

- Its lines are older than a raw line may be kept, so they are never stored: a window of them is in memory until its
  summary is written. Streams get their own dates; what was said later wins, as always.
- The part of a file that was read, and the summary of it, are one transaction: stopped, it goes on where it was, and
  the same file twice adds nothing.
- People who opted out, were erased since, are banned or ignored leave nothing, also where the file has only a name of
  theirs; a window is read anew if somebody left while the model was thinking. Live chat is read first.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.clock import DAY, Clock
from forgetmenot.domain import ChatEvent, Line, Video
from forgetmenot.errors import InputError, ModelBlocked, ModelError
from forgetmenot.languages import Language, reason
from forgetmenot.memory.extraction import Extractor
from forgetmenot.memory.ingest import seen, visits
from forgetmenot.memory.past_chat import PastChat
from forgetmenot.memory.people import Exclusion, role_of
from forgetmenot.memory.stream_tracker import STREAM_GAP
from forgetmenot.memory.summarizer import Summarizer
from forgetmenot.memory.transcript import SUMMARY_WORDS, Cut, Window, windows
from forgetmenot.ports import LanguageModel
from forgetmenot.settings import prices
from forgetmenot.settings.prices import Used
from forgetmenot.settings.schema import MemorySettings, Provider, Settings
from forgetmenot.store import channel_state, episodes, events, personal_data, streams, viewers
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.text.mentions import provisional

T = TypeVar("T")
READ_AT_ONCE = 500
# How long unread live chat is waited for before each window of past chat.
LIVE_FIRST_S = 60.0
# Instructions and what is known, besides the lines themselves; measured with a hosted model's prompts.
TOKENS_A_CALL = 900
SECONDS_A_CALL = 4.0
BYTES_A_TOKEN = 3
LEARNED = "learned:"
LINES_NAMED = 5
# A file does not say what kind of account its channel is.
VIDEOS_KEPT_AT_MOST = 60 * DAY
LONGEST_STREAM = 2 * DAY  # of Twitch's


class Estimate(Struct, frozen=True):
    """What learning from files would take. Times in ms; `tokens`: in and out, by what the memory's model is billed.

    `bad`: by file, which lines cannot be read.
    """

    lines: int
    streams: int
    first_at: int
    last_at: int
    calls: int
    tokens: Used
    bad: dict[str, list[int]]

    @property
    def days(self) -> int:
        """From the first line to the last."""
        return (self.last_at - self.first_at) // DAY + 1

    def in_words(self, settings: Settings, say: Language) -> str:
        """For a person who is asked whether to begin."""
        cost = prices.in_words(settings, {settings.model.memory_model: self.tokens}, say)
        minutes = round(
            self.calls * SECONDS_A_CALL / 60
        )  # with a hosted model, one call after the other
        tokens, minutes_shown = (
            say.number(self.tokens.input + self.tokens.output),
            say.number(max(1, minutes)),
        )
        counts = _counts(self, "lines streams", say) | {
            "days": say("span.d", n=self.days),
            "calls": say.number(self.calls),
        }
        takes = say(
            "setup.past_takes",
            **counts,
            tokens=tokens,
            cost=cost and f" ({cost})",
            minutes=minutes_shown,
        )
        return " ".join([takes, *_unread(self.bad, say)])


class Learned(Struct):
    """What came of it. `excluded`: lines of people who are left out. `trouble`: why it stopped before the end."""

    lines: int = 0
    streams: int = 0
    episodes: int = 0
    notes: int = 0
    known: int = 0
    trouble: str = ""
    bad: dict[str, list[int]] = field(default_factory=dict)
    excluded: int = 0

    def in_words(self, say: Language, *, stopped: bool = False) -> str:
        """For a person; `stopped`: it was not read to its end."""
        counts = _counts(self, "lines streams episodes notes", say) | {
            "known": say("page.count.lines", n=say.number(self.known))
        }
        told = say(f"setup.past_{'stopped' if stopped or self.trouble else 'learned'}", **counts)
        return " ".join(filter(None, [told, *_unread(self.bad, say), say.reason(self.trouble)]))


def _counts(of: object, names: str, say: Language) -> dict[str, str]:
    """Each count with its noun, such as "1 line" or "24 lines"."""
    return {
        name: say(f"page.count.{name}", n=say.number(getattr(of, name))) for name in names.split()
    }


def _unread(bad: Mapping[str, list[int]], say: Language) -> list[str]:
    """Per file, which lines cannot be read."""
    return [
        say("setup.past_bad", file=Path(file).name, lines=", ".join(map(str, lines[:LINES_NAMED])))
        for file, lines in bad.items()
    ]


class _Done(Struct):
    """How far a file was read: lines, and the stream that the last of them (`last_at`, ms) belongs to."""

    lines: int = 0
    stream: int | None = None
    last_at: int = 0


class Learner:
    """Reads files into one memory. `stop` ends it after the window that is being read."""

    def __init__(
        self, *, db: Database, model: LanguageModel, settings: Callable[[], Settings], clock: Clock
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._summarizer = Summarizer(db=db, model=model, settings=settings, clock=clock)
        self._extractor = Extractor(db=db, model=model, settings=settings, clock=clock)
        self.stopped = False

    def stop(self) -> None:
        """End it; what was read stays."""
        self.stopped = True

    async def learn(
        self, paths: Sequence[Path], progress: Callable[[float], None] = lambda _share: None
    ) -> Learned:
        """Read the files, in the order of what was said in them. Raises InputError, StoreError."""
        report = Learned()
        now = self._clock.now()
        files = sorted([await _look(path, now) for path in paths], key=lambda file: file.first_at)
        total, before = sum(file.lines for file in files) or 1, 0
        for file in files:
            async for lines in self._read(file, report):
                progress((before + lines) / total)
            before += file.lines
        return report

    async def _read(self, file: PastChat, report: Learned) -> AsyncIterator[int]:
        """Read a file from where it was left; how many of its lines were read, after each window."""
        done = await _done(self._db, file)
        if done.lines >= file.lines:
            report.known += file.lines
            return
        chat = PastChat(file.path, file.until)
        found = _windows(chat, done.lines, self._settings().memory)
        while not self._ends(report) and (taken := await _beside(chat, lambda: next(found, None))):
            await self._after_live_chat()
            while not self._ends(report) and not await self._window(taken, done, file, report):
                pass  # somebody of it left while the model was thinking: it is read anew
            yield done.lines
        if file.bad_lines:
            report.bad[str(file.path)] = file.bad_lines

    def _ends(self, report: Learned) -> bool:
        return self.stopped or bool(report.trouble)

    async def _window(
        self, taken: Sequence[ChatEvent], done: _Done, file: PastChat, report: Learned
    ) -> bool:
        """Write the summary of a window with the mark that its lines were read, then its notes.

        False, and no summary, where the model is away or somebody of the window left while it was thinking.
        """
        async with self._db.write() as tx:
            welcome = await self._welcome(tx, taken)
            await viewers.record_past(tx, seen(welcome))
        window: Window = [_line(number, event) for number, event in enumerate(welcome)]
        try:
            new = await self._summarizer.with_model(window) if window else None
        except ModelBlocked:
            new = await self._summarizer.by_counting(window)
        except ModelError as error:
            report.trouble = str(error)
            return False
        now = self._clock.now()
        async with self._db.write() as tx:
            if (await _done(tx, file)).lines != done.lines:
                raise InputError(reason("past_busy"))
            named = list(new.people) if new is not None else []
            if await self._welcome(tx, taken) != welcome or await viewers.hidden_or_gone(tx, named):
                return False
            if fresh := done.stream is None or taken[0].at - done.last_at >= STREAM_GAP:
                done.stream = await _stream(tx, file, taken[0].at)
            done.lines, done.last_at = done.lines + len(taken), max(event.at for event in taken)
            if new is not None:
                # its lines are in no table
                await episodes.insert(tx, replace(new, stream_id=done.stream), now)
            await streams.went_on(tx, done.stream, done.last_at)
            await streams.attend(
                tx, visits((line.viewer_id, done.stream, line.at) for line in window)
            )
            await channel_state.put(
                tx, {LEARNED + file.key: msgspec.json.encode(done).decode()}, now
            )
        report.lines += len(taken)
        report.streams += fresh
        report.excluded += len(taken) - len(welcome)
        report.episodes += new is not None
        report.notes += (await self._extractor.run_pass()).added
        return True

    async def _welcome(self, at: Source, taken: Sequence[ChatEvent]) -> list[ChatEvent]:
        """The lines of those whom nothing keeps out, by the ids that their logins have here."""
        rules = Exclusion(self._settings().memory, await personal_data.opted_out(at))
        known = await viewers.find_many(at, sorted({event.login for event in taken}))
        hidden = await viewers.hidden(at, {*known.values(), *(event.user_id for event in taken)})
        found: list[ChatEvent] = []
        for line in taken:
            event = (
                line
                if line.user_id.isdigit()
                else replace(line, user_id=known.get(line.login, line.user_id))
            )
            # somebody may have been erased when nothing but their name was known
            erased_at = max(map(at.requests.erased_at, (event.user_id, provisional(event.login))))
            if not (rules.why(event) or event.at <= erased_at or event.user_id in hidden):
                found.append(event)
        return found

    async def _after_live_chat(self) -> None:
        """Wait while a live bot has windows to read: they age out, these do not."""
        waited, most = 0.0, self._settings().memory.window_max_events
        while waited < LIVE_FIRST_S and await events.count_unread(self._db) > most:
            await asyncio.sleep(2)
            waited += 2


async def estimate(paths: Sequence[Path], settings: Settings, now: int) -> Estimate:
    """Read the files once without storing anything. Raises InputError, also where there is no line of chat in them."""
    found = [await _look(path, now) for path in paths]
    if not any(one.lines for one in found):
        raise InputError(reason("past_nothing"))
    per_window = max(
        1, (settings.memory.window_min_events + settings.memory.window_max_events) // 2
    )
    asks = settings.model.provider is not Provider.OFFLINE
    calls = asks * 2 * sum(-(-one.lines // per_window) for one in found)
    read = asks * sum(one.size for one in found) // BYTES_A_TOKEN + calls * (
        TOKENS_A_CALL + SUMMARY_WORDS
    )
    return Estimate(
        lines=sum(one.lines for one in found),
        streams=sum(one.streams for one in found),
        first_at=min(one.first_at for one in found if one.lines),
        last_at=max(one.last_at for one in found),
        calls=calls,
        tokens=Used(read, 0, calls * 2 * SUMMARY_WORDS),
        bad={str(one.path): one.bad_lines for one in found if one.bad_lines},
    )


async def _beside(chat: PastChat, read: Callable[[], T]) -> T:
    """Read in a thread."""
    try:
        return await asyncio.to_thread(read)
    except asyncio.CancelledError:
        chat.ended = True  # a large file takes minutes, and the program's end waits for its threads
        raise


async def _look(path: Path, until: int) -> PastChat:
    """A file as it was read to its end, without being kept."""
    chat = PastChat(path, until)
    await _beside(chat, lambda: deque(chat.events(), maxlen=0))
    return chat


def _windows(chat: PastChat, skipped: int, memory: MemorySettings) -> Iterator[list[ChatEvent]]:
    """The windows of a file's lines after those that are skipped. None goes on over the end of a stream."""
    waiting: list[ChatEvent] = []
    newest = 0
    for event in chain(islice(chat.events(), skipped, None), [None]):
        ended = event is None or (newest and event.at - newest >= STREAM_GAP)
        if ended or len(waiting) == READ_AT_ONCE:
            lines = [_line(number, one) for number, one in enumerate(waiting)]
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


async def _stream(tx: Transaction, file: PastChat, at: int) -> int:
    """Write down the stream whose first line was said at `at` (ms)."""
    dated = abs(at - file.began_at) <= LONGEST_STREAM  # else what the file says of it is wrong
    stream = await streams.add_past(tx, min(at, file.began_at) if dated else at, file.title)
    if file.video and dated:
        await streams.set_video(
            tx, stream, Video(file.video, file.began_at, file.began_at + VIDEOS_KEPT_AT_MOST)
        )
    return stream


def _line(number: int, event: ChatEvent) -> Line:
    return Line(
        number, event.id, None, event.user_id, event.kind, event.text, event.system_text, role_of(event.badges),
        addressed=False, from_bot=False, at=event.at,
    )  # fmt: skip
