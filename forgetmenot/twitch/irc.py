"""IRC as Twitch writes it: a line taken apart into its command, parameters and tags. Pure, and takes anything.

What a line means is twitch/chat_lines.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

_ESCAPES = {":": ";", "s": " ", "\\": "\\", "r": "\r", "n": "\n"}


@dataclass(frozen=True, slots=True)
class IrcLine:
    """One line in its parts. `nick` is the name before the `!` of the prefix, or the one after it if that is empty."""

    command: str
    params: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    nick: str = ""


def parse(line: str) -> IrcLine:
    """The parts of one line, with or without its line end. A line without a command has an empty one."""
    whole = line if line.isascii() else line.encode("utf-8", "replace").decode()  # half a character is no text
    rest = whole.rstrip("\r\n").lstrip(" ")
    tags: dict[str, str] = {}
    nick = ""
    if rest.startswith("@"):
        raw, _, rest = rest[1:].partition(" ")
        tags, rest = _tags(raw), rest.lstrip(" ")
    if rest.startswith(":"):
        prefix, _, rest = rest[1:].partition(" ")
        nick = _nick(prefix)
    words, colon, trailing = (" " + rest).partition(" :")
    head = words.split()
    params = (*head[1:], trailing) if colon else tuple(head[1:])
    return IrcLine(head[0].upper() if head else "", params, tags, nick)


def _tags(raw: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in raw.split(";"))
    return {key: unescape(value) for key, _, value in pairs if key}


def unescape(value: str) -> str:
    r"""A tag's value as it was meant: `\s` is a space, `\:` a semicolon; a lone backslash at the end is dropped."""
    if "\\" not in value:
        return value
    pieces: list[str] = []
    letters = iter(value)
    for letter in letters:
        if letter == "\\":
            escaped = next(letters, "")
            pieces.append(_ESCAPES.get(escaped, escaped))
        else:
            pieces.append(letter)
    return "".join(pieces)


def _nick(prefix: str) -> str:
    before, bang, after = prefix.partition("!")
    return (before if before or not bang else after.partition("@")[0]).lower()
