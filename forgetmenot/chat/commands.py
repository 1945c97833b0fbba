"""Chat commands: parses a line by the table's forms, runs the operation, words the result.

- A command is a whole line. Other bots' commands and talk are ignored.
- The same said to the bot in plain words works too; where it cannot be done it is treated as talk.

operations/run makes all decisions.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from forgetmenot.domain.chat import ChatEvent
from forgetmenot.domain.operation import Asker, Permission, Surface
from forgetmenot.languages import in_language
from forgetmenot.memory.viewer_rules import is_bot, role_of
from forgetmenot.operations.entry import Operation, OperationContext, ParameterKind
from forgetmenot.operations.run import run
from forgetmenot.operations.wording import chat_line
from forgetmenot.reply.triggers import Conversations, Identity, is_ignored, trigger_of
from forgetmenot.text.chat_commands import spoken_command, typed_command, without_please

_FIRST = re.compile(r"\A(!\w+)[?.!,:]+(?=\s|\Z)")
_TALK = frozenset({"not_yours", "unknown_viewer", "about_yourself"})  # where a sentence could not be carried out
_QUIET = frozenset({"rated", "no_reply_rated"})  # chat has seen it; moderators always get an answer
_PATTERNS = {
    ParameterKind.TEXT: "(.+)",
    ParameterKind.NUMBER: r"#?([0-9]{1,12})(?:\s?(?:m|min))?",
    ParameterKind.VIEWER: r"@?(\w{2,50})",
}


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """An operation's name with its parameters as typed; `spoken`: said to the bot in plain words."""

    name: str
    params: Mapping[str, str]
    spoken: bool = False


@dataclass(frozen=True, slots=True)
class _Form:
    """One form of an operation, prepared for matching."""

    operation: Operation
    word: str
    pattern: re.Pattern[str]
    params: tuple[str, ...]
    literals: int
    whole: bool  # ends with free text, which is kept as it was typed

    @property
    def needs_value(self) -> bool:
        """Whether the form without a value is an incomplete command rather than talk."""
        return any(not self.operation.parameter(name).optional for name in self.params)

    def match(self, line: str, bare: str) -> ParsedCommand | None:
        match = self.pattern.fullmatch(line if self.whole else bare)
        if match is None:
            return None
        given = zip(self.params, match.groups(), strict=True)
        return ParsedCommand(self.operation.name, {name: value for name, value in given if value})


class CommandParser:
    """Parses lines by the forms of a table."""

    def __init__(self, table: Mapping[str, Operation]) -> None:
        forms = [form for operation in table.values() for form in _compiled(operation)]
        self._forms = sorted(forms, key=lambda form: -form.literals)  # "!forget me" before "!forget <what>"

    def parse(self, text: str, question: str = "") -> ParsedCommand | None:
        """The request in a line, or None. `question`: the line without the bot's name, if the bot was spoken to."""
        if typed := typed_command(text):
            return self._typed(typed)
        command = self._typed(spoken) if question and (spoken := spoken_command(question)) else None
        return ParsedCommand(command.name, command.params, spoken=True) if command is not None else None

    def _typed(self, typed: str) -> ParsedCommand | None:
        line = _FIRST.sub(r"\1", typed)
        word, bare = line.split(" ", 1)[0].casefold(), without_please(line)
        forms = [form for form in self._forms if form.word == word]
        for form in forms:
            if command := form.match(line, bare):
                return command
        lacks_something = bool(forms) and all(form.literals > 1 or form.needs_value for form in forms)
        return ParsedCommand("help", {"command": word}) if lacks_something else None


def _compiled(operation: Operation) -> Iterator[_Form]:
    for text in operation.chat:
        words = text.split()
        params = tuple(word[1:-1] for word in words if word[0] in "<[")
        flags = [name for name in params if operation.parameter(name).kind is ParameterKind.FLAG]
        pieces = [_piece(operation, word, flags) for word in words]
        last = operation.parameter(params[-1]).kind if words[-1][0] in "<[" else None
        yield _Form(
            operation,
            words[0],
            re.compile("".join(pieces), re.IGNORECASE),
            params,
            len(words) - len(params),
            whole=last is ParameterKind.TEXT,
        )


def _piece(operation: Operation, word: str, flags: list[str]) -> str:
    if word.startswith("!"):
        return word
    if word[0] not in "<[":
        return rf"\s+(?:{word})"
    parameter = operation.parameter(word[1:-1])
    if parameter.choices or parameter.kind is ParameterKind.FLAG:
        value = f"({'|'.join(parameter.choices) or parameter.name})"
    else:
        not_a_flag = f"(?!(?:{'|'.join(flags)})\\b)" if flags else ""
        value = not_a_flag + _PATTERNS[parameter.kind]
    return rf"(?:\s+{value})?" if word[0] == "[" else rf"\s+{value}"


class ChatCommands:
    """Recognises commands and runs them."""

    def __init__(self, context: OperationContext, identity: Callable[[], Identity]) -> None:
        self._context = context
        self._parser = CommandParser(context.table)
        self._identity = identity

    async def handle(self, event: ChatEvent) -> str | None:
        """The line to say (empty: nothing), or None if it is no command of ours. Raises StoreError."""
        context, identity, settings = self._context, self._identity(), self._context.settings()
        trigger = trigger_of(event, identity, Conversations({}), settings, event.at)
        question = trigger.question if trigger is not None and trigger.direct else ""
        command = self._parser.parse(event.text, question)
        bot = is_bot(settings.memory, event.login, event.user_id, event.badges) or event.user_id == identity.user_id
        if command is None or bot:  # a bot's lines can be put into its mouth
            return None
        for_moderators = context.table[command.name].who[Surface.CHAT] is Permission.MODERATOR
        if is_ignored(event, identity, settings) and not for_moderators:
            return None
        result = await run(context, command.name, command.params, asker_of(event))
        if result.code == "not_allowed" or (command.spoken and result.code in _TALK):
            return None
        if result.code in _QUIET and not asker_of(event).moderates:
            return ""
        return chat_line(result, in_language(settings.bot.language))


def asker_of(event: ChatEvent) -> Asker:
    """The asker, with the role from the message's badges."""
    return Asker(
        Surface.CHAT,
        event.user_id,
        role_of(event.badges),
        login=event.login,
        display_name=event.display_name,
        line_id=event.id,
    )
