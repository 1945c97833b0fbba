"""Reads the scripted stream, first_stream.txt and second_stream.txt: who says what, when. Pure.

A line of a script is `mm:ss name: text`, or a command of a moderator about that person:

    !delete NAME          deletes their last line
    !timeout NAME SECONDS times them out

A line with a + after its time is part of the highlight. `== TEXT` is the caption of what follows in it.
"""

import re
from importlib import resources

from msgspec import Struct

SECOND, MINUTE = 1_000, 60_000
STREAMER = "streamer"
MODERATORS = frozenset({"alice"})
VIPS = frozenset({"carol"})

_LINE = re.compile(r"(\d\d):(\d\d)(\+?) (?:!(\w+) (\w+) ?(\d*)|(\w+): (.+))")


class Cue(Struct, frozen=True):
    """One thing to happen. `at` is milliseconds after the stream began; `verb` is "say" or a command's name.

    `shown`: it is part of the highlight; `caption`: what the highlight says before it.
    """

    at: int
    verb: str
    name: str
    text: str
    number: int
    shown: bool
    caption: str


def load(name: str) -> list[Cue]:
    """A script that lies beside this file, in its order. Raises ValueError for a line that is none."""
    cues, caption = list[Cue](), ""
    for line in resources.files("forgetmenot.demo").joinpath(f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            caption = line.removeprefix("== ")
        elif line and not line.startswith("#"):
            if (found := _LINE.fullmatch(line)) is None:
                raise ValueError(line)
            minutes, seconds, shown, verb, whom, number, who, text = found.groups()
            at = int(minutes) * MINUTE + int(seconds) * SECOND
            cues.append(Cue(at, verb or "say", whom or who, text or "", int(number or 0), bool(shown), caption))
            caption = ""
    return cues
