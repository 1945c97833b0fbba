"""Parses a chat line into a command, by the forms of operations/commands.

A command is a whole line; other bots' commands and talk are ignored. The same said to the bot in plain
words works too.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

from forgetmenot.languages import in_language, languages
from forgetmenot.operations.types import Operation, ParameterKind
from forgetmenot.text.chat_commands import (
    command_in_words,
    typed_command,
    without_please,
)
from forgetmenot.text.words import is_typo

_MARKS_BEHIND = re.compile(r"[?.!,:]+\Z")
_WITHOUT_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_PUNCTUATED = re.compile(r"\A(!\w+)[?.!,:]+(?=\s|\Z)")  # "!memory?"
_FLAGS = "confirm|yes|ja"
_PATTERNS = {
    ParameterKind.TEXT: "(?P<NAME>.+)",
    ParameterKind.NUMBER: r"#?(?P<NAME>[0-9]{1,12})(?:\s?(?:m|min))?",
    ParameterKind.VIEWER: r"(?P<NAME>@?\w{2,50})",
    ParameterKind.FLAG: f"(?P<NAME>{_FLAGS})",
}


class ParsedCommand(Struct, frozen=True):
    """An operation's name with its parameters as typed.

    `in_words`: said to the bot in plain words. `incomplete`: help on a command that lacks something.
    """

    name: str
    params: Mapping[str, str]
    in_words: bool = False
    incomplete: bool = False


class _Form(Struct, frozen=True):
    """One form of an operation, prepared for matching. `literals`: how many of its words are typed as they stand.

    `has_free_text`: it ends with free text, which is kept as it was typed. `needs_value`: without its value it is an
    incomplete command rather than talk.
    """

    name: str
    word: str
    pattern: re.Pattern[str]
    literals: int
    has_free_text: bool
    needs_value: bool


class CommandParser:
    """Parses lines by the forms of operations. Their first word may be in any language, with a slip of the finger."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        forms: list[_Form] = []
        for operation in operations.values():
            forms += _forms_of(operation)
        # "!forget me" before "!forget <what>"
        forms.sort(key=lambda form: -form.literals)
        self._forms = forms
        self._names = {form.word: form.word for form in forms} | dict(_other_names())

    def parse(
        self,
        text: str,
        question: str = "",
        *,
        unnamed: str = "",
    ) -> ParsedCommand | None:
        """The request in a line, or None.

        `question`: the line without the bot's name, if the bot was spoken to. `unnamed`: the line without the bot's
        @name, for forms that end in no free text: "!forgetme yes @bot".
        """
        line = self._with_known_name(typed_command(text))
        if line:
            unnamed_line = self._with_known_name(typed_command(unnamed))
            return self._parse_typed(line, unnamed_line or line)
        line = command_in_words(question)
        if not line:
            return None
        command = self._parse_typed(line, line)
        if command is None:
            return None
        return ParsedCommand(command.name, command.params, in_words=True)

    def _with_known_name(self, line: str) -> str:
        """A typed command with the name that its form has: "!memroy" and "!gedächtnis" are "!memory"."""
        word, space, rest = line.partition(" ")
        marks = _MARKS_BEHIND.search(word)
        bare_word = word if marks is None else word[: marks.start()]
        folded = bare_word.casefold()
        name = self._names.get(folded) or self._name_with_slip(folded)
        if name is None:
            return line
        punctuation = "" if marks is None else marks[0]
        return typed_command(f"{name}{punctuation}{space}{rest}")

    def _name_with_slip(self, word: str) -> str | None:
        """The one command that was typed with a slip; None where none is, or two are near."""
        names = {
            name for known, name in self._names.items() if is_typo(word[1:], known[1:])
        }
        return names.pop() if len(names) == 1 else None

    def _parse_typed(self, typed: str, unnamed: str) -> ParsedCommand | None:
        line = _PUNCTUATED.sub(r"\1", typed)
        unnamed_line = without_please(_PUNCTUATED.sub(r"\1", unnamed))
        word = line.split(" ", 1)[0].casefold()
        forms = [form for form in self._forms if form.word == word]
        for form in forms:
            match = form.pattern.fullmatch(line if form.has_free_text else unnamed_line)
            if match is not None:
                values = {
                    name: value for name, value in match.groupdict().items() if value
                }
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
    commands: dict[str, str] = {}
    for code in languages():
        for command, names in in_language(code).tables["command"].items():
            for name in names.split():
                commands[f"!{name}"] = f"!{command}"
                # as it is typed without umlauts
                commands[f"!{name.translate(_WITHOUT_UMLAUTS)}"] = f"!{command}"
    return commands


def _forms_of(operation: Operation) -> Iterator[_Form]:
    for text in operation.chat:
        words = text.split()
        params = {
            word: operation.parameter(word[1:-1]) for word in words if word[0] in "<["
        }
        has_flag = any(
            parameter.kind is ParameterKind.FLAG for parameter in params.values()
        )
        pattern = words[0]
        for word in words[1:]:
            if word not in params:
                pattern += rf"\s+(?:{word})"
                continue
            kind = params[word].kind
            value = _PATTERNS[kind].replace("NAME", word[1:-1])
            if has_flag and kind is not ParameterKind.FLAG:
                # "!forgetme yes": the flag is nobody's name
                value = rf"(?!(?:{_FLAGS})\b){value}"
            pattern += rf"(?:\s+{value})?" if word[0] == "[" else rf"\s+{value}"
        last = params.get(words[-1])
        yield _Form(
            operation.name,
            words[0],
            re.compile(pattern, re.IGNORECASE),
            literals=len(words) - len(params),
            has_free_text=last is not None and last.kind is ParameterKind.TEXT,
            needs_value=any(not parameter.optional for parameter in params.values()),
        )
