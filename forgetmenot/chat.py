"""Routes each chat line: to memory, to a command (parsed by the forms of the table), to a reply.

Guarantees:
- Every line is counted exactly once.
- A line that was handled before, in this run or an earlier one, triggers nothing.
- The bot's own lines only confirm delivery.

A command is a whole line; other bots' commands and talk are ignored. The same said to the bot in plain words works too;
where it cannot be done it is treated as talk. What a command does is decided in operations/, what a reply says in
reply/. Here too: the rate limit of answers, the channel's chat modes, and the notice that the bot remembers.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.clock import MINUTE
from forgetmenot.domain import Asker, ChatEvent, EventKind, Permission, Redaction, Surface
from forgetmenot.errors import ForgetMeNotError, StoreError, StoreFull, StoreLocked
from forgetmenot.languages import in_language, languages
from forgetmenot.logs import log
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.people import is_bot, role_of
from forgetmenot.operations.run import run
from forgetmenot.operations.services import read_switches
from forgetmenot.operations.types import Operation, OperationContext, ParameterKind
from forgetmenot.operations.wording import chat_line
from forgetmenot.reply.engine import ReplyEngine
from forgetmenot.reply.outbox import EVERYBODY, Outbox
from forgetmenot.reply.own_name import Identity, without_at_name, without_name_in_front
from forgetmenot.reply.triggers import Conversations, is_ignored, trigger_of
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import channel_state, events, streams
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import (
    command_in_words,
    denies,
    is_command,
    typed_command,
    without_please,
)
from forgetmenot.text.clean import clean
from forgetmenot.text.phrases import is_yes
from forgetmenot.text.words import is_slip
from forgetmenot.twitch.chat_lines import ChatItem, OtherRoom, RoomState, Unparsed

_MARKS_BEHIND = re.compile(r"[?.!,:]+\Z")
_WITHOUT_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_PUNCTUATED = re.compile(r"\A(!\w+)[?.!,:]+(?=\s|\Z)")  # "!memory?"
_TALK = frozenset(
    {"not_yours", "unknown_viewer", "about_yourself", "which_none"}
)  # a sentence that asks in vain
_FLAGS = "confirm|yes|ja"
# How soon a viewer's next line has to be the "yes" to a question that the bot asked them.
ANSWERED_WITHIN = 2 * MINUTE
_PATTERNS = {
    ParameterKind.TEXT: "(?P<NAME>.+)",
    ParameterKind.NUMBER: r"#?(?P<NAME>[0-9]{1,12})(?:\s?(?:m|min))?",
    ParameterKind.VIEWER: r"@?(?P<NAME>\w{2,50})",
    ParameterKind.FLAG: f"(?P<NAME>{_FLAGS})",
}
# Answers to one viewer at once; then one in each MS_PER_ANSWER.
BURST = 5
MS_PER_ANSWER = 10_000
# Viewers whose rate limit is remembered.
MOST_BUCKETS = 2_000
# Ids of this run's last commands and questions: their lines may not be stored yet.
MOST_HEARD = 10_000
# How long a command waits for a memory that cannot be written, besides what each write waits by itself.
TRIED_AGAIN_AFTER_S = (1, 2, 4, 8)
NOTICED = "noticed_stream"


class ParsedCommand(Struct, frozen=True):
    """An operation's name with its parameters as typed.

    `in_words`: said to the bot in plain words. `incomplete`: help on a command that lacks something.
    """

    name: str
    params: Mapping[str, str]
    in_words: bool = False
    incomplete: bool = False


class CommandAnswer(NamedTuple):
    """What is said to a command (empty: nothing). `is_right`: somebody asked about their own data and waits for it."""

    line: str
    is_right: bool = False


class _Form(Struct, frozen=True):
    """One form of an operation, prepared for matching."""

    name: str
    word: str
    pattern: re.Pattern[str]
    literals: int
    whole: bool  # ends with free text, which is kept as it was typed
    needs_value: bool  # without its value it is an incomplete command rather than talk


class CommandParser:
    """Parses lines by the forms of a table, their first words in any language, with a slip of the finger or without."""

    def __init__(self, table: Mapping[str, Operation]) -> None:
        forms = [form for operation in table.values() for form in _compiled(operation)]
        self._names = {form.word: form.word for form in forms} | dict(_other_names())
        self._forms = sorted(
            forms, key=lambda form: -form.literals
        )  # "!forget me" before "!forget <what>"

    def parse(self, text: str, question: str = "", *, unnamed: str = "") -> ParsedCommand | None:
        """The request in a line, or None.

        `question`: the line without the bot's name, if the bot was spoken to. `unnamed`: the line without the bot's
        @name, for forms that end in no free text: "!forgetme yes @bot".
        """
        typed = self._in_its_name(typed_command(text))
        if typed:
            return self._typed(typed, self._in_its_name(typed_command(unnamed)) or typed)
        meant = command_in_words(question)
        command = self._typed(meant, meant) if meant else None
        if command is None:
            return None
        return ParsedCommand(command.name, command.params, in_words=True)

    def _in_its_name(self, typed: str) -> str:
        """A typed command with the name that the table has for it: "!memroy" and "!gedächtnis" are "!memory"."""
        word, space, rest = typed.partition(" ")
        marks = _MARKS_BEHIND.search(word)
        bare = word[: marks.start()] if marks else word
        name = self._names.get(bare.casefold()) or self._meant(bare.casefold())
        if name is None:
            return typed
        return typed_command(f"{name}{marks[0] if marks else ''}{space}{rest}")

    def _meant(self, word: str) -> str | None:
        """The one command that was typed with a slip; None where none is, or two are near."""
        near = {name for known, name in self._names.items() if is_slip(word[1:], known[1:])}
        return near.pop() if len(near) == 1 else None

    def _typed(self, typed: str, unnamed: str) -> ParsedCommand | None:
        line = _PUNCTUATED.sub(r"\1", typed)
        bare = without_please(_PUNCTUATED.sub(r"\1", unnamed))
        word = line.split(" ", 1)[0].casefold()
        forms = [form for form in self._forms if form.word == word]
        for form in forms:
            match = form.pattern.fullmatch(line if form.whole else bare)
            if match is not None:
                values = {name: value for name, value in match.groupdict().items() if value}
                return ParsedCommand(form.name, values)
        if not forms:
            return None
        lacks_something = all(form.literals > 1 or form.needs_value for form in forms)
        if not lacks_something:
            return None
        return ParsedCommand("help", {"command": word}, incomplete=True)


@cache
def _other_names() -> Mapping[str, str]:
    """The commands by the names that each language has for them."""
    found: dict[str, str] = {}
    for code in languages():
        for command, names in in_language(code).tables["command"].items():
            for name in names.split():
                found[f"!{name}"] = f"!{command}"
                # as it is typed without umlauts
                found[f"!{name.translate(_WITHOUT_UMLAUTS)}"] = f"!{command}"
    return found


def _compiled(operation: Operation) -> Iterator[_Form]:
    for text in operation.chat:
        words = text.split()
        params = {word: operation.parameter(word[1:-1]) for word in words if word[0] in "<["}
        has_flag = any(one.kind is ParameterKind.FLAG for one in params.values())
        pattern = words[0]
        for word in words[1:]:
            if word not in params:
                pattern += rf"\s+(?:{word})"
                continue
            kind = params[word].kind
            not_a_flag = (
                rf"(?!(?:{_FLAGS})\b)" if has_flag and kind is not ParameterKind.FLAG else ""
            )
            value = not_a_flag + _PATTERNS[kind].replace("NAME", word[1:-1])
            pattern += rf"(?:\s+{value})?" if word[0] == "[" else rf"\s+{value}"
        yield _Form(
            operation.name,
            words[0],
            re.compile(pattern, re.IGNORECASE),
            literals=len(words) - len(params),
            whole=words[-1] in params and params[words[-1]].kind is ParameterKind.TEXT,
            needs_value=any(not one.optional for one in params.values()),
        )


class ChatCommands:
    """Recognises commands and runs them."""

    def __init__(self, context: OperationContext, identity: Callable[[], Identity]) -> None:
        self._context = context
        self._parser = CommandParser(context.table)
        self._identity = identity
        self._asked: dict[str, tuple[ParsedCommand, int]] = {}

    def says_yes(self, event: ChatEvent) -> bool:
        """Whether a line is the "yes" to what the bot just asked its viewer. Any other line of theirs is a no."""
        asked = self._asked.get(event.user_id)
        if asked is None:
            return False
        line = without_name_in_front(event, self._identity())
        if is_yes(line) and event.at - asked[1] <= ANSWERED_WITHIN:
            return True
        del self._asked[event.user_id]
        return False

    async def handle(self, event: ChatEvent, *, denies_reply: bool = False) -> CommandAnswer | None:
        """The answer, or None if it is no command of ours. Raises StoreError.

        `denies_reply`: it only says that the bot's last reply is wrong, without naming the bot.
        """
        context = self._context
        settings = context.settings()
        identity = self._identity()
        command = self._command(event, identity, denies_reply=denies_reply)
        if self.says_yes(event):
            command, _ = self._asked.pop(event.user_id)
        if command is None or self._is_bot(
            event, identity
        ):  # a bot's lines can be put into its mouth
            return None
        for_moderators = context.table[command.name].who[Surface.CHAT] is Permission.MODERATOR
        if is_ignored(event, identity, settings) and not for_moderators:
            return None
        return await self._answer(event, command)

    async def ask_erasure(self, event: ChatEvent) -> str:
        """Ask whoever wrote a line whether everything about them is to be deleted, as `!forgetme` does.

        The question, or that nothing is known of them. Raises StoreError.
        """
        answer = await self._answer(event, ParsedCommand("erase", {}))
        return answer.line if answer is not None else ""

    async def _answer(self, event: ChatEvent, command: ParsedCommand) -> CommandAnswer | None:
        """Run a command; the answer, or None where it is left to others. Raises StoreError."""
        result = await run(self._context, command.name, command.params, asker_of(event))
        if result.code == "not_allowed" or (command.in_words and result.code in _TALK):
            return None
        if result.code == "erase_unconfirmed":
            confirmed = replace(command, params={**command.params, "confirm": "yes"})
            self._asked[event.user_id] = (confirmed, event.at)
        line = chat_line(result, in_language(self._context.settings().bot.language))
        return CommandAnswer(line, is_right=self._context.table[command.name].waits)

    def _command(
        self, event: ChatEvent, identity: Identity, *, denies_reply: bool
    ) -> ParsedCommand | None:
        """The command in a line, typed or in words; `denies_reply` as in `handle`."""
        trigger = trigger_of(event, identity, Conversations({}), self._context.settings(), event.at)
        question = ""
        if trigger is not None and trigger.direct:
            question = trigger.question
        elif denies_reply:
            question = event.text
        line = without_name_in_front(event, identity)
        command = self._parser.parse(line, question, unnamed=without_at_name(line, identity))
        is_to_the_bot = line != clean(event.text) or bool(question)
        if command is not None and not is_to_the_bot and self._is_another_bots(command):
            return None
        if command is None or command.name != "erase" or asker_of(event).moderates:
            return command
        # a viewer names nobody else there; a moderator may mean somebody who is called "sim"
        if is_yes(command.params.get("viewer", "")):
            return replace(command, params={"confirm": "yes"})
        return command

    def _is_another_bots(self, command: ParsedCommand) -> bool:
        """Whether `!help` or `!commands` is left to another bot; help on an incomplete command is not."""
        bot = self._context.settings().bot
        if command.name == "help":
            return not bot.answers_help and not command.incomplete
        return command.name == "commands" and not bot.answers_commands

    def _is_bot(self, event: ChatEvent, identity: Identity) -> bool:
        if event.user_id == identity.user_id:
            return True
        memory = self._context.settings().memory
        return is_bot(memory, event.login, event.user_id, event.badges)


def asker_of(event: ChatEvent) -> Asker:
    """The asker, with the role from the message's badges."""
    role = role_of(event.badges)
    return Asker(
        Surface.CHAT, event.user_id, role, event.login, event.display_name, line_id=event.id
    )


