"""Feeds recorded chat through the same pipeline as live chat, with a clock that the recording drives.

Times are the recording's own; the clock never goes backwards. Nothing is sent: the bot has no account here.
"""

import asyncio
import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from forgetmenot.app.bot import MEMORY_PASS_EVERY, Bot, open_bot
from forgetmenot.chat import counter_of
from forgetmenot.clock import HOUR, MINUTE, ManualClock, parse_iso
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.errors import InputError, ModelUnavailable
from forgetmenot.files import open_text
from forgetmenot.settings.schema import Settings
from forgetmenot.store import streams
from forgetmenot.store.counts import LineCounts, gained, highest_ids, line_counts
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import defang, is_id, provisional
from forgetmenot.twitch import chat_lines


class RunSummary(Struct, frozen=True):
    """A run's line counts and what it added to the memory, by the names of `store/counts`."""

    account: LineCounts
    added: Counter[str]

    def as_json(self) -> dict[str, object]:
        """The documented keys."""
        added = self.added
        actions = {name: added[name] for name in ("proposed", "allowed", "denied", "executed")}
        tokens = {name: added[name] for name in ("estimated", "billed", "cached", "prefix")}
        gained = {name: added[name] for name in ("episodes", "notes", "superseded", "replies", "llm_calls")}
        return {**asdict(self.account), **gained, "actions": actions, "tokens": tokens}

    def in_words(self) -> list[str]:
        """A few lines for a person."""
        account, added = self.account, self.added
        kept_out = account.duplicates + account.excluded + account.other_room + account.unparsed + account.other
        heard = (
            f"{account.lines} messages read: {account.events} stored, {kept_out} not stored ({account.duplicates} "
            f"duplicates, {account.excluded} from bots or ignored people, {account.other_room} from another channel, "
            f"{account.unparsed} unreadable, {account.other} without content)."
        )
        read = (
            f"Of the stored messages {account.covered} are summarised, {account.redacted} were cleared by moderators, "
            f"{account.uncovered} wait; {account.pruned_unread} were deleted unread."
        )
        learned = (
            f"The memory gained {added['episodes']} summaries and {added['notes']} notes; "
            f"{added['superseded']} facts were replaced."
        )
        did = (
            f"{added['replies']} replies were written. Of {added['proposed']} proposed actions {added['allowed']} were "
            f"allowed, {added['denied']} denied, {added['executed']} done."
        )
        share = f"{round(100 * added['prefix'] / added['estimated'])} %" if added["estimated"] else ""
        in_prefix = f", of which {share} in the unchanged prefix (estimated)" if share else ""
        paid = (
            f"{added['llm_calls']} model calls; {added['billed_in_all']} input tokens billed, "
            f"{added['billed']} of them for replies{in_prefix}."
        )
        return [heard, read, learned, did, paid]


async def begin_summary(db: Database) -> Callable[[], Awaitable[RunSummary]]:
    """Remember how the memory stands now; what is returned counts what came since."""
    before, highest = await line_counts(db), await highest_ids(db)

    async def summary() -> RunSummary:
        return RunSummary((await line_counts(db)).since(before), await gained(db, highest))

    return summary


PROGRESS_EVERY = 5_000
PASSES = 100


class Replay(Struct, frozen=True):
    """Options. `speed`: multiple of real time, None for as fast as possible; `progress` receives sentences."""

    settings: Settings
    speed: float | None = None
    until_compacted: bool = False
    progress: Callable[[str], None] = field(default=lambda _sentence: None)


