"""Feeds recorded chat through the same pipeline as live chat, with a clock that the recording drives.

Times are the recording's own; the clock never goes backwards. Nothing is sent: the bot has no account here.
"""

import csv
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import asdict

from forgetmenot.app.bot import MEMORY_PASS_EVERY, Bot, open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import STREAM_GAP, ChatEvent, EventKind, Redaction
from forgetmenot.errors import InputError, ModelUnavailable
from forgetmenot.files import lines_of, open_text
from forgetmenot.memory.compaction import SILENCE
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from forgetmenot.store.counts import highest_ids, line_counts, rows_added
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import defang, provisional_id
from forgetmenot.twitch import chat_lines

# Counts the lines that came, and what they added to the memory.
Summary = Callable[[], Awaitable[dict[str, int]]]


async def begin_summary(db: Database) -> Summary:
    """Return a function that counts what comes from now on."""
    before = await line_counts(db)
    highest = await highest_ids(db)

    async def summary() -> dict[str, int]:
        now = await line_counts(db)
        lines = asdict(now.since(before))
        rows = await rows_added(db, highest)
        return {**lines, **rows}

    return summary


PROGRESS_EVERY = 5_000
# Memory passes after which a remainder that does not get smaller is given up.
PASSES_LIMIT = 100


async def replay(
    items: Iterable[chat_lines.ChatItem],
    path: Path,
    settings: Settings,
    *,
    until_compacted: bool = False,
    progress: Callable[[str], None] = lambda _sentence: None,
) -> dict[str, int]:
    """Play a recording into the memory at `path`. `until_compacted`: summarise the remainder too.

    Raises InputError for a recording that is older than what the memory has heard, ModelUnavailable if the model stops
    answering.
    """
    clock = ManualClock()
    rest = list(items)
    first = _first_time(rest)
    await clock.move_to(first)
    async with open_bot(path, settings=lambda: settings, clock=clock) as bot:
        await bot.file_check.passed()
        await bot.tasks.catch_up()
        summary = await begin_summary(bot.db)
        # A recording may begin at the very moment of the last line: a line that is known already is
        # recognised by its id. An earlier one would turn the clock back.
        if first < await streams.last_heard(bot.db):
            raise InputError(
                "This recording is older than what the memory has heard. Use another one with --db."
            )
        heard = await _play(bot, clock, rest, progress)
        await bot.settle()
        if heard < len(rest):
            raise ModelUnavailable(
                f"The model stopped answering at line {heard} of {len(rest)}. {bot.models.memory.trouble} "
                "What was read is kept where --db says."
            )
        if until_compacted:
            await _summarise_rest(bot)
        return await summary()


async def _summarise_rest(bot: Bot) -> None:
    """Summarise what is left. Raises ModelUnavailable if the model stops answering."""
    for _ in range(PASSES_LIMIT):
        await bot.remember_all()
        lines = await line_counts(bot.db)
        if lines.uncovered == 0:
            return
        trouble = bot.models.trouble
        if trouble:
            raise ModelUnavailable(f"The rest could not be summarised. {trouble}")


def _first_time(items: list[chat_lines.ChatItem]) -> int:
    """Return when a recording begins (ms); 0 if it has no times."""
    for item in items:
        # It may begin with lines that have none.
        at = _time(item)
        if at:
            return at
    return 0


def _time(item: chat_lines.ChatItem) -> int:
    """Return when an item was said (ms); 0 for one without a time."""
    if isinstance(item, ChatEvent | Redaction):
        return item.at
    return 0