class CommandRateLimiter:
    """A token bucket per viewer: a few answers at once, then one every few seconds. The command itself is carried out.

    Times are ms; a clock that steps back refills nothing.
    """

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, int]] = {}

    def allows(self, viewer_id: str, now: int) -> bool:
        """Take one answer from a viewer's bucket; False if it is empty."""
        left, since = self._buckets.pop(viewer_id, (float(BURST), now))
        left = min(BURST, left + max(0, now - since) / MS_PER_ANSWER)
        if len(self._buckets) >= MOST_BUCKETS:  # the one that was not used for longest
            del self._buckets[next(iter(self._buckets))]
        self._buckets[viewer_id] = (left - 1 if left >= 1 else left, max(now, since))
        return left >= 1


class RoomModeTracker:
    """The channel's chat modes as Twitch last reported them, so that the bot never switches off a moderator's.

    `modes`: those that are on, as the catalogue of actions names them.
    """

    def __init__(self) -> None:
        self.modes: frozenset[str] = frozenset()

    def heard(self, state: RoomState) -> None:
        """Update from a ROOMSTATE, which names only what changed."""
        slow = None if state.slow_s is None else state.slow_s > 0
        for mode, is_on in (("slow", slow), ("emote_only", state.emote_only)):
            if is_on is not None:
                self.modes = self.modes | {mode} if is_on else self.modes - {mode}

    def switched_off(self, mode: str) -> None:
        """Note that the bot switched its own mode off, before Twitch reports it."""
        self.modes -= {mode}