async def replay(items: Iterable[chat_lines.ChatItem], path: Path, how: Replay) -> RunSummary:
    """Play a recording into the memory at `path`. Raises ModelUnavailable if the model stops answering."""
    clock = ManualClock()
    rest = list(items)
    await clock.move_to(next((at for at in map(_time, rest) if at), 0))
    async with open_bot(path, "replay", settings=lambda: how.settings, clock=clock) as bot:
        await bot.tasks.catch_up()
        summary = await begin_summary(bot.db)
        # what the memory has heard by time is not heard again: a recording that is played twice is stored once, and of
        # one that has grown only what is new; of the very last moment each line is known by its id
        until = await streams.last_heard(bot.db)
        known = [item for item in rest if 0 < _time(item) < until]
        new = [item for item in rest if not 0 < _time(item) < until]
        if known and not any(map(_time, new)):
            raise InputError("This recording is older than what the memory has heard. Use another one with --db.")
        await _pass_over(bot, known)
        await clock.move_to(max(map(_time, known), default=0))
        heard = len(known) + await _play(bot, clock, new, how)
        await bot.settle()
        if heard < len(rest):
            raise ModelUnavailable(
                f"The model stopped answering at line {heard} of {len(rest)}. {bot.models.memory.trouble} "
                "What was read is kept where --db says; with it the same command goes on from there."
            )
        if how.until_compacted:
            await _compact(bot)
        return await summary()


def _time(item: chat_lines.ChatItem) -> int:
    return item.at if isinstance(item, ChatEvent | Redaction) else 0


async def _pass_over(bot: Bot, items: list[chat_lines.ChatItem]) -> None:
    """Count the items of a time that the memory has heard."""
    for number, item in enumerate(items, 1):
        if number % PROGRESS_EVERY == 0:
            await bot.ingest.flush()
        if isinstance(item, ChatEvent):
            bot.ingest.take_again(item)
        else:
            bot.ingest.note(counter_of(item))


async def _play(bot: Bot, clock: ManualClock, items: list[chat_lines.ChatItem], how: Replay) -> int:
    """Play the items and return how many; stops early without a model, since lines would be counted and not read."""
    for number, item in enumerate(items, 1):
        await _run_due_in_pause(bot, clock, _time(item), how)
        await _wait(clock, _time(item), how.speed)
        await bot.hear(item)
        if isinstance(item, ChatEvent) and bot.engine.is_asked(item):
            await bot.settle()
        await bot.tasks.catch_up()
        if number % PROGRESS_EVERY == 0:
            how.progress(f"{number} of {len(items)} lines")
        if bot.models.memory.trouble:
            return number
    return len(items)


async def _run_due_in_pause(bot: Bot, clock: ManualClock, at: int, how: Replay) -> None:
    """Before a long pause in the recording, run the tasks at the times when a live bot would have run them."""
    memory, last = how.settings.memory, clock.now()
    soon = MEMORY_PASS_EVERY
    for silence in (memory.silence_min * MINUTE, memory.stream_gap_h * HOUR):
        moment = last + int(silence + soon)
        if moment < at:
            await _wait(clock, moment, how.speed)
            await bot.tasks.catch_up()


async def _wait(clock: ManualClock, at: int, speed: float | None) -> None:
    ahead = at - clock.now()
    if ahead <= 0:
        return
    if speed is not None:
        await asyncio.sleep(ahead / 1_000 / speed)
    await clock.move_to(at)


async def _compact(bot: Bot) -> None:
    """Summarise until no line is unread."""
    for _ in range(PASSES):
        await bot.remember_all()
        if (await line_counts(bot.db)).uncovered == 0:
            return
        if bot.models.trouble:
            raise ModelUnavailable(f"The rest could not be summarised. {bot.models.trouble}")


FORMATS = {
    "irc": "@id=1;user-id=2;tmi-sent-ts=1700000000000 :alice!alice@alice.tmi.twitch.tv PRIVMSG #channel :hello",
    "csv": "alice,1700000000000,hello",
    "jsonl": '{"login": "alice", "at": 1700000000000, "text": "hello"}',
}
"""A line of each; times in ms."""
_CSV_COLUMNS = 3
LONGEST_LINE = 1 << 20
csv.field_size_limit(LONGEST_LINE)  # a line of any length is a line
_LOGIN = re.compile(r"[a-z0-9_]{1,25}")
_LAST_MOMENT = 4_102_444_800_000  # 2100-01-01: a later "time" is not one


