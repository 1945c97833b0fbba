"""Parses a chat line into a command, by the forms of the table of operations.

A command is a whole line; other bots' commands and talk are ignored. The same said to the bot in plain
words works too.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

from forgetmenot.languages import in_language, languages
from forgetmenot.operations.types import Operation, ParameterKind
from forgetmenot.text.chat_commands import command_in_words, typed_command, without_please
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
        near = {name for known, name in self._names.items() if is_typo(word[1:], known[1:])}
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