async def _play(
    bot: Bot,
    clock: ManualClock,
    items: list[chat_lines.ChatItem],
    progress: Callable[[str], None],
) -> int:
    """Play the items and return how many; stops early without a model, since lines would be counted and not read."""
    for number, item in enumerate(items, 1):
        at = _time(item)
        # before a long pause in the recording the tasks run at the times when a live bot would have run them
        last = clock.now()
        for silence in (SILENCE, STREAM_GAP):
            moment = last + silence + MEMORY_PASS_EVERY
            if moment < at:
                await clock.move_to(moment)
                await bot.tasks.catch_up()
        await clock.move_to(at)
        await bot.hear(item)
        is_question = isinstance(item, ChatEvent) and bot.engine.is_asked(item)
        if is_question:
            await bot.settle()
        await bot.tasks.catch_up()
        if number % PROGRESS_EVERY == 0:
            progress(f"{number} of {len(items)} lines")
        if bot.models.memory.trouble:
            return number
    return len(items)


# A line of each; times in ms.
FORMATS = {
    "irc": "@id=1;user-id=2;tmi-sent-ts=1700000000000 :alice!alice@alice.tmi.twitch.tv PRIVMSG #channel :hello",
    "csv": "alice,1700000000000,hello",
}
_CSV_COLUMNS = 3
LONGEST_LINE = 1 << 20
# a line of any length is a line
csv.field_size_limit(LONGEST_LINE)
_LOGIN = re.compile(r"[a-z0-9_]{1,25}")
_MS = re.compile(r"[0-9]{1,13}")
# 2100-01-01 (ms): a later "time" is not one.
_LAST_MOMENT = 4_102_444_800_000


def read_recording(path: Path, kind: str) -> Iterator[chat_lines.ChatItem]:
    """Yield what the file holds, in its order. Raises InputError if there is no such file or it is not text."""
    try:
        # an odd byte costs no line
        with open_text(path, errors="replace", newline="") as file:
            lines = lines_of(file, LONGEST_LINE)
            if kind == "csv":
                yield from _csv(lines)
                return
            for line in lines:
                if line.strip():
                    parsed_line = chat_lines.parse(line)
                    yield chat_lines.understand(parsed_line, None)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def read_chat(path: Path, kind: str) -> list[chat_lines.ChatItem]:
    """Return what the file holds. Raises InputError also where no line is chat in this format."""
    items = list(read_recording(path, kind))
    no_chat = chat_lines.Unparsed | chat_lines.OtherLine
    if any(not isinstance(item, no_chat) for item in items):
        return items
    examples = ""
    for name, line in FORMATS.items():
        examples += f"\n  {name}: {line}"
    raise InputError(
        f"No line of {path} is chat in {kind} format."
        f" Choose --format by what a line looks like:{examples}"
    )


def _csv(lines: Iterator[str]) -> Iterator[chat_lines.ChatItem]:
    """Yield what the rows of a CSV file hold, without its title row."""
    for position, line in enumerate(lines):
        # Each line is read by itself, so a quotation mark that is never closed ends with its line.
        text = line.replace("\0", "")
        row = next(csv.reader([text]))
        is_title = row[:2] == ["sender", "date"]
        if position == 0 and is_title:
            continue
        yield _csv_item(position, row)


def _csv_item(position: int, row: list[str]) -> chat_lines.ChatItem:
    """Return what a row holds. `position`: of its line, from 0."""
    if len(row) != _CSV_COLUMNS:
        return chat_lines.Unparsed()
    sender, date, message = (part.strip() for part in row)
    if not sender or not _MS.fullmatch(date):
        return chat_lines.Unparsed()
    at = int(date)
    if at > _LAST_MOMENT:
        return chat_lines.Unparsed()
    login = sender.casefold()
    if not _LOGIN.fullmatch(login):
        # a display name in another script: the same login for the same sender
        digest = _hashed(login)
        login = f"made_{digest[:16]}"
    # Two lines may be alike in all but their position.
    parts = (str(position), sender, date, message)
    key = "\x1f".join(parts)
    return ChatEvent(
        id=_hashed(key),
        kind=EventKind.MESSAGE,
        user_id=provisional_id(login),
        login=login,
        display_name=defang(sender),
        text=chat_lines.safe_text(message),
        at=at,
    )


def _hashed(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]
