"""Reads the scripted stream, first_stream.txt and second_stream.txt: who says what, when. Pure.

A line of a script is `mm:ss name: text` or a command:

    !delete NAME          a moderator deletes that person's last line
    !timeout NAME SECONDS a moderator times that person out
    !sub NAME MONTHS · !raid NAME COUNT · !cheer NAME BITS: text

A line with a + after its time is part of the highlight. `== TEXT` is the caption of what follows in it.
"""

import re
from collections.abc import Iterator
from importlib import resources

from msgspec import Struct
from msgspec.structs import replace

SECOND, MINUTE = 1_000, 60_000
STREAMER = "streamer"
MODERATORS = frozenset({"alice"})
VIPS = frozenset({"carol"})

_LINE = re.compile(r"(?P<minutes>\d\d):(?P<seconds>\d\d)(?P<shown>\+?) (?P<rest>.+)")
_COMMAND = re.compile(r"!(?P<verb>\w+) (?P<name>\w+)(?: (?P<number>\d+))?(?:: (?P<text>.+))?")
_SPEECH = re.compile(r"(?P<name>\w+): (?P<text>.+)")


class Cue(Struct, frozen=True):
    """One thing to happen. `at` is milliseconds after the stream began; `verb` is "say" or a command's name.

    `shown`: it is part of the highlight; `caption`: what the highlight says before it.
    """

    at: int
    verb: str
    name: str
    text: str = ""
    number: int = 0
    shown: bool = False
    caption: str = ""


def load(name: str) -> list[Cue]:
    """A script that lies beside this file, in its order."""
    return list(parse(resources.files("forgetmenot.demo").joinpath(f"{name}.txt").read_text(encoding="utf-8")))


def parse(text: str) -> Iterator[Cue]:
    """Cues of a script. Raises ValueError, which names the line."""
    caption = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("== "):
            caption = line.removeprefix("== ")
        elif line and not line.startswith("#"):
            cue = _cue(line)
            if cue is None:
                raise ValueError(f"line {number} of the script cannot be read: {line}")
            yield replace(cue, caption=caption)
            caption = ""


def _cue(line: str) -> Cue | None:
    timed = _LINE.fullmatch(line)
    if timed is None:
        return None
    at = int(timed["minutes"]) * MINUTE + int(timed["seconds"]) * SECOND
    shown = bool(timed["shown"])
    if command := _COMMAND.fullmatch(timed["rest"]):
        return Cue(
            at, command["verb"], command["name"], command["text"] or "", int(command["number"] or 0), shown=shown
        )
    if speech := _SPEECH.fullmatch(timed["rest"]):
        return Cue(at, "say", speech["name"], speech["text"], shown=shown)
    return None