class Router(Struct):
    """Handles the items of a chat source, in order."""

    db: Database
    ingest: Ingest
    engine: ReplyEngine
    outbox: Outbox
    commands: ChatCommands
    settings: Callable[[], Settings]
    room: RoomModeTracker
    _rate_limit: CommandRateLimiter = field(default_factory=CommandRateLimiter)
    _working: set[asyncio.Task[None]] = field(default_factory=set)
    _heard: OrderedDict[str, None] = field(default_factory=OrderedDict)

    async def hear(self, item: ChatItem) -> None:
        """Handle one item; answers are sent in a task of their own."""
        if isinstance(item, ChatEvent):
            await self._line(item)
        elif isinstance(item, Redaction):
            self.ingest.take(item)
        else:
            if isinstance(item, RoomState):
                self.room.heard(item)
            kinds = {OtherRoom: "other_room", Unparsed: "unparsed"}  # of lines that are not stored
            self.ingest.note(kinds.get(type(item), "other"))

    def say(self, line: str, *, reply_to: str | None = None, viewer_id: str = EVERYBODY) -> None:
        """Say something that nobody asked for now, beside everything else. `reply_to`: a viewer's earlier line."""
        self._start(
            self.outbox.say_line(line, reply_to=reply_to, viewer_id=viewer_id, trigger="notice")
        )

    def redeemed(self, event: ChatEvent, *, remember: bool) -> None:
        """A viewer spent channel points on the bot: what they typed is a mention, or to be remembered about them."""
        if remember and event.id not in self._heard:
            self._heard[event.id] = None
            self._start(self._command_or_reply(replace(event, text=f"!remember {event.text}")))
        elif not remember:
            self.engine.take(event)

    async def idle(self) -> None:
        """Wait until every command has been answered."""
        while self._working:
            await asyncio.wait(self._working)

    async def aclose(self) -> None:
        """Stop what is under way: a viewer's wish is on disk, and goes on at the next start."""
        for task in self._working:
            task.cancel()
        await self.idle()

    async def _line(self, event: ChatEvent) -> None:
        if event.user_id == self.ingest.own_id:
            self.ingest.take(event)
            # its own lines come back on the reading connection, which proves that they were shown
            self._start(self.outbox.seen_in_chat(event.text))
            return
        spoken = event.kind is EventKind.SPOKEN
        # what points were spent on is answered by `redeemed`
        if event.kind is EventKind.REDEMPTION or (
            spoken and not self.settings().hearing.answer_aloud
        ):
            self.ingest.take(event)
            return
        asks = self.engine.is_asked(event)
        # asked before the line is taken in, because after that it would be known
        is_command_line = is_command(event.text) and not spoken
        # the next line in chat after the bot's answer to them: "that's wrong"
        denies_reply = (
            not asks
            and event.user_id in self.engine.conversation_tracker.conversations().fresh
            and denies(event.text)
        )
        answers = not spoken and self.commands.says_yes(event)
        for_commands = is_command_line or denies_reply or answers
        is_new = not (asks or for_commands) or await self._is_new(event)
        self.ingest.take(event, addressed=asks)
        if not is_new or is_bot(self.settings().memory, event.login, event.user_id, event.badges):
            return
        if spoken:
            # the broadcaster's word for the memory, and nobody's for an action: anybody near the microphone is heard
            if asks:
                self.engine.take(replace(event, badges=frozenset()))
        elif asks or for_commands:
            self._start(self._command_or_reply(event, denies_reply=denies_reply))
        else:
            self.engine.take(event)

    async def _is_new(self, event: ChatEvent) -> bool:
        """Whether no run has seen this line before: only such a line may trigger anything.

        Only reads: a write may have to wait, and chat would wait with it.
        """
        if event.id in self._heard:
            return False
        self._heard[event.id] = None
        while len(self._heard) > MOST_HEARD:
            self._heard.popitem(last=False)
        try:
            return await events.by_id(self.db, event.id) is None
        except (
            StoreError
        ):  # whatever else it asks for needs the disk as well; a privacy request waits for it
            return is_command(event.text)

    def _start(self, work: Coroutine[None, None, object]) -> None:
        """Run it beside reading: an approval may take seconds, and chat does not wait."""
        task = asyncio.create_task(_logged(work), name="command or reply")
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _command_or_reply(self, event: ChatEvent, *, denies_reply: bool = False) -> None:
        """Answer a command (moderators always, others within their rate limit), or hand the line to the engine."""
        answer = await self._handled(event, denies_reply=denies_reply)
        if answer is None:
            self.engine.take(event)
            return
        moderates = asker_of(event).moderates
        if answer.line and (moderates or self._rate_limit.allows(event.user_id, event.at)):
            sent = await self.outbox.say_line(
                answer.line,
                reply_to=_message_of(event),
                viewer_id=event.user_id,
                spare=not (moderates or answer.is_right),
                first=answer.is_right,
            )
            log.info("command answered", status=sent.status)

    async def _handled(self, event: ChatEvent, *, denies_reply: bool) -> CommandAnswer | None:
        """What a command is answered; tried again while another program holds the memory or the disk is full."""
        for wait in (*TRIED_AGAIN_AFTER_S, None):
            try:
                return await self.commands.handle(event, denies_reply=denies_reply)
            except (StoreLocked, StoreFull) as error:
                if wait is None:
                    log.warning("a command failed", reason=str(error))
                else:
                    await asyncio.sleep(wait)
        if not is_command(event.text):
            return None
        # its row could not be written either
        await self.outbox.say_without_row(
            in_language(self.settings().bot.language)("chat.not_now"), _message_of(event)
        )
        return CommandAnswer("")


def _message_of(event: ChatEvent) -> str | None:
    """The message that an answer is shown under; Twitch shows none for a redemption."""
    return None if event.kind is EventKind.REDEMPTION else event.id


async def _logged(work: Coroutine[None, None, object]) -> None:
    """Log an expected failure; the event loop reports bugs."""
    try:
        await work
    except ForgetMeNotError as error:
        log.warning("a command failed", reason=str(error))


async def take_notice(db: Database, settings: Settings, now: int) -> str | None:
    """The notice that the bot remembers, at most once per stream and never while it is silent; else None.

    The caller sends it; a notice that could not be sent is not sent later. Raises StoreError.
    """
    line = settings.bot.notice.strip()
    # the default is a text of the interface, and so in its language
    if line == BotSettings().notice:
        line = in_language(settings.bot.language)("chat.notice")
    if not line or settings.bot.mode is Mode.SHADOW or (await read_switches(db)).silent(now):
        return None
    stream = await streams.open_id(db)
    if stream is None or await channel_state.read(db, NOTICED) == str(stream):
        return None
    async with db.write() as tx:
        await channel_state.put(tx, {NOTICED: str(stream)}, now)
    return line
