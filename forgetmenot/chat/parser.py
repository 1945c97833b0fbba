"""Parses a chat line into a command, by the forms of operations/commands.

A form is written like "!remember <fact>" or "!forget [viewer] <what>". A command is a whole line;
other bots' commands and talk are ignored. The same said to the bot in plain words works too.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

from forgetmenot.languages import in_language, languages
from forgetmenot.operations.types import Operation, Parameter, ParameterKind
from forgetmenot.text.chat_commands import (
    command_in_words,
    typed_command,
    without_please,
)
from forgetmenot.text.words import is_typo

_MARKS_BEHIND = re.compile(r"[?.!,:]+\Z")
_WITHOUT_UMLAUTS = str.maketrans(
    {
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
    }
)
# "!memory?"
_PUNCTUATED = re.compile(r"\A(!\w+)[?.!,:]+(?=\s|\Z)")
_FLAGS = "confirm|yes|ja"
# How a parameter is typed; NAME is replaced by its name.
_PATTERNS = {
    ParameterKind.TEXT: "(?P<NAME>.+)",
    ParameterKind.NUMBER: r"#?(?P<NAME>[0-9]{1,12})(?:\s?(?:m|min))?",
    ParameterKind.VIEWER: r"(?P<NAME>@?\w{2,50})",
    ParameterKind.FLAG: f"(?P<NAME>{_FLAGS})",
}


class ParsedCommand(Struct, frozen=True):
    """An operation's name with its parameters as typed.

    `in_words`: it was said to the bot in plain words. `incomplete`: it is help on a command that
    lacks something.
    """

    name: str
    params: Mapping[str, str]
    in_words: bool = False
    incomplete: bool = False


class _Form(Struct, frozen=True):
    """One form of an operation, prepared for matching."""

    # of the operation
    name: str
    # "!forget"
    word: str
    pattern: re.Pattern[str]
    # how many of its words are typed as they stand
    literals: int
    # it ends with free text, which is kept as it was typed
    has_free_text: bool
    # without its value it is an incomplete command rather than talk
    needs_value: bool


class CommandParser:
    """Parses lines by the forms of operations.

    Their first word may be in any language, with a slip of the finger.
    """

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        forms: list[_Form] = []
        for operation in operations.values():
            forms += _forms_of(operation)
        # "!forget me" is tried before "!forget <what>".
        forms.sort(key=lambda form: -form.literals)
        self._forms = forms
        # by what is typed, in any language: the first word of a form
        self._names = {form.word: form.word for form in forms}
        self._names.update(_other_names())

    def parse(
        self,
        text: str,
        question: str = "",
        *,
        unnamed: str = "",
    ) -> ParsedCommand | None:
        """Return the command in a line; None if there is none.

        `question`: the line without the bot's name, if the bot was spoken to.
        `unnamed`: the line without the bot's @name, for forms that end in no free text:
        "!forgetme yes @bot".
        """
        line = self._with_known_name(typed_command(text))
        if line:
            unnamed_line = self._with_known_name(typed_command(unnamed))
            return self._parse_typed(line, unnamed_line or line)
        line_in_words = command_in_words(question)
        if not line_in_words:
            return None
        command = self._parse_typed(line_in_words, line_in_words)
        if command is None:
            return None
        return ParsedCommand(command.name, command.params, in_words=True)

    def _with_known_name(self, line: str) -> str:
        """Return a typed command with the name that its form has.

        "!memroy" and "!gedächtnis" are "!memory".
        """
        word, space, rest = line.partition(" ")
        bare_word = _MARKS_BEHIND.sub("", word)
        punctuation = word[len(bare_word) :]
        folded_word = bare_word.casefold()
        name = self._names.get(folded_word)
        if name is None:
            name = self._name_with_slip(folded_word)
        if name is None:
            return line
        return typed_command(f"{name}{punctuation}{space}{rest}")

    def _name_with_slip(self, word: str) -> str | None:
        """Return the command that was typed with a slip; None where none is near, or several are."""
        names = set()
        for typed_name, name in self._names.items():
            # Both begin with "!".
            if is_typo(word[1:], typed_name[1:]):
                names.add(name)
        if len(names) != 1:
            return None
        return names.pop()

    def _parse_typed(self, typed: str, unnamed: str) -> ParsedCommand | None:
        """Return the command that a typed line is, or help on it if it lacks something."""
        line = _PUNCTUATED.sub(r"\1", typed)
        unnamed_line = without_please(_PUNCTUATED.sub(r"\1", unnamed))
        first_word, _, _ = line.partition(" ")
        word = first_word.casefold()
        forms = [form for form in self._forms if form.word == word]
        if not forms:
            return None
        for form in forms:
            text = line if form.has_free_text else unnamed_line
            match = form.pattern.fullmatch(text)
            if match is None:
                continue
            # What is optional and was left out is None.
            typed_params = match.groupdict().items()
            params = {name: value for name, value in typed_params if value}
            return ParsedCommand(form.name, params)
        # Where the word alone is a form, other words behind it are talk.
        for form in forms:
            if form.literals == 1 and not form.needs_value:
                return None
        return ParsedCommand("help", {"command": word}, incomplete=True)


@cache
def _other_names() -> Mapping[str, str]:
    """Return the commands by the names that each language has for them."""
    commands: dict[str, str] = {}
    for code in languages():
        names_by_command = in_language(code).tables["command"]
        for command, names in names_by_command.items():
            for name in names.split():
                commands[f"!{name}"] = f"!{command}"
                # As it is typed without umlauts.
                plain_name = name.translate(_WITHOUT_UMLAUTS)
                commands[f"!{plain_name}"] = f"!{command}"
    return commands


def _forms_of(operation: Operation) -> Iterator[_Form]:
    """Give the forms of an operation, prepared for matching."""
    for form_text in operation.chat:
        words = form_text.split()
        # by the word of the form, such as "<what>" (needed) or "[viewer]" (optional)
        params = {}
        for word in words:
            if word[0] in "<[":
                name = word[1:-1]
                params[word] = operation.parameter(name)
        pattern = _form_pattern(words, params)
        last_param = params.get(words[-1])
        has_free_text = False
        if last_param is not None:
            has_free_text = last_param.kind is ParameterKind.TEXT
        needed = [param for param in params.values() if not param.optional]
        yield _Form(
            name=operation.name,
            word=words[0],
            pattern=re.compile(pattern, re.IGNORECASE),
            literals=len(words) - len(params),
            has_free_text=has_free_text,
            needs_value=bool(needed),
        )


def _form_pattern(words: Sequence[str], params: Mapping[str, Parameter]) -> str:
    """Return the pattern of a form, by its words and the parameters among them."""
    kinds = [param.kind for param in params.values()]
    has_flag = ParameterKind.FLAG in kinds
    pattern = words[0]
    for word in words[1:]:
        if word not in params:
            pattern += rf"\s+(?:{word})"
            continue
        kind = params[word].kind
        name = word[1:-1]
        value = _PATTERNS[kind].replace("NAME", name)
        if has_flag and kind is not ParameterKind.FLAG:
            # "!forgetme yes": the flag is nobody's name.
            value = rf"(?!(?:{_FLAGS})\b){value}"
        is_optional = word[0] == "["
        if is_optional:
            pattern += rf"(?:\s+{value})?"
        else:
            pattern += rf"\s+{value}"
    return pattern