def read_recording(path: Path, kind: str) -> Iterator[chat_lines.ChatItem]:
    """What the file holds, in its order. Raises InputError if there is no such file or it is not text."""
    try:
        with open_text(path, errors="replace", newline="") as file:  # an odd byte costs no line
            yield from {"irc": _irc, "csv": _csv, "jsonl": _jsonl}[kind](_lines(file))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error


def read_chat(path: Path, kind: str) -> list[chat_lines.ChatItem]:
    """The same; raises InputError also where no line is chat in this format."""
    items = list(read_recording(path, kind))
    if all(isinstance(item, chat_lines.Unparsed | chat_lines.OtherLine) for item in items):
        examples = "".join(f"\n  {name}: {example}" for name, example in FORMATS.items())
        raise InputError(
            f"No line of {path} is chat in {kind} format. Choose --format by what a line looks like:{examples}"
        )
    return items


def _lines(file: TextIO) -> Iterator[str]:
    """Its lines; of one that is longer than any line of chat, the beginning."""
    while line := file.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith("\n"):
            rest = file.readline(LONGEST_LINE)
        yield line


def _irc(lines: Iterator[str]) -> Iterator[chat_lines.ChatItem]:
    return (chat_lines.understand(chat_lines.parse(line), None) for line in lines if line.strip())


def _csv(lines: Iterator[str]) -> Iterator[chat_lines.ChatItem]:
    for position, line in enumerate(lines):
        row = next(csv.reader([line.replace("\0", "")]))  # each by itself: a quotation mark ends with its line
        if position == 0 and row[:2] == ["sender", "date"]:
            continue
        yield _csv_row(position, row)


def _csv_row(position: int, row: list[str]) -> chat_lines.ChatItem:
    if len(row) != _CSV_COLUMNS:
        return chat_lines.Unparsed()
    sender, date, message = (part.strip() for part in row)
    if not sender or not re.fullmatch(r"[0-9]{1,13}", date) or int(date) > _LAST_MOMENT:
        return chat_lines.Unparsed()
    return _event(sender, message, int(date), _made_id(position, sender, date, message))


def _jsonl(lines: Iterator[str]) -> Iterator[chat_lines.ChatItem]:
    yield from (_json_line(position, line) for position, line in enumerate(lines) if line.strip())


def _json_line(position: int, line: str) -> chat_lines.ChatItem:
    try:
        row = json.loads(line)
        json.dumps(row, ensure_ascii=False).encode()  # half a character ("\ud800") is no text: UnicodeError
        login, text, at = str(row["login"]), str(row["text"]), row["at"]
        moment = at if isinstance(at, int) else parse_iso(str(at))
        if not login or not 0 <= moment <= _LAST_MOMENT:
            return chat_lines.Unparsed()
        made = _made_id(position, login, str(moment), text)
        event = _event(login, text, moment, str(row.get("id") or made))
        user_id = str(row.get("user_id") or event.user_id)
        if not is_id(user_id):
            return chat_lines.Unparsed()
        badges = row.get("badges", [])
        if not isinstance(badges, list):
            return chat_lines.Unparsed()
        name = defang(str(row.get("display_name") or login))
        return replace(event, user_id=user_id, display_name=name, badges=frozenset(map(str, badges)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return chat_lines.Unparsed()


def _event(sender: str, message: str, at: int, event_id: str) -> ChatEvent:
    login = _login(sender)
    return ChatEvent(
        event_id, EventKind.MESSAGE, provisional(login), login, defang(sender), chat_lines.safe_text(message), at
    )


def _login(sender: str) -> str:
    """The sender as a login: as it is, or made of its hash, the same for the same sender."""
    login = sender.casefold()
    if _LOGIN.fullmatch(login):
        return login
    return "made_" + hashlib.sha256(login.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _made_id(position: int, *content: str) -> str:
    return hashlib.sha256("\x1f".join((str(position), *content)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
